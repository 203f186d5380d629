# SPDX-License-Identifier: ISC
"""weft.h compiles as C and C++ without a warning, and leaves nothing behind when it is disabled."""
import os
import re
import shutil

from harness import SOURCE, case, equal, main, run, skip, temporary_directory

CALLS = os.path.join(SOURCE, 'tests', 'e2e', 'header_calls.c')
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror', '-I', os.path.join(SOURCE, 'include')]


def compile_file(compiler, source, output, *flags):
    if not shutil.which(compiler[0]):
        skip('%s is not installed' % compiler[0])
    return run([*compiler, *WARNINGS, *flags, '-c', source, '-o', output])


def accepts(compiler, *flags):
    with temporary_directory() as folder:
        result = compile_file(compiler, CALLS, os.path.join(folder, 'calls.o'), *flags)
        assert result.returncode == 0, result.stderr


def compiled(compiler, *flags):
    """The bytes of the object."""
    with temporary_directory() as folder:
        output = os.path.join(folder, 'calls.o')
        result = compile_file(compiler, CALLS, output, *flags)
        assert result.returncode == 0, result.stderr
        with open(output, 'rb') as file:
            return file.read()


def refuses(body, message):
    with temporary_directory() as folder:
        source = os.path.join(folder, 'wrong.c')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('#include <weft/weft.h>\nvoid f(const char *text, int n);\n'
                       'void f(const char *text, int n)\n{\n(void)text;(void)n;\n%s\n}\n' % body)
        result = compile_file(['gcc', '-std=c11'], source, os.path.join(folder, 'wrong.o'))
        assert result.returncode != 0, 'compiles: ' + body
        assert message in result.stderr, result.stderr


@case
def c11_and_later():
    for standard in ('c11', 'c17', 'gnu11', 'c2x'):
        accepts(['gcc', '-std=' + standard], '-O2')
    accepts(['gcc', '-std=c11'], '-O0')


@case
def c11_by_clang():
    accepts(['clang-14', '-std=c11'], '-O2')


@case
def weft_h_brings_its_own_headers_only():
    made = run(['gcc', '-I', os.path.join(SOURCE, 'include'), '-include', 'weft/weft.h', '-M', '-x', 'c', os.devnull]).stdout
    equal(sorted(set(re.findall(r'/weft/(\w+)\.h\b', made))),
          ['clocks', 'kinds', 'levels', 'value', 'weft', 'weft_calls', 'weft_ffi', 'weft_ffi_calls', 'weft_macros'])


@case
def cplusplus():
    for standard in ('c++11', 'c++17', 'c++20'):
        accepts(['g++', '-x', 'c++', '-std=' + standard], '-O2')
        accepts(['g++', '-x', 'c++', '-std=' + standard], '-DWEFT_DISABLED')


DISABLED = ['-std=c99', '-pedantic-errors', '-DWEFT_DISABLED']
# Extensions of gcc that other compilers refuse.
EXTENSIONS = re.compile(r'__attribute__|__builtin|__typeof|__extension__|__atomic|_Pragma|\(\s*\{|constructor')


def own_lines(text):
    """The lines of preprocessed text that come from weft's headers or from the calls."""
    found, is_own = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            is_own = '/weft/' in marker.group(1) or marker.group(1) == CALLS
        elif is_own:
            found.append(line)
    return found


@case
def disabled_is_c99_by_gcc():
    accepts(['gcc'], *DISABLED)


@case
def disabled_is_c99_by_clang():
    accepts(['clang-14'], *DISABLED)


@case
def disabled_is_c99_by_tcc():
    accepts(['tcc'], *DISABLED)


@case
def disabled_is_c99_as_msvc_reads_it():
    """clang expands macros as MSVC does, which passes __VA_ARGS__ on as one argument."""
    accepts(['clang-14', '--target=x86_64-pc-windows-msvc', '-fms-compatibility', '-ffreestanding'], *DISABLED)


@case
def disabled_uses_no_extension():
    if not shutil.which('gcc'):
        skip('gcc is not installed')
    def extensions(*flags):
        text = run(['gcc', *WARNINGS, *flags, '-E', CALLS]).stdout
        return [line for line in own_lines(text) if EXTENSIONS.search(line)]
    equal(extensions(*DISABLED), [])
    assert extensions('-std=c11'), 'the check notices nothing'


@case
def disabled_leaves_nothing():
    for compiler in (['gcc', '-std=c11'], ['g++', '-x', 'c++', '-std=c++17']):
        for level in ('-O1', '-O2', '-O3', '-Os'):
            disabled = compiled(compiler, level, '-DWEFT_DISABLED')
            without = compiled(compiler, level, '-DWITHOUT_CALLS')
            assert disabled == without, '%s %s: the objects differ' % (compiler, level)


@case
def disabled_leaves_nothing_by_clang():
    disabled = compiled(['clang-14', '-std=c11'], '-O2', '-DWEFT_DISABLED')
    assert disabled == compiled(['clang-14', '-std=c11'], '-O2', '-DWITHOUT_CALLS')


@case
def the_comparison_notices():
    enabled = compiled(['gcc', '-std=c11'], '-O2')
    assert enabled != compiled(['gcc', '-std=c11'], '-O2', '-DWITHOUT_CALLS')


@case
def formats_are_checked():
    refuses('weft_notef("%s", n);', 'format')
    refuses('weft_labelf("%s", n);', 'format')
    refuses('weft_notef("%d");', 'format')


@case
def formats_are_literals():
    refuses('weft_notef(text, n);', 'expected')


@case
def names_of_marks_are_literals():
    refuses('weft_mark(text);', 'expected')
    refuses('weft_mark("name", text, n);', 'expected')
    refuses('weft_mark("name", "field without a value");', 'WEFT__')


main()
