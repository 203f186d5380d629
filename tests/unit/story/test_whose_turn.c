/* SPDX-License-Identifier: ISC
 *
 * Chains and problems that lead to the task that has the thread, to the other end of a pipe, to a
 * signal that was only remembered, and to what ends a gap. In traces that tests make up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/chain.h>
#include <weft/ends.h>
#include <weft/problems.h>

#include "loaded.h"
#include "story/unheard.h"

#define MS UINT64_C(1000000)

static void make_of(struct made *made, uint64_t child, const char *kind, const char *category)
{
	const bool is_lock = strcmp(kind, "lock") == 0;
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = WEFT_TASK_NONE,
				   .other = child,
				   .kind = is_lock ? WEFT_KIND_LOCK : WEFT_KIND_UNKNOWN,
				   .kind_name = {kind, is_lock ? 0 : strlen(kind)},
				   .category = {category, strlen(category)}});
}

static struct weft_chain *chain_of(
	const struct loaded *loaded, uint32_t buffer, uint64_t id, uint64_t at)
{
	struct weft_chain *chain;
	uint32_t task = weft_model_find_task(loaded->model, buffer, id);
	assert_int_not_equal(task, WEFT_NONE);
	assert_int_equal(weft_chain_create(&loaded->story, task, at, WEFT_CHAIN_HOPS, &chain), 0);
	return chain;
}

static const char *hop(const struct loaded *loaded, const struct weft_chain *chain, uint32_t number)
{
	static char text[WEFT_SENTENCE_BYTES];
	assert_true(number < chain->kept);
	weft_chain_hop_sentence(&loaded->story, &chain->hops[number], text, sizeof(text));
	return text;
}

static const char *end(const struct loaded *loaded, const struct weft_chain *chain)
{
	static char text[WEFT_SENTENCE_BYTES];
	weft_chain_end_sentence(&loaded->story, chain, text, sizeof(text));
	return text;
}

/* The problem with that number; "" if there are not so many. */
static const char *problem(const struct loaded *loaded, uint32_t number)
{
	static char text[WEFT_SENTENCE_BYTES + 64];
	struct weft_problems *problems;
	assert_int_equal(weft_problems_create(&loaded->story, &problems), 0);
	text[0] = '\0';
	if (number < problems->count)
		snprintf(text, sizeof(text), "%s: %s", weft_problem_name(problems->list[number].type),
			problems->list[number].sentence);
	weft_problems_destroy(problems);
	return text;
}

/* ---- Threads ---- */

/* An event loop, task 1, runs clients 3 to 8 again and again. Task 2 makes a call that blocks: task
 * 20, which is of an adapter's category, or of the program's. */
static struct loaded blocked_loop_in(const char *kind, const char *category, uint64_t length)
{
	struct made made = make_begin();
	make_tasks(&made, 8);
	make_label(&made, 1, "loop");
	make_label(&made, 2, "report");
	for (int round = 0; round < 40; round++) {
		for (uint64_t client = 3; client <= 8; client++) {
			make_switch(&made, client);
			made.time += 20000;
			make_switch(&made, 1);
			made.time += 5000;
		}
		if (round == 20) {
			make_switch(&made, 2);
			made.time += 10000;
			make_of(&made, 20, kind, category);
			make_label(&made, 20, "fsync log");
			make_edge(&made, WEFT_EVENT_TRY_READ, 2, 20);
			make_switch(&made, WEFT_TASK_NONE);
			made.time += length;
			make_edge(&made, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 20);
			make_edge(&made, WEFT_EVENT_READ, 2, 20);
			made.time += 1000;
			make_switch(&made, 1);
		}
		made.time += 5000;
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 300000;
		make_switch(&made, 1);
		made.time += 5000;
	}
	return make_end(&made);
}

static struct loaded blocked_loop(const char *category)
{
	return blocked_loop_in("call", category, 80 * MS);
}

static uint64_t middle_of_call(const struct loaded *loaded)
{
	uint32_t call = weft_model_find_task(loaded->model, 0, 20);
	return loaded->model->tasks.start[call] + 40 * MS;
}

