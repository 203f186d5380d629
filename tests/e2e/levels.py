# SPDX-License-Identifier: ISC
"""Categories and levels: what the environment, weft ctl and the program itself set is what the trace has."""
import contextlib
import glob
import json
import os
import signal
import struct
import subprocess

from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import status_of

SUBJECT = os.path.join(BUILD, 'tests', 'levels-subject')
PLUGIN = os.path.join(BUILD, 'tests', 'levels-plugin.so')
OWN_COPY = os.path.join(BUILD, 'tests', 'levels-plugin-own.so')  # with a recorder of its own
LEVELS = ('off', 'error', 'warning', 'info', 'debug', 'trace')
OFF_CPU = 'at debug: how long running tasks had no processor'


class Subject:
    """The program under `weft record`."""

    def __init__(self, path, **env):
        self.path = path
        run_directory = os.path.join(path, 'run')
        os.makedirs(run_directory, 0o700)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=run_directory, **env)
        self.trace = os.path.join(path, 'trace.weft')
        self.record = subprocess.Popen([WEFT, 'record', '--size', '1M', '-o', self.trace, SUBJECT],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=self.env)
        self.pid = self.read_pid()

    def read_pid(self):
        return int(self.record.stdout.readline())

    def send(self, line):
        """Sends a command; returns the lines that the program prints before "done"."""
        self.record.stdin.write(line + '\n')
        self.record.stdin.flush()
        lines = []
        while not lines or lines[-1] != 'done':
            lines.append(self.record.stdout.readline().rstrip('\n'))
            assert lines[-1], 'the program ended: ' + self.record.stderr.read()
        return lines[:-1]

    def ring(self, pid=None):
        path, = glob.glob(os.path.join(self.env['XDG_RUNTIME_DIR'], 'weft', 'record-*', '*-%d.weft' % (pid or self.pid)))
        return path

    def ctl(self, *args, pid=None, status=0):
        result = run([WEFT, 'ctl', str(pid or self.pid), *args], env=self.env)
        equal(result.returncode, status, result.stderr)
        return result

    def status(self, pid=None):
        return json.loads(run([WEFT, 'ctl', '--json', str(pid or self.pid), 'status'], env=self.env).stdout)

    def levels(self, pid=None):
        """Those of the program's own categories."""
        return {c['name']: c['level'] for c in self.status(pid)['categories'] if c['name'] != 'cpu'}

    def end(self):
        """The messages of `weft record`."""
        with contextlib.suppress(BrokenPipeError):
            self.record.stdin.write('end\n')
            self.record.stdin.close()
        self.record.stdout.read()
        report = self.record.stderr.read()
        equal(status_of(self.record), 0, report)
        return report


@contextlib.contextmanager
def subject(**env):
    with temporary_directory() as path:
        program = Subject(path, **env)
        try:
            yield program
        finally:
            if program.record.poll() is None:
                program.record.kill()
                with contextlib.suppress(ProcessLookupError):
                    os.kill(program.pid, signal.SIGKILL)
            program.record.wait()


def notes(path):
    return [e['text'] for e in json_lines(weft('dump', '--json', path).stdout) if e['event'] == 'note']


def expected(name, level):
    found = ['%s %s' % (name, word) for word in LEVELS[1:LEVELS.index(level) + 1]]
    if name == 'net' and LEVELS.index(level) >= LEVELS.index('info'):
        found.append('evaluated')
    return found


def expected_round(program='info', net='info', db='info'):
    return expected('program', program) + expected('net', net) + expected('db', db)


@case
def levels_are_set_while_the_program_runs():
    with subject() as program:
        wanted = []
        for levels in ({}, {'net': 'debug'}, {'db': 'off', 'program': 'error'}, {'net': 'trace', 'db': 'trace'}):
            if levels:
                program.ctl('set', *('%s=%s' % item for item in levels.items()))
            current = program.levels()
            for name, level in levels.items():
                equal(current[name], level)
            program.send('round')
            wanted += expected_round(**current)
        program.end()
        equal(notes(program.trace), wanted)


