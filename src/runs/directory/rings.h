/* SPDX-License-Identifier: ISC
 *
 * The rings in one run directory, of processes that run and of processes that have ended.
 */
#ifndef WEFT_RUNS_RINGS_H
#define WEFT_RUNS_RINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <weft/buffer.h>
#include <weft/source.h>

/* One entry of the directory; see abi/run_abi.h for the names. */
struct weft__runs_ring {
	char name[NAME_MAX + 1];
	int stem_size; /* bytes of the name without its suffix */
	pid_t pid;
	unsigned program; /* 1, or N in PROG-PID.N: the Nth program of that name in the process */
	uint64_t begun;   /* ns: when it was begun, if the process has several rings; else 0 */
	bool is_failure;  /* no ring: a link that says why the process could not record */
	bool is_ours;     /* false: another user's, as in root's run directories */
	bool is_link;     /* to a ring elsewhere (--in-place), which needs no saving */
	bool is_guest;    /* no ring: the buffer of a guest of Xen */
	bool is_running;  /* a process with this number runs: see weft__runs_ring_is_running */
};

/* An entry that has the name of a ring but cannot be one. */
struct weft__runs_refused {
	char name[NAME_MAX + 1];
	char reason[WEFT_RING_REASON_BYTES];
};

#define WEFT__RUNS_REFUSED_SHOWN 8

struct weft__runs_rings {
	/* Rings of ours before those of other users; the given program's first, the others in the order
	 * in which their processes were started. */
	struct weft__runs_ring *list;
	size_t count, capacity;
	struct weft__runs_refused refused[WEFT__RUNS_REFUSED_SHOWN]; /* the first few */
	size_t refused_count;                                        /* number of all refused entries */
	size_t others_count; /* rings of other users in the list */
};

/* False after a report. `program` is the process whose ring comes first. */
bool weft__runs_rings_find(
	const char *directory, pid_t program, struct weft__runs_rings *ret_rings);
void weft__runs_rings_finish(struct weft__runs_rings *rings);

/* Puts the rings of each process that has several in the order in which it became their programs
 * by exec, which names do not tell. Reads these rings. */
void weft__runs_rings_order(const char *directory, pid_t program, struct weft__runs_rings *rings);

/* Puts the ring of the last program that the process `program` became first: of `sh`, `env` and the
 * server that they start in one process, the server's. To be called after ..._order(). */
void weft__runs_rings_lead(pid_t program, struct weft__runs_rings *rings);

/* Adds an entry to those that cannot be rings. */
void weft__runs_rings_refuse(struct weft__runs_rings *rings, const char *name, const char *reason);

/* Reports the entries that cannot be rings, one at a time. */
void weft__runs_rings_report_refused(const char *directory, const struct weft__runs_rings *rings);

/* True if the ring's process still records into it. It is not enough that a process with this pid
 * runs: the pid may have been reused, or be that of another PID namespace. */
bool weft__runs_ring_is_running(const char *directory, const struct weft__runs_ring *ring);

/* When recording into the ring began, in CLOCK_MONOTONIC; UINT64_MAX: it cannot be read. */
uint64_t weft__runs_ring_begun_ns(const char *directory, const struct weft__runs_ring *ring);

/* True if the process that has the ring's number now is a later one: it was started after the ring
 * was begun. False if there is none, or if that is unknown. */
bool weft__runs_ring_is_of_earlier(const char *directory, const struct weft__runs_ring *ring);

/* When a process was started, in seconds since 1970; a later time than now if it has ended. */
double weft__runs_process_start(pid_t pid);

/* Sets `is_running` of all rings to what weft__runs_ring_is_running says. */
void weft__runs_rings_check_running(const char *directory, struct weft__runs_rings *rings);

/* A descriptor of a ring in a run directory, as by weft_source_open_ring; -1 after a report. */
int weft__runs_ring_open(const char *path, pid_t pid, unsigned access);

/* The summary in a ring's header. False if it cannot be opened or is not a buffer. */
bool weft__runs_ring_summarize(
	const char *path, pid_t pid, struct weft_buffer_summary *ret_summary, size_t *ret_size);

/* The same of an open file. */
bool weft__runs_ring_summarize_open(
	int fd, struct weft_buffer_summary *ret_summary, size_t *ret_size);

#endif
