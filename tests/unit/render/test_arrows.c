/* SPDX-License-Identifier: ISC
 *
 * Which arrows a picture has: whole ones, stubs of long ones, or the heat of many; and which words
 * it repeats.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "picture.h"
#include "render/theme.h"
#include "trace_script.h"

enum {
	WIDTH = 1000,
	HEIGHT = 700
};

static const struct weft__theme *theme(void)
{
	return weft__render_theme(WEFT_THEME_LIGHT);
}

static struct picture picture_of(const char *script)
{
	struct picture p;
	picture_init(&p, trace_script_model(script, 0), WIDTH, HEIGHT);
	draw(&p);
	return p;
}

/* The lines of a colour, and the longest distance across or down that one of them has. */
static uint32_t lines_of(const struct picture *p, uint32_t color, double *ret_longest)
{
	uint32_t count = 0;
	*ret_longest = 0;
	for (uint32_t i = 0; i < p->canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p->canvas->ops[i];
		if (op->type != WEFT_CANVAS_LINE || op->color >> 8 != color >> 8 ||
			op->y < p->frame.picture.y || op->y > p->frame.picture.y + p->frame.picture.height)
			continue;
		count++;
		*ret_longest = fmax(*ret_longest, fmax(fabs(op->x2 - op->x), fabs(op->y2 - op->y)));
	}
	return count;
}

static uint32_t rectangles_of(const struct picture *p, uint32_t color)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->canvas->op_count; i++)
		count += p->canvas->ops[i].type == WEFT_CANVAS_RECT &&
				 p->canvas->ops[i].color >> 8 == color >> 8;
	return count;
}

/* How often the picture has exactly this text. */
static uint32_t texts(const struct picture *p, const char *text)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p->canvas->ops[i];
		if (op->type == WEFT_CANVAS_TEXT && op->count == strlen(text))
			count += memcmp(p->canvas->text + op->first, text, op->count) == 0;
	}
	return count;
}

#define READER                                                                \
	"create 0 1 task; label 1 source; create 0 2 task; label 2 reader; +10; " \
	"resolve 1 1; "

static void a_long_read_is_a_stub_with_a_name(void **state)
{
	(void)state;
	double longest;
	struct picture p = picture_of(READER "+10; read 2 1; +980; run 2");
	assert_int_equal(lines_of(&p, theme()->read, &longest), 1);
	assert_int_equal(texts(&p, "from source"), 0);
	picture_finish(&p);
	p = picture_of(READER "+500; read 2 1; +490; run 2");
	assert_int_equal(lines_of(&p, theme()->read, &longest), 1);
	assert_in_range(longest, 7, 20);
	assert_int_equal(texts(&p, "from source"), 1);
	picture_finish(&p);
}

/* The stub is at the reader: nothing is drawn at the source's end. */
static void a_stub_outside_the_view_is_not_drawn(void **state)
{
	(void)state;
	double longest;
	struct picture p = picture_of(READER "+500; read 2 1; +490; run 2");
	weft_view_set_range(&p.view, p.view.start, 300e3);
	draw(&p);
	assert_int_equal(lines_of(&p, theme()->read, &longest), 0);
	weft_view_set_range(&p.view, p.view.start + 400000, 300e3);
	draw(&p);
	assert_int_equal(lines_of(&p, theme()->read, &longest), 1);
	assert_int_equal(texts(&p, "from source"), 1);
	picture_finish(&p);
}

/* A task that resolves another one far below has a ring and a stub, too. */
static void both_ends_of_a_far_resolve_are_drawn(void **state)
{
	(void)state;
	double longest;
	struct picture p = picture_of("create 0 1 task; label 1 main; [8: create 1 10+i task]; +500; "
								  "resolve 1 10; +500; run 1");
	assert_int_equal(lines_of(&p, theme()->resolve, &longest), 2);
	assert_in_range(longest, 7, 20);
	assert_int_equal(texts(&p, "from main"), 1);
	picture_finish(&p);
	p = picture_of("create 0 1 task; label 1 main; [2: create 1 10+i task]; +500; resolve 1 10; "
				   "+500; run 1");
	assert_int_equal(lines_of(&p, theme()->resolve, &longest), 1);
	assert_int_equal(texts(&p, "from main"), 0);
	picture_finish(&p);
}

static void the_selected_task_has_whole_arrows(void **state)
{
	(void)state;
	double longest;
	uint32_t edge = 0;
	struct picture p = picture_of(READER "+500; read 2 1; +490; run 2");
	while (p.model->edges.type[edge] != WEFT_EDGE_READ)
		edge++;
	struct weft_highlight highlight = {
		.selected = 1, .hovered = WEFT_NONE, .edge = WEFT_NONE, .edges = &edge, .edge_count = 1};
	p.options.highlight = &highlight;
	draw(&p);
	lines_of(&p, theme()->read, &longest);
	assert_true(longest > 400);
	picture_finish(&p);
}

#define READS                                                                              \
	"create 0 1 task; label 1 source; create 0 2 task; label 2 reader; +10; resolve 1 1; " \
	"+300; "

