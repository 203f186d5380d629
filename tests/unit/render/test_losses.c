/* SPDX-License-Identifier: ISC
 *
 * Gaps: from packets, in a recorded buffer, in a picture and as a problem.
 */
#include "record_trace.h"

#include <weft/problems.h>
#include <weft/render.h>

#include "format/weft/follow/gaps.h"
#include "loaded.h"

static int take(struct weft__gaps *gaps, struct weft_trace_description *description,
	struct weft__gap_packet packet)
{
	return weft__format_gaps_take_packet(gaps, &packet, description);
}

static void assert_period(
	const struct weft_trace_description *description, uint32_t at, struct weft_loss_period expected)
{
	assert_in_range(at, 0, description->loss_period_count - 1);
	assert_int_equal(description->loss_periods[at].start, expected.start);
	assert_int_equal(description->loss_periods[at].end, expected.end);
	assert_int_equal(description->loss_periods[at].count, expected.count);
	assert_int_equal(description->loss_periods[at].thread, expected.thread);
	assert_int_equal(description->loss_periods[at].cause, expected.cause);
}

static void a_hole_between_packets_is_where_events_were_overwritten(void **state)
{
	struct weft_trace_description d = {.losses = {[WEFT_LOSS_OVERWRITTEN] = 100}};
	struct weft__gaps gaps;
	(void)state;
	weft__format_gaps_init(&gaps, false, 0, &d);
	take(&gaps, &d, (struct weft__gap_packet){0, 0, 30, 0, 1000});
	weft__format_gaps_end_packet(&gaps, 0, 1900);
	take(&gaps, &d, (struct weft__gap_packet){1, 0, 0, 0, 1500});
	take(&gaps, &d, (struct weft__gap_packet){0, 40, 90, 0, 5000});
	take(&gaps, &d, (struct weft__gap_packet){0, 95, 95, 0, 6000});
	assert_int_equal(d.loss_period_count, 2);
	assert_period(&d, 0, (struct weft_loss_period){0, 1000, 30, 0, WEFT_LOSS_OVERWRITTEN});
	assert_period(&d, 1, (struct weft_loss_period){1900, 5000, 50, 0, WEFT_LOSS_OVERWRITTEN});
	weft__format_gaps_finish(&gaps);
}

static void events_of_a_damaged_packet_do_not_count_as_overwritten(void **state)
{
	struct weft_trace_description d = {.losses = {[WEFT_LOSS_OVERWRITTEN] = 10}};
	struct weft__gaps gaps;
	(void)state;
	weft__format_gaps_init(&gaps, false, 0, &d);
	take(&gaps, &d, (struct weft__gap_packet){0, 0, 50, 0, 1000});
	take(&gaps, &d, (struct weft__gap_packet){0, 60, 99, 0, 2000});
	assert_int_equal(d.loss_period_count, 3);
	assert_int_equal(d.loss_periods[0].count, 10);
	assert_period(&d, 1, (struct weft_loss_period){0, 1000, 1, 0, WEFT_LOSS_MISSING_PACKETS});
	assert_period(&d, 2, (struct weft_loss_period){0, 2000, 1, 0, WEFT_LOSS_MISSING_PACKETS});
	assert_int_equal(d.losses[WEFT_LOSS_MISSING_PACKETS], 2);
	weft__format_gaps_finish(&gaps);
}

static void an_earlier_file_of_a_stream_has_what_came_before(void **state)
{
	struct weft_trace_description d = {0};
	struct weft__gaps gaps;
	(void)state;
	weft__format_gaps_init(&gaps, true, 2, &d);
	take(&gaps, &d, (struct weft__gap_packet){0, 0, 50, 0, 1000});
	assert_int_equal(d.losses[WEFT_LOSS_MISSING_PACKETS], 0);
	take(&gaps, &d, (struct weft__gap_packet){0, 60, 99, 0, 2000});
	assert_int_equal(d.losses[WEFT_LOSS_MISSING_PACKETS], 1);
	weft__format_gaps_finish(&gaps);
}

static void events_without_room_are_missing_since_the_packet_before(void **state)
{
	struct weft_trace_description d = {.losses = {[WEFT_LOSS_FULL] = 7}};
	struct weft__gaps gaps;
	(void)state;
	weft__format_gaps_init(&gaps, false, 0, &d);
	take(&gaps, &d, (struct weft__gap_packet){0, 0, 0, 0, 1000});
	take(&gaps, &d, (struct weft__gap_packet){0, 5, 5, 3, 2000});
	d.losses[WEFT_LOSS_NESTED] = 1;
	take(&gaps, &d, (struct weft__gap_packet){0, 9, 9, 8, 3000});
	assert_int_equal(d.loss_period_count, 2);
	assert_period(&d, 0, (struct weft_loss_period){1000, 2000, 3, 0, WEFT_LOSS_FULL});
	assert_period(&d, 1, (struct weft_loss_period){2000, 3000, 5, 0, WEFT_LOSS_CAUSES});
	weft__format_gaps_finish(&gaps);
}

