/* SPDX-License-Identifier: ISC
 *
 * Long work of the viewer: in steps it gives the same as at once; ended after any of them it leaves
 * everything as it was, and frees what it made (which the leak sanitizer checks).
 */
#include "viewer_sample.h"

#include "layout/maker.h"
#include "render/scene_maker.h"
#include "stats/maker.h"
#include "story/filtering.h"

/* ---- The parts of the work ---- */

/* All that is made of a model, each part from those before it. */
struct made {
	uint8_t *hidden;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_stats *stats;
};

static void made_finish(struct made *made)
{
	weft_stats_destroy(made->stats);
	weft_scene_destroy(made->scene);
	weft_layout_destroy(made->layout);
	free(made->hidden);
}

/* Does up to `most` steps of one kind; the number that was done, and whether that is all. */
#define STEPS(create, step, destroy, type)                      \
	do {                                                        \
		struct type *maker;                                     \
		int status = WEFT_AGAIN;                                \
		assert_int_equal(create, 0);                            \
		for (; status == WEFT_AGAIN && *left; (*left)--)        \
			status = step;                                      \
		destroy(maker);                                         \
		if (status)                                             \
			return assert_int_equal(status, WEFT_AGAIN), false; \
	} while (0)

/* Makes everything in at most `*left` steps, and counts these down; false if they are too few. */
static bool make(const struct weft_model *model, enum weft_group_by group_by,
	enum weft_stats_by stats_by, unsigned *left, struct made *made)
{
	STEPS(
		weft__story_filtering_create(model, "-kind:map, -process:nobody, data, kind:bind", &maker),
		weft__story_filtering_step(maker, &made->hidden), weft__story_filtering_destroy,
		weft__filtering);
	const struct weft_layout_options options = {
		.fold = true, .group_by = group_by, .hidden = made->hidden};
	STEPS(weft__layout_maker_create(model, &options, &maker),
		weft__layout_maker_step(maker, &made->layout), weft__layout_maker_destroy,
		weft__layout_maker);
	STEPS(weft__render_scene_maker_create(model, made->layout, &maker),
		weft__render_scene_maker_step(maker, &made->scene), weft__render_scene_maker_destroy,
		weft__scene_maker);
	const struct weft_story story = {.model = model, .layout = made->layout};
	const struct weft_stats_options by = {.by = stats_by};
	STEPS(weft__stats_maker_create(&story, &by, &maker),
		weft__stats_maker_step(maker, &made->stats), weft__stats_maker_destroy, weft__stats_maker);
	return true;
}

static void work_may_end_after_any_step(void **state)
{
	static const enum weft_group_by groupings[] = {WEFT_GROUP_BY_NONE, WEFT_GROUP_BY_THREAD};
	static const enum weft_stats_by bys[] = {WEFT_STATS_BY_LABEL, WEFT_STATS_BY_SPAN};
	(void)state;
	struct weft_model *model = sample_model(BLOCK_READ);
	for (unsigned i = 0; i < 2; i++) {
		unsigned steps = 0, left;
		bool is_all = false;
		for (; !is_all; steps++) {
			struct made made = {0};
			left = steps;
			is_all = make(model, groupings[i], bys[i], &left, &made);
			made_finish(&made);
		}
		assert_true(steps > 30);
	}
	weft_model_destroy(model);
}

/* ---- The viewer ---- */

/* A viewer that does everything in steps, as for a large trace. */
static struct script begin_in_steps(void)
{
	struct script s = script_begin(BLOCK_READ, true);
	s.viewer->at_once = 0;
	return s;
}

static void frame(struct script *s)
{
	weft_viewer_advance(s->viewer, s->now_ms += 16);
}

static void finish_rows(struct script *s)
{
	while (s->viewer->next_rows) {
		assert_true(weft_viewer_advance(s->viewer, s->now_ms += 16) == 0 || !s->viewer->next_rows);
		script_draw(s);
	}
}

