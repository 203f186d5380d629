# SPDX-License-Identifier: ISC
"""Snapshots of a running program: what came before is in them, and nothing is missing uncounted."""
import contextlib
import glob
import os
import re
import signal
import subprocess
import time

from harness import BUILD, WEFT, case, equal, json_lines, main, run, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'snapshot-subject')
PATIENCE = 60
LISTEN_UNTIL = 3520 + 16  # in the header


class Subject:
    """The program under `weft record`, told line by line what to do."""

    def __init__(self, path, *options, size='1M'):
        self.path = path
        self.env = dict(os.environ, XDG_RUNTIME_DIR=os.path.join(path, 'run'))
        os.mkdir(self.env['XDG_RUNTIME_DIR'], 0o700)
        self.record = subprocess.Popen(
            [WEFT, 'record', '--size', size, '-o', 'trace.weft', *options, SUBJECT], cwd=path, env=self.env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = int(self.record.stdout.readline())

    def tell(self, line):
        self.record.stdin.write(line + '\n')
        self.record.stdin.flush()
        equal(self.record.stdout.readline(), 'done\n')

    def ring(self):
        path, = glob.glob(self.file('run/weft/record-*/*-%d.weft' % self.pid))
        return path

    def wait_for_listener(self):
        deadline = time.monotonic() + PATIENCE
        while True:
            with open(self.ring(), 'rb') as ring:
                ring.seek(LISTEN_UNTIL)
                if any(ring.read(8)):
                    return
            assert time.monotonic() < deadline, 'nobody listens'
            time.sleep(0.005)

    def end(self):
        """What weft record said."""
        self.record.stdin.close()
        errors = self.record.stderr.read()
        equal(self.record.wait(PATIENCE), 0, errors)
        return errors

    def file(self, name):
        return os.path.join(self.path, name)

    def snapshots(self):
        return sorted(os.path.basename(p) for p in glob.glob(self.file('*.snapshot-*')))

    def wait_for(self, name):
        deadline = time.monotonic() + PATIENCE
        while not os.path.exists(self.file(name)):
            assert time.monotonic() < deadline, '%s does not come: %s' % (name, os.listdir(self.path))
            time.sleep(0.005)
        return self.file(name)


@contextlib.contextmanager
def subject(*options, **more):
    with temporary_directory() as path:
        program = Subject(path, *options, **more)
        try:
            yield program
        finally:
            if program.record.poll() is None:
                program.record.kill()
            program.record.wait()
            with contextlib.suppress(ProcessLookupError):
                os.kill(program.pid, signal.SIGKILL)


def events_of(path):
    return json_lines(weft('dump', '--json', path).stdout)


def numbers_of(path):
    return [e['value'] for e in events_of(path) if e['event'] == 'tag']


def losses_of(path):
    errors = weft('info', path).stdout
    return {cause: int(n.replace(',', '')) for n, cause in
            re.findall(r'([\d,]+) (overwritten|held|full|nested)', errors)}


def all_of(path):
    """Events that are there and those that are not."""
    events = [e for e in events_of(path) if not e.get('rundown')]
    return len(events) + sum(losses_of(path).values())


@case
def a_request_saves_what_was_before():
    with subject() as program:
        program.tell('record 1000')
        program.tell('request queue is long')
        path = program.wait_for('trace.snapshot-1.weft')
        program.tell('record 1000')
        errors = program.end()
        equal(numbers_of(path), list(range(1000)))
        mark, = [e for e in events_of(path) if e['event'] == 'mark']
        equal((mark['name'], mark['fields']), ('snapshot', {'reason': 'queue is long'}))
        equal(numbers_of(program.file('trace.weft')), list(range(2000)))
        assert 'snapshot trace.snapshot-1.weft: "queue is long"' in errors, errors


@case
def a_handler_may_ask():
    with subject() as program:
        program.tell('record 10')
        program.tell('signal')
        path = program.wait_for('trace.snapshot-1.weft')
        errors = program.end()
        equal(numbers_of(path), list(range(10)))
        assert '"in a handler"' in errors, errors


@case
def the_past_is_held_until_it_is_copied():
    with subject(size='64K') as program:
        program.tell('record 100000')
        program.wait_for_listener()
        program.tell('request now')
        program.tell('record 100000')  # more than the ring has, at once
        path = program.wait_for('trace.snapshot-1.weft')
        program.end()
        numbers = numbers_of(path)
        assert 99999 in numbers and numbers[0] < 99999 - 1000, (numbers[0], numbers[-1])
        equal(all_of(program.file('trace.weft')), 200001)


@case
def a_watcher_that_died_holds_nobody():
    with subject(size='64K') as program:
        program.tell('record 100000')
        program.wait_for_listener()
        program.record.send_signal(signal.SIGSTOP)
        program.tell('request now')
        program.tell('record 100000')
        assert losses_of(program.ring())['held'] > 50000, losses_of(program.ring())
        program.record.kill()
        recorded, deadline = 200000, time.monotonic() + PATIENCE
        while recorded - 1 not in numbers_of(program.ring()):
            assert time.monotonic() < deadline, 'it is held for ever'
            program.tell('record 1000')
            recorded += 1000
        equal(all_of(program.ring()), recorded + 1)


@case
def a_loop_fills_no_disk():
    with subject('--snapshots', '2') as program:
        for _ in range(30):
            program.tell('loop 1000')
            time.sleep(0.1)
        errors = program.end()
        equal(program.snapshots(), ['trace.snapshot-1.weft', 'trace.snapshot-2.weft'])
        equal(all_of(program.file('trace.weft')), 60000)
        answered = int(re.search(r'(\d+) more requests for a snapshot', errors)[1]) + 2
        equal(answered, 30000)


def ctl(program, *arguments, status=0):
    result = run([WEFT, 'ctl', program.pid, *arguments], env=program.env, cwd=program.path)
    equal(result.returncode, status, result.stderr)
    return result


@case
def ctl_takes_a_snapshot():
    with subject() as program:
        program.tell('record 1000')
        said = ctl(program, 'snapshot').stderr
        first = 'snapshot-subject-%d.snapshot-1.weft' % program.pid
        assert first in said and '1,000 events' in said, said
        ctl(program, 'snapshot', '--hold')
        ctl(program, 'snapshot', '-o', 'mine.weft')
        piped = subprocess.run([WEFT, 'ctl', str(program.pid), 'snapshot', '-o', '-'], env=program.env,
                               capture_output=True, check=True)
        with open(program.file('piped.weft'), 'wb') as file:
            file.write(piped.stdout)
        program.tell('record 1000')
        program.end()
        for name in (first, first.replace('-1.', '-2.'), 'mine.weft', 'piped.weft'):
            equal(numbers_of(program.file(name)), list(range(1000)), name)
        equal(numbers_of(program.file('trace.weft')), list(range(2000)))


@case
def a_snapshot_of_what_is_written_has_no_gap():
    with subject(size='64K') as program:
        program.record.stdin.write('record 3000000\n')
        program.record.stdin.flush()
        for number in range(10):
            name = '%d.weft' % number
            ctl(program, 'snapshot', '--hold', '-o', name)
            numbers = numbers_of(program.file(name))
            lost = losses_of(program.file(name))
            assert not numbers or len(numbers) + sum(lost.values()) >= numbers[-1] + 1, lost
        equal(program.record.stdout.readline(), 'done\n')
        program.end()
        equal(all_of(program.file('trace.weft')), 3000000)


@case
def a_rundown_names_what_has_wrapped():
    with subject(size='64K') as program:
        program.tell('tasks 5')
        program.tell('record 100000')
        asking = subprocess.Popen([WEFT, 'ctl', str(program.pid), 'rundown'], env=program.env,
                                  stderr=subprocess.PIPE, text=True)
        while asking.poll() is None:  # it asks once it follows
            program.tell('look')
            time.sleep(0.005)
        equal((asking.returncode, asking.stderr.read()), (0, 'weft: 5 tasks were told\n'))
        program.tell('record 10')
        program.end()
        trace = program.file('trace.weft')
        told = {row['label']: row for row in json_lines(weft('dump', '--tasks', '--json', trace).stdout)}
        equal(sorted(told), ['task %d' % i for i in range(5)])
        info, = json_lines(weft('info', '--json', trace).stdout)
        for number in range(5):
            row = told['task %d' % number]
            equal(row['kind'], 'bind')
            alive, = [e for e in events_of(trace) if e['event'] == 'alive' and e['task'] == row['task']]
            equal((alive['rundown'], alive['source']),
                  (True, told['task %d' % (number - 1)]['task'] if number else None))
            if number % 2 == 0:
                equal(alive['age'], 3600 * 10 ** 9)
                equal(row['created'], max(0, alive['time'] - alive['age']))
                equal(row['start'], info['start'])
            else:
                assert 'age' not in alive and 'created' not in row, row
        edges = {(e['from'], e['to']) for e in json_lines(weft('dump', '--edges', '--json', trace).stdout)
                 if e['edge'] == 'try_read'}
        equal(edges, {(told['task %d' % i]['task'], told['task %d' % (i - 1)]['task']) for i in range(1, 5)})
        equal(info['tasks']['preexisting'], 5)
        text = weft('info', trace).stdout
        assert 'before      5 tasks began before the trace\n' in text, text


@case
def without_an_answer_it_is_said():
    with subject() as program:
        program.tell('tasks 5')
        assert 'no answer' in ctl(program, 'rundown', status=1).stderr
        program.end()
        result = weft('ctl', program.file('trace.weft'), 'rundown', status=1)
        assert 'nobody is listening' in result.stderr, result.stderr


@case
def without_snapshots_nobody_listens():
    with subject('--snapshots', '0') as program:
        program.tell('record 10')
        program.tell('request in vain')
        time.sleep(0.2)
        errors = program.end()
        equal(program.snapshots(), [])
        assert 'snapshot' not in errors, errors
        equal([e['name'] for e in events_of(program.file('trace.weft')) if e['event'] == 'mark'], ['snapshot'])


@case
def wrong_use_is_said():
    assert 'are for snapshot' in weft('ctl', '--hold', '1', 'rundown', status=2).stderr
    assert '"many"' in weft('record', '--snapshots', 'many', 'true', status=2).stderr
    assert 'runs no program' in weft('record', '--snapshots', '1', '-p', '1', status=2).stderr


main()
