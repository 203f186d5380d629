/* SPDX-License-Identifier: ISC
 *
 * What the files of the Linux platform tell each other.
 */
#ifndef WEFT_PLATFORM_LINUX_H
#define WEFT_PLATFORM_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts recording if the environment says so. */
void weft__linux_autostart(void);

/* Sets the levels that the environment wants, before recording starts. */
void weft__linux_levels(void);

/* Tells the run, if there is one, that something does not record, and why. */
void weft__linux_report(const char *what, const char *reason);

/* A forked child's copy of this copy will be off. False if that is not to be had. */
bool weft__linux_begins_off(void);

/* Finds out whether another copy of the recorder leads in this process. */
void weft__linux_join(void);

/* The program's name as it is used for files: without directory, never empty. */
const char *weft__linux_program(void);

struct weft__ring {
	const char *path;
	uint64_t bytes;
	bool is_guarded; /* against losing its pages; then `path` must stay */
};

/* At which it may fail. */
#define WEFT__STEP_CREATE   "create"
#define WEFT__STEP_ALLOCATE "allocate"
#define WEFT__STEP_MAP      "map"
#define WEFT__STEP_START    "start"

/* Creates the file, maps it and starts recording into it. 0, or an errno; `ret_step` names what
 * failed. Nothing remains after a failure. */
int weft__ring_create(const struct weft__ring *ring, const char **ret_step);

/* Is there room for a ring in what the run may take, and takes it. The directory ends in a slash.
 */
bool weft__total_take(const char *directory, uint64_t bytes);

/* The file's name there. */
#define WEFT__TOTAL "total"

/* If the ring's pages go, recording stops, and not the program. `path` must stay. NULL: no ring
 * any more. */
void weft__sigbus_guard(void *buffer, size_t size, const char *path);

#endif
