# SPDX-License-Identifier: ISC
"""weft top: the counters of running programs in a terminal, and as text."""
import os
import signal

from counting import RUN_QUEUE, TYPED, program
from harness import WEFT, case, equal, main, skip, weft
from terminal import Terminal
from waiting import wait_until


def top(*words, **options):
    with open(WEFT, 'rb') as file:
        if b'libncursesw' not in file.read():
            skip('built without ncurses')
    return Terminal(WEFT, 'top', '--interval', '100ms', *words, **options)


def rows(lines):
    """The rows between the two lines at the top and the two at the bottom: [(indentation, name, value), …]"""
    found = []
    for line in lines[2:-2]:
        words = line.replace('▸', ' ').replace('▾', ' ').split()
        if words and words[0] != RUN_QUEUE:
            found.append((len(line) - len(line.lstrip(' ▸▾')), words[0], words[1] if len(words) > 1 else ''))
    return found


def names(lines):
    return [name for _, name, _ in rows(lines)]


def printed(*args):
    """The text of `weft top` without the kernel's value, which changes by itself."""
    return ''.join(line for line in weft('top', *args).stdout.splitlines(True) if RUN_QUEUE not in line)


def begin(it, *lines):
    """Some counters."""
    it.tell(*(lines or ('pool/eu/requests 5', 'pool/us/requests 7', 'disk/used 80', 'load 0.5')))


# ---- The terminal ----

@case
def a_tree_has_values_that_change():
    with program() as it, top(it.pid) as terminal:
        begin(it)
        terminal.wait_for('load')
        equal([row[:2] for row in rows(terminal.shown())],
              [(2, 'metrics-subject'), (4, 'disk'), (6, 'used'), (4, 'load'), (4, 'pool'), (6, 'eu'), (8, 'requests'), (6, 'us'),
               (8, 'requests')])
        equal(terminal.wait_for('load').split()[1], '0.50')
        it.tell('disk/used 1000')
        terminal.wait('1.08k', lambda lines: ('used', '1.08k') in [row[1:] for row in rows(lines)])
        terminal.wait('a picture with a change', lambda lines: any('used' in line and '█' in line for line in lines))
        terminal.press('q')
        equal(terminal.end(), (0, True))


@case
def nodes_fold_and_unfold():
    with program() as it, top(it.pid) as terminal:
        begin(it)
        terminal.wait_for('load')
        terminal.press('-')
        terminal.wait('one row', lambda lines: names(lines) == ['metrics-subject'])
        terminal.press('right')
        terminal.wait('its parts', lambda lines: names(lines) == ['metrics-subject', 'disk', 'load', 'pool'])
        terminal.press('end', 'up', 'right')
        terminal.wait('the pools', lambda lines: names(lines)[-2:] == ['eu', 'us'])
        terminal.press('left')
        terminal.wait('no pools', lambda lines: names(lines)[-1] == 'pool')
        terminal.press('*')
        terminal.wait('all', lambda lines: len(names(lines)) == 9)
        terminal.press('end', 'up', 'left', 'left', 'left', 'left')
        terminal.wait('folded again', lambda lines: names(lines)[-1] == 'pool' and terminal.selected().startswith('▸ pool'))


@case
def levels_of_labels_are_below_their_total():
    with program(subject=TYPED) as it, top(it.pid, columns=140) as terminal:
        it.tell('acked eu acme 1000', 'acked eu bolt 500', 'open 4', 'latency 1500', 'latency 1500000')
        terminal.wait('the totals', lambda lines: rows(lines)[1:] == [(4, 'latency', '2'), (4, 'open', ''), (6, 'streams', '4'), (4, 'tcp_acked', '1.50')])
        terminal.press('end', 'up')
        terminal.wait_for('tcp_acked: 1500 bytes, counter. Bytes that the peer\\nhas "acknowledged"')
        terminal.press('right', 'right', 'right')
        terminal.wait('the levels', lambda lines: rows(lines)[4:] == [
            (4, 'tcp_acked', '1.50'), (6, 'pool=eu', '1.50'), (8, 'customer=acme', '1.00'), (8, 'customer=bolt', '500')])
        assert '1.50 kB' in terminal.wait_for('pool=eu')
        terminal.press('home', 'down')
        terminal.wait_for('latency: 2 values, histogram, mean 751 us, 50 % up to 1.58 us, 99 % up to 1.62 ms. Time to the answer')


