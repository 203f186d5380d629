/* SPDX-License-Identifier: ISC
 *
 * Records child processes whose process id is known. Call these functions outside of a recording
 * part of a hook (weft__hooks_begin): each has one of its own.
 */
#ifndef WEFT_ADAPTERS_THREAD_CHILDREN_H
#define WEFT_ADAPTERS_THREAD_CHILDREN_H

#define WEFT_CATEGORY thread
#include "hooks/hooks.h"

/* The current task has begun `child`. */
void weft__thread_child_begins(pid_t child);

/* The current task waits for the end of `child`, of any child with -1, or of one
 * of a process group with others that are not above 0. */
struct weft__hooks_wait weft__thread_child_wait(pid_t child);

/* The wait is over. `child`: the process that has ended or changed; 0: unknown; -1: the wait
 * failed. `status` is as waitpid stores it. `is_left`: the child is still to be waited for. */
void weft__thread_child_ended(
	const struct weft__hooks_wait *wait, pid_t child, int status, bool is_left);

#endif
