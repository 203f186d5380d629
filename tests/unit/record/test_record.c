/* SPDX-License-Identifier: ISC
 *
 * Every kind of event is read as it was recorded, field by field.
 */
#include "record_trace.h"

#include <math.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <weft/error.h>

#include "abi/buffer_abi.h"
#include "abi/name_abi.h"
#include "abi/packet_abi.h"

static void events_of_the_current_task(void **state)
{
	struct trace t;
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_switch(task);
	uint64_t child = weft_create(WEFT_KIND_BIND);
	assert_int_equal(weft_current(), task);
	weft_read(child);
	weft_read_later(child);
	weft_try_read(child);
	weft_resolve(child);
	weft_fail(child, "out of luck");
	weft_cancel(child);
	weft_close(child);
	weft_time_out(child);
	weft_become(child);
	weft_expect();
	weft_gc(1234);
	weft_off_cpu(5678);
	weft_send(UINT64_MAX);
	weft_receive(9);
	weft_signal_only(child);
	weft_signal(child);
	assert_int_equal(weft_current(), child);
	weft_switch(WEFT_TASK_NONE);
	trace_read_back(&t, state);

	assert_int_equal(
		trace_expect(&t, WEFT_EVENT_CREATE, WEFT_TASK_NONE, task)->kind, WEFT_KIND_TASK);
	trace_expect(&t, WEFT_EVENT_SWITCH, task, 0);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_CREATE, task, child)->kind, WEFT_KIND_BIND);
	assert_false(trace_expect(&t, WEFT_EVENT_READ, task, child)->flag);
	assert_true(trace_expect(&t, WEFT_EVENT_READ, task, child)->flag);
	trace_expect(&t, WEFT_EVENT_TRY_READ, task, child);
	trace_expect(&t, WEFT_EVENT_RESOLVE, task, child);
	trace_text(trace_expect(&t, WEFT_EVENT_FAIL, task, child)->text, "out of luck");
	trace_expect(&t, WEFT_EVENT_CANCEL, task, child);
	trace_expect(&t, WEFT_EVENT_CLOSE, task, child);
	trace_expect(&t, WEFT_EVENT_TIME_OUT, task, child);
	trace_expect(&t, WEFT_EVENT_BECOME, task, child);
	trace_expect(&t, WEFT_EVENT_EXPECT, task, 0);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_GC, task, 0)->value, 1234);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_OFF_CPU, task, 0)->value, 5678);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_SEND, task, 0)->value, -1);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_RECEIVE, task, 0)->value, 9);
	assert_false(trace_expect(&t, WEFT_EVENT_SIGNAL, child, task)->flag);
	assert_true(trace_expect(&t, WEFT_EVENT_SIGNAL, child, task)->flag);
	trace_expect(&t, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
	trace_close(&t);
}

static void events_of_another_task(void **state)
{
	struct trace t;
	uint64_t other = weft_create_as(77, WEFT_KIND_WAIT);
	weft_switch(5);
	weft_resolve_as(7, 9);
	weft_fail_as(7, 9, "no");
	weft_cancel_as(7, 9);
	weft_close_as(7, 9);
	weft_time_out_as(7, 9);
	weft_become_as(7, 9);
	weft_try_read_as(7, 9);
	weft_read_later_as(7, 9);
	weft_signal_only_as(7, 9);
	weft_expect_as(7);
	weft_send_as(7, 11);
	weft_receive_as(7, 11);
	weft_label_as(7, "seven");
	weft_resolve(1); /* still by 5 */
	weft_read_as(7, 9);
	weft_resolve(1); /* by 7: the read switched */
	weft_signal_as(3, 8);
	weft_resolve(1); /* by 8 */
	weft_read_as(WEFT_TASK_CURRENT, 2);
	trace_read_back(&t, state);

	trace_expect(&t, WEFT_EVENT_CREATE, 77, other);
	trace_expect(&t, WEFT_EVENT_SWITCH, 5, 0);
	trace_expect(&t, WEFT_EVENT_RESOLVE, 7, 9);
	trace_text(trace_expect(&t, WEFT_EVENT_FAIL, 7, 9)->text, "no");
	trace_expect(&t, WEFT_EVENT_CANCEL, 7, 9);
	trace_expect(&t, WEFT_EVENT_CLOSE, 7, 9);
	trace_expect(&t, WEFT_EVENT_TIME_OUT, 7, 9);
	trace_expect(&t, WEFT_EVENT_BECOME, 7, 9);
	trace_expect(&t, WEFT_EVENT_TRY_READ, 7, 9);
	trace_expect(&t, WEFT_EVENT_READ, 7, 9);
	trace_expect(&t, WEFT_EVENT_SIGNAL, 9, 7);
	trace_expect(&t, WEFT_EVENT_EXPECT, 7, 0);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_SEND, 7, 0)->value, 11);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_RECEIVE, 7, 0)->value, 11);
	trace_text(trace_expect(&t, WEFT_EVENT_LABEL, 7, 0)->text, "seven");
	trace_expect(&t, WEFT_EVENT_RESOLVE, 5, 1);
	trace_expect(&t, WEFT_EVENT_READ, 7, 9);
	trace_expect(&t, WEFT_EVENT_RESOLVE, 7, 1);
	trace_expect(&t, WEFT_EVENT_SIGNAL, 8, 3);
	trace_expect(&t, WEFT_EVENT_RESOLVE, 8, 1);
	trace_expect(&t, WEFT_EVENT_READ, 8, 2);
	trace_close(&t);
}

