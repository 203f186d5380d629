/* SPDX-License-Identifier: ISC
 *
 * Condition variables: a waiter tries to read the condition's task, and reads it when it was
 * signalled; who signals it signals that task, or the waiter itself if there is only one. A signal
 * for which nobody waits is remembered (unheard.h), and seldom writes something.
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "thread/shared.h"
#include "thread/unheard.h"

/* The version that all programs use that were linked since 2002. */
#if defined(__x86_64__)
#define CONDITION_VERSION "GLIBC_2.3.2"
#else
#define CONDITION_VERSION NULL
#endif
#define ORIGINAL(name) NEXT_VERSION(name, CONDITION_VERSION)

struct waiting {
	struct weft__thread_object *condition;
	struct weft__hooks_wait wait;
	bool is_shared; /* the condition may be gone when the wait has ended */
};

/* As glibc keeps it: 8 for each that waits, and 1 for a condition that processes share. */
static unsigned references_of(const void *address)
{
	const pthread_cond_t *condition = address;
	return __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED);
}

static bool is_shared(const void *address)
{
	return unlikely(references_of(address) & 1);
}

static struct waiting begin_wait(
	const void *address, const void *mutex, const void *caller, bool is_timed)
{
	const struct weft__thread_origin origin = {"condition", caller, WEFT_KIND_CONDITION, false};
	struct waiting it = {.wait.waiter = WEFT_TASK_NONE};
	if (!HOOKS_RECORD)
		return it;
	weft__thread_mutex_released(mutex);
	int saved = weft__hooks_begin();
	it.condition = weft__thread_object(address, &origin);
	if (it.condition) {
		weft__thread_write_unheard(address, it.condition->alive.task);
		it.is_shared = is_shared(address);
		if (it.is_shared)
			weft__thread_shared_wait(it.condition);
		if (it.is_shared || is_timed)
			weft__thread_wait_limited(it.condition);
		it.wait = weft__thread_wait_begin(it.condition, "condition");
	}
	weft__hooks_end(saved);
	return it;
}

static void end_wait(const struct waiting *it, bool is_signalled)
{
	if (!it->condition)
		return;
	/* It may have been remembered while the wait began that it has ended. */
	if (is_signalled)
		weft__thread_forget_unheard(it->condition->address);
	int saved = weft__hooks_begin();
	if (is_signalled && it->is_shared)
		weft__thread_shared_woken(it->condition);
	weft__thread_wait_end(it->condition, &it->wait, is_signalled);
	weft__hooks_end(saved);
}

static void signal_others(const void *address, const void *caller)
{
	const struct weft__thread_origin origin = {"condition", caller, WEFT_KIND_CONDITION, false};
	int saved = weft__hooks_begin();
	weft__thread_shared_wake(address, &origin);
	weft__hooks_end(saved);
}

static bool wake(const void *address)
{
	int saved = weft__hooks_begin();
	bool is_heard = weft__thread_wake(address);
	weft__hooks_end(saved);
	return is_heard;
}

static void record_signal(const void *address, const void *caller, bool for_all)
{
	if (!HOOKS_RECORD)
		return;
	bool is_heard = false;
	if (is_shared(address)) {
		is_heard = references_of(address) >= 8;
		if (is_heard)
			signal_others(address, caller);
	} else if (weft__thread_is_busy(address)) {
		is_heard = wake(address);
	}
	if (!is_heard)
		weft__thread_unheard(address, for_all);
}

/* Its memory may have been another condition's that was not destroyed. */
static void begin_condition(const void *address)
{
	if (HOOKS_RECORD)
		weft__thread_forget_unheard(address);
}

static void end_condition(const void *address)
{
	weft__thread_destroyed(address);
	begin_condition(address);
}

/* ---- pthread_cond_t ---- */

HOOK(pthread_cond_wait)
int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
	struct waiting it = begin_wait(condition, mutex, __builtin_return_address(0), false);
	int error = ORIGINAL(pthread_cond_wait)(condition, mutex);
	end_wait(&it, error == 0);
	return error;
}

HOOK(pthread_cond_timedwait)
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
	const struct timespec *restrict until)
{
	if (HOOKS_RECORD && !weft__thread_is_valid_time(CLOCK_REALTIME, until))
		return ORIGINAL(pthread_cond_timedwait)(condition, mutex, until);
	struct waiting it = begin_wait(condition, mutex, __builtin_return_address(0), true);
	int error = ORIGINAL(pthread_cond_timedwait)(condition, mutex, until);
	end_wait(&it, error == 0);
	return error;
}

HOOK(pthread_cond_clockwait)
int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
	clockid_t clock, const struct timespec *restrict until)
{
	if (HOOKS_RECORD && !weft__thread_is_valid_time(clock, until))
		return NEXT(pthread_cond_clockwait)(condition, mutex, clock, until);
	struct waiting it = begin_wait(condition, mutex, __builtin_return_address(0), true);
	int error = NEXT(pthread_cond_clockwait)(condition, mutex, clock, until);
	end_wait(&it, error == 0);
	return error;
}

HOOK(pthread_cond_signal)
int pthread_cond_signal(pthread_cond_t *condition)
{
	record_signal(condition, __builtin_return_address(0), false);
	return ORIGINAL(pthread_cond_signal)(condition);
}

HOOK(pthread_cond_broadcast)
int pthread_cond_broadcast(pthread_cond_t *condition)
{
	record_signal(condition, __builtin_return_address(0), true);
	return ORIGINAL(pthread_cond_broadcast)(condition);
}

HOOK(pthread_cond_init)
int pthread_cond_init(
	pthread_cond_t *restrict condition, const pthread_condattr_t *restrict attributes)
{
	begin_condition(condition);
	return ORIGINAL(pthread_cond_init)(condition, attributes);
}

HOOK(pthread_cond_destroy)
int pthread_cond_destroy(pthread_cond_t *condition)
{
	end_condition(condition);
	return ORIGINAL(pthread_cond_destroy)(condition);
}

/* ---- C11 ---- */

HOOK(cnd_wait)
int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	struct waiting it = begin_wait(condition, mutex, __builtin_return_address(0), false);
	int result = NEXT(cnd_wait)(condition, mutex);
	end_wait(&it, result == thrd_success);
	return result;
}

HOOK(cnd_timedwait)
int cnd_timedwait(
	cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until)
{
	if (HOOKS_RECORD && !weft__thread_is_valid_time(CLOCK_REALTIME, until))
		return NEXT(cnd_timedwait)(condition, mutex, until);
	struct waiting it = begin_wait(condition, mutex, __builtin_return_address(0), true);
	int result = NEXT(cnd_timedwait)(condition, mutex, until);
	end_wait(&it, result == thrd_success);
	return result;
}

HOOK(cnd_signal)
int cnd_signal(cnd_t *condition)
{
	record_signal(condition, __builtin_return_address(0), false);
	return NEXT(cnd_signal)(condition);
}

HOOK(cnd_broadcast)
int cnd_broadcast(cnd_t *condition)
{
	record_signal(condition, __builtin_return_address(0), true);
	return NEXT(cnd_broadcast)(condition);
}

HOOK(cnd_init)
int cnd_init(cnd_t *condition)
{
	begin_condition(condition);
	return NEXT(cnd_init)(condition);
}

HOOK(cnd_destroy)
void cnd_destroy(cnd_t *condition)
{
	end_condition(condition);
	NEXT(cnd_destroy)(condition);
}
