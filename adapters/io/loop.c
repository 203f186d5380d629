/* SPDX-License-Identifier: ISC
 *
 * Which task runs in a loop.
 *
 * A program that records itself knows better: where the current task is neither the thread's own
 * nor a descriptor's, it stays.
 */
#include "io/loop.h"

#include "hooks/counts.h"
#include "hooks/vain.h"

#include "io/edge.h"
#include "io/message.h"

__thread struct weft__io_thread weft__io_thread;

/* Each thread numbers its rounds from a number of its own. */
static uint64_t next_rounds;

static struct weft__io_thread *own_thread(void)
{
	struct weft__io_thread *thread = &weft__io_thread;
	if (likely(thread->epoch == weft__hooks_epoch()))
		return thread;
	*thread = (struct weft__io_thread){.epoch = weft__hooks_epoch(), .running = WEFT_TASK_NONE};
	return thread;
}

/* True if the current task may be replaced by another one. */
static bool may_switch(const struct weft__io_thread *thread)
{
	uint64_t task = weft_current();
	return task != WEFT_TASK_NONE && (task == thread->running || task == weft__hooks_thread_task());
}

void weft__io_begin_task(
	int fd, struct weft__io_object *object, const struct sockaddr *to, socklen_t size)
{
	struct weft__io_thread *thread = own_thread();
	weft__io_send_to(fd, to, size);
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	if (may_switch(thread))
		weft__io_task_to(fd, object, to, size);
	weft__hooks_end(saved);
}

bool weft__io_may_wait_for(const struct weft__io_object *object)
{
	weft__hooks_thread_task();
	return weft__io_known_task(object) != WEFT_TASK_NONE || may_switch(own_thread());
}

/* Sockets have no address yet, or have become tasks when they got it. */
void weft__io_watched(int fd, struct weft__io_object *object, uint32_t events)
{
	bool has_name = object->type == WEFT__IO_PIPE || object->type == WEFT__IO_EVENT ||
					object->type == WEFT__IO_SIGNAL || object->type == WEFT__IO_INOTIFY ||
					(object->type == WEFT__IO_TIMER && object->interval_ns);
	object->watched = events;
	if (has_name && events)
		weft__io_begin_task(fd, object, NULL, 0);
	int saved = weft__hooks_begin();
	weft__io_mark_epoll(object);
	weft__hooks_end(saved);
}

/* ---- Questions ---- */

static void forget_asked(struct weft__io_thread *thread, unsigned at)
{
	thread->asked[at] = thread->asked[--thread->asked_count];
}

/* Its task has answered, or got the answer without a wait. */
static void forget_questions(struct weft__io_thread *thread, uint64_t task, int fd)
{
	for (unsigned i = thread->asked_count; i-- > 0;)
		if (thread->asked[i].task == task || thread->asked[i].fd == fd)
			forget_asked(thread, i);
}

static void ask(
	struct weft__io_thread *thread, int fd, unsigned wants, const struct weft__io_object *object)
{
	uint64_t task = weft_current();
	if (!may_switch(thread))
		return;
	forget_questions(thread, object->flags & WEFT__IO_SERVED ? task : WEFT_TASK_NONE, fd);
	if (object->flags & WEFT__IO_SERVED || task == weft__io_known_task(object) ||
		thread->asked_count == WEFT__IO_ASKED)
		return;
	thread->asked[thread->asked_count++] = (struct weft__io_asked){task, fd, wants, false};
}

void weft__io_ask(int fd, unsigned wants)
{
	const struct weft__io_object *object = weft__io_known(fd);
	bool is_reply = object && object->flags & WEFT__IO_SERVED && !weft__io_has_asked();
	if (!object || is_reply || weft__io_is_file(object) || object->type == WEFT__IO_EVENT)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	ask(own_thread(), fd, wants, object);
	weft__hooks_end(saved);
}

void weft__io_answered(int fd)
{
	forget_questions(&weft__io_thread, WEFT_TASK_NONE, fd);
}

void weft__io_wait_for_answer(struct weft__hooks_wait *ret, int fd)
{
	struct weft__io_thread *thread = own_thread();
	struct weft__io_object *object = weft__io_known(fd);
	uint64_t task = weft_current();
	bool has_asked = false;
	for (unsigned i = 0; i < thread->asked_count; i++)
		has_asked |= thread->asked[i].fd == fd && thread->asked[i].task == task;
	*ret = (struct weft__hooks_wait){.waiter = WEFT_TASK_NONE};
	if (!has_asked || !object || task != thread->running)
		return;
	int saved = weft__hooks_begin();
	weft__io_answered(fd);
	weft__hooks_wait_begin(ret, weft__io_task(fd, object), false, "poll");
	weft__hooks_end(saved);
}

/* ---- Waits for one descriptor ---- */

