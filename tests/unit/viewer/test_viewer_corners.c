/* SPDX-License-Identifier: ISC
 *
 * Rarer paths of the viewer: several processes, long lists, traces without problems, narrow
 * windows, links with unusual parts, and input that is not valid.
 */
#include "viewer_sample.h"

#include "render/theme.h"
#include "trace_script.h"

static struct script show_model(struct weft_model *model, bool is_live)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, model, is_live), 0);
	return s;
}

static struct script show(const char *trace)
{
	return show_model(trace_script_model(trace, 0), false);
}

static void pass(struct script *s, double ms)
{
	s->now_ms += ms;
	weft_viewer_advance(s->viewer, s->now_ms);
}

static void expect_status(struct script *s, const char *part)
{
	if (!strstr(weft_viewer_status(s->viewer), part))
		fail_msg("'%s' is not in '%s'", part, weft_viewer_status(s->viewer));
}

static const struct weft_viewer_item *item_with(const struct script *s, const char *part)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(s->viewer);
	for (uint32_t i = 0; i < panel->item_count; i++)
		if (strstr(panel->items[i].text, part))
			return &panel->items[i];
	return NULL;
}

/* ---- Processes ---- */

static struct script two_processes(void)
{
	static const struct weft_trace_buffer buffers[] = {
		{.process = "client", .host = "here", .file = "", .pid = 10},
		{.process = "server", .host = "there", .file = "", .pid = 20}};
	struct made made = make_begin();
	made.buffers = buffers;
	made.buffer_count = 2;
	make_create(&made, 0, 7, WEFT_KIND_TASK);
	make_switch(&made, 7);
	made.time = 900;
	made.buffer = 1;
	made.thread = 1;
	make_create(&made, 0, 7, WEFT_KIND_TASK);
	make_switch(&made, 7);
	made.time = 1000;
	make_edge(&made, WEFT_EVENT_RESOLVE, 7, 7);
	return show_model(make_model(&made), false);
}

static void a_task_of_another_process_is_named_with_it(void **state)
{
	(void)state;
	struct script s = two_processes();
	uint32_t task = weft_model_find_task(s.viewer->model, 1, 7);
	script_run(&s, "command select task:1/7");
	assert_int_equal(s.viewer->selection.task, task);
	assert_non_null(strstr(weft_viewer_link(s.viewer), " task=1/7 "));
	script_run(&s, "command select task:7");
	assert_int_equal(s.viewer->selection.task, weft_model_find_task(s.viewer->model, 0, 7));
	static const char *const wrong[] = {"command select task:x/7", "command select task:2/7",
		"command select task:1/x", "command select task:4294967295/7"};
	for (unsigned i = 0; i < 4; i++) {
		script_run(&s, wrong[i]);
		expect_status(&s, "no such task");
	}
	script_end(&s);
}

static void processes_are_found_and_grouped(void **state)
{
	(void)state;
	struct script s = two_processes();
	script_run(&s, "command search serv; command match next");
	assert_non_null(item_with(&s, "server"));
	assert_true(item_with(&s, "server")->is_selected);
	script_run(&s, "command panel rows");
	assert_non_null(item_with(&s, "host"));
	script_run(&s, "command group process");
	const struct weft_viewer_item *item = item_with(&s, "server");
	assert_true(item && item->is_selected);
	assert_string_equal(item->command, "group 2");
	script_run(&s, "command group 2");
	assert_false(item_with(&s, "server")->is_selected);
	script_run(&s, "command group none; command group thread");
	expect_status(&s, "by thread");
	script_end(&s);
}

/* ---- Long lists ---- */

/* A long list shows 300 matches around the current one. */
static void a_long_list_is_shown_around_the_current_match(void **state)
{
	static const struct {
		const char *script;
		uint32_t first;
		bool more;
	} cases[] = {{"", 1, true}, {"command match 151", 1, true}, {"command match 152", 2, true},
		{"command match 251", 101, false}, {"command match 250", 100, true}};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct script s = show("[400: create 0 1+i task; label 1+i found; +1]");
		script_run(&s, "command search found");
		script_run(&s, cases[i].script);
		const struct weft_viewer_panel *panel = weft_viewer_panel(s.viewer);
		uint32_t links = 0, first = 0;
		for (uint32_t k = 0; k < panel->item_count; k++) {
			if (panel->items[k].type != WEFT_VIEWER_LINK ||
				strncmp(panel->items[k].command, "match ", 6))
				continue;
			first = links++ ? first : (uint32_t)atoi(panel->items[k].command + 6);
		}
		assert_int_equal(links, 300);
		assert_int_equal(first, cases[i].first);
		assert_int_equal(item_with(&s, "More follow") != NULL, cases[i].more);
		script_end(&s);
	}
}

