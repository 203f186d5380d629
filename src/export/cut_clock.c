/* SPDX-License-Identifier: ISC
 *
 * Events have the ticks that their times were computed from. Other times, such as those of losses,
 * and times that were repaired, are converted back by bisection.
 */
#include "export/cut_clock.h"

#include <string.h>

#include "model/clock_ticks.h"

static uint64_t to_ns(const struct weft_trace_description *trace, uint64_t ticks)
{
	return trace->ticks ? trace->ticks->to_ns(trace->ticks->clock, ticks) : ticks;
}

uint64_t weft__export_cut_ticks(const struct weft_trace_description *trace, uint64_t time_ns)
{
	return trace->ticks ? trace->ticks->at(trace->ticks->clock, time_ns) : time_ns;
}

uint64_t weft__export_cut_event_ticks(
	const struct weft_trace_description *trace, const struct weft_event *event)
{
	bool is_known = trace->ticks && to_ns(trace, event->ticks) == event->time_ns;
	return is_known ? event->ticks : weft__export_cut_ticks(trace, event->time_ns);
}

uint64_t weft__export_cut_round(const struct weft_trace_description *trace, uint64_t time_ns)
{
	return to_ns(trace, weft__export_cut_ticks(trace, time_ns));
}

struct weft__cut_span weft__export_cut_span(
	const struct weft_trace_description *trace, const struct weft_event *event)
{
	const uint64_t *ticks = event->span_ticks;
	struct weft__cut_span span = {.begin = event->begin_ns, .end = event->end_ns};
	if (!trace->ticks)
		return span;
	span.is_pair =
		to_ns(trace, ticks[0]) != event->begin_ns || to_ns(trace, ticks[1]) != event->end_ns;
	if (span.is_pair) {
		span.now_ticks = ticks[0];
		span.now_ns = to_ns(trace, ticks[0]);
	} else {
		span.begin = ticks[0];
		span.end = ticks[1];
	}
	return span;
}

/* Makes a tick a nanosecond of the trace's clock, and keeps the clock's epoch. */
static void describe_ns(
	const struct weft_clock *clock, uint64_t start_ns, struct weft_abi_buffer *header)
{
	uint64_t start = start_ns ? start_ns : 1;
	header->clock_hz = 1000000000;
	header->clock = WEFT_ABI_CLOCK_CALLER;
	if (clock->epoch == WEFT_EPOCH_UNKNOWN)
		start = 0;
	else
		header->clock =
			clock->epoch == WEFT_EPOCH_UNIX ? WEFT_ABI_CLOCK_UNIX : WEFT_ABI_CLOCK_MONOTONIC;
	header->start.ticks = header->start.monotonic_ns = start;
	if (clock->epoch == WEFT_EPOCH_UNIX)
		header->start.unix_ns = start;
	else if (clock->offset_ns)
		header->start.unix_ns = start + (uint64_t)clock->offset_ns;
}

void weft__export_cut_clock_describe(
	const struct weft_trace_description *trace, uint64_t start_ns, struct weft_abi_buffer *header)
{
	struct weft_abi_buffer whole;
	if (!trace->ticks) {
		describe_ns(&trace->clock, start_ns, header);
		return;
	}
	memcpy(&whole, trace->ticks->header, sizeof(whole));
	header->clock = whole.clock;
	header->clock_hz = whole.clock_hz;
	header->start = whole.start;
	header->second.ticks = trace->ticks->last_ticks;
	header->second.monotonic_ns = trace->ticks->last_monotonic_ns;
	/* Neither a rate nor two readings: the whole has been reported, and its guess is kept. */
	if (!whole.clock_hz && header->second.monotonic_ns <= header->start.monotonic_ns)
		header->clock_hz = trace->clock.hz;
	header->time_base = whole.time_base;
	header->time_offset_ns = whole.time_offset_ns;
	header->offset_error_ns = whole.offset_error_ns;
	header->comparison_count = whole.comparison_count;
	memcpy(header->comparisons, whole.comparisons, sizeof(header->comparisons));
}
