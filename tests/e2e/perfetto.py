# SPDX-License-Identifier: ISC
"""Traces in Perfetto's protobuf, read by the field numbers of its protos."""
import os
import pty
import select
import shutil
import subprocess
from collections import Counter

from harness import BUILD, DATA, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
import debug_information
from otlp_reader import read

EVERY_EVENT = os.path.join(BUILD, 'tests', 'every_event')
ECHO = os.path.join(DATA, 'recorded', 'echo-server.weft')
SAMPLES = os.path.join(BUILD, 'tests', 'samples-subject')
WAITS = os.path.join(SOURCE, 'tests', 'e2e', 'wait_calls_subject.c')
BLOCK_READ = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')

ANNOTATION = {2: ('bool', 'bool'), 3: ('uint', 'uint64'), 4: ('int', 'int64'), 5: ('double', 'double'), 6: ('text', 'text'), 10: ('name', 'text')}
TRACK = {1: ('uuid', 'uint64'), 2: ('name', 'text'), 5: ('parent', 'uint64'), 8: ('counter', {}),
         3: ('process', {1: ('pid', 'uint32'), 6: ('name', 'text')}),
         4: ('thread', {1: ('pid', 'uint32'), 2: ('tid', 'uint64'), 5: ('name', 'text')})}
EVENT = {4: ('annotations', [ANNOTATION]), 9: ('type', 'uint32'), 11: ('track', 'uint64'), 23: ('name', 'text'), 30: ('value', 'int64'),
         44: ('real', 'double'), 47: ('flow', 'fixed64'), 48: ('last', 'fixed64'), 56: ('callstack', 'uint64')}
STRING = {1: ('iid', 'uint64'), 2: ('str', 'text')}
INTERNED = {5: ('functions', [STRING]), 17: ('paths', [STRING]), 18: ('sources', [STRING]),
            6: ('frames', [{1: ('iid', 'uint64'), 2: ('function', 'uint64'), 3: ('mapping', 'uint64'), 5: ('source', 'uint64'), 6: ('line', 'uint32')}]),
            7: ('callstacks', [{1: ('iid', 'uint64'), 2: ('frames', ['uint64'])}]),
            19: ('mappings', [{1: ('iid', 'uint64'), 7: ('paths', ['uint64'])}])}
SAMPLE = {2: ('pid', 'uint32'), 3: ('tid', 'uint32'), 4: ('callstack', 'uint64')}
DEFAULTS = {12: ('sample', {1: ('timebase', {1: ('period', 'uint64'), 4: ('counter', 'uint32')})})}
TRACE = {1: ('packets', [{8: ('time', 'uint64'), 10: ('sequence', 'uint32'), 11: ('event', EVENT), 12: ('interned', INTERNED), 13: ('flags', 'uint32'),
                          59: ('defaults', DEFAULTS), 60: ('track', TRACK), 66: ('sample', SAMPLE)}])}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
OF_TASKS = 3  # the upper half of a track's id


class Trace:
    def __init__(self, path):
        with temporary_directory() as folder:
            out = os.path.join(folder, 'out.pftrace')
            weft('export', '--to', 'perfetto', path, '-o', out)
            with open(out, 'rb') as file:
                packets = read(file.read(), TRACE)['packets']
        self.packets = packets
        self.tracks = {packet['track']['uuid']: packet['track'] for packet in packets if 'track' in packet}
        # As trace_processor does: by time, and equal times in the order of the file.
        self.events = sorted(((int(packet['time']), packet['event']) for packet in packets if 'event' in packet), key=lambda pair: pair[0])

    def of(self, kind):
        return [(time, event) for time, event in self.events if event['type'] == kind]

    def slices(self):
        """Each with its track, begin, end, depth, name, as the nesting of begins and ends gives them."""
        stacks, found = {}, []
        for time, event in self.events:
            stack = stacks.setdefault(event['track'], [])
            if event['type'] == BEGIN:
                stack.append((time, event))
            elif event['type'] == END:
                begin, what = stack.pop()  # an end without a begin is an error
                found.append((event['track'], begin, time, len(stack), what))
        assert not any(stacks.values()), stacks
        return found


