/* SPDX-License-Identifier: ISC
 *
 * A model of a growing trace. It shares with the builder all that only grows: edges, ids, strings
 * and pools of grouped rows (live.h). Columns whose rows change belong to one snapshot. The memory
 * of a destroyed snapshot is used again for the next but one, where only changed rows are written;
 * so the cost of a refresh is in proportion to what is new.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "base/search.h"
#include "model/buffers.h"
#include "model/dark.h"
#include "model/live.h"

enum {
	HELD_EDGES,
	HELD_IDENTITIES,
	HELD_ATTRIBUTES,
	HELD_STACKS,
	HELD_POOLS,
	HELD = HELD_POOLS + WEFT__POOLS,
};

struct weft__snapshot {
	struct weft__spare *spare;
	uint64_t number;
	uint32_t tasks, edges; /* rows of its own columns */
	size_t task_capacity, edge_capacity;
	uint64_t *start, *end;
#define TASK_COLUMN(name, type, first) type *name;
#include <weft/task_columns.def>
#undef TASK_COLUMN
	uint32_t *first[WEFT__TASK_POOLS], *last[WEFT__TASK_POOLS]; /* as in the pools */
	uint32_t packs[WEFT__TASK_POOLS];
	uint8_t *edge_type;
	uint32_t by_outcome[WEFT_OUTCOMES]; /* the number of tasks with each */
	uint32_t created;                   /* tasks whose create event is in the trace */
	struct weft__list changed, open, dropped;
	struct weft__growth growth;
	struct weft_band_period *bands;
	size_t band_capacity;
	char *names;     /* of threads */
	int64_t *values; /* of samples, if the program said what they are; else NULL */
	struct weft__shared *held[HELD];
};

/* Releases the shared parts, and frees those that are made for each snapshot. */
static void release_parts(struct weft__model *model)
{
	struct weft__snapshot *s = model->snapshot;
	struct weft_model *m = &model->public;
	const void *made[] = {m->threads, m->presences, m->buffers, m->loss_periods, m->dark,
		m->counters, m->creations, m->spans.first, m->spans.last, m->spans.open, m->kinds,
		m->categories, m->off_cpu.first, m->off_cpu.last};
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		free((void *)(uintptr_t)made[i]);
	for (unsigned i = 0; i < HELD; i++)
		weft__shared_release(s->held[i]);
	memset(s->held, 0, sizeof(s->held));
	weft__strings_finish(&model->strings);
	free(s->names);
	free(s->values);
	s->names = NULL;
	s->values = NULL;
	*m = (struct weft_model){.summary.live = true};
}

static void free_snapshot(struct weft__model *model)
{
	struct weft__snapshot *s = model->snapshot;
	release_parts(model);
	void *columns[] = {
#define TASK_COLUMN(name, type, first) s->name,
#include <weft/task_columns.def>
#undef TASK_COLUMN
		s->start, s->end, s->edge_type, s->changed.items, s->open.items, s->dropped.items,
		s->bands};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
	for (unsigned i = 0; i < WEFT__TASK_POOLS; i++) {
		free(s->first[i]);
		free(s->last[i]);
	}
	weft__model_spare_release(s->spare);
	free(s);
	free(model);
}

void weft__model_snapshot_destroy(struct weft__model *model)
{
	release_parts(model);
	struct weft__model *other = weft__model_spare_put(model->snapshot->spare, model);
	if (other)
		free_snapshot(other);
}

static struct weft__model *create_snapshot(struct weft__spare *spare)
{
	struct weft__model *model = calloc(1, sizeof(*model));
	struct weft__snapshot *s = calloc(1, sizeof(*s));
	if (!model || !s) {
		free(model);
		free(s);
		return NULL;
	}
	s->spare = weft__model_spare_hold(spare);
	model->snapshot = s;
	return model;
}

