# SPDX-License-Identifier: ISC
"""weft record of many short processes: in little room all are saved, and their rings are freed as they end."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess

from harness import BUILD, WEFT, case, equal, main, run, skip, temporary_directory, weft
from waiting import communicate

SUBJECT = os.path.join(BUILD, 'tests', 'record-subject')
KIB, MIB = 1 << 10, 1 << 20


class Place:
    def __init__(self, path):
        self.run, self.cwd = os.path.join(path, 'run'), os.path.join(path, 'cwd')
        os.mkdir(self.run, 0o700)
        os.mkdir(self.cwd)
        self.env = {'XDG_RUNTIME_DIR': self.run}

    def sizes(self):
        """The sizes of the traces: of the first process, and of all others."""
        first = os.stat(os.path.join(self.cwd, 't.weft')).st_size
        return first, [os.stat(path).st_size for path in glob.glob(os.path.join(self.cwd, 't-*.weft'))]

    def notes(self):
        return json.loads(weft('info', '--json', self.cwd).stdout)['by_event']['note']

    def rings(self):
        return glob.glob(os.path.join(self.run, 'weft', 'record-*', '*.weft'))


@contextlib.contextmanager
def place():
    with temporary_directory() as path:
        yield Place(path)


def record_in_tmpfs(here, mib, *args):
    """Records where the run directory is a tmpfs of that size."""
    if not shutil.which('unshare'):
        skip('unshare is not installed')
    namespaces = ['--mount'] if os.geteuid() == 0 else ['--mount', '--map-root-user']
    mount = ['mount', '-t', 'tmpfs', '-o', 'mode=700,size=%dm' % mib, 'none', here.run]
    allowed = run(['unshare', *namespaces, *mount])
    if allowed.returncode:
        skip('a tmpfs cannot be mounted here: ' + allowed.stderr.strip())
    script = '%s && exec "$@"' % ' '.join(mount)
    result = run(['unshare', *namespaces, 'sh', '-c', script, 'sh', WEFT, 'record', '-o', 't.weft', *args],
                 env=here.env, cwd=here.cwd, processor=500)
    equal(result.returncode, 0, result.stderr)
    return result.stderr


@case
def later_processes_take_less():
    """Unless the size is chosen. A program that the first process executes is as large as that."""
    for options, how, sizes in (([], 'fork', (16, 4)), ([], 'exec', (16, 16)), (['--size', '8M'], 'fork', (8, 8))):
        with place() as here:
            if shutil.disk_usage(here.run).free < 600 * MIB:
                skip('less than 600 MiB are free for rings')
            weft('record', *options, '-a', 'none', '-o', 't.weft', '--', SUBJECT, 3, how, 3, env=here.env, cwd=here.cwd)
            first, other = here.sizes()
            equal((first, other), (sizes[0] * MIB, [sizes[1] * MIB]), (options, how))


@case
def losses_of_later_processes_are_reported():
    with place() as here:
        for notes, lost in ((100, False), (5000, True)):
            report = weft('record', '--size', '64K', '-a', 'none', '-o', 't.weft', '--', SUBJECT, 3, 'fork', notes, env=here.env, cwd=here.cwd).stderr
            lines = [line for line in report.splitlines() if re.match(r'weft: t-\d+\.weft: [\d,]+ lost \([\d,]+ overwritten\); a larger --size keeps more$', line)]
            equal((len(lines), 'none lost' in report), (int(lost), True), report)


@case
def children_in_64_mib():
    with place() as here:
        report = record_in_tmpfs(here, 64, SUBJECT, 3, 'crowd', 500)
        assert 'could not' not in report and '500 more processes' in report, report
        first, others = here.sizes()
        equal((first, len(others)), (16 * MIB, 500))
        assert min(others) >= 64 * KIB, min(others)
        equal(here.notes(), 3 * 501)


@case
def programs_in_64_mib():
    with place() as here:
        report = record_in_tmpfs(here, 64, '/bin/sh', '-c', 'for i in $(seq 100); do %s 3 exit 0; done' % SUBJECT)
        assert 'could not' not in report and '99 more processes' in report, report
        first, others = here.sizes()
        equal((first, len(others)), (16 * MIB, 99))
        equal(here.notes(), 300)


@case
def a_first_process_takes_half_of_the_room():
    with place() as here:
        record_in_tmpfs(here, 8, SUBJECT, 3, 'exit', 0)
        equal(here.sizes()[0], 4 * MIB)


@case
def a_size_that_was_given_is_kept():
    with place() as here:
        record_in_tmpfs(here, 8, '--size', '1M', SUBJECT, 3, 'crowd', 3)
        equal(here.sizes(), (MIB, [MIB] * 3))


UNTIL = 'until [ $(ls "$WEFT_OUT"*.weft | wc -l) = 1 ]; do sleep 0.05; done'


@case
def rings_are_freed_as_processes_end():
    with place() as here:
        program = '%s 3 exit 0; %s 3 exit 0; %s 3 exit 0; %s; echo freed; read line' % (SUBJECT, SUBJECT, SUBJECT, UNTIL)
        record = subprocess.Popen([WEFT, 'record', '-o', 't.weft', '/bin/sh', '-c', program], cwd=here.cwd, text=True,
                                  env=dict(os.environ, **here.env), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        equal(record.stdout.readline(), 'freed\n')
        equal((len(here.rings()), len(os.listdir(here.cwd))), (1, 2))
        report = communicate(record, '\n')[1]
        equal(record.returncode, 0, report)
        assert '2 more processes' in report, report
        equal((len(here.sizes()[1]), here.notes()), (2, 9))


@case
def freed_rings_do_not_count():
    """The file `total` begins with two entries, the bound and the first ring, and gets two for each later ring: when it is made, and
    when its room is free. The second comes after the ring's file has been removed."""
    with place() as here:
        until = 'until [ $(stat -c %s "$WEFT_OUT"total) = $((16 + 16 * i)) ]; do sleep 0.05; done'
        program = '%s 3 exit 0; for i in 1 2 3; do %s 3 exit 0; %s; done' % (SUBJECT, SUBJECT, until)
        result = weft('record', '--size', '64K', '--total', '128K', '-o', 't.weft', '/bin/sh', '-c', program, cwd=here.cwd,
                      env=here.env)
        assert 'could not' not in result.stderr, result.stderr
        equal((len(here.sizes()[1]), here.notes()), (3, 12))


