# SPDX-License-Identifier: ISC
"""The recorder as two files: they compile alone, with every compiler, and record."""
import os
import re
import shutil

from harness import BUILD, SOURCE, case, equal, json_lines, main, run, skip, temporary_directory, weft

FILES = [os.path.join(BUILD, 'tools', 'dropin', name) for name in ('weft.c', 'weft.h')]
USER = os.path.join(SOURCE, 'tests', 'e2e', 'dropin_user.c')
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wundef', '-Werror']
FREESTANDING = ['-ffreestanding', '-fno-stack-protector', '-DWEFT_FREESTANDING']


def without_headers(compiler):
    """Options for a system without headers: those of the compiler itself are left."""
    own = run([*compiler, '-print-file-name=include']).stdout.strip()
    return ['-nostdinc', '-isystem', own]


# Symbols that a compiler may require for any C code; the last is not a function.
ALLOWED = {'memcpy', 'memmove', 'memset', 'memcmp', '_GLOBAL_OFFSET_TABLE_'}
I686 = ['gcc', '-m32', '-idirafter', '/usr/include/x86_64-linux-gnu']
AARCH64 = ['aarch64-linux-gnu-gcc-12']
EVENTS = ['create', 'create', 'label', 'switch', 'try_read', 'note', 'mark', 'counter', 'resolve', 'switch', 'total']


def require(compiler, *files):
    for needed in (compiler[0], *files):
        if not (os.path.exists(needed) or shutil.which(needed)):
            skip('%s is not installed' % needed)


def run_well(command, **options):
    result = run(command, **options)
    assert result.returncode == 0, '%s\n%s%s' % (' '.join(command), result.stdout, result.stderr)
    return result.stdout


objects = {}  # weft.o by compiler and flags: each is compiled once, which takes longer than all else here


def recorder(compiler, *flags, level='-O2'):
    """The bytes of weft.o, compiled in a folder with nothing else."""
    command = (*compiler, '-std=c11', level, *WARNINGS, *flags, '-c', 'weft.c', '-o', 'weft.o')
    if command not in objects:
        with temporary_directory() as folder:
            for path in FILES:
                shutil.copy(path, folder)
            run_well(command, cwd=folder)
            with open(os.path.join(folder, 'weft.o'), 'rb') as file:
                objects[command] = file.read()
    return objects[command]


def program(folder, compiler, *flags, user=None):
    """Compiles the two files and a program in a folder; returns the program's path."""
    for path in FILES:
        shutil.copy(path, folder)
    shutil.copy(USER, os.path.join(folder, 'user.c'))
    with open(os.path.join(folder, 'weft.o'), 'wb') as file:
        file.write(recorder(compiler, *flags))
    user = user or [*compiler, '-std=c11']
    defines = [flag for flag in flags if flag.startswith('-D')]
    run_well([*user, '-O2', *WARNINGS, *defines, '-c', 'user.c', '-o', 'user.o'], cwd=folder)
    # Linked with nothing else, not even with -pthread.
    linker = user if user[0] == 'g++' else compiler
    run_well([linker[0], *[flag for flag in linker[1:] if flag.startswith('-m')], 'user.o', 'weft.o', '-o', 'user'],
             cwd=folder)
    return os.path.join(folder, 'user')


def check(trace, clock=None):
    events = json_lines(weft('dump', '--json', trace).stdout)
    equal([event['event'] for event in events], EVENTS)
    equal(events[2]['text'], 'drop-in')
    equal(events[5]['text'], '1 argument, and a text')
    equal(events[6]['fields'], {'n': -5000000000, 'f': 0.5, 's': 'text'})
    info = weft('info', trace).stdout
    assert 'losses      none\ndamage      none' in info, info
    assert clock is None or 'clock       %s\n' % clock in info, info


def check_own_buffer(compiler, *flags, emulator=(), clock=None, user=None):
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'own.weft')
        run_well([*emulator, program(folder, compiler, *flags, user=user), trace])
        check(trace, clock)


