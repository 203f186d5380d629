# SPDX-License-Identifier: ISC
"""Traces of hosts between which there are no messages: they are placed by the errors that the hosts' time services knew."""
import ctypes
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

from harness import BUILD, WEFT, case, equal, main, temporary_directory, weft
from traces_of_hosts import ADDED, hosts_of, retime, times
from waiting import communicate, wait_until

TABLE, METRICS, OF_CLOCK = 9, 2, 3
METRIC_TYPES = os.path.join(BUILD, 'tests', 'metric-types-subject')
STREAM = os.path.join(BUILD, 'tests', 'stream-subject')
SHIM = os.path.join(BUILD, 'tests', 'wall-clock-shim.so')


def add_notes(path, *rows):
    """Puts a table of (monotonic_ns, wall_ns, error_ns) behind the trace, as `weft record` does."""
    with open(path, 'r+b') as file:
        at = (file.seek(0, os.SEEK_END) + 63) // 64 * 64
        table = struct.pack('<HBBIIIIIQ', TABLE, 0, OF_CLOCK, 32, len(rows), len(rows), 0, 0, 0)
        table += b''.join(struct.pack('<4Q', *row, 1000) for row in rows)
        file.seek(at)
        file.write(table)
        file.seek(ADDED)
        file.write(struct.pack('<2Q', at, len(table)))


def tables_of(path):
    return {table.get('name', table['number']): table.get('rows') for table in json.loads(weft('info', '--json', path).stdout)['tables']}


def record_two(folder):
    paths = [os.path.join(folder, name) for name in ('alpha.weft', 'beta.weft')]
    for path in paths:
        weft('record', '-o', path, 'sh', '-c', 'echo | cat', env={'WEFT_ADAPTERS': ''})
    return paths


@case
def the_truth_lies_within_the_error_without_messages():
    """Beta's wall clock was 4 s behind when its program began, then it was set, to 1 ms more than the true time."""
    offset, ms = 3600 * 10**9, 10**6
    with temporary_directory() as folder:
        paths = record_two(folder)
        truth = times(*paths)
        retime(paths[0], 'alpha')
        retime(paths[1], 'beta', offset, 0, -4 * 10**9)
        assert 'so nothing aligns its clock' in weft('info', *paths).stdout
        now, wall = time.monotonic_ns(), time.time_ns()
        add_notes(paths[0], (now - 10**9, wall - 10**9, 2 * ms), (now, wall, 2 * ms))
        add_notes(paths[1], (now + offset, wall + ms, 3 * ms))
        host = hosts_of(*paths)[1]
        equal((host['host'], host['alignment'], host['pairs'], host['by_wall_clock']), ('beta', 'bounded', 0, True))
        got = times(*paths)
        begin = got[0][0] - truth[0][0]
        worst = max(abs(a - begin - b) for a, b in zip(got[1], truth[1]))
        assert worst <= host['error'] + 100, (worst, host)
        assert 4 * ms < host['error'] < 5 * ms + (time.monotonic_ns() - min(truth[0])) / 1000 + ms, host
        said = weft('merge', *paths, '-o', os.path.join(folder, 'both.weft')).stderr
        assert re.search(r'^host beta: moved by \+4 s ± \S+ ms, drift .* ppm, from the errors of both wall clocks that NTP knew$', said, re.M), said
        equal(hosts_of(os.path.join(folder, 'both.weft')), hosts_of(*paths))
        assert 'beta: not aligned' in weft('info', '--no-align', *paths).stdout
        part = os.path.join(folder, 'part.weft')
        weft('cut', paths[1], '-o', part)
        equal(tables_of(part)['wall_clock'], tables_of(paths[1])['wall_clock'])
        equal(hosts_of(paths[0], part)[1]['by_wall_clock'], True)


class Timex(ctypes.Structure):
    _fields_ = [('modes', ctypes.c_uint), ('offset', ctypes.c_long), ('freq', ctypes.c_long), ('maxerror', ctypes.c_long),
                ('esterror', ctypes.c_long), ('rest', ctypes.c_long * 60)]


def is_bounded():
    timex = Timex()
    ctypes.CDLL(None).adjtimex(ctypes.byref(timex))
    return 0 < timex.esterror <= timex.maxerror < 16000000


