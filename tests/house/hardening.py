# SPDX-License-Identifier: ISC
"""Installed programs and libraries are hardened as distributions require: stack canaries, libc's size
checks, relocations that are read-only before main, code at random addresses."""
import glob
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, case, equal, main, run, skip  # noqa: E402

PROGRAMS = ['weft', 'weft-gtk']
LIBRARIES = ['src/platform/libweft.so', 'src/libweft-trace.so']


def readelf(path, *options):
    if not shutil.which('readelf'):
        skip('binutils is not installed')
    result = run(['readelf', '--wide', *options, path])
    assert result.returncode == 0, result.stderr
    return result.stdout


def lacks(path):
    """The set of protections that the file lacks."""
    dynamic, symbols = readelf(path, '--dynamic'), readelf(path, '--dyn-syms')
    found = set()
    if not re.search(r'\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b', dynamic):
        found.add('BIND_NOW')
    if 'GNU_RELRO' not in readelf(path, '--program-headers'):
        found.add('RELRO')
    if not re.search(r' UND __stack_chk_fail\b', symbols):
        found.add('stack protector')
    if not re.search(r' UND __\w+_chk\b', symbols):
        found.add('FORTIFY')
    if not re.search(r'\(FLAGS_1\).*\bPIE\b', dynamic):
        found.add('PIE')
    return found


def options():
    """Meson's options of this build."""
    with open(os.path.join(BUILD, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as file:
        return {option['name']: option['value'] for option in json.load(file)}


def expected(path):
    """Protections that the file may lack: PIE in a library, size checks without optimisation."""
    found = {'PIE'} if path.endswith('.so') else set()
    if options()['optimization'] in ('0', 'plain') or options()['b_sanitize'] != 'none':
        found.add('FORTIFY')
    return found


def check(names):
    built = [path for path in names if os.path.exists(os.path.join(BUILD, path))]
    assert built, names
    for path in built:
        equal(sorted(lacks(os.path.join(BUILD, path)) - expected(path)), [], '%s lacks' % path)


@case
def programs():
    check(PROGRAMS)


@case
def libraries():
    check(LIBRARIES)


@case
def static_libraries():
    """Static libraries have stack canaries, too; the program that links them provides the canary."""
    if not shutil.which('nm'):
        skip('binutils is not installed')
    for path in glob.glob(os.path.join(BUILD, 'src', '**', 'libweft*.a'), recursive=True):
        if not os.path.exists(path[:-2] + '.so'):
            continue  # of one module, and not installed
        assert ' U __stack_chk_fail' in run(['nm', '--undefined-only', path]).stdout, path


@case
def the_check_notices():
    with tempfile.TemporaryDirectory(prefix='weft-hardening-') as folder:
        source, program = os.path.join(folder, 'a.c'), os.path.join(folder, 'a')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('#include <stdio.h>\nint main(int n, char **a)\n{\n\tchar text[9];\n'
                       '\tsnprintf(text, (unsigned)n, "%s", a[0]);\n\treturn puts(text);\n}\n')
        soft = ['-O2', '-U_FORTIFY_SOURCE', '-fno-stack-protector', '-no-pie', '-Wl,-z,lazy,-z,norelro']
        hard = ['-O2', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2', '-fstack-protector-strong', '-fPIE', '-pie',
                '-Wl,-z,relro,-z,now']
        for flags, wanted in ((soft, {'BIND_NOW', 'RELRO', 'stack protector', 'FORTIFY', 'PIE'}), (hard, set())):
            made = run(['cc', *flags, source, '-o', program])
            assert made.returncode == 0, made.stderr
            equal(lacks(program), wanted, ' '.join(flags))


main()
