/* SPDX-License-Identifier: ISC
 *
 * Included first in each file of src/record and src/platform: before and after each access to
 * shared memory, each fence and each reading of the clock, a thread may be delayed, by nanoseconds
 * or by a turn of the scheduler. The code and its memory orders are otherwise those of the library,
 * so ThreadSanitizer checks them.
 */
#ifndef WEFT_TESTS_STRESS_HOOKS_H
#define WEFT_TESTS_STRESS_HOOKS_H

#include "record/atomics.h"
#include "record/clock.h"

#include "delay.h"
#include "faults.h"

#undef weft__load
#undef weft__load_acquire
#undef weft__load_own
#undef weft__store
#undef weft__store_release
#undef weft__fetch_add
#undef weft__compare_exchange

/* Planted bugs take another path. */
#define STRESS_LOAD_AS(address, order)                                                          \
	__extension__({                                                                             \
		stress_delay();                                                                         \
		__typeof__(*(address)) got = stress_fault                                               \
										 ? (__typeof__(*(address)))stress_load((address),       \
											   sizeof(*(address)), (order) == __ATOMIC_ACQUIRE) \
										 : __atomic_load_n((address), (order));                 \
		stress_delay();                                                                         \
		got;                                                                                    \
	})
#define STRESS_STORE_AS(address, value, order)                                            \
	__extension__({                                                                       \
		__typeof__(*(address)) put = (__typeof__(*(address)))(value);                     \
		stress_delay();                                                                   \
		if (!stress_fault || !stress_store((address), sizeof(*(address)), (uint64_t)put)) \
			__atomic_store_n((address), put, (order));                                    \
		stress_delay();                                                                   \
	})

#define weft__load(address)                 STRESS_LOAD_AS(address, __ATOMIC_RELAXED)
#define weft__load_own(address)             STRESS_LOAD_AS(address, __ATOMIC_RELAXED)
#define weft__load_acquire(address)         STRESS_LOAD_AS(address, __ATOMIC_ACQUIRE)
#define weft__store(address, value)         STRESS_STORE_AS(address, value, __ATOMIC_RELAXED)
#define weft__store_release(address, value) STRESS_STORE_AS(address, value, __ATOMIC_RELEASE)

#define weft__fetch_add(address, value)                                                      \
	__extension__({                                                                          \
		stress_delay();                                                                      \
		__typeof__(*(address)) was = __atomic_fetch_add((address), value, __ATOMIC_RELAXED); \
		stress_delay();                                                                      \
		was;                                                                                 \
	})

#define weft__compare_exchange(address, expected, desired)                                       \
	__extension__({                                                                              \
		__typeof__(*(address)) old = (expected), new = (desired);                                \
		stress_delay();                                                                          \
		bool done = stress_fault ? stress_exchange((address), sizeof(*(address)), (uint64_t)old, \
									   (uint64_t) new)                                           \
								 : __atomic_compare_exchange_n((address), &old, new, 0,          \
									   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);                      \
		stress_delay();                                                                          \
		done;                                                                                    \
	})

static inline void stress_fence_release(void)
{
	stress_delay();
	weft__fence_release();
	stress_delay();
}

static inline struct weft__stamp stress_stamp(void)
{
	stress_delay();
	struct weft__stamp stamp = weft__record_cpu_stamp();
	stress_delay();
	return stamp;
}

static inline uint64_t stress_ticks(const struct weft_platform *platform)
{
	stress_delay();
	uint64_t ticks = weft__record_ticks(platform);
	stress_delay();
	return ticks;
}

#undef weft__fence_release
#define weft__fence_release()  stress_fence_release()
#define weft__record_cpu_stamp stress_stamp
#define weft__record_ticks     stress_ticks

#endif
