/* SPDX-License-Identifier: ISC
 *
 * Expressions, each with texts that match and texts that do not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pattern/pattern.h"

static struct weft_slice slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static int create(
	struct weft_slice text, struct weft__pattern_error *error, struct weft__pattern **ret_pattern)
{
	const struct weft__pattern_options options = {.ignore_case = false};
	*error = (struct weft__pattern_error){0};
	return weft__pattern_create(text, &options, error, ret_pattern);
}

struct expectation {
	const char *expression;
	const char *matching[6], *other[6];
};

static void expect(const struct expectation *e)
{
	struct weft__pattern *pattern;
	struct weft__pattern_error error;
	if (create(slice(e->expression), &error, &pattern))
		fail_msg("%s: %s at %zu", e->expression, error.message, error.offset);
	for (int twice = 0; twice < 2; twice++) { /* the second time by the states of the first */
		for (int i = 0; i < 6 && e->matching[i]; i++)
			if (!weft__pattern_matches(pattern, slice(e->matching[i])))
				fail_msg("%s does not match '%s'", e->expression, e->matching[i]);
		for (int i = 0; i < 6 && e->other[i]; i++)
			if (weft__pattern_matches(pattern, slice(e->other[i])))
				fail_msg("%s matches '%s'", e->expression, e->other[i]);
	}
	weft__pattern_destroy(pattern);
}

