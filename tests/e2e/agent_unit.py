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
from harness import SOURCE, WEFT, case, equal, main, run, skip, temporary_directory
from waiting import status_of

UNIT = os.path.join(SOURCE, 'debian', 'weft.weft-agent.service')


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def documented(name):
    """The options that the page about weft agent writes into the service's file."""
    options, = re.findall(r'^%s=(.*)$' % name, read(os.path.join(SOURCE, 'man', 'weft-agent.1.scd')), re.MULTILINE)
    return options


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
    command, = re.findall(r'^ExecStart=(.*)$', read(UNIT), re.MULTILINE)
    if 'PrivateNetwork=yes' in read(UNIT):  # as systemd does it
        command = 'unshare --net ' + command
    with host() as it:
        token = os.path.join(it.outer, 'token')
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='utf-8') as file:
            file.write('a-token-of-the-test\n')
        options = documented('OPTIONS').replace('/etc/weft/token', token).replace(':9339', ':0')
        words = shlex.split(command.replace('/usr/bin/weft', WEFT).replace('$OPTIONS', options))
        agent = subprocess.Popen([*words, *it.command()[1:]], stdout=subprocess.PIPE, text=True, env=it.env)
        it.running.append(agent)
        port = int(agent.stdout.readline().rsplit(':', 1)[1].rstrip('/\n'))
        connection = http.client.HTTPConnection('127.0.0.1', port)
        connection.request('GET', '/metrics', headers={'Authorization': 'Bearer a-token-of-the-test'})
        equal(connection.getresponse().status, 200)
        connection.close()
        agent.send_signal(signal.SIGTERM)
        equal(status_of(agent), 0)


main()