/* A client that waits for its connection alone waits for what the server does. A connection that
 * was accepted is one of many, though a loop may wait for the only one that is there. */
static bool can_be_alone(const struct weft__io_object *object, unsigned events)
{
	if (object->type == WEFT__IO_PIPE || object->type == WEFT__IO_TERMINAL)
		return events & POLLIN;
	if (object->type == WEFT__IO_PROCESS || object->type == WEFT__IO_SIGNAL)
		return true;
	return (object->type == WEFT__IO_TCP || object->type == WEFT__IO_UNIX) &&
		   !(object->flags & (WEFT__IO_SERVED | WEFT__IO_LISTENS));
}

bool weft__io_is_client(int fd)
{
	const struct weft__io_object *object = weft__io_known(fd);
	return object && object->type != WEFT__IO_PIPE && object->type != WEFT__IO_TERMINAL &&
		   object->type != WEFT__IO_PROCESS && object->type != WEFT__IO_SIGNAL &&
		   can_be_alone(object, POLLIN) && weft__io_known_task(object) != WEFT_TASK_NONE;
}

void weft__io_wait_alone(struct weft__hooks_wait *ret, int fd, unsigned events)
{
	struct weft__io_object *object = weft__io_object(fd);
	*ret = (struct weft__hooks_wait){.waiter = WEFT_TASK_NONE};
	if (!object || !can_be_alone(object, events))
		return;
	int saved = weft__hooks_begin();
	uint64_t own = weft__hooks_thread_task();
	if (events & POLLIN)
		weft__io_find_sender(fd, object);
	if (object->type == WEFT__IO_SIGNAL)
		weft__hooks_look_at_children();
	if (may_switch(own_thread())) {
		uint64_t task = weft__io_task(fd, object);
		weft__io_answered(fd);
		weft__io_mark_ends(fd, object);
		weft__io_mark_direction(object, !(events & POLLIN));
		if (weft_current() == task)
			weft_switch(own);
		weft__hooks_wait_begin(ret, task, false, "poll");
	}
	weft__hooks_end(saved);
}

void weft__io_wait_alone_end(const struct weft__hooks_wait *wait, int fd, unsigned events)
{
	struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	int saved = weft__hooks_begin();
	if (events) {
		weft__io_wait_over();
		if (events & POLLIN)
			weft__io_receive(fd, wait->source);
		weft__hooks_wait_got(wait);
	} else {
		weft__hooks_wait_ended(wait);
	}
	if (events && descriptor) {
		descriptor->ready = events & (POLLIN | POLLOUT);
		descriptor->used = weft__io_thread.round;
	}
	weft__hooks_end(saved);
}

/* ---- Waits for several ---- */

void weft__io_expect(int fd, unsigned events)
{
	for (unsigned i = 0; i < weft__io_thread.asked_count; i++)
		if (weft__io_thread.asked[i].fd == fd && (weft__io_thread.asked[i].wants & events))
			weft__io_thread.asked[i].is_expected = true;
}

/* Records the waits of the tasks that have asked. A question counts only if the loop now waits for
 * its descriptor: others, such as lines for a log, get no answer. */
static void begin_questions(struct weft__io_thread *thread)
{
	for (unsigned i = 0; i < thread->asked_count; i++) {
		const struct weft__io_asked *asked = &thread->asked[i];
		struct weft__io_object *object = weft__io_known(asked->fd);
		if (!object || !(asked->is_expected || (object->watched & asked->wants)))
			continue;
		uint64_t task = weft__io_task(asked->fd, object);
		object->waiter = asked->task;
		weft_try_read_as(asked->task, task);
	}
	thread->asked_count = 0;
}

/* ---- Waits ---- */

/* The original refuses a time that cannot be read. */
bool weft__io_may_sleep(const struct timespec *time)
{
	struct timespec copy;
	return !time || (weft__hooks_copy(&copy, time, sizeof(copy)) && (copy.tv_sec || copy.tv_nsec));
}

/* A jump out of a signal handler leaves the wait. */
static void leave_wait(void)
{
	weft__io_wait_over();
	weft__io_wait_end();
}

/* The trace has it when the thread first waits there, or no longer. */
static void mark_epoll(struct weft__io_thread *thread, uint32_t epoll)
{
	if (likely(thread->epoll == epoll))
		return;
	thread->epoll = epoll;
	weft_tag_value_as(weft__hooks_thread_task(), WEFT_TAG_EPOLL, epoll);
}

void weft__io_wait_begin(bool may_sleep, uint32_t epoll)
{
	struct weft__io_thread *thread = own_thread();
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	thread->waits_since_ns = weft__hooks_now_ns();
	if (may_sleep && unlikely(thread->edge_count))
		weft__io_edge_wait();
	if (may_sleep && may_switch(thread)) {
		begin_questions(thread);
		mark_epoll(thread, epoll);
		thread->is_idle = true;
		weft__hooks_waits(leave_wait);
		weft_switch(WEFT_TASK_NONE);
	}
	thread->blocked_since =
		may_sleep && !thread->is_idle && weft_current() != WEFT_TASK_NONE ? weft_now() : 0;
	weft__hooks_end(saved);
}

