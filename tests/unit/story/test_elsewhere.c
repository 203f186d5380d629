/* SPDX-License-Identifier: ISC
 *
 * Locks that threads of two processes share, in traces that tests make up: a tag says which thread
 * of the other process held one when a wait began.
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
#include "story/elsewhere.h"

enum {
	FIRST = 1,
	SECOND = 2,
	LOCK = 5,
	OTHER_LOCK = 6,
	CALL = 7,
};

static struct weft_trace_buffer buffers[2];
static struct weft_trace_thread threads[3];

static void make_thread(struct made *made, uint32_t thread, uint64_t task)
{
	made->thread = thread;
	made->buffer = threads[thread].buffer;
	make_create(made, WEFT_TASK_NONE, task, WEFT_KIND_THREAD);
	make_switch(made, task);
}

/* Threads 11 and 12 of one process, and thread 21 of another one on that host, which run. */
static struct made begin_two(const char *host)
{
	struct made made = make_begin();
	buffers[0] = (struct weft_trace_buffer){.process = "a", .host = "here", .file = "", .pid = 11};
	buffers[1] = (struct weft_trace_buffer){.process = "b", .host = host, .file = "", .pid = 21};
	threads[0] = (struct weft_trace_thread){.name = "first", .tid = 11};
	threads[1] = (struct weft_trace_thread){.name = "second", .tid = 12};
	threads[2] = (struct weft_trace_thread){.name = "other", .tid = 21, .buffer = 1};
	made.buffers = buffers;
	made.buffer_count = 2;
	made.threads = threads;
	made.thread_count = 3;
	make_thread(&made, 2, FIRST);
	make_create(&made, WEFT_TASK_NONE, OTHER_LOCK, WEFT_KIND_LOCK);
	make_thread(&made, 0, FIRST);
	make_thread(&made, 1, SECOND);
	make_create(&made, WEFT_TASK_NONE, LOCK, WEFT_KIND_LOCK);
	return made;
}

/* The thread's task waits, and the lock is held by a thread of the other process. */
static void wait_for_lock(
	struct made *made, uint32_t thread, uint64_t task, uint64_t lock, int64_t holder)
{
	made->thread = thread;
	made->buffer = threads[thread].buffer;
	make_tag(made, lock, WEFT_TAG_HELD_BY_THREAD, holder);
	make_edge(made, WEFT_EVENT_TRY_READ, task, lock);
	make_switch(made, WEFT_TASK_NONE);
}

/* Thread 12 still waits for the lock when thread 11 has got it. Then the other process's thread
 * waits for what thread 12 has. */
static struct loaded changed_hands(const char *host)
{
	struct made made = begin_two(host);
	made.time = 100;
	wait_for_lock(&made, 0, FIRST, LOCK, 21);
	made.time = 200;
	wait_for_lock(&made, 1, SECOND, LOCK, 21);
	made.time = 300;
	made.thread = 0;
	make_edge(&made, WEFT_EVENT_READ, FIRST, LOCK);
	make_switch(&made, FIRST);
	made.time = 400;
	wait_for_lock(&made, 2, FIRST, OTHER_LOCK, 12);
	made.time = 500;
	made.thread = made.buffer = 0;
	make_switch(&made, FIRST);
	return make_end(&made);
}

static uint32_t task_of(const struct loaded *loaded, uint64_t id)
{
	uint32_t task = weft_model_find_task(loaded->model, 0, id);
	assert_int_not_equal(task, WEFT_NONE);
	return task;
}

static void expect_end(const struct loaded *loaded, uint64_t at, const char *expected)
{
	struct weft_chain *chain;
	char text[WEFT_SENTENCE_BYTES];
	assert_int_equal(weft_chain_create(&loaded->story, task_of(loaded, SECOND), at, 8, &chain), 0);
	weft_chain_end_sentence(&loaded->story, chain, text, sizeof(text));
	assert_string_equal(text, expected);
	weft_chain_destroy(chain);
}

