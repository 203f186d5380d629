# SPDX-License-Identifier: ISC
"""Programs that nobody changed: descriptors, loops and calls that block."""
import contextlib
import glob
import os
import re
import shutil
import signal
import socket
import struct
import subprocess

from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import communicate, process_stat, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'io-subject')


class Trace:
    """The events and tasks of a trace that `weft info` reads without a diagnostic."""

    def __init__(self, path):
        self.path = path
        equal(weft('info', path).stderr, '')
        # When a thread had no processor is up to the machine.
        self.events = [event for event in json_lines(weft('dump', '--json', path).stdout) if event['event'] != 'off_cpu']
        self.tasks = json_lines(weft('dump', '--json', '--tasks', path).stdout)

    def named(self, pattern):
        return [task for task in self.tasks if re.fullmatch(pattern, task['label'] or '')]

    def one(self, pattern):
        found = self.named(pattern)
        equal(len(found), 1, 'tasks called %s in %s' % (pattern, sorted(t['label'] or '' for t in self.tasks)))
        return found[0]

    def of(self, event, **fields):
        return [e for e in self.events if e['event'] == event and all(e.get(k) == v for k, v in fields.items())]


def record(folder, *command, status=0, **environment):
    trace = os.path.join(folder, 't.weft')
    result = weft('record', '-a', 'io', '--keep-all', '-o', trace, *command, cwd=folder, status=status,
                  env=dict(environment, XDG_RUNTIME_DIR=folder))
    return result, trace


