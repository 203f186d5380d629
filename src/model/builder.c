/* SPDX-License-Identifier: ISC
 *
 * What each event means, one function an event. Tasks are forwarded along their becomes, then the
 * rule of docs/model.md is applied; nothing here looks ahead or back.
 */
#include "model/builder.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/export.h"

/* A fact, and who its tasks are by now: forwarded. */
struct meaning {
	const struct weft__fact *event;
	struct weft_diagnostics *diagnostics;
	uint32_t task, other;
};

static void complain(const struct meaning *m, const char *message)
{
	weft_diagnostics_add(m->diagnostics, m->event->offset, message);
}

static int look_up(struct weft_model_builder *b, uint32_t named, uint32_t *ret_task)
{
	bool is_known = named < b->tasks.count || named == WEFT_NONE;
	int error = is_known ? 0 : weft__task_mention(b, named);
	if (!error && named != WEFT_NONE)
		*ret_task = weft__task_forward(b, named);
	return error;
}

static int reserve_edge(struct edge_columns *e)
{
	const struct weft__column columns[] = {
		{&e->time, sizeof(*e->time)},
		{&e->from, sizeof(*e->from)},
		{&e->to, sizeof(*e->to)},
		{&e->type, sizeof(*e->type)},
	};
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &e->capacity, e->count + (size_t)1);
}

static int add_edge(
	struct weft_model_builder *b, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	struct edge_columns *e = &b->edges;
	int error = e->count < e->capacity ? 0 : reserve_edge(e);
	if (error)
		return error;
	e->time[e->count] = b->now;
	e->from[e->count] = from;
	e->to[e->count] = to;
	e->type[e->count] = (uint8_t)type;
	e->count++;
	return 0;
}

/* An edge that its actor holds. */
static int add_act(
	struct weft_model_builder *b, enum weft_edge_type type, uint32_t actor, uint32_t to)
{
	int error = add_edge(b, type, actor, to);
	if (error || actor == WEFT_NONE)
		return error;
	b->tasks.last_edge[actor] = b->edges.count - 1;
	if (type != WEFT_EDGE_TRY_READ)
		b->tasks.flags[actor] |= TASK_HELD_EDGE;
	weft__task_touch(b, actor);
	return 0;
}

static int reserve_note(struct note_columns *n)
{
	const struct weft__column columns[] = {
		{&n->time, sizeof(*n->time)},
		{&n->value, sizeof(*n->value)},
		{&n->task, sizeof(*n->task)},
		{&n->text, sizeof(*n->text)},
		{&n->type, sizeof(*n->type)},
	};
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &n->capacity, n->count + (size_t)1);
}

static int add_note(struct weft_model_builder *b, enum weft_note_type type, uint32_t task,
	uint32_t text, int64_t value)
{
	struct note_columns *n = &b->notes;
	if (task == WEFT_NONE)
		return 0;
	int error = n->count < n->capacity ? 0 : reserve_note(n);
	if (error)
		return error;
	n->time[n->count] = b->now;
	n->value[n->count] = value;
	n->task[n->count] = task;
	n->text[n->count] = text;
	n->type[n->count] = (uint8_t)type;
	n->count++;
	if (!(b->tasks.flags[task] & TASK_HELD_EDGE))
		b->tasks.flags[task] |= WEFT_TASK_NOTED;
	weft__task_touch(b, task);
	return 0;
}

static int run_task(struct weft_model_builder *b, const struct meaning *m, uint32_t reason)
{
	return weft__thread_run(
		b, m->event->thread, m->task == WEFT_NONE ? RUNNING_IDLE : m->task, reason);
}

/* The child is named by its own id, not by what it may have become. */
static int on_create(struct weft_model_builder *b, const struct meaning *m)
{
	uint32_t child = m->event->other;
	if (child == WEFT_NONE) {
		complain(m, "a create without a child");
		return 0;
	}
	if (b->tasks.flags[child] & WEFT_TASK_CREATED) {
		complain(m, "a task is created twice; the second is ignored");
		return 0;
	}
	if (!weft__task_attach(b, child, m->task)) {
		complain(m, "a task is created by its own descendant; it stays a root");
		return 0;
	}
	b->tasks.flags[child] |= WEFT_TASK_CREATED;
	b->tasks.kind[child] = m->event->kind;
	if (m->task != WEFT_NONE)
		weft__task_touch(b, m->task);
	return add_edge(b, WEFT_EDGE_CREATE, m->task, child);
}

/* A read answers the try_read of the same source that came just before; each is of what its source
 * was at its own time. */
