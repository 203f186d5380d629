# SPDX-License-Identifier: ISC
"""Chromium for the tests of the page: page.mjs drives it."""
import atexit
import fcntl
import json
import os
import shutil
import subprocess

from harness import BUILD, equal, run, skip

NPM = os.path.join(BUILD, 'npm')
# The version of the package that drives the browser, and the hash of its contents: npm refuses any other.
PINNED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'npm')
DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'page.mjs')


def chromium(names=('chromium-headless-shell', 'chromium')):
    """The browser, with its driver; skips the case if one of them is missing. The shell is Chromium without its
    own windows, which take more time than most cases."""
    browser = next(filter(None, map(shutil.which, names)), None)
    if not browser:
        skip('%s is not installed' % names[0])
    if not shutil.which('node'):
        skip('nodejs is not installed')
    os.makedirs(NPM, exist_ok=True)
    with open(os.path.join(NPM, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # suites run at the same time
        install_driver()
    return browser


def packages(lock):
    """{path: hash} of a lock file of npm, without the project itself; empty if there is none."""
    if not os.path.exists(lock):
        return {}
    with open(lock, encoding='utf-8') as file:
        return {path: entry.get('integrity') for path, entry in json.load(file)['packages'].items() if path}


def install_driver(folder=NPM, options=()):
    """Installs the package PINNED into folder/node_modules. Contents of another hash fail the case; a registry
    that does not answer skips it."""
    pinned = packages(os.path.join(PINNED, 'package-lock.json'))
    if packages(os.path.join(folder, 'node_modules', '.package-lock.json')) == pinned:
        return
    if not shutil.which('npm'):
        skip('npm is not installed')
    for name in ('package.json', 'package-lock.json'):
        shutil.copy(os.path.join(PINNED, name), folder)
    result = run(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', *options], cwd=folder, processor=300)
    if result.returncode:
        assert 'EINTEGRITY' not in result.stderr, 'npm got other contents than are pinned:\n' + result.stderr
        skip('npm could not get playwright-core: %s' % (result.stderr.strip() or 'no reason given').splitlines()[-1])


class Driver:
    """page.mjs, with one browser for all cases of a test; each request gets a context of its own."""
    process = None

    @classmethod
    def ask(cls, request):
        if not cls.process or cls.process.poll() is not None:
            cls.process = subprocess.Popen(['node', DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                           env=dict(os.environ, WEFT_NPM=NPM))
            atexit.register(cls.process.stdin.close)  # it then ends the browser
        print(json.dumps(request), file=cls.process.stdin, flush=True)
        answer = cls.process.stdout.readline()
        assert answer, 'page.mjs ended: %s' % cls.process.wait()
        return json.loads(answer)


def browse(url, steps, title='', loud=False, **options):
    """The output of page.mjs. No page may write errors to the console."""
    seen = Driver.ask(dict(options, chromium=chromium(), url=url, steps=steps, title=title))
    assert 'failed' not in seen, seen['failed'] + '\n' + repr(seen)
    if not loud:
        equal(seen['console'], [])
    return seen
