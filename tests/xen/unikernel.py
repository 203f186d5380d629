# SPDX-License-Identifier: ISC
"""A real Xen: dom0 has its tools and runs weft; unikernels and processes of Linux share their buffers with dom0, and all
are on one clock."""
import bisect
import functools
import json
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
import lab  # noqa: E402
import programs  # noqa: E402
from harness import DATA, WEFT, case, equal, json_lines, main, run, temporary_directory, weft  # noqa: E402

OLD = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
SCRIPT = r'''
xl info >/out/info
mkdir -p /out/joined/xen /out/joined/tsc
weft --version >/out/version
weft record xen:host -o /out/trace.xentrace >/out/record.log 2>&1 &
tracer=$!
await sh -c 'test $(wc -c </out/trace.xentrace) -gt 1000'
weft record xen:host -o /out/second.xentrace >/out/second.log 2>&1 && exit 1
weft tail --json /out/trace.xentrace >/out/tail.json 2>/out/tail.log &
tail=$!
create small guest "extra='pages=64'"
small=$domain
create large guest "type='pvh'" "extra='pages=1000 id=big-one directory tsc'"
large=$domain
await recorded $small 100
await recorded $large 100
kill -INT $tracer
wait $tracer
wait $tail
weft record xen:host --filter domain=$small,class=pv --duration 2s --size 4M -o /out/filtered.xentrace >/out/filtered.log 2>&1
weft record xen:host --events sched,0x --duration 500ms -o /out/none.xentrace >/out/usage.log 2>&1 && exit 1
weft record xen:host --events sched --duration 500ms -o - >/out/sched.xentrace
xenstore-ls /local/domain/$small/data >/out/small.keys
xenstore-ls /local/domain/$large/data >/out/large.keys
map $small weft/0 /out/running.weft
map $large weft/big-one /out/large.weft

await recorded $small 300
tell $small crash
await is_state $small c
map $small weft/0 /out/crashed.weft
xl destroy $small

tell $large stop
await sh -c "xenstore-read /local/domain/$large/data/weft/big-one/state | grep closed"
map $large weft/big-one /out/stopped.weft
xl destroy $large

say "two guests exchange messages"
create server guest "extra='pages=1000'"
server=$domain
create client guest "type='pvh'" "extra='pages=1000'"
client=$domain
xenstore-write /local/domain/$server/data/peer $client
xenstore-write /local/domain/$client/data/peer $server
tell $server answer
await of $server data/port
xenstore-write /local/domain/$client/data/peer-port $(of $server data/port)
tell $client ask
await of $client data/state
weft dump --json xen:server xen:client >/out/messages.json
weft dump --edges --json xen:server xen:client >/out/messages.edges
xl destroy server
xl destroy client

say "levels of a unikernel"
create leveled guest "extra='pages=64'"
await recorded $domain 100
weft ctl xen:leveled set program=off 'cpu*=off' >/out/unknown.level 2>&1 && exit 1
weft ctl xen:leveled set program=off
weft ctl --json xen:leveled status >/out/off.status
off=$(of $domain data/number | sed 's/^0*//')
await recorded $domain $((off + 200))
weft ctl xen:leveled set program=info
on=$(of $domain data/number | sed 's/^0*//')
await recorded $domain $((on + 128))
weft dump --json xen:leveled >/out/leveled.json
weft ls >/out/running.ls
tell $domain crash
await is_state $domain c
weft ls --json >/out/crashed.ls
weft ctl xen:leveled set program=off >/out/crashed.level 2>&1 && exit 1
xl destroy leveled
weft ls --json >/out/destroyed.ls 2>/out/destroyed.ls.err

create old guest "ramdisk='/lab/old.ctf'" "extra='mprof'"
await of $domain data/mprof/ring-ref
weft tail --json xen:old >/out/old.tail & tail=$!
await test -s /out/old.tail
wc -l </out/old.tail >/out/old.first
tell $domain grow
await sh -c "[ \$(wc -l </out/old.tail) -ge \$(weft dump --json xen:old | wc -l) ]"
weft dump --json xen:old >/out/old.dump
weft ls >/out/old.ls
weft ctl xen:old set program=off >/out/old.level 2>&1 && exit 1
xl destroy old
wait $tail

# collect NAME DOMAIN: weft collect in the background.
collect() {
	weft collect $2 --once -o /out/$1.weft >/out/$1.log 2>&1 &
	collector=$!
}
# Once the process has ended, weft does not take its pages for a trace.
end_collecting() {
	await sh -c "! weft info xen:0/$process"
	wait $collector
}
has_size() {
	[ "$(wc -c <$1)" -ge $2 ]
}

say "processes of Linux"
process 64 &
process=$!
await of 0 data/weft/$process/state
collect killed xen:0/$process
await has_size /out/killed.weft 20000
kill -KILL $process
end_collecting
echo 20000 >/sys/module/xen_gntalloc/parameters/limit
process 5000 &
process=$!
await of 0 data/weft/$process/state
xenstore-ls /local/domain/0/data/weft/$process >/out/process.keys
collect ended xen:0/$process
await has_size /out/ended.weft 20000
kill -TERM $process
end_collecting

for clock in xen tsc; do
	create peer guest "extra='pages=1000 gap_us=20000 $clock'"
	tell $domain ping
	await of $domain data/port
	say "10,000 rounds, clock $clock"
	rounds $domain 10000 /out/$clock.cause.weft
	tell $domain compare
	await of $domain data/state
	map $domain weft/0 /out/$clock.effect.weft
	xl destroy peer
done

# The same with the clock that dom0's programs have, which runs at another rate.
for clock in xen tsc; do
	create peer guest "extra='pages=1000 gap_us=20000 $clock'"
	tell $domain ping
	await of $domain data/port
	collect joined/$clock/guest xen:peer
	xentrace -D -e all -S 256 /out/joined/$clock/host.xentrace &
	tracer=$!
	[ $clock = tsc ] && number=10000 || number=2000
	say "$number rounds with dom0's clock, clock $clock"
	WEFT_OUT=/out/joined/$clock/dom0.weft rounds $domain $number
	kill -INT $collector $tracer
	wait $collector
	xl destroy peer
done
'''

