/* SPDX-License-Identifier: ISC
 *
 * A task that is entered inside another: leaving returns to the other one.
 */
#include "record_trace.h"

#include <signal.h>

#include <weft/weft_ffi.h>

#define LEVELS 30

/* Ends recording and expects these switches, and no other event. */
static void expect_switches(void **state, const uint64_t *tasks, size_t count)
{
	struct trace t;
	weft_stop();
	trace_open(&t, *state, TRACE_BYTES);
	for (size_t i = 0; i < count; i++)
		trace_expect(&t, WEFT_EVENT_SWITCH, tasks[i], 0);
	trace_close(&t);
}

#define EXPECT_SWITCHES(state, ...)                                      \
	do {                                                                 \
		const uint64_t tasks[] = {__VA_ARGS__};                          \
		expect_switches(state, tasks, sizeof(tasks) / sizeof(tasks[0])); \
	} while (0)

static void a_leave_returns_to_the_task_before(void **state)
{
	weft_enter(1);
	weft_enter(2);
	assert_int_equal(weft_current(), 2);
	weft_leave();
	assert_int_equal(weft_current(), 1);
	weft_ffi_enter(3);
	weft_enter(WEFT_TASK_NONE);
	weft_leave();
	weft_ffi_leave();
	assert_int_equal(weft_current(), 1);
	weft_leave();
	assert_int_equal(weft_current(), WEFT_TASK_NONE);
	EXPECT_SWITCHES(state, 1, 2, 1, 3, WEFT_TASK_NONE, 3, 1, WEFT_TASK_NONE);
}

static void a_switch_inside_changes_only_what_runs(void **state)
{
	weft_switch(1);
	weft_enter(2);
	weft_switch(3);
	weft_leave();
	assert_int_equal(weft_current(), 1);
	weft_enter(4);
	weft_switch(WEFT_TASK_NONE);
	weft_leave();
	EXPECT_SWITCHES(state, 1, 2, 3, 1, 4, WEFT_TASK_NONE, 1);
}

static void a_leave_too_many_makes_the_thread_idle(void **state)
{
	weft_switch(1);
	weft_leave();
	assert_int_equal(weft_current(), WEFT_TASK_NONE);
	weft_leave();
	weft_enter(2);
	weft_leave();
	EXPECT_SWITCHES(state, 1, WEFT_TASK_NONE, WEFT_TASK_NONE, 2, WEFT_TASK_NONE);
}

static void leave_early(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		WEFT_TASK_SCOPE(10);
		WEFT_TASK_SCOPE(11);
		if (i == 1)
			return;
	}
}

static void a_scope_is_left_with_its_block(void **state)
{
	weft_switch(1);
	leave_early(3);
	assert_int_equal(weft_current(), 1);
	EXPECT_SWITCHES(state, 1, 10, 11, 10, 1, 10, 11, 10, 1);
}

/* The inner leaves do not know their task, and are counted; the outer ones do. */
static void deep_nesting_is_counted(void **state)
{
	struct trace t;
	uint64_t deep = LEVELS + 5;
	for (uint64_t i = 1; i <= deep; i++)
		weft_enter(i);
	for (uint64_t i = deep; i >= 1; i--) {
		assert_int_equal(weft_current(), i == deep || i < LEVELS ? i : LEVELS - 1);
		weft_leave();
	}
	assert_int_equal(weft_current(), WEFT_TASK_NONE);
	weft_stop();
	trace_open(&t, *state, TRACE_BYTES);
	while (trace_next(&t))
		;
	assert_int_equal(trace_loss(&t, WEFT_LOSS_TOO_DEEP), 5);
	weft_decoder_destroy(t.decoder);
}

static void in_a_handler(int signal)
{
	(void)signal;
	weft_enter(77);
	weft_leave();
}

static void a_handler_may_enter(void **state)
{
	struct sigaction action = {.sa_handler = in_a_handler};
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	weft_enter(1);
	raise(SIGUSR1);
	assert_int_equal(weft_current(), 1);
	weft_leave();
	EXPECT_SWITCHES(state, 1, 77, 1, WEFT_TASK_NONE);
}

static void a_stack_belongs_to_one_buffer(void **state)
{
	void *first = trace_buffer(TRACE_BYTES);
	weft_enter(1);
	weft_enter(2);
	weft_stop();
	weft_enter(3);
	memcpy(first, *state, TRACE_BYTES);
	assert_int_equal(weft_start(first, TRACE_BYTES, NULL), 0);
	weft_leave();
	assert_int_equal(weft_current(), WEFT_TASK_NONE);
	weft_stop();
	memcpy(*state, first, TRACE_BYTES);
	free(first);
	EXPECT_SWITCHES(state, WEFT_TASK_NONE);
}

static void in_a_moment(void **state)
{
	weft_moment_begin();
	weft_enter(1);
	weft_enter(2);
	weft_leave();
	weft_moment_end();
	assert_int_equal(weft_current(), 1);
	EXPECT_SWITCHES(state, 1, 2, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_leave_returns_to_the_task_before, trace_start, trace_stop),
		cmocka_unit_test_setup_teardown(
			a_switch_inside_changes_only_what_runs, trace_start, trace_stop),
		cmocka_unit_test_setup_teardown(
			a_leave_too_many_makes_the_thread_idle, trace_start, trace_stop),
		cmocka_unit_test_setup_teardown(a_scope_is_left_with_its_block, trace_start, trace_stop),
		cmocka_unit_test_setup_teardown(deep_nesting_is_counted, trace_start, trace_stop),
		cmocka_unit_test_setup_teardown(a_handler_may_enter, trace_start, trace_stop),
		cmocka_unit_test_setup_teardown(a_stack_belongs_to_one_buffer, trace_start, trace_stop),
		cmocka_unit_test_setup_teardown(in_a_moment, trace_start, trace_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
