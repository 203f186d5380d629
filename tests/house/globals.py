# SPDX-License-Identifier: ISC
"""The reading half has no writable variables outside of functions: callers may use it on any number of
threads, each with objects of its own."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, case, equal, main, run, skip  # noqa: E402

MODULES = ['base', 'canvas', 'export', 'format', 'layout', 'model', 'refresh', 'render', 'story', 'trigger', 'view',
         'viewer']
# The key of all tables of hashes: atomic words, set once a process.
ALLOWED = {'process_key'}


def symbols(module):
    """(name, section) of all symbols in the module's library."""
    path = os.path.join(BUILD, 'src', module, 'libweft-%s.a' % module)
    result = run(['nm', '--format=sysv', path])
    assert result.returncode == 0, result.stderr
    rows = [[column.strip() for column in line.split('|')] for line in result.stdout.splitlines()]
    return [(row[0], row[6]) for row in rows if len(row) == 7]


def is_writable(section):
    return section.startswith(('.data', '.bss', '.tdata', '.tbss', '*COM*')) and '.rel.ro' not in section


@case
def reading_half():
    if not shutil.which('nm'):
        skip('binutils is not installed')
    found = []
    for module in MODULES:
        all_symbols = symbols(module)
        if any(name.startswith(('__asan_', '__tsan_')) for name, _ in all_symbols):
            skip('sanitizers add variables of their own')
        found += ['%s: %s' % (module, name) for name, section in all_symbols
                  if is_writable(section) and name.split('.')[0] not in ALLOWED]
    equal(found, [], 'writable variables')


main()
