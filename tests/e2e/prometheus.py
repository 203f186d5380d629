# SPDX-License-Identifier: ISC
"""Shared by tests of the formats of Prometheus: the readers that others wrote."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

from harness import equal, json_lines, run, skip, temporary_directory
from waiting import LAST_RESORT, wait_until

READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'metrics_reader.py')


def find_python():
    """A Python that has prometheus_client: Debian's, if it is not our own."""
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and subprocess.run([python, '-c', 'import prometheus_client'], stderr=subprocess.DEVNULL,
                                                     check=False).returncode == 0:
            return python
    skip('python3-prometheus-client is not installed')
    return None


def families(text, form):
    """{name: family} as prometheus_client reads them; `form` is openmetrics or prometheus."""
    result = run([find_python(), READER, form], input=text, env={'PYTHONIOENCODING': 'utf-8'})
    equal(result.returncode, 0, result.stderr + text)
    return {family['name']: family for family in json_lines(result.stdout)}


def check(text):
    """Asks promtool, which has opinions about style, too."""
    need_promtool()
    result = run(['promtool', 'check', 'metrics'], input=text)
    equal((result.returncode, result.stderr), (0, ''), text)


def need_promtool():
    if not shutil.which('promtool'):
        skip('prometheus is not installed')


class Service:
    """A program of Prometheus that listens on a port of its own, in a folder that ends with it."""

    def start(self, *command):
        self.log = os.path.join(self.folder.name, 'log')
        with open(self.log, 'w', encoding='utf-8') as file:
            self.process = subprocess.Popen([*command, '--web.listen-address=127.0.0.1:0'], stdout=file, stderr=subprocess.STDOUT,
                                            cwd=self.folder.name)
        try:
            self.url = 'http://' + wait_until(command[0] + ' listens', self.find_address, self.process)
        except BaseException:
            self.end()
            raise

    def find_address(self):
        with open(self.log, encoding='utf-8') as file:
            found = re.search(r'msg="?Listening on"? address=(\S+)', file.read())
        return found and found.group(1)

    def get(self, path, **arguments):
        """The answer, or None as long as it is not ready."""
        url = self.url + path + '?' + urllib.parse.urlencode(arguments)
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=LAST_RESORT) as answer:
            return json.loads(answer.read())
        return None

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Prometheus(Service):
    """A Prometheus that asks the server each second, with a database that ends with it."""

    CONFIG = """
scrape_configs:
- job_name: weft
  scrape_interval: 1s
  authorization: {credentials_file: %s}
  static_configs: [{targets: ['%s:%d']}]
"""

    def __init__(self, server, token_file, more=''):
        if not shutil.which('prometheus'):
            skip('prometheus is not installed')
        self.folder = temporary_directory()
        config = os.path.join(self.folder.name, 'prometheus.yml')
        with open(config, 'w', encoding='utf-8') as file:
            file.write(self.CONFIG % (token_file, server.host, server.port) + more)
        self.start('prometheus', '--config.file=' + config, '--storage.tsdb.path=' + os.path.join(self.folder.name, 'data'))

    def ask(self, path, **arguments):
        answer = self.get(path, **arguments)
        return answer and answer['data']

    def value(self, query):
        """The value of the only series that the query finds, or None."""
        answer = self.ask('/api/v1/query', query=query)
        return float(answer['result'][0]['value'][1]) if answer and len(answer['result']) == 1 else None


class Alertmanager(Service):
    """An Alertmanager that tells nobody, or sends to a webhook: the URL and the file of its token."""

    def __init__(self, webhook=None):
        if not shutil.which('prometheus-alertmanager'):
            skip('prometheus-alertmanager is not installed')
        self.folder = temporary_directory()
        config = os.path.join(self.folder.name, 'alertmanager.yml')
        with open(config, 'w', encoding='utf-8') as file:
            if webhook:
                file.write('route: {receiver: hook, group_by: [alertname], group_wait: 1s, group_interval: 1s}\nreceivers:\n- name: hook\n'
                           '  webhook_configs: [{url: "%s", http_config: {authorization: {credentials_file: %s}}}]\n' % webhook)
            else:
                file.write('route: {receiver: nobody}\nreceivers: [{name: nobody}]\n')
        self.start('prometheus-alertmanager', '--config.file=' + config, '--storage.path=' + os.path.join(self.folder.name, 'data'),
                   '--cluster.listen-address=')

    def active(self):
        """{name: labels} of the alerts that are firing; None as long as it does not answer."""
        alerts = self.get('/api/v2/alerts', active='true')
        return alerts if alerts is None else {alert['labels']['alertname']: alert['labels'] for alert in alerts}
