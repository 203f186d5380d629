# SPDX-License-Identifier: ISC
"""The package weft of Python: what it records, and what it refuses."""
import json
import os
import re
import sys

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft

PACKAGES = os.path.join(BUILD, 'bindings', 'python')


def check_built():
    if not os.path.exists(os.path.join(PACKAGES, 'weft', '_weft.abi3.so')):
        skip('built without the package for Python: python3-dev is not installed')


def python(code, *args, record=()):
    """Runs Python code with the package; returns its result."""
    check_built()
    return run([*record, sys.executable, '-c', code, *args], env={'PYTHONPATH': PACKAGES})


class Trace:
    """The trace of Python code, as weft shows it."""

    def __init__(self, code):
        check_built()
        with temporary_directory() as folder:
            path = os.path.join(folder, 'trace.weft')
            weft('record', '-o', path, sys.executable, '-c', code, env={'PYTHONPATH': PACKAGES})
            self.info = json_lines(weft('info', '--json', path).stdout)[0]
            self.events = json_lines(weft('dump', '--json', path).stdout)
            self.tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
        equal(self.info['diagnostics'], [])
        equal(self.info['losses'], {})

    def values(self, event, key):
        return [found[key] for found in self.events if found['event'] == event]


def refused(code, message):
    result = python('import weft\n' + code)
    assert result.returncode == 1 and message in result.stderr, '%s: %s' % (code, result.stderr)


@case
def a_task_in_a_with_statement():
    trace = Trace('''
import weft
with weft.task('outer') as outer:
    try:
        with weft.task('inner', kind=weft.BIND) as inner:
            assert weft.current() == inner.id
            raise KeyError(1)
    except KeyError:
        assert weft.current() == outer.id
assert weft.current() == weft.NONE
''')
    equal([(task['label'], task['kind'], task['outcome'], task.get('failed')) for task in trace.tasks],
          [('outer', 'task', 'fulfilled', None), ('inner', 'bind', 'failed', 'KeyError')])


@case
def every_function_records():
    trace = Trace('''
import weft
a, b, c, d, e, f = (weft.create('task') for _ in range(6))
weft.read(a, task=b); weft.read_later(a, task=c); weft.signal(a); weft.signal_only(b)
weft.wait_any((a, b), task=d); weft.enter(c); weft.leave();
weft.cancel(b); weft.close(c); weft.time_out(d); weft.become(f, task=e); weft.expect(task=f); weft.resolve(f)
weft.send(2**64 - 1, task=a); weft.receive(2**64 - 1, task=b); weft.receive(7)
weft.tag('word'); weft.counter_set('depth', 2**40); weft.counter_add('depth'); weft.gc(1000)
weft.moment_begin(); weft.note('one'); weft.note('two'); weft.moment_end()
weft.thread_name('parser')
weft.counter_add('load', 0.5); weft.counter_set('load', 0.25)
assert (weft.counter_read('depth'), weft.counter_read('none')) == (2**40 + 1, 0)
weft.labelf('%s %d', ('task', 7), task=a)
lock = weft.create('lock', kind=weft.LOCK); weft.acquire(lock, task=a); weft.release(lock, task=a); weft.close(lock)
weft.resolve(a)
''')
    equal(sorted(set(trace.values('read', 'source'))), [1])
    equal(trace.values('wait_any', 'source'), [1, 2])
    equal((trace.values('send', 'key'), trace.values('receive', 'key')), ([2**64 - 1], [2**64 - 1, 7]))
    equal([task['outcome'] for task in trace.tasks],
          ['fulfilled', 'cancelled', 'closed', 'timed_out', 'became', 'fulfilled', 'closed'])
    equal((trace.values('acquire', 'resource'), trace.values('release', 'resource')), ([7], [7]))
    equal([counter['last'] for counter in trace.info['counters']], [2**40 + 1, 0.25])
    assert 'task 7' in trace.values('label', 'text'), trace.values('label', 'text')
    one, two = [event for event in trace.events if event['event'] == 'note']
    equal(one['time'], two['time'])
    equal(trace.info['threads'] if isinstance(trace.info['threads'], int) else len(trace.info['threads']), 1)


@case
def spans():
    trace = Trace('''
import weft
with weft.task('work'), weft.span('outer'):
    with weft.span('inner'), weft.span('not recorded', level=weft.LEVEL_DEBUG):
        pass
''')
    equal([(event['event'], event.get('name') or event.get('text')) for event in trace.events if event['event'] in ('begin', 'end')],
          [('begin', 'outer'), ('begin', 'inner'), ('end', None), ('end', None)])


@case
def spans_of_tracks():
    trace = Trace('''
import time, weft
begin = time.monotonic_ns()
weft.given_span('disk', 'write', begin - 500, begin)
try:
    weft.given_span('disk', 'write', -1, begin)
except OverflowError:
    weft.note('refused')
''')
    span, = [event for event in trace.events if event['event'] == 'span']
    equal((span['label'], span['clock'], span['name'], span['end'] - span['start']), ('disk', 'monotonic', 'write', 500))
    equal([event['text'] for event in trace.events if event['event'] == 'note'], ['refused'])


