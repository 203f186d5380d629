# SPDX-License-Identifier: ISC
"""Compares weft's output with the oracle's: the first difference of two lists, rows, parts of traces."""
import model as rules


def differences(got, expected):
    """None, or the first row that differs."""
    for row in range(max(len(got), len(expected))):
        pair = [rows[row] if row < len(rows) else None for rows in (got, expected)]
        if pair[0] != pair[1]:
            return 'row %d\n  weft   %s\n  oracle %s' % (row, *pair)
    return None


def same(what, got, expected):
    if got == expected:
        return
    is_list = isinstance(got, list)
    raise AssertionError('%s: %s' % (
        what, differences(got, expected) if is_list else 'weft %s, oracle %s' % (got, expected)))


def same_mapping(what, got, expected):
    for key in sorted(set(got) | set(expected), key=str):
        if got.get(key) != expected.get(key):
            raise AssertionError('%s of %s\n  weft   %s\n  oracle %s' % (what, key, got.get(key), expected.get(key)))


def without_row(rows):
    """Without rows of the layout; and without the names of threads, which events do not say."""
    def kept(row):
        is_thread = row['kind'] == 'track' and row['task'] >= rules.TRACK_THREADS
        return ('task', 'kind', 'start', 'end') if is_thread else [key for key in row if key != 'row']
    return [{key: row[key] for key in kept(row)} for row in rows]


def check_rows(shown, model, tree):
    """Each task takes the first free row; beyond 64 rows weft passes over some on purpose, and promises in waits leave room."""
    expected = rules.rows(model, tree)
    got = {model.tasks[row['task']]: row['row'] for row in shown if 'row' in row}
    # The tracks of threads are all alike, and in an order of the reader's own: their rows are not shown.
    tree = {task: place for task, place in tree.items() if task in got}
    if max(expected.values(), default=0) < 64 and not rules.in_waits(model, tree, got):
        for task, row in got.items():
            assert row == expected[task], 'row of task %d: weft %d, oracle %d' % (task.id, row, expected[task])
    wrong = rules.wrong_rows(model, tree, got)
    assert not wrong, 'rows of tasks %s' % wrong


# ---- a part of a trace, after the oracle's model of the events before it ----

# The field with the task that has ended.
ENDED = dict(dict.fromkeys(('resolve', 'fail', 'cancel', 'close', 'time_out'), 'target'), become='task')


def state_at(before, start, category=None):
    """The model of the events before that time, at that time."""
    model = rules.Model(before, category=category)
    model.time = start
    return model


def wait_of(model, task):
    """The only task that it waits for, if that one lives."""
    waits_for = task.waits_for if model.waits(task) else None
    source = None if isinstance(waits_for, list) else waits_for and waits_for.end_of_chain()
    return source.id if source and source.outcome is None else None


def waits_for_any(before, start):
    """(task, source) for each living source of each living task's wait for any of several."""
    found = []
    model = state_at(before, start)
    for task in sorted(model.tasks.values(), key=lambda task: task.id):
        if task.outcome is None and isinstance(task.waits_for, list) and model.waits(task):
            sources = [source.end_of_chain() for source in task.waits_for]
            found += [(task.id, source.id) for source in sources if source.outcome is None]
    return found


def holds(before):
    """(task, resource) for each hold of a living resource by a living task."""
    found = []
    for resource in sorted(rules.Model(before).tasks.values(), key=lambda task: task.id):
        holders = [holder.end_of_chain() for holder in resource.holders if resource.outcome is None]
        found += [(holder.id, resource.id) for holder in holders if holder.outcome is None]
    return found


def alive_events(before, start, category, ended):
    """The rundown's description of each living task, and of the `ended` ones, as far as something is known of them."""
    model = state_at(before, start, category)
    shown = []
    for task in sorted(model.tasks.values(), key=lambda task: task.id):
        is_alive = task.outcome is None
        if task.kind == 'track' or not (is_alive or task.id in ended):
            continue
        event = {'time': start, 'event': 'alive', 'task': task.id,
                 'kind': 'unknown' if task.kind == 'preexisting' else task.kind, 'label': task.label or ''}
        if not is_alive and event['kind'] == 'unknown' and not event['label'] and not task.category:
            continue
        if task.category:
            event['category'] = task.category
        if is_alive and task.creation is not None:
            event['age'] = start - task.creation
        shown.append(dict(event, source=wait_of(model, task) if is_alive else None, rundown=True))
    return shown


