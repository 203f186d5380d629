/* SPDX-License-Identifier: ISC
 *
 * The members of an input, for the files of this folder.
 */
#ifndef WEFT_INPUT_OPENED_H
#define WEFT_INPUT_OPENED_H

#include <weft/input.h>
#include <weft/worker.h>

#include "input/hosts.h"

/* A smaller trace is read in less time than a thread needs to start. */
#define WEFT__WORKER_MIN_BYTES (1 << 20)

struct weft_input {
	struct weft_source *source;   /* of one file; NULL: `files` have them */
	struct weft_source *archive;  /* of which these are parts, or NULL */
	struct weft_decoder *decoder; /* of one file, or merged; NULL: no file could be read */
	struct weft_worker *worker;
	struct weft_input_file *files; /* NULL: the input was opened as one file */
	size_t file_count;
	struct weft__input_host *hosts; /* each has the readings that convert its files */
	uint32_t host_count;
};

/* input.c: false if bytes, perhaps the first ones of a pipe, are of no format of a trace. */
bool weft__input_is_trace(const void *bytes, size_t size);

/* files.c */

/* Opens the files in an archive, which the input owns then. 0 and an input, whose decoder is NULL
 * if none could be read; or WEFT_ERROR_MEMORY, and the archive stays the caller's. */
int weft__input_open_archive(struct weft_source *archive, const struct weft_input_options *options,
	struct weft_input **ret_input);

void weft__input_close_files(struct weft_input *input);

#endif
