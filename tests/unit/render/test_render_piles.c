/* SPDX-License-Identifier: ISC
 *
 * Compares the figures of a stretch of a fold or folded group with plain counting.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "decoded.h"
#include "render/scene/scene.h"

static uint64_t seed = 5;

static uint32_t pick(uint32_t below)
{
	return next_random(&seed) % below;
}

static void add(struct weft_model_builder *builder, struct weft_event event)
{
	static struct weft_diagnostics diagnostics;
	assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
}

/* Consecutive tasks below one parent, run by two threads; sometimes two at once. */
static struct weft_model *make_model(uint32_t count)
{
	static const struct weft_trace_thread threads[] = {{.name = "a"}, {.name = "b"}};
	static const struct weft_trace_description description = {
		.format = "test", .clock.name = "test", .threads = threads, .thread_count = 2};
	struct weft_model_builder *builder;
	struct weft_model *model;
	uint64_t time = 100;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	add(builder, (struct weft_event){.type = WEFT_EVENT_CREATE,
					 .time_ns = 1,
					 .task = WEFT_TASK_NONE,
					 .other = 1,
					 .kind = WEFT_KIND_TASK});
	for (uint32_t id = 2; id < count + 2; id++) {
		uint32_t thread = pick(2);
		add(builder, (struct weft_event){.type = WEFT_EVENT_CREATE,
						 .time_ns = time,
						 .task = 1,
						 .other = id,
						 .kind = WEFT_KIND_TASK,
						 .thread = thread});
		time += pick(5);
		add(builder, (struct weft_event){
						 .type = WEFT_EVENT_SWITCH, .time_ns = time, .task = id, .thread = thread});
		time += pick(30);
		if (pick(8) == 0 && id > 2)
			continue;
		add(builder, (struct weft_event){.type = pick(20) ? WEFT_EVENT_RESOLVE : WEFT_EVENT_FAIL,
						 .time_ns = time,
						 .task = 1,
						 .other = id,
						 .text = {"E", 1},
						 .thread = thread});
		if (pick(3) == 0)
			add(builder, (struct weft_event){.type = WEFT_EVENT_RESOLVE,
							 .time_ns = time,
							 .other = id - 1,
							 .task = 1,
							 .thread = thread});
		time += pick(40);
	}
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	return model;
}

static bool is_of(
	const struct weft_layout *l, const struct weft__pile *pile, uint32_t index, uint32_t task)
{
	if (pile->fold != WEFT_NONE)
		return l->form[task] == WEFT_FORM_FOLDED && l->fold_of[task] == pile->fold;
	return l->form[task] == WEFT_FORM_BAND && l->fold_count + l->group_of[task] == index;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct weft__share count_share(
	const struct weft_scene *scene, uint32_t index, uint64_t start, uint64_t end)
{
	const struct weft__pile *pile = &scene->piles.list[index];
	const struct weft_layout *l = scene->layout;
	const struct weft_tasks *tasks = &scene->model->tasks;
	const struct weft_activations *a = &scene->model->activations;
	struct weft__share share = {0};
	for (uint32_t task = 0; task < tasks->count; task++) {
		if (!is_of(l, pile, index, task))
			continue;
		uint64_t task_end = later(tasks->end[task], l->start[task] + 1);
		share.tasks += l->start[task] < end && task_end > start;
		share.failed += (tasks->flags[task] & WEFT_TASK_FAILED) && tasks->end[task] >= start &&
						tasks->end[task] < end;
		for (uint32_t i = tasks->first_activation[task]; i < tasks->end_activation[task]; i++) {
			uint64_t from = later(a->start[i], start), to = a->end[i] < end ? a->end[i] : end;
			share.running_ns += to > from ? to - from : 0;
		}
	}
	return share;
}

static void check_shares(const struct weft_scene *scene, uint32_t index)
{
	uint64_t length = scene->end - scene->start + 20;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t start = scene->start + next_random(&seed) % length;
		uint64_t end = start + pick(i % 2 ? 20 : 2000);
		struct weft__share share =
			weft__render_pile_share(&scene->piles, &scene->piles.list[index], start, end);
		struct weft__share expected = {0};
		if (end > start)
			expected = count_share(scene, index, start, end);
		assert_int_equal(share.tasks, expected.tasks);
		assert_int_equal(share.failed, expected.failed);
		assert_int_equal(share.running_ns, expected.running_ns);
	}
}

/* Stretches one after the other, of any length. */
static void check_steps(const struct weft_scene *scene, uint32_t index)
{
	const struct weft__pile *pile = &scene->piles.list[index];
	uint64_t at = scene->start + pick(50);
	struct weft__pile_cursor cursor = weft__render_pile_seek(&scene->piles, pile, at);
	while (at < scene->end + 10) {
		uint64_t next = at + 1 + pick(pick(9) ? 9 : 900);
		struct weft__share share = weft__render_pile_step(&cursor, next);
		struct weft__share expected = weft__render_pile_share(&scene->piles, pile, at, next);
		assert_memory_equal(&share, &expected, sizeof(share));
		at = next;
	}
}

static void check_alive(const struct weft_scene *scene)
{
	const struct weft_layout *l = scene->layout;
	const struct weft_tasks *t = &scene->model->tasks;
	for (unsigned i = 0; i < 20; i++) {
		uint64_t start = scene->start + next_random(&seed) % (scene->end - scene->start + 20);
		uint64_t end = start + 1 + pick(i % 2 ? 20 : 2000);
		uint32_t expected = 0;
		for (uint32_t task = 0; task < t->count; task++)
			expected += (l->form[task] == WEFT_FORM_FOLDED || l->form[task] == WEFT_FORM_BAND) &&
						l->start[task] < end && t->end[task] >= start;
		assert_int_equal(weft__render_piles_alive(&scene->piles, start, end), expected);
	}
}

static void stretches_hold_what_counting_finds(void **state)
{
	(void)state;
	uint32_t folds = 0, groups = 0;
	for (uint32_t round = 0; round < 30; round++) {
		struct weft_model *model = make_model(10 + round * 10);
		struct weft_layout *layout;
		struct weft_scene *scene;
		uint32_t first = 0;
		struct weft_layout_options options = {.fold = true, .folded_groups = &first};
		options.group_by = round % 2 ? WEFT_GROUP_BY_THREAD : WEFT_GROUP_BY_NONE;
		options.folded_group_count = round % 4 == 1;
		assert_int_equal(weft_layout_create(model, &options, &layout), 0);
		assert_int_equal(weft_scene_create(model, layout, &scene), 0);
		for (uint32_t i = 0; i < scene->piles.count; i++) {
			check_shares(scene, i);
			check_steps(scene, i);
			folds += scene->piles.list[i].count && scene->piles.list[i].fold != WEFT_NONE;
			groups += scene->piles.list[i].count && scene->piles.list[i].fold == WEFT_NONE;
		}
		check_alive(scene);
		weft_scene_destroy(scene);
		weft_layout_destroy(layout);
		weft_model_destroy(model);
	}
	assert_true(folds > 10 && groups > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stretches_hold_what_counting_finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
