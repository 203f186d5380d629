#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Builds weft in every way that we support, runs the tests of each build, and counts single cases.

    tools/check.py [NAME…]      only these builds: gcc, sanitized, threads, clang, i686, aarch64

A build is a Meson build directory, kept and reused. While it is at work it shows how far it is. What
passes is quiet; of what fails the whole log is shown. The last line is the totals, the exit status 0 if nothing failed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name, build directory, what it is, compiler, Meson options, arguments of `meson test`
BUILDS = [
    ('gcc', 'build-gcc', 'gcc, warnings are errors', 'gcc', ['-Dwerror=true'], []),
    # Not gcc: it tests the sum of an addition that ld then makes a lea (the address of a thread-local
    # variable, which only this sanitizer compares with NULL).
    ('sanitized', 'build-asan', 'clang, address and undefined-behaviour sanitizers', 'clang-14',
     ['-Db_sanitize=address,undefined', '-Db_lundef=false'],
     ['--no-suite', 'house', '--no-suite', 'model', '-t', '4']),
    ('threads', 'build-tsan', 'gcc, thread sanitizer', 'gcc',
     ['-Db_sanitize=thread'], ['--suite', 'threads', '-t', '4']),
    ('clang', 'build-clang', 'clang, warnings are errors', 'clang-14',
     ['-Dwerror=true'], ['--suite', 'unit']),
    *[(name, 'build-' + name, what + ' under qemu, warnings are errors', 'gcc',
       ['--cross-file', 'tools/cross/%s.ini' % name, '-Dwerror=true', '-Dcairo=disabled', '-Dgtk=disabled',
        '-Dman=disabled'],
       ['--suite', 'machines', '-t', '4'])
      for name, what in (('i686', '32-bit x86'), ('aarch64', '64-bit Arm'))],
]

# What a build needs besides its compiler, from tools/install-foreign: name, program or file, package.
NEEDS = [
    ('i686', '/usr/include/x86_64-linux-gnu/gnu/stubs-32.h', 'libc6-dev-i386'),
    ('i686', '/usr/lib/gcc/x86_64-linux-gnu/12/32/libgcc.a', 'lib32gcc-12-dev'),
    ('i686', '/usr/lib/i386-linux-gnu/libcmocka.so', 'libcmocka-dev:i386'),
    ('i686', 'qemu-i386', 'qemu-user'),
    ('aarch64', 'aarch64-linux-gnu-gcc-12', 'gcc-12-aarch64-linux-gnu'),
    ('aarch64', '/usr/aarch64-linux-gnu/include/stdio.h', 'libc6-dev-arm64-cross'),
    ('aarch64', '/usr/lib/aarch64-linux-gnu/libcmocka.so', 'libcmocka-dev:arm64'),
    ('aarch64', 'qemu-aarch64', 'qemu-user'),
]

# A report of a sanitizer is a failure of the test, wherever the report was made.
ENVIRONMENT = {
    'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=0:exitcode=99',
    'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1:exitcode=99',
    'TSAN_OPTIONS': 'halt_on_error=1:exitcode=99',
}


class Totals:
    def __init__(self):
        self.passed = self.failed = 0
        self.skips = []
        self.logs = []

    def fail(self, title, log, cases=1):
        self.failed += cases
        self.logs.append((title, log))


class Progress:
    """How far a build is: on a terminal a line that changes, elsewhere now and then a line of its own."""
    EVERY_S = 30
    STEP = re.compile(r'\s*\[?(\d+)/(\d+)\]? ')  # as ninja and `meson test` begin their lines

    def __init__(self, name):
        self.name = name
        self.live = sys.stdout.isatty()
        self.shown = time.monotonic()

    def say(self, text):
        now = time.monotonic()
        if self.live:
            print('\r%-10s %s\033[K' % (self.name, text), end='', flush=True)
        elif now - self.shown >= self.EVERY_S:
            self.shown = now
            print('%-10s %s' % (self.name, text), flush=True)

    def clear(self):
        if self.live:
            print('\r\033[K', end='', flush=True)

    def watch(self, what):
        """What to call with each line of a command that counts its steps."""
        def line_came(line):
            step = self.STEP.match(line)
            if step:
                self.say('%s %s/%s' % (what, step.group(1), step.group(2)))
        return line_came


