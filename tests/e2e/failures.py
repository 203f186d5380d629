# SPDX-License-Identifier: ISC
"""A process that cannot record goes on, and the run's report names it with the reason."""
import glob
import json
import os
import re
import shutil
import stat
import subprocess

from harness import BUILD, WEFT, case, equal, main, run, skip, temporary_directory, weft

CORNERS = os.path.join(BUILD, 'tests', 'corners-subject')
SUBJECT = os.path.join(BUILD, 'tests', 'record-subject')
STATIC = os.path.join(BUILD, 'tests', 'in-place-subject')  # needs no library that a set-user-ID program would not find
CALM = {'TSAN_OPTIONS': 'die_after_fork=0', 'ASAN_OPTIONS': 'detect_leaks=0'}


def notes(path):
    return json.loads(weft('info', '--json', path).stdout)['by_event'].get('note', 0)


def record(path, *arguments, options=(), status=0, env=None):
    """Returns the number of notes in each trace, that of the first process first; and the messages."""
    trace = os.path.join(path, 't.weft')
    result = run([WEFT, 'record', '-o', trace, *options, *arguments], cwd=path,
                 env=dict(CALM, XDG_RUNTIME_DIR=path, **(env or {})))
    equal(result.returncode, status, result.stderr)
    equal(glob.glob(os.path.join(path, 'weft', '*')), [])
    paths = sorted(glob.glob(os.path.join(path, '*.weft')), key=lambda found: (found != trace, found))
    return [notes(found) for found in paths], result.stderr


def root_only(what):
    if os.geteuid() != 0:
        skip('only root can ' + what)


def empty(path):
    directory = os.path.join(path, 'empty')
    os.mkdir(directory)
    return directory


@case
def a_child_in_a_chroot():
    root_only('chroot')
    with temporary_directory() as path:
        counts, report = record(path, CORNERS, 'in_a_chroot', empty(path))
        equal(counts, [3])
        assert re.search(r'process \d+ could not record: create: No such file or directory', report), report


@case
def more_failures_than_are_named():
    root_only('chroot')
    with temporary_directory() as path:
        counts, report = record(path, CORNERS, 'many_in_a_chroot', empty(path))
        equal(counts, [3])
        equal(len(re.findall(r'process \d+ could not record: create: ', report)), 7, report)
        assert '3 more processes could not record' in report, report


@case
def a_child_that_may_open_nothing():
    for options in ((), ('--stream',)):
        with temporary_directory() as path:
            counts, report = record(path, CORNERS, 'under_seccomp', options=options)
            equal(counts, [3])
            assert re.search(r'process \d+ could not record: create: Permission denied', report), report


# Processes that all live until the last one has recorded: the room of those that end may be free again.
AT_THE_SAME_TIME = '''for i in %s; do %s 3 wait > out$i & all="$all out$i" pids="$pids $!"; done
for out in $all; do until [ -s $out ]; do sleep 0.05; done; done
kill -USR2 $pids; wait; rm $all'''


@case
def a_run_has_a_total():
    for options in ((), ('--stream',), ('--in-place',)):
        with temporary_directory() as path:
            counts, report = record(path, '/bin/sh', '-c', AT_THE_SAME_TIME % ('1 2 3 4 5', SUBJECT), options=('--size', '128K', '--total', '300K', *options))
            equal(counts, [3, 3], report)
            equal(len(re.findall('could not record: --total: the run.s other processes use all of it', report)), 3, report)
    with temporary_directory() as path:
        report = record(path, '/bin/sh', '-c', AT_THE_SAME_TIME % ('1 2 3 4 5 6 7 8 9 10 11', SUBJECT),
                      options=('--size', '64K', '--total', '64K'))[1]
        assert report.count('could not record') == 8 and '2 more such messages are left out' in report, report
    for options in (('--total', '64K', '--size', '1M'), ('--total', '15M')):
        report = weft('record', *options, 'true', status=2).stderr
        assert '--total is less than one buffer takes' in report, report
    assert 'runs no program' in weft('record', '--total', '1M', '--recover', status=2).stderr


