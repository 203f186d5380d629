# SPDX-License-Identifier: ISC
"""The fast path of an event has no call, lock, fence or stack canary, both as compiled here and in the
listing in bench/."""
import os
import platform
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import SOURCE, case, main, run, skip  # noqa: E402
from tree import read  # noqa: E402

FLAGS = ['-std=c11', '-O2', '-fPIC', '-fstack-protector-strong', '-D_FORTIFY_SOURCE=2', '-ftls-model=initial-exec', '-fvisibility=hidden', '-c',
         '-I', os.path.join(SOURCE, 'include'), '-I', os.path.join(SOURCE, 'src')]
FORBIDDEN = re.compile(r'call|lock|[lms]fence|xchg|xadd|cmpxchg|syscall|cpuid|rdtscp|.*%fs:0x28')


def common_case(text):
    """Instructions of weft_resolve up to its first return."""
    found = []
    for line in text.split('<weft_resolve>:\n', 1)[1].splitlines():
        if line.strip():
            found.append(' '.join(line.split()))
        if line.split()[:1] in (['ret'], ['retq']):
            return found
    raise AssertionError('weft_resolve does not return:\n' + text)


def check(text):
    instructions = common_case(text)
    assert sum(i.startswith('rdtsc') for i in instructions) == 1, '\n'.join(instructions)
    bad = [i for i in instructions if FORBIDDEN.match(i)]
    assert not bad, '\n'.join(bad + ['in:'] + instructions)


def check_compiled(compiler):
    if platform.machine() != 'x86_64':
        skip('this reads the instructions of x86-64')
    if not shutil.which(compiler) or not shutil.which('objdump'):
        skip('%s or objdump is not installed' % compiler)
    with tempfile.TemporaryDirectory(prefix='weft-hot-path-') as folder:
        output = os.path.join(folder, 'event.o')
        made = run([compiler, *FLAGS, os.path.join(SOURCE, 'src', 'record', 'event.c'), '-o', output])
        assert made.returncode == 0, made.stderr
        check(run(['objdump', '-d', '--no-show-raw-insn', '--no-addresses', '--disassemble=weft_resolve',
                   output]).stdout)


@case
def by_gcc():
    check_compiled('gcc')


@case
def by_clang():
    check_compiled('clang-14')


@case
def in_the_text_that_is_kept():
    check(read('bench/resolve.txt'))


if __name__ == '__main__':
    main()
