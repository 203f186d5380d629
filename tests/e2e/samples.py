# SPDX-License-Identifier: ISC
"""Samples of the functions that threads run, taken by the kernel, in unchanged programs."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

from harness import BUILD, WEFT, case, equal, json_lines, main, ring_lines, run, skip, temporary_directory, weft
from waiting import wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'samples-subject')
HZ = 199  # what the subject does in 0.3 s of processor time has room in the kernel's memory, however late weft reads it


def record(path, *program, hz=HZ, env=None, adapters='auto', status=0):
    trace = os.path.join(path, 'trace.weft')
    result = run([WEFT, 'record', '-a', adapters, '--samples', hz, '--size', '1M', '--keep-all', '-o', trace, '--', *program],
                 cwd=path, env=env)
    if '--samples: ' in result.stderr:
        skip(result.stderr.strip())
    equal(result.returncode, status, result.stderr)
    return trace, result


def query(trace, sql):
    result = run([WEFT, 'query', '--json', trace, sql])
    equal(result.returncode, 0, result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def functions(trace, where='1'):
    rows = query(trace, 'select function, count(*) as count from code_samples where %s group by 1' % where)
    return {row['function']: row['count'] for row in rows}


def calls(trace):
    return {row['calls'] for row in query(trace, 'select distinct calls from code_samples')}


@case
def the_busy_function_is_named():
    with temporary_directory() as path:
        trace, result = record(path, SUBJECT, 'burn')
        equal(result.stdout, 'done\n')
        found = functions(trace)
        assert found['burn'] > 0, found
        assert any(text.startswith('burn (samples_subject.c:') and ' ← parse (samples_subject.c:' in text and
                   text.rpartition(' ← ')[2].startswith('main (samples_subject.c:') for text in calls(trace)), calls(trace)
        assert re.search(r'^sampling +interval_ns %d, lost \d+, has_kernel [01], denied "", is_growing 0$' % (1000000000 // HZ), weft('info', trace).stdout, re.M)
        row, = query(trace, "select sum(ns) as ns, min(ns) as least from code_samples where function = 'burn'")
        equal(row['least'], 1000000000 // HZ)
        equal(row['ns'], found['burn'] * row['least'])


@case
def a_sample_belongs_to_the_task_of_its_thread():
    with temporary_directory() as path:
        trace, _ = record(path, SUBJECT, 'thread')
        rows = query(trace, "select distinct t.label as label, s.process as process from code_samples s "
                            "join tasks t on t.task = s.task where s.calls like '%← work (%' and s.function = 'burn'")
        equal([row['label'] for row in rows], ['worker'])
        rows = query(trace, "select count(*) as count from code_samples where thread is null")
        equal(rows[0]['count'], 0)


@case
def children_have_their_own_samples():
    """A forked child has no exec; another child becomes a program."""
    with temporary_directory() as path:
        run([WEFT, 'record', '--samples', HZ, '--size', '1M', '--keep-all', '-o', 'all/', '--', SUBJECT, 'fork'], cwd=path,
            env={'WEFT_ADAPTERS': 'auto'})
        traces = [os.path.join(path, 'all', name) for name in os.listdir(os.path.join(path, 'all'))] \
            if os.path.isdir(os.path.join(path, 'all')) else skip('no samples')
        found = [functions(trace) for trace in traces]
        if not any(found):
            skip('no samples')
        of_child, = [names for names in found if names.get('in_child', 0) > 0]
        of_exec, = [names for names in found if names.get('after_exec', 0) > 0]
        assert 'after_exec' not in of_child and 'in_child' not in of_exec, found


@case
def stripped_programs_have_addresses():
    with temporary_directory() as path:
        stripped = os.path.join(path, 'stripped')
        subprocess.run(['strip', '-o', stripped, SUBJECT], check=True)
        trace, _ = record(path, stripped, 'burn')
        assert any(text and text.startswith('stripped+0x') for text in calls(trace)), calls(trace)
        assert 'burn' not in functions(trace)


@case
def deep_stacks_are_cut():
    with temporary_directory() as path:
        trace, _ = record(path, SUBJECT, 'deep')
        deep = [text for text in calls(trace) if text and text.startswith('burn (')]
        assert deep and all(text.endswith(' ← …') and ' ← recurse (' in text for text in deep), deep


@case
def a_flame_graph_has_the_processor_time():
    with temporary_directory() as path:
        trace, _ = record(path, SUBJECT, 'burn')
        out = os.path.join(path, 'out')
        every = int(query(trace, 'select sum(ns) as ns from code_samples')[0]['ns'])
        weft('export', '--to', 'collapsed', '--of', 'cpu', '-o', out, trace)
        with open(out, encoding='utf-8') as file:
            lines = file.read().splitlines()
        equal(sum(int(line.rsplit(' ', 1)[1]) for line in lines), every)
        assert any(';parse;burn ' in line for line in lines), lines
        svg = weft('flame', '--of', 'cpu', trace).stdout
        assert 'What threads ran: ' in svg, svg
        assert '>burn' in svg, svg
        equal(weft('flame', '--of', 'cpu', '--start', '10s', trace, status=1).stdout, '')
        weft('flame', '--of', 'disk', trace, status=2)
        weft('export', '--to', 'chrome', '--of', 'cpu', trace, status=2)


@case
def a_program_is_as_alone():
    """Its own profiling signal, other stacks for handlers, masks, waits and dispositions: all is as without samples."""
    with temporary_directory() as path:
        alone = run([SUBJECT, 'checks'])
        equal(alone.returncode, 0, alone.stderr)
        trace, result = record(path, SUBJECT, 'checks')
        equal((result.stdout, result.returncode), (alone.stdout, alone.returncode))
        assert functions(trace)


@case
def python_and_node():
    with temporary_directory() as path:
        trace, _ = record(path, '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable, '-c',
                          'import time\nwhile time.process_time() < 0.3: sorted(range(20))')
        assert any(name and 'Py' in name for text in calls(trace) if text for name in text.split(' ← ')), calls(trace)
        if not shutil.which('node'):
            return
        trace, _ = record(path, 'node', '-e', 'while (process.cpuUsage().user < 3e5) JSON.stringify({a: 1})')
        assert functions(trace)


def stream(path, *options, mode='burn', wanted=('burn',)):
    """The files of a stream. Its programs end when their rings have samples of the wanted functions: of one that ends at once there may be none."""
    env = {**os.environ, 'XDG_RUNTIME_DIR': path, 'WEFT_ADAPTERS': 'auto'}
    recorder = subprocess.Popen([WEFT, 'record', '--stream', '--samples', str(HZ), '--size', '1M', *options, '-o', 'all/', '--', SUBJECT, mode, 'wait'],
                                cwd=path, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def are_there():
        found = set()
        for pid in {str(line['pid']) for line in ring_lines(weft('ls', '--json', env=env).stdout, path)}:
            result = run([WEFT, 'query', '--json', pid, 'select distinct function from code_samples'], env=env)
            found |= {row['function'] for row in json_lines(result.stdout)}
            if re.search('denied "[^"]', weft('info', pid, env=env, status=None).stdout):
                return 'denied'
        return found >= set(wanted)
    what = wait_until('samples of %s' % (wanted,), are_there, recorder)
    output, errors = recorder.communicate()
    if what == 'denied':
        skip(errors.strip())
    equal((recorder.returncode, output), (0, 'done\n' * (2 if mode == 'fork' else 1)), errors)
    folder = os.path.join(path, 'all')
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


@case
def a_stream_has_the_samples():
    with temporary_directory() as path:
        trace, = stream(path)
        found = functions(trace)
        assert found['burn'] > 0, found
        assert any(' ← parse (samples_subject.c:' in text for text in calls(trace) if text), calls(trace)
        sampling = re.search('^sampling .*', weft('info', trace).stdout, re.M)[0]
        assert sampling.endswith('denied "", is_growing 0'), sampling
    with temporary_directory() as path:
        trace, = stream(path, '--zstd')
        assert functions(trace)['burn'] > 0


@case
def streams_of_children_have_their_own_samples():
    with temporary_directory() as path:
        found = [functions(trace) for trace in stream(path, mode='fork', wanted=('in_child', 'after_exec'))]
        assert not any('after_exec' in names and 'in_child' in names for names in found), found
        assert any(names.get('in_child') for names in found) and any(names.get('after_exec') for names in found), found


@case
def a_running_program_has_the_samples_so_far():
    with temporary_directory() as path:
        env = {**os.environ, 'XDG_RUNTIME_DIR': path, 'WEFT_ADAPTERS': 'auto'}
        trace = os.path.join(path, 'trace.weft')
        recorder = subprocess.Popen([WEFT, 'record', '--samples', str(HZ), '--size', '1M', '--trigger', 'waits > 2s', '-o', trace, '--', SUBJECT, 'wait'],
                                    cwd=path, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        pid = str(wait_until('a program', lambda: ring_lines(weft('ls', '--json', env=env).stdout, path), recorder)[0]['pid'])

        def burnt():
            rows = json.loads(run([WEFT, 'query', '--json', pid, "select count(*) as n from code_samples where function = 'burn'"],
                                  env=env).stdout or '{"n": 0}')
            return rows['n']

        def burnt_in_snapshot():
            """The rule fires after all has run, and on a very busy machine also before that."""
            return any(functions(name).get('burn') for name in glob.glob(os.path.join(path, 'trace.snapshot-*.weft')))
        info = wait_until('how samples are taken', lambda: re.search('^sampling .*', weft('info', pid, env=env).stdout, re.M), recorder)[0]
        if 'denied ""' not in info:
            recorder.communicate()
            skip('the kernel denies samples')
        wait_until('samples', burnt, recorder)
        wait_until('a snapshot with them', burnt_in_snapshot, recorder)
        assert '>burn' in weft('flame', '--of', 'cpu', pid, env=env).stdout
        copy = os.path.join(path, 'copy.weft')
        weft('cut', pid, '--start', '0s', '-o', copy, env=env)
        assert functions(copy)['burn'] > 0
        _, words = recorder.communicate()
        equal(recorder.returncode, 0, words)
        assert functions(trace)['burn'] > 0
        # Its metrics, which are behind the samples, have how long it was blocked.
        assert 'weft_blocked_seconds' in weft('metrics', trace).stdout


def record_made(path, mode):
    """The functions of a program that makes code, of which it has a list in /tmp."""
    trace = os.path.join(path, 'trace.weft')
    result = run([WEFT, 'record', '-a', 'thread', '--samples', HZ, '--size', '1M', '--keep-all', '-o', trace, '--', SUBJECT, mode], cwd=path)
    if '--samples: ' in result.stderr or result.returncode == 77:
        skip('no samples, or no such code or list can be made')
    equal((result.returncode, result.stdout), (0, 'done\n'), result.stderr)
    pid = query(trace, 'select pid from processes')[0]['pid']
    os.unlink('/tmp/perf-%d.map' % pid)
    return trace


@case
def code_that_a_program_makes_has_the_names_of_its_list():
    with temporary_directory() as path:
        trace = record_made(path, 'made')
        found = functions(trace)
        assert found['made?'] > 0 and not {'earlier', 'before', 'after', 'cut'} & set(found), found
        assert any(text.startswith('made? (app.js:12)') for text in calls(trace) if text), calls(trace)


@case
def the_list_of_another_user_is_not_read():
    with temporary_directory() as path:
        if os.geteuid() != 0:
            skip('only root can give files away')
        found = functions(record_made(path, 'foreign'))
        assert found['?'] > 0 and 'made?' not in found, found


@case
def node_names_its_functions():
    if not shutil.which('node'):
        skip('node is not installed')
    with temporary_directory() as path:
        script = os.path.join(path, 'script.js')
        with open(script, 'w', encoding='utf-8') as file:
            file.write('function inner(n) { let sum = 0; for (let i = 0; i < n; i++) sum += Math.sqrt(i ^ sum); return sum }\n'
                       'while (process.cpuUsage().user < 1e6) inner(100000)\n')
        trace, _ = record(path, 'node', '--perf-basic-prof', script)
        assert functions(trace).get('inner'), functions(trace)
        assert any('inner (script.js:1)' in text for text in calls(trace) if text)
        os.unlink('/tmp/perf-%d.map' % query(trace, 'select pid from processes')[0]['pid'])


@case
def where_the_kernel_denies_it_the_program_runs_without():
    with temporary_directory() as path:
        trace = os.path.join(path, 'trace.weft')
        alone = run([SUBJECT, 'checks'])
        for options, status in (([], 0), (['--require'], 125)):
            words = [WEFT, 'record', '--samples', HZ, '--keep-all', '-o', trace, *options, '--', SUBJECT, 'checks']
            result = run([SUBJECT, 'denied', *words], cwd=path, env={'WEFT_ADAPTERS': 'thread'})
            if result.returncode == 77:
                skip('no filter of system calls can be installed')
            if 'unwinds no stacks' in result.stderr:
                skip(result.stderr.strip())
            equal((result.stdout, result.returncode), (alone.stdout, status), result.stderr)
            equal(len(re.findall('^weft: --samples: the program runs without: .', result.stderr, re.M)), 1, result.stderr)
        reason = re.search('--samples: the program runs without: (.*)', result.stderr)[1]
        assert 'filter of system calls' in reason, reason
        assert '"%s"' % reason in re.search('^sampling .*', weft('info', trace).stdout, re.M)[0]
        equal(functions(trace), {})
        # The second program has ended before weft looks at it for the first time.
        for program, output in ([SUBJECT, 'checks'], alone.stdout), (['true'], ''):
            words = [WEFT, 'record', '--stream', '--samples', HZ, '-o', trace, '--', *program]
            result = run([SUBJECT, 'denied', *words], cwd=path, env={'WEFT_ADAPTERS': 'thread'})
            equal((result.stdout, result.returncode), (output, 0), result.stderr)
            assert '"%s"' % reason in re.search('^sampling .*', weft('info', trace).stdout, re.M)[0], program


@case
def wrong_arguments_are_refused():
    for words in (['--samples', '0'], ['--samples', '1001'], ['--samples', 'x'],
                  ['--samples', '9', '--wait'], ['--samples', '9', '--in-place'], ['--samples', '9', '-o', '-'],
                  ['--samples', ''], ['--samples', '-9']):
        result = run([WEFT, 'record', *words, 'true'])
        equal(result.returncode, 2, words)
        assert '--samples' in result.stderr, result.stderr
    for words in (['-p', '1'], ['--recover']):
        result = run([WEFT, 'record', '--samples', '9', *words])
        equal(result.returncode, 2, words)
        assert '--samples excludes' in result.stderr, result.stderr


@case
def a_program_that_does_not_exist_is_not_found():
    with temporary_directory() as path:
        record(path, 'no-such-program', status=127)


main()
