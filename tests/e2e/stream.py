# SPDX-License-Identifier: ISC
"""weft record --stream: writes everything while the program runs, also if a process is killed or the disk fails."""
import contextlib
import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import communicate, has_ended, status_of, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'stream-subject')
RESEND_SUBJECT = os.path.join(BUILD, 'tests', 'resend-subject')
RECORD_SUBJECT = os.path.join(BUILD, 'tests', 'record-subject')
LANES = 3
CROWD = 2  # of many threads: a packet that one left open may be drained after a packet that its successor filled
VALUE = re.compile(r'"event":"(?!total)\w+".*"value":(\d+)')


class Workspace:
    """A working directory, and a run directory of its own."""

    def __init__(self, path):
        self.run = os.path.join(path, 'run')
        os.mkdir(self.run, 0o700)
        self.cwd = os.path.join(path, 'cwd')
        os.mkdir(self.cwd)
        self.env = {'XDG_RUNTIME_DIR': self.run}

    def file(self, name):
        return os.path.join(self.cwd, name)

    def record(self, *args, status=0, **options):
        return weft('record', '--stream', *args, status=status, cwd=self.cwd, env=self.env, **options)

    def start(self, *args, **options):
        options = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **options}
        return subprocess.Popen([WEFT, 'record', '--stream', *map(str, args)], cwd=self.cwd,
                                env=dict(os.environ, **self.env), **options)

    def subject(self, events, pause=0):
        return [SUBJECT, self.file('counters'), events, pause]

    def counters(self):
        """The number of events that each lane has recorded; 0 before the program has begun."""
        with contextlib.suppress(FileNotFoundError, struct.error), open(self.file('counters'), 'rb') as file:
            return struct.unpack('<%dQ' % LANES, file.read())
        return (0,) * LANES

    def wait_for(self, what, condition):
        """For a condition of the counters."""
        wait_until(what, lambda: condition(self.counters()), seen=self.counters)

    def is_clean(self):
        return not glob.glob(os.path.join(self.run, 'weft', '*'))


def in_workspace(function):
    """A case that gets a workspace of its own."""
    def with_workspace():
        with temporary_directory() as path:
            function(Workspace(path))
    with_workspace.__name__ = function.__name__
    return with_workspace


def child_of(process):
    def children():
        with open('/proc/%d/task/%d/children' % (process.pid, process.pid)) as file:
            return file.read().split()
    return int(wait_until('a child', children, process)[0])


def numbers(*paths):
    """Each lane's numbers, in the order of the files and in the order of time."""
    lanes = [[] for _ in range(LANES)]
    for path in paths:
        # Millions of events: parsing all of the JSON would take longer than the rest of the test.
        for value in map(int, VALUE.findall(weft('dump', '--json', path).stdout)):
            lanes[value >> 56].append(value & (1 << 56) - 1)
    return lanes


def info(path):
    return json.loads(weft('info', '--json', path).stdout)


def losses(path):
    return sum(info(path)['losses'].values())


def is_prefix(found):
    """0, 1, 2, … without gaps or duplicates."""
    return found == list(range(len(found)))


def has_zstd():
    return 'without zstd' not in weft('record', '--stream', '--zstd', '--', '/nowhere', status=None).stderr


# ---- All events are in the file ----

@case
@in_workspace
def everything_is_in_the_file(here):
    """About 10 times as much as the ring holds; a busy machine may lose some events, and counts them."""
    total = 50000
    report = here.record('--size', '256K', '-o', 't.weft', *here.subject(total, 2000)).stderr
    lanes = numbers(here.file('t.weft'))
    lost = losses(here.file('t.weft'))
    equal(sum(map(len, lanes)) + lost, LANES * total, report)
    assert sum(map(len, lanes)) > 2 * 256 * 1024 // 16, report
    if not lost:
        for lane in lanes:
            assert is_prefix(lane)
        assert 'none lost' in report, report
    for lane in lanes:
        equal(lane, sorted(set(lane)))
    assert not info(here.file('t.weft'))['diagnostics']
    assert here.is_clean()


