/* SPDX-License-Identifier: ISC
 *
 * The output of a stream: a file, a series of files, or standard output; compressed or not.
 *
 * If the disk has no room for a piece, the piece stays pending until a later flush; the bytes
 * before it are intact.
 */
#ifndef WEFT_RUNS_STREAM_FILE_H
#define WEFT_RUNS_STREAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_buffer_sampling;

struct weft__runs_stream_options {
	const char *output;    /* see runs/saving/name.h */
	uint64_t rotate_bytes; /* maximum size of a file, where possible; 0: one file */
	uint64_t keep;         /* the newest N files; 0: all */
	uint64_t max_bytes;    /* limit of all files of the run together; 0: no limit */
	bool has_max;          /* the user has set max_bytes, so it also bounds standard output */
	bool compress;
	const struct weft_buffer_sampling *sampling; /* rings get room for samples; NULL: none */
};

struct weft__stream_file {
	const struct weft__runs_stream_options *options;
	char *name;      /* without a number; "-" for standard output */
	char *path;      /* of the present file */
	uint64_t bytes;  /* in the present file */
	uint64_t total;  /* in all files */
	uint64_t number; /* number of the present file, with rotation */
	uint64_t count;  /* number of files so far */
	const char *pending;
	size_t pending_bytes;
	struct weft__compressor *compressor;
	int fd;
	int error; /* errno of the last failure */
};

/* Takes over `name`. */
void weft__runs_stream_file_init(
	struct weft__stream_file *file, const struct weft__runs_stream_options *options, char *name);
void weft__runs_stream_file_finish(struct weft__stream_file *file);

/* Closes the present file, after which nothing is written. Its names and numbers stay. */
void weft__runs_stream_file_close(struct weft__stream_file *file);

/* Ends the present file, if there is one, and begins the next, replacing a file of that name. False
 * with `error`; the call may be repeated. */
bool weft__runs_stream_file_begin(struct weft__stream_file *file);

/* Makes a piece pending; `bytes` must stay until it is flushed. Call it when nothing is pending.
 * False if memory is short. */
bool weft__runs_stream_file_put(struct weft__stream_file *file, const void *bytes, size_t size);

/* Makes the end of the compressed file pending. False if memory is short. */
bool weft__runs_stream_file_end(struct weft__stream_file *file);

/* Writes pending bytes. True if none are pending any more. */
bool weft__runs_stream_file_flush(struct weft__stream_file *file);

/* Waits until the present file is on the disk. False with `error`. */
bool weft__runs_stream_file_sync(struct weft__stream_file *file);

/* True if the file can be truncated and rewritten at an offset. False for a pipe and a compressed
 * file. */
bool weft__runs_stream_file_is_rewritable(const struct weft__stream_file *file);

/* Disk usage of its files in bytes, not counting those that rotation has removed. */
uint64_t weft__runs_stream_file_disk_bytes(const struct weft__stream_file *file);

/* True if another piece of `bytes` would exceed rotate_bytes. */
bool weft__runs_stream_file_is_full(const struct weft__stream_file *file, size_t bytes);

/* True if writing has failed for good. */
bool weft__runs_stream_file_is_broken(const struct weft__stream_file *file);

#endif
