/* SPDX-License-Identifier: ISC
 *
 * The common size limit for the rings of one run, set by `weft record --total`.
 *
 * The file DIR/total begins with the limit. Each process appends the size of its ring, and then
 * reads the entries before its own. So all processes agree on which rings fit, without a lock,
 * which a killed process could keep for ever. An entry is never removed: a ring stays until it is
 * saved, and a ring that cannot be made for another reason is rare.
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

/* Entries that are read, at most. */
#define ENTRIES_MAX (1 << 20)

/* True if the file belongs to the directory's owner: a child without root's rights must not limit
 * the others. */
static bool is_of_run(int fd, const char *directory)
{
	struct stat status, run;
	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 8 &&
		   stat(directory, &run) == 0 && status.st_uid == run.st_uid;
}

/* Appends our entry and returns its end; 0 if it cannot be written. */
static off_t append_entry(int fd, uint64_t bytes)
{
	struct rlimit limit;
	/* Beyond that limit the kernel would end the program by SIGXFSZ; the ring would not fit either.
	 */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ((uint64_t)1 << 16))
		return 0;
	if (write(fd, &bytes, sizeof(bytes)) != sizeof(bytes))
		return 0;
	off_t end = lseek(fd, 0, SEEK_CUR);
	return end > 0 ? end : 0;
}

/* True if the entry that ends there fits, counting those before it that fitted. */
static bool fits(int fd, off_t end)
{
	uint64_t entries[64], left = 0;
	bool last_fits = true;
	off_t at = 0;
	while (at < end && at < (off_t)ENTRIES_MAX * 8) {
		size_t wanted = (size_t)(end - at) < sizeof(entries) ? (size_t)(end - at) : sizeof(entries);
		ssize_t size = pread(fd, entries, wanted, at);
		if (size < 8)
			return true;
		for (ssize_t i = 0; i < size / 8; i++) {
			bool is_bound = at == 0 && i == 0;
			last_fits = is_bound || entries[i] <= left;
			left = is_bound ? entries[i] : last_fits ? left - entries[i] : left;
		}
		at += size / 8 * 8;
	}
	return last_fits;
}

bool weft__total_take(const char *directory, uint64_t bytes)
{
	static char path[PATH_MAX + sizeof(WEFT_ABI_RUN_TOTAL)]; /* too big for an alternate stack */
	size_t length = strlen(directory);
	memcpy(path, directory, length);
	memcpy(path + length, WEFT_ABI_RUN_TOTAL, sizeof(WEFT_ABI_RUN_TOTAL));
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return true;
	off_t end = is_of_run(fd, directory) ? append_entry(fd, bytes) : 0;
	bool is_good = !end || fits(fd, end);
	close(fd);
	return is_good;
}
