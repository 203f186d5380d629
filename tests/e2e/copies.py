# SPDX-License-Identifier: ISC
"""Several copies of the recorder in one process make one recorder: a program with the static library,
plug-ins with theirs, a preloaded libweft.so."""
import glob
import json
import os

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, temporary_directory, weft

HOSTS = ('copies-host', 'copies-host-static', 'copies-host-shared')
PLUGINS = ('one', 'two', 'three')
LIBWEFT = os.path.realpath(os.path.join(BUILD, 'src', 'platform', 'libweft.so'))


def built(name):
    return os.path.join(BUILD, 'tests', name)


def plugin(name):
    return name if name.endswith('.so') else built('copies-%s.so' % name)


def record(directory, host, what, plugins=PLUGINS, preload=False, status=0):
    """Returns the traces, the first process's first; the program's output; and the messages."""
    env = {'XDG_RUNTIME_DIR': directory, 'TSAN_OPTIONS': 'die_after_fork=0'}
    script = 'LD_PRELOAD=%s exec "$@"' % LIBWEFT if preload else 'exec "$@"'
    result = run([WEFT, 'record', '-o', os.path.join(directory, 't.weft'), 'sh', '-c', script, 'sh', built(host), what,
                  *map(plugin, plugins)], env=env, text=False)
    equal(result.returncode, status, result.stderr)
    traces = sorted(glob.glob(os.path.join(directory, '*.weft')), key=lambda path: not path.endswith('t.weft'))
    return traces, result.stdout, result.stderr.decode()


def info(path):
    return json.loads(weft('info', '--json', path).stdout)


def events(path):
    return json_lines(weft('dump', '--json', path).stdout)


def notes(path):
    counted = {}
    for event in events(path):
        if event['event'] == 'note':
            counted[event['text']] = counted.get(event['text'], 0) + 1
    return counted


def expected(host, number):
    names = PLUGINS + (() if host == 'copies-host' else ('host',))
    return dict.fromkeys(names, number)


def check_one_recorder(host, preload):
    with temporary_directory() as directory:
        traces, _, report = record(directory, host, 'by_threads', preload=preload)
        equal(len(traces), 1, report)
        equal(notes(traces[0]), expected(host, 300))
        tasks = [event['child'] for event in events(traces[0]) if event['event'] == 'create']
        equal(len(tasks), len(set(tasks)), 'ids of tasks')
        shown = info(traces[0])
        equal(shown['losses'], {})
        equal(shown['threads'], 3, 'a slot a thread')


@case
def one_recorder():
    for host in HOSTS:
        check_one_recorder(host, preload=False)


@case
def one_recorder_with_a_preloaded_library():
    for host in HOSTS:
        check_one_recorder(host, preload=True)


@case
def a_copy_that_is_one_file():
    source = os.path.join(BUILD, 'tools', 'dropin', 'weft.c')
    with temporary_directory() as directory:
        own = os.path.join(directory, 'own.so')
        built_it = run(['gcc', '-std=c11', '-O2', '-shared', '-fPIC', '-Wl,-Bsymbolic', '-DPLUGIN="own"',
                        '-I', os.path.join(SOURCE, 'include'), source,
                        os.path.join(SOURCE, 'tests', 'e2e', 'copies_plugin.c'), '-o', own])
        equal(built_it.returncode, 0, built_it.stderr)
        for plugins in (('one', own), (own, 'one')):
            for host in HOSTS:
                traces, _, report = record(directory, host, 'by_threads', plugins)
                equal(len(traces), 1, report)
                names = ['one', 'own'] + ([] if host == 'copies-host' else ['host'])
                equal(notes(traces[0]), dict.fromkeys(names, 300))
                equal((info(traces[0])['threads'], info(traces[0])['losses']), (3, {}))


@case
def loaded_at_once():
    with temporary_directory() as directory:
        for _ in range(10):
            traces, _, report = record(directory, 'copies-host', 'race')
            equal(len(traces), 1, report)
            equal(notes(traces[0]), expected('copies-host', 10))
            equal(info(traces[0])['threads'], 3)


@case
def a_child_is_one_recorder_too():
    for host in HOSTS:
        with temporary_directory() as directory:
            traces, _, report = record(directory, host, 'in_child')
            equal(len(traces), 2, report)
            equal(notes(traces[0]), {PLUGINS[0]: 1})
            equal(notes(traces[1]), dict.fromkeys(PLUGINS, 5))
            equal(info(traces[1])['losses'], {})


@case
def stopped_and_started_by_any():
    for host in HOSTS:
        with temporary_directory() as directory:
            traces, buffer, report = record(directory, host, 'restart')
            equal(len(traces), 1, report)
            equal(notes(traces[0]), {PLUGINS[0]: 1})
            own = os.path.join(directory, 'own')
            with open(own, 'wb') as file:
                file.write(buffer)
            equal(notes(own), dict.fromkeys(PLUGINS, 3))
            equal(info(own)['threads'], 1)


@case
def the_leading_copy_stays():
    for host in HOSTS:
        with temporary_directory() as directory:
            traces, _, report = record(directory, host, 'unload')
            equal(len(traces), 1, report)
            equal(notes(traces[0]), dict.fromkeys(PLUGINS[1:], 50))


@case
def a_handler_of_one_in_an_event_of_another():
    with temporary_directory() as directory:
        traces, _, report = record(directory, 'copies-host', 'interrupt')
        equal(len(traces), 1, report)
        shown = info(traces[0])
        equal(shown['diagnostics'], [])
        equal(set(shown['losses']) - {'nested'}, set(), report)
        counted = notes(traces[0])
        # Calls that a signal handler interrupted are recorded.
        equal(counted[PLUGINS[0]], 100000)
        assert counted[PLUGINS[-1]] > 0, counted


@case
def another_version_records_nothing_and_says_so():
    for host in HOSTS:
        with temporary_directory() as directory:
            traces, _, report = record(directory, host, 'by_threads', plugins=('one', 'other'))
            equal(len(traces), 1, report)
            names = ['one'] + ([] if host == 'copies-host' else ['host'])
            equal(notes(traces[0]), dict.fromkeys(names, 300))
            assert 'did not record everything: ' + plugin('other') + ': its weft has another version' in report, report


@case
def without_a_run_another_version_cannot_start():
    with temporary_directory() as directory:
        result = run([built('copies-host'), 'restart', plugin('one'), plugin('other')], text=False)
        equal(result.returncode, 1)
        assert b'copies-host: start' in result.stderr, result.stderr


main()
