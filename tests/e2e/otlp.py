# SPDX-License-Identifier: ISC
"""Traces as spans and metrics of OpenTelemetry, in OTLP's JSON and protobuf."""
import json
import os
import shutil
import subprocess

from harness import BUILD, DATA, WEFT, build_option, case, equal, json_lines, main, run, skip, temporary_directory, weft
from otlp_reader import METRICS, SPANS, read
from traces import NONE, mirage

EVERY_EVENT = os.path.join(BUILD, 'tests', 'every_event')
CONTEXT = os.path.join(BUILD, 'tests', 'context-subject')
HANG = os.path.join(BUILD, 'tests', 'hang-subject')
METRIC_TYPES = os.path.join(BUILD, 'tests', 'metric-types-subject')
PROCESSES = os.path.join(BUILD, 'tests', 'process-subject')
THREADS = os.path.join(DATA, 'recorded', 'threads-stream.weft')
ECHO = os.path.join(DATA, 'recorded', 'echo-server.weft')
ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')  # without a time of day
BLOCK_READ = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
START = ('--start-time', '2026-11-29T14:37:40.25Z')
START_NS = 1795963060250000000


def messages(*args):
    return json_lines(weft('export', '--to', 'otlp-json', *args).stdout)


def value_of(value):
    (kind, content), = value.items()
    return int(content) if kind == 'intValue' else content


def attributes(thing):
    return {pair['key']: value_of(pair['value']) for pair in thing.get('attributes', [])}


def spans_in(lines):
    return [span for line in lines for resource in line.get('resourceSpans', []) for scope in resource['scopeSpans']
            for span in scope['spans']]


def spans(*args):
    return spans_in(messages('--signal', 'traces', *args))


def metrics(*args):
    return {metric['name']: metric for line in messages('--signal', 'metrics', *args) for resource in line['resourceMetrics']
            for scope in resource['scopeMetrics'] for metric in scope['metrics']}


def tasks(*paths):
    return json_lines(weft('dump', '--tasks', '--json', '--no-simplify', *paths).stdout)


def every_event(folder):
    path = os.path.join(folder, 'every.weft')
    equal(run([EVERY_EVENT, path]).returncode, 0)
    return path


def check_parents(found):
    """Each parent is there, began earlier, and is in the same trace."""
    by_id = {span['spanId']: span for span in found}
    equal(len(by_id), len(found))
    for span in found:
        parent = by_id[span['parentSpanId']] if 'parentSpanId' in span else span
        equal(span['traceId'], parent['traceId'])
        assert int(parent['startTimeUnixNano']) <= int(span['startTimeUnixNano']) <= int(span.get('endTimeUnixNano', 2 ** 63)), span
    return by_id


@case
def each_task_is_a_span_below_the_one_that_created_it():
    for path, start in ((ARP, START), (BLOCK_READ, ()), (THREADS, ())):
        found = spans('--pending', 'omit-end', *start, path)
        by_id = check_parents(found)
        ids = {attributes(span)['weft.task']: span for span in found}
        wanted = tasks(path)
        equal(len(found), len(wanted))
        offset = int(ids[wanted[0]['task']]['startTimeUnixNano']) - wanted[0]['start']
        for task in wanted:
            span = ids[task['task']]
            equal(int(span['startTimeUnixNano']), task['start'] + offset)
            equal(span['name'], task['label'] or task['kind'])
            parent = by_id.get(span.get('parentSpanId'))
            equal(attributes(parent)['weft.task'] if parent else None, task['parent'])
            equal(attributes(span)['weft.outcome'], task['outcome'])


def text_of(path, *args):
    return weft('export', '--to', 'otlp-json', *args, path).stdout


@case
def protobuf_is_the_same_as_json():
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out.pb')
        for path, start in ((every_event(folder), ()), (ECHO, ()), (ARP, START)):
            for signal, schema, key in (('traces', SPANS, 'resourceSpans'), ('metrics', METRICS, 'resourceMetrics')):
                weft('export', '--to', 'otlp', '--signal', signal, '--pending', 'logfire', *start, path, '-o', out)
                with open(out, 'rb') as file:
                    data = file.read()
                wanted = [part for line in messages('--signal', signal, '--pending', 'logfire', *start, path) for part in line[key]]
                equal(read(data, schema).get(key, []), wanted)


