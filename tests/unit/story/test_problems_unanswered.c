/* SPDX-License-Identifier: ISC
 *
 * Waits that last until the end of a program: which of them are problems.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "problems_found.h"

#define KILLED (WEFT_WAIT_KNOWN | 9)

static struct weft_trace_buffer program;

/* Ends the program 3 s after the last event. */
static struct found find_after(struct made *made, enum weft_ending ending, uint32_t wait_status)
{
	program = (struct weft_trace_buffer){.process = "program",
		.host = "",
		.file = "",
		.ending = ending,
		.end_ns = made->time + 3000 * MS,
		.wait_status = wait_status};
	made->buffers = &program;
	made->buffer_count = 1;
	return find(made);
}

static void make_wait(struct made *made, uint64_t task, const char *label, uint64_t source)
{
	make_create(made, 0, task, WEFT_KIND_TASK);
	make_label(made, task, label);
	make_edge(made, WEFT_EVENT_TRY_READ, task, source);
}

/* A client waits for a request, which waits for a reply that does not come. */
static struct made make_hang(void)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_WAIT);
	make_label(&made, 1, "reply");
	make_wait(&made, 2, "request", 1);
	make_wait(&made, 3, "client", 2);
	make_switch(&made, 0);
	return made;
}

static void a_hang_of_a_killed_program_is_found(void **state)
{
	struct made made = make_hang();
	(void)state;
	struct found found = find_after(&made, WEFT_ENDING_GONE, KILLED);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_UNANSWERED);
	assert_int_equal(found.problems->count, 1);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 2);
	assert_int_equal(p->end - p->start, 3000 * MS);
	assert_string_equal(p->sentence, "task 2 'request' waits for wait 1 'reply' for 3 s, until the "
									 "program was killed by signal 9; 1 more waits for that.");
	found_finish(&found);
}

static void a_successful_end_makes_it_a_hint(void **state)
{
	struct made made = make_hang();
	(void)state;
	struct found found = find_after(&made, WEFT_ENDING_EXIT, WEFT_WAIT_KNOWN);
	assert_int_equal(only(&found, WEFT_PROBLEM_UNANSWERED)->severity, WEFT_SEVERITY_HINT);
	found_finish(&found);
	made = make_hang();
	found = find_after(&made, WEFT_ENDING_EXIT, WEFT_WAIT_KNOWN | 1 << 8);
	assert_int_equal(only(&found, WEFT_PROBLEM_UNANSWERED)->severity, WEFT_SEVERITY_WARNING);
	found_finish(&found);
}

/* A thread waits for one request, is interrupted, and waits for another one then. */
static void a_thread_that_has_run_waits_for_what_came_last(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_WAIT);
	make_create(&made, 0, 2, WEFT_KIND_WAIT);
	make_create(&made, 0, 3, WEFT_KIND_THREAD);
	make_switch(&made, 3);
	made.time += MS;
	make_edge(&made, WEFT_EVENT_TRY_READ, 3, 1);
	make_switch(&made, 0);
	made.time += MS;
	make_switch(&made, 3);
	made.time += MS;
	make_edge(&made, WEFT_EVENT_TRY_READ, 3, 2);
	make_switch(&made, 0);
	struct found found = find_after(&made, WEFT_ENDING_GONE, KILLED);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_UNANSWERED);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 3);
	assert_non_null(strstr(p->sentence, " waits for wait 2 for 3 s"));
	found_finish(&found);
}

/* A thread whose event loop has ended by itself. */
static void make_loop_end(struct made *made)
{
	make_create(made, 0, 90, WEFT_KIND_THREAD);
	make(made, (struct weft_event){.type = WEFT_EVENT_TAG,
				   .task = 90,
				   .text = {WEFT_TAG_LOOP_ENDED, sizeof(WEFT_TAG_LOOP_ENDED) - 1},
				   .has_value = true,
				   .value = 1});
}

/* Task `by` puts two jobs, each of which a consumer gets, and waits for the next one. */
static struct made make_consumer(uint64_t by)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_label(&made, 1, "consumer");
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_label(&made, 2, "producer");
	for (uint64_t job = 10; job < 13; job++) {
		make_create(&made, 1, job, WEFT_KIND_PROMISE);
		make_label(&made, job, "next job");
		make_edge(&made, WEFT_EVENT_TRY_READ, 1, job);
		if (job == 12)
			break;
		made.time += MS;
		make_edge(&made, WEFT_EVENT_RESOLVE, by, job);
		make_edge(&made, WEFT_EVENT_READ, 1, job);
	}
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 2);
	make_switch(&made, 0);
	return made;
}

