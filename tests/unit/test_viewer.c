/* SPDX-License-Identifier: ISC
 *
 * The viewer, by scripts of a user's actions (viewer_script.h); test_viewer_rows.c tests actions on
 * rows. Pictures are compared with tests/data/golden; WEFT_GOLDEN=write writes them anew, to be
 * looked at before they are committed.
 */
#include "viewer_sample.h"

#include "built.h"

#include "render/clock.h"
#include "render/painter.h"
#include "render/strip.h"
#include "render/theme.h"
#include "golden.h"

static double time_under(const struct script *s, double x)
{
	const struct weft_view *view = &s->viewer->view;
	return view->left + (x - s->viewer->frame.picture.x) / view->scale;
}

static double row_under(const struct script *s, double y)
{
	return weft_view_row(&s->viewer->view, y - s->viewer->frame.picture.y);
}

/* ---- The view ---- */

static void the_wheel_zooms_at_the_pointer(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "wheel 700 400 -1200; wait 200");
	double before = s.viewer->view.scale, time = time_under(&s, 300);
	script_run(&s, "wheel 300 400 -120; wait 60");
	assert_true(s.viewer->view.scale > before * 1.01 && s.viewer->view.scale < before * 1.199);
	close_to(time_under(&s, 300), time, 2 / s.viewer->view.scale);
	script_run(&s, "wait 100");
	close_to(s.viewer->view.scale / before, 1.2, 1e-9);
	close_to(time_under(&s, 300), time, 1 / s.viewer->view.scale);
	script_run(&s, "wheel 300 400 -6"); /* a touchpad: at once */
	close_to(s.viewer->view.scale / before, 1.2 * pow(1.2, 0.05), 1e-9);
	script_end(&s);
}

static void wheels_with_shift_and_alt_move_time_and_rows(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "wheel 700 400 -1200");
	double left = s.viewer->view.left, scale = s.viewer->view.scale;
	script_run(&s, "wheel 700 400 120 shift");
	close_to(s.viewer->view.left, left + 120 / scale, 1e-3);
	assert_true(s.viewer->view.scale == scale);
	double focus = s.viewer->view.focus;
	script_run(&s, "wheel 700 400 120 alt");
	close_to(s.viewer->view.focus, focus + 3, 1e-9);
	script_end(&s);
}

static void a_drag_keeps_time_and_row_under_the_pointer(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, false);
	script_run(
		&s, "wheel 700 400 -1800; wheel 700 400 600 alt; wait 200; move 600 500; press 600 500");
	double time = time_under(&s, 600), row = row_under(&s, 500);
	for (int i = 1; i <= 20; i++) {
		script_wait(&s, 16);
		script_point(&s, WEFT_VIEWER_MOVE, 600 - 5 * i, 500 + 4 * i, 0, 0);
		close_to(time_under(&s, 600 - 5 * i), time, 0.5 / s.viewer->view.scale);
		close_to(row_under(&s, 500 + 4 * i), row, 0.1);
	}
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_GRABBING);
	script_end(&s);
}

/* A view that is released while it moves goes on, slower and slower, until it is touched. */
static void a_throw_goes_on_and_stops_on_touch(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "wheel 700 400 -1800; wait 200; move 900 400; press 900 400");
	for (int i = 1; i <= 6; i++) {
		script_wait(&s, 16);
		script_point(&s, WEFT_VIEWER_MOVE, 900 - 20 * i, 400, 0, 0);
	}
	script_run(&s, "release 780 400");
	double at_release = s.viewer->view.left;
	script_run(&s, "wait 100");
	double later = s.viewer->view.left;
	assert_true(later > at_release + 10 / s.viewer->view.scale);
	script_run(&s, "press 500 400; wait 200");
	close_to(s.viewer->view.left, later, 1e-6);
	assert_true(weft_viewer_advance(s.viewer, s.now_ms) > 0);
	script_end(&s);
}

static void two_fingers_zoom_and_move(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "wheel 700 400 -1200; wait 200; touch 1 press 500 400; touch 2 press 700 400");
	double scale = s.viewer->view.scale, middle = time_under(&s, 600);
	script_run(&s, "touch 1 move 450 420; touch 2 move 850 420");
	close_to(s.viewer->view.scale / scale, 2, 0.02);
	close_to(time_under(&s, 650), middle, 1 / s.viewer->view.scale);
	/* One finger continues alone. */
	script_run(&s, "touch 1 release 450 420");
	double held = time_under(&s, 850);
	script_run(&s, "touch 2 move 800 420");
	close_to(time_under(&s, 800), held, 1 / s.viewer->view.scale);
	script_run(&s, "touch 2 release 800 420; wait 400");
	assert_int_equal(s.viewer->pointer.drag, WEFT__DRAG_NONE);
	script_end(&s);
}

static void a_long_press_points(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "touch 1 press 600 132; wait 400");
	assert_int_equal(s.viewer->hover.task, WEFT_NONE);
	script_run(&s, "wait 200");
	assert_int_not_equal(s.viewer->hover.task, WEFT_NONE);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "XenStore"));
	script_end(&s);
}

static void views_are_gone_back_to_and_forward(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_view all = s.viewer->view;
	script_run(&s, "command view start=5ms duration=1ms; wait 2000");
	struct weft_view close = s.viewer->view;
	script_run(&s, "wheel 700 400 -120; wait 10; wheel 700 400 -120; wait 2000; key [");
	close_to(s.viewer->view.scale, close.scale, close.scale * 1e-9); /* two notches are one step */
	script_run(&s, "key [");
	close_to(s.viewer->view.scale, all.scale, all.scale * 1e-9);
	script_run(&s, "key ]");
	close_to(s.viewer->view.left, close.left, 1);
	script_run(&s, "key [; key [; key [");
	close_to(s.viewer->view.scale, all.scale, all.scale * 1e-9);
	script_end(&s);
}