def annotations(event):
    return {item['name']: next(value for key, value in item.items() if key != 'name') for item in event.get('annotations', [])}


def lines(what, path):
    return json_lines(weft('dump', what, '--json', '--no-simplify', path).stdout)


def every_event(folder):
    path = os.path.join(folder, 'every.weft')
    equal(run([EVERY_EVENT, path]).returncode, 0)
    return path


@case
def tasks_and_spans_are_slices():
    with temporary_directory() as folder:
        for path in (every_event(folder), ECHO, BLOCK_READ):
            trace = Trace(path)
            slices = trace.slices()
            tasks = {int(annotations(what)['weft.task']): (begin, end, what['name']) for _, begin, end, _, what in slices
                     if 'weft.task' in annotations(what)}
            wanted = lines('--tasks', path)
            for task in wanted:
                equal(tasks[task['task']], (task['start'], task['end'], task['label'] or '%s %d' % (task['kind'], task['task'])))
            inner = Counter((what['name'], begin, end) for track, begin, end, depth, what in slices if depth and int(track) >> 32 == OF_TASKS)
            equal(inner, Counter((span['span'], span['start'], span['end']) for span in lines('--spans', path)))


@case
def edges_are_flows_from_cause_to_effect():
    for path in (ECHO, BLOCK_READ):
        trace = Trace(path)
        begins = {event['flow']: (time, event) for time, event in trace.of(INSTANT) if 'flow' in event}
        ends = {event['last']: (time, event) for time, event in trace.of(INSTANT) if 'last' in event}
        equal(set(begins), set(ends))
        assert all(begins[flow][0] <= ends[flow][0] for flow in begins)
        edges = [edge for edge in lines('--edges', path) if edge.get('from') is not None and edge['from'] != edge['to']]
        equal(Counter(event['name'] for _, event in ends.values()), Counter(edge['edge'] for edge in edges))


@case
def processes_threads_and_counters_have_tracks():
    trace = Trace(ECHO)
    process, = [track for track in trace.tracks.values() if 'process' in track]
    equal(process['process']['name'], 'echo-server')
    threads = [track for track in trace.tracks.values() if 'thread' in track]
    assert threads and all(track['thread']['pid'] == process['process']['pid'] for track in threads)
    samples = Counter(trace.tracks[event['track']]['name'] for _, event in trace.of(COUNTER))
    events = [line for line in json_lines(weft('dump', '--json', ECHO).stdout) if line['event'] == 'counter']
    equal(samples, Counter(line['name'] for line in events))
    last = {trace.tracks[event['track']]['name']: int(event['value']) for _, event in trace.of(COUNTER)}
    sums = Counter()
    for line in events:
        sums[line['name']] = line['value'] if 'value' in line else sums[line['name']] + line['add']
    equal(last, dict(sums))
    # Each activation is a slice of its thread.
    uuids = {track['uuid'] for track in threads}
    assert any(what['name'] == 'main' for track, _, _, _, what in trace.slices() if track in uuids)
    assert not [track for track in Trace(BLOCK_READ).tracks.values() if 'process' in track]


class Callstacks:
    """As trace_processor reads them: what refers to a number comes after it, and the state is cleared before."""

    def __init__(self):
        self.known = {kind: {} for kind in ('functions', 'sources', 'paths', 'mappings', 'frames', 'callstacks')}
        self.is_clear = False

    def take(self, packet):
        self.is_clear |= bool(packet.get('flags', 0) & 1)
        assert self.is_clear or 'interned' not in packet
        for kind, items in packet.get('interned', {}).items():
            for item in items:
                assert item['iid'] != '0' and item['iid'] not in self.known[kind], item
                self.known[kind][item['iid']] = item

    def calls(self, iid):
        texts = []
        for frame in (self.known['frames'][frame] for frame in self.known['callstacks'][iid]['frames']):
            assert self.known['paths'][self.known['mappings'][frame['mapping']]['paths'][0]]
            name = self.known['functions'][frame['function']]['str']
            texts.append(name + (' (%s:%d)' % (self.known['sources'][frame['source']]['str'], frame['line']) if 'source' in frame else ''))
        return ' \u2190 '.join(reversed(texts))