static void a_wait_that_nothing_can_end_is_a_warning(void **state)
{
	struct made made = make_hang();
	(void)state;
	make_loop_end(&made);
	struct found found = find_after(&made, WEFT_ENDING_EXIT, WEFT_WAIT_KNOWN);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_UNANSWERED);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_string_equal(p->sentence,
		"task 2 'request' waits for wait 1 'reply' for 3 s; nothing was "
		"left that could end it; 1 more waits for that.");
	found_finish(&found);
	for (uint64_t by = 1; by <= 2; by++) {
		made = make_consumer(by);
		make_loop_end(&made);
		found = find_after(&made, WEFT_ENDING_EXIT, WEFT_WAIT_KNOWN);
		if (by == 1)
			assert_int_equal(
				only(&found, WEFT_PROBLEM_UNANSWERED)->severity, WEFT_SEVERITY_WARNING);
		else
			expect_none(&found);
		found_finish(&found);
	}
}

static void a_program_that_goes_on_has_no_unanswered_waits(void **state)
{
	static const enum weft_ending endings[] = {
		WEFT_ENDING_UNKNOWN, WEFT_ENDING_RUNNING, WEFT_ENDING_CUT, WEFT_ENDING_STOP};
	(void)state;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		struct made made = make_hang();
		expect_nothing(find_after(&made, endings[i], 0));
	}
}

/* Every third request waits for the same reply, from the first on. */
static struct made make_outage(unsigned requests)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_PROMISE);
	make_label(&made, 1, "reply");
	for (unsigned i = 0; i < requests; i++) {
		if (i % 3 == 0)
			make_wait(&made, 10 + i, "request", 1);
		else
			make_request(&made, 10 + i, 100 * US);
	}
	return made;
}

static void an_outage_is_found_while_the_program_runs(void **state)
{
	struct made made = make_outage(12);
	(void)state;
	struct found found = find_after(&made, WEFT_ENDING_RUNNING, 0);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_UNANSWERED);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_string_equal(p->sentence,
		"task 10 'request' waits for promise 1 'reply' for 3 s; 3 more wait for that.");
	found_finish(&found);
	made = make_outage(12);
	found = find_after(&made, WEFT_ENDING_EXIT, WEFT_WAIT_KNOWN);
	assert_int_equal(only(&found, WEFT_PROBLEM_UNANSWERED)->severity, WEFT_SEVERITY_ERROR);
	found_finish(&found);
	made = make_outage(9);
	expect_nothing(find_after(&made, WEFT_ENDING_RUNNING, 0));
}

/* Three threads that main has made wait for work; main waits for one of them if `is_joined`. */
static struct made make_pool(bool is_joined)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_CONDITION);
	make_label(&made, 1, "work");
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_label(&made, 2, "main");
	for (uint64_t id = 3; id < 6; id++) {
		make_create(&made, 2, id, WEFT_KIND_TASK);
		make_edge(&made, WEFT_EVENT_TRY_READ, id, 1);
	}
	if (is_joined)
		make_edge(&made, WEFT_EVENT_TRY_READ, 2, 3);
	make_switch(&made, 0);
	return made;
}

static void an_idle_pool_is_none(void **state)
{
	struct made made = make_pool(false);
	(void)state;
	expect_nothing(find_after(&made, WEFT_ENDING_EXIT, WEFT_WAIT_KNOWN));
	made = make_pool(false);
	struct found found = find_after(&made, WEFT_ENDING_GONE, KILLED);
	assert_int_equal(only(&found, WEFT_PROBLEM_UNANSWERED)->severity, WEFT_SEVERITY_HINT);
	found_finish(&found);
	made = make_pool(true);
	found = find_after(&made, WEFT_ENDING_GONE, KILLED);
	assert_int_equal(only(&found, WEFT_PROBLEM_UNANSWERED)->severity, WEFT_SEVERITY_WARNING);
	found_finish(&found);
}

static void an_answered_wait_is_none(void **state)
{
	struct made made = make_hang();
	(void)state;
	made.time += MS;
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 1);
	make_edge(&made, WEFT_EVENT_READ, 2, 1);
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 2);
	make_edge(&made, WEFT_EVENT_READ, 3, 2);
	make_switch(&made, 0);
	expect_nothing(find_after(&made, WEFT_ENDING_GONE, KILLED));
}

/* Task 1 waits for a request; if `cancel` is not 0, for that or to be cancelled. */
static void make_accept(struct made *made, uint64_t id, uint64_t cancel)
{
	make_create(made, 1, id, WEFT_KIND_WAIT);
	make_label(made, id, "accept");
	make_edge(made, cancel ? WEFT_EVENT_WAIT_ANY : WEFT_EVENT_TRY_READ, 1, id);
	if (cancel)
		make_edge(made, WEFT_EVENT_WAIT_ANY, 1, cancel);
}

