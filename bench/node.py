# SPDX-License-Identifier: ISC
"""The cost of recording node: a web server with a pool, files and timers under load, and the start of an empty program.

    WEFT_BUILD=build python3 bench/node.py [WAY…]

The load is wrk's (Debian: wrk). All servers run at the same time, and get a second of it in turn, because the machine's speed drifts. Each one measures its own
processor time for each 200 requests (node_server.js); other programs only add to that, so the tenth part of these that is the least counts. As one process is faster
than another that does the same, each way has several, one after the other.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get('WEFT_BUILD') or os.path.join(os.path.dirname(HERE), 'build-bench'))
SCRIPT = os.path.join(BUILD, 'bindings', 'node', 'weft.js')
FLOOR = os.path.join(HERE, 'node_floor.js')
PROCESSES = int(os.environ.get('WEFT_BENCH_ROUNDS', '5'))
LOADS = 4 # of each process


def ways(folder):
    """{name: (command before node, variables)}"""
    def record(name, *more):
        return [os.path.join(BUILD, 'weft'), 'record', '-o', os.path.join(folder, name + '.weft'), *more]

    def loads(script):
        return {'NODE_OPTIONS': '--require="%s"' % script}

    return {'alone': ([], {}), 'loaded, not recording': ([], loads(SCRIPT)),
            'hooks of promises, empty': ([], dict(loads(FLOOR), FLOOR='promises')), 'all hooks, empty': ([], loads(FLOOR)),
            'thread and io only': (record('io'), {'WEFT_NODE': 'off'}),
            'guess, node only': (record('guess', '-a', 'node'), {'WEFT_NODE': 'guess'}), 'guess': (record('guesses'), {'WEFT_NODE': 'guess'}),
            'exact, node only': (record('exact', '-a', 'node'), {}), 'exact': (record('all'), {})}


def get(port, path):
    with urllib.request.urlopen('http://127.0.0.1:%s%s' % (port, path)) as answer:
        return answer.read().decode()


def load(port, seconds):
    """Requests a second, and the server's processor time for one in microseconds, for each 200 of them."""
    get(port, '/slices')
    text = subprocess.run(['wrk', '-t', '1', '-c', '16', '-d', str(seconds), 'http://127.0.0.1:%s/item/7' % port], check=True,
                          capture_output=True, text=True).stdout
    return int(re.search(r'(\d+) requests in', text).group(1)) / seconds, json.loads(get(port, '/slices'))


class Server:
    def __init__(self, before, variables):
        self.process = subprocess.Popen([*before, 'node', os.path.join(HERE, 'node_server.js')], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=dict(os.environ, **variables))
        self.port = self.process.stdout.readline().strip()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def serve(found, rates, slices):
    """Loads a server of each way."""
    servers = {}
    try:
        for name, way in found.items():
            servers[name] = Server(*way)
        for server in servers.values():
            load(server.port, 2)
        for _ in range(LOADS):
            for name, server in servers.items():
                rate, more = load(server.port, 1)
                rates[name].append(rate)
                slices[name] += more
    finally:
        for server in servers.values():
            server.end()


def print_requests(found):
    rates, slices = {name: [] for name in found}, {name: [] for name in found}
    for _ in range(PROCESSES):
        serve(found, rates, slices)

    def used(name, part):
        return sorted(slices[name])[int(len(slices[name]) * part)]
    print('%-28s%12s%16s%22s' % ('', 'requests/s', 'us/request', 'us/request, median'))
    first = next(iter(found))
    for name in found:
        print('  %-26s%12.0f%10.1f x %.2f%15.1f x %.2f' % (name, max(rates[name]), used(name, .1), used(name, .1) / used(first, .1),
                                                           used(name, .5), used(name, .5) / used(first, .5)))


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
        found = {name: way for name, way in ways(folder).items() if not sys.argv[1:] or name in sys.argv[1:]}
        print_requests(found)
        print("%-28s%12s" % ('', "ms to start 'node -e 0'"))
        starts = {name: [] for name in found}
        for _ in range(5):
            for name, way in found.items():
                starts[name].append(start(*way))
        for name, times in starts.items():
            print('  %-26s%12.0f' % (name, min(times)))


main()
