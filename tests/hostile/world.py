# SPDX-License-Identifier: ISC
"""A hostile program, its ring, and a directory for all output."""
import contextlib
import fcntl
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from operation import Limits, Operation

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))
from harness import BUILD, WEFT  # noqa: E402

WRITER = os.path.join(BUILD, 'tests', 'hostile-writer')
RING_SIZES = (65536, 65536, 65536, 131072, 131072, 1 << 20, 1 << 20, 1 << 24)

SANITIZERS = dict(
    # Less is kept of what was freed, so that the memory that a command takes can be judged.
    ASAN_OPTIONS='detect_leaks=1:abort_on_error=0:exitcode=99:quarantine_size_mb=16:max_allocation_size_mb=2048',
    UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1:exitcode=99')


def is_sanitized():
    with open(WEFT, 'rb') as program:
        return b'__asan_init' in program.read()


SANITIZED = is_sanitized()


class World:
    """One round: a writer with a seed, and what runs beside it. Faults are collected."""

    def __init__(self, seed, mode, seconds):
        self.seed, self.mode, self.seconds = seed, mode, seconds
        self.random = random.Random(seed)
        self.size = self.random.choice(RING_SIZES)
        self.limits = Limits(SANITIZED, self.size)
        self.faults = []
        self.count = self.memory = 0
        self.folder = tempfile.mkdtemp(prefix='weft-hostile-')
        self.run_directory = os.path.join(self.folder, 'run', 'weft', 'record-attack') + '/'
        os.makedirs(self.run_directory, 0o700)
        for path in ('run', 'run/weft'):
            os.chmod(os.path.join(self.folder, path), 0o700)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=os.path.join(self.folder, 'run'), **SANITIZERS)
        for variable in ('WEFT_OUT', 'WEFT_SIZE', 'WEFT_LEVEL', 'WEFT_CATEGORIES'):
            self.env.pop(variable, None)
        self.program = self.lock = None
        self.operations = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for operation in self.operations:
            if not operation.has_ended():
                operation.process.kill()
                operation.finish()
        with contextlib.suppress(ProcessLookupError):
            if self.program and self.program.poll() is None:
                self.program.kill()
        if self.program:
            self.program.wait()
            self.program.stdout.close()
        if self.lock is not None:
            os.close(self.lock)
        shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def writer_command(self):
        return [WRITER, self.mode, '%.2f' % self.seconds, str(self.seed)]

    def start_writer(self, waits=False):
        """Starts the writer in a run directory, locked as weft record locks it. With `waits` it damages nothing until
        begin()."""
        self.lock = os.open(self.run_directory, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self.lock, fcntl.LOCK_SH)
        env = dict(self.env, WEFT_OUT=self.run_directory, WEFT_SIZE=str(self.size))
        command = self.writer_command() + ['wait'] * waits
        self.program = subprocess.Popen(command, stdout=subprocess.PIPE, env=env, cwd=self.folder)
        line = self.program.stdout.readline()
        assert line == b'ready\n', 'the writer did not begin: %r' % line
        return self.program.pid

    def begin(self):
        os.kill(self.pid, signal.SIGTERM)

    def until(self, condition, seconds=5):
        """Waits until the condition is true, at most that many seconds."""
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            time.sleep(0.02)

    @property
    def pid(self):
        return self.program.pid

    @property
    def ring(self):
        path, = glob.glob(self.run_directory + '*-%d.weft' % self.pid)
        return path

    def writes(self):
        """True while the writer runs."""
        return self.program.poll() is None

    def start(self, *words, program=WEFT, limits=None, **options):
        """Begins a command of weft."""
        self.count += 1
        self.operations.append(
            Operation([program, *words], self.folder, limits or self.limits, env=self.env, **options))
        return self.operations[-1]

    def finish(self, *operations):
        for operation in operations:
            self.faults += operation.finish()
            self.memory = max(self.memory, operation.share_of_memory())

    def run(self, *words, **options):
        """A command of weft to its end; its status."""
        operation = self.start(*words, **options)
        self.finish(operation)
        return operation.status

    def last(self, *operations, stop=signal.SIGINT):
        """Lasting commands beside the writer, until that has ended; then they are asked to end."""
        while self.writes() and not all([operation.has_ended() for operation in operations]):
            time.sleep(0.02)
        time.sleep(self.random.random() / 4)
        for operation in operations:
            operation.ask_to_end(stop)
        self.finish(*operations)

    def copy_ring(self, name):
        """A copy of the ring as it is now, as cp would make it; None if there is none."""
        path = self.file(name)
        with contextlib.suppress(OSError, ValueError), open(self.ring, 'rb') as ring, open(path, 'wb') as copy:
            copy.write(ring.read(2 * self.size))
        return path if os.path.exists(path) and os.path.getsize(path) else None
