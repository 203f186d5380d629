/* SPDX-License-Identifier: ISC
 *
 * A viewer of a trace that grows: the pill that says how far behind it is, and the window that
 * stays at the newest events.
 */
#include <weft/refresh.h>

#include "viewer_sample.h"

#define SECOND UINT64_C(1000000000)

/* A trace that begins at 10 s of its clock. */
struct growing {
	struct script s;
	struct weft_model_builder *builder;
	struct weft_diagnostics diagnostics;
	uint64_t now_ns;
};

static const struct weft_trace_description description = {.format = "test", .clock = {.name = "t"}};

static void add(struct growing *g, enum weft_event_type type, uint64_t task, uint64_t other)
{
	const struct weft_event event = {
		.type = type, .time_ns = g->now_ns, .task = task, .other = other};
	assert_int_equal(weft_model_builder_add(g->builder, &event, &g->diagnostics), 0);
}

/* Lets `ns` pass, and then shows all events. */
static void show_after(struct growing *g, uint64_t ns)
{
	struct weft_model *model;
	g->now_ns += ns;
	add(g, WEFT_EVENT_SWITCH, 1 + g->now_ns / SECOND % 2, WEFT_TASK_NONE);
	assert_int_equal(weft_model_builder_snapshot(g->builder, &description, 0, &model), 0);
	assert_int_equal(weft_viewer_show(g->s.viewer, model, true), 0);
}

static struct growing begin(void)
{
	struct growing g = {.s = script_begin(NULL, true), .now_ns = 10 * SECOND};
	assert_int_equal(weft_model_builder_create(&g.builder), 0);
	add(&g, WEFT_EVENT_CREATE, WEFT_TASK_NONE, 1);
	add(&g, WEFT_EVENT_CREATE, WEFT_TASK_NONE, 2);
	show_after(&g, SECOND);
	return g;
}

static void end(struct growing *g)
{
	weft_model_builder_destroy(g->builder);
	script_end(&g->s);
}

static const struct weft__button *pill_of(struct weft_viewer *viewer)
{
	for (uint32_t i = 0; i < viewer->toolbar.count; i++)
		if (viewer->toolbar.buttons[i].is_pill)
			return &viewer->toolbar.buttons[i];
	return NULL;
}

static void expect_pill(struct growing *g, const char *text)
{
	const struct weft__button *pill = pill_of(g->s.viewer);
	assert_non_null(pill);
	assert_string_equal(pill->text, text);
	script_draw(&g->s);
}

static void expect_control(struct growing *g, bool is_off)
{
	const struct weft__button *pill = pill_of(g->s.viewer);
	uint32_t count, found = 0;
	const struct weft_viewer_control *list = weft_viewer_controls(g->s.viewer, &count);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(list[i].command, "follow") == 0) {
			assert_memory_equal(&list[i].box, &pill->box, sizeof(pill->box));
			assert_int_equal(list[i].is_off, is_off);
			found++;
		}
	assert_int_equal(found, 1);
}

/* ---- The pill ---- */

static void a_trace_that_is_not_recorded_has_no_pill(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	assert_null(pill_of(s.viewer));
	script_run(&s, "size 1400 800");
	assert_null(pill_of(s.viewer));
	script_end(&s);
}

static void the_pill_says_how_far_behind_the_picture_is(void **state)
{
	(void)state;
	struct growing g = begin();
	expect_pill(&g, "live"); /* nobody has told the time */
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	script_wait(&g.s, 900);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind"); /* only the shell knows what has come since */
	weft_viewer_complete(g.s.viewer, g.now_ns + SECOND * 8 / 10, g.s.now_ms, false);
	expect_pill(&g, "live \xc2\xb7 0.9 s behind"); /* known, but not shown */
	show_after(&g, SECOND * 8 / 10);
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	end(&g);
}

/* Events that the shell has not reported as shown, but that are in the model. */
static void a_model_is_shown_up_to_its_last_event(void **state)
{
	(void)state;
	struct growing g = begin();
	weft_viewer_complete(g.s.viewer, g.now_ns + SECOND * 5 / 10, g.s.now_ms, false);
	expect_pill(&g, "live \xc2\xb7 0.5 s behind");
	show_after(&g, SECOND * 5 / 10);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	end(&g);
}

