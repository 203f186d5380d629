# SPDX-License-Identifier: ISC
"""Cases as functions, results as TAP: what the end-to-end tests share.

    from harness import case, main, weft, skip
    @case
    def dump_counts_events(): ...
    main()
"""
import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback

from waiting import LONGEST_PAUSE, WORK, GaveUp, Patience, communicate

SOURCE = os.environ.get('WEFT_SOURCE') or os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
BUILD = os.environ.get('WEFT_BUILD') or os.path.join(SOURCE, 'build')
WEFT = os.path.join(BUILD, 'weft')
DATA = os.path.join(SOURCE, 'tests', 'data')
# Fontconfig keeps memory until a program ends. Pango loads fonts in a thread, also if nothing is drawn.
os.environ['LSAN_OPTIONS'] = ('print_suppressions=0:suppressions='
                              + os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fontconfig.supp'))

_cases = []


# Tests of adapters choose them; the others are about programs that call libweft.
os.environ.setdefault('WEFT_ADAPTERS', 'none')


class Skip(Exception):
    pass


def skip(reason):
    raise Skip(reason)


def case(function):
    _cases.append(function)
    return function


def run(args, input=None, processor=WORK, cwd=None, env=None, text=True, umask=-1, stdin=None):
    """Runs a command to its end; the result has .returncode, .stdout, .stderr. Gives up once it has used that many seconds of
    processor time."""
    args = [str(word) for word in args]
    with subprocess.Popen(args, stdin=stdin if input is None else subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          cwd=cwd, env=dict(os.environ, **(env or {})), text=text, errors='replace' if text else None,
                          umask=umask) as process:
        try:
            output, errors = communicate(process, input, processor)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(args, process.returncode, output, errors)


# Commands that only read traces: they need no process of their own, which would take most of their time.
READERS = {'cut', 'dump', 'export', 'info', 'render', 'stats', 'why'}


class Zygote:
    """A weft that runs one command after the other, each in a child: see zygote.c. It is started again when the environment
    has changed."""
    PRELOADED = os.path.join(BUILD, 'tests', 'zygote.so')
    current = None

    def __init__(self):
        self.environment = dict(os.environ)
        self.socket, other = socket.socketpair()
        with other:
            self.process = subprocess.Popen(
                [WEFT], pass_fds=[other.fileno()], stdin=subprocess.DEVNULL,
                env=dict(self.environment, LD_PRELOAD=self.PRELOADED, WEFT_ZYGOTE=str(other.fileno())))

    def end(self):
        self.socket.close()
        self.process.wait()

    def run(self, args, processor=WORK):
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as errors:
            words = [os.getcwd(), out.name, errors.name, *args]
            request = b''.join(os.fsencode(word) + b'\0' for word in words)
            self.socket.sendall(struct.pack('I', len(request)) + request)
            patience = Patience('the end of %s' % args, self.process, processor=processor)
            try:
                while not select.select([self.socket], [], [], LONGEST_PAUSE)[0]:
                    patience.look()
            except GaveUp:
                Zygote.current = None
                self.process.kill()  # and so its child
                raise
            answer = self.socket.recv(4)
            assert answer, 'the zygote ended'
            status = os.waitstatus_to_exitcode(*struct.unpack('I', answer))
            texts = [file.read().decode(errors='replace') for file in (out, errors)]
            return subprocess.CompletedProcess(args, status, *map(as_text, texts))


def as_text(text):
    return text.replace('\r\n', '\n').replace('\r', '\n')  # as subprocess does


def run_reader(args, processor=WORK):
    """The same as run(), in a fraction of the time."""
    zygote = Zygote.current
    if zygote and zygote.environment != dict(os.environ):
        zygote.end()
        zygote = None
    if not zygote:
        Zygote.current = Zygote()
        atexit.register(Zygote.current.end)
    return Zygote.current.run(args, processor)


def weft(*args, status=0, **options):
    """Runs weft and checks its exit status; None accepts any."""
    is_simple = args and args[0] in READERS and not set(options) - {'processor'} and os.path.exists(Zygote.PRELOADED)
    result = (run_reader if is_simple else run)([str(word) for word in (WEFT, *args)], **options)
    if status is not None and result.returncode != status:
        raise AssertionError('weft %s: exit %d, expected %d\n%s' % (
            ' '.join(map(str, args)), result.returncode, status, result.stderr))
    return result


def picture_formats():
    """The formats that this build of `weft render` can write; prints those that are left out."""
    formats, trace = ['svg'], os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
    for name in ('png', 'pdf', 'html'):
        with temporary_directory() as folder:
            result = run([WEFT, 'render', trace, '-o', os.path.join(folder, 'picture.' + name)])
        if result.returncode and 'built without' in result.stderr:
            print('# no %s: %s' % (name, result.stderr.strip().splitlines()[0]), flush=True)
        else:
            formats.append(name)
    return formats


def build_option(name):
    """The value of a Meson option in this build."""
    with open(os.path.join(BUILD, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as file:
        return next(option['value'] for option in json.load(file) if option['name'] == name)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def ring_lines(text, folder):
    """The lines of `weft ls --json` that are rings below the folder: other tests, and programs of this machine, have some, too."""
    return [line for line in json_lines(text) if line['state'] != 'linked' and line['path'].startswith(folder + os.sep)]


def temporary_directory():
    return tempfile.TemporaryDirectory(prefix='weft-test-')


def equal(got, expected, what=''):
    if got != expected:
        raise AssertionError('%s: got %r, expected %r' % (what or 'values differ', got, expected))


def heed_signals():
    """Programs inherit which signals are ignored: nohup ignores SIGHUP, and a shell SIGINT and SIGQUIT for what it starts
    with `&`. Then Ctrl-C would end nothing that a test starts."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def main():
    heed_signals()
    only = sys.argv[1:]
    cases = [c for c in _cases if not only or c.__name__ in only]
    print('1..%d' % len(cases))
    failed = False
    for number, function in enumerate(cases, 1):
        try:
            function()
            print('ok %d - %s' % (number, function.__name__), flush=True)
        except Skip as reason:
            print('ok %d - %s # SKIP %s' % (number, function.__name__, reason), flush=True)
        except Exception:
            failed = True
            print('not ok %d - %s' % (number, function.__name__), flush=True)
            for line in traceback.format_exc().splitlines():
                print('# ' + line, flush=True)
    sys.exit(1 if failed else 0)
