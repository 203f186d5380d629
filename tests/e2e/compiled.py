# SPDX-License-Identifier: ISC
"""Programs in C++ that a test compiles against the public headers, links with libweft, and records."""
import glob
import os

from harness import BUILD, equal, json_lines, skip, weft

WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror']


def library():
    found = glob.glob(os.path.join(BUILD, 'src', '**', 'libweft.so'), recursive=True)
    if not found:
        skip('there is no shared library')
    return os.path.dirname(found[0])


def linked():
    return ['-L', library(), '-Wl,-rpath,' + library(), '-lweft']


def record(folder, program, **environment):
    """The events and the tasks of a program, and what it printed."""
    trace = os.path.join(folder, 'trace.weft')
    result = weft('record', '-o', trace, program, env={'XDG_RUNTIME_DIR': folder, **environment})
    shown = weft('info', trace)
    equal(shown.stderr, '')
    assert 'losses      none' in shown.stdout and 'damage      none' in shown.stdout, shown.stdout
    return (json_lines(weft('dump', '--json', trace).stdout),
            json_lines(weft('dump', '--json', '--tasks', trace).stdout), result.stdout)
