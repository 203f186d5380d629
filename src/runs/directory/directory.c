/* SPDX-License-Identifier: ISC
 *
 * Each run gets a new directory of mode 0700 (root's: 01733) in XDG_RUNTIME_DIR/weft or
 * /dev/shm/weft-UID. Both are in memory: on a disk, writing pages back would stall the program.
 *
 * The process that made it keeps a lock on it, which the kernel releases however that process ends.
 * So other processes see whether the run still has a `weft record` that will save its rings.
 *
 * Every user can write to /dev/shm, and may have created an entry with our directory's name there.
 * So that entry is opened without following links and must be a directory that we own. If it is
 * not, ours gets another name, which readers find because it begins in the same way.
 *
 * Root's run directories are writable for child processes that drop their privileges.
 */
#include "runs/directory/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/run_abi.h"
#include "runs/attach/answered.h"
#include "runs/attach/region.h"
#include "runs/message.h"

/* True if `path` is a directory that we own, and not a link. With `make_private` its mode is set so
 * that other users cannot list it; they can pass through root's. */
static bool is_ours(const char *path, bool make_private)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	struct stat status;
	bool ours = fstat(fd, &status) == 0 && status.st_uid == geteuid();
	mode_t mode = geteuid() == 0 ? 0711 : 0700;
	if (ours && make_private && (status.st_mode & 07777) != mode)
		ours = fchmod(fd, mode) == 0;
	int reason = ours ? 0 : EPERM;
	close(fd);
	errno = reason;
	return ours;
}

/* True if we own the directory and no other user can create or rename entries in it. */
static bool is_private(const char *path)
{
	struct stat status;
	return is_ours(path, false) && stat(path, &status) == 0 && !(status.st_mode & 022);
}

#define SHARED_DIRECTORY "/dev/shm"

/* True for weft-UID and for weft-UID-XXXXXX, which we use if another user has created the first. */
static bool is_base_name(const char *name)
{
	char usual[32];
	size_t length = (size_t)snprintf(usual, sizeof(usual), "weft-%u", (unsigned)geteuid());
	return strncmp(name, usual, length) == 0 && (name[length] == '\0' || name[length] == '-');
}

/* Finds XDG_RUNTIME_DIR/weft; empty: use /dev/shm. Another user's XDG_RUNTIME_DIR, which sudo may
 * leave in the environment, is not used: its owner could replace our directory. */
static bool find_private_base(char ret_base[PATH_MAX])
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	ret_base[0] = '\0';
	if (!run || run[0] != '/' || !is_ours(run, false))
		return true;
	if (strlen(run) >= PATH_MAX - 64) {
		errno = ENAMETOOLONG;
		return false;
	}
	snprintf(ret_base, PATH_MAX, "%s/weft", run);
	return true;
}

/* Calls `visit` for each directory of ours that holds run directories, until it returns false. */
static void visit_bases(bool (*visit)(void *context, const char *base), void *context)
{
	char base[PATH_MAX];
	if (!find_private_base(base))
		return;
	if (base[0]) {
		if (is_private(base))
			visit(context, base);
		return;
	}
	DIR *entries = opendir(SHARED_DIRECTORY);
	bool goes_on = true;
	for (struct dirent *entry; goes_on && entries && (entry = readdir(entries));) {
		snprintf(base, sizeof(base), SHARED_DIRECTORY "/%s", entry->d_name);
		if (is_base_name(entry->d_name) && is_private(base))
			goes_on = visit(context, base);
	}
	if (entries)
		closedir(entries);
}

static bool take_base(void *context, const char *base)
{
	snprintf(context, PATH_MAX, "%s", base);
	return false;
}

static bool make_base(const char *base)
{
	return (mkdir(base, 0700) == 0 || errno == EEXIST) && is_ours(base, true);
}

/* If another user has created /dev/shm/weft-UID, ours gets a name that cannot be guessed. On
 * failure `ret_base` is the path that could not be used. */
static bool find_base(char ret_base[PATH_MAX])
{
	if (!find_private_base(ret_base))
		return false;
	if (ret_base[0])
		return make_base(ret_base);
	snprintf(ret_base, PATH_MAX, SHARED_DIRECTORY "/weft-%u", (unsigned)geteuid());
	if (make_base(ret_base))
		return true;
	char other[PATH_MAX] = "";
	visit_bases(take_base, other);
	if (!other[0]) {
		snprintf(other, sizeof(other), SHARED_DIRECTORY "/weft-%u-XXXXXX", (unsigned)geteuid());
		if (!mkdtemp(other))
			return false;
	}
	if (!make_base(other))
		return false;
	strcpy(ret_base, other);
	return true;
}

