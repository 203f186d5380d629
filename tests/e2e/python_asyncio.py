# SPDX-License-Identifier: ISC
"""`python3 -m weft` records the tasks of asyncio and changes nothing else."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from hanging import Hang
from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import communicate, wait_until

PACKAGES = os.path.join(BUILD, 'bindings', 'python')
RESOURCES = ('lock', 'pool', 'condition', 'channel')
ENVIRONMENT = {'PYTHONPATH': PACKAGES, 'PATH': os.path.dirname(WEFT) + os.pathsep + os.environ['PATH']}
HEAD = 'import asyncio, threading, time\n'


def check_built():
    if not os.path.exists(os.path.join(PACKAGES, 'weft', '_weft.abi3.so')):
        skip('built without the package for Python: python3-dev is not installed')


def without_beginning(label):
    """The label of a task without where its coroutine begins."""
    return label and re.sub(r' at (program.py|<string>):\d+$', '', label)


class Trace:
    """The trace of a program, which is a file, so that its lines have numbers."""

    def __init__(self, program, *options):
        check_built()
        with temporary_directory() as folder:
            path, source = os.path.join(folder, 'trace.weft'), os.path.join(folder, 'program.py')
            with open(source, 'w', encoding='utf-8') as file:
                file.write(HEAD + program)
            weft('record', '-o', path, '--require', sys.executable, *options, '-m', 'weft', source, env=ENVIRONMENT)
            self.info = json.loads(weft('info', '--json', path).stdout)
            self.events = json_lines(weft('dump', '--json', path).stdout)
            self.tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
            self.problems = weft('dump', '--problems', path).stdout
        equal(self.info['diagnostics'], [])
        self.labels = [task['label'] for task in self.tasks]
        for task in self.tasks:
            if task['kind'] == 'task':
                task['label'] = without_beginning(task['label'])

    def outcomes(self, pattern='.*'):
        """{label: outcome} of the tasks whose labels match."""
        return {task['label']: task['outcome'] for task in self.tasks if re.fullmatch(pattern, task['label'] or '')}

    def id(self, label):
        found, = [task['task'] for task in self.tasks if task['label'] == label]
        return found

    def pairs(self, event, one='task', other='source'):
        """The labels of two tasks of each event of a kind."""
        labels = {task['task']: task['label'] for task in self.tasks}
        return [(labels.get(found[one]), labels.get(found[other])) for found in self.events if found['event'] == event]


@case
def tasks_and_their_ends():
    trace = Trace('''
async def good(): await asyncio.sleep(0)
async def bad(): raise ValueError('no good')
async def slow(): await asyncio.sleep(10)
async def main():
    named = asyncio.create_task(good(), name='by name')
    failing, cancelled = asyncio.create_task(bad()), asyncio.create_task(slow())
    await named
    cancelled.cancel()
    for task in (failing, cancelled):
        try:
            await task
        except (ValueError, asyncio.CancelledError):
            pass
asyncio.run(main())
''')
    equal(trace.outcomes(r'main|by name|bad|slow'), {
        'main': 'fulfilled', 'by name': 'fulfilled', 'bad': 'failed', 'slow': 'cancelled'})
    assert 'by name at program.py:3' in trace.labels and 'bad at program.py:4' in trace.labels, trace.labels
    assert [task['failed'] for task in trace.tasks if task.get('failed')] == ['ValueError: no good at program.py:4'], trace.tasks
    equal(trace.outcomes('sleep.*'), {'sleep at program.py:5': 'cancelled'})
    assert ('main', 'by name') in trace.pairs('create', other='child')
    assert ('main', 'by name') in trace.pairs('try_read')
    assert ('main', 'by name') in trace.pairs('read')
    equal([task['outcome'] for task in trace.tasks if task['outcome'] in ('unfinished', 'closed')], [])


@case
def an_exception_that_is_raised_again_and_again_has_no_line():
    """Its traceback has grown with each task that raised it."""
    trace = Trace('''
again = ValueError('no good')
async def fail():
    raise again
async def main():
    for _ in range(2500):
        await asyncio.gather(fail(), return_exceptions=True)
asyncio.run(main())
''')
    failed = [task['failed'] for task in trace.tasks if task.get('failed')]
    equal((failed[0], failed[-1]), ('ValueError: no good at program.py:5', 'ValueError: no good'))


@case
def a_wait_says_for_what_and_where():
    trace = Trace('''
async def getter(queue): return await queue.get()
async def holder(lock):
    async with lock:
        await asyncio.sleep(0.001)
async def main():
    queue, lock, event, semaphore = asyncio.Queue(), asyncio.Lock(), asyncio.Event(), asyncio.Semaphore(0)
    waiting = asyncio.create_task(getter(queue))
    tasks = [asyncio.create_task(holder(lock), name=name) for name in ('first', 'second')]
    await asyncio.sleep(0)
    queue.put_nowait(1)
    loop = asyncio.get_running_loop()
    loop.call_soon(event.set)
    await event.wait()
    loop.call_soon(semaphore.release)
    await semaphore.acquire()
    condition = asyncio.Condition()
    async def notify():
        async with condition:
            condition.notify()
    async with condition:
        task = asyncio.create_task(notify(), name='notifier')
        await condition.wait()
    await task
    await asyncio.gather(waiting, *tasks)
asyncio.run(main())
''')
    resolved = trace.pairs('resolve', other='target')
    for waiting, future, by in (
            ('getter', 'Queue.get at program.py:3', 'main'),
            ('second', 'Lock.acquire at program.py:5', 'first'),
            ('main', 'Event.wait at program.py:15', 'event loop'),
            ('main', 'Semaphore.acquire at program.py:17', 'event loop'),
            ('main', 'Condition.wait at program.py:24', 'notifier'),
            ('main', 'gather at program.py:26', 'gather at program.py:26')):
        assert (waiting, future) in trace.pairs('try_read'), (waiting, future, trace.pairs('try_read'))
        assert (waiting, future) in trace.pairs('read'), (waiting, future, trace.pairs('read'))
        assert (by, future) in resolved, (by, future, resolved)
    assert ('gather at program.py:26', 'second') in trace.pairs('try_read')
    assert ('gather at program.py:26', 'second') in trace.pairs('read')


@case
def time_outs_groups_and_sets():
    trace = Trace('''
async def step(seconds): await asyncio.sleep(seconds)
async def main():
    try:
        await asyncio.wait_for(asyncio.create_task(step(10), name='late'), 0.001)
    except asyncio.TimeoutError:
        pass
    async with asyncio.TaskGroup() as group:
        group.create_task(step(0.001), name='member')
    await asyncio.wait([asyncio.create_task(step(0.001), name='fast'), asyncio.create_task(step(10), name='endless')],
                       return_when=asyncio.FIRST_COMPLETED)
    await asyncio.shield(asyncio.create_task(step(0.001), name='inner'))
asyncio.run(main())
''')
    equal(trace.outcomes('wait_for.*'), {'wait_for at program.py:6': 'timed_out'})
    equal(trace.outcomes('(late|endless).*'), {'late': 'cancelled', 'endless': 'cancelled'})
    waits, reads = trace.pairs('try_read'), trace.pairs('read')
    for joined, source in (('TaskGroup.__aexit__ at program.py:9', 'member'),
                           ('wait at program.py:11', 'fast'), ('main at program.py:13', 'inner')):
        assert (joined, source) in waits or 'inner' in source or 'wait at' in joined, (joined, source, waits)
        assert (joined, source) in reads, (joined, source, reads)
        equal(trace.outcomes(re.escape(joined)), {joined: 'fulfilled'})
    equal(sorted(trace.pairs('wait_any')), [('wait at program.py:11', name) for name in ('endless', 'fast')])


@case
def jobs_of_threads():
    trace = Trace('''
def blocking(): time.sleep(0.05)
def failing(): raise OSError('full')
async def main():
    await asyncio.to_thread(blocking)
    try:
        await asyncio.get_running_loop().run_in_executor(None, failing)
    except OSError:
        pass
asyncio.run(main())
''')
    equal(trace.outcomes('blocking|failing'), {'blocking': 'fulfilled', 'failing': 'failed'})
    assert ('blocking', 'to_thread at program.py:6') in trace.pairs('resolve', other='target'), trace.tasks
    assert 'blocking at program.py:3' in trace.labels, trace.labels
    equal(trace.outcomes('.* at program.*'), {'to_thread at program.py:6': 'fulfilled', 'main at program.py:8': 'failed'})
    switched = {event['thread'] for event in trace.events if event.get('task') == trace.id('blocking')}
    assert len(switched) == 2, switched


@case
def the_loop_is_idle_while_it_selects():
    trace = Trace('''
async def main():
    await asyncio.sleep(0.05)
    time.sleep(0.05)
asyncio.run(main())
''')
    bands = [(event['time'], event['begin']) for event in trace.events if event['event'] == 'band']
    idle = [(begin, end) for (begin, is_begin), (end, _) in zip(bands, bands[1:]) if is_begin]
    assert sum(end - begin for begin, end in idle) > 40e6, idle
    main_task = trace.id('main')
    woke, = [event['time'] for event in trace.events if event['event'] == 'read' and event['task'] == main_task]
    ended, = [event['time'] for event in trace.events if event['event'] == 'resolve' and event['target'] == main_task]
    assert ended - woke > 40e6 and not [band for band in idle if band[0] < ended and band[1] > woke], (idle, woke, ended)
    equal(trace.outcomes('event loop'), {'event loop': 'fulfilled'})


@case
def loops_of_several_threads():
    trace = Trace('''
async def step(name): await asyncio.sleep(0.001)
def work(number):
    with asyncio.Runner() as runner:
        runner.run(step(number))
threads = [threading.Thread(target=work, args=(number,), name='loop-%d' % number) for number in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
''')
    equal(sorted(trace.outcomes('event loop.*')), ['event loop of loop-%d' % number for number in range(3)])
    equal(set(trace.outcomes('event loop.*|step.*').values()), {'fulfilled'})
    for number in range(3):
        thread, = [event['thread'] for event in trace.events
                   if event['event'] == 'switch' and event['task'] == trace.id('event loop of loop-%d' % number)][:1]
        tasks = {event['task'] for event in trace.events if event['thread'] == thread and 'task' in event}
        assert len(tasks & {trace.id('event loop of loop-%d' % other) for other in range(3)}) == 1, tasks


# Prints whatever of asyncio a program can look at.
CURIOUS = HEAD + r'''
import contextvars, gc, inspect, logging, re, sys, traceback, warnings
logging.basicConfig(stream=sys.stdout, format='%(message)s')
def show(*values):
    print(re.sub(r'0x[0-9a-f]+|took [\d.]+|when=[\d.]+|fd=\d+|File "[^"]*/', '*', ' '.join(map(str, values))))
async def inner(future): return await future
async def fails(): raise ValueError('inner')
async def main():
    loop = asyncio.get_running_loop()
    loop.slow_callback_duration = 1000  # other work of the machine makes any step slow
    future = loop.create_future()
    task = asyncio.create_task(inner(future), name='waiting')
    await asyncio.sleep(0)
    show(task, future, repr(task.get_coro()), inspect.iscoroutine(task.get_coro()), type(future), type(task))
    show(task.get_stack()[0].f_code.co_name, len(task.get_stack()), vars(type(future)).keys() == vars(asyncio.Future).keys())
    task.print_stack(file=sys.stdout)
    show(asyncio.current_task(), sorted(t.get_name() for t in asyncio.all_tasks()))
    handle = loop.call_later(100, print, 1)
    show(handle); handle.cancel()
    show(loop.call_soon(show, 'called'))
    task.cancel('message')
    try:
        await task
    except asyncio.CancelledError as error:
        show(repr(error), traceback.format_exc())
    try:
        await asyncio.gather(fails(), asyncio.sleep(0))
    except ValueError:
        show(traceback.format_exc())
    try:
        await asyncio.wait_for(asyncio.sleep(1), 0.001)
    except TimeoutError:
        show(traceback.format_exc())
    try:
        await asyncio.to_thread(int, 'x')
    except ValueError:
        show(traceback.format_exc())
    loop.call_soon(lambda: 1 / 0)
    forgotten = asyncio.create_task(fails(), name='forgotten')
    await asyncio.sleep(0.01)
    del forgotten
    gc.collect()
    loop.call_soon(traceback.print_stack, None, None, sys.stdout)
    await asyncio.sleep(0)
    variable = contextvars.ContextVar('v', default=0)
    async def sets(): variable.set(1); return variable.get()
    show(await asyncio.create_task(sets()), variable.get())
    if loop.get_debug():
        loop.slow_callback_duration = 0.1
        time.sleep(0.15)
        await asyncio.sleep(0)
        loop.slow_callback_duration = 1000
    asyncio.create_task(inner(loop.create_future()), name='pending')
    await asyncio.sleep(0)
    show(str(sys.argv), __name__, __file__ if '__file__' in globals() else '', sys.modules['__main__'].main is main)
    sys.exit(7)
asyncio.run(main())
'''


def both(program, *options, arguments=(), kind='file'):
    """(stdout, stderr, status) of a program alone, and recorded."""
    check_built()
    found = []
    with temporary_directory() as folder:
        source = os.path.join(folder, 'program.py')
        with open(source, 'w', encoding='utf-8') as file:
            file.write(program)
        what = {'file': [source], '-c': ['-c', program], '-m': ['-m', 'program']}[kind]
        for before in ([sys.executable, *options], [WEFT, 'record', '-o', folder + '/t.weft', sys.executable, *options, '-m', 'weft']):
            result = run([*before, *what, *arguments], env=ENVIRONMENT, cwd=folder)
            lines = [line for line in result.stderr.splitlines(True) if not line.startswith('weft: ')]
            found.append((result.stdout, ''.join(lines), result.returncode))
    return found


@case
def nothing_changes_for_the_program():
    for options in ((), ('-X', 'dev')):
        for kind in ('file', '-c', '-m'):
            plain, recorded = both(CURIOUS, *options, arguments=['an argument'], kind=kind)
            assert plain[2] == 7 and 'forgotten' in plain[0] and 'division by zero' in plain[0], plain
            for ours, theirs in zip(normal(recorded[0]), normal(plain[0])):
                equal(ours, theirs, kind)
            equal((len(normal(recorded[0])), *recorded[1:]), (len(normal(plain[0])), *plain[1:]), kind)


@case
def objects_are_copied_and_miss_attributes_as_alone():
    plain, recorded = both(HEAD + r'''
import copy, pickle, re
async def main():
    lock, event, queue = asyncio.Lock(), asyncio.Event(), asyncio.Queue()
    condition, semaphore, barrier = asyncio.Condition(), asyncio.Semaphore(), asyncio.Barrier(2)
    await lock.acquire()
    event.set()
    queue.put_nowait(1)
    await queue.get()
    for it in (lock, event, queue, semaphore, condition, barrier):
        for how in copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it)):
            other = how(it)
            print(re.sub('0x[0-9a-f]+', '', repr(other)), type(other))
    other = copy.deepcopy(queue)
    other.put_nowait(2)
    print(await other.get(), other.qsize(), queue.qsize())
    del event._value
    for use in (lambda: event._value, lambda: delattr(event, '_value')):
        try:
            use()
        except AttributeError as error:
            print(error)
asyncio.run(main())
''')
    equal(recorded, plain)


@case
def a_loop_may_have_a_selector_of_the_programs():
    plain, recorded = both(HEAD + '''
import selectors
class Plain(selectors.DefaultSelector):
    pass
class Counting(selectors.DefaultSelector):
    calls = 0
    def select(self, timeout=None):
        self.calls += 1
        return super().select(timeout)
class Poll(selectors.PollSelector):
    def select(self, *, timeout=None):
        return super().select(timeout=timeout)
for kind in (Plain, Counting, selectors.PollSelector, selectors.SelectSelector):
    loop = asyncio.SelectorEventLoop(selector := kind())
    print(loop.run_until_complete(asyncio.sleep(0.001, kind.__name__)), getattr(selector, 'calls', 1) > 0)
    loop.close()
print(Poll().select(timeout=0))
''')
    equal(recorded, plain)
    assert plain[0].startswith('Plain True\nCounting True\n'), plain


def normal(text):
    """Lines without addresses and times, and without the start of stacks: there python3 -m has frames of its own."""
    text = re.sub(r'  File "(<frozen runpy>|[^"]*weft/_[a-z_]+.py)".*\n(    .*\n)*', '', text)
    return re.sub(r'took [\d.]+|\d\.\d+ seconds|0x[0-9a-f]+', '*', text).splitlines()


@case
def uncaught_exceptions_and_interrupts():
    for program, status in (('1/0', 1), ('raise SystemExit("bye")', 1), ('raise SystemExit(3)', 3), ('x = (', 1),
                            ('raise KeyboardInterrupt', -2), ('import sys\nsys.excepthook = print\n1/0', 1)):
        plain, recorded = both(program)
        recorded_status = recorded[2] if status >= 0 else recorded[2] - 128 - 2 * (recorded[2] - 128)
        equal((plain[2], recorded_status), (status, status), program)
        equal(re.sub('0x[0-9a-f]+', '', str(recorded[:2])), re.sub('0x[0-9a-f]+', '', str(plain[:2])), program)


@case
def an_exit_without_an_error_is_no_failure():
    check_built()
    for code, outcome in (('sys.exit(0)', 'fulfilled'), ('sys.exit()', 'fulfilled'), ('sys.exit(3)', 'failed')):
        with temporary_directory() as folder:
            for name, text in (('plain', 'import sys; ' + code), ('inside', 'import asyncio, sys\nasync def run(): ' + code +
                                                                 '\nasyncio.run(run())')):
                with open(os.path.join(folder, name + '.py'), 'w', encoding='utf-8') as file:
                    file.write(text)
                weft('record', '-a', 'none', '-o', name + '.weft', sys.executable, '-m', 'weft', name + '.py', cwd=folder, env=ENVIRONMENT,
                     status=3 if outcome == 'failed' else 0)
                tasks = json_lines(weft('dump', '--json', '--tasks', os.path.join(folder, name + '.weft')).stdout)
                equal({task['outcome'] for task in tasks if task['label'] in (name, 'run')} - {'fulfilled'}, {outcome} - {'fulfilled'}, (name, tasks))


@case
def it_runs_itself_under_weft_record():
    check_built()
    with temporary_directory() as folder:
        for words, name in ((['-o', 'here.weft', '-c', 'print(1)'], 'here.weft'), (['program.py', '-o', 'x'], None)):
            with open(os.path.join(folder, 'program.py'), 'w', encoding='utf-8') as file:
                file.write('import sys; print(sys.argv[1:])')
            result = run([sys.executable, '-m', 'weft', *words], env=ENVIRONMENT, cwd=folder)
            equal(result.returncode, 0, result.stderr)
            traces = [found for found in os.listdir(folder) if found.endswith('.weft')]
            assert len(traces) == 1 and (not name or traces == [name]), (words, traces, result)
            assert name or traces[0].startswith('program-') and "['-o', 'x']" in result.stdout, (traces, result)
            os.remove(os.path.join(folder, traces[0]))
        out = os.path.join(folder, 'ring.weft')
        run([sys.executable, '-m', 'weft', '-c', 'import asyncio; asyncio.run(asyncio.sleep(0))'],
            env=dict(ENVIRONMENT, WEFT_OUT=out))
        assert 'event loop' in weft('dump', out).stdout


@case
def locks_that_wait_for_each_other_are_a_deadlock():
    """The lock that one task waits for is held by the other. The watchdog ends the program."""
    trace = Trace('''
async def work(first, second):
    async with first:
        await asyncio.sleep(0.005)
        async with second: pass
async def main():
    one, two = asyncio.Lock(), asyncio.Lock()
    tasks = [asyncio.create_task(work(*locks), name=name) for name, locks in (('ledger', (one, two)), ('audit', (two, one)))]
    while not all(lock.locked() and lock._waiters for lock in (one, two)):
        await asyncio.sleep(0.002)
    import os
    os._exit(0)
asyncio.run(main())
''')
    holds = trace.pairs('acquire', other='resource')
    for holder, line in (('ledger', 8), ('audit', 8)):
        assert (holder, 'Lock at program.py:%d' % line) in holds, holds
    first = trace.problems.splitlines()[0]
    assert ' deadlock ' in first and 'Lock.acquire at program.py:6' in first, trace.problems


@case
def a_lock_that_nobody_waits_for_is_no_task():
    """The lock works as before, also one that was made before the recording, and a subclass."""
    trace = Trace('''
class Own(asyncio.Lock):
    pass
async def main():
    for kind in (asyncio.Lock, Own):
        lock = kind()
        for _ in range(3):
            async with lock:
                assert lock.locked()
            assert not lock.locked()
        try:
            lock.release()
        except RuntimeError:
            print('released once')
asyncio.run(main())
''')
    equal([task for task in trace.tasks if task['kind'] == 'lock'], [])


def killed(work, limit):
    """Ends the program when all tasks of `work` wait for semaphores of asyncio."""
    return work + '''
async def all_wait(semaphores, count):
    while sum(len(semaphore._waiters or ()) for semaphore in semaphores) < count:
        await asyncio.sleep(0.002)
    import os
    os._exit(0)
asyncio.run(main(%s))
''' % limit


@case
def semaphores_that_wait_for_each_other_are_a_deadlock():
    for kind in ('Semaphore', 'BoundedSemaphore'):
        trace = Trace(killed('''
async def work(first, second):
    async with first:
        await asyncio.sleep(0.005)
        async with second: pass
async def main(kind):
    one, two = kind(1), kind(1)
    tasks = [asyncio.create_task(work(*pair), name=name) for name, pair in (('ledger', (one, two)), ('audit', (two, one)))]
    await all_wait((one, two), 2)
''', 'asyncio.' + kind))
        assert ('ledger', f'{kind} at program.py:8') in trace.pairs('acquire', other='resource'), trace.events
        first = trace.problems.splitlines()[0]
        assert ' deadlock ' in first and re.search(r"'Semaphore.acqui.* at program.py:6'", first), trace.problems


@case
def tasks_with_all_of_a_semaphore_that_wait_for_children_are_a_deadlock():
    trace = Trace(killed('''
async def crawl(semaphore, depth):
    async with semaphore:
        await asyncio.sleep(0.001)
        if depth:
            await asyncio.gather(*(crawl(semaphore, depth - 1) for _ in range(3)))
async def main(limit):
    semaphore = asyncio.Semaphore(limit)
    task = asyncio.create_task(crawl(semaphore, 4))
    await all_wait((semaphore,), 5)
''', 4))
    first = trace.problems.splitlines()[0]
    assert ' deadlock ' in first and 'gather at program.py:7' in first, trace.problems


@case
def a_semaphore_that_ended_tasks_hold_is_never_released():
    trace = Trace(killed('''
async def forget(semaphore): await semaphore.acquire()
async def want(semaphore): await semaphore.acquire()
async def main(limit):
    semaphore = asyncio.Semaphore(limit)
    for name in ('first', 'second'):
        await asyncio.create_task(forget(semaphore), name=name)
    tasks = [asyncio.create_task(want(semaphore)) for _ in range(3)]
    await all_wait((semaphore,), 3)
''', 2))
    found = [line for line in trace.problems.splitlines() if ' never released ' in line]
    assert len(found) == 1 and 'first' in found[0] and 'as 1 more did' in found[0], trace.problems


def assert_nobody_is_blamed(trace):
    assert not re.search(' (deadlock|never released|unanswered wait) ', trace.problems), trace.problems


@case
def a_lock_that_a_task_kept_while_others_timed_out_is_never_released():
    """It is freed before the trace ends."""
    trace = Trace('''
async def keep(lock):
    await lock.acquire()
    await asyncio.sleep(0.001)
async def use(lock):
    try:
        async with asyncio.timeout(0.05): await lock.acquire()
    except TimeoutError: pass
async def main():
    lock = asyncio.Lock()
    await asyncio.gather(keep(lock), use(lock), use(lock))
asyncio.run(main())
''')
    assert re.search("warning +never released +task [0-9]+ 'keep at program.py:3' ended .* 'Lock at program.py:11'; 2 waits for it timed out",
                     trace.problems), trace.problems


@case
def a_semaphore_has_the_holders_that_the_program_counts():
    """Each wait is for the tasks that have the semaphore then, however it was handed over."""
    trace = Trace('''
async def work(semaphore, number):
    async with semaphore:
        await asyncio.sleep(0.001)
async def main():
    semaphore = asyncio.Semaphore(2)
    tasks = [asyncio.create_task(work(semaphore, i), name=str(i)) for i in range(12)]
    await asyncio.sleep(0)
    for task in tasks[4:8]: task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert semaphore._value == 2
asyncio.run(main())
''')
    held, most = [], 0
    labels = {task['task']: task['label'] for task in trace.tasks}
    for event in trace.events:
        if event['event'] == 'acquire':
            held.append(labels[event['task']])
            most = max(most, len(held))
        elif event['event'] == 'release':
            held.remove(labels[event['task']])
    equal((held, most), ([], 2), trace.events)
    assert_nobody_is_blamed(trace)


@case
def a_semaphore_that_is_handed_over_has_no_holders():
    """Tasks release it for others, callbacks and timers do, or it counts something. Nobody who took it is blamed."""
    for body in ('''
    semaphore, tasks = asyncio.Semaphore(3), []
    for _ in range(12):
        await semaphore.acquire()
        tasks.append(asyncio.create_task(asyncio.sleep(0.001)))
        tasks[-1].add_done_callback(lambda _: semaphore.release())
    await asyncio.gather(*tasks)
''', '''
    semaphore = asyncio.Semaphore(1)
    for _ in range(8):
        await semaphore.acquire()
        asyncio.get_running_loop().call_later(0.001, semaphore.release)
''', '''
    semaphore = asyncio.Semaphore(0)
    async def produce():
        for _ in range(8):
            await asyncio.sleep(0.001)
            semaphore.release()
    task = asyncio.create_task(produce())
    for _ in range(8):
        await semaphore.acquire()
    await task
''', '''
    semaphore = asyncio.Semaphore(2)
    async def work():
        await asyncio.wait_for(semaphore.acquire(), 60)
        await asyncio.sleep(0.001)
        semaphore.release()
    await asyncio.gather(*(work() for _ in range(6)))
'''):
        trace = Trace('async def main():' + body + 'asyncio.run(main())\n')
        assert_nobody_is_blamed(trace)
        ended = {task['task'] for task in trace.tasks if (task['label'] or '').startswith('Semaphore.acquire (')}
        equal([event for event in trace.events if event['event'] == 'acquire' and event['task'] in ended], [])


@case
def a_task_that_goes_on_although_cancelled_is_named():
    for tries_again in (True, False):
        trace = Trace('''
async def fetch():
    for _ in range(3):
        try: await asyncio.sleep(0.4)
        except asyncio.CancelledError:
            if not %r: raise
async def main():
    task = asyncio.create_task(fetch(), name='fetch')
    await asyncio.sleep(0)
    task.cancel()
    try: await task
    except asyncio.CancelledError: await asyncio.sleep(0.8)
asyncio.run(main())
''' % tries_again)
        found = re.search(r"warning +orphan +task \d+ 'fetch .*' goes on for .* after main .* cancelled it", trace.problems)
        assert bool(found) == tries_again and (tries_again or 'orphan' not in trace.problems), trace.problems


@case
def an_event_that_nobody_sets_is_named():
    """Also if it is one that a loop waits for while it beats; but not if it is set in the end."""
    program = '''
async def ask(event):
    for _ in range(4):
        try: await asyncio.wait_for(event.wait(), 0.02)
        except asyncio.TimeoutError: pass
        else: return
async def main():
    event = asyncio.Event()
    tasks = [asyncio.create_task(ask(event), name=name) for name in ('first', 'second')]
    await asyncio.sleep(0.05)
    %s
    await asyncio.wait(tasks)
asyncio.run(main())
'''
    found = Trace(program % 'pass').problems
    assert re.search("^ *[0-9.]+ +warning +timed out +task [0-9]+ 'first at .*' waits in vain 4 times for Event at program.py:9", found), found
    assert ' timed out ' not in Trace(program % 'event.set()').problems
    found = Trace(program % 'await asyncio.sleep(0.02); tasks[0].cancel(); tasks[1].cancel()').problems
    assert not re.search(' warning +timed out ', found), found


@case
def what_a_shield_protects_from_a_time_out_goes_on():
    program = '''
async def query(): await asyncio.sleep(%s)
async def ask():
    try: return await asyncio.wait_for(asyncio.shield(query()), 0.02)
    except asyncio.TimeoutError: return None
async def main():
    for _ in range(12): await ask()
asyncio.run(main())
'''
    trace = Trace(program % '30')
    assert re.search("^ *[0-9.]+ +warning +orphan +task [0-9]+ 'query at .*' runs on for .* after wait_for at program.py:5 was (cancelled|timed out)",
                     trace.problems), trace.problems
    equal(trace.pairs('try_read').count(('wait_for at program.py:5', 'query')), 12)
    assert ' orphan ' not in Trace(program % '0').problems


@case
def long_jobs_that_keep_a_pool_from_short_ones_are_named():
    """Jobs of one kind that wait for each other are none."""
    program = '''
import time
def pack(): time.sleep(0.4)
def look(): pass
async def main():
    loop = asyncio.get_running_loop()
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(2) as pool:
        await asyncio.gather(*(loop.run_in_executor(pool, job) for job in %s))
asyncio.run(main())
'''
    found = Trace(program % '[pack] * 4 + [look] * 3').problems
    assert re.search(r"^ *[0-9.]+ +(warning|hint) +contention +task [0-9]+ 'pack at .*' .*keeps? .* from look at program.py:5 for ", found), found
    assert ' contention ' not in Trace(program % '[pack] * 4').problems


@case
def long_queues_without_a_bound_are_counted():
    trace = Trace('''
async def main():
    queues = [asyncio.Queue() for _ in range(2)]
    for kind in (asyncio.LifoQueue, asyncio.PriorityQueue): queues.append(kind())
    bounded, short = asyncio.Queue(20), asyncio.Queue()
    for queue in (*queues, bounded, short):
        for i in range(15 if queue is short else 18): queue.put_nowait(i)
    for _ in range(17): await queues[0].get()
    short.get_nowait()
    del queues[1], queue
    await asyncio.sleep(0)
asyncio.run(main())
''')
    values = {}
    for event in trace.events:
        if event['event'] == 'counter':
            before = values.setdefault(event['name'], [0])
            before.append(before[-1] + event['add'])
    equal(set(values), {'items in Queue at program.py:4', 'items in LifoQueue at program.py:5', 'items in PriorityQueue at program.py:5'})
    equal(values['items in Queue at program.py:4'], [0, 16, 17, 18, 34, 35, 36, *range(35, 18, -1), 1, 0])
    equal(values['items in LifoQueue at program.py:5'], [0, 16, 17, 18, 0])


@case
def a_loop_that_blocks_for_itself_is_a_deadlock():
    trace = Trace('''
def leave(future):
    while not future._condition._waiters:
        time.sleep(0.001)
    import os
    os._exit(0)
async def fetch(): pass
async def main():
    future = asyncio.run_coroutine_threadsafe(fetch(), asyncio.get_running_loop())
    threading.Thread(target=leave, args=(future,)).start()
    future.result()
asyncio.run(main())
''')
    first = trace.problems.splitlines()[0]
    assert ' deadlock ' in first and "'event loop' waits for" in first and 'main' in first, trace.problems
    assert ('main', 'Future.result at program.py:12') in trace.pairs('try_read'), trace.events


@case
def a_loop_that_blocks_for_another_loop_goes_on():
    """With a value, an error or a time-out, as without weft; a thread without a loop may block, and is not recorded."""
    trace = Trace('''
started = threading.Event()
async def job(number): return number
async def fail(): raise ValueError('no good')
def serve():
    global loop
    loop = asyncio.new_event_loop()
    loop.call_soon(started.set)
    loop.run_forever()
    loop.close()
thread = threading.Thread(target=serve)
thread.start()
started.wait()
def ask(coroutine, *timeout):
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        return future.result(*timeout)
    except (ValueError, TimeoutError) as error:
        future.cancel()
        return type(error).__name__
async def main():
    assert [ask(job(1)), ask(fail()), ask(asyncio.sleep(60), 0.001)] == [1, 'ValueError', 'TimeoutError']
assert ask(job(2)) == 2
asyncio.run(main())
loop.call_soon_threadsafe(loop.stop)
thread.join()
''')
    waits = [pair for pair in trace.pairs('try_read') if pair[1] == 'Future.result at program.py:18']
    assert waits and set(waits) == {('main', 'Future.result at program.py:18')}, waits
    assert_nobody_is_blamed(trace)


# Programs that hang, and what the first problem says: an error, which names who waits, where, and for what.
HANGS = (
    ("a condition that nobody notifies", """
