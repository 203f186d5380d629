/* SPDX-License-Identifier: ISC
 *
 * Random programs and rules that hold for each layout of them, for tests of layouts.
 */
#ifndef WEFT_TESTS_RANDOM_PROGRAM_H
#define WEFT_TESTS_RANDOM_PROGRAM_H

#include <weft/layout.h>

#include "decoded.h"

static const struct weft_trace_thread threads[] = {
	{.name = "main", .buffer = 0},
	{.name = "", .tid = 77, .buffer = 0},
	{.name = "other", .buffer = 1},
};

static const struct weft_trace_buffer buffers[] = {
	{.process = "p", .host = "first", .file = ""},
	{.process = "q", .pid = 20, .host = "second", .file = ""},
};
static const struct weft_trace_description description = {.format = "test",
	.clock.name = "test",
	.threads = threads,
	.thread_count = 3,
	.buffers = buffers,
	.buffer_count = 2};
static struct weft_diagnostics diagnostics;

static uint64_t seed;

static inline uint32_t pick(uint32_t below)
{
	return next_random(&seed) % below;
}

#define ALIVE_MAX 24

/* A program of a few threads: tasks create alike ones, and most of them succeed. */
struct program {
	struct weft_model_builder *builder;
	uint64_t time, next_id;
	uint64_t alive[3][ALIVE_MAX];
	uint32_t alive_count[3];
};

static inline void program_start(struct program *p, uint64_t from)
{
	seed = from;
	*p = (struct program){.time = 1000, .next_id = 1};
	assert_int_equal(weft_model_builder_create(&p->builder), 0);
}

static inline void emit(struct program *p, uint32_t thread, struct weft_event event)
{
	event.time_ns = p->time;
	event.thread = thread;
	event.buffer = threads[thread].buffer;
	p->time += pick(2) ? pick(12) : 0;
	assert_int_equal(weft_model_builder_add(p->builder, &event, &diagnostics), 0);
}

static inline uint64_t some_task(const struct program *p, uint32_t buffer)
{
	uint32_t count = p->alive_count[buffer];
	return count && pick(8) ? p->alive[buffer][pick(pick(4) ? 1 + count / 8 : count)]
							: WEFT_TASK_NONE;
}

static inline void make_task(struct program *p, uint32_t thread)
{
	static const uint16_t kinds[] = {
		WEFT_KIND_TASK, WEFT_KIND_TASK, WEFT_KIND_BIND, WEFT_KIND_WAIT};
	uint32_t buffer = threads[thread].buffer, kind = pick(4);
	uint64_t id = p->next_id++;
	char name[16];
	int size = snprintf(name, sizeof(name), "%s-%u", pick(4) ? "port" : "disk", pick(30));
	emit(p, thread,
		(struct weft_event){.type = WEFT_EVENT_CREATE,
			.task = some_task(p, buffer),
			.other = id,
			.kind = kinds[kind]});
	if (kind == 0 || pick(6) == 0)
		emit(p, thread,
			(struct weft_event){
				.type = WEFT_EVENT_LABEL, .task = id, .text = {name, (size_t)size}});
	uint32_t at = p->alive_count[buffer] < ALIVE_MAX ? p->alive_count[buffer]++ : pick(ALIVE_MAX);
	p->alive[buffer][at] = id;
}

static inline void end_some_task(struct program *p, uint32_t thread)
{
	uint32_t buffer = threads[thread].buffer, count = p->alive_count[buffer];
	if (count == 0)
		return;
	uint32_t at = pick(5) ? count - 1 : pick(count);
	uint64_t id = p->alive[buffer][at], other = some_task(p, buffer);
	uint32_t type = pick(12);
	static const uint8_t ends[] = {WEFT_EVENT_RESOLVE, WEFT_EVENT_FAIL, WEFT_EVENT_CANCEL,
		WEFT_EVENT_CLOSE, WEFT_EVENT_TIME_OUT};
	p->alive[buffer][at] = p->alive[buffer][--p->alive_count[buffer]];
	if (type == 0)
		emit(p, thread, (struct weft_event){.type = WEFT_EVENT_BECOME, .task = id, .other = other});
	else
		emit(p, thread,
			(struct weft_event){.type = type == 1 ? ends[pick(sizeof(ends))] : WEFT_EVENT_RESOLVE,
				.task = other,
				.other = id,
				.text = {"E", 1}});
}

