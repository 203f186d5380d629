# SPDX-License-Identifier: ISC
"""python3 -m weft: runs a program of Python and records its tasks."""
import builtins
import importlib.machinery
import io
import os
import runpy
import shutil
import signal
import sys
import types

import weft
import weft.asyncio

USAGE = """\
usage: python3 -m weft [-o FILE] PROGRAM [ARGUMENT]...
       python3 -m weft [-o FILE] -m MODULE [ARGUMENT]...
       python3 -m weft [-o FILE] -c CODE [ARGUMENT]...

Runs a program of Python and records the tasks and futures of asyncio, and the jobs of thread pools. Under `weft record`,
and with WEFT_OUT, it records there; otherwise it runs itself under `weft record`, which saves the trace as FILE.

Options:
  -o FILE      the file for the trace; PROGRAM-PID.weft by default
  -c CODE      runs this code
  -m MODULE    runs this module, like python3 -m
  -h, --help   prints this text

See weft-python(1).
"""


def refuse(message):
    sys.stderr.write('weft: %s\n' % message)
    sys.exit(2)


class Arguments:
    """The command line: `kind` is -c, -m or empty, `what` the code, module or file."""

    def __init__(self, words):
        self.output, self.kind = None, ''
        words = list(words)
        while words and words[0].startswith('-') and words[0] != '-':
            word = words.pop(0)
            if word in ('-h', '--help'):
                sys.stdout.write(USAGE)
                sys.exit(0)
            if word == '--':
                break
            if word[:2] not in ('-o', '-c', '-m') or word.startswith('--'):
                refuse('unknown option %s; `python3 -m weft --help` lists the options' % word)
            if not word[2:] and not words:
                refuse('%s needs an argument' % word)
            value = word[2:] or words.pop(0)
            if word[:2] == '-o':
                self.output = value
            else:
                self.kind, self.what = word[:2], value
                break
        if not self.kind and not words:
            refuse('no program; `python3 -m weft --help` shows how to name one')
        if not self.kind:
            self.what = words.pop(0)
        self.rest = words

    def name(self):
        """A name for the program and its trace."""
        return {'-c': 'python'}.get(self.kind) or os.path.basename(self.what).removesuffix('.py')


def find_weft():
    """The program of the folder where this package was built, or the installed one; None."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
    built = os.path.join(folder, 'weft')
    return built if os.path.exists(os.path.join(folder, 'build.ninja')) and os.access(built, os.X_OK) else shutil.which('weft')


def run_under_weft(arguments):
    """Replaces this process by `weft record`, which runs the same command."""
    program = find_weft()
    if not program:
        refuse('nothing would record this: the program `weft` is not in PATH. Install it, or set WEFT_OUT=FILE to make '
               'the trace without it')
    output = arguments.output or '%s-%d.weft' % (arguments.name(), os.getpid())
    options = [option for option in sys.orig_argv[1:] if option]
    position = options.index('-m')
    words = [sys.executable, *options[:position], '-m', 'weft', *([arguments.kind] if arguments.kind else ['--']),
             arguments.what, *arguments.rest]
    sys.stdout.flush()
    os.execv(program, ['weft', 'record', '-o', output, '--', *words])


def make_main():
    """A new module __main__: the program must not see the variables of this one."""
    module = types.ModuleType('__main__')
    module.__dict__.update(__builtins__=builtins, __annotations__={})
    sys.modules['__main__'] = module
    return module


def run_file(path, module):
    with io.open_code(path) as file:
        code = compile(file.read(), path, 'exec')
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    module.__file__ = path
    module.__loader__ = importlib.machinery.SourceFileLoader('__main__', path)
    exec(code, module.__dict__)


def run(arguments):
    module = make_main()
    sys.argv = [arguments.what if arguments.kind != '-c' else '-c', *arguments.rest]
    if arguments.kind == '-m':
        sys.path[0] = os.getcwd()
        runpy._run_module_as_main(arguments.what)
    elif arguments.kind == '-c':
        sys.path[0] = ''
        exec(compile(arguments.what, '<string>', 'exec'), module.__dict__)
    else:
        run_file(arguments.what, module)


def without_own_frames(traceback):
    while traceback and traceback.tb_frame.f_globals.get('__name__') in ('weft._program', 'runpy'):
        traceback = traceback.tb_next
    return traceback


def end_by_interrupt():
    """As Python itself: the shell sees that a signal ended the program."""
    sys.stdout.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def main(words):
    arguments = Arguments(words)
    if not weft.is_recording() and not os.environ.get('WEFT_OUT'):
        run_under_weft(arguments)
    weft.asyncio.record()
    status = 0
    try:
        with weft.task(arguments.name()):
            run(arguments)
    except SystemExit:
        raise
    except BaseException as error:
        error.__traceback__ = without_own_frames(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        status = error
    if isinstance(status, KeyboardInterrupt):
        end_by_interrupt()
    if status:
        sys.exit(1)
