# SPDX-License-Identifier: ISC
"""weft record: statuses, signals, where the trace goes, what is printed, which files are left after failures."""
import contextlib
import fcntl
import glob
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import termios

from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import communicate, let_pass, let_work, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'record-subject')


class Workspace:
    """A working directory, and a run directory of its own."""

    def __init__(self, path):
        self.path = path
        self.run = os.path.join(path, 'run')
        os.mkdir(self.run, 0o700)
        self.cwd = os.path.join(path, 'cwd')
        os.mkdir(self.cwd)
        self.env = {'XDG_RUNTIME_DIR': self.run}

    def record(self, *args, status=0, env=None, **options):
        return weft('record', *args, status=status, cwd=self.cwd,
                    env=dict(self.env, **(env or {})), **options)

    def start(self, *args, **options):
        return subprocess.Popen([WEFT, 'record', *map(str, args)], cwd=self.cwd, errors='replace',
                                env=dict(os.environ, **self.env), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def file(self, name):
        return os.path.join(self.cwd, name)

    def files(self):
        return sorted(os.listdir(self.cwd))

    def rings(self):
        return sorted(glob.glob(os.path.join(self.run, 'weft', 'record-*', '*.weft')))

    def is_clean(self):
        return not glob.glob(os.path.join(self.run, 'weft', '*'))


@contextlib.contextmanager
def workspace():
    with temporary_directory() as path:
        yield Workspace(path)


def info(path):
    return json.loads(weft('info', '--json', path).stdout)


def notes(path):
    return info(path)['by_event'].get('note', 0)


def child_of(process):
    with open('/proc/%d/task/%d/children' % (process.pid, process.pid)) as children:
        return int(children.read().split()[0])


def finish(process, status):
    out, err = communicate(process)
    if process.returncode != status:
        raise AssertionError('exit %d, expected %d\n%s' % (process.returncode, status, err))
    return out, err


# ---- Statuses ----

@case
def status_is_the_programs():
    with workspace() as here:
        for status in (0, 1, 2, 42, 125, 255):
            here.record('-o', 't.weft', SUBJECT, 3, 'exit', status, status=status)
            equal(notes(here.file('t.weft')), 3)


@case
def status_of_a_signal():
    with workspace() as here:
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT):
            here.record('-o', 't.weft', SUBJECT, 5, 'raise', int(number), status=128 + number)
            equal(notes(here.file('t.weft')), 5)


# Installs a filter that allows no getpriority, and executes another program, which inherits it.
FILTER = """
import ctypes, os, struct, sys
call = {'x86_64': 140, 'aarch64': 141}[os.uname().machine]
rules = ((0x20, 0, 0, 0), (0x15, 0, 1, call), (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000))
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', len(rules), ctypes.addressof(code)))
prctl = ctypes.CDLL(None).prctl
assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, program, 0, 0) == 0
os.execlp(sys.executable, sys.executable, '-c', 'import os; os.getpriority(0, 0)')
"""


@case
def a_filter_of_system_calls_is_named():
    with workspace() as here:
        result = here.record(sys.executable, '-c', FILTER, status=128 + signal.SIGSYS)
        assert ' ended by SIGSYS: ' in result.stderr and 'a filter of system calls does not allow ' in result.stderr, result.stderr
        log = run(['dmesg'])
        if 'type=1326' in log.stdout:
            assert 'does not allow getpriority (' in result.stderr, result.stderr
        sent = here.record(SUBJECT, 5, 'raise', int(signal.SIGSYS), status=128 + signal.SIGSYS).stderr
        assert 'ended by SIGSYS: if nobody sent it, ' in sent, sent
        other = here.record(SUBJECT, 5, 'raise', int(signal.SIGSEGV), status=128 + signal.SIGSEGV).stderr
        assert 'SIGSYS' not in other, other


