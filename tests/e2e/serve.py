# SPDX-License-Identifier: ISC
"""weft serve over real connections: its answers, its access checks, and its answers to hostile requests."""
import ast
import collections
import contextlib
import glob
import html
import http.client
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.parse

from harness import BUILD, DATA, WEFT, case, equal, json_lines, main, skip, temporary_directory, weft
from attack import allow_many_sockets
from server import Recorded, Server, id_of, need_server, ring_of
from waiting import LAST_RESORT, communicate, status_of, wait_until
from xen_traces import capture, note

TRACES = os.path.join(DATA, 'traces')


def content(path):
    with open(path, 'rb') as file:
        return file.read()


# ---- What is served ----

@case
def files_and_directories_are_listed_and_read():
    with Server(TRACES, os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')) as server:
        listed = server.traces()
        names = [trace['name'] for trace in listed]
        equal(names, ['mirage-arp-good.ctf', 'mirage-block-read.sexp', 'mirage-arp-good.ctf'])
        equal(len({trace['id'] for trace in listed}), 3)
        for trace in listed:
            status, headers, body = server.get('/api/trace/' + trace['id'])
            equal((status, headers['content-length']), (200, str(trace['bytes'])))
            assert body == content(os.path.join(TRACES, trace['name'])), trace


@case
def files_of_one_boot_can_be_recognized():
    """The list has the boot that a file's header names; other formats, compressed files and rings have none in it."""
    with open('/proc/sys/kernel/random/boot_id', encoding='utf-8') as file:
        boot = file.read().strip().replace('-', '')
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'recorded.weft')
        weft('record', '-o', trace, os.path.join(BUILD, 'examples', 'hello'))
        shutil.copy(trace, os.path.join(folder, 'unknown.weft'))
        with open(os.path.join(folder, 'unknown.weft'), 'r+b') as file:
            file.seek(104)
            file.write(bytes(16))
        with Server(folder, trace, TRACES) as server:
            boots = [(one['name'], one.get('boot')) for one in server.traces()]
    equal(boots, [('recorded.weft', boot), ('unknown.weft', None), ('recorded.weft', boot),
                  ('mirage-arp-good.ctf', None), ('mirage-block-read.sexp', None)])


@case
def traces_of_the_default_size_are_listed():
    """Their first packet begins far behind the bytes that the server looks at."""
    with temporary_directory() as folder:
        weft('record', '-o', os.path.join(folder, 'recorded.weft'), os.path.join(BUILD, 'examples', 'hello'))
        with Server(folder) as server:
            equal([one['name'] for one in server.traces()], ['recorded.weft'])


@case
def ids_stay_when_the_server_starts_again():
    with Server(TRACES) as server:
        before = server.traces()
    with Server(TRACES) as server:
        equal(server.traces(), before)


@case
def a_directory_is_looked_through_at_each_request():
    with temporary_directory() as folder, Server(folder) as server:
        equal(server.traces(), [])
        shutil.copy(os.path.join(TRACES, 'mirage-arp-good.ctf'), os.path.join(folder, 'new.ctf'))
        one = id_of(server, 'new.ctf')
        equal(server.get('/api/trace/' + one)[0], 200)
        os.remove(os.path.join(folder, 'new.ctf'))
        equal(server.traces(), [])
        equal(server.get('/api/trace/' + one)[0], 404)


@case
def of_a_directory_only_traces_are_served():
    with temporary_directory() as folder:
        outside = os.path.join(folder, 'outside')
        inside = os.path.join(folder, 'inside')
        os.mkdir(outside)
        os.mkdir(inside)
        shutil.copy(os.path.join(TRACES, 'mirage-arp-good.ctf'), os.path.join(outside, 'secret.ctf'))
        os.symlink(os.path.join(outside, 'secret.ctf'), os.path.join(inside, 'link.ctf'))
        os.symlink(outside, os.path.join(inside, 'directory'))
        os.mkfifo(os.path.join(inside, 'pipe'))
        for name in ('notes.txt', 'id_rsa', '.hidden', 'empty'):
            with open(os.path.join(inside, name), 'w', encoding='utf-8') as file:
                file.write('' if name == 'empty' else 'private')
        shutil.copy(os.path.join(TRACES, 'mirage-arp-good.ctf'), os.path.join(inside, 'it.ctf'))
        with Server(inside) as server:
            equal([trace['name'] for trace in server.traces()], ['it.ctf'])


