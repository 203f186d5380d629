# SPDX-License-Identifier: ISC
"""Attacks on weft serve by raw sockets: about 4,000 requests from one seed, judged by the same few rules.

Without the token no answer is a success or contains a name or a byte of a trace. With it, nothing comes from outside of the
directory that is served. Every answer of weft's own has its rules for browsers. Afterwards the server still answers, it has
printed no message (a sanitizer would), and it ends when asked to.

    WEFT_ATTACK_SEED=7 python3 tests/e2e/serve_attack.py
"""
import contextlib
import os
import random
import re
import shutil
import signal
import time

from attack import mutate, stay_silent
from harness import DATA, case, equal, main, temporary_directory
from server import Recorded, Server, id_of, ring_of

ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
SEED = int(os.environ.get('WEFT_ATTACK_SEED', '20'))
NAME, OUTSIDE = 'name-of-the-trace.ctf', 'name-of-the-secret.ctf'
SECRET = b'these bytes are nobody\'s business'


def make_files(folder):
    """A directory with a trace and with links out of it; a secret beside it."""
    inside = os.path.join(folder, 'served')
    os.mkdir(inside)
    shutil.copy(ARP, os.path.join(inside, NAME))
    shutil.copy(ARP, os.path.join(folder, OUTSIDE))
    with open(os.path.join(folder, OUTSIDE), 'ab') as file:
        file.write(SECRET)
    shutil.copy(os.path.join(folder, OUTSIDE), os.path.join(inside, '.hidden.ctf'))
    os.symlink(os.path.join(folder, OUTSIDE), os.path.join(inside, 'link.ctf'))
    os.symlink(folder, os.path.join(inside, 'up'))
    os.mkfifo(os.path.join(inside, 'pipe.weft'))
    return inside


class Target(Server):
    def __init__(self, folder):
        super().__init__(make_files(folder))
        self.host_line = b'Host: 127.0.0.1:%d\r\n' % self.port
        self.cookie_line = b'Cookie: %s\r\n' % self.cookie.encode()
        with open(ARP, 'rb') as file:
            self.whole = file.read()

    def request(self, path, token=False, more=b'', method=b'GET'):
        path = path if isinstance(path, bytes) else path.encode()
        return (method + b' ' + path + b' HTTP/1.1\r\n' + self.host_line + (self.cookie_line if token else b'') +
                more + b'Connection: close\r\n\r\n')

    def try_(self, request, has_token=False):
        """Sends it, judges the answers, and gives their statuses."""
        answer = self.raw(request)
        heads = re.findall(rb'HTTP/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n', answer)
        assert SECRET not in answer and b'root:' not in answer and OUTSIDE.encode() not in answer, (request, answer[:300])
        assert b'access-control' not in answer.lower(), request
        if not has_token:
            for words in NAME.encode(), b'follow-subject', self.token.encode(), b'Set-Cookie', self.whole[:16]:
                assert words not in answer, (request, words, answer[:300])
        for status, head in heads:
            status = int(status)
            assert has_token or status == 100 or status >= 400, (request, answer[:300])
            # libmicrohttpd itself answers requests that it rejects, with a fixed text.
            if b'Content-Security-Policy' not in head:
                assert status in (100, 400, 411, 413, 414, 417, 431, 500, 501, 505), (request, answer[:300])
            else:
                assert b"default-src 'none'" in head and b'nosniff' in head and b'no-store' in head, (request, head)
        return [int(status) for status, _ in heads]

    def is_well(self):
        equal(self.process.poll(), None)
        equal([trace['name'] for trace in self.traces() if 'pid' not in trace], [NAME])


@contextlib.contextmanager
def target():
    """At the end it must exit by itself, without a message."""
    with temporary_directory() as folder:
        server = Target(folder)
        try:
            yield server, random.Random(SEED)
            server.is_well()
        except BaseException:
            server.process.kill()
            _, errors = server.stop()
            print('# ' + errors.replace('\n', '\n# '))
            raise
        begun = time.monotonic()
        equal(server.stop(signal.SIGTERM), (0, ''))
        print('# it ended %.2f s after SIGTERM' % (time.monotonic() - begun))


