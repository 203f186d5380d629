# SPDX-License-Identifier: ISC
"""Programs that nobody changed: threads and what they wait for."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from harness import BUILD, WEFT, case, equal, json_lines, main, ring_lines, run, skip, temporary_directory, weft
from waiting import wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'thread-subject')
EXAMPLE = os.path.join(BUILD, 'examples', 'threads')


def record(folder, *command, adapters='thread', status=0):
    """The result, and the trace."""
    trace = os.path.join(folder, 't.weft')
    result = weft('record', '-a', adapters, '-o', trace, *command, env={'XDG_RUNTIME_DIR': folder}, cwd=folder,
                  status=status)
    return result, trace


def events(trace):
    equal(weft('info', trace).stderr, '')
    return json_lines(weft('dump', '--json', trace).stdout)


def tasks(trace):
    return json_lines(weft('dump', '--json', '--tasks', trace).stdout)


def named(all_events, label):
    """The ids of the tasks with that label."""
    return [e['task'] for e in all_events if e['event'] == 'label' and e['text'] == label]


@case
def a_lock_that_another_thread_holds():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'held')
        all_events = events(trace)
        lock, = named(all_events, 'lock first_lock')
        worker, = named(all_events, 'take_lock')
        main_task, = named(all_events, 'thread-subject')
        about = [(e['event'], e['task']) for e in all_events
                 if lock in (e.get('resource'), e.get('source')) and e['event'] != 'label']
        equal(about, [('acquire', main_task), ('try_read', worker), ('release', main_task), ('acquire', worker),
                      ('release', worker)])
        tried, = [e for e in all_events if e['event'] == 'try_read' and e['source'] == lock]
        text = weft('why', trace, 'take_lock', '--at', '@%d' % (tried['time'] + 1000000)).stdout
        assert "'lock first_lock'" in text and 'is held by' in text, text
        join, = [e for e in all_events if e['event'] == 'read' and e.get('source') == worker]
        equal(join['task'], main_task)


@case
def a_lock_that_a_thread_waited_for_in_vain():
    """The thread that gave up does not hold it, and the holder's release is still recorded."""
    with temporary_directory() as folder:
        result, trace = record(folder, SUBJECT, 'gives_up')
        equal(result.stdout, 'timed out 1 1\n')
        all_events = events(trace)
        worker, = named(all_events, 'give_up')
        main_task, = named(all_events, 'thread-subject')
        for label, later in (('lock first_lock', [('try_read', worker), ('release', main_task), ('acquire', worker), ('release', worker)]),
                             ('rwlock table', [('release', main_task)])):
            it, = named(all_events, label)
            about_it = [(e['event'], e['task']) for e in all_events
                        if it in (e.get('resource'), e.get('source')) and e['event'] != 'label']
            equal(about_it, [('acquire', main_task), ('try_read', worker), *later], label)


@case
def waits_that_expire():
    """Nothing was received, nothing ended by itself: waits in vain and a sleep that was interrupted are given up."""
    with temporary_directory() as folder:
        result, trace = record(folder, SUBJECT, 'expires')
        equal(sorted(result.stdout.splitlines()), ['interrupted 1', 'timed out 1 1 1 1'])
        all_events, outcomes = events(trace), {t['label']: t['outcome'] for t in tasks(trace)}
        for label in ('condition ready', 'semaphore slots'):
            it, = named(all_events, label)
            equal([e['event'] for e in all_events if e.get('source') == it and e['event'] != 'label'], ['try_read'], label)
        equal([outcomes.get(label) for label in ('signal SIGUSR1 SIGUSR2 SIGTERM', 'any signal', 'sleep 1000 s')], 3 * ['timed_out'])