static void problems_that_are_left_out_are_counted(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	assert_true(weft__viewer_know_problems(s.viewer));
	script_run(&s, "command panel problems");
	assert_null(item_with(&s, "not listed"));
	s.viewer->problems.found->left_out = 3;
	script_run(&s, "command close; command panel problems");
	assert_non_null(item_with(&s, "3 milder"));
	script_end(&s);
}

static void many_counters_can_be_taken_at_once(void **state)
{
	(void)state;
	struct script s =
		show("count a 1; count b 1; count c 1; count d 1; count e 1; count f 1; count g 1; "
			 "count h 1; count i 1; count j 1; count k 1; count l 1; +5; count a 2");
	script_run(&s, "command panel counters");
	assert_null(item_with(&s, "at once"));
	script_end(&s);
	s = show(
		"count a 1; count b 1; count c 1; count d 1; count e 1; count f 1; count g 1; count h 1; "
		"count i 1; count j 1; count k 1; count l 1; count m 1; +5; count a 2");
	script_run(&s, "command panel counters");
	assert_non_null(item_with(&s, "All 13 at once"));
	script_end(&s);
}

static void counters_come_back_after_each_was_hidden(void **state)
{
	(void)state;
	struct script s = show("count a 1; count b 1; +5; count a 2");
	script_run(&s, "command counter 1; command counter 2");
	assert_false(weft__viewer_has_counters(s.viewer));
	script_run(&s, "command counters on");
	assert_true(weft__viewer_has_all_counters(s.viewer));
	script_end(&s);
}

/* ---- Problems ---- */

static void without_problems_a_step_says_so(void **state)
{
	(void)state;
	struct script s = show("create 0 1 task; +5; resolve 0 1");
	script_run(&s, "command problem next");
	expect_status(&s, "No problems found");
	assert_int_equal(s.viewer->problems.current, WEFT_NONE);
	script_end(&s);
}

/* The edge that explains a problem is drawn although it belongs to another task. */
static void the_edge_of_a_problem_stands_out(void **state)
{
	(void)state;
	struct script s = show(
		"create 0 1 condition; label 1 reply; run 0; +5000; signal 1 0; +1; "
		"create 1 3 promise; try 2 3; run 0; +3000; resolve 0 3; run 2; read 2 3; +5; run 0; +1000");
	script_run(&s, "command problem 1");
	script_draw(&s);
	const struct weft_problem *problem =
		&s.viewer->problems.found->list[s.viewer->problems.found->by_gravity[0]];
	assert_int_not_equal(problem->edge, WEFT_NONE);
	unsigned found = 0;
	for (uint32_t i = 0; i < s.viewer->standing.count; i++)
		found += s.viewer->standing.edges[i] == problem->edge;
	assert_int_equal(found, 1);
	script_end(&s);
}

/* In the overview, all periods of the first problem are marked, and only the start of others. */
static void all_periods_of_the_first_problem_are_marked(void **state)
{
	(void)state;
	struct script s =
		show("[61: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; "
			 "run 0; idle; ?i%5=0 +40000; +300; run 0; +10]");
	script_draw(&s);
	pass(&s, 100);
	struct weft_canvas *canvas = script_canvas(&s);
	const struct weft_box *strip = &s.viewer->frame.strip;
	unsigned marks = 0;
	for (uint32_t i = 0; i < canvas->op_count; i++)
		marks += canvas->ops[i].type == WEFT_CANVAS_RECT &&
				 canvas->ops[i].color == weft__render_theme(WEFT_THEME_LIGHT)->signal &&
				 canvas->ops[i].y2 == (float)(strip->y + strip->height - 4);
	assert_int_equal(marks,
		s.viewer->problems.found->list[s.viewer->problems.found->by_gravity[0]].period_count);
	assert_true(marks > 10);
	weft_canvas_destroy(canvas);
	script_end(&s);
}

