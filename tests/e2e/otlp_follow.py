# SPDX-License-Identifier: ISC
"""The spans of a program while it runs: they are those that its trace has in the end, and each is written once."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
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
        self.trace, self.spool = os.path.join(folder, 'trace.weft'), os.path.join(folder, 'spool')
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


def interrupt(process):
    """It leaves messages in its spool."""
    process.send_signal(signal.SIGINT)
    errors = communicate(process)[1]
    equal(process.returncode, 1, errors)
    assert 'wait in' in errors, errors


def send_spooled(program, url):
    run([WEFT, 'export', '--to', 'otlp', '--url', url, '--timeout', '36000s', '--spool', program.spool], env=program.env)


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


def places(found):
    """Names, traces and parents of the spans of tasks: those of spans in tasks have ids by their times, which are not exact while a program runs."""
    return sorted((key, span['name'], span['traceId'], span.get('parentSpanId')) for key, span in found.items()
                  if any(pair['key'] == 'weft.kind' for pair in span['attributes']))


@case
def requests_come_when_they_end():
    """They are those of the trace, also if the program is killed in one."""
    for kills in False, True:
        with subject() as program:
            program.tell('begin')
            process = program.follow('--spans', 'requests', '--pending', 'omit-end')
            program.tell(100)
            lines = process.stdout.readline()
            assert {span['name'] for span in spans_of(lines).values()} <= {'request', 'query', 'parse'}, lines
            if kills:
                os.kill(program.pid, signal.SIGKILL)
                equal(status_of(program.record), 128 + signal.SIGKILL)
            else:
                program.tell('end')
                equal(program.end(), 0)
            rest, errors = communicate(process)
            equal((process.returncode, errors), (0, ''))
            followed, whole = spans_of(lines + rest), spans_of(export('--spans', 'requests', '--pending', 'omit-end', program.trace))
            equal(places(followed), places(whole))
            equal(names_of(followed), names_of(whole))
            unfinished = {span['name'] for span in followed.values() if any(pair['key'] == 'weft.unfinished' for pair in span['attributes'])}
            equal(unfinished, {'server', 'long one', 'part of it'} if kills else set())


@case
def a_ring_gives_the_requests_of_its_export():
    for ring in RINGS:
        whole, followed = (spans_of(export(*how, '--spans', 'requests', '--pending', 'omit-end', ring)) for how in ((), ('--follow',)))
        equal(places(followed), places(whole))


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
        process = follow_to(program, url, 'otlp', '--spool', program.spool)
        program.tell(10)
        wait_until('the first request', lambda: busy.times or process.poll() is not None)
        interrupt(process)
        send_spooled(program, other)
        assert ids_of(free) and not busy.messages


def spooled(folder):
    return [name for name in os.listdir(folder) if name not in ('lock', 'new')] if os.path.isdir(folder) else []


def spooled_spans(folder):
    return sum(int(name.split('-')[2].split('.')[0]) for name in spooled(folder))


def record_much_beside_a_stall(program, process, state):
    """Records several rings full, never much more than what has been read. The number of requests."""
    rounds, requests = 40, 171
    for number in range(1, rounds + 1):
        program.tell(requests)
        wait_until('the receiver stalls', lambda: state.times or process.poll() is not None)
        # Up to 512 spans each are being sent, in the queue, and in the next message.
        wait_until('messages', lambda number=number: spooled_spans(program.spool) >= 3 * requests * number - 3 * 512 or process.poll() is not None)
        equal(process.poll(), None)
    return rounds * requests


@case
def a_receiver_that_stalls_does_not_hold_up_the_reader():
    state = State([('stall', {}, b'')])
    with receiver(state) as url, subject(size='256K') as program:
        process = follow_to(program, url, 'otlp', '--spool', program.spool, '--queue-size', '1')
        requests = record_much_beside_a_stall(program, process, state)
        state.released.set()
        equal(program.end(), 0)
        equal((communicate(process)[1], process.returncode), ('', 0))
        equal((len(ids_of(state)), spooled(program.spool)), (1 + 3 * requests, []))


@case
def what_is_in_the_spool_outlives_a_kill():
    stalled, free = State([('stall', {}, b'')] * 1000), State()
    with receiver(stalled) as url, receiver(free) as other, subject(size='256K') as program:
        process = follow_to(program, url, 'otlp', '--spool', program.spool, '--queue-size', '1')
        record_much_beside_a_stall(program, process, stalled)
        process.kill()
        communicate(process)
        count = spooled_spans(program.spool)
        send_spooled(program, other)
        equal((len(ids_of(free)), spooled(program.spool)), (count, []))


@case
def a_receiver_may_be_gone_broken_and_busy():
    """And each span is taken once. The port is held while nobody listens there."""
    answers = [503, 200, (429, {'Retry-After': '1'}, b'slow down'), 200, ('drop', {}, b''), 200, (599, {}, b''), 200, 502, 504]
    state = State(answers)
    with socket.socket() as held, subject() as program:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(('127.0.0.1', 0))
        port = held.getsockname()[1]
        process = follow_to(program, 'http://127.0.0.1:%d' % port, 'otlp', '--spool', program.spool)
        program.tell(1000)
        wait_until('the first message is kept', lambda: spooled(program.spool) or process.poll() is not None)
        with receiver(state, port):
            for _ in range(4):
                program.tell(1000)
            wait_until('all answers', lambda: len(state.times) > len(answers) or process.poll() is not None)
            program.tell(1000)
            equal(program.end(), 0)
            errors = communicate(process)[1]
        # A message is not sent again after an answer that no receiver gives who may take it later.
        lost = 1 + 3 * 6000 - len(ids_of(state))
        equal((process.returncode, spooled(program.spool), 0 < lost <= 512), (1, [], True), errors)
        assert '%d spans or points were not delivered: the receiver answers 599' % lost in errors, errors


@case
def spans_wait_in_memory_without_a_spool():
    state = State([503, ('drop', {}, b''), 503])
    with receiver(state) as url, subject() as program:
        process = follow_to(program, url, 'otlp')
        program.tell(1000)
        program.tell(1000)
        equal(program.end(), 0)
        errors = communicate(process)[1]
        equal((len(ids_of(state)), process.returncode), (1 + 3 * 2000, 0))
        assert 'what is not taken waits' in errors and 'spans are taken again' in errors, errors


@case
def what_finds_no_room_is_counted():
    state = State([503] * 1000)
    with receiver(state) as url, subject() as program:
        process = follow_to(program, url, 'otlp', '--queue-size', '1', '--retry-for', '1s')
        program.tell(1000)
        equal(program.end(), 0)
        errors = communicate(process)[1]
        equal((process.returncode, ids_of(state)), (1, set()))
        assert '%d spans or points were not delivered' % (1 + 3 * 1000) in errors, errors


@case
def ctrl_c_ends_the_wait_for_a_receiver_that_stalls():
    state, free = State([('stall', {}, b'')] * 1000), State()
    with receiver(state) as url, receiver(free) as other, subject() as program:
        process = program.follow('--url', url, '--timeout', '1s', '--spool', program.spool, to='otlp')
        program.tell(1000)
        wait_until('the receiver stalls', lambda: state.times or process.poll() is not None)
        interrupt(process)
        send_spooled(program, other)
        assert len(ids_of(free)) > 512, len(ids_of(free))


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
    for args, status, message in ((('--start-time', '2026-11-29T14:37:40Z', 'x'), 2, '--follow is not for'), (('--signal', 'metrics', 'x'), 2, '--follow is not for'),
                                  ((), 2, 'FILE or PID'), (('a', 'b'), 2, 'FILE or PID'), (('/dev/null',), 3, 'not the ring'),
                                  ((os.path.join(DATA, 'recorded', 'arp-cut.weft'),), 3, 'not the ring')):
        result = weft('export', '--to', 'otlp-json', '--follow', *args, status=status)
        assert message in result.stderr, result.stderr
    result = weft('export', '--to', 'otlp-json', '--follow', RINGS[0], '-o', '/dev/full', status=1)
    assert 'No space left' in result.stderr, result.stderr


main()
