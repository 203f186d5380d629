/* SPDX-License-Identifier: ISC
 *
 * Drawings over the picture of a trace, as in tests/data/golden/viewer-drawn.txt: the operations
 * that a script of actions adds to those before it.
 */
#include "viewer_sample.h"

#include "golden.h"
#include "trace_script.h"

/* Twelve gaps that are one problem; a failed task; a counter. */
#define GAPS                                                                                  \
	"[61: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; run 0; idle; " \
	"?i%5=0 +40000; +300; run 0; +10]; create 0 900 task; label 900 x; fail 0 900 broken; +10"

#define ROWS "[40: create 0 1+i task; label 1+i x; ~10]; +1"

/* clang-format off */
static const struct drawn {
	const char *trace, *before, *script;
} drawings[] = {
	/* The range: within the view, cut at either side, outside, in view as less than a pixel. */
	{BLOCK_READ, "command view start=60ms duration=50ms", "drag 200 150 400 150 shift; leave 0 0"},
	{BLOCK_READ, "command view start=80ms duration=20ms", "command fit; drag 200 150 420 150 shift; command view start=80ms duration=20ms; leave 0 0"},
	{BLOCK_READ, "command view start=10ms duration=20ms", "command fit; drag 200 150 420 150 shift; command view start=10ms duration=20ms; leave 0 0"},
	{BLOCK_READ, "command view start=120ms duration=20ms", "command fit; drag 200 150 420 150 shift; command view start=120ms duration=20ms; leave 0 0"},
	{BLOCK_READ, "", "command view start=60ms duration=100us; drag 200 150 400 150 shift; command fit; leave 0 0"},
	/* The current problem, and all periods of one that repeats. */
	{BLOCK_READ, "command problem 1; command fit", "command problem 2; command fit"},
	{GAPS, "", "command problem 1; command fit"},
	{GAPS, "", "command problem 2; command fit"},
	{GAPS, "command view start=1ms duration=90ms", "command problem 2; command view start=1ms duration=90ms"},
	{GAPS, "command view start=400ms duration=30ms", "command problem 2; command view start=400ms duration=30ms"},
	/* Matches in the overview. */
	{BLOCK_READ, "", "command search Enoent; command close; leave 0 0"},
	/* Bookmarks: a note that has no room is left out; those outside the view have a flag in the overview. */
	{BLOCK_READ, "", "notes @8000000 one|@9000000 two|@100000000 three|@100500000 four|@161000000 at the end|@1 before|@99999999999 after"},
	{BLOCK_READ, "command view start=95ms duration=10ms", "notes @8000000 one|@95000000 two|@104900000 three"},
	/* The pointer's time, at the ruler's ends and in the middle, of the day, and where it snaps. */
	{BLOCK_READ, "", "move 300 200"},
	{BLOCK_READ, "", "move 1 200"},
	{BLOCK_READ, "", "move 599 200"},
	{BLOCK_READ, "command times", "move 300 200"},
	{BLOCK_READ, "command view start=122ms duration=10ms", "press 127 150; move 300 150 shift"},
	/* The scroll bar of plain rows. */
	{ROWS, "command fold all off", "command rows plain; leave 0 0"},
	{ROWS, "command fold all off; command view rows=plain fold=off focus=30", "move 595 200; press 595 200"},
	{ROWS, "command view fold=off focus=399", "command view rows=plain fold=off focus=399"},
	/* Buttons. */
	{BLOCK_READ, "size 900 300; leave 0 0", "move 700 10"},
	{BLOCK_READ, "size 900 300; move 700 10", "press 700 10"},
	{BLOCK_READ, "size 900 300", "drag 200 150 400 150 shift; command escape; command measure"},
	{BLOCK_READ, "size 400 300; command help", "command panel search; leave 0 0"},
	/* Other themes, larger rows. */
	{BLOCK_READ, "size 600 320; command select task:382; command theme dark; command fit", "command edge next; command fit"},
};
/* clang-format on */