def waits(trace, waiter, source, later):
    """How long each wait of a task for another one took, in ms. `later`: it let the thread go on with something else, as for
    an answer in a loop, and unlike a call that blocks."""
    between = [e for e in trace.events if e.get('task') == waiter['task'] and e.get('source') == source['task']]
    equal([e['event'] for e in between], ['try_read', 'read'] * (len(between) // 2))
    return [(end['time'] - begin['time']) / 1e6 for begin, end in zip(between[::2], between[1::2]) if end['later'] == later]


@case
def a_message_ends_the_wait_that_it_ended():
    """Not the next one: a thread writes while a read has left something of what another one wrote, and is read with it."""
    program = ('import os, select, threading, time; out, into = os.pipe()\n'
               'poll = select.epoll(); poll.register(out, select.EPOLLIN)\n'
               'def write(): thread = threading.Thread(target=os.write, args=(into, b"12345678")); thread.start(); return thread\n'
               'def read(size): poll.poll(); assert os.read(out, size)\n'
               'first = write(); read(4); first.join()\n'
               'time.sleep(0.001); write().join(); read(4); read(64)\n'
               'third = write(); read(64); third.join()')
    with temporary_directory() as folder:
        path = os.path.join(folder, 't.weft')
        weft('record', '-a', 'thread,io', '-o', path, '/usr/bin/python3', '-c', program, env={'XDG_RUNTIME_DIR': folder})
        trace = Trace(path)
        pipe = trace.one('pipe')['task']
        key = trace.of('receive', task=pipe)[0]['key']
        writers = [e['task'] for e in trace.of('send', key=key) if e['task'] is not None]
        edges = [e['from'] for e in json_lines(weft('dump', '--edges', '--json', path).stdout) if e['edge'] == 'receive' and e['to'] == pipe]
        equal(edges, [writers[0], writers[2]], writers)


def senders(folder, program):
    """The tasks whose messages ended waits for the unix socket of the program, and the writers in their order."""
    common = ('import select, socket, threading, time\n'
              'def begin(kind):\n'
              '    global out, into, poll\n'
              '    out, into = socket.socketpair(socket.AF_UNIX, kind); poll = select.epoll(); poll.register(out, select.EPOLLIN)\n'
              'def write(): thread = threading.Thread(target=into.send, args=(b"12345678",)); thread.start(); return thread\n'
              'def read(): poll.poll(); assert out.recv(64)\n')
    path = os.path.join(folder, 't.weft')
    weft('record', '-a', 'thread,io', '-o', path, '/usr/bin/python3', '-c', common + program, env={'XDG_RUNTIME_DIR': folder})
    trace = Trace(path)
    first = next(e for e in trace.of('receive') if e['key'] >> 56 == 7)
    writers = [e['task'] for e in trace.of('send', key=first['key']) if e['task'] is not None]
    edges = json_lines(weft('dump', '--edges', '--json', path).stdout)
    return [e['from'] for e in edges if e['edge'] == 'receive' and e['to'] == first['task']], writers


@case
def a_datagram_leaves_others():
    with temporary_directory() as folder:
        edges, writers = senders(folder, 'begin(socket.SOCK_DGRAM); write().join(); write().join(); poll.poll()\n'
                                 'time.sleep(0.001); assert out.recv(64); write().join(); read(); read()\n'
                                 'fourth = write(); read(); fourth.join()')
        equal(edges, [writers[0], writers[3]], writers)


@case
def bytes_that_are_only_looked_at_are_left():
    with temporary_directory() as folder:
        edges, writers = senders(folder, 'begin(socket.SOCK_STREAM); first = write(); poll.poll(); first.join()\n'
                                 'time.sleep(0.001); assert out.recv(64, socket.MSG_PEEK); write().join(); read()\n'
                                 'third = write(); read(); third.join()')
        equal(edges, [writers[0], writers[2]], writers)


@case
def the_first_of_several_writes_ended_the_wait():
    with temporary_directory() as folder:
        edges, writers = senders(folder, 'begin(socket.SOCK_STREAM); first = write(); poll.poll(); first.join(); time.sleep(0.001)\n'
                                 'write().join(); assert out.recv(64); third = write(); read(); third.join()')
        equal(edges, [writers[0], writers[2]], writers)


@case
def what_is_read_without_a_wait_ends_no_later_one():
    with temporary_directory() as folder:
        edges, writers = senders(folder, 'begin(socket.SOCK_STREAM); out.setblocking(False); first = write(); read(); first.join()\n'
                                 'time.sleep(0.001); write().join(); assert out.recv(64); time.sleep(0.001)\n'
                                 'third = write(); read(); third.join()')
        equal(edges, [writers[0], writers[2]], writers)


@case
def why_names_what_an_epoll_instance_has():
    """Not what was taken out, is closed, or was in an earlier instance whose descriptor had the same number."""
    program = ('import os, select; ends = [os.pipe()[0] for _ in range(4)]\n'
               'before = select.epoll(); before.register(ends[3], select.EPOLLIN); before.poll(0.001); before.close()\n'
               'poll = select.epoll()\n'
               'for end in ends[:3]: poll.register(end, select.EPOLLIN)\n'
               'poll.unregister(ends[1]); os.close(ends[2]); poll.poll(0.02)')
    with temporary_directory() as folder:
        _, path = record(folder, 'python3', '-c', program)
        trace = Trace(path)
        first, second = trace.of('tag', task=1, text='epoll')
        left = trace.of('tag', text='epoll', value=second['value'])[0]['task']
        equal(len(trace.of('tag', text='epoll', value=0)), 1)
        assert first['value'] != second['value'], (first, second)
        idle = next(event for event in trace.of('switch') if event['time'] >= second['time'])
        text = weft('why', path, 'task:1', '--at', '@%d' % (idle['time'] + 1), status=1).stdout
        assert re.search(r"waits in epoll for pipe %d 'pipe', since" % left, text), text


@case
def each_of_many_descriptors_that_are_ready_at_once_is_served():
    program = ('import os, select; ends = [os.pipe() for _ in range(50)]; poll = select.epoll()\n'
               'for out, _ in ends: poll.register(out, select.EPOLLIN)\n'
               'for _, into in ends: os.write(into, b"1")\n'
               'ready = poll.poll(); assert len(ready) == 50\n'
               'for out, _ in ready: os.read(out, 1)\n')
    with temporary_directory() as folder:
        _, path = record(folder, 'python3', '-c', program)
        equal([task['activations'] for task in Trace(path).named('pipe') if task['activations']], 50 * [1])


@case
def epoll_activations_are_requests():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'epoll')
        trace = Trace(path)
        listener = trace.one(r'accept 127\.0\.0\.1:\d+')
        served = trace.named(r'tcp :\d+ ← 127\.0\.0\.1:\d+')
        equal(len(served), 3)
        for connection in served:
            equal(connection['parent'], listener['task'])
            equal(connection['activations'], 51)  # 50 requests, and the end
            equal(connection['outcome'], 'closed')
            equal(connection['kind'], 'tcp')
        equal(listener['kind'], 'listener')
        equal(listener['activations'], 3)


@case
def a_proxy_waits_for_its_upstream():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'proxy')
        trace = Trace(path)
        listeners = {task['task']: task for task in trace.named('accept .*')}
        users = [t for t in trace.named('tcp .* ← .*') if t['activations']]
        equal(len(users), 1)
        port = next(t['label'] for t in listeners.values() if t['task'] != users[0]['parent']).split(':')[1]
        upstream = next(t for t in trace.named(r'tcp 127\.0\.0\.1:' + port) if t['activations'])
        took = waits(trace, users[0], upstream, later=True)  # on a busy machine, it may also have waited to write
        equal(len(took), 3)
        assert min(took) > 15, took


