#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Builds weft, runs tests and counts their single cases.

    tools/check.py              the quick lane: what `make check` runs before each change
    tools/check.py LANE…        these lanes: quick, rest, sanitized, threads, machines, screen, lab
    tools/check.py --all        all of them, one after the other
    tools/check.py --again …    runs tests that have passed for this tree once more

A lane is a choice of tests of one or two builds. Each but the quick one continues where it was interrupted: tests that
passed for the same contents of the work tree are not run again. When all have passed, the tree is stamped for the lane
(stamps.py). How long tests may take is in runner.py.

A line shows the progress. What passes is quiet; of what fails the whole log is shown. The last line is the totals, and the
exit status is 0 if nothing failed.
"""
import os
import re
import resource
import sys
import time

from builds import CCACHE, CCACHE_SETTINGS, MACHINES, PLAIN, SANITIZED, THREADS, Progress, compile_build
from runner import Result, run_tests
from stamps import Stamp, tree

PROCESSORS = os.cpu_count() or 1


class Lane:
    """`chosen` says which tests of the builds belong to it. They run one by one if nothing may disturb them. `screen` runs a
    test again that failed without a crash: a window or a browser may do something of its own accord; both results are shown."""

    def __init__(self, name, what, builds, chosen, one_by_one=False):
        self.name, self.what, self.builds, self.chosen = name, what, builds, chosen
        # One more than there are processors, because many tests mostly wait.
        self.at_once = 1 if one_by_one else PROCESSORS + 1
        self.is_quick, self.repeats = name == 'quick', name == 'screen'
        self.processor_s = 300 if self.is_quick else 3600  # of a test, without output: many times as much as any uses


def is_of_screen(test):
    return test.has('screen') and not test.has('foreign' if test.build is SANITIZED else 'sanitized')


# The suites are those of tests/meson.build.
LANES = [
    Lane('quick', 'what each change must pass', [PLAIN],
         lambda test: not test.has('long', 'sanitized', 'screen', 'xen')),
    Lane('rest', 'the longer tests of the same build', [PLAIN],
         lambda test: test.has('long') and not test.has('sanitized', 'screen', 'xen')),
    Lane('sanitized', 'clang, address and undefined-behaviour sanitizers', [SANITIZED],
         lambda test: not test.has('house', 'model', 'foreign', 'screen', 'xen')),
    Lane('threads', 'the thread sanitizer', [THREADS], lambda test: test.has('threads')),
    Lane('machines', 'other processors, under qemu', MACHINES, lambda test: test.has('machines')),
    Lane('screen', 'windows and browsers', [PLAIN, SANITIZED], is_of_screen, one_by_one=True),
    Lane('lab', 'a real Xen, under qemu', [PLAIN], lambda test: test.has('xen'), one_by_one=True),
]


class Totals:
    def __init__(self):
        self.passed = self.failed = self.repeated = 0
        self.skips, self.logs = [], []
        self.build_s = self.tests_s = 0.0
        self.longest = []  # processor time and name of each test

    def add(self, result):
        self.passed += result.passed
        self.failed += result.failed
        self.skips += result.skips
        self.longest.append((result.processor_s, result.name))
        if result.failed:
            self.logs.append((result.name, result.log))

    def merge(self, other):
        for name in ('passed', 'failed', 'repeated', 'skips', 'logs', 'build_s', 'tests_s', 'longest'):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def text(self):
        again = ', %d run again' % self.repeated if self.repeated else ''
        return '%d passed, %d failed, %d skipped%s' % (self.passed, self.failed, len(self.skips), again)


CRASH = re.compile(r'(Address|Leak|Thread)Sanitizer|runtime error:|exit -[0-9]+, expected|\(signal [0-9]+\)$')


def repeat(lane, tests, failed, totals):
    """Runs the tests that failed once more, if the lane allows it and nothing crashed; returns the results that count."""
    again = [result for result in failed if lane.repeats and not CRASH.search(result.log)]
    last = [result for result in failed if result not in again]
    totals.repeated += len(again)
    totals.logs += [(result.name + ', the first time', result.log) for result in again]
    names = {result.name for result in again}
    run_tests([test for test in tests if test.name in names], 1, lane.processor_s, last.append)
    return last


def run_build(lane, build, stamp, totals):
    """Compiles a build of the lane and runs its tests that have not passed yet."""
    progress, begin = Progress(lane.name), time.monotonic()
    everything = build is PLAIN and not lane.is_quick
    log = compile_build(build, progress, None if everything else lane.chosen, reconfigure=not lane.is_quick)
    progress.clear()
    compiled = time.monotonic()
    totals.build_s += compiled - begin
    totals.add(Result('%s: build' % build.name, passed=log is None, failed=log is not None, log=log or ''))
    if log is not None:
        return
    tests = [test for test in build.tests() if lane.chosen(test)]
    for test in tests:
        if test.name in stamp.results:
            totals.add(stamp.results[test.name])
    missing, failed = [test for test in tests if test.name not in stamp.results], []
    done = []

    def came(result):
        done.append(result)
        progress.show('testing %d/%d' % (len(done), len(missing)))
        if result.failed:
            failed.append(result)
        else:
            totals.add(result)
            stamp.keep(result)

    run_tests(missing, lane.at_once, lane.processor_s, came)
    for result in repeat(lane, missing, failed, totals):
        totals.add(result)
        if not result.failed:
            stamp.keep(result)
    progress.clear()
    totals.tests_s += time.monotonic() - compiled


def run_lane(lane, again):
    """Returns its totals, and stamps the tree if all tests passed for it."""
    before, totals = tree(), Totals()
    stamp = Stamp(before, lane.name)
    if again or lane.is_quick:
        stamp.forget()
        stamp = Stamp(before, lane.name)
    absent = [(build.name, build.missing()) for build in lane.builds if build.missing()]
    totals.skips += ['%s: %s is not installed' % pair for pair in absent]
    for build in lane.builds:
        if not build.missing():
            run_build(lane, build, stamp, totals)
    print('%-10s %-52s%s in %d s' % (lane.name, lane.what, totals.text(), totals.build_s + totals.tests_s), flush=True)
    if before != tree():
        stamp.forget()
        print('%-10s files were changed meanwhile: nothing is stamped' % lane.name)
    elif not totals.failed and not absent:
        stamp.complete(totals.passed, len(totals.skips))
    return totals


def without_passed(log):
    """The log of a test without the cases that passed, and without Python's underlining of failed lines."""
    return '\n'.join(line for line in log.rstrip().splitlines() if not re.match(r'ok \d|# +[\^~]+$', line))


