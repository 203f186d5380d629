# SPDX-License-Identifier: ISC
"""libweft-trace exports the functions that its public headers declare, and nothing else; what the installed headers
declare is in the library that comes with them."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE, case, equal, main, run, skip  # noqa: E402
from tree import read, tracked  # noqa: E402

RECORDER = os.path.join(BUILD, 'src', 'platform', 'libweft.so')
LIBRARY = os.path.join(BUILD, 'src', 'libweft-trace.so')
LISTED = set(re.findall(r'^\t(\w+);', read('src/weft-trace.map'), re.MULTILINE))
# Libraries of their own: the recorder, and pictures by cairo.
OTHERS = ('src/record/', 'src/guest/', 'src/platform/', 'src/cairo/')
EXPORT = re.compile(r'WEFT__EXPORT\s+[^;{(=]*?\b(\w+)\s*[(=]')


def symbols(library):
    """The names that a library exports; skips the case if that cannot be found out."""
    if not os.path.exists(library):
        skip('there is no shared library')
    if not shutil.which('nm'):
        skip('binutils is not installed')
    result = run(['nm', '--dynamic', '--defined-only', library])
    assert result.returncode == 0, result.stderr
    return {line.split()[-1].split('@')[0] for line in result.stdout.splitlines()}


@case
def the_map_lists_what_the_sources_mark():
    marked = {name for path in tracked()
              if path.startswith('src/') and path.endswith('.c') and not path.startswith(OTHERS)
              for name in EXPORT.findall(read(path))}
    equal(sorted(marked ^ LISTED), [], 'in src/weft-trace.map or marked WEFT__EXPORT, not both')


@case
def the_headers_declare_what_is_listed():
    words = set()
    for path in tracked():
        if path.startswith('include/weft/') and path.endswith('.h'):
            words |= set(re.findall(r'\w+', read(path)))
    equal(sorted(LISTED - words), [], 'exported, not declared')


def installed_headers():
    """The recorder's headers and the reading half's, as include/meson.build installs them."""
    build = read('include/meson.build')
    recorder = set(re.findall(r"'([\w.]+)'", re.search(r'recorder_headers = \[(.*?)\]', build, re.DOTALL).group(1)))
    left_out = {'cairo.h'}
    assert "'cairo.h'" in build
    every = {os.path.basename(path) for path in tracked() if path.startswith('include/weft/')}
    assert recorder < every and left_out < every, (recorder, left_out)
    return recorder, every - recorder - left_out


@case
def each_installed_header_has_its_reason():
    """docs/abi.md says why a header of libweft-trace is public."""
    _, reading = installed_headers()
    table = read('docs/abi.md').split('| headers | reason |')[1].split('\n\n')[0]
    named = re.findall(r'`(\w+\.h)`', ''.join(row.split('|')[1] for row in table.splitlines() if row.startswith('| `')))
    equal(sorted(named), sorted(header for header in reading if header.endswith('.h')))


@case
def what_an_installed_header_declares_links():
    recorder, reading = installed_headers()
    for headers, library in ((recorder, symbols(RECORDER)), (reading, LISTED)):
        for header in headers:
            code = re.sub(r'/\*.*?\*/', '', read('include/weft/' + header), flags=re.DOTALL)
            declared = set(re.findall(r'^(?!static|#)[a-z][\w *]*?\b(weft_(?!_)\w+)\(', code, re.MULTILINE))
            equal(sorted(declared - library), [], '%s declares, but its library does not export' % header)


@case
def other_languages_have_every_call():
    """Each call of weft.h is in weft_ffi.h, with the acting task and a text's size as parameters instead of _as and _n."""
    calls, functions = (set(re.findall(r'^(?:#define |[a-z][\w ]*)\b%s([a-z_]+)\(' % prefix,
                                       ''.join(read('include/weft/' + name) for name in names), re.MULTILINE))
                        for prefix, names in (('weft_(?!_)', ('weft.h', 'weft_calls.h')),
                                              ('(?:struct weft_category \\*)?weft_ffi_', ('weft_ffi.h', 'weft_ffi_calls.h'))))
    calls = {call.removesuffix('_as').removesuffix('_n') for call in calls}
    # weft_ffi_category and weft_ffi_is_enabled are in their place; the level is a parameter.
    calls -= {'at', 'enabled', 'category_enabled', 'category_register', 'category_unregister'}
    assert len(calls) > 25, calls
    equal(sorted(calls - functions), [], 'in weft.h, not in weft_ffi.h')


@case
def made_headers_are_what_calls_def_says():
    result = run([sys.executable, os.path.join(SOURCE, 'tools', 'calls.py'), '--check'])
    equal(result.returncode, 0, result.stderr)


@case
def the_recorder_needs_only_its_own_headers():
    recorder, _ = installed_headers()
    included = {name for header in recorder for name in re.findall(r'#include <weft/([\w.]+)>', read('include/weft/' + header))}
    equal(sorted(included - recorder), [], 'included by headers of libweft-dev, but not in it')


@case
def the_library_exports_what_is_listed():
    equal(sorted((symbols(LIBRARY) - {'WEFT_TRACE_1'}) ^ LISTED), [], 'of the library and src/weft-trace.map')


@case
def sonames_and_versions_are_those_of_the_document():
    """Each row of docs/abi.md names a soname, and the version of all symbols of that library."""
    rows = re.findall(r'soname `(\S+)`, symbols `(\w+)`', read('docs/abi.md'))
    equal(len(rows), 2, 'libraries in docs/abi.md')
    for (soname, version), path in zip(rows, (RECORDER, LIBRARY)):
        if not os.path.exists(path):
            skip('there is no shared library')
        dynamic = run(['readelf', '--wide', '--dynamic', path]).stdout
        equal(re.search(r'\(SONAME\).*\[(\S+)\]', dynamic).group(1), soname)
        listed = run(['nm', '--dynamic', '--defined-only', path]).stdout
        equal(set(re.findall(r'@+(\w+)$', listed, re.MULTILINE)), {version}, soname)


main()
