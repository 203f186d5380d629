/* SPDX-License-Identifier: ISC
 *
 * The search for processes that have nameless memory for counters. Looking at a process is
 * expensive, so each is looked at when it is new, and then at growing distances, because it may
 * execute a program that is linked with libweft.
 */
#ifndef WEFT_AGENT_SEARCH_H
#define WEFT_AGENT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct weft__agent_visit {
	pid_t pid;
	uint32_t due;      /* the number of the search that looks at it again */
	uint32_t distance; /* in searches */
};

struct weft__agent_search {
	struct weft__agent_visit *list; /* by pid */
	size_t count, capacity;
	uint32_t number;   /* of searches so far */
	uint32_t furthest; /* the largest distance; 0: 64 */
};

/* Calls `look` for the processes that are due. Without memory it looks at some later. */
void weft__agent_search_run(
	struct weft__agent_search *search, void (*look)(void *context, pid_t pid), void *context);
void weft__agent_search_finish(struct weft__agent_search *search);

#endif
