# SPDX-License-Identifier: ISC
"""Chrome's trace events of programs that write them, compared with a naive reading of the JSON."""
import gzip
import itertools
import json
import os
import random
import shutil
from collections import Counter

from harness import BUILD, DATA, SOURCE, case, equal, json_lines, main, run, skip, temporary_directory, weft
from traces import NONE, mirage

NODE = '''
const sleep = ms => new Promise(done => setTimeout(done, ms));
async function query(n) { await sleep(1); return n; }
async function serve() { return await Promise.all([query(1), query(2)]); }
serve().then(() => require('fs').readFile(__filename, () => setImmediate(() => {})));
'''


def need(program):
    if not shutil.which(program):
        skip('%s is not installed' % program)


def dump(path):
    return json_lines(weft('dump', '--json', path).stdout)


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def events_of(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)['traceEvents']


def clang_trace(folder):
    need('clang-14')
    source = write(os.path.join(folder, 'a.c'), '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return puts("a"); }\n')
    equal(run(['clang-14', '-ftime-trace', '-ftime-trace-granularity=0', '-c', source, '-o', source[:-2] + '.o']).returncode, 0)
    return source[:-2] + '.json'


def node_trace(folder):
    need('node')
    script = write(os.path.join(folder, 'a.js'), NODE)
    result = run(['node', '--trace-event-categories', 'v8,node,node.async_hooks', script], cwd=folder)
    equal(result.returncode, 0, result.stderr)
    return os.path.join(folder, 'node_trace.1.log')


@case
def spans_of_clang_are_all_there():
    with temporary_directory() as folder:
        path = clang_trace(folder)
        wanted, names = Counter(), Counter()
        for event in events_of(path):
            if event['ph'] == 'X':
                detail = event.get('args', {}).get('detail')
                wanted[event['ts'] * 1000, event['name'] + (' ' + detail if detail else '')] += 1
                names[event['name']] += 1
        assert names['Source'] >= 2 and names['Total Source'] == 1, names
        lines = dump(path)
        equal(Counter((line['time'], line['name']) for line in lines if line['event'] == 'begin'), wanted)
        equal(sum(line['event'] == 'end' for line in lines), sum(wanted.values()))
        picture = os.path.join(folder, 'a.svg')
        weft('render', path, '-o', picture)
        with open(picture, encoding='utf-8') as file:
            assert 'clang-14' in file.read()


# Events of each dialect by type, and what is damaged or left out.
DIALECTS = {
    'bazel': ({'begin': 4, 'end': 4, 'note': 1, 'counter': 1}, ['times before its zero']),
    'catapult': ({'begin': 2, 'end': 2, 'resolve': 1, 'note': 1, 'mark': 2, 'counter': 2}, ['does not show', 'lacks its duration']),
    'go': ({'begin': 2, 'end': 2, 'counter': 5, 'send': 2, 'receive': 1, 'note': 1}, []),
    'ninja': ({'begin': 2, 'end': 2}, []),
    'perf': ({'begin': 2, 'end': 2}, []),
    'rust-async': ({'create': 2, 'resolve': 2}, []),
    'rust-threaded': ({'begin': 2, 'end': 2, 'mark': 1}, []),
    'torch': ({'begin': 2, 'end': 2, 'send': 1, 'receive': 1, 'note': 1}, []),
}


@case
def dialects_are_read():
    """Samples after what these programs write: Bazel's profile, catapult's examples, the viewer of Go's traces, ninjatracing, converters of
    perf script, the two styles of Rust's tracing-chrome, and the profiler of PyTorch."""
    for name, (events, damage) in DIALECTS.items():
        path = os.path.join(SOURCE, 'fuzz', 'corpus', 'chrome', 'dialect-%s.json' % name)
        counts = Counter(line['event'] for line in dump(path))
        equal({event: counts[event] for event in events}, events, name)
        messages = [it['message'] for it in json.loads(weft('info', '--json', path).stdout)['diagnostics']]
        equal(len(messages), len(damage), messages)
        for words, message in zip(damage, messages):
            assert words in message, messages


# ---- Random entries, compared with a naive reading ----

