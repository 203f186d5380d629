/* SPDX-License-Identifier: ISC
 *
 * What the trace of a ring is called. An output, as of `weft record -o`, is a file, a directory
 * (also NULL: the current one), or "-" for standard output.
 */
#ifndef WEFT_RUNS_NAME_H
#define WEFT_RUNS_NAME_H

#include <stdbool.h>

#include "runs/rings.h"

/* Does the output only give the directory, so that each file is named after its ring? */
bool weft__runs_is_directory(const char *output);

bool weft__runs_is_stdout(const char *output);

/* The file of a ring that is the run's first, or another; to be freed. NULL without memory. */
char *weft__runs_name_file(const char *output, const struct weft__runs_ring *ring, bool is_first);

/* The same, but never a file that exists, unless the output names it. `before` is the ring that was
 * named before this one, NULL for the first. */
char *weft__runs_name_trace(
	const char *output, const struct weft__runs_ring *ring, const struct weft__runs_ring *before);

/* DIRECTORY/NAME, to be freed. */
char *weft__runs_name_in(const char *directory, const char *name);

#endif
