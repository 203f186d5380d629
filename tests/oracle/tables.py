# SPDX-License-Identifier: ISC
"""The rows of `weft query`, as the oracle has them: for each table a question, and the rows with which it is answered."""
QUESTIONS = {
    'activations': 'SELECT id, a.start, a.end, thread FROM activations a JOIN tasks USING (task)',
    'bands': 'SELECT thread, kind, start, end, reason FROM bands',
    'notes': 'SELECT id, time, type, text, value FROM notes JOIN tasks USING (task)',
    'off_cpu': 'SELECT id, thread, o.start, o.end, ns FROM off_cpu o JOIN tasks USING (task)',
    'samples': 'SELECT name, time, value FROM samples JOIN counters USING (counter)',
    'stacks': 'SELECT id, time, calls FROM stacks JOIN tasks USING (task)',
}


def activations(model, _events):
    return [(task.id, *period, thread or 0) for task in model.tasks.values() for *period, thread in model.ran_on(task)]


def bands(model, _events):
    return [(thread or 0, *band) for thread, *band in model.bands]


def note(event):
    """The columns of a note: its type, text and value."""
    kind = event['event']
    if kind == 'counter':
        return ('set', event['name'], event['value']) if 'value' in event else ('change', event['name'], event['add'])
    if kind == 'alive':
        return 'label', event['label'], None
    return kind, event.get('name' if kind == 'mark' else 'text', ''), event.get('value') if kind == 'tag' else None


def notes(model, events):
    return [(task.id, events[index]['time'], *note(events[index])) for task in model.tasks.values() for index in task.named]


def off_cpu(model, _events):
    return [(task.id, thread or 0, *loss) for task in model.tasks.values() for thread, *loss in task.off_cpu]


def samples(model, _events):
    return [(name, *sample) for name, (values, _, _) in model.counters.items() for sample in values]


def stacks(_model, events):
    return [(event['task'], event['time'], event['text']) for event in events if event['event'] == 'stack']


def expected(table, model, events):
    rows = {'activations': activations, 'bands': bands, 'notes': notes, 'off_cpu': off_cpu, 'samples': samples,
            'stacks': stacks}[table](model, events)
    return sorted(map(list, rows), key=str)
