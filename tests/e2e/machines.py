# SPDX-License-Identifier: ISC
"""Traces recorded on other processors are read here, with the same content."""
import fcntl
import json
import os
import shutil
import subprocess

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import communicate

# name: its emulator, a file of its compiler and C library, and cmocka, without which no test programs are made
MACHINES = {
    'i686': ('qemu-i386', '/usr/include/x86_64-linux-gnu/gnu/stubs-32.h', '/usr/lib/i386-linux-gnu/libcmocka.so'),
    'aarch64': ('qemu-aarch64', '/usr/aarch64-linux-gnu/include/stdio.h', '/usr/lib/aarch64-linux-gnu/libcmocka.so'),
}


def build(machine, target):
    """Builds a program for that machine; returns its path."""
    emulator, *needed = MACHINES[machine]
    if not shutil.which(emulator) or not all(map(os.path.exists, needed)):
        skip('qemu-user, the cross compiler or its cmocka is not installed')
    # The lane `machines` has builds for these processors.
    folder = BUILD + '-' + machine
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return compile_in(folder, machine, target)


def compile_in(folder, machine, target):
    cross = os.path.join(SOURCE, 'tools', 'cross', machine + '.ini')
    setup = ['meson', 'setup', folder, SOURCE, '--cross-file', cross, '-Dtests=enabled', '-Dcairo=disabled',
             '-Dgtk=disabled', '-Dman=disabled', '-Dwerror=true']
    configured = os.path.exists(os.path.join(folder, 'build.ninja'))
    for command in ([] if configured else [setup]) + [['ninja', '-C', folder, target]]:
        result = run(command, processor=500)
        assert result.returncode == 0, result.stdout + result.stderr
    return os.path.join(folder, target)


def content(trace):
    """The events by thread, without times; ids in the order in which the thread first named them.
    The threads of every_event all do the same, but share out ids as it happens."""
    threads = {}
    for event in json_lines(weft('dump', '--json', trace).stdout):
        if event['event'] == 'total':  # of all threads
            continue
        events, ids = threads.setdefault(event.pop('thread'), ([], {}))
        event.pop('time')
        if event['event'] == 'span':  # its times are those of other clocks
            event.pop('start'), event.pop('end')
        for key in ('task', 'child', 'source', 'target', 'other', 'receiver', 'sender', 'resource', 'track'):
            if event.get(key) is not None:
                event[key] = ids.setdefault(event[key], len(ids))
        events.append(event)
    return [events for events, _ in threads.values()]


def compare(machine, clock):
    program = build(machine, 'tests/every_event')
    with temporary_directory() as folder:
        here, there = os.path.join(folder, 'here.weft'), os.path.join(folder, 'there.weft')
        for command in ([os.path.join(BUILD, 'tests', 'every_event'), here],
                        [MACHINES[machine][0], program, there]):
            result = run(command)
            assert result.returncode == 0, '%s: %s' % (command, result.stderr)
        expected, got = content(here), content(there)
        assert len(expected) == 4 and len(expected[0]) > 100, 'the program records too little'
        for events in expected + got:
            equal(events, expected[0])
        equal(len(got), 4, 'threads')
        info = weft('info', there).stdout
        # Each thread sets a counter whose name is too long.
        for line in ('clock       %s' % clock, 'losses      4 too_big', 'damage      none'):
            assert line + '\n' in info, info


def record(machine, command):
    """Under `weft record`: the program finds its ring by the environment, and maps it."""
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace.weft')
        weft('record', '--size', '1M', '-o', trace, *command, '100000', 'exit', '0',
             env={'XDG_RUNTIME_DIR': folder})
        info = weft('info', trace).stdout
        assert 'threads     1' in info and 'damage      none' in info, info
        events = json_lines(weft('dump', '--json', trace).stdout)
        notes = [event['text'] for event in events if event['event'] == 'note']
        equal(notes, ['note %d' % number for number in range(100000 - len(notes), 100000)])
        assert 10000 < len(notes) < 100000, '%d notes' % len(notes)


def follow(machine):
    """Follows a running program of the other machine; the test passes with each clock that this machine can read."""
    program = build(machine, 'tests/record-subject')
    with temporary_directory() as folder:
        ring = os.path.join(folder, 'ring.weft')
        with subprocess.Popen([MACHINES[machine][0], program, '50', 'wait'], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, env=dict(os.environ, WEFT_OUT=ring)) as running:
            try:
                equal(running.stdout.readline(), b'ready\n')
                tail = subprocess.Popen([WEFT, 'tail', '--json', ring], stdout=subprocess.PIPE, text=True)
                got = [json.loads(tail.stdout.readline())['text'] for _ in range(50)]
                equal(got, ['note %d' % number for number in range(50)])
            finally:
                running.kill()
        equal(communicate(tail), ('', None))
        equal(tail.returncode, 0)


@case
def a_trace_of_32_bits():
    compare('i686', 'monotonic')  # the emulated processor does not report an invariant counter


@case
def a_trace_of_aarch64():
    compare('aarch64', 'cntvct')


@case
def a_program_of_32_bits_is_recorded():
    record('i686', [MACHINES['i686'][0], build('i686', 'tests/record-subject')])


@case
def a_program_of_32_bits_is_recorded_by_its_own_processor():
    program = build('i686', 'tests/record-subject')
    try:
        run([program, '1', 'exit', '0'])
    except OSError:
        skip('this kernel runs no programs of 32 bits')
    record('i686', [program])


@case
def a_program_of_aarch64_is_recorded():
    record('aarch64', [MACHINES['aarch64'][0], build('aarch64', 'tests/record-subject')])


@case
def their_programs_are_followed():
    follow('i686')
    follow('aarch64')


main()
