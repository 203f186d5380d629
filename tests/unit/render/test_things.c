/* SPDX-License-Identifier: ISC
 *
 * The order in which overlapping things are drawn, and the things that a point hits.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "built.h"
#include "picture.h"
#include "render/rows.h"
#include "render/scene/scene.h"
#include "render/theme.h"
#include "render/things.h"

static uint64_t seed = 9;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static void create(struct weft_model_builder *b, uint64_t time, uint64_t task, uint64_t child)
{
	built_add(b, (struct weft_event){.type = WEFT_EVENT_CREATE,
					 .time_ns = time,
					 .task = task,
					 .other = child,
					 .kind = WEFT_KIND_TASK});
}

static void edge(struct weft_model_builder *b, enum weft_event_type type, uint64_t time,
	uint64_t task, uint64_t other)
{
	built_add(b,
		(struct weft_event){.type = (uint8_t)type, .time_ns = time, .task = task, .other = other});
}

static struct weft__things *record(struct picture *p)
{
	struct weft__things *things = weft__render_things_create();
	assert_non_null(things);
	weft_canvas_clear(p->canvas, p->frame.width, p->frame.height);
	assert_int_equal(
		weft__render_things_render(things, p->scene, &p->frame, &p->view, &p->options, p->canvas),
		0);
	return things;
}

static double x_of(const struct picture *p, uint64_t time)
{
	return p->frame.picture.x + weft_view_x(&p->view, time);
}

static double y_of(const struct picture *p, uint32_t row)
{
	return floor(p->frame.picture.y + weft_view_y(&p->view, row));
}

#define HITS_MAX 600

struct hits {
	struct weft__thing list[HITS_MAX];
	uint32_t count;
};

static void take(void *context, const struct weft__thing *thing)
{
	struct hits *hits = context;
	assert_true(hits->count < HITS_MAX);
	hits->list[hits->count++] = *thing;
}

static struct hits look(const struct weft__things *things, double x, double y, double reach)
{
	const struct weft__point point = {x, y, reach, 9};
	struct hits hits = {.count = 0};
	weft__render_things_near(things, &point, take, &hits);
	return hits;
}

static bool has_hit(const struct hits *hits, uint32_t task)
{
	for (uint32_t i = 0; i < hits->count; i++)
		if (hits->list[i].type == WEFT__THING_TASK && hits->list[i].task == task)
			return true;
	return false;
}

/* ---- Order ---- */

/* The second task was created 200 ns before the first one becomes it: both lie in one row. */
static struct weft_model *overlapping_tasks(void)
{
	struct weft_model_builder *b = built_begin();
	create(b, 0, WEFT_TASK_NONE, 1);
	edge(b, WEFT_EVENT_SWITCH, 10, 1, 0);
	create(b, 400, 1, 2);
	edge(b, WEFT_EVENT_BECOME, 600, 1, 2);
	edge(b, WEFT_EVENT_RESOLVE, 1000, 2, 2);
	return built_finish(b);
}

static void of_overlapping_lines_the_earlier_is_drawn_and_hit(void **state)
{
	struct picture p;
	uint32_t count = 0;
	(void)state;
	picture_init(&p, overlapping_tasks(), 800, 400);
	assert_int_equal(p.layout->row[0], p.layout->row[1]);
	struct weft__things *things = record(&p);
	const double ends[][2] = {{x_of(&p, 0), x_of(&p, 600)}, {x_of(&p, 600), x_of(&p, 1000)}};
	for (uint32_t i = 0; i < p.canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p.canvas->ops[i];
		if (op->type != WEFT_CANVAS_LINE || op->y != op->y2 || op->y < p.frame.picture.y ||
			op->color != weft__render_theme(WEFT_THEME_LIGHT)->waiting ||
			op->y > p.frame.picture.y + p.frame.picture.height)
			continue;
		assert_true(count < 2);
		assert_true(fabs(op->x - ends[count][0]) < 0.01 && fabs(op->x2 - ends[count][1]) < 0.01);
		count++;
	}
	assert_int_equal(count, 2);
	for (uint64_t time = 50; time < 1000; time += 100) {
		struct hits hits = look(things, x_of(&p, time), y_of(&p, 0), 0);
		assert_int_equal(hits.count, 1);
		assert_int_equal(hits.list[0].task, time < 600 ? 0 : 1);
	}
	weft__render_things_destroy(things);
	picture_finish(&p);
}

