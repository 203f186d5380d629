/* SPDX-License-Identifier: ISC
 *
 * A viewer of a part of a trace: it asks for another part when the view shows what was not read.
 */
#include "viewer_sample.h"

#define SECOND UINT64_C(1000000000)

enum {
	FIRST = 10,  /* s: the trace's first event */
	LAST = 110,  /* its last one */
	PART = 10,   /* s of the trace that are as large as a part may be */
	BYTES = 100, /* of a second */
};

static const struct weft_trace_description description = {.format = "test", .clock = {.name = "t"}};

static void add(struct weft_model_builder *builder, enum weft_event_type type, uint64_t time_ns,
	uint64_t task, uint64_t other)
{
	const struct weft_event event = {
		.type = type, .time_ns = time_ns, .task = task, .other = other};
	struct weft_diagnostics diagnostics = {0};
	assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
}

/* The part from second to second, in which a task runs now and then. */
static void show_part(struct script *s, uint64_t from, uint64_t to)
{
	const struct weft_model_part part = {FIRST * SECOND, LAST * SECOND, from * SECOND, to * SECOND};
	struct weft_model_builder *builder;
	struct weft_model *model;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	weft_model_builder_set_part(builder, &part);
	add(builder, WEFT_EVENT_CREATE, from * SECOND, WEFT_TASK_NONE, 1);
	for (uint64_t time = from; time < to; time++)
		add(builder, WEFT_EVENT_SWITCH, time * SECOND, time % 2 ? 1 : WEFT_TASK_NONE, 0);
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	assert_int_equal(weft_viewer_show(s->viewer, model, false), 0);
}

static struct script begin(void)
{
	struct script s = script_begin(NULL, true);
	struct weft_density density = {FIRST * SECOND, LAST * SECOND, {0}};
	for (unsigned i = 0; i < WEFT_DENSITY_COLUMNS; i++)
		density.bytes[i] = (double)(LAST - FIRST) * BYTES / WEFT_DENSITY_COLUMNS;
	show_part(&s, FIRST, FIRST + PART);
	assert_int_equal(weft_viewer_set_density(s.viewer, &density, PART * BYTES), 0);
	return s;
}

/* Lets so much time pass; true if the viewer asks for a part. */
static bool asks_after(struct script *s, double ms, struct weft_viewer_request *ret_request)
{
	s->now_ms += ms;
	weft_viewer_advance(s->viewer, s->now_ms);
	script_draw(s);
	while (weft_viewer_next_request(s->viewer, ret_request))
		if (ret_request->type == WEFT_VIEWER_READ)
			return true;
	return false;
}

static void run(struct script *s, const char *command)
{
	assert_true(weft_viewer_command(s->viewer, command, s->now_ms));
}

static void expect_shown(const struct script *s, double from, double to)
{
	const struct weft_view *view = &s->viewer->view;
	close_to((double)weft_view_time(view, 0) / 1e9, from, 0.5);
	close_to((double)weft_view_time(view, view->width) / 1e9, to, 0.5);
}

static void the_first_part_is_shown(void **state)
{
	(void)state;
	struct script s = begin();
	struct weft_viewer_request request;
	expect_shown(&s, FIRST, FIRST + PART);
	assert_false(asks_after(&s, 1000, &request));
	assert_false(asks_after(&s, 1000, &request));
	script_end(&s);
}

static void another_part_is_asked_for_when_the_view_rests(void **state)
{
	(void)state;
	struct script s = begin();
	struct weft_viewer_request request;
	run(&s, "view start=50s duration=2s");
	assert_false(asks_after(&s, 10, &request));
	run(&s, "view start=51s duration=2s");
	assert_false(asks_after(&s, 100, &request));
	assert_true(asks_after(&s, 100, &request));
	assert_true(request.start <= (FIRST + 51) * SECOND && request.end >= (FIRST + 53) * SECOND);
	close_to((double)(request.end - request.start) / 1e9, PART, 0.01);
	/* It was asked for: not again, also where the view moves within it. */
	assert_false(asks_after(&s, 1000, &request));
	run(&s, "view start=52s duration=1s");
	assert_false(asks_after(&s, 1000, &request));
	show_part(&s, FIRST + 47, FIRST + 57);
	expect_shown(&s, FIRST + 52, FIRST + 53);
	assert_false(asks_after(&s, 1000, &request));
	/* The first part is not there any more. */
	run(&s, "view start=1s duration=2s");
	assert_true(asks_after(&s, 1000, &request));
	assert_int_equal(request.start / SECOND, FIRST);
	script_end(&s);
}

static void too_much_is_not_asked_for(void **state)
{
	(void)state;
	struct script s = begin();
	struct weft_viewer_request request;
	run(&s, "view start=0 duration=90s");
	assert_false(asks_after(&s, 1000, &request));
	assert_non_null(strstr(weft_viewer_status(s.viewer), "too much to be read at once"));
	run(&s, "view start=80s duration=9s");
	assert_true(asks_after(&s, 1000, &request));
	script_end(&s);
}

/* A trace that was read as a whole never asks. */
static void a_whole_trace_asks_for_nothing(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_viewer_request request;
	run(&s, "view start=1ms duration=1us");
	assert_false(asks_after(&s, 1000, &request));
	script_end(&s);
}

/* The overview has the bytes of what was not read, and the picture says so. */
static void what_was_not_read_is_drawn(void **state)
{
	(void)state;
	struct script s = begin();
	struct weft_text text = {0};
	run(&s, "view start=0 duration=100s");
	script_text(&s, &text);
	weft_text_add(&text, "", 1);
	assert_non_null(strstr(text.bytes, "not read"));
	weft_text_finish(&text);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_part_is_shown),
		cmocka_unit_test(another_part_is_asked_for_when_the_view_rests),
		cmocka_unit_test(too_much_is_not_asked_for),
		cmocka_unit_test(a_whole_trace_asks_for_nothing),
		cmocka_unit_test(what_was_not_read_is_drawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
