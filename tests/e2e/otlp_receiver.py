# SPDX-License-Identifier: ISC
"""A receiver of OTLP by HTTP, which keeps the messages that it takes, and answers as a test says."""
import contextlib
import gzip
import http.server
import json
import threading
import time

from harness import equal
from otlp_reader import METRICS, SPANS, read


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        state = self.server.state
        body = self.rfile.read(int(self.headers['Content-Length']))
        with state.lock:
            number = len(state.times)
            state.times.append(time.time())
            state.first = state.first or body
        answer = state.answers[number] if number < len(state.answers) else 200
        if state.fails_at_first and body == state.first:
            answer = 503
        if not state.unpacks and 'Content-Encoding' in self.headers:
            answer = 400
        status, headers, text = answer if isinstance(answer, tuple) else (answer, {}, b'')
        if status in ('stall', 'drop'):  # or it is killed before it has taken the message
            if status == 'stall':
                state.released.wait()
            self.close_connection = True
            return
        if status == 200:
            self.take(body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value() if callable(value) else value)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(text)

    def take(self, body):
        state = self.server.state
        equal(self.headers['Content-Encoding'], 'gzip' if state.unpacks else None)
        data = gzip.decompress(body) if state.unpacks else body
        is_json = self.headers['Content-Type'] == 'application/json'
        assert is_json or self.headers['Content-Type'] == 'application/x-protobuf'
        assert len(data) < 4 << 20
        schema = {'/v1/traces': SPANS, '/v1/metrics': METRICS}[self.path]
        message = json.loads(data) if is_json else read(data, schema)
        with state.lock:
            state.messages.append(message)
            state.headers.append(dict(self.headers))

    def log_message(self, *args):
        pass


class State:
    def __init__(self, answers=(), fails_at_first=False, unpacks=True):
        self.unpacks = unpacks
        self.fails_at_first, self.first = fails_at_first, None  # the first message is never taken
        self.answers, self.messages, self.times, self.headers = list(answers), [], [], []
        self.lock, self.released = threading.Lock(), threading.Event()

    def spans(self):
        return [span for message in self.messages for resource in message.get('resourceSpans', []) for scope in resource['scopeSpans']
                for span in scope['spans']]


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # a client that has gone


@contextlib.contextmanager
def receiver(state, port=0, host='127.0.0.1'):
    with Server((host, port), Receiver) as server:
        server.state = state
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield 'http://%s:%d' % (host, server.server_port)
        finally:
            state.released.set()
            server.shutdown()
            thread.join()