@case
def each_type_of_object():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'objects')
        all_events = events(trace)
        worker, = named(all_events, 'wait_for_each')
        main_task, = named(all_events, 'thread-subject')
        waited = {}
        equal({t['category'] for t in tasks(trace)}, {'thread'})
        for label in ('rwlock table', 'condition ready', 'semaphore slots', 'lock plain', 'barrier gate'):
            it, = named(all_events, label)
            tries = [e['time'] for e in all_events
                     if e['event'] == 'try_read' and (e['task'], e['source']) == (worker, it)]
            waited[label] = len(tries)
            runs = [e['time'] for e in all_events if e['time'] > tries[0] and e.get('task') == worker and
                    e['event'] in ('switch', 'read')]
            assert runs[0] - tries[0] > 10000000, '%s: %d ns' % (label, runs[0] - tries[0])
        equal(waited, {'rwlock table': 1, 'condition ready': 2, 'semaphore slots': 1, 'lock plain': 1,
                       'barrier gate': 1})
        woken = [e for e in all_events if e['event'] == 'signal' and e['task'] == worker]
        equal({e['source'] for e in woken}, {main_task})
        assert len(woken) >= 2, woken  # by the condition and by the semaphore


@case
def many_signals_without_a_waiter_are_written_seldom():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'unheard')
        all_events = events(trace)
        condition, = named(all_events, 'condition ready')
        main_task, = named(all_events, 'thread-subject')
        tags = [(e['text'], e['value']) for e in all_events if e['event'] == 'tag' and e['task'] == condition and e['text'] != 'ns before']
        many, by = 'signals without a waiter', ('last signalled by', main_task)
        equal(tags, [by, (many, 64), by, (many, 128), ('signals before', 200), by, by, (many, 64)])


@case
def a_free_lock_writes_nothing():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'uncontended')
        equal([e['event'] for e in events(trace)], ['create', 'label', 'receive', 'receive', 'receive', 'tag', 'tag', 'switch', 'send', 'send', 'resolve'])


@case
def a_deadlock_is_found():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        process = subprocess.Popen([WEFT, 'record', '-a', 'thread', '-o', trace, SUBJECT, 'deadlock'],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   env=dict(os.environ, XDG_RUNTIME_DIR=folder))
        equal(process.stdout.readline(), 'locked\n')
        ring, = ring_lines(weft('ls', '--json', env={'XDG_RUNTIME_DIR': folder}).stdout, folder)
        # The second wait begins after the line.
        wait_until('a circle', lambda: 'circle' in weft('why', ring['pid'], env={'XDG_RUNTIME_DIR': folder}, status=None).stdout, process)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        equal(process.returncode, 128 + signal.SIGTERM)
        problems = weft('dump', '--problems', trace).stdout
        assert 'deadlock' in problems.splitlines()[0].lower(), problems


@case
def threads_that_end_otherwise():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'exits')
        all_events = events(trace)
        for label in ('exit_early', 'wait_for_ever'):
            it, = named(all_events, label)
            equal(len([e for e in all_events if e['event'] == 'resolve' and e['target'] == it]), 1, label)


@case
def the_main_thread_ends_before_its_process():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'main_exits')
        all_events = events(trace)
        main_task, = named(all_events, 'thread-subject')
        ends = [i for i, e in enumerate(all_events) if e['event'] == 'resolve' and e['target'] == main_task]
        exits = [i for i, e in enumerate(all_events) if e['event'] == 'send']  # to processes that wait for this one
        equal(len(ends), 1)
        assert ends[0] < exits[0], (ends, exits)
        assert 'thread-subject' not in weft('dump', '--problems', trace).stdout


@case
def a_child_has_a_trace_of_its_own():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'fork', status=7)
        other, = [path for path in glob.glob(os.path.join(folder, '*.weft')) if path != trace]
        assert named(events(trace), 'exit of process ' + re.search(r'-(\d+)\.weft', other).group(1))
        child = events(other)
        assert named(child, 'lock first_lock') and named(child, 'take_lock'), child
        equal(len(named(child, 'thread-subject')), 1)


@case
def errors_are_the_programs():
    with temporary_directory() as folder:
        result, _ = record(folder, SUBJECT, 'errno')
        equal(result.stdout, run([SUBJECT, 'errno']).stdout)


@case
def threads_without_end():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'crowd')
        equal(len(named(events(trace), 'count')), 5000)


