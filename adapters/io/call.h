/* SPDX-License-Identifier: ISC
 *
 * Calls that block.
 *
 * A call is recorded as a wait, from its begin on, if the last one of the same kind took more than
 * a millisecond, or if the kernel says that it will wait (room.h): it may never return. The thread
 * is idle then. The time of other calls is measured. If that is long, a span is recorded
 * afterwards, on a track of the thread.
 */
#ifndef WEFT_ADAPTERS_IO_CALL_H
#define WEFT_ADAPTERS_IO_CALL_H

#include <errno.h>

#include "io/descriptors.h"

/* SYNC: calls that are made to wait, as for a disk or a lock. */
enum weft__io_direction {
	WEFT__IO_IN = WEFT__IO_SLOW_IN,
	WEFT__IO_OUT = WEFT__IO_SLOW_OUT,
	WEFT__IO_SYNC = WEFT__IO_SLOW_SYNC,
};

struct weft__io_call {
	const char *name;
	uint64_t began; /* weft_now(); 0: not recorded */
	struct weft__hooks_wait wait;
	int fd; /* -1: none */
	uint8_t direction;
	bool is_wait;
	bool is_empty; /* nothing can be read, or written, as the kernel says */
	bool *is_slow; /* without a descriptor: the memory for that; may be NULL */
	/* without a descriptor: follows the name; may be NULL */
	const struct weft__hooks_text *detail;
};

/* A call about a descriptor that blocks, which writes `size` bytes; 0: unknown, or another call.
 * errno stays. */
void weft__io_call_begin(struct weft__io_call *call, int fd, enum weft__io_direction direction,
	size_t size, const char *name);

/* The same; it is expected not to block. */
void weft__io_call_measure(
	struct weft__io_call *call, int fd, enum weft__io_direction direction, const char *name);

/* The same; it is known to block. */
void weft__io_call_begin_wait(
	struct weft__io_call *call, int fd, enum weft__io_direction direction, const char *name);

/* Evaluates an attempt to take a lock of a file. True if the lock is not free: then errno is set
 * back to `saved_errno`, because the call that waits comes next. */
static inline bool weft__io_is_locked(int result, int saved_errno)
{
	if (result == 0 || (errno != EAGAIN && errno != EACCES))
		return false;
	errno = saved_errno;
	return true;
}

/* Another call, about `detail`. `is_slow` is kept for the next one. Both may be NULL. If the name
 * is NULL, `detail` is the whole label. */
void weft__io_call_begin_other(struct weft__io_call *call, bool *is_slow, const char *name,
	const struct weft__hooks_text *detail);
/* The same with a label that the hook has composed, in which the name is. */
void weft__io_call_begin_labelled(
	struct weft__io_call *call, bool *is_slow, const struct weft__hooks_text *label);

/* The end of a call that has opened `fd`: it is named by that. */
void weft__io_call_opened(struct weft__io_call *call, int fd);

/* Records a note on the current task that a call has just failed, "accept: EMFILE"; nothing if it
 * is to be made again. errno stays. */
void weft__io_call_failed(const struct weft__io_call *call);

/* The same for a call that has given no descriptor, if the process or the system has no more. */
void weft__io_not_opened(const char *name);

void weft__io_call_finish(const struct weft__io_call *call, bool is_success);
static inline void weft__io_call_end(const struct weft__io_call *call, bool is_success)
{
	if (call->began)
		weft__io_call_finish(call, is_success);
}

#endif