/* The problems of a large trace are found in steps, between which the viewer takes input. */
static void a_large_trace_is_examined_in_steps(void **state)
{
	(void)state;
	struct script s = show("[262200: create 0 1+i task]; +5");
	unsigned steps = 0;
	script_draw(&s);
	while (!s.viewer->problems.found && ++steps < 1000)
		assert_true(weft_viewer_advance(s.viewer, ++s.now_ms) == 0 || s.viewer->problems.found);
	assert_in_range(steps, 3, 999);
	script_end(&s);
}

/* ---- Tasks ---- */

static void the_line_of_the_current_edge_is_marked(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	uint32_t last = 0, count = 0;
	script_run(&s, "command select task:80; command panel story");
	while (weft_viewer_key(s.viewer, "Tab", 0, s.now_ms)) {
		const struct weft_viewer_panel *panel = weft_viewer_panel(s.viewer);
		if (panel->selected == WEFT_NONE) /* creations are listed as facts */
			continue;
		assert_true(panel->selected > last && panel->items[panel->selected].is_selected);
		last = panel->selected;
		count++;
	}
	assert_true(count > 1);
	script_end(&s);
}

static void a_wait_is_followed_to_its_source(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "command select task:4430 13ms; command wait");
	assert_int_equal(s.viewer->model->tasks.id[s.viewer->selection.task], 4429);
	script_end(&s);
}

/* After a jump to a problem, a step along the wait leads to another task: also from an idle gap,
 * which has none of its own. Steps along a chain end with a message, not in another wait. */
static void a_wait_is_followed_from_a_problem(void **state)
{
	static const char *const samples[] = {ARP_GOOD, BLOCK_READ};
	unsigned followed = 0, gaps = 0, problems = 0;
	(void)state;
	for (unsigned sample = 0; sample < 2; sample++) {
		struct script s = script_begin(samples[sample], true);
		script_run(&s, "key p");
		uint32_t count = s.viewer->problems.found->count;
		for (uint32_t i = 0; i < count; i++) {
			script_run(&s, i ? "key p" : "key Escape; command problem 1");
			uint32_t task = s.viewer->selection.task;
			script_run(&s, "key w");
			gaps += task == WEFT_NONE && s.viewer->selection.task != WEFT_NONE;
			followed += s.viewer->selection.task != task;
			problems++;
			uint64_t at = s.viewer->selection.at;
			for (unsigned step = 0; step < 20; step++)
				script_run(&s, "key w");
			assert_int_equal(s.viewer->selection.at, at);
		}
		script_end(&s);
	}
	assert_true(gaps >= 2);
	assert_true(followed >= problems - 1);
}

static bool has_text(struct script *s, const char *text)
{
	struct weft_text drawn = {0};
	script_text(s, &drawn);
	weft_text_add(&drawn, "", 1);
	bool found = strstr(drawn.bytes, text) != NULL;
	weft_text_finish(&drawn);
	return found;
}

/* All tasks of the chain are highlighted, numbered and listed. Steps along it keep it. */
static void a_whole_chain_is_shown(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "command select task:4430 13ms; key W; wait 300");
	expect_status(&s, "3 hops");
	assert_int_equal(s.viewer->selection.related_count, 4);
	assert_true(has_text(&s, "\"3\"") && has_text(&s, "\"end\""));
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Wait chain");
	assert_non_null(item_with(&s, "1. bind 4430 waits for bind 4429"));
	const struct weft_viewer_item *end = item_with(&s, "Nobody resolved task 4427 'port-1'");
	assert_non_null(end);
	assert_string_equal(end->detail, "end");
	script_run(&s, "key w; key w; key w");
	assert_int_equal(s.viewer->model->tasks.id[s.viewer->selection.task], 4427);
	assert_true(item_with(&s, "Nobody resolved")->is_selected);
	assert_int_equal(s.viewer->selection.related_count, 4);
	script_run(&s, "key Escape");
	assert_int_equal(s.viewer->selection.related_count, 0);
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Task");
	assert_false(has_text(&s, "\"end\""));
	script_run(&s, "command select task:4430 13ms; key W; command select task:0 1ms");
	assert_int_equal(s.viewer->selection.related_count, 0);
	script_run(&s, "command select task:4430 13ms; key w; key w; key w; key W"); /* from the end */
	assert_int_equal(s.viewer->model->tasks.id[s.viewer->selection.task], 4427);
	expect_status(&s, "3 hops");
	assert_int_equal(s.viewer->selection.related_count, 4);
	assert_true(item_with(&s, "Nobody resolved")->is_selected);
	script_run(&s, "key W; command select task:4430 13ms; key W; key W");
	assert_int_equal(s.viewer->selection.related_count, 0);
	script_run(&s, "command panel chain");
	assert_non_null(item_with(&s, "No chain is shown"));
	script_end(&s);
}