@case
def names_survive_a_full_buffer():
    """The buffer wraps several times, so the events that made the tasks are lost. It holds more than what adapters record from
    one rundown to the next."""
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        weft('record', '-a', 'thread', '--size', '512K', '-o', trace, SUBJECT, 'turns', env={'XDG_RUNTIME_DIR': folder})
        assert json.loads(weft('info', '--json', trace).stdout)['losses'], 'nothing was overwritten'
        labels = sorted(t['label'] for t in tasks(trace) if t['kind'] in ('thread', 'condition'))
        equal(labels, ['condition ready', 'take_turns', 'take_turns', 'thread-subject'])
        kinds = {e['event'] for e in events(trace)}
        assert 'alive' in kinds and 'signal' in kinds, kinds


@case
def by_itself():
    """Without -a all adapters record; a program that is linked with libweft records itself."""
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        result = weft('record', '-o', trace, SUBJECT, 'held',
                      env={'XDG_RUNTIME_DIR': folder, 'WEFT_ADAPTERS': ''})
        assert 'recorded by the adapters thread and io\n' in result.stderr, result.stderr
        assert named(events(trace), 'take_lock')
        result = weft('record', '-a', 'auto', '-o', trace, EXAMPLE, env={'XDG_RUNTIME_DIR': folder})
        assert 'adapters' not in result.stderr, result.stderr
        equal({'thread'} & {t['kind'] for t in tasks(trace)}, set())
        result = weft('record', '-a', 'none', '-o', trace, SUBJECT, 'held', env={'XDG_RUNTIME_DIR': folder})
        assert 'recorded nothing' in result.stderr, result.stderr


@case
def own_tasks_are_inside():
    """A program that records itself, with adapters: its tasks are created by its threads' tasks."""
    with temporary_directory() as folder:
        _, trace = record(folder, EXAMPLE)
        all_tasks = {t['task']: t for t in tasks(trace)}
        kinds = {t['kind'] for t in all_tasks.values()}
        assert 'thread' in kinds and len(kinds) > 1, kinds
        parents = {all_tasks[t['parent']]['kind'] for t in all_tasks.values()
                   if t['kind'] != 'thread' and t.get('parent') in all_tasks}
        assert 'thread' in parents, parents


@case
def allocated_memory_has_no_name():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'mapped')
        locks = [t['label'] for t in tasks(trace) if t['kind'] == 'lock']
        equal(locks, ['lock in take_nameless'])


@case
def locks_behind_a_function_that_locks_have_addresses():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'wrapped')
        locks = {t['label'] for t in tasks(trace) if t['kind'] == 'lock'}
        equal(len(locks), 2, locks)
        for label in locks:
            assert re.fullmatch(r'lock 0x[0-9a-f]+ in own_mutex_lock', label), label


@case
def two_first_waiters_share_the_lock():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'pairs')
        locks = [t for t in tasks(trace) if t['kind'] == 'lock']
        assert 1 <= len(locks) <= 200, len(locks)
        assert 'never released' not in weft('dump', '--problems', trace).stdout


def conditions(mode):
    """How many conditions a program of 20,000 has in its trace, its marks, and how many waits it counts as left out."""
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, mode)
        all_events = events(trace)
        left_out = [e['add'] for e in all_events if e['event'] == 'counter' and e['name'] == 'waits not recorded']
        return (len([t for t in tasks(trace) if t['kind'] == 'condition']),
                [e['name'] for e in all_events if e['event'] == 'mark'], len(left_out))


@case
def destroyed_objects_make_room():
    equal(conditions('destroyed'), (20000, [], 0))


@case
def objects_that_are_left_out_are_counted():
    recorded, marks, left_out = conditions('many')
    equal(recorded + left_out, 20000)
    assert recorded > 12000, recorded
    equal(marks, ['too many locks and conditions: waits for further ones are not recorded'])


