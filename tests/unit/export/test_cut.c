/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "abi/buffer_abi.h"
#include "abi/stream_abi.h"
#include "cut_parts.h"

static void threads_are_kept_though_they_are_silent(void **state)
{
	(void)state;
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	add(cut, &(struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = 5, .task = 1, .thread = 1});
	struct decoded d = end(cut, &part);
	expect_lines(&d, "{\"time\":5,\"event\":\"switch\",\"task\":1,\"thread\":1}\n");
}

static void clock_threads_and_losses_are_described(void **state)
{
	(void)state;
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	struct weft_decoder *decoder;
	add(cut, &(struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = 5, .task = 1});
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	weft_cut_destroy(cut);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, part.bytes, part.size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	const struct weft_trace_description *d = weft_decoder_describe(decoder);
	assert_int_equal(d->clock.epoch, WEFT_EPOCH_MONOTONIC);
	assert_int_equal(d->clock.offset_ns, 5000);
	assert_int_equal(d->thread_count, 3);
	assert_int_equal(d->buffer_count, 1);
	assert_string_equal(d->buffers[0].process, "program");
	assert_string_equal(d->buffers[0].host, "machine");
	assert_int_equal(d->buffers[0].pid, 42);
	assert_memory_equal(d->buffers[0].boot_id, buffer.boot_id, sizeof(buffer.boot_id));
	assert_memory_equal(d->buffers[0].uuid, buffer.uuid, sizeof(buffer.uuid));
	for (uint32_t i = 0; i < 3; i++) {
		assert_string_equal(d->threads[i].name, threads[i].name);
		assert_int_equal(d->threads[i].tid, threads[i].tid);
	}
	assert_memory_equal(d->losses, description.losses, sizeof(d->losses));
	weft_decoder_destroy(decoder);
	weft_text_finish(&part);
}

/* Threads take turns at one time: packets alone would put their events in another order. */
static void events_of_one_time_keep_their_order(void **state)
{
	(void)state;
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	static const uint32_t turns[] = {0, 1, 0, 2, 1, 1, 0, 2, 2, 0};
	for (uint64_t i = 0; i < 10; i++)
		add(cut, &(struct weft_event){
					 .type = WEFT_EVENT_SWITCH, .time_ns = 5, .task = i, .thread = turns[i]});
	struct decoded d = end(cut, &part);
	assert_int_equal(d.count, 10);
	const char *at = d.lines.bytes;
	for (unsigned i = 0; i < 10; i++) {
		char wanted[32];
		snprintf(wanted, sizeof(wanted), "\"task\":%u,", i);
		at = strstr(at, wanted);
		assert_non_null(at);
	}
	weft_text_finish(&d.lines);
}

static void a_reason_and_long_fields_have_room(void **state)
{
	(void)state;
	static char large[100000];
	memset(large, 'x', sizeof(large));
	struct weft_field fields[2] = {
		{.name = {"size", 4}, .type = WEFT_FIELD_F64, .value.f64 = 0.5},
		{.name = {"body", 4}, .type = WEFT_FIELD_TEXT, .value.text = {large, sizeof(large)}},
	};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	add(cut, &(struct weft_event){.type = WEFT_EVENT_SWITCH,
				 .time_ns = 5,
				 .task = WEFT_TASK_NONE,
				 .text = text_of("waits for the disk")});
	add(cut, &(struct weft_event){.type = WEFT_EVENT_MARK,
				 .time_ns = 6,
				 .task = 3,
				 .text = text_of("request"),
				 .fields = fields,
				 .field_count = 2});
	struct decoded d = end(cut, &part);
	assert_int_equal(d.count, 2);
	assert_non_null(strstr(d.lines.bytes, "\"task\":null,\"reason\":\"waits for the disk\""));
	assert_non_null(
		strstr(d.lines.bytes, "\"name\":\"request\",\"fields\":{\"size\":0.5,\"body\":\"xxx"));
	assert_true(d.lines.size > sizeof(large));
	weft_text_finish(&d.lines);
}

static void rundown_describes_each_thread_before_the_range(void **state)
{
	(void)state;
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	add(cut, &(struct weft_event){.type = WEFT_EVENT_CREATE,
				 .time_ns = 10,
				 .task = WEFT_TASK_NONE,
				 .other = 1,
				 .kind = WEFT_KIND_BIND});
	add(cut,
		&(struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = 20, .task = 1, .thread = 2});
	add(cut, &(struct weft_event){.type = WEFT_EVENT_BAND,
				 .time_ns = 30,
				 .band = WEFT_BAND_IDLE,
				 .flag = true,
				 .text = text_of("epoll"),
				 .thread = 2});
	add(cut, &(struct weft_event){.type = WEFT_EVENT_COUNTER,
				 .time_ns = 40,
				 .task = 1,
				 .value = 3,
				 .text = text_of("n")});
	add(cut, &(struct weft_event){.type = WEFT_EVENT_COUNTER,
				 .time_ns = 41,
				 .task = 1,
				 .value = 4,
				 .text = text_of("n")});
	struct decoded d = end(cut, &part);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"alive\",\"task\":1,\"kind\":\"bind\",\"label\":\"\",\"age\":90,"
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"counter\",\"task\":null,\"name\":\"n\",\"add\":7,"
		"\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"switch\",\"task\":1,\"rundown\":true,\"thread\":2}\n"
		"{\"time\":100,\"event\":\"band\",\"kind\":\"idle\",\"reason\":\"epoll\",\"begin\":true,"
		"\"rundown\":true,\"thread\":2}\n");
}

