/* SPDX-License-Identifier: ISC
 *
 * Single calls: the usual one, the one that changes packets, the first of a new thread; each beside
 * the same loop on plain memory, because the machine itself stalls.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/weft.h>

enum {
	WINDOWS = 2000,
	WINDOW = 4096, /* calls: a packet of 64 KiB holds somewhat fewer, so each has a change */
	THREADS = 2000,
};

#define BUFFER_BYTES ((size_t)16 << 20)

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return clock_ns();
#endif
}

static volatile uint64_t plain[8192];

static void store(uint64_t i)
{
	plain[i * 2 % 8192] = ticks();
	plain[i * 2 % 8192 + 1] = i;
}

static void record(uint64_t i)
{
	weft_resolve(i);
}

static double ns_a_tick;

static void calibrate(void)
{
	uint64_t start_ns = clock_ns(), start = ticks();
	while (clock_ns() - start_ns < 50000000)
		;
	ns_a_tick = (double)(clock_ns() - start_ns) / (double)(ticks() - start);
}

static uint64_t usual[WINDOWS * WINDOW], slowest[WINDOWS], firsts[THREADS];

static void time_calls(void (*call)(uint64_t))
{
	memset(usual, 1, sizeof(usual)); /* every page is there */
	memset(slowest, 0, sizeof(slowest));
	for (uint64_t i = 0; i < (uint64_t)WINDOWS * WINDOW; i++) {
		uint64_t start = ticks();
		call(i);
		usual[i] = ticks() - start;
		if (usual[i] > slowest[i / WINDOW])
			slowest[i / WINDOW] = usual[i];
	}
}

static void *time_first(void *argument)
{
	void (*call)(uint64_t) = *(void (**)(uint64_t))argument;
	static unsigned count;
	uint64_t start = ticks();
	call(1);
	firsts[count++ % THREADS] = ticks() - start;
	return NULL;
}

/* One after the other: each finds what its predecessor left. */
static void time_threads(void (*call)(uint64_t))
{
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, time_first, &call))
			exit(1);
		pthread_join(thread, NULL);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void print_line(const char *name, uint64_t *list, size_t count)
{
	qsort(list, count, sizeof(*list), compare);
	printf("%-44s %9.0f %9.0f %9.0f\n", name, (double)list[count / 2] * ns_a_tick,
		(double)list[count * 99 / 100] * ns_a_tick, (double)list[count - 1] * ns_a_tick);
}

int main(void)
{
	void *buffer = aligned_alloc(4096, BUFFER_BYTES);
	if (!buffer)
		return 1;
	memset(buffer, 1, BUFFER_BYTES);
	calibrate();
	if (weft_start(buffer, BUFFER_BYTES, NULL))
		return 1;
	printf("%-44s %9s %9s %9s\n", "ns, a stamp included", "p50", "p99", "max");
	time_calls(store);
	print_line("plain memory: a call", usual, WINDOWS * WINDOW);
	print_line("plain memory: slowest of 4,096", slowest, WINDOWS);
	time_calls(record);
	print_line("resolve: a call", usual, WINDOWS * WINDOW);
	print_line("resolve: slowest of 4,096, a packet change", slowest, WINDOWS);
	time_threads(store);
	print_line("plain memory: first of a thread", firsts, THREADS);
	time_threads(record);
	print_line("resolve: first of a thread", firsts, THREADS);
	weft_stop();
	free(buffer);
	return 0;
}