static void a_resource_is_taken_and_given_back(void **state)
{
	struct trace t;
	weft_switch(5);
	weft_acquire(7);
	weft_acquire_as(6, 7);
	weft_release_as(6, 7);
	weft_release(7);
	weft_resolve(1);
	trace_read_back(&t, state);
	trace_expect(&t, WEFT_EVENT_SWITCH, 5, 0);
	trace_expect(&t, WEFT_EVENT_ACQUIRE, 5, 7);
	trace_expect(&t, WEFT_EVENT_ACQUIRE, 6, 7);
	trace_expect(&t, WEFT_EVENT_RELEASE, 6, 7);
	trace_expect(&t, WEFT_EVENT_RELEASE, 5, 7);
	trace_expect(&t, WEFT_EVENT_RESOLVE, 5, 1);
	trace_close(&t);
}

/* The events of a call share one time, also if they do not fit into one reservation. */
static void a_wait_for_any_is_an_event_for_each(void **state)
{
	enum {
		MANY = 200
	};
	struct trace t;
	uint64_t sources[MANY];
	for (uint64_t i = 0; i < MANY; i++)
		sources[i] = 1000 + i;
	weft_switch(5);
	weft_wait_any(2, (const uint64_t[]){7, 8});
	weft_wait_any_as(6, 1, sources);
	weft_wait_any(0, sources);
	weft_wait_any_as(6, MANY, sources);
	weft_moment_begin();
	weft_resolve(1);
	weft_wait_any(MANY, sources);
	weft_moment_end();
	weft_resolve(2);
	trace_read_back(&t, state);

	trace_expect(&t, WEFT_EVENT_SWITCH, 5, 0);
	uint64_t time = trace_expect(&t, WEFT_EVENT_WAIT_ANY, 5, 7)->time_ns;
	assert_int_equal(trace_expect(&t, WEFT_EVENT_WAIT_ANY, 5, 8)->time_ns, time);
	time = trace_expect(&t, WEFT_EVENT_WAIT_ANY, 6, 1000)->time_ns;
	uint64_t next = trace_expect(&t, WEFT_EVENT_WAIT_ANY, 6, 1000)->time_ns;
	assert_true(next > time);
	for (uint64_t i = 1; i < MANY; i++)
		assert_int_equal(trace_expect(&t, WEFT_EVENT_WAIT_ANY, 6, 1000 + i)->time_ns, next);
	time = trace_expect(&t, WEFT_EVENT_RESOLVE, 5, 1)->time_ns;
	assert_true(time > next);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(trace_expect(&t, WEFT_EVENT_WAIT_ANY, 5, 1000 + i)->time_ns, time);
	assert_true(trace_expect(&t, WEFT_EVENT_RESOLVE, 5, 2)->time_ns > time);
	trace_close(&t);
}

static void spans_by_call_and_by_block(void **state)
{
	struct trace t;
	const char *changing = "changing";
	weft_begin("outer");
	for (int i = 0; i < 2; i++) {
		WEFT_SPAN("literal");
		if (i == 1)
			continue;
		WEFT_SPAN(changing);
	}
	weft_begin_as(7, "of a task");
	weft_end_as(7);
	weft_end();
	trace_read_back(&t, state);
	static const char *const names[] = {
		"outer", "literal", "changing", NULL, NULL, "literal", NULL};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		enum weft_event_type type = names[i] ? WEFT_EVENT_BEGIN : WEFT_EVENT_END;
		const struct weft_event *event = trace_expect(&t, type, WEFT_TASK_NONE, 0);
		if (names[i])
			trace_text(event->text, names[i]);
	}
	trace_text(trace_expect(&t, WEFT_EVENT_BEGIN, 7, 0)->text, "of a task");
	trace_expect(&t, WEFT_EVENT_END, 7, 0);
	trace_expect(&t, WEFT_EVENT_END, WEFT_TASK_NONE, 0);
	trace_close(&t);
}

/* A block's span ends if and only if it has begun, whatever happens to the level in between. */
static void a_level_filters_whole_spans(void **state)
{
	struct trace t;
	{
		WEFT_SPAN("recorded");
		WEFT_SPAN_AT(WEFT_LEVEL_DEBUG, "filtered");
		weft_set_level("*", WEFT_LEVEL_DEBUG);
		WEFT_SPAN_AT(WEFT_LEVEL_DEBUG, "debug");
		weft_set_level("*", WEFT_LEVEL_OFF);
		WEFT_SPAN("off");
		weft_begin("off");
		weft_end();
	}
	weft_set_level("*", WEFT_LEVEL_INFO);
	trace_read_back(&t, state);
	trace_text(trace_expect(&t, WEFT_EVENT_BEGIN, WEFT_TASK_NONE, 0)->text, "recorded");
	trace_text(trace_expect(&t, WEFT_EVENT_BEGIN, WEFT_TASK_NONE, 0)->text, "debug");
	trace_expect(&t, WEFT_EVENT_END, WEFT_TASK_NONE, 0);
	trace_expect(&t, WEFT_EVENT_END, WEFT_TASK_NONE, 0);
	trace_close(&t);
}

