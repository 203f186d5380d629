# SPDX-License-Identifier: ISC
"""weft/coroutine.hpp records the coroutines of C++20."""
import os
import shutil

from compiled import WARNINGS, library, linked, record
from harness import SOURCE, case, equal, main, run, skip, temporary_directory, weft

CALLS = os.path.join(SOURCE, 'tests', 'e2e', 'coroutine_calls.cpp')
EXAMPLE = os.path.join(SOURCE, 'examples', 'coroutines.cpp')
FLAGS = ['-std=c++20', *WARNINGS, '-I', os.path.join(SOURCE, 'include')]
COMPILERS = {'g++': ['-fcoroutines'], 'clang++-14': []}
PRINTED = 'not awaited\n7\n1\n2\n3\n12\n'


def built(folder, compiler, source, *options):
    if not shutil.which(compiler):
        skip('%s is not installed' % compiler)
    flags = FLAGS + COMPILERS[compiler]
    if run([compiler, *flags, '-fsyntax-only', '-x', 'c++', '-'], input='#include <coroutine>\nstd::suspend_never it;').returncode:
        skip('%s has no coroutines with this standard library' % compiler)
    program = os.path.join(folder, 'program')
    result = run([compiler, *flags, source, '-o', program, *options])
    assert result.returncode == 0, result.stderr
    return program


def lines_of(text):
    """The numbers of the lines with that text."""
    with open(CALLS, encoding='utf-8') as file:
        return [number for number, line in enumerate(file, 1) if text in line]


def each_form(compiler):
    with temporary_directory() as folder:
        events, tasks, printed = record(folder, built(folder, compiler, CALLS, *linked()))
    equal(printed, PRINTED)
    awaits, thrown, wrapped = [lines_of(text)[0] for text in ('co_await ready()', 'co_await thrown()', 'co_await wrapped')]
    by_id = {task['task']: task['label'] for task in tasks}
    equal([(task['label'], task['kind'], task['outcome'], task.get('failed'), by_id.get(task['parent'])) for task in tasks], [
        ('each_form', 'coroutine', 'fulfilled', None, None),
        ('event (coroutine_calls.cpp:%d)' % awaits, 'await', 'fulfilled', None, 'each_form'),
        ('not_suspended (coroutine_calls.cpp:%d)' % awaits, 'await', 'fulfilled', None, 'each_form'),
        ('event (coroutine_calls.cpp:%d)' % awaits, 'await', 'fulfilled', None, 'each_form'),
        ('thrown (coroutine_calls.cpp:%d)' % thrown, 'await', 'cancelled', None, 'each_form'),
        ('count', 'coroutine', 'cancelled', None, None),
        ('outer', 'coroutine', 'failed', 'exception', None),
        ('inner', 'coroutine', 'fulfilled', None, 'outer'),
        ('wrapped (coroutine_calls.cpp:%d)' % wrapped, 'await', 'fulfilled', None, 'inner')])
    equal(next(task['activations'] for task in tasks if task['label'] == 'count'), 3)
    # The inner coroutine had begun before it was awaited, and resumes the outer one when it ends.
    equal([by_id[e['source']] for e in events if e['event'] == 'read' and by_id[e['task']] == 'outer'], ['inner'])
    equal(events[-1]['task'], None)  # nothing runs after the last coroutine


@case
def each_form_by_gcc():
    each_form('g++')


@case
def each_form_by_clang():
    each_form('clang++-14')


@case
def an_off_category_records_nothing():
    with temporary_directory() as folder:
        events, _, printed = record(folder, built(folder, 'g++', CALLS, *linked()), WEFT_CATEGORIES='coroutine=off')
        equal((events, printed), ([], PRINTED))


@case
def disabled_needs_no_library():
    with temporary_directory() as folder:
        program = built(folder, 'g++', CALLS, '-DWEFT_DISABLED')
        equal(run([program]).stdout, PRINTED)
        symbols = run(['nm', '-C', program]).stdout
        assert 'weft_' not in symbols, symbols


@case
def no_memory_error():
    with temporary_directory() as folder:
        program = built(folder, 'g++', CALLS, '-fsanitize=address,undefined', '-fno-sanitize-recover=all', *linked())
        trace = os.path.join(folder, 'trace.weft')
        equal(weft('record', '-o', trace, program, env={'XDG_RUNTIME_DIR': folder}).stdout, PRINTED)


@case
def cooks_wait_for_what_boils():
    with temporary_directory() as folder:
        events, tasks, printed = record(folder, built(folder, 'g++', EXAMPLE, *linked()))
    assert 'milk: it boils over\n' in printed, printed
    by_id = {task['task']: task for task in tasks}
    cooks = [task for task in tasks if task['label'] == 'cook']
    equal([task['outcome'] for task in cooks], ['fulfilled', 'fulfilled', 'cancelled'])  # the third is never awaited
    boils = [task for task in tasks if task['label'] == 'boil']
    equal([(task['parent'], task['outcome'], task.get('failed')) for task in boils], [
        (cooks[0]['task'], 'fulfilled', None), (cooks[1]['task'], 'fulfilled', None),
        (cooks[0]['task'], 'fulfilled', None), (cooks[1]['task'], 'failed', 'it boils over')])
    for kind in ('try_read', 'read'):
        pairs = [(e['task'], e['source']) for e in events if e['event'] == kind]
        equal(sorted(pairs), sorted((task['parent'], task['task']) for task in tasks if task['kind'] == 'await' or task in boils), kind)
    sleeps = [task for task in tasks if task['kind'] == 'await']
    equal({task['label'].split(':')[0] for task in sleeps}, {'sleep_for (coroutines.cpp'})
    for task in sleeps:
        assert task['end'] - task['start'] >= 2000000 and by_id[task['parent']] in boils, task


main()
