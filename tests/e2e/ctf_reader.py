# SPDX-License-Identifier: ISC
"""Reads a CTF directory with babeltrace 2's library and writes each event as a Python literal a
line: (stream, ns since the epoch, name, {field: value}). Run by the Python that has bt2."""
import sys

import bt2


def value(field):
    if isinstance(field, bt2._EnumerationFieldConst):
        return int(field), sorted(field.labels)
    if isinstance(field, bt2._IntegerFieldConst):
        return int(field)
    if isinstance(field, bt2._RealFieldConst):
        return float(field)
    if isinstance(field, bt2._StringFieldConst):
        return str(field).encode('utf-8', 'surrogateescape')
    if isinstance(field, bt2._VariantFieldConst):
        return value(field.selected_option)
    if isinstance(field, bt2._StructureFieldConst):
        return {name: value(member) for name, member in field.items()}
    return [value(member) for member in field]


def main():
    for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
        if type(message) is bt2._EventMessageConst:
            print(repr((message.event.packet.stream.id, message.default_clock_snapshot.ns_from_origin,
                        message.event.name, value(message.event.payload_field))))
        elif type(message) is bt2._DiscardedEventsMessageConst:
            print(repr(('discarded', message.stream.id, message.count)))


main()
