/* SPDX-License-Identifier: ISC
 *
 * Stripes of time that a view draws narrow: min(24 px, size × scale) wide. The largest size, in ns,
 * is such that all stripes take no more room than everything between them while none has 24 px yet;
 * each smaller size is half of the next. A stripe has the largest size that is not longer than
 * the stripe itself. So x grows with the time and with the scale, and as there are few sizes,
 * squeezed times and the scale that fits a range have closed forms.
 */
#include "view/squeeze.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/export.h"
#include "base/sort.h"

#define LONG 5 /* medians: longer stripes are squeezed */

#define HALF 2

struct stripe {
	double begin, length;               /* ns; from the trace's start */
	double between;                     /* ns outside of all stripes before it */
	uint32_t before[WEFT_STRIPE_SIZES]; /* the stripes before it, by size */
	uint32_t size;
};

struct weft_squeeze {
	uint64_t total_ns;               /* of all stripes */
	double sizes[WEFT_STRIPE_SIZES]; /* ns, ascending */
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

/* The largest size: the sum of all stripes' lengths, each limited to this, is `room_ns`. `room` has
 * room for twice as many numbers. */
static double largest_size(
	const struct weft_stripe *stripes, uint32_t count, double room_ns, uint64_t *room)
{
	for (uint32_t i = 0; i < count; i++)
		room[i] = length_of(&stripes[i]);
	weft__sort_u64(room, room + count, count);
	for (uint32_t i = 0; i < count; i++) { /* the shorter ones have their whole length */
		double share = room_ns / (count - i);
		if ((double)room[i] > share)
			return share;
		room_ns -= (double)room[i];
	}
	return count ? (double)room[count - 1] : 0;
}

static void choose_sizes(struct weft_squeeze *squeeze, double largest)
{
	for (unsigned i = WEFT_STRIPE_SIZES; i-- > 0; largest /= HALF)
		squeeze->sizes[i] = largest;
}

static uint32_t size_of(const struct weft_squeeze *squeeze, double length)
{
	uint32_t size = WEFT_STRIPE_SIZES - 1;
	while (size > 0 && squeeze->sizes[size] > length)
		size--;
	return size;
}

static void add_pause(struct weft_squeeze *s, uint64_t begin, uint64_t length)
{
	struct stripe *stripe = &s->list[s->count];
	*stripe = (struct stripe){(double)begin, (double)length, (double)(begin - s->total_ns),
		.size = size_of(s, (double)length)};
	if (s->count > 0) {
		memcpy(stripe->before, stripe[-1].before, sizeof(stripe->before));
		stripe->before[stripe[-1].size]++;
	}
	s->total_ns += length;
	s->count++;
}

/* Keeps the stripes that are not shorter than the smallest size. NULL without memory. */
static struct weft_squeeze *make(const struct weft_stripe *stripes, uint32_t count,
	const struct weft_stripe *trace, double largest)
{
	struct weft_squeeze *s = malloc(sizeof(*s) + count * sizeof(s->list[0]));
	if (!s)
		return NULL;
	*s = (struct weft_squeeze){.count = 0};
	choose_sizes(s, largest);
	for (uint32_t i = 0; i < count; i++)
		if ((double)length_of(&stripes[i]) >= s->sizes[0])
			add_pause(s, stripes[i].start - trace->start, length_of(&stripes[i]));
	return s;
}

static uint64_t sum_of(const struct weft_stripe *stripes, uint32_t count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += length_of(&stripes[i]);
	return sum;
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
	if (!error && count > 0) {
		double between = (double)(length_of(trace) - sum_of(stripes, count));
		squeeze = make(stripes, count, trace, largest_size(stripes, count, between, room));
		error = squeeze ? 0 : WEFT_ERROR_MEMORY;
	}
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

/* The squeezed time at which a stripe begins. */
static struct weft_view_squeezed time_before(const struct stripe *stripe)
{
	struct weft_view_squeezed squeezed = {.between_ns = stripe->between};
	for (unsigned i = 0; i < WEFT_STRIPE_SIZES; i++)
		squeezed.stripes[i] = stripe->before[i];
	return squeezed;
}

struct weft_view_squeezed weft__view_squeeze_time(const struct weft_squeeze *squeeze, double ns)
{
	uint32_t begun = count_begun(squeeze, ns);
	if (begun == 0)
		return (struct weft_view_squeezed){.between_ns = ns};
	const struct stripe *stripe = &squeeze->list[begun - 1];
	struct weft_view_squeezed squeezed = time_before(stripe);
	double inside = ns - stripe->begin;
	squeezed.stripes[stripe->size] += fmin(inside / stripe->length, 1);
	if (inside > stripe->length)
		squeezed.between_ns += inside - stripe->length;
	return squeezed;
}

static double width_of(const struct weft_squeeze *squeeze, uint32_t size, double scale)
{
	return fmin(WEFT_STRIPE_WIDTH, squeeze->sizes[size] * scale);
}

/* The px from a squeezed time to a later one. */
static double px_between(const struct weft_squeeze *squeeze, const struct weft_view_squeezed *from,
	const struct weft_view_squeezed *to, double scale)
{
	double px = (to->between_ns - from->between_ns) * scale;
	for (unsigned i = 0; i < WEFT_STRIPE_SIZES; i++)
		px += (to->stripes[i] - from->stripes[i]) * width_of(squeeze, i, scale);
	return px;
}

double weft__view_squeeze_x(const struct weft_squeeze *squeeze,
	const struct weft_view_squeezed *from, double ns, double scale)
{
	const struct weft_view_squeezed squeezed = weft__view_squeeze_time(squeeze, ns);
	return px_between(squeeze, from, &squeezed, scale);
}

/* The px from a squeezed time to the beginning of a stripe. */
static double px_to(const struct weft_squeeze *squeeze, const struct weft_view_squeezed *from,
	uint32_t stripe, double scale)
{
	const struct weft_view_squeezed begin = time_before(&squeeze->list[stripe]);
	return px_between(squeeze, from, &begin, scale);
}

double weft__view_squeeze_ns(const struct weft_squeeze *squeeze,
	const struct weft_view_squeezed *from, double px, double scale)
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
	double width = width_of(squeeze, stripe->size, scale);
	if (inside < width)
		return stripe->begin + stripe->length * (inside / width);
	return stripe->begin + stripe->length + (inside - width) / scale;
}

/* With rising scale, stripes of the largest size reach their full width first. */
double weft__view_squeeze_scale(const struct weft_squeeze *squeeze,
	const struct weft_view_squeezed *from, const struct weft_view_squeezed *to, double px)
{
	double between = to->between_ns - from->between_ns, ns = between;
	if (!(between > 0))
		return INFINITY;
	for (unsigned i = 0; i < WEFT_STRIPE_SIZES; i++)
		ns += (to->stripes[i] - from->stripes[i]) * squeeze->sizes[i];
	for (unsigned i = WEFT_STRIPE_SIZES; i-- > 0;) {
		double stripes = to->stripes[i] - from->stripes[i];
		if (px / ns * squeeze->sizes[i] <= WEFT_STRIPE_WIDTH)
			return px / ns;
		ns -= stripes * squeeze->sizes[i];
		px -= stripes * WEFT_STRIPE_WIDTH;
	}
	return px / between;
}

bool weft__view_squeeze_find(
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