static void a_blocking_call_has_the_thread(void **state)
{
	struct loaded loaded = blocked_loop("io");
	struct weft_chain *chain = chain_of(&loaded, 0, 1, middle_of_call(&loaded));
	(void)state;
	assert_int_equal(chain->count, 2);
	assert_int_equal(chain->hops[0].step, WEFT_CHAIN_THREAD);
	assert_non_null(strstr(hop(&loaded, chain, 0),
		"task 1 'loop' does not run: its thread runs task 2 'report' since "));
	assert_non_null(strstr(hop(&loaded, chain, 1), "waits for call 20 'fsync log' since "));
	weft_chain_destroy(chain);
	assert_non_null(strstr(problem(&loaded, 0), "hog: task 2 'report' holds its thread for 80 ms"));
	assert_non_null(strstr(problem(&loaded, 0), "blocked in call 20 'fsync log'"));
	loaded_finish(&loaded);
}

static enum weft_problem_severity severity(const struct loaded *loaded)
{
	struct weft_problems *problems;
	assert_int_equal(weft_problems_create(&loaded->story, &problems), 0);
	assert_true(problems->count > 0 && problems->list[0].type == WEFT_PROBLEM_HOG);
	const enum weft_problem_severity first = problems->list[0].severity;
	weft_problems_destroy(problems);
	return first;
}

/* The holder may have no processor: the lock is to blame, if anything is. */
static void a_short_wait_for_a_lock_is_a_hint(void **state)
{
	static const struct {
		const char *kind;
		uint64_t length;
		enum weft_problem_severity severity;
	} cases[] = {{"call", 80 * MS, WEFT_SEVERITY_WARNING}, {"lock", 80 * MS, WEFT_SEVERITY_HINT},
		{"lock", 101 * MS, WEFT_SEVERITY_WARNING}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct loaded loaded = blocked_loop_in(cases[i].kind, "thread", cases[i].length);
		assert_int_equal(severity(&loaded), cases[i].severity);
		loaded_finish(&loaded);
	}
}

/* A wait of the program itself need not block the thread: its loop may be idle. */
static void a_wait_of_the_program_blocks_no_thread(void **state)
{
	struct loaded loaded = blocked_loop("program");
	struct weft_chain *chain = chain_of(&loaded, 0, 1, middle_of_call(&loaded));
	(void)state;
	assert_int_equal(chain->count, 0);
	weft_chain_destroy(chain);
	assert_null(strstr(problem(&loaded, 0), "hog"));
	loaded_finish(&loaded);
}

static void a_woken_task_waits_for_its_turn(void **state)
{
	struct made made = make_begin();
	make_tasks(&made, 4);
	(void)state;
	make_switch(&made, 1);
	made.time = 1000;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 4);
	make_switch(&made, 2);
	made.time = 2000;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 4);
	made.time = 9000;
	make_edge(&made, WEFT_EVENT_READ, 1, 4);
	made.time = 10000;
	make_switch(&made, 3);
	made.time = 20000;
	struct loaded loaded = make_end(&made);
	struct weft_chain *chain = chain_of(&loaded, 0, 1, 5000);
	assert_int_equal(chain->count, 1);
	assert_string_equal(hop(&loaded, chain, 0),
		"task 1 does not run: its thread runs task 2 since 1 us, until 9 us.");
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* ---- The end of a run, and of a gap ---- */

