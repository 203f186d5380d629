/* SPDX-License-Identifier: ISC
 *
 * Profiles: calls as functions and lines, sums, collapsed stacks, and the boxes of a flame graph.
 * tests/e2e/flame.py reads the protobuf.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/profile.h"

#define ARROW " \xe2\x86\x90 "

static struct weft_slice slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static struct weft_profile *begin(void)
{
	struct weft_profile *profile;
	assert_int_equal(weft_profile_create(NULL, &profile), 0);
	return profile;
}

static void add(struct weft_profile *profile, const char *calls, const char *leaf, uint64_t weight)
{
	assert_int_equal(weft_profile_add(profile, slice(calls), slice(leaf), weight, 1), 0);
}

static void expect_collapsed(struct weft_profile *profile, const char *expected)
{
	struct weft_text text = {0};
	assert_int_equal(weft_profile_write_collapsed(profile, &text), 0);
	weft_text_add(&text, "", 1);
	assert_string_equal(text.bytes, expected);
	weft_text_finish(&text);
	weft_profile_destroy(profile);
}

static void calls_have_functions_files_and_lines(void **state)
{
	static const struct {
		const char *call, *function, *file;
		uint64_t line;
	} cases[] = {
		{"main (hello.c:20)", "main", "hello.c", 20},
		{"main", "main", "", 0},
		{"operator()", "operator()", "", 0},
		{"a::operator() (a.cpp:7)", "a::operator()", "a.cpp", 7},
		{"server+0x4f10", "server+0x4f10", "", 0},
		{"f (a:b.c:3)", "f", "a:b.c", 3},
		{"f (a.c:x)", "f (a.c:x)", "", 0},
		{"f (a.c:)", "f (a.c:)", "", 0},
		{"(a.c:1)", "(a.c:1)", "", 0},
		{" (a.c:1)", " (a.c:1)", "", 0},
		{"f(a.c:1)", "f(a.c:1)", "", 0},
		{":)", ":)", "", 0},
		{")", ")", "", 0},
		{"", "", "", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct weft__profile_call call = weft__profile_call_of(slice(cases[i].call));
		assert_int_equal(call.function.size, strlen(cases[i].function));
		assert_memory_equal(call.function.bytes, cases[i].function, call.function.size);
		assert_int_equal(call.file.size, strlen(cases[i].file));
		assert_memory_equal(call.file.bytes, cases[i].file, call.file.size);
		assert_int_equal(call.line, cases[i].line);
	}
}

static void functions_are_one_whatever_their_line(void **state)
{
	struct weft_profile *p = begin();
	(void)state;
	add(p, "put (a.c:1)" ARROW "main (a.c:9)", "[lock]", 10);
	add(p, "put (a.c:2)" ARROW "main (a.c:8)", "[lock]", 5);
	add(p, "put (a.c:2)" ARROW "main (a.c:8)", "", 3);
	add(p, "get" ARROW "main (a.c:7)", "[call]", 2);
	assert_int_equal(weft_profile_weight(p), 20);
	assert_int_equal(weft_profile_count(p), 4);
	expect_collapsed(p, "main;put 3\nmain;put;[lock] 15\nmain;get;[call] 2\n");
}

static void recursion_is_deep(void **state)
{
	struct weft_profile *p = begin();
	(void)state;
	add(p, "f" ARROW "f" ARROW "f", "", 1);
	add(p, "f", "", 1);
	expect_collapsed(p, "f 1\nf;f;f 1\n");
}

static void names_do_not_end_lines_or_functions(void **state)
{
	struct weft_profile *p = begin();
	(void)state;
	add(p, "a;b;c;\n" ARROW "main", "", 7);
	add(p, "", "", 1);
	expect_collapsed(p, "[unknown] 1\nmain;a:b:c:\\n 7\n");
}

static void sums_stop_at_the_limit(void **state)
{
	struct weft_profile *p = begin();
	(void)state;
	add(p, "f", "", UINT64_MAX - 1);
	add(p, "f", "", UINT64_MAX - 1);
	assert_int_equal(weft_profile_weight(p), UINT64_MAX);
	expect_collapsed(p, "f 18446744073709551615\n");
}

/* ---- pprof ---- */

/* How many fields of that number a message has. All of ours are in the form of bytes, or numbers.
 */
static unsigned count_fields(const struct weft_text *message, unsigned number)
{
	unsigned count = 0;
	for (size_t at = 0; at < message->size;) {
		const uint8_t tag = (uint8_t)message->bytes[at++];
		uint64_t value = 0;
		for (unsigned shift = 0, more = 1; more; shift += 7) {
			more = (uint8_t)message->bytes[at] >> 7;
			value |= (uint64_t)(message->bytes[at++] & 0x7f) << shift;
		}
		count += tag >> 3 == number;
		at += (tag & 7) == 2 ? value : 0;
	}
	return count;
}

