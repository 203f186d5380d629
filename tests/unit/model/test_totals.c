/* SPDX-License-Identifier: ISC
 *
 * The values of counters of which the program says now and then what they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/model.h>

/* A story of one counter: a change, a set, or what the program says. */
struct step {
	uint64_t time;
	/* '+', '=', 'T', or '0': a total of a counter that was 0 when the record began. Of a rundown:
	 * 'a', it adds; 's', it sets. */
	char what;
	int64_t value;
};

static struct weft_trace_thread thread = {.name = ""};
static struct weft_trace_buffer buffer = {.process = "p", .host = "", .file = ""};

struct story {
	const struct step *steps;
	unsigned count;
	struct weft_loss_period lost;   /* count 0: nothing is */
	struct weft_trace_change level; /* time_ns 0: none changes */
	uint64_t unplaced;              /* events that were lost at an unknown time */
};

static struct weft_model *make(const struct story *story)
{
	struct weft_model_builder *builder;
	struct weft_model *model;
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "test",
		.clock.name = "test",
		.threads = &thread,
		.thread_count = 1,
		.buffers = &buffer,
		.buffer_count = 1,
		.loss_periods = &story->lost,
		.loss_period_count = story->lost.count > 0,
		.losses[WEFT_LOSS_HELD] = story->unplaced,
		.changes = &story->level,
		.change_count = story->level.time_ns > 0};
	assert_int_equal(weft_model_builder_create(&builder), 0);
	for (unsigned i = 0; i < story->count; i++) {
		const struct step *step = &story->steps[i];
		const struct weft_event event = {
			.type = step->what == 'T' || step->what == '0' ? WEFT_EVENT_TOTAL : WEFT_EVENT_COUNTER,
			.flag = step->what == '0',
			.time_ns = step->time,
			.task = WEFT_TASK_NONE,
			.text = {"n", 1},
			.value = step->value,
			.is_rundown = step->what == 'a' || step->what == 's',
			.is_set = step->what != '+' && step->what != 'a'};
		assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
	}
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	return model;
}

/* Expects these values of the only counter, of which `before` is the one before them. */
static void expect(const struct story *story, unsigned count, const int64_t *values, int64_t before)
{
	struct weft_model *model = make(story);
	assert_int_equal(model->counter_count, 1);
	const struct weft_counter *c = &model->counters[0];
	assert_false(c->is_relative);
	assert_int_equal(c->count, count);
	assert_int_equal(c->start.integer, before);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(model->samples.value[c->first + i], values[i]);
		assert_in_range(values[i], c->min.integer, c->max.integer);
	}
	weft_model_destroy(model);
}

#define STORY(...)                               \
	.steps = (const struct step[]){__VA_ARGS__}, \
	.count = sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step)
#define VALUES(...)                                                       \
	sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]) \
	{                                                                     \
		__VA_ARGS__                                                       \
	}

static void changes_before_the_trace_count(void **state)
{
	(void)state;
	const struct story story = {STORY({10, '+', 1}, {20, '+', 2}, {30, 'T', 103})};
	expect(&story, VALUES(101, 103), 100);
}

static void the_last_of_several_holds(void **state)
{
	(void)state;
	const struct story story = {
		STORY({10, '+', 1}, {11, 'T', 52}, {20, '+', 2}, {30, '+', 3}, {31, 'T', 106})};
	expect(&story, VALUES(52, 103, 106), 51);
}

static void a_counter_that_did_not_change_has_its_value(void **state)
{
	(void)state;
	const struct story said = {STORY({5, 'T', 3})}, zero = {STORY({5, 'T', 0})};
	struct weft_model *model;
	expect(&said, VALUES(3), 0);
	model = make(&said);
	assert_true(model->counters[0].begins_total);
	weft_model_destroy(model);
	model = make(&zero);
	assert_int_equal(model->counter_count, 0);
	weft_model_destroy(model);
}

/* A set gives the value by itself. */
static void a_set_is_not_corrected(void **state)
{
	(void)state;
	const struct story story = {STORY(
		{10, '+', 1}, {15, 'T', 8}, {20, '=', 40}, {30, '+', 2}, {40, 'T', 42}, {50, '+', 1})};
	expect(&story, VALUES(8, 40, 42, 43), 7);
}

