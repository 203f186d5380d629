# SPDX-License-Identifier: ISC
"""A real Xen: dom0's kernel tells which processes its vCPUs run, and Xen's trace what these ask of Xen."""
import bisect
import collections
import functools
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
import lab  # noqa: E402
import programs  # noqa: E402
from harness import WEFT, case, equal, json_lines, main, skip, temporary_directory, weft  # noqa: E402

ROUNDS = 300
SCRIPT = r'''
tracing=/sys/kernel/tracing
state() {
	cat $tracing/trace_clock $tracing/set_event $tracing/tracing_on
	ls $tracing/instances
}
weft record xen:host --processes --size 1M --duration 300ms -o /out/without.xentrace >/out/without.log 2>&1
mkdir -p $tracing
mount -t tracefs tracefs $tracing

say "the kernel calls itself a virtual machine"
echo PVH >/tmp/type
if mount -o bind /tmp/type /sys/hypervisor/guest_type; then
	weft record xen:host --processes --duration 300ms -o /tmp/virtual.xentrace 2>/out/virtual.log
	umount /sys/hypervisor/guest_type
fi
mkdir $tracing/instances/mine
state >/out/before

say "a recording is killed"
weft record xen:host --processes -o /tmp/killed.xentrace & killed=$!
await test -s /tmp/killed.xentrace
kill -KILL $killed
wait $killed || true
await sh -c '! pidof xentrace'
state >/out/left

weft record xen:host --processes -o /out/trace.xentrace >/out/record.log 2>&1 & tracer=$!
await test -s /out/trace.xentrace
WEFT_OUT=/out/one.weft versions ROUNDS & one=$!
WEFT_OUT=/out/two.weft versions ROUNDS & two=$!
sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
wait $one
wait $two
create small guest "extra='pages=64'"
xl destroy small
kill -INT $tracer
wait $tracer
echo $one $two >/out/pids
state >/out/after
weft record xen:host --processes --filter class=sched --duration 300ms -o /out/filtered.xentrace

say "recordings fail"
weft record xen:host --processes -o - 2>/out/pipe.log | head -c 1000 >/dev/null
ls $tracing/instances >/out/failed
! weft record xen:host --processes -o /dev/full 2>/out/full.log
ls $tracing/instances >>/out/failed
weft record xen:host --processes -o /tmp/ended.xentrace 2>/out/ended.log & tracer=$!
await test -s /tmp/ended.xentrace
kill -KILL $(pidof xentrace)
! wait $tracer
ls $tracing/instances >>/out/failed
'''
# Other tools record the processes, while weft records Xen's trace without them.
OTHERS = r'''
say "trace-cmd and perf record"
mkdir -p /var/tmp
weft record xen:host --size 1M -o /out/plain.xentrace & tracer=$!
await test -s /out/plain.xentrace
trace-cmd record -C x86-tsc -e sched -o /out/dom0.dat sh -c 'echo $$ >/out/dat.pid; WEFT_OUT=/out/dat.weft exec versions ROUNDS' >/out/trace-cmd.log 2>&1
perf sched record -k CLOCK_MONOTONIC -o /out/dom0.data \
	sh -c 'echo $$ >/out/data.pid; WEFT_OUT=/out/data.weft exec versions ROUNDS' >/out/perf.log 2>&1
kill -INT $tracer
wait $tracer
trace-cmd report -t /out/dom0.dat >/out/dat.txt 2>>/out/trace-cmd.log
perf script --ns -i /out/dom0.data >/out/data.txt 2>>/out/perf.log
'''
TOOLS = {name: path for name in ('trace-cmd', 'perf') if (path := shutil.which(name))}
SCRIPT = (SCRIPT + (OTHERS if len(TOOLS) == 2 else '')).replace('ROUNDS', str(ROUNDS))

files = lab.Once(lambda: lab.run(SCRIPT, programs={'weft': WEFT, 'versions': programs.for_dom0('versions'), **TOOLS},
                                 files={'guest': programs.guest()}))


def put(folder, *names):
    for name in names:
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(files()[name])
    return [os.path.join(folder, name) for name in names]


