/* SPDX-License-Identifier: ISC
 *
 * The program that records into a file, as its follower sees it.
 */
#ifndef WEFT_FOLLOW_PROCESS_H
#define WEFT_FOLLOW_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct weft__process {
	pid_t pid;
	int fd;          /* readable once the process has ended; -1: it has ended, or ends unseen */
	uint64_t inode;  /* of the file */
	uint64_t due_ns; /* when to look again whether the file is mapped */
	bool has_ended;
};

void weft__process_open(struct weft__process *process, uint32_t pid, uint64_t inode);
void weft__process_close(struct weft__process *process);

/* Has the program ended, or become another that does not record there? Then it stays so. */
bool weft__process_has_ended(struct weft__process *process);

/* Has the process itself ended? No file is asked. */
bool weft__process_is_gone(const struct weft__process *process);

/* Sleeps so long, or until the process ends, or a signal comes; false after a signal. */
bool weft__process_sleep(const struct weft__process *process, uint64_t ns);

#endif