static int reserve(struct weft__snapshot *s, const struct weft_model_builder *b)
{
	const struct weft__column tasks[] = {
		{&s->start, sizeof(*s->start)},
		{&s->end, sizeof(*s->end)},
#define TASK_COLUMN(name, type, first) {&s->name, sizeof(*s->name)},
#include <weft/task_columns.def>
#undef TASK_COLUMN
		{&s->first[0], sizeof(uint32_t)},
		{&s->first[1], sizeof(uint32_t)},
		{&s->first[2], sizeof(uint32_t)},
		{&s->last[0], sizeof(uint32_t)},
		{&s->last[1], sizeof(uint32_t)},
		{&s->last[2], sizeof(uint32_t)},
	};
	const struct weft__column type = {&s->edge_type, sizeof(*s->edge_type)};
	_Static_assert(WEFT__TASK_POOLS == 3, "two columns for each pool of tasks");
	int error = weft__columns_reserve(
		tasks, sizeof(tasks) / sizeof(*tasks), &s->task_capacity, b->state.tasks.count + (size_t)1);
	if (error)
		return error;
	return weft__columns_reserve(&type, 1, &s->edge_capacity, b->edges.count + (size_t)1);
}

/* ---- Tasks ---- */

static bool is_before(const void *context, uint32_t row, uint64_t task)
{
	const struct weft__rundown_creation *creations = context;
	return creations[row].creation.task < task;
}

/* A task without a create event starts with the trace, or at the time that a rundown gives. */
static uint64_t start_of(const struct weft_model_builder *b, uint32_t task)
{
	const struct weft__live *live = b->live;
	uint8_t flags = b->state.tasks.flags[task];
	if (flags & WEFT_TASK_CREATED)
		return b->tasks.start[task];
	if (!(flags & WEFT_TASK_FROM_RUNDOWN))
		return b->state.start;
	uint32_t i = weft__search(live->creations, 0, live->creation_count, is_before, task);
	bool is_known = i < live->creation_count && live->creations[i].creation.task == task;
	return is_known ? live->creations[i].start : b->state.start;
}

static void write_task(struct weft__snapshot *s, const struct weft_model_builder *b, uint32_t task)
{
	const struct weft__state_tasks *t = &b->state.tasks;
	const uint8_t temporary = WEFT__TASK_WAITS | WEFT__TASK_ASKED;
	s->start[task] = start_of(b, task);
	s->end[task] = b->tasks.end[task];
#define TASK_COLUMN(name, type, first) s->name[task] = t->name[task];
#include <weft/task_columns.def>
#undef TASK_COLUMN
	s->flags[task] =
		(uint8_t)((t->flags[task] & ~temporary) | (b->tasks.remarks[task] & TASK_NOTED));
	for (unsigned i = 0; i < WEFT__TASK_POOLS; i++) {
		s->first[i][task] = b->live->pools[i].first[task];
		s->last[i][task] = b->live->pools[i].end[task];
	}
	s->by_outcome[s->outcome[task]]++;
	s->created += (s->flags[task] & WEFT_TASK_CREATED) != 0;
}

static void rewrite_tasks(
	struct weft__snapshot *s, const struct weft_model_builder *b, const struct weft__list *tasks)
{
	for (uint32_t i = 0; i < tasks->count && tasks->items[i] < s->tasks; i++) {
		uint32_t task = tasks->items[i];
		s->by_outcome[s->outcome[task]]--;
		s->created -= (s->flags[task] & WEFT_TASK_CREATED) != 0;
		write_task(s, b, task);
	}
}

/* Copies the positions of all groups from pools that were packed since the snapshot. */
static void copy_positions(struct weft__snapshot *s, const struct weft__live *live)
{
	for (unsigned i = 0; i < WEFT__TASK_POOLS; i++) {
		const struct weft__pool *pool = &live->pools[i];
		if (s->packs[i] != pool->packs && s->tasks) {
			memcpy(s->first[i], pool->first, s->tasks * sizeof(*pool->first));
			memcpy(s->last[i], pool->end, s->tasks * sizeof(*pool->end));
		}
		s->packs[i] = pool->packs;
	}
}

/* True if only the tasks and edges in the lists have changed since the snapshot. */
static bool is_recent(const struct weft__snapshot *s, const struct weft__live *live)
{
	return s->number && s->number + 1 >= live->number;
}

