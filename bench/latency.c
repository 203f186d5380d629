/* SPDX-License-Identifier: ISC
 *
 * Single calls: common ones, those that change packets, the first of a new thread, those that take
 * an idle thread's packet. Each is compared with the same loop on plain memory, because the machine
 * itself stalls.
 *
 * What a call did is read from the buffer before and after it, not guessed from its time.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "measure.h"

enum {
	CALLS = 8 << 20,
	SWITCHES = 4096, /* at most this many are kept; 64 KiB for each makes about 2,000 */
	THREADS = 2000,
	TAKINGS = 2000,
	IDLE = 42,                                 /* of about 60 packets: two thirds */
	SMALL_CALLS = 512,                         /* calls that fill a packet of 8 KiB */
	TAKING_CALLS = 40 * TAKINGS * SMALL_CALLS, /* limit before giving up */
};

#define BUFFER_BYTES ((size_t)16 << 20)
#define SMALL_BYTES  ((size_t)512 << 10) /* its packets have 8 KiB */

static unsigned char *buffer;
static struct weft_abi_buffer *header;

static void start(size_t bytes)
{
	header = (struct weft_abi_buffer *)(void *)buffer;
	if (weft_start(buffer, bytes, NULL)) {
		fprintf(stderr, "recording does not start\n");
		exit(1);
	}
}

static uint64_t load(const uint64_t *word)
{
	return atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_relaxed);
}

/* ---- The calls ---- */

static void record(uint64_t i)
{
	weft_resolve(i);
}

/* The same on plain memory: writes a header where a packet would begin. */
static void store_plainly(uint64_t i, uint64_t packet_calls)
{
	volatile uint64_t *words = (volatile uint64_t *)(void *)buffer;
	volatile uint64_t *at = words + i * 2 % (BUFFER_BYTES / 8);
	if (i % packet_calls == 0)
		for (size_t word = 0; word < sizeof(struct weft_abi_packet) / 8; word++)
			at[word] = i;
	at[0] = measure_stamp();
	at[1] = i;
}

static void store_64k(uint64_t i)
{
	store_plainly(i, 4096);
}

static void store_8k(uint64_t i)
{
	store_plainly(i, SMALL_CALLS);
}

/* Calls of a type, and how to find out that one of them changes packets. */
struct way {
	const char *name;
	void (*call)(uint64_t i);
	uint64_t packet_calls; /* every N-th call does; 0: compare the buffer's hand */
};

static const struct way plain = {"plain memory", store_64k, 4096};
static const struct way plain_small = {"plain memory", store_8k, SMALL_CALLS};
static const struct way weft = {"weft", record, 0};

static uint64_t packets_claimed(const struct way *way, uint64_t calls)
{
	return way->packet_calls ? (calls + way->packet_calls - 1) / way->packet_calls
							 : load(&header->hand);
}

/* ---- Printing ---- */

static double ns_a_tick;

