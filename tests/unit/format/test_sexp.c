/* SPDX-License-Identifier: ISC
 *
 * The first viewer's sexp: numbers, strings, layouts, and every kind of damage.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>

#include "decoded.h"
#include "format/mirage/sexp_form.h"
#include "format/order.h"

#include "format/mirage/sexp_number.h"

static struct decoded decode_text(const char *text)
{
	size_t size = strlen(text);
	char *copy =
		malloc(size ? size : 1); /* without its NUL, so that a sanitizer sees a read of it */
	memcpy(copy, text, size);
	struct decoded d = decode(copy, size, 0), pieces = decode(copy, size, 1);
	assert_string_equal(d.lines.bytes, pieces.lines.bytes);
	assert_memory_equal(&d.diagnostics, &pieces.diagnostics, sizeof(d.diagnostics));
	assert_true(d.in_order);
	weft_text_finish(&pieces.lines);
	free(copy);
	return d;
}

/* The text decodes to these lines without diagnostics. */
static void assert_lines(const char *text, const char *lines)
{
	struct decoded d = decode_text(text);
	assert_string_equal(d.lines.bytes, lines);
	assert_int_equal(d.diagnostics.count, 0);
	assert_int_equal(d.ended, WEFT_END);
	weft_text_finish(&d.lines);
}

/* The text decodes to these lines, with exactly this diagnostic. */
static void assert_damage(const char *text, const char *lines, const char *message, uint64_t offset)
{
	struct decoded d = decode_text(text);
	uint64_t got = 0;
	assert_string_equal(d.lines.bytes, lines);
	assert_int_equal(d.diagnostics.count, 1);
	assert_int_equal(times_reported(&d, message, &got), 1);
	assert_int_equal(got, offset);
	weft_text_finish(&d.lines);
}

/* The diagnostics of a clock that goes back. */
static const char BACK[] = "the clock was set back; later events keep their order and distances";
static const char BRIEF[] = "the clock goes back for a moment; its events get the time before it";

#define SWITCH_1 "{\"time\":1000000000,\"event\":\"switch\",\"task\":1}\n"
#define SWITCH_2 "{\"time\":2000000000,\"event\":\"switch\",\"task\":2}\n"

static void every_op(void **state)
{
	(void)state;
	assert_lines("((time 1)(op(Creates 0 1)))", "{\"time\":1000000000,\"event\":\"create\","
												"\"task\":0,\"child\":1,\"kind\":\"wait\"}\n");
	assert_lines("((time 1)(op(Creates -1 1 On_success)))",
		"{\"time\":1000000000,\"event\":\"create\",\"task\":null,\"child\":1,"
		"\"kind\":\"on_success\"}\n");
	assert_lines("((time 1)(op(Creates 0 1 Gizmo)))",
		"{\"time\":1000000000,\"event\":\"create\",\"task\":0,\"child\":1,"
		"\"kind\":\"unknown\"}\n");
	assert_lines("((time 1)(op(Reads 0 -1)))", "{\"time\":1000000000,\"event\":\"read\","
											   "\"task\":0,\"source\":null,\"later\":false}\n");
	assert_lines("((time 1)(op(Resolves 0 1())))",
		"{\"time\":1000000000,\"event\":\"resolve\",\"task\":0,\"target\":1}\n");
	assert_lines("((time 1)(op(Resolves 0 1)))",
		"{\"time\":1000000000,\"event\":\"resolve\",\"task\":0,\"target\":1}\n");
	assert_lines("((time 1)(op(Resolves 0 1(\"X(\\\"y\\\")\"))))",
		"{\"time\":1000000000,\"event\":\"fail\",\"task\":0,\"target\":1,"
		"\"message\":\"X(\\\"y\\\")\"}\n");
	assert_lines("((time 1)(op(Resolves 0 1 (Not_found))))",
		"{\"time\":1000000000,\"event\":\"fail\",\"task\":0,\"target\":1,"
		"\"message\":\"Not_found\"}\n");
	assert_lines("((time 1)(op(Becomes 0 1)))",
		"{\"time\":1000000000,\"event\":\"become\",\"task\":0,\"target\":1}\n");
	assert_lines("((time 1)(op(Label 0\"a b\")))",
		"{\"time\":1000000000,\"event\":\"label\",\"task\":0,\"text\":\"a b\"}\n");
	assert_lines("((time 1)(op(Label 0 __should_resolve)))",
		"{\"time\":1000000000,\"event\":\"expect\",\"task\":0}\n");
	assert_lines(
		"((time 1)(op(Switch -1)))", "{\"time\":1000000000,\"event\":\"switch\",\"task\":null}\n");
	assert_lines("((time 1)(op(Gc 1.5e-05)))",
		"{\"time\":1000000000,\"event\":\"gc\",\"duration\":15000}\n");
	assert_lines("((time 1)(op(Increases 3 net-rx -5)))",
		"{\"time\":1000000000,\"event\":\"counter\",\"task\":3,\"name\":\"net-rx\",\"add\":-5}\n");
}

