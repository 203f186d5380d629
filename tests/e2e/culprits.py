# SPDX-License-Identifier: ISC
"""Programs that nobody changed, and that hang by a fault of their own: the problem names who should have let the others go on."""
import os
import re

from hanging import Hang
from harness import BUILD, case, main, temporary_directory

SUBJECT = os.path.join(BUILD, 'tests', 'faulty')

# Each part, a task that waits and the answer about it, and the severities and the sentence of the problem. A thread that waits for a condition
# is one of an idle pool until half a second is over, so some severities depend on the time.
HANGS = [
    ('eventfds', 'ping', 'only pong signalled it, and waits for eventfd', 'warning unanswered wait|error deadlock',
     r"'(ping|pong)' waits for eventfd (.*; only (ping|pong) signalled it, and waits for eventfd [0-9]+|"
     r"\(descriptor [0-9]+\), which only its own process has.*; (ping|pong) waits, too)"),
    ('with-lock', 'consumer', 'only producer signalled it, and waits for lock outer of consumer', '(error|warning) unanswered wait',
     "'consumer' waits for condition .*; only producer signalled it, and waits for lock outer"),
    ('barrier', 'solver-0', 'solver-2 came to it before, and ended at', '(error|warning|hint) unanswered wait',
     "'solver-[01]' waits for condition .* 'barrier step'.*; solver-2 came to it before, and ended at"),
    ('kept-pipe', 'exit of process', 'A circle', 'error deadlock', 'waits for exit of process .* of faulty'),
    ('left-lock', 'exporter', 'was held by thread 2 ', '(error|warning) unanswered wait',
     "'exporter' waits for lock .* 'lock table'.*; .* had it, and ended at"),
    ('early', 'faulty', 'the last signal was at', '(error|warning) unanswered wait',
     "'faulty' waits for condition .* 'condition started'.*; .* signalled it .* before"),
    ('own-pipe', 'exit of process', 'its own process keeps the writing end open', None, None),
]


@case
def each_problem_names_the_culprit():
    for part, task, answer, problem, sentence in HANGS:
        with temporary_directory() as folder:
            until = {'waits': [task, 'pipe']} if part.endswith('pipe') else {'answer': (task, answer)}
            hang = Hang(SUBJECT, part, folder=folder, **until)
            assert answer in hang.why(task), (part, hang.why(task))
            if not problem:  # the child's end may not be known
                continue
            wanted = [p for p in hang.problems() if re.search(sentence, p['sentence'])]
            assert wanted and re.fullmatch(problem, '%s %s' % (wanted[0]['severity'], wanted[0]['problem'])), (part, hang.problems())


@case
def a_child_waits_for_a_lock_that_a_thread_had_at_the_fork():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'fork-lock', folder=folder, waits=['exit of process', 'lock outer'])
        copy = 'logger had it at the fork'
        assert copy + ', nobody has it here' in hang.why('lock outer'), hang.why('lock outer')
        wanted = [p for p in hang.problems() if copy in p['sentence']]
        assert wanted and wanted[0]['problem'] == 'unanswered wait' and wanted[0]['severity'] in ('error', 'warning'), hang.problems()


@case
def a_lock_of_the_thread_that_forked_is_no_copy_without_a_holder():
    for part in ('own-lock', 'own-lock-twice'):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, waits=['exit of process', '2 tasks wait for call'])
            assert 'at the fork' not in hang.why('lock inner') + str(hang.problems()), (part, hang.why('lock inner'), hang.problems())


@case
def a_lock_of_a_file_is_kept_by_a_child_of_its_taker():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'kept-file', folder=folder, waits=['held by process', 'any signal'])
        why = hang.why('task:0/1')
        assert re.search('was held by faulty [0-9]+, which had ended, or by faulty %d' % hang.pids[1], why), why


def about(hang, text):
    return ['%s %s' % (p['severity'], p['problem']) for p in hang.problems() if text in p['sentence']]


@case
def one_signal_came_for_two_children():
    for part, severity, call in (('lost-child', 'error', 'signal SIGCHLD'), ('lost-handled', 'warning', 'any signal'),
                                 ('lost-read', 'warning', 'signalfd')):
        with temporary_directory() as folder:
            text = '1 child of thread 1 \'faulty\' has ended and was not waited for; it waits for ' + call
            hang = Hang(SUBJECT, part, folder=folder, until=lambda p, text=text: text in p['sentence'])
            assert about(hang, text) == [severity + ' leak'], (part, hang.problems())


@case
def all_children_were_waited_for_at_one_signal():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'all-children', folder=folder, waits=['signal SIGCHLD'])
        assert not about(hang, 'not waited for'), hang.problems()


@case
def a_child_that_has_begun_since_may_send_the_signal():
    with temporary_directory() as folder:
        text = "2 children of thread 1 'faulty' have ended"
        hang = Hang(SUBJECT, 'another-child', folder=folder, until=lambda p: text in p['sentence'])
        assert about(hang, 'not waited for') == ['hint leak'], hang.problems()


@case
def a_suspended_child_is_called_so():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'suspended', folder=folder, waits=['pipe', 'suspended by SIGSTOP'])
        assert about(hang, 'suspended by SIGSTOP') == ['warning unanswered wait'], hang.problems()


@case
def a_child_that_goes_on_again_is_not_suspended():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'continued', folder=folder, waits=['pipe', 'any signal'])
        assert not about(hang, 'suspended') and 'suspended' not in hang.why('task:0/1'), (hang.problems(), hang.why('task:0/1'))


@case
def one_signal_of_several_is_no_lost_wake_up():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'lost-task', folder=folder, waits=['condition one_done'])
        assert about(hang, 'waits in vain') in ([], ['hint lost wake-up']), hang.problems()


@case
def a_client_waits_for_the_server_of_its_datagram():
    for part in ('sendto', 'connected'):
        with temporary_directory() as folder:
            hang = Hang(SUBJECT, part, folder=folder, waits=['udp', '2 tasks wait for call'])
            why = hang.why('task:1')
            assert re.search(r"udp [0-9]+ 'udp [^']*' is written by thread [0-9]+ 'faulty'", why), (part, why)
            assert re.search("lock [0-9]+ 'lock outer' is held by thread [0-9]+ 'refresher'", why), (part, why)


@case
def a_client_of_two_servers_waits_for_neither():
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, 'two-servers', folder=folder, waits=['udp', '2 tasks wait for call'])
        why = hang.why('task:1')
        assert "'udp " in why and 'is written by' not in why, why


main()
