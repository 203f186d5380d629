# SPDX-License-Identifier: ISC
"""weft metrics: the counters of running programs, whether or not they record."""
import contextlib
import json
import os
import pty
import re
import signal
import struct
import subprocess

from counting import RUN_QUEUE, TYPED, Program, program
from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, temporary_directory, weft
from prometheus import check, families
from waiting import wait_until


@case
def counters_of_a_program_that_records_nothing():
    with program() as it:
        line, = json_lines(weft('metrics', '--json', it.pid).stdout)
        equal(line['counter'], RUN_QUEUE, 'the kernel counts for a program without counters, too')
        it.tell('requests 2', 'requests 3', 'queue =7', 'queue -9', 'load 0.5', 'load 0.25')
        equal(it.values(), {'requests': 5, 'queue': -2, 'load': 0.75})
        text = weft('metrics', it.pid).stdout.splitlines()
        equal(text[1].split(), [str(it.pid), 'metrics-subject', '5', 'requests'])
        found = [line for line in json_lines(weft('metrics', '--json').stdout) if line['pid'] == it.pid]
        equal([line['counter'] for line in found], ['requests', 'queue', 'load', RUN_QUEUE])


def delay_of(pid):
    """The seconds, as the kernel says, for which the process's threads had no processor."""
    total = 0
    for thread in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/schedstat' % (pid, thread), encoding='utf-8') as file:
            total += int(file.read().split()[1])
    return total / 1e9


@case
def the_run_queue_is_that_of_the_process():
    with program() as it:
        it.tell('requests 1')
        before = delay_of(it.pid)
        found, = [line for line in json_lines(weft('metrics', '--json', it.pid).stdout) if line['counter'] == RUN_QUEUE]
        equal((found['type'], found['unit']), ('gauge', 'seconds'))
        assert before <= found['value'] <= delay_of(it.pid), (before, found)


@case
def a_forked_child_counts_for_itself():
    with program() as it:
        it.tell('requests 2', 'fork', 'requests 5')
        equal(it.values(), {'requests': 5})
        equal(it.values(it.parent), {'requests': 2})


@case
def a_trace_that_begins_later_has_the_values_before_it():
    with temporary_directory() as folder:
        it = Program(XDG_RUNTIME_DIR=folder)
        it.tell('requests 100', 'queue =7', 'load 0.5')
        with recorded_later(it, folder):
            it.tell('requests 1', 'queue -1', 'requests 1')
            it.process.kill()  # its last words are not needed for it
        it.process.communicate()
        rows = json.loads(weft('stats', '--json', os.path.join(folder, 't.weft')).stdout)['counters']
        equal({row['name']: (row['before'], row['after'], row['change'], row['min']) for row in rows},
              {'requests': (100, 102, 2, 100), 'queue': (7, 6, -1, 6), 'load': (0.5, 0.5, 0, 0.5)})
        equal([row['changes'] for row in rows][1:], [1, 0])


def counters_of_killed(folder, *lines, options=()):
    """The answers of `weft stats` and `weft metrics` about a program that was recorded from its start on, and killed after these lines."""
    it = Program(WEFT, 'record', *options, '-o', os.path.join(folder, 't.weft'), '--', XDG_RUNTIME_DIR=folder, WEFT_AGENT='none')
    it.tell(*lines)
    os.kill(it.pid, signal.SIGKILL)
    it.process.communicate()
    file, = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.weft')]
    rows = json.loads(weft('stats', '--json', file).stdout)['counters']
    values = {line['counter']: line['value'] for line in json_lines(weft('metrics', '--json', file).stdout)}
    return {row['name']: (row['before'], row['after'], row.get('relative', False)) for row in rows}, values


@case
def a_killed_program_has_its_values_though_events_were_lost():
    with temporary_directory() as folder:
        found, values = counters_of_killed(folder, 'requests 40', 'load 0.5', 'lose', 'requests 300', 'requests 4', 'load 0.25', 'queue =7')
        equal(found, {'requests': (0, 344, False), 'load': (0, 0.75, False), 'queue': (None, 7, False)})
        equal(values, {'requests': 344, 'load': 0.75, 'queue': 7})


