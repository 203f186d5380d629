/* SPDX-License-Identifier: ISC */
#include "delay.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

_Thread_local uint32_t stress_random __attribute__((tls_model("initial-exec")));

static uint32_t seed, threads;

void stress_seed(uint32_t new_seed)
{
	seed = new_seed;
	threads = 0;
	stress_random = 0;
}

uint32_t stress_begin(void)
{
	uint32_t x = seed ^ __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) * 0x9e3779b9u;
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x | 1;
}

static void spin(uint32_t turns)
{
	for (volatile uint32_t i = 0; i < turns; i++) {
	}
}

static void sleep_ns(long ns)
{
	int saved = errno;
	const struct timespec time = {0, ns};
	nanosleep(&time, NULL);
	errno = saved;
}

/* Up to 1 ms: the other thread may be instrumented or have no processor. */
void stress_wait(void)
{
	if (stress_next() % 4 == 0)
		sched_yield();
	else
		sleep_ns(1L << stress_next() % 21);
}

void stress_delay_slowly(void)
{
	uint32_t kind = stress_next() % 256;
	if (kind == 0)
		sleep_ns((long)(stress_next() % 20000));
	else if (kind < 4)
		sched_yield();
	else
		spin(1u << stress_next() % 10);
}
