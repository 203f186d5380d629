#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Puts the page into C: the files that `weft serve` serves, and the one file that `weft render` makes.

    assets.py OUT.c FOLDER WEFT.wasm BORDER.js

The one file is index.html with everything inside, and is cut where the trace's own parts go. The page's
script, weft.js, is several files that are written as one: a browser takes no modules from file://.
"""
import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

TYPES = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
         '.css': 'text/css; charset=utf-8', '.wasm': 'application/wasm'}
POLICY = ("default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; "
          "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'")
PARTS = 'elements', 'batches', 'replay', 'widgets', 'address', 'requests', 'traces', 'served', 'input', 'begin'
STYLE = '<link rel="stylesheet" href="style.css">'
SCRIPT = '<script src="weft.js" defer></script>'
NOTICE = '// SPDX-License-Identifier: ISC\n'
STRICT = "'use strict';\n"
OPTIONS = '<script type="application/json" id="options">{}</script>'


def replace(text, old, new):
    if text.count(old) != 1:
        sys.exit('assets.py: not once in index.html: ' + old)
    return text.replace(old, new)


def read(folder, name):
    with open(os.path.join(folder, name), encoding='utf-8') as file:
        return file.read()


def script(folder, border):
    """Only window.weft is visible from outside. A page of several views ends there. `border` comes before the others:
    all of them use its numbers."""
    parts = [border] + [replace(read(folder, name + '.js'), NOTICE, '') for name in PARTS]
    views = replace(read(folder, 'views.js'), NOTICE, '')
    return (NOTICE + STRICT + '\n(() => {\n' + views + '\nif (showViews())\n\treturn;\n' + '\n'.join(parts) + '\n})();\n')


def block(kind, name, text):
    if '</script' in text or '<!--' in text:
        sys.exit('assets.py: %s would end its element' % name)
    return '<script type="%s" id="%s">%s</script>\n' % (kind, name, text)


def deflate(data):
    """zopfli's output is a twentieth smaller, and each page has it."""
    if shutil.which('zopfli'):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            return subprocess.run(['zopfli', '--deflate', '--i5', '-c', file.name], stdout=subprocess.PIPE, check=True).stdout
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def packed(data):
    """Five characters for four bytes, an eighth less than base64 would take; begin.js unpacks them. A 'z' would
    stand for four zeros, and a '<' could end the element: 'v' is not used otherwise."""
    return base64.a85encode(deflate(data)).replace(b'z', b'!!!!!').replace(b'<', b'v').decode()


def shortened(text):
    """Without indentation and lines that are comments, except for the licence: each page carries it. No text in a script
    has several lines."""
    return re.sub(r'^\t+', '', re.sub(r'^\s*//(?! SPDX).*\n', '', text, flags=re.MULTILINE), flags=re.MULTILINE)


def standalone(files, wasm):
    """Four pieces: the title goes behind the first, options behind the second, the trace behind the third.

    The script stands before the trace: it starts while the browser still reads what follows."""
    page = files['index.html']
    page = replace(page, '<!--policy-->', '<meta http-equiv="Content-Security-Policy" content="%s">' % POLICY)
    page = replace(page, STYLE, '<style>%s</style>' % shortened(files['style.css']))
    inside = (block('text/plain', 'wasm', packed(wasm))
              + block('text/plain', 'worker', packed(shortened(files['worker.js']).encode()))
              + '<script>\n%s</script>' % shortened(files['weft.js']))
    if '</script' in files['weft.js']:
        sys.exit('assets.py: weft.js would end its element')
    head, rest = page.split('<!--title-->')
    body, rest = rest.split(OPTIONS)
    between, tail = rest.split(SCRIPT)
    start, end = OPTIONS.split('{}')
    return [head, body + start, end + between + inside, tail]


def served(files):
    """A server names the policy itself, and allows no pictures from data."""
    lines = [line for line in files['index.html'].splitlines(keepends=True)
             if '<!--policy-->' not in line and '<link rel="icon"' not in line]
    return replace(''.join(lines), '<!--title-->', 'weft')


def array(out, name, data):
    out.write('static const unsigned char %s[] = {\n' % name)
    for start in range(0, len(data), 24):
        out.write(','.join(map(str, data[start:start + 24])) + ',\n')
    out.write('};\n')


def main():
    target, folder, wasm, border = sys.argv[1:]
    with open(border, encoding='utf-8') as file:
        border = replace(file.read(), NOTICE, '')
    files = {name: read(folder, name) for name in ('index.html', 'style.css', 'worker.js')}
    files['weft.js'] = script(folder, border)
    files['worker.js'] = replace(files['worker.js'], STRICT, STRICT + '\n' + border)
    with open(wasm, 'rb') as file:
        wasm = file.read()
    pieces = [piece.encode() for piece in standalone(files, wasm)]
    files['index.html'] = served(files)
    assets = {name: text.encode() for name, text in files.items()}
    assets['weft.wasm'] = wasm
    with open(target, 'w', encoding='utf-8') as out:
        out.write('/* Made by assets.py. */\n#include "render/page_assets.h"\n')
        for i, data in enumerate([*assets.values(), *pieces]):
            array(out, 'bytes_%d' % i, data)
        out.write('const struct page_asset page_assets[] = {\n')
        for i, name in enumerate(assets):
            out.write('{"%s", "%s", bytes_%d, sizeof(bytes_%d)},\n' % (
                name, TYPES[os.path.splitext(name)[1]], i, i))
        out.write('{0}};\nconst struct page_asset page_pieces[PAGE_PIECES] = {\n')
        for i in range(len(assets), len(assets) + len(pieces)):
            out.write('{"", "", bytes_%d, sizeof(bytes_%d)},\n' % (i, i))
        out.write('};\n')


main()
