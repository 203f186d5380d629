# SPDX-License-Identifier: ISC
"""For the tests of traces of several hosts: traces of this one are changed as if they were of others."""
import gzip
import json
import os
import struct

from harness import DATA, json_lines, weft

# Positions in the header of a trace (src/abi/buffer_abi.h).
BOOT, READINGS, HOST, ADDED = 104, (136, 160, 184), 1048, 1912


def retime(path, name, offset_ns=0, ppm=0, wall_ns=0):
    """Changes the trace as if it were of a host of that name, whose clocks show something else."""
    with open(path, 'r+b') as file:
        file.seek(BOOT)
        file.write((name + ' boots').encode().ljust(16, b'.')[:16])
        file.seek(HOST)
        file.write(name.encode().ljust(64, b'\0'))
        start = None
        for position in READINGS:
            file.seek(position)
            ticks, monotonic, unix = struct.unpack('<3Q', file.read(24))
            if not ticks:
                continue
            start = start or monotonic
            monotonic = start + offset_ns + (monotonic - start) * (1000000 + ppm) // 1000000
            file.seek(position)
            file.write(struct.pack('<3Q', ticks, monotonic, unix + wall_ns if unix else 0))
        file.seek(ADDED)
        file.write(bytes(16))  # tables with what is known of the true host's wall clock


def streams_of_two(folder):
    """Streams of a server on alpha and its client on beta, which were recorded by one clock, but name different boots."""
    paths = [os.path.join(folder, name + '.weft') for name in ('alpha', 'beta')]
    for path in paths:
        with gzip.open(os.path.join(DATA, 'recorded', 'host-%s.gz' % os.path.basename(path))) as packed, open(path, 'wb') as file:
            file.write(packed.read())
    return paths


def times(*files):
    """The times of each buffer's events."""
    result = {}
    for event in json_lines(weft('dump', '--json', *files).stdout):
        result.setdefault(event.get('buffer', 0), []).append(event['time'])
    return result


def hosts_of(*files):
    return json.loads(weft('info', '--json', *files).stdout)['hosts']
