/* SPDX-License-Identifier: ISC
 *
 * Events as lines: what `weft dump` prints, for programs and for people. Both are generated from
 * the table of events.
 *
 * Nothing here does I/O: lines are appended to the caller's text.
 */
#ifndef WEFT_LINES_H
#define WEFT_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/event.h>
#include <weft/text.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is the same for all lines of a trace. */
struct weft_lines {
	const struct weft_trace_description *trace;
	uint64_t start_ns; /* text shows times from here */
	bool has_threads;  /* to tell apart */
	bool has_processes;
};

void weft_lines_init(
	struct weft_lines *lines, const struct weft_trace_description *trace, uint64_t start_ns);

/* `{"time":…,"event":…,…}` and a newline. Times are ns on the trace's own clock; "no task" is null;
 * `thread` is there if the trace has more than one, `process` (its pid) likewise. */
void weft_lines_add_json(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text);

/* Time in seconds from start_ns, thread if there are several, event, details; and a newline. */
void weft_lines_add_text(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text);

#ifdef __cplusplus
}
#endif
#endif