static void assert_seconds(const char *text, uint64_t expected)
{
	uint64_t ns = 0;
	assert_true(weft__format_sexp_seconds((struct weft_slice){text, strlen(text)}, &ns));
	assert_int_equal(ns, expected);
}

static void assert_no_seconds(const char *text)
{
	uint64_t ns = 77;
	assert_false(weft__format_sexp_seconds((struct weft_slice){text, strlen(text)}, &ns));
	assert_int_equal(ns, 77);
}

static void seconds_are_exact(void **state)
{
	(void)state;
	assert_seconds("1413637708.834171", 1413637708834171000);
	assert_seconds("1413637708.123456789987", 1413637708123456789); /* no double holds that */
	assert_seconds("0.0000000019", 1);
	assert_seconds("1e-05", 10000);
	assert_seconds("1.23E+2", 123000000000);
	assert_seconds("12345e-7", 1234500);
	assert_seconds("5.", 5000000000);
	assert_seconds(".5", 500000000);
	assert_seconds("0e99999", 0);
	assert_seconds("1e-99999", 0);
	assert_seconds("00000000000000000000000001", 1000000000);
	assert_seconds("18446744073.709551615", UINT64_MAX);
	assert_no_seconds("18446744073.709551616");
	assert_no_seconds("1e11");
	assert_no_seconds("1e99999");
	assert_no_seconds("");
	assert_no_seconds(".");
	assert_no_seconds("-1");
	assert_no_seconds("1.2.3");
	assert_no_seconds("1e");
	assert_no_seconds("1e1e1");
	assert_no_seconds("nan");
	assert_no_seconds("inf");
	assert_no_seconds("0x10");
}

static void strings_are_unescaped(void **state)
{
	(void)state;
	assert_lines("((time 1)(op(Label 1\"\\n\\t\\\\\\\"\\065\\x42\\\n    c\\q\\999\\\")))\")))",
		"{\"time\":1000000000,\"event\":\"label\",\"task\":1,"
		"\"text\":\"\\n\\t\\\\\\\"ABc\\\\q\\\\999\\\")))\"}\n");
	assert_lines("((time 1)(op(Label 1\"\")))",
		"{\"time\":1000000000,\"event\":\"label\",\"task\":1,\"text\":\"\"}\n");
}

static void assert_unescaped(
	const char *text, size_t size, const char *expected, size_t expected_size)
{
	char buffer[32];
	const struct weft_slice slice = {text, size};
	assert_int_equal(weft__format_sexp_unescape(slice, buffer), expected_size);
	assert_memory_equal(buffer, expected, expected_size);
}

/* Other characters after a backslash are kept, with the backslash. */
static void each_number_of_an_escape(void **state)
{
	char text[8] = "\\x";
	(void)state;
	for (int high = 0; high < 256; high++)
		for (int low = 0; low < 256 && high != '\\'; low++) {
			const char digits[] = {(char)high, (char)low, 0};
			char value = (char)strtol(digits, NULL, 16);
			bool is_number = isxdigit(high) && isxdigit(low);
			memcpy(text + 2, digits, 2);
			assert_unescaped(text, 4, is_number ? &value : text, is_number ? 1 : 4);
		}
	for (int number = 0; number < 1000; number++) {
		char value = (char)number;
		snprintf(text, sizeof(text), "\\%03d", number);
		assert_unescaped(text, 4, number < 256 ? &value : text, number < 256 ? 1 : 4);
		text[1 + number % 3] = number & 1 ? ':' : '/';
		if (number % 3)
			assert_unescaped(text, 4, text, 4);
	}
}

