/* SPDX-License-Identifier: ISC
 *
 * The order depends only on the content: tasks by id, counters by their first change, threads by
 * number. So a cut of a cut equals the same range cut directly.
 */
#include "export/cut_rundown.h"

#include <stdlib.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/sort.h"
#include "model/dark.h"

struct writer {
	struct weft__alive *alive;
	const struct weft__rundown_sink *sink;
	const struct weft__rundown_past *past;
	struct weft_model dark;  /* only the dark time */
	struct weft_event event; /* the members that all events of the rundown share */
};

static struct weft_slice string_of(const struct weft__alive *a, uint32_t string)
{
	if (string == WEFT_NONE)
		return (struct weft_slice){"", 0};
	return (struct weft_slice){weft__strings_bytes(&a->texts.strings, string),
		weft__strings_size(&a->texts.strings, string)};
}

static bool is_alive(const struct weft__alive *a, uint32_t task)
{
	return task < a->state.tasks.count && !(a->state.tasks.flags[task] & WEFT_TASK_RESOLVED);
}

static int add_event(const struct writer *w, const struct weft_event *event)
{
	return w->sink->add(w->sink->context, event);
}

/* The event that gives a task its outcome. */
static const uint8_t end_events[WEFT_OUTCOMES] = {
	[WEFT_OUTCOME_FULFILLED] = WEFT_EVENT_RESOLVE,
	[WEFT_OUTCOME_FAILED] = WEFT_EVENT_FAIL,
	[WEFT_OUTCOME_CANCELLED] = WEFT_EVENT_CANCEL,
	[WEFT_OUTCOME_CLOSED] = WEFT_EVENT_CLOSE,
	[WEFT_OUTCOME_TIMED_OUT] = WEFT_EVENT_TIME_OUT,
};

static struct weft_slice name_of_kind(const struct weft__alive *a, unsigned kind)
{
	uint32_t named = weft__model_named_kind(kind);
	return string_of(a, named < a->texts.kind_count ? a->texts.kinds[named] : WEFT_NONE);
}

/* A task of "program" may be one of which the create event says nothing, but an alive event must
 * say it. */
static struct weft_slice category_of(const struct weft__alive *a, uint32_t task)
{
	static const char program[] = "program";
	const struct weft__state_tasks *t = &a->state.tasks;
	unsigned category = t->category[task];
	bool is_default = !category && (t->flags[task] & WEFT_TASK_CREATED) && a->has_categories;
	if (is_default || category == WEFT_CATEGORY_PROGRAM)
		return (struct weft_slice){program, sizeof(program) - 1};
	bool is_named = category - 1 < a->texts.category_count;
	return string_of(a, is_named ? a->texts.categories[category - 1] : WEFT_NONE);
}

/* The event that says what the task is; without its age and the task for which it waits. */
static struct weft_event describe(const struct writer *w, uint32_t task)
{
	const struct weft__alive *a = w->alive;
	const struct weft__state_tasks *t = &a->state.tasks;
	struct weft_event event = w->event;
	bool is_known = t->flags[task] & (WEFT_TASK_CREATED | WEFT_TASK_FROM_RUNDOWN);
	event.type = WEFT_EVENT_ALIVE;
	event.task = a->identities.id[task];
	event.kind = is_known ? t->kind[task] : WEFT_KIND_UNKNOWN;
	event.kind_name = name_of_kind(a, event.kind);
	event.category = category_of(a, task);
	event.text = string_of(a, t->label[task]);
	return event;
}

/* The same of a living task, with its age. */
static struct weft_event describe_living(const struct writer *w, uint32_t task)
{
	const uint64_t born_ns = w->alive->born_ns[task];
	struct weft_event event = describe(w, task);
	event.has_value = born_ns != WEFT__ALIVE_UNDATED;
	event.value = event.has_value ? (int64_t)(event.time_ns - born_ns) : 0;
	return event;
}

/* Writes what an ended task was, if that is known; without an age, as it has none any more. */
static int write_former(const struct writer *w, uint32_t task)
{
	const struct weft_event event = describe(w, task);
	bool is_known = event.kind != WEFT_KIND_UNKNOWN || event.category.size || event.text.size;
	return is_known ? add_event(w, &event) : 0;
}

/* Writes the end of a task, or its become: otherwise a reader would take it for a live task. */
static int write_end(const struct writer *w, uint32_t task)
{
	const weft_task_id *id = w->alive->identities.id;
	struct weft__state *state = &w->alive->state;
	struct weft_event event = w->event;
	if (state->tasks.becomes[task] != WEFT_NONE) {
		event.type = WEFT_EVENT_BECOME;
		event.task = id[task];
		event.other = id[weft__model_state_forward(state, task)];
	} else {
		event.type = end_events[state->tasks.outcome[task]];
		event.text = string_of(w->alive, state->tasks.message[task]);
		event.other = id[task];
	}
	return add_event(w, &event);
}

