# SPDX-License-Identifier: ISC
"""Every reader of a ring agrees with the oracle: random calls, played by tests/oracle/player.c, through the
saved buffer, copies, stream (whole, and in pieces as it arrives), follower, model, cuts and rules.

    tests/e2e/agree.py [CASE…]                  as `make check-all` does
    WEFT_AGREE_SEEDS=5000 WEFT_AGREE_SEED=7 tests/e2e/agree.py     tests more, other cases
"""
import itertools
import json
import os
import random
import subprocess
import sys

from harness import BUILD, SOURCE, case, main

sys.path.insert(0, os.path.join(SOURCE, 'tests', 'oracle'))
import decode  # noqa: E402
import model as rules  # noqa: E402
import triggers  # noqa: E402
from same import check_part, check_rows, same, without_row  # noqa: E402

SEEDS = int(os.environ.get('WEFT_AGREE_SEEDS', 200))
SEED = int(os.environ.get('WEFT_AGREE_SEED', 1))
AT_ONCE = 50  # seeds that one player plays

# Texts: of a few names, of any length, and many that fill the table of names.
SHORT = ['', 'a', 'name', 'exactly-8', 'caf\xe9', 'x' * 7, 'x' * 8, 'x' * 9]


class Created:
    """The task that the script created as its N-th: its id is known when the script was played."""

    def __init__(self, number):
        self.number = number


class Track:
    """The track of a span: its id is known when the script was played."""


