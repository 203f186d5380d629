# SPDX-License-Identifier: ISC
"""The agent sends the spans of all programs that record, as they end: each once, whatever the receiver and the agent itself do."""
import contextlib
import os
import re
import signal
import socket

from agent_host import Host
from harness import BUILD, case, equal, main, skip, temporary_directory, weft
from otlp_receiver import State, receiver
from waiting import status_of, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'requests-subject')


class Site(Host):
    """A host whose programs serve requests, and an agent that sends their spans."""

    def __init__(self, outer):
        super().__init__(outer, SUBJECT, True)
        self.env['no_proxy'] = '*'
        self.spool = os.path.join(outer, 'spool')

    def tell(self, it, *lines):
        for line in lines:
            it.stdin.write('%s\n' % line)
            it.stdin.flush()
            equal(it.stdout.readline(), 'done\n')

    def start(self, url, *options):
        # No answer is late because the machine is busy.
        patient = () if '--timeout' in options else ('--timeout', '36000s')
        return self.agent('--otlp', url, *patient, *options)

    def stop(self, agent):
        self.running.remove(agent)
        agent.send_signal(signal.SIGTERM)
        equal(status_of(agent), 0, self.said())

    def wait(self, agent, what, condition):
        wait_until(what, lambda: condition() or agent.poll() is not None)
        if agent.poll() is not None and 'built without a client' in self.said():
            skip(self.said().strip())
        assert condition(), self.said()

    def spooled(self):
        return [name for name in os.listdir(self.spool) if name.endswith('.gz')] if os.path.isdir(self.spool) else []


@contextlib.contextmanager
def site():
    with temporary_directory() as outer:
        it = Site(outer)
        try:
            yield it
        finally:
            for process in list(it.running):
                it.kill(process)


@contextlib.contextmanager
def site_with_receiver():
    state = State()
    with receiver(state) as url, site() as it:
        yield it, state, url


def check_ids(state, count):
    """So many spans were taken, and none twice."""
    ids = [span['spanId'] for span in state.spans()]
    equal((len(ids), len(set(ids))), (count, count))


def check_tasks(state):
    """None was sent twice. An id of a span in a task is made of its start, which each agent computes anew."""
    tasks = [span['spanId'] for span in state.spans() if span['name'] != 'parse']
    equal(len(tasks), len(set(tasks)))


def count_losses(messages):
    return sum(int(number) for number in re.findall(r'(\d+) events lost', messages))


def has(state, count):
    return lambda: len(state.spans()) >= count


@case
def requests_are_roots_if_only_they_are_wanted():
    """Half of them have a context without a parent in any case."""
    for options, below in ((), 5), (('--spans', 'requests'), 0):
        with site_with_receiver() as (it, state, url):
            agent = it.start(url, *options)
            it.program(10)
            it.wait(agent, 'the requests', has(state, 30))
            it.stop(agent)
            requests = [span for span in state.spans() if span['name'] == 'request']
            equal((len(requests), len([span for span in requests if span.get('parentSpanId')])), (10, below))


@case
def spans_of_all_programs_come_when_they_end():
    with site_with_receiver() as (it, state, url):
        early = it.program(1000)
        agent = it.start(url)
        late = it.program('begin', 200)
        silent = it.program(100, records=False)
        it.wait(agent, 'the requests', has(state, 3 * 1200))
        it.tell(early, 10)
        it.wait(agent, 'further ones', has(state, 3 * 1210))
        it.end(early)
        it.wait(agent, 'the server', has(state, 3 * 1210 + 1))
        it.kill(late)
        it.wait(agent, 'what the other one was in', has(state, 3 * 1210 + 4))
        it.end(silent)
        it.stop(agent)
        check_ids(state, 3 * 1210 + 4)
        equal([span['name'] for span in state.spans()][-4], 'server')
        equal({span['name'] for span in state.spans()[-3:]}, {'server', 'long one', 'part of it'})
        assert 'lost' not in it.said(), it.said()


@case
def an_agent_goes_on_where_the_last_one_stopped():
    """And sends what was recorded while there was none."""
    with site_with_receiver() as (it, state, url):
        program, total = it.program('begin'), 0
        for count in 300, 1, 700:
            it.tell(program, count)
            total += 3 * count
            agent = it.start(url)
            it.wait(agent, 'the requests', has(state, total))
            if count != 700:
                it.stop(agent)
            check_ids(state, total)
        it.end(program)
        it.wait(agent, 'the end', has(state, total + 3))
        it.stop(agent)
        agent = it.start(url)
        it.looks(agent, 3)
        it.stop(agent)
        check_ids(state, total + 3)


@case
def an_agent_goes_on_in_a_ring_that_has_turned_over():
    """The events of a thread that records little outlive later events of other threads, which no agent has read."""
    with site_with_receiver() as (it, state, url):
        it.env['WEFT_SIZE'] = '256K'
        program = it.program(1)
        it.tell(program, 'other 10')
        agent = it.start(url)
        it.wait(agent, 'the requests', has(state, 33))
        it.stop(agent)
        it.tell(program, 20000)
        agent = it.start(url)
        it.wait(agent, 'those that are left', lambda: len(state.spans()) > 33)
        it.tell(program, 'other 1')
        it.end(program)
        it.stop(agent)
        check_tasks(state)
        assert 'lost (overwritten' in it.said(), it.said()


