/* SPDX-License-Identifier: ISC
 *
 * Runs that keep a thread from everything else for far longer than it is used to. A loop that makes
 * its work only when it runs, as a server whose clients wait in the kernel, leaves no waiters in
 * the trace.
 */
#ifndef WEFT_STORY_PROBLEMS_STALLS_H
#define WEFT_STORY_PROBLEMS_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__long_run {
	uint32_t task, thread;
	uint64_t start, end;
};

/* True if the thread runs many other tasks, before and after, and hardly ever for that long.
 * Examines all activations of the trace. */
bool weft__story_is_stall(const struct weft_model *model, const struct weft__long_run *run);

#endif
