/* SPDX-License-Identifier: ISC
 *
 * Pictures of the samples are compared with tests/data/golden; WEFT_GOLDEN=write writes them anew,
 * to be looked at before they are committed.
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

#include <weft/decoder.h>
#include <weft/render.h>

#include "built.h"
#include "event_types.h"
#include "golden.h"
#include "picture.h"
#include "model/span.h"
#include "render/clock.h"

static uint64_t seed = 3;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static void compare_picture(struct picture *p, const char *name, bool svg)
{
	struct weft_text text = {0};
	p->options.hover = svg;
	draw(p);
	if (svg)
		assert_int_equal(weft_canvas_write_svg(p->canvas, NULL, &text), 0);
	else
		assert_int_equal(weft_canvas_write_text(p->canvas, &text), 0);
	golden_compare(name, &text);
	weft_text_finish(&text);
}

static void golden_pictures(void **state)
{
	(void)state;
	struct picture p;
	picture_init(&p, sample_model("mirage-block-read.sexp"), 800, 500);
	weft_view_set_range(&p.view, p.model->summary.start + 5000000, 1000000);
	compare_picture(&p, "block-read-1ms.txt", false);
	compare_picture(&p, "block-read-1ms.svg", true);
	weft_view_fit(&p.view);
	resize(&p, 320, 300);
	compare_picture(&p, "block-read-narrow.txt", false);
	picture_finish(&p);
	picture_init(&p, sample_model("mirage-arp-good.ctf"), 700, 400);
	weft_view_set_range(&p.view, p.model->summary.start + 12000000, 1500000);
	p.options.theme = WEFT_THEME_DARK;
	compare_picture(&p, "arp-good.txt", false);
	picture_finish(&p);
}

static bool overlap(const struct weft_canvas_op *a, const struct weft_canvas_op *b)
{
	/* Capitals are 0.73 of the size high, descenders reach 0.2 below the line. */
	const float up = 0.73f, down = 0.15f;
	return a->x < b->x + b->width && b->x < a->x + a->width &&
		   a->y - up * a->size < b->y + down * b->size &&
		   b->y - up * b->size < a->y + down * a->size;
}

static unsigned check_texts(const struct weft_canvas *canvas)
{
	unsigned texts = 0;
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *a = &canvas->ops[i];
		if (a->type != WEFT_CANVAS_TEXT)
			continue;
		texts++;
		assert_true(a->x >= 0 && a->x + a->width <= canvas->width + 0.5);
		for (uint32_t j = 0; j < i; j++)
			if (canvas->ops[j].type == WEFT_CANVAS_TEXT && overlap(a, &canvas->ops[j]))
				fail_msg("\"%s\" lies on \"%s\"", canvas->text + a->first,
					canvas->text + canvas->ops[j].first);
	}
	return texts;
}

static void check_at_many_zooms(struct picture *p)
{
	static const double sizes[][2] = {
		{1400, 800}, {320, 480}, {900, 200}, {160, 80}, {2400, 1500}, {500, 330}};
	unsigned texts = 0;
	for (unsigned round = 0; round < 120; round++) {
		const double *size = sizes[round % 6];
		resize(p, size[0], size[1]);
		uint64_t length = p->model->summary.end - p->model->summary.start + 1;
		double duration = (double)length / pow(10, pick(60) / 10.0);
		weft_view_set_range(&p->view, p->model->summary.start + pick((uint32_t)length), duration);
		weft_view_set_focus(&p->view, pick(p->layout->row_count + 1));
		p->options.theme = round % WEFT_THEMES;
		draw(p);
		texts += check_texts(p->canvas);
	}
	assert_true(texts > 1000);
}

static void no_text_lies_on_another(void **state)
{
	(void)state;
	struct picture p;
	picture_init(&p, sample_model("mirage-block-read.sexp"), 1400, 800);
	check_at_many_zooms(&p);
	picture_finish(&p);
	picture_init(&p, sample_model("mirage-arp-good.ctf"), 1400, 800);
	check_at_many_zooms(&p);
	picture_finish(&p);
}

