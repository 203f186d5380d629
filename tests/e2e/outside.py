# SPDX-License-Identifier: ISC
"""weft why on programs that record nothing: what their threads wait for, as it is seen from outside."""
import contextlib
import os
import platform
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from harness import WEFT, case, equal, json_lines, main, skip, temporary_directory, weft
from outside_look import FOLDER, caught, children_of, compiled, look, running
from server import Server
from waiting import let_work, process_stat, status_of, wait_until

def program(*flags):
    return compiled('outside_subject', *flags)


SPINS = {'processor': 300}  # of a program that uses all that it gets


@case
def a_deadlock_of_two_threads_has_its_functions_and_lines():
    for flags in (['-O0'], ['-O2', '-fno-inline', '-fno-optimize-sibling-calls'], ['-O2']):
        with running(program(*flags), 'deadlock', threads=3) as process:
            first = (r"thread (\d+) '[^']*' waits for mutex second_lock \(0x[0-9a-f]+\), held by thread (\d+) '[^']*', "
                     r'in take_second \(outside_subject.c:\d+\) ← lock_forwards \(outside_subject.c:\d+\)')
            second = (r"thread (\d+) '[^']*' waits for mutex first_lock \(0x[0-9a-f]+\), held by thread (\d+) '[^']*', "
                      r'in lock_backwards \(outside_subject.c:\d+\)')
            said = look(process.pid, first, second,
                        r"^Deadlock: thread \d+ '[^']*', which waits for thread \d+ '[^']*', which waits for the first\.\n",
                        r"thread %d '[^']*' waits for the end of thread \d+ '[^']*', in hang_in_deadlock .* ← main " % process.pid)
            one = re.search(first, said)
            equal(one.groups(), re.search(second, said).groups()[::-1])
            lines = json_lines(weft('why', process.pid, '--json').stdout)
            equal(sorted(lines[0]['tids']), sorted(map(int, one.groups())))
            equal([line['waits'] for line in lines[1:]], ['join', 'mutex', 'mutex'])
            equal(lines[2]['for'], [{'pid': process.pid, 'tid': lines[3]['tid']}])


@case
def each_kind_of_lock_has_its_holder_or_none():
    with running(program('-O2', '-fno-inline'), 'kinds', threads=9) as process:
        held = r", held by thread %d '[^']*', in " % process.pid
        said = look(process.pid, r'mutex inheriting_lock \(0x[0-9a-f]+\)' + held + 'take_inheriting ',
                    r'mutex robust_lock \(0x[0-9a-f]+\)' + held + 'take_robust ',
                    r'rwlock table_lock \(0x[0-9a-f]+\)' + held + 'read_table ',
                    r'rwlock table_lock \(0x[0-9a-f]+\)' + held + 'write_table ',
                    r'condition ready \(0x[0-9a-f]+\), which any thread may signal, in await_condition ',
                    r'semaphore tokens \(0x[0-9a-f]+\), which nobody owns: any thread may post it, in await_token ',
                    r'barrier step \(0x[0-9a-f]+\), where 2 of 3 threads are, in (pthread_barrier_wait ← )?await_step ',
                    r'sleeps in pause, in hang_in_kinds ')
        assert 'Deadlock' not in said and 'Circle' not in said, said


@case
def a_holder_is_believed_only_if_it_can_be_one():
    with running(program('-O0'), 'abandoned') as process:
        look(process.pid, r'waits for mutex first_lock \(0x[0-9a-f]+\), held by thread \d+, which has ended without giving it back, '
             r'in hang_in_abandoned ', status=0)
    with running(program('-O0'), 'fork', threads=2, children=1) as process:
        look(process.pid, r"waits for mutex first_lock \(0x[0-9a-f]+\), held by thread \d+ '[^']*' of the parent when it forked, "
             r'in hang_after_fork ', status=0)
    with running(program('-O0'), 'garbage') as process:
        look(process.pid, r'waits for mutex first_lock \(0x[0-9a-f]+\), whose holder is not known, in hang_in_garbage ', status=1)


LIBRARY = """
#include <unistd.h>
void hang_here(void)
{
	for (;;)
		pause();
}
"""


