/* SPDX-License-Identifier: ISC
 *
 * Layouts of growing traces: drawn tasks stay, and a layout that is extended by new tasks equals
 * one that is made as a whole.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/layout.h>

#include "layout/growth.h"

#include "random_program.h"

static uint32_t row_in_group(const struct weft_layout *l, uint32_t task)
{
	return l->group_of ? l->row[task] - l->groups[l->group_of[task]].first_row : l->row[task] + 1;
}

static void check_kept(const struct weft_layout *before, const struct weft_layout *after)
{
	for (uint32_t task = 0; task < before->model->tasks.count; task++) {
		assert_int_equal(before->form[task], after->form[task]);
		if (before->form[task] != WEFT_FORM_HIDDEN)
			assert_int_equal(row_in_group(before, task), row_in_group(after, task));
		if (before->moved[task])
			assert_int_equal(before->start[task], after->start[task]);
	}
}

/* The rows of groups may differ, and nothing else. */
static void check_same_groups(const struct weft_layout *l, const struct weft_layout *other)
{
	uint32_t row = 0;
	assert_int_equal(l->group_count, other->group_count);
	assert_int_equal(l->group_by, other->group_by);
	for (uint32_t i = 0; i < l->group_count; i++) {
		assert_int_equal(l->groups[i].key, other->groups[i].key);
		assert_string_equal(l->groups[i].name, other->groups[i].name);
		assert_true(l->groups[i].running == other->groups[i].running);
		assert_int_equal(l->groups[i].first_row, row);
		row += l->groups[i].row_count;
	}
	assert_true(!l->group_of || row == l->row_count);
	for (uint32_t task = 0; task < l->model->tasks.count && l->group_of; task++)
		assert_int_equal(l->group_of[task], other->group_of[task]);
}

/* A layout extended by new tasks equals one that is made as a whole, and says what changed. */
static bool check_growth(const struct weft_layout *before, const struct weft_layout *after,
	const struct weft_layout_options *options)
{
	const struct weft__layout_growth *growth = weft__layout_growth(after, before);
	/* The second one with the same former layout cannot take over its working memory. */
	struct weft_layout *whole = lay_out(after->model, options);
	assert_null(weft__layout_growth(whole, before));
	for (uint32_t task = 0; task < after->model->tasks.count; task++) {
		assert_int_equal(after->start[task], whole->start[task]);
		assert_int_equal(after->parent[task], whole->parent[task]);
		assert_int_equal(after->moved[task], whole->moved[task]);
		assert_int_equal(after->form[task], whole->form[task]);
	}
	assert_int_equal(after->fold_count, whole->fold_count);
	for (uint32_t i = 0; i < after->fold_count; i++) {
		struct weft_fold fold = after->folds[i], other = whole->folds[i];
		uint32_t member = after->fold_members[fold.first];
		assert_int_equal(fold.row, after->row[member]);
		assert_int_equal(row_in_group(after, member), row_in_group(whole, member));
		fold.row = other.row; /* a group above may have more rows than it needs */
		assert_memory_equal(&fold, &other, sizeof(fold));
	}
	check_same_groups(after, whole);
	for (uint32_t task = 0, i = 0; task < before->model->tasks.count && growth; task++) {
		bool is_listed = i < growth->changed_count && growth->changed[i] == task;
		bool is_same = before->start[task] == after->start[task] &&
					   before->parent[task] == after->parent[task] &&
					   before->moved[task] == after->moved[task];
		assert_int_equal(is_listed, !is_same);
		assert_int_equal(before->row[task], after->row[task]);
		i += is_listed;
	}
	weft_layout_destroy(whole);
	return growth;
}

/* When a task and its descendants, as far as they are drawn like it, have ended. */
static uint64_t end_with_descendants(const struct weft_layout *l, uint32_t task)
{
	uint64_t end = l->model->tasks.end[task];
	for (uint32_t child = 0; child < l->model->tasks.count; child++)
		if (l->parent[child] == task && same_group(l, child, task) &&
			l->form[child] == l->form[task]) {
			uint64_t last = end_with_descendants(l, child);
			end = last > end ? last : end;
		}
	return end;
}

