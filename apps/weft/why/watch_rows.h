/* SPDX-License-Identifier: ISC
 *
 * The profile of a watch: how often each thread was in which call, with which stack.
 */
#ifndef WEFT_APPS_WHY_WATCH_ROWS_H
#define WEFT_APPS_WHY_WATCH_ROWS_H

#include "outside/outside.h"
#include "watch.h"

struct watch_row;

struct watch_rows {
	struct watch_row *list;
	size_t count, capacity;
	bool is_cut; /* there were more */
};

/* The process, and how often it was looked at. */
struct watch_about {
	const char *name;
	pid_t pid;
	uint64_t looks;
};

/* A thread's call, or "runs". */
const char *watch_rows_state(const struct weft__outside_thread *thread);

/* Counts looks at a thread, whose frames are known. */
void watch_rows_count(
	struct watch_rows *rows, const struct weft__outside_thread *thread, uint64_t looks);

/* Prints the profile. False after a message. */
bool watch_rows_write(
	struct watch_rows *rows, const struct watch_about *about, enum why_watch_form form);

void watch_rows_finish(struct watch_rows *rows);

#endif