@functools.cache
def query(sql, *names):
    with temporary_directory() as folder:
        return [list(row.values()) for row in json_lines(weft('query', '--json', *put(folder, *(names or ['trace.xentrace'])), sql).stdout)]


OWNERS = 'select t.kind, t.label, s.name, count(*) calls from spans s join tasks t using (task) group by 1, 2, 3'


def owners(call):
    """The processes and vCPUs with such a call, without their numbers."""
    return {(kind, label.split()[0]) for kind, label, name, _ in query(OWNERS) if name.split(' ×')[0] == call}


@case
def nothing_is_left_of_a_recording():
    """Not of the user's own tracing either: a recording has an instance to itself, which goes with it, or with the next one."""
    before, left, after = (files()[name].decode() for name in ('before', 'left', 'after'))
    assert 'weft-' in left, left
    equal(after, before)


@case
def nothing_is_left_of_a_recording_that_failed():
    """The reader of a pipe ends, the disk is full, xentrace is killed."""
    logs = [files()[name + '.log'].decode() for name in ('pipe', 'full', 'ended')]
    for log, reason in zip(logs, ('Broken pipe', 'No space left on device', 'xentrace failed')):
        assert reason in log, logs
    equal(files()['failed'].decode(), 'mine\n' * 3)


@case
def without_tracefs_the_rest_is_recorded():
    log = files()['without.log'].decode()
    assert "recorded without processes: the kernel's tracing is not there: mount -t tracefs" in log, log
    assert len(files()['without.xentrace']) > 1000


@case
def processes_of_a_virtual_machine_are_not_recorded():
    """Its counter begins at 0. Xen needs a processor's virtualisation for such a dom0, which QEMU lacks here."""
    assert 'recorded without processes: dom0 is a virtual machine' in files()['virtual.log'].decode()


def check_questions(names, pids, lost):
    """A question lies between the events before and after it of the process that asks."""
    program = dict(query('select process, pid from processes', *names))
    assert [["domain 0's processes"]] == query("select program from processes where program like '%processes'", *names)
    calls = query("select t.label, s.start from spans s join tasks t using (task)"
                  " where s.name = 'xen_version' and t.kind = 'process' order by s.start", *names)
    with temporary_directory() as folder:
        lines = weft('dump', '--json', *put(folder, *names)).stdout.splitlines()
    tags = [json.loads(line) for line in lines if '"event":"tag"' in line and '"text":"continuations"' not in line]
    for pid in pids:
        times = [(tag['time'], tag['text']) for tag in tags if program[tag['buffer']] == pid]
        own = [start for label, start in calls if label == 'versions %d' % pid]
        equal([text for _, text in times], ['before', 'after'] * ROUNDS)
        found = [bisect.bisect_left(own, after) > bisect.bisect_left(own, before)
                 for (before, _), (after, _) in zip(times[::2], times[1::2])]
        print('# %d of %d questions are of process %d; %d records lost' % (sum(found), ROUNDS, pid, lost))
        assert all(found) or (lost and sum(found) > ROUNDS / 4), (pid, lost)


@case
def each_question_to_xen_is_of_the_process_that_asks():
    """Two processes ask for Xen's version and a third one takes the processor from them. Each note the time before and after."""
    lost, = query('select coalesce(sum(events), 0) from losses')[0]
    check_questions(['trace.xentrace', 'one.weft', 'two.weft'], [int(pid) for pid in files()['pids'].split()], lost)


# ---- Other tools ----

def need_tools():
    for name, package in (('trace-cmd', 'trace-cmd'), ('perf', 'linux-perf')):
        if name not in TOOLS:
            skip('%s is not installed' % package)


def join(name):
    """Adds the processes of another tool's file to the trace without them."""
    joined = name + '.xentrace'
    if joined not in files():
        with temporary_directory() as folder:
            plain, other = put(folder, 'plain.xentrace', name)
            weft('cut', plain, '--processes', other, '-o', os.path.join(folder, joined))
            with open(os.path.join(folder, joined), 'rb') as file:
                files()[joined] = file.read()
    return joined


