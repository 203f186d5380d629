#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Plants the bugs of table.py, one at a time, and reports which of them the tests see.

    tests/mutants/mutants.py [WORD…]      all, or those with a word in their file or text

Works in a copy of the source tree, build-mutants/source, with a build directory of its own. Of each mutant only
what its tests need is compiled; they run in the order of the table, up to the first that fails. A mutant that
does not compile, or whose text is not in its file exactly once, is a fault of the table. The last line counts the
killed; the exit status is 0 if 95 % of those that change what the program does were killed, and all were tried.
"""
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPY = os.path.join(ROOT, 'build-mutants', 'source')
BUILD = os.path.join(ROOT, 'build-mutants', 'build')
GOAL = 0.95
TIMEOUT_S = 120  # a mutant that hangs is killed, too

sys.path.insert(0, HERE)
from table import MUTANTS  # noqa: E402


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          **options)


def checked_output(result, action):
    """The output of a command; exits with it if the command failed."""
    if result.returncode:
        sys.exit('%s failed:\n%s' % (action, result.stdout))
    return result.stdout


def remove_other_files(names):
    """A file that is no longer in the source tree would be compiled into the page, which takes all that it finds."""
    kept = {os.path.join(COPY, name) for name in names}
    for folder, _, files in os.walk(COPY):
        for file in files:
            if os.path.join(folder, file) not in kept:
                os.remove(os.path.join(folder, file))


def copy_source():
    """Files keep their times if they have not changed, so that little is compiled again."""
    names = checked_output(run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT), 'git ls-files').splitlines()
    for name in names:
        source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
        if not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target) or read(source) != read(target):
            shutil.copy(source, target)
    remove_other_files([name for name in names if os.path.isfile(os.path.join(ROOT, name))])


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def configure():
    compiler = os.environ.get('CC') or ('ccache gcc' if shutil.which('ccache') else 'gcc')
    if not os.path.exists(os.path.join(BUILD, 'build.ninja')):
        checked_output(run(['meson', 'setup', BUILD, COPY, '-Dtests=enabled'], env=dict(os.environ, CC=compiler)), 'meson setup')
    checked_output(run(['ninja', '-C', BUILD, 'build.ninja']), 'meson')


class Tests:
    """Meson's tests by name: unit tests before others of the same name, as `weft:unit / cut`."""

    def __init__(self):
        def introspect(what):
            return json.loads(checked_output(run(['meson', 'introspect', what, BUILD]), 'meson introspect'))
        made = {target['id']: target['filename'] for target in introspect('--targets')}
        self.commands, self.environments, self.targets = {}, {}, {}
        for test in introspect('--tests'):
            suite = test['suite'][0].split(':')[-1]
            name = test['name'] if suite == 'unit' else suite + '/' + test['name']
            words = [os.path.normpath(word) for word in test['cmd']]
            files = [word for word in words if word.startswith(BUILD + os.sep)]
            files += [file for target in test['depends'] for file in made[target]]
            self.commands[name] = test['cmd']
            self.environments[name] = dict(os.environ, **test['env'])
            self.targets[name] = sorted({os.path.relpath(file, BUILD) for file in files})

    def compile(self, names):
        return run(['ninja', '-C', BUILD, *sorted({target for name in names for target in self.targets[name]})])

    def passes(self, name):
        try:
            return run(self.commands[name], env=self.environments[name], cwd=BUILD, timeout=TIMEOUT_S).returncode == 0
        except subprocess.TimeoutExpired:
            return False


def plant(mutant):
    """Writes the mutant into the copy; returns the original text."""
    path = os.path.join(COPY, mutant.file)
    with open(path, encoding='utf-8') as file:
        text = file.read()
    count = text.count(mutant.old)
    if count != 1:
        sys.exit('%s has this text %d times, and not once:\n%s' % (mutant.file, count, mutant.old))
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text.replace(mutant.old, mutant.new))
    return text


def restore(mutant, text):
    with open(os.path.join(COPY, mutant.file), 'w', encoding='utf-8') as file:
        file.write(text)


def run_tests(tests, mutant):
    """The result as a text: which test killed the mutant, or that it survived or does not compile."""
    result = tests.compile(mutant.tests)
    if result.returncode:
        return 'does not compile'
    return next(('killed by ' + name for name in mutant.tests if not tests.passes(name)), 'survived')


def try_mutant(tests, mutant):
    text = plant(mutant)
    try:
        return run_tests(tests, mutant)
    finally:
        restore(mutant, text)


def check_table(mutants, tests):
    """All texts are there, all tests exist, and pass without a mutant."""
    for mutant in mutants:
        restore(mutant, plant(mutant))
        unknown = [name for name in mutant.tests if name not in tests.commands]
        if unknown:
            sys.exit('no such test: %s' % ' '.join(unknown))
    names = sorted({name for mutant in mutants for name in mutant.tests})
    checked_output(tests.compile(names), 'compiling without a mutant')
    for name in names:
        if not tests.passes(name):
            sys.exit('%s fails without a mutant' % name)


def main():
    words = sys.argv[1:]
    mutants = [mutant for mutant in MUTANTS
               if not words or any(word in mutant.file or word in mutant.old + mutant.new for word in words)]
    copy_source()
    configure()
    tests = Tests()
    check_table(mutants, tests)
    counts = {}
    for number, mutant in enumerate(mutants, 1):
        start = time.monotonic()
        outcome = 'equivalent: ' + mutant.equivalent if mutant.equivalent else try_mutant(tests, mutant)
        word = outcome.split()[0].rstrip(':')
        counts[word] = counts.get(word, 0) + 1
        print('%3d/%d %s: %s → %s\n       %s (%d s)' % (
            number, len(mutants), mutant.file, ' '.join(mutant.old.split()), ' '.join(mutant.new.split()), outcome,
            time.monotonic() - start), flush=True)
    changing = len(mutants) - counts.get('equivalent', 0)
    print('%d of %d killed, %d survived, %d equivalent' % (
        counts.get('killed', 0), changing, counts.get('survived', 0), counts.get('equivalent', 0)))
    return 0 if counts.get('killed', 0) >= GOAL * changing and 'does' not in counts else 1


if __name__ == '__main__':
    sys.exit(main())
