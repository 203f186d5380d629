# SPDX-License-Identifier: ISC
"""The builds that the checks test: how each is configured and compiled, and the tests that Meson lists for it.

The plain build is the folder that `make` makes, so that a check compiles only what is not compiled yet. It is configured as
`make` does it, thus without -Werror. A warning fails the check nevertheless, and removes what was compiled with it, so that
it comes again. In the other builds warnings are errors.
"""
import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

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


class Test:
    """A test of a build, as Meson lists it."""

    def __init__(self, build, listed):
        self.build = build
        self.suites = [suite.split(':')[-1] for suite in listed['suite']]
        self.name = '%s: %s/%s' % (build.name, self.suites[0], listed['name'])
        self.command = listed['cmd']
        self.environment = dict(listed['env'], **build.environment)
        self.depends, self.priority = listed['depends'], listed['priority']

    def has(self, *suites):
        return bool(set(suites) & set(self.suites))


class Build:
    """A folder in which weft is compiled. It is kept and reused."""

    def __init__(self, name, what, compiler, options, wrapper=()):
        self.name, self.what, self.compiler, self.options = name, what, compiler, options
        self.folder = 'build' + {'plain': '', 'sanitized': '-asan', 'threads': '-tsan'}.get(name, '-' + name)
        self.path = os.path.join(SOURCE, self.folder)
        self.wrapper = list(wrapper)  # runs a compiled test
        self.environment = {}  # of its tests

    def missing(self):
        """The package without which it cannot be made, or None."""
        if not shutil.which(self.compiler):
            return self.compiler
        for name, needed, package in NEEDS:
            if self.name == name and not (os.path.exists(needed) or shutil.which(needed)):
                return package
        return None

    def introspect(self, what):
        """A file that Meson wrote when it configured the build."""
        with open(os.path.join(self.path, 'meson-info', 'intro-%s.json' % what), encoding='utf-8') as file:
            return json.load(file)

    def tests(self):
        return [Test(self, listed) for listed in self.introspect('tests')]

    def is_configured(self):
        return os.path.exists(os.path.join(self.path, 'build.ninja'))

    def has_tests(self):
        return self.is_configured() and any(
            option['name'] == 'tests' and option['value'] == 'enabled' for option in self.introspect('buildoptions'))

    def environment_of_setup(self):
        """LLVM's linker links sanitized programs in a third of the time."""
        linker = {'CC_LD': 'lld'} if self.compiler == 'clang-14' and os.path.exists(LLD) else {}
        return {} if self.name == 'plain' else {'CC': self.compiler, **linker}


PLAIN = Build('plain', 'as `make` builds it', 'cc', [])
# clang, because gcc's code for the address of a thread-local variable, which only this sanitizer compares with
# NULL, reads the flags of an addition that ld replaces by an instruction without flags.
SANITIZED = Build('sanitized', 'clang, address and undefined-behaviour sanitizers', 'clang-14',
                  ['-Db_sanitize=address,undefined', '-Db_lundef=false'])
# Compiled in two thirds of the time without the second level of optimization.
THREADS = Build('threads', 'gcc, thread sanitizer', 'gcc', ['-Db_sanitize=thread', '-Doptimization=1', '-Dpage=disabled'])
MACHINES = [Build(name, what + ' under qemu', 'gcc',
                  ['--cross-file', 'tools/cross/%s.ini' % name, '-Dcairo=disabled', '-Dgtk=disabled', '-Dman=disabled'], [emulator])
            for name, what, emulator in (('i686', '32-bit x86', 'qemu-i386'), ('aarch64', '64-bit Arm', 'qemu-aarch64'))]

# The page's WebAssembly is the same in both builds, so one compiles it. `hostile` attacks the programs of the plain one, too.
SANITIZED.options.append('-Dpage_wasm=' + os.path.join(PLAIN.path, 'apps', 'web', 'weft.wasm'))
SANITIZED.environment['HOSTILE_PLAIN'] = PLAIN.path


