# SPDX-License-Identifier: ISC
"""Compares weft with tests/oracle, a second and naive implementation: on the samples, and on random traces full
of events that honest programs rarely record.

    WEFT_ORACLE_TRACES=5000 WEFT_ORACLE_SEED=7 tests/e2e/oracle.py     tests more, other cases

The sanitized build tests other traces than the plain one, and fewer of them: sanitizers cost several times as much, and their
reports depend less on the values than on the paths that are taken.
"""
import json
import os
import random
import shutil
import sys

from harness import BUILD, DATA, SOURCE, case, json_lines, main, run, temporary_directory, weft
from measured import IS_SANITIZED
from traces import NONE, mirage, mirage_event, mirage_packet, sexp

sys.path.insert(0, os.path.join(SOURCE, 'tests', 'oracle'))
import decode  # noqa: E402
import model as rules  # noqa: E402
import stats  # noqa: E402
import tables  # noqa: E402
from same import check_rows, same, same_mapping, without_row  # noqa: E402

TRACES = int(os.environ.get('WEFT_ORACLE_TRACES', 16 if IS_SANITIZED else 48))
SEED = int(os.environ.get('WEFT_ORACLE_SEED', 2 if IS_SANITIZED else 1))


# ---- random traces ----

def operations_of(format_name):
    common = ['create'] * 6 + ['read'] * 6 + ['fulfil'] * 3 + ['become'] * 3 + \
        ['fail', 'label', 'label', 'add', 'switch', 'switch', 'gc']
    if format_name == 'sexp':
        return common
    return common + ['signal', 'signal_only', 'try_read', 'try_read', 'read_later', 'set', 'should_resolve']


def random_text(rng):
    return rng.choice(['a', 'name', 'two words', 'q"uote', 'back\\slash', 'caf\xe9', '', 'x' * 50])


def random_events(rng, format_name):
    """Few ids, so that they meet; times stand still, leap, and sometimes go back."""
    ids = list(range(rng.choice([2, 4, 12, 60])))
    created, time, events = [], rng.choice([0, 5, 10 ** 9, 1413637708 * 10 ** 9]), []

    def some_id():
        chance = rng.random()
        if chance < 0.04:
            return NONE
        if chance < 0.6 and created:
            return rng.choice(created[-6:])
        return rng.choice(ids)

    operations = operations_of(format_name)
    for _ in range(rng.choice([1, 3, 10, 60, 300])):
        time += rng.choice([0, 0, 1, 10, 500, 3000])
        if rng.random() < 0.02:
            time = max(0, time - 1000)
        operation, who = rng.choice(operations), some_id()
        if operation == 'create':
            child = some_id() if rng.random() < 0.2 else len(ids) + len(created)
            if child in created:  # the oracle knows tasks by their ids: it cannot have two of one
                child = len(ids) + len(created)
            created.append(child)
            kinds = list(range(18)) if format_name == 'sexp' else list(range(18)) + [50, 99, 255]
            event = (who, child, rng.choice(kinds + [2] * 20))
        elif operation == 'fail':
            event = (who, some_id(), random_text(rng))
        elif operation == 'label':
            event = (who, random_text(rng))
        elif operation == 'should_resolve':
            operation, event = 'label', (who, '__should_resolve')
        elif operation in ('add', 'set'):
            event = (who, rng.choice([1, -1, 5, -7, 100]), rng.choice(['a', 'b#1', 'b#2']))
        elif operation == 'switch':
            event = (who,)
        elif operation == 'gc':
            event = (rng.randrange(1000),)
        else:
            event = (who, some_id())
        events.append((time, operation, *event))
    return events


def damaged_mirage(rng, events):
    """Packets with cut strings, unknown operations, rubbish between; a ring that starts anywhere."""
    packets, at = [], 0
    while at < len(events):
        some = events[at:at + rng.randrange(1, 20)]
        at += len(some)
        body = b''.join(map(mirage_event, some))
        chance = rng.random()
        if chance < 0.1:
            body += mirage_event((some[-1][0], 'switch', 1))[:8] + bytes([rng.choice([14, 77, 255])])
        elif chance < 0.2:
            body += mirage_event((some[-1][0], 'label', 3, 'no end'))[:-1]
        elif chance < 0.3:
            body = body[:rng.randrange(len(body) + 1)]
        packets.append(body)
    first = rng.choice([0, 5, 65530])
    size = max(map(len, packets)) + 30 + rng.randrange(50)
    written = [mirage_packet(body, first + i, size) for i, body in enumerate(packets)]
    turn = rng.randrange(len(written))
    return b''.join(written[turn:] + written[:turn])


# ---- comparison ----

def check_trace(path):
    """Compares all output of weft for a trace of the old formats with the oracle's."""
    with open(path, 'rb') as file:
        events = decode.events(file.read())
    if events:
        same('events', json_lines(weft('dump', '--json', path).stdout), events)
        check_meaning(path, events)
    else:
        result = weft('dump', path, status=None)
        assert result.returncode in (0, 3) and not result.stdout, result


