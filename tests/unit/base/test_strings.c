/* SPDX-License-Identifier: ISC
 *
 * The table of strings: equal bytes have one number, views keep what they saw, and a failure
 * changes nothing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/strings.h"
#include "failing_allocation.h"

enum {
	MANY = 5000,
};

/* The bytes of string `number`, of different sizes. */
static size_t make_text(int number, char text[128])
{
	return (size_t)snprintf(text, 128, "%d%.*s", number, number % 100,
		"....................................................................................................");
}

static void add(struct weft__strings *strings, int from, int to)
{
	char text[128];
	for (int i = from; i < to; i++) {
		uint32_t string = 77;
		size_t size = make_text(i, text);
		assert_int_equal(weft__strings_intern(strings, text, size, &string), 0);
		assert_int_equal(string, i);
	}
	assert_true(strings->count >= (uint32_t)to);
}

static void expect(const struct weft__strings *strings, int count)
{
	char text[128];
	for (int i = 0; i < count; i++) {
		size_t size = make_text(i, text);
		assert_int_equal(weft__strings_size(strings, (uint32_t)i), size);
		assert_string_equal(weft__strings_bytes(strings, (uint32_t)i), text);
	}
}

static void equal_bytes_have_one_number(void **state)
{
	struct weft__strings strings;
	(void)state;
	assert_int_equal(weft__strings_init(&strings), 0);
	add(&strings, 0, MANY);
	add(&strings, 0, MANY);
	assert_int_equal(strings.count, MANY);
	expect(&strings, MANY);
	weft__strings_finish(&strings);
	assert_int_equal(strings.count, 0);
}

static void every_byte_counts(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {{NULL, 0}, {"a", 1}, {"b", 1}, {"ab", 2}, {"a\0", 2}, {"a\0b", 3}, {"\0", 1}};
	struct weft__strings strings;
	uint32_t string;
	(void)state;
	assert_int_equal(weft__strings_init(&strings), 0);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			assert_int_equal(
				weft__strings_intern(&strings, cases[i].bytes, cases[i].size, &string), 0);
			assert_int_equal(string, i);
			assert_int_equal(weft__strings_size(&strings, i), cases[i].size);
			assert_int_equal(weft__strings_bytes(&strings, i)[cases[i].size], 0);
		}
	weft__strings_finish(&strings);
}

/* A view is read by another thread while strings are added. */
static void a_view_keeps_its_strings(void **state)
{
	struct weft__strings strings, views[3];
	(void)state;
	assert_int_equal(weft__strings_init(&strings), 0);
	for (int i = 0; i < 3; i++) {
		add(&strings, i * 1000, i * 1000 + 1000);
		assert_int_equal(weft__strings_view(&strings, &views[i]), 0);
		assert_int_equal(views[i].count, i * 1000 + 1000);
		assert_int_equal(views[i].size, strings.size);
	}
	weft__strings_trim(&strings);
	add(&strings, 3000, MANY);
	for (int i = 0; i < 3; i++) {
		expect(&views[i], i * 1000 + 1000);
		weft__strings_finish(&views[i]);
	}
	expect(&strings, MANY);
	weft__strings_finish(&strings);
}

static void trimming_frees_what_is_not_used(void **state)
{
	struct weft__strings strings;
	(void)state;
	assert_int_equal(weft__strings_init(&strings), 0);
	add(&strings, 0, 1000);
	weft__strings_trim(&strings);
	assert_int_equal(strings.capacity, strings.size);
	assert_int_equal(strings.start_capacity, strings.count + 1);
	expect(&strings, 1000);
	add(&strings, 1000, 1100);
	expect(&strings, 1100);
	weft__strings_finish(&strings);
}

/* Memory is short at one allocation after the other; the next attempt succeeds. */
static void a_failure_changes_nothing(void **state)
{
	bool has_failed = true;
	int failures = 0;
	(void)state;
	for (; has_failed && failures < 1000; failures++) {
		struct weft__strings strings, view;
		int error;
		until_failure = failures;
		while ((error = weft__strings_init(&strings)) != 0)
			assert_int_equal(error, WEFT_ERROR_MEMORY);
		for (int i = 0; i < 300; i++) {
			char text[128];
			uint32_t string = 77;
			size_t size = make_text(i, text);
			while ((error = weft__strings_intern(&strings, text, size, &string)) != 0)
				assert_int_equal(error, WEFT_ERROR_MEMORY);
			assert_int_equal(string, i);
			if (i != 100)
				continue;
			while ((error = weft__strings_view(&strings, &view)) != 0)
				assert_int_equal(error, WEFT_ERROR_MEMORY);
		}
		weft__strings_trim(&strings);
		has_failed = until_failure < 0;
		until_failure = -1;
		expect(&view, 101);
		expect(&strings, 300);
		weft__strings_finish(&view);
		weft__strings_finish(&strings);
	}
	assert_in_range(failures, 10, 999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_bytes_have_one_number),
		cmocka_unit_test(every_byte_counts),
		cmocka_unit_test(a_view_keeps_its_strings),
		cmocka_unit_test(trimming_frees_what_is_not_used),
		cmocka_unit_test(a_failure_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
