/* SPDX-License-Identifier: ISC
 *
 * The rules of docs/model.md, for one moment instead of a history: who has ended, who has become
 * whom, who waits. A task that has ended stays known as such, for an id that is named again must
 * not count as one that lives.
 */
#include "export/cut_alive.h"

#include <stdlib.h>

#include <weft/error.h>

#include "base/array.h"

enum {
	THREADS_MAX = 1 << 20,
};

int weft__alive_init(struct weft__alive *a)
{
	*a = (struct weft__alive){0};
	int error = weft__index_init(&a->by_id);
	if (!error)
		error = weft__strings_init(&a->strings);
	if (error)
		weft__alive_finish(a);
	return error;
}

void weft__alive_finish(struct weft__alive *a)
{
	free(a->tasks);
	weft__index_finish(&a->by_id);
	weft__strings_finish(&a->strings);
	free(a->threads);
	free(a->counters);
	free(a->counter_of);
	*a = (struct weft__alive){0};
}

static uint64_t hash_task(const struct weft__hash_key *key, const void *owner, uint32_t task)
{
	const struct weft__alive *a = owner;
	return weft__hash_u64(key, a->tasks[task].id);
}

static uint32_t find(const struct weft__alive *a, uint64_t id)
{
	uint32_t slot = weft__index_start(&a->by_id, weft__hash_u64(&a->by_id.key, id)), task;
	while ((task = a->by_id.slots[slot]) != WEFT__INDEX_EMPTY && a->tasks[task].id != id)
		slot = weft__index_next(&a->by_id, slot);
	return task;
}

/* The task of an id, known or new; WEFT__ALIVE_NONE for no task. */
static int mention(struct weft__alive *a, uint64_t id, uint32_t *ret_task)
{
	const struct weft__column column = {&a->tasks, sizeof(*a->tasks)};
	*ret_task = WEFT__ALIVE_NONE;
	if (id == WEFT_TASK_NONE || (*ret_task = find(a, id)) != WEFT__ALIVE_NONE)
		return 0;
	int error = weft__columns_reserve(&column, 1, &a->task_capacity, a->task_count + (size_t)1);
	if (error)
		return error;
	a->tasks[a->task_count] = (struct weft__alive_task){
		.id = id,
		.becomes = WEFT__ALIVE_NONE,
		.waits = WEFT__ALIVE_NONE,
		.label = WEFT__ALIVE_NONE,
		.message = WEFT__ALIVE_NONE,
		.kind = WEFT_KIND_UNKNOWN,
	};
	*ret_task = a->task_count++;
	return weft__index_add(&a->by_id, *ret_task, hash_task, a);
}

uint32_t weft__alive_forward(struct weft__alive *a, uint32_t task)
{
	uint32_t last = task;
	if (task == WEFT__ALIVE_NONE)
		return task;
	while (a->tasks[last].becomes != WEFT__ALIVE_NONE)
		last = a->tasks[last].becomes;
	while (a->tasks[task].becomes != WEFT__ALIVE_NONE) {
		uint32_t next = a->tasks[task].becomes;
		a->tasks[task].becomes = last;
		task = next;
	}
	return last;
}

static int intern(struct weft__alive *a, struct weft_slice text, uint32_t *ret_string)
{
	*ret_string = WEFT__ALIVE_NONE;
	return text.size ? weft__strings_intern(&a->strings, text.bytes, text.size, ret_string) : 0;
}

/* The thread of the event. */
static int thread_of(
	struct weft__alive *a, const struct weft_event *event, struct weft__alive_thread **ret_thread)
{
	const struct weft__column column = {&a->threads, sizeof(*a->threads)};
	if (event->thread >= THREADS_MAX)
		return WEFT_ERROR_LIMIT;
	int error = weft__columns_reserve(&column, 1, &a->thread_capacity, event->thread + (size_t)1);
	if (error)
		return error;
	while (a->thread_count <= event->thread)
		a->threads[a->thread_count++] = (struct weft__alive_thread){
			.runs = WEFT__ALIVE_UNKNOWN,
			.reason = WEFT__ALIVE_NONE,
			.idle_reason = WEFT__ALIVE_NONE,
			.gc_reason = WEFT__ALIVE_NONE,
		};
	*ret_thread = &a->threads[event->thread];
	return 0;
}