static void changes_that_were_lost_count_after_the_gap(void **state)
{
	(void)state;
	const struct story story = {STORY({10, '+', 1}, {20, 'T', 1}, {30, '+', 1}, {70, '+', 1},
									{80, '+', 1}, {90, 'T', 100}, {95, '+', 1}),
		.lost = {.start = 40, .end = 60, .count = 9, .cause = WEFT_LOSS_FULL}};
	expect(&story, VALUES(1, 2, 99, 100, 101), 0);
}

/* Changes before the trace are missing, so the values of its begin are not known. */
static void a_begin_that_is_not_known_is_left_out(void **state)
{
	(void)state;
	const struct story story = {
		STORY({10, '+', 1}, {20, '+', 1}, {70, '+', 1}, {80, '+', 1}, {90, 'T', 50}),
		.lost = {.start = 0, .end = 60, .count = 9, .cause = WEFT_LOSS_OVERWRITTEN}};
	expect(&story, VALUES(49, 50), 48);
}

/* The lost events were none of this counter's. */
static void two_totals_that_agree_prove_what_is_between(void **state)
{
	(void)state;
	const struct story story = {
		STORY({10, '+', 1}, {20, 'T', 11}, {30, '+', 1}, {70, '+', 1}, {90, 'T', 13}),
		.lost = {.start = 25, .end = 80, .count = 9, .cause = WEFT_LOSS_FULL}};
	expect(&story, VALUES(11, 12, 13), 10);
}

static void a_counter_that_began_at_0_needs_no_other_total(void **state)
{
	(void)state;
	const struct weft_loss_period lost = {
		.start = 15, .end = 60, .count = 9, .cause = WEFT_LOSS_FULL};
	const struct story same = {
		STORY({10, '+', 1}, {20, '+', 2}, {70, '+', 3}, {80, '0', 6}), .lost = lost};
	const struct story lacks = {
		STORY({10, '+', 1}, {70, '+', 3}, {75, '+', 1}, {80, '0', 12}), .lost = lost};
	const struct story between = {
		STORY({10, '+', 1}, {20, '+', 2}, {70, '+', 3}, {80, '0', 12}), .lost = lost};
	expect(&same, VALUES(1, 3, 6), 0);
	expect(&lacks, VALUES(1, 11, 12), 0);
	struct weft_model *model = make(&between);
	assert_true(model->counters[0].is_relative && model->counters[0].is_end_known);
	weft_model_destroy(model);
}

/* A thread's packet begins with totals, at the time until which its events were lost. */
static void a_loss_ends_before_the_total_of_its_end(void **state)
{
	(void)state;
	const struct weft_loss_period lost = {
		.start = 15, .end = 60, .count = 9, .cause = WEFT_LOSS_FULL};
	const struct story after = {
		STORY({10, '+', 1}, {12, 'T', 1}, {60, 'T', 5}, {60, '+', 1}, {70, '+', 1}), .lost = lost};
	const struct story before = {
		STORY({10, '+', 1}, {12, 'T', 1}, {60, '+', 1}, {60, 'T', 5}), .lost = lost};
	const struct story begins = {
		STORY({10, '+', 1}, {14, '+', 1}, {15, 'T', 2}, {70, '+', 1}, {80, 'T', 9}), .lost = lost};
	expect(&after, VALUES(1, 6, 7), 0);
	expect(&begins, VALUES(1, 2, 9), 0);
	struct weft_model *model = make(&before);
	assert_true(model->counters[0].is_relative);
	weft_model_destroy(model);
}

/* Nothing says when they were lost: perhaps after the last event. */
static void a_loss_of_an_unknown_time_may_be_the_last(void **state)
{
	(void)state;
	const struct story story = {STORY({10, '+', 1}, {20, '+', 2}, {20, '0', 9}), .unplaced = 4};
	struct weft_model *model = make(&story);
	assert_true(model->counters[0].is_relative);
	weft_model_destroy(model);
}

static void what_nobody_said_stays_relative(void **state)
{
	(void)state;
	const struct story story = {STORY({10, '+', 1}, {20, 'T', 11}, {70, '+', 1}, {80, '+', 1}),
		.lost = {.start = 25, .end = 60, .count = 9, .cause = WEFT_LOSS_FULL}};
	struct weft_model *model = make(&story);
	assert_true(model->counters[0].is_relative);
	assert_false(model->counters[0].is_end_known);
	assert_int_equal(model->samples.value[2], 3);
	weft_model_destroy(model);
}