@case
@in_workspace
def events_lost_in_the_ring_are_counted(here):
    total = 1000000
    report = here.record('--size', '64K', '-o', 't.weft', *here.subject(total)).stderr
    lanes = numbers(here.file('t.weft'))
    equal(sum(map(len, lanes)) + losses(here.file('t.weft')), LANES * total, report)
    for lane in lanes:
        equal(lane, sorted(set(lane)))


@case
@in_workspace
def status_is_the_programs(here):
    here.record('-o', 't.weft', RECORD_SUBJECT, 3, 'exit', 42, status=42)
    equal(info(here.file('t.weft'))['by_event'], {'note': 3})
    here.record('-o', 't.weft', RECORD_SUBJECT, 5, 'raise', int(signal.SIGSEGV), status=128 + 11)
    equal(info(here.file('t.weft'))['by_event'], {'note': 5})
    assert 'not found' in here.record('no-such-program-anywhere', status=127).stderr
    assert here.is_clean()


@case
@in_workspace
def each_process_has_its_file(here):
    here.record(RECORD_SUBJECT, 3, 'fork', 4)
    files = sorted(glob.glob(here.file('record-subject-*.weft')))
    equal(sorted(info(f)['by_event']['note'] for f in files), [3, 4])
    for f in files:
        os.unlink(f)
    report = here.record('-o', 't.weft', RECORD_SUBJECT, 3, 'exec', 4).stderr
    files = sorted(glob.glob(here.file('t*.weft')))
    equal(sorted(info(f)['by_event']['note'] for f in files), [3, 4], report)
    assert '1 more program that process ' in report, report


@case
@in_workspace
def a_stream_goes_through_a_pipe(here):
    out = here.record('-o', '-', *here.subject(1000), text=False).stdout
    with open(here.file('t.weft'), 'wb') as file:
        file.write(out)
    equal(numbers(here.file('t.weft')), [list(range(1000))] * LANES)


@case
@in_workspace
def a_process_that_runs_already(here):
    runner = subprocess.Popen([WEFT, 'record', '-o', 'whole.weft', *map(str, here.subject(10 ** 9, 1000))],
                              cwd=here.cwd, env=dict(os.environ, **here.env), stderr=subprocess.PIPE)
    program = child_of(runner)
    here.wait_for('events', lambda counters: min(counters) > 1000)
    stream = here.start('-p', program, '-o', 'part.weft')
    begun = here.counters()
    here.wait_for('more events', lambda counters: min(counters) > max(begun) + 20000)
    last = here.counters()
    stream.send_signal(signal.SIGINT)
    _, report = communicate(stream)
    equal(stream.returncode, 0, report)
    assert os.path.exists('/proc/%d' % program), 'the program ended too'
    lanes, lost = numbers(here.file('part.weft')), losses(here.file('part.weft'))
    for lane, until in zip(lanes, last):
        assert lane[-1] + 1 >= until, (lane[-1], until)
        equal(lane, sorted(set(lane)))
        assert lost or lane == list(range(lane[0], lane[-1] + 1))
    os.kill(program, signal.SIGKILL)
    communicate(runner)


@case
@in_workspace
def a_process_that_recorded_nothing_so_far(here):
    """Its ring is there before the stream looks for rings."""
    with subprocess.Popen(list(map(str, here.subject(10 ** 9, 1000))), env=dict(os.environ, **here.env)) as program:
        here.wait_for('events', lambda counters: min(counters) > 1000)
        stream = here.start('-p', program.pid, '-o', 't.weft')
        try:
            wait_until('events in the file', lambda: os.path.exists(here.file('t.weft')) and os.path.getsize(here.file('t.weft')), stream)
        finally:
            program.kill()
            communicate(stream)
        assert all(lane for lane in numbers(here.file('t.weft')))


# ---- Killed ----

