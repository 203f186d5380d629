# SPDX-License-Identifier: ISC
"""Every file has a licence line, an allowed name, and the house's formatting."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import SOURCE, case, main, skip  # noqa: E402
from tree import read, tracked  # noqa: E402

FILES = tracked()
C_FILES = [p for p in FILES if p.endswith(('.c', '.h', '.hpp', '.cpp'))]
# Names without a subject.
FORBIDDEN = re.compile(r'(^|/)(utils?|common|misc|helpers?)(/|\.[a-z]+$)')
SCRIPTS = [p for p in FILES if os.path.basename(p) in ('run', 'install-packages', 'demo')
           or p.endswith('.sh')]


def has_licence_line(path):
    return path.endswith(('.c', '.h', '.hpp', '.cpp', '.rs', '.def', '.py', '.mjs', '.sh', '.scd', 'meson.build', 'Makefile',
                          'meson_options.txt', '.ini')) or path in SCRIPTS


@case
def every_source_names_its_licence():
    missing = [p for p in FILES if has_licence_line(p)
               and 'SPDX-License-Identifier: ISC' not in '\n'.join(read(p).splitlines()[:3])]
    assert not missing, 'no SPDX line in the first three lines: %s' % ', '.join(missing)


@case
def every_file_is_in_a_folder_with_a_name():
    nameless = [p for p in FILES if FORBIDDEN.search(p)]
    assert not nameless, ', '.join(nameless)


@case
def scripts_are_executable_and_parse():
    for path in SCRIPTS:
        full = os.path.join(SOURCE, path)
        assert os.access(full, os.X_OK), '%s is not executable' % path
        result = subprocess.run(['sh', '-n', full], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr


@case
def text_ends_with_a_newline_and_no_line_with_a_space():
    wrong = []
    for path in FILES:
        if has_licence_line(path) or path.endswith('.md'):
            text = read(path)
            if text and not text.endswith('\n'):
                wrong.append('%s: no newline at its end' % path)
            wrong += ['%s:%d: trailing space' % (path, number)
                      for number, line in enumerate(text.split('\n'), 1) if re.search(r'[ \t\r]$', line)]
    assert not wrong, '\n'.join(wrong)


# clang-format breaks a comment that is too long for the end of a line, also between a macro's name and value.
BROKEN_COMMENT = re.compile(r'^[ \t]*#[ \t]*define \w+[ \t]*\\\n[ \t]*[^\s(){};]+[ \t]*/\*|\S[ \t]*/\*[^\n*]*\n[ \t]*\*/$', re.MULTILINE)


@case
def no_comment_is_broken_by_the_formatter():
    wrong = ['%s:%d' % (path, read(path).count('\n', 0, match.start()) + 1)
             for path in C_FILES for match in BROKEN_COMMENT.finditer(read(path))]
    assert not wrong, 'shorten these comments, or put them above their line: %s' % ', '.join(wrong)
    for text in ('#define A \\\n\t16 /* text */\n', 'int a; /* text\n\t\t*/\n'):
        assert BROKEN_COMMENT.search(text)


@case
def code_is_formatted():
    formatter = shutil.which('clang-format-14')
    if not formatter:
        skip('clang-format-14 is not installed')
    result = subprocess.run([formatter, '--dry-run', '-Werror', *C_FILES], cwd=SOURCE,
                            capture_output=True, text=True)
    names = sorted(set(re.findall(r'^(\S+?):\d+:\d+: error', result.stderr, re.MULTILINE)))
    assert result.returncode == 0, 'not formatted (make format mends it): %s' % ', '.join(names)


main()
