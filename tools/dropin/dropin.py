#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Makes weft.h and weft.c: the recorder in two files, for programs that take it as source.

    tools/dropin/dropin.py --source DIR --version TEXT --out DIR --depfile FILE
        --record FILE… --system FILE… --freestanding FILE…

Includes are expanded, each header once; statics that two files call the same get the file's name in
front. Meson passes the list of files; their order follows from their includes.
"""
import argparse
import os
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"].*$')
ATTRIBUTE = re.compile(r'(?:__attribute__|_Alignas)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)')
STATIC = re.compile(r'^(?![\s#/*}])[^;={(\n]*?\b(?:static|WEFT__ALWAYS_INLINE)\b[^;={(\n]*?(\w+)(?:\[[^\]\n]*\])*\s*[(;=]|^\} (\w+)[^;\n]*;',
                    re.MULTILINE)
TAG = re.compile(r'^(?:static )?struct (\w+) \{', re.MULTILINE)
MACRO = re.compile(r'^#[ \t]*define[ \t]+(\w+)', re.MULTILINE)
# Comments and literals, in which nothing is renamed; and names, but for those of members.
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?:->|\.)[ \t]*\w+|\w+', re.DOTALL)


_read = set()  # what the two files are made of


def read(path):
    _read.add(path)
    with open(path, encoding='utf-8') as file:
        return file.read()


def without_licence(text):
    """The licence stands once, at the top."""
    text = re.sub(r'\A/\* SPDX-License-Identifier: ISC\n \*\n', '/*\n', text)
    return re.sub(r'\A/\* SPDX-License-Identifier: ISC \*/\n', '', text)


# A compiler brings all headers of freestanding C but this one.
STRING = '#include <string.h>'
WITHOUT_STRING = ['#ifdef WEFT_FREESTANDING', 'void *memcpy(void *restrict to, const void *restrict from, size_t size);',
                  'void *memmove(void *to, const void *from, size_t size);', 'void *memset(void *to, int byte, size_t size);',
                  'int memcmp(const void *left, const void *right, size_t size);', '#else', STRING, '#endif']


class Expander:
    """The text of files with our own headers in it, each once; tables (.def) wherever they stand."""

    def __init__(self, source, seen=()):
        self.folders = [os.path.join(source, 'include'), os.path.join(source, 'src')]
        self.seen = set(seen)
        self.system = []  # headers to include before all: not within conditions

    def find(self, name, beside):
        for folder in [os.path.dirname(beside), *self.folders]:
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.exists(path):
                return path
        return None

    def expand(self, path):
        lines, depth, guard = [], 0, re.search(r'^#ifndef (\w+)\n#define \1$', read(path), re.MULTILINE)
        for line in without_licence(read(path)).splitlines():
            include = INCLUDE.match(line)
            if include:
                lines += self.included(line, include.group(2), path, depth - bool(guard))
                continue
            depth += bool(re.match(r'\s*#\s*if', line)) - bool(re.match(r'\s*#\s*endif', line))
            lines.append(line)
        return lines

    def included(self, line, name, path, depth):
        ours = self.find(name, path)
        if not ours:
            if depth > 0:
                return [line]
            if line not in self.system:
                self.system.append(line)
            return []
        if ours in self.seen:
            return []
        if not ours.endswith('.def'):
            self.seen.add(ours)
        return self.expand(ours)


def names_of(text):
    """The names that belong to one file: functions, variables, and tags of structs."""
    found = STATIC.findall(ATTRIBUTE.sub('x', text))
    return {function or variable for function, variable in found} | set(TAG.findall(text))


def rename(text, names, prefix):
    def one(match):
        return prefix + match.group() if match.group() in names else match.group()
    return TOKEN.sub(one, text)


def sources(expander, paths, taken):
    """The files one after the other. `taken`: the names that files before them use."""
    parts = []
    for path in paths:
        text = '\n'.join(expander.expand(path)) + '\n'
        own = names_of(text)
        stem = os.path.splitext(os.path.basename(path))[0]
        text = rename(text, own & taken, stem + '_')
        taken |= own
        # A file's macros are its own.
        macros = [name for name in MACRO.findall(read(path)) if name.isupper() or not name.startswith('WEFT')]
        undefined = ''.join('#undef %s\n' % name for name in dict.fromkeys(macros))
        parts.append('/* ---- %s ---- */\n\n%s%s' % (os.path.relpath(path, expander.folders[1]), text, undefined))
    return '\n'.join(parts)


def header_text(expander, head):
    lines = []
    for name in ('weft.h', 'error.h', 'context.h', 'metrics.h', 'xen.h'):
        path = os.path.join(expander.folders[0], 'weft', name)
        expander.seen.add(path)  # headers that it includes may include it
        lines += expander.expand(path)
    text = '\n'.join(lines) + '\n'
    return head + '\n'.join(expander.system) + '\n\n' + text


def source_text(source, seen, options, head):
    """Everything is hidden but what weft.h declares; the system's own headers come before that."""
    record = Expander(source, seen)
    taken = set()
    body = sources(record, options.record, taken)
    parts = []
    for paths in (options.freestanding, options.system):
        # Each file needs its own include line, even if both include the same header.
        part = Expander(source, record.seen)
        part.system = list(record.system)
        parts.append((sources(part, paths, set(taken)), part.system[len(record.system):]))
    (freestanding, _), (system, headers) = parts
    common = [line for line in record.system if line != STRING] + WITHOUT_STRING
    return '\n'.join([
        head + '#ifndef WEFT_FREESTANDING', '#ifndef _GNU_SOURCE', '#define _GNU_SOURCE', '#endif', '#endif',
        '#define WEFT__FUNCTIONS', '#include "weft.h"', '', *common, '#ifndef WEFT_FREESTANDING', *headers, '#endif', '',
        '#pragma GCC visibility push(hidden)', '', body,
        '#ifdef WEFT_FREESTANDING', '', freestanding, '#else', '', system, '#endif', '',
        '#pragma GCC visibility pop', ''])


def main():
    parser = argparse.ArgumentParser()
    for name in ('source', 'version', 'out', 'depfile'):
        parser.add_argument('--' + name, required=True)
    for name in ('record', 'system', 'freestanding'):
        parser.add_argument('--' + name, required=True, nargs='+')
    options = parser.parse_args()
    source = os.path.abspath(options.source)
    licence = read(os.path.join(source, 'LICENSE')).strip().splitlines()
    head = '/* SPDX-License-Identifier: ISC\n *\n * weft %s, %%s; made from weft\'s sources, so change those.\n *\n' \
        % options.version + ''.join((' * ' + line).rstrip() + '\n' for line in licence) + ' */\n'
    expander = Expander(source)
    header = header_text(expander, head % 'what programs call')
    code = source_text(source, expander.seen, options, head % 'the recorder')
    for name, text in (('weft.h', header), ('weft.c', code)):
        with open(os.path.join(options.out, name), 'w', encoding='utf-8') as file:
            file.write(re.sub(r'\n{3,}', '\n\n', text))
    with open(options.depfile, 'w', encoding='utf-8') as file:
        file.write('weft.c weft.h: %s\n' % ' '.join(sorted(_read)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
