# SPDX-License-Identifier: ISC
"""Where in the code a thread waits: functions and lines in saved traces."""
import csv
import glob
import json
import os
import re
import subprocess

import debug_information
from harness import SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import communicate

HERE = os.path.join(SOURCE, 'tests', 'e2e')
SUBJECT = os.path.join(HERE, 'wait_calls_subject.c')
ARROW = ' ← '


def built(folder, *flags):
    return debug_information.built(SUBJECT, folder, *flags)


def calls_of(trace):
    """{the calls of each wait}"""
    return {event['text'] for event in json_lines(weft('dump', '--json', trace).stdout) if event['event'] == 'stack'}


def record(folder, *command, env=None, **how):
    trace = os.path.join(folder, 'trace.weft')
    result = run([WEFT, 'record', '-a', 'thread,io', '-o', trace, *command], env={'XDG_RUNTIME_DIR': folder, **(env or {})}, **how)
    equal(result.returncode, 0, result.stderr)
    equal(weft('info', trace).stderr, '')
    return trace


def without_lines(calls):
    return re.sub(r' \([^)]*\)', '', calls)


@case
def functions_and_lines():
    with open(SUBJECT, encoding='utf-8') as file:
        line = next(number for number, text in enumerate(file, 1) if 'flush_log waits' in text)
    far = '-Wl,-Ttext=0x2000000'  # the code is far from the file's header, as in node
    for flags in (['-g', '-pie', '-fPIE'], ['-g', '-no-pie', '-O0'], ['-g', '-no-pie', far]):
        with temporary_directory() as folder:
            trace = record(folder, built(folder, *flags), 'lock')
            found = calls_of(trace)
            waits = [calls for calls in found if calls.startswith('flush_log')]
            assert len(waits) == 1 and re.fullmatch(rf'flush_log \(wait_calls_subject.c:{line}\){ARROW}write_records \(wait_calls_subject.c:\d+\)', waits[0]), found
            assert f'nap{ARROW}wait_for_lock{ARROW}main' in map(without_lines, found), found
            answer = weft('why', trace, 'write_records').stdout.splitlines()
            at = next(number for number, text in enumerate(answer) if 'waits for lock' in text)
            equal(answer[at + 1].strip(), 'in ' + waits[0])
            hops = json_lines(weft('why', '--json', trace, 'write_records').stdout)
            equal([hop['calls'] for hop in hops if 'calls' in hop][0], waits[0])
            equal(weft('query', trace, f"select count(*) as n from stacks where calls = '{waits[0]}'").stdout.split()[-1], '1')


@case
def statistics_by_calls():
    """The waits of each list of calls, with what they were for; in text, JSON and CSV."""
    with temporary_directory() as folder:
        trace = record(folder, built(folder, '-g'), 'lock')
        rows = json.loads(weft('stats', '--by', 'stack', '--json', trace).stdout)['rows']
        row, = [row for row in rows if (row['name'] or '').startswith('flush_log')]
        equal((row['kind'], row['count'], row['ended'], row['running']), ('lock', 1, 1, 0))
        wait, = [hop for hop in json_lines(weft('why', '--json', trace, 'write_records').stdout) if hop.get('calls') == row['name']]
        equal(row['max'], wait['until'] - wait['since'])
        equal(row['waiting'] + row['delay'], row['max'])
        assert any(without_lines(other['name'] or '') == f'nap{ARROW}wait_for_lock{ARROW}main' and other['kind'] == 'timer' for other in rows), rows
        table = weft('stats', '--by', 'stack', trace).stdout.splitlines()
        assert 'running' not in table[2] and table[2].endswith('waits for'), table
        assert any(line.endswith('lock, in ' + row['name']) for line in table), table
        lines = list(csv.DictReader(weft('stats', '--by', 'stack', '--csv', trace).stdout.splitlines()))
        equal([(line['name'], line['kind'], int(line['max_ns'])) for line in lines], [(other['name'] or '', other.get('kind', ''), other['max']) for other in rows])
        pairs = json.loads(weft('stats', '--diff', '--by', 'stack', '--json', trace, trace).stdout)['rows']
        assert len(pairs) == len(rows) and all(pair['a'] == pair['b'] for pair in pairs), pairs
        equal(weft('stats', '--by', 'stack', '--json', '--duration', '0', trace).stdout.count('"count"'), 0)


@case
def a_part_of_a_trace_keeps_them():
    with temporary_directory() as folder:
        trace, part = record(folder, built(folder, '-g'), 'lock'), os.path.join(folder, 'part.weft')
        weft('cut', trace, '-o', part)
        equal(calls_of(part), calls_of(trace))


@case
def without_symbols_there_are_addresses():
    with temporary_directory() as folder:
        found = calls_of(record(folder, built(folder, '-s'), 'lock'))
        assert any(re.fullmatch(rf'program\+0x[0-9a-f]+{ARROW}program\+0x[0-9a-f]+', calls) for calls in found), found


