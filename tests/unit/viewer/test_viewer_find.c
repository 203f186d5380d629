/* SPDX-License-Identifier: ISC
 *
 * Things that users look for and keep: problems, matches, ranges, bookmarks, links and counters.
 */
#include "viewer_sample.h"

#include "built.h"
#include "loaded.h"

#include "model/builder.h"
#include "render/painter.h"
#include "render/strip.h"
#include "render/theme.h"

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

/* Marks of a colour on the overview's lower edge that lie at a time. */
static unsigned wrong_marks(struct script *s, uint32_t color, uint64_t time)
{
	struct weft_canvas *canvas;
	const struct weft_box *strip = &s->viewer->frame.strip;
	const struct weft_model_summary *whole = &s->viewer->model->summary;
	double share = (double)(time - whole->start) / (double)(whole->end - whole->start);
	struct weft__rect area = weft__render_strip_area(strip);
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
	const struct weft_problem *first =
		&s.viewer->problems.found->list[s.viewer->problems.found->by_gravity[0]];
	const struct weft_problem *last =
		&s.viewer->problems.found
			 ->list[s.viewer->problems.found->by_gravity[s.viewer->problems.found->count - 1]];
	const struct weft__theme *theme = weft__render_theme(WEFT_THEME_LIGHT);
	assert_int_equal(first->severity, WEFT_SEVERITY_HINT);
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
	double x = weft__viewer_canvas_x(s.viewer, s.viewer->layout->start[task]);
	double y =
		s.viewer->frame.picture.y + weft_view_y(&s.viewer->view, s.viewer->layout->row[task]);
	script_drag(&s, x + 4, y, x + 300, y + 25, WEFT_VIEWER_SHIFT);
	assert_true(s.viewer->range.is_set);
	assert_true(means_something(s.viewer->model, s.viewer->layout, s.viewer->range.from));
	close_to(weft__viewer_canvas_x(s.viewer, s.viewer->range.from), x + 4, 6);
	script_drag(&s, x + 4, y, x + 300, y + 25, WEFT_VIEWER_SHIFT | WEFT_VIEWER_ALT);
	close_to(weft__viewer_canvas_x(s.viewer, s.viewer->range.from), x + 4, 0.01);
	uint64_t from, to;
	weft__viewer_order_range(s.viewer, &from, &to);
	script_run(&s, "key z");
	close_to(weft__view_duration(&s.viewer->view), (double)(to - from), 1);
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
	double x = weft__viewer_canvas_x(s.viewer, s.viewer->marks.list[0].time);
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
	double height = s.viewer->frame.picture.height;
	assert_true(s.viewer->frame.lanes.height == 3 * 28);
	script_run(&s, "command counter 1");
	assert_true(s.viewer->frame.lanes.height == 2 * 28);
	assert_true(weft__viewer_hides_counter(s.viewer, 0));
	script_text(&s, &text);
	weft_text_add(&text, "", 1);
	assert_null(strstr(text.bytes, "gntref\""));
	assert_non_null(strstr(text.bytes, "tcp-to-ip"));
	weft_text_finish(&text);
	script_run(&s, "key space");
	assert_true(s.viewer->frame.lanes.height == 0);
	assert_true(s.viewer->frame.picture.height == height + 3 * 28);
	script_run(&s, "command counter 2"); /* of none, it alone */
	assert_true(weft__viewer_hides_counter(s.viewer, 0));
	assert_false(weft__viewer_hides_counter(s.viewer, 1));
	script_run(&s, "command counter 4294967297"); /* not counter 1 modulo 2^32 */
	assert_true(weft__viewer_hides_counter(s.viewer, 0));
	script_run(&s, "command view with=4294967297 with=1x");
	assert_false(weft__viewer_hides_counter(s.viewer, 0)); /* as without options: all are shown */
	script_run(&s, "command view without=4294967298");
	assert_false(weft__viewer_hides_counter(s.viewer, 1));
	script_run(&s, "command view without=1");
	assert_true(weft__viewer_hides_counter(s.viewer, 0));
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

static void counters_are_drawn_over_tasks_on_request(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	const struct weft_frame *frame = &s.viewer->frame;
	struct weft_viewer_request request;
	double width = frame->picture.width;
	char link[1000];
	script_run(&s, "key O");
	assert_true(frame->lanes.height == 0 && frame->gutter.width > 0);
	assert_true(frame->picture.width < width);
	script_draw(&s);
	snprintf(link, sizeof(link), "%s", weft_viewer_link(s.viewer));
	assert_non_null(strstr(link, " counters=overlay"));
	script_run(&s, "key Y");
	assert_true(weft_viewer_next_request(s.viewer, &request));
	assert_non_null(strstr(request.text, " --counters overlay"));
	script_run(&s, "command view lanes=50");
	assert_true(frame->lanes.height == 3 * 50 && frame->gutter.width == 0);
	assert_non_null(strstr(weft_viewer_link(s.viewer), " lanes=50"));
	assert_true(weft_viewer_command(s.viewer, link, s.now_ms));
	assert_string_equal(weft_viewer_link(s.viewer), link);
	script_run(&s, "command overlay off; key space; key Y");
	assert_true(weft_viewer_next_request(s.viewer, &request));
	assert_non_null(strstr(request.text, " --counters none"));
	script_end(&s);
}

static void an_answer_stays_while_the_hand_trembles(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	double y = s.viewer->frame.picture.y + weft_view_y(&s.viewer->view, 0);
	char line[100];
	snprintf(line, sizeof(line), "move 400 %g; key g; move 402 %g; wait 300", y, y + 3);
	script_run(&s, line);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "Plain rows"));
	snprintf(line, sizeof(line), "move 404 %g; wait 300", y + 1);
	script_run(&s, line);
	assert_null(strstr(weft_viewer_status(s.viewer), "Plain rows"));
	script_end(&s);
}