@case
def program_that_cannot_be_run():
    with workspace() as here:
        for program, status, message in ((here.file('none'), 127, 'not found'),
                                         ('no-such-program-anywhere', 127, 'not found'),
                                         (here.cwd, 126, 'Permission denied'),
                                         ('/etc/passwd', 126, 'Permission denied')):
            result = here.record(program, status=status)
            assert message in result.stderr, result.stderr
            equal(len(result.stderr.splitlines()), 1)
        equal(here.files(), [])
        assert here.is_clean()


@case
def program_that_is_nowhere_though_a_directory_is_closed():
    with workspace() as here:
        os.mkdir(here.file('closed'), 0)
        path = here.file('closed') + ':' + os.environ['PATH']
        if os.geteuid() == 0 and not shutil.which('setpriv'):
            skip('setpriv is missing')
        drop = ['setpriv', '--reuid=65534', '--clear-groups'] if os.geteuid() == 0 else []
        os.chmod(here.path, 0o755)
        result = run([*drop, WEFT, 'record', '-o', '-', 'no-such-program-anywhere'], cwd='/',
                     env={'PATH': path, 'XDG_RUNTIME_DIR': ''})
        if 'setpriv:' in result.stderr:
            skip('another user cannot run weft here: ' + result.stderr.strip())
        equal(result.stderr, 'weft: no-such-program-anywhere: not found\n')
        equal(result.returncode, 127)


@case
def wrong_use():
    with workspace() as here:
        for arguments, message in (([], 'PROGRAM is missing'), (['--'], 'PROGRAM is missing'),
                                   (['--frobnicate', 'true'], 'unknown option'),
                                   (['-o'], 'needs a value'), (['-o', '', 'true'], 'name is empty'),
                                   (['--size', 'big', 'true'], 'is not a size'),
                                   (['--size', '65535', 'true'], 'too small'),
                                   (['--size', '18446744073709551615G', 'true'], 'more than 2^64')):
            result = here.record(*arguments, status=2)
            assert message in result.stderr, (arguments, result.stderr)
            equal(result.stdout, '')
        result = here.record('true', status=2, env={'WEFT_SIZE': '12'})
        assert 'WEFT_SIZE' in result.stderr, result.stderr
        equal(here.files(), [])


@case
def options_end_at_the_program():
    with workspace() as here:
        result = here.record('echo', '-o', 'x', '--size', '--help')
        equal(result.stdout, '-o x --size --help\n')
        equal(here.record('--', 'echo', '--', '-o').stdout, '-- -o\n')
        equal(here.files(), [])


# ---- Messages ----

@case
def the_path_of_the_trace_is_reported():
    with workspace() as here:
        result = here.record(SUBJECT, 1234, 'exit', 0)
        equal(len(here.files()), 1)
        name = here.files()[0]
        assert re.fullmatch(r'record-subject-\d+\.weft', name), name
        first, second = result.stderr.splitlines()
        equal(first, 'weft: %s: 16 MiB, 1,234 events, none lost' % name)
        assert '`weft info %s`' % name in second, second
        assert here.is_clean()


@case
def totals_of_counters_are_no_events():
    with workspace() as here:
        result = here.record('-o', 't.weft', os.path.join(BUILD, 'examples', 'echo-server'))
        summary = info(here.file('t.weft'))
        assert summary['counters'], summary
        assert ' %d events, none lost' % summary['events'] in result.stderr, (result.stderr, summary['events'])


@case
def losses_are_reported():
    with workspace() as here:
        result = here.record('-o', 't.weft', '--size', '64K', SUBJECT, 20000, 'exit', 0)
        match = re.search(r'64 KiB, ([\d,]+) events?, ([\d,]+) lost \(([\d,]+) overwritten\)', result.stderr)
        assert match, result.stderr
        kept, lost, overwritten = (int(number.replace(',', '')) for number in match.groups())
        equal(kept + lost, 20000)
        equal(overwritten, lost)
        assert kept > 1000, kept
        assert '--size' in result.stderr
        equal(info(here.file('t.weft'))['losses'], {'overwritten': lost})


