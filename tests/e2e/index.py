# SPDX-License-Identifier: ISC
"""weft index: parts that are cut from a state beside the trace are those that are cut from the whole, to the byte.

    WEFT_INDEX_RANGES=500 WEFT_INDEX_SEED=7 tests/e2e/index.py     tests more, other cases
"""
import csv
import io
import json
import os
import random
import shutil
import struct

from harness import BUILD, DATA, case, equal, json_lines, main, temporary_directory, weft

RANGES = int(os.environ.get('WEFT_INDEX_RANGES', 12))
SEED = int(os.environ.get('WEFT_INDEX_SEED', 1))
STREAM = os.path.join(DATA, 'recorded', 'threads-stream.weft')
HEADER_BYTES, CHUNK_MAGIC, PACKET = 4096, 0x6b6e68638946eaff, 1


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def write(path, content):
    with open(path, 'wb') as file:
        file.write(content)
    return path


def copy_stream(folder):
    path = os.path.join(folder, 'stream.weft')
    shutil.copy(STREAM, path)
    return path


def chunks(content):
    """(offset, size, kind) of each chunk of a stream, with its head."""
    at = HEADER_BYTES
    while at < len(content):
        magic, kind, size = struct.unpack_from('<QII', content, at)
        assert magic == CHUNK_MAGIC, (at, magic)
        yield at, 24 + size, kind
        at += 24 + size


def without_packets(folder, rng):
    """The stream without some of its packets: their events are losses."""
    content = read(STREAM)
    kept = [content[at:at + size] for at, size, kind in chunks(content) if kind != PACKET or rng.random() < 0.7]
    return write(os.path.join(folder, 'lost.weft'), content[:HEADER_BYTES] + b''.join(kept))


def record(folder, name, *options):
    path = os.path.join(folder, name)
    weft('record', *options, '-o', path, '--', os.path.join(BUILD, 'examples', 'echo-server'), '100')
    return path


def damaged(content, number):
    """The stream with damage in one of its packets."""
    changed = bytearray(content)
    at = [at for at, _, kind in chunks(content) if kind == PACKET][number]
    changed[at + 24 + 128:at + 24 + 136] = b'\xff' * 8
    return bytes(changed)


def part(trace, folder, start, length):
    out = os.path.join(folder, 'part')
    result = weft('cut', trace, '-o', out, '--start', '@%d' % start, '--duration', '%dns' % length)
    return read(out), result.stderr


def index(trace, *options, **expected):
    return weft('index', trace, *options, **expected).stderr


def same(got, wanted, what=''):
    assert got == wanted, '%s%d bytes, expected %d; %s%s' % (what, len(got[0]), len(wanted[0]), got[1], wanted[1])


def time_of_all(trace):
    info = json.loads(weft('info', '--json', trace).stdout)
    return info['start'], info['end']


