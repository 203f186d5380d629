/* SPDX-License-Identifier: ISC
 *
 * Statistics in the viewer: of the chosen range, of a label with its histogram, and the slowest
 * tasks one after the other. test_viewer_parts.c has the whole panels as golden text.
 */
#include "viewer_sample.h"

#include "trace_script.h"

/* Ten jobs of 10, 20, … 100 us, and a task that fails. */
static const char jobs[] =
	"[10: create 0 10+i task; label 10+i job#; run 10+i; +i+1*10; resolve 0 10+i];"
	"create 0 50 task; label 50 other; +5; fail 0 50 bad; idle; +200; note 0 end";

static struct script begin_jobs(void)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(jobs, 100), false), 0);
	return s;
}

static const struct weft_viewer_item *item(const struct script *s, const char *command)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(s->viewer);
	for (uint32_t i = 0; i < panel->item_count; i++)
		if (strcmp(panel->items[i].command, command) == 0)
			return &panel->items[i];
	return NULL;
}

static const char *fact(const struct script *s, const char *name)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(s->viewer);
	for (uint32_t i = 0; i < panel->item_count; i++)
		if (panel->items[i].type == WEFT_VIEWER_FACT && strcmp(panel->items[i].text, name) == 0)
			return panel->items[i].detail;
	return "";
}

static uint64_t selected(const struct script *s)
{
	uint32_t task = s->viewer->selection.task;
	return task == WEFT_NONE ? 0 : s->viewer->model->tasks.id[task];
}

static void the_panel_lists_rows(void **state)
{
	struct script s = begin_jobs();
	(void)state;
	script_run(&s, "key h");
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Statistics");
	assert_string_equal(item(&s, "stats row 1")->text, "1 \xc3\x97 preexisting, unnamed");
	assert_string_equal(item(&s, "stats row 2")->text, "10 \xc3\x97 task 'job#'");
	assert_string_equal(item(&s, "stats row 2")->detail, "50 us to 100 us");
	assert_string_equal(item(&s, "stats row 3")->detail, "5 us, 1 failed");
	assert_int_equal(item(&s, "stats row 3")->role, WEFT_VIEWER_ROLE_FAILED);
	assert_true(item(&s, "stats by label")->is_selected);
	script_run(&s, "command stats by kind");
	assert_true(item(&s, "stats by kind")->is_selected);
	assert_string_equal(item(&s, "stats row 2")->text, "11 \xc3\x97 task");
	script_run(&s, "key h");
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "");
	script_end(&s);
}

/* The name of a long list of calls ends after a whole character. */
static void waits_are_named_by_their_calls(void **state)
{
	struct trace_script waits = {.made = make_begin()};
	char calls[600] = "";
	for (unsigned i = 0; i < 99; i++)
		strcat(calls, i % 2 ? "\xe2\x86\x90" : " f");
	struct weft_event event = {.type = WEFT_EVENT_STACK, .task = 1, .text = {calls, strlen(calls)}};
	(void)state;
	trace_script_run_all(&waits, "create 0 1 thread; create 0 5 lock; create 0 6 timer; run 1; +10;"
								 "stack 1 flush; try 1 5; idle; +30; acquire 1 5; run 1; +5");
	make(&waits.made, event);
	trace_script_run_all(&waits, "try 1 6; idle; +10; resolve 0 6; read 1 6; run 1; +5; idle");
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, make_model(&waits.made), false), 0);
	script_run(&s, "key h; command stats by stack");
	assert_string_equal(item(&s, "stats row 1")->text, "1 \xc3\x97 lock, in flush");
	const char *text = item(&s, "stats row 2")->text;
	assert_non_null(strstr(text, "timer, in  f\xe2\x86\x90 f"));
	assert_string_equal(text + strlen(text) - 5, " f\xe2\x80\xa6");
	script_run(&s, "command stats row 1");
	assert_string_equal(fact(&s, "max"), "30 us");
	assert_string_equal(fact(&s, "running"), "");
	script_end(&s);
}

