/* SPDX-License-Identifier: ISC
 *
 * Facts about what the adapters could not record, as readers list it.
 */
#include "record_trace.h"

#include <stdio.h>

#include <weft/buffer.h>
#include <weft/unseen.h>

#include "record/recorder.h"

static void assert_sentence(const struct weft_unseen *fact, const char *expected)
{
	char text[WEFT_UNSEEN_SENTENCE_BYTES];
	assert_int_equal(weft_unseen_sentence(fact, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

static void facts_have_sentences(void **state)
{
	(void)state;
	const char *at = "dlmopen\t/lib/x.so\nthreads\t2 threads\nlater\tthing\n";
	struct weft_unseen fact;
	assert_true(weft_unseen_next(&at, &fact));
	assert_int_equal(fact.kind, WEFT_UNSEEN_DLMOPEN);
	assert_sentence(&fact, "library /lib/x.so, loaded by dlmopen with a C library of its own: its "
						   "calls are not recorded");
	assert_true(weft_unseen_next(&at, &fact));
	assert_int_equal(fact.kind, WEFT_UNSEEN_THREADS);
	assert_true(weft_unseen_next(&at, &fact));
	assert_int_equal(fact.kind, WEFT_UNSEEN_KINDS);
	assert_sentence(&fact, "later is not recorded: thing");
	assert_false(weft_unseen_next(&at, &fact));
	at = NULL;
	assert_false(weft_unseen_next(&at, &fact));
}

static void a_short_buffer_is_not_overrun(void **state)
{
	(void)state;
	const char *at = "static\t/bin/x\n";
	struct weft_unseen fact;
	char text[9] = "12345678";
	assert_true(weft_unseen_next(&at, &fact));
	assert_int_equal(weft_unseen_sentence(&fact, text, 8),
		strlen("program /bin/x is not recorded: it is statically linked"));
	assert_string_equal(text, "program");
}

static void equal_facts_are_one(void **state)
{
	(void)state;
	const struct weft_trace_buffer buffers[] = {
		{.process = "sh", .unseen = "static\t/bin/x\nstatic\t/bin/y\n"},
		{.process = "make"},
		{.process = "sh", .unseen = "static\t/bin/x\n"},
	};
	struct weft_unseen_list list;
	weft_unseen_collect(&list, buffers, 3);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.list[0].buffer, 0);
	assert_int_equal(list.list[0].buffers, 2);
	assert_int_equal(list.list[1].buffers, 1);
	assert_int_equal(list.more, 0);
}

static void a_program_that_records_itself_is_seen(void **state)
{
	(void)state;
	const struct weft_trace_buffer buffers[] = {
		{.process = "sh", .unseen = "static\t/bin/x\ndeepbind\t/lib/x\nstatic\t/bin/xx\n"},
		{.process = "x"},
	};
	struct weft_unseen_list list;
	weft_unseen_collect(&list, buffers, 2);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.list[0].kind, WEFT_UNSEEN_DEEPBIND);
	assert_memory_equal(list.list[1].what.bytes, "/bin/xx", 7);
}

static void the_list_is_limited(void **state)
{
	(void)state;
	char facts[(WEFT_UNSEEN_MAX + 3) * 16] = "";
	struct weft_unseen_list list = {0};
	for (int i = 0; i < WEFT_UNSEEN_MAX + 3; i++)
		sprintf(facts + strlen(facts), "static\tx%d\n", i);
	weft_unseen_add(&list, facts, 0);
	assert_int_equal(list.count, WEFT_UNSEEN_MAX);
	assert_int_equal(list.more, 3);
}

/* "-" takes a fact back, also if it is recorded again. */
static void a_fact_can_be_taken_back(void **state)
{
	(void)state;
	enum {
		SIZE = 64 << 10
	};
	static const char *const recorded[][2] = {{"static", "/bin/x"}, {"static", "/bin/y"},
		{"-static", "/bin/x"}, {"static", "/bin/x"}, {"-libc", "/bin/y"}, {"filter", "a\nb"}};
	void *buffer = trace_buffer(SIZE);
	char *unseen = NULL;
	assert_int_equal(weft_start(buffer, SIZE, weft__platform_default()), 0);
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		weft__unseen(recorded[i][0], recorded[i][1]);
	weft_stop();
	assert_int_equal(weft_buffer_read_unseen(buffer, SIZE, &unseen), 0);
	assert_string_equal(unseen, "static\t/bin/y\n");
	free(unseen);
	assert_true(weft_buffer_read_unseen("no buffer", 9, &unseen) < 0);
	free(buffer);
}

/* The names of events have room, however many facts there are. */
static void facts_leave_room_for_names(void **state)
{
	(void)state;
	enum {
		SIZE = 64 << 10,
		NAMES = 4
	};
	static char names[NAMES][16];
	void *buffer = trace_buffer(SIZE);
	struct trace t;
	assert_int_equal(weft_start(buffer, SIZE, weft__platform_default()), 0);
	for (unsigned i = 0; i < 2000; i++) {
		char what[64];
		snprintf(what, sizeof(what), "/a/rather/long/path/of/the/library/%u", i);
		weft__unseen("deepbind", what);
	}
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(names[i], sizeof(names[i]), "counter %u", i);
		weft_counter_set(names[i], 1);
	}
	weft_stop();
	trace_open(&t, buffer, SIZE);
	for (unsigned i = 0; i < NAMES; i++)
		trace_text(trace_expect(&t, WEFT_EVENT_COUNTER, WEFT_TASK_NONE, 0)->text, names[i]);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_NAMES_FULL), 0);
	trace_close(&t);
	free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_have_sentences),
		cmocka_unit_test(a_short_buffer_is_not_overrun),
		cmocka_unit_test(equal_facts_are_one),
		cmocka_unit_test(a_program_that_records_itself_is_seen),
		cmocka_unit_test(the_list_is_limited),
		cmocka_unit_test(a_fact_can_be_taken_back),
		cmocka_unit_test(facts_leave_room_for_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
