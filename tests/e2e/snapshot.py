# SPDX-License-Identifier: ISC
"""Snapshots of a running program: they have all earlier events, or count them as lost."""
import contextlib
import glob
import json
import os
import re
import signal
import subprocess

from harness import BUILD, WEFT, case, equal, json_lines, main, run, temporary_directory, weft
from waiting import let_work, process_stat, status_of, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'snapshot-subject')
LISTEN_UNTIL = 3520 + 16  # in the header


class Subject:
    """The program under `weft record`, controlled line by line."""

    def __init__(self, path, *options, size='1M'):
        self.path = path
        self.env = dict(os.environ, XDG_RUNTIME_DIR=os.path.join(path, 'run'))
        os.mkdir(self.env['XDG_RUNTIME_DIR'], 0o700)
        self.record = subprocess.Popen(
            [WEFT, 'record', '--size', size, '-o', 'trace.weft', *options, SUBJECT], cwd=path, env=self.env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = int(self.record.stdout.readline())

    def send(self, line):
        self.record.stdin.write(line + '\n')
        self.record.stdin.flush()
        equal(self.record.stdout.readline(), 'done\n')

    def ring(self):
        path, = glob.glob(self.file('run/weft/record-*/*-%d.weft' % self.pid))
        return path

    def wait_for_listener(self):
        def listens():
            with open(self.ring(), 'rb') as ring:
                ring.seek(LISTEN_UNTIL)
                return any(ring.read(8))
        wait_until('a watcher listens', listens, self.record)

    def end(self):
        """The messages of weft record."""
        self.record.stdin.close()
        errors = self.record.stderr.read()
        equal(status_of(self.record), 0, errors)
        return errors

    def file(self, name):
        return os.path.join(self.path, name)

    def snapshots(self):
        return sorted(os.path.basename(p) for p in glob.glob(self.file('*.snapshot-*')))

    def wait_for(self, name):
        wait_until(name, lambda: os.path.exists(self.file(name)), self.record, seen=lambda: os.listdir(self.path))
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


def alert_of(path):
    """Its row; it is the first problem, and `weft info` has it."""
    table, = [t for t in json.loads(weft('info', '--json', path).stdout)['tables'] if t.get('name') == 'alert']
    row, = table['rows']
    problem = json_lines(weft('dump', '--problems', '--json', path).stdout)[0]
    equal((problem['problem'], problem['severity'], problem['start']), ('alert', 'error', row['time']), problem)
    assert 'alert       "%s" fired at ' % row['rule'].replace('"', '\\"') in weft('info', path).stdout, weft('info', path).stdout
    return row


def losses_of(path):
    errors = weft('info', path).stdout
    return {cause: int(n.replace(',', '')) for n, cause in
            re.findall(r'([\d,]+) (overwritten|held|full|nested)', errors)}


def all_of(path):
    """The number of present events and of each loss."""
    events = [e for e in events_of(path) if not e.get('rundown')]
    return len(events) + sum(losses_of(path).values())


@case
def a_request_saves_what_was_before():
    with subject() as program:
        program.send('record 1000')
        program.send('request queue is long')
        path = program.wait_for('trace.snapshot-1.weft')
        program.send('record 1000')
        errors = program.end()
        equal(numbers_of(path), list(range(1000)))
        mark, = [e for e in events_of(path) if e['event'] == 'mark']
        equal((mark['name'], mark['fields']), ('snapshot', {'reason': 'queue is long'}))
        equal(numbers_of(program.file('trace.weft')), list(range(2000)))
        assert 'snapshot trace.snapshot-1.weft: "queue is long"' in errors, errors


@case
def a_signal_handler_may_request_one():
    with subject() as program:
        program.send('record 10')
        program.send('signal')
        path = program.wait_for('trace.snapshot-1.weft')
        errors = program.end()
        equal(numbers_of(path), list(range(10)))
        assert '"in a handler"' in errors, errors


@case
def a_request_at_the_end_is_answered():
    with subject() as program:
        program.send('record 100')
        program.wait_for_listener()
        program.record.send_signal(signal.SIGSTOP)  # it sees the request only when the program has ended
        program.send('request last words')
        program.record.stdin.close()
        wait_until('the program ends', lambda: process_stat(program.pid)[0] == b'Z')
        program.record.send_signal(signal.SIGCONT)
        errors = program.end()
        assert 'snapshot trace.snapshot-1.weft: "last words"' in errors, errors
        equal(numbers_of(program.file('trace.snapshot-1.weft')), list(range(100)))


@case
def the_past_is_held_until_it_is_copied():
    with subject(size='64K') as program:
        program.send('record 100000')
        program.wait_for_listener()
        program.send('request now')
        program.send('record 100000')  # more than the ring has, at once
        path = program.wait_for('trace.snapshot-1.weft')
        program.end()
        numbers = numbers_of(path)
        assert 99999 in numbers and numbers[0] < 99999 - 1000, (numbers[0], numbers[-1])
        equal(all_of(program.file('trace.weft')), 200001)


@case
def a_hold_of_a_dead_watcher_ends():
    with subject(size='64K') as program:
        program.send('record 100000')
        program.wait_for_listener()
        program.record.send_signal(signal.SIGSTOP)
        program.send('request now')
        program.send('record 100000')
        assert losses_of(program.ring())['held'] > 50000, losses_of(program.ring())
        program.record.kill()
        recorded = 200000

        def is_held_no_more():
            nonlocal recorded
            if recorded - 1 in numbers_of(program.ring()):
                return True
            program.send('record 1000')
            recorded += 1000
            return False
        wait_until('the hold ends', is_held_no_more)
        equal(all_of(program.ring()), recorded + 1)


@case
def a_loop_fills_no_disk():
    with subject('--snapshots', '2') as program:
        for _ in range(30):
            program.send('loop 1000')
            let_work(program.record, sleeps=1)
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
        program.send('record 1000')
        report = ctl(program, 'snapshot').stderr
        first = 'snapshot-subject-%d.snapshot-1.weft' % program.pid
        assert first in report and '1,000 events' in report, report
        ctl(program, 'snapshot', '--hold')
        ctl(program, 'snapshot', '-o', 'mine.weft')
        piped = subprocess.run([WEFT, 'ctl', str(program.pid), 'snapshot', '-o', '-'], env=program.env,
                               capture_output=True, check=True)
        with open(program.file('piped.weft'), 'wb') as file:
            file.write(piped.stdout)
        program.send('record 1000')
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
        program.send('tasks 5')
        program.send('record 100000')
        request = subprocess.Popen([WEFT, 'ctl', str(program.pid), 'rundown'], env=program.env,
                                  stderr=subprocess.PIPE, text=True)

        def has_ended():  # the request comes once ctl follows the program
            program.send('look')
            return request.poll() is not None
        wait_until('an answer', has_ended)
        equal((request.returncode, request.stderr.read()), (0, 'weft: the program listed 5 living tasks\n'))
        program.send('record 10')
        program.end()
        trace = program.file('trace.weft')
        tasks = {row['label']: row for row in json_lines(weft('dump', '--tasks', '--json', trace).stdout)}
        equal(sorted(tasks), ['task %d' % i for i in range(5)])
        info, = json_lines(weft('info', '--json', trace).stdout)
        for number in range(5):
            row = tasks['task %d' % number]
            equal(row['kind'], 'bind')
            alive, = [e for e in events_of(trace) if e['event'] == 'alive' and e['task'] == row['task']]
            equal((alive['rundown'], alive['source']),
                  (True, tasks['task %d' % (number - 1)]['task'] if number else None))
            if number % 2 == 0:
                equal(alive['age'], 3600 * 10 ** 9)
                equal(row['created'], max(0, alive['time'] - alive['age']))
                equal(row['start'], info['start'])
            else:
                assert 'age' not in alive and 'created' not in row, row
        edges = {(e['from'], e['to']) for e in json_lines(weft('dump', '--edges', '--json', trace).stdout)
                 if e['edge'] == 'try_read'}
        equal(edges, {(tasks['task %d' % i]['task'], tasks['task %d' % (i - 1)]['task']) for i in range(1, 5)})
        equal(info['tasks']['preexisting'], 5)
        text = weft('info', trace).stdout
        assert 'before      5 tasks began before the trace\n' in text, text


@case
def a_missing_answer_is_reported():
    with subject() as program:
        program.send('tasks 5')
        assert 'no answer' in ctl(program, 'rundown', status=1).stderr
        program.end()
        result = weft('ctl', program.file('trace.weft'), 'rundown', status=1)
        assert 'no program records here' in result.stderr, result.stderr


@case
def without_snapshots_no_watcher_listens():
    with subject('--snapshots', '0') as program:
        program.send('record 10')
        program.send('request in vain')
        let_work(program.record)
        errors = program.end()
        equal(program.snapshots(), [])
        assert 'snapshot' not in errors, errors
        equal([e['name'] for e in events_of(program.file('trace.weft')) if e['event'] == 'mark'], ['snapshot'])


@case
def a_counter_that_passes_a_limit():
    with subject('--trigger', 'counter queue > 100') as program:
        program.wait_for_listener()
        for _ in range(100):
            program.send('queue 1')
        let_work(program.record)
        equal(program.snapshots(), [])
        program.send('queue 1')
        path = program.wait_for('trace.snapshot-1.weft')
        program.send('queue 1')  # still above
        errors = program.end()
        equal(program.snapshots(), ['trace.snapshot-1.weft'])
        assert '"counter queue > 100"' in errors, errors
        changes = [e for e in events_of(path) if e['event'] == 'counter']
        equal(sum(e['add'] for e in changes), 101)
        alert = alert_of(path)
        equal((alert['rule'], alert['value'], alert['time']), ('counter queue > 100', '101', changes[-1]['time']))


@case
def the_past_of_a_trigger_is_there():
    with subject('--trigger', 'tag = timeout', size='64K') as program:
        program.send('record 100000')
        program.wait_for_listener()
        program.send('tag time')
        program.send('tag timeout')
        path = program.wait_for('trace.snapshot-1.weft')
        program.send('record 1000000')
        program.end()
        assert 99999 in [e.get('value') for e in events_of(path)], 'the moments before are gone'
        moment, = [e['time'] for e in events_of(path) if e.get('text') == 'timeout']
        equal(alert_of(path)['time'], moment)
        part = program.file('part.weft')
        weft('cut', path, '-o', part, '--start', '@%d' % (moment - 1000), '--duration', '2us')
        equal(alert_of(part)['time'], moment)
        weft('cut', path, '-o', part, '--start', '@%d' % (moment + 1))
        equal({t['name']: t['count'] for t in json.loads(weft('info', '--json', part).stdout)['tables']}, {'machine': 1, 'counted': 0, 'alert': 0})
        equal(all_of(program.file('trace.weft')), 1100002)


@case
def a_task_that_hangs_fires_while_it_does():
    with subject('--trigger', 'waits > 50ms kind=bind label=query') as program:
        program.wait_for_listener()
        program.send('wait other')
        program.send('wait the query of A')
        path = program.wait_for('trace.snapshot-1.weft')  # nothing else happens
        program.end()
        equal(len(program.snapshots()), 1)
        alert, = [alert_of(path)]
        waits, = [e for e in events_of(path) if e['event'] == 'try_read' and e['task'] == alert['task']]
        assert abs(alert['time'] - waits['time'] - 50000000) < 1000000, (alert, waits)
        equal([e['task'] for e in events_of(path) if e.get('text') == 'the query of A'], [alert['task']])
        labels = {row['label'] for row in json_lines(weft('dump', '--tasks', '--json', path).stdout)}
        assert 'the query of A' in labels, labels


@case
def a_program_adds_its_own_rules():
    with subject() as program:
        program.send('rule tag panic')
        program.send('rule counter queue >')
        program.send('rule tag panic')
        program.wait_for_listener()
        program.send('tag panic')
        program.wait_for('trace.snapshot-1.weft')
        errors = program.end()
        assert 'weft_trigger: a number is expected; at character 16 of "counter queue >"' in errors, errors
        equal(program.snapshots(), ['trace.snapshot-1.weft'])


def links_of(process):
    folder = '/proc/%d/fd' % process.pid
    found = ''
    for fd in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            found += os.readlink(os.path.join(folder, fd))
    return found


def ctl_when(program, *options):
    """weft ctl, once it waits: it has two mappings of the ring open, each with its process."""
    waiting = subprocess.Popen([WEFT, 'ctl', str(program.pid), 'snapshot', '--when', 'tag "panic"', *options],
                               env=program.env, cwd=program.path, stderr=subprocess.PIPE, text=True)
    wait_until('it waits', lambda: links_of(waiting).count('pidfd') >= 2, waiting)
    return waiting


@case
def ctl_waits_until_a_rule_fires():
    with subject() as program:
        program.send('tag panic')  # before it came
        waiting = ctl_when(program, '-o', 'when.weft')
        let_work(waiting)
        equal(waiting.poll(), None)

        def has_fired():
            program.send('tag panic')
            return waiting.poll() is not None
        wait_until('it fires', has_fired)
        equal(waiting.returncode, 0, waiting.stderr.read())
        program.end()
        tags = [e for e in events_of(program.file('when.weft')) if e.get('text') == 'panic']
        assert len(tags) > 1, tags
        equal((alert_of(program.file('when.weft'))['rule'], alert_of(program.file('when.weft'))['value']), ('tag "panic"', 'panic'))


@case
def ctl_says_that_no_rule_fired():
    with subject() as program:
        waiting = ctl_when(program)
        program.end()
        errors = waiting.stderr.read()
        equal(status_of(waiting), 1, errors)
        equal(program.snapshots(), [])


@case
def wrong_use_is_reported():
    report = weft('record', '--trigger', 'counter queue = 1', 'true', status=2).stderr
    assert '--trigger: > or < is expected; at character 15 of "counter queue = 1"' in report, report
    for arguments, message in ((('set', 'net=loud'), 'level "loud" is unknown'), (('set',), 'CATEGORY=LEVEL is missing'),
                               (('status', 'x'), '"x" is too many'), (('snapshot', '--when', 'no'), 'is expected'),
                               (('--json', 'rundown'), 'only `status` takes --json')):
        report = weft('ctl', 'no-such-file', *arguments, status=2).stderr  # whatever the file
        assert message in report, report
    assert 'only `snapshot` takes' in weft('ctl', '--hold', '1', 'rundown', status=2).stderr
    assert '"many"' in weft('record', '--snapshots', 'many', 'true', status=2).stderr
    assert 'runs no program' in weft('record', '--snapshots', '1', '--recover', status=2).stderr


main()
