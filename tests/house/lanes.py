# SPDX-License-Identifier: ISC
"""The lanes of tools/check.py: each test is in one, only a test that hangs is given up, a lane continues where it was
interrupted, and a tree is stamped only for what passed."""
import contextlib
import io
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE, case, equal, main, run, temporary_directory  # noqa: E402

sys.path.insert(0, os.path.join(SOURCE, 'tools'))
import builds  # noqa: E402
import check  # noqa: E402
import runner  # noqa: E402
import stamps  # noqa: E402


def listed(build):
    """The tests of this build folder, as if it were that build's."""
    here = builds.Build(build.name, '', '', [])
    here.path = BUILD
    tests = here.tests()
    for test in tests:
        test.build = build
    return tests


@case
def each_test_runs_in_some_lane():
    tests = listed(builds.PLAIN)
    assert len(tests) > 100, len(tests)
    chosen = {test.name.split(': ')[1] for lane in check.LANES for build in lane.builds for test in listed(build)
              if lane.chosen(test)}
    equal(sorted({test.name.split(': ')[1] for test in tests} - chosen), [])


@case
def no_test_runs_in_two_lanes_of_one_build():
    for build in (builds.PLAIN, builds.SANITIZED):
        for test in listed(build):
            lanes = [lane.name for lane in check.LANES if build in lane.builds and lane.chosen(test)]
            assert len(lanes) < 2, (test.name, lanes)


@case
def the_hostile_programs_attack_both_builds():
    equal(builds.SANITIZED.environment['HOSTILE_PLAIN'], os.path.join(SOURCE, 'build'))


class Shell:
    """A test that a shell runs, as builds.Test has it."""

    def __init__(self, text):
        self.name, self.command, self.environment, self.priority = text, ['/bin/sh', '-c', text], {}, 0
        self.build = builds.Build('here', '', '', [])
        self.build.path = SOURCE


def outcome(text, processor_s=60):
    result = runner.run_test(Shell(text), processor_s, threading.Event())
    return result.passed, result.failed, len(result.skips), result.log


@case
def cases_are_counted():
    equal(outcome('echo 1..3; echo ok 1 - a; echo "ok 2 - b # SKIP no b"; echo ok 3 - c'), (2, 0, 1, ''))
    equal(outcome('echo "1..0 # SKIP nothing here"'), (0, 0, 1, ''))
    equal(outcome('echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 1')[:3], (1, 1, 0))


@case
def a_test_that_ends_early_fails():
    for text, reason in (('echo 1..2; echo ok 1', '1 cases, 2 planned'), ('echo 1..1; echo ok 1; kill -SEGV $$', 'signal 11'),
                         ('echo 1..1; echo ok 1; exit 3', 'exit 3'), ('true', '0 cases, None planned')):
        _, failed, _, log = outcome(text)
        assert failed == 1 and reason in log, (text, failed, log)


def log_of(text, processor_s, looks):
    """The log of a test that is given up at these limits."""
    saved = runner.LOOK_EVERY_S, runner.LOOKS_MAX
    try:
        runner.LOOK_EVERY_S, runner.LOOKS_MAX = 0.1, looks
        return outcome(text, processor_s)[3]
    finally:
        runner.LOOK_EVERY_S, runner.LOOKS_MAX = saved


@case
def a_test_that_uses_the_processor_for_ever_is_given_up():
    assert 'of processor time without output' in log_of('while :; do :; done', 0.1, 10 ** 6)
    assert 'of processor time without output' in log_of('while :; do :; done & wait', 0.1, 10 ** 6)


@case
def a_test_that_waits_for_ever_is_given_up_at_last():
    assert 'though it had used only 0 s' in log_of('sleep 100000', 60, 2)


@case
def a_test_leaves_no_processes_behind():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'pid')
        equal(outcome('sleep 100000 & echo $! >%s; echo 1..1; echo ok 1' % path)[:3], (1, 0, 0))
        with open(path, encoding='utf-8') as file:
            left = '/proc/%s/stat' % file.read().strip()
        with contextlib.suppress(OSError):
            while True:
                with open(left, encoding='utf-8') as file:
                    state = file.read().rpartition(')')[2].split()[0]
                assert state in 'RZX', state  # killed, but perhaps not yet ended


STAMPS = """
import sys
sys.path.insert(0, sys.argv[1])
import builds, runner, stamps
stamps.SOURCE = sys.argv[2]
name = stamps.tree()
print(name)
stamp = stamps.Stamp(name, 'rest')
print(sorted(stamp.results), stamp.totals and stamp.totals['passed'])
stamp.keep(runner.Result('a test', 3))
if len(sys.argv) > 3:
    stamp.complete(3, 0)
"""


