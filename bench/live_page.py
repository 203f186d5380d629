# SPDX-License-Identifier: ISC
"""The page in Chromium while it follows a program under `weft serve`: processor time of its worker for each
picture, with 10⁵ new events each time; that is decoding, model, layout, scene and the drawing list. Then how many
pictures a second there are while the program records a few events all the time. Then the same with a second program, which records
nothing meanwhile: the events of both are merged.

    live_page.py [EVENTS…]      10⁶ and 10⁷ by default
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ.get('WEFT_SOURCE') or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get('WEFT_BUILD') or os.path.join(SOURCE, 'build-bench')
os.environ['WEFT_BUILD'] = BUILD
sys.path.insert(0, os.path.join(SOURCE, 'tests', 'e2e'))
from browser import NPM, chromium  # noqa: E402
from harness import Skip  # noqa: E402

WEFT = os.path.join(BUILD, 'weft')
NEW_EVENTS, PICTURES = 10**5, 8
FEW_EVENTS, PAUSE, SECONDS = 500, 0.01, 5
IDLE_EVENTS = 1000


class Lines:
    """A program that answers each line with a line."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)

    def read(self):
        return self.process.stdout.readline().strip()

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        return self.read()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Program(Lines):
    """A program that has recorded that many events into a ring with room for more."""

    def __init__(self, events, out, env):
        super().__init__(WEFT, 'record', '--size', '%dM' % (events * 45 // 10**6 + 300), '-o', out,
                         os.path.join(BUILD, 'bench', 'bench_live_program'), env=env, stderr=subprocess.DEVNULL)
        self.read()
        self.others = 0  # events of other programs, which the page counts, too
        self.ask(events)

    def ask(self, events):
        return int(super().ask(events)) + self.others


@contextlib.contextmanager
def served(events, folder, has_idle):
    """A program, perhaps beside an idle one, and the server's address."""
    out, env = os.path.join(folder, 'out', ''), dict(os.environ, XDG_RUNTIME_DIR=os.path.join(folder, 'run'))
    for path in (out, env['XDG_RUNTIME_DIR']):
        os.makedirs(path, mode=0o700)
    idle = Program(IDLE_EVENTS, out, env) if has_idle else None
    program = Program(events, out, env)
    program.others = IDLE_EVENTS if idle else 0
    server = Lines(WEFT, 'serve', '--listen', '127.0.0.1:0', out, env=env)
    try:
        yield program, server.read()
    finally:
        server.process.terminate()
        server.end()
        program.end()
        if idle:
            idle.end()


def follow(name, events, program, page):
    """Prints the mean of some pictures; the events recorded then."""
    before = json.loads(page.ask(events))
    for _ in range(PICTURES):
        events = program.ask(NEW_EVENTS)
        after = json.loads(page.ask(events))
    pictures = after['refreshes'] - before['refreshes']
    print('    %-18s %9.0f %9d %9.0f %9.0f' % (name, (after['ms'] - before['ms']) / PICTURES, pictures,
                                               (after['ms'] - before['ms']) / pictures, after['memory'] / 1e6), flush=True)
    return events


def refresh(events, program, page):
    """Prints the pictures a second while there are always new events."""
    before, begun = json.loads(page.ask(events)), time.monotonic()
    while time.monotonic() < begun + SECONDS:
        events = program.ask(FEW_EVENTS)
        time.sleep(PAUSE)
    after = json.loads(page.ask(events))
    pictures = after['refreshes'] - before['refreshes']
    print('    %.1f pictures a second, %d new events and %.0f ms of the worker in each' % (
        pictures / (time.monotonic() - begun), (events - before['events']) / max(pictures, 1),
        (after['ms'] - before['ms']) / max(pictures, 1)), flush=True)
    return events


def measure(events, browser, has_idle):
    with tempfile.TemporaryDirectory(prefix='weft-bench-') as folder, served(events, folder, has_idle) as (program, url):
        page = Lines('node', os.path.join(SOURCE, 'bench', 'live_page.mjs'), browser, url, env=dict(os.environ, WEFT_NPM=NPM))
        print('  %s events%s' % (format(events, ','), ', beside an idle program' if has_idle else ''))
        events = follow('the first ones', events, program, page)  # V8 still optimizes
        events = follow('nothing selected', events, program, page)
        events = refresh(events, program, page)
        page.ask('view task=1')
        follow('a task selected', events, program, page)
        page.end()


def main():
    try:
        browser = chromium()
    except Skip as reason:
        print('The page is not measured: %s.' % reason)
        return
    print('the page that follows a program: ms of its worker, WebAssembly memory in MB\n'
          '                       100,000 events  pictures  each    memory')
    for events in map(int, sys.argv[1:] or [10**6, 10**7]):
        for has_idle in (False, True):
            measure(events, browser, has_idle)


main()