/* `count` tasks after each other below one root, of 10 ns each; one of them fails. */
static struct weft_model *many_tasks(uint32_t count, uint32_t failing)
{
	struct weft_model_builder *builder = built_begin();
	for (uint32_t i = 1; i <= count; i++) {
		uint64_t time = i * UINT64_C(10);
		built_add(builder,
			(struct weft_event){
				.type = WEFT_EVENT_CREATE, .time_ns = time, .other = i, .kind = WEFT_KIND_TASK});
		if (i == failing)
			built_add(builder,
				(struct weft_event){
					.type = WEFT_EVENT_FAIL, .time_ns = time + 8, .other = i, .text = {"Boom", 4}});
		else
			built_add(builder,
				(struct weft_event){.type = WEFT_EVENT_RESOLVE, .time_ns = time + 8, .other = i});
	}
	return built_finish(builder);
}

/* A failed task that is a ten-thousandth of a pixel wide is red, at the right position. */
static void one_failed_task_among_many_stays_red(void **state)
{
	(void)state;
	struct picture p;
	uint32_t count = 300000, failing = 200000;
	picture_init(&p, many_tasks(count, failing), 1400, 800);
	draw(&p);
	double x = p.frame.picture.x + weft_view_x(&p.view, failing * UINT64_C(10));
	bool found = false;
	for (uint32_t i = 0; i < p.canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p.canvas->ops[i];
		found = found || (op->type == WEFT_CANVAS_RECT && op->color == 0xb00020ff &&
							 op->y > p.frame.picture.y && fabs(op->x - x) < 3);
	}
	assert_true(found);
	assert_true(p.canvas->op_count < 12000);
	picture_finish(&p);
}

static bool has_text(const struct weft_canvas *canvas, const char *text)
{
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		if (op->type == WEFT_CANVAS_TEXT && op->count == strlen(text) &&
			memcmp(canvas->text + op->first, text, op->count) == 0)
			return true;
	}
	return false;
}

/* One task waits for a query that is answered after 40 ms, another for one that is never answered.
 */
static struct weft_model *waiting_tasks(void)
{
	const uint64_t ms = 1000000;
	struct weft_model_builder *builder = built_begin();
	for (uint64_t id = 1; id <= 4; id++) {
		static const struct weft_slice names[] = {
			{"GET /", 5}, {"db.query", 8}, {"log writer", 10}, {"log queue", 9}};
		built_add(builder, (struct weft_event){.type = WEFT_EVENT_CREATE, .other = id, .kind = 1});
		built_add(builder,
			(struct weft_event){.type = WEFT_EVENT_LABEL, .task = id, .text = names[id - 1]});
	}
	for (uint64_t id = 1; id <= 3; id += 2) {
		struct weft_event event = {
			.type = WEFT_EVENT_SWITCH, .time_ns = (7 + id) * ms, .task = id, .other = id + 1};
		built_add(builder, event);
		event.type = WEFT_EVENT_TRY_READ;
		built_add(builder, event);
	}
	struct weft_event event = {.type = WEFT_EVENT_SWITCH, .time_ns = 11 * ms};
	built_add(builder, event);
	event = (struct weft_event){.type = WEFT_EVENT_RESOLVE, .time_ns = 50 * ms, .other = 2};
	built_add(builder, event);
	event = (struct weft_event){.type = WEFT_EVENT_READ, .time_ns = 50 * ms, .task = 1, .other = 2};
	built_add(builder, event);
	event = (struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = 90 * ms};
	built_add(builder, event);
	return built_finish(builder);
}

static void long_waits_say_what_for(void **state)
{
	(void)state;
	struct picture p;
	picture_init(&p, waiting_tasks(), 1400, 800);
	draw(&p);
	assert_true(has_text(p.canvas, "waits for db.query \xc2\xb7 40 ms"));
	assert_true(has_text(p.canvas, "still waits for log queue \xc2\xb7 80 ms"));
	resize(&p, 300, 800); /* no room for all of it */
	draw(&p);
	assert_false(has_text(p.canvas, "waits for db.query \xc2\xb7 40 ms"));
	picture_finish(&p);
}

/* Tasks that become others in a thirtieth of the time, then one more at its end. */
static struct weft_model *many_becomes(uint32_t count)
{
	struct weft_model_builder *builder = built_begin();
	for (uint32_t i = 0; i <= count; i++) {
		uint64_t time = i < count ? i * UINT64_C(10) : count * UINT64_C(300), id = 2 * i + 1;
		struct weft_event events[] = {
			{.type = WEFT_EVENT_CREATE, .other = id, .kind = WEFT_KIND_TASK},
			{.type = WEFT_EVENT_CREATE, .other = id + 1, .kind = WEFT_KIND_TASK},
			{.type = WEFT_EVENT_BECOME, .task = id, .other = id + 1},
			{.type = WEFT_EVENT_RESOLVE, .other = id + 1},
		};
		for (unsigned j = 0; j < 4; j++) {
			events[j].time_ns = time + 2 * j;
			built_add(builder, events[j]);
		}
	}
	return built_finish(builder);
}

