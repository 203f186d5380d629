# SPDX-License-Identifier: ISC
"""Metrics with types and labels of running programs: recorded or not, in forked children, and their children."""
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import time

from counting import RUN_QUEUE, TYPED, Program, program
from harness import WEFT, case, equal, json_lines, main, skip, temporary_directory, weft
from prometheus import families
from waiting import wait_until

SOME = {('tcp_acked',): 112, ('tcp_acked', 'eu'): 12, ('tcp_acked', 'eu', 'acme'): 5, ('tcp_acked', 'eu', 'other'): 7,
        ('tcp_acked', 'us'): 100, ('tcp_acked', 'us', 'acme'): 100, ('open/streams',): 3, ('latency',): 2}


def values(pid, *options):
    """{(name, label values…): value} of all levels."""
    lines = json_lines(weft('metrics', '--json', *options, pid).stdout)
    return {(line['counter'], *line.get('labels', {}).values()): line['value'] for line in lines if line['counter'] != RUN_QUEUE}


def count_some(it):
    it.tell('acked eu acme 5', 'acked eu other 7', 'acked us acme 100', 'open 3', 'latency 1500', 'latency 3000000')


@case
def levels_have_the_totals_of_what_is_below_them():
    with program(subject=TYPED) as it:
        count_some(it)
        equal(values(it.pid), SOME)
        line = json_lines(weft('metrics', '--json', it.pid).stdout)[0]
        equal((line['type'], line['unit']), ('counter', 'bytes'))


@case
def the_largest_value_of_late_is_an_exemplar():
    with program(subject=TYPED) as it:
        it.tell('latency 1500', 'latency 3000000', 'latency 2000')
        line, = [line for line in json_lines(weft('metrics', '--json', it.pid).stdout) if line['counter'] == 'latency']
        equal((line['exemplar']['value'], line['exemplar']['task']), (0.003, None))
        assert abs(line['exemplar']['unix'] - time.time()) < 3600 and line['exemplar']['time'] > 0, line
        found, = families(weft('metrics', '--openmetrics', it.pid).stdout, 'openmetrics')['latency_seconds']['exemplars']
        equal((found[0], found[1]['le'], found[2:4]), ('latency_seconds_bucket', '0.004194304', [{}, 0.003]))
        equal(families(weft('metrics', '--prometheus', it.pid).stdout, 'prometheus')['latency_seconds']['exemplars'], [])


@case
def a_program_points_at_a_change():
    with program(subject=TYPED) as it:
        it.tell('acked eu acme 5', 'look 5')
        marked = [line['labels'] for line in json_lines(weft('metrics', '--json', it.pid).stdout) if 'exemplar' in line]
        equal(marked, [{'pool': 'eu', 'customer': 'acme'}])
        found, = families(weft('metrics', '--openmetrics', it.pid).stdout, 'openmetrics')['tcp_acked_bytes']['exemplars']
        equal((found[0], found[3]), ('tcp_acked_bytes_total', 5))


@case
def a_recorded_program_has_them_too():
    with temporary_directory() as folder, program(WEFT, 'record', '-o', os.path.join(folder, 'trace.weft'), '--', subject=TYPED) as it:
        count_some(it)
        equal(values(it.pid), SOME)
        assert str(it.pid) in weft('metrics').stdout


def in_trace(file):
    """The same of the values at the end of a trace."""
    lines = json.loads(weft('info', '--json', file).stdout)['metrics']
    return {(line['counter'], *line.get('labels', {}).values()): line['value'] for line in lines}


def record_some(file, *command, options=()):
    return subprocess.run([WEFT, 'record', *options, '-o', file, '--', *command, TYPED], text=True, capture_output=True, check=True,
                          input='acked eu acme 5\nacked eu other 7\nacked us acme 100\nopen 3\nlatency 1500\nlatency 3000000\n')


@case
def a_trace_has_the_values_at_its_end():
    with temporary_directory() as folder:
        file = os.path.join(folder, 'trace.weft')
        record_some(file)
        equal(in_trace(file), SOME)
        shown = weft('info', file).stdout.split('value at the end')[1]
        assert 'tcp_acked{pool="eu",customer="acme"}  bytes' in shown, shown
        assert 'mean 0.001501, 50 % up to 1.579e-06, 99 % up to 0.003234 seconds' in shown, shown
        stats = weft('stats', file).stdout.split('values at the end')[1].splitlines()[1:]
        equal([line.split() for line in stats],
              ['2 latency mean 0.001501, 50 % up to 1.579e-06, 99 % up to 0.003234 seconds'.split()])
        histogram, = json.loads(weft('stats', '--json', '--start', '3600s', file).stdout)['histograms']
        equal((histogram['counter'], histogram['value'], histogram['sum'], len(histogram['buckets'])), ('latency', 2, 0.0030015, 2))
        equal(values(file), SOME)
        equal(values(folder), SOME)
        exposition = weft('metrics', '--openmetrics', file).stdout
        assert 'latency_seconds_sum{program="metric-types-subject"' in exposition, exposition
        tree = weft('top', folder).stdout
        assert '5 B        customer=acme' in ' '.join(tree.split('\n')), tree
        weft('metrics', '--children', file, status=2)
        weft('top', '--children', file, status=2)
        weft('metrics', file, '1', status=3)


