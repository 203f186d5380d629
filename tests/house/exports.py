# SPDX-License-Identifier: ISC
"""libweft-trace exports the functions that its public headers declare, and nothing else."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, case, equal, main, run, skip  # noqa: E402
from tree import read, tracked  # noqa: E402

LIBRARY = os.path.join(BUILD, 'src', 'libweft-trace.so')
LISTED = set(re.findall(r'^\t(\w+);', read('src/weft-trace.map'), re.MULTILINE))
# Libraries of their own: the recorder, and pictures by cairo.
OTHERS = ('src/record/', 'src/platform/', 'src/cairo/')
EXPORT = re.compile(r'WEFT__EXPORT\s+[^;{(=]*?\b(\w+)\s*[(=]')


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


@case
def the_library_exports_what_is_listed():
    if not os.path.exists(LIBRARY):
        skip('there is no shared library')
    if not shutil.which('nm'):
        skip('binutils is not installed')
    result = run(['nm', '--dynamic', '--defined-only', LIBRARY])
    assert result.returncode == 0, result.stderr
    exported = {line.split()[-1].split('@')[0] for line in result.stdout.splitlines()} - {'WEFT_TRACE_1'}
    equal(sorted(exported ^ LISTED), [], 'of the library and src/weft-trace.map')


main()