@case
def the_current_directory_is_served_by_default():
    need_server()
    with temporary_directory() as folder:
        shutil.copy(os.path.join(TRACES, 'mirage-arp-good.ctf'), os.path.join(folder, 'here.ctf'))
        before = os.getcwd()
        os.chdir(folder)
        try:
            with Server() as server:
                equal([trace['name'] for trace in server.traces()], ['here.ctf'])
        finally:
            os.chdir(before)


@case
def ranges_are_what_they_say():
    name = 'mirage-arp-good.ctf'
    whole = content(os.path.join(TRACES, name))
    size = len(whole)
    with Server(TRACES) as server:
        path = '/api/trace/' + id_of(server, name)
        for asked, first, last in (('bytes=0-9', 0, 9), ('bytes=10-', 10, size - 1), ('bytes=-7', size - 7, size - 1),
                                   ('bytes=5-5', 5, 5), ('bytes=%d-%d' % (size - 1, size + 99), size - 1, size - 1),
                                   ('bytes=-%d' % (10 * size), 0, size - 1), ('Bytes=3-4', 3, 4)):
            status, headers, body = server.get(path, Range=asked)
            equal((status, headers['content-range']), (206, 'bytes %d-%d/%d' % (first, last, size)), asked)
            assert body == whole[first:last + 1], asked
        for asked in ('bytes=%d-' % size, 'bytes=%d-' % 2 ** 63, 'bytes=-0'):
            status, headers, _ = server.get(path, Range=asked)
            equal((status, headers['content-range']), (416, 'bytes */%d' % size), asked)
        for asked in ('bytes=0-1,4-5', 'bytes=9-3', 'bytes=', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=1-2x',
                      'bytes=' + '9' * 50 + '-', 'bytes= 1-2'):
            equal(server.get(path, Range=asked)[0], 200, asked)
        tag = server.get(path)[1]['etag']
        equal(server.get(path, Range='bytes=0-9', If_Range=tag)[0], 206)
        equal(server.get(path, Range='bytes=0-9', If_Range='"old"')[0], 200)


@case
def head_has_the_headers_of_get():
    with Server(TRACES) as server:
        for path in ('/', '/weft.js', '/api/traces', '/api/trace/' + id_of(server, 'mirage-arp-good.ctf')):
            status, headers, body = server.get(path, 'HEAD')
            whole = server.get(path)
            equal((status, headers['content-length'], body), (whole[0], str(len(whole[2])), b''), path)


@case
def a_connection_answers_many_requests():
    with Server(TRACES) as server:
        connection = server.connect()
        connection.connect()
        socket_of_it = connection.sock
        for _ in range(50):
            equal(server.get('/api/traces', connection=connection)[0], 200)
        assert connection.sock is socket_of_it, 'the connection was closed'
        connection.close()


@case
def a_large_trace_is_not_held_in_memory():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'large.ctf')
        with open(path, 'wb') as file:
            file.write(content(os.path.join(TRACES, 'mirage-arp-good.ctf')))
            file.truncate(512 << 20)
        with Server(folder) as server:
            connection = server.connect()
            connection.request('GET', '/api/trace/' + id_of(server, 'large.ctf'), headers={'Cookie': server.cookie})
            answer, received = connection.getresponse(), 0
            while piece := answer.read(1 << 20):
                received += len(piece)
            connection.close()
            equal(received, 512 << 20)
            with open('/proc/%d/status' % server.process.pid, encoding='utf-8') as status:
                peak = int(re.search(r'VmHWM:\s+(\d+)', status.read()).group(1))
            assert peak < 100 << 10, '%d KiB' % peak


# ---- The page ----

def has_page(server):
    return server.get('/')[0] == 200


@case
def the_page_is_there_with_its_parts():
    with Server(TRACES) as server:
        if not has_page(server):
            skip('built without the page')
        status, headers, page = server.get('/')
        equal((status, headers['content-type']), (200, 'text/html; charset=utf-8'))
        parts = re.findall(r'(?:src|href)="([^"]+)"', page.decode())
        assert 'weft.js' in parts, parts
        for part in [*parts, 'weft.wasm', 'worker.js']:
            equal(server.get('/' + part)[0], 200, part)
        equal(server.get('/weft.wasm')[1]['content-type'], 'application/wasm')
        equal(server.get('/favicon.ico')[0], 204)