/* A silent program has nothing that is missing in the picture. */
static void silence_is_no_delay(void **state)
{
	(void)state;
	struct growing g = begin();
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	script_wait(&g.s, 20e3);
	weft_viewer_complete(g.s.viewer, g.now_ns + 20 * SECOND, g.s.now_ms, true);
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	end(&g);
}

/* If the shell says nothing more, the delay goes on in whole seconds. */
static void a_lost_connection_is_seen(void **state)
{
	(void)state;
	struct growing g = begin();
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	script_draw(&g.s);
	assert_true(weft_viewer_advance(g.s.viewer, g.s.now_ms) <= 1000);
	weft_viewer_changes(g.s.viewer);
	script_wait(&g.s, 2500);
	expect_pill(&g, "live \xc2\xb7 2.0 s behind");
	assert_true(weft_viewer_changes(g.s.viewer) & WEFT_VIEWER_CANVAS);
	script_wait(&g.s, 30e3);
	expect_pill(&g, "live \xc2\xb7 32 s behind");
	script_wait(&g.s, 100e3);
	expect_pill(&g, "live \xc2\xb7 2 min behind");
	end(&g);
}

/* The clocks of trace and shell may differ by 1 in 10,000. */
static void clocks_that_differ_add_no_delay(void **state)
{
	(void)state;
	struct growing g = begin();
	for (unsigned minute = 0; minute < 600; minute++) {
		g.now_ns += 60 * SECOND - SECOND * 6 / 1000;
		g.s.now_ms += 60e3;
		weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	}
	expect_pill(&g, "live \xc2\xb7 0.1 s behind");
	end(&g);
}

/* The oldest report that was on its way for the shortest time counts. */
static void a_report_that_comes_late_does_not_hide_the_delay(void **state)
{
	(void)state;
	struct growing g = begin();
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	script_wait(&g.s, 5e3);
	weft_viewer_complete(g.s.viewer, g.now_ns + SECOND, g.s.now_ms, true);
	expect_pill(&g, "live \xc2\xb7 4.0 s behind");
	end(&g);
}

static void a_click_on_the_pill_pauses_and_goes_on(void **state)
{
	(void)state;
	struct growing g = begin();
	struct weft_viewer_request request;
	weft_viewer_complete(g.s.viewer, g.now_ns, g.s.now_ms, true);
	for (int i = 0; i < 4; i++) {
		const struct weft_box box = pill_of(g.s.viewer)->box;
		expect_control(&g, false);
		script_click(&g.s, box.x + box.width - 8, box.y + box.height / 2, 0);
		expect_pill(&g, i % 2 ? "live \xc2\xb7 0.1 s behind" : "paused");
		assert_true(weft_viewer_next_request(g.s.viewer, &request));
		assert_int_equal(request.type, WEFT_VIEWER_FOLLOW);
		assert_int_equal(request.start, i % 2);
		assert_non_null(strstr(pill_of(g.s.viewer)->tip, i % 2 ? "pause ( l )" : "go on ( l )"));
	}
	end(&g);
}

/* The user's problem, or what was searched for, stays in view. */
static void going_to_a_problem_or_match_pauses(void **state)
{
	(void)state;
	static const char *const ways[] = {"key p", "command search wait; command match next"};
	struct weft_viewer_request request;
	for (unsigned i = 0; i < 2; i++) {
		struct growing g = begin();
		add(&g, WEFT_EVENT_CREATE, WEFT_TASK_NONE, 3);
		add(&g, WEFT_EVENT_CREATE, WEFT_TASK_NONE, 4);
		add(&g, WEFT_EVENT_TRY_READ, 3, 4);
		add(&g, WEFT_EVENT_TRY_READ, 4, 3);
		show_after(&g, SECOND);
		script_run(&g.s, ways[i]);
		script_wait(&g.s, 1000);
		expect_pill(&g, "paused");
		assert_true(weft_viewer_next_request(g.s.viewer, &request));
		assert_int_equal(request.type, WEFT_VIEWER_FOLLOW);
		assert_int_equal(request.start, 0);
		end(&g);
	}
}

