# SPDX-License-Identifier: ISC
"""Traces in Perfetto's protobuf, read by the field numbers of its protos."""
import os
import pty
import select
import shutil
import subprocess
from collections import Counter

from harness import BUILD, DATA, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from otlp_reader import read

EVERY_EVENT = os.path.join(BUILD, 'tests', 'every_event')
ECHO = os.path.join(DATA, 'recorded', 'echo-server.weft')
BLOCK_READ = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')

ANNOTATION = {2: ('bool', 'bool'), 3: ('uint', 'uint64'), 4: ('int', 'int64'), 5: ('double', 'double'), 6: ('text', 'text'), 10: ('name', 'text')}
TRACK = {1: ('uuid', 'uint64'), 2: ('name', 'text'), 5: ('parent', 'uint64'), 8: ('counter', {}),
         3: ('process', {1: ('pid', 'uint32'), 6: ('name', 'text')}),
         4: ('thread', {1: ('pid', 'uint32'), 2: ('tid', 'uint64'), 5: ('name', 'text')})}
EVENT = {4: ('annotations', [ANNOTATION]), 9: ('type', 'uint32'), 11: ('track', 'uint64'), 23: ('name', 'text'), 30: ('value', 'int64'),
         44: ('real', 'double'), 47: ('flow', 'fixed64'), 48: ('last', 'fixed64')}
TRACE = {1: ('packets', [{8: ('time', 'uint64'), 10: ('sequence', 'uint32'), 11: ('event', EVENT), 60: ('track', TRACK)}])}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
OF_TASKS = 3  # the upper half of a track's id


class Trace:
    def __init__(self, path):
        with temporary_directory() as folder:
            out = os.path.join(folder, 'out.pftrace')
            weft('export', '--to', 'perfetto', path, '-o', out)
            with open(out, 'rb') as file:
                packets = read(file.read(), TRACE)['packets']
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