/* Commands, one for each choice of rows. */
static const char *const choices[] = {
	"filter -kind:bind",
	"group thread",
	"fold all off",
	"simplify off",
	"repack",
	"hide kind",
	"view start=1ms duration=2ms group=thread fold=off filter=data focus=7",
};

#define CHOICES (sizeof(choices) / sizeof(choices[0]))

static void rows_in_steps_are_the_same(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CHOICES; i++) {
		struct script at_once = script_begin(BLOCK_READ, true), s = begin_in_steps();
		assert_true(weft_viewer_command(at_once.viewer, "select task:393", at_once.now_ms));
		assert_true(weft_viewer_command(s.viewer, "select task:393", s.now_ms));
		weft_viewer_command(at_once.viewer, choices[i], at_once.now_ms);
		weft_viewer_command(s.viewer, choices[i], s.now_ms);
		assert_non_null(s.viewer->next_rows);
		assert_non_null(strstr(weft_viewer_status(s.viewer), "Escape ends it"));
		finish_rows(&s);
		assert_string_equal(weft_viewer_status(s.viewer), "The rows are laid out.");
		const struct weft_layout *a = at_once.viewer->layout, *b = s.viewer->layout;
		assert_int_equal(a->row_count, b->row_count);
		assert_int_equal(a->group_count, b->group_count);
		assert_memory_equal(a->row, b->row, a->model->tasks.count * sizeof(*a->row));
		assert_memory_equal(a->start, b->start, a->model->tasks.count * sizeof(*a->start));
		close_to(s.viewer->view.focus, at_once.viewer->view.focus, 0.01);
		script_end(&at_once);
		script_end(&s);
	}
}

static void ended_rows_are_as_before(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CHOICES; i++) {
		bool was_ended = true;
		for (unsigned frames = 0; was_ended; frames++) {
			struct script s = begin_in_steps();
			assert_true(weft_viewer_command(s.viewer, "select task:393", s.now_ms));
			const struct weft_layout *layout = s.viewer->layout;
			weft_viewer_command(s.viewer, choices[i], s.now_ms);
			for (unsigned f = 0; f < frames; f++)
				frame(&s);
			was_ended = s.viewer->next_rows != NULL;
			if (was_ended) {
				script_run(&s, "key Escape");
				assert_null(s.viewer->next_rows);
				assert_ptr_equal(s.viewer->layout, layout);
				assert_string_equal(weft_viewer_status(s.viewer), "Ended: the rows are as before.");
				assert_true(weft__viewer_rows_are_as_at_first(&s.viewer->rows));
				/* The next Escape is for other things. */
				script_run(&s, "key Escape");
				assert_int_equal(s.viewer->selection.task, WEFT_NONE);
			}
			script_draw(&s);
			script_end(&s);
			assert_true(frames < 100);
		}
	}
}

static void a_newer_choice_goes_on_from_the_wanted_one(void **state)
{
	(void)state;
	struct script s = begin_in_steps();
	script_run(&s, "command group thread; command filter -kind:bind; command fold all off");
	frame(&s);
	script_run(&s, "command hide kind"); /* without a task: changes nothing */
	assert_true(weft__viewer_rows_are_as_at_first(&s.viewer->rows));
	finish_rows(&s);
	assert_int_equal(s.viewer->rows.group_by, WEFT_GROUP_BY_THREAD);
	assert_true(s.viewer->rows.no_fold);
	assert_string_equal(s.viewer->rows.filter, "-kind:bind");
	/* The prompt shows it, and the panel's toggle is its opposite, while rows are laid out. */
	script_run(&s, "command filter data; key i");
	assert_string_equal(weft_viewer_prompt(s.viewer)->text, "data");
	script_run(&s, "key Escape; key Escape; command fold all");
	finish_rows(&s);
	assert_string_equal(s.viewer->rows.filter, "-kind:bind");
	assert_false(s.viewer->rows.no_fold);
	script_end(&s);
}

