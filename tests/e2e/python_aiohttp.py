# SPDX-License-Identifier: ISC
"""A web server of aiohttp under load, recorded by `python3 -m weft`: it answers the same, and its trace has every request."""
import collections
import json
import os
import subprocess
import sys

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import status_of

PACKAGES = os.path.join(BUILD, 'bindings', 'python')
RESOURCES = ('lock', 'pool', 'condition', 'channel')
ENVIRONMENT = {'PYTHONPATH': PACKAGES}
LOAD = os.path.join(SOURCE, 'tests', 'e2e', 'aiohttp_load.py')
REQUESTS, CLIENTS = 700, 20


def interpreter():
    """A Python that has aiohttp: Debian's packages are for Debian's Python."""
    if not os.path.exists(os.path.join(PACKAGES, 'weft', '_weft.abi3.so')):
        skip('built without the package for Python: python3-dev is not installed')
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and run([python, '-c', 'import aiohttp']).returncode == 0:
            return python
    return skip('python3-aiohttp is not installed')


def answers(folder, *server):
    """The clients' output and the server's status, when `server` runs the server."""
    python = interpreter()
    # Each broken request is logged, which would fill a pipe.
    with open(os.path.join(folder, 'log'), 'w', encoding='utf-8') as log, \
            subprocess.Popen([*server, LOAD, 'server'], stdout=subprocess.PIPE, stderr=log, text=True,
                             env=dict(os.environ, **ENVIRONMENT)) as process:
        try:
            port = process.stdout.readline().strip()
            client = run([python, LOAD, 'client', port, str(REQUESTS), str(CLIENTS)])
            assert client.returncode == 0, client.stderr
            return client.stdout.splitlines()[0], status_of(process)
        finally:
            process.kill()


@case
def every_request_is_a_task():
    with temporary_directory() as folder:
        python, path = interpreter(), os.path.join(folder, 'server.weft')
        plain = answers(folder, python)
        equal(answers(folder, WEFT, 'record', '-o', path, '--require', python, '-m', 'weft'), plain)
        equal(plain[1], 0)
        info = json.loads(weft('info', '--json', path).stdout)
        tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
        problems = weft('dump', '--problems', path).stdout
    equal((info['diagnostics'], info['losses']), ([], {}))
    counts = collections.Counter((task['label'], task['outcome']) for task in tasks)
    handled = {outcome: count for (label, outcome), count in counts.items() if 'RequestHandler._handle_request' in label}
    equal(handled, {'fulfilled': REQUESTS + 1})
    for label, count in (('sleep at aiohttp_load.py', 100), ('str.upper', 100), ('to_thread at aiohttp_load.py', 100)):
        equal(sum(n for (found, _), n in counts.items() if found.startswith(label)), count, label)
    # Each wait is answered: what has not been resolved was cancelled when the server stopped.
    equal({task['outcome'] for task in tasks if task['kind'] not in RESOURCES}, {'fulfilled', 'cancelled'})
    assert 'never resolved' not in problems and 'unanswered' not in problems, problems


main()
