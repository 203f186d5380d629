# SPDX-License-Identifier: ISC
"""weft stats --by vcpu, domain and pcpu: what Xen's scheduler did, as xenalyze and a naive reader see it."""
import csv
import json
import os
import re
import subprocess

from harness import DATA, WEFT, case, equal, main, temporary_directory, weft
from measured import measure
from xen_traces import (BLOCKED, CAPTURES, OFFLINE, RUNNABLE, RUNNING, capture, hypercall, lost, record, runstate, unpack,
                        window, without_guests, xenalyze)

CYCLES_IN_1024_NS = (2596000000 << 10) // 10**9  # as xenalyze rounds it
ALL = (*CAPTURES, 'xen-pvh-2cpu')


def stats(path, by, *options, hz='2596M'):
    return json.loads(weft('stats', '--json', '--by', by, '--cpu-hz', hz, *options, path).stdout)


def rows_of(path, by, *options, hz='2596M'):
    return {row['name']: row for row in stats(path, by, *options, hz=hz)['rows']}


def made(folder, *windows):
    path = os.path.join(folder, 'made.xentrace')
    with open(path, 'wb') as file:
        file.write(b''.join(windows))
    return path


# ---- xenalyze ----

NAMES = {'wake': 'runnable, woken', 'preempt': 'runnable, preempted', 'concurrency_hazard': 'concurrency hazard',
         'full_contention': 'full contention'}
STATE = re.compile(r' +([a-z_ ]+): +(\d+) +[\d.]+s +(\d+) \{')
COUNTED = re.compile(r' +([a-z_]+) +\[ *\d+\]: +(\d+)$')


def summary(path):
    """By vCPU and domain: the number and the mean length, in cycles, of the times in each state; and numbers of hypercalls."""
    result = subprocess.run([xenalyze(), '--svm-mode', '--cpu-hz', '2596M', '--tolerance=6', '--summary', path],
                            capture_output=True, text=True, check=True)
    states, calls, domain, name = {}, {}, None, None
    for line in result.stdout.splitlines():
        head = re.match(r'\|-- Domain (\d+) --\||-- v(\d+) --', line)
        if head:
            domain = int(head[1]) if head[1] else domain
            name = 'd%d' % domain if head[1] else 'd%dv%s' % (domain, head[2])
        match = STATE.match(line)
        if match and name and domain != 32767:
            states.setdefault(name, {})[NAMES.get(match[1], match[1])] = int(match[2]), int(match[3])
        match = COUNTED.match(line)
        if match and name:
            calls.setdefault(name, {})[match[1]] = int(match[2])
    return states, calls


@case
def xenalyze_has_the_same_figures():
    compared = 0
    for name in ALL:
        with temporary_directory() as folder:
            path = made(folder, without_guests(capture(name)))
            mine = {**rows_of(path, 'vcpu'), **rows_of(path, 'domain')}
            theirs, _ = summary(path)
        equal(set(mine), set(theirs))
        for who, states in theirs.items():
            mine_of = mine[who]['states']
            equal(set(mine_of) - {'runnable, woken', 'runnable, preempted'}, set(states) - {'runnable', 'runnable, woken', 'runnable, preempted'})
            for state, (count, mean) in states.items():
                if state == 'runnable':
                    equal(sum(mine_of[s]['count'] for s in mine_of if s.startswith('runnable')), count)
                    continue
                equal(mine_of[state]['count'], count, (name, who, state))
                # Means are cut to whole cycles, and times to whole ns.
                cycles = mine_of[state]['ns'] * CYCLES_IN_1024_NS / 1024
                assert abs(cycles - count * mean) <= 4 * count + 4, (name, who, state, cycles, count * mean)
                compared += 1
    assert compared > 60, compared


@case
def xenalyze_counts_the_same_hypercalls():
    """It has older names of some, and adds sub-calls to hypercalls."""
    compared = 0
    for name in ALL:
        with temporary_directory() as folder:
            path = made(folder, without_guests(capture(name)))
            mine, (_, theirs) = rows_of(path, 'vcpu'), summary(path)
        for who, calls in theirs.items():
            mine_of = mine[who]['calls']
            for call in set(calls) & set(mine_of.get('hypercall', {})):
                equal(mine_of['hypercall'][call] + mine_of.get('subcall', {}).get(call, 0), calls[call], (who, call))
                compared += 1
    assert compared > 30, compared


# ---- Made traces ----

def percentile(lengths, percent):
    """The length up to which that much of all time has passed."""
    wanted, passed = int(sum(lengths) * percent / 100), 0
    for length in sorted(lengths):
        passed += length
        if passed >= wanted:
            return length
    return 0


