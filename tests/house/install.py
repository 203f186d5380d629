# SPDX-License-Identifier: ISC
"""`make install` installs programs, manual pages, and libraries that other projects can build with."""
import glob
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, DATA, SOURCE, build_option, case, equal, main, run, skip  # noqa: E402

ROOT = tempfile.TemporaryDirectory(prefix='weft-install-')
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Werror']
CONSUMER = """
#include <stdio.h>
#include <weft/decoder.h>
int main(void)
{
	struct weft_decoder *decoder;
	if (weft_decoder_create(&decoder))
		return 1;
	puts(weft_error_text(weft_decoder_finish(decoder)));
	weft_decoder_destroy(decoder);
	return 0;
}
"""


def install():
    """Installs once, into a folder that is removed at the end."""
    if not os.listdir(ROOT.name):
        run_well(['meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', ROOT.name])
    return ROOT.name


def run_well(command, **options):
    result = run(command, **options)
    assert result.returncode == 0, '%s\n%s%s' % (command, result.stdout, result.stderr)
    return result


def installed(pattern):
    found = glob.glob(os.path.join(install(), '**', pattern), recursive=True)
    assert found, 'not installed: %s' % pattern
    return found[0]


@case
def the_program_runs():
    trace = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
    assert 'mirage-ctf' in run_well([installed('bin/weft'), 'info', trace]).stdout


@case
def the_licence_is_there():
    with open(os.path.join(SOURCE, 'LICENSE'), 'rb') as ours, open(installed('doc/weft/LICENSE'), 'rb') as its:
        equal(its.read(), ours.read())


def after_install(libdir, searched, user=0, version='GNU libc'):
    """The output of tools/after-install, and whether it ran ldconfig, which searches only the folder `searched`."""
    with tempfile.TemporaryDirectory(prefix='weft-ldconfig-') as folder:
        os.mkdir(os.path.join(folder, 'lib'))
        for name, text in (('id', 'echo %d' % user),
                           ('ldconfig', 'case "$*" in --version) echo "ldconfig (%s) 2";;'
                            ' *-N*) echo "%s/%s: (from x)"; echo "\tlibweft.so.0";; *) echo ran >>%s/log;; esac'
                            % (version, folder, searched, folder))):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\n%s\n' % text)
            os.chmod(os.path.join(folder, name), 0o755)
        result = run_well([os.path.join(SOURCE, 'tools', 'after-install'), libdir],
                          env={'PATH': folder + ':' + os.environ['PATH'], 'MESON_INSTALL_PREFIX': folder})
        log = os.path.join(folder, 'log')
        return result.stdout.replace(folder, 'PREFIX'), os.path.exists(log)


@case
def the_dynamic_linker_is_updated():
    text, ran = after_install('lib', searched='lib')
    assert ran and 'Running ldconfig' in text, text
    text, ran = after_install('lib', searched='lib', user=1000)
    assert not ran and 'as root: ldconfig' in text, text
    text, ran = after_install('lib', searched='elsewhere')
    assert not ran and 'LD_LIBRARY_PATH=PREFIX/lib' in text, text
    equal(after_install('lib', searched='lib', version='of another libc'), ('', False))


def configured(**commands):
    """The arguments with which tools/configure calls meson, if only these commands exist."""
    with tempfile.TemporaryDirectory(prefix='weft-configure-') as folder:
        for name, text in dict(commands, meson='echo "$@" >>log', rm='true').items():
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\n%s\n' % text)
            os.chmod(os.path.join(folder, name), 0o755)
        made = run(['/bin/sh', os.path.join(SOURCE, 'tools', 'configure'), 'build'], cwd=folder,
                   env={'PATH': folder, 'CC': ''})
        assert made.returncode == 0, made.stderr
        with open(os.path.join(folder, 'log'), encoding='utf-8') as file:
            return file.read()


@case
def the_folder_of_libraries_is_debians():
    if not os.path.exists('/etc/debian_version'):
        skip('this is not Debian')
    multiarch = '[ $1 = -print-multiarch ] && echo one-two-three'
    equal(configured(cc=multiarch), 'setup build -Dlibdir=lib/one-two-three\n')
    # Meson asks dpkg-architecture itself.
    equal(configured(cc=multiarch, **{'dpkg-architecture': 'true'}), 'setup build\n')
    equal(configured(cc='exit 1'), 'setup build\n')


