/* SPDX-License-Identifier: ISC
 *
 * Message queues and semaphores of System V, message queues of POSIX, and the end of asynchronous
 * requests. These may wait for ever. Each call is tried first in a way that does not wait, so that
 * only one that has to is recorded, from its begin on.
 */
#include "io/plain.h"

#include <aio.h>
#include <errno.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>

#include "io/call.h"
#include "io/channel.h"

#define OPERATIONS_MAX 16 /* of a call about semaphores that are looked at */

/* A call that may wait. */
struct waiting {
	const char *call;
	struct weft__io_channel_name source;
	struct weft__io_channel_wait wait;
	bool is_wait;
};

static void begin_wait(struct waiting *it)
{
	it->is_wait = true;
	weft__io_channel_begin(&it->wait, &it->source, it->call);
}

/* `attempt` fails with `must_wait` where `call` would wait. */
#define WAIT(it, is_blocking, must_wait, attempt, call)                   \
	__extension__({                                                       \
		int weft__saved = errno;                                          \
		bool weft__tries = is_blocking;                                   \
		__typeof__(call) weft__result = -1;                               \
		if (weft__tries)                                                  \
			weft__result = (attempt);                                     \
		if (!weft__tries || (weft__result < 0 && errno == (must_wait))) { \
			errno = weft__saved;                                          \
			if (weft__tries)                                              \
				begin_wait(it);                                           \
			weft__result = (call);                                        \
			if ((it)->is_wait)                                            \
				weft__io_channel_end(&(it)->wait, weft__result >= 0);     \
		}                                                                 \
		weft__result;                                                     \
	})

/* Without a wait, the queue may have been full. */
static ssize_t received(const struct waiting *it, enum weft__io_channel_sort room, ssize_t got)
{
	const struct weft__io_channel_name name = {room, it->source.number, 0, false};
	if (got >= 0 && !it->is_wait)
		weft__io_channel_give(&name);
	return got;
}

static int sent(const struct weft__io_channel_name *to, int result)
{
	if (result < 0)
		weft__io_channel_take_back(to);
	return result;
}

/* ---- System V ---- */

/* A type below 0 stands for several. */
static struct weft__io_channel_name awaited_type(int queue, long type, int flags)
{
	const bool is_vague = type < 0 || (type > 0 && flags & MSG_EXCEPT);
	return (struct weft__io_channel_name){WEFT__IO_MESSAGES, queue, is_vague ? 0 : type, is_vague};
}

/* The kernel refuses to copy a message and to wait for one in one call. */
HOOK(msgrcv)
ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
	if (!HOOKS_RECORD)
		return NEXT(msgrcv)(queue, message, size, type, flags);
	struct waiting it = {.call = "msgrcv", .source = awaited_type(queue, type, flags)};
	ssize_t got = WAIT(&it, !(flags & (IPC_NOWAIT | MSG_COPY)), ENOMSG,
		NEXT(msgrcv)(queue, message, size, type, flags | IPC_NOWAIT),
		NEXT(msgrcv)(queue, message, size, type, flags));
	return flags & MSG_COPY ? got : received(&it, WEFT__IO_MESSAGES_ROOM, got);
}

HOOK(msgsnd)
int msgsnd(int queue, const void *message, size_t size, int flags)
{
	struct weft__io_channel_name to = {WEFT__IO_MESSAGES, queue, 0, false};
	if (!HOOKS_RECORD || !weft__hooks_copy(&to.part, message, sizeof(to.part)))
		return NEXT(msgsnd)(queue, message, size, flags);
	struct waiting it = {.call = "msgsnd", .source = {WEFT__IO_MESSAGES_ROOM, queue, 0, false}};
	weft__io_channel_give(&to);
	return sent(&to, WAIT(&it, !(flags & IPC_NOWAIT), EAGAIN,
						 NEXT(msgsnd)(queue, message, size, flags | IPC_NOWAIT),
						 NEXT(msgsnd)(queue, message, size, flags)));
}

/* A time that is over at once. */
static const struct timespec now;

