#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Makes weft_calls.h and weft_ffi_calls.h in include/weft from calls.def: the parts that no C macro can define, or that
people read. The numbers of events come from events.def, which programs that record need not have.

    tools/calls.py              writes both; after each change of calls.def or events.def
    tools/calls.py --check      exit status 1 if they are not what it would write
"""
import collections
import os
import re
import sys
import textwrap

EVENT = re.compile(r'^EVENT\((\d+), (\w+),', re.MULTILINE)
ROW = re.compile(r'^WEFT__(EDGE|MESSAGE|STATEMENT|TEXT)\((.*?)\)$', re.MULTILINE | re.DOTALL)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')

# `other`: the name of the second operand, or None; `runs`: TASK, OTHER or SAME; `text`: sentences
Call = collections.namedtuple('Call', 'shape name other event runs text')


def parse(definitions):
    """The rows of calls.def."""
    calls = []
    for shape, row in ROW.findall(re.sub(r'/\*.*?\*/', '', definitions, flags=re.DOTALL)):
        words = [word.strip() for word in row[:row.index('"')].split(',')]
        other = {'EDGE': words[1], 'MESSAGE': 'key'}.get(shape)
        event = words[2 if shape == 'EDGE' else 1]
        runs = words[4] if shape == 'EDGE' else 'SAME'
        calls.append(Call(shape, words[0], other, event, runs, ''.join(STRING.findall(row))))
    return calls


def of_the_current_task(text):
    """Sentences about a call whose acting task is no parameter."""
    text = text.replace('`task`', 'the task')
    return text[0].upper() + text[1:]


HEAD = """\
/* SPDX-License-Identifier: ISC
 *
 * The calls of {0} that are in calls.def, from which tools/calls.py made this file.
 * {0} includes it, and describes what all calls have in common.
 */
#ifndef {1}
#define {1}

#include <weft/{0}>

/* clang-format off */

