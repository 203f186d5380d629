# SPDX-License-Identifier: ISC
"""Queues of messages and semaphores of the kernel, between processes that nobody changed: who ended a wait, and who does not."""
import contextlib
import os
import re
import subprocess

from hanging import Hang
from harness import BUILD, case, equal, json_lines, main, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'queues-subject')
ROUNDS = 5


@contextlib.contextmanager
def hanging(part, **until):
    """A part that hangs until it is killed: its queues of System V are left then."""
    with temporary_directory() as folder:
        hang = Hang(SUBJECT, part, folder=folder, **until)
        try:
            yield hang
        finally:
            labels = [t['label'] or '' for t in json_lines(weft('dump', '--tasks', '--json', hang.folder).stdout)]
            for number in {n for label in labels for n in re.findall(r'message queue (\d+)', label)}:
                subprocess.run(['ipcrm', '-q', number], check=True)


def ended_waits(part, label):
    """(task that waits, label of the task that it read, who sent what ended the wait) of each wait of a part for what is called so."""
    with temporary_directory() as folder:
        weft('record', '-a', 'thread,io', '-o', folder + '/traces/', SUBJECT, part, env={'XDG_RUNTIME_DIR': folder})
        tasks = {t['task']: t['label'] or '' for t in json_lines(weft('dump', '--tasks', '--json', folder + '/traces').stdout)}
        edges = json_lines(weft('dump', '--edges', '--json', folder + '/traces').stdout)
        sources = {task for task, name in tasks.items() if re.fullmatch(label, name)}
        equal(len(sources), 1, tasks)
        senders = [tasks[e['from']] for e in edges if e['edge'] == 'receive' and e['to'] in sources]
        return senders, [tasks[e['from']] for e in edges if e['edge'] == 'read' and e['to'] in sources]


@case
def the_sender_of_another_process_is_named():
    for part, label, sender in (('posts', r'message queue /weft-jobs-\d+', 'poster'), ('messages', r'message queue \d+', 'sender'),
                                ('tokens', r'semaphore 1 of set \d+', 'adder'), ('thread', r'message queue /weft-jobs-\d+', 'feeder')):
        senders, readers = ended_waits(part, label)
        # On a busy machine, a message may be there before the reader asks.
        assert 1 <= len(readers) <= ROUNDS, (part, readers)
        equal(senders, len(readers) * [sender], part)


@case
def a_full_queue_leads_to_the_process_that_read_from_it():
    with hanging('full', waits=['room in message queue', 'any signal']) as hang:
        why = hang.why('room in')
        assert re.search(r"room \d+ 'room in message queue /weft-job.*' was made by thread \d+ 'slow-reader'", why), why


@case
def a_full_queue_without_its_reader_says_so():
    with hanging('gone', waits=['room in message queue']) as hang:
        why = hang.why('task:0/1')
        assert re.search(r'its reader ended: .*reader.* at [0-9.]+ m?s', why), why
        assert [p for p in hang.problems() if 'its reader ended' in p['sentence']], hang.problems()


@case
def a_circle_of_queues_is_no_deadlock_for_certain():
    """Another process may write to either."""
    with hanging('circle', waits=['message queue', 'message queue']) as hang:
        assert "was written by thread" in hang.why('task:0/1'), hang.why('task:0/1')
        equal([p for p in hang.problems() if p['problem'] == 'deadlock'], [])


main()