@case
def every_answer_says_what_browsers_must_not_do():
    with Server(TRACES) as server:
        answers = [server.get(path) for path in ('/', '/nothing', '/api/traces', '/api/nothing',
                                                 '/api/trace/' + id_of(server, 'mirage-arp-good.ctf'))]
        answers += [server.get('/', 'POST'), server.get('/', Host='example.org'), server.get('/?token=' + server.token)]
        answers += [server.get(path, token=False) for path in ('/', '/nothing', '/api/traces')]
        for status, headers, _ in answers:
            rules = dict(rule.strip().split(' ', 1) for rule in headers['content-security-policy'].split(';'))
            equal(rules['default-src'], "'none'", status)
            equal(rules['script-src'], "'self' 'wasm-unsafe-eval'")
            equal(rules['worker-src'], "'self' blob:")
            equal(rules['connect-src'], "'self'")
            equal(rules['style-src'], "'self'")
            equal(rules['frame-ancestors'], "'none'")
            assert 'unsafe-inline' not in headers['content-security-policy']
            equal(headers['x-content-type-options'], 'nosniff')
            equal(headers['referrer-policy'], 'no-referrer')
            equal(headers['cross-origin-opener-policy'], 'same-origin')
            equal(headers['cross-origin-resource-policy'], 'same-origin')
            assert 'access-control-allow-origin' not in headers


# ---- Hostile requests ----

@case
def paths_lead_nowhere_else():
    with temporary_directory() as folder:
        shutil.copy(os.path.join(TRACES, 'mirage-arp-good.ctf'), os.path.join(folder, 'it.ctf'))
        with Server(folder) as server:
            one = id_of(server, 'it.ctf')
            for path in ('/../etc/passwd', '/..%2fetc%2fpasswd', '/%2e%2e/%2e%2e/etc/passwd', '//etc/passwd',
                         '/api/trace/../../etc/passwd', '/api/trace/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
                         '/api/trace/it.ctf', '/api/trace//etc/passwd', '/api/trace/', '/api/trace/' + one + '/..',
                         '/api/trace/' + one.upper() + 'x', '/api/trace/' + one[:-1], '/api/trace/%00' + one,
                         '/api/live/../traces', '/api/', '/api', '/index.html%00.js', '/\\..\\..\\etc\\passwd',
                         '/api/trace/' + 'f' * 5000, '/api/trace/' + '%f0%9f' * 100, '/weft.js/', '/./weft.js'):
                status, _, body = server.get(path)
                allowed = (404, 200) if path == '/index.html%00.js' else (404,)
                assert status in allowed, (path, status)
                assert b'root:' not in body and b'WEFT' not in body, path
            equal(server.get('/api/trace/' + one)[0], 200)


@case
def only_get_and_head():
    with Server(TRACES) as server:
        for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND'):
            status, headers, _ = server.get('/api/traces', method)
            equal((status, headers['allow']), (405, 'GET, HEAD'), method)


@case
def other_bytes_than_requests_get_no_answer_of_ours():
    with Server(TRACES) as server:
        ours = b'Host: localhost:%d\r\nCookie: %s\r\n' % (server.port, server.cookie.encode())
        assert server.raw(b'GET /api/traces HTTP/1.1\r\n' + ours + b'\r\n').startswith(b'HTTP/1.1 200')
        for request in (b'', b'\r\n\r\n', b'GET', b'GET /\r\n\r\n', b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc' + bytes(600),
                        b'GET /api/traces HTTP/9.9\r\n' + ours + b'\r\n', b'GET ' + b'/' * 200000 + b' HTTP/1.1\r\n\r\n',
                        b'GET / HTTP/1.1\r\n' + b'X: y\r\n' * 100000 + b'\r\n', bytes(range(256)) * 100,
                        b'GET / HTTP/1.1\r\n\r\n', b'GET /api/traces HTTP/1.1\r\nHost\x00: x\r\n' + ours + b'\r\n',
                        b'GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n',
                        b'GET /api/traces HTTP/1.1\r\n' + ours + b'Content-Length: 5\r\n\r\nhello'):
            answer = server.raw(request)
            assert b'mirage' not in answer and not answer.startswith(b'HTTP/1.1 200'), (request[:60], answer[:100])
        equal(server.get('/api/traces')[0], 200)


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(('::1', 0))
        return True
    return False


@case
def other_names_of_this_machine_are_refused():
    with Server(TRACES) as server:
        for host in ('example.org', 'example.org:%d' % server.port, 'localhost.example.org:%d' % server.port,
                     '127.0.0.1.example.org', 'localhost:1', 'localhost', '127.0.0.1:%d.example.org' % server.port,
                     '127.0.0.1:%dx' % server.port, ''):
            equal(server.get('/api/traces', Host=host)[0], 421, host)
        for host in ('localhost:%d', 'LOCALHOST:%d', '127.0.0.1:%d', '[::1]:%d'):
            equal(server.get('/api/traces', Host=host % server.port)[0], 200, host)
        cookie = b'Cookie: ' + server.cookie.encode()
        assert server.raw(b'GET /api/traces HTTP/1.0\r\n' + cookie + b'\r\n\r\n').startswith(b'HTTP/1.1 421')


