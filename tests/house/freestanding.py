# SPDX-License-Identifier: ISC
"""The recorder needs no libc: built freestanding, it refers only to four memory functions."""
import glob
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import SOURCE, case, equal, main, run, skip  # noqa: E402

SOURCES = sorted(glob.glob(os.path.join(SOURCE, 'src', 'record', '*.c')))
SOURCES += sorted(glob.glob(os.path.join(SOURCE, 'src', 'guest', '*.c')))
SOURCES += [os.path.join(SOURCE, 'src', 'platform', 'freestanding.c')]
# A compiler may call these in any C code.
ALLOWED = {'memcpy', 'memmove', 'memset', 'memcmp'}
FLAGS = ['-std=c11', '-O2', '-ffreestanding', '-nostdlib', '-fno-stack-protector', '-DWEFT_FREESTANDING',
         '-Wall', '-Wextra', '-Wpedantic', '-Werror',
         '-I', os.path.join(SOURCE, 'include'), '-I', os.path.join(SOURCE, 'src')]


def build(compiler, folder):
    """One object of the whole recorder, by a partial link."""
    objects = []
    for number, source in enumerate(SOURCES):
        objects.append(os.path.join(folder, '%d.o' % number))
        run_well([*compiler, *FLAGS, '-c', source, '-o', objects[-1]])
    whole = os.path.join(folder, 'recorder.o')
    run_well([*compiler, '-nostdlib', '-r', *objects, '-o', whole])
    return whole


def run_well(command):
    result = run(command)
    assert result.returncode == 0, ' '.join(command) + '\n' + result.stderr
    return result.stdout


def undefined(whole):
    return {line.split()[-1] for line in run_well(['nm', '--undefined-only', whole]).splitlines()}


def check(compiler):
    with tempfile.TemporaryDirectory(prefix='weft-freestanding-') as folder:
        needed = undefined(build(compiler, folder))
        equal(sorted(needed - ALLOWED), [], 'what the recorder needs beyond %s' % ', '.join(sorted(ALLOWED)))


@case
def gcc():
    check(['gcc'])


@case
def clang():
    if not shutil.which('clang-14'):
        skip('clang-14 is not installed')
    check(['clang-14'])


@case
def the_check_notices():
    with tempfile.TemporaryDirectory(prefix='weft-freestanding-') as folder:
        source, whole = os.path.join(folder, 'a.c'), os.path.join(folder, 'a.o')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('void *malloc(unsigned long); void *f(void); void *f(void) { return malloc(1); }\n')
        run_well(['gcc', *FLAGS, '-c', source, '-o', whole])
        equal(undefined(whole), {'malloc'})


main()
