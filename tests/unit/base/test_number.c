/* SPDX-License-Identifier: ISC
 *
 * Numbers as text, in and out: exact, and the same in every locale.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/duration.h>
#include <weft/parse.h>
#include <weft/text.h>

#include "base/number.h"

#define OK       WEFT_PARSE_OK
#define NUMBER   WEFT_PARSE_NO_NUMBER
#define NO_UNIT  WEFT_PARSE_NO_UNIT
#define UNIT     WEFT_PARSE_UNIT
#define TOO_MUCH WEFT_PARSE_TOO_LARGE

struct parse_case {
	const char *text;
	enum weft_parse result;
	uint64_t value;
};

static void check(const struct parse_case *cases, size_t count,
	enum weft_parse (*parse)(const char *, size_t, uint64_t *))
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 77;
		enum weft_parse result = parse(cases[i].text, strlen(cases[i].text), &value);
		if (result != cases[i].result || value != (result == OK ? cases[i].value : 77))
			fail_msg("\"%s\" gave %d, %llu", cases[i].text, result, (unsigned long long)value);
	}
}

#define CHECK(cases, parse) check(cases, sizeof(cases) / sizeof((cases)[0]), parse)

static void lengths_of_time_are_exact(void **state)
{
	static const struct parse_case cases[] = {
		{"40ns", OK, 40},
		{"300us", OK, 300000},
		{"300µs", OK, 300000},
		{"12.5ms", OK, 12500000},
		{"1.123456789s", OK, 1123456789},
		{"1.9999999999s", OK, 1999999999},
		{"1.5 s", OK, 1500000000},
		{"0.5min", OK, 30000000000},
		{".5us", OK, 500},
		{"0.00000000000000000000000000009s", OK, 0},
		{"18446744073709551615ns", OK, UINT64_MAX},
		{"18446744073709551616ns", TOO_MUCH, 0},
		{"18446744074s", TOO_MUCH, 0},
		{"", NUMBER, 0},
		{".", NUMBER, 0},
		{"-1s", NUMBER, 0},
		{"s", NUMBER, 0},
		{"0", OK, 0},
		{"00", OK, 0},
		{"0.1", NO_UNIT, 0},
		{"5", NO_UNIT, 0},
		{"5.", NO_UNIT, 0},
		{"5 days", UNIT, 0},
		{"1,5s", UNIT, 0},
		{"1.5.5s", UNIT, 0},
	};
	(void)state;
	CHECK(cases, weft_parse_duration);
}

static void sizes_do_not_wrap(void **state)
{
	static const struct parse_case cases[] = {
		{"0", OK, 0},
		{"4096", OK, 4096},
		{"64K", OK, 65536},
		{"17179869183G", OK, UINT64_MAX - ((1 << 30) - 1)},
		{"17179869184G", TOO_MUCH, 0},
		{"18446744073709551615G", TOO_MUCH, 0},
		{"18446744073709551615", OK, UINT64_MAX},
		{"18446744073709551616", TOO_MUCH, 0},
		{"1.5M", UNIT, 0},
		{"5 M", UNIT, 0},
		{"16MB", UNIT, 0},
		{"M", NUMBER, 0},
		{"-1", NUMBER, 0},
	};
	(void)state;
	CHECK(cases, weft_parse_size);
}

static void numbers_are_digits(void **state)
{
	static const struct parse_case cases[] = {
		{"0", OK, 0}, {"007", OK, 7}, {"000000000000000000000000000042", OK, 42},
		{"18446744073709551615", OK, UINT64_MAX}, {"18446744073709551616", TOO_MUCH, 0},
		{"99999999999999999999", TOO_MUCH, 0}, {"184467440737095516160", TOO_MUCH, 0},
		{"99999999999999999999x", UNIT, 0}, {"", NUMBER, 0}, {"1.0", UNIT, 0}, {" 1", NUMBER, 0},
		{"\t1", NUMBER, 0}, {"1 ", UNIT, 0}, {"1\n", UNIT, 0}, {"+1", NUMBER, 0}, {"-1", NUMBER, 0},
		{"-0", NUMBER, 0}, {"0x1", UNIT, 0}, {"\xd9\xa1", NUMBER, 0}, /* an Arabic digit */
	};
	uint64_t value;
	(void)state;
	CHECK(cases, weft_parse_number);
	assert_int_equal(weft_parse_number("123", 2, &value), OK);
	assert_int_equal(value, 12);
}

