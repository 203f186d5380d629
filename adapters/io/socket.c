/* SPDX-License-Identifier: ISC
 *
 * Sockets: opened, connected, listening, accepted.
 */
#include "io/plain.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "io/message.h"
#include "io/transfer.h"

/* ---- Opening ---- */

static enum weft__io_type type_of(int family, int type)
{
	if (family == AF_UNIX)
		return WEFT__IO_UNIX;
	if (family != AF_INET && family != AF_INET6)
		return WEFT__IO_SOCKET;
	return (type & 0xf) == SOCK_STREAM  ? WEFT__IO_TCP
		   : (type & 0xf) == SOCK_DGRAM ? WEFT__IO_UDP
										: WEFT__IO_SOCKET;
}

HOOK(socket)
int socket(int family, int type, int protocol)
{
	int fd = NEXT(socket)(family, type, protocol);
	if (HOOKS_RECORD && fd >= 0)
		weft__io_opened(fd, type_of(family, type), type & SOCK_NONBLOCK);
	else if (unlikely(fd < 0))
		weft__io_not_opened("socket");
	return fd;
}

HOOK(socketpair)
int socketpair(int family, int type, int protocol, int given[2])
{
	int result = NEXT(socketpair)(family, type, protocol, given), ends[2];
	struct weft__io_object *objects[2];
	if (unlikely(result != 0))
		weft__io_not_opened("socketpair");
	if (!HOOKS_RECORD || result != 0 || !weft__hooks_copy(ends, given, sizeof(ends)))
		return result;
	for (int i = 0; i < 2; i++)
		objects[i] = weft__io_opened(ends[i], type_of(family, type), type & SOCK_NONBLOCK);
	weft__io_find_pair(ends, objects);
	return result;
}

/* ---- Connecting ---- */

static WEFT__OWN_FRAME void begin_connection(
	int fd, struct weft__io_object *object, const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_storage copy;
	bool is_known = size <= sizeof(copy) && weft__hooks_copy(&copy, address, size);
	weft__io_begin_task(
		fd, object, is_known ? (struct sockaddr *)&copy : NULL, is_known ? size : 0);
}

/* If the connection is in progress, the task waits until the descriptor can be written. */
WEFT__IO_ENTRY(
	int, connect, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size))
{
	struct weft__io_call call;
	if (!weft__io_is_programs(caller))
		return WEFT__IO_NEXT(connect)(fd, address, size);
	struct weft__io_object *object = weft__io_object(fd);
	if (object) /* the name has the address, also if the connection fails */
		begin_connection(fd, object, address, size);
	if (object && (object->type == WEFT__IO_TCP || object->type == WEFT__IO_UNIX))
		weft__io_call_begin_wait(&call, fd, WEFT__IO_OUT, "connect"); /* it may never return */
	else
		weft__io_call_begin(&call, fd, WEFT__IO_OUT, 0, "connect");
	int result = WEFT__IO_NEXT(connect)(fd, address, size);
	weft__io_call_end(&call, result == 0);
	if (result != 0 && errno == EINPROGRESS)
		weft__io_ask(fd, POLLOUT);
	else if (result != 0 && errno != EINTR && errno != EAGAIN && errno != EALREADY &&
			 errno != EISCONN)
		weft__io_failed(fd, errno);
	return result;
}

/* The kernel gives less than the whole error if the program has no room for that. */
static void end_connection(int fd, const void *value, const socklen_t *size)
{
	struct {
		socklen_t size;
		int error;
	} copy;
	struct iovec parts[] = {{(void *)(uintptr_t)size, sizeof(copy.size)},
		{(void *)(uintptr_t)value, sizeof(copy.error)}};
	if (weft__hooks_copy_parts(&copy, parts, 2) && copy.size == sizeof(copy.error) && copy.error)
		weft__io_failed(fd, copy.error);
}

/* Asking for the result of a connection is the first use of its descriptor. */
WEFT__IO_ENTRY(int, getsockopt,
	(int fd, int level, int name, void *restrict value, socklen_t *restrict size),
	(fd, level, name, value, size))
{
	bool is_recorded = level == SOL_SOCKET && name == SO_ERROR;
	if (is_recorded)
		weft__io_use(fd, POLLOUT);
	int result = WEFT__IO_NEXT(getsockopt)(fd, level, name, value, size);
	if (is_recorded && result == 0)
		end_connection(fd, value, size);
	return result;
}

/* ---- Listening and accepting ---- */

HOOK(listen)
int listen(int fd, int most)
{
	int result = NEXT(listen)(fd, most);
	bool is_recorded = HOOKS_RECORD && weft__io_is_programs(__builtin_return_address(0));
	struct weft__io_object *object = is_recorded && result == 0 ? weft__io_object(fd) : NULL;
	if (!object)
		return result;
	object->flags |= WEFT__IO_LISTENS;
	weft__io_begin_task(fd, object, NULL, 0);
	return result;
}

/* A new connection is made by the listening descriptor's task. */
static void name_accepted(int listener, int fd, bool is_nonblocking)
{
	struct weft__io_object *from = weft__io_object(listener);
	if (!from)
		return;
	from->flags |= WEFT__IO_LISTENS; /* it may have been inherited */
	weft__io_begin_task(listener, from, NULL, 0);
	struct weft__io_object *object =
		weft__io_opened(fd, (enum weft__io_type)from->type, is_nonblocking);
	if (!object)
		return;
	object->flags |= WEFT__IO_SERVED;
	object->opener = weft__io_known_task(from);
	weft__io_begin_task(fd, object, NULL, 0);
	weft__io_find_sender(fd, object);
	weft__io_accepted(fd);
}

static int after_accept(const struct weft__io_call *call, int fd, int flags)
{
	weft__io_call_end(call, fd >= 0);
	if (fd < 0)
		weft__io_call_failed(call);
	else
		name_accepted(call->fd, fd, flags & SOCK_NONBLOCK);
	return fd;
}

WEFT__IO_ENTRY(int, accept,
	(int listener, struct sockaddr *restrict address, socklen_t *restrict size),
	(listener, address, size))
{
	struct weft__io_call call;
	if (!weft__io_is_programs(caller))
		return WEFT__IO_NEXT(accept)(listener, address, size);
	weft__io_read_begin(&call, listener, 0, "accept");
	return after_accept(&call, WEFT__IO_NEXT(accept)(listener, address, size), 0);
}

WEFT__IO_ENTRY(int, accept4,
	(int listener, struct sockaddr *restrict address, socklen_t *restrict size, int flags),
	(listener, address, size, flags))
{
	struct weft__io_call call;
	if (!weft__io_is_programs(caller))
		return WEFT__IO_NEXT(accept4)(listener, address, size, flags);
	weft__io_read_begin(&call, listener, 0, "accept");
	return after_accept(&call, WEFT__IO_NEXT(accept4)(listener, address, size, flags), flags);
}
