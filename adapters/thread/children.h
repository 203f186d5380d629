/* SPDX-License-Identifier: ISC
 *
 * Child processes whose process id is known. All have recording parts.
 */
#ifndef WEFT_ADAPTERS_THREAD_CHILDREN_H
#define WEFT_ADAPTERS_THREAD_CHILDREN_H

#define WEFT_CATEGORY thread
#include "hooks/hooks.h"

/* The current task has made that child. */
void weft__thread_child_begins(pid_t child);

/* The current task waits for the end of that child, or of any if it is not above 0. */
struct weft__hooks_wait weft__thread_child_wait(pid_t child);

/* The wait is over. `child`: the one that has ended or changed, if any; -1: the wait failed.
 * `status` is as waitpid has it. */
void weft__thread_child_ended(const struct weft__hooks_wait *wait, pid_t child, int status);

#endif
