/* SPDX-License-Identifier: ISC
 *
 * How wheels, drags, throws, fingers, prompts and the overview move the view.
 */
#include "viewer_sample.h"

static double row_under(const struct script *s, double y)
{
	return weft_view_row(&s->viewer->view, y - s->viewer->frame.picture.y);
}

static void the_wheel_zooms_at_the_pointer(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "wheel 700 400 -1200; wait 200");
	double before = s.viewer->view.scale, time = time_under(&s, 300);
	script_run(&s, "wheel 300 400 -120; wait 60");
	assert_true(s.viewer->view.scale > before * 1.01 && s.viewer->view.scale < before * 1.199);
	close_to(time_under(&s, 300), time, 2 / s.viewer->view.scale);
	script_run(&s, "wait 100");
	close_to(s.viewer->view.scale / before, 1.2, 1e-9);
	close_to(time_under(&s, 300), time, 1 / s.viewer->view.scale);
	script_run(&s, "wheel 300 400 -6"); /* a touchpad: at once */
	close_to(s.viewer->view.scale / before, 1.2 * pow(1.2, 0.05), 1e-9);
	script_end(&s);
}

static void wheels_with_shift_and_alt_move_time_and_rows(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "wheel 700 400 -1200");
	double left = s.viewer->view.left, scale = s.viewer->view.scale;
	script_run(&s, "wheel 700 400 120 shift");
	close_to(s.viewer->view.left, left + 120 / scale, 1e-3);
	assert_true(s.viewer->view.scale == scale);
	double focus = s.viewer->view.focus;
	script_run(&s, "wheel 700 400 120 alt");
	close_to(s.viewer->view.focus, focus + 3, 1e-9);
	script_end(&s);
}

static void a_drag_keeps_time_and_row_under_the_pointer(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, false);
	script_run(
		&s, "wheel 700 400 -1800; wheel 700 400 600 alt; wait 200; move 600 500; press 600 500");
	double time = time_under(&s, 600), row = row_under(&s, 500);
	for (int i = 1; i <= 20; i++) {
		script_wait(&s, 16);
		script_point(&s, WEFT_VIEWER_MOVE, 600 - 5 * i, 500 - 0.5 * i, 0, 0);
		close_to(time_under(&s, 600 - 5 * i), time, 0.5 / s.viewer->view.scale);
		close_to(row_under(&s, 500 - 0.5 * i), row, 0.1);
	}
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_GRABBING);
	script_end(&s);
}

/* A view that is released while it moves goes on, slower and slower, until it is touched. */
static void a_throw_goes_on_and_stops_on_touch(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "wheel 700 400 -1800; wait 200; move 900 400; press 900 400");
	for (int i = 1; i <= 6; i++) {
		script_wait(&s, 16);
		script_point(&s, WEFT_VIEWER_MOVE, 900 - 20 * i, 400, 0, 0);
	}
	script_run(&s, "release 780 400");
	double at_release = s.viewer->view.left;
	script_run(&s, "wait 100");
	double later = s.viewer->view.left;
	assert_true(later > at_release + 10 / s.viewer->view.scale);
	script_run(&s, "press 500 400; wait 200");
	close_to(s.viewer->view.left, later, 1e-6);
	assert_true(weft_viewer_advance(s.viewer, s.now_ms) > 0);
	script_end(&s);
}

static void two_fingers_zoom_and_move(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "wheel 700 400 -1200; wait 200; touch 1 press 500 400; touch 2 press 700 400");
	double scale = s.viewer->view.scale, middle = time_under(&s, 600);
	script_run(&s, "touch 1 move 450 420; touch 2 move 850 420");
	close_to(s.viewer->view.scale / scale, 2, 0.02);
	close_to(time_under(&s, 650), middle, 1 / s.viewer->view.scale);
	/* One finger continues alone. */
	script_run(&s, "touch 1 release 450 420");
	double held = time_under(&s, 850);
	script_run(&s, "touch 2 move 800 420");
	close_to(time_under(&s, 800), held, 1 / s.viewer->view.scale);
	script_run(&s, "touch 2 release 800 420; wait 400");
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_NONE);
	script_end(&s);
}

static void a_long_press_points(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "touch 1 press 600 132; wait 400");
	assert_int_equal(s.viewer->hover.task, WEFT_NONE);
	script_run(&s, "wait 200");
	assert_int_not_equal(s.viewer->hover.task, WEFT_NONE);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "XenStore"));
	script_end(&s);
}

static void views_are_gone_back_to_and_forward(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_view all = s.viewer->view;
	script_run(&s, "command view start=5ms duration=1ms; wait 2000");
	struct weft_view close = s.viewer->view;
	script_run(&s, "wheel 700 400 -120; wait 10; wheel 700 400 -120; wait 2000; key [");
	close_to(s.viewer->view.scale, close.scale, close.scale * 1e-9); /* two notches are one step */
	script_run(&s, "key [");
	close_to(s.viewer->view.scale, all.scale, all.scale * 1e-9);
	script_run(&s, "key ]");
	close_to(s.viewer->view.left, close.left, 1);
	script_run(&s, "key [; key [; key [");
	close_to(s.viewer->view.scale, all.scale, all.scale * 1e-9);
	script_end(&s);
}

