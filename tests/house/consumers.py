# SPDX-License-Identifier: ISC
"""Builds projects with the recorder in each way that docs/use.md shows, word for word."""
import glob
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE, WEFT, case, equal, main, run, skip  # noqa: E402
from tree import read, tracked  # noqa: E402

VERSION = re.search(r"version: '([\d.]+)'", read('meson.build')).group(1)
ROOT = tempfile.TemporaryDirectory(prefix='weft-consumers-')
MAIN = """
#include <weft/weft.h>
int main(void)
{
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, "consumer");
	weft_notef("%d and %s", 7, "text");
	weft_mark("mark", "n", 7, "f", 0.5);
	weft_resolve(task);
	return 0;
}
"""
# Compilers for main.c, which is valid C and C++.
LANGUAGES = {'c11': ['cc', '-std=c11'], 'c++11': ['g++', '-x', 'c++', '-std=c++11'],
             'c++20': ['g++', '-x', 'c++', '-std=c++20']}


def block(language):
    """The block of docs/use.md in that language."""
    return re.search(r'^```%s\n(.*?)^```$' % language, read('docs/use.md'), re.DOTALL | re.MULTILINE).group(1)


def run_well(command, **options):
    result = run(command, processor=500, **options)
    assert result.returncode == 0, '%s\n%s%s' % (command, result.stdout, result.stderr)
    return result.stdout


def installed():
    folder = os.path.join(ROOT.name, 'installed')
    if not os.path.exists(folder):
        run_well(['meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', folder])
    return folder


def library_folder():
    return os.path.dirname(glob.glob(os.path.join(installed(), '**', 'libweft.so'), recursive=True)[0])


def project(name, **files):
    folder = tempfile.mkdtemp(prefix=name + '-', dir=ROOT.name)
    for path, text in dict({'main.c': MAIN}, **files).items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), 'w', encoding='utf-8') as file:
            file.write(text)
    return folder


def records(program, **env):
    folder = tempfile.mkdtemp(dir=ROOT.name)
    trace = os.path.join(folder, 'trace.weft')
    run_well([WEFT, 'record', '-o', trace, program], env=dict(env, XDG_RUNTIME_DIR=folder))
    dump = run_well([WEFT, 'dump', trace])
    assert 'text="consumer"' in dump and '7 and text' in dump and 'resolve' in dump, dump


def pkg_config():
    pc = glob.glob(os.path.join(installed(), '**', 'weft.pc'), recursive=True)[0]
    return {'PKG_CONFIG_PATH': os.path.dirname(pc), 'PKG_CONFIG_SYSROOT_DIR': installed()}


@case
def by_pkg_config():
    for compiler in LANGUAGES.values():
        folder = project('pkg-config')
        language = ' '.join(compiler) + ' main.c' + (' -x none' if '-x' in compiler else '')
        line = block('sh').replace('cc main.c', language)
        run_well(['sh', '-ec', line], cwd=folder, env=pkg_config())
        records(os.path.join(folder, 'program'), LD_LIBRARY_PATH=library_folder())


@case
def by_the_static_library():
    for compiler in LANGUAGES.values():
        folder = project('static')
        flags = run_well(['pkg-config', '--cflags', '--libs', 'weft'], env=pkg_config()).split()
        flags = ['-l:libweft.a' if flag == '-lweft' else flag for flag in flags]
        run_well([*compiler, 'main.c', '-x', 'none', '-o', 'program', *flags], cwd=folder)
        assert 'libweft' not in run_well(['ldd', os.path.join(folder, 'program')])
        records(os.path.join(folder, 'program'))


def cmake(text):
    if not shutil.which('cmake') or not shutil.which('g++'):
        skip('cmake or g++ is not installed')
    folder = project('cmake', **{'CMakeLists.txt': text})
    found = os.path.join(library_folder(), 'cmake', 'weft')
    run_well(['cmake', '-S', folder, '-B', folder + '/build', '-Dweft_DIR=' + found])
    run_well(['cmake', '--build', folder + '/build'])
    return folder + '/build/program'


@case
def by_cmake():
    records(cmake(block('cmake')))


@case
def by_cmake_in_cplusplus():
    for standard in ('11', '20'):
        records(cmake(block('cmake') + 'set_source_files_properties(main.c PROPERTIES LANGUAGE CXX)\n'
                      'set_target_properties(program PROPERTIES CXX_STANDARD %s)\n' % standard))


@case
def by_cmake_statically():
    program = cmake(block('cmake').replace('weft::weft', 'weft::static'))
    assert 'libweft' not in run_well(['ldd', program])
    records(program)


