/* SPDX-License-Identifier: ISC */
#include "runs/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The part of the path before the last slash; "." without one, and "/" for a file in the root. */
static void directory_of(const char *path, char ret_directory[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int length = slash == path ? 1 : slash ? (int)(slash - path) : 1;
	snprintf(ret_directory, PATH_MAX, "%.*s", length, slash ? path : ".");
}

bool weft__runs_write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

bool weft__runs_sync(int fd)
{
	return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

bool weft__runs_sync_directory_of(const char *path)
{
	char directory[PATH_MAX];
	directory_of(path, directory);
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES; /* a directory may be writable without being readable */
	bool good = weft__runs_sync(fd);
	int reason = errno;
	close(fd);
	errno = reason;
	return good;
}

bool weft__runs_file_create(const char *path, struct weft__runs_file *ret_file)
{
	struct weft__runs_file file = {.fd = -1};
	char directory[PATH_MAX];
	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (!realpath(path, file.path))
		strcpy(file.path, path);
	directory_of(file.path, directory);
	if (snprintf(file.temporary, PATH_MAX, "%s/.weft-XXXXXX", directory) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	file.fd = mkostemp(file.temporary, O_CLOEXEC);
	if (file.fd < 0)
		return false;
	*ret_file = file;
	return true;
}

bool weft__runs_file_commit(struct weft__runs_file *file)
{
	bool good = weft__runs_sync(file->fd);
	int reason = errno;
	if (close(file->fd) != 0 && good) {
		good = false;
		reason = errno;
	}
	if (good && rename(file->temporary, file->path) == 0)
		return weft__runs_sync_directory_of(file->path);
	if (good)
		reason = errno;
	unlink(file->temporary);
	errno = reason;
	return false;
}

void weft__runs_file_abandon(struct weft__runs_file *file)
{
	int reason = errno;
	close(file->fd);
	unlink(file->temporary);
	errno = reason;
}

bool weft__runs_file_can_create(const char *path)
{
	struct weft__runs_file trial;
	if (!weft__runs_file_create(path, &trial))
		return false;
	weft__runs_file_abandon(&trial);
	return true;
}
