# SPDX-License-Identifier: ISC
"""Programs that nobody changed: handles and requests of libuv."""
import glob
import os
import re
import shutil
import subprocess
import sys

from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'uv-subject')


def record(folder, *command, adapters='uv', size='16M', env=None):
    """Runs the program without and with the adapter: both must print and return the same. The traces."""
    traces = os.path.join(folder, 'traces')
    os.makedirs(traces)
    plain = run(command, env=env, cwd=folder)
    traced = weft('record', '-a', adapters, '--size', size, '-o', traces + '/', *command, status=None, cwd=folder,
                  env={'XDG_RUNTIME_DIR': folder, **(env or {})})
    equal(traced.returncode, plain.returncode, traced.stderr)
    equal(sorted(traced.stdout.splitlines()), sorted(plain.stdout.splitlines()))
    return sorted(glob.glob(traces + '/*.weft'))


def trace_of(part):
    if not os.path.exists(SUBJECT):
        skip('libuv1-dev is not installed')
    with temporary_directory() as folder:
        path = [p for p in record(folder, SUBJECT, part) if os.path.basename(p).startswith('uv-subject')][0]
        equal(weft('info', path).stderr, '')
        return json_lines(weft('dump', '--json', path).stdout), \
            json_lines(weft('dump', '--json', '--tasks', path).stdout)


def labels(tasks, kind):
    """The labels of the tasks of that kind, without ports."""
    return sorted(re.sub(r'(127\.0\.0\.1:)\d\d+', r'\1PORT', t['label']) for t in tasks if t['kind'] == kind)


def one(tasks, label, index=0):
    return sorted((t for t in tasks if re.fullmatch(label, t['label'] or '')), key=lambda t: t['start'])[index]


@case
def timers():
    events, tasks = trace_of('timers')
    equal(labels(tasks, 'timer'), ['timer 1 s in on_once', 'timer 10 ms in on_once', 'timer 5 ms in on_once',
                                   'timer 5 ms in on_once', 'timer 7 ms repeat 8 ms in on_again'])
    first, second = one(tasks, 'timer 10 ms.*'), one(tasks, 'timer 5 ms.*')
    equal((first['outcome'], first['activations']), ('fulfilled', 1))
    equal((second['parent'], second['row']), (first['task'], first['row']))  # set in the other's callback
    repeats = one(tasks, 'timer 7 ms.*')
    fired = next(e['time'] for e in events if e['event'] == 'switch' and e['task'] == repeats['task'])
    assert first['start'] < fired < first['end'], first
    equal((repeats['outcome'], repeats['activations']), ('cancelled', 4))
    equal(one(tasks, 'timer 1 s.*')['outcome'], 'cancelled')
    equal(labels(tasks, 'close'), ['close timer', 'close timer'])


@case
def work_on_the_threads_of_the_pool():
    events, tasks = trace_of('work')
    works = [t for t in tasks if t['kind'] == 'work']
    equal(sorted((t['label'], t['outcome'], t['activations']) for t in works),
          [('work in compute', 'cancelled', 1)] + [('work in compute', 'fulfilled', 2)] * 6)
    pool = one(tasks, "libuv's threads")['task']
    held = [e for e in events if e['event'] == 'acquire']
    equal({e['resource'] for e in held}, {pool})
    assert len({e['thread'] for e in held}) > 1, held
    woken = {e['task'] for e in events if e['event'] == 'signal'}
    equal(woken, {one(tasks, 'async in on_async')['task']})


@case
def files():
    _, tasks = trace_of('files')
    opened, got = one(tasks, 'fs open /etc/passwd', 1), one(tasks, r'fs read fd \d+')
    equal((got['parent'], got['row']), (opened['task'], opened['row']))
    equal(one(tasks, 'fs open /none')['failed'], 'no such file or directory (ENOENT)')
    equal(one(tasks, 'fs open /etc/passwd')['failed'], 'invalid argument (EINVAL)')  # libuv refused it
    equal(len(labels(tasks, 'fs')), 4)  # a call without a callback is no request


