# SPDX-License-Identifier: ISC
"""weft stats: tables, JSON and CSV, of samples and of recorded examples. oracle.py compares the numbers of random traces
with a second implementation."""
import csv
import io
import json
import os
import re
import subprocess

from harness import BUILD, DATA, WEFT, case, equal, json_lines, main, ring_lines, run, temporary_directory, weft
from waiting import let_pass, wait_until
from traces import mirage

ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
ECHO = os.path.join(DATA, 'recorded', 'echo-server.weft')


def stats(*args, **options):
    return json.loads(weft('stats', '--json', *args, **options).stdout)


def row_of(found, name):
    row, = [row for row in found['rows'] if row['name'] == name]
    return row


def made(folder, events):
    path = os.path.join(folder, 'made.ctf')
    with open(path, 'wb') as file:
        file.write(mirage(events))
    return path


@case
def a_table_for_people():
    lines = weft('stats', '--limit', '3', ECHO).stdout.splitlines()
    equal(lines[0], ECHO + ': 75.3 ms, idle for 61.8 % of it')
    equal(lines[2:7], [
        'count  unfinished      p50      p90      p99      max  running  waiting  tasks',
        "    3              70.5 ms  70.5 ms  70.5 ms  70.6 ms   132 us   211 ms  task 'connection #'",
        "   11           1  9.04 ms  14.3 ms  14.3 ms  20.6 ms  2.72 ms   158 ms  task 'serve C#'",
        "   10              9.63 ms    14 ms    14 ms  20.4 ms     0 ns   118 ms  task 'A#: echo'",
        'and 12 more; --limit 0 prints all'])
    equal(lines[8:], ['before  after  change  min    max  changes  counter',
                      '     0  32293  +32293    0  32293       31  bytes',
                      '     0      1      +1    0      7       61  requests'])


@case
def a_narrow_terminal_gets_the_important_columns():
    for width in (10, 20, 40, 60, 80, 100, 200):
        lines = weft('stats', ECHO, env={'COLUMNS': str(width)}).stdout.splitlines()[2:]
        if width >= 20:
            assert all(len(line) <= width for line in lines if 'more;' not in line), (width, lines)
    lines = weft('stats', '--limit', '1', ECHO, env={'COLUMNS': '32'}).stdout.splitlines()
    equal(lines[2:4], ['count      max  tasks', "    3  70.6 ms  task 'connectio\u2026"])


@case
def rows_agree_with_the_tasks():
    tasks = json_lines(weft('dump', '--tasks', '--json', '--no-simplify', ARP).stdout)
    found = stats('--no-simplify', ARP)
    equal(sum(row['count'] for row in found['rows']), len(tasks))
    for row in found['rows']:
        alike = [task for task in tasks if task['kind'] == row['kind'] and
                 (re.sub(r'\d+', '#', task['label']) if task['label'] else None) == row['name']]
        equal(row['count'], len(alike), row['name'])
        equal(row['running'], sum(task['running'] for task in alike), row['name'])
        total, lives = row['running'] + row['waiting'] + row['delay'], sum(task['end'] - task['start'] for task in alike)
        if row['kind'] in ('lock', 'semaphore', 'pool', 'queue', 'condition'):
            assert total <= lives, row # it does not wait after its last activation
        else:
            equal(total, lives, row['name'])
    equal([row['running'] + row['waiting'] + row['delay'] for row in found['rows']],
          sorted((row['running'] + row['waiting'] + row['delay'] for row in found['rows']), reverse=True))


@case
def sorted_and_limited():
    for column in ('count', 'failed', 'unfinished', 'p50', 'p90', 'p99', 'max', 'running', 'waiting', 'delay'):
        rows = stats('--sort', column, '--limit', '9', ARP)['rows']
        values = [(row[column] or 0) + (row['never_resolved'] if column == 'unfinished' else 0) for row in rows]
        equal((len(rows), values), (9, sorted(values, reverse=True)), column)
    equal(len(stats('--limit', '0', ARP)['rows']), len(stats(ARP)['rows']))


