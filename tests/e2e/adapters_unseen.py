# SPDX-License-Identifier: ISC
"""The adapters say what they could not record."""
import json
import os
import platform
import shutil

from harness import SOURCE, WEFT, case, equal, main, run, skip, temporary_directory, weft

HERE = os.path.join(SOURCE, 'tests', 'e2e')
SKIPPED = 77


def compiled(folder, output, source, *flags):
    """The path of the program or library."""
    path = os.path.join(folder, output)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    result = run(['gcc', '-O1', '-D_GNU_SOURCE', os.path.join(HERE, source), '-o', path, *flags, '-pthread', '-ldl'])
    assert result.returncode == 0, result.stderr
    return path


def subject(folder, *flags):
    return compiled(folder, 'subject', 'unseen_subject.c', *flags)


def record(folder, *command, options=(), **variables):
    """The program's output, the last words of weft, and what `weft info` says."""
    trace = os.path.join(folder, 't.weft')
    for old in (trace,) + tuple(os.path.join(folder, name) for name in os.listdir(folder) if '.weft' in name):
        if os.path.exists(old):
            os.remove(old)
    result = run([WEFT, 'record', '-a', 'thread,io', *options, '-o', trace, *command],
                 env={'XDG_RUNTIME_DIR': folder, **variables}, cwd=folder)
    if result.returncode == SKIPPED:
        skip('this system does not allow it')
    equal(result.returncode, 0, result.stdout + result.stderr)
    traces = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.weft'))
    return result, traces, json.loads(weft('info', '--json', *traces).stdout)


def facts(info):
    return sorted((fact['kind'], os.path.basename(fact['what'])) for fact in info['unseen'])


STATIC = 'int main(void) { return 0; }\n'


@case
def a_program_that_is_linked_statically():
    with temporary_directory() as folder:
        program, source, child = subject(folder), os.path.join(folder, 's.c'), os.path.join(folder, 'child')
        with open(source, 'w', encoding='utf-8') as file:
            file.write(STATIC)
        for flags in (['-static'], ['-static-pie']):
            built = run(['gcc', *flags, source, '-o', child])
            if built.returncode:
                skip('no static libc')
            for how in ('exec', 'vfork', 'spawn'):
                result, _, info = record(folder, program, how, child)
                equal(facts(info), [('static', 'child')], how)
                assert 'is not recorded: it is statically linked' in result.stderr, result.stderr
            _, _, info = record(folder, program, 'fail', child)
            equal(facts(info), [])


@case
def programs_that_are_recorded_or_missing():
    with temporary_directory() as folder:
        program = subject(folder)
        for how in ('exec', 'vfork', 'spawn'):
            _, _, info = record(folder, program, how, shutil.which('true'))
            equal(facts(info), [])


@case
def a_program_that_gets_other_rights():
    if os.getuid() != 0:
        skip('only root can make such a program')
    with temporary_directory() as folder:
        program, child = subject(folder), os.path.join(folder, 'child')
        shutil.copy(shutil.which('true'), child)
        os.chown(child, 65534, 65534)
        os.chmod(child, 0o4755)
        os.chmod(folder, 0o755)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            skip('this file system gives no rights')
        _, _, info = record(folder, program, 'exec', child)
        equal(facts(info), [('rights', 'child')])
        os.chown(child, 0, 0)
        os.chmod(child, 0o4755)
        _, _, info = record(folder, program, 'exec', child)
        equal(facts(info), [])


@case
def a_program_for_another_machine():
    with temporary_directory() as folder:
        program, child = subject(folder), os.path.join(folder, 'child')
        with open(shutil.which('true'), 'rb') as file:
            image = bytearray(file.read())
        image[18:20] = (243).to_bytes(2, 'little') if platform.machine() != 'riscv64' else (62).to_bytes(2, 'little')
        with open(child, 'wb') as file:
            file.write(image)
        os.chmod(child, 0o755)
        # The kernel refuses it, so it has not been executed: the fact is taken back.
        result = run([WEFT, 'record', '-a', 'thread,io', '-o', os.path.join(folder, 't.weft'), program, 'exec', child],
                     env={'XDG_RUNTIME_DIR': folder}, cwd=folder)
        assert 'another kind of machine' not in result.stderr, result.stderr


@case
def a_filter_of_system_calls():
    with temporary_directory() as folder:
        _, _, info = record(folder, subject(folder), 'filter')
        equal(facts(info), [('filter', 'the program')])


@case
def a_ring_of_the_kernel():
    with temporary_directory() as folder:
        _, _, info = record(folder, subject(folder), 'ring')
        equal(facts(info), [('io_uring', 'the process')])


@case
def a_thread_that_calls_nothing():
    with temporary_directory() as folder:
        _, _, info = record(folder, subject(folder), 'clone')
        equal(facts(info), [('threads', '1 thread')])


@case
def other_programs_have_none():
    for command in (['sh', '-c', 'true; ls / | cat'], ['python3', '-c', 'import threading\n'
                    'for i in range(30): threading.Thread(target=lambda: None).start()']):
        with temporary_directory() as folder:
            _, _, info = record(folder, *command)
            equal(facts(info), [])


main()
