/* SPDX-License-Identifier: ISC
 *
 * Where more arrows end than there are columns, the lines below the rows are compared with a loop
 * over all edges: their place, their colour, and how strong they are.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "built.h"
#include "painter_made.h"
#include "render/edges/edge_columns.h"
#include "render/theme.h"

enum {
	GROUP = 4, /* columns that have one shade */
	WIDTH = 600,
	STEP_NS = 1000,
	TASKS = 4,
};

static const uint8_t types[] = {
	WEFT_EDGE_READ, WEFT_EDGE_RESOLVE, WEFT_EDGE_TRY_READ, WEFT_EDGE_SIGNAL};

/* Many edges at one time, at each of a series of times; the numbers are around those at which the
 * shade changes. */
static struct weft_model *model_of(uint32_t steps)
{
	static const uint32_t counts[] = {1, 16, 17, 128, 129, 3, 15, 127, 130, 40};
	static const uint8_t events[] = {
		WEFT_EVENT_READ, WEFT_EVENT_RESOLVE, WEFT_EVENT_TRY_READ, WEFT_EVENT_SIGNAL};
	struct weft_model_builder *builder = built_begin();
	struct weft_event event = {
		.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .kind = WEFT_KIND_TASK};
	for (uint64_t task = 1; task <= TASKS; task++) {
		event.other = task;
		built_add(builder, event);
	}
	for (uint32_t step = 0; step < steps; step++) {
		uint32_t count = counts[(step / 4 + step) % 10];
		event = (struct weft_event){.type = events[step % 4],
			.time_ns = (step + 1) * STEP_NS,
			.task = 1 + step % 3,
			.other = 2 + step % 3};
		for (uint32_t i = 0; i < count; i++)
			built_add(builder, event);
	}
	event = (struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = 82 * STEP_NS, .task = 1};
	built_add(builder, event);
	return built_finish(builder);
}

struct heated {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_frame frame;
	struct weft_view view;
	struct painter *painter;
	struct weft__edge_columns columns;
	struct weft_canvas *canvas;
};

/* All columns are hot. `height`: of the picture. With few steps all rows are one
 * block. */
static void begin(struct heated *h, double height, uint32_t steps)
{
	*h = (struct heated){.model = model_of(steps)};
	assert_int_equal(weft_layout_create(h->model, NULL, &h->layout), 0);
	assert_int_equal(weft_scene_create(h->model, h->layout, &h->scene), 0);
	assert_int_equal(weft_canvas_create(WIDTH, height, &h->canvas), 0);
	weft_frame_place(h->layout, WIDTH, height, &h->frame);
	weft_frame_view(h->layout, &h->frame, &h->view);
	h->painter = painter_made(h->scene, &h->frame, &h->view, h->canvas);
	weft__render_make_lanes(h->painter);
	assert_true(weft__render_edge_columns_init(&h->columns, h->painter));
	memset(h->columns.hot, true, weft__render_edge_buckets(h->columns.count));
	h->painter->edge_columns = &h->columns;
}

static void end(struct heated *h)
{
	weft__render_edge_columns_finish(&h->columns);
	free(h->painter->lanes);
	free(h->painter);
	weft_canvas_destroy(h->canvas);
	weft_scene_destroy(h->scene);
	weft_layout_destroy(h->layout);
	weft_model_destroy(h->model);
}

static uint32_t naive_count(
	const struct heated *h, unsigned type, uint32_t row, uint32_t from, uint32_t to)
{
	const struct weft_edges *edges = &h->model->edges;
	uint32_t count = 0;
	for (uint32_t i = h->columns.edges[from]; i < h->columns.edges[to]; i++)
		count +=
			edges->type[i] == type && h->layout->row[weft__render_edge_target(h->model, i)] == row;
	return count;
}

static double alpha_of(uint32_t count)
{
	return count == 0 ? 0 : count <= 16 ? 0.55 : count <= 128 ? 0.75 : 0.95;
}

static uint32_t color_of(const struct heated *h, unsigned type)
{
	const struct weft__theme *theme = h->painter->theme;
	return type == WEFT_EDGE_READ      ? theme->read
		   : type == WEFT_EDGE_RESOLVE ? theme->resolve
		   : type == WEFT_EDGE_SIGNAL  ? theme->signal
									   : theme->try_read;
}

