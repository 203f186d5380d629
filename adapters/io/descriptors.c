/* SPDX-License-Identifier: ISC
 *
 * Descriptors and the objects that they refer to.
 *
 * An object is found for a new descriptor by trying the index of its number first, so there is no
 * list of free ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/message.h"
#include "io/remote.h"
#include "kernel/call.h"

struct weft__io_descriptor *weft__io_descriptors;
struct weft__io_object *weft__io_blocks[WEFT__IO_DESCRIPTORS / WEFT__IO_BLOCK];
#define INHERITED_MAX 16 /* pipes that a process says it has kept open */

static uint32_t objects_end; /* those from here on have never been used */
static pid_t process;

/* ---- The tables ---- */

static void begin_child(void)
{
	weft__hooks_forks++;
	if (!weft__hooks_is_confined())
		process = (pid_t)syscall(SYS_getpid);
}

/* The next object from that index on that has descriptors; NULL if there is none. */
static struct weft__io_object *next_object(uint32_t *index)
{
	uint32_t end = __atomic_load_n(&objects_end, __ATOMIC_RELAXED);
	for (; *index < end; ++*index) {
		struct weft__io_object *block =
			__atomic_load_n(&weft__io_blocks[*index / WEFT__IO_BLOCK], __ATOMIC_ACQUIRE);
		if (block && block[*index % WEFT__IO_BLOCK].references)
			return &block[*index % WEFT__IO_BLOCK];
	}
	return NULL;
}

static unsigned run_down(void)
{
	unsigned count = 0;
	struct weft__io_object *object;
	for (uint32_t i = 1; (object = next_object(&i)); i++) {
		if (weft__io_known_task(object) == WEFT_TASK_NONE)
			continue;
		weft__hooks_rundown_task(&object->alive, WEFT_TASK_NONE);
		weft__io_repeat_ends(object);
		count++;
	}
	return count;
}

/* False in a child of vfork: it shares this memory with its parent, but not the descriptors. */
static bool is_this_process(void)
{
	if (!weft__hooks_system_begin())
		return false;
	bool is = (pid_t)syscall(SYS_getpid) == process;
	weft__hooks_system_end();
	return is;
}

static bool is_open_pipe(const struct weft__io_object *object)
{
	return object->type == WEFT__IO_PIPE && object->flags & WEFT__IO_WRITES &&
		   object->channel > WEFT__IO_OWN_TASK;
}

/* Marks the writing ends of pipes that the process has inherited, and not closed before it waits:
 * the readers wait for it, if they wait for the end of the pipe. After exec, only standard output
 * is looked at. */
static void mark_inherited(void)
{
	struct weft__io_object *object;
	unsigned left = INHERITED_MAX;
	if (!is_this_process())
		return;
	for (uint32_t i = 1; left && (object = next_object(&i)); i++) {
		if (object->epoch == weft__hooks_epoch() || !is_open_pipe(object))
			continue;
		weft__io_task(-1, object); /* the name of a pipe needs no descriptor */
		weft__io_mark_ends(-1, object);
		left--;
	}
	if ((object = weft__io_object(STDOUT_FILENO)))
		weft__io_hold(STDOUT_FILENO, object);
}

/* The same in a process that forks, for the pipes that it has made: the child gets the other ends,
 * and the trace says when the process closes its own. */
static void mark_shared(void)
{
	struct weft__io_object *object;
	unsigned left = INHERITED_MAX;
	if (!HOOKS_RECORD || !is_this_process())
		return;
	const int saved = weft__hooks_begin();
	for (uint32_t i = 1; left && (object = next_object(&i)); i++) {
		if (!is_open_pipe(object))
			continue;
		weft__io_mark_ends(-1, object);
		weft__io_hold(-1, object);
		left--;
	}
	weft__hooks_end(saved);
}

/* Memory of zeros, which the kernel provides when it is first written; NULL if there is none. */
static void *map_table(size_t size)
{
	void *memory = NULL;
	weft__kernel_map(
		size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, &memory);
	return memory;
}

