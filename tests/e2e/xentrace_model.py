# SPDX-License-Identifier: ISC
"""The model of Xen's own trace: vCPUs and their states, hypercalls, continuations, interrupts, losses."""
import json
import os
import re

from harness import case, equal, json_lines, main, run, temporary_directory, weft
from harness import BUILD, WEFT
from xen_traces import (BLOCKED, CAPTURES, OFFLINE, RUNNABLE, RUNNING, capture, hypercall, lost, read, record, runstate, unpack, window)

IRET, MMU_UPDATE, MEMORY_OP, MULTICALL, GRANT_TABLE_OP, VCPU_OP, MMUEXT_OP, EVENT_CHANNEL_OP, SCHED_OP, DOMCTL = (
    23, 1, 12, 13, 20, 24, 26, 32, 29, 36)
PREEMPTED = 1 << 31
IDLE = 32767


def schedule(cycles):
    """The scheduler runs, and lets the vCPU go on."""
    return record(0x22215, cycles, 0, 0) + record(0x21002, cycles + 2, 0)


def start(cycles=1000):
    """dom0's vCPU runs on this pCPU."""
    return runstate(cycles, 0, 0, RUNNABLE, RUNNING)


def vcpu_spans(lines):
    """Those of vCPUs, without those of the pCPUs themselves."""
    return [line for line in lines if line['task'] is not None]


