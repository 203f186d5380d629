/* SPDX-License-Identifier: ISC
 *
 * Tasks that are pointed at, clicked and stepped through, and their story and edges.
 */
#include "trace_script.h"
#include "viewer_sample.h"

#include "render/theme.h"

/* Visits every task of each row, the slow way; a fold is one thing. */
static double naive_distance(const struct script *s, uint32_t task, double x, double y)
{
	const struct weft_viewer *v = s->viewer;
	const struct weft_layout *layout = v->layout;
	uint64_t start = layout->start[task], end_ns = v->model->tasks.end[task];
	if (layout->form[task] == WEFT_FORM_FOLDED) {
		start = layout->folds[layout->fold_of[task]].start;
		end_ns = layout->folds[layout->fold_of[task]].end;
	}
	double from = weft__viewer_canvas_x(v, start);
	double to = fmax(weft__viewer_canvas_x(v, end_ns), from + 1);
	double row = v->frame.picture.y + weft_view_y(&v->view, layout->row[task]);
	return fmax(fmax(fmax(from - x, x - to), 0), fabs(row - y));
}

static void hits_are_the_nearest_tasks(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	unsigned found = 0;
	for (unsigned round = 0; round < 400; round++) {
		struct weft_view *view = &s.viewer->view;
		weft_view_zoom(view, pick(1300), pick(2) ? 1.7 : 0.7);
		weft_view_set_focus(view, pick(view->row_count));
		double x = 10 + pick(1200), y = s.viewer->frame.picture.y + 5 + pick(600);
		struct weft__hit hit;
		double best = INFINITY, rounded = 1.5; /* px by which a drawn line may be moved */
		weft__viewer_hit(s.viewer, x, y, &hit);
		for (uint32_t task = 0; task < s.viewer->model->tasks.count; task++)
			best = fmin(best, naive_distance(&s, task, x, y));
		if (hit.count)
			close_to(naive_distance(&s, hit.tasks[0], x, y), best, rounded);
		found += hit.count > 0;
		assert_true(best > 16 - rounded || hit.count > 0);
		assert_true(best < 16 + rounded || hit.count == 0);
	}
	assert_true(found > 100);
	script_end(&s);
}

/* A waiting line inside the picture, as tasks.c draws it. */
static bool is_task_line(const struct script *s, const struct weft_canvas_op *op)
{
	const struct weft_box *box = &s->viewer->frame.picture;
	return op->type == WEFT_CANVAS_LINE &&
		   op->color == weft__render_theme(WEFT_THEME_LIGHT)->waiting &&
		   fabs(op->width - 1.5) < 0.01 && fabs(op->y - op->y2) < 0.01 && op->x >= box->x &&
		   op->x2 < box->x + box->width && op->x2 - op->x >= 4 &&
		   weft__viewer_inside(box, op->x, op->y);
}

/* Hits follow from what was drawn, not from a second computation. */
static void each_drawn_line_is_hit_in_its_middle(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	unsigned found = 0;
	for (unsigned round = 0; round < 20; round++) {
		struct weft_view *view = &s.viewer->view;
		weft_view_zoom(view, pick(1300), pick(2) ? 1.7 : 0.7);
		weft_view_set_focus(view, pick(view->row_count));
		struct weft_canvas *canvas = script_canvas(&s);
		for (uint32_t i = 0; i < canvas->op_count; i++) {
			const struct weft_canvas_op *op = &canvas->ops[i];
			struct weft__hit hit;
			if (!is_task_line(&s, op))
				continue;
			weft__viewer_hit(s.viewer, (op->x + op->x2) / 2, op->y, &hit);
			assert_true(hit.count > 0);
			uint32_t task = hit.tasks[0];
			close_to(
				weft__viewer_canvas_x(s.viewer, s.viewer->model->tasks.end[task]), op->x2, 1.5);
			close_to(s.viewer->frame.picture.y + weft_view_y(view, s.viewer->layout->row[task]),
				op->y, 1.5);
			found++;
		}
		weft_canvas_destroy(canvas);
	}
	assert_true(found > 100);
	script_end(&s);
}

