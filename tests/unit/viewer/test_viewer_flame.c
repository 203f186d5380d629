/* SPDX-License-Identifier: ISC
 *
 * The flame graph in the viewer: of the range, the filter or the selected task; its panel, zoom,
 * pointer and link. tests/unit/profile has the boxes.
 */
#include "viewer_sample.h"

#include "profile/graph.h"
#include "trace_script.h"

/* Task 1 waits for the lock for 30 us in flush, then for 10 us in poll; task 2 for 60 us in poll.
 */
static const char waits[] =
	"create 0 1 thread; label 1 writer; create 0 2 thread; label 2 reader; create 0 5 lock;"
	"create 0 6 timer; create 0 7 timer;"
	"thread 1; run 1; +10; stack 1 flush; try 1 5; idle; +30; acquire 1 5; run 1; +5;"
	"stack 1 poll; try 1 6; idle; +10; resolve 0 6; read 1 6; run 1; +5; idle;"
	"thread 2; run 2; +1; stack 2 poll; try 2 7; idle; +60; resolve 0 7; read 2 7; run 2; +5;"
	"idle";

static struct weft_model *model_of_waits(void)
{
	struct trace_script script = {.made = make_begin()};
	trace_script_run_all(&script, waits);
	return make_model(&script.made);
}

static struct script begin_waits(void)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, model_of_waits(), false), 0);
	return s;
}

static uint64_t weight(const struct script *s)
{
	return weft_profile_weight(s->viewer->flame.profile);
}

static const struct weft_viewer_item *item(const struct script *s, const char *text)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(s->viewer);
	for (uint32_t i = 0; i < panel->item_count; i++)
		if (strcmp(panel->items[i].text, text) == 0)
			return &panel->items[i];
	return NULL;
}

static bool is_drawn(struct script *s, const char *words)
{
	struct weft_text text = {0};
	script_text(s, &text);
	weft_text_add(&text, "", 1);
	const bool is_found = strstr(text.bytes, words) != NULL;
	weft_text_finish(&text);
	return is_found;
}

/* The middle of a box; the name must be that of one box only. */
static void find_box(const struct script *s, const char *name, double *ret_x, double *ret_y)
{
	const struct weft__profile_graph *graph = s->viewer->flame.graph;
	for (uint32_t i = 0; i < graph->box_count; i++) {
		const struct weft__profile_box *box = &graph->boxes[i];
		const struct weft_slice found = weft__profile_graph_name(graph, box->node);
		if (found.size != strlen(name) || memcmp(found.bytes, name, found.size) != 0)
			continue;
		*ret_x = box->x + box->width / 2;
		*ret_y = weft__viewer_flame_top(s->viewer) +
				 (graph->tree.nodes[box->node].depth + 0.5) * WEFT__GRAPH_ROW;
		return;
	}
	fail_msg("there is no box %s", name);
}

static void point_at(struct script *s, const char *action, const char *name)
{
	char line[64];
	double x, y;
	find_box(s, name, &x, &y);
	snprintf(line, sizeof(line), "%s %g %g", action, x, y);
	script_run(s, line);
}

static void a_key_shows_it_instead_of_the_tasks(void **state)
{
	struct script s = begin_waits();
	(void)state;
	assert_true(is_drawn(&s, "writer"));
	script_run(&s, "key k");
	assert_int_equal(weight(&s), 100000);
	assert_true(is_drawn(&s, "Where threads waited: 100 us in 3 waits, within "));
	assert_true(is_drawn(&s, "\"flush\""));
	assert_string_equal(weft_viewer_status(s.viewer), "all: 100 us, 100 %, 3 waits");
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Flame graph");
	assert_string_equal(item(&s, "poll")->detail, "70 us, 70 %");
	assert_true(item(&s, "Where in the code threads waited")->is_selected);
	script_run(&s, "key k");
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "");
	assert_false(is_drawn(&s, "\"flush\""));
	script_end(&s);
}