@case
def histograms_are_tables_of_queries():
    with temporary_directory() as folder:
        file = os.path.join(folder, 'trace.weft')
        record_some(file)
        result = weft('query', '--json', file, 'SELECT name, labels, unit, histograms.count AS all_of, sum, up_to, buckets.count FROM histograms '
                      'JOIN buckets USING (histogram) ORDER BY up_to', status=None)
        if 'built without' in result.stderr:
            skip('this build has no SQLite')
        row = {'name': 'latency', 'labels': '{}', 'unit': 'seconds', 'all_of': 2, 'sum': 0.0030015, 'count': 1}
        limits = [bound for bound, _ in json.loads(weft('stats', '--json', file).stdout)['histograms'][0]['buckets']]
        equal([json.loads(line) for line in result.stdout.splitlines()], [{**row, 'up_to': limit} for limit in limits])


@case
def so_they_are_of_a_program_that_runs():
    with temporary_directory() as folder, program(WEFT, 'record', '-o', os.path.join(folder, 'trace.weft'), '--', subject=TYPED) as it:
        count_some(it)
        it.tell('mark')
        equal(in_trace(it.pid), SOME)
        result = weft('query', '--json', it.pid, 'SELECT name, count, sum FROM histograms', status=None)
        if 'built without' not in result.stderr:
            equal(json_lines(result.stdout), [{'name': 'latency', 'count': 2, 'sum': 0.0030015}])


@case
def histograms_of_several_programs_are_listed_by_program():
    with temporary_directory() as folder:
        files = [os.path.join(folder, '%d.weft' % number) for number in (1, 2)]
        for file in files:
            record_some(file)
        pids = [json.loads(weft('stats', '--json', file).stdout)['histograms'][0]['pid'] for file in files]
        shown = re.findall(r'^values at the end +histogram of metric-types-subject (\d+)\n2 +latency ', weft('stats', *files).stdout, re.M)
        equal(sorted(map(int, shown)), sorted(pids))
        equal(sorted(it['pid'] for it in json.loads(weft('stats', '--json', *files).stdout)['histograms']), sorted(pids))


@case
def a_trace_on_standard_output_has_them():
    with temporary_directory() as folder:
        file = os.path.join(folder, 'trace.weft')
        with open(file, 'wb') as output:
            subprocess.run([WEFT, 'record', '-o', '-', '--', 'sh', '-c', 'printf "open 3\n" | %s > /dev/null' % TYPED], stdout=output, check=True)
        equal(in_trace(file), {('open/streams',): 3})


@case
def a_killed_program_leaves_them_in_its_trace():
    for options in [], ['--stream']:
        with temporary_directory() as folder:
            file = os.path.join(folder, 'trace.weft')
            record = subprocess.Popen([WEFT, 'record', *options, '-o', file, '--', TYPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True)
            pid = int(record.stdout.readline())
            record.stdin.write('open 4\n')
            record.stdin.flush()
            record.stdout.readline()
            os.kill(pid, signal.SIGKILL)
            record.stdin.close()
            record.wait()
            record.stdout.close()
            equal(in_trace(file), {('open/streams',): 4})


@case
def a_stream_has_the_values_at_its_end():
    for options in ['--stream'], ['--stream', '--rotate', '64M'], ['--stream', '--zstd']:
        with temporary_directory() as folder:
            record_some(os.path.join(folder, 'trace.weft'), options=options)
            file, = [os.path.join(folder, name) for name in os.listdir(folder)]
            equal(in_trace(file), SOME, options)
            part = os.path.join(folder, 'part.weft')
            weft('cut', file, '-o', part)
            equal(in_trace(part), SOME)  # it is the whole trace


def stream_until_told(it, folder, line):
    """The stream of a program, which goes on: from before the line to after it."""
    file = os.path.join(folder, 'trace.weft')
    with subprocess.Popen([WEFT, 'record', '--stream', '-p', str(it.pid), '-o', file], stderr=subprocess.DEVNULL,
                          env=dict(os.environ, XDG_RUNTIME_DIR=folder)) as recorder:
        def records():
            it.tell('mark')
            return os.path.exists(file)
        try:
            wait_until('it records', records, recorder)
            it.tell(line)
        finally:
            recorder.send_signal(signal.SIGINT)
    return file


@case
def so_has_a_stream_that_ends_before_its_program():
    """It records for this stream alone; or it is recorded already, and makes its first metric just before the end."""
    for command, first in ([], 'open 3'), ([WEFT, 'record', '-o', 'whole.weft', '--'], 'mark'):
        with temporary_directory() as folder:
            command = [os.path.join(folder, word) if word == 'whole.weft' else word for word in command]
            with program(*command, subject=TYPED, XDG_RUNTIME_DIR=folder, WEFT_AGENT='none') as it:
                it.tell(first)
                equal(in_trace(stream_until_told(it, folder, 'open 8')), {('open/streams',): 8}, command)


def count_metrics_held(recorder):
    folder = '/proc/%d/fd' % recorder
    links = []
    for fd in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(os.path.join(folder, fd)))
    return sum('metrics' in link for link in links)


