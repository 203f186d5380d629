# SPDX-License-Identifier: ISC
"""The readers that run beside the writer: a function for each, which takes a World."""
import contextlib
import glob
import http.client
import json
import os
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree as xml
from urllib.parse import urlsplit

import world
from harness import WEFT, Skip, run
from operation import Limits, Operation, control_in, cpu_s, judge_text, not_json

READERS = {}


def reader(function):
    READERS[function.__name__] = function
    return function


@reader
def judge(w):
    """Checks that the judge finds planted faults."""
    def faults(script, limits=w.limits, **options):
        return Operation(['sh', '-c', script], w.folder, limits, **options).finish()
    limits = Limits(False, 0)
    limits.wall_s = 0.5
    for script in (r"printf '\033[31m'", r"printf '\302\233' >&2", r"printf '\342\200\256'", r"printf '\377'", 'exit 99',
                   'kill -SEGV $$', 'echo "x.c:1:1: runtime error: bad" >&2'):
        assert len(faults(script)) == 1, script
    for script in ('echo \'{"a": NaN}\'', 'echo x'):
        assert len(faults(script, is_json=True)) == 1, script
    assert 'hang' in faults('exec sleep 100', limits)[0]
    assert 'memory' in faults('exec python3 -c "bytearray(64 << 20)"', Limits(False, -(4 << 20)))[0]
    assert not faults('echo \'{"a": 1, "b": "\303\244"}\'', is_json=True)


@reader
def tail(w):
    """Each form of weft tail for as long as the writer runs, some from before the attack."""
    w.start_writer(waits=True)
    forms = [(), ('--json',), ('--new',), ('--json', '--new')]
    w.random.shuffle(forms)
    running = []
    for number, options in enumerate(forms):
        if number == 2:
            w.until(lambda: all(one.has_written() for one in running))
            w.begin()
        running.append(w.start('tail', *options, w.random.choice((w.pid, w.ring)), is_json='--json' in options))
    w.last(*running)


@reader
def ls(w):
    w.start_writer()
    while w.writes():
        w.run('ls')
        w.run('ls', '--json', is_json=True)


@reader
def info(w):
    """One look each at the ring of the running program, as a file."""
    w.start_writer()
    ring = w.ring
    while w.writes():
        for words in (('info',), ('info', '--json'), ('dump',), ('dump', '--json'), ('dump', '--problems'),
                      ('stats',), ('stats', '--json', '--by', 'span')):
            w.run(*words, ring, is_json='--json' in words)


@reader
def why(w):
    """The model of the running program, up to now."""
    w.start_writer()
    while w.writes():
        for words in ((), ('--json',)):
            w.run('why', *words, w.pid, is_json=bool(words))
            w.run('why', *words, w.pid, 'task:%d' % w.random.randrange(1, 40), is_json=bool(words))


@reader
def stats(w):
    """Statistics of the running program, up to now."""
    w.start_writer()
    while w.writes():
        for words in ((), ('--json', '--by', 'parent'), ('--json', '--by', 'span'), ('--diff', '--start', '0', '--start', '1ms')):
            w.run('stats', *words, w.pid, is_json='--json' in words)


@reader
def ctl(w):
    w.start_writer(waits=True)
    commands = [('--json', 'PID', 'status'), ('PID', 'status'), ('PID', 'set', '*=debug'), ('PID', 'rundown'),
                ('PID', 'set', 'program=trace', 'x*=off'), ('PID', 'snapshot', '-o', 'one.weft'),
                ('PID', 'snapshot', '--hold', '-o', 'two.weft')]
    waiting = w.start('ctl', w.pid, 'snapshot', '--when', 'counter queue > 190', '-o', 'three.weft')
    time.sleep(w.random.random() / 2)
    w.begin()
    while w.writes():
        words = w.random.choice(commands)
        w.run('ctl', *(w.pid if word == 'PID' else word for word in words), is_json='--json' in words)
    w.last(waiting)
    for path in glob.glob(w.file('*.weft')):
        look_at_saved(w, path, w.random.choice(LOOKS))