static void write_tasks(struct weft__snapshot *s, const struct weft_model_builder *b)
{
	const struct weft__live *live = b->live;
	copy_positions(s, live);
	rewrite_tasks(s, b, &live->changed_before);
	rewrite_tasks(s, b, &live->changed);
	for (; s->tasks < b->state.tasks.count; s->tasks++)
		write_task(s, b, s->tasks);
	for (uint32_t i = 0; i < live->open.count; i++)
		s->end[live->open.items[i]] = live->now;
}

static void drop_edges(struct weft__snapshot *s, const struct weft__list *dropped)
{
	for (uint32_t i = 0; i < dropped->count; i++)
		s->edge_type[dropped->items[i]] = WEFT_EDGE_DROPPED;
}

static void write_edges(struct weft__snapshot *s, const struct weft_model_builder *b)
{
	uint32_t more = b->edges.count - s->edges;
	if (more)
		memcpy(s->edge_type + s->edges, b->edges.type + s->edges, more);
	s->edges = b->edges.count;
	drop_edges(s, &b->live->dropped_before);
	drop_edges(s, &b->live->dropped);
}

/* ---- Activations that reach the present ---- */

/* Copies the activations of running tasks, and appends those that have not ended. */
static void write_going(struct weft__snapshot *s, struct weft__live *live)
{
	struct weft__pool *pool = &live->pools[WEFT__POOL_ACTIVATIONS];
	uint32_t *first = s->first[WEFT__POOL_ACTIVATIONS], *last = s->last[WEFT__POOL_ACTIVATIONS];
	for (uint32_t i = 0; i < live->going_count; i++)
		pool->need[live->going[i].task]++;
	for (uint32_t i = 0; i < live->going_count; i++) {
		const struct weft__going *going = &live->going[i];
		uint32_t task = going->task;
		if (pool->need[task]) {
			first[task] = weft__model_pool_copy_group(pool, task, pool->need[task]);
			last[task] = first[task] + pool->end[task] - pool->first[task];
			pool->need[task] = 0;
		}
		uint32_t row = last[task]++;
		((uint64_t *)pool->column[0])[row] = going->start;
		((uint64_t *)pool->column[1])[row] = going->end;
		((uint32_t *)pool->column[2])[row] = going->thread;
	}
}

/* ---- The public model ---- */

static void show_tasks(
	struct weft__snapshot *s, const struct weft_model_builder *b, struct weft_tasks *to)
{
	*to = (struct weft_tasks){
		.count = s->tasks,
		.id = b->identities.id,
		.buffer = b->identities.buffer,
		.start = s->start,
		.end = s->end,
#define TASK_COLUMN(name, type, first) .name = s->name,
#include <weft/task_columns.def>
#undef TASK_COLUMN
		.first_edge = s->first[WEFT__POOL_ACTS],
		.end_edge = s->last[WEFT__POOL_ACTS],
		.first_note = s->first[WEFT__POOL_NOTES],
		.end_note = s->last[WEFT__POOL_NOTES],
		.first_activation = s->first[WEFT__POOL_ACTIVATIONS],
		.end_activation = s->last[WEFT__POOL_ACTIVATIONS],
	};
}

static void show_rows(
	struct weft__snapshot *s, const struct weft_model_builder *b, struct weft_model *m)
{
	const struct weft__pool *pools = b->live->pools;
	const struct weft__pool *a = &pools[WEFT__POOL_ACTIVATIONS], *n = &pools[WEFT__POOL_NOTES];
	const struct weft__pool *acts = &pools[WEFT__POOL_ACTS], *p = &pools[WEFT__POOL_SAMPLES];
	const struct edge_columns *e = &b->edges;
	m->edges = (struct weft_edges){
		e->count, e->time, e->from, e->to, s->edge_type, acts->rows, acts->column[0], 0, NULL};
	m->activations = (struct weft_activations){
		a->rows + b->live->going_count, a->column[0], a->column[1], a->column[2]};
	m->notes = (struct weft_notes){n->rows, n->column[0], n->column[2], n->column[1], n->column[3]};
	m->attributes = weft__model_attributes_show(&b->texts.attributes);
	m->stacks = weft__model_stacks_show(&b->stacks);
	m->samples = (struct weft_samples){p->rows, p->column[0], p->column[1], p->column[2]};
}

