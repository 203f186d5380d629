/* SPDX-License-Identifier: ISC
 *
 * Measures and prints the lines of the table: see measure.h.
 */
#include "measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	RUNS = 1200, /* of the subject, and the same number of the floor */
	BLOCK = 6,   /* consecutive runs of one before the other's turn, so that the caches are warm */
	THREADS = 2,
	PATIENCE = 10000, /* spins before yielding the processor */
};

uint64_t measure_clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- The floors ---- */

LOOP(do_empty, KEEP(i))
LOOP(do_store, (at[0] = i, at[1] = i); KEEP(i))
LOOP(do_stamp, KEEP(measure_stamp()))
LOOP(do_stamp_store, (at[0] = measure_stamp(), at[1] = i); KEEP(i))
LOOP(do_clock_gettime, KEEP(measure_clock_ns()))

const struct subject measure_floor = {"stamp and 16-byte store", do_stamp_store};
const struct subject measure_empty = {"empty loop", do_empty};

static const struct subject floors[] = {
	{"empty loop", do_empty},
	{"16-byte store", do_store},
	{"stamp (rdtsc)", do_stamp},
	{"stamp and 16-byte store", do_stamp_store},
	{"clock_gettime", do_clock_gettime},
};

/* ---- Measuring ---- */

/* Threads that start each run together. */
struct race {
	const struct subject *subjects[2];
	unsigned threads;
	atomic_uint arrived;
	uint64_t took[THREADS][2 * RUNS]; /* ns */
};

struct runner {
	struct race *race;
	unsigned index;
	pthread_t thread;
};

/* The program's processors, before any thread is pinned. */
static cpu_set_t processors;

__attribute__((constructor)) static void find_processors(void)
{
	CPU_ZERO(&processors);
	sched_getaffinity(0, sizeof(processors), &processors);
}

void measure_pin(unsigned nth)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	for (unsigned i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &processors) && nth-- == 0)
			CPU_SET(i, &one);
	if (CPU_COUNT(&one))
		sched_setaffinity(0, sizeof(one), &one); /* best effort */
}

static unsigned subject_of(unsigned run)
{
	return run / BLOCK % 2;
}

static void wait_for_all(struct race *race, unsigned run)
{
	unsigned turns = 0;
	atomic_fetch_add(&race->arrived, 1);
	while (atomic_load(&race->arrived) < race->threads * (run + 1))
		if (++turns > PATIENCE)
			sched_yield();
}

static void *run_all(void *argument)
{
	static _Alignas(64) uint64_t rings[THREADS][MEASURE_RING_WORDS];
	const struct runner *runner = argument;
	struct race *race = runner->race;
	measure_pin(runner->index);
	for (unsigned run = 0; run < 2 * RUNS; run++) {
		wait_for_all(race, run);
		uint64_t start = measure_clock_ns();
		race->subjects[subject_of(run)]->run(rings[runner->index]);
		race->took[runner->index][run] = measure_clock_ns() - start;
	}
	return NULL;
}

/* ns per event: the slower thread of each run, the minimum over all runs. */
static double least(const struct race *race, unsigned subject)
{
	uint64_t least = UINT64_MAX;
	for (unsigned run = 0; run < 2 * RUNS; run++) {
		uint64_t slower = 0;
		for (unsigned i = 0; i < race->threads; i++)
			slower = race->took[i][run] > slower ? race->took[i][run] : slower;
		if (subject_of(run) == subject && slower < least)
			least = slower;
	}
	return (double)least / MEASURE_EVENTS;
}

/* Returns the subject's time, and the floor's. */
static double hold_race(
	const struct subject *subject, const struct subject *floor, unsigned threads, double *ret_floor)
{
	static struct race race;
	struct runner runners[THREADS];
	race = (struct race){.subjects = {floor, subject}, .threads = threads};
	for (unsigned i = 0; i < threads; i++) {
		runners[i] = (struct runner){.race = &race, .index = i};
		if (pthread_create(&runners[i].thread, NULL, run_all, &runners[i]))
			exit(1);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(runners[i].thread, NULL);
	*ret_floor = least(&race, 0);
	return least(&race, 1);
}

struct measured measure_subject_alone(const struct subject *subject, const struct subject *floor)
{
	struct measured measured = {0};
	measured.one = hold_race(subject, floor, 1, &measured.floor_one);
	return measured;
}

struct measured measure_subject(const struct subject *subject, const struct subject *floor)
{
	struct measured measured = measure_subject_alone(subject, floor);
	/* On a single processor the threads would run one after the other. */
	if (CPU_COUNT(&processors) >= THREADS)
		measured.two = hold_race(subject, floor, THREADS, &measured.floor_two);
	return measured;
}

/* ---- The table ---- */

void measure_print_heading(void)
{
	printf("%-36s %17s   %17s %9s\n", "", "1 thread", "2 threads", "bytes");
	printf("%-36s %8s %8s   %8s %8s %9s\n", "", "ns", "x floor", "M/s", "of floor", "an event");
}

void measure_print_section(const char *text)
{
	printf("%s\n", text);
	fflush(stdout);
}

void measure_print_line(const char *name, const struct measured *measured, double bytes)
{
	printf("  %-34s %8.2f %8.2f", name, measured->one, measured->one / measured->floor_one);
	if (measured->two > 0)
		printf(
			"   %8.1f %8.2f", THREADS * 1e3 / measured->two, measured->floor_two / measured->two);
	if (bytes > 0)
		printf(" %9.0f", bytes);
	putchar('\n');
	fflush(stdout);
}

#define MEAN_ROUNDS 2500

struct long_run {
	void (*run)(uint64_t *ring);
	unsigned number;
};

static void *run_for_long(void *context)
{
	static uint64_t ring[MEASURE_RING_WORDS];
	const struct long_run *it = context;
	measure_pin(it->number);
	for (int i = 0; i < MEAN_ROUNDS; i++)
		it->run(ring);
	return NULL;
}

void measure_print_mean_of_two(const char *name, void (*run)(uint64_t *ring))
{
	pthread_t threads[2];
	struct long_run runs[2] = {{run, 0}, {run, 1}};
	uint64_t before = measure_clock_ns();
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run_for_long, &runs[i]))
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("  %s, two threads at once: %.1f ns, mean of %d million each\n", name,
		(double)(measure_clock_ns() - before) / ((double)MEAN_ROUNDS * MEASURE_EVENTS),
		MEAN_ROUNDS * MEASURE_EVENTS / 1000000);
}

void measure_print_floors(void)
{
	measure_print_section("floor: a stamp and a 16-byte store");
	for (unsigned i = 0; i < sizeof(floors) / sizeof(floors[0]); i++) {
		struct measured measured = measure_subject(&floors[i], &measure_floor);
		measure_print_line(floors[i].name, &measured, 0);
	}
}
