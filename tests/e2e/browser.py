# SPDX-License-Identifier: ISC
"""Chromium for the tests of the page: page.mjs drives it."""
import fcntl
import json
import os
import shutil

from harness import BUILD, equal, run, skip

NPM = os.path.join(BUILD, 'npm')
PLAYWRIGHT = 'playwright-core@1.65.1'
DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'page.mjs')


def chromium():
    """The browser, with what drives it; skips the case if one of them is not to be had."""
    for tool, package in (('chromium', 'chromium'), ('node', 'nodejs')):
        if not shutil.which(tool):
            skip('%s is not installed' % package)
    os.makedirs(NPM, exist_ok=True)
    with open(os.path.join(NPM, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # suites run at the same time
        install_driver()
    return shutil.which('chromium')


def install_driver():
    if os.path.exists(os.path.join(NPM, 'node_modules', 'playwright-core')):
        return
    if not shutil.which('npm'):
        skip('npm is not installed')
    result = run(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', NPM, PLAYWRIGHT])
    if result.returncode:
        skip('npm could not get %s' % PLAYWRIGHT)


def browse(url, steps, title='', loud=False, **options):
    """What page.mjs has seen. Whatever a page does, it may not complain on the console."""
    ask = dict(options, chromium=chromium(), url=url, steps=steps, title=title)
    result = run(['node', DRIVER], input=json.dumps(ask), env={'WEFT_NPM': NPM})
    equal(result.returncode, 0, result.stderr)
    seen = json.loads(result.stdout)
    assert 'failed' not in seen, seen['failed'] + '\n' + repr(seen)
    if not loud:
        equal(seen['console'], [])
    return seen