files = lab.Once(lambda: lab.run(SCRIPT, programs={'weft': WEFT, **programs.all_for_dom0()},
                                 files={'guest': programs.guest(), 'old.ctf': OLD}))


def events(name):
    with temporary_directory() as folder:
        path = os.path.join(folder, name)
        with open(path, 'wb') as file:
            file.write(files()[name])
        info, = json_lines(weft('info', '--json', path).stdout)
        return info, json_lines(weft('dump', '--json', path).stdout)


def numbers(name):
    info, found = events(name)
    equal(info['diagnostics'], [], name)
    return [event['value'] for event in found if event['event'] == 'tag']


@case
def dom0_has_xens_tools():
    assert b'xen_caps               : xen-3.0-x86_64' in files()['info'], files()['info']
    trace = files()['trace.xentrace']
    assert len(trace) > 10000, len(trace)


def summary(name, *options):
    with temporary_directory() as folder:
        path = os.path.join(folder, name)
        with open(path, 'wb') as file:
            file.write(files()[name])
        return json_lines(weft(*options, '--json', path).stdout)


@case
def weft_records_xens_own_trace():
    # xentrace's rate is that of xl info.
    mhz = float(re.search(rb'cpu_mhz *: ([0-9.]+)', files()['info'])[1])
    clock = summary('trace.xentrace', 'info')[0]['clock']
    equal((clock['name'], clock.get('hz_is'), clock['hz']), ('tsc', None, round(1e6 * mhz)))
    assert b'weft info /out/trace.xentrace' in files()['record.log'], files()['record.log']
    # One cannot be recorded beside another, and does not end it.
    assert b'xentrace failed: ' in files()['second.log'], files()['second.log']
    domains = {r['domain'] for r in summary('trace.xentrace', 'dump')}
    assert len(domains - {None, 0, 32767}) == 2, domains


@case
def a_growing_trace_is_printed_as_it_comes():
    equal(json_lines(files()['tail.json'].decode()), summary('trace.xentrace', 'dump'))
    equal(files()['tail.log'], b'')


@case
def notes_name_the_clocks():
    content = files()['trace.xentrace']
    kinds = []
    for at in list(range(0, 128, 32)) + [len(content) - 64, len(content) - 32]:
        header, _, size, name, first, second = struct.unpack_from('<4I2Q', content, at)
        equal((header, size, name & 0xffffff), (0x7001f003, 0, 0x666577))
        kinds.append((name >> 24, first, second))
    equal([kind for kind, _, _ in kinds], [1, 4, 2, 3, 2, 3])
    # The counter and Xen's time ran at the rate in the note, and Xen's and dom0's clocks at one rate.
    (_, hz, _), _, (_, cycles, begin_ns), (_, _, begin_dom0), (_, last_cycles, end_ns), (_, _, end_dom0) = kinds
    seconds = (last_cycles - cycles) / hz
    assert seconds > 0.1 and abs(seconds / (end_ns - begin_ns) * 1e9 - 1) < 1e-3, kinds
    assert abs((end_dom0 - begin_dom0) / (end_ns - begin_ns) - 1) < 1e-3, kinds


