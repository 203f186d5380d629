/* SPDX-License-Identifier: ISC
 *
 * Where a press becomes a drag, a click a double click, a touch a long press; what moves on after
 * it, and how far.
 */
#include "viewer_sample.h"

static void point(struct script *s, uint8_t action, double x, double y, bool is_touch)
{
	script_point(s, action, x, y, is_touch, 0);
}

/* A script with everything learned, so that nothing else is due. */
static struct script begin_learned(bool reduced_motion)
{
	struct script s = script_begin(BLOCK_READ, reduced_motion);
	script_draw(&s);
	script_run(&s, "wait 3000");
	assert_true(isinf(weft_viewer_advance(s.viewer, s.now_ms)));
	return s;
}

static void pass(struct script *s, double ms)
{
	s->now_ms += ms;
	weft_viewer_advance(s->viewer, s->now_ms);
}

static void a_press_becomes_a_drag_after_some_pixels(void **state)
{
	static const struct {
		bool is_touch;
		double px;
		enum weft__drag drag;
	} cases[] = {
		{false, 3.9, WEFT__DRAG_PRESSED},
		{false, 4, WEFT__DRAG_GRAB},
		{true, 8.9, WEFT__DRAG_PRESSED},
		{true, 9, WEFT__DRAG_GRAB},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int is_down = 0; is_down < 2; is_down++) {
			struct script s = script_begin(BLOCK_READ, true);
			double x = 600, y = 400;
			point(&s, WEFT_VIEWER_PRESS, x, y, cases[i].is_touch);
			x += is_down ? 0 : -cases[i].px;
			y += is_down ? cases[i].px : 0;
			point(&s, WEFT_VIEWER_MOVE, x, y, cases[i].is_touch);
			assert_int_equal(s.viewer->pointer.drag, cases[i].drag);
			script_end(&s);
		}
}

static void click_at(struct script *s, double x, double y, bool is_touch)
{
	point(s, WEFT_VIEWER_PRESS, x, y, is_touch);
	point(s, WEFT_VIEWER_RELEASE, x, y, is_touch);
}

/* Two clicks on the overview show the whole trace if they are quick and near to each other. */
static bool is_double(bool is_touch, double ms, double dx, double dy)
{
	struct script s = script_begin(BLOCK_READ, true);
	double y = s.viewer->frame.strip.y + 10;
	script_run(&s, "command view start=5ms duration=1ms");
	click_at(&s, 700, y, is_touch);
	pass(&s, ms);
	click_at(&s, 700 + dx, y + dy, is_touch);
	bool is_all = weft__viewer_shows_all(s.viewer);
	script_end(&s);
	return is_all;
}

static void a_double_click_is_quick_and_near(void **state)
{
	(void)state;
	assert_true(is_double(false, 400, 8, 0));
	assert_false(is_double(false, 401, 8, 0));
	assert_false(is_double(false, 400, 8.1, 0));
	assert_false(is_double(false, 400, 0, 8.1));
	assert_true(is_double(true, 400, -24, 0));
	assert_false(is_double(true, 400, -24.1, 0));
}

/* A third click begins anew, and the fourth makes a double click with it. */
static void a_third_click_is_a_first_one(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	double y = s.viewer->frame.strip.y + 10;
	for (int i = 1; i <= 4; i++) {
		script_run(&s, "command view start=5ms duration=1ms");
		click_at(&s, 700, y, false);
		assert_int_equal(weft__viewer_shows_all(s.viewer), i % 2 == 0);
		pass(&s, 100);
	}
	script_end(&s);
}

/* A press in the overview that moves by 9 px is a drag. */
static void a_drag_of_the_overview_is_no_click(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	double y = s.viewer->frame.strip.y + 10;
	script_run(&s, "command view start=5ms duration=1ms");
	point(&s, WEFT_VIEWER_PRESS, 700, y, false);
	point(&s, WEFT_VIEWER_RELEASE, 700, y + 8.9, false);
	assert_true(isfinite(s.viewer->pointer.click_ms));
	s.viewer->pointer.click_ms = -INFINITY;
	point(&s, WEFT_VIEWER_PRESS, 700, y, false);
	point(&s, WEFT_VIEWER_RELEASE, 700, y + 9, false);
	assert_true(isinf(s.viewer->pointer.click_ms));
	script_end(&s);
}

