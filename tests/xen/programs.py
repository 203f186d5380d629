# SPDX-License-Identifier: ISC
"""Builds what tests run in the lab: the guest, and C programs for dom0. An object is made again if what it is made of
has changed."""
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
from harness import BUILD, SOURCE, skip  # noqa: E402

FOLDER = os.path.join(BUILD, 'tests', 'xen')
WARNINGS = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-O2', '-g']
GUEST_FLAGS = ['-ffreestanding', '-fno-pic', '-no-pie', '-mno-red-zone', '-fno-stack-protector', '-fcf-protection=none',
               '-U_FORTIFY_SOURCE', '-nostdlib', '-static', '-D_GNU_SOURCE', '-DWEFT_FREESTANDING', '-D__XEN_INTERFACE_VERSION__=__XEN_LATEST_INTERFACE_VERSION__']
INCLUDES = ['-I', os.path.join(SOURCE, 'include'), '-I', os.path.join(SOURCE, 'src')]
LIBWEFT = os.path.join(BUILD, 'src', 'platform', 'libweft.a')
HEADERS = '/usr/include/xen/xen.h'


def compiler():
    for program, package in (('gcc', 'gcc'), (HEADERS, 'libxen-dev')):
        if not (shutil.which(program) or os.path.exists(program)):
            skip('%s is not installed' % package)
    return ['ccache', 'gcc'] if shutil.which('ccache') else ['gcc']


def build(name, sources, flags):
    os.makedirs(FOLDER, exist_ok=True)
    made = os.path.join(FOLDER, name)
    objects = []
    for source in sources:
        objects.append('%s-%s.o' % (made, os.path.relpath(source, SOURCE).replace(os.sep, '-')))
        execute([*compiler(), *flags, *INCLUDES, '-c', source, '-o', objects[-1]])
    execute(['gcc', *flags, *objects, '-o', made] + LIBRARIES.get(name, []))
    return made


LIBRARIES = {
    'guest': ['-T', os.path.join(HERE, 'guest', 'guest.lds'), '-Wl,--build-id=none'],
    'absorb': ['-lxenevtchn', '-lxenstore'],
    'map': ['-lxengnttab', '-lxenstore'],
    'rounds': [LIBWEFT, '-lxencall', '-lxenevtchn', '-lxenstore'],
    'process': [LIBWEFT],
    'versions': [LIBWEFT],
    'contexts': [LIBWEFT],
}


def execute(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, '%s\n%s' % (' '.join(command), result.stderr)


def guest():
    """The unikernel of tests/xen/guest, with the recorder in it."""
    sources = sorted(glob.glob(os.path.join(HERE, 'guest', '*.[cS]')))
    sources += [os.path.join(SOURCE, 'tests', 'hostile', 'attack.c'), os.path.join(SOURCE, 'src', 'platform', 'freestanding.c')]
    for folder in ('record', 'guest'):
        sources += sorted(glob.glob(os.path.join(SOURCE, 'src', folder, '*.c')))
    return build('guest', sources, WARNINGS + GUEST_FLAGS)


def for_dom0(name):
    """A program for dom0 from one C file of this folder."""
    return build(name, [os.path.join(HERE, name + '.c')], WARNINGS + ['-D_GNU_SOURCE'])


def all_for_dom0():
    """All of these programs, by name."""
    return {name: for_dom0(name) for name in ('absorb', 'map', 'process', 'rounds')}