/* The kernel refuses a time that it cannot read, or that is out of range, before it looks for a
 * message: a first try with another time would succeed. NULL is a valid time. */
static bool is_time(const struct timespec *given, struct timespec *ret_time)
{
	return !given ||
		   (weft__hooks_copy(ret_time, given, sizeof(*ret_time)) && ret_time->tv_sec >= 0 &&
			   ret_time->tv_nsec >= 0 && ret_time->tv_nsec < 1000000000);
}

/* The same for a time from now on: false if the call would not wait. */
static bool may_wait(const struct timespec *given)
{
	struct timespec time = {1, 0};
	return is_time(given, &time) && (time.tv_sec || time.tv_nsec);
}

/* Operations of a call: some add tokens, which does not wait, others take them. The program may
 * change its list meanwhile, so it is copied once. */
struct operations {
	struct waiting wait;
	size_t count, known;
	struct sembuf list[OPERATIONS_MAX];
	bool gives, takes;
};

static void for_each_given(
	const struct operations *it, void (*function)(const struct weft__io_channel_name *))
{
	for (size_t i = 0; i < it->known; i++)
		if (it->list[i].sem_op > 0)
			function(&(struct weft__io_channel_name){
				WEFT__IO_TOKENS, it->wait.source.number, (long)it->list[i].sem_num, false});
}

/* It is not known which of several operations waits. Tokens are recorded before the call, so that
 * they come before the events of the task that they wake. If the call may wait itself, they are
 * recorded after it. */
static WEFT__OWN_FRAME void begin_operations(struct operations *it, const struct sembuf *list)
{
	struct weft__io_channel_name *source = &it->wait.source;
	*source = (struct weft__io_channel_name){
		WEFT__IO_TOKENS, source->number, WEFT__IO_SEVERAL, it->count > 1};
	it->known = it->count < OPERATIONS_MAX ? it->count : OPERATIONS_MAX;
	if (!weft__hooks_copy(it->list, list, it->known * sizeof(*list)))
		it->known = 0;
	it->gives = false;
	it->takes = it->count > OPERATIONS_MAX; /* any of the others may wait */
	for (size_t i = 0; i < it->known; i++) {
		const struct sembuf *operation = &it->list[i];
		it->gives = it->gives || operation->sem_op > 0;
		it->takes = it->takes || (operation->sem_op <= 0 &&
									 !(it->count == 1 && operation->sem_flg & IPC_NOWAIT));
		source->is_vague = source->is_vague || operation->sem_op != -1;
		if (it->count == 1)
			source->part = (long)operation->sem_num;
	}
	if (it->gives && !it->takes)
		for_each_given(it, weft__io_channel_give);
}

static WEFT__OWN_FRAME int end_operations(const struct operations *it, int result)
{
	if (it->gives && it->takes && result == 0)
		for_each_given(it, weft__io_channel_give);
	if (it->gives && !it->takes && result != 0)
		for_each_given(it, weft__io_channel_take_back);
	return result;
}

HOOK(semop)
int semop(int set, struct sembuf *list, size_t count)
{
	if (!HOOKS_RECORD)
		return NEXT(semop)(set, list, count);
	struct operations it;
	it.wait = (struct waiting){.call = "semop", .source.number = set};
	it.count = count;
	begin_operations(&it, list);
	return end_operations(
		&it, WAIT(&it.wait, it.takes, EAGAIN, NEXT(semtimedop)(set, list, count, &now),
				 NEXT(semop)(set, list, count)));
}

HOOK(semtimedop)
int semtimedop(int set, struct sembuf *list, size_t count, const struct timespec *time)
{
	if (!HOOKS_RECORD)
		return NEXT(semtimedop)(set, list, count, time);
	struct operations it;
	it.wait = (struct waiting){.call = "semtimedop", .source.number = set};
	it.count = count;
	begin_operations(&it, list);
	return end_operations(&it,
		WAIT(&it.wait, it.takes && may_wait(time), EAGAIN, NEXT(semtimedop)(set, list, count, &now),
			NEXT(semtimedop)(set, list, count, time)));
}