@case
def cmake_refuses_another_version():
    try:
        cmake(block('cmake').replace('weft 0.1', 'weft 99'))
    except AssertionError as error:
        assert 'requested version "99"' in str(error), error
    else:
        raise AssertionError('weft 99 was found')


def copy_tree(folder):
    """Copies the sources, as a user would have them."""
    for path in tracked():
        copy = os.path.join(folder, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(os.path.join(SOURCE, path), copy)


def made_libraries(build):
    """The libraries for users that a Meson build makes; not those of single modules."""
    targets = json.loads(run_well(['meson', 'introspect', '--targets', build]))
    return {target['name'] for target in targets if target['type'] == 'shared library'}


@case
def by_a_meson_subproject():
    if not shutil.which('g++'):
        skip('g++ is not installed')
    more = "add_languages('cpp')\n" + ''.join("executable('%s', 'main.cpp', dependencies: dependency('weft'),\n"
                   "    override_options: 'cpp_std=%s')\n" % (name, name) for name in ('c++11', 'c++20'))
    folder = project('meson', **{'meson.build': block('meson') + more, 'main.cpp': MAIN,
                                 'subprojects/weft.wrap': block('ini')})
    copy_tree(os.path.join(folder, 'subprojects', 'weft'))
    run_well(['meson', 'setup', '--wrap-mode=nodownload', folder + '/build', folder])
    equal(made_libraries(folder + '/build'), {'weft'}, 'libraries of the subproject')
    run_well(['ninja', '-C', folder + '/build', 'program', 'c++11', 'c++20'])
    for name in ('program', 'c++11', 'c++20'):
        records(os.path.join(folder, 'build', name))
    run_well(['meson', 'setup', '--reconfigure', '-Dweft:parts=all', folder + '/build', folder])
    equal(made_libraries(folder + '/build'), {'weft', 'weft-trace'}, 'libraries of the subproject with -Dparts=all')


@case
def the_recorder_is_built_alone():
    folder = project('recorder')
    build, root = os.path.join(folder, 'build'), os.path.join(folder, 'root')
    # pkg-config finds no library.
    run_well(['meson', 'setup', '-Dparts=recorder', '-Dprefix=/usr', '-Dlibdir=lib', build, SOURCE],
             env={'PKG_CONFIG_LIBDIR': folder})
    run_well(['meson', 'install', '-C', build, '--destdir', root])
    made = {os.path.relpath(os.path.join(where, name), root + '/usr')
            for where, _, names in os.walk(root) for name in names}
    libraries = {'lib/libweft.a', 'lib/libweft.so', 'lib/libweft.so.0', 'lib/libweft.so.' + VERSION}
    headers = {path for path in made if path.startswith('include/weft/')}
    equal(made - libraries - headers, {'lib/pkgconfig/weft.pc', 'lib/cmake/weft/weftConfig.cmake',
                                       'lib/cmake/weft/weftConfigVersion.cmake', 'share/doc/weft/LICENSE'})
    assert libraries < made and 'include/weft/weft.h' in headers and 'include/weft/decoder.h' not in headers, made


@case
def from_python():
    folder = project('python', **{'program.py': block('python')})
    trace = os.path.join(folder, 'trace.weft')
    run_well([WEFT, 'record', '-o', trace, sys.executable, os.path.join(folder, 'program.py')],
             env={'LD_LIBRARY_PATH': library_folder(), 'XDG_RUNTIME_DIR': folder})
    dump = run_well([WEFT, 'dump', trace])
    assert 'text="consumer"' in dump and 'resolve' in dump, dump


@case
def as_source():
    folder = project('source')
    with open(os.path.join(folder, 'main.c'), 'w', encoding='utf-8') as file:
        file.write(MAIN.replace('<weft/weft.h>', '"weft.h"'))
    for path in glob.glob(os.path.join(installed(), '**', 'share', 'weft', 'weft.[ch]'), recursive=True):
        shutil.copy(path, folder)
    run_well(['sh', '-ec', block('dropin')], cwd=folder)
    records(os.path.join(folder, 'program'))


@case
def the_library_exports_what_the_header_declares():
    lines = run_well(['nm', '--dynamic', '--defined-only', os.path.join(library_folder(), 'libweft.so')])
    exported = {line.split()[-1].split('@')[0] for line in lines.splitlines()} - {'WEFT_1'}
    assert len(exported) > 150, exported
    words = set()
    for header in ('weft.h', 'weft_macros.h', 'context.h', 'metrics.h', 'weft_ffi.h', 'value.h', 'xen.h', 'weft_calls.h', 'weft_ffi_calls.h'):
        words |= set(re.findall(r'\w+', read('include/weft/' + header)))
    equal(sorted(exported - words), [], 'exported, not declared')


main()
