/* SPDX-License-Identifier: ISC
 *
 * Connections that fail, one after the other, and what the program tries after that.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "problems_found.h"

#define TRIES_MAX 24

struct retried_case {
	const char *category;
	const char *tries[TRIES_MAX]; /* labels; those after a ! fail */
	enum weft_problem_severity severity;
	const char *sentence; /* of the first failure */
};

/* Each lasts 1 ms, and begins 1 ms after the end of the one before it. */
static void make_attempt(struct made *made, const char *category, const char *attempt, uint64_t id)
{
	const char *label = attempt + (*attempt == '!');
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = WEFT_TASK_NONE,
				   .other = id,
				   .kind = WEFT_KIND_UNKNOWN,
				   .kind_name = {label, strcspn(label, " ")},
				   .category = {category, strlen(category)}});
	make_label(made, id, label);
	made->time += MS;
	if (*attempt == '!')
		make_fail(made, WEFT_TASK_NONE, id, "refused");
	else
		make_edge(made, WEFT_EVENT_CLOSE, WEFT_TASK_NONE, id);
	made->time += MS;
}

#define SIX_FAIL                                                                         \
	"!tcp [::1]:80", "!tcp [::1]:80", "!tcp [::1]:80", "!tcp [::1]:80", "!tcp [::1]:80", \
		"!tcp [::1]:80"

#define REFUSED  "tcp 1 'tcp 10.0.0.1:80' failed at 1 ms: refused"
#define REFUSED6 "tcp 1 'tcp [::1]:80' failed at 1 ms: refused"

static const struct retried_case cases[] = {
	{"io", {"!tcp 10.0.0.1:80", "tcp 10.0.0.1:80"}, WEFT_SEVERITY_HINT,
		REFUSED "; a later try did not fail."},
	{"io", {"!tcp [::1]:80", "tcp 127.0.0.1:80"}, WEFT_SEVERITY_HINT,
		REFUSED6 "; a later try did not fail."},
	{"io", {"!unix /run/a", "unix /run/a"}, WEFT_SEVERITY_HINT,
		"unix 1 'unix /run/a' failed at 1 ms: refused; a later try did not fail."},
	{"thread", {"!call getaddrinfo host", "call getaddrinfo host"}, WEFT_SEVERITY_HINT,
		"call 1 'call getaddrinfo host' failed at 1 ms: refused; a later try did not fail."},
	/* Other targets, and other ways to the same one. */
	{"io", {"!tcp 10.0.0.1:80", "tcp 10.0.0.1:81"}, WEFT_SEVERITY_ERROR, REFUSED "."},
	{"io", {"!tcp 10.0.0.1:80", "udp 10.0.0.1:80"}, WEFT_SEVERITY_ERROR, REFUSED "."},
	{"io", {"!tcp 10.0.0.1:80", "tcp :81 ← 10.0.0.2:80"}, WEFT_SEVERITY_ERROR, REFUSED "."},
	{"io", {"!unix /run/a", "unix /run/b"}, WEFT_SEVERITY_ERROR,
		"unix 1 'unix /run/a' failed at 1 ms: refused."},
	/* The server went away. */
	{"io", {"tcp 10.0.0.1:80", "!tcp 10.0.0.1:80"}, WEFT_SEVERITY_ERROR,
		"tcp 2 'tcp 10.0.0.1:80' failed at 3 ms: refused."},
	/* A promise of the program that nobody reads is not tried again. */
	{"program", {"!tcp 10.0.0.1:80", "tcp 10.0.0.1:80"}, WEFT_SEVERITY_ERROR, REFUSED "."},
	{"io", {SIX_FAIL, "tcp [::1]:80"}, WEFT_SEVERITY_HINT,
		REFUSED6 ", and 5 more like it; a later try did not fail."},
	{"io", {SIX_FAIL, SIX_FAIL, SIX_FAIL, "tcp [::1]:80"}, WEFT_SEVERITY_WARNING,
		REFUSED6 ", and 17 more like it; most like it fail."},
};

static void a_later_try_may_not_fail(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made = make_begin();
		for (uint64_t id = 1; cases[i].tries[id - 1]; id++)
			make_attempt(&made, cases[i].category, cases[i].tries[id - 1], id);
		struct found found = find(&made);
		const struct weft_problem *p = only(&found, WEFT_PROBLEM_FAILED);
		assert_string_equal(p->sentence, cases[i].sentence);
		assert_int_equal(p->severity, cases[i].severity);
		found_finish(&found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_later_try_may_not_fail)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
