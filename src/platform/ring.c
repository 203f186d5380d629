/* SPDX-License-Identifier: ISC
 *
 * A buffer that is a file: shared memory that outlives the program, however it ends.
 */
#include "platform/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/error.h>
#include <weft/weft.h>

static int start_in(int fd, uint64_t bytes, const char **ret_step)
{
	/* All blocks now: a full disk is an error here, and no SIGBUS in the middle of the program. */
	*ret_step = "allocate";
	int error = posix_fallocate(fd, 0, (off_t)bytes);
	if (error)
		return error;
	*ret_step = "map";
	void *buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (buffer == MAP_FAILED)
		return errno;
	*ret_step = "start";
	error = weft_start(buffer, bytes, NULL);
	if (!error)
		return 0;
	munmap(buffer, bytes);
	return error == WEFT_ERROR_STATE ? EBUSY : error == WEFT_ERROR_UNSUPPORTED ? ENOSYS : EINVAL;
}

int weft__ring_create(const char *path, uint64_t bytes, const char **ret_step)
{
	*ret_step = "create";
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	int error = start_in(fd, bytes, ret_step);
	if (error)
		unlink(path);
	close(fd);
	return error;
}
