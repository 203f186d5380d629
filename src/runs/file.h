/* SPDX-License-Identifier: ISC
 *
 * A file that appears whole or not at all: it is written without a name, or under a temporary one
 * beside its path, and renamed when all of it is on the disk. A full disk, an interrupt or a power
 * failure leaves the old file as it was.
 */
#ifndef WEFT_RUNS_FILE_H
#define WEFT_RUNS_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct weft__runs_file {
	char path[PATH_MAX], temporary[PATH_MAX];
	int fd;
	bool is_unnamed; /* it gets its temporary name just before the rename: a process that is
						killed before leaves no file */
};

/* Begins a file for `path`. If that is a symbolic link, the file to which it leads will be
 * replaced. Only its owner may read the new file until its mode is changed. False with errno. */
bool weft__runs_file_create(const char *path, struct weft__runs_file *ret_file);

/* Waits until the file is on the disk, renames it to its path and waits for the directory. Closes
 * the descriptor. False with errno; then the new file is removed, unless only the wait for the
 * directory failed. */
bool weft__runs_file_commit(struct weft__runs_file *file);
/* The same without waiting for the disk, which the caller does later: see weft__runs_sync_all. */
bool weft__runs_file_publish(struct weft__runs_file *file);
void weft__runs_file_abandon(struct weft__runs_file *file);

/* True if a file can be created for `path`, else false with errno. */
bool weft__runs_file_can_create(const char *path);

/* Writes all bytes; false with errno. */
bool weft__runs_write_all(int fd, const void *bytes, size_t size);

/* Waits until a file is on the disk, or the names in a directory. False with errno; a file system
 * that does not support it counts as done. */
bool weft__runs_sync(int fd);
/* Waits until many files, and their names, are on the disk: all are written before any is waited
 * for. False after a report. */
bool weft__runs_sync_all(const char *const *paths, size_t count);
/* weft__runs_sync of the directory that contains `path`. */
bool weft__runs_sync_directory_of(const char *path);

#endif