/* From a folded task, an arrow leads to the row of its fold. */
static void steps_from_a_folded_task_begin_at_its_fold(void **state)
{
	(void)state;
	struct script s = show(
		"create 0 900 wait; label 900 first; "
		"[60: create 0 10+i task; label 10+i grant; ~700; resolve 0 10+i; ~300]; +5; resolve 0 900");
	uint32_t member = weft_model_find_task(s.viewer->model, 0, 20);
	uint32_t row = s.viewer->layout->row[member];
	assert_int_equal(s.viewer->layout->form[member], WEFT_FORM_FOLDED);
	weft__viewer_select(s.viewer, member, s.viewer->layout->start[member]);
	script_run(&s, "command task right");
	assert_int_equal(s.viewer->layout->row[s.viewer->selection.task], row);
	script_end(&s);
}

/* The panel below a narrow window's canvas does not cover the task that opened it. */
static void a_clicked_task_stays_in_view_above_its_panel(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	struct weft__hit hit = {.count = 0};
	double x = 20, y = 0;
	script_run(&s, "size 800 700; command rows plain");
	for (; hit.count == 0 && x < 780; x += 20)
		for (y = 660; hit.count == 0 && y > 450; y -= 3)
			weft__viewer_hit(s.viewer, x, y, &hit);
	assert_true(hit.count > 0);
	script_click(&s, x - 20, y + 3, 0);
	uint32_t task = s.viewer->selection.task;
	assert_int_not_equal(task, WEFT_NONE);
	assert_true(s.viewer->boxes.panel.y > 0);
	y = weft_view_y(&s.viewer->view, s.viewer->layout->row[task]);
	assert_true(y >= 0 && y <= s.viewer->view.height);
	script_end(&s);
}

/* A density has too many tasks for one of them to be named: the status describes all. */
static void a_crowd_is_described_as_a_whole(void **state)
{
	(void)state;
	struct script s = show("[9000: create 0 1+i task; label 1+i x; ~10; resolve 0 1+i]; +1");
	script_run(&s, "command fold all off");
	bool found = false;
	for (double y = 700; y > 100 && !found; y -= 5) {
		script_point(&s, WEFT_VIEWER_MOVE, 900, y, 0, 0);
		pass(&s, 200);
		found = s.viewer->hover.is_cell;
	}
	assert_true(found);
	assert_int_equal(s.viewer->hover.task, WEFT_NONE);
	expect_status(&s, " tasks, p50 ");
	script_end(&s);
}

/* ---- Links, prompts, input ---- */

static void every_part_of_a_link_is_read(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s,
		"command view times=clock simplify=off fold=off rates=on counters=off rows=plain group=process");
	assert_true(s.viewer->clock_times && s.viewer->rows.no_simplify && s.viewer->rows.no_fold);
	assert_true(
		s.viewer->counters.are_rates && s.viewer->counters.are_hidden && s.viewer->view.is_plain);
	assert_int_equal(s.viewer->rows.group_by, WEFT_GROUP_BY_PROCESS);
	script_run(&s, "command copy command");
	struct weft_viewer_request request;
	assert_true(weft_viewer_next_request(s.viewer, &request));
	assert_non_null(strstr(
		request.text, " --group-by process --no-fold --no-simplify --counters none --focus "));
	script_run(&s, "command view nonsense start=5ms");
	expect_status(&s, "invalid");
	script_run(&s, "command view search=a%20b%zz%2 filter=%2C");
	assert_string_equal(s.viewer->search.text, "a b%zz%2");
	assert_string_equal(s.viewer->rows.filter, ",");
	script_run(&s, "command view search=a%+5%-5%0x%00%4a%4A");
	assert_string_equal(s.viewer->search.text, "a%+5%-5%0x%00JJ");
	script_run(&s, "command goto    100ms");
	assert_non_null(strstr(weft_viewer_link(s.viewer), "start="));
	script_end(&s);
}

