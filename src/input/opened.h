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
	struct weft_decoder *decoder; /* of one file, or merged; NULL: no file could be read */
	struct weft_worker *worker;
	struct weft_input_file *files; /* NULL: the input was opened as one file */
	size_t file_count;
	struct weft__input_host *hosts; /* each has the readings that convert its files */
	uint32_t host_count;
};

/* input.c: false if the beginning of a pipe is of no format. */
bool weft__input_is_trace(const void *bytes, size_t size);

/* files.c */

void weft__input_close_files(struct weft_input *input);

#endif
