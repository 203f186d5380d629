# SPDX-License-Identifier: ISC
"""Two corpora for the search for problems. Programs with a planted fault (tests/faults/), each with several
seeds: the fault is the first problem. Sound ones have none, and examples and real traces nothing graver than a hint."""
import glob
import json
import lzma
import os
import re

from harness import BUILD, DATA, case, equal, json_lines, main, run, temporary_directory, weft
from measured import IS_SANITIZED

PROGRAMS = os.path.join(BUILD, 'tests', 'fault-programs')
DARK = os.path.join(BUILD, 'tests', 'test_dark')
SEEDS = 2 if IS_SANITIZED else 5
CUTS = 3 if IS_SANITIZED else 12  # of each trace
# Examples run on the machine's clock: where it lets them wait for a processor, these are true.
OF_BUSY_MACHINES = {'late timer', 'hog', 'slow', 'idle gap', 'contention', 'starvation', 'burst', 'polling', 'piling up', 'queue'}
EXAMPLES = ['block-read', 'hello', 'threads']
# All but `timeout`, in which a call fails on purpose.
RECIPES = ['callback', 'cancellation', 'channel', 'condition', 'coroutine', 'idle-loop', 'mutex', 'promise', 'request-id', 'select',
           'thread-pool', 'timer']


def problems(trace):
    return json_lines(weft('dump', '--problems', '--json', trace).stdout)


def programs():
    return [line.split('\t') for line in run([PROGRAMS]).stdout.splitlines()]


def play(name, seed, here):
    trace = os.path.join(here, 'trace.weft')
    result = run([PROGRAMS, name, seed, trace])
    equal(result.returncode, 0, result.stderr)
    return problems(trace)


def describe(found):
    return '\n'.join('%s %s: %s' % (p['severity'], p['problem'], p['sentence']) for p in found) or 'nothing'


def expect_first(found, problem, severity, sentence, what):
    first = found[0] if found else {'problem': '', 'severity': '', 'sentence': ''}
    if not re.fullmatch(problem, first['problem']) or first['severity'] != severity or not re.search(sentence, first['sentence']):
        raise AssertionError('%s: expected %s %s with %r first, found:\n%s' % (
            what, severity, problem, sentence, describe(found)))


def expect_sound(found, what):
    if any(p['severity'] != 'hint' for p in found):
        raise AssertionError('%s is sound, but:\n%s' % (what, describe(found)))


@case
def each_planted_fault_is_the_first_problem():
    planted = [row for row in programs() if row[1]]
    assert len(planted) >= 20, len(planted)
    with temporary_directory() as here:
        for name, problem, severity, sentence in planted:
            for seed in range(1, SEEDS + 1):
                expect_first(play(name, seed, here), problem, severity, sentence, '%s, seed %d' % (name, seed))


@case
def sound_programs_have_no_problem():
    sound = [row[0] for row in programs() if not row[1]]
    assert len(sound) >= 4, sound
    with temporary_directory() as here:
        for name in sound:
            for seed in range(1, SEEDS + 1):
                equal(describe(play(name, seed, here)), 'nothing', '%s, seed %d' % (name, seed))


@case
def losses_of_sound_programs_make_no_problem():
    """Nor those of captures of Xen: events are cut out at random (tests/unit/story/test_dark.c)."""
    with temporary_directory() as here:
        traces = []
        for name in [row[0] for row in programs() if not row[1]]:
            traces.append(os.path.join(here, name))
            equal(run([PROGRAMS, name, '7', traces[-1]]).returncode, 0)
        for path in glob.glob(os.path.join(DATA, 'traces', '*.xz')):
            traces.append(os.path.join(here, os.path.basename(path)[:-3]))
            with lzma.open(path) as packed, open(traces[-1], 'wb') as file:
                file.write(packed.read())
        assert len(traces) >= 12, traces
        result = run([DARK], env={'WEFT_DARK_TRACES': ' '.join(traces), 'WEFT_DARK_SEEDS': str(CUTS), 'CMOCKA_MESSAGE_OUTPUT': 'TAP'})
        equal(result.returncode, 0, result.stdout + result.stderr)


@case
def recorded_traces_have_only_hints():
    for name in ('mirage-arp-good.ctf', 'mirage-block-read.sexp'):
        expect_sound(problems(os.path.join(DATA, 'traces', name)), name)


@case
def examples_have_only_hints():
    paths = [os.path.join('examples', name) for name in EXAMPLES]
    paths += [os.path.join('examples', 'cookbook', name) for name in RECIPES]
    with temporary_directory() as here:
        for number, path in enumerate(paths):
            trace = os.path.join(here, '%d.weft' % number)
            weft('record', '-o', trace, os.path.join(BUILD, path))
            expect_sound([p for p in problems(trace) if p['problem'] not in OF_BUSY_MACHINES], path)


main()
