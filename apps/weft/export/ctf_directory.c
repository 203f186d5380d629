/* SPDX-License-Identifier: ISC
 *
 * All paths are relative to open directories, so that nothing is removed that was not checked.
 */
#include "ctf_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/error.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "runs/file.h"

#define PART ".weft-part"

/* True for "thread_0", "thread_1" and so on. */
static bool is_stream(const char *name)
{
	size_t prefix = strlen("thread_");
	return strncmp(name, "thread_", prefix) == 0 && name[prefix] &&
		   strspn(name + prefix, "0123456789") == strlen(name + prefix);
}

/* True if the metadata is from weft, which it says near its beginning. */
static bool is_our_metadata(int directory, const char *name)
{
	char text[4096];
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	return strstr(text, "tracer_name = \"weft\";") != NULL;
}

/* True if this entry of the directory may be replaced. */
static bool is_ours(int directory, const char *name)
{
	struct stat status;
	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return false;
	return is_stream(name) || (strcmp(name, "metadata") == 0 && is_our_metadata(directory, name));
}

static bool is_counted(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, PART) != 0;
}

/* The entries of a directory; NULL if they cannot be read. */
static DIR *open_list(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	if (!list && fd >= 0)
		close(fd);
	return list;
}

/* True if no other entry is in the way. */
static bool check_entries(
	const struct ctf_directory *directory, char **inputs, int count, bool replace)
{
	bool free = true;
	DIR *list = open_list(directory->fd);
	if (!list) {
		cli_error("%s: %s", directory->path, strerror(errno));
		return false;
	}
	for (struct dirent *entry; free && (entry = readdir(list));) {
		const char *name = entry->d_name;
		if (!is_counted(name))
			continue;
		free = false;
		if (cli_output_is_input(directory->fd, name, inputs, count))
			cli_error("refusing to overwrite %s/%s, which is the trace to be exported",
				directory->path, name);
		else if (!is_ours(directory->fd, name))
			cli_error(
				"%s is not empty, and %s is not part of a CTF export by weft; name another directory",
				directory->path, name);
		else if (!replace)
			cli_error("%s holds a CTF export already; --force replaces it", directory->path);
		else
			free = true;
	}
	closedir(list);
	return free;
}

/* Removes the files of a complete or partial export. */
static void remove_files(int directory)
{
	DIR *list = open_list(directory);
	for (struct dirent *entry; list && (entry = readdir(list));)
		if (is_stream(entry->d_name) || strcmp(entry->d_name, "metadata") == 0)
			unlinkat(directory, entry->d_name, 0);
	if (list)
		closedir(list);
}

static bool open_part(struct ctf_directory *directory)
{
	if (mkdirat(directory->fd, PART, 0700) && errno != EEXIST)
		return false;
	directory->part_fd =
		openat(directory->fd, PART, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory->part_fd < 0)
		return false;
	remove_files(directory->part_fd); /* left by an export that was killed */
	return true;
}

bool ctf_directory_open(
	const char *path, char **inputs, int count, bool replace, struct ctf_directory *ret_directory)
{
	struct ctf_directory directory = {.path = path, .fd = -1, .part_fd = -1};
	/* Users who may read may also search the directory. */
	mode_t mode = cli_output_mode(0666, getegid());
	directory.created = mkdir(path, mode | 0700 | (mode & 0444) >> 2) == 0;
	if (directory.created || errno == EEXIST)
		directory.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory.fd < 0) {
		cli_error("%s: %s", path, strerror(errno));
		return false;
	}
	bool good = check_entries(&directory, inputs, count, replace);
	if (good && !open_part(&directory)) {
		cli_error("%s: %s", path, strerror(errno));
		good = false;
	}
	if (good)
		*ret_directory = directory;
	else
		ctf_directory_abandon(&directory);
	return good;
}

int ctf_directory_append(void *context, const char *name, const void *bytes, size_t size)
{
	/* The file is opened for each packet, since there may be more threads than a process may have
	 * open files. */
	const struct ctf_directory *directory = context;
	const char *next = bytes;
	int fd = openat(directory->part_fd, name,
		O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, cli_output_mode(0666, getegid()));
	if (fd < 0)
		return WEFT_ERROR_SYSTEM;
	while (size) {
		ssize_t written = write(fd, next, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			break;
		next += written;
		size -= (size_t)written;
	}
	int reason = errno;
	bool closed = close(fd) == 0;
	if (size)
		errno = reason;
	return size || !closed ? WEFT_ERROR_SYSTEM : 0;
}

static bool move_up(const struct ctf_directory *directory, const char *name)
{
	int fd = openat(directory->part_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool is_on_disk = fd >= 0 && weft__runs_sync(fd);
	int reason = errno;
	if (fd >= 0)
		close(fd);
	errno = reason;
	return is_on_disk && renameat(directory->part_fd, name, directory->fd, name) == 0;
}

static bool move_all(const struct ctf_directory *directory)
{
	bool moved = true;
	DIR *list = open_list(directory->part_fd);
	for (struct dirent *entry; list && moved && (entry = readdir(list));)
		if (is_stream(entry->d_name))
			moved = move_up(directory, entry->d_name);
	if (list)
		closedir(list);
	return list && moved && move_up(directory, "metadata");
}

bool ctf_directory_commit(struct ctf_directory *directory)
{
	/* The old metadata is removed first and the new one added last: in between, readers do not take
	 * the directory for a trace. */
	bool committed = unlinkat(directory->fd, "metadata", 0) == 0 || errno == ENOENT;
	if (committed) {
		remove_files(directory->fd);
		committed = move_all(directory) && weft__runs_sync(directory->fd);
	}
	if (!committed)
		cli_error("%s: %s", directory->path, strerror(errno));
	ctf_directory_abandon(directory);
	return committed;
}

void ctf_directory_abandon(struct ctf_directory *directory)
{
	if (directory->part_fd >= 0) {
		remove_files(directory->part_fd);
		unlinkat(directory->fd, PART, AT_REMOVEDIR);
		close(directory->part_fd);
	}
	/* Removed only if it is empty, which it is not after a commit. */
	if (directory->created)
		rmdir(directory->path);
	if (directory->fd >= 0)
		close(directory->fd);
}
