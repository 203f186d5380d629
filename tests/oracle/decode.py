# SPDX-License-Identifier: ISC
"""A second, small decoder of the two old formats, written to explain them and used as oracle.

events(bytes) returns the events that `weft dump --json` must show, as dictionaries in the right order. It is
for traces without damage, or with damage that a packet's header shows.
"""
import re
import struct
from decimal import Decimal

KINDS = ('wait task bind try choose pick join map condition on_success on_failure on_termination '
         'on_any ignore_result async promise semaphore switch lock channel timer pool queue track').split()

NONE = 2 ** 64 - 1


def task(number):
    """An id as --json shows it: the old -1 is null."""
    return None if number == NONE else number


def kind(number):
    return KINDS[number] if number < len(KINDS) else 'unknown' if number == 99 else number


def text(raw):
    return raw.decode('utf-8', 'replace')


UNEVEN = 10 ** 6  # ns: a clock that goes back by less catches up soon


def as_written(events):
    """Events keep their order. Where the clock goes back by much, all later ones are moved; else, they wait until it has caught up."""
    shift, last = 0, 0
    for i, event in enumerate(events):
        time = event['time'] + shift
        if time < last:
            catches_up = i + 1 < len(events) and events[i + 1]['time'] + shift >= last
            shift += 0 if catches_up or last - time < UNEVEN else last - time
            time = last
        last = event['time'] = time
    return events


def events(data):
    if data.lstrip()[:1] == b'(':
        return as_written(list(sexp_events(data)))
    return as_written(list(mirage_events(data)))


# ---- mirage-profile's CTF: little-endian, nothing is aligned ----

MAGIC = struct.pack('<I', 0xC1FC1FC1) + bytes.fromhex('05883b8d521a487bb397456ab150680c')
HEADER = struct.Struct('<20xIHI')  # packet size in bits, packet count, content size in bits


def packets(data):
    """(count, content) of each packet in the file; bytes between packets are skipped."""
    at, found = 0, []
    while (at := data.find(MAGIC, at)) >= 0 and at + HEADER.size <= len(data):
        packet_bits, count, content_bits = HEADER.unpack_from(data, at)
        size, content = packet_bits // 8, content_bits // 8
        if not HEADER.size <= content <= size or at + content > len(data):
            at += 1
            continue
        found.append((count, data[at + HEADER.size:at + content]))
        at = max(at + size, at + 1)
    return found


def ring_order(found):
    """A ring starts anywhere and its 16-bit count wraps: the oldest packet follows the largest gap."""
    if not found:
        return []
    found = sorted(found, key=lambda packet: packet[0])
    counts = [count for count, _ in found]
    gaps = [(counts[i] - counts[i - 1]) % 65536 for i in range(len(counts))]
    first = gaps.index(max(gaps))
    return found[first:] + found[:first]


class Content:
    """Reads a packet's content; running out of bytes is an IndexError."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, letter='Q'):
        size = struct.calcsize(letter)
        if self.at + size > len(self.data):
            raise IndexError
        self.at += size
        return struct.unpack_from('<' + letter, self.data, self.at - size)[0]

    def task(self):
        return task(self.number())

    def string(self):
        end = self.data.find(b'\0', self.at)
        if end < 0:
            raise IndexError
        start, self.at = self.at, end + 1
        return text(self.data[start:end])


def mirage_event(content):
    time, operation = content.number(), content.number('B')
    event = {'time': time}

    def fields(kind_of_event, /, **others):
        event.update(event=kind_of_event, **others)
        return event

    if operation == 0:
        return fields('create', task=content.task(), child=content.task(), kind=kind(content.number('B')))
    if operation in (1, 12):
        return fields('read', task=content.task(), source=content.task(), later=operation == 12)
    if operation == 2:
        return fields('resolve', task=content.task(), target=content.task())
    if operation == 3:
        return fields('fail', task=content.task(), target=content.task(), message=content.string())
    if operation == 4:
        return fields('become', task=content.task(), target=content.task())
    if operation == 5:
        who, label = content.task(), content.string()
        if label == '__should_resolve':
            return fields('expect', task=who)
        return fields('label', task=who, text=label)
    if operation in (6, 11):
        who, value, name = content.task(), content.number('q'), content.string()
        return fields('counter', task=who, name=name, **{'add' if operation == 6 else 'value': value})
    if operation == 7:
        return fields('switch', task=content.task())
    if operation == 8:
        return fields('gc', duration=content.number())
    if operation in (9, 13):
        return fields('signal', task=content.task(), source=content.task(), switches=operation == 9)
    if operation == 10:
        return fields('try_read', task=content.task(), source=content.task())
    raise IndexError


def mirage_events(data):
    """After an unknown or incomplete event, the rest of its packet is lost."""
    found = []
    for _, body in ring_order(packets(data)):
        content = Content(body)
        try:
            while content.at < len(body):
                found.append(mirage_event(content))
        except IndexError:
            pass
    return found


# ---- the first viewer's sexp: ((time SECONDS)(op(NAME ARGUMENT…))) a line ----

TOKEN = re.compile(rb'[()]|"(?:[^"\\]|\\.)*"|[^()"\s]+', re.DOTALL)
ESCAPE = re.compile(rb'\\(\d{3}|x[0-9a-fA-F]{2}|.)', re.DOTALL)


def unescape(match):
    escape = match.group(1)
    if escape.isdigit():
        return bytes([int(escape) & 255])
    if len(escape) == 3:
        return bytes([int(escape[1:], 16)])
    return {b'n': b'\n', b't': b'\t', b'r': b'\r', b'b': b'\b'}.get(escape, escape)


def parse(line):
    """Nested lists of atoms."""
    stack = [[]]
    for token in TOKEN.findall(line):
        if token == b'(':
            stack.append([])
        elif token == b')':
            done = stack.pop()
            stack[-1].append(done)
        elif token[:1] == b'"':
            stack[-1].append(ESCAPE.sub(unescape, token[1:-1]))
        else:
            stack[-1].append(token)
    return stack[0]


def ns(seconds):
    """Decimal seconds, exactly."""
    return int(Decimal(seconds.decode()) * 10 ** 9)


def sexp_task(atom):
    return task(int(atom) % 2 ** 64)


def sexp_event(line):
    ((_, seconds), (_, (name, *arguments))), = parse(line)
    event = {'time': ns(seconds)}
    if name == b'Gc':
        return dict(event, event='gc', duration=ns(arguments[0]))
    event['task'] = sexp_task(arguments[0])
    if name == b'Creates':
        created = arguments[2].decode().lower() if len(arguments) > 2 else 'wait'
        return dict(event, event='create', child=sexp_task(arguments[1]), kind=created)
    if name == b'Reads':
        return dict(event, event='read', source=sexp_task(arguments[1]), later=False)
    if name == b'Resolves':
        event['target'] = sexp_task(arguments[1])
        if arguments[2]:
            return dict(event, event='fail', message=text(arguments[2][0]))
        return dict(event, event='resolve')
    if name == b'Becomes':
        return dict(event, event='become', target=sexp_task(arguments[1]))
    if name == b'Label':
        if arguments[1] == b'__should_resolve':
            return dict(event, event='expect')
        return dict(event, event='label', text=text(arguments[1]))
    if name == b'Switch':
        return dict(event, event='switch')
    if name == b'Increases':
        return dict(event, event='counter', name=text(arguments[1]), add=int(arguments[2]))
    raise ValueError(name)


def sexp_events(data):
    return [sexp_event(line) for line in data.splitlines() if line.strip()]