@case
def a_program_without_events_is_reported():
    with workspace() as here:
        result = here.record('sh', '-c', 'exit 3', status=3)
        assert 'sh recorded nothing: it is ' in result.stderr, result.stderr
        equal(len(result.stderr.splitlines()), 1)
        equal(here.files(), [])
        assert here.is_clean()


def nothing(here, *program, **options):
    """The message about a program that records nothing."""
    result = here.record(*program, status=None, **options)
    message, = (line for line in result.stderr.splitlines() if 'recorded nothing' in line)
    return message


def elf(path, machine=None, static=False, extra=b''):
    """Copies `true`, with changes that keep it from running as it did; ends in `extra`."""
    with open(shutil.which('true'), 'rb') as file:
        content = bytearray(file.read())
    if machine:
        content[18:20] = machine.to_bytes(2, 'little')
    at, size, count = (int.from_bytes(content[a:b], 'little') for a, b in ((32, 40), (54, 56), (56, 58)))
    for header in range(at, at + size * count, size):
        if static and content[header:header + 4] == b'\3\0\0\0':  # PT_INTERP
            content[header:header + 4] = bytes(4)
    with open(path, 'wb') as file:
        file.write(bytes(content) + extra)
    os.chmod(path, 0o755)


def script(path, text):
    with open(path, 'w') as file:
        file.write(text)
    os.chmod(path, 0o755)


@case
def reasons_why_a_program_recorded_nothing():
    with workspace() as here:
        message = nothing(here, 'true')
        assert 'it is not linked with libweft, and adapters are left out (-a none)' in message, message
        assert '`pkg-config --cflags --libs weft`' in message, message
        script(here.file('script'), '#! /bin/sh -e\n:\n')
        message = nothing(here, './script')
        assert 'it is a script, and its interpreter /bin/sh is not linked with libweft' in message, message
        script(here.file('by-env'), '#!/usr/bin/env -S A=b sh -e\n:\n')
        message = nothing(here, './by-env')
        assert re.search('its interpreter /\\S+/sh is not linked', message), message
        script(here.file('nested'), '#!%s\n' % here.file('script'))
        assert 'its interpreter /bin/sh is' in nothing(here, './nested')
        script(here.file('plain'), 'exit 0\n')
        assert 'its interpreter /bin/sh is' in nothing(here, './plain')


@case
def reasons_that_the_elf_file_tells():
    with workspace() as here:
        for what, options in (('it is statically linked, so adapters cannot be loaded into it', {'static': True}),
                              ('it is a Go program, which calls the kernel', {'extra': b'\xff Go buildinf:'}),
                              ('it is a program for AArch64; link it', {'machine': 183}),
                              ('it is linked with libweft but made no buffer', {'extra': b'libweft.so.0'})):
            # The file of the program is replaced while it runs: not all of these run here.
            script(here.file('program'), '#!/bin/sh\nmv other program\n')
            elf(here.file('other'), **options)
            message = nothing(here, './program')
            assert what in message, message


@case
def program_without_events_leaves_an_empty_trace():
    with workspace() as here:
        result = here.record('-o', 't.weft', SUBJECT, 0, 'exit', 0)
        assert 't.weft: 16 MiB, 0 events, none lost' in result.stderr, result.stderr
        assert re.search(r'record-subject-\d+ is linked with libweft but recorded no event', result.stderr), result.stderr
        equal(info(here.file('t.weft'))['events'], 0)
        result = here.record('-o', 't.weft', SUBJECT, 1, 'exit', 0)
        assert 'recorded no event' not in result.stderr, result.stderr


@case
def a_program_that_cannot_record_is_reported_with_the_reason():
    with workspace() as here:
        result = here.record('-o', 't.weft', '--size', '8000G', SUBJECT, 3, 'exit', 7, status=7)
        assert re.search(r'record-subject-\d+ could not record: \S+', result.stderr), result.stderr
        equal(here.files(), [])
        assert here.is_clean()


