# SPDX-License-Identifier: ISC
"""weft in dom0 of a real Xen counts what each domain uses, by the hypervisor's figures: they are those of `xl list`, and the agent's
totals go on when a domain begins again."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
import lab  # noqa: E402
import programs  # noqa: E402
from harness import WEFT, case, equal, json_lines, main  # noqa: E402

SCRIPT = r'''
create small guest "extra='pages=64'" "vcpus=2"
small=$domain
create large guest "type='pvh'" "extra='pages=64'"
await recorded $small 100
await recorded $domain 100
xl list >/out/list.before
weft metrics --json >/out/usage.json
weft metrics --prometheus >/out/usage.prometheus
weft top --once >/out/usage.top
xl list >/out/list.after

ledger() {
	weft agent ledger --json --data /tmp/agent.db
}
# The domain ends and begins again while the agent looks.
weft agent --folder /tmp/agent --data /tmp/agent.db >/out/agent.log 2>&1 &
agent=$!
await sh -c "weft agent ledger --json --data /tmp/agent.db | grep xen:small"
ledger >/out/ledger.first
weft metrics --json >/out/usage.first
xl destroy small
await sh -c "! xl domid small"
create small guest "extra='pages=64'"
await recorded $domain 100
weft metrics --json >/out/usage.second
kill -TERM $agent
wait $agent
ledger >/out/ledger.second
'''

files = lab.Once(lambda: lab.run(SCRIPT, programs={'weft': WEFT}, files={'guest': programs.guest()}))


def usage(name):
    """The counters of each domain."""
    found = {}
    for row in json_lines(files()[name].decode()):
        if row['program'].startswith('xen:'):
            found.setdefault(row['program'][4:], {})[row['counter'], *row.get('labels', {}).values()] = row['value']
    return found


def listed(name):
    """Memory in MiB, vCPUs that are online, and seconds of each domain, as `xl list` prints them."""
    rows = [line.split() for line in files()[name].decode().splitlines()[1:]]
    return {row[0]: (int(row[2]), int(row[3]), float(row[5])) for row in rows}


@case
def domains_are_counted_as_xl_does():
    found = usage('usage.json')
    before, after = listed('list.before'), listed('list.after')
    equal((sorted(found), sorted(before)), (['Domain-0', 'large', 'small'],) * 2)
    for name, counters in found.items():
        # xl prints seconds with one digit behind the point.
        assert before[name][2] - 0.051 <= counters['xen_cpu_seconds',] <= after[name][2] + 0.051, (name, counters, before, after)
        equal(counters['xen_cpu_seconds',], counters['xen_cpu_seconds', '0'], name)
        states = [counters['xen_vcpus', state] for state in ('running', 'runnable', 'blocked', 'offline')]
        equal((counters['xen_memory_bytes',] >> 20, sum(states[:3])), before[name][:2], name)
        equal((sum(states), states[3]), (counters['xen_vcpus',], int(name == 'small')), name) # its second vCPU was never brought up
    equal(found['Domain-0']['xen_vcpus', 'running'], 1) # it asks
    assert re.search(rb' xen:small \d+\n +[0-9.]+ m?s +xen_cpu_seconds\n', files()['usage.top']), files()['usage.top']


@case
def a_domain_has_a_number_and_no_pid():
    text = files()['usage.prometheus'].decode()
    assert re.search(r'^xen_cpu_seconds_total{program="xen:Domain-0",domain="0",vcpu="0"} [0-9.]+$', text, re.MULTILINE), text
    assert 'pid="' not in text, text


@case
def totals_go_on_when_a_domain_begins_again():
    def totals(name):
        return {row['program']: row['total'] / 1e9 for row in json_lines(files()[name].decode())
                if row['metric'] == 'xen_cpu_seconds' and not row['labels']}
    first, second = totals('ledger.first'), totals('ledger.second')
    used, new = usage('usage.first'), usage('usage.second')
    assert first['xen:small'] <= used['small']['xen_cpu_seconds',], (first, used)
    # The use of the first domain after the agent's last look is unknown.
    assert second['xen:small'] >= first['xen:small'] + new['small']['xen_cpu_seconds',], (first, second, new)
    assert second['xen:Domain-0'] >= new['Domain-0']['xen_cpu_seconds',], (second, new)
    equal(files()['agent.log'], b'')


main()
