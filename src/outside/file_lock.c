/* SPDX-License-Identifier: ISC
 *
 * Locks of files, by flock(2) and fcntl(2): /proc/locks lists each lock, and after it those that
 * wait for it.
 */
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
	char kind[16];
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
	*ret_lock = lock;
	return true;
}

static void add_holder(struct weft__outside_thread *thread, const struct lock *held)
{
	char name[32];
	if (held->pid <= 0) {
		weft__outside_add(thread, " for a lock whose holder the kernel does not name");
		return;
	}
	weft__outside_name(held->pid, name);
	weft__outside_add(thread, "%s%s %d", thread->other_count ? ", " : " for a lock held by ", name,
		(int)held->pid);
	weft__outside_add_other(thread, held->pid, 0);
}

void weft__outside_resolve_file_lock(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	FILE *file = fopen("/proc/locks", "re");
	char line[256];
	struct lock held = {0}, lock;
	uint64_t last = 0;
	struct stat status;
	snprintf(
		line, sizeof(line), "/proc/%d/fd/%d", (int)process->pid, (int)thread->kernel.arguments[0]);
	const bool is_open = stat(line, &status) == 0;
	while (is_open && file && fgets(line, sizeof(line), file)) {
		if (!parse(line, &lock))
			continue;
		if (!lock.waits)
			held = lock;
		else if (lock.pid == process->pid && lock.number == held.number &&
				 lock.inode == (uint64_t)status.st_ino && held.number != last) {
			last = held.number;
			add_holder(thread, &held);
		}
	}
	if (file)
		fclose(file);
	if (!last)
		return;
	thread->kind = WEFT__OUTSIDE_FILE_LOCK;
	thread->is_complete = thread->other_count == 1;
}
