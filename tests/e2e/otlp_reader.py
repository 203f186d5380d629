# SPDX-License-Identifier: ISC
"""Reads OTLP as protobuf, by the field numbers of opentelemetry-proto 1.11, into what the same message is in JSON."""
import struct

ANY = {1: ('stringValue', 'text'), 2: ('boolValue', 'bool'), 3: ('intValue', 'int64'), 4: ('doubleValue', 'double')}
PAIR = {1: ('key', 'text'), 2: ('value', ANY)}
SCOPE = {1: ('name', 'text'), 2: ('version', 'text')}
RESOURCE = {1: ('attributes', [PAIR])}
EVENT = {1: ('timeUnixNano', 'fixed64'), 2: ('name', 'text'), 3: ('attributes', [PAIR])}
LINK = {1: ('traceId', 'id'), 2: ('spanId', 'id'), 4: ('attributes', [PAIR])}
STATUS = {2: ('message', 'text'), 3: ('code', 'uint32')}
SPAN = {1: ('traceId', 'id'), 2: ('spanId', 'id'), 4: ('parentSpanId', 'id'), 5: ('name', 'text'), 6: ('kind', 'uint32'),
        7: ('startTimeUnixNano', 'fixed64'), 8: ('endTimeUnixNano', 'fixed64'), 9: ('attributes', [PAIR]), 11: ('events', [EVENT]),
        12: ('droppedEventsCount', 'uint32'), 13: ('links', [LINK]), 14: ('droppedLinksCount', 'uint32'), 15: ('status', STATUS),
        16: ('flags', 'fixed32')}
SPANS = {1: ('resourceSpans', [{1: ('resource', RESOURCE), 2: ('scopeSpans', [{1: ('scope', SCOPE), 2: ('spans', [SPAN])}])}])}
TIMES = {2: ('startTimeUnixNano', 'fixed64'), 3: ('timeUnixNano', 'fixed64')}
NUMBERS = {1: ('dataPoints', [{**TIMES, 7: ('attributes', [PAIR]), 4: ('asDouble', 'double'), 6: ('asInt', 'sfixed64')}]),
           2: ('aggregationTemporality', 'uint32'), 3: ('isMonotonic', 'bool')}
BARS = {1: ('dataPoints', [{**TIMES, 9: ('attributes', [PAIR]), 4: ('count', 'fixed64'), 5: ('sum', 'double'),
                            6: ('bucketCounts', ['fixed64']), 7: ('explicitBounds', ['double'])}]),
        2: ('aggregationTemporality', 'uint32')}
EXPONENTIAL = {1: ('dataPoints', [{**TIMES, 1: ('attributes', [PAIR]), 4: ('count', 'fixed64'), 5: ('sum', 'double'), 6: ('scale', 'sint32'),
                                   7: ('zeroCount', 'fixed64'), 8: ('positive', {1: ('offset', 'sint32'), 2: ('bucketCounts', ['uint64'])}),
                                   14: ('zeroThreshold', 'double')}]),
               2: ('aggregationTemporality', 'uint32')}
METRIC = {1: ('name', 'text'), 2: ('description', 'text'), 3: ('unit', 'text'), 5: ('gauge', NUMBERS), 7: ('sum', NUMBERS),
          9: ('histogram', BARS), 10: ('exponentialHistogram', EXPONENTIAL)}
METRICS = {1: ('resourceMetrics', [{1: ('resource', RESOURCE), 2: ('scopeMetrics', [{1: ('scope', SCOPE), 2: ('metrics', [METRIC])}])}])}


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def scalar(kind, wire, data, at):
    """A value as JSON has it, and what comes behind it."""
    if wire == 0:
        number, at = varint(data, at)
        value = {'bool': bool(number), 'uint32': number, 'uint64': str(number),
                 'int64': str(number - 2 ** 64 if number >> 63 else number), 'sint32': number >> 1 ^ -(number & 1)}[kind]
        return value, at
    code, size, as_text = {'fixed64': ('<Q', 8, True), 'sfixed64': ('<q', 8, True), 'double': ('<d', 8, False),
                           'fixed32': ('<I', 4, False)}[kind]
    assert wire == (5 if size == 4 else 1), (kind, wire)
    value = struct.unpack_from(code, data, at)[0]
    return str(value) if as_text else value, at + size


def packed(kind, data):
    values, at = [], 0
    while at < len(data):
        value, at = scalar(kind, 1 if kind in ('fixed64', 'double') else 0, data, at)
        values.append(value)
    return values


def read(data, schema):
    message, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = schema[tag >> 3]  # an unknown field is an error
        if tag & 7 != 2 and isinstance(kind, list):  # as protobuf 2 has repeated numbers
            value, at = scalar(kind[0], tag & 7, data, at)
            message.setdefault(name, []).append(value)
            continue
        if tag & 7 != 2:
            message[name], at = scalar(kind, tag & 7, data, at)
            continue
        size, at = varint(data, at)
        part, at = data[at:at + size], at + size
        assert len(part) == size
        if kind == 'text':
            message[name] = part.decode()  # protobuf's strings are UTF-8
        elif kind == ['text']:
            message.setdefault(name, []).append(part.decode())
        elif kind == 'id':
            message[name] = part.hex()
        elif isinstance(kind, dict):
            message[name] = read(part, kind)
        elif isinstance(kind[0], str):
            message[name] = packed(kind[0], part)
        else:
            message.setdefault(name, []).append(read(part, kind[0]))
    return message
