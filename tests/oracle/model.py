# SPDX-License-Identifier: ISC
"""The meaning of events, after docs/model.md, as naively as possible: a second opinion on weft's
model and layout. Takes events as decode.py or `weft dump --json` gives them, of one process."""

import itertools

from counters import Counter

SIMPLIFIED = {'bind', 'try', 'map', 'ignore_result', 'on_failure', 'on_termination'}
NEVER_RESOLVED = 'never resolved'
TRACK_LINES = 64
TRACK_THREADS = 2 ** 52 + 2 ** 32
IDLE, UNKNOWN = 'idle', 'unknown'  # instead of the task that runs
SHORT = 100000  # ns: a longer activation is a wake-up


class Task:
    def __init__(self, number, start, mentioned):
        self.id, self.start, self.mentioned = number, start, mentioned
        self.kind, self.created = 'preexisting', False
        self.category = None
        self.from_rundown = False
        self.creation = None   # when it was created, as a rundown says
        self.parent = None
        self.becomes = None
        self.ended = None      # when it ended or became another
        self.failed = None
        self.outcome = None    # 'fulfilled', 'failed', 'cancelled', 'closed', 'timed_out' or 'became'
        self.label = None
        self.named = []        # indices of the events that are labels and notes
        self.edges = []        # as actor: [index, time, type, other task]
        self.asked = []        # try_reads of it: edges
        self.last = 0          # the latest of what the 1 us rule counts
        self.periods = []      # in which it ran
        self.off_cpu = []      # (thread, start, end, ns): how long of that its threads had no processor
        self.expected = False
        self.holders = []      # of a resource, in the order in which they took it
        self.waits_for = None  # since its try_read or wait_any (a list), until it is woken, reads or ends
        self.woken = 0         # how often it was woken from a wait
        self.ran_on = None     # the thread on which it ran last
        self.resumed = None    # while it is open whether it was woken: (thread, since, whether a band had interrupted it)
        self.open_spans = []   # (name, since), the outermost first
        self.spans = []        # (name, start, end, depth)

    def end_of_chain(self):
        task = self
        while task.becomes:
            task = task.becomes
        return task

    def seen(self, time):
        self.last = max(self.last, time)