@reader
def record_pid(w):
    """Another weft record that saves, or streams, what the program records."""
    w.start_writer(waits=True)
    streams = [w.start('record', '-p', w.pid, '--stream', '-o', 'stream.weft', statuses=(0, 125)),
               w.start('record', '-p', w.pid, '--stream', '--zstd', '-o', 'stream.weft.zst', statuses=(0, 125))]
    w.until(lambda: len(glob.glob(w.file('*.weft*'))) == len(streams))
    w.begin()
    while w.writes():
        w.run('record', '-p', w.pid, '-o', 'saved.weft', statuses=(0, 125))
    w.last(*streams)
    for path in glob.glob(w.file('*.weft*')):
        look_at_saved(w, path, w.random.choice(LOOKS))


def record(w, *options):
    """The writer under weft record; all saved files are read."""
    size = str(w.size)
    running = w.start('record', '--size', size, *options, '--', *w.writer_command(), statuses=None)
    deadline = time.monotonic() + w.seconds + 1
    while time.monotonic() < deadline and not running.has_ended():
        time.sleep(0.02)
    # From here on the program has ended, but for what its start took on a busy machine.
    running.start_s, running.start_cpu_s = time.monotonic(), cpu_s(running.pid)
    w.finish(running)
    saved = glob.glob(w.file('*.weft*'))
    w.random.shuffle(saved)
    for path in saved[:3]:
        look_at_saved(w, path, w.random.choice(LOOKS))


@reader
def record_stream(w):
    options = w.random.choice(((), ('--zstd',), ('--rotate', '256K:3')))
    record(w, '--stream', *options, '-o', 'trace.weft')


@reader
def record_snapshots(w):
    record(w, '--snapshots', '100', '--trigger', 'counter queue > 100', '--trigger', 'waits > 1ms kind=bind',
           '--trigger', 'runs > 1us label=request', '--trigger', "tag 'cache'", '-o', 'trace.weft',
           *w.random.choice(((), (), ('--in-place',), ('--stream',))))


@reader
def recover(w):
    """The ring that a killed weft record left, with the program killed as well."""
    w.start_writer()
    time.sleep(w.seconds * w.random.random())
    w.program.kill()
    w.program.wait()
    os.close(w.lock)
    w.lock = None
    w.run('ls')
    w.run('record', '--recover', '-o', w.folder + '/', statuses=(0, 125))
    for path in glob.glob(w.file('*.weft')):
        for look in w.random.sample(LOOKS, 4):
            look_at_saved(w, path, look)


# ---- What was saved ----

LOOKS = [
    ('info', 'FILE'), ('info', '--json', 'FILE'), ('dump', 'FILE'), ('dump', '--json', 'FILE'),
    ('dump', '--json', '--tasks', 'FILE'), ('dump', '--json', '--edges', 'FILE'), ('dump', '--problems', 'FILE'),
    ('dump', '--json', '--problems', 'FILE'), ('dump', '--story', '1', 'FILE'),
    ('why', 'FILE'), ('why', '--json', 'FILE', 'task:3'),
    ('stats', 'FILE'), ('stats', '--json', '--by', 'span', '--start', '1ms', 'FILE'),
    ('render', 'FILE', '-o', 'OUT.svg'), ('render', 'FILE', '-o', 'OUT.png'), ('render', 'FILE', '-o', 'OUT.html'),
    ('render', 'FILE', '-o', 'OUT.pdf'), ('render', 'FILE', '-o', 'OUT.svg', '--group-by', 'thread', '--no-fold'),
    ('export', '--to', 'ctf', 'FILE', 'OUT.ctf'), ('cut', 'FILE', '-o', 'OUT.weft', '--duration', '20ms'),
    ('tail', 'FILE'), ('tail', '--json', 'FILE'),
]


STREAM_BYTES = 16 << 20  # for so much of a file a command may take twice its time