/* A task gets another name, or is created once more. */
static inline void make_again(struct program *p, uint32_t thread)
{
	uint64_t id = some_task(p, threads[thread].buffer);
	bool is_created = pick(2);
	if (id == WEFT_TASK_NONE)
		return;
	emit(p, thread,
		(struct weft_event){.type = is_created ? WEFT_EVENT_CREATE : WEFT_EVENT_LABEL,
			.task = is_created ? some_task(p, threads[thread].buffer) : id,
			.other = id,
			.kind = WEFT_KIND_TASK,
			.text = {"again", is_created ? 0 : 5}});
}

static inline void program_step(struct program *p)
{
	uint32_t thread = pick(3), roll = pick(10), buffer = threads[thread].buffer;
	if (pick(20) == 0)
		make_again(p, thread);
	if (roll < 4 || p->alive_count[buffer] < 4)
		make_task(p, thread);
	else if (roll < 8)
		end_some_task(p, thread);
	else if (roll == 8)
		emit(p, thread,
			(struct weft_event){.type = WEFT_EVENT_READ,
				.task = some_task(p, buffer),
				.other = some_task(p, buffer)});
	else
		emit(p, thread,
			(struct weft_event){.type = WEFT_EVENT_SWITCH, .task = some_task(p, buffer)});
}

static inline struct weft_model *program_finish(struct program *p)
{
	struct weft_model *model;
	assert_int_equal(weft_model_builder_finish(p->builder, &description, &model), 0);
	weft_model_builder_destroy(p->builder);
	return model;
}

static inline struct weft_model *random_model(uint64_t from, uint32_t steps)
{
	struct program p;
	program_start(&p, from);
	while (steps-- > 0)
		program_step(&p);
	return program_finish(&p);
}

static inline struct weft_layout *lay_out(
	const struct weft_model *model, const struct weft_layout_options *options)
{
	struct weft_layout *layout;
	assert_int_equal(weft_layout_create(model, options, &layout), 0);
	return layout;
}

static inline bool goes_on(const struct weft_model *model, uint32_t task)
{
	return model->summary.live && !(model->tasks.flags[task] & WEFT_TASK_RESOLVED);
}

static inline uint64_t end_of(const struct weft_layout *l, uint32_t task)
{
	uint64_t end = goes_on(l->model, task) ? UINT64_MAX : l->model->tasks.end[task];
	return end > l->start[task] ? end : l->start[task];
}

static inline uint32_t runs_at(const struct weft_model *model, uint32_t task, uint64_t end)
{
	uint32_t count = 0;
	for (uint32_t i = model->tasks.first_activation[task]; i < model->tasks.end_activation[task];
		 i++)
		count += model->activations.end[i] == end;
	return count;
}

/* `b` made `a` in its last activation and ended with it, and `a` did not run before. */
static inline bool is_next_callback(const struct weft_layout *l, uint32_t a, uint32_t b)
{
	const struct weft_tasks *tasks = &l->model->tasks;
	const struct weft_activations *ran = &l->model->activations;
	uint32_t last = tasks->end_activation[b];
	for (uint32_t i = tasks->first_activation[a]; i < tasks->end_activation[a]; i++)
		if (ran->start[i] < tasks->end[b])
			return false;
	return !l->moved[a] && tasks->becomes[b] == WEFT_NONE && !goes_on(l->model, b) &&
		   runs_at(l->model, b, tasks->end[b]) == 1 && ran->end[last - 1] == tasks->end[b] &&
		   ran->start[last - 1] <= l->start[a];
}

static inline bool continues(const struct weft_layout *l, uint32_t a, uint32_t b)
{
	const struct weft_tasks *tasks = &l->model->tasks;
	return l->parent[a] == b && tasks->end[b] < end_of(l, a) &&
		   (tasks->becomes[b] == a || is_next_callback(l, a, b));
}

static inline void check_lines_are_apart(const struct weft_layout *l)
{
	for (uint32_t a = 0; a < l->model->tasks.count; a++)
		for (uint32_t b = 0; b < a; b++) {
			if (l->form[a] != WEFT_FORM_LINE || l->form[b] != WEFT_FORM_LINE ||
				l->row[a] != l->row[b])
				continue;
			bool overlap = l->start[a] < end_of(l, b) && l->start[b] < end_of(l, a);
			assert_false(overlap && !continues(l, a, b) && !continues(l, b, a));
		}
	for (uint32_t f = 0; f < l->fold_count; f++)
		for (uint32_t a = 0; a < l->model->tasks.count; a++)
			assert_false(l->folds[f].folded && l->form[a] == WEFT_FORM_LINE &&
						 l->row[a] == l->folds[f].row && l->start[a] < l->folds[f].end &&
						 l->folds[f].start < end_of(l, a));
	for (uint32_t f = 0; f < l->fold_count; f++)
		for (uint32_t g = 0; g < f; g++)
			assert_false(
				l->folds[f].folded && l->folds[g].folded && l->folds[f].row == l->folds[g].row &&
				l->folds[f].start < l->folds[g].end && l->folds[g].start < l->folds[f].end);
}

