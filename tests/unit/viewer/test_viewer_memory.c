/* SPDX-License-Identifier: ISC
 *
 * The n-th allocation fails while a user works, for every n: the viewer goes on with the data that
 * it has, and frees everything (which the leak sanitizer checks).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/decoder.h>

#include "failing_allocation.h"
#include "built.h"
#include "viewer_script.h"

static struct weft_model *make_model(void)
{
	struct weft_model_builder *builder = built_begin();
	for (uint64_t i = 1; i <= 12; i++) {
		struct weft_event events[] = {
			{.type = WEFT_EVENT_CREATE, .other = i, .kind = WEFT_KIND_TASK},
			{.type = WEFT_EVENT_LABEL, .task = i, .text = {"block", 5}},
			{.type = WEFT_EVENT_COUNTER, .task = i, .value = 1, .text = {"queue", 5}},
			{.type = i == 7 ? WEFT_EVENT_FAIL : WEFT_EVENT_RESOLVE, .other = i, .text = {"no", 2}},
		};
		for (unsigned e = 0; e < 4; e++) {
			events[e].time_ns = 1000 * i + 200 * e;
			built_add(builder, events[e]);
		}
	}
	return built_finish(builder);
}

static void draw(struct weft_viewer *viewer)
{
	struct weft_canvas *canvas;
	if (weft_canvas_create(700, 400, &canvas))
		return;
	weft_viewer_draw(viewer, canvas);
	weft_canvas_destroy(canvas);
}

static void use(struct script *s)
{
	script_run(s, "size 700 400; wait 20; click 300 150; key a; command search bl; key n; key p");
	draw(s->viewer);
	script_run(
		s, "wait 20; key m; enter here; command unmark 1; key F; key f; key G; command filter -x");
	script_run(s, "command panel problems; command counter 1; key y; key Y; command help; key e");
	weft_viewer_load_notes(s->viewer, "@7 a\n@9 b\n", 10);
	draw(s->viewer);
	weft_viewer_show_text(s->viewer, "words", 0.5);
	script_run(s, "command view start=2us duration=1us unfold=3 closed=1 filter=blo search=o");
	draw(s->viewer);
}

/* Whether an allocation was refused. */
static bool run_with_failure(long n)
{
	struct weft_viewer_options options = {.title = "t", .path = "p"};
	struct script s = {.now_ms = 0};
	struct weft_model *first = make_model(), *second = make_model();
	until_failure = n;
	if (weft_viewer_create(&options, &s.viewer) == 0) {
		if (weft_viewer_show(s.viewer, first, true) == 0)
			first = NULL;
		use(&s);
		const bool was_first = until_failure < 0;
		if (weft_viewer_show(s.viewer, second, true) == 0)
			second = NULL;
		if (was_first) /* enough to see that it goes on */
			draw(s.viewer);
		else
			use(&s);
		weft_viewer_destroy(s.viewer);
	}
	bool was_refused = until_failure < 0;
	until_failure = -1;
	weft_model_destroy(first);
	weft_model_destroy(second);
	return was_refused;
}

static void a_refused_allocation_ends_nothing(void **state)
{
	(void)state;
	long n = 0;
	while (run_with_failure(n))
		n++;
	assert_true(n > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_allocation_ends_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
