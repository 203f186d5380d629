# SPDX-License-Identifier: ISC
"""Files of trace-cmd and perf: alone, and joined with a trace of Xen. Both were recorded in dom0 of a real Xen, which had a
processor, and have fewer of the kernel's texts than the tools write. tests/xen/processes.py compares with the tools' reports."""
import lzma
import os
import re
import struct

from harness import DATA, SOURCE, WEFT, case, equal, json_lines, main, run, temporary_directory, weft
from xen_traces import BLOCKED, RUNNABLE, RUNNING, hypercall, note, runstate, window

DAT = os.path.join(DATA, 'linux', 'dom0-sched.dat')
CORPUS = os.path.join(SOURCE, 'fuzz', 'corpus', 'linux')
CYCLES = ('--cpu-hz', '1G')  # times are cycles then
FIRST, LAST = 91530327336, 91530327336 + 5155727850  # cycles of the file's first and last event
XEN_VERSION, STACK_SWITCH = 17, 3


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, 'wb') as file:
        file.write(content)
    return path


def perf_data(folder):
    with lzma.open(os.path.join(DATA, 'linux', 'dom0-sched.data.xz')) as file:
        return write(folder, 'dom0.data', file.read())


def corpus(name):
    with open(os.path.join(CORPUS, name), 'rb') as file:
        return file.read()


def query(sql, path, *options):
    return [list(row.values()) for row in json_lines(weft('query', '--json', *options, path, sql).stdout)]


def running(path, kind, *options):
    """The running times of its tasks; by a label with the number."""
    return dict(query("select label, running from tasks where kind = '%s' and running > 0" % kind, path, *options))


# ---- Alone ----

# The sums of the times between the lines of sched_switch in `trace-cmd report -t`.
OF_TRACE_CMD = {
    'sh 128': 3484636617, 'xl 129': 1249778733, 'trace-cmd 127': 155740410, 'xentrace 123': 100758987, 'rcu_preempt 15': 56740446,
    'trace-cmd 126': 35799519, 'xenstored 111': 8633982, 'kworker/0:1 17': 3281103, 'ksoftirqd/0 14': 2838339,
    'kcompactd0 30': 2784726, 'migration/0 16': 479556, 'kworker/u2:1 26': 451185}

# The same by `perf script --ns`, and perf itself up to the file's end.
OF_PERF = {
    'xl 144': 507217682, 'xl 146': 240883810, 'xenstored 111': 37318194, 'rcu_preempt 15': 19297079, 'perf 143': 8502411,
    'xentrace 141': 7780596, 'ksoftirqd/0 14': 1303872, 'perf 145': 1043929, 'kcompactd0 30': 453671, 'kworker/0:1 17': 93365}


@case
def threads_of_trace_cmd_run():
    equal(running(DAT, 'thread', *CYCLES), OF_TRACE_CMD)


@case
def threads_know_who_made_and_who_woke_them():
    equal(query("select p.label parent, t.label from tasks t join tasks p on t.parent = p.task", DAT, *CYCLES), [['sh 128', 'xl 129']])
    wakes = query("select count(*), f.label waker, t.label from edges e join tasks f on e.from_task = f.task join tasks t on e.to_task = t.task"
                  " where e.type = 'signal' group by 2, 3 order by 1 desc", DAT, *CYCLES)
    equal(wakes[0], [4, 'xl 129', 'xenstored 111'])


@case
def system_calls_are_spans():
    """xl's calls 16 are ioctl, with which it asks Xen; trace-cmd recorded 44 writes of xentrace."""
    (calls,), = query("select count(*) from spans s join tasks t using (task) where t.label = 'xentrace 123' and s.name = 'syscall 1'", DAT, *CYCLES)
    equal(calls, 44)


@case
def the_rate_of_the_counter_is_not_in_the_file():
    assert 'does not name the rate of its cycles' in weft('info', DAT).stderr


@case
def all_forms_of_a_trace_dat_read_the_same():
    with temporary_directory() as folder:
        plain = write(folder, 'plain.dat', corpus('small-v6'))
        packed = write(folder, 'packed.dat', corpus('small-v7-zlib'))
        expected = weft('dump', '--json', *CYCLES, plain).stdout
        equal(weft('dump', '--json', *CYCLES, packed).stdout, expected)
        assert expected.count('\n') > 500
        # Some of these pages, of two processors.
        two = write(folder, 'two.dat', corpus('two-cpus'))
        assert '"threads":2' in weft('info', '--json', *CYCLES, two).stdout