static int hold_shared(struct weft__model *model, struct weft_model_builder *b)
{
	struct weft__shared **held = model->snapshot->held;
	held[HELD_EDGES] = weft__model_builder_hold_edges(&b->edges);
	held[HELD_IDENTITIES] = weft__model_identities_hold(&b->identities);
	held[HELD_ATTRIBUTES] = weft__model_attributes_hold(&b->texts.attributes);
	held[HELD_STACKS] = weft__model_stacks_hold(&b->stacks);
	for (unsigned i = 0; i < WEFT__POOLS; i++)
		held[HELD_POOLS + i] = weft__model_pool_hold(&b->live->pools[i]);
	for (unsigned i = 0; i < HELD; i++)
		if (!held[i])
			return WEFT_ERROR_MEMORY;
	return weft__strings_view(&b->texts.strings, &model->strings);
}

static int copy_counters(const struct weft_model_builder *b, struct weft_model *m)
{
	const uint32_t *first = b->live->pools[WEFT__POOL_SAMPLES].first;
	uint32_t count = b->counters.count;
	struct weft_counter *list = malloc((count + (size_t)1) * sizeof(*list));
	m->counters = list;
	if (!list)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		list[i] = b->counters.list[i];
		list[i].first = first[i];
	}
	m->counter_count = count;
	return 0;
}

static const uint32_t *copy_names(const uint32_t *names, size_t count)
{
	uint32_t *copy = malloc((count + 1) * sizeof(*copy));
	if (copy && count)
		memcpy(copy, names, count * sizeof(*copy));
	return copy;
}

static int copy_kinds_and_categories(const struct weft_model_builder *b, struct weft_model *m)
{
	m->kinds = copy_names(b->texts.kinds, b->texts.kind_count);
	m->categories = copy_names(b->texts.categories, b->texts.category_count);
	m->kind_count = (uint32_t)b->texts.kind_count;
	m->category_count = (uint32_t)b->texts.category_count;
	return m->kinds && m->categories ? 0 : WEFT_ERROR_MEMORY;
}

static int copy_creations(const struct weft_model_builder *b, struct weft_model *m)
{
	uint32_t count = b->live->creation_count;
	struct weft_creation *list = malloc((count + (size_t)1) * sizeof(*list));
	m->creations = list;
	if (!list)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		list[i] = b->live->creations[i].creation;
	m->creation_count = count;
	return 0;
}

static int copy_bands(
	struct weft__snapshot *s, const struct weft_model_builder *b, struct weft_model *m)
{
	const struct weft__live *live = b->live;
	const struct weft__column column = {&s->bands, sizeof(*s->bands)};
	int error = weft__columns_reserve(
		&column, 1, &s->band_capacity, b->bands.count + (size_t)live->going_band_count);
	if (error)
		return error;
	if (b->bands.count)
		memcpy(s->bands, b->bands.list, b->bands.count * sizeof(*s->bands));
	weft__model_bands_merge(s->bands, b->bands.count, live->going_bands, live->going_band_count);
	m->bands = s->bands;
	m->band_count = b->bands.count + live->going_band_count;
	return 0;
}

/* Appends a name to `names`, or only counts its bytes if that is NULL. */
static const char *put_name(char *names, size_t *size, const char *name)
{
	size_t bytes = strlen(name ? name : "") + 1;
	char *to = names ? names + *size : NULL;
	if (to)
		memcpy(to, name ? name : "", bytes);
	*size += bytes;
	return to;
}

