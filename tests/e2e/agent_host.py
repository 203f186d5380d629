# SPDX-License-Identifier: ISC
"""Programs that count, agents that watch them, and what these have kept."""
import contextlib
import json
import os
import sqlite3
import subprocess

from harness import BUILD, WEFT, equal, json_lines, temporary_directory, weft
from waiting import LAST_RESORT, wait_until

PLAIN = os.path.join(BUILD, 'tests', 'metrics-subject')
TYPED = os.path.join(BUILD, 'tests', 'agent-subject')


class Host:
    """A folder for counters and a database; programs that count there, and record if wanted; agents."""

    def __init__(self, outer, subject, records):
        self.outer, self.subject, self.records = outer, subject, records
        self.folder, self.data, self.snapshots, self.messages = (os.path.join(outer, name) for name in ('f', 'd.db', 'snapshots', 'messages'))
        self.env = dict(os.environ, WEFT_AGENT=self.folder, XDG_RUNTIME_DIR=outer)
        self.running, self.rings = [], 0
        os.mkdir(self.folder, 0o700)

    def program(self, *lines, subject=None, records=None, command=()):
        """Starts a program that changes its counters, and goes on."""
        env = self.env
        if self.records if records is None else records:
            self.rings += 1
            env = dict(env, WEFT_OUT='%s/ring-%d.weft' % (self.outer, self.rings))
        it = subprocess.Popen([*command, subject or self.subject], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        it.stdout.readline()
        self.running.append(it)
        self.tell(it, *lines)
        return it

    def tell(self, it, *lines):
        for line in lines:
            it.stdin.write(line + '\n')
            it.stdin.flush()
            while it.stdout.readline().rstrip('\n') != line:
                pass

    def kill(self, it):
        self.running.remove(it)
        it.kill()
        it.communicate()

    def end(self, it):
        self.running.remove(it)
        it.communicate()
        equal(it.returncode, 0)

    def dead(self, *lines):
        self.kill(self.program(*lines))

    def command(self, *options):
        return ['agent', '--folder', self.folder, '--data', self.data, '--only-folder', *options]

    def look(self, **options):
        return weft(*self.command('--once'), **options)

    def agent(self, *options, stdout=None):
        with open(self.messages, 'w', encoding='utf-8') as messages:
            it = subprocess.Popen([WEFT, *self.command(*options)], stdout=stdout, stderr=messages, text=True, env=self.env)
        self.running.append(it)
        return it

    def said(self):
        with open(self.messages, encoding='utf-8') as messages:
            return messages.read()

    def files(self):
        return sorted(os.listdir(self.folder))

    def taken(self):
        """The snapshots that are complete."""
        folder = self.snapshots
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name[0] != '.') if os.path.isdir(folder) else []

    def totals(self):
        """{metric: total} in the database, as another program reads it."""
        return dict(self.ask('SELECT metric, sum(total) FROM totals GROUP BY metric'))

    def ask(self, sql):
        with contextlib.closing(sqlite3.connect(self.data, timeout=LAST_RESORT)) as database:
            return database.execute(sql).fetchall()

    def looks(self, agent, count=2):
        """Waits for so many more looks of the agent: it writes when it looked last."""
        def last():
            with contextlib.suppress(sqlite3.OperationalError), \
                    contextlib.closing(sqlite3.connect('file:%s?mode=ro' % self.data, uri=True, timeout=LAST_RESORT)) as database:
                return database.execute('SELECT max(stop) FROM watched').fetchone()[0]
        wait_until('it looks', last, agent)
        start = last()
        wait_until('it looks again', lambda: last() >= start + count, agent)


@contextlib.contextmanager
def host(subject=TYPED, records=True):
    with temporary_directory() as outer:
        it = Host(outer, subject, records)
        try:
            yield it
        finally:
            for process in list(it.running):
                it.kill(process)


def alert_of(path):
    table, = [t for t in json.loads(weft('info', '--json', path).stdout)['tables'] if t.get('name') == 'alert']
    row, = table['rows']
    problem = json_lines(weft('dump', '--problems', '--json', path).stdout)[0]
    equal((problem['problem'], problem['severity']), ('alert', 'error'))
    return row