static void hexadecimal_numbers_are_digits_too(void **state)
{
	static const struct parse_case cases[] = {
		{"0", OK, 0},
		{"1f", OK, 31},
		{"1F", OK, 31},
		{"00000000000000000000abcdefABCDEF", OK, 0xabcdefabcdef},
		{"ffffffffffffffff", OK, UINT64_MAX},
		{"10000000000000000", TOO_MUCH, 0},
		{"20000000000000001", TOO_MUCH, 0},
		{"ffffffffffffffffffff", TOO_MUCH, 0},
		{"ffffffffffffffffffffg", UNIT, 0},
		{"", NUMBER, 0},
		{"g", NUMBER, 0},
		{"`", NUMBER, 0},
		{"@", NUMBER, 0},
		{":", NUMBER, 0},
		{"/", NUMBER, 0},
		{"0x1", UNIT, 0},
		{"x1", NUMBER, 0},
		{" 1", NUMBER, 0},
		{"1 ", UNIT, 0},
		{"+1", NUMBER, 0},
		{"-1", NUMBER, 0},
		{"1.0", UNIT, 0},
	};
	uint64_t value;
	(void)state;
	CHECK(cases, weft_parse_hexadecimal);
	assert_int_equal(weft_parse_hexadecimal("123", 2, &value), OK);
	assert_int_equal(value, 0x12);
	assert_int_equal(weft_parse_hexadecimal("1", 0, &value), NUMBER);
}

/* ---- Locales ---- */

static void check_numbers(void)
{
	static const double numbers[] = {0, -0.5, 0.1, 1.5, -1e-300, 12345.678, 1e6, DBL_MAX, DBL_MIN};
	char text[WEFT__NUMBER_BYTES];
	const char *end;
	assert_string_equal(weft__number_fixed(1234.5, 2, text), "1234.50");
	assert_string_equal(weft__number_fixed(-0.25, 1, text), "-0.2");
	assert_string_equal(weft__number_fixed(3, 0, text), "3");
	assert_string_equal(weft__number_general(1.5e-7, 6, text), "1.5e-07");
	assert_string_equal(weft__number_general(2.5, 6, text), "2.5");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		weft__number_general(numbers[i], 17, text);
		assert_true(weft__number_parse(text, &end) == numbers[i]);
		assert_int_equal(*end, '\0');
	}
	assert_true(weft__number_parse("0.5;x", &end) == 0.5);
	assert_string_equal(end, ";x");
	assert_true(weft__number_parse("1,5", &end) == 1);
	assert_string_equal(end, ",5");
	assert_true(weft__number_parse("x", &end) == 0);
	assert_string_equal(end, "x");
}

static void check_texts(void)
{
	struct weft_text text = {0};
	char length[32];
	weft_text_add_f64(&text, 0.1);
	weft_text_add(&text, " ", 1);
	weft_text_add_f64(&text, -2.5e-9);
	weft_text_add(&text, "", 1);
	assert_string_equal(text.bytes, "0.1 -2.5e-09");
	weft_text_finish(&text);
	weft_format_duration(1500000, 4, length);
	assert_string_equal(length, "1.5 ms");
	weft_format_duration(2000000, 4, length);
	assert_string_equal(length, "2 ms");
}

static void the_usual_locale(void **state)
{
	(void)state;
	check_numbers();
	check_texts();
}

/* Compiles a locale in which only the separator differs from C's, since most machines have no other
 * locale. False if localedef is missing. */
static bool enter_locale(const char *directory, const char *charset, const char *separator)
{
	char command[512], path[64];
	snprintf(path, sizeof(path), "%s/source", directory);
	FILE *source = fopen(path, "w");
	assert_non_null(source);
	fprintf(source,
		"LC_NUMERIC\ndecimal_point \"%s\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n"
		"LC_CTYPE\ncopy \"POSIX\"\nEND LC_CTYPE\n",
		separator);
	fclose(source);
	snprintf(command, sizeof(command),
		"localedef -c -i %s -f %s %s/test >/dev/null 2>&1; test -d %s/test", path, charset,
		directory, directory);
	if (system(command) != 0)
		return false;
	setenv("LOCPATH", directory, 1);
	assert_non_null(setlocale(LC_NUMERIC, "test"));
	return true;
}

