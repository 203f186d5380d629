/* SPDX-License-Identifier: ISC
 *
 * A batch records what the single calls record, at the times that it gives; and ids of a program's
 * own are in a space of their own.
 */
#include "record_trace.h"

#include <time.h>

#include <weft/weft_ffi.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define TEXT(text)   text, sizeof(text) - 1
#define COUNT(list)  (sizeof(list) / sizeof((list)[0]))

static int start(void **state)
{
	trace_forget_counters();
	*state = trace_buffer(BUFFER_BYTES);
	return weft_ffi_start(*state, BUFFER_BYTES);
}

static int finish(void **state)
{
	weft_ffi_stop();
	free(*state);
	return 0;
}

static void read_back(struct trace *t, void **state)
{
	weft_ffi_stop();
	trace_open(t, *state, BUFFER_BYTES);
}

static void put(unsigned clock, uint64_t begin, const struct weft_batch_event *events, size_t count)
{
	weft_ffi_batch(NULL, 0, clock, begin, events, count);
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Until the clock has moved on by so much. */
static void pass(uint64_t ns)
{
	for (uint64_t from = monotonic_ns(); monotonic_ns() - from < ns;)
		;
}

static void spaces_of_ids_are_apart(void **state)
{
	uint64_t one = weft_id_space(), two = weft_ffi_id_space();
	struct trace t;
	assert_int_equal(one % WEFT_ID_SPACE, 0);
	assert_int_equal(two, one + WEFT_ID_SPACE);
	weft_create_id(WEFT_TASK_CURRENT, one + 7, WEFT_KIND_PROMISE);
	weft_create_id(5, two + 7, WEFT_KIND_TASK);
	weft_ffi_create_id(weft_ffi_category(TEXT("node"), NULL, 0), 0, one + 7, one + 8, 300);
	weft_ffi_create_id(weft_ffi_category(TEXT("node"), NULL, 0), 0, one + 7, one + 9, 3);
	weft_ffi_create_id(NULL, WEFT_LEVEL_TRACE, 5, one + 10, 3);
	assert_true(weft_create(WEFT_KIND_TASK) < one);
	read_back(&t, state);
	assert_int_equal(
		trace_expect(&t, WEFT_EVENT_CREATE, WEFT_TASK_NONE, one + 7)->kind, WEFT_KIND_PROMISE);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_CREATE, 5, two + 7)->kind, WEFT_KIND_TASK);
	trace_expect(&t, WEFT_EVENT_CREATE, one + 7, one + 8);
	trace_text(trace_expect(&t, WEFT_EVENT_CREATE, one + 7, one + 9)->category, "node");
	assert_true(trace_next(&t));
	weft_decoder_destroy(t.decoder);
}

static void spaces_run_out(void **state)
{
	(void)state;
	uint64_t last = 0;
	for (uint64_t next = weft_id_space(); next != WEFT_TASK_NONE; next = weft_id_space())
		last = next;
	assert_true(last + WEFT_ID_SPACE <= (uint64_t)1 << 52); /* where the lines of tracks begin */
	assert_int_equal(weft_ffi_id_space(), WEFT_TASK_NONE);
}

static const struct weft_batch_event every[] = {
	{0, WEFT_BATCH_CREATE, WEFT_KIND_BIND, 1, 2},
	{0, WEFT_BATCH_SWITCH, 0, 0, 2},
	{0, WEFT_BATCH_TRY_READ, 0, WEFT_TASK_CURRENT, 3},
	{0, WEFT_BATCH_SIGNAL, 0, 4, 5},
	{0, WEFT_BATCH_SIGNAL, 1, 4, 6},
	{0, WEFT_BATCH_READ, 1, 2, 3},
	{0, WEFT_BATCH_READ, 0, 2, 3},
	{0, WEFT_BATCH_WAIT_ANY, 0, WEFT_TASK_CURRENT, 7},
	{0, WEFT_BATCH_RESOLVE, 0, WEFT_TASK_CURRENT, 8},
	{0, WEFT_BATCH_CANCEL, 0, WEFT_TASK_CURRENT, 9},
	{0, WEFT_BATCH_CLOSE, 0, WEFT_TASK_CURRENT, 10},
	{0, WEFT_BATCH_TIME_OUT, 0, WEFT_TASK_CURRENT, 11},
	{0, WEFT_BATCH_ACQUIRE, 0, WEFT_TASK_CURRENT, 12},
	{0, WEFT_BATCH_RELEASE, 0, WEFT_TASK_CURRENT, 12},
	{0, 5, 0, WEFT_TASK_CURRENT, 12},    /* fail has a text */
	{0, 5000, 0, WEFT_TASK_CURRENT, 12}, /* unknown */
	{0, WEFT_BATCH_SEND, 0, WEFT_TASK_CURRENT, 13},
	{0, WEFT_BATCH_RECEIVE, 0, WEFT_TASK_CURRENT, 13},
	{0, WEFT_BATCH_EXPECT, 0, 2, 99},
	{0, WEFT_BATCH_BECOME, 0, WEFT_TASK_CURRENT, 14},
};

