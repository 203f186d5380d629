/* SPDX-License-Identifier: ISC
 *
 * The stamp of an event: the processor's counter, or the caller's.
 */
#ifndef WEFT_RECORD_CLOCK_H
#define WEFT_RECORD_CLOCK_H

#include "record/atomics.h"
#include "record/recorder.h"

#if defined(__x86_64__) || defined(__i386__)
#define WEFT__CPU_CLOCK WEFT_ABI_CLOCK_TSC
static inline uint64_t weft__cpu_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define WEFT__CPU_CLOCK WEFT_ABI_CLOCK_CNTVCT
static inline uint64_t weft__cpu_ticks(void)
{
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#else
/* No counter that all threads share: a platform must bring its clock. */
#define WEFT__CPU_CLOCK WEFT_ABI_CLOCK_CALLER
static inline uint64_t weft__cpu_ticks(void)
{
	return 0;
}
#endif

static inline uint64_t weft__ticks(void)
{
	if (WEFT__LIKELY(!weft__recorder.ticks))
		return weft__cpu_ticks();
	return weft__recorder.ticks(weft__recorder.context);
}

#endif
