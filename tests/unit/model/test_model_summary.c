/* SPDX-License-Identifier: ISC
 *
 * A summary has the numbers of the whole model, wherever events are lost.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/load.h"
#include "random_program.h"
#include "same_summary.h"

enum {
	LOSSES_MAX = 4,
	STEPS_MAX = 300,
};

/* Other calls of a program, most of them about one task. */
static void act(struct program *p)
{
	static const uint8_t types[] = {WEFT_EVENT_TRY_READ, WEFT_EVENT_SIGNAL, WEFT_EVENT_COUNTER,
		WEFT_EVENT_NOTE, WEFT_EVENT_TAG, WEFT_EVENT_EXPECT, WEFT_EVENT_BEGIN, WEFT_EVENT_END,
		WEFT_EVENT_SEND, WEFT_EVENT_RECEIVE, WEFT_EVENT_BAND, WEFT_EVENT_GC, WEFT_EVENT_ALIVE,
		WEFT_EVENT_OFF_CPU, WEFT_EVENT_ACQUIRE, WEFT_EVENT_RELEASE, WEFT_EVENT_TOTAL,
		WEFT_EVENT_STACK, WEFT_EVENT_WAIT_ANY};
	const uint32_t thread = pick(3), buffer = threads[thread].buffer;
	emit(p, thread,
		(struct weft_event){.type = types[pick(sizeof(types))],
			.task = some_task(p, buffer),
			.other = some_task(p, buffer),
			.value = pick(5), /* or the key of a message */
			.is_set = pick(2),
			.has_value = pick(2),
			.flag = pick(2),
			.band = (uint8_t)pick(2),
			.text = {&"xyz"[pick(3)], 1}});
}

/* The same events from the same seed. */
static struct weft_model *make(
	uint64_t from, bool is_summary, const struct weft_trace_description *about)
{
	struct program p;
	struct weft_model *model;
	program_start(&p, from);
	if (is_summary)
		weft__model_make_summary(p.builder);
	for (uint32_t steps = pick(STEPS_MAX); steps-- > 0;)
		if (pick(3))
			act(&p);
		else
			program_step(&p);
	assert_int_equal(weft_model_builder_finish(p.builder, about, &model), 0);
	weft_model_builder_destroy(p.builder);
	return model;
}

/* Losses of random threads and times; an end of each program, or none. */
static void describe(uint64_t from, struct weft_loss_period *losses,
	struct weft_trace_buffer *programs, struct weft_trace_description *ret_about)
{
	*ret_about = description;
	seed = from;
	for (uint32_t i = 0; i < 2; i++) {
		programs[i] = buffers[i];
		programs[i].end_ns = pick(2) ? 1000 + pick(4000) : 0;
		programs[i].ending = programs[i].end_ns ? WEFT_ENDING_EXIT : WEFT_ENDING_UNKNOWN;
	}
	ret_about->buffers = programs;
	ret_about->loss_periods = losses;
	ret_about->loss_period_count = pick(LOSSES_MAX);
	for (uint32_t i = 0; i < ret_about->loss_period_count; i++) {
		uint64_t start = 900 + pick(3000);
		losses[i] = (struct weft_loss_period){.start = start,
			.end = start + pick(100),
			.count = 1 + pick(3),
			.thread = pick(3),
			.cause = pick(WEFT_LOSS_CAUSES)};
		ret_about->losses[losses[i].cause] += losses[i].count;
	}
}

static void numbers_are_those_of_the_whole_model(void **state)
{
	(void)state;
	uint32_t unknown = 0, joined = 0, counters = 0;
	for (uint64_t from = 1; from <= 1500; from++) {
		struct weft_loss_period losses[LOSSES_MAX];
		struct weft_trace_buffer programs[2];
		struct weft_trace_description about;
		describe(1000000 + from, losses, programs, &about);
		struct weft_model *whole = make(from, false, &about);
		struct weft_model *summary = make(from, true, &about);
		assert_true(has_same_summary(whole, summary));
		assert_int_equal(summary->edges.count, 0);
		assert_int_equal(summary->activations.count, 0);
		assert_int_equal(summary->notes.count, 0);
		assert_int_equal(summary->attributes.count, 0);
		assert_int_equal(summary->spans.count, 0);
		assert_int_equal(summary->band_count, 0);
		assert_null(summary->tasks.first_edge);
		unknown += summary->summary.by_outcome[WEFT_OUTCOME_UNKNOWN];
		joined += (uint32_t)summary->summary.joined;
		counters += summary->counter_count;
		weft_model_destroy(whole);
		weft_model_destroy(summary);
	}
	assert_true(unknown > 1000 && joined > 1000 && counters > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_the_whole_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
