/* SPDX-License-Identifier: ISC
 *
 * When a thread asks for its processor time, and what it records: with a clock and losses that the
 * test sets.
 */
#include "record_trace.h"

#include "abi/buffer_abi.h"
#include "record/recorder.h"

#define SIZE ((size_t)64 << 10)
/* ns and ticks between two questions: a million, halved until it is below 100,000. */
#define LIMIT 62500
#define LEAST 10000 /* a loss that is recorded */

static uint64_t now, off_ns;
static unsigned asked;
static bool is_unknown;

/* By the linker's --wrap. */
bool __wrap_weft__platform_off_cpu(uint64_t *ret_ns);
bool __wrap_weft__platform_off_cpu(uint64_t *ret_ns)
{
	asked++;
	if (!is_unknown)
		*ret_ns = off_ns;
	return !is_unknown;
}

static const struct weft_platform by_hand = {.ticks_at = &now, .ticks_hz = 1000000000};
static const struct weft_platform by_processor = {.ticks_hz = 1000000000};

static struct weft_abi_buffer *begin(
	void **state, const struct weft_platform *platform, uint64_t ticks, uint64_t ns)
{
	struct weft_abi_buffer *header = *state;
	now = 1000000;
	off_ns = 500;
	asked = 0;
	is_unknown = false;
	weft_stop();
	assert_int_equal(weft_start(header, SIZE, platform), 0);
	assert_int_equal(weft_set_level("cpu", WEFT_LEVEL_DEBUG), 0);
	header->start = (struct weft_abi_clock_reading){.ticks = 1000, .monotonic_ns = 2000};
	header->second =
		(struct weft_abi_clock_reading){.ticks = 1000 + ticks, .monotonic_ns = 2000 + ns};
	return header;
}

static int start(void **state)
{
	*state = trace_buffer(SIZE);
	begin(state, &by_hand, 1000000, 1000000);
	return 0;
}

static int stop(void **state)
{
	weft_stop();
	free(*state);
	return 0;
}

/* The task runs on, and has no processor for a part of that time. */
static void pass(uint64_t ns, uint64_t off)
{
	now += ns;
	off_ns += off;
}

/* Only these losses are in the buffer, of tasks in this order. */
struct lost {
	uint64_t task, ns;
};

static void expect_lost(void *buffer, const struct lost *lost, size_t count)
{
	struct trace t;
	size_t found = 0;
	weft_stop();
	trace_open(&t, buffer, SIZE);
	while (trace_next(&t)) {
		if (t.event.type != WEFT_EVENT_OFF_CPU)
			continue;
		assert_true(found < count);
		assert_int_equal(t.event.task, lost[found].task);
		assert_int_equal(t.event.value, lost[found++].ns);
	}
	assert_int_equal(found, count);
	trace_close(&t);
}

#define EXPECT_LOST(buffer, ...)                                   \
	do {                                                           \
		const struct lost list[] = {__VA_ARGS__};                  \
		expect_lost(buffer, list, sizeof(list) / sizeof(list[0])); \
	} while (0)

static void a_loss_between_two_questions_is_exact(void **state)
{
	weft_switch(1);
	pass(LIMIT, LEAST - 1);
	weft_switch(2);
	pass(LIMIT, LEAST);
	weft_switch(3);
	pass(LIMIT + 5, 45678);
	weft_switch(4);
	assert_int_equal(asked, 4);
	EXPECT_LOST(*state, {2, LEAST}, {3, 45678});
}

static void a_question_is_asked_when_the_answer_is_old(void **state)
{
	weft_switch(1);
	for (int i = 1; i <= 3; i++) {
		pass(LIMIT - 1, 0);
		weft_switch(2);
		assert_int_equal(asked, i);
		pass(1, 0);
		weft_switch(3);
		assert_int_equal(asked, i + 1);
	}
	(void)state;
}

/* The loss may have come before the activation, but no more of it than the time between questions.
 */
static void after_a_look_in_between_less_is_claimed(void **state)
{
	weft_switch(1);
	pass(10, 0);
	weft_switch(2);
	pass(LIMIT, LIMIT + LEAST - 1);
	weft_switch(3);
	assert_int_equal(asked, 2);
	pass(10, 0);
	weft_switch(4);
	pass(LIMIT, LIMIT + LEAST);
	weft_switch(5);
	pass(LIMIT, LEAST + 1);
	weft_switch(6);
	assert_int_equal(asked, 4);
	EXPECT_LOST(*state, {4, LEAST}, {5, LEAST + 1});
}

