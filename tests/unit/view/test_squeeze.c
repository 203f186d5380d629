/* SPDX-License-Identifier: ISC
 *
 * Squeezed time axes: which idle times are squeezed, and x and time as each other's inverse.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <cmocka.h>

#include <weft/error.h>
#include <weft/view.h>

#include "failing_allocation.h"
#include "view/time.h"

#define MS UINT64_C(1000000)

static uint64_t seed = 7;

static double uniform(double low, double high)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

static void close_to(double got, double expected, double tolerance)
{
	if (!(fabs(got - expected) <= tolerance))
		fail_msg("%.12g is not within %g of %.12g", got, tolerance, expected);
}

static struct weft_squeeze *squeeze_of(
	const struct weft_stripe *idle, uint32_t count, uint64_t start, uint64_t end)
{
	struct weft_squeeze *squeeze;
	const struct weft_stripe trace = {start, end};
	assert_int_equal(weft_squeeze_create(idle, count, &trace, &squeeze), 0);
	return squeeze;
}

static uint32_t count_of(
	const struct weft_stripe *idle, uint32_t count, uint64_t end, uint64_t *ret_ns)
{
	struct weft_squeeze *squeeze = squeeze_of(idle, count, 0, end);
	uint32_t squeezed = weft_squeeze_count(squeeze, ret_ns);
	weft_squeeze_destroy(squeeze);
	return squeezed;
}

/* A trace of 100 ms with idle times of 1, 1, 40, 2 and 30 ms. */
static const struct weft_stripe some[] = {
	{5 * MS, 6 * MS},
	{8 * MS, 9 * MS},
	{10 * MS, 50 * MS},
	{55 * MS, 57 * MS},
	{60 * MS, 90 * MS},
};

static struct weft_view view_of(const struct weft_squeeze *squeeze, uint64_t start, uint64_t end)
{
	struct weft_view view;
	weft_view_init(&view, start, end, 4, 1040, 700);
	weft_view_set_squeeze(&view, squeeze);
	return view;
}

static void stripes_longer_than_five_medians_are_squeezed(void **state)
{
	(void)state;
	uint64_t ns;
	assert_int_equal(count_of(some, 5, 100 * MS, &ns), 2);
	assert_true(ns == 70 * MS);
	const struct weft_stripe limit[] = {{0, 2}, {10, 12}, {20, 30}, {40, 51}};
	assert_int_equal(count_of(limit, 4, 10000, &ns), 1); /* 10 is five medians, 11 is more */
	assert_true(ns == 11);
}

static void few_long_stripes_are_compared_with_the_work(void **state)
{
	(void)state;
	uint64_t ns;
	const struct weft_stripe one[] = {{10, 1000}};
	assert_int_equal(count_of(one, 1, 1020, &ns), 1);
	assert_int_equal(count_of(one, 1, 1300, &ns), 0); /* that is less than five times the work */
	const struct weft_stripe two[] = {{10, 1000}, {1010, 2000}};
	assert_int_equal(count_of(two, 2, 2010, &ns), 2);
}

static void nothing_is_squeezed_if_nothing_is_idle_or_everything(void **state)
{
	(void)state;
	uint64_t ns;
	const struct weft_stripe all[] = {{0, 1000}};
	assert_int_equal(count_of(NULL, 0, 1000, &ns), 0);
	assert_int_equal(count_of(all, 1, 1000, &ns), 0);
	assert_int_equal(count_of(all, 1, 0, &ns), 0);
	assert_true(ns == 0);
}

static void touching_and_outlying_idle_times_are_trimmed(void **state)
{
	(void)state;
	uint64_t ns;
	const struct weft_stripe parts[] = {{0, 40}, {40, 80}, {70, 90}, {100, 101}, {110, 500}};
	assert_int_equal(count_of(parts, 5, 120, &ns), 1); /* 90, 1 and 10 of 120 */
	assert_true(ns == 90);
}

