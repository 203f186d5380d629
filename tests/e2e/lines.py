# SPDX-License-Identifier: ISC
"""The lines of functions that labels name are in saved traces, if the program has debug information."""
import glob
import os
import random
import shutil

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft

HERE = os.path.join(SOURCE, 'tests', 'e2e')
SUBJECT = os.path.join(HERE, 'lines_subject.c')
LIBRARY = '#include <stddef.h>\nvoid *library_thread(void *unused);\nvoid *library_thread(void *unused) {\nreturn unused;\n}\n'


def succeed(*command):
    result = run(command)
    assert result.returncode == 0, result.stderr
    return result.stdout


def begins(function):
    """Compilers count a function's code from its name or from its brace on."""
    with open(SUBJECT, encoding='utf-8') as file:
        line = next(number for number, text in enumerate(file, 1) if ' *%s(' % function in text)
    return {'in %s (lines_subject.c:%d)' % (function, number) for number in (line, line + 1)}


def built(folder, *flags):
    with open(WEFT, 'rb') as file:
        if b'libdw.so.1' not in file.read():
            skip('built without libdw')
    if not glob.glob(os.path.join(BUILD, 'adapters', 'libweft-adapters.so')):
        skip('built without adapters')
    program = os.path.join(folder, 'program')
    succeed('gcc', '-O1', '-D_GNU_SOURCE', *flags, SUBJECT, '-o', program, '-pthread', '-ldl')
    return program


def record(folder, *command):
    trace = os.path.join(folder, 'trace.weft')
    weft('record', '-a', 'thread', '-o', trace, *command, env={'XDG_RUNTIME_DIR': folder})
    equal(weft('info', trace).stderr, '')
    return trace


def code(trace, label):
    """The fact "code" in the story of the task with that label; None without it."""
    task = next(t['task'] for t in json_lines(weft('dump', '--json', '--tasks', trace).stdout) if t['label'] == label)
    lines = json_lines(weft('dump', '--json', '--story', str(task), trace).stdout)
    return next((line['text'] for line in lines if line['title'] == 'code'), None)


def has_lines(trace):
    expected = begins('serve_client')
    for label in ('serve_client', 'lock in serve_client'):
        assert code(trace, label) in expected, (label, code(trace, label), expected)


@case
def a_program_and_a_library():
    for flags in (['-g', '-pie', '-fPIE'], ['-g', '-no-pie']):
        with temporary_directory() as folder:
            program, library = built(folder, *flags), os.path.join(folder, 'library.so')
            with open(os.path.join(folder, 'library.c'), 'w', encoding='utf-8') as file:
                file.write(LIBRARY)
            succeed('gcc', '-g', '-shared', '-fPIC', os.path.join(folder, 'library.c'), '-o', library)
            trace = record(folder, program, library)
            has_lines(trace)
            equal(code(trace, 'library_thread'), 'in library_thread (library.c:3)')
            equal(code(trace, 'program'), None)


@case
def a_part_of_the_trace_keeps_them():
    with temporary_directory() as folder:
        trace, part = record(folder, built(folder, '-g')), os.path.join(folder, 'part.weft')
        weft('cut', trace, '-o', part)
        has_lines(part)


@case
def debug_information_in_a_file_of_its_own():
    with temporary_directory() as folder:
        program = built(folder, '-g')
        succeed('objcopy', '--only-keep-debug', program, program + '.debug')
        succeed('objcopy', '--strip-debug', '--add-gnu-debuglink=' + program + '.debug', program)
        has_lines(record(folder, program))


@case
def without_debug_information():
    with temporary_directory() as folder:
        equal(code(record(folder, built(folder, '-g0')), 'lock in serve_client'), None)


@case
def damaged_debug_information():
    """The trace is whole; whether a line is found depends on the damage."""
    noise = random.Random(1)
    for section in ('.debug_line', '.debug_info', '.debug_abbrev', '.debug_aranges'):
        with temporary_directory() as folder:
            program, bytes_file = built(folder, '-g'), os.path.join(folder, 'bytes')
            with open(bytes_file, 'wb') as file:
                file.write(noise.randbytes(4096))
            succeed('objcopy', '--update-section', section + '=' + bytes_file, program)
            code(record(folder, program), 'lock in serve_client')


@case
def a_program_that_names_other_files():
    found = glob.glob(os.path.join(BUILD, 'src', '**', 'libweft.so'), recursive=True)
    if not found:
        skip('there is no shared library')
    with temporary_directory() as folder:
        subject, fifo = built(folder, '-g'), os.path.join(folder, 'fifo')
        program = os.path.join(folder, 'hostile')
        shutil.copy(subject, os.path.join(folder, 'copy'))
        os.mkfifo(fifo)
        succeed('gcc', '-I', os.path.join(SOURCE, 'include'), os.path.join(HERE, 'lines_hostile.c'), '-o', program,
                '-L', os.path.dirname(found[0]), '-lweft', '-Wl,-rpath,' + os.path.dirname(found[0]))
        trace = os.path.join(folder, 'trace.weft')
        weft('record', '-o', trace, program, fifo, os.path.join(folder, 'copy'), env={'XDG_RUNTIME_DIR': folder})
        equal(weft('info', trace).stderr, '')
        equal(code(trace, 'serve\tmain'), None)  # its name has a control character


main()
