/* SPDX-License-Identifier: ISC
 *
 * A file's way to a first picture, in a thread of its own, so that a window answers meanwhile.
 */
#ifndef WEFT_GTK_LOADING_H
#define WEFT_GTK_LOADING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/viewer.h>

struct loading;

/* Begins at once. `path` may be "-" for standard input; `pid` as for opening.h. Not prepared: only
 * a model is made, which the viewer compares with the one that it shows. */
struct loading *loading_start(const char *path, pid_t pid, bool is_prepared);

/* Waits for at most so long; whether it has ended. */
bool loading_wait(struct loading *loading, int64_t timeout_us);

/* Calls `done` once, in the main loop, when it has ended. Not after loading_abandon. */
void loading_notify(
	struct loading *loading, void (*done)(struct loading *, void *context), void *context);

/* So far. */
uint64_t loading_events(struct loading *loading);

/* Which part of reading is done, or, once all is read, of laying out: 0 to 1. */
double loading_part(struct loading *loading, bool *ret_is_read);

/* Nobody wants it any more: it stops soon, by itself. The pointer is the caller's no more. */
void loading_abandon(struct loading *loading);

/* Of one that has ended: why there is nothing to show, as a sentence; NULL if there is. */
const char *loading_error(const struct loading *loading);

/* What was wrong with the file, though there is something to show: a line each, or "". */
const char *loading_damage(const struct loading *loading);

/* They are the caller's from then on; one is NULL. */
struct weft_model *loading_take_model(struct loading *loading);
struct weft_viewer_prepared *loading_take(struct loading *loading);

#endif
