# SPDX-License-Identifier: ISC
"""Traces that attack their readers: collisions, many small packets, names that drive a terminal."""
import struct

MASK = (1 << 64) - 1
NONE = MASK

# Mirage-trace's magic number and identity, then its packets.
MIRAGE = struct.pack('<I', 0xC1FC1FC1) + bytes.fromhex('05883b8d521a487bb397456ab150680c')
OP_CREATE, OP_FAIL, OP_LABEL, OP_SWITCH, OP_COUNTER = 0, 3, 5, 7, 11


class Mirage:
    """A trace in mirage-trace's CTF, in one packet."""

    def __init__(self):
        self.bytes = bytearray()
        self.time = 1000

    def add(self, op, *fields):
        self.time += 10
        self.bytes += struct.pack('<QB', self.time, op)
        for field in fields:
            self.bytes += field if isinstance(field, bytes) else struct.pack('<Q', field)

    def write(self, path):
        bits = (30 + len(self.bytes)) * 8
        with open(path, 'wb') as file:
            file.write(MIRAGE + struct.pack('<IHI', bits & 0xffffffff, 0, bits & 0xffffffff) + self.bytes)


def unmix(x):
    """MurmurHash3's finalizer, which weft's tables once used without a key, inverted."""
    x ^= x >> 33
    x = x * pow(0xc4ceb9fe1a85ec53, -1, 1 << 64) & MASK
    x ^= x >> 33
    x = x * pow(0xff51afd7ed558ccd, -1, 1 << 64) & MASK
    return x ^ x >> 33


def colliding_ids(count):
    found, number = [], 0
    while len(found) < count:
        number += 1
        x = unmix(number << 24 | 0x5a0)
        if x >> 60 == 0:
            found.append(x << 4)
    return found


def colliding_words(count):
    found, number = [], 0
    while len(found) < count:
        number += 1
        word = struct.pack('<Q', unmix(unmix(number << 24 | 0x5a0)) ^ 8)
        if 0 not in word:
            found.append(word)
    return found


def flood_ids(count, path):
    trace = Mirage()
    for number in colliding_ids(count):
        trace.add(OP_CREATE, NONE, number, b'\1')
    trace.write(path)


def flood_labels(count, path):
    trace = Mirage()
    for number, word in enumerate(colliding_words(count)):
        trace.add(OP_CREATE, NONE, number, b'\1')
        trace.add(OP_LABEL, number, word + b'\0')
    trace.write(path)


def flood_counters(count, path):
    trace = Mirage()
    for number, word in enumerate(colliding_words(count)):
        trace.add(OP_COUNTER, NONE, number, word + b'\0')
    trace.write(path)


def small_packets(count, path):
    """A stream of weft's whose packets of one event each are all open at one time."""
    header = bytearray(4096)
    header[0:8] = b'\x89WEFT\r\n\x1a'
    struct.pack_into('<IIQIIQ', header, 8, 1, 4096, 4096, 65536, 0, 4096)
    struct.pack_into('<IIQ', header, 120, 3, 0, 10**9)         # the clock: monotonic
    struct.pack_into('<QQQ', header, 136, 1000, 1000, 10**18)  # its start
    struct.pack_into('<I', header, 208, 1234)                  # pid
    header[216:219] = b'abc'                                   # program
    struct.pack_into('<I', header, 3776, 1)                    # a stream
    with open(path, 'wb') as file:
        file.write(header)
        for i in range(count):
            event = struct.pack('<QQ', 9 << 32 | 2 << 40 | 3000000000, i)
            size = 128 + len(event)
            packet = struct.pack('<QIIQQQQQQQQII16sQI12s', i + 1 << 2, size, i + 1, 2000, 0, 0, NONE, 0, 0,
                                 0, 0, i + 1, 0, b't', 2000, 0, b'')
            file.write(struct.pack('<QIIQ', 0x6b6e68638946eaff, 1, size, 0) + packet + event)


# Control characters of both sorts, marks of writing direction, what is no UTF-8, what XML and cairo
# refuse, and markup.
EVIL = [
    b'\x1b[31mred\x1b]0;owned\x07', b'\xc2\x9b31m C1', b'\x9b31m raw C1', b'\x7f del', b'\x01\x02\x08',
    b'line1\nline2\rline3\ttab', b'\xc2\x85 next line', b'\xe2\x80\xa8 separator', b'\xe2\x80\xa9 separator',
    b'\xe2\x80\xaeright to left', b'\xe2\x81\xa6isolated', b'\xd8\x9c mark', b'\xe2\x80\x8f mark',
    b'\xed\xa0\x80 surrogate', b'\xc0\xaf overlong', b'\xf4\x90\x80\x80 beyond', b'\xef\xbf\xbe FFFE',
    b'\xef\xbf\xbf FFFF', b'\xef\xb7\x90 FDD0', b'\xef\xb7\xaf FDEF', b'\xf0\x9f\xbf\xbe 1FFFE',
    b'\xf3\xa0\x80\x81 tag', b'\xe2\x80\x8b space', b'\xef\xbb\xbf BOM', b'a' + b'\xcc\x81' * 200,
    b'</script><script>alert(1)</script>', b'"><img src=x onerror=alert(1)>', b"']]>--><!--", b'%n%s%x',
]


def evil_labels(path):
    """A task for each, of that name, and a counter; every second task fails with it."""
    trace = Mirage()
    for number, text in enumerate(EVIL):
        trace.add(OP_CREATE, NONE, number, b'\1')
        trace.add(OP_LABEL, number, text + b'\0')
        trace.add(OP_COUNTER, NONE, number, text + b'\0')
        trace.add(OP_SWITCH, number)
        if number % 2:
            trace.add(OP_FAIL, number, number, text + b'\0')
    trace.write(path)


# A file's name may hold all but a slash and a NUL; one that is displayed may not.
EVIL_NAME = b'a\x1b[31m\x07\xc2\x9b1m\x9b\x7f\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c\nweft: lie\r.ctf'
