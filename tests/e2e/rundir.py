# SPDX-License-Identifier: ISC
"""Run directories with entries of other users, truncated rings, and saved files: their owners, that they reach
the disk, and what remains after a full disk."""
import contextlib
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys

from harness import BUILD, WEFT, case, equal, json_lines, main, ring_lines, run, skip, temporary_directory, weft
from waiting import LAST_RESORT, communicate

SUBJECT = os.path.join(BUILD, 'tests', 'record-subject')
STREAMER = os.path.join(BUILD, 'tests', 'stream-subject')
SHIM = os.path.join(BUILD, 'tests', 'rundir-shim.so')
CALM = {'ASAN_OPTIONS': 'verify_asan_link_order=0:handle_sigbus=0:detect_leaks=0', 'TSAN_OPTIONS': 'handle_sigbus=0'}
NOBODY = 65534
ENDED = 4194303  # the highest process number of Linux: no process has it
SPARSE_BYTES = 100 << 30


class Workspace:
    def __init__(self, path):
        os.chmod(path, 0o711)  # a child of another user goes through it
        self.path = path
        self.run = os.path.join(path, 'run')
        os.mkdir(self.run)
        os.chmod(self.run, 0o711)
        self.cwd = os.path.join(path, 'cwd')
        os.mkdir(self.cwd)
        self.env = dict(CALM, XDG_RUNTIME_DIR=self.run)

    def weft(self, *args, status=0, env=None, **options):
        return weft(*args, status=status, cwd=self.cwd, env=dict(self.env, **(env or {})), **options)

    def start(self, *args, **options):
        process = subprocess.Popen([WEFT, *map(str, args)], cwd=self.cwd, env=dict(os.environ, **self.env), text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        return process

    def file(self, name):
        return os.path.join(self.cwd, name)

    def directory(self, mode=0o700):
        """A run directory as a killed weft record leaves it."""
        base = os.path.join(self.run, 'weft')
        os.makedirs(base, exist_ok=True)
        os.chmod(base, 0o711)
        directory = os.path.join(base, 'record-abcdef')
        os.mkdir(directory)
        os.chmod(directory, mode)
        return directory

    def trace(self, name='good.weft', notes=5):
        self.weft('record', '--size', '64K', '-o', name, SUBJECT, notes, 'exit', 0)
        return self.file(name)

    def rings(self):
        return glob.glob(os.path.join(self.run, 'weft', 'record-*', '*'))


@contextlib.contextmanager
def workspace():
    with temporary_directory() as path:
        yield Workspace(path)


def notes(path):
    return json.loads(weft('info', '--json', path).stdout)['by_event'].get('note', 0)


def needs_root():
    if os.geteuid() != 0:
        skip('only root has a run directory that others may write; this runs as user %d' % os.geteuid())
    if not shutil.which('setpriv'):
        skip('setpriv of util-linux is not here')


def as_user(user):
    return ['setpriv', '--reuid=%d' % user, '--regid=%d' % user, '--clear-groups']


def python_of(user):
    """An interpreter that another user reaches."""
    for path in (sys.executable, '/usr/bin/python3'):
        if run([*as_user(user), path, '-c', '']).returncode == 0:
            return path
    return skip('user %d reaches no Python' % user)


def make_sparse(path, trace):
    """A valid header, and no end."""
    shutil.copyfile(trace, path)
    os.truncate(path, SPARSE_BYTES)


def plant_all(directory, trace):
    """Makes one of each kind of entry that is not a ring; returns their names."""
    os.mkfifo(os.path.join(directory, 'fifo-1.weft'))
    os.mkdir(os.path.join(directory, 'directory-1.weft'))
    os.symlink('/nowhere/at-all', os.path.join(directory, 'dangling-1.weft'))
    os.symlink('/etc/../dev/null', os.path.join(directory, 'device-1.weft'))
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as one:
        here = os.getcwd()
        os.chdir(directory)  # a socket's path is short
        one.bind('socket-1.weft')
        os.chdir(here)
    make_sparse(os.path.join(directory, 'sparse-1.weft'), trace)
    return ['fifo', 'directory', 'dangling', 'device', 'socket', 'sparse']


@case
def ls_names_and_skips_entries_that_are_not_rings():
    with workspace() as here:
        trace = here.trace()
        directory = here.directory()
        names = plant_all(directory, trace)
        shutil.copyfile(trace, os.path.join(directory, 'good-%d.weft' % ENDED))
        result = here.weft('ls', '--json')
        equal([row['path'].split('/')[-1] for row in ring_lines(result.stdout, here.path)], ['good-%d.weft' % ENDED])
        lines = result.stderr.splitlines()
        for name in names:
            named, = [line for line in lines if '/%s-1.weft is skipped: it is ' % name in line]
            assert named.startswith('weft: '), named


@case
def serve_lists_the_good_one_and_ends_when_asked():
    with workspace() as here:
        trace = here.trace()
        if 'built without a server' in run([WEFT, 'serve', '--listen', '127.0.0.1:0', '/nowhere']).stderr:
            skip('built without libmicrohttpd')
        directory = here.directory()
        plant_all(directory, trace)
        shutil.copyfile(trace, os.path.join(directory, 'good-%d.weft' % ENDED))
        os.mkdir(here.file('empty'))
        server = here.start('serve', '--listen', '127.0.0.1:0', here.file('empty'))
        try:
            url = server.stdout.readline().strip()
            address = url.split('/')[2]
            query = '?' + url.split('?')[1].split('#')[0] if '?' in url else ''
            for _ in range(3):
                one = http.client.HTTPConnection(address, timeout=LAST_RESORT)
                one.request('GET', '/api/traces' + query)
                listed = json.loads(one.getresponse().read())
                one.close()
                equal([trace['pid'] for trace in listed], [ENDED])
        finally:
            server.send_signal(signal.SIGTERM)
            out, err = communicate(server)
        equal(server.returncode, 0, err)
        equal(err.count('fifo-1.weft is skipped: it is a FIFO'), 1, err)


@case
def recover_saves_the_good_one_and_skips_the_rest():
    with workspace() as here:
        directory = here.directory()
        trace = here.trace()
        plant_all(directory, trace)
        os.rename(os.path.join(directory, 'sparse-1.weft'), os.path.join(directory, 'sparse-%d.weft' % ENDED))
        shutil.copyfile(trace, os.path.join(directory, 'good-%d.weft' % (ENDED - 1)))
        report = here.weft('record', '--recover').stderr
        equal(notes(here.file('good-%d.weft' % (ENDED - 1))), 5)
        assert 'fifo-1.weft is skipped: it is a FIFO' in report, report
        # A file of holes is copied as one: as many blocks as it had.
        copy = os.stat(here.file('sparse-%d.weft' % ENDED))
        equal(copy.st_size, SPARSE_BYTES)
        assert copy.st_blocks * 512 <= 1 << 20, copy.st_blocks
        equal(here.rings(), [])
        assert not os.path.exists(directory)


@case
def a_hostile_childs_entries_neither_stop_nor_delay_root():
    needs_root()
    with workspace() as here:
        trace = here.trace()
        os.chmod(trace, 0o644)
        seed = os.path.join(here.path, 'seed')
        shutil.copyfile(trace, seed)
        secret = os.path.join(here.path, 'secret')
        with open(secret, 'wb') as file:
            file.write(os.urandom(100))
        os.chmod(secret, 0o600)
        child = '''
import os, shutil, socket, sys
here = os.environ['WEFT_OUT']
os.chdir(here)
parent = int(sys.argv[1])
os.mkfifo('a-1.weft')
os.mkfifo('a-%d.weft' % parent)
os.symlink('{secret}', 'b-1.weft')
os.symlink('{secret}', 'b-%d.weft' % os.getpid())
os.mkdir('c-1.weft')
socket.socket(socket.AF_UNIX).bind('d-1.weft')
for name in ('e-1.weft', 'e-%d.weft' % parent, 'e-%d.weft' % os.getpid()):
    shutil.copyfile('{seed}', name)
    os.truncate(name, {size})
for i in range(3000):
    os.symlink('x', 'f%d-1.weft' % i)
os.mkfifo('what')
'''.format(secret=secret, seed=seed, size=SPARSE_BYTES)
        script = '"$0" 7 exit 0; setpriv --reuid=%d --regid=%d --clear-groups "$1" -c "$2" $$; exit 3' % (NOBODY, NOBODY)
        # The subject is the first process: the shell becomes the last.
        result = here.weft('record', '--size', '64K', '-o', 'own.weft', 'sh', '-c', script, SUBJECT, python_of(NOBODY),
                           child, status=3)
        equal(notes(here.file('own.weft')), 7)
        assert 'weft is skipped: it is a' in result.stderr, result.stderr
        assert 'more entries are skipped' in result.stderr, result.stderr
        assert result.stderr.count('is skipped') <= 12, result.stderr
        assert 'own.weft: 64 KiB' in result.stderr, result.stderr
        # Neither the secret nor a gigabyte of zeros came along.
        for name in os.listdir(here.cwd):
            about = os.lstat(here.file(name))
            assert stat.S_ISREG(about.st_mode) and about.st_blocks * 512 <= 1 << 20, name
            with open(here.file(name), 'rb') as saved, open(secret, 'rb') as file:
                assert file.read() not in saved.read(1 << 20), name
        with open(secret, 'rb') as file:
            equal(len(file.read()), 100)


@case
def a_file_of_another_user_is_not_a_ring_of_roots_process():
    needs_root()
    with workspace() as here:
        trace = here.trace()
        directory = here.directory(0o1733)
        fake = os.path.join(directory, 'x-1.weft')  # process 1 is root's
        shutil.copyfile(trace, fake)
        os.chown(fake, NOBODY, NOBODY)
        own = os.path.join(directory, 'y-%d.weft' % ENDED)  # its process has ended: it may be anybody's
        shutil.copyfile(trace, own)
        os.chown(own, NOBODY, NOBODY)
        result = here.weft('ls', '--json')
        equal([row['pid'] for row in ring_lines(result.stdout, here.path)], [ENDED])
        assert 'x-1.weft is skipped: it belongs to user 65534, but process 1 to user 0' in result.stderr, result.stderr
        with open(fake, 'rb') as file:
            before = file.read()
        for arguments in (('ctl', '1', 'set', '*=debug'), ('ctl', '1', 'status'), ('tail', '1'),
                          ('record', '-p', '1', '-o', 't.weft')):
            result = here.weft(*arguments, status=None)
            assert result.returncode not in (0, -signal.SIGBUS), arguments
        with open(fake, 'rb') as file:
            equal(file.read(), before)
        here.weft('record', '--recover')
        equal(notes(here.file('y-%d.weft' % ENDED)), 5)
        assert os.path.exists(fake)


@case
def a_hostile_child_does_not_spoil_a_stream():
    needs_root()
    with workspace() as here:
        seed = here.trace('seed.weft')
        os.chmod(seed, 0o644)
        child = """
import os, shutil, sys
os.chdir(os.environ['WEFT_OUT'])
name = 'x-%d.weft' % os.getpid()
shutil.copyfile('{seed}', 'y')
os.truncate('y', {size})
os.rename('y', name)
os.mkfifo('z-%d.weft' % os.getpid())
open('total', 'wb').write(bytes(8))
""".format(seed=os.path.join(here.path, 'seed'), size=SPARSE_BYTES)
        shutil.copyfile(seed, os.path.join(here.path, 'seed'))
        # The bound of 0 bytes that the child left has no effect: a second process records.
        script = '"$0" 7 exit 0; setpriv --reuid=%d --regid=%d --clear-groups "$1" -c "$2"; "$0" 6 exit 0; exit 3' % (
            NOBODY, NOBODY)
        here.weft('record', '--stream', '--size', '64K', '-o', 'own.weft', 'sh', '-c', script, SUBJECT,
                  python_of(NOBODY), child, status=3)
        found = [notes(path) for path in glob.glob(here.file('own*.weft'))]
        equal(sorted(n for n in found if n in (6, 7)), [6, 7])
        equal(here.rings(), [])


@case
def a_ring_whose_process_was_killed_before_it_began_is_left_out():
    with workspace() as here:
        script = 'head -c 65536 /dev/zero >"$WEFT_OUT/killed-%d.weft"; : >"$WEFT_OUT/sooner-%d.weft"; ' % (ENDED, ENDED - 1)
        recorded = here.weft('record', '--size', '64K', '-o', 'traces/', 'sh', '-c', script + '"$0" 7 exit 3', SUBJECT, status=3)
        equal([name.rsplit('-', 1)[0] for name in os.listdir(here.file('traces'))], ['record-subject'])
        equal('killed' in recorded.stderr, False, recorded.stderr)
        equal(here.rings(), [])
        recorded = here.weft('record', '-a', 'none', '-o', 'own.weft', 'sh', '-c', script)
        assert 'sh recorded nothing' in recorded.stderr, recorded.stderr
        equal([os.path.exists(here.file('own.weft')), here.rings()], [False, []])


@case
def a_mark_of_another_user_does_not_expire_anything():
    needs_root()
    with workspace() as here:
        trace = here.trace()
        directory = here.directory(0o1733)
        shutil.copyfile(trace, os.path.join(directory, 'good-%d.weft' % ENDED))
        mark = os.path.join(directory, 'orphaned')
        with open(mark, 'wb'):
            pass
        os.utime(mark, (1, 1))
        os.chown(mark, NOBODY, NOBODY)
        equal(len(ring_lines(here.weft('ls', '--json').stdout, here.path)), 1)
        equal(len(ring_lines(here.weft('ls', '--json').stdout, here.path)), 1)
        equal(os.stat(mark).st_uid, 0)


@case
def a_link_of_another_user_is_not_followed():
    needs_root()
    with workspace() as here:
        trace = here.trace('secret.weft')
        directory = here.directory(0o1733)
        link = os.path.join(directory, 'x-%d.weft' % ENDED)
        os.symlink(trace, link)
        equal([row['path'] for row in ring_lines(here.weft('ls', '--json').stdout, here.path)], [link])  # root's own: --in-place
        os.lchown(link, NOBODY, NOBODY)
        result = here.weft('ls', '--json')
        equal(ring_lines(result.stdout, here.path), [])
        assert 'is skipped: it is a symbolic link' in result.stderr, result.stderr


@case
def another_users_directory_does_not_stop_anybody():
    needs_root()
    user = 61000 + os.getpid() % 1000  # the same test of another build may run at the same time
    usual = '/dev/shm/weft-%d' % user
    if not os.path.isdir('/dev/shm') or glob.glob(usual + '*'):
        skip('/dev/shm is not there, or has %s already' % usual)
    if run([*as_user(user), 'test', '-x', WEFT]).returncode != 0:
        skip('another user cannot reach %s' % WEFT)

    def weft_as(*arguments):
        environment = {k: v for k, v in os.environ.items() if k != 'XDG_RUNTIME_DIR'}
        return subprocess.run([*as_user(user), WEFT, *map(str, arguments)], cwd=cwd, env=dict(environment, **CALM),
                              capture_output=True, text=True, check=False)

    with temporary_directory() as path:
        os.chmod(path, 0o711)
        cwd = os.path.join(path, 'cwd')
        os.mkdir(cwd)
        os.chown(cwd, user, user)
        try:
            os.mkdir(usual, 0o777)
            os.chmod(usual, 0o777)
            os.chown(usual, NOBODY, NOBODY)
            os.mkdir(usual + '-open', 0o700)  # ours by name and owner, but others may write it
            os.chmod(usual + '-open', 0o777)
            os.chown(usual + '-open', user, user)
            for name in ('one', 'two'):
                result = weft_as('record', '--size', '64K', '-o', name + '.weft', SUBJECT, 3, 'exit', 0)
                equal(result.returncode, 0, result.stderr)
                equal(notes(os.path.join(cwd, name + '.weft')), 3)
            equal(os.listdir(usual), [])
            equal(os.listdir(usual + '-open'), [])
            made = [d for d in glob.glob(usual + '-*') if not d.endswith('-open')]
            equal(len(made), 1)  # the second run takes the first's
            equal(stat.S_IMODE(os.stat(made[0]).st_mode), 0o700)
            # A reader finds the entries in any of them.
            process = subprocess.Popen([*as_user(user), WEFT, 'record', '--size', '64K', '-o', 't.weft', SUBJECT, '4',
                                        'wait'], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={k: v for k, v in os.environ.items() if k != 'XDG_RUNTIME_DIR'})
            equal(process.stdout.readline(), 'ready\n')
            row, = ring_lines(weft_as('ls', '--json').stdout, made[0])
            equal(row['state'], 'running')
            assert row['path'].startswith(made[0] + '/record-'), row
            os.kill(row['pid'], signal.SIGUSR2)
            communicate(process)
            equal(process.returncode, 0)
        finally:
            for directory in glob.glob(usual + '*'):
                shutil.rmtree(directory, ignore_errors=True)


# ---- Rings that are cut short ----

@case
def a_ring_that_is_cut_short_kills_no_reader():
    """Truncated right after each mmap: the first look finds no page."""
    with workspace() as here:
        process = here.start('record', '--size', '256K', '-o', 'own.weft', SUBJECT, 4, 'wait')
        try:
            equal(process.stdout.readline(), 'ready\n')
            row, = ring_lines(here.weft('ls', '--json').stdout, here.path)
            with open(row['path'], 'rb') as file:
                ring = file.read()
            shim = {'LD_PRELOAD': SHIM, 'WEFT_SHIM_SHORTEN': 'record-subject-'}
            target = os.path.join(here.run, 'weft', 'record-cutcut')
            for arguments in (('ls',), ('record', '-p', row['pid'], '-o', 'p.weft'), ('tail', row['pid']),
                              ('record', '--recover'), ('ctl', row['pid'], 'status'),
                              ('ctl', row['pid'], 'snapshot', '-o', 's.weft'), ('info', 'copy')):
                # The program's own file stays: a copy that its process seems to record into is cut.
                os.makedirs(target, exist_ok=True)
                copy = os.path.join(target, 'record-subject-%d.2.weft' % row['pid'])
                with open(copy, 'wb') as file:
                    file.write(ring)
                os.chmod(target, 0o700)
                command = [copy if a == 'copy' else a for a in arguments]
                result = here.weft(*command, status=None, env=dict(shim, WEFT_SHIM_SHORTEN='%d.2.weft' % row['pid']))
                assert result.returncode in (0, 1, 3, 125), (command, result.returncode, result.stderr)
                equal(os.path.getsize(copy) if os.path.exists(copy) else 0, 0, command)
                shutil.rmtree(target, ignore_errors=True)
        finally:
            process.kill()
            os.kill(row['pid'], signal.SIGKILL)
            communicate(process)


# ---- On the disk ----

def logged(here, *arguments, **options):
    """The files that it synchronized and renamed, as lists of words."""
    log = os.path.join(here.path, 'log')
    with contextlib.suppress(FileNotFoundError):
        os.unlink(log)
    here.weft(*arguments, env={'LD_PRELOAD': SHIM, 'WEFT_SHIM_LOG': log}, **options)
    with open(log, encoding='utf-8') as file:
        return [line.split() for line in file]


@case
def renamed_files_are_on_the_disk():
    with workspace() as here:
        trace = here.trace()
        for arguments, name in ((('record', '--size', '64K', '-o', 'r.weft', SUBJECT, 3, 'exit', 0), 'r.weft'),
                                (('cut', trace, '-o', 'c.weft'), 'c.weft'),
                                (('render', trace, '-o', 'p.svg'), 'p.svg')):
            calls = logged(here, *arguments)
            (place_of, (_, old, new)), = [(i, call) for i, call in enumerate(calls) if call[0] == 'rename']
            equal(os.path.realpath(os.path.join(here.cwd, new)), os.path.realpath(here.file(name)))
            before = [os.path.realpath(call[1]) for call in calls[:place_of]]
            after = [os.path.realpath(call[1]) for call in calls[place_of + 1:]]
            # It was written without a name, which the kernel shows as its number.
            unnamed = os.path.join(os.path.realpath(here.cwd), '#%d' % os.stat(here.file(name)).st_ino)
            assert before in ([unnamed], [os.path.realpath(os.path.join(here.cwd, old))]), (name, before, unnamed)
            equal(after, [os.path.realpath(here.cwd)], name)
        synced = logged(here, 'record', '--stream', '--size', '64K', '-o', 's.weft', SUBJECT, 3, 'exit', 0)
        assert ['fsync', os.path.realpath(here.file('s.weft'))] in synced, synced
        synced = [os.path.basename(path) for _, path in logged(here, 'export', '--to', 'ctf', trace, 'ctf')]
        assert 'metadata' in synced and synced[-1] == 'ctf', synced


@contextlib.contextmanager
def small_disk(here, size):
    disk = here.file('disk')
    os.mkdir(disk)
    if run(['mount', '-t', 'tmpfs', '-o', 'size=' + size, 'none', disk]).returncode:
        skip('a file system cannot be mounted here')
    try:
        yield disk
    finally:
        run(['umount', '-l', disk])


@case
def a_stream_cut_by_a_full_disk_counts_its_loss():
    with workspace() as here, small_disk(here, '1m') as disk:
        total = 40000
        path = os.path.join(disk, 't.weft')
        counters = here.file('counters')
        result = here.weft('record', '--stream', '--size', '256K', '-o', path, STREAMER, counters, total, 500,
                           status=125, processor=300)
        assert 'No space left on device' in result.stderr, result.stderr
        assert 'could not be written' in result.stderr, result.stderr
        shown = json.loads(weft('info', '--json', path).stdout)
        equal(shown['diagnostics'], [])
        found = sum(event['event'] != 'total' and ('value' in event or 'value' in event.get('fields', {}))
                    for event in json_lines(weft('dump', '--json', path).stdout))
        assert found > 0 and shown['losses']['stalled'] > 0, shown
        equal(shown['ending'], 'cut')
        text = weft('info', path).stdout
        assert 'ended       the rest was cut off, so the trace is incomplete, ' in text, text
        equal(found + sum(shown['losses'].values()), 3 * total, result.stderr)


@case
def a_trace_that_finds_no_room_stays_in_its_ring():
    with workspace() as here, small_disk(here, '200k') as disk:
        path = os.path.join(disk, 't.weft')
        result = here.weft('record', '--size', '1M', '-o', path, SUBJECT, 20000, 'exit', 0, status=125)
        assert 'No space left on device; the trace stays in ' in result.stderr, result.stderr
        equal(os.listdir(disk), [])
        here.weft('record', '--recover', '-o', here.file('t.weft'))
        assert notes(here.file('t.weft')) > 1000
        # Files made from it also appear completely or not at all.
        old = os.path.join(disk, 'c.weft')
        with open(old, 'wb') as file:
            file.write(b'old')
        result = here.weft('cut', here.file('t.weft'), '-o', old, status=1)
        assert 'No space left on device' in result.stderr, result.stderr
        equal(os.listdir(disk), ['c.weft'])
        equal(os.path.getsize(old), 3)


# ---- Permissions ----

def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def outputs(here, trace, **options):
    """Files made from a trace, and their modes."""
    for name in ('o.weft', 'o.svg'):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(here.file(name))
    shutil.rmtree(here.file('ctf'), ignore_errors=True)
    here.weft('cut', trace, '-o', 'o.weft', **options)
    here.weft('render', trace, '-o', 'o.svg', **options)
    here.weft('export', '--to', 'ctf', trace, 'ctf', **options)
    return [mode(here.file(name)) for name in ('o.weft', 'o.svg', 'ctf/metadata')], mode(here.file('ctf'))


@case
def an_output_is_as_private_as_its_input():
    with workspace() as here:
        trace = here.trace()
        equal(mode(trace), 0o600)
        for umask, given, expected, directory in ((0o022, 0o600, 0o600, 0o700), (0o022, 0o644, 0o644, 0o755),
                                                  (0o002, 0o640, 0o640, 0o750), (0o077, 0o644, 0o600, 0o700),
                                                  (0o022, 0o400, 0o600, 0o700)):
            os.chmod(trace, given)
            got = outputs(here, trace, umask=umask)
            equal(got, ([expected] * 3, directory), '%o %o' % (umask, given))
        os.chmod(trace, 0o644)
        with open(trace, 'rb') as file:
            content = file.read()
        # A pipe does not show the owner of its content; a redirected file does.
        weft('cut', '-', '-o', here.file('pipe.weft'), input=content, text=False)
        equal(mode(here.file('pipe.weft')), 0o600)
        with open(trace, 'rb') as file:
            result = subprocess.run([WEFT, 'cut', '-', '-o', here.file('file.weft')], stdin=file, umask=0o022,
                                    capture_output=True, check=False)
        equal((result.returncode, mode(here.file('file.weft'))), (0, 0o644))
        # A replaced file keeps its mode, except for permissions that the input lacks.
        for old, given, expected in ((0o600, 0o644, 0o600), (0o664, 0o644, 0o644), (0o644, 0o600, 0o600)):
            os.chmod(trace, given)
            os.chmod(here.file('file.weft'), old)
            here.weft('cut', trace, '-o', 'file.weft', umask=0o022)
            equal(mode(here.file('file.weft')), expected, '%o %o' % (old, given))


@case
def a_group_is_not_taken_for_another():
    if os.geteuid() != 0:
        skip('only root gives files to any group')
    with workspace() as here:
        trace = here.trace()
        os.chmod(trace, 0o640)
        equal(outputs(here, trace, umask=0o022)[0], [0o640] * 3)
        os.chown(trace, -1, 4242)
        equal(outputs(here, trace, umask=0o022)[0], [0o600] * 3)


main()