@case
def descriptors_of_each_type():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'select')
        trace = Trace(path)
        for label, kind in (('pipe', 'pipe'), ('eventfd', 'eventfd'), ('timerfd 20 ms', 'timer')):
            task = trace.one(label)
            equal((task['kind'], task['activations'] > 0), (kind, True), label)


@case
def a_thread_wakes_a_loop_by_an_eventfd():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'wake')
        trace = Trace(path)
        event = trace.one('eventfd')
        equal(event['activations'], 3)
        writer, = {e['source'] for e in trace.of('signal', task=event['task'])}
        equal(len(trace.of('signal', task=event['task'])), 3)
        equal([t['kind'] for t in trace.tasks if t['task'] == writer], ['thread'])
        equal([e for e in trace.of('send') if e['key'] < 1 << 32], [], 'its last close is no message')
        runs = [e['time'] for e in trace.of('switch', task=event['task'])]
        equal([s['time'] < r for s, r in zip(trace.of('signal', task=event['task']), runs)], [True] * 3)


def inherited(listener, connect):
    """The label of a connection that `cat` has inherited."""
    with temporary_directory() as folder, listener, socket.socket(listener.family) as client:
        listener.listen()
        connect(client)
        served, _ = listener.accept()
        path = os.path.join(folder, 't.weft')
        with served, subprocess.Popen([WEFT, 'record', '-a', 'io', '-o', path, 'cat'], stdin=served, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, env=dict(os.environ, XDG_RUNTIME_DIR=folder)) as process:
            client.sendall(b'hello\n')
            equal(process.stdout.readline(), b'hello\n')
            client.shutdown(socket.SHUT_WR)
            equal(process.wait(), 0)
        return [t['label'] for t in Trace(path).tasks if t['kind'] in ('tcp', 'unix')]


@case
def an_inherited_connection_is_named_as_an_accepted_one():
    """One without an address has the number of its descriptor."""
    listener = socket.socket()
    for port in range(20000, 32768):
        with contextlib.suppress(OSError):
            listener.bind(('127.0.0.1', port))
            break
    label, = inherited(listener, lambda client: client.connect(('127.0.0.1', port)))
    assert re.fullmatch(r'tcp :%d ← 127\.0\.0\.1:\d+' % port, label), label
    one, other = socket.socketpair()
    with temporary_directory() as folder, one, other:
        path = os.path.join(folder, 't.weft')
        one.sendall(b'hello\n')
        one.shutdown(socket.SHUT_WR)
        weft('record', '-a', 'io', '-o', path, 'cat', stdin=other, env={'XDG_RUNTIME_DIR': folder})
        equal([t['label'] for t in Trace(path).tasks if t['kind'] == 'unix'], ['unix fd 0'])
    with temporary_directory() as folder:
        path = os.path.join(folder, 's')
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        equal(inherited(listener, lambda client: client.connect(path)), ['unix ' + path])


@case
def a_netlink_socket_has_its_name():
    with temporary_directory() as folder, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) as it:
        it.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 0, 20000))
        path = os.path.join(folder, 't.weft')
        subprocess.run([WEFT, 'record', '-a', 'io', '-o', path, 'cat'], stdin=it, stderr=subprocess.DEVNULL, check=False,
                       env=dict(os.environ, XDG_RUNTIME_DIR=folder))
        equal([t['label'] for t in Trace(path).tasks if t['kind'] == 'socket'], ['netlink'])