def of(content, *what):
    """The JSON lines of `weft dump` of a made trace, in which a cycle is 1 ns, and the first record is at 0."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'made.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        result = weft('dump', '--json', '--cpu-hz', '1G', *what, path)
    equal(result.stderr, '')
    return json_lines(result.stdout)


def spans(*records):
    """(name, start, end, continuations) of each span of a vCPU of dom0; times are cycles from 1000 on."""
    return [(s['span'], s['start'] + 1000, s['end'] + 1000, s.get('continuations', 0))
            for s in vcpu_spans(of(window(0, start(), *records), '--spans'))]


def calls(*records):
    """The names of hypercalls, each with the number of its continuations."""
    return [(name, continuations) for name, _, _, continuations in spans(*records)
            if name not in ('iret', 'preempted', 'runnable')]


# ---- Hypercalls ----

@case
def hypercalls_are_spans_with_their_counts():
    equal(spans(hypercall(1100, MMU_UPDATE, (1, 3)), hypercall(1200, SCHED_OP, (0, 1)), hypercall(1300, 17)),
          [('mmu_update ×3', 1100, 1200, 0), ('sched_op block', 1200, 1300, 0), ('xen_version', 1300, 1300, 0)])
    equal(calls(hypercall(1100, GRANT_TABLE_OP, (0, 0), (2, 8)), hypercall(1200, VCPU_OP, (0, 8), (1, 0)), hypercall(1300, 70)),
          [('grant_table_op map_grant_ref ×8', 0), ('vcpu_op set_singleshot_timer', 0), ('hypercall 70', 0)])


@case
def subcalls_are_inside_their_multicall():
    got = spans(hypercall(1100, MULTICALL, (1, 2)), record(0x20200e, 1110, 17), record(0x20200e, 1120, 17),
                hypercall(1200, IRET))
    equal(got, [('multicall ×2', 1100, 1200, 0), ('xen_version', 1110, 1120, 0), ('xen_version', 1120, 1200, 0),
                ('iret', 1200, 1200, 0)])


@case
def calls_that_block_end_when_the_vcpu_is_switched_out():
    for command, name in ((0, 'yield'), (1, 'block'), (3, 'poll')):
        equal(spans(hypercall(1100, SCHED_OP, (0, command)), runstate(1150, 0, 0, RUNNING, BLOCKED), runstate(1900, 0, 0, BLOCKED, RUNNING),
                    hypercall(2000, 17))[0], ('sched_op ' + name, 1100, 1150, 0))
    # Others go on while another vCPU runs.
    equal(spans(hypercall(1100, SCHED_OP, (0, 1)), hypercall(1110, 17), runstate(1150, 0, 0, RUNNING, BLOCKED), runstate(1900, 0, 0, BLOCKED, RUNNING),
                hypercall(2000, 17))[:2], [('sched_op block', 1100, 1110, 0), ('xen_version', 1110, 2000, 0)])


@case
def a_call_without_a_recorded_end_fades_after_the_quickest_tenth():
    """Three of 20 hypercalls take 10 and the others 400; those of a virtual machine have both ends."""
    times = [1100 + 10 * i for i in range(4)] + [1130 + 400 * i for i in range(1, 18)]

    def widths(picture, opacity):
        return [float(x2) - float(x) for x, x2 in re.findall(r'fill-opacity="%s" d="M([0-9.]+) [0-9.]+H([0-9.]+)' % opacity, picture)]
    got = render(window(0, start(), *(hypercall(time, 17) for time in times)), '--width', '2000')
    certain, uncertain = widths(got, '0.62'), widths(got, '0.28')
    certain.pop(0)  # the lane of the pCPU
    equal((len(certain), len(uncertain)), (17, 17))
    # A pixel of 2 at the edges belongs to neither.
    assert all(30 < (second + 1) / (first + 1) < 50 for first, second in zip(certain, uncertain)), (certain, uncertain)
    got = render(window(0, start(), *(record(0x81002, time, 0x72, 0x1000) + record(0x81001, time + 300) for time in times[4:])))
    assert widths(got, '0.62') and not widths(got, '0.28')


def turns(begin, length, count):
    """Three vCPUs of dom0 run in turn."""
    times = [begin + i * length for i in range(count)]
    return b''.join(runstate(time, 0, i % 3, RUNNABLE, RUNNING) + runstate(time + length - 1, 0, i % 3, RUNNING, RUNNABLE)
                    for i, time in enumerate(times))


@case
def no_problem_blames_a_call_without_a_recorded_end():
    """A vCPU runs for 30 ms after thousands of short runs; its only call has an unknown length, or a known one."""
    def problems(*records):
        content = window(0, turns(1000, 5000, 3000), runstate(20000000, 0, 0, RUNNABLE, RUNNING), *records,
                         runstate(50000000, 0, 0, RUNNING, RUNNABLE), turns(50001000, 5000, 3000))
        return [line['sentence'] for line in of(content, '--problems') if line['problem'] == 'hog']
    one, other = problems(hypercall(20001000, 17)), problems(record(0x81002, 20001000, 0x72, 0x1000), record(0x81001, 49990000))
    assert len(one) == len(other) == 1 and 'xen_version' not in one[0] and "'cpuid' for 30 ms of it" in other[0], (one, other)
    # A hypercall in an exit ends before the entry.
    one, = problems(record(0x81002, 20001000, 0x81, 0x1000), record(0x82012, None, VCPU_OP), record(0x81001, 49990000))
    assert "'vmmcall' for 30 ms of it" in one, one


@case
def upper_limits_are_marked():
    """In each table of spans: the entry of a PV guest, and the hypercall in an exit, but not the exit."""
    content = window(0, start(), record(0x81002, 1100, 0x81, 0x1000), record(0x82012, None, VCPU_OP), record(0x81001, 1180),
                     hypercall(1200, 17), hypercall(1300, 17), hypercall(1450, IRET))
    marked = {'vmmcall': 0, 'vcpu_op': 1, 'xen_version': 2, 'iret': 1}
    got = vcpu_spans(of(content, '--spans'))
    equal({name: [s.get('at_most') for s in got if s['span'] == name] for name in marked},
          {'vmmcall': [None], 'vcpu_op': [True], 'xen_version': [True, True], 'iret': [True]})
    with temporary_directory() as folder:
        path = os.path.join(folder, 'made.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        rows = json.loads(weft('stats', '--by', 'span', '--json', '--cpu-hz', '1G', path).stdout)['rows']
        equal({row['name']: row['at_most'] for row in rows if row['name'] in marked}, marked)
        equal([(row['quickest'], row['max']) for row in rows if row['name'] == 'xen_version'], [(100, 150)])
        table = weft('stats', '--by', 'span', '--cpu-hz', '1G', path).stdout
        assert re.search('^count  quickest', table, re.M), table
        equal({name: name + ' (at most)' in table for name in marked}, {name: count > 0 for name, count in marked.items()})
        story = weft('dump', '--story', 'd0v0', '--cpu-hz', '1G', path).stdout
        assert ' xen_version: at most 250 ns' in story and ' vmmcall: 80 ns' in story, story
        table = weft('dump', '--spans', '--cpu-hz', '1G', path).stdout
        equal({name: table.count('"%s" (at most)' % name) for name in marked}, marked)
    assert '>may have ended<' in render(content) and '>may have ended<' not in render(window(0, start(), record(0x28004, 1400, 0, 0)))


@case
def a_fault_lasts_until_its_iret():
    equal(spans(record(0x201104, 1100, 0, 0, 0, 0, 2), hypercall(1150, MMU_UPDATE, (1, 1)), hypercall(1200, IRET)),
          [('page_fault', 1100, 1200, 0), ('mmu_update ×1', 1150, 1200, 0), ('iret', 1200, 1200, 0)])
    equal(spans(record(0x201103, 1100, 0x1000, 0, 14 | 1 << 15), hypercall(1200, IRET))[0], ('page_fault', 1100, 1200, 0))
    equal(spans(record(0x201003, 1100, 0x1000, 13 | 1 << 15), hypercall(1200, IRET))[0], ('gp_fault', 1100, 1200, 0))


@case
def exits_of_virtual_machines_have_both_ends():
    got = spans(record(0x81002, 1100, 0x81, 0x1000), record(0x82012, None, SCHED_OP), record(0x81001, 1180),
                record(0x81002, 1300, 0x72, 0x1000), record(0x81001, 1340))
    equal(got, [('vmmcall', 1100, 1180, 0), ('sched_op', 1100, 1180, 0), ('cpuid', 1300, 1340, 0)])


# ---- Continuations ----

@case
def the_flag_of_xen_continues_mmu_updates():
    equal(spans(hypercall(1100, MMU_UPDATE, (1, 9)), hypercall(1200, MMU_UPDATE, (1, 4 | PREEMPTED)),
                hypercall(1300, MMU_UPDATE, (1, PREEMPTED)), hypercall(1400, MMU_UPDATE, (1, 9))),
          [('mmu_update ×9', 1100, 1400, 2), ('mmu_update ×9', 1400, 1400, 0)])
    equal(calls(hypercall(1100, MMUEXT_OP, (1, 2)), hypercall(1200, MMUEXT_OP, (1, 1 | PREEMPTED))), [('mmuext_op ×2', 1)])


@case
def real_calls_stay_as_many_as_they_are():
    for op, argument in ((MMU_UPDATE, [(1, 3)]), (MMUEXT_OP, [(1, 1)]), (DOMCTL, []), (MEMORY_OP, []),
                         (GRANT_TABLE_OP, [(0, 0), (2, 2)]), (VCPU_OP, [(0, 8), (1, 0)])):
        equal(len(calls(*(hypercall(1100 + 10 * i, op, *argument) for i in range(20)))), 20)


@case
def flags_that_a_guest_sets_itself_continue_nothing():
    equal(calls(hypercall(1100, MMU_UPDATE, (1, 3 | PREEMPTED))), [('mmu_update ×3', 0)])
    # More than was left; of another hypercall; after the guest's program ran.
    equal(len(calls(hypercall(1100, MMU_UPDATE, (1, 3)), hypercall(1200, MMU_UPDATE, (1, 4 | PREEMPTED)))), 2)
    equal(len(calls(hypercall(1100, MMU_UPDATE, (1, 3)), hypercall(1200, MMUEXT_OP, (1, 2 | PREEMPTED)))), 2)
    equal(len(calls(hypercall(1100, MMU_UPDATE, (1, 3)), hypercall(1200, IRET), hypercall(1300, IRET),
                    hypercall(1400, MMU_UPDATE, (1, 2 | PREEMPTED)))), 2)


def subcalls(first, count):
    return [record(0x20200e, first + i, 17) for i in range(count)]


@case
def a_multicall_goes_on_with_what_is_left_of_it():
    got = calls(hypercall(1100, MULTICALL, (1, 3)), *subcalls(1110, 1), schedule(1150),
                hypercall(1200, MULTICALL, (1, 2)), *subcalls(1210, 2))
    equal(got[0], ('multicall ×3', 1))
    equal(len(got), 1 + 3)


@case
def multicalls_with_falling_counts_are_not_one():
    got = calls(hypercall(1100, MULTICALL, (1, 3)), *subcalls(1110, 3), hypercall(1200, MULTICALL, (1, 2)),
                *subcalls(1210, 2), hypercall(1300, MULTICALL, (1, 1)), *subcalls(1310, 1))
    equal([c for c in got if c[0].startswith('multi')], [('multicall ×3', 0), ('multicall ×2', 0), ('multicall ×1', 0)])
    # Records of sub-calls were not recorded at all: nothing proves it.
    equal(len(calls(hypercall(1100, MULTICALL, (1, 3)), hypercall(1200, MULTICALL, (1, 2)))), 2)


@case
def grants_go_on_if_those_that_are_done_make_up_the_difference():
    def maps(first, count, number):
        return hypercall(first, GRANT_TABLE_OP, (0, 0), (2, count)) + b''.join(
            record(0x10f001, first + 1 + i, 1) for i in range(number))
    equal(calls(maps(1100, 8, 5), schedule(1150), maps(1200, 3, 3)), [('grant_table_op map_grant_ref ×8', 1)])
    equal(len(calls(maps(1100, 8, 8), schedule(1150), maps(1200, 3, 3))), 2)
    equal(len(calls(maps(1100, 8, 5), schedule(1150), maps(1200, 4, 4))), 2)


def pace():
    """Hypercalls of a kernel that are 10 cycles apart: the quickest that this guest does."""
    return b''.join(hypercall(1001 + 10 * i, 25) for i in range(40))


@case
def a_domctl_is_continued_where_no_program_could_have_made_it():
    kernel = pace()

    def domctls(*records):
        return [c for c in calls(kernel, *records) if c[0] == 'domctl']
    # The scheduler ran, and it comes back at once; or an upcall came, whose iret leads back to it.
    equal(domctls(hypercall(2000, DOMCTL), schedule(3000), hypercall(3010, DOMCTL)), [('domctl', 1)])
    equal(domctls(hypercall(2000, DOMCTL), hypercall(3000, VCPU_OP, (0, 8), (1, 0)), hypercall(3100, IRET),
                  hypercall(3110, DOMCTL), schedule(4000), hypercall(4010, DOMCTL)), [('domctl', 2)])
    # The guest returned to its program first.
    equal(len(domctls(hypercall(2000, DOMCTL), hypercall(2100, IRET), hypercall(2400, DOMCTL))), 2)
    equal(len(domctls(hypercall(2000, DOMCTL), hypercall(2100, IRET), hypercall(2200, VCPU_OP, (0, 8), (1, 0)),
                      hypercall(2300, IRET), hypercall(2310, DOMCTL))), 2)
    # It came later, or nothing interrupted the first one.
    equal(len(domctls(hypercall(2000, DOMCTL), schedule(3000), hypercall(3500, DOMCTL))), 2)
    equal(len(domctls(hypercall(2000, DOMCTL), hypercall(2010, DOMCTL))), 2)


@case
def a_loop_of_a_kernel_is_as_many_calls():
    """Upcalls and the scheduler come in between as they do in a call that Xen preempts, here after each fifth."""
    for op in (MEMORY_OP, 18):
        for between in (lambda at: hypercall(at + 40, VCPU_OP, (0, 8), (1, 0)) + hypercall(at + 80, IRET), lambda at: schedule(at + 80)):
            records = b''.join(hypercall(2000 + 100 * i, op) if i % 6 < 5 else between(2000 + 100 * i - 90) for i in range(36))
            got = [c for c in calls(pace(), records) if c[0].split()[0] in ('memory_op', 'console_io')]
            equal((len(got), {continuations for _, continuations in got}), (30, {0}))


@case
def a_continuation_may_come_on_another_pcpu():
    got = of(window(0, start(), hypercall(1100, MMU_UPDATE, (1, 9)), runstate(1200, 0, 0, RUNNING, RUNNABLE)) +
             window(1, record(0x28004, 1010, 0, 0), runstate(1300, 0, 0, RUNNABLE, RUNNING),
                    hypercall(1310, MMU_UPDATE, (1, 2 | PREEMPTED)), hypercall(1400, IRET)), '--spans')
    equal([(s['span'], s['start'], s['end'], s.get('continuations')) for s in vcpu_spans(got) if s['span'] != 'iret'],
          [('mmu_update ×9', 100, 400, 1), ('runnable', 200, 300, None)])


@case
def another_vcpu_continues_nothing():
    got = of(window(0, start(), hypercall(1100, MMU_UPDATE, (1, 9)), runstate(1200, 0, 0, RUNNING, RUNNABLE),
                    runstate(1201, 0, 1, RUNNABLE, RUNNING), hypercall(1300, MMU_UPDATE, (1, 2 | PREEMPTED))), '--spans')
    equal([s for s in got if 'continuations' in s], [])


@case
def the_time_in_between_is_shown():
    got = spans(hypercall(1100, MMU_UPDATE, (1, 9)), schedule(1150), hypercall(1200, MMU_UPDATE, (1, 2 | PREEMPTED)),
                hypercall(1300, IRET))
    equal(got[:2], [('mmu_update ×9', 1100, 1300, 1), ('preempted', 1150, 1200, 0)])


# ---- vCPUs, interrupts, domains ----

def tasks(content):
    return {(t['process'], t['label']): t for t in of(content, '--tasks')}


TWO_VCPUS = window(
    0, start(), hypercall(1100, EVENT_CHANNEL_OP), runstate(1120, 1, 0, BLOCKED, RUNNABLE), hypercall(1200, SCHED_OP, (0, 1)),
    record(0x22215, 1300, 0, 0), runstate(1310, 0, 0, RUNNING, BLOCKED), runstate(1311, 1, 0, RUNNABLE, RUNNING),
    runstate(1500, 1, 0, RUNNING, BLOCKED), runstate(1501, IDLE, 0, RUNNABLE, RUNNING), record(0x28004, 1700, 0, 0))


@case
def vcpus_run_wait_and_wake_each_other():
    got = tasks(TWO_VCPUS)
    equal((got[0, 'd0v0']['kind'], got[0, 'd0v0']['running'], got[1, 'd1v0']['running']), ('vcpu', 300, 190))
    equal(got[0, 'scheduler 0']['running'], 11)
    edges = [e for e in of(TWO_VCPUS, '--edges') if e['edge'] == 'receive']
    equal([(e['time'], e['from'], e['to']) for e in edges], [(120, 1, 1)])
    equal([(s['span'], s['start'], s['end']) for s in of(TWO_VCPUS, '--spans') if s['process'] == 1],
          [('runnable', 120, 311)])


@case
def only_time_in_which_a_vcpu_runs_is_that_of_its_calls():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'made.xentrace')
        with open(path, 'wb') as file:
            file.write(TWO_VCPUS)
        got = json.loads(weft('info', '--json', '--cpu-hz', '1G', path).stdout)['calls']
    # The scheduler runs from 1300 on, and then another vCPU.
    equal([(c['domain'], c['name'], c['count'], c['ns']) for c in got],
          [(0, 'event_channel_op', 1, 100), (0, 'sched_op block', 1, 100), (1, 'runnable', 1, 191)])


@case
def the_quickest_call_and_the_median_are_listed():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'made.xentrace')
        with open(path, 'wb') as file:
            # They take 300, 100, 400 and 200.
            file.write(window(0, start(), *(hypercall(time, 17) for time in (1100, 1400, 1500, 1900)),
                              runstate(2100, 0, 0, RUNNING, BLOCKED)))
        call, = json.loads(weft('info', '--json', '--cpu-hz', '1G', path).stdout)['calls']
        equal((call['count'], call['ns'], call['quickest'], call['p50']), (4, 1000, 100, 200))
        assert re.search(r'^ +4 +0\.0001 ms +0\.0002 ms +0\.001 ms  domain 0  xen_version$', weft('info', '--cpu-hz', '1G', path).stdout,
                         re.MULTILINE)


def render(content, *options):
    with temporary_directory() as folder:
        path, svg = os.path.join(folder, 'made.xentrace'), os.path.join(folder, 'made.svg')
        with open(path, 'wb') as file:
            file.write(content)
        weft('render', '--cpu-hz', '1G', *options, '-o', svg, path)
        with open(svg, encoding='utf-8') as file:
            return file.read()


def slept(first, state):
    """dom0's vCPU stops at a time and goes on 300 cycles later."""
    return b''.join((runstate(first, 0, 0, RUNNING, state), runstate(first + 1, IDLE, 0, RUNNABLE, RUNNING),
                     runstate(first + 300, IDLE, 0, RUNNING, RUNNABLE), runstate(first + 301, 0, 0, state, RUNNING)))


