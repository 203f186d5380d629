# SPDX-License-Identifier: ISC
"""Tokens that are bound to labels, at `weft serve` and for `weft metrics --from`: what else is there must not come out."""
import contextlib
import os
import random
import re
import socket
import threading

from agent_http_side import ACME, BOLT, customers
from attack import mutate
from harness import case, equal, json_lines, main, temporary_directory, weft
from server import Recorded, Server

SEED = int(os.environ.get('WEFT_ATTACK_SEED', '31'))
FORMATS = 'text', 'json', 'openmetrics', 'prometheus'


@contextlib.contextmanager
def serving_customers(from_agent=True):
    """`weft serve` with the tokens, beside an agent or without one, and a program that it could show, too."""
    with customers() as (it, agent, program, tokens), temporary_directory() as state:
        data = ['--data', it.data] if from_agent else []
        env = {'XDG_STATE_HOME': state, 'WEFT_AGENT': it.folder, 'HOME': state}
        with Server('--tokens', tokens, *data, it.outer, env=env) as server:
            recorded = Recorded(server)
            recorded.send(3)
            it.tell(program, 'acme <b>&amp; 5')
            it.looks(agent.process)
            yield server, agent, recorded
            recorded.end()


def hides_others(answer, server):
    for secret in b'bolt', b'1000007', b'900.001', b'follow-subject', b'level', server.token.encode():
        assert secret not in answer, (secret, answer[:2000])


def ways(server, token):
    """The places where a token can be: arguments for get()."""
    return ({'token': token}, '?'), ({'token': False, 'Cookie': 'weft-%d=%s' % (server.port, token)}, '?'), ({'token': False}, '?token=%s&' % token)


@case
def a_bound_token_shows_its_labels_alone():
    for from_agent in True, False:
        with serving_customers(from_agent) as (server, _, _):
            for how, query in ways(server, ACME):
                for form in FORMATS:
                    status, _, body = server.get('/metrics%sformat=%s' % (query, form), **how)
                    equal(status, 200)
                    hides_others(body, server)
                    assert b'acme' in body and b'<b>&amp;' in body, body
                body = server.get('/metrics%sformat=json' % query, **how)[2].decode()
                shown = {line['counter']: line['value'] for line in json_lines(body) if line['labels'] == {'customer': 'acme'}}
                equal(shown, {'bytes': 10, 'latency': 1})
                assert {'pid', 'uid'} & set(json_lines(body)[0]) == {'uid' if from_agent else 'pid'}, body
            if from_agent:  # whose buckets are as far as values go: nor how slow others are
                assert b'le="1.07' in server.get('/metrics', token=ACME)[2] and b'le="1099.' not in server.get('/metrics', token=ACME)[2]
            status, headers, page = server.get('/', token=False, Cookie='weft-%d=%s' % (server.port, ACME))
            equal((status, headers['content-type']), (200, 'text/html; charset=utf-8'))
            hides_others(page, server)
            assert b'vm="&lt;b&gt;&amp;amp;"' in page and b'<b>' not in page and b'<script' not in page, page
            assert b'bolt' in server.get('/metrics', token=BOLT)[2] and b'"acme"' not in server.get('/metrics?format=json', token=BOLT)[2]
            assert b'bolt' in server.get('/metrics')[2] and b'<script' in server.get('/', token=False, Cookie=server.cookie)[2]


@case
def nothing_else_is_there():
    with serving_customers() as (server, _, recorded):
        trace, = [one['id'] for one in server.traces() if one.get('pid') == recorded.pid]
        paths = ['/api/traces', '/api/trace/' + trace, '/api/live/' + trace, '/api/parts/%s,%s' % (trace, trace), '/api/', '/index.html', '/worker.js',
                 '/style.css', '/favicon.ico', '//metrics', '/metrics/', '/metrics/../api/traces', '/metrics%2f..%2fapi%2ftraces', '/%2e/api/traces',
                 '/./api/traces', '/api/traces?/metrics', '/Metrics', '/metrics\\..\\api\\traces', '/values', '/alert', '/../metrics']
        for how, query in ways(server, ACME):
            for path in paths:
                for method in 'GET', 'HEAD', 'POST', 'OPTIONS':
                    status, _, body = server.get(path + query.rstrip('&'), method=method, **how)
                    assert status in (400, 403, 404, 405), (path, method, status)
                    hides_others(body, server)
                    assert trace.encode() not in body, (path, body)
            for argument in 'customer=bolt', 'depth=0', 'program=agent-subject', 'format=json&format=text', 'token=' + BOLT, 'only=', 'labels=':
                body = server.get('/metrics%s%s' % (query, argument), **how)[2]
                assert b'acme' not in body or b'bolt' not in body, (argument, body)
                if 'token' not in argument:
                    hides_others(body, server)
            equal(server.get('/metrics%sformat=xml' % query, **how)[0], 400)
            equal(server.get('/metrics' + query, Sec_Fetch_Site='cross-site', **how)[0], 403)
            equal(server.get('/metrics' + query, Origin='http://evil.example', **how)[0], 403)
            equal(server.get('/metrics' + query, Host='evil.example', **how)[0], 421)
        # The cookie that is set is that of the token that was given.
        status, headers, _ = server.get('/?token=' + ACME, token=False)
        equal((status, headers['set-cookie'].split(';')[0]), (303, 'weft-%d=%s' % (server.port, ACME)))
        for token in ACME[:-1], ACME + '0', ACME + ' ' + BOLT, ACME + ',' + BOLT, ACME.upper(), '':
            equal(server.get('/metrics', token=False, Authorization='Bearer ' + token)[0], 403, token)


