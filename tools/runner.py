# SPDX-License-Identifier: ISC
"""Runs the tests of a build, some at once, and counts the single cases that they print as TAP.

No test fails because it took long: this machine may be busy. A test is given up when it has used much processor time, with
all processes of its session, since it last printed something. So a loop without an end ends, and one that is waiting for a
processor does not. A test that waits for something that never comes uses none: it is given up after LOOKS_MAX looks at it,
LOOK_EVERY_S apart. That is many times as long as any test takes, and only there so that continuous integration ends.
"""
import concurrent.futures
import os
import re
import select
import signal
import subprocess
import tempfile
import threading

LOOK_EVERY_S = 5
LOOKS_MAX = 1440

# A report of a sanitizer is a failure of the test, wherever the report was made.
ENVIRONMENT = {
    'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=0:exitcode=99',
    'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1:exitcode=99',
    'TSAN_OPTIONS': 'halt_on_error=1:exitcode=99',
    'MALLOC_PERTURB_': '173',  # fills memory from malloc, and memory that is freed
}

SKIPPED = re.compile(r'1\.\.0\s*#\s*SKIP\b\s*(.*)', re.IGNORECASE)
PLAN = re.compile(r'1\.\.(\d+)')
CASE = re.compile(r'(not )?ok\b\s*\d*\s*(?:- )?(.*?)(?:#\s*(SKIP|TODO)\b\s*(.*))?$', re.IGNORECASE)


class Result:
    """The cases of a test that .passed and .failed, the reasons of .skips, and the .log of a test that failed."""

    def __init__(self, name, passed=0, failed=0, skips=(), log='', processor_s=0.0):
        self.name, self.passed, self.failed, self.skips = name, passed, failed, list(skips)
        self.log, self.processor_s = log, processor_s


def count(test, status, printed, errors, gave_up=None):
    """The result of a test that ended with a status, as subprocess has it. Each line of TAP is a case."""
    result, cases, plan = Result(test.name), 0, None
    for line in printed.splitlines():
        whole, case = SKIPPED.match(line), CASE.match(line)
        if whole:
            result.skips.append('%s: %s' % (test.name, whole.group(1)))
        elif PLAN.match(line):
            plan = int(PLAN.match(line).group(1))
        elif case:
            cases += 1
            if case.group(3):
                result.skips.append('%s: %s: %s' % (test.name, case.group(2).strip(), case.group(4)))
            elif case.group(1):
                result.failed += 1
            else:
                result.passed += 1
    end = gave_up or (('signal %d' if status < 0 else 'exit %d') % abs(status) if status else None)
    if not end and cases != plan and not result.skips:
        end = '%d cases, %s planned' % (cases, plan)
    # A crash or a missing case fails the test without a "not ok".
    if end or result.failed:
        result.failed = max(result.failed, 1)
        result.log = '%s%s%s' % (printed, errors, '(%s)' % end if end else '')
    return result


TICKS = os.sysconf('SC_CLK_TCK')


def session(leader):
    """The processes of a session, and how many seconds of processor time they and their ended children used."""
    found, ticks = [], 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % pid, encoding='utf-8', errors='replace') as file:
                fields = file.read().rpartition(')')[2].split()
        except OSError:
            continue  # it ended
        if int(fields[3]) == leader:
            found.append(int(pid))
            ticks += sum(map(int, fields[11:15]))
    return found, ticks / TICKS


def kill_session(leader):
    for pid in session(leader)[0]:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def patience_ends(process, files, processor_s, stopping):
    """Waits until the process has ended; otherwise returns why it is given up."""
    descriptor = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        size, used = 0, 0.0
        for _ in range(LOOKS_MAX):
            if poll.poll(LOOK_EVERY_S * 1000):
                return None
            if stopping.is_set():
                return 'interrupted'
            now, (_, seconds) = sum(os.fstat(file.fileno()).st_size for file in files), session(process.pid)
            if now != size:
                size, used = now, seconds
            elif seconds - used > processor_s:
                return 'given up after %d s of processor time without output' % (seconds - used)
        return 'given up, though it had used only %d s of processor time' % session(process.pid)[1]
    finally:
        os.close(descriptor)


def run_test(test, processor_s, stopping):
    """Runs it in a session of its own. Its output goes to files: a pipe would be open until its last process has ended."""
    environment = dict(os.environ, **{**ENVIRONMENT, **test.environment})
    compiled = test.command[0].startswith(test.build.path + os.sep)
    if compiled and not os.path.exists(test.command[0]):
        return count(test, 127, '', '%s was not built' % test.command[0], '')
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([*(test.build.wrapper if compiled else []), *test.command], cwd=test.build.path,
                                   env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True)
        gave_up = patience_ends(process, (out, errors), processor_s, stopping)
        kill_session(process.pid)  # also what a test leaves behind
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode(errors='replace'))
    result = count(test, process.returncode, *texts, gave_up)
    result.processor_s = used.ru_utime + used.ru_stime
    return result


def run_tests(tests, at_once, processor_s, came):
    """Runs them, those of higher priority first; calls came(result) for each, one at a time. Each may use that much
    processor time without output."""
    stopping = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        ordered = sorted(tests, key=lambda test: -test.priority)
        futures = [pool.submit(run_test, test, processor_s, stopping) for test in ordered]
        try:
            for future in concurrent.futures.as_completed(futures):
                came(future.result())
        finally:
            stopping.set()
            pool.shutdown(cancel_futures=True)
