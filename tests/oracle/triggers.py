# SPDX-License-Identifier: ISC
"""When a rule fires (man 5 weft-trigger), as naively as possible: how often over a list of events."""
from model import IDLE

UNITS = {'ns': 1, 'us': 1000, 'ms': 10 ** 6, 's': 10 ** 9}


def count_fired(rule, events):
    kind, *words = rule.split()
    if kind == 'counter':
        return count_counter(words, events)
    if kind == 'tag':
        return count_tag(words, events)
    watch = Watch(kind, words)
    for event in events:
        watch.pass_time(event['time'])
        watch.take(event)
    watch.pass_time(events[-1]['time'])
    return watch.fired


def count_counter(words, events):
    name, sign, limit = words[0], words[1], int(words[2])
    value, fired = 0, 0

    def holds():
        return {'>': value > limit, '<': value < limit, '>=': value >= limit, '<=': value <= limit}[sign]

    held = holds()
    for event in events:
        if event['event'] == 'counter' and event['name'] == name:
            value = event['value'] if 'value' in event else value + event['add']
            fired += holds() and not held
            held = holds()
    return fired


def count_tag(words, events):
    texts = [event['text'] for event in events if event['event'] == 'tag']
    return sum(text == words[1] if words[0] == '=' else words[0] in text for text in texts)


class Watch:
    """Of one rule of time: who waits and who runs, since when, and whether the rule has fired for it."""

    def __init__(self, watched, words):
        self.watched = watched
        self.limit = int(words[1]) * UNITS[words[2]]
        self.filters = dict(zip(words[3::3], words[5::3]))
        self.becomes, self.kinds, self.labels, self.ended = {}, {}, {}, set()
        self.waits = {}      # by task: [since, has been tested]
        self.runs = {}       # by thread: [task, since, has been tested]
        self.set_aside = {}  # by thread: the task that an idle band interrupted
        self.fired = 0

    def forward(self, task):
        while task in self.becomes:
            task = self.becomes[task]
        return task

    def concerns(self, task):
        return (self.filters.get('kind', self.kinds.get(task)) == self.kinds.get(task)
                and self.filters.get('label', '') in self.labels.get(task, ''))

    def test(self, task, period, now):
        """`period` ends in since when, and whether that was judged."""
        if not period[-1] and now - period[-2] > self.limit:
            period[-1] = True
            self.fired += self.concerns(task)

    def pass_time(self, now):
        if self.watched == 'waits':
            for task, period in self.waits.items():
                self.test(task, period, now)
        else:
            for period in self.runs.values():
                if period[0] is not None:
                    self.test(period[0], period, now)

    def run(self, event, task):
        self.set_aside.pop(event['thread'], None)
        self.waits.pop(task, None)
        self.change(event, task)

    def change(self, event, task):
        if self.runs.get(event['thread'], [None])[0] != task:
            self.runs[event['thread']] = [task, event['time'], False]

    def end(self, task):
        self.waits.pop(task, None)
        for period in self.runs.values():
            if period[0] == task:
                period[0] = None

    def take(self, event):
        kind, task = event['event'], self.forward(event.get('task'))
        if kind == 'create':
            self.kinds.setdefault(event['child'], event['kind'])
        elif kind == 'label' and task is not None:
            self.labels.setdefault(task, event['text'])
        elif kind == 'try_read' and task is not None and event['source'] is not None:
            self.waits.setdefault(task, [event['time'], False])
        elif kind == 'read':
            self.waits.pop(task, None)
            if not event['later']:
                self.run(event, task)
        elif kind == 'switch' or kind == 'signal' and event['switches']:
            self.run(event, task)
        elif kind in ('resolve', 'fail'):
            self.end(self.forward(event['target']))
        elif kind == 'become':
            self.become(event, task, self.forward(event['target']))
        elif kind == 'band' and event['kind'] == IDLE:
            self.idle(event)
        elif kind == 'alive' and task is not None:
            self.alive(event, task)

    def become(self, event, task, target):
        if task is None or target is None or task == target:
            return
        self.waits.pop(task, None)
        for period in self.runs.values():
            if period[0] == task:
                period[:] = [target, event['time'], False]
        self.becomes[task] = target

    def idle(self, event):
        thread = event['thread']
        if event['begin']:
            self.set_aside.setdefault(thread, self.runs.get(thread, [None])[0])
            self.change(event, None)
        elif thread in self.set_aside:
            self.change(event, self.forward(self.set_aside.pop(thread)))

    def alive(self, event, task):
        self.kinds.setdefault(task, event['kind'])
        if event['label']:
            self.labels.setdefault(task, event['label'])
        if event['source'] is not None:
            self.waits.setdefault(task, [event['time'], False])
