/* SPDX-License-Identifier: ISC
 *
 * The memory of a viewer: folds and groups, earlier views, requests, bookmarks, messages, the
 * search; and the parts of it that stay when a later state of the trace replaces the model.
 */
#include "viewer_sample.h"

#include "trace_script.h"

static struct script show(const char *trace, bool is_live)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(trace, 0), is_live), 0);
	return s;
}

static void pass(struct script *s, double ms)
{
	s->now_ms += ms;
	weft_viewer_advance(s->viewer, s->now_ms);
}

/* ---- Rows ---- */

#define ALIKE                                                                  \
	"[60: create 0 10+i task; label 10+i grant; ~700; resolve 0 10+i; ~300]; " \
	"[60: create 0 100+i task; label 100+i ring; ~700; resolve 0 100+i; ~300]"

static bool is_unfolded(const struct script *s, uint64_t id)
{
	return s->viewer->layout->form[weft_model_find_task(s->viewer->model, 0, id)] == WEFT_FORM_LINE;
}

static void toggle(struct script *s, uint64_t id)
{
	weft__viewer_toggle_fold(s->viewer, weft_model_find_task(s->viewer->model, 0, id));
}

/* A fold is found again by any of its members, and leaves others as they are. */
static void folds_are_toggled_one_by_one(void **state)
{
	(void)state;
	struct script s = show(ALIKE, false);
	toggle(&s, 20);
	toggle(&s, 120);
	assert_true(is_unfolded(&s, 10) && is_unfolded(&s, 110));
	toggle(&s, 30);
	assert_true(!is_unfolded(&s, 10) && is_unfolded(&s, 110));
	toggle(&s, 130);
	assert_true(!is_unfolded(&s, 10) && !is_unfolded(&s, 110));
	assert_int_equal(s.viewer->rows.exceptions.count, 0);
	script_end(&s);
}

/* The task in focus keeps its height when rows appear above it. */
static void the_anchor_keeps_its_height(void **state)
{
	(void)state;
	struct script s = show(
		"[80: create 0 500+i wait; label 500+i x; +1; create 500+i 700+i task]; " ALIKE, false);
	uint32_t task = weft_model_find_task(s.viewer->model, 0, 120);
	weft__viewer_select(s.viewer, task, 0);
	weft__viewer_reveal_task(s.viewer, task, s.viewer->layout->start[task]);
	double y = weft_view_y(&s.viewer->view, s.viewer->layout->row[task]);
	script_run(&s, "command fold all");
	close_to(weft_view_y(&s.viewer->view, s.viewer->layout->row[task]), y, 1);
	script_run(&s, "command fold all");
	close_to(weft_view_y(&s.viewer->view, s.viewer->layout->row[task]), y, 1);
	script_end(&s);
}

#define THREADS                                                                            \
	"thread 0; run 1; [9: create 1 10+i task; label 10+i here; +1]; +5; thread 1; run 2; " \
	"[9: create 2 30+i task; label 30+i there; +1]; +9; thread 0; run 1; +5"

/* A group is clicked anywhere beside its rows. */
static void groups_are_folded_by_a_click(void **state)
{
	(void)state;
	struct script s = show(THREADS, false);
	script_run(&s, "command fold all off; command group thread");
	const struct weft_frame *frame = &s.viewer->frame;
	uint32_t count = s.viewer->layout->group_count, rows = s.viewer->layout->row_count;
	assert_true(count > 1 && frame->groups.width > 0);
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_group *group = &s.viewer->layout->groups[i];
		double first = frame->picture.y + weft_view_y(&s.viewer->view, group->first_row);
		double last = frame->picture.y +
					  weft_view_y(&s.viewer->view, group->first_row + group->row_count - 1.0);
		assert_int_equal(weft__viewer_group_at(s.viewer, first), i);
		assert_int_equal(weft__viewer_group_at(s.viewer, last), i);
	}
	const struct weft_group *second = &s.viewer->layout->groups[1];
	double y = frame->picture.y + weft_view_y(&s.viewer->view, second->first_row);
	script_click(&s, frame->groups.x + 5, y, 0);
	assert_true(s.viewer->layout->groups[1].folded && !s.viewer->layout->groups[0].folded);
	assert_true(s.viewer->layout->row_count < rows);
	char link[1000];
	snprintf(link, sizeof(link), "%s", weft_viewer_link(s.viewer));
	script_run(&s, "command group 2");
	assert_false(s.viewer->layout->groups[1].folded);
	script_run(&s, "command view");
	assert_int_equal(s.viewer->layout->group_count, 0);
	assert_true(weft_viewer_command(s.viewer, link, s.now_ms));
	assert_true(s.viewer->layout->groups[1].folded && !s.viewer->layout->groups[0].folded);
	script_end(&s);
}

