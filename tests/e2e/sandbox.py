# SPDX-License-Identifier: ISC
"""A program that a seccomp filter kills at nearly every system call records on, with WEFT_SYSCALLS=none."""
import json
import os
import signal

from harness import BUILD, WEFT, build_option, case, equal, main, run, skip, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'sandbox-subject')
EVENTS = 100000
ALL = 2 * EVENTS + 8 + 2 + 1


def record(folder, *options, size='64K'):
    if build_option('b_sanitize') != 'none':
        skip('the sanitizers make system calls')
    trace = os.path.join(folder, 'sandbox.weft')
    result = run([WEFT, 'record', *options, '--size', size, '-o', trace, SUBJECT, 'record', EVENTS],
                 env={'XDG_RUNTIME_DIR': folder, 'WEFT_SYSCALLS': 'none'}, cwd=folder)
    if result.returncode == 77:
        skip('this system has no seccomp filters')
    equal((result.returncode, result.stdout), (0, 'survived\n'))
    return json.loads(weft('info', '--json', trace).stdout)


@case
def the_filter_kills():
    result = run([SUBJECT, 'break'])
    if result.returncode == 77:
        skip('this system has no seccomp filters')
    equal(result.returncode, -signal.SIGSYS)


@case
def a_full_ring():
    with temporary_directory() as folder:
        info = record(folder)
        equal(info['ending'], 'exit')
        equal(sum(info['losses'].values()) + info['events'], ALL)
        assert info['losses']['overwritten'] > ALL / 2, info['losses']


@case
def a_reader_that_waits():
    with temporary_directory() as folder:
        info = record(folder, '--stream', size='16M')
        equal(info['events'], ALL)


@case
def another_value():
    with temporary_directory() as folder:
        result = weft('record', SUBJECT, 'break', cwd=folder, status=None,
                      env={'XDG_RUNTIME_DIR': folder, 'WEFT_SYSCALLS': 'few'})
        assert 'ignored a setting: WEFT_SYSCALLS: the only value is none' in result.stderr, result.stderr


main()