LOST = 'SELECT tid, start, "end" FROM losses JOIN threads USING (thread)'


def check_meaning(path, events):
    info, = json_lines(weft('info', '--json', path).stdout)
    of_weft = info['format'] == 'weft'
    dark = [(period['start'], period['end'], period['reason']) for period in info['dark']]
    lost = json_lines(weft('query', '--json', path, LOST).stdout) if dark and of_weft else [
        {'tid': None, 'start': start, 'end': end} for start, end, why in dark]
    model = rules.Model(events, info['end'] if info.get('ending') == 'stop' else 0, 'program' if of_weft else None, dark,
                        [(row['tid'], row['start'], row['end']) for row in lost])
    same('edges', json_lines(weft('dump', '--edges', '--json', path).stdout), rules.edges(model))
    same('spans', sorted(json_lines(weft('dump', '--spans', '--json', path).stdout), key=str), rules.spans(model))
    for options, tree in ((['--no-simplify'], rules.unsimplified(model)), ([], rules.simplified(model))):
        shown = json_lines(weft('dump', '--tasks', '--json', *options, path).stdout)
        same('tasks %s' % options, without_row(shown), rules.tasks(model, tree))
        check_rows(shown, model, tree)
    for table, question in tables.QUESTIONS.items():
        rows = json_lines(weft('query', '--json', path, question).stdout)
        same(table, sorted((list(row.values()) for row in rows), key=str), tables.expected(table, model, events))
    for counter in info['counters']:
        counter.pop('relative', None)
    for key, value in rules.summarize(model, events).items():
        same(key, [info[key]], [value])
    check_statistics(path, events, model)


def random_range(rng, events):
    """Options, and the range that they mean. Most ranges begin or end at an event's time."""
    first, last = events[0]['time'], events[-1]['time']
    start = rng.choice([rng.randint(first, last), rng.choice(events)['time']])
    end = max(start, rng.choice([rng.randint(first, last + 5), rng.choice(events)['time']]))
    if rng.random() < 0.4:
        return [], 0, None
    return ['--start', '@%d' % start, '--duration', '%dns' % (end - start)], start, end


def check_statistics(path, events, model):
    """A random grouping of the whole trace, or of a random part."""
    rng = random.Random('statistics %s' % events)
    by = rng.choice(['label', 'label', 'kind', 'parent', 'span'])
    options, start, end = random_range(rng, events)
    simplify = rng.random() < 0.5
    tree = rules.simplified(model) if simplify else rules.unsimplified(model)
    oracle = stats.Statistics(model, tree, start, end)
    shown = json.loads(weft('stats', '--json', '--by', by, *options, *([] if simplify else ['--no-simplify']), path).stdout)
    rows = {(row.pop('name'), row.pop('kind', None)): row for row in shown['rows']}
    for row in rows.values():
        longest = row.pop('longest')
        row.pop('most_delayed', None)
        if by != 'span':
            same('longest', row['max'], None if longest is None else oracle.life(model.tasks[longest]))
    same_mapping('statistics by %s %s' % (by, options), rows, oracle.span_rows() if by == 'span' else oracle.rows(by))
    same('counters', {row['name']: (row['changes'], row['before'], row['after']) for row in shown['counters']},
         stats.changes(model.counters, start, None if oracle.end == float('inf') else end))


def check_random(format_name, write):
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace')
        for number in range(TRACES):
            rng = random.Random('%d %s %d' % (SEED, format_name, number))
            events = random_events(rng, format_name)
            with open(path, 'wb') as file:
                file.write(write(rng, events))
            try:
                check_trace(path)
            except AssertionError as error:
                raise AssertionError('random trace %d (seed %d): %s' % (number, SEED, error)) from error


@case
def samples():
    for name in sorted(os.listdir(os.path.join(DATA, 'traces'))):
        if name.endswith(('.ctf', '.sexp')):
            check_trace(os.path.join(DATA, 'traces', name))


@case
def random_mirage_traces():
    check_random('mirage', lambda rng, events: mirage(events, rng.choice([200, 4096])))


@case
def random_sexp_traces():
    check_random('sexp', lambda rng, events: sexp(events))


@case
def random_damaged_traces():
    check_random('mirage', damaged_mirage)


@case
def random_calls_of_the_recorder():
    """Three threads at once. Another test checks that the events are those that were recorded."""
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace.weft')
        for number in range(TRACES):
            calls = [3, 20, 100, 400][number % 4]
            result = run([os.path.join(BUILD, 'tests', 'random_calls'), path, SEED * 100000 + number, calls])
            assert result.returncode == 0, result
            try:
                check_meaning(path, json_lines(weft('dump', '--json', path).stdout))
            except AssertionError as error:
                # Threads never meet the same way again.
                kept = shutil.copy(path, os.path.join(BUILD, 'oracle-failed.weft'))
                raise AssertionError('trace %d, kept as %s: %s' % (number, kept, error)) from error


main()
