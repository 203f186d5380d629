/* SPDX-License-Identifier: ISC
 *
 * The process's file descriptors.
 *
 * A descriptor refers to an object, which open(2) calls an open file description; descriptors made
 * by dup share one. An object becomes a task only when a task may wait for it: a file that is
 * opened, read and closed again does not.
 *
 * Both tables have a fixed size. Any thread may call, and there are no locks: if the program closes
 * a descriptor while another thread uses it, an event may be recorded for the wrong task.
 */
#ifndef WEFT_ADAPTERS_IO_DESCRIPTORS_H
#define WEFT_ADAPTERS_IO_DESCRIPTORS_H

#include <sys/socket.h>

#define WEFT_CATEGORY io
#include "hooks/hooks.h"

/* Descriptors with larger numbers are not recorded. */
#define WEFT__IO_DESCRIPTORS 65536

enum weft__io_type {
	WEFT__IO_UNKNOWN,
	WEFT__IO_FILE,
	WEFT__IO_TERMINAL,
	WEFT__IO_PIPE,
	WEFT__IO_TCP,
	WEFT__IO_UDP,
	WEFT__IO_UNIX,
	WEFT__IO_SOCKET, /* of another family */
	WEFT__IO_EVENT,
	WEFT__IO_TIMER,
	WEFT__IO_SIGNAL,
	WEFT__IO_INOTIFY,
	WEFT__IO_EPOLL,
	WEFT__IO_RING,
	WEFT__IO_PROCESS, /* a pidfd */
};

enum {
	WEFT__IO_NONBLOCKING = 1 << 0,
	WEFT__IO_LISTENS = 1 << 1,
	WEFT__IO_SERVED = 1 << 2, /* the other side asks, this one answers */
	/* The last blocking call of that sort took long (call.h). */
	WEFT__IO_SLOW_IN = 1 << 3,
	WEFT__IO_SLOW_OUT = 1 << 4,
	WEFT__IO_SLOW_SYNC = 1 << 5,
	WEFT__IO_WRITES = 1 << 6, /* of a pipe: this is the end that is written to */
	WEFT__IO_MARKED = 1 << 7, /* the trace says what the task is an end of (message.h) */
};

struct weft__io_object {
	uint64_t opener, waiter; /* valid in the process `epoch`, as is `alive` */
	/* Keys of messages to and from the other side (message.h); 0: not known yet */
	uint64_t sends, receives;
	/* The key of a pipe that this process has made, or of the port to which a UDP socket has sent;
	 * of a message queue of POSIX, its identity (channel.c); else 0 */
	uint64_t channel;
	uint64_t server; /* of a UDP socket with a channel: the address of that, hashed */
	uint64_t sent;   /* weft_now() of the last send that was recorded, unless a receive followed */
	uint64_t taken;  /* weft_now() of a receive, until all is read; or when that was (rest.h) */
	uint64_t interval_ns; /* of a timer */
	uint64_t read;        /* the offset of a read from another host, or of a library's next one */
	/* Calls that wait (room.c), as weft_now(): when the room was known, and from when on all
	 * waits may be recorded again */
	uint64_t asked, rested;
	uint32_t room; /* bytes that a write finds */
	uint32_t epoch;
	uint32_t references; /* descriptors */
	uint32_t pair;       /* index of the other end of that pipe, or of a pair of sockets */
	uint32_t watched;    /* events for which an epoll instance waits: EPOLLIN, EPOLLET … */
	uint32_t epoll;      /* that instance's number; 0: none */
	uint32_t marked;     /* the same, as the trace has it */
	uint32_t held;       /* the process `epoch` in which weft__io_hold was called; else 0 */
	uint32_t left;       /* what the trace says about an edge (edge.h); 0: nothing */
	uint32_t instance;   /* of an epoll instance: its number; 0: it has none yet */
	uint32_t forks;      /* weft__hooks_forks when it was opened */
	uint8_t type, flags;
	bool marked_writes; /* the direction that the trace has of a connection's waits */
	/* Since a receive, rest.h: nothing was read yet; a read has left something; another receive was
	 * left out */
	bool is_unread, has_rest, has_more;
	bool is_unarmed; /* epoll has reported it, and does so no more (edge.h) */
	bool is_own;     /* the trace says that no other process has an end (own.h) */
	struct weft__hooks_alive
		alive; /* begins with the task, so that this is in the first cache line */
};

/* Counts as ready, but no wait has reported it. */
#define WEFT__IO_GUESSED (1u << 31)

/* One of the process's descriptors. `round`: the wait of a thread that reported it as ready, until
 * it is used. */