/* A server waits for its next request no longer than it has waited before. */
static void a_wait_of_usual_length_is_none(void **state)
{
	(void)state;
	for (uint64_t cancel = 0; cancel <= 2; cancel += 2) {
		struct made made = make_begin();
		uint64_t id = 10;
		make_create(&made, 0, 1, WEFT_KIND_TASK);
		make_create(&made, 0, 2, WEFT_KIND_WAIT);
		for (int i = 0; i < 20; i++, id++) {
			make_accept(&made, id, cancel);
			made.time += 4000 * MS;
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, id);
			make_edge(&made, WEFT_EVENT_READ, 1, id);
			make_switch(&made, 0);
		}
		make_accept(&made, id, cancel);
		expect_nothing(find_after(&made, WEFT_ENDING_GONE, KILLED));
	}
}

/* A sleep ends by itself, unless the program is killed before. Task 3 may wait for the sleeper. */
static void a_sleep_is_no_unanswered_wait(void **state)
{
	(void)state;
	for (uint64_t others = 0; others < 2; others++) {
		struct made made = make_begin();
		make(&made, (struct weft_event){.type = WEFT_EVENT_CREATE,
						.other = 1,
						.kind = WEFT_KIND_TIMER,
						.category = {"thread", 6}});
		make_label(&made, 1, "sleep 600 s");
		make_wait(&made, 2, "sleeper", 1);
		if (others)
			make_wait(&made, 3, "waiter", 2);
		struct found found = find_after(&made, WEFT_ENDING_GONE, KILLED);
		assert_int_equal(found.problems->count, others);
		found_finish(&found);
	}
}

static struct found find_alike_waits(const char *source, const char *task, uint32_t wait_status)
{
	struct made made = make_begin();
	for (uint64_t id = 10; id < 30; id += 2) {
		make_create(&made, 0, id, WEFT_KIND_WAIT);
		make_label(&made, id, source);
		make_wait(&made, id + 1, task, id);
		made.time += US;
	}
	return find_after(&made, WEFT_ENDING_GONE, wait_status);
}

static void alike_waits_are_one_problem(void **state)
{
	struct found found = find_alike_waits("read", "connection", 0);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_UNANSWERED);
	assert_int_equal(p->count, 10);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 11); /* the longest */
	assert_string_equal(p->sentence, "task 11 'connection' waits for wait 10 'read' for 3 s, until "
									 "the program ended; 9 more like it.");
	found_finish(&found);
}

static void the_number_of_waits_says_more_than_the_end(void **state)
{
	struct found found = find_alike_waits("read of the reply", "connection of a client", KILLED);
	(void)state;
	assert_string_equal(only(&found, WEFT_PROBLEM_UNANSWERED)->sentence,
		"task 11 'connection of a client' waits for wait 10 'read of the reply' for 3 s; 9 more like "
		"it.");
	found_finish(&found);
}

/* A wait for a reply that is cancelled, 20 ms before the end unless `goes_on`. */
static struct found find_stopped(enum weft_event_type end, bool goes_on)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_WAIT);
	make_label(&made, 1, "reply");
	make_wait(&made, 2, "request", 1);
	made.time += goes_on ? 20 * MS : 200000 * MS;
	make_edge(&made, end, 0, 1);
	make_switch(&made, 0);
	return find_after(&made, WEFT_ENDING_GONE, KILLED);
}

static void a_wait_for_a_stopped_task_is_found_if_it_goes_on(void **state)
{
	static const struct {
		enum weft_event_type event;
		const char *sentence;
	} ends[] = {
		{WEFT_EVENT_CANCEL, "task 2 'request' waits for wait 1 'reply', cancelled at 20 ms, for "
							"3.02 s, until the program was killed by signal 9."},
		{WEFT_EVENT_CLOSE, "task 2 'request' waits for wait 1 'reply', closed at 20 ms, for "
						   "3.02 s, until the program was killed by signal 9."},
		{WEFT_EVENT_TIME_OUT, "task 2 'request' waits for wait 1 'reply', timed out at 20 ms, for "
							  "3.02 s, until the program was killed by signal 9."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct found found = find_stopped(ends[i].event, true);
		assert_int_equal(found.problems->count, 1);
		assert_string_equal(only(&found, WEFT_PROBLEM_UNANSWERED)->sentence, ends[i].sentence);
		found_finish(&found);
		found = find_stopped(ends[i].event, false); /* at the end of the program */
		expect_none(&found);
		found_finish(&found);
	}
}

/* It has been cancelled, and nothing waits for it: no problem, also if it lived for long. */
static void a_stopped_task_alone_is_none(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 10; id < 40; id++) {
		make_create(&made, 0, id, WEFT_KIND_WAIT);
		make_label(&made, id, "read");
		made.time += (id % 15 ? 1 : 1000) * MS;
		make_edge(&made, id % 15 ? WEFT_EVENT_RESOLVE : WEFT_EVENT_TIME_OUT, 0, id);
	}
	make_switch(&made, 0);
	expect_nothing(find_after(&made, WEFT_ENDING_GONE, KILLED));
}

