/* SPDX-License-Identifier: ISC
 *
 * Makes a linked process record into a run directory, and stop again.
 */
#ifndef WEFT_RUNS_ATTACH_H
#define WEFT_RUNS_ATTACH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct weft__runs_attach_options {
	pid_t pid;
	uint64_t size_bytes; /* of the buffer; 0: depends on the free room */
	/* Asked about every 10 ms while the process has not made a recording call yet; false: give up.
	 */
	bool (*goes_on)(void *context);
	void *context;
};

/* Returns once the process records. It has made a run directory for its buffer and those of its
 * children, which from now on is locked as one of ours; `ret_directory` is its name, with a slash
 * at its end. `ret_pid` is the process's number in its own PID namespace, by which its buffer is
 * named. False after a report, or if `goes_on` returned false. */
bool weft__runs_attach(
	const struct weft__runs_attach_options *options, char ret_directory[PATH_MAX], pid_t *ret_pid);

/* The path by which we reach the run directory of a process, as weft__runs_attach returns it: that
 * of another user's process through a descriptor. `directory` ends in a slash. False after a
 * report. */
bool weft__runs_reach(pid_t pid, const char *directory, char ret_directory[PATH_MAX]);

struct weft__runs_detached;

/* Asks all processes that record into the run directory to stop, and waits for them, for about a
 * second at most: a process stops at its next recording call. NULL if memory is short. */
struct weft__runs_detached *weft__runs_detach(const char *directory);

/* Frees the memory of the buffers' events, which the processes keep mapped. Call it when the
 * buffers are saved; NULL is allowed. With `is_saved` false it stays. */
void weft__runs_detached_finish(struct weft__runs_detached *detached, bool is_saved);

#endif