@case
def a_filter_keeps_records_of_a_domain():
    """And which vCPU runs, and what was lost."""
    records = summary('filtered.xentrace', 'dump')
    small, = {r['domain'] for r in records if int(r['id'], 16) >> 12 not in (0x21, 0x1f)}
    assert small > 0 and len(records) > 10, records[:5]
    equal({int(r['id'], 16) >> 16 for r in records} - {1}, {0x20, 2})
    late = files()['filtered.log'].decode()
    assert 'Xen keeps 32 pages a pCPU since boot; --size is too late' in late, late


@case
def xen_records_only_wanted_events():
    equal({int(r['id'], 16) >> 16 for r in summary('sched.xentrace', 'dump')} - {1}, {2})
    assert b'is neither a list of' in files()['usage.log'], files()['usage.log']


@case
def weft_runs_in_dom0():
    equal(files()['version'].decode(), run([WEFT, '--version']).stdout)


@case
def keys_are_those_of_the_document():
    small, large = (files()[name].decode() for name in ('small.keys', 'large.keys'))
    for text in ('format = "1"', 'name = "test guest"', 'pages = "64"', 'ring-ref-0 = "8,9,10,', 'state = "open"'):
        assert text in small, small
    assert 'directory-ref = "' in large and 'ring-ref' not in large and 'big-one' in large, large