/* The first and the last operation in a colour, whatever its alpha, within the picture. */
static void find_color(
	const struct picture *p, uint32_t color, uint32_t *ret_first, uint32_t *ret_last)
{
	bool is_found = false, is_inside = false;
	for (uint32_t i = 0; i < p->canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p->canvas->ops[i];
		is_inside = op->type == WEFT_CANVAS_CLIP || (is_inside && op->type != WEFT_CANVAS_UNCLIP);
		if (!is_inside || op->type == WEFT_CANVAS_TEXT || op->color >> 8 != color >> 8)
			continue;
		*ret_first = is_found ? *ret_first : i;
		*ret_last = i;
		is_found = true;
	}
	assert_true(is_found);
}

/* An arrow of each type between the same two rows; those that are drawn first come last. The
 * second task fails. */
static struct weft_model *crossing_arrows(void)
{
	struct weft_model_builder *b = built_begin();
	for (uint64_t id = 1; id <= 4; id++)
		create(b, 0, WEFT_TASK_NONE, id);
	edge(b, WEFT_EVENT_SIGNAL, 300, 1, 2);
	edge(b, WEFT_EVENT_RESOLVE, 310, 1, 3);
	edge(b, WEFT_EVENT_READ, 400, 1, 3);
	edge(b, WEFT_EVENT_TRY_READ, 450, 1, 2);
	built_add(
		b, (struct weft_event){
			   .type = WEFT_EVENT_FAIL, .time_ns = 500, .task = 4, .other = 4, .text = {"E", 1}});
	built_add(b, (struct weft_event){
					 .type = WEFT_EVENT_COUNTER, .time_ns = 600, .value = 7, .text = {"n", 1}});
	edge(b, WEFT_EVENT_SWITCH, 1000, 1, 0);
	return built_finish(b);
}

static void arrows_marks_and_counters_are_drawn_in_order(void **state)
{
	struct picture p;
	const struct weft__theme *theme = weft__render_theme(WEFT_THEME_LIGHT);
	const uint32_t order[] = {theme->waiting, theme->try_read, theme->read, theme->resolve,
		theme->signal, theme->failed, theme->counters[0]};
	uint32_t first, last, before = 0;
	(void)state;
	picture_init(&p, crossing_arrows(), 800, 400);
	place_counters(&p, WEFT_COUNTERS_OVERLAY);
	draw(&p);
	for (unsigned i = 1; i < sizeof(order) / sizeof(order[0]); i++) {
		find_color(&p, order[i], &first, &last);
		assert_true(last > before);
		if (order[i] != theme->failed) /* tasks are drawn in that colour, too */
			assert_true(first > before);
		before = last;
	}
	picture_finish(&p);
}

static void a_highlighted_arrow_is_above_the_others(void **state)
{
	struct picture p;
	uint32_t first, last, other_last, edges[] = {0};
	const struct weft__theme *theme = weft__render_theme(WEFT_THEME_LIGHT);
	(void)state;
	picture_init(&p, crossing_arrows(), 800, 400);
	while (p.model->edges.type[edges[0]] != WEFT_EDGE_TRY_READ)
		edges[0]++;
	struct weft_highlight highlight = {
		.selected = WEFT_NONE, .hovered = WEFT_NONE, .edge = WEFT_NONE, .edges = edges};
	p.options.highlight = &highlight;
	for (highlight.edge_count = 0; highlight.edge_count < 2; highlight.edge_count++) {
		draw(&p);
		find_color(&p, theme->try_read, &first, &last);
		find_color(&p, theme->signal, &first, &other_last);
		assert_int_equal(last > other_last, highlight.edge_count);
	}
	picture_finish(&p);
}