async def consumer(condition, items):
    async with condition:
        await condition.wait_for(lambda: items)
async def main():
    condition, items = asyncio.Condition(), []
    task = asyncio.create_task(consumer(condition, items), name='consumer')
    await asyncio.sleep(0.001)
    async with condition:
        items.append(1)
    await task
""", "unanswered wait .*'consumer .* in Condition.w.* at .*, waits for condition [0-9]+ 'Condition at p"),
    ("an event that nobody sets", """
async def main():
    await asyncio.Event().wait()
""", "unanswered wait .*'main .* in Event.w.* at .*, waits for condition [0-9]+ 'Event at p"),
    ("a barrier with one party less", """
async def main():
    barrier = asyncio.Barrier(3)
    await asyncio.gather(barrier.wait(), barrier.wait())
""", "unanswered wait .*Barrier.w.*, waits for condition [0-9]+ 'Barrier of 3 at p"),
    ("a full queue whose consumer has left", """
async def producer(queue):
    for i in range(9): await queue.put(i)
async def main():
    queue = asyncio.Queue(4)
    task = asyncio.create_task(producer(queue), name='producer')
    await queue.get()
    await task
""", "unanswered wait .*'producer .* in Queue.put at .*, waits for channel [0-9]+ 'room in Queue.* at p"),
    ("a worker without a last item", """
