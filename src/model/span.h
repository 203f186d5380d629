/* SPDX-License-Identifier: ISC
 *
 * The longest trace: docs/model.md, *Time*. A damaged stamp may be any 64-bit time, and one such
 * event would stretch a trace of ten milliseconds to centuries. So if an event lies more than
 * WEFT__SPAN_NS after the first one, the decoder, the follower and the builder give it the time of
 * the event before it. The readers of a model rely on that: no trace is longer than WEFT__SPAN_NS
 * and the microsecond by which an unfinished task outlives it, and no time is near UINT64_MAX.
 */
#ifndef WEFT_MODEL_SPAN_H
#define WEFT_MODEL_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ns.h"

/* More than nine years: longer than a program runs, and short enough that a double distinguishes
 * times that differ by 32 ns. */
#define WEFT__SPAN_NS (UINT64_C(1) << 58)

/* The latest first event: no sum of a trace's times overflows. */
#define WEFT__FIRST_NS_MAX (UINT64_MAX - 2 * WEFT__SPAN_NS)

static const char WEFT__SPAN_MESSAGE[] =
	"a time more than 2^58 ns (9 years) from the rest of the trace; it is limited";

struct weft__span {
	uint64_t first, last; /* times of events */
	bool any;
};

/* Takes the time of the next event; events come in the order of time. True if it was too far from
 * the first one; *time is then that of the event before. */
static inline bool weft__model_span_hold(struct weft__span *span, uint64_t *time)
{
	if (!span->any) {
		uint64_t first = *time < WEFT__FIRST_NS_MAX ? *time : WEFT__FIRST_NS_MAX;
		*span = (struct weft__span){first, first, true};
	}
	if (*time - span->first > WEFT__SPAN_NS && *time > span->first) {
		*time = span->last;
		return true;
	}
	if (*time > span->last)
		span->last = *time;
	return false;
}

#endif