static void exact_times_are_asked_for(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "key s; enter 12.5ms; key d; enter 300us");
	assert_false(weft_viewer_prompt(s.viewer)->is_open);
	close_to(time_under(&s, 20), 12500000, 1);
	close_to(weft__viewer_duration(&s.viewer->view), 300000, 1e-3);
	script_run(&s, "key d; type 300");
	assert_true(weft_viewer_prompt(s.viewer)->is_error);
	assert_non_null(strstr(weft_viewer_prompt(s.viewer)->message, "unit"));
	script_run(&s, "key Escape");
	assert_false(weft_viewer_prompt(s.viewer)->is_open);
	script_end(&s);
}

static void times_are_read_back_as_written(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t ns = ((uint64_t)pick(UINT32_MAX) << 31 | pick(UINT32_MAX)) >> pick(63), read;
		char text[32];
		weft__write_duration(ns, text);
		assert_null(weft__parse_duration(text, &read));
		assert_int_equal(read, ns);
	}
}

static double strip_x(const struct script *s, double ns)
{
	double length = (double)(s->viewer->view.end - s->viewer->view.start);
	return 20 + (s->viewer->frame.strip.width - 40) * ns / length;
}

static void the_overview_is_a_window(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	char line[100];
	/* A drag outside the window chooses what is shown. */
	snprintf(line, sizeof(line), "drag %g 50 %g 50", strip_x(&s, 40e6), strip_x(&s, 60e6));
	script_run(&s, line);
	close_to(time_under(&s, 20), 40e6, 3e5);
	close_to(weft__viewer_duration(&s.viewer->view), 20e6, 6e5);
	/* Its middle moves it, */
	snprintf(line, sizeof(line), "drag %g 50 %g 50", strip_x(&s, 50e6), strip_x(&s, 80e6));
	script_run(&s, line);
	close_to(time_under(&s, 20), 70e6, 6e5);
	close_to(weft__viewer_duration(&s.viewer->view), 20e6, 6e5);
	/* its edge makes it wider. */
	double right = s.viewer->view.left + s.viewer->view.width / s.viewer->view.scale;
	snprintf(line, sizeof(line), "drag %g 50 %g 50", strip_x(&s, right), strip_x(&s, 120e6));
	script_run(&s, line);
	close_to(time_under(&s, 20), 70e6, 6e5);
	close_to(weft__viewer_duration(&s.viewer->view), 50e6, 1e6);
	script_run(&s, "wait 1000; double 30 50");
	assert_true(weft__viewer_shows_all(s.viewer));
	script_end(&s);
}

static void plain_rows_are_scrolled(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "key g");
	const struct weft_box bar = weft__rows_bar(s.viewer);
	assert_true(bar.width > 0);
	double spacing = weft_view_row_spacing(&s.viewer->view, 0);
	close_to(weft_view_row_spacing(&s.viewer->view, 40), spacing, 1e-9);
	char line[64];
	snprintf(line, sizeof(line), "drag %g %g %g %g", bar.x + 3, bar.y + 5, bar.x + 3,
		bar.y + bar.height - 1);
	script_run(&s, line);
	double first, last;
	weft_view_rows_seen(&s.viewer->view, &first, &last);
	close_to(last, s.viewer->view.row_count - 1.0, 0.5);
	script_run(&s, "key g");
	assert_true(weft__rows_bar(s.viewer).width == 0);
	script_end(&s);
}

/* ---- Tasks ---- */

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
	double from = weft__canvas_x(v, start);
	double to = fmax(weft__canvas_x(v, end_ns), from + 1);
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
	return op->type == WEFT_CANVAS_LINE && op->color == weft__theme(WEFT_THEME_LIGHT)->waiting &&
		   fabs(op->width - 1.5) < 0.01 && fabs(op->y - op->y2) < 0.01 && op->x >= box->x &&
		   op->x2 < box->x + box->width && op->x2 - op->x >= 4 && weft__inside(box, op->x, op->y);
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
			close_to(weft__canvas_x(s.viewer, s.viewer->model->tasks.end[task]), op->x2, 1.5);
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
	double duration = weft__viewer_duration(&s.viewer->view);
	script_run(&s, "command stretch begin right; command stretch end left");
	close_to(weft__viewer_duration(&s.viewer->view), duration * 0.9 * 0.9, duration * 1e-6);
	assert_true(weft_viewer_changes(s.viewer) & WEFT_VIEWER_CONTROLS);
	assert_string_not_equal(control_with(&s, "Start of the view")->value, "0 ns");
	for (int i = 0; i < 40; i++)
		script_run(&s, "command stretch begin left; command stretch end right");
	assert_true(weft__viewer_shows_all(s.viewer));
	for (int i = 0; i < 400; i++)
		script_run(&s, "command stretch begin right");
	assert_true(weft__viewer_duration(&s.viewer->view) >= 1);
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
	close_to(weft__viewer_duration(&s.viewer->view), length, length * 1e-3);
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

/* ---- Finding ---- */

