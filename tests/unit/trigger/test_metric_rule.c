/* SPDX-License-Identifier: ISC
 *
 * Rules about metrics: what is one, up to the limits of the language, and when a rule holds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/error.h>

#include "trigger/metric_rule.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void rules_have_limits(void **state)
{
	static const struct {
		const char *rule;
		size_t offset; /* of the error; 0: there is none */
	} cases[] = {
		{"p99.9(latency) > 5ms", 0},
		{"p100(latency) > 5ms", 1},
		{"p0(latency) > 5ms", 1},
		{"value(x{a=1,b=2,c=3,d=4}) > 1", 0},
		{"value(x{a=1,b=2,c=3,d=4,e=5}) > 1", 24},
		{"rate(x over 1s) > 1", 0},
		{"rate(x over 999ms) > 1", 11},
		{"rate(x over 60min) > 1", 0},
		{"rate(x over 61min) > 1", 11},
		{"value(x) > 10 until 10", 0},
		{"value(x) > 10 until 11", 19},
		{"value(x) < 10 until 10", 0},
		{"value(x) < 10 until 9", 19},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct weft__metric_rule rule;
		struct weft_trigger_error wrong = {0};
		const char *text = cases[i].rule;
		int error = weft__trigger_metric_rule_parse(&rule, text, strlen(text), &wrong);
		assert_int_equal(error, cases[i].offset ? WEFT_ERROR_ARGUMENT : 0);
		if (cases[i].offset > 1)
			assert_in_range(wrong.offset, cases[i].offset - 1, cases[i].offset + 1);
		if (!error)
			weft__trigger_metric_rule_finish(&rule);
	}
}

static void a_rule_holds_beyond_its_limit_and_until_the_other(void **state)
{
	static const struct {
		const char *rule;
		double value;
		bool holds, holds_after; /* where it has not fired, and where it has */
	} cases[] = {
		{"value(x) > 10", 10, false, false},
		{"value(x) > 10", 11, true, true},
		{"value(x) >= 10", 10, true, true},
		{"value(x) >= 10", 9, false, false},
		{"value(x) < 10", 10, false, false},
		{"value(x) < 10", 9, true, true},
		{"value(x) <= 10", 10, true, true},
		{"value(x) > 10 until 5", 7, false, true},
		{"value(x) > 10 until 5", 5, false, false},
		{"value(x) < 10 until 20", 15, false, true},
		{"value(x) >= 10 until 10", 10, true, true},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct weft__metric_rule rule;
		struct weft_trigger_error wrong;
		const char *text = cases[i].rule;
		assert_int_equal(weft__trigger_metric_rule_parse(&rule, text, strlen(text), &wrong), 0);
		assert_int_equal(
			weft__trigger_metric_rule_holds(&rule, cases[i].value, false), cases[i].holds);
		assert_int_equal(
			weft__trigger_metric_rule_holds(&rule, cases[i].value, true), cases[i].holds_after);
		weft__trigger_metric_rule_finish(&rule);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_have_limits),
		cmocka_unit_test(a_rule_holds_beyond_its_limit_and_until_the_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
