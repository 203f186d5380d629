#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Makes manual pages from scdoc's language, with tables that come from the code instead of words like @EVENTS@.

    man/tables.py PAGE.scd TABLES                       prints the page in scdoc's language
    man/tables.py --to FOLDER SCDOC TABLES PAGE.scd…    writes manual pages

TABLES are include/weft/events.def include/weft/problems.def src/tables/tables.def include/weft/calls.def.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tools'))
from calls import of_the_current_task, parse  # noqa: E402

PROBLEM = re.compile(r'^PROBLEM\(\w+, "([^"]+)", .*\n\t"([^"]+)"\)$', re.MULTILINE)


EVENT = re.compile(r'^EVENT\(\d+, \w+, "(\w+)",(.*)\)$', re.MULTILINE)


def events(table):
    """Each event's name and its JSON keys, as rows."""
    rows = ['*%s*\n:%%s%s' % (name, ', '.join(re.findall(r'"(\w+)"', fields))) for name, fields in EVENT.findall(table)]
    return '\n'.join(('|[ ' if row is rows[0] else '|  ') + row % ('[ ' if row is rows[0] else '  ') for row in rows)


def problems(table):
    """Each problem's name, and its meaning as a sentence."""
    return '\n\n'.join('*%s*\n\t%s%s.' % (name, text[0].upper(), text[1:]) for name, text in PROBLEM.findall(table))


TABLE = re.compile(r'^TABLE\(\w+, "(\w+)", .*"([^"]+)"\)$|^COLUMN\(\w+, "(\w+)", \w+, \d, "(\w*)", .*"([^"]+)"\)$', re.MULTILINE)


def tables(definitions):
    """Each table's name and meaning, and its columns with their units."""
    text = ''
    for table, meaning, column, unit, sentence in TABLE.findall(definitions):
        if table:
            text += '\n\n*%s*: %s\n' % (table, meaning)
        else:
            text += '\n\t*%s*%s: %s++' % (column, ' (%s)' % (unit if unit == 'ns' else 'row of ' + unit) if unit else '', sentence)
    return re.sub(r'\+\+(\n\n|$)', r'\1', text).strip().replace('_', '\\_')


def sentences(text):
    """A call's description, with names of parameters and calls in their fonts."""
    return re.sub(r'`(\w+)`', r'_\1_', text).replace('try_read', '*weft_try_read*()').replace('WEFT_KEY_ONCE', '*WEFT_KEY_ONCE*')


def calls(definitions):
    """The calls of calls.def as weft.h has them; those of texts are described by hand."""
    def signature(call):
        return '*void weft_%s(%s)*' % (call.name, 'uint64_t* _%s_*' % call.other if call.other else 'void')
    return '\n\n'.join('%s\n\t%s' % (signature(call), sentences(of_the_current_task(call.text)))
                       for call in parse(definitions) if call.shape != 'TEXT')


def ffi_calls(definitions):
    """The same as weft_ffi.h has them."""
    def signature(call):
        return '*void weft_ffi_%s(*_category_, _level_, _task_%s*)*' % (call.name, ', _%s_' % call.other if call.other else '')
    return '++\n'.join(signature(call) for call in parse(definitions) if call.shape != 'TEXT')


def expand(page, of_events, of_problems, of_tables, of_calls):
    return (page.replace('@EVENTS@', events(of_events)).replace('@PROBLEMS@', problems(of_problems))
            .replace('@TABLES@', tables(of_tables)).replace('@CALLS@', calls(of_calls)).replace('@FFI_CALLS@', ffi_calls(of_calls)))


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write_pages(folder, scdoc, of_events, of_problems, of_tables, of_calls, *pages):
    """One process for all pages, because starting Python takes longer than making a page."""
    texts = [read(path) for path in (of_events, of_problems, of_tables, of_calls)]
    for path in pages:
        with open(os.path.join(folder, os.path.basename(path)[:-len('.scd')]), 'wb') as file:
            subprocess.run([scdoc], input=expand(read(path), *texts).encode(), stdout=file, check=True)


if __name__ == '__main__':
    if sys.argv[1] == '--to':
        write_pages(*sys.argv[2:])
    else:
        sys.stdout.reconfigure(encoding='utf-8')
        sys.stdout.write(expand(*map(read, sys.argv[1:6])))