def figures(lengths):
    return {'count': len(lengths), 'ns': sum(lengths), 'p5': percentile(lengths, 5), 'p50': percentile(lengths, 50),
            'p95': percentile(lengths, 95)}


def two_vcpus():
    """d1v0 and d1v1 on two pCPUs, in units of 1 us; from 10 on."""
    def at(time, vcpu, old, new):
        return runstate(1000 * time, 1, vcpu, old, new)
    return (window(0, record(0x28004, 10000, 9, 9), at(20, 0, RUNNABLE, RUNNING), hypercall(21000, 29), hypercall(22000, 1, (1, 3)),
                   at(30, 0, RUNNING, BLOCKED), at(45, 0, BLOCKED, RUNNABLE), at(50, 0, RUNNABLE, RUNNING),
                   at(65, 0, RUNNING, RUNNABLE), at(90, 0, RUNNABLE, RUNNING), record(0x28004, 100000, 9, 9)),
            window(1, record(0x28004, 11000, 9, 9), at(40, 1, RUNNABLE, RUNNING), at(60, 1, RUNNING, RUNNABLE),
                   at(61, 1, RUNNABLE, RUNNING), at(70, 1, RUNNING, BLOCKED), at(80, 1, BLOCKED, OFFLINE),
                   record(0x28004, 99000, 9, 9)))


def us(*lengths):
    return figures([1000 * length for length in lengths])


@case
def each_state_has_its_time():
    with temporary_directory() as folder:
        path = made(folder, *two_vcpus())
        vcpus, domains, pcpus = (rows_of(path, by, hz='1G') for by in ('vcpu', 'domain', 'pcpu'))
        equal(vcpus['d1v0']['states'], {'running': us(10, 15, 10), 'blocked': us(15), 'runnable, woken': us(5),
                                        'runnable, preempted': us(25)})
        equal(vcpus['d1v1']['states'], {'running': us(20, 9), 'runnable, preempted': us(1), 'blocked': us(10)})
        equal((vcpus['d1v1']['at_end'], vcpus['d1v1']['at_end_ns'], vcpus['d1v0'].get('at_end')), ('offline', 20000, None))
        equal(vcpus['d1v0']['calls'], {'hypercall': {'mmu_update': 1, 'sched_op': 1}})
        equal((vcpus['d1v0']['pcpus'], vcpus['d1v0']['moves']), ({'0': 35000}, 0))
        # From 20 on: v0 runs alone, until v1 is known at 40.
        equal(domains['d1']['states'], {
            'full run': us(10, 10, 4), 'blocked': us(10, ), 'partial run': us(5, 10),
            'concurrency hazard': us(5, 1, 5), 'partial contention': us(10, 10)})
        equal(pcpus['pCPU 0']['states'], {'running': us(10, 15, 10)})
        equal(pcpus['pCPU 1']['states'], {'running': us(20, 9)})


@case
def a_loss_hides_what_may_have_run_there():
    with temporary_directory() as folder:
        path = made(folder, window(0, runstate(1000, 1, 0, RUNNABLE, RUNNING), runstate(3000, 1, 0, RUNNING, BLOCKED),
                                   runstate(3000, 2, 0, RUNNABLE, RUNNING), lost(9000, 5, 1, 0, 5000),
                                   runstate(9500, 1, 0, RUNNING, BLOCKED)))
        vcpus = rows_of(path, 'vcpu', hz='1G')
        equal(vcpus['d1v0']['states'], {'running': figures([2000, 500]), 'blocked': figures([2000]), 'lost': figures([4000])})
        equal(vcpus['d2v0']['states'], {'running': figures([2000])})
        equal((vcpus['d2v0']['at_end'], vcpus['d2v0']['at_end_ns']), ('lost', 4500))
        equal(rows_of(path, 'pcpu', hz='1G')['pCPU 0']['states'], {'running': figures([2000, 2000, 500]), 'lost': figures([4000])})


@case
def many_losses_of_many_vcpus():
    """A loss changes the states of all vCPUs: it takes time by their number, not by its square."""
    count, records = 2000, []
    for vcpu in range(count):
        records += [runstate(1000 + 20 * vcpu, 1, vcpu, RUNNABLE, RUNNING), runstate(1010 + 20 * vcpu, 1, vcpu, RUNNING, BLOCKED)]
    for number in range(count):
        time = 1000 + 20 * count + 200 * number
        records += [lost(time + 150, 5, 1, 0, time + 50), runstate(time + 160, 1, 0, RUNNING, BLOCKED)]
    with temporary_directory() as folder:
        path = made(folder, window(0, *records))
        result = measure([WEFT, 'stats', '--json', '--by', 'domain', '--cpu-hz', '1G', path])
        equal(result.status, 0, result.stderr)
        equal(json.loads(result.stdout)['rows'][0]['states']['lost']['count'], count)


