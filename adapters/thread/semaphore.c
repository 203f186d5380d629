/* SPDX-License-Identifier: ISC
 *
 * Semaphores and barriers. Those who wait read the object's task; who posts, or comes last to a
 * barrier, wakes them. A semaphore that could be taken at once writes nothing.
 *
 * POSIX semaphores are no resources of the model: most are posted by another thread than the one
 * that waited, so nobody holds them.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "thread/shared.h"
#include "thread/taken.h"

/* `is_lock`: the thread holds the semaphore after the wait. Without an object, the wait is for the
 * end of a thread. */
struct waiting {
	struct weft__thread_waiting on;
	bool is_shared, is_lock;
};

static void begin_wait(
	struct waiting *it, const void *address, const char *word, const void *caller, bool is_timed)
{
	const struct weft__thread_origin origin = {word, caller, WEFT_KIND_CONDITION, false};
	int saved = weft__hooks_begin();
	struct weft__thread_object *object = weft__thread_object(address, &origin);
	it->on.lock = object;
	if (object && it->is_shared)
		weft__thread_shared_wait(object);
	if (object && (it->is_shared || is_timed || weft__thread_has_handlers))
		weft__thread_wait_limited(object);
	if (object)
		it->on.wait = weft__thread_wait_begin(object, word);
	weft__hooks_end(saved);
}

static void record_end(const struct waiting *it, bool is_woken)
{
	int saved = weft__hooks_begin();
	if (it->on.lock && is_woken && it->is_shared)
		weft__thread_shared_woken(it->on.lock);
	if (it->on.lock)
		weft__thread_wait_end(it->on.lock, &it->on.wait, is_woken);
	else if (is_woken)
		weft__hooks_wait_got(&it->on.wait);
	else
		weft__hooks_wait_ended(&it->on.wait);
	weft__hooks_end(saved);
}

static void end_wait(const struct waiting *it, bool is_woken)
{
	if (it->is_lock)
		weft__thread_lock_got(&it->on, is_woken);
	else if (it->on.lock || it->on.wait.waiter != WEFT_TASK_NONE)
		record_end(it, is_woken);
}

static void wake_if_busy(const void *address)
{
	if (!weft__thread_is_busy(address) || !HOOKS_RECORD)
		return;
	int saved = weft__hooks_begin();
	weft__thread_wake(address);
	weft__hooks_end(saved);
}

static void wake_others(const void *address, const char *word, const void *caller)
{
	const struct weft__thread_origin origin = {word, caller, WEFT_KIND_CONDITION, false};
	int saved = weft__hooks_begin();
	weft__thread_shared_wake(address, &origin);
	weft__hooks_end(saved);
}

/* ---- Semaphores ---- */

/* As glibc keeps it: on machines of 64 bits, the value and the number of those who wait are one
 * word. */
struct content {
#if __SIZEOF_POINTER__ == 8
	uint32_t value, waiters;
	int is_shared;
#else
	uint32_t value;
	int is_shared, unused;
	uint32_t waiters;
#endif
};

static bool is_shared(const sem_t *semaphore)
{
	const struct content *it = (const void *)semaphore;
	return unlikely(__atomic_load_n(&it->is_shared, __ATOMIC_RELAXED) != 0);
}

static bool has_waiters(const sem_t *semaphore)
{
	const struct content *it = (const void *)semaphore;
	return __atomic_load_n(&it->waiters, __ATOMIC_RELAXED) != 0;
}

/* True if the caller has to wait for the semaphore; sem_wait is tried again then. errno stays. */
static bool must_wait(sem_t *semaphore)
{
	int saved = errno;
	bool is_taken = NEXT(sem_trywait)(semaphore) == 0;
	errno = saved;
	return !is_taken;
}

#define NOTHING                                \
	{                                          \
		.on.wait = {.waiter = WEFT_TASK_NONE } \
	}

static WEFT__OWN_FRAME void begin_lock(
	struct waiting *it, const sem_t *semaphore, const void *caller, bool is_timed, int holder)
{
	const struct weft__thread_origin origin = {"lock", caller, WEFT_KIND_LOCK, true};
	it->is_lock = true;
	weft__thread_lock_wait(semaphore, holder, &origin, is_timed, &it->on);
}

static WEFT__OWN_FRAME void begin_join(struct waiting *it, uint64_t thread)
{
	int saved = weft__hooks_begin();
	it->on.wait = weft__hooks_wait_for(thread, "join");
	weft__hooks_end(saved);
}

