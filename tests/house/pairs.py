# SPDX-License-Identifier: ISC
"""Calls that come in pairs: a function that makes the first one makes the second one before it returns.

An adapter that does not end what weft__hooks_begin() began records nothing more of its thread.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import case, main  # noqa: E402
from tree import read, tracked  # noqa: E402

SOURCES = [p for p in tracked() if p.endswith('.c') and p.startswith(('adapters/', 'apps/', 'src/'))]
# Functions, by their names, that make one call of a pair for their caller, or both in the other order.
HALVES = {'begin_confinement', 'inform_unlocked', 'post_unlocked'}


def functions(text):
    """(name, lines of the body) of each function: its braces begin their lines."""
    lines, start = text.split('\n'), None
    for number, line in enumerate(lines):
        if line == '{':
            start = number
        elif line == '}' and start is not None:
            head = next(lines[k] for k in range(start - 1, -1, -1) if re.match(r'\w', lines[k]))
            yield re.findall(r'(\w+)\(', head)[-1:] or [head], lines[start:number]
            start = None


def hook_faults(body):
    """Whether what weft__hooks_begin() began is open at a return or at the end."""
    is_open = False
    for line in body:
        if 'weft__hooks_begin()' in line:
            is_open = True
        if 'weft__hooks_end(' in line:
            is_open = False
        if is_open and re.search(r'\breturn\b', line):
            return True
    return is_open


def lock_faults(body):
    """Whether a mutex is only locked or only unlocked, or locked at a return."""
    held, text = set(), '\n'.join(body)
    for call, mutex in re.findall(r'\b(pthread_mutex_lock\(|pthread_mutex_unlock\(|return\b)(?:(.*?)\);)?', text):
        if call == 'return':
            if held:
                return True
        elif (mutex in held) == (call == 'pthread_mutex_lock('):
            return True
        else:
            held ^= {mutex}
    return bool(held)


def faults(path, text):
    return ['%s: %s' % (path, name[0]) for name, body in functions(text)
            if name[0] not in HALVES and (hook_faults(body) or lock_faults(body))]


@case
def what_is_begun_is_ended():
    found = [line for path in SOURCES for line in faults(path, read(path))]
    assert not found, 'these begin without an end, or return before it:\n' + '\n'.join(found)


@case
def the_check_notices():
    begin, end, leave = '\tint saved = weft__hooks_begin();', '\tweft__hooks_end(saved);', '\t\treturn;'
    lock, unlock = '\tpthread_mutex_lock(&m);', '\tpthread_mutex_unlock(&m);'
    good = [[begin, end], [leave, begin, end, leave], [lock, unlock, leave], [begin, end, begin, end]]
    bad = [[begin], [begin, leave, end], [lock], [unlock], [lock, leave, unlock], [lock, lock, unlock]]
    for bodies, count in ((good, 0), (bad, 1)):
        for body in bodies:
            text = '\n'.join(['static void f(int a)', '{', *body, '}'])
            assert len(faults('a.c', text)) == count, text


main()
