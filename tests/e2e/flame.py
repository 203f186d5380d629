# SPDX-License-Identifier: ISC
"""Flame graphs of where in the code threads waited, and the same for other programs."""
import gzip
import json
import os
import re
import shutil
import xml.etree.ElementTree as ElementTree

import debug_information
from browser import browse
from harness import DATA, SOURCE, WEFT, case, equal, main, run, skip, temporary_directory, weft
from otlp_reader import read

SUBJECT = os.path.join(SOURCE, 'tests', 'e2e', 'wait_calls_subject.c')
WITHOUT = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
SVG = '{http://www.w3.org/2000/svg}'

# The field numbers of pprof's profile.proto.
PROFILE = {1: ('types', [{1: ('type', 'int64'), 2: ('unit', 'int64')}]),
           2: ('samples', [{1: ('locations', ['uint64']), 2: ('values', ['int64'])}]),
           4: ('locations', [{1: ('id', 'uint64'), 4: ('line', {1: ('function', 'uint64'), 2: ('line', 'int64')})}]),
           5: ('functions', [{1: ('id', 'uint64'), 2: ('name', 'int64'), 3: ('symbol', 'int64'), 4: ('file', 'int64')}]),
           6: ('strings', ['text']), 10: ('duration', 'int64'), 14: ('default', 'int64')}


class Recorded:
    """A trace in which a thread waits for a lock that main holds."""
    def __enter__(self):
        self.folder = temporary_directory()
        folder = self.folder.__enter__()
        self.path = os.path.join(folder, 'trace.weft')
        self.out = os.path.join(folder, 'out')
        program = debug_information.built(SUBJECT, folder, '-g')
        result = run([WEFT, 'record', '-a', 'thread,io', '-o', self.path, program, 'lock'], env={'XDG_RUNTIME_DIR': folder})
        equal(result.returncode, 0, result.stderr)
        return self

    def __exit__(self, *what):
        return self.folder.__exit__(*what)

    def rows(self, *options):
        return json.loads(weft('stats', '--by', 'stack', '--json', *options, self.path).stdout)['rows']


def titles(svg):
    """The tooltips of the boxes, by function."""
    found = [group.find(SVG + 'title').text for group in ElementTree.fromstring(svg).iter(SVG + 'g')]
    return {text.split(':')[0].split(' (')[0]: text for text in found}


def calls_of(row):
    """The calls of a row of statistics, the innermost first."""
    return (['[%s]' % row['kind']] if 'kind' in row else []) + (row['name'] or '[calls not noted]').split(' ← ')


def functions_of(row):
    """The functions of a row of statistics, the outermost first."""
    return [call.split(' (')[0] for call in reversed(calls_of(row))]


@case
def boxes_have_tooltips():
    with Recorded() as trace:
        boxes = titles(weft('flame', trace.path).stdout)
        count = sum(row['count'] for row in trace.rows())
        assert boxes['all'].endswith(f', 100 %, {count} waits'), boxes
        assert boxes['flush_log'].startswith('flush_log (wait_calls_subject.c:') and boxes['flush_log'].endswith(', 1 wait'), boxes
        assert '[lock]' in boxes and '[timer]' in boxes, boxes
        equal(weft('flame', trace.path, '-o', trace.out + '.svg').stdout, '')
        with open(trace.out + '.svg', encoding='utf-8') as file:
            equal(titles(file.read()), boxes)