class Script:
    """A random list of calls, as the player reads it, and the events that they should be."""

    def __init__(self, seed):
        self.rng = random.Random('agree %d' % seed)
        self.spans = random.Random('spans %d' % seed)
        self.tracks = random.Random('tracks %d' % seed)
        self.has_tracks = self.tracks.random() < 0.5
        self.is_busy = self.tracks.random() < 0.2  # many spans overlap
        self.synced = None  # (time of the recorder, time of the foreign clock)
        rng = self.rng
        self.honest = rng.random() < 0.5  # no call about a task that has ended
        self.becomes = {}
        self.has_becomes = rng.random() < 0.7
        self.has_reals = rng.random() < 0.5
        self.threads = rng.choice([1, 2, 3, 3, 16, 20])
        self.steps = rng.choice([[0], [0, 0, 0, 1], [0, 1, 10, 500], [1, 3000], [0, 10 ** 6, 5 * 10 ** 9]])
        self.texts = rng.choice(['short', 'short', 'long', 'many'])
        self.lag = rng.choice([0, 1, 1])  # 0: the follower is given events while others of that time come
        self.readers = rng.choice([0.002, 0.01, 0.05])
        self.ends = rng.choice([0.001, 0.05])  # of threads
        self.lines, self.events = ['begin 65536'], []
        self.thread, self.time = 0, 1000
        self.created, self.living = 0, []
        self.strangers = itertools.count(900000)  # tasks that no call creates
        self.foreign = [next(self.strangers) for _ in range(3)]
        self.current = {}  # by thread
        self.gone = set()
        for _ in range(rng.choice([3, 30, 100, 150, 150, 300, 400, 400, 2500])):
            self.step()
        self.lines.append('end %d' % rng.randrange(2 ** 63))
        self.rules = self.random_rules()
        self.cuts = [self.random_range() for _ in range(2)]
        self.lines += ['rule ' + rule for rule in self.rules] + ['cut %d %d' % cut for cut in self.cuts]

    # ---- what is drawn ----

    def text(self):
        rng = self.rng
        if self.texts == 'short' or rng.random() < 0.5:
            return rng.choice(SHORT)
        if self.texts == 'many':
            return 'name-%d-%s' % (rng.randrange(10 ** 9), 'n' * rng.randrange(200))
        return 'l' * rng.choice([1000, 1023, 1024, 1025, 1500])

    def name(self):
        return self.text() or 'empty'

    def task(self):
        """A task's token, and the task as the event names it; None means no task."""
        rng, chance = self.rng, self.rng.random()
        if chance < 0.04:
            return '-', None
        if chance < 0.2 and self.thread in self.current:
            return '.', self.current[self.thread]
        return self.token(rng.choice(self.living[-8:] + self.foreign if self.living else self.foreign))

    @staticmethod
    def token(task):
        return '#%d' % task.number if isinstance(task, Created) else str(task), task

    # ---- one step ----

    def step(self):
        rng, chance = self.rng, self.rng.random()
        if rng.random() < 0.4:
            self.thread = rng.choice([thread for thread in range(self.threads) if thread not in self.gone])
        self.time += rng.choice(self.steps)
        if chance < self.readers:
            self.lines.append(rng.choice(['look 0', 'look 1', 'look 1', 'follow %d' % self.lag, 'follow %d' % self.lag, 'copy']))
        elif chance < self.readers + self.ends and len(self.gone) < self.threads - 1 and self.threads < 40:
            self.gone.add(self.thread)
            self.lines.append('gone %d' % self.thread)
            self.thread = next(thread for thread in range(self.threads) if thread not in self.gone)
        else:
            rng.choice([self.create, self.create, self.remark, self.act, self.act, self.act, self.run])()
            if self.spans.random() < 0.15:
                self.span()
            if self.has_tracks and self.tracks.random() < (0.8 if self.is_busy else 0.2):
                self.given_span()
            if self.spans.random() < 0.08 and self.thread in self.current:
                self.off_cpu()

    def call(self, line, event, **fields):
        self.lines += ['at %d %d' % (self.thread, self.time), line]
        self.events.append(dict(time=self.time, event=event, thread=self.thread + 1, **fields))

    def create(self):
        token, task = self.task()
        kind = self.rng.choice(list(range(23)) + [18, 21] + [2] * 20 + [99, 1000] + ['job', 'conn'] * (self.texts != 'many'))
        named = isinstance(kind, str)
        of_net = len(kind) % 3 == 1 if named else kind % 3 == 1 and kind <= 256  # is_of_net() of player.c
        fields = {'category': 'net'} if of_net else {}
        self.call('create%s' % ('_named %s =%s' % (token, kind) if named else ' %s %d' % (token, kind)), 'create', task=task,
                  child=Created(self.created), kind=kind if named else decode.kind(kind), **fields)
        self.living.append(Created(self.created))
        self.created += 1

    def remark(self):
        rng, (token, task) = self.rng, self.task()
        text, number = self.text(), rng.choice([0, 1, -1, 5, 2 ** 63 - 1, -2 ** 63])
        what = rng.choice(['label', 'note', 'tag', 'tag_value', 'mark', 'counter_add', 'counter_set', 'gc'])
        if what in ('label', 'note', 'tag'):
            self.call('%s %s =%s' % (what, token, text), what, task=task, text=text)
        elif what == 'tag_value':
            self.call('tag_value %s =%s %d' % (token, text, number), 'tag', task=task, text=text, value=number)
        elif what == 'mark':
            self.call('mark %s %d =%s' % (token, number, text), 'mark', task=task, name='mark',
                      fields={'n': number, 's': text})
        elif what == 'gc':
            self.call('gc %d' % abs(number % 1000), 'gc', duration=abs(number % 1000))
        else:
            self.count(what, token, task)

    def count(self, what, token, task):
        """The program adds or sets an integer or a real number; one that is not finite is null in JSON."""
        rng = self.rng
        name, is_real = rng.choice(['queue', 'b#1', self.name()]), self.has_reals and rng.random() < 0.5
        number = rng.choice([0.5, -0.25, 3.0, 1e18, -1e300, float('inf')] if is_real else [0, 1, -1, 5, 7])
        self.call('%s%s %s =%s %r' % (what, '_f64' if is_real else '', token, name, number), 'counter', task=task, name=name,
                  **{'add' if what == 'counter_add' else 'value': None if number == float('inf') else number})

    def act(self):
        rng, (token, task), (other_token, other) = self.rng, self.task(), self.task()
        if other_token == '.':  # only the actor may be the current task
            other_token, other = '-', None
        pair = '%s %s' % (token, other_token)
        what = rng.choice(['read', 'read', 'read_later', 'try_read', 'try_read', 'wait_any', 'resolve', 'fail', 'cancel', 'close',
                           'time_out', 'acquire', 'acquire', 'release', 'become', 'become', 'expect', 'alive',
                           'send', 'send', 'receive', 'receive'])
        if what in ('read', 'read_later'):
            self.call('%s %s' % (what, pair), 'read', task=task, source=other, later=what == 'read_later')
            if what == 'read':
                self.current[self.thread] = task
        elif what == 'try_read':
            self.call('try_read ' + pair, 'try_read', task=task, source=other)
        elif what == 'wait_any':
            self.wait_any(token, task, [(other_token, other), self.task(), self.task()])
        elif what in ('resolve', 'cancel', 'close', 'time_out'):
            self.call('%s %s' % (what, pair), what, task=task, target=other)
            self.ended(other)
        elif what in ('acquire', 'release'):
            self.call('%s %s' % (what, pair), what, task=task, resource=other)
        elif what == 'fail':
            message = self.text()
            self.call('fail %s =%s' % (pair, message), 'fail', task=task, target=other, message=message)
            self.ended(other)
        elif what == 'become':
            self.become(pair, task, other)
        elif what in ('send', 'receive'):
            key = rng.choice([0, 1, 2, 2 ** 64 - 1])
            self.call('%s %s %d' % (what, token, key), what, task=task, key=key)
        elif what == 'expect':
            self.call('expect ' + token, 'expect', task=task)
        elif what == 'alive' and token != '.':
            self.alive(token, task, other_token, other)

    def wait_any(self, token, task, sources):
        """One call with three events."""
        sources = [('-', None) if source[0] == '.' else source for source in sources]
        self.call(' '.join(['wait_any', token, *(source[0] for source in sources)]), 'wait_any', task=task,
                  source=sources[0][1])
        self.events += [dict(self.events[-1], source=source) for _, source in sources[1:]]

    def alive(self, token, task, other_token, other):
        rng = self.rng
        label, age, kind = self.text(), rng.choice([None, 0, 500, 10 ** 9]), rng.choice([1, 2, 99])
        fields = {} if age is None else {'age': age}
        self.call('alive %s %d =%s %s %s' % (token, kind, label, '-' if age is None else age, other_token), 'alive',
                  task=task, kind=decode.kind(kind), category='program', label=label, source=other, rundown=True, **fields)

    def span(self):
        token, task = self.token(self.spans.choice(self.living[-8:] + self.foreign))
        if self.spans.random() < 0.1:
            token, task = '-', None
        elif self.spans.random() < 0.4 and self.thread in self.current:
            token, task = '.', self.current[self.thread]
        if self.spans.random() < 0.5:
            name = self.spans.choice(SHORT)
            self.call('span_begin %s =%s' % (token, name), 'begin', task=task, name=name)
        else:
            self.call('span_end %s' % token, 'end', task=task)

    def given_span(self):
        rng = self.tracks
        label, name = rng.choice(['gpu-0', 'disk', self.name() if self.texts == 'long' else 'net']), rng.choice(SHORT)
        if rng.random() < 0.1:
            self.synced = self.time, rng.randrange(10 ** 12)
            self.lines += ['at %d %d' % (self.thread, self.time), 'sync %d' % self.synced[1]]
        clock = rng.choice(['recorder', 'recorder', 'foreign'])
        length = rng.choice([0, 1, 10, 700, 10 ** 9])
        end = self.time - rng.choice([0, 0, 3, 400, 10 ** 9, -5])
        begin = end - length if rng.random() < 0.97 else end + 1
        begin, end = max(0, begin), max(0, end)
        if clock == 'recorder':
            given, shown = (begin, end), (begin, end)
        else:
            given = rng.randrange(10 ** 12) + begin, 0
            given = given[0], given[0] + end - begin
            given = max(0, given[0]), max(0, given[1])
            now_ns, now = self.synced or (self.time, given[1])
            shown = tuple(max(0, now_ns + at - now) for at in given)
        self.call('span =%s =%s %d %d %d' % (label, name, 16 if clock == 'foreign' else 0, *given), 'span', track=Track(), label=label,
                  clock=clock, name=name, start=shown[0], end=shown[1])

    def off_cpu(self):
        """Some are longer than the activation, or than any trace."""
        duration = self.spans.choice([0, 1, 7, 300, 2000, 10 ** 6, 2 ** 62])
        self.call('off_cpu %d' % duration, 'off_cpu', task=self.current[self.thread], duration=duration)

    def run(self):
        rng, (token, task), (other_token, other) = self.rng, self.task(), self.task()
        what = rng.choice(['switch', 'switch', 'signal', 'signal_only', 'band', 'band'])
        if what == 'band':
            kind, reason, begin = rng.choice(['idle', 'gc']), rng.choice(['poll', 'minor', '']), rng.random() < 0.5
            self.call('band %d =%s %d' % (kind == 'gc', reason, begin), 'band', kind=kind, reason=reason, begin=begin)
        elif what == 'switch':
            if token == '.':
                return
            self.call('switch ' + token, 'switch', task=task)
            self.current[self.thread] = task
        elif other_token != '.':
            self.call('%s %s %s' % (what, token, other_token), 'signal', task=other, source=task,
                      switches=what == 'signal')
            if what == 'signal':
                self.current[self.thread] = other

    # ---- Calls that honest programs do not make: about a task that has ended ----

    def ended(self, task):
        if not self.honest or task is None:
            return
        self.forget(lambda one: self.last(one) is self.last(task))

    def forget(self, has_ended):
        self.living = [task for task in self.living if not has_ended(task)]
        self.foreign = [task for task in self.foreign if not has_ended(task)]
        while len(self.foreign) < 3:
            self.foreign.append(next(self.strangers))
        for thread, task in list(self.current.items()):
            if task is not None and has_ended(task):
                del self.current[thread]

    def last(self, task):
        while task in self.becomes:
            task = self.becomes[task]
        return task

    def become(self, pair, task, other):
        if not self.has_becomes or (self.honest and (not task or not other or self.last(task) is self.last(other))):
            return
        self.call('become ' + pair, 'become', task=task, target=other)
        if self.honest:
            self.becomes[self.last(task)] = self.last(other)

    # ---- Ranges and rules for the saved buffer ----

    def random_range(self):
        """Most ranges begin or end at an event's time."""
        rng, times = self.rng, [event['time'] for event in self.events] or [self.time]
        start = rng.choice([rng.randint(times[0], times[-1]), rng.choice(times)])
        end = rng.choice([rng.randint(start, times[-1] + 1), rng.choice(times), start, times[-1] + 1])
        return start, max(start, end)

    def random_rules(self):
        rng, found = self.rng, []
        for _ in range(3):
            limit = rng.choice([0, 1, 10, 1000, 10 ** 6])
            filters = rng.choice(['', ' kind = bind', ' label = a'])
            found.append(rng.choice(['runs', 'waits']) + ' > %d ns%s' % (limit, filters))
        return found + ['counter queue %s %s' % (rng.choice(['>', '<', '>=', '<=']), rng.choice([-3, -1, 0, 2, 5, 11, 2.5, -0.25])),
                        rng.choice(['tag a', 'tag = a', 'tag x'])]


