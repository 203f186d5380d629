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

#define WEFT_CATEGORY io
#include "hooks/hooks.h"

static WEFT__OWN_FRAME uint64_t make_call(const char *name)
{
	struct weft__hooks_text label = {0};
	weft__hooks_append(&label, name);
	return weft__hooks_call_task(&label, weft_kind("call"));
}

static struct weft__hooks_wait begin_wait(const char *name)
{
	struct weft__hooks_wait wait;
	int saved = weft__hooks_begin();
	weft__hooks_wait_begin(&wait, make_call(name), true, name);
	weft__hooks_end(saved);
	return wait;
}

static void end_wait(const struct weft__hooks_wait *wait, bool is_success)
{
	int saved = weft__hooks_begin();
	if (is_success)
		weft__hooks_wait_got(wait);
	else
		weft__hooks_wait_ended(wait);
	weft__hooks_end(saved);
}

/* `attempt` fails with `must_wait` where `call` would wait. */
#define WAIT(name, is_blocking, must_wait, attempt, call)                 \
	__extension__({                                                       \
		int weft__saved = errno;                                          \
		bool weft__tries = HOOKS_RECORD && (is_blocking);                 \
		__typeof__(call) weft__result = -1;                               \
		if (weft__tries)                                                  \
			weft__result = (attempt);                                     \
		if (!weft__tries || (weft__result < 0 && errno == (must_wait))) { \
			struct weft__hooks_wait weft__wait;                           \
			errno = weft__saved;                                          \
			if (weft__tries)                                              \
				weft__wait = begin_wait(name);                            \
			weft__result = (call);                                        \
			if (weft__tries)                                              \
				end_wait(&weft__wait, weft__result >= 0);                 \
		}                                                                 \
		weft__result;                                                     \
	})

/* ---- System V ---- */

/* The kernel refuses to copy a message and to wait for one in one call. */
HOOK(msgrcv)
ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
	return WAIT("msgrcv", !(flags & (IPC_NOWAIT | MSG_COPY)), ENOMSG,
		NEXT(msgrcv)(queue, message, size, type, flags | IPC_NOWAIT),
		NEXT(msgrcv)(queue, message, size, type, flags));
}

HOOK(msgsnd)
int msgsnd(int queue, const void *message, size_t size, int flags)
{
	return WAIT("msgsnd", !(flags & IPC_NOWAIT), EAGAIN,
		NEXT(msgsnd)(queue, message, size, flags | IPC_NOWAIT),
		NEXT(msgsnd)(queue, message, size, flags));
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

/* An operation that does not wait by itself fails in the same way, twice. */
HOOK(semop)
int semop(int semaphores, struct sembuf *operations, size_t count)
{
	return WAIT("semop", true, EAGAIN, NEXT(semtimedop)(semaphores, operations, count, &now),
		NEXT(semop)(semaphores, operations, count));
}

HOOK(semtimedop)
int semtimedop(int semaphores, struct sembuf *operations, size_t count, const struct timespec *time)
{
	return WAIT("semtimedop", may_wait(time), EAGAIN,
		NEXT(semtimedop)(semaphores, operations, count, &now),
		NEXT(semtimedop)(semaphores, operations, count, time));
}

/* ---- POSIX ---- */

HOOK(mq_receive)
ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority)
{
	return WAIT("mq_receive", true, ETIMEDOUT,
		NEXT(mq_timedreceive)(queue, message, size, priority, &now),
		NEXT(mq_receive)(queue, message, size, priority));
}

HOOK(mq_timedreceive)
ssize_t mq_timedreceive(mqd_t queue, char *restrict message, size_t size,
	unsigned *restrict priority, const struct timespec *restrict until)
{
	struct timespec time;
	return WAIT("mq_receive", is_time(until, &time), ETIMEDOUT,
		NEXT(mq_timedreceive)(queue, message, size, priority, &now),
		NEXT(mq_timedreceive)(queue, message, size, priority, until));
}

HOOK(mq_send)
int mq_send(mqd_t queue, const char *message, size_t size, unsigned priority)
{
	return WAIT("mq_send", true, ETIMEDOUT,
		NEXT(mq_timedsend)(queue, message, size, priority, &now),
		NEXT(mq_send)(queue, message, size, priority));
}

HOOK(mq_timedsend)
int mq_timedsend(
	mqd_t queue, const char *message, size_t size, unsigned priority, const struct timespec *until)
{
	struct timespec time;
	return WAIT("mq_send", is_time(until, &time), ETIMEDOUT,
		NEXT(mq_timedsend)(queue, message, size, priority, &now),
		NEXT(mq_timedsend)(queue, message, size, priority, until));
}

HOOK(aio_suspend)
int aio_suspend(const struct aiocb *const list[], int count, const struct timespec *time)
{
	return WAIT("aio_suspend", may_wait(time), EAGAIN, NEXT(aio_suspend)(list, count, &now),
		NEXT(aio_suspend)(list, count, time));
}

HOOK(aio_suspend64)
int aio_suspend64(const struct aiocb64 *const list[], int count, const struct timespec *time)
{
	return WAIT("aio_suspend", may_wait(time), EAGAIN, NEXT(aio_suspend64)(list, count, &now),
		NEXT(aio_suspend64)(list, count, time));
}
