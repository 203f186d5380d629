/* SPDX-License-Identifier: ISC
 *
 * See region.h. Root looks into the folders of other users, too. What these have made of the path
 * does not matter: it is followed inside their XDG_RUNTIME_DIR, and without links.
 */
#include "runs/attach/region.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/metric_abi.h"
#include "abi/run_abi.h"
#include "runs/attach/page.h"
#include "runs/directory/find.h"

/* True if it is a directory of this user. */
static bool is_ours(const char *path)
{
	struct stat status;
	return path && path[0] == '/' && lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
		   status.st_uid == geteuid();
}

static bool is_wanted(const char *folder)
{
	return folder && *folder && strcmp(folder, "none") != 0;
}

static bool find_user_folder(char ret_folder[PATH_MAX])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	if (!is_ours(runtime))
		return false;
	int size = snprintf(ret_folder, PATH_MAX, "%s" WEFT_ABI_AGENT_USER_FOLDER, runtime);
	return size < PATH_MAX;
}

bool weft__runs_region_folder(char ret_folder[PATH_MAX])
{
	const char *wanted = getenv(WEFT_ABI_AGENT_VARIABLE);
	if (is_wanted(wanted))
		return snprintf(ret_folder, PATH_MAX, "%s", wanted) < PATH_MAX;
	if (geteuid() != 0)
		return find_user_folder(ret_folder);
	strcpy(ret_folder, WEFT_ABI_AGENT_FOLDER);
	return true;
}

void weft__runs_region_name(
	const uint8_t region[16], const char *suffix, char ret_name[WEFT_ABI_AGENT_NAME_BYTES])
{
	for (unsigned i = 0; i < 16; i++)
		snprintf(ret_name + 2 * i, 3, "%02x", region[i]);
	strcpy(ret_name + 32, suffix);
}

/* A user may mount a file system over a file of their own (fusermount), whose opener waits. */
int weft__runs_region_open_at(int folder, const char *name)
{
	struct stat status;
	const struct open_how how = {.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS};
	int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));
	if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

static int open_in(int folder, const char *name, uid_t user)
{
	struct stat status;
	int fd = folder >= 0 ? weft__runs_region_open_at(folder, name) : -1;
	if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_uid != user)) {
		close(fd);
		fd = -1;
	}
	if (folder >= 0)
		close(folder);
	return fd;
}

static int open_folder(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The folder in another user's XDG_RUNTIME_DIR, where no file system of that user is asked. */
static int open_folder_of(uid_t user)
{
	const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS};
	char path[64];
	snprintf(path, sizeof(path), "/run/user/%u", (unsigned)user);
	int runtime = open_folder(path);
	if (runtime < 0)
		return -1;
	long fd = syscall(SYS_openat2, runtime, &WEFT_ABI_AGENT_USER_FOLDER[1], &how, sizeof(how));
	close(runtime);
	return (int)fd;
}

#define FOLDERS 4

/* One of the folders in which a user's programs may have their files. -1: it is not there. */
static int open_folder_number(unsigned number, uid_t user)
{
	const char *wanted = getenv(WEFT_ABI_AGENT_VARIABLE);
	char folder[PATH_MAX];
	switch (number) {
	case 0:
		return is_wanted(wanted) ? open_folder(wanted) : -1;
	case 1:
		return open_folder(WEFT_ABI_AGENT_FOLDER);
	case 2:
		return find_user_folder(folder) ? open_folder(folder) : -1;
	default:
		return geteuid() == 0 ? open_folder_of(user) : -1;
	}
}

int weft__runs_region_open(const uint8_t region[16], const char *suffix, uid_t user)
{
	char name[WEFT_ABI_AGENT_NAME_BYTES];
	int fd = -1;
	weft__runs_region_name(region, suffix, name);
	for (unsigned i = 0; fd < 0 && i < FOLDERS; i++)
		fd = open_in(open_folder_number(i, user), name, user);
	if (fd < 0)
		errno = ENOENT;
	return fd;
}

