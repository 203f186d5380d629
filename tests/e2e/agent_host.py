# SPDX-License-Identifier: ISC
"""Programs with metrics that record, and an agent that watches them."""
import contextlib
import json
import os
import sqlite3
import subprocess

from harness import BUILD, WEFT, equal, json_lines, temporary_directory, weft
from waiting import LAST_RESORT, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'agent-subject')


class Host:
    """Programs with metrics that record into rings, and an agent with rules."""

    def __init__(self, outer):
        self.outer = outer
        self.env = dict(os.environ, WEFT_AGENT=outer + '/f', XDG_RUNTIME_DIR=outer)
        self.snapshots, self.running, self.messages = outer + '/snapshots', [], outer + '/messages'
        os.mkdir(outer + '/f', 0o700)

    def program(self, records=True):
        out = {'WEFT_OUT': '%s/ring-%d.weft' % (self.outer, len(self.running))} if records else {}
        it = subprocess.Popen([SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(self.env, **out))
        it.stdout.readline()
        self.running.append(it)
        return it

    def tell(self, it, *lines):
        for line in lines:
            it.stdin.write(line + '\n')
            it.stdin.flush()
            while it.stdout.readline().rstrip('\n') != line:
                pass

    def agent(self, *options, stdout=None):
        with open(self.messages, 'w', encoding='utf-8') as messages:
            it = subprocess.Popen([WEFT, 'agent', '--folder', self.outer + '/f', '--data', self.outer + '/d.db', '--only-folder', *options],
                                  stdout=stdout, stderr=messages, text=True, env=self.env)
        self.running.append(it)
        return it

    def said(self):
        with open(self.messages, encoding='utf-8') as messages:
            return messages.read()

    def files(self):
        folder = self.snapshots
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name[0] != '.') if os.path.isdir(folder) else []

    def looks(self, agent, count=2):
        """Waits for so many more looks of the agent: it writes when it looked last."""
        def last():
            with contextlib.suppress(sqlite3.OperationalError), \
                    contextlib.closing(sqlite3.connect('file:%s/d.db?mode=ro' % self.outer, uri=True, timeout=LAST_RESORT)) as database:
                return database.execute('SELECT max(stop) FROM watched').fetchone()[0]
        wait_until('it looks', last, agent)
        start = last()
        wait_until('it looks again', lambda: last() >= start + count, agent)

    def end(self):
        for process in self.running:
            process.kill()
            process.communicate()


@contextlib.contextmanager
def host():
    with temporary_directory() as outer:
        it = Host(outer)
        try:
            yield it
        finally:
            it.end()


def alert_of(path):
    table, = [t for t in json.loads(weft('info', '--json', path).stdout)['tables'] if t.get('name') == 'alert']
    row, = table['rows']
    problem = json_lines(weft('dump', '--problems', '--json', path).stdout)[0]
    equal((problem['problem'], problem['severity']), ('alert', 'error'))
    return row