def counted(target):
    """{kind: count} of the category net, at the level count."""
    lines = json_lines(weft('metrics', '--json', target).stdout)
    return {line['labels']['kind']: line['value'] for line in lines
            if line['counter'] == 'weft_events' and line['labels']['category'] == 'net'}


@case
def counted_calls_are_not_written():
    once = {'note': 6, 'create': 1, 'signal': 1, 'fail': 1}
    with subject() as program:
        program.ctl('set', 'net=count')
        equal(program.levels()['net'], 'count')
        lines = program.send('round')
        assert 'enabled 100' in lines, 'callers that only compare the level take it for off: %r' % lines
        assert 'task 1' in lines, lines
        equal(counted(program.pid), once)
        program.send('round')
        twice = {kind: 2 * count for kind, count in once.items()}
        equal(counted(program.pid), twice)
        assert 'weft_events_total{program="levels-subject",pid="%d",category="net",kind="note"} 12' % program.pid \
            in weft('metrics', '--openmetrics', program.pid).stdout
        program.ctl('set', 'net=off')
        program.send('round')
        program.ctl('set', 'net=trace')
        program.send('round')
        equal(counted(program.pid), twice)
        program.end()
        equal(counted(program.trace), twice)
        equal(notes(program.trace), 3 * expected_round(net='off') + expected_round(net='trace'))
        assert 'weft_events{category="net",kind="note"}' in weft('info', program.trace).stdout


@case
def a_recorder_that_cannot_count_is_not_asked_to():
    """An older one has no table of counts: this one's gets another number."""
    with subject() as program:
        with open(program.ring(), 'r+b') as ring:
            head = ring.read(1 << 17)
            at = head.index(struct.pack('<HBBII', 4, 2, 4, 16, 40))  # number, growth, cut, bytes of a row, room
            ring.seek(at)
            ring.write(struct.pack('<H', 4711))
        before = program.levels()
        said = program.ctl('set', 'db=info', 'net=count', status=1).stderr
        assert said.endswith(': its libweft cannot count: it is older than the level count; nothing is set\n') and said.count('\n') == 1, said
        equal(program.levels(), before)
        program.ctl('set', 'net=trace')


@case
def all_categories_may_be_counted_from_the_start():
    with subject(WEFT_LEVEL='count', WEFT_CATEGORIES='db=info') as program:
        equal(program.levels(), {'program': 'count', 'net': 'count', 'db': 'info'})
        program.send('round')
        program.end()
        equal(counted(program.trace)['note'], 6)
        equal(notes(program.trace), expected('db', 'info'))


@case
def status_lists_what_libraries_registered():
    with subject() as program:
        equal([(c['name'], c['level'], c['description']) for c in program.status()['categories']],
              [('program', 'info', 'calls without a category'), ('cpu', 'info', OFF_CPU), ('net', 'info', 'connections and streams'),
               ('db', 'info', 'queries')])
        text = program.ctl('status').stdout
        for part in ('"net"', '"connections and streams"', 'info', str(program.pid)):
            assert part in text, text


@case
def patterns_set_many():
    with subject() as program:
        program.ctl('set', 'n*t=debug', '*b=off')
        equal(program.levels(), {'program': 'info', 'net': 'debug', 'db': 'off'})
        program.ctl('set', 'net=trace', '*=warning')
        equal(program.levels(), {'program': 'warning', 'net': 'trace', 'db': 'warning'}, '* counts first')


@case
def a_library_that_is_loaded_later_begins_with_what_was_set_for_all():
    with subject() as program:
        program.ctl('set', '*=debug')
        program.send('load ' + PLUGIN)
        program.send('plugin')
        program.end()
        equal(notes(program.trace), expected('plug', 'debug'))


@case
def a_library_comes_and_goes():
    with subject() as program:
        wanted = []
        for level in ('info', 'trace', 'error'):
            program.send('load ' + PLUGIN)
            program.ctl('set', 'plug=' + level)
            program.send('plugin')
            program.send('round')
            program.send('unload')
            wanted += expected('plug', level) + expected_round()
            equal(program.levels(), {'program': 'info', 'net': 'info', 'db': 'info', 'plug': level})
        program.end()
        equal(notes(program.trace), wanted)


