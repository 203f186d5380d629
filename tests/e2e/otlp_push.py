# SPDX-License-Identifier: ISC
"""Spans and metrics that are pushed by HTTP: to receivers that take them, are slow, busy, broken, or gone."""
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from email.utils import formatdate

from harness import WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from otlp_receiver import State, receiver
from traces import mirage
from waiting import wait_until

START = ('--start-time', '2026-11-29T14:37:40Z')
COUNT = 2000  # four messages


def unused_url():
    """The URL of a port at which nobody listens as long as the socket exists."""
    held = socket.socket()
    held.bind(('127.0.0.1', 0))
    return held, 'http://127.0.0.1:%d' % held.getsockname()[1]


def make_trace(folder):
    events = []
    for i in range(1, COUNT + 1):
        events += [(10 * i, 'create', 0, i, 1), (10 * i + 1, 'label', i, 'request %d' % i), (10 * i + 2, 'add', i, 1, 'requests'), (10 * i + 5, 'fulfil', 0, i)]
    path = os.path.join(folder, 'a.ctf')
    with open(path, 'wb') as file:
        file.write(mirage(events))
    return path


def expected(path):
    return {span['spanId'] for line in json_lines(weft('export', '--to', 'otlp-json', '--signal', 'traces', *START, path).stdout)
            for resource in line['resourceSpans'] for scope in resource['scopeSpans'] for span in scope['spans']}


def push(url, *args, status=0, to='otlp', env=None):
    # No answer is late because the machine is busy.
    patient = () if '--timeout' in args else ('--timeout', '36000s')
    result = run([WEFT, 'export', '--to', to, '--url', url, *patient, *args], env={'no_proxy': '*', **(env or {})})
    if 'built without a client' in result.stderr:
        skip(result.stderr.strip())
    equal(result.returncode, status, result.stderr)
    return result.stderr


def check_all(state, path):
    """Each span was taken, and none twice."""
    ids = [span['spanId'] for span in state.spans()]
    equal(len(ids), len(set(ids)))
    equal(set(ids), expected(path))


@case
def a_receiver_takes_spans_and_metrics():
    with temporary_directory() as folder:
        path = make_trace(folder)
        for to in ('otlp', 'otlp-json'):
            state = State()
            with receiver(state) as url:
                push(url + '/', *START, path, to=to, env={'OTEL_EXPORTER_OTLP_HEADERS': 'api-key=a%20b,x-tenant=7'})
            check_all(state, path)
            assert len(state.messages) > 4 and 'resourceMetrics' in state.messages[-1], len(state.messages)
            equal({(headers['api-key'], headers['x-tenant']) for headers in state.headers}, {('a b', '7')})


@case
def busy_receivers_get_it_later_and_not_before_they_said():
    with temporary_directory() as folder:
        path = make_trace(folder)
        due = []

        def date():
            due.append(int(time.time()) + 3)
            return formatdate(due[0], usegmt=True)
        state = State([503, (429, {'Retry-After': '2'}, b'slow down'), (503, {'Retry-After': date}, b''), 502])
        with receiver(state) as url:
            push(url, '--signal', 'traces', *START, path)
        check_all(state, path)
        equal(len(state.times), 4 + len(state.messages))
        assert state.times[2] - state.times[1] >= 2 - 0.01, state.times
        assert state.times[3] >= due[0] - 0.01, (state.times, due)


@case
def a_receiver_that_stalls_is_given_up_and_asked_again():
    with temporary_directory() as folder:
        path = make_trace(folder)
        state = State([('stall', {}, b'')])
        with receiver(state) as url:
            push(url, '--signal', 'traces', '--timeout', '1s', '--retry-for', '36000s', *START, path)
        # A busy machine may have needed more than the second for others, too, which are then there twice.
        equal({span['spanId'] for span in state.spans()}, expected(path))
        assert len(state.times) > len(set(map(str, state.messages)))


@case
def what_is_not_taken_is_counted():
    with temporary_directory() as folder:
        path = make_trace(folder)
        total = len(expected(path))
        for status, requests in ((404, 1), (401, 1), (400, 5), (413, 4), (500, 4)):
            # After a 400, the message is sent once more, without gzip.
            state = State([status] * (2 if status == 400 else 1) + [status if requests == 1 else 422] * 10)  # the first reason is named
            with receiver(state) as url:
                errors = push(url, '--signal', 'traces', *START, path, status=1)
            assert '%d spans or points were not delivered: the receiver answers %d' % (total, status) in errors, errors
            equal(len(state.times), requests)


