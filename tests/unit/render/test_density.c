/* SPDX-License-Identifier: ISC
 *
 * A picture counts what it merges instead of sampling: each count is compared with that of a loop
 * over everything.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "render/scene/density.h"
#include "render/edges/edge_columns.h"
#include "render/tasks/cells.h"
#include "built.h"
#include "painter_made.h"

static uint64_t seed = 5;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static void points_are_counted(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		uint32_t count = pick(4) ? pick(3000) : pick(3),
				 block_count = 1 + pick(round % 2 ? 9 : 900);
		uint16_t *blocks = malloc((count + 1) * 2 * sizeof(*blocks));
		uint16_t *kept = malloc((count + 1) * sizeof(*kept));
		struct weft__points points;
		unsigned levels = 0;
		while (1u << levels < block_count)
			levels++;
		for (uint32_t i = 0; i < count; i++)
			kept[i] = blocks[i] = (uint16_t)pick(block_count);
		assert_int_equal(
			weft__render_points_init(&points, blocks, blocks + count, count, levels), 0);
		for (unsigned i = 0; i < 20; i++) {
			uint32_t block = pick(block_count), rank = pick(count + 1), below = 0, last = 0;
			for (uint32_t j = 0; j < rank; j++)
				if (kept[j] == block) {
					below++;
					last = j;
				}
			assert_int_equal(weft__render_points_rank(&points, block, rank), below);
			struct weft__points_path path;
			weft__render_points_path_init(&path, &points, block);
			if (below)
				assert_int_equal(weft__render_points_select(&path, below - 1), last);
		}
		weft__render_points_finish(&points);
		free(blocks);
		free(kept);
	}
}

struct scenery {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_frame frame;
	struct weft_view view;
	struct painter *painter; /* set by look_around() or look_at_turns() */
};

/* Makes a model of the events so far, while the trace goes on. */
static struct weft_model *snapshot(struct weft_model_builder *builder, uint64_t now)
{
	static const struct weft_trace_thread thread = {.name = ""};
	const struct weft_trace_description description = {
		.format = "test", .clock = {.name = "test"}, .threads = &thread, .thread_count = 1};
	struct weft_model *model = NULL;
	assert_int_equal(weft_model_builder_snapshot(builder, &description, now, &model), 0);
	weft_model_builder_destroy(builder);
	return model;
}

/* A model of tasks that create others, read them, run, end and fail: `live` of them at once. */
static struct weft_model *random_model(uint32_t events, uint32_t live, uint32_t step, bool goes_on)
{
	struct weft_model_builder *builder = built_begin();
	uint64_t ids[1000], time = 1000, next = live;
	for (uint32_t i = 0; i < live; i++)
		ids[i] = i;
	for (uint32_t i = 0; i < events; i++) {
		static const uint8_t types[] = {WEFT_EVENT_READ, WEFT_EVENT_READ, WEFT_EVENT_TRY_READ,
			WEFT_EVENT_SIGNAL, WEFT_EVENT_SWITCH, WEFT_EVENT_COUNTER};
		uint32_t roll = pick(10), slot = pick(live);
		struct weft_event event = {.time_ns = time,
			.task = ids[pick(live)],
			.other = ids[slot],
			.kind = WEFT_KIND_TASK,
			.value = (int64_t)pick(100) - 50,
			.text = {"x", 1}};
		time += pick(step);
		if (roll < 3) {
			event.type = pick(30) ? WEFT_EVENT_RESOLVE : WEFT_EVENT_FAIL;
			built_add(builder, event);
			event.type = WEFT_EVENT_CREATE;
			event.other = ids[slot] = next++;
			event.task = pick(2) ? WEFT_TASK_NONE : ids[pick(live)];
		} else {
			event.type = types[pick(sizeof(types))];
		}
		built_add(builder, event);
	}
	return goes_on ? snapshot(builder, time + 1) : built_finish(builder);
}

static void scenery_init(struct scenery *s, struct weft_model *model)
{
	*s = (struct scenery){.model = model};
	assert_int_equal(weft_layout_create(model, NULL, &s->layout), 0);
	assert_int_equal(weft_scene_create(model, s->layout, &s->scene), 0);
}

static void scenery_finish(struct scenery *s)
{
	weft_scene_destroy(s->scene);
	weft_layout_destroy(s->layout);
	weft_model_destroy(s->model);
}

