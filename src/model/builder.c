/* SPDX-License-Identifier: ISC
 *
 * The history of a state: each change that an event makes becomes a row of a column.
 */
#include "model/builder.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/export.h"
#include "model/live.h"

void weft__model_builder_touch(struct weft_model_builder *b, uint32_t task)
{
	if (!(b->state.tasks.flags[task] & WEFT_TASK_RESOLVED))
		b->tasks.end[task] = b->state.now;
}

/* A summary has no rows to which the last two columns would refer. */
__attribute__((noinline)) static int reserve_task(struct weft_model_builder *b, size_t need)
{
	struct task_columns *t = &b->tasks;
	const struct weft__column columns[] = {
		{&t->start, sizeof(*t->start)},
		{&t->end, sizeof(*t->end)},
		{&t->last_edge, sizeof(*t->last_edge)},
		{&t->remarks, sizeof(*t->remarks)},
	};
	return weft__columns_reserve(columns, b->is_summary ? 2 : 4, &t->capacity, need);
}

int weft__model_builder_mention(void *builder, uint32_t task)
{
	struct weft_model_builder *b = builder;
	struct task_columns *t = &b->tasks;
	int error = task < t->capacity ? 0 : reserve_task(b, task + (size_t)1);
	if (error)
		return error;
	t->start[task] = b->state.now;
	t->end[task] = b->state.start; /* a mention alone does not prove that the task lives */
	if (b->is_summary)
		return 0;
	t->last_edge[task] = WEFT_NONE;
	t->remarks[task] = 0;
	return 0;
}

#define SHARED_COLUMNS(edges)                                                   \
	{                                                                           \
		{&(edges)->time, sizeof(uint64_t)}, {&(edges)->from, sizeof(uint32_t)}, \
			{&(edges)->to, sizeof(uint32_t)},                                   \
	}

struct weft__shared *weft__model_builder_hold_edges(struct edge_columns *e)
{
	const struct weft__column columns[] = SHARED_COLUMNS(e);
	return weft__shared_hold(&e->shared, columns, 3);
}

int weft__model_builder_own_edges(struct edge_columns *e)
{
	const struct weft__column columns[] = SHARED_COLUMNS(e);
	return weft__shared_own(&e->shared, columns, 3, e->capacity);
}

__attribute__((noinline)) static int reserve_edge(struct edge_columns *e)
{
	const struct weft__column columns[] = {
		{&e->time, sizeof(*e->time)},
		{&e->from, sizeof(*e->from)},
		{&e->to, sizeof(*e->to)},
		{&e->type, sizeof(*e->type)},
	};
	int error = weft__model_builder_own_edges(e);
	if (error)
		return error;
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &e->capacity, e->count + (size_t)1);
}

static int add_sent(struct weft_model_builder *b)
{
	struct edge_columns *e = &b->edges;
	const struct weft__column column = {&e->sent, sizeof(*e->sent)};
	int error = weft__columns_reserve(&column, 1, &e->sent_capacity, e->sent_count + (size_t)1);
	if (!error)
		e->sent[e->sent_count++] = b->state.sent;
	return error;
}

static int add_edge(
	struct weft_model_builder *b, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	struct edge_columns *e = &b->edges;
	int error = e->count < e->capacity ? 0 : reserve_edge(e);
	if (error)
		return error;
	e->time[e->count] = b->state.now;
	e->from[e->count] = from;
	e->to[e->count] = to;
	e->type[e->count] = (uint8_t)type;
	e->count++;
	return 0;
}

/* A task that others signal or wait for shows a sign of life too, not only the actor. */
void weft__model_builder_count_edge(
	struct weft_model_builder *b, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	b->summary.joined += type == WEFT_EDGE_RECEIVE;
	if (type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_SIGNAL || type == WEFT_EDGE_WAIT_ANY ||
		type == WEFT_EDGE_RECEIVE)
		weft__model_builder_touch(b, to);
	if (from != WEFT_NONE && type != WEFT_EDGE_RECEIVE)
		weft__model_builder_touch(b, from);
}

static int on_edge(void *builder, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	struct weft_model_builder *b = builder;
	bool is_act = weft__model_is_act(type);
	int error = add_edge(b, type, from, to);
	if (!error && type == WEFT_EDGE_RECEIVE)
		error = add_sent(b);
	if (error)
		return error;
	weft__model_builder_count_edge(b, type, from, to);
	if (from == WEFT_NONE || type == WEFT_EDGE_RECEIVE)
		return 0;
	if (is_act)
		b->tasks.last_edge[from] = b->edges.count - 1;
	if (is_act && type != WEFT_EDGE_TRY_READ)
		b->tasks.remarks[from] |= TASK_HELD_EDGE;
	return 0;
}

static void on_answer(void *builder, uint32_t task)
{
	struct weft_model_builder *b = builder;
	b->edges.type[b->tasks.last_edge[task]] = WEFT_EDGE_DROPPED;
}

void weft__model_builder_end(void *builder, uint32_t task, uint32_t becomes)
{
	struct weft_model_builder *b = builder;
	(void)becomes;
	b->tasks.end[task] = b->state.now;
}

