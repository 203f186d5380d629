# SPDX-License-Identifier: ISC
"""The page in Chromium: how long until a trace is seen, and what a frame costs. The same trace natively
beside it: decoding, rows, scene and the first picture as SVG.

    page.py [FILE…]      traces of its own, of 10⁶ and 10⁷ events, by default
"""
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


def first_picture(trace, folder):
    """Seconds, the best of three."""
    out, best = os.path.join(folder, 'picture.svg'), None
    for _ in range(3):
        start = time.monotonic()
        subprocess.run([WEFT, 'render', trace, '-o', out], check=True, stderr=subprocess.DEVNULL)
        taken = time.monotonic() - start
        best = taken if best is None else min(best, taken)
    return best


def measure(trace, folder, browser):
    page = os.path.join(folder, 'page.html')
    subprocess.run([WEFT, 'render', trace, '-o', page], check=True, stderr=subprocess.DEVNULL)
    result = subprocess.run(['node', os.path.join(SOURCE, 'bench', 'page.mjs')], text=True, check=True,
                            input=json.dumps({'chromium': browser, 'url': 'file://' + page}),
                            stdout=subprocess.PIPE, env=dict(os.environ, WEFT_NPM=NPM))
    os.remove(page)
    return json.loads(result.stdout)


def report(trace, folder, browser):
    native, page = first_picture(trace, folder), measure(trace, folder, browser)
    print('  %-28s %10s events %8.1f MB' % (os.path.basename(trace), format(page['events'], ','),
                                            os.path.getsize(trace) / 1e6))
    print('    first picture, natively      %8.2f s' % native)
    print('    in the page                  %8.2f s   %5.2f x, unpacking %.2f s of it' % (
        page['shown'] / 1e3, page['shown'] / 1e3 / native, (page['shown'] - page['opening']) / 1e3))
    print('    memory of the WebAssembly    %8.0f MB' % (page['memory'] / 1e6))
    print('    ms a frame, median of %d      viewer   replay   operations' % page['runs'])
    for zoom in page['zooms']:
        print('      %-26s %7.1f  %7.1f   %8d' % (zoom['name'], zoom['viewer'], zoom['replay'], zoom['operations']),
              flush=True)


def main():
    try:
        browser = chromium(['chromium'])
    except Skip as reason:
        print('The page is not measured: %s.' % reason)
        return
    with tempfile.TemporaryDirectory(prefix='weft-bench-') as folder:
        traces = sys.argv[1:]
        for events in [] if traces else [10**6, 10**7]:
            traces.append(os.path.join(folder, 'random-%d.weft' % events))
            with open(traces[-1], 'wb') as file:
                subprocess.run([os.path.join(BUILD, 'bench', 'bench_trace'), str(events)], stdout=file, check=True)
        for trace in traces:
            report(trace, folder, browser)


main()
