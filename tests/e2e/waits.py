# SPDX-License-Identifier: ISC
"""Programs that nobody changed, and that hang: what the trace shows of the reason, live and saved."""
import os
import re

from hanging import Hang, found
from harness import BUILD, case, equal, json_lines, main, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'waits-subject')
A_CHILD = 'exit of a child'


@case
def a_parent_that_waits_for_a_child_that_waits_for_it():
    """However it waits, and if it may have several children, of all of them."""
    calls = [('wait', A_CHILD), ('waitpid+', A_CHILD), ('waitid', A_CHILD), ('waitid+', A_CHILD), ('wait3', A_CHILD), ('wait4+', A_CHILD),
             ('group', A_CHILD), ('waitidfd', 'exit of process'), ('pidfd', 'exit of process')]
    for how, label in calls:
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, 'parent', how, waits=[label] + ['pipe'] * (1 + how.count('+')), folder=folder)
            equal(found(hang), ['error deadlock'], (how, hang.problems()))
            children = '|'.join(map(str, hang.pids[1:]))  # a process of one thread is called by its name and number
            assert re.search("thread 1 'waits-subject' waits for %s[^,]* of waits-subject (%s)" % (label, children),
                             hang.problems()[0]['sentence']), (how, hang.problems())
            why = hang.why(label)
            assert ' is the end of thread ' in why and ('or of 1 other' in why) == ('+' in how) and '\n end ' in why and 'A circle: ' in why, (how, why)


@case
def a_child_that_may_end_lets_its_parent_go_on():
    for how in ('wait-', 'group-'):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, 'parent', how, waits=[A_CHILD, 'pipe', 'any signal'], folder=folder)
            assert 'error deadlock' not in found(hang), (how, hang.problems())


@case
def a_helper_that_has_inherited_a_pipe():
    """The reader waits for the end of the pipe, which the helper keeps open without writing."""
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'inherited', '', waits=['exit of process', 'pipe', 'any signal'], folder=folder)
        why = hang.why('exit of process %d' % hang.pids[1])
        assert re.search("pipe [0-9]+ 'pipe' is kept open by thread [0-9]+ 'waits-subject' in waits-subject %d" % hang.pids[2], why), why
        assert re.search("thread [0-9]+ 'waits-subject' waits for call [0-9]+ 'any signal'", why), why
    with temporary_directory() as folder:
        # Also by standard output, in a program that it has executed.
        hang = Hang(SUBJECT, 'inherited', 'executes', waits=['exit of process', 'pipe', 'sleep 600'], folder=folder)
        why = hang.why('exit of process %d' % hang.pids[1])
        assert re.search("pipe [0-9]+ 'pipe' is kept open by thread [0-9]+ 'sleep' in sleep %d" % hang.pids[2], why), why


@case
def a_parent_is_not_slow_for_a_child():
    """It is called as its children are, and lives as long as all of them."""
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace')
        weft('record', '-a', 'thread', '--size', '1M', '-o', trace + '/', '--', SUBJECT, 'children', '12')
        slow = [problem for problem in json_lines(weft('dump', '--problems', '--json', trace).stdout) if problem['problem'] == 'slow']
        assert not any("thread 1 'waits-subject' takes" in problem['sentence'] for problem in slow), slow


@case
def a_writer_that_readers_pass():
    """Readers are recorded from when the writer waits: those who read then, and those who come later."""
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'readers', '', folder=folder, until=lambda problem: problem['problem'] == 'starvation')
        first = hang.problems()[0]
        equal((first['severity'], first['problem']), ('error', 'starvation'), hang.problems())
        assert re.search("thread 1 'waits-subject' waits .* for rwlock table .* until the end, while others had it", first['sentence']), first
        why = hang.why('waits-subject')
        assert re.search("rwlock [0-9]+ 'rwlock table' is held by thread [0-9]+ 'reader' since ", why), why


def is_long_backlog(problem):
    """A killed program that accepts nothing for half a second hangs."""
    return (problem['problem'] == 'queue' and problem['end'] - problem['start'] > 600 * 10**6 and
            '5 until the end' in problem['sentence'])


@case
def connections_that_wait_to_be_accepted():
    """One of the clients is served, the others are in the kernel's queue."""
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'backlog', '6', folder=folder, until=is_long_backlog)
        queue = [problem for problem in hang.problems() if problem['problem'] == 'queue']
        equal([problem['severity'] for problem in queue], ['error'], hang.problems())
        assert re.search('[56] tasks wait at accept .* to be accepted, for .*, 5 until the end',
                         queue[0]['sentence']), queue


@case
def a_circle_through_a_connection_of_a_program_to_itself():
    """The only client waits for the server, that for a lock, and the holder of the lock for the client's end."""
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'backlog', '1', folder=folder, until=lambda problem: problem['problem'] == 'deadlock')
        equal(found(hang)[0], 'error deadlock', hang.problems())
        why = hang.why('client')
        assert re.search("tcp [0-9]+ 'tcp [0-9.:]+' is written by thread [0-9]+ 'server'", why) and "A circle: thread 4 'client'" in why, why


main()
