# SPDX-License-Identifier: ISC
"""Programs that hang, and looks at them by weft why."""
import contextlib
import os
import re
import signal
import subprocess
import tempfile

from harness import skip, weft
from waiting import all_processes, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = tempfile.TemporaryDirectory(prefix='weft-test-')


def compiled(subject, *flags):
    """The subject, compiled as users do. A compiler's sanitizers have functions of their own in front of libc's."""
    path = os.path.join(FOLDER.name, subject + ''.join(flags))
    if not os.path.exists(path):
        result = subprocess.run(['gcc', '-D_GNU_SOURCE', '-g', *flags, '-pthread', os.path.join(HERE, subject + '.c'), '-o', path], check=False)
        if result.returncode:
            skip('no compiler')
    return path


def children_of(pid):
    return [child for child, (parent, _) in all_processes().items() if parent == pid]


@contextlib.contextmanager
def running(*command, threads=1, children=0):
    """A program whose threads all sleep, in the calls in which they stay."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        def sleeps(pid, count):
            states = [process_state(pid, thread) for thread in os.listdir('/proc/%d/task' % pid)]
            return len(states) == count and set(states) == {'S'}
        try:
            wait_until('%s sleeps' % ' '.join(command), lambda: sleeps(process.pid, threads) and
                       len(children_of(process.pid)) == children and
                       all(sleeps(child, 1) for child in children_of(process.pid)), process)
            if not readable(process.pid):
                skip('this system does not show calls of other processes')
            yield process
        finally:
            for child in children_of(process.pid):
                os.kill(child, signal.SIGKILL)
            process.kill()


def process_state(pid, thread):
    with contextlib.suppress(OSError), open('/proc/%d/task/%s/stat' % (pid, thread), 'rb') as file:
        return file.read().rpartition(b')')[2].split()[0].decode()
    return 'X'


def caught(pid):
    """The signals for which a process has handlers."""
    with contextlib.suppress(OSError), open('/proc/%d/status' % pid, encoding='utf-8', errors='replace') as file:
        mask = int(next(line.split()[1] for line in file if line.startswith('SigCgt:')), 16)
        return {number for number in signal.valid_signals() if mask >> (number - 1) & 1}
    return set()


def readable(pid):
    with contextlib.suppress(OSError), open('/proc/%d/syscall' % pid, 'rb') as file:
        return bool(file.read(1))
    return False


def look(pid, *wanted, status=None, **patience):
    """The text of a look that has all that is wanted: a thread that sleeps may still be on its way to its last call."""
    said = []

    def is_there():
        said[:] = [weft('why', pid, status=None)]
        return all(re.search(part, said[0].stdout) for part in wanted)
    try:
        wait_until(wanted, is_there, **patience)
    except AssertionError as error:
        raise AssertionError('%s\nsaid:\n%s' % (error, said[0].stdout)) from error
    assert status in (None, said[0].returncode), said[0]
    return said[0].stdout
