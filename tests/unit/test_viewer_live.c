/* SPDX-License-Identifier: ISC
 *
 * A viewer of a trace that grows: the pill that says how far behind it is, and the window that
 * stays at the newest events.
 */
#include <weft/refresh.h>

#include "viewer_sample.h"

#define SECOND UINT64_C(1000000000)

/* A trace that begins at 10 s of its clock. */
struct growing {
	struct script s;
	struct weft_model_builder *builder;
	struct weft_diagnostics diagnostics;
	uint64_t now_ns;
};

static const struct weft_trace_description description = {.format = "test", .clock = {.name = "t"}};

static void add(struct growing *g, enum weft_event_type type, uint64_t task, uint64_t other)
{
	const struct weft_event event = {
		.type = type, .time_ns = g->now_ns, .task = task, .other = other};
	assert_int_equal(weft_model_builder_add(g->builder, &event, &g->diagnostics), 0);
}

/* Lets `ns` pass, and then shows all events. */
static void show_after(struct growing *g, uint64_t ns)
{
	struct weft_model *model;
	g->now_ns += ns;
	add(g, WEFT_EVENT_SWITCH, 1 + g->now_ns / SECOND % 2, WEFT_TASK_NONE);
	assert_int_equal(weft_model_builder_snapshot(g->builder, &description, 0, &model), 0);
	assert_int_equal(weft_viewer_show(g->s.viewer, model, true), 0);
}

static struct growing begin(void)
{
	struct growing g = {.s = script_begin(NULL, true), .now_ns = 10 * SECOND};
	assert_int_equal(weft_model_builder_create(&g.builder), 0);
	add(&g, WEFT_EVENT_CREATE, WEFT_TASK_NONE, 1);
	add(&g, WEFT_EVENT_CREATE, WEFT_TASK_NONE, 2);
	show_after(&g, SECOND);
	return g;
}

static void end(struct growing *g)
{
	weft_model_builder_destroy(g->builder);
	script_end(&g->s);
}

static const struct weft__button *pill_of(struct weft_viewer *viewer)
{
	for (uint32_t i = 0; i < viewer->toolbar.count; i++)
		if (viewer->toolbar.buttons[i].is_pill)
			return &viewer->toolbar.buttons[i];
	return NULL;
}

static void expect_pill(struct growing *g, const char *text)
{
	const struct weft__button *pill = pill_of(g->s.viewer);
	assert_non_null(pill);
	assert_string_equal(pill->text, text);
	script_draw(&g->s);
}

static void expect_control(struct growing *g, bool is_off)
{
	const struct weft__button *pill = pill_of(g->s.viewer);
	uint32_t count, found = 0;
	const struct weft_viewer_control *list = weft_viewer_controls(g->s.viewer, &count);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(list[i].command, "follow") == 0) {
			assert_memory_equal(&list[i].box, &pill->box, sizeof(pill->box));
			assert_int_equal(list[i].is_off, is_off);
			found++;
		}
	assert_int_equal(found, 1);
}

/* ---- The pill ---- */

static void a_trace_that_is_not_recorded_has_no_pill(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	assert_null(pill_of(s.viewer));
	script_run(&s, "size 1400 800");
	assert_null(pill_of(s.viewer));
	script_end(&s);
}

static void the_pill_says_how_far_behind_the_picture_is(void **state)
{
	(void)state;
	struct growing g = begin();
	expect_pill(&g, "live"); /* nobody has told the time */
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	script_wait(&g.s, 900);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind"); /* only the shell knows what has come since */
	weft_viewer_complete(g.s.viewer, g.now_ns + SECOND * 8 / 10, g.s.now_ms, false);
	expect_pill(&g, "live \xc2\xb7 0.9 s behind"); /* known, but not shown */
	show_after(&g, SECOND * 8 / 10);
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	end(&g);
}

/* A silent program has nothing that is missing in the picture. */
static void silence_is_no_delay(void **state)
{
	(void)state;
	struct growing g = begin();
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	script_wait(&g.s, 20e3);
	weft_viewer_complete(g.s.viewer, g.now_ns + 20 * SECOND, g.s.now_ms, true);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	end(&g);
}

/* If the shell says nothing more, the delay goes on in whole seconds. */
static void a_lost_connection_is_seen(void **state)
{
	(void)state;
	struct growing g = begin();
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	script_draw(&g.s);
	assert_true(weft_viewer_advance(g.s.viewer, g.s.now_ms) <= 1000);
	weft_viewer_changes(g.s.viewer);
	script_wait(&g.s, 2500);
	expect_pill(&g, "live \xc2\xb7 2.0 s behind");
	assert_true(weft_viewer_changes(g.s.viewer) & WEFT_VIEWER_CANVAS);
	script_wait(&g.s, 30e3);
	expect_pill(&g, "live \xc2\xb7 32 s behind");
	script_wait(&g.s, 100e3);
	expect_pill(&g, "live \xc2\xb7 2 min behind");
	end(&g);
}

