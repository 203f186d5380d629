#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Prints the system calls of <sys/syscall.h> as elements of an array in C: number and name.

    tools/call_names.py OUTPUT COMPILER…
"""
import re
import subprocess
import sys

macros = subprocess.run([*sys.argv[2:], '-E', '-dM', '-'], input='#include <sys/syscall.h>\n', capture_output=True, text=True,
                        check=True).stdout
names = sorted(set(re.findall(r'^#define SYS_([a-z0-9_]+) ', macros, re.MULTILINE)))
with open(sys.argv[1], 'w', encoding='utf-8') as output:
    output.writelines('\t{SYS_%s, "%s"},\n' % (name, name) for name in names)