@case
def runnable_looks_unlike_blocked_at_each_zoom():
    """Where a pixel has one such time or thousands, and in each theme, waits for a processor have a colour of their own."""
    once = [slept(1200, RUNNABLE), slept(1200, BLOCKED)]
    often = [b''.join(slept(1200 + 400 * i, state) for i in range(8000)) for state in (RUNNABLE, BLOCKED)]
    for theme in ('light', 'dark', 'safe', 'safe-dark'):
        for waits, sleeps in (once, often):
            waits, sleeps = (render(window(0, start(), records, record(0x28004, 4000000, 0, 0)), '--theme', theme)
                             for records in (waits, sleeps))
            equal(('>runnable<' in waits, '>runnable<' in sleeps), (True, False))  # in the legend
            color = re.findall('stroke="(#[0-9a-f]+)" stroke-width="7"', waits)[1]  # there, behind that of running
            equal(('fill="%s"' % color in waits, 'fill="%s"' % color in sleeps), (True, False))


@case
def a_pcpu_has_a_lane_of_the_vcpus_that_it_had():
    got = [(s['thread'], s['span'], s['start'], s['end']) for s in of(TWO_VCPUS, '--spans') if s['task'] is None]
    equal(got, [(0, 'd0v0', 0, 310), (0, 'd1v0', 311, 500), (0, 'idle', 501, 700)])
    # Nothing is known of the time in which records were lost.
    got = of(window(0, start(), hypercall(1100, 17), lost(5000, 77, 1, 2, 1200), record(0x28004, 5100, 0, 0)), '--spans')
    equal([(s['span'], s['start'], s['end']) for s in got if s['task'] is None], [('d0v0', 0, 200), ('d1v2', 4000, 4100)])
    texts = re.findall('>([^<>]+)</text>', render(TWO_VCPUS))
    equal([texts.count(text) for text in ('pCPU 0', 'd0v0', 'd1v0', 'idle')], [1, 2, 2, 1])