async def worker(queue):
    while await queue.get(): pass
async def main():
    queue = asyncio.PriorityQueue()
    workers = [asyncio.create_task(worker(queue), name=name) for name in ('one', 'two')]
    for i in (1, 2, 3, 0): queue.put_nowait(i)
    await asyncio.gather(*workers)
""", "unanswered wait .*'(one|two) .* in Queue.get at .*, waits for channel [0-9]+ 'items of Prio.* at"),
    ("items of which a worker does not say that they are done", """
async def worker(queue):
    while True:
        if await queue.get() != 3: queue.task_done()
async def main():
    queue = asyncio.LifoQueue()
    for i in range(5): queue.put_nowait(i)
    task = asyncio.create_task(worker(queue), name='worker')
    await queue.join()
""", "unanswered wait .*'main .* in Queue.join at .*, waits for .*unfinished.* of task [0-9]+ 'worker"),
    ("a pool in a queue, of which a task keeps one", """
async def use(pool, i):
    connection = await pool.get()
    await asyncio.sleep(0.001)
    if i == 2: return
    pool.put_nowait(connection)
async def main():
    pool = asyncio.Queue()
    pool.put_nowait('connection')
    await asyncio.gather(*(asyncio.create_task(use(pool, i), name=f'use {i}') for i in range(6)))