class Progress:
    """Shows how far something is: on a terminal in a line that changes, elsewhere in a line every half minute."""
    EVERY_S = 30

    def __init__(self, name):
        self.name = name
        self.live = sys.stdout.isatty()
        self.shown = time.monotonic()

    def show(self, text):
        now = time.monotonic()
        if self.live:
            print('\r%-10s %s\033[K' % (self.name, text), end='', flush=True)
        elif now - self.shown >= self.EVERY_S:
            self.shown = now
            print('%-10s %s' % (self.name, text), flush=True)

    def clear(self):
        if self.live:
            print('\r\033[K', end='', flush=True)


STEP = re.compile(r'\[(\d+)/(\d+)\] ')  # as NINJA_STATUS below has it


def run(command, environment=None, progress=None):
    """Runs it to its end; the result has .returncode and .stdout. Progress shows ninja's steps."""
    with subprocess.Popen(command, cwd=SOURCE, env=dict(os.environ, **(environment or {})), text=True,
                          errors='replace', stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                step = STEP.match(line)
                if progress and step:
                    progress.show('building %s/%s' % step.groups())
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, ''.join(lines))


@contextlib.contextmanager
def locked(build):
    """The test `machines` compiles in the folders of two builds, too."""
    os.makedirs(build.path, exist_ok=True)
    with open(os.path.join(build.path, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def configure(build, reconfigure):
    """Returns the log of the failure, or None. `reconfigure` sees packages that came since."""
    if build is PLAIN and not build.is_configured():
        command = ['tools/configure', build.folder, '-Dtests=enabled']
    elif build.has_tests() and not reconfigure:
        return None
    else:
        again = ['--reconfigure'] if build.is_configured() else []
        strict = [] if build is PLAIN else ['-Dwerror=true']
        command = ['meson', 'setup', build.folder, *again, '-Dtests=enabled', *strict, *build.options]
    result = run(command, build.environment_of_setup())
    return result.stdout if result.returncode else None


def targets(build, tests):
    """The files that the tests need, for ninja. The sanitized build also compiles the adapters, though no test of it runs
    them, because clang's warnings are others than gcc's."""
    made = {target['id']: target['filename'] for target in build.introspect('targets')}
    words = [os.path.normpath(word) for test in tests for word in test.command]
    files = [word for word in words if word.startswith(build.path + os.sep)]
    files += [name for test in tests for target in test.depends for name in made[target]]
    if build is SANITIZED:
        files += [name for names in made.values() for name in names if name.endswith('libweft-adapters.so')]
    return sorted({os.path.relpath(name, build.path) for name in files})


def warned(build, printed):
    """The warnings in what ninja printed, after each the step that it came from; removes what these steps have made."""
    step, found = '', []
    for line in printed.splitlines():
        if STEP.match(line):
            step = line
        elif 'warning: ' in line:
            found += [step, line]
            made = os.path.join(build.path, step.split(' ')[-1])
            if os.path.isfile(made):
                os.remove(made)
    return '\n'.join(dict.fromkeys(found))


def compile_build(build, progress, chosen=None, reconfigure=True):
    """Configures and compiles what the tests need for which `chosen` is true, or everything; returns the log of the failure,
    or None."""
    with locked(build):
        progress.show('configuring')
        log = configure(build, reconfigure)
        if log is not None:
            return log
        run(['ninja', '-C', build.folder, 'build.ninja'])  # so that Meson lists the targets of today's meson.build
        names = targets(build, [test for test in build.tests() if chosen(test)]) if chosen else []
        result = run(['ninja', '-C', build.folder, '-k', '0', *names], {'NINJA_STATUS': '[%f/%t] '}, progress)
    if result.returncode == 0:
        return warned(build, result.stdout) or None
    return '\n'.join(line for line in result.stdout.splitlines() if not STEP.match(line))
