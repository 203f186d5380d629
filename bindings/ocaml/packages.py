# SPDX-License-Identifier: ISC
"""Builds or installs the packages of OCaml for Meson:

    packages.py build SOURCES DUNE INCLUDE LIBRARIES STAMP     with the headers and the library of this build
    packages.py install SOURCES DUNE                           below the prefix of `meson install`
"""
import os
import pathlib
import subprocess
import sys

# dune's cache lies outside of the build.
ENVIRONMENT = dict(os.environ, DUNE_CACHE='disabled')


def dune(command, sources, build, *options, **environment):
    result = subprocess.run(['dune', command, '--root', sources, '--build-dir', build, '--profile', 'release', *options],
                            env=dict(ENVIRONMENT, **environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(result.stdout)


def build(sources, folder, include, libraries, stamp):
    dune('build', sources, folder, '@install', CPATH=include, LIBRARY_PATH=libraries)
    pathlib.Path(stamp).touch()


def site():
    """The folder below the prefix in which ocamlfind searches for packages."""
    prefix = os.environ['MESON_INSTALL_PREFIX']
    path = subprocess.run(['ocamlfind', 'printconf', 'path'], check=True, capture_output=True, text=True).stdout.split()
    below = [it for it in path if os.path.commonpath([it, prefix]) == prefix]
    return min(below, key=len, default=os.path.join(prefix, 'lib', 'ocaml'))


def install(sources, folder):
    prefix, destination = os.environ['MESON_INSTALL_PREFIX'], os.environ.get('DESTDIR')
    dune('install', sources, folder, '--prefix', prefix, '--libdir', site(), *(['--destdir', destination] if destination else []))


{'build': build, 'install': install}[sys.argv[1]](*sys.argv[2:])
