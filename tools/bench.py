#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Builds the benchmarks optimised and runs them, after a line that says on what.

    tools/bench.py [NAME…]      all, or only these (record, latency, lttng, decode, layout)
"""
import datetime
import os
import platform
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(SOURCE, 'build-bench')


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


def build():
    setup = ['meson', 'setup', BUILD, '--buildtype=release', '-Dbench=true', '-Dtests=disabled']
    if os.path.exists(os.path.join(BUILD, 'build.ninja')):
        setup.append('--reconfigure')
    for command in (setup, ['ninja', '-C', BUILD]):
        result = subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)
        if result.returncode:
            sys.exit(result.stdout)


def main():
    build()
    print('%s, %d CPUs, Linux %s, %s, %s, make bench' % (
        processor(), os.cpu_count() or 1, platform.release(), first_line(['cc', '--version']),
        datetime.date.today().isoformat()))
    programs = sorted(name for name in os.listdir(os.path.join(BUILD, 'bench'))
                      if name.startswith('bench_') and os.access(os.path.join(BUILD, 'bench', name), os.X_OK)
                      and os.path.isfile(os.path.join(BUILD, 'bench', name)))
    failed = []
    for program in programs:
        name = program[len('bench_'):]
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        print('\n%s\n%s' % (name, '-' * len(name)), flush=True)
        environment = dict(os.environ, WEFT_SOURCE=SOURCE, WEFT_BUILD=BUILD)
        if subprocess.run([os.path.join(BUILD, 'bench', program)], env=environment).returncode:
            failed.append(name)
    if failed or not programs:
        sys.exit('failed: %s' % (', '.join(failed) or 'there is no benchmark'))


if __name__ == '__main__':
    main()
