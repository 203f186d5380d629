/* SPDX-License-Identifier: ISC
 *
 * The event loop of the recipes: after() asks for a call in some milliseconds, run_loop() makes
 * these calls until none is left. A loop of a real program would also wait for sockets.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <weft/weft.h>

struct loop_timer {
	double due;
	void (*call)(void *);
	void *argument; /* NULL: the timer is unused */
};

static struct loop_timer loop_timers[32];

static inline double loop_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Pretends to work: keeps the processor busy for some milliseconds. */
static inline void work(double ms)
{
	double end = loop_now() + ms;
	while (loop_now() < end)
		;
}

static inline void pause_for(double ms)
{
	struct timespec time = {.tv_nsec = (long)(ms * 1e6)};
	if (ms > 0)
		nanosleep(&time, NULL);
}

/* Calls `call(argument)` in some milliseconds. The loop has room for 32 timers, more than a recipe
 * needs. */
static inline void after(double ms, void (*call)(void *), void *argument)
{
	struct loop_timer *timer = loop_timers;
	while (timer->argument)
		timer++;
	*timer = (struct loop_timer){loop_now() + ms, call, argument};
}

/* Forgets the calls with this argument. */
static inline void stop(void *argument)
{
	for (struct loop_timer *timer = loop_timers; timer < loop_timers + 32; timer++)
		if (timer->argument == argument)
			timer->argument = NULL;
}

static inline struct loop_timer *loop_next(void)
{
	struct loop_timer *next = NULL;
	for (struct loop_timer *timer = loop_timers; timer < loop_timers + 32; timer++)
		if (timer->argument && (!next || timer->due < next->due))
			next = timer;
	return next;
}

/* The loop's own recording is recipe idle-loop. */
static inline void run_loop(void)
{
	for (struct loop_timer *next; (next = loop_next());) {
		weft_band_begin(WEFT_BAND_IDLE, "timers");
		pause_for(next->due - loop_now());
		weft_band_end(WEFT_BAND_IDLE, "timers");
		struct loop_timer timer = *next;
		next->argument = NULL;
		timer.call(timer.argument);
	}
}

#endif
