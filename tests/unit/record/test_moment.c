/* SPDX-License-Identifier: ISC
 *
 * Events that share a stamp.
 */
#include "record_trace.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "waiting.h"

#define SIZE ((size_t)64 << 10)

static uint64_t now;

static const struct weft_platform by_hand = {.ticks_at = &now, .ticks_hz = 1000000000};

static int start(void **state)
{
	trace_forget_counters();
	*state = trace_buffer(SIZE);
	now = 1000;
	return weft_start(*state, SIZE, &by_hand);
}

static int start_for_real(void **state)
{
	trace_forget_counters();
	*state = trace_buffer(SIZE);
	return weft_start(*state, SIZE, NULL);
}

static int stop(void **state)
{
	weft_stop();
	free(*state);
	return 0;
}

static const struct weft_abi_slot *first_slot(const void *buffer)
{
	const struct weft_abi_buffer *header = buffer;
	return (const void *)((const unsigned char *)buffer + header->slots_offset);
}

static void note_at(uint64_t ticks)
{
	now = ticks;
	weft_note("now");
}

/* The times of all that is in the buffer. */
static void expect_times(void *buffer, const uint64_t *times, size_t count)
{
	struct trace t;
	weft_stop();
	trace_open(&t, buffer, SIZE);
	for (size_t i = 0; i < count; i++) {
		assert_true(trace_next(&t));
		assert_int_equal(t.event.time_ns, times[i]);
	}
	trace_close(&t);
}

#define EXPECT_TIMES(buffer, ...)                                      \
	do {                                                               \
		const uint64_t times[] = {__VA_ARGS__};                        \
		expect_times(buffer, times, sizeof(times) / sizeof(times[0])); \
	} while (0)

static void from_its_beginning_to_its_end(void **state)
{
	note_at(1000);
	now = 1100;
	weft_moment_begin();
	note_at(1200);
	note_at(1300);
	weft_moment_end();
	note_at(1400);
	EXPECT_TIMES(*state, 1000, 1100, 1100, 1400);
}

/* Followers see by the sequence whether a thread is in the middle of something, and whether it was
 * meanwhile. */
static void its_sequence_only_grows(void **state)
{
	const struct weft_abi_slot *slot = first_slot(*state);
	note_at(1000);
	uint32_t before = slot->sequence;
	assert_int_equal(before % 2, 0);
	weft_moment_begin();
	assert_int_equal(slot->sequence, before + 1);
	weft_moment_begin();
	assert_int_equal(slot->sequence, before + 3);
	for (int i = 0; i < 65; i++)
		note_at(1100);
	assert_int_equal(slot->sequence, before + 5);
	weft_moment_end();
	assert_int_equal(slot->sequence, before + 6);
	weft_note("after it");
	assert_int_equal(slot->sequence, before + 8);
}

static void every_kind_of_event(void **state)
{
	struct trace t;
	now = 5000;
	weft_moment_begin();
	now = 9000;
	uint64_t task = weft_create(WEFT_KIND_TASK), child = weft_create_as(task, WEFT_KIND_BIND);
	weft_label_as(task, "a task");
	weft_switch(task);
	weft_try_read(child);
	weft_resolve_as(child, child);
	weft_signal(child);
	weft_counter_add("runs", 1);
	weft_counter_set("queue", 7);
	weft_tag_value("size", 12);
	weft_mark("done", "bytes", 1, "path", "/x");
	weft_notef("%d of %s", 1, "two");
	weft_expect();
	weft_moment_end();
	weft_stop();
	trace_open(&t, *state, SIZE);
	for (int i = 0; i < 13; i++) {
		assert_true(trace_next(&t));
		assert_int_equal(t.event.time_ns, 5000);
	}
	trace_close(&t);
}

/* The beginning of the next moment ends this one, and an end without a beginning has no effect. */
static void one_after_the_other(void **state)
{
	weft_moment_end();
	now = 1000;
	weft_moment_begin();
	note_at(2000);
	now = 3000;
	weft_moment_begin();
	note_at(4000);
	weft_moment_end();
	weft_moment_end();
	note_at(5000);
	EXPECT_TIMES(*state, 1000, 3000, 5000);
}

/* A missing end does not stop time for ever. */
static void a_moment_is_not_for_ever(void **state)
{
	struct trace t;
	weft_moment_begin();
	for (uint64_t i = 0; i < 1000; i++)
		note_at(2000 + i);
	weft_stop();
	trace_open(&t, *state, SIZE);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_true(trace_next(&t));
		assert_true(t.event.time_ns <= 2000 + i);
		assert_true(i < 100 || t.event.time_ns >= 2000 + i - 100);
	}
	trace_close(&t);
}

/* Longer ago than a stamp of 32 bits can express, and in a new packet. */
static void hours_after_the_packet_was_opened(void **state)
{
	const uint64_t later = (uint64_t)7 << 32;
	note_at(1000);
	now = later;
	weft_moment_begin();
	note_at(later + 1);
	weft_moment_end();
	now = later + 2;
	weft_moment_begin();
	for (int i = 0; i < 3; i++)
		weft_note("now");
	weft_moment_end();
	EXPECT_TIMES(*state, 1000, later, later + 2, later + 2, later + 2);
}

static void packets_are_filled(void **state)
{
	struct trace t;
	uint64_t count = 0;
	for (uint64_t i = 0; i < 20000; i++) {
		now = 10 * i;
		weft_moment_begin();
		weft_tag_value("first", (int64_t)i);
		now += 5;
		weft_tag_value("second", (int64_t)i);
		weft_moment_end();
	}
	weft_stop();
	trace_open(&t, *state, SIZE);
	while (trace_next(&t)) {
		if (t.event.is_rundown)
			continue;
		assert_int_equal(t.event.time_ns, 10 * t.event.value);
		count++;
	}
	assert_true(count > 1000);
	assert_int_equal(count + trace_loss(&t, WEFT_LOSS_OVERWRITTEN), 40000);
	trace_close(&t);
}

