# SPDX-License-Identifier: ISC
"""The spans of a program while it runs: they are those that its trace has in the end, and each is written once."""
import contextlib
import json
import os
import shutil
import signal
import subprocess

from harness import BUILD, DATA, WEFT, case, equal, main, run, skip, temporary_directory, weft
from otlp_receiver import State, receiver
from waiting import communicate, status_of, wait_until, wait_until_it_follows

SUBJECT = os.path.join(BUILD, 'tests', 'requests-subject')
RINGS = [os.path.join(DATA, 'recorded', 'echo-server.weft')]


def spans_of(text):
    found = {}
    for line in text.splitlines():
        for part in json.loads(line)['resourceSpans']:
            for scope in part['scopeSpans']:
                for span in scope['spans']:
                    assert span['spanId'] not in found, span
                    found[span['spanId']] = dict(span, resource=part['resource'], links=sorted(span.get('links', []), key=str))
    return found


def ids_of(state):
    """The ids of the spans that a receiver took, each once."""
    ids = [span['spanId'] for span in state.spans()]
    equal(len(ids), len(set(ids)))
    return set(ids)


def names_of(found):
    """The times of a running program's clock are not exact, so ids that are made of them are not those of the trace."""
    return sorted((span['name'], [pair['value']['intValue'] for pair in span['attributes'] if pair['key'] == 'weft.task']) for span in found.values())


def export(*args):
    return weft('export', '--to', 'otlp-json', '--signal', 'traces', *args).stdout


class Subject:
    """The program under `weft record`, controlled line by line."""

    def __init__(self, folder, size='64M'):
        self.trace = os.path.join(folder, 'trace.weft')
        self.env = dict(os.environ, XDG_RUNTIME_DIR=folder, no_proxy='*')
        self.record = subprocess.Popen([WEFT, 'record', '-a', 'none', '--size', size, '-o', self.trace, SUBJECT], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.env)
        self.pid = int(self.record.stdout.readline())

    def tell(self, line):
        self.record.stdin.write('%s\n' % line)
        self.record.stdin.flush()
        equal(self.record.stdout.readline(), 'done\n')

    def end(self):
        self.record.stdin.close()
        return status_of(self.record)

    def follow(self, *args, to='otlp-json'):
        process = subprocess.Popen([WEFT, 'export', '--to', to, '--follow', str(self.pid), *args], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.env)
        wait_until_it_follows(process)
        return process


@contextlib.contextmanager
def subject(**options):
    with temporary_directory() as folder:
        program = Subject(folder, **options)
        try:
            yield program
        finally:
            if program.record.poll() is None:
                program.end()


def follow_to(program, url, to, *args):
    """Sends the spans, patiently: no answer is late because the machine is busy."""
    process = program.follow('--url', url, '--timeout', '36000s', '--retry-for', '36000s', *args, to=to)
    if process.poll() is not None:
        errors = communicate(process)[1]
        if 'built without a client' in errors:
            skip(errors.strip())
    return process


@case
def a_ring_gives_the_spans_of_its_export():
    """Also after many tasks were forgotten."""
    with subject() as program:
        program.tell('begin')
        program.tell(20000)
        program.tell('end')
        program.tell(10)
        equal(program.end(), 0)
        whole, followed = spans_of(export(program.trace)), spans_of(export('--follow', program.trace))
        equal(len(whole), 1 + 2 + 3 * 20010)
        equal(set(followed), set(whole))
        for key, span in whole.items():
            equal(followed[key], span)


@case
def spans_come_when_they_end():
    with subject() as program:
        program.tell('begin')
        process = program.follow()
        program.tell(100)
        first = process.stdout.readline()
        assert {span['name'] for span in spans_of(first).values()} <= {'request', 'query', 'parse'}, first
        program.tell('end')
        equal(program.end(), 0)
        rest, errors = communicate(process)
        equal((process.returncode, errors), (0, ''))
        followed, whole = spans_of(first + rest), spans_of(export(program.trace))
        equal(names_of(followed), names_of(whole))
        equal([span['name'] for span in followed.values()][-1], 'server')