/* Nothing speaks of the tasks: neither the legend, nor the status, nor hidden texts of a file. */
static void there_are_no_words_about_tasks(void **state)
{
	static const char *const words[] = {"\"writer\"", "\"running\"", "\"waiting\"", "\"hello\""};
	struct script s = begin_waits();
	(void)state;
	script_run(&s, "move 500 400; key m; enter hello; wait 9000");
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_true(is_drawn(&s, words[i]));
	script_run(&s, "command select task:2; key k");
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_false(is_drawn(&s, words[i]));
	assert_true(is_drawn(&s, "\"all: 100 us, 100 %, 3 waits\""));
	script_end(&s);
}

static void it_is_of_the_range_and_follows_it(void **state)
{
	struct script s = begin_waits();
	const uint64_t start = s.viewer->model->summary.start;
	char line[80];
	(void)state;
	script_run(&s, "key k");
	/* From the ruler on, which is seen above it: the first 40 us. */
	const double y = s.viewer->frame.ruler.y + 5, x = weft__viewer_canvas_x(s.viewer, start);
	const double x2 = weft__viewer_canvas_x(s.viewer, start + 40000);
	snprintf(line, sizeof(line), "drag %g %g %g %g", x, y, x2, y);
	script_run(&s, line);
	assert_true(s.viewer->range.is_set);
	close_to((double)weight(&s), 30000, 500);
	script_run(&s, "key Escape"); /* back to the tasks; the range stays */
	assert_false(s.viewer->flame.is_shown);
	assert_true(s.viewer->range.is_set);
	script_end(&s);
}

static void it_is_of_the_filter_or_of_one_task(void **state)
{
	struct script s = begin_waits();
	(void)state;
	script_run(&s, "key k; command filter -reader");
	assert_int_equal(weight(&s), 40000);
	script_run(&s, "command filter off; command flame task");
	assert_string_equal(weft_viewer_status(s.viewer), "No task is selected.");
	assert_int_equal(weight(&s), 100000);
	script_run(&s, "command select task:2; command flame task");
	assert_int_equal(weight(&s), 60000);
	assert_true(item(&s, "Only the selected task")->is_selected);
	/* Without a selection it is of all again, and says so. */
	script_run(&s, "key Escape; key Escape; key k");
	assert_int_equal(s.viewer->selection.task, WEFT_NONE);
	assert_int_equal(weight(&s), 100000);
	assert_false(item(&s, "Only the selected task")->is_selected);
	script_run(&s, "command flame task");
	assert_string_equal(weft_viewer_status(s.viewer), "No task is selected.");
	script_run(&s, "command select task:2; key k");
	assert_int_equal(weight(&s), 100000);
	script_end(&s);
}

static void the_pointer_names_and_zooms(void **state)
{
	struct script s = begin_waits();
	(void)state;
	script_run(&s, "key k");
	point_at(&s, "move", "flush");
	assert_string_equal(weft_viewer_status(s.viewer), "flush: 30 us, 30 %, 1 wait. Click: zoom.");
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_POINTER);
	point_at(&s, "click", "flush");
	const struct weft__profile_graph *graph = s.viewer->flame.graph;
	assert_int_equal(graph->box_count, 3); /* all, flush, [lock]: each as wide as the picture */
	close_to(graph->boxes[2].width, graph->boxes[0].width, 1e-6);
	assert_string_equal(item(&s, "all")->command, "flame zoom 0");
	assert_non_null(item(&s, "[lock]"));
	script_run(&s, "key Escape");
	assert_int_equal(s.viewer->flame.graph->zoom, 0);
	assert_true(s.viewer->flame.is_shown);
	script_run(&s, "move 3 3");
	assert_int_equal(s.viewer->flame.hovered, WEFT_NONE);
	script_end(&s);
}

