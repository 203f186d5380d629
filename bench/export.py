# SPDX-License-Identifier: ISC
"""Spans a second that one processor writes, in each format, beside OpenTelemetry's SDK for JavaScript.

    WEFT_BUILD=build python3 bench/export.py

A span has a label, four or five attributes, one event and one link. "read" is the floor of all formats of weft: it reads the trace, builds
the model and writes next to nothing. The SDK makes such spans and serializes them in batches of 512, without a network; it is installed
from npm into a temporary folder. Processor time is the whole process's, with the interpreter's start.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'tests', 'e2e'))
from traces import NONE, mirage  # noqa: E402

BUILD = os.path.abspath(os.environ.get('WEFT_BUILD') or os.path.join(os.path.dirname(HERE), 'build-bench'))
WEFT = os.path.join(BUILD, 'weft')
ROUNDS = int(os.environ.get('WEFT_BENCH_ROUNDS', '5'))
SPANS = 200000
START = ['--start-time', '2026-11-29T14:37:40Z']
SDK = ['@opentelemetry/api@1.9.0', '@opentelemetry/sdk-trace-base@2.12.1', '@opentelemetry/otlp-transformer@0.223.1']


def make_trace(path):
    events = []
    for i in range(1, SPANS + 1):
        time = 1000 * i
        events += [(time, 'create', i - 1 if i % 10 > 1 else NONE, i, 1), (time + 1, 'label', i, 'request %d' % (i % 100)),
                   (time + 2, 'label', i, 'parsed'), (time + 3, 'signal_only', max(i - 1, 1), i), (time + 9, 'fulfil', i, i)]
    with open(path, 'wb') as file:
        file.write(mirage(events, 65536))


def processor_time(command, **options):
    """Seconds on one processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}),
                   **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def install_sdk(folder):
    """None if it is not to be had."""
    if not shutil.which('npm'):
        return 'npm is missing'
    result = subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--prefix', folder, *SDK], capture_output=True, text=True)
    return result.stderr.strip().split('\n')[-1] if result.returncode else None


def main():
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, 'spans.ctf')
        make_trace(trace)
        ways = {'read': [WEFT, 'export', '--to', 'otlp', '--signal', 'metrics', *START, trace, '-o', '/dev/null']}
        for to, options in (('otlp', START), ('otlp-json', ['--signal', 'traces', *START]), ('perfetto', []), ('zipkin', START)):
            ways[to] = [WEFT, 'export', '--to', to, *options, trace, '-o', '/dev/null']
        environment = dict(os.environ, NODE_PATH=os.path.join(folder, 'node_modules'))
        missing = install_sdk(folder)
        for kind in () if missing else ('protobuf', 'json'):
            ways['SDK, %s' % kind] = ['node', os.path.join(HERE, 'otlp_sdk.js'), str(SPANS), kind]
        found = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, command in ways.items():
                found[name].append(processor_time(command, env=environment))
        for name, times in found.items():
            seconds = statistics.median(times)
            print('%-14s %7.0f thousand spans a second  (%.2f s for %d thousand; %.2f to %.2f)' % (
                name, SPANS / seconds / 1000, seconds, SPANS // 1000, min(times), max(times)))
        if missing:
            print("OpenTelemetry's SDK is not measured: %s" % missing)


main()