class Model:
    def __init__(self, events, ended=0, category=None, dark=(), lost=()):
        """ended: when the program's record ended; 0: unknown. category: of tasks whose creation names none. dark: when events are
        missing, as (start, end, why); lost: of which threads, as (thread, start, end)."""
        self.category, self.dark, self.lost = category, dark, lost
        self.ended = ended if events and ended >= events[0]['time'] else 0
        self.tasks, self.edges, self.ignored = {}, [], 0
        self.waits_at_end = None  # tasks, when they are asked for
        self.running = {}    # by thread: (task, since, why it is idle)
        self.set_aside = {}  # by thread: the task that ran when its idle band began
        self.ran_last = None   # `running` after the last event
        self.interrupted = {}  # by thread: the same, also if a switch to no task began the idleness
        self.collects = {}   # by thread: (since, reason) of a gc band
        self.renamed = set()  # threads whose running task became another one since it began to run
        self.measured = {}    # by thread: time of its last off_cpu event
        self.sent = {}       # by key: the task that sent it, until it is received
        self.received = {}   # by key with the highest bit: (task, time), until it is sent
        self.open_spans = {}  # by thread: of the thread itself
        self.thread_spans = []  # (thread, name, start, end, depth)
        self.track_ends = {}  # by id of a track's line: the end of its last span
        self.bands = []      # (thread, kind, start, end, reason)
        self.counted = {}    # by name: a Counter
        self.first = events[0]['time'] if events else 0
        self.final = events[-1]['time'] if events else 0
        for index, event in enumerate(events):
            self.index, self.time, self.thread = index, event['time'], event.get('thread')
            self.take(event)
        self.ran_last = dict(self.running)
        for self.thread in list(self.running):
            self.time = max(self.ended, self.running[self.thread][1] or 0) if self.ended else self.final
            self.continue_with(UNKNOWN)
            self.collection_band(False, None)
        self.time = self.ended or self.final
        for self.thread in list(self.collects):
            self.collection_band(False, None)
        for task in self.tasks.values():
            self.finish(task)
        self.counters = {name: counter.finish(self.is_gap) for name, counter in self.counted.items() if counter.samples}

    def take(self, event):
        getattr(self, event['event'])(event)

    # ---- identity ----

    def find(self, number):
        """The task behind an id: the end of its chain. None for no task."""
        if number is None:
            return None
        if number not in self.tasks:
            self.tasks[number] = Task(number, self.first, self.time)
        return self.tasks[number].end_of_chain()

    def create(self, event):
        parent, number = self.find(event['task']), event['child']
        if number is None:
            self.ignored += 1
            return
        self.find(number)
        child = self.tasks[number]  # by its own id, not what it may have become
        if child.created or self.descends(parent, child):
            self.ignored += 1
            return
        child.created, child.kind, child.parent = True, event['kind'], parent
        child.category = event.get('category', self.category)
        child.start, child.created_index, child.creation = child.mentioned, self.index, self.time
        if parent:
            parent.seen(self.time)
        self.edge('create', parent, child)

    @staticmethod
    def descends(task, ancestor):
        while task and task is not ancestor:
            task = task.parent
        return task is ancestor

    # ---- running ----

    def run(self, task, reason=None, was_running=False):
        """The task, or none, runs on this thread from now on; that ends an idle band, and its wait unless it ran before."""
        self.set_aside.pop(self.thread, None)
        before = self.interrupted.get(self.thread)
        if self.runs() is (task or IDLE):
            return
        goes_on = task and self.runs() is IDLE and isinstance(before, Task) and before.end_of_chain() is task
        if not task:
            self.interrupted[self.thread] = self.runs()
        self.leave_for(task or IDLE)
        self.continue_with(task or IDLE, reason)
        if task and was_running:
            task.ran_on = self.thread
        elif task:
            self.resume(task, goes_on)

    def known(self, since):
        """Until when it is known what the thread does since then: until its events are missing, if that is before now."""
        lost = [max(start, since) for thread, start, end in self.lost if thread == self.thread and start < self.time and end > since]
        return min([self.time, *lost])

    def runs(self):
        task = self.running.get(self.thread, (UNKNOWN,))[0]
        return task.end_of_chain() if isinstance(task, Task) else task

    def continue_with(self, task, reason=None):
        before, since, why = self.running.get(self.thread, (UNKNOWN, None, None))
        if before is IDLE:
            self.add_band('idle', since, why)
        elif before is not UNKNOWN and since < self.known(since):
            before.periods.append((since, self.known(since), self.thread))
        self.running[self.thread] = (task, self.time, reason)
        self.renamed.discard(self.thread)

    # ---- whether a task that runs again was woken ----

    def ran_since(self, task):
        """How long the task has run, if that is still undecided."""
        return self.time - task.resumed[1]

    def is_on(self, task):
        return (self.ran_last or self.running)[task.resumed[0]][0] is task

    def waits(self, task):
        if not task.waits_for or not task.resumed or not self.is_on(task):
            return bool(task.waits_for)
        return task.resumed[2] and self.ran_since(task) <= SHORT

    @staticmethod
    def wake(task):
        task.woken += task.waits_for is not None
        task.waits_for = task.resumed = None

    def resume(self, task, goes_on):
        is_here = task.ran_on == self.thread
        if task.ran_on is None or task.resumed:
            self.wake(task)
        task.ran_on = self.thread
        if task.waits_for:
            task.resumed = (self.thread, self.time, goes_on and is_here)

    def leave_for(self, successor):
        """The task that ran on this thread, or was interrupted there, makes room."""
        for task in self.tasks.values():
            if not task.resumed or task.resumed[0] != self.thread:
                continue
            is_short, was_interrupted = self.ran_since(task) <= SHORT, task.resumed[2]
            if self.is_on(task) and successor is IDLE and is_short and not was_interrupted:
                continue
            if (was_interrupted and is_short) if self.is_on(task) else successor is task:
                task.resumed = None
            else:
                self.wake(task)

    def decide(self, task):
        """The task does something."""
        if task and task.resumed and self.is_on(task):
            self.wake(task)

    def add_band(self, kind, since, reason):
        if since < self.known(since):
            self.bands.append((self.thread, kind, since, self.known(since), reason))

    def switch(self, event):
        self.run(self.find(event['task']), event.get('reason'), event.get('rundown'))

    def band(self, event):
        if event['kind'] != 'idle':
            self.collection_band(event['begin'], event['reason'])
        elif event['begin']:
            why = self.running.get(self.thread, (UNKNOWN, None, None))[2]
            if self.thread not in self.set_aside:
                self.set_aside[self.thread] = (self.runs(), why)
                self.interrupted[self.thread] = self.runs()
            self.leave_for(IDLE)
            self.continue_with(IDLE, event['reason'])
        elif self.thread in self.set_aside:
            task, why = self.set_aside.pop(self.thread)
            task = task.end_of_chain() if isinstance(task, Task) else task
            self.leave_for(task)
            self.continue_with(task, why)
            if isinstance(task, Task):
                self.resume(task, True)

    def collection_band(self, begin, reason):
        if begin:
            self.collects.setdefault(self.thread, (self.time, reason))
        elif self.thread in self.collects:
            self.add_band('gc', *self.collects.pop(self.thread))

    def gc(self, event):
        self.add_band('gc', max(self.first, self.time - event['duration']), None)

    def off_cpu(self, event):
        """The thread had no processor for a part of the time since its task began to run, or since the event before."""
        task = self.find(event['task'])
        running, since, _ = self.running.get(self.thread, (UNKNOWN, 0, None))
        start = max(since or 0, self.measured.get(self.thread, 0))
        self.measured[self.thread] = self.time
        if not task or running is not task or self.thread in self.renamed:
            return
        until = self.time if task.ended is None else min(self.time, task.ended)
        lost = event['duration'] - (self.time - until)
        if until > start and lost > 0:
            task.off_cpu.append((self.thread, start, until, min(lost, until - start)))

    # ---- edges ----

    def edge(self, kind, source, target):
        edge = {'index': self.index, 'time': self.time, 'edge': kind, 'from': source, 'to': target,
                'removed': False}
        self.edges.append(edge)
        return edge

    def act(self, kind, actor, other):
        """An edge that the actor holds."""
        self.decide(actor)
        edge = self.edge(kind, actor, other)
        if actor:
            actor.edges.append(edge)
            actor.seen(self.time)
        return edge

    def read(self, event):
        reader, source = self.find(event['task']), self.find(event['source'])
        if reader:
            self.wake(reader)
        if not event['later']:
            self.run(reader)
        if not source:
            return
        if reader and reader.edges and reader.edges[-1]['edge'] == 'try_read' and reader.edges[-1]['to'] is source:
            reader.edges.pop()['removed'] = True
        self.act('read', reader, source)

    def try_read(self, event):
        reader, source = self.find(event['task']), self.find(event['source'])
        if source:
            source.asked.append(self.act('try_read', reader, source))
            source.seen(self.time)
            if reader:
                reader.waits_for = source

    def wait_any(self, event):
        """Those of one wait have one time. They stay edges, whichever of them the task reads."""
        reader, source = self.find(event['task']), self.find(event['source'])
        if not source:
            return
        if reader:
            last = reader.edges[-1] if reader.edges else None
            goes_on = (last and last['edge'] == 'wait_any' and last['time'] == self.time
                       and isinstance(reader.waits_for, list))
            reader.waits_for = [*reader.waits_for, source] if goes_on else [source]
        self.act('wait_any', reader, source)
        source.seen(self.time)

    def acquire(self, event):
        task, resource = self.find(event['task']), self.find(event['resource'])
        self.read(dict(event, source=event['resource'], later=True))
        if not task or not resource:
            return
        if resource.kind == 'lock' and any(holder.end_of_chain() is not task for holder in resource.holders):
            resource.holders = []
        resource.holders.append(task)

    def release(self, event):
        task, resource = self.find(event['task']), self.find(event['resource'])
        if not resource:
            return
        self.act('signal', task, resource)
        resource.seen(self.time)
        own = [index for index, holder in enumerate(resource.holders) if holder.end_of_chain() is task]
        if resource.holders:
            resource.holders.pop(own[-1] if own else 0)

    def signal(self, event):
        receiver, sender = self.find(event['task']), self.find(event['source'])
        if event['switches']:
            self.run(receiver)
        if receiver:
            self.act('signal', sender, receiver)
            receiver.seen(self.time)

    def send(self, event):
        """It belongs to the next receive, or to one before it whose key has the highest bit."""
        receiver, since = self.received.pop(event['key'], (None, 0))
        self.sent.pop(event['key'], None)
        sender = self.find(event['task'])
        if sender and receiver and self.time - since <= 10 ** 9:
            self.join(sender, receiver)
        elif sender:
            self.sent[event['key']] = sender

    def receive(self, event):
        self.received.pop(event['key'], None)
        sender, receiver = self.sent.pop(event['key'], None), self.find(event['task'])
        if receiver and sender:
            self.join(sender, receiver)
        elif receiver and event['key'] >> 63:
            self.received[event['key']] = receiver, self.time

    def join(self, sender, receiver):
        receiver = receiver.end_of_chain()
        self.edge('receive', sender.end_of_chain(), receiver)
        receiver.seen(self.time)

    # ---- ends ----

    def end_target(self, event, outcome, message=None):
        resolver, target = self.find(event['task']), self.find(event['target'])
        if not target:
            return
        self.act('resolve', resolver, target)
        if target.outcome:
            self.ignored += 1
            return
        target.outcome, target.ended, target.failed = outcome, self.time, message

    def resolve(self, event):
        self.end_target(event, 'fulfilled')

    def fail(self, event):
        self.end_target(event, 'failed', event['message'])

    def cancel(self, event):
        self.end_target(event, 'cancelled')

    def close(self, event):
        self.end_target(event, 'closed')

    def time_out(self, event):
        self.end_target(event, 'timed_out')

    def become(self, event):
        task, target = self.find(event['task']), self.find(event['target'])
        if not task or not target:
            return
        if target is task or task.outcome:
            self.ignored += 1
            return
        task.outcome, task.ended = 'became', self.time
        target.expected |= task.expected
        names = [name for name, _ in task.open_spans]
        while task.open_spans:
            self.close_span(task)
        target.open_spans += [(name, self.time) for name in names]
        if names:
            target.seen(self.time)
        self.edge('become', task, target)
        if task.ran_on is not None and self.running[task.ran_on][0] is task:
            target.ran_on = task.ran_on
        for self.thread, (running, *_) in list(self.running.items()):
            if running is task:
                self.continue_with(target)
                self.renamed.add(self.thread)
        task.becomes = target

    def alive(self, event):
        """Sets what create, label and try_read would have set."""
        task, source = self.find(event['task']), self.find(event['source'])
        if not task:
            self.ignored += 1
            return
        task.seen(self.time)
        is_known = event['kind'] != 'unknown' or 'age' in event
        if is_known and not task.created and not task.from_rundown:
            task.from_rundown, task.kind = True, event['kind']
            task.category = event.get('category')
            if 'age' in event:
                task.creation = max(0, self.time - event['age'])
        if event['label'] and task.label is None:
            self.label(dict(event, text=event['label']))
        last = task.edges[-1] if task.edges else None
        if not (last and last['edge'] == 'try_read' and last['to'] is source):
            self.try_read(event)
        elif source:
            self.decide(task)
            task.waits_for = source

    def expect(self, event):
        task = self.find(event['task'])
        if task:
            task.expected = True

    # ---- spans ----

    def begin(self, event):
        task = self.find(event['task'])
        stack = task.open_spans if task else self.open_spans.setdefault(self.thread, [])
        stack.append((event['name'], self.time))
        if task or self.own_track():
            (task or self.own_track()).seen(self.time)

    def own_track(self):
        """The thread's track, which has the spans of the thread itself."""
        number = TRACK_THREADS + (self.thread or 0)
        self.find(number)
        self.tasks[number].kind = 'track'
        return self.tasks[number]

    def end(self, event):
        task = self.find(event['task'])
        if task and task.open_spans:
            task.seen(self.time)
            self.close_span(task)
        elif not task and self.open_spans.get(self.thread):
            name, since = self.open_spans[self.thread].pop()
            self.own_track().seen(self.time)
            self.thread_spans.append((self.thread, name, since, self.time, len(self.open_spans[self.thread])))
        elif task and task.created:
            self.ignored += 1

    def span(self, event):
        """A span of a track takes the first line on which nothing is later than its begin."""
        begin, end = event['start'], min(event['end'], self.time)
        numbers = range(event['track'], event['track'] + TRACK_LINES)
        free = [number for number in numbers if self.track_ends.get(number, 0) <= begin]
        number = event['track'] if begin > end else (free or numbers[-1:])[0]
        for used in range(event['track'], number + 1):
            self.find(used)
        line = self.tasks[number]
        line.kind, line.label = 'track', event['label']
        begin = max(begin, self.track_ends.get(number, 0))
        if begin > end:
            self.ignored += 1
        else:
            self.track_ends[number] = max(end, self.track_ends.get(number, 0))
            if end >= self.first:
                line.seen(self.time)
                line.spans.append((event['name'], max(begin, self.first), end, 0))

    def close_span(self, task):
        name, since = task.open_spans.pop()
        until = self.time if task.ended is None else min(self.time, task.ended)
        if since <= until:
            task.spans.append((name, since, until, len(task.open_spans)))

    def spans_of(self, task):
        end = self.end_of(task)
        return task.spans + [(name, since, end, depth) for depth, (name, since) in enumerate(task.open_spans)
                             if since <= end]

    def spans_of_threads(self):
        """(thread, name, start, end, depth)"""
        end = self.ended or self.final
        return self.thread_spans + [(thread, name, since, max(end, since), depth)
                                    for thread, stack in self.open_spans.items()
                                    for depth, (name, since) in enumerate(stack)]

    # ---- names ----

    def label(self, event):
        task = self.find(event['task'])
        if task:
            if task.label is None or task.kind == 'thread':
                task.label = event['text']
            task.named.append(self.index)
            task.seen(self.time)

    def note(self, event):
        task = self.find(event['task'])
        if task:
            task.named.append(self.index)
            task.seen(self.time)

    tag = mark = note

    def stack(self, event):
        """It says where the task is, and is no sign of life: what it is about to wait for follows."""
        self.find(event['task'])

    def counter(self, event):
        task = self.find(event['task'])
        number = event['value'] if 'value' in event else event['add']
        if number is None:  # not finite
            self.ignored += 1
            return
        if task:
            task.named.append(self.index)
            task.seen(self.time)
        self.counted.setdefault(event['name'], Counter()).change(self.time, number, 'value' in event, event.get('rundown', False))

    def total(self, event):
        self.counted.setdefault(event['name'], Counter()).total(self.time, event['value'])

    def is_gap(self, start, end, is_back=False):
        """True if changes of a counter may be missing. is_back: from a total at the end."""
        def touches(begin, over):
            return begin <= end and over >= start

        def is_anywhere(begin, over):
            return begin == over or (begin <= self.first and over >= max(self.ended, self.final)) or (is_back and start == end)
        return any(begin < end and over > start or (why == 'lost' and touches(begin, over) and is_anywhere(begin, over))
                   for begin, over, why in self.dark)

    # ---- the end of the trace ----

    def finish(self, task):
        if task.creation is not None and not task.created:
            task.start = min(task.mentioned, max(task.creation, self.first))
        for _, until, _ in task.periods:
            task.seen(until)

    def in_wait(self):
        """The tasks that wait when the trace ends, and the sources of their latest acts, if these are waits."""
        if self.waits_at_end is None:
            found = self.waits_at_end = set()
            for task in self.tasks.values():
                acts = task.edges if self.waits(task) and not task.outcome else []
                for edge in itertools.takewhile(lambda act: act['edge'] in ('try_read', 'wait_any'), reversed(acts)):
                    source = edge['to']
                    while source.becomes:
                        source = source.becomes
                    found |= {task, source}
        return self.waits_at_end

    def dark_after(self, task):
        """When events begin to be missing among which its end may be; None if none are."""
        last = max(task.start, task.last)
        return min((start for start, end, why in self.dark if why != 'after' and
                    (end > last or start == end == last and why == 'lost')), default=None)

    def end_of(self, task):
        if task.outcome:
            return task.ended
        if task.kind == 'track':
            return max(self.ended, task.start, task.last) if self.ended else self.final
        if self.dark_after(task) is not None:
            return max(self.dark_after(task), max(task.start, task.last) + 1000)
        if self.ended:
            return max(self.ended, task.start, task.last)
        if task.expected:
            return self.final
        seen = max(task.start, task.last) + 1000
        return max(seen, self.final) if task in self.in_wait() else seen

    def created_at(self, task):
        """For the order of siblings."""
        return task.created_index if task.created else -1

    def outcome_of(self, task):
        if task.kind == 'track':
            return 'fulfilled'
        if not task.outcome and self.dark_after(task) is not None:
            return 'unknown'
        return task.outcome or ('never_resolved' if task.expected else 'unfinished')

    def failure_of(self, task):
        if self.outcome_of(task) == 'never_resolved':
            return NEVER_RESOLVED
        return task.failed

    def ran_on(self, task):
        """[(since, until, thread)]"""
        end = self.end_of(task)
        cut = [(since, min(until, end), thread) for since, until, thread in task.periods]
        return [period for period in cut if period[0] < period[1]]

    def activations_of(self, task):
        return [(since, until) for since, until, _ in self.ran_on(task)]