/* Tries to lock the directory. With `keep` the lock stays until this process ends. */
static bool try_lock(const char *directory, int operation, bool keep)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, operation) == 0;
	if (fd >= 0 && !(locked && keep))
		close(fd);
	return locked;
}

bool weft__runs_directory_is_ours(const char *directory)
{
	return is_ours(directory, false);
}

bool weft__runs_directory_is_attended(const char *directory)
{
	return !try_lock(directory, LOCK_EX | LOCK_NB, false) && errno == EWOULDBLOCK;
}

bool weft__runs_directory_attend(const char *directory)
{
	return try_lock(directory, LOCK_EX | LOCK_NB, true);
}

/* Makes the file of the bound on all rings: it begins with the bound, and the recorder appends the
 * size of each ring. It counts only if it belongs to the directory's owner. */
static bool set_total(const char *directory, const uint64_t *entries, size_t size)
{
	char path[PATH_MAX + sizeof(WEFT_ABI_RUN_TOTAL)];
	struct stat status;
	snprintf(path, sizeof(path), "%s/" WEFT_ABI_RUN_TOTAL, directory);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool good =
		fd >= 0 && write(fd, entries, size) == (ssize_t)size && stat(directory, &status) == 0;
	if (good && status.st_uid != geteuid())
		good = fchown(fd, status.st_uid, (gid_t)-1) == 0;
	/* A child process that drops root's privileges appends its ring's size too. */
	if (good && status.st_uid == 0)
		good = fchmod(fd, 0666) == 0;
	if (fd >= 0)
		close(fd);
	return good;
}

bool weft__runs_directory_limit(const char *directory, uint64_t total_bytes, uint64_t used_bytes)
{
	const uint64_t entries[] = {total_bytes, used_bytes};
	bool good = set_total(directory, entries, sizeof(entries));
	if (!good)
		weft__runs_report(
			"%s" WEFT_ABI_RUN_TOTAL ": %s", weft__runs_shown(directory), strerror(errno));
	return good;
}

void weft__runs_directory_share(const char *directory)
{
	/* A shared lock that is waited for, so that our own checks, which lock exclusively for an
	 * instant, cannot make it fail. On a file system without locks the run looks orphaned, which
	 * only `weft ls` shows. */
	try_lock(directory, LOCK_SH, true);
}

void weft__runs_directory_release(const char *directory, uint64_t bytes)
{
	char path[PATH_MAX + sizeof(WEFT_ABI_RUN_TOTAL)];
	uint64_t entry = bytes | WEFT_ABI_RUN_RELEASED;
	struct stat status;
	snprintf(path, sizeof(path), "%s" WEFT_ABI_RUN_TOTAL, directory);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	/* Without a bound there is no file, unless another user made it. Best effort: without the entry
	 * the room stays taken. */
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid())
		(void)!write(fd, &entry, sizeof(entry));
	if (fd >= 0)
		close(fd);
}

bool weft__runs_directory_make(uint64_t total_bytes, char ret_directory[PATH_MAX])
{
	char base[PATH_MAX], directory[PATH_MAX];
	bool good = find_base(base);
	if (good) {
		good = snprintf(directory, sizeof(directory), "%s/record-XXXXXX", base) <
				   (int)sizeof(directory) &&
			   mkdtemp(directory) != NULL;
		/* A child process that drops root's privileges can make its ring there, but not list it. */
		if (good && geteuid() == 0)
			good = chmod(directory, 01733) == 0;
		if (good && total_bytes)
			good = set_total(directory, &total_bytes, sizeof(total_bytes));
	}
	if (!good) {
		weft__runs_report("cannot make a run directory: %s: %s", weft__runs_shown(base),
			errno == EPERM ? "it belongs to another user or is not a directory" : strerror(errno));
		return false;
	}
	weft__runs_directory_share(directory);
	snprintf(ret_directory, PATH_MAX, "%.*s/", PATH_MAX - 2, directory);
	return true;
}

