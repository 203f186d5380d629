/* SPDX-License-Identifier: ISC
 *
 * Snapshots of programs' rings with an alert inside.
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

/* Opens the ring into which a process records; -1: there is none that can be opened. */
int weft__agent_ring_find(pid_t pid);

/* The same, -1 after a report. */
int weft__agent_ring_open(pid_t pid);

/* Takes a snapshot of the process, and reports where it is. False after a report of the reason. */
bool weft__agent_capture(const struct weft__agent_capture_options *options, pid_t pid,
	const char *program, const struct weft_trace_alert *alert);

/* True if the region is certainly that process's own: a file says itself whose it is. */
bool weft__agent_region_is_of(const struct weft__agent_region *region);

#endif
