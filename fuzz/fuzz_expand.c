/* SPDX-License-Identifier: ISC
 *
 * The input is a compressed file: unpacking gives no more than the limit, and succeeds with exactly
 * the unpacked size as the limit.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/error.h>

#include "source/expand.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define MAX_BYTES ((uint64_t)8 << 20)

static void require(int condition)
{
	if (!condition)
		abort();
}

/* Unpacks, and returns the size. */
static int expand(const uint8_t *bytes, size_t size, uint64_t max_bytes, uint64_t *ret_bytes)
{
	int fd = -1;
	struct stat status;
	int error = weft__source_expand(bytes, size, max_bytes, &fd);
	require((error == 0) == (fd >= 0));
	if (error)
		return error;
	require(fstat(fd, &status) == 0 && status.st_size > 0);
	require((uint64_t)status.st_size <= max_bytes);
	close(fd);
	*ret_bytes = (uint64_t)status.st_size;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint64_t whole, again;
	weft__source_is_compressed(bytes, size);
	if (expand(bytes, size, MAX_BYTES, &whole))
		return 0;
	/* A frame may claim a larger size than it has: then the claim is refused. */
	int error = expand(bytes, size, whole, &again);
	require(error == WEFT_ERROR_SIZE || (error == 0 && again == whole));
	require(expand(bytes, size, whole - 1, &again) == WEFT_ERROR_SIZE);
	return 0;
}
