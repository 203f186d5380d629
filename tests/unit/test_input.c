/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/input.h>
#include <weft/model.h>

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
	assert_int_equal(weft_input_open_source(source, &input), WEFT_ERROR_FORMAT);
	assert_null(input);
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_opens_with_one_call),
		cmocka_unit_test(its_model_has_all_events),
		cmocka_unit_test(the_options_limit_a_pipe),
		cmocka_unit_test(failures_say_why_and_leave_nothing),
	};
	return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
