/* SPDX-License-Identifier: ISC
 *
 * Processes that are linked with libweft and wait for requests to record: finds them by the page
 * that they map (abi/attach_abi.h); and the memory in which they count.
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
	uint64_t started_unix_ns; /* rounded, and differs a little from one call to the next */
	uint64_t started_ticks;   /* since the machine started: with the pid, one process */
};

struct weft__runs_linked_list {
	struct weft__runs_linked *list; /* by pid */
	size_t count;
};

/* Finds the processes of this user that have such a page; for root, those of all users. False after
 * a report. */
bool weft__runs_linked_find(struct weft__runs_linked_list *ret_list);
/* The same, and those that record from their start on and have counters or metrics. */
bool weft__runs_counting_find(struct weft__runs_linked_list *ret_list);
void weft__runs_linked_finish(struct weft__runs_linked_list *list);

/* The process's number, name and start. */
void weft__runs_linked_name(struct weft__runs_linked *ret, pid_t pid);

/* The memory of a process that others may read. */
enum weft__runs_memory {
	WEFT__RUNS_PAGE,     /* attach_abi.h and counter_abi.h */
	WEFT__RUNS_METRICS,  /* metric_abi.h */
	WEFT__RUNS_COUNTERS, /* a file beside a ring: counter_abi.h */
	WEFT__RUNS_LASTING,  /* the same: metric_abi.h */
	WEFT__RUNS_NAMELESS, /* counter_abi.h. Those that count have one of these five */
	WEFT__RUNS_CHILDREN, /* metric_abi.h */
};

/* Opens it, but no file: the page for reading and writing, else for reading. A descriptor, or -1
 * with errno: ENOENT if there is none. */
int weft__runs_memory_open(pid_t pid, enum weft__runs_memory kind);

/* Opens the file beside a ring that the process has mapped, for reading, without asking for its
 * path: only root may. -1 with errno; ENOENT: there is none, or it is on a file system that a
 * process serves, which may let others wait. */
int weft__runs_file_open(pid_t pid, enum weft__runs_memory kind);

/* The same for the ring into which the process records, for reading and writing. */
int weft__runs_ring_open_mapped(pid_t pid);

/* True if the process has a page. */
bool weft__runs_has_page(pid_t pid);

int weft__runs_page_open(pid_t pid);

#endif