def print_stamps():
    """The lanes that have passed for this tree, each with its totals, and those that have not."""
    name = tree()
    if not name:
        return
    print('tree %s' % name[:12])
    for lane in LANES:
        totals = Stamp(name, lane.name).totals
        print('  %-10s %s' % (lane.name, '%(passed)d passed, %(skipped)d skipped, %(at)s' % totals if totals else 'not passed yet'))


def report(totals):
    for reason in sorted(totals.skips):
        print('skipped: %s' % reason)
    for title, log in totals.logs:
        print('\n==== failed: %s\n%s' % (title, without_passed(log)))
    print_stamps()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    packages = os.environ.get('WEFT_PACKAGES_S')
    longest = sorted(totals.longest, reverse=True)[:5]
    if longest:
        print('the longest: ' + ', '.join('%s %.1f s' % (name, seconds) for seconds, name in longest))
    print('%sbuild %d s, tests %d s; %d s of processor time, %d processors' % (
        'packages %s s, ' % packages if packages else '', totals.build_s, totals.tests_s,
        used.ru_utime + used.ru_stime, PROCESSORS))
    print('%d passed, %d failed, %d skipped' % (totals.passed, totals.failed, len(totals.skips)))


def chosen_lanes(words):
    """The lanes that the command line names."""
    if '--all' in words:
        return LANES
    known = {lane.name: lane for lane in LANES}
    unknown = [word for word in words if word not in known and word != '--again']
    if unknown:
        sys.exit('tools/check.py: no such lane: %s (%s)' % (unknown[0], ', '.join(known)))
    return [known[word] for word in words if word in known] or LANES[:1]


def main():
    totals, lanes = Totals(), chosen_lanes(sys.argv[1:])
    if os.path.isdir(CCACHE):
        os.environ.update(CCACHE_SETTINGS, PATH=CCACHE + os.pathsep + os.environ['PATH'])
    for lane in lanes:
        totals.merge(run_lane(lane, '--again' in sys.argv))
    report(totals)
    return 1 if totals.failed or not totals.passed else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit('\ninterrupted')
