/* SPDX-License-Identifier: ISC
 *
 * A trace that grows: each event is taken once, and models are made only as often as is worth their
 * cost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include <weft/error.h>
#include <weft/refresh.h>

#include "failing_allocation.h"

/* So many events are there; each creates a task, but those after `tasks` are totals of a counter.
 */
struct source {
	uint64_t there, given, tasks;
	uint64_t now_ns;
	bool is_unwanted;
	int end; /* what comes behind them */
	struct weft_trace_thread thread;
	struct weft_trace_description description;
	struct weft_diagnostics diagnostics;
};

static int next(void *context, struct weft_event *ret_event)
{
	struct source *s = context;
	if (s->given == s->there)
		return s->end;
	s->given++;
	*ret_event = (struct weft_event){
		.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = s->given, .time_ns = s->given};
	if (s->given > s->tasks)
		*ret_event = (struct weft_event){
			.type = WEFT_EVENT_TOTAL, .text = {"counter", 7}, .value = 1, .time_ns = s->given};
	return WEFT_OK;
}

static const struct weft_trace_description *describe(void *context)
{
	return &((struct source *)context)->description;
}

static struct weft_diagnostics *diagnostics(void *context)
{
	return &((struct source *)context)->diagnostics;
}

static uint64_t now_ns(void *context)
{
	return ((struct source *)context)->now_ns;
}

static bool is_wanted(const void *context)
{
	return !((const struct source *)context)->is_unwanted;
}

static struct weft_refresh *begin(struct source *s, bool has_now)
{
	struct weft_refresh *refresh;
	*s = (struct source){.end = WEFT_AGAIN, .tasks = UINT64_MAX, .thread = {.name = ""}};
	s->description = (struct weft_trace_description){
		.format = "test", .clock = {.name = "test"}, .threads = &s->thread, .thread_count = 1};
	const struct weft_refresh_source source = {
		next, describe, diagnostics, has_now ? now_ns : NULL, is_wanted, s};
	assert_int_equal(weft_refresh_create(&source, &refresh), 0);
	return refresh;
}

static void expect_model(struct weft_refresh *refresh, uint64_t events, bool live)
{
	struct weft_model *model;
	assert_int_equal(weft_refresh_model(refresh, &model), 0);
	assert_int_equal(model->summary.events, events);
	assert_int_equal(model->tasks.count, events);
	assert_int_equal(model->summary.live, live);
	weft_model_destroy(model);
}

static void each_event_is_taken_once(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, false);
	assert_int_equal(weft_refresh_read(refresh, 10), WEFT_AGAIN);
	for (uint64_t round = 1; round < 20; round++) {
		s.there = round * 15;
		assert_int_equal(weft_refresh_read(refresh, 10), WEFT_OK);
		assert_int_equal(weft_refresh_read(refresh, 10), WEFT_AGAIN);
		assert_int_equal(weft_refresh_events(refresh), s.there);
		assert_int_equal(s.given, s.there);
		expect_model(refresh, s.there, true);
	}
	s.end = WEFT_END;
	assert_int_equal(weft_refresh_read(refresh, 10), WEFT_END);
	expect_model(refresh, s.there, false);
	weft_refresh_destroy(refresh);
}

static void no_model_is_due_that_the_source_does_not_want(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, true);
	s.is_unwanted = true;
	s.there = 20;
	assert_int_equal(weft_refresh_read(refresh, 10), WEFT_OK);
	assert_int_equal(weft_refresh_read(refresh, 20), WEFT_AGAIN); /* events are read all the same */
	assert_true(isinf(weft_refresh_wait_ms(refresh, 5000)));
	s.is_unwanted = false;
	assert_true(weft_refresh_wait_ms(refresh, 5000) == 0);
	expect_model(refresh, 20, true);
	weft_refresh_destroy(refresh);
}

/* As the model counts them. */
static void totals_are_no_events(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, false);
	s.tasks = 3;
	s.there = 5;
	assert_int_equal(weft_refresh_read(refresh, 10), WEFT_AGAIN);
	assert_int_equal(weft_refresh_events(refresh), 3);
	expect_model(refresh, 3, true);
	weft_refresh_destroy(refresh);
}

static void models_are_rarer_the_more_they_cost(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, false);
	assert_true(isinf(weft_refresh_wait_ms(refresh, 0)));
	s.there = 1;
	weft_refresh_read(refresh, 10);
	assert_true(weft_refresh_wait_ms(refresh, 0) == 0); /* the first picture at once */
	expect_model(refresh, 1, true);
	weft_refresh_shown(refresh, 1000, 1);
	assert_true(isinf(weft_refresh_wait_ms(refresh, 5000))); /* nothing is new */
	s.there = 2;
	weft_refresh_read(refresh, 10);
	assert_true(weft_refresh_wait_ms(refresh, 1000) == 79);
	assert_true(weft_refresh_wait_ms(refresh, 1070) == 9);
	assert_true(weft_refresh_wait_ms(refresh, 1200) == 0);
	static const double costs_and_pauses[][2] = {{30, 50}, {40, 40}, {50, 50}, {60, 40}, {64, 36},
		{70, 40}, {80, 60}, {100, 100}, {200, 400}, {400, 1600}, {500, 2000}};
	for (size_t i = 0; i < sizeof(costs_and_pauses) / sizeof(costs_and_pauses[0]); i++) {
		weft_refresh_shown(refresh, 1000, costs_and_pauses[i][0]);
		weft_refresh_shown(refresh, 2000, costs_and_pauses[i][0]);
		assert_true(weft_refresh_wait_ms(refresh, 2000) == costs_and_pauses[i][1]);
	}
	weft_refresh_destroy(refresh);
}

