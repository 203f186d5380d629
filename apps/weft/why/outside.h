/* SPDX-License-Identifier: ISC
 *
 * The answers about processes that record nothing.
 */
#ifndef WEFT_APPS_WHY_OUTSIDE_H
#define WEFT_APPS_WHY_OUTSIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include <weft/text.h>

#include "outside/outside.h"

/* Prints what its threads wait for, and the threads and processes for which they wait. CLI_NO if it
 * waits for none, CLI_UNREADABLE if there is no such process. */
int why_outside(pid_t pid, bool json);

/* Prints which threads and processes of this host wait for which. CLI_NO if none waits. */
int why_all(bool json);

/* Adds the functions in which a thread of a process is now, as outside_add_own_frames(). The
 * process is looked at once, when it is asked for first; nothing is stopped, so threads that run
 * have none. */
void why_outside_add_frames(
	struct weft__outside_host *host, pid_t pid, pid_t tid, struct weft_text *text);

#endif
