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

from agent_http_side import ACME, BOLT, alert, customers, serving
from attack import mutate, raw, stay_silent
from harness import WEFT, case, equal, main, run, temporary_directory
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


@contextlib.contextmanager
def with_customers():
    with customers() as (it, agent, _, _):
        yield Target(it, agent)


def values(answer):
    return [line for line in answer.split(b'\r\n\r\n', 1)[-1].decode().splitlines() if line[0] != '#' and not line.startswith('weft_')]


@case
def a_bound_token_shows_its_labels_alone():
    with with_customers() as one:
        def ask(token, path=b'/metrics', more=b'', method=b'GET', body=b''):
            return raw(one.address, one.request(path, False, b'Authorization: Bearer %s\r\n' % token.encode() + more, method, body))
        good = values(ask(ACME))
        assert good and all('customer="acme"' in line and 'program="agent-subject"' in line for line in good), good
        equal([line.split()[-1] for line in good if 'bytes' in line], ['5'])
        equal([line.split()[-1] for line in good if '_sum' in line], ['1.000000005'])
        assert not [line for line in good if 'le="1099.' in line], good  # nor how slow others are
        assert all('customer="bolt"' in line for line in values(ask(BOLT))) and len(values(ask(BOLT))) > 3
        openmetrics = ask(ACME, more=b'Accept: application/openmetrics-text\r\n')
        assert b'bolt' not in openmetrics and b'# EOF' in openmetrics, openmetrics
        # Other ways to the same path have the same answer or none.
        for path in (b'/metrics?customer=bolt', b'/metrics?depth=0', b'/metrics?token=' + one.agent.token.encode(), b'/metrics?program=agent-subject',
                     b'http://127.0.0.1:%d/metrics' % one.agent.port, b'/metrics?customer=acme&customer=bolt', b'/metrics%00', b'/%6detrics'):
            assert values(ask(ACME, path)) in ([], good) or b' 40' in ask(ACME, path)[:12], path
        for path, method in ((b'/alert', b'POST'), (b'/alert', b'GET'), (b'/', b'GET'), (b'/metrics/', b'GET'), (b'//metrics', b'GET'),
                             (b'/metrics/../alert', b'POST'), (b'/alert?/metrics', b'POST'), (b'/metrics', b'POST'), (b'/metrics', b'HEAD')):
            answer = ask(ACME, path, b'', method, BODY if method == b'POST' else b'')
            assert re.match(rb'HTTP/1.1 (400|403|404|405) ', answer) and b'bolt' not in answer and b'acme' not in answer, (path, method, answer[:200])
        for more in (b'Authorization: Bearer %s\r\n' % BOLT.encode(), b'X-Customer: bolt\r\n', b'Cookie: weft-%d=%s\r\n' % (one.agent.port, BOLT.encode())):
            shown = values(ask(ACME, more=more))
            assert not [line for line in shown if 'bolt' in line] or not [line for line in shown if 'acme' in line], shown
        for token in (ACME[:-1], ACME + '0', ACME + BOLT, ACME + ' ' + BOLT, ACME + ',' + BOLT, ACME.upper(), 'customer=acme', '', ACME + ' customer=bolt'):
            answer = ask(token)
            assert answer.startswith(b'HTTP/1.1 401 ') and b'bytes' not in answer, (token, answer[:100])
        one.it.looks(one.agent.process)
        equal(one.it.taken(), [])


@case
def a_bound_token_survives_malformed_requests():
    with with_customers() as one:
        dice = random.Random(SEED)
        request = one.request(b'/metrics', False, b'Authorization: Bearer %s\r\n' % ACME.encode())
        for _ in range(400):
            answer = raw(one.address, mutate(dice, request))
            assert b'bolt' not in answer and b'1000007' not in answer and one.agent.token.encode() not in answer, answer[:300]
        one.is_well()


@case
def files_of_tokens_that_are_not_understood_are_refused():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'tokens')
        for line, wrong in ((ACME, 'has no label'), (ACME + ' customer', 'are labels'), (ACME + ' =acme', 'are labels'), (ACME + ' customer=', 'are labels'),
                            ('short customer=acme', '16 to 128'), ('x' * 129 + ' a=b', '16 to 128'), ('a-token-of-acme-/ a=b', '16 to 128'),
                            (ACME + ' a=b\n' + ACME + ' a=c', ':2: another line'), (ACME + ' a=b\0', 'value 0')):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'w', encoding='utf-8') as file:
                file.write(line + '\n')
            result = run([WEFT, 'agent', '--once', '--only-folder', '--folder', folder + '/f', '--data', folder + '/d.db', '--http', ':0', '--tokens', path])
            assert result.returncode == 1 and '--tokens: ' + path in result.stderr and wrong in result.stderr and not result.stdout, (line, result.stderr)
        os.chmod(path, 0o640)
        result = run([WEFT, 'agent', '--once', '--only-folder', '--folder', folder + '/f', '--data', folder + '/d.db', '--http', ':0', '--tokens', path])
        assert result.returncode == 1 and '--tokens: other users may read' in result.stderr, result.stderr
        result = run([WEFT, 'agent', '--once', '--only-folder', '--folder', folder + '/f', '--data', folder + '/d.db', '--http', ':0', '--tokens', path + 'x'])
        assert result.returncode == 1 and 'No such file' in result.stderr, result.stderr


@case
def half_heads_and_silence_block_no_client():
    with target() as (one, dice):
        slowest = stay_silent(one.address, one.request(b'/metrics', False, b'X: ' + b'y' * 500), dice, 348, one.is_well)
        print('# a client with the token waited %.2f s at most' % slowest)
        equal(one.it.said(), '')


main()
