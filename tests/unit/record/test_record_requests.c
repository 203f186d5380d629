/* SPDX-License-Identifier: ISC
 *
 * Requests of a program to its watcher, as they are in the buffer's header: rules and snapshots.
 */
#include "record_trace.h"

#include "abi/buffer_abi.h"

#define SIZE ((size_t)64 << 10)

static int begin(void **state)
{
	*state = trace_buffer(SIZE);
	return weft_start(*state, SIZE, NULL);
}

static int end(void **state)
{
	weft_stop();
	free(*state);
	return 0;
}

static void each_rule_is_kept_once(void **state)
{
	const struct weft_abi_buffer *header = *state;
	for (int i = 0; i < 3; i++) {
		weft_trigger("runs > 1s");
		weft_trigger("waits > 1s");
	}
	assert_int_equal(header->snapshots.rule_count, 2);
	assert_int_not_equal(header->snapshots.rules[0], 0);
	assert_int_not_equal(header->snapshots.rules[1], 0);
	assert_int_not_equal(header->snapshots.rules[0], header->snapshots.rules[1]);
	assert_int_equal(header->snapshots.rules[2], 0);
}

static void rules_fill_their_table(void **state)
{
	const struct weft_abi_buffer *header = *state;
	char rule[32];
	for (int i = 0; i < WEFT_ABI_RULES + 10; i++) {
		snprintf(rule, sizeof(rule), "runs > %ds", i + 1);
		weft_trigger(rule);
	}
	assert_int_equal(header->snapshots.rule_count, WEFT_ABI_RULES);
	for (int i = 1; i < WEFT_ABI_RULES; i++)
		assert_true(header->snapshots.rules[i] > header->snapshots.rules[i - 1]);
	for (size_t i = 0; i < sizeof(header->snapshots.reserved2); i++)
		assert_int_equal(header->snapshots.reserved2[i], 0);
}

/* The past is held from the first request until the watcher has answered. */
static void a_request_holds_the_past_while_a_watcher_listens(void **state)
{
	struct weft_abi_buffer *header = *state;
	weft_snapshot_request("no one listens");
	assert_int_equal(header->snapshots.requests >> 32, 1);
	assert_int_equal(header->hold_until, 0);
	header->snapshots.listen_until = UINT64_MAX;
	header->snapshots.hold_ticks = 1000;
	weft_snapshot_request("not answered yet");
	assert_int_equal(header->snapshots.requests >> 32, 2);
	assert_int_equal(header->hold_until, 0);
	header->snapshots.served = 2;
	weft_snapshot_request("answered");
	uint64_t until = header->hold_until, request = header->snapshots.requests;
	assert_true(until > 1000);
	weft_snapshot_request("again");
	assert_int_equal(header->hold_until, until);
	assert_int_not_equal((uint32_t)header->snapshots.requests, (uint32_t)request);
}

static void living_tasks_are_asked_for_once(void **state)
{
	struct weft_abi_buffer *header = *state;
	uint32_t seen = 0;
	assert_false(weft_rundown_wanted(&seen));
	header->rundown = 1;
	assert_true(weft_rundown_wanted(&seen));
	assert_false(weft_rundown_wanted(&seen));
	header->rundown = 2;
	assert_true(weft_rundown_wanted(&seen));
	assert_int_equal(seen, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_rule_is_kept_once, begin, end),
		cmocka_unit_test_setup_teardown(rules_fill_their_table, begin, end),
		cmocka_unit_test_setup_teardown(
			a_request_holds_the_past_while_a_watcher_listens, begin, end),
		cmocka_unit_test_setup_teardown(living_tasks_are_asked_for_once, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
