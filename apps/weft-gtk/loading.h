/* SPDX-License-Identifier: ISC
 *
 * Loads a file up to its first picture, in a thread, so that the window stays responsive.
 */
#ifndef WEFT_GTK_LOADING_H
#define WEFT_GTK_LOADING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/viewer.h>

struct loading;
struct read_part;

struct loading_request {
	char **paths; /* of one trace, ends with NULL; "-" for standard input, or a directory */
	pid_t pid;    /* as for opening.h */
	/* Else only a model is made, which the viewer compares with the one that it shows. */
	bool is_prepared;
	bool is_followed; /* the trace may grow: it is read as a whole */
	/* To read; copied. NULL: a part is chosen if the trace is too large. */
	const struct read_part *part;
};

struct loading *loading_start(const struct loading_request *request);

/* Waits at most that long; returns whether loading has ended. */
bool loading_wait(struct loading *loading, int64_t timeout_us);

/* Calls `done` once, in the main loop, when loading has ended. Not after loading_abandon. */
void loading_notify(
	struct loading *loading, void (*done)(struct loading *, void *context), void *context);

/* The number of events so far. */
uint64_t loading_events(struct loading *loading);

/* The share of reading that is done or, when all is read, of laying out: 0 to 1. */
double loading_part(struct loading *loading, bool *ret_is_read);

/* Cancels: the thread stops soon, by itself. The caller must not use the pointer any more. */
void loading_abandon(struct loading *loading);

/* After the end: a sentence that says why there is nothing to show; NULL if there is something. */
const char *loading_error(const struct loading *loading);

/* Damage in a file that could be read otherwise: a line each, or "". */
const char *loading_damage(const struct loading *loading);

/* A line for each file that was left out, or "". */
const char *loading_left_out(const struct loading *loading);
const char *loading_hosts(const struct loading *loading);

/* Transfers to the caller the paths of the files that make up the trace, if these are several that
 * can be followed; or NULL. */
char **loading_take_shown(struct loading *loading);

/* The part that was read; NULL: all. */
const struct read_part *loading_part_read(const struct loading *loading);

/* Transfers the result to the caller; one of the two is NULL. */
struct weft_model *loading_take_model(struct loading *loading);
struct weft_viewer_prepared *loading_take(struct loading *loading);

#endif