static void a_failure_before_the_range_is_in_the_rundown_if_read_again(void **state)
{
	(void)state;
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	for (uint64_t task = 1; task <= 2; task++)
		add(cut, &(struct weft_event){.type = WEFT_EVENT_FAIL,
					 .time_ns = 10,
					 .task = WEFT_TASK_NONE,
					 .other = task,
					 .text = text_of("no route")});
	add(cut, &(struct weft_event){
				 .type = WEFT_EVENT_READ, .time_ns = 150, .task = WEFT_TASK_NONE, .other = 2});
	struct decoded d = end(cut, &part);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"fail\",\"task\":null,\"target\":2,\"message\":\"no route\","
		"\"rundown\":true,\"thread\":0}\n"
		"{\"time\":150,\"event\":\"read\",\"task\":null,\"source\":2,\"later\":false,\"thread\":0}\n");
}

/* Task 1 has run since its try_read, task 2 has tried twice. The create of task 3 by its own child
 * is ignored. */
static void a_rundown_agrees_with_the_model(void **state)
{
	(void)state;
	static const struct weft_event before[] = {
		{.type = WEFT_EVENT_TRY_READ, .time_ns = 10, .task = 1, .other = 3},
		{.type = WEFT_EVENT_TRY_READ, .time_ns = 10, .task = 2, .other = 1},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 20, .task = 1},
		{.type = WEFT_EVENT_TRY_READ, .time_ns = 30, .task = 2, .other = 3},
		{.type = WEFT_EVENT_CREATE, .time_ns = 40, .task = 3, .other = 4, .kind = WEFT_KIND_BIND},
		{.type = WEFT_EVENT_CREATE, .time_ns = 50, .task = 4, .other = 3, .kind = WEFT_KIND_BIND},
	};
	struct decoded d = CUT(before);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"alive\",\"task\":1,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":2,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":3,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":3,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":4,\"kind\":\"bind\",\"label\":\"\",\"age\":60,"
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"switch\",\"task\":1,\"rundown\":true,\"thread\":0}\n");
}

/* Task 1 goes on after a poll, task 2 does something then. */
static void a_rundown_says_what_goes_on_waiting(void **state)
{
	(void)state;
	static const struct weft_event before[] = {
		{.type = WEFT_EVENT_SWITCH, .time_ns = 10, .task = 1},
		{.type = WEFT_EVENT_TRY_READ, .time_ns = 11, .task = 1, .other = 3},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 12, .task = WEFT_TASK_NONE},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 20, .task = 1},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 30, .task = 2},
		{.type = WEFT_EVENT_TRY_READ, .time_ns = 31, .task = 2, .other = 3},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 32, .task = WEFT_TASK_NONE},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 40, .task = 2},
		{.type = WEFT_EVENT_SIGNAL, .time_ns = 41, .task = 3, .other = 2},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 50, .task = WEFT_TASK_NONE},
	};
	struct decoded d = CUT(before);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"alive\",\"task\":1,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":3,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":2,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":3,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"switch\",\"task\":null,\"rundown\":true,\"thread\":0}\n");
}

/* Sends that nobody receives in the range are left out. Task 2 has ended. The last key is a
 * stream's: a later send does not come before it. */
static void a_rundown_has_what_the_range_receives(void **state)
{
	(void)state;
	static const struct weft_event events[] = {
		{.type = WEFT_EVENT_SEND, .time_ns = 10, .task = 1, .value = -1},
		{.type = WEFT_EVENT_SEND, .time_ns = 20, .task = 2, .value = 5},
		{.type = WEFT_EVENT_SEND, .time_ns = 20, .task = 1, .value = 6},
		{.type = WEFT_EVENT_SEND, .time_ns = 20, .task = 3, .value = 7},
		{.type = WEFT_EVENT_SEND, .time_ns = 20, .task = 1, .value = INT64_C(6) << 56},
		{.type = WEFT_EVENT_RESOLVE, .time_ns = 30, .task = WEFT_TASK_NONE, .other = 2},
		{.type = WEFT_EVENT_SEND, .time_ns = 110, .task = 4, .value = 7},
		{.type = WEFT_EVENT_SEND, .time_ns = 110, .task = 4, .value = INT64_C(6) << 56},
		{.type = WEFT_EVENT_RECEIVE, .time_ns = 120, .task = 4, .value = 5},
		{.type = WEFT_EVENT_RECEIVE, .time_ns = 120, .task = 4, .value = 7},
		{.type = WEFT_EVENT_RECEIVE, .time_ns = 120, .task = 4, .value = -1},
		{.type = WEFT_EVENT_RECEIVE, .time_ns = 120, .task = 4, .value = INT64_C(6) << 56},
	};
	struct decoded d = CUT(events);
	assert_non_null(strstr(d.lines.bytes,
		"{\"time\":100,\"event\":\"resolve\",\"task\":null,\"target\":2,\"rundown\":true,\"thread\":0}\n"));
	assert_non_null(strstr(d.lines.bytes,
		"{\"time\":100,\"event\":\"send\",\"task\":2,\"key\":5,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"send\",\"task\":1,\"key\":18446744073709551615,\"rundown\":true,"
		"\"thread\":0}\n"
		"{\"time\":100,\"event\":\"send\",\"task\":1,\"key\":432345564227567616,\"rundown\":true,"
		"\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\""));
	weft_text_finish(&d.lines);
}

