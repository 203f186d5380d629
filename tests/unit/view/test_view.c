/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
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

/* Rows of random heights, some of them nearly 0. */
static double *random_edges(uint32_t rows)
{
	double *edges = malloc((rows + (size_t)1) * sizeof(*edges));
	assert_non_null(edges);
	edges[0] = 0;
	for (uint32_t row = 0; row < rows; row++)
		edges[row + 1] = edges[row] + (uniform(0, 1) < 0.5 ? 0.01 : uniform(0.1, 1));
	for (uint32_t row = 0; row <= rows; row++)
		edges[row] -= 0.05;
	return edges;
}

/* The rows stay in order, each within the heights of its edges; the way back finds the row. */
static void uneven_rows_have_their_heights(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct weft_view view = random_view();
		double *edges = random_edges(view.row_count), last = -INFINITY;
		weft_view_set_edges(&view, edges);
		weft_view_set_focus(&view, uniform(0, view.row_count));
		for (int k = 0; k < 50; k++) {
			double row = floor(uniform(0, view.row_count - 1));
			double y = weft_view_y(&view, row), spacing = weft_view_row_spacing(&view, row);
			assert_true(spacing > 0 && spacing <= WEFT_VIEW_ROW_HEIGHT_MAX + 1e-9);
			if (spacing > 1e-3 && y > 1 && y < view.height)
				close_to(weft_view_row(&view, y), row, 1e-3);
		}
		for (uint32_t row = 0; row < view.row_count && row < 2000; row++) {
			assert_true(weft_view_y(&view, row) >= last);
			last = weft_view_y(&view, row);
		}
		assert_true(weft_view_y(&view, view.row_count - 1.0) <= view.height);
		free(edges);
	}
}

static void uneven_rows_that_fit_are_not_compressed(void **state)
{
	(void)state;
	struct weft_view view;
	double edges[1001] = {-0.005}, even[11];
	for (uint32_t row = 0; row < 1000; row++)
		edges[row + 1] = edges[row] + (row % 100 == 50 ? 1 : 0.001);
	weft_view_init(&view, 0, 1000, 1000, 800, 600);
	weft_view_set_focus(&view, 300);
	weft_view_set_edges(&view, edges);
	assert_true(view.rows.are_uneven && isinf(view.rows.above) && isinf(view.rows.below));
	assert_true(weft_view_row_spacing(&view, 150) > 28);
	assert_true(weft_view_row_spacing(&view, 151) < 0.1);
	weft_view_drag_row(&view, 50, 500); /* there is nothing to drag */
	assert_true(view.focus == 300);
	weft_view_pan_rows(&view, 1); /* by full rows, not by numbers */
	assert_true(view.focus > 340 && view.focus < 400);
	weft_view_set_plain(&view, true);
	assert_true(!view.rows.are_uneven && weft_view_row_spacing(&view, 151) == 28);
	view.row_count = 999; /* the heights are those of another layout */
	weft_view_set_plain(&view, false);
	assert_false(view.rows.are_uneven);
	for (uint32_t row = 0; row <= 10; row++)
		even[row] = row * 0.5;
	weft_view_init(&view, 0, 1000, 10, 800, 600);
	weft_view_set_edges(&view, even);
	assert_false(view.rows.are_uneven); /* all fit with equal heights */
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

/* Rows rise as the focus goes down, so that dragging can be solved by bisection. */
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
		weft_view_drag_row(&view, row, 1e9);
		close_to(view.focus, 0, 1e-6);
		weft_view_drag_row(&view, row, -1e9);
		close_to(view.focus, last, 1e-6);
	}
}

/* The first rows are at the upper margin, and rows in full size reach further below the focus. */
static void at_an_end_the_lens_takes_the_room_of_the_other_side(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 0, 1000, 1000, 1400, 682);
	weft_view_set_focus(&view, 2);
	close_to(weft_view_y(&view, 0), 34, 1e-9);
	close_to(weft_view_y(&view, 2), 34 + 2 * 28, 1e-9);
	close_to(
		weft_view_row_spacing(&view, 2 + 15.5), 28, 1e-9); /* of 614 px, the last fifth is dense */
	assert_true(weft_view_row_spacing(&view, 2 + 15.6) < 28);
	close_to(weft_view_y(&view, 999), 648, 0.01);
	weft_view_set_focus(&view, 997);
	close_to(weft_view_y(&view, 999), 648, 1e-9);
	close_to(weft_view_y(&view, 997), 648 - 2 * 28, 1e-9);
	close_to(weft_view_row_spacing(&view, 997 - 15.5), 28, 1e-9);
	assert_true(weft_view_row_spacing(&view, 997 - 15.6) < 28);
	close_to(weft_view_y(&view, 0), 34, 0.01);
	weft_view_set_focus(&view, 500);
	close_to(weft_view_y(&view, 500), 341, 1e-9);
	for (int side = -1; side <= 1; side += 2) {
		close_to(weft_view_row_spacing(&view, 500 + side * 6.57), 28, 1e-9);
		assert_true(weft_view_row_spacing(&view, 500 + side * 6.59) < 28);
	}
}

/* The spacing at a row is how fast y grows there. */
static void the_spacing_is_the_slope_of_y(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		struct weft_view view = random_view();
		double last = view.row_count > 1 ? view.row_count - 1.0 : 0;
		weft_view_set_focus(&view, uniform(0, last));
		for (unsigned i = 0; i <= 20 && last > 1; i++) {
			double row = uniform(0.01, last - 0.01);
			double slope = (weft_view_y(&view, row + 1e-3) - weft_view_y(&view, row - 1e-3)) / 2e-3;
			close_to(weft_view_row_spacing(&view, row), slope, 0.02 * slope + 1e-6);
		}
	}
}

