# SPDX-License-Identifier: ISC
"""Small files that once took hours, or gigabytes of memory."""
import os
import shutil
import subprocess

from hostile_traces import flood_counters, flood_ids, flood_labels, small_packets
from harness import WEFT, case, main, skip, temporary_directory
from measured import IS_SANITIZED, MIB, measure


# Time and memory are measured in the plain build; sanitizers only look for errors.
FLOOD = 30000 if IS_SANITIZED else 100000


def check(what, result, status=0):
    assert result.status == status, '%s: exit status %d\n%r' % (what, result.status, result.stderr)
    return result


def check_memory(what, result, size):
    """Memory in proportion to the file."""
    if not IS_SANITIZED:
        assert result.memory <= 40 * size + 64 * MIB, '%s: %d MiB' % (what, result.memory // MIB)


@case
def colliding_ids_labels_and_counters_cost_no_more_than_others():
    with temporary_directory() as here:
        path = os.path.join(here, 'flood.ctf')
        for make in (flood_ids, flood_labels, flood_counters):
            make(FLOOD, path)
            for arguments in (['info'], ['dump', '--tasks'], ['render', '-o', os.path.join(here, 'x.svg')],
                              ['cut', '-o', os.path.join(here, 'x.weft')]):
                what = '%s, %s' % (make.__name__, arguments[0])
                check_memory(what, check(what, measure([WEFT, *arguments, path], 20)), os.path.getsize(path))


@case
def many_small_packets_take_what_they_hold():
    with temporary_directory() as here:
        path = os.path.join(here, 'small.weft')
        small_packets(20000, path)
        result = check('info', measure([WEFT, 'info', path], 10))
        if IS_SANITIZED:
            skip('memory is measured without sanitizers')
        # One page for each would be 80 MiB; it was the first of 64 KiB for each.
        assert result.memory <= 40 * MIB, '%d MiB' % (result.memory // MIB)


def compress(data, path, *options):
    if not shutil.which('zstd'):
        skip('zstd is not installed')
    subprocess.run(['zstd', '-q', '-f', '-o', path, *options], input=data, check=True)


def has_zstd(path):
    return b'made without' not in measure([WEFT, 'info', path]).stderr


@case
def a_compressed_file_may_hold_up_to_the_limit():
    with temporary_directory() as here:
        path, plain = os.path.join(here, 'bomb.zst'), os.path.join(here, 'plain')
        with open(plain, 'wb') as file:
            file.truncate(256 * MIB)
        compress(bytes(256 * MIB), path)  # without its size in the header
        if not has_zstd(path):
            skip('built without zstd')
        sized = os.path.join(here, 'sized.zst')
        subprocess.run(['zstd', '-q', '-f', '-o', sized, plain], check=True)
        for file in (path, sized):
            for arguments in (['info'], ['dump'], ['tail'], ['render', '-o', os.path.join(here, 'x.svg')],
                              ['cut', '-o', os.path.join(here, 'x.weft')],
                              ['export', '--to', 'ctf', os.path.join(here, 'x')]):
                command = [WEFT, arguments[0], *arguments[1:-1], file, *arguments[-1:]]
                command = [WEFT, *arguments, file] if arguments[0] != 'export' else command
                result = check(arguments[0], measure(command), 3)
                assert b'--max-size' in result.stderr, result.stderr
            result = check('more', measure([WEFT, 'info', '--max-size', '256M', file]), 3)
            assert b'--max-size' not in result.stderr, result.stderr


@case
def the_content_of_a_compressed_trace_is_counted_in_bytes():
    with temporary_directory() as here:
        path, packed = os.path.join(here, 'small.weft'), os.path.join(here, 'small.zst')
        small_packets(100, path)
        size = os.path.getsize(path)
        with open(path, 'rb') as file:
            compress(file.read(), packed)
        if not has_zstd(packed):
            skip('built without zstd')
        check('all of it', measure([WEFT, 'info', '--max-size', str(size), packed]))
        check('less', measure([WEFT, 'info', '--max-size', str(size - 1), packed]), 3)
        check('without', measure([WEFT, 'info', packed]))


@case
def a_device_without_an_end_is_given_up():
    result = check('info', measure([WEFT, 'info', '--max-size', '1M', '/dev/zero']), 3)
    assert b'--max-size' in result.stderr, result.stderr


main()