/* Task 1 waits for three, one of which has ended. Task 2 has read one, task 3 waits for another one
 * only. */
static void a_rundown_keeps_a_wait_for_any(void **state)
{
	(void)state;
	static const struct weft_event before[] = {
		{.type = WEFT_EVENT_WAIT_ANY, .time_ns = 10, .task = 1, .other = 9},
		{.type = WEFT_EVENT_WAIT_ANY, .time_ns = 20, .task = 1, .other = 7},
		{.type = WEFT_EVENT_WAIT_ANY, .time_ns = 20, .task = 1, .other = 8},
		{.type = WEFT_EVENT_WAIT_ANY, .time_ns = 20, .task = 1, .other = 6},
		{.type = WEFT_EVENT_WAIT_ANY, .time_ns = 20, .task = 2, .other = 6},
		{.type = WEFT_EVENT_WAIT_ANY, .time_ns = 20, .task = 3, .other = 6},
		{.type = WEFT_EVENT_CANCEL, .time_ns = 30, .task = WEFT_TASK_NONE, .other = 8},
		{.type = WEFT_EVENT_READ, .time_ns = 40, .task = 2, .other = 6, .flag = true},
		{.type = WEFT_EVENT_TRY_READ, .time_ns = 40, .task = 3, .other = 7},
	};
	struct decoded d = CUT(before);
	assert_non_null(strstr(d.lines.bytes,
		"\"task\":1,\"kind\":\"unknown\",\"label\":\"\",\"source\":null,\"rundown\":true,"
		"\"thread\":0}\n"
		"{\"time\":100,\"event\":\"wait_any\",\"task\":1,\"source\":7,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"wait_any\",\"task\":1,\"source\":6,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":2,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":3,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":7,\"rundown\":true,\"thread\":0}\n"));
	assert_null(strstr(d.lines.bytes, "\"wait_any\",\"task\":2"));
	assert_null(strstr(d.lines.bytes, "\"wait_any\",\"task\":3"));
	weft_text_finish(&d.lines);
}

/* The task runs and waits, as between its try_read and the next switch. */
static void a_rundown_keeps_the_wait_of_a_task_that_runs(void **state)
{
	(void)state;
	static const struct weft_event before[] = {
		{.type = WEFT_EVENT_ALIVE, .time_ns = 10, .task = 1, .other = 2, .is_rundown = true},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 10, .task = 1, .is_rundown = true},
	};
	struct decoded d = CUT(before);
	assert_non_null(strstr(d.lines.bytes, "\"source\":2,\"rundown\":true"));
	weft_text_finish(&d.lines);
}

/* Lock 5 is taken twice by one task, which becomes another; pool 6 by two, of which one releases it
 * and one has ended; lock 8 has a second holder. */
static void a_rundown_keeps_what_is_held(void **state)
{
	(void)state;
	static const struct weft_event before[] = {
		{.type = WEFT_EVENT_CREATE, .time_ns = 10, .task = 1, .other = 5, .kind = WEFT_KIND_LOCK},
		{.type = WEFT_EVENT_CREATE, .time_ns = 10, .task = 1, .other = 6, .kind = WEFT_KIND_POOL},
		{.type = WEFT_EVENT_CREATE, .time_ns = 10, .task = 1, .other = 8, .kind = WEFT_KIND_LOCK},
		{.type = WEFT_EVENT_ACQUIRE, .time_ns = 20, .task = 2, .other = 5},
		{.type = WEFT_EVENT_ACQUIRE, .time_ns = 20, .task = 2, .other = 5},
		{.type = WEFT_EVENT_BECOME, .time_ns = 30, .task = 2, .other = 3},
		{.type = WEFT_EVENT_ACQUIRE, .time_ns = 40, .task = 3, .other = 6},
		{.type = WEFT_EVENT_ACQUIRE, .time_ns = 40, .task = 4, .other = 6},
		{.type = WEFT_EVENT_ACQUIRE, .time_ns = 40, .task = 7, .other = 6},
		{.type = WEFT_EVENT_RELEASE, .time_ns = 50, .task = 3, .other = 6},
		{.type = WEFT_EVENT_RESOLVE, .time_ns = 50, .task = 7, .other = 7},
		{.type = WEFT_EVENT_ACQUIRE, .time_ns = 60, .task = 3, .other = 8},
		{.type = WEFT_EVENT_ACQUIRE, .time_ns = 60, .task = 4, .other = 8},
		{.type = WEFT_EVENT_TRY_READ, .time_ns = 70, .task = 4, .other = 5},
	};
	struct decoded d = CUT(before);
	static const char held[] =
		"{\"time\":100,\"event\":\"acquire\",\"task\":3,\"resource\":5,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"acquire\",\"task\":3,\"resource\":5,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"acquire\",\"task\":4,\"resource\":6,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"acquire\",\"task\":4,\"resource\":8,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\"";
	assert_memory_equal(d.lines.bytes, held, sizeof(held) - 1);
	assert_non_null(strstr(
		d.lines.bytes, "\"alive\",\"task\":4,\"kind\":\"unknown\",\"label\":\"\",\"source\":5"));
	weft_text_finish(&d.lines);
}