@case
def damaged_files_do_not_keep_the_answer():
    """The tables by which stacks are unwound, and debug information, are random bytes."""
    library = os.path.join(FOLDER.name, 'library.so')
    if subprocess.run(['gcc', '-g', '-shared', '-fPIC', '-x', 'c', '-', '-o', library], input=LIBRARY, text=True, check=False).returncode:
        skip('no compiler')
    listing = subprocess.run(['readelf', '-SW', library], stdout=subprocess.PIPE, text=True, check=True).stdout
    sections = [(int(offset, 16), int(size, 16)) for offset, size in
                re.findall(r'\.(?:eh_frame|eh_frame_hdr|debug_\w+) +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)', listing)]
    assert len(sections) > 4, listing
    with running(program('-O0'), 'library', library) as process:
        look(process.pid, r'sleeps in pause, in hang_here \(<stdin>:\d+\) ← hang_in_library .* ← main ', status=1)
        for seed in range(8):
            chance = random.Random(seed)
            with open(library, 'r+b') as file:
                for offset, size in sections:
                    file.seek(offset)
                    file.write(chance.randbytes(size))
            look(process.pid, r"thread %d '[^']*' sleeps in pause" % process.pid, status=1)


@case
def processes_that_wait_for_each_other_are_found():
    with running(program('-O0'), 'pipes', children=1) as process:
        child, = children_of(process.pid)
        # Where descriptors of other users are hidden, it is no more than a circle.
        look(process.pid, r'^(Deadlock|Circle): ', *(
            r"thread %d '[^']*' sleeps in read of descriptor \d+ \(pipe, written by \S+ %d\), in hang_in_pipes " % ends
            for ends in ((process.pid, child), (child, process.pid))))
    with running(program('-O0'), 'connection', children=1) as process:
        child, = children_of(process.pid)
        look(process.pid, r'^Circle: .*, until a timeout ends a wait[.,]',
             r"thread %d '[^']*' sleeps in read of descriptor \d+ \(unix, to \S+ %d\)" % (process.pid, child))
    with running(program('-O0'), 'own-pipe') as process:
        look(process.pid, r"^(Deadlock|Circle): thread %d '[^']*' waits for itself[.,]" % process.pid)


@case
def a_signal_may_end_a_wait():
    for way, wanted in (('signal', r'sleeps in read of descriptor \d+ \(pipe, written by \S+ \d+\), in '),
                        ('signal-mask', r'sleeps in pselect6 for descriptor \d+ \(pipe, written by \S+ \d+\) or a signal, in ')):
        with running(program('-O0'), way) as process:
            said = look(process.pid, wanted)
            assert not re.search('Deadlock|Circle', said), said
    with running(program('-O0'), 'alarm', children=1) as process:
        look(process.pid, r'^Circle: .*, until a timeout ends a wait[.,]')
    with running(program('-O0'), 'handled-pipes', children=1) as process:
        look(process.pid, r'^(Deadlock|Circle): ')  # no handler has the ends of the pipes that would end these waits


@case
def the_holder_of_a_file_lock_waits_for_its_child():
    path = os.path.join(FOLDER.name, 'journal')
    with running(program('-O0'), 'file-lock', path, children=1) as process:
        child, = children_of(process.pid)
        # The child has inherited the open file, so it holds the lock, too.
        look(child, r'^(Deadlock|Circle): ',
             r"thread %d '[^']*' waits in flock of descriptor \d+ \(%s\) for a lock held by [^.]*\b%d\b[^.]*, in hang_in_file_lock " % (
                 child, re.escape(path), process.pid),
             r"thread %d '[^']*' waits for the end of child \S+ %d, in hang_in_file_lock " % (process.pid, child))


LOCKS_AND_ENDS = """
import fcntl, os, sys, time
file = open(sys.argv[1], 'w')
fcntl.flock(file, fcntl.LOCK_EX)
child = os.fork()
if child:
    print(child, flush=True)
    os._exit(0)
time.sleep(1000)
"""
LOCKS = 'import fcntl, sys; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_EX)'