@case
def google_s_protobuf_reads_it():
    if not shutil.which('protoc'):
        skip('protoc is not installed')
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out.pb')
        weft('export', '--to', 'otlp', every_event(folder), '-o', out)
        with open(out, 'rb') as file:
            result = subprocess.run(['protoc', '--decode_raw'], stdin=file, capture_output=True, check=True)
        assert b'stringValue' not in result.stdout and b'"weft"' in result.stdout


@case
def ids_are_those_of_every_export():
    with temporary_directory() as folder:
        path = every_event(folder)
        equal(text_of(path), text_of(path))
        part = os.path.join(folder, 'part.weft')
        weft('cut', path, '-o', part)
        names = {span['spanId']: span['name'] for span in spans('--pending', 'omit-end', path)}
        assert {span['spanId'] for span in spans('--pending', 'omit-end', part)} <= set(names)
        other = {span['spanId'] for span in spans('--pending', 'omit-end', THREADS)}
        assert other and not other & set(names)


@case
def edges_notes_and_failures_are_there():
    with temporary_directory() as folder:
        path = every_event(folder)
        found = spans('--pending', 'omit-end', path)
        check_parents(found)
        links = [attributes(link) for span in found for link in span.get('links', [])]
        assert {'read', 'try_read', 'wait_any', 'resolve', 'signal', 'become'} <= {link['weft.edge'] for link in links}, links
        assert all(int(link['weft.time_unix_nano']) > 10 ** 18 for link in links)
        failed = [span for span in found if span.get('status', {}).get('code') == 2]
        assert 'Failure("no\tluck")' in [span['status'].get('message') for span in failed], failed
        types = {type(value) for span in found for event in span.get('events', []) for value in attributes(event).values()}
        assert {bool, int, float, str} <= types, types
        outcomes = {task['task']: task['outcome'] for task in tasks(path)}
        equal({attributes(span)['weft.task'] for span in failed},
              {task for task, outcome in outcomes.items() if outcome in ('failed', 'never_resolved', 'timed_out')})


@case
def spans_in_tasks_are_below_each_other():
    with temporary_directory() as folder:
        path = every_event(folder)
        found = spans('--pending', 'omit-end', path)
        inner = [span for span in found if 'weft.kind' not in attributes(span)]
        equal(len(inner), len(json_lines(weft('dump', '--spans', '--json', path).stdout)))
        by_id = check_parents(found)
        assert any('weft.kind' not in attributes(by_id[span['parentSpanId']]) for span in inner), inner


@case
def folding_leaves_what_has_a_name():
    everything = spans('--pending', 'omit-end', BLOCK_READ)
    folded = spans('--pending', 'omit-end', '--spans', 'requests', BLOCK_READ)
    check_parents(folded)
    labelled = {task['task'] for task in tasks(BLOCK_READ) if task['label']}
    shown = {attributes(span)['weft.task'] for span in folded}
    assert labelled <= shown, labelled - shown
    assert len(shown) < len(everything) / 2
    assert all(attributes(span)['weft.task'] in labelled or span['name'] in ('task', 'async') for span in folded)
    # The failures of tasks that are not shown are events of those that are.
    failed = [span['status'].get('message') for span in everything if span.get('status', {}).get('code') == 2]
    events = [attributes(event)['exception.message'] for span in folded for event in span.get('events', []) if event['name'] == 'exception']
    equal(sorted(events + [span['status']['message'] for span in folded if 'status' in span]), sorted(failed))
    kin = {span['spanId']: span.get('parentSpanId') for span in folded}
    for span in folded:
        for link in span.get('links', []):
            assert link['spanId'] != span['spanId'] and kin[link['spanId']] != span['spanId'] != kin[span['spanId']] != link['spanId']


