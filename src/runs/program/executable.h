/* SPDX-License-Identifier: ISC
 *
 * Finds out from the file of a program why the program may have recorded nothing.
 */
#ifndef WEFT_RUNS_EXECUTABLE_H
#define WEFT_RUNS_EXECUTABLE_H

#include <limits.h>
#include <stdbool.h>

struct weft__runs_executable {
	char path[PATH_MAX]; /* the file that runs: for a script, that of its interpreter */
	bool is_script;      /* a script was named */
	bool is_executable;  /* what was named is there, and this user may execute it */
	int error;           /* errno: the file cannot be read; the rest is then unknown */
	bool is_elf;
	bool is_dynamic;       /* a loader links it with shared libraries */
	const char *machine;   /* of another machine than this program; else NULL */
	const char *privilege; /* "set-user-ID", …: the program ignores its environment; else NULL */
	/* After weft__runs_executable_search(): */
	bool is_go;
	bool has_libweft; /* the file has libweft in it, or the name of its shared library */
};

/* Examines a program as execvp(3) would find it. The file may be hostile: no offset in it is used
 * without a check. */
void weft__runs_executable_examine(const char *name, struct weft__runs_executable *ret_executable);
/* Reads the whole file, up to 1 GiB, for what only its content says. That takes as long as node
 * takes to start. */
void weft__runs_executable_search(struct weft__runs_executable *executable);

#endif
