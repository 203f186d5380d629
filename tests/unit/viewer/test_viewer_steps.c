/* SPDX-License-Identifier: ISC
 *
 * Scripts of commands and gestures (viewer_script.h), each with the state that it leaves, in
 * tests/data/golden/viewer-steps.txt. Texts that people read are not in it.
 */
#include "viewer_sample.h"

#include "golden.h"

static const char *name_of_panel(enum weft__panel_kind kind)
{
	static const char *const names[WEFT__PANELS] = {"none", "story", "chain", "problems", "search",
		"counters", "rows", "marks", "help", "menu", "export", "stats"};
	return names[kind];
}

__attribute__((format(printf, 2, 3))) static void add(
	struct weft_text *text, const char *format, ...)
{
	char line[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	weft_text_add_string(text, line);
}

static void add_selection(struct weft_text *text, const struct weft_viewer *viewer)
{
	const struct weft__selection *s = &viewer->selection;
	if (s->task == WEFT_NONE)
		return;
	add(text, "  task %d", (int)viewer->model->tasks.id[s->task]);
	if (s->edge != WEFT_NONE)
		add(text, ", edge %d", (int)s->edge);
	if (s->related_count)
		add(text, ", %d related", (int)s->related_count);
	add(text, "\n");
}

static void add_chosen(struct weft_text *text, const struct weft_viewer *viewer)
{
	const struct weft__range *range = &viewer->range;
	if (range->is_set)
		add(text, "  range %d to %d\n", (int)(range->from - viewer->view.start),
			(int)(range->to - viewer->view.start));
	if (range->is_armed)
		add(text, "  range armed\n");
	for (size_t i = 0; i < viewer->marks.count; i++)
		add(text, "  mark%s %d '%s'\n", i == viewer->marks.current ? "*" : "",
			(int)(viewer->marks.list[i].time - viewer->view.start), viewer->marks.list[i].text);
	if (viewer->search.text)
		add(text, "  search '%s'%s, match %d\n", viewer->search.text,
			viewer->search.is_expression ? " as expression" : "", (int)viewer->search.match);
}

static void add_window(struct weft_text *text, struct weft_viewer *viewer)
{
	const struct weft_viewer_prompt *prompt = weft_viewer_prompt(viewer);
	if (viewer->panel.kind)
		add(text, "  panel %s%s\n", name_of_panel(viewer->panel.kind),
			weft_viewer_panel(viewer)->item_count ? "" : ", empty");
	if (prompt->is_open)
		add(text, "  prompt %d '%s'%s\n", (int)viewer->prompt.asked, prompt->text,
			prompt->is_error ? ", wrong" : "");
	if (viewer->theme)
		add(text, "  theme %s\n", weft_theme_name(viewer->theme));
	if (viewer->clock_times || viewer->counters.are_hidden || viewer->counters.are_rates)
		add(text, "  clock %d, hidden counters %d, rates %d\n", viewer->clock_times,
			viewer->counters.are_hidden, viewer->counters.are_rates);
}

static void add_requests(struct weft_text *text, struct weft_viewer *viewer)
{
	struct weft_viewer_request request;
	uint64_t start = viewer->model ? viewer->view.start : 0;
	while (weft_viewer_next_request(viewer, &request)) {
		bool is_cut = request.type == WEFT_VIEWER_SAVE_CUT;
		add(text, "  request %d '", request.type);
		for (const char *c = request.text; *c; c++) /* in one line */
			weft_text_add(text, *c == '\n' ? "|" : c, 1);
		add(text, "' %d %d\n", (int)(request.start - (is_cut ? start : 0)),
			(int)(request.end - (is_cut ? start : 0)));
	}
}

/* The state after a script: the link, then what is not in the link. */
static void add_state(struct weft_text *text, const char *script, struct script *s)
{
	unsigned changes = weft_viewer_changes(s->viewer);
	add(text, "%s\n", script);
	add(text, "  %s\n", weft_viewer_link(s->viewer));
	if (s->viewer->model)
		add_selection(text, s->viewer);
	add_chosen(text, s->viewer);
	add_window(text, s->viewer);
	add_requests(text, s->viewer);
	add(text, "  %s%s\n", changes & WEFT_VIEWER_CANVAS ? "drawn" : "not drawn",
		weft_viewer_status(s->viewer)[0] ? ", with a status" : "");
}

/* In one frame. */
static void let_pass(struct script *s, double ms)
{
	s->now_ms += ms;
	weft_viewer_advance(s->viewer, s->now_ms);
}

static struct script begin(const char *trace, bool is_live)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(trace), is_live), 0);
	let_pass(&s, 3000);
	weft_viewer_changes(s.viewer);
	return s;
}