/* The zoom is kept where another part of the trace has the function, too. */
static void a_zoom_outlives_another_part(void **state)
{
	struct script s = begin_waits();
	(void)state;
	script_run(&s, "key k");
	point_at(&s, "click", "poll");
	script_run(&s, "command filter -writer");
	assert_int_equal(weight(&s), 60000);
	assert_int_not_equal(s.viewer->flame.graph->zoom, 0);
	script_run(&s, "command filter -timer; command flame zoom 99; command flame zoom x");
	script_draw(&s);
	script_run(&s, "command filter kind:lock");
	assert_int_equal(weight(&s), 0);
	assert_true(is_drawn(&s, "No waits here whose calls were noted"));
	script_end(&s);
}

static void a_link_shows_it(void **state)
{
	struct script s = begin_waits();
	char link[300];
	(void)state;
	script_run(&s, "key k");
	snprintf(link, sizeof(link), "command %s", weft_viewer_link(s.viewer));
	assert_non_null(strstr(link, " flame=waits"));
	script_run(&s, "key k");
	script_run(&s, link);
	assert_true(s.viewer->flame.is_shown);
	script_run(&s, "command view focus=0");
	assert_false(s.viewer->flame.is_shown);
	script_run(&s, "command view flame=heat");
	assert_false(s.viewer->flame.is_shown);
	script_end(&s);
}

static void going_to_a_task_shows_the_tasks(void **state)
{
	struct script s = begin_waits();
	(void)state;
	script_run(&s, "key k; command select task:6; key H; command slow first");
	assert_false(s.viewer->flame.is_shown);
	assert_string_equal(weft_viewer_panel(s.viewer)->title, "Statistics");
	script_end(&s);
}

static void a_trace_without_calls_says_so(void **state)
{
	struct script s = script_begin(ARP_GOOD, true);
	(void)state;
	script_run(&s, "key k");
	assert_true(is_drawn(&s, "No waits here whose calls were noted"));
	assert_string_equal(item(&s, "Show the tasks")->command, "flame off");
	script_run(&s, "command flame cpu; click 600 300; wheel 600 300 500; key ArrowDown; key v");
	assert_true(is_drawn(&s, "No samples of what threads ran here"));
	script_end(&s);
	s = script_begin(NULL, true);
	script_run(&s, "key k; move 300 300; wheel 300 300 120");
	script_draw(&s);
	script_end(&s);
}

/* It takes several inputs then; Escape ends that. */
static void a_large_one_is_made_in_steps(void **state)
{
	struct script s = begin_waits();
	(void)state;
	s.viewer->at_once = 0;
	script_run(&s, "key k");
	for (int i = 0; s.viewer->flame.is_making && i < 100; i++)
		script_run(&s, "wait 20");
	assert_int_equal(weight(&s), 100000);
	weft__viewer_leave_flame(s.viewer);
	s.viewer->flame.is_making = true;
	assert_true(is_drawn(&s, "Making the flame graph"));
	script_run(&s, "key Escape");
	assert_false(s.viewer->flame.is_making);
	assert_true(is_drawn(&s, "The flame graph was not made."));
	script_run(&s, "command flame waits");
	assert_int_equal(weight(&s), 100000);
	script_end(&s);
}

/* Also one that begins between inputs, as after a filter whose rows took some time. */
static void a_large_one_goes_on_without_inputs(void **state)
{
	struct made made = make_begin();
	struct script s = script_begin(NULL, true);
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_THREAD);
	make_create(&made, 0, 2, WEFT_KIND_LOCK);
	for (int i = 0; i < 300000; i++) {
		make_switch(&made, 1);
		make(&made, (struct weft_event){.type = WEFT_EVENT_STACK, .task = 1, .text = {"f", 1}});
		make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 1000;
		make_edge(&made, WEFT_EVENT_ACQUIRE, 1, 2);
		make_edge(&made, WEFT_EVENT_RELEASE, 1, 2);
	}
	assert_int_equal(weft_viewer_show(s.viewer, make_model(&made), false), 0);
	s.viewer->at_once = 0;
	script_run(&s, "key k; command filter kind:thread");
	for (s.now_ms += 1; weft_viewer_advance(s.viewer, s.now_ms) == 0;)
		s.now_ms += 1;
	assert_false(s.viewer->flame.is_making);
	assert_string_equal(s.viewer->flame.part.filter, "kind:thread");
	assert_int_equal(weft_profile_count(s.viewer->flame.profile), 300000);
	script_end(&s);
}

