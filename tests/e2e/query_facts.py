# SPDX-License-Identifier: ISC
"""weft query: what is known of programs besides their events. Each column is compared with `weft info --json`, which reads it from
the trace's description and its side tables, or with `weft export --to chrome`, which has a line for each thread and each loss."""
import json
import os
import re

from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from queried import each_trace, has_sqlite, query, same_rows

TESTS = os.path.join(BUILD, 'tests')


def info(traces):
    return json.loads(weft('info', '--json', *traces).stdout)


class Chrome:
    """The processes, threads and losses of a Chrome trace, with the numbers that the tables have for them."""

    def __init__(self, traces):
        lines = json.loads(weft('export', '--to', 'chrome', *traces).stdout)
        lines = lines['traceEvents'] if isinstance(lines, dict) else lines
        begun = [line for line in lines if line['name'] == 'process_name' and 'number' in line['weft']]
        ended = {line['pid']: line['weft'] for line in lines if line['name'] == 'process_name' and 'end' in line['weft']}
        threads = [line for line in lines if line['name'] == 'thread_name']
        process = {line['pid']: number for number, line in enumerate(begun)}
        thread = {(line['pid'], line['tid']): number for number, line in enumerate(threads)}
        self.processes = [(line['weft']['number'] or None, line['args']['name'], line['args']['host'] or None, ended[line['pid']]['end'] or None)
                          for line in begun]
        self.threads = [{'thread': number, 'process': process[line['pid']], 'name': line['args']['name'] or None,
                         'tid': line['weft']['number'] or None} for number, line in enumerate(threads)]
        self.losses = [(thread[line['pid'], line['tid']], line['args']['weft']) for line in lines if line['name'] == 'lost events']


def all_traces():
    """Those of each_trace(), of programs that give themselves titles, and of one that lost events."""
    yield from each_trace()
    with temporary_directory() as folder:
        weft('record', '--size', '64K', '-a', 'thread,io', '-o', folder + '/', '--', os.path.join(TESTS, 'process-subject'), 'titles',
             env={'XDG_RUNTIME_DIR': folder})
        yield [folder]
        yield [os.path.join(folder, process['file']) for process in info([folder])['buffers'] if process.get('title')][:1]
        trace = os.path.join(folder, 'lost.weft')
        run([WEFT, 'record', '--size', '64K', '-o', trace, os.path.join(TESTS, 'metrics-subject')],
            input='a 1\n' * 5000 + 'lose\n' + 'a 1\n' * 100)
        yield [trace]


@case
def processes_and_threads():
    has_sqlite()
    titles = 0
    for traces in all_traces():
        described, chrome = info(traces), Chrome(traces)
        rows = query('SELECT * FROM processes', *traces)
        if not rows:  # a format without processes
            equal(chrome.processes, [(None, '', None, None)])
            continue
        equal([(row['pid'], row['title'] or row['program'] or '', row['host'], row['ended']) for row in rows], chrome.processes)
        buffers = described.get('buffers', [{**described, 'program': rows[0]['program'], 'file': ''}])
        equal([(row['process'], row['title'], row['program'], row['file']) for row in rows],
              [(number, buffer.get('title'), buffer['program'] or None, buffer['file'] or None) for number, buffer in enumerate(buffers)])
        titles += sum(row['title'] is not None and row['title'] != row['program'] for row in rows)
        equal(query('SELECT * FROM threads', *traces), chrome.threads)
        equal(len(chrome.threads), described['threads'])
    equal(titles, 4)


@case
def losses_and_dark_times():
    has_sqlite()
    causes, reasons = set(), set()
    for traces in all_traces():
        described, chrome = info(traces), Chrome(traces)
        rows = query('SELECT * FROM losses', *traces)
        same_rows(rows, [{'start': max(loss['start'], described['start']), 'end': loss['end'], 'events': loss['count'], 'thread': thread, 'cause': loss.get('cause')}
                         for thread, loss in chrome.losses])
        dark = query('SELECT * FROM dark', *traces)
        equal(dark, [{'process': period.get('buffer', 0), 'start': period['start'], 'end': period['end'], 'reason': period['reason']}
                     for period in described['dark']])
        for cause in {row['cause'] for row in rows}:
            assert sum(row['events'] for row in rows if row['cause'] == cause) <= described['losses'][cause], (rows, described['losses'])
        causes |= {row['cause'] for row in rows}
        reasons |= {row['reason'] for row in dark}
    assert causes >= {'full', 'overwritten'} and reasons >= {'lost', 'before', 'after'}, (causes, reasons)