static int add_creation(struct weft_model_builder *b, uint32_t task, uint64_t age)
{
	struct creation_columns *c = &b->creations;
	const struct weft__column columns[] = {
		{&c->list, sizeof(*c->list)},
		{&c->start, sizeof(*c->start)},
	};
	const uint64_t now = b->state.now, first = weft__model_trace_start(b);
	int error = weft__columns_reserve(columns, 2, &c->capacity, c->count + (size_t)1);
	if (error)
		return error;
	uint64_t time = age < now ? now - age : 0, start = b->tasks.start[task];
	if (time < start)
		start = time > first ? time : first;
	c->list[c->count] = (struct weft_creation){task, time};
	c->start[c->count++] = start;
	return 0;
}

int weft__model_builder_alive(
	void *builder, uint32_t task, bool is_new, const struct weft__fact *fact)
{
	struct weft_model_builder *b = builder;
	weft__model_builder_touch(b, task);
	return is_new && fact->has_value ? add_creation(b, task, (uint64_t)fact->value) : 0;
}

__attribute__((noinline)) static int reserve_note(struct note_columns *n)
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

static int on_note(
	void *builder, enum weft_note_type type, uint32_t task, uint32_t text, int64_t value)
{
	struct weft_model_builder *b = builder;
	struct note_columns *n = &b->notes;
	if (task == WEFT_NONE)
		return 0;
	int error = n->count < n->capacity ? 0 : reserve_note(n);
	if (error)
		return error;
	n->time[n->count] = b->state.now;
	n->value[n->count] = value;
	n->task[n->count] = task;
	n->text[n->count] = text;
	n->type[n->count] = (uint8_t)type;
	n->count++;
	if (!(b->tasks.remarks[task] & TASK_HELD_EDGE))
		b->tasks.remarks[task] |= TASK_NOTED;
	weft__model_builder_touch(b, task);
	return 0;
}

static int on_stack(void *builder, uint32_t task, uint32_t text)
{
	struct weft_model_builder *b = builder;
	return weft__model_stacks_add(&b->stacks, b->state.now, task, text);
}

__attribute__((noinline)) static int add_counter(struct weft_model_builder *b)
{
	struct counters *c = &b->counters;
	const struct weft__column column = {&c->list, sizeof(*c->list)};
	int error = weft__columns_reserve(&column, 1, &c->capacity, c->count + (size_t)1);
	if (error)
		return error;
	c->list[c->count] = (struct weft_counter){
		.name = b->state.counters.name[c->count], .buffer = b->state.counters.buffer[c->count]};
	c->count++;
	return 0;
}

__attribute__((noinline)) static int reserve_sample(struct weft_model_builder *b)
{
	struct sample_columns *s = &b->samples;
	const struct weft__column columns[] = {
		{&s->time, sizeof(*s->time)},
		{&s->value, sizeof(*s->value)},
		{&s->counter, sizeof(*s->counter)},
		{&s->is_set, sizeof(*s->is_set)},
		{&s->task, sizeof(*s->task)},
	};
	return weft__columns_reserve(
		columns, b->is_summary ? 4 : 5, &s->capacity, s->count + (size_t)1);
}

static bool is_below(struct weft_number a, struct weft_number b)
{
	return a.is_real ? a.real < b.real : a.integer < b.integer;
}

void weft__model_counter_summarize(struct weft_counter *c, struct weft_number value, bool is_set)
{
	if (c->count++ == 0) {
		c->min = c->max = value;
		c->begins_set = is_set;
	}
	c->sets += is_set;
	c->integers += !value.is_real;
	c->min.is_real = c->max.is_real = value.is_real;
	if (is_below(value, c->min))
		c->min = value;
	if (is_below(c->max, value))
		c->max = value;
}

/* A rundown's event is no change; it may say that changes before it are missing. */
static int begin_counter(struct weft_model_builder *b, uint32_t counter)
{
	const struct weft__state_counters *c = &b->state.counters;
	int error = counter < b->counters.count ? 0 : add_counter(b);
	if (error || !c->is_rundown)
		return error;
	b->counters.list[counter].begins_total |= !b->counters.list[counter].count;
	b->counters.list[counter].lacks_past |= !c->is_set;
	return 0;
}

int weft__model_builder_sample(void *builder, uint32_t counter, uint32_t task)
{
	struct weft_model_builder *b = builder;
	struct sample_columns *s = &b->samples;
	int error = begin_counter(b, counter);
	if (!error && b->counters.list[counter].lacks_past && b->state.counters.is_rundown &&
		b->counters.list[counter].count)
		return 0; /* it has the value already */
	if (!error && s->count == s->capacity)
		error = reserve_sample(b);
	if (error)
		return error;
	s->time[s->count] = b->state.now;
	s->value[s->count] = b->state.counters.observed[counter];
	s->is_set[s->count] = b->state.counters.is_set;
	if (!b->is_summary)
		s->task[s->count] = task;
	s->counter[s->count] = counter;
	s->count++;
	weft__model_counter_summarize(&b->counters.list[counter],
		weft__model_state_observed(&b->state, counter), b->state.counters.is_set);
	return 0;
}

