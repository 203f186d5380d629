/* SPDX-License-Identifier: ISC
 *
 * One trace opened with one call: its model, its second thread, and what is left after a close or
 * an error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/input.h>
#include <weft/model.h>

#include "failing_allocation.h"
#include "nothing_left.h"

static const char *sample(void)
{
	static char path[4096];
	snprintf(
		path, sizeof(path), "%s/tests/data/traces/mirage-block-read.sexp", getenv("WEFT_SOURCE"));
	return path;
}

static void a_trace_opens_with_one_call(void **state)
{
	struct weft_input *input;
	struct weft_event event;
	(void)state;
	assert_int_equal(weft_input_open(sample(), NULL, &input), 0);
	assert_string_equal(weft_decoder_describe(weft_input_decoder(input))->format, "sexp");
	assert_int_equal(weft_decoder_next(weft_input_decoder(input), &event), WEFT_OK);
	weft_input_close(input);
	weft_input_close(NULL);
}

static void its_model_has_all_events(void **state)
{
	struct weft_input *input;
	struct weft_model *model;
	(void)state;
	assert_int_equal(weft_input_open(sample(), NULL, &input), 0);
	assert_int_equal(weft_input_build_model(input, NULL, &model), 0);
	assert_int_equal(weft_decoder_events(weft_input_decoder(input)), model->summary.events);
	assert_true(model->tasks.count > 10);
	weft_model_destroy(model);
	weft_input_close(input);
}

/* The limit is for what has no size of its own. */
static void the_options_limit_a_pipe(void **state)
{
	const struct weft_input_options options = {.size = sizeof(options), .max_bytes = 100};
	struct weft_input *input;
	int ends[2];
	char path[32];
	static const char form[] = "((time 1)(op(Switch 1)))\n";
	(void)state;
	for (int forms = 4; forms <= 5; forms++) {
		assert_int_equal(pipe(ends), 0);
		for (int i = 0; i < forms; i++)
			assert_int_equal(write(ends[1], form, sizeof(form) - 1), sizeof(form) - 1);
		close(ends[1]);
		snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
		int error = weft_input_open(path, &options, &input);
		assert_int_equal(error, forms == 4 ? 0 : WEFT_ERROR_SIZE);
		if (!error)
			weft_input_close(input);
		close(ends[0]);
	}
}

static void failures_say_why_and_leave_nothing(void **state)
{
	struct weft_input *input = NULL;
	struct weft_source *source;
	char path[] = "/tmp/weft-input-XXXXXX";
	(void)state;
	assert_int_equal(weft_input_open("/does/not/exist", NULL, &input), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, ENOENT);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(weft_input_open(path, NULL, &input), WEFT_ERROR_EMPTY);
	FILE *file = fdopen(fd, "w");
	fputs("no trace\n", file);
	fclose(file);
	assert_int_equal(weft_source_open(path, &source), 0);
	assert_int_equal(weft_input_open_source_with(source, NULL, &input), WEFT_ERROR_FORMAT);
	assert_null(input);
	remove(path);
}

/* ---- A large trace ---- */

static int forgotten; /* calls that return memory to the system */

int __wrap_madvise(void *address, size_t size, int advice);
int __wrap_madvise(void *address, size_t size, int advice)
{
	(void)address;
	(void)size;
	forgotten += advice == MADV_DONTNEED;
	return 0;
}

enum {
	FORMS = 100000,
};

static void make_trace(char path[], int forms)
{
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	FILE *file = fdopen(fd, "w");
	for (int i = 0; i < forms; i++)
		fprintf(file, "((time %d)(op(Switch %d)))\n", i, i % 2);
	assert_int_equal(fclose(file), 0);
}

/* More than 1 MiB. */
static void make_large(char path[])
{
	make_trace(path, FORMS);
}

struct steps {
	int count, last; /* the last step stops */
};

static bool take_step(void *context, double part)
{
	struct steps *steps = context;
	assert_true(part > 0 && part <= 1);
	return ++steps->count != steps->last;
}