/* The clocks of trace and shell may differ by 1 in 10,000. */
static void clocks_that_differ_add_no_delay(void **state)
{
	(void)state;
	struct growing g = begin();
	for (unsigned minute = 0; minute < 600; minute++) {
		g.now_ns += 60 * SECOND - SECOND * 6 / 1000;
		g.s.now_ms += 60e3;
		weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	}
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	end(&g);
}

/* The oldest report that was on its way for the shortest time counts. */
static void a_report_that_comes_late_does_not_hide_the_delay(void **state)
{
	(void)state;
	struct growing g = begin();
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	script_wait(&g.s, 5e3);
	weft_viewer_complete(g.s.viewer, g.now_ns + SECOND, g.s.now_ms, true);
	expect_pill(&g, "live \xc2\xb7 4.0 s behind");
	end(&g);
}

static void a_click_on_the_pill_pauses_and_goes_on(void **state)
{
	(void)state;
	struct growing g = begin();
	struct weft_viewer_request request;
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	for (int i = 0; i < 4; i++) {
		const struct weft_box box = pill_of(g.s.viewer)->box;
		expect_control(&g, false);
		script_click(&g.s, box.x + box.width - 8, box.y + box.height / 2, 0);
		expect_pill(&g, i % 2 ? "live \xc2\xb7 0.1 s behind" : "paused");
		assert_true(weft_viewer_next_request(g.s.viewer, &request));
		assert_int_equal(request.type, WEFT_VIEWER_FOLLOW);
		assert_int_equal(request.start, i % 2);
		assert_non_null(strstr(pill_of(g.s.viewer)->tip, i % 2 ? "pause ( l )" : "go on ( l )"));
	}
	end(&g);
}

static void the_end_of_the_program_stays_said(void **state)
{
	(void)state;
	struct growing g = begin();
	struct weft_model *model;
	add(&g, WEFT_EVENT_RESOLVE, 1, 2);
	assert_int_equal(weft_model_builder_finish(g.builder, &description, &model), 0);
	assert_int_equal(weft_viewer_show(g.s.viewer, model, false), 0);
	expect_pill(&g, "ended");
	expect_control(&g, true);
	script_wait(&g.s, 9e3);
	assert_true(isinf(weft_viewer_advance(g.s.viewer, g.s.now_ms)));
	assert_int_equal(weft_viewer_show(g.s.viewer, sample_model(BLOCK_READ), false), 0);
	assert_null(pill_of(g.s.viewer));
	end(&g);
}

static void the_pill_stands_clear_of_title_and_buttons(void **state)
{
	(void)state;
	static const double sizes[][2] = {{1400, 800}, {900, 400}, {700, 150}, {360, 640}, {200, 90}};
	struct growing g = begin();
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		weft_viewer_resize(g.s.viewer, sizes[i][0], sizes[i][1], g.s.now_ms);
		const struct weft__button *pill = pill_of(g.s.viewer);
		assert_int_equal(pill != NULL, i < 4);
		for (uint32_t k = 0; pill && k < g.s.viewer->toolbar.count; k++) {
			const struct weft_box *a = &pill->box, *b = &g.s.viewer->toolbar.buttons[k].box;
			assert_true(&g.s.viewer->toolbar.buttons[k] == pill || a->x + a->width <= b->x ||
						b->x + b->width <= a->x || a->y + a->height <= b->y);
		}
		if (pill)
			assert_true(g.s.viewer->frame.title.width <= pill->box.x);
	}
	end(&g);
}

/* ---- The window at the newest events ---- */

static void expect_window(struct growing *g, double seconds, bool is_at_end)
{
	const struct weft_view *view = weft__viewer_wanted(g->s.viewer);
	close_to(weft__view_duration(view) / 1e9, seconds, seconds * 1e-6);
	double end = weft_view_x(view, view->end);
	assert_int_equal(fabs(end - (view->width - WEFT_VIEW_MARGIN)) < 0.01, is_at_end);
}