def unsimplified(model):
    return {task: (task.start, task.parent, False) for task in model.tasks.values()}


def simplified(model):
    """{task: (start, parent, moved)}: from when on each task is drawn, and below which other one. Tasks move in the
    order of their first mention, each in the tree that the moves before it have made."""
    tree = unsimplified(model)

    def is_below(task, ancestor):
        while task and task is not ancestor:
            task = tree[task][1]
        return task is ancestor

    for task in model.tasks.values():
        if task.kind not in SIMPLIFIED or not task.edges or task.edges[0]['edge'] != 'read':
            continue
        read = task.edges[0]
        if (any(named < read['index'] for named in task.named)
                or any(not ask['removed'] and ask['time'] <= read['time'] for ask in task.asked)
                or (task.parent and task.parent.becomes is task)
                or read['time'] > model.end_of(task)
                or is_below(read['to'], task)):
            continue
        tree[task] = (read['time'], read['to'], True)
    return tree


def is_next_callback(model, tree, task):
    """Its parent created it in its last activation, which ended with the parent; it did not run before that."""
    start, parent, moved = tree[task]
    end = model.end_of(parent)
    last = [since for since, until in model.activations_of(parent) if until == end]  # several: on two threads
    return bool(not moved and not parent.becomes and len(last) == 1 and last[0] <= start
                and all(since >= end for since, _ in model.activations_of(task)))


