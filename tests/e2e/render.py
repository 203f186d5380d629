# SPDX-License-Identifier: ISC
"""weft render: files that other programs open, and what happens if they cannot be written."""
import os
import re
import shutil
import struct
import sys
import xml.etree.ElementTree as xml
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import DATA, SOURCE, case, equal, main, skip, temporary_directory, weft  # noqa: E402

BLOCK = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
SVG = '{http://www.w3.org/2000/svg}'


def render(*args, trace=BLOCK, **options):
    return weft('render', trace, *args, **options)


def svg(*args, **options):
    return xml.fromstring(render('-o', '-', '--format', 'svg', *args, **options).stdout)


def texts(root):
    return [element.text for element in root.iter(SVG + 'text')]


def png(*args, **options):
    result = render('-o', '-', '--format', 'png', *args, text=False, status=None, **options)
    if result.returncode == 1 and b'without cairo' in result.stderr:
        skip('built without cairo')
    equal(result.returncode, 0)
    return result.stdout


def png_pixels(data):
    """(width, height, rows of RGB bytes) of the PNG that cairo writes."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, packed = 8, b''
    while at < len(data):
        size, = struct.unpack('>I', data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        if kind == b'IHDR':
            width, height, depth, color = struct.unpack('>IIBB', body[:10])
            equal((depth, color), (8, 2))
        if kind == b'IDAT':
            packed += body
        at += 12 + size
    raw, stride, rows, before = zlib.decompress(packed), 3 * width, [], bytes(3 * width)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a = line[i - 3] if i >= 3 else 0
            b, c = before[i], before[i - 3] if i >= 3 else 0
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + [0, a, b, (a + b) // 2, paeth][kind]) & 255
        rows.append(bytes(line))
        before = rows[-1]
    return width, height, rows


@case
def an_svg_is_a_document_with_names_to_find():
    root = svg('--duration', '12ms')
    equal((root.get('width'), root.get('height')), ('1400', '800'))
    shown = texts(root)
    for name in 'create XenStore', 'blkfront.enumerate', 'Xs_protocol.Enoent("read")', 'wait 10':
        assert name in shown, name
    titles = [element.text for element in root.iter(SVG + 'title')]
    assert any(t.startswith("try 12 'blkfront.enumerate': 508 us") for t in titles), titles[:9]


@case
def long_idle_times_are_squeezed():
    def ticks(root):
        return [text for text in texts(root) if re.fullmatch(r'[0-9.]+ m?s', text or '')]
    plain, squeezed = svg(), svg('--squeeze')
    assert 'idle' not in texts(plain) and texts(squeezed).count('idle') == 3, texts(squeezed)
    assert '100' in texts(squeezed) and '100 ms' not in ticks(squeezed), ticks(squeezed)
    # A range has the times that were asked for.
    equal(ticks(svg('--squeeze', '--start', '10ms', '--duration', '130ms'))[0], '10 ms')
    equal(texts(svg('--squeeze', '--duration', '12ms')).count('idle'), 0)


@case
def the_same_picture_twice_is_the_same_bytes():
    equal(render('-o', '-', '--format', 'svg').stdout, render('-o', '-', '--format', 'svg').stdout)


@case
def a_png_has_the_size_and_the_colours():
    width, height, rows = png_pixels(png('--width', '320', '--height', '200', '--theme', 'dark'))
    equal((width, height), (320, 200))
    equal(rows[199][-3:], b'\x16\x19\x1d', 'background')
    colours = {row[i:i + 3] for row in rows for i in range(0, len(row), 3)}
    assert b'\xff\xff\xff' in colours, 'running tasks'


@case
def themes_differ():
    pictures = {render('-o', '-', '--format', 'svg', '--theme', theme).stdout
                for theme in ('light', 'dark', 'safe', 'safe-dark')}
    equal(len(pictures), 4)


@case
def counters_and_signals_are_named():
    shown = texts(svg(trace=ARP))
    for name in 'gntref', 'tcp-to-ip', 'tcp-ackd-segs', 'signal', 'try_read', 'TCP connect':
        assert name in shown, name
    narrow = texts(svg('--width', '320', trace=ARP))
    assert 'gntref' in narrow, narrow


@case
def counters_have_lanes_or_lie_over_tasks_or_are_left_out():
    lanes = texts(svg(trace=ARP))
    equal(lanes, texts(svg('--counters', 'lanes', trace=ARP)))
    over = texts(svg('--counters', 'overlay', trace=ARP))
    assert 'gntref' in over and 'gntref=504' in over and 'gntref=504' not in lanes, over
    none = texts(svg('--counters', 'none', trace=ARP))
    assert 'gntref' not in none and 'gntref=504' in none, none
    weft('render', ARP, '-o', '-', '--format', 'svg', '--counters', 'x', status=2)


@case
def without_simplification_binds_start_where_they_were_created():
    assert svg('--no-simplify') is not None
    assert render('-o', '-', '--format', 'svg').stdout != render(
        '-o', '-', '--format', 'svg', '--no-simplify').stdout


@case
def focus_moves_the_lens():
    first = render('-o', '-', '--format', 'svg', trace=ARP).stdout
    row = render('-o', '-', '--format', 'svg', '--focus', '42', trace=ARP).stdout
    task = render('-o', '-', '--format', 'svg', '--focus', 'task:4526', trace=ARP).stdout
    assert len({first, row, task}) == 3
    for wrong in ('999', '-1', 'x', 'task:', 'task:99999', 'task:x'):
        weft('render', ARP, '-o', '-', '--format', 'svg', '--focus', wrong, status=2)


def alike(count):
    """A trace, as sexp: main makes `count` grants one after the other; the fourth fails, one takes long."""
    events = [(0, '(Switch 0)'), (0, '(Label 0 main)')]
    for i in range(count):
        start = 1000 + 100 * i
        end = start + (5000 if i == 300 else 60 + i % 3)
        events += [(start, '(Creates 0 %d Task)' % (i + 1)), (start, '(Label %d "grant %d")' % (i + 1, i)),
                   (end, '(Resolves 0 %d %s)' % (i + 1, '("no room")' if i == 3 else '()'))]
    return ''.join('((time 0.%09d)(op %s))' % event for event in sorted(events, key=lambda e: e[0]))


@case
def alike_tasks_fold_into_one_row_and_the_special_ones_stay_out():
    with temporary_directory() as directory:
        path = os.path.join(directory, 'alike.sexp')
        with open(path, 'w') as trace:
            trace.write(alike(514))
        shown = texts(svg(trace=path))
        assert 'grant # \u00d7512' in shown, shown
        assert 'p50 61 ns  max 62 ns' in shown, shown
        assert 'no room' in shown and 'grant 300' in shown, shown
        titles = [element.text for element in svg(trace=path).iter(SVG + 'title')]
        assert any(t.startswith('512 \u00d7 grant #: p50 61 ns') for t in titles), titles
        assert not any('\u00d7' in text for text in texts(svg('--no-fold', trace=path)))


@case
def rows_are_grouped_by_thread():
    with temporary_directory() as directory:
        trace = os.path.join(directory, 'threads.weft')
        program = os.path.join(os.environ['WEFT_BUILD'], 'examples', 'threads')
        weft('record', '-o', trace, program)
        shown = texts(svg('--group-by', 'thread', trace=trace))
        for name in 'threads', 'worker 1', 'worker 2':
            assert name in shown, shown
        assert any(text.endswith(' %') for text in shown), shown
        narrow = texts(svg('--group-by', 'thread', '--width', '400', trace=trace))
        assert 'worker 1' in narrow, narrow
        equal(render('-o', '-', '--format', 'svg', '--group-by', 'process', trace=trace).stdout,
              render('-o', '-', '--format', 'svg', trace=trace).stdout, 'one process is no group')
        render('-o', '-', '--format', 'svg', '--group-by', 'colour', trace=trace, status=2)


@case
def tasks_hide_by_label_and_kind():
    plain = texts(svg('--duration', '12ms'))
    assert 'blkfront.enumerate' in plain and 'create XenStore' in plain
    hidden = texts(svg('--duration', '12ms', '--hide', 'blkfront', '--hide', 'kind:wait'))
    assert 'create XenStore' in hidden
    assert not any('blkfront' in text or text.startswith('wait ') for text in hidden), hidden
    only = texts(svg('--duration', '12ms', '--only', 'blkfront'))
    assert 'blkfront.enumerate' in only and 'create XenStore' not in only, only
    assert 'All tasks are hidden.' in texts(svg('--only', 'no such label'))
    for wrong in (['--hide', ''], ['--hide', 'kind:nonsense'], ['--only', 'x'] * 33,
                  ['--only', 'no such label', '--focus', 'task:10']):
        weft('render', BLOCK, '-o', '-', '--format', 'svg', *wrong, status=2)


@case
def absolute_times_are_those_of_dump():
    relative = render('-o', '-', '--format', 'svg', '--start', '5ms', '--duration', '1ms').stdout
    start = int(weft('info', '--json', BLOCK).stdout.split('"start":')[1].split(',')[0])
    absolute = render('-o', '-', '--format', 'svg', '--start', '@%d' % (start + 5000000),
                      '--duration', '1ms').stdout
    equal(absolute, relative)


@case
def wrong_use_is_explained():
    for arguments, words in [
            ([], '-o OUT is missing'),
            (['-o', '-'], 'needs --format'),
            (['-o', 'x.gif'], 'unknown suffix'),
            (['-o', 'x'], 'unknown suffix'),
            (['-o', 'x.svg', '--format', 'gif'], 'is unknown'),
            (['-o', 'x.svg', '--theme', 'pink'], 'is unknown'),
            (['-o', 'x.svg', '--width', '0'], '--width'),
            (['-o', 'x.svg', '--width', '99999999'], '--width'),
            (['-o', 'x.svg', '--height', 'tall'], '--height'),
            (['-o', 'x.png', '--width', '32000', '--height', '32000'], 'too large'),
            (['-o', 'x.svg', '--start', '12'], '--start'),
            (['-o', 'x.svg', '--start', '10s'], 'outside the trace'),
            (['-o', 'x.svg', '--start', '@1'], 'outside the trace'),
            (['-o', 'x.svg', '--duration', '0ms'], '--duration'),
            (['-o', 'x.svg', '--frame'], 'unknown option')]:
        result = render(*arguments, status=2)
        assert words in result.stderr, (arguments, result.stderr)
        assert not os.path.exists('x.svg')
    weft('render', '/nowhere', '-o', 'x.svg', status=3)
    assert 'usage: weft render' in weft('render', '--help').stdout


@case
def a_file_appears_whole_or_not_at_all():
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out.svg')
        with open(out, 'w') as file:
            file.write('old')
        render('-o', out)
        equal(os.listdir(folder), ['out.svg'])
        xml.parse(out)
        given = os.stat(BLOCK).st_mode | 0o600
        equal(os.stat(out).st_mode & 0o777, 0o666 & ~current_umask() & given)
        missing = render('-o', os.path.join(folder, 'no', 'out.svg'), status=1)
        assert 'No such file' in missing.stderr
        render('-o', folder + '/.svg/..', '--format', 'svg', status=1)
        equal(os.listdir(folder), ['out.svg'])


@case
def the_trace_is_never_replaced_by_its_picture():
    with temporary_directory() as folder:
        trace, link = os.path.join(folder, 'trace.svg'), os.path.join(folder, 'link.svg')
        shutil.copy(BLOCK, trace)
        os.symlink('trace.svg', link)
        for inputs, out in (([trace], trace), ([trace], link), ([BLOCK, trace], trace)):
            result = weft('render', *inputs, '-o', out, status=1)
            equal(result.stderr, 'weft: refusing to replace the trace %s by a picture of it\n' % out)
        with open(trace, 'rb') as copy, open(BLOCK, 'rb') as original:
            equal(copy.read(), original.read())


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@case
def a_full_disk_is_noticed():
    result = weft('render', BLOCK, '-o', '/dev/full', '--format', 'svg', status=1)
    assert 'No space left' in result.stderr


@case
def hostile_labels_stay_text():
    labels = ['</text><script>alert(1)</script>', '"&amp;<>\'', '\x01\x1b[31m', '\u202etxt', 'x' * 5000]
    lines = ['((time 1.0)(op(Creates 0 1 Task)))']
    lines += ['((time 1.%d)(op(Label %d %s)))' % (n + 1, n, '"%s"' % label.replace('"', '\\"'))
              for n, label in enumerate(labels)]
    lines.append('((time 9.0)(op(Resolves 0 1 ("Oops(\\"<&>\\")"))))')
    trace = '\n'.join(lines) + '\n'
    root = xml.fromstring(weft('render', '-', '-o', '-', '--format', 'svg', input=trace).stdout)
    equal({element.tag for element in root.iter()} & {SVG + 'script', SVG + 'foreignObject'}, set())
    assert any('</text><script>' in (t or '') for t in texts(root)), texts(root)
    assert any((t or '').startswith('xxx') and t.endswith('\u2026') for t in texts(root))


@case
def a_trace_without_tasks_is_a_sentence():
    result = weft('render', '-', '-o', '-', '--format', 'svg', input='((time 1.0)(op(Gc 0.1)))\n')
    assert any('no tasks' in (t or '') for t in texts(xml.fromstring(result.stdout)))


# Traces whose times are as far apart as 64 bits allow: a loop over nanoseconds or ticks would take years. A clock that goes back is
# no distance: the events keep their order.
FAR_APART = {'sexp/render-hang': 'the clock was set back', 'sexp/render-hang-2-lines': 'more than 2^58 ns',
             'sexp/numbers.sexp': 'the clock was set back', 'mirage_ctf/time-wide': 'the clock goes back'}


@case
def the_page_is_one_small_file():
    html = render('-o', '-', '--format', 'html', status=None)
    if html.returncode == 1 and 'without the page' in html.stderr:
        skip(html.stderr.strip())
    page = html.stdout
    assert ' src=' not in page and '<link rel="stylesheet"' not in page
    assert "default-src 'none'" in page and '<noscript>' in page
    assert '<title>mirage-block-read.sexp</title>' in page
    trace = sum(len(part.split('</script>')[0]) for part in page.split('class="trace">')[1:])
    if not shutil.which('zopfli') or not shutil.which('wasm-opt'):
        skip('without zopfli or wasm-opt the page is larger')
    assert trace and len(page) - trace <= 580000, (len(page), trace)


@case
def times_that_are_centuries_apart_are_drawn():
    for name, words in FAR_APART.items():
        trace = os.path.join(SOURCE, 'fuzz', 'corpus', name)
        result = render('-o', '-', '--format', 'svg', trace=trace)
        xml.fromstring(result.stdout)
        assert words in result.stderr, result.stderr
        html = render('-o', '-', '--format', 'html', trace=trace, status=None)
        assert html.returncode == 0 or 'without' in html.stderr, html.stderr
    for name in FAR_APART:
        png(trace=os.path.join(SOURCE, 'fuzz', 'corpus', name))


@case
def one_damaged_time_leaves_the_picture_as_it_was():
    """One event in the middle, from a minute to centuries too late or decades too early."""
    with open(BLOCK, encoding='utf-8') as file:
        lines = file.read().splitlines(True)
    ruler = [text for text in texts(svg()) if text and text.endswith(' ms')]
    assert len(ruler) > 3, ruler
    middle = len(lines) // 2
    head, seconds, tail = re.match(r'(\(\(time )(\d+)(.*)', lines[middle], re.DOTALL).groups()
    for wrong in (int(seconds) + 60, int(seconds) + 86400, int(seconds) + 10 ** 8, 18446744072, 1):
        lines[middle] = head + str(wrong) + tail
        with temporary_directory() as folder:
            trace = os.path.join(folder, 'bad.sexp')
            with open(trace, 'w', encoding='utf-8') as file:
                file.writelines(lines)
            result = render('-o', '-', '--format', 'svg', trace=trace)
        assert 'replaced by the one before' in result.stderr, result.stderr
        equal([text for text in texts(xml.fromstring(result.stdout)) if text and text.endswith(' ms')], ruler, wrong)


main()