# ---- what the player showed ----

class Shown:
    """The player's lines of one script, by section."""

    def __init__(self, lines):
        self.calls, self.rings, self.copies, self.parts, self.fired = [], [], [], [], []
        self.events, self.sections, self.losses, self.diagnostics = {}, {}, {}, []
        rows = None
        for line in lines:
            first = line[0]
            if first == '{' or first == '[':
                rows.append(json.loads(line))
            elif first.isdigit():
                tid, event = line.split(' ', 1)
                rows.append(dict(json.loads(event), thread=int(tid)))
            else:
                section = self.begin(*line.split())
                rows = rows if section is None else section

    def begin(self, what, *words):
        """Begins a section; returns the list for its rows, or None if the section is one line."""
        if what == 'call':
            self.calls.append(tuple(map(int, words)))
        elif what == 'ring':
            self.rings.append((len(self.calls), set(map(int, words))))
        elif what == 'fired':
            self.fired.append(int(words[0]))
        elif what == 'losses':
            self.losses[words[0]] = dict(zip(words[1::2], map(int, words[2::2])))
        elif what == 'ended':
            self.sections[what, words[0]] = int(words[1])
        elif what == 'diagnostic':
            self.diagnostics.append(' '.join(words))
        elif what == 'events':
            if words[0] in ('copy', 'part'):
                found = self.copies if words[0] == 'copy' else self.parts
                found.append([])
                return found[-1]
            return self.events.setdefault(words[0], [])
        else:
            self.sections[what, words[0]] = []
            return self.sections[what, words[0]]
        return None