@case
def pages_and_completion_are_there():
    assert installed('share/bash-completion/completions/weft') and installed('share/zsh/site-functions/_weft')
    assert installed('share/fish/vendor_completions.d/weft.fish')
    if not shutil.which('scdoc') or build_option('man') == 'disabled':
        skip('built without manual pages')
    assert installed('man1/weft.1') and installed('man1/weft-dump.1') and installed('man5/weft-format.5')


@case
def the_viewer_is_found_beside_the_program():
    if not os.path.exists(os.path.join(BUILD, 'weft-gtk')):
        skip('built without GTK 4')
    result = run([installed('bin/weft'), 'view', '/nowhere'])
    equal((result.returncode, result.stderr), (3, '/nowhere: No such file or directory\n'))
    with open(installed('applications/org.weft.Viewer.desktop'), encoding='utf-8') as file:
        entry = dict(line.strip().split('=', 1) for line in file if '=' in line)
    assert installed('bin/' + entry['Exec'].split()[0])
    assert installed('icons/hicolor/scalable/apps/%s.svg' % entry['Icon'])
    with open(installed('mime/packages/org.weft.Viewer.xml'), encoding='utf-8') as file:
        types = re.findall('mime-type type="([^"]+)"', file.read())
    equal(entry['MimeType'], ''.join(type_ + ';' for type_ in types))


def compile_header(compiler, header):
    # The declaration is for headers that have none: ISO C wants one.
    text = '#include <weft/%s>\n#include <weft/%s>\ntypedef int any;\n' % (header, header)
    include = os.path.dirname(os.path.dirname(installed('include/weft/error.h')))
    run_well([*compiler, *WARNINGS, '-I', include, '-fsyntax-only', '-'], input=text)


# Programs use cairo.h, but no installed library has it.
HEADERS = sorted({os.path.basename(p) for p in glob.glob(os.path.join(SOURCE, 'include', 'weft', '*.h'))} - {'cairo.h'})


@case
def only_headers_of_installed_libraries_are_there():
    folder = os.path.dirname(installed('include/weft/weft.h'))
    equal(sorted(set(HEADERS) ^ {name for name in os.listdir(folder) if name.endswith('.h')}), [])


@case
def every_header_compiles_alone_as_c():
    for header in HEADERS:
        compile_header(['cc', '-std=c11', '-x', 'c'], header)


@case
def every_header_compiles_alone_as_cpp():
    if not shutil.which('clang-14'):
        skip('clang-14 is not installed')
    for header in HEADERS:
        compile_header(['clang-14', '-std=c++17', '-x', 'c++'], header)
    for header in ('weft.hpp', 'context.hpp', 'metrics.hpp'):
        compile_header(['clang-14', '-std=c++17', '-x', 'c++'], header)
    compile_header(['clang-14', '-std=c++11', '-x', 'c++'], 'asio.hpp')
    compile_header(['clang-14', '-std=c++20', '-x', 'c++'], 'coroutine.hpp')


def build_with(library, arguments, **options):
    """Builds a program with the flags of the pkg-config file; returns its path and the library's folder."""
    folder = install()
    environment = {'PKG_CONFIG_PATH': os.path.dirname(installed(library + '.pc')),
                   'PKG_CONFIG_SYSROOT_DIR': folder}
    flags = run_well(['pkg-config', '--cflags', '--libs', library], env=environment).stdout.split()
    program = os.path.join(folder, library + '-user')
    run_well(['cc', *arguments, '-o', program, *flags], **options)
    return program, {'LD_LIBRARY_PATH': os.path.dirname(installed('lib%s.so' % library))}


@case
def another_program_finds_the_reading_half():
    program, environment = build_with('weft-trace', ['-x', 'c', '-', '-x', 'none'], input=CONSUMER)
    equal(run_well([program], env=environment).stdout, 'no bytes\n')


@case
def another_program_finds_the_recorder():
    program, environment = build_with('weft', [os.path.join(SOURCE, 'examples', 'hello.c')])
    trace = os.path.join(ROOT.name, 'hello.weft')
    run_well([installed('bin/weft'), 'record', '-o', trace, program], env=environment)
    assert 'say hello' in run_well([installed('bin/weft'), 'dump', trace]).stdout


main()