@case
def a_trace_has_what_the_kernel_knows():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'a.weft')
        before = is_bounded()
        weft('record', '-o', path, 'sh', '-c', 'echo | cat', env={'WEFT_ADAPTERS': ''})
        if before == is_bounded():
            equal('wall_clock' in tables_of(path), before)


def service(most, estimate):
    """Variables with which a time service seems to say that; none runs here."""
    return {'LD_PRELOAD': SHIM, 'WEFT_TIMEX': '%d %d' % (most, estimate)}


def record_with(folder, most, estimate, *command, **options):
    """The tables of a trace."""
    path = os.path.join(folder, 'a.weft')
    weft('record', '-o', path, '--', *command, env=dict(service(most, estimate), WEFT_ADAPTERS='', XDG_RUNTIME_DIR=folder), **options)
    return tables_of(path)


@case
def what_a_time_service_knows_is_noted_at_start_and_end():
    begin = time.monotonic_ns()
    for command, status, text in (((sys.executable, '-c', 'pass'), 0, ''), ((METRIC_TYPES,), 0, 'open 7\n'),
                                  ((sys.executable, '-c', 'import os; os.kill(os.getpid(), 9)'), 128 + signal.SIGKILL, '')):
        with temporary_directory() as folder:
            tables = record_with(folder, 5000, 100, *command, status=status, input=text)
            first, last = tables['wall_clock']
            assert begin <= first['monotonic_ns'] < last['monotonic_ns'] <= time.monotonic_ns(), tables
            for row in first, last:
                assert 5000000 <= row['error_ns'] and row['estimate_ns'] == 100000, row
                assert abs(row['wall_ns'] - row['monotonic_ns'] - (time.time_ns() - time.monotonic_ns())) < 10**9, row
            assert command[0] != METRIC_TYPES or METRICS in tables, tables  # a table beside it


@case
def each_file_of_a_stream_has_it():
    """At its beginning, and at the stream's end."""
    for options in (), ('--zstd',), ('--rotate', '200K'):
        with temporary_directory() as folder:
            weft('record', '--stream', *options, '-o', os.path.join(folder, 'a.weft'), '--', STREAM, os.path.join(folder, 'counters'), '5000', '0',
                 env=dict(service(5000, 100), WEFT_ADAPTERS='', XDG_RUNTIME_DIR=folder))
            files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if '.weft' in name)
            assert len(files) > 1 or '--rotate' not in options, files
            notes = [tables_of(path)['wall_clock'] for path in files]
            equal([len(rows) for rows in notes], [1] * (len(files) - 1) + [2])
            rows = [row for some in notes for row in some]
            equal(rows, sorted(rows, key=lambda row: row['monotonic_ns']))
            assert all(5000000 <= row['error_ns'] and row['estimate_ns'] == 100000 for row in rows), rows


@case
def an_error_that_no_service_computed_is_not_noted():
    """systemd-timesyncd says that there is none, phc2sys sets one of the two, and without a service both are 16 s."""
    for most, estimate in ((0, 0), (500, 0), (500, 16000000), (16000000, 16000000), (500, 501)):
        with temporary_directory() as folder:
            assert 'wall_clock' not in record_with(folder, most, estimate, 'sh', '-c', 'echo | cat'), (most, estimate)


@case
def a_snapshot_of_a_program_that_runs_has_it():
    with temporary_directory() as folder:
        path, env = os.path.join(folder, 'snapshot.weft'), dict(service(5000, 100), WEFT_ADAPTERS='', XDG_RUNTIME_DIR=folder)
        code = 'import os, sys, threading; threading.Event().wait(0); print(os.getpid(), flush=True); sys.stdin.read()'
        with subprocess.Popen([WEFT, 'record', '-o', os.path.join(folder, 'b.weft'), sys.executable, '-c', code], env=dict(os.environ, **env),
                              stdin=-1, stdout=-1, stderr=-1) as process:
            pid = process.stdout.readline().decode().strip()
            wait_until('a snapshot is taken', lambda: weft('ctl', pid, 'snapshot', '-o', path, status=None, env=env).returncode == 0)
            communicate(process)
        equal(len(tables_of(path)['wall_clock']), 1)
        equal(len(tables_of(os.path.join(folder, 'b.weft'))['wall_clock']), 2)


main()
