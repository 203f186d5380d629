/* SPDX-License-Identifier: ISC */
#include "part.h"

#include <string.h>

int cut_part_begin(const struct cut_part *part)
{
	struct weft_event event;
	int status = part->from ? WEFT_OK : WEFT_END;
	while (status == WEFT_OK) {
		status = weft_decoder_next(part->from->decoder, &event);
		if (status == WEFT_OK)
			status = weft_cut_add_state(part->cut, &event);
	}
	return status == WEFT_END ? WEFT_OK : status;
}

/* The losses of the whole trace are known if there is a checkpoint; otherwise later events show
 * them. */
int cut_part_add(const struct cut_part *part, const struct weft_event *event)
{
	const bool is_past_range =
		part->range->end_ns != UINT64_MAX && event->time_ns >= part->range->end_ns;
	const int status = weft_cut_add(part->cut, event, weft_decoder_describe(part->trace->decoder));
	return status == WEFT_OK && part->from && is_past_range ? WEFT_END : status;
}

int cut_part_finish(const struct cut_part *part)
{
	struct weft_trace_description description = *weft_decoder_describe(part->trace->decoder);
	if (part->from) {
		memcpy(description.losses, part->from->found.losses, sizeof(description.losses));
		description.loss_periods = part->from->found.loss_periods;
		description.loss_period_count = part->from->found.loss_period_count;
	}
	return weft_cut_finish(part->cut, &description);
}
