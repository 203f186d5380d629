# SPDX-License-Identifier: ISC
"""weft view: windows on a virtual screen, used with a real pointer and real keys."""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from desktop import Picture, program, screen, xdotool  # noqa: E402
from harness import BUILD, DATA, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft  # noqa: E402
from outside_look import compiled, running  # noqa: E402
from traces_of_hosts import streams_of_two  # noqa: E402
from waiting import GaveUp, wait_until  # noqa: E402
from xen_traces import capture, unpack  # noqa: E402

BLOCK = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')


@case
def a_saved_picture_is_what_is_seen():
    with screen(), program(BLOCK) as viewer, temporary_directory() as folder:
        window = viewer.window('mirage-block-read.sexp')
        whole = window.still()
        window.mouse('move', 1200, 400, 'click', 4, 'click', 4)
        window.changed(whole)
        window.mouse('move', 5, 805)
        window.keys('e')
        window.part('push button', 'PNG')
        before = window.still()
        for kind, name in (('PNG', 'seen.png'), ('SVG', 'seen.svg')):
            window.press(kind)
            path = os.path.join(folder, name)
            viewer.window('Save').save_as(path)
        saved = Picture.of_file(os.path.join(folder, 'seen.png'))
        title = 28  # px: the window shows it in its header bar
        height = saved.height - title - 30
        equal(before.part(0, 0, saved.width, height).difference(saved.part(0, title, saved.width, height)), 0.0)
        words = [''.join(text.itertext()) for text in xml.parse(os.path.join(folder, 'seen.svg')).getroot().iter() if text.tag.endswith('text')]
        assert 'mirage-block-read.sexp' in words, words
        equal(xml.parse(os.path.join(folder, 'seen.svg')).getroot().get('width'), str(saved.width))


@case
def the_wheel_zooms_and_a_key_shows_all_again():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        whole = window.still()
        window.mouse('move', 700, 400, 'click', 4, 'click', 4)
        part = window.changed(whole)
        window.mouse('move', 5, 805)
        window.keys('0')
        assert window.changed(part).difference(whole) < 0.01


@case
def a_large_trace_is_shown_part_by_part():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'large.weft')
        weft('record', '-a', 'none', '--stream', '-o', path, '--', os.path.join(BUILD, 'tests', 'stream-subject'),
             os.path.join(folder, 'counters'), '30000', '0')
        with screen(), program('--whole', '1M', path) as viewer:
            window = viewer.window('large.weft')
            window.mouse('move', 5, 805)
            window.still()
            window.keys('0')
            wait_until('it says so', lambda: 'too much to be read at once' in window.status())
            large = window.still()
            window.mouse('move', 1200, 400, *['click', 4] * 40)
            window.mouse('move', 5, 805)
            part = window.changed(large)
            # A smaller file in its place is read as a whole again.
            shutil.copy(ARP, path)
            window.keys('F5')
            window.changed(part)
            window.part('label', '2,954 events')
            window.keys('0')
            wait_until('all of it', lambda: 'too much' not in window.status())


@case
def wasd_zooms_and_stays_chosen():
    with screen():
        with program('--command', 'wasd on', BLOCK) as viewer:
            viewer.window('mirage-block-read.sexp').still()
        with program(BLOCK) as viewer:
            window = viewer.window('mirage-block-read.sexp')
            whole = window.still()
            window.mouse('move', 5, 805)
            window.keys('w')
            window.changed(whole)
        with program('--command', 'wasd off', BLOCK) as viewer:
            viewer.window('mirage-block-read.sexp').still()
        with open(os.path.join(os.environ['XDG_CONFIG_HOME'], 'weft', 'viewer.ini')) as file:
            equal(file.read(), '[keys]\nwasd=false\n')


@case
def a_drag_moves_the_picture_with_the_pointer():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        whole = window.still()
        window.mouse('move', 700, 400, 'click', 4, 'click', 4, 'click', 4)
        before = window.changed(whole)
        window.mouse('down', 1, 'move', 650, 400, 'wait', 0.2, 'move', 600, 400, 'wait', 1, 'up', 1)
        after = window.changed(before)
        # Things at 700 are at 600 now; names at the left edge stay there.
        moved = after.part(300, 200, 800, 400).difference(before.part(400, 200, 800, 400))
        assert moved < 0.05, '%.2f %% of the pixels did not move along' % (100 * moved)