static void check_in_locale(const char *charset, const char *separator, const char *expected)
{
	char directory[] = "/tmp/weft-locale-XXXXXX", command[64];
	assert_non_null(mkdtemp(directory));
	bool is_there = enter_locale(directory, charset, separator);
	if (is_there) {
		assert_string_equal(localeconv()->decimal_point, expected);
		check_numbers();
		check_texts();
		setlocale(LC_NUMERIC, "C");
	}
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
	if (!is_there) {
		print_message("# localedef cannot make a locale with charset %s\n", charset);
		skip();
	}
}

static void a_locale_with_a_decimal_comma(void **state)
{
	(void)state;
	check_in_locale("ANSI_X3.4-1968", ",", ",");
}

static void a_locale_whose_separator_is_two_bytes(void **state)
{
	(void)state;
	check_in_locale("UTF-8", "<U066B>", "\xd9\xab");
}

static void durations_have_the_largest_unit_and_few_digits(void **state)
{
	static const struct {
		uint64_t ns;
		unsigned digits;
		const char *text;
	} cases[] = {{0, 3, "0 ns"}, {999, 3, "999 ns"}, {1000, 3, "1 us"}, {1005, 3, "1 us"},
		{1010, 3, "1.01 us"}, {1234, 2, "1.2 us"}, {9999, 3, "10 us"}, {12300, 3, "12.3 us"},
		{99990, 3, "100 us"}, {123456, 4, "123.5 us"}, {123456, 3, "123 us"}, {100000, 4, "100 us"},
		{999499, 3, "999 us"}, {999500, 3, "1 ms"}, {999500000, 3, "1 s"}, {1500000000, 3, "1.5 s"},
		{(uint64_t)599499 * 1000000, 4, "599.5 s"},
		{(uint64_t)5000 * 1000000000, 3, "1 h 23 min 20 s"},
		{(uint64_t)1000 * 1000000000, 6, "16 min 40 s"},
		{(uint64_t)700250 * 1000000, 5, "11 min 40.25 s"},
		{(uint64_t)600 * 1000000000, 3, "10 min"}, {(uint64_t)86399 * 1000000000, 2, "1 d"},
		{(uint64_t)100000 * 1000000000, 3, "1 d 3 h 47 min"},
		{(uint64_t)116 * 86400 * 1000000000, 3, "116 d"},
		{(uint64_t)90061 * 1000000000, 6, "1 d 1 h 1 min 1 s"},
		{UINT64_MAX, 12, "213503 d 23 h 34 min 33.7 s"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		weft_format_duration(cases[i].ns, cases[i].digits, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void a_uuid_is_16_bytes(void **state)
{
	static const char *const good[] = {"00112233-4455-6677-8899-aabbccddeeff",
		"00112233445566778899AABBCCDDEEFF", "00112233-4455-6677-8899-aabbccddeeff\n"};
	static const char *const bad[] = {"", "-", "00112233-4455-6677-8899-aabbccddeef",
		"00112233--4455-6677-8899-aabbccddeeff", "0-0112233-4455-6677-8899-aabbccddeeff",
		"00112233-4455-6677-8899-aabbccddeefg", " 0112233445566778899aabbccddeeff"};
	uint8_t uuid[16];
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(weft_parse_uuid(good[i], strlen(good[i]), uuid));
		for (unsigned k = 0; k < 16; k++)
			assert_int_equal(uuid[k], 0x11 * k);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(weft_parse_uuid(bad[i], strlen(bad[i]), uuid));
		for (unsigned k = 0; k < 16; k++)
			assert_int_equal(uuid[k], 0);
	}
	/* Digits behind the size do not count. */
	assert_false(weft_parse_uuid(good[0], 35, uuid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_of_time_are_exact),
		cmocka_unit_test(sizes_do_not_wrap),
		cmocka_unit_test(numbers_are_digits),
		cmocka_unit_test(hexadecimal_numbers_are_digits_too),
		cmocka_unit_test(a_uuid_is_16_bytes),
		cmocka_unit_test(the_usual_locale),
		cmocka_unit_test(a_locale_with_a_decimal_comma),
		cmocka_unit_test(a_locale_whose_separator_is_two_bytes),
		cmocka_unit_test(durations_have_the_largest_unit_and_few_digits),
	};
	return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