static void a_pointer_that_rests_shows_what_is_there(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	/* The viewer asks to be called again, whether or not it was drawn before. */
	assert_true(isfinite(weft_viewer_advance(s.viewer, s.now_ms)));
	script_draw(&s);
	script_run(&s, "wait 50");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "problems"));
	weft_viewer_changes(s.viewer);
	script_run(&s, "move 600 132; wait 60");
	assert_int_equal(s.viewer->hover.task, WEFT_NONE);
	script_run(&s, "wait 40");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "XenStore"));
	assert_true(weft_viewer_changes(s.viewer) & WEFT_VIEWER_STATUS);
	script_run(&s, "move 600 700; wait 100");
	assert_int_equal(s.viewer->hover.task, WEFT_NONE);
	script_end(&s);
}

/* A desktop reports moves of a pointer that rests, when a prompt or panel below it closes. */
static void a_message_stays_until_the_pointer_moves(void **state)
{
	unsigned changed = 0;
	(void)state;
	for (unsigned y = 120; y < 720; y += 28) {
		char words[64];
		struct script s = script_begin(BLOCK_READ, false);
		snprintf(words, sizeof(words), "move 600 %u; wait 100", y);
		script_run(&s, words);
		uint32_t before = s.viewer->hover.task;
		script_run(&s, "key p; wait 1000");
		script_run(&s, words);
		assert_non_null(strstr(weft_viewer_status(s.viewer), "1 of "));
		changed += s.viewer->hover.task != before;
		/* The window opens below a resting pointer, and gets its position only now. */
		script_run(&s, "leave 0 0; key p");
		script_run(&s, words);
		script_run(&s, "wait 200");
		assert_non_null(strstr(weft_viewer_status(s.viewer), "2 of "));
		script_end(&s);
	}
	assert_true(changed > 0);
}

static void a_click_selects_and_opens_its_story(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "click 600 132");
	const struct weft_viewer_panel *panel = weft_viewer_panel(s.viewer);
	struct weft_viewer_boxes boxes;
	weft_viewer_boxes(s.viewer, &boxes);
	assert_true(boxes.panel.width == 320 && boxes.canvas.width == 1080);
	assert_string_equal(panel->title, "Task");
	assert_true(panel->item_count > 5);
	unsigned links = 0;
	for (uint32_t i = 0; i < panel->item_count; i++)
		links += strncmp(panel->items[i].command, "select task:", 12) == 0;
	assert_true(links > 3);
	script_run(&s, "key Escape");
	assert_int_equal(s.viewer->selection.task, WEFT_NONE);
	weft_viewer_boxes(s.viewer, &boxes);
	assert_true(boxes.panel.width == 0);
	script_end(&s);
}

/* Every line of the panel runs a valid command with an effect. */
static void every_link_of_every_panel_is_followed(void **state)
{
	(void)state;
	static const char *const panels[] = {"click 600 132", "command panel problems",
		"command panel search", "command search Xs", "command panel counters", "command marks",
		"command help", "command panel menu", "command panel export"};
	for (unsigned i = 0; i < sizeof(panels) / sizeof(panels[0]); i++) {
		unsigned followed = 0;
		for (uint32_t item = 0; item < 400; item++) {
			struct script s = script_begin(BLOCK_READ, true);
			script_run(&s, panels[i]);
			const struct weft_viewer_panel *panel = weft_viewer_panel(s.viewer);
			if (item < panel->item_count && panel->items[item].command[0]) {
				assert_true(weft_viewer_command(s.viewer, panel->items[item].command, s.now_ms));
				assert_null(strstr(weft_viewer_status(s.viewer), "no such"));
				followed++;
			}
			bool done = item >= panel->item_count;
			script_end(&s);
			if (done)
				break;
		}
		assert_true(followed > 0);
	}
}