static void check_fold_spans(const struct weft_layout *l)
{
	for (uint32_t f = 0; f < l->fold_count; f++) {
		const struct weft_fold *fold = &l->folds[f];
		uint64_t start = UINT64_MAX, end = 0, longest = 0;
		for (uint32_t i = fold->first; i < fold->first + fold->count; i++) {
			uint64_t from = l->start[l->fold_members[i]];
			uint64_t to = end_with_descendants(l, l->fold_members[i]);
			assert_int_equal(l->fold_of[l->fold_members[i]], f);
			assert_int_equal(l->fold_ends[i], to);
			start = from < start ? from : start;
			end = to > end ? to : end;
			longest = to > from && to - from > longest ? to - from : longest;
		}
		assert_int_equal(fold->start, start);
		assert_int_equal(fold->end, end);
		assert_int_equal(fold->max_ns, longest);
	}
}

static void a_drawn_task_keeps_its_row(void **state)
{
	(void)state;
	uint32_t grown = 0, short_ways[3] = {0};
	for (uint32_t round = 1; round < 48; round++) {
		struct program p;
		struct weft_model *model = NULL, *next = NULL;
		struct weft_layout *layout = NULL, *after = NULL;
		struct weft_layout_options options = {
			.fold = round % 2, .group_by = (enum weft_group_by)(round % 3)};
		program_start(&p, 300 + round);
		for (uint32_t look = 0; look < 25; look++) {
			for (uint32_t step = 0; step < 1 + round; step++)
				program_step(&p);
			assert_int_equal(
				weft_model_builder_snapshot(p.builder, &description, p.time + pick(20), &next), 0);
			options.previous = look == 12 ? NULL : layout; /* packed anew */
			after = lay_out(next, &options);
			check_all(after, NULL);
			check_fold_spans(after);
			short_ways[round % 3] += options.previous && check_growth(layout, after, &options);
			if (options.previous && !layout->group_of == !after->group_of)
				check_kept(layout, after);
			grown += layout && next->tasks.count > model->tasks.count;
			weft_layout_destroy(layout);
			weft_model_destroy(model);
			layout = after;
			model = next;
		}
		weft_layout_destroy(layout);
		weft_model_destroy(model);
		weft_model_destroy(program_finish(&p));
	}
	assert_true(grown > 100);
	assert_true(short_ways[0] > 200);
	assert_int_equal(short_ways[1], 0); /* groups of threads are laid out as a whole */
	assert_true(short_ways[2] > 100);
}

#define RECENT 12

static uint64_t recent_id(const struct program *p)
{
	uint64_t back = 1 + pick(RECENT);
	return back < p->next_id ? p->next_id - back : p->next_id;
}

/* Tasks that wait for each other, become others and end. */
static void emit_any(struct program *p)
{
	static const uint8_t types[] = {WEFT_EVENT_READ, WEFT_EVENT_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_TRY_READ, WEFT_EVENT_RESOLVE, WEFT_EVENT_BECOME, WEFT_EVENT_SIGNAL,
		WEFT_EVENT_LABEL};
	static const uint16_t kinds[] = {WEFT_KIND_BIND, WEFT_KIND_MAP, WEFT_KIND_TRY, 1};
	bool is_new = pick(3) == 0;
	emit(p, 0,
		(struct weft_event){
			.type = is_new ? (uint8_t)WEFT_EVENT_CREATE : types[pick(sizeof(types))],
			.task = pick(12) ? recent_id(p) : WEFT_TASK_NONE,
			.other = is_new ? p->next_id : recent_id(p),
			.kind = kinds[pick(4)],
			.flag = pick(2),
			.text = {"l", 1},
		});
	p->next_id += is_new;
}

