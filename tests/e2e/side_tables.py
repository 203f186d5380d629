# SPDX-License-Identifier: ISC
"""A side table of a later version: every command reads its trace, and those that write traces keep it."""
import json
import os
import shutil
import struct

from harness import BUILD, case, equal, main, run, temporary_directory, weft

SUBJECT = os.path.join(BUILD, 'tests', 'record-subject')
NUMBER = 901  # no version has it
TABLE = '<HBBIIIIIQ'  # struct weft_abi_table
ROWS = [(7, 11), (8, 22), (9, 33)]


def header_word(trace, offset):
    return struct.unpack_from('<Q', trace, offset)[0]


def plant(path):
    """Puts a table behind those that the trace has, by moving the packets."""
    trace = open(path, 'rb').read()
    tables, size, packets = header_word(trace, 72), header_word(trace, 80), header_word(trace, 32)
    equal(tables + size, packets)
    own = 0
    while own + struct.calcsize(TABLE) <= size and (entry := struct.unpack_from(TABLE, trace, tables + own))[0]:
        own += struct.calcsize(TABLE) + entry[3] * entry[4]
    table = struct.pack(TABLE, NUMBER, 0, 0, 16, len(ROWS), len(ROWS), 0, 0, 0)
    table += b''.join(struct.pack('<QQ', *row) for row in ROWS)
    part = (trace[tables:tables + own] + table).ljust(size + 128, b'\0')
    front = bytearray(trace[:tables])
    struct.pack_into('<Q', front, 80, size + 128)
    struct.pack_into('<Q', front, 32, packets + 128)
    with open(path, 'wb') as file:
        file.write(bytes(front) + part + trace[packets:])


def record(folder, name):
    path = os.path.join(folder, name)
    weft('record', '-o', path, SUBJECT, '3', 'threads', status=None, env={'XDG_RUNTIME_DIR': folder})
    plant(path)
    return path


def tables(path):
    """The unknown tables, and which process has them."""
    found = json.loads(weft('info', '--json', path).stdout)['tables']
    assert 'machine' in [table.get('name') for table in found], found
    return [(table['buffer'], table['row_bytes'], table['count']) for table in found if table['number'] == NUMBER]


def rows_in(path):
    """The planted rows stand in the file as they were."""
    return b''.join(struct.pack('<QQ', *row) for row in ROWS) in open(path, 'rb').read()


@case
def all_commands_read_the_trace():
    with temporary_directory() as folder:
        path = record(folder, 'one.weft')
        equal(tables(path), [(0, 16, 3)])
        assert 'table 901   3 rows, which this version does not know\n' in weft('info', path).stdout
        for command in ('dump', 'stats', 'why'):
            weft(command, path, status=None)


@case
def a_part_and_a_part_of_it_keep_the_table():
    with temporary_directory() as folder:
        path, part, again = record(folder, 'one.weft'), os.path.join(folder, 'part.weft'), os.path.join(folder, 'again.weft')
        weft('cut', path, '-o', part, '--duration', '1us')
        weft('cut', part, '-o', again)
        for cut in (part, again):
            equal(tables(cut), [(0, 16, 3)])
            assert rows_in(cut)


@case
def several_traces_keep_their_tables_apart():
    with temporary_directory() as folder:
        for name in ('one.weft', 'two.weft'):
            os.makedirs(os.path.join(folder, 'all'), exist_ok=True)
            shutil.move(record(folder, name), os.path.join(folder, 'all', name))
        whole, parts = os.path.join(folder, 'all'), os.path.join(folder, 'parts')
        equal(tables(whole), [(0, 16, 3), (1, 16, 3)])
        weft('cut', whole, '-o', parts)
        equal(tables(parts), [(0, 16, 3), (1, 16, 3)])
        for name in os.listdir(parts):
            assert rows_in(os.path.join(parts, name)), name


@case
def a_stream_has_the_recorders_tables():
    with temporary_directory() as folder:
        path = os.path.join(folder, 'stream.weft')
        weft('record', '--stream', '-o', path, SUBJECT, '3', 'threads', status=None, env={'XDG_RUNTIME_DIR': folder})
        equal(tables(path), [])


main()
