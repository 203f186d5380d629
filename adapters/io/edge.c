/* SPDX-License-Identifier: ISC
 *
 * See edge.h. Only the descriptors that the thread's last wait reported are looked at.
 */
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <weft/ends.h>

#include "io/edge.h"

#include "kernel/call.h"

static bool is_stream(const struct weft__io_object *object)
{
	return object->type == WEFT__IO_TCP || object->type == WEFT__IO_UNIX ||
		   object->type == WEFT__IO_PIPE;
}

void weft__io_edge_reported(int fd, struct weft__io_object *object)
{
	struct weft__io_thread *thread = &weft__io_thread;
	if (!is_stream(object) || object->flags & WEFT__IO_LISTENS)
		return;
	object->is_unarmed = object->watched & EPOLLONESHOT;
	if (thread->edge_count < WEFT__IO_EDGES)
		thread->edges[thread->edge_count++] = fd;
}

static void mark(struct weft__io_object *object, const char *tag, uint32_t left)
{
	const uint64_t task = weft__io_known_task(object);
	if (task == WEFT_TASK_NONE || object->left == left)
		return;
	object->left = left;
	weft_tag_value_as(task, tag, left);
}

static uint32_t bytes_in(int fd)
{
	int bytes = 0;
	if (!weft__hooks_system_begin())
		return 0;
	const long error = weft__kernel_call(SYS_ioctl, fd, FIONREAD, (long)&bytes, 0, 0, 0);
	weft__hooks_system_end();
	return error == 0 && bytes > 0 ? (uint32_t)bytes : 0;
}

/* A descriptor that was closed meanwhile may be another one. */
static void look_at(int fd)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (!object || !(object->watched & (EPOLLONESHOT | EPOLLET)) || !is_stream(object))
		return;
	if (object->watched & EPOLLONESHOT)
		mark(object, WEFT_TAG_UNARMED, object->is_unarmed);
	else
		mark(object, WEFT_TAG_UNREAD, bytes_in(fd));
}

void weft__io_edge_wait(void)
{
	struct weft__io_thread *thread = &weft__io_thread;
	while (thread->edge_count)
		look_at(thread->edges[--thread->edge_count]);
}

static void unmark(struct weft__io_object *object, const char *tag)
{
	const int saved = weft__hooks_begin();
	mark(object, tag, 0);
	weft__hooks_end(saved);
}

void weft__io_edge_read(struct weft__io_object *object)
{
	if (!(object->watched & EPOLLONESHOT))
		unmark(object, WEFT_TAG_UNREAD);
}

void weft__io_edge_armed(struct weft__io_object *object)
{
	object->is_unarmed = false;
	if (unlikely(object->left))
		unmark(object, object->watched & EPOLLONESHOT ? WEFT_TAG_UNARMED : WEFT_TAG_UNREAD);
}
