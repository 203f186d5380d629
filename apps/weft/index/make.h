/* SPDX-License-Identifier: ISC
 *
 * Makes the file of checkpoints beside a trace: reads the trace once for when each task is named
 * last, and once more for what is alive.
 */
#ifndef WEFT_APPS_INDEX_MAKE_H
#define WEFT_APPS_INDEX_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The least number of events between two checkpoints, unless one is asked for. */
#define INDEX_SPACING (1 << 18)

struct index_summary {
	size_t checkpoints;
	uint64_t events, bytes;
};

/* Makes the file of the trace at `path`, unless it has no checkpoint: then only if `keeps_empty`,
 * so that nobody looks for one again. Returns an exit status. */
int index_make(
	const char *path, uint64_t spacing, bool keeps_empty, struct index_summary *ret_summary);

#endif