def continues_row(model, tree, task):
    """It takes its parent's row, although it may have been created shortly before the parent's end."""
    start, parent, _ = tree[task]
    return bool(parent and tree[parent][0] <= start < model.end_of(parent) < model.end_of(task)
                and (parent.becomes is task or is_next_callback(model, tree, task)))


def rows(model, tree):
    """{task: row} by the rule of first gaps."""
    children = {}
    for task in model.tasks.values():
        children.setdefault(tree[task][1], []).append(task)

    mentioned = {task: number for number, task in enumerate(model.tasks.values())}

    def order(task):
        moved = tree[task][2]
        return (moved, mentioned[task] if moved else model.created_at(task))

    taken, row_of = [], {}
    walk = sorted(children.get(None, []), key=lambda task: -task.id)
    while walk:
        task = walk.pop()
        start, parent, _ = tree[task]
        end = max(model.end_of(task), start + 1)
        continues = continues_row(model, tree, task)
        row = 0
        if parent:
            row = row_of[parent] + (parent.becomes is not task and not continues and model.end_of(parent) > start)

        def is_free(at):
            return not any(a < end and start < b and not (continues and who is parent)
                           for a, b, who in taken[at])

        while row < len(taken) and not is_free(row):
            row += 1
        if continues and row == row_of[parent]:
            start = model.end_of(parent)
        while row >= len(taken):
            taken.append([])
        taken[row].append((start, end, task))
        row_of[task] = row
        walk.extend(sorted(children.get(task, []), key=order))
    return row_of