/* The clock has 64 bits, of which an event stores the lower half. */
static void late_questions_are_as_rare_as_early_ones(void **state)
{
	(void)state;
	weft_switch(1);
	now = UINT64_C(5) << 32;
	weft_switch(2);
	assert_int_equal(asked, 2);
	pass(LIMIT - 1, 0);
	weft_switch(3);
	assert_int_equal(asked, 2);
	now += UINT64_C(1) << 32; /* the lower half is the same */
	weft_switch(4);
	assert_int_equal(asked, 3);
}

static void an_idle_thread_loses_nothing(void **state)
{
	weft_switch(WEFT_TASK_NONE);
	pass(LIMIT, 50000);
	weft_switch(1);
	pass(LIMIT, 20000);
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	pass(LIMIT, 30000);
	weft_band_end(WEFT_BAND_IDLE, "poll");
	pass(LIMIT, 40000);
	weft_switch(2);
	EXPECT_LOST(*state, {1, 20000}, {1, 40000});
}

/* Another copy of the recorder may have switched meanwhile. */
static void a_loss_of_another_task_is_left_out(void **state)
{
	weft_switch(1);
	weft__record_self()->slot->task = 99;
	pass(LIMIT, 50000);
	weft_switch(2);
	off_ns = 100; /* goes back */
	pass(LIMIT, 0);
	weft_switch(3);
	pass(LIMIT, 20000);
	weft_switch(4);
	EXPECT_LOST(*state, {3, 20000});
}

static void without_an_answer_nothing_is_recorded(void **state)
{
	weft_switch(1);
	is_unknown = true;
	pass(LIMIT, 50000);
	weft_switch(2);
	is_unknown = false;
	pass(1, 0);
	weft_switch(3);
	assert_int_equal(asked, 3);
	expect_lost(*state, NULL, 0);
}

static void nothing_is_asked_where_the_rate_is_unknown(void **state)
{
	static const uint64_t readings[][2] = {{0, 1000}, {1000, 0}, {1, 1 << 30}};
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		begin(state, &by_hand, readings[i][0], readings[i][1]);
		weft_switch(1);
		pass(LIMIT, 50000);
		weft_switch(2);
		assert_int_equal(asked, 0);
	}
	begin(state, &by_hand, (uint64_t)1 << 33, 100000); /* more ticks than 32 bits hold */
	weft_switch(1);
	assert_int_equal(asked, 0);
	begin(state, &by_hand, 1000000, 1000000)->is_quiet = 1;
	weft_switch(1);
	assert_int_equal(asked, 0);
	begin(state, &by_hand, 1000000, 1000000);
	assert_int_equal(weft_set_level("cpu", WEFT_LEVEL_INFO), 0);
	weft_switch(1);
	assert_int_equal(asked, 0);
}

/* The clock is the processor's: an event whose look asks nothing has the look's stamp. */
static void the_processors_clock_limits_questions(void **state)
{
	begin(state, &by_processor, (uint64_t)1 << 31, 100000);
	for (uint64_t i = 1; i <= 100; i++)
		weft_switch(i);
	assert_int_equal(asked, 1);
	begin(state, &by_processor, 1, 100000);
	for (uint64_t i = 1; i <= 3; i++) {
		weft_switch(i);
		off_ns += 11000 * i;
	}
	weft_switch(WEFT_TASK_NONE);
	assert_int_equal(asked, 4);
	EXPECT_LOST(*state, {1, 11000}, {2, 22000}, {3, 33000});
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_loss_between_two_questions_is_exact),
		CASE(a_question_is_asked_when_the_answer_is_old),
		CASE(after_a_look_in_between_less_is_claimed),
		CASE(late_questions_are_as_rare_as_early_ones),
		CASE(an_idle_thread_loses_nothing),
		CASE(a_loss_of_another_task_is_left_out),
		CASE(without_an_answer_nothing_is_recorded),
		CASE(nothing_is_asked_where_the_rate_is_unknown),
		CASE(the_processors_clock_limits_questions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
