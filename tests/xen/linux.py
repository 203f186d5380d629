# SPDX-License-Identifier: ISC
"""weft in dom0 of a real Xen reads the processes of a Linux guest: several at once, one that is killed, one that stops recording, a
deadlock in a program that nobody changed; and it follows the guest when that is saved and restored. A process of the guest, one of dom0
and Xen's own trace are on one axis."""
import bisect
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
import lab  # noqa: E402
import programs  # noqa: E402
from harness import BUILD, WEFT, case, equal, json_lines, main, skip, temporary_directory, weft  # noqa: E402

ADAPTERS = os.path.join(BUILD, 'adapters', 'libweft-adapters.so')
SUBJECT = os.path.join(BUILD, 'tests', 'thread-subject')
GUEST = r'''
process 16 & killed=$!
process 16 & stopped=$!
weft record -o xen:0 -- thread-subject deadlock & stuck=$!
is_open() {
	[ "$(xenstore-read data/weft/$1/state 2>/dev/null)" = open ]
}
for process in $killed $stopped $stuck; do
	until is_open $process; do usleep 200000; done
done
report processes "$killed $stopped $stuck"
follow ask
versions & asker=$!
until is_open $asker; do usleep 200000; done
report asker $asker
follow answered
kill -TERM $asker
follow kill
kill -KILL $killed
follow restored
until is_open $stopped; do usleep 200000; done
report renewed $stopped
follow stop
kill -USR1 $stopped
follow nothing
'''
SCRIPT = r'''
# try NAME COMMAND…: runs a command, and keeps its output, messages and exit status.
try() {
	_try=$1
	shift
	"$@" >/out/$_try 2>/out/$_try.err && _status=0 || _status=$?
	echo $_status >/out/$_try.status
}
has_ended() {
	! xl domid $1
}
linux mail
before=$domain
await of $before data/processes
set -- $(of $before data/processes)
killed=$1 stopped=$2 stuck=$3
weft collect xen:mail/$stopped -o /out/collected.weft 2>/out/collected.err & collect=$!
weft collect xen:mail/$killed --once -o /out/killed.weft 2>/out/killed.err & once=$!
await test -s /out/collected.weft
await test -s /out/killed.weft
try several weft info xen:mail
try dump weft dump --json xen:mail/$killed xen:mail/$stopped
try info weft info --json xen:mail/$stopped
try problems weft dump --problems xen:mail/$stuck

# Levels. The program of $stuck is one that nobody changed.
try listed weft ls --json
try table weft ls
try wrong weft ctl xen:mail/$stopped set net=debug disk=debug
try quiet weft dump --json xen:mail/$stopped
try set weft ctl xen:mail/$stopped set net=debug
await sh -c "weft dump --json xen:mail/$stopped | grep -q packet"
try levels weft ctl --json xen:mail/$stopped status
try unchanged weft ctl xen:mail/$stuck set '*=trace'

# The processor's counter is what the guest, dom0 and Xen's trace have in common.
mkdir -p /out/joined
tell $before ask
await of $before data/asker
asker=$(of $before data/asker)
weft collect xen:mail/$asker --once -o /out/joined/guest.weft 2>/out/asker.err & asked=$!
await test -s /out/joined/guest.weft
weft record xen:host --size 1M --events sched,pv -o /out/joined/host.xentrace >/out/host.log 2>&1 & tracer=$!
await test -s /out/joined/host.xentrace
WEFT_OUT=/out/joined/dom0.weft versions 300
kill -INT $tracer
wait $tracer
tell $before answered
wait $asked
weft record xen:host --size 2M --events sched --duration 100ms -o /tmp/late.xentrace >/out/late.log 2>&1

tell $before kill
wait $once
say "a process was killed"
try stale weft info xen:mail/$killed
try ended weft ctl xen:mail/$killed set net=debug

xl save mail /tmp/mail.saved
say "the guest was saved"
await has_ended $before
xl list >/out/list
xl restore /tmp/mail.saved
rm /tmp/mail.saved
after=$(xl domid mail)
tell $after restored
await of $after data/renewed
say "the guest goes on"
try renewed weft info --json xen:mail/$stopped
try relisted weft ls --json
await test -s /out/collected-$after.weft
tell $after stop
await sh -c "xenstore-read /local/domain/$after/data/weft/$stopped/state | grep closed"
xl destroy mail
kill -INT $collect
wait $collect
echo "$before $after $killed $stopped $stuck" >/out/numbers
ls /out >/out/names
'''


def make():
    if not os.path.exists(ADAPTERS):
        skip('the adapters are not built')
    process = programs.for_dom0('process')
    versions = programs.for_dom0('versions')
    guest = lab.Guest(GUEST, {'process': process, 'versions': versions, 'weft': WEFT, 'thread-subject': SUBJECT, 'adapters/libweft-adapters.so': ADAPTERS})
    return lab.run(SCRIPT, programs={'weft': WEFT, 'versions': versions}, guest=guest)


files = lab.Once(make)


def text(name):
    return files()[name].decode()


def numbers(events):
    return [event['value'] for event in events if event['event'] == 'tag']


def is_gapless(found):
    return len(found) > 10 and found == list(range(found[0], found[0] + len(found)))


