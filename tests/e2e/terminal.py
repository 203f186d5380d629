# SPDX-License-Identifier: ISC
"""A terminal for tests: a pseudo-terminal, and a reader of what is written to it. It is described to programs as one that can do
little, and refuses all that it was not described to do: a name must not drive it."""
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unicodedata

from harness import equal, run, temporary_directory
from waiting import status_of, wait_until

DESCRIPTION = r"""weft-test|a terminal of tests,
	am, cols#80, lines#24, clear=\E[H\E[J, cup=\E[%i%p1%d;%p2%dH, cr=\r, cub1=\b, ind=\n, el=\E[K,
	rev=\E[7m, bold=\E[1m, dim=\E[2m, smul=\E[4m, sgr0=\E[m, smcup=\E[?1049h, rmcup=\E[?1049l, civis=\E[?25l, cnorm=\E[?25h,
	kcuu1=\E[A, kcud1=\E[B, kcuf1=\E[C, kcub1=\E[D, khome=\E[H, kend=\E[F, kpp=\E[5~, knp=\E[6~, kbs=\177,
"""
KEYS = {'up': '\x1b[A', 'down': '\x1b[B', 'right': '\x1b[C', 'left': '\x1b[D', 'home': '\x1b[H', 'end': '\x1b[F', 'page down': '\x1b[6~',
        'page up': '\x1b[5~', 'escape': '\x1b', 'enter': '\r', 'backspace': '\x7f'}
SEQUENCE = re.compile(r'\x1b\[(?:(\d+);(\d+)H|(H)|(J)|(K)|([0-9;]*)m|(\?(?:1049|25)[hl]))')


def columns_of(character):
    return 2 if unicodedata.east_asian_width(character) in 'WF' else 0 if unicodedata.combining(character) else 1


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *command, lines=24, columns=80, env=None):
        self.folder = temporary_directory()
        self.describe()
        self.keeper, self.terminal = pty.openpty()
        self.lines, self.columns = lines, columns
        self.clear()
        self.bytes, self.text, self.modes = b'', '', set()
        self.set_size()
        self.before = termios.tcgetattr(self.terminal)
        os.set_blocking(self.keeper, False)
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=self.terminal, stdout=self.terminal, stderr=self.terminal, start_new_session=True,
            preexec_fn=self.control, env={**os.environ, 'TERM': 'weft-test', 'TERMINFO': self.folder.name, 'LC_ALL': 'C.UTF-8', **(env or {})})

    def describe(self):
        path = os.path.join(self.folder.name, 'description')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(DESCRIPTION)
        equal(run(['tic', '-x', '-o', self.folder.name, path]).returncode, 0, 'tic')

    def control(self):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)

    def set_size(self):
        fcntl.ioctl(self.keeper, termios.TIOCSWINSZ, struct.pack('HHHH', self.lines, self.columns, 0, 0))

    def resize(self, lines, columns):
        self.read()
        self.lines, self.columns = lines, columns
        self.clear()
        self.set_size()

    def clear(self):
        self.cells = [[' '] * self.columns for _ in range(self.lines)]
        self.looks = [[''] * self.columns for _ in range(self.lines)]
        self.row = self.column = 0
        self.look = ''

    # ---- Reading ----

    def read(self):
        """Takes all that was written so far."""
        with contextlib.suppress(BlockingIOError, OSError):
            while piece := os.read(self.keeper, 65536):
                self.bytes += piece
        text = self.bytes.decode(errors='ignore')
        self.bytes = self.bytes[len(text.encode()):]
        self.text += text
        while self.text and self.take():
            pass

    def take(self):
        """False if the rest of a sequence is missing."""
        if self.text[0] != '\x1b':
            self.put(self.text[0])
            self.text = self.text[1:]
            return True
        found = SEQUENCE.match(self.text)
        if not found:
            assert re.fullmatch(r'\x1b(\[[?0-9;]*)?', self.text), 'an unknown sequence: %r' % self.text[:20]
            return False
        self.text = self.text[found.end():]
        row, column, home, down, right, look, mode = found.groups()
        if row or home:
            self.row, self.column = int(row or 1) - 1, int(column or 1) - 1
        elif down or right:
            for line in range(self.row, self.lines if down else self.row + 1):
                first = self.column if line == self.row else 0
                self.cells[line][first:] = [' '] * (self.columns - first)
                self.looks[line][first:] = [''] * (self.columns - first)
        elif look is not None:
            self.look = look if look else ''
        elif mode:
            (self.modes.add if mode[-1] == 'h' else self.modes.discard)(mode[:-1])
        return True

    def put(self, character):
        if character == '\r':
            self.column = 0
        elif character == '\n':
            self.row = min(self.row + 1, self.lines - 1)
        elif character == '\b':
            self.column = max(self.column - 1, 0)
        else:
            assert character.isprintable(), 'a control character: %r' % character
            width = columns_of(character)
            if width == 0 or self.row >= self.lines:
                return
            if self.column + width > self.columns:
                self.row, self.column = min(self.row + 1, self.lines - 1), 0
            for i in range(width):
                self.cells[self.row][self.column + i] = '' if i else character
                self.looks[self.row][self.column + i] = self.look
            self.column += width

    def shown(self):
        """The lines, without blanks at their ends."""
        self.read()
        return [''.join(line).rstrip() for line in self.cells]

    def selected(self):
        """The line that is highlighted, but for the last one."""
        lines = self.shown()
        return ' '.join(line.strip() for line, looks in zip(lines[:-1], self.looks) if any('7' in look for look in looks))

    # ---- Using ----

    def press(self, *keys):
        """Characters, or names of keys."""
        for key in keys:
            os.write(self.keeper, KEYS.get(key, key).encode())

    def wait(self, what, condition):
        """Waits until the lines that are shown fulfil a condition; returns its value."""
        return wait_until(what, lambda: condition(self.shown()), self.process, seen=lambda: '\n'.join(self.shown()), processor=60)

    def wait_for(self, text):
        """The line that has the text."""
        return self.wait(text, lambda lines: next((line for line in lines if text in line), None))

    def end(self):
        """(how it ended, whether the terminal is as it was before)"""
        def has_ended():
            self.read()  # a full terminal would make it wait
            return self.process.poll() is not None
        wait_until('its end', has_ended, self.process, processor=60)
        self.read()
        is_restored = termios.tcgetattr(self.terminal) == self.before and not self.modes & {'?1049'}
        return status_of(self.process), is_restored

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.keeper)
        os.close(self.terminal)
        self.folder.cleanup()


