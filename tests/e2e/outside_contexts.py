# SPDX-License-Identifier: ISC
"""weft why PID says for which span of OpenTelemetry a thread works, of a program that shows it by the texts of OTEP 4719 and 4947 alone."""
import contextlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile

from harness import case, equal, json_lines, main, run, skip, weft
from waiting import wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, 'contexts_publisher.c')
FOLDER = tempfile.TemporaryDirectory(prefix='weft-test-')


def built(name, *flags):
    path = os.path.join(FOLDER.name, name)
    if not os.path.exists(path):
        if not shutil.which('gcc'):
            skip('no compiler')
        result = run(['gcc', '-D_GNU_SOURCE', '-O2', SOURCE, *flags, '-pthread', '-o', path])
        equal(result.returncode, 0, result.stderr)
    return path


def library(name, *flags):
    return built(name, '-DLIBRARY', '-shared', '-fPIC', *flags)


@contextlib.contextmanager
def running(*command, wanted=lambda threads: True):
    """The answer about a program by thread, once its threads are where they stay, and it is as wanted: a busy machine may give the spinner no turn to stop."""
    with subprocess.Popen(command) as process:
        try:
            threads, errors, looks = {}, [], []

            def has_begun():
                result = weft('why', process.pid, '--json', status=None)
                threads.clear()
                threads.update((line['name'], line) for line in json_lines(result.stdout) if 'tid' in line)
                errors[:] = [result.returncode, result.stderr]
                is_there = set(threads) == {'first', 'worker', 'idle', 'spinner'} and \
                    all('pause' in line['sentence'] for name, line in threads.items() if name != 'spinner')
                looks.append(is_there)
                # The first look that finds them may have begun before they had, when no context was shown.
                return looks[-2:] == [True, True] and wanted(threads)
            try:
                wait_until('the threads are there', has_begun, process, processor=300)  # the spinner uses all that it gets
            except AssertionError as error:
                raise AssertionError('%s: %s %s' % (command, threads, errors)) from error
            yield process.pid, threads
        finally:
            process.kill()


def check_machine():
    if platform.machine() != 'x86_64':
        skip('thread-local memory is read on x86-64 only')


def check(*command):
    check_machine()
    shop = 'shop \u2615'
    wanted = {'first': (shop, '11' * 16, '11' * 8), 'worker': (shop, '22' * 16, '22' * 8), 'idle': (shop, None, None), 'spinner': (shop, '33' * 16, '33' * 8)}

    def is_found(threads):
        return {name: (line.get('service'), line.get('trace_id'), line.get('span_id')) for name, line in threads.items()} == wanted
    with running(*command, wanted=is_found) as (pid, _):
        said = weft('why', pid, status=None).stdout
        assert re.search(r"^\S+ %d, service 'shop \u2615':$" % pid, said, re.M), said
        assert re.search(r"thread \d+ 'worker' sleeps in pause.*; it works for span 2{16} of trace 2{32}\.$", said, re.M), said
        assert re.search(r"thread \d+ 'idle' sleeps in pause[^;]*\.$", said, re.M), said
        check_info(pid)


def check_info(pid):
    """weft info PID has the same. The spinner may get no turn to stop."""
    said = weft('info', pid).stdout
    assert re.search(r"^process     \S+ %d\nservice     shop \u2615\ncontexts    [23] of 4 threads$" % pid, said, re.M), said
    assert re.search(r"^            thread \d+ 'worker' works for span 2{16} of trace 2{32}$", said, re.M), said
    assert "'idle'" not in said, said
    got = json.loads(weft('info', '--json', pid).stdout)
    equal((got['pid'], got['service'], got['denied']), (pid, 'shop \u2615', 0))
    threads = {thread['name']: (thread.get('trace_id'), thread.get('span_id')) for thread in got['threads']}
    threads.pop('spinner')
    equal(threads, {'first': ('11' * 16, '11' * 8), 'worker': ('22' * 16, '22' * 8), 'idle': (None, None)})


@case
def a_program_has_the_variable():
    check(built('position-independent', '-rdynamic', '-fPIE', '-pie'), 'good')
    check(built('fixed', '-rdynamic', '-fno-pie', '-no-pie'), 'development')


@case
def a_library_has_the_variable():
    for name, *flags in (('general.so', '-mtls-dialect=gnu'), ('descriptor.so', '-mtls-dialect=gnu2'), ('initial.so', '-ftls-model=initial-exec'),
                         ('own.so', '-Wl,-Bsymbolic', '-mtls-dialect=gnu'), ('own-descriptor.so', '-Wl,-Bsymbolic', '-mtls-dialect=gnu2')):
        path = library(name, *flags)
        check(built('with-' + name, '-DUSES_LIBRARY', path), 'good')


@case
def a_library_is_loaded_late():
    program = built('position-independent-quiet', '-fPIE', '-pie')  # its own variable is not exported
    for name, flag in (('late.so', '-mtls-dialect=gnu'), ('late-descriptor.so', '-mtls-dialect=gnu2')):
        check(program, 'good', library(name, flag))


@case
def what_is_no_context_is_not_said():
    check_machine()
    program = built('position-independent', '-rdynamic', '-fPIE', '-pie')
    for way in ('no-version', 'go', 'zero', 'invalid', 'odd', 'unmapped', 'damaged', 'far', 'updating', 'signature', 'version', 'large'):
        with running(program, way) as (_, threads):
            service = 'shop \u2615' if way in ('no-version', 'go', 'zero', 'invalid', 'odd', 'unmapped') else None
            equal({(line.get('service'), line.get('trace_id')) for line in threads.values()}, {(service, None)}, way)


@case
def a_process_that_shows_nothing_has_no_context():
    with subprocess.Popen(['sleep', '1000']) as process:
        try:
            said = weft('info', process.pid, status=3).stderr
        finally:
            process.kill()
    assert 'process %d has no ring' % process.pid in said, said
    assert 'there is no process 4194304' in weft('info', '4194304', status=3).stderr  # above all that Linux gives


main()