@case
def a_file_lock_is_inherited():
    """The process that has taken it has ended, the child of that has the open file."""
    path = os.path.join(FOLDER.name, 'inherited')
    with subprocess.Popen(['/usr/bin/python3', '-c', LOCKS_AND_ENDS, path], stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        try:
            process.wait()
            with running('/usr/bin/python3', '-c', LOCKS, path) as waiter:
                look(waiter.pid, r'waits in flock of descriptor \d+ \(%s\) for a lock held by \S+ %d, in ' % (re.escape(path), child))
        finally:
            os.kill(child, signal.SIGKILL)


LOCKS_AN_OPEN_FILE = """
import fcntl, os, struct, sys
F_OFD_SETLK, F_OFD_SETLKW = 37, 38
def lock(command):
    file = open(sys.argv[1], 'r+')
    fcntl.fcntl(file, command, struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    return file
held = lock(F_OFD_SETLK)
if os.fork():
    os.wait()
held.close()
lock(F_OFD_SETLKW)
"""


@case
def a_lock_of_an_open_file_has_its_holder():
    """/proc/locks names no process for it, neither for the holder nor for the waiter."""
    path = os.path.join(FOLDER.name, 'open-file')
    with open(path, 'w', encoding='utf-8'), running('/usr/bin/python3', '-c', LOCKS_AN_OPEN_FILE, path, children=1) as process:
        child, = children_of(process.pid)
        look(child, r'^(Deadlock|Circle): ',
             r"thread %d '[^']*' waits in fcntl of descriptor \d+ \(%s\) for a lock held by \S+ %d, in " % (child, re.escape(path), process.pid))


CONTENDS = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *contend(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		usleep(1000);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}
int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, 0, contend, 0);
	pause();
}
"""


@case
def a_thread_that_gets_the_lock_during_the_look_does_not_wait_for_itself():
    path = os.path.join(FOLDER.name, 'contends')
    if subprocess.run(['gcc', '-pthread', '-x', 'c', '-', '-o', path], input=CONTENDS, text=True, check=False).returncode:
        skip('no compiler')
    with subprocess.Popen([path]) as process:
        try:
            look(process.pid, r'waits for mutex ')
            for _ in range(20):
                said = weft('why', process.pid, status=None).stdout
                assert 'held by itself' not in said, said
        finally:
            process.kill()


WAITS_FOR_TWO = """
import os, select
to_first, to_second, back = os.pipe(), os.pipe(), os.pipe()
def begin(own, action):
    if os.fork() == 0:
        for end in (to_first[1], to_second[1], back[0]):
            os.close(end)
        action(own[0])
        os._exit(0)
def poll(fd):
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll(1000000)
begin(to_first, lambda fd: os.read(fd, 1))
begin(to_second, poll)
os.close(back[1])
os.read(back[0], 1)
"""


@case
def a_timeout_beside_the_circle_may_end_it():
    """The process waits for two others, of which the one that is not in the circle has a timeout."""
    with running('/usr/bin/python3', '-c', WAITS_FOR_TWO, children=2) as process:
        said = look(process.pid, r'^Circle: .*, until a timeout ends a wait[.,]')
        assert 'Deadlock' not in said, said


@case
def a_timeout_of_a_thread_that_waits_for_the_circle_does_not_end_it():
    with running(program('-O0'), 'beside', threads=4) as process:
        said = look(process.pid, r'^Deadlock: ', r'mutex first_lock .* in lock_for_some_time ')
        assert 'timeout' not in said.splitlines()[0], said


WAITS_FOR_ONE_CHILD = """
import os, signal
children = []
for name in ('first', 'second', 'third'):
    children.append(os.fork())
    if not children[-1]:
        with open('/proc/self/comm', 'w') as file:
            file.write(name)
        signal.pause()
os.waitpid(children[1], 0)
"""


@case
def a_wait_for_one_child_names_that():
    with running('/usr/bin/python3', '-c', WAITS_FOR_ONE_CHILD, children=3) as process:
        look(process.pid, r'waits for the end of child second \d+, in ')


WAITS_FOR_ONE_OF_TWO_LOCKS = """
import fcntl, os, struct, sys
F_OFD_SETLK, F_OFD_SETLKW = 37, 38
def lock(command, start):
    file = open(sys.argv[1], 'r+')
    fcntl.fcntl(file, command, struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, start, 1, 0))
    return file
held = [lock(F_OFD_SETLK, start) for start in (0, 10)]
for start in (0, 10):
    if os.fork() == 0:
        for file in held:
            file.close()
        lock(F_OFD_SETLKW, start)
