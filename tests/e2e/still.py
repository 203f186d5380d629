# SPDX-License-Identifier: ISC
"""Programs that stand still until they are killed: an error where nothing could have let them go on, and no more than a hint
where something could."""
import os

from harness import BUILD, WEFT, case, equal, json_lines, main, run, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'still')
TERMINATED, INTERRUPTED = 128 + 15, 128 + 2


def problems(how, status=TERMINATED):
    """(severity, problem, sentence) of the first process."""
    with temporary_directory() as folder:
        result = run([WEFT, 'record', '-a', 'thread,io', '-o', folder + '/', SUBJECT, how])
        equal(result.returncode, status, result.stderr)
        found = json_lines(weft('dump', '--problems', '--json', folder).stdout)
        return [(p['severity'], p['problem'], p['sentence']) for p in found]


def grave(found):
    return [it for it in found if it[0] != 'hint']


def expect_error(how, problem, *texts):
    found = problems(how)
    assert found and found[0][:2] == ('error', problem), found
    for text in texts:
        assert text in found[0][2], found


@case
def a_missed_signal_is_an_error_if_no_thread_is_left():
    expect_error('missed', 'lost wake-up', 'waits in vain', 'signal_ready signalled')


@case
def threads_that_all_wait_for_each_other_are_an_error():
    expect_error('leaked', 'unanswered wait', 'semaphore slots', 'nothing is left that could end this')


@case
def a_wait_that_ctrl_c_ends_is_named():
    """The thread that waits for the same still does so, but may be one of a pool."""
    found = problems('interrupted', INTERRUPTED)
    assert found and found[0][:2] == ('warning', 'unanswered wait'), found
    assert "'still' waits for condition" in found[0][2] and 'until Ctrl-C; nothing else could end it' in found[0][2], found
    found = problems('served', INTERRUPTED)
    assert 'Ctrl-C' not in str(found), found


@case
def a_wait_that_may_end_is_none():
    for how in 'limited', 'handled', 'keeps':
        found = problems(how)
        assert not [it for it in found if it[0] == 'error' or 'nothing is left' in it[2]], (how, found)


@case
def a_request_without_an_answer_is_a_warning_and_an_idle_server_is_not():
    asks, serves = problems('asks'), problems('serves')
    first = grave(asks)
    assert first and first[0][:2] == ('warning', 'unanswered wait'), asks
    equal(grave(serves), [])


main()
