# SPDX-License-Identifier: ISC
"""Threads of Python that wait for its locks: lines of the program and holders are named, and nothing else changes."""
import os
import re
import sys

from hanging import Hang, found
from harness import SOURCE, WEFT, case, equal, json_lines, main, run, temporary_directory, weft

SUBJECT = os.path.join(SOURCE, 'tests', 'e2e', 'python', 'locks.py')
POOLS = os.path.join(SOURCE, 'tests', 'e2e', 'python', 'pools.py')
PYTHON = os.path.realpath(sys.executable)

# Each part that hangs, a task of it, parts of what `why` says of that once it waits, the last of which comes last, and whether it is a deadlock.
HANGS = {
    'two': ('first', ['lock at locks.py:18 in take_both', 'A circle'], True),
    'recursive': ('first', ['lock at locks.py:18 in take_both', 'A circle'], True),
    'conditions': ('second', ['lock at locks.py:18 in take_both', 'A circle'], True),
    'itself': ('task:1', ['lock at locks.py:42 in itself', 'A circle'], True),
    'kept': ('task:1', ["'lock at locks.py:55 in kept' is held by", "'keeper' waits for condition", 'Event.wait at locks.py:52'], False),
    'handed': ('task:1', ["'python3.*' waits for condition", 'lock at locks.py:64 in'], False),
    'awaits_items': ('task:1', ['Queue.get at locks.py:68'], False),
    'awaits_room': ('task:1', ['Queue.put at locks.py:74'], False),
    'awaits_items_in_c': ('task:1', ['wait at locks.py:78 in'], False),
    'nested_pool': ('pool_0', ['Future.result at locks.py:83'], False),
}

# These depend on how busy the machine is: with one processor for all, a thread may have the lock again and again.
OF_TIME = ('slow', 'contention', 'starvation', 'hog')


def hang(part, folder):
    task, answer, _ = HANGS[part]
    return Hang(PYTHON, SUBJECT, part, folder=folder, adapters='python,thread,io', answer=(task, answer[-1]))


@case
def each_wait_has_its_line_and_its_holder():
    if sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13)):
        return
    for part, (task, answer, is_deadlock) in HANGS.items():
        with temporary_directory() as folder:
            it = hang(part, folder)
            assert re.search('(?s)' + '.*'.join(answer), it.why(task)), (part, it.why(task))
            equal('error deadlock' in found(it), is_deadlock, (part, it.problems()))


@case
def the_end_of_a_thread_is_awaited_as_such():
    with temporary_directory() as folder:
        why = hang('two', folder).why('task:1')
        assert re.search(r"thread 1 '[^']+' waits for thread [0-9]+ 'first'", why), why


@case
def a_program_that_ends_waits_for_its_threads():
    """After Ctrl-C. The wait that this interrupted is over."""
    if sys.version_info[:2] not in ((3, 11), (3, 12)):
        return
    with temporary_directory() as folder:
        it = Hang(PYTHON, SUBJECT, 'handed', folder=folder, adapters='python,thread,io', answer=('task:1', 'lock at locks.py:64 in'),
                  then=('task:1', "'giver' waits for condition"))
        assert re.search(r"thread 1 '[^']+' waits for thread [0-9]+ 'giver'", it.why('task:1')), it.why('task:1')


@case
def a_worker_that_was_killed_is_named():
    with temporary_directory() as folder:
        text = 'was killed by SIGKILL'
        it = Hang(PYTHON, POOLS, 'killed', folder=folder, adapters='python,thread,io', answer=('task:1', text))
        wanted = [p for p in it.problems() if 'Pool.map at pools.py' in p['sentence']]
        assert wanted and re.search('; child [0-9]+ ' + text, wanted[0]['sentence']), it.problems()


@case
def a_sound_program_has_no_problem():
    for subject in (SUBJECT, POOLS):
        with temporary_directory() as folder:
            path = os.path.join(folder, 'traces/')
            equal(run([WEFT, 'record', '-a', 'python,thread,io', '-o', path, PYTHON, subject, 'sound']).returncode, 0)
            grave = [p for p in json_lines(weft('dump', '--problems', '--json', path).stdout) if p['severity'] != 'hint' and p['problem'] not in OF_TIME]
            equal(grave, [], subject)


@case
def the_collector_stays_off_in_hooks():
    with temporary_directory() as folder:
        for _ in range(3):
            result = run([WEFT, 'record', '-a', 'python,thread,io', '-o', os.path.join(folder, 'trace.weft'), PYTHON, SUBJECT, 'collected'])
            equal(result.returncode, 0, result.stderr)


def output(part):
    """Records the part; what it prints, without the number of the process."""
    with temporary_directory() as folder:
        result = run([WEFT, 'record', '-a', 'python,thread,io', '-o', os.path.join(folder, 'trace.weft'), PYTHON, SUBJECT, part])
    equal(result.returncode, 0, result.stderr)
    return result.stdout.splitlines()[1:]


@case
def an_error_that_is_set_at_a_wait_stays():
    equal(output('failed'), ['no space'])


@case
def a_thread_without_the_global_lock_is_not_looked_at():
    equal(output('interpreters'), ['[1, 0]'])


main()