os.wait()
"""


@case
def of_two_locks_of_open_files_none_is_named():
    """/proc/locks lists both waits, without their processes, as soon as both processes wait."""
    path = os.path.join(FOLDER.name, 'two-locks')
    with open(path, 'w', encoding='utf-8'), running('/usr/bin/python3', '-c', WAITS_FOR_ONE_OF_TWO_LOCKS, path, children=2) as process:
        for child in children_of(process.pid):
            look(child, r'waits in fcntl of descriptor \d+ \(%s\)(?! for a lock held by )' % re.escape(path))


SPLICES = """
import os
there, back = os.pipe()
os.write(back, b'1')
os.set_blocking(1, False)
try:
    while True:
        os.write(1, bytes(4096))
except BlockingIOError:
    os.set_blocking(1, True)
os.splice(there, 1, 1)
"""


@case
def a_splice_may_wait_for_its_second_descriptor():
    if subprocess.run(['/usr/bin/python3', '-c', 'import os; os.splice'], check=False, stderr=subprocess.DEVNULL).returncode:
        skip('this Python has no splice')
    with subprocess.Popen(['/usr/bin/python3', '-c', SPLICES], stdout=subprocess.PIPE) as process:
        try:
            said = look(process.pid, r'sleeps in splice of descriptor \d+ \(pipe, written by \S+ %d\)' % process.pid)
            assert 'Deadlock' not in said and 'Circle' not in said, said
        finally:
            process.kill()


MANY_THREADS = """
import os, threading, time
for _ in range(110):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
threading.Thread(target=os.read, args=(os.pipe()[0], 1), daemon=True).start()
time.sleep(1000)
"""


@case
def threads_that_wait_are_found_behind_many_that_do_not():
    with running('/usr/bin/python3', '-c', MANY_THREADS, threads=112) as process:
        wait_until('the last one is there', lambda: re.search(
            r'\S+ %d:\n  thread \d+ .* sleeps in read of descriptor \d+ \(pipe, written by \S+ %d\)\.?.*\n(?!  and )' % (process.pid, process.pid),
            weft('why', '--all', status=None).stdout), process)


@case
def names_of_cplusplus_are_readable():
    path = os.path.join(FOLDER.name, 'names')
    source = '#include <unistd.h>\nnamespace shop { namespace { struct Queue { void take(int) { pause(); } }; } }\nint main() { shop::Queue().take(1); }\n'
    if subprocess.run(['g++', '-g', '-O0', '-x', 'c++', '-', '-o', path], input=source, text=True, check=False).returncode:
        skip('no compiler of C++')
    with running(path) as process:
        look(process.pid, r'sleeps in pause, in shop::\(anonymous namespace\)::Queue::take \(<stdin>:2\) ← main \(<stdin>:3\)', status=1)


@case
def a_program_has_the_name_that_was_started():
    link = os.path.join(FOLDER.name, 'started')
    os.symlink(program('-O0', '-s'), link)
    with running(link, 'sleep') as process:
        look(process.pid, r' ← started\+0x[0-9a-f]+|, in started\+0x[0-9a-f]+')


@case
def a_sleep_is_no_wait_for_another():
    with running(program('-O0'), 'sleep') as process:
        look(process.pid, r'sleeps in clock_nanosleep for 1000\.000 s, in sleep_long \(outside_subject.c:\d+\) ← main ', status=1)


@case
def a_loop_is_named_by_its_function():
    with subprocess.Popen([program('-O0'), 'spin'], stdout=subprocess.DEVNULL) as process:
        try:
            look(process.pid, r'runs, in parse_forever \(outside_subject.c:\d+\) ← main \(outside_subject.c:\d+\) ← _start: in all of 3 looks '
                 r'within \d+ ms\.\n', status=1, **SPINS)
            wait_until('it goes on', lambda: process_stat(process.pid)[0] == b'R', process)
        finally:
            process.kill()


@contextlib.contextmanager
def list_of(pid, make):
    """A process's list of functions, which `make` makes at its path."""
    path = '/tmp/perf-%d.map' % pid
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    make(path)
    try:
        yield
    finally:
        os.unlink(path)


def listing(text, hole=0, after='', age=0, owner=None):
    def make(path):
        with open(path, 'w', encoding='latin-1') as file:
            file.write(text)
            if hole:
                file.flush()
                file.truncate(file.tell() + hole)
                file.seek(0, os.SEEK_END)
            file.write(after)
        if age:
            os.utime(path, (time.time() - age,) * 2)
        if owner is not None:
            os.chown(path, owner, owner)
    return make


