/* SPDX-License-Identifier: ISC
 *
 * Files without a name, see nameless.h.
 */
#include "source/nameless.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/error.h>

int weft__source_nameless_open(void)
{
	const char *directory = getenv("TMPDIR");
	if (!directory || !*directory)
		directory = "/var/tmp";
	return open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
}

int weft__source_nameless_write(int fd, const void *bytes, size_t size)
{
	for (const char *at = bytes; size;) {
		ssize_t written = write(fd, at, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return WEFT_ERROR_SYSTEM;
		at += written;
		size -= (size_t)written;
	}
	return 0;
}
