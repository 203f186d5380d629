# SPDX-License-Identifier: ISC
"""Commands that read only a range of a trace: what they say of it is what they say of it in the whole trace, or is left out.

    WEFT_RANGES=500 WEFT_RANGE_SEED=7 tests/e2e/range.py     tests more, other cases
"""
import csv
import io
import json
import os
import random

from harness import BUILD, DATA, case, equal, main, run, temporary_directory, weft

RANGES = int(os.environ.get('WEFT_RANGES', 12))
SEED = int(os.environ.get('WEFT_RANGE_SEED', 1))
RECORDED = [os.path.join(DATA, 'recorded', name) for name in ('echo-server.weft', 'threads-stream.weft')]


def query(trace, sql, *options):
    return list(csv.DictReader(io.StringIO(weft('query', '--csv', trace, sql, *options).stdout)))


def record(folder, calls):
    """Three threads and every call there is."""
    path = os.path.join(folder, 'random.weft')
    result = run([os.path.join(BUILD, 'tests', 'random_calls'), path, SEED, calls])
    assert result.returncode == 0, result
    return path


def time_of_all(trace):
    info = json.loads(weft('info', '--json', trace).stdout)
    return info['start'], info['end']


def random_ranges(trace):
    rng = random.Random('range %d %s' % (SEED, os.path.basename(trace)))
    first, last = time_of_all(trace)
    for _ in range(RANGES):
        start = rng.randint(first, last)
        yield start, start + rng.randint(1, (last - first) // 4 + 1), rng.choice([0, (last - first) // 10, last - first])


def range_options(start, end):
    return ['--start', '@%d' % start, '--duration', '%dns' % (end - start)]


ENDED = "SELECT id, process, end, outcome, failed FROM tasks WHERE resolved AND end >= %d AND end < %d ORDER BY process, id"
RAN = ("SELECT id, tasks.process, thread, sum(min(activations.end, %d) - max(activations.start, %d)) AS ns FROM activations JOIN tasks "
       "USING (task) WHERE activations.end > %d AND activations.start < %d GROUP BY id, tasks.process, thread ORDER BY 2, 1, 3")


@case
def a_query_of_a_range_says_what_the_whole_trace_says():
    """Which tasks ended and how, and what threads ran."""
    for trace in RECORDED:
        for start, end, _ in random_ranges(trace):
            for sql in (ENDED % (start, end), RAN % (end, start, start, end)):
                equal(query(trace, sql, *range_options(start, end)), query(trace, sql), (trace, start, end, sql))


@case
def what_was_not_read_is_dark():
    trace = RECORDED[1]
    first, last = time_of_all(trace)
    start, end = first + (last - first) // 4, first + (last - first) // 2
    dark = query(trace, 'SELECT * FROM dark', *range_options(start, end))
    equal([(int(row['start']), int(row['end']), row['reason']) for row in dark],
          [(first, start, 'unread'), (end, last, 'unread')])
    outcomes = query(trace, 'SELECT DISTINCT outcome FROM tasks WHERE NOT resolved', *range_options(start, end))
    equal([row['outcome'] for row in outcomes], ['unknown'])
    result = weft('query', trace, 'SELECT count(*) FROM tasks', *range_options(start, end))
    assert 'what tasks did outside of that is not known' in result.stderr, result.stderr
    # Up to the end of the trace, nothing is dark behind the range.
    equal(len(query(trace, 'SELECT * FROM dark', '--start', '@%d' % start)), 1)


def stats(trace, *options):
    return json.loads(weft('stats', '--json', '--by', 'thread', trace, *options).stdout)


@case
def statistics_of_a_range_know_the_running_time():
    """By thread, where each has the same name in both."""
    for trace in RECORDED:
        for start, end, past in random_ranges(trace):
            options = range_options(start, end)
            whole, part = stats(trace, *options), stats(trace, *options, '--past', '%dns' % past)
            for key in ('start', 'end'):
                equal(part[key], whole[key], (trace, start, end))
            ran = [{row['name']: row['running'] for row in of['rows'] if row['running']} for of in (whole, part)]
            equal(ran[1], ran[0], (trace, start, end, past))


@case
def all_of_the_past_gives_the_same_statistics():
    """Up to the trace's end there is nothing left that was not read."""
    for trace in RECORDED:
        first, last = time_of_all(trace)
        options = ['--start', '@%d' % (first + (last - first) // 2)]
        equal(weft('stats', trace, *options, '--past', '3600s').stdout, weft('stats', trace, *options).stdout)


@case
def a_process_goes_on_behind_a_range():
    """Among several, a record without a known end ends with its last event, but not with the last one of the range."""
    options = ['stats', '--json', os.path.join(DATA, 'recorded'), '--start', '1ms', '--duration', '1ms']
    names = [{row['name']: (row['count'], row['running']) for row in json.loads(weft(*options, *past).stdout)['rows']}
             for past in ([], ['--past', '1ms'])]
    named = {name: value for name, value in names[1].items() if name} # some get their label later
    equal(named, {name: names[0][name] for name in named})
    equal(len(named), 5)


@case
def a_life_that_began_before_is_in_no_lifetime():
    with temporary_directory() as folder:
        trace = record(folder, 2000)
        first, last = time_of_all(trace)
        options = range_options(first + (last - first) // 3, last - (last - first) // 3)
        rows = json.loads(weft('stats', '--json', '--by', 'kind', trace, *options, '--past', '0ns').stdout)['rows']
        for row in rows:
            if row['name'] == 'preexisting':
                equal(row['ended'], 0)


@case
def pictures_flame_graphs_and_answers_take_a_past():
    trace = RECORDED[1]
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out.svg')
        result = weft('render', trace, '-o', out, '--start', '1ms', '--duration', '500us', '--past', '100us')
        assert 'read from 900 us to 1.5 ms' in result.stderr, result.stderr
        with open(out) as file:
            assert '600 us of 159.6 ms' in file.read()
        result = weft('render', trace, '-o', os.path.join(folder, 'out.html'), '--past', '1ms', status=2)
        assert 'is not for pages' in result.stderr, result.stderr
    result = weft('why', trace, '--at', '1ms', '--past', '10us', status=1)
    assert 'no task is known to wait' in result.stderr, result.stderr
    assert 'goes with --at' in weft('why', trace, '--past', '1ms', status=2).stderr
    weft('flame', trace, '--start', '1ms', '--duration', '1ms', '--past', '1ms', status=1) # no waits were noted
    for command in (['stats', '--by', 'vcpu', trace], ['stats', '--diff', '--start', '0', '--start', '1ms', trace]):
        assert 'one range' in weft(*command, '--past', '1ms', status=2).stderr


@case
def exports_that_are_not_of_a_range_refuse_one():
    with temporary_directory() as folder:
        result = weft('export', '--to', 'ctf', '--start', '1ms', RECORDED[0], os.path.join(folder, 'out'), status=2)
        assert 'use weft cut' in result.stderr, result.stderr
        database = os.path.join(folder, 'out.db')
        weft('export', '--to', 'sqlite', '--start', '1ms', '--duration', '1ms', RECORDED[1], database)
        assert os.path.getsize(database) > 0


@case
def a_range_behind_the_trace_is_empty():
    for trace in RECORDED:
        result = weft('stats', trace, '--start', '3600s', '--past', '1ms')
        assert 'no event in that range' in result.stderr, result.stderr


@case
def a_range_before_the_trace_is_empty():
    for command in (['stats', RECORDED[1]], ['query', RECORDED[1], 'SELECT count(*) FROM tasks']):
        result = weft(*command, '--start', '@1', '--duration', '5ms', *(['--past', '0'] if command[0] == 'stats' else []))
        assert 'read from 0 ns to 0 ns' in result.stderr and 'no event in that range' in result.stderr, result.stderr
        assert 'valid trace' not in result.stderr, result.stderr


main()