/* The only task for which `task` waits, or WEFT_NONE. */
static uint32_t source_of(struct weft__alive *alive, uint32_t task)
{
	struct weft__state *state = &alive->state;
	return weft__model_state_waits(state, task) && alive->first_any[task] == WEFT_NONE
			   ? weft__model_state_forward(state, state->tasks.asked[task])
			   : WEFT_NONE;
}

/* Writes the sources of a wait for any of several that have not ended. */
static int write_any(const struct writer *w, uint32_t task)
{
	struct weft__alive *a = w->alive;
	struct weft_event event = w->event;
	int error = 0;
	event.type = WEFT_EVENT_WAIT_ANY;
	event.task = a->identities.id[task];
	uint32_t i = weft__model_state_waits(&a->state, task) ? a->first_any[task] : WEFT_NONE;
	for (; i != WEFT_NONE && !error; i = a->any[i].next) {
		uint32_t source = weft__model_state_forward(&a->state, a->any[i].source);
		event.other = a->identities.id[source];
		error = is_alive(a, source) ? add_event(w, &event) : 0;
	}
	return error;
}

static int64_t distance(uint64_t from, uint64_t to)
{
	if (to >= from)
		return to - from < INT64_MAX ? (int64_t)(to - from) : INT64_MAX;
	return from - to < INT64_MAX ? -(int64_t)(from - to) : INT64_MIN;
}

/* Writes the deadline of a timer, from this time on. */
static int write_due(const struct writer *w, uint32_t task)
{
	static const char tag[] = WEFT_TAG_DEADLINE;
	struct weft_event event = w->event;
	if (w->alive->due_ns[task] == WEFT__ALIVE_UNDATED)
		return 0;
	event.type = WEFT_EVENT_TAG;
	event.task = w->alive->identities.id[task];
	event.text = (struct weft_slice){tag, sizeof(tag) - 1};
	event.has_value = true;
	event.value = distance(event.time_ns, w->alive->due_ns[task]);
	return add_event(w, &event);
}

static int write_expect(const struct writer *w, uint32_t task)
{
	struct weft_event event = w->event;
	event.type = WEFT_EVENT_EXPECT;
	event.task = w->alive->identities.id[task];
	return add_event(w, &event);
}

/* Writes the open spans of a task or thread, the outermost first. */
static int write_spans(
	const struct writer *w, weft_task_id task, uint32_t thread, uint32_t innermost)
{
	const struct weft__state_span *list = w->alive->state.spans.list;
	uint32_t count = innermost == WEFT_NONE ? 0 : list[innermost].depth + 1, *names = NULL;
	struct weft_event event = w->event;
	int error = weft__array_resize(&names, count + (size_t)1, sizeof(*names));
	for (uint32_t i = count; !error && i-- > 0; innermost = list[innermost].outer)
		names[i] = list[innermost].name;
	event.type = WEFT_EVENT_BEGIN;
	event.task = task;
	event.thread = thread;
	for (uint32_t i = 0; !error && i < count; i++) {
		event.text = string_of(w->alive, names[i]);
		error = add_event(w, &event);
	}
	free(names);
	return error;
}

static int write_alive(const struct writer *w, uint32_t task)
{
	const struct weft__alive *a = w->alive;
	const struct weft__state_tasks *t = &a->state.tasks;
	struct weft_event event = describe_living(w, task);
	uint32_t source = source_of(w->alive, task);
	event.other = is_alive(a, source) ? a->identities.id[source] : WEFT_TASK_NONE;
	uint32_t innermost = weft__model_state_innermost(&a->state, task);
	int error = add_event(w, &event);
	if (!error && (t->flags[task] & WEFT_TASK_EXPECTED))
		error = write_expect(w, task);
	if (!error)
		error = write_any(w, task);
	if (!error)
		error = write_due(w, task);
	return error || innermost == WEFT_NONE ? error : write_spans(w, event.task, 0, innermost);
}

/* Writes the acquire events of a resource, nested ones up to a limit. Checkpoints also have holders
 * that have ended: another task may give the resource back for them. */

