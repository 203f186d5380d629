# SPDX-License-Identifier: ISC
"""The values of counters: what the changes of a trace add up to, and what the program says now and then."""

LIMIT = 1e290


def limited(value):
    """As a counter keeps it: integers of 64 bits, or a double."""
    if isinstance(value, float):
        return max(-LIMIT, min(LIMIT, value))
    return max(-2 ** 63, min(2 ** 63 - 1, value))


class Counter:
    def __init__(self):
        self.samples = []  # (time, what the changes add up to, it was set)
        self.totals = []   # (number of samples before, time, offset)
        self.begins_total = False
        self.gap = None    # the sample before which changes may be missing, as the trace is a part

    def latest(self):
        return self.samples[-1][1] if self.samples else 0

    def change(self, time, number, is_set, is_rundown=False):
        value = number if is_set else self.latest() + number
        if isinstance(self.latest(), float):
            value = float(value)
        is_unsure = is_rundown and not is_set
        if is_unsure:  # a rundown adds what earlier changes add up to, or nothing to the last value that was known
            self.gap = len(self.samples)
        self.begins_total |= is_rundown and not self.samples
        if not (is_unsure and self.samples):
            self.samples.append((time, limited(value), is_set))

    def total(self, time, number):
        limits = (LIMIT, -LIMIT) if isinstance(self.latest(), float) else (2 ** 63 - 1, -2 ** 63)
        if self.samples and self.latest() in limits:
            return
        if self.samples:
            self.totals.append((len(self.samples), time, number - self.latest()))
        elif number:
            self.change(time, number, True)
            self.begins_total = True

    def offsets(self, is_gap):
        """The number to add to each sample; None: unknown."""
        found = [None] * len(self.samples)
        edges = [(0, 0, None), *self.totals, (len(self.samples), None, None)]
        for (first, since, left), (last, until, right) in zip(edges, edges[1:]):
            span = range(first, last)
            if left is not None and left == right:
                for i in span:
                    found[i] = right
                continue
            known, time = left, since
            for i in span:
                if self.samples[i][2]:
                    known = 0
                elif known is not None and (is_gap(time, self.samples[i][0]) or (i == self.gap and not since)):
                    known = None
                found[i], time = known, self.samples[i][0]
            time = until
            for i in reversed(span):
                if right is None or self.samples[i][2] or is_gap(self.samples[i][0], time, True):
                    break
                found[i], time = right, self.samples[i][0]
        return found

    def finish(self, is_gap):
        """([(time, value)], the value before them, what they begin with: 'total', 'set', or None for a change)."""
        begin = 'total' if self.begins_total else 'set' if self.samples[0][2] else None
        plain = [(time, value) for time, value, _ in self.samples], 0, begin
        if not self.totals:
            return plain
        offsets = self.offsets(is_gap)
        unknown = next((i for i, offset in enumerate(offsets) if offset is not None), len(offsets))
        if None in offsets[unknown:] or unknown == len(offsets):
            return plain
        values = [(self.samples[i][0], limited(self.samples[i][1] + offsets[i])) for i in range(unknown, len(offsets))]
        before = self.samples[unknown - 1][1] if unknown else 0
        begin = begin if unknown == 0 else 'set'
        return values, 0 if self.samples[unknown][2] else limited(before + offsets[unknown]), begin
