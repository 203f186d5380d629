# SPDX-License-Identifier: ISC
"""Programs that nobody changed and that do what adapters could break: they behave as before."""
import os
import shutil

from harness import BUILD, build_option, case, equal, json_lines, main, run, skip, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'rough-subject')
PLUGIN = os.path.join(BUILD, 'tests', 'rough-plugin.so')
HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def compare(folder, *command, adapters='thread,io,uv,glib'):
    """The trace of the program, which must do the same with and without adapters."""
    trace = os.path.join(folder, 't.weft')
    alone = run(command, cwd=folder)
    if alone.returncode == SKIPPED:
        skip('this system has no seccomp filters')
    recorded = weft('record', '-a', adapters, '-o', trace, *command, cwd=folder, env={'XDG_RUNTIME_DIR': folder},
                    status=None)
    equal((recorded.returncode, recorded.stdout), (alone.returncode, alone.stdout))
    equal(alone.returncode, 0)
    equal(weft('info', trace).stderr, '')
    return trace


def labels(trace):
    return [task['label'] for task in json_lines(weft('dump', '--json', '--tasks', trace).stdout)]


def events(trace):
    return json_lines(weft('dump', '--json', trace).stdout)


def sandboxed(mode):
    with temporary_directory() as folder:
        trace = compare(folder, SUBJECT, mode)
        marks = [e['name'] for e in events(trace) if e['event'] == 'mark']
        assert 'seccomp filter: adapters stop recording' in marks, marks


@case
def a_filter_of_one_thread():
    sandboxed('sandbox')


@case
def a_filter_of_all_threads():
    sandboxed('sandbox-all')


@case
def a_filter_that_is_inherited():
    """The program's standard error stays its own, though no buffer can be made for it."""
    with temporary_directory() as folder:
        compare(folder, SUBJECT, 'inherit')
        result = weft('record', '-a', 'thread', '-o', 't.weft', SUBJECT, 'inherit', cwd=folder,
                      env={'XDG_RUNTIME_DIR': folder}, status=None)
        equal([line for line in result.stderr.splitlines() if not line.startswith('weft: ')], [])
        assert 'Function not implemented' not in result.stderr, result.stderr


@case
def no_descriptor_is_left():
    with temporary_directory() as folder:
        compare(folder, SUBJECT, 'descriptors')


@case
def calls_before_any_constructor():
    with temporary_directory() as folder:
        compare(folder, SUBJECT, 'early')


@case
def children_that_share_memory():
    with temporary_directory() as folder:
        compare(folder, SUBJECT, 'vfork')


@case
def a_handler_calls_new_functions():
    with temporary_directory() as folder:
        compare(folder, SUBJECT, 'signals')


@case
def a_child_of_a_program_that_loads_libraries():
    with temporary_directory() as folder:
        compare(folder, SUBJECT, 'fork', PLUGIN)


@case
def cancelled_waits():
    with temporary_directory() as folder:
        trace = compare(folder, SUBJECT, 'cancel')
        ids = {task['task']: task['label'] for task in json_lines(weft('dump', '--json', '--tasks', trace).stdout)}
        woken = [ids.get(e['task']) for e in events(trace) if e['event'] == 'signal']
        equal(woken, [])


@case
def a_plugin_comes_and_goes():
    with temporary_directory() as folder:
        assert 'lock plugins_lock' in labels(compare(folder, SUBJECT, 'plugin', PLUGIN))


@case
def a_function_that_runs_once():
    with temporary_directory() as folder:
        trace = compare(folder, SUBJECT, 'once')
        found = {task['label']: task for task in json_lines(weft('dump', '--json', '--tasks', trace).stdout)}
        for name in ('once table_once', 'once list_once'):
            it = found[name]['task']
            about = [e['event'] for e in events(trace) if it in (e.get('resource'), e.get('source'))]
            equal(about, ['acquire', 'try_read', 'release'], name)


@case
def a_program_with_functions_of_libcs_names():
    with temporary_directory() as folder:
        program = os.path.join(folder, 'interposer')
        built = run(['cc', '-D_GNU_SOURCE', '-rdynamic', '-o', program, os.path.join(HERE, 'interposer_subject.c'), '-ldl'])
        equal(built.returncode, 0, built.stderr)
        notes = [e['text'] for e in events(compare(folder, program)) if e['event'] == 'note']
        equal(len([text for text in notes if text.startswith('SIGUSR1 from process')]), 2, notes)


