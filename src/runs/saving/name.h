/* SPDX-License-Identifier: ISC
 *
 * Names for the traces of rings. An output, as of `weft record -o`, is a file, a directory (also
 * NULL: the current one), or "-" for standard output.
 */
#ifndef WEFT_RUNS_NAME_H
#define WEFT_RUNS_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "runs/directory/rings.h"

/* True if the output is a directory, so that each file is named after its ring. */
bool weft__runs_is_directory(const char *output);

bool weft__runs_is_stdout(const char *output);

/* The file for a ring; `is_first`: of the run. The caller frees it. NULL if memory is short. */
char *weft__runs_name_file(const char *output, const struct weft__runs_ring *ring, bool is_first);

/* The same, but never a file that exists, unless the output itself names it. `before` is the ring
 * that was named before this one, NULL for the first. */
char *weft__runs_name_trace(
	const char *output, const struct weft__runs_ring *ring, const struct weft__runs_ring *before);

/* Makes the directory for the traces of a run of several processes whose output the user has not
 * named: "make-31373/" in the current one, after the first ring. The caller frees it; NULL if that
 * fails. */
char *weft__runs_make_directory(const struct weft__runs_rings *rings);

/* A file at a path. */
struct weft__runs_identity {
	uint64_t device, inode; /* 0 and 0: there is none */
};
struct weft__runs_identity weft__runs_identify(const char *file);

/* The output; or if that is a file and no longer the one that was there, because another recorder
 * has finished its trace meanwhile, an unused name beside it. The caller frees it. NULL if memory
 * is short, or for the NULL output. */
char *weft__runs_name_output(const char *output, const struct weft__runs_identity *before);

/* DIRECTORY/NAME. The caller frees it. */
char *weft__runs_name_in(const char *directory, const char *name);

#endif