@case
def names_of_cplusplus():
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'thread_names.cpp')
    with temporary_directory() as folder:
        program = os.path.join(folder, 'names')
        if run(['g++', '-O1', '-pthread', '-o', program, source]).returncode:
            skip('there is no C++ compiler')
        _, trace = record(folder, program)
        labels = [t['label'] for t in tasks(trace) if t['kind'] == 'thread']
        equal(sorted(labels), ['main::{lambda}', 'main::{lambda}', 'names', 'plain', 'store::pool::drain',
                               'store::pool::fill'])
        assert named(events(trace), 'lock store::table')


@case
def names_of_many_functions():
    """Names are kept by address. The object of the first thread also has NULL among the words where its function is searched."""
    names = ['function_%d' % number for number in range(1000)]
    with temporary_directory() as folder:
        source, program = os.path.join(folder, 'many.cpp'), os.path.join(folder, 'many')
        with open(source, 'w') as file:
            file.write('#include <pthread.h>\n#include <thread>\nvolatile int last;\nstatic void first() {}\n')
            file.writelines('static void *%s(void *) { last = %d; return 0; }\n' % item for item in zip(names, range(1000)))
            file.write('int main() {\n\tstd::thread(first).join();\n\tpthread_t thread;\n'
                       '\tvoid *(*functions[])(void *) = {%s};\n'
                       '\tfor (auto function : functions) {\n\t\tpthread_create(&thread, 0, function, 0);\n'
                       '\t\tpthread_join(thread, 0);\n\t}\n}\n' % ', '.join(names))
        if run(['g++', '-pthread', '-o', program, source]).returncode:
            skip('there is no C++ compiler')
        _, trace = record(folder, program)
        equal([t['label'] for t in tasks(trace) if t['kind'] == 'thread'], ['many', 'first', *names])


def compiled(folder, compiler, source, *flags):
    """The program, which knows nothing of weft; stripped of its symbols."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), source)
    program = os.path.join(folder, source.split('.')[0])
    if not shutil.which(compiler):
        skip('%s is not installed' % compiler)
    result = run([compiler, *flags, '-o', program, path])
    equal(result.returncode, 0, result.stderr)
    return program


def about(task, all_events):
    return [(e['event'], e['task']) for e in all_events
            if e.get('source') == task and e['event'] in ('try_read', 'read')]


@case
def locks_on_a_futex():
    with temporary_directory() as folder:
        program = compiled(folder, 'cc', 'futex_subject.c', '-D_GNU_SOURCE', '-pthread', '-s')
        result, trace = record(folder, program)
        equal(result.stdout, run([program]).stdout)
        all_events, kinds = events(trace), tasks(trace)
        thread, = named(all_events, 'waiter')
        main_task, = named(all_events, 'futex_subject')
        late, lock = [t['task'] for t in kinds if t['kind'] == 'condition']
        equal(about(late, all_events), [('try_read', main_task)])
        equal(about(lock, all_events), [('try_read', thread), ('read', thread)])
        assert (main_task, thread) in [(e['source'], e['task']) for e in all_events if e['event'] == 'signal']


@case
def threads_that_record_nothing_have_names():
    with temporary_directory() as folder:
        program = compiled(folder, 'cc', 'futex_subject.c', '-D_GNU_SOURCE', '-pthread', '-s')
        _, trace = record(folder, program, 'silent')
        labels = sorted(t['label'] or '' for t in tasks(trace) if t['kind'] == 'thread')
        equal(labels[1:], ['futex_subject+' + labels[1].partition('+')[2], 'silent'])
        equal(labels[0], 'futex_subject')
        # A program that was started by a link is called as people have called it.
        os.symlink(program, os.path.join(folder, 'link'))
        _, trace = record(folder, os.path.join(folder, 'link'), 'silent')
        labels = sorted(t['label'] or '' for t in tasks(trace) if t['kind'] == 'thread')
        equal(labels, ['link', 'link+' + labels[1].partition('+')[2], 'silent'])


@case
def a_thread_has_the_name_that_it_got_last():
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'named')
        labels = sorted(t['label'] for t in tasks(trace) if t['kind'] == 'thread')
        equal(labels, ['has waited', 'named by main', 'named early', 'thread-subject'])
        equal(len(named(events(trace), 'names itself')), 1)
        equal(named(events(trace), 'main'), [])


@case
def locks_and_threads_of_rust():
    with temporary_directory() as folder:
        program = compiled(folder, 'rustc', 'futex_locks.rs', '-O')
        result, trace = record(folder, program)
        equal(result.stdout, '7\n')
        labels = [t['label'] for t in tasks(trace)]
        for label in ('futex_locks', 'worker-0', 'worker-1', 'worker-2'):
            equal(labels.count(label), 1, labels)
        assert [label for label in labels if label.startswith('futex ')], labels
        equal([t['task'] for t in tasks(trace) if t['kind'] == 'thread' and t['outcome'] != 'fulfilled'], [])


@case
def a_long_sleep_is_not_slow():
    """Sleeps of different lengths: each takes as long as it was told to."""
    with temporary_directory() as folder:
        program = os.path.join(folder, 'program')
        source = os.path.join(folder, 'program.c')
        with open(source, 'w') as file:
            file.write('#include <unistd.h>\n'
                       'int main(void) { for (int i = 0; i < 40; i++) usleep(i == 30 ? 300000 : 1000); return 0; }\n')
        equal(run(['gcc', '-o', program, source]).returncode, 0)
        _, trace = record(folder, program)
        sleeps = [task for task in tasks(trace) if task['label'].startswith('sleep ')]
        equal({task['kind'] for task in sleeps}, {'timer'})
        equal(sorted(task['label'] for task in sleeps), ['sleep 1 ms'] * 39 + ['sleep 300 ms'])
        found = json_lines(weft('dump', '--problems', '--json', trace).stdout)
        equal([problem['sentence'] for problem in found if problem['problem'] == 'slow'], [])


@case
def levels_before_the_first_event_are_no_changes():
    """An adapter's category comes into being at level off, and is set to its level before it records."""
    with temporary_directory() as folder:
        _, trace = record(folder, SUBJECT, 'held')
        lines = weft('info', trace).stdout.splitlines()
        levels, = [line for line in lines if line.startswith('levels ')]
        assert 'thread=' in levels, levels
        equal([line for line in lines if line.startswith('set ')], [])