static void a_stripe_is_24_px_wide(void **state)
{
	(void)state;
	struct weft_squeeze *squeeze = squeeze_of(some, 5, 0, 100 * MS);
	struct weft_view view = view_of(squeeze, 0, 100 * MS);
	close_to(weft_view_x(&view, 0), 20, 1e-9);
	close_to(weft_view_x(&view, 100 * MS), 1020, 1e-9);
	close_to(weft_view_x(&view, 50 * MS) - weft_view_x(&view, 10 * MS), 24, 1e-9);
	close_to(weft_view_x(&view, 90 * MS) - weft_view_x(&view, 60 * MS), 24, 1e-9);
	close_to(view.scale, (1000 - 48) / 30e6, 1e-12);
	close_to(weft_view_x(&view, 30 * MS) - weft_view_x(&view, 10 * MS), 12, 1e-9);
	for (unsigned i = 0; i < 20; i++) {
		weft_view_zoom(&view, 500, 1.5);
		close_to(weft_view_x(&view, 50 * MS) - weft_view_x(&view, 10 * MS), 24, 1e-3);
	}
	weft_squeeze_destroy(squeeze);
}

/* Short stripes keep the long ones no narrower: all are at most as wide as they are long. */
static void short_and_long_stripes_are_squeezed_together(void **state)
{
	(void)state;
	struct weft_stripe idle[24];
	for (uint32_t i = 0; i < 24; i++) {
		uint64_t length = i % 8 == 0 ? 3 * MS : i % 8 == 4 ? MS / 50 : MS / 1000;
		idle[i] = (struct weft_stripe){(i + 1) * 5 * MS, (i + 1) * 5 * MS + length};
	}
	struct weft_squeeze *squeeze = squeeze_of(idle, 24, 0, 126 * MS);
	struct weft_view view = view_of(squeeze, 0, 126 * MS);
	double length = (double)(idle[12].end - idle[12].start);
	uint64_t ns;
	assert_int_equal(weft_squeeze_count(squeeze, &ns), 6);
	weft_view_zoom(&view, 500, 2);
	close_to(weft_view_x(&view, idle[8].end) - weft_view_x(&view, idle[8].start), 24, 1e-6);
	double width = weft_view_x(&view, idle[12].end) - weft_view_x(&view, idle[12].start);
	assert_true(width <= length * view.scale && width >= length * view.scale / 2);
	weft_view_zoom(&view, weft_view_x(&view, idle[12].start), 1000);
	width = weft_view_x(&view, idle[12].end) - weft_view_x(&view, idle[12].start);
	close_to(width, 24, 1e-3);
	weft_squeeze_destroy(squeeze);
}

static struct weft_squeeze *random_squeeze(uint64_t start, uint64_t *ret_end)
{
	static struct weft_stripe idle[5000];
	uint32_t count = (uint32_t)pow(10, uniform(0.5, 3.69));
	uint64_t time = start;
	for (uint32_t i = 0; i < count; i++) {
		idle[i].start = time += (uint64_t)pow(10, uniform(0, 6));
		idle[i].end = time += (uint64_t)pow(10, uniform(0, i % 3 ? 4 : 10));
	}
	*ret_end = time + (uint64_t)pow(10, uniform(0, 6));
	struct weft_squeeze *squeeze = squeeze_of(idle, count, start, *ret_end);
	return squeeze;
}

static void move(struct weft_view *view)
{
	switch ((unsigned)uniform(0, 5)) {
	case 0:
		weft_view_zoom(view, uniform(0, view->width), pow(10, uniform(-2, 2)));
		break;
	case 1:
		weft_view_pan(view, uniform(-3000, 3000));
		break;
	case 2:
		weft_view_set_range(view,
			view->start + (uint64_t)uniform(0, (double)(view->end - view->start)),
			pow(10, uniform(0, 12)));
		break;
	case 3:
		weft_view_resize(view, uniform(100, 3000), uniform(50, 2000));
		break;
	default:
		weft_view_zoom(view, uniform(0, view->width), uniform(0, 1) < 0.5 ? NAN : INFINITY);
		break;
	}
}

