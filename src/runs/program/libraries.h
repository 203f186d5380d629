/* SPDX-License-Identifier: ISC
 *
 * The shared libraries that a program would be started with.
 */
#ifndef WEFT_RUNS_LIBRARIES_H
#define WEFT_RUNS_LIBRARIES_H

#include <limits.h>
#include <stdbool.h>

struct weft__runs_libraries {
	bool is_known; /* the dynamic linker has listed them */
	bool has_uv, has_glib, has_xen, has_weft;
	char sanitizer[PATH_MAX]; /* the runtime of a sanitizer that has to come first; "": none */
};

/* Asks the dynamic linker of the program at `path`, as ldd(1) does, but only glibc's: others would
 * run the program instead. Takes about 2 ms. */
void weft__runs_libraries_list(const char *path, struct weft__runs_libraries *ret_libraries);

/* True if the program is linked dynamically by another loader than this one, so that it has another
 * C library. */
bool weft__runs_libraries_is_foreign(const char *path);

#endif
