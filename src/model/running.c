/* SPDX-License-Identifier: ISC
 *
 * One task runs on a thread at a time. The listener is called for a period when it ends, because
 * only then it is known which tasks the running task became meanwhile, and whether it ended before
 * the thread left it.
 */
#include "base/array.h"
#include "model/state.h"

enum {
	THREADS_MAX = 1 << 20,
};

int weft__model_state_reserve_thread(struct weft__state *s, uint32_t thread)
{
	if (thread < s->thread_count)
		return 0;
	if (thread >= THREADS_MAX)
		return WEFT_ERROR_LIMIT;
	int error = weft__array_resize(&s->threads, thread + (size_t)1, sizeof(*s->threads));
	while (!error && s->thread_count <= thread)
		s->threads[s->thread_count++] = (struct weft__state_thread){
			.running = WEFT__RUNS_UNKNOWN,
			.reason = WEFT_NONE,
			.interrupted = WEFT__RUNS_UNKNOWN,
			.interrupted_reason = WEFT_NONE,
			.gc_reason = WEFT_NONE,
			.innermost = WEFT_NONE,
			.resumed = WEFT_NONE,
		};
	return error;
}

static bool runs_already(
	struct weft__state *s, const struct weft__state_thread *thread, uint32_t running)
{
	if (thread->running >= WEFT__RUNS_UNKNOWN)
		return running == thread->running;
	return weft__model_state_forward(s, thread->running) == running;
}

static int report_period(const struct weft__state *s, uint32_t thread)
{
	if (s->threads[thread].running == WEFT__RUNS_UNKNOWN || !s->listener->period)
		return 0;
	return s->listener->period(s->context, thread);
}

/* Ends the present period and begins another. */
static int begin_period(struct weft__state *s, uint32_t thread, uint32_t running, uint32_t reason)
{
	weft__model_state_leave(s, thread, running);
	int error = report_period(s, thread);
	s->threads[thread].running = running;
	s->threads[thread].is_idle_vague = false;
	s->threads[thread].reason = reason;
	s->threads[thread].since = s->now;
	if (!error && s->listener->run)
		error = s->listener->run(s->context, thread);
	return error;
}

static bool was_interrupted(
	struct weft__state *s, const struct weft__state_thread *thread, uint32_t task)
{
	return thread->interrupted < WEFT__RUNS_UNKNOWN &&
		   weft__model_state_forward(s, thread->interrupted) == task;
}

/* A rundown's switch says that the task ran already, and its alive event perhaps that it waited
 * already: a task does both between its try_read and the next switch. */
int weft__model_state_run(struct weft__state *s, const struct weft__fact *fact, uint32_t running)
{
	int error = weft__model_state_reserve_thread(s, fact->thread);
	if (error)
		return error;
	struct weft__state_thread *thread = &s->threads[fact->thread];
	bool is_interrupted = thread->running == WEFT__RUNS_IDLE && was_interrupted(s, thread, running);
	bool is_vague =
		fact->is_rundown && running == WEFT__RUNS_IDLE && thread->running == WEFT__RUNS_UNKNOWN;
	thread->in_idle_band = false;
	if (runs_already(s, thread, running))
		return 0;
	if (running == WEFT__RUNS_IDLE) {
		thread->interrupted = thread->running;
		thread->interrupted_reason = thread->reason;
	}
	error = begin_period(s, fact->thread, running, fact->text);
	s->threads[fact->thread].is_idle_vague = is_vague;
	if (!fact->is_rundown)
		weft__model_state_resume(s, fact->thread, running, is_interrupted);
	else if (running < WEFT__RUNS_UNKNOWN)
		s->tasks.ran_on[running] = fact->thread;
	return error;
}

/* An idle band interrupts the task or the idleness of its thread, which goes on at the end of the
 * band, unless a switch came between. */
static int idle_band(struct weft__state *s, uint32_t index, bool begin, uint32_t reason)
{
	struct weft__state_thread *thread = &s->threads[index];
	if (begin) {
		if (!thread->in_idle_band) {
			thread->interrupted = thread->running;
			thread->interrupted_reason = thread->reason;
		}
		thread->in_idle_band = true;
		return begin_period(s, index, WEFT__RUNS_IDLE, reason);
	}
	if (!thread->in_idle_band)
		return 0;
	thread->in_idle_band = false;
	uint32_t running = thread->interrupted;
	if (running < WEFT__RUNS_UNKNOWN)
		running = weft__model_state_forward(s, running);
	int error = begin_period(s, index, running, thread->interrupted_reason);
	weft__model_state_resume(s, index, running, true);
	return error;
}

static int report_gc(const struct weft__state *s, uint32_t thread, uint64_t start, uint32_t reason)
{
	return s->listener->gc ? s->listener->gc(s->context, thread, start, reason) : 0;
}

static int gc_band(struct weft__state *s, uint32_t index, bool begin, uint32_t reason)
{
	struct weft__state_thread *thread = &s->threads[index];
	if (begin && !thread->in_gc_band) {
		thread->gc_since = s->now;
		thread->gc_reason = reason;
	}
	bool is_over = !begin && thread->in_gc_band;
	thread->in_gc_band = begin;
	return is_over ? report_gc(s, index, thread->gc_since, thread->gc_reason) : 0;
}

int weft__model_state_band(struct weft__state *s, const struct weft__fact *fact)
{
	int error = weft__model_state_reserve_thread(s, fact->thread);
	if (error)
		return error;
	if (fact->is_gc)
		return gc_band(s, fact->thread, fact->flag, fact->text);
	return idle_band(s, fact->thread, fact->flag, fact->text);
}

int weft__model_state_gc(struct weft__state *s, const struct weft__fact *fact)
{
	uint64_t length = fact->value > 0 ? (uint64_t)fact->value : 0;
	uint64_t past = s->now - s->start;
	int error = weft__model_state_reserve_thread(s, fact->thread);
	if (error)
		return error;
	if (length > past)
		length = past; /* it began before the trace */
	return report_gc(s, fact->thread, s->now - length, WEFT_NONE);
}

/* Ignored unless the task has run since the period began: not if another one became it meanwhile.
 */
int weft__model_state_off_cpu(struct weft__state *s, uint32_t task, const struct weft__fact *fact)
{
	int error = weft__model_state_reserve_thread(s, fact->thread);
	if (error)
		return error;
	struct weft__state_thread *thread = &s->threads[fact->thread];
	uint64_t start =
		thread->measured_until > thread->since ? thread->measured_until : thread->since;
	thread->measured_until = s->now;
	if (task == WEFT_NONE || task != thread->running || fact->value <= 0 || !s->listener->off_cpu)
		return 0;
	return s->listener->off_cpu(s->context, task, fact->thread, start, (uint64_t)fact->value);
}

static int close_thread(struct weft__state *s, uint32_t thread, uint64_t end)
{
	uint64_t since = s->threads[thread].since;
	s->now = end > since ? end : since;
	int error = report_period(s, thread);
	if (!error && s->threads[thread].in_gc_band)
		error = gc_band(s, thread, false, WEFT_NONE);
	return error;
}

int weft__model_state_close(struct weft__state *s, const uint64_t *ends, uint32_t end_count)
{
	uint64_t last = s->now, latest = s->now;
	int error = 0;
	for (uint32_t thread = 0; !error && thread < s->thread_count; thread++) {
		error = close_thread(s, thread, thread < end_count && ends[thread] ? ends[thread] : last);
		latest = s->now > latest ? s->now : latest;
	}
	s->now = latest;
	weft__model_state_settle(s);
	return error;
}