/* ---- Earlier views ---- */

static void move(struct script *s, double px)
{
	struct weft_view view = s->viewer->view;
	weft__viewer_remember(s->viewer, true);
	weft_view_pan(&view, px);
	weft__viewer_glide(s->viewer, &view);
}

static unsigned count_back(struct script *s)
{
	unsigned count = 0;
	while (weft__viewer_recall(s->viewer, -1))
		assert_true(++count < 1000);
	return count;
}

static void the_oldest_views_are_forgotten(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command view start=60ms duration=10ms");
	double first = s.viewer->view.left;
	for (int i = 0; i < 20; i++)
		move(&s, 30);
	assert_int_equal(count_back(&s), 21);
	assert_false(weft__viewer_recall(s.viewer, -1));
	for (int i = 0; i < 21; i++)
		assert_true(weft__viewer_recall(s.viewer, 1));
	assert_false(weft__viewer_recall(s.viewer, 1));
	close_to(s.viewer->view.left, first - 20 * 30 / s.viewer->view.scale, 1);
	for (int i = 0; i < 80; i++)
		move(&s, i % 2 ? 30 : -30);
	assert_int_equal(count_back(&s), 63);
	script_end(&s);
}

/* Compared with a list: a move after a step back makes the later views forgotten. */
static void earlier_views_are_those_of_a_list(void **state)
{
	double list[200];
	unsigned at = 0, count = 1, back = 0, forward = 0;
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s, "command view start=60ms duration=10ms");
	s.viewer->history.at = s.viewer->history.count = 0; /* without the view of the whole trace */
	list[0] = s.viewer->view.left;
	for (unsigned i = 0; i < 150; i++) {
		const int step = pick(2) ? 1 : -1;
		if (pick(3)) {
			const bool is_there = step < 0 ? at > 0 : at + 1 < count;
			assert_int_equal(weft__viewer_recall(s.viewer, step), is_there);
			at += is_there ? (unsigned)step : 0;
			back += step < 0 && is_there;
			forward += step > 0 && is_there;
			close_to(s.viewer->view.left, list[at], 1);
		} else {
			move(&s, 30 * step);
			list[++at] = s.viewer->view.left;
			count = at + 1;
		}
	}
	assert_true(back > 20 && forward > 5);
	script_end(&s);
}

/* A view that differs by less than a pixel from the one before is not remembered again. */
static void alike_views_are_one(void **state)
{
	static const struct {
		double px;
		unsigned count;
	} cases[] = {{0.9, 2}, {1.1, 3}};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct script s = script_begin(BLOCK_READ, true);
		script_run(&s, "command view start=60ms duration=10ms");
		move(&s, cases[i].px);
		move(&s, 50);
		assert_int_equal(count_back(&s), cases[i].count);
		script_end(&s);
	}
}

