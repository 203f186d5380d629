/* SPDX-License-Identifier: ISC
 *
 * An empty ring in a file, for tests of run directories.
 */
#ifndef WEFT_TEST_RUN_RING_H
#define WEFT_TEST_RUN_RING_H

#include <sys/mman.h>

#include "run_directory.h"

/* Makes the file with `size` bytes and maps it; the caller unmaps it. */
static void *map_ring(const char *path, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(posix_fallocate(fd, 0, (off_t)size), 0);
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(bytes != MAP_FAILED);
	return bytes;
}

#endif
