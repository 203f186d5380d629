# SPDX-License-Identifier: ISC
"""Spans of OpenTelemetry and Zipkin, lines of JSON, as traces."""
import json
import os
import random
import subprocess
from collections import Counter

from harness import BUILD, DATA, case, equal, json_lines, main, run, temporary_directory, weft

EVERY_EVENT = os.path.join(BUILD, 'tests', 'every_event')
ECHO = os.path.join(DATA, 'recorded', 'echo-server.weft')
T = 1556604172355000  # us


def zipkin(**members):
    """A span as XAPI and Zipkin's libraries write it."""
    span = {'traceId': '5af7183fb1d4cf5f', 'id': '6b221d5bc9e6496c', 'name': 'vm-start', 'timestamp': T, 'duration': 4000,
            'localEndpoint': {'serviceName': 'xapi'}}
    span.update(members)
    return {key: value for key, value in span.items() if value is not None}


def otlp(spans, service='shop', pid=7):
    return {'resourceSpans': [{'resource': {'attributes': [{'key': 'service.name', 'value': {'stringValue': service}},
                                                           {'key': 'process.pid', 'value': {'intValue': str(pid)}},
                                                           {'key': 'host.name', 'value': {'stringValue': 'h1'}}]},
                               'scopeSpans': [{'scope': {'name': 'x'}, 'spans': spans}]}]}


def span(number, parent=None, start=1000, end=2000, **members):
    made = {'traceId': '%032x' % 99, 'spanId': '%016x' % number, 'name': 'span %d' % number, 'startTimeUnixNano': str(10 ** 18 + start)}
    if parent:
        made['parentSpanId'] = '%016x' % parent
    if end:
        made['endTimeUnixNano'] = str(10 ** 18 + end)
    made.update(members)
    return made


def write(folder, lines, name='a.jsonl'):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(''.join((line if isinstance(line, str) else json.dumps(line)) + '\n' for line in lines))
    return path


def tasks(path):
    return json_lines(weft('dump', '--tasks', '--json', '--no-simplify', path).stdout)


def events(path, kind):
    return [line for line in json_lines(weft('dump', '--json', path).stdout) if line['event'] == kind]


@case
def what_weft_wrote_is_the_same_tasks():
    with temporary_directory() as folder:
        every = os.path.join(folder, 'every.weft')
        equal(run([EVERY_EVENT, every]).returncode, 0)
        for path in (ECHO, every):
            out = os.path.join(folder, 'out.jsonl')
            weft('export', '--to', 'otlp-json', '--pending', 'omit-end', path, '-o', out)
            wanted, got = tasks(path), tasks(out)
            first = min(task['start'] for task in wanted)
            shown = [task for task in got if task['label']]
            start = min(task['start'] for task in shown)
            found = Counter((task['label'], task['start'] - start) for task in shown)
            missing = Counter((task['label'] or task['kind'], task['start'] - first) for task in wanted) - found
            assert not missing, missing
            failed = {task['failed'] for task in wanted if task['outcome'] == 'failed'}
            assert failed and failed <= {task.get('failed') for task in got}, failed
            equal(weft('info', '--json', out).stderr, '')


@case
def parents_join_whatever_the_order():
    with temporary_directory() as folder:
        lines = [otlp([span(3, parent=2, start=1500, end=1600), span(2, parent=1, start=1200, end=1800)]), '', otlp([span(1)])]
        path = write(folder, lines)
        found = {task['label']: task for task in tasks(path)}
        equal(found['span 3']['parent'], found['span 2']['task'])
        equal(found['span 2']['parent'], found['span 1']['task'])
        equal(found['span 1']['parent'], None)
        equal((found['span 3']['start'], found['span 3']['end']), (10 ** 18 + 1500, 10 ** 18 + 1600))
        info = json.loads(weft('info', '--json', path).stdout)
        equal(info['format'], 'spans')
        packed = path + '.zst'
        if subprocess.run(['zstd', '-q', path, '-o', packed], check=False).returncode == 0:
            equal(tasks(packed), tasks(path))


