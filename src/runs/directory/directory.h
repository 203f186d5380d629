/* SPDX-License-Identifier: ISC
 *
 * Run directories: one for each `weft record`, in memory, in which its programs make their rings.
 *
 * The process that made a directory keeps it locked until it ends; by the lock, other processes see
 * whether the run still has a `weft record` that will save its rings.
 */
#ifndef WEFT_RUNS_DIRECTORY_H
#define WEFT_RUNS_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/directory/rings.h"

/* Makes and locks a run directory; the name ends in a slash. All its rings together may take
 * `total_bytes`; 0: no bound. False after a report. */
bool weft__runs_directory_make(uint64_t total_bytes, char ret_directory[PATH_MAX]);

/* Locks a directory that another process has made for us, as long as this process runs. */
void weft__runs_directory_share(const char *directory);

/* Lets all rings in a run directory together take `total_bytes`, of which `used_bytes` are taken.
 * False after a report. */
bool weft__runs_directory_limit(const char *directory, uint64_t total_bytes, uint64_t used_bytes);

/* The directory in which this user's run directories are searched, for messages. */
void weft__runs_directory_searched(char ret_directory[PATH_MAX]);

/* Notes the directory in which the run's traces will be saved, so that its readers find the rings
 * that are not saved yet. Best effort. */
void weft__runs_directory_note_output(const char *directory, const char *output);

/* True if the traces of the run will be saved in `output`. */
bool weft__runs_directory_saves_in(const char *directory, const char *output);

/* All run directories of this user, each with a slash at its end. */
struct weft__runs_directories {
	char (*list)[PATH_MAX];
	size_t count;
	bool has_failed; /* out of memory */
};

/* False after a report. */
bool weft__runs_directories_find(struct weft__runs_directories *ret_directories);
void weft__runs_directories_finish(struct weft__runs_directories *directories);

/* True if the directory still exists and we own it. */
bool weft__runs_directory_is_ours(const char *directory);

/* True if the run has a `weft record` that will save its rings. */
bool weft__runs_directory_is_attended(const char *directory);

/* Makes this process the one that saves the rings, until it ends. False if there is one already. */
bool weft__runs_directory_attend(const char *directory);

/* Tells the processes of a run that a ring of this size is gone, so that its room counts as free
 * within the bound on all rings. */
void weft__runs_directory_release(const char *directory, uint64_t bytes);

/* Removes the files for counters and metrics beside a ring. */
void weft__runs_directory_remove_values(const char *directory, const struct weft__runs_ring *ring);

/* Removes the listed rings and all entries that cannot be rings, or with `all` every entry; then
 * the directory, if nothing is left in it. */
void weft__runs_directory_remove(
	const char *directory, const struct weft__runs_rings *rings, bool all);

/* Removes the runs that were found orphaned 7 days ago. */
void weft__runs_expire(void);

#endif