static void a_batch_has_every_event(void **state)
{
	struct trace t;
	put(WEFT_CLOCK_RECORDER, weft_now(), every, COUNT(every));
	assert_int_equal(weft_current(), 2);
	read_back(&t, state);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_CREATE, 1, 2)->kind, WEFT_KIND_BIND);
	trace_expect(&t, WEFT_EVENT_SWITCH, 2, 0);
	trace_expect(&t, WEFT_EVENT_TRY_READ, 2, 3);
	trace_expect(&t, WEFT_EVENT_SIGNAL, 5, 4);
	trace_expect(&t, WEFT_EVENT_SIGNAL, 6, 4);
	assert_true(trace_expect(&t, WEFT_EVENT_READ, 2, 3)->flag);
	assert_false(trace_expect(&t, WEFT_EVENT_READ, 2, 3)->flag);
	trace_expect(&t, WEFT_EVENT_WAIT_ANY, 2, 7);
	trace_expect(&t, WEFT_EVENT_RESOLVE, 2, 8);
	trace_expect(&t, WEFT_EVENT_CANCEL, 2, 9);
	trace_expect(&t, WEFT_EVENT_CLOSE, 2, 10);
	trace_expect(&t, WEFT_EVENT_TIME_OUT, 2, 11);
	trace_expect(&t, WEFT_EVENT_ACQUIRE, 2, 12);
	trace_expect(&t, WEFT_EVENT_RELEASE, 2, 12);
	assert_true(trace_next(&t) && t.event.type == WEFT_EVENT_SEND);
	assert_true(trace_next(&t) && t.event.type == WEFT_EVENT_RECEIVE);
	assert_true(trace_next(&t) && t.event.type == WEFT_EVENT_EXPECT && t.event.task == 2);
	trace_expect(&t, WEFT_EVENT_BECOME, 2, 14);
	trace_close(&t);
}

/* In a moment, events have the batch's times, and a call in between is no later than the batch's
 * events that were given after it. */
static void times_are_the_batchs(void **state)
{
	static const struct weft_batch_event events[] = {
		{10000, WEFT_BATCH_TRY_READ, 0, 1, 2}, {20000, WEFT_BATCH_TRY_READ, 0, 1, 3},
		{0, WEFT_BATCH_TRY_READ, 0, 1, 4}, {UINT32_MAX, WEFT_BATCH_TRY_READ, 0, 1, 5}, /* not yet */
	};
	struct trace t;
	weft_ffi_moment_begin();
	uint64_t begin = weft_ffi_now(), ns = monotonic_ns();
	pass(1000000);
	put(WEFT_CLOCK_RECORDER, begin, events, 3);
	pass(1000000);
	put(WEFT_CLOCK_MONOTONIC, ns + 500000, events, 4);
	uint64_t passed = monotonic_ns() - ns;
	weft_ffi_moment_end();
	read_back(&t, state);
	uint64_t first = trace_expect(&t, WEFT_EVENT_TRY_READ, 1, 2)->ticks;
	assert_in_range(first - begin, 10000, 10000);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_TRY_READ, 1, 3)->ticks, begin + 30000);
	uint64_t at_begin = t.event.time_ns;
	assert_int_equal(trace_expect(&t, WEFT_EVENT_TRY_READ, 1, 4)->ticks, begin + 30000);
	uint64_t second = trace_expect(&t, WEFT_EVENT_TRY_READ, 1, 2)->time_ns;
	assert_in_range(second - at_begin, 1, passed);
	assert_in_range(trace_expect(&t, WEFT_EVENT_TRY_READ, 1, 3)->time_ns - second, 19000, 21000);
	second = t.event.time_ns;
	assert_int_equal(trace_expect(&t, WEFT_EVENT_TRY_READ, 1, 4)->time_ns, second);
	assert_in_range(trace_expect(&t, WEFT_EVENT_TRY_READ, 1, 5)->time_ns - at_begin, 1, passed);
	trace_close(&t);
}