def play(scripts):
    """Plays them one after the other; a list of Shown."""
    text = ''.join(line + '\n' for script in scripts for line in script)
    result = subprocess.run([os.path.join(BUILD, 'tests', 'player')], input=text, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def resolved(script, calls):
    """The expected events, with the ids that the recorder gave: (sequence, event)."""
    ids = [call[0] for call, event in zip(calls, script.events) if event['event'] == 'create']
    found = []
    for event, (number, sequence) in zip(script.events, calls):
        found.append((sequence, {key: ids[value.number] if isinstance(value, Created) else
                                 number if isinstance(value, Track) else value for key, value in event.items()}))
    return found


def in_order(truth):
    """The order in which every reader must return them: by time, then by packet, then as they were recorded."""
    return [event for _, event in sorted(truth, key=lambda pair: (pair[1]['time'], pair[0]))]


# ---- comparison ----

def is_added(event):
    """True for a switch by which a reader names the running task of a thread whose earlier events are missing."""
    return event['event'] == 'switch' and event.get('rundown')


def without_added(shown):
    return [event for event in shown if not is_added(event)]


def current_after(current, event):
    if event['event'] == 'switch' or (event['event'] == 'read' and not event['later']) or event.get('switches'):
        return event['task']
    return current


def check_switches(way, shown, truth):
    """A reader's switch names the task that ran before the thread's next shown event."""
    by_thread = {}
    for _, event in truth:
        by_thread.setdefault(event['thread'], []).append(event)
    for index, event in enumerate(shown):
        if not is_added(event):
            continue
        later = [other for other in shown[index:] if other['thread'] == event['thread'] and not is_added(other)]
        whole = by_thread[event['thread']]
        current = None
        for past in whole[:len(whole) - len(later)]:
            current = current_after(current, past)
        assert event['task'] == current, '%s: %s, but %s runs' % (way, event, current)


def is_subsequence(some, all_of_them):
    rest = iter(all_of_them)
    return all(any(one == other for other in rest) for one in some)


def check_counts(way, shown, losses, recorded):
    """Counts only recorded events: neither refused because the table of names was full, nor too big."""
    lost = sum(count for cause, count in losses.items() if cause not in ('names_full', 'too_big'))
    same(way + ': events and losses', len(without_added(shown)) + lost, recorded)


def by_thread(events):
    """For events that were returned while others of the same time were recorded: only each thread's order is fixed."""
    return sorted(events, key=lambda event: (event['time'], event['thread']))


def check_live(way, shown, losses, truth, order=list):
    """A reader beside the program may be too late for some events, and counts them."""
    check_counts(way, shown, losses, len(truth))
    expected = in_order(truth)
    if losses.get('stalled'):
        assert is_subsequence(order(without_added(shown)), order(expected)), way + ': other events than were recorded'
    else:
        same(way, order(shown), order(expected))
    same(way + ': times', [event['time'] for event in shown], sorted(event['time'] for event in shown))


def check_ring(way, shown, truth, sequences):
    same(way, without_added(shown), in_order([pair for pair in truth if pair[0] in sequences]))
    check_switches(way, shown, truth)


def check_model(way, shown, sections):
    model = rules.Model(shown, sections['ended', way], 'program', sections['dark', way], sections['lost', way])
    same('edges', sections['edges', way], rules.edges(model))
    for name, tree in (('tasks', rules.unsimplified(model)), ('simplified', rules.simplified(model))):
        tasks = sorted(sections[name, way], key=lambda row: (row['start'], row['task']))
        same(name, without_row(tasks), rules.tasks(model, tree))
        check_rows(tasks, model, tree)
    same('spans', sorted(sections['spans', way], key=str), rules.spans(model))
    same('counters', sections['counters', way], [[name, *(value for _, value in values)] for name, (values, *_) in model.counters.items()])
    same('bands', sorted(sections['bands', way], key=str),
         sorted(([*band[:4], band[4] or None] for band in model.bands), key=str))


def check_models(events, sections):
    """Readers that gave the same events must have the same model."""
    checked = []
    for way in ('saved', 'stream', 'fed', 'follow'):
        twin = next((other for other in checked if events[other] == events[way] and
                     all(sections[what, other] == sections[what, way] for what in ('dark', 'lost'))), None)
        try:
            if twin:
                for what in ('ended', 'edges', 'tasks', 'simplified', 'counters'):
                    same(what, sections[what, way], sections[what, twin])
                same('spans', sorted(sections['spans', way], key=str), sorted(sections['spans', twin], key=str))
                # Bands of one time are in the order of the threads' indices, which are each reader's own.
                same('bands', sorted(sections['bands', way], key=str), sorted(sections['bands', twin], key=str))
            else:
                check_model(way, events[way], sections)
        except AssertionError as error:
            raise AssertionError('%s: %s' % (way, error)) from error
        checked.append(way)


def recorded(script, sequence, event):
    """Only a counter or a track may be refused: if its name is too long, or the table of names is full."""
    assert sequence or (event['event'] in ('counter', 'span') and script.texts != 'short'), 'not recorded: %s' % event
    return sequence


def check_script(script, shown):
    same('calls', len(shown.calls), len(script.events))
    assert not shown.diagnostics, shown.diagnostics
    truth = resolved(script, shown.calls)
    truth = [pair for pair in truth if recorded(script, *pair)]
    for (calls, sequences), events in zip(shown.rings, shown.copies):
        check_ring('copy', events, [pair for pair in resolved(script, shown.calls)[:calls] if pair[0]], sequences)
    saved = shown.events['saved']
    check_ring('saved', saved, truth, shown.rings[-1][1])
    check_counts('saved', saved, shown.losses['saved'], len(truth))
    check_live('stream', shown.events['stream'], shown.losses['stream'], truth)
    same('stream in pieces', shown.events['fed'], shown.events['stream'])
    same('losses of the stream in pieces', shown.losses['fed'], shown.losses['stream'])
    check_live('follow', shown.events['follow'], shown.losses['follow'], truth, list if script.lag else by_thread)
    check_models(shown.events, shown.sections)
    for rule, fired in zip(script.rules, shown.fired):
        same('rule %s' % rule, fired, triggers.count_fired(rule, saved))
    for (start, end), part in zip(script.cuts, shown.parts, strict=True):
        try:
            check_part(part, saved, start, end, 'program')
        except AssertionError as error:
            raise AssertionError('part [%d, %d): %s' % (start, end, error)) from error


def split(output):
    """The player's lines, by script."""
    found = []
    for line in output.splitlines():
        if line == 'begin':
            found.append([])
        else:
            found[-1].append(line)
    return found


def seeds():
    """Lists of seeds: each list for one player."""
    for first in range(0, SEEDS, AT_ONCE):
        yield range(SEED * 10 ** 6 + first, SEED * 10 ** 6 + min(first + AT_ONCE, SEEDS))


def each_script():
    for some in seeds():
        scripts = [Script(seed) for seed in some]
        for seed, script, lines in zip(some, scripts, split(play([script.lines for script in scripts]))):
            yield seed, script, Shown(lines)


@case
def every_reader_agrees_with_the_oracle():
    for seed, script, shown in each_script():
        try:
            check_script(script, shown)
        except AssertionError as error:
            raise AssertionError('seed %d: %s' % (seed, error)) from error


main()