static void expect_group(const struct loaded *loaded, uint64_t at, const char *expected)
{
	struct weft_waiting *waiting;
	char text[WEFT_SENTENCE_BYTES];
	assert_int_equal(weft_waiting_create(&loaded->story, at, &waiting), 0);
	assert_int_equal(waiting->count, 1);
	weft_waiters_sentence(&loaded->story, waiting, &waiting->list[0], text, sizeof(text));
	assert_string_equal(text, expected);
	weft_waiting_destroy(waiting);
}

static void the_holder_is_the_one_that_got_the_lock_since(void **state)
{
	struct loaded loaded = changed_hands("here");
	(void)state;
	expect_end(&loaded, 250, "thread 1 runs since 0 ns, until 400 ns.");
	expect_end(&loaded, 350, "thread 1 runs since 300 ns, until 1.3 us.");
	expect_group(&loaded, 250, "2 tasks wait for thread 1; first thread 1, since 100 ns.");
	expect_group(&loaded, 350,
		"1 task waits for lock 5, held by thread 1 since 300 ns; first thread 2, since 200 ns.");
	loaded_finish(&loaded);
}

static void numbers_of_another_host_are_no_threads_of_this_one(void **state)
{
	struct loaded loaded = changed_hands("there");
	(void)state;
	expect_end(&loaded, 250,
		"lock 5 was held by thread 21 at 200 ns, which is not in the trace; its record ends at 1.3 us.");
	loaded_finish(&loaded);
}

/* Thread 12 waits in a call, which is tagged with the process that has the file's lock if it is
 * found in that time. */
static void wait_in_call(struct made *made, uint64_t from, uint64_t until, uint64_t found_at)
{
	made->time = from;
	make_edge(made, WEFT_EVENT_TRY_READ, SECOND, CALL);
	make_switch(made, WEFT_TASK_NONE);
	made->time = found_at;
	if (found_at)
		make_tag(made, CALL, WEFT_TAG_HELD_BY_PROCESS, 21);
	made->time = until;
	make_edge(made, WEFT_EVENT_READ, SECOND, CALL);
	make_switch(made, SECOND);
}

static struct loaded found_in_second_wait(const char *host)
{
	struct made made = begin_two(host);
	made.thread = 1;
	make_create(&made, SECOND, CALL, WEFT_KIND_PROMISE);
	wait_in_call(&made, 100, 200, 0);
	wait_in_call(&made, 300, 500, 400);
	return make_end(&made);
}

static void a_holder_that_is_found_late_counts_for_that_wait(void **state)
{
	struct loaded loaded = found_in_second_wait("there");
	(void)state;
	const char *holder = "promise 7 was held by process 21 at 400 ns, which is not in the trace.";
	expect_end(&loaded, 150, "Nobody resolved promise 7.");
	expect_end(&loaded, 350, holder);
	expect_end(&loaded, 420, holder);
	loaded_finish(&loaded);
	loaded = found_in_second_wait("here");
	expect_end(&loaded, 350, "thread 1 runs since 0 ns, until 500 ns.");
	loaded_finish(&loaded);
}

static void a_thread_that_has_passed_the_lock_on_is_in_no_deadlock(void **state)
{
	struct loaded loaded = changed_hands("here");
	struct weft_problems *problems;
	(void)state;
	assert_int_equal(weft_problems_create(&loaded.story, &problems), 0);
	for (uint32_t i = 0; i < problems->count; i++)
		assert_int_not_equal(problems->list[i].type, WEFT_PROBLEM_DEADLOCK);
	weft_problems_destroy(problems);
	loaded_finish(&loaded);
}

/* ---- A lock that another thread had at the fork ---- */

