/* SPDX-License-Identifier: ISC
 *
 * Points of the picture: the tasks and handles that a pointer meets, and the times to which a range
 * snaps.
 */
#include "viewer_sample.h"

#include "render/tasks/handles.h"
#include "trace_script.h"

static struct script show(const char *trace)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(trace, 0), false), 0);
	script_run(&s, "command fold all off; command simplify off");
	return s;
}

static uint32_t task_of(const struct script *s, uint64_t id)
{
	uint32_t task = weft_model_find_task(s->viewer->model, 0, id);
	assert_int_not_equal(task, WEFT_NONE);
	return task;
}

static double y_of(const struct script *s, uint64_t id)
{
	const struct weft_viewer *v = s->viewer;
	return v->frame.picture.y + weft_view_y(&v->view, v->layout->row[task_of(s, id)]);
}

static double x_of(const struct script *s, uint64_t us)
{
	return weft__canvas_x(s->viewer, s->viewer->view.start + us * 1000);
}

/* ---- Tasks and handles ---- */

/* A task is met up to 16 px beside its end, and a handle from the middle on up to 9 px, or 20 px
 * for a finger. */
static void things_are_met_around_them(void **state)
{
	(void)state;
	struct script s = show("create 0 1 task; +40; resolve 0 1; +60; run 0");
	double x = x_of(&s, 40), y = y_of(&s, 1);
	struct weft__hit hit;
	weft__viewer_hit(s.viewer, x + 13, y, &hit);
	assert_true(hit.count > 0);
	assert_int_equal(hit.tasks[0], task_of(&s, 1));
	weft__viewer_hit(s.viewer, x + 19, y, &hit);
	for (unsigned i = 0; i < hit.count; i++)
		assert_int_not_equal(hit.tasks[i], task_of(&s, 1));
	assert_true(hit.handle == WEFT_NONE && hit.fold == WEFT_NONE && !hit.is_cell);
	weft__viewer_hit(s.viewer, x, s.viewer->frame.picture.y - 1, &hit);
	assert_int_equal(hit.count, 0);
	script_end(&s);
}

static void handles_are_larger_for_fingers(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, true);
	assert_int_equal(
		weft_viewer_show(s.viewer,
			trace_script_model("[60: +1; create 0 1+i task; label 1+i x; ~700; resolve 0 1+i]", 0),
			false),
		0);
	for (int is_touch = 0; is_touch < 2; is_touch++) {
		const struct weft_viewer *v = s.viewer;
		double x, y, reach = is_touch ? 20 : 9;
		struct weft__hit hit;
		s.viewer->pointer.is_touch = is_touch;
		assert_true(weft__handle_point(v->layout, &v->frame.picture, &v->view, 0, &x, &y));
		weft__viewer_hit(v, x, y + reach - 0.5, &hit);
		assert_int_equal(hit.handle, 0);
		assert_int_equal(v->layout->fold_of[hit.handle_task], 0);
		weft__viewer_hit(v, x, y + reach + 0.5, &hit);
		assert_int_equal(hit.handle, WEFT_NONE);
	}
	script_end(&s);
}

/* At most eight tasks, the nearest first; all of them can be selected one after the other. */
static void the_nearest_tasks_come_first(void **state)
{
	(void)state;
	struct script s = show("[40: create 0 1+i task]; +1000; [40: resolve 0 1+i]; +1000; run 0");
	script_run(&s, "size 1400 160");
	const struct weft_viewer *v = s.viewer;
	unsigned most = 0;
	for (double y = 50; y < 160; y += 3) {
		struct weft__hit hit;
		double before = 0;
		weft__viewer_hit(v, 500, y, &hit);
		most = hit.count > most ? hit.count : most;
		assert_true(hit.count <= WEFT__HITS_MAX);
		for (unsigned i = 0; i < hit.count; i++) {
			double away =
				fabs(v->frame.picture.y + weft_view_y(&v->view, v->layout->row[hit.tasks[i]]) - y);
			assert_true(away >= before - 1.5 && away <= 16 + 1.5);
			before = away;
		}
	}
	assert_true(most > 2);
	script_end(&s);
}

static void clicks_at_one_point_select_one_after_the_other(void **state)
{
	(void)state;
	struct script s = show("[30: create 0 1+i task]; +1000; [30: resolve 0 1+i]");
	script_run(&s, "size 1400 160"); /* rows of 14 px: three are within 16 px */
	struct weft__hit hit;
	double y = s.viewer->frame.picture.y + weft_view_y(&s.viewer->view, 2);
	weft__viewer_hit(s.viewer, 500, y, &hit);
	assert_true(hit.count > 1);
	for (unsigned i = 0; i <= hit.count; i++) {
		script_click(&s, 500, y, 0);
		assert_int_equal(s.viewer->selection.task, hit.tasks[i % hit.count]);
		script_run(&s, "command close");
		s.now_ms += 1000;
	}
	script_end(&s);
}

/* ---- Ranges ---- */

#define EVENTS                                                                                         \
	"create 0 1 task; create 0 2 task; +200; run 1; +100; signal 2 1; +100; run 2; +150; run 1; +50; " \
	"run 0; +100; resolve 0 1; +300; run 0"

/* A task's start and end, its runs' starts and ends, and its edges. */
static void ranges_snap_to_what_happens(void **state)
{
	static const uint64_t times_us[] = {200, 300, 400, 550, 600, 700};
	(void)state;
	struct script s = show(EVENTS);
	double y = y_of(&s, 1);
	for (unsigned i = 0; i < sizeof(times_us) / sizeof(times_us[0]); i++)
		for (int px = -7; px <= 7; px++) {
			double x = x_of(&s, times_us[i]) + px;
			uint64_t time = weft__viewer_snap(s.viewer, x, y, false);
			bool is_near = px > -6 && px < 6;
			assert_int_equal(s.viewer->snap.is_set, is_near);
			if (is_near)
				assert_int_equal(time - s.viewer->view.start, times_us[i] * 1000);
			else
				close_to(weft__canvas_x(s.viewer, time), x, 0.1);
		}
	script_end(&s);
}

/* Alt means no snapping; and a pointer that is far from a row's line meets none of its tasks. */
static void ranges_snap_only_near_a_row(void **state)
{
	(void)state;
	struct script s = show(EVENTS);
	double x = x_of(&s, 300) + 3, y = y_of(&s, 1);
	weft__viewer_snap(s.viewer, x, y, true);
	assert_false(s.viewer->snap.is_set);
	weft__viewer_snap(s.viewer, x, y - 15.9, false);
	assert_true(s.viewer->snap.is_set);
	weft__viewer_snap(s.viewer, x, y - 16.1, false);
	assert_false(s.viewer->snap.is_set);
	weft__viewer_snap(s.viewer, x, y + 5000, false);
	assert_false(s.viewer->snap.is_set);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(things_are_met_around_them),
		cmocka_unit_test(handles_are_larger_for_fingers),
		cmocka_unit_test(the_nearest_tasks_come_first),
		cmocka_unit_test(clicks_at_one_point_select_one_after_the_other),
		cmocka_unit_test(ranges_snap_to_what_happens),
		cmocka_unit_test(ranges_snap_only_near_a_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
