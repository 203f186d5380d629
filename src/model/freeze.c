/* SPDX-License-Identifier: ISC
 *
 * Makes the builder's columns the model's: groups rows by their task or counter, then passes the
 * ownership of the columns to the model.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/both.h"
#include "model/buffers.h"
#include "model/builder.h"
#include "model/code_samples.h"
#include "model/histograms.h"
#include "model/dark.h"

/* Removes dropped edges. */
static void compact_edges(struct weft_model_builder *b)
{
	struct edge_columns *e = &b->edges;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < e->count; i++) {
		if (e->type[i] == WEFT_EDGE_DROPPED)
			continue;
		e->time[kept] = e->time[i];
		e->from[kept] = e->from[i];
		e->to[kept] = e->to[i];
		e->type[kept] = e->type[i];
		kept++;
	}
	e->count = kept;
}

uint32_t weft__model_edge_actor(const struct edge_columns *e, uint32_t i)
{
	bool held = weft__model_is_act(e->type[i]);
	return held ? e->from[i] : WEFT_NONE;
}

/* A counting sort like weft__model_group_columns's, without its column of positions: there are many
 * edges, and the memory in use is largest here. */
static int freeze_edges(struct weft_model_builder *b, struct weft_model *m)
{
	const struct edge_columns *e = &b->edges;
	uint32_t tasks = b->state.tasks.count, *by_actor;
	uint32_t *first = calloc(tasks + (size_t)1, sizeof(*first));
	if (!first)
		return WEFT_ERROR_MEMORY;
	m->tasks.first_edge = first;
	m->tasks.end_edge = first + 1;
	for (uint32_t i = 0; i < e->count; i++)
		if (weft__model_edge_actor(e, i) != WEFT_NONE)
			first[weft__model_edge_actor(e, i) + 1]++;
	for (uint32_t task = 0; task < tasks; task++)
		first[task + 1] += first[task];
	m->edges.by_actor_count = first[tasks];
	by_actor = malloc((first[tasks] + (size_t)1) * sizeof(*by_actor));
	if (!by_actor)
		return WEFT_ERROR_MEMORY;
	m->edges.by_actor = by_actor;
	for (uint32_t i = 0; i < e->count; i++)
		if (weft__model_edge_actor(e, i) != WEFT_NONE)
			by_actor[first[weft__model_edge_actor(e, i)]++] = i;
	memmove(first + 1, first, tasks * sizeof(*first));
	first[0] = 0;
	return 0;
}

static int freeze_activations(struct weft_model_builder *b, struct weft_model *m)
{
	struct activation_columns *a = &b->activations;
	const struct weft__column columns[] = {{&a->start, sizeof(*a->start)},
		{&a->end, sizeof(*a->end)}, {&a->thread, sizeof(*a->thread)}};
	uint32_t *first;
	int error =
		weft__model_group_columns(&a->task, a->count, b->state.tasks.count, columns, 3, &first);
	m->tasks.first_activation = first;
	m->tasks.end_activation = first ? first + 1 : NULL;
	return error;
}

static int freeze_notes(struct weft_model_builder *b, struct weft_model *m)
{
	struct note_columns *n = &b->notes;
	const struct weft__column columns[] = {{&n->time, sizeof(*n->time)},
		{&n->value, sizeof(*n->value)}, {&n->text, sizeof(*n->text)}, {&n->type, sizeof(*n->type)}};
	uint32_t *first;
	int error =
		weft__model_group_columns(&n->task, n->count, b->state.tasks.count, columns, 4, &first);
	m->tasks.first_note = first;
	m->tasks.end_note = first ? first + 1 : NULL;
	return error;
}

