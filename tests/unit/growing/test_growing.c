/* SPDX-License-Identifier: ISC
 *
 * Growing inputs whose bytes the caller feeds: parts, frames, and what the state says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/growing.h>

#include "failing_allocation.h"

static struct weft_growing *growing;

static int begin(void **state)
{
	(void)state;
	growing = NULL;
	return weft_growing_create(&growing);
}

static int end(void **state)
{
	(void)state;
	weft_growing_close(growing);
	return 0;
}

static struct weft_growing_state now(void)
{
	struct weft_growing_state state;
	weft_growing_state(growing, &state);
	return state;
}

/* A form of sexp: at that second, a task is made. */
static size_t form(char *text, size_t room, int second)
{
	return (size_t)snprintf(text, room, "((time %d.0)(op(Creates 0 %d Task)))\n", second, second);
}

static void feed(uint32_t part, int second)
{
	char text[64];
	assert_int_equal(
		weft_growing_feed(growing, part, text, form(text, sizeof(text), second), second), 0);
}

static void add_parts(unsigned count, bool is_framed)
{
	for (unsigned i = 0; i < count; i++) {
		const struct weft_growing_fed part = {
			.name = i ? "second" : "first", .is_framed = is_framed};
		assert_int_equal(weft_growing_add(growing, &part), 0);
	}
	assert_int_equal(weft_growing_start(growing), 0);
}

/* Takes events as long as there are some; the tasks that they make are their seconds. */
static void expect(const char *seconds, int status_after)
{
	char found[256] = "";
	struct weft_event event;
	int status;
	while ((status = weft_growing_next(growing, &event)) == WEFT_OK)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%d ", (int)event.other);
	assert_string_equal(found, seconds);
	assert_int_equal(status, status_after);
}

static void a_part_is_decoded_as_it_comes(void **state)
{
	(void)state;
	add_parts(1, false);
	assert_int_equal(now().left, 1);
	feed(0, 1);
	feed(0, 2);
	assert_int_equal(now().phase, WEFT_GROWING_READING);
	expect("1 2 ", WEFT_AGAIN);
	assert_int_equal(now().phase, WEFT_GROWING_CURRENT);
	feed(0, 3);
	assert_int_equal(weft_growing_finish(growing, 0), 0);
	assert_int_equal(now().left, 0);
	expect("3 ", WEFT_END);
	expect("", WEFT_END);
	assert_int_equal(now().phase, WEFT_GROWING_ENDED);
	assert_int_equal(weft_growing_part(growing, 0).bytes, now().bytes);
	assert_string_equal(weft_growing_sentence(&(struct weft_growing_state){0}), "");
}

static void parts_are_merged_by_time(void **state)
{
	(void)state;
	add_parts(2, false);
	feed(0, 1);
	feed(0, 4);
	feed(1, 2);
	feed(1, 3);
	expect("1 2 3 ", WEFT_AGAIN); /* the second part may have an event before 4 */
	assert_int_equal(weft_growing_finish(growing, 1), 0);
	assert_int_equal(weft_growing_finish(growing, 0), 0);
	expect("4 ", WEFT_END);
	assert_string_equal(weft_growing_part(growing, 1).name, "second");
}

static size_t frame(char *bytes, uint32_t part, const char *content, size_t size)
{
	const uint32_t head[2] = {part, (uint32_t)size};
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (char)(head[i / 4] >> (8 * (i % 4)));
	if (size)
		memcpy(bytes + 8, content, size);
	return 8 + size;
}

static size_t add_frame(char *bytes, size_t at, uint32_t part, int second)
{
	char text[64];
	return at + frame(bytes + at, part, text, form(text, sizeof(text), second));
}

static void frames_come_in_pieces_of_any_size(void **state)
{
	char bytes[1024];
	size_t size = 0;
	(void)state;
	size = add_frame(bytes, size, 1, 2);
	size = add_frame(bytes, size, 0, 1);
	size = add_frame(bytes, size, 0, 3);
	size += frame(bytes + size, 0, NULL, 0);
	size += frame(bytes + size, 1, NULL, 0);
	for (size_t piece = 1; piece <= size; piece++) {
		end(NULL);
		begin(NULL);
		/* The first part is none of those in frames. */
		assert_int_equal(weft_growing_add(growing, &(struct weft_growing_fed){.name = "whole"}), 0);
		add_parts(2, true);
		feed(0, 4);
		assert_int_equal(weft_growing_finish(growing, 0), 0);
		for (size_t at = 0; at < size; at += piece) {
			size_t left = size - at;
			assert_int_equal(
				weft_growing_feed_frames(growing, bytes + at, left < piece ? left : piece, 1), 0);
		}
		expect("1 2 3 4 ", WEFT_END);
	}
}

