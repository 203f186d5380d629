/* SPDX-License-Identifier: ISC
 *
 * Snapshots of programs' rings with an alert inside, and levels of categories that are set until a
 * rule holds no more.
 */
#ifndef WEFT_AGENT_CAPTURE_H
#define WEFT_AGENT_CAPTURE_H

#include <weft/follow.h>
#include <weft/trace.h>

#include "agent/regions.h"

struct weft__agent_capture_options {
	const char *folder;  /* of the snapshots; NULL: none are taken */
	unsigned most;       /* of them in the folder: older ones are removed */
	uint64_t most_bytes; /* the same for their size */
};

/* Levels that were set, and what they were before. */
struct weft__agent_levels {
	struct weft__agent_level *list;
	size_t count;
};

/* Takes a snapshot of the process, and says where it is; or why there is none. */
void weft__agent_capture(const struct weft__agent_capture_options *options, pid_t pid,
	const char *program, const struct weft_trace_alert *alert);

/* Sets levels as `weft ctl set` does. */
void weft__agent_levels_set(struct weft__agent_levels *levels, pid_t pid,
	struct weft_slice category, enum weft_level level);
/* Sets them to the former levels, unless others have changed them since. */
void weft__agent_levels_restore(struct weft__agent_levels *levels);

/* True if the region is certainly that process's own: a file says itself whose it is. */
bool weft__agent_region_is_of(const struct weft__agent_region *region);

#endif
