/* SPDX-License-Identifier: ISC
 *
 * Programs stamp their events with clocks that any process on the machine can read: the processor's
 * counter or the system's clock.
 */
#include "follow/clock.h"

#include <time.h>

#include "abi/buffer_abi.h"

static uint64_t monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool weft__clock_read(uint32_t clock, uint64_t *ret_ticks)
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
	*ret_ticks = monotonic_ns();
	return true;
}
