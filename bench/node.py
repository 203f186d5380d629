# SPDX-License-Identifier: ISC
"""The cost of recording node: a web server with a pool, files and timers under load, and the start of an empty program.

    WEFT_BUILD=build python3 bench/node.py

The load is wrk's (Debian: wrk). The ways alternate, because the machine's speed drifts; the processor time is the server's alone.
"""
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get('WEFT_BUILD') or os.path.join(os.path.dirname(HERE), 'build-bench'))
SCRIPT = os.path.join(BUILD, 'bindings', 'node', 'weft.js')
ROUNDS = int(os.environ.get('WEFT_BENCH_ROUNDS', '5'))
SECONDS = 4


def ways(folder):
    """{name: (command before node, variables)}"""
    record = [os.path.join(BUILD, 'weft'), 'record', '-o', os.path.join(folder, 'node.weft')]
    return {'alone': ([], {}), 'loaded, not recording': ([], {'NODE_OPTIONS': '--require="%s"' % SCRIPT}),
            'guess': (record + ['-a', 'node'], {'WEFT_NODE': 'guess'}), 'exact': (record + ['-a', 'node'], {}),
            'thread and io only': (record, {'WEFT_NODE': 'off'}), 'exact, thread and io': (record, {})}


def get(port, path):
    with urllib.request.urlopen('http://127.0.0.1:%s%s' % (port, path)) as answer:
        return answer.read().decode()


def load(port, seconds):
    """The number of requests that were answered."""
    text = subprocess.run(['wrk', '-t', '1', '-c', '16', '-d', str(seconds), 'http://127.0.0.1:%s/item/7' % port], check=True,
                          capture_output=True, text=True).stdout
    return int(re.search(r'(\d+) requests in', text).group(1))


def serve(before, variables):
    """Requests a second, and the server's processor time for one in microseconds."""
    with subprocess.Popen([*before, 'node', os.path.join(HERE, 'node_server.js')], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, env=dict(os.environ, **variables)) as process:
        port = process.stdout.readline().strip()
        load(port, 2)
        begin = int(get(port, '/used'))
        count = load(port, SECONDS)
        used = int(get(port, '/used')) - begin
        process.send_signal(signal.SIGTERM)
    return count / SECONDS, used / count


def start(before, variables):
    """Processor time of a program that does nothing, with all that begins it, in milliseconds."""
    begin = os.times()
    subprocess.run([*before, 'node', '-e', '0'], stderr=subprocess.DEVNULL, check=True, env=dict(os.environ, **variables))
    end = os.times()
    return (end.children_user + end.children_system - begin.children_user - begin.children_system) * 1e3


def main():
    if not shutil.which('node') or not shutil.which('wrk') or not os.path.exists(SCRIPT):
        sys.exit(print('node is not measured: node, wrk or the addon (Debian: libnode-dev) is missing'))
    with tempfile.TemporaryDirectory(prefix='weft-bench-') as folder:
        found = {name: ([], []) for name in ways(folder)}
        for _ in range(ROUNDS):
            for name, way in ways(folder).items():
                found[name][0].append(serve(*way))
                found[name][1].append(start(*way))
    print('%-34s%12s%14s%22s' % ('', 'requests/s', 'us/request', "ms to start 'node -e 0'"))
    alone = min(used for _, used in found['alone'][0])
    for name, (runs, starts) in found.items():
        least = min(used for _, used in runs)
        print('  %-32s%12.0f%14.1f  x %.2f%16.0f' % (name, statistics.median(rate for rate, _ in runs), least, least / alone, min(starts)))


main()