/* Sets a random view, from everything to a few ns. */
static void look_around(struct scenery *s)
{
	uint64_t length = s->model->summary.end - s->model->summary.start + 1;
	weft_frame_place(s->layout, 200 + pick(300), 100 + pick(500), &s->frame);
	weft_frame_view(s->layout, &s->frame, &s->view);
	if (pick(5))
		weft_view_set_range(&s->view, s->model->summary.start + pick((uint32_t)length),
			(double)length / pow(10, pick(60) / 10.0));
	weft_view_set_focus(&s->view, pick(s->layout->row_count));
	s->painter = painter_made(s->scene, &s->frame, &s->view, NULL);
	weft__render_make_lanes(s->painter);
	assert_int_equal(s->painter->error, 0);
}

static void look_away(struct scenery *s)
{
	free(s->painter->lanes);
	free(s->painter);
}

static struct weft__density_cell count_cell(const struct scenery *s, const struct weft__lane *lane,
	uint64_t from, uint64_t to, uint32_t *ret_alive)
{
	struct weft__density_cell cell = {0};
	const struct weft_activations *a = &s->model->activations;
	*ret_alive = 0;
	for (uint32_t task = 0; task < s->model->tasks.count; task++) {
		uint32_t row = s->layout->row[task];
		uint64_t start = s->layout->start[task], end = s->model->tasks.end[task];
		uint64_t last = end > start ? end - 1 : start;
		bool ends = last >= from && last < to;
		if (row < lane->first_row || row >= lane->first_row + lane->row_count)
			continue;
		*ret_alive += start < from && last >= from;
		cell.starts += start >= from && start < to;
		cell.lasts += ends;
		cell.failed += ends && s->model->tasks.flags[task] & WEFT_TASK_FAILED;
		for (uint32_t i = s->model->tasks.first_activation[task];
			 i < s->model->tasks.end_activation[task]; i++)
			if (a->start[i] < to && a->end[i] > from)
				cell.running_ns += (float)((a->end[i] < to ? a->end[i] : to) -
										   (a->start[i] > from ? a->start[i] : from));
	}
	return cell;
}

/* Checks a few columns of each merged lane; returns how many. */
static unsigned check_lanes(const struct scenery *s, const struct weft__density *density)
{
	double off_by = 0, ran = 0;
	unsigned checked = 0;
	for (uint32_t i = 0; i < s->painter->lane_count; i++) {
		const struct weft__lane *lane = &s->painter->lanes[i];
		for (unsigned j = 0; lane->row_count > 1 && j < 4; j++, checked++) {
			uint32_t column = pick(density->columns), alive, counted = density->alive[i];
			const struct weft__density_cell *cells = density->cells + (size_t)i * density->columns;
			struct weft__density_cell cell =
				count_cell(s, lane, density->times[column], density->times[column + 1], &alive);
			for (uint32_t k = 0; k < column; k++)
				counted += cells[k].starts - cells[k].lasts;
			assert_int_equal(counted, alive);
			assert_int_equal(cells[column].starts, cell.starts);
			assert_int_equal(cells[column].lasts, cell.lasts);
			assert_int_equal(cells[column].failed, cell.failed);
			off_by += fabs(cells[column].running_ns - cell.running_ns);
			ran += cell.running_ns;
		}
	}
	/* Running time is counted in portions. */
	assert_true(off_by <= 0.05 * ran + 4 * s->scene->census.run_ns * (checked + 1));
	return checked;
}

/* Returns how many columns were checked. */
static unsigned check_densities(bool go_on)
{
	static const struct {
		uint32_t events, live, step;
	} cases[] = {{3000, 200, 50}, {20000, 3, 50}, {20000, 60, 2}, {8000, 900, 400}, {6000, 100, 1}};
	unsigned checked = 0;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scenery s;
		scenery_init(&s, random_model(cases[i].events, cases[i].live, cases[i].step, go_on));
		for (unsigned round = 0; round < 12; round++) {
			look_around(&s);
			struct weft__density *density = weft__render_density_create(s.painter);
			assert_non_null(density);
			checked += check_lanes(&s, density);
			weft__render_density_destroy(density);
			look_away(&s);
		}
		scenery_finish(&s);
	}
	return checked;
}