static void a_run_that_goes_on_has_its_length(void **state)
{
	struct made made = make_begin();
	struct weft_trace_buffer buffers[1] = {
		{.process = "p", .host = "", .file = "", .code = "", .unseen = "", .end_ns = 1000 * MS}};
	(void)state;
	made.buffers = buffers;
	made.buffer_count = 1;
	make_tasks(&made, 1);
	make_label(&made, 1, "parse header");
	made.time = MS;
	make_switch(&made, 1);
	struct loaded loaded = make_end(&made);
	struct weft_chain *chain = chain_of(&loaded, 0, 1, WEFT_STORY_WHOLE);
	assert_string_equal(end(&loaded, chain),
		"task 1 'parse header' has run for 999 ms without a pause, since 1 ms.");
	weft_chain_destroy(chain);
	struct weft_thread_state threads[1];
	assert_int_equal(loaded.model->thread_count, 1);
	weft_thread_states(loaded.model, WEFT_STORY_WHOLE, threads);
	assert_true(threads[0].is_running);
	assert_int_equal(loaded.model->tasks.id[threads[0].task], 1);
	assert_int_equal(threads[0].since, MS);
	weft_thread_states(loaded.model, 0, threads);
	assert_int_equal(threads[0].task, WEFT_NONE);
	loaded_finish(&loaded);
}

/* The program says why it pauses, and goes on for a while before it ends. */
static void a_pause_has_the_programs_reason(void **state)
{
	struct made made = make_begin();
	struct weft_event band = {.type = WEFT_EVENT_BAND,
		.band = WEFT_BAND_IDLE,
		.flag = true,
		.text = {"suspend to disk", 15}};
	(void)state;
	make_tasks(&made, 1);
	make_switch(&made, 1);
	made.time = MS;
	make(&made, band);
	made.time = 301 * MS;
	band.flag = false;
	make(&made, band);
	made.time = 302 * MS;
	make_edge(&made, WEFT_EVENT_RESOLVE, 1, 1);
	struct loaded loaded = make_end(&made);
	struct weft_chain *chain = chain_of(&loaded, 0, 1, 150 * MS);
	assert_string_equal(
		end(&loaded, chain), "task 1 is suspended: 'suspend to disk', since 1 ms, until 301 ms.");
	assert_string_equal(
		problem(&loaded, 0), "idle gap: Nothing runs for 300 ms from 1 ms: 'suspend to disk'.");
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* A task that goes on after a gap and then ends did not end it. */
static void a_gap_lasts_until_what_ends_it(void **state)
{
	(void)state;
	for (int runs = 0; runs < 2; runs++) {
		struct made made = make_begin();
		make_tasks(&made, 2);
		make_switch(&made, 1);
		made.time = MS;
		make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
		make_switch(&made, WEFT_TASK_NONE);
		made.time = 301 * MS;
		if (!runs)
			make_edge(&made, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 2);
		make_switch(&made, 1);
		made.time = 302 * MS;
		make_edge(&made, WEFT_EVENT_RESOLVE, 1, 1);
		struct loaded loaded = make_end(&made);
		assert_string_equal(problem(&loaded, 0),
			runs ? "idle gap: Nothing runs for 300 ms from 1 ms."
				 : "idle gap: Nothing runs for 300 ms from 1 ms, until task 2 ends.");
		loaded_finish(&loaded);
	}
}

/* ---- Pipes ---- */

static void begin_process(struct made *made, uint32_t buffer)
{
	made->buffer = made->thread = buffer;
	make_of(made, 1, "thread", "thread");
	make_switch(made, 1);
}

/* A task of the process that stands for an end of a pipe; it waits for it, or has it only. */
static void make_end_of_pipe(
	struct made *made, uint32_t buffer, uint64_t id, const char *tag, bool waits)
{
	made->buffer = made->thread = buffer;
	made->time += 1000;
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = 1,
				   .other = id,
				   .kind = WEFT_KIND_UNKNOWN,
				   .kind_name = {"pipe", 4},
				   .category = {"io", 2}});
	make_tag(made, id, tag, (int64_t)(id / 10));
	if (!waits)
		return;
	make_edge(made, WEFT_EVENT_TRY_READ, 1, id);
	make_switch(made, WEFT_TASK_NONE);
}

static const struct weft_trace_buffer two_processes[2] = {{.process = "parent",
															  .host = "",
															  .file = "",
															  .code = "",
															  .unseen = "",
															  .pid = 7,
															  .end_ns = 100 * MS,
															  .has_categories = true},
	{.process = "filter",
		.host = "",
		.file = "",
		.code = "",
		.unseen = "",
		.pid = 8,
		.end_ns = 100 * MS,
		.has_categories = true}};