@case
def programs_join_by_messages():
    with temporary_directory() as folder:
        path = write(folder, [[zipkin(id='352bff9a74ca9ad2', parentId='6b221d5bc9e6496c', timestamp=T + 700, duration=100, kind='CLIENT', name='get',
                                      localEndpoint={'serviceName': 'proxy'})],
                              [zipkin(), zipkin(id='352bff9a74ca9ad2', shared=True, timestamp=T + 720, duration=50, kind='SERVER', name='serve',
                                                localEndpoint={'serviceName': 'db'})]])
        found = {(task['process'] if 'process' in task else '', task['label']): task for task in tasks(path)}
        equal({label for _, label in found}, {'vm-start', 'get', 'serve'})
        equal({task['kind'] for task in found.values()}, {'task', 'client', 'server'})
        edges = [edge for edge in json_lines(weft('dump', '--edges', '--json', path).stdout) if edge['edge'] == 'receive']
        names = {(task['buffer'], task['task']): task['label'] for task in found.values()}
        equal([(names[edge['from_buffer'], edge['from']], names[edge['buffer'], edge['to']]) for edge in edges],
              [('vm-start', 'get'), ('get', 'serve')])


@case
def attributes_events_links_and_failures_are_there():
    with temporary_directory() as folder:
        path = write(folder, [otlp([
            span(1, status={'code': 2, 'message': 'no "luck"\n'},
                 attributes=[{'key': 'n', 'value': {'intValue': '-7'}}, {'key': 'ok', 'value': {'boolValue': True}},
                             {'key': 'x', 'value': {'doubleValue': 0.5}}, {'key': 'caf\u00e9', 'value': {'stringValue': 'a\tb'}},
                             {'key': 'list', 'value': {'arrayValue': {'values': [{'intValue': '1'}]}}}],
                 events=[{'timeUnixNano': str(10 ** 18 + 1100), 'name': 'sent', 'attributes': [{'key': 'bytes', 'value': {'intValue': 5}}]}]),
            span(2, start=1700, end=None, links=[{'traceId': '%032x' % 99, 'spanId': '%016x' % 1}, {'traceId': '%032x' % 98, 'spanId': '%016x' % 1}])])])
        marks = {line['name']: line for line in events(path, 'mark')}
        fields = marks['attributes']['fields']
        equal({key: fields[key] for key in ('n', 'ok', 'x', 'café')}, {'n': -7, 'ok': True, 'x': 0.5, 'café': 'a\tb'})
        equal((marks['sent']['time'], marks['sent']['fields']), (10 ** 18 + 1100, {'bytes': 5}))
        equal(events(path, 'fail')[0]['message'], 'no "luck"\n')
        receive, = events(path, 'receive')
        equal(receive['time'], 10 ** 18 + 1700)
        outcomes = {task['label']: task['outcome'] for task in tasks(path)}
        equal(outcomes, {'span 1': 'failed', 'span 2': 'unfinished'})


@case
def only_an_error_is_a_failure():
    """Each status that a span may have, by its number or its name."""
    statuses = [{}, None, {'code': 0}, {'code': 1}, {'code': 2}, {'code': 3}, {'code': '1'}, {'code': '2'}, {'code': 'STATUS_CODE_UNSET'},
                {'code': 'STATUS_CODE_OK'}, {'code': 'STATUS_CODE_ERROR'}, {'message': 'words'}]
    with temporary_directory() as folder:
        path = write(folder, [otlp([span(number, status=status) for number, status in enumerate(statuses, 1)])])
        equal([(task['label'], task['outcome']) for task in sorted(tasks(path), key=lambda task: int(task['label'].split()[1]))],
              [('span %d' % number, 'failed' if number in (5, 8, 11) else 'fulfilled') for number in range(1, len(statuses) + 1)])


@case
def a_span_that_was_sent_again_is_shown_once():
    """As an exporter does when an answer was lost. Other spans of the same ids are spans of their own: of another program, or with another end."""
    with temporary_directory() as folder:
        path = write(folder, [otlp([span(1), span(2, parent=1)]), otlp([span(2, parent=1), span(2, parent=1)]), otlp([span(2, parent=1, end=1900)]),
                              otlp([span(2, parent=1)], service='other')])
        result = weft('dump', '--tasks', '--json', path)
        equal(sorted(task['label'] for task in json_lines(result.stdout)), ['span 1', 'span 2', 'span 2', 'span 2'])
        assert 'a repeated span is shown once (×2)' in result.stderr, result.stderr


@case
def damage_is_said_and_the_rest_is_read():
    with temporary_directory() as folder:
        path = write(folder, [otlp([span(1)]), '{"resourceSpans": nonsense}', otlp([{'name': 'no ids'}, span(2, startTimeUnixNano='soon')]),
                              otlp([span(3, parent=4, start=10), span(4, start=20)]), otlp([span(5)]),
                              '{"resourceSpans":[{"scopeSp'])
        result = weft('dump', '--tasks', '--json', path)
        equal({task['label'] for task in json_lines(result.stdout)}, {'span 1', 'span 3', 'span 4', 'span 5'})
        for message in ('malformed JSON; its line is left out (×2)', 'lacks its ids', 'lacks its time', 'begins before its parent'):
            assert message in result.stderr, result.stderr
        with open(path, 'w', encoding='utf-8') as file:
            file.write(json.dumps(otlp([span(1)])) + '\n{"resourceSpans":[')
        assert 'the last line is cut off' in weft('dump', path).stderr