@case
def while_records_are_lost_no_vcpu_is_known_to_wait():
    got = of(window(0, start(), hypercall(1100, 17), runstate(1110, 1, 0, BLOCKED, RUNNABLE),
                    lost(5000, 77, 1, 0, 1200), runstate(5100, 1, 0, RUNNABLE, RUNNING)), '--spans')
    equal([(s['start'], s['end']) for s in got if s['span'] == 'runnable'], [(110, 200)])


@case
def a_wait_for_a_pcpu_does_not_begin_where_another_loses_records():
    """That one may run the vCPU, without a record."""
    def waits(woken):
        return [(s['start'], s['end']) for s in of(
            window(0, start(), runstate(woken, 1, 0, BLOCKED, RUNNABLE), record(0x28004, 1900, 0, 0)) +
            window(1, record(0x28004, 1010, 0, 0), lost(1500, 77, IDLE, 0, 1200), runstate(1800, 1, 0, RUNNABLE, RUNNING)), '--spans')
                if s['span'] == 'runnable']
    equal([waits(1100), waits(1300), waits(1600)], [[(100, 200)], [], [(600, 800)]])


@case
def a_vcpu_says_on_which_pcpu_it_is():
    content = (window(0, start(), runstate(2000, 0, 0, RUNNING, RUNNABLE), record(0x28004, 3000, 0, 0)) +
               window(1, record(0x28004, 1010, 0, 0), runstate(2010, 0, 0, RUNNABLE, RUNNING), record(0x28004, 3000, 0, 0)))
    texts = re.findall('>([^<>]+)</text>', render(content))
    equal([texts.count(text) for text in ('pCPU 0', 'pCPU 1')], [2, 2])  # the lane's name, and one in the vCPU's row