void weft__runs_directory_note_output(const char *directory, const char *output)
{
	char path[PATH_MAX + sizeof(WEFT_ABI_RUN_OUTPUT)], target[PATH_MAX];
	snprintf(path, sizeof(path), "%s" WEFT_ABI_RUN_OUTPUT, directory);
	if (realpath(output, target))
		(void)!symlink(target, path);
}

bool weft__runs_directory_saves_in(const char *directory, const char *output)
{
	char path[PATH_MAX + sizeof(WEFT_ABI_RUN_OUTPUT)];
	struct stat noted, asked;
	snprintf(path, sizeof(path), "%s" WEFT_ABI_RUN_OUTPUT, directory);
	return stat(path, &noted) == 0 && S_ISDIR(noted.st_mode) && stat(output, &asked) == 0 &&
		   noted.st_dev == asked.st_dev && noted.st_ino == asked.st_ino;
}

static bool add_directory(
	struct weft__runs_directories *directories, const char *base, const char *name)
{
	char(*list)[PATH_MAX] = realloc(directories->list, (directories->count + 1) * sizeof(*list));
	if (!list) {
		weft__runs_report("%s", strerror(errno));
		return false;
	}
	directories->list = list;
	int length = snprintf(list[directories->count], PATH_MAX, "%s/%s/", base, name);
	directories->count += length < PATH_MAX;
	return true;
}

static bool add_directories(void *context, const char *base)
{
	struct weft__runs_directories *directories = context;
	DIR *entries = opendir(base);
	bool good = true;
	for (struct dirent *entry; good && entries && (entry = readdir(entries));)
		if (strncmp(entry->d_name, "record-", 7) == 0)
			good = add_directory(directories, base, entry->d_name);
	if (entries)
		closedir(entries);
	directories->has_failed = !good;
	return good;
}

void weft__runs_directory_searched(char ret_directory[PATH_MAX])
{
	if (!find_private_base(ret_directory) || !ret_directory[0])
		snprintf(ret_directory, PATH_MAX, SHARED_DIRECTORY "/weft-%u", (unsigned)geteuid());
}

bool weft__runs_directories_find(struct weft__runs_directories *ret_directories)
{
	struct weft__runs_directories directories = {0};
	visit_bases(add_directories, &directories);
	bool good = !directories.has_failed;
	if (!good)
		weft__runs_directories_finish(&directories);
	*ret_directories = directories;
	return good;
}

void weft__runs_directories_finish(struct weft__runs_directories *directories)
{
	free(directories->list);
	*directories = (struct weft__runs_directories){0};
}

/* True if the entry is our own link to a ring elsewhere (--in-place). */
static bool leads_to_ring(const char *directory, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	snprintf(path, sizeof(path), "%s%s", directory, name);
	return weft_source_check_ring(path, 0, &check);
}

/* Removes the entries that cannot be rings, whatever their names. Removes regular files only with
 * `all`: they may be rings of processes that still run. A directory that is not empty stays. */
static void remove_entries(const char *directory, bool all)
{
	DIR *entries = opendir(directory);
	struct stat status;
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
			fstatat(dirfd(entries), name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (all || !(S_ISREG(status.st_mode) || leads_to_ring(directory, name)))
			unlinkat(dirfd(entries), name, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
	}
	if (entries)
		closedir(entries);
}

void weft__runs_directory_remove_values(const char *directory, const struct weft__runs_ring *ring)
{
	static const char *const suffixes[] = {WEFT_ABI_RUN_METRICS, WEFT_ABI_RUN_COUNTERS};
	char path[PATH_MAX + NAME_MAX + sizeof(WEFT_ABI_RUN_COUNTERS)];
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(
			path, sizeof(path), "%s%.*s%s", directory, ring->stem_size, ring->name, suffixes[i]);
		weft__runs_region_drop_kept(path);
		unlink(path);
	}
}

void weft__runs_directory_remove(
	const char *directory, const struct weft__runs_rings *rings, bool all)
{
	char path[PATH_MAX + NAME_MAX + 1];
	for (size_t i = 0; i < rings->count; i++) {
		weft__runs_directory_remove_values(directory, &rings->list[i]);
		snprintf(path, sizeof(path), "%s%s", directory, rings->list[i].name);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s" WEFT_ABI_RUN_ORPHANED, directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s" WEFT_ABI_RUN_TOTAL, directory);
	unlink(path);
	remove_entries(directory, all);
	/* Fails if a process that still runs has made a ring meanwhile, which then stays. */
	weft__runs_answered_remove(directory);
}
