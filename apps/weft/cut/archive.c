/* SPDX-License-Identifier: ISC */
#include "archive.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES 512

/* POSIX's ustar. Two archives of the same traces are equal: no time, no owner. */
struct archive_header {
	char name[100], mode[8], uid[8], gid[8], size[12], time[12], sum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct archive_header) == BLOCK_BYTES, "a header has no gaps");

static void set_sum(struct archive_header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned sum = 0;
	memset(header->sum, ' ', sizeof(header->sum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	snprintf(header->sum, sizeof(header->sum) - 1, "%06o", sum);
}

bool archive_add(struct cli_output *output, const char *name, const void *bytes, size_t size)
{
	static const char zeros[BLOCK_BYTES];
	struct archive_header header = {
		.mode = "0000600",
		.uid = "0000000",
		.gid = "0000000",
		.time = "00000000000",
		.type = '0',
		.magic = "ustar",
		.version = {'0', '0'},
	};
	if (size > ARCHIVE_SIZE_MAX || strlen(name) >= sizeof(header.name)) {
		errno = size > ARCHIVE_SIZE_MAX ? EFBIG : ENAMETOOLONG;
		return false;
	}
	memcpy(header.name, name, strlen(name));
	snprintf(header.size, sizeof(header.size), "%011llo", (unsigned long long)size);
	set_sum(&header);
	return cli_output_append(output, &header, sizeof(header)) &&
		   cli_output_append(output, bytes, size) &&
		   cli_output_append(output, zeros, (BLOCK_BYTES - size % BLOCK_BYTES) % BLOCK_BYTES);
}

bool archive_end(struct cli_output *output)
{
	static const char zeros[2 * BLOCK_BYTES];
	return cli_output_append(output, zeros, sizeof(zeros));
}