static void a_row_leads_to_its_slowest(void **state)
{
	struct script s = begin_jobs();
	(void)state;
	script_run(&s, "key h; command stats row 2");
	assert_string_equal(fact(&s, "count"), "10");
	assert_string_equal(fact(&s, "max"), "100 us");
	script_run(&s, "command slow first");
	assert_int_equal(selected(&s), 19);
	assert_non_null(
		strstr(weft_viewer_status(s.viewer), "1 of 10, the slowest first: job9, 100 us"));
	const struct weft_viewer_panel *panel = weft_viewer_panel(s.viewer);
	assert_string_equal(panel->items[panel->selected].command, "slow 1");
	script_run(&s, "key .");
	assert_int_equal(selected(&s), 18);
	script_run(&s, "key .; key ,; key ,");
	assert_int_equal(selected(&s), 19);
	script_run(&s, "key ,"); /* from the slowest around to the quickest */
	assert_int_equal(selected(&s), 10);
	script_run(&s, "command slow 5");
	assert_int_equal(selected(&s), 15);
	script_run(&s, "command slow 11");
	assert_int_equal(selected(&s), 15);
	script_run(&s, "command stats all");
	assert_non_null(item(&s, "stats row 2"));
	script_end(&s);
}

static void a_selected_task_is_among_its_like(void **state)
{
	struct script s = begin_jobs();
	(void)state;
	script_run(&s, "command select task:15; key .");
	assert_int_equal(selected(&s), 14);
	script_run(&s, "command select task:12; key H");
	const struct weft_viewer_panel *panel = weft_viewer_panel(s.viewer);
	assert_string_equal(panel->items[panel->selected].command, "slow 8");
	script_run(&s, "key ,");
	assert_int_equal(selected(&s), 13);
	script_end(&s);
}

static void nothing_is_like_no_task(void **state)
{
	(void)state;
	struct script s = begin_jobs();
	script_run(&s, "command stats alike");
	assert_string_equal(weft_viewer_status(s.viewer), "No task is selected.");
	script_end(&s);
}

static void without_a_row_nothing_is_slow(void **state)
{
	struct script s = begin_jobs();
	(void)state;
	script_run(&s, "key .");
	assert_int_equal(selected(&s), 0);
	assert_string_equal(weft_viewer_status(s.viewer), "Select a task, or a row of the statistics.");
	script_run(&s, "key h; command stats row 77");
	assert_string_equal(weft_viewer_status(s.viewer), "The statistics have no such row.");
	script_end(&s);
}

static void a_bar_leads_to_the_slowest_in_it(void **state)
{
	struct script s = begin_jobs();
	(void)state;
	script_run(&s, "command select task:15; key H");
	/* 10 to 20 us: one; 20 to 50 us: three; 50 to 100 us: five; then the one of 100 us */
	const struct weft_viewer_panel *panel = weft_viewer_panel(s.viewer);
	static const char *const commands[] = {"slow 10", "slow 7", "slow 2", "slow 1"};
	static const char *const counts[] = {"1", "3", "5", "1"};
	uint32_t at = 0;
	while (at < panel->item_count && strncmp(panel->items[at].text, "\xe2\x89\xa5 10 us", 9) != 0)
		at++;
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(at + i < panel->item_count);
		assert_string_equal(panel->items[at + i].command, commands[i]);
		assert_string_equal(panel->items[at + i].detail, counts[i]);
	}
	script_run(&s, "command slow 7");
	assert_int_equal(selected(&s), 13);
	script_end(&s);
}

/* The range has the last job, and the end of the one before. */
static void a_range_has_its_own_statistics(void **state)
{
	struct script s = begin_jobs();
	(void)state;
	script_run(&s, "key h; command stats row 2");
	uint64_t start = s.viewer->model->summary.start;
	s.viewer->range.from = start + 500000;
	s.viewer->range.to = start + 440000; /* dragged leftwards */
	s.viewer->range.is_set = true;
	script_run(&s, "wait 20");
	assert_string_equal(fact(&s, "count"), "2");
	assert_string_equal(fact(&s, "max"), "90 us");
	assert_string_equal(fact(&s, "unfinished"), "1");
	assert_string_equal(fact(&s, "running"), "60 us");
	script_run(&s, "command slow first");
	assert_int_equal(selected(&s), 18);
	script_run(&s, "key Escape"); /* forgets the range */
	assert_string_equal(fact(&s, "count"), "10");
	script_end(&s);
}

static void a_drag_offers_its_statistics(void **state)
{
	struct script s = begin_jobs();
	uint32_t count, found = 0;
	(void)state;
	script_run(&s, "drag 300 300 600 300 shift");
	const struct weft_viewer_control *controls = weft_viewer_controls(s.viewer, &count);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(controls[i].command, "panel stats") == 0) {
			script_click(&s, controls[i].box.x + 5, controls[i].box.y + 5, 0);
			found++;
			break;
		}
	assert_int_equal(found, 1);
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Statistics");
	assert_true(s.viewer->statistics.to > s.viewer->statistics.from);
	script_end(&s);
}

