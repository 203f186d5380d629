# SPDX-License-Identifier: ISC
"""weft render -o page.html in Chromium, from file:// and without a network, used as people do."""
import base64
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import BUILD, DATA, case, equal, main, run, skip, temporary_directory, weft  # noqa: E402

BLOCK = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
NPM = os.path.join(BUILD, 'npm')
PLAYWRIGHT = 'playwright-core@1.65.1'
DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'page.mjs')


def chromium():
    """The browser, with what drives it; skips the case if one of them is not to be had."""
    for tool, package in (('chromium', 'chromium'), ('node', 'nodejs')):
        if not shutil.which(tool):
            skip('%s is not installed' % package)
    if not os.path.exists(os.path.join(NPM, 'node_modules', 'playwright-core')):
        if not shutil.which('npm'):
            skip('npm is not installed')
        os.makedirs(NPM, exist_ok=True)
        result = run(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', NPM, PLAYWRIGHT])
        if result.returncode:
            skip('npm could not get %s' % PLAYWRIGHT)
    return shutil.which('chromium')


def make_page(folder, *args, trace=BLOCK):
    path = os.path.join(folder, 'page.html')
    result = weft('render', trace, '-o', path, *args, status=None)
    if result.returncode == 1 and 'without the page' in result.stderr:
        skip(result.stderr.strip())
    equal(result.returncode, 0, result.stderr)
    return path


def browse(url, steps, title=os.path.basename(BLOCK), loud=False, **options):
    """What page.mjs has seen. Whatever a page does, it may not complain on the console."""
    ask = dict(options, chromium=chromium(), url=url, steps=steps, title=title)
    result = run(['node', DRIVER], input=json.dumps(ask), env={'WEFT_NPM': NPM})
    equal(result.returncode, 0, result.stderr)
    seen = json.loads(result.stdout)
    assert 'failed' not in seen, seen['failed'] + '\n' + repr(seen)
    if not loud:
        equal(seen['console'], [])
    return seen


def use(steps, *args, trace=BLOCK, **options):
    """Steps on a page of a trace; each look, in order."""
    with temporary_directory() as folder:
        path = make_page(folder, *args, trace=trace)
        seen = browse('file://' + path, steps, title=os.path.basename(trace), **options)
        strange = [url for url in seen['requests'] if url != 'file://' + path and not url.startswith('blob:null/')]
        equal(strange, [], 'requests')
        return seen['results']


@case
def the_page_is_one_small_file():
    with temporary_directory() as folder:
        with open(make_page(folder), encoding='utf-8') as file:
            page = file.read()
    trace = sum(len(part.split('</script>')[0]) for part in page.split('class="trace">')[1:])
    assert trace and len(page) - trace <= 500000, (len(page), trace)
    assert ' src=' not in page and '<link rel="stylesheet"' not in page
    assert "default-src 'none'" in page and '<noscript>' in page
    assert '<title>mirage-block-read.sexp</title>' in page


@case
def the_page_draws_its_trace_without_a_network():
    look, = use([['look']], offline=True)
    equal(look['opened']['events'], 3915)
    for words in 'mirage-block-read.sexp', '3,915 events', 'create XenStore':
        assert words in look['text'], look['text']
    equal(look['title'], 'mirage-block-read.sexp – weft')
    equal(look['focus'], 'canvas')


@case
def the_wheel_zooms_and_keys_come_back():
    all_of_it, near, again = use([['look'], ['wheel', 500, 300, -300], ['look'], ['key', '0'], ['look']])
    assert near['text'] != all_of_it['text']
    equal(again['text'], all_of_it['text'])


@case
def dragging_moves_the_trace():
    before, after = use([['wheel', 500, 300, -600], ['look'], ['drag', 500, 300, 300, 300], ['look']])
    assert before['text'] != after['text']


@case
def a_page_can_be_resized():
    looks = use([['look'], ['resize', 390, 700], ['look'], ['resize', 1600, 1000], ['look']])
    equal([look['canvas'][0] for look in looks], [1000, 390, 1600])
    equal([look['overflow'] for look in looks], [False] * 3)


@case
def pixels_are_the_screens():
    look, = use([['look']], scale=2, width=800)
    equal(look['canvas'][0], 1600)


@case
def the_theme_is_the_systems_unless_told():
    equal(use([['look'], ['scheme', 'dark'], ['look']])[0]['background'], 'rgb(247, 247, 245)')
    equal(use([['look']], scheme='dark')[0]['background'], 'rgb(22, 25, 29)')
    equal(use([['look']], '--theme', 'light', scheme='dark')[0]['background'], 'rgb(247, 247, 245)')


@case
def dropped_and_chosen_files_open():
    with open(ARP, 'rb') as file:
        bytes_of_arp = base64.b64encode(file.read()).decode()
    dropped, chosen = use([['drop', 'arp.ctf', bytes_of_arp], ['opened', 'arp.ctf'], ['look'],
                           ['choose', ARP], ['opened', os.path.basename(ARP)], ['look']])
    equal([dropped['opened']['events'], chosen['opened']['events']], [2954, 2954])
    assert 'gntref' in dropped['text'] and 'TCP connect' in dropped['text'], dropped['text']


@case
def what_is_no_trace_says_so():
    nonsense = base64.b64encode(b'nothing that anybody traced').decode()
    wrong, empty = use([['drop', 'letter.txt', nonsense], ['said'], ['look'],
                        ['press', 'Close'], ['drop', 'nothing', ''], ['said'], ['look']])
    assert 'letter.txt is no trace' in wrong['notice'], wrong['notice']
    assert 'nothing is empty' in empty['notice'], empty['notice']
    assert '3,915 events' in empty['text'], 'the trace before stays: ' + empty['text']


# Text is set by other libraries: it is left out, with the room around it. What is left is a line or
# a bar of the same colour at the same place, but for the smoothing of edges.
@case
def pixels_are_those_of_the_png():
    for trace, theme, start, duration in ((BLOCK, 'light', '0ms', '161.8ms'), (ARP, 'dark', '0ms', '48.11ms'),
                                          (BLOCK, 'safe', '0ms', '161.8ms')):
        args = ['--theme', theme, '--start', start, '--duration', duration]
        with temporary_directory() as folder:
            picture = os.path.join(folder, 'picture.png')
            result = weft('render', trace, '-o', picture, *args, '--width', '1000', '--height', '600', status=None)
            if result.returncode == 1 and 'without cairo' in result.stderr:
                skip('built without cairo')
            with open(picture, 'rb') as file:
                reference = base64.b64encode(file.read()).decode()
        found, = use([['compare', reference]], *args, trace=trace)
        assert found['compared'] > 200000, found
        assert found['different'] < found['compared'] / 200, (trace, theme, found)
        assert found['drawn'] > 10000, found


@case
def titles_and_names_cannot_become_markup():
    with temporary_directory() as folder:
        trace = os.path.join(folder, '<img src=x onerror=alert(1)>&<!-- "\'\\.sexp')
        shutil.copy(BLOCK, trace)
        look, = use([['look']], trace=trace)
    assert look['title'].startswith('<img src=x'), look['title']


main()
