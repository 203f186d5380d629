# SPDX-License-Identifier: ISC
"""The cookbook: its programs are recorded, their traces say what the page promises, and the page shows their code."""
import json
import os
import re
import sys

from harness import BUILD, SOURCE, case, equal, json_lines, main, run, temporary_directory, weft

PAGE = os.path.join(SOURCE, 'docs', 'cookbook.md')
with open(PAGE) as page:
    SECTIONS = re.findall(r'^## (.+?)\n(?:(?!^## ).)*?```c\n(.*?)```\n\n!\[[^]]+\]\(images/cookbook/([a-z-]+)\.svg\)',
                          page.read(), re.MULTILINE | re.DOTALL)
NAMES = [name for _, _, name in SECTIONS]


def folder(*parts):
    return os.path.join(SOURCE, *parts)


class Recorded:
    """A recipe's program, recorded."""

    def __init__(self, here, name):
        self.path = os.path.join(here, name + '.weft')
        self.output = weft('record', '-o', self.path, os.path.join(BUILD, 'examples', 'cookbook', name)).stdout
        self.info = json.loads(weft('info', '--json', self.path).stdout)
        self.tasks = json_lines(weft('dump', '--tasks', '--json', self.path).stdout)
        self.edges = json_lines(weft('dump', '--edges', '--json', self.path).stdout)

    def task(self, label):
        task, = [t for t in self.tasks if t['label'] == label]
        return task

    def labels(self, outcome):
        return sorted(t['label'] for t in self.tasks if t['outcome'] == outcome)

    def has_edge(self, kind, source, target):
        return any((e['edge'], e['from'], e['to']) == (kind, self.task(source)['task'], self.task(target)['task'])
                   for e in self.edges)


@case
def each_recipe_has_a_section_and_a_picture():
    programs = sorted(name[:-2] for name in os.listdir(folder('examples', 'cookbook')) if name.endswith('.c'))
    equal(sorted(NAMES), programs)
    assert len(NAMES) == 15, NAMES
    for name in NAMES:
        with open(folder('docs', 'images', 'cookbook', name + '.svg')) as picture:
            assert '<svg' in picture.read(200), name


@case
def the_page_shows_the_code_of_the_programs():
    for title, code, name in SECTIONS:
        with open(folder('examples', 'cookbook', name + '.c')) as file:
            part = re.search(r'/\* recipe: \*/\n(.*?)/\* end of recipe \*/', file.read(), re.DOTALL)
        equal(code, part.group(1), '%s: tools/cookbook writes the page anew' % title)
        calls = re.findall(r'\b(?:weft|WEFT)_\w+\(', code)
        assert 1 <= len(calls) <= 9, (title, calls)


@case
def recipes_leave_no_diagnostics_and_name_no_fault():
    with temporary_directory() as here:
        for name in NAMES:
            trace = Recorded(here, name)
            assert trace.output, name
            equal(trace.info['diagnostics'], [], name)
            equal(trace.info['losses'], {}, name)
            equal(trace.labels('unfinished'), [], name)
            equal(trace.labels('never_resolved'), [], name)


@case
def recipes_run_unrecorded():
    for name in NAMES:
        result = run([os.path.join(BUILD, 'examples', 'cookbook', name)])
        # The sanitizer warns that it does not know of other stacks.
        said = [line for line in result.stderr.splitlines() if 'makecontext' not in line]
        equal((result.returncode, said), (0, []), name)


@case
def promises_are_said():
    with temporary_directory() as here:
        equal(Recorded(here, 'callback').task('look up mail')['parent'],
              Recorded(here, 'callback').task('look up host')['task'])
        coroutines = Recorded(here, 'coroutine')
        equal([coroutines.task(label)['activations'] for label in ('soup', 'bread')], [2, 2])
        device = Recorded(here, 'device')
        spans = json_lines(weft('dump', '--spans', '--json', device.path).stdout)
        equal([(span['track'], span['span']) for span in spans], [('disk', 'write')] * 4)
        writes = [task for task in device.tasks if task['label'] == 'write']
        # The device's clock may drift by 500 ppm from the recorder's, over some ms.
        assert all(task['start'] - 10000 <= span['start'] <= span['end'] <= task['end'] + 10000
                   for task, span in zip(writes, spans, strict=True)), (writes, spans)
        operations = Recorded(here, 'operation')
        equal([t['label'] for t in operations.tasks], ['session'] + ['read', 'write'] * 3)
        equal([operations.info['by_event'][event] for event in ('try_read', 'read')], [6, 6])
        promises = Recorded(here, 'promise')
        assert promises.has_edge('read', 'parse', 'read file') and promises.has_edge('read', 'check', 'parse')
        equal(Recorded(here, 'cancellation').labels('cancelled'), ['download'])
        timeouts = Recorded(here, 'timeout')
        equal((timeouts.labels('timed_out'), timeouts.labels('failed')), (['reply'], ['slow call']))
        selects = Recorded(here, 'select')
        assert selects.has_edge('read', 'session', 'reply')
        equal([selects.labels(outcome) for outcome in ('cancelled', 'closed')], [['timer'], ['stop']])
        requests = Recorded(here, 'request-id')
        equal(Recorded(here, 'thread-pool').labels('closed'), ['pool'])
        equal(sorted(t['label'] for t in requests.tasks if 'GET' in t['label']), ['GET / #41', 'GET /news #42'])


main()