@case
def a_child_without_rights():
    root_only('give up rights')
    with temporary_directory() as path:
        os.chmod(path, 0o711)
        counts, report = record(path, CORNERS, 'without_rights')
        equal(counts, [3, 4], report)
        assert 'could not record' not in report, report
        os.unlink(os.path.join(path, 't.weft'))
        for other in glob.glob(os.path.join(path, 't-*.weft')):
            os.unlink(other)
        os.chmod(path, 0o700)  # the program has no right to search it any more
        counts, report = record(path, CORNERS, 'without_rights')
        equal(counts, [3])
        assert re.search(r'process \d+ could not record: create: Permission denied', report), report


@case
def no_memory():
    with temporary_directory() as path:
        script = 'ulimit -v 300000; exec "$0" "$@"'
        with open(SUBJECT, 'rb') as program:
            if re.search(rb'__(asan|tsan)_init', program.read()):
                skip('a sanitizer needs the memory itself')
        counts, report = record(path, 'sh', '-c', script, SUBJECT, '3', 'exit', '4', options=['--size', '1G'], status=4)
        equal(counts, [])
        assert re.search(r'record-subject-\d+ could not record: map: Cannot allocate memory', report), report


@case
def a_full_disk():
    for options in ([], ['--in-place']):
        with temporary_directory() as path:
            os.mkdir(os.path.join(path, 'disk'))
            where = 'disk' if options else '.'
            script = ('mount -t tmpfs -o size=1m none disk || exit 99; export XDG_RUNTIME_DIR; chmod 700 disk; '
                      'test "$2" = disk || export XDG_RUNTIME_DIR="$PWD/disk"; '
                      '"$0" record --size 4M $3 -o "$2/t.weft" "$1" 3 exit 4; code=$?; ls -A "$2" >&2; exit $code')
            result = run(['unshare', '-rm', 'sh', '-c', script, WEFT, SUBJECT, where, *options], cwd=path,
                         env={'XDG_RUNTIME_DIR': path})
            if result.returncode in (1, 99):
                skip('no file system can be mounted here: ' + result.stderr.strip())
            equal(result.returncode, 4, result.stderr)
            assert re.search(r'record-subject-\d+ could not record: allocate: No space left on device', result.stderr), \
                result.stderr
            assert 't.weft' not in result.stderr.splitlines(), result.stderr


def directly(path, directory, told, size='1M', **env):
    """Without weft record: only the environment. The program itself says in one line what is wrong."""
    result = run([SUBJECT, '3', 'exit', '4'], cwd=path, env=dict(CALM, WEFT_OUT=directory, WEFT_SIZE=size, **env))
    equal((result.returncode, result.stdout), (4, ''))
    line = re.sub(r'^weft: record-subject-\d+ ', '', result.stderr)
    if told and 'not recorded' in told and 'WEFT_OUT: the path' not in told and 'WEFT_SIZE' not in told:
        full = os.path.join(path, directory)
        told += '; WEFT_OUT is %s, WEFT_SIZE is %d' % (full, 1 << 20)
    equal(line, told + '\n' if told else '')


@case
def sizes_that_are_none():
    for size in ('many', '-1', '1X', '63K', '99999999999999999999', '18446744073709551615G', '0', '1M '):
        with temporary_directory() as path:
            directly(path, path, 'is not recorded: WEFT_SIZE: not a size of at least 64K', size)
            directly(path, 'file', 'is not recorded: WEFT_SIZE: not a size of at least 64K', size)
            link, = os.listdir(path)
            assert link.endswith('.failed'), link
            equal(os.readlink(os.path.join(path, link)), 'WEFT_SIZE: not a size of at least 64K')


@case
def no_directory():
    with temporary_directory() as path:
        missing = 'is not recorded: create: No such file or directory'
        directly(path, os.path.join(path, 'none', ''), missing)
        directly(path, os.path.join(path, 'none', 'file'), missing)
        directly(path, 'x' * 5000, 'is not recorded: WEFT_OUT: the path is too long')
        directly(path, '/proc/', missing)
        equal(os.listdir(path), [])


@case
def a_file_that_exists():
    with temporary_directory() as path:
        directly(path, 'file', '')
        directly(path, 'file', 'is not recorded: WEFT_OUT: the file exists: remove it, or name a directory for files of '
                 'each process')


