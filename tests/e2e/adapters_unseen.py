# SPDX-License-Identifier: ISC
"""Libraries that pass by the hooks are mended, and what is not recorded is said."""
import json
import os
import platform
import shutil

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft

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


def library(folder, name, *flags):
    return compiled(folder, name, 'unseen_plugin.c', '-shared', '-fPIC', *flags)


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


def labels(traces):
    return [task['label'] for task in json_lines(weft('dump', '--json', '--tasks', *traces).stdout)]


def need_mending():
    if platform.machine() not in ('x86_64', 'aarch64'):
        skip('libraries are not mended on this machine')


BUILDS = {'plain': ['-Wl,-z,lazy'], 'now': ['-Wl,-z,now', '-Wl,-z,relro'], 'no plt': ['-fno-plt'],
          'no relro': ['-Wl,-z,norelro', '-Wl,-z,lazy']}


def is_recorded(traces, info, times=1):
    equal(facts(info), [])
    found = labels(traces)
    equal(found.count('plugin_thread'), times, found)


@case
def libraries_with_deepbind():
    need_mending()
    with temporary_directory() as folder:
        program = subject(folder)
        for name, flags in BUILDS.items():
            library(folder, 'plugin.so', *flags)
            for mode in ('now', 'deep-now', 'deep-lazy', 'base'):
                for path in ('./plugin.so', 'plugin.so'):
                    result, traces, info = record(folder, program, 'open', mode, path, LD_LIBRARY_PATH=folder)
                    equal(result.stdout, '40\n', (name, mode, path))
                    is_recorded(traces, info)


@case
def a_library_that_is_opened_again():
    need_mending()
    with temporary_directory() as folder:
        program = subject(folder)
        library(folder, 'plugin.so')
        result, traces, info = record(folder, program, 'open', 'deep-lazy', './plugin.so', '3')
        equal(result.stdout, '40\n' * 3)
        is_recorded(traces, info, 3)


@case
def a_library_that_comes_with_it():
    need_mending()
    with temporary_directory() as folder:
        program, needed = subject(folder), library(folder, 'libneeded.so', '-Wl,-z,lazy')
        library(folder, 'plugin.so', '-DNEEDS', needed, '-Wl,-rpath,$ORIGIN')
        result, traces, info = record(folder, program, 'open', 'deep-lazy', './plugin.so')
        equal(result.stdout, '40\n')
        is_recorded(traces, info)


@case
def a_function_of_its_own_stays():
    need_mending()
    with temporary_directory() as folder:
        program = subject(folder)
        for flags in BUILDS.values():
            library(folder, 'plugin.so', '-DOWN', *flags)
            for mode in ('deep-now', 'deep-lazy'):
                result, traces, info = record(folder, program, 'open', mode, './plugin.so')
                equal(result.stdout, '42\n')
                is_recorded(traces, info)


@case
def the_caller_is_the_program():
    """Where dlopen and dlsym search depends on who calls, and so do their errors."""
    with temporary_directory() as folder:
        library(folder, 'lib/plugin.so')
        for flags in ([], ['-Wl,-rpath,$ORIGIN/lib', '-Wl,--enable-new-dtags'],
                      ['-Wl,-rpath,$ORIGIN/lib', '-Wl,--disable-new-dtags']):
            program = subject(folder, '-rdynamic', *flags)
            for path in ('plugin.so', './lib/plugin.so', '$ORIGIN/lib/plugin.so'):
                alone = run([program, 'search', path], cwd=folder)
                result, _, _ = record(folder, program, 'search', path)
                equal(result.stdout, alone.stdout)