def counters_in(trace, *options):
    """The value of each counter before and after, and whether these are relative."""
    rows = json.loads(weft('stats', '--json', trace, *options).stdout)['counters']
    return {row['name']: (row['before'], row['after'], row.get('relative', False)) for row in rows}


def without_source(trace):
    return [line for line in json_lines(weft('dump', '--json', trace).stdout) if line['event'] != 'header']


@case
def a_part_claims_no_value_that_its_trace_does_not_know():
    """Parts end before the totals of the program's end: a part is described as that range of the longer one is."""
    with temporary_directory() as folder:
        trace, whole, part, again, direct = [os.path.join(folder, name) for name in ('t.weft', 'whole', 'part', 'again', 'direct')]
        counters_of_killed(folder, 'requests 40', 'queue =7', 'depth =3', 'level =9', 'load 0.5', 'lose', 'requests 300', 'requests 4', 'load 0.25',
                           'depth =4', 'level 1', 'depth 1', 'requests 5', 'late 8', 'level =2', 'late 1', 'requests 6')
        lines = [line for line in json_lines(weft('dump', '--json', trace).stdout) if line['event'] == 'counter' and not line.get('rundown')]
        times = [line['time'] for line in lines]
        end = times[-1]

        def cut(file, out, start, over=end):
            with contextlib.suppress(FileNotFoundError):
                os.remove(out)
            weft('cut', file, '-o', out, '--start', '@%d' % start, '--duration', '%dns' % (over - start))

        cut(trace, whole, times[0])
        equal(counters_in(whole), {'requests': (0, 349, True), 'queue': (None, 7, False), 'depth': (None, 5, True), 'level': (None, 2, True),
                                   'load': (0, 0.75, True), 'late': (0, 9, True)})
        for how in 'from the begin', 'from a checkpoint':
            for i, start in enumerate(times[5:-1]):
                cut(trace, part, start)
                cut(part, again, times[-2])
                cut(trace, direct, times[-2])
                equal(without_source(again), without_source(direct), (how, i))
                found = counters_in(part)
                wanted = counters_in(whole, '--start', '@%d' % start)
                for name, (before, after, relative) in found.items():
                    # A value is known from its set on; the whole is either relative or not.
                    is_set = name == 'level' and before == after
                    equal((name, before, after, relative or is_set), (name, *wanted[name]), (how, i))
            weft('index', '--spacing', 1, trace)


@case
def a_part_that_is_read_alone_claims_no_value_from_before():
    with temporary_directory() as folder:
        trace, part = os.path.join(folder, 't.weft'), os.path.join(folder, 'part')
        counters_of_killed(folder, 'requests 40', 'level =9', 'depth 1', 'level 1', 'requests 5', 'depth =3', 'requests 1', options=['--stream'])
        times = [line['time'] for line in json_lines(weft('dump', '--json', trace).stdout) if line['event'] == 'counter']
        for past in times[4] - times[2], 0:
            weft('cut', trace, '-o', part, '--start', '@%d' % times[4], '--duration', '%dns' % (times[-1] - times[4]), '--past', '%dns' % past)
            before, after, relative = counters_in(part)['requests']
            equal((after - before, relative), (5, True), past)
            os.remove(part)


@case
def so_has_its_stream():
    for options in ['--stream'], ['--stream', '--rotate', '64M'], ['--stream', '--zstd']:
        with temporary_directory() as folder:
            found, values = counters_of_killed(folder, 'requests 40', 'load 0.5', 'lose', 'requests 300', 'requests 4', 'load 0.25', 'queue =7',
                                               options=options)
            equal(found, {'requests': (0, 344, False), 'load': (0, 0.75, False), 'queue': (None, 7, False)}, options)
            equal(values, {'requests': 344, 'load': 0.75, 'queue': 7})


