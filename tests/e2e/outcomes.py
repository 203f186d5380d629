# SPDX-License-Identifier: ISC
"""Each call that waits, as the program made it and as the trace has it: outcomes_subject.c makes the calls and prints them."""
import os

from harness import BUILD, case, equal, json_lines, main, run, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'outcomes-subject')


def waits(trace, waiter):
    """[(what the waiter waited for, the event by which the wait ended)] in their order."""
    labels = {task['task']: task['label'] for task in json_lines(weft('dump', '--json', '--tasks', trace).stdout)}
    found, source = [], None
    for event in json_lines(weft('dump', '--json', trace).stdout):
        if event.get('task') != waiter:
            continue
        if event['event'] == 'try_read':
            assert source is None, event
            source = event['source']
        elif source is not None and event['event'] in ('read', 'acquire', 'switch'):
            about = event.get('source', event.get('resource', source))
            equal(about, source, event)
            found.append((labels[source], 'ended' if event['event'] == 'switch' else event['event']))
            source = None
    return found


@case
def each_wait_ends_as_the_call_did():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        alone = run([SUBJECT], cwd=folder)
        recorded = weft('record', '-a', 'thread,io', '-o', trace, SUBJECT, cwd=folder, env={'XDG_RUNTIME_DIR': folder})
        equal(recorded.stdout.splitlines(), alone.stdout.splitlines())
        equal(weft('info', trace).stderr, '')
        calls = [line.split(' | ') for line in recorded.stdout.splitlines()]
        found = waits(trace, 1)
        wrong = ['%s: %s, %s, but the trace has %s' % (*call, it) for call, it in zip(calls, found) if not (it[0].startswith(call[1]) and it[1] == call[2])]
        assert not wrong and len(found) == len(calls), '\n'.join([*wrong, '%d waits of %d calls' % (len(found), len(calls))])


main()