static void keys_go_along_edges_and_back(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	assert_false(weft_viewer_key(s.viewer, "Tab", 0, s.now_ms)); /* nothing is selected */
	script_run(&s, "command select task:79; key Tab");
	uint32_t first = s.viewer->selection.edge, task = s.viewer->selection.task;
	assert_int_not_equal(first, WEFT_NONE);
	script_run(&s, "key Tab");
	assert_true(s.viewer->selection.edge > first);
	script_run(&s, "key Tab shift");
	assert_int_equal(s.viewer->selection.edge, first);
	script_run(&s, "key Enter");
	assert_int_not_equal(s.viewer->selection.task, task);
	script_run(&s, "command select task:79; key c");
	assert_int_equal(s.viewer->selection.task, s.viewer->model->tasks.parent[task]);
	script_end(&s);
}

/* The first edge of the trace has the number 0. */
static void tab_reaches_the_first_edge_of_the_trace(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	weft__viewer_select(s.viewer, s.viewer->model->edges.from[0], s.viewer->view.start);
	script_run(&s, "key Tab");
	assert_int_equal(s.viewer->selection.edge, 0);
	script_run(&s, "key Tab; key Tab shift");
	assert_int_equal(s.viewer->selection.edge, 0);
	assert_false(weft_viewer_key(s.viewer, "Tab", WEFT_VIEWER_SHIFT, s.now_ms));
	script_end(&s);
}

/* After a jump to a lock's holder that sleeps, the question is asked while it sleeps. */
static void a_holder_that_sleeps_is_asked_in_its_sleep(void **state)
{
	static const char trace[] =
		"create 0 1 lock; label 1 db; [20: create 0 100+i task; run 100+i; acquire 100+i 1; +10;"
		" release 100+i 1; resolve 100+i 100+i; idle; +100]; create 0 500 task; label 500 backup;"
		" run 500; acquire 500 1; +10; idle; +1000; create 0 501 task; run 501; try 501 1; idle;"
		" +50000; run 500; +10; release 500 1; resolve 500 500; run 501; acquire 501 1; +10;"
		" release 501 1; resolve 501 501; idle";
	(void)state;
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(trace, 0), false), 0);
	script_run(&s, "key p; key w");
	assert_int_equal(s.viewer->model->tasks.id[s.viewer->selection.task], 500);
	const char *status = weft_viewer_status(s.viewer);
	assert_non_null(strstr(status, "'backup' waits for nothing that the trace shows"));
	script_end(&s);
}

static const struct weft_viewer_control *control_with(const struct script *s, const char *words)
{
	uint32_t count;
	const struct weft_viewer_control *list = weft_viewer_controls(s->viewer, &count);
	for (uint32_t i = 0; i < count; i++)
		if (strstr(list[i].name, words))
			return &list[i];
	fail_msg("no control is called %s", words);
	return NULL;
}

/* Users without a pointer get the buttons and the overview's edges as a list. */
static void drawn_controls_are_listed(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "wait 100");
	assert_true(weft_viewer_changes(s.viewer) & WEFT_VIEWER_CONTROLS);
	assert_true(control_with(&s, "The view before")->is_off);
	const struct weft_viewer_control *search = control_with(&s, "Search");
	assert_int_equal(
		weft__viewer_button_at(s.viewer, search->box.x + 5, search->box.y + 5) != WEFT__NO_BUTTON,
		1);
	assert_true(weft_viewer_command(s.viewer, search->command, s.now_ms));
	assert_true(weft_viewer_prompt(s.viewer)->is_open);
	script_run(&s, "key Escape; wait 50");
	weft_viewer_changes(s.viewer);
	script_run(&s, "move 500 400; wait 200");
	assert_false(weft_viewer_changes(s.viewer) & WEFT_VIEWER_CONTROLS);
	const struct weft_viewer_control *begin_of = control_with(&s, "Start of the view");
	assert_int_equal(begin_of->type, WEFT_VIEWER_HANDLE);
	assert_string_equal(begin_of->value, "0 ns");
	double duration = weft__view_duration(&s.viewer->view);
	script_run(&s, "command stretch begin right; command stretch end left");
	close_to(weft__view_duration(&s.viewer->view), duration * 0.9 * 0.9, duration * 1e-6);
	assert_true(weft_viewer_changes(s.viewer) & WEFT_VIEWER_CONTROLS);
	assert_string_not_equal(control_with(&s, "Start of the view")->value, "0 ns");
	for (int i = 0; i < 40; i++)
		script_run(&s, "command stretch begin left; command stretch end right");
	assert_true(weft__viewer_shows_all(s.viewer));
	for (int i = 0; i < 400; i++)
		script_run(&s, "command stretch begin right");
	assert_true(weft__view_duration(&s.viewer->view) >= 1);
	script_end(&s);
}