static void a_finger_that_rests_points_after_half_a_second(void **state)
{
	(void)state;
	struct script s = begin_learned(true);
	point(&s, WEFT_VIEWER_PRESS, 600, 132, true);
	close_to(weft_viewer_advance(s.viewer, s.now_ms), 500, 1e-9);
	pass(&s, 499);
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_PRESSED);
	pass(&s, 1);
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_HOVER);
	uint32_t task = s.viewer->hover.task;
	assert_int_not_equal(task, WEFT_NONE);
	/* It shows at once what it is moved to, and selects nothing. */
	point(&s, WEFT_VIEWER_MOVE, 600, 700, true);
	assert_int_equal(s.viewer->hover.task, WEFT_NONE);
	point(&s, WEFT_VIEWER_MOVE, 600, 132, true);
	assert_int_equal(s.viewer->hover.task, task);
	point(&s, WEFT_VIEWER_RELEASE, 600, 132, true);
	assert_int_equal(s.viewer->selection.task, WEFT_NONE);
	assert_false(s.viewer->pointer.is_inside);
	script_end(&s);
}

static void a_mouse_that_rests_stays_pressed(void **state)
{
	(void)state;
	struct script s = begin_learned(true);
	point(&s, WEFT_VIEWER_PRESS, 600, 132, false);
	assert_true(isinf(weft_viewer_advance(s.viewer, s.now_ms)));
	pass(&s, 5000);
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_PRESSED);
	point(&s, WEFT_VIEWER_RELEASE, 600, 132, false);
	assert_int_not_equal(s.viewer->selection.task, WEFT_NONE);
	assert_true(s.viewer->pointer.is_inside);
	script_end(&s);
}

/* Drags to the left, half a pixel a ms, and releases `rest_ms` after the last move. */
static struct script thrown(bool reduced_motion, double speed, double rest_ms)
{
	struct script s = begin_learned(reduced_motion);
	double x = 1300;
	script_run(&s, "command view start=60ms duration=1ms; wait 500");
	point(&s, WEFT_VIEWER_PRESS, x, 400, false);
	for (int i = 0; i < 40; i++) {
		pass(&s, 16);
		x -= 16 * speed;
		point(&s, WEFT_VIEWER_MOVE, x, 400, false);
	}
	pass(&s, rest_ms);
	point(&s, WEFT_VIEWER_RELEASE, x, 400, false);
	return s;
}

static void a_throw_goes_on_for_a_third_of_its_time(void **state)
{
	(void)state;
	struct script s = thrown(false, 0.5, 10);
	struct weft_view *view = &s.viewer->view;
	double left = view->left;
	assert_true(s.viewer->motion.is_running);
	close_to(s.viewer->pointer.speed_x, -0.5, 1e-3);
	close_to(s.viewer->pointer.speed_y, 0, 1e-9);
	pass(&s, 150);
	close_to((view->left - left) * view->scale, 0.5 * 87.5, 0.2);
	assert_true(weft_viewer_advance(s.viewer, s.now_ms) == 0);
	pass(&s, 150);
	close_to((view->left - left) * view->scale, 0.5 * 100, 0.2);
	assert_true(isinf(weft_viewer_advance(s.viewer, s.now_ms)));
	pass(&s, 500);
	close_to((view->left - left) * view->scale, 0.5 * 100, 0.2);
	script_end(&s);
}

static void only_a_quick_release_throws(void **state)
{
	static const struct {
		bool reduced_motion;
		double speed, rest_ms;
		bool is_thrown;
	} cases[] = {
		{false, 0.5, 59, true},
		{false, 0.5, 60, false},
		{false, 0.101, 10, true},
		{false, 0.099, 10, false},
		{true, 0.5, 10, false},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct script s = thrown(cases[i].reduced_motion, cases[i].speed, cases[i].rest_ms);
		assert_int_equal(s.viewer->motion.is_running, cases[i].is_thrown);
		script_end(&s);
	}
}

/* In the middle of a glide 7/8 of the way are done; the scale changes by equal factors, and what
 * both views show at the same x stays there. */