/* ---- POSIX ---- */

#define RECEIVE(is_blocking, last)                                                               \
	__extension__({                                                                              \
		struct waiting it = {.call = "mq_receive", .source = {WEFT__IO_POSTS, queue, 0, false}}; \
		ssize_t weft__got = WAIT(&it, is_blocking, ETIMEDOUT,                                    \
			NEXT(mq_timedreceive)(queue, message, size, priority, &now), last);                  \
		received(&it, WEFT__IO_POSTS_ROOM, weft__got);                                           \
	})

HOOK(mq_receive)
ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority)
{
	if (!HOOKS_RECORD)
		return NEXT(mq_receive)(queue, message, size, priority);
	return RECEIVE(true, NEXT(mq_receive)(queue, message, size, priority));
}

HOOK(mq_timedreceive)
ssize_t mq_timedreceive(mqd_t queue, char *restrict message, size_t size,
	unsigned *restrict priority, const struct timespec *restrict until)
{
	struct timespec time;
	if (!HOOKS_RECORD)
		return NEXT(mq_timedreceive)(queue, message, size, priority, until);
	return RECEIVE(
		is_time(until, &time), NEXT(mq_timedreceive)(queue, message, size, priority, until));
}

#define SEND(is_blocking, last)                                                                    \
	__extension__({                                                                                \
		const struct weft__io_channel_name to = {WEFT__IO_POSTS, queue, 0, false};                 \
		struct waiting it = {.call = "mq_send", .source = {WEFT__IO_POSTS_ROOM, queue, 0, false}}; \
		weft__io_channel_give(&to);                                                                \
		sent(&to, WAIT(&it, is_blocking, ETIMEDOUT,                                                \
					  NEXT(mq_timedsend)(queue, message, size, priority, &now), last));            \
	})

HOOK(mq_send)
int mq_send(mqd_t queue, const char *message, size_t size, unsigned priority)
{
	if (!HOOKS_RECORD)
		return NEXT(mq_send)(queue, message, size, priority);
	return SEND(true, NEXT(mq_send)(queue, message, size, priority));
}

HOOK(mq_timedsend)
int mq_timedsend(
	mqd_t queue, const char *message, size_t size, unsigned priority, const struct timespec *until)
{
	struct timespec time;
	if (!HOOKS_RECORD)
		return NEXT(mq_timedsend)(queue, message, size, priority, until);
	return SEND(is_time(until, &time), NEXT(mq_timedsend)(queue, message, size, priority, until));
}

/* Another queue may get the number of the descriptor. */
HOOK(mq_close)
int mq_close(mqd_t queue)
{
	if (weft__io_is_known(queue))
		weft__io_closed(queue);
	return NEXT(mq_close)(queue);
}

/* ---- Asynchronous requests ---- */

#define SUSPEND(next)                                                                        \
	__extension__({                                                                          \
		struct weft__io_call weft__call = {0};                                               \
		int weft__saved = errno, weft__result = -1;                                          \
		bool weft__tries = HOOKS_RECORD && may_wait(time);                                   \
		if (weft__tries)                                                                     \
			weft__result = NEXT(next)(list, count, &now);                                    \
		if (!weft__tries || (weft__result < 0 && errno == EAGAIN)) {                         \
			errno = weft__saved;                                                             \
			bool weft__is_slow = true;                                                       \
			if (weft__tries)                                                                 \
				weft__io_call_begin_other(&weft__call, &weft__is_slow, "aio_suspend", NULL); \
			weft__result = NEXT(next)(list, count, time);                                    \
			weft__io_call_end(&weft__call, weft__result == 0);                               \
		}                                                                                    \
		weft__result;                                                                        \
	})

HOOK(aio_suspend)
int aio_suspend(const struct aiocb *const list[], int count, const struct timespec *time)
{
	return SUSPEND(aio_suspend);
}

HOOK(aio_suspend64)
int aio_suspend64(const struct aiocb64 *const list[], int count, const struct timespec *time)
{
	return SUSPEND(aio_suspend64);
}