static void exact_times_are_asked_for(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "key s; enter 12.5ms; key d; enter 300us");
	assert_false(weft_viewer_prompt(s.viewer)->is_open);
	close_to(time_under(&s, 20), 12500000, 1);
	close_to(weft__view_duration(&s.viewer->view), 300000, 1e-3);
	script_run(&s, "key d; type 300");
	assert_true(weft_viewer_prompt(s.viewer)->is_error);
	assert_non_null(strstr(weft_viewer_prompt(s.viewer)->message, "unit"));
	script_run(&s, "key Escape");
	assert_false(weft_viewer_prompt(s.viewer)->is_open);
	script_end(&s);
}

static void times_are_read_back_as_written(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t ns = ((uint64_t)pick(UINT32_MAX) << 31 | pick(UINT32_MAX)) >> pick(63), read;
		char text[32];
		weft__viewer_write_duration(ns, text);
		assert_null(weft__viewer_parse_duration(text, &read));
		assert_int_equal(read, ns);
	}
}

static double linear_strip_x(const struct script *s, double ns)
{
	double length = (double)(s->viewer->view.end - s->viewer->view.start);
	return 20 + (s->viewer->frame.strip.width - 40) * ns / length;
}

static void the_overview_is_a_window(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	char line[100];
	/* A drag outside the window chooses what is shown. */
	snprintf(
		line, sizeof(line), "drag %g 50 %g 50", linear_strip_x(&s, 40e6), linear_strip_x(&s, 60e6));
	script_run(&s, line);
	close_to(time_under(&s, 20), 40e6, 3e5);
	close_to(weft__view_duration(&s.viewer->view), 20e6, 6e5);
	/* Its middle moves it, */
	snprintf(
		line, sizeof(line), "drag %g 50 %g 50", linear_strip_x(&s, 50e6), linear_strip_x(&s, 80e6));
	script_run(&s, line);
	close_to(time_under(&s, 20), 70e6, 6e5);
	close_to(weft__view_duration(&s.viewer->view), 20e6, 6e5);
	/* its edge makes it wider. */
	double right = s.viewer->view.left + s.viewer->view.width / s.viewer->view.scale;
	snprintf(line, sizeof(line), "drag %g 50 %g 50", linear_strip_x(&s, right),
		linear_strip_x(&s, 120e6));
	script_run(&s, line);
	close_to(time_under(&s, 20), 70e6, 6e5);
	close_to(weft__view_duration(&s.viewer->view), 50e6, 1e6);
	script_run(&s, "wait 1000; double 30 50");
	assert_true(weft__viewer_shows_all(s.viewer));
	script_end(&s);
}

static void plain_rows_are_scrolled(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "key g");
	const struct weft_box bar = weft__viewer_rows_bar(s.viewer);
	assert_true(bar.width > 0);
	double spacing = weft_view_row_spacing(&s.viewer->view, 0);
	close_to(weft_view_row_spacing(&s.viewer->view, 40), spacing, 1e-9);
	char line[64];
	snprintf(line, sizeof(line), "drag %g %g %g %g", bar.x + 3, bar.y + 5, bar.x + 3,
		bar.y + bar.height - 1);
	script_run(&s, line);
	double first, last;
	weft_view_rows_seen(&s.viewer->view, &first, &last);
	close_to(last, s.viewer->view.row_count - 1.0, 0.5);
	script_run(&s, "key g");
	assert_true(weft__viewer_rows_bar(s.viewer).width == 0);
	script_end(&s);
}

/* A command that changes the view at once ends a move that is under way. */
static void a_jump_ends_a_move(void **state)
{
	static const char *const jumps[] = {"command rows plain", "command squeeze on"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct script s = script_begin(BLOCK_READ, false);
		script_run(&s, "command zoom in; wait 400; command zoom in; wait 32");
		assert_true(s.viewer->motion.is_running);
		script_run(&s, jumps[i]);
		struct weft_view view = s.viewer->view;
		assert_false(s.viewer->motion.is_running);
		script_wait(&s, 400);
		assert_true(view.scale == s.viewer->view.scale && view.left == s.viewer->view.left);
		assert_true(s.viewer->view.is_plain == (i == 0) && !s.viewer->view.squeeze == (i == 0));
		script_end(&s);
	}
}

/* Keys move the end of a range that begins in the middle of what is in view. */
static void a_range_by_keys_begins_in_the_middle(void **state)
{
	struct script s = script_begin(BLOCK_READ, true);
	(void)state;
	script_run(&s, "command zoom in; command measure; key ArrowRight shift");
	const struct weft_view *view = &s.viewer->view;
	assert_true(s.viewer->range.is_set && !s.viewer->range.is_armed);
	double x = weft_view_x(view, s.viewer->range.from);
	assert_true(fabs(x - view->width / 2) < 2);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_ends_a_move),
		cmocka_unit_test(a_range_by_keys_begins_in_the_middle),
		cmocka_unit_test(the_wheel_zooms_at_the_pointer),
		cmocka_unit_test(wheels_with_shift_and_alt_move_time_and_rows),
		cmocka_unit_test(a_drag_keeps_time_and_row_under_the_pointer),
		cmocka_unit_test(a_throw_goes_on_and_stops_on_touch),
		cmocka_unit_test(two_fingers_zoom_and_move),
		cmocka_unit_test(a_long_press_points),
		cmocka_unit_test(views_are_gone_back_to_and_forward),
		cmocka_unit_test(exact_times_are_asked_for),
		cmocka_unit_test(times_are_read_back_as_written),
		cmocka_unit_test(the_overview_is_a_window),
		cmocka_unit_test(plain_rows_are_scrolled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