def run(command, environment=None, watch=None):
    """Runs it to its end; the result has .returncode and .stdout. `watch` gets each line as it comes."""
    with subprocess.Popen(command, cwd=SOURCE, env=dict(os.environ, **(environment or {})), text=True,
                          errors='replace', stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                if watch:
                    watch(line)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, ''.join(lines))


def build(directory, compiler, options, progress):
    """Configures and compiles; answers the log of what went wrong, or None."""
    setup = ['meson', 'setup', directory, '-Dtests=enabled', *options]
    if os.path.exists(os.path.join(SOURCE, directory, 'build.ninja')):
        setup.append('--reconfigure')  # sees packages that came since
    progress.say('configuring')
    result = run(setup, {'CC': compiler})
    if result.returncode:
        return result.stdout
    result = run(['ninja', '-C', directory, '-k', '0'], {'NINJA_STATUS': '[%f/%t] '}, progress.watch('building'))
    if result.returncode == 0:
        return None
    return '\n'.join(line for line in result.stdout.splitlines() if not re.match(r'\[\d+/\d+\] ', line))


SKIPPED = re.compile(r'1\.\.0\s*#\s*SKIP\b\s*(.*)', re.IGNORECASE)
TAP = re.compile(r'(not )?ok\b\s*\d*\s*(?:- )?(.*?)(?:#\s*(SKIP|TODO)\b\s*(.*))?$', re.IGNORECASE)


def count(totals, build_name, test):
    """Adds the cases of one of Meson's tests: each line of TAP is a case."""
    name = '%s: %s' % (build_name, test['name'])
    failed = 0
    for line in test.get('stdout', '').splitlines():
        whole = SKIPPED.match(line)
        if whole:
            totals.skips.append('%s: %s' % (name, whole.group(1)))
        case = TAP.match(line)
        if not case:
            continue
        if case.group(3):
            totals.skips.append('%s: %s: %s' % (name, case.group(2).strip(), case.group(4)))
        elif case.group(1):
            failed += 1
        else:
            totals.passed += 1
    # A crash, a time-out or a missing case fails the test without a "not ok".
    if test['result'] not in ('OK', 'SKIP') or failed:
        log = test.get('stdout', '') + test.get('stderr', '')
        totals.fail('%s (%s)' % (name, test['result'].lower()), log, max(failed, 1))
    elif test['result'] == 'SKIP' and 'SKIP' not in test.get('stdout', ''):
        totals.skips.append('%s: no reason given' % name)


def check(totals, progress, name, directory, compiler, options, arguments):
    if not shutil.which(compiler):
        return totals.skips.append('%s: %s is not installed' % (name, compiler))
    for build_name, needed, package in NEEDS:
        if build_name == name and not (os.path.exists(needed) or shutil.which(needed)):
            return totals.skips.append('%s: %s is not installed' % (name, package))
    log = build(directory, compiler, options, progress)
    if log is not None:
        return totals.fail('%s: build' % name, log)
    totals.passed += 1  # that it compiles, without warnings where they are errors
    results = os.path.join(SOURCE, directory, 'meson-logs', 'testlog.json')
    if os.path.exists(results):
        os.remove(results)
    result = run(['meson', 'test', '-C', directory, '--no-rebuild', '--num-processes',
                  str(os.cpu_count() or 1), *arguments], ENVIRONMENT, progress.watch('testing'))
    if not os.path.exists(results):
        return totals.fail('%s: meson test' % name, result.stdout)
    with open(results, encoding='utf-8', errors='replace') as lines:
        tests = [json.loads(line) for line in lines]
    for test in tests:
        count(totals, name, test)
    if not tests:
        totals.fail('%s: no test was run' % name, result.stdout)


def main():
    totals = Totals()
    for name, directory, what, compiler, options, arguments in BUILDS:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        progress = Progress(name)
        start, passed, failed, skipped = time.time(), totals.passed, totals.failed, len(totals.skips)
        check(totals, progress, name, directory, compiler, options, arguments)
        progress.clear()
        print('%-10s %-52s%4d passed, %d failed, %d skipped in %d s' % (
            name, what, totals.passed - passed, totals.failed - failed, len(totals.skips) - skipped,
            time.time() - start), flush=True)
    for reason in totals.skips:
        print('skipped: %s' % reason)
    for title, log in totals.logs:
        print('\n==== failed: %s\n%s' % (title, log.rstrip()))
    print('%d passed, %d failed, %d skipped' % (totals.passed, totals.failed, len(totals.skips)))
    return 1 if totals.failed or not totals.passed else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit('\ninterrupted')