/* ---- Hits ---- */

/* Tasks of random lengths, `alive` at once. */
static struct weft_model *random_tasks(uint32_t count, uint32_t alive, uint32_t step)
{
	struct weft_model_builder *b = built_begin();
	uint64_t ids[512], time = 0, next = alive;
	for (uint32_t i = 0; i < alive; i++)
		create(b, time, WEFT_TASK_NONE, ids[i] = i);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = pick(alive);
		edge(b, WEFT_EVENT_RESOLVE, time += pick(step), ids[slot], ids[slot]);
		create(b, time += pick(step), WEFT_TASK_NONE, ids[slot] = next++);
	}
	return built_finish(b);
}

/* Points at random places of a picture's rows, with a reach of 3 px. */
static void check_hits(const struct picture *p, const struct weft__things *things)
{
	const struct weft_box *box = &p->frame.picture;
	for (unsigned round = 0; round < 200; round++) {
		double x = box->x + pick((uint32_t)box->width), y = box->y + pick((uint32_t)box->height);
		struct hits hits = look(things, x, y, 3);
		for (uint32_t i = 0; i < hits.count; i++) {
			const struct weft__thing *hit = &hits.list[i];
			assert_true(hit->box.x - 3 <= x && x <= hit->box.x + hit->box.width + 3);
			assert_true(fabs(hit->box.y - y) <= 3);
		}
		for (uint32_t task = 0; task < p->model->tasks.count; task++) {
			double from = x_of(p, p->layout->start[task]), to = x_of(p, p->model->tasks.end[task]);
			double row_y = p->frame.picture.y + weft_view_y(&p->view, p->layout->row[task]);
			bool is_at = fabs(row_y - y) < 2 && to - from >= 2 && from + 0.01 < x && x < to - 0.01;
			assert_true(!is_at || has_hit(&hits, task));
		}
	}
}

static void lines_near_a_point_are_hit(void **state)
{
	static const uint32_t cases[][3] = {{60, 4, 100}, {300, 30, 100}, {900, 300, 100}};
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct picture p;
		picture_init(&p, random_tasks(cases[i][0], cases[i][1], cases[i][2]), 500, 300);
		for (unsigned zoom = 0; zoom < 3; zoom++) {
			struct weft__things *things = record(&p);
			check_hits(&p, things);
			weft__render_things_destroy(things);
			weft_view_zoom(&p.view, 200, 4);
		}
		picture_finish(&p);
	}
}

/* A cell of a single row has the tasks that begin in its column, but for the column in which the
 * last task begins: it is as long as a line. */
static void a_cell_has_the_tasks_of_its_column(void **state)
{
	struct picture p;
	uint32_t tasks[64], filled = 0;
	(void)state;
	picture_init(&p, random_tasks(2000, 1, 100), 500, 300);
	struct weft__things *things = record(&p);
	const struct weft_box *box = &p.frame.picture;
	double last_x = floor(x_of(&p, p.layout->start[p.model->tasks.count - 1]));
	for (double x = box->x + 0.5; x < last_x; x++) {
		const struct weft__point point = {x, y_of(&p, 0), 16, 9};
		uint32_t count = weft__render_things_cell(things, &point, tasks, 64), expected = 0;
		for (uint32_t task = 0; task < p.model->tasks.count; task++) {
			if (floor(x_of(&p, p.layout->start[task])) != floor(x))
				continue;
			if (expected < count)
				assert_int_equal(tasks[expected], task);
			expected++;
		}
		assert_int_equal(count, expected < 2 ? 0 : expected);
		filled += count > 0;
	}
	assert_true(filled > 300);
	const struct weft__point limited = {box->x + 200.5, y_of(&p, 0), 16, 9};
	assert_int_equal(weft__render_things_cell(things, &limited, tasks, 2), 2);
	const struct weft__point beside = {box->x + 200.5, y_of(&p, 0) + 8.5, 16, 9};
	assert_int_equal(weft__render_things_cell(things, &beside, tasks, 64), 0);
	weft__render_things_destroy(things);
	picture_finish(&p);
}

