# SPDX-License-Identifier: ISC
"""Events at unusual times of a process's life are in the trace, however the process ends."""
import glob
import json
import os

from harness import BUILD, WEFT, case, equal, json_lines, main, run, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'corners-subject')
LIBRARY = os.path.join(BUILD, 'tests', 'corners-library.so')
SANITIZERS = {'UBSAN_OPTIONS': 'halt_on_error=0', 'TSAN_OPTIONS': 'handle_segv=0:handle_abort=0:die_after_fork=0',
              'ASAN_OPTIONS': 'handle_segv=0:handle_abort=0:detect_leaks=0:use_sigaltstack=0'}


class Trace:
    def __init__(self, path):
        self.events = json_lines(weft('dump', '--json', path).stdout)
        self.info = json.loads(weft('info', '--json', path).stdout)
        self.notes = {}
        for event in self.events:
            if event['event'] == 'note':
                self.notes[event['text']] = self.notes.get(event['text'], 0) + 1


def corner(name, *arguments, status=0, size='16M'):
    """Returns the traces of a run, the first process's first; the caller checks the losses of the others."""
    with temporary_directory() as path:
        env = dict(SANITIZERS, XDG_RUNTIME_DIR=path)
        trace = os.path.join(path, 't.weft')
        result = run([WEFT, 'record', '--size', size, '-o', trace, SUBJECT, name, *arguments], env=env)
        equal(result.returncode, status, name + ': ' + result.stderr)
        assert 'could not record' not in result.stderr and 'everything' not in result.stderr, result.stderr
        paths = sorted(glob.glob(os.path.join(path, '*.weft')), key=lambda found: (found != trace, found))
        equal(glob.glob(os.path.join(path, 'weft', '*')), [])
        return [Trace(found) for found in paths]


def whole(name, *expected, arguments=(), status=0):
    """Expects these notes, process by process, without losses."""
    traces = corner(name, *arguments, status=status)
    equal([trace.notes for trace in traces], list(expected), name)
    for trace in traces:
        equal((trace.info['losses'], trace.info['diagnostics']), ({}, []), name)
    return traces


@case
def children():
    whole('by_vfork', {'parent': 6, 'child': 4})
    whole('by_raw_clone', {'parent': 6}, {'child': 4})
    whole('by_clone_in_shared_memory', {'parent': 6, 'child': 4})
    whole('by_spawn', {'parent': 3}, {'spawned': 4})
    whole('as_a_daemon', {'parent': 3}, {'daemon': 4})


@case
def a_chain_of_programs():
    traces = corner('by_exec')
    equal(sorted(trace.notes['program'] for trace in traces), [1, 2, 3, 4])


@case
def threads_of_a_child():
    parent, child = corner('threads_of_a_child')
    equal((parent.notes, parent.info['losses']), ({'parent': 3}, {}))
    # While the first makes the buffer, the others' events are counted.
    equal(child.notes['thread'] + child.info['losses'].get('full', 0), 8)
    equal(set(child.info['losses']) - {'full'}, set())


@case
def destructors_of_threads():
    whole('keys_of_threads', {'destructor': 300})


@case
def cancelled_threads():
    trace, = corner('cancelled', size='64M')
    equal(trace.notes, {'after': 5})
    equal((trace.info['losses'], trace.info['diagnostics']), ({}, []))
    threads = {}
    for event in trace.events:
        if event['event'] == 'tag':
            threads.setdefault(event['thread'], []).append(event['value'])
    # Each thread's events are there from the first to the last; only the one that it was inside may be missing.
    equal(len(threads), 200)
    for values in threads.values():
        equal(values, list(range(len(values))))


@case
def jumps_out_of_handlers():
    trace, = corner('jumps_out_of_handlers')
    equal(trace.notes['after'], 5)
    equal(trace.info['diagnostics'], [])
    equal(set(trace.info['losses']) - {'overwritten', 'nested'}, set())


@case
def signals_on_an_alternate_stack():
    whole('on_an_alternate_stack', {'handler': 1, 'signal 10': 1}, {'handler': 1, 'signal 10': 1})


@case
def ends():
    whole('by_quick_exit', {'main': 3, 'at end': 1})
    whole('by_abort', {'main': 3}, status=134)
    whole('by_underscore_exit', {'main': 3})
    whole('by_a_fault', {'main': 3}, status=139)
    whole('by_another_thread', {'main': 3, 'at end': 1})


@case
def a_library_loaded_a_thousand_times():
    trace, = whole('loaded_and_unloaded', {'from the library': 1000}, arguments=[LIBRARY])
    counted = [event for event in trace.events if event['event'] == 'counter']
    equal(len(counted), 1000)
    equal({event['name'] for event in counted}, {'runs'})


main()