@case
def what_is_required():
    """--require makes a loss, or nothing at all, a failure."""
    with workspace() as here:
        for options in ((), ('--stream',)):
            here.record('--require', *options, '-o', 't.weft', SUBJECT, 3, 'exit', 0)
            here.record('--require', *options, '-o', 't.weft', SUBJECT, 3, 'exit', 7, status=7)
            for arguments, reason in (((SUBJECT, 0, 'exit', 0), 'no event was recorded'),
                                      (('true',), 'no event was recorded'),
                                      (('--size', '8000G', SUBJECT, 3, 'exit', 0), '1 process did not record everything')):
                result = here.record('--require', *options, '-o', 't.weft', *arguments, status=125)
                assert '--require: ' + reason in result.stderr, result.stderr
                assert here.is_clean(), (options, arguments, result.stderr)
        result = here.record('--require', '--size', '64K', '-o', 't.weft', SUBJECT, 20000, 'exit', 0, status=125)
        assert re.search(r'--require: \d+ events were lost; use a larger --size', result.stderr), result.stderr
        assert notes(here.file('t.weft')) > 1000
        here.record('--require', here.file('none'), status=127)
        assert 'runs no program' in here.record('--require', '--recover', status=2).stderr


# ---- Where it goes ----

@case
def output_may_be_a_directory():
    with workspace() as here:
        os.mkdir(here.file('traces'))
        for output in ('traces', 'traces/', here.file('traces')):
            here.record('-o', output, SUBJECT, 1, 'exit', 0)
        equal(len(os.listdir(here.file('traces'))), 3)
        equal(here.files(), ['traces'])


@case
def environment_is_the_default():
    with workspace() as here:
        here.record(SUBJECT, 1, 'exit', 0, env={'WEFT_OUT': 'env.weft', 'WEFT_SIZE': '128K'})
        equal(here.files(), ['env.weft'])
        equal(os.path.getsize(here.file('env.weft')), 128 << 10)
        here.record('-o', 'arg.weft', '--size', '1M', SUBJECT, 1, 'exit', 0,
                    env={'WEFT_OUT': 'env.weft', 'WEFT_SIZE': '128K'})
        equal(os.path.getsize(here.file('arg.weft')), 1 << 20)


@case
def output_to_standard_output():
    with workspace() as here:
        result = here.record('-o', '-', 'sh', '-c', 'echo talk; exec "$0" 4 exit 6', SUBJECT, status=6,
                             text=False)
        shown = run([WEFT, 'info', '--json', '-'], input=result.stdout, text=False)
        equal(json.loads(shown.stdout)['by_event'], {'note': 4})
        assert b'talk' in result.stderr, result.stderr
        equal(here.files(), [])
        assert here.is_clean()


@case
def trace_is_sparse_and_private():
    with workspace() as here:
        here.record('-o', 't.weft', SUBJECT, 10, 'exit', 0)
        status = os.stat(here.file('t.weft'))
        equal(status.st_size, 16 << 20)
        assert status.st_blocks * 512 < 1 << 20, status.st_blocks
        equal(status.st_mode & 0o777, 0o600)


@case
def replaces_traces_and_nothing_else():
    with workspace() as here:
        here.record('-o', 't.weft', SUBJECT, 1, 'exit', 0)
        here.record('-o', 't.weft', SUBJECT, 2, 'exit', 0)
        equal(notes(here.file('t.weft')), 2)
        open(here.file('empty'), 'w').close()
        here.record('-o', 'empty', SUBJECT, 3, 'exit', 0)
        equal(notes(here.file('empty')), 3)
        with open(here.file('diary'), 'w') as diary:
            diary.write('dear diary')
        result = here.record('-o', 'diary', 'sh', '-c', 'echo ran', status=125)
        assert 'is not a weft trace' in result.stderr, result.stderr
        equal(result.stdout, '')  # before the program runs
        with open(here.file('diary')) as diary:
            equal(diary.read(), 'dear diary')
        result = here.record('-o', '/dev/null', 'true', status=125)
        assert 'is not a weft trace' in result.stderr, result.stderr