static const struct weft_event *expect_span(struct trace *t, const char *track, const char *name)
{
	assert_true(trace_next(t));
	const struct weft_event *event = &t->event;
	assert_int_equal(event->type, WEFT_EVENT_SPAN);
	trace_text(event->kind_name, track);
	trace_text(event->text, name);
	return event;
}

/* Clocks of the system are placed on the trace's axis to within the time of a call; the recorder's
 * clock exactly. */
static void spans_of_other_clocks_are_placed(void **state)
{
	struct trace t;
	char name[] = "run time";
	struct timespec now;
	uint64_t before = weft_now();
	weft_note("before");
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	weft_span("disk", WEFT_CLOCK_RECORDER, name, before, weft_now());
	weft_span("disk", WEFT_CLOCK_MONOTONIC, "seek", ns - 3000000, ns - 1000000);
	weft_span(name, WEFT_CLOCK_FOREIGN + 7, "unknown clock", 40, 100);
	weft_clock_sync(WEFT_CLOCK_FOREIGN + 7, 1000000);
	weft_span(name, WEFT_CLOCK_FOREIGN + 7, "synced", 400000, 900000);
	weft_clock_sync(WEFT_CLOCK_FOREIGN + 8, 1); /* there is none */
	trace_read_back(&t, state);
	uint64_t note_ns = trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->time_ns;

	const struct weft_event *event = expect_span(&t, "disk", "run time");
	uint64_t track = event->other;
	assert_true(event->other >= WEFT_TRACK_FIRST && event->other % WEFT_TRACK_LINES == 0);
	assert_int_equal(event->kind, WEFT_CLOCK_RECORDER);
	assert_true(event->begin_ns <= note_ns && note_ns <= event->end_ns);
	assert_true(event->end_ns <= event->time_ns);
	event = expect_span(&t, "disk", "seek");
	assert_int_equal(event->other, track);
	assert_int_equal(event->kind, WEFT_CLOCK_MONOTONIC);
	assert_int_equal(event->end_ns - event->begin_ns, 2000000);
	assert_in_range(event->time_ns - event->end_ns, 1000000, 1000000 + 500000000);
	event = expect_span(&t, "run time", "unknown clock");
	assert_int_not_equal(event->other, track);
	assert_int_equal(event->end_ns - event->begin_ns, 60);
	assert_in_range(event->time_ns - event->end_ns, 0, 500000000);
	event = expect_span(&t, "run time", "synced");
	assert_int_equal(event->end_ns - event->begin_ns, 500000);
	assert_in_range(event->time_ns - event->end_ns, 100000, 100000 + 500000000);
	trace_close(&t);
}

/* A counter's rule: without a name there is no track. */
static void a_track_without_a_name_is_refused(void **state)
{
	struct trace t;
	static char longest[1026];
	memset(longest, 'x', sizeof(longest) - 1);
	weft_span(longest, WEFT_CLOCK_RECORDER, "lost", 1, 2);
	weft_note("after");
	trace_read_back(&t, state);
	trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_TOO_BIG), 1);
	trace_close(&t);
}

static void texts_literal_and_not(void **state)
{
	struct trace t;
	char text[] = "12345678"; /* a whole word: no padding */
	weft_label("literal");
	weft_label(text);
	weft_note("literal");
	weft_note(text + 1);
	weft_note("");
	weft_note((const char *)NULL);
	weft_tag("tag");
	weft_tag(text);
	weft_tag_value("level", -3);
	weft_tag_value_as(4, text, INT64_MIN);
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	weft_band_end(WEFT_BAND_IDLE, text);
	weft_band_begin(WEFT_BAND_GC, "minor");
	weft_counter_add("bytes", -7);
	weft_counter_set(text, INT64_MAX);
	weft_counter_set_as(4, "bytes", 1);
	trace_read_back(&t, state);

	const uint64_t none = WEFT_TASK_NONE;
	trace_text(trace_expect(&t, WEFT_EVENT_LABEL, none, 0)->text, "literal");
	trace_text(trace_expect(&t, WEFT_EVENT_LABEL, none, 0)->text, "12345678");
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, none, 0)->text, "literal");
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, none, 0)->text, "2345678");
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, none, 0)->text, "");
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, none, 0)->text, "");
	assert_false(trace_expect(&t, WEFT_EVENT_TAG, none, 0)->has_value);
	trace_text(trace_expect(&t, WEFT_EVENT_TAG, none, 0)->text, "12345678");
	const struct weft_event *e = trace_expect(&t, WEFT_EVENT_TAG, none, 0);
	trace_text(e->text, "level");
	assert_true(e->has_value && e->value == -3);
	e = trace_expect(&t, WEFT_EVENT_TAG, 4, 0);
	trace_text(e->text, "12345678");
	assert_true(e->has_value && e->value == INT64_MIN);
	e = trace_expect(&t, WEFT_EVENT_BAND, none, 0);
	assert_true(e->flag && e->band == WEFT_BAND_IDLE);
	trace_text(e->text, "poll");
	e = trace_expect(&t, WEFT_EVENT_BAND, none, 0);
	assert_false(e->flag);
	trace_text(e->text, "12345678");
	assert_int_equal(trace_expect(&t, WEFT_EVENT_BAND, none, 0)->band, WEFT_BAND_GC);
	e = trace_expect(&t, WEFT_EVENT_COUNTER, none, 0);
	trace_text(e->text, "bytes");
	assert_true(!e->is_set && e->value == -7);
	e = trace_expect(&t, WEFT_EVENT_COUNTER, none, 0);
	trace_text(e->text, "12345678");
	assert_true(e->is_set && e->value == INT64_MAX);
	assert_true(trace_expect(&t, WEFT_EVENT_COUNTER, 4, 0)->is_set);
	trace_close(&t);
}

