#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Builds weft in every way that we support, runs the tests of each build, and counts single cases.

    tools/check.py [NAME…]      only these builds: gcc, sanitized, threads, i686, aarch64

A build is a Meson build directory, kept and reused. The tests of two builds run at the same time, because many tests
mostly wait. The sanitized build takes longest and is compiled right after the plain one; meanwhile the others, which
need not be ready soon, are compiled with the lowest priority.
A line shows the progress. What passes is quiet; of what fails the whole log is shown. The last line is the totals,
and the exit status is 0 if nothing failed.

End-to-end tests talk to servers, windows and browsers, which answer late while the tests of two builds keep all processors
busy. If few of them fail, each is run again at the end, alone: the second result counts, and the log of the first is shown
with it. A crash, a sanitizer's report, and tests that look for races fail at once.
"""
import concurrent.futures
import contextlib
import fcntl
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

class Build:
    """A build directory: how it is made, and which of its tests run."""

    def __init__(self, name, what, compiler, options, patience, only=(), without=()):
        self.name, self.what, self.compiler = name, what, compiler
        self.directory = 'build-' + {'sanitized': 'asan', 'threads': 'tsan'}.get(name, name)
        self.options = ['-Dwerror=true', *options]
        self.patience = patience  # times the usual time limit of a test
        self.only, self.without = only, without  # suites
        self.environment = {}  # of its tests

    def is_urgent(self):
        return self.name in ('gcc', 'sanitized')

    def test_arguments(self):
        words = [word for suite in self.only for word in ('--suite', suite)]
        words += [word for suite in self.without for word in ('--no-suite', suite)]
        return [*words, '-t', str(self.patience)]

    def linker(self):
        """The variable of Meson's for LLVM's linker, which links sanitized programs in a third of the time."""
        return {'CC_LD': 'lld'} if self.compiler == 'clang-14' and os.path.exists(LLD) else {}

    def runs(self, test):
        """True for a test of this build; `test` is as Meson introspects it."""
        suites = {suite.split(':')[-1] for suite in test['suite']}
        return not suites & set(self.without) and (not self.only or bool(suites & set(self.only)))


BUILDS = [
    # `sanitized` are tests that run once, in the sanitized build; `hostile` there also attacks the programs of this one.
    Build('gcc', 'gcc', 'gcc', [], 2, without=['sanitized']),
    # clang, because gcc's code for the address of a thread-local variable, which only this sanitizer compares with
    # NULL, reads the flags of an addition that ld replaces by an instruction without flags.
    # `foreign` and `page` run programs of other builds: another compiler's, another processor's, the browser's
    # WebAssembly.
    Build('sanitized', 'clang, address and undefined-behaviour sanitizers', 'clang-14',
          ['-Db_sanitize=address,undefined', '-Db_lundef=false'], 4, without=['house', 'model', 'foreign', 'page']),
    # Compiled in two thirds of the time without the second level of optimization.
    Build('threads', 'gcc, thread sanitizer', 'gcc', ['-Db_sanitize=thread', '-Doptimization=1', '-Dpage=disabled'], 4,
          only=['threads']),
    *[Build(name, what + ' under qemu', 'gcc',
            ['--cross-file', 'tools/cross/%s.ini' % name, '-Dcairo=disabled', '-Dgtk=disabled', '-Dman=disabled'],
            4, only=['machines'])
      for name, what in (('i686', '32-bit x86'), ('aarch64', '64-bit Arm'))],
]
TESTED_AT_ONCE = 2
REPEATED_SUITES = {'e2e', 'xen'}
REPEATED_MAX = 5  # if more tests fail, the cause is not a busy machine

# Where clang-14 looks for its linker, from lld-14.
LLD = '/usr/lib/llvm-14/bin/ld.lld'

# Debian's compilers by ccache, if it is installed: also for other processors, and for what tests compile.
CCACHE = '/usr/lib/ccache'
# Several tests build weft again: an object is reused in another folder and with another language of messages. The
# compiler tells the dependencies (-MD), so ccache need not run the preprocessor first.
CCACHE_SETTINGS = {'CCACHE_BASEDIR': SOURCE, 'CCACHE_NOHASHDIR': '1', 'CCACHE_SLOPPINESS': 'locale', 'CCACHE_DEPEND': '1'}

# The needs of a build besides its compiler, from tools/install-foreign: name, program or file, package.
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


def share(builds):
    """Lets the sanitized build use parts of the plain one, if both are made: the page's WebAssembly,
    which is the same, and programs for `hostile` to attack in one round of three. Alone, the plain build runs all tests."""
    gcc, sanitized = (next((build for build in builds if build.name == name), None) for name in ('gcc', 'sanitized'))
    if gcc and (not sanitized or missing(sanitized)):
        gcc.without = []
    if gcc:
        gcc.environment['WEFT_CROSS_BUILDS'] = os.path.join(SOURCE, 'build-')  # for `machines`
    if sanitized:
        directory = os.path.join(SOURCE, gcc.directory) if gcc else ''
        sanitized.options.append('-Dpage_wasm=' + (directory and os.path.join(directory, 'apps', 'web', 'weft.wasm')))
        sanitized.environment['HOSTILE_PLAIN'] = directory


class Totals:
    def __init__(self):
        self.passed = self.failed = 0
        self.skips = []
        self.logs = []
        self.doubtful = []  # build and result of tests that will be run again

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skips += other.skips
        self.logs += other.logs
        self.doubtful += other.doubtful

    def fail(self, title, log, cases=1):
        self.failed += cases
        self.logs.append((title, log))


class Progress:
    """Shows how far a build is: on a terminal in a line that changes, elsewhere in a line every half minute. A hidden one
    shows nothing: the tests of an earlier build run then."""
    EVERY_S = 30
    STEP = re.compile(r'\s*\[?(\d+)/(\d+)\]? ')  # as ninja and `meson test` begin their lines

    def __init__(self, name, hidden=False):
        self.name, self.hidden = name, hidden
        self.live = sys.stdout.isatty()
        self.shown = time.monotonic()

    def show(self, text):
        now = time.monotonic()
        if self.hidden:
            return
        if self.live:
            print('\r%-10s %s\033[K' % (self.name, text), end='', flush=True)
        elif now - self.shown >= self.EVERY_S:
            self.shown = now
            print('%-10s %s' % (self.name, text), flush=True)

    def clear(self):
        if self.live:
            print('\r\033[K', end='', flush=True)

    def watch(self, what):
        """Returns a function to call with each line of a command that counts its steps."""
        def line_came(line):
            step = self.STEP.match(line)
            if step:
                self.show('%s %s/%s' % (what, step.group(1), step.group(2)))
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


def targets(build):
    """The targets for ninja: all in the first build, in others those that their tests need. The sanitized build also compiles
    the adapters, though no test of it runs them, because clang's warnings are others than gcc's."""
    if build is BUILDS[0]:
        return []

    def introspect(what):
        return json.loads(run(['meson', 'introspect', what, os.path.join(SOURCE, build.directory)]).stdout)
    folder = os.path.join(SOURCE, build.directory)
    made = {target['id']: target['filename'] for target in introspect('--targets')}
    tests = [test for test in introspect('--tests') if build.runs(test)]
    words = [os.path.normpath(word) for test in tests for word in test['cmd']]
    files = [word for word in words if word.startswith(folder + os.sep)]
    files += [name for test in tests for target in test['depends'] for name in made[target]]
    if build.name == 'sanitized':
        files += [name for names in made.values() for name in names if name.endswith('libweft-adapters.so')]
    return sorted({os.path.relpath(name, folder) for name in files})


@contextlib.contextmanager
def locked(directory):
    """The test `machines` compiles in the folders of two builds, too."""
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compile_build(build, progress):
    """Configures and compiles; returns the log of the failure, or None."""
    setup = ['meson', 'setup', build.directory, '-Dtests=enabled', *build.options]
    nice = [] if build.is_urgent() else ['nice', '-n', '19']
    progress.show('configuring')
    with locked(os.path.join(SOURCE, build.directory)):
        if os.path.exists(os.path.join(SOURCE, build.directory, 'build.ninja')):
            setup.append('--reconfigure')  # sees packages that came since
        result = run([*nice, *setup], {'CC': build.compiler, **build.linker()})
        if result.returncode:
            return result.stdout
        result = run([*nice, 'ninja', '-C', build.directory, '-k', '0', *targets(build)], {'NINJA_STATUS': '[%f/%t] '},
                     progress.watch('building'))
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


CRASH = re.compile(r'(Address|Leak|Thread)Sanitizer|runtime error:|exit -[0-9]+, expected')  # of a sanitizer, or by a signal


def is_doubtful(test):
    """True for a test that failed, but may pass when nothing else runs."""
    suites = set(re.split(r'[:+]', test['name'].split(' / ')[0]))
    is_crash = test['returncode'] < 0 and test['result'] != 'TIMEOUT'
    return (test['result'] not in ('OK', 'SKIP') and bool(suites & REPEATED_SUITES) and not suites & {'threads', 'stress'} and
            not is_crash and not CRASH.search(test.get('stdout', '') + test.get('stderr', '')))


def missing(build):
    """The package without which it cannot be built, or None."""
    if not shutil.which(build.compiler):
        return build.compiler
    for name, needed, package in NEEDS:
        if build.name == name and not (os.path.exists(needed) or shutil.which(needed)):
            return package
    return None


def meson_test(build, arguments, watch=None):
    """Runs tests of a build; returns what was printed, and Meson's results or None."""
    results = os.path.join(SOURCE, build.directory, 'meson-logs', 'testlog.json')
    if os.path.exists(results):
        os.remove(results)
    printed = run(['meson', 'test', '-C', build.directory, '--no-rebuild', *arguments], dict(ENVIRONMENT, **build.environment),
                  watch).stdout
    if not os.path.exists(results):
        return printed, None
    with open(results, encoding='utf-8', errors='replace') as lines:
        return printed, [json.loads(line) for line in lines]


