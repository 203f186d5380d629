# SPDX-License-Identifier: ISC
"""Programs in Python with a fault, as people write them: it is the first problem. Sound ones have none."""
import os
import re
import sys

from harness import BUILD, SOURCE, WEFT, case, equal, main, run, skip, temporary_directory, weft

PROGRAMS = os.path.join(SOURCE, 'tests', 'e2e', 'python')
PYTHON = os.path.realpath(sys.executable)
# These depend on how busy the machine is.
OF_TIME = ('late timer', 'idle gap', 'slow', 'hog', 'contention', 'starvation')

FAULTS = {
    'threads.py': r"error +failed +task \d+ 'call_soon at threads.py:15' failed.*: not thread-safe: reader does not wake",
    'loops.py': r"error +failed +task \d+ 'Lock.acquire at loops.py:11' failed at .*: the Lock belongs to another event loop",
}


def grave(path):
    """The lines of errors and warnings, without those that come from a busy machine."""
    if not os.path.exists(os.path.join(BUILD, 'bindings', 'python', 'weft', 'weft-python.so')) or sys.version_info < (3, 11):
        skip('built without what is loaded into Python, or this Python is older than 3.11')
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace.weft')
        result = run([WEFT, 'record', '-a', 'auto', '-o', trace, PYTHON, path])
        equal(result.returncode, 0, result.stderr)
        lines = weft('dump', '--problems', trace).stdout.splitlines()
    return [line for line in lines if re.match(r'\s*\S+\s+(error|warning)\s', line)
            and not re.match(r'\s*\S+\s+warning\s+(%s)\s' % '|'.join(OF_TIME), line)]


@case
def faults_are_the_first_problem():
    for name, expected in FAULTS.items():
        found = grave(os.path.join(PROGRAMS, 'faults', name))
        assert found and re.search(expected, found[0]), (name, found)


@case
def sound_programs_have_no_problem():
    for name in sorted(os.listdir(os.path.join(PROGRAMS, 'sound'))):
        equal(grave(os.path.join(PROGRAMS, 'sound', name)), [], name)


main()