#define SIZE ((size_t)64 << 10)

static struct weft_model *record_too_much(void)
{
	void *buffer = trace_buffer(SIZE);
	struct trace trace;
	struct weft_model *model = NULL;
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t task = weft_create(WEFT_KIND_TASK);
		weft_switch(task);
		weft_resolve(task);
	}
	weft_stop();
	trace_open(&trace, buffer, SIZE);
	assert_int_equal(weft_decoder_build_model(trace.decoder, NULL, &model), 0);
	weft_decoder_destroy(trace.decoder);
	free(buffer);
	return model;
}

static void overwritten_events_were_before_the_first_event(void **state)
{
	struct weft_model *model = record_too_much();
	(void)state;
	assert_true(model->losses[WEFT_LOSS_OVERWRITTEN] > 10000);
	assert_int_equal(model->loss_period_count, 1);
	assert_int_equal(model->loss_periods[0].count, model->losses[WEFT_LOSS_OVERWRITTEN]);
	assert_int_equal(model->loss_periods[0].start, model->summary.start);
	assert_int_equal(model->loss_periods[0].end, model->summary.start);
	weft_model_destroy(model);
}

/* A picture of a model. */
struct drawn {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_canvas *canvas;
	struct weft_frame frame;
	struct weft_view view;
};

static struct drawn draw(struct weft_model *model, const struct weft_layout_options *options)
{
	struct drawn d = {.model = model};
	assert_int_equal(weft_layout_create(model, options, &d.layout), 0);
	assert_int_equal(weft_scene_create(model, d.layout, &d.scene), 0);
	assert_int_equal(weft_canvas_create(1000, 600, &d.canvas), 0);
	weft_frame_place(d.layout, 1000, 600, &d.frame);
	weft_frame_view(d.layout, &d.frame, &d.view);
	assert_int_equal(
		weft_render_frame(d.scene, &d.frame, &d.view, &(struct weft_render_options){0}, d.canvas),
		0);
	return d;
}

static void destroy(struct drawn *d)
{
	weft_canvas_destroy(d->canvas);
	weft_scene_destroy(d->scene);
	weft_layout_destroy(d->layout);
	weft_model_destroy(d->model);
}

static void a_loss_is_hatched_and_a_problem(void **state)
{
	struct drawn d = draw(record_too_much(), NULL);
	struct weft_story_index *index;
	struct weft_problems *problems;
	(void)state;
	unsigned in_strip = 0, in_picture = 0;
	for (uint32_t i = 0; i < d.canvas->op_count; i++) {
		const struct weft_canvas_op *op = &d.canvas->ops[i];
		if (op->type != WEFT_CANVAS_HATCH)
			continue;
		in_strip += op->y < d.frame.picture.y;
		in_picture += op->y >= d.frame.picture.y;
		assert_true(op->x2 > op->x && op->y2 > op->y);
	}
	assert_int_equal(in_strip, 1);
	assert_int_equal(in_picture, 1);
	assert_int_equal(weft_story_index_create(d.model, &index), 0);
	const struct weft_story story = {d.model, d.layout, index};
	assert_int_equal(weft_problems_create(&story, &problems), 0);
	assert_true(problems->count >= 1);
	assert_int_equal(problems->list[0].type, WEFT_PROBLEM_LOSS);
	assert_int_equal(problems->list[0].severity, WEFT_SEVERITY_HINT);
	assert_non_null(strstr(problems->list[0].sentence, "lost before the first: overwritten."));
	weft_problems_destroy(problems);
	weft_story_index_destroy(index);
	destroy(&d);
}

