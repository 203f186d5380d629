# SPDX-License-Identifier: ISC
"""The lines of functions that labels name are in saved traces, if the program has debug information."""
import glob
import os
import random
import shutil
import threading

import debug_information
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
    return debug_information.built(SUBJECT, folder, *flags)


def record_and_listen(folder, *command, **env):
    """The trace, and the messages."""
    trace = os.path.join(folder, 'trace.weft')
    result = weft('record', '-a', 'thread', '-o', trace, *command, env={'XDG_RUNTIME_DIR': folder, **env})
    equal(weft('info', trace).stderr, '')
    return trace, result.stderr


def record(folder, *command):
    return record_and_listen(folder, *command)[0]


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


def debuglink(program, name):
    """Makes the program name a file of debug information, whatever its checksum."""
    section = program + '.link'
    with open(section, 'wb') as file:
        file.write(name.encode() + b'\0' * (4 - len(name) % 4) + b'\1\2\3\4')
    succeed('objcopy', '--remove-section', '.gnu_debuglink', program)
    succeed('objcopy', '--add-section', '.gnu_debuglink=' + section, program)


class Fifo:
    """A FIFO that notices a reader."""

    def __init__(self, path):
        self.path = path
        self.opened = False
        os.mkfifo(path)
        self.thread = threading.Thread(target=self.wait)
        self.thread.start()

    def wait(self):
        os.close(os.open(self.path, os.O_WRONLY))
        self.opened = not self.released

    released = False

    def was_opened(self):
        self.released = True
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.thread.join()
        os.close(reader)
        return self.opened


@case
def a_link_opens_no_other_file():
    """Neither by a path, nor by a FIFO or a link in the folders where debug information may be."""
    with temporary_directory() as folder:
        program = built(folder, '-g')
        succeed('strip', '--strip-debug', program)
        outside, inside = os.path.join(folder, 'outside'), os.path.join(folder, 'in')
        os.makedirs(os.path.join(inside, 'deep', '.debug'))
        fifos = [Fifo(os.path.join(folder, 'outside')), Fifo(os.path.join(inside, 'beside')),
                 Fifo(os.path.join(inside, 'deep', '.debug', 'hidden'))]
        os.symlink(outside, os.path.join(inside, 'linked'))
        os.symlink(folder, os.path.join(inside, '.debug'))
        for name, where in (('../outside', inside), (outside, inside), ('beside', inside), ('linked', inside), ('outside', inside),
                            ('/usr/lib/debug/../../..' + outside, inside), ('hidden', os.path.join(inside, 'deep'))):
            hostile = os.path.join(where, 'program')
            shutil.copy(program, hostile)
            debuglink(hostile, name)
            equal(code(record(folder, hostile), 'serve_client'), None, name)
        equal([fifo.was_opened() for fifo in fifos], [False] * 3)


@case
def debug_information_with_a_wrong_checksum():
    with temporary_directory() as folder:
        program = built(folder, '-g')
        succeed('objcopy', '--only-keep-debug', program, program + '.debug')
        succeed('strip', '--strip-debug', program)
        debuglink(program, 'program.debug')
        equal(code(record(folder, program), 'serve_client'), None)


@case
def debug_information_in_a_hidden_folder():
    with temporary_directory() as folder:
        program = built(folder, '-g')
        os.mkdir(os.path.join(folder, '.debug'))
        hidden = os.path.join(folder, '.debug', 'program.debug')
        succeed('objcopy', '--only-keep-debug', program, hidden)
        succeed('objcopy', '--strip-debug', '--add-gnu-debuglink=' + hidden, program)
        has_lines(record(folder, program))


@case
def a_program_of_another_user():
    """Root reads its debug information as nobody: not where only root may look."""
    if os.geteuid():
        skip('only root can record the program of another user')
    with temporary_directory() as folder:
        os.chmod(folder, 0o755)
        program = built(folder, '-g')
        os.chown(program, 65534, 65534)
        has_lines(record(folder, program))
        hidden = os.path.join(folder, '.debug')
        os.mkdir(hidden)
        succeed('objcopy', '--only-keep-debug', program, os.path.join(hidden, 'program.debug'))
        succeed('objcopy', '--strip-debug', '--add-gnu-debuglink=' + os.path.join(hidden, 'program.debug'), program)
        os.chown(program, 65534, 65534)
        has_lines(record(folder, program))
        os.chmod(hidden, 0o700)
        equal(code(record(folder, program), 'serve_client'), None)


def with_library(folder, *flags):
    """Records with a libdw of our own. The trace, and the messages."""
    program = built(folder, '-g')
    library = os.path.join(folder, 'libdw.so.1')
    succeed('gcc', '-shared', '-fPIC', '-D_GNU_SOURCE', *flags, os.path.join(HERE, 'lines_library.c'), '-o', library)
    return record_and_listen(folder, program, LD_LIBRARY_PATH=folder)


@case
def a_crash_costs_the_lines_alone():
    with temporary_directory() as folder:
        errors = with_library(folder, '-DCRASHES')[1]
        said = [line for line in errors.splitlines() if 'has no lines of code' in line]
        equal(len(said), 1, errors)
        assert 'is damaged (Segmentation fault)' in said[0], errors


@case
def the_reader_is_confined():
    with temporary_directory() as folder:
        trace, errors = with_library(folder)
        assert 'has no lines of code' not in errors, errors
        equal(code(trace, 'serve_client'), 'in serve_client (refused.c:1)')


main()