static void problems_are_stepped_through(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "key p");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "1 of "));
	assert_non_null(strstr(weft_viewer_status(s.viewer), "fail")); /* the worst comes first */
	assert_true(s.viewer->problems.is_marked);
	script_run(&s, "key Escape");
	assert_false(s.viewer->problems.is_marked);
	uint32_t count = s.viewer->problems.found->count;
	for (uint32_t i = 0; i < count; i++)
		script_run(&s, "key p");
	assert_int_equal(s.viewer->problems.current, 0); /* around */
	script_run(&s, "key P");
	assert_int_equal(s.viewer->problems.current, count - 1);
	script_end(&s);
}

static struct weft_problem hint(enum weft_problem_type type, uint64_t length_ns)
{
	return (struct weft_problem){.type = type, .start = 5, .end = 5 + length_ns};
}

static void expect_order(const struct weft_problems *problems, const uint32_t wanted[5])
{
	uint32_t *order = weft__viewer_order(problems);
	assert_non_null(order);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(order[i], wanted[i]);
	free(order);
}

/* A gap that comes twice takes both times. */
static void the_longest_comes_first(void **state)
{
	static const struct weft_problem_period periods[] = {{5, 25}, {65, 85}};
	struct weft_problem list[] = {
		hint(WEFT_PROBLEM_POLLING, 900),
		hint(WEFT_PROBLEM_SLOW, 10),
		hint(WEFT_PROBLEM_SLOW, 16),
		hint(WEFT_PROBLEM_IDLE_GAP, 20),
		{.type = WEFT_PROBLEM_FAILED, .severity = WEFT_SEVERITY_WARNING},
	};
	struct weft_problems problems = {.count = 5, .list = list, .periods = periods};
	(void)state;
	expect_order(&problems, (uint32_t[]){4, 2, 1, 3, 0});
	list[3].period_count = 2;
	expect_order(&problems, (uint32_t[]){4, 3, 2, 1, 0});
	list[0].severity = WEFT_SEVERITY_ERROR;
	expect_order(&problems, (uint32_t[]){0, 4, 3, 2, 1});
}

/* Marks of a colour on the overview's lower edge that lie at a time. */
static unsigned wrong_marks(struct script *s, uint32_t color, uint64_t time)
{
	struct weft_canvas *canvas;
	const struct weft_box *strip = &s->viewer->frame.strip;
	const struct weft_model_summary *whole = &s->viewer->model->summary;
	double share = (double)(time - whole->start) / (double)(whole->end - whole->start);
	struct weft__rect area = weft__strip_area(strip);
	double x = area.x + share * (area.x2 - area.x), bottom = strip->y + strip->height - 4;
	unsigned count = 0;
	assert_int_equal(weft_canvas_create(1, 1, &canvas), 0);
	assert_int_equal(weft_viewer_draw(s->viewer, canvas), 0);
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		count += op->type == WEFT_CANVAS_RECT && op->color == color && op->y2 == (float)bottom &&
				 op->x <= x + 4 && op->x2 >= x - 4;
	}
	weft_canvas_destroy(canvas);
	return count;
}

static void problems_are_seen_before_they_are_asked_for(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_draw(&s);
	assert_true(weft__viewer_know_problems(s.viewer));
	const struct weft_problem *first = &s.viewer->problems.found->list[s.viewer->problems.order[0]];
	const struct weft_problem *last =
		&s.viewer->problems.found
			 ->list[s.viewer->problems.order[s.viewer->problems.found->count - 1]];
	const struct weft__theme *theme = weft__theme(WEFT_THEME_LIGHT);
	assert_int_equal(first->severity, WEFT_SEVERITY_WARNING);
	assert_true(wrong_marks(&s, theme->signal, first->start) > 0);
	assert_int_equal(last->severity, WEFT_SEVERITY_HINT);
	assert_int_equal(wrong_marks(&s, theme->signal, s.viewer->model->summary.end), 0);
	script_end(&s);
}

static void matches_are_stepped_through(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "key /; type Xs_pro");
	assert_non_null(strstr(weft_viewer_prompt(s.viewer)->message, "found"));
	script_run(&s, "enter Xs_protocol");
	assert_false(weft_viewer_prompt(s.viewer)->is_open);
	assert_int_equal(s.viewer->search.match, 0);
	script_run(&s, "key n");
	assert_int_equal(s.viewer->search.match, 1);
	script_run(&s, "key N; key N");
	assert_int_equal(s.viewer->search.match, s.viewer->search.found->match_count - 1);
	script_run(&s, "key /; type /Xs_[");
	assert_true(weft_viewer_prompt(s.viewer)->is_error);
	assert_true(weft_viewer_prompt(s.viewer)->message[0]);
	script_run(&s, "type /Xs_[a-z]+; key Escape; key Escape; key Escape");
	assert_null(s.viewer->search.found);
	script_end(&s);
}

/* A time at which something begins, ends or is done. */
static bool means_something(
	const struct weft_model *model, const struct weft_layout *layout, uint64_t time)
{
	for (uint32_t i = 0; i < model->edges.count; i++)
		if (model->edges.time[i] == time)
			return true;
	for (uint32_t i = 0; i < model->activations.count; i++)
		if (model->activations.start[i] == time || model->activations.end[i] == time)
			return true;
	for (uint32_t i = 0; i < model->tasks.count; i++)
		if (layout->start[i] == time || model->tasks.end[i] == time)
			return true;
	return false;
}