@case
def several_files_are_one_trace_in_one_window():
    hello = os.path.join(BUILD, 'examples', 'hello')
    with screen(), temporary_directory() as folder:
        for _ in range(2):
            weft('record', '--size', '64K', '-o', folder + '/', '--', hello)
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        with program('--group-by', 'process', *files) as viewer:
            viewer.window(os.path.basename(files[0]) + ' and 1 more').still()
            equal(len(viewer.windows()), 1)
        with program(folder) as viewer:
            viewer.window(os.path.basename(folder)).still()
            equal(len(viewer.windows()), 1)
        with program('--separate', *files) as viewer:
            wait_until('two windows', lambda: len(viewer.windows()) == 2)
        result = weft('view', files[0], BLOCK, status=3)
        assert BLOCK + ': it does not say which boot' in result.stderr, result.stderr


@case
def an_unreadable_file_opens_no_window():
    with screen(), temporary_directory() as folder:
        empty, words = os.path.join(folder, 'empty'), os.path.join(folder, 'words')
        open(empty, 'w').close()
        with open(words, 'w') as file:
            file.write('no trace at all')
        for path, reason in ((empty, 'empty'), (words, 'format'), ('/nowhere', 'No such file')):
            result = weft('view', path, status=3)
            assert path in result.stderr and reason in result.stderr, result.stderr
        assert 'weft serve --open ' + folder in weft('view', folder, status=3).stderr
        equal(weft('view', status=2).stdout, '')
        assert '"pink" is unknown' in weft('view', '--theme', 'pink', BLOCK, status=2).stderr
        assert '--start' in weft('view', '--start', '12', BLOCK, status=2).stderr


@case
def a_file_that_replaced_a_ring_is_refused():
    gtk = os.path.join(BUILD, 'weft-gtk')
    if not os.path.exists(gtk):
        skip('built without GTK 4')
    with temporary_directory() as folder:
        ring = os.path.join(folder, 'program-%d.weft' % os.getpid())
        os.mkfifo(ring)
        result = run([gtk, '--check', '--rings', '--', '%d:%s' % (os.getpid(), ring)])
        equal(result.returncode, 3)
        assert ring + ': it is a FIFO' in result.stderr, result.stderr
        equal(run([gtk, '--check', '--rings', '--', ring]).returncode, 2)


@case
def without_a_display_it_says_so_and_what_else_there_is():
    result = weft('view', BLOCK, env={'DISPLAY': '', 'WAYLAND_DISPLAY': ''}, status=1)
    assert 'libgtk-4' in result.stderr or 'no display' in result.stderr, result.stderr
    assert 'weft render ' + BLOCK in result.stderr, result.stderr


@case
def each_file_has_a_window_and_the_last_one_ends_it():
    with screen(), program(BLOCK, '/nowhere', ARP) as viewer:
        first, second = viewer.window('mirage-block-read.sexp'), viewer.window('mirage-arp-good.ctf')
        first.still()
        first.close()
        second.still()
        equal([w.title() for w in viewer.windows()], ['mirage-arp-good.ctf'])
        second.close()
        status, out, errors = viewer.end()
        equal((status, out), (0, ''))
        assert '/nowhere: No such file' in errors, errors


@case
def another_window_of_the_same_trace():
    with screen(), program(ARP) as viewer:
        viewer.window('mirage-arp-good.ctf').still()
        viewer.windows()[0].keys('ctrl+n')
        wait_until('a second window', lambda: len(viewer.windows()) == 2)
        for window in viewer.windows():
            equal(window.title(), 'mirage-arp-good.ctf')
            assert window.still().has_colors(11)
        viewer.windows()[0].keys('ctrl+q')
        equal(viewer.end()[:2], (0, ''))


@case
def themes_color_the_whole_window():
    with screen():
        for theme, background in (('light', (0xf7, 0xf7, 0xf5)), ('safe-dark', (0x14, 0x17, 0x1a))):
            with program('--theme', theme, BLOCK) as viewer:
                window = viewer.window('mirage-block-read.sexp')
                window.still()
                pixels = window.whole().pixels
                share = sum(pixels[i:i + 3] == bytes(background) for i in range(0, len(pixels), 3)) / len(pixels) * 3
                assert share > 0.2, (theme, share)