/* False: the file is not a header that refers to an agent's folder. */
static bool read_reference(int fd, uint8_t ret_region[16], uid_t *ret_user)
{
	struct weft_abi_metrics header;
	struct stat status;
	if (weft__runs_region_read(fd, 0, &header, sizeof(header)) != 0 || fstat(fd, &status) != 0 ||
		memcmp(header.magic, WEFT_ABI_METRICS_MAGIC, sizeof(header.magic)) != 0 ||
		!header.is_elsewhere)
		return false;
	memcpy(ret_region, header.region, 16);
	*ret_user = status.st_uid;
	return true;
}

int weft__runs_region_open_kept(int header)
{
	uint8_t region[16];
	uid_t user;
	if (!read_reference(header, region, &user))
		return header;
	close(header);
	return weft__runs_region_open(region, WEFT_ABI_AGENT_KEPT_SUFFIX, user);
}

static void drop_in(int folder, const char *name, uid_t user)
{
	struct stat status;
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == user)
		unlinkat(folder, name, 0);
}

void weft__runs_region_drop_kept(const char *header)
{
	uint8_t region[16];
	uid_t user;
	char name[WEFT_ABI_AGENT_NAME_BYTES];
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = open(header, flags);
	bool is_kept = fd >= 0 && read_reference(fd, region, &user);
	if (fd >= 0)
		close(fd);
	if (is_kept)
		weft__runs_region_name(region, WEFT_ABI_AGENT_KEPT_SUFFIX, name);
	for (unsigned i = 0; is_kept && i < FOLDERS; i++) {
		int folder = open_folder_number(i, user);
		if (folder >= 0) {
			drop_in(folder, name, user);
			close(folder);
		}
	}
}

int weft__runs_region_open_of(const char *ring, const char *beside, uid_t user)
{
	char name[PATH_MAX + 2 * NAME_MAX];
	const char *slash = strrchr(ring, '/'), *suffix = strrchr(ring, '.');
	if (!slash || !suffix || suffix < slash || strlen(slash) > NAME_MAX) {
		errno = ENOENT;
		return -1;
	}
	snprintf(name, sizeof(name), "%.*s/", (int)(slash - ring), ring);
	int folder = open_folder(name);
	snprintf(name, sizeof(name), "%.*s%s", (int)(suffix - slash - 1), slash + 1, beside);
	int fd = open_in(folder, name, user);
	if (fd < 0)
		errno = ENOENT;
	return fd;
}

/* Root needs no path, which the process of another user might have chosen so that it blocks. */
static int open_mapped(pid_t pid, enum weft__runs_memory kind, const char *beside)
{
	struct weft__runs_found found;
	struct stat status;
	int fd = weft__runs_file_open(pid, kind);
	if (fd >= 0 || errno == ENOENT)
		return fd;
	if (weft__runs_find_mapped(pid, &found) && stat(found.path, &status) == 0)
		return weft__runs_region_open_of(found.path, beside, status.st_uid);
	errno = ENOENT;
	return -1;
}

int weft__runs_region_open_beside(pid_t pid, const uint8_t region[16], uid_t user)
{
	struct weft_abi_metrics header;
	struct stat status;
	int fd = open_mapped(pid, WEFT__RUNS_LASTING, WEFT_ABI_RUN_METRICS);
	if (fd < 0 ||
		(fstat(fd, &status) == 0 && status.st_uid == user &&
			weft__runs_region_read(fd, 0, &header, sizeof(header)) == 0 && !header.is_elsewhere &&
			memcmp(header.region, region, sizeof(header.region)) == 0))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

int weft__runs_region_open_counters(pid_t pid)
{
	return open_mapped(pid, WEFT__RUNS_COUNTERS, WEFT_ABI_RUN_COUNTERS);
}

int weft__runs_region_open_metrics(pid_t pid)
{
	return open_mapped(pid, WEFT__RUNS_LASTING, WEFT_ABI_RUN_METRICS);
}

int weft__runs_region_read(int fd, off_t offset, void *ret, size_t bytes)
{
	size_t have = 0;
	ssize_t size = 1;
	while (have < bytes && size > 0)
		if ((size = pread(fd, (char *)ret + have, bytes - have, offset + (off_t)have)) > 0)
			have += (size_t)size;
	return size < 0 ? errno : have == bytes ? 0 : ENOENT;
}