/* A keyboard user can leave the edges of a task by Tab. */
static void tab_leaves_after_the_last_edge(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	unsigned steps = 0;
	script_run(&s, "key p");
	while (weft_viewer_key(s.viewer, "Tab", 0, s.now_ms))
		assert_true(++steps < 1000);
	assert_true(steps > 0);
	assert_int_equal(s.viewer->selection.edge, WEFT_NONE);
	assert_true(weft_viewer_key(s.viewer, "Tab", 0, s.now_ms)); /* and in again */
	script_run(&s, "key Escape; key Escape; key Escape");
	assert_int_equal(s.viewer->selection.task, WEFT_NONE);
	assert_false(weft_viewer_key(s.viewer, "Tab", 0, s.now_ms));
	script_end(&s);
}

static void a_range_is_chosen_by_keys(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "key v; key ArrowRight shift; key ArrowRight shift; key ArrowRight shift");
	assert_true(s.viewer->range.is_set && s.viewer->range.to > s.viewer->range.from);
	double length = (double)(s.viewer->range.to - s.viewer->range.from);
	script_run(&s, "key z; wait 300");
	close_to(weft__view_duration(&s.viewer->view), length, length * 1e-3);
	script_end(&s);
}

static void arrows_with_shift_step_through_tasks(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "key ArrowDown shift");
	uint32_t task = s.viewer->selection.task, row;
	assert_int_not_equal(task, WEFT_NONE);
	row = s.viewer->layout->row[task];
	script_run(&s, "key ArrowDown shift");
	assert_int_equal(s.viewer->layout->row[s.viewer->selection.task], row + 1);
	for (unsigned i = 0; i < 1000; i++)
		script_run(&s, pick(2) ? "key ArrowRight shift" : "key ArrowDown shift");
	for (unsigned i = 0; i < 1000; i++)
		script_run(&s, pick(2) ? "key ArrowLeft shift" : "key ArrowUp shift");
	assert_int_equal(s.viewer->layout->row[s.viewer->selection.task], 0);
	script_end(&s);
}

static void a_double_click_shows_what_belongs_together(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "click 600 263; wait 100; click 600 263");
	assert_true(s.viewer->selection.related_count > 1);
	script_draw(&s);
	script_run(&s, "key Escape");
	assert_int_equal(s.viewer->selection.related_count, 0);
	assert_int_not_equal(s.viewer->selection.task, WEFT_NONE);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_are_the_nearest_tasks),
		cmocka_unit_test(each_drawn_line_is_hit_in_its_middle),
		cmocka_unit_test(a_pointer_that_rests_shows_what_is_there),
		cmocka_unit_test(a_message_stays_until_the_pointer_moves),
		cmocka_unit_test(a_click_selects_and_opens_its_story),
		cmocka_unit_test(every_link_of_every_panel_is_followed),
		cmocka_unit_test(keys_go_along_edges_and_back),
		cmocka_unit_test(tab_reaches_the_first_edge_of_the_trace),
		cmocka_unit_test(a_holder_that_sleeps_is_asked_in_its_sleep),
		cmocka_unit_test(drawn_controls_are_listed),
		cmocka_unit_test(tab_leaves_after_the_last_edge),
		cmocka_unit_test(a_range_is_chosen_by_keys),
		cmocka_unit_test(arrows_with_shift_step_through_tasks),
		cmocka_unit_test(a_double_click_shows_what_belongs_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