static int write_holds(const struct writer *w, uint32_t resource)
{
	struct weft__alive *a = w->alive;
	const struct weft__holders *h = weft__export_alive_holders(a, resource);
	const struct weft_event described = describe_living(w, resource);
	struct weft_event event = w->event;
	/* The same task may hold a lock several times, but only if it is known to be one. */
	bool is_held = h && h->count && a->is_checkpoint && is_alive(a, resource);
	int error = is_held ? add_event(w, &described) : 0;
	event.type = WEFT_EVENT_ACQUIRE;
	event.other = a->identities.id[resource];
	for (uint32_t i = 0; h && is_alive(a, resource) && i < h->count; i++) {
		bool is_written = a->is_checkpoint || is_alive(a, h->list[i].task);
		uint32_t depth = is_written ? h->list[i].depth : 0;
		event.task = a->identities.id[h->list[i].task];
		for (uint32_t k = 0; k < depth && k < WEFT__ALIVE_DEPTH_MAX && !error; k++)
			error = add_event(w, &event);
	}
	return error;
}

/* Writes the first sides of messages whose other side is in the range; a checkpoint has them with
 * their times, on which it depends whether they have another side. */
static int write_messages(const struct writer *w)
{
	const struct weft__alive *a = w->alive;
	struct weft_event event = w->event;
	int error = 0;
	for (uint32_t i = 0; !error && i < a->message_count; i++) {
		const struct weft__message *message = &a->messages[i];
		if (a->is_checkpoint)
			event.time_ns = message->time_ns;
		event.type = message->is_received ? WEFT_EVENT_RECEIVE : WEFT_EVENT_SEND;
		event.task = a->identities.id[message->task];
		event.key = message->key;
		error = add_event(w, &event);
	}
	return error;
}

/* Tasks that have ended are only written if the range names them. */
static int write_task(const struct writer *w, uint32_t task)
{
	if (is_alive(w->alive, task))
		return write_alive(w, task);
	int error = w->alive->is_named[task] ? write_former(w, task) : 0;
	return !error && w->alive->is_named[task] ? write_end(w, task) : error;
}

static int write_tasks(const struct writer *w)
{
	const uint32_t count = w->alive->state.tasks.count;
	uint32_t *order = NULL;
	int error = weft__array_resize(&order, 2 * (count + (size_t)1), sizeof(*order));
	if (!error)
		weft__order_by_u64(w->alive->identities.id, order, order + count, count);
	if (!error)
		error = write_messages(w);
	/* First, because an acquire event ends a wait. */
	for (uint32_t i = 0; !error && i < count; i++)
		error = write_holds(w, order[i]);
	for (uint32_t i = 0; !error && i < count; i++)
		error = write_task(w, order[i]);
	free(order);
	return error;
}

/* How much is known of a counter at the time of the rundown. */
enum known {
	KNOWN_UNUSED, /* it has not been changed yet */
	KNOWN_VALUE,
	KNOWN_LAST,    /* the value that it had when it was seen last: later changes may be missing */
	KNOWN_CHANGES, /* only changes: its value was not known when it was seen last, either */
};

static bool lacks_changes(const struct writer *w, uint64_t from, uint64_t to)
{
	return from < w->past->read_ns ||
		   weft__model_dark_lacks_changes(w->past->trace, &w->dark, 0, from, to);
}

/* Depends only on what was before the rundown, so that parts of parts are the same. */
static enum known find_known(const struct writer *w, uint32_t counter)
{
	const struct weft__state_counters *c = &w->alive->state.counters;
	const uint64_t value_ns = c->known_ns[counter], seen = c->seen_ns[counter];
	if (value_ns == UINT64_MAX)
		return seen ? KNOWN_CHANGES : KNOWN_LAST;
	if (!lacks_changes(w, value_ns, w->event.time_ns))
		return seen ? KNOWN_VALUE : KNOWN_UNUSED;
	const bool was_known = seen && value_ns >= w->past->read_ns &&
						   (value_ns == seen || !lacks_changes(w, value_ns, seen));
	return was_known ? KNOWN_LAST : KNOWN_CHANGES;
}

/* A counter that is only seen in the range has no value before it, unless the range changes it. */
static bool is_left_out(const struct writer *w, uint32_t counter, enum known known)
{
	const struct weft__state_counters *c = &w->alive->state.counters;
	const bool is_seen = c->known_ns[counter] || c->seen_ns[counter];
	return known == KNOWN_UNUSED || (!is_seen && !weft__export_alive_is_changed(w->alive, counter));
}

static int add_counter(const struct writer *w, uint32_t counter, bool is_set, int64_t value)
{
	const struct weft__state_counters *counters = &w->alive->state.counters;
	struct weft_event event = w->event;
	event.type = WEFT_EVENT_COUNTER;
	event.task = WEFT_TASK_NONE;
	event.text = string_of(w->alive, counters->name[counter]);
	event.value = value; /* also the bits of a real value */
	event.is_real = counters->is_real[counter];
	event.is_set = is_set;
	return add_event(w, &event);
}

static int write_counter(const struct writer *w, uint32_t counter)
{
	const int64_t value = w->alive->state.counters.value[counter];
	const enum known known = find_known(w, counter);
	if (is_left_out(w, counter, known))
		return 0;
	int error = add_counter(w, counter, known != KNOWN_CHANGES, value);
	if (!error && known == KNOWN_LAST)
		error = add_counter(w, counter, false, 0);
	return error;
}

