# SPDX-License-Identifier: ISC
"""weft run: a program is recorded and shown meanwhile, in a window or in a browser."""
import contextlib
import http.client
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from desktop import Window, output, screen  # noqa: E402
from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft  # noqa: E402
from waiting import LAST_RESORT, let_work, status_of, wait_until  # noqa: E402

SUBJECT = os.path.join(BUILD, 'tests', 'follow-subject')


def need_server():
    if 'built without a server' in run([WEFT, 'serve', '--listen', '127.0.0.1:0', '/nowhere']).stderr:
        skip('built without libmicrohttpd')


class Run:
    """weft run, without a window, of a program that is controlled by lines of input."""

    def __init__(self, *options, command=(SUBJECT,), terminal=False, windows=False, how=('run',)):
        self.folder = temporary_directory()
        self.trace = os.path.join(self.folder.name, 'trace.weft')
        env = dict(os.environ)
        if not windows:
            for variable in ('DISPLAY', 'WAYLAND_DISPLAY'):
                env.pop(variable, None)
        env['XDG_RUNTIME_DIR'] = os.path.join(self.folder.name, 'run')
        os.mkdir(env['XDG_RUNTIME_DIR'], 0o700)
        errors, self.master = subprocess.PIPE, None
        if terminal:
            self.master, errors = pty.openpty()
        self.process = subprocess.Popen([WEFT, *how, '-o', self.trace, *options, '--', *command],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                        text=True, env=env)
        if terminal:
            os.close(errors)
        self.errors = os.fdopen(self.master, errors='replace') if terminal else self.process.stderr
        self.report = []

    def line(self, word):
        """The next line of standard error that has the word."""
        for line in self.errors:
            self.report.append(line)
            if word in line:
                return line.strip()
        raise AssertionError('it did not print "%s", but: %s' % (word, self.report))

    def address(self):
        self.url = urlsplit(self.line('http://').split()[-1])
        equal(self.url.fragment, 'trace=all')
        self.token = parse_qs(self.url.query).get('token', [None])[0]

    def traces(self):
        status, body = self.get('/api/traces')
        equal(status, 200)
        return json.loads(body)

    @property
    def id(self):
        return self.traces()[0]['id']

    def get(self, path, token=True):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=LAST_RESORT)
        headers = {'Authorization': 'Bearer ' + self.token} if token else {}
        connection.request('GET', path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def send(self, request):
        """A number of events, or "tasks" and a number of tasks."""
        self.process.stdin.write('%s\n' % request)
        self.process.stdin.flush()
        equal(self.process.stdout.readline(), 'done\n')

    def end_program(self):
        self.process.stdin.close()
        self.line('describes it')

    def end(self, status=0):
        """Ends the server as Ctrl-C does, again if it did not serve yet; checks the exit status."""
        looks = itertools.count()

        def has_ended():
            if next(looks) % 20 == 0:
                self.process.send_signal(signal.SIGINT)
            return self.process.poll() is not None
        wait_until('it ends', has_ended)
        equal(self.process.returncode, status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            with contextlib.suppress(OSError):
                stream.close()
        self.folder.cleanup()


def texts(path):
    return [event['value'] for event in json_lines(weft('dump', '--json', path).stdout) if event['event'] == 'tag']


def texts_of(folder, data):
    path = os.path.join(folder, 'got.weft')
    with open(path, 'wb') as file:
        file.write(data)
    return texts(path)


@case
def a_browser_sees_the_program_while_it_runs_and_afterwards():
    need_server()
    with Run() as started:
        started.process.stdout.readline()
        started.send(100)
        started.address()
        trace, = started.traces()
        number = trace['id']
        equal((trace['state'], trace['name'], trace['recorded'], 'run' in trace), ('running', 'follow-subject', 100, False))
        status, body = started.get('/api/trace/' + number)
        equal((status, len(texts_of(started.folder.name, body))), (200, 100))
        started.send(50)
        started.end_program()
        # Under the same address there is now what was saved.
        wait_until('the saved trace', lambda: 'state' not in started.traces()[0])
        trace, = started.traces()
        equal((trace['id'], trace['name'], bool(trace['boot'])), (number, 'trace.weft', True))
        body = started.get('/api/trace/' + number)[1]
        with open(started.trace, 'rb') as file:
            equal(body, file.read())
        started.end()
        equal(len(texts(started.trace)), 150)


@case
def other_users_of_this_machine_see_nothing():
    need_server()
    with Run() as started:
        started.process.stdout.readline()
        started.send(10)
        started.address()
        number = started.id
        for path in '/', '/api/traces', '/api/trace/' + number, '/api/live/' + number:
            status, body = started.get(path, token=False)
            equal((status, b'follow-subject' in body, b'WEFT' in body), (403, False, False), path)
        equal(started.get('/api/trace/' + number)[0], 200)
        started.end_program()
        equal(started.get('/api/trace/' + number, token=False)[0], 403)
        started.end()


@case
def a_token_comes_from_a_file():
    need_server()
    with temporary_directory() as folder:
        path = os.path.join(folder, 'token')
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='utf-8') as file:
            file.write('0123456789abcdef')
        with Run('--token-file', path) as started:
            started.process.stdout.readline()
            started.send(10)
            started.address()
            equal((started.token, started.url.query), (None, ''))  # standard error may go into a log
            started.token = '0123456789abcdef'
            equal(started.get('/api/trace/' + started.id)[0], 200)
            started.end_program()
            started.end()
        os.chmod(path, 0o644)
        result = weft('run', '--token-file', path, 'echo', 'it ran', status=125)
        assert 'chmod 600' in result.stderr and not result.stdout, result


@case
def at_a_terminal_it_is_shown_until_ctrl_c():
    need_server()
    with Run(terminal=True) as started:
        started.process.stdout.readline()
        started.send(10)
        started.address()
        started.process.stdin.close()
        started.line('Ctrl-C ends')
        let_work(started.process)
        equal(started.process.poll(), None)
        equal(started.get('/api/trace/' + started.id)[0], 200)
        started.end()


@case
def without_a_terminal_it_ends_by_itself():
    need_server()
    with Run(command=[os.path.join(BUILD, 'examples', 'hello')]) as started:
        started.address()
        equal(started.get('/api/traces')[0], 200)
        equal(status_of(started.process), 0)


@case
def the_exit_status_is_the_programs():
    with temporary_directory() as folder:
        for command, status in (('exit 7', 7), ('kill -9 $$', 137), ('exit 0', 0)):
            with Run(command=['sh', '-c', command]) as started:
                equal(status_of(started.process), status)
        with Run(command=[os.path.join(folder, 'missing')]) as started:
            equal(status_of(started.process), 127)
        with Run(command=[folder]) as started:
            equal(status_of(started.process), 126)
    with Run(command=[os.path.join(BUILD, 'tests', 'record-subject'), '5', 'exit', '9']) as started:
        started.line('describes it')
        started.end(9)


@case
def signals_reach_the_program():
    with Run() as started:
        started.process.stdout.readline()
        started.send(10)
        started.process.send_signal(signal.SIGTERM)
        started.line('describes it')
        started.end(128 + signal.SIGTERM)
        equal(len(texts(started.trace)), 10)


@case
def wrong_use_says_what_would_be_right():
    for arguments, message in (([], 'PROGRAM is missing'), (['-o', '-', 'true'], 'saves the trace in a file'),
                               (['--size', '1K', 'true'], 'the minimum is 64K'), (['--nonsense'], 'unknown option'),
                               (['--size', 'much', 'true'], 'is not a size')):
        result = weft('run', *arguments, status=2)
        assert message in result.stderr, result


# ---- weft serve --run ----

class Served(Run):
    def __init__(self, *options, **how):
        super().__init__(*options, how=('serve', '--run', '--listen', '127.0.0.1:0'), **how)


@case
def serve_prints_the_address_before_the_program_records():
    need_server()
    with Served(command=['sh', '-c', 'read line; exec ' + SUBJECT]) as started:
        started.address()
        equal(started.traces(), [])
        started.process.stdin.write('\n')
        started.process.stdin.flush()
        started.process.stdout.readline()
        started.send(100)
        trace, = started.traces()
        equal((trace['state'], trace['recorded'], 'run' in trace), ('running', 100, False))
        started.end_program()
        started.line('until Ctrl-C')
        equal([trace['name'] for trace in started.traces()], ['trace.weft'])
        started.end()


@case
def serve_ends_as_the_program_does():
    need_server()
    for command, status in ((['sh', '-c', 'exit 7'], 7), (['sh', '-c', 'kill -9 $$'], 137), (['/nowhere/x'], 127)):
        with Served('-a', 'none', command=command) as started:  # nothing was recorded, so there is nothing to serve
            equal(status_of(started.process), status)
    with Served(command=[os.path.join(BUILD, 'tests', 'record-subject'), '5', 'exit', '9']) as started:
        started.line('until Ctrl-C')
        started.end(9)


@case
def serve_passes_signals_on_while_the_program_runs():
    need_server()
    with Served() as started:
        started.process.stdout.readline()
        started.send(10)
        started.address()
        started.process.send_signal(signal.SIGTERM)
        started.line('until Ctrl-C')
        equal(len(started.traces()), 1)
        started.end(128 + signal.SIGTERM)
        equal(len(texts(started.trace)), 10)


@case
def serve_shows_the_view_that_options_ask_for():
    need_server()
    with Served('--squeeze', '--theme', 'dark') as started:
        address = started.line('http://').split()[-1]
        assert address.endswith('#trace=all&view&squeeze=on&theme=dark'), address
        started.process.stdin.close()
        started.line('weft: ')


@case
def serve_says_which_options_go_together():
    for arguments, message in ((['--run'], 'PROGRAM is missing'), (['-a', 'io', '.'], '--adapters needs --run'),
                               (['-o', 'x'], '--output needs --run'), (['--size', '64K', '.'], '--size needs --run'),
                               (['--run', '-o', '-', 'true'], 'saves the trace in a file'),
                               (['--run', '-a', 'nothing', 'true'], 'nothing')):
        result = weft('serve', *arguments, status=2)
        assert message in result.stderr, result


# ---- Windows ----

def windows():
    found = subprocess.run(['xdotool', 'search', '--onlyvisible', '--class', 'weft-gtk'], capture_output=True, text=True)
    return [Window(number) for number in found.stdout.split()]


def window(title):
    def found():
        with contextlib.suppress(subprocess.CalledProcessError):
            return next((w for w in windows() if title in w.title()), None)
    return wait_until('a window called ' + title, found)


def processes():
    """Windows are not children of ours."""
    found = []
    for number in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            with open('/proc/%s/environ' % number, 'rb') as environ:
                here = b'DISPLAY=' + os.environ['DISPLAY'].encode() in environ.read().split(b'\0')
            if here and os.path.basename(os.readlink('/proc/%s/exe' % number)) == 'weft-gtk':
                found.append(int(number))
    return found


@contextlib.contextmanager
def windows_ended():
    try:
        yield
    finally:
        for process in processes():
            os.kill(process, signal.SIGTERM)
        wait_until('the windows end', lambda: not processes())


@case
def a_window_follows_the_program_and_stays():
    with screen(), windows_ended(), Run(windows=True) as started:
        pid = int(started.process.stdout.readline())
        started.send(100)
        shown = window('follow-subject-%d' % pid)
        shown.part('label', ' 100 events · 0 tasks')
        started.send('tasks 3')
        shown.part('label', ' 3 tasks')
        started.end_program()
        equal(status_of(started.process), 0)
        equal(output('xdotool', 'getwindowname', shown.number).decode().strip(), shown.title())
        assert shown.whole().has_colors(3)


@case
def a_program_that_ended_at_once_is_shown_as_saved():
    with screen(), windows_ended(), Run(windows=True, command=[os.path.join(BUILD, 'examples', 'hello')]) as started:
        equal(status_of(started.process), 0)
        wait_until('a window', windows)
        wait_until('it is drawn', lambda: windows()[0].whole().has_colors(3))


@case
def a_browser_can_be_asked_for():
    need_server()
    with screen(), windows_ended(), Run('--browser', windows=True) as started:
        started.process.stdout.readline()
        started.send(10)
        started.address()
        equal(windows(), [])
        started.end_program()
        started.end()


@case
def a_display_that_is_none_makes_it_a_browser():
    need_server()
    if not os.path.exists(os.path.join(BUILD, 'weft-gtk')):
        skip('built without GTK 4')
    os.environ['DISPLAY'] = ':4711'
    with Run(windows=True) as started:
        started.process.stdout.readline()
        started.send(10)
        started.address()
        equal(started.get('/api/traces')[0], 200)
        started.end_program()
        started.end()


main()
