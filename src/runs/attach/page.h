/* SPDX-License-Identifier: ISC
 *
 * Processes that are linked with libweft and wait for requests to record: finds them by the page
 * that they map (abi/attach_abi.h).
 */
#ifndef WEFT_RUNS_PAGE_H
#define WEFT_RUNS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that could record. */
struct weft__runs_linked {
	pid_t pid;
	char program[64];
	uint64_t started_unix_ns;
};

struct weft__runs_linked_list {
	struct weft__runs_linked *list; /* by pid */
	size_t count;
};

/* Finds the processes of this user that have such a page; for root, those of all users. False after
 * a report. */
bool weft__runs_linked_find(struct weft__runs_linked_list *ret_list);
void weft__runs_linked_finish(struct weft__runs_linked_list *list);

/* The process's number, name and start. */
void weft__runs_linked_name(struct weft__runs_linked *ret, pid_t pid);

/* True if the process has a page. */
bool weft__runs_has_page(pid_t pid);

/* Opens the page of a process for reading and writing. A descriptor, or -1 with errno: ENOENT if
 * there is none. */
int weft__runs_page_open(pid_t pid);

#endif