static void links_in_one_place_are_drawn_once(void **state)
{
	(void)state;
	struct picture p;
	unsigned steps = 0;
	picture_init(&p, many_becomes(1500), 1400, 800);
	draw(&p);
	for (uint32_t i = 0; i < p.canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p.canvas->ops[i];
		steps += op->type == WEFT_CANVAS_POLYLINE && op->count == 6;
	}
	assert_in_range(steps, 1400 / 30, 1400 / 30 + 3);
	picture_finish(&p);
}

/* `count` counters that end at the square of their number, in another order. */
static struct weft_model *many_counters(uint32_t count)
{
	struct weft_model_builder *builder = built_begin();
	for (uint32_t i = 0; i < count; i++) {
		char name[16];
		uint32_t value = i * 7 % count; /* 7 does not divide it */
		built_add(
			builder, (struct weft_event){.type = WEFT_EVENT_COUNTER,
						 .time_ns = 10 + i,
						 .value = value * value,
						 .text = {name, (size_t)snprintf(name, sizeof(name), "c#%u", value)}});
	}
	return built_finish(builder);
}

static void check_counters(struct picture *p, uint32_t count)
{
	char wanted[40][16];
	unsigned found = 0, rest = 0;
	const struct weft_box *box = &p->frame.picture;
	uint32_t room = (uint32_t)(box->height / 16) - 1;
	snprintf(wanted[39], sizeof(wanted[39]), "and %u more", count - room);
	for (unsigned i = 0; i < room; i++)
		snprintf(wanted[i], sizeof(wanted[i]), "c#%u", count - 1 - i);
	draw(p);
	for (uint32_t i = 0; i < p->canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p->canvas->ops[i];
		if (op->type != WEFT_CANVAS_TEXT || op->x < box->x + box->width)
			continue;
		rest += strcmp(p->canvas->text + op->first, wanted[39]) == 0;
		if (found < room && strcmp(p->canvas->text + op->first, wanted[found]) == 0)
			found++;
	}
	assert_int_equal(found, room);
	assert_int_equal(rest, 1);
}

static void of_many_counters_the_highest_are_drawn(void **state)
{
	(void)state;
	struct picture p;
	picture_init(&p, many_counters(1000), 1400, 700);
	place_counters(&p, WEFT_COUNTERS_OVERLAY);
	check_counters(&p, 1000);
	picture_finish(&p);
}

/* True if two markers beside the picture have the same colour and shape. */
static bool are_alike(const struct weft_canvas *canvas, const struct weft_canvas_op *a,
	const struct weft_canvas_op *b)
{
	if (a->color != b->color || a->type != b->type)
		return false;
	if (a->type == WEFT_CANVAS_DISC)
		return true;
	const float *p = canvas->points + 2 * a->first, *q = canvas->points + 2 * b->first;
	bool same = a->count == b->count;
	for (uint32_t i = 2; same && i < 2 * a->count; i++)
		same = fabsf((p[i] - p[i % 2]) - (q[i] - q[i % 2])) < 0.01F;
	return same;
}

static bool is_mark_in(
	const struct weft_canvas *canvas, const struct weft_canvas_op *op, const struct weft_box *box)
{
	if (op->type != WEFT_CANVAS_DISC && op->type != WEFT_CANVAS_POLYGON)
		return false;
	double x = op->type == WEFT_CANVAS_DISC ? op->x : canvas->points[2 * op->first];
	return x > box->x && x < box->x + box->width;
}

static void forty_counters_can_be_distinguished(void **state)
{
	const struct weft_canvas_op *marks[64];
	uint32_t count = 0;
	struct picture p;
	(void)state;
	picture_init(&p, many_counters(41), 1400, 900);
	place_counters(&p, WEFT_COUNTERS_OVERLAY);
	draw(&p);
	for (uint32_t i = 0; i < p.canvas->op_count && count < 64; i++)
		if (is_mark_in(p.canvas, &p.canvas->ops[i], &p.frame.gutter))
			marks[count++] = &p.canvas->ops[i];
	assert_int_equal(count, 41);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_false(are_alike(p.canvas, marks[i], marks[k]));
	picture_finish(&p);
}

