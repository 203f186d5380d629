# SPDX-License-Identifier: ISC
"""Runs commands with a limit of CPU time, and measures them: for hostile input. Wall time is never checked,
because other programs may run meanwhile."""
import os
import re
import resource
import subprocess
import tempfile

from harness import build_option

MIB = 1 << 20


# Sanitizers take several times as much time and memory.
IS_SANITIZED = build_option('b_sanitize') not in ('none', [])
SLOWNESS = 6 if IS_SANITIZED else 1

# A sanitizer's report ends the program with a status that weft itself never uses.
FINDING = dict(ASAN_OPTIONS='exitcode=99', UBSAN_OPTIONS='halt_on_error=1:exitcode=98')

# Forbidden in text output: control characters other than the line feed, also C1 and DEL, marks
# of writing direction, and separators of lines; before that, it has to be UTF-8.
DANGEROUS = re.compile('[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]')


class Result:
    """status: as of subprocess, negative for a signal; seconds of CPU; peak of memory in bytes."""

    def __init__(self, status, stdout, stderr, usage):
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024


def measure(args, cpu_seconds=5, cwd=None, env=None):
    """Runs a command, which SIGXCPU ends after so many seconds of CPU time."""
    seconds = cpu_seconds * SLOWNESS

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd,
                                 env=dict(os.environ, **FINDING, **(env or {})), preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Result(child.returncode, out.read(), err.read(), usage)


def check_shown(what, data):
    """Text that may be shown on a terminal."""
    text = data.decode('utf-8')  # an error if it is none
    found = DANGEROUS.search(text)
    assert not found, '%s: raw %r in %r' % (what, found.group(), text[max(0, found.start() - 40):found.end() + 40])