@case
def a_receiver_without_gzip_gets_plain_messages():
    with temporary_directory() as folder:
        path = make_trace(folder)
        for env, refused in (None, 1), ({'OTEL_EXPORTER_OTLP_COMPRESSION': 'none'}, 0):
            state = State(unpacks=False)
            with receiver(state) as url:
                push(url, '--signal', 'traces', *START, path, env=env)
            check_all(state, path)
            equal(len(state.times), refused + len(state.messages))


@case
def a_busy_receiver_is_given_up_in_the_end():
    with temporary_directory() as folder:
        path = make_trace(folder)
        state = State([(503, {'Retry-After': '3600'}, b'')] * 10)
        with receiver(state) as url:
            errors = push(url, '--signal', 'traces', *START, path, status=1)
        assert '%d spans or points were not delivered' % len(expected(path)) in errors, errors
        equal(len(state.times), 1)


@case
def spans_that_a_receiver_rejects_are_counted():
    # ExportTraceServiceResponse { partial_success { rejected_spans: 3, error_message: "full" } }
    part = b'\x0a\x08\x08\x03\x12\x04full'
    with temporary_directory() as folder:
        path = make_trace(folder)
        for to, answer in (('otlp', part), ('otlp-json', b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"full"}}')):
            state = State([(200, {}, answer), (200, {}, b'\xff<html>nonsense'), (200, {}, b'\x0a\xff\xff\xff\xff\x0f')])
            with receiver(state) as url:
                errors = push(url, '--signal', 'traces', *START, path, status=1, to=to)
            assert 'rejected 3 spans' in errors, errors
            check_all(state, path)


@case
def an_endless_answer_is_refused():
    with temporary_directory() as folder:
        path = make_trace(folder)
        state = State([(200, {}, bytes(5 << 20))])
        with receiver(state) as url:
            errors = push(url, '--signal', 'traces', *START, path, status=1)
        assert '512 spans or points were not delivered: its answer is longer than 4 MiB' in errors, errors


