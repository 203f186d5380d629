# SPDX-License-Identifier: ISC
"""weft view: windows on a screen of their own, used with a real pointer and real keys."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from desktop import Picture, program, screen  # noqa: E402
from harness import DATA, case, equal, main, temporary_directory, weft  # noqa: E402

BLOCK = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')


@case
def a_window_shows_what_render_draws():
    with screen(), program(BLOCK) as viewer, temporary_directory() as folder:
        window = viewer.window('mirage-block-read.sexp')
        seen = window.still()
        path = os.path.join(folder, 'expected.png')
        weft('render', BLOCK, '-o', path, '--width', seen.width, '--height', seen.height)
        difference = seen.difference(Picture.of_file(path))
        assert difference < 0.001, '%.2f %% of the pixels differ' % (100 * difference)


@case
def the_wheel_zooms_and_a_key_shows_all_again():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        whole = window.still()
        window.mouse('move', 700, 400, 'click', 4, 'click', 4)
        part = window.changed(whole)
        window.mouse('move', 5, 845)
        window.keys('0')
        assert window.changed(part).difference(whole) < 0.01


@case
def a_drag_moves_the_picture_with_the_pointer():
    with screen(), program(BLOCK) as viewer:
        window = viewer.window('mirage-block-read.sexp')
        whole = window.still()
        window.mouse('move', 700, 400, 'click', 4, 'click', 4, 'click', 4)
        before = window.changed(whole)
        window.mouse('down', 1, 'move', 650, 400, 'wait', 0.2, 'move', 600, 400, 'wait', 1, 'up', 1)
        after = window.changed(before)
        # What was at 700 is at 600 now; names at the left edge stay there.
        moved = after.part(300, 200, 800, 400).difference(before.part(400, 200, 800, 400))
        assert moved < 0.05, '%.2f %% of the pixels did not move along' % (100 * moved)


@case
def what_cannot_be_read_opens_no_window():
    with screen(), temporary_directory() as folder:
        empty, words = os.path.join(folder, 'empty'), os.path.join(folder, 'words')
        open(empty, 'w').close()
        with open(words, 'w') as file:
            file.write('no trace at all')
        for path, reason in ((empty, 'empty'), (words, 'format'), ('/nowhere', 'No such file')):
            result = weft('view', path, status=3)
            assert path in result.stderr and reason in result.stderr, result.stderr
        equal(weft('view', status=2).stdout, '')
        assert 'no theme' in weft('view', '--theme', 'pink', BLOCK, status=2).stderr
        assert '--start' in weft('view', '--start', '12', BLOCK, status=2).stderr


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


main()