def built_with(folder, name, *compiler):
    """A program that prints a line, or None if that compiler or its C library is not installed."""
    source, program = os.path.join(folder, 'greeting.c'), os.path.join(folder, name)
    with open(source, 'w', encoding='utf-8') as file:
        file.write('#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n')
    if not shutil.which(compiler[0]) or run([*compiler, '-o', program, source]).returncode:
        return None
    return program


@case
def a_program_with_another_c_library():
    with temporary_directory() as folder:
        program = built_with(folder, 'other', 'musl-gcc')
        if not program:
            skip('musl is not installed')
        result = weft('record', '-o', 't.weft', program, cwd=folder, env={'XDG_RUNTIME_DIR': folder})
        equal(result.stdout, 'hello\n')
        line, = result.stderr.splitlines()
        assert 'recorded nothing: it uses another C library than glibc' in line, line


def make_older_library(folder):
    """A libweft that does nothing, and lacks what the first ones did not have."""
    source, versions = os.path.join(folder, 'older.c'), os.path.join(folder, 'older.map')
    newer = 'weft__tally', 'weft__levels_off', 'weft__metric_get_private', 'weft__metrics_prepare', 'weft__metrics_share'
    listed = [line.split() for line in run(['nm', '-D', '--defined-only', os.path.join(BUILD, 'src', 'platform', 'libweft.so')]).stdout.splitlines()]
    with open(source, 'w', encoding='ascii') as file:
        file.write('static const char off[4096];\nstruct category { const char *level; void *rest[511]; };\n')
        for _, kind, name in listed:
            name = name.split('@')[0]
            if name.startswith('weft_') and name not in newer:
                file.write('long %s(void) { return 0; }\n' % name if kind == 'T' else 'struct category %s = {off};\n' % name)
    with open(versions, 'w', encoding='ascii') as file:
        file.write('WEFT_1 { global: weft_*; local: *; };\n')
    library = os.path.join(folder, 'libweft.so.0')
    equal(run(['gcc', '-shared', '-fPIC', '-w', '-Wl,-soname,libweft.so.0', '-Wl,--version-script=' + versions, '-o', library, source]).returncode, 0)
    return library


@case
def a_program_with_an_older_libweft():
    if build_option('b_sanitize') != 'none':
        skip('the library would lack what the sanitizer needs')
    with temporary_directory() as folder:
        make_older_library(folder)
        result = weft('record', '-a', 'thread', '-o', 't.weft', 'echo', 'hello', cwd=folder,
                      env={'XDG_RUNTIME_DIR': folder, 'LD_LIBRARY_PATH': folder})
        equal(result.stdout, 'hello\n')
        assert 'symbol' not in result.stderr, result.stderr


def record_all(folder, *command):
    """The results of the program alone and recorded with what it starts, and the names of the traces."""
    traces = os.path.join(folder, 'traces')
    alone = run(command, cwd=folder)
    recorded = weft('record', '-a', 'thread', '-o', traces + '/', *command, cwd=folder, env={'XDG_RUNTIME_DIR': folder},
                    status=None)
    errors = [line for line in recorded.stderr.splitlines() if not line.startswith('weft: ')]
    programs = {name.rsplit('-', 1)[0] for name in os.listdir(traces)}
    shutil.rmtree(traces)
    return (alone.returncode, alone.stdout, alone.stderr.splitlines()), (recorded.returncode, recorded.stdout, errors), programs


@case
def children_with_another_c_library():
    with temporary_directory() as folder:
        program = built_with(folder, 'other', 'musl-gcc')
        if not program:
            skip('musl is not installed')
        with open(os.path.join(folder, 'script'), 'w', encoding='utf-8') as file:
            file.write('#!%s\n' % program)
        os.chmod(os.path.join(folder, 'script'), 0o755)
        for command in ('./other; :', 'exec ./other', './script; :', 'PATH=.:$PATH env other', 'env LD_PRELOAD=libm.so.6 seq 1'):
            alone, recorded, _ = record_all(folder, 'sh', '-c', command)
            equal(recorded, alone, command)


@case
def a_program_whose_libraries_are_listed():
    with temporary_directory() as folder:
        for command in ("ldd /bin/true | cut -d'(' -f1", "LD_TRACE_LOADED_OBJECTS=1 /bin/true | cut -d'(' -f1"):
            alone, recorded, _ = record_all(folder, 'sh', '-c', command)
            equal(recorded, alone, command)