/* Tasks are simplified after they were drawn, when a read drops the last try_read before theirs. */
static void drawn_tasks_move_as_in_a_whole_layout(void **state)
{
	(void)state;
	uint32_t short_ways = 0, moves = 0;
	for (uint32_t round = 1; round < 80; round++) {
		struct program p;
		struct weft_model *model = NULL, *next = NULL;
		struct weft_layout *layout = NULL, *after = NULL;
		struct weft_layout_options options = {.fold = true};
		program_start(&p, 900 + round);
		for (uint32_t look = 0; look < 25; look++) {
			for (uint32_t step = 0; step < 1 + round; step++)
				emit_any(&p);
			assert_int_equal(
				weft_model_builder_snapshot(p.builder, &description, p.time + pick(20), &next), 0);
			options.previous = layout;
			after = lay_out(next, &options);
			check_all(after, NULL);
			if (layout)
				check_kept(layout, after);
			if (layout && check_growth(layout, after, &options)) {
				short_ways++;
				moves += weft__layout_growth(after, layout)->changed_count;
			}
			weft_layout_destroy(layout);
			weft_model_destroy(model);
			layout = after;
			model = next;
		}
		weft_layout_destroy(layout);
		weft_model_destroy(model);
		weft_model_destroy(program_finish(&p));
	}
	assert_true(short_ways > 1000);
	assert_true(moves > 400);
}

static void grown_finish(struct program *p, struct weft_model *model, struct weft_model *next,
	struct weft_layout *before, struct weft_layout *after)
{
	weft_layout_destroy(before);
	weft_layout_destroy(after);
	weft_model_destroy(model);
	weft_model_destroy(next);
	weft_model_destroy(program_finish(p));
}

/* A new task takes the first row without a living task. */
static void new_tasks_take_the_first_free_row(void **state)
{
	(void)state;
	struct program p;
	struct weft_model *model, *next;
	program_start(&p, 1);
	for (uint64_t id = 1; id <= 3; id++)
		emit(&p, 0,
			(struct weft_event){
				.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = id, .kind = 1});
	assert_int_equal(weft_model_builder_snapshot(p.builder, &description, p.time + 100, &model), 0);
	struct weft_layout *before = lay_out(model, NULL);
	assert_int_equal(before->row[1], 1);
	p.time += 200;
	emit(
		&p, 0, (struct weft_event){.type = WEFT_EVENT_RESOLVE, .task = WEFT_TASK_NONE, .other = 2});
	p.time += 10;
	emit(&p, 0,
		(struct weft_event){
			.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 4, .kind = 1});
	assert_int_equal(weft_model_builder_snapshot(p.builder, &description, p.time, &next), 0);
	struct weft_layout *after = lay_out(next, &(struct weft_layout_options){.previous = before});
	assert_int_equal(after->row[0], 0);
	assert_int_equal(after->row[2], 2);
	assert_int_equal(after->row[3], 1);
	grown_finish(&p, model, next, before, after);
}

/* Two tasks that came since the last look: the newer one is placed first. */
static void of_new_siblings_the_newest_is_placed_first(void **state)
{
	(void)state;
	struct program p;
	struct weft_model *model, *next;
	program_start(&p, 1);
	for (uint64_t id = 1; id <= 4; id++) {
		emit(&p, 0,
			(struct weft_event){.type = WEFT_EVENT_CREATE,
				.task = id <= 2 ? WEFT_TASK_NONE : 5 - id, /* 3 below 2, 4 below 1 */
				.other = id,
				.kind = 1});
		if (id == 2)
			assert_int_equal(
				weft_model_builder_snapshot(p.builder, &description, p.time, &model), 0);
	}
	emit(&p, 0, (struct weft_event){.type = WEFT_EVENT_CREATE, .task = 1, .other = 5, .kind = 1});
	struct weft_layout *before = lay_out(model, NULL);
	assert_int_equal(weft_model_builder_snapshot(p.builder, &description, p.time, &next), 0);
	struct weft_layout *after = lay_out(next, &(struct weft_layout_options){.previous = before});
	assert_non_null(weft__layout_growth(after, before));
	assert_int_equal(after->row[4], 2);
	assert_int_equal(after->row[3], 3);
	assert_int_equal(after->row[2], 4);
	grown_finish(&p, model, next, before, after);
}