/* Steps within a second of the one before are one move. */
static void quick_steps_are_one_move(void **state)
{
	(void)state;
	for (int ms = 999; ms <= 1000; ms++) {
		struct script s = script_begin(BLOCK_READ, true);
		script_run(&s, "command view start=60ms duration=10ms");
		pass(&s, 5000);
		script_run(&s, "command pan left");
		pass(&s, ms);
		script_run(&s, "command pan left");
		assert_int_equal(count_back(&s), ms < 1000 ? 2 : 3);
		script_end(&s);
	}
}

/* ---- Requests and bookmarks ---- */

static void of_many_requests_the_latest_are_kept(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_viewer_request request;
	for (unsigned i = 0; i < 40; i++) {
		char text[8];
		snprintf(text, sizeof(text), "%u", i);
		weft__viewer_request(s.viewer, WEFT_VIEWER_COPY, text, i, 2 * i);
	}
	assert_true(weft_viewer_changes(s.viewer) & WEFT_VIEWER_REQUEST);
	for (unsigned i = 8; i < 40; i++) {
		char text[8];
		snprintf(text, sizeof(text), "%u", i);
		assert_true(weft_viewer_next_request(s.viewer, &request));
		assert_string_equal(request.text, text);
		assert_true(request.start == i && request.end == 2 * i);
	}
	assert_false(weft_viewer_next_request(s.viewer, &request));
	script_end(&s);
}

static uint32_t load(struct script *s, const char *text)
{
	return weft_viewer_load_notes(s->viewer, text, strlen(text));
}

static void bookmarks_are_in_the_order_of_time(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	assert_int_equal(load(&s, "@30 c\n@10 a\n@20 b\n@20 before b\n@5\n"), 0);
	static const char *const texts[] = {"", "a", "before b", "b", "c"};
	assert_int_equal(s.viewer->marks.count, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_string_equal(s.viewer->marks.list[i].text, texts[i]);
	assert_int_equal(s.viewer->marks.current, WEFT__NO_MARK);
	/* Numbers up to the largest, lines with and without a text, and nothing else. */
	assert_int_equal(load(&s, "@18446744073709551609 x"), 0);
	assert_true(s.viewer->marks.list[0].time == UINT64_C(18446744073709551609));
	assert_int_equal(load(&s, "@18446744073709551620\n@9x\n@ 9\n7\n@\n@9 \n"), 5);
	assert_int_equal(s.viewer->marks.count, 1);
	script_end(&s);
}

static void bookmarks_are_bounded(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	struct weft_text text = {0};
	for (unsigned i = 0; i < 10002; i++)
		weft_text_add_string(&text, "@7\n");
	assert_int_equal(weft_viewer_load_notes(s.viewer, text.bytes, text.size), 2);
	assert_int_equal(s.viewer->marks.count, 10000);
	text.size = 0;
	weft_text_add_string(&text, "@7 ");
	for (unsigned i = 0; i < 300; i++)
		weft_text_add_string(&text, "x");
	assert_int_equal(weft_viewer_load_notes(s.viewer, text.bytes, text.size), 0);
	assert_int_equal(strlen(s.viewer->marks.list[0].text), 200);
	weft_text_finish(&text);
	script_end(&s);
}

/* A bookmark is set under the pointer, else at the selected time, else in the middle. */
static void a_bookmark_is_set_where_the_user_looks(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	const struct weft_view *view = &s.viewer->view;
	script_run(&s, "key m; key Escape");
	close_to((double)(s.viewer->marks.list[0].time - view->start),
		(double)(view->end - view->start) / 2, 2);
	script_run(&s, "command unmark 1; command select task:382 100ms; key m; key Escape");
	assert_int_equal(s.viewer->marks.list[0].time, view->start + 100000000);
	script_run(&s, "command unmark 1");
	script_point(&s, WEFT_VIEWER_MOVE, 300, 500, 0, WEFT_VIEWER_ALT);
	script_run(&s, "key m; key Escape");
	close_to(weft__viewer_canvas_x(s.viewer, s.viewer->marks.list[0].time), 300, 0.1);
	assert_false(s.viewer->snap.is_set);
	script_end(&s);
}

/* ---- Messages, hovering ---- */

static void a_message_is_shown_for_eight_seconds(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_draw(&s);
	pass(&s, 3000);
	script_run(&s, "command back");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "first view"));
	close_to(weft_viewer_advance(s.viewer, s.now_ms), 8000, 1e-6);
	pass(&s, 7999);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "first view"));
	pass(&s, 1);
	assert_null(strstr(weft_viewer_status(s.viewer), "first view"));
	script_end(&s);
}

