/* SPDX-License-Identifier: ISC
 *
 * What recording an event costs, beside what nothing could do without: a stamp and a store.
 *
 * Each line is a loop of calls into the shared library, run many times for a short while; the least
 * time counts, because whatever else the machine does only adds. With two threads both run the loop
 * at once, and the slower one counts.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/decoder.h>
#include <weft/weft.h>

enum {
	EVENTS = 4096, /* a run */
	RUNS = 600,
	THREADS = 2,
	SAMPLE = 100, /* events whose size is measured */
};

#define BUFFER_BYTES ((size_t)16 << 20)
#define RING_WORDS   8192 /* 64 KiB, as a packet */

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The stamp that this processor has. */
static inline uint64_t stamp(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return clock_ns();
#endif
}

/* The compiler takes the value to be used, and everything in memory. */
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

/* ---- What is measured: each function does its thing EVENTS times ---- */

#define LOOP(name, body)                                \
	static void name(uint64_t *ring)                    \
	{                                                   \
		(void)ring;                                     \
		for (uint64_t i = 0; i < EVENTS; i++) {         \
			uint64_t *at = ring + (i * 2) % RING_WORDS; \
			KEEP(at);                                   \
			body;                                       \
		}                                               \
	}

LOOP(floor_empty, KEEP(i))
LOOP(floor_store, (at[0] = i, at[1] = i); KEEP(i))
LOOP(floor_stamp, KEEP(stamp()))
LOOP(floor_stamp_store, (at[0] = stamp(), at[1] = i); KEEP(i))
LOOP(floor_clock_gettime, KEEP(clock_ns()))

LOOP(do_resolve, weft_resolve(i))
LOOP(do_create, KEEP(weft_create(WEFT_KIND_TASK)))
LOOP(do_switch, weft_switch(i))
LOOP(do_read, weft_read(i))
LOOP(do_try_read, weft_try_read(i))
LOOP(do_signal, weft_signal(i))
LOOP(do_become, weft_become(i))
LOOP(do_expect, weft_expect())
LOOP(do_resolve_as, weft_resolve_as(7, i))
LOOP(do_label, weft_label("a literal"))
LOOP(do_tag, weft_tag("a tag"))
LOOP(do_tag_value, weft_tag_value("a tag", (int64_t)i))
LOOP(do_counter, weft_counter_add("a counter", 1))
LOOP(do_band, weft_band_begin(WEFT_BAND_IDLE, "poll"))
LOOP(do_mark, weft_mark("request", "bytes", i, "status", 200))
LOOP(do_notef, weft_notef("%d of %d", (int)i, EVENTS))
LOOP(do_note_text, weft_note((const char *)"some text of 28 bytes length" + (i & 1)))
LOOP(do_fail, weft_fail(i, "no such file"))

struct subject {
	const char *name;
	void (*run)(uint64_t *ring);
};

static const struct subject floors[] = {
	{"empty loop", floor_empty},
	{"16-byte store", floor_store},
	{"stamp (rdtsc)", floor_stamp},
	{"stamp and 16-byte store", floor_stamp_store},
	{"clock_gettime", floor_clock_gettime},
};

static const struct subject subjects[] = {
	{"resolve", do_resolve},
	{"create", do_create},
	{"switch", do_switch},
	{"read", do_read},
	{"try_read", do_try_read},
	{"signal", do_signal},
	{"become", do_become},
	{"expect", do_expect},
	{"resolve, explicit task", do_resolve_as},
	{"label, literal", do_label},
	{"tag", do_tag},
	{"tag with a value", do_tag_value},
	{"counter", do_counter},
	{"band", do_band},
	{"mark, two integers", do_mark},
	{"notef, two integers", do_notef},
	{"note, text of 28 bytes", do_note_text},
	{"fail, text of 12 bytes", do_fail},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- How ---- */

/* Threads that begin each run together. */
struct race {
	const struct subject *subject;
	unsigned threads;
	atomic_uint arrived;
	double least[THREADS][RUNS]; /* ns an event */
};

struct runner {
	struct race *race;
	unsigned index;
	pthread_t thread;
};

static void pin(unsigned processor)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set); /* where it can't, it can't */
}

