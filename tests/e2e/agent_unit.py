# SPDX-License-Identifier: ISC
"""The systemd unit of weft agent: with the options of the man page, a Prometheus of this machine reaches its HTTP side."""
import http.client
import os
import re
import shlex
import shutil
import signal
import subprocess

from agent_host import host
from harness import BUILD, SOURCE, WEFT, case, equal, main, run, skip, temporary_directory
from otlp_receiver import State, receiver
from waiting import status_of, wait_until

UNIT = os.path.join(SOURCE, 'debian', 'weft.weft-agent.service')


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def documented(option):
    """The line with this option that the page about weft agent writes into the service's file."""
    lines = re.findall(r'^OPTIONS=(.*)$', read(os.path.join(SOURCE, 'man', 'weft-agent.1.scd')), re.MULTILINE)
    line, = [line for line in lines if option in line]
    return line


def command_of(options):
    """The unit's command with these options, in a network like that of the service."""
    command, = re.findall(r'^ExecStart=(.*)$', read(UNIT), re.MULTILINE)
    if 'PrivateNetwork=yes' in read(UNIT):  # as systemd does it
        command = 'unshare --net ' + command
    return shlex.split(command.replace('/usr/bin/weft', WEFT).replace('$OPTIONS', options))


@case
def systemd_finds_no_fault():
    if not shutil.which('systemd-analyze'):
        skip('systemd-analyze is missing')
    with temporary_directory() as folder:
        copy = os.path.join(folder, 'weft-agent.service')
        with open(copy, 'w', encoding='utf-8') as file:
            file.write(read(UNIT).replace('/usr/bin/weft', WEFT))
        result = run(['systemd-analyze', 'verify', '--man=no', copy])
        equal((result.returncode, result.stderr), (0, ''))


@case
def its_http_side_is_reached_with_the_documented_options():
    with host() as it:
        token = os.path.join(it.outer, 'token')
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='utf-8') as file:
            file.write('a-token-of-the-test\n')
        options = documented('--http').replace('/etc/weft/token', token).replace(':9339', ':0')
        agent = subprocess.Popen([*command_of(options), *it.command()[1:]], stdout=subprocess.PIPE, text=True, env=it.env)
        it.running.append(agent)
        port = int(agent.stdout.readline().rsplit(':', 1)[1].rstrip('/\n'))
        connection = http.client.HTTPConnection('127.0.0.1', port)
        connection.request('GET', '/metrics', headers={'Authorization': 'Bearer a-token-of-the-test'})
        equal(connection.getresponse().status, 200)
        connection.close()
        agent.send_signal(signal.SIGTERM)
        equal(status_of(agent), 0)


@case
def its_spans_reach_a_receiver_with_the_documented_options():
    state = State()
    with receiver(state) as url, host(subject=os.path.join(BUILD, 'tests', 'requests-subject')) as it:
        it.program()
        options = documented('--otlp').replace('http://127.0.0.1:4318', url) + ' --timeout 36000s'
        agent = subprocess.Popen([*command_of(options), *it.command()[1:]], stderr=subprocess.PIPE, text=True, env=dict(it.env, no_proxy='*'))
        it.running[-1].stdin.write('1\n')
        it.running[-1].stdin.flush()
        it.running.append(agent)
        wait_until('the spans', lambda: state.spans() or agent.poll() is not None)
        if agent.poll() is not None:
            errors = agent.stderr.read()
            assert 'built without a client' in errors, errors
            skip(errors.strip())
        agent.send_signal(signal.SIGTERM)
        equal(status_of(agent), 0)


main()
