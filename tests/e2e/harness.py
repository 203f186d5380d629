# SPDX-License-Identifier: ISC
"""Cases as functions, results as TAP: what the end-to-end tests share.

    from harness import case, main, weft, skip
    @case
    def dump_counts_events(): ...
    main()
"""
import json
import os
import subprocess
import sys
import tempfile
import traceback

SOURCE = os.environ.get('WEFT_SOURCE') or os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
BUILD = os.environ.get('WEFT_BUILD') or os.path.join(SOURCE, 'build')
WEFT = os.path.join(BUILD, 'weft')
DATA = os.path.join(SOURCE, 'tests', 'data')
# Memory that fontconfig keeps until a program that draws text ends.
FONTCONFIG_KEEPS = {'LSAN_OPTIONS': 'print_suppressions=0:suppressions='
                    + os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fontconfig.supp')}

_cases = []


# Tests of adapters choose them; the others are about programs that call libweft.
os.environ.setdefault('WEFT_ADAPTERS', 'none')


class Skip(Exception):
    pass


def skip(reason):
    raise Skip(reason)


def case(function):
    _cases.append(function)
    return function


def run(args, input=None, timeout=120, cwd=None, env=None, text=True, umask=-1):
    """Runs a command to its end; the result has .returncode, .stdout, .stderr."""
    environment = dict(os.environ, **(env or {}))
    return subprocess.run([str(a) for a in args], input=input, capture_output=True, timeout=timeout,
                          cwd=cwd, env=environment, text=text, errors='replace' if text else None, umask=umask)


def weft(*args, status=0, **options):
    """Runs weft and checks its exit status; None accepts any."""
    result = run([WEFT, *args], **options)
    if status is not None and result.returncode != status:
        raise AssertionError('weft %s: exit %d, expected %d\n%s' % (
            ' '.join(map(str, args)), result.returncode, status, result.stderr))
    return result


def picture_formats():
    """The formats that this build of `weft render` can write; prints those that are left out."""
    formats, trace = ['svg'], os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
    for name in ('png', 'pdf', 'html'):
        with temporary_directory() as folder:
            result = run([WEFT, 'render', trace, '-o', os.path.join(folder, 'picture.' + name)])
        if result.returncode and 'built without' in result.stderr:
            print('# no %s: %s' % (name, result.stderr.strip().splitlines()[0]), flush=True)
        else:
            formats.append(name)
    return formats


def build_option(name):
    """The value of a Meson option in this build."""
    with open(os.path.join(BUILD, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as file:
        return next(option['value'] for option in json.load(file) if option['name'] == name)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def ring_lines(text):
    """The lines of `weft ls --json` that are rings: other programs of this machine may be linked, too."""
    return [line for line in json_lines(text) if line['state'] != 'linked']


def temporary_directory():
    return tempfile.TemporaryDirectory(prefix='weft-test-')


def equal(got, expected, what=''):
    if got != expected:
        raise AssertionError('%s: got %r, expected %r' % (what or 'values differ', got, expected))


def main():
    only = sys.argv[1:]
    cases = [c for c in _cases if not only or c.__name__ in only]
    print('1..%d' % len(cases))
    failed = False
    for number, function in enumerate(cases, 1):
        try:
            function()
            print('ok %d - %s' % (number, function.__name__), flush=True)
        except Skip as reason:
            print('ok %d - %s # SKIP %s' % (number, function.__name__, reason), flush=True)
        except Exception:
            failed = True
            print('not ok %d - %s' % (number, function.__name__), flush=True)
            for line in traceback.format_exc().splitlines():
                print('# ' + line, flush=True)
    sys.exit(1 if failed else 0)