/* A deep graph is moved by wheel, drag and keys, as far as it has rows. */
static void deep_calls_are_scrolled(void **state)
{
	struct trace_script script = {.made = make_begin()};
	char calls[600] = "";
	for (unsigned i = 0; i < 60; i++)
		snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), "%sf%u",
			i ? " \xe2\x86\x90 " : "", i);
	struct weft_event event = {.type = WEFT_EVENT_STACK, .task = 1, .text = {calls, strlen(calls)}};
	(void)state;
	trace_script_run_all(&script, "create 0 1 thread; create 0 6 timer; run 1; +10");
	make(&script.made, event);
	trace_script_run_all(&script, "try 1 6; idle; +10; resolve 0 6; read 1 6; run 1; +5; idle");
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, make_model(&script.made), false), 0);
	script_run(&s, "key k; size 1400 500");
	assert_false(is_drawn(&s, "\"f0\""));
	script_run(&s, "wheel 500 300 9999");
	assert_true(is_drawn(&s, "\"f0\""));
	const double lowest = s.viewer->flame.scroll;
	script_run(&s, "wheel 500 300 9999; key ArrowDown");
	close_to(s.viewer->flame.scroll, lowest, 1e-9);
	script_run(&s, "drag 500 300 500 350");
	close_to(s.viewer->flame.scroll, lowest - 50, 1e-9);
	assert_int_equal(s.viewer->flame.graph->zoom, 0);
	script_run(&s, "wheel 500 300 -9999; wheel 500 300 -9999");
	close_to(s.viewer->flame.scroll, 0, 1e-9);
	script_end(&s);
}

/* A narrow window shortens the sentence above the boxes. Below them, which fill it, the legend has
 * a line for each file. */
static void all_of_a_narrow_graph_is_reached(void **state)
{
	struct trace_script script = {.made = make_begin()};
	char calls[1200] = "";
	for (unsigned i = 0; i < 20; i++)
		snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls),
			"%sf%u (a_file_with_a_long_name_%u.c:1)", i ? " \xe2\x86\x90 " : "", i, i);
	struct weft_event event = {.type = WEFT_EVENT_STACK, .task = 1, .text = {calls, strlen(calls)}};
	(void)state;
	trace_script_run_all(&script, "create 0 1 thread; create 0 6 timer; run 1; +10");
	make(&script.made, event);
	trace_script_run_all(&script, "try 1 6; idle; +10; resolve 0 6; read 1 6; run 1; +5; idle");
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, make_model(&script.made), false), 0);
	script_run(&s, "size 260 500; key k; wheel 100 200 9999");
	const struct weft_box box = weft__viewer_flame_box(s.viewer);
	struct weft_canvas *canvas;
	assert_int_equal(weft_canvas_create(260, 500, &canvas), 0);
	assert_int_equal(weft_viewer_draw(s.viewer, canvas), 0);
	double lowest = 0;
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		if (op->type != WEFT_CANVAS_TEXT)
			continue;
		assert_true(op->x + op->width <= 260);
		if (strcmp(canvas->text + op->first, "other files") == 0)
			lowest = op->y;
	}
	assert_true(lowest > box.y && lowest < box.y + box.height);
	weft_canvas_destroy(canvas);
	script_end(&s);
}