def check_parts(trace, folder, rng):
    """Each of some parts, first from the whole, then from the states."""
    first, last = time_of_all(trace)
    ranges = []
    for _ in range(RANGES):
        start = rng.randint(first, last)
        ranges.append((start, rng.randint(1, (last - first) // 4 + 1)))
    whole = [part(trace, folder, *times) for times in ranges]
    said = index(trace, '--spacing', str(rng.randint(1, 60)))
    assert ' 0 checkpoints' not in said, said
    for times, wanted in zip(ranges, whole):
        same(part(trace, folder, *times), wanted, '%s [%d, +%d): ' % (trace, *times))


@case
def parts_are_those_of_the_whole():
    rng = random.Random(SEED)
    with temporary_directory() as folder:
        for trace in (copy_stream(folder), without_packets(folder, rng), without_packets(folder, rng),
                      record(folder, 'stream', '--stream'), record(folder, 'overwritten', '--size', '64K')):
            check_parts(trace, folder, rng)


def middle(trace):
    first, last = time_of_all(trace)
    return first + (last - first) // 2, (last - first) // 4


# Questions about the tasks that are alive in a range, of those that end in it, and of counters. A task may get its label
# behind the range, and one that no event created may be named there for the first time.
TASKS = """SELECT id, process, kind, category, created, label, resolved AND end < {1} AS has_ended FROM tasks
           WHERE kind NOT IN ('track', 'preexisting') AND start < {1} AND (NOT resolved OR end >= {0}) ORDER BY process, id"""
ENDED = 'SELECT id, process, end, outcome, failed FROM tasks WHERE resolved AND end >= {0} AND end < {1} ORDER BY process, id'
RAN = """SELECT id, process, activations.thread, sum(min(activations.end, {1}) - max(activations.start, {0})) AS ns
         FROM activations JOIN tasks USING (task) WHERE activations.end > {0} AND activations.start < {1}
         GROUP BY 1, 2, 3 ORDER BY 2, 1, 3"""
VALUE = '(SELECT value FROM samples WHERE samples.counter = counters.counter AND time < {%d} ORDER BY time DESC LIMIT 1)'
COUNTERS = 'SELECT * FROM (SELECT name, %s AS first, %s AS last FROM counters) WHERE last IS NOT NULL ORDER BY name' % (
    VALUE % 0, VALUE % 1)


def query(trace, sql, *options):
    result = weft('query', '--csv', trace, sql, *options)
    return list(csv.DictReader(io.StringIO(result.stdout))), result.stderr


def without_late_labels(part, whole):
    """The rows of the whole, without labels that the part does not know yet."""
    for row, other in zip(part, whole):
        other['label'] = other['label'] and row['label'] and other['label']
    return whole


def rows_of(trace, *options):
    """Statistics, without waits, to which events outside of a range contribute."""
    stats = json.loads(weft('stats', '--json', '--by', 'kind', '--no-simplify', '--sort', 'count', trace, *options).stdout)
    unsure = ('waiting', 'delay', 'max_delay', 'most_delayed')
    return sorted(({key: value for key, value in row.items() if key not in unsure} for row in stats['rows'] if row['kind'] != 'preexisting'),
                  key=lambda row: row['name'])


@case
def ranges_begin_with_the_state():
    """A range that is read from a state on says of its tasks and counters what the whole trace says."""
    rng = random.Random(SEED)
    with temporary_directory() as folder:
        for trace in (copy_stream(folder), record(folder, 'stream', '--stream'), record(folder, 'overwritten', '--size', '64K')):
            index(trace, '--spacing', str(rng.randint(5, 60)))
            first, last = time_of_all(trace)
            states = 0
            for _ in range(RANGES):
                start = rng.randint(first, last)
                end = start + rng.randint(1, (last - first) // 4 + 1)
                options = ['--start', '@%d' % start, '--duration', '%dns' % (end - start)]
                what = (trace, start, end)
                part, said = query(trace, TASKS.format(start, end), *options)
                if 'but which were alive' not in said:
                    continue
                states += 1
                equal(part, without_late_labels(part, query(trace, TASKS.format(start, end))[0]), what)
                for sql in (ENDED, RAN, COUNTERS):
                    equal(query(trace, sql.format(start, end), *options)[0], query(trace, sql.format(start, end))[0], what)
                equal(rows_of(trace, *options, '--past', '0'), rows_of(trace, *options), what)
            assert states > RANGES // 3, states


def waiters(trace, at, *options):
    """The lines about tasks that wait for a task at that time, by that task and the first that waits."""
    lines = json_lines(weft('why', trace, '--at', '@%d' % at, '--json', *options, status=None).stdout)
    return {(line['task'], line['first']): line for line in lines if 'waiting' in line}


@case
def a_time_at_the_edge_of_a_range_says_so():
    """A run or a wait at the state's time may have begun before it, and a run at the end of what was read may end later."""
    with temporary_directory() as folder:
        trace = copy_stream(folder)
        index(trace, '--spacing', '50')
        first = time_of_all(trace)[0]
        query_of_runs = ('SELECT id, activations.start AS start, activations.end AS end FROM activations JOIN tasks USING (task) '
                         'WHERE activations.start < %d AND activations.end > %d')
        early = late = earlier_waits = 0
        for at in range(first + 5 * 10**6, first + 150 * 10**6, 12 * 10**6 + 345):
            rows = {row['id']: row for row in query(trace, query_of_runs % (at, at))[0]}
            for line in weft('why', trace, '--at', '@%d' % at, '--past', '0', '--json', status=None).stdout.splitlines():
                hop = json.loads(line)
                if hop.get('end') != 'runs':
                    continue
                true = rows[str(hop['task'])]
                early += 'or before' in hop['sentence']
                late += 'or later' in hop['sentence']
                equal('or before' in hop['sentence'], hop['since'] > int(true['start']), (hop, true))
                equal('or later' in hop['sentence'], hop['until'] < int(true['end']), (hop, true))
            whole = waiters(trace, at)
            for key, line in waiters(trace, at, '--past', '0').items():
                begins_before = line['since'] > whole[key]['since']
                earlier_waits += begins_before
                assert not begins_before or line['sentence'].endswith(' or before.'), (line, whole[key])
        assert early and late and earlier_waits, (early, late, earlier_waits)


@case
def what_comes_before_is_not_read():
    """An early packet is damaged so that the key of the trace stays as it is: only who reads it can say so. A file of
    states that belongs to neither the user nor the trace's owner is not used."""
    with temporary_directory() as folder:
        trace = record(folder, 'stream', '--stream')
        times = middle(trace)
        wanted = part(trace, folder, *times)
        index(trace, '--spacing', '20')
        status = os.stat(trace)
        write(trace, damaged(read(trace), 3))
        os.utime(trace, ns=(status.st_atime_ns, status.st_mtime_ns))
        same(part(trace, folder, *times), wanted)
        if os.geteuid() == 0:
            os.chown(trace + '.weft-index', 12345, 12345)
            assert 'offset 0x' in part(trace, folder, *times)[1]
            os.chown(trace + '.weft-index', 0, 0)
            same(part(trace, folder, *times), wanted)
        # The states are of the file at another time.
        os.utime(trace)
        assert 'offset 0x' in part(trace, folder, *times)[1]


@case
def a_trace_that_has_changed_is_read_whole():
    """Its time, its size, or its content at the end is another one."""
    with temporary_directory() as folder:
        trace = copy_stream(folder)
        index(trace, '--spacing', '20')
        longer = os.path.join(folder, 'longer.weft')
        content = read(trace)
        last = list(chunks(content))[-1]
        changed = bytearray(content)
        changed[-100] ^= 1 # in the last header
        for new in (content[:last[0]], bytes(changed), content):
            write(longer, new)
            times = middle(longer)
            wanted = part(longer, folder, *times)
            shutil.copy(trace + '.weft-index', longer + '.weft-index')
            same(part(longer, folder, *times), wanted)
            os.unlink(longer + '.weft-index')


@case
def a_damaged_file_of_states_is_not_used():
    rng = random.Random(SEED)
    with temporary_directory() as folder:
        trace = copy_stream(folder)
        times = middle(trace)
        wanted = part(trace, folder, *times)
        index(trace, '--spacing', '20')
        good = read(trace + '.weft-index')
        for _ in range(RANGES):
            bad = bytearray(good)
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            write(trace + '.weft-index', bad[:rng.choice([len(bad), rng.randrange(len(bad))])])
            same(part(trace, folder, *times), wanted)
        os.unlink(trace + '.weft-index')
        os.mkfifo(trace + '.weft-index')
        same(part(trace, folder, *times), wanted)


@case
def only_the_readers_of_a_trace_may_read_its_states():
    with temporary_directory() as folder:
        trace = copy_stream(folder)
        os.chmod(trace, 0o600)
        index(trace, '--spacing', '20')
        equal(os.stat(trace + '.weft-index').st_mode & 0o777, 0o600)


@case
def what_has_no_states_is_refused():
    with temporary_directory() as folder:
        def refused(content, reason, status=1):
            said = index(write(os.path.join(folder, 'other'), content), status=status)
            assert reason in said, said
            assert not os.path.exists(os.path.join(folder, 'other.weft-index'))

        refused(read(os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')), "only a file in weft's own format")
        # A ring that may be written to: its file may keep its time.
        refused(read(os.path.join(DATA, 'recorded', 'echo-server.weft')), "only a file in weft's own format")
        refused(b'no trace', 'no trace', 3)
        refused(damaged(read(STREAM), 0), 'is damaged')
        few = index(copy_stream(folder))
        assert 'has 288 events, no more than --spacing' in few and not os.path.exists(copy_stream(folder) + '.weft-index'), few
        weft('index', status=2)
        assert 'spacing' in weft('index', '--spacing', '0', STREAM, status=2).stderr


main()
