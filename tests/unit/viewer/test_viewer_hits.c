/* SPDX-License-Identifier: ISC
 *
 * Points of the picture: the tasks, handles and arrows that a pointer meets, and the times to which
 * a range snaps.
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
	return weft__viewer_canvas_x(s->viewer, s->viewer->view.start + us * 1000);
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
		assert_true(weft__render_handle_point(v->layout, &v->frame.picture, &v->view, 0, &x, &y));
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
				close_to(weft__viewer_canvas_x(s.viewer, time), x, 0.1);
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

/* ---- Arrows ---- */

/* A signal at 300 us from the first task to the second one, whose rows are far apart. */
static struct script show_signal(double *ret_x, double *ret_from, double *ret_to)
{
	struct script s = show(EVENTS);
	*ret_x = x_of(&s, 300);
	*ret_from = y_of(&s, 1);
	*ret_to = y_of(&s, 2);
	assert_true(fabs(*ret_from - *ret_to) > 24);
	return s;
}

static void point_at(struct script *s, double x, double y)
{
	script_point(s, WEFT_VIEWER_MOVE, x, y, 0, 0);
	script_wait(s, 200);
}

static void arrows_are_met_beside_their_line(void **state)
{
	double x, from, to;
	(void)state;
	struct script s = show_signal(&x, &from, &to);
	const struct weft_edges *edges = &s.viewer->model->edges;
	double middle = (from + to) / 2;
	for (int px = -5; px <= 5; px++) {
		struct weft__hit hit;
		weft__viewer_hit(s.viewer, x + px, middle, &hit);
		if (abs(px) <= 2) {
			assert_int_not_equal(hit.edge, WEFT_NONE);
			assert_int_equal(edges->type[hit.edge], WEFT_EDGE_SIGNAL);
		} else if (abs(px) >= 4) {
			assert_int_equal(hit.edge, WEFT_NONE);
		}
	}
	script_end(&s);
}

/* At its ends an arrow touches the lines of its tasks: there, the pointer meets the tasks. */
static void the_lines_of_tasks_are_above_arrows(void **state)
{
	double x, from, to;
	(void)state;
	struct script s = show_signal(&x, &from, &to);
	const double lines[] = {from, to};
	for (unsigned i = 0; i < 2; i++) {
		struct weft__hit hit;
		weft__viewer_hit(s.viewer, x, lines[i], &hit);
		assert_int_equal(hit.edge, WEFT_NONE);
		assert_int_equal(hit.tasks[0], task_of(&s, i == 0 ? 1 : 2));
	}
	script_end(&s);
}

/* The status says what happens, and the arrow alone stands out. */
static void an_arrow_under_the_pointer_is_described(void **state)
{
	double x, from, to;
	(void)state;
	struct script s = show_signal(&x, &from, &to);
	point_at(&s, x + 100, from);
	point_at(&s, x, from + (to - from) * 0.4);
	const char *status = weft_viewer_status(s.viewer);
	if (!strstr(status, "task 1 signals task 2 at 300 us") || !strstr(status, "go to task 2"))
		fail_msg("%s", status);
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_POINTER);
	struct weft_highlight highlight;
	weft__viewer_gather(s.viewer, &highlight);
	assert_int_equal(highlight.edge_count, 1);
	assert_true(highlight.strength > 0.9);
	point_at(&s, x + 40, (from + to) / 2);
	assert_null(strstr(weft_viewer_status(s.viewer), "signals"));
	script_end(&s);
}

/* Near its tail a click leads to its head, and the other way round; a click on an arrow whose far
 * end is selected leads to the near one. */
static void a_click_on_an_arrow_goes_to_its_other_end(void **state)
{
	static const struct {
		double share; /* of the way from tail to head */
		uint64_t task;
	} clicks[] = {{0.35, 2}, {0.65, 1}, {0.35, 2}, {0.35, 1}, {0.35, 2}};
	(void)state;
	double x, from, to;
	struct script s = show_signal(&x, &from, &to);
	script_run(&s, "command panel story");
	for (unsigned i = 0; i < sizeof(clicks) / sizeof(clicks[0]); i++) {
		x = x_of(&s, 300);
		from = y_of(&s, 1);
		to = y_of(&s, 2);
		script_click(&s, x, from + (to - from) * clicks[i].share, 0);
		script_wait(&s, 1000);
		assert_int_equal(s.viewer->selection.task, task_of(&s, clicks[i].task));
		assert_int_equal(s.viewer->selection.at - s.viewer->view.start, 300000);
		assert_int_equal(s.viewer->model->edges.type[s.viewer->selection.edge], WEFT_EDGE_SIGNAL);
	}
	script_end(&s);
}