def is_asleep(pid):
    """True if no thread of the process runs, or would if it had a processor."""
    states = []
    for thread in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/stat' % (pid, thread), encoding='utf-8') as file:
            states.append(file.read().rpartition(')')[2].split()[0])
    return set(states) == {'S'}


def holds_counters(recorder, pid):
    """True if the recorder has a descriptor of the counters of that program, and not only of those that it was forked from. It may
    still find out whether the program runs, unless it is asleep."""
    with open('/proc/%d/maps' % pid, encoding='utf-8') as file:
        own = {int(line.split()[4]) for line in file if 'weft-counters' in line}
    folder = '/proc/%d/fd' % recorder
    for fd in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            if os.stat(os.path.join(folder, fd)).st_ino in own and 'weft-counters' in os.readlink(os.path.join(folder, fd)):
                return True
    return False


@case
def a_killed_child_has_its_values_too():
    with temporary_directory() as folder:
        file = os.path.join(folder, 'traces/')
        it = Program(WEFT, 'record', '-o', file, '--', XDG_RUNTIME_DIR=folder, WEFT_AGENT='none')
        it.tell('requests 2', 'fork', 'requests 40', 'lose', 'requests 304')
        wait_until('it is found', lambda: holds_counters(it.process.pid, it.pid) and is_asleep(it.process.pid), it.process)
        os.kill(it.pid, signal.SIGKILL)
        it.process.communicate()
        child, = [name for name in os.listdir(file) if '-%d.' % it.pid in name]
        row, = json.loads(weft('stats', '--json', os.path.join(file, child)).stdout)['counters']
        equal((row['before'], row['after'], row.get('relative')), (0, 344, None))


@case
def a_child_without_memory_of_its_own_has_not_its_parents_values():
    with program() as it:
        it.tell('requests 2', 'clone', 'requests 5')
        assert 'clone' in weft('metrics', it.pid, status=3).stderr
        equal(it.values(it.parent), {'requests': 2})


@contextlib.contextmanager
def recorded_later(it, folder):
    env = {'XDG_RUNTIME_DIR': folder}

    def records():
        it.tell('requests 0')
        return any(line['pid'] == it.pid and line['state'] == 'running' for line in json_lines(weft('ls', '--json', env=env).stdout))
    with subprocess.Popen([WEFT, 'record', '-p', str(it.pid), '-o', os.path.join(folder, 't.weft')], stderr=subprocess.DEVNULL,
                          env=dict(os.environ, **env)) as recorder:
        wait_until('it records', records, recorder)
        yield recorder


@case
def a_program_that_is_recorded_later_keeps_its_values():
    with temporary_directory() as folder, program(XDG_RUNTIME_DIR=folder) as it:
        it.tell('requests 2')
        with recorded_later(it, folder) as recorder:
            it.tell('requests 4')
            equal(it.values(), {'requests': 6})
            recorder.terminate()
        equal(it.values(), {'requests': 6})


@case
def a_program_that_is_recorded_from_its_start_on_has_them_too():
    with temporary_directory() as folder:
        env = {'XDG_RUNTIME_DIR': folder, 'WEFT_AGENT': 'none'}
        with program(WEFT, 'record', '-o', os.path.join(folder, 't.weft'), '--', **env) as it:
            equal(it.values(), {})
            it.tell('requests 2', 'load 0.5', 'requests 3')
            equal(it.values(env=env), {'requests': 5, 'load': 0.5})
            assert str(it.pid) in weft('metrics').stdout
            assert re.search(r'metrics-subject %d\n(.*\n)* +5 +requests' % it.pid, weft('top', it.pid).stdout)
            it.tell('fork', 'requests 1')
            equal(it.values(env=env), {'requests': 1, 'load': 0})
            equal(it.values(it.parent, env=env), {'requests': 5, 'load': 0.5})
        equal(os.listdir(os.path.join(folder, 'weft')), [])