static void a_range_snaps_and_is_measured(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command view start=122ms duration=10ms");
	uint32_t task = weft_model_find_task(s.viewer->model, 0, 393);
	double x = weft__canvas_x(s.viewer, s.viewer->layout->start[task]);
	double y =
		s.viewer->frame.picture.y + weft_view_y(&s.viewer->view, s.viewer->layout->row[task]);
	script_drag(&s, x + 4, y, x + 300, y + 25, WEFT_VIEWER_SHIFT);
	assert_true(s.viewer->range.is_set);
	assert_true(means_something(s.viewer->model, s.viewer->layout, s.viewer->range.from));
	close_to(weft__canvas_x(s.viewer, s.viewer->range.from), x + 4, 6);
	script_drag(&s, x + 4, y, x + 300, y + 25, WEFT_VIEWER_SHIFT | WEFT_VIEWER_ALT);
	close_to(weft__canvas_x(s.viewer, s.viewer->range.from), x + 4, 0.01);
	uint64_t from, to;
	weft__viewer_order_range(s.viewer, &from, &to);
	script_run(&s, "key z");
	close_to(weft__viewer_duration(&s.viewer->view), (double)(to - from), 1);
	script_run(&s, "key Escape");
	assert_false(s.viewer->range.is_set);
	script_end(&s);
}

static void bookmarks_are_saved_as_they_are_loaded(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_viewer_request request;
	script_run(&s,
		"move 500 400; key m; enter here it begins; move 600 400; key m; enter ; move 700 400; key m; "
		"key Escape");
	char saved[400] = "";
	while (weft_viewer_next_request(s.viewer, &request))
		if (request.type == WEFT_VIEWER_SAVE_NOTES)
			snprintf(saved, sizeof(saved), "%s", request.text);
	assert_non_null(strstr(saved, " here it begins\n"));
	assert_int_equal(s.viewer->marks.count, 3);
	assert_int_equal(weft_viewer_load_notes(s.viewer, saved, strlen(saved)), 0);
	assert_int_equal(s.viewer->marks.count, 3);
	static const char bad[] = "@12 a\nnonsense\n@\n@99999999999999999999999 b\r\n@7\r\n\n";
	assert_int_equal(weft_viewer_load_notes(s.viewer, bad, sizeof(bad) - 1), 3);
	assert_int_equal(s.viewer->marks.count, 2);
	assert_int_equal(s.viewer->marks.list[0].time, 7);
	script_draw(&s);
	script_end(&s);
}

/* The text of the last request to save notes. */
static void last_notes(struct script *s, char text[400])
{
	struct weft_viewer_request request;
	while (weft_viewer_next_request(s->viewer, &request))
		if (request.type == WEFT_VIEWER_SAVE_NOTES)
			snprintf(text, 400, "%s", request.text);
}

static uint32_t item_with(const struct script *s, const char *text)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(s->viewer);
	for (uint32_t i = 0; i < panel->item_count; i++)
		if (strcmp(panel->items[i].text, text) == 0)
			return i;
	return WEFT_NONE;
}

static void bookmarks_are_changed_and_removed(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	char saved[400] = "";
	script_run(&s, "move 300 400; key m; enter one; move 600 400; key m; enter two; leave 0 0");
	/* By key: the bookmark under the pointer, else the current one. */
	script_run(&s, "key o; enter second");
	last_notes(&s, saved);
	assert_non_null(strstr(saved, " one\n"));
	assert_non_null(strstr(saved, " second\n"));
	double x = weft__canvas_x(s.viewer, s.viewer->marks.list[0].time);
	script_point(&s, WEFT_VIEWER_MOVE, x + 3, 400, 0, 0);
	script_run(&s, "key m");
	assert_string_equal(weft_viewer_prompt(s.viewer)->text, "one");
	script_run(&s, "enter first");
	assert_int_equal(s.viewer->marks.count, 2);
	/* In the list: a click on the flag opens it. */
	script_run(&s, "key Escape; leave 0 0; wait 600");
	script_click(&s, x, s.viewer->frame.ruler.y + s.viewer->frame.ruler.height - 6, 0);
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Bookmarks");
	uint32_t item = item_with(&s, "first");
	assert_int_equal(weft_viewer_panel(s.viewer)->selected, item);
	item = item_with(&s, "Change its note\xe2\x80\xa6");
	weft_viewer_command(s.viewer, weft_viewer_panel(s.viewer)->items[item].command, s.now_ms);
	assert_string_equal(weft_viewer_prompt(s.viewer)->text, "first");
	script_run(&s, "enter 1st");
	item = item_with(&s, "Remove it");
	weft_viewer_command(s.viewer, weft_viewer_panel(s.viewer)->items[item].command, s.now_ms);
	last_notes(&s, saved);
	assert_null(strstr(saved, "1st"));
	assert_non_null(strstr(saved, " second\n"));
	/* And by key. */
	script_run(&s, "leave 0 0; key Delete");
	assert_int_equal(s.viewer->marks.count, 1);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "No bookmark is selected"));
	script_run(&s, "command mark 1; key Delete");
	assert_int_equal(s.viewer->marks.count, 0);
	last_notes(&s, saved);
	assert_string_equal(saved, "");
	script_end(&s);
}

static void a_link_leads_to_the_same_view(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		struct script a = script_begin(ARP_GOOD, true), b = script_begin(ARP_GOOD, true);
		struct weft_view *view = &a.viewer->view;
		weft_view_zoom(view, pick(1300), 1 + pick(1000));
		weft_view_set_focus(view, pick(view->row_count));
		script_run(&a, "wait 1; key ArrowDown shift");
		if (pick(2))
			script_run(&a, "key g");
		if (pick(2))
			script_run(&a, "command search a%b =\xc3\xa9");
		char link[1000];
		snprintf(link, sizeof(link), "%s", weft_viewer_link(a.viewer));
		assert_true(weft_viewer_command(b.viewer, link, b.now_ms));
		assert_string_equal(weft_viewer_link(b.viewer), link);
		assert_int_equal(a.viewer->selection.task, b.viewer->selection.task);
		script_end(&a);
		script_end(&b);
	}
}

