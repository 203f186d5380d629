# SPDX-License-Identifier: ISC
"""Writes the linker's options for a library of wrappers: wrap.py NM LIBRARY OUTPUT."""
import re
import subprocess
import sys

nm, library, output = sys.argv[1:]
symbols = subprocess.run([nm, '-g', library], check=True, capture_output=True, text=True).stdout
names = sorted(set(re.findall(r' T __wrap_(\w+)$', symbols, re.MULTILINE)))
with open(output, 'w', encoding='utf-8') as file:
    file.writelines('-Wl,--wrap=%s\n' % name for name in names)
