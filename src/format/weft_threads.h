/* SPDX-License-Identifier: ISC
 *
 * The threads of a buffer: who wrote its packets, found in one pass before the events are read.
 */
#ifndef WEFT_FORMAT_WEFT_THREADS_H
#define WEFT_FORMAT_WEFT_THREADS_H

#include "format/weft_buffer.h"

struct weft__threads {
	struct weft_trace_thread *list; /* by the numbers that the recorder gave them */
	uint32_t *numbers;
	char (*names)[17]; /* what list points to */
	uint64_t *events;  /* of each, as far as they are known */
	uint32_t count;    /* at least 1 */
};

int weft__threads_init(struct weft__threads *threads, const struct weft__buffer *buffer);
void weft__threads_finish(struct weft__threads *threads);

/* The index of a number, or `otherwise` if a running program has added it since. */
uint32_t weft__threads_find(
	const struct weft__threads *threads, uint32_t number, uint32_t otherwise);

#endif