/* A follower of a running program would find earlier ones too late. */
static void outside_of_a_moment_all_happen_now(void **state)
{
	struct trace t;
	uint64_t begin = weft_ffi_now();
	pass(1000000);
	uint64_t before = weft_ffi_now();
	put(WEFT_CLOCK_RECORDER, begin, every, 2);
	put(WEFT_CLOCK_REALTIME, 1, every + 2, 1); /* a clock that no batch has */
	read_back(&t, state);
	assert_true(trace_expect(&t, WEFT_EVENT_CREATE, 1, 2)->ticks >= before);
	assert_true(trace_expect(&t, WEFT_EVENT_SWITCH, 2, 0)->ticks >= before);
	assert_true(trace_expect(&t, WEFT_EVENT_TRY_READ, 2, 3)->ticks >= before);
	trace_close(&t);
}

static void times_never_go_back(void **state)
{
	struct trace t;
	weft_ffi_moment_begin();
	uint64_t begin = weft_ffi_now();
	pass(100000);
	for (uint64_t i = 0; i < 70; i++) /* the moment's stamp is renewed in between */
		weft_resolve_as(1, i);
	put(WEFT_CLOCK_RECORDER, begin, every, 1);
	weft_ffi_moment_end();
	read_back(&t, state);
	uint64_t last = 0;
	while (trace_next(&t)) {
		assert_true(t.event.ticks >= last);
		last = t.event.ticks;
	}
	assert_true(last > begin);
	assert_int_equal(weft_decoder_diagnostics(t.decoder)->count, 0);
	weft_decoder_destroy(t.decoder);
}

static void what_runs_is_not_filtered(void **state)
{
	struct trace t;
	weft_ffi_batch(NULL, WEFT_LEVEL_TRACE, WEFT_CLOCK_RECORDER, 0, every, COUNT(every));
	read_back(&t, state);
	trace_expect(&t, WEFT_EVENT_SWITCH, 2, 0);
	trace_expect(&t, WEFT_EVENT_SWITCH, 6, 0);
	trace_expect(&t, WEFT_EVENT_SWITCH, 2, 0);
	trace_close(&t);
}

/* More than a packet takes. */
static void large_batches_are_whole(void **state)
{
	enum {
		MANY = 20000
	};
	struct weft_batch_event *events = calloc(MANY, sizeof(*events));
	struct trace t;
	assert_non_null(events);
	for (uint32_t i = 0; i < MANY; i++)
		events[i] = (struct weft_batch_event){1, WEFT_BATCH_RESOLVE, 0, 1, i};
	put(WEFT_CLOCK_RECORDER, 0, events, MANY);
	put(WEFT_CLOCK_RECORDER, 0, NULL, 0);
	read_back(&t, state);
	for (uint64_t i = 0; i < MANY; i++)
		trace_expect(&t, WEFT_EVENT_RESOLVE, 1, i);
	trace_close(&t);
	free(events);
}

static void without_recording_nothing_happens(void **state)
{
	weft_ffi_stop();
	put(WEFT_CLOCK_RECORDER, 0, every, COUNT(every));
	weft_ffi_create_id(NULL, 0, 1, 2, 3);
	assert_int_equal(weft_current(), WEFT_TASK_NONE);
	assert_int_equal(weft_ffi_start(*state, BUFFER_BYTES), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(spaces_of_ids_are_apart),
		TEST(a_batch_has_every_event),
		TEST(times_are_the_batchs),
		TEST(outside_of_a_moment_all_happen_now),
		TEST(times_never_go_back),
		TEST(what_runs_is_not_filtered),
		TEST(large_batches_are_whole),
		TEST(without_recording_nothing_happens),
		TEST(spaces_run_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