def in_waits(model, tree, row_of):
    """Promises in the row of the task that created them and alone reads them, which is waiting: they take no room."""
    readers = {}
    for task in model.tasks.values():
        for edge in task.edges:
            if edge['edge'] in ('read', 'try_read', 'wait_any'):
                readers.setdefault(edge['to'], set()).add(task)
    found = set()
    for task, (start, parent, moved) in tree.items():
        if (parent and parent is task.parent and not moved and task.kind in ('promise', 'wait') and row_of[task] == row_of[parent]
                and not task.becomes and parent.becomes is not task and readers.get(task) == {parent}
                and not model.activations_of(task) and start < model.end_of(parent)):
            found.add(task)
    return found


def wrong_rows(model, tree, row_of):
    """Pairs of tasks that overlap in a row, and tasks above what their parent allows."""
    roomless = in_waits(model, tree, row_of)
    def continues(task, other):
        return tree[task][1] is other and continues_row(model, tree, task)

    wrong, in_row = [], {}
    for task, (start, parent, _) in tree.items():
        if task in roomless:
            continue
        is_beside = parent and (parent.becomes is task or continues_row(model, tree, task) or model.end_of(parent) <= start)
        least = row_of[parent] + (not is_beside) if parent else 0
        if row_of[task] < least:
            wrong.append((task.id, parent.id))
        for other in in_row.setdefault(row_of[task], []):
            if (start < model.end_of(other) and tree[other][0] < model.end_of(task)
                    and not continues(task, other) and not continues(other, task)):
                wrong.append((task.id, other.id))
        in_row[row_of[task]].append(task)
    return wrong


