#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs every fuzz target for a while under libFuzzer and the sanitizers.

    tools/fuzz.py [--seconds N] [--runs N] [--keep] [--plain] [NAME…]

With --plain there are no sanitizers: ten times as many inputs reach the targets' own assertions. A target starts from
fuzz/corpus/NAME/ and from what earlier runs have found. Inputs that reach new code are kept in
build-fuzz/found/NAME/: after each run, only the smallest ones that reach all of it. With --keep, those that the corpus
lacks are added to it, up to KEPT_BYTES. An input that fails, or takes more than 20 seconds, is saved as
build-fuzz/NAME-crash-… or NAME-timeout-…; once it is understood, add it to the corpus.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IS_PLAIN = '--plain' in sys.argv
BUILD = os.path.join(SOURCE, 'build-fuzz-plain' if IS_PLAIN else 'build-fuzz')

# Longer inputs would only repeat themselves.
MAX_LENGTHS = {'chrome': 8000, 'counters': 57000, 'demangle': 400, 'hosts': 18000, 'viewer': 1500, 'search': 2000, 'ocaml_events': 20000, 'sexp': 8000, 'weft': 25000, 'xentrace': 8000}

# Targets that read the inputs of others.
CORPORA = {'export_chrome': ('chrome', 'mirage_ctf', 'ocaml_events', 'sexp', 'weft', 'xentrace'),
           'picture': ('chrome', 'mirage_ctf', 'ocaml_events', 'sexp', 'weft', 'xentrace')}

# A target frees and takes the same memory for each input; the kernel would clear its pages each time.
KEEP_MEMORY = {'MALLOC_MMAP_THRESHOLD_': '33554432', 'MALLOC_TRIM_THRESHOLD_': '1073741824', 'MALLOC_TOP_PAD_': '16777216'}

KEPT_BYTES = 200000  # of a corpus: the plain tests replay it


def build(names):
    setup = ['meson', 'setup', BUILD, '-Dfuzz=true', '-Dtests=disabled', '-Db_lundef=false',
             *(['--buildtype=release', '-Db_ndebug=false'] if IS_PLAIN else ['-Db_sanitize=address,undefined'])]
    if os.path.exists(os.path.join(BUILD, 'build.ninja')):
        setup.append('--reconfigure')
    environment = dict(os.environ, CC='clang-14')
    # Only the targets: programs without libFuzzer lack the functions that instrumented code calls.
    for command in (setup, ['ninja', '-C', BUILD] + ['fuzz/fuzz_' + name for name in names]):
        result = subprocess.run(command, cwd=SOURCE, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            sys.exit(result.stdout)


def number(pattern, text):
    """The last number in a log that follows a pattern; 0: there is none."""
    return int((re.findall(pattern, text) or [0])[-1])


def summarize(text):
    """Speed and coverage from libFuzzer's log."""
    covered, edges = number(r'cov: (\d+)', text), number(r'\((\d+) inline 8-bit counters\)', text)
    return '%11d runs, %6d a second, %6d of %6d edges covered (%.1f %%)' % (
        number(r'stat::number_of_executed_units:\s*(\d+)', text), number(r'stat::average_exec_per_sec:\s*(\d+)', text),
        covered, edges, 100 * covered / edges if edges else 0)


def corpora(name):
    return [os.path.join(SOURCE, 'fuzz', 'corpus', corpus) for corpus in CORPORA.get(name, (name,))]


def program(name):
    return os.path.join(BUILD, 'fuzz', 'fuzz_' + name)


def minimise(name):
    """Keeps only those of the found inputs that reach what the corpus and smaller ones do not."""
    found, merged = (os.path.join(BUILD, folder, name) for folder in ('found', 'merged'))
    shutil.rmtree(merged, ignore_errors=True)
    os.makedirs(merged)
    status = subprocess.run([program(name), '-merge=1', '-timeout=20', merged, *corpora(name), found],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    if status:
        return  # the target failed: what was found stays
    known = {os.path.basename(path) for folder in corpora(name) for path in glob.glob(os.path.join(folder, '*'))}
    contents = {read(path) for folder in corpora(name) for path in glob.glob(os.path.join(folder, '*'))}
    for path in glob.glob(os.path.join(merged, '*')):
        if os.path.basename(path) in known or read(path) in contents:
            os.remove(path)
    shutil.rmtree(found)
    os.rename(merged, found)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def keep(name):
    """Adds what was found to the corpus, the smallest inputs first."""
    corpus = corpora(name)[-1]
    used = sum(os.path.getsize(path) for path in glob.glob(os.path.join(corpus, '*')))
    for path in sorted(glob.glob(os.path.join(BUILD, 'found', name, '*')), key=os.path.getsize):
        used += os.path.getsize(path)
        if used > KEPT_BYTES:
            break
        shutil.copy(path, corpus)


def fuzz(name, seconds, runs):
    """Returns libFuzzer's log, and whether it found nothing that fails."""
    found = os.path.join(BUILD, 'found', name)
    os.makedirs(found, exist_ok=True)
    log = os.path.join(BUILD, name + '.log')
    with open(log, 'w', encoding='utf-8') as output:
        status = subprocess.run(
            [program(name), '-max_total_time=%d' % seconds, '-runs=%d' % runs, '-timeout=20', '-rss_limit_mb=2048',
             '-print_final_stats=1', '-print_funcs=0',
             *(['-max_len=%d' % MAX_LENGTHS[name]] if name in MAX_LENGTHS else []),
             '-artifact_prefix=%s-' % os.path.join(BUILD, name), found, *corpora(name)],
            stdout=output, stderr=subprocess.STDOUT, env=dict(KEEP_MEMORY, **os.environ)).returncode
    with open(log, encoding='utf-8', errors='replace') as lines:
        text = lines.read()
    print('%-16s %s: %s' % (name, summarize(text), 'FOUND SOMETHING' if status else 'nothing found'), flush=True)
    return text, status == 0


def main():
    parser = argparse.ArgumentParser(description='Runs the fuzz targets.')
    parser.add_argument('--seconds', type=int, default=60, help='for each target')
    parser.add_argument('--runs', type=int, default=-1, help='of each target at most')
    parser.add_argument('--keep', action='store_true', help='adds what was found to the corpora')
    parser.add_argument('--plain', action='store_true', help='without sanitizers')
    parser.add_argument('names', nargs='*', metavar='NAME')
    arguments = parser.parse_args()
    names = arguments.names or sorted(os.path.basename(path)[len('fuzz_'):-len('.c')]
                                      for path in glob.glob(os.path.join(SOURCE, 'fuzz', 'fuzz_*.c')))
    build(names)
    problems, total = {}, 0
    for name in names:
        log, is_well = fuzz(name, arguments.seconds, arguments.runs)
        total += number(r'stat::number_of_executed_units:\s*(\d+)', log)
        if not is_well:
            problems[name] = log
        minimise(name)
        if arguments.keep:
            keep(name)
    print('%-16s %11d runs' % ('all targets', total))
    for name, log in problems.items():
        print('\n==== %s\n%s' % (name, '\n'.join(log.splitlines()[-60:])))
    if problems or not names:
        sys.exit('failed: %s' % (', '.join(problems) or 'there is no fuzz target'))


if __name__ == '__main__':
    main()
