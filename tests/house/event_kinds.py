# SPDX-License-Identifier: ISC
"""Counts the changes that a new kind of event needs: a copy of the tree gets an imaginary one, and the compiler must
point at one switch that interprets events and one that encodes them, and at nothing else."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import SOURCE, case, equal, main, run, temporary_directory  # noqa: E402
from tree import tracked  # noqa: E402

TABLE = os.path.join('include', 'weft', 'events.def')
SWITCHES = ['src/export/cut_encode.c', 'src/model/state.c']
# As the build has it, and -Wswitch-enum everywhere: a switch with a default label must not hide one.
FLAGS = ['-std=c11', '-D_GNU_SOURCE', '-fsyntax-only', '-Wall', '-Wextra', '-Wpedantic']


def mentions_events(path):
    with open(os.path.join(SOURCE, path), encoding='utf-8') as file:
        return re.search(r'WEFT_EVENT_[A-Z]|enum weft_event_type|events\.def', file.read())


def copy_tree(folder):
    """Headers and sources of the libraries: what the compiler needs."""
    for path in tracked():
        if path.startswith(('include/', 'src/')) and path.endswith(('.c', '.h', '.def')):
            copy = os.path.join(folder, path)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(os.path.join(SOURCE, path), copy)


def rewrite(path, change):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    with open(path, 'w', encoding='utf-8') as file:
        file.write(change(text))


def add_row(text):
    number = 1 + max(map(int, re.findall(r'^EVENT\((\d+),', text, re.MULTILINE)))
    return text + 'EVENT(%d, PROBE, "probe", FIELD(TASK, "task") FIELD(TEXT, "text"))\n' % number


def add_case(text):
    """Beside that of an event without any effect or operand."""
    return text.replace('\tcase WEFT_EVENT_TYPES:\n', '\tcase WEFT_EVENT_PROBE:\n\tcase WEFT_EVENT_TYPES:\n')


def warnings(folder):
    """The files in which a switch over the kinds of events lacks one."""
    found = {}
    for path in tracked():
        if path.startswith('src/') and path.endswith('.c') and mentions_events(path):
            result = run(['gcc', *FLAGS, '-Wswitch-enum', '-I', 'include', '-I', 'src', path], cwd=folder)
            assert result.returncode == 0, result.stderr
            if 'WEFT_EVENT_' in result.stderr:
                found[path] = re.findall(r'(WEFT_EVENT_\w+)\W+not handled', result.stderr)
    return found


@case
def a_new_kind_touches_its_row_its_encoding_and_one_switch():
    with temporary_directory() as folder:
        copy_tree(folder)
        equal(warnings(folder), {})
        rewrite(os.path.join(folder, TABLE), add_row)
        equal(warnings(folder), {path: ['WEFT_EVENT_PROBE'] for path in SWITCHES})
        for path in SWITCHES:
            rewrite(os.path.join(folder, path), add_case)
        equal(warnings(folder), {})


main()
