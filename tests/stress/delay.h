/* SPDX-License-Identifier: ISC
 *
 * Random delays: mostly none; or ns to µs of work, a yield, or a short sleep.
 */
#ifndef WEFT_TESTS_STRESS_DELAY_H
#define WEFT_TESTS_STRESS_DELAY_H

#include <stdint.h>

/* The thread's generator; 0: not started. A signal handler in the middle may use a number twice,
 * which is harmless. */
extern _Thread_local uint32_t stress_random __attribute__((tls_model("initial-exec")));

/* Threads that begin from here on are delayed at other steps. */
void stress_seed(uint32_t seed);

/* Waits long enough for other threads to do something. */
void stress_wait(void);

void stress_delay_slowly(void);

/* The thread's first state; not 0, because the generator would stay there. */
uint32_t stress_begin(void);

static inline uint32_t stress_next(void)
{
	uint32_t x = stress_random;
	if (__builtin_expect(x == 0, 0))
		x = stress_begin();
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return stress_random = x;
}

static inline void stress_delay(void)
{
	if (__builtin_expect(stress_next() < UINT32_MAX / 64, 0))
		stress_delay_slowly();
}

#endif