def look_at_saved(w, path, look):
    """A command reads a file: its limits are in proportion to the file. A stream may be large."""
    out = w.file('made-%d' % w.count)
    limits = Limits(world.SANITIZED, os.path.getsize(path), factor=40)
    limits.cpu_s *= 1 + os.path.getsize(path) / STREAM_BYTES
    words = [word.replace('FILE', path).replace('OUT', out) for word in look]
    status = w.run(*words, limits=limits, is_json='--json' in words)
    for kind in ('.svg', '.html') if status == 0 else ():
        if os.path.exists(out + kind):
            w.faults += ['%s\n    %s' % (fault, ' '.join(words)) for fault in judge_picture(out + kind)]


def judge_picture(path):
    with open(path, 'rb') as file:
        data = file.read()
    yield from judge_text(data, 'the picture')
    if path.endswith('.svg'):
        try:
            xml.fromstring(data)
        except xml.ParseError as error:
            yield 'the picture is no XML: %s' % error


@reader
def saved(w):
    """Copies of the ring from several times, read by every command that reads a file."""
    w.start_writer()
    looks = list(LOOKS)
    w.random.shuffle(looks)
    number = 0
    while w.writes() or number < len(looks):
        path = w.copy_ring('copy-%d.weft' % number) if w.writes() or not number else w.file('copy-0.weft')
        if path and os.path.exists(path):
            look_at_saved(w, path, looks[number % len(looks)])
        number += 1
        if not w.writes() and time.monotonic() > w.deadline:
            break


# ---- Servers and windows ----

