/* SPDX-License-Identifier: ISC
 *
 * Stripes of time that a view draws narrow. All have one width, which depends on the scale alone:
 * 24 px, or less where so many stripes would take more room than everything between them. So x
 * grows with the time and with the scale, and the scale that fits a range has a closed form.
 */
#include "view/squeeze.h"

#include <math.h>
#include <stdlib.h>

#include <weft/error.h>

#include "base/export.h"
#include "base/sort.h"

#define LONG 5 /* medians: longer stripes are squeezed */

struct stripe {
	double begin, length; /* ns; from the trace's start */
	double between;       /* ns outside of all stripes before it */
};

struct weft_squeeze {
	uint64_t total_ns; /* of all stripes */
	double most_ns;    /* a stripe is never wider than so many ns outside of the stripes */
	uint32_t count;
	struct stripe list[];
};

/* Copies the parts of the idle times that are inside the trace, as one where they touch. */
static uint32_t join(struct weft_stripe *to, const struct weft_stripe *idle, uint32_t count,
	const struct weft_stripe *trace)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = idle[i].start > trace->start ? idle[i].start : trace->start;
		uint64_t end = idle[i].end < trace->end ? idle[i].end : trace->end;
		if (start >= end)
			continue;
		if (kept && start <= to[kept - 1].end)
			to[kept - 1].end = end > to[kept - 1].end ? end : to[kept - 1].end;
		else
			to[kept++] = (struct weft_stripe){start, end};
	}
	return kept;
}

static uint64_t length_of(const struct weft_stripe *stripe)
{
	return stripe->end - stripe->start;
}

/* The longest idle time that is drawn as long as it is: five times the median; or of few and long
 * ones, five times all that is not idle. `room` has room for twice as many numbers. */
static double find_limit(
	const struct weft_stripe *idle, uint32_t count, uint64_t trace_ns, uint64_t *room)
{
	uint64_t busy = trace_ns;
	for (uint32_t i = 0; i < count; i++) {
		room[i] = length_of(&idle[i]);
		busy -= room[i];
	}
	if (busy == 0) /* there would be nothing to see but stripes */
		return INFINITY;
	weft__sort_u64(room, room + count, count);
	uint64_t median = room[(count - 1) / 2];
	return (double)LONG * (double)(median < busy ? median : busy);
}

/* Keeps the idle times that are longer than the limit. */
static uint32_t keep_long(struct weft_stripe *idle, uint32_t count, double limit)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++)
		if ((double)length_of(&idle[i]) > limit)
			idle[kept++] = idle[i];
	return kept;
}

/* NULL without memory. `count` is at least 1. */
static struct weft_squeeze *make(
	const struct weft_stripe *stripes, uint32_t count, const struct weft_stripe *trace)
{
	struct weft_squeeze *s = malloc(sizeof(*s) + count * sizeof(s->list[0]));
	if (!s)
		return NULL;
	*s = (struct weft_squeeze){.count = count};
	double shortest = INFINITY;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t begin = stripes[i].start - trace->start, length = length_of(&stripes[i]);
		s->list[i] = (struct stripe){(double)begin, (double)length, (double)(begin - s->total_ns)};
		s->total_ns += length;
		shortest = fmin(shortest, (double)length);
	}
	s->most_ns = fmin((double)(length_of(trace) - s->total_ns) / count, shortest);
	return s;
}

WEFT__EXPORT int weft_squeeze_create(const struct weft_stripe *idle, uint32_t count,
	const struct weft_stripe *trace, struct weft_squeeze **ret_squeeze)
{
	struct weft_squeeze *squeeze = NULL;
	struct weft_stripe *stripes = malloc((count + (size_t)1) * sizeof(*stripes));
	uint64_t *room = malloc(2 * (count + (size_t)1) * sizeof(*room));
	int error = stripes && room ? 0 : WEFT_ERROR_MEMORY;
	if (!error && (count = join(stripes, idle, count, trace)) > 0)
		count = keep_long(stripes, count, find_limit(stripes, count, length_of(trace), room));
	if (!error && count > 0 && !(squeeze = make(stripes, count, trace)))
		error = WEFT_ERROR_MEMORY;
	free(stripes);
	free(room);
	if (!error)
		*ret_squeeze = squeeze;
	return error;
}