/* A cell of several rows has the tasks that live in its column. */
static void a_cell_of_several_rows_has_the_living_tasks(void **state)
{
	struct picture p;
	uint32_t tasks[600];
	(void)state;
	picture_init(&p, random_tasks(700, 400, 100), 300, 200);
	struct weft__things *things = record(&p);
	const struct weft_box *box = &p.frame.picture;
	for (unsigned round = 0; round < 60; round++) {
		double x = box->x + 20.5 + pick(250), y = box->y + box->height - 40;
		const struct weft__point point = {x, y, 16, 9};
		uint32_t count = weft__render_things_cell(things, &point, tasks, 600);
		uint64_t from = weft_view_time(&p.view, floor(x) - box->x);
		uint64_t to = weft_view_time(&p.view, floor(x) + 1 - box->x);
		uint32_t first = UINT32_MAX, last = 0, expected = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t row = p.layout->row[tasks[i]];
			first = row < first ? row : first;
			last = row > last ? row : last;
		}
		assert_true(count > 2);
		for (uint32_t task = 0; task < p.model->tasks.count; task++)
			expected += p.layout->row[task] >= first && p.layout->row[task] <= last &&
						p.layout->start[task] <= to && p.model->tasks.end[task] > from;
		assert_int_equal(count, expected);
	}
	weft__render_things_destroy(things);
	picture_finish(&p);
}

/* Ten alike tasks, 60 ns each, 100 ns apart. */
static struct weft_model *alike_tasks(void)
{
	struct weft_model_builder *b = built_begin();
	create(b, 0, WEFT_TASK_NONE, 1);
	for (uint64_t i = 0; i < 10; i++) {
		create(b, 100 + 100 * i, 1, 10 + i);
		edge(b, WEFT_EVENT_RESOLVE, 160 + 100 * i, 1, 10 + i);
	}
	edge(b, WEFT_EVENT_SWITCH, 1200, 1, 0);
	return built_finish(b);
}

static void a_fold_is_hit_at_the_member_that_began_last(void **state)
{
	struct picture p;
	(void)state;
	picture_init_laid_out(&p, alike_tasks(), &(struct weft_layout_options){.fold = true}, 700, 300);
	p.options.handles = true;
	struct weft__things *things = record(&p);
	uint32_t row = p.layout->folds[0].row;
	for (uint64_t time = 101; time < 1060; time += 33) {
		struct hits hits = look(things, x_of(&p, time), y_of(&p, row), 0);
		assert_int_equal(hits.count, 1);
		assert_int_equal(hits.list[0].type, WEFT__THING_FOLD);
		assert_int_equal(hits.list[0].fold, 0);
		assert_int_equal(hits.list[0].task, p.layout->fold_members[(time - 100) / 100]);
	}
	assert_int_equal(look(things, x_of(&p, 1100), y_of(&p, row), 0).count, 0);
	struct hits handle = look(things, x_of(&p, 100) - 17, y_of(&p, row) + 9, 0);
	assert_int_equal(handle.count, 1);
	assert_int_equal(handle.list[0].type, WEFT__THING_HANDLE);
	assert_int_equal(handle.list[0].task, p.layout->fold_members[0]);
	assert_int_equal(look(things, x_of(&p, 100) - 19.5, y_of(&p, row), 0).count, 0);
	weft__render_things_destroy(things);
	picture_finish(&p);
}

/* ---- Rows ---- */

/* Two rows: five tasks of 50 ns each 100 ns in the second, below one that lasts. */
static struct weft_model *tasks_in_a_row(void)
{
	struct weft_model_builder *b = built_begin();
	create(b, 0, WEFT_TASK_NONE, 1);
	for (uint64_t i = 0; i < 5; i++) {
		create(b, 100 + 100 * i, 1, 2 + i);
		edge(b, WEFT_EVENT_RESOLVE, 150 + 100 * i, 1, 2 + i);
	}
	edge(b, WEFT_EVENT_RESOLVE, 1000, 1, 1);
	return built_finish(b);
}