/* Timer 1 is due in the range, timer 2 was due before it; the third has fired. */
static void a_rundown_keeps_deadlines(void **state)
{
	(void)state;
	struct weft_event events[] = {
		{.type = WEFT_EVENT_TAG, .time_ns = 10, .task = 1, .value = 5},
		{.type = WEFT_EVENT_TAG, .time_ns = 20, .task = 1, .value = 130},
		{.type = WEFT_EVENT_TAG, .time_ns = 20, .task = 2, .value = 30},
		{.type = WEFT_EVENT_TAG, .time_ns = 20, .task = 3, .value = 10},
		{.type = WEFT_EVENT_RESOLVE, .time_ns = 30, .task = WEFT_TASK_NONE, .other = 3},
	};
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		events[i].text = text_of(WEFT_TAG_DEADLINE);
		events[i].has_value = events[i].type == WEFT_EVENT_TAG;
		add(cut, &events[i]);
	}
	struct decoded d = end(cut, &part);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"alive\",\"task\":1,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"tag\",\"task\":1,\"text\":\"deadline\",\"value\":50,"
		"\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":2,\"kind\":\"unknown\",\"label\":\"\","
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"tag\",\"task\":2,\"text\":\"deadline\",\"value\":-50,"
		"\"rundown\":true,\"thread\":0}\n");
}

/* The outermost span of the task comes first; the thread has one, too. */
static void open_spans_begin_in_the_rundown(void **state)
{
	(void)state;
	static const struct weft_event before[] = {
		{.type = WEFT_EVENT_CREATE, .time_ns = 10, .task = WEFT_TASK_NONE, .other = 1},
		{.type = WEFT_EVENT_BEGIN, .time_ns = 20, .task = 1, .text = {"outer", 5}},
		{.type = WEFT_EVENT_BEGIN, .time_ns = 30, .task = 1, .text = {"ended", 5}},
		{.type = WEFT_EVENT_END, .time_ns = 31, .task = 1},
		{.type = WEFT_EVENT_BEGIN, .time_ns = 40, .task = 1, .text = {"inner", 5}},
		{.type = WEFT_EVENT_BEGIN,
			.time_ns = 50,
			.task = WEFT_TASK_NONE,
			.text = {"loop", 4},
			.thread = 2},
		{.type = WEFT_EVENT_END, .time_ns = 150, .task = 1},
	};
	struct decoded d = CUT(before);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"alive\",\"task\":1,\"kind\":\"wait\",\"label\":\"\",\"age\":90,"
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"begin\",\"task\":1,\"name\":\"outer\",\"rundown\":true,"
		"\"thread\":0}\n"
		"{\"time\":100,\"event\":\"begin\",\"task\":1,\"name\":\"inner\",\"rundown\":true,"
		"\"thread\":0}\n"
		"{\"time\":100,\"event\":\"begin\",\"task\":null,\"name\":\"loop\",\"rundown\":true,"
		"\"thread\":2}\n"
		"{\"time\":150,\"event\":\"end\",\"task\":1,\"thread\":0}\n");
}

/* A part has the spans that were recorded in it, with their times, and nothing of earlier ones. */
static void a_part_keeps_spans_of_tracks(void **state)
{
	(void)state;
	const uint64_t track = WEFT_TRACK_FIRST + 7 * WEFT_TRACK_LINES;
	static const struct weft_slice label = {"gpu", 3};
	const struct weft_event events[] = {
		{.type = WEFT_EVENT_SPAN,
			.time_ns = 90,
			.task = WEFT_TASK_NONE,
			.other = track,
			.kind_name = label,
			.text = {"old", 3},
			.begin_ns = 20,
			.end_ns = 80},
		{.type = WEFT_EVENT_SPAN,
			.time_ns = 150,
			.task = WEFT_TASK_NONE,
			.other = track,
			.kind = WEFT_CLOCK_FOREIGN,
			.kind_name = label,
			.text = {"draw", 4},
			.begin_ns = 60,
			.end_ns = 140},
	};
	struct decoded d = CUT(events);
	expect_lines(&d,
		"{\"time\":150,\"event\":\"span\",\"track\":4503599627370944,\"label\":\"gpu\","
		"\"clock\":\"foreign\",\"name\":\"draw\",\"start\":60,\"end\":140,"
		"\"thread\":0}\n");
}

