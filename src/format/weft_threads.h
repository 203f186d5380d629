/* SPDX-License-Identifier: ISC
 *
 * The threads that wrote a buffer's packets. A thread keeps its index in the list, though others
 * come: the list begins with those that the buffer has at first, by number, and the others follow
 * as they are met.
 */
#ifndef WEFT_FORMAT_WEFT_THREADS_H
#define WEFT_FORMAT_WEFT_THREADS_H

#include "format/weft_buffer.h"
#include "format/weft_cursor.h"

/* A program may start threads without end, and a follower's memory is bounded: a list of that many
 * or more does not grow, and further threads share its last index. */
#define WEFT__THREADS_MAX 65536u

struct weft__threads {
	struct weft_trace_thread *list;
	char (*names)[WEFT_ABI_NAME_BYTES + 1]; /* what list points to */
	uint64_t *events;                       /* of each, as far as they are known */
	struct weft__thread_number *numbers;    /* by number, with their indices */
	uint32_t count;                         /* at least 1 */
	size_t capacity;
	const char *process;
	uint64_t pid;
};

/* With the threads that the buffer has now; it must outlive them. 0 or WEFT_ERROR_MEMORY. */
int weft__threads_init(struct weft__threads *threads, const struct weft__buffer *buffer);
void weft__threads_finish(struct weft__threads *threads);

/* The thread's index; a new thread is added, with the name `packet_name` if it has none of its own.
 */
int weft__threads_find(struct weft__threads *threads, const struct weft__thread *thread,
	const uint8_t *packet_name, uint32_t *ret_index);

/* The index of a number that is known; otherwise 0. */
uint32_t weft__threads_index(const struct weft__threads *threads, uint32_t number);

#endif