static void nobody_has_the_copy_of_a_lock(void **state)
{
	struct made made = begin_two("here");
	struct weft_problems *problems;
	(void)state;
	made.time = 100;
	make_label(&made, SECOND, "reader");
	made.thread = 1;
	made.buffer = 0;
	make_tag(&made, LOCK, WEFT_TAG_HELD_AT_FORK, 21);
	make_edge(&made, WEFT_EVENT_TRY_READ, SECOND, LOCK);
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 300;
	made.thread = 0;
	make_switch(&made, FIRST);
	struct loaded loaded = make_end(&made);
	expect_end(&loaded, 200, "lock 5 is a copy; thread 1 had it at the fork, nobody has it here.");
	expect_group(&loaded, 200,
		"1 task waits for lock 5; thread 1 had it at the fork, nobody has it here; first thread 2 "
		"'reader', since 100 ns.");
	assert_int_equal(weft_problems_create(&loaded.story, &problems), 0);
	for (uint32_t i = 0; i < problems->count; i++)
		assert_int_not_equal(problems->list[i].type, WEFT_PROBLEM_DEADLOCK);
	weft_problems_destroy(problems);
	loaded_finish(&loaded);
}

/* ---- A process that had ended ---- */

enum {
	DAEMON = 1,
	CHILDREN = 2,
	FORK = 77,
};

static struct weft_trace_buffer all[DAEMON + 1 + CHILDREN];
static struct weft_trace_thread first_threads[DAEMON + 1 + CHILDREN];

/* Process 1 waits for a file's lock, which process 21 took that has ended. That had begun as many
 * children, one of which may end as well. */
static struct loaded inherited(uint32_t children, bool is_first_over)
{
	struct made made = make_begin();
	static const char *const names[] = {"a", "b", "c", "d"};
	for (uint32_t i = 0; i < DAEMON + 1 + CHILDREN; i++) {
		all[i] = (struct weft_trace_buffer){
			.process = names[i], .host = "here", .file = "", .pid = i * 10 + 11};
		first_threads[i] =
			(struct weft_trace_thread){.name = names[i], .tid = i * 10 + 11, .buffer = i};
	}
	made.buffers = all;
	made.buffer_count = DAEMON + 1 + CHILDREN;
	made.threads = first_threads;
	made.thread_count = DAEMON + 1 + CHILDREN;
	for (uint32_t i = 0; i <= DAEMON + children; i++) {
		made.thread = made.buffer = i;
		make_create(&made, WEFT_TASK_NONE, SECOND, WEFT_KIND_THREAD);
		make_switch(&made, SECOND);
	}
	for (uint32_t i = 0; i < children; i++) {
		made.thread = made.buffer = DAEMON;
		make(&made,
			(struct weft_event){.type = WEFT_EVENT_SEND, .task = SECOND, .value = FORK + (int)i});
		made.time++;
		made.thread = made.buffer = DAEMON + 1 + i;
		make(&made, (struct weft_event){
						.type = WEFT_EVENT_RECEIVE, .task = SECOND, .value = FORK + (int)i});
	}
	made.time = 100;
	made.thread = made.buffer = DAEMON;
	make_edge(&made, WEFT_EVENT_RESOLVE, SECOND, SECOND);
	made.thread = made.buffer = DAEMON + 1;
	if (is_first_over)
		make_edge(&made, WEFT_EVENT_RESOLVE, SECOND, SECOND);
	made.time = 200;
	made.thread = made.buffer = 0;
	make_create(&made, SECOND, CALL, WEFT_KIND_PROMISE);
	make_edge(&made, WEFT_EVENT_TRY_READ, SECOND, CALL);
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 300;
	make_tag(&made, CALL, WEFT_TAG_HELD_BY_PROCESS, 21);
	made.time = 400;
	make_create(&made, WEFT_TASK_NONE, OTHER_LOCK, WEFT_KIND_LOCK);
	return make_end(&made);
}

static void a_process_that_had_ended_has_left_its_file_to_a_child(void **state)
{
	struct loaded loaded = inherited(1, false);
	(void)state;
	expect_end(&loaded, 350, "promise 7 was held by b 21, which had ended, or by c 31.");
	loaded_finish(&loaded);
	loaded = inherited(1, true);
	expect_end(&loaded, 350, "promise 7 was held by b 21, which had ended.");
	loaded_finish(&loaded);
	loaded = inherited(2, false);
	expect_end(&loaded, 350, "promise 7 was held by b 21, which had ended.");
	loaded_finish(&loaded);
	loaded = inherited(2, true);
	expect_end(&loaded, 350, "promise 7 was held by b 21, which had ended, or by d 41.");
	loaded_finish(&loaded);
}