@case
def csv_for_tables():
    rows = list(csv.DictReader(io.StringIO(weft('stats', '--csv', '--by', 'kind', ARP).stdout, newline='')))
    expected = stats('--by', 'kind', ARP)['rows']
    equal(len(rows), len(expected))
    for row, other in zip(rows, expected):
        for key in ('name', 'kind', 'count', 'ended', 'failed', 'never_resolved'):
            equal(row[key], str(other[key]), key)
        for key in ('quickest', 'p50', 'p90', 'p99', 'max', 'running', 'waiting', 'delay', 'max_delay'):
            equal(row[key + '_ns'], '' if other[key] is None else str(other[key]), key)


@case
def text_of_a_trace_controls_nothing():
    label = 'a"b,\x1b[31m\n\u202e7'
    with temporary_directory() as folder:
        path = made(folder, [(0, 'create', 0, 1, 1), (1, 'label', 1, label), (2, 'fulfil', 0, 1)])
        for options in ([], ['--csv'], ['--json']):
            shown = weft('stats', *options, path).stdout
            assert '\x1b' not in shown and '\u202e' not in shown, shown
        equal(row_of(stats(path), re.sub(r'\d+', '#', label))['count'], 1)
        rows = list(csv.reader(io.StringIO(weft('stats', '--csv', path).stdout, newline='')))
        equal(sorted({len(row) for row in rows}), [len(rows[0])])
        assert any(row[0].startswith('a"b,') for row in rows), rows


@case
def a_range_has_the_tasks_that_are_alive_then():
    with temporary_directory() as folder:
        path = made(folder, [(0, 'create', 0, 1, 1), (0, 'label', 1, 'job 1'), (1000, 'create', 0, 2, 1), (1000, 'label', 2, 'job 2'),
                             (5000, 'fulfil', 0, 1), (9000, 'fulfil', 0, 2), (20000, 'switch', 0)])

        def job(*options):
            row = row_of(stats(*options, path), 'job #')
            return row['count'], row['ended'], row['unfinished'], row['max'], row['waiting']
        equal(job(), (2, 2, 0, 8000, 13000))
        equal(job('--start', '4us', '--duration', '2us'), (2, 1, 1, 5000, 3000))
        equal(job('--start', '6us', '--duration', '1s'), (1, 1, 0, 8000, 3000))
        equal(job('--start', '@6000', '--duration', '1us'), (1, 0, 1, None, 1000))
        outside = stats('--start', '1s', path)
        equal((outside['rows'], outside['start'] - outside['end']), ([], 0))
        equal(weft('stats', '--start', '1s', path).stdout.splitlines()[2:], ['no tasks'])


@case
def an_example_recorded_twice_is_one_trace():
    with temporary_directory() as folder:
        paths = [os.path.join(folder, name + '.weft') for name in 'ab']
        for path in paths:
            weft('record', '-o', path, os.path.join(BUILD, 'examples', 'threads'))
        one, both = stats(paths[0]), stats(*paths)
        equal(row_of(both, 'primes from #')['count'], 2 * row_of(one, 'primes from #')['count'])
        equal(row_of(one, 'primes from #')['ended'], 24)
        assert row_of(both, 'primes from #')['longest_buffer'] in (0, 1), both
        equal(len(stats('--by', 'process', *paths)['rows']), 2)
        threads = stats('--by', 'thread', paths[0])['rows']
        assert len(threads) > 1 and all(row['name'] for row in threads), threads
        equal(sum(row['running'] for row in threads), sum(row['running'] for row in one['rows']))


