/* SPDX-License-Identifier: ISC */
#include "model/density.h"

#include <math.h>

#include "base/export.h"
#include "base/ns.h"

#define COLUMNS WEFT_DENSITY_COLUMNS

/* The width of a column, in ns. */
static double width_of(const struct weft_density *d)
{
	return ((double)(d->end_ns - d->start_ns) + 1) / COLUMNS;
}

/* The column of a time as a number with a fraction, limited to the trace. */
static double column_of(const struct weft_density *d, uint64_t time_ns)
{
	const double column = time_ns > d->start_ns ? (double)(time_ns - d->start_ns) / width_of(d) : 0;
	return fmin(column, COLUMNS);
}

static uint64_t time_of(const struct weft_density *d, double column)
{
	return weft__ns_add(d->start_ns, (uint64_t)(column * width_of(d)));
}

/* The share of a column that lies in [from, to), both in columns. */
static double share_of(unsigned column, double from, double to)
{
	return fmax(fmin(to, column + 1.0) - fmax(from, column), 0);
}

static double weigh(const struct weft_density *d, double from, double to)
{
	double sum = 0;
	for (unsigned i = (unsigned)from; i < COLUMNS && i < to; i++)
		sum += d->bytes[i] * share_of(i, from, to);
	return sum;
}

WEFT__EXPORT double weft_density_weigh(
	const struct weft_density *density, uint64_t start_ns, uint64_t end_ns)
{
	return weigh(density, column_of(density, start_ns), column_of(density, end_ns));
}

/* How far a column can be entered, of which `part` is left, for so many bytes. */
static double step_of(double bytes, double part, double most)
{
	return bytes * part > most ? most / bytes : part;
}

WEFT__EXPORT bool weft_density_widen(
	const struct weft_density *density, double most_bytes, uint64_t *start_ns, uint64_t *end_ns)
{
	double from = column_of(density, *start_ns), to = column_of(density, *end_ns);
	double left = most_bytes - weigh(density, from, to);
	bool goes_on = left > 0;
	if (left < 0)
		return false;
	while (goes_on) {
		const double before = from, behind = to;
		if (from > 0) {
			const double part = from - (ceil(from) - 1),
						 bytes = density->bytes[(unsigned)ceil(from) - 1];
			const double step = step_of(bytes, part, left / 2);
			left = fmax(left - bytes * step, 0);
			from -= step;
		}
		if (to < COLUMNS) {
			const double part = floor(to) + 1 - to, bytes = density->bytes[(unsigned)to];
			const double step = step_of(bytes, part, left);
			left = fmax(left - bytes * step, 0);
			to += step;
		}
		goes_on = before - from + (to - behind) > 1e-6;
	}
	*start_ns = time_of(density, from);
	*end_ns = to < COLUMNS ? time_of(density, to) : weft__ns_add(density->end_ns, 1);
	return true;
}

void weft__model_density_add(
	struct weft_density *d, uint64_t start_ns, uint64_t end_ns, double bytes)
{
	const double from = fmin(column_of(d, start_ns), COLUMNS - 1.0);
	const double to = column_of(d, end_ns), length = to - from;
	if (length <= 0)
		d->bytes[(unsigned)from] += bytes;
	for (unsigned i = (unsigned)from; i < COLUMNS && i < to && length > 0; i++)
		d->bytes[i] += bytes * share_of(i, from, to) / length;
}