static void a_search_of_a_link_that_is_refused_is_reported(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command view search=/a(a%7Cb)%7B300%7Dc");
	expect_status(&s, "search is refused");
	expect_status(&s, "500 steps");
	assert_null(s.viewer->search.found);
	script_run(&s, "command view search=/a(a%7Cb)%7B30%7Dc");
	assert_non_null(s.viewer->search.found);
	script_end(&s);
}

static bool has_control_characters(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			return true;
	return strstr(text, "\xc2\x9b") || strstr(text, "\xe2\x80\xae") || strstr(text, "\xe2\x81\xa6");
}

/* All that is copied after a command. */
static unsigned copies_are_clean(struct script *s, const char *command, const char *part)
{
	struct weft_viewer_request request;
	unsigned found = 0;
	script_run(s, command);
	while (weft_viewer_next_request(s->viewer, &request))
		if (request.type == WEFT_VIEWER_COPY) {
			if (has_control_characters(request.text))
				fail_msg("control characters in '%s'", request.text);
			found += strstr(request.text, part) != NULL;
		}
	return found;
}

/* A terminal takes control characters that are pasted as keys. */
static void copied_text_has_no_control_characters(void **state)
{
	static const struct {
		const char *link, *word;
	} list[] = {
		{"command view filter=-a%03%0Arm", " --hide $'a\\003\\012rm' "},
		{"command view filter=%1B]0%3Bx%07", " --only $'\\033]0;x\\007' "},
		{"command view filter=%E2%80%AEtxt", " --only $'\\342\\200\\256txt' "},
		{"command view filter=%C2%9Bm", " --only $'\\302\\233m' "},
		{"command view filter=%FF%27%5C%5C1", " --only $'\\377\\047\\1341' "},
		{"command view filter=it%27s%20$HOME", " --only 'it'\\''s $HOME' "},
	};
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		script_run(&s, list[i].link);
		if (copies_are_clean(&s, "command copy command", list[i].word) != 1)
			fail_msg("%s: not copied as %s", list[i].link, list[i].word);
		copies_are_clean(&s, "command copy link", "");
		copies_are_clean(&s, "command copy window", "");
	}
	script_run(&s, "command view search=a%0Ab%1B");
	assert_int_equal(copies_are_clean(&s, "command copy link", "search=a%0Ab%1B"), 1);
	script_end(&s);
}

/* The name of a file may be anything. */
static void a_copied_path_is_a_word_of_its_own(void **state)
{
	static const char *const paths[][2] = {{"-o", "weft view ./'-o' "},
		{"a\nb", "weft view $'a\\012b' "}, {"-\x1b", "weft view ./$'-\\033' "},
		{"$(x)'`", "weft view '$(x)'\\''`' "}};
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct weft_viewer_options options = {.title = "x", .path = paths[i][0]};
		struct script s = {.now_ms = 1000};
		assert_int_equal(weft_viewer_create(&options, &s.viewer), 0);
		assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), false), 0);
		assert_int_equal(copies_are_clean(&s, "command copy window", paths[i][1]), 1);
		assert_int_equal(copies_are_clean(&s, "command copy command", "weft render "), 1);
		script_end(&s);
	}
}

static void a_filter_that_is_too_long_is_refused(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	char text[WEFT__FILTER_BYTES + 1];
	memset(text, 'x', sizeof(text));
	text[WEFT__FILTER_BYTES] = '\0';
	script_run(&s, "command filter");
	weft_viewer_prompt_text(s.viewer, text, true, s.now_ms);
	assert_true(weft_viewer_prompt(s.viewer)->is_open && weft_viewer_prompt(s.viewer)->is_error);
	assert_string_equal(s.viewer->rows.filter, "");
	text[WEFT__FILTER_BYTES - 1] = '\0';
	weft_viewer_prompt_text(s.viewer, text, true, s.now_ms);
	assert_false(weft_viewer_prompt(s.viewer)->is_open);
	assert_string_equal(s.viewer->rows.filter, text);
	script_end(&s);
}

static void a_note_is_not_asked_for_a_removed_bookmark(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command mark; command unmark 1");
	assert_false(weft_viewer_prompt(s.viewer)->is_open);
	script_run(&s, "command mark");
	assert_int_equal(weft_viewer_load_notes(s.viewer, "@5 x\n", 5), 0);
	assert_false(weft_viewer_prompt(s.viewer)->is_open);
	script_end(&s);
}

