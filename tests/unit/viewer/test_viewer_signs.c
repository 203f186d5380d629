/* SPDX-License-Identifier: ISC
 *
 * The signs of the ruler and the overview: what the status says of them, and where a click leads.
 */
#include "viewer_sample.h"

#include "render/scene/scene.h"
#include "render/strip.h"
#include "trace_script.h"

/* Task 2 fails at 400 us of 1000 us, task 3 at 401 us; task 1 lives all along. */
#define EVENTS                                                                                             \
	"create 0 1 task; create 0 2 task; create 0 3 task; label 2 lookup; run 1; +400; fail 1 2 no answer; " \
	"+1; fail 1 3 no route; +599; resolve 1 1; run 0"

static struct script show(void)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(EVENTS, 0), false), 0);
	script_point(&s, WEFT_VIEWER_MOVE, 700, 700, 0, 0);
	return s;
}

static const char *point_at(struct script *s, double x, double y)
{
	script_point(s, WEFT_VIEWER_MOVE, x, y, 0, 0);
	return weft_viewer_status(s->viewer);
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" lacks \"%s\"", text, part);
}

static uint64_t selected(const struct script *s)
{
	uint32_t task = s->viewer->selection.task;
	return task == WEFT_NONE ? 0 : s->viewer->model->tasks.id[task];
}

static double ruler_bottom(const struct script *s)
{
	return s->viewer->frame.ruler.y + s->viewer->frame.ruler.height;
}

static double strip_at(const struct script *s, uint64_t us)
{
	const struct weft__strip strip = weft__viewer_strip(s->viewer);
	return weft__render_strip_x(&strip, s->viewer->view.start + us * 1000);
}

static void a_failure_in_the_ruler_leads_to_its_task(void **state)
{
	(void)state;
	struct script s = show();
	script_run(&s, "command view start=399us duration=10us");
	double x = weft__viewer_canvas_x(s.viewer, s.viewer->view.start + 400000),
		   y = ruler_bottom(&s) - 3;
	assert_contains(point_at(&s, x + 3, y), "lookup");
	assert_contains(weft_viewer_status(s.viewer), "no answer. Click: go to it.");
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_POINTER);
	assert_null(strstr(point_at(&s, x + 6, y), "lookup"));
	assert_null(strstr(point_at(&s, x, ruler_bottom(&s) - 15), "lookup"));
	script_click(&s, x, y, 0);
	assert_int_equal(selected(&s), 2);
	assert_int_equal(s.viewer->panel.kind, WEFT__PANEL_STORY);
	script_end(&s);
}

/* Only the rings of whiskers, which are at the upper edge. */
static void a_ring_in_the_overview_leads_to_its_task(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	const struct weft__strip strip = weft__viewer_strip(s.viewer);
	const struct weft__whisker *whisker = s.viewer->scene->whiskers;
	const struct weft_box *box = &s.viewer->frame.strip;
	while (!whisker->is_beyond || whisker->time == s.viewer->view.start)
		whisker++;
	double x = weft__render_strip_x(&strip, whisker->time);
	script_point(&s, WEFT_VIEWER_MOVE, 700, 700, 0, 0);
	assert_contains(point_at(&s, x, box->y + 4), "Click: go to it.");
	assert_null(strstr(point_at(&s, x, box->y + 20), "Click: go to it."));
	script_click(&s, x, box->y + 4, 0);
	assert_int_equal(s.viewer->selection.task, whisker->task);
	script_end(&s);
}

/* The status names the nearest of several failures at one place, and says how many there are. */
static void a_failure_in_the_overview_leads_to_its_task(void **state)
{
	(void)state;
	struct script s = show();
	const struct weft_box *strip = &s.viewer->frame.strip;
	double x = strip_at(&s, 400);
	assert_contains(point_at(&s, x - 1, strip->y + 4), "lookup");
	assert_contains(weft_viewer_status(s.viewer), "One of 2 here.");
	assert_null(strstr(point_at(&s, x - 1, strip->y + 20), "lookup"));
	assert_null(strstr(point_at(&s, x - 30, strip->y + 4), "lookup"));
	script_click(&s, x - 1, strip->y + 4, 0);
	assert_int_equal(selected(&s), 2);
	script_click(&s, strip_at(&s, 401) + 3, s.viewer->frame.strip.y + 4, 0);
	assert_int_equal(selected(&s), 3);
	script_end(&s);
}