@case
def kinds_with_names():
    trace = Trace("import weft; weft.create('one', kind='job'); weft.create('two', kind=weft.Name('job'))")
    equal([(task['label'], task['kind']) for task in trace.tasks], [('one', 'job'), ('two', 'job')])


@case
def operations():
    trace = Trace('''
import weft
with weft.task('reader') as reader:
    for end in (weft.operation_end, weft.operation_cancel, weft.operation_fail):
        operation = weft.operation_begin('read header')
        weft.switch(weft.NONE)
        end(operation, task=reader.id)
        assert weft.current() == reader.id, weft.current()
''')
    equal([task['outcome'] for task in trace.tasks if task['label'] == 'read header'], ['fulfilled', 'cancelled', 'failed'])


@case
def the_example_of_the_documents():
    with open(os.path.join(SOURCE, 'docs', 'use.md'), encoding='utf-8') as file:
        trace = Trace(re.search(r'^```py\n(.*?)^```$', file.read(), re.DOTALL | re.MULTILINE).group(1))
    equal([task['label'] for task in trace.tasks], ['serve'])


@case
def texts_of_any_kind():
    trace = Trace('''
import weft
name = weft.Name('often')
for text in ('', 'gr\\u00fcn', 'before\\0after', 'surrogate \\udcff', 'x' * 100000, name, name):
    weft.note(text)
big = weft.Mark('big', 'value')
for value in (2**63, 2**64, -2**63, True, None, 1.5, 'text', [1]):
    big(value)
''')
    notes = trace.values('note', 'text')
    equal([text[:11] for text in notes], ['', 'gr\u00fcn', 'before', 'surrogate ?', 'x' * 11, 'often', 'often'])
    values = [list(event['fields'].values())[0] if isinstance(event.get('fields'), dict) else event
              for event in trace.events if event['event'] == 'mark']
    equal(values, [2**63, str(2**64), -2**63, 1, 'None', 1.5, 'text', '[1]'])


@case
def levels_and_categories():
    trace = Trace('''
import weft
net = weft.Category('net', 'connections')
assert weft.is_recording() and weft.is_enabled(category=net)
assert not weft.is_enabled(category=net, level=weft.LEVEL_DEBUG)
weft.set_level('net', weft.LEVEL_DEBUG)
assert weft.is_enabled(category=net, level=weft.LEVEL_DEBUG)
weft.note('seen', category=net, level=weft.LEVEL_DEBUG)
weft.note('not seen', category=net, level=weft.LEVEL_TRACE)
''')
    equal(trace.values('note', 'text'), ['seen'])


@case
def without_a_recorder_nothing_happens():
    result = python('''
import weft
assert not weft.is_recording() and weft.current() == weft.NONE
with weft.task('x') as x:
    weft.note('nothing'); weft.counter_add('n'); weft.Mark('m')()
assert x.id != weft.create()
''')
    equal((result.returncode, result.stderr), (0, ''))


@case
def wrong_arguments_are_refused():
    for code, message in (
            ('weft.read()', 'read() needs an argument for source'),
            ('weft.read(1, 2, None, 1, 5)', 'read() takes at most 4 arguments, got 5'),
            ('weft.read(1, from_=2)', "read() has no parameter 'from_'"),
            ('weft.read(1, source=2)', "read() got two values for 'source'"),
            ('weft.read("a")', 'int'),
            ('weft.read(-1)', 'negative'),
            ('weft.read(2**64)', 'too'),
            ('weft.note(1)', "a text is a str or a weft.Name, not <class 'int'>"),
            ('weft.note("a", level=9)', 'level is 9, but at most 5'),
            ('weft.note("a", category="net")', "category is a weft.Category or None, not <class 'str'>"),
            ('weft.create(kind=2**16)', 'kind is 65536, but at most 65535'),
            ('weft.notef("%d", 1)', 'the values of notef() are a tuple'),
            ('weft.wait_any([1])', 'the sources of wait_any() are a tuple'),
            ('weft.Mark()', 'Mark() has a name'),
            ('weft.Mark("a", "b")()', 'this mark has 1 values, got 0'),
            ('weft.Mark("a")(at=1)', 'a mark has no keyword but task'),
            ('weft.set_level("x" * 300, 1)', 'a pattern of at most 255 bytes')):
        refused(code, message)


