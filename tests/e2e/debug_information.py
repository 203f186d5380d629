# SPDX-License-Identifier: ISC
"""Programs that a test compiles with debug information or without, and records by adapters."""
import glob
import os

from harness import BUILD, WEFT, equal, run, skip


def built(source, folder, *flags):
    with open(WEFT, 'rb') as file:
        if b'libdw.so.1' not in file.read():
            skip('built without libdw')
    if not glob.glob(os.path.join(BUILD, 'adapters', 'libweft-adapters.so')):
        skip('built without adapters')
    program = os.path.join(folder, 'program')
    result = run(['gcc', '-O1', '-D_GNU_SOURCE', *flags, source, '-o', program, '-pthread', '-ldl'])
    equal(result.returncode, 0, result.stderr)
    return program
