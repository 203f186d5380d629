/* SPDX-License-Identifier: ISC
 *
 * Extreme times, sizes and zooms: every frame ends, with a bounded number of operations. A frame
 * that does not end is stopped after CPU_SECONDS of processor time, however busy the machine is.
 */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "viewer_sample.h"

#include "trace_script.h"

#define CPU_SECONDS    20
#define OPERATIONS_MAX 1000000

static void on_hang(int number)
{
	static const char text[] = "a frame did not end\n";
	(void)number;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abort();
}

static void limit_frame(int seconds)
{
	const struct itimerval timer = {.it_value = {.tv_sec = seconds}};
	signal(SIGVTALRM, on_hang);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void draw(struct script *s)
{
	limit_frame(CPU_SECONDS);
	struct weft_canvas *canvas = script_canvas(s);
	assert_true(canvas->op_count < OPERATIONS_MAX);
	weft_canvas_destroy(canvas);
	limit_frame(0);
}

/* The numbers of a chain are placed beside each other. Where x is rounded, x + 22 - x may be less
 * than 22. */
static void the_numbers_of_a_chain_end_at_any_width(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, true);
	const char *trace = "create 0 1 task; [30: +7; create 0 2+i task; run 2+i; +3; try 2+i 1+i]; "
						"idle; +100; run 0; +1";
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(trace, 0), false), 0);
	script_run(&s, "wait 9000; size 900 300; command select task:31 350us; key W; wait 300");
	assert_non_null(s.viewer->selection.chain);
	for (unsigned width = 700; width < 1100; width++) {
		weft_viewer_resize(s.viewer, width, 300 + width % 7, s.now_ms);
		if (width % 8 == 0)
			script_run(&s, width % 16 ? "command zoom in" : "command zoom out");
		draw(&s);
	}
	script_end(&s);
}

static struct weft_model *model_between(uint64_t first, uint64_t last)
{
	struct trace_script t = {.made = make_begin()};
	t.made.time = first;
	trace_script_run_all(
		&t, "create 0 1 task; create 0 2 task; label 1 words; run 1; count q 5; try 1 2");
	t.made.time = first + (last - first) / 3;
	trace_script_run_all(&t, "idle; count q 900; gc 100");
	t.made.time = first + (last - first) / 3 * 2;
	trace_script_run_all(&t, "run 2; count q 7; note 2 words; signal 1 2");
	t.made.time = last;
	trace_script_run_all(&t, "count q -3; fail 2 2 words; run 1; read 1 2");
	return make_model(&t.made);
}

static void point_everywhere(struct script *s)
{
	static const double points[] = {-1e300, -1, 0, 200, 1e17, 1e300, INFINITY, NAN};
	for (unsigned i = 0; i < 16; i++)
		script_point(s, WEFT_VIEWER_MOVE, points[i % 8], points[i * 3 % 8], 0, 0);
}

static void look_around(struct script *s)
{
	static const char *const actions[] = {"command select task:1; command chain", "command squeeze",
		"command rates; command counters overlay", "command times", "command zoom in",
		"wheel 300 200 -1e9", "wheel 300 200 1e9", "command goto end", "command pan right",
		"wheel 0 0 -1e300", "command fit", "command search words; command measure",
		"command problem next", "command panel stats", "command fold all off"};
	for (unsigned i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		limit_frame(CPU_SECONDS);
		script_run(s, actions[i]);
		point_everywhere(s);
		s->now_ms += 1000;
		weft_viewer_advance(s->viewer, s->now_ms);
		draw(s);
	}
}

static void look_at(uint64_t begin, uint64_t end, double width, double height)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, model_between(begin, end), false), 0);
	weft_viewer_resize(s.viewer, width, height, s.now_ms);
	look_around(&s);
	script_end(&s);
}

static void frames_of_extreme_times_end(void **state)
{
	static const uint64_t firsts[] = {0, (UINT64_C(1) << 53) + 1, INT64_MAX, UINT64_MAX};
	static const uint64_t lengths[] = {0, 1000, (UINT64_C(1) << 53) + 1, UINT64_MAX};
	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		uint64_t begin = firsts[i / 4], length = lengths[i % 4];
		uint64_t end = length < UINT64_MAX - begin ? begin + length : UINT64_MAX;
		look_at(begin, end, 827, 300);
	}
}

static void frames_of_extreme_sizes_end(void **state)
{
	static const double sizes[][2] = {
		{0, 0}, {1, 1}, {37, 20}, {20000, 300}, {300, 20000}, {INFINITY, NAN}, {NAN, -1}};
	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		look_at(1000, 2000, sizes[i][0], sizes[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_numbers_of_a_chain_end_at_any_width),
		cmocka_unit_test(frames_of_extreme_times_end),
		cmocka_unit_test(frames_of_extreme_sizes_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
