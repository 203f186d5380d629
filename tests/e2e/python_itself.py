# SPDX-License-Identifier: ISC
"""Python under `weft record`, without a flag: asyncio is recorded, and programs do the same as alone."""
import glob
import json
import os
import re
import signal
import subprocess
import sys

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import communicate, wait_until

PROGRAMS = os.path.join(SOURCE, 'tests', 'e2e', 'python')
PYTHON = os.path.realpath(sys.executable)
PROGRAM = '''import asyncio
async def work(): await asyncio.sleep(0.001)
if __name__ == '__main__':
    asyncio.run(work())
'''


def check_built():
    if not os.path.exists(os.path.join(BUILD, 'bindings', 'python', 'weft', 'weft-python.so')):
        skip('built without what is loaded into Python: python3-dev is not installed')


def tasks_of(path):
    return [task for task in json_lines(weft('dump', '--tasks', '--json', path).stdout) if task.get('category') == 'asyncio']


def labels_of(path):
    """Those of tasks without where their coroutines begin."""
    return [re.sub(r'^(\w+) at \S+:\d+$', r'\1', task['label'] or '') if task['kind'] == 'task' else task['label'] for task in tasks_of(path)]


def record(folder, *command, status=0, options=(), **how):
    """Its messages, and the labels of what is recorded of asyncio."""
    path = os.path.join(folder, 'trace.weft')
    if os.path.exists(path):
        os.remove(path)
    result = run([WEFT, 'record', '-a', 'auto', '-o', path, *options, *command], **how)
    equal(result.returncode, status, result.stderr)
    return result.stderr, labels_of(path)


def write(folder, name, text, mode=0o600):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)
    return path


# ---- Ways to start ----

@case
def all_ways_to_start():
    check_built()
    with temporary_directory() as folder:
        program, script = write(folder, 'program.py', PROGRAM), write(folder, 'script', '#!%s -SE\n%s' % (PYTHON, PROGRAM), 0o700)
        with_env = write(folder, 'by_env', '#!/usr/bin/env python3\n' + PROGRAM, 0o700)
        os.symlink(PYTHON, os.path.join(folder, 'python3'))
        run([PYTHON, '-m', 'venv', '--without-pip', os.path.join(folder, 'venv')])
        venv = os.path.join(folder, 'venv', 'bin', 'python')
        for command in ([PYTHON, program], [PYTHON, '-S', program], [PYTHON, '-I', program], [PYTHON, '-E', program], [PYTHON, '-ISE', program],
                        [PYTHON, '-OO', program], [PYTHON, '-X', 'dev', program], [PYTHON, '-W', 'error', program], [PYTHON, '-c', PROGRAM],
                        [PYTHON, '-m', 'program'], [venv, program], [venv, '-m', 'program'], [script], [with_env], ['sh', '-c', 'exec ' + script]):
            messages, labels = record(folder, *command, cwd=folder, env={'PATH': folder + os.pathsep + os.environ['PATH']})
            assert 'work' in labels and 'sleep at' in ' '.join(labels), (command, labels, messages)
            assert 'not recorded' not in messages, messages
        assert 'work' in record(folder, PYTHON, '-', input=PROGRAM)[1]


@case
def it_is_said_beforehand():
    check_built()
    with temporary_directory() as folder:
        messages, _ = record(folder, PYTHON, '-c', 'pass')
        first = messages.splitlines()[0]
        equal(first, 'weft: %s is recorded by the adapters python, thread and io: tasks of asyncio, from Python 3.11 on' % PYTHON)


@case
def processes_of_multiprocessing_are_recorded():
    check_built()
    for method in ('spawn', 'fork', 'forkserver'):
        with temporary_directory() as folder:
            result = run([WEFT, 'record', '-a', 'auto', '-o', folder, PYTHON, os.path.join(PROGRAMS, 'spawns.py'), method])
            equal(result.stdout, '[0, 0]\n')
            traces = glob.glob(os.path.join(folder, '*.weft'))
            equal(sum(label == 'child' for path in traces for label in labels_of(path)), 2, method)


@case
def workers_of_a_server_are_recorded():
    check_built()
    with temporary_directory() as folder:
        result = run([WEFT, 'record', '-a', 'auto', '-o', folder, PYTHON, os.path.join(PROGRAMS, 'preforks.py')])
        equal((result.stdout, result.returncode), ('[3, 4]\n', 5))
        traces = glob.glob(os.path.join(folder, '*.weft'))
        equal(sum(label == 'work' for path in traces for label in labels_of(path)), 2)


@case
def streams_are_recorded():
    check_built()
    with temporary_directory() as folder:
        assert 'work' in record(folder, PYTHON, '-c', PROGRAM, options=['--stream'])[1]