def check_recorded(compiler, *flags, emulator=(), user=None):
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'recorded.weft')
        weft('record', '-o', trace, *emulator, program(folder, compiler, *flags, user=user),
             env={'XDG_RUNTIME_DIR': folder})
        check(trace)


@case
def it_compiles_without_warnings():
    for compiler in (['gcc'], ['clang-14']):
        if shutil.which(compiler[0]):
            for level, *flags in (['-O0'], ['-O3'], ['-Os', '-std=gnu17'], ['-O2', '-fPIC']):
                recorder(compiler, *flags, level=level)


@case
def it_records_under_weft_record():
    check_recorded(['gcc'])


@case
def it_records_into_a_buffer_of_the_program():
    check_own_buffer(['gcc'])
    check_own_buffer(['gcc'], '-D_FILE_OFFSET_BITS=64')


@case
def it_works_by_clang():
    require(['clang-14'])
    check_own_buffer(['clang-14'])
    check_recorded(['clang-14'])


@case
def cplusplus_programs_call_it():
    require(['g++'])
    for standard in ('c++11', 'c++20'):
        check_own_buffer(['gcc'], user=['g++', '-x', 'c++', '-std=' + standard])
    check_recorded(['gcc'], user=['g++', '-x', 'c++', '-std=c++20'])


@case
def without_an_operating_system():
    check_own_buffer(['gcc'], *FREESTANDING, clock='caller')


def needs_no_library(compiler):
    with temporary_directory() as folder:
        whole = os.path.join(folder, 'weft.o')
        for level in ('-O1', '-O2', '-Os'):
            with open(whole, 'wb') as file:
                file.write(recorder(compiler, *FREESTANDING, level=level))
            needed = {line.split()[-1] for line in run_well(['nm', '--undefined-only', whole]).splitlines()}
            equal(sorted(needed - ALLOWED), [], '%s %s needs' % (compiler[0], level))


@case
def without_any_library():
    needs_no_library(['gcc'])
    if shutil.which('clang-14'):
        needs_no_library(['clang-14'])


@case
def without_any_header():
    for compiler in (['gcc'], ['clang-14']):
        if shutil.which(compiler[0]):
            assert recorder(compiler, *FREESTANDING, *without_headers(compiler))


@case
def without_any_library_in_32_bits():
    require(I686, '/usr/include/x86_64-linux-gnu/gnu/stubs-32.h')
    needs_no_library(I686)


@case
def without_any_library_on_aarch64():
    require(AARCH64)
    needs_no_library(AARCH64)


@case
def in_32_bits():
    require(I686, '/usr/include/x86_64-linux-gnu/gnu/stubs-32.h', 'qemu-i386')
    for emulator in (['qemu-i386'], []):
        try:
            check_own_buffer(I686, emulator=emulator)
        except OSError:
            skip('this kernel runs no programs of 32 bits')
        check_recorded(I686, '-D_FILE_OFFSET_BITS=64', emulator=emulator)


@case
def on_aarch64():
    require(AARCH64, '/usr/aarch64-linux-gnu/include/stdio.h', 'qemu-aarch64', '/lib/ld-linux-aarch64.so.1')
    check_own_buffer(AARCH64, emulator=['qemu-aarch64'], clock='cntvct')
    check_recorded(AARCH64, emulator=['qemu-aarch64'])


@case
def with_another_c_library():
    require(['musl-gcc'])
    check_own_buffer(['musl-gcc'])
    check_recorded(['musl-gcc'])


@case
def only_what_the_header_declares_is_exported():
    with temporary_directory() as folder:
        whole, library = os.path.join(folder, 'weft.o'), os.path.join(folder, 'libwith.so')
        with open(whole, 'wb') as file:
            file.write(recorder(['gcc'], '-fPIC'))
        run_well(['gcc', '-shared', whole, '-o', library])
        names = {line.split()[-1] for line in
                 run_well(['nm', '--dynamic', '--defined-only', library]).splitlines()}
        with open(FILES[1], encoding='utf-8') as file:
            header = set(re.findall(r'\w+', file.read()))
        equal(sorted(names - header), [])
        assert 'weft_start' in names and 'weft__notef' in names, names


main()
