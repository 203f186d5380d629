# SPDX-License-Identifier: ISC
"""Programs that nobody changed, which use descriptors in a faulty way: the problem names what they do. Their sound twins have no such problem."""
import os
import re

from hanging import Hang
from harness import BUILD, case, main, temporary_directory

SUBJECT = os.path.join(BUILD, 'tests', 'faulty-io')


def about(hang, text):
    return ['%s %s' % (p['severity'], p['problem']) for p in hang.problems() if text in p['sentence']]


@case
def a_lock_is_kept_while_a_client_does_not_read():
    with temporary_directory() as folder:
        text = "'server' keeps lock table from other for "
        hang = Hang(SUBJECT, 'locked', folder=folder, until=lambda p: text in p['sentence'])
        assert about(hang, text) == ['warning contention'], hang.problems()
        assert about(hang, ' is not read'), hang.problems()


@case
def a_lock_that_is_given_back_before_the_reply_is_not_kept():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'unlocked', folder=folder, waits=['tcp :'])
        assert not about(hang, 'keeps lock'), hang.problems()


@case
def epoll_does_not_report_what_is_left():
    for part, text in (('unread', ' has 150 bytes left unread (EPOLLET)'), ('unarmed', ' is not armed again (EPOLLONESHOT)')):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, answer=('task:1', text))
            assert about(hang, text) == ['warning unanswered wait'], (part, hang.problems())


@case
def what_is_read_or_armed_again_is_no_reason():
    for part in ('read', 'armed'):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, answer=('task:1', 'waits in epoll'))
            assert 'EPOLL' not in str(hang.problems()) + hang.why('task:1'), (part, hang.problems())


@case
def a_lock_is_lost_with_another_descriptor_of_the_file():
    with temporary_directory() as folder:
        text = 'loses its lock of /tmp/weft-test-'
        hang = Hang(SUBJECT, 'lose-lock', folder=folder, until=lambda p: text in p['sentence'])
        assert about(hang, text) == ['warning lost lock'], hang.problems()


@case
def a_lock_that_was_given_back_is_not_lost():
    for part in ('keep-lock', 'lose-none'):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, waits=['any signal'])
            assert not about(hang, 'loses its lock'), (part, hang.problems())


@case
def a_full_pipe_that_only_its_writer_could_read_is_a_deadlock():
    for part in ('fill-own', 'fill-both'):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, until=lambda p: p['problem'] == 'deadlock')
            found = [p for p in hang.problems() if p['severity'] == 'error']
            text = r'waits to write to pipe \(descriptors [0-9]+ and [0-9]+\), which only its own process can read'
            assert len(found) == 1 and found[0]['problem'] == 'deadlock' and re.search(text, found[0]['sentence']), (part, found)
            assert 'only its own process can read it (descriptors ' in hang.why('task:1'), (part, hang.why('task:1'))


@case
def a_filter_that_was_begun_by_vfork_is_in_the_circle():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'fill-filter', folder=folder, waits=['pipe', 'pipe'])
        assert about(hang, 'waits for pipe of ') == ['error deadlock'], hang.problems()


@case
def a_full_pipe_that_others_may_read_is_no_deadlock():
    for part in ('fill-for-thread', 'fill-for-child', 'fill-for-clone', 'fill-handed-on'):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, waits=['pipe'])
            assert not [p for p in hang.problems() if p['severity'] == 'error'], (part, hang.problems())
            assert part == 'fill-for-thread' or 'own process' not in str(hang.problems()) + hang.why('task:1'), (part, hang.why('task:1'))


main()