/* A loop inside of a task of the program, such as node's for a child process, blocks its thread. */
static WEFT__OWN_FRAME void record_blocked(const struct weft__io_thread *thread)
{
	struct weft__hooks_text name = {0};
	if (weft__hooks_ns_since(thread->blocked_since) < WEFT__HOOKS_LONG_NS)
		return;
	weft__hooks_append(&name, "nested event loop");
	weft__hooks_record_blocked(&name, thread->blocked_since);
}

void weft__io_wait_over(void)
{
	struct weft__io_thread *thread = own_thread();
	if (unlikely(thread->round == 0))
		thread->round = __atomic_add_fetch(&next_rounds, 1, __ATOMIC_RELAXED) << 40;
	thread->round++;
	thread->answered = WEFT_TASK_NONE;
}

void weft__io_ready(int fd, unsigned events)
{
	struct weft__io_thread *thread = &weft__io_thread;
	struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	if (!descriptor)
		return;
	/* After an error or a hang-up, reads and writes both return at once. */
	descriptor->ready = events & (POLLERR | POLLHUP) ? events | POLLIN | POLLOUT : events;
	descriptor->round = thread->round;
	struct weft__io_object *object = weft__io_known(fd);
	if (!object || object->waiter == WEFT_TASK_NONE || object->epoch != thread->epoch ||
		object->waiter != weft__hooks_thread.task)
		return;
	thread->answered = object->alive.task;
	object->waiter = WEFT_TASK_NONE;
}

/* The thread's own task runs. If it has asked something, it reads the answer, or one of them. */
void weft__io_wait_end(void)
{
	struct weft__io_thread *thread = &weft__io_thread;
	int saved = weft__hooks_begin();
	uint64_t own = weft__hooks_thread_task();
	bool is_ours = thread->is_idle ? weft_current() == WEFT_TASK_NONE : may_switch(thread);
	if (unlikely(thread->blocked_since))
		record_blocked(thread);
	if (is_ours && thread->answered != WEFT_TASK_NONE)
		weft_read_as(own, thread->answered);
	if (is_ours && weft_current() != own)
		weft_switch(own);
	if (thread->is_idle) {
		const uint64_t now_ns = weft__hooks_now_ns();
		weft__hooks_waits_no_longer();
		weft__hooks_count_blocked(
			thread->epoll ? "epoll_wait" : "poll", now_ns - thread->waits_since_ns);
		weft__hooks_vain_goes_on(thread->waits_since_ns, now_ns);
	}
	thread->is_idle = false;
	weft__hooks_end(saved);
}

/* ---- Activations ---- */

void weft__io_activate(int fd, struct weft__io_descriptor *descriptor)
{
	struct weft__io_thread *thread = own_thread();
	struct weft__io_object *object;
	int saved = weft__hooks_begin();
	bool is_input = descriptor->ready & POLLIN;
	descriptor->round = 0;
	descriptor->ready &= WEFT__IO_GUESSED;
	descriptor->used = thread->round;
	if (thread->round && may_switch(thread) && (object = weft__io_object(fd))) {
		uint64_t task = weft__io_task(fd, object);
		if (object->waiter != WEFT_TASK_NONE)
			weft_read_later_as(object->waiter, task);
		object->waiter = WEFT_TASK_NONE;
		if (is_input)
			weft__io_receive(fd, task);
		weft_switch(task);
		thread->running = task;
	}
	weft__hooks_end(saved);
}

void weft__io_continue(int fd)
{
	struct weft__io_thread *thread = own_thread();
	const struct weft__io_object *object = weft__io_known(fd);
	uint64_t task = object ? weft__io_known_task(object) : WEFT_TASK_NONE;
	if (task == WEFT_TASK_NONE || !(object->flags & WEFT__IO_SERVED) || weft_current() == task)
		return;
	int saved = weft__hooks_begin();
	if (may_switch(thread)) {
		weft_switch(task);
		thread->running = task;
	}
	weft__hooks_end(saved);
}

void weft__io_accepted(int fd)
{
	struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	if (!descriptor)
		return;
	descriptor->ready = POLLIN | WEFT__IO_GUESSED;
	descriptor->round = own_thread()->round;
}

static void leave(void)
{
	const struct weft__io_thread *thread = own_thread();
	uint64_t task = weft_current();
	if (task != WEFT_TASK_NONE && task == thread->running)
		weft_switch(weft__hooks_thread_task());
}

__attribute__((constructor(106))) static void begin(void)
{
	weft__hooks_offer_leave_loop(leave);
}