/* Each line of a function is a location; a function of that name in another file is another one. */
static void pprof_has_locations_and_functions(void **state)
{
	enum {
		LOCATIONS = 4,
		FUNCTIONS = 5
	};
	struct weft_profile *p = begin();
	struct weft_text text = {0};
	(void)state;
	add(p, "put (a.c:1)" ARROW "main (a.c:9)", "", 10);
	add(p, "put (a.c:2)" ARROW "main (a.c:9)", "", 10);
	add(p, "put (b.c:2)" ARROW "main (a.c:9)", "", 10);
	assert_int_equal(weft_profile_write_pprof(p, &text), 0);
	assert_int_equal(count_fields(&text, LOCATIONS), 4);
	assert_int_equal(count_fields(&text, FUNCTIONS), 3);
	for (unsigned line = 10; line < 1000; line++) {
		char call[32];
		snprintf(call, sizeof(call), "main (a.c:%u)", line);
		add(p, call, "", 10);
	}
	text.size = 0;
	assert_int_equal(weft_profile_write_pprof(p, &text), 0);
	assert_int_equal(count_fields(&text, LOCATIONS), 4 + 990);
	assert_int_equal(count_fields(&text, FUNCTIONS), 3);
	weft_text_finish(&text);
	weft_profile_destroy(p);
}

/* ---- Pictures ---- */

static struct weft_canvas *draw(struct weft_profile *profile, double width)
{
	const struct weft_profile_picture picture = {
		.width = width, .title = "a title", .detail = "details"};
	struct weft_canvas *canvas;
	assert_int_equal(weft_canvas_create(width, 0, &canvas), 0);
	assert_int_equal(weft_profile_draw(profile, &picture, canvas), 0);
	weft_profile_destroy(profile);
	return canvas;
}

/* The box of the group whose title begins so, with the text in it; NULL: it has none. */
static const char *box_of(
	const struct weft_canvas *canvas, const char *title, struct weft_canvas_op *ret_box)
{
	for (uint32_t i = 0; i + 2 < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		if (op->type != WEFT_CANVAS_GROUP ||
			strncmp(canvas->text + op->first, title, strlen(title)) != 0)
			continue;
		*ret_box = op[1];
		assert_int_equal(ret_box->type, WEFT_CANVAS_RECT);
		return op[2].type == WEFT_CANVAS_TEXT ? canvas->text + op[2].first : NULL;
	}
	fail_msg("no box \"%s\"", title);
	return NULL;
}

/* Where a text is drawn; below 0: nowhere. */
static double text_y(const struct weft_canvas *canvas, const char *text)
{
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		if (op->type == WEFT_CANVAS_TEXT && op->count == strlen(text) &&
			memcmp(canvas->text + op->first, text, op->count) == 0)
			return op->y;
	}
	return -1;
}

static bool has_text(const struct weft_canvas *canvas, const char *text)
{
	return text_y(canvas, text) >= 0;
}

static void boxes_are_as_wide_as_their_weight(void **state)
{
	struct weft_profile *p = begin();
	struct weft_canvas_op all, parent, first, second;
	(void)state;
	add(p, "light (a.c:3)" ARROW "main (a.c:9)", "", 100);
	add(p, "heavy (b.c:4)" ARROW "main (a.c:8)", "", 300);
	struct weft_canvas *canvas = draw(p, 824);
	box_of(canvas, "all: 400 ns, 100 %, 2 samples", &all);
	assert_string_equal(box_of(canvas, "main (a.c): 400 ns, 100 %", &parent), "main");
	assert_string_equal(box_of(canvas, "heavy (b.c:4): 300 ns, 75 %", &first), "heavy");
	box_of(canvas, "light (a.c:3): 100 ns, 25 %, 1 sample", &second);
	assert_true(all.y < parent.y && parent.y < first.y && first.y == second.y);
	assert_true(first.x == parent.x && second.x2 == parent.x2 && first.x2 < second.x);
	assert_float_equal(second.x - first.x, 3 * (second.x2 - second.x + 1), 0.01);
	assert_true(parent.color == second.color && parent.color != first.color);
	assert_true(second.y2 < canvas->height && all.x2 < canvas->width);
	weft_canvas_destroy(canvas);
}

/* The first of equal boxes is on the left. A function with samples in several lines has none, in
 * whichever order they came. */
