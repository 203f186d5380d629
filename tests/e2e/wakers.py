# SPDX-License-Identifier: ISC
"""`weft why` names the thread that ended a wait, for each wait of a program that knows it."""
import os
import random

from harness import BUILD, case, json_lines, main, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'waking-subject')

# Parts of the labels of what a thread waits for.
OBJECTS = {'condition': 'condition ready', 'semaphore': 'semaphore free_slots', 'barrier': 'barrier meeting', 'pipe': 'pipe',
           'event': 'event', 'lock': 'lock held', 'futex': 'futex word'}


def waits_in(events, labels):
    """(time, end, task, label of what it waits for) of the waits of threads, in the order of their begins."""
    for at, event in enumerate(events):
        if event['event'] == 'try_read':
            end = next((later['time'] for later in events[at + 1:] if later.get('task') == event['task'] and later['time'] > event['time']), None)
            yield event['time'], end, event['task'], labels.get(event['source']) or ''


@case
def the_thread_that_ended_a_wait_is_named():
    seed = random.randrange(1 << 30)
    with temporary_directory() as folder:
        path = os.path.join(folder, 'waking.weft')
        rounds = [line.split() for line in weft('record', '-a', 'thread,io', '-o', path, SUBJECT, str(seed)).stdout.splitlines()]
        assert len(rounds) == 24, rounds
        events = json_lines(weft('dump', '--json', path).stdout)
        tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
        labels = {task['task']: task['label'] for task in tasks}
        waits, begin = list(waits_in(events, labels)), events[0]['time']
        for waiter, waker, way in rounds:
            # The other one also waits at a barrier, but comes later.
            while labels[waits[0][2]] != 'thread ' + waiter or OBJECTS[way] not in waits[0][3]:
                waits.pop(0)
            start, end, task, _ = waits.pop(0)
            at = '%dns' % ((start + end) // 2 - begin)
            answer = weft('why', '--at', at, path, 'task:%d' % task).stdout
            assert f"'thread {waker}'" in answer, (seed, waiter, waker, way, at, answer)


main()