/* A circle is a deadlock, also for a task that waits for one in the circle. */
static void a_circle_is_a_deadlock(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 1);
	make_wait(&made, 3, "outside", 1);
	struct found found = find_after(&made, WEFT_ENDING_GONE, KILLED);
	assert_int_equal(found.problems->count, 1);
	assert_int_equal(found.problems->list[0].type, WEFT_PROBLEM_DEADLOCK);
	found_finish(&found);
}

/* A client waits for a reply, with a way to cancel it and a limit of time. */
static struct made make_any(void)
{
	struct made made = make_begin();
	static const char *const names[] = {"cancel", "reply", "timer"};
	for (uint64_t id = 1; id <= 3; id++) {
		make_create(&made, 0, id, WEFT_KIND_WAIT);
		make_label(&made, id, names[id - 1]);
	}
	make_create(&made, 0, 4, WEFT_KIND_TASK);
	for (uint64_t id = 1; id <= 3; id++)
		make_edge(&made, WEFT_EVENT_WAIT_ANY, 4, id);
	make_switch(&made, 0);
	return made;
}

static void a_wait_for_any_is_found_if_none_is_done(void **state)
{
	struct made made = make_any();
	(void)state;
	struct found found = find_after(&made, WEFT_ENDING_GONE, KILLED);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_UNANSWERED);
	assert_int_equal(found.problems->count, 1);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 4);
	assert_string_equal(p->sentence,
		"task 4 waits for any of cancel, reply, timer for 3 s, until the "
		"program was killed by signal 9.");
	found_finish(&found);
	for (uint64_t id = 1; id <= 3; id++) {
		made = make_any();
		make_edge(&made, WEFT_EVENT_RESOLVE, 0, id); /* it can go on */
		expect_nothing(find_after(&made, WEFT_ENDING_GONE, KILLED));
	}
}

static void tasks_that_were_let_go_are_none(void **state)
{
	struct made made = make_any();
	(void)state;
	made.time += MS;
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 2);
	make_edge(&made, WEFT_EVENT_READ, 4, 2);
	expect_nothing(find_after(&made, WEFT_ENDING_GONE, KILLED));
}

/* Each of two tasks waits for the other or for a reply, which would break the circle. */
static void a_circle_with_a_way_out_is_no_deadlock(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_tasks(&made, 3);
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
	make_edge(&made, WEFT_EVENT_WAIT_ANY, 2, 1);
	make_edge(&made, WEFT_EVENT_WAIT_ANY, 2, 3);
	struct found found = find_after(&made, WEFT_ENDING_GONE, KILLED);
	assert_int_equal(count_of(&found, WEFT_PROBLEM_DEADLOCK), 0);
	found_finish(&found);
}

/* A task that is never resolved is reported as such only. */
static void an_expected_task_is_reported_once(void **state)
{
	struct made made = make_hang();
	(void)state;
	make(&made, (struct weft_event){.type = WEFT_EVENT_EXPECT, .task = 1});
	struct found found = find_after(&made, WEFT_ENDING_GONE, KILLED);
	assert_int_equal(found.problems->count, 1);
	assert_int_equal(found.problems->list[0].type, WEFT_PROBLEM_NEVER_RESOLVED);
	found_finish(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hang_of_a_killed_program_is_found),
		cmocka_unit_test(a_successful_end_makes_it_a_hint),
		cmocka_unit_test(a_thread_that_has_run_waits_for_what_came_last),
		cmocka_unit_test(a_wait_that_nothing_can_end_is_a_warning),
		cmocka_unit_test(a_program_that_goes_on_has_no_unanswered_waits),
		cmocka_unit_test(an_outage_is_found_while_the_program_runs),
		cmocka_unit_test(an_idle_pool_is_none),
		cmocka_unit_test(an_answered_wait_is_none),
		cmocka_unit_test(a_wait_of_usual_length_is_none),
		cmocka_unit_test(a_sleep_is_no_unanswered_wait),
		cmocka_unit_test(alike_waits_are_one_problem),
		cmocka_unit_test(the_number_of_waits_says_more_than_the_end),
		cmocka_unit_test(a_wait_for_a_stopped_task_is_found_if_it_goes_on),
		cmocka_unit_test(a_stopped_task_alone_is_none),
		cmocka_unit_test(a_circle_is_a_deadlock),
		cmocka_unit_test(a_wait_for_any_is_found_if_none_is_done),
		cmocka_unit_test(tasks_that_were_let_go_are_none),
		cmocka_unit_test(a_circle_with_a_way_out_is_no_deadlock),
		cmocka_unit_test(an_expected_task_is_reported_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