static void boxes_have_an_order_and_one_line(void **state)
{
	struct weft_profile *p = begin();
	struct weft_canvas_op first, second, third;
	(void)state;
	add(p, "b (a.c:1)", "", 100);
	add(p, "a (a.c:2)", "", 100);
	add(p, "c (a.c:3)", "", 50);
	add(p, "c (a.c:4)", "", 30);
	add(p, "c (a.c:3)", "", 20);
	struct weft_canvas *canvas = draw(p, 824);
	box_of(canvas, "b (a.c:1): ", &first);
	box_of(canvas, "a (a.c:2): ", &second);
	box_of(canvas, "c (a.c): ", &third);
	assert_true(first.x < second.x && second.x < third.x);
	weft_canvas_destroy(canvas);
}

/* Nothing says that all of its time is one file's; where a file is not known, nothing says that it
 * is another one. */
static void functions_of_one_name_may_be_of_several_files(void **state)
{
	struct weft_profile *p = begin();
	struct weft_canvas_op both, one, other, known;
	(void)state;
	add(p, "init (a.c:1)", "", 100);
	add(p, "init (b.c:2)", "", 50);
	add(p, "open (a.c:3)", "", 40);
	add(p, "close (b.c:4)", "", 30);
	add(p, "read", "", 10);
	add(p, "read (a.c:5)", "", 10);
	struct weft_canvas *canvas = draw(p, 824);
	box_of(canvas, "init (in several files): 150 ns", &both);
	box_of(canvas, "open (a.c:3): ", &one);
	box_of(canvas, "close (b.c:4): ", &other);
	box_of(canvas, "read: 20 ns", &known);
	assert_int_not_equal(both.color, one.color);
	assert_int_not_equal(both.color, other.color);
	assert_int_not_equal(both.color, known.color);
	weft_canvas_destroy(canvas);
}

/* As much of the text is drawn as fits; very narrow boxes have none. */
static void texts_end_within_their_boxes(void **state)
{
	(void)state;
	for (unsigned share = 1; share <= 1000; share++) {
		struct weft_profile *p = begin();
		add(p, "caf\xc3\xa9_\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9_and_more (a.c:1)", "", share);
		add(p, "rest", "", 1000 - share);
		struct weft_canvas *canvas = draw(p, 300);
		for (uint32_t i = 1; i + 1 < canvas->op_count; i++) {
			const struct weft_canvas_op *op = &canvas->ops[i];
			char clean[512];
			if (op->type != WEFT_CANVAS_TEXT)
				continue;
			const char *text = canvas->text + op->first;
			weft_canvas_clean_text(text, op->count, clean, sizeof(clean));
			assert_string_equal(clean, text);
			if (canvas->ops[i - 1].type == WEFT_CANVAS_RECT &&
				canvas->ops[i + 1].type == WEFT_CANVAS_UNGROUP)
				assert_true(op->x + op->width <= canvas->ops[i - 1].x2);
		}
		weft_canvas_destroy(canvas);
	}
}

static void there_may_be_nothing_to_draw(void **state)
{
	struct weft_profile *p = begin();
	(void)state;
	weft_canvas_destroy(draw(begin(), 300));
	add(p, "main", "", 0);
	weft_canvas_destroy(draw(p, 300));
}

/* Each of the first files has a colour of its own; the others share one. The ground is behind the
 * legend, which has an entry a line in a narrow picture. */
static void colors_are_of_files(void **state)
{
	struct weft_profile *p = begin();
	struct weft_canvas_op boxes[12];
	char text[64];
	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		snprintf(text, sizeof(text), "f%u (a_file_with_a_long_name_%u.c:1)", i, i);
		add(p, text, "", 100 - i);
	}
	add(p, "without_file", "", 50);
	struct weft_canvas *canvas = draw(p, 240);
	for (unsigned i = 0; i < 12; i++) {
		snprintf(text, sizeof(text), "f%u (", i);
		box_of(canvas, text, &boxes[i]);
		for (unsigned k = 0; k < i; k++)
			assert_true((boxes[i].color == boxes[k].color) == (k >= 8));
	}
	assert_int_equal(canvas->ops[0].type, WEFT_CANVAS_RECT);
	assert_true(canvas->ops[0].y2 >= canvas->height);
	weft_canvas_destroy(canvas);
}

