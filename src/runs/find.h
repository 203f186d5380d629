/* SPDX-License-Identifier: ISC
 *
 * The rings of all runs of this user: of programs under `weft record`, and those that were left.
 */
#ifndef WEFT_RUNS_FIND_H
#define WEFT_RUNS_FIND_H

#include "runs/rings.h"

struct weft__runs_found {
	struct weft__runs_ring ring;
	char path[PATH_MAX + NAME_MAX + 1];
	bool is_alive;    /* a process of that number runs, be it another one by now */
	bool is_attended; /* its run has a `weft record`, which will save it */
};

struct weft__runs_list {
	struct weft__runs_found *list; /* by pid */
	size_t count;
};

/* Without failures to record, and without entries that cannot be rings, each of which is reported
 * once in the life of this process. False after a report. */
bool weft__runs_find(struct weft__runs_list *ret_list);
void weft__runs_list_finish(struct weft__runs_list *list);

/* The ring of a process, that of its newest program. False after a report. */
bool weft__runs_find_process(pid_t pid, struct weft__runs_found *ret_found);

/* The path that an operand FILE|PID stands for: a file's own name, `found` getting no pid; or that
 * of the process's ring, in `found`. NULL after a report. */
char *weft__runs_path(char *operand, struct weft__runs_found *found);

/* A descriptor of what weft__runs_path found, writable where that is allowed; -1 after a report. */
int weft__runs_open_operand(const char *path, const struct weft__runs_found *found);

#endif
