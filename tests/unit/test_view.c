/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include <weft/view.h>

#include "view/time.h"

static uint64_t seed = 7;

static double uniform(double low, double high)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

static struct weft_view random_view(void)
{
	struct weft_view view;
	uint64_t start = (uint64_t)uniform(0, 2e18), length = (uint64_t)pow(10, uniform(0, 15));
	weft_view_init(&view, start, start + length, (uint32_t)pow(10, uniform(0, 6)),
		uniform(160, 4000), uniform(60, 3000));
	return view;
}

static void close_to(double got, double expected, double tolerance)
{
	if (!(fabs(got - expected) <= tolerance))
		fail_msg("%.9g is not within %g of %.9g", got, tolerance, expected);
}

static void check_inside_trace(const struct weft_view *view)
{
	double length = (double)(view->end - view->start);
	double margin = WEFT_VIEW_MARGIN / view->scale;
	assert_true(view->left >= -margin * 1.000001 - 1e-6);
	if (view->width > 2 * WEFT_VIEW_MARGIN + 1)
		assert_true(view->left + view->width / view->scale <=
					(length + margin) * 1.000001 + 2 + 40 / view->scale);
}

static void fit_shows_all_between_the_margins(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 5000, 5000 + 1360000, 4, 1400, 700);
	close_to(weft_view_x(&view, 5000), 20, 1e-9);
	close_to(weft_view_x(&view, 5000 + 1360000), 1380, 1e-6);
	weft_view_set_range(&view, 105000, 1000);
	close_to(weft_view_x(&view, 105000), 20, 1e-6);
	close_to(weft_view_x(&view, 106000), 1380, 1e-6);
	weft_view_fit(&view);
	close_to(weft_view_x(&view, 5000), 20, 1e-9);
}

static void no_move_leaves_the_trace(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct weft_view view = random_view();
		for (unsigned move = 0; move < 40; move++) {
			double x = uniform(0, view.width);
			switch ((unsigned)uniform(0, 5)) {
			case 0:
				weft_view_zoom(&view, x, pow(10, uniform(-3, 3)));
				break;
			case 1:
				weft_view_pan(&view, uniform(-5000, 5000));
				break;
			case 2:
				weft_view_set_range(&view,
					view.start + (uint64_t)uniform(0, (double)(view.end - view.start)),
					pow(10, uniform(-2, 16)));
				break;
			case 3:
				weft_view_resize(&view, uniform(100, 3000), uniform(50, 2000));
				break;
			default:
				weft_view_zoom(&view, x, uniform(0, 1) < 0.5 ? NAN : INFINITY);
				break;
			}
			check_inside_trace(&view);
			uint64_t time = weft_view_time(&view, uniform(-100, 5000));
			assert_true(time >= view.start && time <= view.end);
		}
	}
}

static void zoom_holds_the_time_at_the_pointer(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 0, 1000000000, 4, 1400, 700);
	weft_view_zoom(&view, 700, 50);
	for (unsigned i = 0; i < 20; i++) {
		double x = uniform(200, 1200);
		uint64_t before = weft_view_time(&view, x);
		weft_view_zoom(&view, x, 1.2);
		close_to(weft_view_x(&view, before), x, 1.5 * view.scale + 1e-6);
	}
}

/* Compares with a search nanosecond by nanosecond. */
static void the_first_time_of_a_column(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct weft_view view = random_view();
		weft_view_set_range(&view, view.start + (uint64_t)uniform(0, 1e6), pow(10, uniform(0, 4)));
		double x = floor(uniform(0, view.width));
		uint64_t time = weft_view_time(&view, x), found = weft__view_first_time(&view, x);
		for (unsigned i = 0; i < 100 && time < view.end && weft_view_x(&view, time) < x; i++)
			time++;
		if (weft_view_x(&view, time) < x)
			time = UINT64_MAX;
		assert_true(found == time);
	}
}

/* Doubles cannot distinguish nanoseconds here, and stepping one by one would take years. */
static void the_longest_trace_is_searched_at_once(void **state)
{
	(void)state;
	struct weft_view view;
	const uint64_t ends[] = {UINT64_C(1) << 58, UINT64_MAX};
	for (unsigned i = 0; i < 2; i++) {
		weft_view_init(&view, 0, ends[i], 4, 1400, 700);
		uint64_t last = 0;
		for (unsigned x = 20; x <= 1380; x++) {
			uint64_t time = weft__view_first_time(&view, x);
			assert_true(time >= last && weft_view_x(&view, time) >= x);
			assert_true(weft_view_time(&view, x) <= view.end);
			last = time;
		}
		assert_true(weft__view_first_time(&view, 1400) == UINT64_MAX);
		assert_true(weft_view_time(&view, 1e300) == view.end);
		weft_view_zoom(&view, 1380, 1e9);
		weft_view_zoom(&view, 1380, 1e9);
		/* Two times that are different doubles are at most a pixel from each other. */
		assert_true(nextafter(view.left, INFINITY) - view.left <= 1.01 / view.scale);
	}
}

