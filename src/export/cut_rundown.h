/* SPDX-License-Identifier: ISC
 *
 * What was there before a part of a trace, as events that are marked as such.
 */
#ifndef WEFT_EXPORT_CUT_RUNDOWN_H
#define WEFT_EXPORT_CUT_RUNDOWN_H

#include "export/cut_alive.h"

/* Where they go. */
struct weft__rundown_sink {
	int (*add)(void *context, const struct weft_event *event);
	void *context;
};

/* Tasks in the order of their ids, then counters, then threads; all at that time. */
int weft__rundown_write(
	struct weft__alive *alive, uint64_t time_ns, const struct weft__rundown_sink *sink);

#endif
