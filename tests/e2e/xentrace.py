# SPDX-License-Identifier: ISC
"""weft dump of Xen's own trace: every record of real captures, as a naive reader and as xenalyze see them; damage."""
import json
import os
import re
import resource
import struct
import subprocess

from harness import DATA, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from measured import IS_SANITIZED, MIB
from xen_traces import (BLOCKED, CAPTURES, RUNNABLE, RUNNING, WRAP, capture, hypercall, lost, nanoseconds, note, read,
                        record, runstate, unpack, window, xenalyze)

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
        equal(set(got[0]) - {'detail'}, {'time', 'event', 'cpu', 'id', 'name', 'domain', 'vcpu', 'args'})


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


# The text of xenalyze for a record, as far as it names all that the record has.
TEXTS = {
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
    """(pCPU, time, domain, vCPU, text) of the records that xenalyze prints; it leaves out time 0, and whom it does not know."""
    result = run([xenalyze(), '--svm-mode', '--cpu-hz', '2596M', '--tolerance=6', '--dump-all', path])
    for line in result.stdout.splitlines():
        match = LINE.match(line)
        if match and not match[6].startswith('lost_records end'):
            time = int(match[1]) * 10**9 + int(match[2]) if match[1] else 0
            known = match[4] not in ('?', '32768')
            yield (match[3].index('x'), time, int(match[4]) if known else None, int(match[5]) if known else None, match[6])


@case
def xenalyze_sees_the_same_records():
    texts = 0
    # xenalyze ends at a record of TRC_GUEST, which the other capture has.
    for name in ('xen-domain-end', 'xen-lost-2cpu'):
        with temporary_directory() as folder:
            path = unpack(folder, name)
            mine, theirs = dump(path), list(xenalyze_lines(path))
        equal(len(mine), len(theirs))
        for cpu in {r['cpu'] for r in mine}:
            for r, line in zip((r for r in mine if r['cpu'] == cpu), (line for line in theirs if line[0] == cpu)):
                equal((r['time'], r['domain'], r['vcpu']), line[1:4])
                if r['name'] in TEXTS:
                    assert re.sub(r'\(\w+\)', '(...)', line[4]).startswith(TEXTS[r['name']](r)), (r, line)
                    texts += 1
    assert texts > 20000, texts


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
def reasons_of_exits_are_told_apart_by_content():
    """10 is cpuid for Intel; AMD has 0x72 for that."""
    def details(*reasons, event=0x81002):
        got, _ = dump_of(window(0, *(record(event, 100 + i, reason, 0x1000) for i, reason in enumerate(reasons))))
        return [r.get('detail') for r in got]
    equal(details(10, 12, 18, 48), ['cpuid', 'hlt', 'vmcall', 'ept_violation'])
    equal(details(0x72, 0x78, 0x81, 0x400), ['cpuid', 'hlt', 'vmmcall', 'npf'])
    equal(details(0x10, 0x60), ['cr_write', 'intr'])
    equal(details(0x10, event=0x81003), ['cr_write'])
    equal(details(0x80000021), ['invalid_guest_state'])


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
            equal(got, [r for r in every if wanted(r)])
            assert len(got) > 100
        for words in ('', 'domain=', 'domain=x', 'class=none', 'domain=1,', 'domain'):
            assert 'is neither domain=N nor class=' in weft('dump', '--filter', words, path, status=2).stderr
        assert 'needs the records' in weft('dump', '--tasks', '--filter', 'domain=1', path, status=2).stderr


@case
def a_cut_is_a_trace_of_xen():
    def shown(path, *options):
        return [(r['cpu'], r['id'], r['domain'], r['vcpu'], r['args']) for r in dump(path, *options)]
    with temporary_directory() as folder:
        for name in CAPTURES:
            path, part = unpack(folder, name), os.path.join(folder, 'part.xentrace')
            for options in ([], ['--start', '200ms', '--duration', '30ms'], ['--filter', 'class=pv'],
                            ['--start', '100ms', '--filter', 'domain=0,class=mem,class=hw,class=pv']):
                weft('cut', *options, '--cpu-hz', '2596M', path, '-o', part)
                got, wanted = shown(part), shown(path, *options)
                extra = [r for r in got if r[1] == '0x21002' and r not in wanted] if options else []
                if options and 'class' in options[-1]:
                    got = [r for r in got if r[1] != '0x21002']
                else:
                    equal(len(got) - len(wanted), len(extra))
                    got = [r for r in got if r not in extra]
                equal(got, wanted)
            weft('cut', path, '-o', part, '--start', '1000s', status=1)
        whole = os.path.join(folder, 'whole.xentrace')
        weft('cut', path, '-o', whole, '--cpu-hz', '2596M')
        equal(weft('info', '--json', '--cpu-hz', '2596M', whole).stdout, weft('info', '--json', '--cpu-hz', '2596M', path).stdout)
        assert 'needs a trace of Xen' in weft('cut', '--filter', 'domain=1', '-o', part, os.path.join(
            DATA, 'traces', 'mirage-arp-good.ctf'), status=2).stderr


@case
def memory_does_not_grow_with_the_file():
    if IS_SANITIZED:
        skip('sanitizers need more memory')

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (24 * MIB, 24 * MIB))  # not the mapped file, which the system may drop
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
