/* SPDX-License-Identifier: ISC
 *
 * Keeps the pools and lists of a growing trace up to date. Each function takes the rows that came
 * since its last call, so a refresh costs what is new.
 */
#include "model/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const size_t ACTIVATION_BYTES[] = {8, 8, 4}, NOTE_BYTES[] = {8, 8, 4, 1};
static const size_t ACT_BYTES[] = {4}, SAMPLE_BYTES[] = {8, 8, 4, 1}, SPAN_BYTES[] = {8, 8, 4, 1};
static const size_t OFF_CPU_BYTES[] = {8, 8, 8, 4};

int weft__model_live_create(struct weft__live **ret_live)
{
	struct weft__live *live = calloc(1, sizeof(*live));
	if (!live)
		return WEFT_ERROR_MEMORY;
	if (weft__model_spare_create(&live->spare)) {
		free(live);
		return WEFT_ERROR_MEMORY;
	}
	weft__model_pool_init(&live->pools[WEFT__POOL_ACTIVATIONS], 3, ACTIVATION_BYTES);
	weft__model_pool_init(&live->pools[WEFT__POOL_NOTES], 4, NOTE_BYTES);
	weft__model_pool_init(&live->pools[WEFT__POOL_ACTS], 1, ACT_BYTES);
	weft__model_pool_init(&live->pools[WEFT__POOL_SAMPLES], 4, SAMPLE_BYTES);
	weft__model_pool_init(&live->pools[WEFT__POOL_SPANS], 4, SPAN_BYTES);
	weft__model_pool_init(&live->pools[WEFT__POOL_OFF_CPU], 4, OFF_CPU_BYTES);
	*ret_live = live;
	return 0;
}

void weft__model_live_destroy(struct weft__live *live)
{
	if (!live)
		return;
	struct weft__model *spare = weft__model_spare_close(live->spare);
	if (spare)
		weft__model_snapshot_destroy(spare);
	weft__model_spare_release(live->spare);
	for (unsigned i = 0; i < WEFT__POOLS; i++)
		weft__model_pool_finish(&live->pools[i]);
	void *columns[] = {live->marks, live->changed.items, live->dropped.items,
		live->changed_before.items, live->dropped_before.items, live->open.items, live->going,
		live->going_bands, live->creations};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
	free(live);
}

/* ---- Which tasks changed ---- */

static void mark(struct weft__live *live, uint32_t task)
{
	if (task < live->tasks)
		live->marks[task / 64] |= UINT64_C(1) << task % 64;
}

void weft__model_live_mark(
	struct weft__live *live, struct weft__state *state, const struct weft__fact *fact)
{
	const uint32_t named[] = {fact->task, fact->other};
	for (unsigned i = 0; i < 2; i++) {
		mark(live, named[i]);
		if (named[i] < state->tasks.count)
			mark(live, weft__model_state_forward(state, named[i]));
	}
}

static void mark_all(struct weft__live *live, const uint32_t *tasks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		mark(live, tasks[i]);
}

int weft__model_list_reserve(struct weft__list *list, size_t more)
{
	const struct weft__column column = {&list->items, sizeof(*list->items)};
	return weft__columns_reserve(&column, 1, &list->capacity, list->count + more);
}

