/* SPDX-License-Identifier: ISC
 *
 * The reader of files of trace-cmd and perf: open.c describes the trace, reader.c makes its events.
 */
#ifndef WEFT_FORMAT_FTRACE_READER_H
#define WEFT_FORMAT_FTRACE_READER_H

#include "base/index.h"
#include "format/formats.h"
#include "format/ftrace/capture.h"
#include "format/weft/clock/ticks.h"

#define WEFT__FTRACE_TEXT_BYTES 32
#define WEFT__FTRACE_EVENTS_MAX 16 /* that one event of Linux becomes */

struct linux_thread {
	uint32_t key;
	char name[WEFT__FTRACE_NAME_BYTES];
	bool is_known, has_ended, is_new;
	bool is_running, is_runnable, is_calling;
};

struct linux_cpu {
	uint32_t number;
	uint32_t runs; /* 1 + the thread; 0: unknown */
};

struct made_event {
	struct weft_event event;
	char text[WEFT__FTRACE_TEXT_BYTES];
};

struct linux_reader {
	struct weft__reader base;
	struct weft__ftrace_capture capture;
	struct weft__ticks ticks; /* multiplier 0: times are ns */
	struct linux_thread *threads;
	size_t thread_count, thread_capacity;
	struct weft__index index;
	struct linux_cpu *cpus;
	uint32_t cpu_count;
	uint32_t lane_of[WEFT__FTRACE_CPUS_MAX]; /* 1 + the index of the processor's lane; 0: none */
	struct weft_trace_thread *lanes;
	char (*lane_names)[16];
	struct weft_trace_buffer buffer;
	struct weft_loss_period *losses;
	struct made_event made[WEFT__FTRACE_EVENTS_MAX];
	uint32_t made_count, given;
	uint64_t time_ns;
	int error;
};

static inline uint64_t weft__format_ftrace_ns(const struct linux_reader *r, uint64_t time)
{
	return r->ticks.multiplier ? weft__format_ticks_to_ns(&r->ticks, time) : time;
}

/* The next event of the model: WEFT_OK, WEFT_END or an error. */
int weft__format_ftrace_reader_next(struct weft__reader *base, struct weft_event *ret_event);

#endif