static void the_newest_seconds_stay_in_view(void **state)
{
	(void)state;
	static const struct {
		const char *input;
		double seconds;
	} windows[] = {{"key L", 5}, {"command last 1s", 1}, {"command last 30s", 30},
		{"command last 250ms", 0.25}};
	struct growing g = begin();
	show_after(&g, 60 * SECOND);
	for (unsigned i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		script_run(&g.s, windows[i].input);
		expect_window(&g, windows[i].seconds, true);
		show_after(&g, 3 * SECOND);
		expect_window(&g, windows[i].seconds, true);
		script_run(&g.s, "size 800 500; command panel problems");
		expect_window(&g, windows[i].seconds, true);
		show_after(&g, 3 * SECOND);
		expect_window(&g, windows[i].seconds, true);
		script_run(&g.s, "size 1400 800; command close");
	}
	end(&g);
}

/* A trace that is shorter than the window is shown as a whole until it is longer. */
static void a_window_may_be_longer_than_the_trace(void **state)
{
	(void)state;
	struct growing g = begin();
	script_run(&g.s, "command last 5s");
	for (unsigned second = 1; second < 12; second++) {
		show_after(&g, SECOND);
		expect_window(&g, second + 1 < 5 ? second + 1 : 5, true);
	}
	end(&g);
}

static void zooming_and_the_key_end_the_window(void **state)
{
	(void)state;
	static const char *const ends[] = {
		"key +", "key L", "command last off", "command fit", "command view start=1s duration=2s"};
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct growing g = begin();
		show_after(&g, 60 * SECOND);
		script_run(&g.s, "key L");
		script_run(&g.s, ends[i]);
		script_run(&g.s, "command zoom in");
		double length = weft__view_duration(weft__viewer_wanted(g.s.viewer));
		show_after(&g, 3 * SECOND);
		assert_false(weft__is_lasting(g.s.viewer, ""));
		close_to(weft__view_duration(weft__viewer_wanted(g.s.viewer)), length, length * 1e-6);
		end(&g);
	}
}

/* Pausing lets the user look at other times; the window goes on afterwards. */
static void a_pause_keeps_the_window_for_later(void **state)
{
	(void)state;
	struct growing g = begin();
	show_after(&g, 60 * SECOND);
	script_run(&g.s, "key L; key l; key ArrowLeft; key ArrowLeft");
	show_after(&g, 3 * SECOND);
	expect_window(&g, 5, false);
	script_run(&g.s, "key l");
	show_after(&g, 3 * SECOND);
	expect_window(&g, 5, true);
	script_run(&g.s, "key l; command last 1s"); /* a new window follows at once */
	assert_true(g.s.viewer->is_following);
	show_after(&g, 3 * SECOND);
	expect_window(&g, 1, true);
	end(&g);
}

static void a_link_has_the_window(void **state)
{
	(void)state;
	struct growing g = begin();
	show_after(&g, 60 * SECOND);
	script_run(&g.s, "command view last=2s task=1");
	expect_window(&g, 2, true);
	show_after(&g, 3 * SECOND);
	expect_window(&g, 2, true);
	const char *link = weft_viewer_link(g.s.viewer);
	assert_non_null(strstr(link, " last=2s "));
	assert_null(strstr(link, " start="));
	script_run(&g.s, "key +");
	assert_null(strstr(weft_viewer_link(g.s.viewer), "last="));
	end(&g);
}

/* In a trace that does not grow, the command shows its end. */
static void the_last_seconds_of_a_file_are_shown(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command last 10ms");
	const struct weft_view *view = weft__viewer_wanted(s.viewer);
	close_to(weft__view_duration(view), 1e7, 10);
	close_to(weft_view_x(view, view->end), view->width - WEFT_VIEW_MARGIN, 0.01);
	assert_non_null(strstr(weft_viewer_link(s.viewer), " start="));
	script_run(&s, "command last soon");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "such as 5s"));
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_that_is_not_recorded_has_no_pill),
		cmocka_unit_test(the_pill_says_how_far_behind_the_picture_is),
		cmocka_unit_test(silence_is_no_delay),
		cmocka_unit_test(a_lost_connection_is_seen),
		cmocka_unit_test(clocks_that_differ_add_no_delay),
		cmocka_unit_test(a_report_that_comes_late_does_not_hide_the_delay),
		cmocka_unit_test(a_click_on_the_pill_pauses_and_goes_on),
		cmocka_unit_test(the_end_of_the_program_stays_said),
		cmocka_unit_test(the_pill_stands_clear_of_title_and_buttons),
		cmocka_unit_test(the_newest_seconds_stay_in_view),
		cmocka_unit_test(a_window_may_be_longer_than_the_trace),
		cmocka_unit_test(zooming_and_the_key_end_the_window),
		cmocka_unit_test(a_pause_keeps_the_window_for_later),
		cmocka_unit_test(a_link_has_the_window),
		cmocka_unit_test(the_last_seconds_of_a_file_are_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