def run_tests(totals, progress, build):
    # One more than there are processors, because many tests mostly wait. Two builds are tested at the same time, so still
    # more would not end sooner, but those that wait for something would exceed their time limits.
    at_once = (os.cpu_count() or 1) + 1
    printed, tests = meson_test(build, ['--num-processes', str(at_once), *build.test_arguments()], progress.watch('testing'))
    for test in tests or []:
        if is_doubtful(test):
            totals.doubtful.append((build, test))
        else:
            count(totals, build.name, test)
    if not tests:
        totals.fail('%s: meson test' % build.name, printed)


def test_alone(totals, build, name):
    """Runs one test; `name` is as Meson's results have it. Returns its result, or None after counting a failure."""
    suite, name = re.fullmatch(r'\w+:(\w+).* / (.*)', name).groups()
    printed, tests = meson_test(build, ['--suite', suite, '-t', str(build.patience), name])
    if not tests:
        totals.fail('%s: meson test' % build.name, printed)
        return None
    return tests[0]


def repeat(totals):
    """Runs each doubtful test again, alone, if they are few; counts the last result of each."""
    are_few = len(totals.doubtful) <= REPEATED_MAX
    for build, test in totals.doubtful:
        if are_few:
            first, test = test, test_alone(totals, build, test['name'])
            outcome = 'passed' if test and test['result'] == 'OK' else 'failed again'
            totals.logs.append(('%s: %s beside other tests; it %s alone' % (build.name, first['name'], outcome),
                                first.get('stdout', '') + first.get('stderr', '')))
        if test:
            count(totals, build.name, test)


