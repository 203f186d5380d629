/* SPDX-License-Identifier: ISC
 *
 * A growing trace: a scene that shares parts with the former one gives the same pictures, byte for
 * byte, as one that is made from nothing; older scenes stay as they are; and any allocation may
 * fail.
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

#include <weft/layout.h>
#include <weft/model.h>
#include <weft/render.h>

#include "render/scene/scene.h"
#include "built.h"
#include "failing_allocation.h"

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* ---- A random trace that grows ---- */

#define SLOTS 1000

struct trace {
	struct weft_model_builder *builder;
	uint64_t ids[SLOTS], time, next;
	uint32_t slots;     /* tasks that are in use at once */
	uint32_t step;      /* most ns between two events */
	bool has_processes; /* every second slot is of another process, with thread 2 */
};

static void trace_init(struct trace *trace, uint32_t slots, uint32_t step)
{
	*trace = (struct trace){.builder = built_begin(),
		.time = UINT64_C(1) << 50,
		.next = slots,
		.slots = slots,
		.step = step};
	for (uint32_t i = 0; i < slots; i++)
		trace->ids[i] = i;
}

static void add_other(struct trace *trace, struct weft_event event)
{
	static const uint8_t types[] = {WEFT_EVENT_READ, WEFT_EVENT_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_TRY_READ, WEFT_EVENT_TRY_READ, WEFT_EVENT_SIGNAL, WEFT_EVENT_SWITCH,
		WEFT_EVENT_SWITCH, WEFT_EVENT_COUNTER, WEFT_EVENT_LABEL};
	event.type = types[pick(sizeof(types))];
	if (event.type == WEFT_EVENT_SWITCH && pick(4) == 0)
		event.task = WEFT_TASK_NONE;
	built_add(trace->builder, event);
}

static void add_event(struct trace *trace)
{
	static const uint16_t kinds[] = {WEFT_KIND_TASK, WEFT_KIND_BIND, WEFT_KIND_MAP};
	uint32_t slot = pick(trace->slots);
	struct weft_event event = {
		.time_ns = trace->time,
		.thread = pick(500) ? 0 : pick(3), /* a task can run on two threads at once */
		.task = trace->ids[pick(trace->slots)],
		.other = trace->ids[slot],
		.kind = kinds[pick(3)],
		.value = (int64_t)pick(100) - 50,
		.text = {pick(2) ? "x" : "y", 1},
	};
	if (trace->has_processes) {
		event.buffer = slot % 2;
		event.thread = 2 * event.buffer;
		event.task = trace->ids[pick(trace->slots) / 2 * 2 + event.buffer];
	}
	trace->time += pick(2) ? pick(2 * trace->step) : 0;
	if (pick(10) >= 3) {
		add_other(trace, event);
		return;
	}
	event.type = pick(30) ? pick(20) ? WEFT_EVENT_RESOLVE : WEFT_EVENT_BECOME : WEFT_EVENT_FAIL;
	built_add(trace->builder, event);
	event.type = WEFT_EVENT_CREATE;
	event.other = trace->ids[slot] = trace->next++;
	event.task = pick(2) ? WEFT_TASK_NONE : event.task;
	built_add(trace->builder, event);
}

/* ---- Its states ---- */

struct state {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
};

static struct weft_model *snapshot(const struct trace *trace)
{
	static const struct weft_trace_thread threads[3] = {
		{.name = "a"}, {.name = "b"}, {.name = "c", .buffer = 1}};
	static const struct weft_trace_buffer buffers[2] = {
		{.process = "p", .host = "h", .file = "", .pid = 10},
		{.process = "q", .host = "h", .file = "", .pid = 20}};
	const struct weft_trace_description description = {
		.format = "test",
		.clock = {.name = "test"},
		.threads = threads,
		.thread_count = 3,
		.buffers = trace->has_processes ? buffers : NULL,
		.buffer_count = trace->has_processes ? 2 : 0,
	};
	struct weft_model *model = NULL;
	assert_int_equal(
		weft_model_builder_snapshot(trace->builder, &description, trace->time, &model), 0);
	return model;
}

