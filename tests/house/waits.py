# SPDX-License-Identifier: ISC
"""Tests wait for conditions, not for some time: see e2e/waiting.py and unit/waiting.h, the only places that sleep."""
import ast
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import case, equal, main  # noqa: E402
from tree import read, tracked  # noqa: E402

HARNESS = ('tests/e2e/waiting.py', 'tests/unit/waiting.h')
# Its packets arrive later than they were sent.
NETWORK = 'tests/e2e/hosts_network.py'
# These run for as many seconds as they are asked to, and are not in `make check`.
BUDGETS = ('tests/hostile/', 'tests/mutants/')
C_SLEEP = re.compile(r'\b(?:usleep|sleep|nanosleep|clock_nanosleep|thrd_sleep)\s*\(')


def is_call(node, *names):
    return isinstance(node, ast.Call) and ast.unparse(node.func) in names


def is_opinion(node):
    """True for a sleep, a limit in seconds, or a deadline by the clock."""
    if is_call(node, 'time.sleep', 'sleep'):
        return True
    if isinstance(node, ast.keyword) and node.arg == 'timeout':
        return ast.unparse(node.value) != 'LAST_RESORT'
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ('wait', 'settimeout', 'join'):
        return any(isinstance(given, ast.Constant) and isinstance(given.value, (int, float)) for given in node.args)
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else \
        [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    return any(is_call(side, 'time.monotonic', 'time.perf_counter') for side in sides)


def python_opinions(text):
    """Its lines with an opinion about time. A program that is written as a string is a subject, which may sleep."""
    return sorted({getattr(node, 'lineno', 0) for node in ast.walk(ast.parse(text)) if is_opinion(node)})


def c_opinions(text):
    return [number for number, line in enumerate(text.splitlines(), 1) if C_SLEEP.search(line)]


def opinions(path):
    if path in HARNESS or path == NETWORK or path.startswith(BUDGETS):
        return []
    if path.startswith('tests/') and path.endswith('.py'):
        return python_opinions(read(path))
    if path.startswith('tests/unit/') and path.endswith(('.c', '.h')):
        return c_opinions(read(path))
    return []


@case
def tests_have_no_opinion_about_time():
    wrong = ['%s:%d' % (path, line) for path in tracked() for line in opinions(path)]
    assert not wrong, 'wait with e2e/waiting.py or unit/waiting.h instead:\n' + '\n'.join(wrong)


@case
def each_kind_is_noticed():
    for line in ('time.sleep(1)', 'run(command, timeout=60)', 'process.wait(60)', 'end = time.monotonic() + 5', 'socket.settimeout(3)',
                 'while time.monotonic() < end: pass', 'thread.join(10)'):
        equal(python_opinions(line), [1], line)
    for line in ('wait_until("it", is_there)', 'connect(timeout=LAST_RESORT)', '"time.sleep(1)"', 'process.wait()', '", ".join(words)',
                 'seconds = time.monotonic() - began'):
        equal(python_opinions(line), [], line)
    equal([c_opinions(line) for line in ('\tusleep(10);', '\tnanosleep(&time, NULL);', '\tlet_pass_us(10);')], [[1], [1], []])


main()
