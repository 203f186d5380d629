# SPDX-License-Identifier: ISC
"""weft dump of Xen's own trace: every record of real captures, as a naive reader and as xenalyze see them; damage."""
import contextlib
import json
import os
import re
import resource
import signal
import struct
import subprocess

from harness import BUILD, DATA, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import let_work, status_of, wait_until
from measured import IS_SANITIZED, MIB
from xen_traces import (BLOCKED, CAPTURES, RUNNABLE, RUNNING, WRAP, capture, hypercall, lost, nanoseconds, note, read,
                        record, runstate, unpack, window, without_guests, xenalyze)

HZ = 2596000000


def dump(path, *options, status=0):
    return json_lines(weft('dump', '--json', '--cpu-hz', '2596M', *options, path, status=status).stdout)


def dump_of(content, *options, status=0, hz='1000M'):
    """The records and the messages of a made trace."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'made.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        result = weft('dump', '--json', '--cpu-hz', hz, *options, path, status=status)
    return json_lines(result.stdout), result.stderr


def times(records):
    return [(r['cpu'], r['time']) for r in records]


@case
def every_record_of_a_capture_is_there():
    for name in CAPTURES:
        expected = read(capture(name))
        first = min(records[0][2] for records in expected.values())
        with temporary_directory() as folder:
            got = dump(unpack(folder, name))
        equal(len(got), sum(map(len, expected.values())))
        equal([r['time'] for r in got], sorted(r['time'] for r in got))
        for cpu, records in expected.items():
            mine = [r for r in got if r['cpu'] == cpu]
            equal([(int(r['id'], 16), r['time'], r['args']) for r in mine],
                  [(event, nanoseconds(cycles, first, HZ), words) for _, event, cycles, words in records])
        equal({r['name'] for r in got} & {'unknown'}, set())
        equal(set(got[0]) - {'detail'}, {'time', 'event', 'cpu', 'id', 'name', 'domain', 'vcpu', 'args', 'fields'})


@case
def a_trace_alone_in_a_directory_has_the_same_domains():
    with temporary_directory() as folder:
        path = unpack(folder, 'xen-lost-2cpu')
        alone, directory = (json.loads(weft('info', '--json', it).stdout) for it in (path, folder))
        names = [weft('query', '--json', it, 'select process, program, ended from processes').stdout for it in (path, folder)]
    assert len(alone['buffers']) > 2, alone['buffers']
    equal([{**it, 'file': os.path.basename(path)} for it in alone.pop('buffers')], directory.pop('buffers'))
    equal(alone, directory)
    equal(names[0], names[1])


# ---- xenalyze ----

LINE = re.compile(r'^[\]! ](?: *(\d+)\.(\d{9})|              ) ([-x|.l ]+) d([0-9?]+)v([0-9?]+) +(.*)$')
STATES = ('running', 'runnable', 'blocked', 'offline')


def vcpu_word(word):
    return 'd%dv%d' % (word >> 16, word & 0xffff)


def signed(word):
    return word - (word >> 31 << 32)


def hypercall_text(r):
    """Without the name: xenalyze has older ones."""
    op, arguments, name = r['args'][0] & 0xfffff, r['args'][1:], r['detail']
    text = 'hypercall %2x (...)' % op
    if name in ('mmu_update', 'multicall', 'mmuext_op'):
        count = arguments[0] & 0x7fffffff if name == 'mmu_update' else signed(arguments[0])
        text += ' %d %s' % (count, {'mmu_update': 'updates', 'multicall': 'calls', 'mmuext_op': 'ops'}[name])
    return text


def wide(low, high):
    return low | high << 32


def microseconds(ns):
    """xenalyze does not fill up the fraction with zeros."""
    return '%d.%dus' % divmod(ns, 1000)


def share(load, shift):
    return '%.3f%% (%d)' % (100 * load / 2 ** shift, load)


def words(r):
    return '[ %s ]' % ''.join('%x ' % word for word in r['args']).strip()


def switch_text(r, what):
    """Xen says -1 if the vCPU may run as long as it wants."""
    ns, slice_ns = r['args'][2], signed(r['args'][3])
    text = 'sched_switch %s d%dv%d, %s for %s' % (what, *r['args'][:2], 'was runnable' if what == 'next' else 'run', microseconds(ns))
    return text + (', next slice ' + microseconds(slice_ns) if slice_ns > 0 else '')


def decision_text(r):
    """Only an idle pCPU has a state of its siblings."""
    cpu, queue, flags = r['args'][0] & 0xffff, r['args'][0] >> 16, r['args'][1]
    is_idle, is_smt_idle = flags >> 8 & 0xff, flags >> 16 & 0xff
    siblings = ', SMT idle' if is_smt_idle else ', SMT busy' if is_idle else ''
    return 'csched2:schedule cpu %d, rq# %d%s, %s%s, %s' % (
        cpu, queue, ', tasklet scheduled' if flags & 0xff else '', 'idle' if is_idle else 'busy', siblings,
        'tickled' if flags >> 24 else 'not tickled')


def exit_text(r):
    """AMD has a reason for each register."""
    reason, address = r['args'][0], wide(*r['args'][1:3]) if len(r['args']) == 3 else r['args'][1]
    name = r['detail'].upper()
    if reason < 0x40:
        name = '%s%d_%s' % ('CR' if reason < 0x20 else 'DR', reason & 15, 'WRITE' if reason & 16 else 'READ')
    return 'vmexit exit_reason VMEXIT_%s eip %x' % (name, address)


def hex_words(r):
    return '[ %s ]' % ' '.join('%x' % word for word in r['args'])


# The text of xenalyze for each kind of record of the captures. It has no zeros before numbers.
TEXTS = {
    'lost_records': lambda r: 'lost_records count %d d%dv%d' % (r['args'][0], r['args'][1] & 0xffff, r['args'][1] >> 16),
    'sched_switch_prev': lambda r: 'sched_switch prev d%dv%d, run for %s' % (*r['args'][:2], microseconds(r['args'][2])),
    'sched_switch_next': lambda r: switch_text(r, 'next'),
    'sched_switch_continue': lambda r: switch_text(r, 'continue'),
    'sched_adjust': lambda r: 'sched_adjust d%d' % r['args'][0],
    'csched2:schedule': decision_text,
    'csched2:burn_credits': lambda r: 'csched2:burn_credits %s, credit = %d, delta = %d' % (
        vcpu_word(r['args'][0]), signed(r['args'][1]), signed(r['args'][3])),
    'csched2:runq_candidate': lambda r: 'csched2:runq_candidate %s, credit = %d, %s was tickled' % (
        vcpu_word(r['args'][0]), signed(r['args'][2]), 'no cpu' if signed(r['args'][1]) < 0 else 'cpu %d' % r['args'][1]),
    'csched2:update_load': lambda r: 'csched2:update_load',
    'csched2:update_rq_load': lambda r: 'csched2:update_rq_load rq# %d, load = %d, avgload = %s, b_avgload = %s' % (
        r['args'][4] >> 16 & 0xff, r['args'][4] & 0xffff, share(wide(*r['args'][:2]), r['args'][4] >> 24),
        share(wide(*r['args'][2:4]), r['args'][4] >> 24)),
    'csched2:update_vcpu_load': lambda r: 'csched2:update_vcpu_load %s, vcpu_load = %s' % (
        vcpu_word(r['args'][2]), share(wide(*r['args'][:2]), r['args'][3])),
    'csched2:runq_insert': lambda r: 'csched2:runq_insert %s, position %d' % (vcpu_word(r['args'][0]), r['args'][1]),
    'csched2:tickle_new': lambda r: 'csched2:runq_tickle_new %s, processor = %d, credit = %d' % (
        vcpu_word(r['args'][0]), r['args'][1], signed(r['args'][2])),
    'csched2:tickle_check': lambda r: 'csched2:tickle_check %s, credit = %d, score = %d' % (
        vcpu_word(r['args'][0]), *map(signed, r['args'][1:])),
    'csched2:runq_cand_check': lambda r: 'csched2:runq_cand_check ' + vcpu_word(r['args'][0]),
    'csched2:reset_credits': lambda r: 'csched2:reset_credits %s, credit_start = %d, credit_end = %d' % (
        vcpu_word(r['args'][0]), *map(signed, r['args'][1:])),
    'csched2:picked_cpu': lambda r: 'csched2:picked_cpu %s, rq# %d, cpu %d' % (
        vcpu_word(r['args'][2]), r['args'][3] & 0xffff, r['args'][3] >> 16),
    'csched2:runq_max_weight': lambda r: 'csched2:update_max_weight rq# %d, max_weight = %d' % (r['args'][0] & 0xffff, r['args'][0] >> 16),
    'csched2:runq_assign': lambda r: 'csched2:runq_assign %s on rq# %d' % (vcpu_word(r['args'][0]), r['args'][1] & 0xffff),
    'csched2:ratelimit': lambda r: 'csched2:ratelimit, %s run only %s' % (vcpu_word(r['args'][0]), microseconds(r['args'][1])),
    'emulate_privop': lambda r: 'emulate privop' + words(r),
    'page_fault': lambda r: 'page_fault' + words(r),
    'math_state_restore': lambda r: 'math state restore',
    'ptwr_emulation': lambda r: 'ptwr l1e %x eip %x addr %x' % (
        wide(*r['args'][:2]), wide(*r['args'][4:6]), wide(*r['args'][2:4])),
    'vmexit': exit_text,
    'vmmcall': lambda r: 'vmcall %2x (...)' % r['args'][0],
    'csched2:sched_tasklet': lambda r: 'csched2:sched_tasklet',
    'cr_read': lambda r: 'cr_read64 ' + hex_words(r) if int(r['id'], 16) & 0x100 else 'cr_read ' + hex_words(r),
    'dr_write': lambda r: 'dr_write [ ]',
    'intr_window': lambda r: 'intr_window vec %d src %d(' % tuple(r['args'][:2]),
    'inj_virq': lambda r: 'inj_virq vec %d  %s' % (r['args'][0], 'fake' if r['args'][1] else 'real'),
    'iomem_read': lambda r: 'mmio_assist r gpa %x data %x' % tuple(r['args']),
    'ioport_read': lambda r: 'io read port %x val %x' % tuple(r['args']),
    'ioport_write': lambda r: 'io write port %x val %x' % tuple(r['args']),
    'npf': lambda r: 'npf gpa %x q %x mfn %x t %x' % (wide(*r['args'][:2]), r['args'][4], wide(*r['args'][2:4]), r['args'][5]),
    'cr_write': lambda r: 'cr_write cr%d val %x' % (r['args'][0], wide(*r['args'][1:3])),
    'msr_read': lambda r: 'msr_read addr %x val %x' % (r['args'][0], wide(*r['args'][1:3])),
    'msr_write': lambda r: 'msr_write addr %x val %x' % (r['args'][0], wide(*r['args'][1:3])),
    'cpuid': lambda r: 'cpuid ' + words(r),
    'intr': lambda r: 'intr vec %d' % (r['args'] or [0])[0],
    'runstate_change': lambda r: 'runstate_change %s %s->%s' % (
        vcpu_word(r['args'][0]), STATES[int(r['id'], 16) >> 8 & 15], STATES[int(r['id'], 16) >> 4 & 15]),
    'runstate_continue': lambda r: 'runstate_continue %s running->running' % vcpu_word(r['args'][0]),
    'sched_switch': lambda r: 'sched_switch prev d%dv%d next d%dv%d' % tuple(r['args']),
    'vcpu_wake': lambda r: 'vcpu_wake d%dv%d' % tuple(r['args']),
    'vcpu_block': lambda r: 'vcpu_block d%dv%d' % tuple(r['args']),
    'vcpu_sleep': lambda r: 'vcpu_sleep d%dv%d' % tuple(r['args']),
    'sched_shutdown': lambda r: 'sched_shutdown d%dv%d, reason = %d' % tuple(r['args']),
    'sched_init_domain': lambda r: 'sched_init_domain d%d' % r['args'][0],
    'sched_destroy_domain': lambda r: 'sched_destroy_domain d%d' % r['args'][0],
    'domain_create': lambda r: 'creating domain d%d' % r['args'][0],
    'domain_destroy': lambda r: 'destroying domain d%d' % r['args'][0],
    'grant_map': lambda r: 'grant-map domain %d' % r['args'][0],
    'grant_unmap': lambda r: 'grant-unmap domain %d' % r['args'][0],
    'irq_handled': lambda r: 'irq_handled irq %x %d (%d,%d)' % (
        r['args'][0], signed(r['args'][2] - r['args'][1] & 0xffffffff), *map(signed, r['args'][1:])),
    'csched2:runq_tickle': lambda r: 'csched2:runq_tickle cpu %d' % (r['args'][0] & 0xffff),
    'vmentry': lambda r: 'vmentry',
    'hypercall': hypercall_text,
    'subcall': hypercall_text,
}


def xenalyze_lines(path):
    """(pCPU, time, domain, vCPU, text) of the records that xenalyze prints; it leaves out time 0 and unknown vCPUs."""
    result = run([xenalyze(), '--svm-mode', '--cpu-hz', '2596M', '--tolerance=6', '--dump-all', path])
    for line in result.stdout.splitlines():
        match = LINE.match(line)
        if match and not match[6].startswith('lost_records end'):
            time = int(match[1]) * 10**9 + int(match[2]) if match[1] else 0
            known = match[4] not in ('?', '32768')
            yield (match[3].index('x'), time, int(match[4]) if known else None, int(match[5]) if known else None, match[6])


# xenalyze prints these without a domain.
UNSEEN = ('inj_exc',)

# After these texts, it prints facts from other records, or a command's own arguments.
BEGINNINGS = ('lost_records', 'hypercall', 'subcall', 'vmentry', 'intr_window')


@case
def xenalyze_sees_the_same_records():
    texts, kinds = 0, set()
    for name in (*CAPTURES, 'xen-pvh-2cpu'):
        with temporary_directory() as folder:
            path = os.path.join(folder, 'capture.xentrace')
            with open(path, 'wb') as file:
                file.write(without_guests(capture(name)))
            mine, theirs = [r for r in dump(path) if r['name'] not in UNSEEN], list(xenalyze_lines(path))
        equal(len(mine), len(theirs), name)
        kinds |= {r['name'] for r in mine}
        for cpu in {r['cpu'] for r in mine}:
            for r, line in zip((r for r in mine if r['cpu'] == cpu), (line for line in theirs if line[0] == cpu)):
                equal((r['time'], r['domain'], r['vcpu']), line[1:4])
                # Names of hypercalls are left out.
                text = re.sub(r'^(hypercall|vmcall)( +\w+) \(\w+\)', r'\1\2 (...)', line[4])
                expected = TEXTS[r['name']](r)
                equal(text[:len(expected)] if r['name'] in BEGINNINGS else text, expected, (r, line))
                texts += 1
    equal(set(TEXTS) - kinds, set())
    assert texts > 100000, texts


def pair(r, at):
    return 'd%dv%d' % tuple(r['args'][at:at + 2])


def hexadecimal(low, high=0):
    return hex(wide(low, high))


# The fields of some kinds of records, from the same words as the texts of xenalyze above.
FIELDS = {
    'runstate_change': lambda r: {'vcpu': vcpu_word(r['args'][0]), 'old': STATES[int(r['id'], 16) >> 8 & 15],
                                  'new': STATES[int(r['id'], 16) >> 4 & 15]},
    'runstate_continue': lambda r: {'vcpu': vcpu_word(r['args'][0])},
    'sched_switch': lambda r: {'prev': pair(r, 0), 'next': pair(r, 2)},
    'sched_switch_prev': lambda r: {'vcpu': pair(r, 0), 'ran_ns': r['args'][2]},
    'sched_switch_next': lambda r: {'vcpu': pair(r, 0), 'waited_ns': r['args'][2], 'slice_ns': signed(r['args'][3])},
    'csched2:burn_credits': lambda r: {'vcpu': vcpu_word(r['args'][0]), 'credit': signed(r['args'][1]), 'delta': signed(r['args'][3])},
    'csched2:update_rq_load': lambda r: {
        'queue': r['args'][4] >> 16 & 0xff, 'load': r['args'][4] & 0xffff, 'average': hexadecimal(*r['args'][:2]),
        'balance': hexadecimal(*r['args'][2:4]), 'shift': r['args'][4] >> 24},
    'csched2:picked_cpu': lambda r: {'vcpu': vcpu_word(r['args'][2]), 'queue': r['args'][3] & 0xffff, 'pcpu': r['args'][3] >> 16},
    'csched2:schedule': lambda r: {
        'pcpu': r['args'][0] & 0xffff, 'queue': r['args'][0] >> 16, 'tasklet': r['args'][1] & 0xff,
        'idle': r['args'][1] >> 8 & 0xff, 'smt_idle': r['args'][1] >> 16 & 0xff, 'tickled': r['args'][1] >> 24},
    'vcpu_wake': lambda r: {'vcpu': pair(r, 0)},
    'domain_create': lambda r: {'domain': 'd%d' % r['args'][0]},
    'sched_shutdown': lambda r: {'vcpu': pair(r, 0), 'reason': r['args'][2]},
    'lost_records': lambda r: {'count': r['args'][0], 'cycles': hexadecimal(*r['args'][2:]),
                               'vcpu': 'd%dv%d' % (r['args'][1] & 0xffff, r['args'][1] >> 16)},
    'page_fault': lambda r: {'ip': hexadecimal(*r['args'][:2]), 'address': hexadecimal(*r['args'][2:4]), 'error': hex(r['args'][4])},
    'npf': lambda r: {'gpa': hexadecimal(*r['args'][:2]), 'mfn': hexadecimal(*r['args'][2:4]), 'error': hex(r['args'][4]),
                      'type': r['args'][5]},
    'msr_write': lambda r: {'msr': hex(r['args'][0]), 'value': hexadecimal(*r['args'][1:3])},
    'irq_handled': lambda r: {'irq': r['args'][0], 'begin': hex(r['args'][1]), 'end': hex(r['args'][2])},
}


@case
def words_are_named_fields():
    seen = set()
    for name in (*CAPTURES, 'xen-pvh-2cpu'):
        with temporary_directory() as folder:
            path = unpack(folder, name)
            records, lines = dump(path), weft('dump', '--cpu-hz', '2596M', path).stdout.splitlines()
        equal(len(records), len(lines))
        for r, line in zip(records, lines):
            if r['name'] in FIELDS:
                equal(r['fields'], FIELDS[r['name']](r), r)
                seen.add(r['name'])
            for value in r['fields'].values():
                assert str(value) in line, (r, line)
    equal(set(FIELDS) - seen, set())
    got, _ = dump_of(window(0, record(0x28007, 10, 1, 2), runstate(20, 7, 1, RUNNING, 7), record(0x21021, 30)))
    equal([r['fields'] for r in got], [{}, {'vcpu': 'd7v1', 'old': 'running', 'new': 'state 7'}, {}])


# ---- Made traces ----

@case
def pcpus_are_merged_by_time():
    got, errors = dump_of(
        window(1, record(0x28004, 1050, 0, 0), record(0x28004, 1070, 0, 0)) +
        window(0, record(0x28004, 1000, 0, 0), record(0x28004, 1060, 0, 0)) +
        window(1, record(0x28004, 1080, 0, 0)) + window(0) + window(0, record(0x28004, 1075, 0, 0)))
    equal(times(got), [(0, 0), (1, 50), (0, 60), (1, 70), (0, 75), (1, 80)])
    equal(errors, '')


@case
def a_record_without_cycles_has_those_of_the_one_before():
    got, errors = dump_of(window(0, record(0x82012, None, 29), record(0x28004, 1000, 0, 0), record(0x82012, None, 29)) +
                          window(1, record(0x28004, 1002, 0, 0)))
    equal(times(got), [(0, 0), (0, 0), (0, 0), (1, 2)])
    equal(got[0]['detail'], 'sched_op')


@case
def the_vcpu_is_the_one_that_runs():
    got, _ = dump_of(window(3, record(0x28004, 10, 0, 0), runstate(20, 7, 1, RUNNABLE, RUNNING), hypercall(30, 29),
                            runstate(40, 7, 1, RUNNING, BLOCKED), record(0x28004, 50, 0, 0),
                            lost(90, 5, 2, 3, 60), record(0x28004, 95, 0, 0)))
    equal([(r['domain'], r['vcpu']) for r in got], [(None, None), (None, None), (7, 1), (7, 1), (None, None),
                                                    (None, None), (2, 3)])
    equal(got[5]['args'], [5, 2 | 3 << 16, 60, 0])


@case
def padding_is_skipped_whatever_it_holds():
    stale = record(WRAP, None, 0x2001f003, 0, 1 << 31)
    got, errors = dump_of(window(0, record(0x28004, 1000, 0, 0), stale, record(0x28004, 1001, 0, 0)))
    equal((len(got), errors), (2, ''))


@case
def ids_that_nobody_knows_are_kept():
    got, errors = dump_of(window(0, record(0xfffffff, 5, 1, 2, 3), record(0x800f701, None, 4), record(0x22fff, 6)))
    equal([(r['id'], r['name'], r['args']) for r in got],
          [('0xfffffff', 'unknown', [1, 2, 3]), ('0x800f701', 'guest', [4]), ('0x22fff', 'unknown', [])])


@case
def a_guest_cannot_make_it_a_trace_of_another_format():
    """The signature of a packet of mirage's CTF fits into a guest's own record."""
    with open(os.path.join(DATA, 'traces', 'mirage-arp-good.ctf'), 'rb') as file:
        signature = struct.unpack('<7I', file.read(28))
    got, errors = dump_of(window(0, record(0x28004, 1000, 0, 0), record(0x800f001, None, *signature)))
    equal([r['args'] for r in got], [[0, 0], list(signature)])


HEADER = '/usr/include/xen/trace.h'


def header_events():
    """The events that Xen's public header names."""
    values = {'TRC_64_FLAG': 0x100}
    with open(HEADER, encoding='utf-8') as file:
        for name, text in re.findall(r'^#define (TRC_\w+)\s+(\(?[\w +]+\)?)\s*(?:/\*.*)?$', file.read(), re.MULTILINE):
            terms = [term.strip() for term in text.strip('()').split('+')]
            if all(re.fullmatch(r'0x[0-9a-fA-F]+|[0-9]+', term) or term in values for term in terms):
                values[name] = sum(values[term] if term in values else int(term, 0) for term in terms)
    return {name: value for name, value in values.items() if value >> 16 and value & 0xfff and value < 0x10000000 and
            name not in ('TRC_TRACE_WRAP_BUFFER', 'TRC_TRACE_CPU_CHANGE')}