static void impossible_values_are_refused(void **state)
{
	(void)state;
	const struct weft_cut_range range = {0, 100, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	struct weft_event event = {.type = WEFT_EVENT_EXPECT, .time_ns = 50, .task = 1};
	add(cut, &event);
	event.type = 0;
	assert_int_equal(weft_cut_add(cut, &event, &description), WEFT_ERROR_ARGUMENT);
	event.type = WEFT_EVENT_EXPECT;
	event.buffer = 1;
	assert_int_equal(weft_cut_add(cut, &event, &description), WEFT_ERROR_UNSUPPORTED);
	event.buffer = 0;
	event.time_ns = 49;
	assert_int_equal(weft_cut_add(cut, &event, &description), WEFT_ERROR_ARGUMENT);
	event.time_ns = 100; /* where events are missing may be known later */
	assert_int_equal(weft_cut_add(cut, &event, &description), WEFT_OK);
	const struct weft_trace_description whole = {.threads = threads, .thread_count = 3};
	assert_int_equal(weft_cut_add(cut, &event, &whole), WEFT_END);
	struct decoded d = end(cut, &part);
	assert_int_equal(d.count, 1);
	weft_text_finish(&d.lines);
}

/* A buffer that is known only at the end, when nothing was added. */
static void traces_of_two_buffers_are_refused_at_the_end(void **state)
{
	(void)state;
	const struct weft_trace_buffer two[] = {buffer, buffer};
	struct weft_trace_description several = description;
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	several.buffers = two;
	several.buffer_count = 2;
	assert_int_equal(weft_cut_finish(cut, &several), WEFT_ERROR_UNSUPPORTED);
	weft_cut_destroy(cut);
	weft_text_finish(&part);
}

static void an_error_of_the_sink_is_answered(void **state)
{
	(void)state;
	const struct weft_cut_sink sink = {refuse, NULL};
	struct weft_cut *cut;
	assert_int_equal(weft_cut_create(&all, NULL, &sink, &cut), 0);
	struct weft_event event = {.type = WEFT_EVENT_EXPECT, .time_ns = 50, .task = 1};
	assert_int_equal(weft_cut_add(cut, &event, &description), WEFT_ERROR_SYSTEM);
	weft_cut_destroy(cut);
}

struct refusal {
	unsigned calls, refused; /* so far; the number of the refused one */
};

static int refuse_one(void *context, const void *bytes, size_t size)
{
	struct refusal *refusal = context;
	(void)bytes;
	(void)size;
	return ++refusal->calls == refusal->refused ? WEFT_ERROR_SYSTEM : 0;
}

/* Cuts several packets; one write is refused. Returns the first error. */
static int cut_many(struct refusal *refusal)
{
	const struct weft_cut_sink sink = {refuse_one, refusal};
	struct weft_cut *cut;
	int error = weft_cut_create(&all, NULL, &sink, &cut);
	for (uint64_t i = 0; i < 20000 && !error; i++) {
		struct weft_event event = {
			.type = WEFT_EVENT_EXPECT, .time_ns = 50 + i, .task = 1, .thread = i % 2};
		error = weft_cut_add(cut, &event, &description);
	}
	if (!error)
		error = weft_cut_finish(cut, &description);
	weft_cut_destroy(cut);
	return error;
}

static void each_refused_write_is_answered(void **state)
{
	(void)state;
	struct refusal none = {0};
	assert_int_equal(cut_many(&none), 0);
	assert_in_range(none.calls, 5, 1000);
	for (unsigned i = 1; i <= none.calls; i++) {
		struct refusal one = {.refused = i};
		assert_int_equal(cut_many(&one), WEFT_ERROR_SYSTEM);
		assert_int_equal(one.calls, i);
	}
}

static void a_span_keeps_its_track(void **state)
{
	(void)state;
	const struct weft_event events[] = {{.type = WEFT_EVENT_SPAN,
		.time_ns = 150,
		.task = WEFT_TASK_NONE,
		.other = WEFT_TRACK_FIRST + 3 * WEFT_TRACK_LINES,
		.kind = 1,
		.kind_name = text_of("gpu"),
		.text = text_of("draw"),
		.begin_ns = 120,
		.end_ns = 140}};
	struct decoded d = CUT(events);
	expect_lines(&d,
		"{\"time\":150,\"event\":\"span\",\"track\":4503599627370688,\"label\":\"gpu\","
		"\"clock\":\"monotonic\",\"name\":\"draw\",\"start\":120,\"end\":140,\"thread\":0}\n");
}

/* Three gaps, before, in and behind the range; and losses whose time is unknown. */
static void losses_are_those_of_the_range(void **state)
{
	(void)state;
	static const struct weft_loss_period periods[] = {
		{10, 40, 5, 1, WEFT_LOSS_OVERWRITTEN},
		{60, 100, 3, 1, WEFT_LOSS_OVERWRITTEN}, /* up to the range's start */
		{90, 120, 7, 1, WEFT_LOSS_OVERWRITTEN},
		{150, 160, 11, 2, WEFT_LOSS_STALLED},
		{200, 230, 17, 0, WEFT_LOSS_OVERWRITTEN}, /* from the range's end on */
		{250, 260, 13, 0, WEFT_LOSS_OVERWRITTEN},
	};
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_trace_description trace = description;
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	struct weft_decoder *decoder;
	memset(trace.losses, 0, sizeof(trace.losses));
	trace.losses[WEFT_LOSS_OVERWRITTEN] = 5 + 3 + 7 + 17 + 13 + 2;
	trace.losses[WEFT_LOSS_STALLED] = 11;
	trace.loss_periods = periods;
	trace.loss_period_count = 6;
	for (uint64_t time = 50; time < 400; time += 50)
		assert_int_equal(
			weft_cut_add(cut,
				&(struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = time, .task = 1},
				&trace),
			WEFT_OK);
	assert_int_equal(weft_cut_finish(cut, &trace), 0);
	weft_cut_destroy(cut);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, part.bytes, part.size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	const struct weft_trace_description *d = weft_decoder_describe(decoder);
	assert_int_equal(d->losses[WEFT_LOSS_OVERWRITTEN], 7 + 2);
	assert_int_equal(d->losses[WEFT_LOSS_STALLED], 11);
	assert_int_equal(d->loss_period_count, 2);
	assert_memory_equal(&d->loss_periods[0].start, &periods[2].start, 24);
	assert_int_equal(d->loss_periods[0].thread, 1);
	assert_int_equal(d->loss_periods[0].cause, WEFT_LOSS_OVERWRITTEN);
	assert_memory_equal(&d->loss_periods[1].start, &periods[3].start, 24);
	assert_int_equal(d->loss_periods[1].thread, 2);
	assert_int_equal(d->loss_periods[1].cause, WEFT_LOSS_STALLED);
	weft_decoder_destroy(decoder);
	weft_text_finish(&part);
}

/* The reason for which a thread is idle, from a switch or from a band that a switch to nothing
 * ended. */
static void a_part_keeps_why_its_threads_are_idle(void **state)
{
	(void)state;
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	const struct weft_event idle = {.type = WEFT_EVENT_SWITCH,
		.time_ns = 10,
		.task = WEFT_TASK_NONE,
		.text = text_of("blocked")};
	struct weft_event poll = {.type = WEFT_EVENT_BAND,
		.time_ns = 20,
		.band = WEFT_BAND_IDLE,
		.flag = true,
		.text = text_of("poll"),
		.thread = 1};
	add(cut, &idle);
	add(cut, &poll);
	add(cut, &(struct weft_event){
				 .type = WEFT_EVENT_SWITCH, .time_ns = 30, .task = WEFT_TASK_NONE, .thread = 1});
	poll.thread = 2;
	poll.time_ns = 40;
	add(cut, &poll);
	struct decoded d = end(cut, &part);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"switch\",\"task\":null,\"reason\":\"blocked\","
		"\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"switch\",\"task\":null,\"reason\":\"poll\","
		"\"rundown\":true,\"thread\":1}\n"
		"{\"time\":100,\"event\":\"band\",\"kind\":\"idle\",\"reason\":\"poll\",\"begin\":true,"
		"\"rundown\":true,\"thread\":2}\n");
}

