/* SPDX-License-Identifier: ISC
 *
 * One thread that runs functions for another. Work comes in pieces of a millisecond or less, and
 * waking a sleeping thread takes longer than the gaps between them: so both sides spin for a short
 * time before they sleep.
 */
#include <weft/worker.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/export.h"

#define SPINS 20000 /* loads of the state before the thread sleeps: tens of microseconds */

enum state {
	STATE_FREE,
	STATE_GIVEN,
	STATE_END,
};

struct weft_worker {
	struct weft_help help;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	atomic_int state; /* changed only while the mutex is held */
	/* The work; owned by the worker from GIVEN to FREE. */
	void (*work)(void *);
	void *argument;
};

static void set_state(struct weft_worker *worker, enum state state)
{
	pthread_mutex_lock(&worker->mutex);
	atomic_store_explicit(&worker->state, state, memory_order_release);
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->mutex);
}

/* Waits while the worker is free, or while it is not. Acquire: makes the other side's writes
 * visible. */
static enum state wait_while(struct weft_worker *worker, bool is_free)
{
	int state;
	for (unsigned spin = 0; spin < SPINS; spin++) {
		state = atomic_load_explicit(&worker->state, memory_order_acquire);
		if ((state == STATE_FREE) != is_free)
			return (enum state)state;
	}
	pthread_mutex_lock(&worker->mutex);
	for (;;) {
		state = atomic_load_explicit(&worker->state, memory_order_acquire);
		if ((state == STATE_FREE) != is_free)
			break;
		pthread_cond_wait(&worker->changed, &worker->mutex);
	}
	pthread_mutex_unlock(&worker->mutex);
	return (enum state)state;
}

static void *run_worker(void *context)
{
	struct weft_worker *worker = context;
	while (wait_while(worker, true) == STATE_GIVEN) {
		worker->work(worker->argument);
		set_state(worker, STATE_FREE);
	}
	return NULL;
}

static void both(void *context, void (*first)(void *), void *first_argument, void (*second)(void *),
	void *second_argument)
{
	struct weft_worker *worker = context;
	worker->work = second;
	worker->argument = second_argument;
	set_state(worker, STATE_GIVEN);
	first(first_argument);
	wait_while(worker, false);
}

/* Blocks signals in the worker, except those that an instruction raises: they are for the program's
 * own threads. */
static int start(struct weft_worker *worker)
{
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int error = pthread_create(&worker->thread, NULL, run_worker, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static bool has_one_processor(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < 2;
}

WEFT__EXPORT struct weft_worker *weft_worker_create(void)
{
	struct weft_worker *worker = has_one_processor() ? NULL : calloc(1, sizeof(*worker));
	if (!worker)
		return NULL;
	worker->help = (struct weft_help){both, worker};
	atomic_init(&worker->state, STATE_FREE);
	pthread_mutex_init(&worker->mutex, NULL);
	pthread_cond_init(&worker->changed, NULL);
	if (start(worker) == 0)
		return worker;
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->mutex);
	free(worker);
	return NULL;
}

WEFT__EXPORT void weft_worker_destroy(struct weft_worker *worker)
{
	if (!worker)
		return;
	set_state(worker, STATE_END);
	pthread_join(worker->thread, NULL);
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->mutex);
	free(worker);
}

WEFT__EXPORT const struct weft_help *weft_worker_help(const struct weft_worker *worker)
{
	return worker ? &worker->help : NULL;
}
