/* SPDX-License-Identifier: ISC
 *
 * A whole file, or none.
 */
#ifndef WEFT_APPS_OUTPUT_H
#define WEFT_APPS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the bytes to `path`, `-` being standard output. A file appears under its name only when
 * all of it is on disk; what was there before stays until then. False after a message. */
bool cli_save(const char *path, const char *bytes, size_t size);

/* The same for one that is written in pieces: open → append … → commit or abandon. */
struct cli_output {
	const char *path;
	char *temporary; /* NULL: it is written in place */
	FILE *file;
};

/* False after a message. */
bool cli_output_open(const char *path, struct cli_output *ret_output);
/* False with errno; whoever goes on to write will hear of it again. */
bool cli_output_append(struct cli_output *output, const void *bytes, size_t size);
/* False after a message, and then nothing is left. */
bool cli_output_commit(struct cli_output *output);
void cli_output_abandon(struct cli_output *output);

/* All bytes to a descriptor; false with errno. */
bool cli_write_all(int fd, const char *bytes, size_t size);

#endif
