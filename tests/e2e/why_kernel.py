# SPDX-License-Identifier: ISC
"""weft why on running programs of which the trace says nothing: where the kernel has their threads."""
import os
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
                expected = 'Now it sleeps in poll for descriptors %d (tcp 127.0.0.1:%d, listening), %d (pipe).' % (listener, port, end)
                for task in ((), ('python3',)):
                    said = [line['sentence'] for line in json_lines(weft('why', '--json', pid, *task, env=env, status=1).stdout)]
                    equal(said[-1], expected)
                    equal(weft('why', pid, *task, env=env, status=1).stdout.splitlines()[-1], expected)
                assert 'Now it' not in weft('why', pid, '--at', '0', env=env, status=None).stdout
            finally:
                os.kill(pid, signal.SIGKILL)
        assert 'Now it' not in weft('why', os.path.join(folder, 't.weft'), status=1).stdout
        with subprocess.Popen(['/usr/bin/python3', '-c', WAITING], stdout=subprocess.PIPE, text=True) as process:
            port, listener, end = (int(word) for word in process.stdout.readline().split())
            wait_until('it sleeps', lambda: process_stat(process.pid)[0] == b'S', process)
            result = weft('why', process.pid, env=env, status=1)
            process.kill()
        assert 'it was started without `weft record`' in result.stderr, result.stderr
        equal(result.stdout, "thread %d 'python3' sleeps in poll for descriptors %d (tcp 127.0.0.1:%d, listening), %d (pipe).\n" % (
            process.pid, listener, port, end))


main()
