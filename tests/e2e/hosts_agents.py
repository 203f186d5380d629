# SPDX-License-Identifier: ISC
"""Two hosts, as docs/hosts.md has them: an agent on each, one Prometheus that asks both, one collector to which both send, one page.
Each host is a network namespace. Run with arguments, this program is what runs on one of them."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

from harness import BUILD, WEFT, case, equal, main, run, skip, temporary_directory
from hosts_network import ADDRESSES, two_hosts
from otlp_receiver import State, receiver
from prometheus import Prometheus
from server import Server, need_server
from waiting import communicate, status_of, wait_until

SUBJECTS = {name: os.path.join(BUILD, 'tests', name + '-subject') for name in ('agent', 'requests')}
COUNTED = {'alpha': 10, 'beta': 7}
METRICS, COLLECTOR = 9339, 4318
TOKEN = 'a-token-of-the-test'
OTHER_JOB = """
- job_name: other
  scrape_interval: 1s
  authorization: {credentials_file: %s}
  static_configs: [{targets: ['%s:%d']}]
"""


# ---- On a host ----

class Host:
    def __init__(self, name, folder):
        self.name, self.folder = name, os.path.join(folder, name)
        self.counters, self.token = os.path.join(self.folder, 'counters'), os.path.join(self.folder, 'token')
        os.mkdir(self.folder)
        os.mkdir(self.counters, 0o700)
        with open(os.open(self.token, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='utf-8') as file:
            file.write(TOKEN + '\n')
        self.env = dict(os.environ, WEFT_AGENT=self.counters, no_proxy='*')
        self.host, self.port = ADDRESSES[name], METRICS  # for Prometheus

    def program(self, subject, line, answer):
        """One that records, and has done what the line says."""
        trace = os.path.join(os.path.dirname(self.folder), 'traces', '%s-%s.weft' % (self.name, subject))
        it = subprocess.Popen([SUBJECTS[subject]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(self.env, WEFT_OUT=trace))
        it.stdout.readline()
        it.stdin.write(line + '\n')
        it.stdin.flush()
        equal(it.stdout.readline(), answer + '\n')
        return it

    @contextlib.contextmanager
    def agent(self):
        command = [WEFT, 'agent', '--folder', self.counters, '--data', os.path.join(self.folder, 'agent.db'), '--only-folder',
                   '--http', '%s:%d' % (self.host, self.port), '--token-file', self.token,
                   '--otlp', 'http://%s:%d' % (ADDRESSES['alpha'], COLLECTOR), '--timeout', '36000s']
        it = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.env)
        with it:
            try:
                yield it
                it.send_signal(signal.SIGTERM)
                equal(status_of(it), 0)
            finally:
                it.kill()

    @contextlib.contextmanager
    def work(self):
        """Programs and their agent. The programs end before it."""
        with self.agent():
            counted = 'acme 1 %d' % COUNTED[self.name]
            programs = self.program('agent', counted, counted), self.program('requests', '100', 'done')
            yield
            for program in programs:
                communicate(program)


def watch_both(host):
    """Prometheus and the collector on this host have something of both."""
    state = State()
    with receiver(state, COLLECTOR, host.host):
        with host.work(), Prometheus(host, host.token, more=OTHER_JOB % (host.token, ADDRESSES['beta'], METRICS)) as prometheus:
            def series():
                answer = prometheus.ask('/api/v1/query', query='bytes_total{customer="acme"}')
                return {one['metric']['instance']: float(one['value'][1]) for one in answer['result']} if answer else {}
            wanted = {'%s:%d' % (ADDRESSES[name], METRICS): count for name, count in COUNTED.items()}
            wait_until('the counters of both', lambda: series() == wanted, prometheus.process, seen=series, processor=600)
            wait_until('the requests of both', lambda: len(state.spans()) == 600, seen=lambda: len(state.spans()), processor=600)
            print('both are seen', flush=True)
            sys.stdin.read()
        print(json.dumps([span['spanId'] for span in state.spans()]))


def be_host(name, folder):
    host = Host(name, folder)
    if name == 'alpha':
        watch_both(host)
    else:
        with host.work():
            sys.stdin.read()


# ---- The test ----

@case
def agents_prometheus_collector_and_page():
    need_server()
    if not shutil.which('prometheus'):
        skip('prometheus is not installed')
    refusal = run([WEFT, 'agent', '--otlp', '']).stderr
    if 'built without' in refusal:
        skip(refusal.strip())
    with temporary_directory() as folder:
        traces = os.path.join(folder, 'traces')
        os.mkdir(traces)
        commands = [[sys.executable, os.path.abspath(__file__), name, folder] for name in ('alpha', 'beta')]
        with two_hosts(*commands, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as (alpha, beta):
            said = alpha.stdout.readline()  # nothing, if it has failed
            # Both end with their input, whatever has happened; the collector ends last.
            (_, errors_of_beta), (output, errors_of_alpha) = communicate(beta), communicate(alpha)
        equal((alpha.returncode, beta.returncode, said), (0, 0, 'both are seen\n'), errors_of_alpha + errors_of_beta)
        ids = json.loads(output)
        equal((len(ids), len(set(ids))), (602, 602))
        with Server(traces) as server:
            equal(server.fragment, 'trace=all')
            found = server.traces()
            equal(sorted(one['name'] for one in found if one['name'].endswith('.weft')),
                  ['%s-%s.weft' % (name, subject) for name in ('alpha', 'beta') for subject in ('agent', 'requests')])


if len(sys.argv) == 3:
    be_host(*sys.argv[1:])
else:
    main()
