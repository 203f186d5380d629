/* SPDX-License-Identifier: ISC
 *
 * The stamp of an event: the processor's counter, or the caller's.
 */
#ifndef WEFT_RECORD_CLOCK_H
#define WEFT_RECORD_CLOCK_H

#include "record/atomics.h"
#include "record/recorder.h"

/* Two halves: an event's stamp is the lower one, so the fast path needs no arithmetic. */
struct weft__stamp {
	uint32_t low, high;
};

#if defined(__x86_64__) || defined(__i386__)
#define WEFT__CPU_CLOCK WEFT_ABI_CLOCK_TSC
static inline struct weft__stamp weft__record_cpu_stamp(void)
{
	struct weft__stamp stamp;
	/* Assembly, because the builtin combines the halves. */
	__asm__ volatile("rdtsc" : "=a"(stamp.low), "=d"(stamp.high));
	return stamp;
}
#elif defined(__aarch64__)
#define WEFT__CPU_CLOCK WEFT_ABI_CLOCK_CNTVCT
static inline struct weft__stamp weft__record_cpu_stamp(void)
{
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return (struct weft__stamp){(uint32_t)ticks, (uint32_t)(ticks >> 32)};
}
#else
/* This processor has no counter that all threads share: the platform must provide a clock. */
#define WEFT__CPU_CLOCK WEFT_ABI_CLOCK_CALLER
static inline struct weft__stamp weft__record_cpu_stamp(void)
{
	return (struct weft__stamp){0, 0};
}
#endif

static inline bool weft__record_has_own_clock(const struct weft_platform *platform)
{
	return platform->ticks || platform->ticks_at;
}

static inline uint64_t weft__record_ticks(const struct weft_platform *platform)
{
	if (platform->ticks_at)
		return weft__load(platform->ticks_at);
	if (platform->ticks)
		return platform->ticks(platform->context);
	struct weft__stamp stamp = weft__record_cpu_stamp();
	return (uint64_t)stamp.high << 32 | stamp.low;
}

#endif
