# SPDX-License-Identifier: ISC
"""weft in dom0 of a real Xen reads guests: while they run, after a crash, across a reboot, when they are destroyed, and while one of
them damages its buffer."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
import lab  # noqa: E402
import programs  # noqa: E402
from harness import WEFT, case, equal, json_lines, main, temporary_directory, weft  # noqa: E402

SCRIPT = r'''
# try NAME COMMAND…: runs a command, and keeps its output, messages and exit status.
try() {
	_try=$1
	shift
	"$@" >/out/$_try 2>/out/$_try.err && _status=0 || _status=$?
	echo $_status >/out/$_try.status
}
zombies() {
	xl list | grep -c null
}
no_zombie() {
	! zombies
}

create web guest "extra='pages=64'"
web=$domain
create other guest "extra='pages=64 tsc seed=7'"
other=$domain
await of $web data/weft/0/state
await of $other data/weft/0/state
weft collect xen:web -o /out/web.weft 2>/out/web.err & collect=$!
weft collect xen:all -o /out/all --max-size 8M 2>/out/all.err & all=$!
weft tail --json xen:web >/out/tail.json 2>/out/tail.err & tail=$!
try running.json weft dump --json xen:web
try number.json weft info --json xen:$web
try both.json weft dump --json xen:web xen:other
try nobody weft dump xen:mail
try dom0 weft info xen:Domain-0
try buffer weft info xen:web/7
refs=$(of $web data/weft/0/ring-ref-0)
xenstore-write /local/domain/$web/data/mprof/ring-ref "$refs"
try several weft info xen:web
try old.json weft dump --json xen:web/mprof
xenstore-rm /local/domain/$web/data/mprof

say "a storm of events"
create storm guest "extra='pages=256'"
storm=$domain
await of $storm data/weft/0/state
xenstore-write /local/domain/$storm/data/peer 0
weft collect xen:storm --once -o /out/storm.weft 2>/out/storm.err & follower=$!
weft tail --json xen:storm >/dev/null 2>/out/storm-tail.err & tailer=$!
xentrace -D -e all /tmp/storm.xentrace >/dev/null 2>&1 & tracer=$!
xenstore-write /local/domain/$storm/data/command storm
await of $storm data/port
absorb $storm 2>/out/absorb.err & absorber=$!
sleep 2
for process in $follower $tailer; do grep VmHWM /proc/$process/status; done >/out/storm.memory
kill -INT $tracer
wait $tracer || true
xenstore-write /local/domain/$storm/data/command pause
await of $storm data/raised
of $storm data/raised >/out/storm.raised
of $storm data/number >/out/storm.requests
kill $absorber
xl destroy storm
wait $follower
wait $tailer
try storm.info weft info --json /tmp/storm.xentrace
rm /tmp/storm.xentrace

say "a guest damages its buffer"
xenstore-write /local/domain/$other/data/command hostile
await sh -c "xenstore-read /local/domain/$other/data/state | grep hostile"
for round in 1 2 3; do
	try hostile$round weft dump --json xen:other
	say "read $(cat /out/hostile$round.status)"
done
say "its buffer was read"
try hostile-render weft render xen:other -o /out/hostile.svg
try hostile-tail timeout -s INT 3 weft tail --json xen:other
say "it was followed"
xl destroy $other
await no_zombie
rm -f /out/hostile-tail /out/hostile[1-3]

say "a guest crashes"
xenstore-write /local/domain/$web/data/command crash
await is_state $web c
say "it has crashed"
wait $tail
say "tail has ended"
try crashed.json weft dump --json xen:web
try crashed.info weft info --json xen:web
say "the crash was read"
xl destroy $web
await no_zombie

say "a guest reboots"
create web guest "extra='pages=64'" "on_reboot='restart'"
before=$domain
await of $before data/weft/0/state
usleep 500000
xenstore-write /local/domain/$before/data/command reboot
await sh -c 'test "$(xl domid web)" -gt '$before
after=$(xl domid web)
await of $after data/weft/0/state
await test -s /out/web-$after.weft

say "a guest is destroyed"
xl destroy $after
await no_zombie
echo "$web $before $after $other" >/out/numbers
kill -INT $collect $all
wait $collect
wait $all
'''

files = lab.Once(lambda: lab.run(SCRIPT, programs={'weft': WEFT, 'absorb': programs.for_dom0('absorb')}, files={'guest': programs.guest()}))


def text(name):
    return files()[name].decode()


def numbers(events):
    return [event['value'] for event in events if event['event'] == 'tag']


def is_gapless(found):
    return len(found) > 10 and found == list(range(found[0], found[0] + len(found)))


def saved(name):
    """The summary of a trace that was made in dom0, and its events."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'saved.weft')
        with open(path, 'wb') as file:
            file.write(files()[name])
        info, = json_lines(weft('info', '--json', path).stdout)
        return info, json_lines(weft('dump', '--json', path).stdout)