@case
def replaces_what_a_link_leads_to():
    with workspace() as here:
        here.record('-o', 't.weft', SUBJECT, 1, 'exit', 0)
        os.symlink('t.weft', here.file('link'))
        here.record('-o', 'link', SUBJECT, 2, 'exit', 0)
        assert os.path.islink(here.file('link'))
        equal(notes(here.file('t.weft')), 2)


@case
def a_file_that_was_made_meanwhile_stays():
    with workspace() as here:
        script = 'echo precious > t.weft; exec "$0" 8 exit 0'
        result = here.record('-o', 't.weft', 'sh', '-c', script, SUBJECT)
        equal(open(here.file('t.weft')).read(), 'precious\n')
        assert 't.weft was made by another program meanwhile, and stays; the traces get the next free name' in result.stderr, result.stderr
        equal(notes(here.file('t_2.weft')), 8)


@case
def a_directory_is_made():
    with workspace() as here:
        here.record('-o', 'made/', SUBJECT, 3, 'exit', 0)
        equal(here.files(), ['made'])
        equal(len(os.listdir(here.file('made'))), 1)
        result = here.record('-o', 'none/made/', 'sh', '-c', 'echo ran', status=125)
        assert 'none/made/: No such file' in result.stderr, result.stderr
        equal(result.stdout, '')


@case
def directory_that_cannot_be_written():
    with workspace() as here:
        result = here.record('-o', 'none/t.weft', 'sh', '-c', 'echo ran', status=125)
        assert 'none/t.weft cannot be written: No such file' in result.stderr, result.stderr
        equal(result.stdout, '')
        result = here.record('-o', '/proc/t.weft', 'sh', '-c', 'echo ran', status=125)
        assert '/proc/t.weft' in result.stderr, result.stderr
        assert here.is_clean()


@case
def names_are_shown_so_that_they_cannot_drive_a_terminal():
    with workspace() as here:
        result = here.record('-o', 'a\x1b[31m b.weft', SUBJECT, 1, 'exit', 0)
        assert '\x1b' not in result.stderr, result.stderr
        equal(here.files(), ['a\x1b[31m b.weft'])


# ---- Signals ----

def signals_seen(process):
    os.kill(child_of(process), signal.SIGUSR2)
    out, _ = finish(process, 0)
    return [int(line) for line in out.split()]


def wait_for_ready(process):
    equal(process.stdout.readline(), 'ready\n')


def wait_for_line(process, line):
    equal(process.stdout.readline(), '%d\n' % line)


@case
def signals_are_passed_on_once():
    wanted = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1,
              signal.SIGALRM, signal.SIGRTMIN + 1]
    with workspace() as here:
        process = here.start('-o', 't.weft', SUBJECT, 2, 'wait')
        wait_for_ready(process)
        for number in wanted:
            os.kill(process.pid, number)
            wait_for_line(process, number)
        equal(signals_seen(process), [])
        equal(notes(here.file('t.weft')), 2)


@case
def ignored_signals_stay_ignored():
    script = "trap '' HUP CHLD; exec \"$0\" record -o t.weft sh -c 'kill -HUP $$; exit 9'"
    with workspace() as here:
        result = run(['sh', '-c', script, WEFT], cwd=here.cwd, env=here.env)
        equal(result.returncode, 9)


@case
def control_c_reaches_the_program_once():
    with workspace() as here:
        master, terminal = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

        process = here.start('-o', 't.weft', SUBJECT, 2, 'wait', stdin=terminal,
                             preexec_fn=take_terminal)
        wait_for_ready(process)
        os.write(master, b'\x03')
        wait_for_line(process, signal.SIGINT)
        os.write(master, b'\x1c')
        wait_for_line(process, signal.SIGQUIT)
        let_work(process)
        equal(signals_seen(process), [])
        os.close(master)
        os.close(terminal)
        equal(notes(here.file('t.weft')), 2)


@case
def killed_program_leaves_a_complete_trace():
    with workspace() as here:
        process = here.start('-o', 't.weft', SUBJECT, 3000, 'wait')
        wait_for_ready(process)
        os.kill(child_of(process), signal.SIGKILL)
        finish(process, 137)
        equal(notes(here.file('t.weft')), 3000)
        equal(info(here.file('t.weft'))['diagnostics'], [])


