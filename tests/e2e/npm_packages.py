# SPDX-License-Identifier: ISC
"""Packages of npm for tests: of pinned versions, whose contents have pinned hashes."""
import json
import os
import shutil

from harness import run, skip


def packages(lock):
    """{path: hash} of a lock file of npm, without the project itself; empty if there is none."""
    if not os.path.exists(lock):
        return {}
    with open(lock, encoding='utf-8') as file:
        return {path: entry.get('integrity') for path, entry in json.load(file)['packages'].items() if path}


def install(pinned, folder, options=()):
    """Installs the packages of the lock file in `pinned` into folder/node_modules. Contents of another hash fail the case; a registry
    that does not answer skips it."""
    wanted = packages(os.path.join(pinned, 'package-lock.json'))
    if packages(os.path.join(folder, 'node_modules', '.package-lock.json')) == wanted:
        return
    if not shutil.which('npm'):
        skip('npm is not installed')
    for name in ('package.json', 'package-lock.json'):
        shutil.copy(os.path.join(pinned, name), folder)
    result = run(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', *options], cwd=folder, processor=300)
    if result.returncode:
        assert 'EINTEGRITY' not in result.stderr, 'npm got other contents than are pinned:\n' + result.stderr
        skip('npm could not get what %s needs: %s' % (os.path.basename(pinned), (result.stderr.strip() or 'no reason given').splitlines()[-1]))