static void check_axis(const struct weft_view *view)
{
	double last = -INFINITY;
	uint64_t before = 0;
	assert_true(weft_view_x(view, view->start) <= WEFT_VIEW_MARGIN + 1e-3);
	assert_true(weft_view_x(view, view->end) >= view->width - WEFT_VIEW_MARGIN - 1 ||
				view->width < 2 * WEFT_VIEW_MARGIN + 1);
	for (double x = 0; x < view->width; x += view->width / 97) {
		uint64_t time = weft_view_time(view, x), column = weft__view_first_time(view, x);
		double back = weft_view_x(view, time);
		assert_true(time >= before && back >= last);
		if (time > view->start && time < view->end)
			close_to(back, x, 1.01 * view->scale + 1e-3);
		close_to(weft__view_x_of(view, weft__view_ns(view, x)), x, 1e-2);
		assert_true(column == UINT64_MAX || weft_view_x(view, column) >= x);
		before = time;
		last = back;
	}
}

static void x_grows_with_time_and_has_an_inverse(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		uint64_t start = (uint64_t)uniform(0, 2e18), end;
		struct weft_squeeze *squeeze = random_squeeze(start, &end);
		struct weft_view view = view_of(squeeze, start, end);
		for (unsigned i = 0; i < 20; i++) {
			check_axis(&view);
			move(&view);
		}
		weft_squeeze_destroy(squeeze);
	}
}

static void thousands_of_stripes_leave_room_for_the_work(void **state)
{
	(void)state;
	static struct weft_stripe idle[10000];
	for (uint32_t i = 0; i < 10000; i++)
		idle[i] = (struct weft_stripe){i * MS + 1000, i * MS + (i % 2 ? 2000 : 1000000)};
	struct weft_squeeze *squeeze = squeeze_of(idle, 10000, 0, 10000 * MS);
	struct weft_view view = view_of(squeeze, 0, 10000 * MS);
	uint64_t ns;
	assert_int_equal(weft_squeeze_count(squeeze, &ns), 5000);
	double stripe = weft_view_x(&view, 1000000) - weft_view_x(&view, 1000);
	assert_true(stripe * 5000 <= 500.001 && stripe > 0);
	weft_view_zoom(&view, 300, 1e6);
	weft_view_zoom(&view, 300, 1e-2);
	struct weft_stripe seen;
	assert_true(weft__view_next_stripe(&view, weft_view_time(&view, 300), &seen));
	close_to(weft_view_x(&view, seen.end) - weft_view_x(&view, seen.start), 24, 1e-3);
	weft_squeeze_destroy(squeeze);
}

static void zoom_and_pan_hold_the_pointer(void **state)
{
	(void)state;
	struct weft_squeeze *squeeze = squeeze_of(some, 5, 0, 100 * MS);
	struct weft_view view = view_of(squeeze, 0, 100 * MS);
	weft_view_zoom(&view, 520, 4);
	for (unsigned i = 0; i < 200; i++) {
		double x = uniform(300, 700), held = weft__view_ns(&view, x), by = uniform(-20, 20);
		weft_view_zoom(&view, x, uniform(0.8, 1.3));
		close_to(weft__view_x_of(&view, held), x, 1e-3);
		held = weft__view_ns(&view, x);
		double left = weft__view_ns(&view, 0);
		weft_view_pan(&view, by);
		if (weft__view_ns(&view, 0) != left && view.left > 0 && view.scale < 1e-3)
			close_to(weft__view_x_of(&view, held), x + by, 1e-3);
		if (view.scale < 1e-4 || view.scale > 1e-2)
			weft_view_set_range(&view, 20 * MS, 35e6);
	}
	weft_squeeze_destroy(squeeze);
}

