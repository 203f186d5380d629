/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/diagnostic.h>
#include <weft/error.h>

static void diagnostics_are_counted_by_text(void **state)
{
	(void)state;
	struct weft_diagnostics list = {0};
	weft_diagnostics_add(&list, 40, "a");
	weft_diagnostics_add(&list, 20, "b");
	weft_diagnostics_add(&list, 60, "a");
	assert_int_equal(list.count, 2);
	assert_int_equal(list.list[0].count, 2);
	assert_int_equal(list.list[0].offset, 40);
	assert_string_equal(list.list[1].message, "b");
}

static void every_error_has_a_text(void **state)
{
	(void)state;
#define X(name, number, text) assert_string_equal(weft_error_text(WEFT_ERROR_##name), text);
	WEFT_ERRORS(X)
#undef X
	assert_string_equal(weft_error_text(-1000), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diagnostics_are_counted_by_text),
		cmocka_unit_test(every_error_has_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