@case
def what_an_agent_has_read_is_not_lost_when_it_is_overwritten():
    with site_with_receiver() as (it, state, url):
        it.env['WEFT_SIZE'] = '256K'
        program = it.program(1)
        agent = it.start(url)
        for total in range(1, 1002, 100):
            it.wait(agent, 'the requests', has(state, 3 * total))
            if total < 1001:
                it.tell(program, 100)
        it.stop(agent)
        it.tell(program, 100)  # these have room beside others, but not beside all
        agent = it.start(url)
        it.wait(agent, 'further ones', has(state, 3 * 1101))
        it.end(program)
        it.wait(agent, 'the server', has(state, 3 * 1101 + 1))
        it.stop(agent)
        check_ids(state, 3 * 1101 + 1)
        assert 'lost' not in it.said(), it.said()


@case
def agents_end_and_begin_while_two_threads_record():
    """And the ring turns over while there is none."""
    with site_with_receiver() as (it, state, url):
        it.env['WEFT_SIZE'] = '256K'
        program, lost = it.program('other 1', 1), 0
        for _ in range(3):
            agent, before = it.start(url), len(state.spans())
            program.stdin.write('both 2000\n')
            program.stdin.flush()
            it.wait(agent, 'some spans', lambda before=before: len(state.spans()) > before)
            it.stop(agent)
            lost += count_losses(it.said())
            equal(program.stdout.readline(), 'done\n')
            it.tell(program, 'both 2000')
        agent, before = it.start(url), len(state.spans())
        it.wait(agent, 'those that are left', lambda: len(state.spans()) > before)
        it.end(program)
        it.stop(agent)
        lost += count_losses(it.said())
        check_tasks(state)
        # Each span that is missing lacks an event of its own; a request has 15 events and three spans.
        requests = 2 + 3 * 2 * 4000
        missing = 3 * requests + 1 - len(state.spans())
        assert 0 < missing <= lost < 15 * requests, (missing, lost)


@case
def after_a_kill_no_span_is_sent_twice():
    with site_with_receiver() as (it, state, url):
        program = it.program(300)
        agent = it.start(url)
        it.wait(agent, 'the requests', has(state, 900))
        it.kill(agent)
        agent = it.start(url)
        # Spans that end while nobody looks are left out. Sooner or later the agent follows the program again.
        rounds = 0
        while len(state.spans()) == 900:
            it.tell(program, 1)
            rounds += 1
            it.looks(agent, 1)
        it.end(program)
        it.wait(agent, 'the server', lambda: state.spans()[-1]['name'] == 'server')
        it.stop(agent)
        ids = [span['spanId'] for span in state.spans()]
        equal(len(ids), len(set(ids)))
        assert 900 < len(ids) <= 901 + 3 * rounds, (len(ids), rounds)


@case
def a_receiver_may_be_gone_busy_and_broken():
    state = State([503, 200, (429, {'Retry-After': '1'}, b'slow down'), 200, ('drop', {}, b''), 200, 502, 504])
    with socket.socket() as held, site() as it:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(('127.0.0.1', 0))
        program = it.program(1000)
        agent = it.start('http://127.0.0.1:%d' % held.getsockname()[1])
        it.wait(agent, 'the first message is kept', it.spooled)
        with receiver(state, held.getsockname()[1]):
            it.tell(program, 2000, 1000)
            it.end(program)
            it.wait(agent, 'all', has(state, 3 * 4000 + 1))
            it.wait(agent, 'an empty spool', lambda: not it.spooled())
            it.stop(agent)
        check_ids(state, 3 * 4000 + 1)
        assert 'spans are taken again' in it.said(), it.said()


@case
def what_a_stalled_receiver_does_not_take_outlives_the_agent():
    stalled, free = State([('stall', {}, b'')] * 1000), State()
    with receiver(stalled) as url, receiver(free) as other, site() as it:
        program = it.program(1000)
        agent = it.start(url, '--timeout', '1s')
        it.wait(agent, 'the receiver stalls', lambda: stalled.times)
        it.end(program)
        it.stop(agent)
        agent = it.start(other)
        it.wait(agent, 'all', has(free, 3001))
        it.stop(agent)
        check_ids(free, 3001)
        equal((stalled.messages, it.spooled()), ([], []))


@case
def a_message_at_which_the_receiver_fails_does_not_keep_it_from_the_others():
    """After some attempts it is left for the next agent."""
    failing, free = State(fails_at_first=True), State()
    with receiver(failing) as url, receiver(free) as other, site() as it:
        program, total = it.program(1000), 3000
        agent = it.start(url)
        it.wait(agent, 'the other messages', has(failing, total - 512))
        while 'stays in the spool' not in it.said():
            it.tell(program, 1)
            total += 3
            it.wait(agent, 'further ones', has(failing, total - 512))
        it.end(program)
        it.wait(agent, 'the server', has(failing, total + 1 - 512))
        it.stop(agent)
        equal(len(it.spooled()), 1)
        agent = it.start(other)
        it.wait(agent, 'the message', lambda: free.spans())
        it.stop(agent)
        equal(it.spooled(), [])
        ids = [span['spanId'] for state in (failing, free) for span in state.spans()]
        equal((len(ids), len(set(ids))), (total + 1, total + 1))


@case
def wrong_use_is_refused():
    with temporary_directory() as folder:
        base = ('agent', '--folder', os.path.join(folder, 'f'), '--data', os.path.join(folder, 'd.db'))
        for args, status, message in ((('--otlp', 'http://localhost:4318', '--once'), 2, '--once is not for --otlp'),
                                      (('--spool', folder), 2, '--spool is for --otlp'),
                                      (('--otlp', 'localhost:4318'), 2, 'write http://'),
                                      (('--otlp', 'http://localhost:4318', '--spool', '/dev/null'), 1, 'Not a directory')):
            result = weft(*base, *args, status=None)
            if 'built without a client' in result.stderr:
                skip(result.stderr.strip())
            equal(result.returncode, status, result.stderr)
            assert message in result.stderr, result.stderr


main()