""", "never released .*'use 2 .*without releasing pool [0-9]+ 'Queue at program.py:9'"),
    ("a generator that is left open, and keeps its place", """
kept = []
async def rows(places):
    async with places:
        await asyncio.sleep(0.001)
        yield 1
        yield 2
async def first(places, i):
    kept.append(rows(places))
    async for row in kept[-1]: return row
async def main():
    places = asyncio.Semaphore(2)
    await asyncio.gather(*(asyncio.create_task(first(places, i), name=f'first {i}') for i in range(5)))
""", "never released .*'first [0-4] .*without releasing pool [0-9]+ 'Semaphore at program.py:13'"),
)


def is_asleep(ring):
    """True if the program says last that nothing is left that could wake its loop."""
    said = [event['value'] for event in json_lines(weft('dump', '--json', ring, status=None).stdout or '{}')
            if event.get('event') == 'tag' and event['text'] == 'asleep']
    return bool(said) and said[-1] == 1


def interrupted(program, folder):
    """(the ring, standard error) of a program that gets SIGINT, as by Ctrl-C, when it hangs."""
    check_built()
    ring, source = os.path.join(folder, 'ring.weft'), os.path.join(folder, 'program.py')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(HEAD + program + '\nasyncio.run(main())\n')
    with subprocess.Popen([sys.executable, '-m', 'weft', source], env=dict(os.environ, **ENVIRONMENT, WEFT_OUT=ring), text=True,
                          stderr=subprocess.PIPE) as process:
        wait_until('the program hangs', lambda: os.path.exists(ring) and is_asleep(ring), process)
        process.send_signal(signal.SIGINT)
        _, errors = communicate(process)
    equal(process.returncode, -signal.SIGINT, errors)
    return ring, errors


@case
def a_program_that_hangs_has_one_error():
    """It says who waits for what, although Ctrl-C cancels all tasks: the trace has them as they were then."""
    with temporary_directory() as folder:
        for what, program, expected in HANGS:
            ring, errors = interrupted(program, folder)
            assert 'KeyboardInterrupt' in errors, errors
            first, *others = weft('dump', '--problems', ring).stdout.splitlines()
            assert re.search('error +' + expected, first), (what, first, others)
            assert not [line for line in others if ' error ' in line], (what, others)
            tasks = {without_beginning(task['label']): task['outcome'] for task in json_lines(weft('dump', '--tasks', '--json', ring).stdout)}
            equal((tasks['main'], tasks['clean-up after Ctrl-C']), ('unfinished', 'fulfilled'), (what, tasks))
            os.remove(ring)


def killed_when_it_waits(folder, program, what):
    """The graver problems of a program that is killed when it waits for something."""
    check_built()
    path = os.path.join(folder, 'program.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(HEAD + 'import os\nprint(os.getpid(), flush=True)\n' + program + '\nasyncio.run(main())\n')
    hang = Hang(os.path.realpath(sys.executable), path, folder=folder, adapters='auto', waits=[what])
    return [it for it in hang.problems() if it['severity'] != 'hint']


@case
def a_service_may_wait_for_ever():
    """Its main task does, but none that it makes."""
    service = '''
async def answer(): await asyncio.Future()
async def main():
    server = await asyncio.start_server(lambda reader, writer: None, '127.0.0.1', 0)
    %s
'''
    for wait, what, expected in (('await asyncio.Future()', "'main at", []), ('await asyncio.Event().wait()', "'Event at", []),
                                 ('await asyncio.wait([asyncio.create_task(answer())])', "'answer at", ['unanswered wait'])):
        with temporary_directory() as folder:
            found = killed_when_it_waits(folder, service % wait, what)
            equal([it['problem'] for it in found], expected, found)


@case
def a_timer_is_late_if_a_task_blocks_the_loop():
    """Also if no other task waits than the one that sleeps."""
    program = '''
async def beat():
    for _ in range(20): await asyncio.sleep(0.01)
async def block():
    await asyncio.sleep(0.02)
    %s
async def main(): await asyncio.gather(beat(), block())
asyncio.run(main())
'''
    for act, how in (('time.sleep(0.3)', 'was blocked'), ('end = time.process_time() + 0.3\n    while time.process_time() < end: pass', 'ran')):
        found = Trace(program % act).problems
        assert re.search(r"^ *[0-9.]+ +warning +(late timer|hog) .*'(sleep at program.py:5.*while task \d+ 'block at .*%s for|block at )" % how, found), found
    trace = Trace(program % 'await asyncio.sleep(0)')
    equal({task['kind'] for task in trace.tasks if (task['label'] or '').startswith('sleep at program.py:4')}, {'timer'})


@case
def a_job_that_waits_for_its_own_full_pool_is_a_deadlock():
    trace = Trace('''
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def leave(job):
    while not job._condition._waiters: time.sleep(0.001)
    import os
    os._exit(0)
def inner(): pass
def outer():
    job = pool.submit(inner)
    threading.Thread(target=leave, args=(job,)).start()
    job.result()
async def main(): await asyncio.get_running_loop().run_in_executor(pool, outer)
asyncio.run(main())
''')
    first = trace.problems.splitlines()[0]
    assert ' deadlock ' in first and "'outer at program.py:10' waits for" in first and 'circle of 3' in first, trace.problems
    assert ('inner', 'ThreadPoolExecutor of 1') in trace.pairs('try_read'), trace.events
    assert ('outer', 'ThreadPoolExecutor of 1') in trace.pairs('acquire', other='resource'), trace.events
    assert ('main at program.py:14', 'outer') in trace.pairs('try_read'), trace.events


@case
def a_deadlock_that_a_time_out_ends_is_found():
    trace = Trace('''
async def work(first, second):
    async with first:
        await asyncio.sleep(0.001)
        async with second: pass
async def main():
    one, two = asyncio.Lock(), asyncio.Lock()
    try:
        await asyncio.wait_for(asyncio.gather(work(one, two), work(two, one)), 0.3)
    except TimeoutError:
        pass
asyncio.run(main())
''')
    first = trace.problems.splitlines()[0]
    assert ' warning ' in first and ' deadlock ' in first and 'circle of 4' in first, trace.problems
    assert ' failed ' not in trace.problems, trace.problems


@case
def what_asyncio_reports_is_in_the_trace():
    """A task that is destroyed while it waits, siblings of a task that failed, the error of a callback, the end of a time."""
    trace = Trace('''
import gc
async def background(): await asyncio.get_running_loop().create_future()
async def good(): await asyncio.sleep(0.1)
async def bad(): raise ValueError('bad reply')
async def main():
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    asyncio.create_task(background(), name='forgotten')
    await asyncio.sleep(0)
    gc.collect()
    try:
        await asyncio.gather(bad(), asyncio.create_task(good(), name='sibling'))
    except ValueError:
        pass
    asyncio.get_running_loop().call_soon(lambda: {}['missing'])
    await asyncio.sleep(0.2)
    try:
        async with asyncio.timeout(0.001): await asyncio.sleep(10)
    except TimeoutError:
        pass
asyncio.run(main())
''')
    for expected in ("error +failed .*'forgotten .*destroyed while it was pending", "error +failed .*Exception in callback.*KeyError: missing",
                     "warning +orphan .*'sibling .* runs on for .* after gather at .* failed"):
        assert re.search(expected, trace.problems), (expected, trace.problems)
    equal(trace.outcomes('sleep at program.py:19'), {'sleep at program.py:19': 'timed_out'})


@case
def a_coroutine_that_is_never_awaited_is_a_problem():
    trace = Trace('''
async def fetch(): pass
async def main():
    fetch().close()  # the program says that it wants none of it
    await fetch()
    fetch()
fetch()
asyncio.run(main())
''')
    assert re.search(r"error +failed .*'fetch' failed .*: never awaited: the coroutine of program.py:3, and 1 more", trace.problems), trace.problems


@case
def a_loop_that_can_be_woken_is_not_asleep():
    """By a timer, a descriptor, a signal's handler, a thread, a job."""
    trace = Trace('''
import signal
async def main():
    loop = asyncio.get_running_loop()
    signal.signal(signal.SIGUSR1, lambda *_: None)
    task = asyncio.create_task(asyncio.Event().wait())
    done = loop.create_future()
    thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(done.set_result, 1))
    thread.start()
    await done
    thread.join()
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    await asyncio.to_thread(time.sleep, 0.01)
    await asyncio.sleep(0.01)
    server = await asyncio.start_server(lambda *_: None, '127.0.0.1', 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.close()
    server.close()
    task.cancel()
asyncio.run(main())
''')
    equal([event for event in trace.events if event['event'] == 'tag' and event['text'] == 'asleep'], [])


