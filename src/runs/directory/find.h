/* SPDX-License-Identifier: ISC
 *
 * The rings of all runs of this user: of programs under `weft record`, and orphaned ones.
 */
#ifndef WEFT_RUNS_FIND_H
#define WEFT_RUNS_FIND_H

#include "runs/directory/rings.h"

struct weft__runs_found {
	struct weft__runs_ring ring;
	char path[PATH_MAX + NAME_MAX + 1];
	bool is_alive;    /* the process runs, as far as is known */
	bool is_earlier;  /* another process runs that has the number now */
	bool is_attended; /* its run has a `weft record`, which will save the ring */
};

struct weft__runs_list {
	struct weft__runs_found *list; /* by pid */
	size_t count;
};

/* Finds the rings of all runs. Leaves out failures to record and entries that cannot be rings; the
 * latter are reported once in the life of this process. False after a report. */
bool weft__runs_find(struct weft__runs_list *ret_list);
void weft__runs_list_finish(struct weft__runs_list *list);

/* The PID that an operand FILE|PID names: a number, unless a file has that name. 0: it is a file.
 */
pid_t weft__runs_parse_pid(const char *operand);

/* Finds the ring into which a process records, or has recorded. If the process has called exec, its
 * latest program's. The ring of an earlier process does not count once another one has its number.
 */
bool weft__runs_look_for(pid_t pid, struct weft__runs_found *ret_found);

/* Finds the ring into which a running process records, wherever it is: by the files that the
 * process has mapped. For root also the rings of other users and of other mount namespaces. */
bool weft__runs_find_mapped(pid_t pid, struct weft__runs_found *ret_found);

/* True if a running process has not mapped the file of that number, its ring, any more. */
bool weft__runs_has_left(pid_t pid, uint64_t inode);

/* The first that finds one of the two rings above; false after a report. */
bool weft__runs_find_process(pid_t pid, struct weft__runs_found *ret_found);

/* True if the number is that of a process that runs a program, other than this one. */
bool weft__runs_is_program(pid_t pid);

/* Reports why a process has no ring, and which directory was searched. */
void weft__runs_report_unfound(pid_t pid);

/* The path for an operand FILE|PID: for a file its own name (`found` has no pid then), for a
 * process the path of its ring, in `found`. NULL after a report. */
char *weft__runs_path(char *operand, struct weft__runs_found *found);

/* Opens the file or ring that weft__runs_path found, for writing where that is allowed. A
 * descriptor, or -1 after a report. */
int weft__runs_open_operand(const char *path, const struct weft__runs_found *found);

#endif
