/* SPDX-License-Identifier: ISC
 *
 * Writes the state at the start of a cut as events that are marked as a rundown.
 */
#ifndef WEFT_EXPORT_CUT_RUNDOWN_H
#define WEFT_EXPORT_CUT_RUNDOWN_H

#include "export/cut_alive.h"

/* Takes the events of a rundown. */
struct weft__rundown_sink {
	int (*add)(void *context, const struct weft_event *event);
	void *context;
};

/* The trace before the rundown, of which events may be missing. */
struct weft__rundown_past {
	const struct weft_trace_description *trace; /* its losses and levels */
	uint64_t read_ns;                           /* events before that were not read */
};

/* Writes tasks in the order of their ids, then counters, then threads; all events have time
 * `time_ns`. */
int weft__export_rundown_write(struct weft__alive *alive, const struct weft__rundown_past *past,
	uint64_t time_ns, const struct weft__rundown_sink *sink);

#endif
