/* SPDX-License-Identifier: ISC
 *
 * The directory of a CTF export: there as a whole, or not at all.
 *
 * Files are written to a directory inside of it, and move up when the last is complete. Whatever
 * happens before, an earlier export stays; what happens later leaves no metadata, and thus no
 * trace.
 */
#ifndef WEFT_APPS_CTF_DIRECTORY_H
#define WEFT_APPS_CTF_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

struct ctf_directory {
	const char *path;
	int fd;      /* of the directory */
	int part_fd; /* of the one inside */
	bool created;
};

/* Makes the directory, or takes an empty one; with `replace` also one that holds an earlier export
 * of weft, but not the file `input` (a path; "-" is standard input). False after a message. */
bool ctf_directory_open(
	const char *path, const char *input, bool replace, struct ctf_directory *ret_directory);

/* A struct weft_export_ctf_sink's append; context is the directory. errno has the reason. */
int ctf_directory_append(void *context, const char *name, const void *bytes, size_t size);

/* Moves the files to their place. False after a message, and then nothing is left to do. */
bool ctf_directory_commit(struct ctf_directory *directory);

/* Removes what was written, and the directory if it was made for this. */
void ctf_directory_abandon(struct ctf_directory *directory);

#endif
