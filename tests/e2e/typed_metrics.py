# SPDX-License-Identifier: ISC
"""Metrics with types and labels of running programs: recorded or not, in forked children, and their children."""
import os

from counting import TYPED, program
from harness import WEFT, case, equal, json_lines, main, temporary_directory, weft

SOME = {('tcp_acked',): 112, ('tcp_acked', 'eu'): 12, ('tcp_acked', 'eu', 'acme'): 5, ('tcp_acked', 'eu', 'other'): 7,
        ('tcp_acked', 'us'): 100, ('tcp_acked', 'us', 'acme'): 100, ('open/streams',): 3, ('latency',): 2}


def values(pid, *options):
    """{(name, label values…): value} of all levels."""
    lines = json_lines(weft('metrics', '--json', *options, pid).stdout)
    return {(line['counter'], *line.get('labels', {}).values()): line['value'] for line in lines}


def count_some(it):
    it.tell('acked eu acme 5', 'acked eu other 7', 'acked us acme 100', 'open 3', 'latency 1500', 'latency 3000000')


@case
def levels_have_the_totals_of_what_is_below_them():
    with program(subject=TYPED) as it:
        count_some(it)
        equal(values(it.pid), SOME)
        line = json_lines(weft('metrics', '--json', it.pid).stdout)[0]
        equal((line['type'], line['unit']), ('counter', 'bytes'))


@case
def a_recorded_program_has_them_too():
    with temporary_directory() as folder, program(WEFT, 'record', '-o', os.path.join(folder, 'trace.weft'), '--', subject=TYPED) as it:
        count_some(it)
        equal(values(it.pid), SOME)
        assert str(it.pid) in weft('metrics').stdout


@case
def a_forked_child_begins_with_zeros():
    with program(subject=TYPED) as it:
        count_some(it)
        it.tell('fork', 'acked eu acme 1')
        assert it.pid != it.parent
        equal(values(it.parent), SOME)
        mine = values(it.pid)
        equal((mine[('tcp_acked', 'eu', 'acme')], mine[('tcp_acked',)], mine[('open/streams',)]), (1, 1, 0))


@case
def children_come_and_go_and_their_levels_keep_what_they_counted():
    with program(subject=TYPED) as it:
        it.tell('stream 8')
        equal(values(it.pid, '--children'), {('tcp_acked', 'eu', 'acme', '4711'): 8})
        equal(values(it.pid)[('tcp_acked', 'eu', 'acme')], 8)
        it.tell('end')
        equal(weft('metrics', '--json', '--children', it.pid, status=1).stdout, '')
        equal(values(it.pid)[('tcp_acked', 'eu', 'acme')], 8)


@case
def a_series_for_each_child_is_refused():
    weft('metrics', '--children', '--openmetrics', status=2)


main()
