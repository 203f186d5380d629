# SPDX-License-Identifier: ISC
"""`make check` shows the progress of a long build: on a terminal in one line, elsewhere now and then. It leaves out
no test, and `make hostile` finds in it what it needs."""
import json
import os
import pty
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE, case, equal, main, run  # noqa: E402

sys.path.insert(0, os.path.join(SOURCE, 'tools'))
import check  # noqa: E402

# Lines as ninja prints them, for a build of three steps, through tools/check.py.
SCRIPT = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location('check', sys.argv[1])
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)
check.Progress.EVERY_S = float(sys.argv[2])
progress = check.Progress('gcc')
result = check.run(['printf', '[1/3] a.c\\nwarning: 7/8\\n[2/3] b.c\\n[3/3] c.c\\n'], watch=progress.watch('building'))
assert result.returncode == 0 and result.stdout.count('\\n') == 4, result
progress.clear()
"""


def command(every_s):
    return [sys.executable, '-c', SCRIPT, os.path.join(SOURCE, 'tools', 'check.py'), str(every_s)]


@case
def a_line_that_changes_on_a_terminal():
    ours, its = pty.openpty()
    pid = os.posix_spawn(sys.executable, command(1000), os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, its, 1), (os.POSIX_SPAWN_DUP2, its, 2)])
    equal(os.waitpid(pid, 0)[1], 0)
    shown = os.read(ours, 4096).decode()
    equal(shown, ''.join('\rgcc        building %d/3\x1b[K' % step for step in (1, 2, 3)) + '\r\x1b[K')
    os.close(ours)
    os.close(its)


@case
def all_lines_into_a_file():
    result = run(command(0))
    equal((result.returncode, result.stdout), (0, ''.join('gcc        building %d/3\n' % step for step in (1, 2, 3))))


@case
def few_lines_into_a_file():
    result = run(command(1000))
    equal((result.returncode, result.stdout), (0, ''))


@case
def each_test_runs_in_some_build():
    tests = json.loads(run(['meson', 'introspect', '--tests', BUILD]).stdout)
    assert len(tests) > 100, len(tests)
    equal([test['name'] for test in tests if not any(build.runs(test) for build in check.BUILDS)], [])


@case
def the_hostile_programs_attack_both_builds():
    import hostile
    builds = [build for build in hostile.BUILDS if build.name in ('gcc', 'sanitized')]
    hostile.share(builds)
    equal([build.environment.get('HOSTILE_PLAIN') for build in builds], [None, os.path.join(SOURCE, 'build-gcc')])


@case
def what_a_busy_machine_may_have_caused_is_run_again():
    failed = {'name': 'weft:e2e+sanitized / view', 'result': 'ERROR', 'returncode': 1, 'stdout': 'not ok 1 - a', 'stderr': ''}
    for name, result, returncode, text, expected in [
            ('weft:e2e / view', 'ERROR', 1, '', True), ('weft:xen+foreign / xen_linux', 'FAIL', 1, '', True),
            ('weft:e2e / view', 'TIMEOUT', -15, '', True), ('weft:e2e / view', 'OK', 0, '', False),
            ('weft:e2e / view', 'FAIL', -11, '', False), ('weft:unit / view', 'ERROR', 1, '', False),
            ('weft:e2e+threads / follow', 'ERROR', 1, '', False), ('weft:model+stress+threads / stress', 'ERROR', 1, '', False),
            ('weft:e2e / cli', 'ERROR', 1, 'ERROR: AddressSanitizer: heap-use-after-free', False),
            ('weft:e2e / cli', 'ERROR', 1, 'a.c:3: runtime error: shift', False),
            ('weft:e2e / cli', 'ERROR', 1, 'weft info: exit -11, expected 0', False)]:
        test = dict(failed, name=name, result=result, returncode=returncode, stdout=text)
        equal(check.is_doubtful(test), expected, str(test))


@case
def logs_show_what_failed():
    log = '1..3\nok 1 - a\nnot ok 2 - b\n#   File "x.py", line 3\n#     f(x)\n#       ^\n#     ~~^^~\n# okay\nok 3 - c\nok then\n'
    equal(check.without_passed(log), '1..3\nnot ok 2 - b\n#   File "x.py", line 3\n#     f(x)\n# okay\nok then')


main()
