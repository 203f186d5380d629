/* SPDX-License-Identifier: ISC
 *
 * pthread_once and call_once: one thread runs the function, and others wait for it, as for a lock
 * that this thread holds. A function for which nobody waits writes nothing.
 *
 * glibc does not keep the number of the thread that runs the function, so a table does.
 */
#include <pthread.h>
#include <threads.h>

#include "thread/held.h"

enum {
	RUNNING_MAX = 64,
	/* States of glibc's control word; the bits above these count forks. */
	IN_PROGRESS = 1,
	DONE = 2,
	STATES = 3
};

/* Functions that run at present. */
static struct running {
	const void *control; /* NULL: free */
	uint32_t thread;     /* 0: not known yet */
} running[RUNNING_MAX];

/* A call of pthread_once, on the stack of the calling thread. */
struct call {
	const void *control;
	void (*function)(void);
	struct weft__thread_waiting waiting;
	struct running *running; /* NULL: this thread does not run the function */
	struct call *outer;
};

static __thread struct call *innermost __attribute__((tls_model("initial-exec")));

/* ---- The table ---- */

static struct running *take_entry(const void *control)
{
	for (int i = 0; i < RUNNING_MAX; i++) {
		const void *none = NULL;
		if (!__atomic_compare_exchange_n(
				&running[i].control, &none, control, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&running[i].thread, weft__hooks_thread.number, __ATOMIC_RELEASE);
		return &running[i];
	}
	return NULL;
}

static void leave_entry(struct running *entry)
{
	__atomic_store_n(&entry->thread, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->control, NULL, __ATOMIC_RELEASE);
}

/* The number of the thread that runs the function. 0: unknown. */
static int thread_that_runs(const void *control)
{
	for (int i = 0; i < RUNNING_MAX; i++)
		if (__atomic_load_n(&running[i].control, __ATOMIC_ACQUIRE) == control)
			return (int)__atomic_load_n(&running[i].thread, __ATOMIC_ACQUIRE);
	return 0;
}

/* ---- A call ---- */

static void begin_call(struct call *it)
{
	int saved = weft__hooks_begin();
	weft__hooks_thread_task(); /* may take long: another thread may take the function meanwhile */
	weft__hooks_end(saved);
	int state = __atomic_load_n((const int *)it->control, __ATOMIC_ACQUIRE);
	const struct weft__thread_origin origin = {
		"once", (const void *)it->function, WEFT_KIND_LOCK, false};
	if ((state & STATES) == IN_PROGRESS)
		weft__thread_lock_wait(
			it->control, thread_that_runs(it->control), &origin, false, &it->waiting);
	it->outer = innermost;
	innermost = it;
}

static void end_wait(struct call *it)
{
	weft__thread_lock_got(&it->waiting, false);
	it->waiting.lock = NULL;
}

static void end_function(struct call *it)
{
	if (!it->running)
		return;
	weft__thread_lock_release_if_busy(it->control);
	leave_entry(it->running);
	it->running = NULL;
}

/* Runs also if the function ends by an exception, or with its thread. */
static void end_call(struct call *it)
{
	end_function(it);
	end_wait(it);
	innermost = it->outer;
}

/* glibc calls this in the thread that it has chosen: one that has waited, too, if the function was
 * left by an exception before, or if the child of a fork calls it anew. */
static void run_function(void)
{
	struct call *it = innermost;
	end_wait(it);
	it->running = take_entry(it->control);
	it->function();
	end_function(it);
}

static bool is_recorded(const int *control)
{
	return HOOKS_RECORD && (__atomic_load_n(control, __ATOMIC_ACQUIRE) & STATES) != DONE;
}

#define CALL __attribute__((cleanup(end_call))) struct call

HOOK(pthread_once)
int pthread_once(pthread_once_t *control, void (*function)(void))
{
	if (!is_recorded(control))
		return NEXT(pthread_once)(control, function);
	CALL call = {.control = control, .function = function};
	begin_call(&call);
	return NEXT(pthread_once)(control, run_function);
}

HOOK(call_once)
void call_once(once_flag *control, void (*function)(void))
{
	if (!is_recorded((const int *)control)) {
		NEXT(call_once)(control, function);
		return;
	}
	CALL call = {.control = control, .function = function};
	begin_call(&call);
	NEXT(call_once)(control, run_function);
}