/* All that the trace has was overwritten behind it, as of a thread that has nothing more to do. */
static void a_total_after_all_samples_is_the_end(void **state)
{
	(void)state;
	const struct story story = {STORY({10, '+', 1}, {20, '+', 1}, {70, 'T', 39}, {90, 'T', 40}),
		.lost = {.start = 30, .end = 60, .count = 9, .cause = WEFT_LOSS_OVERWRITTEN}};
	struct weft_model *model = make(&story);
	const struct weft_counter *c = &model->counters[0];
	assert_true(c->is_relative && c->is_end_known);
	assert_int_equal(c->end.integer, 40);
	assert_int_equal(model->samples.value[c->first + 1], 2);
	weft_model_destroy(model);
}

static void a_level_that_changes_hides_changes(void **state)
{
	(void)state;
	const struct story story = {STORY({10, '+', 1}, {20, 'T', 1}, {70, '+', 1}, {90, 'T', 7}),
		.level = {.time_ns = 40, .category = WEFT_TRACE_CATEGORY_ALL}};
	expect(&story, VALUES(1, 7), 0);
}

/* Before it, changes may be missing. */
static void a_level_that_changes_with_a_total_hides_nothing_after_it(void **state)
{
	(void)state;
	const struct story story = {STORY({10, '+', 1}, {20, 'T', 5}, {70, '+', 1}),
		.level = {.time_ns = 20, .category = WEFT_TRACE_CATEGORY_ALL}};
	expect(&story, VALUES(6), 5);
}

/* The observed value stays at the limit; the program's number goes on. */
static void a_value_at_its_limit_is_not_corrected(void **state)
{
	(void)state;
	const struct story story = {STORY(
		{10, 'T', 1}, {20, '=', INT64_MAX}, {30, '+', 1}, {40, 'T', INT64_MIN}, {50, '+', -1})};
	expect(&story, VALUES(1, INT64_MAX, INT64_MAX, INT64_MAX - 1), 0);
}

/* A part of a trace with losses: up to a total it is unknown what was missing before the part. */
static void a_part_that_lacks_changes_is_relative(void **state)
{
	(void)state;
	const struct weft_loss_period lost = {
		.start = 25, .end = 60, .count = 9, .cause = WEFT_LOSS_FULL};
	const struct story relative[] = {
		{STORY({10, 'a', 5}, {20, '+', 1})},
		{STORY({10, 's', 5}, {10, 'a', 0}, {20, '+', 1})},
		{STORY({10, 'a', 5}, {20, '+', 1}, {70, '0', 9}), .lost = lost},
		{STORY({10, 's', 5}, {10, 'a', 0}, {20, '+', 1}, {70, '0', 9}), .lost = lost},
	};
	const struct story set = {STORY({10, 's', 5}, {10, 'a', 0}, {20, '=', 3})};
	const struct story adds = {STORY({10, 'a', 5}, {20, '+', 1}, {70, 'T', 9})};
	const struct story last = {STORY({10, 's', 5}, {10, 'a', 0}, {20, '+', 1}, {70, 'T', 9})};
	for (unsigned i = 0; i < 4; i++) {
		struct weft_model *model = make(&relative[i]);
		assert_true(model->counters[0].is_relative && model->counters[0].begins_total);
		assert_int_equal(model->counters[0].count, 2);
		assert_int_equal(model->samples.value[1], 6);
		weft_model_destroy(model);
	}
	expect(&set, VALUES(5, 3), 0);
	expect(&adds, VALUES(8, 9), 3);
	expect(&last, VALUES(5, 9), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_before_the_trace_count),
		cmocka_unit_test(the_last_of_several_holds),
		cmocka_unit_test(a_counter_that_did_not_change_has_its_value),
		cmocka_unit_test(a_set_is_not_corrected),
		cmocka_unit_test(changes_that_were_lost_count_after_the_gap),
		cmocka_unit_test(a_begin_that_is_not_known_is_left_out),
		cmocka_unit_test(two_totals_that_agree_prove_what_is_between),
		cmocka_unit_test(a_counter_that_began_at_0_needs_no_other_total),
		cmocka_unit_test(a_loss_ends_before_the_total_of_its_end),
		cmocka_unit_test(a_loss_of_an_unknown_time_may_be_the_last),
		cmocka_unit_test(what_nobody_said_stays_relative),
		cmocka_unit_test(a_total_after_all_samples_is_the_end),
		cmocka_unit_test(a_level_that_changes_hides_changes),
		cmocka_unit_test(a_level_that_changes_with_a_total_hides_nothing_after_it),
		cmocka_unit_test(a_value_at_its_limit_is_not_corrected),
		cmocka_unit_test(a_part_that_lacks_changes_is_relative),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