static void a_place_with_changing_text_is_no_literal(void **state)
{
	struct trace t;
	static const char *const names[] = {"one", "two", "three"};
	for (int i = 0; i < 3; i++)
		weft_tag(names[i]);
	for (int i = 0; i < 3; i++)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wstring-plus-int"
#endif
		weft_tag("literal" + i); /* begins like a literal, and is none */
#ifdef __clang__
#pragma clang diagnostic pop
#endif
	for (int i = 0; i < 3; i++) /* begins and ends like one */
		weft_tag("t"[0] == names[i][0] ? "same" : "other");
	trace_read_back(&t, state);
	for (int i = 0; i < 3; i++)
		trace_text(trace_expect(&t, WEFT_EVENT_TAG, WEFT_TASK_NONE, 0)->text, names[i]);
	for (int i = 0; i < 3; i++)
		trace_text(trace_expect(&t, WEFT_EVENT_TAG, WEFT_TASK_NONE, 0)->text, &"literal"[i]);
	for (int i = 0; i < 3; i++)
		trace_text(
			trace_expect(&t, WEFT_EVENT_TAG, WEFT_TASK_NONE, 0)->text, i > 0 ? "same" : "other");
	trace_close(&t);
}

static void long_text_is_cut_between_characters(void **state)
{
	struct trace t;
	char *text = malloc(5000);
	for (int i = 0; i + 1 < 5000; i += 2)
		memcpy(text + i, "\xc3\xa9", 2); /* é */
	text[4998] = '\0';
	weft_note(text);
	weft_fail(3, text);
	trace_read_back(&t, state);
	for (int i = 0; i < 2; i++) {
		assert_true(trace_next(&t));
		struct weft_slice cut = t.event.text;
		assert_in_range(cut.size, 1990, 2040);
		assert_memory_equal(cut.bytes + cut.size - 3, "\xe2\x80\xa6", 3);
		assert_int_equal((cut.size - 3) % 2, 0);
		assert_memory_equal(cut.bytes, text, cut.size - 3);
	}
	assert_int_equal(t.event.other, 3);
	trace_close(&t);
	free(text);
}

static void notes_are_formatted_by_the_reader(void **state)
{
	struct trace t;
	weft_notef("plain");
	weft_notef("%d of %u, %s", -5, 7u, "text");
	weft_notef("[%5d|%-5d|%05d|%+d]", 42, 42, 42, 42);
	weft_notef("%x %X %#o %c %%", 255, 255, 8, 'z');
	weft_notef("%hhu %hd %u", (unsigned char)200, (short)-2, (unsigned)-1);
	weft_notef("%ld %llu %zu", -1L, 18446744073709551615ull, (size_t)3);
	weft_notef("%.2f %g %e", 3.14159, 0.5f, 1e300);
	weft_notef("%10.3s|%-6s|", "abcdef", "xy");
	weft_notef("%p", (void *)0x10);
	weft_notef_as(9, "%d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8);
	trace_read_back(&t, state);

	static const char *const expected[] = {
		"plain",
		"-5 of 7, text",
		"[   42|42   |00042|+42]",
		"ff FF 010 z %",
		"200 -2 4294967295",
		"-1 18446744073709551615 3",
		"3.14 0.5 1.000000e+300",
		"       abc|xy    |",
		"0x10",
	};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		trace_text(trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->text, expected[i]);
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, 9, 0)->text, "1 2 3 4 5 6 7 8");
	trace_close(&t);
}

static void kinds_have_names(void **state)
{
	struct trace t;
	uint16_t job = weft_kind("job");
	assert_true(job >= 256);
	assert_int_equal(weft_kind("job"), job);
	for (int i = 0; i < 2; i++)
		weft_create_as(9, weft_kind("job")); /* the second time from the cache */
	weft_create_as(9, weft_kind("other"));
	weft_rundown_task(7, job, NULL, WEFT_AGE_UNKNOWN, WEFT_TASK_NONE);
	weft_create_as(9, 60000);
	weft_create_as(9, (uint16_t)(job + 1));
	weft_create_as(9, UINT16_MAX - 1);
	assert_int_equal(weft_kind(""), WEFT_KIND_UNKNOWN);
	trace_read_back(&t, state);
	static const char *const names[] = {"job", "job", "other", "job", "", "", ""};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(trace_next(&t));
		trace_text(t.event.kind_name, names[i]);
	}
	assert_int_equal(weft_kind("job"), WEFT_KIND_UNKNOWN); /* recording has ended */
	trace_close(&t);
}

