/* SPDX-License-Identifier: ISC
 *
 * The directory of a CTF export, which appears complete or not at all.
 *
 * Files are written to a directory inside of it, and move up when the last is complete. If the
 * export fails before that, an earlier export stays; if it fails while moving, the directory has no
 * metadata, so readers do not take it for a trace.
 */
#ifndef WEFT_APPS_CTF_DIRECTORY_H
#define WEFT_APPS_CTF_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

struct ctf_directory {
	const char *path;
	int fd;      /* the directory */
	int part_fd; /* the one inside */
	bool created;
};

/* Makes the directory, or uses an empty one; with `replace` also one with an earlier export of
 * weft, unless it contains one of the files `inputs` (paths; "-" is standard input). False after a
 * message.
 */
bool ctf_directory_open(
	const char *path, char **inputs, int count, bool replace, struct ctf_directory *ret_directory);

/* The append function of a struct weft_export_ctf_sink; `context` is the directory. errno has the
 * reason of a failure. */
int ctf_directory_append(void *context, const char *name, const void *bytes, size_t size);

/* Moves the files up. False after a message; then nothing is left to do. */
bool ctf_directory_commit(struct ctf_directory *directory);

/* Removes all written files, and the directory if it was made for this. */
void ctf_directory_abandon(struct ctf_directory *directory);

#endif