@case
def exits_of_a_virtual_machine_have_names():
    """The large guest is one. It asks the processor where Xen is, and calls it."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace.xentrace')
        with open(path, 'wb') as file:
            file.write(files()['trace.xentrace'])
        info = weft('info', path).stdout
    names = set(re.findall(r'domain 2  (\w+)$', info, re.MULTILINE))
    assert {'vmmcall', 'cpuid', 'msr', 'event_channel_op', 'sched_op'} <= names, info
    assert not re.search('exit [0-9]', info), info


@case
def a_running_guest_can_be_read():
    found = numbers('running.weft')
    assert len(found) >= 100, found
    # On a slow machine, the guest overwrites its first requests before dom0 reads the buffer. The fourth event of six has the number.
    lost = events('running.weft')[0]['losses'].get('overwritten', 0)
    equal(found, list(range((lost + 2) // 6, (lost + 2) // 6 + len(found))))


@case
def a_large_buffer_has_a_directory():
    found = numbers('large.weft')
    assert len(found) >= 100, found
    equal(found, list(range(len(found))))


@case
def a_crashed_guest_can_be_read():
    found = numbers('crashed.weft')
    assert len(found) >= 300, found
    equal(found, list(range(found[0], found[-1] + 1)))


@case
def a_stopped_buffer_says_so():
    equal(events('running.weft')[0]['ending'], 'unknown')
    equal(events('stopped.weft')[0]['ending'], 'stop')


@case
def dom0_sets_the_levels_of_a_unikernel():
    """It goes on meanwhile, and records no requests. A crashed one takes no levels."""
    off, = json_lines(files()['off.status'].decode())
    equal([category['level'] for category in off['categories'] if category['name'] == 'program'], ['off'])
    change, = off['changes']
    equal((change['category'], change['level']), ('program', 'off'))
    found = [event['value'] for event in json_lines(files()['leveled.json'].decode()) if event['event'] == 'tag']
    gaps = [after - before for before, after in zip(found, found[1:]) if after != before + 1]
    assert len(gaps) <= 1 and (not gaps or gaps[0] > 64), gaps
    # The buffer may have wrapped since, and hold only what came after the gap.
    assert gaps or found[0] > 200, found[:3]
    assert 'no category "cpu*"' in files()['unknown.level'].decode(), files()['unknown.level']
    assert 'has ended or stopped recording' in files()['crashed.level'].decode(), files()['crashed.level']


@case
def dom0_lists_unikernels():
    assert re.search(rb'^xen:leveled/0 +running +(\d+s|\?) +256K +\d+ +\d+ +"test guest"$', files()['running.ls'], re.MULTILINE), files()['running.ls']
    crashed, = json_lines(files()['crashed.ls'].decode())
    equal((crashed['guest'], crashed['state'], crashed['program']), ('xen:leveled/0', 'crashed', 'test guest'))
    equal(files()['destroyed.ls'], b'')
    assert b'no program records now' in files()['destroyed.ls.err'], files()['destroyed.ls.err']
    assert re.search(rb'^xen:old/mprof +running +\? +\d+K +- +- +-$', files()['old.ls'], re.MULTILINE), files()['old.ls']
    assert b'not a buffer that a program records into' in files()['old.level'], files()['old.level']


@case
def the_old_way_is_read():
    equal(files()['old.dump'].decode(), weft('dump', '--json', OLD).stdout)


@case
def the_old_way_is_followed():
    """The guest shows one half of its pages first."""
    assert 0 < int(files()['old.first']) < len(files()['old.dump'].splitlines()), files()['old.first']
    equal(files()['old.tail'].decode(), files()['old.dump'].decode())


@case
def a_killed_process_ends_its_trace():
    equal(events('killed.weft')[0]['ending'], 'gone')
    found = numbers('killed.weft')
    assert len(found) >= 100, files()['killed.log']
    equal(found, list(range(len(found))))


@case
def a_process_with_many_pages_has_a_directory():
    keys = files()['process.keys'].decode()
    assert 'directory-ref = "' in keys and 'alive-ref = "' in keys and 'name = "process"' in keys, keys
    equal(events('ended.weft')[0]['ending'], 'exit')
    found = numbers('ended.weft')
    equal(found, list(range(len(found))))


def times(name):
    """Times of the pings and of the pongs in a trace."""
    found = {'ping': [], 'pong': []}
    for event in events(name)[1]:
        if event['event'] == 'tag' and event['text'] in found:
            equal(event['value'], len(found[event['text']]), name)
            found[event['text']].append(event['time'])
    return found


@case
def guests_wake_each_other():
    """10,000 messages and answers between a paravirtualised guest and a virtual machine: each is one edge."""
    sent, least = {}, []
    for event in json_lines(files()['messages.json'].decode()):
        if event['event'] == 'send':
            sent[event['key']] = event['time']
        if event['event'] == 'receive':
            least.append(event['time'] - sent.pop(event['key']))
    equal((len(least), sent), (20000, {}))
    print('# messages: the shortest way took %d ns' % min(least))
    assert min(least) >= 0, min(least)
    edges = [edge for edge in json_lines(files()['messages.edges'].decode()) if edge['edge'] == 'receive']
    equal(len(edges), 20000)
    assert all(edge['from_process'] != edge['process'] for edge in edges), edges[0]


def shortest_way(clock):
    """Dom0 sends an event, the guest notes it, the guest answers, dom0 notes the answer: 10,000 times. Returns the
    shortest time of a way, in ns."""
    dom0, guest = times(clock + '.cause.weft'), times(clock + '.effect.weft')
    rounds = list(zip(dom0['ping'], guest['ping'], guest['pong'], dom0['pong'], strict=True))
    equal(len(rounds), 10000)
    least = min(min(there - sent, back - answered) for sent, there, answered, back in rounds)
    print('# %s: the shortest way took %d ns' % (clock, least))
    return least


def largest_error(clock):
    """The guest asks Xen for the time between two events, 10,000 times. Returns by how much the answer is outside of the
    events' times at most, in ns."""
    before, errors, widths = 0, [], []
    for event in events(clock + '.effect.weft')[1]:
        if event['event'] == 'tag' and event['text'] == 'before':
            before = event['time']
        if event['event'] == 'tag' and event['text'] == 'xen':
            errors.append(max(before - event['value'], event['value'] - event['time'], 0))
            widths.append(event['time'] - before)
    equal(len(errors), 10000)
    print('# %s: off by %d ns at most; half of the questions took up to %d ns' % (clock, max(errors), sorted(widths)[5000]))
    return max(errors)


@case
def events_have_xens_time():
    equal(largest_error('xen'), 0)


@case
def ticks_are_converted_to_xens_time():
    """As closely as Xen's time follows the counter: each second Xen corrects its rate, by what it read of the timer."""
    assert largest_error('tsc') <= 100000


@case
def no_effect_comes_before_its_cause():
    assert shortest_way('xen') >= 0


@case
def the_processors_counter_agrees():
    """To a millisecond: Xen adjusts its time to the platform's timer, which QEMU emulates, late on a busy machine,
    and ticks are converted by two readings, many seconds apart."""
    assert shortest_way('tsc') >= -1000000


# ---- Guests, dom0 and Xen on one axis ----

# With Xen's time, dom0's CLOCK_MONOTONIC drifts away from the comparisons on a busy machine: the fewer rounds, the less.
ROUNDS = {'xen': 2000, 'tsc': 10000}

