/* SPDX-License-Identifier: ISC
 *
 * The clock of a part of a trace. A trace in weft's format keeps its ticks and their readings, so
 * that other files that are opened with the part move both as they would move the whole trace. A
 * part of any other trace counts in ns.
 */
#ifndef WEFT_EXPORT_CUT_CLOCK_H
#define WEFT_EXPORT_CUT_CLOCK_H

#include <weft/event.h>
#include <weft/trace.h>

#include "abi/buffer_abi.h"

/* Writes the clock into the part's header; `start_ns` is the first time in it. */
void weft__export_cut_clock_describe(
	const struct weft_trace_description *trace, uint64_t start_ns, struct weft_abi_buffer *header);

/* The first ticks that are not before a time. */
uint64_t weft__export_cut_ticks(const struct weft_trace_description *trace, uint64_t time_ns);
/* The ticks of an event's time. */
uint64_t weft__export_cut_event_ticks(
	const struct weft_trace_description *trace, const struct weft_event *event);
/* The time of the first ticks that are not before a time. */
uint64_t weft__export_cut_round(const struct weft_trace_description *trace, uint64_t time_ns);

/* The clock of a span's begin and end, in the part. */
struct weft__cut_span {
	uint64_t begin, end;
	bool is_pair; /* they are ns, of a clock that shows now_ns at now_ticks */
	uint64_t now_ticks, now_ns;
};
struct weft__cut_span weft__export_cut_span(
	const struct weft_trace_description *trace, const struct weft_event *event);

#endif
