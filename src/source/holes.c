/* SPDX-License-Identifier: ISC
 *
 * Covers holes with memory that nobody writes to, so that all of its pages are one page of zeros.
 * A program that records has no such holes: its ring is allocated before.
 */
#include "source/holes.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS_TYPE 0x01021994 /* TMPFS_MAGIC of linux/magic.h */

/* Each cover splits the mapping, and a process has some 65,000 parts. */
#define COVERS_MAX  64
#define COVER_BYTES ((off_t)64 << 10) /* smaller holes are not worth it */

static void cover(unsigned char *bytes, off_t from, off_t to)
{
	off_t page = sysconf(_SC_PAGESIZE);
	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (to - from >= COVER_BYTES) /* after an error the hole stays */
		(void)mmap(bytes + from, (size_t)(to - from), PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

void weft__source_holes_cover(void *bytes, size_t size, int fd)
{
	struct statfs system;
	off_t start = lseek(fd, 0, SEEK_CUR), at = 0, end = (off_t)size;
	if (start < 0 || fstatfs(fd, &system) != 0 || system.f_type != TMPFS_TYPE)
		return;
	for (unsigned i = 0; i < COVERS_MAX && at < end; i++) {
		off_t hole = lseek(fd, at, SEEK_HOLE);
		if (hole < 0 || hole >= end)
			break;
		at = lseek(fd, hole, SEEK_DATA);
		if (at < 0 || at > end) /* none: the hole reaches to the end */
			at = end;
		cover(bytes, hole, at);
	}
	(void)lseek(fd, start, SEEK_SET);
}
