# SPDX-License-Identifier: ISC
"""Checks how much of a program's stack a hook may use, with everything that it calls.

gcc writes each function's frame and calls (-fcallgraph-info), and the machine code tells which of these are jumps: a tail call
takes the place of its caller's frame. What runs aside (adapters/hooks/aside.c) is called through a pointer, so it does not
count; neither does libc, which programs call without weft, too.
"""
import concurrent.futures
import json
import os
import re
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, case, main, run, skip, temporary_directory  # noqa: E402

HOOK_BYTES = 1024  # of the program's stack; more without optimization
ASIDE_BYTES = 4096  # of a stack of 16 KiB
FOLDERS = ('adapters/libweft-adapters.so.p/', 'src/record/libweft-record.a.p/', 'src/platform/libweft-platform.a.p/')

# At a rare moment, these use more: execve and its kind, which copy the arguments; a process's start and end; what the program
# asks for by weft.h; what happens once, when the library begins.
LARGER = re.compile(r'hook_(exec|posix_spawn|_?_exit|_Exit|fexecve|dlopen|dlmopen|system|popen|abort|quick_exit)')
BEGINNING = {'weft__platform_default', 'weft__platform_linux_join', 'weft__platform_linux_report', 'weft__record_read_clocks'}

NODE = re.compile(r'node: \{ title: "([^"]*)" label: "[^"]*?(\d+) bytes')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"')
LABEL = re.compile(r'([A-Za-z_][\w.$]*):')
JUMP = re.compile(r'\s+(call|bl|jmp|b|j[a-z]+)\s+\*?([A-Za-z_][\w.$]*)')


def symbol(function):
    return function.split(':')[-1].lstrip('*')


def jumps(path):
    """How each function of the machine code gets to others: {(from, to): the instructions}."""
    found, function = {}, ''
    with open(path, encoding='utf-8') as file:
        for line in file:
            label, jump = LABEL.match(line), JUMP.match(line)
            if label:
                function = label[1].split('.cold')[0]
            if jump:
                found.setdefault((function, jump[2]), set()).add(jump[1] in ('call', 'bl'))
    return found


class Calls:
    """Frames in bytes, with the return address, and who calls whom. Functions are known by file and name, or by name alone."""

    def __init__(self):
        self.frames, self.callees, self.deepest, self.tails = {}, {}, {}, set()

    def read(self, path):
        ways = jumps(path[:-3] + '.s')
        with open(path, encoding='utf-8') as file:
            for line in file:
                node, edge = NODE.match(line), EDGE.match(line)
                if node:
                    self.frames[node[1]] = max(self.frames.get(node[1], 0), int(node[2]) + 8)
                if edge:
                    self.callees.setdefault(edge[1], set()).add(edge[2])
                    if ways.get((symbol(edge[1]), symbol(edge[2]))) == {False}:
                        self.tails.add((edge[1], edge[2]))

    def path(self, function, above=()):
        """The deepest stack below the function: bytes, and the functions with their frames."""
        if function in BEGINNING or function in above or function not in self.frames:
            return 0, ()
        if function not in self.deepest:
            paths = [(self.frames[function], ('%s %d' % (function.split('/')[-1], self.frames[function]),))]
            for callee in sorted(self.callees.get(function, ())):
                own = 0 if (function, callee) in self.tails else self.frames[function]
                most, names = self.path(callee, above + (function,))
                paths.append((own + most, ('%s %d' % (function.split('/')[-1], own),) + names))
            self.deepest[function] = max(paths, key=lambda it: it[0])
        return self.deepest[function]


def compile_with_calls(command, folder):
    """Compiles an entry of compile_commands.json again; returns where its calls are, or what the compiler says."""
    words = [word for word in shlex.split(command['command']) if word not in ('-MD', '-c')]
    name = command['output'].replace('/', '_')[:-2]
    for option in ('-o', '-MF', '-MQ'):
        at = words.index(option) if option in words else -1
        if at >= 0:
            del words[at:at + 2]
    result = run([*words, '-S', '-fcallgraph-info=su', '-w', '-o', os.path.join(folder, name + '.s')], cwd=command['directory'], processor=200,
                 env={**os.environ, 'CCACHE_DISABLE': '1'})
    assert result.returncode == 0, result.stderr
    return os.path.join(folder, name + '.ci')


def calls():
    with open(os.path.join(BUILD, 'compile_commands.json'), encoding='utf-8') as file:
        commands = [it for it in json.load(file) if it['output'].startswith(FOLDERS)]
    if not commands or 'clang' in commands[0]['command']:
        skip('only gcc writes who calls whom, and needs the adapters')
    found = Calls()
    with temporary_directory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path in pool.map(lambda it: compile_with_calls(it, folder), commands):
            found.read(path)
    return found


FOUND = []


def found_calls():
    if not FOUND:
        FOUND.append(calls())
    return FOUND[0]


def check(functions, most):
    assert functions, 'no functions found'
    paths = sorted((found_calls().path(it) for it in functions), reverse=True)
    assert paths[0][0] <= most, '%d bytes: %s' % (paths[0][0], ', '.join(paths[0][1]))


@case
def a_hook_uses_little_of_the_programs_stack():
    hooks = [it for it in found_calls().frames if 'weft__hook_' in it and not LARGER.search(it)]
    assert len(hooks) > 250, len(hooks)
    check(hooks, HOOK_BYTES)


@case
def what_runs_aside_fits_its_stack():
    """Its functions have one argument, a pointer: those of this list are passed to weft__hooks_aside."""
    names = ('look_up_wanted', 'find_task', 'make_task', 'make', 'mark', 'record', 'examine', 'ask_for_key', 'ask_for_name',
             'ask_for_path', 'fail')
    check([it for it in found_calls().frames if 'adapters/' in it and it.split(':')[-1] in names], ASIDE_BYTES)


if __name__ == '__main__':
    main()