def id_for(*parts):
    """The id that apps/weft/serve/traces.c gives an operand and a name."""
    value = 14695981039346656037
    for part in parts:
        for byte in part.encode():
            value = (value ^ byte) * 1099511628211 % 2 ** 64
        value = (value ^ 256) * 1099511628211 % 2 ** 64
    return '%016x' % value


@case
def no_path_leads_out_of_the_directory():
    with target() as (server, dice):
        folder = server.process.args[-1]
        one = id_of(server, NAME)
        equal(one, id_for(folder, NAME))
        steps = ['..', '%2e%2e', '.%2e', '%252e%252e', '..%c0%af', '..%00', '....', '..\\', '..%5c', '~', '.', '', '%2f', 'up', 'link.ctf']
        ends = [OUTSIDE, '.hidden.ctf', 'link.ctf', 'up/' + OUTSIDE, 'etc/passwd', 'proc/self/environ', 'pipe.weft', NAME, '']
        begins = ['/', '//', '/api/trace/', '/api/live/', '/api/', '/api/trace/' + one + '/', '/weft.js/', folder + '/', 'file://']
        paths = [dice.choice(begins) + ''.join(dice.choice(steps) + dice.choice(['/', '%2f', '%5c', '\\', '//'])
                                               for _ in range(dice.randrange(9))) + dice.choice(ends) for _ in range(300)]
        # The ids that the links out of the directory would have.
        names = ['../' + OUTSIDE, 'up/' + OUTSIDE, 'link.ctf', '.hidden.ctf', 'pipe.weft', 'up', '.', '..', '', '/etc/passwd']
        paths += ['/api/%s/%s' % (kind, id_for(*parts)) for name in names for kind in ('trace', 'live')
                  for parts in ((folder, name), (name, ''), (folder + '/' + name, ''), (os.path.realpath(folder + '/' + name), ''))]
        for path in paths:
            for token in False, True:
                statuses = server.try_(server.request(path, token), token)
                assert set(statuses) <= {400, 403, 404} or (token and path in ('/', '//')) or not statuses, (path, statuses)
        equal(server.try_(server.request('/api/trace/' + one, True), True), [200])


@case
def no_other_host_name_is_answered():
    with target() as (server, _):
        port = server.port
        for host in ('evil.example', 'evil.example:%d' % port, '127.0.0.1.evil.example:%d' % port, 'localhost.evil.example:%d' % port,
                     '127.0.0.1@evil.example:%d' % port, '127.0.0.1:%d@evil.example' % port, '127.0.0.1:%d.evil.example' % port,
                     '127.0.0.1:%d:80' % port, '[::1]evil.example:%d' % port, '0.0.0.0:%d' % port, '127.0.0.2:%d' % port,
                     '127.1:%d' % port, '2130706433:%d' % port, '0x7f.1:%d' % port, 'localhost.:%d' % port, 'localhost:0%d' % port,
                     '[::ffff:127.0.0.1]:%d' % port, '', ' ', '127.0.0.1:%d, evil.example' % port):
            for path in '/', '/api/traces', '/?token=' + server.token, '/api/traces?token=' + server.token:
                request = b'GET %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n' % (
                    path.encode(), host.encode(), server.cookie_line)
                equal(server.try_(request), [421], host)