/* A band that interrupts an idle thread has a reason of its own. */
static void a_band_keeps_the_reason_that_it_interrupts(void **state)
{
	(void)state;
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	add(cut, &(struct weft_event){.type = WEFT_EVENT_SWITCH,
				 .time_ns = 10,
				 .task = WEFT_TASK_NONE,
				 .text = text_of("blocked")});
	add(cut, &(struct weft_event){.type = WEFT_EVENT_BAND,
				 .time_ns = 20,
				 .band = WEFT_BAND_IDLE,
				 .flag = true,
				 .text = text_of("poll")});
	struct decoded d = end(cut, &part);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"switch\",\"task\":null,\"reason\":\"blocked\","
		"\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"band\",\"kind\":\"idle\",\"reason\":\"poll\",\"begin\":true,"
		"\"rundown\":true,\"thread\":0}\n");
}

/* A part from 100 to 200 of a trace with these changes. */
static struct weft_decoder *cut_changes(
	const struct weft_trace_change *changes, uint32_t count, struct weft_text *ret_part)
{
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_trace_description trace = description;
	struct weft_cut *cut = begin(&range, ret_part);
	struct weft_decoder *decoder;
	trace.changes = changes;
	trace.change_count = count;
	assert_int_equal(
		weft_cut_add(cut,
			&(struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = 120, .task = 1}, &trace),
		WEFT_OK);
	assert_int_equal(weft_cut_finish(cut, &trace), 0);
	weft_cut_destroy(cut);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, ret_part->bytes, ret_part->size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	return decoder;
}

static void level_changes_are_kept_up_to_the_end_of_the_range(void **state)
{
	(void)state;
	static const struct weft_trace_change changes[] = {{.time_ns = 50, .level = 1},
		{.time_ns = 150, .level = 2}, {.time_ns = 200, .level = 3}, {.time_ns = 250, .level = 4}};
	struct weft_text part = {0};
	struct weft_decoder *decoder = cut_changes(changes, 4, &part);
	const struct weft_trace_description *d = weft_decoder_describe(decoder);
	assert_int_equal(d->change_count, 2);
	assert_int_equal(d->changes[0].time_ns, 50);
	assert_int_equal(d->changes[1].time_ns, 150);
	assert_int_equal(d->changes[1].level, 2);
	weft_decoder_destroy(decoder);
	weft_text_finish(&part);
}

/* A merged trace may have more than a header has room for. */
static void the_newest_level_changes_are_kept(void **state)
{
	(void)state;
	struct weft_trace_change changes[100];
	for (unsigned i = 0; i < 100; i++)
		changes[i] = (struct weft_trace_change){.time_ns = 101 + i, .level = i % 5};
	struct weft_text part = {0};
	struct weft_decoder *decoder = cut_changes(changes, 100, &part);
	const struct weft_trace_description *d = weft_decoder_describe(decoder);
	assert_int_equal(d->change_count, 64);
	assert_int_equal(d->changes[0].time_ns, 136);
	assert_int_equal(d->changes[63].time_ns, 199);
	assert_int_equal(d->changes[63].level, 98 % 5);
	weft_decoder_destroy(decoder);
	weft_text_finish(&part);
}

