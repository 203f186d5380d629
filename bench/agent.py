# SPDX-License-Identifier: ISC
"""An agent that looks each second at many programs of 20 counters, which all change each second: its processor time, its
memory, and how regularly it looks, by the times at which it writes to its database.

    agent.py [PROGRAMS…]      10, 100 and 1000 by default
"""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ.get('WEFT_SOURCE') or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get('WEFT_BUILD') or os.path.join(SOURCE, 'build-bench')
SECONDS = 30
TOTAL = "SELECT total(total) FROM totals WHERE metric = 'counter/0'"


def ask(path, question):
    """0: the agent has not made the table yet."""
    try:
        with contextlib.closing(sqlite3.connect('file:%s?mode=ro' % path, uri=True)) as database:
            return database.execute(question).fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def processor_ns(pid):
    """The time of all threads that have not ended."""
    total = 0
    for thread in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/schedstat' % (pid, thread), encoding='utf-8') as file:
            total += int(file.read().split()[0])
    return total


def memory_bytes(pid):
    with open('/proc/%d/status' % pid, encoding='utf-8') as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith('VmRSS'))


def times_of_looks(log):
    """When the agent wrote to the log of its database, a look each."""
    last, times = os.stat(log).st_mtime_ns, []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        now = os.stat(log).st_mtime_ns
        if now - last > 300_000_000:
            times.append(last)
        last = now
        time.sleep(0.02)
    return times


def watch(pid, data, programs):
    """The share of a processor, bytes of memory, and the seconds between two looks."""
    while ask(data, TOTAL) < 3 * programs:
        time.sleep(0.5)
    began, used = time.monotonic(), processor_ns(pid)
    times = times_of_looks(data + '-wal')
    share = (processor_ns(pid) - used) / (time.monotonic() - began) / 1e9
    return share, memory_bytes(pid), sorted((after - before) / 1e9 for before, after in zip(times, times[1:]))


def measure(programs):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, 'agent.db')
        environment = dict(os.environ, WEFT_AGENT=os.path.join(folder, 'agent'))
        os.mkdir(environment['WEFT_AGENT'], 0o700)
        with subprocess.Popen([os.path.join(BUILD, 'bench', 'bench_agent_programs'), str(programs)], env=environment,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as counting:
            counting.stdout.readline()
            with subprocess.Popen([os.path.join(BUILD, 'weft'), 'agent', '--only-folder', '--data', data], env=environment) as agent:
                try:
                    share, memory, gaps = watch(agent.pid, data, programs)
                finally:
                    agent.terminate()
            counting.stdin.close()
        print('%10d %10.1f %10.1f %10.2f %10.2f %10.2f' % (
            programs, 100 * share, memory / 1e6, gaps[0], gaps[len(gaps) // 2], gaps[-1]), flush=True)


print('%10s %10s %10s %32s' % ('', '% of a', '', 'seconds between two looks'))
print('%10s %10s %10s %10s %10s %10s' % ('programs', 'processor', 'MB', 'least', 'median', 'most'))
for word in sys.argv[1:] or ['10', '100', '1000']:
    measure(int(word))
