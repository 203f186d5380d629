/* SPDX-License-Identifier: ISC
 *
 * Records reads and writes of descriptors. One that blocks is a wait; one that finds nothing
 * (EAGAIN) makes the descriptor one that the thread has asked about, for its next poll; one that
 * moves bytes lets the descriptor's task run.
 */
#include <errno.h>
#include <sys/socket.h>

#include "io/message.h"
#include "io/own.h"
#include "io/rest.h"
#include "io/traffic.h"
#include "io/transfer.h"

#include "hooks/vain.h"

/* A call for several messages only tells their number. Bytes that stay, to be read again, do not
 * count. */
static inline void count(int fd, unsigned direction, int64_t moved, int flags)
{
	const bool is_many = flags & WEFT__IO_MANY;
	if (likely(!(flags & (MSG_PEEK | MSG_ERRQUEUE))))
		weft__io_count(fd, direction, is_many ? 0 : (uint64_t)moved, is_many ? (uint64_t)moved : 1);
}

static void begin_transfer(struct weft__io_call *call, int fd, int flags, size_t size,
	enum weft__io_direction direction, const char *name)
{
	const struct weft__io_object *object = weft__io_object(fd);
	call->name = name;
	call->fd = fd;
	call->began = 0;
	if (!object || object->flags & WEFT__IO_NONBLOCKING || flags & (MSG_DONTWAIT | MSG_ERRQUEUE))
		return;
	if (direction == WEFT__IO_IN && weft__io_is_ready(fd))
		weft__io_call_measure(call, fd, direction, name);
	else
		weft__io_call_begin(call, fd, direction, size, name);
}

void weft__io_read_begin(struct weft__io_call *call, int fd, int flags, const char *name)
{
	weft__io_use(fd, POLLIN);
	begin_transfer(call, fd, flags, 0, WEFT__IO_IN, name);
	weft__hooks_may_be_vain();
}

static __attribute__((noinline)) void read_in_vain(int64_t got, size_t size)
{
	if (got == 0 && size)
		weft__hooks_vain("reads at the end of the input", 0);
	else if (got < 0 && errno == EAGAIN)
		weft__hooks_vain("reads that find nothing", 0);
}

void weft__io_read_end(const struct weft__io_call *call, int64_t got, size_t size, int flags)
{
	weft__io_call_end(call, got >= 0);
	weft__io_rest_note(call->fd, got, flags & MSG_PEEK ? 0 : size);
	if (unlikely(got <= 0))
		read_in_vain(got, size);
	if (unlikely(got < 0))
		weft__io_call_failed(call);
	else
		count(call->fd, WEFT__IO_TRAFFIC_IN, got, flags);
	if (got > 0)
		weft__io_heard(call->fd);
	if (got >= 0 && weft__io_has_asked())
		weft__io_answered(call->fd);
	if (got > 0 && unlikely(weft_enabled(WEFT_LEVEL_DEBUG))) {
		int saved = weft__hooks_begin();
		weft_at(WEFT_LEVEL_DEBUG, weft_counter_add("bytes in", got));
		weft__hooks_end(saved);
	}
}

void weft__io_write_begin(
	struct weft__io_call *call, int fd, int flags, size_t size, const char *name)
{
	weft__io_use(fd, POLLOUT);
	weft__io_reply(fd);
	if (weft__io_object(fd)) /* by the task that writes: nothing runs while the call waits */
		weft__io_send(fd);
	if (flags & WEFT__IO_MAY_HAND_ON)
		weft__io_hand_on(fd);
	begin_transfer(call, fd, flags, size, WEFT__IO_OUT, name);
	weft__hooks_may_be_vain();
}

void weft__io_write_end(const struct weft__io_call *call, int64_t put, int flags)
{
	weft__io_call_end(call, put >= 0);
	if (unlikely(put < 0)) {
		if (errno == EAGAIN)
			weft__hooks_vain("writes that find no room", 0);
		weft__io_call_failed(call);
	} else {
		count(call->fd, WEFT__IO_TRAFFIC_OUT, put, flags);
	}
	if (put <= 0)
		return;
	weft__io_ask(call->fd, POLLIN);
	if (unlikely(weft_enabled(WEFT_LEVEL_DEBUG))) {
		int saved = weft__hooks_begin();
		weft_at(WEFT_LEVEL_DEBUG, weft_counter_add("bytes out", put));
		weft__hooks_end(saved);
	}
}

void weft__io_move_begin(
	struct weft__io_call *call, int to, int from, size_t size, const char *name)
{
	weft__io_use(from, POLLIN);
	weft__io_rest_forget(from);
	weft__io_write_begin(call, to, 0, size, name);
}

void weft__io_move_end(const struct weft__io_call *call, int64_t put, int from)
{
	if (put >= 0)
		count(from, WEFT__IO_TRAFFIC_IN, put, 0);
	weft__io_write_end(call, put, 0);
}