static void drop_answered_try_read(struct weft_model_builder *b, const struct meaning *m)
{
	uint32_t last = m->task == WEFT_NONE ? WEFT_NONE : b->tasks.last_edge[m->task];
	if (last != WEFT_NONE && b->edges.type[last] == WEFT_EDGE_TRY_READ &&
		b->edges.to[last] == m->other)
		b->edges.type[last] = EDGE_DROPPED;
}

static int on_read(struct weft_model_builder *b, const struct meaning *m)
{
	int error = m->event->flag ? 0 : run_task(b, m, WEFT_NONE);
	if (error || m->other == WEFT_NONE)
		return error;
	drop_answered_try_read(b, m);
	return add_act(b, WEFT_EDGE_READ, m->task, m->other);
}

static int on_try_read(struct weft_model_builder *b, const struct meaning *m)
{
	if (m->other == WEFT_NONE)
		return 0;
	weft__task_touch(b, m->other);
	return add_act(b, WEFT_EDGE_TRY_READ, m->task, m->other);
}

/* The first end of a task stands. */
static void end_task(struct weft_model_builder *b, uint32_t task, uint8_t flags)
{
	if (b->tasks.flags[task] & WEFT_TASK_RESOLVED)
		return;
	b->tasks.end[task] = b->now;
	b->tasks.flags[task] |= WEFT_TASK_RESOLVED | flags;
}

static int on_resolve(struct weft_model_builder *b, const struct meaning *m)
{
	int error;
	if (m->other == WEFT_NONE) {
		complain(m, "a resolve without a target");
		return 0;
	}
	error = add_act(b, WEFT_EDGE_RESOLVE, m->task, m->other);
	end_task(b, m->other, 0);
	return error;
}

static int on_fail(struct weft_model_builder *b, const struct meaning *m)
{
	if (m->other == WEFT_NONE) {
		complain(m, "a fail without a target");
		return 0;
	}
	int error = add_act(b, WEFT_EDGE_RESOLVE, m->task, m->other);
	if (error)
		return error;
	if (!(b->tasks.flags[m->other] & WEFT_TASK_RESOLVED))
		b->tasks.message[m->other] = m->event->text;
	end_task(b, m->other, WEFT_TASK_FAILED);
	return 0;
}

/* The old runtimes name a task by its first id all along: its second become is one of what it
 * became the first time. */
static int on_become(struct weft_model_builder *b, const struct meaning *m)
{
	int error;
	if (m->task == WEFT_NONE || m->other == WEFT_NONE) {
		complain(m, "a become without a task");
		return 0;
	}
	if (m->task == m->other) {
		complain(m, "a task becomes what it is already, or in a cycle; ignored");
		return 0;
	}
	if (b->tasks.flags[m->task] & WEFT_TASK_RESOLVED) {
		complain(m, "a task that had ended becomes another; ignored");
		return 0;
	}
	error = add_edge(b, WEFT_EDGE_BECOME, m->task, m->other);
	if (error)
		return error;
	end_task(b, m->task, 0);
	b->tasks.becomes[m->task] = m->other;
	b->tasks.forward[m->task] = m->other;
	b->tasks.flags[m->other] |= b->tasks.flags[m->task] & WEFT_TASK_EXPECTED;
	return 0;
}

static int on_label(struct weft_model_builder *b, const struct meaning *m)
{
	uint32_t text = m->event->text;
	if (m->task != WEFT_NONE && b->tasks.label[m->task] == WEFT_NONE)
		b->tasks.label[m->task] = text;
	return add_note(b, WEFT_NOTE_LABEL, m->task, text, 0);
}

static int on_note(struct weft_model_builder *b, const struct meaning *m)
{
	enum weft_note_type type = m->event->has_value ? WEFT_NOTE_VALUE : WEFT_NOTE_TEXT;
	return add_note(b, type, m->task, m->event->text, m->event->value);
}

static int on_mark(struct weft_model_builder *b, const struct meaning *m)
{
	return add_note(b, WEFT_NOTE_TEXT, m->task, m->event->text, 0);
}