@case
def an_interrupt_is_an_activation_of_its_own():
    content = window(0, start(), hypercall(1100, EVENT_CHANNEL_OP), runstate(1160, 1, 0, BLOCKED, RUNNABLE),
                     record(0x802008, 1200, 4, 1150, 1190), hypercall(1400, IRET))
    got = tasks(content)
    equal((got[0, 'irq 4']['kind'], got[0, 'irq 4']['running'], got[0, 'd0v0']['running']), ('irq', 50, 350))
    # The interrupt woke the vCPU, not the guest that it interrupted.
    edges = [(e['time'], e['from'], e['to']) for e in of(content, '--edges') if e['edge'] == 'receive']
    equal(edges, [(160, 65536 + 4, 1)])


@case
def a_wake_without_a_known_reason_has_no_edge():
    equal(of(window(0, start(), hypercall(1100, 17), runstate(1120, 1, 0, BLOCKED, RUNNABLE)), '--edges'), [])


@case
def domains_come_and_go():
    content = window(
        0, start(), record(0x41001, 1100, 5), runstate(1110, 5, 0, OFFLINE, RUNNABLE), record(0x10f001, 1150, 5),
        record(0x28007, 1160, 5, 0, 3), record(0x28002, 1200, 5), runstate(1300, 5, 0, OFFLINE, RUNNABLE))
    got = [t for t in of(content, '--tasks') if t['process'] == 5]
    equal([(t['label'], t['start'], t['end'], t['outcome']) for t in got],
          [('d5 is being built', 100, 110, 'fulfilled'), ('d5v0', 110, 200, 'fulfilled'), ('d5v0', 300, 300, 'unfinished')])
    marks = [line['text'] for line in of(content, '--story', 'd0v0') if line['line'] == 'note']
    equal(marks, ['domain_create d5', 'grant_map d5', 'sched_shutdown d5v0 reason 3', 'sched_destroy_domain d5'])


