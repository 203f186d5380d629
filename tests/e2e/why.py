# SPDX-License-Identifier: ISC
"""weft why on programs that hang, on running ones and on samples."""
import os
import subprocess

from harness import BUILD, DATA, WEFT, case, equal, json_lines, main, ring_lines, run, temporary_directory, weft
from waiting import let_pass, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'why-subject')
ECHO = os.path.join(DATA, 'recorded', 'echo-server.weft')
ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')


def record(folder, how):
    trace = os.path.join(folder, how + '.weft')
    weft('record', '-o', trace, SUBJECT, how, env={'XDG_RUNTIME_DIR': folder}, cwd=folder)
    return trace


def why(*args, **more):
    return json_lines(weft('why', '--json', *args, **more).stdout)


@case
def a_lost_lookup():
    with temporary_directory() as folder:
        trace = record(folder, 'lookup')
        lines = why(trace, 'lookup')
        hops = [line for line in lines if 'hop' in line]
        equal(len(hops), 6)
        for one, next_one in zip(hops, hops[1:]):
            equal(one['next'], next_one['task'])
        end = next(line for line in lines if 'end' in line)
        equal(end['end'], 'unresolved')
        assert end['task'] == hops[-1]['next'] and end['signalled'] < hops[-1]['since'], end
        assert 'Nobody resolved task' in end['sentence'] and 'before the wait began' in end['sentence'], end
        assert any(line.get('problem') == 'lost wake-up' for line in lines), lines
        text = weft('why', trace, 'lookup').stdout.splitlines()
        equal(len(text), len(lines))
        assert text[0].startswith('   1 ') and text[6].startswith(' end '), text
        equal([text[i].split(None, 2)[2] for i in range(7)], [line['sentence'] for line in lines[:7]])
        groups = why(trace)
        equal([group['waiting'] for group in groups], [6])
        equal(groups[0]['task'], end['task'])


@case
def a_deadlock():
    with temporary_directory() as folder:
        trace = record(folder, 'deadlock')
        lines = why(trace, 'one')
        equal([line['step'] for line in lines if 'hop' in line], ['waits', 'held', 'waits', 'held'])
        end = next(line for line in lines if 'end' in line)
        equal((end['end'], end['task']), ('circle', lines[0]['task']))
        assert any(line.get('problem') == 'deadlock' for line in lines), lines
        groups = why(trace)
        equal([(group['waiting'], group['circle']) for group in groups], [(2, True)])


@case
def a_held_lock():
    with temporary_directory() as folder:
        trace = record(folder, 'lock')
        text = weft('why', trace).stdout
        assert text.startswith("20 tasks wait for lock ") and "'db lock', held by task" in text and "'worker' since" in text, text
        lines = why(trace, 'client 7')
        equal([line['step'] for line in lines if 'hop' in line], ['waits', 'held'])
        result = weft('why', trace, 'worker', status=1)
        assert 'waits for nothing' in result.stdout, result.stdout
        equal(weft('why', trace, 'nobody', status=1).stderr.count('no task nobody'), 1)
        # The begin or a part of a label, in any case, if only one has it; else what fits or is near.
        for name, status in (('ENT 19', 0), ('clent 19', 1)):
            assert '"client 19"' in weft('why', trace, name, status=status).stderr, name
        several = weft('why', trace, 'client', status=1).stderr
        assert 'several labels begin with client: "client 0", "client 1"' in several and 'and others' in several, several
        both = weft('why', trace, 'client 7', 'client 8').stdout
        assert "'client 7'" in both and "'client 8'" in both, both


@case
def the_one_of_a_name_that_has_waited_longest():
    with temporary_directory() as folder:
        trace = record(folder, 'alike')
        jobs = [task['task'] for task in json_lines(weft('dump', '--json', '--tasks', trace).stdout) if task['label'] == 'job']
        result = weft('why', '--json', trace, 'job')
        equal(json_lines(result.stdout)[0]['task'], sorted(jobs)[2])
        assert '4 tasks are called job; this is about task:%d' % sorted(jobs)[2] in result.stderr, result.stderr


