/* SPDX-License-Identifier: ISC
 *
 * The threads that wrote a buffer's packets. A thread's index in the list never changes: the list
 * begins with the threads that the buffer has at init, by number, and later ones are appended.
 */
#ifndef WEFT_FORMAT_WEFT_THREADS_H
#define WEFT_FORMAT_WEFT_THREADS_H

#include "format/weft/buffer.h"
#include "format/weft/cursor.h"

/* Bounds a follower's memory, because a program may start threads without end. A list with this
 * many threads does not grow, and further threads share its last index. */
#define WEFT__THREADS_MAX 65536u

struct weft__threads {
	struct weft_trace_thread *list;
	char (*names)[WEFT_ABI_NAME_BYTES + 1]; /* the texts that `list` points to */
	uint64_t *events;                       /* of each thread, as far as they are known */
	struct weft__thread_number *numbers;    /* by number, with their indices */
	uint32_t count;                         /* at least 1 */
	size_t capacity;
};

/* Starts the list with the threads that the buffer has now. The buffer must outlive the list. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_threads_init(struct weft__threads *threads, const struct weft__buffer *buffer);
void weft__format_threads_finish(struct weft__threads *threads);

/* Finds the thread's index. A new thread is added, with the name `packet_name` if it has none of
 * its own. */
int weft__format_threads_find(struct weft__threads *threads, const struct weft__thread *thread,
	const uint8_t *packet_name, uint32_t *ret_index);

/* The index of the thread with this number; 0 if there is none. */
uint32_t weft__format_threads_index(const struct weft__threads *threads, uint32_t number);

#endif
