/* SPDX-License-Identifier: ISC
 *
 * When processes of a trace end that did not store it themselves: model/ends.h.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "loaded.h"

#define BUFFERS 3
#define END_NS  1000

/* Each buffer has one thread, which runs its only task. */
static const struct weft_trace_thread threads[BUFFERS] = {
	{.name = "a", .buffer = 0}, {.name = "b", .buffer = 1}, {.name = "c", .buffer = 2}};

static void runs_from(struct made *made, uint32_t buffer, uint64_t time)
{
	made->time = time;
	made->buffer = made->thread = buffer;
	make_create(made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	make_switch(made, 1);
}

static struct weft_trace_buffer record_of(uint64_t pid, enum weft_ending ending, uint64_t end_ns)
{
	return (struct weft_trace_buffer){
		.process = "p", .host = "", .file = "", .pid = pid, .ending = ending, .end_ns = end_ns};
}

/* The first buffer begins at 100, the second at 200, the third at 50 and lasts until END_NS. */
static struct weft_model *model_of(
	const struct weft_trace_buffer *first, const struct weft_trace_buffer *second)
{
	struct weft_trace_buffer buffers[BUFFERS] = {
		*first, *second, record_of(1, WEFT_ENDING_EXIT, END_NS)};
	struct made made = make_begin();
	made.buffers = buffers;
	made.buffer_count = BUFFERS;
	made.threads = threads;
	made.thread_count = BUFFERS;
	runs_from(&made, 2, 50);
	runs_from(&made, 0, 100);
	runs_from(&made, 1, 200);
	return make_model(&made);
}

/* The end of the first buffer's task, until which it runs. */
static uint64_t end_of_first(struct weft_model *model)
{
	uint32_t task = 0;
	while (model->tasks.buffer[task] != 0)
		task++;
	uint64_t end = model->tasks.end[task];
	const struct weft_activations *a = &model->activations;
	assert_int_equal(model->tasks.end_activation[task] - model->tasks.first_activation[task], 1);
	assert_int_equal(a->end[model->tasks.first_activation[task]], end);
	return end;
}

static void expect(struct weft_trace_buffer first, struct weft_trace_buffer second, uint64_t end,
	uint64_t end_of_buffer)
{
	struct weft_model *model = model_of(&first, &second);
	assert_int_equal(end_of_first(model), end);
	assert_int_equal(model->buffers[0].end_ns, end_of_buffer);
	weft_model_destroy(model);
}

static void a_program_ends_when_exec_replaces_it(void **state)
{
	(void)state;
	const struct weft_trace_buffer next = record_of(7, WEFT_ENDING_EXIT, 900);
	expect(record_of(7, WEFT_ENDING_GONE, 900), next, 200, 200);
	expect(record_of(7, WEFT_ENDING_UNKNOWN, 0), next, 200, 0);
	/* It is known to have ended before, and the process id was used again. */
	expect(record_of(7, WEFT_ENDING_GONE, 150), next, 150, 150);
}

static void only_the_same_process_is_the_next_one(void **state)
{
	(void)state;
	struct weft_trace_buffer next = record_of(8, WEFT_ENDING_EXIT, 900);
	expect(record_of(7, WEFT_ENDING_GONE, 900), next, 900, 900);
	next.pid = 7;
	next.boot_id[3] = 1;
	expect(record_of(7, WEFT_ENDING_GONE, 900), next, 900, 900);
	/* It said itself that it recorded until then. */
	expect(record_of(7, WEFT_ENDING_EXIT, 900), record_of(7, WEFT_ENDING_EXIT, 900), 900, 900);
}

/* The last event of the one, and the first of the next, have one time. */
static void a_program_may_be_replaced_at_once(void **state)
{
	const struct weft_trace_buffer buffers[] = {
		record_of(7, WEFT_ENDING_GONE, 900), record_of(7, WEFT_ENDING_EXIT, 900)};
	struct made made = make_begin();
	(void)state;
	made.buffers = buffers;
	made.buffer_count = made.thread_count = 2;
	made.threads = threads;
	runs_from(&made, 0, 100);
	made.time = 200;
	make_label(&made, 1, "last");
	runs_from(&made, 1, 200);
	struct weft_model *model = make_model(&made);
	assert_int_equal(model->buffers[0].end_ns, 200);
	assert_int_equal(end_of_first(model), 200);
	weft_model_destroy(model);
}

/* It was killed before anybody watched. */
static void beside_others_a_process_without_an_end_ends_with_its_last_event(void **state)
{
	(void)state;
	expect(record_of(7, WEFT_ENDING_UNKNOWN, 0), record_of(8, WEFT_ENDING_EXIT, 900), 1100, 0);
}

/* Also of an id that is in no table: of another buffer. */
static void an_id_that_is_created_again_is_a_new_task(void **state)
{
	(void)state;
	for (uint32_t buffer = 0; buffer < 2; buffer++) {
		struct made made = make_begin();
		made.buffer = buffer;
		for (unsigned i = 0; i < 3; i++) {
			make_create(&made, 0, 5, WEFT_KIND_TASK);
			make_label(&made, 5, i == 1 ? "second" : "other");
			make_edge(&made, WEFT_EVENT_RESOLVE, 5, 5);
			made.time += 10;
		}
		make_create(&made, 0, 6, WEFT_KIND_TASK);
		make_create(&made, 0, 6, WEFT_KIND_TASK); /* it is alive: a mistake */
		assert_int_equal(made.diagnostics.count, 1);
		struct weft_model *m = make_model(&made);
		assert_int_equal(m->tasks.count, 5);
		assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_FULFILLED], 3);
		assert_int_equal(m->tasks.id[2], 5);
		assert_int_equal(m->tasks.start[2], 10);
		assert_string_equal(weft_model_string(m, m->tasks.label[2]).bytes, "second");
		assert_int_equal(weft_model_find_task(m, buffer, 5), 3);
		weft_model_destroy(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_that_is_created_again_is_a_new_task),
		cmocka_unit_test(a_program_ends_when_exec_replaces_it),
		cmocka_unit_test(a_program_may_be_replaced_at_once),
		cmocka_unit_test(only_the_same_process_is_the_next_one),
		cmocka_unit_test(beside_others_a_process_without_an_end_ends_with_its_last_event),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