@case
def delay_is_from_wake_up_to_running():
    """Task 1 waits for 2, which is resolved at 30 us; it runs at 50 us."""
    events = [(0, 'create', 0, 1, 1), (0, 'create', 0, 2, 1), (0, 'label', 1, 'waiter'), (0, 'switch', 1),
              (10000, 'try_read', 1, 2), (10000, 'switch', 3), (30000, 'fulfil', 3, 2), (50000, 'switch', 1),
              (50000, 'read', 1, 2), (60000, 'fulfil', 1, 1)]
    with temporary_directory() as folder:
        row = row_of(stats(made(folder, events)), 'waiter')
    equal((row['running'], row['waiting'], row['delay'], row['most_delayed']), (20000, 20000, 20000, 1))


def jobs(length, count):
    """Jobs of that many ns, one after the other, and a task that has not ended."""
    events = [(0, 'create', 0, 1, 1), (0, 'label', 1, 'main')]
    for number in range(count):
        events += [(number * length, 'create', 1, 10 + number, 1), (number * length, 'label', 10 + number, 'job %d' % number),
                   ((number + 1) * length, 'fulfil', 1, 10 + number)]
    return events


@case
def two_traces_side_by_side():
    with temporary_directory() as folder:
        paths = [os.path.join(folder, name) for name in ('a.ctf', 'b.ctf')]
        for path, events in zip(paths, (jobs(1000, 20), jobs(3000, 10) + [(50000, 'create', 1, 99, 1), (50000, 'label', 99, 'new')])):
            with open(path, 'wb') as file:
                file.write(mirage(events))
        found = json.loads(weft('stats', '--diff', '--json', *paths).stdout)
        job = found['rows'][0]
        equal((job['name'], job['a']['count'], job['b']['count'], job['a']['p50'], job['b']['p50']), ('job #', 20, 10, 1000, 3000))
        equal((found['rows'][-1]['name'], found['rows'][-1]['a']), ('new', None))
        for side, path in zip('ab', paths):
            rows = {row['name']: row for row in stats(path)['rows']}
            for row in found['rows']:
                expected = rows.get(row['name'])
                equal(row[side], expected and {key: value for key, value in expected.items() if key not in ('name', 'kind')})
        lines = weft('stats', '--diff', '--limit', '1', *paths).stdout.splitlines()
        equal([line[:3] for line in lines[:2]], ['A  ', 'B  '])
        equal(lines[3:5], ['    mean    count          p50          p99          max  tasks',
                           "+200.0 %  20 \u2192 10  1 us \u2192 3 us  1 us \u2192 3 us  1 us \u2192 3 us  task 'job #'"])
        rows = list(csv.DictReader(io.StringIO(weft('stats', '--diff', '--csv', *paths).stdout, newline='')))
        equal((rows[0]['count_a'], rows[0]['p99_ns_b'], rows[-1]['count_a']), ('20', '3000', ''))
        by_count = json.loads(weft('stats', '--diff', '--json', '--sort', 'count', *paths).stdout)['rows']
        equal([row['score'] for row in by_count if row['a'] and row['b']], [0, 0, -10])


@case
def two_ranges_side_by_side():
    with temporary_directory() as folder:
        path = made(folder, jobs(1000, 20))
        ranges = [('--start', '0', '--duration', '5us'), ('--start', '10us', '--duration', '9us')]
        found = json.loads(weft('stats', '--diff', '--json', *ranges[0], *ranges[1], path).stdout)
        for side, one in zip('ab', ranges):
            expected = stats(*one, path)
            equal({key: found[side][key] for key in ('start', 'end', 'idle')}, {key: expected[key] for key in ('start', 'end', 'idle')})
            job, = [row for row in found['rows'] if row['name'] == 'job #']
            equal(job[side]['ended'], row_of(expected, 'job #')['ended'])
        job, = [row for row in json.loads(weft('stats', '--diff', '--json', '--duration', '5us', '--duration', '9us', path).stdout)['rows']
                if row['name'] == 'job #']
        equal((job['a']['ended'], job['b']['ended']), (4, 8))