@case
def children_with_a_clean_environment():
    with temporary_directory() as folder:
        for command in ('env -i /usr/bin/seq 1', 'env -i /bin/sh -c "seq 1; :"', 'LD_PRELOAD=libm.so.6 seq 1', 'env -u WEFT_OUT seq 1'):
            alone, recorded, programs = record_all(folder, 'sh', '-c', command + '; :')
            equal(recorded, alone, command)
            assert 'seq' in programs, (command, programs)


@case
def a_child_of_another_recording():
    """Its variables stay as they are; the adapters are added only for this recording."""
    with temporary_directory() as folder:
        print_it = 'exec /bin/sh -c \'echo "${LD_PRELOAD:-none} ${WEFT_OUT:-none} ${WEFT_ADAPTERS:-none}"\''

        def seen(*env):
            result = weft('record', '-a', 'thread', '-o', folder + '/traces/', 'env', '-u', 'LD_PRELOAD', *env, '/bin/sh', '-c', print_it,
                          cwd=folder, env={'XDG_RUNTIME_DIR': folder})
            return result.stdout.split()
        adapters, own, names = seen()
        assert 'weft' in adapters and own.startswith(folder) and names == 'thread', (adapters, own, names)
        equal(seen('WEFT_OUT=/else/where/'), ['none', '/else/where/', 'thread'])
        equal(seen('WEFT_OUT=/else/where/', 'WEFT_ADAPTERS=io'), ['none', '/else/where/', 'io'])
        again = seen('-u', 'WEFT_OUT')
        assert again[0] == adapters and again[1].startswith(folder) and again[2] == 'thread', again


@case
def nothing_is_added_for_programs_with_other_rights():
    with temporary_directory() as folder:
        program = os.path.join(folder, 'env-of-another-user')
        shutil.copy(shutil.which('env'), program)
        os.chmod(program, 0o4755)
        alone, recorded, _ = record_all(folder, 'sh', '-c', 'env -i ./env-of-another-user; :')
        equal(recorded, alone)
        equal(alone[1], '')


@case
def programs_that_cannot_reach_the_adapters():
    if os.geteuid() != 0:
        skip('only root may call chroot')
    with temporary_directory() as folder:
        for path in run(['sh', '-c', 'command -v seq; ldd $(command -v seq) | grep -o "/[^ ]*"']).stdout.split():
            os.makedirs(os.path.join(folder, 'root', os.path.dirname(path)[1:]), exist_ok=True)
            shutil.copy(path, os.path.join(folder, 'root', path[1:]))
        alone, recorded, _ = record_all(folder, 'chroot', 'root', shutil.which('seq'), '2')
        equal(alone[:2], (0, '1\n2\n'))
        equal(recorded, alone)


@case
def a_link_to_a_program_with_libraries_of_its_own():
    """As `java`: the dynamic linker finds these beside the program, not beside the link."""
    with temporary_directory() as folder:
        os.mkdir(os.path.join(folder, 'real'))
        program, library = os.path.join(folder, 'real', 'program'), os.path.join(folder, 'real', 'libown.so')
        for source, text in (('own.c', 'int own(void) { return 0; }'), ('program.c', 'int own(void); int main(void) { return own(); }')):
            with open(os.path.join(folder, source), 'w', encoding='utf-8') as file:
                file.write(text)
        for command in (['cc', '-shared', '-fPIC', '-o', library, 'own.c'],
                        ['cc', '-o', program, 'program.c', library, '-Wl,-rpath,$ORIGIN']):
            built = run(command, cwd=folder)
            equal(built.returncode, 0, built.stderr)
        os.symlink(program, os.path.join(folder, 'link'))
        result = weft('record', '-o', 't.weft', './link', cwd=folder, env={'XDG_RUNTIME_DIR': folder, 'WEFT_ADAPTERS': ''})
        assert './link is recorded by the adapters thread and io\n' in result.stderr, result.stderr


@case
def under_the_address_sanitizer():
    with temporary_directory() as folder:
        program = os.path.join(folder, 'program')
        built = run(['gcc', '-g', '-D_GNU_SOURCE', '-fsanitize=address', '-pthread', '-o', program,
                     os.path.join(HERE, 'rough_subject.c')])
        if built.returncode:
            skip('gcc has no address sanitizer here')
        for mode in ('vfork', 'once', 'signals'):
            compare(folder, program, mode)


main()
