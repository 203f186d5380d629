# SPDX-License-Identifier: ISC
"""Traces of Xen for the tests: a writer of xentrace's format, a naive reader of it, and captures of a real Xen."""
import glob
import lzma
import os
import shutil
import struct
import subprocess
import tempfile

from harness import DATA, skip

CPU_CHANGE, LOST, WRAP = 0x1f003, 0x1f001, 0x1f002
RUNNING, RUNNABLE, BLOCKED, OFFLINE = range(4)
CAPTURES = ('xen-domain-create', 'xen-domain-end', 'xen-lost-2cpu')


def record(event, cycles, *words):
    """One record; without cycles if these are None."""
    head = event | len(words) << 28 | (cycles is not None) << 31
    time = b'' if cycles is None else struct.pack('<Q', cycles)
    return struct.pack('<I', head) + time + struct.pack('<%dI' % len(words), *words)


def window(cpu, *records):
    content = b''.join(records)
    return record(CPU_CHANGE, None, cpu, len(content)) + content


def runstate(cycles, domain, vcpu, old, new):
    return record(0x21001 | old << 8 | new << 4, cycles, vcpu | domain << 16)


def hypercall(cycles, op, *arguments):
    """Arguments are pairs of an argument's number and its 32 bits."""
    present = sum(1 << 20 + 2 * number for number, _ in arguments)
    return record(0x20100d, cycles, op | present, *(value for _, value in arguments))


def lost(cycles, count, domain, vcpu, first):
    return record(LOST, cycles, count, domain | vcpu << 16, first & 0xffffffff, first >> 32)


def note(kind, first, second=0):
    """A note of weft's: an empty window with five words more."""
    return record(CPU_CHANGE, None, 0, 0, 0x666577 | kind << 24, first & 0xffffffff, first >> 32, second & 0xffffffff, second >> 32)


def capture(name):
    """The bytes of a capture."""
    with lzma.open(os.path.join(DATA, 'traces', name + '.xentrace.xz')) as file:
        return file.read()


def unpack(folder, name):
    """Writes a capture into a folder; returns its path."""
    path = os.path.join(folder, name + '.xentrace')
    with open(path, 'wb') as file:
        file.write(capture(name))
    return path


def read(content):
    """All records but padding as (pCPU, id, cycles, words), by pCPU, and in the order of the file for each."""
    at, records, cycles = 0, {}, {}
    while at < len(content):
        head, cpu, size = struct.unpack_from('<3I', content, at)
        at += 4 + 4 * (head >> 28 & 7)
        end = at + size
        while at < end:
            head, = struct.unpack_from('<I', content, at)
            at += 4
            if head >> 31:
                cycles[cpu], = struct.unpack_from('<Q', content, at)
                at += 8
            count = head >> 28 & 7
            words = struct.unpack_from('<%dI' % count, content, at)
            at += 4 * count
            if head & 0xfffffff != WRAP:
                records.setdefault(cpu, []).append((cpu, head & 0xfffffff, cycles[cpu], list(words)))
    return records


def nanoseconds(cycles, first, hz):
    """xenalyze's formula."""
    return ((cycles - first) << 10) // ((hz << 10) // 10**9)


def xenalyze():
    """The path of Xen's own reader. Its package would bring the whole of Xen's tools, so only the program is taken from it,
    once, and kept in the cache."""
    found = os.environ.get('WEFT_XENALYZE') or shutil.which('xenalyze')
    cached = os.path.join(os.path.expanduser('~'), '.cache', 'weft', 'xenalyze')
    if not found and not os.path.exists(cached):
        with tempfile.TemporaryDirectory() as folder:
            if not shutil.which('apt-get') or subprocess.run(['apt-get', 'download', 'xen-utils-common'], cwd=folder,
                                                             capture_output=True).returncode:
                skip('xenalyze is neither installed nor to be downloaded (package xen-utils-common)')
            package, = glob.glob(os.path.join(folder, '*.deb'))
            subprocess.run(['dpkg-deb', '-x', package, folder], check=True)
            os.makedirs(os.path.dirname(cached), exist_ok=True)
            part = '%s.%d' % (cached, os.getpid())
            shutil.copy(os.path.join(folder, 'usr', 'bin', 'xenalyze'), part)
            os.replace(part, cached)
    return found or cached


def without_guests(content):
    """The windows without records of TRC_GUEST, at which xenalyze ends."""
    at, kept = 0, b''
    while at < len(content):
        _, cpu, size = struct.unpack_from('<3I', content, at)
        at, end, records = at + 12, at + 12 + size, b''
        while at < end:
            head, = struct.unpack_from('<I', content, at)
            length = 4 + 8 * (head >> 31) + 4 * (head >> 28 & 7)
            records += b'' if head & 0xfff0000 == 0x8000000 else content[at:at + length]
            at += length
        kept += window(cpu, records)
    return kept
