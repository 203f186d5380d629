/* SPDX-License-Identifier: ISC */
#include "archive.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/attach.h"

#define BLOCK_BYTES 512
#define PIECE_BYTES ((size_t)4 << 20)

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

/* In pieces, so that Ctrl-C is noticed in the middle of a large file. */
static bool append(struct cli_output *output, const char *bytes, size_t size)
{
	for (size_t done = 0, piece; done < size; done += piece) {
		piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
		if (cli_is_interrupted() || !cli_output_append(output, bytes + done, piece))
			return false;
	}
	return true;
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
	memcpy(header.name, name, strlen(name));
	snprintf(header.size, sizeof(header.size), "%011llo", (unsigned long long)size);
	set_sum(&header);
	return cli_output_append(output, &header, sizeof(header)) && append(output, bytes, size) &&
		   cli_output_append(output, zeros, (BLOCK_BYTES - size % BLOCK_BYTES) % BLOCK_BYTES);
}

bool archive_end(struct cli_output *output)
{
	static const char zeros[2 * BLOCK_BYTES];
	return cli_output_append(output, zeros, sizeof(zeros));
}
