#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Attacks every reader of rings for HOSTILE_SECONDS (3600), in the sanitized build and, every third
round, in the plain one. The seeds derive from HOSTILE_SEED if it is set, otherwise they are random."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check import BUILDS, SOURCE, Progress, build  # noqa: E402


def main():
    directories = {}
    for name, directory, what, compiler, options, _ in BUILDS:
        if name not in ('gcc', 'sanitized'):
            continue
        print('%-10s %s' % (name, what), flush=True)
        progress = Progress(name)
        log = build(directory, compiler, options, progress)
        progress.clear()
        if log is not None:
            sys.exit(log)
        directories[name] = os.path.join(SOURCE, directory)
    os.environ.update(WEFT_SOURCE=SOURCE, WEFT_BUILD=directories['sanitized'], HOSTILE_PLAIN=directories['gcc'])
    program = os.path.join(SOURCE, 'tests', 'hostile', 'hostile.py')
    seeds = [] if os.environ.get('HOSTILE_SEED') else ['--random']
    os.execv(sys.executable, [sys.executable, program, '--seconds', os.environ.get('HOSTILE_SECONDS') or '3600', *seeds])


if __name__ == '__main__':
    main()