MADE = '10000000 2 JS:*made\x9b\x1b[2J /srv/app.js:12:8\n'
EARLIER = '10000000 2 JS:*earlier /srv/app.js:1:1\n'


def link_to_list(path):
    target = os.path.join(FOLDER.name, 'list')
    listing(MADE)(target)
    os.symlink(target, path)


@case
def code_that_a_program_makes_has_the_names_of_its_list():
    if platform.machine() != 'x86_64':
        skip('registers of threads that run are read on x86-64 only')
    with subprocess.Popen([program('-O0'), 'made'], stdout=subprocess.DEVNULL) as process:
        try:
            look(process.pid, r'runs, in main ', status=1, **SPINS)
            for make in (listing(EARLIER + '10000001 1 after\n-1 2 x\n10000000\n\n' + MADE + EARLIER[:-1]), listing(EARLIER, 64 << 20, '\n' + MADE)):
                with list_of(process.pid, make):
                    said = look(process.pid, r'runs, in made[^ ]* \(app.js:12\) ← main ', status=1, **SPINS)
                    assert 'earlier' not in said and '\x1b' not in said and '\x9b' not in said, said
                    json_lines(weft('why', process.pid, '--json', status=None).stdout)
            # Too old, too long, no file, of another user.
            wrong = [listing(MADE, age=3600), listing(MADE, 64 << 20, '\n'), os.mkfifo, link_to_list]
            for make in wrong + ([listing(MADE, owner=65534)] if os.geteuid() == 0 else []):
                with list_of(process.pid, make):
                    look(process.pid, r'runs, in main ', status=1, **SPINS)
        finally:
            process.kill()


@case
def a_watch_has_these_names_too():
    if platform.machine() != 'x86_64':
        skip('such code is made on x86-64 only')
    with running(program('-O0'), 'made-pause') as process, list_of(process.pid, listing(MADE.replace(' 2 ', ' e '))):
        look(process.pid, r'sleeps in pause, in made[^ ]* \(app.js:12\)', status=1)
        with subprocess.Popen([WEFT, 'why', '--watch', '--json', str(process.pid)], stdout=subprocess.PIPE, text=True) as watch:
            wait_until('it looks', lambda: signal.SIGINT in caught(watch.pid), watch)
            let_work(watch)
            process.kill()  # the watch ends with the process
            sentences = [line['sentence'] for line in json_lines(watch.stdout.read())]
        assert any(re.match(r'pause, in made[^ ]* \(app.js:12\)', it) for it in sentences), sentences


@case
def a_look_interrupts_no_call():
    with subprocess.Popen([program('-O0'), 'epoll'], stdout=subprocess.DEVNULL) as process:
        for _ in range(30):
            weft('why', process.pid, status=None)
        process.terminate()
        equal(process.wait(), -signal.SIGTERM)


PYTHON = """
import threading, time
lock = threading.Lock()
lock.acquire()
def take():
    lock.acquire()
def \u00e9tudier():
    while True:
        len('')
threading.Thread(target=take, daemon=True).start()
def main():
    time.sleep(1000)
if %r:
    \u00e9tudier()
main()
"""


@case
def threads_of_python_have_its_frames():
    pythons = [python for python in ('/usr/bin/python3', 'python3.11', 'python3.12', 'python3.13') if has_known_frames(python)]
    if not pythons:
        skip('there is no Python 3.11 to 3.13')
    for python in pythons:
        check_python(python)


def has_known_frames(python):
    if not shutil.which(python):
        return False
    known = 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
    return subprocess.run([python, '-c', known], check=False, stderr=subprocess.DEVNULL).returncode == 0


def check_python(python):
    with running(python, '-c', PYTHON % False, threads=2) as process:
        look(process.pid, r'sleeps in clock_nanosleep for \d+\.\d+ s, in main \(<string>:12\) ← <module> \(<string>:15\)\.',
             r"waits for semaphore 0x[0-9a-f]+, which nobody owns: any thread may post it, "
             r"in take \(<string>:6\) ← Thread\.run \(threading.py:\d+\) ← ")
    with subprocess.Popen([python, '-c', PYTHON % True]) as process:
        try:
            look(process.pid, r'runs( and has the GIL)?, in étudier \(<string>:\d+\) ← <module> \(<string>:14\): in all of 3 looks within ')
        finally:
            process.kill()