WEFT__EXPORT void weft_squeeze_destroy(struct weft_squeeze *squeeze)
{
	free(squeeze);
}

WEFT__EXPORT uint32_t weft_squeeze_count(const struct weft_squeeze *squeeze, uint64_t *ret_ns)
{
	*ret_ns = squeeze ? squeeze->total_ns : 0;
	return squeeze ? squeeze->count : 0;
}

/* The number of stripes that begin at or before a time. */
static uint32_t count_begun(const struct weft_squeeze *squeeze, double ns)
{
	uint32_t low = 0, high = squeeze->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (squeeze->list[middle].begin <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct weft_view_place weft__squeeze_place(const struct weft_squeeze *squeeze, double ns)
{
	uint32_t begun = count_begun(squeeze, ns);
	if (begun == 0)
		return (struct weft_view_place){ns, 0};
	const struct stripe *stripe = &squeeze->list[begun - 1];
	double inside = ns - stripe->begin;
	if (inside < stripe->length)
		return (struct weft_view_place){stripe->between, begun - 1 + inside / stripe->length};
	return (struct weft_view_place){stripe->between + (inside - stripe->length), begun};
}

double weft__squeeze_stripe(const struct weft_squeeze *squeeze, double scale)
{
	return fmin(WEFT_STRIPE_WIDTH, squeeze->most_ns * scale);
}

double weft__squeeze_px(const struct weft_squeeze *squeeze, const struct weft_view_place *from,
	const struct weft_view_place *to, double scale)
{
	return (to->between_ns - from->between_ns) * scale +
		   (to->stripes - from->stripes) * weft__squeeze_stripe(squeeze, scale);
}

/* The px from a place to the beginning of a stripe. */
static double px_to(const struct weft_squeeze *squeeze, const struct weft_view_place *from,
	uint32_t stripe, double scale)
{
	const struct weft_view_place begin = {squeeze->list[stripe].between, stripe};
	return weft__squeeze_px(squeeze, from, &begin, scale);
}

double weft__squeeze_ns(
	const struct weft_squeeze *squeeze, const struct weft_view_place *from, double px, double scale)
{
	uint32_t low = 0, high = squeeze->count;
	while (low < high) { /* in the end stripe `low` is the first one that begins to the right */
		uint32_t middle = low + (high - low) / 2;
		if (px_to(squeeze, from, middle, scale) <= px)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return squeeze->list[0].begin + (px - px_to(squeeze, from, 0, scale)) / scale;
	const struct stripe *stripe = &squeeze->list[low - 1];
	double inside = px - px_to(squeeze, from, low - 1, scale);
	double width = weft__squeeze_stripe(squeeze, scale);
	if (inside < width)
		return stripe->begin + stripe->length * (inside / width);
	return stripe->begin + stripe->length + (inside - width) / scale;
}

double weft__squeeze_scale(const struct weft_squeeze *squeeze, const struct weft_view_place *from,
	const struct weft_view_place *to, double px)
{
	double between = to->between_ns - from->between_ns, stripes = to->stripes - from->stripes;
	double scale = px / (between + stripes * squeeze->most_ns);
	if (!(between > 0))
		return INFINITY;
	if (scale * squeeze->most_ns <= WEFT_STRIPE_WIDTH)
		return scale;
	return (px - stripes * WEFT_STRIPE_WIDTH) / between;
}

bool weft__squeeze_find(
	const struct weft_squeeze *squeeze, double ns, double *ret_begin, double *ret_end)
{
	uint32_t begun = count_begun(squeeze, ns);
	if (begun && ns < squeeze->list[begun - 1].begin + squeeze->list[begun - 1].length)
		begun--;
	if (begun == squeeze->count)
		return false;
	*ret_begin = squeeze->list[begun].begin;
	*ret_end = *ret_begin + squeeze->list[begun].length;
	return true;
}
