# SPDX-License-Identifier: ISC
"""A real Xen: xl makes a guest under the adapter xen, which shows what it asks of Xen, and of which domain. Xen's own trace has each
of these hypercalls, inside of the time that the adapter shows."""
import functools
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
ESRCH = 3
SCRIPT = r'''
mkdir -p /sys/kernel/tracing
mount -t tracefs tracefs /sys/kernel/tracing
cat >/tmp/small.cfg <<END
name='small'
type='pv'
kernel='/lab/guest'
memory=16
vcpus=1
extra='pages=64'
END
weft record xen:host --processes --size 4M -a xen -o /out/xl -- xl create /tmp/small.cfg >/out/host.log 2>&1
xl domid small >/out/domain
domain=$(cat /out/domain)

say "programs ask for grants and events"
await of $domain data/weft/0/state
weft record -a xen -o /out/map.weft -- map $domain weft/0 /tmp/mapped
tell $domain ping
await of $domain data/port
weft record -a xen -o /out/absorb.weft -- absorb $domain & recorder=$!
await sh -c 'weft dump $(pidof absorb) | grep -q bind_interdomain'
kill -TERM $(pidof absorb)
wait $recorder || true

say "calls that fail, and output"
xl pause 77 >/out/alone 2>&1 || echo $? >>/out/alone
weft record -a xen -o /out/fails.weft -- xl pause 77 >/out/recorded 2>/tmp/messages || echo $? >>/out/recorded
grep -v '^weft: ' /tmp/messages >>/out/recorded

say "programs end, or are not there, while Xen records"
for program in 'sh -c "kill -TERM \$\$"' nothing; do
	eval weft record xen:host -o /tmp/ended -- $program >/tmp/messages 2>&1 || echo "$program: $?" >>/out/ended
	test -s /tmp/ended/xen-host.xentrace
	rm -r /tmp/ended
done
! pidof xentrace
weft record xen:host -o /tmp/asked -- sh -c 'trap "exit 7" TERM; touch /tmp/trapped; while :; do sleep 0.1; done' & asked=$!
await test -e /tmp/trapped
kill -TERM $asked
wait $asked || echo "asked: $?" >>/out/ended
! pidof xentrace
weft record xen:host --duration 100ms -o /tmp/short -- sh -c 'sleep 3; exit 3' || echo "short: $?" >>/out/ended
'''


def make():
    if not os.path.exists(ADAPTERS):
        skip('the adapters are not built')
    of_dom0 = {name: programs.for_dom0(name) for name in ('absorb', 'map')}
    return lab.run(SCRIPT, programs={'weft': WEFT, 'adapters/libweft-adapters.so': ADAPTERS, **of_dom0},
                   files={'guest': programs.guest()})


files = lab.Once(make)


def domain():
    return int(files()['domain'])


def processes():
    """The names of xl's traces, its first process first."""
    names = [name for name in files() if name.startswith('xl/') and name.endswith('.weft')]
    return sorted(names, key=lambda name: int(re.search(r'-(\d+)\.weft', name).group(1)))


@functools.cache
def calls(name):
    """The spans, with the tags that came while they were open."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'one.weft')
        with open(path, 'wb') as file:
            file.write(files()[name])
        events = json_lines(weft('dump', '--json', path).stdout)
    made, now = [], None
    for event in events:
        if event['event'] == 'begin':
            now = {'name': event['name'], 'start': event['time']}
        elif event['event'] == 'tag' and now:
            now[event['text']] = event['value']
        elif event['event'] == 'end' and now:
            made.append({**now, 'end': event['time']})
            now = None
    return made


def named(name, what):
    found = [call for call in calls(name) if call['name'] == what]
    assert found, (what, sorted({call['name'] for call in calls(name)}))
    return found


@case
def a_domain_is_created():
    """Its number is in Xen's answer."""
    equal([call['domain'] for call in named(processes()[0], 'domctl createdomain')], [domain()])


@case
def calls_say_of_which_domain():
    for what in ('domctl max_mem', 'domctl max_vcpus', 'domctl unpausedomain', 'memory_op populate_physmap', 'mmuext_op pin_l4_table',
                 'event_channel_op alloc_unbound', 'privcmd mmapbatch_v2'):
        equal({call.get('domain') for call in named(processes()[0], what)}, {domain()}, what)


@case
def all_sub_commands_have_names():
    """Those of Xen 4.17."""
    equal([call for name in processes() for call in calls(name) if 'number' in call or call['name'] in ('domctl', 'multicall')], [])


@case
def other_processes_of_xl_have_theirs():
    """The one that stays, and waits for the domain's end."""
    assert len([name for name in processes() if calls(name)]) > 1, processes()


@case
def each_hypercall_is_in_xens_trace():
    """Within the adapter's span, and in the row of the process."""
    own = calls(processes()[0])
    pid = re.search(r'-(\d+)\.weft', processes()[0]).group(1)
    with temporary_directory() as folder:
        paths = [os.path.join(folder, name) for name in ('xl-%s.weft' % pid, 'host.xentrace')]
        for path, name in zip(paths, (processes()[0], 'xl/xen-host.xentrace')):
            with open(path, 'wb') as file:
                file.write(files()[name])
        rows = json_lines(weft('query', '--json', *paths, "select t.kind, t.label, s.name, s.start, s.end from spans s join tasks t using (task)"
                               " where t.label = 'xl %s' or (t.kind = 'thread' and t.label = 'xl')" % pid).stdout)
        lost, = json_lines(weft('query', '--json', paths[1], 'select coalesce(sum(events), 0) lost from losses').stdout)
    of_xen = [row for row in rows if row['kind'] == 'process']
    shown = [row for row in rows if row['kind'] == 'thread' and row['name'].split()[0] in
             ('domctl', 'sysctl', 'memory_op', 'event_channel_op', 'mmuext_op', 'xen_version', 'xsm_op')]
    missing = [row['name'] for row in shown if not any(
        it['name'].split(' ')[0] in (row['name'].split()[0], 'multicall') and row['start'] <= it['start'] < row['end'] for it in of_xen)]
    print('# %d calls of xl, %d of them not found; %d records lost' % (len(shown), len(missing), lost['lost']))
    assert len(shown) > 50 and len(shown) <= len(own), len(shown)
    assert len(missing) <= lost['lost'], (missing, lost)


@case
def xen_is_recorded_as_long_as_the_program():
    """weft ends as the program ends, and Xen's trace is off then."""
    equal(files()['ended'].decode().splitlines(), ['sh -c "kill -TERM \\$\\$": 143', 'nothing: 127', 'asked: 7', 'short: 3'])
    log = files()['host.log'].decode()
    assert '`weft view /out/xl/` shows the program and Xen together' in log, log


@case
def grants_and_events_are_shown():
    pages, = {call['count'] for call in named('map.weft', 'gntdev map_grant_ref') if call['domain'] == domain()}
    assert pages > 10, pages
    equal({call['domain'] for call in named('absorb.weft', 'evtchn bind_interdomain')}, {domain()})
    assert named('absorb.weft', 'evtchn bind_interdomain')[0]['port'] > 0


@case
def a_call_that_fails_has_its_error():
    """xl says the same, and ends with the same status, as alone."""
    equal(files()['recorded'], files()['alone'])
    assert [call for call in calls('fails.weft') if call.get('error') == ESRCH], calls('fails.weft')


main()