@case
def malformed_requests_show_nothing_else():
    with serving_customers() as (server, _, _):
        dice = random.Random(SEED)
        for path in b'/metrics', b'/', b'/metrics?format=json':
            request = b'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' % (path, server.port, ACME.encode())
            assert b'acme' in server.raw(request)
            for _ in range(150):
                hides_others(server.raw(mutate(dice, request)), server)


def token_file(folder, token):
    path = os.path.join(folder, 'token')
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'w', encoding='utf-8') as file:
        file.write(token + '\n')
    return path


@case
def weft_metrics_shows_what_a_token_does():
    with serving_customers() as (server, agent, _), temporary_directory() as folder:
        for url, all_of_it in (server.origin, server.token), ('http://127.0.0.1:%d' % agent.port, agent.token):
            acme = ['metrics', '--from', url, '--token-file', token_file(folder, ACME)]
            for form in FORMATS:
                shown = weft(*acme, *(['--' + form] if form != 'text' else [])).stdout
                hides_others(shown.encode(), server)
                assert 'acme' in shown, shown
            assert 'all      agent-subject     10' in weft(*acme).stdout, weft(*acme).stdout
            equal({line['labels']['customer'] for line in json_lines(weft(*acme, '--json').stdout)}, {'acme'})
            assert 'bolt' in weft('metrics', '--from', url, '--token-file', token_file(folder, all_of_it)).stdout
            wrong = weft('metrics', '--from', url, '--token-file', token_file(folder, 'x' * 32), status=3)
            assert re.search(r'40[13]: .*token', wrong.stderr) and not wrong.stdout, wrong.stderr
            assert 'token' in weft('metrics', '--from', url, status=3).stderr


@contextlib.contextmanager
def answering(answer):
    """A server of one connection, which sends these bytes."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        def serve():
            with server.accept()[0] as client:
                request = b''
                while not request.endswith(b'\r\n\r\n'):
                    request += client.recv(4096)
                client.sendall(answer)
        thread = threading.Thread(target=serve)
        thread.start()
        yield 'http://127.0.0.1:%d/' % server.getsockname()[1]
        thread.join()


@case
def weft_metrics_believes_no_server():
    for answer in (b'', b'HTTP/1.1 200 OK\r\n', b'HTTP/1.1 200 OK\r\n\r\nx 1\n', b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nx 1\n', b'SSH-2.0\r\n\r\n',
                   b'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx 1\n', b'HTTP/1.1 xyz\r\nContent-Length: 0\r\n\r\n', b'HTTP/1.1\r\n\r\n', b'\0' * 100,
                   b'HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\nx'):
        with answering(answer) as url:
            assert 'not one of HTTP' in weft('metrics', '--from', url, status=3).stderr, answer
    with answering(b'HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\n\x1b[31mred\n') as url:
        assert r'403: "\x1b[31mred"' in weft('metrics', '--from', url, status=3).stderr
    with answering(b'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nx 1\n') as url:
        equal(weft('metrics', '--from', url).stdout, 'x 1\n')
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
    assert 'refused' in weft('metrics', '--from', 'http://127.0.0.1:%d/' % port, status=3).stderr
    for url in 'https://localhost/', 'localhost:80', 'http://', 'http://:80/', 'http://a:x/', 'http://a:99999/', 'http://a/metrics', 'http://[::1/', 'http://a b/':
        assert 'not an address' in weft('metrics', '--from', url, status=2).stderr, url
    for options in (['7'], ['--children'], ['--depth', '1'], ['--over', '5m'], ['--data', 'x']):
        weft('metrics', '--from', 'http://localhost/', *options, status=2)
    weft('metrics', '--token-file', '/dev/null', status=2)


main()