/* Only quoted texts have escapes. */
static void a_backslash_in_an_atom_is_itself(void **state)
{
	(void)state;
	assert_lines("((time 1)(op(Label 1 a\\nb)))",
		"{\"time\":1000000000,\"event\":\"label\",\"task\":1,\"text\":\"a\\\\nb\"}\n");
	assert_lines("((time 1)(op(Label 1 \"a\\nb\")))",
		"{\"time\":1000000000,\"event\":\"label\",\"task\":1,\"text\":\"a\\nb\"}\n");
}

static void escapes_at_the_end_of_a_string(void **state)
{
	(void)state;
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"a\\", "a\\"},
		{"a\\n", "a\n"},
		{"\\x4", "\\x4"},
		{"\\12", "\\12"},
		{"a\\\r\n \t b", "ab"},
		{"a\\\n", "a"},
		{"a\\\r\n", "a"},
		{"a\\\r", "a\\\r"},
		{"a\\\rb", "a\\\rb"},
		{"a\\\r\rb", "a\\\r\rb"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_unescaped(
			cases[i].text, strlen(cases[i].text), cases[i].expected, strlen(cases[i].expected));
}

static void layout_does_not_matter(void **state)
{
	(void)state;
	assert_lines("((time 1)(op(Switch 1)))((time 2)(op(Switch 2)))", SWITCH_1 SWITCH_2);
	assert_lines("; a comment ((time 7)(op(Switch 7)))\r\n (\n( time 1 )\t(op\n(Switch\n\"1\")))\n"
				 "((op (Switch 2)) ; here too\n (time 2))",
		SWITCH_1 SWITCH_2);
}

static void events_keep_their_order(void **state)
{
	(void)state;
	struct decoded d = decode_text("((time 2)(op(Switch 2)))((time 1)(op(Switch 1)))");
	uint64_t offset = 0;
	assert_string_equal(
		d.lines.bytes, SWITCH_2 "{\"time\":2000000000,\"event\":\"switch\",\"task\":1}\n");
	assert_int_equal(times_reported(&d, BACK, &offset), 1);
	assert_int_equal(offset, 24);
	assert_int_equal(d.diagnostics.list[0].amount_ns, 1000000000);
	weft_text_finish(&d.lines);
}

/* A trace that begins before the clock's zero begins at 0. */
static void times_before_zero(void **state)
{
	(void)state;
	struct decoded d = decode_text("((time -1.5)(op(Switch 2)))((time -0.5)(op(Switch 1)))"
								   "((time 0.5)(op(Switch 2)))");
	assert_string_equal(
		d.lines.bytes, "{\"time\":0,\"event\":\"switch\",\"task\":2}\n" SWITCH_1 SWITCH_2);
	assert_int_equal(d.diagnostics.count, 1);
	assert_int_equal(d.diagnostics.list[0].amount_ns, 1500000000);
	weft_text_finish(&d.lines);
}