/* A task below a resting pointer is described after 80 ms, and stands out within 120 ms. */
static void hovering_takes_a_moment(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, false);
	script_draw(&s);
	pass(&s, 3000);
	pass(&s, 3000);
	script_point(&s, WEFT_VIEWER_MOVE, 600, 132, 0, 0);
	close_to(weft_viewer_advance(s.viewer, s.now_ms), 80, 1e-6);
	pass(&s, 79);
	assert_int_equal(s.viewer->hover.task, WEFT_NONE);
	pass(&s, 1);
	assert_int_not_equal(s.viewer->hover.task, WEFT_NONE);
	assert_true(weft_viewer_advance(s.viewer, s.now_ms) == 0); /* it fades in */
	pass(&s, 30);
	close_to(s.viewer->fade.strength, 0.25, 1e-9);
	weft_viewer_changes(s.viewer);
	pass(&s, 90);
	close_to(s.viewer->fade.strength, 1, 0);
	assert_true(weft_viewer_changes(s.viewer) & WEFT_VIEWER_CANVAS);
	assert_true(isinf(weft_viewer_advance(s.viewer, s.now_ms)));
	script_run(&s, "leave 0 0");
	assert_int_equal(s.viewer->hover.task, WEFT_NONE);
	pass(&s, 60);
	close_to(s.viewer->fade.strength, 0.5, 1e-9);
	script_end(&s);
}

/* Moves the pointer onto a tooth of the first fold. */
static void point_at_fold(struct script *s)
{
	const struct weft_viewer *v = s->viewer;
	const struct weft_fold *fold = &v->layout->folds[0];
	uint32_t member = v->layout->fold_members[fold->first + 5];
	script_run(s, "leave 0 0");
	script_point(s, WEFT_VIEWER_MOVE, weft__viewer_canvas_x(v, v->layout->start[member]) + 1,
		v->frame.picture.y + weft_view_y(&v->view, fold->row), 0, 0);
	pass(s, 200);
}

/* The figures of a fold are kept while the pointer moves on it, and belong to one layout. */
static void the_figures_of_a_fold_are_its_own(void **state)
{
	static const char *const traces[] = {
		"[60: create 0 10+i task; label 10+i grant; ~700; resolve 0 10+i; ~300]; +5",
		"[30: create 0 10+i task; label 10+i grant; ~700; resolve 0 10+i; ~300]; +5"};
	(void)state;
	struct script s = show(traces[0], false);
	point_at_fold(&s);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "60 \xc3\x97"));
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(traces[1], 0), false), 0);
	point_at_fold(&s);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "30 \xc3\x97"));
	script_end(&s);
}

/* ---- Problems ---- */

static void new_problems_flash_once(void **state)
{
	(void)state;
	for (int reduced = 0; reduced < 2; reduced++) {
		struct script s = script_begin(BLOCK_READ, reduced);
		assert_false(s.viewer->problems.is_pulsing);
		pass(&s, 100);
		assert_null(s.viewer->problems.found); /* the first picture comes first */
		script_draw(&s);
		pass(&s, 100);
		assert_non_null(s.viewer->problems.found);
		assert_int_equal(s.viewer->problems.is_pulsing, !reduced);
		pass(&s, 899);
		assert_int_equal(s.viewer->problems.is_pulsing, !reduced);
		pass(&s, 1);
		assert_false(s.viewer->problems.is_pulsing);
		script_end(&s);
	}
}