@functools.cache
def joined(clock):
    """The summary, and the tags and sends of the traces in the directory, opened together."""
    prefix = 'joined/%s/' % clock
    with temporary_directory() as folder:
        for name in ('guest.weft', 'dom0.weft', 'host.xentrace'):
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(files()[prefix + name])
        info, = json_lines(weft('info', '--json', folder).stdout)
        lines = weft('dump', '--json', folder).stdout.splitlines()
        return info, [json.loads(line) for line in lines if '"event":"tag"' in line or '"event_channel_op"' in line]


def tags(found, text, buffer):
    return [event['time'] for event in found if event['event'] == 'tag' and event['text'] == text and event['buffer'] == buffer]


@case
def dom0s_clock_does_not_drift_from_that_of_guests():
    for clock in ('xen', 'tsc'):
        info, found = joined(clock)
        error = info['clock']['error_ns']
        assert info['clock']['comparisons'] > 1 and error < 10000000, info['clock']
        there = [handled - sent for sent, handled in zip(tags(found, 'ping', 1), tags(found, 'ping', 0), strict=True)]
        back = [handled - sent for sent, handled in zip(tags(found, 'pong', 0), tags(found, 'pong', 1), strict=True)]
        equal(len(there), ROUNDS[clock])
        print('# %s: the ways took %d and %d ns at least; the error is %d ns' % (clock, min(there), min(back), error))
        assert min(there) >= -error and min(back) >= -error


def hypercalls_between(clock, error):
    """Xen's record of the guest's send lies between the guest's events before and after it. Returns for how many rounds."""
    info, found = joined(clock)
    equal([buffer['program'] for buffer in info['buffers']], ['peer/test guest', 'rounds', 'Xen', 'domain 0', 'peer'])
    equal(len({buffer.get('host') for buffer in info['buffers']}), 1)
    calls = [event['time'] for event in found
             if event['event'] == 'begin' and event['name'] == 'event_channel_op' and event['buffer'] == 4]
    rounds, at = 0, 0
    for before, after in zip(tags(found, 'pong', 0), tags(found, 'sent', 0)):
        while at < len(calls) and calls[at] < before - error:
            at += 1
        rounds += at < len(calls) and calls[at] <= after + error
    print('# %s: %d of %d sends lie between, with an error of %d ns' % (clock, rounds, ROUNDS[clock], error))
    return rounds, sum(info['losses'].values())


@case
def xens_records_lie_between_the_guests_events():
    """With the counter, which xentrace has, too, there is no error at all. Xen's time bends between two comparisons if other
    programs take the processors from the machine: see docs/xen.md."""
    error = joined('xen')[0]['clock']['error_ns']
    for clock, allowed, share in (('tsc', 0, 1), ('xen', error, 0.75), ('xen', 10 * error, 1)):
        rounds, lost = hypercalls_between(clock, allowed)
        assert rounds >= ROUNDS[clock] * share or (lost and rounds > ROUNDS[clock] / 4), (clock, allowed, rounds, lost)


def edges_of(clock):
    with temporary_directory() as folder:
        for name in ('guest.weft', 'dom0.weft', 'host.xentrace'):
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(files()['joined/%s/%s' % (clock, name)])
        return json_lines(weft('dump', '--edges', '--json', folder).stdout)


@case
def what_dom0_raised_the_guest_handled():
    """Each edge begins in dom0's send of just that round, between dom0's event before it and the guest's event after it."""
    for clock in ('tsc', 'xen'):
        info, found = joined(clock)
        error = info['clock']['error_ns']
        effects = tags(found, 'ping', 0)
        edges = [edge for edge in edges_of(clock) if edge['edge'] == 'receive' and edge['buffer'] == 0]
        ways = sorted(edge['time'] - edge['sent'] for edge in edges)
        print('# %s: %d of %d events raised and handled, after %d to %d ns' % (clock, len(edges), ROUNDS[clock], ways[0], ways[-1]))
        assert len(edges) > ROUNDS[clock] / 2 or (sum(info['losses'].values()) and len(edges) > ROUNDS[clock] / 10), len(edges)
        equal({edge['from_buffer'] for edge in edges}, {3})
        equal(info['messages']['handled'], len(edges))
        assert len(edges) <= info['messages']['raised'], info['messages']
        sent = dict(zip(effects, tags(found, 'ping', 1), strict=True))
        for edge in edges:
            handled = effects[bisect.bisect_left(effects, edge['time'])]
            assert sent[handled] - error <= edge['sent'] <= edge['time'] <= handled, edge


main()