@case
def streams():
    events, tasks = trace_of('streams')
    server = one(tasks, r'listen tcp 127\.0\.0\.1:\d+')
    equal((server['outcome'], server['activations']), ('closed', 2))  # a connection, and the close
    refused = one(tasks, r'connect tcp 127\.0\.0\.1:1')
    equal(refused['failed'], 'connection refused (ECONNREFUSED)')
    reads = [t for t in tasks if t['kind'] == 'read']
    equal(sorted(t['outcome'] for t in reads), ['closed', 'fulfilled'])  # closed here, ended by the other side
    accepted, = [t for t in reads if t['parent'] == server['task']]
    equal(accepted['activations'], 5)  # three questions, the end, and the close
    equal(len([t for t in tasks if t['kind'] == 'write' and t['parent'] == accepted['task']]), 3)
    counted = {name: sum(e['add'] for e in events if e['event'] == 'counter' and e['name'] == name)
               for name in ('bytes read', 'bytes written')}
    equal(counted, {'bytes read': 30, 'bytes written': 30})


@case
def other_handles():
    events, tasks = trace_of('others')
    equal(labels(tasks, 'signal'), ['SIGUSR1 in on_signal'])
    equal(labels(tasks, 'process'), ['process /bin/sh -c exit 3 in on_exit_status'])
    label, = labels(tasks, 'poll')
    assert re.fullmatch(r'poll fd \d+ in on_poll', label), label
    equal(labels(tasks, 'read'), ['read udp 127.0.0.1:PORT'])
    equal(labels(tasks, 'write'), ['send udp 127.0.0.1:PORT'])
    equal(labels(tasks, 'lookup'), ['getaddrinfo 127.0.0.1:PORT'])
    equal(labels(tasks, 'prepare'), ['prepare in on_prepare'])
    mark, = [e for e in events if e['event'] == 'mark']
    equal((mark['name'], mark['fields']['status']), ('exit', 3))


@case
def a_loop_that_goes_on_in_a_forked_child():
    if not os.path.exists(SUBJECT):
        skip('libuv1-dev is not installed')
    with temporary_directory() as folder:
        traces = record(folder, SUBJECT, 'forks')
        equal(len(traces), 2)
        for trace in traces:
            equal(weft('info', trace).stderr, '')
        child = json_lines(weft('dump', '--json', '--tasks', traces[1]).stdout)
        equal(labels(child, 'timer'), ['timer 1 ms in on_once', 'timer 5 ms in on_once', 'timer 5 ms in on_once'])


@case
def a_child_that_is_forked_in_the_middle_of_a_round():
    """A function that allocates is not recorded, and what libuv calls there is its own; but the child is a program."""
    if not os.path.exists(SUBJECT):
        skip('libuv1-dev is not installed')
    with temporary_directory() as folder:
        traces = record(folder, SUBJECT, 'forks_in_round')
        equal(len(traces), 2)
        timers = [labels(json_lines(weft('dump', '--json', '--tasks', trace).stdout), 'timer') for trace in traces]
        equal(sorted(timers), [[], ['timer 1 ms repeat in on_again']])


@case
def nothing_runs_between_callbacks():
    events, tasks = trace_of('timers')
    program = one(tasks, 'uv-subject')['task']
    switches = [e['task'] for e in events if e['event'] == 'switch']
    equal((switches[0], switches[-1], switches.count(program)), (program, program, 2))
    equal({before for before, task in zip(switches, switches[1:]) if task not in (None, program)}, {None})


@case
def the_level_off_records_nothing():
    if not os.path.exists(SUBJECT):
        skip('libuv1-dev is not installed')
    with temporary_directory() as folder:
        for part in ('timers', 'work', 'streams'):
            path = os.path.join(folder, part)
            os.makedirs(path)
            trace, = record(path, SUBJECT, part, env={'WEFT_CATEGORIES': 'uv=off'})
            kinds = {t['kind'] for t in json_lines(weft('dump', '--json', '--tasks', trace).stdout)}
            equal(kinds, {'thread'})


@case
def tasks_keep_their_names_when_the_buffer_is_full():
    if not os.path.exists(SUBJECT):
        skip('libuv1-dev is not installed')
    with temporary_directory() as folder:
        trace, = record(folder, SUBJECT, 'many', size='128K')
        tasks = json_lines(weft('dump', '--json', '--tasks', trace).stdout)
        equal(one(tasks, 'timer 3600 s in on_once')['kind'], 'timer')
        equal(one(tasks, 'async in on_round')['kind'], 'async')
        equal({t.get('category') for t in tasks if t['kind'] in ('timer', 'async')}, {'uv'})


