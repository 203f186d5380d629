/* SPDX-License-Identifier: ISC
 *
 * Runtimes that the adapters have load what records their own tasks.
 */
#ifndef WEFT_APPS_RECORD_RUNTIME_H
#define WEFT_APPS_RECORD_RUNTIME_H

#include "runs/program/executable.h"

struct record_runtime {
	const char *adapter;  /* its name in -a, and the begin of the program's name */
	const char *what;     /* is recorded */
	const char *variable; /* the value "off" switches it off */
	const char *files[2]; /* what is loaded, relative to the adapters: installed, or just built */
};

/* The program's; NULL if it is another program, or what it needs is not there or switched off.
 * `library` is the file of the adapters. */
const struct record_runtime *record_runtime_find(
	const char *program, const struct weft__runs_executable *executable, const char *library);

#endif