@case
def children_of_a_level_are_shown_on_request():
    with program(subject=TYPED) as it, top(it.pid, columns=140) as terminal:
        it.tell('acked eu acme 1000', 'stream 7')
        terminal.wait_for('tcp_acked')
        terminal.press('*')
        terminal.wait('no child', lambda lines: (8, 'customer=acme', '1.01') in rows(lines) and 'stream=4711' not in names(lines))
        terminal.press('c')
        terminal.wait('the child', lambda lines: terminal.press('*') or (10, 'stream=4711', '7') in rows(lines))
        assert 'with children' in terminal.shown()[0]
        it.tell('end')
        terminal.wait('no child, and the same total',
                      lambda lines: 'stream=4711' not in names(lines) and (8, 'customer=acme', '1.01') in rows(lines))
        it.tell('stream 9')
        assert 'stream=4711' in weft('top', '--children', it.pid).stdout
        assert 'stream=4711' not in weft('top', it.pid).stdout


@case
def siblings_are_sorted():
    with program() as it, top(it.pid) as terminal:
        begin(it, 'a 5', 'b 9', 'c 7', 'd/x 8')
        for keys, expected in (('v', ['b', 'd', 'x', 'c', 'a']), ('v', ['a', 'c', 'd', 'x', 'b']), ('n', ['a', 'b', 'c', 'd', 'x']),
                               ('n', ['d', 'x', 'c', 'b', 'a'])):
            terminal.press(keys)
            terminal.wait(expected, lambda lines, e=expected: names(lines)[1:] == e)
        terminal.press('r')
        terminal.wait_for('by rate')

        def is_first():
            it.tell('c 3')
            return names(terminal.shown())[1] == 'c'
        wait_until('the only one that changes is the first', is_first, terminal.process)


@case
def a_search_finds_what_is_folded():
    with program() as it, top(it.pid) as terminal:
        begin(it, 'pool/eu/Anna 5', 'pool/us/anders 7', 'disk/used 80')
        terminal.wait_for('used')
        terminal.press('-', 'home')
        terminal.wait('one row', lambda lines: names(lines) == ['metrics-subject'])
        terminal.press('/', 'a', 'n', 'n')
        terminal.wait('Anna', lambda _: terminal.selected().startswith('Anna'))
        terminal.press('backspace', 'd', 'e')
        terminal.wait('anders', lambda lines: terminal.selected().startswith('anders') and 'Anna' not in names(lines))
        terminal.press('escape')
        terminal.wait('folded as before', lambda lines: names(lines) == ['metrics-subject'])
        terminal.press('/', 'a', 'n', 'down')
        terminal.wait('the second one', lambda _: terminal.selected().startswith('anders'))
        terminal.press('down')
        terminal.wait('the first one again', lambda _: terminal.selected().startswith('Anna'))
        terminal.press('enter')
        terminal.wait('the search is over', lambda lines: 'q quit' in lines[-1] and 'Anna' in names(lines))
        terminal.press('/', 'x', 'y')
        terminal.wait_for('(not found)')


@case
def a_program_that_ends_is_marked():
    with top(lines=200) as terminal:
        with program() as it:
            begin(it)
            row = terminal.wait_for('metrics-subject %d' % it.pid)
            assert 'ended' not in row, row
            terminal.press('/', *str(it.pid))
            terminal.wait('selected', lambda _: str(it.pid) in terminal.selected())
            terminal.press('enter')
        terminal.wait('it is marked', lambda lines: any(str(it.pid) in line and 'ended' in line for line in lines))
        with program() as other:
            begin(other)
            terminal.wait_for('metrics-subject %d' % other.pid)
            assert str(it.pid) in terminal.selected() or not any(str(it.pid) in name for name in names(terminal.shown()))