class Client:
    """Requests to weft serve."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.host, self.port = parts.hostname, parts.port
        self.headers = {'Authorization': 'Bearer ' + parts.query.rpartition('token=')[2]}

    def get(self, path, most=1 << 22, seconds=10, **headers):
        """(status, the answer's first bytes); None if the server ended the connection."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        try:
            connection.request('GET', path, headers=dict(self.headers, **headers))
            answer = connection.getresponse()
            return answer.status, answer.read(most)
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def read_live(self, path, until):
        """The size of a stream that goes on, read until the writer has ended."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        size = 0
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.request('GET', path, headers=self.headers)
            answer = connection.getresponse()
            while until() and (piece := answer.read1(65536)):
                size += len(piece)
        connection.close()
        return size


def start_server(w):
    refusal = run([WEFT, 'serve', '--listen', '127.0.0.1:0', '/nowhere']).stderr
    if 'without' in refusal:
        raise Skip(refusal.strip())
    server = w.start('serve', '--listen', '127.0.0.1:0', w.folder, statuses=(0,))
    deadline = time.monotonic() + 60
    url = b''
    while not url.endswith(b'\n'):
        if server.has_ended() or time.monotonic() > deadline:
            w.finish(server)
            raise AssertionError('weft serve did not say where it listens')
        time.sleep(0.02)
        url = server.read(server.out)
    return server, url.decode().strip()


def ids(client, w):
    answer = client.get('/api/traces')
    if not answer:
        w.faults.append('weft serve did not answer /api/traces in 10 s')
        return []
    wrong = not_json(answer[1].replace(b'\n', b' ')) or control_in(answer[1])
    if wrong:
        w.faults.append('/api/traces: %s' % (wrong,))
        return []
    return [trace['id'] for trace in json.loads(answer[1])]


@reader
def serve(w):
    """Lists, whole traces, ranges and two that follow, for as long as the writer runs."""
    w.start_writer(waits=True)
    server, url = start_server(w)
    client = Client(url)
    followers = [threading.Thread(target=client.read_live, args=('/api/live/' + one, w.writes))
                 for one in 2 * ids(client, w)]
    for follower in followers:
        follower.start()
    w.begin()
    while w.writes() and not server.has_ended():
        for one in ids(client, w):
            client.get('/api/trace/' + one)
            client.get('/api/trace/' + one, Range='bytes=%d-' % w.random.randrange(2 * w.size))
    server.ask_to_end()
    w.finish(server)
    for follower in followers:
        follower.join()


# Waits until the page shows a trace or a message.
OPENED = """new Promise(done => {
    const end = Date.now() + 8000;
    (function look() {
        if (window.weft?.opened || Date.now() > end) done(!!window.weft?.opened);
        else setTimeout(look, 50);
    })();
})"""


@reader
def page(w):
    """The page in a browser follows the program. It may show any message, but no script fails, and its worker
    answers each key."""
    from browser import browse, chromium
    chromium()
    w.start_writer(waits=True)
    server, url = start_server(w)
    steps = [['evaluate', OPENED], ['terminate', w.pid], ['wait', 1000 * w.seconds], ['key', '+'], ['key', 'n'], ['key', '0'],
             ['evaluate', 'window.weft.text()']]
    try:
        seen = browse(url, steps, loud=True, first=[])
    except AssertionError as error:
        w.faults.append('page: %s' % str(error)[:3000])
        seen = {'console': []}
    for line in seen['console']:
        if line.startswith('error: ') and 'Failed to load resource' not in line:
            w.faults.append('page: %s' % line[:2000])
    w.last(server)


@reader
def gtk(w):
    """A window follows the program, and is used meanwhile."""
    import desktop
    from harness import BUILD
    reason = desktop.needs()
    if reason:
        raise Skip(reason)
    with desktop.screen('1000x700'):
        w.env = dict(os.environ, XDG_RUNTIME_DIR=w.env['XDG_RUNTIME_DIR'], **{
            name: value + ':detect_leaks=0' if name == 'ASAN_OPTIONS' else value
            for name, value in world.SANITIZERS.items()})
        w.start_writer(waits=True)
        # Libraries, fonts and pictures of the desktop are no part of what the ring costs.
        limits = Limits(world.SANITIZED, w.size)
        limits.memory += 256 << 20
        window = w.start('view', w.pid, limits=limits, statuses=(0, 1, 3, -signal.SIGTERM))
        w.until(lambda: visible() or window.has_ended(), 30)
        w.begin()
        use_window(w, window)
        window.ask_to_end(0)
        if not close_windows(window):
            window.ask_to_end(signal.SIGTERM)
        w.finish(window)


def visible():
    found = subprocess.run(['xdotool', 'search', '--onlyvisible', '--class', 'weft-gtk'], capture_output=True,
                           text=True, timeout=60)
    return found.stdout.split()


def use_window(w, window):
    keys = ['plus', 'minus', '0', 'Right', 'Left', 'n', 'p', 'e', 'question', 'Escape', 'Down', 'Tab']
    while w.writes() and not window.has_ended():
        for number in visible()[:1]:
            subprocess.run(['xdotool', 'windowfocus', number, 'key', *w.random.sample(keys, 3)],
                           stderr=subprocess.DEVNULL, timeout=60)
        time.sleep(0.2)


def close_windows(window):
    """False if there was none within its time, though the program runs."""
    while not window.has_ended() and not window.is_overdue():
        numbers = visible()
        for number in numbers:
            subprocess.run(['xdotool', 'windowfocus', number, 'key', 'Escape', 'ctrl+q'],
                           stderr=subprocess.DEVNULL, timeout=60)
        if not numbers and window.limits.wall_s / 4 < time.monotonic() - window.start_s:
            return False
        time.sleep(0.3)
    return True


# ---- Attacks that got through once ----

@reader
def outside(w):
    """packets_offset beyond the ring, for each command that copies rings."""
    w.mode = 'outside'
    w.start_writer()
    server, url = start_server(w)
    while w.writes():
        w.run('record', '-p', w.pid, '-o', 'saved.weft', statuses=(0, 125))
        w.run('ctl', w.pid, 'snapshot', '-o', 'snapshot.weft')
        for one in ids(Client(url), w):
            Client(url).get('/api/trace/' + one)
    w.last(server)
    other = world.World(w.seed + 1, 'outside', w.seconds)
    with other:
        record(other, '--snapshots', '5', '-o', 'trace.weft')
    w.faults += other.faults


@reader
def escape(w):
    """A name that changes while it is printed."""
    w.mode = 'escape'
    tail(w)