/* A range is shown between the margins, also one that begins or lies within a stripe. */
static void a_range_is_shown(void **state)
{
	(void)state;
	struct weft_squeeze *squeeze = squeeze_of(some, 5, 0, 100 * MS);
	struct weft_view view = view_of(squeeze, 0, 100 * MS);
	const struct weft_stripe ranges[] = {
		{0, 100 * MS}, {7 * MS, 53 * MS}, {30 * MS, 70 * MS}, {51 * MS, 54 * MS}};
	for (unsigned i = 0; i < 4; i++) {
		double duration = (double)(ranges[i].end - ranges[i].start);
		weft_view_set_range(&view, ranges[i].start, duration);
		close_to(weft_view_x(&view, ranges[i].start), 20, 1e-3);
		close_to(weft_view_x(&view, ranges[i].end), 1020, 1e-3);
		close_to(weft__view_duration(&view), duration, 1);
	}
	weft_view_set_range(&view, 20 * MS, 10e6); /* within a stripe: at the scale of a linear axis */
	close_to(view.scale, 1000 / 10e6, 1e-12);
	close_to(weft_view_x(&view, 20 * MS), 20, 1e-3);
	weft_squeeze_destroy(squeeze);
}

static void a_view_of_all_stays_one(void **state)
{
	(void)state;
	struct weft_squeeze *squeeze = squeeze_of(some, 5, 0, 100 * MS);
	struct weft_view view = view_of(squeeze, 0, 100 * MS);
	close_to(weft_view_x(&view, 100 * MS), 1020, 1e-6);
	weft_view_set_squeeze(&view, NULL);
	close_to(weft_view_x(&view, 100 * MS), 1020, 1e-6);
	weft_view_set_range(&view, 51 * MS, 3e6);
	uint64_t left = weft_view_time(&view, 0);
	weft_view_set_squeeze(&view, squeeze);
	assert_true(weft_view_time(&view, 0) == left);
	close_to(weft__view_duration(&view), 3e6, 1);
	weft_squeeze_destroy(squeeze);
}

/* While a trace grows, a squeeze of its earlier state stays valid. */
static void a_trace_that_grows(void **state)
{
	(void)state;
	struct weft_squeeze *squeeze = squeeze_of(some, 5, 0, 95 * MS);
	struct weft_view view = view_of(squeeze, 0, 200 * MS);
	close_to(weft_view_x(&view, 200 * MS), 1020, 1e-6);
	check_axis(&view);
	weft_squeeze_destroy(squeeze);
}

static void memory_may_be_lacking(void **state)
{
	(void)state;
	const struct weft_stripe trace = {0, 100 * MS};
	struct weft_squeeze *squeeze = NULL;
	for (unsigned i = 0; i < 3; i++) {
		until_failure = i;
		int error = weft_squeeze_create(some, 5, &trace, &squeeze);
		until_failure = -1;
		assert_int_equal(error, WEFT_ERROR_MEMORY);
		assert_null(squeeze);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stripes_longer_than_five_medians_are_squeezed),
		cmocka_unit_test(few_long_stripes_are_compared_with_the_work),
		cmocka_unit_test(nothing_is_squeezed_if_nothing_is_idle_or_everything),
		cmocka_unit_test(touching_and_outlying_idle_times_are_trimmed),
		cmocka_unit_test(a_stripe_is_24_px_wide),
		cmocka_unit_test(short_and_long_stripes_are_squeezed_together),
		cmocka_unit_test(x_grows_with_time_and_has_an_inverse),
		cmocka_unit_test(thousands_of_stripes_leave_room_for_the_work),
		cmocka_unit_test(zoom_and_pan_hold_the_pointer),
		cmocka_unit_test(a_range_is_shown),
		cmocka_unit_test(a_view_of_all_stays_one),
		cmocka_unit_test(a_trace_that_grows),
		cmocka_unit_test(memory_may_be_lacking),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
