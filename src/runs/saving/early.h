/* SPDX-License-Identifier: ISC
 *
 * Saves the rings of processes that end while the run goes on, and removes them, so that a run of
 * many short processes needs little room.
 */
#ifndef WEFT_RUNS_EARLY_H
#define WEFT_RUNS_EARLY_H

#include "runs/saving/save.h"

struct weft__runs_early;

/* The arguments as for weft__runs_save_all; the caller keeps them valid. Without an output, a
 * directory is made when the first ring is saved. NULL if memory is short. */
struct weft__runs_early *weft__runs_early_create(
	const char *directory, const char *output, bool keep_all);

/* That directory, or NULL. */
const char *weft__runs_early_directory(const struct weft__runs_early *early);
void weft__runs_early_destroy(struct weft__runs_early *early);

/* Saves and removes rings of processes that have ended, for at most a tenth of a second; only
 * removes those of short helpers. Rings of the list's first process stay, because the trace of the
 * last one gets the name that the user gave. True if there is more to save, or some was: others may
 * have ended meanwhile. */
bool weft__runs_early_save(struct weft__runs_early *early, const struct weft__runs_rings *rings);

/* Waits until the saved traces are on the disk. False after a report. */
bool weft__runs_early_sync(const struct weft__runs_early *early);

/* Adds the traces, and the number of those left out, to those at the end of the run. They borrow
 * from `early`. */
void weft__runs_early_report(struct weft__runs_early *early, struct weft__runs_saves *saves);

#endif
