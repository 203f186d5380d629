/* SPDX-License-Identifier: ISC
 *
 * Many views of a few traces: tests/data/golden/views.txt has the number of operations of each
 * frame, and a hash of them. It tells which views a change of the drawing code affects;
 * test_pictures.c has small pictures to be looked at. WEFT_GOLDEN=write writes it anew, and the
 * frames as SVG if WEFT_SVG names a folder.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "picture.h"
#include "trace_script.h"

#define VIEWS 24

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* `script`, or a sample of that name. */
static const struct {
	const char *name, *script;
	int64_t n;
} traces[] = {
	{"requests",
		"+5; [n: create 0 10+i task; label 10+i request #; run 10+i; +20+i%7; create 10+i 500+i promise;"
		"try 10+i 500+i; idle; +30; ?i%5=0 gc 9000; run 0; ?i%9=4 +400; resolve 0 500+i; +3; run 10+i;"
		"read 10+i 500+i; count q i%9; +10; note 10+i step; ?i%8=3 fail 10+i 10+i bad;"
		"?i%8=5 cancel 10+i 10+i; ?i%8=6 expect 10+i; ?i%8/6=0 resolve 10+i 10+i; run 0; +15]",
		40},
	{"threads",
		"[4: create 0 1+i task; label 1+i worker #]; create 0 9 lock; label 9 shared;"
		"[n: thread i%3; run 1+i%4; acquire 1+i%4 9; +7; off 1+i%4 2000; signal 1+i%3 1+i%4; +9;"
		"release 1+i%4 9; count bytes i*i%70; idle; +4; ?i%7=2 +900]; lose 90000 300000 7 1 2",
		60},
	{"callbacks",
		"create 0 1 task; label 1 chain; [n: run 1+i; +3; create 1+i 2+i bind; become 1+i 2+i; +2;"
		"create 2+i 1000+i promise; ?i%3=0 resolve 2+i 1000+i; idle; +5]; ~7; note 0 end",
		50},
	{"mirage-block-read.sexp", NULL, 0},
	{"mirage-arp-good.ctf", NULL, 0},
};

static struct weft_model *load(size_t trace)
{
	struct weft_model *model = traces[trace].script
								   ? trace_script_model(traces[trace].script, traces[trace].n)
								   : sample_model(traces[trace].name);
	assert_non_null(model);
	return model;
}

/* A part of the trace at a random zoom, and of its rows. */
static void choose_part(struct picture *p)
{
	static const enum weft_counter_form forms[] = {
		WEFT_COUNTERS_LANES, WEFT_COUNTERS_OVERLAY, WEFT_COUNTERS_LANES};
	place_counters(p, forms[pick(3)]);
	if (pick(4) == 0)
		squeeze(p);
	double factor = 1;
	for (uint32_t zoom = pick(9); zoom > 0; zoom--)
		factor *= 2.2;
	weft_view_zoom(&p->view, pick((uint32_t)p->frame.picture.width), factor);
	weft_view_pan(&p->view, (double)pick(200) - 100);
	weft_view_set_focus(&p->view, pick(p->layout->row_count + 1));
	weft_view_set_plain(&p->view, pick(3) == 0);
}

static void choose_options(struct picture *p, struct weft_highlight *highlight, uint32_t *found)
{
	uint32_t tasks = p->model->tasks.count;
	*highlight = (struct weft_highlight){.selected = pick(2) ? pick(tasks) : WEFT_NONE,
		.hovered = pick(2) ? pick(tasks) : WEFT_NONE,
		.strength = pick(5) / 4.0,
		.edge = WEFT_NONE};
	found[0] = pick(tasks);
	found[1] = found[0] + 1;
	if (pick(3) == 0) {
		highlight->related = found;
		highlight->related_count = found[1] < tasks ? 2 : 1;
	} else if (pick(2) == 0) {
		highlight->found = found;
		highlight->found_count = found[1] < tasks ? 2 : 1;
	}
	p->options.theme = pick(2) ? WEFT_THEME_DARK : WEFT_THEME_LIGHT;
	p->options.hover = pick(3) == 0;
	p->options.handles = pick(2) == 0;
	p->options.clock_times = pick(2) == 0;
	p->options.no_counters = pick(5) == 0;
	p->options.counter_rates = pick(4) == 0;
	p->options.highlight = pick(3) ? highlight : NULL;
}

static uint64_t hash_of(const struct weft_text *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < text->size; i++)
		hash = (hash ^ (unsigned char)text->bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint32_t count_lines(const struct weft_text *text)
{
	uint32_t count = 0;
	for (size_t i = 0; i < text->size; i++)
		count += text->bytes[i] == '\n';
	return count;
}

static void write_svg(const struct picture *p, const char *trace, uint32_t number)
{
	struct weft_text text = {0};
	char path[512];
	const char *folder = getenv("WEFT_SVG");
	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/view-%s-%" PRIu32 ".svg", folder, trace, number);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(weft_canvas_write_svg(p->canvas, NULL, &text), 0);
	assert_int_equal(fwrite(text.bytes, 1, text.size, file), text.size);
	fclose(file);
	weft_text_finish(&text);
}

static void add_view(struct weft_text *list, size_t trace, uint32_t number)
{
	struct picture p;
	struct weft_highlight highlight;
	struct weft_text text = {0};
	uint32_t found[2];
	char line[160];
	uint32_t width = 300 + pick(900), height = 150 + pick(700);
	picture_init(&p, load(trace), width, height);
	choose_part(&p);
	choose_options(&p, &highlight, found);
	draw(&p);
	write_svg(&p, traces[trace].name, number);
	assert_int_equal(weft_canvas_write_text(p.canvas, &text), 0);
	snprintf(line, sizeof(line),
		"%s %2" PRIu32 ", %" PRIu32 " x %" PRIu32 ": %" PRIu32 " operations, %016" PRIx64 "\n",
		traces[trace].name, number, width, height, count_lines(&text), hash_of(&text));
	weft_text_add_string(list, line);
	weft_text_finish(&text);
	picture_finish(&p);
}

static void views_are_as_in_the_golden_text(void **state)
{
	struct weft_text list = {0};
	(void)state;
	for (size_t trace = 0; trace < sizeof(traces) / sizeof(*traces); trace++)
		for (uint32_t number = 0; number < VIEWS; number++) {
			seed = trace * 1000 + number;
			pick(2);
			add_view(&list, trace, number);
		}
	golden_compare("views.txt", &list);
	weft_text_finish(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_are_as_in_the_golden_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