static void the_end_of_the_program_stays_said(void **state)
{
	(void)state;
	struct growing g = begin();
	struct weft_model *model;
	add(&g, WEFT_EVENT_RESOLVE, 1, 2);
	assert_int_equal(weft_model_builder_finish(g.builder, &description, &model), 0);
	assert_int_equal(weft_viewer_show(g.s.viewer, model, false), 0);
	expect_pill(&g, "ended");
	expect_control(&g, true);
	script_wait(&g.s, 9e3);
	assert_true(isinf(weft_viewer_advance(g.s.viewer, g.s.now_ms)));
	assert_int_equal(weft_viewer_show(g.s.viewer, sample_model(BLOCK_READ), false), 0);
	assert_null(pill_of(g.s.viewer));
	end(&g);
}

static void the_pill_stands_clear_of_title_and_buttons(void **state)
{
	(void)state;
	static const double sizes[][2] = {{1400, 800}, {900, 400}, {700, 150}, {360, 640}, {200, 90}};
	struct growing g = begin();
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		weft_viewer_resize(g.s.viewer, sizes[i][0], sizes[i][1], g.s.now_ms);
		const struct weft__button *pill = pill_of(g.s.viewer);
		assert_int_equal(pill != NULL, i < 4);
		for (uint32_t k = 0; pill && k < g.s.viewer->toolbar.count; k++) {
			const struct weft_box *a = &pill->box, *b = &g.s.viewer->toolbar.buttons[k].box;
			assert_true(&g.s.viewer->toolbar.buttons[k] == pill || a->x + a->width <= b->x ||
						b->x + b->width <= a->x || a->y + a->height <= b->y);
		}
		if (pill)
			assert_true(g.s.viewer->frame.title.width <= pill->box.x);
	}
	end(&g);
}

/* ---- The window at the newest events ---- */

static void expect_window(struct growing *g, double seconds, bool is_at_end)
{
	const struct weft_view *view = weft__viewer_wanted(g->s.viewer);
	close_to(weft__view_duration(view) / 1e9, seconds, seconds * 1e-6);
	double end = weft_view_x(view, view->end);
	assert_int_equal(fabs(end - (view->width - WEFT_VIEW_MARGIN)) < 0.01, is_at_end);
}

static void the_newest_seconds_stay_in_view(void **state)
{
	(void)state;
	static const struct {
		const char *input;
		double seconds;
	} windows[] = {{"key L", 5}, {"command last 1s", 1}, {"command last 30s", 30},
		{"command last 250ms", 0.25}};
	struct growing g = begin();
	show_after(&g, 60 * SECOND);
	for (unsigned i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		script_run(&g.s, windows[i].input);
		expect_window(&g, windows[i].seconds, true);
		show_after(&g, 3 * SECOND);
		expect_window(&g, windows[i].seconds, true);
		script_run(&g.s, "size 800 500; command panel problems");
		expect_window(&g, windows[i].seconds, true);
		show_after(&g, 3 * SECOND);
		expect_window(&g, windows[i].seconds, true);
		script_run(&g.s, "size 1400 800; command close");
	}
	end(&g);
}

/* A trace that is shorter than the window is shown as a whole until it is longer. */
static void a_window_may_be_longer_than_the_trace(void **state)
{
	(void)state;
	struct growing g = begin();
	script_run(&g.s, "command last 5s");
	for (unsigned second = 1; second < 12; second++) {
		show_after(&g, SECOND);
		expect_window(&g, second + 1 < 5 ? second + 1 : 5, true);
	}
	end(&g);
}

static void zooming_and_the_key_end_the_window(void **state)
{
	(void)state;
	static const char *const ends[] = {
		"key +", "key L", "command last off", "command fit", "command view start=1s duration=2s"};
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct growing g = begin();
		show_after(&g, 60 * SECOND);
		script_run(&g.s, "key L");
		script_run(&g.s, ends[i]);
		script_run(&g.s, "command zoom in");
		double length = weft__view_duration(weft__viewer_wanted(g.s.viewer));
		show_after(&g, 3 * SECOND);
		assert_false(weft__is_lasting(g.s.viewer, ""));
		close_to(weft__view_duration(weft__viewer_wanted(g.s.viewer)), length, length * 1e-6);
		end(&g);
	}
}