@case
def waits_for_queues():
    with temporary_directory() as folder:
        result, path = record(folder, SUBJECT, 'queues')
        equal(result.stdout, run([SUBJECT, 'queues']).stdout)
        trace = Trace(path)
        waited = [next(t for t in trace.tasks if t['task'] == e['source']) for e in trace.of('try_read', task=1)]
        equal([re.sub(r'/weft-\d+|\d+$', '…', t['label']) for t in waited],
              ['message queue …', 'semaphore 0 of set …', 'message queue …', 'room in message queue …', 'aio_suspend', 'semaphore 0 of set …',
               'room in message queue …'])
        equal([sum(e['source'] == t['task'] for e in trace.of('read', task=1)) for t in waited], [1, 1, 1, 1, 1, 1, 1])


@case
def a_client_waits_for_its_server():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'client')
        trace = Trace(path)
        connections = [t for t in trace.named(r'tcp 127\.0\.0\.1:\d+') if trace.of('read', task=1, source=t['task'])]
        equal(len(connections), 2)
        for connection in connections:
            took = waits(trace, trace.tasks[0], connection, later=False)
            assert max(took) > 15, took
            equal(trace.of('switch', task=connection['task']), [])


@case
def readiness_ends_with_the_descriptor():
    """A file that gets the number of a pipe that was ready is not what the loop waited for."""
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'reuse')
        equal([t['label'] for t in Trace(path).tasks if t['kind'] == 'file'], [])


@case
def a_blocking_read_is_a_wait():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'block')
        trace = Trace(path)
        pipe = next(task for task in trace.named('pipe') if trace.of('read', task=1, source=task['task']))
        took = waits(trace, trace.tasks[0], pipe, later=False)
        equal(len(took), 3)
        assert min(took) > 15, took


@case
def a_write_that_blocks_is_sent_by_the_task_that_waits():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'fill')
        trace = Trace(path)
        program, pipes = trace.tasks[0]['task'], [task['task'] for task in trace.named('pipe')]
        assert any(event['source'] in pipes for event in trace.of('try_read', task=program))
        keys = {event['key'] for event in trace.of('receive') if event['task'] in pipes}
        senders = {event['task'] for event in trace.of('send') if event['key'] in keys}
        equal(senders - {None}, {program})  # a reader that finds nothing takes back what was sent before


def first_line(path):
    """The first line of a file, or '' until it is whole."""
    with open(path, encoding='utf-8') as file:
        line = file.readline()
        return line if line.endswith('\n') else ''


def record_stuck(folder, part):
    """The trace of a program that is killed in a call that never returns; its standard output is a file."""
    path, output = os.path.join(folder, 't.weft'), os.path.join(folder, 'output')
    with open(output, 'wb') as file, subprocess.Popen(
            [WEFT, 'record', '-a', 'io', '-o', path, SUBJECT, part], stdout=file, stderr=subprocess.DEVNULL,
            env=dict(os.environ, XDG_RUNTIME_DIR=folder)) as recorder:
        pid = int(wait_until('its first line', lambda: first_line(output), recorder))
        wait_until('it sleeps', lambda: process_stat(pid)[0] == b'S', recorder)
        os.kill(pid, signal.SIGKILL)
    return path


@case
def a_call_that_never_returns_is_a_wait():
    """Others may be before: the first read of a pipe, and calls that took long on a busy machine."""
    for part in ('stuck read', 'stuck writes', 'stuck write', 'stuck second'):
        with temporary_directory() as folder:
            path = record_stuck(folder, part)
            trace = Trace(path)
            last = [e for e in trace.events if e.get('task') == trace.tasks[0]['task'] and e['event'] != 'send'][-1]
            assert last['event'] == 'try_read' and last['source'] in {pipe['task'] for pipe in trace.named('pipe')}, (part, last)
            assert 'waits for pipe' in weft('why', path).stdout, (part, weft('why', path).stdout)


@case
def a_connection_an_open_or_a_reply_that_never_returns_is_a_wait():
    for part, source in (('stuck connect', 'unix'), ('stuck open', "'open /"), ('stuck reply', 'unix')):
        with temporary_directory() as folder:
            text = weft('why', record_stuck(folder, part)).stdout
            assert '1 task waits for' in text and source in text, text


