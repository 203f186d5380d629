/* SPDX-License-Identifier: ISC
 *
 * A file that appears whole or not at all: it is written beside its path under a temporary name and
 * renamed when all of it is on the disk. A full disk, an interrupt or a power failure leaves what
 * was there before.
 */
#ifndef WEFT_RUNS_FILE_H
#define WEFT_RUNS_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct weft__runs_file {
	char path[PATH_MAX], temporary[PATH_MAX];
	int fd;
};

/* For `path`; if that is a symbolic link the file it leads to is replaced. Only its owner may read
 * the file until its mode is changed. False with errno. */
bool weft__runs_file_create(const char *path, struct weft__runs_file *ret_file);

/* Puts the file in its place once it and its name are on the disk. Closes the descriptor. False
 * with errno; then nothing remains of it, unless it was only the directory that could not be
 * written out. */
bool weft__runs_file_commit(struct weft__runs_file *file);
void weft__runs_file_abandon(struct weft__runs_file *file);

/* May such a file be created there? False with errno. */
bool weft__runs_file_can_create(const char *path);

/* Writes all bytes; false with errno. */
bool weft__runs_write_all(int fd, const char *bytes, size_t size);

/* Waits until a file is on the disk, or the names in a directory. False with errno; a file system
 * that does not support it counts as done. */
bool weft__runs_sync(int fd);
/* The same for the directory that contains `path`. */
bool weft__runs_sync_directory_of(const char *path);

#endif
