/* SPDX-License-Identifier: ISC
 *
 * Programs stamp their events with clocks that any process on the machine can read: the processor's
 * counter or the system's clock.
 */
#include "follow/clock.h"

#include <time.h>

static uint64_t system_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool weft__follow_clock_read(uint32_t clock, uint64_t *ret_ticks)
{
#if defined(__x86_64__) || defined(__i386__)
	if (clock == WEFT_ABI_CLOCK_TSC) {
		*ret_ticks = __builtin_ia32_rdtsc();
		return true;
	}
#elif defined(__aarch64__)
	if (clock == WEFT_ABI_CLOCK_CNTVCT) {
		uint64_t ticks;
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		*ret_ticks = ticks;
		return true;
	}
#endif
	if (clock != WEFT_ABI_CLOCK_MONOTONIC)
		return false;
	*ret_ticks = system_ns(CLOCK_MONOTONIC);
	return true;
}

struct weft_abi_clock_reading weft__follow_clock_take(uint32_t clock, uint64_t latest)
{
	struct weft_abi_clock_reading now = {.ticks = latest};
	if (!weft__follow_clock_read(clock, &now.ticks))
		return now;
	now.unix_ns = system_ns(CLOCK_REALTIME);
	now.monotonic_ns = clock == WEFT_ABI_CLOCK_MONOTONIC ? now.ticks : system_ns(CLOCK_MONOTONIC);
	return now;
}