static const struct weft_trace_thread two_threads[2] = {
	{.name = "parent", .buffer = 0}, {.name = "filter", .buffer = 1}};

static struct made begin_pipes(void)
{
	struct made made = make_begin();
	made.buffers = two_processes;
	made.buffer_count = 2;
	made.threads = two_threads;
	made.thread_count = 2;
	begin_process(&made, 0);
	begin_process(&made, 1);
	return made;
}

/* The parent writes to pipe 1 and has yet to read pipe 2; the filter writes to pipe 2, and has read
 * from pipe 1. */
static void two_full_pipes_are_a_circle(void **state)
{
	struct made made = begin_pipes();
	(void)state;
	make_end_of_pipe(&made, 0, 20, WEFT_TAG_READS, false);
	make_end_of_pipe(&made, 1, 10, WEFT_TAG_READS, false);
	make_end_of_pipe(&made, 0, 11, WEFT_TAG_WRITES, true);
	make_end_of_pipe(&made, 1, 21, WEFT_TAG_WRITES, true);
	struct loaded loaded = make_end(&made);
	struct weft_chain *chain = chain_of(&loaded, 0, 1, WEFT_STORY_WHOLE);
	assert_int_equal(chain->count, 4);
	assert_int_equal(chain->end.type, WEFT_CHAIN_CIRCLE);
	assert_int_equal(chain->hops[1].step, WEFT_CHAIN_OTHER_END);
	assert_non_null(strstr(hop(&loaded, chain, 1), " is read by "));
	weft_chain_destroy(chain);
	assert_non_null(strstr(problem(&loaded, 0), "deadlock: "));
	loaded_finish(&loaded);
}

/* A reader depends on the one that can write, which may be busy. Two writers are no circle. */
static void a_reader_waits_for_the_writer(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		struct made made = begin_pipes();
		make_end_of_pipe(&made, 1, 10, WEFT_TAG_WRITES, false);
		if (more)
			make_end_of_pipe(&made, 1, 12, WEFT_TAG_WRITES, false);
		make_end_of_pipe(&made, 0, 11, WEFT_TAG_READS, true);
		struct loaded loaded = make_end(&made);
		struct weft_chain *chain = chain_of(&loaded, 0, 1, WEFT_STORY_WHOLE);
		assert_int_equal(chain->count, 2);
		assert_int_equal(chain->end.type, WEFT_CHAIN_RUNS);
		assert_non_null(strstr(hop(&loaded, chain, 1), " is kept open by "));
		assert_int_equal(chain->hops[1].wait.others, more);
		weft_chain_destroy(chain);
		loaded_finish(&loaded);
	}
}

/* A thread that keeps a pipe open has it until it says so; one that has ended, has nothing. */
static void a_pipe_is_kept_open_until_it_is_closed(void **state)
{
	static const char *const states[] = {"kept", "left", "exited"};
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct made made = begin_pipes();
		made.buffer = made.thread = 1;
		make_tag(&made, 1, WEFT_TAG_WRITES, 1);
		make_switch(&made, WEFT_TASK_NONE);
		if (i == 1)
			make_tag(&made, 1, WEFT_TAG_LEAVES, 1);
		if (i == 2)
			make(&made, (struct weft_event){.type = WEFT_EVENT_RESOLVE, .task = 1, .other = 1});
		make_end_of_pipe(&made, 0, 11, WEFT_TAG_READS, true);
		struct loaded loaded = make_end(&made);
		struct weft_chain *chain = chain_of(&loaded, 0, 1, WEFT_STORY_WHOLE);
		const bool is_kept =
			chain->count > 1 && strstr(hop(&loaded, chain, 1), " is kept open by ") != NULL;
		if (is_kept != (i == 0))
			fail_msg("%s: %u hops", states[i], (unsigned)chain->count);
		weft_chain_destroy(chain);
		loaded_finish(&loaded);
	}
}