static void numbers_that_are_none_are_ignored(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_view before = s.viewer->view;
	script_run(&s, "command view start=60ms duration=10ms");
	before = s.viewer->view;
	weft_viewer_wheel(s.viewer, NAN, 400, 0, -120, 0, s.now_ms);
	weft_viewer_wheel(s.viewer, 400, 400, 0, NAN, 0, s.now_ms);
	weft_viewer_pinch(s.viewer, 400, 400, NAN, s.now_ms);
	weft_viewer_pinch(s.viewer, 400, 400, 0, s.now_ms);
	weft_viewer_pinch(s.viewer, INFINITY, 400, 2, s.now_ms);
	script_point(&s, WEFT_VIEWER_PRESS, NAN, 5, 0, 0);
	assert_true(s.viewer->view.left == before.left && s.viewer->view.scale == before.scale);
	assert_int_equal(s.viewer->pointer.finger_count, 0);
	script_end(&s);
}

/* The window of the overview is stretched by either edge, up to the other one. */
static void the_overview_is_stretched_by_its_start(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command view start=40ms duration=60ms");
	const struct weft_view *view = &s.viewer->view;
	double y = s.viewer->frame.strip.y + 10, start = strip_x(&s, weft_view_time(view, 0));
	double target = strip_x(&s, view->start + 70000000);
	script_drag(&s, start, y, target, y, 0);
	close_to(time_under(&s, 20), 70e6, 1e6);
	close_to(weft__view_duration(view), 30e6, 1e6);
	script_drag(&s, strip_x(&s, weft_view_time(view, 0)), y, 1390, y, 0);
	assert_true(weft__view_duration(view) < 1e4);
	/* A press outside that hardly moves chooses nothing. */
	script_run(&s, "command view start=40ms duration=60ms");
	double left = view->left;
	script_drag(&s, 1200, y, 1205, y, 0);
	assert_true(view->left == left);
	script_end(&s);
}

/* ---- Other ---- */

struct steps {
	unsigned count;
	double last;
};

static bool step(void *context, double part)
{
	struct steps *steps = context;
	assert_true(part >= steps->last && part <= 1);
	steps->last = part;
	steps->count++;
	return true;
}

static void preparing_reports_its_progress(void **state)
{
	(void)state;
	struct steps steps = {0};
	const struct weft_progress progress = {.step = step, .context = &steps};
	struct weft_viewer_prepared *prepared;
	assert_int_equal(weft_viewer_prepare(
						 trace_script_model("[60000: create 0 1+i task; ~9; resolve 0 1+i]; +5", 0),
						 &progress, &prepared),
		0);
	assert_true(steps.count > 1 && steps.last > 0.5);
	struct script s = script_begin(BLOCK_READ, true);
	s.viewer->problems.count = 5;
	assert_int_equal(weft_viewer_show_prepared(s.viewer, prepared), 0);
	assert_int_equal(s.viewer->problems.count, 0); /* another trace */
	script_end(&s);
}

static void a_live_trace_may_begin_anew(void **state)
{
	(void)state;
	struct script s = show_model(trace_script_model("[9: create 0 1+i task]; +5", 0), true);
	assert_int_equal(
		weft_viewer_show(s.viewer, trace_script_model("[3: create 0 1+i task]; +5", 0), true), 0);
	assert_int_equal(s.viewer->model->tasks.count, 4);
	script_draw(&s);
	script_end(&s);
}

/* A chain goes on while the trace grows, and ends when its task wakes. */
static void a_chain_stays_while_the_trace_grows(void **state)
{
	static const char before[] = "create 0 1 task; create 0 2 task; create 0 3 wait; run 1; +9; "
								 "try 1 3; run 2; +1000; note 2 now";
	char script[200];
	(void)state;
	struct script s = show_model(trace_script_model(before, 0), true);
	script_run(&s, "command select task:1; key W");
	assert_int_equal(s.viewer->selection.related_count, 2);
	snprintf(script, sizeof(script), "%s; +1000; note 2 later", before);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(script, 0), true), 0);
	assert_int_equal(s.viewer->selection.related_count, 2);
	assert_int_equal(s.viewer->selection.chain->at, s.viewer->model->summary.end);
	assert_non_null(item_with(&s, "1. task 1 waits for wait 3"));
	snprintf(script, sizeof(script), "%s; resolve 2 3; run 1; +1000; note 1 now", before);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(script, 0), true), 0);
	assert_null(s.viewer->selection.chain);
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Task");
	script_end(&s);
}