class Naive:
    """Slices of threads and asynchronous ones, each as [what it belongs to, name, begin, end or None]; tasks of the asynchronous ones."""

    def __init__(self):
        self.stacks, self.owed, self.asyncs = {}, Counter(), {}
        self.spans, self.tasks = [], []

    def pop(self, stack, at, now):
        """Ends the slices from this one inwards; returns the number of B among those inside it."""
        inside = stack[at + 1:]
        for entry in stack[at:]:
            entry[3] = now
        del stack[at:]
        return sum(entry[4] is None for entry in inside)

    def end_due(self, now):
        """An X ends before what begins at that time, an inner one before the one around it."""
        while True:
            due = [(entry[4], -at, thread) for thread, stack in self.stacks.items() for at, entry in enumerate(stack)
                   if entry[4] is not None and entry[4] <= now]
            if not due:
                return
            end, at, thread = min(due, key=lambda it: it[:2])
            self.owed[thread] += self.pop(self.stacks[thread], -at, end)

    def slice(self, entry):
        thread, now, phase = 'thread %d' % entry['tid'], entry['ts'] * 1000, entry['ph']
        stack = self.stacks.setdefault(thread, [])
        if phase in 'BX':
            limit = min((it[4] for it in stack if it[4] is not None), default=2 ** 64)
            end = min(now + entry['dur'] * 1000, limit) if phase == 'X' else None
            stack.append([thread, entry['name'], now, None, end])
            self.spans.append(stack[-1])
        elif self.owed[thread]:
            self.owed[thread] -= 1
        else:
            began = [at for at, it in enumerate(stack) if it[4] is None]
            if began:
                self.pop(stack, began[-1], now)

    def asynchronous(self, entry):
        """Each stack begins with its task: [label, kind, process, begin, end, parent]."""
        now, thread, is_begin = entry['ts'] * 1000, 'thread %d' % entry['tid'], entry['ph'] in 'bS'
        scope, number = ('all', entry['id2']['global']) if 'id2' in entry else (entry['pid'], entry['id'])
        stack = self.asyncs.setdefault((scope, entry['cat'], number, entry['name'] if entry['ph'] in 'SF' else None), [])
        if is_begin and not stack:
            self.tasks.append([entry['name'], entry['cat'].split(',')[-1], entry['pid'], now, None, thread if self.stacks.get(thread) else None])
            stack.append([self.tasks[-1], entry['name'], now, None, None])
        elif is_begin:
            stack.append([stack[0][1], entry['name'], now, None, None])
            self.spans.append(stack[-1])
        elif any(it[1] == entry['name'] for it in stack) or (stack and not entry['name']):
            at = max(at for at, it in enumerate(stack) if it[1] == entry['name'] or not entry['name'])
            if at == 0:
                stack[0][0][4] = now
            self.pop(stack, at, now)


def random_entries(pick):
    """Few times, names and ids, so that ends coincide, ids are used again, and ends come for what has not begun."""
    entries = []
    for number in range(pick.randrange(2, 40)):
        process = pick.randrange(1, 3)
        entry = {'pid': process, 'tid': 10 * process + pick.randrange(2), 'ts': pick.randrange(1, 14), 'ph': pick.choice('BXEBXEXbebeSF')}
        if entry['ph'] in 'BX':
            entry['name'] = 'slice %d' % number
            entry['dur'] = pick.randrange(6)
        elif entry['ph'] != 'E':
            entry.update(cat=pick.choice(['disk', 'net,disk']), name=pick.choice(['read', 'write', 'seek']))
            entry.update(pick.choice([{'id': '0x1'}, {'id': '0x2'}, {'id2': {'global': '0x1'}}]))
            if entry['ph'] == 'e' and pick.random() < 0.2:
                entry['name'] = ''
        entries.append(entry)
    return sorted(entries, key=lambda entry: entry['ts'])


def in_order(entries):
    """The X of a time are in the order of their lengths, the longest first, but not over a B or E."""
    found = []
    for _, group in itertools.groupby(entries, key=lambda entry: entry['ts']):
        for _, part in itertools.groupby(group, key=lambda entry: entry['ph'] in 'BE'):
            part = list(part)
            slices = iter(sorted((entry for entry in part if entry['ph'] == 'X'), key=lambda entry: -entry['dur']))
            found += [next(slices) if entry['ph'] == 'X' else entry for entry in part]
    return found


def shown_spans(path, labels):
    """[(label of its task, name, begin, end or None)] of the begins and ends in a dump."""
    found, open_spans = [], {}
    for line in dump(path):
        stack = open_spans.setdefault(line.get('task'), [])
        if line['event'] == 'begin':
            stack.append([labels[line['task']], line['name'], line['time'], None])
            found.append(stack[-1])
        elif line['event'] == 'end':
            stack.pop()[3] = line['time']
    return Counter(map(tuple, found))


def check_entries(folder, pick):
    entries, naive = random_entries(pick), Naive()
    path = write(os.path.join(folder, 'a.json'), json.dumps(entries))
    for entry in in_order(entries):
        naive.end_due(entry['ts'] * 1000)
        (naive.slice if entry['ph'] in 'BXE' else naive.asynchronous)(entry)
    naive.end_due(2 ** 64)
    tasks = json_lines(weft('dump', '--tasks', '--json', '--no-simplify', path).stdout)
    labels = {task['task']: task['label'] for task in tasks}
    processes = {entry['pid'] for entry in entries}
    equal(Counter((task['label'], task['kind'], task['process'] if len(processes) > 1 else min(processes), task['start'],
                   task['end'] if task['resolved'] else None, labels.get(task['parent'])) for task in tasks if task['kind'] != 'thread'),
          Counter(map(tuple, naive.tasks)))
    equal(shown_spans(path, labels), Counter(tuple(span[:4]) for span in naive.spans))


