# SPDX-License-Identifier: ISC
"""The parts of traces that are too large for a page: what weft serve says and sends of them."""
import json
import os
import random

from harness import BUILD, DATA, case, equal, json_lines, main, temporary_directory, weft
from server import Server, id_of

SUBJECT = os.path.join(BUILD, 'tests', 'stream-subject')
SMALL = os.path.join(DATA, 'recorded', 'threads-stream.weft')
FOREIGN = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
RANGES = int(os.environ.get('WEFT_PART_RANGES', 8))


def record_large(folder, events=30000):
    """A stream of three threads, 1.4 MB."""
    path = os.path.join(folder, 'large.weft')
    weft('record', '-a', 'none', '--stream', '-o', path, '--', SUBJECT, os.path.join(folder, 'counters'), str(events), '0')
    assert os.path.getsize(path) > 1 << 20, os.path.getsize(path)
    return path


def info_of(path):
    return json.loads(weft('info', '--json', path).stdout)


def events_of(path, start, end):
    """The trace's own events from `start` on, before `end`, with the fields that are the same in each trace of a part."""
    lines = json_lines(weft('dump', '--json', path).stdout)
    return [{key: line.get(key) for key in ('time', 'type', 'task', 'thread', 'value', 'text', 'name')}
            for line in lines if start <= line['time'] < end and not line.get('rundown')]


@case
def large_traces_are_listed_with_the_size_of_their_parts():
    with temporary_directory() as folder:
        record_large(folder)
        with Server('--whole', '1M', folder, SMALL) as server:
            sizes = {trace['name']: trace.get('part_bytes') for trace in server.traces() if not trace.get('pid')}
        equal(sizes['large.weft'], 1 << 16)
        equal(sizes[os.path.basename(SMALL)], None)
        with Server(folder) as server:
            equal([trace.get('part_bytes') for trace in server.traces() if trace['name'] == 'large.weft'], [None])


@case
def the_density_has_all_bytes_and_the_times_of_the_trace():
    with temporary_directory() as folder:
        path = record_large(folder)
        with Server(path, SMALL) as server:
            for trace in (path, SMALL):
                status, headers, body = server.get('/api/density/' + id_of(server, os.path.basename(trace)))
                density, info = json.loads(body), info_of(trace)
                equal((status, headers['content-type']), (200, 'application/json'))
                equal((density['start'], density['end']), (info['start'], json_lines(weft('dump', '--json', trace).stdout)[-1]['time']))
                equal(len(density['bytes']), 1024)
                packets = sum(density['bytes']) / os.path.getsize(trace)  # the rest of the file describes the trace
                assert (0.9 if trace == path else 0.2) < packets < 1, packets


def check_parts(server, path, folder):
    info, rng = info_of(path), random.Random('parts')
    for number in range(RANGES):
        start = rng.randint(info['start'], info['end'])
        end = start + rng.randint(1, (info['end'] - info['start']) // 8)
        status, _, body = server.get('/api/part/%s?start=%d&end=%d' % (id_of(server, 'large.weft'), start, end))
        equal(status, 200)
        part = os.path.join(folder, 'part-%d' % number)
        with open(part, 'wb') as file:
            file.write(body)
        equal(events_of(part, 0, 2**64), events_of(path, start, end), (start, end))


@case
def a_part_has_the_events_of_its_time():
    """Also where there is a state to begin with, beside the trace."""
    with temporary_directory() as folder, temporary_directory() as parts:
        path = record_large(folder)
        with Server(path) as server:
            check_parts(server, path, parts)
            weft('index', path)
            check_parts(server, path, parts)


@case
def a_part_needs_two_times_and_a_trace_that_has_parts():
    with Server(SMALL, FOREIGN) as server:
        one, other = id_of(server, os.path.basename(SMALL)), id_of(server, os.path.basename(FOREIGN))
        for query in ('', '?start=1', '?end=5', '?start=x&end=5', '?start=5&end=5', '?start=6&end=5', '?start=-1&end=5',
                      '?start=1&end=99999999999999999999999'):
            equal(server.get('/api/part/' + one + query)[0], 400, query)
        for path in ('density/' + other, 'part/' + 'f' * 16 + '?start=1&end=2', 'density/x', 'density/', 'part/'):
            assert server.get('/api/' + path)[0] in (404, 409), path
        for path in ('density/' + one, 'part/' + one + '?start=1&end=2'):
            equal(server.get('/api/' + path, token=False)[0], 403)
        # Outside of the trace there is nothing, and all of it is a part as well.
        for query in ('?start=1&end=2', '?start=%d&end=%d' % (2**63, 2**64 - 1), '?start=0&end=%d' % (2**64 - 1)):
            equal(server.get('/api/part/' + one + query)[0], 200, query)


main()