@case
def the_address_that_is_printed_can_be_opened():
    for listen, host in (('127.0.0.2:0', '127.0.0.2'), ('127.1:0', '127.0.0.1'), ('localhost:0', '127.0.0.1'), ('[::1]:0', '[::1]'),
                         ('0.0.0.0:0', None), ('[::]:0', None)):
        if listen[0] == '[' and not has_ipv6():
            continue
        with Server(TRACES, listen=listen) as server:
            assert not host or server.origin == 'http://%s:%d/' % (host, server.port), server.url
            equal(re.search(r'//(0\.0\.0\.0|\[::\])', server.url), None, server.url)
            status, headers, _ = server.get(server.url[len(server.origin) - 1:].split('#')[0], token=False)
            equal((status, headers['location']), (303, '/'), server.url)
            equal(server.get('/api/traces', token=False, Cookie=headers['set-cookie'].split(';')[0])[0], 200)
            if host:  # a server on all addresses cannot know its names
                equal(server.get('/api/traces', Host='example.org:%d' % server.port)[0], 421)


@case
def pages_of_other_sites_may_not_ask():
    with Server(TRACES) as server:
        for site in ('cross-site', 'same-site'):
            equal(server.get('/api/traces', Sec_Fetch_Site=site)[0], 403, site)
            equal(server.get('/', Sec_Fetch_Site=site)[0], server.get('/')[0], 'a link from ' + site)
        for site in ('same-origin', 'none'):
            equal(server.get('/api/traces', Sec_Fetch_Site=site)[0], 200, site)


def token_is_needed(server):
    token, traces = server.token, len(server.traces())
    for path in ('/', '/weft.js', '/again.js', '/api/traces', '/api/trace/' + '0' * 16, '/api/live/' + '0' * 16, '/api/parts/' + '0' * 16,
                 '/metrics', '/metrics?depth=x', '/api/traces?token=', '/api/traces?token=' + 'f' * 32, '/api/traces?token=' + token[:-1],
                 '/api/traces?token=' + token + '0', '/?token=' + 'f' * 32, '/?token'):
        status, headers, body = server.get(path, token=False)
        equal((status, headers['connection']), (403, 'close'), path)
        assert b'?token=' in body and b'weft printed' in body and token.encode() not in body, body
        equal('set-cookie' in headers, False, path)
    equal(server.get('/', 'POST', token=False)[0], 403)
    # The token may be in the query, for curl; for the page, the server moves it from there into a cookie.
    equal(server.get('/api/traces?token=' + token, token=False)[0], 200)
    status, headers, _ = server.get('/?token=' + token, token=False)
    equal((status, headers['location']), (303, '/'))
    cookie, *rules = [part.strip() for part in headers['set-cookie'].split(';')]
    equal((cookie, sorted(rules)), (server.cookie, ['HttpOnly', 'Path=/', 'SameSite=Strict']))
    for right in (cookie, 'a=b; ' + cookie + '; c=d', 'a=' + cookie + '; ' + cookie):
        equal(len(json.loads(server.get('/api/traces', token=False, Cookie=right)[2])), traces, right)
    for wrong in (cookie[:-1], cookie + '0', 'x' + cookie, 'a=' + cookie, cookie.swapcase() + ';', 'weft-%d=' % server.port):
        equal(server.get('/api/traces', token=False, Cookie=wrong)[0], 403, wrong)
    for right in ('Bearer ', 'bearer ', 'BEARER '):
        equal(server.get('/api/traces', token=False, Authorization=right + token)[0], 200, right)
    for wrong in ('Bearer', 'Bearer ', 'Bearer ' + token[:-1], 'Bearer ' + token + 'x', token, 'Basic ' + token, 'Bearer  ' + token):
        equal(server.get('/api/traces', token=False, Authorization=wrong)[0], 403, wrong)


@case
def nothing_is_served_without_the_token():
    for listen in '127.0.0.1:0', '0.0.0.0:0':
        with Server(TRACES, listen=listen) as server:
            assert re.fullmatch(r'http://[^/]+/\?token=[0-9a-f]{32}(#trace=all)?', server.url), server.url
            token_is_needed(server)


@case
def each_server_has_a_token_of_its_own():
    tokens = set()
    for _ in range(3):
        with Server(TRACES) as server:
            tokens.add(server.token)
    equal(len(tokens), 3)