static void tasks_are_found_in_their_row(void **state)
{
	struct picture p;
	uint32_t tasks[8];
	(void)state;
	picture_init(&p, tasks_in_a_row(), 500, 300);
	/* The one that lives then, else the next, else the last. */
	assert_int_equal(weft__render_row_task_at(p.scene, 1, 0), 1);
	assert_int_equal(weft__render_row_task_at(p.scene, 1, 149), 1);
	assert_int_equal(weft__render_row_task_at(p.scene, 1, 150), 2);
	assert_int_equal(weft__render_row_task_at(p.scene, 1, 900), 5);
	assert_int_equal(weft__render_row_task_at(p.scene, 0, 900), 0);
	assert_int_equal(weft__render_row_neighbour(p.scene, 3, 1), 4);
	assert_int_equal(weft__render_row_neighbour(p.scene, 3, -1), 2);
	assert_int_equal(weft__render_row_neighbour(p.scene, 1, -1), WEFT_NONE);
	assert_int_equal(weft__render_row_neighbour(p.scene, 5, 1), WEFT_NONE);
	assert_int_equal(weft__render_row_neighbour(p.scene, 0, 1), WEFT_NONE);
	/* Those in a range, and the one before it. */
	assert_int_equal(weft__render_row_tasks(p.scene, 1, 250, 400, tasks, 8), 3);
	assert_int_equal(tasks[0], 2);
	assert_int_equal(tasks[2], 4);
	assert_int_equal(weft__render_row_tasks(p.scene, 1, 249, 399, tasks, 8), 3);
	assert_int_equal(tasks[0], 1);
	assert_int_equal(weft__render_row_tasks(p.scene, 1, 0, 1000, tasks, 8), 5);
	assert_int_equal(weft__render_row_tasks(p.scene, 1, 0, 1000, tasks, 2), 2);
	picture_finish(&p);
	picture_init_laid_out(&p, alike_tasks(), &(struct weft_layout_options){.fold = true}, 700, 300);
	uint32_t row = p.layout->folds[0].row;
	assert_int_equal(weft__render_row_task_at(p.scene, row, 999), p.layout->fold_members[0]);
	picture_finish(&p);
}

static void a_record_is_that_of_one_frame(void **state)
{
	struct picture p;
	double shifts[] = {1};
	(void)state;
	picture_init(&p, overlapping_tasks(), 800, 400);
	p.options.row_shifts = shifts;
	p.options.row_shift = 0.5;
	struct weft__things *things = record(&p);
	assert_true(weft__render_things_show(things, p.scene, &p.frame, &p.view, 0.5));
	assert_false(weft__render_things_show(things, p.scene, &p.frame, &p.view, 0.25));
	assert_false(weft__render_things_show(things, NULL, &p.frame, &p.view, 0.5));
	weft_view_zoom(&p.view, 100, 2);
	assert_false(weft__render_things_show(things, p.scene, &p.frame, &p.view, 0.5));
	weft_view_fit(&p.view);
	p.frame.picture.x++;
	assert_false(weft__render_things_show(things, p.scene, &p.frame, &p.view, 0.5));
	weft__render_things_clear(things);
	assert_int_equal(look(things, 100, 100, 500).count, 0);
	weft__render_things_destroy(things);
	picture_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_overlapping_lines_the_earlier_is_drawn_and_hit),
		cmocka_unit_test(arrows_marks_and_counters_are_drawn_in_order),
		cmocka_unit_test(a_highlighted_arrow_is_above_the_others),
		cmocka_unit_test(lines_near_a_point_are_hit),
		cmocka_unit_test(a_cell_has_the_tasks_of_its_column),
		cmocka_unit_test(a_cell_of_several_rows_has_the_living_tasks),
		cmocka_unit_test(a_fold_is_hit_at_the_member_that_began_last),
		cmocka_unit_test(tasks_are_found_in_their_row),
		cmocka_unit_test(a_record_is_that_of_one_frame),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