static void a_new_model_has_the_wanted_rows(void **state)
{
	(void)state;
	for (unsigned is_live = 0; is_live < 2; is_live++) {
		struct script s = begin_in_steps();
		script_run(&s, "command filter -kind:bind");
		frame(&s);
		assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), is_live), 0);
		assert_null(s.viewer->next_rows);
		assert_string_equal(s.viewer->rows.filter, "-kind:bind");
		uint32_t hidden = 0;
		for (uint32_t task = 0; task < s.viewer->model->tasks.count; task++)
			hidden += s.viewer->layout->row[task] == WEFT_NONE;
		assert_true(hidden > 0);
		script_draw(&s);
		script_run(&s, "command filter data");
		script_end(&s); /* while rows are laid out */
	}
}

static bool has_item(const struct script *s, const char *text)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(s->viewer);
	for (uint32_t i = 0; i < panel->item_count; i++)
		if (strstr(panel->items[i].text, text))
			return true;
	return false;
}

static void statistics_may_be_ended(void **state)
{
	(void)state;
	bool was_ended = true;
	for (unsigned frames = 0; was_ended; frames++) {
		struct script s = begin_in_steps();
		script_run(&s, "command panel stats");
		assert_true(has_item(&s, "Escape ends it"));
		for (unsigned f = 0; f < frames; f++)
			frame(&s);
		was_ended = s.viewer->statistics.is_making;
		if (was_ended) {
			script_run(&s, "command slow next"); /* has to wait */
			assert_non_null(strstr(weft_viewer_status(s.viewer), "Making the statistics"));
			script_run(&s, "key Escape");
			assert_string_equal(
				weft_viewer_status(s.viewer), "Ended: the statistics were not made.");
			assert_int_equal(s.viewer->panel.kind, WEFT__PANEL_STATISTICS);
			assert_true(has_item(&s, "Make the statistics"));
			frame(&s);
			assert_false(s.viewer->statistics.is_making);
			script_run(&s, "command stats all");
			assert_true(s.viewer->statistics.is_making || s.viewer->statistics.found);
		}
		while (s.viewer->statistics.is_making)
			frame(&s);
		assert_non_null(s.viewer->statistics.found);
		assert_true(has_item(&s, "The whole trace"));
		script_draw(&s);
		script_end(&s);
		assert_true(frames < 100);
	}
}

static void statistics_in_steps_are_the_same(void **state)
{
	(void)state;
	struct script at_once = script_begin(BLOCK_READ, true), s = begin_in_steps();
	script_run(&at_once, "command select task:393; command stats alike");
	script_run(&s, "command select task:393; command stats alike");
	assert_true(s.viewer->statistics.is_making);
	while (s.viewer->statistics.is_making)
		frame(&s);
	const struct weft_viewer_panel *a = weft_viewer_panel(at_once.viewer);
	const struct weft_viewer_panel *b = weft_viewer_panel(s.viewer);
	assert_true(at_once.viewer->statistics.has_row);
	assert_int_equal(a->item_count, b->item_count);
	for (uint32_t i = 0; i < a->item_count; i++) {
		assert_string_equal(a->items[i].text, b->items[i].text);
		assert_string_equal(a->items[i].detail, b->items[i].detail);
	}
	/* Without the task there is no row to show. */
	script_run(&s, "command repack; command select task:393");
	finish_rows(&s);
	script_run(&s, "command stats alike; key Escape; command stats alike");
	weft__viewer_select(s.viewer, WEFT_NONE, 0);
	while (s.viewer->statistics.is_making)
		frame(&s);
	script_end(&at_once);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_may_end_after_any_step),
		cmocka_unit_test(rows_in_steps_are_the_same),
		cmocka_unit_test(ended_rows_are_as_before),
		cmocka_unit_test(a_newer_choice_goes_on_from_the_wanted_one),
		cmocka_unit_test(a_new_model_has_the_wanted_rows),
		cmocka_unit_test(statistics_may_be_ended),
		cmocka_unit_test(statistics_in_steps_are_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