@case
def another_file_of_that_name_gives_no_names():
    with temporary_directory() as folder:
        trace, program = os.path.join(folder, 'trace.weft'), built(folder, '-g')
        with subprocess.Popen([WEFT, 'record', '-a', 'thread,io', '-o', trace, program, 'read'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env={**os.environ, 'XDG_RUNTIME_DIR': folder}) as process:
            equal(process.stdout.readline(), b'ready\n')
            other = os.path.join(folder, 'other')
            os.mkdir(other)
            os.replace(built(other, '-g', '-O2'), program)
            communicate(process)
            equal(process.returncode, 0)
        found = calls_of(trace)
        assert found and all('read_input' not in calls and 'program+0x' in calls for calls in found), found


@case
def of_many_calls_the_innermost_are_kept():
    with temporary_directory() as folder:
        program = built(folder, '-g0')
        with subprocess.Popen(['sleep', '0.05'], stdout=subprocess.PIPE) as end:
            trace = record(folder, program, 'deep', stdin=end.stdout)
        equal(calls_of(trace), {ARROW.join(['read_input'] * 32 + ['…'])})


@case
def small_stacks_are_enough():
    with temporary_directory() as folder:
        found = calls_of(record(folder, built(folder, '-g0'), 'small'))
        assert f'nap{ARROW}sleep_in_little_room' in found and any(calls.startswith(f'nap{ARROW}handle{ARROW}') for calls in found), found


@case
def a_stack_below_a_coroutine_may_be_gone():
    with temporary_directory() as folder:
        found = calls_of(record(folder, built(folder, '-g0'), 'coroutine'))
        assert ARROW.join(['nap', 'begin_coroutine', '…']) in found, found


@case
def code_that_was_unloaded_is_not_taken_for_other_code():
    with temporary_directory() as folder:
        libraries = []
        for name in ('first', 'other'):
            source, library = os.path.join(folder, name + '.c'), os.path.join(folder, name + '.so')
            with open(source, 'w', encoding='utf-8') as file:
                file.write('#include <unistd.h>\n__attribute__((noinline)) static void %s_sleeps(void) { usleep(1000); __asm__ volatile(""); }\n'
                           'void run(void) { %s_sleeps(); __asm__ volatile(""); }\n' % (name, name))
            equal(run(['gcc', '-O1', '-shared', '-fPIC', '-D_GNU_SOURCE', source, '-o', library]).returncode, 0)
            libraries.append(library)
        trace = record(folder, built(folder, '-g0'), 'library', *libraries)
        expected = {ARROW.join([name + '_sleeps', 'run', 'call_library', 'main']) for name in ('first', 'other')}
        assert expected <= calls_of(trace), calls_of(trace)


@case
def names_of_cpp_are_short():
    with temporary_directory() as folder:
        built(folder)
        source, program = os.path.join(folder, 'log.cpp'), os.path.join(folder, 'log')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('#include <unistd.h>\nnamespace store {\ntemplate <class T> struct Log {\n  __attribute__((noinline)) void flush(T us) { usleep(us); __asm__ volatile(""); }\n};\n}\n'
                       'int main() { store::Log<unsigned> log; log.flush(1000); return 0; }\n')
        result = run(['g++', '-O1', source, '-o', program])
        if result.returncode:
            skip('no compiler of C++')
        equal(calls_of(record(folder, program)), {f'store::Log<unsigned int>::flush{ARROW}main'})


INLINED = '''#include <mutex>
#include <thread>
#include <unistd.h>
static std::mutex mutex;
static int asked;
static inline __attribute__((always_inline)) void flush() {
  std::lock_guard<std::mutex> lock(mutex);
}
int main() {
  std::thread other;
  {
    std::lock_guard<std::mutex> lock(mutex);
    other = std::thread([] {
      __atomic_store_n(&asked, 1, __ATOMIC_SEQ_CST);
      flush();
    });
    while (!__atomic_load_n(&asked, __ATOMIC_SEQ_CST)) usleep(1000);
    usleep(100000);
  }
  other.join();
}
'''


@case
def inlined_functions_are_named():
    """But not those of the system's headers, such as the constructor of std::lock_guard."""
    with temporary_directory() as folder:
        built(folder)
        source, program = os.path.join(folder, 'log.cpp'), os.path.join(folder, 'log')
        with open(source, 'w', encoding='utf-8') as file:
            file.write(INLINED)
        if run(['g++', '-g', '-O2', source, '-o', program, '-pthread']).returncode:
            skip('no compiler of C++')
        expected = f'flush (log.cpp:7){ARROW}{{lambda}} (log.cpp:15){ARROW}main::{{lambda}}'
        for _ in range(20):  # the other thread may be late
            found = calls_of(record(folder, program))
            if any(calls.startswith(expected) for calls in found):
                return
        raise AssertionError(found)


@case
def a_forked_child_has_its_own():
    with temporary_directory() as folder:
        record(folder, '--keep-all', built(folder, '-g0'), 'fork')
        children = [path for path in glob.glob(os.path.join(folder, '*.weft')) if not path.endswith('/trace.weft')]
        equal(len(children), 1)
        for path in [*children, os.path.join(folder, 'trace.weft')]:
            assert f'nap{ARROW}sleep_in_both{ARROW}main' in calls_of(path), (path, calls_of(path))


@case
def a_process_that_is_saved_while_others_run_has_names():
    with temporary_directory() as folder:
        script = '%s lock; until ls %s/trace-*.weft; do sleep 0.01; done' % (built(folder, '-g0'), folder)
        record(folder, '--keep-all', 'sh', '-c', script)
        found = set.union(*map(calls_of, glob.glob(os.path.join(folder, '*.weft'))))
        assert any('main' in calls for calls in found), found


@case
def a_level_turns_them_off():
    with temporary_directory() as folder:
        equal(calls_of(record(folder, built(folder, '-g'), 'lock', env={'WEFT_CATEGORIES': 'stack=off'})), set())


main()
