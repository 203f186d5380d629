/* SPDX-License-Identifier: ISC
 *
 * Traces of which one problem is told, or none: a table of cases.
 */
#ifndef WEFT_TESTS_PROBLEM_CASE_H
#define WEFT_TESTS_PROBLEM_CASE_H

#include "problems_found.h"
#include "trace_script.h"

/* A trace, with or without a problem of the type. */
struct problem_case {
	const char *what, *script;
	enum weft_problem_type type;
	enum weft_problem_severity severity;
	const char *sentence; /* NULL: there is none */
};

static inline struct found find_in_script(const char *script, int64_t n)
{
	struct trace_script s = {.made = make_begin(), .n = n};
	trace_script_run_all(&s, script);
	return find(&s.made);
}

static inline void expect_case(const struct problem_case *c)
{
	struct found found = find_in_script(c->script, 1);
	if (c->sentence) {
		const struct weft_problem *problem = only(&found, c->type);
		assert_string_equal(problem->sentence, c->sentence);
		assert_int_equal(problem->severity, c->severity);
	}
	for (uint32_t i = 0; !c->sentence && i < found.problems->count; i++)
		if (found.problems->list[i].type == c->type)
			fail_msg("%s: %s", c->what, found.problems->list[i].sentence);
	found_finish(&found);
}

static inline void expect_cases(const struct problem_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_case(&cases[i]);
}

#define EXPECT_CASES(cases) expect_cases(cases, sizeof(cases) / sizeof((cases)[0]))

#endif