@case
def killed_recorder_leaves_the_ring():
    with workspace() as here:
        process = here.start('-o', 't.weft', SUBJECT, 30, 'wait')
        wait_for_ready(process)
        program = child_of(process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        ring, = here.rings()
        equal(notes(ring), 30)
        os.kill(program, signal.SIGUSR2)
        wait_until('the program ends', lambda: not os.path.exists('/proc/%d' % program))
        process.communicate()
        equal(notes(ring), 30)


@case
def readable_while_the_program_runs():
    with workspace() as here:
        process = here.start('-o', 't.weft', SUBJECT, 300, 'wait')
        wait_for_ready(process)
        ring, = here.rings()
        equal(notes(ring), 300)
        equal(info(ring)['diagnostics'], [])
        equal(signals_seen(process), [])


# ---- Several processes ----

@case
def several_processes_have_a_directory():
    with workspace() as here:
        result = here.record('-a', 'none', '--size', '64K', 'sh', '-c', '"$0" 1 exit 0; "$0" 2 exit 0; "$0" 3 exit 0', SUBJECT)
        name, = here.files()
        files = os.listdir(here.file(name))
        equal(sorted(file.rsplit('-', 1)[0] for file in files), ['record-subject'] * 3)
        assert name + '.weft' in files, (name, files)
        assert '`weft info %s/`' % name in result.stderr and '%s.svg' % name in result.stderr, result.stderr
        info = weft('info', here.file(name)).stdout
        equal(info.count('record-subject ') >= 3, True)


@case
def child_is_saved_beside():
    with workspace() as here:
        result = here.record('-o', 't.weft', SUBJECT, 5, 'fork', 7)
        other, first = here.files()
        equal(first, 't.weft')
        assert re.fullmatch(r't-\d+\.weft', other), other
        equal((notes(here.file(first)), notes(here.file(other))), (5, 7))
        assert '1 more process: ' + other in result.stderr, result.stderr
        assert here.is_clean()


@case
def children_of_a_script():
    with workspace() as here:
        here.record('-o', 't.weft', 'sh', '-c', '"$0" 1 exit 0; "$0" 2 exit 0; "$0" 3 exit 0', SUBJECT)
        equal(len(here.files()), 3)
        equal(notes(here.file('t.weft')), 1)
        equal(sorted(notes(here.file(name)) for name in here.files()), [1, 2, 3])


@case
def each_program_of_a_process_is_saved():
    with workspace() as here:
        result = here.record('-o', 't.weft', SUBJECT, 5, 'exec', 7)
        equal(len(here.files()), 2)
        equal(sorted(notes(here.file(name)) for name in here.files()), [5, 7])
        other, = (name for name in here.files() if name != 't.weft')
        assert re.search(r'1 more program that process \d+ executed: ' + other, result.stderr), result.stderr


@case
def process_numbers_of_another_namespace():
    """Process 1 of the namespace has ended; the one that has this number here runs on."""
    with workspace() as here:
        for options in ((), ('--stream',)):
            result = here.record(*options, '-o', 't.weft', 'unshare', '-rpf', SUBJECT, 3, 'raise', 0, status=None)
            if 'unshare:' in result.stderr:
                skip('no PID namespace can be made here: ' + result.stderr.strip())
            assert 't.weft' in result.stderr and 'still running' not in result.stderr, result.stderr
            equal(info(here.file('t.weft'))['ending'], 'exit')


@case
def process_that_runs_on_is_saved_as_it_is():
    with workspace() as here:
        read_end, write_end = os.pipe()
        with open(os.devnull) as null:
            process = subprocess.Popen(
                [WEFT, 'record', '-o', 't.weft', 'sh', '-c', '"$0" 5 orphan 7 <&%d >ready & '
                 'until test -s ready; do sleep 0.01; done' % read_end, SUBJECT], cwd=here.cwd, stdin=null,
                env=dict(os.environ, **here.env), stderr=subprocess.PIPE, text=True, pass_fds=(read_end,))
        os.close(read_end)
        stderr = process.stderr.readline() + process.stderr.readline() + process.stderr.readline()
        process.wait()
        os.close(write_end)
        assert 'still running' in stderr, stderr
        traces = sorted(name for name in here.files() if name.endswith('.weft'))
        equal(sorted(notes(here.file(name)) for name in traces), [5, 7])
        assert here.is_clean()


# A child that damages its own ring and runs on: the first packet lies 1 GiB behind the ring's end.
DAMAGE = """
import glob, mmap, os, struct, sys, time
if os.fork() == 0:
    os.setsid()
    path = os.environ['WEFT_OUT'] + 'evil-%d.weft' % os.getpid()
    with open(sys.argv[1], 'rb') as good:
        ring = bytearray(good.read(1 << 20))
    struct.pack_into('<I', ring, 28, 0)
    struct.pack_into('<Q', ring, 32, 1 << 30)
    struct.pack_into('<I', ring, 208, os.getpid())
    with open(path + '~', 'w+b') as file:
        file.write(ring)
        file.flush()
        mapping = mmap.mmap(file.fileno(), 0)
    os.rename(path + '~', path)
    open('evil', 'w').write(str(os.getpid()))
    for fd in range(3):
        os.close(fd)
    time.sleep(60)
    os._exit(0)
while not os.path.exists('evil'):
    time.sleep(0.01)
os.execv(sys.argv[2], [sys.argv[2], '5', 'exit', '0'])
"""


@case
def a_ring_with_a_damaged_header_is_refused():
    """It would make a copy read and write outside of the ring; the program's own trace is saved."""
    with workspace() as here:
        here.record('--size', '1M', '-o', 'seed.weft', SUBJECT, 3, 'exit', 0)
        result = here.record('-o', 't.weft', sys.executable, '-c', DAMAGE, here.file('seed.weft'), SUBJECT, status=None)
        with open(here.file('evil')) as file:
            os.kill(int(file.read()), signal.SIGKILL)
        equal(notes(here.file('t.weft')), 5, result.stderr)
        assert 'because its header is damaged' in result.stderr, result.stderr
        equal(result.returncode, 125, result.stderr)
        equal([name for name in here.files() if name.endswith('.weft')], ['seed.weft', 't.weft'])


# ---- Whatever the program is like ----

@case
def from_the_first_constructor_to_the_last_destructor():
    with workspace() as here:
        for name in ('lifetime', 'lifetime-static'):
            here.record('-o', 't.weft', os.path.join(BUILD, 'tests', name))
            events = json_lines(weft('dump', '--json', here.file('t.weft')).stdout)
            equal([e['text'] for e in events], ['constructor', 'main', 'atexit', 'destructor'], name)


@case
def signals_do_not_interrupt_the_beginning():
    with workspace() as here:
        here.record('-o', 't.weft', os.path.join(BUILD, 'tests', 'interrupted'))
        equal(sorted(notes(here.file(name)) for name in here.files()), [0, 1])


# ---- Accidents ----

@case
def full_disk_keeps_the_ring():
    with workspace() as here:
        os.mkdir(here.file('disk'))
        script = ('mount -t tmpfs -o size=256k none disk || exit 99; '
                  '"$0" record --size 4M -o disk/t.weft "$1" 200000 exit 0; code=$?; ls -A disk; exit $code')
        result = run(['unshare', '-rm', 'sh', '-c', script, WEFT, SUBJECT], cwd=here.cwd, env=here.env)
        if result.returncode in (1, 99):
            skip('no file system can be mounted here: ' + result.stderr.strip())
        equal(result.returncode, 125, result.stderr)
        equal(result.stdout, '')  # nothing half is left
        ring, = here.rings()
        assert 'disk/t.weft: No space left on device; the trace stays in ' + ring in result.stderr, result.stderr
        assert notes(ring) > 10000


@case
def file_size_limit_keeps_the_ring():
    with workspace() as here:
        process = here.start('-o', 't.weft', '--size', '1M', SUBJECT, 20000, 'wait')
        wait_for_ready(process)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (65536, 65536))
        os.kill(child_of(process), signal.SIGUSR2)
        _, err = finish(process, 125)
        ring, = here.rings()
        assert 't.weft: File too large; the trace stays in ' + ring in err, err
        equal(here.files(), [])