@case
def idle_time_is_squeezed_by_a_key_and_by_a_link():
    with screen(), program(ARP) as viewer:
        window = viewer.window('mirage-arp-good.ctf')
        whole = window.still()
        window.mouse('move', 5, 790)
        window.keys('x')
        squeezed = window.changed(whole)
        assert squeezed.difference(whole) > 0.05
        window.keys('x')
        assert window.changed(squeezed).difference(whole) < 0.01
    with screen(), program('--command', 'view squeeze=on', ARP) as viewer:
        window = viewer.window('mirage-arp-good.ctf')
        linked = window.still()
        window.mouse('move', 5, 790)
        assert linked.difference(squeezed) < 0.01, linked.difference(squeezed)


@case
def a_window_opens_with_what_was_asked_for():
    with screen(), program('--only', 'blkfront', '--no-fold', BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        window.still()
        window.keys('i')
        wait_until('the filter', lambda: any(p['text'] == 'blkfront' for p in window.parts() if p['role'] == 'entry'))
    with screen(), program('--command', 'view search=blkfront', BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        window.still()
        window.keys('slash')
        wait_until('the search', lambda: any(p['text'] == 'blkfront' for p in window.parts() if p['role'] == 'entry'))
    assert 'excludes the other' in weft('view', '--command', 'fit', '--start', '1ms', BLOCK, status=2).stderr
    assert '--last excludes' in weft('view', '--last', '5s', '--start', '1ms', BLOCK, status=2).stderr


def drag(slower):
    """From the window at the right, with the pointer, to the viewer's at the left."""
    steps = ['mousemove', '1490', '190', 'sleep', str(0.3 * slower), 'mousedown', '1']
    for x in range(1480, 690, -30):
        steps += ['mousemove', str(x), '300', 'sleep', str(0.03 * slower)]
    steps += ['sleep', str(0.8 * slower), 'mousemove', '702', '302', 'sleep', str(0.5 * slower), 'mouseup', '1']
    xdotool(*steps)


@case
def files_are_dropped_on_a_window():
    with screen(), program(BLOCK) as viewer:
        viewer.window('mirage-block-read.sexp').still()
        source = subprocess.Popen([os.path.join(BUILD, 'tests', 'drag-source'), ARP], stderr=subprocess.DEVNULL)
        try:
            def find():
                return subprocess.run(['xdotool', 'search', '--onlyvisible', '--name', 'a file to drag'],
                                      capture_output=True, text=True).stdout.split()
            number = wait_until('the window to drag from', find)[0]
            xdotool('windowmove', '--sync', number, '1395', '100')
            for slower in (1, 3, 9):  # a busy machine misses input that is too quick, as a user would see
                drag(slower)
                with contextlib.suppress(GaveUp):
                    wait_until('a drop', lambda: viewer.find('mirage-arp-good.ctf'), processor=3)
                    break
            viewer.window('mirage-arp-good.ctf').still()
        finally:
            source.terminate()
            source.wait()


@case
def a_damaged_trace_is_shown_and_says_so():
    with screen(), temporary_directory() as folder:
        path = os.path.join(folder, 'damaged.ctf')
        with open(ARP, 'rb') as whole, open(path, 'wb') as part:
            bytes_ = bytearray(whole.read())
            bytes_[20000:20100] = b'x' * 100
            part.write(bytes_)
        with program(path) as viewer:
            window = viewer.window('damaged.ctf')
            assert window.still().has_colors(11)
            shown = [p['name'] for p in window.parts() if p['role'] == 'label']
            for line in weft('info', path, status=None).stderr.splitlines():
                words = line.split(': ', 1)[1]
                assert any(words in text for text in shown), (words, shown)


@case
def reading_can_be_stopped_and_begun_again():
    with screen(), temporary_directory() as folder:
        path = os.path.join(folder, 'slow')
        os.mkfifo(path)
        with program(path) as viewer:
            window = viewer.window('slow')
            wait_until('it reads', lambda: 'Reading slow' in window.status())
            window.keys('Escape')
            wait_until('it stopped', lambda: 'stopped' in window.status())
            with open(path, 'wb') as pipe:
                pipe.write(b'nobody wants it')
            os.unlink(path)
            with open(BLOCK, 'rb') as whole, open(path, 'wb') as file:
                file.write(whole.read())
            window.keys('F5')
            wait_until('the picture', lambda: window.picture().has_colors(11))


@case
def a_clicked_task_shows_its_story():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        window.still()
        # The first problem, by keyboard alone: it is selected, and Enter opens its story.
        window.keys('p')
        sentence = wait_until('a sentence about it', lambda: '1 of ' in window.status() and window.status())
        task = ' '.join(sentence.split(': ', 1)[1].split()[:2])
        window.keys('Return')
        window.part('label', task)
        window.keys('Escape', 'Escape', 'Escape')
        wait_until('the panel is closed', lambda: not any(p['name'] == 'What happened' for p in window.parts()))


@case
def buttons_are_reached_by_tab_and_pressed_by_keys():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        window.still()

        def focus():
            return next((p['name'] for p in window.parts() if 'focused' in p['states']), '')

        def move_focus_to(name):
            """Presses Tab, each time after the focus has moved: two presses at once would pass the part."""
            for _ in range(20):
                before = focus()
                if name in before:
                    return
                window.keys('Tab')
                wait_until('another part with the focus', lambda former=before: focus() != former)
            raise AssertionError('no focus on %s' % name)
        move_focus_to('Zoom in')
        before = window.still()
        window.keys('Return')
        window.changed(before)
        assert 'Zoom in' in focus()
        move_focus_to('Start of the view')
        before = window.still()
        window.keys('Right')
        window.changed(before)
        assert not [p for p in window.parts() if p['role'] == 'push button' and p['name'] == 'GtkMenuButton'
                    and 'focusable' in p['states']]


@case
def the_picture_begins_near_the_top():
    """One header bar has the buttons and the menu. The ground of idle time begins where the picture does."""
    for width in (1280, 600):
        with screen('%dx800' % width), program(BLOCK) as viewer:
            window = viewer.window('mirage-block-read.sexp')
            xdotool('windowsize', '--sync', window.number, str(width), '800')
            window.still()
            equal(window.size(), (width, 800))
            column = window.whole().part(width // 2, 0, 1, 300)
            pixels = [column.part(0, y, 1, 1).pixels for y in range(300)]
            first = next(y for y in range(120, 0, -1) if pixels[y - 1] != pixels[120])
            assert 60 < first <= 90, 'the picture begins at %d px' % first
            top = window.part('image')['box'][1]
            for name in ('Open another trace', 'The view before', 'Problems', 'Search', 'Show everything', 'Counters', 'Menu (F10)'):
                x, y, wide, high = window.part('push button', name)['box']
                assert y > 0 and y + high <= top and x + wide <= width, (name, x, y, wide, high, top)
            window.keys('F10')
            window.part('menu item', 'All keys and gestures')


@case
def escape_leads_back_to_the_picture_from_everywhere():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        window.still()

        def focused(name):
            return any('focused' in p['states'] and name in p['name'] for p in window.parts())
        for count, name in ((1, 'Open'), (3, 'Zoom in'), (13, 'Start of the view')):
            wait_until('the picture has the keyboard', lambda: focused('Picture of'))
            window.keys(*['Tab'] * count)
            wait_until(name, lambda: focused(name))
            window.keys('Escape')
        wait_until('the picture has the keyboard', lambda: focused('Picture of'))
        # The header bar lets the viewer's keys through.
        window.keys('Tab')
        wait_until('the first button', lambda: focused('Open'))
        window.keys('question')
        window.part('label', 'Keys')


@case
def words_are_searched_for_as_they_are_written():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        window.still()
        window.keys('slash')
        window.part('entry', 'Search')
        window.write('blk')
        window.part('label', '103 found')
        window.write('front.enum')
        window.part('label', '1 found')
        window.write('', 'Return')
        wait_until('what was found', lambda: '1 of 1' in window.status())
        window.part('push button', 'blkfront.enumerate')
        # Letters are commands again, not text.
        before = window.still()
        window.keys('T')
        assert window.changed(before) != before


@case
def copied_text_can_be_pasted():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        window.still()
        window.keys('Y', 'slash', 'ctrl+v')
        wait_until('the command', lambda: any('weft render' in (p['text'] or '') for p in window.parts()
                                         if p['role'] == 'entry'))


def read_if_there(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except FileNotFoundError:
        return ''


@case
def notes_are_kept_beside_the_trace():
    with screen(), temporary_directory() as folder:
        path = os.path.join(folder, 'noted.sexp')
        shutil.copy(BLOCK, path)
        with program(path) as viewer:
            window = viewer.window('noted.sexp')
            window.still()
            window.mouse('move', 700, 400)
            window.keys('m')
            window.fill('Note', 'it begins here')
            window.keys('Return')
            # The note is saved without a text first, when it is made.
            wait_until('the notes', lambda: 'it begins here' in read_if_there(path + '.notes'))
        with program(path) as viewer:
            window = viewer.window('noted.sexp')
            window.still()
            window.keys('M')
            window.part('push button', 'it begins here')


@case
def a_part_of_the_time_is_saved_as_a_trace():
    with screen(), temporary_directory() as folder:
        path, log = os.path.join(folder, 'part.weft'), os.path.join(folder, 'log')
        os.environ.update(LD_PRELOAD=os.path.join(BUILD, 'tests', 'rundir-shim.so'), WEFT_SHIM_LOG=log)
        with program('--start', '1ms', '--duration', '10ms', BLOCK) as viewer:
            window = viewer.window('mirage-block-read.sexp')
            window.still()
            window.keys('e')
            window.press('Save the time in view as a smaller trace')
            viewer.window('Save').save_as(path)
            wait_until('it says so', lambda: 'Written' in window.status())
        del os.environ['LD_PRELOAD']
        # The file is complete before it gets its name, and the name is on the disk, too.
        with open(log, encoding='utf-8') as file:
            calls = [line.split() for line in file if folder in line]
        equal([call[0] for call in calls], ['fsync', 'rename', 'fsync'])
        # It was written without a name, which the kernel shows as its number.
        unnamed = os.path.join(folder, '#%d' % os.stat(path).st_ino)
        assert calls[0][1] in (unnamed, calls[1][1]), calls
        equal((calls[1][2], calls[2][1]), (path, folder))
        # Less than was requested, because the panel takes space.
        whole, part = (weft('dump', '--json', trace).stdout.splitlines() for trace in (BLOCK, path))
        events = [line for line in part if '"rundown"' not in line]
        assert len(part) > len(events) > 0
        first = whole.index(events[0])
        equal(events, whole[first:first + len(events)])


@contextlib.contextmanager
def recorded(folder, *options):
    """A program that records as many events as each line of its input says; and its PID."""
    subject = subprocess.Popen([WEFT, 'record', *options, os.path.join(BUILD, 'tests', 'follow-subject')], cwd=folder,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def send(words):
        subject.stdin.write('%s\n' % words)
        subject.stdin.flush()
        return subject.stdout.readline()
    try:
        yield send, int(subject.stdout.readline())
    finally:
        subject.stdin.close()
        subject.wait()


@case
def a_running_program_is_followed_to_its_end():
    with screen(), temporary_directory() as folder:
        with recorded(folder) as (send, pid):
            send(100)
            with program(pid) as viewer:
                window = viewer.window('follow-subject')
                wait_until('the first picture', lambda: window.picture().has_colors(11))
                before = window.picture()
                send(5000)
                wait_until('the picture grows', lambda: window.picture() != before)
                for name in ('Click: pause', 'Click: go on', 'Click: pause'):
                    window.part('push button', name)
                    window.keys('l')
                window.keys('l')
                send('stop')
                wait_until('it says so', lambda: 'ended' in window.status())
                window.part('push button', 'The program has ended')
                # Now the picture no longer changes, and equals that of the complete file.
                assert window.still().has_colors(11)
                equal(len(viewer.windows()), 1)


@case
def a_file_that_grows_is_followed_on_request():
    with screen(), temporary_directory() as folder:
        path = os.path.join(folder, 'growing.sexp')
        with open(BLOCK) as whole:
            lines = whole.readlines()
        with open(path, 'w') as file:
            file.writelines(lines[:1000])
        with program('--follow', path) as viewer:
            window = viewer.window('growing.sexp')
            for part in (lines[1000:2000], lines[2000:3000], lines[3000:]):
                before = window.still()
                with open(path, 'a') as file:
                    file.writelines(part)
                window.changed(before)
                # Bytes that were read are not read again: otherwise the damage would be found.
                with open(path, 'r+') as file:
                    file.write('(' * 1000)
            assert not any('damaged' in part['name'] for part in window.parts())
            window.keys('F5')
            window.part('label', 'growing.sexp is damaged')


@case
def a_process_that_records_nothing_is_shown_from_outside():
    with screen(), running(compiled('outside_subject', '-O0'), 'deadlock', threads=3) as process, program(process.pid) as viewer:
        window = viewer.window('-%d (from outside)' % process.pid)
        window.part('push button', 'Click: pause')
        # Its threads do nothing, but time passes.
        before = window.picture()
        wait_until('the picture grows', lambda: window.picture() != before)
        run_directory = os.path.join(os.environ['XDG_RUNTIME_DIR'], 'weft')
        private, = os.listdir(run_directory)
        path = os.path.join(run_directory, private, window.title())
        assert 'take_second (outside_subject.c:' in weft('stats', '--by', 'stack', path).stdout
        process.kill()
        window.part('push button', 'The program has ended')
        assert window.still().has_colors(8)
        window.close()
        equal(viewer.end(), (0, '', ''))
        equal(os.listdir(run_directory), [])


@case
def a_trace_of_xen_is_followed_on_request():
    trace = capture('xen-lost-2cpu')
    with screen(), temporary_directory() as folder:
        path = os.path.join(folder, 'growing.xentrace')
        with open(path, 'wb', buffering=0) as file:
            file.write(trace[:200000])
            with program('--follow', '--cpu-hz', '2596M', path) as viewer:
                window = viewer.window('growing.xentrace')
                for at in range(200000, len(trace), 250001):
                    before = window.still()
                    file.write(trace[at:at + 250001])
                    window.changed(before)
                wait_until('nothing is damaged', lambda: not any('damaged' in part['name'] for part in window.parts()))


@case
def a_directory_that_grows_is_followed():
    """Processes of one run end one after the other."""
    with screen(), temporary_directory() as folder:
        runs, shown = os.path.join(folder, 'runs'), os.path.join(folder, 'shown')
        os.mkdir(runs)
        os.mkdir(shown)
        hello = os.path.join(BUILD, 'examples', 'hello')
        weft('record', '--size', '64K', '-o', runs, 'sh', '-c', '%s; %s; %s' % (hello, hello, hello))
        first, *others = sorted(os.listdir(runs))
        shutil.copy(os.path.join(runs, first), shown)
        with program(shown) as viewer:
            window = viewer.window('shown')
            for name in others:
                before = window.still()
                shutil.copy(os.path.join(runs, name), shown)
                window.changed(before)


@contextlib.contextmanager
def without_its_beginning(path):
    """The file cannot be read as a whole meanwhile, but what is added to it can."""
    with open(path, 'r+b', buffering=0) as file:
        first = file.read(64)
        file.seek(0)
        file.write(bytes(64))
        yield
        file.seek(0)
        file.write(first)


@case
def streams_that_grow_are_followed_together():
    """Two programs record into a directory; one of them is idle for a while."""
    with screen(), temporary_directory() as folder:
        shown = os.path.join(folder, 'shown')
        os.mkdir(shown)
        options = '--stream', '-o', shown + '/'
        with contextlib.ExitStack() as programs:
            (send, busy), (send_idle, idle) = (programs.enter_context(recorded(folder, *options)) for _ in range(2))
            for each in send, send_idle:
                each('tasks 2')
            paths = [os.path.join(shown, 'follow-subject-%d.weft' % process) for process in (busy, idle)]
            wait_until('both streams', lambda: all(os.path.exists(path) and os.path.getsize(path) for path in paths))
            with program(shown) as viewer:
                window = viewer.window('shown')

                def says_damaged():
                    return any('damaged' in part['name'] for part in window.parts())
                picture = window.still()
                for _ in range(3):
                    send('tasks 2')
                    picture = window.changed(picture)
                # Bytes that were read are not read again.
                with without_its_beginning(paths[1]):
                    send_idle('tasks 2')
                    picture = window.changed(picture)
                    assert not says_damaged()
                    window.keys('F5')
                    window.part('label', 'shown is damaged')
                wait_until('nothing is damaged', lambda: not says_damaged())
                programs.close()
                # Rows depend on when tasks were seen first, so the pictures need not be equal.
                info, = json_lines(weft('info', '--json', shown).stdout)
                window.part('label', ' %d events · %d tasks' % (info['events'], info['tasks']['total']))


@case
def the_rate_of_cycles_is_what_the_option_says():
    with screen(), temporary_directory() as folder:
        path, pictures = unpack(folder, 'xen-domain-end'), []
        for rate in '1G', '1.3G':
            with program('--cpu-hz', rate, '--start', '0', '--duration', '1s', path) as viewer:
                pictures.append(viewer.window('xen-domain-end').still())
    assert pictures[0] != pictures[1]


@case
def hosts_are_aligned_while_their_traces_grow():
    """Later messages bound the clocks better."""
    with screen(), temporary_directory() as folder:
        streams = streams_of_two(folder)
        said = [re.search('^host beta: (.*)$', weft('merge', *streams, '-o', os.path.join(folder, 'both')).stderr, re.M)[1]]
        with open(streams[1], 'rb') as file:
            data = file.read()
        os.truncate(streams[1], len(data) // 2)
        said.insert(0, re.search('^host beta: (.*)$', weft('info', *streams).stderr, re.M)[1])
        assert said[0] != said[1], said
        with program('--follow', *streams) as viewer:
            window = viewer.window('alpha')
            window.part('label', said[0])
            with open(streams[1], 'ab') as file:
                file.write(data[len(data) // 2:])
            wait_until('the clock has better bounds', lambda: any(said[1] in part['name'] for part in window.parts()))


@case
def clocks_of_several_hosts_are_left_as_they_are():
    with screen(), temporary_directory() as folder:
        paths = []
        for name in 'alpha', 'beta':
            paths.append(os.path.join(folder, name + '.weft'))
            run([os.path.join(BUILD, 'tests', 'every_event'), paths[-1], 1])
            with open(paths[-1], 'r+b') as file:  # src/abi/buffer_abi.h: the boot, and the name of the host
                file.seek(104)
                file.write(name.encode().ljust(16, b'.'))
                file.seek(1048)
                file.write(name.encode().ljust(64, b'\0'))
        for options, sentence in (((), 'no message'), (('--no-align',), 'not aligned')):
            with program(*options, *paths) as viewer:
                viewer.window('alpha').part('label', sentence)


def stored(data):
    """A frame of zstd that holds the bytes as they are."""
    return (b'\x28\xb5\x2f\xfd\xa0' + len(data).to_bytes(4, 'little')
            + (len(data) << 3 | 1).to_bytes(3, 'little') + data)


@case
def a_file_that_cannot_be_followed_is_read_again():
    with screen(), temporary_directory() as folder:
        path = os.path.join(folder, 'growing.zst')
        with open(BLOCK, 'rb') as whole:
            lines = whole.readlines()
        with open(path, 'wb') as file:
            file.write(stored(b''.join(lines[:500])))
        if weft('info', path, status=None).returncode:
            skip('weft is built without libzstd')
        with program('--follow', path) as viewer:
            window = viewer.window('growing.zst')
            before = window.still()
            with open(path, 'ab') as file:
                file.write(stored(b''.join(lines[500:1500])) + b'damage')
            window.changed(before)
            assert 'growing' not in window.status(), window.status()


@case
def a_file_whose_writer_has_gone_is_shown_to_its_end():
    """A stream without marks can only be read when it is complete: when it has not grown for a while."""
    with screen(), temporary_directory() as folder:
        path = os.path.join(folder, 'growing.weft')
        with open(os.path.join(DATA, 'recorded', 'threads-stream.weft'), 'rb') as whole:
            stream = whole.read()
        with open(path, 'wb') as file:
            file.write(stream[:len(stream) // 2])
        with program('--follow', path) as viewer:
            window = viewer.window('growing.weft')
            for part in (stream[len(stream) // 2:-1000], stream[-1000:]):
                before = window.still()
                with open(path, 'ab') as file:
                    file.write(part)
                window.changed(before)
            # Until then, the last chunk was cut short.
            wait_until('nothing is damaged', lambda: not any('damaged' in part['name'] for part in window.parts()))


main()
