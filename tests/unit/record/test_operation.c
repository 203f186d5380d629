/* SPDX-License-Identifier: ISC
 *
 * The calls for asynchronous operations record the events of five single calls.
 */
#include "record_trace.h"

#define BUFFER_BYTES ((size_t)64 << 10)

static int start(void **state)
{
	*state = trace_buffer(BUFFER_BYTES);
	return weft_start(*state, BUFFER_BYTES, NULL);
}

static int finish(void **state)
{
	weft_stop();
	free(*state);
	return 0;
}

static void read_back(struct trace *t, void **state)
{
	weft_stop();
	trace_open(t, *state, BUFFER_BYTES);
}

/* The begin of an operation of this name by `task`, whose events have one time. */
static void expect_begin(struct trace *t, uint64_t task, uint64_t operation, const char *label)
{
	assert_int_equal(trace_expect(t, WEFT_EVENT_CREATE, task, operation)->kind, WEFT_KIND_PROMISE);
	uint64_t time = t->event.time_ns;
	trace_text(trace_expect(t, WEFT_EVENT_LABEL, operation, 0)->text, label);
	assert_int_equal(t->event.time_ns, time);
	assert_int_equal(trace_expect(t, WEFT_EVENT_TRY_READ, task, operation)->time_ns, time);
}

static void expect_end(
	struct trace *t, enum weft_event_type type, uint64_t operation, uint64_t reader)
{
	uint64_t time = trace_expect(t, type, WEFT_TASK_NONE, operation)->time_ns;
	assert_int_equal(trace_expect(t, WEFT_EVENT_READ, reader, operation)->time_ns, time);
}