@case
def a_token_comes_from_a_file():
    token = 'A-token_of.mine~42'
    with Server(TRACES, token=token) as server:
        equal(server.url.split('#')[0], 'http://127.0.0.1:%d/' % server.port)  # without the token, as the output may be logged
        token_is_needed(server)
        with open('/proc/%d/cmdline' % server.process.pid, 'rb') as line:
            assert token.encode() not in line.read()
    # The file may be a pipe.
    with temporary_directory() as folder:
        pipe = os.path.join(folder, 'pipe')
        os.mkfifo(pipe)
        threading.Thread(target=lambda: print(token, file=open(pipe, 'w', encoding='utf-8'), flush=True), daemon=True).start()
        with Server('--token-file', pipe, TRACES, listen='127.0.0.1:0', given=token) as server:
            equal(server.get('/api/traces')[0], 200)


@case
def a_token_file_has_to_be_one_that_is_safe():
    need_server()
    with temporary_directory() as folder:
        path = os.path.join(folder, 'token')
        for content_, mode, message in (('x' * 15, 0o600, 'has to be one line of 16 to 128'), ('x' * 129, 0o600, 'has to be'),
                                        ('a b' * 10, 0o600, 'has to be'), ('', 0o600, 'has to be'),
                                        ('x' * 20 + '\n\n', 0o600, 'has to be'), ('x;y=' * 9, 0o600, 'has to be'),
                                        ('x' * 20, 0o644, 'other users may read or change'),
                                        ('x' * 20, 0o620, 'other users may read or change')):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(content_)
            os.chmod(path, mode)
            result = weft('serve', '--listen', '127.0.0.1:0', '--token-file', path, TRACES, status=3)
            assert message in result.stderr and path in result.stderr and 'xxx' not in result.stderr, result
        result = weft('serve', '--token-file', os.path.join(folder, 'none'), TRACES, status=3)
        assert 'No such file' in result.stderr, result


def browser(folder, name, body):
    """Writes a program that the server starts as a browser; returns its path."""
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('#!%s\nimport os, sys\n%s\n' % (sys.executable, body))
    os.chmod(path, 0o700)
    return path


SAVE = """
from urllib.parse import unquote
path = unquote(sys.argv[1][len('file://'):])
status, folder = os.stat(path), os.stat(os.path.dirname(path))
with open(os.environ['SEEN'] + '.new', 'w') as seen:
    print(repr((sys.argv[1:], oct(status.st_mode), oct(folder.st_mode), path, open(path).read())), file=seen)
os.rename(os.environ['SEEN'] + '.new', os.environ['SEEN'])
"""


@case
def a_browser_gets_the_token_by_a_file_of_ours_alone():
    with temporary_directory() as folder:
        seen = os.path.join(folder, 'seen')
        fake = browser(folder, 'fake browser', SAVE)
        browser(folder, 'xdg-open', SAVE)
        spaces = os.path.join(folder, 'a #%? b')
        os.mkdir(spaces)
        for env in ({'BROWSER': fake}, {'BROWSER': ''}, {'BROWSER': '/nowhere:' + fake}, {'BROWSER': fake, 'XDG_RUNTIME_DIR': spaces},
                    {'BROWSER': fake, 'XDG_RUNTIME_DIR': '/nowhere', 'TMPDIR': spaces}):
            env = {'SEEN': seen, 'PATH': folder + ':' + os.environ['PATH'], 'XDG_RUNTIME_DIR': folder, **env}
            with Server('--open', '--only', "a&'<", TRACES, env=env) as server:
                wait_until('the browser', lambda: os.path.exists(seen))
                with open(seen, encoding='utf-8') as file:
                    arguments, mode, directory_mode, path, page = ast.literal_eval(file.read())
                os.remove(seen)
                equal((mode, directory_mode, len(arguments)), ('0o100600', '0o40700', 1))
                assert arguments[0].startswith('file:///') and server.token not in arguments[0], arguments
                refresh, = re.findall(r'http-equiv="refresh" content="0; url=([^"]*)"', page)
                equal(html.unescape(refresh), server.url)
                assert server.fragment, server.url
                # The file exists until the browser's first request.
                assert os.path.exists(path)
                equal(server.get('/', token=False)[0], 403)
                equal(server.get('/?token=' + server.token, token=False)[0], 303)
                wait_until('the file goes', lambda: not os.path.exists(os.path.dirname(path)))
        equal(sorted(os.listdir(folder)), ['a #%? b', 'fake browser', 'xdg-open'])
        equal(os.listdir(spaces), [])


