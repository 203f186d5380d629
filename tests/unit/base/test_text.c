/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/text.h>

#include "base/utf8.h"

static void assert_text(struct weft_text *text, const char *expected)
{
	assert_int_equal(text->error, 0);
	assert_int_equal(text->size, strlen(expected));
	if (text->size)
		assert_memory_equal(text->bytes, expected, text->size);
	weft_text_finish(text);
}

static void numbers(void **state)
{
	(void)state;
	const uint64_t corners[] = {0, 1, 9, 10, 99, 100, 101, 999, 1000, 12345, UINT32_MAX, INT64_MAX,
		UINT64_MAX, UINT64_MAX - 1, 10000000000000000000u, 9999999999999999999u};
	for (size_t i = 0; i < sizeof(corners) / sizeof(corners[0]); i++) {
		struct weft_text text = {0};
		char expected[32];
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)corners[i]);
		weft_text_add_u64(&text, corners[i]);
		assert_text(&text, expected);
		snprintf(expected, sizeof(expected), "%lld", (long long)corners[i]);
		weft_text_add_i64(&text, (int64_t)corners[i]);
		assert_text(&text, expected);
	}
}

static void doubles_read_back(void **state)
{
	(void)state;
	const double corners[] = {0.1, 1.0 / 3, DBL_MAX, DBL_MIN, 5e-324, -0.0, 1e21, 123456789.0};
	for (size_t i = 0; i < sizeof(corners) / sizeof(corners[0]); i++) {
		struct weft_text text = {0};
		weft_text_add_f64(&text, corners[i]);
		weft_text_add(&text, "", 1);
		assert_true(strtod(text.bytes, NULL) == corners[i]);
		weft_text_finish(&text);
	}
	struct weft_text text = {0};
	weft_text_add_f64(&text, 0.1);
	weft_text_add_f64(&text, NAN);
	weft_text_add_f64(&text, -INFINITY);
	assert_text(&text, "0.1nullnull");
}

static void assert_json(const char *bytes, size_t size, const char *expected)
{
	struct weft_text text = {0};
	weft_text_add_json(&text, bytes, size);
	assert_text(&text, expected);
}

static void json_strings(void **state)
{
	(void)state;
	assert_json(NULL, 0, "\"\"");
	assert_json("plain", 5, "\"plain\"");
	assert_json("a\0b", 3, "\"a\\u0000b\"");
	assert_json("\"\\\n\t\r\x1f\x7f", 7, "\"\\\"\\\\\\n\\t\\r\\u001f\\u007f\"");
	assert_json("\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xd8\x9c", 10, "\"\\u009b\\u202e\\u2028\\u061c\"");
	assert_json("gr\xc3\xbc\xc3\x9f", 6, "\"gr\xc3\xbc\xc3\x9f\"");
	assert_json("\xf0\x9f\xa7\xb5", 4, "\"\xf0\x9f\xa7\xb5\"");
	/* As Unicode's table 3-8 has it. */
	assert_json("\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64", 12,
		"\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x62\xef\xbf\xbd\x63\xef\xbf\xbd\xef\xbf\xbd\x64\"");
}

static void utf8_that_is_none(void **state)
{
	(void)state;
	const char *const wrong[] = {"\x80", "\xc0\xaf", "\xe0\x9f\xbf", "\xed\xa0\x80",
		"\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint32_t character;
		bool valid = true;
		assert_int_equal(weft__utf8_decode(wrong[i], strlen(wrong[i]), &character, &valid), 1);
		assert_false(valid);
	}
}

static void nothing_drives_a_terminal(void **state)
{
	(void)state;
	static const char hostile[] = "\x1b[2J\x07\x7f\xc2\x9b\xe2\x80\xae\xc3\xa4\xff\"\\";
	struct weft_text text = {0};
	weft_text_add_quoted(&text, hostile, sizeof(hostile) - 1);
	assert_text(&text, "\"\\x1b[2J\\x07\\x7f\\x9b\\u202e\xc3\xa4\\xff\\\"\\\\\"");
	weft_text_add_shown(&text, hostile, sizeof(hostile) - 1);
	assert_text(&text, "\\x1b[2J\\x07\\x7f\\x9b\\u202e\xc3\xa4\\xff\"\\");
}

