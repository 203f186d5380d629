/* SPDX-License-Identifier: ISC
 *
 * The cost of events in a program that does other work between them. In a tight loop the recorder's
 * lines stay in the first-level cache; a real program's own data displaces them.
 *
 * Between two calls a walk over memory displaces what the call needs: a walk of 64 KiB empties the
 * first-level data cache of most processors, one of 4 MiB most second-level ones. Only the call is
 * timed, and the mean of the middle half of all turns is printed, less that of an empty call.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "bound.h"
#include "measure.h"

enum {
	LINE = 64,
	TURNS_MAX = 20001,
	WALKED_MAX = 200 << 20, /* lines that a row walks over in all its turns */
};

#define BUFFER_BYTES ((size_t)16 << 20)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const size_t walks[] = {0, 64 << 10, 4 << 20};

static unsigned char *memory;

static _Alignas(LINE) unsigned char packet[64 << 10]; /* of the minimal recorder */

static void do_nothing(uint64_t i)
{
	KEEP(i);
}

static void do_resolve(uint64_t i)
{
	weft_resolve(i);
}

static void do_create(uint64_t i)
{
	KEEP(i + weft_create(WEFT_KIND_TASK));
}

static void do_label(uint64_t i)
{
	weft_label_as(i, "read header");
}

static void do_counter(uint64_t i)
{
	weft_counter_set("queue", i);
}

static void do_five_calls(uint64_t i)
{
	uint64_t operation = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(operation, "read header");
	weft_try_read(operation);
	weft_resolve(operation);
	weft_read_as(i, operation);
}

static void do_operation(uint64_t i)
{
	weft_operation_end(weft_operation_begin("read header"), i);
}

static const struct {
	const char *name;
	void (*call)(uint64_t i);
} calls[] = {
	{"a minimal recorder (bound.c)", bound_commit},
	{"resolve", do_resolve},
	{"create", do_create},
	{"label of another task, literal", do_label},
	{"counter", do_counter},
	{"an operation, five calls", do_five_calls},
	{"an operation, begin and end", do_operation},
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Reads and writes a byte of each line. */
static void walk(size_t bytes)
{
	for (size_t at = 0; at < bytes; at += LINE)
		memory[at]++;
	KEEP(memory);
}

/* The mean of the middle half of the calls, in ticks, the stamps included: a stamp may advance in
 * steps of many ticks. */
static double usual(void (*call)(uint64_t i), size_t bytes)
{
	static uint64_t ticks[TURNS_MAX];
	size_t lines = bytes / LINE + 1, turns = WALKED_MAX / lines;
	turns = turns < TURNS_MAX ? turns : TURNS_MAX;
	for (size_t i = 0; i < turns; i++) {
		walk(bytes);
		uint64_t before = measure_stamp();
		call(i);
		ticks[i] = measure_stamp() - before;
	}
	qsort(ticks, turns, sizeof(*ticks), compare);
	size_t first = turns / 4, last = turns - first;
	double sum = 0;
	for (size_t i = first; i < last; i++)
		sum += (double)ticks[i];
	return sum / (double)(last - first);
}

static double ticks_per_ns(void)
{
	uint64_t ns = measure_clock_ns(), ticks = measure_stamp();
	while (measure_clock_ns() - ns < 100000000)
		;
	return (double)(measure_stamp() - ticks) / (double)(measure_clock_ns() - ns);
}

int main(void)
{
	double rate = ticks_per_ns();
	void *buffer = aligned_alloc(LINE, BUFFER_BYTES);
	memory = calloc(1, walks[COUNT(walks) - 1]);
	if (!buffer || !memory || weft_start(buffer, BUFFER_BYTES, NULL)) {
		fprintf(stderr, "recording does not start\n");
		return 1;
	}
	measure_pin(0);
	bound_enter(packet);
	printf("\n%-34s %10s %10s %10s\n", "ns of a call after other work on", "nothing", "64 KiB",
		"4 MiB");
	for (size_t i = 0; i < COUNT(calls); i++) {
		printf("  %-32s", calls[i].name);
		for (size_t w = 0; w < COUNT(walks); w++) {
			usual(calls[i].call, 0); /* the first event of all takes longer */
			double took = usual(calls[i].call, walks[w]) - usual(do_nothing, walks[w]);
			printf(" %10.1f", took / rate);
		}
		printf("\n");
	}
	weft_stop();
	free(memory);
	free(buffer);
	return 0;
}