/* Each of two threads runs a task of its own; events of the second are missing. */
static struct weft_model *two_threads(void)
{
	static const struct weft_trace_thread threads[] = {
		{.name = "pool", .tid = 7}, {.name = "pool", .tid = 8}};
	static struct weft_loss_period periods[] = {{300, 600, 25, 1, WEFT_LOSS_OVERWRITTEN},
		{300, 600, 25, 2, WEFT_LOSS_OVERWRITTEN}, /* no such thread */
		{300, 600, 25, 1, WEFT_LOSS_CAUSES + 1}}; /* no such cause */
	struct weft_trace_description description = {.format = "test",
		.clock = {.name = "test"},
		.threads = threads,
		.thread_count = 2,
		.losses = {[WEFT_LOSS_OVERWRITTEN] = 25},
		.loss_periods = periods,
		.loss_period_count = 3};
	struct weft_model *model = NULL;
	struct made made = make_begin();
	for (uint32_t i = 0; i < 40; i++, made.time += 25) {
		made.thread = i & 1;
		if (i < 2)
			make_create(&made, 0, i + 1, WEFT_KIND_TASK);
		make_switch(&made, (i & 1) + 1);
	}
	assert_int_equal(weft_model_builder_finish(made.builder, &description, &model), 0);
	weft_model_builder_destroy(made.builder);
	assert_int_equal(model->loss_period_count, 1);
	return model;
}

static void losses_are_hatched_over_their_thread(void **state)
{
	struct weft_model *model = two_threads();
	struct weft_layout_options options = {.group_by = WEFT_GROUP_BY_THREAD};
	struct drawn d = draw(model, &options);
	const struct weft_layout *layout = d.layout;
	(void)state;
	assert_int_equal(layout->group_count, 2);
	assert_int_equal(layout->group_by, WEFT_GROUP_BY_THREAD);
	assert_string_equal(layout->groups[0].name, "pool 7"); /* both are called pool */
	assert_string_equal(layout->groups[1].name, "pool 8");
	double other = d.frame.picture.y + weft_view_y(&d.view, layout->groups[1].first_row - 1);
	double own = d.frame.picture.y + weft_view_y(&d.view, layout->groups[1].first_row);
	unsigned hatches = 0;
	for (uint32_t i = 0; i < d.canvas->op_count; i++) {
		const struct weft_canvas_op *op = &d.canvas->ops[i];
		if (op->type != WEFT_CANVAS_HATCH || op->y < d.frame.picture.y)
			continue;
		hatches++;
		assert_true(op->y > other && op->y < own);
	}
	assert_int_equal(hatches, 1);
	destroy(&d);
}

/* Two gaps with two pixels between them share a hatch and a number; a third has its own. */
static void hatches_that_nearly_touch_are_one(void **state)
{
	static const struct weft_trace_thread thread = {.name = "only", .tid = 7};
	static struct weft_loss_period periods[] = {
		{300, 310, 1000, 0, WEFT_LOSS_OVERWRITTEN},
		{312, 320, 234, 0, WEFT_LOSS_OVERWRITTEN},
		{600, 700, 123, 0, WEFT_LOSS_OVERWRITTEN},
	};
	const struct weft_trace_description description = {.format = "test",
		.clock = {.name = "test"},
		.threads = &thread,
		.thread_count = 1,
		.losses = {[WEFT_LOSS_OVERWRITTEN] = 1357},
		.loss_periods = periods,
		.loss_period_count = 3};
	struct weft_model *model = NULL;
	struct weft_text text = {0};
	struct made made = make_begin();
	unsigned hatches = 0;
	(void)state;
	made.time = 0;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	made.time = 1000;
	make_switch(&made, 1);
	assert_int_equal(weft_model_builder_finish(made.builder, &description, &model), 0);
	weft_model_builder_destroy(made.builder);
	struct drawn d = draw(model, NULL);
	for (uint32_t i = 0; i < d.canvas->op_count; i++)
		hatches +=
			d.canvas->ops[i].type == WEFT_CANVAS_HATCH && d.canvas->ops[i].y >= d.frame.picture.y;
	assert_int_equal(hatches, 2);
	assert_int_equal(weft_canvas_write_text(d.canvas, &text), 0);
	weft_text_add(&text, "", 1);
	assert_non_null(strstr(text.bytes, "\"1,234 lost\""));
	assert_non_null(strstr(text.bytes, "\"123 lost\""));
	weft_text_finish(&text);
	destroy(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hole_between_packets_is_where_events_were_overwritten),
		cmocka_unit_test(events_of_a_damaged_packet_do_not_count_as_overwritten),
		cmocka_unit_test(an_earlier_file_of_a_stream_has_what_came_before),
		cmocka_unit_test(events_without_room_are_missing_since_the_packet_before),
		cmocka_unit_test(overwritten_events_were_before_the_first_event),
		cmocka_unit_test(a_loss_is_hatched_and_a_problem),
		cmocka_unit_test(losses_are_hatched_over_their_thread),
		cmocka_unit_test(hatches_that_nearly_touch_are_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
