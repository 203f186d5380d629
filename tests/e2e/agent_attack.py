# SPDX-License-Identifier: ISC
"""Attacks on weft agent --http by raw sockets, from one seed, as serve_attack.py attacks weft serve.

Without the token no answer is a success or has the value of a counter, and no snapshot is taken. Every answer of weft's own has its rules
for browsers. Afterwards the agent still looks and answers, it has printed no message (a sanitizer would), and it ends when asked to.

    WEFT_ATTACK_SEED=7 python3 tests/e2e/agent_attack.py
"""
import contextlib
import json
import os
import random
import re
import signal

from agent_http_side import alert, serving
from attack import mutate, raw, stay_silent
from harness import case, equal, main
from waiting import status_of

SEED = int(os.environ.get('WEFT_ATTACK_SEED', '31'))
BODY = json.dumps({'version': '4', 'alerts': [alert('Slow', customer='acme')]}).encode()


class Target:
    def __init__(self, it, agent):
        self.it, self.agent, self.address = it, agent, ('127.0.0.1', agent.port)
        self.host_line = b'Host: 127.0.0.1:%d\r\n' % agent.port

    def request(self, path, token=False, more=b'', method=b'GET', body=b''):
        own = b'Authorization: Bearer %s\r\n' % self.agent.token.encode() if token else b''
        size = b'Content-Length: %d\r\n' % len(body) if body else b''
        return method + b' ' + path + b' HTTP/1.1\r\n' + self.host_line + own + more + size + b'Connection: close\r\n\r\n' + body

    def try_(self, request, has_token=False):
        """Sends it, judges the answers, and gives their statuses."""
        answer = raw(self.address, request)
        heads = re.findall(rb'HTTP/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n', answer)
        assert b'access-control' not in answer.lower(), request
        assert has_token or b'acme' not in answer and self.agent.token.encode() not in answer, (request, answer[:300])
        for status, head in heads:
            assert has_token or int(status) == 100 or int(status) >= 400, (request, answer[:300])
            if b'Content-Security-Policy' in head:
                assert b"default-src 'none'" in head and b'nosniff' in head and b'no-store' in head, (request, head)
            else:  # libmicrohttpd itself answers requests that it rejects
                assert int(status) in (100, 400, 411, 413, 414, 417, 431, 500, 501, 505), (request, answer[:300])
        return [int(status) for status, _ in heads]

    def is_well(self):
        status, text = self.agent.ask('GET', '/metrics')
        equal(status, 200)
        assert 'customer="acme"' in text, text


@contextlib.contextmanager
def target():
    with serving() as (it, _, agent):
        one = Target(it, agent)
        yield one, random.Random(SEED)
        one.is_well()
        it.looks(agent.process)
        agent.process.send_signal(signal.SIGTERM)
        equal(status_of(agent.process), 0, it.said())


@case
def no_stranger_is_answered():
    with target() as (one, _):
        port = one.agent.port
        for host in ('evil.example', '127.0.0.1.evil.example:%d' % port, '127.0.0.1:%d@evil.example' % port, '127.0.0.1:%d:80' % port,
                     '127.0.0.2:%d' % port, 'localhost.:%d' % port, '', '127.0.0.1:%d, evil.example' % port):
            for method, path in (b'GET', b'/metrics'), (b'POST', b'/alert'):
                request = one.request(path, True, b'', method, BODY).replace(one.host_line, b'Host: %s\r\n' % host.encode())
                equal(one.try_(request), [421], host)
        for origin in 'null', '', 'http://evil.example', 'http://127.0.0.1:%d' % port:
            for method, path in (b'GET', b'/metrics'), (b'POST', b'/alert'), (b'OPTIONS', b'/alert'):
                equal(one.try_(one.request(path, True, b'Origin: %s\r\n' % origin.encode(), method, BODY)), [403], origin)
        for token in '', 'a', 'a' * 32, one.agent.token[:-1], one.agent.token + 'a', one.agent.token.upper(), 'x' * 5000:
            more = b'Authorization: Bearer %s\r\n' % token.encode()
            equal(one.try_(one.request(b'/alert', False, more, b'POST', BODY)), [401], token)
            equal(one.try_(one.request(b'/alert?token=%s' % token.encode(), False, b'', b'POST', BODY)), [401], token)
        one.it.looks(one.agent.process)
        equal((one.it.taken(), one.it.said()), ([], ''))


@case
def malformed_requests_do_no_harm():
    with target() as (one, dice):
        counts = {}
        kinds = [(b'GET', b'/metrics', b''), (b'POST', b'/alert', BODY), (b'POST', b'/alert', BODY), (b'HEAD', b'/metrics', b''), (b'PUT', b'/', BODY)]
        for number in range(1200):
            has_token = number % 2 == 0
            method, path, body = dice.choice(kinds[:3] if has_token else kinds)
            request = one.request(path, has_token, dice.choice([b'', b'Accept: text/plain;q=0.5, */*\r\n', b'Expect: 100-continue\r\n']), method, body)
            for status in one.try_(mutate(dice, request), has_token) or ['none']:
                counts[status] = counts.get(status, 0) + 1
        print('# answers: ' + ', '.join('%s × %d' % pair for pair in sorted(counts.items(), key=str)))
        assert counts.get(401, 0) > 100 and counts.get(200, 0) > 20, counts


@case
def bodies_in_pieces_are_read_or_refused():
    with target() as (one, _):
        head = one.request(b'/alert', True, b'Transfer-Encoding: chunked\r\n', b'POST')
        pieces = [BODY[at:at + 7] for at in range(0, len(BODY), 7)]
        chunks = b''.join(b'%x\r\n%s\r\n' % (len(piece), piece) for piece in pieces)
        equal(one.try_(head + chunks + b'0\r\n\r\n', True), [200])
        one.try_(head + chunks, True)  # its end is missing
        one.try_(head + b'fffffffffffffffff\r\n' + BODY, True)
        equal(one.try_(head + b'10000\r\n' + b' ' * 0x10000 + b'\r\n' + (b'40000\r\n' + b' ' * 0x40000 + b'\r\n') * 8 + b'0\r\n\r\n', True), [413])
        one.try_(one.request(b'/alert', True, b'Content-Length: 99999999999\r\n', b'POST') + BODY, True)


@case
def half_heads_and_silence_block_no_client():
    with target() as (one, dice):
        slowest = stay_silent(one.address, one.request(b'/metrics', False, b'X: ' + b'y' * 500), dice, 348, one.is_well)
        print('# a client with the token waited %.2f s at most' % slowest)
        equal(one.it.said(), '')


main()
