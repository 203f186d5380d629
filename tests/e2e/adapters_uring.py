# SPDX-License-Identifier: ISC
"""Programs that nobody changed: requests that they make by liburing."""
import glob
import json
import os

from harness import BUILD, case, equal, json_lines, main, run, skip, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'uring-subject')


def requests_of(tasks):
    return [task for task in tasks if task['kind'] == 'request']


class Trace:
    """Runs a part of the subject without and with the adapters: both must print and return the same."""

    def __init__(self, part):
        if not os.path.exists(SUBJECT):
            skip('liburing-dev is not installed')
        plain = run([SUBJECT, part])
        if plain.returncode == 77:
            skip('this system has no io_uring, or forbids it')
        equal(plain.returncode, 0, plain.stderr)
        with temporary_directory() as folder:
            path = os.path.join(folder, 't.weft')
            traced = weft('record', '-a', 'io,thread', '--keep-all', '-o', path, SUBJECT, part, env={'XDG_RUNTIME_DIR': folder})
            equal(sorted(traced.stdout.splitlines()), sorted(plain.stdout.splitlines()))
            self.events = json_lines(weft('dump', '--json', path).stdout)
            self.tasks = json_lines(weft('dump', '--json', '--tasks', path).stdout)
            self.of_children = []
            for each in glob.glob(os.path.join(folder, '*.weft')):
                info = json.loads(weft('info', '--json', each).stdout)
                equal((info['diagnostics'], info['losses'], info.get('unseen', [])), ([], {}, []))
                if each != path:
                    self.of_children += requests_of(json_lines(weft('dump', '--json', '--tasks', each).stdout))
        self.requests = requests_of(self.tasks)
        self.ring = next((task for task in self.tasks if task['kind'] == 'io_uring'), None)

    def outcomes(self):
        return [(task['label'], task['outcome']) for task in self.requests]

    def bytes(self):
        """In the order of the requests."""
        found = {e['task']: e['value'] for e in self.events if e['event'] == 'tag' and e['text'] == 'bytes'}
        return [found.get(task['task']) for task in self.requests]


@case
def a_read_is_completed_by_a_write():
    trace = Trace('pipe')
    equal(trace.outcomes(), [('read pipe', 'fulfilled'), ('write pipe', 'fulfilled')])
    equal(trace.bytes(), [5, 5])
    main_thread = trace.requests[0]['parent']
    got = {e['source'] for e in trace.events if e['event'] == 'read' and e['task'] == main_thread and e['later']}
    equal(got, {task['task'] for task in trace.requests})
    equal(trace.ring['outcome'], 'closed')


@case
def errors_have_names():
    trace = Trace('errors')
    equal(trace.outcomes(), [('read fd -1', 'failed'), ('timeout 20 ms', 'fulfilled'), ('timeout 1000 s', 'cancelled'),
                             ('timeout_remove', 'fulfilled')])
    equal([e['message'] for e in trace.events if e['event'] == 'fail'], ['EBADF'])


@case
def requests_go_on_when_the_queues_are_full_again():
    trace = Trace('many')
    equal(trace.outcomes(), [('read zero', 'fulfilled')] * 1000)
    equal(trace.bytes(), [1 + i % 8 for i in range(1000)])


@case
def what_cannot_be_distinguished_is_one_task():
    trace = Trace('shared')
    equal((trace.outcomes(), trace.bytes()), ([('read zero', 'fulfilled')], [None]))
    assert any(e['event'] == 'tag' and e['text'] == 'other requests have its user_data' for e in trace.events)


@case
def completions_that_the_program_takes_itself_are_found_later():
    trace = Trace('peek')
    equal((trace.outcomes(), trace.bytes()), ([('read zero', 'fulfilled')] * 2, [9, 10]))


@case
def a_number_that_is_used_again_is_another_request():
    trace = Trace('again')
    equal(trace.outcomes(), [('read pipe', 'fulfilled')] * 5)
    equal(trace.bytes(), [1, 2, 3, 4, 5])
    late = [e['task'] for e in trace.events if e['event'] == 'tag' and e['text'] == 'may have ended before']
    equal(late, [task['task'] for task in trace.requests])
    equal([e for e in trace.events if e['event'] == 'read' and e['source'] in late], [])