def periods(model, start):
    """By task: when it ran, from the start on."""
    ran = {}
    for task in model.tasks.values():
        clipped = [(max(since, start), until) for since, until in model.activations_of(task) if until > start]
        if clipped:
            ran[task.id] = sorted(clipped)
    return ran


def bands(model, start):
    """By thread and kind: the bands from the start on."""
    found = {}
    for thread, kind, since, until, reason in model.bands:
        if until > start:
            found.setdefault((thread, kind), []).append((max(since, start), until, reason or ''))
    return {key: sorted(some) for key, some in found.items()}


def ends(model, start):
    """The names and ends of the tasks that had not ended before."""
    return {task.id: (task.label, task.ended, task.outcome, task.failed, task.expected)
            for task in model.tasks.values() if task.kind != 'track' and (task.ended is None or task.ended > start)}


def last_values(events):
    return {name: values[-1][1] for name, (values, _, _) in rules.Model(events).counters.items()}


def check_counters(rundown, before, kept):
    """Where earlier changes may be missing, the rundown adds 0 to a counter that the range changes for the first time."""
    found, expected = last_values(rundown), last_values(before)
    first = {}
    for event in kept:
        if event['event'] == 'counter':
            first.setdefault(event['name'], event)
    added = {name: 0 for name, event in first.items() if 'add' in event and name in found}
    same_mapping('counter', found, {**added, **expected})


def check_part(shown, events, start, end, category=None):
    """The events of the range are unchanged, and the rundown before them describes the state. category: of tasks whose
    creation names none."""
    kept = [event for event in events if start <= event['time'] < end]
    rundown, rest = shown[:len(shown) - len(kept)], shown[len(shown) - len(kept):]
    same('events of the part', rest, kept)
    for event in rundown:
        assert event.get('rundown') and event['time'] == start, event
    before = [event for event in events if event['time'] < start]
    alive = [{key: value for key, value in event.items() if key != 'thread'}
             for event in rundown if event['event'] == 'alive']
    ended = {event[ENDED[event['event']]] for event in rundown if event['event'] in ENDED}
    same('tasks alive', alive, alive_events(before, start, category, ended))
    any_of = [(event['task'], event['source']) for event in rundown if event['event'] == 'wait_any']
    same('waits for any', any_of, waits_for_any(before, start))
    held = [(event['task'], event['resource']) for event in rundown if event['event'] == 'acquire']
    same('holds', held, holds(before))
    check_counters(rundown, before, kept)
    if kept:
        check_part_model(rules.Model(shown), rules.Model([event for event in events if event['time'] < end]), start)


def spans(model, start):
    """The spans that end after the start, and the names of those that are open at the end."""
    found = []
    for task in model.tasks.values():
        # On which line of its track a span is, depends on earlier spans.
        number = task.id - task.id % rules.TRACK_LINES if task.kind == 'track' else task.id
        found += [(number, name, max(since, start), until, depth) for name, since, until, depth in task.spans
                  if until > start]
        if task.outcome is None and task.open_spans:
            found.append((task.id, [name for name, _ in task.open_spans]))
    found += [(None, thread, name, max(since, start), until, depth)
              for thread, name, since, until, depth in model.thread_spans if until > start]
    found += [(None, thread, [name for name, _ in stack]) for thread, stack in model.open_spans.items() if stack]
    return sorted(map(str, found))


def receives(model, start):
    return [(edge['time'], edge['from'].id, edge['to'].id) for edge in model.edges
            if edge['edge'] == 'receive' and edge['time'] >= start]


def check_part_model(part, whole, start):
    same('spans', spans(part, start), spans(whole, start))
    same('receives', receives(part, start), receives(whole, start))
    same_mapping('running', periods(part, start), periods(whole, start))
    same_mapping('bands', bands(part, max(start, part.first)), bands(whole, max(start, part.first)))
    got, expected = ends(part, start), ends(whole, start)
    for number, end in expected.items():
        if end[0] == '' and number in got:  # a rundown cannot distinguish an empty label from none
            expected[number], got[number] = end[1:], got[number][1:]
    same_mapping('end', got, expected)