@case
def so_do_those_that_record_elsewhere():
    """In place, or into a file that WEFT_OUT names: and what they fork."""
    with temporary_directory() as folder:
        in_place = [WEFT, 'record', '--in-place', '-o', os.path.join(folder, 't.weft'), '--'], {}
        for command, more in in_place, ([], {'WEFT_OUT': os.path.join(folder, 'w.weft')}):
            for agent in 'none', folder:
                env = {'XDG_RUNTIME_DIR': folder, 'WEFT_AGENT': agent, **more}
                with program(*command, **env) as it:
                    it.tell('requests 2', 'requests 3')
                    equal(it.values(env=env), {'requests': 5}, command)
                    assert str(it.pid) in weft('metrics', env=env).stdout
                    assert re.search(r'metrics-subject %d\n(.*\n)* +5 +requests' % it.pid, weft('top', it.pid, env=env).stdout)
                    it.tell('fork', 'requests 1')
                    equal(it.values(env=env), {'requests': 1})
                    equal(it.values(it.parent, env=env), {'requests': 5})
                    it.tell('fork', 'requests 4')
                    equal(it.values(env=env), {'requests': 4})


@case
def a_recorded_program_that_executes_another_has_those_of_the_last():
    with temporary_directory() as folder:
        command = WEFT, 'record', '-o', os.path.join(folder, 't.weft'), '--', 'sh', '-c', 'exec "$0"'
        with program(*command, XDG_RUNTIME_DIR=folder, WEFT_AGENT='none') as it:
            it.tell('requests 2')
            equal(it.values(), {'requests': 2})


def regions(folder):
    return [name for name in os.listdir(folder) if name.endswith('.counters')]


def value_in(path, name):
    """The value in a file of counters, of the only counter that it has."""
    with open(path, 'rb') as file:
        content = file.read()
    equal(content[:8], b'\x89WEFTcnt')
    equal(struct.unpack_from('=I', content, 16)[0], 1)
    equal(content[content.index(name):][:len(name)], name)
    with open(os.path.join(SOURCE, 'src/abi/counter_abi.h'), encoding='utf-8') as header:
        shards = int(re.search(r'cells\.shard, (\d+)', header.read()).group(1))
    return sum(struct.unpack_from('=Q', content, shards + shard * (256 * 8 + 64))[0] for shard in range(16))


@case
def counters_outlive_their_program_where_an_agent_collects_them():
    with temporary_directory() as folder:
        with program(WEFT_AGENT=folder) as it:
            it.tell('requests 2')
            equal(len(regions(folder)), 1)
            equal(it.values(env={'WEFT_AGENT': folder}), {'requests': 2})
            it.tell('requests 3')
            it.process.kill()
            it.process.wait()
            it.process.returncode = 0
        equal(value_in(os.path.join(folder, *regions(folder)), b'requests'), 5)
        equal(os.stat(os.path.join(folder, *regions(folder))).st_mode & 0o7777, 0o600)


@case
def a_forked_child_has_a_file_of_its_own_at_an_agent():
    with temporary_directory() as folder, program(WEFT_AGENT=folder) as it:
        it.tell('requests 2')
        parents = regions(folder)
        it.tell('fork', 'requests 5')
        own, = set(regions(folder)) - set(parents)
        equal(value_in(os.path.join(folder, own), b'requests'), 5)
        equal(value_in(os.path.join(folder, *parents), b'requests'), 2)


def loses_its_file(folder, *command, **environment):
    before = regions(folder) if os.path.isdir(folder) else []
    with program(*command, WEFT_AGENT=folder, **environment) as it:
        it.tell('requests 2')
        equal(it.values(env={'WEFT_AGENT': folder}), {'requests': 2})
        return before == (regions(folder) if os.path.isdir(folder) else [])