static void calibrate(void)
{
	uint64_t start_ns = measure_clock_ns(), start = measure_stamp();
	while (measure_clock_ns() - start_ns < 50000000)
		;
	ns_a_tick = (double)(measure_clock_ns() - start_ns) / (double)(measure_stamp() - start);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void print_line(const char *section, const char *name, uint64_t *list, size_t count)
{
	char text[64];
	snprintf(text, sizeof(text), "%s: %s", section, name);
	if (count == 0) {
		printf("%-44s none was seen\n", text);
		return;
	}
	qsort(list, count, sizeof(*list), compare);
	printf("%-44s %8.0f %8.0f %9.0f %9zu\n", text, (double)list[count / 2] * ns_a_tick,
		(double)list[count * 99 / 100] * ns_a_tick, (double)list[count - 1] * ns_a_tick, count);
	fflush(stdout);
}

/* ---- Calls one after the other, by one thread ---- */

static uint64_t all[CALLS], switches[SWITCHES];

/* Returns how many calls changed packets. */
static size_t time_calls(const struct way *way)
{
	size_t count = 0;
	for (uint64_t i = 0; i < CALLS; i++) {
		uint64_t claimed = packets_claimed(way, i);
		uint64_t begun = measure_stamp();
		way->call(i);
		all[i] = measure_stamp() - begun;
		if (packets_claimed(way, i + 1) != claimed && count < SWITCHES)
			switches[count++] = all[i];
	}
	return count;
}

static void measure_calls(void)
{
	const struct way *ways[] = {&plain, &weft};
	size_t count[2];
	static uint64_t kept[2][SWITCHES];
	for (int i = 0; i < 2; i++) {
		memset(all, 1, sizeof(all)); /* every page is there */
		if (ways[i] == &weft)
			start(BUFFER_BYTES);
		count[i] = time_calls(ways[i]);
		memcpy(kept[i], switches, sizeof(switches));
		print_line("an event", ways[i]->name, all, CALLS);
	}
	weft_stop();
	for (int i = 0; i < 2; i++)
		print_line("packet switch", ways[i]->name, kept[i], count[i]);
}

/* ---- The first call of a thread ---- */

static uint64_t firsts[THREADS];
static size_t firsts_count;

static void *time_first(void *argument)
{
	const struct way *way = argument;
	uint64_t threads = load(&header->threads);
	uint64_t begun = measure_stamp();
	way->call(1);
	uint64_t took = measure_stamp() - begun;
	if (way->packet_calls || load(&header->threads) == threads + 1)
		firsts[firsts_count++] = took;
	return NULL;
}

/* Runs threads one after the other: each reuses the slot and packet of the one before. */
static void time_threads(const struct way *way)
{
	firsts_count = 0;
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, time_first, (void *)(uintptr_t)way))
			exit(1);
		pthread_join(thread, NULL);
	}
	print_line("first event of a thread", way->name, firsts, firsts_count);
}

/* ---- Taking an idle thread's packet ---- */

struct idle {
	pthread_t thread;
	sem_t go, done;
	const struct way *way;
	uint32_t tid;
	bool ends;
};

static struct idle idles[IDLE];

static void *be_idle(void *argument)
{
	struct idle *idle = argument;
	idle->tid = (uint32_t)gettid();
	for (;;) {
		sem_post(&idle->done);
		sem_wait(&idle->go);
		if (idle->ends)
			return NULL;
		idle->way->call(1);
	}
}

static void let_one_record(struct idle *idle)
{
	sem_post(&idle->go);
	sem_wait(&idle->done);
}

static void begin_idles(const struct way *way)
{
	for (int i = 0; i < IDLE; i++) {
		struct idle *idle = &idles[i];
		*idle = (struct idle){.way = way};
		if (sem_init(&idle->go, 0, 0) || sem_init(&idle->done, 0, 0) ||
			pthread_create(&idle->thread, NULL, be_idle, idle))
			exit(1);
		sem_wait(&idle->done);
	}
}

static void end_idles(void)
{
	for (int i = 0; i < IDLE; i++) {
		idles[i].ends = true;
		sem_post(&idles[i].go);
		pthread_join(idles[i].thread, NULL);
	}
}

static const struct weft_abi_slot *slot_at(uint32_t index)
{
	return (const void *)(buffer + header->slots_offset + (size_t)index * header->slot_bytes);
}

/* True if another thread closed the slot's packet, and the slot has no new one: see weft_abi_slot.
 */
static bool is_robbed(const struct weft_abi_slot *slot)
{
	uint32_t settled = (uint32_t)load(&slot->taken);
	return settled != 0 && !(settled >> 31);
}

static unsigned count_robbed(void)
{
	unsigned count = 0;
	for (uint32_t i = 0; i < header->slots_used; i++)
		count += is_robbed(slot_at(i));
	return count;
}