@case
def a_level_applies_to_another_copy_of_the_recorder():
    with subject(WEFT_CATEGORIES='plug=error') as program:
        program.send('load ' + OWN_COPY)
        program.send('plugin')
        program.ctl('set', 'plug=debug')
        program.send('plugin')
        program.ctl('set', 'plug=off')
        program.send('plugin')
        equal(program.send('set pl*=5'), ['set 0'])
        program.send('plugin')
        program.end()
        equal(notes(program.trace), expected('plug', 'error') + expected('plug', 'debug') + expected('plug', 'trace'))


@case
def seventy_categories_and_more():
    with subject() as program:
        program.ctl('set', '*=debug')
        program.send('many')
        program.ctl('set', 'many.3=off', 'other=off')
        levels = program.levels()
        equal(len(levels), 63)
        equal([name for name, level in levels.items() if level == 'off'], ['many.3', 'other'])
        program.send('many')
        program.end()
        # program, cpu, net and db; 59 more have numbers of their own
        first = ['many.%d' % i for i in range(70)]
        equal(notes(program.trace), first + [n for i, n in enumerate(first) if i < 59 and i != 3])


@case
def a_child_begins_with_its_parents_levels():
    with subject() as program:
        program.ctl('set', 'net=debug', 'db=off')
        child = int(program.send('fork')[0])
        program.send('round')
        equal(program.levels(child), {'program': 'info', 'net': 'debug', 'db': 'off'})
        program.ctl('set', 'net=off', 'db=trace', pid=child)
        program.send('round')
        equal(program.levels(), {'program': 'info', 'net': 'debug', 'db': 'off'}, "the parent's")
        program.record.stdin.write('end\n')  # the child; the parent then says "done"
        program.record.stdin.flush()
        equal(program.record.stdout.readline(), 'done\n')
        program.send('round')
        program.end()
        child_trace, = set(glob.glob(os.path.join(program.path, '*.weft'))) - {program.trace}
        equal(notes(child_trace), expected_round(net='debug', db='off') + expected_round(net='off', db='trace'))
        equal(notes(program.trace), expected_round(net='debug', db='off'))


@case
def the_environment_sets_levels():
    with subject(WEFT_LEVEL='error', WEFT_CATEGORIES='net=debug,plu*=trace,,*=warning') as program:
        equal(program.levels(), {'program': 'warning', 'net': 'debug', 'db': 'warning'})
        program.send('load ' + PLUGIN)
        program.send('plugin')
        program.send('round')
        report = program.end()
        assert 'ignored a setting' not in report, report
        equal(notes(program.trace), expected('plug', 'trace') + expected_round('warning', 'debug', 'warning'))


@case
def a_wrong_environment_is_reported_and_the_program_recorded():
    with subject(WEFT_LEVEL='loud', WEFT_CATEGORIES='net=debug,db,=off,db=quiet') as program:
        program.send('round')
        report = program.end()
        for part in ('WEFT_LEVEL: not a level', '"db": not CATEGORY=LEVEL', '"=off": not CATEGORY', '"db=quiet": not a level'):
            assert part in report, report
        equal(notes(program.trace), expected_round(net='debug'))


@case
def the_program_sets_its_own_levels():
    with subject() as program:
        equal(program.send('set db=4'), ['set 0'])
        equal(program.send('set plug=5'), ['set 0'])
        equal(program.send('set net=7')[0], 'set -2')
        program.send('load ' + PLUGIN)
        program.send('plugin')
        program.send('round')
        program.end()
        equal(notes(program.trace), expected('plug', 'trace') + expected_round(db='debug'))


@case
def calls_that_are_off_evaluate_nothing_yet_tasks_have_ids():
    with subject() as program:
        equal(program.send('round'), ['task 1', 'evaluated 1', 'enabled 100'])
        program.ctl('set', 'net=off')
        equal(program.send('round'), ['task 1', 'evaluated 0', 'enabled 100'])
        program.ctl('set', '*=trace')
        equal(program.send('round'), ['task 1', 'evaluated 1', 'enabled 111'])
        program.end()


