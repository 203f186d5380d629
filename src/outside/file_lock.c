/* SPDX-License-Identifier: ISC
 *
 * Locks of files, by flock(2) and fcntl(2): /proc/locks lists each lock, and after it those that
 * wait for it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/field.h"
#include "parts.h"

/* A line "1: FLOCK ADVISORY WRITE 4711 00:2f:123 0 EOF", with "->" behind the number for a waiter.
 */
struct lock {
	uint64_t number;
	bool waits;
	pid_t pid; /* -1: locks of open files belong to no process */
	uint64_t inode;
	char kind[16], range[48]; /* "FLOCK", "0 EOF" */
};

static bool parse(const char *line, struct lock *ret_lock)
{
	size_t size;
	const char *field = weft__field(line, 0, &size);
	struct lock lock = {.pid = -1};
	uint64_t pid;
	if (!size || weft_parse_number(field, size - 1, &lock.number) != WEFT_PARSE_OK)
		return false;
	field = weft__field(line, 1, &size);
	lock.waits = size == 2 && memcmp(field, "->", 2) == 0;
	field = weft__field(line, 1 + lock.waits, &size);
	snprintf(lock.kind, sizeof(lock.kind), "%.*s", (int)size, field);
	if (weft__field_number(line, 4 + lock.waits, INT32_MAX, &pid))
		lock.pid = (pid_t)pid;
	field = weft__field(line, 5 + lock.waits, &size);
	for (const char *colon; (colon = memchr(field, ':', size)); field = colon + 1)
		size -= (size_t)(colon + 1 - field);
	if (weft_parse_number(field, size, &lock.inode) != WEFT_PARSE_OK)
		return false;
	field = weft__field(line, 6 + lock.waits, &size);
	snprintf(lock.range, sizeof(lock.range), "%.*s", (int)strcspn(field, "\n"), field);
	*ret_lock = lock;
	return true;
}

/* True if an open file of a process has a lock: its fdinfo lists those. */
static bool has_lock(pid_t pid, const char *fd, const struct lock *held)
{
	char name[64], line[256];
	struct lock lock;
	bool is_found = false;
	snprintf(name, sizeof(name), "fdinfo/%.20s", fd);
	FILE *file = weft__outside_open(pid, 0, name);
	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = strncmp(line, "lock:", 5) == 0 && parse(line + 5, &lock) &&
				   lock.inode == held->inode && strcmp(lock.kind, held->kind) == 0 &&
				   strcmp(lock.range, held->range) == 0;
	if (file)
		fclose(file);
	return is_found;
}

static void add_holder(struct weft__outside_thread *thread, pid_t pid)
{
	char name[32];
	/* Locks that come or go while the list is read may show one twice. */
	for (uint32_t i = 0; i < thread->other_count && i < WEFT__OUTSIDE_OTHERS; i++)
		if (thread->others[i].pid == pid)
			return;
	weft__outside_name(pid, name);
	weft__outside_add(
		thread, "%s%s %d", thread->other_count ? ", " : " for a lock held by ", name, (int)pid);
	weft__outside_add_other(thread, pid, 0);
}

static void search_process(
	struct weft__outside_thread *thread, pid_t pid, const struct lock *held, dev_t device)
{
	char path[64];
	struct stat status;
	const pid_t alive = weft__outside_alive(pid);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)alive);
	DIR *folder = opendir(path);
	thread->is_hidden |= !folder && errno == EACCES;
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		/* In this order, because a file of another file system may be one that does not answer. */
		if (has_lock(alive, entry->d_name, held) &&
			fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 && status.st_dev == device) {
			add_holder(thread, pid);
			break;
		}
	if (folder)
		closedir(folder);
}

/* The lock belongs to an open file, which children inherit: the process that took it may have
 * ended.
 */
static void search_holders(
	struct weft__outside_thread *thread, const struct lock *held, dev_t device)
{
	uint64_t pid;
	DIR *folder = opendir("/proc");
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (weft_parse_number(entry->d_name, strlen(entry->d_name), &pid) == WEFT_PARSE_OK)
			search_process(thread, (pid_t)pid, held, device);
	if (folder)
		closedir(folder);
	if (!thread->other_count)
		weft__outside_add(thread, " for a lock whose holder is hidden from us");
}

/* The kind of lock for which a call waits, by its name in /proc/locks. */
static const char *kind_of(const struct weft__outside_thread *thread, bool is_flock)
{
	return is_flock                                           ? "FLOCK"
		   : (int)thread->kernel.arguments[1] == F_OFD_SETLKW ? "OFDLCK"
															  : "POSIX";
}

/* True if the line may be that of the thread; locks of open files do not name their process. */
static bool is_waiter(
	const struct lock *lock, const char *kind, pid_t pid, const struct stat *status)
{
	return strcmp(lock->kind, kind) == 0 && lock->inode == (uint64_t)status->st_ino &&
		   (lock->pid == pid || strcmp(kind, "OFDLCK") == 0);
}

void weft__outside_resolve_file_lock(
	const struct weft__outside_process *process, struct weft__outside_thread *thread, bool is_flock)
{
	const char *kind = kind_of(thread, is_flock);
	const size_t length = strlen(thread->about);
	FILE *file = fopen("/proc/locks", "re");
	char line[256];
	struct lock held = {0}, lock;
	uint64_t last = 0;
	struct stat status;
	snprintf(line, sizeof(line), "/proc/%d/fd/%d", (int)process->alive,
		(int)thread->kernel.arguments[0]);
	const bool is_open = stat(line, &status) == 0;
	while (is_open && file && fgets(line, sizeof(line), file)) {
		if (!parse(line, &lock))
			continue;
		if (!lock.waits)
			held = lock;
		else if (is_waiter(&lock, kind, process->pid, &status) && lock.number == held.number &&
				 held.number != last) {
			/* For which of two locks of open files this thread waits is not known. */
			if (last && strcmp(kind, "OFDLCK") == 0) {
				thread->about[length] = '\0';
				thread->other_count = 0;
				break;
			}
			last = held.number;
			if (strcmp(held.kind, "POSIX") == 0)
				add_holder(thread, held.pid);
			else
				search_holders(thread, &held, status.st_dev);
		}
	}
	if (file)
		fclose(file);
	if (!last)
		return;
	thread->kind = WEFT__OUTSIDE_FILE_LOCK;
	thread->is_complete = thread->other_count > 0;
}