@case
def a_poll_is_no_wake_up():
    with temporary_directory() as folder:
        lines = why(record(folder, 'poll'), 'main')
        equal([line['step'] for line in lines if 'hop' in line], ['waits'])
        equal(lines[0]['until'], None)
        equal(lines[1]['end'], 'unresolved')


@case
def a_running_program():
    with temporary_directory() as folder:
        env = {'XDG_RUNTIME_DIR': folder}
        recorder = subprocess.Popen([WEFT, 'record', '-o', os.path.join(folder, 'live.weft'), SUBJECT, 'live'],
                                    cwd=folder, env={**os.environ, **env}, stderr=subprocess.DEVNULL)
        try:
            pid = None
            pid = wait_until('a program', lambda: ring_lines(weft('ls', '--json', env=env).stdout, folder), recorder)[0]['pid']
            wait_until('the last client', lambda: run([WEFT, 'why', str(pid), 'client 19'], env=env).returncode == 0, recorder)
            let_pass(0.2)
            groups = why(str(pid), env=env)
            equal([group['waiting'] for group in groups], [20])
            assert groups[0]['at'] - groups[0]['since'] > 200000000, groups
            lines = why(str(pid), 'client 3', env=env)
            equal([line['step'] for line in lines if 'hop' in line], ['waits', 'held'])
        finally:
            if pid:
                os.kill(pid, 9)
            recorder.wait()


@case
def a_chain_goes_beyond_promises():
    lines = why(ECHO, 'main', '--at', '30ms')
    equal([line['step'] for line in lines if 'hop' in line], ['waits', 'resolved', 'waits', 'resolved'])
    equal(lines[-1]['end'], 'idle')
    assert 'serve A4' in lines[-1]['sentence'], lines
    with open(ECHO, 'rb') as file:
        piped = subprocess.run([WEFT, 'why', '-', 'main', '--at', '30ms'], stdin=file, capture_output=True, check=True)
    equal(piped.stdout.decode(), weft('why', ECHO, 'main', '--at', '30ms').stdout)


@case
def several_processes():
    with temporary_directory() as folder:
        traces = [record(folder, 'lock'), record(folder, 'deadlock')]
        groups = why(*traces)
        equal([(group['waiting'], group['task_buffer'], group['first_buffer']) for group in groups], [(20, 0, 0), (2, 1, 1)])
        lines = why(*traces, 'task:1/%d' % groups[1]['first'])
        equal([line['task_buffer'] for line in lines if 'hop' in line], [1, 1, 1, 1])
        equal(why(folder)[0]['waiting'], 20)


@case
def what_runs_or_idles_if_nothing_waits():
    with temporary_directory() as folder:
        loop = os.path.join(folder, 'loop.sexp')
        with open(loop, 'w') as file:
            file.write('((time 0.0)(op(Creates 0 1 Task)))\n((time 0.0)(op(Switch 1)))\n((time 0.05)(op(Label 1 "turns")))\n')
        for name in ((), ('turns',)):
            text = weft('why', loop, *name, status=1).stdout
            assert text.startswith("task 1 'turns' has run for 50 ms without a pause"), text


@case
def nothing_waits():
    result = weft('why', ECHO, status=1)
    equal((result.stdout, result.stderr.count('no task waits for another at the end')), ('', 1))
    weft('why', status=2)
    weft('why', ECHO, '--at', 'soon', status=2)
    weft('why', os.path.join(DATA, 'missing.weft'), status=3)


@case
def each_task_of_a_sample_has_an_answer():
    groups = why(ARP)
    for group in groups:
        lines = why(ARP, 'task:%d' % group['first'])
        end = next(line for line in lines if 'end' in line)
        equal(end['task'], group['task'])


main()