/* A text chunk whose number differs from that in its event. */
static void a_missing_text_is_reported(void **state)
{
	(void)state;
	static char large[3000];
	memset(large, 'x', sizeof(large));
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	add(cut,
		&(struct weft_event){
			.type = WEFT_EVENT_LABEL, .time_ns = 5, .task = 1, .text = {large, sizeof(large)}});
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	weft_cut_destroy(cut);
	part.bytes[4096 + 16] = 1; /* the chunk's number */
	struct decoded d = decode(part.bytes, part.size, 0);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.diagnostics.count, 1);
	assert_string_equal(d.diagnostics.list[0].message, "an event's text is missing");
	weft_text_finish(&d.lines);
	weft_text_finish(&part);
}

/* A rundown before the range has a task's age. */
static void the_age_of_a_task_grows_up_to_the_range(void **state)
{
	(void)state;
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	add(cut, &(struct weft_event){.type = WEFT_EVENT_ALIVE,
				 .time_ns = 50,
				 .task = 1,
				 .other = WEFT_TASK_NONE,
				 .kind = WEFT_KIND_BIND,
				 .has_value = true,
				 .value = 30});
	add(cut, &(struct weft_event){.type = WEFT_EVENT_ALIVE,
				 .time_ns = 60,
				 .task = 2,
				 .other = WEFT_TASK_NONE,
				 .kind = WEFT_KIND_BIND,
				 .has_value = true,
				 .value = 70}); /* older than the clock */
	struct decoded d = end(cut, &part);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"alive\",\"task\":1,\"kind\":\"bind\",\"label\":\"\",\"age\":80,"
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"alive\",\"task\":2,\"kind\":\"bind\",\"label\":\"\",\"age\":100,"
		"\"source\":null,\"rundown\":true,\"thread\":0}\n");
}

/* Only a task that the range names is mentioned after its end. */
static void an_ended_task_is_left_out(void **state)
{
	(void)state;
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	for (uint64_t task = 0; task < 2; task++)
		add(cut,
			&(struct weft_event){
				.type = WEFT_EVENT_RESOLVE, .time_ns = 10, .task = WEFT_TASK_NONE, .other = task});
	add(cut, &(struct weft_event){.type = WEFT_EVENT_SWITCH, .time_ns = 150, .task = 1});
	struct decoded d = end(cut, &part);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"resolve\",\"task\":null,\"target\":1,\"rundown\":true,"
		"\"thread\":0}\n"
		"{\"time\":150,\"event\":\"switch\",\"task\":1,\"thread\":0}\n");
}

/* Task 1 has received a message that is sent in the range; task 2 is read there. */
static void an_ended_task_is_what_it_was(void **state)
{
	(void)state;
	const uint64_t key = WEFT_KEY_ONCE | 7;
	const struct weft_event events[] = {
		{.type = WEFT_EVENT_CREATE,
			.time_ns = 10,
			.task = 9,
			.other = 1,
			.kind = WEFT_KIND_BIND,
			.category = text_of("net")},
		{.type = WEFT_EVENT_LABEL, .time_ns = 10, .task = 1, .text = text_of("client")},
		{.type = WEFT_EVENT_CREATE, .time_ns = 10, .task = 9, .other = 2, .kind = WEFT_KIND_BIND},
		{.type = WEFT_EVENT_RECEIVE, .time_ns = 20, .task = 1, .key = key},
		{.type = WEFT_EVENT_RESOLVE, .time_ns = 30, .task = 9, .other = 1},
		{.type = WEFT_EVENT_CANCEL, .time_ns = 40, .task = 9, .other = 2},
		{.type = WEFT_EVENT_READ, .time_ns = 150, .task = WEFT_TASK_NONE, .other = 2},
		{.type = WEFT_EVENT_SEND, .time_ns = 150, .task = 9, .key = key},
	};
	struct decoded d = CUT(events);
	assert_non_null(strstr(d.lines.bytes,
		"{\"time\":100,\"event\":\"alive\",\"task\":1,\"kind\":\"bind\",\"category\":\"net\","
		"\"label\":\"client\",\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"resolve\",\"task\":null,\"target\":1,\"rundown\":true,"
		"\"thread\":0}\n"));
	assert_non_null(strstr(d.lines.bytes,
		"{\"time\":100,\"event\":\"alive\",\"task\":2,\"kind\":\"bind\",\"label\":\"\","
		"\"source\":null,\"rundown\":true,\"thread\":0}\n"
		"{\"time\":100,\"event\":\"cancel\",\"task\":null,\"target\":2,\"rundown\":true,"
		"\"thread\":0}\n"));
	weft_text_finish(&d.lines);
}

