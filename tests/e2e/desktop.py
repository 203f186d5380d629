# SPDX-License-Identifier: ISC
"""Windows on a virtual screen, used with a real pointer and real keys, and compared as pixels."""
import atexit
import contextlib
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

from display import Display
from harness import BUILD, WEFT, run, skip
from waiting import communicate, wait_until


def output(*command):
    result = run(command, text=False)
    result.check_returncode()
    return result.stdout


def xdotool(*words):
    output('xdotool', *words)


def is_runnable(process):
    """True if a thread of it runs, or would on another processor."""
    states = []
    for path in glob.glob('/proc/%d/task/*/stat' % process):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path, encoding='utf-8', errors='replace') as file:
            states.append(file.read().rpartition(')')[2].split()[0])
    return 'R' in states


class Picture:
    """Pixels of a part of the screen, or of a PNG file."""

    def __init__(self, width, height, raw, pixel_bytes=3):
        self.width, self.height, self.raw, self.pixel_bytes = width, height, raw, pixel_bytes
        assert len(raw) == pixel_bytes * width * height, (width, height, len(raw))

    @staticmethod
    def of_file(path):
        width, height = output('identify', '-format', '%w %h', path).split()
        return Picture(int(width), int(height), output('convert', path, '-depth', '8', 'rgb:-'))

    @functools.cached_property
    def pixels(self):
        """Red, green and blue of each pixel, one byte each."""
        if self.pixel_bytes == 3:
            return self.raw
        pixels = bytearray(3 * self.width * self.height)
        pixels[0::3], pixels[1::3], pixels[2::3] = self.raw[2::4], self.raw[1::4], self.raw[0::4]
        return bytes(pixels)

    def __eq__(self, other):
        if (self.width, self.height) != (other.width, other.height):
            return False
        return self.raw == other.raw or self.pixels == other.pixels

    def part(self, x, y, width, height):
        size = self.pixel_bytes
        rows = (self.raw[size * (row * self.width + x):size * (row * self.width + x + width)]
                for row in range(y, y + height))
        return Picture(width, height, b''.join(rows), size)

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
        for i in range(0, len(self.raw), self.pixel_bytes):
            seen.add(self.raw[i:i + 3])
            if len(seen) >= least:
                return True
        return False

    def save(self, path):
        run(['convert', '-size', '%dx%d' % (self.width, self.height), '-depth', '8', 'rgb:-', path],
            input=self.pixels, text=False).check_returncode()


