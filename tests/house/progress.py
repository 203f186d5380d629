# SPDX-License-Identifier: ISC
"""The checks show how far they are, run each test in some lane, and give up only tests that hang."""
import os
import pty
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE, case, equal, main, run, temporary_directory  # noqa: E402

sys.path.insert(0, os.path.join(SOURCE, 'tools'))
import builds  # noqa: E402
import check  # noqa: E402
import runner  # noqa: E402

# Lines as ninja prints them, for a build of three steps, through tools/builds.py.
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import builds
builds.Progress.EVERY_S = float(sys.argv[2])
progress = builds.Progress('quick')
result = builds.run(['printf', '[1/3] a.c\\nwarning: 7/8\\n[2/3] b.c\\n[3/3] c.c\\n'], progress=progress)
assert result.returncode == 0 and result.stdout.count('\\n') == 4, result
progress.clear()
"""


def command(every_s):
    return [sys.executable, '-c', SCRIPT, os.path.join(SOURCE, 'tools'), str(every_s)]


@case
def a_line_that_changes_on_a_terminal():
    ours, its = pty.openpty()
    pid = os.posix_spawn(sys.executable, command(1000), os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, its, 1), (os.POSIX_SPAWN_DUP2, its, 2)])
    equal(os.waitpid(pid, 0)[1], 0)
    shown = os.read(ours, 4096).decode()
    equal(shown, ''.join('\rquick      building %d/3\x1b[K' % step for step in (1, 2, 3)) + '\r\x1b[K')
    os.close(ours)
    os.close(its)


@case
def all_lines_into_a_file():
    result = run(command(0))
    equal((result.returncode, result.stdout), (0, ''.join('quick      building %d/3\n' % step for step in (1, 2, 3))))


@case
def few_lines_into_a_file():
    result = run(command(1000))
    equal((result.returncode, result.stdout), (0, ''))


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


def outcome(text):
    result = runner.run_test(Shell(text), threading.Event())
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


def limited(text, **limits):
    """The log of a test that is given up at these limits."""
    saved = {name: getattr(runner, name) for name in limits}
    try:
        for name, value in limits.items():
            setattr(runner, name, value)
        return outcome(text)[3]
    finally:
        for name, value in saved.items():
            setattr(runner, name, value)


@case
def a_test_that_uses_the_processor_for_ever_is_given_up():
    assert 'of processor time without output' in limited('while :; do :; done', PROCESSOR_S_MAX=0.1, LOOK_EVERY_S=0.1)
    assert 'of processor time without output' in limited('while :; do :; done & wait', PROCESSOR_S_MAX=0.1, LOOK_EVERY_S=0.1)


@case
def a_test_that_waits_for_ever_is_given_up_at_last():
    assert 'though it had used only 0 s' in limited('sleep 100000', LOOKS_MAX=2, LOOK_EVERY_S=0.1)


@case
def a_test_leaves_no_processes_behind():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'pid')
        equal(outcome('sleep 100000 & echo $! >%s; echo 1..1; echo ok 1' % path)[:3], (1, 0, 0))
        with open(path, encoding='utf-8') as file:
            left = '/proc/%s/stat' % file.read().strip()
        while os.path.exists(left):
            with open(left, encoding='utf-8') as file:
                state = file.read().rpartition(')')[2].split()[0]
            assert state in 'RZX', state  # killed, but perhaps not yet ended


@case
def a_warning_fails_the_build_and_comes_again():
    with temporary_directory() as folder:
        build = builds.Build('here', '', '', [])
        build.path = folder
        for name in ('a.o', 'b.o'):
            with open(os.path.join(folder, name), 'w', encoding='utf-8'):
                pass
        printed = '[1/2] Compiling C object a.o\na.c:3: warning: unused\n[2/2] Compiling C object b.o\n'
        equal(builds.warned(build, printed), '[1/2] Compiling C object a.o\na.c:3: warning: unused')
        equal(os.listdir(folder), ['b.o'])


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


@case
def logs_show_what_failed():
    log = '1..3\nok 1 - a\nnot ok 2 - b\n#   File "x.py", line 3\n#     f(x)\n#       ^\n#     ~~^^~\n# okay\nok 3 - c\nok then\n'
    equal(check.without_passed(log), '1..3\nnot ok 2 - b\n#   File "x.py", line 3\n#     f(x)\n# okay\nok then')


main()
