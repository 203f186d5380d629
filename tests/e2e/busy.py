# SPDX-License-Identifier: ISC
"""Busy loops of programs that nobody changed: the problem names the thread and the call."""
import os
import re

from hanging import Hang
from harness import BUILD, WEFT, case, equal, json_lines, main, run, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'busy-subject')

LOOPS = {
    'yield': '× sched_yield',
    'sleep': '× sleeps of 0',
    'poll': '× poll with a time-out of 0',
    'select': '× select with a time-out of 0',
    'epoll': '× epoll_wait with a time-out of 0',
    'nothing': '× reads that find nothing',
    'end': '× reads at the end of the input',
    'mixed': '× (sched_yield|sleeps of 0) and others',
}


@case
def each_busy_loop_is_found():
    for part, text in LOOPS.items():
        with temporary_directory() as folder:
            def is_it(problem, text=text):
                return problem['problem'] == 'polling' and re.search("thread 1 'busy-subject' waits in a busy loop for .* " + text, problem['sentence'])
            hang = Hang(SUBJECT, part, folder=folder, until=is_it)
            assert part != 'yield' or any(p['sentence'].find(', in yield') > 0 for p in hang.problems()), hang.problems()


@case
def work_between_the_calls_is_no_busy_loop():
    for part in ('works', 'hesitates'):
        with temporary_directory() as folder:
            trace = os.path.join(folder, 'trace.weft')
            result = run([WEFT, 'record', '-a', 'thread,io', '-o', trace, SUBJECT, part], env={'XDG_RUNTIME_DIR': folder})
            equal(result.returncode, 0, result.stderr)
            found = [p for p in json_lines(weft('dump', '--problems', '--json', trace).stdout) if 'busy' in p['sentence']]
            equal(found, [], part)


main()
