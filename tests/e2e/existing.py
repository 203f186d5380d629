# SPDX-License-Identifier: ISC
"""weft record with an output that exists, or that another recorder writes."""
import contextlib
import json
import os
import signal
import subprocess

from harness import BUILD, WEFT, case, equal, main, temporary_directory, weft
from waiting import communicate, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'record-subject')


def notes(path):
    return json.loads(weft('info', '--json', path).stdout)['by_event'].get('note', 0)


@contextlib.contextmanager
def recorder(folder, count, *options):
    """A weft record whose program has made so many notes and waits; ends when the block does."""
    record = subprocess.Popen([WEFT, 'record', *options, '-o', 'x.weft', SUBJECT, str(count), 'wait'], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, XDG_RUNTIME_DIR=folder))
    record.report = None
    equal(record.stdout.readline(), 'ready\n')
    try:
        yield record
    finally:
        record.send_signal(signal.SIGUSR2)
        record.report = communicate(record)[1]
    equal(record.returncode, 0, record.report)


@contextlib.contextmanager
def place():
    with temporary_directory() as folder:
        os.chmod(folder, 0o700)
        yield folder


def record_now(folder, count, *options, status=0):
    return weft('record', *options, '-o', 'x.weft', SUBJECT, str(count), 'exit', '0', cwd=folder,
                env={'XDG_RUNTIME_DIR': folder}, status=status).stderr


def await_file(path):
    wait_until(path, lambda: os.path.exists(path))


@case
def an_older_trace_is_replaced():
    with place() as folder:
        record_now(folder, 3)
        record_now(folder, 4)
        equal((notes(os.path.join(folder, 'x.weft')), os.path.exists(os.path.join(folder, 'x_2.weft'))), (4, False))


@case
def a_trace_of_another_recorder_stays():
    for has_older in (False, True):
        with place() as folder:
            if has_older:
                record_now(folder, 2)
            with recorder(folder, 3) as first:
                record_now(folder, 4)
            assert 'x.weft was made by another program meanwhile, and stays' in first.report, first.report
            assert 'weft: x_2.weft: ' in first.report, first.report
            equal([notes(os.path.join(folder, name)) for name in ('x.weft', 'x_2.weft')], [4, 3])


@case
def a_trace_that_is_being_written_is_refused():
    for option in ('--stream', '--in-place'):
        with place() as folder:
            with recorder(folder, 3, option):
                await_file(os.path.join(folder, 'x.weft'))
                for options in ((), ('--stream',), ('--in-place',)):
                    report = record_now(folder, 4, *options, status=125)
                    assert 'x.weft is being recorded by another process; refusing to replace it' in report, report
            equal(notes(os.path.join(folder, 'x.weft')), 3)
            record_now(folder, 4)  # it is finished
            equal(notes(os.path.join(folder, 'x.weft')), 4)


main()