static void a_command_line_is_quoted_for_the_shell(void **state)
{
	(void)state;
	struct weft_viewer_options options = {.title = "t", .path = "it's $HOME.weft"};
	struct weft_viewer_request request;
	struct script s = {.now_ms = 0};
	assert_int_equal(weft_viewer_create(&options, &s.viewer), 0);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), false), 0);
	script_run(&s, "command filter -kind:bind , a b,thread:x; command fold all off; key Y");
	assert_true(weft_viewer_next_request(s.viewer, &request));
	assert_int_equal(request.type, WEFT_VIEWER_COPY);
	assert_non_null(strstr(request.text, "weft render 'it'\\''s $HOME.weft' --start "));
	assert_non_null(strstr(
		request.text, " --no-fold --hide 'kind:bind' --only 'a b' --only 'thread:x' --focus "));
	script_run(&s, "command copy window");
	assert_true(weft_viewer_next_request(s.viewer, &request));
	assert_non_null(strstr(request.text, "weft view 'it'\\''s $HOME.weft' --command 'view start="));
	script_end(&s);
}

static void counters_are_chosen(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	struct weft_text text = {0};
	double width = s.viewer->frame.picture.width;
	assert_true(s.viewer->frame.gutter.width > 0);
	script_run(&s, "command counter 1");
	assert_true(weft__viewer_hides_counter(s.viewer, 0));
	script_text(&s, &text);
	weft_text_add(&text, "", 1);
	assert_null(strstr(text.bytes, "gntref\""));
	assert_non_null(strstr(text.bytes, "tcp-to-ip"));
	weft_text_finish(&text);
	script_run(&s, "key space");
	assert_true(s.viewer->frame.gutter.width == 0);
	assert_true(s.viewer->frame.picture.width > width);
	script_run(&s, "command counter 2"); /* of none, it alone */
	assert_true(weft__viewer_hides_counter(s.viewer, 0));
	assert_false(weft__viewer_hides_counter(s.viewer, 1));
	script_run(&s, "command rates; key g");
	script_draw(&s);
	char link[1000];
	snprintf(link, sizeof(link), "%s", weft_viewer_link(s.viewer));
	script_run(&s, "command view");
	assert_false(weft__viewer_hides_counter(s.viewer, 0));
	assert_true(weft_viewer_command(s.viewer, link, s.now_ms));
	assert_string_equal(weft_viewer_link(s.viewer), link);
	script_end(&s);
}

static unsigned drawn_counters(const struct script *s)
{
	unsigned count = 0;
	for (uint32_t i = 0; i < s->viewer->model->counter_count; i++)
		count += !weft__viewer_hides_counter(s->viewer, i);
	return count;
}

static void check_link(struct script *s)
{
	char link[1000];
	unsigned count = drawn_counters(s);
	snprintf(link, sizeof(link), "%s", weft_viewer_link(s->viewer));
	script_run(s, "command view");
	assert_true(weft_viewer_command(s->viewer, link, s->now_ms));
	assert_int_equal(drawn_counters(s), count);
	assert_string_equal(weft_viewer_link(s->viewer), link);
}

/* The last one climbs, the others go up and down. */
static struct weft_model *sixty_counters(void)
{
	struct weft_model_builder *builder = built_begin();
	for (uint32_t i = 0; i < 60 * 40; i++) {
		char name[16];
		built_add(
			builder, (struct weft_event){.type = WEFT_EVENT_COUNTER,
						 .time_ns = 1000 * (uint64_t)i,
						 .value = i % 60 == 59 || i / 60 % 2 ? 1 : -1,
						 .text = {name, (size_t)snprintf(name, sizeof(name), "c%u", i % 60)}});
	}
	return built_finish(builder);
}

static void of_many_counters_a_few_are_drawn(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	assert_int_equal(weft_viewer_show(s.viewer, sixty_counters(), false), 0);
	assert_int_equal(drawn_counters(&s), 12);
	check_link(&s);
	script_draw(&s);
	script_run(&s, "key p"); /* the one that a problem is about is seen */
	assert_int_equal(drawn_counters(&s), 13);
	assert_false(weft__viewer_hides_counter(s.viewer, 59));
	script_run(&s, "command counter 2; command search c40; key n");
	assert_true(weft__viewer_hides_counter(s.viewer, 1));
	assert_int_equal(drawn_counters(&s), 13);
	check_link(&s);
	script_run(&s, "command counters all");
	assert_int_equal(drawn_counters(&s), 60);
	check_link(&s);
	script_run(&s, "command counters all");
	assert_int_equal(drawn_counters(&s), 12);
	script_run(&s, "key space");
	assert_int_equal(drawn_counters(&s), 0);
	check_link(&s);
	script_run(&s, "key space");
	assert_int_equal(drawn_counters(&s), 12);
	script_end(&s);
}

/* ---- Pictures ---- */

/* One picture for each choice of a user. */
static void golden_pictures(void **state)
{
	(void)state;
	static const struct {
		const char *name, *script;
	} pictures[] = {
		{"viewer-phone.txt",
			"size 390 500; command view start=128ms duration=1ms; key m; enter here; key /; "
			"type poll; key Escape; drag 200 200 300 200 shift; move 100 300"},
		{"viewer-task.txt", "size 500 320; command theme dark; command view start=122ms "
							"duration=8ms; command select task:382; key a; wait 200"},
	};
	for (unsigned i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
		struct script s = script_begin(BLOCK_READ, true);
		struct weft_text text = {0};
		script_run(&s, pictures[i].script);
		script_text(&s, &text);
		golden_compare(pictures[i].name, &text);
		weft_text_finish(&text);
		script_end(&s);
	}
}

