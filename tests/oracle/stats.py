# SPDX-License-Identifier: ISC
"""The statistics of docs/model.md, naively, from the oracle's model: a second opinion on `weft stats --json`."""
import re

import model as rules

OUTCOMES = ('fulfilled', 'failed', 'cancelled', 'closed', 'timed_out', 'became', 'never_resolved', 'unfinished', 'unknown')
LOOKED = 64  # edges that weft examines for one wake-up
# Kinds of tasks that others wait for, and that do not wait themselves.
WAITED_FOR = ('lock', 'semaphore', 'pool', 'queue', 'condition')


def alike(label):
    return re.sub('[0-9]+', '#', label) if label else None


def overlap(since, until, start, end):
    return max(0, min(until, end) - max(since, start))


def percentile(sorted_lives, percent):
    return sorted_lives[(len(sorted_lives) - 1) * percent // 100] if sorted_lives else None


class Statistics:
    """For the range [start, end); end None: up to the end of the trace, what ends there included."""

    def __init__(self, model, tree, start=0, end=None):
        self.model, self.tree = model, tree
        self.start, self.end = start, float('inf') if end is None or end >= max(model.final, model.ended) else end
        self.edges = [edge for edge in model.edges if not edge['removed']]

    # ---- one task ----

    def is_alive(self, task):
        return self.tree[task][0] < self.end and max(self.model.end_of(task), self.tree[task][0]) >= self.start

    def outcome_of(self, task):
        if task.outcome:
            return task.outcome if self.model.end_of(task) < self.end else 'unfinished'
        return self.model.outcome_of(task) if self.end == float('inf') else 'unfinished'

    def life(self, task):
        return max(0, self.model.end_of(task) - self.tree[task][0])

    def latest(self, target, kind, until):
        edges = [edge for edge in self.edges if edge['to'] is target and edge['time'] <= until]
        return next((edge for edge in reversed(edges[-LOOKED:]) if edge['edge'] == kind), None)

    def woken(self, task, since, runs, stops):
        """When the task was woken that runs then, or None."""
        signal = self.latest(task, 'signal', runs)
        if signal and signal['time'] >= since and signal['from'] and signal['from'] is not task:
            return signal['time']
        later = [edge for edge in self.edges if edge['from'] is task and edge['time'] >= runs and
                 edge['edge'] not in ('create', 'become')]
        read = next((edge for edge in later[:LOOKED] if edge['edge'] == 'read' and edge['time'] <= stops), None)
        resolve = read and read['to'] is not task and self.latest(read['to'], 'resolve', read['time'])
        return resolve['time'] if resolve and resolve['time'] >= since else None

    def times(self, task):
        """(running, waiting, delays), within the range."""
        running, waiting, delays = 0, 0, [0]
        known = self.tree[task][0]
        for runs, stops in sorted(self.model.activations_of(task)):
            running += overlap(runs, stops, self.start, self.end)
            if runs > known:
                wake = self.woken(task, known, runs, stops)
                ready = runs if wake is None else min(wake, runs)
                waiting += overlap(known, ready, self.start, self.end)
                delays.append(overlap(ready, runs, self.start, self.end))
            known = max(known, stops)
        if task.kind not in WAITED_FOR:
            waiting += overlap(known, max(self.model.end_of(task), self.tree[task][0]), self.start, self.end)
        return running, waiting, delays

    # ---- rows ----

    def key(self, task, by):
        if by == 'label':
            return alike(task.label), task.kind
        if by == 'kind':
            return str(task.kind), task.kind
        parent = self.tree[task][1]
        return (alike(parent.label), parent.kind) if parent else (None, None)

    def rows(self, by):
        """{(name, kind): row}"""
        groups = {}
        for task in self.model.tasks.values():
            if task.kind != 'track' and self.is_alive(task):
                groups.setdefault(self.key(task, by), []).append(task)
        return {key: self.row(tasks) for key, tasks in groups.items()}

    def row(self, tasks):
        outcomes = [self.outcome_of(task) for task in tasks]
        lives = sorted(self.life(task) for task in tasks
                       if self.outcome_of(task) not in ('unfinished', 'never_resolved', 'unknown'))
        times = [self.times(task) for task in tasks]
        return dict({name: outcomes.count(name) for name in OUTCOMES}, count=len(tasks), ended=len(lives),
                    quickest=min(lives, default=None), p50=percentile(lives, 50), p90=percentile(lives, 90),
                    p99=percentile(lives, 99), max=percentile(lives, 100), running=sum(one[0] for one in times),
                    waiting=sum(one[1] for one in times), delay=sum(sum(one[2]) for one in times),
                    max_delay=max(max(one[2]) for one in times))

    def span_rows(self):
        """{(name, None): row} for spans."""
        groups = {}
        spans = [(name, since, until, task) for task in self.model.tasks.values()
                 for name, since, until, _ in self.model.spans_of(task)]
        spans += [(name, since, until, None) for _, name, since, until, _ in self.model.spans_of_threads()]
        for name, since, until, task in spans:
            if since < self.end and until >= self.start:
                groups.setdefault((alike(name) or '', None), []).append((since, until, task))
        return {key: self.span_row(spans) for key, spans in groups.items()}

    def span_row(self, spans):
        lives = sorted(until - since for since, until, _ in spans if until < self.end)
        running = waiting = 0
        for since, until, task in spans:
            length = overlap(since, until, self.start, self.end)
            start, end = max(since, self.start), min(until, self.end)
            ran = sum(overlap(*one, start, end) for one in self.model.activations_of(task)) if task and task.kind != 'track' else length
            running += ran
            waiting += max(0, length - ran)
        # Only Xen's spans lack their ends (xentrace_model.py).
        return dict(count=len(spans), ended=len(lives), at_most=0, quickest=min(lives, default=None),
                    p50=percentile(lives, 50), p90=percentile(lives, 90), p99=percentile(lives, 99),
                    max=percentile(lives, 100), running=running, waiting=waiting)


def changes(counters, start, end):
    """{name: (changes, before, after)} for a model's counters from start up to, but not including, end. A total is no change;
    before the first set, there is no value: None."""
    found = {}
    for name, (values, first, begin) in counters.items():
        before = [value for time, value in values if time < start]
        inside = [value for time, value in values if time >= start and (end is None or time < end)]
        if before:
            first = before[-1]
        elif begin == 'total' and inside:
            first, *inside = inside
        elif begin:
            first = None
        found[name] = (len(inside), first, inside[-1] if inside else first)
    return found