@case
def comparisons_need_two_sides():
    for args in (['--diff', ARP], ['--diff', ARP, ARP, ARP], ['--start', '1ms', '--start', '2ms', ARP],
                 ['--diff', '--start', '0', '--start', '0', '--start', '0', ARP]):
        assert weft('stats', *args, status=2).stderr.startswith('weft stats: '), args
    equal(run([os.path.join(BUILD, 'weft'), 'stats', '--diff', ARP, '/nonexistent']).returncode, 3)


@case
def a_running_program():
    with temporary_directory() as folder:
        env, pid = {'XDG_RUNTIME_DIR': folder}, None
        recorder = subprocess.Popen([WEFT, 'record', '-o', os.path.join(folder, 'live.weft'), os.path.join(BUILD, 'tests', 'why-subject'), 'live'],
                                    cwd=folder, env={**os.environ, **env}, stderr=subprocess.DEVNULL)
        try:
            pid = wait_until('a program', lambda: ring_lines(weft('ls', '--json', env=env).stdout, folder), recorder)[0]['pid']
            wait_until('20 clients', lambda: any(row['name'] == 'client #' and row['count'] == 20
                                                 for row in stats(str(pid), env=env)['rows']), recorder)
            first = row_of(stats(str(pid), env=env), 'client #')
            let_pass(0.1)
            again = row_of(stats(str(pid), env=env), 'client #')
            equal((first['count'], first['unfinished'], first['p50']), (20, 20, None))
            assert again['waiting'] - first['waiting'] > 20 * 50000000, (first, again)
            assert weft('stats', '--diff', str(pid), str(pid), env=env).stdout.startswith('A  %d: ' % pid)
        finally:
            if pid:
                os.kill(pid, 9)
            recorder.wait()


@case
def tasks_are_of_the_category_that_created_them():
    with temporary_directory() as folder:
        path, part = os.path.join(folder, 'trace.weft'), os.path.join(folder, 'part.weft')
        equal(run([os.path.join(BUILD, 'tests', 'every_event'), path]).returncode, 0)
        rows = {row['name']: row['count'] for row in stats('--by', 'category', path)['rows']}
        equal(rows.pop('net "n\u00e9t"'), 4 * 4)  # four threads
        equal(list(rows), ['program'])
        tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
        equal(sum(task.get('category') == 'program' for task in tasks), rows['program'])
        equal({task['kind'] for task in tasks if task.get('category', '').startswith('net')}, {'lock', 'job', 'timer', 'promise'})
        events = json_lines(weft('dump', '--json', path).stdout)
        middle = sorted(event['time'] for event in events if event['event'] == 'note')[0]
        weft('cut', '--start', '@%d' % middle, '-o', part, path)
        was = {task['task']: task.get('category') for task in tasks}
        for task in json_lines(weft('dump', '--tasks', '--json', part).stdout):
            equal(task.get('category'), was[task['task']], task)


@case
def a_trace_without_categories_says_so():
    row, = stats('--by', 'category', ECHO)['rows']
    equal(row['name'], None)
    assert weft('stats', '--by', 'category', ECHO).stdout.splitlines()[3].endswith('  no category')


@case
def traces_without_tasks_or_events():
    with temporary_directory() as folder:
        path = made(folder, [(0, 'gc', 5)])
        equal(stats(path)['rows'], [])
        equal(stats('--by', 'span', path)['rows'], [])
        path = made(folder, [])
        result = weft('stats', path)
        equal((result.stdout.splitlines()[2:], result.stderr), (['no tasks'], path + ': a valid trace without events\n'))


@case
def wrong_use():
    for args in (['--by', 'colour', ARP], ['--sort', 'name', ARP], ['--limit', 'x', ARP], ['--json', '--csv', ARP], []):
        assert weft('stats', *args, status=2).stderr.startswith('weft stats: '), args
    assert 'label' in weft('stats', '--by', 'lable', ARP, status=2).stderr
    equal(run([os.path.join(BUILD, 'weft'), 'stats', '/nonexistent']).returncode, 3)


main()