static int freeze_samples(struct weft_model_builder *b)
{
	struct sample_columns *s = &b->samples;
	struct weft__column columns[4] = {{&s->time, sizeof(*s->time)}, {&s->value, sizeof(*s->value)}};
	unsigned count = 2;
	uint32_t *first;
	if (!b->is_summary)
		columns[count++] = (struct weft__column){&s->task, sizeof(*s->task)};
	if (b->totals.count) /* only they ask which samples set */
		columns[count++] = (struct weft__column){&s->is_set, sizeof(*s->is_set)};
	int error =
		weft__model_group_columns(&s->counter, s->count, b->counters.count, columns, count, &first);
	for (uint32_t c = 0; !error && c < b->counters.count; c++)
		b->counters.list[c].first = first[c];
	free(first);
	return error;
}

int weft__model_compare_bands(const void *left, const void *right)
{
	const struct weft_band_period *l = left, *r = right;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return l->thread < r->thread ? -1 : l->thread > r->thread;
}

static int intern_text(struct weft_model_builder *b, const char *text, uint32_t *ret_string)
{
	return weft__strings_intern(
		&b->texts.strings, text ? text : "", text ? strlen(text) : 0, ret_string);
}

/* The threads have no names yet, but `ret_names`, which the caller frees. */
static int copy_threads(struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model *m, uint32_t **ret_names)
{
	uint32_t count = description->thread_count > b->state.thread_count ? description->thread_count
																	   : b->state.thread_count;
	uint32_t *names = calloc(count + (size_t)1, sizeof(*names));
	struct weft_trace_thread *threads = calloc(count + (size_t)1, sizeof(*threads));
	int error = names && threads ? 0 : WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; !error && i < count; i++) {
		if (i < description->thread_count)
			threads[i] = description->threads[i];
		error = intern_text(b, threads[i].name, &names[i]);
		threads[i].name = NULL;
	}
	*ret_names = names;
	m->threads = threads;
	m->presences = weft__model_presences_copy(&b->presences, count);
	m->thread_count = count;
	return !error && !m->presences ? WEFT_ERROR_MEMORY : error;
}

/* Interning moves strings, so names are pointed to after the last one. */
static void name_threads(
	struct weft__strings *strings, const uint32_t *names, const struct weft_model *m)
{
	struct weft_trace_thread *threads = (struct weft_trace_thread *)(uintptr_t)m->threads;
	weft__strings_trim(strings);
	for (uint32_t i = 0; i < m->thread_count; i++)
		threads[i].name = weft__strings_bytes(strings, names[i]);
}

static int by_period(const void *left, const void *right)
{
	const struct weft_loss_period *l = left, *r = right;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	return l->end < r->end ? -1 : l->end > r->end;
}

static uint64_t clamp(uint64_t time, uint64_t start, uint64_t end)
{
	return time < start ? start : time < end ? time : end;
}

/* Leaves out losses of unknown threads or causes. */
int weft__model_copy_losses(struct weft_model *m, const struct weft_trace_description *description)
{
	uint32_t count = 0;
	size_t room = description->loss_period_count + (size_t)1;
	struct weft_loss_period *periods = malloc(room * sizeof(*periods));
	m->loss_periods = periods;
	if (!periods)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < description->loss_period_count; i++) {
		struct weft_loss_period period = description->loss_periods[i];
		period.start = clamp(period.start, m->summary.start, m->summary.end);
		period.end = clamp(period.end, period.start, m->summary.end);
		if (period.thread < m->thread_count && period.cause <= WEFT_LOSS_CAUSES)
			periods[count++] = period;
	}
	if (count)
		qsort(periods, count, sizeof(*periods), by_period);
	m->loss_period_count = count;
	memcpy(m->losses, description->losses, sizeof(m->losses));
	return 0;
}

static void free_columns_of_building(struct weft_model_builder *b)
{
	struct weft__state_tasks *t = &b->state.tasks;
	free(t->forward);
	free(t->root);
	free(t->asked);
	free(t->ran_on);
	free(b->tasks.last_edge);
	free(b->tasks.remarks);
	t->forward = t->root = t->asked = t->ran_on = b->tasks.last_edge = NULL;
	b->tasks.remarks = NULL;
}

