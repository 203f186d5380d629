/* SPDX-License-Identifier: ISC
 *
 * The traces in a directory that was named instead of a file.
 */
#ifndef WEFT_RUNS_TRACES_H
#define WEFT_RUNS_TRACES_H

#include <stdbool.h>
#include <stddef.h>

/* Paths of files, to be opened as one trace. */
struct weft__runs_traces {
	char **paths;
	size_t count, capacity;
};

/* Adds a path as it is; if it is a directory, the files in it whose names end in ".weft" or
 * ".weft.zst", by name. False after a report: the directory cannot be read or has no such file, or
 * memory is short. */
bool weft__runs_traces_add(struct weft__runs_traces *traces, const char *path);
void weft__runs_traces_finish(struct weft__runs_traces *traces);

bool weft__runs_traces_is_directory(const char *path);

#endif
