# SPDX-License-Identifier: ISC
"""weft agent --http: Alertmanager's webhook takes snapshots; nothing is done without the token, or for what is no message."""
import json
import os
import signal

from agent_host import alert_of
from agent_http_side import alert, serving
from harness import WEFT, case, equal, main, run, temporary_directory, weft
from prometheus import check, families, need_promtool
from waiting import status_of, wait_until


@case
def an_alert_takes_a_snapshot_of_what_its_labels_name():
    with serving() as (it, program, agent):
        other = it.program()
        it.tell(other, 'bolt 1 5')
        it.looks(agent.process)
        equal(agent.send(alert('Slow', customer='acme', job='weft'), alert('Over', 'resolved', '2', customer='bolt')), (200, 'alerts that fire: 1\n'))
        wait_until('a snapshot', it.taken, agent.process, seen=it.said)
        path, = it.taken()
        assert 'agent-subject-%d.' % program.pid in path, path
        row = alert_of(path)
        equal((row['name'], row['value'], row['rule']), ('Slow', 'it is "slow"', '{"alertname":"Slow","customer":"acme","job":"weft"}'))
        assert 'Alert Slow fired at ' in weft('dump', '--problems', path).stdout
        agent.send(alert('Slow', customer='acme', job='weft'))  # once more, as Alertmanager repeats it
        agent.send(alert('Nobody', key='3', customer='none'), alert('Both', key='4', customer='acme', pid=str(other.pid)), alert('All', key='5'))
        wait_until('it says so', lambda: it.said().count('no running program has its labels') == 3, agent.process, seen=it.said)
        equal(len(it.taken()), 1)
        agent.send(alert('Pid', key='6', pid=str(other.pid)))
        wait_until('a snapshot', lambda: len(it.taken()) == 2, agent.process, seen=it.said)
        assert [path for path in it.taken() if 'agent-subject-%d.' % other.pid in path]
        agent.process.send_signal(signal.SIGTERM)
        equal(status_of(agent.process), 0, it.said())


@case
def an_alert_is_tried_again_until_there_is_a_snapshot():
    with serving() as (it, _, agent):
        late = alert('Late', key='2', customer='late')
        equal(agent.send(late)[0], 200)
        wait_until('nobody has it', lambda: '"Late": no running program has its labels' in it.said(), agent.process, seen=it.said)
        it.program('late 1 5')
        it.looks(agent.process)
        equal(agent.send(late)[0], 200)
        wait_until('a snapshot', lambda: len(it.taken()) == 1, agent.process, seen=it.said)


@case
def alerts_without_a_fingerprint_are_not_taken_for_each_other():
    with serving() as (it, _, agent):
        first, second = (dict(alert(name, customer='acme'), fingerprint=None) for name in ('First', 'Second'))
        equal(agent.send(first, second), (200, 'alerts that fire: 2\n'))
        wait_until('two snapshots', lambda: len(it.taken()) == 2, agent.process, seen=it.said)


@case
def requests_without_the_token_do_nothing():
    with serving() as (it, _, agent):
        body = json.dumps({'version': '4', 'alerts': [alert('Slow', customer='acme')]})
        for status, headers in ((401, {'Authorization': ''}), (401, {'Authorization': 'Bearer ' + 'a' * 32}), (401, {'Authorization': 'Bearer ' + agent.token[:-1]}),
                                (403, {'Origin': 'http://127.0.0.1:%d' % agent.port}), (421, {'Host': 'example.org'})):
            equal(agent.ask('POST', '/alert', body, **headers)[0], status, headers)
            equal(agent.ask('GET', '/metrics', **headers)[0], status, headers)
        equal(agent.ask('GET', '/alert')[0], 405)
        equal(agent.ask('POST', '/metrics', body)[0], 405)
        equal(agent.ask('DELETE', '/metrics')[0], 405)
        equal(agent.ask('GET', '/')[0], 404)
        it.looks(agent.process)
        equal(it.taken(), [])


@case
def bodies_that_are_no_messages_are_refused():
    with serving() as (it, _, agent):
        for body, why in (('', 'not JSON'), ('{', 'not JSON'), ('[' * 100000, 'not JSON'), ('"x"', 'no list of alerts'), ('{"version":"4"}', 'no list'),
                          ('{"version":"4","alerts":{}}', 'no list'), ('{"version":"3","alerts":[]}', 'version 4'), ('\0' * 100, 'not JSON')):
            status, text = agent.ask('POST', '/alert', body)
            equal(status, 400, body[:20])
            assert why in text, (body[:20], text)
        equal(agent.ask('POST', '/alert', ' ' * 300000)[0], 413)
        for alerts, count in (([], 0), ([1, 'x', None, [], {}], 0), ([alert('A')] * 1000, 64), ([{'status': 'firing'}], 1),
                              ([{'status': 'firing', 'labels': [1], 'annotations': 5, 'startsAt': {}}], 1)):
            status, text = agent.ask('POST', '/alert', json.dumps({'version': '4', 'alerts': alerts}))
            assert (status, text) == (200, 'alerts that fire: %d\n' % count) or b'[1' in json.dumps(alerts).encode() and status == 400, (str(alerts)[:60], status, text)
        it.looks(agent.process)
        equal(agent.process.poll(), None, it.said())


