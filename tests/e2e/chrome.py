# SPDX-License-Identifier: ISC
"""Chrome's trace events of programs that write them, compared with a naive reading of the JSON."""
import gzip
import json
import os
import shutil
from collections import Counter

from harness import case, equal, json_lines, main, run, skip, temporary_directory, weft

NODE = '''
const sleep = ms => new Promise(done => setTimeout(done, ms));
async function query(n) { await sleep(1); return n; }
async function serve() { return await Promise.all([query(1), query(2)]); }
serve().then(() => require('fs').readFile(__filename, () => setImmediate(() => {})));
'''


def need(program):
    if not shutil.which(program):
        skip('%s is not installed' % program)


def dump(path):
    return json_lines(weft('dump', '--json', path).stdout)


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def events_of(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)['traceEvents']


def clang_trace(folder):
    need('clang-14')
    source = write(os.path.join(folder, 'a.c'), '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return puts("a"); }\n')
    equal(run(['clang-14', '-ftime-trace', '-ftime-trace-granularity=0', '-c', source, '-o', source[:-2] + '.o']).returncode, 0)
    return source[:-2] + '.json'


def node_trace(folder):
    need('node')
    script = write(os.path.join(folder, 'a.js'), NODE)
    result = run(['node', '--trace-event-categories', 'v8,node,node.async_hooks', script], cwd=folder)
    equal(result.returncode, 0, result.stderr)
    return os.path.join(folder, 'node_trace.1.log')


@case
def spans_of_clang_are_all_there():
    with temporary_directory() as folder:
        path = clang_trace(folder)
        wanted, names = Counter(), Counter()
        for event in events_of(path):
            if event['ph'] == 'X':
                detail = event.get('args', {}).get('detail')
                wanted[event['ts'] * 1000, event['name'] + (' ' + detail if detail else '')] += 1
                names[event['name']] += 1
        assert names['Source'] >= 2 and names['Total Source'] == 1, names
        lines = dump(path)
        equal(Counter((line['time'], line['name']) for line in lines if line['event'] == 'begin'), wanted)
        equal(sum(line['event'] == 'end' for line in lines), sum(wanted.values()))
        picture = os.path.join(folder, 'a.svg')
        weft('render', path, '-o', picture)
        with open(picture, encoding='utf-8') as file:
            assert 'clang-14' in file.read()


def waits_of_node(events):
    """Pairs of resources' ids: a promise, and the promise that it waits for."""
    promises, waits = set(), []
    for event in events:
        if event['ph'] == 'b' and 'async_hooks' in event.get('cat', '') and event['name'] == 'PROMISE':
            number, data = int(event['id'], 16), event['args']['data']
            promises.add(number)
            if data['triggerAsyncId'] != data['executionAsyncId'] and data['triggerAsyncId'] in promises:
                waits.append((number, data['triggerAsyncId']))
    return waits


@case
def promises_of_node_wait_for_each_other():
    with temporary_directory() as folder:
        path = node_trace(folder)
        events = sorted((event for event in events_of(path) if event['ph'] in 'be' and 'async_hooks' in event['cat']),
                        key=lambda event: event['ts'])
        created = [event for event in events if event['ph'] == 'b' and not event['name'].endswith('_CALLBACK')]
        lines = dump(path)
        tasks = [line['child'] for line in lines if line['event'] == 'create' and line['kind'] != 'thread' and not line['kind'].startswith('node.')]
        equal(len(tasks), len(created))
        ids = {task: int(event['id'], 16) for task, event in zip(tasks, created)}
        waits = waits_of_node(events)
        assert len(waits) >= 3, waits
        equal(sorted((ids[line['task']], ids[line['source']]) for line in lines if line['event'] == 'try_read'), sorted(waits))
        # Each callback is an activation.
        runs = sum(event['name'].endswith('_CALLBACK') and event['ph'] == 'b' for event in events)
        equal(sum(line['event'] == 'switch' and line['task'] in ids for line in lines) >= runs, True)
        waiting = next(line['task'] for line in lines if line['event'] == 'try_read')
        assert 'waits for promise' in weft('why', path, str(waiting)).stdout


@case
def a_trace_is_what_it_was_after_a_cut():
    with temporary_directory() as folder:
        path, part, packed = node_trace(folder), os.path.join(folder, 'a.weft'), os.path.join(folder, 'a.gz')
        weft('cut', path, '-o', part)
        equal(dump(part), dump(path))
        with open(path, 'rb') as file, gzip.open(packed, 'wb') as out:
            out.write(file.read())
        equal(dump(packed), dump(path))
        equal(json.loads(weft('info', '--json', path).stdout)['format'], 'chrome')


@case
def a_page_has_it_in_wefts_format():
    with temporary_directory() as folder:
        path = write(os.path.join(folder, 'a.json'), '[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a"}]')
        page = os.path.join(folder, 'a.html')
        result = weft('render', path, '-o', page, status=None)
        if 'without the page' in result.stderr:
            skip('this build has no page')
        equal(result.returncode, 0, result.stderr)
        with open(page, encoding='utf-8') as file:
            assert 'class="trace"' in file.read()
        write(path, '[{"ph":"i","ts":1,"pid":1,"name":"a"},{"ph":"i","ts":1,"pid":2,"name":"a"}]')
        equal(weft('render', path, '-o', page, status=1).stderr,
              "weft: %s: the page does not read Chrome's traces of several processes\n" % path)


main()