static void text_of_random_bytes(char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text[i] = (char)pick(256);
}

static struct weft_model *hostile_model(void)
{
	uint64_t time = pick(2) ? 0 : WEFT__FIRST_NS_MAX - 2000000;
	struct weft_model_builder *builder = built_begin();
	for (unsigned i = 0; i < 3000; i++) {
		char text[300];
		struct weft_event event = {
			.type = event_type_of(pick(1000)),
			.time_ns = time += pick(pick(20) ? 30 : 20000),
			.task = pick(200),
			.other = pick(200),
			.value = (int64_t)((uint64_t)pick(UINT32_MAX) << (pick(33))),
			.kind = (uint16_t)pick(110),
			.flag = pick(2),
			.is_set = pick(2),
			.band = (uint8_t)pick(2),
			.text = {text, pick(4) ? pick(20) : pick(300)},
		};
		text_of_random_bytes(text, event.text.size);
		built_add(builder, event);
	}
	return built_finish(builder);
}

static void hostile_traces_are_drawn(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 6; round++) {
		struct picture p;
		picture_init(&p, hostile_model(), 1400, 800);
		for (unsigned zoom = 0; zoom < 12; zoom++) {
			weft_view_zoom(&p.view, pick(1400), 1 + pick(40) / 10.0);
			weft_view_set_focus(&p.view, pick(p.layout->row_count + 1));
			draw(&p);
			check_texts(p.canvas);
			for (uint32_t i = 0; i < p.canvas->op_count; i++)
				assert_true(isfinite(p.canvas->ops[i].x) && isfinite(p.canvas->ops[i].y2));
		}
		picture_finish(&p);
	}
}

static void an_empty_trace_says_so(void **state)
{
	(void)state;
	struct picture p;
	struct weft_model_builder *builder = built_begin();
	picture_init(&p, built_finish(builder), 800, 400);
	draw(&p);
	bool found = false;
	for (uint32_t i = 0; i < p.canvas->op_count; i++)
		if (p.canvas->ops[i].type == WEFT_CANVAS_TEXT)
			found = found || strstr(p.canvas->text + p.canvas->ops[i].first, "no event");
	assert_true(found);
	picture_finish(&p);
}

