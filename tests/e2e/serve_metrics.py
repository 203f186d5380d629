# SPDX-License-Identifier: ISC
"""The counters of running programs over HTTP, and a real Prometheus that asks for them."""
import contextlib
import os
import sqlite3

from agent_http_side import serving
from counting import RUN_QUEUE, TYPED, program
from harness import case, equal, main, temporary_directory
from prometheus import Prometheus, check, families, need_promtool
from server import Server
from waiting import wait_until

OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
TEXT = 'text/plain; version=0.0.4; charset=utf-8'
# As Prometheus 2.42 asks.
ACCEPT = 'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'


def mine(it, name):
    """A name that no other program of this machine has with another type."""
    return '%s_of_%d' % (name, it.pid)


def of_program(found, it):
    """{metric: value} of one program: others of this machine have counters, too."""
    return {sample[0]: sample[2] for family in found.values() for sample in family['samples']
            if sample[1].get('pid') == str(it.pid) and sample[0] != RUN_QUEUE}


@case
def both_formats_are_served():
    with Server() as server, program() as it:
        it.tell(mine(it, 'requests') + ' 3', mine(it, 'disk/used%') + ' 80', mine(it, 'load') + ' 0.5')
        for accept, kind, form in ((ACCEPT, OPENMETRICS, 'openmetrics'), ('text/plain', TEXT, 'prometheus'), ('*/*', TEXT, 'prometheus')):
            status, headers, body = server.get('/metrics', Accept=accept)
            equal((status, headers['content-type']), (200, kind), accept)
            found = families(body.decode(), form)
            equal(of_program(found, it), {mine(it, 'requests'): 3, mine(it, 'disk_2f_used_25_'): 80, mine(it, 'load'): 0.5})
            equal(len(found['weft_metrics_left_out']['samples']), 1)
        equal(server.get('/metrics')[1]['content-type'], TEXT)
        it.tell(mine(it, 'requests') + ' 4')
        equal(of_program(families(server.get('/metrics')[2].decode(), 'prometheus'), it)[mine(it, 'requests')], 7)


@case
def promtool_finds_no_fault():
    need_promtool()
    with Server() as server, program() as it:
        it.tell(mine(it, 'requests') + ' 3')
        lines = server.get('/metrics')[2].decode().splitlines(keepends=True)
        check(''.join(line for line in lines if mine(it, 'requests') in line))


@case
def requests_are_guarded_as_all_others():
    with Server() as server:
        status, headers, body = server.get('/metrics', method='HEAD')
        equal((status, body, headers['content-type']), (200, b'', TEXT))
        equal(server.get('/metrics', token=False)[0], 403)
        equal(server.get('/metrics', token='x' * 32)[0], 403)
        equal(server.get('/metrics?token=' + server.token, token=False)[0], 200)
        equal(server.get('/metrics', Origin='http://evil.example')[0], 403)
        equal(server.get('/metrics', Sec_Fetch_Site='cross-site')[0], 403)
        equal(server.get('/metrics', Host='evil.example')[0], 421)
        equal(server.get('/metrics', method='POST')[0], 405)
        equal(server.get('/metrics?depth=0')[0], 200)
        for depth in ('-1', 'x', '1x', '', '99999999999999999999'):
            equal(server.get('/metrics?depth=' + depth)[0], 400, depth)


def parse(text):
    """{(name, labels): value} of the agent's subject."""
    return {(sample[0], *sorted(sample[1].items())): sample[2] for family in families(text, 'prometheus').values()
            for sample in family['samples'] if sample[1].get('program') == 'agent-subject'}


@case
def an_agents_samples_are_served_where_one_looks():
    with serving() as (it, program, agent), Server(env={'XDG_STATE_HOME': '/nowhere', 'WEFT_AGENT': it.folder}) as without, \
            Server('--data', it.data) as server:
        def served():
            return parse(server.get('/metrics')[2].decode())
        it.tell(program, 'took acme 1500', 'level 4')
        other = it.program('acme 1 2', 'level 5')
        it.looks(agent.process)
        before, after = served(), parse(agent.ask('GET', '/metrics')[1])
        equal(set(before), set(after))
        moving, = [name for name in before if name[0] == 'weft_run_queue_seconds']  # of a program that still runs
        assert before.pop(moving) <= after.pop(moving)
        equal(before, after)
        key = 'bytes_total', ('customer', 'acme'), ('program', 'agent-subject'), ('uid', str(os.getuid())), ('vm', '1')
        equal((before[key], [before[name] for name in before if name[0] == 'level']), (7, [9]))
        if os.getuid():  # without that database, and as no agent looks: one for each process
            assert ('pid', str(other.pid)) in [label for name in parse(without.get('/metrics')[2].decode()) for label in name[1:]]
        it.kill(program)
        it.kill(other)
        it.program('acme 1 10')
        it.looks(agent.process)
        equal(served()[key], 17)
        it.kill(agent.process)
        with contextlib.closing(sqlite3.connect(it.data)) as database:
            database.execute('UPDATE watched SET stop = stop - 3600')
            database.commit()
        status, _, body = server.get('/metrics')
        equal((status, body), (503, b'no weft agent looks, so the values are not known\n'))
        again = it.agent()
        it.looks(again)
        equal(served()[key], 17)