static void a_gc_that_goes_on_begins_in_the_rundown(void **state)
{
	(void)state;
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	add(cut, &(struct weft_event){.type = WEFT_EVENT_BAND,
				 .time_ns = 30,
				 .band = WEFT_BAND_GC,
				 .flag = true,
				 .text = text_of("major"),
				 .thread = 1});
	struct decoded d = end(cut, &part);
	expect_lines(&d,
		"{\"time\":100,\"event\":\"band\",\"kind\":\"gc\",\"reason\":\"major\",\"begin\":true,"
		"\"rundown\":true,\"thread\":1}\n");
}

/* A stamp has 32 bits; a time record before the event has the rest. Packets are full of both. */
static void times_that_are_far_apart_are_kept(void **state)
{
	(void)state;
	static const uint64_t gaps[] = {
		0, (uint64_t)UINT32_MAX + 1, UINT32_MAX, (uint64_t)UINT32_MAX + 2, 1, (uint64_t)1 << 40};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	struct weft_event event = {.type = WEFT_EVENT_SWITCH, .time_ns = 5, .task = 1};
	for (unsigned i = 0; i < 3000; i++) {
		event.time_ns += gaps[i % (i < 600 ? 6 : 4)];
		add(cut, &event);
	}
	struct decoded d = end(cut, &part);
	assert_int_equal(d.count, 3000);
	const char *at = d.lines.bytes;
	uint64_t time_ns = 5;
	for (unsigned i = 0; i < 3000; i++) {
		time_ns += gaps[i % (i < 600 ? 6 : 4)];
		at = strstr(at, "\"time\":") + strlen("\"time\":");
		assert_true(strtoull(at, NULL, 10) == time_ns);
	}
	weft_text_finish(&d.lines);
}

/* The description may move while events are added. */
static void the_last_description_counts(void **state)
{
	(void)state;
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	struct weft_trace_description *first = malloc(sizeof(*first));
	struct weft_trace_thread *one = malloc(sizeof(*one));
	assert_true(first && one);
	*one = threads[0];
	*first = description;
	first->threads = one;
	first->thread_count = 1;
	const struct weft_event event = {.type = WEFT_EVENT_SWITCH, .time_ns = 5, .task = 1};
	assert_int_equal(weft_cut_add(cut, &event, first), WEFT_OK);
	*one = (struct weft_trace_thread){.name = "gone", .tid = 1};
	first->thread_count = 0;
	struct decoded d = end(cut, &part);
	expect_lines(&d, "{\"time\":5,\"event\":\"switch\",\"task\":1,\"thread\":0}\n");
	free(one);
	free(first);
}

static void a_deadline_of_no_task_is_left_out(void **state)
{
	(void)state;
	const struct weft_event before[] = {
		{.type = WEFT_EVENT_TAG,
			.time_ns = 10,
			.task = WEFT_TASK_NONE,
			.text = {WEFT_TAG_DEADLINE, sizeof(WEFT_TAG_DEADLINE) - 1},
			.value = 500,
			.has_value = true},
	};
	struct decoded d = CUT(before);
	expect_lines(&d, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_kept_though_they_are_silent),
		cmocka_unit_test(a_rundown_has_what_the_range_receives),
		cmocka_unit_test(a_deadline_of_no_task_is_left_out),
		cmocka_unit_test(clock_threads_and_losses_are_described),
		cmocka_unit_test(events_of_one_time_keep_their_order),
		cmocka_unit_test(a_reason_and_long_fields_have_room),
		cmocka_unit_test(rundown_describes_each_thread_before_the_range),
		cmocka_unit_test(a_failure_before_the_range_is_in_the_rundown_if_read_again),
		cmocka_unit_test(a_rundown_agrees_with_the_model),
		cmocka_unit_test(open_spans_begin_in_the_rundown),
		cmocka_unit_test(a_part_keeps_spans_of_tracks),
		cmocka_unit_test(a_rundown_says_what_goes_on_waiting),
		cmocka_unit_test(a_rundown_keeps_a_wait_for_any),
		cmocka_unit_test(a_rundown_keeps_the_wait_of_a_task_that_runs),
		cmocka_unit_test(a_rundown_keeps_what_is_held),
		cmocka_unit_test(a_rundown_keeps_deadlines),
		cmocka_unit_test(impossible_values_are_refused),
		cmocka_unit_test(traces_of_two_buffers_are_refused_at_the_end),
		cmocka_unit_test(an_error_of_the_sink_is_answered),
		cmocka_unit_test(each_refused_write_is_answered),
		cmocka_unit_test(a_span_keeps_its_track),
		cmocka_unit_test(losses_are_those_of_the_range),
		cmocka_unit_test(a_part_keeps_why_its_threads_are_idle),
		cmocka_unit_test(level_changes_are_kept_up_to_the_end_of_the_range),
		cmocka_unit_test(the_newest_level_changes_are_kept),
		cmocka_unit_test(a_missing_text_is_reported),
		cmocka_unit_test(the_age_of_a_task_grows_up_to_the_range),
		cmocka_unit_test(an_ended_task_is_left_out),
		cmocka_unit_test(an_ended_task_is_what_it_was),
		cmocka_unit_test(a_gc_that_goes_on_begins_in_the_rundown),
		cmocka_unit_test(times_that_are_far_apart_are_kept),
		cmocka_unit_test(a_band_keeps_the_reason_that_it_interrupts),
		cmocka_unit_test(the_last_description_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