@case
def a_request_is_the_root_of_its_trace():
    """A server creates requests and does not wait for them; what it waits for belongs to it, and so with a request."""
    server, start, request, query, log = range(1, 6)
    events = [(0, 'create', NONE, server, 1), (1, 'label', server, 'server'), (2, 'create', server, start, 1), (3, 'label', start, 'start'),
              (4, 'try_read', server, start), (5, 'fulfil', start, start), (6, 'read', server, start), (7, 'create', server, request, 1),
              (8, 'label', request, 'request'), (9, 'create', request, query, 1), (10, 'label', query, 'query'), (11, 'fulfil', query, query),
              (12, 'read', request, query), (13, 'create', request, log, 1), (14, 'label', log, 'log'), (15, 'fulfil', log, log),
              (16, 'fulfil', request, request), (17, 'fulfil', server, server)]
    with temporary_directory() as folder:
        path = os.path.join(folder, 'server.ctf')
        with open(path, 'wb') as file:
            file.write(mirage(events))
        everything = check_parents(spans(*START, path))
        equal(len({span['traceId'] for span in everything.values()}), 1)
        by_id = check_parents(spans('--spans', 'requests', *START, path))
        parents = {span['name']: by_id[span['parentSpanId']]['name'] if 'parentSpanId' in span else None for span in by_id.values()}
        equal(parents, {'server': None, 'start': 'server', 'request': None, 'query': 'request', 'log': 'request'})
        links = {span['name']: [(attributes(link)['weft.edge'], by_id[link['spanId']]['name']) for link in span.get('links', [])]
                 for span in by_id.values()}
        equal(links['request'], [('create', 'server')])


@case
def a_span_has_limits_and_counts_the_rest():
    events = [(0, 'create', 0, 1, 1)]
    events += [(10 * i, 'label', 1, 'note %d' % i) for i in range(1, 301)]
    events += [(5000, 'create', 1, 2, 1), *((6000 + i, 'signal_only', 2, 1) for i in range(200)), (9000, 'fulfil', 1, 1)]
    with temporary_directory() as folder:
        path = os.path.join(folder, 'many.ctf')
        with open(path, 'wb') as file:
            file.write(mirage(events))
        span, = [span for span in spans(*START, path) if span['name'] == 'note 1']
        equal((len(span['events']), span['droppedEventsCount']), (128, 299 - 128))
        equal((len(span['links']), span['droppedLinksCount']), (128, 200 - 128))


@case
def times_are_since_1970_or_refused():
    span = spans('--pending', 'omit-end', *START, ARP)[0]
    equal(int(span['startTimeUnixNano']), START_NS)
    east = spans('--pending', 'omit-end', '--start-time', '2026-11-29T15:37:40.25+01:00', ARP)[0]
    equal(east['startTimeUnixNano'], span['startTimeUnixNano'])
    result = weft('export', '--to', 'otlp-json', ARP, status=1)
    assert 'does not say at which time of day' in result.stderr and not result.stdout
    assert 'has times of day of its own' in weft('export', '--to', 'otlp-json', *START, THREADS, status=1).stderr
    for text in ('yesterday', '2026-11-31T00:00:00Z', '2026-11-29T14:37:40', '2026-11-29T14:37:40.Z', '1969-12-31T23:59:59Z', '9999-01-01T00:00:00Z'):
        assert 'is not a time' in weft('export', '--to', 'otlp-json', '--start-time', text, ARP, status=2).stderr


def record(folder, *command, status=0):
    path = os.path.join(folder, 'a.weft')
    weft('record', '-o', path, '--', *command, status=status, env={'XDG_RUNTIME_DIR': folder}, cwd=folder)
    return path


@case
def an_error_is_a_span_that_was_killed_in_the_middle():
    with temporary_directory() as folder:
        path = record(folder, HANG, 'exit', 0)
        request, = [span for span in spans(path) if span['name'] == 'request']
        equal(attributes(request)['weft.unfinished'], True)
        assert 'status' not in request, request
        path = record(folder, HANG, 'abort', status=134)
        request, = [span for span in spans(path) if span['name'] == 'request']
        equal(attributes(request)['weft.unfinished'], True)
        equal(request['status']['code'], 2)
        assert 'signal 6' in request['status']['message'], request
        end = max(task['end'] - task['start'] for task in tasks(path) if task['label'] == 'request')
        equal(int(request['endTimeUnixNano']) - int(request['startTimeUnixNano']), end)


