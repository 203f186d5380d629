# SPDX-License-Identifier: ISC
"""weft cut: the lines of the range stay as they are, and the rundown describes the state before them.

    WEFT_CUT_RANGES=500 WEFT_CUT_SEED=7 tests/e2e/cut.py     tests more, other cases
"""
import os
import pty
import random
import struct
import subprocess
import sys

from harness import BUILD, DATA, SOURCE, WEFT, case, equal, json_lines, main, run, temporary_directory, weft
from traces import mirage, sexp
from xen_traces import RUNNABLE, RUNNING, hypercall, runstate, window

sys.path.insert(0, os.path.join(SOURCE, 'tests', 'oracle'))
import decode  # noqa: E402
from same import check_part as same_part, same  # noqa: E402

RANGES = int(os.environ.get('WEFT_CUT_RANGES', 12))
SEED = int(os.environ.get('WEFT_CUT_SEED', 1))
SAMPLES = [os.path.join(DATA, 'traces', name)
           for name in ('mirage-arp-good.ctf', 'mirage-block-read.sexp')]


def lines(path):
    result = weft('dump', '--json', path)
    assert 'offset 0x' not in result.stderr, result.stderr
    return result.stdout.splitlines()


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, 'wb') as file:
        file.write(content)
    return path


def cut(trace, out, start=None, end=None, **options):
    """The part [start, end) of a trace, in ns on its clock: (rundown, others) as lines."""
    times = [] if start is None else ['--start', '@%d' % start]
    if end is not None:
        times += ['--duration', '%dns' % (end - start)]
    weft('cut', trace, '-o', out, *times, **options)
    return lines(out)


def record(program, folder, *arguments):
    path = os.path.join(folder, program + '.weft')
    result = run([os.path.join(BUILD, 'tests', program), path, *arguments])
    assert result.returncode == 0, result
    return path


def recordings(folder):
    """Several threads, every event there is, text of every length."""
    return [record('random_calls', folder, SEED, 400), record('every_event', folder, 3)]


def random_ranges(rng, events):
    first, last = events[0]['time'], events[-1]['time']
    for _ in range(RANGES):
        start = rng.choice([rng.randint(first, last), rng.choice(events)['time']])
        end = rng.choice([rng.randint(start, last + 1), rng.choice(events)['time'], start, last + 1])
        yield start, max(start, end)


def time_of(line):
    return int(line[len('{"time":'):line.index(',')])


def check_part(trace, whole, out, start, end):
    """The part's lines: the rundown's, all at the start, then the range's, as they are."""
    shown = cut(trace, out, start, end)
    wanted = [line for line in whole if start <= time_of(line) < end]
    same('[%d, %d) of %s' % (start, end, trace), shown[len(shown) - len(wanted):], wanted)
    category = None if trace in SAMPLES else 'program'
    same_part([json_lines(line)[0] for line in shown], [json_lines(line)[0] for line in whole], start, end, category)


def check_trace(trace, folder, rng):
    whole = lines(trace)
    events = [json_lines(line)[0] for line in whole]
    for start, end in random_ranges(rng, events):
        out = os.path.join(folder, 'part.weft')
        check_part(trace, whole, out, start, end)
        if start == end:
            continue
        # A part of a part equals the part that is cut directly.
        again = os.path.join(folder, 'again.weft')
        middle = rng.randint(start, end - 1)
        same('part of a part, from %d' % middle, cut(out, again, middle, end), cut(trace, again, middle, end))


@case
def a_range_has_the_lines_of_the_trace():
    with temporary_directory() as folder:
        rng = random.Random(SEED)
        for trace in SAMPLES + recordings(folder):
            check_trace(trace, folder, rng)


@case
def the_whole_range_is_the_whole_trace():
    with temporary_directory() as folder:
        for trace in SAMPLES + recordings(folder):
            out = os.path.join(folder, 'whole.weft')
            weft('cut', trace, '-o', out)
            for options in (['--json'], ['--tasks', '--json'], ['--edges', '--json'], []):
                equal(weft('dump', *options, out).stdout, weft('dump', *options, trace).stdout, trace)
            summaries = [json_lines(weft('info', '--json', path).stdout)[0] for path in (trace, out)]
            equal(summaries[1]['source'], trace)
            for key in ('start', 'end', 'events', 'by_event', 'tasks', 'counters', 'losses', 'categories', 'threads'):
                equal(summaries[1].get(key), summaries[0].get(key), '%s of %s' % (key, trace))


