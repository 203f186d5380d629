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

/* A context as record/context.c records it; NULL: it is the first of its trace. */
static void give(struct weft_model_builder *b, const char *name, const char *trace,
	const char *span, const char *parent)
{
	const struct weft_field fields[] = {
		{{"trace_id", 8}, .type = WEFT_FIELD_TEXT, .value.text = {trace, strlen(trace)}},
		{{"span_id", 7}, .type = WEFT_FIELD_TEXT, .value.text = {span, strlen(span)}},
		{{"trace_flags", 11}, .type = WEFT_FIELD_U64, .value.u64 = 1},
		{{"parent_span_id", 14}, .type = WEFT_FIELD_TEXT,
			.value.text = {parent, parent ? strlen(parent) : 0}},
	};
	const struct weft_event event = {.type = WEFT_EVENT_MARK,
		.time_ns = 1,
		.task = 1,
		.text = {name, strlen(name)},
		.fields = fields,
		.field_count = parent ? 4 : 3};
	assert_int_equal(weft_model_builder_add(b, &event, &diagnostics), 0);
}

#define TRACE_A "0af7651916cd43dd8448eb211c80319c"
#define TRACE_B "0af7651916cd43dd8448eb211c80319d"
#define SPAN_1  "00f067aa0ba902b7"
#define SPAN_2  "00f067aa0ba902b8"

static struct weft_context_sums count_contexts(
	bool is_summary, void (*give_all)(struct weft_model_builder *))
{
	struct weft_model_builder *builder;
	struct weft_model *model;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	if (is_summary)
		weft__model_make_summary(builder);
	give_all(builder);
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	const struct weft_context_sums sums = model->summary.contexts;
	weft_model_destroy(model);
	weft_model_builder_destroy(builder);
	return sums;
}

static void give_several(struct weft_model_builder *b)
{
	give(b, "span context", TRACE_A, SPAN_2, SPAN_1);
	give(b, "trace context", TRACE_B, SPAN_1, SPAN_2);
	give(b, "trace context", TRACE_A, SPAN_1, NULL);
	give(b, "trace context", TRACE_A, SPAN_1, NULL); /* again */
	give(b, "trace context", TRACE_B, SPAN_2, SPAN_1);
	give(b, "trace context", TRACE_B, SPAN_2, SPAN_1); /* again */
	give(b, "another mark", TRACE_A, "00f067aa0ba902b9", NULL);
}

static void give_none(struct weft_model_builder *b)
{
	(void)b;
}

static void spans_with_ids_are_counted_once(void **state)
{
	(void)state;
	struct weft_context_sums sums = count_contexts(true, give_several);
	assert_int_equal(sums.spans, 4);
	assert_int_equal(sums.traces, 2);
	assert_int_equal(sums.begun, 1);
	sums = count_contexts(true, give_none);
	assert_int_equal(sums.spans + sums.traces + sums.begun, 0);
	assert_int_equal(count_contexts(false, give_several).spans, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_the_whole_model),
		cmocka_unit_test(spans_with_ids_are_counted_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
