/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/event.h>

static void every_event_and_kind_has_a_name(void **state)
{
	(void)state;
	assert_null(weft_event_describe(0)->name);
	assert_null(weft_event_describe(200)->name);
	for (unsigned type = 1; type < WEFT_EVENT_TYPES; type++)
		assert_non_null(weft_event_describe(type)->name);
	assert_string_equal(weft_event_describe(WEFT_EVENT_TRY_READ)->name, "try_read");
	assert_string_equal(weft_event_describe(WEFT_EVENT_CREATE)->fields[1].key, "child");
	assert_string_equal(weft_kind_name(WEFT_KIND_UNKNOWN), "unknown");
	assert_null(weft_kind_name(50));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_and_kind_has_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