@case
def the_oracle_reads_the_same():
    """The second decoder of the old formats, on the original; weft, on the part."""
    with temporary_directory() as folder:
        for trace in SAMPLES:
            with open(trace, 'rb') as file:
                events = decode.events(file.read())
            start, end = events[len(events) // 3]['time'], events[len(events) * 2 // 3]['time']
            shown = [json_lines(line)[0] for line in cut(trace, os.path.join(folder, 'part'), start, end)]
            equal([event for event in shown if 'rundown' not in event],
                  [event for event in events if start <= event['time'] < end], trace)


@case
def streams_and_compressed_traces_are_cut():
    with temporary_directory() as folder:
        stream = os.path.join(folder, 'stream.weft')
        weft('record', '--stream', '-o', stream, '--', os.path.join(BUILD, 'examples', 'hello'))
        whole = lines(stream)
        equal(cut(stream, os.path.join(folder, 'part')), whole)
        middle = time_of(whole[len(whole) // 2])
        check_part(stream, whole, os.path.join(folder, 'part'), middle, middle + 10 ** 12)


def problems(path):
    return weft('dump', '--problems', '--json', path).stdout


@case
def losses_are_kept_where_they_were():
    with temporary_directory() as folder:
        stem = os.path.join(folder, 'wrapped')
        weft('record', '--size', '64K', '-o', stem, '--', os.path.join(BUILD, 'examples', 'echo-server'), '100')
        info, = json_lines(weft('info', '--json', stem).stdout)
        assert info['losses'], 'nothing was lost'
        out = os.path.join(folder, 'out')
        check_part(stem, lines(stem), out, 0, 2 ** 63)
        equal(json_lines(weft('info', '--json', out).stdout)[0]['losses'], info['losses'])
        equal(problems(out), problems(stem))
        # A part without losses has none of those whose time is known to be elsewhere.
        middle = (info['start'] + info['end']) // 2
        cut(stem, out, middle, info['end'] + 1)
        part, = json_lines(weft('info', '--json', out).stdout)
        assert sum(part['losses'].values()) < sum(info['losses'].values()), part['losses']


@case
def text_of_any_bytes_and_length_stays():
    labels = ['', 'a', 'x' * 1024, 'y' * 1025, 'z' * 2032, 'z' * 2033, 'w' * 70000, 'two words',
              bytes(range(1, 256)), b'\xff\xfe' * 9000, 'caf\xe9' * 3000]
    events = [(10, 'create', 0, 1, 1)]
    for number, label in enumerate(labels):
        events += [(20 + number, 'label', 1, label), (20 + number, 'fail', 1, 100 + number, label),
                   (20 + number, 'add', 1, 5, label)]
    with_nul = [(10, 'create', 0, 1, 1)] + [
        (20 + number, 'label', 1, text)
        for number, text in enumerate([b'\0', b'nul at the end\0', b'\0\0\0\0\0\0\0\0', b'in\0side', b'\0' * 3000])]
    with temporary_directory() as folder:
        for name, content in (('a.ctf', mirage(events)), ('b.sexp', sexp(events)), ('c.sexp', sexp(with_nul))):
            trace = write(folder, name, content)
            equal(cut(trace, os.path.join(folder, 'out')), lines(trace), name)
            # Labels of living tasks in a rundown keep their bytes, too.
            rundown = cut(trace, os.path.join(folder, 'late'), 1000, 2000)
            assert len(rundown) >= 1 and all('"rundown":true' in line for line in rundown), rundown


@case
def a_rundown_has_long_labels():
    label = 'very ' * 5000
    with temporary_directory() as folder:
        trace = write(folder, 'a.ctf', mirage([(10, 'create', 0, 1, 1), (20, 'label', 1, label), (90, 'switch', 1)]))
        shown = [json_lines(line)[0] for line in cut(trace, os.path.join(folder, 'out'), 50, 100)]
        alive, = [event for event in shown if event['event'] == 'alive' and event['task'] == 1]
        equal(alive['label'], label)
        equal(alive['age'], 40)


@case
def many_events_of_one_moment_stay_in_order():
    events = [(5, 'create', 0, 1, 1)] + [(7, 'label', 1, str(number)) for number in range(3000)]
    with temporary_directory() as folder:
        trace = write(folder, 'a.ctf', mirage(events))
        equal(cut(trace, os.path.join(folder, 'out')), lines(trace))


@case
def times_far_apart_stay():
    events = [(5, 'create', 0, 1, 1), (5 + 2 ** 32, 'switch', 1), (2 ** 40, 'switch', 2), (2 ** 57 + 7, 'switch', 1),
              (2 ** 58, 'switch', 2)]
    with temporary_directory() as folder:
        trace = write(folder, 'a.ctf', mirage(events))
        equal(cut(trace, os.path.join(folder, 'out')), lines(trace))


@case
def a_task_that_became_another_keeps_its_old_name():
    """Mirage's runtimes keep naming a task by its first id."""
    events = [(10, 'create', 0, 1, 2), (20, 'create', 0, 2, 2), (30, 'become', 1, 2), (40, 'create', 0, 3, 2),
              (50, 'become', 2, 3), (70, 'label', 1, 'who is that'), (80, 'fulfil', 0, 1)]
    with temporary_directory() as folder:
        trace = write(folder, 'a.ctf', mirage(events))
        out = os.path.join(folder, 'out')
        cut(trace, out, 60, 100)
        tasks = {row['task']: row for row in json_lines(weft('dump', '--tasks', '--json', out).stdout)}
        equal((tasks[3]['label'], tasks[3]['resolved'], tasks[3]['end']), ('who is that', True, 80))
        equal(tasks[1]['becomes'], 3)
        assert 2 not in tasks, tasks[2]


@case
def a_range_without_events_is_a_trace_with_a_rundown():
    with temporary_directory() as folder:
        trace = write(folder, 'a.ctf', mirage([(10, 'create', 0, 1, 1), (20, 'label', 1, 'waits'), (900, 'switch', 1)]))
        out = os.path.join(folder, 'out')
        for times in (['--start', '@100', '--duration', '50ns'], ['--start', '@20', '--duration', '0ns'],
                      ['--start', '5s']):
            result = weft('cut', trace, '-o', out, *times)
            assert 'no event in that range' in result.stderr, result
            assert all('"rundown":true' in line for line in lines(out))
        result = weft('cut', trace, '-o', out, '--start', '@0', '--duration', '5ns')
        assert 'no event in that range' in result.stderr, result
        equal(weft('dump', out).stdout, '')


@case
def times_count_from_the_start_of_the_trace():
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out')
        for trace in SAMPLES:
            weft('cut', trace, '-o', out, '--start', '50ms', '--duration', '20ms')
            shown = weft('dump', '--json', trace, '--start', '50ms', '--duration', '20ms').stdout.splitlines()
            equal([line for line in lines(out) if 'rundown' not in line], shown)


@case
def it_goes_to_standard_output_and_through_pipes():
    with temporary_directory() as folder:
        with open(SAMPLES[0], 'rb') as file:
            content = file.read()
        result = run([WEFT, 'cut', '-', '-o', '-'], input=content, text=False)
        equal(result.returncode, 0, result.stderr)
        equal(lines(write(folder, 'out', result.stdout)), lines(SAMPLES[0]))
        result = run(['sh', '-c', '%s cut %s -o - | %s dump --json -' % (WEFT, SAMPLES[0], WEFT)])
        equal(result.stdout.splitlines(), lines(SAMPLES[0]))


@case
def a_trace_may_be_cut_in_place():
    with temporary_directory() as folder:
        with open(SAMPLES[0], 'rb') as file:
            trace = write(folder, 'trace', file.read())
        whole = lines(trace)
        equal(cut(trace, trace), whole)


@case
def a_failed_cut_leaves_the_old_file():
    with temporary_directory() as folder:
        out = write(folder, 'out', b'precious')
        weft('cut', write(folder, 'nonsense', b'no trace at all'), '-o', out, status=3)
        weft('cut', os.path.join(folder, 'missing'), '-o', out, status=3)
        weft('cut', SAMPLES[0], '-o', os.path.join(folder, 'no', 'such', 'folder'), status=1)
        result = weft('cut', SAMPLES[0], '-o', '/dev/full', status=1)
        assert '/dev/full: No space left on device' in result.stderr, result
        with open(out, 'rb') as file:
            equal(file.read(), b'precious')
        equal(sorted(os.listdir(folder)), ['nonsense', 'out'])


@case
def wrong_use_says_what_would_be_right():
    for arguments, message in (
            ([SAMPLES[0]], '-o OUT is missing'), (['-o', '/dev/null'], 'FILE is missing'),
            ([SAMPLES[0], '-o', '/dev/null', '--start', '5'], 'has no unit'),
            ([SAMPLES[0], '-o', '/dev/null', '--duration', '@5'], 'is not a time')):
        result = weft('cut', *arguments, status=2)
        assert message in result.stderr, result
    master, terminal = pty.openpty()
    with os.fdopen(master), os.fdopen(terminal, 'w') as output:
        refused = subprocess.run([WEFT, 'cut', SAMPLES[0], '-o', '-'], stdout=output, stderr=subprocess.PIPE, text=True)
    equal(refused.returncode, 2)
    assert 'refusing to write a binary trace to a terminal' in refused.stderr, refused.stderr


@case
def a_damaged_trace_is_cut_as_far_as_it_can_be_read():
    events = [(10, 'create', 0, 1, 1), (20, 'label', 1, 'before'), (90, 'label', 1, 'after')]
    with temporary_directory() as folder:
        whole = sexp(events).splitlines(True)
        trace = write(folder, 'damaged', b''.join(whole[:2]) + b'((time (op(Rubbish\n' + whole[2])
        out = os.path.join(folder, 'out')
        result = weft('cut', trace, '-o', out)
        assert 'offset 0x' in result.stderr, result
        equal(lines(out), weft('dump', '--json', trace).stdout.splitlines())


# ---- Clocks that several files have in common ----

CLOCK_TSC, CLOCK_XEN = 1, 5
BEGIN, LENGTH = 5 * 10**9, 2 * 10**8  # of the guests' events, on Xen's clock in ns


def host_time(xen_ns):
    """Dom0's clock goes a little faster than Xen's, and its rate changes."""
    return xen_ns + 7 * 10**9 + (xen_ns - BEGIN) // 50000 + (xen_ns // 70000000 % 3) * 9000


def counter(xen_ns):
    return 3 * xen_ns + 12345


def made_trace(events):
    """A packet with an event at each of the ticks: a task runs, or a span ends, on the clock itself or on another one."""
    chunk, label, words = 0x6b6e68638946eaff, b'disk', []
    for i, ticks in enumerate(events):
        stamp = ticks - events[0]
        words.append([stamp | 13 << 32 | 2 << 40, i % 7])
        if i % 5 == 3:
            words.append([stamp | 23 << 32 | 4 << 40 | 1 << 48, 1 | 1 << 32, ticks - 1001, ticks - 1])
        if i % 5 == 4:
            words.append([stamp | 23 << 32 | 6 << 40 | 1 << 48, 1 | 1 << 32 | 1 << 56, 50, 777, ticks - 20, 1234])
    body = struct.pack('<%dQ' % sum(map(len, words)), *sum(words, []))
    packet = struct.pack('<QII', 1 << 2, 128 + len(body), 1) + struct.pack('<QQQQ', events[0], 0, 0, 2**64 - 1)
    name = struct.pack('<II', 0, len(label)) + label.ljust(8, b'\0')
    return (struct.pack('<QIIQ', chunk, 2, len(name), 0) + name
            + struct.pack('<QIIQ', chunk, 1, 128 + len(body), 0) + packet.ljust(128, b'\0') + body)


def on_host(folder, name, number, clock, compared):
    """A trace as the reader of a guest writes it, with comparisons of the host's clocks at these times of Xen's; of a program of
    dom0, if there are none."""
    rng = random.Random(number)
    to_ticks = counter if clock == CLOCK_TSC else int
    events = sorted(to_ticks(BEGIN) + rng.randrange(to_ticks(LENGTH)) for _ in range(300))
    head = bytearray(4096)
    struct.pack_into('<8sIIQIIQ', head, 0, b'\x89WEFT\r\n\x1a', 1, 4096, 0, 65536, 0, 4096)
    head[88:120] = bytes([number]) * 16 + b'boot of the host'
    struct.pack_into('<I', head, 120, clock)
    for at, ns in ((136, BEGIN - 2 * 10**8), (160, BEGIN + 10**9)):
        struct.pack_into('<QQ', head, at, to_ticks(ns), ns if compared else host_time(ns))
    struct.pack_into('<I', head, 208, number)
    head[216:216 + len(name)] = name.encode()
    head[1048:1052] = b'host'
    if compared:
        struct.pack_into('<q', head, 1120, host_time(compared[0]) - compared[0])
        struct.pack_into('<II', head, 1132, number + 1, len(compared))
    for i, ns in enumerate(compared):
        struct.pack_into('<3QI', head, 1144 + 32 * i, ns, host_time(ns), counter(ns), 40)
    struct.pack_into('<I', head, 3776, 1)
    return write(folder, name + '.weft', bytes(head) + made_trace(events))


def xen_trace(folder):
    at, records = counter(BEGIN), []
    for i in range(100):
        records += [runstate(at + 1999999 * i, 3 + i % 2, 0, RUNNABLE, RUNNING), hypercall(at + 1999999 * i + 777, 17)]
    return write(folder, 'xen.xentrace', window(0, *records))


def on_one_axis(files):
    """The events of each file, as lines without its number, when all of them are open."""
    shown = {}
    for event in json_lines(weft('dump', '--json', *files).stdout):
        if not event.pop('rundown', False):
            shown.setdefault(event.pop('buffer'), []).append(event)
    return shown


def part_of(path, folder, *options):
    out = os.path.join(folder, os.path.basename(path))
    weft('cut', path, '-o', out, *options)
    return out


@case
def a_part_stands_where_the_whole_does_beside_other_files():
    """Each file alone has other comparisons than all of them together, so that its times are others."""
    step = 10**8
    with temporary_directory() as folder, temporary_directory() as out:
        files = [on_host(folder, 'web', 1, CLOCK_XEN, [BEGIN + i * step for i in (-3, -2, 0, 4)]),
                 on_host(folder, 'mail', 2, CLOCK_XEN, [BEGIN + i * step for i in (-1, 1, 5)]),
                 on_host(folder, 'native', 3, CLOCK_TSC, [BEGIN + i * step + 7 for i in (-4, 0, 1, 2)]),
                 on_host(folder, 'dom0', 4, CLOCK_TSC, []), xen_trace(folder)]
        parts = {path: part_of(path, out) for path in files}
        for path in files[:4]:
            equal(lines(parts[path]), lines(path), path)
        alone = [event['time'] for event in json_lines(weft('dump', '--json', files[0]).stdout)]
        for chosen in (files, files[:3], files[2:4], files[3:], [files[0], files[4]]):
            together = on_one_axis(chosen)
            if chosen[:2] == files[:2]:
                assert alone != [event['time'] for event in together[0]], chosen
            for replaced in (chosen, chosen[:1], chosen[1:]):
                equal(on_one_axis([parts[path] if path in replaced else path for path in chosen]), together, replaced)


@case
def a_range_stands_where_it_was_beside_other_files():
    step = 10**8
    with temporary_directory() as folder, temporary_directory() as out:
        files = [on_host(folder, 'web', 1, CLOCK_XEN, [BEGIN + i * step for i in (-3, -2, 0, 4)]),
                 on_host(folder, 'native', 2, CLOCK_TSC, [BEGIN + i * step + 7 for i in (-4, 0, 1, 2)]),
                 on_host(folder, 'dom0', 3, CLOCK_TSC, []), xen_trace(folder)]
        together = on_one_axis(files)
        for number, path in enumerate(files[:3]):
            alone = json_lines(weft('dump', '--json', path).stdout)
            first, end = len(alone) // 3, len(alone) // 2
            times = ['--start', '@%d' % alone[first]['time'], '--duration', '%dns' % (alone[end]['time'] - alone[first]['time'])]
            part = part_of(path, out, *times)
            shown = on_one_axis(files[:number] + [part] + files[number + 1:])
            equal(shown[number], together[number][first:end], path)
            equal({key: shown[key] for key in shown if key != number},
                  {key: together[key] for key in together if key != number}, path)


@case
def a_part_may_know_less_of_the_past():
    """Its range has the same lines; its rundown is the same if all of the past is read, and smaller if little is."""
    with temporary_directory() as folder:
        trace, out = record('random_calls', folder, SEED, 20000), os.path.join(folder, 'part.weft')
        whole = lines(trace)
        first, last = time_of(whole[0]), time_of(whole[-1])
        for start in (first, first + (last - first) * 9 // 10, last):
            end = start + (last - first) // 20
            full = cut(trace, out, start, end)
            wanted = [line for line in whole if start <= time_of(line) < end]
            sizes = []
            for past in (0, (last - first) // 10, last - first):
                weft('cut', trace, '-o', out, '--start', '@%d' % start, '--duration', '%dns' % (end - start),
                     '--past', '%dns' % past)
                shown = lines(out)
                same('past of %d ns before %d' % (past, start), shown[len(shown) - len(wanted):], wanted)
                sizes.append(len(shown))
            same('all of the past', shown, full)
            assert start == first or sizes[0] < sizes[2] and sizes[0] <= sizes[1] <= sizes[2], sizes
        result = weft('cut', trace, '-o', out, '--past', '5', status=2)
        assert 'has no unit' in result.stderr, result.stderr


main()