@case
def a_library_of_another_namespace():
    with temporary_directory() as folder:
        program = subject(folder)
        library(folder, 'plugin.so')
        for path in ('./plugin.so', 'plugin.so'):
            result, traces, info = record(folder, program, 'open', 'space', path, LD_LIBRARY_PATH=folder)
            equal(result.stdout, '40\n')
            equal(facts(info), [('dlmopen', 'plugin.so')])
            assert 'plugin_thread' not in labels(traces)
            words = 'plugin.so, loaded by dlmopen with a C library of its own: its calls are not recorded'
            assert words in result.stderr, result.stderr
            assert words in weft('info', *traces).stdout
            problems = weft('dump', '--problems', *traces).stdout
            assert words in problems, problems
            assert 'part not seen' in weft('render', *traces, '-o', '-', '--format', 'svg').stdout


@case
def parts_and_streams_have_it():
    with temporary_directory() as folder:
        program, part = subject(folder), os.path.join(folder, 'part')
        library(folder, 'plugin.so')
        _, traces, info = record(folder, program, 'open', 'space', './plugin.so', options=['--stream'])
        equal(facts(info), [('dlmopen', 'plugin.so')])
        weft('cut', *traces, '-o', part)
        equal(facts(json.loads(weft('info', '--json', part).stdout)), [('dlmopen', 'plugin.so')])


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
def a_wait_for_a_ring():
    with temporary_directory() as folder:
        _, traces, info = record(folder, subject(folder), 'wait-ring')
        equal(facts(info), [('io_uring', 'the process')])
        ring, = (task['task'] for task in json_lines(weft('dump', '--json', '--tasks', *traces).stdout)
                 if task['label'] == 'io_uring')
        edges = json_lines(weft('dump', '--json', '--edges', *traces).stdout)
        assert [edge for edge in edges if edge['edge'] == 'try_read' and edge['to'] == ring], edges


@case
def a_thread_that_calls_nothing():
    with temporary_directory() as folder:
        _, _, info = record(folder, subject(folder), 'clone')
        equal(facts(info), [('threads', '1 thread')])


@case
def what_is_required():
    """Parts that are not recorded count for --require."""
    with temporary_directory() as folder:
        program = subject(folder)
        library(folder, 'plugin.so')
        for options in ([], ['--stream']):
            result = run([WEFT, 'record', '--require', '-a', 'thread,io', *options, '-o', os.path.join(folder, 't.weft'),
                          program, 'open', 'space', './plugin.so'], env={'XDG_RUNTIME_DIR': folder}, cwd=folder)
            equal(result.returncode, 125, result.stderr)
            assert '--require: 1 part of the run is not recorded' in result.stderr, result.stderr
        record(folder, os.path.join(ROUGH, 'rough-own_functions'), options=['--require'])


ROUGH = os.path.join(BUILD, 'tests', 'rough')


@case
def functions_of_a_library():
    """Also one that was first called before the hooks began."""
    with temporary_directory() as folder:
        _, traces, info = record(folder, os.path.join(ROUGH, 'rough-library_functions'))
        names = ('accept', 'connect', 'kill', 'poll', 'select', 'signal', 'wait')
        equal([fact for fact in facts(info) if ' uv_' not in fact[1] and not fact[1].startswith(('uv_', 'g_'))],
              [('foreign', name + ' in librough-own.so') for name in names])
        words = 'calls of connect in librough-own.so are not recorded: that is a function of its own'
        assert words in weft('info', *traces).stdout


@case
def functions_of_the_program():
    with temporary_directory() as folder:
        result, _, info = record(folder, os.path.join(ROUGH, 'rough-own_functions'))
        equal([fact['kind'] for fact in info['unseen']], ['own'])
        what = info['unseen'][0]['what']
        assert what.endswith(' and others in rough-own_functions') and what.count(',') == 2, what
        assert 'recorded only as far as these functions of its own pass them on' in result.stderr, result.stderr


@case
def other_programs_have_none():
    for command in (['sh', '-c', 'true; ls / | cat'], ['python3', '-c', 'import threading\n'
                    'for i in range(30): threading.Thread(target=lambda: None).start()']):
        with temporary_directory() as folder:
            _, _, info = record(folder, *command)
            equal(facts(info), [])


main()
