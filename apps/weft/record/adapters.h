/* SPDX-License-Identifier: ISC
 *
 * Adapters: the library that `weft record` loads into programs that nobody changed.
 */
#ifndef WEFT_APPS_RECORD_ADAPTERS_H
#define WEFT_APPS_RECORD_ADAPTERS_H

#include <limits.h>
#include <stdbool.h>

/* Checks the argument of -a: auto, none, or names with commas. False after a message. */
bool record_adapters_check(const char *command, const char *list);

/* The path of the library; false: it is not installed. */
bool record_adapters_find(char ret_path[PATH_MAX]);

/* The settings of the program's environment for adapters. */
struct record_adapters {
	const char *list; /* auto or names; NULL: no adapter */
	char *preload;    /* LD_PRELOAD; the owner frees it */
};

/* Finds the library and says in a line which adapters record the program. False after a message:
 * the named adapters cannot be loaded, or memory ran out. */
bool record_adapters_prepare(
	const char *list, const char *program, struct record_adapters *ret_adapters);

/* Runs in the process that becomes the program. False, with a reason in errno, if memory ran out.
 */
bool record_adapters_apply(const struct record_adapters *adapters);

#endif
