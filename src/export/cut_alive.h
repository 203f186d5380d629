/* SPDX-License-Identifier: ISC
 *
 * The state at the start of a range, with what a rundown needs besides: when each task was created,
 * and which tasks the range names.
 */
#ifndef WEFT_EXPORT_CUT_ALIVE_H
#define WEFT_EXPORT_CUT_ALIVE_H

#include "model/state.h"

/* Nothing tells when the task was created. */
#define WEFT__ALIVE_UNDATED UINT64_MAX

struct weft__alive {
	struct weft__identities identities;
	struct weft__texts texts;
	struct weft__state state;
	size_t capacity;
	uint64_t *born_ns; /* of each task, or WEFT__ALIVE_UNDATED */
	bool *is_named;
};

int weft__alive_init(struct weft__alive *alive);
void weft__alive_finish(struct weft__alive *alive);

/* The next event before the range. */
int weft__alive_add(struct weft__alive *alive, const struct weft_event *event);

/* An event of the range: what it names has to be in the rundown. */
void weft__alive_name(struct weft__alive *alive, const struct weft_event *event);

#endif