class Window:
    def __init__(self, number):
        self.number = number
        self.box = self.frame = None  # found with the first picture

    def title(self):
        return output('xdotool', 'getwindowname', self.number).decode().strip()

    def place(self):
        """Its left, top, width and height on the screen."""
        lines = output('xdotool', 'getwindowgeometry', '--shell', self.number).decode().splitlines()
        values = dict(line.split('=') for line in lines)
        return [int(values[name]) for name in ('X', 'Y', 'WIDTH', 'HEIGHT')]

    @functools.cached_property
    def program(self):
        return int(output('xdotool', 'getwindowpid', self.number))

    def waits_for_processor(self):
        return any(is_runnable(process) for process in (self.program, Display.current.server))

    def size(self):
        return tuple(self.place()[2:])

    def whole(self):
        return self.shown(0, 0, *self.size())

    def shown(self, x, y, width, height):
        """The pixels of this part of the window, as the screen shows them."""
        left, top = self.place()[:2]
        return Picture(width, height, Display.current.part(left + x, top + y, width, height), 4)

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
        names = []

        def found():
            parts = [p for p in self.parts() if p['role'] == role]
            names[:] = [p['name'] for p in parts]
            return next((p for p in parts if name in p['name']), None)
        try:
            return wait_until('a part of the window', found)
        except AssertionError as error:
            raise AssertionError('%s: %s %s; there are: %s' % (error, role, name, names)) from None

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
        return self.shown(*self.box)

    def still(self):
        """The picture once nothing moves any more. On a busy machine it also stays the same while the program waits for a
        processor."""
        seen = []

        def is_still():
            seen.append(None if self.waits_for_processor() else self.picture())
            return len(seen) > 1 and all(seen[-2:]) and seen[-1] == seen[-2] and seen[-1].has_colors(3)
        wait_until('the picture stands still', is_still, processor=80, pause=0.2)
        return seen[-1]

    def changed(self, before):
        wait_until('the picture changes', lambda: self.picture() != before)
        return self.still()

    def keys(self, *keys):
        xdotool('windowfocus', '--sync', self.number, 'key', '--delay', '30', *keys)

    def press(self, name):
        """The button whose name has these words, with the pointer."""
        x, y, width, height = self.part('push button', name)['box']
        self.picture()
        left, top = self.frame
        xdotool('mousemove', '--window', self.number, str(x + left + width // 2), str(y + top + height // 2), 'click', '1')

    def write(self, text, *keys):
        """Types text into the focused widget, then these keys."""
        xdotool('type', '--delay', '30', text)
        if keys:
            xdotool('key', *keys)

    def fill(self, name, text):
        """Types text into the entry with that name, again if some keys were lost: on a busy machine an entry may be shown before
        it takes keys."""
        def is_filled():
            if self.part('entry', name)['text'] != text:
                self.keys('ctrl+a')
                self.write(text)
            return self.part('entry', name)['text'] == text
        wait_until('the text %r' % text, is_filled, pause=1)

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
        wait_until('the file', is_saved, pause=5)

    def mouse(self, *words):
        """One after another: move X Y (in the picture), click BUTTON, down BUTTON, up BUTTON, wait S."""
        self.picture()
        names = {'move': 'mousemove', 'click': 'click', 'down': 'mousedown', 'up': 'mouseup', 'wait': 'sleep'}
        command, words = [], list(words)
        while words:
            word = words.pop(0)
            command.append(names[word])
            if word == 'move':
                command += ['--window', self.number, str(words.pop(0) + self.box[0]), str(words.pop(0) + self.box[1])]
            else:
                command.append(str(words.pop(0)))
        xdotool(*command)

    def close(self):
        self.keys('ctrl+w')


class Program:
    """weft view, and its windows."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen([WEFT, 'view', *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, errors='replace', **options)

    def windows(self):
        found = run(['xdotool', 'search', '--onlyvisible', '--class', 'weft-gtk'])
        assert self.process.poll() is None, self.process.communicate()
        return [Window(number) for number in sorted(found.stdout.split(), key=int)]

    def find(self, title):
        """The window with that title; None if there is none yet."""
        with contextlib.suppress(subprocess.CalledProcessError):
            return next((w for w in self.windows() if title in w.title()), None)

    def window(self, title):
        """The only window with that title, once it exists."""
        return wait_until('a window called %s' % title, lambda: self.find(title))

    def end(self):
        out, errors = communicate(self.process)
        assert not re.search(r'-(WARNING|CRITICAL) \*\*', errors), errors  # of GTK and its libraries
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
    for command in ('Xvfb', 'xdotool', 'convert', 'dbus-daemon'):
        if not shutil.which(command):
            return '%s is not installed' % command
    if not os.path.exists('/usr/share/dbus-1/services/org.a11y.Bus.service'):
        return 'at-spi2-core is not installed'
    bindings = 'import gi; gi.require_version("Atspi", "2.0")'
    if subprocess.run(['/usr/bin/python3', '-c', bindings], stderr=subprocess.DEVNULL).returncode:
        return 'python3-gi or gir1.2-atspi-2.0 is not installed'
    return None


def are_windows_gone():
    return not run(['xdotool', 'search', '--onlyvisible', '--name', '.']).stdout


@contextlib.contextmanager
def screen(size='1600x1000'):
    """A screen without windows and an empty home; programs that are started meanwhile open their windows on it. After a
    failure the next case gets another display."""
    reason = needs()
    if reason:
        skip(reason)
    before = dict(os.environ)
    try:
        with tempfile.TemporaryDirectory(prefix='weft-home-', ignore_cleanup_errors=True) as home:
            for variable in ('WAYLAND_DISPLAY', 'GTK_A11Y', 'GTK_THEME', 'AT_SPI_BUS_ADDRESS'):
                os.environ.pop(variable, None)
            # Memory that GTK and its libraries keep until the end is not a leak of ours.
            os.environ.update(HOME=home, XDG_RUNTIME_DIR=home, XDG_DATA_HOME=home, XDG_CONFIG_HOME=home,
                              XDG_CACHE_HOME=home, GDK_BACKEND='x11', GSK_RENDERER='cairo', GDK_SCALE='1',
                              GSETTINGS_BACKEND='memory',
                              ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0')
            os.environ.update(Display.use(size).environment)
            width, height = map(int, size.split('x'))
            xdotool('mousemove', str(width // 2), str(height // 2))
            yield
            wait_until('the windows are gone', are_windows_gone)
    except BaseException:
        if Display.current:
            Display.current.end()
        raise
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
