/* SPDX-License-Identifier: ISC
 *
 * Writes a part of a trace, of any format, as a trace of its own in weft's format.
 *
 *     weft_cut_create → add … add → finish → destroy
 *     weft_cut_create → add … flush → add … flush → finish → destroy    one that is followed
 *
 * The caller adds every event of the trace from the first on. Events in the range are written with
 * their times unchanged. Events before the range are not written; the cut keeps the state that they
 * lead to and writes it as a rundown at the beginning: the tasks that are alive (kind, label, age,
 * what they wait for), ended tasks that the range still names, the task that runs on each thread,
 * and the counters' values. A cut that begins where the trace does has no rundown, and equals the
 * trace.
 *
 * The result is a stream (docs/buffer.md), which is handed out in pieces; nothing here opens a
 * file, prints or exits. A cut belongs to one thread at a time. Its memory is in proportion to the
 * number of tasks, not of events.
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
	uint64_t end_ns;   /* exclusive, unless it is UINT64_MAX */
	/* Only events from then on are added, so counters have no known value before they are set. 0:
	 * all are added. */
	uint64_t read_ns;
};

/* Receives the bytes. */
struct weft_cut_sink {
	/* Appends. Returns 0, or a negative error, which ends the cut. */
	int (*append)(void *context, const void *bytes, size_t size);
	void *context;
};

struct weft_cut_summary {
	uint64_t events;  /* of the range */
	uint64_t rundown; /* events that describe the state before it */
	uint64_t bytes;
};

struct weft_cut;

/* `source` is the name of the original trace, kept in the result, shortened to 255 bytes; it may be
 * NULL. */
int weft_cut_create(const struct weft_cut_range *range, const char *source,
	const struct weft_cut_sink *sink, struct weft_cut **ret_cut);
void weft_cut_destroy(struct weft_cut *cut);

/* Adds the next event in time order, from a trace with that description. WEFT_OK; WEFT_END if the
 * event and all later ones are past the range; or an error, after which only destroy is allowed:
 * WEFT_ERROR_ARGUMENT if the event is earlier than the one before or has an unknown type,
 * WEFT_ERROR_UNSUPPORTED if the trace has several buffers. */
int weft_cut_add(struct weft_cut *cut, const struct weft_event *event,
	const struct weft_trace_description *description);

/* Adds an event of a checkpoint (checkpoint.h), instead of all events of the trace before that;
 * then the caller adds those from the checkpoint's time on. 0 or an error. */
int weft_cut_add_state(struct weft_cut *cut, const struct weft_event *event);

/* Writes the events that were added, for readers that follow the result while it grows (growing.h),
 * and a mark: no event before `mark_ns` will be added. Only for a cut that begins where the trace
 * does. `description` is as for weft_cut_add(). 0 or an error. */
int weft_cut_flush(
	struct weft_cut *cut, uint64_t mark_ns, const struct weft_trace_description *description);

/* Writes events that are held back, and the rundown. `description` is the decoder's at this time:
 * its threads, its levels and its losses are kept. Losses whose times are known are kept only where
 * they lie in the range. */
int weft_cut_finish(struct weft_cut *cut, const struct weft_trace_description *description);

/* A summary of what was written so far. */
struct weft_cut_summary weft_cut_summarize(const struct weft_cut *cut);

#ifdef __cplusplus
}
#endif
#endif
