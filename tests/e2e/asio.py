# SPDX-License-Identifier: ISC
"""weft/asio.hpp records the handlers of programs that are only compiled again."""
import os
import re
import shutil
from collections import Counter

from compiled import WARNINGS, linked, record
from harness import SOURCE, case, equal, main, run, skip, temporary_directory, weft

CALLS = os.path.join(SOURCE, 'tests', 'e2e', 'asio_calls.cpp')
EXAMPLE = os.path.join(SOURCE, 'examples', 'asio-echo.cpp')
TRACKING = '-DASIO_CUSTOM_HANDLER_TRACKING="weft/asio.hpp"'
COMPILERS = ('g++', 'clang++-14')


def built(folder, compiler, *arguments):
    if not shutil.which(compiler):
        skip('%s is not installed' % compiler)
    program = os.path.join(folder, 'program')
    result = run([compiler, '-I', os.path.join(SOURCE, 'include'), *arguments, '-o', program])
    assert result.returncode == 0, result.stderr
    return program


def endings(tasks):
    return [(task['label'], task['outcome'], task.get('failed')) for task in tasks]


def calls(compiler, *options):
    with temporary_directory() as folder:
        program = built(folder, compiler, '-std=c++11', *WARNINGS, *options, CALLS, *linked())
        events, tasks, _ = record(folder, program, WEFT_CATEGORIES='asio=debug')
    equal(endings(tasks), [
        ('async_receive socket 5', 'fulfilled', None),
        ('async_send socket 5', 'failed', 'Broken pipe'),
        ('async_wait deadline_timer in async_write in net::serve (server.cpp:37)', 'cancelled', None),
        ('async_accept socket 3', 'closed', None),
        ('async_resolve resolver', 'fulfilled', None),
        ('async_wait signal_set', 'fulfilled', None),
        ('post io_context', 'failed', 'the handler threw an exception'),
        ('post io_context', 'cancelled', None)])
    read, write = tasks[:2]
    equal((write['parent'], write['row']), (read['task'], read['row']))
    equal([task['activations'] for task in tasks], [1] * 7 + [0])
    equal([e['text'] for e in events if e['event'] in ('tag', 'note')], ['non_blocking_recv', 'close socket 5', 'signal'])
    equal([(e['task'], e['name'], e['add']) for e in events if e['event'] == 'counter'], [(1, 'bytes read', 100)])
    equal([e for e in events if e['event'] != 'total'][-1]['task'], None)  # nothing runs after the last handler


@case
def each_way_to_end_by_gcc():
    calls('g++')


@case
def each_way_to_end_by_clang_with_the_names_of_boost():
    calls('clang++-14', '-DBOOST')


@case
def an_off_category_records_nothing():
    with temporary_directory() as folder:
        program = built(folder, 'g++', CALLS, *linked())
        equal(record(folder, program, WEFT_CATEGORIES='asio=off')[0], [])


@case
def disabled_needs_no_library():
    for compiler in COMPILERS:
        with temporary_directory() as folder:
            program = built(folder, compiler, '-std=c++11', '-DWEFT_DISABLED', '-Wall', '-Wextra', '-Werror', '-Wno-unused-variable',
                            '-Wno-unused-parameter', CALLS)
            equal(run([program]).returncode, 0)
            symbols = run(['nm', '-C', program]).stdout
            assert 'weft' not in symbols, symbols


@case
def an_echo_server():
    if run(['g++', '-E', '-x', 'c++', '-'], input='#include <asio/version.hpp>').returncode:
        skip('libasio-dev is not installed')
    with temporary_directory() as folder:
        program = built(folder, 'g++', '-std=c++17', TRACKING, EXAMPLE, *linked(), '-pthread')
        _, tasks, printed = record(folder, program)
    equal(printed, 'hello, world\n' * 10)
    # Each of ten lines is written and read by a client and by the server, which then reads the end of each stream.
    equal(Counter((task['kind'], task['outcome']) for task in tasks), {
        ('connect', 'fulfilled'): 2, ('accept', 'fulfilled'): 2, ('write', 'fulfilled'): 20, ('read', 'fulfilled'): 20,
        ('timer', 'fulfilled'): 8, ('read', 'closed'): 2})
    by_id = {task['task']: task for task in tasks}
    made_by = Counter((by_id[task['parent']]['kind'], task['kind']) for task in tasks if task['parent'])
    equal(made_by, {('accept', 'accept'): 1, ('accept', 'read'): 2, ('read', 'write'): 10, ('write', 'read'): 20,
                    ('connect', 'write'): 2, ('read', 'timer'): 8, ('timer', 'write'): 8})
    for task in tasks:
        assert re.fullmatch(r'async_(accept|connect|receive|send) socket \d+( in async_(read|write))?|async_wait deadline_timer',
                            task['label']), task


main()