@case
def settings_that_are_none():
    levels = 'not a level: off, error, warning, info, debug, trace or count'
    for setting, value, told in (('WEFT_LEVEL', 'loud', 'ignores WEFT_LEVEL: ' + levels),
                                 ('WEFT_CATEGORIES', 'net=loud', 'ignores WEFT_CATEGORIES: "net=loud": ' + levels),
                                 ('WEFT_CATEGORIES', 'net', 'ignores WEFT_CATEGORIES: "net": not CATEGORY=LEVEL'),
                                 ('WEFT_LEVEL', 'debug', ''), ('WEFT_CATEGORIES', 'net=off', '')):
        with temporary_directory() as path:
            directly(path, path + '/', told, **{setting: value})
            directly(path, '', told, **{setting: value})
    with temporary_directory() as path:  # one line, however many mistakes
        directly(path, path + '/none/', 'ignores WEFT_LEVEL: ' + levels, WEFT_LEVEL='loud', WEFT_CATEGORIES='a=b,c=d')
        report = record(path, SUBJECT, '3', 'exit', '4', status=4, env={'WEFT_LEVEL': 'loud'})[1]
        equal(report.count('not a level'), 1, report)  # by weft record alone
        assert 'recorded, but ignored a setting: WEFT_LEVEL: ' + levels in report, report


@case
def a_standard_error_that_takes_nothing():
    """Neither a signal nor a wait follows from the message."""
    for redirect in ('2>&-', '2>/dev/full', '2>&1 >/dev/null | exit', '2>file'):
        with temporary_directory() as path:
            os.mkfifo(os.path.join(path, 'status'))
            limit = 'ulimit -f 0; ' if redirect == '2>file' else ''
            script = '(%ssleep 0.1; "$0" 3 exit 4; echo $? >status) %s & cat status; wait' % (limit, redirect)
            result = run(['bash', '-c', script, SUBJECT], cwd=path, env=dict(CALM, WEFT_OUT='/none/'))
            equal(result.stdout, '4\n', redirect + result.stderr)


@case
def a_directory_that_may_not_be_written():
    if os.geteuid() == 0 and not shutil.which('setpriv'):
        skip('setpriv is missing')
    with temporary_directory() as path:
        os.chmod(path, 0o555)
        drop = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] if os.geteuid() == 0 else []
        result = run([*drop, SUBJECT, '3', 'exit', '4'], cwd='/', env=dict(CALM, WEFT_OUT=path + '/'))
        if 'setpriv:' in result.stderr:
            skip('another user cannot run programs here: ' + result.stderr.strip())
        equal(result.returncode, 4)
        assert ' is not recorded: create: Permission denied; WEFT_OUT is ' + path in result.stderr, result.stderr
        os.chmod(path, 0o755)
        equal(os.listdir(path), [])


@case
def a_set_user_id_program_ignores_the_environment():
    root_only('make a program that is set-user-ID')
    if not shutil.which('setpriv'):
        skip('setpriv is missing')
    with temporary_directory() as path:
        os.chmod(path, 0o777)
        program = os.path.join(path, 'program')
        shutil.copy(STATIC, program)
        as_nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
        for mode, expected in ((0o755, ['.counters', '.weft']), (0o4755, [])):
            os.chmod(program, mode)
            out = os.path.join(path, 'out-%o' % mode)
            os.mkdir(out)
            os.chmod(out, 0o777)
            result = run([*as_nobody, program, 'default', 'nothing'], cwd=path,
                         env=dict(CALM, WEFT_OUT=out + '/', WEFT_IN_PLACE='', WEFT_SIZE='1M'))
            if mode == 0o4755 and subprocess.run(
                    ['findmnt', '-no', 'OPTIONS', '-T', path], capture_output=True, text=True).stdout.find('nosuid') >= 0:
                skip('the file system ignores set-user-ID')
            assert result.returncode in (0, -7), result.stderr
            equal(sorted(os.path.splitext(name)[1] for name in os.listdir(out)), expected, 'mode %o' % mode)
            assert stat.S_IMODE(os.stat(program).st_mode) == mode


main()
