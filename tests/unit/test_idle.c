/* SPDX-License-Identifier: ISC
 *
 * The times in which nothing runs, as model/idle.h finds them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/idle.h"

#include "trace_script.h"

/* As "20-30 by 1, 45-60 by 2", in ns since the trace's start. */
static const char *write_idle(const struct weft_model *model)
{
	static char text[256];
	struct weft__idle *list;
	uint32_t count;
	size_t size = 0;
	assert_int_equal(weft__model_idle(model, &list, &count), 0);
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size,
			"%s%" PRIu64 "-%" PRIu64 " by %" PRIu32, i ? ", " : "",
			list[i].start - model->summary.start, list[i].end - model->summary.start,
			list[i].threads);
	free(list);
	return text;
}

static void expect_idle(const char *script, const char *expected)
{
	struct weft_model *model = trace_script_model(script, 0);
	assert_string_equal(write_idle(model), expected);
	weft_model_destroy(model);
}

static void one_thread(void **state)
{
	(void)state;
	expect_idle(
		"run 1; ~20; idle; ~10; run 1; ~5; run 2; ~5; idle; ~7; run 1", "20-30 by 1, 40-47 by 1");
	expect_idle("run 1; ~20; run 2; ~1", "");
}

/* Before its first activation or band, and after its last one, a thread does not exist. */
static void threads_that_come_and_go(void **state)
{
	(void)state;
	expect_idle(
		"run 1; ~20; idle; ~10; run 1; ~5; thread 1; run 2; ~5; thread 0; idle; ~5; thread 1; idle; ~10;"
		"run 2; ~10",
		"20-30 by 1, 45-55 by 2");
	/* Thread 1 runs a task that ends, and nothing after it. */
	expect_idle(
		"create 0 2 task; run 1; ~20; thread 1; run 2; ~5; resolve 0 2; ~5; thread 0; idle; ~10; run 1; ~3",
		"30-40 by 1");
}

static void a_thread_that_runs_prevents_it(void **state)
{
	(void)state;
	expect_idle(
		"run 1; thread 1; run 2; ~20; idle; ~10; thread 0; run 3; ~4; thread 1; run 2; ~1", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread),
		cmocka_unit_test(threads_that_come_and_go),
		cmocka_unit_test(a_thread_that_runs_prevents_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