/* A follower must not regard the past as complete before a moment's end. */
static void its_sequence_is_odd(void **state)
{
	const struct weft_abi_slot *slot = first_slot(*state);
	note_at(1);
	uint32_t before = slot->sequence;
	assert_int_equal(before % 2, 0);
	weft_moment_begin();
	for (int i = 0; i < 200; i++) {
		weft_note("now");
		assert_int_equal(slot->sequence % 2, 1);
	}
	assert_true(slot->sequence > before + 1); /* renewed meanwhile, which a follower sees */
	weft_moment_end();
	assert_int_equal(slot->sequence % 2, 0);
}

static atomic_uint handled;
static atomic_bool is_over;

static void record_in_handler(int signal)
{
	(void)signal;
	weft_moment_begin();
	weft_tag_value("handler", atomic_fetch_add(&handled, 1));
	weft_moment_end();
}

/* Not on a stack: a failed assertion leaves the case while the other thread goes on. */
static pthread_t interrupted;

static void *interrupt(void *argument)
{
	(void)argument;
	for (int i = 0; i < 300; i++) {
		pthread_kill(interrupted, SIGUSR1);
		let_pass_us(30);
	}
	atomic_store(&is_over, true);
	return NULL;
}

/* Handlers may interrupt an event, a moment, its beginning or its end. */
static void handlers_record(void **state)
{
	struct trace t;
	struct sigaction action = {.sa_handler = record_in_handler};
	pthread_t other;
	uint64_t written = 0, found = 0, losses = 0;
	atomic_store(&handled, 0);
	atomic_store(&is_over, false);
	interrupted = pthread_self();
	sigaction(SIGUSR1, &action, NULL);
	assert_int_equal(pthread_create(&other, NULL, interrupt, NULL), 0);
	while (!atomic_load(&is_over)) {
		weft_moment_begin();
		weft_tag_value("one", 1);
		weft_tag_value("two", 2);
		weft_moment_end();
		weft_tag_value("three", 3);
		written += 3;
	}
	assert_int_equal(pthread_join(other, NULL), 0);
	signal(SIGUSR1, SIG_IGN); /* the last may still be on its way */
	assert_int_equal(first_slot(*state)->sequence % 2, 0);
	weft_stop();
	trace_open(&t, *state, SIZE);
	while (trace_next(&t))
		found += !t.event.is_rundown;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		losses += cause == WEFT_LOSS_NAMES_FULL ? 0 : trace_loss(&t, (enum weft_loss)cause);
	uint64_t all = written + atomic_load(&handled);
	assert_int_equal(found + losses, all);
	trace_close(&t);
}

static sigjmp_buf left;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(left, 1);
}

/* Time goes on for a thread that left a moment by a jump. */
static void one_is_left_by_a_jump(void **state)
{
	struct sigaction action = {.sa_handler = leave}, before;
	sigaction(SIGUSR1, &action, &before);
	now = 1000;
	if (!sigsetjmp(left, 1)) {
		weft_moment_begin();
		raise(SIGUSR1);
	}
	sigaction(SIGUSR1, &before, NULL);
	now = 2000;
	weft_moment_begin();
	weft_note("now");
	weft_moment_end();
	note_at(3000);
	EXPECT_TIMES(*state, 2000, 3000);
}

/* Recording stops inside a moment, and goes on in another buffer. */
static void it_ends_with_its_buffer(void **state)
{
	void *other = trace_buffer(SIZE);
	weft_moment_begin();
	weft_stop();
	assert_int_equal(weft_start(other, SIZE, &by_hand), 0);
	note_at(2000);
	weft_moment_end();
	note_at(3000);
	EXPECT_TIMES(other, 2000, 3000);
	free(other);
	(void)state;
}

/* No event is under way in it, unlike in a signal handler's caller. */
static void stopping_inside_one_closes_the_packet(void **state)
{
	const struct weft_abi_slot *slot = first_slot(*state);
	weft_moment_begin();
	note_at(2000);
	const struct weft_abi_packet *packet = (const void *)((const char *)slot + slot->packet);
	assert_int_equal(packet->state & WEFT_ABI_PACKET_STATE, WEFT_ABI_PACKET_OPEN);
	weft_stop();
	assert_int_equal(packet->state & WEFT_ABI_PACKET_STATE, WEFT_ABI_PACKET_CLOSED);
}

int main(void)
{
	(void)handlers_record, (void)start_for_real; /* where these cases are left out below */
#define CASE(name)      cmocka_unit_test_setup_teardown(name, start, stop)
#define REAL_CASE(name) cmocka_unit_test_setup_teardown(name, start_for_real, stop)
	const struct CMUnitTest tests[] = {
		CASE(from_its_beginning_to_its_end),
		CASE(its_sequence_only_grows),
		CASE(every_kind_of_event),
		CASE(one_after_the_other),
		CASE(a_moment_is_not_for_ever),
		CASE(hours_after_the_packet_was_opened),
		CASE(packets_are_filled),
		CASE(its_sequence_is_odd),
#ifndef __i386__ /* qemu-i386 ends in the middle of it; the processor's own 32 bits do not */
		REAL_CASE(handlers_record),
#endif
		CASE(one_is_left_by_a_jump),
		CASE(stopping_inside_one_closes_the_packet),
		CASE(it_ends_with_its_buffer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