RUST = """
fn take(lock: &std::sync::Mutex<i32>) { let _taken = lock.lock().unwrap(); }
fn spin() { let mut i = 0u64; loop { i = std::hint::black_box(i + 1); } }
fn main() {
    let lock = std::sync::Arc::new(std::sync::Mutex::new(1));
    let _taken = lock.lock().unwrap();
    let other = lock.clone();
    std::thread::spawn(move || take(&other));
    std::thread::spawn(spin).join().unwrap();
}
"""


@case
def functions_of_rust_that_were_inlined_are_named():
    if not shutil.which('rustc'):
        skip('no rustc')
    path = os.path.join(FOLDER.name, 'hang')
    with open(path + '.rs', 'w', encoding='utf-8') as file:
        file.write(RUST)
    subprocess.run(['rustc', '-g', '-O', path + '.rs', '-o', path], check=True)
    with subprocess.Popen([path]) as process:
        try:
            look(process.pid, r' ← hang::take \(hang.rs:2\) ← hang::main::{closure} \(hang.rs:8\)', r'runs, in hang::spin \(hang.rs:3\)', **SPINS)
        finally:
            process.kill()


GO = """package main

import "time"

func main() {
	go time.Sleep(time.Hour)
	time.Sleep(time.Hour)
}
"""


@case
def threads_of_go_wait_for_goroutines():
    if not shutil.which('go'):
        skip('no Go')
    path = os.path.join(FOLDER.name, 'goes')
    with open(path + '.go', 'w', encoding='utf-8') as file:
        file.write(GO)
    subprocess.run(['go', 'build', '-o', path, path + '.go'], check=True, env=dict(os.environ, GO111MODULE='off'))
    with subprocess.Popen([path]) as process:
        try:
            look(process.pid, r'waits for a goroutine that can run, in runtime', status=None)
        finally:
            process.kill()


@case
def a_program_for_another_machine_is_not_misread():
    path = os.path.join(FOLDER.name, 'narrow')
    if subprocess.run(['gcc', '-m32', '-x', 'c', '-', '-o', path], input='#include <unistd.h>\nint main(void) { return pause(); }', text=True, check=False).returncode:
        skip('no compiler for 32-bit programs')
    try:
        process = subprocess.Popen([path])
    except OSError as error:
        skip('32-bit programs do not run here: %s' % error)
    with process:
        try:
            look(process.pid, r"thread %d 'narrow' sleeps( in the kernel's function \w+)?\.\n" % process.pid, r'Its calls and functions are not known: ', status=1)
        finally:
            process.kill()


@case
def a_title_is_shown():
    with subprocess.Popen(['server: waits for work '], executable='/bin/cat', stdin=subprocess.PIPE) as process:
        try:
            look(process.pid, r"^cat %d, titled 'server: waits for work':" % process.pid)
            titles = {line.get('title') for line in json_lines(weft('why', '--json', process.pid, status=None).stdout) if line['pid'] == process.pid}
            equal(titles, {'server: waits for work'})
        finally:
            process.kill()
    with running('/bin/sleep', '1000') as process:
        assert 'titled' not in look(process.pid, r'^sleep %d:' % process.pid, status=None)


@case
def a_connection_leads_to_the_other_process():
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
        client = 'import socket; socket.create_connection(("127.0.0.1", %d)).recv(1)' % port
        with running('/usr/bin/python3', '-c', client) as process:
            connection, _ = server.accept()
            with connection:
                look(process.pid, r'sleeps in recvfrom of descriptor \d+ \(tcp 127\.0\.0\.1:\d+ - 127\.0\.0\.1:%d, to \S+ %d\)' % (port, os.getpid()))


@case
def all_waits_of_the_host_are_found():
    with running(program('-O0'), 'pipes', children=1) as process:
        child, = children_of(process.pid)

        def is_there():
            said = weft('why', '--all', status=None).stdout
            return all(re.search(r"thread %d '[^']*' sleeps in read of descriptor \d+ \(pipe, written by \S+ %d\), in hang_in_pipes " % ends, said)
                       for ends in ((process.pid, child), (child, process.pid)))
        wait_until('both are there', is_there)
        lines = [line for line in json_lines(weft('why', '--all', '--json', status=None).stdout) if line.get('pid') == child]
        equal([(line['waits'], line['stuck'], line['for']) for line in lines], [('peer', True, [{'pid': process.pid}])])
    weft('why', '--all', '1', status=2)