static const char *const scripts[] = {
	/* The view. */
	"command fit",
	"command view start=128ms duration=1ms; command pan left",
	"command view start=128ms duration=1ms; command pan right",
	"command view start=128ms duration=1ms; command pan up",
	"command view start=128ms duration=1ms; command pan down",
	"command zoom in",
	"command zoom in; command zoom in; command zoom out",
	"command select task:382; command zoom selection",
	"command view start=128ms duration=1ms; command stretch begin left",
	"command view start=128ms duration=1ms; command stretch begin right",
	"command view start=128ms duration=1ms; command stretch end left",
	"command view start=128ms duration=1ms; command stretch end right",
	"command back",
	"command forward",
	"command view start=128ms duration=1ms; wait 300; command back",
	"command view start=128ms duration=1ms; wait 300; command back; wait 300; command forward",
	"command start",
	"command start; enter 5ms",
	"command start; enter nothing",
	"command duration",
	"command duration; enter 2ms",
	"command view nothing=5",
	"command goto 100ms",
	"command select task:382; command goto 128ms",
	/* Rows. */
	"command rows",
	"command rows plain; command rows",
	"command rows lens",
	"command fold all",
	"command fold all off",
	"command fold all off; command fold all",
	"command fold all off; command fold all on",
	"command simplify",
	"command simplify on",
	"command simplify off",
	"command simplify off; command simplify",
	"command group",
	"command group; command group",
	"command group; command group; command group",
	"command group thread",
	"command group process",
	"command group process; command group none",
	"command group thread; command group 1",
	"command group thread; command group 0",
	"command group thread; command group 2",
	"command filter",
	"command filter kind:bind",
	"command filter kind:bind; command filter",
	"command filter kind:bind; command filter off",
	"command filter; type kind:; type kind:bind; enter kind:bind",
	"command hide kind",
	"command select task:382; command hide kind",
	"command filter label:store; command select task:382; command hide kind",
	"command repack",
	/* Tasks. */
	"command select task:382",
	"command select task:382 128ms",
	"command select task:382; command select none",
	"command select task:999999",
	"command select task:382; command task left",
	"command select task:382; command task right",
	"command select task:382; command task up",
	"command select task:382; command task down",
	"command task right",
	"command select task:382; command open",
	"command select task:382; command edge next",
	"command select task:382; command edge next; command edge next",
	"command select task:382; command edge next; command edge next; command edge previous",
	"command select task:382; command edge previous",
	"command select task:382; command edge next; command open",
	"command open",
	"command select task:382; command wait",
	"command select task:382; command waker",
	"command select task:382; command creator",
	"command select task:382; command creator; command creator",
	"command wait",
	"command waker",
	"command creator",
	"command related",
	"command select task:382; command related",
	"command select task:382; command related; command related",
	"command select task:382; command related; command escape",
	"command select task:382; command escape",
	"command select task:382; command panel story; command escape; command escape",
	/* Finding. */
	"command problem next",
	"command problem next; command problem next",
	"command problem previous",
	"command problem next; command problem next; command problem previous",
	"command problem 1",
	"command problem 2",
	"command problem 0",
	"command problem 9999",
	"command problem 4294967298",
	"command search",
	"command search store",
	"command search e; command match next",
	"command search e; command match next; command match next",
	"command search e; command match previous",
	"command search e; command match 1",
	"command search e; command match 3",
	"command search e; command match 0",
	"command search e; command match 9999",
	"command search e; command match next; command match 4294967298",
	"command search; type st; type store; enter store",
	"command search; enter no such text",
	"command search s.ore",
	"command search s.ore; command expression",
	"command search s.ore; command expression; command expression",
	"command search s(; command expression",
	"command expression",
	"command search store; command escape; command escape",
	"command match next",
	/* Measuring. */
	"command measure",
	"command measure; command measure",
	"command measure; drag 300 300 600 300",
	"command select task:382; command measure",
	"command select task:382; command measure; command measure",
	"command select task:382; command measure; command escape",
	"drag 300 300 600 300 shift",
	"drag 600 300 300 300 shift",
	"drag 300 300 600 300 shift; command task right",
	"drag 300 300 600 300 shift; command task left",
	"drag 300 300 600 300 shift; command zoom selection",
	"command mark",
	"command mark; enter here",
	"command mark; enter here; command mark; enter there",
	"command mark; enter here; command view start=20ms duration=10ms; command mark; enter there",
	"command mark; enter here; command view start=20ms duration=10ms; command mark; enter there; command mark 1",
	"command mark; enter here; command view start=20ms duration=10ms; command mark; enter there; command mark 2",
	"command mark; enter here; command mark 2",
	"command mark; enter here; command note",
	"command mark; enter here; command note 1; enter changed",
	"command mark; enter here; command unmark",
	"command mark; enter here; command view start=20ms duration=10ms; command mark; enter there; command unmark 1",
	"command unmark 1",
	"command marks",
	"command counters",
	"command counters; command counters",
	"command counters on",
	"command counters off",
	"command counters all",
	"command counters all; command counters all",
	"command counter 1",
	"command counter 1; command counter 1",
	"command counter 2",
	"command counter 0",
	"command counter 99",
	"command counters off; command counter 2",
	"command rates",
	"command rates; command rates",
	/* The window. */
	"command copy link",
	"command select task:382; command copy link",
	"command copy command",
	"command select task:382; command rows plain; command filter kind:bind; command copy command",
	"command copy window",
	"command export svg",
	"command export png",
	"command export cut",
	"command view start=128ms duration=1ms; command export cut",
	"drag 600 300 300 300 shift; command export cut",
	"command times",
	"command times; command times",
	"command times clock",
	"command open trace",
	"command reload",
	"command window",
	"command follow",
	"command theme",
	"command theme; command theme",
	"command theme; command theme; command theme; command theme",
	"command theme dark",
	"command theme safe-dark",
	"command theme pink",
	"command help",
	"command help; command help",
	"command panel rows",
	"command panel counters",
	"command panel export",
	"command panel stats; command panel stats",
	"command panel stats; command stats row 2; command slow first; key .; key h",
	"command panel menu",
	"command panel problems",
	"command panel problems; command panel search",
	"command panel story",
	"command panel nothing",
	"command panel rows; command close",
	"command close",
	/* Gestures. */
	"click 600 132",
	"click 600 132; click 600 132",
	"click 600 132; click 20 790",
	"double 600 132",
	"wheel 700 400 -120",
	"wheel 700 400 120",
	"wheel 700 400 -1200; wheel 700 400 120 shift",
	"command rows plain; wheel 700 400 120 alt",
	"pinch 700 400 2",
	"wheel 700 400 -1200; drag 600 400 700 400",
	"wheel 700 400 -1200; move 600 400; press 600 400; move 700 400; cancel 700 400",
	"size 500 320; command panel menu",
	"size 500 320; command select task:382; command panel story",
};