@case
def a_terminal_may_change_its_size():
    with program() as it, top(it.pid) as terminal:
        begin(it)
        terminal.wait_for('rate')
        for lines, columns in ((10, 40), (60, 200), (5, 20), (1, 1), (3, 9), (24, 80)):
            terminal.resize(lines, columns)
            terminal.wait('%d lines of %d' % (lines, columns), lambda shown: all(len(line) <= terminal.columns for line in shown) and (
                terminal.lines == 1 or 'q'[:terminal.columns] in shown[-1]))
        terminal.wait('all', lambda shown: 'requests' in names(shown) and 'rate' in shown[1])
        terminal.press('q')
        equal(terminal.end(), (0, True))


@case
def a_narrow_terminal_keeps_values():
    with program() as it, top(it.pid, lines=10, columns=40) as terminal:
        begin(it, 'a-name-that-is-much-too-long-for-forty-columns 7')
        line = terminal.wait_for('a-name')
        equal((len(line), line.split()[-1]), (40, '7'))


@case
def a_name_cannot_drive_the_terminal():
    """The terminal refuses sequences that its description does not have."""
    with program() as it, top(it.pid) as terminal:
        begin(it, '\x1b[31mred\x1b]0;title\x07 1', '\x1bc 1', '\x9b2J 1', 'caf\u00e9/\u65e5\u672c\u8a9e 42', 'a\u202eb 1', '\x7f\x08 1')
        line = terminal.wait_for('\u65e5\u672c\u8a9e')
        equal(line.split()[1], '42')
        for text in ('\\x1b[31mred', '\\x1bc', 'a\\u202eb', '\\x7f\\x08', 'café'):
            terminal.wait_for(text)
        terminal.press('end', 'up', 'up')
        terminal.press('q')
        equal(terminal.end(), (0, True))


@case
def a_terminal_without_utf8_gets_ascii():
    with program() as it, top(it.pid, env={'LC_ALL': 'C'}) as terminal:
        begin(it, 'caf\u00e9 5')
        terminal.wait_for('caf?')
        assert all(line.isascii() for line in terminal.shown())


@case
def each_end_restores_the_terminal():
    for number, end in ((signal.SIGINT, lambda terminal: terminal.press('\x03')), (signal.SIGQUIT, lambda terminal: terminal.press('\x1c')),
                        (signal.SIGTERM, None), (signal.SIGHUP, None)):
        with program() as it, top(it.pid) as terminal:
            begin(it)
            terminal.wait_for('load')
            assert '?1049' in terminal.modes
            if end:
                end(terminal)
            else:
                os.kill(terminal.process.pid, number)
            equal(terminal.end(), (-number, True))


@case
def a_terminal_that_ncurses_does_not_know_is_refused():
    for name in ('dumb', 'no-such-terminal'):
        # ncurses does not free what it has made of the terminal so far.
        with top(env={'TERM': name, 'ASAN_OPTIONS': 'detect_leaks=0'}) as terminal:
            terminal.wait_for('--once')
            equal(terminal.end(), (1, True))


# ---- Text ----

@case
def text_is_printed_where_there_is_no_terminal():
    with program() as it:
        assert RUN_QUEUE in weft('top', it.pid).stdout  # the kernel's, of any program
        begin(it, 'pool/eu/requests 5', 'pool/us/requests 7000', 'load 0.5')
        equal(printed(it.pid), """\
       value  counter
              metrics-subject %d
        0.50    load
                pool
                  eu
           5        requests
                  us
       7.00k        requests
""" % it.pid)
        equal(printed('--once', it.pid), printed(it.pid))
        line = weft('top', '--interval', '100ms', it.pid).stdout.splitlines()
        equal((line[0].split(), line[2].split()), (['value', 'rate', 'counter'], ['0.50', '0/s', 'load']))


@case
def once_prints_on_a_terminal_too():
    with program() as it:
        begin(it)
        with Terminal(WEFT, 'top', '--once', it.pid) as terminal:
            terminal.wait_for('load')
            assert '?1049' not in terminal.modes
            equal(terminal.end(), (0, True))


@case
def wrong_arguments_are_refused():
    weft('top', 'x', status=2)
    weft('top', '--interval', '1', status=2)
    weft('top', '--interval', '1ms', status=2)
    weft('top', '--interval', '2h', status=2)
    assert 'no counters' in weft('top', os.getpid(), status=3).stderr


main()
