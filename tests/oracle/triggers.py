# SPDX-License-Identifier: ISC
"""When a rule fires (man 5 weft-trigger), as naively as possible: how often over a list of events."""
from model import Model, Task

UNITS = {'ns': 1, 'us': 1000, 'ms': 10 ** 6, 's': 10 ** 9}


def count_fired(rule, events):
    kind, *words = rule.split()
    if kind == 'counter':
        return count_counter(words, events)
    if kind == 'tag':
        return count_tag(words, events)
    return Watch(kind, words, events).fired


def count_counter(words, events):
    name, sign, limit = words[0], words[1], float(words[2])
    value, fired = 0, 0

    def holds():
        return {'>': value > limit, '<': value < limit, '>=': value >= limit, '<=': value <= limit}[sign]

    held = holds()
    for event in events:
        if event['event'] == 'counter' and event['name'] == name:
            number = event['value'] if 'value' in event else event['add']
            if number is None:
                continue
            value = number if 'value' in event else value + number
            fired += holds() and not held
            held = holds()
    return fired


def count_tag(words, events):
    texts = [event['text'] for event in events if event['event'] == 'tag']
    return sum(text == words[1] if words[0] == '=' else words[0] in text for text in texts)


class Watch(Model):
    """A model that notes, after each event, which tasks wait or run: the rule fires once for each such period."""

    def __init__(self, watched, words, events):
        self.watched = watched
        self.limit = int(words[1]) * UNITS[words[2]]
        self.filters = dict(zip(words[3::3], words[5::3]))
        self.lasting = {}  # by (thread, task), for waits by (number, task): [since, has been tested]
        self.fired = 0
        super().__init__(events)

    def take(self, event):
        for (_, task), period in self.lasting.items():
            is_present = self.watched != 'waits' or self.waits(task)
            if not period[1] and is_present and self.time - period[0] > self.limit:
                period[1] = True
                self.fired += self.concerns(task)
        super().take(event)
        present = self.waiting(event) if self.watched == 'waits' else self.running_now()
        self.lasting = {key: self.lasting.get(key, [self.time, False]) for key in present}

    def concerns(self, task):
        return (self.filters.get('kind', task.kind) == task.kind
                and self.filters.get('label', '') in (task.label or ''))

    def waiting(self, event):
        """Only the actor of an event can begin to wait."""
        actor = self.find(event.get('task'))
        tasks = [task for _, task in self.lasting] + ([actor] if actor else [])
        return [(task.woken, task) for task in tasks if task.waits_for and not task.outcome]

    def running_now(self):
        tasks = [(thread, task.end_of_chain()) for thread, (task, *_) in self.running.items() if isinstance(task, Task)]
        return [(thread, task) for thread, task in tasks if not task.outcome]