/* The number of the process was used again, by one that had ended, too. */
static void of_two_that_had_ended_the_later_one_was_the_holder(void **state)
{
	static struct weft_trace_buffer three[3];
	(void)state;
	for (uint32_t later = 1; later <= 2; later++) {
		struct made made = begin_two("here");
		struct weft__elsewhere holder;
		memcpy(three, buffers, sizeof(buffers));
		three[2] = three[1];
		made.buffers = three;
		made.buffer_count = 3;
		for (uint32_t buffer = 1; buffer <= 2; buffer++) {
			made.thread = 2;
			made.buffer = buffer;
			made.time = 100;
			make_create(&made, WEFT_TASK_NONE, CALL + buffer, WEFT_KIND_THREAD);
		}
		for (uint32_t i = 0; i < 2; i++) {
			made.time = 150 + i;
			made.buffer = i ? later : 3 - later;
			if (made.buffer == 1)
				make_edge(&made, WEFT_EVENT_RESOLVE, FIRST, FIRST);
			make_edge(&made, WEFT_EVENT_RESOLVE, CALL + made.buffer, CALL + made.buffer);
		}
		made.time = 300;
		made.thread = made.buffer = 0;
		make_tag(&made, LOCK, WEFT_TAG_HELD_BY_PROCESS, 21);
		struct loaded loaded = make_end(&made);
		assert_true(
			weft__story_held_elsewhere(&loaded.story, task_of(&loaded, LOCK), 350, &holder));
		assert_true(holder.has_ended);
		assert_int_equal(holder.buffer, later);
		loaded_finish(&loaded);
	}
}

static void who_gets_the_lock_when_the_holder_is_seen_has_it(void **state)
{
	(void)state;
	for (uint64_t got = 199; got <= 200; got++) {
		struct made made = begin_two("here");
		struct weft__elsewhere holder;
		made.time = got;
		make_edge(&made, WEFT_EVENT_READ, FIRST, LOCK);
		made.time = 200;
		wait_for_lock(&made, 1, SECOND, LOCK, 21);
		struct loaded loaded = make_end(&made);
		assert_int_equal(
			weft__story_held_elsewhere(&loaded.story, task_of(&loaded, LOCK), 250, &holder),
			got < 200);
		loaded_finish(&loaded);
	}
}

/* A lock whose holder is in no buffer of the trace is in no circle. */
static void a_holder_that_is_not_in_the_trace_is_in_no_deadlock(void **state)
{
	struct loaded loaded = changed_hands("there");
	struct weft_problems *problems;
	(void)state;
	assert_int_equal(weft_problems_create(&loaded.story, &problems), 0);
	for (uint32_t i = 0; i < problems->count; i++)
		assert_int_not_equal(problems->list[i].type, WEFT_PROBLEM_DEADLOCK);
	weft_problems_destroy(problems);
	loaded_finish(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_holder_is_the_one_that_got_the_lock_since),
		cmocka_unit_test(numbers_of_another_host_are_no_threads_of_this_one),
		cmocka_unit_test(a_holder_that_is_found_late_counts_for_that_wait),
		cmocka_unit_test(a_thread_that_has_passed_the_lock_on_is_in_no_deadlock),
		cmocka_unit_test(a_holder_that_is_not_in_the_trace_is_in_no_deadlock),
		cmocka_unit_test(of_two_that_had_ended_the_later_one_was_the_holder),
		cmocka_unit_test(who_gets_the_lock_when_the_holder_is_seen_has_it),
		cmocka_unit_test(nobody_has_the_copy_of_a_lock),
		cmocka_unit_test(a_process_that_had_ended_has_left_its_file_to_a_child),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
