# SPDX-License-Identifier: ISC
"""Runs one command beside hostile input, and checks its output, status, time and memory.

A fault is one of: a sanitizer's report or a signal; a status that the manual does not have; more
than the time or memory allowed; bytes on standard output or error that control a
terminal; with --json, output that is not JSON or not UTF-8.

Time is processor time, as the machine may be busy with something else: 5 s in all for a command
that ends by itself, 5 s from the moment at which a lasting one was asked to end. A command that
waits uses none, so there is a generous limit in seconds as well. Sanitizers make code 3 times as
slow.

Memory is the most that was resident: 8 times the ring and 64 MB. Sanitizers take memory for
themselves: shadow, redzones, and freed memory that they keep to find later uses. So there the limit
is twice that and 160 MB more, which still finds memory that grows without bound or has a size from
the ring; the exact limit is checked in the build without sanitizers.
"""
import json
import os
import re
import resource
import signal
import subprocess
import time

MEGABYTE = 1 << 20
CPU_S = 5
WALL_S = 60
STDOUT_MAX = 1 << 30  # a command that writes more is ended by SIGXFSZ, which is a fault

# C0 but for tab and newline, DEL, C1, marks of writing direction, separators of lines.
CONTROL = re.compile(rb'[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]')
SANITIZER = re.compile(r'(ERROR: (Address|Leak|Undefined)|SUMMARY: |runtime error:|: Assertion )[^\n]*')


class Limits:
    """The time and memory that a command may take. `input_bytes`: the size of the ring or file that it reads."""

    def __init__(self, sanitized, input_bytes, factor=8):
        self.cpu_s = CPU_S * (3 if sanitized else 1)
        self.wall_s = WALL_S
        self.memory = factor * input_bytes + 64 * MEGABYTE
        if sanitized:
            self.memory = 2 * self.memory + 160 * MEGABYTE


def limit_output():
    resource.setrlimit(resource.RLIMIT_FSIZE, (STDOUT_MAX, STDOUT_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def control_in(data):
    """The first terminal control sequence in the bytes, with its surroundings; or None."""
    found = CONTROL.search(data)
    return found and data[max(0, found.start() - 40):found.end() + 20]


def not_json(data):
    """Describes an error in lines of JSON; None if there is none."""
    def refuse(name):
        raise ValueError('%s is no JSON' % name)
    for number, line in enumerate(data.split(b'\n')):
        if not line:
            continue
        try:
            json.loads(line.decode('utf-8'), parse_constant=refuse)
        except ValueError as error:
            return 'line %d: %s: %r' % (number + 1, error, line[:200])
    return None


def cpu_s(pid):
    """The memory that the process has used so far; 0 if it is gone."""
    try:
        with open('/proc/%d/stat' % pid, encoding='latin1') as file:
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Operation:
    """A command that runs. `statuses`: those that it may end with; None is any but a crash's."""

    def __init__(self, command, folder, limits, env=None, statuses=(0, 1, 3), is_json=False, is_binary=False,
                 input=None):
        self.command = [str(word) for word in command]
        self.limits, self.statuses, self.is_json, self.is_binary = limits, statuses, is_json, is_binary
        self.out, self.errors = (os.path.join(folder, 'output-%d.%s' % (id(self), name)) for name in ('out', 'err'))
        self.peak = 0
        self.status = None
        self.hang = self.asked = None
        with open(self.out, 'wb') as out, open(self.errors, 'wb') as errors, \
                open(input or os.devnull, 'rb') as stdin:
            self.process = subprocess.Popen(self.command, stdin=stdin, stdout=out, stderr=errors, cwd=folder,
                                            env=env, preexec_fn=limit_output)
        self.start_s = time.monotonic()
        self.start_cpu_s = 0

    @property
    def pid(self):
        return self.process.pid

    def has_ended(self):
        if self.status is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.take_status(status, usage)
        return self.status is not None

    def take_status(self, status, usage):
        self.status = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.peak = usage.ru_maxrss * 1024

    def ask_to_end(self, number=signal.SIGINT):
        """Starts the time limit within which it must end."""
        if not self.has_ended():
            self.asked = number
            self.start_s, self.start_cpu_s = time.monotonic(), cpu_s(self.pid)
            os.kill(self.pid, number)

    def is_overdue(self):
        used, waited = cpu_s(self.pid) - self.start_cpu_s, time.monotonic() - self.start_s
        if used > self.limits.cpu_s or waited > self.limits.wall_s:
            self.hang = 'used %.1f s of processor time, of %d s, and %.1f s in all, of %d s' % (
                used, self.limits.cpu_s, waited, self.limits.wall_s)
        return self.hang

    def finish(self):
        """Waits for its end, or ends it when it is overdue; answers what is wrong, a line each."""
        while not self.has_ended():
            if self.is_overdue():
                os.kill(self.pid, signal.SIGKILL)
                self.take_status(*os.wait4(self.pid, 0)[1:])
            else:
                time.sleep(0.01)
        return self.judge()

    def has_written(self):
        return self.has_ended() or os.path.getsize(self.out) > 0

    def read(self, path):
        with open(path, 'rb') as file:
            return file.read()

    def judge(self):
        data, errors = self.read(self.out), self.read(self.errors)
        for path in (self.out, self.errors):
            os.remove(path)
        if os.environ.get('HOSTILE_VERBOSE'):
            print(' '.join(self.command[1:]), self.status, len(data), errors[-300:], flush=True)
        faults = list(self.judge_end(errors.decode('utf-8', 'replace')))
        if not self.is_binary:
            faults += judge_text(data, 'standard output')
        faults += judge_text(errors, 'standard error')
        wrong = not_json(data) if self.is_json else None
        if wrong:
            faults.append('JSON: ' + wrong)
        return ['%s\n    %s' % (fault, ' '.join(self.command)) for fault in faults]

    def share_of_memory(self):
        """The percentage of the limit that it took."""
        return 100 * self.peak // self.limits.memory

    def judge_end(self, errors):
        found = SANITIZER.search(errors)
        if self.hang:
            yield 'hang: ' + self.hang
        elif found:
            report = errors[max(0, found.start() - 200):].partition('Shadow bytes around')[0]
            yield 'sanitizer: %s\n%s' % (found.group(), report[:6000])
        elif self.asked and self.status == -self.asked:
            pass  # before it could catch the signal
        elif self.status < 0 or (self.statuses is not None and self.status not in self.statuses):
            yield 'ended with status %d: %s' % (self.status, errors[-2000:])
        if self.peak > self.limits.memory:
            yield 'memory: %d MB, of %d MB' % (self.peak // MEGABYTE, self.limits.memory // MEGABYTE)


def judge_text(data, where):
    found = control_in(data)
    if found:
        yield 'control character in %s: %r' % (where, found)
    try:
        data.decode('utf-8')
    except UnicodeDecodeError as error:
        yield 'not UTF-8 in %s: %r' % (where, data[max(0, error.start - 40):error.end + 20])
