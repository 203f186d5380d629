/* SPDX-License-Identifier: ISC
 *
 * The calls of categories at the level "count", as counters (counters.h): weft_events with the
 * labels category and kind.
 */
#ifndef WEFT_RUNS_COUNTED_H
#define WEFT_RUNS_COUNTED_H

#include <sys/types.h>

#include <weft/decoder.h>

#include "runs/attach/counters.h"

/* The text of a name's id; without bytes if there is none. */
typedef struct weft_slice weft__runs_name_of(const void *context, unsigned id);

/* Reads rows of the table `counted`. 0 or an errno; the caller finishes the counters if it is 0. */
int weft__runs_counted_list(const void *rows, uint32_t count, weft__runs_name_of *name_of,
	const void *context, struct weft__runs_counters *ret_counters);

/* The same of the ring into which a process records now. ENOENT: there is none. */
int weft__runs_counted_read(pid_t pid, struct weft__runs_counters *ret_counters);

#endif
