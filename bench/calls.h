/* SPDX-License-Identifier: ISC
 *
 * The time of one call, in programs that know nothing of weft. The fastest of many short rounds
 * counts, since other programs disturb some of them.
 */
#ifndef WEFT_BENCH_CALLS_H
#define WEFT_BENCH_CALLS_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum {
	CALLS = 1000,
	ROUNDS = 1000
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Prints the ns of one `call`. */
#define MEASURE(name, call)                                     \
	do {                                                        \
		uint64_t best = UINT64_MAX;                             \
		for (int round = 0; round < ROUNDS; round++) {          \
			uint64_t begin = now_ns();                          \
			for (int i = 0; i < CALLS; i++) {                   \
				call;                                           \
			}                                                   \
			uint64_t ns = now_ns() - begin;                     \
			best = ns < best ? ns : best;                       \
		}                                                       \
		printf("%-26s %6.1f ns\n", name, (double)best / CALLS); \
	} while (0)

#endif
