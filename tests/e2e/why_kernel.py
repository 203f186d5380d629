# SPDX-License-Identifier: ISC
"""weft why on running programs of which the trace says nothing: where the kernel has their threads."""
import os
import platform
import re
import signal
import subprocess

from harness import WEFT, case, equal, json_lines, main, ring_lines, skip, temporary_directory, weft
from waiting import process_stat, wait_until

WAITING = """
import os, select, socket, sys
listener = socket.create_server(('127.0.0.1', 0))
end, _ = os.pipe()
poll = select.poll()
poll.register(listener)
poll.register(end, select.POLLIN)
print(listener.getsockname()[1], listener.fileno(), end, flush=True)
poll.poll()
"""


HANGS = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static void *keep(void *unused) { pthread_mutex_lock(&held); for (;;) pause(); return unused; }
static void take(void) { pthread_mutex_lock(&held); }
int main(void) { pthread_t thread; pthread_create(&thread, 0, keep, 0);
	while (pthread_mutex_trylock(&held) == 0) pthread_mutex_unlock(&held);
	take(); }
"""


# The call itself: what the adapters see of an exec, is recorded as well.
EXECVE = {'x86_64': 59, 'aarch64': 221}
UNSEEN_EXEC = """
import ctypes, os
print(os.getpid(), flush=True)
ctypes.CDLL(None).syscall(%d, b'/bin/cat', (ctypes.c_char_p * 2)(b'cat', None), None)
"""


# Reads a pipe that it has made, by the calls of 32-bit programs.
READS_32 = """
void _start(void)
{
	int ends[2];
	char byte;
	__asm__ volatile("int $0x80" : : "a"(42), "b"(ends) : "memory");
	for (;;)
		__asm__ volatile("int $0x80" : : "a"(3), "b"(ends[0]), "c"(&byte), "d"(1) : "memory");
}
"""


def is_readable(path):
    try:
        with open(path, 'rb') as file:
            return bool(file.read(1))
    except OSError:
        return False


@case
def the_kernel_says_where_a_thread_is():
    """Where the trace says nothing, for a program that still runs."""
    with temporary_directory() as folder:
        env = {'XDG_RUNTIME_DIR': folder}
        with subprocess.Popen([WEFT, 'record', '-a', 'thread', '-o', os.path.join(folder, 't.weft'), '/usr/bin/python3', '-c', WAITING],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **env}) as recorder:
            port, listener, end = (int(word) for word in recorder.stdout.readline().split())
            pid = ring_lines(weft('ls', '--json', env=env).stdout, folder)[0]['pid']
            try:
                wait_until('it sleeps', lambda: process_stat(pid)[0] == b'S', recorder)
                if not is_readable('/proc/%d/syscall' % pid):
                    skip('this system does not show calls of other processes')
                # Its frames are Python's or the interpreter's, as far as they are known.
                expected = r'Now it sleeps in poll for descriptors %d \(tcp 127\.0\.0\.1:%d, listening\), %d \(pipe\)(, in .*)?\.' % (listener, port, end)
                for task in ((), ('python3',)):
                    said = [line['sentence'] for line in json_lines(weft('why', '--json', pid, *task, env=env, status=1).stdout)]
                    assert re.fullmatch(expected, said[-1]), said
                    said = weft('why', pid, *task, env=env, status=1).stdout.splitlines()
                    assert re.fullmatch(expected, said[-1]), said
                assert 'Now it' not in weft('why', pid, '--at', '0', env=env, status=None).stdout
            finally:
                os.kill(pid, signal.SIGKILL)
        assert 'Now it' not in weft('why', os.path.join(folder, 't.weft'), status=1).stdout
        with subprocess.Popen(['/usr/bin/python3', '-c', WAITING], stdout=subprocess.PIPE, text=True) as process:
            port, listener, end = (int(word) for word in process.stdout.readline().split())
            wait_until('it sleeps', lambda: process_stat(process.pid)[0] == b'S', process)
            result = weft('why', process.pid, env=env)
            process.kill()
        assert 'it was started without `weft record`' in result.stderr, result.stderr
        expected = "  thread %d 'python3' sleeps in poll for descriptors %d (tcp 127.0.0.1:%d, listening), %d (pipe, written by python3 %d)" % (
            process.pid, listener, port, end, process.pid)
        assert expected in result.stdout, result.stdout


@case
def threads_that_wait_have_their_functions():
    """Those of a recorded program that runs: only a saved trace has names of them."""
    if platform.machine() != 'x86_64':
        skip('stacks are unwound on x86-64 only')
    with temporary_directory() as folder:
        env = {'XDG_RUNTIME_DIR': folder}
        program = os.path.join(folder, 'hangs')
        if subprocess.run(['gcc', '-g', '-O0', '-pthread', '-x', 'c', '-', '-o', program], input=HANGS, text=True, check=False).returncode:
            skip('no compiler')
        with subprocess.Popen([WEFT, 'record', '-a', 'thread', '-o', os.path.join(folder, 't.weft'), program],
                              stderr=subprocess.DEVNULL, env={**os.environ, **env}) as recorder:
            def pids():
                return [ring['pid'] for ring in ring_lines(weft('ls', '--json', env=env, status=None).stdout, folder)]
            wait_until('it records', pids, recorder)
            pid, = pids()
            try:
                if not is_readable('/proc/%d/syscall' % pid):
                    skip('this system does not show calls of other processes')
                wait_until('it waits for the lock', lambda: re.search(
                    r"thread 1 'hangs' waits for lock \d+ 'lock held'.*\n +now in take \(<stdin>:6\) ← main ",
                    weft('why', pid, 'task:1', env=env, status=None).stdout), recorder)
                hop, = (line for line in json_lines(weft('why', '--json', pid, 'task:1', env=env).stdout) if line.get('hop') == 1)
                assert hop['now'].startswith('take (<stdin>:6) ← main (<stdin>:9)'), hop
                groups = json_lines(weft('why', '--json', pid, env=env).stdout)
                assert any('keep (<stdin>:5)' in line.get('now', '') or 'take (<stdin>:6)' in line.get('now', '') for line in groups), groups
                # An answer about an earlier time has nothing of now.
                assert 'now in' not in weft('why', pid, 'task:1', '--at', '0', env=env, status=None).stdout
            finally:
                os.kill(pid, signal.SIGKILL)


@case
def a_program_that_was_executed_is_not_the_one_before():
    """The ring is of the first program, where the kernel has the process is the state of the second one."""
    if platform.machine() not in EXECVE:
        skip('the number of execve is not known here')
    program = UNSEEN_EXEC % EXECVE[platform.machine()]
    with temporary_directory() as folder:
        env = {'XDG_RUNTIME_DIR': folder}
        with subprocess.Popen([WEFT, 'record', '-a', 'thread', '-o', os.path.join(folder, 't.weft'), '/usr/bin/python3', '-c', program],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env={**os.environ, **env}) as recorder:
            pid = int(recorder.stdout.readline())
            wait_until('it sleeps', lambda: os.readlink('/proc/%d/exe' % pid).endswith('/cat') and process_stat(pid)[0] == b'S', recorder)
            now = weft('why', pid, env=env, status=None)
            before = weft('why', pid, 'python3', env=env, status=None)
            recorder.stdin.close()
        replaced = '%d: the trace is of a program that has ended; the process runs another one' % pid
        equal(now.stderr.splitlines(), [replaced])
        assert now.stdout.startswith("cat %d:\n  thread %d 'cat' sleeps" % (pid, pid)), now.stdout
        equal(before.stderr.splitlines()[0], replaced)
        assert 'Now it' not in before.stdout, before.stdout


@case
def a_call_of_another_machine_has_no_name():
    """The number of read in 32-bit programs is that of close in others."""
    with temporary_directory() as folder:
        program = os.path.join(folder, 'program')
        compiler = ['gcc', '-m32', '-nostdlib', '-static', '-fno-pic', '-x', 'c', '-', '-o', program]
        if platform.machine() != 'x86_64' or subprocess.run(compiler, input=READS_32, text=True, check=False).returncode:
            skip('no compiler of 32-bit programs')
        try:
            process = subprocess.Popen([program])
        except OSError:
            skip('this system runs no 32-bit programs')
        wait_until('it sleeps', lambda: process_stat(process.pid)[0] == b'S', process)
        said = weft('why', process.pid, status=1).stdout
        process.kill()
        process.wait()
        assert re.fullmatch(r"program %d:\n  thread %d 'program' sleeps( in the kernel's function \w+)?\.\n" % (process.pid, process.pid), said), said


@case
def a_socket_has_its_whole_name():
    program = 'import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); s.recv(1)'
    with temporary_directory() as folder:
        path = os.path.join(folder, 'a b)\t c')
        with subprocess.Popen(['/usr/bin/python3', '-c', program, path]) as process:
            wait_until('it sleeps', lambda: process_stat(process.pid)[0] == b'S' and os.path.exists(path), process)
            if not is_readable('/proc/%d/syscall' % process.pid):
                process.kill()
                skip('this system does not show calls of other processes')
            said = weft('why', process.pid, status=1).stdout
            process.kill()
        assert ' (unix %s)' % path.replace('\t', '\\t') in said, said


main()
