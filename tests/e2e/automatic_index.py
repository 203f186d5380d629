# SPDX-License-Identifier: ISC
"""Checkpoints that nobody asked for: the first command that reads all of a large trace leaves them beside it, and nothing of that
changes its answer."""
import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess

from harness import BUILD, DATA, WEFT, case, equal, main, run, skip, temporary_directory, weft
from waiting import status_of, wait_until

UNENDED = os.path.join(DATA, 'recorded', 'threads-stream.weft')
RING = os.path.join(DATA, 'recorded', 'echo-server.weft')
LEAST = {'WEFT_INDEX': '10K'}


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def index_of(trace):
    return trace + '.weft-index'


def copy_small(folder):
    """A ring whose program has ended. It has no checkpoint, but a file that says so: it counts as large with LEAST."""
    path = os.path.join(folder, 'small.weft')
    run([WEFT, 'record', '-o', path, '--', os.path.join(BUILD, 'examples', 'echo-server'), '3'], env={'WEFT_INDEX': 'no'})
    return path


recorded = []


def record_large(folder):
    """A stream of some hundred thousand events, with checkpoints; it is recorded once."""
    path = os.path.join(folder, 'large.weft')
    if not recorded:
        run([WEFT, 'record', '--stream', '-o', path, '--', os.path.join(BUILD, 'examples', 'echo-server'), '2300'],
            env={'WEFT_INDEX': 'no'})
        recorded.append(read(path))
    with open(path, 'wb') as file:
        file.write(recorded[0])
    return path


def ask(*args, status=0, **environment):
    result = run([WEFT, *args], env=LEAST | environment)
    equal(result.returncode, status, result.stderr)
    return result


def names(folder):
    return sorted(os.listdir(folder))


@case
def ranges_begin_with_the_state_from_then_on():
    with temporary_directory() as folder:
        trace = record_large(folder)
        info = json.loads(weft('info', '--json', trace).stdout)
        late = info['end'] - (info['end'] - info['start']) // 50
        part = [trace, '--start', '@%d' % late, '--duration', '1ms', '--past', '0']
        alone = ask('stats', *part)
        assert 'but which were alive' not in alone.stderr, alone
        equal(names(folder), ['large.weft'])  # a range alone is not all of the trace
        first = ask('stats', trace)
        equal(names(folder), ['large.weft', 'large.weft.weft-index'])
        own = os.stat(index_of(trace))
        equal(own.st_mode & 0o777, os.stat(trace).st_mode & 0o777)
        last = ask('stats', trace)
        equal((last.stdout, last.stderr), (first.stdout, first.stderr))
        assert 'but which were alive' in ask('stats', *part).stderr
        equal(os.stat(index_of(trace)).st_mtime_ns, own.st_mtime_ns)  # it is made once
        made = read(index_of(trace))
        weft('index', trace)
        equal(read(index_of(trace)), made)