static int write_counters(struct writer *w)
{
	int error = weft__model_dark_until(w->past->trace, w->event.time_ns, &w->dark);
	for (uint32_t i = 0; !error && i < w->alive->state.counters.count; i++)
		error = write_counter(w, i);
	free((void *)(uintptr_t)w->dark.dark);
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
	return add_event(w, &event);
}

/* Writes the task or the idleness of a thread; within an idle band, the one that the band
 * interrupted. */
static int write_switch(const struct writer *w, uint32_t thread, uint32_t runs, uint32_t reason)
{
	struct weft_event event = w->event;
	uint32_t task =
		runs < WEFT__RUNS_UNKNOWN ? weft__model_state_forward(&w->alive->state, runs) : WEFT_NONE;
	event.type = WEFT_EVENT_SWITCH;
	event.thread = thread;
	event.task = WEFT_TASK_NONE;
	if (task != WEFT_NONE && (w->alive->is_checkpoint || is_alive(w->alive, task)))
		event.task = w->alive->identities.id[task];
	else if (runs != WEFT__RUNS_IDLE)
		return 0;
	else
		event.text = string_of(w->alive, reason);
	return add_event(w, &event);
}

/* Writes on which thread each task ran last, before what the threads run now: whether a task that
 * runs again was woken depends on that. Only for a checkpoint. */
static int write_ran(const struct writer *w)
{
	const struct weft__state_tasks *t = &w->alive->state.tasks;
	int error = 0;
	for (uint32_t i = 0; !error && i < t->count; i++)
		if (is_alive(w->alive, i) && t->ran_on[i] != WEFT_NONE)
			error = write_switch(w, t->ran_on[i], i, WEFT_NONE);
	return error;
}

/* The id of a task that has ended and that no trace has. */
#define NOBODY (WEFT_TASK_NONE - 1)

static int write_nobody(const struct writer *w, uint32_t thread)
{
	struct weft_event event = w->event;
	event.type = WEFT_EVENT_RESOLVE;
	event.other = NOBODY;
	int error = add_event(w, &event);
	event = w->event;
	event.type = WEFT_EVENT_SWITCH;
	event.thread = thread;
	event.task = NOBODY;
	return error ? error : add_event(w, &event);
}

/* For a checkpoint: writes the task that the idle thread ran before, and may go on with. If that
 * went on elsewhere meanwhile, the thread will not; nor with the last one of write_ran(). */
static int write_left(const struct writer *w, uint32_t index)
{
	struct weft__state *s = &w->alive->state;
	const struct weft__state_thread *thread = &s->threads[index];
	if (!w->alive->is_checkpoint || thread->running != WEFT__RUNS_IDLE || thread->in_idle_band ||
		thread->interrupted >= WEFT__RUNS_UNKNOWN)
		return 0;
	if (s->tasks.ran_on[weft__model_state_forward(s, thread->interrupted)] != index)
		return write_nobody(w, index);
	return write_switch(w, index, thread->interrupted, WEFT_NONE);
}

static int write_thread(const struct writer *w, uint32_t index)
{
	const struct weft__state_thread *thread = &w->alive->state.threads[index];
	int error = write_left(w, index);
	if (!error)
		error = thread->in_idle_band
					? write_switch(w, index, thread->interrupted, thread->interrupted_reason)
					: write_switch(w, index, thread->running, thread->reason);
	if (!error && thread->in_gc_band)
		error = write_band(w, index, WEFT_BAND_GC, thread->gc_reason);
	if (!error && thread->in_idle_band)
		error = write_band(w, index, WEFT_BAND_IDLE, thread->reason);
	if (!error && thread->innermost != WEFT_NONE)
		error = write_spans(w, WEFT_TASK_NONE, index, thread->innermost);
	return error;
}

int weft__export_rundown_write(struct weft__alive *alive, const struct weft__rundown_past *past,
	uint64_t time_ns, const struct weft__rundown_sink *sink)
{
	struct writer w = {.alive = alive,
		.sink = sink,
		.past = past,
		.event = {.time_ns = time_ns,
			.task = WEFT_TASK_NONE,
			.other = WEFT_TASK_NONE,
			.is_rundown = true,
			.text = {"", 0}}};
	weft__model_state_pass(&alive->state, time_ns);
	int error = write_tasks(&w);
	if (!error)
		error = write_counters(&w);
	if (!error && alive->is_checkpoint)
		error = write_ran(&w);
	for (uint32_t i = 0; !error && i < alive->state.thread_count; i++)
		error = write_thread(&w, i);
	return error;
}