@case
def processes_that_go_on_are_named():
    with place() as here:
        program = 'touch 1 2; for i in 1 2; do %s 3 wait > $i 2> err & done; until [ "$(cat 1 2)" = "ready\nready" ]; do sleep 0.05; done' % SUBJECT
        result = weft('record', '-o', 't.weft', '/bin/sh', '-c', program, cwd=here.cwd, env=here.env)
        found = re.search(r'2 processes are still running \((\d+), (\d+)\): their traces end here', result.stderr)
        assert found, result.stderr
        for pid in found.groups():
            os.kill(int(pid), 9)


LEAVE = 'touch pid-and-ready; %s 3 wait > pid-and-ready 2> err & until [ "$(cat pid-and-ready)" = ready ]; do sleep 0.05; done; echo $!' % SUBJECT


def record_and_leave(here, *options):
    """Starts a recorder whose program leaves a process; returns both once the program has ended."""
    record = subprocess.Popen([WEFT, 'record', *options, '-o', 't.weft', '/bin/sh', '-c', LEAVE], cwd=here.cwd, text=True,
                              env=dict(os.environ, **here.env), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pid = int(record.stdout.readline())
    equal(record.stderr.readline(), 'weft: the program has ended; waiting for its other processes, until Ctrl-C\n')
    return record, pid


@case
def processes_that_go_on_are_waited_for():
    for options in ((), ('--stream',)):
        with place() as here:
            record, pid = record_and_leave(here, '--wait', *options)
            os.kill(pid, signal.SIGUSR2)
            report = communicate(record)[1]
            equal(record.returncode, 0, report)
            assert 'still running' not in report, report
            equal(here.notes(), 3)


@case
def the_wait_can_be_ended():
    with place() as here:
        record, pid = record_and_leave(here, '--wait')
        record.send_signal(signal.SIGINT)
        report = communicate(record)[1]
        equal(record.returncode, 0, report)
        assert 'process %d is still running: t.weft ends here' % pid in report, report
        os.kill(pid, signal.SIGKILL)
    assert '--wait needs a PROGRAM' in weft('record', '--wait', '-p', '1', status=2).stderr


main()
