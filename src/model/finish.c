/* SPDX-License-Identifier: ISC
 *
 * The end of a trace: tasks without an end get one, rows are grouped by what they belong to, and
 * the builder's columns become the model's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/both.h"
#include "base/export.h"
#include "model/builder.h"

/* An unfinished task is drawn this much past the last that is known of it. */
static const uint64_t UNFINISHED_NS = 1000;

/* What has not ended reaches now. */
static void end_live_tasks(struct weft_model_builder *b)
{
	struct task_columns *t = &b->tasks;
	for (uint32_t task = 0; task < t->count; task++) {
		t->flags[task] &= (uint8_t)~TASK_HELD_EDGE;
		if (!(t->flags[task] & WEFT_TASK_CREATED))
			t->start[task] = b->summary.start;
		if (!(t->flags[task] & WEFT_TASK_RESOLVED))
			t->end[task] = b->now;
	}
}

static int end_tasks(struct weft_model_builder *b)
{
	struct task_columns *t = &b->tasks;
	static const char never[] = "never resolved";
	uint32_t message;
	int error = weft__strings_intern(&b->strings, never, sizeof(never) - 1, &message);
	for (uint32_t task = 0; task < t->count; task++) {
		t->flags[task] &= (uint8_t)~TASK_HELD_EDGE;
		if (!(t->flags[task] & WEFT_TASK_CREATED))
			t->start[task] = b->summary.start;
		if (t->flags[task] & WEFT_TASK_RESOLVED)
			continue;
		if (t->flags[task] & WEFT_TASK_EXPECTED) {
			t->flags[task] |= WEFT_TASK_FAILED | WEFT_TASK_NEVER_RESOLVED;
			t->message[task] = message;
			t->end[task] = b->now;
		} else {
			uint64_t last = t->end[task] > t->start[task] ? t->end[task] : t->start[task];
			t->end[task] = weft__ns_add(last, UNFINISHED_NS);
		}
	}
	return error;
}

/* Tasks that a rundown told of start when they were created, if the trace had begun. */
static void start_told(struct weft_model_builder *b)
{
	for (uint32_t i = 0; i < b->creations.count; i++) {
		uint32_t task = b->creations.list[i].task;
		if (!(b->tasks.flags[task] & WEFT_TASK_CREATED))
			b->tasks.start[task] = b->creations.start[i];
	}
}

static int by_task(const void *left, const void *right)
{
	const struct weft_creation *l = left, *r = right;
	return l->task < r->task ? -1 : l->task > r->task;
}

static void count_preexisting(struct weft_model_builder *b)
{
	for (uint32_t task = 0; task < b->tasks.count; task++)
		b->summary.preexisting += !(b->tasks.flags[task] & WEFT_TASK_CREATED);
	for (uint32_t i = 0; i < b->creations.count; i++) {
		bool is_created = b->tasks.flags[b->creations.list[i].task] & WEFT_TASK_CREATED;
		b->summary.preexisting -= !is_created && b->creations.list[i].time >= b->summary.start;
	}
}

static void count_outcomes(struct weft_model_builder *b)
{
	const struct task_columns *t = &b->tasks;
	struct weft_model_summary *s = &b->summary;
	for (uint32_t task = 0; task < t->count; task++) {
		if (t->becomes[task] != WEFT_NONE)
			s->became++;
		else if (t->flags[task] & WEFT_TASK_NEVER_RESOLVED)
			s->never_resolved++;
		else if (t->flags[task] & WEFT_TASK_FAILED)
			s->failed++;
		else if (t->flags[task] & WEFT_TASK_RESOLVED)
			s->fulfilled++;
		else
			s->unfinished++;
	}
}

/* Takes dropped edges out. */
static void compact_edges(struct weft_model_builder *b)
{
	struct edge_columns *e = &b->edges;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < e->count; i++) {
		if (e->type[i] == EDGE_DROPPED)
			continue;
		e->time[kept] = e->time[i];
		e->from[kept] = e->from[i];
		e->to[kept] = e->to[i];
		e->type[kept] = e->type[i];
		kept++;
	}
	e->count = kept;
}