static void labels_are_formatted_by_the_reader(void **state)
{
	struct trace t;
	char text[] = "text";
	weft_labelf("GET %s", text);
	memcpy(text, "gone", 4);
	weft_labelf_as(9, "%d", 7);
	weft_labelf_as(9, "plain");
	trace_read_back(&t, state);
	trace_text(trace_expect(&t, WEFT_EVENT_LABEL, WEFT_TASK_NONE, 0)->text, "GET text");
	trace_text(trace_expect(&t, WEFT_EVENT_LABEL, 9, 0)->text, "7");
	trace_text(trace_expect(&t, WEFT_EVENT_LABEL, 9, 0)->text, "plain");
	trace_close(&t);
}

/* The text is a page's last bytes, so that a read behind it would fault. */
static void texts_with_a_size_need_no_nul(void **state)
{
	struct trace t;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	char *text = pages + page - 5;
	memcpy(text, "hello", 5);
	weft_label_n(text, 5);
	weft_label_n_as(9, text, 4);
	weft_note_n(text, 5);
	weft_note_n_as(9, text, 0);
	weft_note_n("ends\0 before its size", 20);
	munmap(pages, 2 * page);
	trace_read_back(&t, state);
	trace_text(trace_expect(&t, WEFT_EVENT_LABEL, WEFT_TASK_NONE, 0)->text, "hello");
	trace_text(trace_expect(&t, WEFT_EVENT_LABEL, 9, 0)->text, "hell");
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->text, "hello");
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, 9, 0)->text, "");
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->text, "ends");
	trace_close(&t);
}

static void long_values_leave_room_for_the_others(void **state)
{
	struct trace t;
	char text[3000];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	weft_mark("m", "a", text, "b", text, "c", 5);
	trace_read_back(&t, state);
	const struct weft_event *e = trace_expect(&t, WEFT_EVENT_MARK, WEFT_TASK_NONE, 0);
	assert_int_equal(e->field_count, 3);
	assert_in_range(e->fields[0].value.text.size, 600, 700);
	assert_in_range(e->fields[1].value.text.size, 600, 700);
	assert_int_equal(e->fields[2].value.i64, 5);
	trace_close(&t);
}

/* A name of 1 byte and a field's name fill all bytes that a name may have, with a NUL after each;
 * one byte more does not fit. */
static void names_of_a_mark_fill_their_room(void **state)
{
	struct trace t;
	char key[WEFT_ABI_NAME_MAX_BYTES];
	const char *const names[] = {"m", key};
	const struct weft_value one = weft__i64(1), two = weft__i64(2);
	memset(key, 'k', sizeof(key));
	key[sizeof(key) - 3] = 0;
	weft__mark(WEFT_TASK_CURRENT, NULL, names, 1, &one);
	key[sizeof(key) - 3] = 'k';
	key[sizeof(key) - 2] = 0;
	weft__mark(WEFT_TASK_CURRENT, NULL, names, 1, &two);
	weft_mark("n", "key", 3);
	trace_read_back(&t, state);
	const struct weft_event *mark = trace_expect(&t, WEFT_EVENT_MARK, WEFT_TASK_NONE, 0);
	assert_int_equal(mark->field_count, 1);
	assert_int_equal(mark->fields[0].name.size, sizeof(key) - 3);
	assert_int_equal(mark->fields[0].value.i64, 1);
	mark = trace_expect(&t, WEFT_EVENT_MARK, WEFT_TASK_NONE, 0);
	assert_int_equal(mark->fields[0].value.i64, 3);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_TOO_BIG), 1);
	trace_close(&t);
}

static uint64_t tick_by_hand;

static uint64_t read_ticks(void *context)
{
	(void)context;
	return tick_by_hand;
}

/* 24 bytes are left in the first packet when the upper half of the ticks changes. The next event
 * takes 16, and the time record before it 16: both must go to the second packet. */
static void a_time_record_needs_room(void **state)
{
	const struct weft_platform platform = {.ticks = read_ticks, .ticks_hz = 1000000000};
	struct trace t;
	weft_stop();
	tick_by_hand = 1000;
	assert_int_equal(weft_start(*state, WEFT_ABI_BUFFER_MIN_BYTES, &platform), 0);
	const struct weft_abi_buffer *header = *state;
	const struct weft_abi_packet *packet =
		(const void *)((const char *)*state + header->packets_offset);
	weft_resolve_as(1, 2);
	/* Before it are the totals of counters that this process has. */
	unsigned fit = (header->packet_bytes - packet->committed - 24) / 16;
	for (unsigned i = 0; i < fit; i++)
		weft_resolve(i);
	assert_int_equal(packet->committed, header->packet_bytes - 24);
	tick_by_hand += (uint64_t)1 << 32;
	weft_resolve(7);
	assert_int_equal(packet->committed, header->packet_bytes - 24);
	weft_stop();
	trace_open(&t, *state, WEFT_ABI_BUFFER_MIN_BYTES);
	trace_expect(&t, WEFT_EVENT_RESOLVE, 1, 2);
	for (unsigned i = 0; i < fit; i++)
		trace_expect(&t, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, i);
	trace_expect(&t, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 7);
	assert_false(trace_next(&t));
	trace_close(&t);
}

