# SPDX-License-Identifier: ISC
"""When and how programs ended: in saved rings, streams, snapshots, cuts, and in a program that hangs until it is
killed."""
import contextlib
import json
import os
import signal
import subprocess

from harness import BUILD, WEFT, case, equal, json_lines, main, run, temporary_directory, weft
from waiting import let_pass

SUBJECT = os.path.join(BUILD, 'tests', 'hang-subject')
MS = 1000000


def information(trace):
    return json.loads(weft('info', '--json', trace).stdout)


def tasks(trace):
    return {task.get('label'): task for task in json_lines(weft('dump', '--tasks', '--json', trace).stdout)}


def problems(trace):
    return json_lines(weft('dump', '--problems', '--json', trace).stdout)


def record(folder, *args, status=0, options=()):
    trace = os.path.join(folder, 'hang.weft')
    weft('record', *options, '-o', trace, SUBJECT, *args, status=status, env={'XDG_RUNTIME_DIR': folder}, cwd=folder)
    return trace


def silence(trace):
    """How long the record goes on after its last event, in ms."""
    info = information(trace)
    return (info['end'] - info['last_event']) / MS


def expect_hang(trace, ending, **more):
    info = information(trace)
    equal(info['ending'], ending)
    equal({key: info[key] for key in ('signal', 'status') if key in info}, more)
    assert silence(trace) > 290, info
    request = tasks(trace)['request']
    equal(request['end'], info['end'])
    assert 'open until' in weft('dump', '--story', str(request['task']), trace).stdout


@case
def a_program_that_ends_by_itself():
    with temporary_directory() as folder:
        trace = record(folder, 'exit', 0)
        expect_hang(trace, 'exit', status=0)
        equal([(p['problem'], p['severity']) for p in problems(trace)], [('unanswered wait', 'hint')])
        assert 'ended       the program ended with status 0, ' in weft('info', trace).stdout
        expect_hang(record(folder, 'exit', 3, status=3), 'exit', status=3)
        equal(problems(trace)[0]['severity'], 'warning')


@case
def a_program_without_exit_handlers():
    with temporary_directory() as folder:
        for option in ((), ('--in-place',), ('--stream',)):
            expect_hang(record(folder, '_exit', 4, status=4, options=option), 'gone', status=4)
        expect_hang(record(folder, 'abort', status=128 + signal.SIGABRT), 'gone', signal=signal.SIGABRT)


@contextlib.contextmanager
def hanging(folder, *options):
    """The process id of a program that has waited for 400 ms; it is killed in the end."""
    with subprocess.Popen([WEFT, 'record', *options, SUBJECT, 'pause'], cwd=folder, stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, XDG_RUNTIME_DIR=folder)) as recorder:
        equal(recorder.stdout.readline(), 'waits\n')
        let_pass(0.4)
        pid = int(run(['pgrep', '-P', recorder.pid]).stdout)
        yield pid
        os.kill(pid, signal.SIGKILL)


@case
def a_hang_that_is_killed_is_a_problem():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'hang.weft')
        with hanging(folder, '-o', trace):
            pass
        expect_hang(trace, 'gone', signal=signal.SIGKILL)
        found = problems(trace)
        equal([p['problem'] for p in found], ['unanswered wait'])
        assert found[0]['severity'] in ('warning', 'error'), found  # an error from half a second on
        assert "'request' waits for wait" in found[0]['sentence'], found
        assert 'until the program was killed by signal 9' in found[0]['sentence'], found
        half = os.path.join(folder, 'half.weft')
        info = information(trace)
        weft('cut', trace, '--duration', '%dns' % (info['last_event'] - info['start'] + 100 * MS), '-o', half)
        equal(information(half)['ending'], 'cut')
        assert 90 < silence(half) < 110, information(half)


@case
def a_killed_child_ended_when_it_was_killed():
    with temporary_directory() as folder:
        trace = record(folder, 'child')
        child, = (os.path.join(folder, name) for name in os.listdir(folder) if name.startswith('hang-'))
        equal(information(child)['ending'], 'gone')
        assert 1000 <= silence(child) < silence(trace) - 1000, information(child)  # the parent went on for 2 s


@case
def an_executed_program_ends_the_one_before():
    with temporary_directory() as folder:
        trace = record(folder, 'exec')
        second, = (os.path.join(folder, name) for name in os.listdir(folder) if name.startswith('hang-'))
        first, second = sorted((trace, second), key=lambda name: information(name)['start'])
        equal(information(first)['ending'], 'gone')
        expect_hang(second, 'exit', status=0)


@case
def a_running_program_goes_on():
    with temporary_directory() as folder:
        with hanging(folder) as pid:
            trace = os.path.join(folder, 'now.weft')
            weft('record', '-p', pid, '-o', trace, env={'XDG_RUNTIME_DIR': folder})
            expect_hang(trace, 'running')
            equal(problems(trace), [])


main()