@case
def a_domain_is_built_until_it_has_a_vcpu_or_is_destroyed():
    content = window(0, start(), record(0x41001, 1100, 5), record(0x28002, 1200, 5), record(0x41001, 1300, 6))
    equal([(t['label'], t['start'], t['end'], t['outcome']) for t in of(content, '--tasks') if t['process'] in (5, 6)],
          [('d5 is being built', 100, 200, 'fulfilled'), ('d6 is being built', 300, 1300, 'unfinished')])


@case
def all_times_count_from_the_first_record():
    """Also if the first ones become no event."""
    content = window(0, hypercall(1000, 17), hypercall(1200, 17), runstate(1300, 0, 0, RUNNABLE, RUNNING), hypercall(1400, 17), hypercall(1500, 17))
    with temporary_directory() as folder:
        path = os.path.join(folder, 'made.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        def first_time(*options):
            return [line.split()[0] for line in weft('dump', '--cpu-hz', '1G', *options, path).stdout.splitlines() if 'xen_version' in line][-2:]
        equal((first_time(), first_time('--spans')), (['0.000000400', '0.000000500'],) * 2)
        for command in ('info', 'stats'):
            equal(json.loads(weft(command, '--json', '--cpu-hz', '1G', path).stdout)['start'], 0, command)


@case
def two_guests_in_one_trace_are_grouped():
    def groups(*domains):
        content = window(0, start(), *(runstate(1100, domain, 0, BLOCKED, RUNNABLE) for domain in domains), record(0x28004, 1400, 0, 0))
        return sorted(set(re.findall('>(domain [0-9]+)</text>', render(content))))
    equal((groups(1), groups(1, 2)), ([], ['domain 0', 'domain 1', 'domain 2']))


@case
def wakes_are_counted_by_who_made_them():
    content = window(0, start(), hypercall(1100, EVENT_CHANNEL_OP), runstate(1110, 1, 0, BLOCKED, RUNNABLE), hypercall(1120, 17),
                     runstate(1130, 1, 1, BLOCKED, RUNNABLE), runstate(1160, 1, 2, BLOCKED, RUNNABLE), record(0x802008, 1200, 4, 1150, 1190),
                     runstate(1210, 1, 3, BLOCKED, RUNNABLE), runstate(1220, 1, 4, OFFLINE, RUNNABLE),
                     runstate(1230, IDLE, 1, BLOCKED, RUNNABLE), hypercall(1400, IRET))
    with temporary_directory() as folder:
        path = os.path.join(folder, 'made.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        equal(json.loads(weft('info', '--json', '--cpu-hz', '1G', path).stdout)['wakes'],
              {'by_vcpus': 1, 'by_interrupts': 1, 'by_nobody': 2})
        lines = weft('info', '--cpu-hz', '1G', path).stdout.splitlines()
        equal([line.split(None, 1)[1] for line in lines if line.startswith('wakes')],
              ['4 of vCPUs: 1 by vCPUs, 1 by interrupts, 2 by causes that the trace does not show, such as timers'])


@case
def records_of_guests_are_marks():
    content = window(0, start(), hypercall(1100, 34), record(0x800f701, None, 0x89abcdef, 0x1234567, 9), hypercall(1200, 34),
                     record(0x800ffff, None), record(0x800f001, None, *range(7)))
    marks = [line['text'] for line in of(content, '--story', 'd0v0') if line['line'] == 'note']
    equal(marks, ['guest 0x701 words=0x89abcdef 0x01234567 0x00000009', 'guest 0xfff words=',
                  'guest 0x1 words=' + ' '.join('0x%08x' % i for i in range(7))])


@case
def grants_are_marks():
    content = window(0, start(), record(0x10f003, 1100, 3), record(0x10f005, 1110, 0, 0), record(0x10f002, 1120, 4))
    marks = [line['text'] for line in of(content, '--story', 'd0v0') if line['line'] == 'note']
    equal(marks, ['grant_transfer d3', 'grant_unmap d4'])


# ---- Contexts ----

TRACE, SPAN = 0x0af7651916cd43dd8448eb211c80319c, 0xb7ad6b7169203331


def context(trace, span):
    words = [trace >> 64, trace & 2**64 - 1, span]
    return record(0x800f7ec, None, *(word >> shift & 2**32 - 1 for word in words for shift in (0, 32)), 0x66657701)


@case
def what_a_thread_asks_of_xen_is_a_child_of_its_span():
    """And no other domain's is, whatever that writes."""
    content = window(
        0, start(), hypercall(1050, 3), hypercall(1100, 34), context(TRACE, SPAN), hypercall(1200, IRET), hypercall(1300, DOMCTL),
        hypercall(1400, 3), runstate(1500, 0, 0, RUNNING, BLOCKED), runstate(1510, 7, 0, RUNNABLE, RUNNING), hypercall(1520, 3),
        hypercall(1530, 34), context(TRACE, SPAN), hypercall(1540, IRET), hypercall(1550, DOMCTL), hypercall(1600, 3))
    equal([s['span'] for s in vcpu_spans(of(content, '--spans')) if 199 <= s['start'] < 400], ['context', 'iret', 'domctl'])
    with temporary_directory() as folder:
        path = os.path.join(folder, 'made.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        lines = json_lines(weft('export', '--to', 'otlp-json', '--signal', 'traces', '--spans', 'all', '--start-time', '2026-11-29T14:37:40Z',
                                '--cpu-hz', '1G', path).stdout)
    every = [s for line in lines for r in line.get('resourceSpans', []) for scope in r['scopeSpans'] for s in scope['spans']]
    mine = [s for s in every if s['traceId'] == '%032x' % TRACE]
    ids = {s['spanId']: s['name'] for s in mine}
    equal({(s['name'], ids.get(s['parentSpanId'], s['parentSpanId'])) for s in mine},
          {('context', '%016x' % SPAN), ('iret', 'context'), ('domctl', 'context')})


