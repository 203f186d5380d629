# SPDX-License-Identifier: ISC
"""A program with counters, which tests control by lines of its input."""
import contextlib
import os
import subprocess

from harness import BUILD, equal, json_lines, weft

SUBJECT = os.path.join(BUILD, 'tests', 'metrics-subject')
TYPED = os.path.join(BUILD, 'tests', 'metric-types-subject')
RUN_QUEUE = 'weft_run_queue_seconds'  # of each process that could have counters


class Program:
    """The subject, of which `weft metrics` sees only itself: others of the machine have counters, too."""

    def __init__(self, *command, subject=SUBJECT, **environment):
        self.process = subprocess.Popen([*command, subject], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=dict(os.environ, **environment))
        self.pid = self.parent = int(self.process.stdout.readline())

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + '\n')
            self.process.stdin.flush()
            if line in ('fork', 'clone'):
                self.pid = int(self.process.stdout.readline())
            equal(self.process.stdout.readline().rstrip('\n'), line)

    def values(self, pid=None, env=None):
        lines = json_lines(weft('metrics', '--json', pid or self.pid, env=env).stdout)
        equal({line['pid'] for line in lines} - {pid or self.pid}, set())
        return {line['counter']: line['value'] for line in lines if line['counter'] != RUN_QUEUE}


@contextlib.contextmanager
def program(*command, subject=SUBJECT, **environment):
    it = Program(*command, subject=subject, **environment)
    try:
        yield it
    finally:
        it.process.stdin.close()
        it.process.stdout.close()
        equal(it.process.wait(), 0)
