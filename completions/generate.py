#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Prints the completion of weft's command line for a shell: a template, with tables that come from the manual pages.

    completions/generate.py weft.bash.in|weft.zsh.in|weft.fish.in PAGE.scd...

`@name@` on a line of its own stands for the result of the function bash_name, zsh_name or fish_name. A kind of argument is a list of words,
or one of @traces, @files, @folders, @pids and @program.
"""
import os
import re
import sys

KINDS = {'FILE': '@files', 'OUT': '@files', 'DIR': '@folders', 'DIRECTORY': '@folders', 'PID': '@pids', 'PROGRAM': '@program'}
# Placeholders for one of a few words, which the option's paragraph shows in bold.
CHOICES = {'THEME', 'FORMAT', 'WHAT'}
REPEATED = {'RULE', 'PATTERN'}
PLACEHOLDER = re.compile(r'_([A-Z]+)_')


class Option:
    def __init__(self, names, argument, paragraph):
        self.names, self.argument = names, argument
        self.text = sentence(paragraph)
        # Bold words, but for names of pages and of options.
        bold = re.findall(r'\*([a-z-]+)\*(?!\()', paragraph) if argument in CHOICES else []
        self.values = [word for word in bold if not word.startswith('-')] or [KINDS.get(argument, '')]


class Command:
    """A page of the manual: weft-NAME(1)."""

    def __init__(self, page):
        self.name, self.text = re.search(r'^weft-(\w+) - (.*)$', page, re.MULTILINE).groups()
        self.options = options(section(page, 'OPTIONS'))
        self.arguments, self.verbs = arguments(section(page, 'SYNOPSIS'))


def section(page, name):
    return page.split('\n# %s\n' % name)[1].split('\n# ')[0]


def plain(text):
    """The text without scdoc's marks."""
    return re.sub(r'\\(.)|\*', r'\1', PLACEHOLDER.sub(r'\1', text)).replace('\n\t', ' ')


def sentence(paragraph):
    """The first clause of a paragraph; a few words before a colon are not one."""
    text = re.split(r'[.;]\s|\.$|, for example', re.sub(r'\([^)]*;[^)]*\)', '', paragraph), 1)[0]
    text = plain(re.split(r'(?<=.{20}):\s', text, 1)[0])
    text = ' '.join(text.replace(' ,', ',').split())
    return text[:1].lower() + text[1:]


def options(text):
    """The options that a page describes: lines that begin with one in bold, each with the paragraph below."""
    found = []
    for head, paragraph in re.findall(r'^(\*-.*)\n((?:\t.*\n?)+)', text, re.MULTILINE):
        pending = []
        for item in head.split(', '):
            name = re.match(r'\*(--?[\w-]+)\*', item).group(1)
            placeholder = PLACEHOLDER.search(item)
            pending.append(name)
            if name.startswith('--'):
                found.append(Option(pending, placeholder and placeholder.group(1), paragraph))
                pending = []
    return found


def arguments(synopsis):
    """The kinds of a command's arguments, and the words that stand between them."""
    before = None
    while before != synopsis:
        before, synopsis = synopsis, re.sub(r'\[(?=[^][]*(?:\*-|:|_OPTION_))[^][]*\]', '', synopsis)
    synopsis = re.sub(r'\*--?[\w-]+\* _[A-Z]+_', '', synopsis)
    kinds = [KINDS[name] for name in PLACEHOLDER.findall(synopsis) if name in KINDS]
    kinds = ['@traces' if kind == '@files' else kind for kind in kinds]
    return list(dict.fromkeys(kinds)), re.findall(r' \*([a-z]+)\*', synopsis)


def read_commands(paths):
    """The commands of the pages, in their order. An option that a page explains by another page has that page's values."""
    found = []
    for path in paths:
        with open(path, encoding='utf-8') as file:
            found.append(Command(file.read()))
    shared = {option.names[-1]: option.values for command in found for option in command.options
              if option.argument in CHOICES and option.values != ['']}
    for command in found:
        for option in command.options:
            if option.values == ['']:
                option.values = shared.get(option.names[-1], option.values)
    return found


def bash_commands(commands):
    return ['[%s]="%s"' % (c.name, ' '.join(o.names[-1] for o in c.options)) for c in commands]


def bash_arguments(commands):
    return ['[%s]="%s"' % (c.name, ' '.join(c.arguments)) for c in commands]


