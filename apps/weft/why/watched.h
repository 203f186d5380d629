/* SPDX-License-Identifier: ISC
 *
 * A process that records nothing, shown live: a process of our own watches it from outside, and
 * writes a trace that grows.
 */
#ifndef WEFT_APPS_WHY_WATCHED_H
#define WEFT_APPS_WHY_WATCHED_H

#include <limits.h>
#include <stdbool.h>

struct watched_process {
	int watcher;              /* the socket to it; -1: there is none */
	char directory[PATH_MAX]; /* a private one, which ends in a slash, with nothing but the trace */
	char path[PATH_MAX + 64]; /* the trace */
};

/* True if the operand is the PID of a program that runs and does not record, even if it was asked.
 */
bool watched_is_wanted(const char *operand);

/* Begins to watch the process of the operand. False after a message; else call watched_stop(). */
bool watched_start(const char *operand, struct watched_process *ret_watched);

/* Ends it, and removes the trace. */
void watched_stop(const struct watched_process *watched);

#endif