@case
def what_weft_wrote_for_zipkin_is_the_same_tasks():
    with temporary_directory() as folder:
        out, other = os.path.join(folder, 'out.ndjson'), os.path.join(folder, 'out.jsonl')
        weft('export', '--to', 'zipkin', '--pending', 'omit-end', ECHO, '-o', out)
        weft('export', '--to', 'otlp-json', '--pending', 'omit-end', ECHO, '-o', other)
        with open(out, encoding='utf-8') as file:
            lines = [json.loads(line) for line in file]
        assert all(isinstance(line, list) and len(line) <= 512 for line in lines)
        wanted, got = ({task['label']: (task['parent'] is None, task['start'] // 1000, task['outcome'] == 'failed') for task in tasks(path)} for path in (other, out))
        equal(got, wanted)
        ids = {made['id'] for line in lines for made in line}
        values = {note['value'].split()[0] for line in lines for made in line for note in made.get('annotations', []) if note['value'].split()[-1] in ids}
        assert {'read', 'resolve'} <= values, values
        for args in (('--url', 'http://127.0.0.1:1'), ('--signal', 'metrics'), ('--pending', 'logfire')):
            assert 'not for --to zipkin' in weft('export', '--to', 'zipkin', *args, ECHO, status=2).stderr


# ---- Random documents, compared with a naive reading ----

PROGRAMS = [('shop', 7), ('shop', 8), ('bank', 7)]


def random_span(pick, number):
    """Few ids and times, so that spans have those of others, or their own as parent."""
    start = pick.randrange(6) * 100
    end = pick.choice([None, start, start + 50, start + 100, start + 300, max(start - 100, 1)])
    made = span(pick.randrange(1, 7), pick.choice([None, None, *range(1, 8)]), start, end, name='span %d' % number, kind=pick.randrange(6))
    made['traceId'] = '%032x' % (2 ** 64 * pick.randrange(1, 3) + 5)
    made['events'] = [{'timeUnixNano': str(10 ** 18 + start + pick.choice([0, 10])), 'name': 'event %d' % number}] * pick.randrange(3)
    made['links'] = []
    for _ in range(pick.choice([0, 0, 1, 2])):
        link = {'traceId': '%032x' % (2 ** 64 * pick.randrange(1, 3) + 5), 'spanId': '%016x' % pick.randrange(1, 8)}
        if pick.random() < 0.5:
            link['attributes'] = [{'key': 'weft.time_unix_nano', 'value': {'intValue': str(10 ** 18 + pick.randrange(8) * 100)}}]
        made['links'].append(link)
    if pick.random() < 0.3:
        made['status'] = {'code': 2, 'message': 'refused %d' % number}
    return made


def as_zipkin(made, program, pick):
    """The same in Zipkin's form, with microseconds for nanoseconds; a span may share its ids with another program's."""
    start, end = (int(made.get(key, 0)) - 10 ** 18 for key in ('startTimeUnixNano', 'endTimeUnixNano'))
    members = {'traceId': made['traceId'], 'id': made['spanId'], 'parentId': made.get('parentSpanId'), 'name': made['name'], 'timestamp': T + start,
               'duration': end - start if end > start else None, 'localEndpoint': {'serviceName': PROGRAMS[program][0]}, 'shared': pick.random() < 0.4,
               'kind': [None, None, 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'][made['kind']],
               'annotations': [{'timestamp': T + int(event['timeUnixNano']) - 10 ** 18, 'value': event['name']} for event in made['events']],
               'tags': {'error': 'refused'} if 'status' in made else None}
    return zipkin(**members)


def random_document(pick):
    """[(program, span)] as they are in the file; some are sent again, by the same program or another."""
    sent, is_zipkin = [], pick.random() < 0.5
    for number in range(pick.randrange(1, 14)):
        program, made = pick.randrange(3), random_span(pick, number)
        sent.append((program, as_zipkin(made, program, pick) if is_zipkin else made))
        if pick.random() < 0.3:
            again, made = pick.choice(sent)
            sent.append((again if is_zipkin else pick.choice([again, pick.randrange(3)]), made))
    return sent


def row_of(program, made):
    """The members of both forms, and the name, number and host by which the program is known."""
    if 'traceId' in made and 'id' in made:
        start = made['timestamp'] * 1000
        return {'program': (PROGRAMS[program][0], 0, ''), 'span': made, 'start': start, 'label': made['name'], 'trace': made['traceId'], 'id': made['id'],
                'parent': made.get('parentId'), 'is_shared': made['shared'], 'end': start + made['duration'] * 1000 if 'duration' in made else None,
                'kind': made.get('kind', 'task').lower(), 'failed': 'tags' in made, 'links': [],
                'events': [(event['value'], event['timestamp'] * 1000) for event in made['annotations']]}
    start = int(made['startTimeUnixNano'])
    return {'program': (*PROGRAMS[program], 'h1'), 'span': made, 'start': start, 'label': made['name'], 'trace': made['traceId'], 'id': made['spanId'],
            'parent': made.get('parentSpanId'), 'is_shared': False, 'end': max(int(made['endTimeUnixNano']), start) if 'endTimeUnixNano' in made else None,
            'kind': ['task', 'task', 'server', 'client', 'producer', 'consumer'][made['kind']], 'failed': 'status' in made, 'links': made['links'],
            'events': [(event['name'], int(event['timeUnixNano'])) for event in made['events']]}


def naive_rows(sent):
    """The spans that are shown: not those that were sent before, byte for byte. The first of equal ids is the one that others mean."""
    rows, first = [], {}
    for program, made in sent:
        row = row_of(program, made)
        ids = row['trace'], row['id'], row['is_shared']
        if ids in first and (first[ids]['program'], first[ids]['span']) == (row['program'], made):
            continue
        first.setdefault(ids, row)
        rows.append(row)
    return rows, first


def naive_parent(row, first):
    """A span that shares its ids is below the other one with these; else below that with the id of its parent, first one that shares none."""
    candidates = [(row['trace'], row['id'], False)] if row['is_shared'] else []
    candidates += [(row['trace'], row['parent'], False), (row['trace'], row['parent'], True)] if row['parent'] else []
    parent = next((first[ids] for ids in candidates if ids in first), None)
    return None if parent is row or (parent and parent['start'] > row['start']) else parent


def naive_reading(sent):
    """Tasks, edges (from, to, time) between spans of two programs and of links, and events."""
    rows, first = naive_rows(sent)
    tasks_wanted, edges = Counter(), Counter()
    for row in rows:
        parent = naive_parent(row, first)
        is_near = parent and parent['program'] == row['program']
        outcome = 'unfinished' if row['end'] is None else 'failed' if row['failed'] else 'fulfilled'
        tasks_wanted[row['program'], row['label'], row['start'], row['end'], parent['label'] if is_near else None, row['kind'], outcome] += 1
        if parent and not is_near:
            edges[parent['label'], row['label'], row['start']] += 1
        for link in row['links']:
            other = first.get((link['traceId'], link['spanId'], False))
            if other:
                own = [int(pair['value']['intValue']) for pair in link.get('attributes', [])]
                edges[other['label'], row['label'], max([row['start'], other['start'], *own])] += 1
    return tasks_wanted, edges, Counter(event for row in rows for event in row['events'])


def check_document(folder, pick):
    sent = random_document(pick)
    path = write(folder, [made if 'id' in made else otlp([made], *PROGRAMS[program]) for program, made in sent])
    order = list(dict.fromkeys(row_of(*it)['program'] for it in sent))  # programs are numbered as they come
    found = tasks(path)
    labels = {task['task']: task['label'] for task in found}
    got = Counter((order[task.get('buffer', 0)], task['label'], task['start'], task['end'] if task['outcome'] != 'unfinished' else None,
                   labels.get(task['parent']), task['kind'], task['outcome']) for task in found)
    edges = Counter((labels[edge['from']], labels[edge['to']], edge['time']) for edge in json_lines(weft('dump', '--edges', '--json', path).stdout)
                    if edge['edge'] == 'receive')
    notes = Counter((event['text'], event['time']) for event in events(path, 'note'))
    for shown, wanted in zip((got, edges, notes), naive_reading(sent)):
        equal((shown - wanted, wanted - shown), (Counter(), Counter()))


@case
def random_spans_are_those_of_a_naive_reading():
    for seed in range(30):
        with temporary_directory() as folder:
            try:
                check_document(folder, random.Random(seed))
            except Exception as error:
                raise AssertionError('seed %d: %s' % (seed, error)) from error


@case
def metrics_alone_are_an_empty_trace():
    with temporary_directory() as folder:
        path = write(folder, [{'resourceMetrics': []}])
        equal(weft('dump', path).stdout, '')


main()
