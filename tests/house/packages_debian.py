# SPDX-License-Identifier: ISC
"""debian/ builds packages in which each file is in the right one, and about which lintian has nothing to say."""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE, case, equal, main, run, skip  # noqa: E402
from tree import read, tracked  # noqa: E402

VERSION = re.search(r"version: '([\d.]+)'", read('meson.build')).group(1)
# Not a temporary folder, because names of folders are among the options, so ccache would find no object of an earlier run.
FOLDER = os.path.join(BUILD, 'debian')
TREE = os.path.join(FOLDER, 'weft-' + VERSION)
CCACHE = '/usr/lib/ccache'
LOG = os.path.join(FOLDER, 'log')

RECORDER_HEADERS = {'weft/' + name for name in re.findall(
    r"'([\w.]+)'", re.search(r'recorder_headers = \[(.*?)\]', read('include/meson.build'), re.DOTALL).group(1))}
PAGES = {os.path.basename(path)[:-len('.scd')] for path in tracked() if path.startswith('man/') and path.endswith('.scd')}
NODE_SCRIPTS = [os.path.basename(path) for path in tracked() if re.fullmatch(r'bindings/node/\w+\.js', path)]
PYTHON_MODULES = [os.path.basename(path) for path in tracked() if re.fullmatch(r'bindings/python/weft/[\w.]+\.py', path)]
LIBRARY_PAGES = {name for name in PAGES if name.endswith('.3')}


def pages(*names):
    return {'usr/share/man/man%s/%s.gz' % (name[-1], name) for name in names}


def library(name):
    return {'LIB/%s.so.%s' % (name, VERSION), 'LIB/%s.so.0' % name}


def development(name):
    return {'LIB/%s.so' % name, 'LIB/%s.a' % name, 'LIB/pkgconfig/%s.pc' % name[len('lib'):]}


def headers(names):
    return {'usr/include/' + name for name in names}


def reading_headers():
    return {path[len('include/'):] for path in tracked() if path.startswith('include/weft/')} - RECORDER_HEADERS - {'weft/cairo.h'}


def ocaml_files():
    """Each library's files, in the folder of its package or in one below."""
    libraries = {'weft': ('weft', ['weft']), 'weft-lwt': ('weft_lwt', ['weft_lwt', 'weft_lwt_context', 'weft_lwt_promise']),
                 'weft-lwt/unix': ('weft_lwt_unix', ['weft_lwt_unix']), 'weft-lwt/mprof': ('weft_mprof', ['mProf']),
                 'weft-lwt/mprof-unix': ('weft_mprof_unix', ['mProf_unix'])}
    found = {'%s/%s' % (package, name) for package in ('weft', 'weft-lwt') for name in ('META', 'dune-package', 'opam')}
    found |= {'stublibs/dll%s_stubs.so' % library for library in ('weft', 'weft_lwt')}
    found |= {'%s/lib%s_stubs.a' % it for it in (('weft', 'weft'), ('weft-lwt', 'weft_lwt'))}
    for folder, (library, modules) in libraries.items():
        found |= {'%s/%s.%s' % (folder, library, ending) for ending in ('a', 'cma', 'cmxa', 'cmxs')}
        found |= {'%s/%s.%s' % (folder, module, ending) for module in modules for ending in ('cmi', 'cmt', 'cmx', 'ml')}
    return {'usr/lib/ocaml/' + name for name in found}