@case
def ranges_and_intervals_add_up():
    with temporary_directory() as folder:
        path = unpack(folder, 'xen-lost-2cpu')
        for by in ('vcpu', 'domain', 'pcpu'):
            whole = rows_of(path, by)
            parts = [rows_of(path, by, '--start', '0', '--duration', '1234ms'), rows_of(path, by, '--start', '1234ms')]
            listed = list(csv.DictReader(weft('stats', '--by', by, '--interval', '100ms', '--cpu-hz', '2596M', path).stdout.splitlines()))
            equal(len(listed), len(whole) * -(-stats(path, by)['end'] // 100000000))
            for name, row in whole.items():
                for state, times in row['states'].items():
                    open_ns = row['at_end_ns'] if row.get('at_end') == state else 0
                    equal(sum(int(line[state]) for line in listed if line['name'] == name), times['ns'] + open_ns)
                    got = [part[name]['states'].get(state, {'ns': 0})['ns'] for part in parts if name in part]
                    got += [part[name]['at_end_ns'] for part in parts if name in part and part[name].get('at_end') == state]
                    equal(sum(got), times['ns'] + open_ns)
                    for line in listed:
                        assert int(line[state]) <= 100000000, line


@case
def a_range_ends_where_no_state_does():
    with temporary_directory() as folder:
        path = made(folder, *two_vcpus())

        def part(start, duration):
            return stats(path, 'vcpu', '--start', start, '--duration', duration, hz='1G')

        inside = part('12us', '6us') # times begin with the first record, which is at 10
        equal((inside['start'], inside['end']), (12000, 18000))
        equal({row['name']: row['states'] for row in inside['rows']}, {'d1v0': {'running': us(6)}})
        assert '100.0 %' in weft('stats', '--by', 'vcpu', '--start', '12us', '--duration', '6us', '--cpu-hz', '1G', path).stdout
        listed = weft('stats', '--by', 'vcpu', '--interval', '4us', '--start', '12us', '--duration', '6us', '--cpu-hz', '1G', path).stdout
        equal([int(line['running']) for line in csv.DictReader(listed.splitlines())], [4000, 2000])
        # Offline until the trace ends, which is later.
        open_row = next(row for row in part('75us', '5us')['rows'] if row['name'] == 'd1v1')
        equal((open_row['states'], open_row.get('at_end')), ({'offline': us(5)}, None))
        after = part('1s', '1s')
        equal((after['start'], after['end'], after['rows']), (10**9, 10**9, []))


@case
def tables_and_csv_have_the_same_figures():
    with temporary_directory() as folder:
        path = unpack(folder, 'xen-lost-2cpu')
        for by in ('vcpu', 'domain', 'pcpu'):
            rows = rows_of(path, by)
            listed = list(csv.DictReader(weft('stats', '--by', by, '--csv', '--cpu-hz', '2596M', path).stdout.splitlines()))
            equal({(line['name'], line['state']): {key: int(line[key]) for key in ('count', 'ns', 'p5', 'p50', 'p95')} for line in listed},
                  {(name, state): times for name, row in rows.items() for state, times in row['states'].items()})
            table = weft('stats', '--by', by, '--cpu-hz', '2596M', path).stdout
            for line in listed:
                assert re.search(r'^ *%s .* %s %s$' % (line['count'], line['name'], line['state']), table, re.MULTILINE), line


@case
def wrong_use():
    with temporary_directory() as folder:
        path, other = unpack(folder, 'xen-domain-end'), os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
        assert 'need a trace of Xen' in weft('stats', '--by', 'vcpu', other, status=2).stderr
        assert 'take one FILE' in weft('stats', '--by', 'vcpu', path, path, status=2).stderr
        assert 'no --diff' in weft('stats', '--by', 'pcpu', '--diff', path, path, status=2).stderr
        assert '--interval needs' in weft('stats', '--interval', '1s', path, status=2).stderr
        assert 'not JSON' in weft('stats', '--by', 'pcpu', '--json', '--interval', '1s', path, status=2).stderr
        assert 'vcpu, domain or pcpu' in weft('stats', '--by', 'vcpus', path, status=2).stderr
        assert '--interval' in weft('stats', '--by', 'vcpu', '--interval', 'x', path, status=2).stderr
        assert 'more than 0' in weft('stats', '--by', 'vcpu', '--interval', '0', path, status=2).stderr


main()