static void marks_have_typed_fields(void **state)
{
	struct trace t;
	const char *path = "/index.html";
	weft_mark("empty");
	weft_mark("request", "bytes", 512, "path", path, "ratio", 0.25, "big", UINT64_MAX);
	const bool is_known = true;
	weft_mark_as(6, "x", "a", 1, "b", 2, "c", 3, "d", 4, "e", 5, "f", is_known);
	trace_read_back(&t, state);

	const struct weft_event *e = trace_expect(&t, WEFT_EVENT_MARK, WEFT_TASK_NONE, 0);
	trace_text(e->text, "empty");
	assert_int_equal(e->field_count, 0);
	e = trace_expect(&t, WEFT_EVENT_MARK, WEFT_TASK_NONE, 0);
	trace_text(e->text, "request");
	assert_int_equal(e->field_count, 4);
	trace_text(e->fields[0].name, "bytes");
	assert_int_equal(e->fields[0].type, WEFT_FIELD_I64);
	assert_int_equal(e->fields[0].value.i64, 512);
	trace_text(e->fields[1].name, "path");
	trace_text(e->fields[1].value.text, "/index.html");
	trace_text(e->fields[2].name, "ratio");
	assert_int_equal(e->fields[2].type, WEFT_FIELD_F64);
	assert_true(fabs(e->fields[2].value.f64 - 0.25) < 1e-12);
	assert_int_equal(e->fields[3].type, WEFT_FIELD_U64);
	assert_true(e->fields[3].value.u64 == UINT64_MAX);
	e = trace_expect(&t, WEFT_EVENT_MARK, 6, 0);
	assert_int_equal(e->field_count, 6);
	trace_text(e->fields[5].name, "f");
	assert_int_equal(e->fields[5].type, WEFT_FIELD_BOOL);
	assert_int_equal(e->fields[5].value.u64, 1);
	trace_close(&t);
}

static void names_are_kept_once(void **state)
{
	char text[16];
	for (int i = 0; i < 50000; i++) {
		snprintf(text, sizeof(text), "counter-%d", i % 10);
		weft_counter_add(text, 1);
	}
	struct trace t;
	trace_read_back(&t, state);
	uint64_t count = 0;
	while (trace_next(&t))
		count++;
	assert_int_equal(count + trace_loss(&t, WEFT_LOSS_OVERWRITTEN), 50000);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_NAMES_FULL), 0);
	trace_close(&t);
}

/* Two words with one FNV-1a hash and one length. */
static void names_with_one_hash_are_two(void **state)
{
	for (int round = 0; round < 2; round++) {
		weft_counter_add("declinate", 1);
		weft_counter_add("macallums", 2);
	}
	struct trace t;
	trace_read_back(&t, state);
	for (int round = 0; round < 2; round++) {
		assert_true(trace_next(&t));
		trace_text(t.event.text, "declinate");
		assert_true(trace_next(&t));
		trace_text(t.event.text, "macallums");
	}
	trace_close(&t);
}

static void a_full_table_refuses_counters(void **state)
{
	char text[64];
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "a counter with a rather long name, number %d", i);
		weft_counter_add(text, 1);
	}
	weft_label("a literal goes into the event then");
	struct trace t;
	trace_read_back(&t, state);
	uint64_t counters = 0;
	while (trace_next(&t) && t.event.type == WEFT_EVENT_COUNTER)
		counters++;
	assert_int_equal(t.event.type, WEFT_EVENT_LABEL);
	trace_text(t.event.text, "a literal goes into the event then");
	assert_in_range(counters, 100, 4000);
	assert_int_equal(counters + trace_loss(&t, WEFT_LOSS_NAMES_FULL), 5001);
	trace_close(&t);
}

/* Names of up to 8 bytes take 16 each. */
static void the_table_of_names_is_used_to_its_end(void **state)
{
	const struct weft_abi_buffer *header = *state;
	char name[9];
	for (int i = 0; header->losses[WEFT_ABI_LOSS_NAMES_FULL] == 0; i++) {
		snprintf(name, sizeof(name), "%d", i % 10000000);
		weft_counter_add(name, 1);
	}
	assert_int_equal(header->names_used, header->names_bytes - header->names_index * 4);
}

/* So a buffer holds nothing else of the program's memory. */
static void text_is_padded_with_zeros(void **state)
{
	static const char text[8] = "padded?";
	const char *bytes = *state;
	size_t at = 0;
	weft_note_n("padded", 6);
	weft_notef("%s", "padded");
	for (unsigned found = 0; found < 2; at += 8) {
		assert_true(at < TRACE_BYTES);
		if (memcmp(bytes + at, text, 6) != 0)
			continue;
		assert_int_equal(bytes[at + 6], 0);
		assert_int_equal(bytes[at + 7], 0);
		found++;
	}
}

static const uint64_t *find_word(const uint64_t *words, size_t count, uint64_t wanted)
{
	for (size_t i = 0; i < count; i++)
		if (words[i] == wanted)
			return &words[i];
	fail();
	return NULL;
}