def domains():
    return text('numbers').split()


@case
def a_running_guest_is_a_trace():
    equal(text('running.json.status'), '0\n', text('running.json.err'))
    assert is_gapless(numbers(json_lines(text('running.json'))))
    info, = json_lines(text('number.json'))
    equal((info['ending'], info['clock']['name'], info['diagnostics']), ('running', 'xen', []))


@case
def messages_name_the_domain():
    for name, message in (('nobody', "there is no domain 'mail'"), ('dom0', "domain 'Domain-0' (id 0) publishes no trace"),
                          ('buffer', "domain 'web' (id %s) publishes no trace" % domains()[0]),
                          ('several', 'publishes several traces (0, mprof)')):
        assert message in text(name + '.err'), text(name + '.err')
        equal(text(name + '.status'), '3\n', name)


@case
def the_old_way_is_read():
    equal(text('old.json.status'), '0\n', text('old.json.err'))
    assert is_gapless(numbers(json_lines(text('old.json'))))


@case
def two_guests_are_one_trace():
    equal(text('both.json.status'), '0\n', text('both.json.err'))
    events = json_lines(text('both.json'))
    equal([event['time'] for event in events], sorted(event['time'] for event in events))
    processes = {number: [event for event in events if event['process'] == int(number)] for number in (domains()[0], domains()[3])}
    for number, own in processes.items():
        assert is_gapless(numbers(own)), number
    # They recorded at the same time: the latest events are at most as far apart as the copies.
    last = [own[-1]['time'] for own in processes.values()]
    assert abs(last[0] - last[1]) < 20e9, last


@case
def what_follows_ends_with_the_crash():
    tail = numbers(json_lines(text('tail.json')))
    assert is_gapless(tail)
    for name in ('web.weft', 'all/web-%s.weft' % domains()[0]):
        info, events = saved(name)
        found = numbers(events)
        assert is_gapless(found) and found[-1] == tail[-1], (name, found[-5:], tail[-5:])
        equal((info['ending'], info['diagnostics']), ('crashed', []), name)
        # The oldest requests may be overwritten while dom0 begins to read.
        assert set(info['losses']) <= {'overwritten', 'stalled'}, info['losses']


@case
def a_crashed_guest_can_be_read():
    equal(text('crashed.json.status'), '0\n', text('crashed.json.err'))
    found = numbers(json_lines(text('crashed.json')))
    assert is_gapless(found) and found[-1] == numbers(json_lines(text('tail.json')))[-1], found[-5:]
    equal(json_lines(text('crashed.info'))[0]['ending'], 'crashed')


@case
def the_next_domain_of_that_name_is_followed():
    for number in domains()[1:3]:
        for name in ('web-%s.weft', 'all/web-%s.weft'):
            info, events = saved(name % number)
            found = numbers(events)
            assert is_gapless(found) and found[0] == 0, (name, number)
            equal((info['ending'], info['losses'], info['diagnostics']), ('destroyed', {}, []), name)


@case
def a_storm_is_counted():
    """A guest records and raises events as fast as it can: dom0 saves or counts each of them, and so does xentrace."""
    raised, requests = int(text('storm.raised')), int(text('storm.requests'))
    info, events = saved('storm.weft')
    found = [event['value'] for event in events if event['event'] == 'tag' and event['text'] == 'raised']
    equal(len(events) + sum(info['losses'].values()), raised + 6 * requests, info['losses'])
    assert found == sorted(found) and found[-1] == raised - 1, found[-5:]
    memory = [int(line.split()[1]) for line in text('storm.memory').splitlines()]
    trace, = json_lines(text('storm.info'))
    print('# raised %d, saved %d; collect and tail took %s KiB; xentrace lost %s' % (raised, len(found), memory, trace['losses']))
    assert max(memory) < 65536, memory
    equal(trace['diagnostics'], [])


@case
def a_hostile_guest_harms_its_own_trace_only():
    for name in ('hostile1', 'hostile2', 'hostile3', 'hostile-render', 'hostile-tail'):
        assert text(name + '.status') in ('0\n', '3\n', '130\n'), (name, text(name + '.status'), text(name + '.err'))
    size = sum(len(content) for name, content in files().items() if name.startswith('all/other'))
    assert size <= 8 << 20, size
    equal(saved('all/web-%s.weft' % domains()[0])[0]['diagnostics'], [])


main()