static void durations_as_people_read_them(void **state)
{
	(void)state;
	static const struct {
		uint64_t ns;
		unsigned digits;
		const char *text;
	} cases[] = {
		{0, 3, "0 ns"},
		{999, 3, "999 ns"},
		{1000, 3, "1 us"},
		{1234, 3, "1.23 us"},
		{12345, 3, "12.3 us"},
		{999600, 3, "1 ms"},
		{161813000, 4, "161.8 ms"},
		{161813000, 3, "162 ms"},
		{UINT64_C(61000000000), 3, "61 s"},
		{UINT64_C(3600000000000), 3, "1 h"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		weft_format_duration(cases[i].ns, cases[i].digits, text);
		assert_string_equal(text, cases[i].text);
	}
}

/* The picture of a trace of that length, as text. */
static char *draw_trace_of(uint64_t end_ns)
{
	static const struct weft_trace_thread thread = {.name = ""};
	const struct weft_trace_description description = {
		.format = "test", .clock = {.name = "test"}, .threads = &thread, .thread_count = 1};
	struct weft_event event = {.type = WEFT_EVENT_SWITCH, .task = 1};
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model;
	struct picture p;
	struct weft_text text = {0};
	assert_int_equal(weft_model_builder_create(&builder), 0);
	assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
	event.time_ns = end_ns;
	assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	picture_init(&p, model, 1000, 600);
	draw(&p);
	assert_int_equal(weft_canvas_write_text(p.canvas, &text), 0);
	weft_text_add(&text, "", 1);
	picture_finish(&p);
	return text.bytes;
}

/* A tick at a whole millisecond is in ms, though those before it are in us. */
static void ticks_change_their_unit_at_a_whole_one(void **state)
{
	(void)state;
	char *text = draw_trace_of(4000000);
	assert_non_null(strstr(text, "\"500 us\""));
	assert_non_null(strstr(text, "\"1.0 ms\""));
	assert_null(strstr(text, "\"1000 us\""));
	free(text);
	text = draw_trace_of(8000000);
	assert_non_null(strstr(text, "\"1 ms\""));
	assert_null(strstr(text, "\"1.0 ms\""));
	free(text);
}

static void a_whole_second_has_no_decimals(void **state)
{
	(void)state;
	const struct weft_model unix_time = {.clock = {.epoch = WEFT_EPOCH_UNIX}}, other = {0};
	char text[48];
	weft__render_format_clock(&unix_time, UINT64_C(86405000000000), text);
	assert_string_equal(text, "00:00:05 UTC");
	weft__render_format_clock(&unix_time, UINT64_C(86405250000000), text);
	assert_string_equal(text, "00:00:05.25 UTC");
	weft__render_format_clock(&other, UINT64_C(5000000000), text);
	assert_string_equal(text, "5 s");
}

/* A small frame loses the overview first, then the status, the title and the gutter. */
static void a_frame_has_the_parts_that_fit(void **state)
{
	static const struct {
		double width, height;                /* of the frame */
		double title, strip, status, gutter; /* heights, and a width; 0: absent */
	} cases[] = {
		{600, 400, 28, 44, 24, 124},
		{599, 400, 28, 44, 40, 124}, /* two lines of status */
		{599, 399, 28, 44, 24, 124},
		{480, 300, 28, 44, 24, 124},
		{479, 300, 28, 44, 24, 0},
		{600, 299, 28, 0, 24, 124},
		{600, 220, 28, 0, 24, 124},
		{600, 219, 28, 0, 0, 124},
		{600, 120, 28, 0, 0, 124},
		{600, 119, 0, 0, 0, 124},
		{600, 10, 0, 0, 0, 124},
	};
	struct picture p;
	(void)state;
	picture_init(&p, many_counters(1), 600, 400);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double above = cases[i].title + cases[i].strip;
		double height = fmax(cases[i].height - above - 22 - cases[i].status, 1);
		weft_frame_place(p.layout, cases[i].width, cases[i].height, &p.frame);
		weft_frame_place_counters(&p.frame, WEFT_COUNTERS_OVERLAY, 1, WEFT_LANE_HEIGHT);
		const struct weft_frame expected = {
			.width = cases[i].width,
			.height = cases[i].height,
			.title = {0, 0, cases[i].width, cases[i].title},
			.strip = {0, cases[i].title, cases[i].width, cases[i].strip},
			.ruler = {0, above, cases[i].width - cases[i].gutter, 22},
			.picture = {0, above + 22, cases[i].width - cases[i].gutter, height},
			.groups = {0, above + 22, 0, height},
			.gutter = {cases[i].width - cases[i].gutter, above + 22, cases[i].gutter, height},
			.status = {0, above + 22 + height, cases[i].width, cases[i].status},
			.lanes = {0, above + 22, cases[i].width, 0},
			.lane_height = p.frame.lane_height,
			.counters = WEFT_COUNTERS_OVERLAY,
		};
		/* Without the padding behind the last member. */
		assert_memory_equal(
			&p.frame, &expected, offsetof(struct weft_frame, counters) + sizeof(expected.counters));
	}
	picture_finish(&p);
}

/* A chain of `count` tasks, each created by the one before, for which it waits: each has a row of
 * its own, and is alive for 3 us of the trace. */
static struct weft_model *staircase(uint32_t count)
{
	struct weft_model_builder *builder = built_begin();
	for (uint32_t i = 0; i < count; i++) {
		uint64_t time = UINT64_C(1000) * i;
		built_add(builder, (struct weft_event){.type = WEFT_EVENT_CREATE,
							   .time_ns = 1000 + time,
							   .task = i,
							   .other = i + 1,
							   .kind = WEFT_KIND_BIND});
		built_add(builder,
			(struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = 1001 + time, .task = i + 1});
		if (i >= 2)
			built_add(builder, (struct weft_event){.type = WEFT_EVENT_RESOLVE,
								   .time_ns = 1002 + time,
								   .task = i + 1,
								   .other = i - 1});
	}
	return built_finish(builder);
}

static unsigned count_names(const struct weft_canvas *canvas)
{
	unsigned count = 0;
	for (uint32_t i = 0; i < canvas->op_count; i++)
		count += canvas->ops[i].type == WEFT_CANVAS_TEXT &&
				 strncmp(canvas->text + canvas->ops[i].first, "bind ", 5) == 0;
	return count;
}