/* The viewer looks for problems of a growing trace every three seconds. */
static void problems_of_a_growing_trace_are_found_now_and_then(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, false);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), true), 0);
	script_draw(&s);
	pass(&s, 100);
	assert_non_null(s.viewer->problems.found);
	assert_false(s.viewer->problems.is_pulsing);
	uint32_t count = s.viewer->problems.count;
	assert_true(count > 0);
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), true), 0);
	assert_null(s.viewer->problems.found);
	assert_int_equal(s.viewer->problems.count, count); /* as last known */
	script_draw(&s);
	close_to(weft_viewer_advance(s.viewer, s.now_ms), 3000, 1e-6);
	pass(&s, 3000);
	assert_null(s.viewer->problems.found);
	pass(&s, 1);
	assert_non_null(s.viewer->problems.found);
	script_end(&s);
}

/* ---- Another model ---- */

static void a_later_state_keeps_what_was_chosen(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	script_run(&s,
		"command search Xs; command match next; command related; command counters off; command filter -kind:bind");
	script_run(&s,
		"drag 300 300 600 300 shift; wait 2000; command view start=5ms duration=1ms filter=-kind:bind counters=off");
	uint32_t found = s.viewer->search.found->task_count;
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(BLOCK_READ), false), 0);
	assert_int_equal(s.viewer->search.found->task_count, found);
	assert_int_equal(s.viewer->search.match, WEFT_NONE);
	assert_int_equal(s.viewer->selection.related_count, 0);
	assert_true(s.viewer->range.is_set);
	assert_true(s.viewer->history.count > 0);
	assert_string_equal(s.viewer->rows.filter, "-kind:bind");
	assert_false(s.viewer->is_following);
	assert_true(weft_viewer_changes(s.viewer) & WEFT_VIEWER_CANVAS);
	/* Another trace: what refers to its tasks and times is forgotten. */
	s.viewer->rows.exceptions.count = 0;
	assert_int_equal(weft_viewer_show(s.viewer, sample_model(ARP_GOOD), false), 0);
	assert_false(s.viewer->range.is_set);
	assert_int_equal(s.viewer->history.count, 0);
	assert_int_equal(s.viewer->problems.count, 0);
	script_end(&s);
}

/* A model of this buffer. */
static struct weft_model *model_of_buffer(const struct weft_trace_buffer *buffer, uint64_t later_ns)
{
	struct weft_model *model = sample_model(BLOCK_READ);
	struct weft_trace_buffer *copy = malloc(sizeof(*copy));
	assert_non_null(copy);
	*copy = *buffer;
	copy->process = copy->host = copy->file = "";
	free((void *)(uintptr_t)model->buffers);
	model->buffers = copy;
	model->buffer_count = 1;
	model->summary.start += later_ns;
	return model;
}

/* The clock's rate, and so the times, are known better when a live trace is saved. Without the
 * buffer's id, or with a beginning much later, it is another trace. */
