# SPDX-License-Identifier: ISC
"""Traces for the tests of weft query, its rows, and how they are compared with those of other commands."""
import collections
import json
import os
import subprocess

from harness import BUILD, DATA, equal, json_lines, skip, temporary_directory, weft

ECHO = os.path.join(BUILD, 'examples', 'echo-server')
TRACES = [os.path.join(DATA, 'traces', name) for name in ('mirage-block-read.sexp', 'mirage-arp-good.ctf', 'xen-lost-2cpu.xentrace.xz')]
_recorded = {}


def has_sqlite():
    if 'built without' in weft('query', TRACES[0], 'SELECT 1 ', status=None).stderr:
        skip('this build has no SQLite')


def query(sql, *traces, **options):
    return json_lines(weft('query', '--json', *traces, sql, **options).stdout)


def recorded():
    """A trace of the example server, with spans, counters and messages."""
    if 'echo' not in _recorded:
        with temporary_directory() as folder:
            weft('record', '-o', 'echo.weft', ECHO, cwd=folder)
            with open(os.path.join(folder, 'echo.weft'), 'rb') as file:
                _recorded['echo'] = file.read()
    return _recorded['echo']


def each_trace(with_part=False):
    """Yields traces of all formats, one that is recorded here, perhaps a part of it, and a trace of several processes."""
    with temporary_directory() as folder:
        echo = os.path.join(folder, 'echo.weft')
        with open(echo, 'wb') as file:
            file.write(recorded())
        for trace in TRACES:
            if trace.endswith('.xz'):
                unpacked = os.path.join(folder, os.path.basename(trace)[:-3])
                with open(unpacked, 'wb') as file:
                    subprocess.run(['xz', '-dc', trace], stdout=file, check=True)
                trace = unpacked
            yield [trace]
        yield [echo]
        if with_part:
            part = os.path.join(folder, 'part.weft')
            weft('cut', '--start', '20ms', echo, '-o', part)
            yield [part]
        other = os.path.join(folder, 'other.weft')
        weft('record', '-o', other, ECHO)
        yield [echo, other]  # two processes of one boot


def without(row, *keys):
    return {key: value for key, value in row.items() if key not in keys and value is not None}


def key_of(row):
    return json.dumps(row, sort_keys=True)


def same_rows(found, expected):
    found, expected = collections.Counter(map(key_of, found)), collections.Counter(map(key_of, expected))
    equal(found - expected, expected - found)  # both are empty
