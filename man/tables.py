#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Prints a manual page in scdoc's language, with tables that come from the code instead of a line like @PROBLEMS@.

    man/tables.py PAGE.scd include/weft/problems.def
"""
import re
import sys

PROBLEM = re.compile(r'^PROBLEM\(\w+, "([^"]+)", .*\n\t"([^"]+)"\)$', re.MULTILINE)


def problems(table):
    """Each problem's name, and its meaning as a sentence."""
    return '\n\n'.join('*%s*\n\t%s%s.' % (name, text[0].upper(), text[1:]) for name, text in PROBLEM.findall(table))


def expand(page, table):
    return page.replace('@PROBLEMS@', problems(table))


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


if __name__ == '__main__':
    sys.stdout.reconfigure(encoding='utf-8')
    sys.stdout.write(expand(read(sys.argv[1]), read(sys.argv[2])))
