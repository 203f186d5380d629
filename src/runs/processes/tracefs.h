/* SPDX-License-Identifier: ISC
 *
 * An instance of tracefs, the kernel's tracing, of our own: rings, events and a clock.
 */
#ifndef WEFT_RUNS_PROCESSES_TRACEFS_H
#define WEFT_RUNS_PROCESSES_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct weft__runs_tracefs {
	int instance;  /* its folder */
	char path[64]; /* of tracefs */
	char name[32]; /* of the instance */
};

/* Makes an instance; removes those of programs that ended without doing so. False with a reason. */
bool weft__runs_tracefs_begin(struct weft__runs_tracefs *tracefs, char reason[256]);
void weft__runs_tracefs_end(struct weft__runs_tracefs *tracefs);

/* A file of the instance. The descriptor, or -1. */
int weft__runs_tracefs_open(const struct weft__runs_tracefs *tracefs, const char *path, int flags);
/* A file of tracefs itself, which describes events for all instances. The bytes read, or -1. */
ssize_t weft__runs_tracefs_load(
	const struct weft__runs_tracefs *tracefs, const char *path, char *text, size_t size);
/* Writes to a file of the instance. False if the kernel refuses it. */
bool weft__runs_tracefs_store(
	const struct weft__runs_tracefs *tracefs, const char *path, const char *text);

#endif