/* The first time its name is not cached, the second time it is. */
static void an_operation_has_five_events(void **state)
{
	struct trace t;
	uint64_t operations[2];
	for (int i = 0; i < 2; i++) {
		weft_switch(7);
		operations[i] = weft_operation_begin("read header");
		weft_switch(WEFT_TASK_NONE);
		weft_operation_end(operations[i], 7);
		assert_int_equal(weft_current(), 7);
	}
	read_back(&t, state);
	for (int i = 0; i < 2; i++) {
		trace_expect(&t, WEFT_EVENT_SWITCH, 7, 0);
		expect_begin(&t, 7, operations[i], "read header");
		trace_expect(&t, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
		expect_end(&t, WEFT_EVENT_RESOLVE, operations[i], 7);
	}
	assert_false(trace_next(&t));
	trace_close(&t);
}

static void operations_end_in_three_ways(void **state)
{
	struct trace t;
	const char *name = "a name";
	uint64_t first = weft_operation_begin(name), second = weft_operation_begin_as(9, "second");
	uint64_t third = weft_operation_begin("third");
	weft_operation_cancel(first, 8);
	weft_switch(WEFT_TASK_NONE);
	weft_operation_fail(second, 9, "no luck");
	weft_switch(WEFT_TASK_NONE);
	weft_operation_end(third, WEFT_TASK_CURRENT);
	weft_operation_cancel(weft_operation_begin("none"), WEFT_TASK_NONE);
	read_back(&t, state);
	expect_begin(&t, WEFT_TASK_NONE, first, "a name");
	expect_begin(&t, 9, second, "second");
	expect_begin(&t, WEFT_TASK_NONE, third, "third");
	expect_end(&t, WEFT_EVENT_CANCEL, first, 8);
	trace_expect(&t, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
	trace_text(trace_expect(&t, WEFT_EVENT_FAIL, WEFT_TASK_NONE, second)->text, "no luck");
	trace_expect(&t, WEFT_EVENT_READ, 9, second);
	trace_expect(&t, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
	expect_end(&t, WEFT_EVENT_RESOLVE, third, WEFT_TASK_NONE);
	expect_begin(&t, WEFT_TASK_NONE, third + 1, "none");
	trace_expect(&t, WEFT_EVENT_CANCEL, WEFT_TASK_NONE, third + 1);
	assert_false(trace_next(&t));
	trace_close(&t);
}

/* In a moment they have its stamp and do not end it. */
static void operations_are_part_of_a_moment(void **state)
{
	struct trace t;
	uint64_t time = 0;
	weft_moment_begin();
	weft_note("first");
	weft_operation_end(weft_operation_begin("inside"), 7);
	weft_note("last");
	weft_moment_end();
	read_back(&t, state);
	for (int i = 0; i < 7; i++) {
		assert_true(trace_next(&t));
		time = i ? time : t.event.time_ns;
		assert_int_equal(t.event.time_ns, time);
	}
	assert_false(trace_next(&t));
	trace_close(&t);
}

/* Packets count their events by their words: read and overwritten events add up. */
static void no_event_is_counted_twice(void **state)
{
	enum {
		OPERATIONS = 5000
	};
	struct trace t;
	uint64_t read = 0;
	for (uint64_t i = 0; i < OPERATIONS; i++)
		weft_operation_end(weft_operation_begin("often"), i % 3 ? 7 : WEFT_TASK_CURRENT);
	read_back(&t, state);
	while (trace_next(&t)) /* the first packet left says which task runs: that is no event */
		read += t.event.type != WEFT_EVENT_SWITCH;
	assert_in_range(read, 1000, 5 * OPERATIONS - 1);
	assert_int_equal(read + trace_loss(&t, WEFT_LOSS_OVERWRITTEN), 5 * OPERATIONS);
	trace_close(&t);
}

static void what_a_level_filters_still_runs(void **state)
{
	struct trace t;
	weft_set_level("*", WEFT_LEVEL_OFF);
	uint64_t operation = weft_operation_begin("unseen");
	assert_int_not_equal(operation, 0);
	weft_operation_end(operation, 7);
	assert_int_equal(weft_current(), 7);
	weft_operation_cancel(operation, WEFT_TASK_NONE);
	assert_int_equal(weft_current(), 7);
	weft_set_level("*", WEFT_LEVEL_INFO);
	read_back(&t, state);
	trace_expect(&t, WEFT_EVENT_SWITCH, 7, 0);
	assert_false(trace_next(&t));
	trace_close(&t);
}

/* Each read of the clock takes 10 ticks. */
static uint64_t read_ticks(void *context)
{
	static uint64_t ticks = 1000;
	(void)context;
	return ticks += 10;
}

/* The events of a call have one time, and those of the next call another. */
static void each_call_has_a_time(void **state)
{
	static const struct weft_platform platform = {.ticks = read_ticks, .ticks_hz = 1000000000};
	struct trace t;
	uint64_t last = 0, begun;
	unsigned notes = 0;
	(void)state;
	weft_stop();
	assert_int_equal(weft_start(*state, BUFFER_BYTES, &platform), 0);
	for (int i = 0; i < 3; i++) {
		weft_note("before");
		begun = weft_operation_begin_as(i == 1 ? 9 : WEFT_TASK_CURRENT, "timed");
		weft_note("between");
		if (i == 0)
			weft_operation_end(begun, 9);
		else if (i == 1)
			weft_operation_cancel(begun, 9);
		else
			weft_operation_fail(begun, 9, "no luck");
		weft_note("after");
	}
	read_back(&t, state);
	bool was_note = true;
	while (trace_next(&t)) {
		bool is_note = t.event.type == WEFT_EVENT_NOTE;
		if (is_note || was_note)
			assert_true(t.event.time_ns > last);
		else
			assert_int_equal(t.event.time_ns, last);
		last = t.event.time_ns;
		notes += is_note;
		was_note = is_note;
	}
	assert_int_equal(notes, 9);
	weft_decoder_destroy(t.decoder);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_operation_has_five_events),
		CASE(operations_end_in_three_ways),
		CASE(operations_are_part_of_a_moment),
		CASE(each_call_has_a_time),
		CASE(no_event_is_counted_twice),
		CASE(what_a_level_filters_still_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