@case
def the_example():
    check_built()
    with temporary_directory() as folder:
        path = os.path.join(folder, 'chat.weft')
        result = run([sys.executable, '-m', 'weft', '-o', path, os.path.join(SOURCE, 'examples', 'chat.py')], env=ENVIRONMENT)
        equal((result.returncode, result.stdout), (0, 'all have read all\n'), result.stderr)
        tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
    labels = [re.sub(r' at .*', '', task['label']) for task in tasks]
    assert labels.count('Queue.put') > 3 and labels.count('Lock.acquire') > 3, labels
    equal({task['outcome'] for task in tasks if task['kind'] not in RESOURCES}, {'fulfilled'})
    equal({task['outcome'] for task in tasks if task['kind'] in RESOURCES}, {'closed'})  # with the object


@case
def wrong_command_lines():
    check_built()
    for words, message in (([], 'no program'), (['-x'], 'unknown option -x'), (['-o'], '-o needs an argument'),
                           (['--output', 'x'], 'unknown option --output')):
        result = run([sys.executable, '-m', 'weft', *words], env=ENVIRONMENT)
        assert result.returncode == 2 and message in result.stderr, result
    equal(run([sys.executable, '-m', 'weft', '--help'], env=ENVIRONMENT).returncode, 0)
    with temporary_directory() as folder:  # outside of the build folder, which has a `weft`
        shutil.copytree(os.path.join(PACKAGES, 'weft'), os.path.join(folder, 'weft'))
        result = run([sys.executable, '-m', 'weft', '-c', '1'], env={'PYTHONPATH': folder, 'PATH': '/nowhere', 'LD_LIBRARY_PATH': os.path.join(BUILD, 'src', 'platform')})
        assert result.returncode == 2 and '`weft` is not in PATH' in result.stderr, result


@case
def children_of_multiprocessing():
    check_built()
    with temporary_directory() as folder:
        with open(os.path.join(folder, 'program.py'), 'w', encoding='utf-8') as file:
            file.write(HEAD + '''
import multiprocessing
async def child_step(): await asyncio.sleep(0.001)
def child(): asyncio.run(child_step())
async def main():
    processes = [multiprocessing.get_context('fork').Process(target=child) for _ in range(2)]
    for process in processes: process.start()
    await asyncio.sleep(0.001)
    for process in processes: process.join()
asyncio.run(main())
''')
        traces = os.path.join(folder, 'traces')
        os.mkdir(traces)
        weft('record', '-o', traces, '--require', sys.executable, '-m', 'weft', os.path.join(folder, 'program.py'), env=ENVIRONMENT)
        equal(len(os.listdir(traces)), 3)
        tasks = json_lines(weft('dump', '--tasks', '--json', traces).stdout)
    equal(sorted(without_beginning(task['label']) for task in tasks if re.match('child_step|main', task['label'] or '')),
          ['child_step', 'child_step', 'main'])


main()