# ---- Kicks ----

def decision(cycles, cpu, tickled):
    return record(0x22215, cycles, cpu, tickled << 24 | 0x10100)


def kicks(first, second):
    """(time, sender, receiver) of the edges between two pCPUs; pCPU 0 runs dom0's vCPU 0, the other one is idle."""
    got = of(window(0, start(), *first) + window(1, runstate(1001, IDLE, 1, RUNNABLE, RUNNING), *second), '--edges')
    return [(e['time'] + 1000, (e.get('from_buffer', e['buffer']), e['from']), (e['buffer'], e['to'])) for e in got if e['edge'] == 'receive']


@case
def a_kick_is_an_edge_to_the_scheduler_that_it_makes_run():
    # Scheduler 0 is task 1 of Xen, which is buffer 0; the vCPU is task 1 of buffer 1.
    equal(kicks([record(0x22206, 1100, 1)], [decision(1150, 1, 1)]), [(1150, (0, 1), (0, 2))])
    equal(kicks([hypercall(1090, EVENT_CHANNEL_OP), record(0x22206, 1100, 1)], [decision(1150, 1, 1)]), [(1150, (1, 1), (0, 2))])
    equal(kicks([record(0x22206, 1100, 1), record(0x802008, 1120, 4, 1080, 1110)], [decision(1150, 1, 1)]),
          [(1150, (0, 65536 + 4), (0, 2))])


@case
def pictures_leave_kicks_out():
    """By default; wakes have arrows."""
    content = window(0, start(), hypercall(1050, EVENT_CHANNEL_OP), runstate(1060, 1, 0, BLOCKED, RUNNABLE), record(0x22206, 1100, 1),
                     hypercall(1900, 17)) + window(1, runstate(1001, IDLE, 1, RUNNABLE, RUNNING), decision(1150, 1, 1))
    equal([len(re.findall('fill-opacity="0.87" d="M[0-9.]+ [0-9.]+L', render(content, *options))) for options in ((), ('--no-simplify',))], [1, 2])


@case
def each_scheduler_has_a_task_of_its_own():
    """The time of its decision is not the hypercall's, and a hypercall that only it interrupted goes on."""
    for decided in (0x22009, 0x22215, 0x22601, 0x22806, 0x22a05):
        content = window(0, start(), record(0x28004, 1010, 0, 0), hypercall(1100, MMU_UPDATE, (1, 9)), record(decided, 1200, 0, 0),
                         record(0x21002, 1900, 0), hypercall(1910, MMU_UPDATE, (1, 2 | PREEMPTED)), hypercall(2000, IRET))
        got = tasks(content)
        equal((hex(decided), got[0, 'scheduler 0']['running'], got[0, 'd0v0']['running']), (hex(decided), 700, 300))
        equal([(s['span'], s['start'], s['end']) for s in vcpu_spans(of(content, '--spans'))][:2],
              [('mmu_update ×9', 100, 1000), ('preempted', 200, 910)])
    domctls = [c for decided in (0x22806, 0x22a05, 0x22601) for c in calls(
        pace(), hypercall(2000, DOMCTL), record(decided, 3000, 0), record(0x21002, 3002, 0), hypercall(3010, DOMCTL))]
    equal([c for c in domctls if c[0] == 'domctl'], [('domctl', 1)] * 3)