static void a_frame_of_no_part_is_an_error(void **state)
{
	char bytes[16];
	(void)state;
	add_parts(1, true);
	assert_int_equal(
		weft_growing_feed_frames(growing, bytes, frame(bytes, 1, "x", 1), 1), WEFT_ERROR_FORMAT);
}

static void feed_frame(uint32_t part, int second, double now_ms)
{
	char bytes[128];
	size_t size = add_frame(bytes, 0, part, second);
	assert_int_equal(weft_growing_feed_frames(growing, bytes, size, now_ms), 0);
}

/* Others wait for it no longer than three seconds. If it goes on, all has to be read again. */
static void a_silent_part_is_taken_for_complete(void **state)
{
	(void)state;
	add_parts(2, true);
	feed_frame(0, 1, 1000);
	feed_frame(1, 2, 1000);
	for (int i = 3; i < 11; i++)
		feed_frame(1, i, 1000 + i);
	assert_int_equal(weft_growing_give_up(growing), 0);
	assert_int_equal(now().left, 2); /* it was not long */
	feed_frame(1, 11, 4001);
	assert_int_equal(weft_growing_give_up(growing), 0);
	assert_int_equal(now().left, 1);
	expect("1 2 3 4 5 6 7 8 9 10 11 ", WEFT_AGAIN);
	assert_int_equal(now().phase, WEFT_GROWING_CURRENT);
	feed_frame(0, 3, 5000);
	assert_int_equal(now().phase, WEFT_GROWING_OUTDATED);
}

/* Feeds count from the last one that brought something of the part. */
static void a_part_that_goes_on_is_not_silent_at_once(void **state)
{
	(void)state;
	add_parts(2, true);
	for (int i = 1; i < 20; i++)
		feed_frame(i % 2 ? 1 : 0, i, 1000 + i);
	feed_frame(1, 20, 5000);
	assert_int_equal(weft_growing_give_up(growing), 0);
	assert_int_equal(now().left, 2);
}

/* A slow reader gets bytes of all parts late, but it gets them. */
static void a_slow_reader_takes_no_part_for_complete(void **state)
{
	(void)state;
	add_parts(2, true);
	feed_frame(0, 1, 1000);
	feed_frame(1, 2, 60000);
	assert_int_equal(weft_growing_give_up(growing), 0);
	assert_int_equal(now().left, 2);
}

static void a_part_that_is_no_trace_is_left_out(void **state)
{
	(void)state;
	add_parts(2, false);
	feed(0, 1);
	assert_int_equal(weft_growing_feed(growing, 1, "no trace", 8, 1), 0);
	assert_int_equal(weft_growing_finish(growing, 1), 0);
	assert_int_equal(weft_growing_finish(growing, 0), 0);
	expect("1 ", WEFT_END);
	assert_int_equal(now().parts, 2);
}

static void an_only_part_that_is_no_trace_fails(void **state)
{
	(void)state;
	add_parts(1, false);
	assert_int_equal(weft_growing_feed(growing, 0, "no trace", 8, 1), 0);
	assert_int_equal(weft_growing_finish(growing, 0), WEFT_ERROR_FORMAT);
	expect("", WEFT_ERROR_FORMAT);
	assert_int_equal(now().phase, WEFT_GROWING_FAILED);
	struct weft_growing_state failed = now();
	assert_string_equal(weft_growing_sentence(&failed), weft_error_text(WEFT_ERROR_FORMAT));
}

static void the_end_is_said_of_programs_only(void **state)
{
	struct weft_growing_state ended = {.phase = WEFT_GROWING_ENDED, .parts = 1};
	(void)state;
	assert_string_equal(weft_growing_sentence(&ended), "");
	ended.is_program = true;
	assert_string_equal(weft_growing_sentence(&ended),
		"The program has ended, or records no more: this is all that it recorded.");
	ended.parts = 2;
	assert_string_equal(weft_growing_sentence(&ended),
		"The programs have ended, or record no more: this is all that they recorded.");
}

