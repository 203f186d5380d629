/* SPDX-License-Identifier: ISC
 *
 * The clocks of a host of Xen, see host_clock.h. Few comparisons are kept, far enough from each
 * other to give a rate; a time between two of them is interpolated.
 */
#include "format/weft/clock/host_clock.h"

#include <stdlib.h>

/* Closer comparisons give a worse rate than none. */
#define BASELINE_MIN_NS UINT64_C(500000000)
#define SPACING_MIN_NS  UINT64_C(50000000)

/* CLOCK_MONOTONIC is adjusted by at most 0.05 %, and Xen's clock is as good as the machine's. */
#define RATES_PART 500
#define JITTER_NS  1000000

static int by_time(const void *left, const void *right)
{
	const struct weft_abi_comparison *l = left, *r = right;
	return l->xen_ns < r->xen_ns ? -1 : l->xen_ns > r->xen_ns;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* True if both clocks went on, by about as much. */
static bool follows(const struct weft_abi_comparison *a, const struct weft_abi_comparison *b)
{
	uint64_t xen = b->xen_ns - a->xen_ns, monotonic = b->monotonic_ns - a->monotonic_ns;
	return b->monotonic_ns > a->monotonic_ns && xen >= SPACING_MIN_NS &&
		   distance(xen, monotonic) <= JITTER_NS + xen / RATES_PART;
}

/* Drops comparisons that do not follow from the one before, and every second one while there are
 * too many. Returns the number of the others. */
static size_t thin_out(struct weft_abi_comparison *list, size_t count)
{
	size_t kept = count ? 1 : 0;
	qsort(list, count, sizeof(*list), by_time);
	for (size_t i = 1; i < count; i++)
		if (follows(&list[kept - 1], &list[i]))
			list[kept++] = list[i];
	while (kept > WEFT__HOST_COMPARISONS_MAX) {
		size_t half = 0;
		for (size_t i = 0; i < kept; i++)
			if (i % 2 == 0 || i + 1 == kept)
				list[half++] = list[i];
		kept = half;
	}
	return kept;
}

/* A reading of one of the clocks. */
static uint64_t ticks_of(const struct weft_abi_comparison *c, bool is_counter)
{
	return is_counter ? c->counter : c->xen_ns;
}

/* Fills the rates from one comparison to the next. Times before the first and after the last one
 * are converted by the mean rate. */
static void fill(struct weft__ticks *parts, const struct weft_abi_comparison *list, size_t count,
	bool is_counter)
{
	const struct weft_abi_comparison *first = &list[0], *last = &list[count - 1];
	for (size_t i = 0; i <= count; i++) {
		bool is_between = i > 0 && i < count;
		const struct weft_abi_comparison *base = i ? &list[i - 1] : first;
		const struct weft_abi_comparison *from = is_between ? base : first;
		const struct weft_abi_comparison *to = is_between ? &list[i] : last;
		weft__format_ticks_init(&parts[i], ticks_of(base, is_counter), base->monotonic_ns,
			ticks_of(to, is_counter) - ticks_of(from, is_counter),
			to->monotonic_ns - from->monotonic_ns);
		if (i < count) {
			parts[i].last_ticks = ticks_of(&list[i], is_counter);
			parts[i].next = &parts[i + 1];
		}
	}
}

static bool has_counter(const struct weft_abi_comparison *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!list[i].counter || (i && list[i].counter <= list[i - 1].counter))
			return false;
	return true;
}

/* By how much a comparison is off the line from the one before to the one after it, at most. */
static uint64_t find_bend(const struct weft_abi_comparison *list, size_t count, bool is_counter)
{
	uint64_t most = 0;
	for (size_t i = 1; i + 1 < count; i++) {
		const struct weft_abi_comparison *a = &list[i - 1], *b = &list[i + 1];
		struct weft__ticks line;
		weft__format_ticks_init(&line, ticks_of(a, is_counter), a->monotonic_ns,
			ticks_of(b, is_counter) - ticks_of(a, is_counter), b->monotonic_ns - a->monotonic_ns);
		uint64_t bend = distance(
			weft__format_ticks_to_ns(&line, ticks_of(&list[i], is_counter)), list[i].monotonic_ns);
		most = bend > most ? bend : most;
	}
	return most;
}

/* The comparisons' own error, and that of the straight lines between them. */
static uint64_t find_error(
	const struct weft__host_clock *clock, const struct weft_abi_comparison *list)
{
	uint64_t own = 0, xen = find_bend(list, clock->count, false);
	uint64_t counter = clock->has_counter ? find_bend(list, clock->count, true) : 0;
	for (size_t i = 0; i < clock->count; i++)
		own = list[i].error_ns > own ? list[i].error_ns : own;
	return own + (xen > counter ? xen : counter);
}

void weft__format_host_clock_init(
	struct weft__host_clock *clock, struct weft_abi_comparison *list, size_t count)
{
	count = thin_out(list, count);
	clock->count = (uint32_t)count;
	clock->has_counter = false;
	if (!count)
		return;
	clock->offset_ns = (int64_t)(list[0].monotonic_ns - list[0].xen_ns);
	if (list[count - 1].xen_ns - list[0].xen_ns < BASELINE_MIN_NS) {
		clock->count = 1;
		weft__format_ticks_init(clock->xen, list[0].xen_ns, list[0].monotonic_ns, 1, 1);
		clock->error_ns = list[0].error_ns;
		return;
	}
	fill(clock->xen, list, count, false);
	clock->has_counter = has_counter(list, count);
	if (clock->has_counter)
		fill(clock->counter, list, count, true);
	clock->error_ns = find_error(clock, list);
}

/* A rate of the guest's ticks, which are 0 when the guest starts: it may have begun before. */
static struct weft__ticks shifted(const struct weft__ticks *part, int64_t offset_ns)
{
	struct weft__ticks to = *part;
	uint64_t by = (uint64_t)offset_ns;
	to.next = NULL;
	if (offset_ns > 0 && to.base_ticks < by) {
		to.base_ns = weft__format_ticks_to_ns(part, by);
		to.base_ticks = by;
	}
	to.base_ticks -= by;
	to.last_ticks -= to.last_ticks == UINT64_MAX ? 0 : by;
	return to;
}

void weft__format_host_clock_shift(
	struct weft__host_clock *to, const struct weft__host_clock *from, int64_t offset_ns)
{
	const struct weft__ticks *part = from->xen;
	struct weft__ticks *kept = to->xen;
	to->count = from->count;
	to->has_counter = false;
	to->error_ns = from->error_ns;
	to->offset_ns = from->offset_ns;
	while (offset_ns > 0 && part->next && part->last_ticks < (uint64_t)offset_ns)
		part = part->next;
	while (part) {
		const struct weft__ticks *next = part->next;
		*kept = shifted(part, offset_ns);
		kept->next = next ? kept + 1 : NULL;
		kept++;
		part = next;
	}
}

bool weft__format_host_clock_agrees(
	const struct weft__host_clock *clock, uint64_t ticks, uint64_t ns)
{
	return clock->has_counter && weft__format_ticks_agree(clock->counter, ticks, ns, 1000);
}
