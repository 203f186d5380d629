/* SPDX-License-Identifier: ISC
 *
 * The functions in which tasks of a running program wait: its trace has only their addresses.
 */
#ifndef WEFT_APPS_WHY_NOW_H
#define WEFT_APPS_WHY_NOW_H

#include <weft/story.h>

#include "cli/live.h"
#include "outside/outside.h"

/* Writes the functions in which the thread that has a task at a time is now: "take (FILE:28) ←
 * work (FILE:36)". "" stays if they are not known. */
void why_now(struct weft__outside_host *host, const struct cli_live *live, uint64_t at,
	uint32_t task, char ret_now[static WEFT_CALLS_BYTES]);

#endif
