/* SPDX-License-Identifier: ISC
 *
 * Each of the guest's readings between two of dom0's comparisons gives the constant: Xen's time at
 * that value of the counter, minus the guest's time. A reading may be disturbed, and Xen's time
 * bends around the counter, so the constant is the median, and the others show the error. Without
 * such a reading, the one that is closest to a comparison is used.
 */
#include "format/weft/clock/guest_clock.h"

#include <stdlib.h>

#include "format/weft/clock/ticks.h"

/* Linux changes the rate of CLOCK_MONOTONIC by at most 0.05 %, and Xen's time bends less. */
#define SLEW_PART 1000

/* A rate from two instants is wrong because reading the clocks takes time, at most this many ns. */
#define READING_NS      50000
#define BASELINE_MIN_NS UINT64_C(1000000)

/* Dom0's clocks: Xen's time at a value of the counter. */
struct line {
	const struct weft_abi_comparison *list;
	size_t count;
	struct weft__ticks mean; /* outside of the list */
	uint64_t baseline_ns;    /* the time over which that rate was measured */
};

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

static int by_counter(const void *left, const void *right)
{
	const struct weft__guest_reading *l = left, *r = right;
	return l->counter < r->counter ? -1 : l->counter > r->counter;
}

static int by_value(const void *left, const void *right)
{
	const int64_t *l = left, *r = right;
	return *l < *r ? -1 : *l > *r;
}

/* Drops readings that were not taken or that contradict the one before. */
static size_t clean(struct weft__guest_reading *readings, size_t count)
{
	size_t kept = 0;
	qsort(readings, count, sizeof(*readings), by_counter);
	for (size_t i = 0; i < count; i++) {
		const struct weft__guest_reading *last = kept ? &readings[kept - 1] : NULL;
		if (readings[i].counter && readings[i].monotonic_ns &&
			(!last || (readings[i].counter > last->counter &&
						  readings[i].monotonic_ns > last->monotonic_ns)))
			readings[kept++] = readings[i];
	}
	return kept;
}

static bool is_usable(const struct weft_abi_comparison *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!list[i].counter || !list[i].xen_ns ||
			(i && (list[i].counter <= list[i - 1].counter || list[i].xen_ns <= list[i - 1].xen_ns)))
			return false;
	return count > 0;
}

/* The rate is that of the longer time: of dom0's comparisons or of the guest's readings. */
static bool find_line(
	struct line *line, const struct weft__guest_reading *readings, size_t reading_count)
{
	const struct weft_abi_comparison *first = line->list, *last = line->list + line->count - 1;
	const struct weft__guest_reading *begin = readings, *end = readings + reading_count - 1;
	uint64_t host_ns = last->xen_ns - first->xen_ns;
	uint64_t guest_ns = end->monotonic_ns - begin->monotonic_ns;
	line->baseline_ns = host_ns >= guest_ns ? host_ns : guest_ns;
	if (line->baseline_ns < BASELINE_MIN_NS)
		return false;
	if (host_ns >= guest_ns)
		weft__format_ticks_init(
			&line->mean, first->counter, first->xen_ns, last->counter - first->counter, host_ns);
	else
		weft__format_ticks_init(
			&line->mean, first->counter, first->xen_ns, end->counter - begin->counter, guest_ns);
	return true;
}

/* Xen's time, and the time from there to the nearest comparison if it is not between two. */
static uint64_t xen_time(const struct line *line, uint64_t counter, uint64_t *ret_distance_ns)
{
	const struct weft_abi_comparison *first = line->list, *last = line->list + line->count - 1;
	struct weft__ticks part = line->mean;
	*ret_distance_ns = 0;
	if (counter >= first->counter && counter <= last->counter && line->count > 1) {
		const struct weft_abi_comparison *next = first + 1;
		while (next->counter < counter)
			next++;
		weft__format_ticks_init(&part, next[-1].counter, next[-1].xen_ns,
			next->counter - next[-1].counter, next->xen_ns - next[-1].xen_ns);
		return weft__format_ticks_to_ns(&part, counter);
	}
	if (counter > last->counter) {
		part.base_ticks = last->counter;
		part.base_ns = last->xen_ns;
	}
	uint64_t ns = weft__format_ticks_to_ns(&part, counter);
	*ret_distance_ns = distance(ns, part.base_ns);
	return ns;
}

static uint64_t error_of(const struct line *line)
{
	uint64_t most = 0;
	for (size_t i = 0; i < line->count; i++)
		most = line->list[i].error_ns > most ? line->list[i].error_ns : most;
	return most;
}

/* The median, and by how much nine in ten values are off it at most. */
static struct weft__guest_clock middle_of(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	int64_t low = values[count / 20], high = values[count - 1 - count / 20];
	int64_t middle = values[count / 2];
	uint64_t below = (uint64_t)middle - (uint64_t)low, above = (uint64_t)high - (uint64_t)middle;
	return (struct weft__guest_clock){middle, below > above ? below : above};
}

static struct weft__guest_clock find_clock(
	const struct line *line, const struct weft__guest_reading *readings, size_t count, int64_t *all)
{
	struct weft__guest_clock nearest = {0};
	uint64_t least = UINT64_MAX, off;
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t xen_ns = xen_time(line, readings[i].counter, &off);
		int64_t offset = (int64_t)(xen_ns - readings[i].monotonic_ns);
		if (!off)
			all[used++] = offset;
		if (off < least) {
			least = off;
			nearest = (struct weft__guest_clock){
				offset, off / SLEW_PART + off / (line->baseline_ns / READING_NS)};
		}
	}
	return used ? middle_of(all, used) : nearest;
}

struct weft__guest_clock weft__format_guest_clock_find(struct weft__guest_reading *readings,
	size_t count, const struct weft_abi_comparison *comparisons, size_t comparison_count)
{
	struct weft__guest_clock clock = {0};
	struct line line = {.list = comparisons, .count = comparison_count};
	count = clean(readings, count);
	if (!count || !is_usable(comparisons, comparison_count) || !find_line(&line, readings, count))
		return clock;
	int64_t *all = malloc(count * sizeof(*all));
	if (!all)
		return clock;
	clock = find_clock(&line, readings, count, all);
	clock.error_ns += error_of(&line);
	free(all);
	return clock;
}
