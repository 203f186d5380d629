# SPDX-License-Identifier: ISC
"""Links, make targets, files and commands of weft that the documents name exist."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE, case, equal, main, run, skip, temporary_directory, weft  # noqa: E402
from tree import read, tracked  # noqa: E402

DOCUMENTS = [p for p in tracked() if p.endswith('.md')]


@case
def links_lead_somewhere():
    broken = []
    for path in DOCUMENTS:
        for target in re.findall(r'\]\(([^)#\s]+)[^)]*\)', read(path)):
            here = os.path.join(SOURCE, os.path.dirname(path), target)
            if not re.match(r'[a-z]+:', target) and not os.path.exists(here):
                broken.append('%s: %s' % (path, target))
    assert DOCUMENTS and not broken, '\n'.join(broken)


@case
def make_targets_exist():
    targets = set(re.findall(r'^([a-z-]+):', read('Makefile'), re.MULTILINE))
    for path in DOCUMENTS:
        for target in re.findall(r'(?:`|^    )make ([a-z][a-z-]*)', read(path), re.MULTILINE):
            assert target in targets, '%s: make %s' % (path, target)


@case
def files_named_in_code_spans_exist():
    missing = []
    for path in DOCUMENTS:
        for name in re.findall(r'`((?:src|include|tests|tools|docs|man|fuzz|bench|examples|apps)/[\w./-]+)`',
                               read(path)):
            if 'NAME' not in name and not os.path.exists(os.path.join(SOURCE, name)):
                missing.append('%s: %s' % (path, name))
    assert not missing, '\n'.join(missing)


@case
def commands_of_weft_exist():
    known = set(re.findall(r'^  ([a-z]+) ', weft('--help').stdout, re.MULTILINE)) | {'help'}
    for path in DOCUMENTS:
        for command in re.findall(r'(?:`|^\$ |^    )(?:build/)?weft ([a-z]+)\b', read(path), re.MULTILINE):
            assert command in known, '%s: weft %s' % (path, command)


@case
def commands_of_the_readme_run():
    run_commands('README.md')


@case
def commands_of_the_tour_run():
    if not shutil.which('babeltrace2'):
        skip('babeltrace2 is not installed')
    run_commands('docs/tour.md')


def run_commands(page):
    commands = re.findall(r'^\$ (.*)$', read(page), re.MULTILINE)
    assert len(commands) >= 5, commands
    with temporary_directory() as folder:
        os.symlink(BUILD, os.path.join(folder, 'build'))
        for command in commands:
            result = run(['bash', '-c', 'set -o pipefail; ' + command], cwd=folder)
            if 'this weft was built without' in result.stderr:
                print('# left out: %s: %s' % (command, result.stderr.strip().splitlines()[0]))
                continue
            # head closes the pipe early, which is not a failure. On a busy machine the program is elsewhere at that time.
            good = (0, 1, 141) if ' why ' in command and '--at' in command else (0, 141)
            assert result.returncode in good, '%s: %d\n%s' % (command, result.returncode, result.stderr)


def manual():
    """weft-dump(1), as it is given to scdoc."""
    return run([sys.executable, 'man/tables.py', 'man/weft-dump.1.scd', 'include/weft/events.def',
                'include/weft/problems.def', 'src/tables/tables.def', 'include/weft/calls.def'], cwd=SOURCE).stdout


@case
def every_event_and_key_is_documented():
    events = re.findall(r'^EVENT\(\d+, \w+, "(\w+)",(.*)\)$', read('include/weft/events.def'), re.MULTILINE)
    assert len(events) >= 16, 'events.def is written in another way now'
    for name, fields in events:
        found = re.findall(r'\*%s\*\n:.(.*)' % name, manual(), re.MULTILINE)
        equal([row.strip() for row in found], [', '.join(re.findall(r'"(\w+)"', fields))], 'weft-dump.1: ' + name)


PROBLEM = re.compile(r'^PROBLEM\(\w+, "([^"]+)", "[^"]+", (-?\d+),.*\n\t"([^"]+)"\)$', re.MULTILINE)


@case
def every_problem_is_documented():
    table = read('include/weft/problems.def')
    problems = PROBLEM.findall(table)
    assert len(problems) == len(re.findall(r'^PROBLEM\(', table, re.MULTILINE)) >= 15, problems
    meanings = {name: meaning for name, _, meaning in problems}
    rows = read('docs/viewer.md').split('\n| problem |')[1].split('\n\n')[0]
    by_rank = sorted(problems, key=lambda problem: int(problem[1]))
    equal(re.findall(r'^\| ([^|]+) \| ([^|]+) \| [^|]+ \| [^|]+ \|$', rows, re.MULTILINE),
          [(name, meaning) for name, _, meaning in by_rank], 'docs/viewer.md')
    section = manual().split('\n# PROBLEMS\n')[1].split('\n# ')[0]
    listed = re.findall(r'^\*([^*]+)\*\n\t(.)(.+)\.$', section, re.MULTILINE)
    equal({name: first.lower() + rest for name, first, rest in listed},
          {name: text[0].lower() + text[1:] for name, text in meanings.items()}, 'weft-dump.1')
    shown = weft('dump', '--help').stdout.split('\nProblems:\n')[1]
    equal({line[2:18].strip(): line[19:] for line in shown.splitlines()}, meanings, 'weft dump --help')


COMMAND = re.compile(r'^COMMAND\("([^"]+)", \w+, \w+, "([^"]*)", \w+, \w+, "([^"]+)"\)$', re.MULTILINE)


@case
def every_command_of_the_viewer_is_documented():
    table = read('include/weft/viewer_commands.def')
    commands = COMMAND.findall(table)
    assert len(commands) == len(re.findall(r'^COMMAND\(', table, re.MULTILINE)) > 50, commands
    rows = read('docs/viewer.md').split('\n| command |')[1].split('\n\n')[0].split('\n')[2:]
    equal(rows, ['| `%s` | %s | %s |' % (command, ' '.join('`%s`' % key for key in keys.split()), text)
                 for command, keys, text in commands], 'docs/viewer.md')


main()
