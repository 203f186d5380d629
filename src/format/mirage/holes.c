/* SPDX-License-Identifier: ISC
 *
 * A hole lasts from the last event before it to the first one after it.
 */
#include "format/mirage/holes.h"

#include <stdlib.h>

#include "base/array.h"

static int add_hole(struct weft__mirage_holes *holes, const struct weft_loss_period *period,
	struct weft_trace_description *description)
{
	const struct weft__column column = {&holes->list, sizeof(*holes->list)};
	int error = weft__columns_reserve(&column, 1, &holes->capacity, holes->count + (size_t)1);
	if (error)
		return error;
	holes->list[holes->count++] = *period;
	description->loss_periods = holes->list;
	description->loss_period_count = holes->count;
	return 0;
}

int weft__format_mirage_holes_begin(
	struct weft__mirage_holes *holes, uint64_t first_ns, struct weft_trace_description *description)
{
	const struct weft_loss_period period = {
		.start = first_ns, .end = first_ns, .cause = WEFT_LOSS_OVERWRITTEN};
	return add_hole(holes, &period, description);
}

int weft__format_mirage_holes_close(
	struct weft__mirage_holes *holes, uint64_t first_ns, struct weft_trace_description *description)
{
	const struct weft_loss_period period = {
		.start = holes->any && holes->last_ns < first_ns ? holes->last_ns : first_ns,
		.end = first_ns,
		.count = holes->packets,
		.cause = WEFT_LOSS_MISSING_PACKETS,
	};
	description->losses[WEFT_LOSS_MISSING_PACKETS] += holes->packets;
	holes->packets = 0;
	return period.count ? add_hole(holes, &period, description) : 0;
}

void weft__format_mirage_holes_finish(struct weft__mirage_holes *holes)
{
	free(holes->list);
}
