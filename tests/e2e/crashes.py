# SPDX-License-Identifier: ISC
"""A program that a signal killed because of what it did has failed. One that others killed has not."""
import os
import re
import signal
import subprocess

from harness import BUILD, WEFT, case, equal, json_lines, main, run, temporary_directory, weft
from waiting import wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'crashes-subject')


def record(folder, part, number=None):
    """The problems but hints. `number`: a signal that the program gets when it waits."""
    trace, env = os.path.join(folder, 'trace.weft'), {'XDG_RUNTIME_DIR': folder}
    command = [WEFT, 'record', '-a', 'thread,io', '-o', trace, '--', SUBJECT, part]
    if number is None:
        run(command, env=env)
    else:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, **env))
        pid = int(process.stdout.readline())
        wait_until('a wait', lambda: 'any signal' in weft('why', pid, env=env, status=None).stdout, process)
        os.kill(pid, number)
        process.communicate()
    return [p for p in json_lines(weft('dump', '--problems', '--json', trace).stdout) if p['severity'] != 'hint']


def is_one(found, severity, sentence):
    failed = [p for p in found if p['problem'] == 'failed']
    return found[:1] == failed and failed[0]['severity'] == severity and re.search(sentence, failed[0]['sentence'])


@case
def a_crash_names_the_thread_that_ran():
    with temporary_directory() as folder:
        found = record(folder, 'crash')
        assert is_one(found, 'error', r"^crashes-subject [0-9]+ was killed by SIGSEGV at .*, while thread [0-9]+ 'crashes-subject' ran\.$"), found


@case
def a_writer_to_nobody_is_killed_by_the_pipe():
    with temporary_directory() as folder:
        found = record(folder, 'pipe')
        assert is_one(found, 'warning', r'was killed by SIGPIPE at .*: nobody read any more what it wrote to a pipe or socket\.$'), found


@case
def a_pipeline_whose_reader_has_seen_enough_is_sound():
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out')
        os.mkdir(out)
        run([WEFT, 'record', '-a', 'thread,io', '--keep-all', '-o', out, '--', 'sh', '-c', 'yes | head -1'], env={'XDG_RUNTIME_DIR': folder})
        found = json_lines(weft('dump', '--problems', '--json', out).stdout)
        equal([p for p in found if p['severity'] != 'hint'], [])


@case
def a_program_that_waits_may_have_been_sent_the_signal():
    with temporary_directory() as folder:
        found = record(folder, 'wait', signal.SIGABRT)
        assert is_one(found, 'warning', r'was killed by SIGABRT at [^,]*\.$'), found


@case
def a_program_that_others_end_has_not_failed():
    for number in (signal.SIGTERM, signal.SIGKILL):
        with temporary_directory() as folder:
            found = record(folder, 'wait', number)
            assert not found, (number, found)


main()