@case
def spans_that_still_run_have_three_forms():
    wanted = sum(task['outcome'] == 'unfinished' for task in tasks(BLOCK_READ))
    total = len(tasks(BLOCK_READ))
    result = weft('export', '--to', 'otlp-json', BLOCK_READ)
    equal(len(spans_in(json_lines(result.stdout))), total - wanted)
    assert '%d spans still run' % wanted in result.stderr, result.stderr
    omitted = spans('--pending', 'omit-end', BLOCK_READ)
    equal(sum('endTimeUnixNano' not in span for span in omitted), wanted)
    equal(len(omitted), total)
    pending = [span for span in spans('--pending', 'logfire', BLOCK_READ)
               if attributes(span).get('logfire.span_type') == 'pending_span']
    equal(len(pending), wanted)
    running = {span['spanId']: span for span in omitted if 'endTimeUnixNano' not in span}
    for span in pending:
        equal(span['startTimeUnixNano'], span['endTimeUnixNano'])
        real = running[span['parentSpanId']]
        equal(attributes(span)['logfire.pending_parent_id'], real.get('parentSpanId', '0' * 16))
        assert span['spanId'] not in running


@case
def a_message_from_another_process_makes_a_parent():
    if build_option('b_sanitize') != 'none':
        skip('adapters are not loaded into programs with a sanitizer')
    with temporary_directory() as folder:
        traces = os.path.join(folder, 'traces', '')
        weft('record', '--size', '64K', '-a', 'thread,io', '-o', traces, '--', PROCESSES, 'pipe', env={'XDG_RUNTIME_DIR': folder})
        lines = messages('--pending', 'omit-end', traces)
        resources = [attributes(resource['resource']) for line in lines for resource in line.get('resourceSpans', [])]
        assert len({resource['process.pid'] for resource in resources}) > 1, resources
        found = spans_in(lines)
        by_id = check_parents(found)
        assert 'receive' in {attributes(link)['weft.edge'] for span in found for link in span.get('links', [])}
        inferred = [span for span in found if attributes(span).get('weft.parent') == 'message']
        assert inferred, [span['name'] for span in found]
        for span in inferred:
            assert span['flags'] & 0x200 and by_id[span['parentSpanId']], span


@case
def a_context_has_the_ids_of_its_program():
    """The creator of the task is a link; what is below is in its trace."""
    trace, parent = '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'
    with temporary_directory() as folder:
        path = os.path.join(folder, 'context.weft')
        result = run([WEFT, 'record', '-a', 'none', '-o', path, CONTEXT], env={'TRACEPARENT': '00-%s-%s-01' % (trace, parent)})
        own, query, outer, inner, other = (line.split('-') for line in result.stdout.split())
        equal(json.loads(weft('info', '--json', path).stdout)['contexts'], {'spans': 6, 'traces': 2, 'begun': 1})
        assert '\ncontexts    6 spans with ids, of traces: 2, of which 1 begins here\n' in weft('info', path).stdout
        for options in ((), ('--spans', 'all')):
            found = {span['name']: span for span in spans(*options, path)}
            place = {name: (span['traceId'], span.get('parentSpanId'), span['flags']) for name, span in found.items()}
            equal(place['request'], (trace, parent, 0x301))
            equal(place['query'], (trace, own[2], 0x101))
            equal(place['parse'], (trace, query[2], 0x101))
            equal(place['outer'], (trace, query[2], 0x101))  # one moment with the next
            equal(place['inner'], (trace, outer[2], 0x101))
            equal([found[name]['spanId'] for name in ('outer', 'inner')], [outer[2], inner[2]])
            equal(place['child'], (trace, own[2], 0x101))
            equal(place['answer'], (trace, query[2], 0x101))  # below a span of this process
            equal(place['other'], (other[1], None, 0x103))
            equal([found[name]['spanId'] for name in ('request', 'query', 'other')], [own[2], query[2], other[2]])
            equal([found[name].get('traceState') for name in ('request', 'query', 'other')], ['vendor=value', 'vendor=value', None])
            assert not any(event['name'].endswith(' context') for span in found.values() for event in span.get('events', [])), found
            equal([(link['traceId'], link['spanId']) for link in found['other']['links']], [(trace, found['child']['spanId'])])