static int copy_threads(struct weft__snapshot *s, const struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model *m)
{
	uint32_t known = description->thread_count, count = b->state.thread_count;
	count = known > count ? known : count;
	struct weft_trace_thread *threads = calloc(count + (size_t)1, sizeof(*threads));
	m->threads = threads;
	if (!threads)
		return WEFT_ERROR_MEMORY;
	if (known)
		memcpy(threads, description->threads, known * sizeof(*threads));
	for (unsigned pass = 0; pass < 2; pass++) {
		size_t size = 0;
		for (uint32_t i = 0; i < count; i++) {
			const struct weft_trace_thread t =
				i < known ? description->threads[i] : (struct weft_trace_thread){0};
			threads[i].name = put_name(s->names, &size, t.name);
		}
		if (!s->names && !(s->names = malloc(size + 1)))
			return WEFT_ERROR_MEMORY;
	}
	m->thread_count = count;
	return 0;
}

/* The builder's list lacks activations and bands that have not ended. */
static int copy_presences(const struct weft_model_builder *b, struct weft_model *m)
{
	const struct weft__live *live = b->live;
	struct weft_presence *presences = weft__model_presences_copy(&b->presences, m->thread_count);
	m->presences = presences;
	if (!presences)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < live->going_count; i++)
		weft__model_presence_widen(
			&presences[live->going[i].thread], live->going[i].start, live->going[i].end);
	for (uint32_t i = 0; i < live->going_band_count; i++)
		weft__model_presence_widen(&presences[live->going_bands[i].thread],
			live->going_bands[i].start, live->going_bands[i].end);
	return 0;
}

static int copy_list(const struct weft__list *from, struct weft__list *to)
{
	to->count = 0;
	int error = weft__model_list_reserve(to, from->count);
	if (!error && from->count)
		memcpy(to->items, from->items, from->count * sizeof(*to->items));
	to->count = error ? 0 : from->count;
	return error;
}

static int copy_growth(struct weft__snapshot *s, const struct weft__live *live)
{
	uint32_t packs = 0;
	int error = copy_list(&live->changed, &s->changed);
	if (!error)
		error = copy_list(&live->open, &s->open);
	if (!error)
		error = copy_list(&live->dropped, &s->dropped);
	for (unsigned i = 0; i < WEFT__TASK_POOLS; i++)
		packs += live->pools[i].packs;
	s->growth = (struct weft__growth){
		.tasks = live->tasks,
		.edges = live->edges,
		.changed = s->changed.items,
		.changed_count = s->changed.count,
		.open = s->open.items,
		.open_count = s->open.count,
		.dropped = s->dropped.items,
		.dropped_count = s->dropped.count,
		.moved = packs != live->packs,
		.last_ns = live->last_ns,
	};
	return error;
}

static void summarize(const struct weft__snapshot *s, const struct weft_model_builder *b,
	struct weft_model_summary *summary)
{
	const struct weft__live *live = b->live;
	*summary = b->summary;
	summary->live = true;
	summary->events = b->state.events;
	summary->start = b->state.start;
	summary->last = b->state.now;
	summary->end = live->now;
	memcpy(summary->by_outcome, s->by_outcome, sizeof(summary->by_outcome));
	summary->preexisting = s->tasks - s->created;
	for (uint32_t i = 0; i < live->creation_count; i++) {
		const struct weft_creation *c = &live->creations[i].creation;
		bool is_created = s->flags[c->task] & WEFT_TASK_CREATED;
		summary->preexisting -= !is_created && c->time >= b->state.start;
	}
	weft__model_builder_count_tracks(b, s->outcome, summary);
}

static int copy_dark(struct weft_model *m, const struct weft_trace_description *description)
{
	struct weft__dark dark;
	int error =
		weft__model_dark_find(description, NULL, m->summary.start, m->summary.end, NULL, &dark);
	if (error)
		return error;
	m->dark = dark.list;
	m->dark_count = dark.count;
	weft__model_dark_mark_counters(m, 0);
	return 0;
}

/* The shared values are what the trace's changes give; each snapshot may know more of their offset.
 */
static int correct_counters(struct weft__snapshot *s, const struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model *m)
{
	const struct weft__pool *samples = &b->live->pools[WEFT__POOL_SAMPLES];
	const size_t bytes = samples->used * sizeof(*s->values);
	if (!b->totals.count)
		return 0;
	s->values = malloc(bytes ? bytes : 1);
	if (!s->values)
		return WEFT_ERROR_MEMORY;
	memcpy(s->values, samples->column[1], bytes);
	m->samples.value = s->values;
	return weft__model_totals_apply(b, description, m, s->values, samples->column[3]);
}

