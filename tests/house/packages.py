# SPDX-License-Identifier: ISC
"""tools/install-packages and install-foreign on other machines, which scripts simulate instead of the machine's commands."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import SOURCE, case, main, run, temporary_directory  # noqa: E402

TOOLS = ['sh', 'awk', 'grep', 'cat', 'wc', 'env', 'sed']


def machine(commands, goal='check', script='install-packages'):
    """Runs the script where only `commands` ({name: shell text}) and a few text tools exist."""
    with temporary_directory() as folder:
        for tool in TOOLS:
            os.symlink(os.path.realpath('/usr/bin/' + tool), os.path.join(folder, tool))
        for name, text in commands.items():
            path = os.path.join(folder, name)
            with open(path, 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\n' + text + '\n')
            os.chmod(path, 0o755)
        result = run(['/bin/sh', os.path.join(SOURCE, 'tools', script), goal], env={'PATH': folder}, cwd=folder)
        log = os.path.join(folder, 'log')
        result.log = open(log, encoding='utf-8').read() if os.path.exists(log) else ''
        return result


ALL_BUT_GCC = 'shift 3; for p; do [ $p = gcc ] || echo $p installed; done'
NOTHING = 'exit 1'


@case
def nothing_to_do_is_silent():
    result = machine({'dpkg-query': 'shift 3; for p; do echo $p installed; done', 'apt-get': 'exit 9'})
    assert (result.returncode, result.stdout, result.stderr) == (0, '', ''), result


@case
def packages_and_reasons_are_listed_before_installing():
    result = machine({'dpkg-query': ALL_BUT_GCC, 'id': 'echo 0', 'apt-cache': 'echo Package: gcc',
                      'apt-get': 'echo "$@" >>log'})
    assert result.returncode == 0, result.stderr
    assert result.stdout.index('gcc    ') < result.stdout.index('C compiler') \
        < result.stdout.index('Installing'), result.stdout
    assert result.log.splitlines() == [
        '-qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends gcc'], result.log


@case
def empty_package_lists_are_filled_first():
    result = machine({'dpkg-query': ALL_BUT_GCC, 'id': 'echo 0', 'apt-cache': NOTHING,
                      'apt-get': 'echo "$@" >>log'})
    assert result.returncode == 0, result.stderr
    assert [line.split()[3] for line in result.log.splitlines()] == ['update', 'install'], result.log


@case
def stale_package_lists_are_renewed():
    failing_once = 'echo "$@" >>log; [ $4 = update ] || [ -e tried ] || { touch tried; exit 100; }'
    result = machine({'dpkg-query': ALL_BUT_GCC, 'id': 'echo 0', 'apt-cache': 'echo Package: gcc',
                      'apt-get': failing_once, 'touch': '> "$1"'})
    assert result.returncode == 0, result.stderr
    steps = [line.split()[3] for line in result.log.splitlines()]
    assert steps == ['install', 'update', 'install'], result.log


@case
def without_root_or_sudo_it_prints_the_line_and_stops_with_2():
    result = machine({'dpkg-query': ALL_BUT_GCC, 'id': 'echo 1000', 'apt-get': 'echo "$@" >>log'})
    assert result.returncode == 2, result
    assert 'apt-get install --no-install-recommends gcc' in result.stdout, result.stdout
    assert result.log == '', 'it must not try'


@case
def an_npm_from_elsewhere_will_do():
    all_but_npm = 'shift 3; for p; do [ $p = npm ] || echo $p installed; done'
    commands = {'dpkg-query': all_but_npm, 'id': 'echo 0', 'apt-cache': 'echo Package: npm', 'apt-get': 'echo "$@" >>log'}
    assert 'install --yes --no-install-recommends npm' in machine(commands, goal='check-all').log
    result = machine(dict(commands, npm='exit 0'), goal='check-all')
    assert (result.returncode, result.stdout, result.log) == (0, '', ''), result


@case
def another_system_goes_on_with_what_it_has():
    result = machine({})
    assert result.returncode == 0 and 'not a Debian system' in result.stdout, result


@case
def the_quick_check_needs_few_packages():
    wanted = {goal: set(machine({'dpkg-query': 'exit 1', 'apt-get': 'exit 9', 'id': 'echo 1000'}, goal=goal).stdout.splitlines()[-1].split())
              for goal in ('build', 'check', 'check-all')}
    assert wanted['build'] < wanted['check'] < wanted['check-all'], wanted
    assert len(wanted['check'] - wanted['build']) < 6 and 'g++' in wanted['check'], wanted
    assert not wanted['check'] & {'npm', 'chromium-headless-shell', 'debootstrap', 'qemu-system-x86', 'libgtk-4-dev'}, wanted


@case
def an_unknown_goal_is_refused():
    assert machine({}, goal='party').returncode == 1


# One foreign package is installed, and one of another architecture with the same name.
SOME_FOREIGN = 'echo qemu-user:amd64 installed; echo libcmocka-dev:amd64 installed'


def foreign(architecture='amd64', user='0', apt='echo "$@" >>log'):
    return machine({'dpkg': '[ $1 = --print-architecture ] && echo %s || echo "dpkg $@" >>log' % architecture,
                    'dpkg-query': SOME_FOREIGN, 'id': 'echo ' + user, 'apt-get': apt}, script='install-foreign')


@case
def foreign_packages_never_replace_others():
    result = foreign()
    assert result.returncode == 0, result.stderr
    assert result.stdout.index('libcmocka-dev:arm64') < result.stdout.index('Installing'), result.stdout
    assert '  qemu-user' not in result.stdout, result.stdout
    lines = result.log.splitlines()
    assert lines[:2] == ['dpkg --add-architecture arm64', 'dpkg --add-architecture i386'], lines
    assert ' install --yes --no-remove ' in lines[-1] and 'libcmocka-dev:i386' in lines[-1], lines


@case
def without_foreign_packages_it_goes_on():
    result = foreign(apt='exit 100')
    assert result.returncode == 0 and 'going on without them' in result.stdout, result
    result = foreign(user='1000')
    assert result.returncode == 0 and 'apt-get install --no-remove' in result.stdout, result
    assert result.log == '', 'it must not try'


@case
def on_other_machines_nothing_is_foreign():
    for result in (foreign(architecture='arm64'), machine({}, script='install-foreign')):
        assert (result.returncode, result.stdout, result.log) == (0, '', ''), result


main()
