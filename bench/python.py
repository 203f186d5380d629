# SPDX-License-Identifier: ISC
"""The cost of recording asyncio: a web server of aiohttp, alone, recorded by weft, and profiled by cProfile.

    WEFT_BUILD=build python3 bench/python.py

The runs alternate, because the machine's speed drifts. The processor time is the server's alone.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('WEFT_BUILD') or os.path.join(os.path.dirname(HERE), 'build-bench')
LOAD = os.path.join(os.path.dirname(HERE), 'tests', 'e2e', 'aiohttp_load.py')
ENVIRONMENT = dict(os.environ, PYTHONPATH=os.path.join(BUILD, 'bindings', 'python'))
ROUNDS = int(os.environ.get('WEFT_BENCH_ROUNDS', '7'))
REQUESTS, CLIENTS = 3000, 20


def python_with_aiohttp():
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and not subprocess.run([python, '-c', 'import aiohttp'], capture_output=True).returncode:
            return python
    return None


def serve(server, python, path):
    """Requests a second, and the server's processor time for one request in microseconds."""
    with subprocess.Popen([*server, LOAD, 'server'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=ENVIRONMENT) as process:
        port = process.stdout.readline().strip()
        client = subprocess.run([python, LOAD, 'client', port, str(REQUESTS), str(CLIENTS), path], check=True,
                                capture_output=True, text=True)
        seconds = float(process.stdout.readline())
    return float(client.stdout.splitlines()[1]), seconds / REQUESTS * 1e6


def least(runs):
    """The least processor time for a request: other activity of the machine can only add to it."""
    return min(microseconds for _, microseconds in runs)


def aiohttp(folder):
    python = python_with_aiohttp()
    if not python:
        print('aiohttp is not measured: it is missing (Debian: python3-aiohttp)')
        return
    trace = os.path.join(folder, 'server.weft')
    ways = {'alone': [python], 'python3 -m weft': [os.path.join(BUILD, 'weft'), 'record', '-o', trace, python, '-m', 'weft'],
            'python3 -m cProfile': [python, '-m', 'cProfile', '-o', os.path.join(folder, 'profile')]}
    print('%-34s%12s%14s' % ('', 'requests/s', 'us/request'))
    for path in ('plain', 'sleep'):
        found = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, server in ways.items():
                found[name].append(serve(server, python, path))
        print('aiohttp, /%s' % path)
        for name, runs in found.items():
            print('  %-32s%12.0f%14.1f  x %.2f' % (name, statistics.median(rate for rate, _ in runs), least(runs),
                                                   least(runs) / least(found['alone'])))


CALLS = '''
import timeit, weft
task, name, n = weft.create('task'), weft.Name('a name'), 200000
for call in ("weft.switch(task)", "weft.resolve(task)", "weft.note(name)", "weft.note('a note')", "weft.counter_add('queue')",
             "weft.create('label')", "weft.read(task, task=task)"):
    times = timeit.repeat(call, globals=globals(), number=n, repeat=5)
    print('  %-32s%26.0f' % (call, min(times) / n * 1e9))
'''


STEPS = '''
import asyncio, time
n = 10000

async def step():
    for _ in range(n):
        await asyncio.sleep(0)

async def ping(to, back):
    for _ in range(n):
        to.put_nowait(1)
        await back.get()

async def pong(to, back):
    for _ in range(n):
        await to.get()
        back.put_nowait(1)

async def exchange():
    to, back = asyncio.Queue(), asyncio.Queue()
    await asyncio.gather(ping(to, back), pong(to, back))

async def nothing():
    pass

async def create():
    for _ in range(n):
        await asyncio.create_task(nothing())

def measure(run):
    begin = time.process_time()
    asyncio.run(run())
    return (time.process_time() - begin) / n * 1e9

print(*(min(measure(run) for _ in range(9)) for run in (step, exchange, create)))
'''
STEP_NAMES = 'a step of a task', 'two tasks wake each other', 'a task, created and awaited'


def steps(folder):
    """Nanoseconds of processor time, the least of nine runs in each of three processes."""
    ways = ([sys.executable], [os.path.join(BUILD, 'weft'), 'record', '-o', os.path.join(folder, 's.weft'), sys.executable, '-m', 'weft'])
    runs = [[subprocess.run([*way, '-c', STEPS], env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout.split()
             for way in ways] for _ in range(3)]
    print('%-34s%12s%14s' % ('asyncio in ns', 'alone', 'recorded'))
    for i, name in enumerate(STEP_NAMES):
        alone, recorded = (min(float(run[way][i]) for run in runs) for way in (0, 1))
        print('  %-32s%12.0f%14.0f  x %.2f' % (name, alone, recorded, recorded / alone))


def start(before, code, variables):
    """Processor time of a program that does nothing more, with all that begins it, in milliseconds."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*before, sys.executable, '-c', code], stderr=subprocess.DEVNULL, check=True, env=dict(os.environ, **variables))
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime) * 1e3


def starts(folder):
    record = [os.path.join(BUILD, 'weft'), 'record', '-o', os.path.join(folder, 'start.weft')]
    ways = ([], {}), (record, {'WEFT_PYTHON': 'off'}), (record, {})
    print('%-34s%12s%14s%14s' % ('ms to start', 'alone', 'adapters', 'and asyncio'))
    for code in ('pass', 'import asyncio'):
        runs = [[start(before, code, variables) for before, variables in ways] for _ in range(10 * ROUNDS)]
        print('  %-32s%12.1f%14.1f%14.1f' % (("python3 -c '%s'" % code,) + tuple(min(run[way] for run in runs) for way in range(3))))


def calls(folder):
    for heading, before in (('one call in ns, recorded', [os.path.join(BUILD, 'weft'), 'record', '-o', os.path.join(folder, 'calls.weft')]),
                            ('one call in ns, not recorded', [])):
        print(heading)
        made = subprocess.run([*before, sys.executable, '-c', CALLS], env=ENVIRONMENT, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        print(made.stdout, end='')


if __name__ == '__main__':
    if not os.path.exists(os.path.join(ENVIRONMENT['PYTHONPATH'], 'weft', '_weft.abi3.so')):
        sys.exit(print("the package for Python is not measured: Python's headers are missing (Debian: python3-dev)"))
    with tempfile.TemporaryDirectory(prefix='weft-bench-') as where:
        calls(where)
        steps(where)
        starts(where)
        aiohttp(where)