@case
def rtds_proves_its_kicks():
    kick = record(0x22801, 1100, 1)
    equal(kicks([kick], [record(0x22806, 1150, 1 | 1 << 24)]), [(1150, (0, 1), (0, 2))])
    equal(kicks([kick], [record(0x22806, 1150, 1 | 1 << 28)]), [])  # the pCPU was idle, and not tickled
    equal(kicks([kick], [record(0x22806, 1150, 1), record(0x22806, 1200, 1 | 1 << 24)]), [])


@case
def a_decision_without_proof_has_no_edge():
    tickle = [record(0x22206, 1100, 1)]
    equal(kicks(tickle, [decision(1150, 1, 0)]), [])                              # it was not tickled
    equal(kicks(tickle, [decision(1050, 1, 1)]), [])                              # earlier
    equal(kicks(tickle, [decision(1150, 1, 0), decision(1200, 1, 1)]), [])        # the decision after that
    equal(kicks(tickle, [lost(1300, 5, IDLE, 1, 1120), decision(1350, 1, 1)]), []) # it may be lost
    equal(kicks([record(0x22206, 1100, 0)], [decision(1150, 1, 1)]), [])          # itself
    equal(kicks([record(0x22206, 1100, 9)], [decision(1150, 1, 1)]), [])          # no such pCPU
    equal(kicks([record(0x22206, 1100)], [decision(1150, 1, 1)]), [])


@case
def kicks_of_a_capture_are_found():
    with temporary_directory() as folder:
        path = unpack(folder, 'xen-lost-2cpu')
        records = json_lines(weft('dump', '--json', '--cpu-hz', '1G', path).stdout)
        edges = json_lines(weft('dump', '--json', '--edges', '--cpu-hz', '1G', path).stdout)
    tickled = {r['time'] for r in records if r['name'] == 'csched2:schedule' and r['args'][1] >> 24}
    others = sum(r['name'] == 'csched2:runq_tickle' and r['args'][0] != r['cpu'] for r in records)
    found = [e for e in edges if e['edge'] == 'receive' and (e['buffer'], e['to']) in ((0, 1), (0, 2))]
    assert 150 < len(found) <= others and {e['time'] for e in found} <= tickled, (len(found), others)


@case
def lost_records_are_losses():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'lost.xentrace')
        with open(path, 'wb') as file:
            file.write(window(0, start(), hypercall(1100, 17), lost(5000, 77, 0, 0, 1200), record(0x28004, 5100, 0, 0)))
        got = json.loads(weft('info', '--json', '--cpu-hz', '1G', path).stdout)
        equal(got['losses'], {'full': 77})
        equal(got['calls'], [{'domain': 0, 'name': 'xen_version', 'count': 1, 'ns': 100, 'quickest': 100, 'p50': 100}])


# ---- Captures ----

@case
def captures_keep_their_sums():
    """Running times are those between the records of runstates; each hypercall's record is a span, or continues one."""
    for name in ('xen-domain-end', 'xen-lost-2cpu', 'xen-domain-create'):
        with temporary_directory() as folder:
            path = unpack(folder, name)
            info = json.loads(weft('info', '--json', '--cpu-hz', '2596.15M', path).stdout)
            got = json_lines(weft('dump', '--spans', '--json', '--cpu-hz', '2596.15M', path).stdout)
            records = json_lines(weft('dump', '--json', '--cpu-hz', '2596.15M', path).stdout)
        equal(info['diagnostics'], [])
        for op in ('mmu_update', 'mmuext_op', 'domctl', 'multicall', 'iret'):
            wanted = sum(r['name'] in ('hypercall', 'subcall') and r.get('detail') == op and r['domain'] is not None
                         for r in records)
            mine = [s for s in got if s['span'].split(' ×')[0] == op]
            equal(len(mine) + sum(s.get('continuations', 0) for s in mine), wanted, '%s of %s' % (op, name))


@case
def the_end_of_a_domain_is_one_hypercall():
    """Xen takes a domain's memory back in steps; two upcalls of dom0 come in between."""
    with temporary_directory() as folder:
        got = json_lines(weft('dump', '--spans', '--json', '--cpu-hz', '2596.15M', unpack(folder, 'xen-domain-end')).stdout)
    equal([s['continuations'] for s in got if s['span'] == 'domctl' and 'continuations' in s], [2])


@case
def a_growing_capture_has_the_events_of_the_whole():
    """The unit test of growing traces, on captures."""
    with temporary_directory() as folder:
        result = run([os.path.join(BUILD, 'tests', 'test_xentrace_incoming'), *(unpack(folder, name) for name in CAPTURES)])
        equal(result.returncode, 0, result.stdout + result.stderr)


@case
def every_command_takes_it():
    with temporary_directory() as folder:
        path = unpack(folder, 'xen-lost-2cpu')
        for command in (['render', '-o', os.path.join(folder, 'x.svg')], ['stats'], ['dump', '--problems'], ['dump', '--edges'],
                        ['info']):
            result = run([WEFT, *command, '--cpu-hz', '2596M', path])
            equal((command[0], result.returncode, result.stderr), (command[0], 0, ''))
        processes = [line for line in result.stdout.splitlines() if ', buffer ' in line]
        equal([line for line in processes if not line[-1].isdigit()], [])
        assert len(processes) >= 3, result.stdout


main()
