#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Attacks every reader of rings for HOSTILE_SECONDS (3600), in the sanitized build and, every third
round, in the plain one. The seeds derive from HOSTILE_SEED if it is set, otherwise they are random."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from builds import PLAIN, SANITIZED, SOURCE, Progress, compile_build  # noqa: E402


def main():
    for build in (PLAIN, SANITIZED):
        print('%-10s %s' % (build.name, build.what), flush=True)
        progress = Progress(build.name)
        log = compile_build(build, progress)
        progress.clear()
        if log is not None:
            sys.exit(log)
        os.environ.update(build.environment, WEFT_BUILD=build.path)
    os.environ['WEFT_SOURCE'] = SOURCE
    program = os.path.join(SOURCE, 'tests', 'hostile', 'hostile.py')
    seeds = [] if os.environ.get('HOSTILE_SEED') else ['--random']
    os.execv(sys.executable, [sys.executable, program, '--seconds', os.environ.get('HOSTILE_SECONDS') or '3600', *seeds])


if __name__ == '__main__':
    main()
