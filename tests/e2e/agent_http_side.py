# SPDX-License-Identifier: ISC
"""weft agent --http beside a program that counts, and messages of Alertmanager."""
import contextlib
import http.client
import json
import os
import subprocess

from agent_host import host
from harness import temporary_directory


class Agent:
    """An agent with an HTTP side."""

    def __init__(self, it, *options):
        self.process = it.agent('--http', '127.0.0.1:0', *options, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline().rsplit(':', 1)[1].rstrip('/\n'))
        self.token = self.process.stdout.readline().split()[1]

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection('127.0.0.1', self.port)
        headers.setdefault('Authorization', 'Bearer ' + self.token)
        with contextlib.closing(connection):
            connection.request(method, path, body, {key.replace('_', '-'): value for key, value in headers.items() if value})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def send(self, *alerts):
        return self.ask('POST', '/alert', json.dumps({'version': '4', 'alerts': alerts}))


def alert(name, status='firing', key='1', **labels):
    return {'status': status, 'labels': {'alertname': name, **labels}, 'annotations': {'summary': 'it is "slow"'},
            'startsAt': '2026-01-01T00:00:00.000Z', 'fingerprint': key}


@contextlib.contextmanager
def serving(*options):
    with host() as it:
        program = it.program()
        it.tell(program, 'acme 1 5')
        agent = Agent(it, *options)
        it.looks(agent.process)
        yield it, program, agent


ACME, BOLT = 'a-token-of-acme-0', 'a-token-of-bolt-0'


@contextlib.contextmanager
def customers():
    """An agent with a token of each of two customers, a program, and the file of tokens. The values of acme end with 5, all others with 7."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'tokens')
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='utf-8') as file:
            file.write('# customers\n\n%s customer=acme\n%s  program=agent-subject\tcustomer=bolt\n' % (ACME, BOLT))
        with serving('--tokens', path) as (it, program, agent):
            names = ['bolt', 'acme"}', 'acme,customer="bolt', 'acme\\', 'Acme', 'acm', 'acme2', '"acme"', 'acme\x01']
            it.tell(program, *(line for name in names for line in ('%s 1 1000007' % name, 'took %s 900001000007' % name)))
            it.tell(program, 'took acme 1000000005', 'alone acme 1000007', 'level 1000007')
            it.looks(agent.process)
            yield it, agent, program, path
