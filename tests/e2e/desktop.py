# SPDX-License-Identifier: ISC
"""A screen without a screen: Xvfb, and windows on it that are used as a person would, with a real
pointer and real keys, and seen as pixels."""
import contextlib
import os
import shutil
import subprocess
import time

from harness import BUILD, WEFT, skip

WAIT = 60  # seconds for what comes at once on an idle machine


def until(what, condition):
    """Waits for a true answer, and gives it."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError('in %d s not: %s' % (WAIT, what))


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
        """The share of pixels that are not nearly of the same colour."""
        assert (self.width, self.height) == (other.width, other.height)
        if self.pixels == other.pixels:
            return 0.0
        far = [abs(a - b) > 8 for a, b in zip(self.pixels, other.pixels)]
        return sum(map(max, far[0::3], far[1::3], far[2::3])) / (self.width * self.height)

    def colors(self):
        return len({self.pixels[i:i + 3] for i in range(0, len(self.pixels), 3)})

    def save(self, path):
        subprocess.run(['convert', '-size', '%dx%d' % (self.width, self.height), '-depth', '8', 'rgb:-', path],
                       input=self.pixels, check=True, timeout=WAIT)


class Window:
    def __init__(self, number):
        self.number = number

    def title(self):
        return output('xdotool', 'getwindowname', self.number).decode().strip()

    def size(self):
        lines = output('xdotool', 'getwindowgeometry', '--shell', self.number).decode().splitlines()
        values = dict(line.split('=') for line in lines)
        return int(values['WIDTH']), int(values['HEIGHT'])

    def picture(self):
        width, height = self.size()
        return Picture(width, height, output('import', '-window', self.number, '-depth', '8', 'rgb:-'))

    def still(self):
        """What it looks like when nothing moves any more."""
        seen = [self.picture()]

        def is_still():
            time.sleep(0.2)
            seen.append(self.picture())
            return seen[-1] == seen[-2] and seen[-1].colors() > 2
        until('the picture stands still', is_still)
        return seen[-1]

    def changed(self, before):
        until('the picture changes', lambda: self.picture() != before)
        return self.still()

    def keys(self, *keys):
        subprocess.run(['xdotool', 'windowfocus', '--sync', self.number, 'key', '--delay', '30', *keys],
                       check=True, timeout=WAIT)

    def mouse(self, *words):
        """xdotool's own words: move X Y, click BUTTON, down BUTTON, up BUTTON, one after another."""
        names = {'move': ['mousemove', '--window', self.number], 'click': ['click'], 'down': ['mousedown'],
                 'up': ['mouseup'], 'wait': ['sleep']}
        command = [part for word in words for part in names.get(word, [str(word)])]
        subprocess.run(['xdotool', *command], check=True, timeout=WAIT)

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

    def window(self, title):
        """The one window of that title, when it is there."""
        def found():
            with contextlib.suppress(subprocess.CalledProcessError):
                return next((w for w in self.windows() if title in w.title()), None)
        return until('a window called %s' % title, found)

    def end(self):
        out, errors = self.process.communicate(timeout=WAIT)
        return self.process.returncode, out, errors


def needs():
    """What is missing for windows, as a reason to skip; None if nothing is."""
    if not os.path.exists(os.path.join(BUILD, 'weft-gtk')):
        return 'built without GTK 4'
    for program in ('Xvfb', 'xdotool', 'import'):
        if not shutil.which(program):
            return '%s is not installed' % program
    return None


@contextlib.contextmanager
def screen(size='1600x1000'):
    """A screen of one's own; programs that are started meanwhile open their windows on it."""
    reason = needs()
    if reason:
        skip(reason)
    read, write = os.pipe()
    server = subprocess.Popen(['Xvfb', '-displayfd', str(write), '-screen', '0', size + 'x24', '-nolisten', 'tcp',
                               '-noreset'],
                              pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    before = dict(os.environ)
    with os.fdopen(read) as numbers:
        os.environ['DISPLAY'] = ':' + numbers.readline().strip()
    os.environ.pop('WAYLAND_DISPLAY', None)
    # What GTK and its libraries keep until the end is no leak of ours.
    os.environ.update(GDK_BACKEND='x11', GSK_RENDERER='cairo', GDK_SCALE='1', GTK_A11Y='none',
                      ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0')
    try:
        yield
    finally:
        server.terminate()
        server.wait()
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