# The files of each package, besides changelog and copyright.
EXPECTED = {
    'libweft0': library('libweft'),
    'libweft-dev': development('libweft') | headers(RECORDER_HEADERS) | pages(*LIBRARY_PAGES) | {
        'LIB/cmake/weft/weftConfig.cmake', 'LIB/cmake/weft/weftConfigVersion.cmake',
        'usr/share/weft/weft.c', 'usr/share/weft/weft.h', 'LIB/libweft-uv.a', 'LIB/weft/uv.wrap'},
    'libweft-trace0': library('libweft-trace'),
    'libweft-trace-dev': development('libweft-trace') | headers(reading_headers()),
    'libweft-ocaml-dev': ocaml_files() | {'usr/share/lintian/overrides/libweft-ocaml-dev'},
    'python3-weft': pages('weft-python.1') | {
        'usr/lib/python3/dist-packages/weft/' + name for name in ('_weft.abi3.so', *PYTHON_MODULES)},
    'weft': {'LIB/weft/node/' + name for name in ('weft.node', *NODE_SCRIPTS)} | pages(*PAGES - LIBRARY_PAGES - {'weft-gtk.1', 'weft-python.1'}) | {
        'usr/bin/weft', 'LIB/weft/libweft-adapters.so', 'LIB/weft/weft-python.so', 'usr/share/bash-completion/completions/weft',
        'usr/share/fish/vendor_completions.d/weft.fish', 'usr/share/zsh/vendor-completions/_weft',
        'lib/systemd/system/weft-agent.service', 'usr/share/weft/prometheus/weft.rules.yml',
        'usr/share/doc/weft/README.md.gz'},
    'weft-gtk': pages('weft-gtk.1') | {
        'usr/bin/weft-gtk', 'usr/share/applications/org.weft.Viewer.desktop',
        'usr/share/icons/hicolor/scalable/apps/org.weft.Viewer.svg', 'usr/share/mime/packages/org.weft.Viewer.xml'},
}


def has_ccache():
    return shutil.which('ccache') and os.path.isdir(CCACHE)


