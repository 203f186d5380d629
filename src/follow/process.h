/* SPDX-License-Identifier: ISC
 *
 * The program that records into a file, as seen by its follower.
 */
#ifndef WEFT_FOLLOW_PROCESS_H
#define WEFT_FOLLOW_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct weft__process {
	pid_t pid;
	int fd; /* pidfd, readable once the process has ended; -1: it has ended, or unsupported */
	uint64_t inode;  /* the file's */
	uint64_t due_ns; /* when to check the mapping again */
	bool has_ended;
};

void weft__follow_process_open(struct weft__process *process, uint32_t pid, uint64_t inode);
void weft__follow_process_close(struct weft__process *process);

/* True if the program has ended, or has become another that does not record there. Once true, it
 * stays true. */
bool weft__follow_process_has_ended(struct weft__process *process);

/* True if the process itself has ended, without checking the mapping. */
bool weft__follow_process_is_gone(const struct weft__process *process);

/* True if the process has ended, and its parent has not asked yet how. */
bool weft__follow_process_awaits_parent(const struct weft__process *process);

/* Sleeps for a time, or until the process ends; false after a signal. */
bool weft__follow_process_sleep(const struct weft__process *process, uint64_t ns);

#endif