@case
def a_watch_counts_where_threads_are():
    with running(program('-O0'), 'deadlock', threads=3) as process:
        look(process.pid, r'^Deadlock: ')
        with subprocess.Popen([WEFT, 'why', '--watch', '--json', str(process.pid)], stdout=subprocess.PIPE, text=True) as watch:
            # Its handler is there before its first look, which reads this file.
            wait_until('it looks', lambda: signal.SIGINT in caught(watch.pid), watch)
            let_work(watch)
            watch.send_signal(signal.SIGINT)
            lines = json_lines(watch.stdout.read())
        equal(watch.returncode, 0)
        assert all(line['looks'] == line['of'] for line in lines), lines
        assert any(re.match(r'futex, in take_second \(outside_subject.c:\d+\) ← lock_forwards ', line['sentence']) for line in lines), lines
        equal(len({line['tid'] for line in lines}), 3)
        with subprocess.Popen([WEFT, 'why', '--watch', '--collapsed', str(process.pid)], stdout=subprocess.PIPE, text=True) as watch:
            wait_until('it looks', lambda: signal.SIGINT in caught(watch.pid), watch)
            let_work(watch)
            process.kill()  # the watch ends with the process
            stacks = watch.stdout.read().splitlines()
        assert any(re.fullmatch(r'[^;]*;.*lock_forwards;take_second;.*\[futex\] \d+', stack) for stack in stacks), stacks
    weft('why', '--watch', status=2)
    weft('why', '--collapsed', '1', status=2)
    weft('why', '-o', '/nowhere/file', '1', status=2)
    weft('why', '--watch', '--json', '-o', '/nowhere/file', '1', status=2)
    weft('why', '--watch', '--json', '--collapsed', '1', status=2)
    weft('why', '--all', '--watch', status=2)


WORKS = """
import os, select, threading
def burn():
    while not select.select([0], [], [], 0)[0]:
        pass
def rest():
    os.read(os.pipe()[0], 1)
burn()
threading.Thread(target=rest).start()
rest()
"""


@case
def a_watch_is_a_trace():
    path = os.path.join(FOLDER.name, 'watch.weft')
    with running(program('-O0'), 'deadlock', threads=3) as process:
        look(process.pid, r'^Deadlock: ')
        with subprocess.Popen([WEFT, 'why', '--watch', '-o', path, str(process.pid)]) as watch:
            wait_until('it looks', lambda: signal.SIGINT in caught(watch.pid), watch)
            let_work(watch)
            watch.send_signal(signal.SIGINT)
        equal(watch.returncode, 0)
        threads = {int(tid) for tid in os.listdir('/proc/%d/task' % process.pid)}
    info = json_lines(weft('info', '--json', path).stdout)[0]
    equal((info['threads'], info['ending']), (3, 'running'))
    events = json_lines(weft('dump', '--json', path).stdout)
    alive = [event for event in events if event['event'] == 'alive']
    equal([(event['kind'], event.get('age')) for event in alive if event['kind'] == 'thread'], [('thread', None)] * len(threads))  # older than the watch
    stacks = [event['text'] for event in events if event['event'] == 'stack']
    assert any('take_second (outside_subject.c:' in text and ' ← lock_forwards (outside_subject.c:' in text for text in stacks), stacks
    # Nothing runs, so that each thread has one wait, which lasts.
    equal(len(stacks), 3)
    rows = json_lines(weft('stats', '--json', '--by', 'stack', path).stdout)[0]['rows']
    assert any('take_second (' in row['name'] and (row['kind'], row['count']) == ('futex', 1) for row in rows), rows
    assert 'lock_backwards' in weft('why', path, status=None).stdout + weft('flame', path).stdout