static void merged_lanes_are_counted(void **state)
{
	(void)state;
	assert_true(check_densities(false) > 2000);
}

static void merged_lanes_of_live_traces_are_counted(void **state)
{
	(void)state;
	assert_true(check_densities(true) > 2000);
}

static void tasks_in_view_are_counted(void **state)
{
	(void)state;
	struct scenery s;
	scenery_init(&s, random_model(5000, 50, 40, false));
	uint32_t length = (uint32_t)(s.model->summary.end - s.model->summary.start);
	for (unsigned round = 0; round < 300; round++) {
		uint64_t from = s.model->summary.start + pick(length), to = from + 1 + pick(length);
		uint32_t count = 0;
		for (uint32_t task = 0; task < s.model->tasks.count; task++)
			count += s.layout->start[task] < to && weft__render_census_last(s.scene, task) >= from;
		assert_int_equal(weft__render_census_alive(s.scene, from, to), count);
	}
	scenery_finish(&s);
}

static void check_columns(const struct scenery *s)
{
	const struct weft_edges *edges = &s->model->edges;
	unsigned types = (1u << WEFT_EDGE_TYPES) - 1;
	struct weft__edge_columns columns;
	assert_true(weft__render_edge_columns_init(&columns, s->painter));
	weft__render_edge_columns_limit(&columns, types, 500);
	uint32_t drawn = 0, more = 0; /* of columns with one edge more */
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		for (uint32_t column = 0; column < columns.count; column++) {
			uint32_t count = 0, next = columns.edges[column], last = columns.edges[column + 1];
			for (uint32_t edge = next; edge < last; edge++) {
				double x = weft_view_x(&s->view, edges->time[edge]);
				assert_true(x >= column && x < column + 1);
				if (edges->type[edge] != type)
					continue;
				assert_int_equal(weft__render_edges_next(s->scene, type, next, last), edge);
				uint32_t rank = columns.ranks[type][column] + count++;
				assert_int_equal(weft__render_edge_of_key(s->scene, type, rank), edge);
				next = edge + 1;
			}
			assert_int_equal(weft__render_edges_next(s->scene, type, next, last), last);
			assert_int_equal(weft__render_edges_in_column(&columns, type, column), count);
			drawn += weft__render_column_is_dense(&columns, type, column) ? 0 : count;
			more += count == columns.few[type] + 1 ? count : 0;
		}
	assert_true(drawn <= 500 && (drawn + more > 500 || columns.few[0] == 64));
	weft__render_edge_columns_finish(&columns);
}

static void edges_of_columns_are_counted(void **state)
{
	(void)state;
	struct scenery s;
	scenery_init(&s, random_model(6000, 20, 40, false));
	for (unsigned round = 0; round < 12; round++) {
		look_around(&s);
		check_columns(&s);
		look_away(&s);
	}
	scenery_finish(&s);
}

static void extremes_of_samples_are_found(void **state)
{
	(void)state;
	struct scenery s;
	scenery_init(&s, random_model(60000, 5, 9, false));
	assert_true(s.model->samples.count > 3000);
	for (unsigned round = 0; round < 2000; round++) {
		const struct weft_counter *c = &s.model->counters[pick(s.model->counter_count)];
		uint32_t first = c->first + pick(c->count);
		uint32_t last = first + 1 + pick(c->first + c->count - first);
		double low = INFINITY, high = -INFINITY, sum = 0;
		for (uint32_t i = first; i < last; i++) {
			double value = weft_counter_value(s.model, c, i);
			low = fmin(low, value);
			high = fmax(high, value);
			sum += value;
		}
		struct weft__mean found = weft__render_scene_extremes(s.scene, c, first, last);
		assert_true(found.low == low && found.high == high);
		assert_true(found.mean == sum / (last - first)); /* whole numbers: no sum is rounded */
	}
	scenery_finish(&s);
}

/* Two tasks take turns of random length; one turn in `rare` is long. */
static struct weft_model *turns(uint32_t count, uint32_t rare)
{
	struct weft_model_builder *builder = built_begin();
	uint64_t time = 1000;
	for (uint32_t i = 0; i < count; i++) {
		built_add(builder,
			(struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = time, .task = i % 2});
		time += 1 + (pick(rare) ? pick(1u << pick(10)) : pick(200000));
	}
	return built_finish(builder);
}

