/* SPDX-License-Identifier: ISC
 *
 * The common size limit for the rings of one run, set by `weft record --total`.
 *
 * The file DIR/total begins with the limit. Each process appends the size of its ring, and then
 * reads the entries before its own. So all processes agree on which rings fit, without a lock,
 * which a killed process could keep for ever. No entry is removed: when `weft record` has saved and
 * removed a ring, it appends that the room is free again.
 *
 * In root's run directories others may create files. So this file counts only if it is a regular
 * file, and it is never mapped. If it cannot be read there is no limit.
 */
#include "platform/linux.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/run_abi.h"
#include "kernel/call.h"

/* Entries that are read, at most. */
#define ENTRIES_MAX (1 << 20)

/* True if the file belongs to the directory's owner: a child without root's rights must not limit
 * the others. */
static bool is_of_run(int fd, const char *directory)
{
	struct stat status, run;
	return weft__kernel_stat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 8 &&
		   weft__kernel_stat_path(directory, &run) == 0 && status.st_uid == run.st_uid;
}

/* Appends our entry and returns its end; 0 if it cannot be written. */
static off_t append_entry(int fd, uint64_t bytes)
{
	struct rlimit limit;
	/* Beyond that limit the kernel would end the program by SIGXFSZ; the ring would not fit either.
	 */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ((uint64_t)1 << 16))
		return 0;
	if (weft__kernel_write(fd, &bytes, sizeof(bytes)) != sizeof(bytes))
		return 0;
	off_t end = weft__kernel_seek(fd, 0, SEEK_CUR);
	return end > 0 ? end : 0;
}

struct room {
	uint64_t bound, left;
	bool last_fits;
};

static void count_entry(struct room *room, uint64_t entry)
{
	uint64_t released = entry & ~WEFT_ABI_RUN_RELEASED;
	room->last_fits = entry <= room->left;
	if (entry != released)
		room->left = released < room->bound - room->left ? room->left + released : room->bound;
	else if (room->last_fits)
		room->left -= entry;
}

/* The room at the end of the entries that end there. False if they cannot be read. */
static bool count_room(int fd, off_t end, struct room *ret_room)
{
	uint64_t entries[64];
	struct room room = {0, 0, true};
	off_t at = 0;
	while (at < end && at < (off_t)ENTRIES_MAX * 8) {
		size_t wanted = (size_t)(end - at) < sizeof(entries) ? (size_t)(end - at) : sizeof(entries);
		long size = weft__kernel_read_at(fd, entries, wanted, at);
		if (size < 8)
			return false;
		if (at == 0)
			room.bound = room.left = entries[0];
		for (ssize_t i = at == 0; i < size / 8; i++)
			count_entry(&room, entries[i]);
		at += size / 8 * 8;
	}
	*ret_room = room;
	return true;
}

/* Opens the file; -1 if there is none, or it does not count. */
static int open_total(const char *directory)
{
	static char path[PATH_MAX + sizeof(WEFT_ABI_RUN_TOTAL)]; /* too big for an alternate stack */
	size_t length = strlen(directory);
	memcpy(path, directory, length);
	memcpy(path + length, WEFT_ABI_RUN_TOTAL, sizeof(WEFT_ABI_RUN_TOTAL));
	int fd = weft__kernel_open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd >= 0 && !is_of_run(fd, directory)) {
		weft__kernel_close(fd);
		return -1;
	}
	return fd;
}

bool weft__platform_total_take(const char *directory, uint64_t bytes)
{
	struct room room;
	int fd = open_total(directory);
	if (fd < 0)
		return true;
	off_t end = append_entry(fd, bytes);
	bool is_good = !end || !count_room(fd, end, &room) || room.last_fits;
	weft__kernel_close(fd);
	return is_good;
}

uint64_t weft__platform_total_left(const char *directory)
{
	struct room room;
	int fd = open_total(directory);
	if (fd < 0)
		return UINT64_MAX;
	bool is_good = count_room(fd, weft__kernel_seek(fd, 0, SEEK_END), &room);
	weft__kernel_close(fd);
	return is_good ? room.left : UINT64_MAX;
}
