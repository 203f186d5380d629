# SPDX-License-Identifier: ISC
"""Hand-made traces for the tests: a writer of mirage-profile's CTF, and one of the sexp format.

An event is a tuple: (time, operation, argument…), as mirage-profile's writer would be called.
"""
import struct

NONE = 2 ** 64 - 1  # the old -1

MAGIC = 0xC1FC1FC1
UUID = bytes.fromhex('05883b8d521a487bb397456ab150680c')
HEADER_BYTES = 30

# operation: number, one letter an argument (Q: task, q: signed, B: kind, s: text)
OPERATIONS = {
    'create': (0, 'QQB'), 'read': (1, 'QQ'), 'fulfil': (2, 'QQ'), 'fail': (3, 'QQs'),
    'become': (4, 'QQ'), 'label': (5, 'Qs'), 'add': (6, 'Qqs'), 'switch': (7, 'Q'),
    'gc': (8, 'Q'), 'signal': (9, 'QQ'), 'try_read': (10, 'QQ'), 'set': (11, 'Qqs'),
    'read_later': (12, 'QQ'), 'signal_only': (13, 'QQ'),
}


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def mirage_event(event):
    time, operation, *arguments = event
    number, letters = OPERATIONS[operation]
    out = struct.pack('<QB', time, number)
    for letter, argument in zip(letters, arguments, strict=True):
        out += as_bytes(argument) + b'\0' if letter == 's' else struct.pack('<' + letter, argument)
    return out


def mirage_packet(body, number, packet_bytes=None):
    content = HEADER_BYTES + len(body)
    packet_bytes = packet_bytes or content
    head = struct.pack('<I16sIHI', MAGIC, UUID, packet_bytes * 8, number & 0xFFFF, content * 8)
    return (head + body).ljust(packet_bytes, b'\0')


def mirage(events, packet_bytes=4096):
    """A trace of packets of that size; an event that is larger gets a packet of its own."""
    packets, body = [], b''
    for event in events:
        more = mirage_event(event)
        if body and HEADER_BYTES + len(body) + len(more) > packet_bytes:
            packets.append(body)
            body = b''
        body += more
    packets.append(body)
    return b''.join(mirage_packet(b, n, max(packet_bytes, HEADER_BYTES + len(b)))
                    for n, b in enumerate(packets))


SEXP_KINDS = ('Wait Task Bind Try Choose Pick Join Map Condition On_success On_failure '
              'On_termination On_any Ignore_result Async Promise Semaphore Switch').split()


def sexp_atom(text):
    """Quoted if need be, as OCaml's sexplib would."""
    raw = as_bytes(text)
    if raw and all(0x20 < byte < 0x7F and chr(byte) not in '"\\();' for byte in raw):
        return raw
    return b'"%s"' % b''.join(
        b'\\' + bytes([byte]) if byte in b'"\\' else
        bytes([byte]) if 0x20 <= byte < 0x7F else b'\\%03d' % byte for byte in raw)


def sexp_task(task):
    return b'%d' % (-1 if task == NONE else task)


def sexp_line(event):
    time, operation, *arguments = event
    words = [sexp_task(a) if isinstance(a, int) else sexp_atom(a) for a in arguments]
    if operation == 'create':
        words[2] = SEXP_KINDS[arguments[2]].encode()
    if operation == 'fulfil':
        words.append(b'()')
    if operation == 'fail':
        words[2] = b'(%s)' % words[2]
    if operation == 'add':
        words = [words[0], words[2], b'%d' % arguments[1]]
    if operation == 'gc':
        words = [b'%d.%09d' % divmod(arguments[0], 10 ** 9)]
    name = {'create': b'Creates', 'read': b'Reads', 'fulfil': b'Resolves', 'fail': b'Resolves',
            'become': b'Becomes', 'label': b'Label', 'switch': b'Switch', 'gc': b'Gc',
            'add': b'Increases'}[operation]
    return b'((time %d.%09d)(op(%s)))\n' % (*divmod(time, 10 ** 9), b' '.join([name, *words]))


def sexp(events):
    return b''.join(map(sexp_line, events))