/* A task of no length still has its row at that time. */
static void new_tasks_avoid_one_that_ended_as_it_began(void **state)
{
	(void)state;
	struct program p;
	struct weft_model *models[3];
	struct weft_layout *layouts[3];
	program_start(&p, 1);
	for (uint64_t id = 1; id <= 3; id++) {
		struct weft_layout_options options = {.previous = id > 1 ? layouts[id - 2] : NULL};
		p.time = 1000 + (id > 1) * 50;
		emit(&p, 0,
			(struct weft_event){
				.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = id, .kind = 1});
		p.time = 1000 + (id > 1) * 50;
		emit(&p, 0,
			(struct weft_event){.type = WEFT_EVENT_RESOLVE, .task = WEFT_TASK_NONE, .other = id});
		assert_int_equal(
			weft_model_builder_snapshot(p.builder, &description, 0, &models[id - 1]), 0);
		layouts[id - 1] = lay_out(models[id - 1], &options);
	}
	assert_non_null(weft__layout_growth(layouts[2], layouts[1]));
	assert_int_equal(layouts[2]->row[0], 0);
	assert_int_equal(layouts[2]->row[1], 0);
	assert_int_equal(layouts[2]->row[2], 1);
	for (unsigned i = 0; i < 3; i++) {
		weft_layout_destroy(layouts[i]);
		weft_model_destroy(models[i]);
	}
	weft_model_destroy(program_finish(&p));
}

static void create_on(struct program *p, uint32_t thread, uint64_t id)
{
	emit(p, thread,
		(struct weft_event){
			.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = id, .kind = 1});
}

/* Processes have rows of their own: a living task of one takes no row of another. The group of a
 * process that gets its first task is made with a whole layout; then both grow. */
static void processes_grow_apart(void **state)
{
	(void)state;
	static const uint32_t creators[] = {0, 0, 2, 2, 0, 2}; /* threads 0 and 2: buffers 0 and 1 */
	static const uint32_t rows[] = {1, 2, 1, 2, 3, 3};     /* in their groups */
	struct program p;
	struct weft_model *models[6];
	struct weft_layout *layouts[6];
	program_start(&p, 1);
	for (unsigned i = 0; i < 6; i++) {
		struct weft_layout_options options = {
			.group_by = WEFT_GROUP_BY_PROCESS, .previous = i ? layouts[i - 1] : NULL};
		create_on(&p, creators[i], 1 + i);
		assert_int_equal(weft_model_builder_snapshot(p.builder, &description, 0, &models[i]), 0);
		layouts[i] = lay_out(models[i], &options);
		assert_int_equal(layouts[i]->group_count, i < 2 ? 0 : 2);
		assert_int_equal(row_in_group(layouts[i], i), rows[i]);
	}
	assert_non_null(weft__layout_growth(layouts[1], layouts[0]));
	assert_null(weft__layout_growth(layouts[2], layouts[1])); /* another process */
	assert_non_null(weft__layout_growth(layouts[3], layouts[2]));
	assert_null(weft__layout_growth(layouts[4], layouts[3])); /* the group below has moved */
	assert_non_null(weft__layout_growth(layouts[5], layouts[4]));
	for (unsigned i = 0; i < 6; i++) {
		weft_layout_destroy(layouts[i]);
		weft_model_destroy(models[i]);
	}
	weft_model_destroy(program_finish(&p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drawn_task_keeps_its_row),
		cmocka_unit_test(drawn_tasks_move_as_in_a_whole_layout),
		cmocka_unit_test(new_tasks_take_the_first_free_row),
		cmocka_unit_test(of_new_siblings_the_newest_is_placed_first),
		cmocka_unit_test(new_tasks_avoid_one_that_ended_as_it_began),
		cmocka_unit_test(processes_grow_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