static void grow(const struct trace *trace, const struct weft_layout_options *chosen,
	const struct state *former, struct state *ret_state)
{
	struct weft_layout_options options = *chosen;
	options.previous = former->layout;
	ret_state->model = snapshot(trace);
	assert_int_equal(weft_layout_create(ret_state->model, &options, &ret_state->layout), 0);
	assert_int_equal(weft_scene_create_from(
						 ret_state->model, ret_state->layout, former->scene, &ret_state->scene),
		0);
}

static void state_finish(struct state *state)
{
	weft_scene_destroy(state->scene);
	weft_layout_destroy(state->layout);
	weft_model_destroy(state->model);
	*state = (struct state){NULL, NULL, NULL};
}

static const struct weft_layout *ordered;

static int by_start(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	if (ordered->start[a] != ordered->start[b])
		return ordered->start[a] < ordered->start[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static uint32_t *order_tasks(const struct state *state)
{
	uint32_t count = state->model->tasks.count;
	uint32_t *order = calloc(count + (size_t)1, sizeof(*order));
	for (uint32_t task = 0; task < count; task++)
		order[task] = task;
	ordered = state->layout;
	qsort(order, count, sizeof(*order), by_start);
	return order;
}

static uint32_t *copied(const uint32_t *values, size_t count)
{
	uint32_t *copy = malloc(count * sizeof(*copy));
	memcpy(copy, values, count * sizeof(*copy));
	return copy;
}

static void forget_points(struct weft_scene *scene)
{
	struct weft__census *census = &scene->census;
	weft__render_point_set_finish(&census->starts);
	weft__render_point_set_finish(&census->starts_gone);
	weft__render_point_set_finish(&census->lasts);
	weft__render_point_set_finish(&census->fails);
	weft__render_point_set_finish(&census->runs);
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		weft__render_point_set_finish(&scene->edges.points[type]);
	weft__render_point_set_finish(&scene->edges.gone);
	free(census->blocks.first);
	free(census->blocks.weights);
	free(census->open_before);
	free(census->open);
	free(census->newborn);
	census->newborn_count = 0;
	free(scene->edges.before);
	free(scene->edges.times);
}

/* Which rows are in a block, and the length of a running point, depend on a trace's past. */
static void choose_alike(struct weft_scene *scene, const struct weft_scene *grown)
{
	struct weft__census *to = &scene->census;
	const struct weft__census *from = &grown->census;
	uint32_t count = from->blocks.count;
	to->blocks = from->blocks;
	to->blocks.first = copied(from->blocks.first, count + (size_t)1);
	to->blocks.weights = copied(from->blocks.weights, count + (size_t)1);
	to->run_ns = from->run_ns;
	to->run_bits = from->run_bits;
	scene->block_of_row = malloc((scene->layout->row_count + (size_t)1) * sizeof(uint16_t));
	for (uint32_t row = 0; row < scene->layout->row_count; row++)
		scene->block_of_row[row] = (uint16_t)weft__render_census_block(&to->blocks, row);
}

/* The scene of the same state, with all points made anew. */
static struct weft_scene *made_anew(const struct state *state)
{
	struct weft_scene *scene = NULL;
	assert_int_equal(weft_scene_create(state->model, state->layout, &scene), 0);
	forget_points(scene);
	choose_alike(scene, state->scene);
	scene->order = order_tasks(state);
	assert_int_equal(weft__render_scene_make_starts(scene), 0);
	assert_int_equal(weft__render_scene_make_lasts(scene), 0);
	assert_int_equal(weft__render_scene_make_fails(scene), 0);
	assert_int_equal(weft__render_scene_make_running(scene), 0);
	assert_int_equal(weft__render_scene_make_open(scene), 0);
	assert_int_equal(weft__render_scene_make_edges(scene), 0);
	free(scene->order);
	free(scene->block_of_row);
	scene->order = NULL;
	scene->block_of_row = NULL;
	return scene;
}

/* ---- Pictures ---- */

static struct weft_canvas *draw(const struct weft_scene *scene, const struct weft_frame *frame,
	const struct weft_view *view, bool no_counters)
{
	const struct weft_render_options options = {
		.no_counters = no_counters, .hover = true, .handles = true};
	struct weft_canvas *canvas;
	assert_int_equal(weft_canvas_create(frame->width, frame->height, &canvas), 0);
	assert_int_equal(weft_render_frame(scene, frame, view, &options, canvas), 0);
	return canvas;
}

/* Bit by bit, which takes less time than to compare two texts of thousands of numbers. */
static void assert_same_drawing(const struct weft_canvas *a, const struct weft_canvas *b)
{
	assert_int_equal(a->op_count, b->op_count);
	for (uint32_t i = 0; i < a->op_count; i++) {
		const struct weft_canvas_op *op = &a->ops[i];
		assert_memory_equal(op, &b->ops[i], sizeof(*op));
		if (op->type == WEFT_CANVAS_POLYLINE || op->type == WEFT_CANVAS_POLYGON)
			assert_memory_equal(&a->points[2 * op->first], &b->points[2 * op->first],
				2 * op->count * sizeof(*a->points));
		else if (op->count > 0)
			assert_memory_equal(&a->text[op->first], &b->text[op->first], op->count);
	}
}

/* Everything, or some part of it, in a window of some size. */
static void look_around(
	const struct state *state, unsigned look, struct weft_frame *frame, struct weft_view *view)
{
	uint64_t start = state->model->summary.start, length = state->model->summary.end - start + 1;
	weft_frame_place(state->layout, 200 + pick(800), look % 2 ? 200 + pick(300) : 800, frame);
	weft_frame_view(state->layout, frame, view);
	if (look > 1)
		weft_view_set_range(
			view, start + pick((uint32_t)length), (double)length / pow(10, pick(50) / 10.0));
	if (look % 3 == 0)
		weft_view_set_focus(view, pick(state->layout->row_count));
}

/* Figures that are not approximate are the same, too. */
static void compare_indices(const struct weft_scene *grown, const struct weft_scene *anew)
{
	uint32_t lines = anew->line_count, rows = anew->layout->row_count;
	size_t chunks = anew->model->edges.count / WEFT__EDGE_CHUNK + (size_t)2;
	assert_int_equal(grown->line_count, lines);
	assert_memory_equal(grown->row_first, anew->row_first, (rows + 1) * sizeof(uint32_t));
	assert_memory_equal(grown->by_row, anew->by_row, lines * sizeof(uint32_t));
	assert_memory_equal(grown->shown_first, anew->shown_first, (rows + 1) * sizeof(uint32_t));
	assert_memory_equal(grown->shown, anew->shown, anew->shown_first[rows] * sizeof(uint32_t));
	assert_memory_equal(grown->start_ticks, anew->start_ticks, lines * sizeof(uint32_t));
	assert_memory_equal(grown->row_ticks, anew->row_ticks, rows * sizeof(anew->row_ticks[0]));
	assert_memory_equal(
		grown->running_before, anew->running_before, (lines + 1) * sizeof(uint32_t));
	assert_int_equal(grown->failed_line_count, anew->failed_line_count);
	assert_memory_equal(
		grown->failed_lines, anew->failed_lines, anew->failed_line_count * sizeof(uint32_t));
	for (uint32_t row = 0; row < rows; row++)
		for (uint32_t i = anew->row_first[row]; i + 1 < anew->row_first[row + 1]; i++)
			assert_int_equal(weft__render_scene_has_gap_after(grown, i),
				weft__render_scene_has_gap_after(anew, i));
	assert_memory_equal(
		grown->edges.before, anew->edges.before, chunks * sizeof(anew->edges.before[0]));
	assert_true(grown->overview_length == anew->overview_length);
	uint64_t length = grown->end - grown->start;
	unsigned bits = 0;
	while (length >> bits >= WEFT__OVERVIEW_COLUMNS)
		bits++;
	assert_true(grown->overview_length == (double)length / (double)(UINT64_C(1) << bits));
	assert_int_equal(grown->alive_max, anew->alive_max);
	assert_memory_equal(
		grown->overview, anew->overview, WEFT__OVERVIEW_COLUMNS * sizeof(anew->overview[0]));
	assert_int_equal(grown->problem_count, anew->problem_count);
	assert_memory_equal(grown->problems, anew->problems, anew->problem_count * sizeof(uint32_t));
	assert_memory_equal(grown->census.open_before, anew->census.open_before,
		(anew->census.blocks.count + (size_t)1) * sizeof(uint32_t));
	assert_memory_equal(grown->edges.times, anew->edges.times, chunks * sizeof(uint64_t));
}

/* The number of a set's points in a block. */
static uint32_t count_points(const struct weft__point_set *set, uint32_t block)
{
	uint32_t count = 0;
	for (unsigned i = 0; i < set->count; i++)
		count +=
			weft__render_points_rank(&set->parts[i]->points, block, set->parts[i]->points.count);
	return count;
}

static void compare_arrows(const struct weft_scene *grown, const struct weft_scene *anew)
{
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		for (uint32_t block = 1; block <= anew->census.blocks.count; block++) {
			uint32_t gone =
				type == WEFT_EDGE_TRY_READ ? count_points(&grown->edges.gone, block) : 0;
			assert_int_equal(count_points(&grown->edges.points[type], block) - gone,
				count_points(&anew->edges.points[type], block));
		}
}

/* Rows that only have lines are measured in another way than those that may have tails. */
static void compare_heights(struct weft_scene *scene, const struct weft_view *view)
{
	size_t rows = scene->layout->row_count;
	double *edges = calloc(2 * (rows + 1), sizeof(*edges)), *expected = edges + rows + 1;
	uint64_t *no_tails = malloc((rows + 1) * sizeof(*no_tails));
	assert_true(edges && no_tails && !scene->tails);
	memset(no_tails, 0xff, rows * sizeof(*no_tails));
	weft_scene_row_edges(scene, view, edges);
	scene->tails = no_tails;
	weft_scene_row_edges(scene, view, expected);
	scene->tails = NULL;
	assert_memory_equal(edges, expected, (rows + 1) * sizeof(*edges));
	free(edges);
	free(no_tails);
}

static void compare_pictures(const struct state *state)
{
	struct weft_scene *anew = made_anew(state);
	compare_indices(state->scene, anew);
	compare_arrows(state->scene, anew);
	for (unsigned look = 0; look < 5; look++) {
		struct weft_frame frame;
		struct weft_view view;
		look_around(state, look, &frame, &view);
		struct weft_canvas *expected = draw(anew, &frame, &view, look % 2);
		struct weft_canvas *drawn = draw(state->scene, &frame, &view, look % 2);
		assert_same_drawing(drawn, expected);
		compare_heights(state->scene, &view);
		weft_canvas_destroy(expected);
		weft_canvas_destroy(drawn);
	}
	weft_scene_destroy(anew);
}

/* A picture of everything, which is to stay as it is. */
static struct weft_canvas *portrait(const struct state *state)
{
	struct weft_frame frame;
	struct weft_view view;
	weft_frame_place(state->layout, 400, 300, &frame);
	weft_frame_view(state->layout, &frame, &view);
	return draw(state->scene, &frame, &view, false);
}

static bool shares(const struct weft_scene *a, const struct weft_scene *b)
{
	return a->census.starts.count && b->census.starts.count &&
		   a->census.starts.parts[0] == b->census.starts.parts[0];
}

/* ---- Tests ---- */

#define KEPT 3

struct growth {
	uint32_t slots, step, events, steps;
	bool has_processes;
	struct weft_layout_options options;
};

/* Returns how many scenes shared points with the former one. */
static unsigned grow_often(const struct growth *growth)
{
	struct trace trace;
	struct state states[KEPT] = {{NULL, NULL, NULL}};
	struct weft_canvas *portraits[KEPT] = {NULL};
	unsigned shared = 0, last = 0;
	trace_init(&trace, growth->slots, growth->step);
	trace.has_processes = growth->has_processes;
	for (unsigned i = 0; i < growth->steps; i++) {
		unsigned next = (last + 1 + pick(KEPT - 1)) % KEPT;
		for (uint32_t event = pick(pick(5) ? 200 : growth->events); event > 0; event--)
			add_event(&trace);
		if (trace.next == trace.slots)
			continue;
		if (states[next].model) {
			struct weft_canvas *now = portrait(&states[next]);
			assert_same_drawing(now, portraits[next]);
			weft_canvas_destroy(now);
		}
		weft_canvas_destroy(portraits[next]);
		state_finish(&states[next]);
		grow(&trace, &growth->options, &states[last], &states[next]);
		portraits[next] = portrait(&states[next]);
		if (states[last].scene)
			shared += shares(states[last].scene, states[next].scene);
		compare_pictures(&states[next]);
		last = next;
	}
	for (unsigned i = 0; i < KEPT; i++) {
		state_finish(&states[i]);
		weft_canvas_destroy(portraits[i]);
	}
	weft_model_builder_destroy(trace.builder);
	return shared;
}

static void grown_scenes_draw_the_same(void **state)
{
	(void)state;
	static const uint32_t first = 1;
	static const struct growth growths[] = {
		{.slots = 200, .step = 50, .events = 3000, .steps = 40},
		{.slots = 3, .step = 50, .events = 6000, .steps = 30},
		{.slots = 900, .step = 400, .events = 5000, .steps = 30},
		{.slots = 60, .step = 2, .events = 6000, .steps = 30, .options = {.fold = true}},
		{.slots = 60, .step = 90, .events = 500, .steps = 30, .options = {.no_simplify = true}},
		{.slots = 60,
			.step = 50,
			.events = 2000,
			.steps = 60,
			.has_processes = true,
			.options = {.group_by = WEFT_GROUP_BY_PROCESS, .fold = true}},
		{.slots = 60,
			.step = 90,
			.events = 900,
			.steps = 30,
			.options = {.group_by = WEFT_GROUP_BY_THREAD,
				.folded_groups = &first,
				.folded_group_count = 1}},
	};
	for (unsigned i = 0; i < sizeof(growths) / sizeof(growths[0]); i++) {
		seed = i;
		unsigned shared = grow_often(&growths[i]);
		print_message("# growth %u: %u of %u scenes shared points\n", i, shared, growths[i].steps);
		if (growths[i].options.group_by != WEFT_GROUP_BY_THREAD)
			assert_true(shared > growths[i].steps / 4);
	}
}

#define SOME_BLOCKS 16

/* Batches of all sizes, many of them small: the set has no point too many or too few, and few
 * parts. */
static void sets_keep_all_points_in_few_parts(void **state)
{
	(void)state;
	struct weft__point_set set = {.count = 0};
	uint32_t expected[SOME_BLOCKS] = {0}, count = 0;
	seed = 5;
	for (unsigned batch = 0; batch < 3000; batch++) {
		uint32_t size = pick(pick(20) ? 100 : 20000);
		uint16_t *blocks = malloc((size + (size_t)1) * sizeof(*blocks));
		for (uint32_t i = 0; i < size; i++)
			expected[blocks[i] = (uint16_t)pick(SOME_BLOCKS)]++;
		assert_int_equal(weft__render_point_set_append(&set, blocks, count, size, 4), 0);
		count += size;
		assert_true(set.count <= 3 * 6); /* the points of each rank, up to 4^6 * 1024 */
	}
	for (uint32_t block = 0; block < SOME_BLOCKS; block++)
		assert_int_equal(count_points(&set, block), expected[block]);
	assert_int_equal(weft__render_point_set_from(&set, count / 2), count / 2);
	weft__render_point_set_finish(&set);
}

static void any_allocation_may_fail(void **state)
{
	(void)state;
	struct trace trace;
	struct state before = {NULL, NULL, NULL}, after;
	seed = 9;
	trace_init(&trace, 50, 30);
	for (unsigned i = 0; i < 3000; i++)
		add_event(&trace);
	grow(&trace, &(struct weft_layout_options){0}, &before, &before);
	struct weft_canvas *old = portrait(&before);
	for (unsigned i = 0; i < 300; i++)
		add_event(&trace);
	grow(&trace, &(struct weft_layout_options){0}, &before, &after);
	assert_true(shares(before.scene, after.scene));
	weft_scene_destroy(after.scene);
	int error = WEFT_ERROR_MEMORY;
	for (long n = 0; error; n++) {
		until_failure = n;
		error = weft_scene_create_from(after.model, after.layout, before.scene, &after.scene);
		until_failure = -1;
		assert_true(error == 0 || error == WEFT_ERROR_MEMORY);
		assert_true(n < 1000);
	}
	struct weft_canvas *now = portrait(&before);
	assert_same_drawing(now, old);
	compare_pictures(&after);
	weft_canvas_destroy(now);
	weft_canvas_destroy(old);
	state_finish(&before);
	state_finish(&after);
	weft_model_builder_destroy(trace.builder);
}

/* A live model has unused rows between the samples of counters, so that some of these lie beyond
 * the number of samples. */
static void counters_between_unused_rows_keep_their_extremes(void **state)
{
	static const char names[] = "abcdefgh";
	struct trace trace;
	struct state now = {0}, former;
	uint32_t beyond = 0;
	(void)state;
	trace_init(&trace, 10, 100);
	for (uint32_t i = 0; i < 4000; i++) {
		const struct weft_event event = {.type = WEFT_EVENT_COUNTER,
			.task = 1,
			.text = {names + i * i % 8, 1},
			.value = i,
			.is_set = true,
			.time_ns = ++trace.time};
		built_add(trace.builder, event);
		if (i % 500 != 499)
			continue;
		former = now;
		grow(&trace, &(struct weft_layout_options){0}, &former, &now);
		if (former.model)
			state_finish(&former);
		for (uint32_t c = 0; c < now.model->counter_count; c++) {
			const struct weft_counter *counter = &now.model->counters[c];
			uint32_t end = counter->first + counter->count;
			struct weft__mean all =
				weft__render_scene_extremes(now.scene, counter, counter->first, end);
			assert_true(all.low == counter->min.real && all.high == counter->max.real);
			beyond += end > now.model->samples.count;
		}
	}
	assert_true(beyond > 0);
	state_finish(&now);
	weft_model_builder_destroy(trace.builder);
}

static void count(struct trace *trace, const char *name, int64_t value)
{
	const struct weft_event event = {.type = WEFT_EVENT_COUNTER,
		.task = 1,
		.text = {name, (uint32_t)strlen(name)},
		.value = value,
		.is_set = true,
		.time_ns = ++trace->time};
	built_add(trace->builder, event);
}

static void grow_to_next(struct trace *trace, struct state *now)
{
	struct state former = *now;
	grow(trace, &(struct weft_layout_options){0}, &former, now);
	state_finish(&former);
}

/* A family may have a new member, or a higher value, after each growth. */
static void counters_of_a_growing_trace_share_scales(void **state)
{
	static const struct {
		const char *name;
		int64_t value;
		double
			highest[4]; /* of the scales of all counters then, in the order of their names here */
	} steps[] = {
		{"queue#rx", 100, {100}},
		{"speed", 500, {100, 500}},
		{"queue#rx", 200, {200, 500}},
		{"queue#tx", 900, {900, 500, 900}},
		{"bytes", 20, {900, 500, 900, 20}},
		{"queue#tx", 1000, {1000, 500, 1000, 20}},
		{"speed", 600, {1000, 600, 1000, 20}},
	};
	struct trace trace;
	struct state now = {0};
	(void)state;
	trace_init(&trace, 10, 100);
	for (unsigned i = 0; i < 100; i++)
		add_event(&trace);
	grow(&trace, &(struct weft_layout_options){0}, &(struct state){0}, &now);
	uint32_t first = now.model->counter_count;
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		count(&trace, steps[i].name, steps[i].value);
		grow_to_next(&trace, &now);
		for (uint32_t c = first; c < now.model->counter_count; c++)
			assert_true(now.scene->scales[c].high == steps[i].highest[c - first]);
	}
	assert_int_equal(now.model->counter_count, first + 4);
	state_finish(&now);
	weft_model_builder_destroy(trace.builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grown_scenes_draw_the_same),
		cmocka_unit_test(sets_keep_all_points_in_few_parts),
		cmocka_unit_test(any_allocation_may_fail),
		cmocka_unit_test(counters_between_unused_rows_keep_their_extremes),
		cmocka_unit_test(counters_of_a_growing_trace_share_scales),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