static void a_glide_is_smooth(void **state)
{
	(void)state;
	struct script s = begin_learned(false);
	struct weft_view from = s.viewer->view, *now = &s.viewer->view;
	script_run(&s, "command view start=60ms duration=10ms");
	struct weft_view to = *weft__viewer_wanted(s.viewer);
	pass(&s, 60);
	close_to(log(now->scale / from.scale), log(to.scale / from.scale) * 0.875, 1e-6);
	double held = (from.left * from.scale - to.left * to.scale) / (from.scale - to.scale);
	double x = (held - from.left) * from.scale;
	close_to(now->left + x / now->scale, held, 1);
	assert_true(weft_viewer_advance(s.viewer, s.now_ms) == 0);
	pass(&s, 60);
	assert_true(now->scale == to.scale && now->left == to.left);
	assert_true(isinf(weft_viewer_advance(s.viewer, s.now_ms)));
	/* Without a change of scale. */
	from = *now;
	script_run(&s, "command pan right");
	to = *weft__viewer_wanted(s.viewer);
	pass(&s, 60);
	close_to(now->left, from.left + (to.left - from.left) * 0.875, 1e-3);
	script_end(&s);
}

/* A mouse drags with the button that was pressed first. */
static void a_second_button_is_ignored(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "press 600 400; move 500 400");
	struct weft_view before = s.viewer->view;
	script_run(&s, "press 500 400");
	assert_int_equal(s.viewer->pointer.finger_count, 1);
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_GRAB);
	assert_true(s.viewer->view.left == before.left);
	script_run(&s, "release 500 400; release 500 400");
	assert_int_equal(s.viewer->pointer.finger_count, 0);
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_NONE);
	script_end(&s);
}

/* The viewer ignores a third finger. */
static void two_fingers_are_enough(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "touch 1 press 500 400; touch 2 press 700 400; touch 3 press 900 400");
	assert_int_equal(s.viewer->pointer.finger_count, 2);
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_PINCH);
	double scale = s.viewer->view.scale;
	script_run(&s, "touch 3 move 1000 400; touch 3 release 1000 400");
	assert_true(s.viewer->view.scale == scale);
	script_run(&s, "touch 2 move 900 400");
	close_to(s.viewer->view.scale / scale, 2, 1e-6);
	/* The second finger goes on alone when the first is lifted. */
	script_run(&s, "touch 1 release 500 400");
	double time = time_under(&s, 900);
	script_run(&s, "touch 2 move 850 400");
	close_to(time_under(&s, 850), time, 1 / s.viewer->view.scale);
	script_run(&s, "touch 2 release 850 400");
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_NONE);
	script_end(&s);
}

/* Fingers that touch each other do not zoom without end. */
static void a_narrow_pinch_is_bounded(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "touch 1 press 600 400; touch 2 press 604 400");
	double scale = s.viewer->view.scale;
	script_run(&s, "touch 2 move 632 400");
	close_to(s.viewer->view.scale / scale, 2, 1e-6); /* as if they had been 16 px apart */
	script_end(&s);
}

static void a_cancelled_drag_leaves_no_range(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "press 300 300; move 400 300 shift; cancel 400 300");
	assert_false(s.viewer->range.is_set);
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_NONE);
	assert_int_equal(s.viewer->pointer.finger_count, 0);
	/* By Escape the finger stays down, and must be lifted first. */
	script_run(&s, "press 300 300; move 400 300 shift; key Escape");
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_OVER);
	script_run(&s, "move 500 300; release 500 300");
	assert_false(s.viewer->range.is_set);
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_NONE);
	assert_int_equal(s.viewer->selection.task, WEFT_NONE);
	script_end(&s);
}

/* A range without a length is forgotten. */
static void an_empty_range_is_dropped(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "press 300 300; move 400 300 shift; move 300 300 shift; release 300 300");
	assert_false(s.viewer->range.is_set);
	script_run(&s, "command measure; drag 300 300 500 300");
	assert_true(s.viewer->range.is_set && !s.viewer->range.is_armed);
	script_run(&s, "command escape");
	const struct weft_box *ruler = &s.viewer->frame.ruler;
	script_drag(&s, 300, ruler->y, 500, ruler->y, 0); /* the ruler needs no key */
	assert_true(s.viewer->range.is_set);
	script_run(&s, "command escape");
	script_drag(&s, 300, ruler->y + ruler->height, 500, ruler->y + ruler->height, 0);
	assert_false(s.viewer->range.is_set);
	script_end(&s);
}

