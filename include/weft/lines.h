/* SPDX-License-Identifier: ISC
 *
 * Events as lines: the output of `weft dump`, as JSON for programs and as text for people. Both are
 * generated from the table of events.
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
#include <weft/xentrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The settings that all lines of a trace share. */
struct weft_lines {
	const struct weft_trace_description *trace;
	uint64_t start_ns; /* times in text count from here */
	bool has_threads;  /* the trace has several: name the event's */
	bool has_processes;
};

void weft_lines_init(
	struct weft_lines *lines, const struct weft_trace_description *trace, uint64_t start_ns);

/* Appends `{"time":…,"event":…,…}` and a newline. Times are ns on the trace's own clock; "no task"
 * is null. `thread` is there if the trace has several threads; `process` (its pid) and `buffer`, in
 * which the ids are unique, if it has several buffers. */
void weft_lines_add_json(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text);

/* Appends the time in seconds from start_ns, the thread if there are several, the event, details,
 * and a newline. */
void weft_lines_add_text(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text);

/* The same for a record of Xen. Its time counts from the trace's first record. */
void weft_lines_add_xentrace_json(
	const struct weft_xentrace_record *record, struct weft_text *text);
void weft_lines_add_xentrace_text(
	const struct weft_xentrace_record *record, struct weft_text *text);

#ifdef __cplusplus
}
#endif
#endif
