/* SPDX-License-Identifier: ISC
 *
 * Decides whether a task that waits and runs again has been woken: see docs/model.md, "Waiting". A
 * short run in which the task does nothing, right before or after an idle band that interrupts it,
 * is no wake-up. So while a run is short and without effect, the decision is open: the task still
 * has WEFT__TASK_WAITS, and if it turns out to have been woken, then from the start of that run on.
 *
 * A decision is open while the thread's `resumed` is the task and the task's `ran_on` is the
 * thread.
 */
#include "model/state.h"

/* The thread on which it is open whether the task was woken; NULL: it is not open. */
static struct weft__state_thread *open_on(const struct weft__state *s, uint32_t task)
{
	uint32_t thread = s->tasks.ran_on[task];
	return thread != WEFT_NONE && s->threads[thread].resumed == task ? &s->threads[thread] : NULL;
}

/* The task of which it is open on this thread whether it was woken, or WEFT_NONE. */
static uint32_t open_task(const struct weft__state *s, uint32_t thread)
{
	uint32_t task = s->threads[thread].resumed;
	return task != WEFT_NONE && s->tasks.ran_on[task] == thread ? task : WEFT_NONE;
}

static bool is_long(const struct weft__state_thread *thread, uint64_t now)
{
	return now > thread->resumed_at && now - thread->resumed_at > WEFT__GOES_ON_NS;
}

void weft__model_state_wake(struct weft__state *s, uint32_t task)
{
	if (task == WEFT_NONE || !(s->tasks.flags[task] & WEFT__TASK_WAITS))
		return;
	struct weft__state_thread *thread = open_on(s, task);
	if (s->listener->wake)
		s->listener->wake(s->context, task, thread ? thread->resumed_at : s->now);
	if (thread)
		thread->resumed = WEFT_NONE;
	s->tasks.flags[task] &= (uint8_t)~WEFT__TASK_WAITS;
}

void weft__model_state_act(struct weft__state *s, uint32_t task)
{
	const struct weft__state_thread *thread = open_on(s, task);
	if (thread && thread->running == task)
		weft__model_state_wake(s, task);
}

void weft__model_state_resume(
	struct weft__state *s, uint32_t thread, uint32_t task, bool is_interrupted)
{
	if (task >= WEFT__RUNS_UNKNOWN)
		return;
	bool ran_here = s->tasks.ran_on[task] == thread;
	/* It runs for the first time, or goes on elsewhere and was not interrupted. */
	if (s->tasks.ran_on[task] == WEFT_NONE || open_on(s, task))
		weft__model_state_wake(s, task);
	s->tasks.ran_on[task] = thread;
	if (!(s->tasks.flags[task] & WEFT__TASK_WAITS))
		return;
	s->threads[thread].resumed = task;
	s->threads[thread].resumed_at = s->now;
	s->threads[thread].resumed_by_band = is_interrupted && ran_here;
}

void weft__model_state_leave(struct weft__state *s, uint32_t thread, uint32_t next)
{
	struct weft__state_thread *t = &s->threads[thread];
	uint32_t task = open_task(s, thread);
	if (task == WEFT_NONE)
		return;
	bool is_run = t->running == task, is_short = !is_long(t, s->now);
	if (is_run && next == WEFT__RUNS_IDLE && !t->resumed_by_band && is_short)
		return; /* an idle band, from which it may go on */
	if (is_run ? t->resumed_by_band && is_short : next == task)
		t->resumed = WEFT_NONE; /* it still waits */
	else
		weft__model_state_wake(s, task);
}

void weft__model_state_inherit_run(struct weft__state *s, uint32_t task, uint32_t target)
{
	uint32_t thread = s->tasks.ran_on[task];
	if (thread == WEFT_NONE)
		return;
	uint32_t running = s->threads[thread].running;
	if (running < WEFT__RUNS_UNKNOWN && weft__model_state_forward(s, running) == task)
		s->tasks.ran_on[target] = thread;
}

bool weft__model_state_waits(const struct weft__state *s, uint32_t task)
{
	const struct weft__state_thread *thread = open_on(s, task);
	bool waits = s->tasks.flags[task] & WEFT__TASK_WAITS;
	if (!waits || !thread || thread->running != task)
		return waits;
	return thread->resumed_by_band; /* else it was probably woken */
}

void weft__model_state_pass(struct weft__state *s, uint64_t now_ns)
{
	for (uint32_t i = 0; i < s->thread_count; i++) {
		uint32_t task = open_task(s, i);
		if (task != WEFT_NONE && s->threads[i].running == task && is_long(&s->threads[i], now_ns))
			weft__model_state_wake(s, task);
	}
}

void weft__model_state_settle(struct weft__state *s)
{
	weft__model_state_pass(s, s->now);
	for (uint32_t i = 0; i < s->thread_count; i++) {
		uint32_t task = open_task(s, i);
		if (task != WEFT_NONE && !weft__model_state_waits(s, task))
			weft__model_state_wake(s, task);
	}
}