/* A button runs its command if it is released on it. */
static void a_button_is_released_where_it_was_pressed(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	const struct weft_box menu = s.viewer->toolbar.buttons[13].box,
						  help = s.viewer->toolbar.buttons[12].box;
	double y = menu.y + 5;
	point(&s, WEFT_VIEWER_PRESS, menu.x + 5, y, false);
	assert_int_equal(s.viewer->pointer.button, 13);
	point(&s, WEFT_VIEWER_RELEASE, help.x + 5, y, false);
	assert_int_equal(s.viewer->panel.kind, WEFT__PANEL_NONE);
	assert_int_equal(s.viewer->pointer.button, WEFT__NO_BUTTON);
	click_at(&s, menu.x + menu.width - 1, y, false);
	assert_int_equal(s.viewer->panel.kind, WEFT__PANEL_MENU);
	script_end(&s);
}

static void a_click_on_the_status_opens_what_it_is_about(void **state)
{
	(void)state;
	struct script s = begin_learned(true);
	const struct weft_box *status = &s.viewer->frame.status;
	double x = status->x + 20, y = status->y + 3;
	point(&s, WEFT_VIEWER_PRESS, x, y, false);
	point(&s, WEFT_VIEWER_RELEASE, x, status->y - 5, false);
	assert_int_equal(s.viewer->panel.kind, WEFT__PANEL_NONE);
	click_at(&s, x, y, false);
	assert_int_equal(s.viewer->panel.kind, WEFT__PANEL_PROBLEMS);
	script_run(&s, "command close; command select task:79");
	click_at(&s, x, y, false);
	assert_int_equal(s.viewer->panel.kind, WEFT__PANEL_STORY);
	script_end(&s);
}

/* The pointer's shape tells what a press would do. */
static void the_cursor_tells_what_can_be_done(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	const struct weft_frame *frame = &s.viewer->frame;
	script_run(&s, "command view start=40ms duration=60ms; move 700 132; wait 200");
	const double strip = frame->strip.y + 10, ruler = frame->ruler.y + 5;
	const struct weft_view *view = &s.viewer->view;
	const double edge = strip_x(&s, weft_view_time(view, 0));
	const struct {
		double x, y;
		enum weft_viewer_cursor cursor;
	} cases[] = {
		{edge, strip, WEFT_VIEWER_CURSOR_RESIZE},
		{strip_x(&s, weft_view_time(view, view->width)), strip, WEFT_VIEWER_CURSOR_RESIZE},
		{edge + 100, strip, WEFT_VIEWER_CURSOR_DEFAULT},
		{edge - 100, strip, WEFT_VIEWER_CURSOR_CROSSHAIR},
		{700, ruler, WEFT_VIEWER_CURSOR_CROSSHAIR},
		{s.viewer->toolbar.buttons[3].box.x + 5, 5, WEFT_VIEWER_CURSOR_POINTER},
		{700, frame->picture.y + frame->picture.height - 3, WEFT_VIEWER_CURSOR_DEFAULT},
		{700, 132, WEFT_VIEWER_CURSOR_POINTER},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		point(&s, WEFT_VIEWER_MOVE, cases[i].x, cases[i].y, false);
		pass(&s, 200);
		assert_int_equal(weft_viewer_cursor(s.viewer), cases[i].cursor);
	}
	weft_viewer_changes(s.viewer);
	point(&s, WEFT_VIEWER_MOVE, 700, ruler, false);
	assert_true(weft_viewer_changes(s.viewer) & WEFT_VIEWER_CURSOR);
	point(&s, WEFT_VIEWER_MOVE, 701, ruler, false);
	assert_false(weft_viewer_changes(s.viewer) & WEFT_VIEWER_CURSOR);
	/* Dragging: the window, the picture, an armed range. */
	point(&s, WEFT_VIEWER_PRESS, edge + 100, strip, false);
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_GRABBING);
	point(&s, WEFT_VIEWER_RELEASE, edge + 100, strip, false);
	script_run(&s, "press 700 600; move 690 600");
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_GRABBING);
	script_run(&s, "release 690 600; command measure; move 700 700; wait 100");
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_CROSSHAIR);
	script_run(&s, "leave 0 0");
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_DEFAULT);
	script_end(&s);
}

