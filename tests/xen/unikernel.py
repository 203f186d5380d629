# SPDX-License-Identifier: ISC
"""A real Xen: dom0 has its tools and runs weft; unikernels and processes of Linux share their buffers with dom0, and all
are on one clock."""
import os
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
weft --version >/out/version
xentrace -D -e all /out/trace.xentrace &
tracer=$!
create small guest "extra='pages=64'"
small=$domain
create large guest "extra='pages=1000 id=big-one directory tsc'"
large=$domain
await recorded $small 100
await recorded $large 100
kill -INT $tracer
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

create old guest "ramdisk='/lab/old.ctf'" "extra='mprof'"
await of $domain data/mprof/ring-ref
weft dump --json xen:old >/out/old.dump
xl destroy old

# collect NAME DOMAIN: weft collect in the background.
collect() {
	weft collect $2 --once -o /out/$1.weft >/out/$1.log 2>&1 &
	collector=$!
}
# Once the process has ended, weft does not take its pages for a trace.
end_collecting() {
	await sh -c "! weft info xen:0/$process"
	kill -INT $collector
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
    equal(trace[:4].hex(), '03f00120', 'the first record of xentrace')
    assert len(trace) > 10000, len(trace)


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
def a_running_guest_can_be_read():
    found = numbers('running.weft')
    assert len(found) >= 100, found
    equal(found, list(range(len(found))))


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
def the_old_way_is_read():
    equal(len(json_lines(files()['old.dump'].decode())), len(json_lines(weft('dump', '--json', OLD).stdout)))


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
    assert largest_error('tsc') <= 1000


@case
def no_effect_comes_before_its_cause():
    assert shortest_way('xen') >= 0


@case
def the_processors_counter_agrees():
    """To a millisecond: Xen adjusts its time to the platform's timer, which QEMU emulates, late on a busy machine,
    and ticks are converted by two readings, many seconds apart."""
    assert shortest_way('tsc') >= -1000000


main()
