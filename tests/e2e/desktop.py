# SPDX-License-Identifier: ISC
"""A virtual screen (Xvfb) with windows that are used with a real pointer and real keys, and compared as pixels."""
import atexit
import contextlib
import functools
import json
import os
import shutil
import subprocess
import tempfile
import time

from harness import BUILD, WEFT, skip

WAIT = 60  # seconds for things that happen at once on an idle machine


def until(what, condition, wait=WAIT, pause=None):
    """Waits until the condition gives a true value, and returns that. Tests it after each pause, by default less often if
    testing it takes long."""
    end = time.monotonic() + wait
    while time.monotonic() < end:
        began = time.monotonic()
        result = condition()
        if result:
            return result
        time.sleep(pause or max(0.05, 2 * (time.monotonic() - began)))
    raise AssertionError('in %d s not: %s' % (wait, what))


def output(*command):
    return subprocess.run(command, capture_output=True, check=True, timeout=WAIT).stdout


class Picture:
    """Pixels of a part of the screen, or of a PNG file."""

    def __init__(self, width, height, pixels):
        self.width, self.height, self.pixels = width, height, pixels
        assert len(pixels) == 3 * width * height, (width, height, len(pixels))

    @staticmethod
    def of_file(path):
        width, height = output('identify', '-format', '%w %h', path).split()
        return Picture(int(width), int(height), output('convert', path, '-depth', '8', 'rgb:-'))

    def __eq__(self, other):
        return (self.width, self.height, self.pixels) == (other.width, other.height, other.pixels)

    def part(self, x, y, width, height):
        rows = (self.pixels[3 * (row * self.width + x):3 * (row * self.width + x + width)]
                for row in range(y, y + height))
        return Picture(width, height, b''.join(rows))

    def difference(self, other):
        """The share of pixels whose colours differ noticeably."""
        assert (self.width, self.height) == (other.width, other.height)
        if self.pixels == other.pixels:
            return 0.0
        count = 0
        for at in range(0, len(self.pixels), 3 * self.width):
            a, b = self.pixels[at:at + 3 * self.width], other.pixels[at:at + 3 * self.width]
            if a != b:
                far = [abs(one - two) > 8 for one, two in zip(a, b)]
                count += sum(map(max, far[0::3], far[1::3], far[2::3]))
        return count / (self.width * self.height)

    def has_colors(self, least):
        """True if there are at least this many different colours: most pictures show them in their first rows."""
        seen = set()
        for i in range(0, len(self.pixels), 3):
            seen.add(self.pixels[i:i + 3])
            if len(seen) >= least:
                return True
        return False

    def save(self, path):
        subprocess.run(['convert', '-size', '%dx%d' % (self.width, self.height), '-depth', '8', 'rgb:-', path],
                       input=self.pixels, check=True, timeout=WAIT)