/* The head of a read is the reader, as the value goes there. The tail is at the end of the task
 * that is read, which is long before: so the arrow is a stub, all of which leads there. */
static void a_read_leads_to_the_end_of_the_task_that_is_read(void **state)
{
	(void)state;
	struct script s =
		show("create 0 1 task; create 0 2 task; +100; resolve 0 1; +900; run 2; read 2 1; "
			 "+1000; run 0");
	double x = x_of(&s, 1000), y = y_of(&s, 2), up = y_of(&s, 1) < y ? -1 : 1;
	assert_true(x - x_of(&s, 100) > 200);
	script_click(&s, x - 6, y + up * 14, 0);
	script_wait(&s, 1000);
	assert_int_equal(s.viewer->selection.task, task_of(&s, 1));
	assert_int_equal(s.viewer->selection.at - s.viewer->view.start, 100000);
	script_end(&s);
}

static void links_of_creation_are_met(void **state)
{
	(void)state;
	struct script s = show("create 0 1 task; +400; create 1 2 task; +600; resolve 1 2; run 0");
	struct weft__hit hit;
	weft__viewer_hit(s.viewer, x_of(&s, 400), (y_of(&s, 1) + y_of(&s, 2)) / 2, &hit);
	assert_int_not_equal(hit.edge, WEFT_NONE);
	assert_int_equal(s.viewer->model->edges.type[hit.edge], WEFT_EDGE_CREATE);
	script_end(&s);
}

/* Nothing of another trace is under the pointer. */
static void another_trace_has_other_arrows(void **state)
{
	double x, from, to;
	(void)state;
	struct script s = show_signal(&x, &from, &to);
	point_at(&s, x, (from + to) / 2);
	assert_int_not_equal(s.viewer->hover.edge, WEFT_NONE);
	struct weft_model *model = trace_script_model("create 0 1 task; +10; resolve 0 1", 0);
	assert_int_equal(weft_viewer_show(s.viewer, model, false), 0);
	assert_int_equal(s.viewer->hover.edge, WEFT_NONE);
	script_draw(&s);
	script_end(&s);
}

/* ---- Bands ---- */

/* Idle from 300 to 800 us, while task 1 waits in the only row. */
#define IDLE "create 0 1 task; +100; run 1; +200; idle; +500; run 1; +200; resolve 1 1; run 0"

/* A band is met where nothing else is; a click chooses its time. */
static void bands_are_met_below_everything_else(void **state)
{
	(void)state;
	struct script s = show(IDLE);
	double x = x_of(&s, 500), y = y_of(&s, 1);
	script_wait(&s, 9000); /* until no message is shown */
	point_at(&s, x, y + 250);
	const char *status = weft_viewer_status(s.viewer);
	if (!strstr(status, "Idle from 300 us for 500 us. Click: choose this range."))
		fail_msg("%s", status);
	point_at(&s, x, y);
	assert_false(s.viewer->hover.has_band);
	point_at(&s, x_of(&s, 200), y + 250);
	assert_false(s.viewer->hover.has_band);
	script_click(&s, x, y + 250, 0);
	assert_true(s.viewer->range.is_set);
	assert_int_equal(s.viewer->range.from - s.viewer->view.start, 300000);
	assert_int_equal(s.viewer->range.to - s.viewer->view.start, 800000);
	script_end(&s);
}

/* Where a task is selected, a click beside tasks first ends the selection. */
static void a_click_on_a_band_first_ends_the_selection(void **state)
{
	(void)state;
	struct script s = show(IDLE);
	double y = y_of(&s, 1);
	script_click(&s, x_of(&s, 200), y, 0);
	assert_int_equal(s.viewer->selection.task, task_of(&s, 1));
	s.now_ms += 1000;
	script_click(&s, x_of(&s, 500), y + 250, 0);
	assert_int_equal(s.viewer->selection.task, WEFT_NONE);
	assert_false(s.viewer->range.is_set);
	s.now_ms += 1000;
	script_click(&s, x_of(&s, 500), y + 250, 0);
	assert_true(s.viewer->range.is_set);
	script_end(&s);
}

/* A band's name is met although tasks are near: it lies above them. */
static void names_of_bands_are_above_tasks(void **state)
{
	(void)state;
	struct script s = show("[30: create 0 1+i task; run 1+i]; +800; gc 400000; +800; run 0");
	struct weft__hit hit;
	bool is_met = false;
	script_draw(&s);
	const struct weft_box *box = &s.viewer->frame.picture;
	for (double y = box->y; y < box->y + box->height && !is_met; y += 4)
		for (double x = 20; x < 1400 && !is_met; x += 6) {
			weft__viewer_hit(s.viewer, x, y, &hit);
			is_met = hit.is_band_name;
		}
	assert_true(is_met && hit.has_band && hit.count == 0);
	assert_int_equal(hit.band.kind, WEFT_BAND_GC);
	script_end(&s);
}