@case
def without_a_safe_folder_counters_stay_nameless():
    with temporary_directory() as outer:
        folder = os.path.join(outer, 'agent')
        assert loses_its_file(folder), 'there is none'
        os.mkdir(folder, 0o777)
        os.chmod(folder, 0o777)
        assert loses_its_file(folder), 'others may remove files'
        os.chmod(folder, 0o700)
        with program('sh', '-c', 'ulimit -f 8; exec "$0"', WEFT_AGENT=folder) as it:
            it.tell('requests 2')
            equal(regions(folder), [])
        link = os.path.join(outer, 'link')
        os.symlink(folder, link)
        assert loses_its_file(link), 'it is a link'
        os.rename(folder, folder + '.d')
        with open(folder, 'wb'):
            pass
        assert loses_its_file(folder), 'it is a file'
        os.chmod(folder + '.d', 0o1777)
        assert not loses_its_file(folder + '.d'), 'others may not remove files'
        if os.geteuid() == 0:
            os.chown(folder + '.d', 65534, 65534)
            assert loses_its_file(folder + '.d'), 'it belongs to another user'


@case
def openmetrics_has_one_family_for_a_name():
    with program() as first, program() as second:
        first.tell('disk/used% 80', 'disk_2f_used_25_ 1', '5xx 2')
        second.tell('disk/used% 90')
        result = weft('metrics', '--openmetrics', first.pid, second.pid)
        lines = [line for line in result.stdout.splitlines() if RUN_QUEUE not in line]
        equal(lines[-1], '# EOF')
        label = '{program="metrics-subject",pid="%d"}'
        equal([line for line in lines if not line.startswith('#')],
              ['_35_xx' + label % first.pid + ' 2',
               *sorted('disk_2f_used_25_' + label % it.pid + value for it, value in ((first, ' 80'), (second, ' 90'))),
               'disk_5f_2f_used_5f_25_' + label % first.pid + ' 1'])
        equal([line for line in lines if line.startswith('# TYPE')],
              ['# TYPE _35_xx unknown', '# TYPE disk_2f_used_25_ unknown', '# TYPE disk_5f_2f_used_5f_25_ unknown'])
        equal(result.stderr, '')


HOSTILE = ['a"b', 'a\\b', '\x1b[31mred', 'caf\xe9', '{', '#', 'NaN', 'le', '__name__', '\t', '\x7f', '\u202e', '=', '_', '0', 'x' * 200]


@case
def other_readers_accept_both_formats():
    """Each name stays one of its own, whatever bytes it has."""
    with program() as it:
        it.tell(*('%s 7' % name for name in HOSTILE), 'requests 2', 'load 0.5')
        for form in ('openmetrics', 'prometheus'):
            text = weft('metrics', '--' + form, it.pid).stdout
            found = families(text, form)
            equal(len(found), len(HOSTILE) + 3, form)
            equal((found[RUN_QUEUE]['type'], len(found[RUN_QUEUE]['samples'])), ('gauge', 1))
            labels = {'program': 'metrics-subject', 'pid': str(it.pid)}
            equal(found['requests']['samples'], [['requests', labels, 2]])
            equal(found['load']['samples'], [['load', labels, 0.5]])
            equal(found['requests']['help'], 'The counter requests.')


@case
def promtool_finds_no_fault():
    with program() as it:
        it.tell('requests 2', 'disk/used% 7', 'load 0.5')
        check(weft('metrics', '--prometheus', it.pid).stdout)
    with program(subject=TYPED) as it:
        it.tell(*TYPES)
        check(weft('metrics', '--prometheus', it.pid).stdout)


TYPES = ['acked eu acme 1000', 'acked eu bolt 500', 'acked eu - 20', 'acked - - 3', 'open 4', 'latency 1500', 'latency 1500000', 'latency 99']


