# SPDX-License-Identifier: ISC
"""weft why on programs that record nothing: waits for what is no file and no lock of the program's own, and files that are gone."""
import contextlib
import ctypes
import os
import platform
import re
import shutil
import signal
import subprocess

from harness import WEFT, case, equal, json_lines, main, skip, weft
from outside_look import FOLDER, caught, children_of, compiled, look, process_state, running
from waiting import let_work, wait_until


def subject(*flags):
    return compiled('outside_objects_subject', *(flags or ['-O0']))


@contextlib.contextmanager
def started(*command, **options):
    """A program with its children, which are killed at the end."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as process:
        try:
            yield process
        finally:
            for child in children_of(process.pid):
                os.kill(child, signal.SIGKILL)
            process.kill()


@case
def the_lock_of_a_stream_has_its_holder():
    with running(subject(), 'stream', threads=2) as process:
        holder, = (thread for thread in map(int, os.listdir('/proc/%d/task' % process.pid)) if thread != process.pid)
        look(process.pid, r"thread %d '[^']*' waits for the lock of a stream \(0x[0-9a-f]+\), held by thread %d '[^']*', in hang_in_stream " % (
            process.pid, holder), r"thread %d '[^']*' sleeps in pause, in keep_stream " % holder)


@case
def what_has_stopped_a_process_is_named():
    PTRACE_ATTACH, PTRACE_DETACH = 16, 17
    # In a group of its own, as a shell's job: the kernel drops SIGTTIN in a group that no other one of its session could continue.
    with started('sleep', '1000', process_group=0) as process:
        for number, words in ((signal.SIGSTOP, 'SIGSTOP'), (signal.SIGTTIN, r'SIGTTIN \(a read from its terminal in the background\)')):
            process.send_signal(number)
            look(process.pid, r"thread %d 'sleep' is stopped by %s(,|\.)" % (process.pid, words), status=1)
            process.send_signal(signal.SIGCONT)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.ptrace(PTRACE_ATTACH, process.pid, None, None):
            skip('no process can be traced here')
        os.waitpid(process.pid, os.WUNTRACED)
        look(process.pid, r"thread %d 'sleep' is stopped by a debugger, \S+ %d(,|\.)" % (process.pid, os.getpid()), status=0)
        libc.ptrace(PTRACE_DETACH, process.pid, None, None)


@case
def a_process_whose_main_thread_has_ended_goes_on():
    """Only its other threads have its memory and its descriptors then."""
    with started(subject(), 'after-main') as process:
        wait_until('both main threads have ended', lambda: process_state(process.pid, process.pid) == 'Z' and
                   [process_state(child, child) for child in children_of(process.pid)] == ['Z'], process)
        child, = children_of(process.pid)
        said = look(process.pid, r"thread %d '[^']*' has ended\." % process.pid,
                    r"sleeps in read of descriptor \d+ \(pipe, written by \S+ %d\), in wait_for_writer \(" % child,
                    r"sleeps in pause, in keep_pipe \(")
        assert 'has not asked how' not in said, said


@case
def a_watch_leaves_out_a_main_thread_that_has_ended():
    path = os.path.join(FOLDER.name, 'after-main.weft')
    with started(subject(), 'after-main') as process:
        wait_until('the main thread has ended', lambda: process_state(process.pid, process.pid) == 'Z', process)
        with subprocess.Popen([WEFT, 'why', '--watch', '-o', path, str(process.pid)]) as watch:
            wait_until('it looks', lambda: signal.SIGINT in caught(watch.pid), watch)
            let_work(watch)
            watch.send_signal(signal.SIGINT)
        threads = len(os.listdir('/proc/%d/task' % process.pid))
    kinds = [event['kind'] for event in json_lines(weft('dump', '--json', path).stdout) if event['event'] == 'alive']
    assert 'ended' not in kinds, kinds
    equal(kinds.count('thread'), threads - 1)


@case
def calls_have_the_objects_for_which_they_wait():
    path = os.path.join(FOLDER.name, 'fifo')
    for way, wanted in ((['select'], r'sleeps in (select|pselect6) for descriptor \d+ \(pipe, written by \S+ PID\), in .*hang_in_select '),
                        (['timer', 'set'], r'sleeps in read of descriptor \d+ \(timerfd, in \d+\.\d{3} s\), in hang_in_timer '),
                        (['timer'], r'sleeps in read of descriptor \d+ \(timerfd, which is not set\), in hang_in_timer '),
                        (['sigwait'], r'sleeps in rt_sigtimedwait for SIGUSR1, SIGTERM, in .*hang_in_signals '),
                        (['signalfd'], r'sleeps in read of descriptor \d+ \(signalfd of SIGUSR1, SIGTERM\), in hang_in_signals '),
                        (['fifo', path], r'sleeps in openat of %s, in .*hang_in_fifo ' % path),
                        (['large-frame'], r'sleeps in pause, in hang_behind_a_large_frame .* ← main ')):
        with running(subject(), *way) as process:
            said = look(process.pid, wanted.replace('PID', str(process.pid)))
            with open('/proc/%d/wchan' % process.pid, encoding='ascii') as file:
                is_fifo = file.read() == 'wait_for_partner'  # some systems do not tell
            equal(': no process has opened the other end of this FIFO.' in said, is_fifo)


@case
def a_process_is_waited_for_by_its_descriptor():
    with running(subject(), 'pidfd', children=1) as process:
        child, = children_of(process.pid)
        look(process.pid, r'sleeps in poll for descriptor \d+ \(pidfd of \S+ %d\), in .*hang_in_pidfd ' % child, r'\n\S+ %d:\n' % child)


@case
def objects_of_system_v_have_the_process_that_used_them_last():
    for way, tool, wanted in (
            ('queue', '-q', r'sleeps in msgrcv of queue (\d+), which nobody has written, in '),
            ('semaphore', '-s', r'sleeps in semt?i?m?e?d?op of set (\d+), for tokens of semaphore 1(?:, last changed by process \d+[^,]*)?, in ')):
        with running(subject(), way, children=1) as process:
            child, = children_of(process.pid)
            said = look(child, wanted)
            if shutil.which('ipcrm'):
                subprocess.run(['ipcrm', tool, re.search(wanted, said).group(1)], check=False)


@case
def vfork_has_its_caller():
    if platform.machine() != 'x86_64':
        skip('stacks are unwound on x86-64 only')
    with started(subject(), 'vfork') as process:
        wait_until('it waits', lambda: process_state(process.pid, process.pid) == 'D', process)
        look(process.pid, r"thread %d '[^']*' waits for the end of child \S+ \d+( \(in the kernel: .*\))?, in hang_in_vfork .* ← main " % process.pid)


def can_read_kernel_stacks():
    with contextlib.suppress(OSError), open('/proc/self/stack', 'rb') as file:
        return bool(file.read(1))
    return False


@case
def a_thread_that_no_signal_wakes_has_the_functions_of_the_kernel():
    with started(subject(), 'vfork') as process:
        wait_until('it waits', lambda: process_state(process.pid, process.pid) == 'D', process)
        said = look(process.pid, r"thread %d '[^']*' waits for the end of child \S+ \d+" % process.pid)
        # Only root may see them. The child sleeps as a signal may wake it.
        equal(len(re.findall(r' \(in the kernel: \w+( ← \w+)*\)', said)), can_read_kernel_stacks())


@case
def programs_that_were_replaced_have_their_functions():
    """An upgrade removes the files of programs that run."""
    path = os.path.join(FOLDER.name, 'upgraded')
    shutil.copy(subject(), path)
    with running(path, 'select') as process:
        os.unlink(path)
        shutil.copy('/bin/true', path)
        look(process.pid, r'in .*hang_in_select \(outside_objects_subject.c:\d+\) ← main ')


LIBRARY = 'void hang(void); void hang(void) { for (;;) pause(); }'
USER = 'void hang(void); int main() { hang(); }'


@case
def libraries_that_were_replaced_have_their_functions():
    if os.geteuid() != 0:
        skip('only root gets a library that was removed')
    library, user = os.path.join(FOLDER.name, 'libhang.so'), os.path.join(FOLDER.name, 'user')
    for source, *command in (('#include <unistd.h>\n' + LIBRARY, '-shared', '-fPIC', '-o', library), (USER, '-o', user, library)):
        if subprocess.run(['gcc', '-g', '-x', 'c', '-', '-x', 'none', *command], input=source, text=True, check=False).returncode:
            skip('no compiler')
    with running(user) as process:
        os.unlink(library)
        look(process.pid, r'sleeps in pause, in hang \(<stdin>:2\) ← main \(<stdin>:1\)')


STATIC = """
#include <thread>
#include <unistd.h>
struct Slow { Slow() { for (;;) pause(); } };
static void get() { static Slow slow; }
int main() { std::thread first(get); get(); first.join(); }
"""


@case
def an_initialisation_has_the_thread_that_is_in_it():
    path = os.path.join(FOLDER.name, 'static')
    if subprocess.run(['g++', '-g', '-O0', '-pthread', '-x', 'c++', '-', '-o', path], input=STATIC, text=True, check=False).returncode:
        skip('no compiler of C++')
    with running(path, threads=2) as process:
        waits = r"waits for the end of an initialisation, guard variable for get\(\)::slow \(0x[0-9a-f]+\); thread \d+ '[^']*' is in get, in .*get "
        # Which thread is the first one is not known.
        look(process.pid, waits, r'sleeps in pause, in Slow::Slow \(<stdin>:4\) ← get ')


main()