/* Each of the characters that change the direction of text, or end a line. */
static void no_character_that_turns_text_is_shown(void **state)
{
	(void)state;
	static const char *const turning[] = {"\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f",
		"\xe2\x80\xa8", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"};
	for (size_t i = 0; i < sizeof(turning) / sizeof(turning[0]); i++) {
		struct weft_text text = {0};
		weft_text_add_shown(&text, turning[i], strlen(turning[i]));
		assert_true(text.size == 6 && text.bytes[0] == '\\' && text.bytes[1] == 'u');
		weft_text_finish(&text);
	}
}

/* The characters at both ends of each range that is not shown, or could deceive a reader. */
static void ranges_of_characters_end_where_they_should(void **state)
{
	(void)state;
	static const uint32_t shown[] = {0x20, 0x7e, 0xa0, 0x61b, 0x61d, 0x200a, 0x200c, 0x200d, 0x2010,
		0x2027, 0x202f, 0x205f, 0x2070, 0xfdcf, 0xfdf0, 0xfefe, 0xff00, 0xfffd, 0x10000, 0x10fffd};
	static const uint32_t hidden[] = {0, 0x1f, 0x7f, 0x9f, 0x61c, 0x200b, 0x200e, 0x200f, 0x2028,
		0x202e, 0x2060, 0x206f, 0xfdd0, 0xfdef, 0xfeff, 0xfffe, 0xffff, 0x1fffe, 0x10ffff};
	static const uint32_t dangerous[] = {
		0, 0x1f, 0x7f, 0x9f, 0x61c, 0x200e, 0x200f, 0x2028, 0x202e, 0x2066, 0x2069};
	static const uint32_t harmless[] = {
		0x20, 0x7e, 0xa0, 0x61b, 0x61d, 0x200d, 0x2010, 0x2027, 0x202f, 0x2065, 0x206a, 0xfeff};
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		assert_true(weft__utf8_is_showable(shown[i]));
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		assert_false(weft__utf8_is_showable(hidden[i]));
	for (size_t i = 0; i < sizeof(dangerous) / sizeof(dangerous[0]); i++)
		assert_true(weft__utf8_is_dangerous(dangerous[i]));
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		assert_false(weft__utf8_is_dangerous(harmless[i]));
}

/* Texts are escaped in blocks of some hundred bytes, whose ends may be in the middle of a
 * character. */
static void long_texts_are_escaped_like_short_ones(void **state)
{
	(void)state;
	static const char *const parts[][3] = {/* given, as JSON, on a terminal */
		{"\xc3\xa9", "\xc3\xa9", "\xc3\xa9"}, {"\xe2\x82\xac", "\xe2\x82\xac", "\xe2\x82\xac"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}, {"\x1b", "\\u001b", "\\x1b"},
		{"\"", "\\\"", "\""}, {"\xf0\x9f", "\xef\xbf\xbd", "\\xf0\\x9f"}};
	char given[600], expected[600], before[530];
	memset(before, 'a', sizeof(before));
	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
		for (int length = 240; length < 530; length++) {
			struct weft_text text = {0};
			snprintf(given, sizeof(given), "%.*s%sb%s", length, before, parts[p][0], parts[p][0]);
			snprintf(expected, sizeof(expected), "\"%.*s%sb%s\"", length, before, parts[p][1],
				parts[p][1]);
			assert_json(given, strlen(given), expected);
			snprintf(
				expected, sizeof(expected), "%.*s%sb%s", length, before, parts[p][2], parts[p][2]);
			weft_text_add_shown(&text, given, strlen(given));
			assert_text(&text, expected);
		}
}

static void columns(void **state)
{
	(void)state;
	struct weft_text text = {0};
	weft_text_add_string(&text, "ab");
	weft_text_pad(&text, 0, 4);
	weft_text_add_string(&text, "long");
	weft_text_pad(&text, 4, 2);
	weft_text_add_string(&text, "|");
	assert_text(&text, "ab  long |");
}

/* UTF-8 of a character that needs two bytes or more; returns their number. */
static size_t encode(uint32_t character, char bytes[4])
{
	size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	for (size_t i = size - 1; i > 0; i--, character >>= 6)
		bytes[i] = (char)(0x80 | (character & 0x3f));
	bytes[0] = (char)(0xf00 >> size | character);
	return size;
}

/* Surrogates and numbers above 0x10ffff are not characters. */
static void each_character_is_decoded(void **state)
{
	(void)state;
	for (uint32_t character = 0x80; character < 0x140000; character++) {
		char bytes[4];
		uint32_t decoded;
		bool is_valid, is_character = character < 0x110000 && character >> 11 != 0x1b;
		size_t size = encode(character, bytes),
			   used = weft__utf8_decode(bytes, size, &decoded, &is_valid);
		if (is_valid != is_character || (is_valid && (used != size || decoded != character)))
			fail_msg("U+%x", character);
		if (is_valid && weft__utf8_decode(bytes, size - 1, &decoded, &is_valid) && is_valid)
			fail_msg("the beginning of U+%x", character);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(doubles_read_back),
		cmocka_unit_test(json_strings),
		cmocka_unit_test(utf8_that_is_none),
		cmocka_unit_test(nothing_drives_a_terminal),
		cmocka_unit_test(no_character_that_turns_text_is_shown),
		cmocka_unit_test(ranges_of_characters_end_where_they_should),
		cmocka_unit_test(long_texts_are_escaped_like_short_ones),
		cmocka_unit_test(columns),
		cmocka_unit_test(each_character_is_decoded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
