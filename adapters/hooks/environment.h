/* SPDX-License-Identifier: ISC
 *
 * The environment of programs that the process executes: with it, the dynamic linker loads the
 * adapters there, too.
 */
#ifndef WEFT_ADAPTERS_ENVIRONMENT_H
#define WEFT_ADAPTERS_ENVIRONMENT_H

#include "hooks/hooks.h"

/* ---- Programs (target.c) ---- */

enum weft__hooks_fit {
	WEFT__HOOKS_UNKNOWN, /* or it makes no difference: static, or with rights by its file */
	WEFT__HOOKS_LOADS,   /* the adapters can be loaded into the program */
	WEFT__HOOKS_REFUSES, /* another machine or C library, or it cannot read the adapters' file */
};

/* By the path, by a name that execvp looks for, or by the file itself. errno stays. */
enum weft__hooks_fit weft__hooks_fit(const char *path);
enum weft__hooks_fit weft__hooks_fit_of_name(const char *file);
enum weft__hooks_fit weft__hooks_fit_of_descriptor(int fd);

/* The file of the adapters; "": unknown. */
const char *weft__hooks_library_path(void);

/* ---- Variables (environment.c) ---- */

/* The value of a variable, or NULL. */
const char *weft__hooks_variable(char *const environment[], const char *name);

/* The bytes that an environment for such a program may need; 0: that of the caller serves. */
size_t weft__hooks_environment_bytes(enum weft__hooks_fit fit, char *const environment[]);

/* The environment, made in `memory` of that size. */
char *const *weft__hooks_environment(
	enum weft__hooks_fit fit, char *const environment[], void *memory);

#endif