static void texts_of_each_size_are_whole_and_padded(void **state)
{
	static const char text[] = "text of any size, whole";
	for (uint32_t size = 1; size < sizeof(text); size++) {
		uint64_t task = 0x7700000000 + size;
		char padded[24] = {0};
		weft_label_n_as(task, text, size);
		const uint64_t *found = find_word((const uint64_t *)*state, TRACE_BYTES / 8, task);
		memcpy(padded, text, size);
		assert_memory_equal(found + 1, padded, (size + 7) / 8 * 8);
		assert_int_equal(found[-1] >> 40 & 0xff, 2 + (size + 7) / 8);
	}
}

static void text_that_just_fits_is_whole(void **state)
{
	enum {
		ROOM = (255 - 2) * 8 /* the event's words, but for its head and its task */
	};
	char text[ROOM + 2];
	struct trace t;
	memset(text, 'x', sizeof(text));
	text[ROOM] = '\0';
	weft_label_as(7, text);
	text[ROOM] = 'x';
	text[ROOM + 1] = '\0';
	weft_label_as(7, text);
	trace_read_back(&t, state);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_LABEL, 7, 0)->text.size, ROOM);
	assert_int_equal(t.event.text.bytes[ROOM - 1], 'x');
	trace_expect(&t, WEFT_EVENT_LABEL, 7, 0);
	assert_memory_equal(t.event.text.bytes + t.event.text.size - 3, "\xe2\x80\xa6", 3);
	trace_close(&t);
}

/* Each of several long texts gets a part of the room: the event is whole, and as long as it may be
 * at most. */
static void long_values_of_a_mark_share_the_room(void **state)
{
	static char text[5000];
	const char *names[] = {"mark", "a", "b", "c", "d"};
	struct weft_value values[4];
	struct trace t;
	memset(text, 'v', sizeof(text) - 1);
	for (unsigned i = 0; i < 4; i++)
		values[i] = (struct weft_value){WEFT_VALUE_TEXT, sizeof(text) - 1, {.text = text}};
	for (uint32_t count = 1; count <= 4; count++)
		weft__mark(WEFT_TASK_CURRENT, NULL, names, count, values);
	trace_read_back(&t, state);
	for (uint32_t count = 1; count <= 4; count++) {
		uint32_t words = 0;
		assert_true(trace_next(&t));
		assert_int_equal(t.event.field_count, count);
		for (uint32_t i = 0; i < count; i++) {
			struct weft_slice value = t.event.fields[i].value.text;
			assert_memory_equal(value.bytes + value.size - 3, "\xe2\x80\xa6", 3);
			assert_true(value.size > 250 * 8 / count - 50);
			words += 1 + (value.size + 7) / 8;
		}
		assert_in_range(words, 200, 254);
	}
	trace_close(&t);
}

/* The names of a mark and its fields are joined in a buffer of 1024 bytes, each with a NUL. */
static void names_of_a_mark_that_just_fit_are_recorded(void **state)
{
	char name[1022];
	const char *names[] = {name, "nn"};
	const struct weft_value value = {WEFT_VALUE_I64, 0, {.i64 = 5}};
	struct trace t;
	memset(name, 'm', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	weft__mark(WEFT_TASK_CURRENT, NULL, names, 1, &value);
	names[1] = "n";
	weft__mark(WEFT_TASK_CURRENT, NULL, names, 1, &value);
	trace_read_back(&t, state);
	assert_true(trace_next(&t));
	assert_int_equal(t.event.text.size, 1021);
	trace_text(t.event.fields[0].name, "n");
	assert_int_equal(trace_loss(&t, WEFT_LOSS_TOO_BIG), 1);
	trace_close(&t);
}

static void a_counter_whose_name_is_too_long_is_counted_as_lost(void **state)
{
	char name[1024 + 2];
	struct trace t;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	weft_counter_add(name, 1);
	weft_counter_add(name + 1, 2); /* of 1024 bytes, the maximum */
	weft_stop();
	trace_open(&t, *state, TRACE_BYTES);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_COUNTER, WEFT_TASK_NONE, 0)->value, 2);
	assert_int_equal(t.event.text.size, 1024);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_TOO_BIG), 1);
	trace_close(&t);
}

static void times_are_the_monotonic_clock(void **state)
{
	struct timespec before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	weft_note("now");
	clock_gettime(CLOCK_MONOTONIC, &after);
	struct trace t;
	trace_read_back(&t, state);
	assert_true(trace_next(&t));
	uint64_t low = (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec;
	uint64_t high = (uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec;
	/* The clock's rate from a few readings is accurate to some us. */
	assert_in_range(t.event.time_ns, low - 20000, high + 20000);
	assert_int_equal(weft_decoder_describe(t.decoder)->clock.epoch, WEFT_EPOCH_MONOTONIC);
	trace_close(&t);
}

static uint64_t ticks_now;

static uint64_t test_ticks(void *context)
{
	(void)context;
	return ticks_now;
}

static void a_caller_brings_a_clock(void **state)
{
	const struct weft_platform platform = {.ticks = test_ticks, .ticks_hz = 1000000};
	weft_stop();
	ticks_now = 10;
	assert_int_equal(weft_start(*state, TRACE_BYTES, &platform), 0);
	weft_note("at 10 us");
	ticks_now = 30;
	weft_note("at 30 us");
	ticks_now += (uint64_t)7 << 32; /* longer than a stamp can count */
	weft_note("hours later");
	ticks_now += 5;
	weft_note("5 us later");
	struct trace t;
	trace_read_back(&t, state);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->time_ns, 10000);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->time_ns, 30000);
	uint64_t later = 30000 + ((uint64_t)7 << 32) * 1000;
	assert_int_equal(trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->time_ns, later);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->time_ns, later + 5000);
	assert_int_equal(weft_decoder_describe(t.decoder)->clock.hz, 1000000);
	trace_close(&t);
}