@case
@in_workspace
def the_program_is_killed(here):
    chance = random.Random(1)
    for _ in range(6):
        record = here.start('-o', 't.weft', *here.subject(10 ** 9, 500))
        program = child_of(record)
        last = chance.randrange(1, 100000)
        here.wait_for('events', lambda counters, last=last: max(counters) >= last)
        os.kill(program, signal.SIGKILL)
        _, report = communicate(record)
        equal(record.returncode, 128 + 9, report)
        lanes, lost = numbers(here.file('t.weft')), losses(here.file('t.weft'))
        for lane, counted in zip(lanes, here.counters()):
            assert lost or (is_prefix(lane) and len(lane) >= counted), (len(lane), counted, report)
        os.unlink(here.file('counters'))


@case
@in_workspace
def weft_record_is_killed(here):
    """The file is whole up to some time; later events are in the ring, which --recover saves beside it."""
    chance = random.Random(2)
    for _ in range(5):
        record = here.start('--size', '2M', *here.subject(10 ** 9, 2000), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        program = child_of(record)
        wait_until('a file', lambda: glob.glob(here.file('stream-subject-*.weft')), record)
        early, late = chance.randrange(60000), chance.randrange(6000)
        here.wait_for('events', lambda counters, last=early: max(counters) >= last)
        record.kill()
        status_of(record)
        here.wait_for('more events', lambda counters, last=max(here.counters()) + late: max(counters) >= last)
        os.kill(program, signal.SIGKILL)
        file, = glob.glob(here.file('stream-subject-*.weft'))
        size = os.path.getsize(file)
        first, lost = numbers(file) if size else [[]] * LANES, losses(file) if size else 0
        wait_until('the end', lambda: has_ended(program))
        weft('record', '--recover', cwd=here.cwd, env=here.env)
        equal(os.path.getsize(file), size, 'the stream was replaced')
        rest, = set(glob.glob(here.file('stream-subject-*.weft'))) - {file}
        # On a busy machine weft record may have been late, or the program may have recorded more after that than its
        # ring holds. At 16 to 24 bytes an event, and little more for the long ones, that many surely fit.
        all_fits = sum(here.counters()) - sum(map(len, first)) < 40000
        for index, (lane, more, counted) in enumerate(zip(first, numbers(rest), here.counters())):
            equal(lane, sorted(set(lane)))
            assert lost or is_prefix(lane) or index == CROWD, lane[:10]
            assert more[0] <= len(lane) or not all_fits or lost or index == CROWD, 'a gap between stream and ring'
            equal(more, list(range(more[0], more[-1] + 1)))
            assert more[-1] + 1 >= counted
        os.unlink(file)
        os.unlink(rest)
        os.unlink(here.file('counters'))
        assert here.is_clean()


@case
@in_workspace
def any_beginning_of_a_stream_can_be_read(here):
    here.record('-o', 't.weft', *here.subject(3000, 100))
    with open(here.file('t.weft'), 'rb') as file:
        whole = file.read()
    chance = random.Random(3)
    for cut in [4096, 4097, len(whole) - 1] + [chance.randrange(4096, len(whole)) for _ in range(12)]:
        with open(here.file('cut.weft'), 'wb') as file:
            file.write(whole[:cut])
        result = weft('dump', '--json', here.file('cut.weft'), status=None)
        assert result.returncode in (0, 3), result.stderr
        if result.returncode == 0:
            for index, lane in enumerate(numbers(here.file('cut.weft'))):
                assert is_prefix(lane) or index == CROWD, 'cut at %d' % cut


# ---- The bytes, read by another program ----

HEADER, CHUNK, PACKET = 4096, struct.Struct('<QIIQ'), 128
WITH_NAME = {'mark', 'tag', 'counter', 'label', 'note', 'fail'}


def kinds():
    """Numbers of the events whose `small` is a name."""
    with open(os.path.join(SOURCE, 'include', 'weft', 'events.def')) as file:
        table = re.findall(r'EVENT\((\d+), (\w+), "(\w+)"', file.read())
    assert len(table) > 10, table
    return {int(number) for number, _, name in table if name in WITH_NAME} | {98, 99, 100}


def walk(data):
    """Each packet's (sequence, number of the first event, events), and the names that there are by then."""
    names, with_name, at = {}, kinds(), HEADER
    while at < len(data):
        magic, kind, size, position = CHUNK.unpack_from(data, at)
        equal(magic, 0x6b6e68638946eaff)
        content, at = data[at + CHUNK.size:at + CHUNK.size + size], at + CHUNK.size + size
        if kind == 2:
            for offset in range(0, size - 8, 16):
                names[(position + offset) // 16 + 1] = struct.unpack_from('<I', content, offset + 4)[0]
        if kind != 1:
            continue
        state, committed = struct.unpack_from('<QI', content)
        equal((state & 3, committed), (0, size))
        event, events = PACKET, 0
        while event < size:
            head, = struct.unpack_from('<Q', content, event)
            words, code, small = head >> 40 & 255, head >> 32 & 127, head >> 48
            assert code not in with_name or small == 0 or names.get(small), (code, small)
            events += code not in (30, 96, 97, 106)
            event += words * 8
        equal(event, size)
        yield state >> 2, struct.unpack_from('<Q', content, 48)[0], events


@case
@in_workspace
def names_are_there_before_their_packets(here):
    here.record('-o', 't.weft', *here.subject(20000, 500))
    with open(here.file('t.weft'), 'rb') as file:
        data = file.read()
    equal(data[:8], b'\x89WEFT\r\n\x1a')
    equal(struct.unpack_from('<I', data, 3776)[0], 1)
    packets = list(walk(data))
    equal(sum(events for _, _, events in packets), info(here.file('t.weft'))['events'])
    assert len(packets) > 10


# ---- Many files ----

@case
@in_workspace
def files_are_rotated(here):
    total = 30000
    report = here.record('--rotate', '200K', '-o', 't.weft', *here.subject(total, 500)).stderr
    files = sorted(glob.glob(here.file('t.*.weft')))
    equal([os.path.basename(f) for f in files[:2]], ['t.0001.weft', 't.0002.weft'])
    assert len(files) > 5 and ' in %d files' % len(files) in report, report
    assert all(os.path.getsize(f) <= 200 * 1024 for f in files), report
    equal(sum(len(n) for n in numbers(*files)) + sum(map(losses, files)), LANES * total, report)
    assert all(not info(f)['diagnostics'] for f in files)
    whole = sum(len(lane) for f in files for lane in numbers(f))
    equal(whole, sum(map(len, numbers(*files))))
    if not sum(map(losses, files)):
        for lane in numbers(*files):
            assert sorted(lane) == list(range(total))


@case
@in_workspace
def rotated_files_are_one_trace(here):
    total = 20000
    here.record('--rotate', '200K', '-o', 't.weft', *here.subject(total, 500))
    files = sorted(glob.glob(here.file('t.*.weft')))
    assert len(files) > 4, files
    whole = json.loads(weft('info', '--json', *files).stdout)
    equal('buffers' in whole, False)  # it is one program
    equal(whole['events'], sum(info(f)['events'] for f in files))
    equal(sum(whole['losses'].values()), sum(map(losses, files)))
    threads = [info(f)['threads'] for f in files]
    assert max(threads) < whole['threads'] < sum(threads), (whole['threads'], threads)
    equal(whole['ending'], 'exit')
    ids = [row['task'] for row in json_lines(weft('dump', '--tasks', '--json', *files).stdout)]
    equal(len(ids), len(set(ids)), 'a task is listed once')
    for listed in ('categories', 'changes'):  # each file has those of the program
        equal(whole[listed], info(files[-1])[listed])
    weft('cut', *files, '-o', here.file('cut.weft'))
    for listed in ('categories', 'changes'):
        equal(info(here.file('cut.weft'))[listed], whole[listed])
    weft('info', files[0], files[-1])  # some of them are one, too
    result = weft('info', files[0], files[0], status=None)  # the same file is not
    assert 'same' in result.stderr, result.stderr


@case
@in_workspace
def the_newest_files_are_kept(here):
    for _ in range(2):
        report = here.record('--rotate', '64K:3', '-o', 't.weft', *here.subject(10000)).stderr
    files = sorted(glob.glob(here.file('t.*.weft')))
    equal(len(files), 3, report)
    last = int(files[-1].split('.')[-2])
    assert last > 10, 'numbers did not go on'
    equal([int(f.split('.')[-2]) for f in files], [last - 2, last - 1, last])
    for f in files[:-1]:  # the last has the program's end, perhaps nothing else
        assert info(f)['events'] > 0
    weft('info', files[-1])


@case
@in_workspace
def streams_are_compressed(here):
    if not has_zstd():
        skip('built without zstd')
    total = 20000
    for name in ('t.weft.zst', 'u.weft.zst'):
        here.record(*(['--zstd'] if name[0] == 'u' else []), '-o', name, *here.subject(total, 500))
        with open(here.file(name), 'rb') as file:
            equal(file.read(4), b'\x28\xb5\x2f\xfd')
        path = here.file(name)
        equal(sum(map(len, numbers(path))) + losses(path), LANES * total)
    here.record('--zstd', *here.subject(100))
    assert glob.glob(here.file('stream-subject-*.weft.zst'))
    with open(here.file('t.weft.zst'), 'rb') as file:
        whole = file.read()
    piped = json.loads(weft('info', '--json', '-', input=whole, text=False).stdout)
    equal({key: piped[key] for key in ('events', 'losses')},
          {key: info(here.file('t.weft.zst'))[key] for key in ('events', 'losses')})
    for cut in (len(whole) // 3, len(whole) - 5):
        with open(here.file('cut'), 'wb') as file:
            file.write(whole[:cut])
        found = numbers(here.file('cut'))
        assert sum(map(len, found)) > 0
    files = here.record('--zstd', '--rotate', '100K:100', '-o', 'r.weft.zst', *here.subject(total)).stderr
    assert sum(map(len, numbers(*glob.glob(here.file('r.*.weft.zst'))))) > 0, files


# ---- Disks ----

@case
@in_workspace
def a_file_that_may_not_grow(here):
    """The program ends normally; events that the file lacks are counted, and the ring stays."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (512 << 10, resource.RLIM_INFINITY))
    total = 40000
    record = here.start('--size', '128K', '-o', 't.weft', *here.subject(total, 200), preexec_fn=limit)
    _, report = communicate(record)
    report = report.decode()
    equal(record.returncode, 125, report)
    equal(here.counters(), (total,) * LANES)
    assert 'File too large' in report, report
    assert '`weft record --recover` saves them' in report, report
    path = here.file('t.weft')
    assert os.path.getsize(path) <= 512 << 10
    counts = [int(n.replace(',', '')) for n in re.findall(r'([\d,]+)(?: events|more could| lost \()', report)]
    found = re.search(r'([\d,]+) events, (none|[\d,]+) lost', report)
    more = re.search(r'([\d,]+) more could not be written', report)
    assert found and more, (report, counts)
    parts = [0 if p == 'none' else int(p.replace(',', '')) for p in (*found.groups(), more.group(1))]
    equal(sum(parts), LANES * total, report)
    assert glob.glob(os.path.join(here.run, 'weft', 'record-*', '*.weft'))


@case
@in_workspace
def the_limit_holds(here):
    """The file has everything that was written before; the program goes on, and its status is returned."""
    limit = 8 << 20
    for options, names in ((['-o', 't.weft'], ['t.weft']), (['--zstd', '-o', 'z.weft.zst'], ['z.weft.zst']),
                           (['--rotate', '1M', '-o', 'r.weft'], None)):
        if names and names[0].endswith('.zst') and not has_zstd():
            continue
        for events in (400000, 1000000, 2500000):  # a busy machine loses most of them before they are written
            for path in glob.glob(here.file('*.weft')):
                os.remove(path)
            report = here.record('--size', '256K', '--max-size', '8M', *options, *here.subject(events)).stderr
            if 'reached its limit' in report or options[0] == '--zstd':
                break
        paths = [here.file(n) for n in names] if names else sorted(glob.glob(here.file('r.*.weft')))
        size = sum(map(os.path.getsize, paths))
        assert size <= limit, (size, report)
        lanes = numbers(*paths)
        assert all(len(lane) == len(set(lane)) for lane in lanes), 'events that are there twice'
        for path in paths:
            assert not info(path)['diagnostics'], info(path)
        if not options[0] == '--zstd':  # which may be below
            assert 'the stream has reached its limit of 8 MiB' in report, report
            assert size > limit // 3, (size, report)
        assert here.is_clean()


@case
@in_workspace
def a_program_that_only_counts_up_fills_no_disk(here):
    """The ring of 1 MiB has only new events at each look. Takes 5 seconds."""
    for name, options, most in ('t.weft', [], 16), ('r.weft', ['--rotate', '1M:4'], 4):
        for seconds in (2, 6, 20):  # a busy machine loses most of them before they are written
            for path in glob.glob(here.file('*.weft')):
                os.remove(path)
            report = here.record('--size', '1M', '--max-size', '16M', *options, '-o', name, RESEND_SUBJECT, seconds).stderr
            if options or 'reached its limit' in report:
                break
        size = sum(os.path.getsize(path) for path in glob.glob(here.file(name[0] + '.*')))
        assert size <= most << 20, (size, report)
        assert options or 'reached its limit' in report, report


@case
@in_workspace
def a_disk_that_is_full_for_a_while(here):
    disk = here.file('disk')
    os.mkdir(disk)
    if run(['mount', '-t', 'tmpfs', '-o', 'size=4m', 'none', disk]).returncode:
        skip('a file system cannot be mounted here')
    try:
        ballast = os.path.join(disk, 'ballast')
        with open(ballast, 'wb') as file:
            file.write(bytes(3500 << 10))
        total = 60000
        record = here.start('--size', '256K', '-o', os.path.join(disk, 't.weft'), *here.subject(total, 2000))
        wait_until('a full disk', lambda: shutil.disk_usage(disk).free == 0, record)
        before = here.counters()
        here.wait_for('the program goes on', lambda counters: min(counters) > max(before) + 10000)
        os.unlink(ballast)
        _, report = communicate(record)
        equal(record.returncode, 0, report)
        path = os.path.join(disk, 't.weft')
        lanes = numbers(path)
        # On a busy machine, events may also be overwritten before the disk was full.
        lost = info(path)['losses']
        assert lost.get('stalled') and not lost.keys() - {'stalled', 'overwritten'}, info(path)
        equal(sum(map(len, lanes)) + losses(path), LANES * total, report)
        assert not info(path)['diagnostics']
    finally:
        run(['umount', '-l', disk])


@case
@in_workspace
def a_consumer_that_stalls(here):
    """The pipe is not read until the program has recorded everything."""
    total = 60000
    record = here.start('--size', '256K', '-o', '-', *here.subject(total))
    here.wait_for('the program goes on', lambda counters: counters == (total,) * LANES)
    out, report = communicate(record)
    equal(record.returncode, 0, report)
    with open(here.file('t.weft'), 'wb') as file:
        file.write(out)
    lost = losses(here.file('t.weft'))
    assert lost > 0, report
    equal(sum(map(len, numbers(here.file('t.weft')))) + lost, LANES * total, report)


# ---- Wrong use ----

@case
@in_workspace
def wrong_use(here):
    for args, message in ((['--rotate', '1M', 'true'], '--rotate needs --stream'),
                          (['--max-size', '1G', 'true'], '--max-size needs --stream'),
                          (['--stream', '--max-size', '4M', 'true'], 'the minimum is 8M'),
                          (['--zstd', 'true'], '--zstd needs --stream'),
                          (['--stream', '--rotate', '1K', 'true'], 'too small'),
                          (['--stream', '--rotate', '1M:0', 'true'], 'not a whole number'),
                          (['--stream', '--rotate', '1M', '-o', '-', 'true'], '--rotate cannot be used'),
                          (['--stream', '--recover'], 'exclude each other'),
                          (['-o', 't.weft.zst', 'true'], 'compression needs --stream')):
        result = weft('record', *args, status=2, cwd=here.cwd, env=here.env)
        assert message in result.stderr, result.stderr
    with open(here.file('letter'), 'w') as file:
        file.write('Dear Mary')
    result = here.record('-o', 'letter', 'true', status=125)
    assert 'is not a weft trace' in result.stderr, result.stderr


main()
