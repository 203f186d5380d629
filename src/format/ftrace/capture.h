/* SPDX-License-Identifier: ISC
 *
 * A file of trace-cmd (trace.dat) or of perf (perf.data): what Linux's scheduler and its system
 * calls said on all processors, in the order of time.
 *
 * The bytes may be hostile, and may change while they are read.
 */
#ifndef WEFT_FORMAT_FTRACE_CAPTURE_H
#define WEFT_FORMAT_FTRACE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/ftrace/page.h"

#define WEFT__FTRACE_CLOCK_BYTES 32

/* Events of processors with higher numbers are damage. */
#define WEFT__FTRACE_CPUS_MAX 4096u

/* Where the data of an event are. */
struct weft__ftrace_position {
	uint64_t time;
	uint64_t at;   /* of a loss: the number of lost events */
	uint32_t size; /* 0: it is a loss */
	uint32_t cpu;
};

struct weft__ftrace_capture {
	const uint8_t *bytes;
	size_t size;
	struct weft__ftrace_formats formats;
	char clock[WEFT__FTRACE_CLOCK_BYTES]; /* "x86-tsc", "mono", …; "": unknown */
	struct weft__ftrace_position *list;
	size_t count, capacity, next;
	size_t damaged;    /* parts that could not be read */
	const char *wrong; /* why the file cannot be read */
};

/* True if the file begins as one of these. */
bool weft__format_ftrace_is_capture(const uint8_t *bytes, size_t size);

/* Reads all positions. 0; WEFT_ERROR_FORMAT with a text in `wrong`; or WEFT_ERROR_MEMORY or _LIMIT.
 * The bytes are borrowed. To be finished in each case. */
int weft__format_ftrace_capture_open(
	const uint8_t *bytes, size_t size, struct weft__ftrace_capture *ret_capture);
void weft__format_ftrace_capture_finish(struct weft__ftrace_capture *capture);

/* The next event, and the processor on which it happened. False at the end. */
bool weft__format_ftrace_capture_next(
	struct weft__ftrace_capture *capture, struct weft__ftrace_event *ret_event, uint32_t *ret_cpu);

/* ---- For the readers of the two formats ---- */

/* A part of the file that is read from its begin on. */
struct weft__ftrace_cursor {
	const uint8_t *bytes;
	size_t size, at;
	bool is_short; /* it ended too early */
};

/* The next bytes, or NULL. */
const uint8_t *weft__format_ftrace_take(struct weft__ftrace_cursor *cursor, uint64_t size);
/* The next number of 1, 2, 4 or 8 bytes; 0 if there is none. */
uint64_t weft__format_ftrace_take_number(struct weft__ftrace_cursor *cursor, unsigned bytes);
/* The next text and its NUL; "" if there is none. */
const char *weft__format_ftrace_take_text(struct weft__ftrace_cursor *cursor);

/* The kernel's texts, which both formats have: a header, and the formats of all events. */
void weft__format_ftrace_learn_header(
	struct weft__ftrace_formats *formats, struct weft__ftrace_cursor *cursor);
void weft__format_ftrace_learn_systems(
	struct weft__ftrace_formats *formats, struct weft__ftrace_cursor *cursor);
void weft__format_ftrace_skip_events(struct weft__ftrace_cursor *cursor);

/* Adds an event of a known kind; ignores others. 0 or an error. */
int weft__format_ftrace_add(struct weft__ftrace_capture *capture, uint64_t time,
	const uint8_t *data, size_t size, uint32_t cpu);
int weft__format_ftrace_add_loss(
	struct weft__ftrace_capture *capture, uint64_t time, uint64_t count, uint32_t cpu);

int weft__format_ftrace_open_trace_dat(struct weft__ftrace_capture *capture);
int weft__format_ftrace_open_perf_data(struct weft__ftrace_capture *capture);

#define WEFT__FTRACE_TRACE_DAT "\x17\x08\x44tracing"
#define WEFT__FTRACE_PERF_DATA "PERFILE2"

#endif
