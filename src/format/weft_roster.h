/* SPDX-License-Identifier: ISC
 *
 * The threads of a buffer that goes on: those that there are, and those that come. An index stays
 * what it is, so threads are listed as they are met.
 */
#ifndef WEFT_FORMAT_WEFT_ROSTER_H
#define WEFT_FORMAT_WEFT_ROSTER_H

#include "abi/packet_abi.h"
#include "format/weft_threads.h"

/* A program may start threads without end, and a follower's memory is bounded: those from here on
 * share the last index. */
#define WEFT__ROSTER_MAX 65536u

struct weft__roster {
	struct weft_trace_thread *list;
	char (*names)[WEFT_ABI_NAME_BYTES + 1]; /* what list points to */
	uint64_t *events;                       /* of each, as far as they are known */
	struct weft__roster_place *places;      /* numbers, sorted, and their indices */
	uint32_t count, capacity;
	const char *process;
	uint64_t pid;
};

/* A thread as packets and records tell of it. */
struct weft__roster_thread {
	uint32_t number, tid;
	const uint8_t *name; /* WEFT_ABI_NAME_BYTES */
};

/* With the threads that the buffer has now; it must outlive the roster. */
int weft__roster_init(struct weft__roster *roster, const struct weft__buffer *buffer);
void weft__roster_finish(struct weft__roster *roster);

/* The thread's index; a new one is appended. */
int weft__roster_find(
	struct weft__roster *roster, const struct weft__roster_thread *thread, uint32_t *ret_index);

#endif
