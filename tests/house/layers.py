# SPDX-License-Identifier: ISC
"""Checks every #include against the table of ARCHITECTURE.md."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import case, main  # noqa: E402
from tree import read, tracked  # noqa: E402

# The headers that each word of the column "from outside" stands for.
FREESTANDING = set('float.h limits.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h '
                   'string.h'.split())
C11 = FREESTANDING | set('assert.h ctype.h errno.h inttypes.h math.h stdio.h stdlib.h'.split())
# Those of C++17 that need no operating system, for .hpp files.
CPLUSPLUS = set('cerrno coroutine cstddef cstdint cstring exception initializer_list string_view type_traits utility'.split())
LIBRARIES = {'gtk': r'(gtk|gdk)[./]', 'glib': r'(glib|gio)[-./]', 'uv': r'uv\.h', 'cairo': r'cairo', 'pango': r'pango/',
             'zstd': r'zstd', 'microhttpd': r'microhttpd', 'curl': r'curl/', 'libdw': r'elfutils/', 'zlib': r'zlib', 'sqlite': r'sqlite3\.h', 'ncurses': r'curses\.h', 'python': r'Python\.h', 'ocaml': r'caml/',
             'node': r'node_api\.h'}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


class Module:
    """A row of the table."""

    def __init__(self, folder, may_use, outside, headers):
        self.folder = folder
        self.name = folder.rstrip('/').split('/')[-1]
        self.may_use = set(may_use)
        self.outside = set(outside)
        self.headers = set(headers)


def words(cell):
    return [word.strip(' `') for word in cell.split(',') if word.strip(' `–')]


def modules():
    """The table: | folder | job | may use | from outside | public headers |"""
    found = {}
    for line in read('ARCHITECTURE.md').splitlines():
        cells = [c.strip() for c in line.strip().strip('|').split('|')]
        if line.startswith('| `') and len(cells) == 5:
            module = Module(cells[0].strip('`'), words(cells[2]), words(cells[3]), words(cells[4]))
            found[module.folder] = module
    return found


def shared_headers():
    """The table of headers inside src that other modules may include: | folder | headers for other folders |"""
    found = {}
    for line in read('ARCHITECTURE.md').splitlines():
        cells = [c.strip() for c in line.strip().strip('|').split('|')]
        if line.startswith('| `src/') and len(cells) == 2:
            name = cells[0].strip('`').rstrip('/').split('/')[-1]
            found[name] = set(name + '/' + header for header in words(cells[1]))
    return found


MODULES = modules()
SHARED = shared_headers()
ALL_SHARED = {'abi', 'base', 'runs'}
OWNERS = {header: module for module in MODULES.values() for header in module.headers}
CODE = [path for path in tracked() if path.endswith(('.c', '.h', '.hpp', '.def'))]


def module_of(path):
    """The folder whose rules apply to a file; a public header belongs to its module's folder."""
    if path.startswith('include/weft/'):
        return OWNERS.get(os.path.basename(path), MODULES['include/weft/'])
    folder = os.path.dirname(path) + '/'
    while folder and folder not in MODULES:
        folder = '/'.join(folder.rstrip('/').split('/')[:-1])
        folder += '/' if folder else ''
    return MODULES.get(folder)


def public_header_allowed(module, header):
    owner = OWNERS.get(header)
    if owner is None:
        return False
    everybody = owner.folder == 'include/weft/'
    return everybody or owner is module or owner.name in module.may_use or 'public headers' in module.may_use


def system_header_allowed(module, header):
    for library, pattern in LIBRARIES.items():
        if re.match(pattern, header):
            return library in module.outside
    if 'POSIX' in module.outside:
        return True
    allowed = C11 if 'C11' in module.outside else FREESTANDING
    return header in allowed


def include_allowed(path, module, bracket, header):
    if header.startswith('weft/') and not os.path.exists(os.path.dirname(path) + '/' + header):
        if bracket == '<':
            return public_header_allowed(module, header[len('weft/'):])
    if bracket == '<':
        return system_header_allowed(module, header) or path.endswith('.hpp') and header in CPLUSPLUS
    below = os.path.dirname(path) + '/' + header
    if '/' not in header or below in CODE and module_of(below) is module or module.folder + header in CODE:
        return True  # beside the file itself, or in a folder of its module
    first = header.split('/')[0]
    if first == module.name:
        return True
    return first in module.may_use and (first in ALL_SHARED or header in SHARED.get(first, ()))


@case
def every_folder_of_code_has_a_row():
    homeless = [p for p in CODE if p.startswith(('src/', 'apps/', 'adapters/', 'bindings/', 'include/', 'examples/'))
                and module_of(p) is None]
    assert not homeless, 'no row in ARCHITECTURE.md for: %s' % ', '.join(homeless)


@case
def every_row_is_a_folder_with_files():
    paths = tracked()
    empty = [f for f in MODULES if not any(p.startswith(f) for p in paths)]
    assert MODULES and not empty, 'rows of ARCHITECTURE.md without files: %s' % ', '.join(empty)


@case
def every_public_header_has_an_owner():
    here = {os.path.basename(p) for p in CODE if p.startswith('include/weft/')}
    assert here and here == set(OWNERS), 'headers and table differ: %s' % ', '.join(here ^ set(OWNERS))


@case
def every_shared_header_exists_and_is_used_elsewhere():
    used = set()
    for path in CODE:
        module = module_of(path)
        used |= {header for bracket, header in INCLUDE.findall(read(path)) if module and header.split('/')[0] != module.name}
    for name, headers in SHARED.items():
        for header in headers:
            assert 'src/' + header in CODE, 'src/%s is not there' % header
            assert header in used, 'no other folder includes src/%s: it can be private again' % header


@case
def no_file_includes_what_the_table_forbids():
    wrong = []
    for path in CODE:
        module = module_of(path)
        if module is None:
            continue
        for bracket, header in INCLUDE.findall(read(path)):
            if not include_allowed(path, module, bracket, header):
                wrong.append('%s includes %s' % (path, header))
    assert not wrong, '\n'.join(wrong)


@case
def the_check_notices():
    layout, record = Module('src/layout/', ['base', 'model'], ['C11'], []), Module('src/record/', ['abi'], [], [])
    app = Module('apps/weft/', ['public headers'], ['POSIX'], [])
    assert include_allowed('src/layout/a.c', layout, '"', 'model/state.h')
    assert include_allowed('src/layout/a.c', layout, '"', 'base/any.h')
    assert not include_allowed('src/layout/a.c', layout, '"', 'model/tables.h')
    assert not include_allowed('src/layout/a.c', layout, '"', 'render/b.h')
    assert not include_allowed('src/layout/a.c', layout, '<', 'unistd.h')
    assert not include_allowed('src/layout/a.c', layout, '<', 'cairo.h')
    assert not include_allowed('src/record/a.c', record, '<', 'stdlib.h')
    assert include_allowed('include/weft/a.hpp', record, '<', 'string_view')
    assert not include_allowed('include/weft/a.h', record, '<', 'string_view')
    assert not include_allowed('include/weft/a.hpp', record, '<', 'string')
    assert include_allowed('apps/weft/a.c', app, '<', 'weft/model.h')
    assert not include_allowed('apps/weft/a.c', app, '"', 'model/b.h')


main()