@case
def pools_are_recorded_whenever_they_are_imported():
    check_built()
    use = 'async def main():\n  await asyncio.to_thread(len, [])\nasyncio.run(main())'
    with temporary_directory() as folder:
        for imports in ('import asyncio', 'import concurrent.futures.thread, asyncio', 'import asyncio, concurrent.futures.thread'):
            _, labels = record(folder, PYTHON, '-c', imports + '\n' + use)
            assert 'len' in labels and 'to_thread at <string>:3' in labels, (imports, labels)


@case
def the_package_does_not_record_twice():
    check_built()
    packages = os.path.join(BUILD, 'bindings', 'python')
    with temporary_directory() as folder:
        program = write(folder, 'program.py', PROGRAM + 'import weft.asyncio\nweft.asyncio.record()\nasyncio.run(work())\n')
        _, labels = record(folder, PYTHON, '-m', 'weft', program, env={'PYTHONPATH': packages})
        equal(sum(label == 'work' for label in labels), 2)
        equal(sum(label == 'sleep at program.py:2' for label in labels), 2)


@case
def the_package_finds_weft_in_the_build_folder():
    check_built()
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace.weft')
        result = run([PYTHON, '-m', 'weft', '-o', path, '-c', PROGRAM], cwd=os.path.join(BUILD, 'bindings', 'python'), env={'PATH': '/usr/bin:/bin'})
        equal(result.returncode, 0, result.stderr)
        assert 'work' in labels_of(path)


# ---- What is concluded ----

