# SPDX-License-Identifier: ISC
"""Checks what sources must not do, and what their comments must not claim."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import case, main  # noqa: E402
from tree import read, tracked  # noqa: E402

FILES = tracked()
SOURCES = [p for p in FILES if p.endswith(('.c', '.h', '.hpp', '.cpp', '.def'))]

ROOT = {'.clang-format', '.editorconfig', '.gitignore', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'Makefile', 'README.md',
        'SECURITY.md', 'meson.build', 'meson_options.txt'}

COMMENT = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
FILE_NAME = re.compile(r'(?<![\w./*<-])[\w][\w./-]*\.(?:c|h|def|py|md)\b(?![\w(])')
# Headers of the kernel.
FOREIGN = {'linux/futex.h', 'linux/magic.h'}


def comments(text):
    return [m.group() for m in COMMENT.finditer(text) if m.group().startswith('/*')]


def missing_files(path, text):
    """The files named in the comments of a file that are neither in the tree nor foreign."""
    found = []
    for comment in comments(text):
        for name in FILE_NAME.findall(comment):
            if name not in FOREIGN and not any(p == name or p.endswith('/' + name) for p in FILES):
                found.append('%s names %s' % (path, name))
    return found


@case
def the_root_has_only_its_own_files():
    """Programs that tests run may write into the working directory, and what they leave is easily committed."""
    strange = {path for path in FILES if '/' not in path} - ROOT
    assert not strange, strange


@case
def comments_name_files_that_exist():
    missing = [line for path in SOURCES for line in missing_files(path, read(path))]
    assert not missing, '\n'.join(missing)


# printf writes the decimal separator of the locale; `%.0f` writes none.
REAL_FORMAT = re.compile(r'"(?:[^"\\\n]|\\.)*%[-+ #]*(?:\d+|\*)?(?:\.(?!0f)(?:\d+|\*)?)?(?!\.0f)[fegFEG](?:[^"\\\n]|\\.)*"')


def locale_uses(text):
    code = COMMENT.sub(lambda m: '' if m.group().startswith('/*') else m.group(), text)
    return REAL_FORMAT.findall(code)


@case
def numbers_do_not_depend_on_the_locale():
    wrong = ['%s: %s' % (path, use) for path in SOURCES
             if path.startswith(('src/', 'include/')) and path != 'src/base/number.c'
             for use in locale_uses(read(path))]
    assert not wrong, 'use base/number.h instead:\n' + '\n'.join(wrong)


# These take spaces and a sign, ignore what follows the number, and convert numbers that are too large to others; strtod
# depends on the locale.
PARSER = re.compile(r'\b(?:(?:str|wcs)to(?:d|f|ld|l|ul|ll|ull|q|uq|imax|umax)(?:_l)?|ato(?:f|i|l|ll|q)|v?[fsw]*scanf)\b')
PARSERS = {
    'src/base/number.c': ['strtod'],  # for weft__number_parse, which replaces the separator
    'src/platform/autostart.c': ['strtoul', 'strtoull'],  # the recorder uses nothing of src/base
}


def parsers(text):
    return sorted(set(PARSER.findall(COMMENT.sub(' ', text))))


@case
def numbers_are_parsed_in_one_place():
    folders = ('src/', 'include/', 'apps/', 'adapters/', 'bindings/')
    found = {path: parsers(read(path)) for path in SOURCES if path.startswith(folders)}
    wrong = ['%s: %s, allowed: %s' % (path, ' '.join(used), ' '.join(PARSERS.get(path, [])) or 'none')
             for path, used in found.items() if used != PARSERS.get(path, [])]
    assert not wrong, 'use weft/parse.h, base/field.h or base/number.h instead:\n' + '\n'.join(wrong)


# `x += step` is x again where the sum is rounded down, and a limit may be infinite: such a loop never ends.
LOOP = re.compile(r'\bfor \(([^;{}]*);([^;{}]*);([^;{}]*?)\) *[\w{*\n]')


def is_double(name, before):
    """True if a name is declared as a double, between the beginning of its function and here."""
    function = before[before.rfind('\n}') + 1:]
    return re.search(r'\b(?:double|float)\b[^;(){}]*[\s,*]%s\b *[,;=)]' % re.escape(name), function) is not None


def double_loops(text):
    """The loops of a file whose only step is that of a double."""
    code, found = COMMENT.sub(' ', text), []
    for match in LOOP.finditer(code):
        names = re.findall(r'([A-Za-z_]\w*) *[-+*/]?=(?!=)', match.group(3))
        if re.search(r'\+\+|--', match.group(2) + match.group(3)):
            continue
        if re.match(r'(?:const )?(?:double|float)\b', match.group(1)) or any(is_double(n, code[:match.start()]) for n in names):
            found.append(' '.join(match.group().split()))
    return found


@case
def loops_over_doubles_end_by_count():
    wrong = ['%s: %s' % (path, loop) for path in SOURCES if path.startswith(('src/', 'include/', 'apps/', 'adapters/', 'bindings/', 'fuzz/'))
             for loop in double_loops(read(path))]
    assert not wrong, 'count the steps before the loop (base/steps.h):\n' + '\n'.join(wrong)


# Comments name their subject, as CONTRIBUTING.md asks: a comment must not begin with these words instead.
NO_SUBJECT = re.compile(r'(?:Who|Whoever|Whom|Whose|Of|What|Whatever|Wherever|Somebody|Nobody)\b')
ARCHAIC = re.compile(r'\b(?:whoever|whosoever|somebody|likewise|whence|hence|thence|lest|thereof|whereof|spoilt)\b'
                     r'|makes? no sense|told apart|unless told', re.IGNORECASE)
NEGATION = re.compile(r'(?<!here )\bis no (?!longer\b|more\b|such\b)|makes? no sense')
PYTHON_COMMENT = re.compile(r'"""(.*?)"""|(?:^|\s)#\s([^\n]*)', re.DOTALL)


def python_comments(text):
    return [m.group(1) or m.group(2) or '' for m in PYTHON_COMMENT.finditer(text)]


def riddles(path, text):
    """Comments that begin without a subject or contain archaic words; in C, messages like "is no buffer"."""
    found = []
    is_python = path.endswith('.py')
    for comment in python_comments(text) if is_python else comments(text):
        words = re.sub(r'SPDX-License-Identifier: ISC', '', comment).strip(' \t\n/*')
        if NO_SUBJECT.match(words) or ARCHAIC.search(words):
            found.append('%s: %s' % (path, ' '.join(words.split())[:80]))
    strings = [] if is_python else [m.group() for m in COMMENT.finditer(text) if m.group().startswith('"')]
    if not path.startswith('tests/'):
        found += ['%s: %s' % (path, string) for string in strings if NEGATION.search(string)]
    return found


@case
def comments_and_messages_name_their_subject():
    own = 'tests/house/sources.py'
    wrong = [line for path in FILES if path.endswith(('.c', '.h', '.hpp', '.cpp', '.def', '.py')) and path != own
             for line in riddles(path, read(path))]
    assert not wrong, 'reword these (CONTRIBUTING.md, "How the code reads"):\n' + '\n'.join(wrong)


# Words that docs/glossary.md retired, as parts of identifiers. `place` stays as a verb in names of functions (place_row,
# weft_frame_place), and in the option --in-place. A moment is a group of events of the recorder.
GONE = {'told', 'tell', 'tells', 'say', 'says', 'said', 'crowd', 'crowds', 'crowded', 'apart', 'complain', 'spoilt', 'mended'}
WORD = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+')
NAMED = ('src/', 'include/', 'apps/', 'adapters/', 'bindings/')
NO_MOMENTS = ('src/model/', 'src/layout/', 'src/story/', 'src/stats/', 'src/view/', 'src/render/', 'src/viewer/', 'apps/')


def is_retired(path, words, is_called):
    if GONE.intersection(words) or 'places' in words:
        return True
    if 'moment' in words or 'moments' in words:
        return path.startswith(NO_MOMENTS)
    return 'place' in words[len(words) > 1:] and not is_called and words[-2:] != ['in', 'place']


def retired_names(path, text):
    """Identifiers in the code of a file that contain a word that the glossary retired."""
    code = re.sub(r'`[^`\n]*`|//[^\n]*|^[ \t]*#[ \t]*include[^\n]*', ' ', COMMENT.sub(' ', text), flags=re.MULTILINE)
    found = set()
    for match in re.finditer(r'\b[A-Za-z_]\w*', code):
        words = [w.lower() for w in WORD.findall(match.group())]
        if words and is_retired(path, words, code[match.end():].startswith('(')):
            found.add(match.group())
    return sorted(found)


@case
def names_use_no_retired_words():
    wrong = ['%s: %s' % (path, name) for path in FILES
             if path.startswith(NAMED) and path.endswith(('.c', '.h', '.hpp', '.def', '.js'))
             for name in retired_names(path, read(path))]
    assert not wrong, 'docs/glossary.md says what to use instead:\n' + '\n'.join(wrong)


@case
def each_planted_bug_has_its_text():
    """`make mutants` replaces a text that must be in its file exactly once."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'mutants'))
    from table import MUTANTS
    lost = ['%s: %s' % (m.file, m.old) for m in MUTANTS if m.file not in FILES or read(m.file).count(m.old) != 1]
    assert not lost, 'change tests/mutants/table.py with the code:\n' + '\n'.join(lost)


