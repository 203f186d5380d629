/* SPDX-License-Identifier: ISC
 *
 * Queues of messages and semaphores of the kernel. A thread waits for a message, for room or for a
 * token, which another one gives, perhaps of another process: both sides find the same number.
 * Which message a thread gets is not known, but one that waits gets the first that is given
 * meanwhile.
 */
#ifndef WEFT_ADAPTERS_IO_CHANNEL_H
#define WEFT_ADAPTERS_IO_CHANNEL_H

#define WEFT_CATEGORY io
#include "hooks/hooks.h"

enum weft__io_channel_sort {
	WEFT__IO_MESSAGES,      /* of a queue of System V */
	WEFT__IO_MESSAGES_ROOM, /* in such a queue */
	WEFT__IO_POSTS,         /* of a queue of POSIX */
	WEFT__IO_POSTS_ROOM,
	WEFT__IO_TOKENS, /* of a semaphore of System V */
};

struct weft__io_channel_name {
	enum weft__io_channel_sort sort;
	int number;    /* the system's, of the queue or set; or a descriptor */
	long part;     /* the number of the semaphore; or the type of the message, 0: any */
	bool is_vague; /* the next message or token need not be the one that ends a wait */
};

#define WEFT__IO_SEVERAL (-1L) /* semaphores of a set: a part */

struct weft__io_channel_wait {
	struct weft__hooks_wait wait;
	uint64_t key; /* 0: it is not known who ends the wait */
};

/* The current task is about to give to tasks that wait. */
void weft__io_channel_give(const struct weft__io_channel_name *name);

/* It could not: what was given is taken back. */
void weft__io_channel_take_back(const struct weft__io_channel_name *name);

/* The current task is about to wait in that call. */
void weft__io_channel_begin(
	struct weft__io_channel_wait *wait, const struct weft__io_channel_name *name, const char *call);

/* The wait is over. */
void weft__io_channel_end(const struct weft__io_channel_wait *wait, bool is_success);

#endif