static void each_script_leaves_its_state(void **state)
{
	(void)state;
	struct weft_text text = {0};
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct script s = begin(strstr(scripts[i], "counter") ? ARP_GOOD : BLOCK_READ, false);
		script_run(&s, scripts[i]);
		let_pass(&s, 2000);
		add_state(&text, scripts[i], &s);
		script_end(&s);
	}
	golden_compare("viewer-steps.txt", &text);
	weft_text_finish(&text);
}

/* Without a trace, commands that need one have no effect. */
static void without_a_trace_only_the_window_is_changed(void **state)
{
	(void)state;
	struct weft_text text = {0};
	for (size_t i = 0; i < weft__command_count; i++) {
		const struct weft__command *row = &weft__commands[i];
		if (!row->command || row->needs == WEFT__NEEDS_NOTHING)
			continue;
		struct script s = script_begin(NULL, true);
		assert_true(weft_viewer_command(s.viewer, row->command, s.now_ms));
		assert_false(weft__viewer_command_is_of_use(s.viewer, row));
		add_state(&text, "", &s);
		weft_text_add(&text, "", 1); /* the NUL */
		assert_null(strstr(text.bytes, "request"));
		assert_null(strstr(text.bytes, "panel"));
		assert_null(strstr(text.bytes, "prompt"));
		text.size = 0;
		script_end(&s);
	}
	weft_text_finish(&text);
}