@case
def ctrl_c_leaves_what_runs_pending():
    for how in 'none', 'omit-end', 'logfire':
        with subject() as program:
            program.tell('begin')
            program.tell(1)
            process = program.follow('--pending', how)
            lines = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            rest, errors = communicate(process)
            equal(process.returncode, 0)
            names = [span['name'] for span in spans_of(lines + rest).values() if 'endTimeUnixNano' not in span or span['endTimeUnixNano'] == span['startTimeUnixNano']]
            wanted = [] if how == 'none' else ['long one', 'part of it', 'server']
            equal(sorted(name for name in names if name not in ('request', 'query', 'parse')), wanted)
            equal('3 spans still run' in errors, how == 'none')


@case
def a_program_that_is_killed_in_the_middle_of_a_span():
    with subject() as program:
        program.tell('begin')
        process = program.follow()
        os.kill(program.pid, signal.SIGKILL)
        equal(status_of(program.record), 128 + signal.SIGKILL)
        output, errors = communicate(process)
        equal((process.returncode, errors), (0, ''))
        found = {span['name']: span for span in spans_of(output).values()}
        equal(set(found), {'server', 'long one', 'part of it'})
        for span in found.values():
            assert {'key': 'weft.unfinished', 'value': {'boolValue': True}} in span['attributes'], span
        equal(names_of(spans_of(export(program.trace))), names_of(found))


@case
def losses_are_said():
    """A follower that stands still while the ring turns over."""
    with subject(size='64K') as program:
        process = program.follow()
        program.tell(10)
        lines = process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        wait_until('it stands still', lambda: open('/proc/%d/stat' % process.pid).read().rpartition(')')[2].split()[0] == 'T')
        program.tell(20000)
        process.send_signal(signal.SIGCONT)
        equal(program.end(), 0)
        rest, errors = communicate(process)
        equal(process.returncode, 0)
        assert 'events lost (stalled' in errors, errors
        found = spans_of(lines + rest)  # none twice
        assert len(found) < 3 * 20010, len(found)


@case
def a_receiver_gets_what_the_export_has():
    for to in 'otlp', 'otlp-json':
        state = State()
        with receiver(state) as url, subject() as program:
            program.tell('begin')
            process = follow_to(program, url, to)
            program.tell(2000)
            program.tell('end')
            equal(program.end(), 0)
            equal((communicate(process), process.returncode), (('', ''), 0))
            equal(len(ids_of(state)), 1 + 2 + 3 * 2000)
            if to == 'otlp-json':
                equal(names_of({span['spanId']: span for span in state.spans()}), names_of(spans_of(export(program.trace))))


@case
def ctrl_c_ends_the_wait_for_a_busy_receiver():
    """Whether it waits to send again, sends, or has not read an event yet."""
    busy, free = State([503] * 1000), State()
    with receiver(busy) as url, receiver(free) as other, subject() as program:
        spool = os.path.join(os.path.dirname(program.trace), 'spool')
        process = follow_to(program, url, 'otlp', '--spool', spool)
        program.tell(10)
        wait_until('the first request', lambda: busy.times or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        errors = communicate(process)[1]
        equal(process.returncode, 1, errors)
        assert 'wait in' in errors, errors
        run([WEFT, 'export', '--to', 'otlp', '--url', other, '--timeout', '36000s', '--spool', spool], env=program.env)
        assert ids_of(free) and not busy.messages


@case
def the_ring_is_not_overwritten():
    with temporary_directory() as folder:
        ring = os.path.join(folder, 'ring.weft')
        for path in ring, os.path.join(folder, 'link'):
            shutil.copy(RINGS[0], ring)
            if path != ring:
                os.symlink(ring, path)
            assert 'refusing to overwrite' in weft('export', '--to', 'otlp-json', '--follow', ring, '-o', path, status=1).stderr
            with open(ring, 'rb') as left, open(RINGS[0], 'rb') as right:
                assert left.read() == right.read()


@case
def wrong_use_is_refused():
    for args, status, message in ((('--spans', 'requests', 'x'), 2, '--follow is not for'), (('--signal', 'metrics', 'x'), 2, '--follow is not for'),
                                  ((), 2, 'FILE or PID'), (('a', 'b'), 2, 'FILE or PID'), (('/dev/null',), 3, 'not the ring'),
                                  ((os.path.join(DATA, 'recorded', 'arp-cut.weft'),), 3, 'not the ring')):
        result = weft('export', '--to', 'otlp-json', '--follow', *args, status=status)
        assert message in result.stderr, result.stderr
    result = weft('export', '--to', 'otlp-json', '--follow', RINGS[0], '-o', '/dev/full', status=1)
    assert 'No space left' in result.stderr, result.stderr


main()