/* The next state of a growing trace makes other statistics, but not at once. */
static void a_growing_trace_is_measured_now_and_then(void **state)
{
	struct script s = script_begin(NULL, true);
	(void)state;
	assert_int_equal(weft_viewer_show(s.viewer,
						 trace_script_model("run 0; [3: create 0 10+i task; label "
											"10+i job; +10; resolve 0 10+i]",
							 3),
						 true),
		0);
	script_run(&s, "key h; command stats row 2");
	assert_string_equal(fact(&s, "count"), "3");
	assert_int_equal(weft_viewer_show(s.viewer,
						 trace_script_model("run 0; [4: create 0 10+i task; label "
											"10+i job; +10; resolve 0 10+i]",
							 3),
						 true),
		0);
	assert_string_equal(fact(&s, "count"), "3");
	script_run(&s, "command slow first");
	assert_true(selected(&s) >= 10);
	script_run(&s, "wait 1100");
	assert_string_equal(fact(&s, "count"), "4");
	script_end(&s);
}

static void a_fold_leads_to_its_longest(void **state)
{
	struct script s = begin_jobs();
	(void)state;
	script_run(&s, "command select task:12; key Enter");
	const struct weft_viewer_item *link = item(&s, "select task:19");
	assert_non_null(link);
	assert_string_equal(link->text, "Go to the longest of the fold");
	assert_string_equal(link->detail, "p50 50 us, max 100 us");
	script_run(&s, "command select task:19");
	assert_int_equal(selected(&s), 19);
	script_end(&s);
}

/* The text of a fold's figures, as it is drawn. */
static struct weft_canvas_op figures_of(const struct weft_canvas *canvas)
{
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		if (op->type == WEFT_CANVAS_TEXT && strncmp(canvas->text + op->first, "p50 ", 4) == 0)
			return *op;
	}
	fail_msg("no figures of a fold");
	return (struct weft_canvas_op){0};
}

static void the_max_of_a_fold_is_a_link(void **state)
{
	struct script s = begin_jobs();
	struct weft__hit hit;
	(void)state;
	struct weft_canvas *canvas = script_canvas(&s);
	struct weft_canvas_op figures = figures_of(canvas);
	double end = figures.x + figures.width, y = figures.y - 3;
	weft_canvas_destroy(canvas);
	weft__viewer_hit(s.viewer, figures.x + 5, y, &hit); /* p50 belongs to the fold */
	assert_int_equal(hit.max, WEFT_NONE);
	script_point(&s, WEFT_VIEWER_MOVE, end - 18, y, 0, 0);
	script_point(&s, WEFT_VIEWER_MOVE, end - 5, y, 0, 0);
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_POINTER);
	assert_string_equal(
		weft_viewer_status(s.viewer), "The longest of 10 alike tasks. Click: go to it.");
	script_click(&s, end - 5, y, 0);
	assert_int_equal(selected(&s), 19);
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Task");
	assert_int_equal(s.viewer->layout->form[s.viewer->selection.task], WEFT_FORM_FOLDED);
	script_end(&s);
}

static void other_rows_are_measured_again(void **state)
{
	struct script s = script_begin(ARP_GOOD, true);
	(void)state;
	script_run(&s, "key h; command stats by parent");
	const struct weft_stats *before = s.viewer->statistics.found;
	assert_non_null(before);
	uint64_t key = before->rows[0].key;
	uint32_t rows = before->row_count;
	script_run(&s, "command simplify off");
	assert_non_null(s.viewer->statistics.found);
	assert_true(s.viewer->statistics.found->row_count != rows ||
				s.viewer->statistics.found->rows[0].key != key ||
				s.viewer->statistics.found->rows[0].waiting_ns > 0);
	script_run(&s, "command simplify on");
	assert_int_equal(s.viewer->statistics.found->row_count, rows);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_panel_lists_rows),
		cmocka_unit_test(waits_are_named_by_their_calls),
		cmocka_unit_test(a_row_leads_to_its_slowest),
		cmocka_unit_test(a_selected_task_is_among_its_like),
		cmocka_unit_test(nothing_is_like_no_task),
		cmocka_unit_test(without_a_row_nothing_is_slow),
		cmocka_unit_test(a_bar_leads_to_the_slowest_in_it),
		cmocka_unit_test(a_range_has_its_own_statistics),
		cmocka_unit_test(a_drag_offers_its_statistics),
		cmocka_unit_test(a_growing_trace_is_measured_now_and_then),
		cmocka_unit_test(a_fold_leads_to_its_longest),
		cmocka_unit_test(the_max_of_a_fold_is_a_link),
		cmocka_unit_test(other_rows_are_measured_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
