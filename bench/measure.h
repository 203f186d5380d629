/* SPDX-License-Identifier: ISC
 *
 * The lines of the table of what recording costs: how they are measured and printed.
 *
 * A subject does its thing MEASURE_EVENTS times. It takes turns with the floor that it stands
 * beside, in the same threads, so that both meet the same moods of the machine; the least time of
 * each counts, because whatever else the machine does only adds. Two threads begin each run
 * together, and the slower one counts.
 */
#ifndef WEFT_BENCH_MEASURE_H
#define WEFT_BENCH_MEASURE_H

#include <stdint.h>

enum {
	MEASURE_EVENTS = 4096,     /* a run */
	MEASURE_RING_WORDS = 8192, /* 64 KiB, as a packet */
};

struct subject {
	const char *name;
	void (*run)(uint64_t *ring);
};

/* ns an event; of two threads, of each, 0 if they were not measured. The floor's as it was
 * meanwhile. */
struct measured {
	double one, two, floor_one, floor_two;
};

uint64_t measure_clock_ns(void);

/* The stamp that this processor has. */
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

/* The compiler takes the value to be used, and everything in memory. */
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

/* A subject's function. `body` may use i, the number of the turn, and at, 16 bytes of the ring. */
#define LOOP(name, body)                                        \
	static void name(uint64_t *ring)                            \
	{                                                           \
		for (uint64_t i = 0; i < MEASURE_EVENTS; i++) {         \
			uint64_t *at = ring + (i * 2) % MEASURE_RING_WORDS; \
			KEEP(at);                                           \
			body;                                               \
		}                                                       \
	}

/* What events stand beside: a stamp and a 16-byte store; and what calls without effect do. */
extern const struct subject measure_floor, measure_empty;

/* The calling thread stays on the nth of its processors, if it has so many. */
void measure_pin(unsigned nth);

struct measured measure_subject(const struct subject *subject, const struct subject *floor);
/* The same by one thread only. */
struct measured measure_subject_alone(const struct subject *subject, const struct subject *floor);

void measure_print_heading(void);
void measure_print_section(const char *text);
/* `bytes` an event; 0: it has none. */
void measure_print_line(const char *name, const struct measured *measured, double bytes);
/* The section of the floors themselves. */
void measure_print_floors(void);

#endif
