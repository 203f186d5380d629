# SPDX-License-Identifier: ISC
"""weft record --in-place: records into the output file itself. Shortening it ends the recording, not the program."""
import glob
import json
import os
import subprocess

from harness import BUILD, WEFT, case, equal, main, ring_lines, run, temporary_directory, weft
from waiting import wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'in-place-subject')
OTHER = os.path.join(BUILD, 'tests', 'record-subject')
# A sanitizer handles SIGBUS differently from a program.
CALM = {'ASAN_OPTIONS': 'handle_sigbus=0:detect_leaks=0', 'TSAN_OPTIONS': 'handle_sigbus=0'}


class Workspace:
    def __init__(self, path):
        self.path = path
        self.env = dict(CALM, XDG_RUNTIME_DIR=os.path.join(path, 'run'))
        os.mkdir(self.env['XDG_RUNTIME_DIR'], 0o700)
        self.cwd = os.path.join(path, 'cwd')
        os.mkdir(self.cwd)

    def record(self, *args, status=0):
        return weft('record', '--in-place', '--size', '1M', *args, status=status, cwd=self.cwd, env=self.env)

    def start(self, *args, in_place=True):
        options = ['--in-place'] if in_place else []
        process = subprocess.Popen([WEFT, 'record', *options, '--size', '1M', '-o', 't.weft', *args], cwd=self.cwd,
                                   env=dict(os.environ, **self.env), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        equal(process.stdout.readline(), 'ready\n')
        return process

    def file(self, name='t.weft'):
        return os.path.join(self.cwd, name)

    def left(self, pattern='*'):
        return glob.glob(os.path.join(self.env['XDG_RUNTIME_DIR'], 'weft', 'record-*', pattern))


def workspace():
    context = temporary_directory()

    class Context:
        def __enter__(self):
            return Workspace(context.__enter__())

        def __exit__(self, *error):
            context.__exit__(*error)
    return Context()


def notes(path):
    return json.loads(weft('info', '--json', path).stdout)['by_event'].get('note', 0)


@case
def the_file_is_the_buffer():
    with workspace() as here:
        process = here.start(SUBJECT, 'default', 'record')
        equal(os.path.getsize(here.file()), 1 << 20)
        # The program may not have begun to record, or may overwrite all packets while they are read.
        wait_until('notes in the file', lambda: notes(here.file()) > 0, process)
        row, = ring_lines(weft('ls', '--json', env=here.env).stdout, here.path)
        equal((row['program'], row['state']), ('in-place-subject', 'running'))
        _, err = process.communicate('\n')
        equal(process.returncode, 7)
        assert 't.weft: 1 MiB, ' in err, err
        equal(os.listdir(here.cwd), ['t.weft'])
        equal(here.left(), [])


@case
def other_processes_are_beside():
    with workspace() as here:
        report = here.record('-o', 't.weft', OTHER, 5, 'fork', 7).stderr
        other, first = sorted(os.listdir(here.cwd))
        equal((first, notes(here.file(first)), notes(here.file(other))), ('t.weft', 5, 7))
        assert '1 more process: ' + other in report, report
        here.record('-o', 't.weft', OTHER, 6, 'exit', 0)  # an older trace is replaced
        equal((notes(here.file()), notes(here.file(other))), (6, 7))


@case
def in_a_directory_each_has_its_name():
    with workspace() as here:
        for output in ([], ['-o', 'd/']):
            os.makedirs(here.file('d'), exist_ok=True)
            here.record(*output, OTHER, 5, 'fork', 7)
        for directory in (here.cwd, here.file('d')):
            traces = glob.glob(os.path.join(directory, 'record-subject-*.weft'))
            equal(sorted(map(notes, traces)), [5, 7])


@case
def other_files_are_not_replaced():
    with workspace() as here:
        with open(here.file('diary'), 'w', encoding='utf-8') as diary:
            diary.write('dear diary')
        assert 'is not a weft trace' in here.record('-o', 'diary', OTHER, 1, 'exit', 0, status=125).stderr
        assert 'no/where' in here.record('-o', 'no/where', OTHER, 1, 'exit', 0, status=125).stderr
        here.record('-o', '-', OTHER, 1, 'exit', 0, status=2)
        with open(here.file('diary'), encoding='utf-8') as diary:
            equal(diary.read(), 'dear diary')


@case
def a_killed_recorder_leaves_the_file():
    with workspace() as here:
        process = here.start(SUBJECT, 'default', 'record')
        process.kill()
        process.communicate()  # the program's standard input ends
        wait_until('it ends', lambda: ring_lines(weft('ls', '--json', env=here.env).stdout, here.path)[0]['state'] == 'orphaned')
        count = notes(here.file())
        report = weft('record', '--recover', env=here.env, cwd=here.cwd).stderr
        assert 't.weft: 1 MiB' in report, report
        equal(notes(here.file()), count)
        equal(here.left(), [])


def shorten(size):
    """The output of weft info for it."""
    with workspace() as here:
        process = here.start(SUBJECT, 'default', 'record')
        os.truncate(here.file(), size)
        wait_until('it is noticed', lambda: here.left('*.failed'))
        out, err = process.communicate('\n')
        equal((process.returncode, out), (7, 'alive\n'), err)
        assert 'did not record everything: ' + here.file() + ': the file was shortened' in err, err
        equal(os.path.getsize(here.file()), size)
        return weft('info', '--json', here.file(), status=None).stdout


@case
def a_shortened_file_does_not_end_the_program():
    for size in (0, 1000, 4096, 20000):
        shorten(size)


@case
def a_shortened_trace_reports_its_damage():
    for size in (300000, 700000):
        shown = json.loads(shorten(size))
        assert shown['by_event'].get('note', 0) > 0, shown
        assert any('stopped early' in d['message'] for d in shown['diagnostics']), shown


@case
def another_sigbus_is_the_programs():
    with workspace() as here:
        for action, what, status, out in (('info', 'fault', 0, 'info\n'), ('info', 'raise', 0, 'info\n'),
                                          ('plain', 'fault', 0, 'plain\n'), ('plain', 'raise', 0, 'plain\n'),
                                          ('ignore', 'raise', 0, 'nothing\n'), ('ignore', 'fault', 135, ''),
                                          ('default', 'raise', 135, ''), ('default', 'fault', 135, '')):
            result = here.record('-o', 't.weft', SUBJECT, action, what, status=status)
            equal(result.stdout, out, action + ' ' + what)
            equal(notes(here.file()), 2 if status == 0 else 1)
            # As it is without us.
            plain = run([SUBJECT, action, what], env=CALM)
            equal((plain.stdout, plain.returncode), (out, status if status == 0 else -7), action + ' ' + what)


def catches_sigbus(pid):
    with open('/proc/%d/status' % pid, encoding='utf-8') as status:
        caught, = (line.split()[1] for line in status if line.startswith('SigCgt'))
    return bool(int(caught, 16) >> 6 & 1)


@case
def nothing_else_installs_a_handler():
    with workspace() as here:
        for in_place in (True, False):
            process = here.start(SUBJECT, 'default', 'record', in_place=in_place)
            row, = ring_lines(weft('ls', '--json', env=here.env).stdout, here.path)
            equal(catches_sigbus(row['pid']), in_place)
            process.communicate('\n')


main()
