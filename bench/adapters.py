# SPDX-License-Identifier: ISC
"""The cost of adapters: of single calls, and to whole programs beside other tracers on the same work.

    WEFT_BUILD=build-bench python3 bench/adapters.py [calls | samples | redis | pigz | libuv]…

The ways to run a program take turns, WEFT_BENCH_ROUNDS times (3), because the machine's speed drifts. The median counts.
"""
import contextlib
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('WEFT_BUILD') or os.path.join(os.path.dirname(HERE), 'build-bench')
WEFT = os.path.join(BUILD, 'weft')
ROUNDS = int(os.environ.get('WEFT_BENCH_ROUNDS', '3'))
SECONDS = 2  # that a server is asked


class Missing(Exception):
    pass


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing('no ' + program)


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600, **options)


def wait_for(command):
    for _ in range(400):
        if subprocess.run(command, capture_output=True).returncode == 0:
            return
        time.sleep(0.02)
    raise RuntimeError('%s fails' % command[0])


# ---- The work: each returns its speed ----

@contextlib.contextmanager
def server(command, environment, stop):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
                          start_new_session=True) as process:
        try:
            yield process
        finally:
            stop(process)
            process.wait(timeout=120)


def ask_redis(socket, requests):
    text = run(['redis-benchmark', '-s', socket, '-t', 'get', '-n', str(requests), '-c', '20', '-q']).stdout
    return float(re.search(r'([\d.]+) requests per second', text).group(1))


def redis(folder, prefix, environment):
    """Requests a second of a GET, by 20 clients."""
    need('redis-server', 'redis-benchmark')
    socket = os.path.join(folder, 'redis')
    ask = ['redis-cli', '-s', socket]
    with server([*prefix, 'redis-server', '--port', '0', '--unixsocket', socket, '--save', ''], environment,
                lambda _: run([*ask, 'shutdown', 'nosave'])) as process:
        wait_for([*ask, 'ping'])
        process.stdout.close()
        asked = ask_redis(socket, 500)
        return ask_redis(socket, max(500, int(asked * SECONDS)))


def pigz(folder, prefix, environment):
    """MB a second that two threads compress."""
    need('pigz')
    source = os.path.join(folder, 'source')
    if not os.path.exists(source):
        with open(source, 'wb') as file:
            words = b''.join(b'%d words of line %d\n' % (i * 7919 % 1000, i) for i in range(400000))
            file.write(words * 6)
    began = time.monotonic()
    with open(source, 'rb') as file:
        subprocess.run([*prefix, 'pigz', '-p', '2', '-c'], check=True, stdin=file, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=environment)
    return os.path.getsize(source) / 1e6 / (time.monotonic() - began)


def libuv(folder, prefix, environment):
    """Requests a second to a web server on libuv, by 16 clients. A timer is started in each."""
    need('wrk')
    program = os.path.join(BUILD, 'bench', 'bench_uv_server')
    if not os.path.exists(program):
        raise Missing('built without libuv')
    children = 'pgrep -g %d bench_uv_server | xargs -r kill'

    def stop(process):
        subprocess.run(['sh', '-c', children % process.pid], check=True)
    with server([*prefix, program], environment, stop) as process:
        port = process.stdout.readline().strip()
        text = run(['wrk', '-t', '1', '-c', '16', '-d', '%ds' % SECONDS, 'http://127.0.0.1:%s/' % port]).stdout
    return float(re.search(r'Requests/sec: *([\d.]+)', text).group(1))


WORKS = {'redis': (redis, 'redis-server, GET/s'), 'pigz': (pigz, 'pigz -p 2, MB/s'), 'libuv': (libuv, 'libuv, GET/s')}


# ---- The ways to run it ----

@contextlib.contextmanager
def plain(folder, *prefix):
    yield list(prefix), dict(os.environ)


def weft(*options):
    def way(folder):
        return plain(folder, WEFT, 'record', *options, '-o', os.path.join(folder, 'trace.weft'), '--')
    return way


def tool(name, *options):
    def way(folder):
        need(name)
        prefix = [name, *[o.format(folder=folder) for o in options]]
        if subprocess.run([*prefix, 'true'], capture_output=True).returncode:
            raise Missing('%s may not trace here' % name)
        return plain(folder, *prefix)
    return way


def lttng_session(folder, wrapper):
    """A daemon and a session of LTTng, in which the wrapper's events are recorded."""
    environment = dict(os.environ, LTTNG_HOME=folder, LTTNG_UST_ALLOW_BLOCKING='0')
    daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        wait_for(['env', 'LTTNG_HOME=' + folder, 'lttng', '--no-sessiond', 'list'])
        for words in (['create', 'weft', '--output', os.path.join(folder, 'lttng')], ['enable-event', '-u', '-a'],
                      ['start']):
            run(['lttng', '--no-sessiond', *words], env=environment)
        yield [], dict(environment, LD_PRELOAD=wrapper)
        run(['lttng', '--no-sessiond', 'destroy', 'weft'], env=environment)
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)


