# SPDX-License-Identifier: ISC
"""Processes that were not started by weft record: listed, made to record, and stopped again."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import communicate, let_work, status_of, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'attach-subject')
WORKER = os.path.join(BUILD, 'tests', 'attach-worker')


class Subject:
    """A program that records a note for each line that it reads, and answers with the line."""

    def __init__(self, path, *args, **env):
        self.env = dict(os.environ, XDG_RUNTIME_DIR=path, **env)
        self.env.pop('WEFT_OUT', None)
        self.process = subprocess.Popen([SUBJECT, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=self.env)
        self.pid = int(self.process.stdout.readline())
        equal(self.process.stdout.readline(), 'ready\n')
        self.path = path

    def say(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def weft(self, *args, **options):
        return weft(*args, env={'XDG_RUNTIME_DIR': self.path}, cwd=self.path, **options)

    def state(self):
        rows = [row for row in json_lines(self.weft('ls', '--json').stdout) if row['pid'] == self.pid]
        return rows[0]['state'] if rows else None

    def start(self, *args, program=WEFT):
        """Starts a weft command and returns it once the subject records."""
        command = subprocess.Popen([program, *map(str, args)], env=self.env, cwd=self.path, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def records():
            if self.state() == 'running':
                return True
            self.say('poke')
            return False
        wait_until('it records', records, command if args[0] != 'ctl' else None)
        return command

    def end(self, command, number=signal.SIGINT):
        command.send_signal(number)
        output, errors = communicate(command)
        equal(command.returncode, 0, errors)
        return output, errors

    @staticmethod
    def end_of(command):
        errors = communicate(command)[1]
        equal(command.returncode, 0, errors)
        return errors

    def runs(self):
        """The names of the run directories."""
        base = os.path.join(self.path, 'weft')
        return os.listdir(base) if os.path.exists(base) else []

    def notes(self, file='t.weft'):
        lines = self.weft('dump', '--json', file).stdout
        return [line['text'] for line in json_lines(lines) if line['event'] == 'note']


@contextlib.contextmanager
def subject_in(path, *args, **env):
    started = Subject(path, *args, **env)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


@contextlib.contextmanager
def subject(*args, **env):
    with temporary_directory() as path:
        os.chmod(path, 0o700)
        with subject_in(path, *args, **env) as started:
            yield started


@case
def a_linked_process_is_listed():
    before = time.time() - 1  # the kernel counts it in ticks
    with subject() as s:
        equal(s.state(), 'linked')
        row = next(row for row in json_lines(s.weft('ls', '--json').stdout) if row['pid'] == s.pid)
        equal((row['program'], row['events'], row['path']), ('attach-subject', 0, None))
        assert before <= row['started'] / 1e9 <= time.time(), row
        assert re.search(r'^%d +linked +\d+s +- +- +- +attach-subject$' % s.pid, s.weft('ls').stdout, re.M)


@case
def record_attaches_until_ctrl_c_and_again():
    with subject() as s:
        s.say('before')
        for turn in range(3):
            command = s.start('record', '-o', 't.weft', '-p', s.pid)
            for i in range(5):
                equal(s.say('in %d %d' % (turn, i)), 'in %d %d' % (turn, i))
            errors = s.end(command)[1]
            assert 'process %d records, until it ends or Ctrl-C' % s.pid in errors and 'none lost' in errors, errors
            equal([n for n in s.notes() if n != 'poke'], ['in %d %d' % (turn, i) for i in range(5)])
            s.say('between')
            equal(s.state(), 'linked')
        equal(s.runs(), [])


@case
def the_end_of_the_process_ends_the_record():
    with subject() as s:
        command = s.start('record', '-o', 't.weft', '-p', s.pid)
        s.say('last')
        s.process.kill()
        errors = communicate(command)[1]
        equal(command.returncode, 0, errors)
        equal(s.notes()[-1], 'last')


@case
def a_forked_child_is_attached_alone():
    with subject('child') as s:
        equal(s.state(), 'linked')
        command = s.start('record', '-o', 't.weft', '-p', s.pid)
        s.say('child')
        rows = {row['pid']: row['state'] for row in json_lines(s.weft('ls', '--json').stdout)}
        equal((rows[s.pid], rows[s.process.pid]), ('running', 'linked'))
        s.end(command)
        equal(s.notes()[-1], 'child')


@case
def children_are_recorded_too():
    with subject() as s:
        command = s.start('record', '-o', 't.weft', '-p', s.pid)
        equal(s.say('fork'), 'fork')
        errors = s.end(command)[1]
        assert '1 more process' in errors, errors
        pid = re.search(r't-(\d+)\.weft', errors).group(1)
        equal(s.notes('t-%s.weft' % pid), ['in the child'])


@case
def all_threads_stop():
    with subject('threads') as s:
        for _ in range(3):
            command = s.start('record', '-o', 't.weft', '-p', s.pid)
            let_work(command)
            errors = s.end(command)[1]
            assert 'still running' not in errors, errors
            equal(s.state(), 'linked')


@case
def a_stream_is_written_while_it_runs():
    with subject() as s:
        command = s.start('record', '--stream', '-o', 't.weft', '-p', s.pid)
        s.say('streamed')
        s.end(command)
        equal(s.notes()[-1], 'streamed')
        equal(s.state(), 'linked')


@case
def a_process_that_makes_no_call_is_given_up():
    with subject() as s:
        command = subprocess.Popen([WEFT, 'record', '-o', 't.weft', '-p', str(s.pid)], env=s.env, cwd=s.path, text=True,
                                   stderr=subprocess.PIPE)
        assert 'waiting for the next recording call' in command.stderr.readline()
        command.send_signal(signal.SIGINT)
        errors = communicate(command)[1]
        equal(command.returncode, 125, errors)
        assert 'has made no recording call yet' in errors, errors
        s.say('later')
        equal((s.state(), s.runs()), ('linked', []))


@case
def without_a_page_nothing_attaches():
    with subject(WEFT_ATTACH='none') as s:
        equal(s.state(), None)
        errors = s.weft('record', '-p', s.pid, status=125).stderr
        assert 'without `weft record`' in errors, errors


@case
def a_wrong_value_is_reported():
    result = run([SUBJECT], input='', env={'WEFT_ATTACH': 'yes'})
    assert re.search(r'^weft: attach-subject-\d+ ignores WEFT_ATTACH: the only value is none$', result.stderr, re.M), result.stderr


@case
def without_its_descriptor_only_root_attaches():
    with subject('close') as s:
        equal(s.state(), 'linked')
        if os.geteuid() == 0:
            s.end(s.start('record', '-o', 't.weft', '-p', s.pid))
        else:
            errors = s.weft('record', '-p', s.pid, status=125).stderr
            assert 'if it has closed the descriptor, root can' in errors, errors


@case
def tail_prints_what_comes_until_ctrl_c():
    with subject() as s:
        command = s.start('tail', '--json', s.pid)
        equal(s.say('seen'), 'seen')
        let_work(command)
        output, errors = s.end(command)
        equal([line['text'] for line in json_lines(output) if line['event'] == 'note'][-1], 'seen')
        equal((s.state(), s.runs()), ('linked', []))


FAKE_WINDOW = """#!/bin/sh
for last; do :; done
cp "${last#*:}" %s/seen.weft
echo shown
exec sleep 60
"""


@case
def view_records_while_its_window_is_open():
    with subject() as s:
        # Beside weft, its window is a script.
        programs = os.path.join(s.path, 'bin')
        os.mkdir(programs)
        shutil.copy(WEFT, programs)
        window = os.path.join(programs, 'weft-gtk')
        with open(window, 'w', encoding='utf-8') as file:
            file.write(FAKE_WINDOW % s.path)
        os.chmod(window, 0o755)
        view = s.start('view', s.pid, program=os.path.join(programs, 'weft'))
        equal(view.stdout.readline(), 'shown\n')
        view.send_signal(signal.SIGTERM)
        errors = communicate(view)[1]
        equal((view.returncode, errors), (0, ''))
        equal(s.notes('seen.weft')[0], 'poke')
        s.say('later')
        equal((s.state(), s.runs()), ('linked', []))


@case
def ctl_starts_and_stops():
    with subject() as s:
        message = s.weft('ctl', s.pid, 'status', status=3).stderr
        assert '`weft ctl %d start` makes it record' % s.pid in message, message
        errors = s.end_of(s.start('ctl', s.pid, 'start', '--size', '64K'))
        assert 'until `weft ctl %d stop`' % s.pid in errors, errors
        assert 'records already' in s.weft('ctl', s.pid, 'start', status=1).stderr
        status = json.loads(s.weft('ctl', '--json', s.pid, 'status').stdout)
        equal((status['pid'], status['recording']), (s.pid, True))
        s.weft('ctl', s.pid, 'set', 'program=off')
        s.say('dropped')
        s.weft('ctl', s.pid, 'set', 'program=debug')
        s.say('kept')
        errors = s.weft('ctl', s.pid, 'stop').stderr
        s.say('stopped')
        assert 'process %d ' % s.pid in errors and '`weft record --recover` saves its trace' in errors, errors
        assert 'does not record' in s.weft('ctl', s.pid, 'stop', status=1).stderr
        s.weft('record', '--recover', '-o', 't.weft')
        equal([note for note in s.notes() if note != 'poke'], ['kept'])
        equal((s.state(), s.runs()), ('linked', []))


@case
def ctl_stop_leaves_other_commands_alone():
    with subject() as s:
        command = s.start('record', '-o', 't.weft', '-p', s.pid)
        assert 'by a `weft record`, another command' in s.weft('ctl', s.pid, 'stop', status=1).stderr
        s.end(command)
        assert 'is not a PID' in s.weft('ctl', 't.weft', 'stop', status=2).stderr
        assert 'only `start` takes --size' in s.weft('ctl', '--size', '1M', 't.weft', 'status', status=2).stderr
        assert 'minimum is 64K' in s.weft('ctl', '--size', '1', s.pid, 'start', status=2).stderr


@case
def a_ring_elsewhere_is_found_by_its_process():
    with temporary_directory() as path:
        ring = os.path.join(path, 'own.weft')
        program = subprocess.Popen([SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=dict(os.environ, WEFT_OUT=ring, WEFT_SIZE='64K', XDG_RUNTIME_DIR=path))
        try:
            program.stdout.readline(), program.stdout.readline()
            program.stdin.write('mine\n')
            program.stdin.flush()
            program.stdout.readline()
            env = {'XDG_RUNTIME_DIR': '/nonexistent'}
            saved = os.path.join(path, 'saved.weft')
            weft('record', '-p', program.pid, '-o', saved, env=env)
            assert 'mine' in weft('dump', saved).stdout
            equal(json.loads(weft('ctl', '--json', program.pid, 'status', env=env).stdout)['recording'], True)
            assert 'by itself (WEFT_OUT)' in weft('ctl', program.pid, 'stop', env=env, status=1).stderr
        finally:
            program.communicate()


@case
def root_attaches_to_processes_of_others():
    if os.geteuid():
        skip('only root may attach to processes of others')
    with temporary_directory() as path:
        os.chmod(path, 0o700)  # root's own, which other users cannot enter
        program = subprocess.Popen([SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, user=65534,
                                   env=dict(os.environ, XDG_RUNTIME_DIR='/nonexistent'), cwd='/')
        program.stdout.readline(), program.stdout.readline()
        report = os.path.join(path, 'report')
        with open(report, 'w', encoding='utf-8') as file:
            command = subprocess.Popen([WEFT, 'record', '-o', 't.weft', '-p', str(program.pid)], cwd=path, stderr=file,
                                       env=dict(os.environ, XDG_RUNTIME_DIR=path))

        def say(line):
            program.stdin.write(line + '\n')
            program.stdin.flush()
            equal(program.stdout.readline(), line + '\n')

        def reported():
            with open(report, encoding='utf-8') as file:
                return file.read()

        def records():
            say('poke')  # the program begins to record at such a call
            return 'records, until' in reported()
        wait_until('it records', records, command, seen=reported)
        say('theirs')
        program.communicate()
        equal(status_of(command), 0, reported())
        assert 'theirs' in weft('dump', os.path.join(path, 't.weft')).stdout
        equal(glob.glob('/dev/shm/weft-65534/*/attach-subject-%d*' % program.pid), [])


@contextlib.contextmanager
def other_users(*before):
    """A program of another user; a function makes it record a note, and waits until it has."""
    program = subprocess.Popen([*before, SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd='/',
                               user=None if before else 65534, env=dict(os.environ, XDG_RUNTIME_DIR='/nonexistent'))
    program.stdout.readline(), program.stdout.readline()

    def say(line):
        program.stdin.write(line + '\n')
        program.stdin.flush()
        equal(program.stdout.readline(), line + '\n')
    try:
        yield program, say
    finally:
        program.communicate()


@case
def root_starts_and_stops_processes_of_others():
    if os.geteuid():
        skip('only root may attach to processes of others')
    with other_users() as (program, say):
        env = {'XDG_RUNTIME_DIR': ''}
        start = subprocess.Popen([WEFT, 'ctl', str(program.pid), 'start', '--size', '64K'], env=dict(os.environ, **env), text=True,
                                 stderr=subprocess.PIPE)
        while start.poll() is None:
            say('poke')
        errors = start.stderr.read()
        ring = re.search(r'records into (/dev/shm/weft-65534/record-\w+/attach-subject-\d+\.weft)', errors).group(1)
        equal(os.stat(ring).st_uid, 65534)
        rows = [row for row in json_lines(weft('ls', '--json', env=env).stdout) if row['pid'] == program.pid]
        equal([(row['state'], row['path']) for row in rows], [('running', ring)])
        errors = weft('ctl', program.pid, 'stop', env=env).stderr
        assert 'if its user calls it' in errors, errors
        say('stopped')
        shutil.rmtree(os.path.dirname(ring))


@case
def root_attaches_in_another_mount_namespace():
    if os.geteuid():
        skip('only root can make a mount namespace')
    script = 'mount -t tmpfs none /dev/shm && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0"'
    if run(['unshare', '-m', 'sh', '-c', script, 'true']).returncode:
        skip('no mount namespaces')
    with temporary_directory() as path, other_users('unshare', '-m', 'sh', '-c', script) as (program, say):
        report = os.path.join(path, 'report')
        with open(report, 'w', encoding='utf-8') as file:
            command = subprocess.Popen([WEFT, 'record', '-o', 't.weft', '-p', str(program.pid)], cwd=path, stderr=file)

        def reported():
            with open(report, encoding='utf-8') as file:
                return file.read()
        wait_until('it records', lambda: say('poke') or 'records, until' in reported(), command, seen=reported)
        say('inside')
        program.terminate()
        equal(status_of(command), 0, reported())
        assert 'inside' in weft('dump', os.path.join(path, 't.weft')).stdout


@case
def one_run_is_recovered_by_name():
    with subject() as s, subject_in(s.path) as other:
        for each in (s, other):
            each.end_of(each.start('ctl', each.pid, 'start', '--size', '64K'))
            each.say('of %d' % each.pid)
            each.weft('ctl', each.pid, 'stop')
            each.say('stopped')
        rings = [row['path'] for row in json_lines(s.weft('ls', '--json').stdout) if row['pid'] == s.pid and row['path']]
        s.weft('record', '--recover', '-o', 't.weft', os.path.dirname(rings[0]))
        equal(s.notes()[-1], 'of %d' % s.pid)
        equal(len(s.runs()), 1)
        for run in (s.path, s.pid, 'no-such-program'):
            message = s.weft('record', '--recover', run, status=125).stderr
            assert re.search('is not the directory of an orphaned run|no orphaned run is called', message), message
            assert '`weft ls` lists them' in message, message
        s.weft('record', '--recover', other.pid, '-o', 'other.weft')
        assert 'of %d' % other.pid in weft('dump', os.path.join(s.path, 'other.weft')).stdout
        equal(s.runs(), [])
        for each in (s, other):
            each.end_of(each.start('ctl', each.pid, 'start', '--size', '64K'))
            each.weft('ctl', each.pid, 'stop')
            each.say('stopped')
        s.weft('record', '--recover', os.path.basename(SUBJECT), '-o', s.path)
        equal(s.runs(), [])


def pages(pid):
    """The descriptors of a process that are pages for requests."""
    fds = '/proc/%d/fd' % pid
    found = []
    for fd in os.listdir(fds):
        try:
            found += [os.path.join(fds, fd)] if 'weft-attach' in os.readlink(os.path.join(fds, fd)) else []
        except FileNotFoundError:
            pass
    return found


def request(s, level=5, number=7, until=None, size=0):
    """Stores a request as any program of the same user can."""
    until = int((time.time() + 1000) * 1e9) if until is None else until
    page = os.open(pages(s.pid)[0], os.O_RDWR)
    os.pwrite(page, struct.pack('<QQ', until, size), 136)
    os.pwrite(page, struct.pack('<I', number), 128)
    os.pwrite(page, bytes([level]), 64)
    return page


def answer(page):
    number, = struct.unpack('<I', os.pread(page, 4, 2048))
    text = [os.pread(page, size, at).split(b'\0')[0].decode() for size, at in ((252, 2052), (1024, 2304))]
    return number, text[0], os.pread(page, 1, 64)[0], text[1]


@case
def sizes_have_bounds():
    with subject() as s:
        for number, (size, reason) in enumerate(((1, 'start: Invalid argument'), (1 << 62, 'allocate: '),
                                                 (1 << 63, 'allocate: ')), 1):
            page = request(s, number=number, size=size)
            equal(s.say('on'), 'on')
            got = answer(page)
            assert got[0] == number and got[1].startswith(reason) and got[2:] == (0, ''), (size, got)
            os.close(page)
        equal((s.state(), s.runs()), ('linked', []))
    with subject(WEFT_SIZE='128K') as s:
        page = request(s, number=1, size=131073)
        equal(s.say('on'), 'on')
        assert 'WEFT_SIZE' in answer(page)[1]
        os.close(page)
        errors = s.end_of(s.start('ctl', s.pid, 'start', '--size', '64K'))
        assert 'until `weft ctl' in errors, errors


@case
def the_process_chooses_the_directory():
    with subject() as s:
        page = request(s)
        # The bytes in which version 1 had the directory.
        os.pwrite(page, b'/tmp/\0', 152)
        equal(s.say('on'), 'on')
        number, reason, level, directory = answer(page)
        equal((number, reason, level), (7, '', 0))
        assert re.fullmatch(re.escape(s.path) + '/weft/record-[A-Za-z0-9]{6}/', directory), directory
        equal([name.startswith('attach-subject-%d' % s.pid) for name in os.listdir(directory) if name != 'first'], [True])
        os.close(page)


@case
def without_a_directory_the_message_says_what_to_set():
    if os.geteuid():
        skip('only root can take away /dev/shm')
    with temporary_directory() as path:
        # Read-only, as a service of systemd with PrivateDevices= and ProtectSystem=strict has it.
        script = 'mount -t tmpfs -o ro none /dev/shm && exec "$0"'
        program = subprocess.Popen(['unshare', '-m', 'sh', '-c', script, SUBJECT], text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, XDG_RUNTIME_DIR='/proc'))
        pid = program.stdout.readline()
        if not pid:
            skip('no mount namespaces: ' + program.communicate()[1].strip())
        program.stdout.readline()
        command = subprocess.Popen([WEFT, 'record', '-p', pid.strip()], cwd=path, text=True, stderr=subprocess.PIPE)
        while command.poll() is None:
            program.stdin.write('on\n')
            program.stdin.flush()
            equal(program.stdout.readline(), 'on\n')
        errors = command.communicate()[1]
        program.communicate()
        equal(command.returncode, 125, errors)
        assert 'XDG_RUNTIME_DIR' in errors and 'BindPaths=' in errors, errors


@case
def old_requests_are_passed_over():
    with subject() as s:
        page = request(s, until=1)
        equal(s.say('on'), 'on')
        equal(answer(page)[:2], (0, ''))
        for attack in (lambda: os.ftruncate(page, 0), lambda: os.ftruncate(page, 8192)):
            try:
                attack()
                raise AssertionError('the page changed its size')
            except PermissionError:
                pass
        os.close(page)


@case
def a_worker_without_rights_cannot_make_its_parent_record():
    if os.geteuid():
        skip('only root can start a worker of another user')
    for how in ('fork', 'clone', 'twice'):
        with temporary_directory() as path:
            os.chmod(path, 0o700)
            result = run([WORKER, how], env={'XDG_RUNTIME_DIR': path})
            equal((result.returncode, result.stdout), (0, '2 mappings, worker 0\n'), how)
            equal(os.listdir(path), [])


@case
def a_child_has_a_page_of_its_own():
    with subject('child') as s:
        own, of_parent = pages(s.pid), pages(s.process.pid)
        equal((len(own), len(of_parent)), (1, 1))
        equal(os.path.basename(own[0]), os.path.basename(of_parent[0]))
        assert os.stat(own[0]).st_ino != os.stat(of_parent[0]).st_ino
        for page in own + of_parent:
            info = open('/proc/%s/fdinfo/%s' % (page.split('/')[2], os.path.basename(page)), encoding='utf-8').read()
            equal(int(re.search(r'flags:\s+(\d+)', info).group(1), 8) & os.O_ACCMODE, os.O_RDONLY, info)


@case
def a_zombie_is_told():
    with subject() as s:
        s.process.kill()
        os.waitid(os.P_PID, s.pid, os.WEXITED | os.WNOWAIT)
        for args in (('record', '-p'), ('tail',), ('ctl',)):
            more = ['start'] if args == ('ctl',) else []
            errors = s.weft(*args, s.pid, *more, status={'record': 125, 'ctl': 1}.get(args[0], 3)).stderr
            assert 'it is a zombie' in errors, errors
        equal(s.state(), None)


@case
def a_process_that_ends_while_it_is_asked():
    with subject() as s:
        command = subprocess.Popen([WEFT, 'record', '-o', 't.weft', '-p', str(s.pid)], env=s.env, cwd=s.path, text=True,
                                   stderr=subprocess.PIPE)
        assert 'waiting for the next recording call' in command.stderr.readline()
        s.process.kill()  # nobody waits for it meanwhile
        errors = communicate(command)[1]
        equal(command.returncode, 125, errors)
        assert 'ended before it made a recording call' in errors, errors


@case
def a_process_that_ends_while_it_is_recorded():
    with subject() as s:
        command = s.start('record', '-o', 't.weft', '-p', s.pid)
        s.say('last')
        os.kill(s.pid, signal.SIGKILL)
        errors = communicate(command)[1]
        equal((command.returncode, s.notes()[-1]), (0, 'last'), errors)


@case
def a_stopped_process_is_told():
    with subject() as s:
        os.kill(s.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, s.pid, os.WSTOPPED | os.WNOWAIT)
        command = subprocess.Popen([WEFT, 'record', '-o', 't.weft', '-p', str(s.pid)], env=s.env, cwd=s.path, text=True,
                                   stderr=subprocess.PIPE)
        assert 'is stopped, by a signal or a debugger' in command.stderr.readline()
        os.kill(s.pid, signal.SIGCONT)
        s.say('on')
        assert 'records, until' in command.stderr.readline()
        s.say('going')
        s.end(command)
        equal(s.notes()[-1], 'going')


@case
def numbers_that_are_no_programs():
    with subject('threads') as s:
        thread = next(int(t) for t in os.listdir('/proc/%d/task' % s.pid) if int(t) != s.pid)
        errors = s.weft('record', '-p', thread, status=125).stderr
        assert '%d is a thread of process %d' % (thread, s.pid) in errors, errors
        result = run(['sh', '-c', 'exec "$0" record -p $$', WEFT])
        equal(result.returncode, 125)
        assert 'is this weft itself' in result.stderr, result.stderr
        assert 'there is no process' in s.weft('record', '-p', 400000001, status=125).stderr
        errors = s.weft('record', '-p', 1, status=125).stderr
        assert 'process 1 ' in errors or 'kernel' in errors, errors
        if os.path.exists('/proc/2/stat'):
            with open('/proc/2/stat', encoding='utf-8', errors='replace') as file:
                is_kernel = '(kthreadd)' in file.read()
            assert not is_kernel or 'is a thread of the kernel' in s.weft('record', '-p', 2, status=125).stderr


@case
def a_process_whose_main_thread_has_ended():
    with subject('exit') as s:
        equal(s.state(), 'linked')
        command = s.start('record', '-o', 't.weft', '-p', s.pid)
        equal(s.say('alive'), 'alive')
        equal(s.state(), 'running')
        s.end(command)
        equal((s.notes()[-1], s.state()), ('alive', 'linked'))
        errors = s.end_of(s.start('ctl', s.pid, 'start', '--size', '64K'))
        equal(s.state(), 'running', errors)
        tail = subprocess.Popen([WEFT, 'tail', '--json', str(s.pid)], env=s.env, cwd=s.path, text=True, stdout=subprocess.PIPE)
        while 'poke' not in tail.stdout.readline():
            s.say('poke')
        let_work(tail)
        equal(tail.poll(), None)
        tail.send_signal(signal.SIGINT)
        tail.communicate()


main()