@case
def file_size_limit_does_not_end_the_program():
    with workspace() as here:
        result = run(['sh', '-c', 'ulimit -f 100; exec "$0" record -o t.weft "$1" 3 exit 4', WEFT, SUBJECT],
                     cwd=here.cwd, env=here.env)
        equal(result.returncode, 4, result.stderr)
        assert 'could not record: allocate: File too large' in result.stderr, result.stderr
        assert 'each process needs a file of 64 KiB to 16 MiB: use a smaller --size, or a higher `ulimit -f`' in result.stderr
        assert "the exit status is the program's, 4; with --require it would be 125" in result.stderr, result.stderr
        equal(here.files(), [])


@case
def interrupted_saving_keeps_the_ring():
    with workspace() as here:
        process = here.start('-o', '-', '--size', '1M', SUBJECT, 20000, 'exit', 0)
        select.select([process.stdout], [], [])
        let_pass(2)  # saving takes long: it waits for a reader
        os.kill(process.pid, signal.SIGINT)
        _, err = finish(process, 125)
        ring, = here.rings()
        assert 'Interrupted system call; the trace stays in ' + ring in err, err


@case
def no_room_for_the_ring():
    with workspace() as here:
        script = ('mount -t tmpfs -o size=256k none "$2" || exit 99; chmod 700 "$2"; '
                  '"$0" record --size 1M -o t.weft "$1" 3 exit 4')
        result = run(['unshare', '-rm', 'sh', '-c', script, WEFT, SUBJECT, here.run], cwd=here.cwd, env=here.env)
        if result.returncode in (1, 99):
            skip('no file system can be mounted here: ' + result.stderr.strip())
        equal(result.returncode, 4, result.stderr)
        assert 'No space left on device' in result.stderr, result.stderr
        assert re.search(r'each process needs 1 MiB in %s/weft/record-\w+/, which has 2\d\d KiB left: use a smaller '
                         '--size' % re.escape(here.run), result.stderr), result.stderr
        equal(here.files(), [])