static void run_at(struct script *s, const char *format, double x, double y, double y2)
{
	char line[200];
	snprintf(line, sizeof(line), format, x, y, x, y2);
	script_run(s, line);
}

static void lanes_follow_the_pointer(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	const struct weft_frame *frame = &s.viewer->frame;
	double y = frame->lanes.y + 14, edge = frame->lanes.y + 2 * 28;
	run_at(&s, "move %g %g", 300, y, 0);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "gntref is "));
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_POINTER);
	run_at(&s, "click %g %g", 300, y, 0); /* the task that changed it */
	assert_true(s.viewer->selection.task != WEFT_NONE);
	run_at(&s, "move %g %g", 300, edge, 0);
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_RESIZE_ROWS);
	run_at(&s, "drag %g %g %g %g", 300, edge, edge + 20);
	assert_true(frame->lane_height == 38 && frame->lanes.height == 3 * 38);
	run_at(&s, "drag %g %g %g %g", 300, frame->lanes.y + 2 * 38, 2000);
	assert_true(s.viewer->counters.lane_height == WEFT_LANE_HEIGHT_MAX);
	run_at(&s, "move %g %g", 300, frame->lanes.y - 3, 0);
	assert_int_not_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_RESIZE_ROWS);
	assert_int_equal(weft__viewer_counter_at(s.viewer, 300, frame->picture.y + 1), WEFT_NONE);
	script_end(&s);
}

/* A histogram's lane is below those of counters, and no counter's; it goes with them. */
static void lanes_of_histograms_are_no_counters(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	const struct weft_frame *frame = &s.viewer->frame;
	struct weft_model *model = (struct weft_model *)s.viewer->model;
	const struct weft_bucket bucket = {1, 3};
	struct weft_histogram histogram = {.values = 3, .bucket_count = 1};
	assert_int_equal(
		weft__strings_intern(&((struct weft__model *)model)->strings, "{}", 2, &histogram.labels),
		0);
	model->histograms = &histogram;
	model->histogram_count = 1;
	model->buckets = &bucket;
	script_run(&s, "command counter 1");
	assert_true(frame->lanes.height == 3 * 28);
	assert_int_equal(weft__viewer_counter_at(s.viewer, 300, frame->lanes.y + 1.5 * 28), 2);
	assert_int_equal(weft__viewer_counter_at(s.viewer, 300, frame->lanes.y + 2.5 * 28), WEFT_NONE);
	script_run(&s, "key O");
	assert_true(frame->lanes.height == 0);
	script_run(&s, "key O; key space");
	assert_true(frame->lanes.height == 0);
	model->histograms = NULL; /* the test's */
	model->buckets = NULL;
	model->histogram_count = 0;
	script_end(&s);
}

