/* SPDX-License-Identifier: ISC
 *
 * Measures and prints the lines of the table of recording costs.
 *
 * A subject runs MEASURE_EVENTS times. Its runs alternate with those of the floor that it is
 * compared with, in the same threads, so that both see the same state of the machine. The minimum
 * of each is used, because other activity can only add time. Two threads start each run together,
 * and the slower one counts.
 */
#ifndef WEFT_BENCH_MEASURE_H
#define WEFT_BENCH_MEASURE_H

#include <stdint.h>

enum {
	MEASURE_EVENTS = 4096,     /* events per run */
	MEASURE_RING_WORDS = 8192, /* 64 KiB, like a packet */
};

struct subject {
	const char *name;
	void (*run)(uint64_t *ring);
};

/* ns per event: of one thread; of each of two threads, 0 if they were not measured; and the
 * floor's, measured at the same time. */
struct measured {
	double one, two, floor_one, floor_two;
};

uint64_t measure_clock_ns(void);

/* This processor's time stamp. */
static inline uint64_t measure_stamp(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return measure_clock_ns();
#endif
}

/* Makes the compiler assume that the value and all memory are used. */
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

/* A subject's function. `body` may use i, the number of the turn, and `at`, 16 bytes of the ring.
 */
#define LOOP(name, body)                                        \
	static void name(uint64_t *ring)                            \
	{                                                           \
		for (uint64_t i = 0; i < MEASURE_EVENTS; i++) {         \
			uint64_t *at = ring + (i * 2) % MEASURE_RING_WORDS; \
			KEEP(at);                                           \
			body;                                               \
		}                                                       \
	}

/* The floor for events: a stamp and a 16-byte store; and for calls that do not record: an empty
 * loop. */
extern const struct subject measure_floor, measure_empty;

/* Pins the calling thread to the nth of its processors, if there is one. */
void measure_pin(unsigned nth);

struct measured measure_subject(const struct subject *subject, const struct subject *floor);
/* The same with one thread only. */
struct measured measure_subject_alone(const struct subject *subject, const struct subject *floor);

void measure_print_heading(void);
void measure_print_section(const char *text);
/* `bytes` per event; 0: nothing is recorded. */
void measure_print_line(const char *name, const struct measured *measured, double bytes);
/* Prints a line about two threads that run the same at once: the mean of a long time, since the
 * least of short runs would be a run in which the other thread was not there. `run` uses no memory
 * of its own. */
void measure_print_mean_of_two(const char *name, void (*run)(uint64_t *ring));
/* Prints the section of the floors themselves. */
void measure_print_floors(void);

#endif