static void a_slow_model_among_cheap_ones_makes_no_long_pause(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, false);
	s.there = 1;
	weft_refresh_read(refresh, 10);
	weft_refresh_shown(refresh, 1000, 500);
	assert_true(weft_refresh_wait_ms(refresh, 1000) == 500); /* the first is made from nothing */
	weft_refresh_shown(refresh, 3000, 20);
	assert_true(weft_refresh_wait_ms(refresh, 3000) == 60);
	weft_refresh_shown(refresh, 4000, 300);
	assert_true(weft_refresh_wait_ms(refresh, 4000) == 20);
	weft_refresh_shown(refresh, 5000, 200);
	assert_true(weft_refresh_wait_ms(refresh, 5000) == 400);
	weft_refresh_destroy(refresh);
}

/* Until then, reading gets four fifths of the time. */
static void models_are_rarer_while_events_wait(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, false);
	s.there = 30;
	assert_int_equal(weft_refresh_read(refresh, 10), WEFT_OK);
	weft_refresh_shown(refresh, 1000, 1);
	assert_true(weft_refresh_wait_ms(refresh, 1000) == 100);
	weft_refresh_shown(refresh, 1000, 50);
	weft_refresh_shown(refresh, 1000, 50);
	assert_true(weft_refresh_wait_ms(refresh, 1000) == 200);
	assert_int_equal(weft_refresh_read(refresh, 30), WEFT_AGAIN);
	assert_true(weft_refresh_wait_ms(refresh, 1000) == 50);
	weft_refresh_destroy(refresh);
}

static void time_goes_on_without_events(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, true);
	struct weft_model *model;
	s.there = 1;
	s.now_ns = 500;
	weft_refresh_read(refresh, 10);
	assert_int_equal(weft_refresh_model(refresh, &model), 0);
	assert_int_equal(model->summary.end, 500);
	weft_model_destroy(model);
	weft_refresh_shown(refresh, 1000, 1);
	assert_true(isinf(weft_refresh_wait_ms(refresh, 1000))); /* it has not moved */
	s.now_ns = 501;
	assert_true(weft_refresh_wait_ms(refresh, 1000) == 479);
	weft_refresh_destroy(refresh);
}

static void no_more_is_read_than_asked_for(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, false);
	s.there = 100;
	assert_int_equal(weft_refresh_read(refresh, 10), WEFT_OK);
	assert_int_equal(s.given, 10);
	assert_int_equal(weft_refresh_events(refresh), 10);
	weft_refresh_destroy(refresh);
}

/* The clock alone is nothing to show. */
static void without_events_there_is_no_model_to_wait_for(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, true);
	s.now_ns = 500;
	assert_int_equal(weft_refresh_read(refresh, 10), WEFT_AGAIN);
	assert_true(isinf(weft_refresh_wait_ms(refresh, 1000)));
	weft_refresh_destroy(refresh);
}

static void errors_are_passed_on(void **state)
{
	(void)state;
	struct source s;
	struct weft_refresh *refresh = begin(&s, false);
	s.end = WEFT_ERROR_DAMAGED;
	assert_int_equal(weft_refresh_read(refresh, 10), WEFT_ERROR_DAMAGED);
	weft_refresh_destroy(refresh);
	weft_refresh_destroy(NULL);
}

static void short_memory_is_reported(void **state)
{
	struct source s = {.end = WEFT_AGAIN};
	const struct weft_refresh_source source = {next, describe, diagnostics, NULL, NULL, &s};
	bool has_failed = true;
	long failures = 0;
	(void)state;
	for (; has_failed && failures < 1000; failures++) {
		struct weft_refresh *refresh = NULL;
		until_failure = failures;
		int error = weft_refresh_create(&source, &refresh);
		has_failed = until_failure < 0;
		until_failure = -1;
		assert_int_equal(error, has_failed ? WEFT_ERROR_MEMORY : 0);
		assert_int_equal(!refresh, has_failed);
		weft_refresh_destroy(refresh);
	}
	assert_in_range(failures, 3, 999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_memory_is_reported),
		cmocka_unit_test(each_event_is_taken_once),
		cmocka_unit_test(no_model_is_due_that_the_source_does_not_want),
		cmocka_unit_test(totals_are_no_events),
		cmocka_unit_test(models_are_rarer_the_more_they_cost),
		cmocka_unit_test(a_slow_model_among_cheap_ones_makes_no_long_pause),
		cmocka_unit_test(models_are_rarer_while_events_wait),
		cmocka_unit_test(time_goes_on_without_events),
		cmocka_unit_test(no_more_is_read_than_asked_for),
		cmocka_unit_test(without_events_there_is_no_model_to_wait_for),
		cmocka_unit_test(errors_are_passed_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