@case
def the_checks_notice():
    assert missing_files('a.c', '/* see not-there.c, number.h */ "/* nor.h */"') == ['a.c names not-there.c']
    assert len(locale_uses('f("%.3g %s", 1); g("%*.*f");')) == 2 and len(locale_uses('p("%e") p("%.2f")')) == 2
    assert not locale_uses('/* "%f" */ f("%.0f %% of %d fe %s", x);')
    assert parsers('strtod (x); p = atoi; vfscanf(f); wcstoll_l(x); strtoumax(x)') == [
        'atoi', 'strtod', 'strtoumax', 'vfscanf', 'wcstoll_l']
    assert not parsers('/* strtol(x) */ f("atoi(x)"); my_strtol(x); strtok(x); strtology(x); scan(x);')
    assert len(riddles('a.c', '/* What is left. */ f("it is no buffer"); /* Read by somebody. */')) == 3
    assert retired_names('src/a.c', 'int ret_place; f(told_count); places_left(); struct weft__place *p;') == [
        'places_left', 'ret_place', 'told_count', 'weft__place']
    assert not retired_names('src/record/a.c', 'place_row(weft_frame_place(in_place)); begin_moment("place"); /* told */')
    assert retired_names('src/view/a.c', 'weft_x_moment') and not retired_names('src/a.c', 'is_saying(stories, placed)')
    assert len(double_loops('void f(void)\n{\n\tdouble y = 1;\n\tfor (double x = 0; x < 9; x += y)\n\t\tg();\n'
                            '\tfor (; y < 9; y *= 2) {\n\t}\n}\n')) == 2
    assert not double_loops('void f(double y)\n{\n\tfor (int i = 0; i < 9; i++, y += 1)\n\t\tg();\n}\n'
                            'void h(unsigned y)\n{\n\tfor (; y < 9; y += 1)\n\t\tg();\n}\n')
    assert riddles('a.py', '"""Whoever asks."""') and riddles('a.py', 'x = 1  # Of the ring.')
    assert not riddles('a.c', '/* The rest, of which\n * Who waits */ f("there is no task; it is no longer");')


main()
