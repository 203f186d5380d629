/* SPDX-License-Identifier: ISC
 *
 * The viewer with idle time squeezed: moves, hits, ranges, links, and a trace that grows.
 */
#include "viewer_sample.h"

/* A time of the picture, px from the canvas's left edge. */
static double x_of(const struct script *s, uint64_t ns)
{
	return weft__viewer_canvas_x(s->viewer, s->viewer->view.start + ns);
}

static uint64_t ns_at(const struct script *s, double x)
{
	const struct weft_view *view = &s->viewer->view;
	return weft_view_time(view, x - s->viewer->frame.picture.x) - view->start;
}

static struct weft_stripe first_stripe(const struct script *s)
{
	struct weft_stripe stripe;
	assert_true(weft__view_next_stripe(&s->viewer->view, 0, &stripe));
	stripe.start -= s->viewer->view.start;
	stripe.end -= s->viewer->view.start;
	return stripe;
}

static void a_key_squeezes_and_holds_the_pointer(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "key x");
	assert_true(s.viewer->squeezing.is_on);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "Idle time is squeezed: 7 stripes"));
	close_to(x_of(&s, s.viewer->view.end - s.viewer->view.start), 1380, 1e-3); /* all in view */
	script_run(&s, "key x");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "drawn to scale"));
	close_to(x_of(&s, s.viewer->view.end - s.viewer->view.start), 1380, 1e-3);
	script_run(&s, "command view start=12ms duration=3ms; move 900 400; wait 100");
	uint64_t held = ns_at(&s, 900);
	script_run(&s, "key x");
	close_to(x_of(&s, held), 900, 0.01);
	script_run(&s, "key x");
	close_to(x_of(&s, held), 900, 0.01);
	script_end(&s);
}

static void nothing_long_is_said(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, true);
	struct weft_model *model = sample_model(BLOCK_READ);
	model->band_count = 0;
	assert_int_equal(weft_viewer_show(s.viewer, model, false), 0);
	script_run(&s, "key x");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "Nothing to squeeze"));
	assert_null(s.viewer->view.squeeze);
	script_draw(&s);
	script_end(&s);
}

static struct weft_model *model_that_idles(uint64_t ns)
{
	struct weft_model *model = sample_model(ARP_GOOD);
	model->band_count = 1;
	struct weft_band_period *band = (struct weft_band_period *)model->bands;
	*band = (struct weft_band_period){
		model->summary.start, model->summary.start + ns, WEFT_NONE, WEFT_NONE, WEFT_BAND_IDLE};
	return model;
}

static void a_trace_that_is_mostly_idle_is_said(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, true);
	struct weft_model *model = sample_model(ARP_GOOD);
	uint64_t whole = model->summary.last - model->summary.start;
	weft_model_destroy(model);
	assert_int_equal(weft_viewer_show(s.viewer, model_that_idles(whole * 89 / 100), false), 0);
	script_run(&s, "wait 100");
	assert_null(strstr(weft_viewer_status(s.viewer), "idle"));
	assert_int_equal(weft_viewer_show(s.viewer, model_that_idles(whole - whole / 500), false), 0);
	script_run(&s, "wait 100");
	const char *status = weft_viewer_status(s.viewer);
	assert_ptr_equal(strstr(status, "99 % idle \xc2\xb7 x squeezes"), status);
	script_run(&s, "key x; wait 9000");
	assert_null(strstr(weft_viewer_status(s.viewer), "squeezes"));
	script_end(&s);
}

static void wheel_drag_and_throw_hold_the_point(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, false);
	script_run(&s, "key x; move 900 400; wait 300");
	for (unsigned i = 0; i < 6; i++) {
		uint64_t held = ns_at(&s, 700);
		script_run(&s, "wheel 700 400 -120; wait 60");
		close_to(x_of(&s, held), 700, 1); /* in the middle of the glide, too */
		script_run(&s, "wait 300");
		close_to(x_of(&s, held), 700, 1);
	}
	for (unsigned i = 0; i < 3; i++) {
		uint64_t held = ns_at(&s, 700);
		script_run(&s, "press 700 400; move 650 400; wait 500; move 600 400");
		close_to(x_of(&s, held), 600, 1);
		script_run(&s, "wait 200; release 600 400; wait 500");
	}
	script_end(&s);
}

static void a_pan_glides_in_px(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, false);
	script_run(&s, "key x; command view start=5ms duration=20ms squeeze=on; wait 300");
	uint64_t held = ns_at(&s, 700);
	script_run(&s, "key ArrowLeft; wait 40");
	double first = x_of(&s, held) - 700;
	script_run(&s, "wait 16");
	double second = x_of(&s, held) - 700 - first;
	assert_true(first > 100 && second > 10 && second < first);
	script_run(&s, "wait 300");
	close_to(x_of(&s, held), 700 + 0.15 * s.viewer->view.width, 1);
	script_end(&s);
}