static void few_rows_are_evenly_spaced(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 0, 1000, 15, 1400, 682);
	for (unsigned row = 0; row < 15; row++)
		close_to(weft_view_y(&view, row), 34 + row * 614.0 / 14, 1e-9);
	weft_view_init(&view, 0, 1000, 3, 1400, 682);
	close_to(weft_view_row_spacing(&view, 1), 56, 1e-9);
	weft_view_init(&view, 0, 1000, 0, 1400, 682);
	close_to(weft_view_y(&view, 0), 34, 1e-9);
}

/* The lens, as docs/model.md says it: the last rows at the margins, 28 px in the middle. */
static void many_rows_are_seen_through_a_lens(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 0, 1000, 1658, 1400, 800);
	weft_view_set_focus(&view, 800);
	close_to(weft_view_y(&view, 0), 34, 0.01);
	close_to(weft_view_y(&view, 1657), 766, 0.01);
	close_to(weft_view_y(&view, 800), 400, 0.01);
	close_to(weft_view_y(&view, 801) - weft_view_y(&view, 800), 28, 1e-9);
	close_to(weft_view_y(&view, 807) - weft_view_y(&view, 800), 7 * 28, 1e-9);
	close_to(weft_view_row_spacing(&view, 800 + 7.8), 28, 1e-9);
	assert_true(weft_view_row_spacing(&view, 820) < 28);
	assert_true(weft_view_row_spacing(&view, 1600) > 0);
}

static void rows_and_heights_are_inverse(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct weft_view view = random_view();
		double last = view.row_count > 1 ? view.row_count - 1.0 : 0;
		weft_view_set_focus(&view, uniform(0, last));
		double before = -INFINITY;
		for (unsigned i = 0; i <= 50; i++) {
			double row = last * i / 50, y = weft_view_y(&view, row);
			assert_true(y >= before - 1e-9);
			assert_true(y >= -0.5 && y <= view.height + 0.5);
			close_to(weft_view_row(&view, y), row, 1e-6 * (last + 1));
			before = y;
		}
	}
}

/* Rows rise as the focus goes down, so that dragging can be solved by bisection. */
/* Below the size at which all rows fit, the lens cannot be moved beyond the first or last row. */
static void the_lens_stays_on_the_rows(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 0, 1000, 1000, 1400, 682);
	const double places[] = {-50, 0, 3, 500, 997, 999, 5000};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		weft_view_set_focus(&view, places[i]);
		assert_true(weft_view_y(&view, 0) >= 0 && weft_view_y(&view, 999) <= 682);
		for (unsigned row = 1; row < 1000; row++) {
			assert_true(weft_view_y(&view, row) > weft_view_y(&view, row - 1));
			assert_true(weft_view_row_spacing(&view, row) > 0);
		}
		close_to(weft_view_row(&view, -1e9), 0, 0);
		close_to(weft_view_row(&view, 1e9), 999, 0);
	}
}

static void dragging_keeps_the_row_under_the_pointer(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct weft_view view = random_view();
		double last = view.row_count > 1 ? view.row_count - 1.0 : 0, row = uniform(0, last);
		double before = INFINITY;
		for (unsigned i = 0; i <= 40; i++) {
			weft_view_set_focus(&view, last * i / 40);
			double y = weft_view_y(&view, row);
			if (y > before + 1e-6)
				fail_msg("row %g of %u: y %.9g after %.9g at focus %g, height %g", row,
					view.row_count, y, before, view.focus, view.height);
			before = y;
		}
		weft_view_set_focus(&view, 0);
		double highest = weft_view_y(&view, row);
		weft_view_set_focus(&view, last);
		double y = uniform(weft_view_y(&view, row), highest);
		weft_view_drag_row(&view, row, y);
		close_to(weft_view_y(&view, row), y, 0.05);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit_shows_all_between_the_margins),
		cmocka_unit_test(no_move_leaves_the_trace),
		cmocka_unit_test(zoom_holds_the_time_at_the_pointer),
		cmocka_unit_test(the_first_time_of_a_column),
		cmocka_unit_test(the_longest_trace_is_searched_at_once),
		cmocka_unit_test(few_rows_are_evenly_spaced),
		cmocka_unit_test(many_rows_are_seen_through_a_lens),
		cmocka_unit_test(rows_and_heights_are_inverse),
		cmocka_unit_test(the_lens_stays_on_the_rows),
		cmocka_unit_test(dragging_keeps_the_row_under_the_pointer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
