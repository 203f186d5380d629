# SPDX-License-Identifier: ISC
"""The manual has exactly the commands and options of --help."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, '..', 'e2e'), os.path.join(HERE, '..', '..', 'man')]
from harness import BUILD, case, equal, main, run, skip, weft  # noqa: E402
from tables import calls, ffi_calls  # noqa: E402
from tree import read, tracked  # noqa: E402

OPTION = re.compile(r'(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])')
COMMANDS = re.findall(r'^  ([a-z]+) ', weft('--help').stdout, re.MULTILINE)
CALLS = read('include/weft/calls.def')
PAGES = {os.path.basename(p)[:-len('.scd')]: read(p).replace('@CALLS@', calls(CALLS)).replace('@FFI_CALLS@', ffi_calls(CALLS))
         for p in tracked() if p.startswith('man/') and p.endswith('.scd')}


def options_of(command):
    return set(OPTION.findall(weft(command, '--help').stdout))


def options_in(page):
    """The options that a page describes: lines that begin with an option in bold."""
    heads = [line for line in page.splitlines() if line.startswith('*-')]
    return set(OPTION.findall('\n'.join(heads).replace('*', ' ')))


@case
def every_command_has_a_page():
    assert COMMANDS, 'weft --help lists no command'
    missing = [c for c in COMMANDS if 'weft-%s.1' % c not in PAGES]
    assert not missing, 'no man page for: %s' % ', '.join(missing)


@case
def every_option_is_in_its_page():
    for command in COMMANDS:
        equal(options_in(PAGES['weft-%s.1' % command]), options_of(command),
              'weft-%s.1 (left) and --help (right)' % command)


@case
def the_page_of_the_window_has_its_options():
    program = os.path.join(BUILD, 'weft-gtk')
    if not os.path.exists(program):
        skip('built without GTK 4')
    equal(options_in(PAGES['weft-gtk.1']), set(OPTION.findall(run([program, '--help']).stdout)), 'weft-gtk.1 and --help')


@case
def the_first_page_lists_every_command():
    listed = re.findall(r'^\*weft-([a-z]+)\*\(1\)$', PAGES['weft.1'], re.MULTILINE)
    equal(sorted(listed), sorted(COMMANDS), 'commands in weft.1')


@case
def every_page_is_built():
    build = read('man/meson.build')
    assert all("'%s'" % page in build for page in PAGES), 'a page is missing in man/meson.build'


@case
def every_recording_call_is_in_its_page():
    header = read('include/weft/weft.h') + read('include/weft/weft_calls.h')
    calls = set(re.findall(r'^(?:#define |[a-z][\w ]*)(weft_(?!_)[a-z_]+)\(', header, re.MULTILINE))
    assert len(calls) > 20, calls
    page = PAGES['weft.3']
    missing = [c for c in calls if not c.endswith('_as') and not re.search(r'\b%s\(' % c, page)]
    assert not missing, 'not in weft.3: %s' % ', '.join(sorted(missing))


@case
def every_call_of_other_languages_is_in_its_page():
    calls = set(re.findall(r'\b(weft_ffi_[a-z_]+)\(', read('include/weft/weft_ffi.h') + read('include/weft/weft_ffi_calls.h')))
    page = re.sub(r'\\', '', PAGES['weft_ffi.3'])
    assert len(calls) > 30, calls
    missing = [c for c in calls if c + '(' not in page]
    assert not missing, 'not in weft_ffi.3: %s' % ', '.join(sorted(missing))


main()
