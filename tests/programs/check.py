#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Adapters on programs that were not written for them, from Debian. `make adapters-check` runs this.

Each does the same with and without adapters, leaves nothing, and its trace says two things that those who know the
program would check. A program that is missing is skipped. Names on the command line choose cases.
"""
import glob
import os
import re
import socket
import socketserver
import subprocess
import sys
import threading

import processes  # noqa: F401  cases
import runtimes  # noqa: F401  cases
from programs import (Trace, case, compare, equal, free_port, load_twice, main, need, recorded, skip, succeeds,
                      temporary_directory, write)
from waiting import let_pass, wait_until


def answers(port):
    with socket.socket() as it:
        return it.connect_ex(('127.0.0.1', port)) == 0


def text_of(folder, name='text', lines=60000):
    with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
        for i in range(lines):
            file.write('%d: line %d of many\n' % (i * 7919 % 10007, i))


# ---- Builds ----

def make_project(folder):
    write(os.path.join(folder, 'Makefile'), 'all: program\n'
          'program: a.o b.o c.o d.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -c -o $@ $<\n')
    for name in 'abcd':
        write(os.path.join(folder, name + '.c'), 'int %s;%s\n' % (name, 'int main(void) { return 0; }' if name == 'a' else ''))


@case
def make():
    need('make', 'gcc')
    with temporary_directory() as folder:
        trace = compare(['make', '-j4', '--output-sync', 'CC=gcc'], make_project, lambda t: sorted(t.splitlines()),
                        folder=folder)
        names = trace.processes()
        equal(names.count('make'), 1)
        equal((names.count('cc1'), names.count('as'), names.count('collect2')), (4, 4, 1))
        assert trace.named('exit of .*'), 'nobody waits for a child'


@case
def cmake():
    need('cmake', 'gcc')
    with temporary_directory() as folder:
        def project(place):
            write(os.path.join(place, 'CMakeLists.txt'), 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\n'
                  'add_executable(p p.c)\n')
            write(os.path.join(place, 'p.c'), 'int main(void) { return 0; }\n')
        trace = compare(['cmake', '-S', '.', '-B', 'b'], project, folder=folder)
        names = trace.processes()
        equal(names.count('cmake') >= 1, True)
        assert names.count('cc1') >= 2, names  # it tries the compiler
        assert trace.named('process .*|exit of .*'), 'cmake waits for nobody'


@case
def ctest():
    need('ctest', 'sleep')
    with temporary_directory() as folder:
        def tests(place):
            write(os.path.join(place, 'CTestTestfile.cmake'), 'add_test(one sleep 0.3)\nadd_test(two sleep 0.1)\n')
        trace = compare(['ctest', '-j2'], tests, lambda t: sorted(re.sub(r'[\d.]+ sec|\d/2', '', t).splitlines()),
                        folder=folder)
        asked = trace.named('process .*sleep.*')
        equal(len(asked), 2)
        took = sorted(task['duration'] for task in asked)
        assert took[0] >= 100e6 and took[1] >= 300e6, took


# ---- Tools ----

def compressor(program, *options):
    need(program)
    with temporary_directory() as folder:
        return compare([program, *options, 'text'], text_of, lambda t: hash(t), folder=folder)


@case
def pigz():
    trace = compressor('pigz', '-n', '-c', '-b', '128', '-p', '3')
    workers = [task for task in trace.kinds('thread') if task['parent'] is not None]
    assert 2 <= len(workers) <= 4, workers  # three that compress at most, one that writes
    assert trace.kinds('condition') or trace.kinds('lock'), 'nobody waited'


@case
def xz():
    trace = compressor('xz', '-T2', '-c', '--block-size=300KiB')
    workers = [task for task in trace.kinds('thread') if task['parent'] is not None]
    equal(len(workers), 2)
    assert trace.kinds('condition'), 'nobody waited'


@case
def neovim():
    need('nvim')
    with temporary_directory() as folder:
        trace = compare(['nvim', '--headless', '-u', 'NONE', '-i', 'NONE', '+call writefile([join(range(5))], "/dev/stdout")',
                         '+call system("sleep 0.1")', '+qa!'], folder=folder, HOME=folder)
        asked = trace.named('process .*sleep 0.1.*')
        equal(len(asked), 1)
        assert asked[0]['duration'] >= 100e6, asked


@case
def node():
    """Its libuv is a part of it, and called without the dynamic linker: only threads and descriptors are seen."""
    need('node')
    script = "require('fs').readFile('text', (e, d) => { console.log(d.length); setTimeout(() => console.log('late'), 50) })"
    with temporary_directory() as folder:
        trace = compare(['node', '-e', script], text_of, folder=folder)
        workers = [task for task in trace.kinds('thread') if task['parent'] is not None]
        assert len(workers) >= 4, workers  # libuv's pool, and V8's
        assert not trace.kinds('timer'), 'libuv inside of node was seen'


@case
def sqlite_in_two_processes():
    need('sqlite3')
    script = ('sqlite3 d "create table t(x)"; (echo "begin exclusive;"; sleep 0.5; echo "commit;") | sqlite3 d & sleep 0.2; '
              'sqlite3 d ".timeout 20000" "insert into t values(7)" "select * from t"; wait')
    with temporary_directory() as folder:
        trace = compare(['sh', '-c', script], folder=folder)
        equal(trace.processes().count('sqlite3'), 3)
        slept = sum(task['duration'] for task in trace.named('sleep .*') if task['kind'] == 'timer')
        assert slept > 100e6, 'the second one slept %d ms for the lock' % (slept / 1e6)


class OneAnswer(socketserver.BaseRequestHandler):
    """Answers questions for an address, after 100 ms."""

    def handle(self):
        question, reply = self.request
        let_pass(0.1)
        end = question.index(b'\0', 12) + 5
        reply.sendto(question[:2] + b'\x85\x80\0\1\0\1\0\0\0\0' + question[12:end] +
                     b'\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\5', self.client_address)


@case
def dig():
    need('dig')
    with temporary_directory() as folder, socketserver.UDPServer(('127.0.0.1', 0), OneAnswer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        trace = compare(['dig', '@127.0.0.1', '-p', str(port), '+short', '+tries=1', '+noedns', 'example.org'], folder=folder)
        server.shutdown()
        asked = trace.named('.*udp.*')
        assert asked, [task['label'] for task in trace.tasks]
        assert max(task['duration'] for task in asked) >= 100e6, asked


@case
def curl():
    need('curl')
    with temporary_directory() as folder:
        write(os.path.join(folder, 'page'), 'x' * 100000)
        port = free_port()
        server = subprocess.Popen([sys.executable, '-m', 'http.server', str(port), '--bind', '127.0.0.1'], cwd=folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until('http.server', lambda: answers(port))
            trace = compare(['curl', '-s', 'http://127.0.0.1:%d/page' % port], folder=folder)
        finally:
            server.kill()
            server.wait()
        connection = trace.named(r'tcp 127\.0\.0\.1:%d' % port)
        equal(len(connection), 1)
        assert [e for e in trace.events() if e['event'] == 'read' and e.get('source') == connection[0]['task']], connection


@case
def git_fetch():
    need('git')
    with temporary_directory() as folder:
        quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, check=True)
        origin = os.path.join(folder, 'origin')
        author = ['-c', 'user.name=a', '-c', 'user.email=a@b']
        subprocess.run(['git', 'init', origin], **quiet)
        text_of(origin)
        subprocess.run(['git', '-C', origin, 'add', '.'], **quiet)
        subprocess.run(['git', '-C', origin, *author, 'commit', '-m', 'm'], **quiet)
        port = free_port()
        daemon = subprocess.Popen(['git', 'daemon', '--base-path=' + folder, '--export-all', '--listen=127.0.0.1',
                                   '--port=%d' % port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True)
        try:
            wait_until('git daemon', lambda: answers(port))
            trace = compare(['git', 'clone', '-q', 'git://127.0.0.1:%d/origin' % port, 'copy'], folder=folder)
        finally:
            os.killpg(daemon.pid, 15)
            daemon.wait()
        connection = trace.named(r'tcp 127\.0\.0\.1:%d' % port)
        assert len(connection) >= 1, [task['label'] for task in trace.tasks]
        assert trace.processes().count('git') >= 2, trace.processes()  # index-pack or unpack-objects


# ---- Servers ----

@case
def redis():
    need('redis-server', 'redis-benchmark', 'redis-cli')
    with temporary_directory() as folder:
        path = os.path.join(folder, 's')
        with recorded(folder, 'redis-server', '--port', '0', '--unixsocket', path, '--save', '') as pid:
            wait_until('redis', lambda: succeeds('redis-cli', '-s', path, 'ping'))
            load_twice(pid, lambda: succeeds('redis-benchmark', '-s', path, '-c', '5', '-n', '1000', '-t', 'get', '-q'))
        trace = Trace(os.path.join(folder, 'traces'))
        listener, = trace.named('accept unix ' + path)
        served = [task['activations'] for task in trace.tasks if task['parent'] == listener['task'] and task['activations'] > 3]
        requests = sum(served) - len(served)  # the last activation of each reads the end
        assert requests >= 3000, requests
        equal(trace.problems().count('unanswered'), 0, trace.problems())


@case
def memcached():
    need('memcached')
    with temporary_directory() as folder:
        port = free_port()

        def load():
            for _ in range(4):
                with socket.create_connection(('127.0.0.1', port)) as it, it.makefile('rwb', buffering=0) as lines:
                    for i in range(100):
                        lines.write(b'set k%d 0 0 1\r\nx\r\n' % i)
                        equal(lines.readline(), b'STORED\r\n')
        user = ['-u', 'root'] if os.getuid() == 0 else []
        with recorded(folder, 'memcached', *user, '-l', '127.0.0.1', '-p', str(port), '-t', '4') as pid:
            wait_until('memcached', lambda: answers(port))
            load_twice(pid, load)
        trace = Trace(os.path.join(folder, 'traces'))
        served = [task for task in trace.named(r'tcp :%d ← .*' % port) if task['activations'] >= 100]
        equal(len(served), 12)
        assert len(trace.kinds('thread')) >= 5, trace.kinds('thread')  # main, four workers, and those for upkeep
        equal(trace.problems().count('unanswered'), 0, trace.problems())


NGINX = """
daemon off; worker_processes 2; error_log {folder}/errors; pid {folder}/pid;
events {{}}
http {{
    access_log off; keepalive_requests 100000;
    client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
    uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
    server {{ listen 127.0.0.1:{port}; location / {{ return 200 "hello\\n"; }} }}
}}
"""


@case
def nginx_under_wrk():
    need('nginx', 'wrk')
    with temporary_directory() as folder:
        os.chmod(folder, 0o755)
        port, config = free_port(), os.path.join(folder, 'c')
        write(config, NGINX.format(folder=folder, port=port) + ('user root;' if os.getuid() == 0 else ''))
        found = []

        def load():
            text = subprocess.run(['wrk', '-t1', '-c8', '-d1s', 'http://127.0.0.1:%d/' % port], capture_output=True,
                                  text=True, check=True).stdout
            equal('Non-2xx' in text, False, text)
            found.append(int(re.search(r'(\d+) requests in', text).group(1)))
        with recorded(folder, 'nginx', '-c', config, stop=3) as pid:
            wait_until('nginx', lambda: answers(port))
            load_twice(pid, load)
        trace = Trace(os.path.join(folder, 'traces'))
        equal(trace.processes().count('nginx'), 3)  # the master and two workers
        served = trace.named(r'tcp :%d ← .*' % port)
        assert served, 'no connection'
        equal(trace.problems().count('unanswered'), 0, trace.problems())


@case
def python_http_server():
    need('python3')
    with temporary_directory() as folder:
        write(os.path.join(folder, 'page'), 'hello\n')
        port = free_port()

        def load():
            for _ in range(10):
                equal(subprocess.run(['curl', '-s', 'http://127.0.0.1:%d/page' % port], capture_output=True).stdout, b'hello\n')
        need('curl')
        with recorded(folder, os.path.realpath(sys.executable), '-m', 'http.server', str(port), '--bind', '127.0.0.1', stop=2,
                      status=0) as pid:
            wait_until('http.server', lambda: answers(port))
            load_twice(pid, load)
        trace = Trace(os.path.join(folder, 'traces'))
        threads = [task for task in trace.kinds('thread') if task['parent'] is not None]
        assert len(threads) >= 30, len(threads)  # one for each request
        assert len(trace.named(r'tcp :%d ← .*' % port)) >= 30, 'requests'


@case
def knot_resolver():
    need('kresd', 'dig')
    with temporary_directory() as folder:
        port, config = free_port(), os.path.join(folder, 'config')
        write(config, "net.listen('127.0.0.1', %d, { kind = 'dns' })\nmodules.unload('ta_signal_query')\n"
              "modules = { 'hints > iterate' }\nhints['test.example'] = '127.0.0.9'\ntrust_anchors.remove('.')\n" % port)

        def load():
            asked = subprocess.run(['dig', '@127.0.0.1', '-p', str(port), '+short', 'test.example'], capture_output=True, text=True)
            equal(asked.stdout, '127.0.0.9\n')
        with recorded(folder, 'kresd', '-n', '-c', config, folder) as pid:
            wait_until('kresd', lambda: succeeds('dig', '@127.0.0.1', '-p', str(port), '+time=1', '+tries=1', 'test.example'))
            load_twice(pid, load)
        trace = Trace(os.path.join(folder, 'traces'))
        assert trace.named('.*udp.*%d.*' % port), 'no UDP socket'
        assert trace.kinds('timer'), 'no timer'


# ---- Windows ----

GTK = r"""
#include <gtk/gtk.h>
static int ticks;
static gboolean on_tick(gpointer loop)
{
	if (++ticks == 10)
		g_main_loop_quit(loop);
	return ticks < 10;
}
int main(void)
{
	gtk_init();
	GMainLoop *loop = g_main_loop_new(NULL, FALSE);
	GtkWidget *window = gtk_window_new();
	gtk_window_set_child(GTK_WINDOW(window), gtk_button_new_with_label("press"));
	gtk_window_present(GTK_WINDOW(window));
	g_timeout_add(20, on_tick, loop);
	g_main_loop_run(loop);
	g_print("%d\n", ticks);
	return 0;
}
"""


@case
def gtk():
    need('gcc', 'pkg-config', 'xvfb-run')
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'gtk4'], capture_output=True, text=True).stdout.split()
    if not flags:
        skip('no gtk4')
    with temporary_directory() as folder:
        source, program = os.path.join(folder, 'w.c'), os.path.join(folder, 'w')
        write(source, GTK)
        subprocess.run(['gcc', '-o', program, source, *flags], check=True)
        trace = compare(['xvfb-run', '-a', program], folder=folder, GSK_RENDERER='cairo', GDK_BACKEND='x11')
        timer, = trace.named('timeout 20 ms in on_tick')
        equal((timer['activations'], timer['outcome']), (10, 'fulfilled'))
        assert [task for task in trace.kinds('source') if task['activations']], 'GTK has sources'


main()