@case
def a_deadlock_is_named():
    check_built()
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace.weft')
        with subprocess.Popen([WEFT, 'record', '-a', 'auto', '-o', path, PYTHON, os.path.join(PROGRAMS, 'abba.py')],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_until('the deadlock is named', lambda: 'in a circle' in run([WEFT, 'why', process.pid]).stdout, process)
            process.send_signal(signal.SIGTERM)
            communicate(process)
        problems = weft('dump', '--problems', path).stdout
        assert re.match(r"\s*\S+\s+error\s+deadlock\s+task \d+ '(one|other) at abba.py:6' waits for .*in a circle", problems), problems
        assert "tasks wait in a circle with task" in weft('why', path).stdout, weft('why', path).stdout


@case
def who_keeps_the_global_lock_is_named():
    """A function in C that takes 1 s of processor time, so it lasts as long or longer. Both other threads wait for it."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace.weft')
        program = write(folder, 'program.py', '''
import threading, time
before, is_done, beats = time.thread_time(), threading.Event(), threading.Event()
sum(range(10 ** 6))
count = int(10 ** 6 / max(time.thread_time() - before, 1e-6))
def beat():
    while not is_done.is_set():
        time.sleep(0.001)
        beats.set()
def parse():
    beats.wait()
    sum(range(count))
    is_done.set()
threads = [threading.Thread(target=target, name=target.__name__) for target in (beat, parse)]
for thread in threads: thread.start()
for thread in threads: thread.join()
''')
        weft('record', '-a', 'auto', '-o', path, PYTHON, program)
        problems = weft('dump', '--problems', path).stdout
        assert re.search(r"warning +contention +thread \d+ 'parse' keeps Python's global lock for .*, while (beat|python\S*) waits for it", problems), problems


# ---- Programs do the same ----

def check_same(*command, status=0, **how):
    check_built()
    with temporary_directory() as folder:
        alone = run([PYTHON, *command], **how)
        recorded = run([WEFT, 'record', '-a', 'auto', '-o', os.path.join(folder, 'trace.weft'), PYTHON, *command], **how)
    assert alone.returncode == status or status is None, alone.stderr
    errors = ''.join(line for line in recorded.stderr.splitlines(True) if not line.startswith('weft: '))
    equal((recorded.stdout, errors, recorded.returncode), (alone.stdout, alone.stderr, alone.returncode), command)


@case
def programs_see_nothing():
    seen = os.path.join(PROGRAMS, 'seen.py')
    for options in ([], ['-ISE'], ['-X', 'dev'], ['-bb', '-W', 'error'], ['-B', '-u']):
        check_same(*options, seen, status=1)
    check_same('watched.py', cwd=PROGRAMS)
    check_same('imports.py', cwd=PROGRAMS)
    check_same('imports.py', 'trace', cwd=PROGRAMS)
    check_same('subinterpreters.py', cwd=PROGRAMS)
    check_same('shadowed/main.py', cwd=PROGRAMS, status=1)


@case
def the_part_in_c_may_come_first():
    check_same('-c', 'from _asyncio import Future\n' + PROGRAM, status=None)  # of 0 and 1, as the version has it


@case
def allocators_do_the_same():
    for allocator in ('malloc', 'malloc_debug', 'pymalloc', 'pymalloc_debug', 'debug'):
        check_same('-c', PROGRAM, env={'PYTHONMALLOC': allocator})
        check_same('-c', 'pass', env={'PYTHONMALLOC': allocator})
    check_same('-X', 'tracemalloc', '-c', PROGRAM)
    check_same('-X', 'dev', '-c', 'import os; os.fork(); import asyncio')


@case
def ends_are_the_same():
    check_same('-c', 'import asyncio, sys; sys.exit(3)', status=3)
    check_same('-c', 'import asyncio, os; os._exit(4)', status=4)
    check_same('-c', 'import asyncio\nasync def f(): await asyncio.gather(g(), g())\nasync def g(): return 1 / 0\nasyncio.run(f())', status=1)
    check_same('-c', 'import asyncio\nasync def f(): pass\nf()')  # a warning
    check_same('-X', 'dev', '-c', 'import asyncio\nasync def f(): pass\nasync def main(): f()\nasyncio.run(main())')
    check_same('-c', 'import asyncio, warnings\nasync def f(): pass\nwarnings.catch_warnings(record=True).__enter__()\nf()')
    check_same('-c', 'import asyncio\nasync def f(): raise SystemExit("x")\nasyncio.run(f())', status=1)
    check_same('-i', '-c', 'import asyncio', input='async def f(): return 2\n\nasyncio.run(f())\nsys\n')
    check_same('-m', 'asyncio', input='await asyncio.sleep(0, 1)\n')
    check_same('-m', 'json.tool', input='{}')
    check_same('none.py', status=2)
    check_same('-Q', status=2)


@case
def other_interpreters_in_the_process_are_left_alone():
    check_built()
    with temporary_directory() as folder:  # not by an import of asyncio, for which some versions of Python end with an error
        messages, labels = record(folder, PYTHON, '-c', '''
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
run(interpreters.create(), "import sys; sys.audit('import', 'asyncio.unix_events'); sys.audit('import', 'concurrent.futures.thread')")
''' + PROGRAM)
        assert 'work' in labels and 'not recorded' not in messages, (labels, messages)


# ---- Where it is not recorded ----

@case
def it_can_be_left_out():
    check_built()
    with temporary_directory() as folder:
        assert 'work' in record(folder, PYTHON, '-c', PROGRAM, options=['-a', 'python'])[1]
        messages, labels = record(folder, PYTHON, '-c', PROGRAM, env={'WEFT_PYTHON': 'off'})
        assert not labels and 'asyncio' not in messages, (labels, messages)
        messages, labels = record(folder, PYTHON, '-c', PROGRAM, options=['-a', 'io'])
        assert not labels and 'asyncio' not in messages, (labels, messages)


@case
def programs_that_watch_python_are_not_recorded():
    check_built()
    with temporary_directory() as folder:
        messages, labels = record(folder, PYTHON, os.path.join(PROGRAMS, 'watched.py'))
        equal(labels, [])
        assert 'weft: tasks of asyncio are not recorded: the program has an audit hook of its own\n' in messages, messages
        unseen = json.loads(weft('info', '--json', os.path.join(folder, 'trace.weft')).stdout)['unseen']
        assert any('asyncio' in str(fact) for fact in unseen), unseen


@case
def loops_of_uvloop_are_named():
    check_built()
    with temporary_directory() as folder:  # the names count, not what uvloop does
        os.mkdir(os.path.join(folder, 'uvloop'))
        write(folder, 'uvloop/__init__.py', 'from . import loop\n')
        write(folder, 'uvloop/loop.py', '')
        program = write(folder, 'program.py', 'import uvloop\n' + PROGRAM)
        messages, labels = record(folder, PYTHON, program)
        assert 'weft: tasks of asyncio are not recorded: those that loops of uvloop run\n' in messages, messages
        assert 'work' in labels, labels


@case
def an_older_python_says_so():
    check_built()
    old = [path for pattern in ('/usr/bin/python3.?', '/usr/bin/python3.10', os.path.expanduser('~/.pyenv/versions/3.[89].*/bin/python3'),
                                os.path.expanduser('~/.pyenv/versions/3.10.*/bin/python3')) for path in glob.glob(pattern)]
    if not old:
        skip('no Python older than 3.11 is installed')
    with temporary_directory() as folder:
        for path in old:
            messages, labels = record(folder, path, '-c', PROGRAM)
            equal(labels, [])
            assert re.search(r'weft: tasks of asyncio are not recorded: Python 3\.\d+\.\d+\S* is older than 3\.11\n', messages), messages


main()
