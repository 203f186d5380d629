/* SPDX-License-Identifier: ISC
 *
 * The program that names the directory may be hostile, and we may be root: entries that are not its
 * own must be neither read nor removed in its name. So the directory has to have the name of a run
 * directory, it and the folder around it have to belong to the program's user alone, and links are
 * not followed.
 *
 * Another user can replace his directory by something else at any time. So we reach it through a
 * descriptor, /proc/PID/fd/N/, and what we remove there is in that directory, whatever is in its
 * place by then. By the same path we reach a directory in the program's own mount namespace.
 */
#include "runs/attach/answered.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/attach_abi.h"
#include "runs/message.h"
#include "source/process.h"

/* The directory that is reached through its descriptor. */
static struct {
	char path[64]; /* as we gave it out; "": none */
	int folder;
	char name[NAME_MAX + 1];
} pinned;

/* ---- The name ---- */

static bool has_prefix(const char *text, size_t size, const char *prefix)
{
	return size > strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

/* True for …/weft/record-NAME/ and …/weft-UID/record-NAME/. */
static bool is_run_directory(const char *path)
{
	size_t size = strnlen(path, sizeof(((struct weft_abi_attach *)0)->directory));
	if (size < 2 || size >= PATH_MAX || path[0] != '/' || path[size - 1] != '/')
		return false;
	const char *end = path + size - 1, *name = (const char *)memrchr(path, '/', size - 1) + 1;
	if (name - path < 2 || !has_prefix(name, (size_t)(end - name), "record-"))
		return false;
	const char *folder_end = name - 1;
	const char *folder = (const char *)memrchr(path, '/', (size_t)(folder_end - path)) + 1;
	size_t folder_size = (size_t)(folder_end - folder);
	return (folder_size == 4 && memcmp(folder, "weft", 4) == 0) ||
		   has_prefix(folder, folder_size, "weft-");
}

/* ---- Opening ---- */

/* True if only that user can create or replace entries there. Root's run directories are open to
 * processes that give up its rights, which cannot replace entries of others. */
static bool is_of_user(int fd, uint64_t user)
{
	struct stat status;
	return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == user &&
		   (!(status.st_mode & 022) || (user == 0 && (status.st_mode & S_ISVTX)));
}

/* Opens the entry that is named by the first `size` bytes of a path. */
static int open_entry(int folder, const char *path, size_t size, int flags, char *ret_name)
{
	errno = EINVAL;
	if (!size || size > NAME_MAX || (size == 1 && path[0] == '.') ||
		(size == 2 && memcmp(path, "..", 2) == 0))
		return -1;
	memcpy(ret_name, path, size);
	ret_name[size] = '\0';
	return openat(folder, ret_name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
}

/* How many names are left in the path. */
static unsigned count_names(const char *path)
{
	unsigned count = 0;
	for (; *path; path++)
		count += *path == '/';
	return count;
}

/* Follows the path from the process's own root directory to the last two directories. Links that
 * lead to them are followed only if they are ours. */
static bool walk(
	pid_t pid, uint64_t user, const char *path, int *ret_folder, int *ret_directory, char *ret_name)
{
	char root[32], name[NAME_MAX + 1];
	snprintf(root, sizeof(root), "/proc/%d/root", (int)weft__source_process_thread(pid));
	int folder = -1, directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (const char *at = path + 1; directory >= 0 && *at; at += strcspn(at, "/") + 1) {
		size_t size = strcspn(at, "/");
		if (folder >= 0)
			close(folder);
		folder = directory;
		directory = open_entry(
			folder, at, size, user != geteuid() || count_names(at) <= 2 ? O_NOFOLLOW : 0, name);
	}
	if (directory < 0 && folder >= 0)
		close(folder);
	if (directory < 0)
		return false;
	*ret_folder = folder;
	*ret_directory = directory;
	strcpy(ret_name, name);
	return true;
}

/* True if our path leads to that directory, too, and nobody but us and root can change that. */
static bool is_reached(const char *path, int directory, uint64_t user)
{
	struct stat ours, theirs;
	return user == geteuid() && stat(path, &ours) == 0 && fstat(directory, &theirs) == 0 &&
		   ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

bool weft__runs_answered_open(
	pid_t pid, uint64_t user, const char *named, char ret_directory[PATH_MAX])
{
	int folder, directory;
	char name[NAME_MAX + 1];
	if (!is_run_directory(named)) {
		weft__runs_report(
			"process %d records into %s, which is not a run directory; it is left alone", (int)pid,
			weft__runs_shown(named));
		return false;
	}
	if (!walk(pid, user, named, &folder, &directory, name)) {
		weft__runs_report("process %d records into %s: %s; links are not followed", (int)pid,
			weft__runs_shown(named), strerror(errno));
		return false;
	}
	bool good = is_of_user(folder, user) && is_of_user(directory, user);
	if (!good)
		weft__runs_report("process %d records into %s, which does not belong to its user %u alone; "
						  "it is left alone",
			(int)pid, weft__runs_shown(named), (unsigned)user);
	if (good && !is_reached(named, directory, user)) {
		snprintf(pinned.path, sizeof(pinned.path), "/proc/%d/fd/%d/", (int)getpid(), directory);
		snprintf(ret_directory, PATH_MAX, "%s", pinned.path);
		pinned.folder = folder;
		strcpy(pinned.name, name);
		return true;
	}
	close(folder);
	close(directory);
	if (good)
		snprintf(ret_directory, PATH_MAX, "%s", named);
	return good;
}

void weft__runs_answered_remove(const char *directory)
{
	if (pinned.path[0] && strcmp(directory, pinned.path) == 0)
		unlinkat(pinned.folder, pinned.name, AT_REMOVEDIR);
	else
		rmdir(directory);
}