/* The graph of a trace that grows is made anew at most once a second, and keeps its zoom. */
static void it_grows_with_a_live_trace(void **state)
{
	struct script s = script_begin(NULL, true);
	(void)state;
	assert_int_equal(weft_viewer_show(s.viewer, model_of_waits(), true), 0);
	script_run(&s, "key k");
	const struct weft__profile_graph *first = s.viewer->flame.graph;
	point_at(&s, "click", "poll");
	const uint32_t zoom = first->zoom;
	assert_int_equal(weft_viewer_show(s.viewer, model_of_waits(), true), 0);
	assert_ptr_equal(s.viewer->flame.graph, first);
	script_draw(&s);
	s.now_ms += 2000;
	script_run(&s, "move 3 3");
	assert_true(s.viewer->flame.is_made);
	assert_int_equal(s.viewer->flame.graph->zoom, zoom);
	assert_int_equal(weft_viewer_show(s.viewer, model_of_waits(), false), 0);
	assert_true(s.viewer->flame.is_made);
	script_end(&s);
}

/* Samples are read when it is complete. */
static void a_live_trace_has_no_samples_yet(void **state)
{
	struct script s = script_begin(NULL, true);
	(void)state;
	assert_int_equal(weft_viewer_show(s.viewer, model_of_waits(), true), 0);
	script_run(&s, "command flame cpu");
	assert_true(is_drawn(&s, "A trace that grows has no samples of what threads ran yet."));
	assert_int_equal(weft_viewer_show(s.viewer, model_of_waits(), false), 0);
	assert_true(is_drawn(&s, "No samples of what threads ran here"));
	script_end(&s);
}

/* It would not succeed if it were made again and again. */
static void one_that_was_not_made_waits_for_more_events(void **state)
{
	struct script s = script_begin(NULL, true);
	(void)state;
	assert_int_equal(weft_viewer_show(s.viewer, model_of_waits(), true), 0);
	script_run(&s, "key k");
	assert_int_equal(weft_viewer_show(s.viewer, model_of_waits(), true), 0);
	s.viewer->flame.is_ended = true;
	assert_true(weft_viewer_advance(s.viewer, s.now_ms + 5000) > 0);
	assert_false(s.viewer->flame.is_made);
	script_end(&s);
}

static void another_trace_has_a_graph_of_its_own(void **state)
{
	struct trace_script script = {.made = make_begin()};
	struct script s = begin_waits();
	(void)state;
	script_run(&s, "key k");
	point_at(&s, "click", "poll");
	assert_int_not_equal(s.viewer->flame.graph->zoom, 0);
	script.made.time += 5000000;
	trace_script_run_all(&script, waits);
	assert_int_equal(weft_viewer_show(s.viewer, make_model(&script.made), false), 0);
	assert_int_equal(weight(&s), 100000);
	assert_int_equal(s.viewer->flame.graph->zoom, 0);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_shows_it_instead_of_the_tasks),
		cmocka_unit_test(there_are_no_words_about_tasks),
		cmocka_unit_test(it_is_of_the_range_and_follows_it),
		cmocka_unit_test(it_is_of_the_filter_or_of_one_task),
		cmocka_unit_test(the_pointer_names_and_zooms),
		cmocka_unit_test(a_zoom_outlives_another_part),
		cmocka_unit_test(a_link_shows_it),
		cmocka_unit_test(going_to_a_task_shows_the_tasks),
		cmocka_unit_test(a_trace_without_calls_says_so),
		cmocka_unit_test(a_large_one_is_made_in_steps),
		cmocka_unit_test(a_large_one_goes_on_without_inputs),
		cmocka_unit_test(deep_calls_are_scrolled),
		cmocka_unit_test(all_of_a_narrow_graph_is_reached),
		cmocka_unit_test(it_grows_with_a_live_trace),
		cmocka_unit_test(a_live_trace_has_no_samples_yet),
		cmocka_unit_test(one_that_was_not_made_waits_for_more_events),
		cmocka_unit_test(another_trace_has_a_graph_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