@case
def the_file_for_the_browser_goes_with_the_server():
    with temporary_directory() as folder:
        env = {'BROWSER': browser(folder, 'none', ''), 'TMPDIR': folder}
        server = Server('--open', TRACES, env=env)
        run_directory = server.env['XDG_RUNTIME_DIR']
        wait_until('the file', lambda: glob.glob(os.path.join(run_directory, 'weft-open-*', 'weft.html')))
        server.process.send_signal(signal.SIGTERM)
        status_of(server.process)
        equal(glob.glob(os.path.join(run_directory, 'weft-open-*')), [])
        equal(server.stop(), (0, ''))


@case
def slow_clients_are_cut_off():
    with Server(TRACES) as server, contextlib.ExitStack() as stack:
        slow = []
        for number in range(40):
            client = stack.enter_context(socket.create_connection((server.host, server.port), timeout=LAST_RESORT))
            client.sendall(b'GET /api/traces HTTP/1.1\r\nX-Slow: ' if number % 2 else b'G')
            slow.append(client)
        equal(server.get('/api/traces')[0], 200)
        # A client that sends a byte now and then is not idle, but its connection is closed as well.
        trickling = set(slow)

        def are_cut_off():
            for client in list(trickling):
                try:
                    client.sendall(b'x')
                    client.setblocking(False)
                    if client.recv(1000) == b'':
                        trickling.discard(client)
                except BlockingIOError:
                    pass
                except OSError:
                    trickling.discard(client)
            return not trickling
        wait_until('slow clients are cut off', are_cut_off, server.process, pause=0.2, seen=lambda: len(trickling))
        equal(server.get('/api/traces')[0], 200)


def threads_of(server):
    with open('/proc/%d/status' % server.process.pid, encoding='utf-8') as status:
        return int(re.search(r'Threads:\s+(\d+)', status.read()).group(1))


@case
def idle_connections_block_no_client():
    allow_many_sockets()
    with Server(TRACES) as server, contextlib.ExitStack() as stack:
        ours = server.connect()
        equal(server.get('/api/traces', connection=ours)[0], 200)
        first = ours.sock

        def open_many(count, bytes_):
            for _ in range(count):
                client = stack.enter_context(socket.create_connection((server.host, server.port), timeout=LAST_RESORT))
                client.sendall(bytes_)
        # More connections than allowed, which reconnect as soon as they are closed.
        for _ in range(3):
            open_many(48, b'')
            open_many(300, b'GET /api/traces HTTP/1.1\r\nHost: ')
            equal(server.get('/api/traces')[0], 200)
            # The connection that had the token is still open.
            equal(server.get('/api/traces', connection=ours)[0], 200)
            assert ours.sock is first, 'it was cut off'
        wait_until('those above the limit are closed', lambda: threads_of(server) <= 260)
        stack.close()
        ours.close()


@case
def strangers_have_one_answer_a_connection():
    with Server(TRACES) as server:
        request = b'GET /api/traces HTTP/1.1\r\nHost: localhost:%d\r\n' % server.port
        answers = server.raw((request + b'\r\n') * 100)
        equal((answers.count(b'HTTP/1.1 '), answers.count(b'HTTP/1.1 403')), (1, 1))
        with_token = request + b'Cookie: %s\r\n\r\n' % server.cookie.encode()
        equal(server.raw(with_token * 100).count(b'HTTP/1.1 200'), 100)


@case
def live_streams_are_bounded():
    with Server(TRACES) as server:
        program = Recorded(server)
        program.send(100)
        one = ring_of(server, program)['id']
        clients = [Live(server, one) for _ in range(32)]
        equal([client.answer.status for client in clients], [200] * 32)
        refused = server.connect()
        refused.request('GET', '/api/live/' + one, headers={'Cookie': server.cookie})
        answer = refused.getresponse()
        equal((answer.status, 'Content-Security-Policy' in answer.headers), (503, True))
        assert b'live connections' in answer.read()
        refused.close()
        equal(server.get('/api/trace/' + one)[0], 200)
        program.end()
        equal({len(texts(shown(server.folder.name, client.end()))) for client in clients}, {100})
        again = Recorded(server)
        again.send(10)
        client = Live(server, ring_of(server, again)['id'])
        equal(client.answer.status, 200)
        # So are the traces that are followed together, by any number of connections.
        ids = ','.join([ring_of(server, again)['id']] * 256)
        parts = [Live(server, ids, 'parts') for _ in range(2)]
        equal([part.answer.status for part in parts], [200, 503])
        equal(Live(server, ids + ',' + ids[:16], 'parts').answer.status, 404)
        again.end()
        client.end()


# ---- Programs that run ----