static void trim_identities(struct weft__identities *i)
{
	const struct weft__column columns[] = {
		{&i->id, sizeof(*i->id)},
		{&i->buffer, sizeof(*i->buffer)},
	};
	struct weft__ids *ids = &i->by_id;
	weft__columns_trim(columns, sizeof(columns) / sizeof(*columns), &i->capacity, i->count);
	while (ids->room && ids->table[ids->room - 1] == 0)
		ids->room--;
	(void)weft__array_resize(&ids->table, ids->room, sizeof(*ids->table));
}

static void trim_tasks(struct weft_model_builder *b)
{
	struct weft__state_tasks *t = &b->state.tasks;
	const struct weft__column of_state[] = {
#define TASK_COLUMN(name, type, first) {&t->name, sizeof(*t->name)},
#include <weft/task_columns.def>
#undef TASK_COLUMN
	};
	const struct weft__column own[] = {
		{&b->tasks.start, sizeof(*b->tasks.start)},
		{&b->tasks.end, sizeof(*b->tasks.end)},
	};
	weft__columns_trim(of_state, sizeof(of_state) / sizeof(*of_state), &t->capacity, t->count);
	weft__columns_trim(own, sizeof(own) / sizeof(*own), &b->tasks.capacity, t->count);
}

static void trim_edges(struct edge_columns *e)
{
	const struct weft__column columns[] = {
		{&e->time, sizeof(*e->time)},
		{&e->from, sizeof(*e->from)},
		{&e->to, sizeof(*e->to)},
		{&e->type, sizeof(*e->type)},
	};
	weft__columns_trim(columns, sizeof(columns) / sizeof(*columns), &e->capacity, e->count);
}

/* Passes the ownership of the columns to the model, so that the builder no longer frees them. */
static void hand_over_tasks(struct weft_model_builder *b, struct weft_tasks *to)
{
	struct weft__state_tasks *t = &b->state.tasks;
	to->count = t->count;
	to->id = b->identities.id;
	to->buffer = b->identities.buffer;
	to->start = b->tasks.start;
	to->end = b->tasks.end;
#define TASK_COLUMN(name, type, first) to->name = t->name;
#include <weft/task_columns.def>
#undef TASK_COLUMN
	*t = (struct weft__state_tasks){0};
	b->tasks = (struct task_columns){0};
	free(b->identities.lives); /* only events need it */
	b->identities = (struct weft__identities){0};
}

static void hand_over_rows(struct weft_model_builder *b, struct weft_model *m)
{
	const struct edge_columns *e = &b->edges;
	const struct activation_columns *a = &b->activations;
	const struct note_columns *n = &b->notes;
	const struct sample_columns *s = &b->samples;
	m->edges.count = e->count;
	m->edges.time = e->time;
	m->edges.from = e->from;
	m->edges.to = e->to;
	m->edges.type = e->type;
	m->edges.sent_count = e->sent_count;
	m->edges.sent = e->sent;
	m->activations = (struct weft_activations){a->count, a->start, a->end, a->thread};
	m->notes = (struct weft_notes){n->count, n->time, n->text, n->value, n->type};
	m->samples = (struct weft_samples){s->count, s->time, s->value, s->task};
	m->counters = b->counters.list;
	m->counter_count = b->counters.count;
	m->bands = b->bands.list;
	m->band_count = b->bands.count;
	m->creations = b->creations.list;
	m->creation_count = b->creations.count;
	m->dark = b->dark;
	m->dark_count = b->dark_count;
	b->dark = NULL;
	free(b->creations.start);
	free(b->samples.counter);
	b->edges = (struct edge_columns){0};
	b->activations = (struct activation_columns){0};
	b->notes = (struct note_columns){0};
	b->samples = (struct sample_columns){.is_set = b->samples.is_set};
	b->creations = (struct creation_columns){0};
	b->counters.list = NULL;
	b->bands.list = NULL;
}

