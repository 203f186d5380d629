/* SPDX-License-Identifier: ISC
 *
 * A stable bottom-up merge sort that leaves neighbours alone which are in order already: such
 * traces are nearly sorted.
 */
#include "format/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int weft__order_add(struct weft__order *order, struct weft__position position)
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

int weft__order_sort(struct weft__order *order)
{
	struct weft__position *room = NULL;
	size_t n = order->count;
	/* The left half of a merge is never more than a power of two below n. */
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

void weft__order_finish(struct weft__order *order)
{
	free(order->list);
}