def summarize(model, events):
    """The members of `weft info --json`."""
    outcomes = dict.fromkeys(('fulfilled', 'failed', 'cancelled', 'closed', 'timed_out', 'became', 'never_resolved', 'unfinished', 'unknown', 'preexisting', 'tracks'), 0)
    for task in model.tasks.values():
        if task.kind == 'track':
            outcomes['tracks'] += 1
            continue
        outcomes['preexisting'] += not task.created and (task.creation is None or task.creation < model.first)
        outcomes[model.outcome_of(task)] += 1
    names = [event['event'] for event in events if event['event'] != 'total']
    return {
        'start': model.first, 'last_event': model.final, 'end': max(model.final, model.ended), 'events': len(names),
        'by_event': {name: names.count(name) for name in set(names)},
        'tasks': dict(total=len(model.tasks) - outcomes['tracks'], **outcomes),
        'counters': [{'name': name, 'first': values[0][1], 'min': min(value for _, value in values),
                      'max': max(value for _, value in values), 'last': values[-1][1], 'changes': len(values)}
                     for name, (values, _, _) in model.counters.items()]}


def edges(model):
    """The rows of `weft dump --edges --json`."""
    def number(task):
        return task.id if task else None
    return [{'time': edge['time'], 'edge': edge['edge'], 'from': number(edge['from']), 'to': number(edge['to'])}
            for edge in model.edges if not edge['removed']]


