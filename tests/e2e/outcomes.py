# SPDX-License-Identifier: ISC
"""Each call that waits, as the program made it and as the trace has it: outcomes_subject.c makes the calls and prints them."""
import glob
import os

from harness import BUILD, case, equal, json_lines, main, run, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'outcomes-subject')


def tasks(trace):
    return json_lines(weft('dump', '--json', '--tasks', trace).stdout)


def waits(trace, waiter):
    """[(what the waiter waited for, the event by which the wait ended)] in their order."""
    labels = {task['task']: task['label'] for task in tasks(trace)}
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


def compare(lines, trace, waiter):
    """Each call's line says what it waited for and how that ended: the waits of the trace are these."""
    equal(weft('info', trace).stderr, '')
    calls = [line.split(' | ') for line in lines if not line.endswith(' | none')]
    found = waits(trace, waiter)
    wrong = ['%s: %s, %s, but the trace has %s' % (*call, it) for call, it in zip(calls, found) if not (it[0].startswith(call[1]) and it[1] == call[2])]
    failures = [event['text'] for event in json_lines(weft('dump', '--json', trace).stdout) if event['event'] == 'note' and ': E' in event['text']]
    equal(failures, [], 'calls that are to be made again have not failed')
    assert not wrong and len(found) == len(calls), '\n'.join([*wrong, '%d waits of %d calls' % (len(found), len(calls))])


@case
def each_wait_ends_as_the_call_did():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        alone = run([SUBJECT], cwd=folder)
        recorded = weft('record', '-a', 'thread,io', '-o', trace, SUBJECT, cwd=folder, env={'XDG_RUNTIME_DIR': folder})
        equal(recorded.stdout.splitlines(), alone.stdout.splitlines())
        compare(recorded.stdout.splitlines(), trace, 1)


@case
def also_those_of_a_thread_of_a_forked_child():
    with temporary_directory() as folder:
        runs = os.path.join(folder, 'runs') + '/'
        recorded = weft('record', '-a', 'thread,io', '-o', runs, SUBJECT, 'child', cwd=folder, env={'XDG_RUNTIME_DIR': folder})
        for trace in glob.glob(runs + '*.weft'):
            threads = [task['task'] for task in tasks(trace) if task['label'] == 'make_calls']
            if threads:
                compare(recorded.stdout.splitlines(), trace, *threads)
                return
        raise AssertionError(os.listdir(runs))


main()
