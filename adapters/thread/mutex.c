/* SPDX-License-Identifier: ISC
 *
 * Mutexes, those of C11 included: glibc has one object for both, but other functions.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <threads.h>

#include "kernel/call.h"
#include "thread/held.h"

#define CALLER __builtin_return_address(0)

/* PTHREAD_MUTEX_PSHARED_BIT of glibc's own headers. */
#define SHARED 128

static void begin_wait(
	const void *address, const void *caller, bool is_timed, struct weft__thread_waiting *ret_it)
{
	const pthread_mutex_t *mutex = address;
	int owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
	const int kind = __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
	const struct weft__thread_origin origin = {"lock", caller, WEFT_KIND_LOCK, !(kind & SHARED)};
	weft__thread_lock_wait(mutex, owner, &origin, is_timed, ret_it);
}

static bool is_taken(int error)
{
	return error == 0 || error == EOWNERDEAD;
}

/* One that was locked several times stays locked. */
void weft__thread_mutex_released(const void *address)
{
	const pthread_mutex_t *mutex = address;
	bool is_recursive = (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP;
	if (!is_recursive || mutex->__data.__count <= 1)
		weft__thread_lock_release_if_busy(mutex);
}

/* ---- pthread_mutex_t ---- */

/* PTHREAD_MUTEX_ROBUST_NORMAL_NP of glibc's own headers. */
#define ROBUST 16

/* glibc's trylock leaves a robust mutex locked for ever that cannot be recovered, so such a mutex
 * is never tried: it counts as busy if another thread's number is in its word. */
static bool is_robust(const pthread_mutex_t *mutex)
{
	return unlikely(__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & ROBUST);
}

static bool is_busy(const pthread_mutex_t *mutex)
{
	int word = __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);
	int owner = word & FUTEX_TID_MASK;
	return owner && !(word & FUTEX_OWNER_DIED) && owner != weft__kernel_thread();
}

/* Locks the mutex if that can be done without a wait. EBUSY: it cannot; `lock` does it. */
#define TRY(mutex, lock) \
	(is_robust(mutex) ? is_busy(mutex) ? EBUSY : (lock) : NEXT(pthread_mutex_trylock)(mutex))

static int lock_slowly(pthread_mutex_t *mutex, const void *caller)
{
	struct weft__thread_waiting it;
	begin_wait(mutex, caller, false, &it);
	int error = NEXT(pthread_mutex_lock)(mutex);
	weft__thread_lock_got(&it, is_taken(error));
	return error;
}

HOOK(pthread_mutex_lock)
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!HOOKS_RECORD)
		return NEXT(pthread_mutex_lock)(mutex);
	int error = TRY(mutex, NEXT(pthread_mutex_lock)(mutex));
	return likely(error != EBUSY) ? error : lock_slowly(mutex, CALLER);
}

HOOK(pthread_mutex_timedlock)
int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
	if (!HOOKS_RECORD)
		return NEXT(pthread_mutex_timedlock)(mutex, until);
	int error = TRY(mutex, NEXT(pthread_mutex_timedlock)(mutex, until));
	if (error != EBUSY)
		return error;
	struct weft__thread_waiting it;
	begin_wait(mutex, CALLER, true, &it);
	error = NEXT(pthread_mutex_timedlock)(mutex, until);
	weft__thread_lock_got(&it, is_taken(error));
	return error;
}

HOOK(pthread_mutex_clocklock)
int pthread_mutex_clocklock(
	pthread_mutex_t *restrict mutex, clockid_t clock, const struct timespec *restrict until)
{
	if (!HOOKS_RECORD || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return NEXT(pthread_mutex_clocklock)(mutex, clock, until);
	int error = TRY(mutex, NEXT(pthread_mutex_clocklock)(mutex, clock, until));
	if (error != EBUSY)
		return error;
	struct weft__thread_waiting it;
	begin_wait(mutex, CALLER, true, &it);
	error = NEXT(pthread_mutex_clocklock)(mutex, clock, until);
	weft__thread_lock_got(&it, is_taken(error));
	return error;
}

HOOK(pthread_mutex_unlock)
int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	weft__thread_mutex_released(mutex);
	return NEXT(pthread_mutex_unlock)(mutex);
}

HOOK(pthread_mutex_destroy)
int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	weft__thread_destroyed(mutex);
	return NEXT(pthread_mutex_destroy)(mutex);
}

/* ---- mtx_t ---- */

HOOK(mtx_lock)
int mtx_lock(mtx_t *mutex)
{
	if (!HOOKS_RECORD)
		return NEXT(mtx_lock)(mutex);
	int result = NEXT(mtx_trylock)(mutex);
	if (likely(result != thrd_busy))
		return result;
	struct weft__thread_waiting it;
	begin_wait(mutex, CALLER, false, &it);
	result = NEXT(mtx_lock)(mutex);
	weft__thread_lock_got(&it, result == thrd_success);
	return result;
}

HOOK(mtx_timedlock)
int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
	if (!HOOKS_RECORD)
		return NEXT(mtx_timedlock)(mutex, until);
	int result = NEXT(mtx_trylock)(mutex);
	if (result != thrd_busy)
		return result;
	struct weft__thread_waiting it;
	begin_wait(mutex, CALLER, true, &it);
	result = NEXT(mtx_timedlock)(mutex, until);
	weft__thread_lock_got(&it, result == thrd_success);
	return result;
}

HOOK(mtx_unlock)
int mtx_unlock(mtx_t *mutex)
{
	weft__thread_mutex_released(mutex);
	return NEXT(mtx_unlock)(mutex);
}

HOOK(mtx_destroy)
void mtx_destroy(mtx_t *mutex)
{
	weft__thread_destroyed(mutex);
	NEXT(mtx_destroy)(mutex);
}
