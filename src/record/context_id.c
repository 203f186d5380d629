/* SPDX-License-Identifier: ISC
 *
 * The ids of traces and spans: a count, from a random number on, through a fixed bijection. A
 * process never makes an id twice, without a lock or a system call. Two processes would only if
 * their random numbers were nearer to each other than the number of ids that they make; that is why
 * the bijection is fixed. Its output looks random in every bit, so that samplers may take any of
 * them.
 *
 * The bijection is the finalizer of MurmurHash3 with the constants of "Mix13": David Stafford,
 * https://zimbry.blogspot.com/2011/09/better-bit-mixing-improving-on.html
 */
#include "record/atomics.h"
#include "record/clock.h"
#include "record/context_hot.h"
#include "record/recorder.h"

/* Where a system has no random numbers, those of its hosts differ by the time. */
static uint64_t clock_number(void)
{
	const struct weft_platform *platform = weft__record_platform();
	const struct weft_abi_clock_reading now =
		platform ? weft__record_read_clocks(platform) : (struct weft_abi_clock_reading){0};
	return weft__context_mix(now.unix_ns) ^ weft__context_mix(now.ticks + 1);
}

/* Threads that come here at the same time go on with the number that one of them stored. */
static uint64_t seed(struct weft__contexts *c, uint64_t *word)
{
	const uint64_t number = weft__load(word);
	if (WEFT__LIKELY(number))
		return number;
	const uint64_t random = weft__platform_random();
	const bool is_stored = weft__compare_exchange(word, 0, random ? random : clock_number() | 1);
	if (is_stored && random && word == &c->trace_low_seed)
		weft__store(&c->is_random, 1);
	return weft__load(word);
}

/* 0 has one preimage. */
static uint64_t next(uint64_t *count, uint64_t first)
{
	uint64_t id = weft__context_mix(first + weft__fetch_add(count, 1));
	return WEFT__LIKELY(id) ? id : weft__context_mix(first + weft__fetch_add(count, 1));
}

uint64_t weft__record_context_span(void)
{
	struct weft__contexts *c = weft__platform_contexts();
	return next(&c->spans, seed(c, &c->span_seed));
}

#ifndef WEFT_FREESTANDING
#define OWN_COUNTS 4096

_Thread_local struct weft__context_counts weft__context_counts;

bool weft__record_context_refill(struct weft__context_counts *counts, uint64_t seed)
{
	if (!seed)
		return false;
	counts->left = 0; /* until the rest is stored: a signal handler may jump away */
	weft__signal_fence();
	counts->next = weft__fetch_add(&weft__platform_contexts()->spans, OWN_COUNTS);
	counts->seed = seed;
	weft__signal_fence();
	counts->left = OWN_COUNTS;
	return true;
}
#endif

void weft__record_context_trace(struct weft_context *ret_context)
{
	struct weft__contexts *c = weft__platform_contexts();
	const uint64_t high = seed(c, &c->trace_high_seed), low = seed(c, &c->trace_low_seed);
	ret_context->trace_low = next(&c->traces, low);
	ret_context->trace_high = weft__context_mix(high + ret_context->trace_low);
	ret_context->flags = WEFT_CONTEXT_SAMPLED;
	if (weft__load(&c->is_random))
		ret_context->flags |= WEFT_CONTEXT_RANDOM;
}

WEFT__EXPORT void weft_context_seed(const uint64_t given[3])
{
	struct weft__contexts *c = weft__platform_contexts();
	weft__store(&c->span_seed, given[0]);
	weft__store(&c->trace_high_seed, given[1]);
	weft__store(&c->trace_low_seed, given[2]);
	weft__store(&c->is_random, 1);
}