/* Pausing lets the user look at other times; the window goes on afterwards. */
static void a_pause_keeps_the_window_for_later(void **state)
{
	(void)state;
	struct growing g = begin();
	show_after(&g, 60 * SECOND);
	script_run(&g.s, "key L; key l; key ArrowLeft; key ArrowLeft");
	show_after(&g, 3 * SECOND);
	expect_window(&g, 5, false);
	script_run(&g.s, "key l");
	show_after(&g, 3 * SECOND);
	expect_window(&g, 5, true);
	script_run(&g.s, "key l; command last 1s"); /* a new window follows at once */
	assert_true(g.s.viewer->is_following);
	show_after(&g, 3 * SECOND);
	expect_window(&g, 1, true);
	end(&g);
}

static void a_link_has_the_window(void **state)
{
	(void)state;
	struct growing g = begin();
	show_after(&g, 60 * SECOND);
	script_run(&g.s, "command view last=2s task=1");
	expect_window(&g, 2, true);
	show_after(&g, 3 * SECOND);
	expect_window(&g, 2, true);
	const char *link = weft_viewer_link(g.s.viewer);
	assert_non_null(strstr(link, " last=2s "));
	assert_null(strstr(link, " start="));
	script_run(&g.s, "key +");
	assert_null(strstr(weft_viewer_link(g.s.viewer), "last="));
	end(&g);
}

/* In a trace that does not grow, the command shows its end. */
static void the_last_seconds_of_a_file_are_shown(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command last 10ms");
	const struct weft_view *view = weft__viewer_wanted(s.viewer);
	close_to(weft__view_duration(view), 1e7, 10);
	close_to(weft_view_x(view, view->end), view->width - WEFT_VIEW_MARGIN, 0.01);
	assert_non_null(strstr(weft_viewer_link(s.viewer), " start="));
	script_run(&s, "command last soon");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "such as 5s"));
	script_end(&s);
}

/* ---- Problems while the trace grows ---- */

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

static void signal(struct growing *g, uint64_t task, uint64_t by)
{
	const struct weft_event event = {
		.type = WEFT_EVENT_SIGNAL, .time_ns = g->now_ns, .task = task, .other = by, .flag = true};
	assert_int_equal(weft_model_builder_add(g->builder, &event, &g->diagnostics), 0);
}

static void create(struct growing *g, uint64_t by, uint64_t task, uint16_t kind)
{
	const struct weft_event event = {
		.type = WEFT_EVENT_CREATE, .time_ns = g->now_ns, .task = by, .other = task, .kind = kind};
	assert_int_equal(weft_model_builder_add(g->builder, &event, &g->diagnostics), 0);
}

static void switch_to(struct growing *g, uint64_t task)
{
	add(g, WEFT_EVENT_SWITCH, task, WEFT_TASK_NONE);
}

static void show_now(struct growing *g)
{
	struct weft_model *model;
	assert_int_equal(weft_model_builder_snapshot(g->builder, &description, 0, &model), 0);
	assert_int_equal(weft_viewer_show(g->s.viewer, model, true), 0);
	script_draw(&g->s);
}

/* A condition is signalled just before task 13 waits for it. */
static struct growing begin_with_lost_signal(void)
{
	struct growing g = begin();
	create(&g, WEFT_TASK_NONE, 11, WEFT_KIND_CONDITION);
	create(&g, WEFT_TASK_NONE, 12, WEFT_KIND_TASK);
	g.now_ns += MS;
	signal(&g, 11, 12);
	g.now_ns += US;
	switch_to(&g, 1);
	g.now_ns += 3 * US;
	signal(&g, 11, 1);
	create(&g, 11, 13, WEFT_KIND_WAIT);
	g.now_ns += US;
	switch_to(&g, 1);
	g.now_ns += 1000 * MS;
	switch_to(&g, 12);
	show_now(&g);
	script_wait(&g.s, 100);
	assert_non_null(g.s.viewer->problems.found);
	return g;
}

/* The item of the panel whose text begins with these words, or NULL. */
static const struct weft_viewer_item *item_of(struct growing *g, const char *words)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(g->s.viewer);
	for (uint32_t i = 0; i < panel->item_count; i++)
		if (strncmp(panel->items[i].text, words, strlen(words)) == 0)
			return &panel->items[i];
	return NULL;
}

static const char lost[] = "wait 13 waits in vain";
static const char withdrawn[] = "Withdrawn: wait 13 waits in vain";