@case
def every_event_of_xens_header_has_a_name():
    if not os.path.exists(HEADER):
        skip('%s is missing (package libxen-dev)' % HEADER)
    events = header_events()
    assert len(events) > 120 and {value >> 16 for value in events.values()} == {1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80}, len(events)
    got, _ = dump_of(window(0, *(record(value, 1000 + i) for i, value in enumerate(events.values()))))
    equal([name for name, r in zip(events, got, strict=True) if r['name'] == 'unknown'], [])


@case
def reasons_of_exits_are_told_apart_by_content():
    """10 is cpuid for Intel; for AMD it is 0x72."""
    def details(*reasons, event=0x81002):
        got, _ = dump_of(window(0, *(record(event, 100 + i, reason, 0x1000) for i, reason in enumerate(reasons))))
        return [r.get('detail') for r in got]
    equal(details(10, 12, 18, 48), ['cpuid', 'hlt', 'vmcall', 'ept_violation'])
    equal(details(0x72, 0x78, 0x81, 0x400), ['cpuid', 'hlt', 'vmmcall', 'npf'])
    equal(details(0x10, 0x60), ['cr_write', 'intr'])
    equal(details(0x10, event=0x81003), ['cr_write'])
    equal(details(0x80000021), ['invalid_guest_state'])