/* A command is of use if what it needs is there. */
static void commands_tell_what_they_need(void **state)
{
	(void)state;
	for (int is_live = 0; is_live < 2; is_live++) {
		struct script s = begin(BLOCK_READ, is_live);
		for (size_t i = 0; i < weft__command_count; i++) {
			const struct weft__command *row = &weft__commands[i];
			if (!row->command)
				continue;
			bool needs_task = row->needs == WEFT__NEEDS_TASK;
			if (row->needs != WEFT__NEEDS_EARLIER_EDGE && row->needs != WEFT__NEEDS_LATER_EDGE)
				assert_int_equal(weft__viewer_command_is_of_use(s.viewer, row),
					!needs_task && (is_live || row->needs != WEFT__NEEDS_LIVE));
		}
		script_run(&s, "command select task:382");
		assert_true(weft__viewer_command_is_of_use(s.viewer, weft__viewer_command_row("open")));
		script_end(&s);
	}
}

static void following_is_switched(void **state)
{
	(void)state;
	struct script s = begin(BLOCK_READ, true);
	struct weft_viewer_request request;
	for (int i = 0; i < 2; i++) {
		bool was_following = s.viewer->is_following;
		script_run(&s, "command follow");
		assert_int_equal(s.viewer->is_following, !was_following);
		assert_true(weft_viewer_next_request(s.viewer, &request));
		assert_int_equal(request.type, WEFT_VIEWER_FOLLOW);
		assert_int_equal(request.start, !was_following);
	}
	script_end(&s);
}

/* ---- Pictures ---- */

static void compare_picture(struct script *s, const char *name)
{
	struct weft_text text = {0};
	script_text(s, &text);
	golden_compare(name, &text);
	weft_text_finish(&text);
}

/* The current problem, bookmarks, a range, the bar of plain rows, and the pointer's guide. */
static void what_was_chosen_is_drawn_over_the_picture(void **state)
{
	(void)state;
	struct script s = begin(BLOCK_READ, false);
	script_run(&s,
		"size 420 260; command rows plain; command mark; enter here; command view "
		"start=60ms duration=50ms; command mark; enter there; drag 300 150 380 150 shift");
	compare_picture(&s, "viewer-range.txt");
	script_run(&s, "command problem 2; move 200 150");
	compare_picture(&s, "viewer-problem.txt");
	script_end(&s);
}

static void words_and_progress_stand_in_for_a_picture(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, true);
	script_run(&s, "size 200 120");
	assert_int_equal(weft_viewer_show_text(s.viewer, "Several words that need two lines", 0.25), 0);
	compare_picture(&s, "viewer-words.txt");
	assert_int_equal(weft_viewer_show_text(s.viewer, "Words alone", -1), 0);
	struct weft_canvas *canvas = script_canvas(&s);
	assert_int_equal(canvas->op_count, 2); /* the ground and the text */
	weft_canvas_destroy(canvas);
	script_end(&s);
}

/* The edges of the selected task stand out, and those of the one that is pointed at. */
static void the_edges_of_a_task_stand_out(void **state)
{
	(void)state;
	struct script s = begin(BLOCK_READ, false);
	script_draw(&s);
	assert_int_equal(s.viewer->standing.count, 0);
	script_run(&s, "command select task:382");
	script_draw(&s);
	uint32_t task = s.viewer->selection.task, count = 0;
	const struct weft_edges *edges = &s.viewer->model->edges;
	for (uint32_t i = 0; i < edges->count; i++)
		count += edges->from[i] == task || edges->to[i] == task;
	assert_true(count > 1);
	assert_int_equal(s.viewer->standing.count, count);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_script_leaves_its_state),
		cmocka_unit_test(without_a_trace_only_the_window_is_changed),
		cmocka_unit_test(commands_tell_what_they_need),
		cmocka_unit_test(following_is_switched),
		cmocka_unit_test(what_was_chosen_is_drawn_over_the_picture),
		cmocka_unit_test(words_and_progress_stand_in_for_a_picture),
		cmocka_unit_test(the_edges_of_a_task_stand_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