static int run(struct weft__alive *a, const struct weft_event *event, uint32_t task)
{
	struct weft__alive_thread *thread;
	uint32_t reason = WEFT__ALIVE_NONE;
	int error = thread_of(a, event, &thread);
	if (!error && event->type == WEFT_EVENT_SWITCH)
		error = intern(a, event->text, &reason);
	if (error)
		return error;
	bool was_idle = thread->is_idle || thread->runs == WEFT__ALIVE_IDLE;
	if (thread->is_idle)
		thread->reason = thread->idle_reason;
	thread->is_idle = false;
	thread->runs = task == WEFT__ALIVE_NONE ? WEFT__ALIVE_IDLE : task;
	/* A switch to what runs already changes nothing, its reason neither. */
	if (thread->runs != WEFT__ALIVE_IDLE || !was_idle)
		thread->reason = reason;
	return 0;
}

static int take_band(struct weft__alive *a, const struct weft_event *event)
{
	struct weft__alive_thread *thread;
	uint32_t reason;
	int error = thread_of(a, event, &thread);
	if (!error)
		error = intern(a, event->text, &reason);
	if (error)
		return error;
	if (event->band != WEFT_BAND_GC) {
		thread->is_idle = event->flag;
		thread->idle_reason = reason;
	} else {
		if (!thread->is_gc)
			thread->gc_reason = reason;
		thread->is_gc = event->flag;
	}
	return 0;
}

