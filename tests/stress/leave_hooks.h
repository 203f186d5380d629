/* SPDX-License-Identifier: ISC
 *
 * Included first in each file of src/record and src/platform: after each store to shared memory,
 * the thread may leave by a jump, as a signal handler could.
 */
#ifndef WEFT_TESTS_STRESS_LEAVE_HOOKS_H
#define WEFT_TESTS_STRESS_LEAVE_HOOKS_H

#include "record/atomics.h"

/* leave.c: counts the step, and leaves at the requested one. */
void leave_step(void);

#undef weft__store
#undef weft__store_release
#undef weft__compare_exchange

#define LEAVE_STORE_AS(address, value, order)                         \
	__extension__({                                                   \
		__typeof__(*(address)) put = (__typeof__(*(address)))(value); \
		__atomic_store_n((address), put, (order));                    \
		leave_step();                                                 \
	})

#define weft__store(address, value)         LEAVE_STORE_AS(address, value, __ATOMIC_RELAXED)
#define weft__store_release(address, value) LEAVE_STORE_AS(address, value, __ATOMIC_RELEASE)

#define weft__compare_exchange(address, expected, desired)                \
	__extension__({                                                       \
		__typeof__(*(address)) old = (expected), new = (desired);         \
		bool done = __atomic_compare_exchange_n(                          \
			(address), &old, new, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED); \
		leave_step();                                                     \
		done;                                                             \
	})

#endif