@case
def lost_events_are_losses():
    with temporary_directory() as folder:
        path = write(folder, 'lossy.dat', corpus('lossy-v6'))
        assert 'losses      1 full' in weft('info', *CYCLES, path).stdout


@case
def threads_of_perf_run():
    with temporary_directory() as folder:
        equal(running(perf_data(folder), 'thread'), OF_PERF)
        assert weft('info', perf_data(folder)).stdout.count('clock       monotonic') == 1


@case
def a_part_is_for_pages():
    with temporary_directory() as folder:
        page, part = os.path.join(folder, 'page.html'), os.path.join(folder, 'part.weft')
        assert 'weft cut' in weft('render', *CYCLES, DAT, '-o', page, status=1).stderr
        assert not os.path.exists(page)
        weft('cut', *CYCLES, DAT, '-o', part)
        equal(running(part, 'thread'), OF_TRACE_CMD)


@case
def files_that_cannot_be_read_are_named():
    with temporary_directory() as folder:
        for content in (corpus('small-v6').replace(b'name: sched_switch', b'name: sched_swatch'), corpus('small-v6')[:3000],
                        corpus('small-v6').replace(b'tracing6', b'tracing5')):
            assert 'a trace of trace-cmd' in weft('info', write(folder, 'odd.dat', content), status=3).stderr
        weft('info', write(folder, 'odd.dat', corpus('small-v7-zlib')[:3000]), status=3)
        for size in (10000, 20000, 29999):
            assert 'damage' in weft('info', *CYCLES, write(folder, 'cut.dat', corpus('small-v6')[:size])).stdout


@case
def a_call_without_its_return_ends_at_the_next_one():
    """Calls of one thread are spans one after the other, also if the events between them are lost."""
    content = corpus('small-v6')
    number = int(re.search(rb'name: sys_exit\nID: (\d+)', content).group(1))
    returns = re.compile(re.escape(struct.pack('<H', number)) + b'..' + re.escape(struct.pack('<I', 123)), re.DOTALL)
    calls = "select s.start, s.end from spans s join tasks t using (task) where t.label = 'xentrace 123' and s.name like 'syscall%' order by 1"
    with temporary_directory() as folder:
        whole = query(calls, write(folder, 'whole.dat', content), *CYCLES)
        at = [found.start() for found in returns.finditer(content)][5]
        content = content[:at] + b'\xff\xff' + content[at + 2:]
        lost = query(calls, write(folder, 'lost.dat', content), *CYCLES)
    equal([start for start, _ in lost], [start for start, _ in whole])
    changed = [i for i, (one, two) in enumerate(zip(whole, lost)) if one != two]
    equal([lost[i][1] for i in changed], [whole[i + 1][0] for i in changed])
    equal(len(changed), 1)


@case
def a_packed_file_is_not_followed():
    with temporary_directory() as folder:
        packed = write(folder, 'packed.dat', corpus('small-v7-zlib'))
        assert 'its version is 7, which is not read while the file grows' in weft('dump', '--follow', packed, status=3).stderr


@case
def ids_of_events_take_no_more_memory_than_the_file():
    """A hostile perf.data: each of its 6,000 events has all of the file as its ids."""
    attributes, size = 6000, 112
    total = 104 + attributes * size + 8
    attribute = struct.pack('<II', 2, 96).ljust(24, b'\0') + struct.pack('<Q', 0x486) + bytes(64) + struct.pack('<QQ', 0, total)
    head = struct.pack('<8sQQ6Q', b'PERFILE2', 104, size, 104, attributes * size, total - 8, 8, 0, 0).ljust(104, b'\0')
    with temporary_directory() as folder:
        path = write(folder, 'hostile.data', head + attributes * attribute + struct.pack('<IHH', 0, 0, 8))
        limited = run(['sh', '-c', 'ulimit -v 1000000; exec "$0" "$@"', WEFT, 'info', path])
    equal(limited.returncode, 3)
    assert 'a recording of perf' in limited.stderr, limited.stderr


# ---- Joined with a trace of Xen ----