@case
def what_passed_is_known_for_the_same_tree_only():
    with temporary_directory() as folder:
        def git(*arguments):
            return subprocess.run(['git', '-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', *arguments],
                                  check=True, capture_output=True, text=True).stdout.strip()

        def step(*words):
            result = run([sys.executable, '-c', STAMPS, os.path.join(SOURCE, 'tools'), folder, *words])
            equal(result.returncode, 0, result.stderr)
            return result.stdout.splitlines()

        def write(text):
            with open(os.path.join(folder, 'file'), 'w', encoding='utf-8') as file:
                file.write(text)
        git('init', '-q')
        write('one')
        first, seen = step()
        equal(seen, '[] None')
        equal(step('complete'), [first, "['a test'] None"])
        equal(git('status', '--porcelain'), '?? file', 'the index is as it was')
        git('add', 'file')
        git('commit', '-qm', 'one')
        equal(git('rev-parse', 'HEAD^{tree}'), first)
        equal(step(), [first, "['a test'] 3"])
        write('two')
        assert step()[0] != first
        equal(step()[1], "['a test'] None")
        write('one')
        equal(step()[0], first)


class Fake:
    """A build whose tests are lines of shell that count how often they ran."""

    def __init__(self, folder, *lines):
        self.name, self.folder, self.lines = 'fake', folder, lines

    def missing(self):
        return None

    def tests(self):
        return [Shell('echo run >>%s/%d; %s' % (self.folder, number, line)) for number, line in enumerate(self.lines)]

    def runs(self, number):
        with open('%s/%d' % (self.folder, number), encoding='utf-8') as file:
            return len(file.read().split())


def in_lane(name, build, again=False, trees=('a', 'a')):
    """The totals of a run of the lane, while the work tree has these names."""
    lane = check.Lane(name, '', [build], lambda test: True, one_by_one=True)
    names, saved = iter(trees), (check.tree, check.compile_build, stamps.git)
    check.tree, check.compile_build = lambda: next(names), lambda *arguments, **options: None
    stamps.git = lambda *arguments: os.path.join(build.folder, 'stamps')
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            totals = check.run_lane(lane, again)
        return totals, stamps.Stamp(trees[0], name).totals is not None
    finally:
        check.tree, check.compile_build, stamps.git = saved


PASSES = 'echo 1..1; echo ok 1 - a'
FAILS_ONCE = 'echo 1..1; if [ -e %s/there ]; then echo ok 1; else touch %s/there; echo not ok 1; fi'


@case
def a_lane_continues_with_what_has_not_passed():
    with temporary_directory() as folder:
        build = Fake(folder, PASSES, FAILS_ONCE % (folder, folder))
        totals, stamped = in_lane('rest', build)
        equal((totals.passed, totals.failed, stamped), (2, 1, False), 'with the build')
        totals, stamped = in_lane('rest', build)
        equal((totals.passed, totals.failed, stamped, build.runs(0), build.runs(1)), (3, 0, True, 1, 2))
        totals, stamped = in_lane('rest', build)
        equal((totals.passed, totals.failed, stamped, build.runs(0), build.runs(1)), (3, 0, True, 1, 2))
        in_lane('rest', build, again=True)
        equal(build.runs(0), 2)


@case
def only_the_lane_screen_runs_a_test_again():
    with temporary_directory() as folder:
        build = Fake(folder, PASSES, FAILS_ONCE % (folder, folder))
        totals, stamped = in_lane('screen', build)
        equal((totals.passed, totals.failed, totals.repeated, stamped, build.runs(1)), (3, 0, 1, True, 2))
        assert '1 run again' in totals.text() and 'the first time' in totals.logs[0][0], totals.logs


@case
def a_crash_is_not_repeated():
    for log in ('echo ERROR: AddressSanitizer: heap-use-after-free', 'echo a.c:3: runtime error: shift', 'kill -SEGV $$',
                'echo weft info: exit -11, expected 0'):
        with temporary_directory() as folder:
            build = Fake(folder, '%s; exit 1' % log)
            totals, stamped = in_lane('screen', build)
            equal((totals.failed, totals.repeated, stamped, build.runs(0)), (1, 0, False, 1), log)


@case
def a_tree_that_changes_meanwhile_is_not_stamped():
    with temporary_directory() as folder:
        build = Fake(folder, PASSES)
        totals, stamped = in_lane('rest', build, trees=('a', 'b'))
        equal((totals.passed, totals.failed, stamped), (2, 0, False))
        in_lane('rest', build)
        equal(build.runs(0), 2)


main()
