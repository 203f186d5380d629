# SPDX-License-Identifier: ISC
"""Runs programs that were not written for weft, with and without adapters: what the cases share."""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'e2e'))
from harness import WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft  # noqa: E402,F401
from waiting import communicate, wait_until  # noqa: E402

# Programs that serve often grow a little at first: memory is compared after the first load.
GROWTH_KB = 2048


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            skip('no ' + program)


def succeeds(*command, **options):
    return run(command, **options).returncode == 0


def write(path, text, mode=0o644):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)


def free_port():
    with socket.socket() as it:
        it.bind(('127.0.0.1', 0))
        return it.getsockname()[1]


class Trace:
    """A directory of traces, which opens without a diagnostic."""

    def __init__(self, folder):
        self.folder = folder
        info = weft('info', folder)
        equal(info.stderr, '')
        self.programs = {int(buffer): name for name, buffer in re.findall(r'(\S+) \d+, buffer (\d+):', info.stdout)}
        self.tasks = json_lines(weft('dump', '--json', '--tasks', folder).stdout)
        for task in self.tasks:
            task['duration'] = task['end'] - task['start']

    def named(self, pattern):
        return [task for task in self.tasks if re.fullmatch(pattern, task['label'] or '')]

    def kinds(self, kind):
        return [task for task in self.tasks if task['kind'] == kind]

    def processes(self):
        return sorted(name.rsplit('-', 1)[0] for name in os.listdir(self.folder) if name.endswith('.weft'))

    def events(self):
        return json_lines(weft('dump', '--json', self.folder).stdout)

    def notes(self):
        """The texts of all notes, without process ids."""
        return [re.sub(r' \d+$', '', event['text']) for event in self.events() if event['event'] == 'note']

    def messages(self):
        """The programs between which there are messages."""
        edges = json_lines(weft('dump', '--json', '--edges', self.folder).stdout)
        return {(self.programs[edge['from_buffer']], self.programs[edge['buffer']])
                for edge in edges if edge['edge'] == 'receive' and 'from_buffer' in edge}

    def problems(self):
        return weft('dump', '--problems', self.folder).stdout


def prefix(folder, *options):
    return [WEFT, 'record', *options, '-o', folder + '/', '--']


def environment(folder, **more):
    return dict(os.environ, XDG_RUNTIME_DIR=folder, WEFT_ADAPTERS='', **more)


def left_over(folder):
    """The entries that a run has left in the run directory."""
    runs = os.path.join(folder, 'weft')
    return os.listdir(runs) if os.path.isdir(runs) else []


def compare(command, prepare=None, plain=lambda text: text, status=0, folder=None, **more):
    """The trace of a command that does the same alone and recorded. `prepare(folder)` makes each run's folder;
    `plain` removes what differs between any two runs."""
    found = []
    for name in ('alone', 'recorded'):
        place = os.path.join(folder, name)
        os.mkdir(place)
        if prepare:
            prepare(place)
        traces = os.path.join(folder, 'traces')
        words = command if name == 'alone' else [*prefix(traces), *command]
        os.makedirs(traces, exist_ok=True)
        result = run(words, stdin=subprocess.DEVNULL, cwd=place, env=environment(folder, **more), text=False)
        found.append((result.returncode, plain(result.stdout.decode(errors='replace').replace(place, 'FOLDER'))))
    equal(found[1], found[0])
    equal(found[0][0], status, found[0][1])
    equal(left_over(folder), [])
    return Trace(os.path.join(folder, 'traces'))


# ---- Servers ----

def state_of(pid):
    """Descriptors and resident memory in kB."""
    with open('/proc/%d/status' % pid, encoding='utf-8') as file:
        memory = int(re.search(r'VmRSS:\s*(\d+)', file.read()).group(1))
    return len(os.listdir('/proc/%d/fd' % pid)), memory


def child_of(pid, program):
    """The process in which `weft record` runs the program; None: not yet."""
    with open('/proc/%d/task/%d/children' % (pid, pid), encoding='utf-8') as file:
        children = file.read().split()
    for child in children:
        with contextlib.suppress(OSError), open('/proc/%s/comm' % child, encoding='utf-8') as file:
            if os.path.basename(program).startswith(file.read().strip()):
                return int(child)
    return None


@contextlib.contextmanager
def recorded(folder, *command, stop=signal.SIGTERM, status=0, **more):
    """A server under `weft record`: its process id, and that of the recorder. It is told to stop by a signal."""
    traces = os.path.join(folder, 'traces')
    os.makedirs(traces, exist_ok=True)
    recorder = subprocess.Popen([*prefix(traces), *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                cwd=folder, env=environment(folder, **more), start_new_session=True)
    try:
        wait_until('the server', lambda: recorder.poll() is not None or child_of(recorder.pid, command[0]))
        pid = child_of(recorder.pid, command[0])
        yield pid
        os.kill(pid, stop)
        communicate(recorder)
        equal(recorder.returncode, status)
    finally:
        if recorder.poll() is None:
            os.killpg(recorder.pid, signal.SIGKILL)
            recorder.communicate()
    equal(left_over(folder), [])


def load_twice(pid, load):
    """Runs the load three times: the last one must leave no descriptor and no memory. Returns its result."""
    load()
    load()
    before = state_of(pid)
    result = load()
    wait_until('descriptors closed', lambda: state_of(pid)[0] <= before[0])
    grown = state_of(pid)[1] - before[1]
    assert grown < GROWTH_KB, 'grew by %d kB' % grown
    return result
