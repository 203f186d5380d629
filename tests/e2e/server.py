# SPDX-License-Identifier: ISC
"""weft serve on a port of its own, with a run directory of its own: what its tests share."""
import http.client
import json
import os
import signal
import subprocess
from urllib.parse import parse_qs, urlsplit

from attack import raw
from harness import BUILD, WEFT, equal, run, skip, temporary_directory
from waiting import LAST_RESORT, status_of

SUBJECT = os.path.join(BUILD, 'tests', 'follow-subject')


def need_server():
    if 'built without a server' in run([WEFT, 'serve', '--listen', '127.0.0.1:0', '/nowhere']).stderr:
        skip('built without libmicrohttpd')


class Server:
    """`token` is written to a file for --token-file; `given` is the token if the test passes it to the server itself."""

    def __init__(self, *arguments, listen='127.0.0.1:0', env=None, token=None, given=None, user=None):
        need_server()
        self.folder = temporary_directory()
        run_directory = os.path.join(self.folder.name, 'run')
        os.mkdir(run_directory, 0o700)
        self.env = {**os.environ, 'XDG_RUNTIME_DIR': run_directory, **(env or {})}
        if token:
            path = os.path.join(self.folder.name, 'token')
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='utf-8') as file:
                file.write(token + '\n')
            arguments = '--token-file', path, *arguments
        self.process = subprocess.Popen([WEFT, 'serve', '--listen', listen, *arguments],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env, user=user)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError('no address: %s' % self.process.communicate()[1])
        parts = urlsplit(self.url)
        self.host, self.port, self.fragment = parts.hostname, parts.port, parts.fragment
        self.token = token or given or parse_qs(parts.query)['token'][0]
        self.cookie = 'weft-%d=%s' % (self.port, self.token)
        self.origin = '%s://%s/' % (parts.scheme, parts.netloc)

    def connect(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=LAST_RESORT)

    def get(self, path, method='GET', connection=None, token=True, **headers):
        """(status, headers in small letters, body); with the token, if no other is given."""
        one = connection or self.connect()
        headers = {name.replace('_', '-'): value for name, value in headers.items()}
        if token:
            headers['Authorization'] = 'Bearer ' + (self.token if token is True else token)
        one.request(method, path, headers=headers)
        answer = one.getresponse()
        body = answer.read()
        if not connection:
            one.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body

    def traces(self):
        return json.loads(self.get('/api/traces')[2])

    def raw(self, request):
        return raw((self.host, self.port), request)

    def stop(self, number=signal.SIGINT):
        """(exit status, its messages)"""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = status_of(self.process)
            errors = self.process.stderr.read()
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
            self.folder.cleanup()
        return status, errors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        equal(self.stop(), (0, ''), 'how the server ended')


def id_of(server, name):
    return {trace['name']: trace['id'] for trace in server.traces()}[name]


class Recorded:
    """A program under `weft record` that is controlled by lines of input, among the server's rings."""

    def __init__(self, server, size='1M', output=None):
        self.trace = os.path.join(server.folder.name, 'recorded.weft')
        self.process = subprocess.Popen([WEFT, 'record', '--size', size, '-o', output or self.trace, SUBJECT],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=server.env)
        self.pid = int(self.process.stdout.readline())

    def send(self, events):
        self.process.stdin.write('%d\n' % events)
        self.process.stdin.flush()
        equal(self.process.stdout.readline(), 'done\n')

    def end(self):
        self.process.stdin.close()
        equal(status_of(self.process), 0)
        self.process.stdout.close()


def ring_of(server, program):
    traces = [trace for trace in server.traces() if trace.get('pid') == program.pid]
    equal(len(traces), 1, traces)
    return traces[0]