static void expressions_match(void **state)
{
	static const struct expectation list[] = {
		/* Repetition. */
		{"^(ab)*c$", {"c", "abc", "ababc", "abababc"}, {"", "ab", "abac", "abcc"}},
		{"^a+$", {"a", "aaaa"}, {"", "b", "ab"}},
		{"^ab?$", {"a", "ab"}, {"abb", "b", ""}},
		{"^a{2}$", {"aa"}, {"a", "aaa", "a{2}"}},
		{"^a{2,}$", {"aa", "aaa", "aaaaaaaa"}, {"a", ""}},
		{"^a{,2}$", {"", "a", "aa"}, {"aaa"}},
		{"^a{2,3}$", {"aa", "aaa"}, {"a", "aaaa"}},
		{"^a{0}$", {""}, {"a"}},
		{"^a{12}$", {"aaaaaaaaaaaa"}, {"aa", "aaaaaaaaaaa", "aaaaaaaaaaaaa"}},
		{"^a{,}$", {"a{,}"}, {"a", "aa"}},
		{"^a{x$", {"a{x"}, {"a"}},
		{"^a{1$", {"a{1"}, {"a"}},
		{"^(a|bc)+?d$", {"ad", "bcabcd"}, {"d", "abd"}},
		{"^(a*)*b$", {"b", "aaab"}, {"aaa"}},
		/* Alternatives and groups. */
		{"^(?:a|b|cd)$", {"a", "b", "cd"}, {"c", "d", "ab"}},
		{"^(|x)y$", {"y", "xy"}, {"x", "xxy"}},
		{"a|^b$|c$", {"xax", "b", "xc"}, {"xb", "cx", ""}},
		/* Sets. */
		{"^[a-c]$", {"a", "b", "c"}, {"d", "`", "-", ""}},
		{"^[^a-cb]$", {"d", "`", "\xc3\xa4"}, {"a", "b", "c"}},
		{"^[^c-da-b]$", {"e", "`"}, {"a", "b", "c", "d"}},
		{"^[^ab]$", {"`", "c"}, {"a", "b"}},
		{"^[^a-ec]$", {"f"}, {"c", "d", "e"}},
		{"^[a-]$", {"a", "-"}, {"b"}},
		{"^[]a]$", {"]", "a"}, {"b"}},
		{"^[^]a]$", {"b", "^"}, {"]", "a"}},
		{"^[a\\-c]$", {"a", "-", "c"}, {"b", "\\"}},
		{"^[\\d_]+$", {"0", "9_5"}, {"a", "/", ":"}},
		{"^[^\\d]$", {"/", ":"}, {"0", "9"}},
		{"^[ä-ö]$", {"ä", "é", "ö"}, {"a", "ø"}},
		/* Classes and escapes. */
		{"^\\w\\W$", {"a ", "Z-", "_/", "0:", "9@", "z{"}, {"a_", "-a", "aZ", "a0"}},
		{"^\\s\\S$", {" a", "\ta", "\rb", "\v\x0e"}, {"a ", "  ", "\x0e-", "\t\r"}},
		{"^\\D$", {"a", "/", ":"}, {"0", "9"}},
		{"^\\x41\\x7e$", {"A~"}, {"a~", "x41x7e"}},
		{"^\\x4a\\x4Fb$", {"JOb"}, {"job", "JO"}},
		{"^\\t\\n\\r\\f\\v$", {"\t\n\r\f\v"}, {"tnrfv"}},
		{"^\\.\\*\\\\$", {".*\\"}, {"abc", ".*"}},
		{"^a.c$",
			{"abc", "aäc",
				"a\xf4\x8f\xbf\xbf"
				"c"},
			{"ac", "abbc"}},
		/* Bytes that are not UTF-8 count as U+FFFD. */
		{"^\xef\xbf\xbd$", {"\x80", "\xff", "\xef\xbf\xbd"}, {"?", "\x7f", "\xc2\x80"}},
		{"^\xc2\x80$", {"\xc2\x80"}, {"\x80", "\x7f"}},
		{"^\x7f$", {"\x7f"}, {"~", "\x80"}},
		/* Places. */
		{"", {"", "a"}, {NULL}},
		{"^", {"", "a"}, {NULL}},
		{"^$", {""}, {"a"}},
		{"b^a", {NULL}, {"ba", "b\na", "b^a"}},
		{"aab", {"aaab", "aab", "xaabx"}, {"aaa", "abab"}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		expect(&list[i]);
}

static void what_is_wrong_is_said_with_its_offset(void **state)
{
	static const struct {
		const char *expression;
		size_t size, offset;
	} list[] = {
		{"a**", 3, 2},
		{"x*+", 3, 2},
		{"*a", 2, 0},
		{"a|+", 3, 2},
		{"a(b", 3, 1},
		{"[a-z]", 3, 0},
		{"[a-z]", 4, 0},
		{"[z-a]", 5, 1},
		{"a{3,2}", 6, 1},
		{"a{501}", 6, 1},
		{"a{1,501}", 8, 1},
		{"a{99999999999}", 14, 1},
		{"(?=a)", 5, 0},
		{"ab\\", 3, 2},
		{"\\x41", 3, 0},
		{"\\x4g", 4, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct weft__pattern *pattern;
		struct weft__pattern_error error;
		const struct weft_slice text = {list[i].expression, list[i].size};
		assert_int_equal(create(text, &error, &pattern), WEFT_ERROR_ARGUMENT);
		if (error.offset != list[i].offset || !error.message)
			fail_msg("%s: %s at %zu", list[i].expression, error.message, error.offset);
	}
}

static void limits_are_accepted(void **state)
{
	struct weft__pattern *pattern;
	struct weft__pattern_error error;
	char text[501];
	(void)state;
	memset(text, 'a', sizeof(text));
	assert_int_equal(create(slice("^a{500}$"), &error, &pattern), 0);
	assert_true(weft__pattern_matches(pattern, (struct weft_slice){text, 500}));
	assert_false(weft__pattern_matches(pattern, (struct weft_slice){text, 499}));
	assert_false(weft__pattern_matches(pattern, (struct weft_slice){text, 501}));
	weft__pattern_destroy(pattern);
	assert_int_equal(create(slice("(a{500}){500}"), &error, &pattern), WEFT_ERROR_ARGUMENT);
}

static void letters_match_in_either_case_if_asked(void **state)
{
	const struct weft__pattern_options options = {.ignore_case = true};
	struct weft__pattern *pattern;
	struct weft__pattern_error error;
	(void)state;
	assert_int_equal(weft__pattern_create(slice("^aZ[y-z]@$"), &options, &error, &pattern), 0);
	assert_true(weft__pattern_matches(pattern, slice("AzY@")));
	assert_true(weft__pattern_matches(pattern, slice("azZ@")));
	assert_false(weft__pattern_matches(pattern, slice("azX@")));
	assert_false(weft__pattern_matches(pattern, slice("azZ`")));
	weft__pattern_destroy(pattern);
}

static void a_literal_is_no_expression(void **state)
{
	const struct weft__pattern_options options = {.literal = true};
	struct weft__pattern *pattern;
	struct weft__pattern_error error;
	(void)state;
	assert_int_equal(weft__pattern_create(slice("a.*["), &options, &error, &pattern), 0);
	assert_true(weft__pattern_matches(pattern, slice("xa.*[y")));
	assert_false(weft__pattern_matches(pattern, slice("ab*[")));
	weft__pattern_destroy(pattern);
}

/* An automaton that has more states than are kept: they are made again. */
static void states_are_forgotten_and_made_again(void **state)
{
	struct weft__pattern *pattern;
	struct weft__pattern_error error;
	uint32_t random = 1;
	char text[64];
	(void)state;
	assert_int_equal(create(slice("a.{14}b$"), &error, &pattern), 0);
	for (int round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof(text); i++) {
			random = random * 1103515245 + 12345;
			text[i] = random >> 16 & 1 ? 'a' : 'b';
		}
		bool expected = text[48] == 'a' && text[63] == 'b';
		assert_int_equal(
			weft__pattern_matches(pattern, (struct weft_slice){text, sizeof(text)}), expected);
	}
	weft__pattern_destroy(pattern);
}

/* Each byte of ASCII by its two hexadecimal digits, in either case. */
static void characters_by_number(void **state)
{
	(void)state;
	for (unsigned c = 1; c < 128; c++)
		for (int upper = 0; upper < 2; upper++) {
			struct weft__pattern *pattern;
			struct weft__pattern_error error;
			char expression[16];
			snprintf(expression, sizeof(expression), upper ? "^\\x%02X$" : "^\\x%02x$", c);
			assert_int_equal(create(slice(expression), &error, &pattern), 0);
			for (unsigned other = 1; other < 128; other++) {
				const char text[1] = {(char)other};
				struct weft_slice one = {text, 1};
				assert_int_equal(weft__pattern_matches(pattern, one), other == c);
			}
			weft__pattern_destroy(pattern);
		}
}

/* Memory is limited, also for an expression that is one long word. */
static void long_expressions_are_refused(void **state)
{
	(void)state;
	struct weft__pattern *pattern = NULL;
	struct weft__pattern_error error;
	size_t accepted = 399;
	static char text[600];
	memset(text, 'a', sizeof(text));
	for (size_t size = 400; size <= 600; size++) {
		int result = create((struct weft_slice){text, size}, &error, &pattern);
		assert_true(result == 0 || (result == WEFT_ERROR_ARGUMENT && error.message));
		assert_true(result || accepted == size - 1); /* no longer one is accepted again */
		accepted += result == 0;
		if (result == 0)
			weft__pattern_destroy(pattern);
	}
	assert_in_range(accepted, 500, 512);
}

/* A text can lead to a new set of steps at each character, which costs time for each step. */
static void expressions_of_too_many_steps_are_refused(void **state)
{
	static const char *const list[] = {"a(a|b){600}c", "a(a|b){300}c", "(a?b?){260}",
		"(a|b|c|d){130}", "((a|b){20}){20}", "([a-m]{30,}){30}", "(((a{8}){8}){8}){8}",
		"(a{0,500}){2}"};
	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct weft__pattern *pattern;
		struct weft__pattern_error error;
		assert_int_equal(create(slice(list[i]), &error, &pattern), WEFT_ERROR_ARGUMENT);
		assert_non_null(strstr(error.message, "500"));
	}
}

/* Ranges are merged: a class of many characters costs no more than one. */
static void ranges_of_a_class_may_overlap(void **state)
{
	static const struct expectation list[] = {
		{"^[c-fa-db]$", {"a", "b", "c", "f"}, {"g", "`"}},
		{"^[zaaazb-cab]$", {"a", "b", "c", "z"}, {"d", "y"}},
		{"^[^c-fa-db]$", {"g", "`"}, {"a", "c", "f"}},
		{"^[^\\d\\D]$", {NULL}, {"a", "0"}},
		{"^[\\W\\w]$", {"a", "-", "\xc3\xa4"}, {""}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		expect(&list[i]);
}

/* A long text is matched in parts, which may end within a character. */
static void parts_give_what_the_whole_gives(void **state)
{
	static const char *const expressions[] = {
		"ab$", "b+c", "^\xc3\xa4", "\xe4\xb8\x96|zz", "a(a|b){9}c", ""};
	static const char *const texts[] = {
		"", "ab", "aabbbc", "\xc3\xa4-\xe4\xb8\x96", "zzz", "aababbabbac"};
	(void)state;
	for (unsigned i = 0; i < 36; i++) {
		struct weft__pattern *pattern;
		struct weft__pattern_error error;
		assert_int_equal(create(slice(expressions[i / 6]), &error, &pattern), 0);
		bool whole = weft__pattern_matches(pattern, slice(texts[i % 6])), found = !whole;
		struct weft__pattern_run run = {0};
		unsigned parts = 1;
		uint64_t work = 1;
		for (; !weft__pattern_go_on(pattern, slice(texts[i % 6]), &run, &work, &found); parts++)
			work = 1;
		assert_int_equal(found, whole);
		assert_true(parts <= strlen(texts[i % 6]) + 1);
		weft__pattern_destroy(pattern);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_by_number),
		cmocka_unit_test(long_expressions_are_refused),
		cmocka_unit_test(expressions_of_too_many_steps_are_refused),
		cmocka_unit_test(ranges_of_a_class_may_overlap),
		cmocka_unit_test(parts_give_what_the_whole_gives),
		cmocka_unit_test(expressions_match),
		cmocka_unit_test(what_is_wrong_is_said_with_its_offset),
		cmocka_unit_test(limits_are_accepted),
		cmocka_unit_test(letters_match_in_either_case_if_asked),
		cmocka_unit_test(a_literal_is_no_expression),
		cmocka_unit_test(states_are_forgotten_and_made_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