/* ---- The whole ---- */

static void an_unknown_command_is_refused(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	assert_false(weft_viewer_command(s.viewer, "fitness", s.now_ms));
	assert_non_null(strstr(weft_viewer_status(s.viewer), "fitness"));
	assert_false(weft_viewer_key(s.viewer, "F12", 0, s.now_ms));
	script_end(&s);
}

/* The generated list relies on this: a command begins with its function's name and occurs once, and
 * no two commands have the same key. */
static void the_table_of_commands_is_sound(void **state)
{
	(void)state;
	for (unsigned i = 0; i < weft__command_count; i++) {
		const struct weft__command *row = &weft__commands[i];
		char key[WEFT__KEY_BYTES], other[WEFT__KEY_BYTES];
		unsigned modifiers, others;
		if (!row->command)
			continue;
		assert_ptr_equal(weft__command_row(row->command), row);
		assert_true(strchr(" ", row->command[row->name_size]));
		for (const char *keys = row->keys; weft__next_key(&keys, key, &modifiers);)
			for (unsigned k = i + 1; k < weft__command_count; k++)
				for (const char *rest = weft__commands[k].command ? weft__commands[k].keys : "";
					 weft__next_key(&rest, other, &others);)
					assert_true(strcmp(key, other) != 0 || modifiers != others);
	}
}

static void keys_are_named_for_people(void **state)
{
	static const char *const names[][2] = {{"task left", "Shift + \xe2\x86\x90"}, {"zoom in", "+"},
		{"zoom out", "\xe2\x88\x92"}, {"counters", "space"}, {"open trace", "Ctrl + O"},
		{"escape", "Esc"}, {"help", "?"}, {"close", ""}};
	char name[WEFT__KEY_BYTES];
	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(weft__key_name(weft__command_row(names[i][0]), name), names[i][1]);
}

static void other_keys_of_a_command_run_it(void **state)
{
	struct script s = script_begin(BLOCK_READ, true);
	(void)state;
	assert_true(weft_viewer_key(s.viewer, "f", WEFT_VIEWER_CONTROL, s.now_ms));
	assert_true(weft_viewer_prompt(s.viewer)->is_open);
	script_run(&s, "key Escape");
	assert_true(weft_viewer_key(s.viewer, "F1", 0, s.now_ms));
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Keys");
	script_end(&s);
}

static bool has_item(const struct weft_viewer *viewer, const char *command)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(viewer);
	for (uint32_t i = 0; i < panel->item_count; i++)
		if (strcmp(panel->items[i].command, command) == 0)
			return true;
	return false;
}

static bool theme_request(struct weft_viewer *viewer)
{
	struct weft_viewer_request request;
	assert_true(weft_viewer_next_request(viewer, &request));
	assert_int_equal(request.type, WEFT_VIEWER_THEME);
	assert_string_equal(request.text, "dark");
	return request.start;
}

static void a_links_theme_is_no_choice(void **state)
{
	struct script s = script_begin(BLOCK_READ, true);
	(void)state;
	assert_true(weft_viewer_command(s.viewer, "view theme=dark", s.now_ms));
	assert_false(theme_request(s.viewer));
	assert_true(weft_viewer_command(s.viewer, "theme dark", s.now_ms));
	assert_true(theme_request(s.viewer));
	script_end(&s);
}

static void unknown_parts_of_a_link_are_reported(void **state)
{
	static const char *const links[] = {"view group=planet", "view planet=3", "view task=4000000"};
	struct script s = script_begin(BLOCK_READ, true);
	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		script_run(&s, "command view group=thread");
		assert_null(strstr(weft_viewer_status(s.viewer), "invalid here"));
		assert_true(weft_viewer_command(s.viewer, links[i], s.now_ms));
		assert_non_null(strstr(weft_viewer_status(s.viewer), "invalid here"));
		script_run(&s, "key Escape; move 500 300; wait 5000");
	}
	script_end(&s);
}

static void every_button_has_room_for_a_finger(void **state)
{
	(void)state;
	static const double sizes[][2] = {{1400, 800}, {800, 600}, {480, 700}, {390, 700}, {320, 568}};
	for (unsigned i = 0; i < 10; i++) {
		struct script s = script_begin(BLOCK_READ, true);
		bool is_touched = i >= 5;
		double width = sizes[i % 5][0], least = is_touched || width < 700 ? 40 : 32;
		s.viewer->is_touched = is_touched;
		weft_viewer_resize(s.viewer, width, sizes[i % 5][1], s.now_ms);
		/* Buttons that a short bar leaves out are in the menu. */
		assert_int_equal(s.viewer->toolbar.count, width >= 480 ? 12 : 8);
		weft_viewer_command(s.viewer, "panel menu", s.now_ms);
		assert_int_equal(has_item(s.viewer, "zoom in"), width < 480);
		assert_true(has_item(s.viewer, "help") && has_item(s.viewer, "theme dark"));
		weft_viewer_command(s.viewer, "close", s.now_ms);
		for (uint32_t b = 0; b < s.viewer->toolbar.count; b++) {
			const struct weft_box *box = &s.viewer->toolbar.buttons[b].box;
			assert_true(box->width >= least && box->height >= (is_touched ? 44 : 40));
			assert_true(box->x >= 0 && box->x + box->width <= width);
		}
		script_end(&s);
	}
}