@case
def a_plugin_brings_libuv():
    """The program is not linked to libuv, so the dynamic linker does not have it after the adapters."""
    library = os.path.join(BUILD, 'tests', 'uv-plugin.so')
    if not os.path.exists(library):
        skip('libuv1-dev is not installed')
    program = 'import ctypes; print(ctypes.CDLL(%r).run())' % library
    with temporary_directory() as folder:
        trace, = record(folder, sys.executable, '-S', '-c', program)
        equal(len(labels(json_lines(weft('dump', '--json', '--tasks', trace).stdout), 'timer')), 1)


@case
def a_program_that_contains_libuv():
    """Linked with libweft-uv, by the linker's option --wrap: the same tasks as with the preloaded adapter."""
    program = os.path.join(BUILD, 'tests', 'uv-linked')
    if not os.path.exists(program):
        skip('libuv1-dev has no static library')
    for part in ('timers', 'work', 'files', 'streams', 'others'):
        with temporary_directory() as folder:
            trace, = [t for t in record(folder, program, part, adapters='none') if 'uv-linked' in t]
            equal(weft('info', trace).stderr, '')
            tasks = json_lines(weft('dump', '--json', '--tasks', trace).stdout)
        _, expected = trace_of(part)
        equal(one(tasks, 'uv-linked')['outcome'], 'fulfilled')
        equal(sorted((t['kind'], t['outcome'], t['activations']) for t in tasks if t['kind'] not in ('async', 'prepare')),
              sorted((t['kind'], t['outcome'], t['activations']) for t in expected
                     if t['kind'] not in ('async', 'prepare')), part)


@case
def other_adapters_leave_the_loop_alone():
    """epoll_wait, and descriptors that libuv reads and writes, are not shown a second time."""
    if not os.path.exists(SUBJECT):
        skip('libuv1-dev is not installed')
    with temporary_directory() as folder:
        trace, = record(folder, SUBJECT, 'streams', adapters='uv,io,thread')
        kinds = {t['kind'] for t in json_lines(weft('dump', '--json', '--tasks', trace).stdout)}
        # A call that takes long, as on a busy machine, is a span on a track of its thread.
        equal(kinds - {'track'}, {'thread', 'listen', 'connect', 'read', 'write', 'close'})


@case
def messages_reach_the_tasks_that_read():
    """A child's exit and what a connection brings wake libuv's tasks, though its own code waits and reads."""
    if not os.path.exists(SUBJECT):
        skip('libuv1-dev is not installed')
    for part, receiver in (('others', 'process /bin/sh'), ('streams', 'read tcp 127.0.0.1')):
        with temporary_directory() as folder:
            traces = record(folder, SUBJECT, part, adapters='uv,io,thread')
            label = {(t.get('buffer', 0), t['task']): t['label'] or '' for t in
                     json_lines(weft('dump', '--json', '--tasks', *traces).stdout)}
            found = [label[e.get('buffer', 0), e['to']] for e in json_lines(weft('dump', '--json', '--edges', *traces).stdout)
                     if e['edge'] == 'receive']
            assert any(name.startswith(receiver) for name in found), (part, found)


@case
def neovim():
    if not shutil.which('nvim'):
        skip('nvim is not installed')
    commands = ['+lua vim.fn.jobstart({"sh", "-c", "exit 4"}, {on_exit = function(_, s) print(s) end})',
                '+lua vim.loop.new_timer():start(20, 0, function() end)', '+sleep 300m', '+q']
    with temporary_directory() as folder:
        traces = record(folder, 'nvim', '--headless', '-u', 'NONE', '-i', 'NONE', *commands,
                        env={'HOME': folder, 'XDG_CONFIG_HOME': folder, 'XDG_STATE_HOME': folder})
        trace = [t for t in traces if os.path.basename(t).startswith('nvim')][0]
        equal(weft('info', trace).stderr, '')
        tasks = json_lines(weft('dump', '--json', '--tasks', trace).stdout)
        child = one(tasks, r'process \S*sh -c exit 4.*')
        equal(child['outcome'], 'fulfilled')
        timer = one(tasks, 'timer 20 ms in .*')
        equal((timer['kind'], timer['outcome']), ('timer', 'fulfilled'))


main()