@case
def random_slices_are_those_of_a_naive_reading():
    for seed in range(40):
        with temporary_directory() as folder:
            try:
                check_entries(folder, random.Random(seed))
            except Exception as error:
                raise AssertionError('seed %d: %s' % (seed, error)) from error


def waits_of_node(events):
    """Pairs of resources' ids: a promise, and the promise that it waits for."""
    promises, waits = set(), []
    for event in events:
        if event['ph'] == 'b' and 'async_hooks' in event.get('cat', '') and event['name'] == 'PROMISE':
            number, data = int(event['id'], 16), event['args']['data']
            promises.add(number)
            if data['triggerAsyncId'] != data['executionAsyncId'] and data['triggerAsyncId'] in promises:
                waits.append((number, data['triggerAsyncId']))
    return waits


@case
def promises_of_node_wait_for_each_other():
    with temporary_directory() as folder:
        path = node_trace(folder)
        events = sorted((event for event in events_of(path) if event['ph'] in 'be' and 'async_hooks' in event['cat']),
                        key=lambda event: event['ts'])
        created = [event for event in events if event['ph'] == 'b' and not event['name'].endswith('_CALLBACK')]
        lines = dump(path)
        tasks = [line['child'] for line in lines if line['event'] == 'create' and line['kind'] != 'thread' and not line['kind'].startswith('node.')]
        equal(len(tasks), len(created))
        ids = {task: int(event['id'], 16) for task, event in zip(tasks, created)}
        waits = waits_of_node(events)
        assert len(waits) >= 3, waits
        equal(sorted((ids[line['task']], ids[line['source']]) for line in lines if line['event'] == 'try_read'), sorted(waits))
        # Each callback is an activation.
        runs = sum(event['name'].endswith('_CALLBACK') and event['ph'] == 'b' for event in events)
        equal(sum(line['event'] == 'switch' and line['task'] in ids for line in lines) >= runs, True)
        waiting = next(line['task'] for line in lines if line['event'] == 'try_read')
        assert 'waits for promise' in weft('why', path, str(waiting)).stdout


@case
def a_trace_is_what_it_was_after_a_cut():
    with temporary_directory() as folder:
        path, part, packed = node_trace(folder), os.path.join(folder, 'a.weft'), os.path.join(folder, 'a.gz')
        weft('cut', path, '-o', part)
        equal(dump(part), dump(path))
        with open(path, 'rb') as file, gzip.open(packed, 'wb') as out:
            out.write(file.read())
        equal(dump(packed), dump(path))
        equal(json.loads(weft('info', '--json', path).stdout)['format'], 'chrome')


def export(trace, folder):
    path = os.path.join(folder, os.path.basename(trace) + '.json')
    equal(weft('export', '--to', 'chrome', trace, '-o', path).stdout, '')
    return path


def check_stack(stacks, key, event):
    """Begins and ends of one thread or id nest; an end has the name of its begin."""
    if event['ph'] in 'Bb':
        stacks.setdefault(key, []).append(event['name'])
    else:
        equal(stacks[key].pop(), event['name'], event)


def check_rules(path):
    """The rules of Perfetto and Chrome for traces; returns the number of events by phase."""
    with open(path, encoding='utf-8') as file:
        trace = json.load(file)
    stacks, flows, last = {}, Counter(), {}
    for event in trace['traceEvents']:
        assert isinstance(event['pid'], int) and event['pid'] > 0, event
        assert isinstance(event['name'], str), event
        if event['ph'] == 'M':
            continue
        assert isinstance(event['ts'], (int, float)) and isinstance(event['tid'], int) and event['tid'] > 0, event
        if event['ph'] in 'BE':
            thread = event['pid'], event['tid']
            assert last.get(thread, 0) <= event['ts'], event
            last[thread] = event['ts']
            check_stack(stacks, thread, event)
        elif event['ph'] in 'be':
            check_stack(stacks, (event['pid'], event['id2']['local']), event)
        elif event['ph'] == 'n':
            assert event['id2']['local'] and stacks[event['pid'], event['id2']['local']], event
        elif event['ph'] in 'sf':
            assert 0 <= int(event['id'], 16) < 2 ** 64, event
            flows[event['id'], event['name'], event['ph']] += 1
        elif event['ph'] == 'C':
            assert all(isinstance(value, (int, float, type(None))) for value in event['args'].values()), event
        else:
            equal(event['ph'], 'i', event)
    assert not [stack for key, stack in stacks.items() if isinstance(key[1], int) and stack], 'an activation has no end'
    for number, name, phase in flows:
        assert phase == 's' or name == 'message' or flows[number, name, 's'] == 1, (number, name)
    return Counter(event['ph'] for event in trace['traceEvents'])


