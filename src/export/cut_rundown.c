/* SPDX-License-Identifier: ISC
 *
 * In an order that depends on nothing but what is told: tasks by id, counters by their first
 * change, threads by number. So a part of a part is the part that would have been cut at once.
 */
#include "export/cut_rundown.h"

#include <stdlib.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/sort.h"

struct writer {
	struct weft__alive *alive;
	const struct weft__rundown_sink *sink;
	struct weft_event event; /* what all of them have in common */
};

static struct weft_slice string_of(const struct weft__alive *a, uint32_t string)
{
	if (string == WEFT__ALIVE_NONE)
		return (struct weft_slice){"", 0};
	return (struct weft_slice){
		weft__strings_bytes(&a->strings, string), weft__strings_size(&a->strings, string)};
}

static bool is_alive(const struct weft__alive *a, uint32_t task)
{
	return task < a->task_count && !(a->tasks[task].flags & WEFT__ALIVE_ENDED);
}

static int add(const struct writer *w, const struct weft_event *event)
{
	return w->sink->add(w->sink->context, event);
}

/* It has ended, but the range names it, or what it became by its name: so that nobody takes it for
 * one that lives. */
static int write_ended(const struct writer *w, uint32_t index)
{
	const struct weft__alive_task *task = &w->alive->tasks[index];
	struct weft_event event = w->event;
	if (!(task->flags & WEFT__ALIVE_NAMED))
		return 0;
	if (task->becomes != WEFT__ALIVE_NONE) {
		event.type = WEFT_EVENT_BECOME;
		event.task = task->id;
		event.other = w->alive->tasks[weft__alive_forward(w->alive, index)].id;
	} else {
		bool has_failed = task->message != WEFT__ALIVE_NONE;
		event.type = has_failed ? WEFT_EVENT_FAIL : WEFT_EVENT_RESOLVE;
		event.text = string_of(w->alive, task->message);
		event.other = task->id;
	}
	return add(w, &event);
}

static int write_task(const struct writer *w, uint32_t index)
{
	const struct weft__alive_task *task = &w->alive->tasks[index];
	struct weft_event event = w->event;
	uint32_t source = weft__alive_forward(w->alive, task->waits);
	if (!is_alive(w->alive, index))
		return write_ended(w, index);
	event.type = WEFT_EVENT_ALIVE;
	event.task = task->id;
	event.kind = task->kind;
	event.text = string_of(w->alive, task->label);
	event.has_value = task->flags & WEFT__ALIVE_DATED;
	event.value = event.has_value ? (int64_t)(event.time_ns - task->born_ns) : 0;
	event.other = is_alive(w->alive, source) ? w->alive->tasks[source].id : WEFT_TASK_NONE;
	int error = add(w, &event);
	if (!error && task->flags & WEFT__ALIVE_EXPECTED) {
		struct weft_event expect = w->event;
		expect.type = WEFT_EVENT_EXPECT;
		expect.task = task->id;
		error = add(w, &expect);
	}
	return error;
}

static int write_tasks(const struct writer *w)
{
	const struct weft__alive *a = w->alive;
	uint64_t *ids = NULL;
	uint32_t *order = NULL;
	int error = weft__array_resize(&ids, a->task_count + (size_t)1, sizeof(*ids));
	if (!error)
		error = weft__array_resize(&order, 2 * (a->task_count + (size_t)1), sizeof(*order));
	if (!error) {
		for (uint32_t i = 0; i < a->task_count; i++)
			ids[i] = a->tasks[i].id;
		weft__order_by_u64(ids, order, order + a->task_count, a->task_count);
	}
	for (uint32_t i = 0; !error && i < a->task_count; i++)
		error = write_task(w, order[i]);
	free(ids);
	free(order);
	return error;
}

static int write_counters(const struct writer *w)
{
	int error = 0;
	for (uint32_t i = 0; !error && i < w->alive->counter_count; i++) {
		struct weft_event event = w->event;
		event.type = WEFT_EVENT_COUNTER;
		event.task = WEFT_TASK_NONE;
		event.text = string_of(w->alive, w->alive->counters[i].name);
		event.value = w->alive->counters[i].value;
		event.is_set = true;
		error = add(w, &event);
	}
	return error;
}

static int write_band(const struct writer *w, uint32_t thread, enum weft_band band, uint32_t reason)
{
	struct weft_event event = w->event;
	event.type = WEFT_EVENT_BAND;
	event.thread = thread;
	event.band = (uint8_t)band;
	event.flag = true;
	event.text = string_of(w->alive, reason);
	return add(w, &event);
}

static int write_thread(const struct writer *w, uint32_t index)
{
	const struct weft__alive_thread *thread = &w->alive->threads[index];
	struct weft_event event = w->event;
	uint32_t runs = thread->runs < WEFT__ALIVE_IDLE ? weft__alive_forward(w->alive, thread->runs)
													: thread->runs;
	int error = 0;
	event.type = WEFT_EVENT_SWITCH;
	event.thread = index;
	event.task = WEFT_TASK_NONE;
	if (runs == WEFT__ALIVE_IDLE)
		event.text = string_of(w->alive, thread->reason);
	else if (is_alive(w->alive, runs))
		event.task = w->alive->tasks[runs].id;
	if (runs == WEFT__ALIVE_IDLE || is_alive(w->alive, runs))
		error = add(w, &event);
	if (!error && thread->is_gc)
		error = write_band(w, index, WEFT_BAND_GC, thread->gc_reason);
	if (!error && thread->is_idle)
		error = write_band(w, index, WEFT_BAND_IDLE, thread->idle_reason);
	return error;
}

int weft__rundown_write(
	struct weft__alive *alive, uint64_t time_ns, const struct weft__rundown_sink *sink)
{
	const struct writer w = {alive, sink,
		{.time_ns = time_ns,
			.task = WEFT_TASK_NONE,
			.other = WEFT_TASK_NONE,
			.is_rundown = true,
			.text = {"", 0}}};
	int error = write_tasks(&w);
	if (!error)
		error = write_counters(&w);
	for (uint32_t i = 0; !error && i < alive->thread_count; i++)
		error = write_thread(&w, i);
	return error;
}