@case
def run_directory_must_be_ours():
    with workspace() as here:
        os.symlink(here.cwd, os.path.join(here.run, 'weft'))
        result = here.record('true', status=125)
        assert 'cannot make a run directory' in result.stderr, result.stderr
        os.unlink(os.path.join(here.run, 'weft'))
        os.mkdir(os.path.join(here.run, 'weft'), 0o777)
        os.chmod(os.path.join(here.run, 'weft'), 0o777)
        here.record('-o', 't.weft', SUBJECT, 1, 'exit', 0)
        # Root's children may drop its rights: they go through it, and still see nothing.
        equal(os.stat(os.path.join(here.run, 'weft')).st_mode & 0o777, 0o711 if os.geteuid() == 0 else 0o700)


@case
def run_directories_of_other_users_are_not_used():
    if os.geteuid() != 0:
        skip('only root can give a directory away')
    with workspace() as here:
        os.chown(here.run, 65534, 65534)
        here.record('-o', 't.weft', SUBJECT, 1, 'exit', 0)
        equal(os.listdir(here.run), [])


@case
def no_run_directory_at_all():
    with workspace() as here:
        result = here.record('-o', 't.weft', SUBJECT, 1, 'exit', 0, env={'XDG_RUNTIME_DIR': ''})
        equal(notes(here.file('t.weft')), 1, result.stderr)


@case
def program_sees_our_descriptors_and_no_more():
    with workspace() as here:
        plain = run(['ls', '/proc/self/fd'], cwd=here.cwd)
        recorded = here.record('ls', '/proc/self/fd')
        equal(recorded.stdout, plain.stdout)


main()
