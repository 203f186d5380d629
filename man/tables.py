#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Makes manual pages from scdoc's language, with tables that come from the code instead of @EVENTS@, @PROBLEMS@ and @TABLES@.

    man/tables.py PAGE.scd include/weft/events.def include/weft/problems.def src/tables/tables.def        prints the page in scdoc's language
    man/tables.py --to FOLDER SCDOC include/weft/events.def include/weft/problems.def src/tables/tables.def PAGE.scd…    writes manual pages
"""
import os
import re
import subprocess
import sys

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


def expand(page, of_events, of_problems, of_tables):
    return (page.replace('@EVENTS@', events(of_events)).replace('@PROBLEMS@', problems(of_problems))
            .replace('@TABLES@', tables(of_tables)))


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write_pages(folder, scdoc, of_events, of_problems, of_tables, *pages):
    """One process for all pages, because starting Python takes longer than making a page."""
    for path in pages:
        with open(os.path.join(folder, os.path.basename(path)[:-len('.scd')]), 'wb') as file:
            subprocess.run([scdoc], input=expand(read(path), read(of_events), read(of_problems), read(of_tables)).encode(),
                           stdout=file,
                           check=True)


if __name__ == '__main__':
    if sys.argv[1] == '--to':
        write_pages(*sys.argv[2:])
    else:
        sys.stdout.reconfigure(encoding='utf-8')
        sys.stdout.write(expand(*map(read, sys.argv[1:5])))