/* The task that holds edge i, or WEFT_NONE. */
static uint32_t actor_of(const struct edge_columns *e, uint32_t i)
{
	bool held = e->type[i] != WEFT_EDGE_CREATE && e->type[i] != WEFT_EDGE_BECOME;
	return held ? e->from[i] : WEFT_NONE;
}

/* A counting sort like weft__group_by's, without its column of positions: there are many edges, and
 * this is where a model is largest. */
static int freeze_edges(struct weft_model_builder *b, struct weft_model *m)
{
	const struct edge_columns *e = &b->edges;
	uint32_t tasks = b->tasks.count, *by_actor;
	uint32_t *first = calloc(tasks + (size_t)1, sizeof(*first));
	if (!first)
		return WEFT_ERROR_MEMORY;
	m->tasks.first_edge = first;
	for (uint32_t i = 0; i < e->count; i++)
		if (actor_of(e, i) != WEFT_NONE)
			first[actor_of(e, i) + 1]++;
	for (uint32_t task = 0; task < tasks; task++)
		first[task + 1] += first[task];
	m->edges.by_actor_count = first[tasks];
	by_actor = malloc((first[tasks] + (size_t)1) * sizeof(*by_actor));
	if (!by_actor)
		return WEFT_ERROR_MEMORY;
	m->edges.by_actor = by_actor;
	for (uint32_t i = 0; i < e->count; i++)
		if (actor_of(e, i) != WEFT_NONE)
			by_actor[first[actor_of(e, i)]++] = i;
	memmove(first + 1, first, tasks * sizeof(*first));
	first[0] = 0;
	return 0;
}

static int freeze_activations(struct weft_model_builder *b, struct weft_model *m)
{
	struct activation_columns *a = &b->activations;
	uint32_t *first, *position;
	int error = weft__group_by(a->task, a->count, b->tasks.count, &first, &position);
	if (error)
		return error;
	m->tasks.first_activation = first;
	free(a->task); /* the groups say it */
	a->task = NULL;
	if (weft__group_scatter(&a->start, sizeof(*a->start), a->count, position) ||
		weft__group_scatter(&a->end, sizeof(*a->end), a->count, position) ||
		weft__group_scatter(&a->thread, sizeof(*a->thread), a->count, position))
		error = WEFT_ERROR_MEMORY;
	free(position);
	return error;
}

static int freeze_notes(struct weft_model_builder *b, struct weft_model *m)
{
	struct note_columns *n = &b->notes;
	uint32_t *first, *position;
	int error = weft__group_by(n->task, n->count, b->tasks.count, &first, &position);
	if (error)
		return error;
	m->tasks.first_note = first;
	free(n->task); /* the groups say it */
	n->task = NULL;
	if (weft__group_scatter(&n->time, sizeof(*n->time), n->count, position) ||
		weft__group_scatter(&n->value, sizeof(*n->value), n->count, position) ||
		weft__group_scatter(&n->text, sizeof(*n->text), n->count, position) ||
		weft__group_scatter(&n->type, sizeof(*n->type), n->count, position))
		error = WEFT_ERROR_MEMORY;
	free(position);
	return error;
}

static int freeze_samples(struct weft_model_builder *b)
{
	struct sample_columns *s = &b->samples;
	uint32_t *first, *position;
	int error = weft__group_by(s->counter, s->count, b->counters.count, &first, &position);
	if (error)
		return error;
	for (uint32_t c = 0; c < b->counters.count; c++)
		b->counters.list[c].first = first[c];
	if (weft__group_scatter(&s->time, sizeof(*s->time), s->count, position) ||
		weft__group_scatter(&s->value, sizeof(*s->value), s->count, position) ||
		weft__group_scatter(&s->task, sizeof(*s->task), s->count, position))
		error = WEFT_ERROR_MEMORY;
	free(first);
	free(position);
	return error;
}

static int by_start(const void *left, const void *right)
{
	const struct weft_band_period *l = left, *r = right;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return l->thread < r->thread ? -1 : l->thread > r->thread;
}

struct thread_names {
	uint32_t name, process;
};

