# SPDX-License-Identifier: ISC
"""Programs that nobody changed, whose threads wait for what only their own process can give: they have hung. Where others may give it, no
sentence says so."""
import os
import re

from hanging import Hang
from harness import BUILD, case, main, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'faulty-own')


def errors(hang):
    return [p for p in hang.problems() if p['severity'] == 'error']


@case
def threads_that_wait_for_messages_of_each_other_are_in_a_deadlock():
    for part, name, answer in (('pipes', 'pipe', 'only its own process can write to it (descriptors '),
                               ('sockets', 'unix fd [0-9]+', "A circle: thread 2 'left' again")):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, until=lambda p: p['problem'] == 'deadlock')
            text = r"'(left|right)' waits for %s \(descriptors [0-9]+ and [0-9]+\), which only its own process has.*; (left|right) waits, too" % name
            found = errors(hang)
            assert len(found) == 1 and found[0]['problem'] == 'deadlock' and re.search(text, found[0]['sentence']), (part, hang.problems())
            assert answer in hang.why('left'), (part, hang.why('left'))


@case
def messages_that_a_handler_or_a_child_may_send_are_waited_for():
    for part in ('handler', 'child'):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, waits=['pipe'])
            assert not errors(hang) and 'own process' not in str(hang.problems()) + hang.why('left'), (part, hang.problems())


@case
def only_a_futex_in_shared_memory_may_be_woken_by_others():
    for part, may_be in (('word', False), ('shared-word', True)):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, answer=('waiter', 'futex'))
            assert ('wait may end' in weft('dump', hang.folder).stdout) == may_be, part


main()