/* ---- Remembered signals ---- */

/* Task 2 waits for condition 3 to the end; task 1 had signalled it 5 ms before. */
static void a_remembered_signal_is_a_lost_wake_up(void **state)
{
	struct made made = make_begin();
	struct weft_trace_buffer buffers[1] = {
		{.process = "p", .host = "", .file = "", .code = "", .unseen = "", .end_ns = 1000 * MS}};
	(void)state;
	made.buffers = buffers;
	made.buffer_count = 1;
	make_tasks(&made, 2);
	make_create(&made, WEFT_TASK_NONE, 3, WEFT_KIND_CONDITION);
	make_switch(&made, 1);
	made.time = 10 * MS;
	make_switch(&made, 2);
	made.time = 20 * MS;
	make_tag(&made, 3, WEFT_TAG_SIGNALLED_BY, 1);
	make_tag(&made, 3, WEFT_TAG_SIGNALLED_BEFORE, 5 * MS);
	made.time += 100;
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 3);
	make_switch(&made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(&made);
	struct weft_chain *chain = chain_of(&loaded, 0, 2, WEFT_STORY_WHOLE);
	assert_string_equal(end(&loaded, chain),
		"Nobody signalled condition 3 after the wait began; the "
		"last signal was at 15 ms, 5 ms before, by task 1.");
	weft_chain_destroy(chain);
	assert_string_equal(problem(&loaded, 0),
		"lost wake-up: task 2 waits in vain since 20 ms: task 1 signalled condition 3 5 ms before.");
	loaded_finish(&loaded);
}

/* Condition 3 was signalled so many times, by task 1 if that is known, before a wait that begins 5
 * ms later. */
static struct weft__unheard remembered(int64_t times, bool is_known)
{
	struct made made = make_begin();
	struct weft__unheard signal;
	make_tasks(&made, 2);
	make_create(&made, WEFT_TASK_NONE, 3, WEFT_KIND_CONDITION);
	made.time = 20 * MS;
	if (times > 1)
		make_tag(&made, 3, WEFT_TAG_SIGNALLED_TIMES, times);
	if (is_known)
		make_tag(&made, 3, WEFT_TAG_SIGNALLED_BY, 1);
	make_tag(&made, 3, WEFT_TAG_SIGNALLED_BEFORE, 5 * MS);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 3);
	struct loaded loaded = make_end(&made);
	assert_true(weft__story_unheard_before(
		loaded.model, weft_model_find_task(loaded.model, 0, 3), 20 * MS, &signal));
	assert_int_equal(signal.time, 15 * MS);
	assert_int_equal(
		signal.sender, is_known ? weft_model_find_task(loaded.model, 0, 1) : WEFT_NONE);
	loaded_finish(&loaded);
	return signal;
}

static void one_signal_of_many_is_known_as_such(void **state)
{
	(void)state;
	assert_false(remembered(1, true).is_one_of_many);
	assert_false(remembered(1, false).is_one_of_many);
	assert_true(remembered(2, true).is_one_of_many);
	assert_true(remembered(3, false).is_one_of_many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_blocking_call_has_the_thread),
		cmocka_unit_test(a_wait_of_the_program_blocks_no_thread),
		cmocka_unit_test(a_short_wait_for_a_lock_is_a_hint),
		cmocka_unit_test(a_woken_task_waits_for_its_turn),
		cmocka_unit_test(a_run_that_goes_on_has_its_length),
		cmocka_unit_test(a_pause_has_the_programs_reason),
		cmocka_unit_test(a_gap_lasts_until_what_ends_it),
		cmocka_unit_test(two_full_pipes_are_a_circle),
		cmocka_unit_test(a_reader_waits_for_the_writer),
		cmocka_unit_test(a_pipe_is_kept_open_until_it_is_closed),
		cmocka_unit_test(a_remembered_signal_is_a_lost_wake_up),
		cmocka_unit_test(one_signal_of_many_is_known_as_such),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
