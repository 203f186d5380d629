# SPDX-License-Identifier: ISC
"""Trace contexts through a real hypervisor with two pCPUs: what Xen's trace says of a program's hypercalls, while other programs
make theirs."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
import lab  # noqa: E402
import programs  # noqa: E402
from harness import WEFT, case, equal, json_lines, main, temporary_directory, weft  # noqa: E402

ROUNDS = 200

# The others make hypercalls of their own kinds, on the same vCPUs.
SCRIPT = r'''
mkdir -p /out/both
weft record xen:host --size 8M --events sched,pv,guest -o /out/both/host.xentrace >/out/host.log 2>&1 & tracer=$!
await sh -c 'test $(wc -c </out/both/host.xentrace) -gt 1000'
(while :; do xl list; touch /tmp/listed; done) >/dev/null 2>&1 & other=$!
await test -e /tmp/listed
WEFT_OUT=/out/both/dom0.weft contexts ROUNDS
kill $other
kill -INT $tracer
wait $tracer
weft record xen:host --filter span=hvm_op -o /out/filtered.xentrace >/out/filtered.log 2>&1 & tracer=$!
await sh -c 'contexts 5; test $(wc -c </out/filtered.xentrace) -gt 2000'
kill -INT $tracer
wait $tracer
'''.replace('ROUNDS', str(ROUNDS))


def make():
    return lab.run(SCRIPT, processors=2, programs={'weft': WEFT, 'contexts': programs.for_dom0('contexts')})


files = lab.Once(make)


def read():
    """The trace id of each round of the program by its span id, and the spans of OpenTelemetry of Xen's trace."""
    with temporary_directory() as folder:
        own, xens = os.path.join(folder, 'dom0.weft'), os.path.join(folder, 'host.xentrace')
        for path in (own, xens):
            with open(path, 'wb') as file:
                file.write(files()['both/' + os.path.basename(path)])
        events = json_lines(weft('dump', '--json', own).stdout)
        lines = json_lines(weft('export', '--to', 'otlp-json', '--signal', 'traces', '--start-time', '2026-11-29T14:37:40Z', xens).stdout)
    rounds = {e['fields']['span_id']: e['fields']['trace_id'] for e in events if e['event'] == 'mark'}
    return rounds, [s for line in lines for r in line.get('resourceSpans', []) for scope in r['scopeSpans'] for s in scope['spans']]


@case
def hypercalls_are_children_of_the_programs_spans():
    rounds, every = read()
    of = {s['spanId']: s for s in every}
    contexts = [s for s in every if s['name'] == 'context']
    equal((len(rounds), {rounds.get(s['parentSpanId']) == s['traceId'] for s in contexts}), (ROUNDS, {True}))
    within = collections.defaultdict(set)
    for s in every:
        if of.get(s.get('parentSpanId'), {}).get('name') == 'context':
            within[s['parentSpanId']].add(s['name'])
    asked = [s for s in contexts if 'xen_version' in within[s['spanId']]]
    print('# %d of %d rounds have a context, %d the question; %s' % (
        len(contexts), ROUNDS, len(asked), collections.Counter(name for names in within.values() for name in names).most_common()))
    assert len(asked) > ROUNDS / 2, (len(contexts), len(asked))
    # The other programs' hypercalls are nobody's.
    names = collections.Counter(s['name'] for s in every)
    assert names['sysctl'] > 0, names
    equal([names & {'sysctl', 'domctl'} for names in within.values() if names & {'sysctl', 'domctl'}], [])


@case
def what_a_filter_left_is_no_proof():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'filtered.xentrace')
        with open(path, 'wb') as file:
            file.write(files()['filtered.xentrace'])
        records = json_lines(weft('dump', '--json', path).stdout)
        spans = json_lines(weft('dump', '--json', '--spans', path).stdout)
    assert sum(r['id'] == '0x800f7ec' for r in records) > 9, collections.Counter(r['id'] for r in records)
    equal([s for s in spans if s['span'] == 'context'], [])


main()