/* Times before are scaled to the length of now: 10 to 20. */
static void a_comparison_has_both_times(void **state)
{
	static const char *const tips[] = {"grown: 80 ns, 80 %, 1 sample, 20 ns before",
		"new: 15 ns, 15 %, 1 sample, 0 ns before", "shrunk: 5 ns, 5 %, 1 sample, 20 ns before",
		"all: 100 ns, 100 %, 3 samples, 100 ns before"};
	const struct weft_profile_options now = {.duration_ns = 20}, then = {.duration_ns = 10};
	struct weft_profile *p = NULL, *before = NULL;
	struct weft_canvas_op boxes[4];
	(void)state;
	assert_int_equal(weft_profile_create(&now, &p), 0);
	assert_int_equal(weft_profile_create(&then, &before), 0);
	add(p, "grown", "", 80);
	add(p, "new", "", 15);
	add(p, "shrunk", "", 5);
	add(before, "gone", "[lock]", 30);
	add(before, "shrunk", "", 10);
	add(before, "grown", "", 10);
	assert_int_equal(weft_profile_compare(p, before), 0);
	weft_profile_destroy(before);
	struct weft_canvas *canvas = draw(p, 600);
	for (unsigned i = 0; i < 4; i++)
		box_of(canvas, tips[i], &boxes[i]);
	const unsigned red = 24, blue = 8;
	for (unsigned i = 0; i < 2; i++)
		assert_true((boxes[i].color >> red & 0xff) > (boxes[i].color >> blue & 0xff));
	assert_true((boxes[2].color >> red & 0xff) < (boxes[2].color >> blue & 0xff));
	assert_int_not_equal(boxes[0].color, boxes[1].color); /* what is new is deeper */
	assert_true(has_text(canvas, "no more: gone, 60 ns before"));
	assert_false(has_text(canvas, "no more: [lock], 60 ns before")); /* gone called it */
	assert_false(has_text(canvas, "no more: shrunk, 20 ns before"));
	weft_canvas_destroy(canvas);
}

/* The heaviest ones are listed, of equal ones the first; and the picture has room for them. */
static void functions_of_before_are_listed(void **state)
{
	struct weft_profile *p = begin(), *before = begin();
	char name[] = "a";
	(void)state;
	add(p, "f", "", 7);
	for (unsigned i = 0; i < 8; i++, name[0]++)
		add(before, name, "", i % 4 + 1);
	add(before, "callee" ARROW "f", "", 9);
	assert_int_equal(weft_profile_compare(p, before), 0);
	weft_profile_destroy(before);
	struct weft_canvas *canvas = draw(p, 800);
	static const char *const listed[] = {"callee", "d", "h", "c", "g", "b"};
	static const unsigned weights[] = {9, 4, 4, 3, 3, 2};
	double last = 0;
	for (unsigned i = 0; i < 6; i++) {
		char text[64];
		snprintf(text, sizeof(text), "no more: %s, %u ns before", listed[i], weights[i]);
		const double y = text_y(canvas, text);
		assert_true(y > last && y < canvas->height);
		last = y;
	}
	assert_true(has_text(canvas, "and 2 more"));
	assert_false(has_text(canvas, "no more: a, 1 ns before"));
	assert_true(canvas->ops[0].y2 >= canvas->height);
	weft_canvas_destroy(canvas);
}

static void collapsed_stacks_of_a_comparison_have_two_numbers(void **state)
{
	struct weft_profile *p = begin(), *before = begin();
	(void)state;
	add(p, "f", "", 7);
	add(before, "f", "", 4);
	add(before, "g", "[lock]", 3);
	assert_int_equal(weft_profile_compare(p, before), 0);
	weft_profile_destroy(before);
	expect_collapsed(p, "f 4 7\ng;[lock] 3 0\n");
}

/* The depth is the trace's. */
static void any_depth_is_drawn(void **state)
{
	struct weft_profile *p = begin();
	struct weft_text calls = {0};
	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		weft_text_add_string(&calls, i ? ARROW "f" : "f");
	assert_int_equal(
		weft_profile_add(p, (struct weft_slice){calls.bytes, calls.size}, slice(""), 10, 1), 0);
	struct weft_canvas *canvas = draw(p, 300);
	assert_true(canvas->height > 1000 && canvas->height < 20000);
	weft_canvas_destroy(canvas);
	weft_text_finish(&calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_functions_files_and_lines),
		cmocka_unit_test(functions_are_one_whatever_their_line),
		cmocka_unit_test(recursion_is_deep),
		cmocka_unit_test(names_do_not_end_lines_or_functions),
		cmocka_unit_test(sums_stop_at_the_limit),
		cmocka_unit_test(pprof_has_locations_and_functions),
		cmocka_unit_test(boxes_are_as_wide_as_their_weight),
		cmocka_unit_test(boxes_have_an_order_and_one_line),
		cmocka_unit_test(functions_of_one_name_may_be_of_several_files),
		cmocka_unit_test(texts_end_within_their_boxes),
		cmocka_unit_test(there_may_be_nothing_to_draw),
		cmocka_unit_test(colors_are_of_files),
		cmocka_unit_test(a_comparison_has_both_times),
		cmocka_unit_test(functions_of_before_are_listed),
		cmocka_unit_test(collapsed_stacks_of_a_comparison_have_two_numbers),
		cmocka_unit_test(any_depth_is_drawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
