#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs every reader beside a program that damages or truncates its own ring. Checks for crashes, hangs,
terminal control sequences, invalid JSON and memory out of proportion (operation.py has the limits).

    hostile.py                                    30 s in all, as TAP: a case a reader
    hostile.py --seconds 3600 --random            for an hour, with random seeds
    hostile.py --reader tail --seed 7 --mode cut  one round, as a failure names it

WEFT_BUILD is the build to test, HOSTILE_PLAIN another one without sanitizers, which every third round
then takes, and at least one of each reader; HOSTILE_SECONDS and HOSTILE_SEED are defaults of the options.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ('rewrite', 'cut', 'rewrite', 'frozen')
AT_ONCE = 2


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=float, default=float(os.environ.get('HOSTILE_SECONDS') or 30))
    parser.add_argument('--seed', type=int, default=int(os.environ.get('HOSTILE_SEED') or 1))
    parser.add_argument('--random', action='store_true', help='seeds of chance')
    parser.add_argument('--reader', help='one round of this reader')
    parser.add_argument('--mode', default='rewrite', help='what the writer does in it')
    parser.add_argument('--length', type=float, default=2, help='seconds that the writer runs')
    return parser.parse_args()


# ---- One round, in a process of its own ----

def one_round(arguments):
    """Prints the faults; the last line is JSON."""
    from readers import READERS
    from world import World
    from harness import Skip
    answer = {'faults': [], 'skip': None}
    with World(arguments.seed, arguments.mode, arguments.length) as world:
        world.deadline = time.monotonic() + 2 * arguments.length
        try:
            READERS[arguments.reader](world)
        except Skip as reason:
            answer['skip'] = str(reason)
        except Exception:
            answer['faults'].append('the test itself: ' + traceback.format_exc())
        answer['faults'] += world.faults
        answer.update(count=world.count, memory=world.memory)
    print(json.dumps(answer))
    return 1 if answer['faults'] else 0


# ---- All of them ----

class Round:
    def __init__(self, reader, number, seed, length):
        self.reader, self.seed = reader, seed
        self.mode = MODES[number % len(MODES)]
        self.words = ['--reader', reader, '--mode', self.mode, '--seed', str(seed), '--length', '%g' % length]
        plain = os.environ.get('HOSTILE_PLAIN')
        self.build = plain if plain and number % 3 == 2 else os.environ.get('WEFT_BUILD')
        env = dict(os.environ, **({'WEFT_BUILD': self.build} if self.build else {}))
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, __file__, *self.words], stdin=subprocess.DEVNULL,
                                        stdout=self.out, stderr=subprocess.STDOUT, env=env)

    def has_ended(self):
        return self.process.poll() is not None

    def answer(self):
        self.process.wait()
        self.out.seek(0)
        text = self.out.read().decode('utf-8', 'replace')
        self.out.close()
        try:
            return json.loads(text.strip().rpartition('\n')[2])
        except ValueError:
            return {'faults': ['the test itself: ' + text], 'count': 0, 'memory': 0, 'skip': None}

    def repeat(self):
        return '%s%s %s' % ('WEFT_BUILD=%s ' % self.build if self.build else '', os.path.relpath(__file__),
                            ' '.join(self.words))


class Case:
    """A reader, and what was wrong in its rounds: of alike faults the first, and how many."""

    def __init__(self, reader):
        self.reader, self.rounds, self.count, self.memory, self.skip, self.faults = reader, 0, 0, 0, None, {}

    def take(self, finished):
        answer = finished.answer()
        self.rounds += 1
        self.count += answer['count']
        self.memory = max(self.memory, answer['memory'])
        self.skip = self.skip or answer['skip']
        for fault in answer['faults']:
            sort = sort_of(fault)
            self.faults[sort] = self.faults.get(sort, 0) + 1
            if self.faults[sort] == 1:
                print('# %s: %s\n#     again: %s' % (
                    self.reader, fault.replace('\n', '\n#     '), finished.repeat()), flush=True)


def sort_of(fault):
    """A key that similar faults share: the first line, and where a sanitizer found it."""
    location = re.search(r'[\w/]+\.[ch]:\d+', fault)
    return re.sub(r"0x[0-9a-f]+|\d+|'.*'", '', fault.partition('\n')[0])[:80] + (location.group() if location else '')


def choose(cases, running):
    """The reader that had the fewest rounds."""
    busy = [one.reader for one in running]
    ready = [case for case in cases if not case.skip and case.reader not in busy]
    return min(ready, key=lambda case: case.rounds, default=None)


def run_all(cases, arguments):
    """Runs rounds until the time is over, at least one for each reader, type of damage and build."""
    rounds_min = 3 if os.environ.get('HOSTILE_PLAIN') else 2
    end = time.monotonic() + arguments.seconds
    length = max(0.7, min(4, arguments.seconds * AT_ONCE / len(cases) / 3))
    chance = random.SystemRandom() if arguments.random else random.Random(arguments.seed)
    running, report = [], time.monotonic() + 60
    while True:
        for one in [one for one in running if one.has_ended()]:
            running.remove(one)
            case = next(case for case in cases if case.reader == one.reader)
            case.take(one)
        case = choose(cases, running)
        is_over = time.monotonic() > end and all(case.rounds >= rounds_min or case.skip for case in cases)
        if is_over and not running:
            return
        if case and not is_over and len(running) < AT_ONCE:
            number = case.rounds
            running.append(Round(case.reader, number, chance.randrange(1 << 32), length))
        if time.monotonic() > report:
            report += 60
            print('# %d s left, %d rounds, %d commands, %d sorts of faults' % (
                max(0, end - time.monotonic()), sum(case.rounds for case in cases),
                sum(case.count for case in cases), sum(len(case.faults) for case in cases)), flush=True)
        time.sleep(0.02)


def main():
    arguments = parse()
    sys.path.insert(0, HERE)
    if arguments.reader:
        return one_round(arguments)
    from readers import READERS
    cases = [Case(reader) for reader in READERS]
    print('1..%d' % len(cases), flush=True)
    run_all(cases, arguments)
    for number, case in enumerate(cases, 1):
        what = '%d - %s: %d rounds, %d commands, up to %d %% of the memory allowed' % (
            number, case.reader, case.rounds, case.count, case.memory)
        if case.skip:
            print('ok %d - %s # SKIP %s' % (number, case.reader, case.skip))
        else:
            print(('not ok ' if case.faults else 'ok ') + what)
        for sort, count in case.faults.items():
            print('# %d times: %s' % (count, sort))
    return 1 if any(case.faults for case in cases) else 0


if __name__ == '__main__':
    sys.exit(main())
