# SPDX-License-Identifier: ISC
"""A program's contexts as another process reads them, by the texts of OpenTelemetry's OTEP 4719 and 4947 alone: no code of weft
helps."""
import ctypes
import os
import platform
import re
import signal
import struct
import subprocess

from harness import BUILD, case, equal, main, run, skip, temporary_directory

SUBJECT = os.path.join(BUILD, 'tests', 'context-shown-subject')
LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_GETREGS, PTRACE_ATTACH, PTRACE_DETACH = 12, 16, 17
FS_BASE = 21  # of struct user_regs_struct


class Vector(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]


def read_memory(pid, address, size):
    bytes_ = ctypes.create_string_buffer(size)
    here, there = Vector(ctypes.addressof(bytes_), size), Vector(address, size)
    count = LIBC.process_vm_readv(pid, ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1), ctypes.c_ulong(0))
    equal(count, size, 'read at %#x: %s' % (address, os.strerror(ctypes.get_errno())))
    return bytes_.raw


def mappings(pid):
    with open('/proc/%d/maps' % pid, encoding='utf-8') as lines:
        for line in lines:
            words = line.split(None, 5)
            yield int(words[0].split('-')[0], 16), int(words[2], 16), words[5].strip() if len(words) > 5 else ''


# ---- The process: OTEP 4719 ----


def fields(message):
    """The fields of a message of protobuf, all of which have a length here."""
    at = 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(message):
        tag = varint()
        equal(tag & 7, 2)
        size = varint()
        assert at + size <= len(message), message
        yield tag >> 3, message[at:at + size]
        at += size


def attributes(pairs):
    found = {}
    for pair in pairs:
        (_, key), (_, value) = fields(pair)
        (kind, content), = fields(value)
        found[key.decode()] = content.decode() if kind == 1 else [kind, list(fields(content))]
    return found


def process_context(pid):
    """The attributes of the resource, and the others; None if the process publishes none."""
    starts = [start for start, _, name in mappings(pid)
              if name.startswith(('[anon_shmem:OTEL_CTX]', '[anon:OTEL_CTX]', '/memfd:OTEL_CTX'))]
    if not starts:
        return None
    equal(len(starts), 1)
    signature, version, size, published, payload = struct.unpack('<8sIIQQ', read_memory(pid, starts[0], 32))
    equal((signature, version), (b'OTEL_CTX', 2))
    assert published > 0
    message = list(fields(read_memory(pid, payload, size)))
    (resource,) = [content for number, content in message if number == 1]
    return (attributes(content for number, content in fields(resource) if number == 1),
            attributes(content for number, content in message if number == 2))


# ---- A thread: OTEP 4947 ----


def thread_pointer(pid):
    registers = (ctypes.c_ulong * 27)()
    equal(LIBC.ptrace(ctypes.c_long(PTRACE_GETREGS), ctypes.c_long(pid), None, ctypes.byref(registers)), 0)
    return registers[FS_BASE]


def pointer_of(pid):
    """Where the thread's pointer is, from the dynamic symbol and the relocation that the library's code uses."""
    path, base = next((name, start) for start, offset, name in mappings(pid) if '/libweft.so' in name and offset == 0)
    relocations = run(['readelf', '--relocs', '--wide', path]).stdout
    found = re.search(r'^([0-9a-f]+)\s+\S+\s+R_X86_64_TPOFF64\s+.*otel_thread_ctx_v1', relocations, re.M)
    assert found, relocations[-2000:]
    offset, = struct.unpack('<q', read_memory(pid, base + int(found[1], 16), 8))
    return thread_pointer(pid) + offset


def thread_context(pid):
    """A `traceparent`, or "none"; of the main thread, which is stopped for that."""
    if LIBC.ptrace(ctypes.c_long(PTRACE_ATTACH), ctypes.c_long(pid), None, None) != 0:
        skip('another process cannot be stopped here: ' + os.strerror(ctypes.get_errno()))
    os.waitpid(pid, 0)
    try:
        record, = struct.unpack('<Q', read_memory(pid, pointer_of(pid), 8))
        if record == 0:
            return 'none'
        equal(record % 2, 0)
        trace, span, valid, flags, size = struct.unpack('<16s8sBBH', read_memory(pid, record, 28))
        equal(size, 0)
        return '00-%s-%s-%02x' % (trace.hex(), span.hex(), flags) if valid == 1 else 'none'
    finally:
        LIBC.ptrace(ctypes.c_long(PTRACE_DETACH), ctypes.c_long(pid), None, None)


# ---- Cases ----


class Shown:
    """The subject; what it says is read line by line."""

    def __init__(self, folder):
        self.process = subprocess.Popen([SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, WEFT_OUT=os.path.join(folder, 'trace.weft')))

    def line(self):
        return self.process.stdout.readline().split()

    def go_on(self):
        self.process.stdin.write('x')
        self.process.stdin.flush()

    def expect(self, what):
        """Compares the next line with what is seen from outside."""
        name, context = self.line()
        equal(name, what)
        equal(thread_context(self.process.pid), context, what)
        return context


@case
def a_reader_sees_which_span_a_thread_works_for():
    if platform.machine() != 'x86_64':
        skip('this finds thread-local memory as x86-64 has it')
    with temporary_directory() as folder:
        shown = Shown(folder)
        pid = shown.process.pid
        try:
            equal(shown.expect('before'), 'none')
            equal(process_context(pid), None)
            shown.go_on()
            equal([shown.line(), shown.line()], [['published', '1'], ['again', '0']])
            task = shown.expect('task')
            assert task.startswith('00-01020304050607081112131415161718-'), task
            resource, others = process_context(pid)
            equal(resource, {'service.name': 'shop \u2615', 'telemetry.sdk.name': 'weft'})
            equal(others, {'threadlocal.schema_version': 'tls_v1', 'threadlocal.attribute_key_map': [5, []]})
            shown.go_on()
            span = shown.expect('span')
            assert span != task and span != 'none', span
            for what, expected in (('another', 'none'), ('back', span), ('end', task), ('idle', 'none')):
                shown.go_on()
                equal(shown.expect(what), expected)
            shown.go_on()
            word, child = shown.line()
            equal((word, process_context(int(child))), ('child', None))
            equal(shown.line(), ['child', 'none'])
            shown.go_on()
            equal(shown.process.wait(), 0)
        finally:
            shown.process.send_signal(signal.SIGKILL)
            shown.process.communicate()


main()
