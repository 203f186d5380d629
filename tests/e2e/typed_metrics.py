# SPDX-License-Identifier: ISC
"""Metrics with types and labels of running programs: recorded or not, in forked children, and their children."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from counting import program
from harness import BUILD, WEFT, case, equal, json_lines, main, weft

SUBJECT = os.path.join(BUILD, 'tests', 'typed-subject')


def values(pid, *options):
    """{(name, label values…): value} of all levels."""
    lines = json_lines(weft('metrics', '--json', *options, pid).stdout)
    return {(line['counter'], *line.get('labels', {}).values()): line['value'] for line in lines}


def count_some(it):
    it.tell('count eu acme 5', 'count eu other 7', 'count us acme 100', 'queue eu 3', 'took eu 1500', 'took eu 3000000')


SOME = {('acked',): 112, ('acked', 'eu'): 12, ('acked', 'eu', 'acme'): 5, ('acked', 'eu', 'other'): 7, ('acked', 'us'): 100,
        ('acked', 'us', 'acme'): 100, ('queued',): 3, ('queued', 'eu'): 3, ('latency',): 2, ('latency', 'eu'): 2}


@case
def levels_have_the_totals_of_what_is_below_them():
    with program(subject=SUBJECT) as it:
        count_some(it)
        equal(values(it.pid), SOME)
        line = json_lines(weft('metrics', '--json', it.pid).stdout)[0]
        equal((line['type'], line['unit']), ('counter', 'bytes'))


@case
def a_recorded_program_has_them_too():
    with tempfile.TemporaryDirectory() as folder:
        with program(WEFT, 'record', '-o', os.path.join(folder, 'trace.weft'), '--', subject=SUBJECT) as it:
            count_some(it)
            equal(values(it.pid), SOME)
            assert str(it.pid) in weft('metrics').stdout


@case
def a_forked_child_begins_with_zeros():
    with program(subject=SUBJECT) as it:
        count_some(it)
        it.tell('fork', 'count eu acme 1')
        assert it.pid != it.parent
        equal(values(it.parent), SOME)
        mine = values(it.pid)
        equal((mine[('acked', 'eu', 'acme')], mine[('acked',)], mine[('queued',)]), (1, 1, 0))


@case
def children_come_and_go_and_their_levels_keep_what_they_counted():
    with program(subject=SUBJECT) as it:
        it.tell('reserve 10', 'open eu acme 10.0.0.1:443', 'count - - 8')
        equal(values(it.pid, '--children'), {('acked', 'eu', 'acme', '10.0.0.1:443'): 8})
        equal(values(it.pid)[('acked', 'eu', 'acme')], 8)
        it.tell('close')
        equal(weft('metrics', '--json', '--children', it.pid, status=1).stdout, '')
        equal(values(it.pid)[('acked', 'eu', 'acme')], 8)


@case
def a_series_for_each_child_is_refused():
    weft('metrics', '--children', '--openmetrics', status=2)


@case
def a_child_of_an_unreserved_program_counts_in_its_level():
    with program(subject=SUBJECT) as it:
        it.tell('open eu acme x', 'count - - 8', 'close')
        equal(values(it.pid)[('acked', 'eu', 'acme')], 8)


main()
