/* SPDX-License-Identifier: ISC
 *
 * The environment of programs that the process executes: with it, the dynamic linker loads the
 * adapters there, too.
 */
#ifndef WEFT_ADAPTERS_ENVIRONMENT_H
#define WEFT_ADAPTERS_ENVIRONMENT_H

#include <limits.h>

#include "hooks/hooks.h"

/* ---- Programs (target.c) ---- */

enum weft__hooks_fit {
	WEFT__HOOKS_UNKNOWN,
	WEFT__HOOKS_LOADS, /* the adapters can be loaded into the program */
	/* The environment makes no difference. */
	WEFT__HOOKS_STATIC,
	WEFT__HOOKS_HAS_RIGHTS, /* other ones by its file: set-user-ID and so on */
	/* It would not start, or print a message. */
	WEFT__HOOKS_OTHER_MACHINE,
	WEFT__HOOKS_OTHER_LIBC,
	WEFT__HOOKS_UNREACHABLE, /* it cannot read the adapters' file */
	WEFT__HOOKS_LISTED,      /* it is not run: the dynamic linker lists its libraries, as for ldd */
};

static inline bool weft__hooks_refuses(enum weft__hooks_fit fit)
{
	return fit >= WEFT__HOOKS_OTHER_MACHINE;
}

#define WEFT__HOOKS_FILE_BYTES 256

/* A program and the file that it is loaded from: for a script, that of its interpreter. */
struct weft__hooks_target {
	enum weft__hooks_fit fit;
	char file[WEFT__HOOKS_FILE_BYTES]; /* cut if it is longer; "": unknown */
};

/* By the path, by a name that execvp looks for, or by the file itself. errno stays. */
void weft__hooks_find_target(struct weft__hooks_target *ret, const char *path);
void weft__hooks_find_target_by_name(struct weft__hooks_target *ret, const char *file);
void weft__hooks_find_target_by_descriptor(struct weft__hooks_target *ret, int fd);

/* The file of the adapters; "": unknown. */
const char *weft__hooks_library_path(void);
/* Finds a file of ours by its path from that one's folder: where it is installed, or in the build
 * folder. */
bool weft__hooks_find_beside(const char *installed, const char *built, char ret_path[PATH_MAX]);

/* ---- Variables (environment.c) ---- */

/* The value of a variable, or NULL. */
const char *weft__hooks_variable(char *const environment[], const char *name);

/* The bytes that an environment for such a program may need; 0: that of the caller serves. */
size_t weft__hooks_environment_bytes(enum weft__hooks_fit fit, char *const environment[]);

/* The environment, made in `memory` of that size. */
char *const *weft__hooks_environment(
	enum weft__hooks_fit fit, char *const environment[], void *memory);

#endif