void weft__model_builder_damage(void *builder, uint64_t offset, const char *message)
{
	struct weft_model_builder *b = builder;
	weft_diagnostics_add(b->diagnostics, offset, message);
}

static const struct weft__listener listener = {
	.mention = weft__model_builder_mention,
	.edge = on_edge,
	.answer = on_answer,
	.total = weft__model_builder_total,
	.end = weft__model_builder_end,
	.alive = weft__model_builder_alive,
	.note = on_note,
	.stack = on_stack,
	.sample = weft__model_builder_sample,
	.period = weft__model_builder_period,
	.gc = weft__model_builder_gc,
	.off_cpu = weft__model_builder_off_cpu,
	.span = weft__model_builder_span,
	.given = weft__model_builder_given,
	.damage = weft__model_builder_damage,
};

/* A summary does not have their texts. */
static bool is_remark(const struct weft_event *event)
{
	return event->type == WEFT_EVENT_NOTE || event->type == WEFT_EVENT_TAG ||
		   event->type == WEFT_EVENT_MARK;
}

int weft__model_fact(
	struct weft_model_builder *b, const struct weft_event *event, struct weft__fact *ret_fact)
{
	struct weft__texts *texts = b->is_summary && is_remark(event) ? NULL : &b->texts;
	int error = weft__model_fact_of_event(&b->identities, texts, event, ret_fact);
	if (!error && event->type == WEFT_EVENT_SPAN)
		error = weft__model_tracks_place(&b->tracks, &b->identities, &b->texts, event, ret_fact);
	else if (!error && weft__model_is_of_thread(event))
		error = weft__model_tracks_place_thread(&b->tracks, &b->identities, event, ret_fact);
	else if (!error && event->type == WEFT_EVENT_MARK && b->is_summary)
		error = weft__model_context_count_add(&b->contexts, event);
	return error;
}

struct weft__naming weft__model_naming(struct weft_model_builder *b)
{
	return (struct weft__naming){&b->identities, &b->texts, b->is_summary};
}

int weft__model_take(struct weft_model_builder *b, const struct weft__fact *fact,
	struct weft_diagnostics *diagnostics)
{
	b->diagnostics = diagnostics;
	b->summary.by_event[fact->type] += fact->type != WEFT_EVENT_TOTAL;
	if (fact->type == WEFT_EVENT_SEND) {
		b->summary.withdrawn += fact->task == WEFT_NONE;
		b->summary.raised +=
			fact->task != WEFT_NONE && weft__model_message_is_raise((uint64_t)fact->value);
	}
	if (b->live)
		weft__model_live_mark(b->live, &b->state, fact);
	int error = weft__model_state_take(&b->state, fact);
	b->summary.handled = b->state.messages.handled;
	return error;
}

WEFT__EXPORT int weft_model_builder_add(struct weft_model_builder *b,
	const struct weft_event *event, struct weft_diagnostics *diagnostics)
{
	struct weft__fact fact;
	int error = weft__model_fact(b, event, &fact);
	return error ? error : weft__model_take(b, &fact, diagnostics);
}

WEFT__EXPORT int weft_model_builder_create(struct weft_model_builder **ret_builder)
{
	struct weft_model_builder *b = calloc(1, sizeof(*b));
	if (!b)
		return WEFT_ERROR_MEMORY;
	weft__model_state_init(&b->state, &listener, b);
	if (weft__model_identities_init(&b->identities) || weft__model_texts_init(&b->texts)) {
		weft_model_builder_destroy(b);
		return WEFT_ERROR_MEMORY;
	}
	*ret_builder = b;
	return 0;
}

WEFT__EXPORT void weft_model_builder_destroy(struct weft_model_builder *b)
{
	if (!b)
		return;
	if (b->edges.shared) {
		weft__shared_release(b->edges.shared);
		b->edges.time = NULL;
		b->edges.from = b->edges.to = NULL;
	}
	void *columns[] = {b->tasks.start, b->tasks.end, b->tasks.last_edge, b->tasks.remarks,
		b->edges.time, b->edges.from, b->edges.to, b->edges.type, b->edges.sent,
		b->activations.start, b->activations.end, b->activations.thread, b->activations.task,
		b->notes.time, b->notes.value, b->notes.task, b->notes.text, b->notes.type, b->samples.time,
		b->samples.value, b->samples.task, b->samples.counter, b->samples.is_set, b->totals.time,
		b->totals.offset, b->totals.counter, b->totals.samples, b->totals.is_real, b->counters.list,
		b->bands.list, b->presences.list, b->creations.list, b->creations.start, b->spans.start,
		b->spans.end, b->spans.task, b->spans.name, b->spans.depth, b->off_cpu.start,
		b->off_cpu.end, b->off_cpu.ns, b->off_cpu.task, b->off_cpu.thread};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
	free(b->dark);
	free(b->contexts.list);
	weft__model_stacks_finish(&b->stacks);
	weft__model_live_destroy(b->live);
	weft__model_identities_finish(&b->identities);
	weft__model_texts_finish(&b->texts);
	weft__model_tracks_finish(&b->tracks);
	weft__model_state_finish(&b->state);
	free(b);
}
