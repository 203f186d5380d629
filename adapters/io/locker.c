/* SPDX-License-Identifier: ISC
 *
 * See locker.h. Record locks say who holds them. Those of flock are in a list of the kernel, a line
 * each:
 *
 *     7: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF
 *
 * A process that was killed, or has passed its descriptor on, may still be named there. The kernel
 * may take 20 ms to make the list, for which it stops all that lock files: so it is read at most a
 * sixty-fourth of the time.
 */
#include "io/plain.h"

#include "io/locker.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <weft/ends.h>

#include "kernel/call.h"

/* ---- Record locks ---- */

/* The kernel answers in the structure. Locks of open files have no process. */
static pid_t ask(int fd, struct flock *lock)
{
	int saved = errno;
	pid_t found = 0;
	if (!weft__hooks_system_begin())
		return 0;
	if (NEXT(syscall)(SYS_fcntl, fd, F_GETLK, lock) == 0 && lock->l_type != F_UNLCK)
		found = lock->l_pid;
	errno = saved;
	weft__hooks_system_end();
	return found > 0 ? found : 0;
}

pid_t weft__io_find_fcntl(int fd, long lock)
{
	struct flock copy;
	return weft__hooks_copy(&copy, (const void *)lock, sizeof(copy)) ? ask(fd, &copy) : 0;
}

pid_t weft__io_find_lockf(int fd, off_t size)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = size};
	return ask(fd, &lock);
}

/* ---- flock ---- */

struct search {
	int fd;
	pid_t found;
};

static pid_t number_of(const char *word)
{
	pid_t number = 0;
	for (; *word >= '0' && *word <= '9' && number < 100000000; word++)
		number = 10 * number + (*word - '0');
	return number;
}

/* The process of a line about a lock of that file; else 0. "->" marks those that wait. */
static pid_t read_line(char *line, const char *file)
{
	char *rest, *word = strtok_r(line, " ", &rest);
	const char *words[6] = {0};
	for (int i = 0; i < 6 && word; i++, word = strtok_r(NULL, " ", &rest))
		words[i] = word;
	bool is_it = words[5] && strcmp(words[1], "FLOCK") == 0 && strcmp(words[5], file) == 0;
	return is_it ? number_of(words[4]) : 0;
}

/* "fd:", with two digits or more */
static void append_part(struct weft__hooks_text *text, unsigned part)
{
	char bytes[12];
	size_t at = sizeof(bytes);
	bytes[--at] = ':';
	do {
		bytes[--at] = "0123456789abcdef"[part & 15];
		part >>= 4;
	} while (part || at > sizeof(bytes) - 3);
	weft__hooks_append_bytes(text, bytes + at, sizeof(bytes) - at);
}

static void search_list(void *of)
{
	struct search *it = of;
	struct stat status;
	struct weft__hooks_text file = {0};
	char bytes[4096], *line = bytes;
	if (weft__kernel_stat(it->fd, &status) != 0)
		return;
	append_part(&file, major(status.st_dev));
	append_part(&file, minor(status.st_dev));
	weft__hooks_append_number(&file, status.st_ino);
	int list = weft__kernel_open("/proc/locks", O_RDONLY | O_CLOEXEC, 0);
	long got = list < 0 ? 0 : weft__kernel_read(list, bytes, sizeof(bytes) - 1);
	if (list >= 0)
		weft__kernel_close(list);
	bytes[got > 0 ? got : 0] = '\0';
	for (char *end; !it->found && (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		it->found = read_line(line, file.bytes);
	}
}

pid_t weft__io_find_flock(int fd)
{
	static uint64_t rested;
	struct search it = {.fd = fd};
	int saved = errno;
	const uint64_t now = weft_now();
	if (now < __atomic_load_n(&rested, __ATOMIC_RELAXED) || !weft__hooks_system_begin())
		return 0;
	weft__hooks_aside(search_list, &it);
	weft__hooks_system_end();
	const uint64_t end = weft_now();
	__atomic_store_n(&rested, end + 63 * (end - now), __ATOMIC_RELAXED);
	errno = saved;
	return it.found > 0 ? it.found : 0;
}

/* ---- The trace ---- */

void weft__io_mark_locker(const struct weft__io_call *call, pid_t process)
{
	if (!process || call->wait.waiter == WEFT_TASK_NONE)
		return;
	int saved = weft__hooks_begin();
	weft_tag_value_as(call->wait.source, WEFT_TAG_HELD_BY_PROCESS, process);
	weft__hooks_end(saved);
}
