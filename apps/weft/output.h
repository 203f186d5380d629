/* SPDX-License-Identifier: ISC
 *
 * A whole file, or none; and who may read it.
 */
#ifndef WEFT_APPS_OUTPUT_H
#define WEFT_APPS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* Writes the bytes to `path`, `-` being standard output. A file appears under its name only when
 * all of it is on disk; what was there before stays until then. False after a message. */
bool cli_save(const char *path, const char *bytes, size_t size);

/* The same for one that is written in pieces: open → append … → commit or abandon. */
struct cli_output {
	const char *path;
	struct weft__runs_file *replacement; /* NULL: it is written in place */
	FILE *file;
};

/* False after a message. */
bool cli_output_open(const char *path, struct cli_output *ret_output);
/* False with errno; whoever goes on to write will hear of it again. */
bool cli_output_append(struct cli_output *output, const void *bytes, size_t size);
/* False after a message, and then nothing is left. */
bool cli_output_commit(struct cli_output *output);
void cli_output_abandon(struct cli_output *output);

/* What is made from a trace may be read by nobody who could not read the trace: to be called with
 * each input. Without a regular file (a pipe) only its owner may read the output. */
void cli_output_limit(const struct stat *input);

/* The part of `mode` that inputs leave to a file whose group is `group`. */
mode_t cli_output_mode(mode_t mode, gid_t group);

#endif