static int open_and_start(void)
{
	int error = weft_growing_create(&growing);
	for (int i = 0; i < 2 && !error; i++)
		error = weft_growing_add(growing, &(struct weft_growing_fed){.name = "part"});
	return error ? error : weft_growing_start(growing);
}

/* The refresh takes the events. */
static double wait_ms(struct weft_refresh *refresh)
{
	while (weft_refresh_read(refresh, 1) == WEFT_OK)
		;
	return weft_refresh_wait_ms(refresh, 1000);
}

static void no_model_is_due_while_it_is_paused(void **state)
{
	struct weft_refresh *refresh;
	(void)state;
	add_parts(1, false);
	const struct weft_refresh_source source = weft_growing_source(growing);
	assert_int_equal(weft_refresh_create(&source, &refresh), 0);
	feed(0, 1);
	weft_growing_pause(growing, true);
	assert_true(now().is_paused);
	assert_true(isinf(wait_ms(refresh)));
	assert_int_equal(weft_refresh_events(refresh), 1);
	weft_growing_pause(growing, false);
	assert_false(now().is_paused);
	assert_true(wait_ms(refresh) == 0);
	weft_refresh_destroy(refresh);
}

static void no_model_is_due_before_the_events_are_as_far_as_they_were(void **state)
{
	const uint64_t second_ns = 1000000000;
	struct weft_refresh *refresh;
	(void)state;
	add_parts(1, false);
	weft_growing_hold(growing, 2 * second_ns);
	const struct weft_refresh_source source = weft_growing_source(growing);
	assert_int_equal(weft_refresh_create(&source, &refresh), 0);
	for (int second = 1; second <= 4; second++) {
		feed(0, second);
		const double wait = wait_ms(refresh);
		assert_int_equal(isinf(wait) != 0, second < 2);
	}
	weft_refresh_destroy(refresh);
}

/* A file is shown when all of it was read, a program at once. */
static void a_model_of_a_file_is_due_when_it_was_read(void **state)
{
	(void)state;
	for (int is_program = 0; is_program < 2; is_program++) {
		struct weft_refresh *refresh;
		const struct weft_growing_fed part = {.name = "part", .is_program = is_program};
		end(NULL);
		begin(NULL);
		assert_int_equal(weft_growing_add(growing, &part), 0);
		assert_int_equal(weft_growing_start(growing), 0);
		const struct weft_refresh_source source = weft_growing_source(growing);
		assert_int_equal(weft_refresh_create(&source, &refresh), 0);
		feed(0, 1);
		feed(0, 2);
		assert_int_equal(weft_refresh_read(refresh, 1), WEFT_OK);
		assert_int_equal(isinf(weft_refresh_wait_ms(refresh, 1000)) != 0, !is_program);
		assert_int_equal(weft_refresh_read(refresh, 5), WEFT_AGAIN);
		assert_true(weft_refresh_wait_ms(refresh, 1000) == 0);
		weft_refresh_destroy(refresh);
	}
}

static void short_memory_is_reported(void **state)
{
	bool has_failed = true;
	long failures = 0;
	(void)state;
	for (; has_failed && failures < 1000; failures++) {
		weft_growing_close(growing);
		growing = NULL;
		until_failure = failures;
		int error = open_and_start();
		has_failed = until_failure < 0;
		until_failure = -1;
		assert_int_equal(error, has_failed ? WEFT_ERROR_MEMORY : 0);
	}
	assert_in_range(failures, 8, 999);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(no_model_is_due_while_it_is_paused),
		CASE(no_model_is_due_before_the_events_are_as_far_as_they_were),
		CASE(a_model_of_a_file_is_due_when_it_was_read),
		CASE(short_memory_is_reported),
		CASE(a_part_is_decoded_as_it_comes),
		CASE(parts_are_merged_by_time),
		CASE(frames_come_in_pieces_of_any_size),
		CASE(a_frame_of_no_part_is_an_error),
		CASE(a_silent_part_is_taken_for_complete),
		CASE(a_part_that_goes_on_is_not_silent_at_once),
		CASE(a_slow_reader_takes_no_part_for_complete),
		CASE(a_part_that_is_no_trace_is_left_out),
		CASE(an_only_part_that_is_no_trace_fails),
		CASE(the_end_is_said_of_programs_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
