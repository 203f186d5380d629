# SPDX-License-Identifier: ISC
"""weft dump on real and on hand-made traces: events, tasks, edges."""
import collections
import json
import os
import signal
import struct
import subprocess
import tempfile

from harness import BUILD, DATA, WEFT, case, equal, json_lines, main, run, temporary_directory, weft

ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
BLOCK = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
BLOCK_START = 1413637708833401000

SIGNATURE = bytes.fromhex('c11ffcc105883b8d521a487bb397456ab150680c')


def ctf_event(time, op, *fields):
    """Fields: numbers are 64 bits, bytes are themselves."""
    body = b''.join(f if isinstance(f, bytes) else struct.pack('<Q', f & 2**64 - 1) for f in fields)
    return struct.pack('<QB', time, op) + body


def ctf_packet(count, *events, size=None):
    content = b''.join(events)
    size = size or 30 + len(content)
    return SIGNATURE + struct.pack('<IHI', size * 8, count, (30 + len(content)) * 8) + content + \
        bytes(size - 30 - len(content))


def shown(trace, *options, **more):
    """The result of the command on a trace given as bytes."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(trace)
        file.flush()
        return weft('dump', '--json', *options, file.name, **more)


def dump(trace, *options, **more):
    """Events (or rows) of a trace given as bytes."""
    return json_lines(shown(trace, *options, **more).stdout)


@case
def arp_good_events():
    result = weft('dump', '--json', ARP)
    equal(result.stderr, '')
    counts = collections.Counter(e['event'] for e in json_lines(result.stdout))
    equal(counts, {'create': 487, 'read': 369, 'try_read': 58, 'resolve': 371, 'fail': 2,
                   'become': 68, 'label': 676, 'counter': 533, 'switch': 284, 'signal': 106})


@case
def block_read_events():
    result = weft('dump', '--json', BLOCK)
    equal(result.stderr, '')
    events = json_lines(result.stdout)
    counts = collections.Counter(e['event'] for e in events)
    equal(counts, {'create': 858, 'read': 1706, 'resolve': 718, 'fail': 8, 'become': 117,
                   'label': 341, 'switch': 167})
    reads = [e for e in events if e['event'] == 'read']
    equal(sum(e['source'] is None for e in reads), 220)
    equal(sum(e['source'] == e['task'] for e in reads), 763)
    equal(events[0], {'time': BLOCK_START, 'event': 'switch', 'task': 0})
    equal(events[2], {'time': 1413637708834148000, 'event': 'label', 'task': 0,
                      'text': 'create XenStore'})
    equal(events[4], {'time': 1413637708834171000, 'event': 'create', 'task': 0, 'child': 1,
                      'kind': 'task'})
    failed = next(e for e in events if e['event'] == 'fail')
    equal(failed['message'], 'Xs_protocol.Enoent("read")')


@case
def every_op_has_its_event():
    events = dump(ctf_packet(
        0,
        ctf_event(10, 7, -1),
        ctf_event(11, 0, -1, 5, b'\x02'),
        ctf_event(12, 0, 5, 6, b'\x63'),
        ctf_event(13, 0, 5, 7, b'\xc8'),
        ctf_event(14, 1, 5, -1),
        ctf_event(15, 10, 5, 6),
        ctf_event(16, 12, 5, 6),
        ctf_event(17, 5, 6, b'__should_resolve\0'),
        ctf_event(18, 5, 6, b'a\xff"\n\0'),
        ctf_event(19, 6, 6, -3, b'n\0'),
        ctf_event(20, 11, 6, 2**63, b'n\0'),
        ctf_event(21, 9, 5, 6),
        ctf_event(22, 13, 5, 6),
        ctf_event(23, 8, 1234),
        ctf_event(24, 3, 5, 6, b'No\0'),
        ctf_event(25, 2, 5, 7),
        ctf_event(2**58, 4, 5, 2**64 - 2)))
    equal(events, [
        {'time': 10, 'event': 'switch', 'task': None},
        {'time': 11, 'event': 'create', 'task': None, 'child': 5, 'kind': 'bind'},
        {'time': 12, 'event': 'create', 'task': 5, 'child': 6, 'kind': 'unknown'},
        {'time': 13, 'event': 'create', 'task': 5, 'child': 7, 'kind': 200},
        {'time': 14, 'event': 'read', 'task': 5, 'source': None, 'later': False},
        {'time': 15, 'event': 'try_read', 'task': 5, 'source': 6},
        {'time': 16, 'event': 'read', 'task': 5, 'source': 6, 'later': True},
        {'time': 17, 'event': 'expect', 'task': 6},
        {'time': 18, 'event': 'label', 'task': 6, 'text': 'a\ufffd"\n'},
        {'time': 19, 'event': 'counter', 'task': 6, 'name': 'n', 'add': -3},
        {'time': 20, 'event': 'counter', 'task': 6, 'name': 'n', 'value': -2**63},
        {'time': 21, 'event': 'signal', 'task': 5, 'source': 6, 'switches': True},
        {'time': 22, 'event': 'signal', 'task': 5, 'source': 6, 'switches': False},
        {'time': 23, 'event': 'gc', 'duration': 1234},
        {'time': 24, 'event': 'fail', 'task': 5, 'target': 6, 'message': 'No'},
        {'time': 25, 'event': 'resolve', 'task': 5, 'target': 7},
        {'time': 2**58, 'event': 'become', 'task': 5, 'target': 2**64 - 2},
    ])


@case
def golden_text():
    lines = weft('dump', ARP).stdout.splitlines()
    equal(len(lines), 2954)
    equal(lines[:4], [
        '   0.000000000  switch    task=0',
        '   0.000014726  counter   task=0 name="gntref" value=1',
        '   0.000016845  label     task=0 text="Gntshr.grant_access"',
        '   0.000018152  counter   task=0 name="gntref" value=2'])
    text = dump_text(ctf_packet(0, ctf_event(0, 5, 1, 'x\x1b[31m\u202e\x7f\\'.encode() + b'\xc0\0'),
                                ctf_event(1, 12, 1, -1), ctf_event(2, 8, 7)))
    equal(text, '   0.000000000  label     task=1 text="x\\x1b[31m\\u202e\\x7f\\\\\\xc0"\n'
                '   0.000000001  read      task=1 source=none later\n'
                '   0.000000002  gc        duration=7ns\n')


def dump_text(trace, *options):
    return subprocess.run([WEFT, 'dump', *options, '-'], input=trace, capture_output=True,
                          check=True).stdout.decode()


@case
def a_damaged_packet_loses_only_its_rest():
    good = ctf_event(5, 7, 1)
    trace = b'noise' + ctf_packet(0, good, ctf_event(6, 99, 1), good) + b'gap' + \
        ctf_packet(1, ctf_event(7, 7, 2)) + b'tail'
    with tempfile.NamedTemporaryFile() as file:
        file.write(trace)
        file.flush()
        result = weft('dump', '--json', file.name)
    equal([e['time'] for e in json_lines(result.stdout)], [5, 7])
    messages = [line.split(': ', 1)[1] for line in result.stderr.splitlines()]
    equal(messages, [
        'offset 0x0: bytes before the first packet (×1)',
        'offset 0x%x: bytes between packets (×1)' % (5 + 30 + 17 * 3),
        'offset 0x%x: bytes after the last packet (×1)' % (len(trace) - 4),
        'offset 0x%x: unknown op; the rest of its packet is skipped (×1)' % (5 + 30 + 17)])


@case
def a_rotated_ring_comes_in_order():
    packets = [ctf_packet(n & 0xffff, *(ctf_event(100 * n + i, 7, i) for i in range(5)))
               for n in range(65533, 65539)]
    expected = dump(b''.join(packets))
    equal([e['time'] for e in expected], [100 * n + i for n in range(65533, 65539) for i in range(5)])
    for turn in range(1, len(packets)):
        equal(dump(b''.join(packets[turn:] + packets[:turn])), expected, 'turned by %d' % turn)


@case
def equal_times_keep_the_order_of_packets():
    first, second = (ctf_packet(n, *(ctf_event(7, 7, 10 * n + i) for i in range(3))) for n in (1, 2))
    equal([e['task'] for e in dump(second + first)], [10, 11, 12, 20, 21, 22])


@case
def a_clock_that_is_set_back_keeps_the_order():
    """The times of one writer: what comes after a step back is moved, unless the clock catches up at once."""
    second = 10**9
    for times, expected, said in (
            ([50, 60, 10, 20, 60, 15], [50, 60, 60, 70, 110, 110], 'was set back; later events keep their order and distances: 95 s'),
            ([50, 60, 10, 70, 80], [50, 60, 60, 70, 80], 'goes back for a moment; its events get the time before it: 50 s')):
        trace = ctf_packet(0, *(ctf_event(t * second, 7, i) for i, t in enumerate(times)))
        sexp = ''.join('((time %d)(op(Switch %d)))' % (t, i) for i, t in enumerate(times)).encode()
        for data in trace, sexp:
            result = shown(data)
            equal([(e['time'], e['task']) for e in json_lines(result.stdout)], [(t * second, i) for i, t in enumerate(expected)])
            assert said in result.stderr, result.stderr


@case
def missing_and_damaged_packets_are_losses():
    packets = [ctf_packet(n, *(ctf_event(100 * n + i, 7, i) for i in range(5))) for n in range(4)]
    damaged = packets[1][:-9] + b'\xff' + packets[1][-8:]
    for data, missing, dark in (
            (b''.join(packets), {}, []),
            (packets[0] + packets[2] + packets[3], {'missing_packets': 1}, [(4, 200)]),
            (packets[0] + packets[3], {'missing_packets': 2}, [(4, 300)]),
            (packets[0] + damaged + packets[2], {'missing_packets': 1}, [(103, 200)]),
            (packets[0] + packets[1][:-3], {'missing_packets': 1}, [(103, 103)]),
            (packets[2] + packets[3] + ctf_packet(4) + packets[0], {'missing_packets': 1}, [(4, 200)])):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            for path in file.name, '-':
                info = json.loads(weft('info', '--json', path, **({'stdin': open(file.name)} if path == '-' else {})).stdout)
                equal(info['losses'], missing, path)
                equal([(d['start'], d['end'], d['reason']) for d in info['dark']], [(*d, 'lost') for d in dark], path)


@case
def times_before_zero_are_times():
    for times in [-3, -2, 1], [-3, -2, -1]:
        trace = ctf_packet(0, *(ctf_event(t * 10**9 & 2**64 - 1, 7, i) for i, t in enumerate(times)))
        sexp = ''.join('((time %d.5)(op(Switch %d)))' % (t, i) for i, t in enumerate(times)).encode()
        for data in trace, sexp:
            result = shown(data)
            equal([e['time'] for e in json_lines(result.stdout)][:2], [0, 10**9])
            assert 'before its zero; all times are moved forward: 3' in result.stderr, result.stderr


@case
def tasks_as_the_original_viewer_saw_them():
    reference = {}
    with open(os.path.join(DATA, 'traces', 'mirage-block-read.tasks.jsonl')) as file:
        for line in file:
            row = json.loads(line)
            reference[row['task']] = row
    rows = json_lines(weft('dump', '--tasks', '--json', BLOCK).stdout)
    plain = json_lines(weft('dump', '--tasks', '--json', '--no-simplify', BLOCK).stdout)
    equal(set(r['task'] for r in rows), set(reference) - {-1})
    equal([(r['start'], r['task']) for r in rows], sorted((r['start'], r['task']) for r in rows))
    for row in plain:
        known = reference[row['task']]
        what = 'task %d' % row['task']
        equal(row['kind'], known['kind'], what)
        equal(-1 if row['parent'] is None else row['parent'], known['parent'], what)
        assert abs(row['start'] - BLOCK_START - known['start']) <= 1000, what
        assert abs(row['end'] - BLOCK_START - known['end']) <= 1000, what
        equal(row['resolved'], known['resolved'], what)
        equal(row['failed'], known['failed'], what)
        equal(row['becomes'], known['becomes'], what)
        equal(row['activations'], known['activations'], what)
        assert abs(row['running'] - known['running']) <= 1000 * max(1, row['activations']), what
    for row in rows:
        known = reference[row['task']]
        what = 'task %d, simplified' % row['task']
        equal(-1 if row['parent'] is None else row['parent'], known['simplified_parent'], what)
        assert abs(row['start'] - BLOCK_START - known['simplified_start']) <= 1000, what


@case
def figures_of_block_read():
    plain = json_lines(weft('dump', '--tasks', '--json', '--no-simplify', BLOCK).stdout)
    rows = json_lines(weft('dump', '--tasks', '--json', BLOCK).stdout)
    edges = json_lines(weft('dump', '--edges', '--json', BLOCK).stdout)
    equal(collections.Counter(r['kind'] for r in rows),
          {'bind': 502, 'try': 232, 'task': 99, 'wait': 23, 'join': 2, 'preexisting': 1})
    equal(sum(r['running'] for r in rows), 41209000)
    equal(sum(r['activations'] for r in rows), 971)
    equal(sum(r['end'] - r['start'] for r in plain), 1662738000)
    equal(sum(r['end'] - r['start'] for r in rows), 877329000)
    equal(sum(e['edge'] == 'read' for e in edges), 1486)
    moved = {r['task']: r['start'] for r in plain}
    equal(sum(r['start'] != moved[r['task']] for r in rows), 446)
    equal([e['time'] for e in edges], sorted(e['time'] for e in edges))


@case
def figures_of_arp_good():
    rows = json_lines(weft('dump', '--tasks', '--json', ARP).stdout)
    equal(collections.Counter(r['kind'] for r in rows),
          {'bind': 289, 'try': 94, 'task': 62, 'wait': 25, 'join': 7, 'preexisting': 5,
           'condition': 3, 'map': 3, 'choose': 2, 'ignore_result': 2})
    equal(sum(r['running'] for r in rows), 3900309)
    equal(sum(r['activations'] for r in rows), 721)
    edges = json_lines(weft('dump', '--edges', '--json', ARP).stdout)
    equal(sum(e['edge'] == 'try_read' for e in edges), 58 - 2)


@case
def rows_are_few():
    for trace, options, most in ((BLOCK, [], 17), (BLOCK, ['--no-simplify'], 32), (ARP, [], 54)):
        rows = [t['row'] for t in json_lines(weft('dump', '--tasks', '--json', *options, trace).stdout)]
        equal(min(rows), 0)
        assert max(rows) + 1 <= most, (trace, options, max(rows) + 1)


@case
def tasks_and_edges_as_text():
    lines = weft('dump', '--tasks', BLOCK).stdout.splitlines()
    equal(len(lines), 859)
    assert 'label="create XenStore"' in lines[0], lines[0]
    edges = weft('dump', '--edges', BLOCK).stdout.splitlines()
    equal(edges[1], '    0.000770000  create   0 -> 1')


@case
def problems_are_sentences():
    rows = json_lines(weft('dump', '--problems', '--json', BLOCK).stdout)
    failed = [r for r in rows if r['problem'] == 'failed']
    equal([(r['task'], r['severity'], r['count']) for r in failed], [(81, 'hint', 1), (197, 'hint', 3)])
    equal(failed[0]['sentence'], 'bind 81 failed at 5.275 ms: Xs_protocol.Enoent("read"); its reader handled it.')
    assert all(BLOCK_START <= r['start'] <= r['end'] for r in rows)
    text = weft('dump', '--problems', BLOCK).stdout.splitlines()
    equal(len(text), len(rows))
    assert '    0.005265000  hint     failed            bind 81 failed at 5.275 ms: Xs_protocol.Enoent("read"); its reader handled it.' in text, text


@case
def problems_are_sorted():
    grave = ['hint', 'warning', 'error']
    rows = json_lines(weft('dump', '--problems', '--json', BLOCK).stdout)
    equal([r['severity'] for r in rows], sorted((r['severity'] for r in rows), key=grave.index, reverse=True))
    equal(rows, json_lines(weft('dump', '--problems', '--json', '--sort', 'gravity', BLOCK).stdout))
    timed = json_lines(weft('dump', '--problems', '--json', '--sort', 'time', BLOCK).stdout)
    equal(timed, sorted(timed, key=lambda row: row['start']))
    equal(sorted(map(str, timed)), sorted(map(str, rows)))
    weft('dump', '--problems', '--sort', 'size', BLOCK, status=2)


@case
def problems_may_fail_a_build():
    for severity, status in (('hint', 1), ('warning', 0), ('error', 0)):
        text = weft('dump', '--problems', '--fail-on', severity, BLOCK, status=status).stdout
        equal(text, weft('dump', '--problems', BLOCK).stdout)
    weft('dump', '--problems', '--fail-on', 'anything', BLOCK, status=2)
    weft('dump', '--fail-on', 'error', BLOCK, status=2)


@case
def each_file_may_be_a_trace_of_its_own():
    text = weft('dump', '--problems', '--each', ARP, BLOCK).stdout
    alone = [(path, line) for path in (ARP, BLOCK) for line in weft('dump', '--problems', path).stdout.splitlines()]
    equal(text.splitlines(), ['%s: %s' % pair for pair in alone])
    weft('dump', '--problems', '--each', '--fail-on', 'hint', ARP, BLOCK, status=1)
    rows = json_lines(weft('dump', '--problems', '--each', '--json', ARP, BLOCK).stdout)
    equal({row['file'] for row in rows} - {ARP, BLOCK}, set())
    weft('dump', '--problems', '--each', ARP, '/nonexistent', status=3)
    equal(weft('dump', '--problems', ARP, BLOCK).stdout, text)  # they do not say that they are of one boot
    weft('dump', '--problems', ARP, '/nonexistent', status=3)
    weft('dump', ARP, BLOCK, status=3)


@case
def columns_can_be_cut():
    rows = json_lines(weft('dump', '--problems', '--json', BLOCK).stdout)
    cells = [line.split('\t') for line in weft('dump', '--problems', '--tsv', BLOCK).stdout.splitlines()]
    equal([(severity, problem, count, task, sentence) for severity, problem, _, _, count, task, sentence, _ in cells],
          [(r['severity'], r['problem'], str(r['count']), '' if r['task'] is None else str(r['task']), r['sentence'])
           for r in rows])
    equal([round(float(c[2]) * 1e9) for c in cells], [r['start'] - BLOCK_START for r in rows])
    with temporary_directory() as here:
        trace = os.path.join(here, 'leaked.weft')
        run([os.path.join(BUILD, 'tests', 'fault-programs'), 'leaked_connections', 1, trace])
        reasons = [row.get('because', {}).get('problem', '') for row in json_lines(weft('dump', '--problems', '--json', trace).stdout)]
        cells = [line.split('\t') for line in weft('dump', '--problems', '--tsv', trace).stdout.splitlines()]
        equal([cell[7].split(' at ')[0] for cell in cells], reasons)
        assert any(reasons), reasons
    lines = json_lines(weft('dump', '--story', '80', '--json', BLOCK).stdout)
    cells = [line.split('\t') for line in weft('dump', '--story', '80', '--tsv', BLOCK).stdout.splitlines()]
    equal([(line, title, text) for line, _, _, title, text in cells], [(r['line'], r['title'], r['text']) for r in lines])
    weft('dump', '--tsv', BLOCK, status=2)
    weft('dump', '--problems', '--tsv', '--json', BLOCK, status=2)


@case
def a_story_by_label():
    tasks = json_lines(weft('dump', '--tasks', '--json', BLOCK).stdout)
    labels = [t['label'] for t in tasks if t['label'] and not t['label'].isdigit()]
    label = labels[0]
    first = next(t['task'] for t in tasks if t['label'] == label)
    result = weft('dump', '--story', label, BLOCK)
    equal(result.stdout, weft('dump', '--story', first, BLOCK).stdout)
    equal('tasks are called' in result.stderr, labels.count(label) > 1)


@case
def the_story_of_a_task():
    text = weft('dump', '--story', '80', BLOCK).stdout.splitlines()
    assert '                 outcome            failed: Xs_protocol.Enoent("read")' in text, text
    equal(weft('dump', '--story', 'task:80', BLOCK).stdout.splitlines(), text)
    rows = json_lines(weft('dump', '--story', '80', '--json', BLOCK).stdout)
    equal(len(rows), len(text))
    reads = [r for r in rows if r['line'] == 'edge' and r['title'] == 'reads']
    equal([r['task'] for r in reads], [79])
    equal(weft('dump', '--story', '999999', BLOCK, status=1).stdout, '')
    equal(weft('dump', '--story', 'x', BLOCK, status=1).stdout, '')
    weft('dump', '--story', '80', '--problems', BLOCK, status=2)


@case
def ranges():
    everything = json_lines(weft('dump', '--json', BLOCK).stdout)
    part = json_lines(weft('dump', '--json', '--start', '1.5ms', '--duration', '300us', BLOCK).stdout)
    low, high = BLOCK_START + 1500000, BLOCK_START + 1800000
    equal(part, [e for e in everything if low <= e['time'] < high])
    assert part
    same = weft('dump', '--json', '--start', '@%d' % low, '--duration', '300000ns', BLOCK).stdout
    equal(json_lines(same), part)
    edges = json_lines(weft('dump', '--edges', '--json', '--start', '1.5ms', '--duration', '300us',
                            BLOCK).stdout)
    assert edges and all(low <= e['time'] < high for e in edges)
    tasks = json_lines(weft('dump', '--tasks', '--json', '--start', '1.5ms', '--duration', '300us',
                            BLOCK).stdout)
    assert tasks and all(t['start'] < high and t['end'] > low for t in tasks)
    late = weft('dump', '--start', '1000s', BLOCK)
    equal((late.stdout, late.stderr), ('', '%s: no event in that range\n' % BLOCK))


@case
def wrong_use():
    for options, words in (
            (['--start', '12'], 'has no unit'),
            (['--start', '12parsecs'], 'is not a time'),
            (['--start', ''], 'is not a time'),
            (['--start', '-1ms'], 'is not a time'),
            (['--start', '99999999999999s'], 'is too long'),
            (['--duration', '@12'], 'is not a time'),
            (['--start'], 'needs a value'),
            (['--jsonx'], 'unknown option "--jsonx"'),
            (['--json=1'], 'takes no value'),
            (['-x'], 'unknown option "-x"'),
            (['--tasks', '--edges'], 'exclude each other')):
        result = weft('dump', *options, ARP if options[-1] != '--start' else '--start', status=2)
        if options != ['--start']:
            assert words in result.stderr, (options, result.stderr)
        equal(result.stdout, '')
    result = weft('dump', status=2)
    assert 'FILE is missing' in result.stderr, result.stderr
    assert weft('dump', '--help').stdout.startswith('usage: weft dump')


@case
def nothing_to_read():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'x')
        for content, words in ((b'', 'the file is empty'), (b'hello\n', 'a text'),
                               (b'((time 1)(op(Explode)))', 'no intact event'),
                               (SIGNATURE, 'no intact event')):
            with open(path, 'wb') as file:
                file.write(content)
            result = weft('dump', path, status=3)
            assert result.stderr.startswith(path + ': ') and words in result.stderr, result.stderr
        result = weft('dump', path + '-absent', status=3)
        assert 'No such file' in result.stderr, result.stderr
        assert 'no file in this directory' in weft('dump', folder, status=3).stderr


@case
def valid_but_empty():
    for what in ([], ['--tasks'], ['--edges'], ['--json']):
        result = subprocess.run([WEFT, 'dump', *what, '-'], input=ctf_packet(0), capture_output=True)
        equal(result.returncode, 0)
        equal(result.stdout, b'')
        equal(result.stderr.decode(), 'standard input: a valid trace without events\n')


@case
def standard_input_is_a_file_too():
    with open(BLOCK, 'rb') as file:
        piped = subprocess.run([WEFT, 'dump', '--json', '-'], input=file.read(), capture_output=True)
    equal(piped.stdout.decode(), weft('dump', '--json', BLOCK).stdout)


@case
def a_reader_that_closes_its_pipe():
    events = (ctf_event(i, 7, i) for i in range(50000))
    with tempfile.NamedTemporaryFile() as file:
        file.write(ctf_packet(0, *events))
        file.flush()
        with subprocess.Popen([WEFT, 'dump', file.name], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            equal(process.stderr.read(), b'')
        equal(process.returncode, -signal.SIGPIPE)
        # Our parent may ignore SIGPIPE; there is no message even then.
        result = subprocess.run(['sh', '-c', "trap '' PIPE; \"$0\" dump \"$1\" | head -n 1", WEFT,
                                 file.name], capture_output=True, text=True)
        equal(result.stderr, '')


@case
def an_interrupt_keeps_what_is_done():
    with tempfile.NamedTemporaryFile() as file:
        file.write(ctf_packet(0, *(ctf_event(i, 7, i) for i in range(200000))))
        file.flush()
        with subprocess.Popen([WEFT, 'dump', '--json', file.name], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            equal(process.stderr.read(), b'weft: interrupted: the output covers only what was read so far\n')
        events = json_lines((first + rest).decode())  # whole lines only
    assert 0 < len(events) < 200000, len(events)
    equal([e['time'] for e in events], list(range(len(events))))
    equal(process.returncode, -signal.SIGINT)


@case
def full_disk_is_noticed():
    with open('/dev/full', 'w') as full:
        result = subprocess.run([WEFT, 'dump', BLOCK], stdout=full, stderr=subprocess.PIPE, text=True)
    equal(result.returncode, 1)
    assert 'No space left' in result.stderr, result.stderr


main()
