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
            inner, outer = official('request', program.stdout.readline().strip())
        except BaseException:
            program.kill()
            raise
        finally:
            communicate(program)
        equal((program.returncode, inner['name'], outer['name']), (0, 'inner', 'outer'))
        serve, = spans_of(run([WEFT, 'export', '--to', 'otlp-json', '--signal', 'traces', trace]).stdout)
        equal((serve['name'], serve['traceId'], serve['parentSpanId']), ('serve', outer['traceId'], outer['spanId']))
        equal((inner['traceId'], inner['parentSpanId']), (outer['traceId'], serve['spanId']))


main()
