# SPDX-License-Identifier: ISC
"""Programs that nobody changed: metrics of their bytes, locks and blocked time, beside what they are known to do."""
import collections
import glob
import os
import re

from harness import BUILD, case, equal, json_lines, main, run, temporary_directory, weft

TRANSFERS = os.path.join(BUILD, 'tests', 'transfers-subject')
SUBJECT = os.path.join(BUILD, 'tests', 'counts-subject')


def record(folder, *arguments, **options):
    trace = os.path.join(folder, 't.weft')
    weft('record', '-a', 'thread,io', '-o', trace, '--', SUBJECT, *arguments, env={'XDG_RUNTIME_DIR': folder, 'WEFT_AGENT': 'none', **options})
    return trace


def values(trace):
    """{(name, label values…): value} of all levels."""
    lines = json_lines(weft('metrics', '--json', trace).stdout)
    return {(line['counter'], *line.get('labels', {}).values()): line['value'] for line in lines}


def of_pipe(trace):
    found = values(trace)
    return [found['weft_io_%s' % what, direction, 'pipe'] for what in ('bytes', 'requests') for direction in ('in', 'out')]


@case
def bytes_and_requests_are_those_of_the_program():
    with temporary_directory() as folder:
        trace = record(folder, 'pipe', '1500')
        equal(of_pipe(trace), [150000, 150000, 1500, 1500])
        shown = weft('metrics', '--openmetrics', trace).stdout
        assert '# UNIT weft_io_bytes bytes\n' in shown, shown
        assert 'direction="in",kind="pipe"} 150000\n' in shown, shown


@case
def what_came_before_others_could_see_it_counts():
    """The values are private until there are enough of them; then they become shared ones, whole."""
    with temporary_directory() as folder:
        equal(of_pipe(record(folder, 'pipe', '500')), [50000, 50000, 500, 500])


@case
def a_forked_child_counts_its_own():
    with temporary_directory() as folder:
        runs = os.path.join(folder, 'runs') + '/'
        weft('record', '-a', 'thread,io', '-o', runs, '--', SUBJECT, 'fork', '600', '700', env={'XDG_RUNTIME_DIR': folder, 'WEFT_AGENT': 'none'})
        equal(sorted(of_pipe(trace)[2] for trace in glob.glob(runs + '*.weft')), [600, 700])


@case
def messages_and_moves_count_once():
    with temporary_directory() as folder:
        found = values(record(folder, 'messages'))
        equal([found['weft_io_requests', direction, 'unix'] for direction in ('in', 'out')], [1002, 1002])
        equal([found['weft_io_bytes', direction, 'unix'] for direction in ('in', 'out')], [10000, 10000])
        equal([found['weft_io_bytes', direction, 'pipe'] for direction in ('in', 'out')], [100, 100])


@case
def each_function_counts_what_it_moved():
    """And notes its failures. transfers_subject.c prints both."""
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        recorded = weft('record', '-a', 'thread,io', '-o', trace, '--', TRANSFERS, env={'XDG_RUNTIME_DIR': folder, 'WEFT_AGENT': 'none'})
        equal(recorded.stdout.splitlines(), run([TRANSFERS]).stdout.splitlines())
        lines = recorded.stdout.splitlines()
        failed = [line.removeprefix('note ') for line in lines if line.startswith('note ')]
        equal([event['text'] for event in json_lines(weft('dump', '--json', trace).stdout) if event['event'] == 'note'], failed)
        sums = [line.split() for line in lines if line.startswith('sum ')]
        found = {name: value for name, value in values(trace).items() if name[0].startswith('weft_io_')}
        wanted = collections.Counter()
        for _, direction, kind, moved, _, requests, _ in sums:
            for labels in ((), (direction,), (direction, kind)):
                wanted['weft_io_bytes', *labels] += int(moved)
                wanted['weft_io_requests', *labels] += int(requests)
        equal(found, wanted)


@case
def what_a_loop_reports_is_its():
    with temporary_directory() as folder:
        found = values(record(folder, 'loop', '1100'))
        equal(found['weft_io_bytes', 'in', 'pipe', '1'], 8800)
        equal(found['weft_io_requests', 'in', 'pipe'], 1100)


@case
def each_wait_for_a_lock_is_in_the_histograms():
    with temporary_directory() as folder:
        trace = record(folder, 'lock', '5')
        found = values(trace)
        for metric in ('weft_lock_wait_seconds', 'weft_lock_hold_seconds'):
            equal((found[metric, 'lock table_lock'], found[(metric,)]), (5, 5))
        assert found['weft_blocked_seconds', 'lock'] > 0
        text = weft('metrics', trace).stdout
        where = re.search(r'weft_lock_hold_seconds\{.*\n +like .*: weft why FILE (task:[0-9]+) --at (@[0-9]+)\n', text)
        assert where, text
        answer = weft('why', trace, where[1], '--at', where[2], status=None).stdout
        assert "'wait_for_lock'" in answer, answer


@case
def an_adapter_that_is_off_counts_nothing():
    with temporary_directory() as folder:
        found = values(record(folder, 'lock', '5', WEFT_CATEGORIES='io=off'))
        equal([name for name in found if name[0].startswith('weft_io')], [])


main()
