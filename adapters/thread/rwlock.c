/* SPDX-License-Identifier: ISC
 *
 * Locks for readers and writers. Waits are recorded as for a mutex. glibc knows the writer, but
 * only counts readers: those are known by readers.h.
 */
#include <errno.h>
#include <pthread.h>

#include "thread/held.h"
#include "thread/readers.h"

#define CALLER __builtin_return_address(0)

static void begin_wait(const pthread_rwlock_t *lock, const void *caller, bool is_timed,
	struct weft__thread_waiting *ret_it)
{
	const struct weft__thread_origin origin = {
		"rwlock", caller, WEFT_KIND_RWLOCK, !lock->__data.__shared};
	int writer = __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
	weft__thread_lock_wait(lock, writer, &origin, is_timed, ret_it);
}

/* NULL means no time-out. glibc declares the parameter nonnull, so the compiler would drop the test
 * if it knew where `until` comes from. */
static bool is_valid(clockid_t clock, const struct timespec *until)
{
	__asm__("" : "+r"(until));
	return !until || weft__thread_is_valid_time(clock, until);
}

/* Defines a function that takes the lock: if the lock is not free, as `original` does. A call
 * that is not valid goes to `original` at once. */
#define TAKE(name, parameters, arguments, try_first, is_writer, is_timed, is_valid) \
	HOOK(name)                                                                      \
	int name parameters                                                             \
	{                                                                               \
		if (!HOOKS_RECORD || !(is_valid))                                           \
			return ORIGINAL(name) arguments;                                        \
		int error = ORIGINAL(try_first)(lock);                                      \
		if (unlikely(error == EBUSY)) {                                             \
			struct weft__thread_waiting it;                                         \
			begin_wait(lock, CALLER, is_timed, &it);                                \
			error = ORIGINAL(name) arguments;                                       \
			weft__thread_lock_got(&it, is_writer &&error == 0);                     \
		}                                                                           \
		if (!is_writer && error == 0)                                               \
			weft__thread_reads(lock);                                               \
		return error;                                                               \
	}
#define ORIGINAL(name)  NEXT(name)
#define UNTIL           const struct timespec *restrict until
#define IS_VALID(clock) is_valid(clock, until)

TAKE(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), pthread_rwlock_tryrdlock, false,
	false, true)
TAKE(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), pthread_rwlock_trywrlock, true,
	false, true)
TAKE(pthread_rwlock_timedrdlock, (pthread_rwlock_t *restrict lock, UNTIL), (lock, until),
	pthread_rwlock_tryrdlock, false, true, IS_VALID(CLOCK_REALTIME))
TAKE(pthread_rwlock_timedwrlock, (pthread_rwlock_t *restrict lock, UNTIL), (lock, until),
	pthread_rwlock_trywrlock, true, true, IS_VALID(CLOCK_REALTIME))
TAKE(pthread_rwlock_clockrdlock, (pthread_rwlock_t *restrict lock, clockid_t clock, UNTIL),
	(lock, clock, until), pthread_rwlock_tryrdlock, false, true, IS_VALID(clock))
TAKE(pthread_rwlock_clockwrlock, (pthread_rwlock_t *restrict lock, clockid_t clock, UNTIL),
	(lock, clock, until), pthread_rwlock_trywrlock, true, true, IS_VALID(clock))

HOOK(pthread_rwlock_unlock)
int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	if (weft__thread_reading)
		weft__thread_reads_no_longer(lock);
	weft__thread_lock_release_if_busy(lock);
	return NEXT(pthread_rwlock_unlock)(lock);
}

HOOK(pthread_rwlock_destroy)
int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	weft__thread_destroyed(lock);
	return NEXT(pthread_rwlock_destroy)(lock);
}
