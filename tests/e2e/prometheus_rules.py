# SPDX-License-Identifier: ISC
"""The rules of share/prometheus: each alert fires and is over, by promtool, and by a real Prometheus and Alertmanager."""
import os
import re
import subprocess
import sys
import types

from agent_host import alert_of, host
from harness import BUILD, SOURCE, case, equal, main, run, skip, temporary_directory
from prometheus import Alertmanager, Prometheus, need_promtool
from server import Server
from waiting import wait_until

FOLDER = os.path.join(SOURCE, 'share', 'prometheus')
RULES = os.path.join(FOLDER, 'weft.rules.yml')
PACKAGES = os.path.join(BUILD, 'bindings', 'python')
ALERTS = {'CustomerOverItsLimit': 'acme', 'AnswersTooSlow': 'acme', 'ManyErrors': 'acme', 'DiskNearlyFull': 'sda', 'LoginsUnderAttack': 'sshd'}

RULE_CONFIG = """
global: {evaluation_interval: 1s}
rule_files: ['%s']
alerting: {alertmanagers: [{static_configs: [{targets: ['%s']}]}]}
"""

# Counts a second's work for each line that it reads; the line says whether all is well.
SHOP = """
import sys, weft
requests, errors = weft.Counter('requests'), weft.Counter('request_errors')
duration = weft.Histogram('request_duration', unit='seconds', scale=-9)
limit = weft.Gauge('request_rate_limit')
used, size = weft.Gauge('disk_used', unit='bytes'), weft.Gauge('disk_size', unit='bytes')
failed, succeeded = weft.Counter('logins_failed'), weft.Counter('logins_succeeded')
limit.labels(customer='acme').set(1000)
size.labels(disk='sda').set(1000)
for line in sys.stdin:
    is_well = line.strip() == 'well'
    requests.labels(customer='acme').add(1 if is_well else 1000000)
    errors.labels(customer='acme').add(0 if is_well else 200000)
    for _ in range(1 if is_well else 10):
        duration.labels(customer='acme').record(1000000 if is_well else 2000000000)
    used.labels(disk='sda').set(500 if is_well else 950)
    failed.labels(service='sshd').add(0 if is_well else 30)
    succeeded.labels(service='sshd').add(1)
    print('done', flush=True)
"""


@case
def promtool_fires_and_resolves_each():
    need_promtool()
    result = run(['promtool', 'test', 'rules', 'weft.rules.test.yml'], cwd=FOLDER)
    equal(result.returncode, 0, result.stdout + result.stderr)
    with open(RULES, encoding='utf-8') as file:
        equal(set(re.findall(r'alert: (\w+)', file.read())), {*ALERTS, 'MachineBusy'})


class Shop:
    """The program that counts."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, '-c', SHOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, PYTHONPATH=PACKAGES))

    def work(self, how):
        self.process.stdin.write(how + '\n')
        self.process.stdin.flush()
        equal(self.process.stdout.readline(), 'done\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        equal(self.process.wait(), 0)


def write_rules(folder):
    """The rules with windows of seconds, and without the minute for which a cause must last; this machine may be busy."""
    with open(RULES, encoding='utf-8') as file:
        rules = re.sub(r'  # The kernel counts.*', '', file.read(), flags=re.DOTALL).replace('[5m]', '[10s]').replace('for: 1m', 'for: 0s')
    path = os.path.join(folder, 'rules.yml')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(rules)
    return path


@case
def a_real_alertmanager_hears_of_each_and_of_its_end():
    if not os.path.exists(os.path.join(PACKAGES, 'weft', '_weft.abi3.so')):
        skip('built without the package for Python: python3-dev is not installed')
    with temporary_directory() as folder, Server(token='a-token-of-the-test') as server, Shop() as shop, Alertmanager() as manager:
        more = RULE_CONFIG % (write_rules(folder), manager.url.split('//')[1])
        with Prometheus(server, os.path.join(server.folder.name, 'token'), more) as prometheus:
            def see(how, names):
                shop.work(how)
                return set(manager.active() or {'no answer'}) == names if names else manager.active() == {}
            wait_until('all alerts fire', lambda: see('ill', set(ALERTS)), prometheus.process, seen=manager.active, processor=600)
            active = manager.active()
            equal({name: active[name].get('customer') or active[name].get('disk') or active[name].get('service') for name in ALERTS}, ALERTS)
            wait_until('all alerts are over', lambda: see('well', set()), prometheus.process, seen=manager.active, processor=600)


@case
def an_alert_of_a_real_alertmanager_leads_to_the_moment():
    with host() as it:
        token = os.path.join(it.outer, 'token')
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='utf-8') as file:
            file.write('a-token-of-the-test\n')
        program = it.program()
        it.tell(program, 'acme 1 5')
        agent = it.agent('--http', '127.0.0.1:0', '--token-file', token, '--every', '1s', stdout=subprocess.PIPE)
        at = types.SimpleNamespace(host='127.0.0.1', port=int(agent.stdout.readline().rsplit(':', 1)[1].rstrip('/\n')))
        rules = os.path.join(it.outer, 'rules.yml')
        with open(rules, 'w', encoding='utf-8') as file:
            file.write('groups: [{name: test, rules: [{alert: TooMuch, expr: "sum by (customer, program) (bytes_total) > 1000", annotations: {summary: "{{ $value }} bytes"}}]}]\n')
        with Alertmanager(('http://%s:%d/alert' % (at.host, at.port), token)) as manager:
            more = RULE_CONFIG % (rules, manager.url.split('//')[1])
            with Prometheus(at, token, more) as prometheus:
                wait_until('it reads the counter', lambda: prometheus.value('sum(bytes_total{program="agent-subject"})') == 5, prometheus.process)
                equal(it.taken(), [])
                it.tell(program, 'acme 1 5000')
                wait_until('a snapshot', it.taken, agent, seen=it.said, processor=600)
                path, = it.taken()
                row = alert_of(path)
                equal((row['name'], row['value']), ('TooMuch', '5005 bytes'))
                assert '"customer":"acme"' in row['rule'] and '-%d.alert-' % program.pid in path, (row, path)


main()