def xen(first, last, *records, notes=b''):
    """dom0's vCPU has its pCPU from one time to the other."""
    return notes + window(0, runstate(first, 0, 0, RUNNABLE, RUNNING), *records, runstate(last, 0, 0, RUNNING, BLOCKED))


def join(folder, trace, other, status=0):
    path, joined = write(folder, 'xen.xentrace', trace), os.path.join(folder, 'joined.xentrace')
    result = weft('cut', *([] if trace[12:15] == b'wef' else CYCLES), path, '--processes', other, '-o', joined, status=status)
    return joined if status == 0 else result.stderr


@case
def processes_join_by_the_counter():
    """They run as trace-cmd says, but not behind its end, while Xen's trace goes on."""
    with temporary_directory() as folder:
        joined = join(folder, xen(FIRST - 1000, LAST + 10**9), DAT)
        times = running(joined, 'process', *CYCLES)
        for label, ran in OF_TRACE_CMD.items():
            assert abs(times[label] - ran) <= ran * 0.0005 + 100, (label, times[label], ran)
        assert 'losses      none' in weft('info', *CYCLES, joined).stdout


@case
def a_hypercall_is_of_the_process_that_ran():
    switches = [line for line in json_lines(weft('dump', '--json', *CYCLES, DAT).stdout) if line['event'] == 'switch']
    labels = dict(query('select task, label from tasks', DAT, *CYCLES))
    stays = [(labels.get(one['task']), FIRST + one['time'], FIRST + two['time']) for one, two in zip(switches, switches[1:])]
    records, asked = [], []
    for label, start, end in stays:
        if label == 'xl 129' and end - start > 10**6:
            records += [hypercall(start + 100, STACK_SWITCH), hypercall(start + 500000, XEN_VERSION)]
            asked.append(start)
    assert len(asked) > 10, asked
    with temporary_directory() as folder:
        joined = join(folder, xen(FIRST - 1000, LAST + 1000, *records), DAT)
        rows = query("select t.label, count(*) from spans s join tasks t using (task) where s.name = 'xen_version' group by 1", joined, *CYCLES)
    equal(rows, [['xl 129', len(asked)]])


@case
def processes_join_by_the_monotonic_clock():
    """weft's recording of Xen has readings of it: here the counter counts 2 in a ns, and began 1,000,000 earlier."""
    with temporary_directory() as folder:
        data = perf_data(folder)
        lines = json_lines(weft('dump', '--json', data).stdout)
        first, last = lines[0]['time'], lines[-1]['time']
        cycles = [2 * time + 1000000 for time in (first, last)]
        readings = b''.join(note(2, count, 7 * i) + note(3, 7 * i, time)
                            for i, (count, time) in enumerate(zip(cycles, (first, last)), 1))
        trace = xen(cycles[0] - 10, cycles[1] + 10, notes=note(1, 2 * 10**9) + readings)
        joined = running(join(folder, trace, data), 'process')
        alone = running(data, 'thread')
        equal(set(joined), set(alone))
        for label, ran in alone.items():
            assert abs(joined[label] - ran) <= ran * 0.001 + 100, (label, joined[label], ran)
        plain = xen(cycles[0] - 10, cycles[1] + 10)
        assert 'has no readings' in join(folder, plain, data, status=1)


@case
def files_that_do_not_fit_are_refused():
    with temporary_directory() as folder:
        local = write(folder, 'local.dat', corpus('small-v6').replace(b'[x86-tsc]', b'[counter]'))
        trace = xen(FIRST, LAST)
        assert 'its clock is `counter`' in join(folder, trace, local, status=1)
        assert 'ends before the trace of Xen begins' in join(folder, xen(LAST + 10, LAST + 20), DAT, status=1)
        assert 'neither a trace.dat' in join(folder, trace, write(folder, 'text', b'text'), status=1)
        assert 'No such file' in join(folder, trace, os.path.join(folder, 'absent'), status=1)
        joined = join(folder, trace, DAT)
        assert 'already' in weft('cut', *CYCLES, joined, '--processes', DAT, '-o', os.path.join(folder, 'out'), status=1).stderr
        assert 'need a trace of Xen' in weft('cut', *CYCLES, DAT, '--processes', DAT, '-o', os.path.join(folder, 'out'), status=2).stderr


main()