def lttng(name):
    def way(folder):
        need('lttng', 'lttng-sessiond')
        found = glob.glob('/usr/lib/*/liblttng-ust-%s-wrapper.so*' % name)
        if not found:
            raise Missing('no liblttng-ust-%s-wrapper' % name)
        return contextlib.contextmanager(lttng_session)(folder, sorted(found)[0])
    return way


WAYS = {
    'alone': plain,
    'weft record -a thread': weft('-a', 'thread'),
    'weft record -a io': weft('-a', 'io'),
    'weft record -a uv': weft('-a', 'uv'),
    'weft record': weft(),
    'strace -c -f': tool('strace', '-c', '-f', '-o', '{folder}/strace'),
    'ltrace -c -f': tool('ltrace', '-c', '-f', '-o', '{folder}/ltrace'),
    'perf trace -s': tool('perf', 'trace', '-s', '-o', '{folder}/perf', '--'),
    'LTTng, pthread wrapper': lttng('pthread'),
    'LTTng, libc wrapper': lttng('libc'),
}


# ---- The tables ----

def times(command):
    """The lines "NAME 12.3 ns" that a program prints, as a dictionary. The fastest of some runs counts."""
    found = {}
    for _ in range(3):
        for name, ns in re.findall(r'(\S.*?) +([\d.]+) ns', run(command).stdout):
            found[name] = min(float(ns), found.get(name, float(ns)))
    return found


def calls(folder):
    """Prints the cost of single calls: alone, with the adapter's level off, and recorded."""
    print('%-26s%12s%12s%12s' % ('one call, ns', 'alone', 'level off', 'recorded'))
    for program, adapter in (('lock', 'thread'), ('uv', 'uv'), ('uring', 'io')):
        path = os.path.join(BUILD, 'bench', 'bench_' + program)
        if not os.path.exists(path):
            continue
        record = [WEFT, 'record', '-a', adapter, '-o', os.path.join(folder, 'trace.weft'), '--', path]
        ways = [[path], ['env', 'WEFT_CATEGORIES=%s=off' % adapter, *record], record]
        found = [times(way) for way in ways]
        for name in found[0]:
            print('%-26s' % name + ''.join('%12.1f' % column[name] for column in found))


# Prints its processor time, without what begins and ends it.
BUSY = 'import time; began = time.process_time()\nfor i in range(5000000): i * i\nprint(time.process_time() - began)'


def samples(folder):
    """Prints the processor time of a program with and without samples, and of `weft record` for it. The least of some runs counts."""
    trace = os.path.join(folder, 'trace.weft')
    ways = {'weft record': [], '--samples 99': ['--samples', '99'], '--samples 999': ['--samples', '999']}
    found = {name: ([], []) for name in ways}
    for _ in range(2 * ROUNDS):
        for name, options in ways.items():
            before = os.times()
            own = float(run([WEFT, 'record', *options, '-o', trace, '--', sys.executable, '-c', BUSY]).stdout)
            after = os.times()
            found[name][0].append(own)
            found[name][1].append(sum(after[2:4]) - sum(before[2:4]) - own)
    print('%-26s%12s%12s' % ('processor time, ms', 'the program', 'the rest'))
    for name, (own, rest) in found.items():
        print('%-26s%12.1f%12.1f' % (name, min(own) * 1e3, min(rest) * 1e3))


TABLES = {'calls': calls, 'samples': samples}


def measure(folder, work, missing):
    """The speeds of each way; a missing one has none."""
    speeds = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            if name in missing or (name.endswith(' uv') and work is not libuv):
                continue
            try:
                with way(folder) as (prefix, environment):
                    speeds[name].append(work(folder, prefix, environment))
            except Missing as reason:
                if name == 'alone':
                    raise
                missing[name] = str(reason)
    return {name: statistics.median(found) for name, found in speeds.items() if found}


def cell(found, name):
    if name not in found:
        return ''
    change = (found[name] / found['alone'] - 1) * 100
    return '%10.0f' % found[name] + ('' if name == 'alone' else ' %+6.1f %%' % change)


def main():
    wanted = sys.argv[1:] or ['calls', 'samples', *WORKS]
    table, missing = {}, {}
    with tempfile.TemporaryDirectory(prefix='weft-bench-') as folder:
        os.environ.update(XDG_RUNTIME_DIR=folder, WEFT_ADAPTERS='')
        for name in wanted:
            if name in TABLES:
                TABLES[name](folder)
                continue
            try:
                table[name] = measure(folder, WORKS[name][0], missing)
            except Missing as reason:
                print('%s is not measured: %s' % (name, reason))
    if not table:
        return
    print('\n%-26s' % '' + ''.join('%-26s' % WORKS[name][1].rjust(19) for name in table))
    for way in WAYS:
        if any(way in found for found in table.values()):
            print('%-26s' % way + ''.join('%-26s' % cell(found, way) for found in table.values()).rstrip())
    for way, reason in missing.items():
        print('%s is not measured: %s' % (way, reason))


if __name__ == '__main__':
    main()