/* The colour that is drawn at a point; 0: none. */
static uint32_t drawn_at(const struct heated *h, double x, double y)
{
	for (uint32_t i = 0; i < h->canvas->op_count; i++) {
		const struct weft_canvas_op *op = &h->canvas->ops[i];
		assert_int_equal(op->type, WEFT_CANVAS_RECT);
		if (op->y == y && op->y2 == y + 1 && op->x <= x && x < op->x2)
			return op->color;
	}
	return 0;
}

static uint32_t check_lane(const struct heated *h, const struct weft__lane *lane)
{
	uint32_t width = h->columns.width, heated = 0;
	for (unsigned i = 0; i < sizeof(types); i++)
		for (uint32_t column = 0; column < width; column += GROUP) {
			uint32_t to = column + GROUP < width ? column + GROUP : width;
			double alpha = alpha_of(naive_count(h, types[i], lane->first_row, column, to));
			uint32_t color = alpha > 0 ? weft__render_faded(color_of(h, types[i]), alpha) : 0;
			assert_int_equal(drawn_at(h, h->painter->x0 + column, lane->y + 4 + i), color);
			heated += color != 0;
		}
	return heated;
}

static void lines_are_as_strong_as_arrows_are_many(void **state)
{
	(void)state;
	static const struct {
		double height;
		uint32_t steps;
	} cases[] = {{400, 80}, {300, 80}, {400, 11}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct heated h;
		begin(&h, cases[i].height, cases[i].steps);
		assert_int_equal(h.scene->census.blocks.count == 1, cases[i].steps == 11);
		weft__render_draw_heat(h.painter, NULL, 0);
		assert_int_equal(h.painter->error, 0);
		uint32_t heated = 0;
		for (uint32_t lane = 0; lane < h.painter->lane_count; lane++) {
			assert_true(h.painter->lanes[lane].spacing >= 12);
			heated += check_lane(&h, &h.painter->lanes[lane]);
		}
		assert_in_range(heated, cases[i].steps - 10, cases[i].steps + 10);
		end(&h);
	}
}

static void rows_without_room_have_none(void **state)
{
	(void)state;
	for (uint32_t roomy = 0; roomy < TASKS; roomy++) {
		struct heated h;
		begin(&h, 400, roomy ? 80 : 8);
		for (uint32_t lane = 0; lane < h.painter->lane_count; lane++)
			h.painter->lanes[lane].spacing = lane == roomy ? 12 : 11.9;
		weft__render_draw_heat(h.painter, NULL, 0);
		for (uint32_t i = 0; i < h.canvas->op_count; i++)
			assert_in_range(h.canvas->ops[i].y - h.painter->lanes[roomy].y, 4, 7);
		if (roomy > 0 && roomy < 3)
			assert_true(check_lane(&h, &h.painter->lanes[roomy]) > 10);
		end(&h);
	}
}

/* Draws the same from a list of the edges, as a frame with few edges does. */
static void a_list_of_arrows_gives_the_same_lines(void **state)
{
	(void)state;
	struct heated h;
	begin(&h, 400, 80);
	uint32_t count = 0, edges = h.model->edges.count;
	struct weft__heat_mark *marks = malloc(edges * sizeof(*marks));
	for (uint32_t column = 0; column < h.columns.count; column++)
		for (uint32_t i = h.columns.edges[column]; i < h.columns.edges[column + 1]; i++)
			if (weft__render_edge_target(h.model, i) != WEFT_NONE)
				marks[count++] = (struct weft__heat_mark){i, column};
	h.painter->edge_columns = NULL;
	weft__render_draw_heat(h.painter, marks, count);
	for (uint32_t lane = 0; lane < h.painter->lane_count; lane++)
		check_lane(&h, &h.painter->lanes[lane]);
	assert_true(h.canvas->op_count > 40);
	free(marks);
	end(&h);
}

/* All arrows of a bucket are drawn one by one, or none. */
static void columns_that_are_not_hot_have_none(void **state)
{
	(void)state;
	struct heated h;
	begin(&h, 400, 80);
	uint32_t middle = h.columns.width / 2 / WEFT__EDGE_BUCKET;
	memset(h.columns.hot, false, middle);
	weft__render_draw_heat(h.painter, NULL, 0);
	assert_true(h.canvas->op_count > 10);
	for (uint32_t i = 0; i < h.canvas->op_count; i++)
		assert_true(h.canvas->ops[i].x >= h.painter->x0 + middle * WEFT__EDGE_BUCKET);
	end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_as_strong_as_arrows_are_many),
		cmocka_unit_test(rows_without_room_have_none),
		cmocka_unit_test(a_list_of_arrows_gives_the_same_lines),
		cmocka_unit_test(columns_that_are_not_hot_have_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
