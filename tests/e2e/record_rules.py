# SPDX-License-Identifier: ISC
"""weft record --trigger with rules about metrics: a snapshot is taken while the program runs, with the alert inside."""
import json
import os
import signal
import subprocess

from agent_host import PLAIN, TYPED, alert_of
from harness import BUILD, WEFT, build_option, case, equal, main, run, skip, temporary_directory, weft
from waiting import status_of, wait_until

COUNTS = os.path.join(BUILD, 'tests', 'counts-subject')


class Recorded:
    """The program under weft record, or attached to."""

    def __init__(self, folder, *options, command=(TYPED,), **variables):
        self.folder = folder
        self.env = dict(os.environ, XDG_RUNTIME_DIR=folder, **dict({'WEFT_AGENT': 'none'}, **variables))
        self.it = subprocess.Popen([WEFT, 'record', *options, '-o', os.path.join(folder, 't.weft'), '--', *command], env=self.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = int(self.it.stdout.readline())

    def tell(self, *lines):
        for line in lines:
            self.it.stdin.write(line + '\n')
            self.it.stdin.flush()
            equal(self.it.stdout.readline(), line + '\n')

    def taken(self):
        return sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder) if '.snapshot-' in name and name[0] != '.')

    def await_snapshots(self, count=1):
        wait_until('a snapshot', lambda: len(self.taken()) >= count, self.it)

    def end(self):
        """The messages of weft record."""
        self.it.stdin.close()
        said = self.it.stderr.read()
        equal(status_of(self.it), 0, said)
        return said


@case
def a_snapshot_is_taken_when_the_rule_holds():
    with temporary_directory() as folder:
        it = Recorded(folder, '--trigger', 'value(level) > 9')
        it.tell('level 5', 'level 10')
        it.await_snapshots()
        it.tell('level 11')
        said = it.end()
        path, = it.taken()
        row = alert_of(path)
        equal((row['rule'], row['value']), ('value(level) > 9', '10'))
        assert 't.snapshot-1.weft: "value(level) > 9"' in said, said
        assert 'rule "value(level) > 9" fired: 10' in said, said


@case
def the_first_values_of_a_histogram_count():
    """The program has no such metric at the first look: all of its values are new."""
    with temporary_directory() as folder:
        it = Recorded(folder, '--trigger', 'p99(latency) > 50ms', '--trigger', 'rate(bytes by customer) > 1K/s')
        it.tell('took acme 80000000')
        it.await_snapshots()
        equal(alert_of(it.taken()[0])['rule'], 'p99(latency) > 50ms')
        it.tell('acme 1 1000000000')
        it.await_snapshots(2)
        assert alert_of(it.taken()[1])['value'].endswith('/s, customer acme')
        it.end()


@case
def metrics_of_the_adapters_and_of_the_kernel():
    """A lock is held while another thread wants it; each process has waited for a processor for some time."""
    with temporary_directory() as folder:
        it = Recorded(folder, '-a', 'thread,io', '--trigger', 'value(weft_run_queue_seconds) >= 0', '--trigger', 'p99(weft_lock_wait_seconds) > 1ns',
                      command=(COUNTS, 'lock', '100', 'stay'))
        it.await_snapshots(2)
        it.end()
        equal(sorted(alert_of(path)['rule'] for path in it.taken()), ['p99(weft_lock_wait_seconds) > 1ns', 'value(weft_run_queue_seconds) >= 0'])


@case
def an_agent_that_has_the_metrics_does_not_hide_them():
    with temporary_directory() as folder:
        os.mkdir(os.path.join(folder, 'f'), 0o700)
        it = Recorded(folder, '--trigger', 'value(level) > 9', WEFT_AGENT=os.path.join(folder, 'f'))
        it.tell('level 10')
        it.await_snapshots()
        it.end()


@case
def a_process_that_is_attached_to():
    with temporary_directory() as folder:
        env = dict(os.environ, XDG_RUNTIME_DIR=folder, WEFT_AGENT='none')
        program = subprocess.Popen([PLAIN], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        program.stdout.readline()

        def tell(line):
            program.stdin.write(line + '\n')
            program.stdin.flush()
            equal(program.stdout.readline(), line + '\n')
        tell('level = 10')
        record = subprocess.Popen([WEFT, 'record', '-p', str(program.pid), '--trigger', 'value(level) > 9', '-o', os.path.join(folder, 't.weft')],
                                  env=env, stderr=subprocess.PIPE, text=True)
        taken = os.path.join(folder, 't.snapshot-1.weft')
        while not os.path.exists(taken):
            tell('level = 10')
            equal(record.poll(), None)
        equal(alert_of(taken)['value'], '10')
        record.send_signal(signal.SIGINT)
        equal(status_of(record), 0)
        program.communicate()


@case
def a_level_is_raised_while_the_rule_holds():
    with temporary_directory() as folder:
        it = Recorded(folder, '--trigger', 'value(level) > 9 set *=debug')

        def level():
            return json.loads(run([WEFT, 'ctl', '--json', str(it.pid), 'status'], env=it.env).stdout)['categories'][0]['level']
        before = level()
        it.tell('level 10')
        wait_until('the level', lambda: level() == 'debug', it.it)
        it.tell('level 9')
        wait_until('the level before', lambda: level() == before, it.it)
        it.end()


@case
def a_rule_that_watched_nothing_is_said_at_the_end():
    with temporary_directory() as folder:
        it = Recorded(folder, '--trigger', 'value(levels) > 9')
        it.tell('level 10')
        said = it.end()
        assert 'rule "value(levels) > 9": no program has such a metric so far: "levels"' in said, said
        equal(it.taken(), [])


@case
def mistakes_have_their_position():
    for rule, message in (('p99(latency > 5', ', by, over or ) is expected; at character'), ('p99 latency > 5', 'or for weft record --trigger value(, rate(, ratio( or p99(; at character 1 of'),
                          ('value(x) > 5 fur 3s', 'for, until, set or the end is expected; at character 14 of "value(x) > 5 fur 3s"')):
        said = weft('record', '--trigger', rule, 'true', status=2).stderr
        assert message.lstrip(', ') in said, said


if __name__ == '__main__':
    if not build_option('query'):
        skip('this build has no SQLite')
    main()