/* The arguments of one half of the work. The halves share no data, so two threads may run them. */
struct freezing {
	struct weft_model_builder *builder;
	struct weft_model *model;
	int error;
};

static void freeze_first(void *context)
{
	struct freezing *f = context;
	if (f->builder->is_summary)
		return;
	compact_edges(f->builder);
	trim_edges(&f->builder->edges);
	f->error = freeze_edges(f->builder, f->model);
}

static void freeze_others(void *context)
{
	struct freezing *f = context;
	f->error = freeze_samples(f->builder);
	if (f->builder->is_summary)
		return;
	if (!f->error)
		f->error = freeze_activations(f->builder, f->model);
	if (!f->error)
		f->error = freeze_notes(f->builder, f->model);
	if (!f->error)
		f->error = weft__model_builder_freeze_spans(f->builder, f->model);
	if (!f->error)
		f->error = weft__model_builder_freeze_off_cpu(f->builder, f->model);
}

static int by_task(const void *left, const void *right)
{
	const struct weft_creation *l = left, *r = right;
	return l->task < r->task ? -1 : l->task > r->task;
}

static int freeze_all(struct weft_model_builder *b,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft_model *m, uint32_t **ret_names)
{
	struct freezing first = {b, m, 0}, others = {b, m, 0};
	free_columns_of_building(b);
	trim_tasks(b);
	trim_identities(&b->identities);
	weft__both(help, freeze_first, &first, freeze_others, &others);
	int error = first.error ? first.error : others.error;
	if (!error)
		error = copy_threads(b, description, m, ret_names);
	if (!error)
		error = weft__model_copy_losses(m, description);
	if (!error)
		error = weft__model_copy_buffers(m, description);
	return error;
}

int weft__model_builder_freeze(struct weft_model_builder *b,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft__model *model)
{
	struct weft_model *m = &model->public;
	uint32_t *thread_names = NULL;
	m->summary = b->summary;
	int error = freeze_all(b, description, help, m, &thread_names);
	if (error) {
		free(thread_names);
		return error;
	}
	if (b->creations.count)
		qsort(b->creations.list, b->creations.count, sizeof(*b->creations.list), by_task);
	if (b->bands.count)
		qsort(b->bands.list, b->bands.count, sizeof(*b->bands.list), weft__model_compare_bands);
	m->clock = description->clock;
	model->tasks_by_id = b->identities.by_id;
	hand_over_tasks(b, &m->tasks);
	hand_over_rows(b, m);
	weft__model_dark_mark_counters(m, b->known_ns);
	if (b->totals.count)
		error = weft__model_totals_apply(
			b, description, m, (int64_t *)(uintptr_t)m->samples.value, b->samples.is_set);
	model->public.kinds = b->texts.kinds;
	model->public.kind_count = (uint32_t)b->texts.kind_count;
	model->public.categories = b->texts.categories;
	model->public.category_count = (uint32_t)b->texts.category_count;
	b->texts.kinds = b->texts.categories = NULL;
	weft__model_attributes_trim(&b->texts.attributes);
	m->attributes = weft__model_attributes_show(&b->texts.attributes);
	b->texts.attributes = (struct weft__attributes){0};
	if (!error)
		error = weft__model_stacks_own(&b->stacks);
	m->stacks = weft__model_stacks_show(&b->stacks);
	b->stacks = (struct weft__stack_columns){0};
	if (!error && !b->is_summary)
		error = weft__model_code_samples_read(description, &b->texts.strings, m);
	if (!error && !b->is_summary)
		error = weft__model_histograms_read(description, &b->texts.strings, m);
	name_threads(&b->texts.strings, thread_names, m);
	free(thread_names);
	model->strings = b->texts.strings;
	b->texts.strings = (struct weft__strings){0};
	return error;
}