@case
def a_watch_shows_when_threads_begin_run_and_end():
    path = os.path.join(FOLDER.name, 'works.weft')
    with subprocess.Popen(['/usr/bin/python3', '-c', WORKS], stdin=subprocess.PIPE) as process:
        try:
            with subprocess.Popen([WEFT, 'why', '--watch', '-o', path, str(process.pid)]) as watch:
                wait_until('it looks', lambda: signal.SIGINT in caught(watch.pid), watch)
                let_work(watch)
                process.stdin.close()
                wait_until('it has a second thread', lambda: len(os.listdir('/proc/%d/task' % process.pid)) == 2, watch)
                let_work(watch)
                process.kill()  # the watch ends with the process
        finally:
            process.kill()
    equal(watch.returncode, 0)
    info = json_lines(weft('info', '--json', path).stdout)[0]
    equal((info['threads'], info['ending']), (2, 'exit'))
    events = json_lines(weft('dump', '--json', path).stdout)
    first, later = [event for event in events if event['event'] == 'alive' and event['kind'] == 'thread']
    assert later['time'] > first['time'], events
    equal((first.get('age'), later.get('age')), (None, 0))
    rows = json_lines(weft('stats', '--json', path).stdout)[0]['rows']
    assert any(row['kind'] == 'thread' and row['running'] > 1000 for row in rows), rows
    stacks = [event['text'] for event in events if event['event'] == 'stack']
    assert any(text.startswith('rest (<string>:') for text in stacks), stacks


def runs_of(server):
    """The files in the run directories of a server's user."""
    return [os.listdir(folder.path) for folder in os.scandir(os.path.join(server.folder.name, 'run', 'weft'))]


def served(server, *command):
    """A command of weft with the only trace that is served."""
    trace, = server.traces()
    path = os.path.join(FOLDER.name, 'served.weft')
    with open(path, 'wb') as file:
        file.write(server.get('/api/trace/' + trace['id'])[2])
    return weft(*command, path).stdout


@case
def a_watch_is_served_while_it_lasts():
    with running(program('-O0'), 'deadlock', threads=3) as process:
        name = 'outside_subject-%d (from outside)' % process.pid
        with Server(str(process.pid)) as server:
            first, = server.traces()
            equal((first['name'], runs_of(server)), (name, [[name]]))
            wait_until('the functions are known', lambda: 'take_second (outside_subject.c:' in served(server, 'stats', '--by', 'stack'), server.process)
            info, = json_lines(served(server, 'info', '--json'))
            equal((info['threads'], info['ending']), (3, 'running'))
            wait_until('time goes on, although nothing happens', lambda: server.traces()[0]['bytes'] > first['bytes'], server.process)
            server.process.send_signal(signal.SIGINT)
            status_of(server.process)
            equal(runs_of(server), [])
        server = Server(str(process.pid))
        try:
            equal(runs_of(server), [[name]])
            server.process.kill()
            wait_until('its trace is removed all the same', lambda: not runs_of(server))
        finally:
            equal(server.stop(), (-signal.SIGKILL, ''))
        with Server(str(process.pid)) as server:
            process.kill()
            wait_until('the end is there', lambda: json_lines(served(server, 'info', '--json'))[0]['ending'] == 'exit', server.process)
            equal(runs_of(server), [[name]])  # the trace stays


@case
def a_view_of_a_process_says_which_rights_it_lacks():
    if os.geteuid() != 0:
        skip('needs root, to become another user')
    with running(program('-O0'), 'deadlock', threads=3) as process, temporary_directory() as folder:
        os.chown(folder, 65534, 65534)
        for command in 'view', 'serve':
            result = subprocess.run([WEFT, command, str(process.pid)], capture_output=True, text=True, check=False, user=65534,
                                    env={**os.environ, 'XDG_RUNTIME_DIR': folder})
            equal((result.returncode, result.stdout, result.stderr), (3, '', 'weft: outside_subject %d: 3 of 3 threads cannot be read: they run as another user; run as root.\n' % process.pid))
        equal(os.listdir(os.path.join(folder, 'weft')), [])


@case
def without_a_display_the_page_is_offered():
    """There is no trace that weft render could draw."""
    with running(program('-O0'), 'deadlock', threads=3) as process:
        env = {name: value for name, value in os.environ.items() if name not in ('DISPLAY', 'WAYLAND_DISPLAY')}
        result = subprocess.run([WEFT, 'view', str(process.pid)], capture_output=True, text=True, check=False, env=env)
        equal(result.returncode, 1)
        assert result.stderr.endswith(': weft serve %d, for a browser\n' % process.pid), result.stderr


@case
def a_process_that_has_ended_or_is_not_there():
    with subprocess.Popen(['true']) as process:
        wait_until('it has ended', lambda: process_stat(process.pid)[0] == b'Z')
        said = weft('why', process.pid, status=1).stdout
        assert 'has ended, and its parent, process %d, has not asked how.' % os.getpid() in said, said
    weft('why', process.pid, status=3)


main()