static void the_saved_trace_of_a_live_one_is_the_same(void **state)
{
	(void)state;
	static const struct weft_trace_buffer known = {.uuid = {1}}, other = {.uuid = {2}}, unknown;
	const struct {
		const struct weft_trace_buffer *before, *after;
		uint64_t later_ns;
		bool is_same;
	} cases[] = {
		{&known, &known, 0, true},
		{&known, &known, 5, true},
		{&known, &known, 999999, true},
		{&known, &known, 1000000, false},
		{&known, &other, 5, false},
		{&unknown, &unknown, 5, false},
		{&unknown, &known, 5, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
			uint64_t before = is_swapped ? cases[i].later_ns : 0;
			uint64_t after = is_swapped ? 0 : cases[i].later_ns;
			struct script s = script_begin(BLOCK_READ, true);
			assert_int_equal(
				weft_viewer_show(s.viewer, model_of_buffer(cases[i].before, before), true), 0);
			s.viewer->range.is_set = true;
			assert_int_equal(
				weft_viewer_show(s.viewer, model_of_buffer(cases[i].after, after), false), 0);
			assert_int_equal(s.viewer->range.is_set, cases[i].is_same);
			script_end(&s);
		}
}

/* The task of the alert is selected, its moment is in the middle of a view of a part of the trace,
 * and the alert is the problem that is marked. */
static void a_snapshot_opens_at_its_alert(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, true);
	struct weft_model *model = sample_model(BLOCK_READ);
	const struct weft_model_summary summary = model->summary;
	const uint64_t moment = summary.start + (summary.end - summary.start) / 3;
	const struct weft_trace_alert alert = {
		.time_ns = moment, .task = model->tasks.id[7], .rule = "tag x"};
	const struct weft_trace_buffer buffer = {.uuid = {3}, .alerts = &alert, .alert_count = 1};
	weft_model_destroy(model);
	assert_int_equal(weft_viewer_show(s.viewer, model_of_buffer(&buffer, 0), false), 0);
	script_draw(&s);
	const struct weft_view *view = &s.viewer->view;
	assert_true(weft_view_time(view, 0) < moment && weft_view_time(view, view->width) > moment);
	assert_true(weft__view_duration(view) < (double)(summary.end - summary.start) / 4);
	assert_int_equal(s.viewer->selection.task, 7);
	while (!s.viewer->problems.found)
		pass(&s, 1);
	assert_int_equal(weft__viewer_marked_problem(s.viewer)->type, WEFT_PROBLEM_ALERT);
	assert_int_equal(weft__viewer_marked_problem(s.viewer)->start, moment);
	script_end(&s);
}

/* A prepared trace is shown as if it had been made at once. */
static void a_prepared_trace_is_shown_with_the_chosen_rows(void **state)
{
	(void)state;
	for (int is_filtered = 0; is_filtered < 2; is_filtered++) {
		struct script s = script_begin(BLOCK_READ, true);
		struct weft_viewer_prepared *prepared;
		if (is_filtered)
			script_run(&s, "command filter -kind:bind");
		uint32_t rows = s.viewer->layout->row_count;
		assert_int_equal(weft_viewer_prepare(sample_model(BLOCK_READ), NULL, &prepared), 0);
		assert_int_equal(weft_viewer_show_prepared(s.viewer, prepared), 0);
		assert_int_equal(s.viewer->layout->row_count, rows);
		script_draw(&s);
		script_end(&s);
	}
	weft_viewer_prepared_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folds_are_toggled_one_by_one),
		cmocka_unit_test(the_anchor_keeps_its_height),
		cmocka_unit_test(groups_are_folded_by_a_click),
		cmocka_unit_test(the_oldest_views_are_forgotten),
		cmocka_unit_test(earlier_views_are_those_of_a_list),
		cmocka_unit_test(alike_views_are_one),
		cmocka_unit_test(quick_steps_are_one_move),
		cmocka_unit_test(of_many_requests_the_latest_are_kept),
		cmocka_unit_test(bookmarks_are_in_the_order_of_time),
		cmocka_unit_test(bookmarks_are_bounded),
		cmocka_unit_test(a_bookmark_is_set_where_the_user_looks),
		cmocka_unit_test(a_message_is_shown_for_eight_seconds),
		cmocka_unit_test(hovering_takes_a_moment),
		cmocka_unit_test(the_figures_of_a_fold_are_its_own),
		cmocka_unit_test(new_problems_flash_once),
		cmocka_unit_test(problems_of_a_growing_trace_are_found_now_and_then),
		cmocka_unit_test(a_later_state_keeps_what_was_chosen),
		cmocka_unit_test(the_saved_trace_of_a_live_one_is_the_same),
		cmocka_unit_test(a_snapshot_opens_at_its_alert),
		cmocka_unit_test(a_prepared_trace_is_shown_with_the_chosen_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