/* The counter of a name, made with its first change. */
static int find_counter(struct weft_model_builder *b, uint32_t name, uint32_t *ret_counter)
{
	struct counters *c = &b->counters;
	const struct weft__column columns[] = {
		{&c->list, sizeof(*c->list)},
		{&c->last, sizeof(*c->last)},
	};
	int error;
	while (c->by_name_count <= name) {
		size_t next = weft__array_next_capacity(c->by_name_count, name + (size_t)1);
		error = weft__array_resize(&c->by_name, next, sizeof(*c->by_name));
		if (error)
			return error;
		while (c->by_name_count < next)
			c->by_name[c->by_name_count++] = WEFT_NONE;
	}
	if (c->by_name[name] == WEFT_NONE) {
		error = weft__columns_reserve(columns, 2, &c->capacity, c->count + (size_t)1);
		if (error)
			return error;
		c->list[c->count] = (struct weft_counter){
			.name = name,
			.min = INT64_MAX,
			.max = INT64_MIN,
		};
		c->last[c->count] = 0;
		c->by_name[name] = c->count++;
	}
	*ret_counter = c->by_name[name];
	return 0;
}

static int64_t add_saturating(int64_t a, int64_t b)
{
	int64_t sum;
	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

static int reserve_sample(struct sample_columns *s)
{
	const struct weft__column columns[] = {
		{&s->time, sizeof(*s->time)},
		{&s->value, sizeof(*s->value)},
		{&s->task, sizeof(*s->task)},
		{&s->counter, sizeof(*s->counter)},
	};
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &s->capacity, s->count + (size_t)1);
}

static int add_sample(struct weft_model_builder *b, uint32_t counter, uint32_t task, int64_t value)
{
	struct sample_columns *s = &b->samples;
	struct weft_counter *c = &b->counters.list[counter];
	int error = s->count < s->capacity ? 0 : reserve_sample(s);
	if (error)
		return error;
	s->time[s->count] = b->now;
	s->value[s->count] = value;
	s->task[s->count] = task;
	s->counter[s->count] = counter;
	s->count++;
	b->counters.last[counter] = value;
	c->count++;
	if (value < c->min)
		c->min = value;
	if (value > c->max)
		c->max = value;
	return 0;
}

static int on_counter(struct weft_model_builder *b, const struct meaning *m)
{
	const struct weft__fact *event = m->event;
	uint32_t name = event->text, counter;
	int64_t value = event->value;
	int error = find_counter(b, name, &counter);
	if (error)
		return error;
	if (!event->is_set)
		value = add_saturating(b->counters.last[counter], value);
	error = add_sample(b, counter, m->task, value);
	if (error)
		return error;
	return add_note(
		b, event->is_set ? WEFT_NOTE_SET : WEFT_NOTE_CHANGE, m->task, name, event->value);
}

static int on_switch(struct weft_model_builder *b, const struct meaning *m)
{
	return run_task(b, m, m->event->text);
}

static int on_signal(struct weft_model_builder *b, const struct meaning *m)
{
	int error = m->event->flag ? run_task(b, m, WEFT_NONE) : 0;
	if (error || m->task == WEFT_NONE)
		return error;
	weft__task_touch(b, m->task);
	return add_act(b, WEFT_EDGE_SIGNAL, m->other, m->task);
}

static int on_expect(struct weft_model_builder *b, const struct meaning *m)
{
	if (m->task != WEFT_NONE)
		b->tasks.flags[m->task] |= WEFT_TASK_EXPECTED;
	return 0;
}

static int add_creation(struct weft_model_builder *b, uint32_t task, uint64_t age)
{
	struct creation_columns *c = &b->creations;
	const struct weft__column columns[] = {
		{&c->list, sizeof(*c->list)},
		{&c->start, sizeof(*c->start)},
	};
	int error = weft__columns_reserve(columns, 2, &c->capacity, c->count + (size_t)1);
	if (error)
		return error;
	uint64_t time = age < b->now ? b->now - age : 0, start = b->tasks.start[task];
	if (time < start)
		start = time > b->summary.start ? time : b->summary.start;
	c->list[c->count] = (struct weft_creation){task, time};
	c->start[c->count++] = start;
	return 0;
}

/* What a create event would have told, if the trace does not have it. */
static int tell_beginning(struct weft_model_builder *b, const struct meaning *m)
{
	if (b->tasks.flags[m->task] & (WEFT_TASK_CREATED | WEFT_TASK_TOLD))
		return 0;
	b->tasks.flags[m->task] |= WEFT_TASK_TOLD;
	b->tasks.kind[m->task] = m->event->kind;
	return m->event->has_value ? add_creation(b, m->task, (uint64_t)m->event->value) : 0;
}

/* It waits, since it does not yet. */
static int tell_wait(struct weft_model_builder *b, const struct meaning *m)
{
	uint32_t last = b->tasks.last_edge[m->task];
	bool is_known = last != WEFT_NONE && b->edges.type[last] == WEFT_EDGE_TRY_READ &&
					b->edges.to[last] == m->other;
	return is_known ? 0 : on_try_read(b, m);
}