static int fill(struct weft__model *model, struct weft_model_builder *b,
	const struct weft_trace_description *description)
{
	struct weft__snapshot *s = model->snapshot;
	struct weft_model *m = &model->public;
	int error = reserve(s, b);
	if (!error)
		error = weft__model_builder_name_threads(b, description);
	if (!error)
		error = hold_shared(model, b);
	if (!error)
		error = copy_counters(b, m);
	if (!error)
		error = copy_creations(b, m);
	if (!error)
		error = copy_kinds_and_categories(b, m);
	if (!error)
		error = copy_bands(s, b, m);
	if (!error)
		error = weft__model_builder_show_spans(b, m);
	if (!error)
		error = weft__model_builder_show_off_cpu(b, m);
	if (!error)
		error = copy_threads(s, b, description, m);
	if (!error)
		error = copy_presences(b, m);
	if (!error)
		error = copy_growth(s, b->live);
	if (error)
		return error;
	write_tasks(s, b);
	weft__model_builder_name_tracks(b, s->tasks, s->kind, s->label);
	write_edges(s, b);
	write_going(s, b->live);
	show_tasks(s, b, &m->tasks);
	show_rows(s, b, m);
	summarize(s, b, &m->summary);
	m->clock = description->clock;
	error = weft__model_copy_buffers(m, description);
	if (!error)
		error = weft__model_copy_losses(m, description);
	if (!error)
		error = copy_dark(m, description);
	return error ? error : correct_counters(s, b, description, m);
}

/* Makes a snapshot once weft__model_live_update() has succeeded. */
static int make(struct weft_model_builder *b, const struct weft_trace_description *description,
	struct weft_model **ret_model)
{
	struct weft__live *live = b->live;
	struct weft__model *model = weft__model_spare_take(live->spare);
	if (model && !is_recent(model->snapshot, live)) {
		free_snapshot(model);
		model = NULL;
	}
	if (!model)
		model = create_snapshot(live->spare);
	if (!model)
		return WEFT_ERROR_MEMORY;
	int error = fill(model, b, description);
	if (error) {
		free_snapshot(model);
		return error;
	}
	weft__model_live_commit(b);
	model->snapshot->number = live->number;
	*ret_model = &model->public;
	return 0;
}

/* The time at which the snapshot ends: `now_ns`, but not before the last event, and not after the
 * end of the longest possible trace. */
static uint64_t present(const struct weft__state *state, uint64_t now_ns)
{
	uint64_t last_ns = weft__ns_add(state->start, WEFT__SPAN_NS);
	if (now_ns > last_ns)
		now_ns = last_ns;
	return state->has_begun && now_ns > state->now ? now_ns : state->now;
}

WEFT__EXPORT int weft_model_builder_snapshot(struct weft_model_builder *b,
	const struct weft_trace_description *description, uint64_t now_ns,
	struct weft_model **ret_model)
{
	int error = b->live ? 0 : weft__model_live_create(&b->live);
	if (error)
		return error;
	error = weft__model_live_update(b, present(&b->state, now_ns));
	if (!error)
		error = make(b, description, ret_model);
	if (error) {
		/* The shared parts may be incomplete, so the next snapshot makes them again. */
		weft__model_live_destroy(b->live);
		b->live = NULL;
	}
	return error;
}

const struct weft__growth *weft__model_own_growth(const struct weft_model *snapshot)
{
	return &((const struct weft__model *)snapshot)->snapshot->growth;
}

const struct weft__growth *weft__model_growth(
	const struct weft_model *model, const struct weft_model *former)
{
	if (!model->summary.live || !former->summary.live)
		return NULL;
	const struct weft__snapshot *s = ((const struct weft__model *)model)->snapshot;
	const struct weft__snapshot *f = ((const struct weft__model *)former)->snapshot;
	return s->spare == f->spare && s->number == f->number + 1 ? &s->growth : NULL;
}
