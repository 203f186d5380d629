/* SPDX-License-Identifier: ISC
 *
 * The viewer as a whole: its commands, keys and buttons, traces that grow, random use. Other
 * subjects are in test_viewer_*.c. Pictures are compared with tests/data/golden; WEFT_GOLDEN=write
 * writes them anew, to be looked at before they are committed.
 */
#include "viewer_sample.h"
#include "viewer/drawing/file_name.h"

#include "render/clock.h"
#include "golden.h"

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
		assert_ptr_equal(weft__viewer_command_row(row->command), row);
		assert_true(strchr(" ", row->command[row->name_size]));
		for (const char *keys = row->keys; weft__viewer_next_key(&keys, key, &modifiers);)
			for (unsigned k = i + 1; k < weft__command_count; k++)
				for (const char *rest = weft__commands[k].command ? weft__commands[k].keys : "";
					 weft__viewer_next_key(&rest, other, &others);)
					assert_true(strcmp(key, other) != 0 || modifiers != others);
	}
}

static void keys_are_named_for_people(void **state)
{
	static const char *const names[][2] = {{"task left", "Shift + \xe2\x86\x90"}, {"zoom in", "+"},
		{"zoom out", "\xe2\x88\x92"}, {"counters", "space"}, {"open trace", "Ctrl + O"},
		{"escape", "Esc"}, {"help", "?"}, {"close", ""}};
	char name[WEFT__KEY_BYTES];
	struct script s = script_begin(BLOCK_READ, true);
	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(
			weft__viewer_key_name(s.viewer, weft__viewer_command_row(names[i][0]), name),
			names[i][1]);
	script_end(&s);
}

static const char *key_of(const struct script *s, const char *command)
{
	static char name[WEFT__KEY_BYTES];
	return weft__viewer_key_name(s->viewer, weft__viewer_command_row(command), name);
}

static void wasd_zooms_and_moves(void **state)
{
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_viewer_request request;
	(void)state;
	weft_viewer_command(s.viewer, "wasd on", s.now_ms);
	assert_true(weft_viewer_next_request(s.viewer, &request));
	assert_int_equal(request.type, WEFT_VIEWER_WASD);
	assert_int_equal(request.start, 1);
	double scale = s.viewer->view.scale;
	script_run(&s, "key w; wait 1000");
	assert_true(s.viewer->view.scale > scale);
	double left = s.viewer->view.left;
	script_run(&s, "key d; wait 1000");
	assert_true(s.viewer->view.left > left);
	assert_string_equal(key_of(&s, "zoom in"), "w");
	assert_string_equal(key_of(&s, "wait"), "W");
	assert_string_equal(key_of(&s, "duration"), "");
	assert_string_equal(key_of(&s, "rates"), "D");
	assert_string_equal(key_of(&s, "task left"), "Shift + \xe2\x86\x90");
	script_run(&s, "key S");
	assert_true(weft_viewer_prompt(s.viewer)->is_open);
	script_run(&s, "key Escape");
	weft_viewer_command(s.viewer, "wasd", s.now_ms);
	assert_string_equal(key_of(&s, "wait"), "w");
	assert_string_equal(key_of(&s, "duration"), "d");
	script_end(&s);
}

static void saved_files_are_named_after_the_trace(void **state)
{
	static const char *const names[][2] = {{"echo.weft", "echo.svg"}, {"a.sexp.gz", "a.svg"},
		{"a/b: \xe2\x86\x92.ctf.zst", "a_b_ \xe2\x86\x92.svg"}, {".weft", ".weft.svg"},
		{"x\xe2\x80\xae\xff", "x__.svg"}, {"", "trace.svg"}};
	char name[WEFT__FILE_NAME_BYTES], title[400];
	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(weft__viewer_file_name(names[i][0], ".svg", name), names[i][1]);
	for (unsigned i = 0; i < 130; i++)
		memcpy(title + 3 * i, "\xe2\x86\x92", 4);
	weft__viewer_file_name(title, "-cut.weft", name);
	assert_int_equal(strlen(name), 39 * 3 + 9); /* as many whole characters as there is room for */
	assert_string_equal(name + 39 * 3, "-cut.weft");
}

static void help_begins_with_eight_keys(void **state)
{
	struct script s = script_begin(BLOCK_READ, true);
	(void)state;
	script_run(&s, "key ?");
	const struct weft_viewer_panel *panel = weft_viewer_panel(s.viewer);
	assert_string_equal(panel->items[0].text, "Begin with these");
	for (unsigned i = 1; i <= 8; i++)
		assert_true(panel->items[i].detail[0] && panel->items[i].command[0]);
	assert_string_equal(panel->items[1].command, "problem next");
	assert_int_equal(panel->items[9].type, WEFT_VIEWER_HEADING);
	script_end(&s);
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
		bool is_short = width < (is_touched ? 560 : 826);
		assert_int_equal(s.viewer->toolbar.count, is_short ? 8 : 14);
		weft_viewer_command(s.viewer, "panel menu", s.now_ms);
		assert_int_equal(has_item(s.viewer, "zoom in"), is_short);
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
		weft__render_format_clock(&model, cases[i].time, text);
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
	if (view->squeeze)
		assert_true(weft_view_x(view, view->end) >= view->width - WEFT_VIEW_MARGIN - 42 ||
					view->width <= 2 * WEFT_VIEW_MARGIN + 1);
	else if (view->width > 2 * WEFT_VIEW_MARGIN + 1)
		assert_true(view->left + view->width / view->scale <=
					(length + margin) * 1.000001 + 2 + 40 / view->scale);
	assert_true(view->focus >= 0 && view->focus < view->row_count + 1.0);
}

static void random_step(struct script *s)
{
	static const char *const keys[] = {"+", "-", "z", "0", "[", "]", "Escape", "Tab", "Enter", "w",
		"b", "c", "a", "p", "P", "n", "N", "v", "m", "M", " ", "C", "g", "e", "y", "Y", "T", "?",
		"ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "s", "d", "/", "f", "F", "G", "i", "R",
		"r", "x", "x"};
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
		cmocka_unit_test(a_trace_grows_from_nothing),
		cmocka_unit_test(a_trace_that_grows_keeps_rows_and_hands),
		cmocka_unit_test(golden_pictures),
		cmocka_unit_test(an_unknown_command_is_refused),
		cmocka_unit_test(the_table_of_commands_is_sound),
		cmocka_unit_test(keys_are_named_for_people),
		cmocka_unit_test(other_keys_of_a_command_run_it),
		cmocka_unit_test(wasd_zooms_and_moves),
		cmocka_unit_test(help_begins_with_eight_keys),
		cmocka_unit_test(saved_files_are_named_after_the_trace),
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