@case
def once_an_agent_has_looked_there_is_no_way_back():
    """To series of processes, which would be added to its own. The database of root has one place, so the server is another user's."""
    other = None if os.getuid() else 65534
    with serving() as (it, _, agent), temporary_directory() as state, Server(env={'XDG_STATE_HOME': state}, user=other) as server:
        equal([server.get('/metrics')[0], b'uid="' in server.get('/metrics')[2]], [200, False])
        data = os.path.join(state, 'weft', 'agent.db')
        os.mkdir(os.path.dirname(data))
        it.looks(agent.process)
        with contextlib.closing(sqlite3.connect(it.data)) as database:
            database.execute('VACUUM INTO ?', (data + '.new',))
        with contextlib.closing(sqlite3.connect(data + '.new')) as database:  # of an agent that looks once a day
            database.execute('UPDATE watched SET step = 86400')
            database.execute('PRAGMA journal_mode = DELETE')
            database.commit()
        for path, mode in (state, 0o755), (os.path.dirname(data), 0o755), (data + '.new', 0o644):
            os.chmod(path, mode)
        os.rename(data + '.new', data)
        assert b'uid="' in server.get('/metrics')[2]
        os.unlink(data)
        equal(server.get('/metrics')[0], 503)


@case
def a_real_prometheus_reads_them():
    token = 'a-token-of-the-test'
    with Server(token=token) as server, program() as it, program(subject=TYPED) as typed, \
            Prometheus(server, os.path.join(server.folder.name, 'token')) as prometheus:
        requests = mine(it, 'requests')
        it.tell(requests + ' 3', mine(it, 'disk/used%') + ' 80', '\x1b[31m"red\\ 1', mine(it, 'load') + ' 0.5')
        for query, expected in (('up', 1), (requests, 3), (mine(it, 'disk_2f_used_25_'), 80),
                                (mine(it, 'load') + '{pid="%d",program="metrics-subject"}' % it.pid, 0.5), ('weft_metrics_left_out >= bool 0', 1)):
            wait_until('%s is %s' % (query, expected), lambda q=query, e=expected: prometheus.value(q) == e, prometheus.process,
                       seen=lambda q=query: prometheus.value(q), processor=600)
        it.tell(requests + ' 4')
        wait_until('requests are 7', lambda: prometheus.value(requests) == 7, prometheus.process, processor=600)
        typed.tell('acked eu acme 1000', 'acked eu bolt 500', 'acked - - 3', 'latency 1500', 'latency 1500000')
        own = '{pid="%d"}' % typed.pid
        for query, expected in (('sum(tcp_acked_bytes_total%s)' % own, 1503), ('sum by (pool)(tcp_acked_bytes_total%s) > 3' % own, 1500),
                                ('tcp_acked_bytes_total{customer="bolt",pid="%d"}' % typed.pid, 500),
                                ('latency_seconds_sum' + own, 0.0015015), ('latency_seconds_count' + own, 2),
                                ('histogram_quantile(0.25, latency_seconds_bucket%s) <= bool 2.048e-06' % own, 1)):
            wait_until('%s is %s' % (query, expected), lambda q=query, e=expected: prometheus.value(q) == e, prometheus.process,
                       seen=lambda q=query: prometheus.value(q), processor=600)
        known = prometheus.ask('/api/v1/metadata', metric='tcp_acked_bytes')['tcp_acked_bytes']
        assert {'type': 'counter', 'unit': 'bytes', 'help': 'Bytes that the peer\nhas "acknowledged"'} in known, known
        targets = prometheus.ask('/api/v1/targets')['activeTargets']
        equal([target['lastError'] for target in targets], [''])


main()
