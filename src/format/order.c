/* SPDX-License-Identifier: ISC
 *
 * A stable bottom-up merge sort. It skips the merge of two halves that are in order already,
 * because even unordered traces are nearly sorted.
 *
 * Events of one writer are not sorted: a clock that was set back by an hour would put the end of
 * the trace before its beginning. The clock is repaired instead.
 */
#include "format/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/span.h"

#define STRAY_NS    UINT64_C(1000000000)
#define STRAY_SHARE 64 /* at most one position in 64 is a stray */

int weft__format_order_add(struct weft__order *order, struct weft__position position)
{
	if (order->count == order->capacity) {
		size_t capacity = weft__array_next_capacity(order->capacity, order->count + 1);
		int error = weft__array_resize(&order->list, capacity, sizeof(*order->list));
		if (error)
			return error;
		order->capacity = capacity;
	}
	order->list[order->count++] = position;
	return 0;
}

/* Merges list[start, middle) and list[middle, end) through `room` for the left half. */
static void merge(struct weft__position *list, struct weft__position *room, size_t start,
	size_t middle, size_t end)
{
	size_t left_count = middle - start, left = 0, right = middle, out = start;
	if (list[middle - 1].time_ns <= list[middle].time_ns)
		return;
	memcpy(room, list + start, left_count * sizeof(*list));
	while (left < left_count && right < end)
		list[out++] = list[right].time_ns < room[left].time_ns ? list[right++] : room[left++];
	memcpy(list + out, room + left, (left_count - left) * sizeof(*list));
}

int weft__format_order_sort(struct weft__order *order)
{
	struct weft__position *room = NULL;
	size_t n = order->count;
	/* A merge copies only its left half, which has fewer than n positions. */
	int error = weft__array_resize(&room, n, sizeof(*room));
	if (error)
		return error;
	for (size_t width = 1; width < n; width *= 2)
		for (size_t start = 0; n - start > width; start += 2 * width) {
			size_t end = n - start > 2 * width ? start + 2 * width : n;
			merge(order->list, room, start, start + width, end);
			if (end == n)
				break;
		}
	free(room);
	return 0;
}

static bool are_far(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) > STRAY_NS;
}

/* The first and the last position have one neighbour each. They are compared with the two nearest
 * positions instead, and are strays only if they are also out of order: a trace may well begin or
 * end with one event that is far from the rest. */
static bool is_stray(const struct weft__order *order, size_t i)
{
	size_t last = order->count - 1;
	uint64_t time = order->list[i].time_ns;
	uint64_t before = order->list[i > 0 ? i - 1 : i + 2].time_ns;
	uint64_t after = order->list[i < last ? i + 1 : i - 2].time_ns;
	if ((i == 0 && time < after) || (i == last && time > before))
		return false;
	return are_far(time, before) && are_far(time, after) && !are_far(before, after);
}

static size_t count_strays(const struct weft__order *order)
{
	size_t count = 0;
	for (size_t i = 0; i < order->count; i++)
		count += is_stray(order, i);
	return count;
}

/* Called before sorting, while the positions are in the order of the input. */
static void hold_strays(struct weft__order *order, struct weft_diagnostics *diagnostics)
{
	if (order->count < STRAY_SHARE || count_strays(order) > order->count / STRAY_SHARE)
		return;
	for (size_t i = 0; i < order->count; i++)
		if (is_stray(order, i)) {
			weft_diagnostics_add(diagnostics, order->list[i].offset,
				"a time far from those of the events before and after; replaced by the one before");
			order->list[i].time_ns = order->list[i > 0 ? i - 1 : 1].time_ns;
		}
}

void weft__format_order_find_span(
	const struct weft__order *order, size_t *ret_first, size_t *ret_last)
{
	size_t first = 0, best = 0, most = 0;
	for (size_t last = 0; last < order->count; last++) {
		while (order->list[last].time_ns - order->list[first].time_ns > WEFT__SPAN_NS)
			first++;
		if (last - first + 1 > most) {
			most = last - first + 1;
			best = first;
		}
	}
	*ret_first = best;
	*ret_last = best + most - 1;
}

static void hold_at(struct weft__order *order, size_t from, size_t to, uint64_t time_ns,
	struct weft_diagnostics *diagnostics)
{
	for (size_t i = from; i < to; i++) {
		weft_diagnostics_add(diagnostics, order->list[i].offset, WEFT__SPAN_MESSAGE);
		order->list[i].time_ns = time_ns;
	}
}

/* ---- The clock of one writer ---- */

/* A clock that goes back by less is not quite even, and catches up soon. */
#define UNEVEN_NS UINT64_C(1000000)

/* Times in the order of signed numbers: the earliest negative one is 0. */
static uint64_t from_zero(uint64_t time_ns)
{
	return time_ns + WEFT__SPAN_NS;
}

static void begin_clock(struct weft__writer_clock *clock, const struct weft__position *position,
	struct weft_diagnostics *diagnostics)
{
	clock->any = true;
	clock->last_ns = position->time_ns;
	if (position->time_ns < WEFT__NEGATIVE_NS)
		return;
	clock->last_ns = 0;
	clock->shift_ns = 0 - position->time_ns;
	weft_diagnostics_add_ns(diagnostics, position->offset,
		"the clock shows times before its zero; all times are moved forward", clock->shift_ns);
}

void weft__format_writer_clock_next(struct weft__writer_clock *clock,
	struct weft__position *position, bool is_brief, struct weft_diagnostics *diagnostics)
{
	if (!clock->any)
		begin_clock(clock, position, diagnostics);
	const uint64_t last = from_zero(clock->last_ns);
	uint64_t time = from_zero(position->time_ns) + clock->shift_ns;
	if (time < last) {
		const uint64_t step = last - time;
		const bool is_uneven = is_brief || step < UNEVEN_NS;
		weft_diagnostics_add_ns(diagnostics, position->offset,
			is_uneven ? "the clock goes back for a moment; its events get the time before it"
					  : "the clock was set back; later events keep their order and distances",
			step);
		clock->shift_ns += is_uneven ? 0 : step;
		time = last;
	}
	clock->last_ns = position->time_ns = time - WEFT__SPAN_NS;
}

/* True if only the time of this position is before that of the one before. */
static bool is_brief(
	const struct weft__order *order, size_t i, const struct weft__writer_clock *clock)
{
	return i + 1 < order->count &&
		   from_zero(order->list[i + 1].time_ns) + clock->shift_ns >= from_zero(clock->last_ns);
}

static void keep_order(struct weft__order *order, struct weft_diagnostics *diagnostics)
{
	struct weft__writer_clock clock = {0};
	for (size_t i = 0; i < order->count; i++)
		weft__format_writer_clock_next(
			&clock, &order->list[i], is_brief(order, i, &clock), diagnostics);
}

void weft__format_order_settle(struct weft__order *order, struct weft_diagnostics *diagnostics)
{
	size_t first, last;
	hold_strays(order, diagnostics);
	keep_order(order, diagnostics);
	if (order->count == 0)
		return;
	weft__format_order_find_span(order, &first, &last);
	hold_at(order, 0, first, order->list[first].time_ns, diagnostics);
	hold_at(order, last + 1, order->count, order->list[last].time_ns, diagnostics);
}

void weft__format_order_finish(struct weft__order *order)
{
	free(order->list);
}