@case
def a_part_is_drawn():
    """A range; a thread; all but a thread."""
    with Recorded() as trace:
        assert 'no waits here' in weft('flame', '--start', '1000s', trace.path, status=1).stderr
        assert 'flush_log' in titles(weft('flame', '--only', 'write_records', trace.path).stdout)
        assert 'wait_for_lock' not in titles(weft('flame', '--only', 'write_records', trace.path).stdout)
        assert 'flush_log' not in titles(weft('flame', '--hide', 'write_records', trace.path).stdout)
        row, = [row for row in trace.rows() if (row['name'] or '').startswith('flush_log')]
        half = str(row['max'] // 2) + 'ns'  # the wait is longer than that, so a part of it is behind
        picture = weft('flame', '--start', half, '--only', 'write_records', trace.path).stdout
        equal(titles(picture)['flush_log'].split(', ')[2], '1 wait')
        left = next(row for row in trace.rows('--start', half) if (row['name'] or '').startswith('flush_log'))
        assert left['waiting'] + left['delay'] <= row['max'], (left, row)
        assert 'Where threads waited' in picture and 'in 1 wait, within' in picture, picture


@case
def a_difference_has_both_times():
    with Recorded() as trace:
        boxes = titles(weft('flame', '--diff', trace.path, trace.path).stdout)
        assert 'flush_log' in boxes, boxes
        for text in boxes.values():
            now, before = text.rpartition(': ')[2].split(', ')[0::3]
            equal(before, now + ' before', text)
        assert '; before, in trace.weft: ' in weft('flame', '--diff', trace.path, trace.path).stdout
        assert 'no waits' in weft('flame', '--diff', WITHOUT, trace.path, status=1).stderr
        one = weft('export', '--to', 'collapsed', trace.path).stdout
        both = weft('export', '--to', 'collapsed', '--diff', trace.path, trace.path).stdout
        equal(both, re.sub(r' (\d+)$', r' \1 \1', one, flags=re.MULTILINE))
        equal(weft('export', '--to', 'collapsed', '--diff', trace.path, WITHOUT).stdout, re.sub(r'$', ' 0', one.rstrip('\n'), flags=re.MULTILINE) + '\n')


@case
def the_page_shows_it():
    with Recorded() as trace:
        page = trace.out + '.html'
        result = weft('render', trace.path, '-o', page, status=None)
        if result.returncode == 1 and 'without the page' in result.stderr:
            skip(result.stderr.strip())
        seen = browse('file://' + page, [['key', 'k'], ['shows', 'Where threads waited: '], ['shows', 'flush_log'], ['linked'], ['look'],
                                         ['key', 'Escape'], ['look']], title='trace.weft')
        shown, hidden = seen['results']
        assert 'flame=waits' in shown['hash'] and 'Outermost functions' in shown['panel'], shown
        assert 'Where threads waited' not in hidden['text'] and hidden['panel'] is None, hidden


@case
def collapsed_stacks_are_the_statistics():
    with Recorded() as trace:
        lines = dict(line.rsplit(' ', 1) for line in weft('export', '--to', 'collapsed', trace.path).stdout.splitlines())
        expected = {}
        for row in trace.rows():
            path = ';'.join(functions_of(row))
            expected[path] = expected.get(path, 0) + row['waiting'] + row['delay']
        equal({path: int(ns) for path, ns in lines.items()}, {path: ns for path, ns in expected.items() if ns})


@case
def pprof_has_the_statistics():
    with Recorded() as trace:
        weft('export', '--to', 'pprof', trace.path, '-o', trace.out)
        with open(trace.out, 'rb') as file:
            data = file.read()
        profile = read(gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data, PROFILE)
        strings = profile['strings']
        equal(strings[0], '')
        equal([(strings[int(one['type'])], strings[int(one['unit'])]) for one in profile['types']], [('waits', 'count'), ('waiting', 'nanoseconds')])
        equal(strings[int(profile['default'])], 'waiting')
        functions = {one['id']: one for one in profile['functions']}
        lines = {one['id']: one['line'] for one in profile['locations']}
        equal((len(functions), len(lines)), (len(profile['functions']), len(profile['locations'])))

        def call(location):
            line = lines[location]
            function = functions[line['function']]
            name = strings[int(function['name'])]
            return name + (' (%s:%s)' % (strings[int(function['file'])], line['line']) if 'file' in function else '')

        found = [([call(location) for location in sample['locations']], [int(value) for value in sample['values']]) for sample in profile['samples']]
        expected = [(calls_of(row), [row['count'], row['waiting'] + row['delay']]) for row in trace.rows()]
        equal(sorted(found), sorted(expected))


@case
def pprof_is_read_by_gos():
    if not shutil.which('go'):
        skip('go is not installed')
    with Recorded() as trace:
        weft('export', '--to', 'pprof', trace.path, '-o', trace.out)
        text = run(['go', 'tool', 'pprof', '-raw', trace.out]).stdout
        assert 'waits/count waiting/nanoseconds[dflt]' in text, text
        samples = re.findall(r'^ +(\d+) +(\d+): ', text, re.MULTILINE)
        equal(sorted((int(count), int(ns)) for count, ns in samples),
              sorted((row['count'], row['waiting'] + row['delay']) for row in trace.rows()))
        assert re.search(r' flush_log wait_calls_subject\.c:\d+', text), text


@case
def traces_without_calls():
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out.svg')
        assert 'no waits here whose calls were noted' in weft('flame', WITHOUT, '-o', out, status=1).stderr
        assert not os.path.exists(out)
        result = weft('export', '--to', 'collapsed', WITHOUT)
        equal(result.stdout, '')
        assert 'no waits here whose calls were noted' in result.stderr


@case
def wrong_arguments():
    for args in ([], ['--diff', WITHOUT], [WITHOUT, '-o', 'x.gif'], [WITHOUT, '-o', 'svg'], ['--width', '1', WITHOUT], ['--only', '', WITHOUT], ['--start', 'x', WITHOUT],
                 ['--only', 'kind:colour', WITHOUT], ['--group-by', 'thread', WITHOUT]):
        assert weft('flame', *args, status=2).stderr
    equal(weft('flame', '/nowhere', status=3).stdout, '')
    equal(weft('export', '--to', 'pprof', '--spans', 'all', WITHOUT, status=2).stdout, '')
    equal(weft('export', '--to', 'pprof', '--diff', WITHOUT, WITHOUT, status=2).stdout, '')
    equal(weft('export', '--to', 'collapsed', '--diff', WITHOUT, status=2).stdout, '')


main()