class Window:
    def __init__(self, number):
        self.number = number
        self.box = self.frame = None  # found with the first picture

    def title(self):
        return output('xdotool', 'getwindowname', self.number).decode().strip()

    def size(self):
        lines = output('xdotool', 'getwindowgeometry', '--shell', self.number).decode().splitlines()
        values = dict(line.split('=') for line in lines)
        return int(values['WIDTH']), int(values['HEIGHT'])

    def whole(self):
        width, height = self.size()
        return Picture(width, height, output('import', '-window', self.number, '-depth', '8', 'rgb:-'))

    def parts(self):
        """Its widgets, as a screen reader gets them."""
        def flat(widgets):
            for widget in widgets:
                yield widget
                yield from flat(widget['children'])
        title = self.title()
        return list(flat(w for w in Accessible.ask() if w['name'] == title))

    def part(self, role, name=''):
        """The widget with this role and these words in its name, once it exists."""
        def found():
            return next((p for p in self.parts() if p['role'] == role and name in p['name']), None)
        return until('a part of the window: %s %s' % (role, name), found)

    def status(self):
        return self.part('image')['description']

    def picture(self):
        """The viewer's drawing: all but the header bar and the frame."""
        if self.box is None:
            width, height = self.size()
            box = self.part('image')['box']
            # The frame is as wide at the bottom as at the left.
            edge = (width - box[2]) // 2
            self.box = edge, height - edge - box[3], box[2], box[3]
            self.frame = self.box[0] - box[0], self.box[1] - box[1]  # widgets' boxes are from within it
        return self.whole().part(*self.box)

    def still(self):
        """The picture once nothing moves any more."""
        seen = []

        def is_still():
            seen.append(self.picture())
            return len(seen) > 1 and seen[-1] == seen[-2] and seen[-1].has_colors(3)
        until('the picture stands still', is_still, pause=0.2)
        return seen[-1]

    def changed(self, before):
        until('the picture changes', lambda: self.picture() != before)
        return self.still()

    def keys(self, *keys):
        subprocess.run(['xdotool', 'windowfocus', '--sync', self.number, 'key', '--delay', '30', *keys],
                       check=True, timeout=WAIT)

    def press(self, name):
        """The button whose name has these words, with the pointer."""
        x, y, width, height = self.part('push button', name)['box']
        self.picture()
        left, top = self.frame
        subprocess.run(['xdotool', 'mousemove', '--window', self.number, str(x + left + width // 2),
                        str(y + top + height // 2), 'click', '1'], check=True, timeout=WAIT)

    def write(self, text, *keys):
        """Types text into the focused widget, then these keys."""
        subprocess.run(['xdotool', 'type', '--delay', '30', text], check=True, timeout=WAIT)
        if keys:
            subprocess.run(['xdotool', 'key', *keys], check=True, timeout=WAIT)

    def save_as(self, path):
        """Answers a dialog that asks for a file's name, again if nothing comes of it: on a busy machine a dialog may be
        shown before it takes keys. Waits for the file."""
        def is_saved():
            if os.path.exists(path):
                return True
            try:
                self.keys('ctrl+a')
                self.write(path, 'Return')
            except subprocess.CalledProcessError:
                pass  # the dialog has been closed: the file is being written
            return os.path.exists(path)
        until('the file', is_saved, pause=5)

    def mouse(self, *words):
        """One after another: move X Y (in the picture), click BUTTON, down BUTTON, up BUTTON, wait S."""
        self.picture()
        names = {'move': 'mousemove', 'click': 'click', 'down': 'mousedown', 'up': 'mouseup', 'wait': 'sleep'}
        command, words = ['xdotool'], list(words)
        while words:
            word = words.pop(0)
            command.append(names[word])
            if word == 'move':
                command += ['--window', self.number, str(words.pop(0) + self.box[0]), str(words.pop(0) + self.box[1])]
            else:
                command.append(str(words.pop(0)))
        subprocess.run(command, check=True, timeout=WAIT)

    def close(self):
        self.keys('ctrl+w')


class Program:
    """weft view, and its windows."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen([WEFT, 'view', *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, errors='replace', **options)

    def windows(self):
        found = subprocess.run(['xdotool', 'search', '--onlyvisible', '--class', 'weft-gtk'],
                               capture_output=True, text=True, timeout=WAIT)
        assert self.process.poll() is None, self.process.communicate()
        return [Window(number) for number in sorted(found.stdout.split(), key=int)]

    def find(self, title):
        """The window with that title; None if there is none yet."""
        with contextlib.suppress(subprocess.CalledProcessError):
            return next((w for w in self.windows() if title in w.title()), None)

    def window(self, title):
        """The only window with that title, once it exists."""
        return until('a window called %s' % title, lambda: self.find(title))

    def end(self):
        out, errors = self.process.communicate(timeout=WAIT)
        return self.process.returncode, out, errors


class Accessible:
    """accessible.py, one for all cases: starting it takes as long as an answer."""
    process = None

    @classmethod
    def ask(cls):
        if not cls.process:
            path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'accessible.py')
            cls.process = subprocess.Popen(['/usr/bin/python3', '-W', 'ignore', path], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True)
            atexit.register(cls.process.communicate)  # it ends with its input
        print(json.dumps({'program': 'weft-gtk', 'environment': dict(os.environ)}), file=cls.process.stdin, flush=True)
        answer = json.loads(cls.process.stdout.readline())
        assert answer is not None, 'accessible.py failed'
        return answer


@functools.cache
def needs():
    """The reason to skip tests with windows: what is missing for them; None if nothing is."""
    if not os.path.exists(os.path.join(BUILD, 'weft-gtk')):
        return 'built without GTK 4'
    for command in ('Xvfb', 'xdotool', 'import', 'dbus-daemon'):
        if not shutil.which(command):
            return '%s is not installed' % command
    if not os.path.exists('/usr/share/dbus-1/services/org.a11y.Bus.service'):
        return 'at-spi2-core is not installed'
    bindings = 'import gi; gi.require_version("Atspi", "2.0")'
    if subprocess.run(['/usr/bin/python3', '-c', bindings], stderr=subprocess.DEVNULL).returncode:
        return 'python3-gi or gir1.2-atspi-2.0 is not installed'
    return None


def server(command):
    """Starts a server that writes its address to a pipe, whose number is passed to the command."""
    read, write = os.pipe()
    process = subprocess.Popen(command(write), pass_fds=[write], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as lines:
        return process, lines.readline().strip()


@contextlib.contextmanager
def ended(servers):
    """Ends the servers of the list, the last one first, when the block ends."""
    try:
        yield
    finally:
        for process in reversed(servers):
            process.terminate()
            process.wait()


@contextlib.contextmanager
def screen(size='1600x1000', **environment):
    """A separate screen; programs that are started meanwhile open their windows on it."""
    reason = needs()
    if reason:
        skip(reason)
    before, servers = dict(os.environ), []
    try:
        with tempfile.TemporaryDirectory(prefix='weft-home-', ignore_cleanup_errors=True) as home, ended(servers):
            for variable in ('WAYLAND_DISPLAY', 'GTK_A11Y', 'GTK_THEME', 'AT_SPI_BUS_ADDRESS'):
                os.environ.pop(variable, None)
            # Memory that GTK and its libraries keep until the end is not a leak of ours.
            os.environ.update(HOME=home, XDG_RUNTIME_DIR=home, XDG_DATA_HOME=home, XDG_CONFIG_HOME=home,
                              XDG_CACHE_HOME=home, GDK_BACKEND='x11', GSK_RENDERER='cairo', GDK_SCALE='1',
                              GSETTINGS_BACKEND='memory',
                              ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0')
            os.environ.update(environment)
            process, number = server(lambda pipe: ['Xvfb', '-displayfd', str(pipe), '-screen', '0', size + 'x24',
                                                   '-nolisten', 'tcp', '-noreset'])
            servers.append(process)
            os.environ['DISPLAY'] = ':' + number
            process, address = server(lambda pipe: ['dbus-daemon', '--session', '--nofork',
                                                    '--print-address=%d' % pipe])
            servers.append(process)
            os.environ['DBUS_SESSION_BUS_ADDRESS'] = address
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def program(*arguments, **options):
    """weft view of these, ended at the end."""
    started = Program(*arguments, **options)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.terminate()
        started.process.communicate()