@case
def one_thread_submits_and_another_takes():
    trace = Trace('threads')
    equal(trace.outcomes(), [('read zero', 'fulfilled')] * 1000)
    equal(trace.bytes(), [1 + i % 8 for i in range(1000)])


@case
def a_child_has_requests_of_its_own():
    trace = Trace('fork')
    equal(trace.outcomes(), [('read pipe', 'fulfilled')])
    equal([(task['label'], task['outcome']) for task in trace.of_children], [('nop', 'fulfilled')])


@case
def a_ring_may_be_moved():
    trace = Trace('moved')
    equal((trace.outcomes(), trace.bytes()), ([('read pipe', 'fulfilled')], [3]))


# The library's addresses are taken by other mappings meanwhile, so that it gets others.
PLUGIN = '''
import _ctypes, ctypes, mmap, sys
kept = []
for _ in range(3):
    plugin = ctypes.CDLL(sys.argv[1])
    print(plugin.use_ring())
    _ctypes.dlclose(plugin._handle)
    kept += [mmap.mmap(-1, 4096) for _ in range(64)]
'''


@case
def the_library_may_be_unloaded():
    plugin = os.path.join(BUILD, 'tests', 'uring-plugin.so')
    if not os.path.exists(plugin):
        skip('liburing-dev is not installed')
    plain = run(['/usr/bin/python3', '-c', PLUGIN, plugin])
    equal(plain.returncode, 0, plain.stderr)
    if plain.stdout.startswith('-1'):
        skip('this system has no io_uring, or forbids it')
    with temporary_directory() as folder:
        path = os.path.join(folder, 't.weft')
        traced = weft('record', '-a', 'io,thread', '-o', path, '/usr/bin/python3', '-c', PLUGIN, plugin, env={'XDG_RUNTIME_DIR': folder})
        equal(traced.stdout, plain.stdout)
        requests = requests_of(json_lines(weft('dump', '--json', '--tasks', path).stdout))
        equal([(task['label'], task['outcome']) for task in requests], [('nop', 'fulfilled')] * 3)


@case
def the_library_is_not_searched_again():
    plugin = os.path.join(BUILD, 'tests', 'uring-plugin.so')
    if not os.path.exists(plugin):
        skip('liburing-dev is not installed')
    searches = []
    for rounds in (4, 16):  # hooks that are called for the first time close libraries, too
        code = 'import ctypes, sys\nplugin = ctypes.CDLL(sys.argv[1])\nfor _ in range(%d):\n    plugin.use_ring()' % rounds
        with temporary_directory() as folder:
            weft('record', '-a', 'io', '-o', os.path.join(folder, 't.weft'), '/usr/bin/python3', '-c', code, plugin,
                 env={'XDG_RUNTIME_DIR': folder, 'LD_DEBUG': 'symbols', 'LD_DEBUG_OUTPUT': os.path.join(folder, 'log')}, status=None)
            logs = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith('log')]
            searches.append(sum(open(log, encoding='utf-8', errors='replace').read().count('symbol=io_uring_submit;') for log in logs))
    assert searches[0], searches
    equal(searches[1], searches[0])


@case
def a_thread_waits_for_the_ring():
    trace = Trace('wait')
    thread, = {request['parent'] for request in trace.requests}
    waits = [e for e in trace.events if e['event'] == 'try_read' and e['task'] == thread and e['source'] == trace.ring['task']]
    ends = [e for e in trace.events if e['event'] == 'read' and e['task'] == thread and e['source'] == trace.ring['task']]
    equal((len(waits), len(ends)), (1, 1))
    assert ends[0]['time'] - waits[0]['time'] >= 19e6, (waits, ends)
    equal(trace.outcomes(), [('timeout 20 ms', 'fulfilled')])


@case
def requests_end_with_their_ring():
    equal(Trace('exit').outcomes(), [('read pipe', 'cancelled')])


main()