static double height_of_row(const double *edges, uint32_t row)
{
	return edges[row + 1] - edges[row];
}

/* Far from the focus, too, what is in view has names; the rest takes no room. */
static void rows_follow_the_view(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, staircase(2000), 1000, 600);
	assert_true(p.layout->row_count > 1000);
	double *edges = malloc((p.layout->row_count + (size_t)1) * sizeof(*edges));
	assert_non_null(edges);
	weft_view_set_range(&p.view, UINT64_C(1500000), 8000);
	draw(&p);
	assert_int_equal(count_names(p.canvas), 0); /* rows of equal height */
	weft_scene_row_edges(p.scene, &p.view, edges);
	weft_view_set_edges(&p.view, edges);
	draw(&p);
	assert_in_range(count_names(p.canvas), 6, 14);
	uint32_t alive = p.layout->row[1500], dead = p.layout->row[100];
	assert_true(height_of_row(edges, alive) > 0.9 && height_of_row(edges, dead) < 0.01);
	assert_true(edges[p.layout->row_count] < 600 / 28); /* all fit */
	assert_true(weft_view_y(&p.view, alive) > 20 && weft_view_y(&p.view, alive) < 500);
	weft_view_fit(&p.view); /* all are narrow */
	weft_scene_row_edges(p.scene, &p.view, edges);
	for (uint32_t row = 10; row + 10 < p.layout->row_count; row++)
		assert_true(height_of_row(edges, row) > 0 && height_of_row(edges, row) < 0.1);
	assert_true(edges[p.layout->row_count] < 2.5 * 600 / 28);
	free(edges);
	picture_finish(&p);
}

/* Tasks 1 to `tails` begin to wait for something at once, and do so until the end; the others end a
 * little before it. */
static struct weft_model *tails_and_busy_tasks(uint32_t tails, uint32_t busy)
{
	struct weft_model_builder *b = built_begin();
	const uint64_t condition = 5000;
	for (uint64_t task = 1; task <= tails + busy; task++)
		built_add(
			b, (struct weft_event){.type = WEFT_EVENT_CREATE, .time_ns = task, .other = task});
	for (uint64_t task = 1; task <= tails; task++)
		built_add(b, (struct weft_event){.type = WEFT_EVENT_TRY_READ,
						 .time_ns = 2000 + task,
						 .task = task,
						 .other = condition});
	for (uint64_t task = tails + 1; task <= tails + busy; task++)
		built_add(b, (struct weft_event){
						 .type = WEFT_EVENT_RESOLVE, .time_ns = 900000 + task, .other = task});
	return built_finish(b);
}

/* Tasks that wait until the end without an act are low while others need the room, and full size
 * while these leave it. */
static void rows_of_tails_leave_room_for_work(void **state)
{
	static const struct {
		uint32_t tails, busy;
		bool are_full;
	} cases[] = {{20, 10, true}, {1000, 10, false}, {1000, 60, false}, {30, 60, false}};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct picture p;
		picture_init(&p, tails_and_busy_tasks(cases[i].tails, cases[i].busy), 800, 600);
		double *edges = calloc(p.layout->row_count + (size_t)1, sizeof(*edges));
		assert_non_null(edges);
		weft_scene_row_edges(p.scene, &p.view, edges);
		uint32_t tail = p.layout->row[weft_model_find_task(p.layout->model, 0, 1)];
		uint32_t busy = p.layout->row[weft_model_find_task(p.layout->model, 0, cases[i].tails + 5)];
		double high = height_of_row(edges, tail);
		assert_true(height_of_row(edges, busy) > 0.6);
		assert_true(cases[i].are_full ? high > 0.99 : high < 0.4);
		free(edges);
		picture_finish(&p);
	}
}

