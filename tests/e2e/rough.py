# SPDX-License-Identifier: ISC
"""The programs of tests/rough do the same alone and recorded, to the byte. Each of them is about a rule of
adapters/hooks/hooks.h."""
import glob
import os
import re
import shutil

from harness import BUILD, SOURCE, case, equal, json_lines, main, run, skip, temporary_directory, weft

FOLDER = os.path.join(SOURCE, 'tests', 'rough')
SKIPPED = 77  # the exit status of a program that this system does not let run

# Tasks that are recorded nevertheless, among others: program: labels.
LABELS = {
    'detach': {'unmap', 'unmap_detached', 'unmap_c11', 'count', 'overwrite'},
    'joins': {'add_one', 'wait_for_go', 'join_many', 'give_seven'},
    'jumps': {'sleep 7 ms', 'sleep 9 ms'},
    'library_functions': {'sleep 2 ms'},
    'raw_calls': {'sleep 3 ms', 'sleep 4 ms', 'pipe', 'eventfd', 'unix'},
    'operator_new': {'plain', 'with_number', 'with_several', 'with_text', 'with_reference', 'pool::fill', 'main::{lambda}'},
}


def outcome(result):
    """Status and output of the program: `weft record` adds lines of its own, and ends like the program."""
    errors = [line for line in result.stderr.splitlines() if not line.startswith('weft: ')]
    return result.returncode if result.returncode >= 0 else 128 - result.returncode, result.stdout, errors


def compare(folder, *command, env=None, options=()):
    """The trace of the program, if there is one."""
    trace = os.path.join(folder, 't.weft')
    alone = run(command, cwd=folder, env=env)
    if alone.returncode == SKIPPED:
        skip(alone.stdout.strip() or 'this system does not let it run')
    recorded = weft('record', '-a', 'thread,io,uv,glib', *options, '-o', trace, *command, cwd=folder,
                    env={'XDG_RUNTIME_DIR': folder, **(env or {})}, status=None)
    equal(outcome(recorded), outcome(alone))
    return trace


def program(folder, source):
    """The built program; one in C++ is compiled here."""
    name, extension = os.path.splitext(source)
    if extension == '.c':
        return os.path.join(BUILD, 'tests', 'rough', 'rough-' + name)
    path = os.path.join(folder, 'rough-' + name)
    if not shutil.which('g++'):
        skip('there is no C++ compiler')
    built = run(['g++', '-O1', '-pthread', '-o', path, os.path.join(FOLDER, source)])
    equal(built.returncode, 0, built.stderr)
    return path


def add_case(source):
    name = os.path.splitext(source)[0]

    def check():
        with temporary_directory() as folder:
            trace = compare(folder, program(folder, source))
            if name in LABELS:
                equal(weft('info', trace).stderr, '')
                found = {re.sub(r' fd \d+$', '', task['label'] or '') for task in json_lines(weft('dump', '--json', '--tasks', trace).stdout)}
                equal(LABELS[name] - found, set(), 'missing labels')
    check.__name__ = name
    case(check)


@case
def children_with_fork_handlers_are_recorded():
    """Such a handler may make its process's ring before the recorder's own handler runs."""
    with temporary_directory() as folder:
        trace = compare(folder, program(folder, 'fork_handlers.c'), options=['--keep-all'])
        children = [path for path in glob.glob(os.path.join(folder, 't-*.weft')) if path != trace]
        labels = [{task['label'] for task in json_lines(weft('dump', '--json', '--tasks', path).stdout)} for path in children]
        equal(sum('sleep 1 ms' in names for names in labels), 8, labels)


@case
def another_clock():
    """faketime's functions stand in front of libc's; the trace has the system's time."""
    if not shutil.which('faketime'):
        skip('faketime is not installed')
    with temporary_directory() as folder:
        for options in ([], ['-m']):
            os.remove(compare(folder, 'faketime', *options, '-f', '-10y i2,0', program(folder, 'clock.c')))


for file in sorted(os.listdir(FOLDER)):
    if file.endswith(('.c', '.cpp')):
        add_case(file)
main()
