# SPDX-License-Identifier: ISC
"""Chromium for the tests of the page: page.mjs drives it."""
import atexit
import fcntl
import json
import os
import shutil
import subprocess

import npm_packages
from harness import BUILD, equal, skip

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


def install_driver(folder=NPM, options=()):
    npm_packages.install(PINNED, folder, options)


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