@contextlib.contextmanager
def babbler(answer):
    """A server that answers each request with these bytes, and closes."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = server.accept()[0]
                    with connection, contextlib.suppress(OSError):
                        connection.recv(65536)
                        connection.sendall(answer)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield 'http://127.0.0.1:%d' % server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


@case
def nonsense_is_no_answer():
    with temporary_directory() as folder:
        path = make_trace(folder)
        for answer in (b'', b'\0' * 100, b'HTTP/1.1 abc\r\n\r\n', b'SSH-2.0-OpenSSH_9.2\r\n', b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx'):
            with babbler(answer) as url:
                errors = push(url, '--signal', 'traces', '--retry-for', '100ms', *START, path, status=1)
            assert '%d spans or points were not delivered' % len(expected(path)) in errors, (answer, errors)


@case
def a_spool_keeps_what_a_dead_receiver_did_not_take():
    with temporary_directory() as folder:
        path, spool = make_trace(folder), os.path.join(folder, 'spool')
        state = State([200, 200])
        state.answers += [(503, {'Retry-After': '3600'}, b'')]  # the third message, after which it is dead
        with receiver(state) as url:
            errors = push(url, '--spool', spool, *START, path, status=1)
        assert 'wait in %s' % spool in errors and '--spool %s` sends them' % spool in errors, errors
        taken = {span['spanId'] for span in state.spans()}
        assert 0 < len(taken) < len(expected(path)), len(taken)
        held, url = unused_url()
        with held:
            errors = push(url, '--spool', spool, '--retry-for', '100ms', status=1)
        assert 'wait in' in errors, errors
        with receiver(state) as url:
            push(url, '--spool', spool)
        check_all(state, path)
        assert any('resourceMetrics' in message for message in state.messages)
        equal(os.listdir(spool), ['lock'])
        with receiver(state) as url:
            push(url, '--spool', spool)  # nothing is left
        check_all(state, path)


@case
def messages_of_a_spool_are_never_replaced():
    with temporary_directory() as folder:
        path, spool = make_trace(folder), os.path.join(folder, 'spool')
        held, url = unused_url()
        names = []
        with held:
            for times in range(1, 5):
                errors = push(url, '--signal', 'traces', '--spool', spool, '--retry-for', '100ms', *START, path, status=1)
                assert '%d spans or points wait' % (times * COUNT) in errors, errors
                names.append(sorted(name for name in os.listdir(spool) if name != 'lock'))
        equal([[int(name.split('-')[0]) for name in found] for found in names], [list(range(1, 4 * i + 1)) for i in range(1, 5)])


@case
def a_full_spool_counts_what_is_lost():
    with temporary_directory() as folder:
        path, spool = make_trace(folder), os.path.join(folder, 'spool')
        held, url = unused_url()
        with held:
            errors = push(url, '--signal', 'traces', '--spool', spool, '--spool-size', '40K', '--retry-for', '100ms', *START, path, status=1)
        total = len(expected(path))
        kept = sum(int(name.split('-')[2].split('.')[0]) for name in os.listdir(spool) if name != 'lock')
        assert 0 < kept < total, kept
        assert sum(os.path.getsize(os.path.join(spool, name)) for name in os.listdir(spool)) <= 40 << 10
        assert 'it is full' in errors and '%d spans or points were not delivered' % (total - kept) in errors, errors
        assert '%d spans or points wait' % kept in errors, errors


@case
def foreign_files_in_a_spool_are_left_alone():
    with temporary_directory() as folder:
        spool = os.path.join(folder, 'spool')
        os.mkdir(spool)
        names = ['notes.txt', '0000000000000001-traces-1.json.gz', '1-traces-1.pb.gz', '0000000000000001-logs-1.pb.gz', '0000000000000001-traces-01.pb.gz']
        for name in names:
            with open(os.path.join(spool, name), 'w', encoding='utf-8'):
                pass
        os.symlink('/etc/passwd', os.path.join(spool, '0000000000000002-traces-1.pb.gz'))
        state = State()
        with receiver(state) as url:
            errors = push(url, '--spool', spool, status=1)
        assert 'message 2' in errors, errors
        equal((sorted(os.listdir(spool)), state.times), (sorted([*names, 'lock', '0000000000000002-traces-1.pb.gz']), []))


@case
def one_process_at_a_time_uses_a_spool():
    with temporary_directory() as folder:
        path, spool = make_trace(folder), os.path.join(folder, 'spool')
        state = State([('stall', {}, b'')])
        with receiver(state) as url:
            command = [WEFT, 'export', '--to', 'otlp', '--url', url, '--timeout', '3600s', '--spool', spool, *START, path]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ, no_proxy='*')) as first:
                wait_until('the first request', lambda: state.times or first.poll() is not None)
                if first.poll() is not None:
                    skip(first.stderr.read().strip())
                assert 'another process uses it' in push(url, '--spool', spool, status=1)
                # Ctrl-C while it waits for the answer: all that was not taken is in the spool.
                first.send_signal(signal.SIGINT)
                errors = first.stderr.read()
            equal(first.returncode, -signal.SIGINT)
            assert 'wait in' in errors, errors
        with receiver(state) as url:
            push(url, '--spool', spool)
        check_all(state, path)


@case
def wrong_use_is_refused():
    with temporary_directory() as folder:
        path = make_trace(folder)
        for args, status, message in ((('--url', 'localhost:4318', *START, path), 2, 'write http://'),
                                      (('--url', 'http://127.0.0.1:1', '-o', 'x', path), 2, '--url and -o exclude each other'),
                                      (('--spool', folder, path), 2, '--spool is for --url'),
                                      (('--url', 'http://127.0.0.1:1'), 2, 'FILE'),
                                      (('--url', 'http://127.0.0.1:1', '--timeout', '3', path), 2, '--timeout'),
                                      (('--url', 'http://127.0.0.1:1', '--spool', path, *START, path), 1, 'Not a directory')):
            result = weft('export', '--to', 'otlp', *args, status=None)
            if 'built without a client' in result.stderr:
                skip(result.stderr.strip())
            equal(result.returncode, status, result.stderr)
            assert message in result.stderr, result.stderr


main()