static void look_at_turns(struct scenery *s, double width, struct weft_canvas *canvas)
{
	uint64_t length = s->model->summary.end - s->model->summary.start;
	weft_frame_place(s->layout, width, 300, &s->frame);
	s->frame.picture.x = 0;
	weft_frame_view(s->layout, &s->frame, &s->view);
	weft_view_set_range(&s->view, s->model->summary.start + pick((uint32_t)length),
		(double)length / pow(10, pick(30) / 10.0));
	s->painter = painter_made(s->scene, &s->frame, &s->view, canvas);
}

/* A pixel column: how much ran there, how much of that in periods of less than a pixel, and the
 * drawn height. */
struct ran {
	double all, narrow, drawn;
};

static void measure_columns(const struct scenery *s, uint32_t task, struct ran *columns)
{
	const struct weft_activations *a = &s->model->activations;
	double width = s->frame.picture.width;
	for (uint32_t i = s->model->tasks.first_activation[task];
		 i < s->model->tasks.end_activation[task]; i++) {
		double x = weft_view_x(&s->view, a->start[i]), x2 = weft_view_x(&s->view, a->end[i]);
		double narrow = x2 - x < 1, end = fmin(x2, width);
		for (double k = floor(fmax(x, 0)); k < end; k++) {
			double part = fmin(k + 1, end) - fmax(k, x);
			columns[(size_t)k].all += part;
			columns[(size_t)k].narrow += narrow * part;
		}
	}
}

static void read_columns(
	const struct scenery *s, const struct weft_canvas *canvas, double height, struct ran *columns)
{
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		assert_int_equal(op->type, WEFT_CANVAS_RECT);
		assert_true(op->x >= 0 && op->x2 <= s->frame.picture.width && op->x2 > op->x);
		if (op->color == s->painter->theme->waiting)
			assert_true(op->y2 - op->y == height);
		else
			for (double k = ceil(op->x); k + 1 <= op->x2; k++)
				columns[(size_t)k].drawn = fmax(columns[(size_t)k].drawn, op->y2 - op->y);
	}
}

#define HEIGHT 7
#define NEARLY 1e-6

/* Checks each column; returns how many have periods shorter than a pixel. */
static unsigned check_each(const struct ran *columns, size_t count)
{
	unsigned checked = 0;
	for (size_t k = 0; k < count; k++) {
		const struct ran *c = &columns[k];
		if (c->all <= NEARLY)
			assert_true(c->drawn <= (c->all > 0));
		if (c->narrow <= NEARLY || c->drawn == HEIGHT) /* bars that all but touch are one */ {
			assert_true(c->drawn < HEIGHT || c->all >= 0.75 - NEARLY);
			continue;
		}
		assert_true(c->drawn >= weft__render_bar_height(c->all - NEARLY, HEIGHT));
		assert_true(c->drawn <= weft__render_bar_height(c->all + NEARLY, HEIGHT));
		checked++;
	}
	return checked;
}

/* Where many columns differ, up to four are drawn as one. A hundred columns then have as much ink
 * as running time, apart from rounding and from groups that reach into a neighbour. */
static unsigned check_groups(const struct ran *columns, size_t count)
{
	unsigned checked = 0;
	for (size_t first = 0; first + 100 <= count; first += 100) {
		double all = 0, drawn = 0, wide = 0;
		for (size_t k = first; k < first + 100; k++) {
			all += columns[k].all;
			drawn += columns[k].drawn / HEIGHT;
			wide += columns[k].all - columns[k].narrow;
		}
		if (wide > NEARLY)
			continue;
		assert_true(drawn >= all - 6);
		assert_true(drawn <= all + 100.0 / HEIGHT + 6);
		checked++;
	}
	for (size_t k = 4; k + 4 < count; k++) {
		double near = 0;
		for (size_t j = k - 4; j <= k + 4; j++)
			near += columns[j].all;
		assert_true(near > 0 || columns[k].drawn == 0);
	}
	return checked;
}

