#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A name stands for one thing: struct tags, and prefixes of what is shared inside src."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import case, equal, main  # noqa: E402
from tree import read, tracked  # noqa: E402

FILES = [p for p in tracked() if p.startswith(('include/', 'src/', 'apps/')) and p.endswith(('.c', '.h'))]
TAG = re.compile(r'^(?:static |const |extern )*(?:struct|union|enum) (\w+) \{', re.MULTILINE)
FUNCTION = re.compile(r'^(?!static|typedef|return|else)[a-z][\w *]*?[ *](\w+)\(', re.MULTILINE)


def folder(path):
    return '/'.join(path.split('/')[:2])


@case
def a_tag_is_defined_once():
    """In a header: once in the tree. In a C file: once in its folder; other folders cannot confuse it."""
    shared, private, twice = {}, {}, []
    for path in FILES:
        for tag in TAG.findall(read(path)):
            known = shared if path.endswith('.h') else private
            key = tag if path.endswith('.h') else (folder(path), tag)
            if key in known:
                twice.append('struct %s: %s, %s' % (tag, known[key], path))
            known[key] = path
    twice += ['struct %s: %s, %s' % (tag, shared[tag], path) for (_, tag), path in private.items() if tag in shared]
    assert len(shared) > 100 and not twice, '\n'.join(twice)


# Names that macros of the public headers use.
PUBLIC = {name for path in tracked() if path.startswith('include/') for name in re.findall(r'\bweft__\w+', read(path))}
PUBLIC |= {'weft__%s%s' % (name, end) for name in ('label', 'note') for end in ('', 'f')}  # of calls.def
# Small types and operations that everything is written with; they are named after what they are.
VOCABULARY = ('src/abi/', 'src/base/', 'src/record/atomics.h', 'src/record/copy.h')


def prefixes(path):
    """How the functions of a header begin. The recorder declares what its platform has to define."""
    if path.startswith(VOCABULARY):
        return 'weft__'
    return tuple('weft__%s_' % module for module in {path.split('/')[1], 'platform'})


@case
def functions_of_internal_headers_have_the_prefix_of_their_module():
    wrong, found = [], 0
    for path in FILES:
        if not path.startswith('src/') or not path.endswith('.h'):
            continue
        text = re.sub(r'/\*.*?\*/', '', read(path), flags=re.DOTALL)
        for name in FUNCTION.findall(text):
            found += 1
            if not name.startswith(prefixes(path)) and name not in PUBLIC and name != '__attribute__':
                wrong.append('%s: %s' % (path, name))
    assert found > 500, found
    equal(wrong, [])


main()