static int intern_text(struct weft_model_builder *b, const char *text, uint32_t *ret_string)
{
	return weft__strings_intern(&b->strings, text ? text : "", text ? strlen(text) : 0, ret_string);
}

/* Interns every name before pointing to any: interning moves strings. */
static int copy_threads(struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model *m)
{
	uint32_t count =
		description->thread_count > b->thread_count ? description->thread_count : b->thread_count;
	struct thread_names *names = calloc(count + (size_t)1, sizeof(*names));
	struct weft_trace_thread *threads = calloc(count + (size_t)1, sizeof(*threads));
	int error = names && threads ? 0 : WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; !error && i < count; i++) {
		if (i < description->thread_count)
			threads[i] = description->threads[i];
		error = intern_text(b, threads[i].name, &names[i].name);
		if (!error)
			error = intern_text(b, threads[i].process, &names[i].process);
	}
	weft__strings_trim(&b->strings); /* the last time that strings move */
	for (uint32_t i = 0; !error && i < count; i++) {
		threads[i].name = weft__strings_bytes(&b->strings, names[i].name);
		threads[i].process = weft__strings_bytes(&b->strings, names[i].process);
	}
	free(names);
	m->threads = threads;
	m->thread_count = count;
	return error;
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

/* Losses are nowhere else than in the trace. */
static int copy_losses(const struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model *m)
{
	uint32_t count = 0;
	size_t room = description->loss_period_count + (size_t)1;
	struct weft_loss_period *periods = malloc(room * sizeof(*periods));
	m->loss_periods = periods;
	if (!periods)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < description->loss_period_count; i++) {
		struct weft_loss_period period = description->loss_periods[i];
		period.start = clamp(period.start, b->summary.start, b->summary.end);
		period.end = clamp(period.end, period.start, b->summary.end);
		if (period.thread < m->thread_count && period.cause <= WEFT_LOSS_CAUSES)
			periods[count++] = period;
	}
	if (count)
		qsort(periods, count, sizeof(*periods), by_period);
	m->loss_period_count = count;
	memcpy(m->losses, description->losses, sizeof(m->losses));
	return 0;
}

