/* SPDX-License-Identifier: ISC
 *
 * What the rings of one run take together, where `weft record --total` bounds it.
 *
 * The file DIR/total begins with the bound; each process appends the size of its ring, and then
 * reads what stands before: so all agree who fits, without a lock that a process could take to its
 * grave. An entry is never taken back: a ring stays until it is saved, and one that cannot be made
 * for another reason is rare.
 *
 * In root's run directories others may create files, so this one is believed only as a regular
 * file, and never mapped. Where it cannot be read there is no bound: nobody but us asked for it.
 */
#include "platform/linux.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* That many processes are read through. */
#define ENTRIES_MAX (1 << 20)

/* A file that a child without root's rights has made sets no bound for the others. */
static bool is_of_run(int fd, const char *directory)
{
	struct stat status, run;
	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 8 &&
		   stat(directory, &run) == 0 && status.st_uid == run.st_uid;
}

/* Where our entry ends; 0 if it cannot be written. */
static off_t append_entry(int fd, uint64_t bytes)
{
	struct rlimit limit;
	/* Beyond that limit the kernel would end the program by a signal; the ring will not fit either.
	 */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ((uint64_t)1 << 16))
		return 0;
	if (write(fd, &bytes, sizeof(bytes)) != sizeof(bytes))
		return 0;
	off_t end = lseek(fd, 0, SEEK_CUR);
	return end > 0 ? end : 0;
}

/* Does the entry that ends there fit, of those before it taken each that did? */
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
	static char path[PATH_MAX + sizeof(WEFT__TOTAL)]; /* too big for an alternate stack */
	size_t length = strlen(directory);
	memcpy(path, directory, length);
	memcpy(path + length, WEFT__TOTAL, sizeof(WEFT__TOTAL));
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return true;
	off_t end = is_of_run(fd, directory) ? append_entry(fd, bytes) : 0;
	bool is_good = !end || fits(fd, end);
	close(fd);
	return is_good;
}