"""
CPLUSPLUS_BEGIN = '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
CPLUSPLUS_END = '\n#ifdef __cplusplus\n}\n#endif\n\n'


def comment(text):
    return '\n'.join(textwrap.wrap('/* %s */' % text, 100, subsequent_indent=' * ')) + '\n'


def declarations(call):
    """The description and the declarations or macros of a call."""
    if call.shape == 'TEXT':
        lines = ['#define weft_{0}(text) weft_{0}_as(WEFT_TASK_CURRENT, text)',
                 '#define weft_{0}_as(task, text) WEFT__WITH_TEXT({2}, weft__{0}, task, text)',
                 'void weft_{0}_n(const char *text, size_t size) WEFT__DIRECT;',
                 'void weft_{0}_n_as(uint64_t task, const char *text, size_t size) WEFT__DIRECT;',
                 '#define weft_{0}f(...) WEFT__FORMATTED({2}, weft__{0}f, WEFT_TASK_CURRENT, __VA_ARGS__)',
                 '#define weft_{0}f_as(task, ...) WEFT__FORMATTED({2}, weft__{0}f, task, __VA_ARGS__)']
    elif call.shape == 'STATEMENT':
        lines = ['void weft_{0}(void) WEFT__DIRECT;', 'void weft_{0}_as(uint64_t task) WEFT__DIRECT;']
    else:
        lines = ['void weft_{0}(uint64_t {1}) WEFT__DIRECT;', 'void weft_{0}_as(uint64_t task, uint64_t {1}) WEFT__DIRECT;']
    return comment(of_the_current_task(call.text)) + ''.join(line.format(call.name, call.other, call.event) + '\n' for line in lines)


def with_level(call):
    """The macros that test the level before they call a function of the same name."""
    def macro(arguments, runs=None):
        use = 'weft_%s(%s)' % (arguments[0], arguments[1])
        test = 'WEFT__OR_RUNS(%s, %s, %s)' % (call.event, use, runs) if runs else 'WEFT__WHEN(WEFT__IS_ON(%s), %s)' % (call.event, use)
        return '#define %s %s\n' % (use, test)
    if call.shape == 'TEXT':
        return macro((call.name + '_n', 'text, size')) + macro((call.name + '_n_as', 'task, text, size'))
    if call.shape == 'STATEMENT':
        return macro((call.name, '')) + macro((call.name + '_as', 'task'))
    other = call.other
    runs = {'OTHER': other, 'TASK': 'task'}.get(call.runs)
    return (macro((call.name, other), runs if call.runs == 'OTHER' else None)
            + macro((call.name + '_as', 'task, ' + other), runs))


def functions(call):
    """The declarations of the functions that the macros call."""
    if call.shape != 'TEXT':
        return ''
    return ('void weft__{0}(uint64_t task, uint64_t *cache, const char *text) WEFT__DIRECT;\n'
            'void weft__{0}f(uint64_t task, uint64_t *cache, const char *format, unsigned count,\n'
            '\tconst struct weft_value *values) WEFT__DIRECT;\n').format(call.name)


def disabled(call):
    """The macros that evaluate nothing."""
    signatures = {'TEXT': [('', 'text'), ('_as', 'task, text'), ('_n', 'text, size'), ('_n_as', 'task, text, size'), ('f', '...'),
                           ('f_as', 'task, ...')],
                  'STATEMENT': [('', ''), ('_as', 'task')]}
    text = ''
    for end, parameters in signatures.get(call.shape, [('', call.other), ('_as', 'task, %s' % call.other)]):
        use = 'WEFT__UNUSED(%s)' % parameters.replace('...', '__VA_ARGS__') if parameters else '((void)0)'
        text += '#define weft_%s%s(%s) %s\n' % (call.name, end, parameters, use)
    return text


def numbers():
    """All of events.def."""
    rows = EVENT.findall(read('events.def'))
    return 'enum {\n%s};\n\n' % ''.join('\tWEFT__EVENT_%s = %s,\n' % (name, number) for number, name in rows)


def header(calls):
    """weft_calls.h."""
    def each(part):
        return ''.join(map(part, calls))
    return (HEAD.format('weft.h', 'WEFT_CALLS_H') + '#ifdef WEFT_DISABLED\n\n' + each(disabled) + '\n#else\n\n'
            + '/* The number of the event that a call would record, for the level "count". */\n' + numbers()
            + CPLUSPLUS_BEGIN + 'struct weft_value;\n\n' + '\n'.join(map(declarations, calls))
            + '\n/* The macros call these functions; see weft_macros.h. */\n' + each(functions) + CPLUSPLUS_END
            + '#ifndef WEFT__FUNCTIONS /* the recorder\'s own files define the functions */\n' + each(with_level)
            + '#endif\n\n#endif\n\n#endif\n')


def function(name, parameters):
    """A declaration, in lines of at most 100 columns."""
    parameters = ('struct weft_category *category', 'unsigned level', 'uint64_t task', *parameters)
    line = 'void %s(%s);' % (name, ', '.join(parameter.replace(' ', '\0') for parameter in parameters))
    lines = textwrap.wrap(line.replace('void ', 'void\0'), 100, subsequent_indent='    ')
    return '\n'.join(lines).replace('\n    ', '\n\t').replace('\0', ' ') + '\n'


def ffi(call):
    """The functions of weft_ffi.h."""
    name = 'weft_ffi_' + call.name
    if call.shape == 'TEXT':
        text = ('size_t size', 'uint64_t *cache')
        return (comment(call.text) + function(name, ('const char *text', *text)) + '\n'
                + comment('The same, made by the reader of a format like printf\'s and up to 15 values.')
                + function(name + 'f', ('const char *format', *text, 'unsigned count', 'const struct weft_value *values')))
    return comment(call.text) + function(name, ('uint64_t ' + call.other,) if call.other else ())


def ffi_header(calls):
    """weft_ffi_calls.h."""
    return (HEAD.format('weft_ffi.h', 'WEFT_FFI_CALLS_H') + CPLUSPLUS_BEGIN + 'struct weft_category;\nstruct weft_value;\n\n'
            + '\n'.join(map(ffi, calls)) + CPLUSPLUS_END + '#endif\n')


HEADERS = {'weft_calls.h': header, 'weft_ffi_calls.h': ffi_header}
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'include', 'weft')


def read(name):
    with open(os.path.join(FOLDER, name), encoding='utf-8') as file:
        return file.read()


def main(is_check):
    calls = parse(read('calls.def'))
    for name, make in HEADERS.items():
        text = make(calls)
        if is_check:
            if read(name) != text:
                sys.exit('include/weft/%s is not what calls.def says: run tools/calls.py' % name)
            continue
        with open(os.path.join(FOLDER, name), 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    main('--check' in sys.argv[1:])