@case
def no_page_of_another_site_is_answered():
    with target() as (server, _):
        port = server.port
        for more in b'Sec-Fetch-Site: cross-site\r\n', b'Sec-Fetch-Site: same-site\r\nOrigin: http://127.0.0.1:1\r\n':
            equal(server.try_(server.request('/api/traces', True, more), False), [403])
        preflight = b'Origin: http://evil.example\r\nAccess-Control-Request-Method: GET\r\n'
        for token in False, True:
            equal(server.try_(server.request('/api/traces', token, preflight, b'OPTIONS')), [403])
        program = Recorded(server)
        one = id_of(server, NAME)
        paths = ['/', '/weft.js', '/again.js', '/api/traces', '/api/trace/' + one, '/api/live/' + ring_of(server, program)['id'],
                 '/api/parts/' + ring_of(server, program)['id'], '/?token=' + server.token, '/nothing', '/metrics']
        foreign = ['null', '', 'http://evil.example', 'http://evil.example:%d' % port, 'http://127.0.0.1', 'http://127.0.0.1:%d' % (port ^ 1),
                   'http://localhost:%d' % port, 'http://127.0.0.1:%d.evil.example' % port, 'http://127.0.0.1:%d/' % port,
                   'http://evil.example/http://127.0.0.1:%d' % port, '127.0.0.1:%d' % port, 'file://', 'ftp://127.0.0.1:%d' % port,
                   'http://127.0.0.1:%d http://evil.example' % port, 'https://127.0.0.1:%d@evil.example' % port]
        for origin in foreign:
            for path in paths:
                for method in b'GET', b'HEAD', b'POST', b'OPTIONS':
                    more = b'Origin: %s\r\n' % origin.encode()
                    equal(server.try_(server.request(path, True, more, method)), [403], (origin, path, method))
        # Our own page's requests are answered, also behind a proxy that encrypts.
        for own in 'http://127.0.0.1:%d' % port, 'HTTP://127.0.0.1:%d' % port, 'https://127.0.0.1:%d' % port:
            more = b'Origin: %s\r\nSec-Fetch-Site: same-origin\r\n' % own.encode()
            equal(server.try_(server.request('/api/trace/' + one, True, more), True), [200], own)
            equal(server.try_(server.request('/api/trace/' + one, False, more)), [403], own)
        program.end()


@case
def a_range_gives_what_it_says():
    with target() as (server, dice):
        path = '/api/trace/' + id_of(server, NAME)
        size = len(server.whole)
        numbers = ['', '0', '1', '7', str(size - 1), str(size), str(size + 1), str(2 ** 31), str(2 ** 32), str(2 ** 63 - 1), str(2 ** 63),
                   str(2 ** 64 - 1), str(2 ** 64), '9' * 40, '-1', '+1', ' 1', '1 ', '0x1', '\t']
        for _ in range(300):
            text = ','.join(dice.choice(['', 'bytes=', 'bytes =', 'octets=']) * (i == 0) + dice.choice(numbers) + '-' + dice.choice(numbers)
                            for i in range(dice.choice([1, 1, 1, 2, 50])))
            more = b'Range: %s\r\n' % text.encode()
            equal(server.try_(server.request(path, False, more)), [403], text)
            head, body = server.raw(server.request(path, True, more)).split(b'\r\n\r\n', 1)
            match = re.search(rb'Content-Range: bytes (\d+)-(\d+)/(\d+)', head)
            if head.startswith(b'HTTP/1.1 206'):
                first, last, of = map(int, match.groups())
                assert first <= last < size == of, (text, head)
                assert body == server.whole[first:last + 1] and len(body) == last + 1 - first, text
            elif head.startswith(b'HTTP/1.1 416'):
                assert b'Content-Range: bytes */%d' % size in head, head
            else:
                assert head.startswith(b'HTTP/1.1 200') and body == server.whole, (text, head)


@case
def malformed_requests_do_no_harm():
    with target() as (server, dice):
        program = Recorded(server)
        program.send(100)
        ids = [id_of(server, NAME), ring_of(server, program)['id'], '0' * 16]
        paths = ['/', '/weft.js', '/again.js', '/api/traces', '/metrics', '/?token=' + 'f' * 32]
        paths += ['/api/%s/%s' % (kind, one) for one in ids for kind in ('trace', 'live')]
        counts = {}
        for number in range(1500):
            has_token = number % 3 == 0
            request = server.request(dice.choice(paths[:-4] if has_token else paths), has_token,
                                     dice.choice([b'', b'', b'Range: bytes=5-9\r\n', b'Accept: text/plain;q=0.5, */*\r\n']),
                                     dice.choice([b'GET', b'GET', b'HEAD', b'POST']))
            for status in server.try_(mutate(dice, request), has_token) or ['none']:
                counts[status] = counts.get(status, 0) + 1
        print('# answers: ' + ', '.join('%s × %d' % pair for pair in sorted(counts.items(), key=str)))
        assert counts.get(403, 0) > 100 and counts.get(200, 0) > 20, counts
        program.end()


@case
def half_heads_and_silence_block_no_client():
    with target() as (server, dice):
        slowest = stay_silent((server.host, server.port), server.request('/api/traces', False, b'X: ' + b'y' * 500), dice, 1048, server.is_well)
        print('# a client with the token waited %.2f s at most' % slowest)


main()