def spans(model):
    """The rows of `weft dump --spans --json`."""
    def track(task):
        return {'track': task.label} if task.kind == 'track' else {}
    rows = [{'span': name, 'task': task.id, 'thread': None, **track(task), 'start': start, 'end': end, 'depth': depth}
            for task in model.tasks.values() for name, start, end, depth in model.spans_of(task)]
    rows += [{'span': name, 'task': None, 'thread': thread, 'start': start, 'end': end, 'depth': depth}
             for thread, name, start, end, depth in model.spans_of_threads()]
    return sorted(rows, key=str)


def tasks(model, tree):
    """The lines of `weft dump --tasks --json`, without layout rows."""
    shown = []
    for task, (start, parent, _) in tree.items():
        if task.id >= TRACK_THREADS and task.kind == 'track':
            shown.append({'task': task.id, 'kind': 'track', 'start': start, 'end': model.end_of(task)})
            continue
        ran = model.activations_of(task)
        shown.append({
            'task': task.id, 'kind': task.kind, 'label': task.label,
            'parent': parent.id if parent else None, 'start': start,
            'end': model.end_of(task), 'resolved': task.outcome is not None or task.kind == 'track',
            'outcome': model.outcome_of(task), 'failed': model.failure_of(task),
            'becomes': task.becomes.id if task.becomes else None,
            'running': sum(until - since for since, until in ran), 'activations': len(ran),
            'expected': task.expected})
        if task.category:
            shown[-1]['category'] = task.category
        if task.off_cpu:
            shown[-1]['off_cpu'] = sum(ns for *_, ns in task.off_cpu)
        if task.from_rundown and not task.created and task.creation is not None:
            shown[-1]['created'] = task.creation
    return sorted(shown, key=lambda row: (row['start'], row['task']))