@case
def counters():
    has_sqlite()
    for traces in all_traces():
        equal(query('SELECT * FROM counters', *traces),
              [{'counter': number, 'name': counter['name'], 'process': counter.get('buffer', 0), 'samples': counter['changes'],
                'min': counter['min'], 'max': counter['max'], 'relative': int(counter.get('relative', False))}
               for number, counter in enumerate(info(traces)['counters'])])


@case
def histograms_and_their_buckets():
    """Two programs have them; a counter with labels has none."""
    has_sqlite()
    with temporary_directory() as folder:
        traces = [os.path.join(folder, name) for name in ('a.weft', 'b.weft')]
        for trace, lines in zip(traces, ('latency 5\nlatency 70000\nlatency 9000\nacked eu acme 7\nmark\n', 'mark\nlatency 5000000\n')):
            run([WEFT, 'record', '-o', trace, os.path.join(TESTS, 'metric-types-subject')], input=lines)
        for some in traces[:1], traces:
            described = info(some)
            pids = [row['pid'] for row in query('SELECT pid FROM processes', *some)]
            given = [metric for metric in described['metrics'] if metric['type'] == 'histogram']
            equal(len(given), len(some))
            equal(query('SELECT * FROM histograms', *some),
                  [{'histogram': number, 'name': metric['counter'], 'process': pids.index(metric['pid']),
                    'labels': json.dumps(metric.get('labels', {}), separators=(',', ':')), 'unit': metric.get('unit'),
                    'count': metric['value'], 'sum': metric['sum']} for number, metric in enumerate(given)])
            buckets = [{'histogram': number, 'up_to': up_to, 'count': count}
                       for number, metric in enumerate(given) for up_to, count in metric['buckets']]
            equal(query('SELECT * FROM buckets', *some), buckets)
            assert len(buckets) == 2 + len(some), buckets


def calls_of(codes, number):
    """The functions of a row of the table of code, the innermost first, whose `caller` is the number of another row."""
    while number:
        yield codes[number - 1]['function']
        number = codes[number - 1]['caller']


class Ran:
    """The tasks that threads ran, by the events of the trace: until another one runs, or the task ends."""

    def __init__(self, traces):
        self.switches, self.rows = {}, {}
        self.ends = {(task.get('buffer', 0), task['task']): task['end']
                     for task in json_lines(weft('dump', '--tasks', '--json', *traces).stdout)}
        for row in query('SELECT task, id, process FROM tasks', *traces):
            self.rows[row['process'], row['id']] = row['task']
        for event in json_lines(weft('dump', '--json', *traces).stdout):
            if event['event'] == 'switch':
                self.switches.setdefault(event.get('thread', 0), []).append((event['time'], (event.get('buffer', 0), event['task'])))

    def row_at(self, thread, time):
        """The row of the task, or None."""
        task = ([task for since, task in self.switches.get(thread, []) if since <= time] or [None])[-1]
        return self.rows[task] if task in self.ends and time < self.ends[task] else None


@case
def samples_of_code():
    """Two processes ran, each with a second thread."""
    has_sqlite()
    with temporary_directory() as folder:
        traces = [os.path.join(folder, name) for name in ('a.weft', 'b.weft')]
        for trace in traces:
            result = run([WEFT, 'record', '-a', 'auto', '--samples', 199, '--size', '1M', '--keep-all', '-o', trace, '--',
                          os.path.join(TESTS, 'samples-subject'), 'thread'], cwd=folder)
            if '--samples: ' in result.stderr:
                skip(result.stderr.strip())
        for some in traces[:1], traces:
            side = {(table['buffer'], table['name']): table['rows'] for table in info(some)['tables'] if 'name' in table}
            threads = {(row['process'], row['tid']): row['thread'] for row in query('SELECT * FROM threads', *some)}
            ran = Ran(some)
            expected = []
            for (process, name), rows in side.items():
                for row in rows if name == 'ran' else []:
                    calls = list(calls_of(side[process, 'code'], row['code']))
                    thread = threads.get((process, row['thread']))
                    expected.append({'time': row['time'], 'ns': side[process, 'sampling'][0]['interval_ns'], 'process': process,
                                     'thread': thread, 'task': ran.row_at(thread, row['time']),
                                     'function': re.sub(r' \([^(]*\)$', '', calls[0]) if calls else None,
                                     'calls': ' ← '.join(calls) or None})
            assert {row['process'] for row in expected} == set(range(len(some))), expected
            found = query('SELECT * FROM code_samples', *some)
            equal([row['time'] for row in found], sorted(row['time'] for row in expected))
            same_rows(found, expected)


main()