static void damage_loses_its_form_only(void **state)
{
	(void)state;
#define FIRST                 "((time 1)(op(Switch 1)))\n" /* 25 bytes */
#define LAST                  "\n((time 2)(op(Switch 2)))"
#define DAMAGE(form, message) assert_damage(FIRST form LAST, SWITCH_1 SWITCH_2, message, 25)
	DAMAGE("((time 5)(op(Explode 1)))", "unknown op");
	DAMAGE("((time 5)(op(Switch 1", "form without end");
	DAMAGE("((time 5)(op(Label 1\"abc)))", "string without end");
	DAMAGE("((time 5)(op(Label 1\"abc\\)))", "string without end");
	DAMAGE("((time -5-)(op(Switch 1)))", "malformed time");
	DAMAGE("((time -1e9)(op(Switch 1)))", "malformed time");
	DAMAGE("((time 1e30)(op(Switch 1)))", "malformed time");
	DAMAGE("((time 5)(op(Switch -2)))", "negative task id");
	DAMAGE("((time 5)(op(Switch 1x)))", "malformed task id");
	DAMAGE("((time 5)(op(Switch 18446744073709551616)))", "malformed task id");
	DAMAGE("((time 5)(op(Switch)))", "op lacks an argument");
	DAMAGE("((time 5)(op(Switch 1 2)))", "op has too many arguments");
	DAMAGE("((time 5)(op(Resolves 1 2((a b)))))", "malformed exception");
	DAMAGE("((time 5)(op(Gc -1)))", "malformed duration");
	DAMAGE("((time 5)(op(Gc 9223372037)))", "malformed duration");
	DAMAGE("((time 5)(op(Increases 1 n 1.5)))", "malformed number");
	DAMAGE("((time 5)(time 5)(op(Switch 1)))", "form is not an event");
	DAMAGE("((time 5))", "form is not an event");
	DAMAGE("((time 5)(op(Switch 1))(more 1))", "form is not an event");
	DAMAGE("(((((((((((((((((((((((((((((((((((((5)))))))))))))))))))))))))))))))))))))",
		"form is not an event");
	DAMAGE("()", "form is not an event");
	DAMAGE(") stray \"text\" )", "text outside of any form");
#undef DAMAGE
}

/* A file whose first line is lost is still found. */
static void the_first_line_may_be_damaged(void **state)
{
	(void)state;
	struct decoded d = decode_text("7708.8)(op(Switch 0)))\n((time 1)(op(Switch 1)))");
	uint64_t offset = 1;
	assert_string_equal(d.lines.bytes, SWITCH_1);
	assert_int_equal(times_reported(&d, "text outside of any form", &offset), 2);
	assert_int_equal(offset, 0);
	assert_int_equal(times_reported(&d, "form is not an event", &offset), 1);
	weft_text_finish(&d.lines);
	d = decode_text("((time x)(op(Switch 0)))");
	assert_int_equal(d.finished, WEFT_ERROR_FORMAT);
	weft_text_finish(&d.lines);
}

/* Depth costs neither stack nor quadratic time. */
static void a_million_parentheses(void **state)
{
	(void)state;
	size_t depth = 1000000;
	char *text = malloc(depth + 100);
	memcpy(text, FIRST, 25);
	memset(text + 25, '(', depth);
	strcpy(text + 25 + depth, LAST);
	assert_damage(text, SWITCH_1 SWITCH_2, "form without end", 25);
	free(text);
}

#define FAR   "a time more than 2^58 ns (9 years) from the rest of the trace; it is limited"
#define STRAY "a time far from those of the events before and after; replaced by the one before"

/* 200 events, one each microsecond, except for those in `times` (pairs of number and time). */
static struct decoded decode_times(const char *const *times)
{
	struct weft_text text = {0};
	for (unsigned i = 0; i < 200; i++) {
		char line[100];
		const char *const *at = times;
		while (*at && (unsigned)atoi(*at) != i)
			at += 2;
		if (*at)
			snprintf(line, sizeof(line), "((time %s)(op(Switch %u)))\n", at[1], i);
		else
			snprintf(line, sizeof(line), "((time 1000.%06u)(op(Switch %u)))\n", i, i);
		weft_text_add_string(&text, line);
	}
	struct decoded d = decode(text.bytes, text.size, 0);
	weft_text_finish(&text);
	assert_int_equal(d.count, 200);
	assert_true(d.in_order);
	return d;
}

static void assert_event(const struct decoded *d, const char *time, unsigned task)
{
	char line[100];
	snprintf(line, sizeof(line), "{\"time\":%s,\"event\":\"switch\",\"task\":%u}\n", time, task);
	if (!strstr(d->lines.bytes, line))
		fail_msg("no %s", line);
}