def facts(trace):
    return [weft('dump', '--json', *option, trace).stdout for option in ((), ('--tasks',), ('--edges',))] + [
        weft('stats', '--json', trace).stdout.replace(json.dumps(trace), ''),
        json.loads(weft('info', '--json', trace).stdout).get('counters')]


def check_round_trip(trace, folder):
    path = export(trace, folder)
    phases = check_rules(path)
    for got, expected in zip(facts(path), facts(trace)):
        equal(got, expected, trace)
    return phases


@case
def a_cut_of_several_processes_is_refused():
    with temporary_directory() as folder:
        path = write(os.path.join(folder, 'a.json'), '[{"ph":"i","ts":1,"pid":1,"name":"a"},{"ph":"i","ts":1,"pid":2,"name":"a"}]')
        error = weft('cut', path, '-o', os.path.join(folder, 'a.weft'), status=1).stderr
        equal(error, 'weft: %s has several processes in one file, and a cut has one\n' % path)
        equal(len(dump(export(path, folder))), 6)


@case
def samples_come_back_whole():
    with temporary_directory() as folder:
        phases = check_round_trip(os.path.join(DATA, 'traces', 'mirage-arp-good.ctf'), folder)
        assert min(phases[phase] for phase in 'BEbensfC') > 100, phases
        check_round_trip(os.path.join(DATA, 'traces', 'mirage-block-read.sexp'), folder)


@case
def every_event_comes_back():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'every.weft')
        equal(run([os.path.join(BUILD, 'tests', 'every_event'), trace, 1]).returncode, 0)
        path = export(trace, folder)
        check_rules(path)
        equal(json_lines(weft('dump', '--json', path).stdout), json_lines(weft('dump', '--json', trace).stdout))
        equal(weft('dump', '--tasks', '--json', path).stdout, weft('dump', '--tasks', '--json', trace).stdout)
        equal(json.loads(weft('info', '--json', path).stdout)['losses'], {'too_big': 4})


@case
def random_calls_come_back():
    with temporary_directory() as folder:
        for seed in range(4):
            trace = os.path.join(folder, 'random%d.weft' % seed)
            equal(run([os.path.join(BUILD, 'tests', 'random_calls'), trace, seed, 1500]).returncode, 0)
            check_round_trip(trace, folder)


@case
def a_task_may_have_the_number_0_and_names_come_late():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace.ctf')
        with open(trace, 'wb') as out:
            out.write(mirage([(1000, 'create', NONE, 0, 0), (1001, 'switch', 0), (1002, 'create', 0, 1, 0), (1002, 'label', 1, 'a "name"'),
                              (1003, 'switch', 1), (1004, 'fulfil', 1, 1), (1005, 'switch', NONE)]))
        check_round_trip(trace, folder)
        slices = [(event['ph'], event['ts'], event['name']) for event in events_of(export(trace, folder)) if event['ph'] in 'BEbe']
        equal(slices, [('b', 1.0, 'wait 0'), ('B', 1.001, 'wait 0'), ('b', 1.002, 'a "name"'), ('E', 1.003, 'wait 0'),
                       ('B', 1.003, 'a "name"'), ('E', 1.004, 'a "name"'), ('e', 1.004, 'a "name"')])
        equal([event['ph'] for event in events_of(export(trace, folder)) if event['ph'] in 'sf'], ['s', 'f', 's'])


@case
def what_was_imported_is_exported_again():
    with temporary_directory() as folder:
        check_round_trip(node_trace(folder), folder)


@case
def a_wrong_command_is_refused_and_a_full_disk_is_said():
    sample = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
    with temporary_directory() as folder:
        equal(weft('export', '--to', 'chrome', sample).stdout.startswith('{"displayTimeUnit":"ns","traceEvents":['), True)
        assert '-o is not for --to ctf' in weft('export', '--to', 'ctf', sample, '-o', folder, status=2).stderr
        assert 'FILE is missing' in weft('export', '--to', 'chrome', status=2).stderr
        assert '--force' in weft('export', '--to', 'chrome', '--force', sample, status=2).stderr
        assert 'chrome' in weft('export', '--to', 'chrom', sample, status=2).stderr
        out = write(os.path.join(folder, 'out'), 'as it was')
        weft('export', '--to', 'chrome', os.devnull, '-o', out, status=3)
        with open(out, encoding='utf-8') as file:
            equal(file.read(), 'as it was')
        assert 'No space left' in weft('export', '--to', 'chrome', sample, '-o', '/dev/full', status=1).stderr


main()