/* Lanes become lower, then some counters have none, then all: two fifths of the picture at most. */
static void lanes_leave_room_for_tasks(void **state)
{
	static const struct {
		double height, lane_height; /* of the frame; wanted */
		uint32_t count;
		double lanes, given;
	} cases[] = {
		{118 + 500, 28, 0, 0, 28},
		{118 + 500, 28, 3, 84, 28},
		{118 + 500, 80, 2, 160, 80},
		{118 + 500, 900, 2, 160, 80},
		{118 + 500, 80, 4, 200, 50},
		{118 + 500, 28, 10, 200, 20},
		{118 + 500, 28, 50, 10 * 18 + 12, 18},
		{118 + 500, 0, 3, 54, 18},
		{140, 28, 3, 18 + 12, 18},
		{120, 28, 1, 28, 28},
		{60, 28, 1, 0, 28},
	};
	struct picture p;
	(void)state;
	picture_init(&p, many_counters(1), 600, 400);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		weft_frame_place(p.layout, 600, cases[i].height, &p.frame);
		weft_frame_place_counters(&p.frame, WEFT_COUNTERS_NONE, cases[i].count, 28);
		const struct weft_box all = p.frame.picture;
		assert_true(p.frame.lanes.height == 0);
		weft_frame_place_counters(
			&p.frame, WEFT_COUNTERS_LANES, cases[i].count, cases[i].lane_height);
		assert_true(p.frame.lanes.height == cases[i].lanes);
		assert_true(cases[i].lanes == 0 || p.frame.lane_height == cases[i].given);
		assert_true(p.frame.picture.y == all.y + cases[i].lanes);
		assert_true(p.frame.picture.height == all.height - cases[i].lanes);
		assert_true(p.frame.groups.y == p.frame.picture.y && p.frame.lanes.y == all.y);
	}
	picture_finish(&p);
}

/* Ten tasks beside each other in one row, each a pixel wide, and one of 20 px. */
static struct weft_model *neighbours(void)
{
	struct weft_model_builder *builder = built_begin();
	for (uint32_t i = 0; i < 11; i++) {
		struct weft_event event = {.type = WEFT_EVENT_CREATE,
			.time_ns = 10 * i,
			.task = WEFT_TASK_NONE,
			.other = i + 1,
			.kind = WEFT_KIND_TASK};
		built_add(builder, event);
		event.type = WEFT_EVENT_RESOLVE;
		event.time_ns += i == 10 ? 200 : 10;
		built_add(builder, event);
	}
	return built_finish(builder);
}

/* Small matches within 3 px share one ground; wide ones each have theirs. */
static void grounds_of_matches_are_shared_by_neighbours(void **state)
{
	const uint32_t found[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	struct weft_highlight highlight = {
		.selected = WEFT_NONE, .hovered = WEFT_NONE, .edge = WEFT_NONE, .found = found};
	struct picture p;
	(void)state;
	picture_init(&p, neighbours(), 340, 200);
	p.view.scale = 0.1;
	p.view.left = -200; /* x of the first is 20 */
	p.options.highlight = &highlight;
	for (highlight.found_count = 0; highlight.found_count <= 11; highlight.found_count++) {
		unsigned grounds = 0;
		draw(&p);
		for (uint32_t i = 0; i < p.canvas->op_count; i++) {
			const struct weft_canvas_op *op = &p.canvas->ops[i];
			if (op->type != WEFT_CANVAS_RECT || op->color != 0xffe066ff)
				continue;
			grounds++;
			assert_true(op->y2 - op->y == 18);
		}
		/* Squares begin at 18, 21, 24, 27 and 30 px. */
		assert_int_equal(grounds, highlight.found_count ? (highlight.found_count + 4) / 3 : 0);
	}
	picture_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_pictures),
		cmocka_unit_test(no_text_lies_on_another),
		cmocka_unit_test(one_failed_task_among_many_stays_red),
		cmocka_unit_test(long_waits_say_what_for),
		cmocka_unit_test(links_in_one_place_are_drawn_once),
		cmocka_unit_test(of_many_counters_the_highest_are_drawn),
		cmocka_unit_test(forty_counters_can_be_distinguished),
		cmocka_unit_test(hostile_traces_are_drawn),
		cmocka_unit_test(an_empty_trace_says_so),
		cmocka_unit_test(durations_as_people_read_them),
		cmocka_unit_test(ticks_change_their_unit_at_a_whole_one),
		cmocka_unit_test(a_whole_second_has_no_decimals),
		cmocka_unit_test(a_frame_has_the_parts_that_fit),
		cmocka_unit_test(rows_of_tails_leave_room_for_work),
		cmocka_unit_test(lanes_leave_room_for_tasks),
		cmocka_unit_test(rows_follow_the_view),
		cmocka_unit_test(grounds_of_matches_are_shared_by_neighbours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