static void a_trace_of_more_than_32_mb_is_forgotten_when_it_is_opened(void **state)
{
	char path[] = "/tmp/weft-input-XXXXXX";
	struct weft_input *input;
	(void)state;
	make_trace(path, 12 * FORMS);
	forgotten = 0;
	assert_int_equal(weft_input_open(path, NULL, &input), 0);
	assert_true(forgotten > 0);
	weft_input_close(input);
	unlink(path);
}

static void a_large_trace_is_built_in_steps(void **state)
{
	char path[] = "/tmp/weft-input-XXXXXX";
	struct weft_input *input;
	(void)state;
	make_large(path);
	for (int last = 0; last <= 3; last++) {
		struct steps steps = {0, last};
		const struct weft_progress progress = {last == 2 ? NULL : take_step, &steps, NULL};
		struct weft_model *model;
		forgotten = 0;
		assert_int_equal(weft_input_open(path, NULL, &input), 0);
		assert_int_equal(forgotten, 0); /* less than 32 MB: its pages are kept */
		assert_int_equal(weft_input_build_model(input, last == 3 ? NULL : &progress, &model), 0);
		assert_int_equal(forgotten, 2); /* at each step, and at the end */
		assert_int_equal(steps.count, last < 2);
		if (last == 1)
			assert_in_range(model->summary.events, 1, FORMS - 1);
		else
			assert_int_equal(model->summary.events, FORMS);
		weft_model_destroy(model);
		weft_input_close(input);
	}
	remove(path);
}

static void a_large_trace_gets_a_second_thread(void **state)
{
	char path[] = "/tmp/weft-input-XXXXXX";
	struct weft_input *input;
	(void)state;
	make_large(path);
	assert_int_equal(weft_input_open(sample(), NULL, &input), 0);
	assert_null(weft_input_help(input));
	weft_input_close(input);
	assert_int_equal(weft_input_open(path, NULL, &input), 0);
	bool has_help = weft_input_help(input) != NULL;
	weft_input_close(input);
	remove(path);
	assert_true(has_help || sysconf(_SC_NPROCESSORS_ONLN) < 2);
}

static void closing_leaves_nothing(void **state)
{
	char path[] = "/tmp/weft-input-XXXXXX";
	struct weft_input *input = NULL;
	struct weft_source *source;
	struct held before = {0};
	(void)state;
	int fd = mkstemp(path);
	assert_int_equal(write(fd, "no trace\n", 9), 9);
	close(fd);
	for (int i = 0; i < HELD_ROUNDS + 10; i++) {
		if (i == 10)
			before = held_now();
		assert_int_equal(weft_input_open(sample(), NULL, &input), 0);
		size_t size;
		assert_non_null(weft_source_bytes(weft_input_source(input), &size));
		weft_input_close(input);
		errno = 0;
		assert_int_equal(weft_input_open(path, NULL, &input), WEFT_ERROR_FORMAT);
		assert_int_equal(weft_source_open(path, &source), 0);
		assert_int_equal(weft_input_open_source_with(source, NULL, &input), WEFT_ERROR_FORMAT);
	}
	held_expect(before);
	remove(path);
}

/* Memory is short at one allocation after the other. */
static void a_failure_leaves_nothing(void **state)
{
	struct weft_input *input = NULL;
	struct held before = held_now();
	int error, failures = 0;
	(void)state;
	do {
		until_failure = failures;
		error = weft_input_open(sample(), NULL, &input);
		until_failure = -1;
		assert_true(error == 0 || error == WEFT_ERROR_MEMORY);
		failures += error != 0;
	} while (error && failures < 1000);
	assert_in_range(failures, 3, 999);
	weft_input_close(input);
	assert_int_equal(held_now().file, before.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_opens_with_one_call),
		cmocka_unit_test(its_model_has_all_events),
		cmocka_unit_test(the_options_limit_a_pipe),
		cmocka_unit_test(failures_say_why_and_leave_nothing),
		cmocka_unit_test(a_trace_of_more_than_32_mb_is_forgotten_when_it_is_opened),
		cmocka_unit_test(a_large_trace_is_built_in_steps),
		cmocka_unit_test(a_large_trace_gets_a_second_thread),
		cmocka_unit_test(closing_leaves_nothing),
		cmocka_unit_test(a_failure_leaves_nothing),
	};
	return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