static void times_are_of_the_day_if_the_trace_knows(void **state)
{
	(void)state;
	static const struct {
		uint64_t time;
		struct weft_clock clock;
		const char *text;
	} cases[] = {
		{UINT64_C(1413637708834171000), {.epoch = WEFT_EPOCH_UNIX}, "13:08:28.834171 UTC"},
		{5000000000, {.offset_ns = INT64_C(86400000000000)}, "00:00:05 UTC"},
		{UINT64_C(61000000001), {.epoch = WEFT_EPOCH_UNKNOWN}, "61.000000001 s"},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_model model = {.clock = cases[i].clock};
		char text[48];
		weft__format_clock(&model, cases[i].time, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void a_panel_hides_nothing_of_what_was_seen(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_run(&s, "command help");
	assert_true(weft__viewer_shows_all(s.viewer));
	script_run(&s, "command close");
	assert_true(weft__viewer_shows_all(s.viewer));
	double time = time_under(&s, 600);
	script_run(&s, "click 600 132"); /* what was clicked stays there */
	assert_int_equal(s.viewer->panel.kind, WEFT__PANEL_STORY);
	close_to(time_under(&s, 600), time, 1);
	script_end(&s);
}

static void later_states_keep_what_was_looked_at(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command view start=5ms duration=1ms; command select task:79; wait 10");
	struct weft_view before = s.viewer->view;
	uint32_t task = s.viewer->selection.task;
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), false), 0);
	close_to(s.viewer->view.left, before.left, 1);
	close_to(s.viewer->view.scale, before.scale, before.scale * 1e-9);
	assert_int_equal(s.viewer->selection.task, task);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(ARP_GOOD), false), 0);
	assert_int_equal(s.viewer->selection.task, WEFT_NONE);
	assert_true(weft__viewer_shows_all(s.viewer));
	script_end(&s);
}

/* The first models of a program that has not recorded a task yet are empty. */
static void a_trace_grows_from_nothing(void **state)
{
	(void)state;
	static const struct weft_trace_description description = {
		.format = "test", .clock = {.name = "t"}};
	const struct weft_event create = {.type = WEFT_EVENT_CREATE, .time_ns = 10, .other = 7};
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_model_builder_create(&builder), 0);
	for (uint64_t now = 0; now < 4; now++) {
		struct weft_model *model;
		if (now == 2)
			assert_int_equal(weft_model_builder_add(builder, &create, &diagnostics), 0);
		assert_int_equal(weft_model_builder_snapshot(builder, &description, 10 + now, &model), 0);
		assert_int_equal(weft_viewer_show(s.viewer, model, true), 0);
		assert_int_equal(s.viewer->model->tasks.count, now < 2 ? 0 : 2);
	}
	weft_model_builder_destroy(builder);
	script_end(&s);
}

static void a_trace_that_grows_keeps_rows_and_hands(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), true), 0);
	script_run(&s, "command view start=5ms duration=1ms; key l"); /* pauses */
	struct weft_view before = s.viewer->view;
	uint32_t *rows = malloc(s.viewer->model->tasks.count * sizeof(*rows));
	assert_non_null(rows);
	memcpy(rows, s.viewer->layout->row, s.viewer->model->tasks.count * sizeof(*rows));
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), true), 0);
	assert_memory_equal(rows, s.viewer->layout->row, s.viewer->model->tasks.count * sizeof(*rows));
	close_to(s.viewer->view.left, before.left, 1);
	script_run(&s, "key l");
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), true), 0);
	const struct weft_view *view = &s.viewer->view; /* it follows: the end is in view */
	assert_true(weft_view_x(view, view->end) <= view->width);
	close_to(view->scale, before.scale, before.scale * 1e-9);
	struct weft_viewer_request request;
	unsigned follows = 0;
	while (weft_viewer_next_request(s.viewer, &request))
		follows += request.type == WEFT_VIEWER_FOLLOW;
	assert_int_equal(follows, 2);
	free(rows);
	script_end(&s);
}

static void without_a_trace_words_are_shown(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, false);
	struct weft_text text = {0};
	assert_int_equal(weft_viewer_show_text(s.viewer, "Reading big.weft", 0.4), 0);
	script_run(
		&s, "key z; key p; key Tab; key /; click 600 300; drag 10 10 500 500; wheel 1 1 120");
	script_text(&s, &text);
	weft_text_add(&text, "", 1);
	assert_non_null(strstr(text.bytes, "Reading big.weft"));
	assert_string_equal(weft_viewer_status(s.viewer), "Reading big.weft");
	/* Long messages wrap; a word that is too long has its own line. */
	script_run(&s, "size 200 400");
	weft_viewer_show_text(s.viewer,
		"  many words that need more than one line, averylongwordthatfitsinnolineofthiswindow and on ",
		-1);
	text.size = 0;
	script_text(&s, &text);
	weft_text_add(&text, "", 1);
	assert_non_null(strstr(text.bytes, "\"averylongwordthatfitsinnolineofthiswindow\""));
	weft_text_finish(&text);
	script_end(&s);
}

