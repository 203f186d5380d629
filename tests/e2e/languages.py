# SPDX-License-Identifier: ISC
"""Programs in other languages record by weft_ffi.h what a C program records by weft.h."""
import glob
import os
import shutil
import sys

from harness import BUILD, SOURCE, case, equal, json_lines, main, run, skip, temporary_directory, weft

HERE = os.path.join(SOURCE, 'tests', 'e2e')
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Werror']


def library():
    found = glob.glob(os.path.join(BUILD, 'src', '**', 'libweft.so'), recursive=True)
    if not found:
        skip('there is no shared library')
    return found[0]


def events(*command):
    """The events that a program records, without their times and threads."""
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace.weft')
        weft('record', '-o', trace, *command,
             env={'XDG_RUNTIME_DIR': folder, 'LD_LIBRARY_PATH': os.path.dirname(library())})
        assert 'losses      none' in weft('info', trace).stdout
        return [{key: value for key, value in event.items() if key not in ('time_ns', 'time', 'thread', 'offset')}
                for event in json_lines(weft('dump', '--json', trace).stdout)]


def built(folder, compiler, source, *flags):
    if not shutil.which(compiler):
        skip('%s is not installed' % compiler)
    program = os.path.join(folder, 'program')
    result = run([compiler, os.path.join(HERE, source), '-o', program, '-L', os.path.dirname(library()), *flags])
    assert result.returncode == 0, result.stderr
    return program


def expected():
    with temporary_directory() as folder:
        found = events(built(folder, 'gcc', 'languages_calls.c', '-std=c11', *WARNINGS, '-lweft',
                             '-I', os.path.join(SOURCE, 'include')))
    assert len(found) > 12, found
    return found


@case
def python_by_ctypes():
    equal(events(sys.executable, os.path.join(HERE, 'languages_calls.py'), library()), expected())


@case
def rust():
    with temporary_directory() as folder:
        equal(events(built(folder, 'rustc', 'languages_calls.rs', '-O')), expected())


main()
