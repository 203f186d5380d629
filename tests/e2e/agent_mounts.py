# SPDX-License-Identifier: ISC
"""An agent of root, and a look from outside, beside a file system that never answers."""
import contextlib
import ctypes
import fcntl
import os
import re
import subprocess

import agent_host
from harness import WEFT, case, equal, main, skip, temporary_directory, weft
from waiting import wait_until

MS_NOSUID_NODEV, MS_REC_PRIVATE = 2 | 4, 1 << 14 | 1 << 18
NEW_MOUNTS, DETACH = 0x20000, 2
LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def mounted_over(folder):
    """Mounts a file system of FUSE for which no daemon answers: all that ask wait until its descriptor is closed."""
    try:
        daemon = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        skip('there is no /dev/fuse')
    try:
        # In mounts of this test's own: no other process waits, and nothing is left if it is killed.
        if LIBC.unshare(NEW_MOUNTS) or LIBC.mount(None, b'/', None, MS_REC_PRIVATE, None):
            skip('no mounts of its own: ' + os.strerror(ctypes.get_errno()))
        options = b'fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other' % daemon
        if LIBC.mount(b'weft', folder.encode(), b'fuse', MS_NOSUID_NODEV, options):
            skip('FUSE cannot be mounted: ' + os.strerror(ctypes.get_errno()))
        try:
            yield
        finally:
            LIBC.umount2(folder.encode(), DETACH)
    finally:
        os.close(daemon)


@case
def a_path_that_a_process_chose_does_not_stop_it():
    if os.geteuid() != 0:
        skip('only root looks at programs of others')
    with agent_host.host(subject=agent_host.PLAIN, records=False) as it, temporary_directory() as run:
        it.env = dict(it.env, WEFT_AGENT='none', XDG_RUNTIME_DIR=run)
        name = 'only-%d' % os.getpid()  # the agent counts other programs of this machine, too
        covered = it.program(name + ' 3', command=(WEFT, 'record', '-o', it.outer, '--'))
        other = it.program(name + ' 4')
        with mounted_over(run):
            agent = subprocess.Popen([WEFT, 'agent', '--folder', it.folder, '--data', it.data], stderr=subprocess.DEVNULL,
                                     env=dict(it.env, XDG_RUNTIME_DIR=it.outer))
            it.running.append(agent)
            sql = "SELECT total FROM totals WHERE metric = '%s'" % name
            wait_until('both are counted', lambda: os.path.exists(it.data) and os.path.getsize(it.data) and
                       it.ask("SELECT name FROM sqlite_master WHERE name = 'totals'") and it.ask(sql) == [(7,)], agent)
            it.looks(agent)
        it.kill(agent)
        it.end(other)
        it.end(covered)
        equal(it.files(), [])


@case
def a_snapshot_is_taken_without_a_path():
    if os.geteuid() != 0:
        skip('only root looks at programs of others')
    with agent_host.host(records=False) as it, temporary_directory() as run:
        it.env = dict(it.env, WEFT_AGENT='none', XDG_RUNTIME_DIR=run)
        program = it.program('level 10', command=(WEFT, 'record', '-o', it.outer, '--'))
        with mounted_over(run):
            agent = subprocess.Popen([WEFT, 'agent', '--folder', it.folder, '--data', it.data, '--snapshots', it.snapshots, '--rule', 'value(level) > 9'],
                                     stderr=subprocess.PIPE, env=dict(it.env, XDG_RUNTIME_DIR=it.outer))
            it.running.append(agent)
            wait_until('a snapshot', it.taken, agent)
            equal(agent_host.alert_of(it.taken()[0])['value'], '10')
        it.kill(agent)
        it.end(program)


@case
def a_look_for_the_holder_of_a_lock_does_not_ask_it():
    if os.geteuid() != 0:
        skip('only root mounts')
    with temporary_directory() as folder, open(os.path.join(folder, 'lock'), 'w', encoding='utf-8') as held:
        covered = os.path.join(folder, 'covered')
        os.mkdir(covered)
        fcntl.flock(held, fcntl.LOCK_EX)
        with subprocess.Popen(['flock', held.name, 'true']) as waiter, mounted_over(covered):
            there = os.open(covered, os.O_PATH)
            try:
                held_by = re.compile(r' held by \S+ %d\b' % os.getpid())
                wait_until('the holder', lambda: held_by.search(weft('why', waiter.pid, status=None).stdout))
            finally:
                os.close(there)
                waiter.kill()


main()