static void check_bounds(const struct script *s)
{
	const struct weft_view *view = &s->viewer->view;
	double length = (double)(view->end - view->start), margin = WEFT_VIEW_MARGIN / view->scale;
	assert_true(view->scale > 0 && isfinite(view->left));
	assert_true(view->left >= -margin * 1.000001 - 1e-6);
	if (view->width > 2 * WEFT_VIEW_MARGIN + 1)
		assert_true(view->left + view->width / view->scale <=
					(length + margin) * 1.000001 + 2 + 40 / view->scale);
	assert_true(view->focus >= 0 && view->focus < view->row_count + 1.0);
}

static void random_step(struct script *s)
{
	static const char *const keys[] = {"+", "-", "z", "0", "[", "]", "Escape", "Tab", "Enter", "w",
		"b", "c", "a", "p", "P", "n", "N", "v", "m", "M", " ", "C", "g", "e", "y", "Y", "T", "?",
		"ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "s", "d", "/", "f", "F", "G", "i", "R",
		"r"};
	static const char *const texts[] = {
		"12ms", "1", "Xs", "/[", "/X.*", "", "@5", "40ns", "bind", "-kind:bind"};
	double x = pick(1500) - 50.0, y = pick(900) - 50.0;
	switch (pick(8)) {
	case 0:
		weft_viewer_wheel(
			s->viewer, x, y, pick(300) - 150.0, pick(3000) - 1500.0, pick(8), s->now_ms);
		break;
	case 1:
	case 2:
		weft_viewer_key(s->viewer, keys[pick(sizeof(keys) / sizeof(keys[0]))],
			pick(3) ? 0 : WEFT_VIEWER_SHIFT, s->now_ms);
		break;
	case 3:
		weft_viewer_prompt_text(
			s->viewer, texts[pick(sizeof(texts) / sizeof(texts[0]))], pick(2), s->now_ms);
		break;
	case 4:
		script_wait(s, pick(300));
		break;
	case 5:
		weft_viewer_resize(s->viewer, 1 + pick(1600), 1 + pick(1000), s->now_ms);
		break;
	default:
		script_point(s, (uint8_t)pick(5), x, y, (int)pick(3), pick(8));
	}
}

static void random_hands_never_leave_the_trace(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, false);
	for (unsigned i = 0; i < 6000; i++) {
		random_step(&s);
		check_bounds(&s);
		if (i % 40 == 0)
			script_draw(&s);
	}
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wheel_zooms_at_the_pointer),
		cmocka_unit_test(wheels_with_shift_and_alt_move_time_and_rows),
		cmocka_unit_test(a_drag_keeps_time_and_row_under_the_pointer),
		cmocka_unit_test(a_throw_goes_on_and_stops_on_touch),
		cmocka_unit_test(two_fingers_zoom_and_move),
		cmocka_unit_test(a_long_press_points),
		cmocka_unit_test(views_are_gone_back_to_and_forward),
		cmocka_unit_test(exact_times_are_asked_for),
		cmocka_unit_test(times_are_read_back_as_written),
		cmocka_unit_test(the_overview_is_a_window),
		cmocka_unit_test(plain_rows_are_scrolled),
		cmocka_unit_test(hits_are_the_nearest_tasks),
		cmocka_unit_test(each_drawn_line_is_hit_in_its_middle),
		cmocka_unit_test(a_pointer_that_rests_shows_what_is_there),
		cmocka_unit_test(a_message_stays_until_the_pointer_moves),
		cmocka_unit_test(a_click_selects_and_opens_its_story),
		cmocka_unit_test(every_link_of_every_panel_is_followed),
		cmocka_unit_test(keys_go_along_edges_and_back),
		cmocka_unit_test(tab_reaches_the_first_edge_of_the_trace),
		cmocka_unit_test(drawn_controls_are_listed),
		cmocka_unit_test(tab_leaves_after_the_last_edge),
		cmocka_unit_test(a_range_is_chosen_by_keys),
		cmocka_unit_test(arrows_with_shift_step_through_tasks),
		cmocka_unit_test(a_double_click_shows_what_belongs_together),
		cmocka_unit_test(problems_are_stepped_through),
		cmocka_unit_test(problems_are_seen_before_they_are_asked_for),
		cmocka_unit_test(the_longest_comes_first),
		cmocka_unit_test(matches_are_stepped_through),
		cmocka_unit_test(a_range_snaps_and_is_measured),
		cmocka_unit_test(bookmarks_are_saved_as_they_are_loaded),
		cmocka_unit_test(bookmarks_are_changed_and_removed),
		cmocka_unit_test(a_link_leads_to_the_same_view),
		cmocka_unit_test(a_command_line_is_quoted_for_the_shell),
		cmocka_unit_test(counters_are_chosen),
		cmocka_unit_test(of_many_counters_a_few_are_drawn),
		cmocka_unit_test(a_trace_grows_from_nothing),
		cmocka_unit_test(a_trace_that_grows_keeps_rows_and_hands),
		cmocka_unit_test(golden_pictures),
		cmocka_unit_test(an_unknown_command_is_refused),
		cmocka_unit_test(the_table_of_commands_is_sound),
		cmocka_unit_test(keys_are_named_for_people),
		cmocka_unit_test(other_keys_of_a_command_run_it),
		cmocka_unit_test(every_button_has_room_for_a_finger),
		cmocka_unit_test(a_links_theme_is_no_choice),
		cmocka_unit_test(unknown_parts_of_a_link_are_reported),
		cmocka_unit_test(times_are_of_the_day_if_the_trace_knows),
		cmocka_unit_test(a_panel_hides_nothing_of_what_was_seen),
		cmocka_unit_test(later_states_keep_what_was_looked_at),
		cmocka_unit_test(without_a_trace_words_are_shown),
		cmocka_unit_test(random_hands_never_leave_the_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