@case
def a_lock_that_is_not_free_is_a_wait():
    """From its begin on, as it may never end; a free one writes nothing."""
    for part, name in (('lock', 'flock locked'), ('fcntl', 'fcntl F_SETLKW records'), ('lockf', 'lockf records')):
        with temporary_directory() as folder:
            _, path = record(folder, SUBJECT, part)
            trace = Trace(path)
            locks = [task for task in trace.tasks if task['label'] == name]
            assert len(locks) == 1, trace.tasks  # that of the one that holds it was free
            main = trace.tasks[0]['task']
            events = [e['event'] for e in trace.events if e.get('source') == locks[0]['task'] and e['task'] == main]
            equal(events, ['try_read', 'read'], name)


@case
def short_calls_write_nothing():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'often')
        events = Trace(path).events
        names = [e['event'] for e in events]
        equal([name for name in names if name not in ('span', 'send')],  # spans: of a machine that has other work
              ['create', 'label', 'receive', 'receive', 'receive', 'tag', 'tag', 'switch', 'resolve'])
        # One in 20 us or more for the pipe and for the file, as long as the 1000 writes to each take.
        taken_ns = events[-1]['time'] - events[0]['time']
        assert names.count('send') <= 2 * (taken_ns / 20000 + 1), (names.count('send'), taken_ns)


@case
def bytes_are_counted_at_level_debug():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'epoll', WEFT_CATEGORIES='io=debug')
        trace = Trace(path)
        for connection in trace.named('tcp .* ← .*'):
            for name in ('bytes in', 'bytes out'):
                counted = [e for e in trace.of('counter', name=name) if e['task'] == connection['task']]
                equal((len(counted), sum(e['add'] for e in counted)), (50, 50), name)


@case
def copies_share_a_task():
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'copy')
        trace = Trace(path)
        pipe = trace.one('pipe')
        equal(pipe['outcome'], 'closed')
        equal(len(trace.of('read', source=pipe['task'])), 4)
        child, = [other for other in glob.glob(os.path.join(folder, '*.weft')) if other != path]
        child = Trace(child)
        # An end that is left when the child closes the other one becomes a task, too.
        assert 'closed' in {pipe['outcome'] for pipe in child.named('pipe')}, child.tasks


@case
def errors_are_the_programs():
    with temporary_directory() as folder:
        result, path = record(folder, SUBJECT, 'fail')
        equal(result.stdout, run([SUBJECT, 'fail']).stdout)
        Trace(path)


@case
def errors_of_calls_are_counted():
    """Those that ask to be called again are no errors."""
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'accept')
        trace = Trace(path)
        opened = ['open', 'socket', 'socketpair', 'pipe', 'eventfd']
        equal([note['text'] for note in trace.of('note')],
              ['accept: EINVAL'] + 40 * ['accept: EMFILE'] + [name + ': EMFILE' for name in opened])
        found = json_lines(weft('dump', '--problems', '--json', path).stdout)[0]
        equal((found['problem'], found['severity'], found['count']), ('failing call', 'warning', 40))
        assert found['sentence'].startswith('accept: EMFILE × 40, in '), found


@case
def a_program_that_overwrites_its_arguments():
    """Servers show in the list of processes what they do, by which a child's buffer must not be named."""
    with temporary_directory() as folder:
        _, path = record(folder, SUBJECT, 'title')
        other, = [other for other in glob.glob(os.path.join(folder, '*.weft')) if other != path]
        assert Trace(other).named('pipe')


def wait_for_answer(process, *command):
    wait_until('an answer to %s' % command[0], lambda: run(command).returncode == 0, process)


@case
def redis():
    for program in ('redis-server', 'redis-benchmark', 'redis-cli'):
        if not shutil.which(program):
            skip('no ' + program)
    with temporary_directory() as folder:
        trace, socket = os.path.join(folder, 't.weft'), os.path.join(folder, 's')
        process = subprocess.Popen(
            [WEFT, 'record', '-a', 'io', '-o', trace, 'redis-server', '--port', '0', '--unixsocket', socket, '--save', ''],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ, XDG_RUNTIME_DIR=folder))
        wait_for_answer(process, 'redis-cli', '-s', socket, 'ping')
        run(['redis-benchmark', '-s', socket, '-c', '1', '-n', '500', '-t', 'get', '-q'])
        run(['redis-cli', '-s', socket, 'shutdown', 'nosave'])
        communicate(process)
        equal(process.returncode, 0)
        trace = Trace(trace)
        listener = trace.one('accept unix ' + socket)
        served = [t for t in trace.tasks if t['parent'] == listener['task']]
        equal(max(t['activations'] for t in served), 501)  # 500 requests, and the end


