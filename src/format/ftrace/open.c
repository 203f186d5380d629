/* SPDX-License-Identifier: ISC
 *
 * Opens files of trace-cmd and perf as traces: their clock, a lane for each processor, and losses.
 */
#include "format/ftrace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/diagnostics.h"

#define COUNTER    "x86-tsc"
#define ASSUMED_HZ UINT64_C(2400000000)

static int find_cpus(struct linux_reader *r)
{
	for (size_t i = 0; i < r->capture.count; i++)
		r->lane_of[r->capture.list[i].cpu] = 1;
	r->lane_of[0] |= !r->capture.count;
	for (uint32_t i = 0; i < WEFT__FTRACE_CPUS_MAX; i++)
		if (r->lane_of[i])
			r->lane_of[i] = ++r->cpu_count;
	r->cpus = calloc(r->cpu_count, sizeof(*r->cpus));
	for (uint32_t i = 0; i < WEFT__FTRACE_CPUS_MAX && r->cpus; i++)
		if (r->lane_of[i])
			r->cpus[r->lane_of[i] - 1].number = i;
	return r->cpus ? 0 : WEFT_ERROR_MEMORY;
}

/* A loss lasts until the next event of its processor. */
static int describe_losses(struct linux_reader *r, struct weft_trace_description *description)
{
	const struct weft__ftrace_position *list = r->capture.list;
	uint64_t *next = calloc(r->cpu_count, sizeof(*next));
	uint32_t count = 0;
	for (size_t i = 0; i < r->capture.count; i++)
		count += !list[i].size;
	r->losses = calloc(count + (size_t)1, sizeof(*r->losses));
	description->loss_period_count = r->losses && next ? count : 0;
	for (size_t i = r->capture.count; i > 0 && r->losses && next; i--) {
		const struct weft__ftrace_position *p = &list[i - 1];
		const uint32_t lane = r->lane_of[p->cpu] - 1;
		const uint64_t time_ns = weft__format_ftrace_ns(r, p->time);
		if (!p->size) {
			r->losses[--count] = (struct weft_loss_period){
				time_ns, next[lane] ? next[lane] : time_ns, p->at, lane, WEFT_LOSS_FULL};
			description->losses[WEFT_LOSS_FULL] += p->at ? p->at : 1;
		}
		next[lane] = time_ns;
	}
	free(next);
	description->loss_periods = r->losses;
	return description->loss_period_count || r->losses ? 0 : WEFT_ERROR_MEMORY;
}

static int describe_lanes(struct linux_reader *r, struct weft_trace_description *description)
{
	r->lanes = calloc(r->cpu_count, sizeof(*r->lanes));
	r->lane_names = calloc(r->cpu_count, sizeof(*r->lane_names));
	if (!r->lanes || !r->lane_names)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < r->cpu_count; i++) {
		snprintf(r->lane_names[i], sizeof(*r->lane_names), "CPU %u", r->cpus[i].number);
		r->lanes[i] =
			(struct weft_trace_thread){.name = r->lane_names[i], .tid = r->cpus[i].number};
	}
	r->buffer = (struct weft_trace_buffer){.process = "Linux", .host = "", .file = ""};
	description->buffers = &r->buffer;
	description->buffer_count = 1;
	description->threads = r->lanes;
	description->thread_count = r->cpu_count;
	return 0;
}

/* Times of the counter count from the first event on, as those of Xen's own trace do. */
static void describe_clock(struct linux_reader *r, struct weft_clock *clock)
{
	const bool is_monotonic = strcmp(r->capture.clock, "mono") == 0;
	clock->name = is_monotonic ? "monotonic" : r->capture.clock;
	clock->epoch = is_monotonic ? WEFT_EPOCH_MONOTONIC : WEFT_EPOCH_UNKNOWN;
	clock->hz = 1000000000;
	if (strcmp(r->capture.clock, COUNTER) != 0)
		return;
	clock->name = "tsc";
	clock->rate = r->base.input.hz ? WEFT_RATE_GIVEN : WEFT_RATE_ASSUMED;
	clock->hz = r->base.input.hz ? r->base.input.hz : ASSUMED_HZ;
	weft__format_ticks_init(&r->ticks, r->capture.count ? r->capture.list[0].time : 0, 0, clock->hz,
		UINT64_C(1000000000));
}

static void linux_close(struct weft__reader *base)
{
	struct linux_reader *r = (struct linux_reader *)base;
	weft__format_ftrace_capture_finish(&r->capture);
	if (r->index.slots)
		weft__index_finish(&r->index);
	free(r->threads);
	free(r->cpus);
	free(r->lanes);
	free(r->lane_names);
	free(r->losses);
	free(r);
}

static int fill(struct linux_reader *r, const struct weft__input *input)
{
	int error = weft__format_ftrace_capture_open(input->bytes, input->size, &r->capture);
	if (r->capture.wrong)
		weft_diagnostics_add(input->diagnostics, 0, r->capture.wrong);
	if (r->capture.damaged)
		weft_diagnostics_add(input->diagnostics, 0, "parts of the file are damaged or missing");
	if (error)
		return error;
	error = weft__index_init(&r->index);
	if (!error)
		error = find_cpus(r);
	if (error)
		return error;
	describe_clock(r, &input->description->clock);
	error = describe_lanes(r, input->description);
	return error ? error : describe_losses(r, input->description);
}

static int linux_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct linux_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	int error = fill(r, input);
	if (error)
		linux_close(&r->base);
	else
		*ret_reader = &r->base;
	return error;
}

static bool is_trace_dat(const uint8_t *bytes, size_t size)
{
	return weft__format_ftrace_is_capture(bytes, size) && bytes[0] != 'P';
}

static bool is_perf_data(const uint8_t *bytes, size_t size)
{
	return weft__format_ftrace_is_capture(bytes, size) && bytes[0] == 'P';
}

const struct weft__format weft__format_trace_dat = {
	.name = "trace-dat",
	.probe = is_trace_dat,
	.open = linux_open,
	.next = weft__format_ftrace_reader_next,
	.close = linux_close,
};

const struct weft__format weft__format_perf_data = {
	.name = "perf-data",
	.probe = is_perf_data,
	.open = linux_open,
	.next = weft__format_ftrace_reader_next,
	.close = linux_close,
};