static void problems_stay_while_the_trace_grows(void **state)
{
	(void)state;
	struct growing g = begin_with_lost_signal();
	script_run(&g.s, "key p; command panel problems");
	uint32_t current = g.s.viewer->problems.current;
	assert_int_equal(current, 0);
	for (unsigned i = 0; i < 8; i++) {
		g.now_ns += 100 * MS;
		switch_to(&g, 1);
		show_now(&g);
		const struct weft_viewer_item *item = item_of(&g, lost);
		assert_non_null(item);
		assert_true(item->is_selected && item->role == WEFT_VIEWER_ROLE_FAILED);
		assert_non_null(weft__viewer_marked_problem(g.s.viewer));
		script_wait(&g.s, 1000); /* some of them search again */
	}
	assert_null(item_of(&g, withdrawn));
	end(&g);
}

static void what_is_no_longer_wrong_is_withdrawn(void **state)
{
	(void)state;
	struct growing g = begin_with_lost_signal();
	struct weft_model *model;
	script_run(&g.s, "key p; command panel problems");
	signal(&g, 11, 12);
	add(&g, WEFT_EVENT_RESOLVE, 11, 13);
	g.now_ns += MS;
	switch_to(&g, 1);
	show_now(&g);
	script_wait(&g.s, 3100);
	const struct weft_viewer_item *item = item_of(&g, withdrawn);
	assert_null(item_of(&g, lost));
	assert_non_null(item);
	assert_int_equal(item->role, WEFT_VIEWER_ROLE_DIM);
	assert_null(weft__viewer_marked_problem(g.s.viewer));
	script_run(&g.s, "command select task:1 0s");
	assert_true(weft_viewer_command(g.s.viewer, item_of(&g, withdrawn)->command, g.s.now_ms));
	assert_int_equal(g.s.viewer->model->tasks.id[g.s.viewer->selection.task], 13);
	/* It stays when the program has ended, and is forgotten with the trace. */
	assert_int_equal(weft_model_builder_finish(g.builder, &description, &model), 0);
	assert_int_equal(weft_viewer_show(g.s.viewer, model, false), 0);
	script_run(&g.s, "command panel problems; wait 100; command panel problems");
	assert_non_null(item_of(&g, withdrawn));
	assert_int_equal(weft_viewer_show(g.s.viewer, sample_model(BLOCK_READ), false), 0);
	script_wait(&g.s, 100);
	assert_null(item_of(&g, "Withdrawn"));
	end(&g);
}

/* A problem that is found again is no longer withdrawn. */
static void a_withdrawn_problem_may_come_back(void **state)
{
	(void)state;
	struct growing g = begin_with_lost_signal();
	struct weft_problems none = {.count = 0};
	struct weft_problems *found = g.s.viewer->problems.found;
	script_run(&g.s, "command panel problems");
	for (unsigned i = 0; i < 3; i++) {
		weft__viewer_known_note(g.s.viewer, i % 2 ? found : &none);
		g.s.viewer->panel.is_stale = true;
		script_wait(&g.s, 16);
		assert_int_equal(item_of(&g, withdrawn) != NULL, i % 2 == 0);
	}
	end(&g);
}

/* One of several similar findings is named, perhaps another one than before: then the former is not
 * withdrawn. */
static void a_finding_that_joins_others_is_not_withdrawn(void **state)
{
	(void)state;
	struct growing g = begin_with_lost_signal();
	struct weft_problem worse = g.s.viewer->problems.found->list[0];
	const struct weft_problem_period periods[] = {{worse.start, worse.end}, {g.now_ns, g.now_ns}};
	const uint32_t order = 0;
	worse.task = 0;
	worse.start = worse.end = g.now_ns;
	worse.count = worse.period_count = 2;
	worse.first_period = 0;
	struct weft_problems problems = {
		.count = 1, .list = &worse, .periods = periods, .by_gravity = &order};
	script_run(&g.s, "command panel problems");
	for (uint32_t count = 2; count > 0; count--) { /* all, then only the worse one */
		worse.count = worse.period_count = count;
		problems.periods = periods + 2 - count;
		weft__viewer_known_note(g.s.viewer, g.s.viewer->problems.found);
		weft__viewer_known_note(g.s.viewer, &problems);
		g.s.viewer->panel.is_stale = true;
		script_wait(&g.s, 16);
		assert_int_equal(item_of(&g, withdrawn) != NULL, count == 1);
	}
	end(&g);
}

