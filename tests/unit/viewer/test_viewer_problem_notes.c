/* SPDX-License-Identifier: ISC
 *
 * The view that `p` chooses, and the words at the cause and at the effect of a problem.
 */
#include "story/problems/findings.h"
#include "trace_script.h"
#include "viewer_sample.h"

static struct script show(const char *trace)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(trace, 0), false), 0);
	return s;
}

static const struct weft_problem *go(struct script *s)
{
	script_run(s, "key p");
	script_wait(s, 1000);
	const struct weft_problem *problem = weft__viewer_marked_problem(s->viewer);
	assert_non_null(problem);
	return problem;
}

/* The x of a text that is drawn; -1 if it is not. */
static double x_of_text(struct script *s, const char *text)
{
	double x = -1;
	struct weft_canvas *canvas;
	assert_int_equal(
		weft_canvas_create(s->viewer->frame.width, s->viewer->frame.height, &canvas), 0);
	assert_int_equal(weft_viewer_draw(s->viewer, canvas), 0);
	for (uint32_t i = 0; i < canvas->op_count; i++)
		if (canvas->ops[i].type == WEFT_CANVAS_TEXT &&
			strcmp(canvas->text + canvas->ops[i].first, text) == 0)
			x = canvas->ops[i].x;
	weft_canvas_destroy(canvas);
	return x;
}

static double share_of_view(const struct script *s, uint64_t start, uint64_t end)
{
	const struct weft_view *view = &s->viewer->view;
	return (weft_view_x(view, end) - weft_view_x(view, start)) / view->width;
}

static bool is_seen(const struct script *s, uint64_t time)
{
	double x = weft_view_x(&s->viewer->view, time);
	return x >= 0 && x <= s->viewer->view.width;
}

#define WAITS                                                                        \
	"create 0 1 condition; label 1 ready; create 0 2 task; label 2 consumer; "       \
	"[5: run 2; +30; try 2 1; idle; +1000; signal 1 0; +10; read 2 1]; run 2; +30; " \
	"signal 1 0; +5; try 2 1; idle; +100000; run 0"

static void a_lost_signal_and_the_wait_for_it_have_words(void **state)
{
	(void)state;
	struct script s = show(WAITS);
	const struct weft_problem *problem = go(&s);
	assert_int_equal(problem->type, WEFT_PROBLEM_LOST_WAKE_UP);
	assert_string_equal(problem->cause.words, "signalled, nobody waits");
	assert_string_equal(problem->effect.words, "begins to wait, 5 us late");
	assert_int_equal(problem->effect.time - problem->cause.time, 5000);
	double cause = x_of_text(&s, problem->cause.words);
	assert_true(cause > 0 && x_of_text(&s, problem->effect.words) > cause);
	script_run(&s, "key Escape");
	assert_true(x_of_text(&s, problem->cause.words) < 0);
	script_end(&s);
}

/* From a view of all, from one of a moment, and from one that the problem fills. */
static void a_problem_has_a_third_of_the_view(void **state)
{
	(void)state;
	struct script s = show(WAITS);
	const struct weft_problem *problem = go(&s);
	const uint64_t from = problem->show_start, length = problem->show_end - from;
	const uint64_t starts[] = {0, 0, from - s.viewer->view.start - length / 4},
				   lengths[] = {200000000, 1000, length + length / 2};
	for (int i = 0; i < 3; i++) {
		weft_view_set_range(&s.viewer->view, s.viewer->view.start + starts[i], (double)lengths[i]);
		problem = go(&s);
		double share = share_of_view(&s, problem->show_start, problem->show_end);
		assert_true(share > 0.2 && share < 0.5);
		assert_true(is_seen(&s, problem->cause.time) && is_seen(&s, problem->effect.time));
	}
	script_end(&s);
}

/* A view that shows the problem well already is left as it is. */
static void a_view_that_shows_the_problem_stays(void **state)
{
	(void)state;
	struct script s = show(WAITS);
	go(&s);
	struct weft_view before = s.viewer->view;
	script_run(&s, "key Escape");
	go(&s);
	assert_true(fabs(s.viewer->view.scale - before.scale) <= 0);
	assert_true(fabs(s.viewer->view.left - before.left) <= 0);
	script_end(&s);
}

/* A failure that travels is seen from where it began. */
static void a_failure_is_shown_with_its_origin(void **state)
{
	(void)state;
	struct script s = show("create 0 1 task; label 1 disk; create 0 2 task; label 2 query; +100; "
						   "fail 1 1 no space; +50000; run 2; read 2 1; fail 2 2 no answer; +10; "
						   "run 0; +900000; run 0");
	const struct weft_problem *problem = go(&s);
	assert_int_equal(problem->type, WEFT_PROBLEM_FAILED);
	assert_true(is_seen(&s, problem->cause.time) && is_seen(&s, problem->effect.time));
	assert_true(x_of_text(&s, "fails first") >= 0);
	assert_true(x_of_text(&s, "fails in turn") > x_of_text(&s, "fails first"));
	script_end(&s);
}

/* The trace does not name the task that acted. */
static void a_note_without_a_task_has_no_words(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct weft_problem_note moment = {0};
		struct weft__words words = weft__story_problem_note(&moment, 5, i ? 3 : WEFT_NONE);
		weft__story_words_add(&words, "takes %s", "it");
		assert_string_equal(moment.words, i ? "takes it" : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_signal_and_the_wait_for_it_have_words),
		cmocka_unit_test(a_problem_has_a_third_of_the_view),
		cmocka_unit_test(a_view_that_shows_the_problem_stays),
		cmocka_unit_test(a_failure_is_shown_with_its_origin),
		cmocka_unit_test(a_note_without_a_task_has_no_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