@case
def threads_of_python_have_their_names():
    if not (3, 11) <= sys.version_info < (3, 14):
        skip('names are known of Python 3.11 to 3.13')
    program = ('import _thread, threading\n'
               'def work(done=None): done and done.release()\n'
               'class Own(threading.Thread):\n'
               '    def run(self): pass\n'
               'for thread in (threading.Thread(target=work, name="handler-7"), threading.Thread(target=work), Own(name="ö" * 50)):\n'
               '    thread.start(); thread.join()\n'
               'done = _thread.allocate_lock(); done.acquire()\n'
               '_thread.start_new_thread(work, (done,)); done.acquire()')
    with temporary_directory() as folder:
        _, trace = record(folder, sys.executable, '-c', program, adapters='python,thread')
        tasks = json_lines(weft('dump', '--tasks', '--json', trace).stdout)
        names = [task['label'] for task in tasks if task['kind'] == 'thread'][1:]
        equal(names[:3], ['handler-7', 'Thread-1 (work)', 'ö' * 31])  # 63 bytes, in whole letters
        equal(len(names), 4)  # the last has no name: it is called by its function


@case
def wrong_lists():
    for wrong in ('threads', '', 'thread,', 'auto,thread', 'thread,none'):
        result = weft('record', '-a', wrong, 'true', status=2)
        assert 'the adapters are uv, glib, thread, io, xen, node and python' in result.stderr, result.stderr


@case
def a_sanitizers_runtime_stays_first():
    with temporary_directory() as folder:
        program = os.path.join(folder, 'program')
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'thread_subject.c')
        built = run(['gcc', '-D_GNU_SOURCE', '-fsanitize=address', '-pthread', '-o', program, source])
        if built.returncode:
            skip('gcc has no address sanitizer here')
        _, trace = record(folder, program, 'held')
        assert named(events(trace), 'lock first_lock')


main()
