/* SPDX-License-Identifier: ISC
 *
 * Programs of a run that only help: a shell that starts the program, and the commands by which it
 * finds it. A trace of each would hide the one that was asked for.
 */
#ifndef WEFT_RUNS_LEFT_OUT_H
#define WEFT_RUNS_LEFT_OUT_H

#include <stdbool.h>

#include "runs/directory/rings.h"

/* True if the ring at `path` is of a program that has ended after a short time, made no call of
 * libweft, had one thread, was not killed by a signal, and lost no event. `is_lead`: its process is
 * the one that was started, and went on as another program, for which it may take a second. */
bool weft__runs_is_helper(const char *path, const struct weft__runs_ring *ring, bool is_lead);

/* The same of a ring in a run directory. `lead` is the first ring that gets a trace: that is no
 * helper. */
bool weft__runs_is_helper_beside(
	const char *directory, const struct weft__runs_ring *ring, const struct weft__runs_ring *lead);

#endif