@case
def metrics_have_types_units_and_labels():
    with program(subject=TYPED) as it:
        it.tell(*TYPES, 'stream 7')
        lines = json_lines(weft('metrics', '--json', it.pid).stdout)
        equal([(line['value'], line.get('labels'), line['type'], line['unit']) for line in lines if line['counter'] == 'tcp_acked'],
              [(value, labels, 'counter', 'bytes') for value, labels in
               ((1530, None), (1527, {'pool': 'eu'}), (1007, {'pool': 'eu', 'customer': 'acme'}), (500, {'pool': 'eu', 'customer': 'bolt'}))])
        latency = next(line for line in lines if line['counter'] == 'latency')
        equal((latency['type'], latency['unit'], latency['value'], latency['sum']), ('histogram', 'seconds', 3, 0.001501599))
        equal([count for _, count in latency['buckets']], [1, 1, 1])
        for value, (bound, _) in zip((99e-9, 1500e-9, 0.0015), latency['buckets']):
            assert value <= bound, (value, bound)
        text = weft('metrics', it.pid).stdout
        assert 'tcp_acked{pool="eu",customer="acme"}  bytes' in text and 'latency  mean 0.0005005, 50 % up to 1.579e-06' in text, text


def values_of(family, name):
    """{the value of a label, or of none: the sample's value}"""
    return {labels.get('customer') or labels.get('pool'): value for sample, labels, value in family['samples'] if sample == name}


@case
def a_family_adds_up_to_its_total():
    with program(subject=TYPED) as it:
        it.tell(*TYPES, 'stream 7')
        for form in ('openmetrics', 'prometheus'):
            def read(*words, form=form):
                return families(weft('metrics', '--' + form, *words, it.pid).stdout, form)
            found = read()
            equal((found['latency_seconds']['type'], found['open_2f_streams']['type'], found['tcp_acked_bytes']['type']),
                  ('histogram', 'gauge', 'counter'))
            equal(found['tcp_acked_bytes']['help'], 'Bytes that the peer\nhas "acknowledged"')
            if form == 'openmetrics':
                equal((found['latency_seconds']['unit'], found['tcp_acked_bytes']['unit']), ('seconds', 'bytes'))
                equal(sum(name == 'tcp_acked_bytes_created' for name, _, _ in found['tcp_acked_bytes']['samples']), 4)
            equal(values_of(found['tcp_acked_bytes'], 'tcp_acked_bytes_total'), {None: 3, 'eu': 20, 'acme': 1007, 'bolt': 500})
            equal(values_of(read('--depth', '1')['tcp_acked_bytes'], 'tcp_acked_bytes_total'), {None: 3, 'eu': 1527})
            equal(values_of(read('--depth', '0')['tcp_acked_bytes'], 'tcp_acked_bytes_total'), {None: 1530})
            latency = found['latency_seconds']['samples']
            equal([value for name, _, value in latency if name.endswith(('_sum', '_count'))], [3, 0.001501599])
            equal([labels['le'] for name, labels, _ in latency if name.endswith('_bucket')][::30], ['1.024e-06', '1099.511627776'])
    weft('metrics', '--depth', '-1', status=2)
    weft('metrics', '--depth', 'x', status=2)


@case
def a_terminal_obeys_no_name():
    with program() as it:
        it.tell('\x1b[31mred 1')
        for option in ('--openmetrics', '--prometheus', '--json'):
            seen = on_terminal(WEFT, 'metrics', option, str(it.pid))
            assert b'red' in seen and b'\x1b' not in seen, seen


def on_terminal(*command):
    """The bytes that a command writes to a terminal."""
    keeper, terminal = pty.openpty()
    with subprocess.Popen(command, stdout=terminal) as process:
        os.close(terminal)
        seen = b''
        with contextlib.suppress(OSError):  # the terminal has no writer any more
            while piece := os.read(keeper, 4096):
                seen += piece
        equal(process.wait(), 0)
    os.close(keeper)
    return seen


@case
def what_has_no_counters():
    assert 'has no counters that can be read' in weft('metrics', os.getpid(), status=3).stderr
    weft('metrics', 'x', status=2)
    weft('metrics', '--since', 'midnight', status=2)
    with program(WEFT_ATTACH='none') as it:
        it.tell('requests 1')
        assert 'WEFT_ATTACH=none' in weft('metrics', it.pid, status=3).stderr


main()
