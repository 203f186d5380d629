/* SPDX-License-Identifier: ISC
 *
 * A task belongs to the category of the call that creates it.
 */
#include "record_trace.h"

WEFT_CATEGORY_DEFINE(net, "net", "connections");
WEFT_CATEGORY_DEFINE(disk, "disk", "files");

/* Returns the other task of the next event, which must have this type and actor. */
static uint64_t expect(struct trace *t, enum weft_event_type type, uint64_t task)
{
	assert_true(trace_next(t));
	assert_int_equal(t->event.type, type);
	assert_true(t->event.task == task);
	return t->event.other;
}

/* Expects the creation of a task by the task 9, or by none if `parent` is false. */
static void expect_create(
	struct trace *t, unsigned kind, const char *name, const char *category, bool parent)
{
	expect(t, WEFT_EVENT_CREATE, parent ? 9 : WEFT_TASK_NONE);
	if (kind)
		assert_int_equal(t->event.kind, kind);
	trace_text(t->event.kind_name, name);
	trace_text(t->event.category, category);
}

static void files_of_the_program_name_no_category(void **state)
{
	struct trace t;
	weft_create(WEFT_KIND_LOCK);
	weft_create_as(9, weft_kind("job"));
	weft_rundown_task(7, WEFT_KIND_LOCK, "label", 3, WEFT_TASK_NONE);
	trace_read_back(&t, state);
	expect_create(&t, WEFT_KIND_LOCK, "", "", false);
	expect_create(&t, 0, "job", "", true);
	assert_true(trace_next(&t));
	trace_text(t.event.category, "program");
	trace_text(t.event.text, "label");
	trace_close(&t);
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY net

static void tasks_are_of_their_files_category(void **state)
{
	struct trace t;
	weft_create(WEFT_KIND_LOCK);
	weft_create_as(9, WEFT_KIND_TIMER);
	for (int i = 0; i < 2; i++)
		weft_create_as(9, weft_kind("job")); /* the second time from the cache */
	weft_create(200);
	weft_rundown_task(7, WEFT_KIND_LOCK, "label", 3, 8);
	weft_rundown_task(7, weft_kind("job"), NULL, WEFT_AGE_UNKNOWN, WEFT_TASK_NONE);
	trace_read_back(&t, state);
	expect_create(&t, WEFT_KIND_LOCK, "", "net", false);
	expect_create(&t, WEFT_KIND_TIMER, "", "net", true);
	expect_create(&t, 0, "job", "net", true);
	expect_create(&t, 0, "job", "net", true);
	expect_create(&t, 200, "", "net", false);
	for (int i = 0; i < 2; i++) {
		assert_true(trace_next(&t));
		assert_int_equal(t.event.type, WEFT_EVENT_ALIVE);
		trace_text(t.event.category, "net");
		trace_text(t.event.text, i ? "" : "label");
		assert_true(t.event.other == (i ? WEFT_TASK_NONE : 8));
	}
	trace_close(&t);
}

static void operations_too(void **state)
{
	struct trace t;
	for (int i = 0; i < 3; i++) {
		uint64_t operation = weft_operation_begin_as(i < 2 ? WEFT_TASK_CURRENT : 9, "read");
		weft_operation_end(operation, WEFT_TASK_NONE);
	}
	trace_read_back(&t, state);
	for (int i = 0; i < 3; i++) {
		expect_create(&t, WEFT_KIND_PROMISE, "", "net", i == 2);
		uint64_t operation = t.event.other;
		expect(&t, WEFT_EVENT_LABEL, operation);
		trace_text(t.event.text, "read");
		assert_true(expect(&t, WEFT_EVENT_TRY_READ, i < 2 ? WEFT_TASK_NONE : 9) == operation);
		assert_true(expect(&t, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE) == operation);
	}
	assert_false(trace_next(&t));
	trace_close(&t);
}

/* The rest of a packet is too small for a create event of three words, again and again. */
static void no_packet_is_too_full(void **state)
{
	struct trace t;
	enum {
		COUNT = 5000
	};
	for (int i = 0; i < COUNT; i++)
		weft_create(WEFT_KIND_TASK);
	trace_read_back(&t, state);
	for (int i = 0; i < COUNT; i++)
		expect_create(&t, WEFT_KIND_TASK, "", "net", false);
	assert_false(trace_next(&t));
	trace_close(&t);
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY disk

static void a_kind_of_another_category_is_another_kind(void **state)
{
	struct trace t;
	weft_create(weft_kind("job"));
	weft_set_level("disk", WEFT_LEVEL_OFF);
	assert_true(weft_create(WEFT_KIND_TASK) > 0);
	trace_read_back(&t, state);
	expect_create(&t, 0, "job", "disk", false);
	assert_false(trace_next(&t));
	trace_close(&t);
	weft_set_level("disk", WEFT_LEVEL_INFO);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, trace_start, trace_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(files_of_the_program_name_no_category),
		CASE(tasks_are_of_their_files_category),
		CASE(operations_too),
		CASE(no_packet_is_too_full),
		CASE(a_kind_of_another_category_is_another_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
