# SPDX-License-Identifier: ISC
"""Hostile forked children: they harm their parent neither by its ring nor by other shared memory."""
import json
import os

from harness import BUILD, case, equal, main, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'children-subject')


def record(folder, how):
    """The program's own words, and what `weft info` says about its trace."""
    trace = os.path.join(folder, 't.weft')
    result = weft('record', '-o', trace, SUBJECT, how)
    info = weft('info', '--json', trace, status=None).stdout
    return result.stdout.split(), json.loads(info.splitlines()[0]) if info else None


@case
def a_child_of_fork_has_no_part_of_the_ring():
    with temporary_directory() as folder:
        words, info = record(folder, 'fork')
        equal(words, ['1', '0', '0'])  # it ended by itself, found no mapping, and changed nothing
        equal(info['losses'].get('full', 0), 0)
        equal(info['end'] > info['start'], True)


@case
def a_child_of_clone_spoils_the_trace_at_most():
    with temporary_directory() as folder:
        words, _ = record(folder, 'clone')
        equal(words, ['1', '1', '0'])


main()