static uint32_t *woken;
static unsigned times_woken;

static void count_wakes(void *context, uint32_t *word)
{
	(void)context;
	woken = word;
	times_woken++;
}

/* Woken after that many claims, not earlier, and once. */
static void a_waiting_follower_is_woken(void **state)
{
	static const struct weft_platform platform = {
		.ticks = test_ticks, .ticks_hz = 1000000, .wake = count_wakes};
	struct weft_abi_buffer *header = *state;
	weft_stop();
	times_woken = 0;
	assert_int_equal(weft_start(*state, TRACE_BYTES, &platform), 0);
	weft_note("a packet is claimed");
	uint64_t first = header->hand;
	header->waiters = (uint32_t)first + 2;
	while (header->hand < first + 1)
		weft_note("until it is full");
	assert_int_equal(times_woken, 0);
	while (header->hand < first + 3)
		weft_note("until two more are");
	assert_int_equal(times_woken, 1);
	assert_ptr_equal(woken, &header->waiters);
	assert_int_equal(header->waiters, 0);
	while (header->hand < first + 8)
		weft_note("nobody waits any more");
	assert_int_equal(times_woken, 1);
}

static void nothing_is_recorded_while_it_is_off(void **state)
{
	weft_note("on");
	weft_stop();
	assert_false(weft_is_recording());
	assert_true(weft_create(WEFT_KIND_TASK) < weft_create(WEFT_KIND_TASK));
	weft_note("off");
	weft_tag_value("off", 1);
	weft_switch(4);
	assert_true(weft_current() == WEFT_TASK_NONE);
	weft_stop();
	struct trace t;
	trace_open(&t, *state, TRACE_BYTES);
	trace_text(trace_expect(&t, WEFT_EVENT_NOTE, WEFT_TASK_NONE, 0)->text, "on");
	trace_close(&t);
	/* After another trace_start, literals get names again. */
	assert_int_equal(weft_start(*state, TRACE_BYTES, NULL), 0);
	for (int i = 0; i < 2; i++)
		weft_tag("again");
	trace_read_back(&t, state);
	trace_text(trace_expect(&t, WEFT_EVENT_TAG, WEFT_TASK_NONE, 0)->text, "again");
	trace_text(trace_expect(&t, WEFT_EVENT_TAG, WEFT_TASK_NONE, 0)->text, "again");
	trace_close(&t);
}

static void a_buffer_must_be_large_and_aligned(void **state)
{
	assert_int_equal(weft_start(*state, TRACE_BYTES, NULL), WEFT_ERROR_STATE);
	weft_stop();
	assert_int_equal(weft_start(*state, 65535, NULL), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_start((char *)*state + 8, 70000, NULL), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_start(NULL, TRACE_BYTES, NULL), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_start(*state, 65536, NULL), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, trace_start, trace_stop)
	const struct CMUnitTest tests[] = {
		CASE(events_of_the_current_task),
		CASE(events_of_another_task),
		CASE(a_resource_is_taken_and_given_back),
		CASE(a_wait_for_any_is_an_event_for_each),
		CASE(spans_by_call_and_by_block),
		CASE(a_level_filters_whole_spans),
		CASE(spans_of_other_clocks_are_placed),
		CASE(a_track_without_a_name_is_refused),
		CASE(texts_literal_and_not),
		CASE(a_place_with_changing_text_is_no_literal),
		CASE(long_text_is_cut_between_characters),
		CASE(notes_are_formatted_by_the_reader),
		CASE(labels_are_formatted_by_the_reader),
		CASE(kinds_have_names),
		CASE(texts_with_a_size_need_no_nul),
		CASE(long_values_leave_room_for_the_others),
		CASE(marks_have_typed_fields),
		CASE(names_of_a_mark_fill_their_room),
		CASE(a_time_record_needs_room),
		CASE(names_are_kept_once),
		CASE(names_with_one_hash_are_two),
		CASE(a_full_table_refuses_counters),
		CASE(a_counter_whose_name_is_too_long_is_counted_as_lost),
		CASE(the_table_of_names_is_used_to_its_end),
		CASE(text_is_padded_with_zeros),
		CASE(texts_of_each_size_are_whole_and_padded),
		CASE(text_that_just_fits_is_whole),
		CASE(long_values_of_a_mark_share_the_room),
		CASE(names_of_a_mark_that_just_fit_are_recorded),
		CASE(times_are_the_monotonic_clock),
		CASE(a_caller_brings_a_clock),
		CASE(a_waiting_follower_is_woken),
		CASE(nothing_is_recorded_while_it_is_off),
		CASE(a_buffer_must_be_large_and_aligned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