struct weft__io_descriptor {
	uint32_t object; /* index; 0: not seen yet */
	uint32_t ready;  /* POLLIN, POLLOUT, WEFT__IO_GUESSED */
	uint64_t round;
	uint64_t used; /* the wait after which it was used first */
};

extern struct weft__io_descriptor *weft__io_descriptors __attribute__((visibility("hidden")));

/* The descriptor's entry; NULL if its number is out of range. */
static inline struct weft__io_descriptor *weft__io_descriptor(int fd)
{
	return likely((unsigned)fd < WEFT__IO_DESCRIPTORS && weft__io_descriptors)
			   ? weft__io_descriptors + fd
			   : NULL;
}

/* True if anything is remembered of the descriptor. A wait may have reported one that nobody has
 * used: then only its readiness is known. */
static inline bool weft__io_is_known(int fd)
{
	const struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	return descriptor && (descriptor->object || descriptor->round || descriptor->used);
}

/* The objects are in blocks, which are made when they are needed: most programs have few, and some
 * have a limit of address space. */
#define WEFT__IO_BLOCK 1024

extern struct weft__io_object *weft__io_blocks[WEFT__IO_DESCRIPTORS / WEFT__IO_BLOCK]
	__attribute__((visibility("hidden")));

/* The index must be one that a descriptor had. */
static inline struct weft__io_object *weft__io_object_at(uint32_t index)
{
	return weft__io_blocks[index / WEFT__IO_BLOCK] + index % WEFT__IO_BLOCK;
}

/* The object, or NULL if it is not known. */
static inline struct weft__io_object *weft__io_known(int fd)
{
	const struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	uint32_t index = descriptor ? __atomic_load_n(&descriptor->object, __ATOMIC_ACQUIRE) : 0;
	return index ? weft__io_object_at(index) : NULL;
}

/* The object; asks the kernel for its type if it has not been seen before. NULL if that fails.
 * errno stays.
 */
struct weft__io_object *weft__io_examine(int fd);
static inline struct weft__io_object *weft__io_object(int fd)
{
	struct weft__io_object *object = weft__io_known(fd);
	return likely(object) ? object : weft__io_examine(fd);
}

/* The program has got a new descriptor. NULL if there is no room. NULL also in a child of vfork: it
 * shares this memory with its parent, but not the descriptors. */
struct weft__io_object *weft__io_opened(int fd, enum weft__io_type type, bool is_nonblocking);

/* `copy` refers to the object of `fd` from now on. */
void weft__io_shared(int fd, int copy);

/* The descriptor is not valid any more. With its last one the object's task ends. */
void weft__io_closed(int fd);

/* Descriptors from `first` to `last` are not valid any more. */
void weft__io_closed_range(unsigned first, unsigned last);

/* Tags the object's task, if it has one, with the epoll instance that it is in. */
void weft__io_mark_epoll(struct weft__io_object *object);

/* The object's task, which is made and named here if it has none yet. `fd` refers to the object. */
uint64_t weft__io_task(int fd, struct weft__io_object *object);

/* The same; its name has that address, if it is one, in place of the other side's. */
uint64_t weft__io_task_to(
	int fd, struct weft__io_object *object, const struct sockaddr *to, socklen_t size);

/* Sends the end of file to what each descriptor leads to that this process has written to. */
void weft__io_send_ends(void);

/* The object's task has failed. */
void weft__io_failed(int fd, int error);

static inline bool weft__io_is_file(const struct weft__io_object *object)
{
	return object->type == WEFT__IO_FILE || object->type == WEFT__IO_UNKNOWN;
}

/* The task if it has been made in this process; else WEFT_TASK_NONE. */
uint64_t weft__io_known_task(const struct weft__io_object *object);

/* Appends the descriptor's name, as "tcp :80 <- 127.0.0.1:51234" (name.c). `to` may be NULL. */
void weft__io_append_name(struct weft__hooks_text *text, int fd,
	const struct weft__io_object *object, const struct sockaddr *to, socklen_t size);

/* Appends the path of an open file, as the kernel knows it (name.c). errno stays. */
void weft__io_append_path(struct weft__hooks_text *text, int fd);

/* The target of the link of the descriptor in /proc; "" if there is no /proc, or it does not fit
 * (name.c). May change errno. */
void weft__io_find_path(int fd, char *ret_path, size_t room);

/* The type of a descriptor that the process got in an unknown way (name.c). */
enum weft__io_type weft__io_find_type(int fd);

/* True if a connection that the process got in an unknown way was probably accepted (name.c). */
bool weft__io_was_accepted(int fd, const struct weft__io_object *object);

#endif