def check(progress, build, compiled):
    """Runs the tests once the build is compiled; returns its totals and how many seconds they took."""
    totals, package = Totals(), missing(build)
    log = None if package else compiled.result()
    begin = time.monotonic()
    if package:
        totals.skips.append('%s: %s is not installed' % (build.name, package))
    elif log is not None:
        totals.fail('%s: build' % build.name, log)
    else:
        totals.passed += 1  # that it compiles, and without warnings
        run_tests(totals, progress, build)
    return totals, time.monotonic() - begin


def without_passed(log):
    """The log of a test without the cases that passed, and without Python's underlining of failed lines."""
    return '\n'.join(line for line in log.rstrip().splitlines() if not re.match(r'ok \d|# +[\^~]+$', line))


def report(totals, begin):
    for reason in totals.skips:
        print('skipped: %s' % reason)
    for title, log in totals.logs:
        print('\n==== failed: %s\n%s' % (title, without_passed(log)))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print('%d s, %d s of processor time, %d processors' % (
        time.monotonic() - begin, used.ru_utime + used.ru_stime, os.cpu_count() or 1))
    print('%d passed, %d failed, %d skipped' % (totals.passed, totals.failed, len(totals.skips)))


def main():
    begin, totals = time.monotonic(), Totals()
    if os.path.isdir(CCACHE):
        os.environ.update(CCACHE_SETTINGS, PATH=CCACHE + os.pathsep + os.environ['PATH'])
    builds = [build for build in BUILDS if not sys.argv[1:] or build.name in sys.argv[1:]]
    share(builds)
    compilers = {is_urgent: concurrent.futures.ThreadPoolExecutor(1) for is_urgent in (True, False)}
    tester = concurrent.futures.ThreadPoolExecutor(TESTED_AT_ONCE)
    waiting = []
    for build in builds:
        progress = Progress(build.name, hidden=True)
        compiled = None if missing(build) else compilers[build.is_urgent()].submit(compile_build, build, progress)
        waiting.append((build, progress, tester.submit(check, progress, build, compiled)))
    try:
        for build, progress, checked in waiting:
            progress.hidden = False
            found, seconds = checked.result()
            progress.hidden = True
            progress.clear()
            again = ', %d to be run again' % len(found.doubtful) if found.doubtful else ''
            print('%-10s %-52s%4d passed, %d failed, %d skipped%s in %d s' % (
                build.name, build.what, found.passed, found.failed, len(found.skips), again, seconds), flush=True)
            totals.add(found)
    finally:
        for pool in (*compilers.values(), tester):
            pool.shutdown(cancel_futures=True)
    repeat(totals)
    report(totals, begin)
    return 1 if totals.failed or not totals.passed else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit('\ninterrupted')