static void equal_names_are_written_once(void **state)
{
	(void)state;
	double longest;
	struct picture p = picture_of(READS "[6: +40; read 2 1]; +440; run 2");
	assert_int_equal(lines_of(&p, theme()->read, &longest), 6);
	assert_int_equal(texts(&p, "from source"), 1);
	picture_finish(&p);
	p = picture_of(READS "read 2 1; +450; read 2 1; +200; run 2");
	assert_int_equal(texts(&p, "from source"), 2); /* far from each other */
	picture_finish(&p);
}

/* Eight arrows that end within 8 px are drawn one by one, nine are drawn as heat. */
static void more_arrows_than_pixels_are_heat(void **state)
{
	(void)state;
	double longest;
	const char *eight = "create 0 1 task; [10: create 0 10+i task]; +500; "
						"[8: signal 10+i 11+i]; +500; run 1";
	const char *nine = "create 0 1 task; [10: create 0 10+i task]; +500; "
					   "[9: signal 10+i 11+i]; +500; run 1";
	struct picture p = picture_of(eight);
	assert_int_equal(lines_of(&p, theme()->signal, &longest), 8);
	assert_int_equal(rectangles_of(&p, theme()->signal), 0);
	picture_finish(&p);
	p = picture_of(nine);
	assert_int_equal(lines_of(&p, theme()->signal, &longest), 0);
	assert_true(rectangles_of(&p, theme()->signal) > 0);
	picture_finish(&p);
}

/* Only the arrow of a folded task that is pointed at is drawn. */
static void folded_tasks_have_no_arrows(void **state)
{
	(void)state;
	static const struct weft_layout_options folds = {.fold = true};
	const char *script = "create 0 1 task; label 1 main; [20: create 0 10+i task; label 10+i "
						 "grant; +30; resolve 1 10+i; +10]; run 1";
	double longest;
	uint32_t edge = 0;
	struct picture p;
	picture_init_laid_out(&p, trace_script_model(script, 0), &folds, WIDTH, HEIGHT);
	assert_int_equal(p.layout->fold_count, 1);
	while (p.model->edges.type[edge] != WEFT_EDGE_RESOLVE)
		edge++;
	for (uint32_t count = 0; count < 2; count++) {
		struct weft_highlight highlight = {.selected = WEFT_NONE,
			.hovered = WEFT_NONE,
			.edge = WEFT_NONE,
			.edges = &edge,
			.edge_count = count};
		p.options.highlight = &highlight;
		draw(&p);
		assert_int_equal(lines_of(&p, theme()->resolve, &longest), count);
	}
	picture_finish(&p);
}

/* Four tasks on a row, 250 px from each other. */
static void equal_labels_are_written_once(void **state)
{
	(void)state;
	struct picture p =
		picture_of("[4: create 0 10+i bind; label 10+i job; +200; resolve 10+i 10+i; +10]; idle");
	assert_int_equal(texts(&p, "job"), 2);
	assert_int_equal(texts(&p, "bind"), 2);
	struct weft_highlight highlight = {
		.selected = weft_model_find_task(p.model, 0, 11), .hovered = WEFT_NONE, .edge = WEFT_NONE};
	p.options.highlight = &highlight;
	draw(&p);
	assert_int_equal(texts(&p, "job"), 3);
	picture_finish(&p);
}

static void equal_waits_have_their_words_once(void **state)
{
	(void)state;
	struct picture p = picture_of("create 0 1 task; label 1 lock; create 0 2 task; label 2 worker; "
								  "[4: run 2; +10; try 2 1; idle; +200]; run 2; +10; resolve 2 2");
	assert_int_equal(texts(&p, "waits for lock \xc2\xb7 200 us"), 2);
	assert_int_equal(texts(&p, "200 us"), 3); /* and one in the ruler */
	picture_finish(&p);
}

/* At one time more tasks become others than can be drawn: only those with a line have a step. */
static void steps_of_many_tasks_are_drawn_at_their_lines(void **state)
{
	(void)state;
	uint32_t steps = 0;
	struct picture p =
		picture_of("create 0 1 task; [4500: create 1 2+i*2 task; create 1 3+i*2 task]; +100; "
				   "[4500: become 2+i*2 3+i*2]; +100; run 1");
	for (uint32_t i = 0; i < p.canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p.canvas->ops[i];
		steps += op->type == WEFT_CANVAS_POLYLINE && op->count == 6;
	}
	assert_in_range(steps, 10, 100);
	picture_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_read_is_a_stub_with_a_name),
		cmocka_unit_test(a_stub_outside_the_view_is_not_drawn),
		cmocka_unit_test(both_ends_of_a_far_resolve_are_drawn),
		cmocka_unit_test(the_selected_task_has_whole_arrows),
		cmocka_unit_test(steps_of_many_tasks_are_drawn_at_their_lines),
		cmocka_unit_test(equal_names_are_written_once),
		cmocka_unit_test(more_arrows_than_pixels_are_heat),
		cmocka_unit_test(folded_tasks_have_no_arrows),
		cmocka_unit_test(equal_labels_are_written_once),
		cmocka_unit_test(equal_waits_have_their_words_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