static void free_columns_of_building(struct task_columns *t)
{
	free(t->forward);
	free(t->root);
	free(t->last_edge);
	t->forward = t->root = t->last_edge = NULL;
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

static void trim_tasks(struct task_columns *t)
{
	const struct weft__column columns[] = {
		{&t->start, sizeof(*t->start)},
		{&t->end, sizeof(*t->end)},
		{&t->parent, sizeof(*t->parent)},
		{&t->becomes, sizeof(*t->becomes)},
		{&t->label, sizeof(*t->label)},
		{&t->message, sizeof(*t->message)},
		{&t->kind, sizeof(*t->kind)},
		{&t->flags, sizeof(*t->flags)},
	};
	weft__columns_trim(columns, sizeof(columns) / sizeof(*columns), &t->capacity, t->count);
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

/* The columns change hands: the builder forgets what the model now owns. */
static void hand_over_tasks(struct weft_model_builder *b, struct weft_tasks *to)
{
	struct task_columns *t = &b->tasks;
	to->count = t->count;
	to->id = b->identities.id;
	to->buffer = b->identities.buffer;
	to->start = t->start;
	to->end = t->end;
	to->parent = t->parent;
	to->becomes = t->becomes;
	to->label = t->label;
	to->message = t->message;
	to->kind = t->kind;
	to->flags = t->flags;
	*t = (struct task_columns){0};
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
	m->activations = (struct weft_activations){a->count, a->start, a->end, a->thread};
	m->notes = (struct weft_notes){n->count, n->time, n->text, n->value, n->type};
	m->samples = (struct weft_samples){s->count, s->time, s->value, s->task};
	m->counters = b->counters.list;
	m->counter_count = b->counters.count;
	m->bands = b->bands.list;
	m->band_count = b->bands.count;
	m->creations = b->creations.list;
	m->creation_count = b->creations.count;
	free(b->creations.start);
	free(b->samples.counter);
	b->edges = (struct edge_columns){0};
	b->activations = (struct activation_columns){0};
	b->notes = (struct note_columns){0};
	b->samples = (struct sample_columns){0};
	b->creations = (struct creation_columns){0};
	b->counters.list = NULL;
	b->bands.list = NULL;
}

/* Two halves of the rows that touch nothing of each other's. */
struct freezing {
	struct weft_model_builder *builder;
	struct weft_model *model;
	int error;
};

static void freeze_first(void *context)
{
	struct freezing *f = context;
	compact_edges(f->builder);
	trim_edges(&f->builder->edges);
	f->error = freeze_edges(f->builder, f->model);
}

static void freeze_others(void *context)
{
	struct freezing *f = context;
	f->error = freeze_activations(f->builder, f->model);
	if (!f->error)
		f->error = freeze_notes(f->builder, f->model);
	if (!f->error)
		f->error = freeze_samples(f->builder);
}

static int freeze_tasks(struct weft_model_builder *b)
{
	/* Facts of events that were not taken in any more have named some. */
	int error = weft__identities_cut(&b->identities, b->tasks.count);
	if (!error)
		error = weft__threads_close(b);
	if (!error && b->summary.live)
		end_live_tasks(b);
	else if (!error)
		error = end_tasks(b);
	if (error)
		return error;
	start_told(b);
	count_preexisting(b);
	count_outcomes(b);
	free_columns_of_building(&b->tasks);
	trim_tasks(&b->tasks);
	trim_identities(&b->identities);
	return 0;
}

/* Every step but handing over; what was made in `m` by then is freed with it. */
static int freeze(struct weft_model_builder *b, const struct weft_trace_description *description,
	const struct weft_help *help, struct weft_model *m)
{
	struct freezing first = {b, m, 0}, others = {b, m, 0};
	int error = freeze_tasks(b);
	if (error)
		return error;
	weft__both(help, freeze_first, &first, freeze_others, &others);
	error = first.error ? first.error : others.error;
	if (!error)
		error = copy_threads(b, description, m);
	if (!error)
		error = copy_losses(b, description, m);
	return error;
}

int weft__model_finish(struct weft_model_builder *b,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft_model **ret_model)
{
	struct weft__model *model = calloc(1, sizeof(*model));
	if (!model)
		return WEFT_ERROR_MEMORY;
	struct weft_model *m = &model->public;
	int error = freeze(b, description, help, m);
	if (error) {
		weft_model_destroy(m);
		return error;
	}
	if (b->creations.count)
		qsort(b->creations.list, b->creations.count, sizeof(*b->creations.list), by_task);
	if (b->bands.count)
		qsort(b->bands.list, b->bands.count, sizeof(*b->bands.list), by_start);
	m->summary = b->summary;
	m->clock = description->clock;
	model->tasks_by_id = b->identities.by_id;
	hand_over_tasks(b, &m->tasks);
	hand_over_rows(b, m);
	model->strings = b->strings;
	b->strings = (struct weft__strings){0};
	*ret_model = m;
	return 0;
}

WEFT__EXPORT int weft_model_builder_finish(struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model **ret_model)
{
	return weft__model_finish(b, description, NULL, ret_model);
}

static void free_tasks(struct task_columns *t)
{
	void *columns[] = {t->start, t->end, t->parent, t->becomes, t->forward, t->root, t->label,
		t->message, t->last_edge, t->kind, t->flags};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
}

WEFT__EXPORT void weft_model_builder_destroy(struct weft_model_builder *b)
{
	if (!b)
		return;
	free_tasks(&b->tasks);
	void *columns[] = {b->edges.time, b->edges.from, b->edges.to, b->edges.type,
		b->activations.start, b->activations.end, b->activations.thread, b->activations.task,
		b->notes.time, b->notes.value, b->notes.task, b->notes.text, b->notes.type, b->samples.time,
		b->samples.value, b->samples.task, b->samples.counter, b->counters.list, b->counters.last,
		b->counters.by_name, b->bands.list, b->threads, b->scratch, b->creations.list,
		b->creations.start};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
	weft__identities_finish(&b->identities);
	weft__strings_finish(&b->strings);
	free(b);
}
