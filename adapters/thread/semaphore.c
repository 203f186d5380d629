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

struct waiting {
	struct weft__thread_object *object;
	struct weft__hooks_wait wait;
	bool is_shared;
};

static struct waiting begin_wait(
	const void *address, const char *word, const void *caller, bool is_shared, bool is_timed)
{
	int saved = weft__hooks_begin();
	const struct weft__thread_origin origin = {word, caller, WEFT_KIND_CONDITION};
	struct waiting it = {
		weft__thread_object(address, &origin), {.waiter = WEFT_TASK_NONE}, is_shared};
	if (it.object && is_shared)
		weft__thread_shared_wait(it.object);
	if (it.object && (is_shared || is_timed || weft__thread_has_handlers))
		weft__thread_wait_limited(it.object);
	if (it.object)
		it.wait = weft__thread_wait_begin(it.object, word);
	weft__hooks_end(saved);
	return it;
}

static void end_wait(const struct waiting *it, bool is_woken)
{
	if (!it->object)
		return;
	int saved = weft__hooks_begin();
	if (is_woken && it->is_shared)
		weft__thread_shared_woken(it->object);
	weft__thread_wait_end(it->object, &it->wait, is_woken);
	weft__hooks_end(saved);
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
	const struct weft__thread_origin origin = {word, caller, WEFT_KIND_CONDITION};
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
	struct waiting it = begin_wait(
		semaphore, "semaphore", __builtin_return_address(0), is_shared(semaphore), false);
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
	struct waiting it =
		begin_wait(semaphore, "semaphore", __builtin_return_address(0), is_shared(semaphore), true);
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
	struct waiting it =
		begin_wait(semaphore, "semaphore", __builtin_return_address(0), is_shared(semaphore), true);
	int result = NEXT(sem_clockwait)(semaphore, clock, until);
	end_wait(&it, result == 0);
	return result;
}

HOOK(sem_post)
int sem_post(sem_t *semaphore)
{
	if (HOOKS_RECORD && is_shared(semaphore)) {
		if (has_waiters(semaphore))
			wake_others(semaphore, "semaphore", __builtin_return_address(0));
	} else {
		wake_if_busy(semaphore);
	}
	return NEXT(sem_post)(semaphore);
}

HOOK(sem_destroy)
int sem_destroy(sem_t *semaphore)
{
	weft__thread_destroyed(semaphore);
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
	struct waiting it = begin_wait(barrier, "barrier", caller, false, is_shared);
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