static bool has_packet(const struct idle *idle)
{
	for (uint32_t i = 0; i < header->slots_used; i++)
		if ((uint32_t)load(&slot_at(i)->owner) == idle->tid)
			return !is_robbed(slot_at(i));
	return false;
}

/* Lets up to three threads without a packet claim one each, often adjacent ones: the second may
 * then be taken. Their number is random: otherwise the claims fall into a cycle that takes no
 * packet, or two. */
static void let_some_record(const struct way *way)
{
	static uint32_t lot = 1, next;
	lot = lot * 1664525 + 1013904223;
	unsigned wanted = lot >> 30;
	for (int i = 0; i < IDLE && wanted > 0; i++) {
		struct idle *idle = &idles[next++ % IDLE];
		if (way->packet_calls == 0 && has_packet(idle))
			continue;
		let_one_record(idle);
		wanted--;
	}
}

/* The number of packets taken from their threads so far, by any call. */
static uint64_t packets_taken(const struct way *way, uint64_t calls)
{
	return way->packet_calls ? packets_claimed(way, calls) : count_robbed();
}

/* Another thread of the process, which runs and counts. */
static atomic_bool is_to_run;
static _Atomic uint64_t runner_turns;

static void *run(void *argument)
{
	(void)argument;
	measure_pin(1);
	for (uint64_t turns = 0; atomic_load_explicit(&is_to_run, memory_order_relaxed); turns++)
		atomic_store_explicit(&runner_turns, turns, memory_order_relaxed);
	return NULL;
}

static bool has_run_since(uint64_t turns)
{
	return atomic_load_explicit(&runner_turns, memory_order_relaxed) != turns ||
		   !atomic_load_explicit(&is_to_run, memory_order_relaxed);
}

/* Keeps the times of calls that took one packet, while the runner ran if there is one; on plain
 * memory, of calls where a packet would begin. */
static void time_takings(const struct way *way, const char *name)
{
	static uint64_t list[TAKINGS];
	size_t count = 0;
	uint64_t claimed = packets_claimed(way, 0), taken = packets_taken(way, 0);
	begin_idles(way);
	for (uint64_t i = 0; i < TAKING_CALLS && count < TAKINGS; i++) {
		uint64_t turns = atomic_load_explicit(&runner_turns, memory_order_relaxed);
		uint64_t begun = measure_stamp();
		way->call(i);
		uint64_t took = measure_stamp() - begun;
		bool ran = has_run_since(turns);
		if (packets_claimed(way, i + 1) == claimed)
			continue;
		if (packets_taken(way, i + 1) == taken + 1 && ran)
			list[count++] = took;
		let_some_record(way);
		claimed = packets_claimed(way, i + 1);
		taken = packets_taken(way, i + 1);
	}
	end_idles();
	print_line("taking an idle thread's packet", name, list, count);
}

/* With a thread that runs on another processor: the barrier has to interrupt it. */
static void time_takings_beside_runner(void)
{
	pthread_t runner;
	atomic_store(&is_to_run, true);
	if (pthread_create(&runner, NULL, run, NULL))
		exit(1);
	start(SMALL_BYTES);
	time_takings(&weft, "weft, another runs");
	weft_stop();
	atomic_store(&is_to_run, false);
	pthread_join(runner, NULL);
}

int main(void)
{
	buffer = aligned_alloc(4096, BUFFER_BYTES);
	if (!buffer)
		return 1;
	memset(buffer, 1, BUFFER_BYTES); /* every page is there */
	measure_pin(0);
	calibrate();
	printf("%-44s %8s %8s %9s %9s\n", "ns of single calls, a stamp included", "p50", "p99",
		"maximum", "calls");
	measure_calls();
	time_threads(&plain);
	start(BUFFER_BYTES);
	time_threads(&weft);
	weft_stop();
	time_takings(&plain_small, plain_small.name);
	start(SMALL_BYTES);
	time_takings(&weft, weft.name);
	weft_stop();
	time_takings_beside_runner();
	free(buffer);
	return 0;
}
