# SPDX-License-Identifier: ISC
"""The examples, recorded: their traces are checked. Also the demo, which is one of them."""
import json
import os
import re

from harness import BUILD, SOURCE, case, equal, json_lines, main, run, temporary_directory, weft

EXAMPLES = ['block-read', 'echo-server', 'hello', 'threads']


class Trace:
    """An example's run: its output, and its trace as weft shows it."""

    def __init__(self, directory, name, *args):
        self.path = os.path.join(directory, name + '.weft')
        recorded = weft('record', '-o', self.path, os.path.join(BUILD, 'examples', name), *args)
        self.output = recorded.stdout
        self.info = json.loads(weft('info', '--json', self.path).stdout)
        self.events = json_lines(weft('dump', '--json', self.path).stdout)
        self.tasks = json_lines(weft('dump', '--tasks', '--json', self.path).stdout)
        self.edges = json_lines(weft('dump', '--edges', '--json', self.path).stdout)
        equal(self.info['diagnostics'], [], name)
        equal(self.info['losses'], {}, name)
        equal(self.info['format'], 'weft')

    def numbers(self):
        return [int(number) for number in re.findall(r'\d+', self.output)]

    def counter(self, name):
        counter, = [c for c in self.info['counters'] if c['name'] == name]
        return counter

    def task(self, label):
        task, = [t for t in self.tasks if t['label'] == label]
        return task

    def labelled(self, pattern):
        return [t for t in self.tasks if t['label'] and re.fullmatch(pattern, t['label'])]

    def edges_of(self, kind, source=None, target=None):
        return [e for e in self.edges if e['edge'] == kind and source in (None, e['from'])
                and target in (None, e['to'])]

    def outcomes(self):
        return {key: count for key, count in self.info['tasks'].items() if count and key != 'total'}


def one_after_the_other(tasks):
    for before, after in zip(tasks, tasks[1:]):
        assert before['end'] <= after['start'], (before, after)


@case
def examples_run_unrecorded():
    with temporary_directory() as here:
        for name in EXAMPLES:
            result = run([os.path.join(BUILD, 'examples', name)], cwd=here)
            equal((result.returncode, result.stderr), (0, ''), name)
            assert result.stdout, name
        equal(os.listdir(here), [])


@case
def hello():
    with temporary_directory() as here:
        trace = Trace(here, 'hello')
        equal([event['event'] for event in trace.events],
              ['create', 'label', 'switch', 'resolve', 'switch'])
        task, = trace.tasks
        equal((task['label'], task['resolved'], task['activations']), ('say hello', True, 1))
        assert task['running'] > 0
        equal(trace.info['threads'], 1)


@case
def echo_server_counts():
    with temporary_directory() as here:
        trace = Trace(here, 'echo-server')
        calls, answered, refused, size = trace.numbers()
        equal((calls, answered, refused), (31, 30, 1))
        equal(len(trace.labelled(r'[A-C]\d+: \w+')), calls)
        equal(len(trace.labelled(r'serve [A-C]\d+')), calls)
        equal(trace.outcomes(),
              {'fulfilled': len(trace.tasks) - 3, 'failed': 1, 'never_resolved': 1, 'unfinished': 1})
        equal(trace.counter('bytes')['last'], size)
        equal(trace.counter('requests')['last'], calls - answered)
        assert 1 < trace.counter('requests')['max'] <= 7, trace.counter('requests')
        equal(trace.counter('requests')['changes'], calls + answered)


@case
def echo_server_failures():
    with temporary_directory() as here:
        trace = Trace(here, 'echo-server')
        failed = {t['label']: t['failed'] for t in trace.tasks if t['failed']}
        equal(failed, {'serve B5': 'unknown verb "ecko"', 'C5: subscribe': 'never resolved'})
        equal([t['label'] for t in trace.tasks if t['expected']], ['C5: subscribe'])
        unfinished, = [t for t in trace.tasks if not t['resolved'] and not t['expected']]
        equal(unfinished['label'], 'serve C5')


