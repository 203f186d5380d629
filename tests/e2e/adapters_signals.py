# SPDX-License-Identifier: ISC
"""Signals of programs that nobody changed: from the process or thread that sends one to what gets it."""
import os
import re

from harness import BUILD, case, equal, json_lines, main, run, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'signal-subject')
PARTS = ('exact', 'handler', 'wait', 'descriptor', 'thread', 'kill', 'failure', 'alarm', 'jump')
SELF = 'signal-subject'


class Run:
    """The trace of a part: edges of messages by what they connect, without those of processes' begins and ends, and
    notes with the tasks that have them; process ids are N."""

    def __init__(self, part):
        with temporary_directory() as folder:
            weft('record', '--size', '64K', '-a', 'thread,io', '-o', folder + '/', '--', SUBJECT, part,
                 env={'XDG_RUNTIME_DIR': folder})
            equal(weft('info', folder).stderr, '')
            tasks = json_lines(weft('dump', '--tasks', '--json', folder).stdout)
            edges = json_lines(weft('dump', '--edges', '--json', folder).stdout)
            events = json_lines(weft('dump', '--json', folder).stdout)
        self.tasks = tasks
        name = {(task.get('buffer', 0), task['task']): re.sub(r' \d+$', ' N', task['label']) for task in tasks}
        received = [(name[edge.get('from_buffer', edge.get('buffer', 0)), edge['from']], name[edge.get('buffer', 0), edge['to']])
                    for edge in edges if edge['edge'] == 'receive']
        self.edges = [edge for edge in received if edge[1] != 'exit of process N'][len(set(t.get('buffer', 0) for t in tasks)) - 1:]
        self.deaths = [edge for edge in received if edge[1] == 'exit of process N']
        self.notes = [(name[event.get('buffer', 0), event['task']], re.sub(r' \d+$', ' N', event['text']))
                      for event in events if event['event'] == 'note']


def check(part, edges, notes):
    found = Run(part)
    equal(found.edges, edges, part)
    equal(sorted(found.notes), sorted(notes), part)


@case
def a_handler_gets_it_in_a_wait():
    check('handler', [(SELF, 'any signal')],
          [(SELF, 'SIGUSR1 to process N'), ('any signal', 'SIGUSR1 from process N')])


@case
def a_wait_for_signals_gets_it():
    check('wait', [(SELF, 'signal SIGUSR1')],
          [(SELF, 'SIGUSR1 to process N'), ('signal SIGUSR1', 'SIGUSR1 from process N')])


@case
def a_descriptor_gets_it():
    check('descriptor', [(SELF, 'signalfd')],
          [(SELF, 'SIGUSR1 to process N'), ('signalfd', 'SIGUSR1 from process N')])


@case
def a_thread_gets_it():
    check('thread', [(SELF, 'signal SIGUSR1 SIGUSR2')],
          [(SELF, 'SIGUSR1 to thread N'), ('signal SIGUSR1 SIGUSR2', 'SIGUSR1 from process N')])


@case
def a_wait_for_a_child_leads_to_its_killer():
    found = Run('kill')
    equal(found.deaths, [(SELF, 'exit of process N')] * 2)
    equal(sorted(found.notes), [('exit of process N', 'killed by SIGTERM'), (SELF, 'SIGTERM to process N')])


@case
def a_signal_that_was_not_sent_is_noted():
    check('failure', [], [(SELF, 'SIGCONT to process N'), (SELF, 'kill: ESRCH')])


@case
def the_kernel_sends_some():
    check('alarm', [], [('any signal', 'SIGALRM')])


@case
def a_handler_that_jumps_ends_the_wait():
    found = Run('jump')
    calls = [(task['label'], task['outcome']) for task in found.tasks if task['kind'] == 'timer']
    equal(calls, [('sleep 100 s', 'timed_out'), ('sleep 20 ms', 'fulfilled')])


@case
def dispositions_are_as_the_program_has_set_them():
    with temporary_directory() as folder:
        for part in PARTS:
            equal(run([SUBJECT, part]).returncode, 0, part)
        for adapters in ('thread', 'io', 'none'):
            weft('record', '-a', adapters, '-o', os.path.join(folder, adapters), '--', SUBJECT, 'exact',
                 env={'XDG_RUNTIME_DIR': folder})


main()