/* A bookmark's flag is clicked within 8 px; with a finger, 20 px. */
static void flags_are_hit_around_them(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_view *view = &s.viewer->view;
	char line[64];
	snprintf(line, sizeof(line), "@%llu one\n", (unsigned long long)(view->start + 80000000));
	assert_int_equal(weft_viewer_load_notes(s.viewer, line, strlen(line)), 0);
	double x = weft__viewer_canvas_x(s.viewer, view->start + 80000000);
	for (int is_touch = 0; is_touch < 2; is_touch++) {
		double reach = is_touch ? 20 : 8;
		s.viewer->pointer.is_touch = is_touch;
		assert_int_equal(weft__viewer_mark_at(s.viewer, x - reach + 0.01), 0);
		assert_int_equal(weft__viewer_mark_at(s.viewer, x + reach - 0.01), 0);
		assert_int_equal(weft__viewer_mark_at(s.viewer, x - reach - 0.01), WEFT__NO_MARK);
		assert_int_equal(weft__viewer_mark_at(s.viewer, x + reach + 0.01), WEFT__NO_MARK);
	}
	script_end(&s);
}

/* The parts of the overview at each x, in order, with the number of pixels of each. */
static void strip_parts(const struct script *s, char text[200])
{
	static const char letters[] = "npgrwlWSEsbopho";
	double end = s->viewer->frame.strip.width;
	size_t used = 0;
	int last = -1, count = 0;
	text[0] = '\0';
	for (double x = 0; x <= end; x++) {
		int part = x < end ? (int)weft__viewer_strip_part(s->viewer, x) : -1;
		if (part != last && last >= 0)
			used += (size_t)snprintf(text + used, 200 - used, "%c%d ", letters[last], count);
		count = part == last ? count + 1 : 1;
		last = part;
	}
}

/* W: the window; S, E: its start and end; s: outside. A narrow window is moved, not stretched, by a
 * press inside. */
static void the_overview_has_edges_for_mice_and_fingers(void **state)
{
	static const struct {
		const char *view;
		bool is_touch;
		const char *parts;
	} cases[] = {
		{"command fit", false, "s14 S13 s1347 E13 s13 "},
		{"command view start=40ms duration=60ms", false, "s343 S12 W507 E12 s526 "},
		{"command view start=40ms duration=60ms", true, "s333 S32 W487 E32 s516 "},
		{"command view start=40ms duration=1ms", false, "s351 S7 W6 E7 s1029 "},
		{"command view start=40ms duration=1ms", true, "s341 S17 W6 E17 s1019 "},
		{"command view start=40ms duration=2ms", false, "s350 S7 W16 E7 s1020 "},
		{"command view start=40ms duration=3ms", true, "s340 S17 W24 E17 s1002 "},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct script s = script_begin(BLOCK_READ, true);
		char text[200];
		script_run(&s, cases[i].view);
		s.viewer->pointer.is_touch = cases[i].is_touch;
		strip_parts(&s, text);
		assert_string_equal(text, cases[i].parts);
		script_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_press_becomes_a_drag_after_some_pixels),
		cmocka_unit_test(a_double_click_is_quick_and_near),
		cmocka_unit_test(a_third_click_is_a_first_one),
		cmocka_unit_test(a_drag_of_the_overview_is_no_click),
		cmocka_unit_test(a_finger_that_rests_points_after_half_a_second),
		cmocka_unit_test(a_mouse_that_rests_stays_pressed),
		cmocka_unit_test(a_throw_goes_on_for_a_third_of_its_time),
		cmocka_unit_test(only_a_quick_release_throws),
		cmocka_unit_test(a_glide_is_smooth),
		cmocka_unit_test(a_second_button_is_ignored),
		cmocka_unit_test(two_fingers_are_enough),
		cmocka_unit_test(a_narrow_pinch_is_bounded),
		cmocka_unit_test(a_cancelled_drag_leaves_no_range),
		cmocka_unit_test(an_empty_range_is_dropped),
		cmocka_unit_test(a_button_is_released_where_it_was_pressed),
		cmocka_unit_test(a_click_on_the_status_opens_what_it_is_about),
		cmocka_unit_test(the_cursor_tells_what_can_be_done),
		cmocka_unit_test(flags_are_hit_around_them),
		cmocka_unit_test(the_overview_has_edges_for_mice_and_fingers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