@case
def each_command_that_reads_all_makes_them():
    with temporary_directory() as folder:
        trace = copy_small(folder)
        for command in (['info', trace], ['dump', trace], ['dump', '--json', trace], ['dump', '--tasks', trace], ['stats', trace],
                        ['render', trace, '-o', os.path.join(folder, 'out.svg')], ['query', trace, 'SELECT count(*) FROM tasks'],
                        ['export', '--to', 'chrome', '-o', os.path.join(folder, 'out.json'), trace], ['dump', '--problems', trace]):
            before = ask(*command, WEFT_INDEX='no')
            assert not os.path.exists(index_of(trace)), command
            result = ask(*command)
            equal((result.stdout, result.stderr), (before.stdout, before.stderr), command)
            os.unlink(index_of(trace))
        info = json.loads(weft('info', '--json', trace).stdout)
        half = '%dns' % ((info['end'] - info['start']) // 2)
        ask('dump', trace, '--start', half)
        ask('dump', trace, '--duration', half)
        assert not os.path.exists(index_of(trace))


@case
def a_trace_that_has_changed_gets_new_ones():
    with temporary_directory() as folder:
        trace = copy_small(folder)
        ask('info', trace)
        first = read(index_of(trace))
        os.utime(trace, (1, 1))
        ask('info', trace)
        second = read(index_of(trace))
        assert first != second and len(first) == len(second)
        with open(index_of(trace), 'r+b') as file:  # damaged
            file.truncate(len(second) - 1)
        ask('info', trace)
        equal(read(index_of(trace)), second)


@case
def some_traces_get_none():
    """Those that are small, of another owner, of several files or of another format, or that may still grow; or if it is not wanted."""
    with temporary_directory() as folder:
        def gets_none(path, **environment):
            ask('info', path, **environment)
            equal(glob.glob(os.path.join(folder, '*.weft-index')), [], (path, environment))

        trace = copy_small(folder)
        for value in ('no', '', '64M', '1T', 'nonsense'):
            gets_none(trace, WEFT_INDEX=value)
        live = shutil.copy(RING, os.path.join(folder, 'live.weft'))
        gets_none(live)
        gets_none(shutil.copy(os.path.join(DATA, 'traces', 'mirage-arp-good.ctf'), os.path.join(folder, 'mirage.ctf')))
        growing = shutil.copyfile(UNENDED, os.path.join(folder, 'growing.weft'))
        gets_none(growing)
        os.utime(growing, (10**9, 10**9))
        ask('info', growing)
        os.unlink(index_of(growing))
        os.unlink(live)
        if os.geteuid() == 0:
            os.chown(trace, 12345, 12345)
            gets_none(trace)
            os.chown(trace, 0, 0)
        run([WEFT, 'info', trace, growing], env=LEAST)
        equal(glob.glob(os.path.join(folder, '*.weft-index')), [])


@case
def nothing_else_is_replaced():
    with temporary_directory() as folder:
        trace = copy_small(folder)
        other = os.path.join(folder, 'other')
        with open(other, 'w') as file:
            file.write('mine')
        for make in (os.mkfifo, os.mkdir, lambda path: os.symlink(other, path)):
            make(index_of(trace))
            before = os.lstat(index_of(trace))
            ask('info', trace)
            equal(os.lstat(index_of(trace))[:3], before[:3])
            equal(read(other), b'mine')
            (os.rmdir if make is os.mkdir else os.unlink)(index_of(trace))


def in_file_system(options, script, *args):
    """Runs a script of the shell in a folder "disk" that is a file system of its own."""
    if not shutil.which('unshare'):
        skip('unshare is not installed')
    with temporary_directory() as folder:
        os.mkdir(os.path.join(folder, 'disk'))
        mount = 'mount -t tmpfs -o %s none disk || exit 99; ' % options
        namespaces = ['--mount'] if os.geteuid() == 0 else ['--mount', '--map-root-user']
        result = run(['unshare', *namespaces, 'sh', '-c', mount + script, WEFT, *args], cwd=folder, env=LEAST)
        if result.returncode == 99:
            skip('no file system can be mounted here: ' + result.stderr.strip())
        return result


@case
def a_disk_without_room_gets_none():
    """One that cannot be written to; one that has no room for as much as the trace is; and a limit of files that comes while
    the checkpoints are written, which ends their writer alone."""
    with temporary_directory() as folder:
        trace = record_large(folder)
        size = os.path.getsize(trace)
        wanted = ask('info', trace, WEFT_INDEX='no')
        shown = 'cp "$1" disk/t.weft; %s cd disk; "$0" info t.weft >/dev/null; echo $? $(ls -A)'
        for options, between, there in (('size=%d' % (4 * size), '', 't.weft t.weft.weft-index'),
                                        ('size=%d' % (4 * size), 'mount -o remount,ro disk;', 't.weft'),
                                        ('size=%d' % (size * 3 // 2), '', 't.weft'),
                                        ('size=%d' % (4 * size), 'ulimit -f 8;', 't.weft')):
            result = in_file_system(options, shown % between, trace)
            equal((result.stdout, result.stderr), ('0 %s\n' % there, wanted.stderr), (options, between))


@case
def two_commands_make_them_at_once():
    with temporary_directory() as folder:
        trace = record_large(folder)
        weft('index', trace)
        wanted = read(index_of(trace))
        for _ in range(3):
            os.unlink(index_of(trace))
            both = [subprocess.Popen([WEFT, 'info', trace], env=os.environ | LEAST, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    for _ in range(2)]
            answers = [child.communicate() for child in both]
            equal([child.returncode for child in both], [0, 0])
            equal(answers[0], answers[1])
            equal((names(folder), read(index_of(trace))), (['large.weft', 'large.weft.weft-index'], wanted))


def child_of(process):
    """The child of a process that makes checkpoints, once it is prepared; or None."""
    with open('/proc/%d/task/%d/children' % (process.pid, process.pid), encoding='utf-8') as file:
        for child in file.read().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open('/proc/%s/oom_score_adj' % child, encoding='utf-8') as own:
                if own.read() == '1000\n':
                    return int(child)
    return None


def state_of(pid):
    try:
        with open('/proc/%d/stat' % pid, encoding='utf-8') as file:
            return file.read().rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return 'Z'


def begin(trace, wanted):
    """A command that has answered, and its child, which is stopped before its file is complete."""
    while True:
        command = subprocess.Popen([WEFT, 'info', trace], env=os.environ | LEAST, stdout=subprocess.PIPE, text=True)
        equal(command.stdout.read(), wanted)
        child = wait_until('a child makes checkpoints', lambda: child_of(command) or state_of(command.pid) == 'Z')
        if child is not True:
            os.kill(child, signal.SIGSTOP)
            if wait_until('it is stopped', lambda: state_of(child) in 'TZ' and state_of(child)) == 'T' and not os.path.exists(index_of(trace)):
                return command, child
            os.kill(child, signal.SIGKILL)
        status_of(command)  # it was quicker than we are
        os.unlink(index_of(trace))


@case
def an_interrupt_leaves_the_answer_and_nothing_else():
    with temporary_directory() as folder:
        trace = record_large(folder)
        wanted = ask('info', trace, WEFT_INDEX='no').stdout
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            command, child = begin(trace, wanted)
            with command:
                command.send_signal(number)
                equal(status_of(command), -number)
                wait_until('the child has ended', lambda: state_of(child) == 'Z')  # noqa: B023
            equal(names(folder), ['large.weft'])
        # A child that is ended, as by the kernel without memory, changes no result.
        command, child = begin(trace, wanted)
        with command:
            os.kill(child, signal.SIGKILL)
            equal(status_of(command), 0)
        equal(names(folder), ['large.weft'])


main()