class Live(threading.Thread):
    """A client of /api/live or /api/parts, which reads until the end."""

    def __init__(self, server, one, path='live'):
        super().__init__()
        self.connection = server.connect()
        self.connection.request('GET', '/api/%s/%s' % (path, one), headers={'Cookie': server.cookie})
        self.answer = self.connection.getresponse()
        self.bytes = b''
        self.start()

    def run(self):
        while piece := self.answer.read1(1 << 16):
            self.bytes += piece

    def end(self):
        wait_until('the end of the stream', lambda: not self.is_alive(), seen=lambda: len(self.bytes))
        self.connection.close()
        return self.bytes


def shown(folder, data, is_whole=True):
    path = os.path.join(folder, 'shown.weft')
    with open(path, 'wb') as file:
        file.write(data)
    result = weft('dump', '--json', path)
    if is_whole:
        equal(result.stderr, '')
    return result.stdout.splitlines()


def texts(lines):
    return sorted((event['text'], event['value']) for event in map(json.loads, lines) if event['event'] == 'tag')


@case
def a_running_program_is_followed_by_many():
    with Server(TRACES) as server:
        program = Recorded(server)
        program.send(500)
        ring = ring_of(server, program)
        equal((ring['state'], ring['name']), ('running', 'follow-subject'))
        clients = [Live(server, ring['id']) for _ in range(3)]
        ring_path, = glob.glob(os.path.join(server.env['XDG_RUNTIME_DIR'], 'weft', 'record-*', '*-%d.weft' % program.pid))
        tail = subprocess.Popen([WEFT, 'tail', '--json', ring_path], stdout=subprocess.PIPE, text=True, env=server.env)
        # It grows while the program runs.
        seen, total = 0, 500
        for events in (800, 1500):
            program.send(events)
            total += events
            wait_until('all events', lambda: len(texts(shown(server.folder.name, clients[0].bytes, False))) >= total, server.process,
                       seen=lambda: len(clients[0].bytes))
            assert len(clients[0].bytes) > seen
            seen = len(clients[0].bytes)
        program.end()
        lines = communicate(tail)[0].splitlines()
        saved = weft('dump', '--json', program.trace).stdout.splitlines()
        equal(texts(lines), texts(saved))
        for client in clients:
            equal(shown(server.folder.name, client.end()), saved)


def split_frames(data):
    """The bytes of each part; all of them must have ended."""
    parts, ended, at = collections.defaultdict(bytes), set(), 0
    while at < len(data):
        part, size = struct.unpack_from('<II', data, at)
        assert part not in ended and at + 8 + size <= len(data), (part, size, at)
        parts[part] += data[at + 8:at + 8 + size]
        at += 8 + size
        if not size:
            ended.add(part)
    equal(ended, set(parts))
    return parts


@case
def several_traces_come_over_one_connection():
    """Two rings, of which one ends earlier, and a file that is complete."""
    with Server(TRACES) as server:
        saved = [os.path.join(server.folder.name, name) for name in ('long.weft', 'short.weft')]
        programs = [Recorded(server, output=path) for path in saved]
        for program, events in zip(programs, (500, 30)):
            program.send(events)
        rings = [ring_of(server, program) for program in programs]
        ids = [ring['id'] for ring in rings] + [id_of(server, 'mirage-arp-good.ctf')]
        client = Live(server, ','.join(ids), 'parts')
        programs[1].end()
        programs[0].send(20000)
        programs[0].end()
        parts = split_frames(client.end())
        for part, path in enumerate(saved):
            assert shown(server.folder.name, parts[part]) == weft('dump', '--json', path).stdout.splitlines(), path
        with open(os.path.join(TRACES, 'mirage-arp-good.ctf'), 'rb') as file:
            equal(parts[2], file.read())
        equal(len(parts), 3)
        assert all(len(ring['uuid']) == 32 for ring in rings) and rings[0]['uuid'] != rings[1]['uuid'], rings
        for wrong in ('', ids[2][:-1], ids[2] + ',', ',' + ids[2], ids[2] + ' ' + ids[2], ids[2] + ',' + 'f' * 16, ids[2] + '/' + ids[2]):
            equal(server.get('/api/parts/' + urllib.parse.quote(wrong, safe=',/'))[0], 404, wrong)


@case
def rings_of_a_directory_belong_to_its_traces():
    with temporary_directory() as out, Server(out) as server:
        equal(server.fragment, 'trace=all')
        other = Recorded(server)
        own = Recorded(server, output=out + '/')
        own.send(70)
        ring, stranger = ring_of(server, own), ring_of(server, other)
        equal((ring['recorded'], 'run' in ring, stranger['recorded'], len(stranger['run'])), (70, False, 0, 16))
        equal(ring['boot'], stranger['boot'])
        own.end()
        other.end()
        saved, = server.traces()
        equal((saved['boot'], 'run' in saved, 'recorded' in saved), (ring['boot'], False, False))
        equal(os.listdir(os.path.join(server.folder.name, 'run', 'weft')), [])