static void begin_semaphore(
	struct waiting *it, const sem_t *semaphore, const void *caller, bool is_timed)
{
	struct weft__thread_taken taken;
	weft__thread_taken_wait(&taken, semaphore);
	it->is_shared = is_shared(semaphore);
	if (taken.thread != WEFT_TASK_NONE)
		begin_join(it, taken.thread);
	else if (taken.is_lock)
		begin_lock(it, semaphore, caller, is_timed, taken.by);
	else
		begin_wait(it, semaphore, "semaphore", caller, is_timed);
}

/* Python tries its locks by this before it waits for them. A semaphore that processes share is not
 * a lock of Python: multiprocessing, which may be in the same file as Python, has such ones. */
HOOK(sem_trywait)
int sem_trywait(sem_t *semaphore)
{
	int result = NEXT(sem_trywait)(semaphore);
	if (HOOKS_RECORD && weft__hooks_python_has(__builtin_return_address(0)) &&
		!is_shared(semaphore))
		weft__thread_tried(semaphore, result == 0);
	return result;
}

/* As the originals, this and sem_timedwait are cancellation points also if the semaphore is free;
 * glibc's sem_clockwait is not. */
HOOK(sem_wait)
int sem_wait(sem_t *semaphore)
{
	if (!HOOKS_RECORD)
		return NEXT(sem_wait)(semaphore);
	pthread_testcancel();
	if (!must_wait(semaphore))
		return 0;
	struct waiting it = NOTHING;
	begin_semaphore(&it, semaphore, __builtin_return_address(0), false);
	int result = NEXT(sem_wait)(semaphore);
	end_wait(&it, result == 0);
	return result;
}

HOOK(sem_timedwait)
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
	if (!HOOKS_RECORD || !weft__thread_is_valid_time(CLOCK_REALTIME, until))
		return NEXT(sem_timedwait)(semaphore, until);
	pthread_testcancel();
	if (!must_wait(semaphore))
		return 0;
	struct waiting it = NOTHING;
	begin_semaphore(&it, semaphore, __builtin_return_address(0), true);
	int result = NEXT(sem_timedwait)(semaphore, until);
	end_wait(&it, result == 0);
	return result;
}

HOOK(sem_clockwait)
int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
	if (!HOOKS_RECORD || !weft__thread_is_valid_time(clock, until))
		return NEXT(sem_clockwait)(semaphore, clock, until);
	if (!must_wait(semaphore))
		return 0;
	struct waiting it = NOTHING;
	begin_semaphore(&it, semaphore, __builtin_return_address(0), true);
	int result = NEXT(sem_clockwait)(semaphore, clock, until);
	end_wait(&it, result == 0);
	return result;
}

/* True if it is a lock of Python. */
static bool give_back(const sem_t *semaphore)
{
	weft__thread_given(semaphore);
	if (!weft__thread_is_busy(semaphore) || !weft__thread_taken_is_lock(semaphore) || !HOOKS_RECORD)
		return false;
	weft__thread_lock_release_of_any(semaphore);
	return true;
}

HOOK(sem_post)
int sem_post(sem_t *semaphore)
{
	if (HOOKS_RECORD && is_shared(semaphore)) {
		if (has_waiters(semaphore))
			wake_others(semaphore, "semaphore", __builtin_return_address(0));
	} else if (!give_back(semaphore)) {
		wake_if_busy(semaphore);
	}
	return NEXT(sem_post)(semaphore);
}

HOOK(sem_destroy)
int sem_destroy(sem_t *semaphore)
{
	weft__thread_destroyed(semaphore);
	weft__thread_taken_forget(semaphore);
	return NEXT(sem_destroy)(semaphore);
}

/* ---- Barriers ---- */

/* As glibc keeps it. */
struct inner {
	unsigned in, round, count;
	int is_shared;
	unsigned out;
};

/* The last thread to come does not wait, but finds that out only afterwards: its wait is short.
 * Those that wait for one of another process receive what it sends, as the last one. */
HOOK(pthread_barrier_wait)
int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	if (!HOOKS_RECORD)
		return NEXT_VERSION(pthread_barrier_wait, "GLIBC_2.34")(barrier);
	const void *caller = __builtin_return_address(0);
	const bool is_shared = ((const struct inner *)(const void *)barrier)->is_shared != 0;
	if (is_shared)
		wake_others(barrier, "barrier", caller);
	struct waiting it = NOTHING;
	begin_wait(&it, barrier, "barrier", caller, is_shared);
	int result = NEXT_VERSION(pthread_barrier_wait, "GLIBC_2.34")(barrier);
	it.is_shared = is_shared && result != PTHREAD_BARRIER_SERIAL_THREAD; /* which came last */
	end_wait(&it, true);
	return result;
}

HOOK(pthread_barrier_destroy)
int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	weft__thread_destroyed(barrier);
	return NEXT_VERSION(pthread_barrier_destroy, "GLIBC_2.34")(barrier);
}
