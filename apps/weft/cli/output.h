/* SPDX-License-Identifier: ISC
 *
 * Writes output files atomically, with the permissions of their inputs.
 */
#ifndef WEFT_APPS_OUTPUT_H
#define WEFT_APPS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* Writes the bytes to `path` (`-`: standard output). A file appears under its name only when all of
 * it is on disk; an existing file stays until then. False after a message. */
bool cli_save(const char *path, const char *bytes, size_t size);

/* The same for a file that is written in pieces: open → append … → commit or abandon. */
struct cli_output {
	const char *path;
	struct weft__runs_file *replacement; /* NULL: written in place */
	FILE *file;
};

/* False after a message. */
bool cli_output_open(const char *path, struct cli_output *ret_output);
/* False with errno; later calls fail, too. */
bool cli_output_append(struct cli_output *output, const void *bytes, size_t size);
/* False after a message; then no file is left. */
bool cli_output_commit(struct cli_output *output);
void cli_output_abandon(struct cli_output *output);

/* Call it with each input: only users who can read all inputs may read the output. If an input is
 * not a regular file (a pipe), only its owner may. */
void cli_output_limit(const struct stat *input);

/* True if the file `name`, relative to an open directory or AT_FDCWD, is one of the inputs: paths,
 * or
 * "-" for standard input. */
bool cli_output_is_input(int directory, const char *name, char **paths, int count);

/* The permissions of `mode` that the inputs allow for a file of group `group`. */
mode_t cli_output_mode(mode_t mode, gid_t group);

#endif