@case
def one_directory_is_opened_as_one():
    for operands, fragment in (((TRACES,), 'trace=all'), ((TRACES, TRACES), ''), ((os.path.join(TRACES, 'mirage-arp-good.ctf'),), ''),
                               (('--squeeze', TRACES), 'trace=all&view&squeeze=on'), (('--squeeze', TRACES, TRACES), 'view&squeeze=on')):
        with Server(*operands) as server:
            equal(server.fragment, fragment, operands)


@case
def a_ring_is_read_as_it_is_now():
    with Server(TRACES) as server:
        program = Recorded(server)
        program.send(300)
        status, _, body = server.get('/api/trace/' + ring_of(server, program)['id'])
        equal(status, 200)
        equal(len(texts(shown(server.folder.name, body))), 300)
        program.end()
        equal([trace for trace in server.traces() if 'pid' in trace], [])


@case
def a_slow_client_gets_the_count_of_missing_events():
    with Server(TRACES) as server:
        program = Recorded(server, size='64K')
        program.send(10)
        one = ring_of(server, program)['id']
        connection = server.connect()
        connection.sock = socket.socket()
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sock.settimeout(LAST_RESORT)
        connection.sock.connect((server.host, server.port))
        connection.request('GET', '/api/live/' + one, headers={'Cookie': server.cookie})
        answer = connection.getresponse()
        events = 10
        for _ in range(20):
            events += 40000
            program.send(40000)
        program.end()
        path = os.path.join(server.folder.name, 'slow.weft')
        with open(path, 'wb') as file:
            while piece := answer.read1(1 << 16):
                file.write(piece)
        connection.close()
        info, = json_lines(weft('info', '--json', path).stdout)
        equal(info['by_event'].get('tag', 0) + sum(info['losses'].values()), events)


@case
def a_live_stream_ends_with_the_server():
    server = Server(TRACES)
    program = Recorded(server)
    program.send(100)
    client = Live(server, ring_of(server, program)['id'])
    server.process.send_signal(signal.SIGTERM)
    equal(status_of(server.process), 0)
    equal(len(texts(shown(server.folder.name, client.end()))), 100)
    program.end()
    server.process.stdout.close()
    server.process.stderr.close()
    server.folder.cleanup()


@case
def other_files_are_not_followed():
    with Server(TRACES) as server:
        status, _, body = server.get('/api/live/' + id_of(server, 'mirage-arp-good.ctf'))
        equal(status, 409)
        assert b'/api/trace/' in body


@case
def a_trace_of_xen_is_live_while_it_is_written():
    trace, silence = capture('xen-domain-end'), note(0, 0)
    with temporary_directory() as folder, open(os.path.join(folder, 'growing.xentrace'), 'wb', buffering=0) as file:
        file.write(trace[:100001])
        with Server(folder) as server:
            one, = server.traces()
            equal(one['state'], 'running')
            client = Live(server, one['id'])
            for at in range(100001, len(trace), 100001):
                file.write(trace[at:at + 100001])
            wait_until('all bytes', lambda: len(client.bytes.replace(silence, b'')) == len(trace))
            file.close()
            equal(client.end().replace(silence, b''), trace)
            one, = server.traces()
            assert 'state' not in one, one
            equal(server.get('/api/live/' + one['id'])[0], 409)
            equal(server.get('/api/trace/' + one['id'])[2], trace)


# ---- Arguments ----

@case
def wrong_use_says_what_would_be_right():
    need_server()
    for arguments, status, message in (
            (['--listen', 'example.org', TRACES], 2, 'is not an address'),
            (['--listen', '127.0.0.1:', TRACES], 2, 'is not an address'),
            (['--listen', '127.0.0.1:99999', TRACES], 2, 'is not an address'),
            (['--listen', '127.0.0.1:65536', TRACES], 2, 'is not an address'),
            (['--listen', '127.0.0.1:+1', TRACES], 2, 'is not an address'),
            (['--listen', '[::1', TRACES], 2, 'is not an address'),
            (['/nowhere'], 3, '/nowhere: No such file'), (['/dev/null'], 3, 'neither a file nor a directory'),
            (['--nonsense'], 2, 'unknown option')):
        result = weft('serve', *arguments, status=status)
        assert message in result.stderr, result


@case
def a_port_in_use_is_reported():
    with Server(TRACES) as server:
        result = weft('serve', '--listen', '127.0.0.1:%d' % server.port, TRACES, status=1)
        assert 'Address already in use' in result.stderr, result


main()
