/* SPDX-License-Identifier: ISC
 *
 * Processes that are suspended by SIGSTOP.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "loaded.h"
#include "story/suspended.h"

enum {
	TASK = 1,  /* of each process */
	CHILD = 1, /* the buffer */
	PARENT = 0,
};

/* A parent, process 10, and its child 11, whose thread is 12 as well. Another host, or the same one
 * later, has a process 11, too. */
static struct made begin_processes_on(const char *host)
{
	static struct weft_trace_buffer buffers[] = {
		{.process = "parent", .host = "here", .file = "", .pid = 10, .end_ns = 1000},
		{.process = "child", .host = "here", .file = "", .pid = 11, .end_ns = 1000},
		{.process = "other", .host = "there", .file = "", .pid = 11, .end_ns = 1000}};
	static const struct weft_trace_thread threads[] = {{.name = "parent", .tid = 10},
		{.name = "child", .tid = 12, .buffer = CHILD}, {.name = "other", .tid = 12, .buffer = 2}};
	struct made made = make_begin();
	buffers[2].host = host;
	made.buffers = buffers;
	made.buffer_count = 3;
	made.threads = threads;
	made.thread_count = 3;
	for (uint32_t i = 0; i < 3; i++) {
		made.thread = made.buffer = i;
		make_create(&made, WEFT_TASK_NONE, TASK, WEFT_KIND_THREAD);
		make_switch(&made, TASK);
	}
	return made;
}

static struct made begin_processes(void)
{
	return begin_processes_on("there");
}

static void make_note(struct made *made, uint32_t buffer, uint64_t time, const char *text)
{
	made->time = time;
	made->thread = made->buffer = buffer;
	make(made,
		(struct weft_event){.type = WEFT_EVENT_NOTE, .task = TASK, .text = {text, strlen(text)}});
}

/* When the process of a buffer was suspended; 0: it is not. Frees the trace. */
static uint64_t suspended_at(struct made *made, uint32_t buffer, uint64_t at)
{
	made->time = 1000;
	make_create(made, WEFT_TASK_NONE, 9, WEFT_KIND_TASK);
	struct loaded loaded = make_end(made);
	struct weft__suspension *by_buffer;
	assert_int_equal(weft__story_find_suspended(loaded.model, at, &by_buffer), 0);
	const uint32_t task = weft_model_find_task(loaded.model, buffer, TASK);
	const bool is = weft__story_is_suspended(loaded.model, by_buffer, task);
	const uint64_t time = is ? by_buffer[buffer].time : 0;
	free(by_buffer);
	loaded_finish(&loaded);
	return time;
}

static void a_process_is_suspended_by_another(void **state)
{
	(void)state;
	struct made made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	assert_int_equal(suspended_at(&made, CHILD, 500), 100);
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	assert_int_equal(suspended_at(&made, 2, 500), 0); /* the other host's */
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	make_note(&made, PARENT, 110, "kill: EPERM");
	assert_int_equal(suspended_at(&made, CHILD, 500), 0);
	made = begin_processes();
	make_note(&made, PARENT, 90, "SIGSTOP to process 99");
	make_note(&made, PARENT, 95, "kill: ESRCH");
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	assert_int_equal(suspended_at(&made, CHILD, 500), 100);
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	assert_int_equal(suspended_at(&made, PARENT, 500), 0);
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	assert_int_equal(suspended_at(&made, CHILD, 99), 0);
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	assert_int_equal(suspended_at(&made, CHILD, 100), 100);
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	assert_int_equal(suspended_at(&made, CHILD, 1000), 100); /* at the end of the trace */
}

static void a_process_suspends_itself(void **state)
{
	(void)state;
	struct made made = begin_processes();
	make_note(&made, CHILD, 100, "SIGSTOP to thread 12");
	assert_int_equal(suspended_at(&made, CHILD, 500), 100);
	made = begin_processes();
	make_note(&made, CHILD, 100, "SIGSTOP to thread 12");
	assert_int_equal(suspended_at(&made, 2, 500), 0);
}

static void after_exec_the_later_program_is_suspended(void **state)
{
	(void)state;
	for (uint32_t buffer = CHILD; buffer <= 2; buffer++) {
		struct made made = begin_processes_on("here");
		make_note(&made, PARENT, 100, "SIGSTOP to process 11");
		assert_int_equal(suspended_at(&made, buffer, 500), buffer == 2 ? 100 : 0);
	}
}

static void a_process_goes_on(void **state)
{
	(void)state;
	struct made made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	make_note(&made, PARENT, 100, "SIGCONT to process 11");
	assert_int_equal(suspended_at(&made, CHILD, 500), 0);
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	make_note(&made, PARENT, 200, "SIGCONT to process 11");
	make_note(&made, PARENT, 300, "SIGSTOP to process 11");
	assert_int_equal(suspended_at(&made, CHILD, 500), 300);
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	make_note(&made, PARENT, 200, "SIGCONT to process 11");
	assert_int_equal(suspended_at(&made, CHILD, 150), 100);
	made = begin_processes();
	make_note(&made, PARENT, 100, "SIGSTOP to process 11");
	made.time = 200;
	made.thread = made.buffer = CHILD;
	make_switch(&made, WEFT_TASK_NONE);
	make_switch(&made, TASK);
	assert_int_equal(suspended_at(&made, CHILD, 500), 0); /* it runs, so a debugger let it */
	for (uint64_t at = 199; at <= 200; at++) {
		made = begin_processes();
		make_note(&made, PARENT, 100, "SIGSTOP to process 11");
		made.time = 200;
		made.thread = made.buffer = CHILD;
		make_switch(&made, WEFT_TASK_NONE);
		assert_int_equal(suspended_at(&made, CHILD, at), at < 200 ? 100 : 0); /* it waits since */
	}
}

static void other_notes_suspend_nobody(void **state)
{
	static const char *const notes[] = {"SIGTERM to process 11", "SIGSTOP to process ",
		"SIGSTOP to process 11x", "SIGSTOP to process 99", "SIGSTOP to several processes",
		"SIGSTOP from process 11"};
	(void)state;
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		struct made made = begin_processes();
		make_note(&made, PARENT, 100, notes[i]);
		assert_int_equal(suspended_at(&made, CHILD, 500), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_suspended_by_another),
		cmocka_unit_test(a_process_suspends_itself),
		cmocka_unit_test(after_exec_the_later_program_is_suspended),
		cmocka_unit_test(a_process_goes_on),
		cmocka_unit_test(other_notes_suspend_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