/* 3 of 200 events are at most one in 64. */
static void one_time_in_64_may_stray(void **state)
{
	(void)state;
	static const char *const times[] = {
		"40", "5000.0", "80", "5000.0", "120", "5000.0", "160", "5000.0", NULL};
	static const char *const fewer[] = {"40", "5000.0", "80", "5000.0", "120", "5000.0", NULL};
	struct decoded d = decode_times(fewer);
	assert_int_equal(times_reported(&d, STRAY, NULL), 3);
	weft_text_finish(&d.lines);
	d = decode_times(times);
	assert_int_equal(times_reported(&d, STRAY, NULL), 0);
	weft_text_finish(&d.lines);
}

static void of_two_spans_with_as_many_events_the_first_counts(void **state)
{
	(void)state;
	struct weft__order order = {0};
	size_t first, last;
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(
			weft__format_order_add(&order, (struct weft__position){(i / 2 << 60) + i, i}), 0);
	assert_int_equal(weft__format_order_sort(&order), 0);
	weft__format_order_find_span(&order, &first, &last);
	assert_int_equal(first, 0);
	assert_int_equal(last, 1);
	weft__format_order_finish(&order);
}

/* The rest of the trace stays, wherever the time is, and whether the others are in order or not. */
static void a_time_centuries_away_is_held(void **state)
{
	(void)state;
	static const char *const cases[][5] = {
		{"100", "18446744073.709551615", NULL},
		{"199", "18446744073.709551615", NULL},
		{"199", "1000000000.000000001", NULL},
		{"0", "18446744073.709551615", NULL},
		{"0", "0", "150", "1500000000", NULL},
	};
	static const char *const held[] = {
		"1000000099000", "1000000198000", "1000000198000", "1000000001000", "1000000149000"};
	static const unsigned tasks[] = {100, 199, 199, 0, 150};
	for (unsigned i = 0; i < 5; i++) {
		struct decoded d = decode_times(cases[i]);
		assert_int_equal(times_reported(&d, FAR, NULL) + times_reported(&d, STRAY, NULL), 1);
		assert_event(&d, held[i], tasks[i]);
		assert_event(&d, "1000000120000", 120);
		weft_text_finish(&d.lines);
	}
	/* The first event lies far before all others, which are the trace. */
	static const char *const early[] = {"0", "0.5", NULL};
	struct weft_text text = {0};
	weft_text_add_string(&text, "((time 1)(op(Switch 0)))");
	for (unsigned i = 0; i < 3; i++)
		weft_text_add_string(&text, "((time 1700000000)(op(Switch 1)))");
	struct decoded d = decode(text.bytes, text.size, 0);
	assert_event(&d, "1700000000000000000", 0);
	assert_int_equal(times_reported(&d, FAR, NULL), 1);
	assert_string_equal(d.clock.name, "unix");
	weft_text_finish(&d.lines);
	weft_text_finish(&text);
	d = decode_times(early); /* 1000 s are no damage */
	assert_int_equal(d.diagnostics.count, 0);
	assert_event(&d, "500000000", 0);
	weft_text_finish(&d.lines);
}

/* A jump there and back is damage; a lasting jump is not, nor is one of many. */
static void a_jump_there_and_back_is_held(void **state)
{
	(void)state;
	static const char *const back[] = {"40", "5000", "90", "20", NULL};
	struct decoded d = decode_times(back);
	assert_int_equal(times_reported(&d, STRAY, NULL), 2);
	assert_event(&d, "1000000039000", 40);
	assert_event(&d, "1000000089000", 90);
	weft_text_finish(&d.lines);
	static const char *const end[] = {"40", "999.5", "199", "5000", NULL};
	d = decode_times(end);
	assert_int_equal(d.diagnostics.count, 1);
	assert_int_equal(times_reported(&d, BRIEF, NULL), 1);
	assert_event(&d, "5000000000000", 199);
	assert_event(&d, "1000000039000", 40);
	weft_text_finish(&d.lines);
	static const char *const many[] = {
		"40", "5000", "50", "5000", "60", "5000", "70", "5000", NULL};
	d = decode_times(many);
	assert_int_equal(d.diagnostics.count, 1);
	assert_int_equal(times_reported(&d, BACK, NULL), 4);
	assert_event(&d, "5000000000000", 40);
	weft_text_finish(&d.lines);
}

