/* SPDX-License-Identifier: ISC
 *
 * The order of calls on a decoder, and models of hostile traces.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include <weft/model.h>

#include "decoded.h"

static const char sample[] = "((time 1)(op(Switch 1)))((time 2)(op(Switch 2)))";

static struct weft_decoder *create(void)
{
	struct weft_decoder *decoder;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	return decoder;
}

static void events_come_when_their_bytes_have(void **state)
{
	(void)state;
	struct weft_decoder *decoder = create();
	struct weft_event event;
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_AGAIN);
	assert_false(weft_decoder_is_pending(decoder));
	assert_int_equal(weft_decoder_feed(decoder, sample, sizeof(sample) - 2), 0);
	assert_true(weft_decoder_is_pending(decoder));
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_OK);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_AGAIN);
	assert_int_equal(weft_decoder_feed(decoder, &sample[sizeof(sample) - 2], 1), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_OK);
	assert_int_equal(event.task, 2);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_END);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_END);
	weft_decoder_destroy(decoder);
}

/* The events of its processors stand one after the other. */
static void a_format_that_is_read_whole_waits(void **state)
{
	(void)state;
	static const char recording[256] = "PERFILE2";
	struct weft_event event;
	struct weft_decoder *decoder = create();
	assert_int_equal(weft_decoder_feed(decoder, recording, sizeof(recording)), 0);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_AGAIN);
	assert_int_equal(weft_decoder_finish(decoder), WEFT_ERROR_FORMAT);
	weft_decoder_destroy(decoder);
}

static void calls_at_the_wrong_time(void **state)
{
	(void)state;
	struct weft_decoder *decoder = create();
	assert_int_equal(weft_decoder_feed(decoder, "x", 1), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, "x", 1), WEFT_ERROR_STATE);
	weft_decoder_destroy(decoder);
	decoder = create();
	assert_int_equal(weft_decoder_feed_borrowed(decoder, sample, sizeof(sample) - 1), 0);
	assert_int_equal(weft_decoder_feed(decoder, "x", 1), WEFT_ERROR_STATE);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(weft_decoder_finish(decoder), WEFT_ERROR_STATE);
	assert_int_equal(weft_decoder_feed(decoder, "x", 1), WEFT_ERROR_STATE);
	weft_decoder_destroy(decoder);
	weft_decoder_destroy(NULL);
}

static void other_bytes_are_refused(void **state)
{
	(void)state;
	struct weft_event event;
	struct weft_decoder *decoder = create();
	assert_int_equal(weft_decoder_finish(decoder), WEFT_ERROR_EMPTY);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_ERROR_EMPTY);
	weft_decoder_destroy(decoder);
	struct decoded d = decode("hello", 5, 0);
	assert_int_equal(d.finished, WEFT_ERROR_FORMAT);
	assert_int_equal(d.ended, WEFT_ERROR_FORMAT);
	assert_string_equal(d.format, "unknown");
	weft_text_finish(&d.lines);
}

static struct weft_model *build(const struct weft_text *trace, struct weft_diagnostics *diagnostics)
{
	struct weft_decoder *decoder = create();
	struct weft_model *model = NULL;
	assert_int_equal(trace->error, 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, trace->bytes, trace->size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(weft_decoder_build_model(decoder, NULL, &model), 0);
	*diagnostics = *weft_decoder_diagnostics(decoder);
	weft_decoder_destroy(decoder);
	return model;
}

static void add_pair(struct weft_text *trace, uint32_t time, const char *op, uint32_t a, uint32_t b)
{
	char line[96];
	snprintf(line, sizeof(line), "((time %u)(op(%s %u %u)))\n", time, op, a, b);
	weft_text_add_string(trace, line);
}

static void broken_rules_are_diagnostics_with_an_offset(void **state)
{
	(void)state;
	struct weft_text trace = {0};
	struct weft_diagnostics diagnostics;
	add_pair(&trace, 1, "Creates", 0, 1);
	add_pair(&trace, 2, "Creates", 0, 2);
	add_pair(&trace, 3, "Becomes", 1, 2);
	size_t second_create = trace.size;
	add_pair(&trace, 4, "Creates", 0, 2);
	add_pair(&trace, 5, "Becomes", 2, 1); /* a cycle */
	add_pair(&trace, 6, "Reads", 0, 1);
	struct weft_model *model = build(&trace, &diagnostics);
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->summary.events, 6);
	assert_true(diagnostics.count >= 2);
	assert_int_equal(diagnostics.list[0].offset, second_create);
	weft_model_destroy(model);
	weft_text_finish(&trace);
}

/* A million; an emulator of another processor would need half a minute. */
static void very_deep(void **state)
{
	(void)state;
#ifdef __x86_64__
	enum {
		DEPTH = 1000000
	};
#else
	enum {
		DEPTH = 200000
	};
#endif
	struct weft_text trace = {0};
	struct weft_diagnostics diagnostics;
	for (uint32_t i = 0; i < DEPTH; i++)
		add_pair(&trace, i, "Creates", i, i + 1);
	for (uint32_t i = DEPTH; i > 0; i--)
		add_pair(&trace, DEPTH, "Becomes", i - 1, i);
	struct weft_model *model = build(&trace, &diagnostics);
	assert_int_equal(model->tasks.count, DEPTH + 1);
	assert_int_equal(model->summary.by_outcome[WEFT_OUTCOME_BECAME], DEPTH);
	assert_int_equal(diagnostics.count, 0);
	weft_model_destroy(model);
	weft_text_finish(&trace);
}

static bool stop_at_once(void *context, double part)
{
	*(double *)context = part;
	return false;
}

static void progress_can_stop_and_keeps_what_is_done(void **state)
{
	(void)state;
	struct weft_text trace = {0};
	double stopped_at = 0;
	struct weft_model *model;
	for (uint32_t i = 0; i < 100000; i++)
		add_pair(&trace, i, "Reads", 1, 2);
	struct weft_decoder *decoder = create();
	assert_int_equal(weft_decoder_feed_borrowed(decoder, trace.bytes, trace.size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	const struct weft_progress progress = {stop_at_once, &stopped_at, NULL};
	assert_int_equal(weft_decoder_build_model(decoder, &progress, &model), 0);
	assert_true(stopped_at > 0.1 && stopped_at < 0.9);
	assert_int_equal(weft_decoder_events(decoder), 65536);
	assert_int_equal(model->summary.events, 65536);
	weft_model_destroy(model);
	weft_decoder_destroy(decoder);
	weft_text_finish(&trace);
}

static void a_model_needs_a_finished_decoder(void **state)
{
	(void)state;
	struct weft_decoder *decoder = create();
	struct weft_model *model = NULL;
	assert_int_equal(weft_decoder_build_model(decoder, NULL, &model), WEFT_ERROR_STATE);
	assert_null(model);
	weft_decoder_destroy(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_when_their_bytes_have),
		cmocka_unit_test(a_format_that_is_read_whole_waits),
		cmocka_unit_test(calls_at_the_wrong_time),
		cmocka_unit_test(other_bytes_are_refused),
		cmocka_unit_test(broken_rules_are_diagnostics_with_an_offset),
		cmocka_unit_test(very_deep),
		cmocka_unit_test(progress_can_stop_and_keeps_what_is_done),
		cmocka_unit_test(a_model_needs_a_finished_decoder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
