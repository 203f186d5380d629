# SPDX-License-Identifier: ISC
"""The reading half gives the same output as WebAssembly and as a native program, byte for byte."""
import glob
import lzma
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, DATA, SOURCE, case, equal, main, run, skip  # noqa: E402

FOLDER = os.path.join(BUILD, 'wasm')
NATIVE = os.path.join(BUILD, 'tests', 'house', 'reader')
WASM = os.path.join(FOLDER, 'tests', 'house', 'reader')
WASI = os.path.join(SOURCE, 'tests', 'house', 'wasi.mjs')
TRACES = sorted(p for p in glob.glob(os.path.join(DATA, 'traces', '*')) if not p.endswith('.jsonl'))


def require_tools():
    for tool, package in (('clang-14', 'clang-14'), ('wasm-ld-14', 'lld-14'), ('node', 'nodejs')):
        if not shutil.which(tool):
            skip('%s is not installed' % package)
    if not os.path.exists('/usr/lib/wasm32-wasi/libc.a'):
        skip('wasi-libc is not installed')


@case
def it_compiles_without_warnings():
    require_tools()
    cross = os.path.join(SOURCE, 'tools', 'wasm32-wasi.ini')
    setup = ['meson', 'setup', FOLDER, SOURCE, '--cross-file', cross, '--buildtype=release', '-Dwerror=true']
    if os.path.exists(os.path.join(FOLDER, 'build.ninja')):
        setup.append('--reconfigure')
    for command in (setup, ['ninja', '-C', FOLDER]):
        result = run(command, processor=500)
        assert result.returncode == 0, result.stdout + result.stderr


def same(bytes_in, what):
    native = run([NATIVE], input=bytes_in, text=False)
    wasm = run(['node', WASI, WASM], input=bytes_in, text=False)
    assert wasm.returncode == native.returncode, '%s: %d, natively %d\n%s' % (
        what, wasm.returncode, native.returncode, wasm.stderr.decode(errors='replace'))
    if wasm.stdout != native.stdout:  # the whole diff would be too long to read
        pairs = zip(wasm.stdout.splitlines(), native.stdout.splitlines())
        first = next(((w, n) for w, n in pairs if w != n), 'one has more lines')
        raise AssertionError('%s: WebAssembly, native: %r' % (what, first))
    return native


@case
def wasm_gives_the_same_output():
    require_tools()
    assert TRACES, 'no trace in tests/data'
    for path in TRACES:
        with (lzma.open if path.endswith('.xz') else open)(path, 'rb') as file:
            result = same(file.read(), os.path.basename(path))
        equal(result.returncode, 0, path)
        assert len(result.stdout) > 1000, path


@case
def wasm_gives_the_same_output_of_impossible_times():
    """Input with which the page's worker once did not end."""
    require_tools()
    for name in ('sexp/render-hang', 'sexp/render-hang-2-lines', 'sexp/numbers.sexp', 'mirage_ctf/time-wide'):
        with open(os.path.join(SOURCE, 'fuzz', 'corpus', name), 'rb') as file:
            result = same(file.read(), name)
        equal(result.returncode, 0, name)


@case
def wasm_refuses_the_same_input():
    require_tools()
    for nonsense in (b'', b'\0' * 100, b'hello\n', os.urandom(5000)):
        same(nonsense, repr(nonsense[:10]))


main()