static void random_damage(void **state)
{
	(void)state;
	static const char whole[] =
		"((time 1)(op(Switch 1)))\n((time 2)(op(Label 3\"a \\\"b\\\" c\")))\n"
		"((time 3)(op(Resolves 1 2(\"X\"))))\n((time 4)(op(Increases 1 n 5)))\n";
	static const char alphabet[] = "()\"\\ \n;0-e.timeop";
	uint64_t seed = 2;
	for (unsigned round = 0; round < 5000; round++) {
		char text[sizeof(whole)];
		memcpy(text, whole, sizeof(whole));
		for (unsigned k = next_random(&seed) % 6; k > 0; k--)
			text[next_random(&seed) % (sizeof(whole) - 1)] =
				alphabet[next_random(&seed) % (sizeof(alphabet) - 1)];
		struct decoded d = decode_text(text);
		assert_true(d.count <= 8);
		weft_text_finish(&d.lines);
	}
}

/* Forms as recorders write them are read by a shorter path: another space leads to the other one.
 */
static void usual_and_unusual_spaces_give_the_same(void **state)
{
	(void)state;
	static const char *const ops[] = {"Creates 0 1 Task", "Creates 7 8", "Reads 3 -1",
		"Resolves 1 2", "Resolves 1 2()", "Resolves 1 2(\"it failed\")", "Becomes 1 2",
		"Label 5\"a label\"", "Label 5 \"\"", "Label 5 word", "Label 5\"a \\\"quote\\\"\"",
		"Label 5\"((time 1\"", "Switch -1", "Gc 0.25", "Increases 1\"bytes\"-5", "Reads 1",
		"Reads 1 2 3", "Reads x 2", "Unknown 1", "Switch 18446744073709551616", "Switch  1",
		"Switch 1 "};
	static const char *const times[] = {"1413637708.834171", "1.", "2", ".5", "3.1234567891",
		"12345678901.5", "1..5", "99999999999999999999", "x", "-1.5", "4.123456789"};
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		for (size_t k = 0; k < sizeof(times) / sizeof(*times); k++) {
			char usual[256], unusual[256];
			static const char first[] = "((time 1.0)(op(Switch 1)))\n";
			snprintf(usual, sizeof(usual), "%s((time %s)(op(%s)))\n", first, times[k], ops[i]);
			snprintf(
				unusual, sizeof(unusual), "%s((time %se0)( op(%s)))\n", first, times[k], ops[i]);
			struct decoded a = decode_text(usual), b = decode_text(unusual);
			assert_string_equal(a.lines.bytes, b.lines.bytes);
			assert_memory_equal(&a.diagnostics, &b.diagnostics, sizeof(a.diagnostics));
			weft_text_finish(&a.lines);
			weft_text_finish(&b.lines);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_and_unusual_spaces_give_the_same),
		cmocka_unit_test(every_op),
		cmocka_unit_test(seconds_are_exact),
		cmocka_unit_test(strings_are_unescaped),
		cmocka_unit_test(each_number_of_an_escape),
		cmocka_unit_test(a_backslash_in_an_atom_is_itself),
		cmocka_unit_test(escapes_at_the_end_of_a_string),
		cmocka_unit_test(layout_does_not_matter),
		cmocka_unit_test(events_keep_their_order),
		cmocka_unit_test(times_before_zero),
		cmocka_unit_test(damage_loses_its_form_only),
		cmocka_unit_test(the_first_line_may_be_damaged),
		cmocka_unit_test(a_million_parentheses),
		cmocka_unit_test(a_time_centuries_away_is_held),
		cmocka_unit_test(one_time_in_64_may_stray),
		cmocka_unit_test(of_two_spans_with_as_many_events_the_first_counts),
		cmocka_unit_test(a_jump_there_and_back_is_held),
		cmocka_unit_test(random_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