def callstacks_of(trace, field):
    """(time, message, calls) of each packet whose `field` refers to a callstack."""
    callstacks, found = Callstacks(), []
    for packet in trace.packets:
        callstacks.take(packet)
        if 'callstack' in packet.get(field, {}):
            assert field != 'sample' or packet['flags'] == 2, packet
            found.append((int(packet['time']), packet[field], callstacks.calls(packet[field]['callstack'])))
    return found


@case
def waits_have_the_calls_that_led_there():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'waits.weft')
        equal(run([WEFT, 'record', '--keep-all', '-a', 'thread,io', '-o', path, '--', debug_information.built(WAITS, folder, '-g'), 'lock'],
                  cwd=folder).returncode, 0)
        rows = json_lines(weft('query', '--json', path, 'select time, calls from stacks').stdout)
        assert rows
        trace = Trace(path)
        found = callstacks_of(trace, 'event')
        equal(Counter((time, calls) for time, _, calls in found), Counter((row['time'], row['calls']) for row in rows))
        assert all(event['name'] == 'waits' and int(event['track']) >> 32 == OF_TASKS for _, event, _ in found)


@case
def what_ran_are_samples():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'ran.weft')
        result = run([WEFT, 'record', '--samples', '199', '--keep-all', '-a', 'thread', '-o', path, '--', SAMPLES, 'thread'])
        equal(result.returncode, 0, result.stderr)
        if '--samples: ' in result.stderr:
            skip(result.stderr.strip())
        rows = json_lines(weft('query', '--json', path, 'select s.time as time, t.tid as tid, s.calls as calls from code_samples s '
                               'join threads t on t.thread = s.thread where s.calls is not null').stdout)
        assert rows
        trace = Trace(path)
        found = callstacks_of(trace, 'sample')
        equal(Counter((time, sample['tid'], calls) for time, sample, calls in found),
              Counter((row['time'], row['tid'], row['calls']) for row in rows))
        pids = {track['process']['pid'] for track in trace.tracks.values() if 'process' in track}
        equal({sample['pid'] for _, sample, _ in found}, pids)
        timebase, = [packet['defaults']['sample']['timebase'] for packet in trace.packets if 'defaults' in packet]
        equal(timebase, {'period': str(1000000000 // 199), 'counter': 3})


@case
def a_trace_without_calls_has_no_callstacks():
    assert not [packet for packet in Trace(BLOCK_READ).packets if 'interned' in packet or 'flags' in packet]


@case
def protobuf_is_whole():
    if not shutil.which('protoc'):
        skip('protoc is not installed')
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out')
        weft('export', '--to', 'perfetto', every_event(folder), '-o', out)
        with open(out, 'rb') as file:
            result = subprocess.run(['protoc', '--decode_raw'], stdin=file, capture_output=True, check=True)
        assert result.stdout.count(b'\n1 {') > 100


@case
def a_wrong_command_is_refused_and_a_full_disk_is_said():
    assert 'not for --to perfetto' in weft('export', '--to', 'perfetto', '--url', 'http://x', ECHO, status=2).stderr
    assert 'No space left' in weft('export', '--to', 'perfetto', ECHO, '-o', '/dev/full', status=1).stderr


@case
def a_terminal_is_spared():
    """Standard output is one; a file by -o, and another format, are written."""
    keeper, terminal = pty.openpty()
    try:
        for options, status in ((('--to', 'perfetto'), 2), (('--to', 'otlp'), 2), (('--to', 'perfetto', '-o', os.devnull), 0)):
            result = subprocess.run([WEFT, 'export', *options, ECHO], stdout=terminal, stderr=subprocess.PIPE, text=True, check=False)
            equal((result.returncode, 'is binary' in result.stderr), (status, status == 2), result.stderr)
        equal(select.select([keeper], [], [], 0)[0], [])
    finally:
        os.close(keeper)
        os.close(terminal)


main()
