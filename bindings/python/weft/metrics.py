# SPDX-License-Identifier: ISC
"""Counters, gauges and histograms with units and labels, whose values `weft metrics` and `weft top` read at any time.

    acked = weft.Counter('tcp_acked', unit='bytes', help='Bytes that the peer has acknowledged')
    acme = acked.labels(pool='eu', customer='acme')
    acme.add(1460)
    with acme.child('stream', '10.0.0.1:443') as stream:
        stream.add(20)

They change whether or not anything is recorded, and make no events; weft_metrics(3) says more.
"""
from weft import _weft


class _Metric:
    __slots__ = ('_handle', '_type', '_pairs')
    _kind = 0

    def __init__(self, name, *, unit='', scale=0, help='', exponents=(0, 0), billable=False):
        self._type = (name, self._kind, unit, scale, *exponents, billable, help)
        self._pairs = ()
        self._handle = _weft._metric_get(*self._type, ())
        if not self._handle:
            raise ValueError('%r is no name for a metric, has another type already, or there is no room for it' % name)

    def labels(self, **labels):
        """The metric with these labels in addition, in their order: a level below this one."""
        return self._with(tuple(str(word) for pair in labels.items() for word in pair))

    def _with(self, more):
        it = object.__new__(type(self))
        it._type, it._pairs = self._type, self._pairs + more
        it._handle = _weft._metric_get(*it._type, it._pairs)
        return it

    def child(self, key, value):
        """A child of this level, which comes and goes: its level has what it counts. For `with`, or until end()."""
        it = object.__new__(type(self))
        it._type, it._pairs = self._type, None
        it._handle = _weft._metric_child(self._handle, key, str(value))
        return it

    def end(self):
        _weft._metric_end(self._handle)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.end()

    def exemplar(self, value):
        """Points out a value, or a change, that is worth a look: readers show it with the time and the running task."""
        _weft._metric_exemplar(self._handle, value)

    @property
    def value(self):
        """The present value with all levels below; of a histogram, how many values it has. None: the child has ended."""
        read = _weft._metric_read(self._handle)
        return read and read[0]


class Counter(_Metric):
    """A counter, which only grows."""

    __slots__ = ()
    _kind = 1

    def add(self, count=1):
        _weft._metric_add(self._handle, count)


class Gauge(_Metric):
    """A value that grows and shrinks."""

    __slots__ = ()
    _kind = 2

    def change(self, change):
        _weft._metric_change(self._handle, change)

    def set(self, value):
        _weft._metric_set(self._handle, value)


class Histogram(_Metric):
    """A histogram, which counts values by their size, in 8 steps for each power of 2.

    Values are whole numbers in `unit` times 10**scale; those from 2**first to 2**last of `exponents` are distinguished,
    without them from 2**10 to 2**40. So a duration in nanoseconds has the unit 'seconds' and the scale -9.
    """

    __slots__ = ()
    _kind = 3

    def record(self, value):
        _weft._metric_record(self._handle, value)

    @property
    def sum(self):
        """The sum of all values."""
        return _weft._metric_read(self._handle)[1]
