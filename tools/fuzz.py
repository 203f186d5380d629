#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs every fuzz target for a while under libFuzzer and the sanitizers.

    tools/fuzz.py [--seconds N] [NAME…]

A target starts from fuzz/corpus/NAME/. Inputs that reach new code are kept in build-fuzz/found/NAME/. An
input that fails, or takes more than five seconds, is saved as build-fuzz/NAME-crash-… or NAME-timeout-…; once
it is understood, add it to the corpus.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(SOURCE, 'build-fuzz')

# Longer inputs would only repeat themselves.
MAX_LENGTHS = {'demangle': 400, 'viewer': 1500, 'search': 2000, 'sexp': 8000}


def build(names):
    setup = ['meson', 'setup', BUILD, '-Dfuzz=true', '-Dtests=disabled', '-Db_lundef=false',
             '-Db_sanitize=address,undefined']
    if os.path.exists(os.path.join(BUILD, 'build.ninja')):
        setup.append('--reconfigure')
    environment = dict(os.environ, CC='clang-14')
    # Only the targets: programs without libFuzzer lack the functions that instrumented code calls.
    for command in (setup, ['ninja', '-C', BUILD] + ['fuzz/fuzz_' + name for name in names]):
        result = subprocess.run(command, cwd=SOURCE, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            sys.exit(result.stdout)


def summarize(text):
    """Speed and coverage from libFuzzer's log."""
    runs = re.search(r'stat::number_of_executed_units:\s*(\d+)', text)
    speed = re.search(r'stat::average_exec_per_sec:\s*(\d+)', text)
    edges = re.search(r'\((\d+) inline 8-bit counters\)', text)
    covered = re.findall(r'cov: (\d+)', text)
    share = '?'
    if covered and edges:
        share = '%.1f' % (100 * int(covered[-1]) / int(edges.group(1)))
    return '%10s runs, %6s a second, %6s of %6s edges covered (%s %%)' % (
        runs.group(1) if runs else '?', speed.group(1) if speed else '?', covered[-1] if covered else '?',
        edges.group(1) if edges else '?', share)


def fuzz(name, seconds):
    """Returns the log of a failure, or None."""
    found = os.path.join(BUILD, 'found', name)
    os.makedirs(found, exist_ok=True)
    log = os.path.join(BUILD, name + '.log')
    with open(log, 'w', encoding='utf-8') as output:
        status = subprocess.run(
            [os.path.join(BUILD, 'fuzz', 'fuzz_' + name), '-max_total_time=%d' % seconds, '-timeout=5',
             '-rss_limit_mb=2048', '-print_final_stats=1',
             *(['-max_len=%d' % MAX_LENGTHS[name]] if name in MAX_LENGTHS else []),
             '-artifact_prefix=%s-' % os.path.join(BUILD, name), found,
             os.path.join(SOURCE, 'fuzz', 'corpus', name)],
            stdout=output, stderr=subprocess.STDOUT).returncode
    with open(log, encoding='utf-8', errors='replace') as lines:
        text = lines.read()
    print('%-16s %s: %s' % (name, summarize(text), 'nothing found' if status == 0 else 'FOUND SOMETHING'),
          flush=True)
    return text if status else None


def main():
    parser = argparse.ArgumentParser(description='Runs the fuzz targets.')
    parser.add_argument('--seconds', type=int, default=60, help='for each target')
    parser.add_argument('names', nargs='*', metavar='NAME')
    arguments = parser.parse_args()
    names = arguments.names or sorted(os.path.basename(path)[len('fuzz_'):-len('.c')]
                                      for path in glob.glob(os.path.join(SOURCE, 'fuzz', 'fuzz_*.c')))
    build(names)
    problems = {}
    for name in names:
        log = fuzz(name, arguments.seconds)
        if log:
            problems[name] = log
    for name, log in problems.items():
        print('\n==== %s\n%s' % (name, '\n'.join(log.splitlines()[-60:])))
    if problems or not names:
        sys.exit('failed: %s' % (', '.join(problems) or 'there is no fuzz target'))


if __name__ == '__main__':
    main()
