/* SPDX-License-Identifier: ISC
 *
 * The input is a file of trace-cmd or perf, or a trace.dat of version 7, which is unpacked first.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"
#include "source/expand.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define MAX_BYTES ((uint64_t)8 << 20)

static void check(const uint8_t *bytes, size_t size)
{
	if (size == 0)
		return;
	check_format(&weft__format_trace_dat, bytes, size);
	check_format(&weft__format_perf_data, bytes, size);
	check_model(bytes, size);
}

static void check_unpacked(const uint8_t *bytes, size_t size)
{
	struct stat status;
	int fd;
	if (weft__source_expand(bytes, size, MAX_BYTES, &fd))
		return;
	require(fstat(fd, &status) == 0);
	void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	require(map != MAP_FAILED);
	check(map, (size_t)status.st_size);
	munmap(map, (size_t)status.st_size);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check(bytes, size);
	if (weft__source_is_compressed(bytes, size))
		check_unpacked(bytes, size);
	return 0;
}
