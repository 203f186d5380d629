/* SPDX-License-Identifier: ISC
 *
 * A part of a trace as a trace of its own, in weft's format, whatever format it was in.
 *
 *     weft_cut_create → add … add → finish → destroy
 *
 * Every event of the trace is given, from its first on; those of the range are written as they are,
 * at their times. What comes before the range is not written but remembered, and the part begins
 * with a rundown of it, marked as such: the tasks that are alive then (kind, label, age, what they
 * wait for), those that had ended but are named in the range, who runs on each thread, and the
 * counters' values. A part that begins where the trace does has no rundown, and equals it.
 *
 * The result is a stream (docs/buffer.md). It is handed out in pieces; nothing here opens a file,
 * prints or exits. A cut belongs to one thread at a time. Its memory is in proportion to the number
 * of tasks, not of events.
 */
#ifndef WEFT_CUT_H
#define WEFT_CUT_H

#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/event.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_cut_range {
	uint64_t start_ns; /* on the trace's clock */
	uint64_t end_ns;   /* not part of it, unless it is UINT64_MAX */
};

/* Where the bytes go. */
struct weft_cut_sink {
	/* Appends. Answers 0, or a negative error that ends the cut. */
	int (*append)(void *context, const void *bytes, size_t size);
	void *context;
};

struct weft_cut_summary {
	uint64_t events;  /* of the range */
	uint64_t rundown; /* events that tell what was before it */
	uint64_t bytes;
};

struct weft_cut;

/* `source`, which may be NULL, names what is cut: kept in the result, cut itself at 255 bytes. */
int weft_cut_create(const struct weft_cut_range *range, const char *source,
	const struct weft_cut_sink *sink, struct weft_cut **ret_cut);
void weft_cut_destroy(struct weft_cut *cut);

/* The next event in time order, from a trace described so. WEFT_OK; WEFT_END: it is past the range,
 * and so are all to come; or an error, after which only destroy is allowed: WEFT_ERROR_ARGUMENT if
 * it is before the last one or of no type that exists, WEFT_ERROR_UNSUPPORTED if it is of a trace
 * of several buffers. */
int weft_cut_add(struct weft_cut *cut, const struct weft_event *event,
	const struct weft_trace_description *description);

/* Writes what is held back, and the rundown. `description` as the decoder has it now: its threads
 * and levels are kept, and its losses; of those whose times are known, the range's. */
int weft_cut_finish(struct weft_cut *cut, const struct weft_trace_description *description);

/* What was written so far. */
struct weft_cut_summary weft_cut_summarize(const struct weft_cut *cut);

#ifdef __cplusplus
}
#endif
#endif