def series(agent, accept='text/plain'):
    """{(name, the program's labels…): value} of the subject's series, without that of the kernel, which changes by itself."""
    status, text = agent.ask('GET', '/metrics', Accept=accept)
    equal(status, 200, text)
    own = {'program', 'uid'}
    found = {}
    for family in families(text, 'openmetrics' if 'openmetrics' in accept else 'prometheus').values():
        for name, labels, value in (sample[:3] for sample in family['samples']):
            if labels.get('program') == 'agent-subject' and name != 'weft_run_queue_seconds':
                equal(labels['uid'], str(os.getuid()))
                found[(name, *('%s=%s' % pair for pair in labels.items() if pair[0] not in own))] = value
    return found


@case
def metrics_have_the_durable_levels():
    with serving('--depth', '1') as (it, program, agent):
        it.tell(program, 'acme 2 7', 'bolt 1 100', 'alone 9 3')
        it.looks(agent.process)
        equal(series(agent), {('bytes_total', 'customer=acme'): 12, ('bytes_total', 'customer=bolt'): 100, ('bytes_total', 'vm=9'): 3})


@case
def openmetrics_have_the_largest_value_of_late():
    with serving() as (it, program, agent):
        it.tell(program, 'took acme 1500', 'took acme 1500000')
        it.looks(agent.process)
        status, text = agent.ask('GET', '/metrics', Accept='application/openmetrics-text')
        equal(status, 200)
        found = [it for it in families(text, 'openmetrics')['latency_seconds']['exemplars'] if it[1].get('customer') == 'acme']
        equal([(it[0], it[1]['le'], it[3]) for it in found], [('latency_seconds_bucket', '0.002097152', 0.0015)])
        assert '# {' not in agent.ask('GET', '/metrics')[1]


@case
def metrics_go_on_when_a_program_starts_again():
    with serving() as (it, program, agent):
        it.tell(program, 'took acme 1500', 'took acme 1500000', 'level 4')
        other = it.program('acme 1 2', 'took bolt 3000000000', 'level 5')
        it.looks(agent.process)
        before = series(agent)
        equal(before[('bytes_total', 'customer=acme', 'vm=1')], 7)
        equal(before[('level',)], 9)
        equal(before[('latency_seconds_sum', 'customer=acme')], 0.0015015)
        equal((before[('latency_seconds_count', 'customer=acme')], before[('latency_seconds_count', 'customer=bolt')]), (2, 1))
        bounds = {customer: sorted(key[2] for key in before if key[:2] == ('latency_seconds_bucket', 'customer=' + customer)) for customer in ('acme', 'bolt')}
        equal(*bounds.values())  # so that they can be added
        equal(before[('latency_seconds_bucket', 'customer=acme', 'le=2.048e-06')], 1)
        equal(before[('latency_seconds_bucket', 'customer=acme', 'le=+Inf')], 2)
        it.kill(program)
        it.kill(other)
        it.looks(agent.process)
        ended = {key: value for key, value in before.items() if key != ('level',)}
        equal(series(agent), ended)
        it.program('acme 1 10')
        it.looks(agent.process)
        equal(series(agent), {**ended, ('bytes_total', 'customer=acme', 'vm=1'): 17})
        equal(series(agent, 'application/openmetrics-text'), series(agent))
        need_promtool()
        check(agent.ask('GET', '/metrics')[1])


@case
def wrong_use_is_reported():
    for address in ('127.0.0.1', 'x:y', '::1:5', '127.0.0.1:99999'):
        with temporary_directory() as folder:
            result = run([WEFT, 'agent', '--once', '--only-folder', '--folder', folder + '/f', '--data', folder + '/d.db', '--http', address])
            equal(result.returncode, 2, address)
            equal(os.listdir(folder), [], 'nothing was made')
            assert '--http: "%s" is not ADDRESS:PORT' % address in result.stderr, result.stderr
    assert '--depth: "x" is not a number' in weft('agent', '--depth', 'x', status=2).stderr


main()
