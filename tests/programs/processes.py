# SPDX-License-Identifier: ISC
"""Programs of several processes, and programs that send signals: cases of check.py."""
import os
import shutil
import signal
import socket
import subprocess
import threading

from programs import Trace, case, compare, equal, free_port, load_twice, need, recorded, succeeds, temporary_directory, write
from waiting import wait_until


# ---- Shells and languages ----

@case
def pipeline():
    """Each part but the first gets what the one before it writes when its buffer is full, or when it ends."""
    need('sort', 'uniq', 'sed', 'tail')
    with temporary_directory() as folder:
        trace = compare(['sh', '-c', 'seq 50000 | sort -n | uniq | sed s/5/6/ | tail -n 2'], folder=folder)
        edges = trace.messages()
        for pair in (('seq', 'sort'), ('sort', 'uniq'), ('uniq', 'sed'), ('sed', 'tail')):
            assert pair in edges, (pair, edges)
        equal([name for name in ('seq', 'sort', 'uniq', 'sed', 'tail') if (name, 'sh') not in edges], [], 'their ends')


@case
def bash():
    """A trap leaves `wait` by a jump."""
    need('bash')
    script = ('trap "echo trapped" USR1; (sleep 0.1; kill -USR1 $$) & wait; wait; sleep 5 & kill $!; wait $!; echo $?; '
              'set -m; sleep 0.1 & fg >/dev/null')
    with temporary_directory() as folder:
        trace = compare(['bash', '-c', script], folder=folder)
        notes = trace.notes()
        equal([notes.count(note) for note in ('SIGUSR1 to process', 'SIGUSR1 from process', 'killed by SIGTERM')], [1, 1, 1])
        assert len(trace.named('exit of .*')) >= 3, [task['label'] for task in trace.tasks]


@case
def perl():
    need('perl')
    script = ('print `echo hi`; system("exit 2"); print $? >> 8; $SIG{ALRM} = sub { die "late\\n" }; '
              'eval { alarm 1; sleep 20; }; print $@; open(P, "-|", "seq 3"); print <P>; close P;')
    with temporary_directory() as folder:
        trace = compare(['perl', '-e', script], folder=folder)
        equal(trace.notes().count('SIGALRM'), 1)
        slept, = trace.named('sleep 20 s')
        assert 0.9e9 < slept['duration'] < 15e9, slept
        assert ('seq', 'perl') in trace.messages(), trace.messages()


@case
def python_children():
    need('python3')
    script = ('import os, signal, subprocess, threading\n'
              'print(os.system("exit 3"), os.popen("echo x").read())\n'
              'got = []\n'
              'signal.signal(signal.SIGUSR1, lambda *them: got.append(them[0]))\n'
              'child = subprocess.Popen(["sh", "-c", "sleep 0.1; kill -USR1 $PPID"])\n'
              'print(child.wait(), got)\n')
    with temporary_directory() as folder:
        trace = compare([shutil.which('python3'), '-c', script], folder=folder)
        equal(len(trace.named('system exit 3')), 1)
        assert [pair for pair in trace.messages() if pair[0] == 'sh' and 'python' in pair[1]], trace.messages()
        assert 'SIGUSR1 from process' in trace.notes(), trace.notes()


# ---- Servers ----

RSYNC = """
use chroot = no
address = 127.0.0.1
port = {port}
uid = {user}
gid = {group}
[m]
path = {folder}/from
"""


@case
def rsync():
    """A process of the client asks the other one to end, by a signal."""
    need('rsync')
    with temporary_directory() as folder:
        os.mkdir(os.path.join(folder, 'from'))
        for i in range(20):
            write(os.path.join(folder, 'from', str(i)), 'x' * 20000)
        port = free_port()
        write(os.path.join(folder, 'conf'), RSYNC.format(port=port, folder=folder, user=os.getuid(), group=os.getgid()))
        with subprocess.Popen(['rsync', '--daemon', '--no-detach', '--config=' + os.path.join(folder, 'conf')]) as daemon:
            try:
                url = 'rsync://127.0.0.1:%d/m/' % port
                wait_until('rsync', lambda: succeeds('rsync', url))
                trace = compare(['rsync', '-a', '--out-format=%n', url, 'to/'], folder=folder)
            finally:
                daemon.terminate()
        equal(trace.processes(), ['rsync', 'rsync'])
        equal(trace.notes().count('SIGUSR2 from process'), 1)


HAPROXY = """
global
    nbthread 2
defaults
    mode tcp
    timeout connect 5s
    timeout client 20s
    timeout server 20s
listen all
    bind 127.0.0.1:{port}
    server one 127.0.0.1:{upstream}
"""


def echo(listener):
    while True:
        try:
            with listener.accept()[0] as it:
                while data := it.recv(100):
                    it.sendall(data)
        except OSError:
            return


@case
def haproxy():
    need('haproxy')
    with temporary_directory() as folder, socket.create_server(('127.0.0.1', 0)) as listener:
        threading.Thread(target=echo, args=(listener,), daemon=True).start()
        port, config = free_port(), os.path.join(folder, 'c')
        write(config, HAPROXY.format(port=port, upstream=listener.getsockname()[1]))

        def ask():
            with socket.create_connection(('127.0.0.1', port)) as it:
                it.sendall(b'hello')
                return it.recv(100) == b'hello'
        with recorded(folder, 'haproxy', '-db', '-f', config, stop=signal.SIGUSR1) as pid:
            wait_until('haproxy', lambda: succeeds_in(ask))
            load_twice(pid, lambda: equal([ask() for _ in range(20)], [True] * 20))
        trace = Trace(os.path.join(folder, 'traces'))
        assert len(trace.named(r'tcp :%d ← .*' % port)) >= 60, 'clients'
        assert len(trace.named(r'tcp 127\.0\.0\.1:%d' % listener.getsockname()[1])) >= 60, 'servers'


def succeeds_in(ask):
    try:
        return ask()
    except OSError:
        return False


@case
def mosquitto():
    need('mosquitto', 'mosquitto_pub', 'mosquitto_sub')
    with temporary_directory() as folder:
        port, config = free_port(), os.path.join(folder, 'c')
        write(config, 'listener %d 127.0.0.1\nallow_anonymous true\n' % port)
        at = ['-h', '127.0.0.1', '-p', str(port), '-t', 'a']

        def load():
            with subprocess.Popen(['mosquitto_sub', *at, '-C', '1'], stdout=subprocess.PIPE) as reader:
                while reader.poll() is None:
                    subprocess.run(['mosquitto_pub', *at, '-m', 'hello'], check=True)
                equal(reader.stdout.read(), b'hello\n')
        with recorded(folder, 'mosquitto', '-c', config) as pid:
            wait_until('mosquitto', lambda: succeeds('mosquitto_pub', *at, '-m', 'x'))
            load_twice(pid, load)
        trace = Trace(os.path.join(folder, 'traces'))
        assert len(trace.named(r'tcp :%d ← .*' % port)) >= 7, 'clients'
        equal(trace.notes(), ['SIGTERM from process'])
