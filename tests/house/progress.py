# SPDX-License-Identifier: ISC
"""The checks show how far they are: on a terminal in one line, elsewhere now and then. Of a test that failed they show the log."""
import os
import pty
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import SOURCE, case, equal, main, run, temporary_directory  # noqa: E402

sys.path.insert(0, os.path.join(SOURCE, 'tools'))
import builds  # noqa: E402
import check  # noqa: E402

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


@case
def logs_show_what_failed():
    log = '1..3\nok 1 - a\nnot ok 2 - b\n#   File "x.py", line 3\n#     f(x)\n#       ^\n#     ~~^^~\n# okay\nok 3 - c\nok then\n'
    equal(check.without_passed(log), '1..3\nnot ok 2 - b\n#   File "x.py", line 3\n#     f(x)\n# okay\nok then')


main()
