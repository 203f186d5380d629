# SPDX-License-Identifier: ISC
"""weft render -o page.html in Chromium, from file:// and without a network, used as people do."""
import base64
import json
import os
import re
import shutil
from urllib.parse import quote

from browser import browse
from harness import BUILD, DATA, case, equal, main, run, skip, temporary_directory, weft
from traces import mirage

BLOCK = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')


def make_page(folder, *args, trace=BLOCK):
    path = os.path.join(folder, 'page.html')
    result = weft('render', trace, '-o', path, *args, status=None)
    if result.returncode == 1 and 'without the page' in result.stderr:
        skip(result.stderr.strip())
    equal(result.returncode, 0, result.stderr)
    return path


def use(steps, *args, trace=BLOCK, **options):
    """Steps on a page of a trace; each look, in order."""
    with temporary_directory() as folder:
        path = make_page(folder, *args, trace=trace)
        seen = browse('file://' + path, steps, title=os.path.basename(trace), **options)
        strange = [url for url in seen['requests'] if url != 'file://' + path and not url.startswith('blob:null/')]
        equal(strange, [], 'requests')
        return seen['results']


def ruler(look):
    """The times above the picture."""
    return re.findall(r'^\d+(?:\.\d+)? [mu]s$', look['text'], re.MULTILINE)


@case
def the_page_draws_its_trace_without_a_network():
    look, = use([['look']], offline=True)
    equal(look['opened']['events'], 3915)
    for words in 'mirage-block-read.sexp', '3,915 events', 'create XenStore':
        assert words in look['text'], look['text']
    equal(look['title'], 'mirage-block-read.sexp – weft')
    equal(look['focus'], 'canvas')


