# SPDX-License-Identifier: ISC
"""OpenTelemetry's own code, from npm, reads what weft writes, and is parent and child of a program that weft records."""
import fcntl
import json
import os
import shutil
import subprocess

import npm_packages
from harness import BUILD, DATA, SOURCE, WEFT, case, equal, main, run, skip, temporary_directory, weft
from waiting import communicate

NPM = os.path.join(BUILD, 'otlp_npm')
SCRIPT = os.path.join(SOURCE, 'tests', 'e2e', 'otlp_official.js')
CHILD = os.path.join(SOURCE, 'tests', 'e2e', 'otlp_child.js')
SUBJECTS = os.path.join(BUILD, 'tests')


def official(*args):
    """The answer of otlp_official.js."""
    if not shutil.which('node'):
        skip('nodejs is not installed')
    os.makedirs(NPM, exist_ok=True)
    with open(os.path.join(NPM, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        npm_packages.install(os.path.join(SOURCE, 'tests', 'e2e', 'otlp_npm'), NPM)
    result = run(['node', SCRIPT, *map(str, args)], env={'WEFT_NPM': NPM, 'no_proxy': '*'})
    equal(result.returncode, 0, result.stderr)
    return json.loads(result.stdout)


def family(program):
    """JavaScript asks `program` by HTTP, which asks JavaScript: the inner and the outer span of that. `program` has printed its port."""
    try:
        inner, outer = official('request', program.stdout.readline().strip())
        equal((inner['name'], outer['name']), ('inner', 'outer'))
        return inner, outer
    except BaseException:
        program.kill()
        raise


def recorded_child(trace, *arguments, env=None):
    """The inner and the outer span beside a program of node that weft records, the program's further output, and the spans of it by name."""
    if not os.path.exists(os.path.join(BUILD, 'bindings', 'node', 'weft.node')):
        skip('built without the addon for node: node_api.h (libnode-dev) is not installed')
    program = subprocess.Popen([WEFT, 'record', '-a', 'auto', '-o', trace, 'node', CHILD, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, WEFT_NPM=NPM, **(env or {})))
    try:
        inner, outer = family(program)
    finally:
        output = communicate(program)
    equal(program.returncode, 0, output[1])
    every, requests, followed = (spans_of(run([WEFT, 'export', '--to', 'otlp-json', '--signal', 'traces', *how, trace]).stdout)
                                 for how in ((), ('--spans', 'requests'), ('--spans', 'requests', '--follow')))
    assert len(requests) < len(every), (len(requests), len(every))
    places = [sorted((span['spanId'], span['name'], span['traceId'], span.get('parentSpanId', '')) for span in found) for found in (requests, followed)]
    equal(*places)
    return inner, outer, output[0].strip(), {span['name']: span for span in every}


def spans_of(text):
    return [span for line in text.splitlines() for resource in json.loads(line)['resourceSpans'] for scope in resource['scopeSpans'] for span in scope['spans']]


def shape(span):
    """As otlp_official.js prints a span."""
    return {'name': span['name'], 'traceId': span['traceId'], 'spanId': span['spanId'], 'parentSpanId': span.get('parentSpanId', ''),
            'startTimeUnixNano': span['startTimeUnixNano'], 'endTimeUnixNano': span['endTimeUnixNano'],
            'links': [link['spanId'] for link in span.get('links', [])], 'events': [event['name'] for event in span.get('events', [])],
            'status': span.get('status', {}).get('code', 0)}


def check(folder, *args):
    """The official schema has all that is in the protobuf, and it says the same as the JSON."""
    path = os.path.join(folder, 'spans.pb')
    weft('export', '--to', 'otlp', *args, '-o', path)
    found = official('decode', path)
    equal((found['problem'], found['again']), (None, found['size']))
    written = spans_of(weft('export', '--to', 'otlp-json', '--signal', 'traces', *args).stdout)
    assert written
    equal(found['spans'], [shape(span) for span in written])


@case
def the_schema_reads_spans():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'every.weft')
        run([os.path.join(SUBJECTS, 'every_event'), trace, '1'])
        check(folder, trace)
        check(folder, '--spans', 'requests', trace)
        check(folder, os.path.join(DATA, 'recorded', 'echo-server.weft'))


@case
def a_span_between_two_of_the_sdk():
    """JavaScript asks a program in C by HTTP, which asks JavaScript: three spans of one trace, one below the other."""
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace.weft')
        program = subprocess.Popen([os.path.join(SUBJECTS, 'http-subject')], stdout=subprocess.PIPE, text=True, env=dict(os.environ, WEFT_OUT=trace))
        try:
            inner, outer = family(program)
        finally:
            communicate(program)
        equal(program.returncode, 0)
        serve, = spans_of(run([WEFT, 'export', '--to', 'otlp-json', '--signal', 'traces', trace]).stdout)
        equal((serve['name'], serve['traceId'], serve['parentSpanId']), ('serve', outer['traceId'], outer['spanId']))
        equal((inner['traceId'], inner['parentSpanId']), (outer['traceId'], serve['spanId']))


@case
def a_server_of_node_goes_on_with_a_trace():
    """All that it does for the request is in the caller's trace, and it sends what it would send alone."""
    with temporary_directory() as folder:
        inner, outer, _, spans = recorded_child(os.path.join(folder, 'trace.weft'))
        serve = spans['GET /']
        equal((serve['traceId'], serve['parentSpanId']), (outer['traceId'], outer['spanId']))
        handled = [span for name, span in spans.items() if 'otlp_child.js:2' in name and not name.startswith(('<', 'Server'))]
        assert {span['traceId'] for span in handled} == {outer['traceId']}, spans
        sent, = [span for name, span in spans.items() if name.startswith('GET 127.0.0.1')]
        equal(sent['traceId'], outer['traceId'])
        equal((inner['parentSpanId'], inner['traceId'] == outer['traceId']), ('', False))


@case
def a_server_of_node_hands_a_trace_on_if_asked_to():
    with temporary_directory() as folder:
        inner, outer, _, spans = recorded_child(os.path.join(folder, 'trace.weft'), env={'WEFT_PROPAGATE': '1'})
        sent, = [span for name, span in spans.items() if name.startswith('GET 127.0.0.1')]
        equal((sent['traceId'], sent['parentSpanId']), (outer['traceId'], spans['GET /']['spanId']))
        equal((inner['traceId'], inner['parentSpanId']), (outer['traceId'], sent['spanId']))


@case
def what_the_sdk_in_a_program_of_node_sends_is_read():
    for env in ({}, {'WEFT_PROPAGATE': '1'}):
        with temporary_directory() as folder:
            inner, outer, own, spans = recorded_child(os.path.join(folder, 'trace.weft'), 'sdk', env=env)
            sent, = [span for name, span in spans.items() if name.startswith('GET 127.0.0.1')]
            equal((sent['traceId'], sent['parentSpanId']), (outer['traceId'], own))
            equal((inner['traceId'], inner['parentSpanId']), (outer['traceId'], own))


main()