@case
def metrics_are_sums_gauges_and_histograms():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'a.weft')
        weft('record', '-o', path, '--', METRIC_TYPES, env={'XDG_RUNTIME_DIR': folder}, cwd=folder,
             input='acked eu acme 10\nacked eu - 5\nopen 7\nlatency 1000\nlatency 2500000\nlatency 2500000\n')
        found = metrics(path)
        acked = found['tcp_acked']
        equal((acked['unit'], acked['sum']['isMonotonic'], acked['sum']['aggregationTemporality']), ('By', True, 2))
        equal(sorted((tuple(attributes(point).values()), point['asInt']) for point in acked['sum']['dataPoints']),
              [(('eu',), '5'), (('eu', 'acme'), '10')])
        assert all(int(point['startTimeUnixNano']) <= int(point['timeUnixNano']) for point in acked['sum']['dataPoints'])
        equal(found['open/streams']['gauge']['dataPoints'][0]['asInt'], '7')
        latency = found['latency']
        point, = latency['exponentialHistogram']['dataPoints']
        equal((latency['unit'], point['count'], point['sum'], point['scale'], point['zeroCount']), ('ns', '3', 5001000, 3, '1'))
        assert 1000 <= point['zeroThreshold'], point
        index = point['positive']['offset']
        equal(point['positive']['bucketCounts'], ['2'])
        assert 2 ** (index / 8) < 2500000 <= 2 ** ((index + 1) / 8), index


@case
def a_counter_is_a_sum_or_a_gauge():
    events = [(0, 'create', 0, 1, 1), (10 ** 9, 'add', 1, 5, 'bytes'), (10 ** 9 + 7, 'add', 1, -2, 'bytes'), (3 * 10 ** 9, 'add', 1, 4, 'bytes'),
              (3 * 10 ** 9, 'set', 1, 9, 'level'), (4 * 10 ** 9, 'fulfil', 1, 1)]
    with temporary_directory() as folder:
        path = os.path.join(folder, 'counters.ctf')
        with open(path, 'wb') as file:
            file.write(mirage(events))
        found = metrics(*START, path)
        points = found['bytes']['sum']['dataPoints']
        equal([(int(point['timeUnixNano']) - START_NS, point['asInt']) for point in points], [(10 ** 9 + 7, '3'), (3 * 10 ** 9, '7')])
        equal({point['startTimeUnixNano'] for point in points}, {str(START_NS)})
        equal(found['bytes']['sum']['isMonotonic'], False)
        equal(found['level']['gauge']['dataPoints'][0]['asInt'], '9')


@case
def wrong_use_is_refused():
    for args, message in ((('--to', 'otlp', '--signal', 'all', THREADS), 'a file of protobuf has spans or metrics'),
                          (('--to', 'chrome', '--spans', 'all', THREADS), 'not for --to chrome'),
                          (('--to', 'otlp', '--force', THREADS), 'which replaces OUT'),
                          (('--to', 'otlp', '--pending', 'maybe', THREADS), '--pending:'),
                          (('--to', 'otlp', '--spans', 'some', THREADS), '--spans:'),
                          (('--to', 'otlp', '--signal', 'logs', THREADS), '--signal:'),
                          (('--to', 'otlp',), 'FILE')):
        result = weft('export', *args, status=2)
        assert message in result.stderr, result.stderr
    with temporary_directory() as folder:
        empty = os.path.join(folder, 'empty')
        with open(empty, 'wb'):
            pass
        weft('export', '--to', 'otlp', empty, '-o', os.path.join(folder, 'out'), status=3)
        equal(os.listdir(folder), ['empty'])
        result = weft('export', '--to', 'otlp-json', THREADS, '-o', '/dev/full', status=1)
        assert 'No space left' in result.stderr, result.stderr


main()