static inline bool same_group(const struct weft_layout *l, uint32_t a, uint32_t b)
{
	return !l->group_of || l->group_of[a] == l->group_of[b];
}

static inline void check_children(const struct weft_layout *l)
{
	const struct weft_tasks *tasks = &l->model->tasks;
	for (uint32_t task = 0; task < tasks->count; task++) {
		uint32_t parent = l->parent[task];
		if (parent == WEFT_NONE || l->form[task] == WEFT_FORM_HIDDEN)
			continue;
		assert_int_not_equal(l->form[parent], WEFT_FORM_HIDDEN);
		if (!same_group(l, task, parent))
			continue;
		assert_true(l->row[task] >= l->row[parent]);
		if (l->form[task] == WEFT_FORM_LINE && l->row[task] == l->row[parent])
			assert_true(tasks->becomes[parent] == task || tasks->end[parent] <= l->start[task] ||
						continues(l, task, parent));
	}
}

/* A promise without a row is in that of its parent, which alone reads it. */
static inline void check_waits(const struct weft_layout *l)
{
	const struct weft_edges *edges = &l->model->edges;
	for (uint32_t task = 0; task < l->model->tasks.count; task++) {
		if (l->form[task] != WEFT_FORM_WAIT)
			continue;
		uint32_t parent = l->parent[task];
		assert_int_equal(l->form[parent], WEFT_FORM_LINE);
		assert_int_equal(l->row[task], l->row[parent]);
		assert_int_equal(
			l->model->tasks.first_activation[task], l->model->tasks.end_activation[task]);
		for (uint32_t e = 0; e < edges->count; e++)
			if (edges->to[e] == task &&
				(edges->type[e] == WEFT_EDGE_READ || edges->type[e] == WEFT_EDGE_TRY_READ))
				assert_int_equal(edges->from[e], parent);
	}
}

/* No task is lost: each has a row or a fold, and all columns of the layout agree. */
static inline void check_places(const struct weft_layout *l, const uint8_t *hidden)
{
	for (uint32_t task = 0; task < l->model->tasks.count; task++) {
		bool is_hidden = hidden && hidden[task];
		assert_int_equal(l->form[task] == WEFT_FORM_HIDDEN, is_hidden);
		assert_int_equal(l->row[task] == WEFT_NONE, is_hidden);
		if (is_hidden)
			continue;
		assert_true(l->row[task] < l->row_count);
		if (l->form[task] == WEFT_FORM_FOLDED) {
			assert_true(l->fold_of[task] < l->fold_count);
			assert_true(l->folds[l->fold_of[task]].folded);
			assert_int_equal(l->row[task], l->folds[l->fold_of[task]].row);
		}
		if (!l->group_of)
			continue;
		const struct weft_group *g = &l->groups[l->group_of[task]];
		assert_int_equal(l->form[task] == WEFT_FORM_BAND, g->folded);
		assert_in_range(l->row[task], g->first_row + !g->folded, g->first_row + g->row_count - 1);
	}
}

static inline void check_groups(const struct weft_layout *l)
{
	uint32_t row = 0;
	for (uint32_t g = 0; g < l->group_count; g++) {
		assert_int_equal(l->groups[g].first_row, row);
		assert_true(l->groups[g].row_count >= 1);
		assert_true(!l->groups[g].folded || l->groups[g].row_count == 1);
		assert_true(g == 0 || l->groups[g].key > l->groups[g - 1].key);
		assert_true(l->groups[g].running >= 0 && l->groups[g].running <= 1);
		assert_int_not_equal(l->groups[g].name[0], 0);
		row += l->groups[g].row_count;
	}
	assert_true(l->group_count == 0 || row == l->row_count);
	assert_int_not_equal(l->group_count, 1);
}

static inline void check_all(const struct weft_layout *l, const uint8_t *hidden)
{
	check_places(l, hidden);
	if (!l->model->summary.live) /* in one that grows, they stay where they were */
		check_waits(l);
	check_groups(l);
	check_lines_are_apart(l);
}

#endif