static void load_notes(struct script *s, const char *notes)
{
	struct weft_text text = {0};
	uint64_t start = s->viewer->view.start;
	for (const char *at = notes; *at;) {
		char line[64];
		size_t size = strcspn(at, "|");
		char *rest;
		uint64_t time = strtoull(at + 1, &rest, 10);
		snprintf(line, sizeof(line), "@%llu%.*s\n", (unsigned long long)(start + time),
			(int)(at + size - rest), rest);
		weft_text_add_string(&text, line);
		at += size + (at[size] == '|');
	}
	assert_int_equal(weft_viewer_load_notes(s->viewer, text.bytes, text.size), 0);
	weft_text_finish(&text);
}

/* Adds the lines of `now` that are not in `before`. */
static void add_new_lines(struct weft_text *text, const char *before, const char *now)
{
	for (const char *at = now; *at;) {
		size_t size = strcspn(at, "\n") + 1;
		char *line = strndup(at, size);
		const char *old = strstr(before, line);
		if (!old || (old != before && old[-1] != '\n'))
			weft_text_add(text, at, size);
		free(line);
		at += size;
	}
}

static void draw_as_text(struct script *s, struct weft_text *text)
{
	script_text(s, text);
	weft_text_add(text, "", 1);
}

static struct script begin(const char *trace)
{
	struct script s = script_begin(NULL, true);
	struct weft_model *model =
		strchr(trace, ';') ? trace_script_model(trace, 0) : sample_model(trace);
	assert_int_equal(weft_viewer_show(s.viewer, model, false), 0);
	script_run(&s, "size 600 300");
	script_draw(&s);
	s.now_ms += 3000;
	weft_viewer_advance(s.viewer, s.now_ms);
	return s;
}

static void drawings_are_as_in_the_golden_text(void **state)
{
	struct weft_text text = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(drawings) / sizeof(drawings[0]); i++) {
		const struct drawn *d = &drawings[i];
		struct weft_text before = {0}, now = {0};
		struct script s = begin(d->trace);
		script_run(&s, d->before);
		draw_as_text(&s, &before);
		if (strncmp(d->script, "notes ", 6) == 0)
			load_notes(&s, d->script + 6);
		else
			script_run(&s, d->script);
		draw_as_text(&s, &now);
		weft_text_add_string(&text, d->before);
		weft_text_add_string(&text, " / ");
		weft_text_add_string(&text, d->script);
		weft_text_add_string(&text, "\n");
		add_new_lines(&text, before.bytes, now.bytes);
		weft_text_finish(&before);
		weft_text_finish(&now);
		script_end(&s);
	}
	golden_compare("viewer-drawn.txt", &text);
	weft_text_finish(&text);
}

/* The overview flashes when problems are found, and the flash fades. */
static void problems_flash_and_fade(void **state)
{
	static const struct {
		double ms;
		unsigned alpha; /* of 255 */
	} cases[] = {{0, 77}, {450, 38}, {900, 0}};
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct script s = script_begin(BLOCK_READ, false);
		unsigned found = 0;
		script_draw(&s);
		weft_viewer_advance(s.viewer, s.now_ms);
		s.now_ms += cases[i].ms;
		weft_viewer_advance(s.viewer, s.now_ms);
		struct weft_canvas *canvas = script_canvas(&s);
		const struct weft_box *strip = &s.viewer->frame.strip;
		for (uint32_t k = 0; k < canvas->op_count; k++) {
			const struct weft_canvas_op *op = &canvas->ops[k];
			if (op->type == WEFT_CANVAS_RECT && op->x2 - op->x > 1300 && op->y >= strip->y &&
				op->y2 <= strip->y + strip->height && (op->color & 255) == cases[i].alpha)
				found++;
		}
		assert_int_equal(found > 0, cases[i].alpha > 0);
		weft_canvas_destroy(canvas);
		script_end(&s);
	}
}

/* Without a trace and without words only the ground and the buttons are drawn. */
static void nothing_to_show_is_an_empty_ground(void **state)
{
	(void)state;
	struct script s = script_begin(NULL, true);
	script_run(&s, "size 150 100");
	struct weft_canvas *canvas = script_canvas(&s);
	assert_int_equal(canvas->op_count, 1);
	weft_canvas_destroy(canvas);
	script_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drawings_are_as_in_the_golden_text),
		cmocka_unit_test(problems_flash_and_fade),
		cmocka_unit_test(nothing_to_show_is_an_empty_ground),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
