# SPDX-License-Identifier: ISC
"""Follows a running program: weft tail, weft ls, and the rings that a killed weft record leaves."""
import contextlib
import glob
import json
import os
import re
import select
import signal
import subprocess
import time

from harness import BUILD, DATA, WEFT, case, equal, json_lines, main, ring_lines, run, skip, temporary_directory, weft
from waiting import communicate, status_of, wait_until, wait_until_it_follows

SUBJECT = os.path.join(BUILD, 'tests', 'follow-subject')


class Subject:
    """The program under `weft record`, controlled line by line."""

    def __init__(self, path, size):
        self.path = path
        self.trace = os.path.join(path, 'trace.weft')
        self.env = dict(os.environ, XDG_RUNTIME_DIR=os.path.join(path, 'run'))
        os.mkdir(self.env['XDG_RUNTIME_DIR'], 0o700)
        self.record = subprocess.Popen([WEFT, 'record', '--size', size, '-o', self.trace, SUBJECT],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True, env=self.env)
        self.pid = int(self.record.stdout.readline())
        self.tails = []

    def ring(self):
        path, = glob.glob(os.path.join(self.path, 'run', 'weft', 'record-*', '*-%d.weft' % self.pid))
        return path

    def send(self, events):
        self.record.stdin.write('%d\n' % events)
        self.record.stdin.flush()
        equal(self.record.stdout.readline(), 'done\n')

    def stop(self):
        self.record.stdin.write('stop\n')
        self.record.stdin.flush()
        equal(self.record.stdout.readline(), 'done\n')

    def end(self):
        self.record.stdin.close()
        equal(status_of(self.record), 0)

    def tail(self, *options, operand=None):
        process = subprocess.Popen([WEFT, 'tail', '--json', *options, operand or str(self.pid)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env)
        self.tails.append(process)
        wait_until_it_follows(process)
        return process

    def ls(self):
        return ring_lines(run([WEFT, 'ls', '--json'], env=self.env).stdout, self.path)


@contextlib.contextmanager
def subject(size='1M'):
    with temporary_directory() as path:
        program = Subject(path, size)
        try:
            yield program
        finally:
            for process in [*program.tails, program.record]:
                if process.poll() is None:
                    process.kill()
                process.wait()
            with contextlib.suppress(ProcessLookupError):
                os.kill(program.pid, signal.SIGKILL)


def finish(tail):
    """Its output, and the number of events that it reported as overwritten before they were read."""
    output, errors = tail.stdout.read(), tail.stderr.read()  # not communicate: lines may be buffered
    equal(status_of(tail), 0, errors)
    lost = sum(int(n) for n in re.findall(r'(\d+) events? lost \(stalled', errors))
    return json_lines(output), lost, errors


def check_order(events):
    times = [event['time'] for event in events]
    equal(times, sorted(times))
    for name in ('first', 'second'):
        values = [event['value'] for event in events if event.get('text') == name]
        equal(values, sorted(set(values)), name)


def read_event(tail):
    wait_until('an event', lambda: select.select([tail.stdout], [], [], 0)[0])
    return json.loads(tail.stdout.readline())


@case
def events_are_seen_while_the_program_runs():
    with subject() as program:
        program.send(1)
        tail = program.tail()
        equal(read_event(tail)['value'], 0)
        for value in range(1, 4):
            program.send(1)
            equal(read_event(tail)['value'], value)
        program.end()
        equal(finish(tail)[:2], ([], 0))


@case
def everything_is_seen_in_order():
    with subject('4M') as program:
        tail = program.tail()
        for _ in range(20):
            program.send(5000)
        program.end()
        events, lost, _ = finish(tail)
        equal((len(events), lost), (100000, 0))
        check_order(events)


@case
def two_followers_see_the_same():
    with subject('4M') as program:
        program.send(1000)
        tails = [program.tail(), program.tail(operand=program.ring())]
        program.send(20000)
        program.end()
        results = [finish(tail) for tail in tails]
        equal([len(events) for events, _, _ in results], [21000, 21000])
        # Each follower finds the rate of the processor's counter for itself, so two events of two threads
        # that are less than a nanosecond apart may be equal for one of them only.
        for one, other in zip(results[0][0], results[1][0]):
            same = (one['text'], one['value']) == (other['text'], other['value'])
            assert same or abs(one['time'] - other['time']) <= 1, (one, other)
        for text in ('first', 'second'):
            values = [[e['value'] for e in events if e['text'] == text] for events, _, _ in results]
            equal(values[0], values[1])


@case
def a_stopped_follower_counts_its_losses():
    with subject('64K') as program:
        program.send(10)
        tail = program.tail()
        read_event(tail)
        tail.send_signal(signal.SIGSTOP)
        program.send(200000)
        tail.send_signal(signal.SIGCONT)
        program.send(10)
        program.end()
        events, lost, errors = finish(tail)
        assert lost > 100000, errors
        tags = [event for event in events if event['event'] == 'tag']
        equal(1 + len(tags) + lost, 200020, errors)
        check_order(events)
        # After the gap, a switch names the running task.
        equal({e['event'] for e in events}, {'tag', 'switch'})


@case
def a_killed_program_is_read_to_its_end():
    with subject('4M') as program:
        tail = program.tail()
        program.send(1)
        read_event(tail)  # it follows: weft record removes the ring once the program is gone
        program.send(19999)
        os.kill(program.pid, signal.SIGKILL)
        events, lost, _ = finish(tail)
        equal((len(events), lost), (19999, 0))


@case
def a_program_that_stops_recording_is_followed_to_its_stop():
    with subject() as program:
        tail = program.tail()
        program.send(500)
        program.stop()
        program.send(500)
        events, lost, _ = finish(tail)
        equal((len(events), lost), (500, 0))
        equal(program.record.poll(), None)
        equal([row['state'] for row in program.ls()], ['stopped'])
        program.end()
        equal(len(json_lines(weft('dump', '--json', program.trace).stdout)), 500)


@case
def only_what_is_new():
    with subject() as program:
        program.send(1000)
        tail = program.tail('--new')
        while not select.select([tail.stdout], [], [], 0.1)[0]:
            program.send(1)  # until weft tail has chosen the time from which events are new
        program.end()
        events, _, _ = finish(tail)
        assert events and all(e['value'] >= 500 for e in events), events


@case
def an_interrupt_ends_it_quietly():
    with subject() as program:
        program.send(3)
        tail = program.tail()
        read_event(tail)
        tail.send_signal(signal.SIGINT)
        events, _, errors = finish(tail)
        equal((len(events), errors), (2, ''))


@case
def a_closed_pipe_ends_it_quietly():
    with subject() as program:
        program.send(1000)
        tail = program.tail()
        read_event(tail)
        tail.stdout.close()
        program.send(100000)
        assert status_of(tail) in (0, -signal.SIGPIPE), tail.returncode
        equal(tail.stderr.read().count('standard output'), 0)


@case
def a_finished_trace_is_dumped():
    with subject() as program:
        program.send(100)
        program.end()
        for options in ([], ['--json']):
            equal(weft('tail', *options, program.trace).stdout, weft('dump', *options, program.trace).stdout)
    mirage = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
    equal(weft('tail', '--json', mirage).stdout, weft('dump', '--json', mirage).stdout)


def no_ring(env, searched, **options):
    """The message of weft tail about a process that is started with an environment of its own."""
    with subprocess.Popen(['sleep', '60'], env=dict(os.environ, **env), **options) as process:
        try:
            message = weft('tail', process.pid, status=3, env={'XDG_RUNTIME_DIR': searched}).stderr
        finally:
            process.kill()
    start = 'weft: process %d has no ring in %s/weft: ' % (process.pid, searched)
    assert message.startswith(start), message
    return message[len(start):]


@case
def a_process_without_a_ring_is_explained():
    with temporary_directory() as path:
        assert 'started without `weft record` and without WEFT_OUT' in no_ring({'WEFT_OUT': ''}, path)
        assert 'started with WEFT_OUT=/else/where; name its file' in no_ring({'WEFT_OUT': '/else/where'}, path)
        assert 'runs under `weft record`, but' in no_ring({'WEFT_OUT': path + '/weft/record-abc/'}, path)
        if os.geteuid() == 0:
            os.chmod(path, 0o755)
            assert 'it runs as user 65534' in no_ring({}, path, user=65534)


@case
def wrong_use_is_reported():
    assert 'missing' in weft('tail', status=2).stderr
    assert 'too many' in weft('tail', 'a', 'b', status=2).stderr
    assert 'No such file' in weft('tail', '/nowhere/at-all', status=3).stderr
    with temporary_directory() as path:
        assert 'has no ring' in weft('tail', '1', status=3, env={'XDG_RUNTIME_DIR': path}).stderr
        here = os.path.join(path, 'weft')
        assert 'no program records now, and no ring was left behind in %s;' % here in \
            weft('ls', env={'XDG_RUNTIME_DIR': path}).stderr
        empty = os.path.join(path, 'empty')
        open(empty, 'w').close()
        assert 'empty' in weft('tail', empty, status=3).stderr
    assert 'too many' in weft('ls', 'x', status=2).stderr


@case
def ls_lists_what_runs():
    with subject() as program:
        program.send(7)
        row, = program.ls()
        equal((row['pid'], row['program'], row['state'], row['attended'], row['events'], row['bytes']),
              (program.pid, 'follow-subject', 'running', True, 7, 1 << 20))
        equal((row['losses'], row['path']), ({}, program.ring()))
        text = run([WEFT, 'ls'], env=program.env).stdout
        assert re.search(r'^%d +running +\d+s +1M +7 +0 +follow-subject$' % program.pid, text, re.MULTILINE), text
        program.send(200000)
        row, = program.ls()
        equal(row['events'] + row['losses']['overwritten'], 200007)
        program.end()
        equal(program.ls(), [])


def recover(program, *options, status=0):
    result = run([WEFT, 'record', '--recover', *options], env=program.env, cwd=program.path)
    equal(result.returncode, status, result.stderr)
    return result


def kill_both(program):
    """Kills weft record first, which then cannot save the program's ring."""
    program.record.kill()
    program.record.wait()
    os.kill(program.pid, signal.SIGKILL)
    wait_until('it is orphaned', lambda: [row['state'] for row in program.ls()] == ['orphaned'], seen=program.ls)


@case
def an_orphan_is_recovered():
    with subject() as program:
        program.send(500)
        kill_both(program)
        row, = program.ls()
        equal((row['pid'], row['attended'], row['events']), (program.pid, False, 500))
        recover(program, '-o', 'saved.weft')
        events = json_lines(weft('dump', '--json', os.path.join(program.path, 'saved.weft')).stdout)
        equal(len(events), 500)
        check_order(events)
        equal(glob.glob(os.path.join(program.path, 'run', 'weft', '*')), [])
        assert 'nothing to recover' in recover(program).stderr


def start_with_number(pid):
    """A process that sleeps and has that number; others may take it meanwhile."""
    def start():
        try:
            with open('/proc/sys/kernel/ns_last_pid', 'w', encoding='ascii') as file:
                file.write(str(pid - 1))
        except OSError as error:
            skip('process numbers cannot be chosen: %s' % error)
        process = subprocess.Popen(['sleep', 'infinity'])
        if process.pid == pid:
            return process
        process.kill()
        process.wait()
        return None
    return wait_until('a process has number %d' % pid, start, processor=300)


@case
def another_process_has_the_number_of_an_orphan():
    with subject() as program:
        program.send(500)
        kill_both(program)
        wait_until('the number is free', lambda: not os.path.exists('/proc/%d' % program.pid))
        with start_with_number(program.pid) as other:
            try:
                wait_until('it sleeps', lambda: 'sleeps in' in weft('why', other.pid, env=program.env, status=None).stdout)
                equal([row['state'] for row in program.ls()], ['orphaned'])
                said = weft('info', other.pid, env=program.env, status=3).stderr
                assert '%s is the ring of an earlier process %d\n' % (program.ring(), other.pid) in said, said
            finally:
                other.kill()
        equal(weft('info', program.ring(), env=program.env).returncode, 0)
        recover(program, '-o', 'saved.weft')


@case
def an_orphan_stays_for_a_week():
    with subject() as program:
        program.send(5)
        kill_both(program)
        equal([row['state'] for row in program.ls()], ['orphaned'])
        mark, = glob.glob(os.path.join(program.path, 'run', 'weft', '*', 'orphaned'))
        for days, states in ((6.9, ['orphaned']), (7.1, [])):
            os.utime(mark, (time.time() - days * 86400,) * 2)
            equal([row['state'] for row in program.ls()], states)
        equal(glob.glob(os.path.join(program.path, 'run', 'weft', '*')), [])


@case
def a_run_that_goes_on_never_expires():
    with subject() as program:
        program.send(5)
        program.record.kill()
        program.record.wait()
        directory, = glob.glob(os.path.join(program.path, 'run', 'weft', '*'))
        mark = os.path.join(directory, 'orphaned')
        with open(mark, 'w', encoding='utf-8'):
            pass
        os.utime(mark, (0, 0))
        equal([row['state'] for row in program.ls()], ['running'])
        equal(os.path.exists(mark), False)


@case
def without_o_it_has_its_own_name():
    with subject() as program:
        program.send(5)
        kill_both(program)
        recover(program)
        equal(len(json_lines(weft('dump', '--json', os.path.join(
            program.path, 'follow-subject-%d.weft' % program.pid)).stdout)), 5)


@case
def earlier_traces_are_not_replaced():
    with subject() as program:
        program.send(5)
        older = [os.path.join(program.path, name % program.pid)
                 for name in ('follow-subject-%d.weft', 'follow-subject-%d_2.weft')]
        for path in older:
            with open(path, 'w', encoding='utf-8') as file:
                file.write('older')
        kill_both(program)
        assert 'follow-subject-%d_3.weft' % program.pid in recover(program).stderr
        for path in older:
            with open(path, encoding='utf-8') as file:
                equal(file.read(), 'older')
        newer = os.path.join(program.path, 'follow-subject-%d_3.weft' % program.pid)
        equal(len(json_lines(weft('dump', '--json', newer).stdout)), 5)


@case
def attended_and_recording_runs_are_left_alone():
    with subject() as program:
        program.send(5)
        assert 'nothing to recover' in recover(program).stderr
        equal([row['state'] for row in program.ls()], ['running'])
        program.record.kill()
        program.record.wait()
        row, = program.ls()
        equal((row['state'], row['attended']), ('running', False))
        assert 'still records' in recover(program).stderr
        equal([row['state'] for row in program.ls()], ['running'])


@case
def a_running_process_is_saved_and_goes_on():
    with subject() as program:
        program.send(500)
        saved = run([WEFT, 'record', '-p', program.pid, '-o', 'now.weft'], env=program.env, cwd=program.path)
        equal(saved.returncode, 0, saved.stderr)
        assert '500 events' in saved.stderr, saved.stderr
        program.send(100)
        program.end()
        equal([len(json_lines(weft('dump', '--json', path).stdout)) for path in
               (os.path.join(program.path, 'now.weft'), program.trace)], [500, 600])
        missing = run([WEFT, 'record', '-p', program.pid], env=program.env, cwd=program.path)
        equal(missing.returncode, 125)
        assert 'there is no process %d, and no ring of it in ' % program.pid in missing.stderr, missing.stderr


@case
def recover_runs_no_program():
    assert 'runs no program' in weft('record', '--recover', 'ls', 'x', status=2).stderr
    assert 'runs no program' in weft('record', '--recover', '--size', '1M', status=2).stderr
    assert 'runs no program' in weft('record', '-p', '1', 'ls', status=2).stderr
    assert 'exclude' in weft('record', '-p', '1', '--recover', status=2).stderr
    assert '"x"' in weft('record', '-p', 'x', status=2).stderr


@case
def the_example_follows():
    with subject('4M') as program:
        program.send(10)
        example = subprocess.Popen([os.path.join(BUILD, 'examples', 'follow'), program.ring()],
                                   stdout=subprocess.PIPE, text=True)
        wait_until_it_follows(example)
        program.send(5000)
        program.end()
        output, _ = communicate(example)
        equal(example.returncode, 0)
        equal(output.splitlines()[-1], '5010 events, 0 lost')


main()