@case
def a_program_that_records_itself_is_right():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        weft('record', '-a', 'io', '-o', trace, os.path.join(BUILD, 'examples', 'echo-server'), cwd=folder,
             env={'XDG_RUNTIME_DIR': folder})
        trace = Trace(trace)
        equal({t['kind'] for t in trace.tasks if t['kind'] != 'task' and t['activations']}, {'thread'})
        assert not [t for t in trace.tasks if t['kind'] in ('tcp', 'timer')]


@case
def a_task_of_the_program_waits_for_a_call():
    with temporary_directory() as folder:
        _, path = record(folder, os.path.join(BUILD, 'tests', 'io-own-subject'))
        trace = Trace(path)
        own, read = trace.one('own'), trace.one(r'read unix fd \d+')
        equal((read['kind'], trace.named(r'unix.*')), ('call', []))
        equal(len(waits(trace, own, read, later=False)), 1)


NGINX = """
daemon off; worker_processes 1; error_log {folder}/errors; pid {folder}/pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
    uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
    server {{ listen unix:{folder}/s; location / {{ return 200 "hello\\n"; }} }}
}}
"""


@case
def nginx():
    """Its worker is a child that has changed its name, and its loop is told of pointers, not descriptors."""
    for program in ('nginx', 'curl'):
        if not shutil.which(program):
            skip('no ' + program)
    with temporary_directory() as folder:
        os.chmod(folder, 0o755)
        socket, config = os.path.join(folder, 's'), os.path.join(folder, 'c')
        with open(config, 'w') as file:
            file.write(NGINX.format(folder=folder) + ('user root;' if os.getuid() == 0 else ''))
        process = subprocess.Popen([WEFT, 'record', '-a', 'io', '--keep-all', '-o', os.path.join(folder, 't.weft'), 'nginx', '-c', config],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env=dict(os.environ, XDG_RUNTIME_DIR=folder))
        ask = ['curl', '-s', '--unix-socket', socket]
        wait_for_answer(process, *ask, 'http://localhost/')
        equal(run(ask + ['http://localhost/'] * 7).stdout, 'hello\n' * 7)
        run(['nginx', '-c', config, '-s', 'quit'])
        communicate(process)
        equal(process.returncode, 0)
        worker, = glob.glob(os.path.join(folder, 't-*.weft'))
        trace = Trace(worker)
        listener = trace.one('accept unix ' + socket)
        served = [t['activations'] for t in trace.tasks if t['parent'] == listener['task']]
        equal(max(served), 8)  # 7 requests, and the end


@case
def libuv_is_recorded_by_its_own_adapter():
    subject = os.path.join(BUILD, 'tests', 'uv-subject')
    if not os.path.exists(subject):
        skip('built without libuv')
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        weft('record', '-a', 'uv,io', '-o', trace, subject, 'streams', cwd=folder, status=None,
             env={'XDG_RUNTIME_DIR': folder})
        kinds = {task['kind'] for task in Trace(trace).tasks}
        assert 'listen' in kinds and not kinds & {'listener', 'tcp', 'pipe', 'eventfd'}, kinds


@case
def curl():
    if not shutil.which('curl'):
        skip('no curl')
    with temporary_directory() as folder:
        with open(os.path.join(folder, 'page'), 'w') as file:
            file.write('x' * 100000)
        server = subprocess.Popen(['python3', '-u', '-m', 'http.server', '0', '--bind', '127.0.0.1'], cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = re.search(r'port (\d+)', server.stdout.readline()).group(1)
            result, path = record(folder, 'curl', '-s', 'http://127.0.0.1:%s/page' % port)
        finally:
            server.kill()
            server.communicate()
        equal(result.stdout, 'x' * 100000)
        trace = Trace(path)
        connection = trace.one(r'tcp 127\.0\.0\.1:' + port)
        assert trace.of('read', task=1, source=connection['task']), connection


main()