static void *run_all(void *argument)
{
	static _Alignas(64) uint64_t rings[THREADS][RING_WORDS];
	const struct runner *runner = argument;
	struct race *race = runner->race;
	pin(runner->index);
	for (unsigned run = 0; run < RUNS; run++) {
		atomic_fetch_add(&race->arrived, 1);
		while (atomic_load(&race->arrived) < race->threads * (run + 1))
			if (race->threads > 1 && run == 0)
				sched_yield();
		uint64_t start = clock_ns();
		race->subject->run(rings[runner->index]);
		race->least[runner->index][run] = (double)(clock_ns() - start) / EVENTS;
	}
	return NULL;
}

/* ns an event: of each run the slower thread's, of all runs the least. */
static double measure(const struct subject *subject, unsigned threads)
{
	static struct race race;
	struct runner runners[THREADS];
	race = (struct race){.subject = subject, .threads = threads};
	for (unsigned i = 0; i < threads; i++) {
		runners[i] = (struct runner){.race = &race, .index = i};
		if (pthread_create(&runners[i].thread, NULL, run_all, &runners[i]))
			exit(1);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(runners[i].thread, NULL);
	double least = 1e9;
	for (unsigned run = 0; run < RUNS; run++) {
		double slower = 0;
		for (unsigned i = 0; i < threads; i++)
			if (race.least[i][run] > slower)
				slower = race.least[i][run];
		if (slower < least)
			least = slower;
	}
	return least;
}

static void *buffer;

/* Bytes an event, from where the reader finds one after the other. */
static double measure_bytes(const struct subject *subject)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	uint64_t first = 0, last = 0;
	unsigned count = 0;
	weft_stop();
	if (weft_start(buffer, BUFFER_BYTES, NULL))
		exit(1);
	subject->run(NULL);
	weft_stop();
	if (weft_decoder_create(&decoder) ||
		weft_decoder_feed_borrowed(decoder, buffer, BUFFER_BYTES) || weft_decoder_finish(decoder))
		exit(1);
	while (count < SAMPLE && weft_decoder_next(decoder, &event) == WEFT_OK) {
		first = count++ ? first : event.offset;
		last = event.offset;
	}
	weft_decoder_destroy(decoder);
	if (weft_start(buffer, BUFFER_BYTES, NULL))
		exit(1);
	return count > 1 ? (double)(last - first) / (count - 1) : 0;
}

static void print_line(const char *name, double one, double two, double floor, double bytes)
{
	printf("%-28s %8.2f %8.2f %9.1f", name, one, two, THREADS * 1e3 / two);
	if (floor > 0)
		printf(" %8.2f", one / floor);
	if (bytes > 0)
		printf(" %7.0f", bytes);
	putchar('\n');
	fflush(stdout);
}

static uint64_t counter;

static uint64_t count_ticks(void *context)
{
	(void)context;
	return ++counter;
}

int main(void)
{
	double floor = 0;
	buffer = aligned_alloc(4096, BUFFER_BYTES);
	if (!buffer)
		return 1;
	memset(buffer, 1, BUFFER_BYTES); /* every page is there */
	printf("%-28s %8s %8s %9s %8s %7s\n", "", "ns", "ns", "M/s", "ns /", "bytes");
	printf("%-28s %8s %8s %9s %8s %7s\n", "", "1 thread", "2 thr.", "2 threads", "floor", "/event");
	for (size_t i = 0; i < COUNT(floors); i++) {
		double one = measure(&floors[i], 1), two = measure(&floors[i], THREADS);
		print_line(floors[i].name, one, two, 0, 0);
		if (floors[i].run == floor_stamp_store)
			floor = one;
	}
	const struct subject off = {"off: resolve", do_resolve};
	print_line(off.name, measure(&off, 1), measure(&off, THREADS), 0, 0);
	for (size_t i = 0; i < COUNT(subjects); i++) {
		double bytes = measure_bytes(&subjects[i]);
		double one = measure(&subjects[i], 1), two = measure(&subjects[i], THREADS);
		print_line(subjects[i].name, one, two, floor, bytes);
	}
	weft_set_level("*", WEFT_LEVEL_OFF);
	const struct subject filtered = {"level off: resolve", do_resolve};
	print_line(filtered.name, measure(&filtered, 1), measure(&filtered, THREADS), 0, 0);
	weft_stop();
	const struct weft_platform counting = {.ticks = count_ticks, .ticks_hz = 1000000000};
	const struct subject counted = {"resolve, a counter as clock", do_resolve};
	if (weft_start(buffer, BUFFER_BYTES, &counting))
		return 1;
	double one = measure(&counted, 1);
	printf("%-28s %8.2f\n", counted.name, one);
	weft_stop();
	free(buffer);
	return 0;
}
