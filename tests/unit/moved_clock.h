/* SPDX-License-Identifier: ISC
 *
 * A clock that the test moves, for tests that are linked with clock_dep: time passes only in
 * move_clock(), however long the machine takes.
 */
#ifndef WEFT_TEST_MOVED_CLOCK_H
#define WEFT_TEST_MOVED_CLOCK_H

#include <stdint.h>
#include <time.h>

static uint64_t moved_ns = 1000000000;

int __real_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, ret_now);
	*ret_now = (struct timespec){(time_t)(moved_ns / 1000000000), (long)(moved_ns % 1000000000)};
	return 0;
}

static inline void move_clock(uint64_t ns)
{
	moved_ns += ns;
}

#endif