static unsigned check_bars(struct scenery *s, struct weft_canvas *canvas, uint32_t task)
{
	size_t room = (size_t)s->frame.picture.width + 2;
	struct ran *columns = calloc(room, sizeof(*columns));
	weft_canvas_clear(canvas, s->frame.width, s->frame.height);
	weft__render_bars_draw(s->painter->bars, s->painter, task,
		&(struct weft__bar_box){0, s->frame.picture.width, 50, HEIGHT});
	measure_columns(s, task, columns);
	read_columns(s, canvas, HEIGHT, columns);
	unsigned checked = room > 200 ? check_groups(columns, room) : check_each(columns, room);
	free(columns);
	return checked;
}

static void bars_are_as_high_as_tasks_ran(void **state)
{
	(void)state;
	struct weft_canvas *canvas;
	unsigned checked = 0, groups = 0;
	assert_int_equal(weft_canvas_create(100, 100, &canvas), 0);
	for (unsigned round = 0; round < 100; round++) {
		struct scenery s;
		scenery_init(&s, turns(round % 3   ? 30000
							   : round % 4 ? 300
										   : 150000,
							 round % 4 ? 300 : 20000));
		look_at_turns(&s, round % 4 ? 150 : 1000, canvas);
		s.painter->bars = weft__render_bars_create(s.painter);
		assert_non_null(s.painter->bars);
		*(round % 4 ? &checked : &groups) += check_bars(&s, canvas, pick(2));
		weft__render_bars_destroy(s.painter->bars);
		look_away(&s);
		scenery_finish(&s);
	}
	assert_true(checked > 1500);
	assert_true(groups > 30);
	weft_canvas_destroy(canvas);
}

struct watch {
	unsigned steps, stop_at;
	double part;
};

static bool watch_step(void *context, double part)
{
	struct watch *watch = context;
	assert_true(part >= watch->part && part < 1);
	watch->part = part;
	return watch->steps++ != watch->stop_at;
}

/* Stops the work at each of its steps; returns the number of steps. */
static unsigned stop_everywhere(const struct weft_model *model, const struct weft_layout *layout)
{
	for (unsigned stop_at = 0;; stop_at++) {
		struct watch watch = {.stop_at = stop_at};
		struct weft_progress progress = {watch_step, &watch, NULL};
		struct weft_layout_options options = {.progress = &progress};
		struct weft_layout *new_layout = NULL;
		struct weft_scene *scene = NULL;
		int error = layout ? weft_scene_create_watched(model, layout, &progress, &scene)
						   : weft_layout_create(model, &options, &new_layout);
		weft_scene_destroy(scene);
		weft_layout_destroy(new_layout);
		if (error == 0)
			return stop_at;
		assert_int_equal(error, WEFT_ERROR_CANCELED);
		assert_true(!scene && !new_layout);
		assert_int_equal(watch.steps, stop_at + 1);
	}
}

static void work_can_be_stopped_at_each_step(void **state)
{
	(void)state;
	struct scenery s;
	scenery_init(&s, random_model(2000, 20, 40, false));
	assert_true(stop_everywhere(s.model, NULL) >= 3);
	assert_true(stop_everywhere(s.model, s.layout) >= 10);
	scenery_finish(&s);
}

/* ---- Cells ---- */

#define COLUMNS 420

/* The expected look of a pixel column: see cells.h. */
struct column_look {
	int height, ran; /* px */
	bool failed;
};

static struct column_look look_of(const struct painter *p, const struct weft__share *share)
{
	struct column_look look = {0, 0, share->failed};
	if (share->tasks == 0)
		return look;
	look.height = (int)fmin(8, 2 + floor(log2(share->tasks)));
	look.ran = (int)ceil(fmin(share->running_ns * p->view->scale, 1) * look.height - 0.05);
	return look;
}

/* Random columns from the second on, the last one too; `alike` of them in a row. */
static unsigned fill_columns(
	struct painter *p, struct weft__cells *cells, uint32_t alike, struct column_look looks[COLUMNS])
{
	unsigned changes = 0;
	for (uint32_t at = 1; at < COLUMNS;) {
		struct weft__share share = {.tasks = pick(6) ? 1 + pick(100) : 0};
		if (share.tasks) {
			share.running_ns = (uint64_t)(pick(130) / 100.0 / p->view->scale);
			share.failed = pick(20) == 0;
		}
		changes++;
		for (uint32_t i = 0; i < alike && at < COLUMNS; i++, at++) {
			looks[at] = look_of(p, &share);
			if (share.tasks)
				weft__render_cells_add_share(cells, p, &share, p->x0 + at + pick(9) / 10.0);
		}
	}
	return changes;
}