static void plain_rows_stop_at_the_margins(void **state)
{
	(void)state;
	struct weft_view view;
	double first, last;
	weft_view_init(&view, 0, 1000, 1000, 1400, 682);
	weft_view_set_plain(&view, true);
	close_to(weft_view_y(&view, 0), 34, 1e-9);
	close_to(view.focus, 614.0 / 2 / 28, 1e-9);
	weft_view_set_focus(&view, 5000);
	close_to(weft_view_y(&view, 999), 648, 1e-9);
	weft_view_set_focus(&view, 500);
	close_to(weft_view_y(&view, 500), 341, 1e-9);
	close_to(weft_view_row_spacing(&view, 3), 28, 1e-9);
	weft_view_rows_seen(&view, &first, &last);
	close_to(first, 500 - 341.0 / 28, 1e-9);
	close_to(last, 500 + 341.0 / 28, 1e-9);
	weft_view_set_plain(&view, false);
	assert_true(weft_view_row_spacing(&view, 3) < 28);
}

/* Ten rows fit at least, in up to half of the usual size; and the margin takes 15 % at most. */
static void a_low_view_has_smaller_rows(void **state)
{
	static const struct {
		double height, margin, size;
	} cases[] = {{400, 34, 28}, {300, 34, 23.2}, {200, 34, 14}, {154, 33.88, 14}, {100, 22, 14}};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_view view;
		weft_view_init(&view, 0, 1000, 1000, 1400, cases[i].height);
		close_to(weft_view_y(&view, 0), cases[i].margin, 1e-9);
		close_to(weft_view_row_spacing(&view, 0), cases[i].size, 1e-9);
	}
}

/* Rows that just fit have their full size; one more, and the lens compresses some. */
static void rows_are_compressed_if_they_do_not_fit(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 0, 1000, 23, 1400, 68 + 22 * 28);
	close_to(weft_view_row_spacing(&view, 22), 28, 1e-9);
	close_to(weft_view_y(&view, 22), 34 + 22 * 28, 1e-9);
	weft_view_init(&view, 0, 1000, 24, 1400, 68 + 22 * 28);
	close_to(weft_view_row_spacing(&view, 0), 28, 1e-9);
	assert_true(weft_view_row_spacing(&view, 23) < 28);
	close_to(weft_view_y(&view, 23), 34 + 22 * 28, 0.01);
}

static void the_trace_stops_at_the_margins(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 1000, 1001000, 4, 1400, 700);
	weft_view_zoom(&view, 700, 50);
	weft_view_pan(&view, 1e9);
	close_to(weft_view_x(&view, 1000), 20, 1e-6);
	close_to(weft_view_x(&view, 900), 20 - 100 * view.scale, 1e-6); /* before the trace */
	assert_true(weft_view_time(&view, 0) == 1000);
	weft_view_pan(&view, -1e9);
	close_to(weft_view_x(&view, 1001000), 1380, 1e-6);
	assert_true(weft_view_time(&view, 1400) == 1001000);
	weft_view_set_range(&view, 5, 100); /* from before its start */
	close_to(weft_view_x(&view, 1000), 20, 1e-6);
}

/* 40 px are a nanosecond, or as much as a double can tell apart in a long trace. */
static void zooming_in_ends(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 0, 1000000, 4, 1400, 700);
	weft_view_zoom(&view, 700, 1e9);
	close_to(view.scale, 40, 0);
	const uint64_t year = UINT64_C(31536000) * 1000000000;
	weft_view_init(&view, 0, year, 4, 1400, 700);
	weft_view_zoom(&view, 700, 1e9);
	weft_view_zoom(&view, 700, 1e9);
	close_to(view.scale, 9007199254740992.0 / (double)year, 1e-9);
	weft_view_zoom(&view, 700, 0.5);
	close_to(view.scale, 9007199254740992.0 / (double)year / 2, 1e-9);
}

static void odd_sizes_are_made_valid(void **state)
{
	(void)state;
	struct weft_view view;
	weft_view_init(&view, 500, 400, 4, 1400, 700); /* ends before it starts */
	assert_true(view.end == 500);
	close_to(weft_view_x(&view, 500), 20, 1e-9);
	weft_view_init(&view, 0, 1000, 4, 0, NAN);
	close_to(view.width, 1, 0);
	close_to(view.height, 1, 0);
	assert_true(view.scale > 0 && isfinite(view.left));
	weft_view_init(&view, 0, 1000, 4, 1e9, 2e6);
	close_to(view.width, 1e6, 0);
	close_to(view.height, 1e6, 0);
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
		cmocka_unit_test(uneven_rows_have_their_heights),
		cmocka_unit_test(uneven_rows_that_fit_are_not_compressed),
		cmocka_unit_test(the_lens_stays_on_the_rows),
		cmocka_unit_test(dragging_keeps_the_row_under_the_pointer),
		cmocka_unit_test(at_an_end_the_lens_takes_the_room_of_the_other_side),
		cmocka_unit_test(the_spacing_is_the_slope_of_y),
		cmocka_unit_test(plain_rows_stop_at_the_margins),
		cmocka_unit_test(a_low_view_has_smaller_rows),
		cmocka_unit_test(rows_are_compressed_if_they_do_not_fit),
		cmocka_unit_test(the_trace_stops_at_the_margins),
		cmocka_unit_test(zooming_in_ends),
		cmocka_unit_test(odd_sizes_are_made_valid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