/* Sums stop at their ends, as the model's. */
static int64_t add_saturating(int64_t a, int64_t b)
{
	int64_t sum;
	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

static int find_counter(
	struct weft__alive *a, uint32_t name, struct weft__alive_counter **ret_counter)
{
	const struct weft__column column = {&a->counters, sizeof(*a->counters)};
	if (name >= a->counter_of_count) {
		size_t count = weft__array_next_capacity(a->counter_of_count, name + (size_t)1);
		int error = weft__array_resize(&a->counter_of, count, sizeof(*a->counter_of));
		if (error)
			return error;
		while (a->counter_of_count < count)
			a->counter_of[a->counter_of_count++] = WEFT__ALIVE_NONE;
	}
	if (a->counter_of[name] == WEFT__ALIVE_NONE) {
		int error =
			weft__columns_reserve(&column, 1, &a->counter_capacity, a->counter_count + (size_t)1);
		if (error)
			return error;
		a->counters[a->counter_count] = (struct weft__alive_counter){.name = name};
		a->counter_of[name] = a->counter_count++;
	}
	*ret_counter = &a->counters[a->counter_of[name]];
	return 0;
}

static int take_counter(struct weft__alive *a, const struct weft_event *event)
{
	struct weft__alive_counter *counter;
	uint32_t name;
	/* Also a counter without a name is one. */
	int error = weft__strings_intern(&a->strings, event->text.bytes, event->text.size, &name);
	if (!error)
		error = find_counter(a, name, &counter);
	if (!error)
		counter->value =
			event->is_set ? event->value : add_saturating(counter->value, event->value);
	return error;
}

static void take_create(struct weft__alive_task *child, const struct weft_event *event)
{
	if (child->flags & WEFT__ALIVE_CREATED)
		return;
	child->flags |= WEFT__ALIVE_CREATED | WEFT__ALIVE_BORN | WEFT__ALIVE_DATED;
	child->kind = event->kind;
	child->born_ns = event->time_ns;
}

/* The first end stands. */
static int take_end(struct weft__alive *a, const struct weft_event *event, uint32_t target)
{
	if (target == WEFT__ALIVE_NONE || (a->tasks[target].flags & WEFT__ALIVE_ENDED))
		return 0;
	a->tasks[target].flags |= WEFT__ALIVE_ENDED;
	if (event->type != WEFT_EVENT_FAIL)
		return 0;
	return weft__strings_intern(
		&a->strings, event->text.bytes, event->text.size, &a->tasks[target].message);
}

static void take_become(struct weft__alive *a, uint32_t task, uint32_t other)
{
	if (task == WEFT__ALIVE_NONE || other == WEFT__ALIVE_NONE || task == other ||
		(a->tasks[task].flags & WEFT__ALIVE_ENDED))
		return;
	a->tasks[task].flags |= WEFT__ALIVE_ENDED;
	a->tasks[task].becomes = other;
	a->tasks[other].flags |= a->tasks[task].flags & WEFT__ALIVE_EXPECTED;
}

static int take_label(struct weft__alive *a, uint32_t task, struct weft_slice text)
{
	if (task == WEFT__ALIVE_NONE || a->tasks[task].label != WEFT__ALIVE_NONE)
		return 0;
	return weft__strings_intern(&a->strings, text.bytes, text.size, &a->tasks[task].label);
}

static int take_alive(
	struct weft__alive *a, const struct weft_event *event, uint32_t task, uint32_t source)
{
	if (task == WEFT__ALIVE_NONE)
		return 0;
	struct weft__alive_task *t = &a->tasks[task];
	if (!(t->flags & WEFT__ALIVE_BORN)) {
		uint64_t age = (uint64_t)event->value;
		t->flags |= WEFT__ALIVE_BORN | (event->has_value ? WEFT__ALIVE_DATED : 0);
		t->kind = event->kind;
		t->born_ns = age < event->time_ns ? event->time_ns - age : 0;
	}
	if (source != WEFT__ALIVE_NONE)
		t->waits = source;
	return event->text.size ? take_label(a, task, event->text) : 0;
}

static void wait_for(struct weft__alive *a, uint32_t task, uint32_t source)
{
	if (task != WEFT__ALIVE_NONE && source != WEFT__ALIVE_NONE)
		a->tasks[task].waits = source;
}

static int take_read(
	struct weft__alive *a, const struct weft_event *event, uint32_t task, uint32_t source)
{
	if (task != WEFT__ALIVE_NONE && source != WEFT__ALIVE_NONE)
		a->tasks[task].waits = WEFT__ALIVE_NONE;
	return event->flag ? 0 : run(a, event, task);
}

static int apply(
	struct weft__alive *a, const struct weft_event *event, uint32_t task, uint32_t other)
{
	switch (event->type) {
	case WEFT_EVENT_CREATE: /* by its own id, not by what it may have become */
		if (event->other != WEFT_TASK_NONE)
			take_create(&a->tasks[find(a, event->other)], event);
		return 0;
	case WEFT_EVENT_READ:
		return take_read(a, event, task, other);
	case WEFT_EVENT_TRY_READ:
		wait_for(a, task, other);
		return 0;
	case WEFT_EVENT_RESOLVE:
	case WEFT_EVENT_FAIL:
		return take_end(a, event, other);
	case WEFT_EVENT_BECOME:
		take_become(a, task, other);
		return 0;
	case WEFT_EVENT_LABEL:
		return take_label(a, task, event->text);
	case WEFT_EVENT_BAND:
		return take_band(a, event);
	case WEFT_EVENT_COUNTER:
		return take_counter(a, event);
	case WEFT_EVENT_SWITCH:
		return run(a, event, task);
	case WEFT_EVENT_SIGNAL:
		return event->flag ? run(a, event, task) : 0;
	case WEFT_EVENT_EXPECT:
		if (task != WEFT__ALIVE_NONE)
			a->tasks[task].flags |= WEFT__ALIVE_EXPECTED;
		return 0;
	case WEFT_EVENT_ALIVE:
		return take_alive(a, event, task, other);
	default:
		return 0;
	}
}

/* Does an event of this type name a task there? The table of events knows. */
static bool has_slot(unsigned type, enum weft_slot slot)
{
	const struct weft_event_description *d = weft_event_describe(type);
	for (int i = 0; d->fields[i].key; i++)
		if (d->fields[i].slot == slot)
			return true;
	return false;
}

int weft__alive_add(struct weft__alive *a, const struct weft_event *event)
{
	uint32_t task = WEFT__ALIVE_NONE, other = WEFT__ALIVE_NONE;
	int error = 0;
	if (has_slot(event->type, WEFT_SLOT_TASK))
		error = mention(a, event->task, &task);
	if (!error && has_slot(event->type, WEFT_SLOT_OTHER))
		error = mention(a, event->other, &other);
	if (error)
		return error;
	return apply(a, event, weft__alive_forward(a, task), weft__alive_forward(a, other));
}

void weft__alive_name(struct weft__alive *a, const struct weft_event *event)
{
	const uint64_t ids[] = {
		has_slot(event->type, WEFT_SLOT_TASK) ? event->task : WEFT_TASK_NONE,
		has_slot(event->type, WEFT_SLOT_OTHER) ? event->other : WEFT_TASK_NONE,
	};
	for (unsigned i = 0; i < 2; i++) {
		uint32_t task = ids[i] == WEFT_TASK_NONE ? WEFT__ALIVE_NONE : find(a, ids[i]);
		if (task == WEFT__ALIVE_NONE)
			continue;
		a->tasks[task].flags |= WEFT__ALIVE_NAMED;
		a->tasks[weft__alive_forward(a, task)].flags |= WEFT__ALIVE_NAMED;
	}
}