static void shells_get_the_colours_of_the_theme(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command theme dark");
	const struct weft__theme *t = weft__render_theme(WEFT_THEME_DARK);
	const uint32_t expected[] = {t->text, t->failed, t->read, t->resolve, t->try_read, t->signal,
		t->dim, t->counters[0], t->counters[1]};
	struct weft_viewer_colors colors;
	weft_viewer_colors(s.viewer, &colors);
	assert_true(
		colors.background == t->background && colors.text == t->text && colors.dim == t->dim);
	assert_true(
		colors.grid == t->grid && colors.selection == t->selection && colors.failed == t->failed);
	for (unsigned role = 0; role < 9; role++)
		assert_int_equal(weft_viewer_role_color(s.viewer, role), expected[role]);
	assert_int_equal(
		weft_viewer_role_color(s.viewer, WEFT_VIEWER_ROLE_COUNTER + WEFT__COUNTER_COLORS),
		t->counters[0]);
	script_end(&s);
}

/* Task 2 fails after 4 us of work, or after a wait. What it did just before is of no interest. */
static void a_problem_asks_about_a_wait_only_if_it_is_one(void **state)
{
	static const char *const traces[] = {
		"create 0 3 task; create 0 2 task; try 2 3; ~40; run 2; +4; fail 2 2 bad; idle; +90",
		"create 0 3 task; create 0 2 task; try 2 3; +4; run 2; ~40; fail 2 2 bad; idle; +90"};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct script s = show(traces[i]);
		script_run(&s, "key p");
		assert_non_null(strstr(weft_viewer_status(s.viewer), "task 2 failed"));
		const struct weft_problem *problem = weft__viewer_marked_problem(s.viewer);
		assert_int_equal(s.viewer->selection.at == problem->end - 1, i == 0);
		script_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_of_another_process_is_named_with_it),
		cmocka_unit_test(processes_are_found_and_grouped),
		cmocka_unit_test(a_long_list_is_shown_around_the_current_match),
		cmocka_unit_test(problems_that_are_left_out_are_counted),
		cmocka_unit_test(many_counters_can_be_taken_at_once),
		cmocka_unit_test(counters_come_back_after_each_was_hidden),
		cmocka_unit_test(without_problems_a_step_says_so),
		cmocka_unit_test(the_edge_of_a_problem_stands_out),
		cmocka_unit_test(all_periods_of_the_first_problem_are_marked),
		cmocka_unit_test(a_large_trace_is_examined_in_steps),
		cmocka_unit_test(the_line_of_the_current_edge_is_marked),
		cmocka_unit_test(a_wait_is_followed_to_its_source),
		cmocka_unit_test(a_wait_is_followed_from_a_problem),
		cmocka_unit_test(a_whole_chain_is_shown),
		cmocka_unit_test(steps_from_a_folded_task_begin_at_its_fold),
		cmocka_unit_test(a_clicked_task_stays_in_view_above_its_panel),
		cmocka_unit_test(a_crowd_is_described_as_a_whole),
		cmocka_unit_test(every_part_of_a_link_is_read),
		cmocka_unit_test(a_filter_that_is_too_long_is_refused),
		cmocka_unit_test(a_search_of_a_link_that_is_refused_is_reported),
		cmocka_unit_test(copied_text_has_no_control_characters),
		cmocka_unit_test(a_copied_path_is_a_word_of_its_own),
		cmocka_unit_test(a_note_is_not_asked_for_a_removed_bookmark),
		cmocka_unit_test(numbers_that_are_none_are_ignored),
		cmocka_unit_test(the_overview_is_stretched_by_its_start),
		cmocka_unit_test(preparing_reports_its_progress),
		cmocka_unit_test(a_live_trace_may_begin_anew),
		cmocka_unit_test(a_chain_stays_while_the_trace_grows),
		cmocka_unit_test(shells_get_the_colours_of_the_theme),
		cmocka_unit_test(a_problem_asks_about_a_wait_only_if_it_is_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