@case
def echo_server_shows_waiting_tasks_and_their_sources():
    with temporary_directory() as here:
        trace = Trace(here, 'echo-server')
        for call in trace.labelled(r'[A-C]\d+: \w+'):
            name, verb = call['label'].split(': ')
            served = trace.task('serve ' + name)
            client = trace.task('client ' + name[0])
            equal(call['parent'], client['task'])
            equal(len(trace.edges_of('signal', call['task'], served['task'])), 1, name)
            if verb == 'subscribe':
                equal(trace.edges_of('resolve', target=call['task']), [])
                continue
            equal([e['from'] for e in trace.edges_of('resolve', target=call['task'])], [served['task']])
            equal(len(trace.edges_of('read', client['task'], call['task'])), 1, name)
        waves = trace.labelled(r'wave \d')
        equal(len(waves), 5)
        one_after_the_other(waves)
        reasons = {e['reason'] for e in trace.events if e['event'] == 'band' and e['kind'] == 'idle'}
        equal(reasons, {'epoll_wait'})


def check_blocks(trace, size, blocks):
    promises = [t for t in trace.tasks if t['kind'] == 'promise']
    equal([t['label'] for t in promises], ['block %d' % i for i in range(blocks)])
    one_after_the_other(promises)
    assert all(t['resolved'] for t in trace.tasks), trace.tasks
    equal(trace.outcomes(), {'fulfilled': blocks + 3, 'became': blocks - 1} if blocks > 1 else
          {'fulfilled': blocks + 3})
    equal(trace.counter('bytes')['last'], size)
    equal(trace.numbers()[0], blocks)
    driver = trace.task('disk driver')['task']
    for promise in promises:
        equal([e['from'] for e in trace.edges_of('resolve', target=promise['task'])], [driver])


@case
def block_read():
    with temporary_directory() as here:
        check_blocks(Trace(here, 'block-read'), 24 * 65536, 24)
        path = os.path.join(here, 'file')
        for size, blocks in ((1, 1), (65536 + 5, 2), (9 * 65536, 10)):
            with open(path, 'wb') as file:
                file.write(os.urandom(size))
            check_blocks(Trace(here, 'block-read', path), size, blocks)


@case
def threads():
    with temporary_directory() as here:
        trace = Trace(here, 'threads')
        primes, jobs = trace.numbers()
        equal(jobs, 24)
        assert 2 <= trace.info['threads'] <= 4, trace.info['threads']
        found = [e for e in trace.events if e['event'] == 'tag']
        equal(len(found), jobs)
        equal(sum(e['value'] for e in found), primes)
        equal(trace.counter('primes')['last'], primes)
        equal(trace.counter('jobs waiting')['last'], 0)
        equal(trace.outcomes(), {'fulfilled': jobs + 1})
        # A job is made on one thread and ends on another.
        maker = {e['child']: e['thread'] for e in trace.events if e['event'] == 'create'}
        doer = {e['target']: e['thread'] for e in trace.events if e['event'] == 'resolve'}
        collector = trace.task('count primes')['task']
        for task in (t['task'] for t in trace.labelled(r'primes from \d+')):
            assert maker[task] != doer[task], task
        equal(len(trace.edges_of('read')), jobs)
        equal(maker[collector], doer[collector])


@case
def pictures_name_what_went_wrong():
    """A picture of a task's own time: in one of the whole trace, the task may be too short for its name, as another
    program may have the processor for most of the time."""
    with temporary_directory() as here:
        trace = Trace(here, 'echo-server')
        picture = os.path.join(here, 'p.svg')
        for label, names in (('C5: subscribe', ['unknown verb']), ('wave 5', []), ('client A', [])):
            task = trace.task(label)
            weft('render', trace.path, '--start', '@%d' % task['start'], '--duration', '%dns' % (task['end'] - task['start']),
                 '-o', picture)
            with open(picture) as file:
                text = file.read()
            for name in [label] + names:
                assert name in text, (name, task)


@case
def demo():
    with temporary_directory() as here:
        for part in ('weft', 'examples'):
            os.symlink(os.path.join(BUILD, part), os.path.join(here, part))
        result = run([os.path.join(SOURCE, 'tools', 'demo'), here],
                     env={'DISPLAY': '', 'WAYLAND_DISPLAY': ''})
        equal(result.returncode, 0, result.stderr)
        match = re.search(r'The picture: (\S+)', result.stdout)
        assert match and os.path.getsize(match.group(1)) > 10000, result.stdout
        assert 'no display' in result.stdout, result.stdout
        assert os.path.exists(os.path.join(here, 'demo', 'demo.svg'))


main()