static int on_alive(struct weft_model_builder *b, const struct meaning *m)
{
	if (m->task == WEFT_NONE) {
		complain(m, "a rundown of no task");
		return 0;
	}
	weft__task_touch(b, m->task);
	int error = tell_beginning(b, m);
	if (!error && m->event->text != WEFT_NONE && b->tasks.label[m->task] == WEFT_NONE)
		error = on_label(b, m);
	return error ? error : tell_wait(b, m);
}

static int on_band(struct weft_model_builder *b, const struct meaning *m)
{
	return weft__thread_band(b, m->event);
}

static int on_gc(struct weft_model_builder *b, const struct meaning *m)
{
	return weft__thread_gc(b, m->event);
}

typedef int event_rule(struct weft_model_builder *b, const struct meaning *m);

static event_rule *const rules[WEFT_EVENT_TYPES] = {
	[WEFT_EVENT_CREATE] = on_create,
	[WEFT_EVENT_READ] = on_read,
	[WEFT_EVENT_TRY_READ] = on_try_read,
	[WEFT_EVENT_RESOLVE] = on_resolve,
	[WEFT_EVENT_FAIL] = on_fail,
	[WEFT_EVENT_BECOME] = on_become,
	[WEFT_EVENT_LABEL] = on_label,
	[WEFT_EVENT_NOTE] = on_note,
	[WEFT_EVENT_TAG] = on_note,
	[WEFT_EVENT_MARK] = on_mark,
	[WEFT_EVENT_BAND] = on_band,
	[WEFT_EVENT_COUNTER] = on_counter,
	[WEFT_EVENT_SWITCH] = on_switch,
	[WEFT_EVENT_SIGNAL] = on_signal,
	[WEFT_EVENT_GC] = on_gc,
	[WEFT_EVENT_EXPECT] = on_expect,
	[WEFT_EVENT_ALIVE] = on_alive,
};

/* Decoders keep time order and the span; events that do not are held at the time before. */
static void count_event(struct weft_model_builder *b, const struct meaning *m)
{
	const struct weft__fact *event = m->event;
	uint64_t time = event->time_ns;
	if (weft__span_hold(&b->span, &time))
		complain(m, WEFT__SPAN_MESSAGE);
	if (b->summary.events == 0)
		b->summary.start = b->now = time;
	if (time > b->now)
		b->now = time;
	b->summary.end = b->now;
	b->summary.events++;
	b->summary.by_event[event->type]++;
}

int weft__model_take(struct weft_model_builder *b, const struct weft__fact *fact,
	struct weft_diagnostics *diagnostics)
{
	struct meaning m = {fact, diagnostics, WEFT_NONE, WEFT_NONE};
	count_event(b, &m);
	int error = look_up(b, fact->task, &m.task);
	if (!error)
		error = look_up(b, fact->other, &m.other);
	return error ? error : rules[fact->type](b, &m);
}

WEFT__EXPORT int weft_model_builder_add(struct weft_model_builder *b,
	const struct weft_event *event, struct weft_diagnostics *diagnostics)
{
	struct weft__fact fact;
	int error = weft__model_state(b, event, &fact);
	return error ? error : weft__model_take(b, &fact, diagnostics);
}

/* Which events name a task, and which another: the table of events knows. */
static bool has_slot(unsigned type, enum weft_slot slot)
{
	const struct weft_event_description *d = weft_event_describe(type);
	for (int i = 0; d->fields[i].key; i++)
		if (d->fields[i].slot == slot)
			return true;
	return false;
}

static void learn_slots(struct weft_model_builder *b)
{
	for (unsigned type = 1; type < WEFT_EVENT_TYPES; type++) {
		b->names_task[type] = has_slot(type, WEFT_SLOT_TASK);
		b->names_other[type] = has_slot(type, WEFT_SLOT_OTHER);
	}
}

WEFT__EXPORT int weft_model_builder_create(struct weft_model_builder **ret_builder)
{
	struct weft_model_builder *b = calloc(1, sizeof(*b));
	if (!b)
		return WEFT_ERROR_MEMORY;
	if (weft__identities_init(&b->identities) || weft__strings_init(&b->strings)) {
		weft_model_builder_destroy(b);
		return WEFT_ERROR_MEMORY;
	}
	learn_slots(b);
	*ret_builder = b;
	return 0;
}