static void tasks_behind_a_stripe_are_hit(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "key x; wait 100");
	script_draw(&s);
	const struct weft_layout *layout = s.viewer->layout;
	uint32_t task = weft__viewer_parse_task(s.viewer->model, "task:4496"), row = layout->row[task];
	double y = s.viewer->frame.picture.y + weft_view_y(&s.viewer->view, row);
	script_click(&s, weft__viewer_canvas_x(s.viewer, layout->start[task]) + 6, y, 0);
	assert_int_equal(s.viewer->selection.task, task);
	script_end(&s);
}

static void a_range_across_a_stripe_has_the_time_of_the_trace(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "key x");
	struct weft_stripe stripe = first_stripe(&s);
	double x = x_of(&s, stripe.start) - 3, x2 = x_of(&s, stripe.end) + 3;
	close_to(x2 - x, 30, 0.01);
	uint64_t from = ns_at(&s, x), to = ns_at(&s, x2);
	script_drag(&s, x, 500, x2, 500, WEFT_VIEWER_SHIFT | WEFT_VIEWER_ALT);
	uint64_t start, end;
	weft__viewer_order_range(s.viewer, &start, &end);
	close_to((double)(end - start), (double)(to - from), 1);
	assert_true(end - start > stripe.end - stripe.start);
	script_run(&s, "key z; wait 500");
	close_to(x_of(&s, from), 20, 1);
	close_to(x_of(&s, to), 1380, 1);
	script_end(&s);
}

static void links_keep_it(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "command view start=5ms duration=20ms squeeze=on");
	assert_true(s.viewer->squeezing.is_on);
	close_to(x_of(&s, 5000000), 20, 1e-3);
	close_to(x_of(&s, 25000000), 1380, 1e-3);
	char link[512];
	snprintf(link, sizeof(link), "command %s", weft_viewer_link(s.viewer));
	assert_non_null(strstr(link, "start=5ms duration=20ms"));
	assert_non_null(strstr(link, "squeeze=on"));
	script_run(&s, "key 0; key x");
	script_run(&s, link);
	assert_true(s.viewer->squeezing.is_on);
	close_to(x_of(&s, 25000000), 1380, 1e-3);
	script_run(&s, "key Y");
	struct weft_viewer_request request;
	assert_true(weft_viewer_next_request(s.viewer, &request));
	assert_non_null(strstr(request.text, " --squeeze"));
	script_run(&s, "command view start=5ms"); /* the default is off */
	assert_false(s.viewer->squeezing.is_on);
	script_end(&s);
}

static void the_overview_is_squeezed_too(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "key x");
	struct weft_stripe stripe = first_stripe(&s);
	uint64_t start = s.viewer->view.start;
	close_to(strip_x(&s, start + stripe.end) - strip_x(&s, start + stripe.start), 24, 1e-3);
	double y = s.viewer->frame.strip.y + 10;
	script_drag(&s, strip_x(&s, start + 5000000), y, strip_x(&s, start + 9000000), y, 0);
	close_to(x_of(&s, 5000000), 20, 1);
	close_to(x_of(&s, 9000000), 1380, 1);
	/* The window follows the pointer over the stripes. */
	for (unsigned i = 0; i < 3; i++) {
		double x = (strip_x(&s, start + ns_at(&s, 0)) + strip_x(&s, start + ns_at(&s, 1400))) / 2;
		double before = strip_x(&s, start + ns_at(&s, 0));
		script_drag(&s, x, y, x + 100, y, 0);
		close_to(strip_x(&s, start + ns_at(&s, 0)), before + 100, 1);
	}
	script_end(&s);
}

static void another_trace_and_another_layout_keep_it(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "key x; command group thread; command fold all off; key w; key p; wait 300");
	assert_non_null(s.viewer->view.squeeze);
	script_draw(&s);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), false), 0);
	assert_true(s.viewer->view.squeeze == s.viewer->squeezing.squeeze);
	script_draw(&s);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), true), 0);
	assert_true(s.viewer->view.squeeze == s.viewer->squeezing.squeeze);
	script_run(&s, "wheel 700 400 -120; wait 60");
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), true), 0);
	script_run(&s, "key [; wait 60; key x; wait 60; key ]; wait 500; move 600 400; wait 200");
	script_draw(&s);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_squeezes_and_holds_the_pointer),
		cmocka_unit_test(nothing_long_is_said),
		cmocka_unit_test(a_trace_that_is_mostly_idle_is_said),
		cmocka_unit_test(wheel_drag_and_throw_hold_the_point),
		cmocka_unit_test(a_pan_glides_in_px),
		cmocka_unit_test(tasks_behind_a_stripe_are_hit),
		cmocka_unit_test(a_range_across_a_stripe_has_the_time_of_the_trace),
		cmocka_unit_test(links_keep_it),
		cmocka_unit_test(the_overview_is_squeezed_too),
		cmocka_unit_test(another_trace_and_another_layout_keep_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
