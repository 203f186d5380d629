# SPDX-License-Identifier: ISC
"""Programs that nobody changed: sources and tasks of GLib."""
import glob
import os
import re
import shutil

from harness import BUILD, case, equal, json_lines, main, run, skip, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'glib-subject')


def record(folder, *command, env=None):
    """Runs the program without and with the adapter: both must print and return the same. The traces."""
    traces = os.path.join(folder, 'traces')
    os.makedirs(traces)
    plain = run(command, env=env, cwd=folder)
    traced = weft('record', '-a', 'glib', '-o', traces + '/', *command, status=None, cwd=folder,
                  env={'XDG_RUNTIME_DIR': folder, **(env or {})})
    equal(traced.returncode, plain.returncode, traced.stderr)
    equal(sorted(traced.stdout.splitlines()), sorted(plain.stdout.splitlines()))
    return sorted(glob.glob(traces + '/*.weft'))


def read(trace):
    equal(weft('info', trace).stderr, '')
    return json_lines(weft('dump', '--json', '--tasks', trace).stdout), json_lines(weft('dump', '--json', trace).stdout)


def of_subject(env=None):
    if not os.path.exists(SUBJECT):
        skip('libglib2.0-dev is not installed')
    with temporary_directory() as folder:
        trace, = [t for t in record(folder, SUBJECT, env=env) if os.path.basename(t).startswith('glib-subject')]
        return read(trace)


def one(tasks, label):
    it, = [t for t in tasks if re.fullmatch(label, t['label'] or '')]
    return it


@case
def sources():
    tasks, _ = of_subject()
    program = one(tasks, 'glib-subject')['task']
    for label, activations in (('timeout 5 ms in on_timeout', 3), ('idle in on_idle', 1), (r'fd \d+ in on_descriptor', 1),
                               ('SIGUSR1 in on_signal', 1), (r'child \d+ in on_child', 1),
                               ('source dispatch_own in on_own', 1)):
        task = one(tasks, label)
        equal((task['outcome'], task['activations'], task['parent']), ('fulfilled', activations, program), label)
    equal(one(tasks, 'timeout 20 s in never')['outcome'], 'cancelled')
    assert not [t for t in tasks if t['label'] == 'source in on_own'], 'a constant table cannot be seen'


@case
def tasks_with_any_value():
    tasks, events = of_subject()
    made = {t['task']: t for t in tasks if t['label'] == 'task in on_value'}
    equal(sorted(t['outcome'] for t in made.values()), ['cancelled', 'fulfilled'])
    equal({e['source'] for e in events if e['event'] == 'read' and e['source'] in made}, set(made))


@case
def tasks_in_threads():
    tasks, events = of_subject()
    made = [t for t in tasks if t['kind'] == 'gtask' and t['label'] == 'task in on_computed']
    equal(sorted((t['label'], t['outcome'], t['failed']) for t in made),
          [('task in on_computed', 'failed', 'no luck with 7'), ('task in on_computed', 'fulfilled', None)])
    read_ones = [e for e in events if e['event'] == 'read' and e['source'] in {t['task'] for t in made}]
    equal(len(read_ones), 2)
    for task in made:
        assert 5000000 < task['running'], task
        switched, = [e for e in events if e['event'] == 'switch' and e['task'] == task['task']]
        assert switched['thread'] != read_ones[0]['thread'], switched


@case
def a_wait_for_a_process():
    tasks, _ = of_subject()
    wait = one(tasks, r'exit of process \d+')
    equal((wait['kind'], wait['outcome']), ('call', 'fulfilled'))
    assert 15000000 < wait['end'] - wait['start'], wait


@case
def nothing_runs_between_dispatches():
    tasks, _ = of_subject()
    assert one(tasks, 'glib-subject')['activations'] <= 4, tasks


@case
def glibs_own_thread_waits():
    if not os.path.exists(SUBJECT):
        skip('libglib2.0-dev is not installed')
    with temporary_directory() as folder:
        traces = os.path.join(folder, 'traces/')
        weft('record', '-a', 'glib,thread,io', '-o', traces, SUBJECT, status=None, env={'XDG_RUNTIME_DIR': folder})
        both = [read(trace) for trace in glob.glob(traces + 'glib-subject*')]  # the other one is its child
    (tasks, events), = [it for it in both if 'gmain' in [t['label'] for t in it[0]]]
    worker = one(tasks, 'gmain')
    begun, = {e['thread'] for e in events if e['event'] == 'switch' and e['task'] == worker['task']}
    switches = [e['task'] for e in events if e['event'] == 'switch' and e['thread'] == begun]
    assert switches.count(None) >= 2, switches


@case
def the_level_off_records_nothing():
    tasks, _ = of_subject(env={'WEFT_CATEGORIES': 'glib=off'})
    equal({t['kind'] for t in tasks}, {'thread'})


@case
def locks_are_named_by_the_code_that_waits():
    if not os.path.exists(SUBJECT):
        skip('libglib2.0-dev is not installed')
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        weft('record', '-a', 'glib,thread', '-o', trace, SUBJECT, 'locks', env={'XDG_RUNTIME_DIR': folder})
        tasks, events = read(trace)
    program, filler = one(tasks, 'glib-subject')['task'], one(tasks, 'filler')['task']
    assert one(tasks, 'taker')['outcome'] == 'fulfilled', tasks
    lock, condition = one(tasks, 'lock table')['task'], one(tasks, 'condition filled')['task']
    waits = [(e['task'], e['source']) for e in events if e['event'] == 'read' and e['source'] in (lock, condition)]
    equal(waits[:2], [(filler, lock), (program, condition)])
    signals = [(e['source'], e['task']) for e in events if e['event'] == 'signal' and e['task'] in (program, filler)]
    equal(signals[:2], [(program, filler), (filler, program)])


@case
def gdbus():
    if not shutil.which('gdbus') or not shutil.which('dbus-run-session'):
        skip('gdbus or dbus-run-session is not installed')
    with temporary_directory() as folder:
        traces = record(folder, 'dbus-run-session', '--', 'gdbus', 'introspect', '--session', '--dest',
                        'org.freedesktop.DBus', '--object-path', '/')
        trace, = [t for t in traces if os.path.basename(t).startswith('gdbus')]
        tasks, _ = read(trace)
        equal(one(tasks, 'dbus Introspect')['outcome'], 'fulfilled')
        assert [t for t in tasks if t['label'] == 'source [gio] D-Bus read'], tasks


main()