/* A drag that begins in a lane moves the picture in time only. */
static void lanes_are_dragged_in_time(void **state)
{
	(void)state;
	struct script s = script_begin(ARP_GOOD, true);
	script_run(&s, "command view start=10ms duration=5ms focus=40; wait 500");
	struct weft_view before = s.viewer->view;
	double y = s.viewer->frame.lanes.y + 10;
	run_at(&s, "drag %g %g %g %g", 300, y, y + 30);
	assert_true(s.viewer->view.focus == before.focus);
	char line[100];
	snprintf(line, sizeof(line), "drag 300 %g 200 %g; wait 1000", y, y + 30);
	script_run(&s, line);
	assert_true(s.viewer->view.left > before.left && s.viewer->view.focus == before.focus);
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

/* The last one climbs, with a step down now and then, the others go up and down. */
static struct weft_model *sixty_counters(void)
{
	static const int64_t last[] = {2, 2, 2, -1}, other[] = {-1, 1, -1, 1};
	struct weft_model_builder *builder = built_begin();
	for (uint32_t i = 0; i < 60 * 40; i++) {
		char name[16];
		built_add(
			builder, (struct weft_event){.type = WEFT_EVENT_COUNTER,
						 .time_ns = 1000 * (uint64_t)i,
						 .value = i % 60 == 59 ? last[i / 60 % 4] : other[i / 60 % 4],
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

/* ---- Long searches ---- */

#define LONG_BYTES ((size_t)24 << 20)

/* A task whose label takes many frames to search; it ends with "needle". */
static struct script show_long_label(void)
{
	struct made made = make_begin();
	char *label = malloc(LONG_BYTES);
	assert_non_null(label);
	for (size_t i = 0; i < LONG_BYTES; i++)
		label[i] = pick(2) ? 'a' : 'b';
	memcpy(label + LONG_BYTES - 7, "needle", 7);
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_label(&made, 1, label);
	free(label);
	made.time = 1000;
	make_edge(&made, WEFT_EVENT_RESOLVE, 1, 1);
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, make_model(&made), false), 0);
	return s;
}

static void expect_status(struct script *s, const char *part)
{
	if (!strstr(weft_viewer_status(s->viewer), part))
		fail_msg("'%s' is not in '%s'", part, weft_viewer_status(s->viewer));
}

/* The frames until the search has ended. */
static unsigned count_frames(struct script *s, unsigned most)
{
	unsigned frames = 0;
	for (; s->viewer->search.maker && frames < most; frames++)
		weft_viewer_advance(s->viewer, s->now_ms);
	return frames;
}

static void a_long_search_goes_on_between_inputs(void **state)
{
	(void)state;
	struct script s = show_long_label();
	script_run(&s, "key /; type needle");
	assert_non_null(s.viewer->search.maker);
	assert_null(s.viewer->search.found);
	assert_non_null(strstr(weft_viewer_prompt(s.viewer)->message, "searching"));
	assert_true(weft_viewer_advance(s.viewer, s.now_ms) == 0); /* it wants the next frame */
	script_run(&s, "enter needle");
	expect_status(&s, "Searching");
	assert_in_range(count_frames(&s, 1000), 2, 100);
	assert_int_equal(s.viewer->search.found->match_count, 1);
	assert_int_equal(s.viewer->search.match, 0); /* Enter went to the first match */
	expect_status(&s, "1 of 1");
	script_end(&s);
}

/* Each byte of this text leads to a new set of steps: the search would take seconds. */
#define SLOW "/a(a|b){120}c"

static void a_newer_search_ends_an_older_one(void **state)
{
	(void)state;
	struct script s = show_long_label();
	script_run(&s, "key /; type " SLOW);
	assert_int_equal(count_frames(&s, 10), 10);
	script_run(&s, "type zzz");
	assert_in_range(count_frames(&s, 1000), 1, 100);
	assert_int_equal(s.viewer->search.found->found, 0);
	script_run(&s, "type " SLOW);
	assert_non_null(s.viewer->search.maker);
	assert_non_null(s.viewer->search.found); /* what was found before is shown meanwhile */
	script_run(&s, "key Escape; key Escape; key Escape");
	assert_null(s.viewer->search.maker);
	script_end(&s);
}

static void after_a_search_the_view_comes_back(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	const struct weft_view all = s.viewer->view;
	script_run(&s, "key /; type read; key Enter; wait 500; key n; wait 500");
	assert_true(s.viewer->view.scale > 2 * all.scale);
	script_run(&s, "key Escape; key Escape; key Escape; wait 500");
	assert_null(s.viewer->search.found);
	assert_true(s.viewer->view.scale == all.scale);
	script_run(&s, "key [; wait 500");
	assert_true(s.viewer->view.scale > 2 * all.scale);
	/* Not if the user has moved since. */
	script_run(&s, "key 0; wait 500; key /; type read; key Enter; wait 500; key Escape");
	script_run(&s, "wheel 700 400 120; wait 500");
	const double chosen = s.viewer->view.scale;
	script_run(&s, "key Escape; key Escape; wait 500");
	assert_null(s.viewer->search.found);
	assert_true(s.viewer->view.scale == chosen);
	/* The view before this search, and not before an earlier one. */
	script_run(&s, "command view start=60ms duration=10ms; wait 500");
	const struct weft_view second = s.viewer->view;
	script_run(&s, "key /; type read; key Enter; wait 500; key n; wait 500");
	assert_true(s.viewer->view.left != second.left);
	script_run(&s, "key Escape; key Escape; key Escape; wait 500");
	close_to(s.viewer->view.left, second.left, 1);
	close_to(s.viewer->view.scale, second.scale, 1e-12);
	script_end(&s);
}

static void a_search_ends_with_its_trace(void **state)
{
	(void)state;
	struct script s = show_long_label();
	script_run(&s, "command view search=" SLOW);
	assert_non_null(s.viewer->search.maker);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), false), 0);
	assert_null(s.viewer->search.maker);
	script_run(&s, "wait 100; command view search=" SLOW);
	assert_non_null(s.viewer->search.found);
	script_end(&s);
	s = show_long_label();
	script_run(&s, "command view search=" SLOW);
	script_end(&s); /* in the middle of it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(problems_are_stepped_through),
		cmocka_unit_test(problems_are_seen_before_they_are_asked_for),
		cmocka_unit_test(matches_are_stepped_through),
		cmocka_unit_test(after_a_search_the_view_comes_back),
		cmocka_unit_test(a_range_snaps_and_is_measured),
		cmocka_unit_test(bookmarks_are_saved_as_they_are_loaded),
		cmocka_unit_test(bookmarks_are_changed_and_removed),
		cmocka_unit_test(a_link_leads_to_the_same_view),
		cmocka_unit_test(a_command_line_is_quoted_for_the_shell),
		cmocka_unit_test(counters_are_chosen),
		cmocka_unit_test(counters_are_drawn_over_tasks_on_request),
		cmocka_unit_test(an_answer_stays_while_the_hand_trembles),
		cmocka_unit_test(lanes_follow_the_pointer),
		cmocka_unit_test(lanes_of_histograms_are_no_counters),
		cmocka_unit_test(lanes_are_dragged_in_time),
		cmocka_unit_test(of_many_counters_a_few_are_drawn),
		cmocka_unit_test(a_long_search_goes_on_between_inputs),
		cmocka_unit_test(a_newer_search_ends_an_older_one),
		cmocka_unit_test(a_search_ends_with_its_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