static void read_looks(const struct painter *p, struct column_look looks[COLUMNS])
{
	for (uint32_t i = 0; i < p->canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p->canvas->ops[i];
		double from = op->x - p->x0, to = op->x2 - p->x0;
		int height = (int)(op->y2 - op->y);
		assert_int_equal(op->type, WEFT_CANVAS_RECT);
		if (op->color == p->theme->failed) {
			from += 0.5;
			assert_int_equal(height, 3);
		}
		for (double x = from; x < to && x < COLUMNS; x++) {
			struct column_look *look = &looks[(size_t)x];
			look->failed = look->failed || op->color == p->theme->failed;
			look->height += op->color == p->theme->failed ? 0 : height;
			look->ran += op->color == p->theme->running ? height : 0;
		}
	}
}

/* Neighbours with equal looks are one rectangle; where there are too many changes, similar ones
 * are joined over at most 6 px. */
static void check_looks(
	const struct column_look *expected, const struct column_look *drawn, bool is_rough)
{
	for (uint32_t i = 0; i < COLUMNS; i++) {
		bool is_beside_failed = i > 0 && expected[i - 1].failed; /* a cap is 2 px wide */
		assert_true(drawn[i].failed == expected[i].failed || is_beside_failed);
		assert_true(abs(drawn[i].height - expected[i].height) <= is_rough);
		assert_true(abs(drawn[i].ran - expected[i].ran) <= is_rough);
		assert_int_equal(drawn[i].height == 0, expected[i].height == 0);
	}
}

static void cells_look_as_their_tasks_are_many(void **state)
{
	static const struct weft__lane lane = {.row_count = 1, .y = 50, .spacing = 28};
	struct weft_canvas *canvas;
	struct scenery s;
	(void)state;
	scenery_init(&s, random_model(200, 3, 50, false));
	assert_int_equal(weft_canvas_create(600, 200, &canvas), 0);
	weft_frame_place(s.layout, COLUMNS, 200, &s.frame);
	weft_frame_view(s.layout, &s.frame, &s.view);
	s.painter = painter_made(s.scene, &s.frame, &s.view, canvas);
	assert_true(s.frame.picture.width == COLUMNS);
	struct weft__cells *cells = weft__render_cells_create(s.painter);
	for (uint32_t alike = 1; alike < 12; alike++) {
		struct column_look expected[COLUMNS] = {0}, drawn[COLUMNS] = {0};
		unsigned changes = fill_columns(s.painter, cells, alike, expected);
		weft_canvas_clear(canvas, 600, 200);
		weft__render_cells_draw(cells, s.painter, &lane); /* and empties them */
		read_looks(s.painter, drawn);
		check_looks(expected, drawn, changes > 200);
		assert_true(canvas->op_count < 3 * changes);
	}
	weft__render_cells_destroy(cells);
	look_away(&s);
	scenery_finish(&s);
	weft_canvas_destroy(canvas);
}

/* ---- Texts ---- */

static void a_text_without_room_is_empty(void **state)
{
	const struct weft_text_style style = {.size = 12};
	const struct weft_slice name = {"task 12", 7};
	char fitted[16] = "unchanged";
	struct scenery s;
	(void)state;
	scenery_init(&s, random_model(200, 3, 50, false));
	look_around(&s);
	assert_true(weft__render_fit_text(s.painter, name, 100, &style, fitted, sizeof(fitted)) > 40);
	assert_string_equal(fitted, "task 12");
	assert_true(weft__render_fit_text(s.painter, name, 10, &style, fitted, sizeof(fitted)) == 0);
	assert_string_equal(fitted, "");
	look_away(&s);
	scenery_finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_counted),
		cmocka_unit_test(merged_lanes_are_counted),
		cmocka_unit_test(tasks_in_view_are_counted),
		cmocka_unit_test(edges_of_columns_are_counted),
		cmocka_unit_test(extremes_of_samples_are_found),
		cmocka_unit_test(bars_are_as_high_as_tasks_ran),
		cmocka_unit_test(work_can_be_stopped_at_each_step),
		cmocka_unit_test(merged_lanes_of_live_traces_are_counted),
		cmocka_unit_test(cells_look_as_their_tasks_are_many),
		cmocka_unit_test(a_text_without_room_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