static void a_search_result_in_the_overview_is_gone_to(void **state)
{
	(void)state;
	struct script s = show();
	script_run(&s, "command search lookup; wait 9000");
	const struct weft_box *strip = &s.viewer->frame.strip;
	double x = strip_at(&s, 0), y = strip->y + strip->height - 6;
	point_at(&s, x + 100, y);
	assert_contains(point_at(&s, x + 2, y), "Found in a label of lookup at 0 ns.");
	script_click(&s, x + 2, y, 0);
	assert_int_equal(selected(&s), 2);
	point_at(&s, x + 100, y);
	point_at(&s, x + 2, y);
	script_run(&s, "command search nothing"); /* the sign is of a search that is gone */
	script_end(&s);
}

static void a_bookmark_in_the_overview_is_gone_to(void **state)
{
	(void)state;
	struct script s = show();
	weft_viewer_load_notes(s.viewer, "@700000 here", 12);
	s.viewer->marks.list[0].time = s.viewer->view.start + 700000;
	script_run(&s, "command view start=0us duration=50us");
	const struct weft_box *strip = &s.viewer->frame.strip;
	double x = strip_at(&s, 700), y = strip->y + 20;
	assert_contains(point_at(&s, x + 8, y), "Bookmark at 700 us: here.");
	script_click(&s, x + 8, y, 0);
	script_wait(&s, 1000);
	assert_true(time_under(&s, 0) > 500000);
	script_end(&s);
}

static void a_problem_in_the_overview_is_gone_to(void **state)
{
	(void)state;
	struct script s = show();
	script_draw(&s);
	script_wait(&s, 1000);
	assert_true(s.viewer->problems.count > 0);
	const struct weft_problems *problems = s.viewer->problems.found;
	const struct weft_problem *first = &problems->list[problems->by_gravity[0]];
	const struct weft_box *strip = &s.viewer->frame.strip;
	double x = strip_at(&s, (first->start - s.viewer->view.start) / 1000),
		   y = strip->y + strip->height - 5;
	assert_contains(point_at(&s, x + 1, y), first->sentence);
	script_click(&s, x + 1, y, 0);
	assert_int_equal(s.viewer->problems.current, 0);
	assert_contains(weft_viewer_status(s.viewer), "1 of");
	script_end(&s);
}

/* A click where the overview has no sign still does nothing, and two still show everything. */
static void the_overview_is_still_dragged_and_clicked(void **state)
{
	(void)state;
	struct script s = show();
	double y = s.viewer->frame.strip.y + 4;
	script_run(&s, "command view start=300us duration=200us");
	double left = s.viewer->view.left;
	script_click(&s, strip_at(&s, 800), y, 0);
	assert_int_equal(selected(&s), 0);
	close_to(s.viewer->view.left, left, 1);
	script_drag(&s, strip_at(&s, 400), y, strip_at(&s, 500), y, 0);
	close_to(s.viewer->view.left, left + 100000, 3000);
	assert_int_equal(selected(&s), 0);
	script_wait(&s, 1000);
	script_click(&s, strip_at(&s, 800), y, 0);
	script_wait(&s, 100);
	script_click(&s, strip_at(&s, 800), y, 0);
	script_wait(&s, 1000);
	assert_true(weft__viewer_shows_all(s.viewer));
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_in_the_ruler_leads_to_its_task),
		cmocka_unit_test(a_failure_in_the_overview_leads_to_its_task),
		cmocka_unit_test(a_ring_in_the_overview_leads_to_its_task),
		cmocka_unit_test(a_search_result_in_the_overview_is_gone_to),
		cmocka_unit_test(a_bookmark_in_the_overview_is_gone_to),
		cmocka_unit_test(a_problem_in_the_overview_is_gone_to),
		cmocka_unit_test(the_overview_is_still_dragged_and_clicked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
