# SPDX-License-Identifier: ISC
"""The counters of running programs over HTTP, and a real Prometheus that asks for them."""
import os

from counting import TYPED, program
from harness import case, equal, main
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
    return {sample[0]: sample[2] for family in found.values() for sample in family['samples'] if sample[1].get('pid') == str(it.pid)}


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