/* A promise without a row comes after the task in whose wait it is: with the second click. From
 * there, arrows step as from that task. */
static void a_promise_in_a_wait_is_met_by_the_second_click(void **state)
{
	(void)state;
	struct script s =
		show("create 0 1 task; create 0 2 task; run 1; +100; create 1 5 promise;"
			 "try 1 5; +1; run 0; +500; resolve 0 5; +5; run 1; read 1 5; +100; run 0");
	script_run(&s, "command simplify on");
	double x = x_of(&s, 400), y = y_of(&s, 1);
	assert_int_equal(y_of(&s, 5), y);
	script_click(&s, x, y, 0);
	assert_int_equal(s.viewer->selection.task, task_of(&s, 1));
	s.now_ms += 1000;
	script_click(&s, x, y, 0);
	assert_int_equal(s.viewer->selection.task, task_of(&s, 5));
	script_run(&s, "command task up");
	assert_int_not_equal(s.viewer->selection.task, task_of(&s, 5));
	script_end(&s);
}

/* ---- Counters over the tasks ---- */

/* A curve is met within 3 px, also where it is vertical; the status says its value there, and a
 * click leads to the task that made the last change. */
static void curves_over_the_tasks_are_met(void **state)
{
	(void)state;
	struct script s =
		show("create 0 1 task; run 1; +100; count queue 2; +400; count queue 10; +500; run 0");
	script_run(&s, "command counters on; command overlay; wait 9000");
	script_draw(&s);
	const struct weft_box *box = &s.viewer->frame.picture;
	double high = box->y + 10, low = box->y + box->height - 10, row = y_of(&s, 1);
	struct weft__hit hit;
	weft__viewer_hit(s.viewer, x_of(&s, 700), high + 2, &hit);
	assert_int_equal(hit.counter, 0);
	weft__viewer_hit(s.viewer, x_of(&s, 700), high + 6, &hit);
	assert_int_equal(hit.counter, WEFT_NONE);
	weft__viewer_hit(s.viewer, x_of(&s, 500), row + 40, &hit);
	assert_int_equal(hit.counter, 0); /* the step from 2 to 10 */
	weft__viewer_hit(s.viewer, x_of(&s, 500), row, &hit);
	assert_int_equal(hit.counter, WEFT_NONE);
	assert_int_equal(hit.tasks[0], task_of(&s, 1));
	weft__viewer_hit(s.viewer, x_of(&s, 700), low, &hit);
	assert_int_equal(hit.counter, WEFT_NONE);
	point_at(&s, x_of(&s, 700), high);
	if (!strstr(weft_viewer_status(s.viewer), "queue is 10 at 700 us"))
		fail_msg("%s", weft_viewer_status(s.viewer));
	script_click(&s, x_of(&s, 700), high, 0);
	assert_int_equal(s.viewer->selection.task, s.viewer->model->samples.task[1]);
	assert_int_equal(s.viewer->selection.at - s.viewer->view.start, 500000);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(things_are_met_around_them),
		cmocka_unit_test(handles_are_larger_for_fingers),
		cmocka_unit_test(the_nearest_tasks_come_first),
		cmocka_unit_test(clicks_at_one_point_select_one_after_the_other),
		cmocka_unit_test(arrows_are_met_beside_their_line),
		cmocka_unit_test(the_lines_of_tasks_are_above_arrows),
		cmocka_unit_test(an_arrow_under_the_pointer_is_described),
		cmocka_unit_test(a_click_on_an_arrow_goes_to_its_other_end),
		cmocka_unit_test(a_read_leads_to_the_end_of_the_task_that_is_read),
		cmocka_unit_test(links_of_creation_are_met),
		cmocka_unit_test(another_trace_has_other_arrows),
		cmocka_unit_test(bands_are_met_below_everything_else),
		cmocka_unit_test(a_click_on_a_band_first_ends_the_selection),
		cmocka_unit_test(names_of_bands_are_above_tasks),
		cmocka_unit_test(a_promise_in_a_wait_is_met_by_the_second_click),
		cmocka_unit_test(curves_over_the_tasks_are_met),
		cmocka_unit_test(ranges_snap_to_what_happens),
		cmocka_unit_test(ranges_snap_only_near_a_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