def copy_tree():
    shutil.rmtree(FOLDER, ignore_errors=True)
    for path in tracked():
        copy = os.path.join(TREE, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(os.path.join(SOURCE, path), copy)
    add_options(shared_options())


def shared_options():
    """Options that reuse what this build has made: the page's WebAssembly, linking which takes as long as a third of the
    packages, and objects, which ccache finds if they are compiled with the same options."""
    wasm = os.path.join(BUILD, 'apps', 'web', 'weft.wasm')
    options = ['-Dpage_wasm=' + wasm] if os.path.exists(wasm) else []
    return options + (['--buildtype=debugoptimized', '-Dwerror=true'] if has_ccache() else [])


def add_options(options):
    rules = os.path.join(TREE, 'debian', 'rules')
    with open(rules, encoding='utf-8') as file:
        text = file.read()
    assert text.count('-Dpage=enabled ') == 1
    with open(rules, 'w', encoding='utf-8') as file:
        file.write(text.replace('-Dpage=enabled ', ' '.join(['-Dpage=enabled', *options, ''])))


def environment():
    """Without the tests of the packages, which this build of weft has run, and with its cache of objects. The files and
    their symbols are what is tested, so compiling and compressing may be quick."""
    found = {'DEB_BUILD_OPTIONS': 'nocheck noautodbgsym parallel=%d' % (os.cpu_count() or 1), 'DPKG_DEB_COMPRESSOR_LEVEL': '0'}
    if has_ccache():
        # debhelper sets another HOME. Options of Debian's own would be others than those of this build.
        found.update(CCACHE_DIR=run(['ccache', '--get-config', 'cache_dir']).stdout.strip(),
                     PATH=CCACHE + os.pathsep + os.environ['PATH'], DEB_CFLAGS_SET='', DEB_CPPFLAGS_SET='', DEB_CXXFLAGS_SET='')
    else:
        found['DEB_CFLAGS_APPEND'] = '-O1 -g0'
    return found


def build():
    """Builds source and packages, once; a skip tells what is not installed."""
    if os.path.exists(LOG):
        return
    for tool, package in (('dpkg-buildpackage', 'dpkg-dev'), ('dh', 'debhelper')):
        if not shutil.which(tool):
            skip('%s is not installed' % package)
    needs = run(['dpkg-checkbuilddeps', os.path.join(SOURCE, 'debian', 'control'), '-P', 'nocheck'])
    if needs.returncode:
        skip(needs.stderr.strip())
    copy_tree()
    made = run(['dpkg-buildpackage', '--no-sign', '--build=full', '-Pnocheck', '--source-option=-z1'],
               cwd=TREE, env=environment(), processor=1500)
    with open(LOG, 'w', encoding='utf-8') as file:
        file.write(made.stdout + made.stderr)
    assert made.returncode == 0, (made.stdout + made.stderr)[-5000:]


def package(name):
    build()
    found = glob.glob(os.path.join(FOLDER, name + '_*.deb'))
    assert len(found) == 1, found
    return found[0]


def unpacked(*names):
    """A folder with the files of these packages."""
    folder = os.path.join(FOLDER, 'root-' + '-'.join(names))
    for name in names:
        result = run(['dpkg-deb', '--extract', package(name), folder])
        assert result.returncode == 0, result.stderr
    return folder


def files(name):
    folder = unpacked(name)
    found = {os.path.relpath(os.path.join(where, file), folder) for where, _, all_files in os.walk(folder) for file in all_files}
    found = {re.sub(r'^usr/lib/[^/]+-linux-gnu[^/]*/', 'LIB/', path) for path in found}
    return {path for path in found if not re.match(r'usr/share/doc/[\w-]+/(changelog\.gz|copyright)$', path)}


@case
def the_version_is_that_of_the_program():
    equal(re.match(r'weft \(([^)]+)\)', read('debian/changelog')).group(1), VERSION)


@case
def every_file_is_in_its_package():
    for name, expected in EXPECTED.items():
        equal(sorted(files(name) ^ expected), [], name)


@case
def lintian_is_silent():
    build()
    if not shutil.which('lintian'):
        skip('lintian is not installed')
    changes, = glob.glob(os.path.join(FOLDER, '*.changes'))
    result = run(['lintian', '--allow-root', '--display-info', changes], processor=300)
    print(''.join('# %s\n' % line for line in result.stdout.splitlines()), end='')
    equal(result.returncode, 0, result.stderr)
    # Not by --fail-on, which counts what lintian masks, too.
    equal([line for line in result.stdout.splitlines() if line[:2] in ('E:', 'W:')], [])


@case
def symbols_are_those_of_the_libraries():
    for name, library in (('libweft', 'src/platform/libweft.so'), ('libweft-trace', 'src/libweft-trace.so')):
        build()
        shown = run(['dpkg-deb', '--info', package(name + '0'), 'symbols']).stdout
        symbols = set(re.findall(r'^ (\w+)@', shown, re.MULTILINE))
        listed = run(['nm', '--dynamic', '--defined-only', os.path.join(BUILD, library)]).stdout
        expected = set(re.findall(r' (weft\w+)@', listed))
        equal(sorted({s for s in symbols if s.startswith('weft')} ^ expected), [], name)


def compiles(packages, pc, source):
    """Builds a program with nothing but the files of these packages."""
    folder = unpacked(*packages)
    pc_folder = os.path.dirname(glob.glob(os.path.join(folder, 'usr/lib/*/pkgconfig', pc + '.pc'))[0])
    # Meson's prefix is /usr, whose folders pkg-config leaves out because compilers search them.
    flags = run(['pkg-config', '--cflags', '--libs', pc],
                env={'PKG_CONFIG_PATH': pc_folder, 'PKG_CONFIG_SYSROOT_DIR': folder, 'PKG_CONFIG_ALLOW_SYSTEM_CFLAGS': '1'})
    assert flags.returncode == 0, flags.stderr
    result = run(['cc', os.path.join(SOURCE, source), '-o', os.path.join(FOLDER, 'program'), *flags.stdout.split()])
    assert result.returncode == 0, result.stderr


@case
def the_recorders_packages_are_enough_to_record():
    compiles(['libweft0', 'libweft-dev'], 'weft', 'examples/hello.c')


@case
def the_readers_packages_are_enough_to_read():
    compiles(['libweft-trace0', 'libweft-trace-dev', 'libweft-dev'], 'weft-trace', 'examples/follow.c')


@case
def the_package_of_python_is_enough_to_record():
    folder = unpacked('python3-weft', 'libweft0')
    library_folder = os.path.dirname(glob.glob(os.path.join(folder, 'usr/lib/*/libweft.so.0'))[0])
    result = run(['/usr/bin/python3', '-c', 'import weft.asyncio; weft.asyncio.record(); print(weft.__file__)'],
                 env={'PYTHONPATH': os.path.join(folder, 'usr/lib/python3/dist-packages'), 'LD_LIBRARY_PATH': library_folder})
    assert result.stdout.startswith(folder), result.stderr


if os.path.exists(LOG):
    os.remove(LOG)
main()
