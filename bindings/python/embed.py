# SPDX-License-Identifier: ISC
"""Writes a text as a C source: embed.py INPUT OUTPUT."""
import json
import sys

with open(sys.argv[1], encoding='ascii') as file:
    lines = file.readlines()
with open(sys.argv[2], 'w', encoding='ascii') as file:
    file.write('extern const char weft_python_text[];\nconst char weft_python_text[] =\n')
    file.writelines(json.dumps(line).replace('??', '?""?') + '\n' for line in lines)
    file.write(';\n')
