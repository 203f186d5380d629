#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Writes the numbers of border.c as JavaScript.

    border.py OUT.js BORDER.ll

BORDER.ll is border.c, compiled to LLVM's text for WebAssembly: each number is a constant there, as C sees it
on that machine."""
import re
import sys

CONSTANT = re.compile(r'^@border_(\w+) = .*constant i64 (-?\d+)', re.MULTILINE)


NAMED = """
// An array of names, each at the index that the constant with its key has.
function named(prefix, names) {
	const list = [];
	for (const [key, name] of Object.entries(names))
		list[BORDER[prefix + key]] = name;
	return list;
}
"""


def main():
    target, source = sys.argv[1:]
    with open(source, encoding='utf-8') as file:
        numbers = CONSTANT.findall(file.read())
    if not numbers:
        sys.exit('border.py: no numbers in ' + source)
    with open(target, 'w', encoding='utf-8') as out:
        out.write('// SPDX-License-Identifier: ISC\n//\n// Made by border.py: numbers of the C headers.\n\nconst BORDER = {\n')
        for name, number in numbers:
            out.write('\t%s: %s,\n' % (name, number))
        out.write('};\n' + NAMED)


main()
