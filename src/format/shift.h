/* SPDX-License-Identifier: ISC
 *
 * The clock of a host on the axis of a trace of several: a straight line.
 */
#ifndef WEFT_FORMAT_SHIFT_H
#define WEFT_FORMAT_SHIFT_H

#include <math.h>
#include <stdint.h>

#include <weft/trace.h>

struct weft__shift {
	uint64_t from_ns;  /* by the host's clock */
	int64_t offset_ns; /* to add then */
	double drift;      /* by which that grows */
	enum weft_alignment alignment;
	uint64_t error_ns; /* if it is known, see struct weft_trace_buffer */
};

/* Saturates. NULL: the clock is the trace's. */
static inline uint64_t weft__format_shift(const struct weft__shift *shift, uint64_t ns)
{
	if (!shift)
		return ns;
	const int64_t since = (int64_t)(ns - shift->from_ns);
	int64_t offset = shift->offset_ns;
	if (__builtin_add_overflow(offset, (int64_t)rint(shift->drift * (double)since), &offset))
		offset = shift->offset_ns;
	const uint64_t less = 0 - (uint64_t)offset;
	if (offset < 0)
		return ns > less ? ns - less : 0;
	return ns < UINT64_MAX - (uint64_t)offset ? ns + (uint64_t)offset : UINT64_MAX;
}

/* The other way round, to the nearest ns. */
static inline uint64_t weft__format_shift_back(const struct weft__shift *shift, uint64_t ns)
{
	uint64_t own = ns;
	for (int i = 0; shift && i < 3; i++) {
		const uint64_t there = weft__format_shift(shift, own);
		own = there > ns && there - ns > own ? 0 : own + ns - there;
	}
	return own;
}

/* Times in a damaged file may be so far apart that the difference wraps. */
static inline int64_t weft__format_difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

struct weft_decoder;

/* Gives a part of a merged decoder a clock of its own; it must outlive both. Before the merge is
 * created. */
void weft__format_decoder_shift(struct weft_decoder *decoder, const struct weft__shift *shift);
const struct weft__shift *weft__format_decoder_shift_of(const struct weft_decoder *decoder);

#endif
