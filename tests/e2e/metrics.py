# SPDX-License-Identifier: ISC
"""weft metrics: the counters of running programs that record nothing."""
import contextlib
import os
import subprocess

from harness import BUILD, WEFT, case, equal, json_lines, main, temporary_directory, weft
from waiting import wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'metrics-subject')


class Program:
    """The subject, of which `weft metrics` sees only itself: others of the machine have counters, too."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen([*command, SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=dict(os.environ, **environment))
        self.pid = self.parent = int(self.process.stdout.readline())

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + '\n')
            self.process.stdin.flush()
            if line in ('fork', 'clone'):
                self.pid = int(self.process.stdout.readline())
            equal(self.process.stdout.readline().rstrip('\n'), line)

    def values(self, pid=None):
        lines = json_lines(weft('metrics', '--json', pid or self.pid).stdout)
        equal({line['pid'] for line in lines} - {pid or self.pid}, set())
        return {line['counter']: line['value'] for line in lines}


@contextlib.contextmanager
def program(*command, **environment):
    it = Program(*command, **environment)
    try:
        yield it
    finally:
        it.process.stdin.close()
        it.process.stdout.close()
        equal(it.process.wait(), 0)


@case
def counters_of_a_program_that_records_nothing():
    with program() as it:
        weft('metrics', it.pid, status=1)
        it.tell('requests 2', 'requests 3', 'queue =7', 'queue -9', 'load 0.5', 'load 0.25')
        equal(it.values(), {'requests': 5, 'queue': -2, 'load': 0.75})
        text = weft('metrics', it.pid).stdout.splitlines()
        equal(text[1].split(), [str(it.pid), 'metrics-subject', '5', 'requests'])
        found = [line for line in json_lines(weft('metrics', '--json').stdout) if line['pid'] == it.pid]
        equal(len(found), 3)


@case
def a_forked_child_counts_for_itself():
    with program() as it:
        it.tell('requests 2', 'fork', 'requests 5')
        equal(it.values(), {'requests': 5})
        equal(it.values(it.parent), {'requests': 2})


@case
def a_child_without_memory_of_its_own_has_not_its_parents_values():
    with program() as it:
        it.tell('requests 2', 'clone', 'requests 5')
        assert 'clone' in weft('metrics', it.pid, status=3).stderr
        equal(it.values(it.parent), {'requests': 2})


@case
def a_program_that_is_recorded_later_keeps_its_values():
    with temporary_directory() as folder, program(XDG_RUNTIME_DIR=folder) as it:
        it.tell('requests 2')
        env = {'XDG_RUNTIME_DIR': folder}

        def records():
            it.tell('requests 0')
            return any(line['pid'] == it.pid and line['state'] == 'running' for line in json_lines(weft('ls', '--json', env=env).stdout))
        with subprocess.Popen([WEFT, 'record', '-p', str(it.pid), '-o', os.path.join(folder, 't.weft')], stderr=subprocess.DEVNULL,
                              env=dict(os.environ, **env)) as recorder:
            wait_until('it records', records, recorder)
            it.tell('requests 4')
            equal(it.values(), {'requests': 6})
            recorder.terminate()
        equal(it.values(), {'requests': 6})


@case
def openmetrics_has_one_family_for_a_name():
    with program() as first, program() as second:
        first.tell('disk/used% 80', 'disk_2f_used_25_ 1', '5xx 2')
        second.tell('disk/used% 90')
        result = weft('metrics', '--openmetrics', first.pid, second.pid)
        lines = result.stdout.splitlines()
        equal(lines[0::1][-1], '# EOF')
        label = '{program="metrics-subject",pid="%d"}'
        equal([line for line in lines if not line.startswith('#')],
              ['_5xx' + label % first.pid + ' 2',
               *sorted('disk_2f_used_25_' + label % it.pid + value for it, value in ((first, ' 80'), (second, ' 90')))])
        equal([line for line in lines if line.startswith('# TYPE')], ['# TYPE _5xx unknown', '# TYPE disk_2f_used_25_ unknown'])
        assert 'is left out' in result.stderr, result.stderr


@case
def what_has_no_counters():
    assert 'has no counters that can be read' in weft('metrics', os.getpid(), status=3).stderr
    weft('metrics', 'x', status=2)
    weft('metrics', '--since', 'midnight', status=2)
    with program(WEFT_ATTACH='none') as it:
        it.tell('requests 1')
        assert 'WEFT_ATTACH=none' in weft('metrics', it.pid, status=3).stderr


main()
