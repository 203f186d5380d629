/* SPDX-License-Identifier: ISC
 *
 * The run directory that another process has made for its buffer, because we asked it to record.
 */
#ifndef WEFT_RUNS_ANSWERED_H
#define WEFT_RUNS_ANSWERED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Checks the directory that the process `pid` of the user `user` named, and opens it.
 * `ret_directory` is the path by which this process reaches it, with a slash at its end. False
 * after a report. At most one directory is open at a time. */
bool weft__runs_answered_open(
	pid_t pid, uint64_t user, const char *named, char ret_directory[PATH_MAX]);

/* Removes an empty run directory, also one that was opened like that. */
void weft__runs_answered_remove(const char *directory);

#endif
