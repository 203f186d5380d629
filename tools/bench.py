#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Builds the benchmarks with optimisation and runs them. The first line describes the machine.

    tools/bench.py [NAME…]      all, or only these (record, lttng, metrics, agent, cold, latency, follow, decode, xentrace, open, real, part, growing, live,
                                live_window, live_page, layout, window, story, page, export, python, node, adapters)

docs/cost.md explains the figures.
"""
import datetime
import os
import platform
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(SOURCE, 'build-bench')

# Run in this order. The first of a group prints the heading of the group's table.
GROUPS = [
    ('what recording costs', ['record', 'lttng']),
    ('metrics', ['metrics', 'agent']),
    ('events between other work', ['cold']),
    ('how long a single call may take', ['latency']),
    ('following', ['follow']),
    ('decoding', ['decode', 'xentrace']),
    ('opening', ['open', 'real', 'part']),
    ('refreshing a growing trace', ['growing', 'live', 'live_window', 'live_page']),
    ('frames', ['layout', 'window']),
    ('search', ['story']),
    ('the page', ['page']),
    ('exporting spans', ['export']),
    ('Python', ['python']),
    ('node', ['node']),
    ('programs that nobody changed', ['adapters']),
]
# Benchmarks that are not built if something is missing.
MISSING = {'lttng': "LTTng-UST is not measured: its headers are missing (Debian: liblttng-ust-dev)",
           'live_window': "the desktop's window is not measured: pango is missing (Debian: libpango1.0-dev)",
           'window': "the desktop's window is not measured: pango is missing (Debian: libpango1.0-dev)"}


def first_line(command):
    return subprocess.run(command, capture_output=True, text=True).stdout.split('\n')[0]


def processor():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as lines:
            for line in lines:
                if line.startswith('model name'):
                    return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def load():
    """A note if other programs want the processors, else nothing."""
    busy = os.getloadavg()[0]
    return ', load %.1f: not a quiet machine' % busy if busy > 1 else ''


def build():
    setup = ['meson', 'setup', BUILD, '--buildtype=release', '-Dbench=true', '-Dtests=disabled']
    if os.path.exists(os.path.join(BUILD, 'build.ninja')):
        setup.append('--reconfigure')
    for command in (setup, ['ninja', '-C', BUILD]):
        result = subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)
        if result.returncode:
            sys.exit(result.stdout)


def run(name):
    """True unless it failed."""
    program = os.path.join(BUILD, 'bench', 'bench_' + name)
    script = os.path.join(SOURCE, 'bench', name + '.py')
    if not os.path.exists(program) and name in MISSING:
        print(MISSING[name], flush=True)
        return True
    environment = dict(os.environ, WEFT_SOURCE=SOURCE, WEFT_BUILD=BUILD)
    command = [sys.executable, script] if os.path.exists(script) else [program]
    return subprocess.run(command, env=environment).returncode == 0


def main():
    known = [name for _, names in GROUPS for name in names]
    wanted = sys.argv[1:] or known
    if not set(wanted) <= set(known):
        sys.exit('benchmarks are %s' % ', '.join(known))
    build()
    print('%s, %d CPUs, Linux %s, %s, %s, make bench%s' % (
        processor(), os.cpu_count() or 1, platform.release(), first_line(['cc', '--version']),
        datetime.date.today().isoformat(), load()))
    failed = []
    for title, names in GROUPS:
        names = [name for name in names if name in wanted]
        if names:
            heading = title + load()
            print('\n%s\n%s' % (heading, '-' * len(heading)), flush=True)
        failed += [name for name in names if not run(name)]
    if failed:
        sys.exit('failed: %s' % ', '.join(failed))


if __name__ == '__main__':
    main()