@case
def the_exits_of_a_guest_that_was_created_late_have_names():
    """The first number that only AMD has comes after 5 MB of other records, and after exits whose numbers both have."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'late.xentrace')
        with open(path, 'wb') as file:
            file.write(window(0, runstate(10, 3, 0, RUNNABLE, RUNNING), record(0x81002, 20, 0x10, 0x1000)))
            for turn in range(80):
                file.write(window(0, hypercall(1000 + turn, 29, (0, 1)), record(0x28004, None, 0, 0) * 5500))
            file.write(window(0, *(record(0x81002, 5000 + 10 * i, reason, 0x1000) + record(0x81001, 5005 + 10 * i)
                                   for i, reason in enumerate((0x10, 0x72, 0x7c, 0x400, 0x60)))))
        assert os.path.getsize(path) > 5 * MIB
        got = dump(path, '--filter', 'class=hvm')
        equal([r['detail'] for r in got if r['name'] == 'vmexit'], ['cr_write', 'cr_write', 'cpuid', 'msr', 'npf', 'intr'])
        equal(len(dump(path, '--filter', 'span=cpuid')), 2)


def exits_of(reasons, probe, mode):
    """(reason, its name by xenalyze, our name) of each exit; from the exit `probe`, weft knows whose numbers they are."""
    content = window(0, runstate(10, 1, 0, RUNNABLE, RUNNING), *(
        record(0x81002, 1000 + 20 * i, reason, 0x1000) + record(0x81001, 1010 + 20 * i) for i, reason in enumerate([probe, *reasons])))
    with temporary_directory() as folder:
        path = os.path.join(folder, 'exits.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        shown = run([xenalyze(), *mode, '--cpu-hz', '1G', '--tolerance=6', '--dump-all', path]).stdout
        mine = [r['detail'] if 'detail' in r else '%x' % r['args'][0] for r in dump(path) if r['name'] == 'vmexit']
    theirs = re.findall(r' vmexit exit_reason (?:VMEXIT_)?(\w+)', shown)
    return list(zip([probe, *reasons], (name.lower() for name in theirs), mine, strict=True))


@case
def xenalyze_names_the_same_exits():
    """Compares the exits that both know: xenalyze prints a number for one that it does not know."""
    other_names = {'pending_interrupt': 'pending_virt_intr', 'vmoff': 'vmxoff', 'vmon': 'vmxon', 'machine_check': 'mce_during_vmentry'}
    known = 0
    for reasons, probe, mode in ((range(0x39), 10, []), (range(0x60, 0x8f), 0x72, ['--svm-mode'])):
        for reason, theirs, mine in exits_of(reasons, probe, mode):
            if theirs != '%x' % reason:
                equal(mine, other_names.get(theirs, theirs), reason)
                known += 1
    assert known > 90, known


@case
def exceptions_have_names():
    """Exceptions in a PV guest, injected into a virtual machine, and in a virtual machine."""
    got, _ = dump_of(window(0, record(0x201003, 100, 0x1000, 13), record(0x201103, 200, 0x1000, 0, 14 | 5 << 16),
                            record(0x82003, None, 6, 0), record(0x82023, None, 3), record(0x82023, None), record(0x82003, None, 99, 0)))
    equal([r.get('detail') for r in got], ['gp_fault', 'page_fault', 'invalid_op', 'int3', None, None])


WAKE = record(0x28004, 1000, 0, 0)


@case
def a_truncated_file_is_read_to_its_end():
    whole = window(0, WAKE) + window(1, *[record(0x28004, 1001 + i, 0, 0) for i in range(10)])
    for size in range(13, len(whole)):
        got, errors = dump_of(whole[:size], status=None)
        equal(len(got), len([1 for end in [32, *range(64, 300, 20)] if end <= size]))
        boundary = size in (32, len(whole))
        assert boundary == (errors == ''), (size, errors)


@case
def a_damaged_header_costs_one_window():
    head = window(0, WAKE)
    tail = window(1, record(0x28004, 1005, 0, 0)) + window(0, record(0x28004, 1010, 0, 0))
    for damaged, left, message in (
            (struct.pack('<3I', 0x2001f003, 0, 8000) + WAKE, 4, 'the size of a window is wrong'),
            (struct.pack('<3I', 0x2001f003, 0, 12) + WAKE, 3, 'no window begins here'),
            (struct.pack('<3I', 0x12345678, 0, 20) + WAKE, 3, 'no window begins here'),
            (struct.pack('<3I', 0x2001f003, 70000, 20) + WAKE, 3, 'no window begins here')):
        got, errors = dump_of(head + damaged + tail)
        assert message in errors, errors
        equal(len(got), left)


@case
def times_that_are_wrong_are_limited():
    got, errors = dump_of(window(0, record(0x28004, 1000, 0, 0), record(0x28004, 1 << 60, 0, 0),
                                 record(0x28004, 1020, 0, 0), record(0x28004, 500, 0, 0), record(0x28004, 1030, 0, 0)))
    equal([r['time'] for r in got], [0, 0, 20, 20, 30])
    assert 'a time far after that of the next record' in errors and 'a time before that of the record before' in errors


@case
def a_record_that_crosses_its_window_is_damage():
    got, errors = dump_of(window(0, WAKE, struct.pack('<I', 0xf0028004)) + window(0, record(0x28004, 1001, 0, 0)))
    equal(len(got), 2)
    assert 'a record is longer than the rest of its window' in errors, errors


@case
def the_rate_is_given_or_estimated():
    def info(*options):
        return weft('info', '--json', *options, path)
    with temporary_directory() as folder:
        path = unpack(folder, 'xen-domain-end')
        clock = json.loads(info().stdout)['clock']
        equal((clock['name'], clock['hz_is']), ('tsc', 'estimated'))
        assert abs(clock['hz'] / 2596.15e6 - 1) < 1e-4, clock
        assert 'estimated' in weft('dump', path).stderr
        result = info('--cpu-hz', '2.5G')
        equal((json.loads(result.stdout)['clock'].get('hz_is'), result.stderr), (None, ''))
        for text, hz in (('2596150000', 2596150000), ('2596.15M', 2596150000), ('2.59615GHz', 2596150000), ('999999k', 999999000)):
            equal(json.loads(info('--cpu-hz', text).stdout)['clock']['hz'], hz)
        for text in ('', 'M', '0', '12', '2.5T', '2,5G', '-1G', '9999999G', '1e9'):
            assert 'is not a rate' in weft('info', '--cpu-hz', text, path, status=2).stderr


@case
def the_rate_is_noted():
    content = capture('xen-lost-2cpu')
    with temporary_directory() as folder:
        plain, noted, part = (os.path.join(folder, name + '.xentrace') for name in ('plain', 'noted', 'part'))
        for path, parts in ((plain, [content]), (noted, [note(1, 2596150000), note(2, 17, 4), content, note(2, 18, 5)])):
            with open(path, 'wb') as file:
                file.write(b''.join(parts))
        given = weft('dump', '--json', '--cpu-hz', '2596.15M', plain)
        result = weft('dump', '--json', noted)
        equal((result.stdout, result.stderr), (given.stdout, ''))
        equal(json.loads(weft('info', '--json', '--cpu-hz', '2G', noted).stdout)['clock']['hz'], 2000000000)
        if os.path.exists(xenalyze()):
            equal(list(xenalyze_lines(noted)), list(xenalyze_lines(plain)))
        # A part has the notes, and the rate if it was given.
        weft('cut', noted, '-o', part, '--duration', '100ms')
        with open(part, 'rb') as file:
            equal(file.read(96), note(1, 2596150000) + note(2, 17, 4) + note(2, 18, 5))
        weft('cut', plain, '-o', part, '--cpu-hz', '2.5G')
        clock = json.loads(weft('info', '--json', part).stdout)['clock']
        equal((clock['hz'], clock.get('hz_is')), (2500000000, None))


@case
def a_damaged_note_is_left_out():
    for damaged in (note(1, 2596150000)[:-4], note(1, 7), note(1, 1 << 63), note(99, 2596150000)):
        got, errors = dump_of(damaged + window(0, WAKE), hz='1G')
        equal(len(got), 1)
        with temporary_directory() as folder:
            path = os.path.join(folder, 'noted.xentrace')
            with open(path, 'wb') as file:
                file.write(damaged + window(0, WAKE))
            result = weft('info', '--json', path, status=None)
            if not result.returncode:
                equal(json.loads(result.stdout)['clock'].get('hz_is'), 'assumed')


@case
def a_range_of_time():
    with temporary_directory() as folder:
        path = unpack(folder, 'xen-lost-2cpu')
        every = dump(path)
        part = dump(path, '--start', '100ms', '--duration', '50ms')
        equal(part, [r for r in every if 100000000 <= r['time'] < 150000000])
        equal(len(weft('dump', '--cpu-hz', '2596M', path).stdout.splitlines()), len(every))


@case
def a_filter_prints_only_records_of_some_domains_and_classes():
    with temporary_directory() as folder:
        path = unpack(folder, 'xen-lost-2cpu')
        every = dump(path)
        for words, wanted in (('domain=1', lambda r: r['domain'] == 1),
                              ('class=pv', lambda r: int(r['id'], 16) >> 16 == 0x20),
                              ('domain=1,class=pv,domain=2,class=hvm',
                               lambda r: r['domain'] in (1, 2) and int(r['id'], 16) >> 16 in (0x20, 8))):
            got = dump(path, '--filter', words)
            equal(got, [r for r in every if wanted(r) or r['id'] == '0x1f001'])
            assert len(got) > 100
        for words in ('', '-', '!', '-domain', '--domain=1', 'domain=', 'domain=x', 'class=none', 'domain=1,', 'domain', 'span='):
            assert 'is neither domain=N, span=NAME nor class=' in weft('dump', '--filter', words, path, status=2).stderr
        assert 'needs the records' in weft('dump', '--tasks', '--filter', 'domain=1', path, status=2).stderr


@case
def a_filter_prints_only_records_of_some_spans():
    content = window(0, runstate(10, 7, 1, RUNNABLE, RUNNING), hypercall(30, 1, (1, 2)), record(0x10f004, 35), hypercall(40, 29),
                     record(0x201104, 50, 0, 0, 0, 0, 0), hypercall(60, 13, (1, 2)), record(0x20200e, 61, 1),
                     record(0x10f004, 62), record(0x20200e, 63, 2), hypercall(70, 1, (1, 1)), runstate(80, 7, 1, RUNNING, BLOCKED),
                     record(0x10f004, 85), runstate(90, 3, 0, RUNNABLE, RUNNING), record(0x81002, 100, 0x81, 0x1000),
                     record(0x82012, None, 29), record(0x10f004, 105), record(0x81001, 110), record(0x10f004, 115))

    def shown(words, *options):
        return [r['time'] + 10 for r in dump_of(content, '--filter', words, *options)[0]]
    equal(shown('span=mmu_update'), [30, 35, 61, 62, 70, 80])
    equal(shown('span=multicall'), [60, 61, 62, 63])
    equal(shown('span=page_fault,span=vmmcall'), [50, 100, 100, 105, 110])
    equal(shown('span=sched_op,domain=3'), [100, 105, 110])
    equal(shown('span=mmu_update,class=mem'), [35, 62])
    equal(shown('span=multicall', '--start', '51ns'), [61, 62, 63])
    equal(shown('span=mmu'), [])
    # Words with a - in front take away what the others select.
    every = shown('domain=7,domain=3')
    for word in ('span=mmu_update', 'class=mem', 'domain=3'):
        taken = shown('domain=7,domain=3,' + word) if word != 'domain=3' else shown(word)
        assert taken, word
        for sign in '-!':
            equal(shown('domain=7,domain=3,' + sign + word), [time for time in every if time not in taken])
    equal(shown('span=multicall,-span=mmu_update'), [60, 63])


@case
def a_cut_is_a_trace_of_xen():
    def shown(path, *options):
        return [(r['cpu'], r['id'], r['domain'], r['vcpu'], r['args']) for r in dump(path, *options)]
    with temporary_directory() as folder:
        for name in CAPTURES:
            path, part = unpack(folder, name), os.path.join(folder, 'part.xentrace')
            for options in ([], ['--start', '200ms', '--duration', '30ms'], ['--filter', 'class=pv'],
                            ['--start', '100ms', '--filter', 'domain=0,class=mem,class=hw,class=pv'],
                            ['--filter', 'span=mmu_update,class=pv'], ['--filter', '-class=sched']):
                weft('cut', *options, '--cpu-hz', '2596M', path, '-o', part)
                got, wanted = shown(part), shown(path, *options)
                if '--filter' in options:
                    # Which vCPU runs is told whatever the filter takes; where that is left out, it is added.
                    got, wanted = ([r for r in records if int(r[1], 16) >> 12 != 0x21] for records in (got, wanted))
                elif options:
                    extra = [r for r in got if r[1] == '0x21002' and r not in wanted]
                    equal(len(got) - len(wanted), len(extra))
                    got = [r for r in got if r not in extra]
                equal(got, wanted)
            weft('cut', path, '-o', part, '--start', '1000s', status=1)
        whole = os.path.join(folder, 'whole.xentrace')
        weft('cut', path, '-o', whole, '--cpu-hz', '2596M')
        equal(weft('info', '--json', '--cpu-hz', '2596M', whole).stdout, weft('info', '--json', '--cpu-hz', '2596M', path).stdout)
        assert 'need a trace of Xen' in weft('cut', '--filter', 'domain=1', '-o', part, os.path.join(
            DATA, 'traces', 'mirage-arp-good.ctf'), status=2).stderr


@case
def a_cut_has_the_processes_of_its_range():
    """Before it, each vCPU of dom0 has its last one, and names are kept. Behind it, a pid may be that of another process."""
    def switch(cycles, pid, vcpu=0, kind=6):
        return note(kind, cycles, pid | vcpu << 48)
    notes = [note(8, 7, 0x6c78), switch(100000000, 7), switch(150000000, 9, kind=7), switch(200000000, 8), switch(300000000, 5, 1),
             switch(1200000000, 7), switch(1300000000, 10, kind=7), note(8, 7, 0x6873), switch(1900000000, 8)]
    content = b''.join(notes) + window(0, runstate(1, 0, 0, RUNNABLE, RUNNING), *(hypercall(n * 10**8, 17) for n in range(1, 21)))
    with temporary_directory() as folder:
        path, part = os.path.join(folder, 'whole.xentrace'), os.path.join(folder, 'part.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        for options, wanted in ((['--start', '1s', '--duration', '500ms'], [0, 3, 4, 5, 6]), (['--start', '1s'], [0, 3, 4, 5, 6, 7, 8]),
                                (['--duration', '250ms'], [0, 1, 2, 3]), ([], range(len(notes)))):
            weft('cut', *options, '--cpu-hz', '1G', path, '-o', part)
            with open(part, 'rb') as file:
                equal(file.read()[32:32 * (len(wanted) + 1)], b''.join(notes[i] for i in wanted), options)
            kept = weft('query', '--json', part, "select count(*) kinds from tasks where kind = 'process' and running > 0")
            assert json_lines(kept.stdout)[0]['kinds'] > 0, options


@case
def a_filter_keeps_times():
    """Records without cycles have those of the one before, which may be left out."""
    content = window(0, runstate(1000, 1, 0, RUNNABLE, RUNNING), record(0x800f701, None, 1), record(0x28004, 4000, 0, 0),
                     record(0x800f702, None, 2), record(0x800f702, None, 3), record(0x28004, 5000, 0, 0)) + window(
                         1, record(0x28004, 500, 0, 0), record(0x800f703, None, 9))
    with temporary_directory() as folder:
        path, part = os.path.join(folder, 'whole.xentrace'), os.path.join(folder, 'part.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        weft('cut', '--filter', 'class=guest', '--cpu-hz', '1G', path, '-o', part)
        with open(part, 'rb') as file:
            got = read(file.read())
        equal([(cpu, cycles, words) for cpu, records in sorted(got.items()) for cpu, event, cycles, words in records if event > 0x800f000],
              [(0, 1000, [1]), (0, 4000, [2]), (0, 4000, [3]), (1, 500, [9])])


@case
def a_filter_keeps_losses():
    """Records of what was wanted may be missing there; xenalyze, too, needs to know."""
    with temporary_directory() as folder:
        path, part = unpack(folder, 'xen-lost-2cpu'), os.path.join(folder, 'part.xentrace')
        lost = [r for r in dump(path) if r['id'] == '0x1f001']
        for words in ('class=sched', 'domain=1', 'span=mmu_update', '-class=gen'):
            weft('cut', path, '-o', part, '--cpu-hz', '2596M', '--filter', words)
            equal([r['args'] for r in dump(part) if r['id'] == '0x1f001'], [r['args'] for r in lost], words)
        weft('cut', path, '-o', part, '--cpu-hz', '2596M', '--filter', 'class=sched')
        equal(len(list(xenalyze_lines(part))) > 1000, True)


@case
def xenalyze_reads_filtered_cuts():
    """It refuses a vCPU that runs without a record of that: each of these failed, or ended early."""
    def states(records):
        return [(r['cpu'], r['id'], r['args']) for r in records if int(r['id'], 16) >> 12 == 0x21]
    with temporary_directory() as folder:
        path, part = unpack(folder, 'xen-lost-2cpu'), os.path.join(folder, 'part.xentrace')
        whole = states(dump(path))
        for words in ('domain=1', '-domain=0', 'domain=1,class=pv', 'class=pv', 'span=mmu_update,domain=0'):
            weft('cut', path, '-o', part, '--cpu-hz', '2596M', '--filter', words)
            records = dump(part)
            equal((len(list(xenalyze_lines(part))), states(records)), (len(records), whole), words)


@case
def a_cut_without_contexts_is_for_xenalyze():
    """At what guests write themselves it stops, or never ends."""
    content = window(0, runstate(1000, 0, 0, RUNNABLE, RUNNING), hypercall(1100, 34), record(0x800f7ec, None, 1, 0, 2, 0, 7, 0, 0x66657701),
                     hypercall(1200, 17), hypercall(1300, 17))
    with temporary_directory() as folder:
        path, part = os.path.join(folder, 'whole.xentrace'), os.path.join(folder, 'part.xentrace')
        with open(path, 'wb') as file:
            file.write(content)
        weft('cut', '--no-contexts', '--cpu-hz', '1G', path, '-o', part)
        equal([r['name'] for r in dump(part)], ['runstate_change'] + ['hypercall'] * 3)
        equal(len(list(xenalyze_lines(part))), 4)
        assert 'need a trace of Xen' in weft('cut', '--no-contexts', '-o', part, os.path.join(
            DATA, 'traces', 'mirage-arp-good.ctf'), status=2).stderr


@case
def a_part_has_the_estimated_rate():
    with temporary_directory() as folder:
        path, part = unpack(folder, 'xen-lost-2cpu'), os.path.join(folder, 'part.xentrace')
        whole = json.loads(weft('info', '--json', path).stdout)['clock']
        weft('cut', path, '-o', part, '--filter', 'class=pv')
        clock = json.loads(weft('info', '--json', part).stdout)['clock']
        equal((clock['hz'], clock['hz_is']), (whole['hz'], 'estimated'))
        equal(json.loads(weft('info', '--json', '--cpu-hz', '2G', part).stdout)['clock']['hz'], 2000000000)


def follow(folder, pieces, *options):
    """The output of `weft tail` of a file that grows by the pieces; what it had printed when all but the last were written."""
    path, printed = os.path.join(folder, 'growing.xentrace'), os.path.join(folder, 'printed')
    with open(printed, 'wb') as out, open(path, 'wb', buffering=0) as file:
        file.write(pieces[0])
        with subprocess.Popen([WEFT, 'tail', '--json', '--cpu-hz', '2596M', *options, path], stdout=out) as tail:
            for piece in pieces[1:-1]:
                file.write(piece)
                let_work(tail, sleeps=1, pause=0.01)
            wait_until('output', lambda: os.path.getsize(printed) > 0, tail)
            before = os.path.getsize(printed)
            file.write(pieces[-1])
            file.close()
            equal(status_of(tail), 0)
    with open(printed, encoding='utf-8') as file:
        return file.read(), before


@case
def a_growing_file_is_printed_as_it_comes():
    with temporary_directory() as folder:
        for name in ('xen-lost-2cpu', 'xen-domain-end'):
            content = capture(name)
            # The pieces end within records and headers.
            pieces = [content[at:at + 50001] for at in range(0, len(content), 50001)]
            printed, _ = follow(folder, pieces)
            got, wanted = json_lines(printed), dump(unpack(folder, name))
            equal(len(got), len(wanted))
            # A pause of a second, on a busy machine, ends a turn, so that records of different pCPUs may change places.
            for cpu in {r['cpu'] for r in wanted}:
                assert [r for r in got if r['cpu'] == cpu] == [r for r in wanted if r['cpu'] == cpu], (name, cpu)


@case
def a_part_of_a_window_waits_for_the_rest():
    first, second = (window(0, record(0x28004, time, 0, 0)) for time in (1000, 2000))
    with temporary_directory() as folder:
        for end in (1, 11, 12, 15, 30, len(second)):
            # The first window is printed when nothing came for a second.
            printed, before = follow(folder, [first, second[:end], second[end:]])
            equal([json.loads(line)['time'] for line in printed.splitlines()], [0, 385])
            assert end == len(second) or printed[:before].count('\n') == 1, (end, printed[:before])


@case
def damage_does_not_stop_a_growing_file():
    pieces = [window(0, WAKE), b'\x12' * 400, window(0, record(0x28004, 2000, 0, 0)), struct.pack('<3I', 0x2001f003, 0, 1 << 30) + WAKE]
    with temporary_directory() as folder:
        printed, _ = follow(folder, pieces)
        equal(printed.count('\n'), 3)


@contextlib.contextmanager
def dump_follows(folder, content, *options):
    """`weft dump --follow` of a file with that content: the file, the path of what is printed, and the process."""
    path, printed = os.path.join(folder, 'followed'), os.path.join(folder, 'printed')
    with open(printed, 'wb') as out, open(path, 'wb', buffering=0) as file:
        file.write(content)
        process = subprocess.Popen([WEFT, 'dump', '--follow', '--json', *options, path], stdout=out, stderr=subprocess.PIPE)
        try:
            yield file, printed, process
        finally:
            process.kill()
            process.wait()
            process.stderr.close()


def lines_of(path):
    with open(path, encoding='utf-8') as file:
        return file.read().splitlines()


@case
def dump_follows_a_file_until_it_is_interrupted():
    content = capture('xen-domain-end')
    for options in ([], ['--filter', 'class=pv', '--start', '2ms', '--duration', '1000s']):
        with temporary_directory() as folder:
            wanted = weft('dump', '--json', '--cpu-hz', '2596M', *options, unpack(folder, 'xen-domain-end')).stdout.splitlines()
            with dump_follows(folder, b'', '--cpu-hz', '2596M', *options) as (file, printed, process):
                for at in range(0, len(content), 100001):
                    file.write(content[at:at + 100001])
                file.close()  # nobody writes it any more; it is followed all the same
                wait_until('all lines', lambda: lines_of(printed) == wanted, process, seen=lambda: len(lines_of(printed)))
                equal(process.poll(), None)
                with open(os.path.join(folder, 'followed'), 'ab') as more:
                    more.write(window(0, record(0x28004, 1 << 62, 7, 0)) + window(0, record(0x28004, 1 << 62, 8, 0)))
                if not options:
                    wait_until('more lines', lambda: len(lines_of(printed)) > len(wanted), process)
                    process.send_signal(signal.SIGINT)
                equal(status_of(process), 0)  # at the end of the range without an interrupt


@case
def dump_follows_files_of_other_formats():
    path = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
    with open(path, 'rb') as file:
        content = file.read()
    wanted = weft('dump', '--json', path).stdout.splitlines()
    with temporary_directory() as folder:
        with dump_follows(folder, content[:50000]) as (file, printed, process):
            wait_until('the first lines', lambda: len(lines_of(printed)) > 100, process)
            assert len(lines_of(printed)) < len(wanted)
            file.write(content[50000:])
            wait_until('all lines', lambda: lines_of(printed) == wanted, process, seen=lambda: len(lines_of(printed)))
            process.send_signal(signal.SIGINT)
            equal(status_of(process), 0)
        # A saved buffer has no part that can be decoded alone.
        saved = os.path.join(folder, 'saved.weft')
        weft('record', '-o', saved, '--', os.path.join(BUILD, 'examples', 'hello'))
        with open(saved, 'rb') as file, dump_follows(folder, file.read()) as (_, printed, process):
            equal(status_of(process), 0)
            equal(lines_of(printed), weft('dump', '--json', saved).stdout.splitlines())


@case
def dump_follows_one_file_of_events():
    path = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
    assert 'takes one FILE' in weft('dump', '--follow', path, path, status=2).stderr
    assert 'not standard input' in weft('dump', '--follow', '-', status=2).stderr
    assert 'not a regular file' in weft('dump', '--follow', '/dev/null', status=3).stderr
    assert 'excludes --tasks' in weft('dump', '--follow', '--tasks', path, status=2).stderr
    assert 'trace of Xen' in weft('dump', '--follow', '--filter', 'domain=1', path, status=2).stderr
    weft('dump', '--follow', path + '-that-is-missing', status=3)


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (24 * MIB, 24 * MIB))  # not the mapped file, which the system may drop


@case
def a_cut_takes_memory_for_its_records():
    """Memory is not in proportion to a whole window of each pCPU."""
    if IS_SANITIZED:
        skip('sanitizers need more memory')
    with temporary_directory() as folder:
        path, part = os.path.join(folder, 'cpus.xentrace'), os.path.join(folder, 'part.xentrace')
        with open(path, 'wb') as file:
            file.write(b''.join(window(cpu, record(0x28004, 1000 + cpu, 0, 0)) for cpu in range(4000)))
            file.write(window(7, *(record(0x28004, 6000 + i, 0, 0) for i in range(5000))))
        result = subprocess.run([WEFT, 'cut', '--cpu-hz', '1G', path, '-o', part], capture_output=True, preexec_fn=limit, text=True)
        equal((result.returncode, result.stderr), (0, ''))
        equal(dump(part), dump(path))


@case
def memory_does_not_grow_with_the_file():
    if IS_SANITIZED:
        skip('sanitizers need more memory')
    with temporary_directory() as folder:
        path = os.path.join(folder, 'long.xentrace')
        with open(path, 'wb') as file:
            content = b''.join(record(0x28004, None, 0, 0) for _ in range(5000))
            for turn in range(200):
                for cpu in range(4):
                    file.write(window(cpu, record(0x28004, 1000 * turn + cpu, 0, 0), content))
        size = os.path.getsize(path)
        assert size > 40 * MIB, size
        result = subprocess.run([WEFT, 'dump', '--cpu-hz', '1G', '--start', '190us', path], stdout=subprocess.PIPE, preexec_fn=limit)
        equal((result.returncode, result.stdout.count(b'\n')), (0, 10 * 4 * 5001))


main()