__attribute__((constructor(105))) static void begin(void)
{
	if (!getenv("WEFT_ADAPTERS"))
		return;
	weft__io_descriptors = map_table(WEFT__IO_DESCRIPTORS * sizeof(*weft__io_descriptors));
	if (!weft__io_descriptors)
		return;
	begin_child();
	weft__hooks_forks = 0;
	weft__hooks_rundown_add(run_down);
	weft__hooks_offer_first_wait(mark_inherited);
	pthread_atfork(NULL, mark_shared, begin_child);
}

/* ---- Objects ---- */

/* Makes the object's block, if there is none. False without memory. */
static bool has_block(uint32_t index)
{
	struct weft__io_object **block = &weft__io_blocks[index / WEFT__IO_BLOCK], *none = NULL;
	if (likely(__atomic_load_n(block, __ATOMIC_ACQUIRE) != NULL))
		return true;
	void *made = map_table(WEFT__IO_BLOCK * sizeof(**block));
	if (made && !__atomic_compare_exchange_n(
					block, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		weft__kernel_unmap(made, WEFT__IO_BLOCK * sizeof(**block));
		made = none;
	}
	return made != NULL;
}

static bool try_take(uint32_t index)
{
	uint32_t free = 0;
	return index != 0 && has_block(index) &&
		   __atomic_compare_exchange_n(&weft__io_object_at(index)->references, &free, 1, false,
			   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static struct weft__io_object *take_object(int fd, uint32_t *ret_index)
{
	for (uint32_t tries = 0, at = (uint32_t)fd; tries < 64; tries++, at++) {
		uint32_t index = at % WEFT__IO_DESCRIPTORS;
		if (!try_take(index))
			continue;
		uint32_t end = __atomic_load_n(&objects_end, __ATOMIC_RELAXED);
		while (end <= index && !__atomic_compare_exchange_n(&objects_end, &end, index + 1, true,
								   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		*ret_index = index;
		return weft__io_object_at(index);
	}
	return NULL;
}

/* The thread's own task goes on after the one that ended. */
static void close_task(uint64_t task)
{
	int saved = weft__hooks_begin();
	bool is_current = weft_current() == task;
	weft_close(task);
	if (is_current)
		weft_switch(weft__hooks_thread_task());
	weft__hooks_end(saved);
}

/* The key is known if the process has written. */
static void send_end(const struct weft__io_object *object)
{
	if (object->sends <= WEFT__IO_OWN_TASK || weft__io_is_remote(object->sends))
		return;
	int saved = weft__hooks_begin();
	weft_send(object->sends);
	weft__hooks_end(saved);
}

void weft__io_send_ends(void)
{
	const struct weft__io_object *object;
	for (uint32_t i = 1; (object = next_object(&i)); i++)
		send_end(object);
}

/* A process that has closed one end of its pipe is going to use the other one. It may never do, or
 * wait for something else before: then the other processes' waits lead here. */
static void mark_other_end(uint32_t index, const struct weft__io_object *object)
{
	struct weft__io_object *other = object->pair ? weft__io_object_at(object->pair) : NULL;
	if (!weft__hooks_forks || object->type != WEFT__IO_PIPE || !other ||
		!__atomic_load_n(&other->references, __ATOMIC_RELAXED) || other->pair != index ||
		other->channel != object->channel)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	weft__io_task(-1, other); /* the name of a pipe needs no descriptor */
	weft__io_mark_ends(-1, other);
	weft__hooks_end(saved);
}

static void let_go(struct weft__io_object *object)
{
	if (likely(!object->held))
		return;
	int saved = weft__hooks_begin();
	weft__io_let_go(object);
	weft__hooks_end(saved);
}

static void let_object_go(uint32_t index)
{
	if (index == 0)
		return;
	struct weft__io_object *object = weft__io_object_at(index);
	uint64_t task = weft__io_known_task(object);
	if (__atomic_load_n(&object->references, __ATOMIC_RELAXED) == 0)
		return;
	bool is_last = __atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL) == 0;
	if (is_last && HOOKS_RECORD) {
		let_go(object);
		send_end(object);
		mark_other_end(index, object);
	}
	if (is_last && task != WEFT_TASK_NONE && HOOKS_RECORD)
		close_task(task);
}

uint64_t weft__io_known_task(const struct weft__io_object *object)
{
	return object->epoch == weft__hooks_epoch() ? object->alive.task : WEFT_TASK_NONE;
}

/* ---- Descriptors ---- */

/* Reads of a file are expected to be short; other reads wait for a sender. */
static uint8_t flags_of(enum weft__io_type type, bool is_nonblocking)
{
	uint8_t flags = is_nonblocking ? WEFT__IO_NONBLOCKING : 0;
	return type == WEFT__IO_FILE || type == WEFT__IO_UNKNOWN ? flags : flags | WEFT__IO_SLOW_IN;
}

struct weft__io_object *weft__io_opened(int fd, enum weft__io_type type, bool is_nonblocking)
{
	struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	uint32_t index;
	if (!descriptor || !is_this_process())
		return NULL;
	weft__io_closed(fd); /* which happened in a way that has no hook */
	struct weft__io_object *object = take_object(fd, &index);
	if (!object)
		return NULL;
	object->type = (uint8_t)type;
	object->flags = flags_of(type, is_nonblocking);
	object->watched = object->left = 0;
	object->epoll = object->instance = object->held = 0;
	object->interval_ns = object->read = object->asked = object->rested = 0;
	object->room = object->pair = 0;
	object->alive.task = object->waiter = WEFT_TASK_NONE;
	object->sends = object->receives = object->channel = object->sent = object->taken = 0;
	object->is_unread = object->has_rest = object->has_more = object->is_unarmed = false;
	object->forks = weft__hooks_forks;
	__atomic_store_n(&object->is_own, false, __ATOMIC_RELAXED);
	object->opener = weft_current();
	object->epoch = weft__hooks_epoch();
	descriptor->round = descriptor->used = 0;
	__atomic_store_n(&descriptor->object, index, __ATOMIC_RELEASE);
	return object;
}

struct examined {
	int fd;
	struct weft__io_object *object; /* NULL: there is none */
};

static void examine(void *of)
{
	struct examined *it = of;
	struct weft__io_object *object = NULL;
	int fd = it->fd;
	long flags = syscall(SYS_fcntl, fd, F_GETFL, 0);
	if (flags >= 0)
		object = weft__io_opened(fd, weft__io_find_type(fd), flags & O_NONBLOCK);
	if (object)
		object->opener = WEFT_TASK_NONE;
	if (object && object->type == WEFT__IO_PIPE && (flags & O_ACCMODE) == O_WRONLY)
		object->flags |= WEFT__IO_WRITES;
	if (object && weft__io_was_accepted(fd, object))
		object->flags |= WEFT__IO_SERVED;
	it->object = object;
}

struct weft__io_object *weft__io_examine(int fd)
{
	struct examined examined = {fd, NULL};
	if (!weft__io_descriptor(fd) || !weft__hooks_system_begin())
		return NULL;
	int saved = errno;
	weft__hooks_aside(examine, &examined);
	weft__hooks_system_end();
	errno = saved;
	return examined.object;
}

void weft__io_shared(int fd, int copy)
{
	struct weft__io_descriptor *from = weft__io_descriptor(fd), *to = weft__io_descriptor(copy);
	if (!to || fd == copy || !is_this_process())
		return;
	weft__io_closed(copy);
	if (!from || !from->object)
		return;
	__atomic_add_fetch(&weft__io_object_at(from->object)->references, 1, __ATOMIC_ACQ_REL);
	to->round = to->used = 0;
	__atomic_store_n(&to->object, from->object, __ATOMIC_RELEASE);
}

/* A wait may have reported it as ready: that says nothing about the next descriptor of this number.
 */
void weft__io_closed(int fd)
{
	struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	if (!weft__io_is_known(fd) || !is_this_process())
		return;
	descriptor->round = descriptor->used = 0;
	let_object_go(__atomic_exchange_n(&descriptor->object, 0, __ATOMIC_ACQ_REL));
}

void weft__io_closed_range(unsigned first, unsigned last)
{
	for (unsigned fd = first; fd <= last && fd < WEFT__IO_DESCRIPTORS; fd++)
		weft__io_closed((int)fd);
}

/* ---- Tasks ---- */

void weft__io_failed(int fd, int error)
{
	const struct weft__io_object *object = weft__io_known(fd);
	uint64_t task = object ? weft__io_known_task(object) : WEFT_TASK_NONE;
	if (task == WEFT_TASK_NONE)
		return;
	int saved = weft__hooks_begin();
	const char *message = strerrordesc_np(error);
	weft_fail(task, message ? message : "error");
	weft__hooks_end(saved);
}

static uint16_t kind_of(const struct weft__io_object *object)
{
	switch (object->type) {
	case WEFT__IO_FILE:
		return weft_kind("file");
	case WEFT__IO_TERMINAL:
		return weft_kind("terminal");
	case WEFT__IO_PIPE:
		return weft_kind("pipe");
	case WEFT__IO_TCP:
		return object->flags & WEFT__IO_LISTENS ? weft_kind("listener") : weft_kind("tcp");
	case WEFT__IO_UDP:
		return weft_kind("udp");
	case WEFT__IO_UNIX:
		return object->flags & WEFT__IO_LISTENS ? weft_kind("listener") : weft_kind("unix");
	case WEFT__IO_SOCKET:
		return weft_kind("socket");
	case WEFT__IO_EVENT:
		return weft_kind("eventfd");
	case WEFT__IO_TIMER:
		return WEFT_KIND_TIMER;
	case WEFT__IO_SIGNAL:
		return weft_kind("signalfd");
	case WEFT__IO_INOTIFY:
		return weft_kind("inotify");
	case WEFT__IO_EPOLL:
		return weft_kind("epoll");
	case WEFT__IO_RING:
		return weft_kind("io_uring");
	case WEFT__IO_PROCESS:
		return weft_kind("pidfd");
	default:
		return weft_kind("descriptor");
	}
}

uint64_t weft__io_task(int fd, struct weft__io_object *object)
{
	return weft__io_task_to(fd, object, NULL, 0);
}

struct unnamed {
	int fd;
	struct weft__io_object *object;
	const struct sockaddr *to;
	socklen_t size;
};

static void make_task(void *of)
{
	const struct unnamed *it = of;
	struct weft__io_object *object = it->object;
	if (object->epoch != weft__hooks_epoch()) /* the parent process's */
		object->opener = object->waiter = WEFT_TASK_NONE;
	struct weft__hooks_text name = {0};
	weft__io_append_name(&name, it->fd, object, it->to, it->size);
	object->epoch = weft__hooks_epoch();
	object->flags &= (uint8_t)~WEFT__IO_MARKED;
	weft__hooks_create(&object->alive, object->opener, kind_of(object), &name);
	object->marked = 0;
	weft__io_mark_epoll(object);
	weft__io_let_go(object);
	if (object->type == WEFT__IO_UDP)
		weft__io_mark_ends(it->fd, object); /* a loop may read it, without a wait for it */
}

void weft__io_mark_epoll(struct weft__io_object *object)
{
	uint64_t task = weft__io_known_task(object);
	if (task == WEFT_TASK_NONE || object->marked == object->epoll)
		return;
	object->marked = object->epoll;
	weft_tag_value_as(task, WEFT_TAG_EPOLL, object->epoll);
}

uint64_t weft__io_task_to(
	int fd, struct weft__io_object *object, const struct sockaddr *to, socklen_t size)
{
	if (unlikely(object->epoch != weft__hooks_epoch() || object->alive.task == WEFT_TASK_NONE)) {
		struct unnamed unnamed = {fd, object, to, size};
		weft__hooks_aside(make_task, &unnamed);
	}
	return object->alive.task;
}