@case
def processes_of_trace_cmd_ask_xen():
    """Its clock is the processor's counter."""
    need_tools()
    lost, = query('select coalesce(sum(events), 0) from losses', join('dom0.dat'))[0]
    check_questions([join('dom0.dat'), 'dat.weft'], [int(files()['dat.pid'])], lost)


@case
def processes_of_perf_ask_xen():
    """Its clock is CLOCK_MONOTONIC, of which weft's recording of Xen has readings."""
    need_tools()
    lost, = query('select coalesce(sum(events), 0) from losses', join('dom0.data'))[0]
    check_questions([join('dom0.data'), 'data.weft'], [int(files()['data.pid'])], lost)


@case
def processes_run_only_while_they_were_recorded():
    """Xen's trace goes on when trace-cmd has ended."""
    need_tools()
    with temporary_directory() as folder:
        span = json.loads(weft('info', '--json', '--cpu-hz', '1000000000', *put(folder, 'dom0.dat')).stdout)
        rate = json.loads(weft('info', '--json', *put(folder, 'plain.xentrace')).stdout)['clock']['hz']
    recorded = (span['end'] - span['start']) / rate * 1e9
    (ran,), = query("select sum(running) from tasks where kind = 'process'", join('dom0.dat'))
    assert ran <= recorded * 1.01, (ran, recorded)


SWITCH = r'\[(\d+)\]\s*([\d.]+):\s+(?:sched:)?sched_switch:.*prev_pid=(\d+) .*next_pid=(\d+)'


def running_times(text):
    """By the lines of the tool's own report; and the last thread, which runs on."""
    times, last = collections.Counter(), {}
    for cpu, time, _, pid in re.findall(SWITCH, text):
        time = int(time.replace('.', ''))
        if cpu in last:
            times[last[cpu][1]] += time - last[cpu][0]
        last[cpu] = time, pid
    return times, {pid for _, pid in last.values()}


def check_running(name, text, *options):
    times, last = running_times(files()[text].decode())
    with temporary_directory() as folder:
        rows = json_lines(weft('query', '--json', *options, *put(folder, name),
                               "select label, running from tasks where label != 'idle'").stdout)
    shown = {row['label'].split()[-1]: row['running'] for row in rows}
    for pid in set(times) - last - {'0'}:
        equal(shown[pid], times[pid], pid)
    assert len(times) > 3, times


@case
def threads_of_trace_cmd_run_as_it_reports():
    need_tools()
    check_running('dom0.dat', 'dat.txt', '--cpu-hz', '1000000000')


@case
def threads_of_perf_run_as_it_reports():
    need_tools()
    check_running('dom0.data', 'data.txt')


@case
def domains_are_made_by_xls_process():
    """The others ask for a domain's state."""
    assert {'xl'} <= {label for kind, label in owners('domctl')} <= {'xl', 'xenstored', 'xenconsoled', 'weft'}, owners('domctl')
    equal({kind for kind, _ in owners('domctl') | owners('sysctl') | owners('memory_op')}, {'process'})


@case
def a_change_of_the_stack_is_of_no_process():
    equal(owners('stack_switch'), {('vcpu', 'd0v0')})


@case
def a_process_runs_while_its_vcpu_does():
    (of_vcpu,), = query("select sum(running) from tasks where label = 'd0v0' and kind = 'vcpu'")
    (of_processes,), = query("select sum(running) from tasks where kind = 'process'")
    print('# d0v0 ran %d ns, its processes %d ns' % (of_vcpu, of_processes))
    assert of_vcpu * 0.95 < of_processes <= of_vcpu, (of_vcpu, of_processes)


@case
def processes_know_who_made_them():
    names = query("select t.label child, p.label parent from tasks t join tasks p on t.parent = p.task where t.kind = 'process'")
    made = {(child.split()[0], parent.split()[0]) for child, parent in names}
    assert {('xl', 'sh'), ('xl', 'xl')} <= made, names


@case
def a_filter_keeps_processes():
    equal(query("select count(*) > 0 from tasks where kind = 'process' and running > 0", 'filtered.xentrace'), [[1]])
    equal(query("select count(*) from spans s join tasks t using (task) where t.kind = 'process'", 'filtered.xentrace'), [[0]])


main()
