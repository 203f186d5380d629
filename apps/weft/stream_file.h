/* SPDX-License-Identifier: ISC
 *
 * Where a stream goes: a file, one file after the other, or standard output; compressed or not.
 *
 * A piece that has no room on the disk waits: flush tries again, and nothing that was written
 * before it is harmed.
 */
#ifndef WEFT_APPS_STREAM_FILE_H
#define WEFT_APPS_STREAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream_options {
	const char *output;    /* as of weft record */
	uint64_t rotate_bytes; /* a file is no larger, if that can be; 0: there is one */
	uint64_t keep;         /* so many files, the newest; 0: all */
	uint64_t max_bytes;    /* of all files of the run together; 0: no limit */
	bool has_max;          /* an option said so, and it counts for standard output too */
	bool compress;
};

struct stream_file {
	const struct stream_options *options;
	char *name;      /* "-" for standard output; as it would be without rotation */
	char *path;      /* of the present file */
	uint64_t bytes;  /* in it */
	uint64_t total;  /* in all of them */
	uint64_t number; /* of it, if there are several */
	uint64_t count;  /* files so far */
	const char *pending;
	size_t pending_bytes;
	struct stream_compressor *compressor;
	int fd;
	int error; /* an errno: why the last attempt failed */
};

/* Takes over `name`. */
void stream_file_init(struct stream_file *file, const struct stream_options *options, char *name);
void stream_file_finish(struct stream_file *file);

/* Ends the present file, if there is one, and begins the next. What was there under its name goes.
 * False: it can't be had now. */
bool stream_file_begin(struct stream_file *file);

/* The piece, which must stay, is to be written; nothing is pending. False without memory. */
bool stream_file_put(struct stream_file *file, const void *bytes, size_t size);

/* Nothing more comes. Likewise. */
bool stream_file_end(struct stream_file *file);

/* Writes what is pending: true if all of it is. */
bool stream_file_flush(struct stream_file *file);

/* Waits until the present file is on the disk. False with `error`. */
bool stream_file_sync(struct stream_file *file);

/* Can the file be cut off and written again at another place? Not a pipe, nor a compressed file. */
bool stream_file_is_rewritable(const struct stream_file *file);

/* Bytes that its files take, compressed; without those that were removed for newer ones. */
uint64_t stream_file_disk_bytes(const struct stream_file *file);

/* Would another piece of so many bytes make it larger than it shall be? */
bool stream_file_is_full(const struct stream_file *file, size_t bytes);

/* Can it become so again that something can be written? */
bool stream_file_is_broken(const struct stream_file *file);

#endif
