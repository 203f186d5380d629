# SPDX-License-Identifier: ISC
"""Records a program that hangs, until it does."""
import contextlib
import os
import signal
import subprocess

from harness import WEFT, json_lines, weft
from waiting import wait_until


class Hang:
    """The trace of a part of a subject, killed once each of its processes waits for what `waits` has for it: the begin of a label.
    Or once the first one, which still runs, has a problem of which `until` is true. Or once why has the second text of `answer` for the
    task that the first one names, and after Ctrl-C that of `then`. They are stopped before they are killed, as the end of one lets others go on."""
    def __init__(self, subject, *part, folder, waits=(), until=None, answer=None, then=None, adapters='thread,io', env=None):
        self.folder, env = os.path.join(folder, 'traces'), {'XDG_RUNTIME_DIR': folder, **(env or {})}
        process = subprocess.Popen([WEFT, 'record', '-a', adapters, '--size', '1M', '-o', self.folder + '/', '--', subject, *part],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, **env))
        self.pids = [int(number) for number in process.stdout.readline().split()]
        for pid, source in zip(self.pids, waits):
            wait_until('a wait for ' + source, lambda: source in weft('why', pid, env=env, status=None).stdout, process)
        if until:
            wait_until('problems', lambda: any(map(until, json_lines(weft('dump', '--problems', '--json', self.pids[0], env=env).stdout))),
                       process)
        for task, text in filter(None, (answer, then)):
            wait_until('an answer', lambda task=task, text=text: text in weft('why', self.pids[0], task, env=env, status=None).stdout, process)
            if then and text == answer[1]:
                os.kill(self.pids[0], signal.SIGINT)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in self.pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        process.communicate()

    def problems(self):
        return json_lines(weft('dump', '--problems', '--json', self.folder).stdout)

    def why(self, task):
        return weft('why', self.folder, task, status=None).stdout


def found(hang):
    """Without hints: on a busy machine there are gaps in which nothing runs."""
    return ['%s %s' % (problem['severity'], problem['problem']) for problem in hang.problems() if problem['severity'] != 'hint']
