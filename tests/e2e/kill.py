# SPDX-License-Identifier: ISC
"""kill -9 at random times: committed events are in the trace, and intact.

WEFT_KILLS is the number of kills, 60 by default; WEFT_SEED repeats a run."""
import os
import tempfile
import time

from harness import BUILD, case, equal, main, run

LOOP = os.path.join(BUILD, 'tests', 'kill-loop')
KILLS = int(os.environ.get('WEFT_KILLS', '60'))
SEED = os.environ.get('WEFT_SEED', str(int(time.time())))


def loop(kills, *more):
    """In shared memory, where rings live."""
    where = '/dev/shm' if os.path.isdir('/dev/shm') else None
    with tempfile.TemporaryDirectory(prefix='weft-kill-', dir=where) as directory:
        return run([LOOP, kills, SEED, directory, *more], processor=60 + kills)


@case
def nothing_committed_is_lost():
    result = loop(KILLS)
    print('# seed %s: %s' % (SEED, result.stdout.strip()))
    equal(result.returncode, 0, 'seed %s: %s%s' % (SEED, result.stdout, result.stderr))
    empty = int(result.stdout.split(' kills, ')[1].split()[0])
    assert empty < KILLS * 3 // 4, 'too few kills came after an event: ' + result.stdout


@case
def the_check_notices():
    """A program that reports an event before it is recorded."""
    result = loop(200, 'late')
    equal(result.returncode, 1, result.stdout)
    assert 'a committed event is missing' in result.stdout, result.stdout


main()