@case
def a_trace_of_millions_of_events_opens():
    """Long enough that it does not fit into the first attempt."""
    with temporary_directory() as folder:
        trace, events = os.path.join(folder, 'large.weft'), 3 * 1500000
        subject = [os.path.join(BUILD, 'tests', 'stream-subject'), os.path.join(folder, 'counters'), events // 3, 0]
        weft('record', '--size', '128M', '-o', trace, *subject, env={'XDG_RUNTIME_DIR': folder})
        look, = use([['look']], trace=trace)
    equal((look['opened']['events'], look['opened']['damage'], look['notice']), (events, [], ''))


@case
def the_wheel_zooms_and_keys_come_back():
    all_of_it, near, again = use([['look'], ['wheel', 500, 300, -300], ['move', 5, 5], ['look'], ['key', '0'], ['look']])
    assert len(ruler(near)) > 2 and ruler(near) != ruler(all_of_it), near['text']
    equal(ruler(again), ruler(all_of_it))


@case
def dragging_moves_the_trace():
    before, after = use([['wheel', 500, 300, -600], ['look'], ['drag', 500, 300, 300, 300], ['look']])
    assert float(ruler(after)[0].split()[0]) > float(ruler(before)[0].split()[0]), (before['text'], after['text'])


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
def the_theme_is_the_systems_by_default():
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
    assert 'gntref' in dropped['text'] and 'ethif.connect' in dropped['text'], dropped['text']


@case
def a_trace_of_chrome_with_two_processes_opens():
    """Its own bytes are in the page, and it can be dropped on a page of another trace."""
    names = [{'name': 'process_name', 'ph': 'M', 'pid': pid, 'args': {'name': name}} for pid, name in ((1, 'browser'), (2, 'renderer'))]
    slices = [{'name': 'paint', 'cat': 'c', 'ph': 'X', 'ts': 100 * i, 'dur': 80, 'pid': 1 + i % 2, 'tid': 1} for i in range(8)]
    chrome = json.dumps({'traceEvents': names + slices})
    with temporary_directory() as folder:
        path = os.path.join(folder, 'chrome.json')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(chrome)
        inside, = use([['look']], trace=path)
    dropped, = use([['drop', 'chrome.json', base64.b64encode(chrome.encode()).decode()], ['opened', 'chrome.json'], ['look']])
    for look in inside, dropped:
        equal(look['opened']['damage'], [])
        for words in 'browser', 'renderer', 'paint':
            assert words in look['text'], look['text']


VIEWS = """Array.from(document.querySelectorAll('iframe'), one => ({
    events: one.contentWindow.weft.opened.events, text: one.contentWindow.weft.text(), link: one.contentWindow.weft.link,
    notice: one.contentDocument.getElementById('notice-text').textContent}))"""


@case
def a_page_has_several_views_with_one_engine():
    """Links as `y` copies them, and as mail programs write them. A person may add text, and other views."""
    with temporary_directory() as folder:
        path = make_page(folder, '--view', '#view&start=12ms&duration=3ms', '--view', 'file:///x.html#view%26start%3D20ms%26duration%3D1ms')
        with open(path, encoding='utf-8') as file:
            page = file.read()
        equal([page.count('id="wasm"'), page.count('class="trace"')], [1, 2])  # an empty block ends the trace
        with open(path, 'w', encoding='utf-8') as file:
            file.write(page.replace('</figure>', '</figure><p>This is what happened.</p><iframe class="weft-view" data-view=""></iframe>', 1))
        seen = browse('file://' + path, [['evaluate', VIEWS], ['evaluate', 'document.body.innerText']], first=[['move', 5, 5]], offline=True)
        views, text = seen['results']
    assert 'This is what happened.' in text, text
    equal([view['events'] for view in views], [3915] * 3)
    equal([view['notice'] for view in views], [''] * 3)
    equal([ruler(view)[0] for view in views], ['12.0 ms', '0 ms', '20.0 ms'])


@case
def views_are_for_pages():
    with temporary_directory() as folder:
        for name, views, message in (('a.svg', 1, 'weft render: --view is for pages: -o OUT.html\n'), ('a.html', 33, 'weft render: --view: a page has 32 views at most\n')):
            result = weft('render', BLOCK, '-o', os.path.join(folder, name), *['--view', '#view'] * views, status=2)
            assert result.stderr.startswith(message), result.stderr
        for link, at, message in (
                ('bad%zz', 4, 'two hexadecimal digits are expected behind %'), ('#view&start=1%', 14, 'two hexadecimal'), ('start=12ms', 1, 'view is expected'),
                ('file:///x.html', 1, 'view is expected'), ('#view%26start', 9, 'a part such as start=12ms'), ('', 1, 'view is expected'), ('#mark', 2, 'view is')):
            said = weft('render', BLOCK, '-o', os.path.join(folder, 'a.html'), '--view', link, status=2).stderr
            assert message in said and 'at character %d of "%s"\n' % (at, link) in said, said
        weft('render', BLOCK, '-o', os.path.join(folder, 'a.html'), '--view', 'http://x/#trace=3&view&start=1ms&filter=a%25', '--view', '#fit')


def record_two(folder):
    """The traces of two programs, and their process names as the picture has them."""
    os.mkdir(folder)
    hello = os.path.join(BUILD, 'examples', 'hello')
    weft('record', '--size', '64K', '-o', folder + '/', '--', 'sh', '-c', '%s > /dev/null; %s > /dev/null' % (hello, hello))
    names = sorted(os.listdir(folder))
    return [os.path.join(folder, name) for name in names], ['hello ' + name[6:-5] for name in names]


def events_of(*files):
    return json.loads(weft('info', '--json', *files).stdout)['events']


@case
def several_files_are_one_page():
    with temporary_directory() as folder:
        files, processes = record_two(os.path.join(folder, 'both'))
        for operands, title in (([os.path.dirname(files[0])], 'both'), (files, os.path.basename(files[0]) + ' and 1 more')):
            page = make_page(folder, *operands[1:], '--group-by', 'process', '--no-fold', trace=operands[0])
            look, = browse('file://' + page, [['look']], title)['results']
            equal((look['opened']['events'], look['opened']['damage'], look['notice']), (events_of(*files), [], ''))
            for process in processes:
                assert process in look['text'], look['text']
        again, kept = browse('file://' + page, [['command', 'reload'], ['wait', 500], ['look'], ['command', 'export cut'],
                                                ['noticed'], ['look']], title)['results']
        equal(again['opened']['events'], events_of(*files))
        assert 'weft cut can' in kept['notice'], kept['notice']


@case
def chosen_files_are_one_trace_if_they_fit_together():
    with temporary_directory() as folder:
        files, _ = record_two(os.path.join(folder, 'both'))
        other = os.path.join(folder, 'other.weft')
        shutil.copy(files[0], other)
        with open(other, 'r+b') as file:
            file.seek(88)  # its uuid and its boot id
            file.write(b'another buffer!!another boot!!!!')
        host = os.path.join(folder, 'host.weft')
        shutil.copy(other, host)
        with open(other, 'r+b') as file:
            for reading in (136, 160, 184):  # without the time of day, it cannot be compared
                file.seek(reading + 16)
                file.write(bytes(8))
        title = os.path.basename(files[0]) + ' and 1 more'
        both, hosts, wrong, damaged = use([
            ['choose', files], ['opened', title], ['look'],
            ['choose', [files[0], host]], ['noticed'], ['look'], ['choose', [files[0], other]], ['message'], ['look'],
            ['press', 'Close'], ['choose', [files[0], BLOCK]], ['message'], ['look']])
        equal((both['opened']['events'], both['title']), (events_of(*files), title + ' – weft'))
        assert 'nothing aligns its clock' in hosts['notice'], hosts['notice']
        assert 'its clock counts from another boot than that of' in wrong['notice'], wrong['notice']
        equal(wrong['title'], both['title'])
        assert '%s: it does not say which boot its clock counts from' % os.path.basename(BLOCK) in damaged['notice']


@case
def damage_is_named_with_its_file():
    with temporary_directory() as folder:
        files, _ = record_two(os.path.join(folder, 'both'))
        with open(files[0], 'r+b') as file:
            file.truncate(20500)
        look, = use([['choose', files], ['opened', os.path.basename(files[0]) + ' and 1 more'], ['look']])
        equal(look['opened']['events'], events_of(files[1]))
    equal({line.split(':')[0] for line in look['opened']['damage']}, {os.path.basename(files[0])})
    assert os.path.basename(files[0]) + ': offset 0x' in look['notice'], look['notice']


@case
def other_files_are_refused_with_a_message():
    nonsense = base64.b64encode(b'nothing that anybody traced').decode()
    wrong, empty = use([['drop', 'letter.txt', nonsense], ['message'], ['look'],
                        ['press', 'Close'], ['drop', 'nothing', ''], ['message'], ['look']])
    assert 'letter.txt is not a trace' in wrong['notice'], wrong['notice']
    assert 'nothing is empty' in empty['notice'], empty['notice']
    assert '3,915 events' in empty['text'], 'the trace before stays: ' + empty['text']


# Text is set by other libraries: it is left out, with the room around it. What is left is a line or
# a bar of the same colour at the same position, except for the smoothing of edges.
@case
def pixels_are_those_of_the_png():
    draw = os.path.join(BUILD, 'tests', 'viewer-png')
    if not os.path.exists(draw):
        skip('built without cairo')
    for trace, theme, start, duration in ((BLOCK, 'light', '0ms', '12ms'), (ARP, 'dark', '10ms', '20ms'),
                                          (BLOCK, 'safe', '0ms', '161ms')):
        with temporary_directory() as folder:
            picture = os.path.join(folder, 'picture.png')
            result = run([draw, trace, picture, theme, '1000', '600', 'view start=%s duration=%s' % (start, duration)])
            equal(result.returncode, 0, result.stderr)
            with open(picture, 'rb') as file:
                reference = base64.b64encode(file.read()).decode()
        found, = use([['compare', reference]], '--theme', theme, '--start', start, '--duration', duration, trace=trace)
        assert found['compared'] > 200000, found
        assert found['different'] < found['compared'] / 2000, (trace, theme, found)
        assert found['drawn'] > 5000, found


@case
def a_link_brings_the_view_back():
    with temporary_directory() as folder:
        path = 'file://' + make_page(folder)
        title = os.path.basename(BLOCK)
        near, = browse(path, [['wheel', 500, 300, -300], ['move', 5, 5], ['linked'], ['look']], title)['results']
        assert near['hash'].startswith('#view&start='), near['hash']
        again, = browse(path + near['hash'], [['linked'], ['look']], title)['results']
        # As mail and chat programs write it.
        encoded, = browse(path + '#' + quote(near['hash'][1:], safe=''), [['look']], title)['results']
    equal((again['hash'], ruler(again)), (near['hash'], ruler(near)))
    equal(ruler(encoded), ruler(near))


@case
def the_view_can_be_chosen_beforehand():
    look, = use([['look']], '--start', '3ms', '--duration', '2ms')
    equal((ruler(look)[0], ruler(look)[-1]), ('3.0 ms', '4.8 ms'))
    near, = use([['look']], '--focus', '10', '--start', '3ms', '--duration', '2ms', height=300)
    far, = use([['look']], '--focus', 'task:12', '--start', '3ms', '--duration', '2ms', height=300)
    assert near['text'] != far['text']
    rows, = use([['wheel', 500, 300, -300], ['linked'], ['look']], '--no-fold', '--group-by', 'process')
    assert 'fold=off' in rows['hash'] and 'group=process' in rows['hash'], rows['hash']


@case
def idle_time_is_squeezed_by_a_key_an_option_and_a_link():
    def idle(look):
        return look['text'].split('\n').count('idle')
    before, squeezed, after = use([['look'], ['key', 'x'], ['linked'], ['look'], ['key', 'x'], ['wait', 100], ['look']], trace=ARP)
    assert 'squeeze=on' in squeezed['hash'] and '7 stripes' in squeezed['status'], (squeezed['hash'], squeezed['status'])
    equal((idle(before), idle(squeezed), idle(after)), (0, 7, 0))
    assert ruler(after) == ruler(before) != ruler(squeezed), ruler(squeezed)
    asked, = use([['look']], '--squeeze', '--start', '9ms', '--duration', '16ms', trace=ARP, width=1400)
    assert idle(asked) == 4 and ruler(asked)[0] == '9.0 ms', asked['text']
    with temporary_directory() as folder:
        path, title = 'file://' + make_page(folder, trace=ARP), os.path.basename(ARP)
        linked, hit = browse(path + '#view&start=9ms&duration=16ms&squeeze=on',
                             [['look'], ['click', 800, 392], ['look']], title, width=1400)['results']
    equal(ruler(linked), ruler(asked))
    assert hit['status'].startswith("bind 4192 'Gntshr.grant_access': 6.37 ms"), hit['status']


@case
def a_page_opens_with_the_rows_that_were_asked_for():
    seen, changed = use([['wheel', 500, 300, -30], ['linked'], ['look'], ['command', 'filter off'], ['key', '0'],
                         ['wait', 100], ['look']],
                        '--only', 'blkfront', '--hide', 'kind:wait', '--no-simplify')
    for part in 'filter=-kind:wait,blkfront', 'simplify=off':
        assert part in seen['hash'], seen['hash']
    assert 'blkfront.read' in seen['text'] and 'create XenStore' not in seen['text'], seen['text']
    assert 'create XenStore' in changed['text'], changed['text']


@case
def a_click_shows_a_tasks_story_and_links_jump():
    story, other, closed = use([['click', 300, 300], ['look'], ['press', 'What created it c'], ['look'],
                               ['press', 'Close the panel'], ['look']],
                              '--start', '0ms', '--duration', '12ms', width=1200)
    assert story['panel'].startswith('Task') and 'made by' in story['panel'], story['panel']
    assert 'task=' in story['hash'] or story['status'], story
    assert other['panel'] and other['panel'] != story['panel'], other['panel']
    equal((closed['panel'], closed['focus']), (None, 'canvas'))


def signal_trace(folder):
    """Two tasks in two rows; the first one signals the second one in the middle of the trace."""
    path = os.path.join(folder, 'signal.ctf')
    with open(path, 'wb') as file:
        file.write(mirage([(0, 'create', 0, 1, 1), (0, 'create', 0, 2, 1), (100000, 'switch', 1), (500000, 'signal', 2, 1),
                         (600000, 'switch', 2), (1000000, 'fulfil', 2, 1), (1000000, 'fulfil', 2, 2)]))
    return path


@case
def an_arrow_is_described_and_leads_to_its_other_end():
    with temporary_directory() as folder:
        trace = signal_trace(folder)
        pointed, head, tail = use([['move', 200, 235], ['move', 500, 235], ['wait', 200], ['look'], ['click', 500, 235],
                                   ['wait', 400], ['look'], ['key', 'Enter'], ['wait', 400], ['look']], trace=trace)
    assert pointed['status'].startswith('task 1 signals task 2 at 500 us. Click: go to task 2'), pointed['status']
    equal(pointed['cursor'], 'pointer')
    equal([look['panel'].split('\n')[2] for look in (head, tail)], ['task 2', 'task 1'])


@case
def search_finds_by_typing():
    found, gone = use([['key', '/'], ['type', 'enoent'], ['look'], ['key', 'Enter'], ['key', 'Escape'], ['look']])
    equal((found['prompt'], found['focus']), ('Search', 'line'))
    assert found['message'].startswith('2 '), found['message']
    equal((gone['prompt'], gone['focus']), (None, 'canvas'))


@case
def keys_typed_before_the_prompt_is_shown_go_into_it():
    keys = ['/', *'enoenk', 'Backspace', 't']
    line, found, entered = use([['burst', keys], ['evaluate', "document.getElementById('line').value"], ['look'],
                                ['key', 'Escape'], ['burst', [*keys, 'Enter']], ['look']])
    equal(line, 'enoent')
    equal((found['prompt'], found['focus']), ('Search', 'line'))
    assert found['message'].startswith('2 '), found['message']
    assert entered['status'].startswith('1 of 2'), entered


@case
def wasd_zooms_and_stays_chosen():
    whole, near, later = use([['look'], ['command', 'wasd on'], ['key', 'w'], ['wait', 600], ['look'], ['reload'],
                              ['opened', os.path.basename(BLOCK)], ['key', 'w'], ['wait', 600], ['look']])
    assert ruler(near) != ruler(whole) and ruler(later) != ruler(whole), (whole['text'], near['text'], later['text'])
    assert later['panel'] is None and later['status'] != 'Choose a task first.', later


@case
def problems_are_stepped_through_by_keys_alone():
    looks = use([['key', 'p'], ['look'], ['key', 'p'], ['look'], ['key', 'Tab'], ['wait', 50], ['look']])
    equal([look['status'][:4] for look in looks[:2]], ['1 of', '2 of'], looks)
    assert looks[2]['focus'] == 'canvas' and looks[2]['status'] != looks[1]['status'], looks[2]['status']


@case
def a_screen_reader_hears_what_is_selected():
    heard, = use([['key', 'p'], ['evaluate', """(() => {
        const live = document.querySelector('[aria-live]'), canvas = document.getElementById('canvas');
        return { live: live.textContent, described: canvas.getAttribute('aria-describedby') === live.id,
            label: canvas.getAttribute('aria-label'), named: Array.from(document.querySelectorAll('button, input'))
                .every(widget => widget.textContent || widget.labels?.length || widget.getAttribute('aria-label')) };
    })()"""]])
    assert re.match('1 of [0-9]: ', heard['live']) and heard['described'] and heard['named'], heard
    assert 'mirage-block-read' in heard['label'], heard


@case
def buttons_and_handles_are_used_by_tab_and_enter():
    focused = ['evaluate', """(() => { const at = document.activeElement, box = at.getBoundingClientRect();
        return { name: at.getAttribute('aria-label') || at.textContent, role: at.getAttribute('role') || at.tagName,
            value: at.getAttribute('aria-valuetext'), x: box.x, ring: getComputedStyle(at).outlineStyle }; })()"""]
    first, second, opened = use([['key', 'Tab'], focused, ['key', 'Tab'], focused, *[['key', 'Tab']] * 12, ['key', 'Enter'],
                                 ['wait', 100], focused])
    assert first['name'].startswith('Open') and second['name'].startswith('The view before'), (first, second)
    assert second['x'] > first['x'] and second['ring'] == 'solid', second
    assert opened['role'] == 'BUTTON' and 'Zoom in' in opened['name'], opened
    before, moved, look = use([*[['key', 'Tab']] * 15, focused, ['key', 'ArrowRight'], ['key', 'ArrowRight'], ['wait', 300],
                               focused, ['look']])
    equal((before['role'], before['name'], before['value']), ('slider', 'Start of the view', '0 ns'))
    assert moved['value'] not in ('0 ns', '') and moved['x'] > before['x'], moved
    assert 'start=' in look['hash'] or ruler(look), look


@case
def escape_leads_back_to_the_picture_from_everywhere():
    nonsense = base64.b64encode(b'nothing that anybody traced').decode()
    button, handle, listed, last = use([['key', 'Tab'], ['key', 'Tab'], ['key', 'Escape'], ['look'],
                                        *[['key', 'Tab']] * 15, ['key', 'Escape'], ['look'],
                                        ['command', 'panel problems'], ['key', 'Tab'], ['key', 'ArrowDown'], ['key', 'Escape'], ['look'],
                                        ['drop', 'letter.txt', nonsense], ['noticed'], ['key', 'Escape'], ['look']])
    equal([look['focus'] for look in (button, handle, listed, last)], ['canvas'] * 4)
    equal((listed['panel'], last['notice']), (None, ''))


@case
def two_fingers_zoom_and_one_moves():
    steps = [['touch', 'touchStart', [[1, 150, 300], [2, 250, 300]]]]
    steps += [['touch', 'touchMove', [[1, 150 - 10 * i, 300], [2, 250 + 10 * i, 300]]] for i in range(1, 9)]
    steps += [['touch', 'touchEnd', []], ['wait', 100], ['look'], ['touch', 'touchStart', [[3, 300, 300]]]]
    steps += [['touch', 'touchMove', [[3, 300 - 15 * i, 300]]] for i in range(1, 9)]
    steps += [['wait', 400], ['touch', 'touchEnd', []], ['wait', 100], ['look']]
    whole, pinched, moved = use([['look'], *steps], width=390, height=700, touch=True)
    assert len(ruler(pinched)) and ruler(pinched) != ruler(whole), (whole['text'], pinched['text'])
    assert float(ruler(moved)[0].split()[0]) > float(ruler(pinched)[0].split()[0]), (pinched['text'], moved['text'])
    equal(moved['notice'], '')


@case
def a_telephone_needs_no_keys():
    small = ['evaluate', """Array.from(document.querySelectorAll('#stage button, #stage input')).filter(at => at.offsetParent)
        .map(at => [at.getAttribute('aria-label') || at.textContent, at.getBoundingClientRect().height]).filter(at => at[1] < 40)"""]
    tap = [['touch', 'touchStart', [[1, 150, 680]]], ['touch', 'touchEnd', []], ['wait', 200]]
    problem = ['evaluate', "Array.from(document.querySelectorAll('#panel button')).find(at => at.textContent.includes('bind 81')).click()"]
    *before, problems, between, seen, after, asked, closed = [look for look in use(
        [small, *tap, small, ['look'],
         problem, ['wait', 200], small, ['look'], ['command', 'mark'], ['wait', 100], small, ['look'],
         ['press', 'Cancel'], ['press', 'Close the panel'], ['look']], width=390, height=700, touch=True, mobile=True)
        if look is not None]
    equal([*before, between, after], [[]] * 4)
    assert problems['panel'].startswith('Problems') and '1 of ' in seen['status'], (problems, seen)
    equal((asked['prompt'], closed['prompt'], closed['panel']), ('Note', None, None))


def swipe(x, y, x2, y2):
    """A finger, from one point to another, where it rests: a drag that is not thrown."""
    moves = [['touch', 'touchMove', [[1, x + (x2 - x) * i / 8, y + (y2 - y) * i / 8]]] for i in range(1, 9)]
    return [['touch', 'touchStart', [[1, x, y]]], *moves, ['wait', 100], ['touch', 'touchEnd', []], ['wait', 100]]


TABLETS = (1024, 768), (768, 1024)


def tablet(steps, size, **options):
    width, height = size
    return use(steps, width=width, height=height, touch=True, mobile=True, **options)


@case
def a_tablets_buttons_are_as_large_as_fingers():
    small = ['evaluate', """Array.from(document.querySelectorAll('#controls button')).map(at => at.getBoundingClientRect())
        .filter(box => box.width < 40 || box.height < 40).length"""]
    count = ['evaluate', "document.querySelectorAll('#controls button').length"]
    for size in *TABLETS, (390, 844), (320, 568):
        bar, smaller = tablet([count, small], size)
        equal(smaller, 0, size)
        equal(bar, 14 if size[0] > 480 else 8, size)
    # Buttons for which a telephone's bar has no room are in its menu.
    before, near, keys = tablet([['look'], ['tap', 'Menu'], ['tap', 'Zoom in'], ['tap', 'Zoom in'], ['look'], ['tap', 'Menu'],
                                 ['tap', 'Menu'], ['tap', 'All keys'], ['look']], (390, 844))
    assert ruler(near) and ruler(near) != ruler(before), near['text']
    assert keys['panel'].startswith('Keys'), keys['panel']


@case
def a_tablet_finds_by_fingers_alone():
    for size in TABLETS:
        width, height = size
        problem, other, found, second, first = tablet(
            [['tap', 'Problems'], ['tap', 'bind 81 failed'], ['look'], ['tap', 'Next'], ['look'],
             ['tap', 'Search'], ['type', 'enoent'], ['look'], ['tap', 'Accept'], ['tap', 'Next'], ['look'],
             ['tap', 'Previous'], ['look']], size)
        assert problem['status'].startswith('1 of ') and other['status'].startswith('2 of '), (problem, other)
        assert found['message'].startswith('2 ') and found['prompt'] == 'Search', found
        assert second['status'].startswith('2 of 2') and first['status'].startswith('1 of 2'), (second, first)
        # The keyboard on the screen takes half of it: the picture is still to be seen.
        typed, = tablet([['tap', 'Search'], ['resize', width, height // 2], ['type', 'blkfront'], ['look']], size)
        equal(typed['canvas'], [width, height // 2])
        assert typed['prompt'] == 'Search' and typed['message'].startswith('103 ') and 'create XenStore' in typed['text'], typed


@case
def a_tablet_reads_stories_by_fingers_alone():
    start = ['--start', '0ms', '--duration', '12ms']
    press = [['touch', 'touchStart', [[1, 300, 250]]], ['says', 'status', 'made by'], ['look'], ['touch', 'touchEnd', []]]
    width, height = TABLETS[0]
    pressed, story, related, chain, out = use(
        [*press, ['touch', 'touchStart', [[1, 300, 250]]], ['touch', 'touchEnd', []], ['says', 'panel', 'made by'], ['look'],
         ['tap', 'All tasks that are related'], ['look'], ['tap', 'What created it'], ['look'], ['tap', 'Close'], ['look']],
        *start, width=width, height=height, touch=True, mobile=True)
    assert pressed['panel'] is None and 'made by' in pressed['status'], pressed['status']
    assert story['panel'].startswith('Task') and 'made by' in story['panel'], story
    assert 'belong' in related['status'], related['status']
    assert chain['panel'] != story['panel'] and out['panel'] is None, chain['panel']


@case
def a_tablet_measures_and_bookmarks_by_fingers_alone():
    whole, measured, near, again = tablet(
        [['look'], ['tap', 'Choose a range'], *swipe(300, 400, 500, 400), ['look'], ['tap', 'Zoom to the range'], ['look'],
         ['tap', 'The view before'], ['look']], TABLETS[0])
    assert ' from ' in measured['status'] and ruler(near) != ruler(whole), measured['status']
    equal(ruler(again)[:len(ruler(whole))], ruler(whole))  # and the length of the range
    marked, changed, gone = tablet(
        [['tap', 'Menu'], ['tap', 'Set a bookmark'], ['type', 'the spot'], ['tap', 'Accept'], ['tap', 'All bookmarks'],
         ['look'], ['tap', 'the spot'], ['tap', 'Change its note'], ['type', 'another'], ['tap', 'Accept'], ['look'],
         ['tap', 'Remove it'], ['look']], TABLETS[1])
    assert 'the spot' in marked['panel'] and 'another' in changed['panel'], (marked['panel'], changed['panel'])
    assert 'No bookmarks' in gone['panel'], gone['panel']
    moved, = tablet([['command', 'zoom in'], ['command', 'zoom in'], *swipe(512, 66, 700, 66), ['look']], TABLETS[0])
    assert ruler(moved) and ruler(moved) != ruler(whole), moved['text']


@case
def a_tablet_changes_the_look_by_fingers_alone():
    counters, plain, filtered, exact, dark = tablet(
        [['tap', 'Counters'], ['tap', 'Show how fast'], ['tap', 'Show counters'], ['linked'], ['look'],
         ['tap', 'Rows'], ['tap', 'Plain'], ['tap', 'Groups by thread'], ['tap', 'Fold all'], ['linked'], ['look'],
         ['tap', 'Show or hide'], ['type', 'Gntshr'], ['tap', 'Accept'], ['linked'], ['look'],
         ['tap', 'Menu'], ['tap', 'Begin at an exact time'], ['key', 'Control+a'], ['type', '3ms'], ['tap', 'Accept'],
         ['tap', 'Show an exact length'], ['key', 'Control+a'], ['type', '2ms'], ['tap', 'Accept'], ['look'],
         ['tap', 'Dark'], ['tap', 'Export'], ['tap', 'Save the picture as SVG'], ['wait', 300], ['look']], TABLETS[1], trace=ARP)
    assert 'counters=off' in counters['hash'] and 'rates=on' in counters['hash'], counters['hash']
    for part in 'rows=plain', 'group=thread', 'fold=off':
        assert part in plain['hash'], plain['hash']
    assert 'filter=Gntshr' in filtered['hash'], filtered['hash']
    equal(ruler(exact)[0], '3.0 ms')
    equal(dark['background'], 'rgb(22, 25, 29)')


@case
def a_theme_is_the_readers_once_one_is_chosen():
    theme = ['evaluate', "localStorage.getItem('weft theme')"]
    with temporary_directory() as folder:
        path = 'file://' + make_page(folder, '--theme', 'dark')
        title = os.path.basename(BLOCK)
        first, kept, own, again = browse(path, [
            ['look'], theme, ['key', 'T'], theme, ['reload'], ['opened', title], ['look']], title)['results']
        asked, none = browse(path + '#view&theme=safe-dark', [['look'], theme], title)['results']
    equal((first['background'], kept, own), ('rgb(22, 25, 29)', None, 'safe'))
    equal(again['background'], 'rgb(250, 250, 248)')
    equal((asked['background'], none), ('rgb(20, 23, 26)', None))


@case
def opening_a_link_stores_nothing_and_makes_nothing():
    state = ['evaluate', """({ stored: Object.entries(localStorage), copied: window.weft.copied || null,
        prompt: !document.getElementById('prompt').hidden, notice: document.getElementById('notice-text').textContent })"""]
    title = os.path.basename(BLOCK)
    commands = ['mark', 'theme&dark', 'export&png', 'copy&link', 'unmark&1', 'viewmark', 'fit']
    with temporary_directory() as folder:
        path = 'file://' + make_page(folder)
        led = [step for command in commands for step in
               (['evaluate', 'location.hash = "#%s"' % command], ['wait', 300], state)]
        seen = browse(path + '#mark', [['wait', 300], state, *led], title)
        opened = seen['results'][0]
        for command, one in zip(['mark', *commands], [opened, *seen['results'][2::2]]):
            assert (command.replace('&', ' ') in one['notice']) == (command != 'fit'), (command, one)
            equal((one['stored'], one['copied'], one['prompt']), ([], None, False), command)
        equal(seen['downloads'], [])
        # Stores by hand what the first command would have stored.
        by_hand, = browse(path, [['key', 'm'], ['wait', 100], state], title)['results']
        assert by_hand['prompt'] and by_hand['stored'][0][0] == 'weft notes ' + title, by_hand


@case
def links_and_pictures_go_out():
    with temporary_directory() as folder:
        path = 'file://' + make_page(folder)
        seen = browse(path, [['key', 'y'], ['wait', 100], ['look'], ['key', 'Y'], ['wait', 100], ['look'],
                             ['command', 'export svg'], ['wait', 300], ['command', 'export png'], ['wait', 500]],
                      title=os.path.basename(BLOCK), permissions=['clipboard-read', 'clipboard-write'])
    link, command = seen['results']
    assert link['clipboard'].startswith(path + '#view&start='), link['clipboard']
    assert command['clipboard'].startswith('weft render'), command['clipboard']
    (svg, drawn), (png, pixels) = seen['downloads']
    assert svg == 'mirage-block-read.svg' and drawn.startswith('<svg') and 'blkfront.read' in drawn, drawn[:200]
    assert png == 'mirage-block-read.png' and pixels.startswith('\x89PNG'), png


@case
def a_part_goes_out_as_a_trace():
    with temporary_directory() as folder:
        seen = browse('file://' + make_page(folder), [['command', 'view start=2ms duration=5ms'], ['wait', 300],
                                                      ['command', 'export cut'], ['wait', 1500]])
        (name, content), = seen['downloads']
        equal(name, 'mirage-block-read-cut.weft')
        path = os.path.join(folder, name)
        with open(path, 'wb') as file:
            file.write(content.encode('latin1'))
        part = weft('dump', '--json', path)
        equal(part.stderr, '')
        lines = part.stdout.splitlines()
        kept = [line for line in lines if '"rundown":true' not in line]
        whole = weft('dump', '--json', BLOCK).stdout.splitlines()
        first = whole.index(kept[0])
        equal(kept, whole[first:first + len(kept)])
        assert 100 < len(kept) < len(whole) / 2 and len(lines) > len(kept), (len(kept), len(lines))


@case
def bookmarks_are_there_when_the_page_is_opened_again():
    with temporary_directory() as folder:
        path = 'file://' + make_page(folder)
        seen = browse(path, [['move', 400, 300], ['key', 'm'], ['type', 'the spot'], ['key', 'Enter'], ['reload'],
                             ['opened', os.path.basename(BLOCK)], ['key', 'M'], ['look']], title=os.path.basename(BLOCK))
    assert 'the spot' in seen['results'][0]['panel'], seen['results'][0]


@case
def titles_and_names_cannot_become_markup():
    with temporary_directory() as folder:
        trace = os.path.join(folder, '<img src=x onerror=alert(1)>&<!-- "\'\\.sexp')
        shutil.copy(BLOCK, trace)
        look, = use([['look']], trace=trace)
    assert look['title'].startswith('<img src=x'), look['title']


main()