@case
def switches_are_never_filtered():
    with subject() as program:
        program.ctl('set', '*=off')
        program.send('round')
        program.end()
        events = json_lines(weft('dump', '--json', program.trace).stdout)
        equal([e['event'] for e in events], ['switch', 'switch'])
        assert events[0]['task'] > 0 and events[1]['task'] is None, events


@case
def changes_are_in_the_trace():
    with subject() as program:
        program.ctl('set', 'net=debug')
        program.ctl('set', '*=off')
        program.end()
        for changes in (json.loads(weft('info', '--json', program.trace).stdout)['changes'],
                        json.loads(weft('ctl', '--json', program.trace, 'status').stdout)['changes']):
            equal([(c['category'], c['level']) for c in changes], [('net', 'debug'), ('*', 'off')])
            assert changes[0]['time'] < changes[1]['time'], changes
        text = weft('info', program.trace).stdout
        assert 'net=debug at' in text and '*=off at' in text, text


@case
def more_changes_than_there_is_room_for():
    with subject() as program:
        for number in range(70):
            program.ctl('set', 'net=%s' % LEVELS[number % 6])
        changes = program.status()['changes']
        equal([c['level'] for c in changes], [LEVELS[number % 6] for number in range(6, 70)])


@case
def many_set_levels_at_once():
    with subject() as program:
        setters = [subprocess.Popen([WEFT, 'ctl', program.ring(), 'set', 'net=debug', 'db=debug'], env=program.env)
                   for _ in range(20)]
        for setter in setters:
            equal(status_of(setter), 0)
        changes = program.status()['changes']
        equal(sorted(c['category'] for c in changes), ['db'] * 20 + ['net'] * 20)


@case
def unknown_categories_and_levels_set_nothing():
    with subject() as program:
        report = program.ctl('set', 'net=off', 'nte=debug', status=1).stderr
        assert 'no category "nte"' in report and '"program", "cpu", "net", "db"' in report, report
        report = program.ctl('set', 'net=loud', status=2).stderr
        assert 'level "loud" is unknown' in report, report
        for wrong in ('net', '=off', ''):
            assert 'CATEGORY=LEVEL' in program.ctl('set', wrong, status=2).stderr
        assert 'missing' in program.ctl('set', status=2).stderr
        assert 'too many' in program.ctl('status', 'all', status=2).stderr
        equal(program.levels()['net'], 'info')


@case
def a_saved_trace_does_not_listen():
    with subject() as program:
        program.send('round')
        program.end()
        before = open(program.trace, 'rb').read()
        report = weft('ctl', program.trace, 'set', 'net=off', status=1).stderr
        assert 'no program records here' in report, report
        equal(open(program.trace, 'rb').read() == before, True, 'untouched')
        equal(json.loads(weft('ctl', '--json', program.trace, 'status').stdout)['recording'], False)


@case
def missing_write_permission_is_reported():
    with subject() as program:
        if os.geteuid() == 0:
            if not os.path.exists('/usr/bin/setpriv'):
                skip('setpriv is not installed')
            prefix = ['setpriv', '--reuid', '65534', '--clear-groups']
            os.chmod(program.ring(), 0o644)
            folder = os.path.dirname(program.ring())
            while len(folder) >= len(program.path):
                os.chmod(folder, 0o755)
                folder = os.path.dirname(folder)
        else:
            prefix = []
            os.chmod(program.ring(), 0o444)
        result = run([*prefix, WEFT, 'ctl', program.ring(), 'set', 'net=off'])
        equal(result.returncode, 1, result.stderr)
        assert 'Permission denied' in result.stderr, result.stderr
        result = run([*prefix, WEFT, 'ctl', '--json', program.ring(), 'status'])
        equal([c['name'] for c in json.loads(result.stdout)['categories']], ['program', 'cpu', 'net', 'db'])


@case
def other_files_are_reported():
    with temporary_directory() as path:
        empty, text = os.path.join(path, 'empty'), os.path.join(path, 'text')
        open(empty, 'w').close()
        with open(text, 'w', encoding='utf-8') as file:
            file.write('no buffer' * 1000)
        for wrong in (empty, text, path, os.path.join(path, 'missing')):
            assert wrong in weft('ctl', wrong, 'status', status=3).stderr


main()