@case
def each_forked_process_has_a_buffer():
    check_built()
    with temporary_directory() as folder:
        weft('record', '-o', folder + '/', sys.executable, '-c', '''
import multiprocessing, weft
def child(number):
    with weft.task('child %d' % number):
        pass
if __name__ == '__main__':
    with weft.task('parent'):
        context = multiprocessing.get_context('fork')
        processes = [context.Process(target=child, args=(number,)) for number in range(3)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
''', env={'PYTHONPATH': PACKAGES})
        tasks = json_lines(weft('dump', '--tasks', '--json', folder).stdout)
    equal(sorted(task['label'] for task in tasks if task['label']), ['child 0', 'child 1', 'child 2', 'parent'])


@case
def contexts_go_from_task_to_task():
    """And from program to program, whether or not anything is recorded."""
    code = ("""
import asyncio, weft
remote = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
seen = {}

async def part(name):
    seen[name + ' child'] = weft.context()

async def serve(name, parent):
    seen[name] = weft.context_start(parent)
    await asyncio.sleep(0)
    with weft.span('query', traced=True):
        seen[name + ' query'] = weft.context()
    assert weft.context() == seen[name]
    await asyncio.create_task(part(name))
    assert seen[name + ' child'] == seen[name]

async def main():
    await asyncio.gather(serve('first', remote), serve('second', 'nonsense'))
    assert weft.context() == ''

asyncio.run(main())
weft.context_set(remote)
assert weft.context() == remote
print(*seen.values(), sep='\\n')
""")
    trace = Trace(code + "import weft, json; weft.note(json.dumps(seen))")
    seen = json.loads(trace.values('note', 'text')[-1])
    marks = {mark['fields']['span_id']: mark['fields'] for mark in trace.events if mark['event'] == 'mark' and mark['name'].endswith(' context')}
    equal(len(marks), 4)
    first, query = (marks[seen[name].split('-')[2]] for name in ('first', 'first query'))
    equal((first['trace_id'], first['parent_span_id']), ('4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'))
    equal((query['trace_id'], query['parent_span_id']), (first['trace_id'], first['span_id']))
    second = marks[seen['second'].split('-')[2]]
    assert second['trace_id'] != first['trace_id'] and 'parent_span_id' not in second, second
    assert seen['second'].endswith('-03'), seen
    alone = python(code)
    equal(set(alone.stdout.split()), {'00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'}, alone.stderr)


@case
def c_code_finds_the_context_of_python():
    """Also after the end of a span, whose context was current meanwhile."""
    trace = Trace("""
import ctypes, weft
library = ctypes.CDLL(weft._weft.__file__)
library.weft_context_current.restype = ctypes.c_bool
found = (ctypes.c_uint64 * 5)()

def check():
    has_one = library.weft_context_current(found)
    assert has_one == bool(weft.context()), weft.context()
    assert not has_one or '%016x' % found[2] == weft.context().split('-')[2], weft.context()

with weft.task('request'):
    check()
    weft.context_start()
    check()
    with weft.span('query', traced=True):
        check()
    check()
    weft.context_set('')
    check()
weft.note('checked')
""")
    equal(trace.values('note', 'text'), ['checked'])


@case
def metrics_have_levels_and_children():
    result = python('''
import os, subprocess, sys, weft
acked = weft.Counter('acked', unit='bytes', help='Bytes', billable=True)
acme = acked.labels(pool='eu', customer='acme')
acme.add(5); acked.labels(pool='us').add()
assert (acked.value, acked.labels(pool='eu').value, acme.value) == (6, 5, 5)
queued = weft.Gauge('queued'); queued.set(-3); queued.change(5)
latency = weft.Histogram('latency', unit='seconds', scale=-9); latency.record(1500)
acme.exemplar(5)
assert (queued.value, latency.value, latency.sum) == (2, 1, 1500)
weft.metrics_reserve(10)
with acme.child('stream', 7) as stream:
    stream.add(2)
    assert stream.value == 2
assert (stream.value, acme.value) == (None, 7)
for wrong in (lambda: weft.Gauge('acked'), lambda: weft.Counter(''), lambda: acked.add(-1), lambda: acked.add('1'),
              lambda: weft.metrics_reserve(10), lambda: weft.Counter('x', scale=1000)):
    try:
        wrong()
    except (ValueError, TypeError, OverflowError):
        continue
    raise AssertionError(wrong)
print(subprocess.run([sys.argv[1], 'metrics', '--json', str(os.getpid())], stdout=subprocess.PIPE, text=True, check=True).stdout)
''', WEFT)
    equal((result.returncode, result.stderr), (0, ''))
    values = {(line['counter'], *line.get('labels', {}).values()): line['value'] for line in json_lines(result.stdout.strip())
              if line['counter'] != 'weft_run_queue_seconds'}
    equal([(line['counter'], line['exemplar']['value']) for line in json_lines(result.stdout.strip()) if 'exemplar' in line],
          [('acked', 5), ('latency', 1.5e-06)])
    equal(values, {('acked',): 8, ('acked', 'eu'): 7, ('acked', 'eu', 'acme'): 7, ('acked', 'us'): 1, ('queued',): 2,
                   ('latency',): 1})


main()