@case
def so_has_a_stream_that_was_attached_when_its_program_ends():
    """The recorder adds the values to the ring, too, which the stream must not take for its own."""
    for first, ending in itertools.product(('open 3', 'mark'), ('exits', 'killed')):
        with temporary_directory() as folder:
            file = os.path.join(folder, 'trace.weft')
            it = Program(subject=TYPED, XDG_RUNTIME_DIR=folder, WEFT_AGENT='none')
            it.tell(first)
            with subprocess.Popen([WEFT, 'record', '--stream', '-p', str(it.pid), '-o', file], stderr=subprocess.DEVNULL,
                                  env=dict(os.environ, XDG_RUNTIME_DIR=folder)) as recorder:
                def is_found(it=it, recorder=recorder, file=file, held=2 if first == 'open 3' else 0):
                    it.tell('mark')
                    return os.path.exists(file) and count_metrics_held(recorder.pid) >= held  # for the stream, and for the ring
                wait_until('the values are found', is_found, recorder)
                it.tell('open 5')  # the first metric, if it has none yet: beside its ring
                if ending == 'killed':
                    it.process.kill()
                it.process.communicate()
            equal(in_trace(file), {('open/streams',): 5}, (first, ending))


@case
def a_snapshot_has_the_values_of_its_time():
    with temporary_directory() as folder, program(WEFT, 'record', '-o', os.path.join(folder, 'trace.weft'), '--', subject=TYPED) as it:
        file = os.path.join(folder, 'snapshot.weft')
        it.tell('open 3')
        weft('ctl', it.pid, 'snapshot', '-o', file)
        it.tell('open 8')
        equal(in_trace(file), {('open/streams',): 3})
        part = os.path.join(folder, 'part.weft')
        weft('cut', file, '-o', part)
        equal(in_trace(part), {('open/streams',): 3})  # it is the whole trace


@case
def a_trace_without_metrics_shows_none():
    with temporary_directory() as folder:
        file = os.path.join(folder, 'trace.weft')
        subprocess.run([WEFT, 'record', '-o', file, '--', TYPED], stdin=subprocess.DEVNULL, capture_output=True, check=True)
        equal(in_trace(file), {})
        assert 'value at the end' not in weft('info', file).stdout
        weft('metrics', file, status=1)
        weft('top', file, status=1)


@case
def a_forked_child_begins_with_zeros():
    with program(subject=TYPED) as it:
        count_some(it)
        it.tell('fork', 'acked eu acme 1')
        assert it.pid != it.parent
        equal(values(it.parent), SOME)
        mine = values(it.pid)
        equal((mine[('tcp_acked', 'eu', 'acme')], mine[('tcp_acked',)], mine[('open/streams',)]), (1, 1, 0))


@case
def children_come_and_go_and_their_levels_keep_what_they_counted():
    with program(subject=TYPED) as it:
        it.tell('stream 8')
        equal(values(it.pid, '--children'), {('tcp_acked', 'eu', 'acme', '4711'): 8})
        equal(values(it.pid)[('tcp_acked', 'eu', 'acme')], 8)
        it.tell('end')
        equal(weft('metrics', '--json', '--children', it.pid, status=1).stdout, '')
        equal(values(it.pid)[('tcp_acked', 'eu', 'acme')], 8)


@case
def a_series_for_each_child_is_refused():
    weft('metrics', '--children', '--openmetrics', status=2)


main()