def saved(name):
    """The summary of a trace that was made in dom0, and its numbers."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'saved.weft')
        with open(path, 'wb') as file:
            file.write(files()[name])
        info, = json_lines(weft('info', '--json', path).stdout)
        return info, numbers(json_lines(weft('dump', '--json', path).stdout))


def domains_and_processes():
    return text('numbers').split()


@case
def each_process_is_a_trace():
    killed, stopped, stuck = domains_and_processes()[2:]
    listed = re.search(r'publishes several traces \((\d+), (\d+), (\d+)\)', text('several.err'))
    assert listed and set(listed.groups()) == {killed, stopped, stuck}, text('several.err')
    events = json_lines(text('dump'))
    for buffer in (0, 1):
        assert is_gapless(numbers([event for event in events if event['buffer'] == buffer])), buffer
    info, = json_lines(text('info'))
    equal((info['ending'], info['diagnostics']), ('running', []))


@case
def a_deadlock_in_the_guest_is_found_from_dom0():
    """The program does not know weft: `weft record -o xen:0` loads the adapters into it."""
    equal(text('problems.status'), '0\n', text('problems.err'))
    assert 'deadlock' in text('problems'), text('problems')


@case
def dom0_lists_what_guests_record():
    before, after, killed, stopped, stuck = domains_and_processes()
    rows = {row['guest']: row for row in json_lines(text('listed'))}
    equal({guest: row['program'] for guest, row in rows.items()},
          {'xen:mail/' + killed: 'process', 'xen:mail/' + stopped: 'process', 'xen:mail/' + stuck: 'thread-subject'})
    for row in rows.values():
        equal((row['state'], row['domain'], row['bytes'] % 4096), ('running', int(before), 0), row)
        assert row['events'] > 0 and row['started'] > 0, row
    for line in (r'^guest +state +age +size +events +lost +program$', r'^xen:mail/%s +running +\d+s +64K +\d+ +\d+ +process$' % stopped):
        assert re.search(line, text('table'), re.MULTILINE), text('table')
    # Only one process shares another buffer after the guest has moved.
    equal([(row['guest'], row['domain']) for row in json_lines(text('relisted'))], [('xen:mail/' + stopped, int(after))])


@case
def dom0_sets_levels_in_the_guest():
    """Nothing runs for that in the guest. dom0 waits for the first packet that is recorded then."""
    equal((text('set.status'), text('set.err')), ('0\n', ''))
    assert 'packet' not in text('quiet') and is_gapless(numbers(json_lines(text('quiet')))), text('quiet')
    status, = json_lines(text('levels'))
    equal({category['name']: category['level'] for category in status['categories'] if category['name'] == 'net'}, {'net': 'debug'})
    equal([(change['category'], change['level']) for change in status['changes']], [('net', 'debug')])
    equal(text('wrong.status'), '1\n')
    assert 'no category "disk"' in text('wrong.err'), text('wrong.err')
    equal(text('unchanged.status'), '0\n', text('unchanged.err'))
    assert 'of a process that has ended' in text('ended.err'), text('ended.err')


@case
def a_killed_process_ends():
    info, found = saved('killed.weft')
    equal((info['ending'], info['losses']), ('gone', {}))
    assert is_gapless(found) and found[0] == 0, found
    assert 'of a process that has ended' in text('stale.err'), text('stale.err')


@case
def a_saved_guest_ends_and_the_restored_one_is_followed():
    """It has another number and no grants. The process notices it and shares another buffer."""
    before, after = domains_and_processes()[:2]
    assert '(null)' not in text('list') and 'mail' not in text('list'), text('list')
    info, found = saved('collected.weft')
    equal((info['ending'], info['diagnostics']), ('destroyed', []), before)
    assert is_gapless(found) and found[0] == 0, found
    info, later = saved('collected-%s.weft' % after)
    equal((info['ending'], info['diagnostics']), ('stop', []))
    assert is_gapless(later) and later[0] > found[-1], (found[-1], later[:1])


def joined():
    """The summary and the events of the three traces, opened together."""
    with temporary_directory() as folder:
        for name in ('guest.weft', 'dom0.weft', 'host.xentrace'):
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(files()['joined/' + name])
        info, = json_lines(weft('info', '--json', folder).stdout)
        return info, json_lines(weft('dump', '--json', folder).stdout)


@case
def xens_buffers_get_their_size_once():
    assert 'Xen' not in text('host.log'), text('host.log')
    assert 'Xen keeps the buffers that it has since boot; --size is too late' in text('late.log'), text('late.log')


def tags(found, text, buffer):
    return {event['value']: event['time'] for event in found
            if event['event'] == 'tag' and event['text'] == text and event['buffer'] == buffer}


@case
def a_guests_process_is_on_the_axis_of_dom0_and_xen():
    """Each question to Xen is in Xen's trace between the process's event before and after it, for the guest and for dom0."""
    info, found = joined()
    names = [buffer['program'] for buffer in info['buffers']]
    error = info['clock']['error_ns']
    print('# error %d ns, %s' % (error, names))
    assert info['clock']['comparisons'] > 1 and error < 10000000, info['clock']
    hypercalls = [event for event in found if event['event'] == 'begin' and event['name'] == 'xen_version']
    for process, domain in (('mail/versions', 'mail'), ('versions', 'domain 0')):
        calls = sorted(event['time'] for event in hypercalls if event['buffer'] == names.index(domain))
        before, after = (tags(found, text, names.index(process)) for text in ('before', 'after'))
        # Xen's trace begins after the guest's and ends before it.
        rounds = [i for i in after if i in before and calls[0] <= before[i] - error and after[i] + error <= calls[-1]]
        met = [i for i in rounds if any_between(calls, before[i] - error, after[i] + error)]
        print('# %s: %d of %d questions lie between; half of them took up to %d ns' % (
            process, len(met), len(rounds), sorted(after[i] - before[i] for i in rounds)[len(rounds) // 2]))
        assert len(rounds) > 100, len(rounds)
        assert len(met) == len(rounds) or (sum(info['losses'].values()) and len(met) > 100), (len(met), len(rounds))


def any_between(times, low, high):
    at = bisect.bisect_left(times, low)
    return at < len(times) and times[at] <= high


main()