def bash_verbs(commands):
    return ['[%s]="%s"' % (c.name, ' '.join(c.verbs)) for c in commands if c.verbs]


def bash_values(commands):
    return ['["%s %s"]="%s"' % (c.name, name, ' '.join(o.values) or '@nothing')
            for c in commands for o in c.options if o.argument for name in o.names]


def quoted(text):
    return "'%s'" % text.replace("'", "'\\''")


ZSH_ACTIONS = {'@traces': '_weft_traces', '@files': '_files', '@folders': '_files -/', '@pids': '_weft_pids', '': ' '}


def zsh_options(option):
    """The specifications of an option for _arguments: one for each of its names."""
    others = '*' if option.argument in REPEATED else '(%s)' % ' '.join(option.names)
    action = ''
    if option.argument:
        action = ZSH_ACTIONS.get(option.values[0]) or '(%s)' % ' '.join(option.values)
        action = ':%s:%s' % (option.argument, action)
    text = re.sub(r'([][:\\])', r'\\\1', option.text)
    return [quoted('%s%s%s[%s]%s' % (others, name, '=' if action and name.startswith('--') else '', text, action))
            for name in option.names]


def zsh_arguments(command):
    if '@program' in command.arguments:
        return ["'(-)1:program:_command_names -e'", "'*::argument:_normal'"]
    if not command.arguments:
        return []
    kinds = ' '.join("'%s:%s:%s'" % (kind[1:], kind[1:], ZSH_ACTIONS[kind]) for kind in command.arguments)
    found = [quoted('%s:argument:_alternative %s' % ('1' if command.verbs else '*', kinds))]
    return found + (["'2:verb:(%s)'" % ' '.join(command.verbs)] if command.verbs else [])


def zsh_commands(commands):
    return [quoted('%s:%s' % (c.name, c.text)) for c in commands]


def zsh_cases(commands):
    lines = []
    for command in commands:
        specifications = [s for option in command.options for s in zsh_options(option)] + zsh_arguments(command)
        lines += ['(%s)' % command.name, '\t_arguments -S \\'] + ['\t\t%s \\' % s for s in specifications[:-1]]
        lines += ['\t\t' + specifications[-1], '\t;;']
    return lines


FISH_VALUES = {'@files': '-r -F', '@folders': "-x -a '(__fish_complete_directories)'", '@pids': "-x -a '(__weft_pids)'", '': '-x'}
FISH_ARGUMENTS = {'@traces': '(__fish_complete_suffix .weft)', '@folders': '(__fish_complete_directories)', '@pids': '(__weft_pids)',
                  '@program': '(__fish_complete_subcommand --fcs-skip=2)'}


def fish_option(option):
    names = ' '.join('-%s %s' % ('l' if name.startswith('--') else 's', name.lstrip('-')) for name in option.names)
    value = ''
    if option.argument:
        value = FISH_VALUES.get(option.values[0]) or '-x -a %s' % quoted(' '.join(option.values))
    return ' '.join(('%s %s -d %s' % (names, value, quoted(option.text))).split())


def fish_commands(commands):
    return ['complete -c weft -n __weft_begins -a %s -d %s' % (c.name, quoted(c.text)) for c in commands]


def fish_options(commands):
    lines = []
    for command in commands:
        condition = "complete -c weft -n '__weft_in %s'" % command.name
        lines += ['%s %s' % (condition, fish_option(option)) for option in command.options]
        first = "complete -c weft -n '__weft_in %s; and not __weft_has_argument'" % command.name if command.verbs else condition
        lines += ['%s -k -a %s' % (first, quoted(FISH_ARGUMENTS[kind])) for kind in command.arguments]
        if command.verbs:
            lines.append("%s -a '%s'" % (first.replace('and not', 'and'), ' '.join(command.verbs)))
    return lines


def main():
    template, pages = sys.argv[1], sys.argv[2:]
    shell = os.path.basename(template).split('.')[1]
    commands = read_commands(pages)
    with open(template, encoding='utf-8') as file:
        for line in file:
            table = re.match(r'(\s*)@(\w+)@$', line)
            if not table:
                sys.stdout.write(line)
                continue
            for row in globals()['%s_%s' % (shell, table.group(2))](commands):
                print(table.group(1) + row)


if __name__ == '__main__':
    sys.stdout.reconfigure(encoding='utf-8')
    main()