/* Lists the marked tasks, in ascending order. */
static int list_changed(struct weft_model_builder *b)
{
	struct weft__live *live = b->live;
	live->changed.count = 0;
	for (uint32_t word = 0; word * UINT64_C(64) < live->tasks; word++) {
		int error = live->marks[word] ? weft__model_list_reserve(&live->changed, 64) : 0;
		if (error)
			return error;
		for (uint64_t bits = live->marks[word]; bits; bits &= bits - 1)
			live->changed.items[live->changed.count++] =
				word * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return 0;
}

/* ---- Rows ---- */

static int add_groups(struct weft_model_builder *b)
{
	struct weft__live *live = b->live;
	const struct weft__column column = {&live->marks, sizeof(*live->marks)};
	size_t old = live->mark_capacity;
	int error = weft__columns_reserve(
		&column, 1, &live->mark_capacity, b->state.tasks.count / 64 + (size_t)1);
	if (!error && live->mark_capacity > old)
		memset(live->marks + old, 0, (live->mark_capacity - old) * sizeof(*live->marks));
	for (unsigned i = 0; i < WEFT__TASK_POOLS && !error; i++)
		error = weft__model_pool_add_groups(&live->pools[i], b->state.tasks.count);
	if (!error)
		error = weft__model_pool_add_groups(&live->pools[WEFT__POOL_SAMPLES], b->counters.count);
	if (!error && b->spans.count)
		error = weft__model_pool_add_groups(&live->pools[WEFT__POOL_SPANS], b->state.tasks.count);
	if (!error && b->off_cpu.count)
		error = weft__model_pool_add_groups(&live->pools[WEFT__POOL_OFF_CPU], b->state.tasks.count);
	return error;
}

/* Removes a task's last act if it was a try_read that has been answered. Earlier acts cannot have
 * been. */
static int drop_act(struct weft_model_builder *b, uint32_t task)
{
	struct weft__live *live = b->live;
	struct weft__pool *acts = &live->pools[WEFT__POOL_ACTS];
	const uint32_t *edges = acts->column[0];
	if (acts->end[task] == acts->first[task])
		return 0;
	uint32_t edge = edges[acts->end[task] - 1];
	if (b->edges.type[edge] != WEFT_EDGE_DROPPED)
		return 0;
	int error = weft__model_list_reserve(&live->dropped, 1);
	if (!error)
		error = weft__model_pool_drop_last(acts, task);
	if (!error)
		live->dropped.items[live->dropped.count++] = edge;
	return error;
}

static int drop_acts(struct weft_model_builder *b)
{
	const struct weft__live *live = b->live;
	int error = 0;
	for (uint32_t word = 0; word * UINT64_C(64) < live->tasks; word++)
		for (uint64_t bits = live->marks[word]; bits && !error; bits &= bits - 1)
			error = drop_act(b, word * 64 + (uint32_t)__builtin_ctzll(bits));
	return error;
}

/* Adds the rows [taken, count) of a column that has their groups. */
static int add_rows(struct weft__live *live, unsigned pool, const uint32_t *group, uint32_t count,
	const void *const *columns)
{
	uint32_t from = live->taken[pool];
	int error = weft__model_pool_add_rows(&live->pools[pool], group + from, count - from, columns);
	if (!error)
		live->taken[pool] = count;
	return error;
}

static int add_activations(struct weft_model_builder *b)
{
	const struct activation_columns *a = &b->activations;
	uint32_t from = b->live->taken[WEFT__POOL_ACTIVATIONS];
	if (from == a->count)
		return 0;
	const void *columns[] = {a->start + from, a->end + from, a->thread + from};
	mark_all(b->live, a->task + from, a->count - from);
	return add_rows(b->live, WEFT__POOL_ACTIVATIONS, a->task, a->count, columns);
}

static int add_notes(struct weft_model_builder *b)
{
	const struct note_columns *n = &b->notes;
	uint32_t from = b->live->taken[WEFT__POOL_NOTES];
	if (from == n->count)
		return 0;
	const void *columns[] = {n->time + from, n->value + from, n->text + from, n->type + from};
	mark_all(b->live, n->task + from, n->count - from);
	return add_rows(b->live, WEFT__POOL_NOTES, n->task, n->count, columns);
}

static int add_samples(struct weft_model_builder *b)
{
	const struct sample_columns *s = &b->samples;
	uint32_t from = b->live->taken[WEFT__POOL_SAMPLES];
	if (from == s->count)
		return 0;
	const void *columns[] = {s->time + from, s->value + from, s->task + from, s->is_set + from};
	return add_rows(b->live, WEFT__POOL_SAMPLES, s->counter, s->count, columns);
}

static int add_spans(struct weft_model_builder *b)
{
	const struct span_columns *s = &b->spans;
	uint32_t from = b->live->taken[WEFT__POOL_SPANS];
	if (from == s->count)
		return 0;
	const void *columns[] = {s->start + from, s->end + from, s->name + from, s->depth + from};
	mark_all(b->live, s->task + from, s->count - from);
	return add_rows(b->live, WEFT__POOL_SPANS, s->task, s->count, columns);
}

static int add_off_cpu(struct weft_model_builder *b)
{
	const struct off_cpu_columns *o = &b->off_cpu;
	uint32_t from = b->live->taken[WEFT__POOL_OFF_CPU];
	if (from == o->count)
		return 0;
	const void *columns[] = {o->start + from, o->end + from, o->ns + from, o->thread + from};
	mark_all(b->live, o->task + from, o->count - from);
	return add_rows(b->live, WEFT__POOL_OFF_CPU, o->task, o->count, columns);
}

/* Adds the new edges that their actors hold. */
static int add_acts(struct weft_model_builder *b)
{
	const struct edge_columns *e = &b->edges;
	uint32_t from = b->live->taken[WEFT__POOL_ACTS], count = 0;
	uint32_t *actors = malloc(2 * (e->count - from + (size_t)1) * sizeof(*actors));
	if (!actors)
		return WEFT_ERROR_MEMORY;
	uint32_t *edges = actors + (e->count - from);
	for (uint32_t edge = from; edge < e->count; edge++) {
		uint32_t actor = weft__model_edge_actor(e, edge);
		if (actor == WEFT_NONE || e->type[edge] == WEFT_EDGE_DROPPED)
			continue;
		actors[count] = actor;
		edges[count++] = edge;
	}
	mark_all(b->live, actors, count);
	const void *columns[] = {edges};
	int error = weft__model_pool_add_rows(&b->live->pools[WEFT__POOL_ACTS], actors, count, columns);
	if (!error)
		b->live->taken[WEFT__POOL_ACTS] = e->count;
	free(actors);
	return error;
}

/* ---- Tasks that have not ended, and what reaches the present ---- */

static bool is_open(const struct weft_model_builder *b, uint32_t task)
{
	return !(b->state.tasks.flags[task] & WEFT_TASK_RESOLVED);
}

static int list_open(struct weft_model_builder *b)
{
	struct weft__live *live = b->live;
	struct weft__list *open = &live->open;
	uint32_t kept = 0;
	int error = weft__model_list_reserve(open, b->state.tasks.count - live->opened);
	if (error)
		return error;
	for (uint32_t i = 0; i < open->count; i++)
		if (is_open(b, open->items[i]))
			open->items[kept++] = open->items[i];
	for (; live->opened < b->state.tasks.count; live->opened++)
		if (is_open(b, live->opened))
			open->items[kept++] = live->opened;
	open->count = kept;
	return 0;
}

static int add_going(void *builder, uint32_t thread, uint32_t task, uint64_t start, uint64_t end)
{
	struct weft__live *live = ((struct weft_model_builder *)builder)->live;
	const struct weft__column column = {&live->going, sizeof(*live->going)};
	int error =
		weft__columns_reserve(&column, 1, &live->going_capacity, live->going_count + (size_t)1);
	if (!error)
		live->going[live->going_count++] = (struct weft__going){start, end, task, thread};
	return error;
}

static int add_going_band(struct weft__live *live, const struct weft_band_period *band)
{
	const struct weft__column column = {&live->going_bands, sizeof(*live->going_bands)};
	if (band->start >= band->end)
		return 0;
	int error = weft__columns_reserve(
		&column, 1, &live->going_band_capacity, live->going_band_count + (size_t)1);
	if (!error)
		live->going_bands[live->going_band_count++] = *band;
	return error;
}

static int add_present(struct weft_model_builder *b, uint32_t thread)
{
	const uint64_t now = b->live->now;
	const struct weft__state_thread *t = &b->state.threads[thread];
	const struct weft_band_period period = {t->since, now, thread, t->reason, WEFT_BAND_IDLE};
	const struct weft_band_period gc = {t->gc_since, now, thread, t->gc_reason, WEFT_BAND_GC};
	int error = 0;
	if (t->running == WEFT__RUNS_IDLE)
		error = add_going_band(b->live, &period);
	else if (t->running != WEFT__RUNS_UNKNOWN)
		error = weft__model_builder_divide(b, t->running, &period, add_going, b);
	return error || !t->in_gc_band ? error : add_going_band(b->live, &gc);
}

/* Lists the activations and bands that reach the present. Those of the latest snapshot did not end
 * there: their tasks change. */
static int list_going(struct weft_model_builder *b)
{
	struct weft__live *live = b->live;
	uint64_t room = 0;
	int error = 0;
	for (uint32_t i = 0; i < live->going_count; i++)
		mark(live, live->going[i].task);
	live->going_count = live->going_band_count = 0;
	for (uint32_t thread = 0; thread < b->state.thread_count && !error; thread++)
		error = add_present(b, thread);
	const struct weft__pool *pool = &live->pools[WEFT__POOL_ACTIVATIONS];
	for (uint32_t i = 0; i < live->going_count; i++) {
		uint32_t task = live->going[i].task;
		mark(live, task);
		room += pool->end[task] - pool->first[task] + UINT64_C(1);
	}
	if (live->going_band_count)
		qsort(live->going_bands, live->going_band_count, sizeof(*live->going_bands),
			weft__model_compare_bands);
	return error ? error : weft__model_pool_reserve(&live->pools[WEFT__POOL_ACTIVATIONS], room);
}

/* ---- Bands and creations ---- */

void weft__model_bands_merge(struct weft_band_period *bands, uint32_t count,
	const struct weft_band_period *more, uint32_t more_count)
{
	uint32_t to = count + more_count;
	while (more_count > 0) {
		bool is_later =
			count > 0 && weft__model_compare_bands(&bands[count - 1], &more[more_count - 1]) > 0;
		bands[--to] = is_later ? bands[--count] : more[--more_count];
	}
}

/* Sorts the bands in the builder's own column, whose order the builder does not use. */
static int sort_bands(struct weft_model_builder *b)
{
	struct weft__live *live = b->live;
	uint32_t sorted = live->bands_sorted, more = b->bands.count - sorted;
	size_t bytes = more * sizeof(*b->bands.list);
	if (!more)
		return 0;
	struct weft_band_period *scratch = malloc(bytes);
	if (!scratch)
		return WEFT_ERROR_MEMORY;
	qsort(b->bands.list + sorted, more, sizeof(*scratch), weft__model_compare_bands);
	memcpy(scratch, b->bands.list + sorted, bytes);
	weft__model_bands_merge(b->bands.list, sorted, scratch, more);
	free(scratch);
	live->bands_sorted = b->bands.count;
	return 0;
}

static int by_task(const void *left, const void *right)
{
	const struct weft__rundown_creation *l = left, *r = right;
	return l->creation.task < r->creation.task ? -1 : l->creation.task > r->creation.task;
}

static int take_creations(struct weft_model_builder *b)
{
	struct weft__live *live = b->live;
	const struct weft__column column = {&live->creations, sizeof(*live->creations)};
	int error = weft__columns_reserve(&column, 1, &live->creation_capacity, b->creations.count);
	if (error || live->creation_count == b->creations.count)
		return error;
	for (; live->creation_count < b->creations.count; live->creation_count++)
		live->creations[live->creation_count] = (struct weft__rundown_creation){
			b->creations.start[live->creation_count], b->creations.list[live->creation_count]};
	qsort(live->creations, live->creation_count, sizeof(*live->creations), by_task);
	return 0;
}

int weft__model_live_update(struct weft_model_builder *b, uint64_t now)
{
	/* The list of changed tasks comes last, because the other functions mark tasks. */
	static int (*const parts[])(struct weft_model_builder *) = {add_groups, drop_acts,
		add_activations, add_notes, add_samples, add_spans, add_off_cpu, add_acts, list_open,
		list_going, sort_bands, take_creations, list_changed};
	int error = 0;
	b->live->now = now;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !error; i++)
		error = parts[i](b);
	return error;
}

static void swap(struct weft__list *a, struct weft__list *b)
{
	struct weft__list list = *a;
	*a = *b;
	*b = list;
	a->count = 0;
}

void weft__model_live_commit(struct weft_model_builder *b)
{
	struct weft__live *live = b->live;
	swap(&live->changed, &live->changed_before);
	swap(&live->dropped, &live->dropped_before);
	memset(live->marks, 0, (live->tasks / 64 + (size_t)1) * sizeof(*live->marks));
	live->tasks = b->state.tasks.count;
	live->edges = b->edges.count;
	live->packs = 0;
	for (unsigned i = 0; i < WEFT__TASK_POOLS; i++)
		live->packs += live->pools[i].packs;
	live->last_ns = b->state.now;
	live->number++;
}
