/* SPDX-License-Identifier: ISC
 *
 * Messages between processes through pipes and connections. Both sides find the same number, once,
 * at the first use of their descriptor; between hosts, for each message (remote.h).
 */
#ifndef WEFT_ADAPTERS_IO_MESSAGE_H
#define WEFT_ADAPTERS_IO_MESSAGE_H

#include "io/descriptors.h"

/* Instead of a key: the other side is unknown. */
#define WEFT__IO_NO_KEY 1

/* Instead of a key: a write is a signal to the task of the same object. */
#define WEFT__IO_OWN_TASK 2

void weft__io_record_send(int fd, struct weft__io_object *object);
/* `offset`: where the bytes begin that the program has just read from another host; NO_OFFSET: it
 * is about to read. */
#define WEFT__IO_NO_OFFSET UINT64_MAX
void weft__io_record_receive(
	int fd, struct weft__io_object *object, uint64_t task, uint64_t offset);

/* The current task is about to write to the descriptor. */
static inline void weft__io_send(int fd)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (object && object->sends != WEFT__IO_NO_KEY)
		weft__io_record_send(fd, object);
}

/* A UDP socket is about to send to that address, which is the program's: it may wait for the answer
 * from there, if it sends to no other one. */
void weft__io_send_to(int fd, const struct sockaddr *to, socklen_t size);
/* One that gets something before it has sent anything waits for anyone. */
static inline void weft__io_heard(int fd)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (object && unlikely(object->type == WEFT__IO_UDP) && !object->channel)
		object->channel = WEFT__IO_NO_KEY;
}

/* Finds the other side before the thread waits for it: afterwards it may be gone. */
void weft__io_find_sender(int fd, struct weft__io_object *object);
/* The same before a read, of which it remembers where it begins. */
void weft__io_find_sender_of_read(int fd, struct weft__io_object *object);

/* Both ends of a new pair of sockets: each finds the other one here, which may be gone before the
 * first read of what it has written. Does nothing if an object is NULL. */
void weft__io_find_pair(const int ends[2], struct weft__io_object *const objects[2]);

/* Both ends of a new pipe. Does nothing if an object is NULL. */
void weft__io_join_pipe(const int ends[2], struct weft__io_object *const objects[2]);

/* Says in the trace, once, what the object's task is an end of, if it has a task. `fd` refers to
 * the object, or is -1 for a pipe that this process has made. While recording. */
void weft__io_mark_ends(int fd, struct weft__io_object *object);
/* The current task is about to wait for the object, of which the ends are marked, to write or to
 * read. While recording. */
void weft__io_mark_direction(struct weft__io_object *object, bool writes);
/* The descriptor has nothing to read: what was sent so far did not end the wait that now begins.
 * While recording. */
void weft__io_mark_empty(const struct weft__io_object *object);
/* Says in the trace that the process keeps a pipe open, to which it may never write; and that it
 * does no more. While recording. */
void weft__io_hold(int fd, struct weft__io_object *object);
void weft__io_let_go(struct weft__io_object *object);
/* In a rundown: the same again, if it was said. */
void weft__io_repeat_ends(const struct weft__io_object *object);

/* The task is about to get what the other side wrote. Call it while recording. */
static inline void weft__io_receive(int fd, uint64_t task)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (object && object->receives != WEFT__IO_NO_KEY)
		weft__io_record_receive(fd, object, task, WEFT__IO_NO_OFFSET);
}

#endif
