/* SPDX-License-Identifier: ISC
 *
 * A file that appears whole or not at all, see file.h. The order is what makes it safe: write,
 * fsync, rename, fsync of the folder.
 */
#include "runs/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs/message.h"

#define NUMBERS 32 /* at most, of characters in a temporary name */

/* The part of the path before the last slash; "." without one, and "/" for a file in the root. */
static void directory_of(const char *path, char ret_directory[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int length = slash == path ? 1 : slash ? (int)(slash - path) : 1;
	snprintf(ret_directory, PATH_MAX, "%.*s", length, slash ? path : ".");
}

bool weft__runs_write_all(int fd, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t written = write(fd, (const char *)bytes + done, size - done);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		done += (size_t)written;
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

/* Opens a file without a name, which goes with its last descriptor: nothing of it is left when we
 * are killed. -1 where the file system has none, or where none could be named later. */
static int open_unnamed(const char *directory)
{
	return access("/proc/self/fd", X_OK) == 0
			   ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR)
			   : -1;
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
	if (snprintf(file.temporary, PATH_MAX, "%s/.weft-XXXXXX", directory) + NUMBERS >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	file.fd = open_unnamed(directory);
	file.is_unnamed = file.fd >= 0;
	if (!file.is_unnamed)
		file.fd = mkostemp(file.temporary, O_CLOEXEC);
	if (file.fd < 0)
		return false;
	*ret_file = file;
	return true;
}

/* Gives the file a name of its own beside its path: a link cannot replace what is there, as a
 * rename does. */
static bool name_file(struct weft__runs_file *file)
{
	char *name = strrchr(file->temporary, '/') + 1, own[32];
	const size_t room = (size_t)(file->temporary + sizeof(file->temporary) - name);
	snprintf(own, sizeof(own), "/proc/self/fd/%d", file->fd);
	for (unsigned number = 0;; number++) {
		snprintf(name, room, ".weft-%d.%d.%u", (int)getpid(), file->fd, number);
		if (linkat(AT_FDCWD, own, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0)
			file->is_unnamed = false;
		else if (errno == EEXIST)
			continue;
		return !file->is_unnamed;
	}
}

static void remove_name(const struct weft__runs_file *file)
{
	if (!file->is_unnamed)
		unlink(file->temporary);
}

/* `good`: the content is complete; else errno says why not. */
static bool rename_or_remove(struct weft__runs_file *file, bool good)
{
	if (good && file->is_unnamed)
		good = name_file(file);
	int reason = errno;
	if (close(file->fd) != 0 && good) {
		good = false;
		reason = errno;
	}
	if (good && rename(file->temporary, file->path) == 0)
		return true;
	if (good)
		reason = errno;
	remove_name(file);
	errno = reason;
	return false;
}

bool weft__runs_file_commit(struct weft__runs_file *file)
{
	return rename_or_remove(file, weft__runs_sync(file->fd)) &&
		   weft__runs_sync_directory_of(file->path);
}

bool weft__runs_file_publish(struct weft__runs_file *file)
{
	return rename_or_remove(file, true);
}

/* A file that was removed meanwhile needs no disk. */
static bool sync_path(const char *path, bool waits)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT;
	if (!waits) /* best effort: it only makes the wait shorter */
		(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	bool good = !waits || weft__runs_sync(fd);
	int reason = errno;
	close(fd);
	errno = reason;
	return good;
}

bool weft__runs_sync_all(const char *const *paths, size_t count)
{
	char directory[PATH_MAX], last[PATH_MAX] = "";
	for (size_t i = 0; i < count; i++)
		sync_path(paths[i], false);
	for (size_t i = 0; i < count; i++) {
		directory_of(paths[i], directory);
		if (!sync_path(paths[i], true) ||
			(strcmp(directory, last) != 0 && !weft__runs_sync_directory_of(paths[i]))) {
			weft__runs_report(
				"%s may not be on the disk: %s", weft__runs_shown(paths[i]), strerror(errno));
			return false;
		}
		strcpy(last, directory);
	}
	return true;
}

void weft__runs_file_abandon(struct weft__runs_file *file)
{
	int reason = errno;
	close(file->fd);
	remove_name(file);
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