/* A search takes more steps than a state is shown, and goes on with the state it began with. */
static void a_search_goes_on_while_the_trace_grows(void **state)
{
	(void)state;
	struct growing g = begin();
	for (uint64_t task = 100; task < 90100; task++) {
		g.now_ns += US;
		create(&g, 1, task, WEFT_KIND_TASK);
		add(&g, WEFT_EVENT_RESOLVE, 2, task);
	}
	show_now(&g);
	unsigned steps = 0, kept = 0;
	for (; !g.s.viewer->problems.found; steps++) {
		g.s.now_ms += 16;
		double wait_ms = weft_viewer_advance(g.s.viewer, g.s.now_ms);
		assert_true(wait_ms == 0 || g.s.viewer->problems.found);
		struct weft__survey *survey = g.s.viewer->survey;
		show_after(&g, MS);
		script_draw(&g.s);
		assert_ptr_equal(g.s.viewer->survey, survey);
		kept += survey != NULL;
		assert_true(steps < 1000);
	}
	assert_true(kept > 4);
	assert_true(g.s.viewer->problems.is_old);
	assert_true(weft_viewer_advance(g.s.viewer, g.s.now_ms) > 0); /* the next one is not due yet */
	assert_null(g.s.viewer->survey);
	script_wait(&g.s, 3100);
	assert_true(g.s.viewer->survey || !g.s.viewer->problems.is_old);
	script_run(&g.s, "command fold all"); /* other rows, in the middle of a search */
	script_wait(&g.s, 1000);
	assert_false(g.s.viewer->problems.is_old);
	show_after(&g, MS);
	script_draw(&g.s);
	script_wait(&g.s, 3016);
	end(&g); /* also in the middle of one */
}

/* After a search that took long the pause is longer; a hidden window does not count. */
static void long_searches_are_rare(void **state)
{
	(void)state;
	static const double took_ms[] = {0, 500, 2000, 3600e3}, pauses_ms[] = {3000, 3000, 8000, 20000};
	for (unsigned i = 0; i < sizeof(took_ms) / sizeof(took_ms[0]); i++) {
		struct growing g = begin();
		script_draw(&g.s);
		script_wait(&g.s, 100);
		assert_false(g.s.viewer->problems.is_old);
		double found_ms = g.s.viewer->problems.pulse_ms;
		g.s.viewer->problems.took_ms = took_ms[i];
		show_after(&g, MS);
		script_draw(&g.s);
		script_wait(&g.s, found_ms + pauses_ms[i] - g.s.now_ms);
		assert_true(g.s.viewer->problems.is_old);
		script_wait(&g.s, 16);
		assert_false(g.s.viewer->problems.is_old);
		end(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_that_is_not_recorded_has_no_pill),
		cmocka_unit_test(the_pill_says_how_far_behind_the_picture_is),
		cmocka_unit_test(a_model_is_shown_up_to_its_last_event),
		cmocka_unit_test(silence_is_no_delay),
		cmocka_unit_test(a_lost_connection_is_seen),
		cmocka_unit_test(clocks_that_differ_add_no_delay),
		cmocka_unit_test(a_report_that_comes_late_does_not_hide_the_delay),
		cmocka_unit_test(a_click_on_the_pill_pauses_and_goes_on),
		cmocka_unit_test(going_to_a_problem_or_match_pauses),
		cmocka_unit_test(the_end_of_the_program_stays_said),
		cmocka_unit_test(the_pill_stands_clear_of_title_and_buttons),
		cmocka_unit_test(the_newest_seconds_stay_in_view),
		cmocka_unit_test(a_window_may_be_longer_than_the_trace),
		cmocka_unit_test(zooming_and_the_key_end_the_window),
		cmocka_unit_test(a_pause_keeps_the_window_for_later),
		cmocka_unit_test(a_link_has_the_window),
		cmocka_unit_test(the_last_seconds_of_a_file_are_shown),
		cmocka_unit_test(problems_stay_while_the_trace_grows),
		cmocka_unit_test(what_is_no_longer_wrong_is_withdrawn),
		cmocka_unit_test(a_withdrawn_problem_may_come_back),
		cmocka_unit_test(a_finding_that_joins_others_is_not_withdrawn),
		cmocka_unit_test(a_search_goes_on_while_the_trace_grows),
		cmocka_unit_test(long_searches_are_rare),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
