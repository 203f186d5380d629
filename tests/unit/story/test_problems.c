/* SPDX-License-Identifier: ISC
 *
 * Planted mistakes are found at the right time, and sound programs have no problems.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "problems_found.h"
#include "wait_chain.h"

static void a_sound_program_has_none(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 100; id++)
		make_request(&made, id, (20 + id % 7) * US);
	struct found found = find(&made);
	char text[WEFT_SENTENCE_BYTES];
	expect_none(&found);
	weft_problems_sentence(found.problems, text, sizeof(text));
	assert_string_equal(text, "No problems found.");
	found_finish(&found);
}

static void an_empty_trace_has_none(void **state)
{
	struct made made = make_begin();
	(void)state;
	expect_nothing(find(&made));
}

static void one_failure_among_many_is_found(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 1000; id++) {
		if (id == 700) {
			make_create(&made, 0, 5000, WEFT_KIND_TASK);
			make_fail(&made, 0, 5000, "connection refused");
		}
		make_request(&made, id, 20 * US);
	}
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_FAILED);
	assert_int_equal(found.problems->count, 1);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 5000);
	assert_int_equal(p->severity, WEFT_SEVERITY_ERROR);
	assert_int_equal(p->end, found.loaded.model->tasks.end[p->task]);
	assert_string_equal(p->sentence, "task 5000 failed at 20.97 ms: connection refused.");
	found_finish(&found);
}

static void a_problem_names_its_process_if_there_are_several(void **state)
{
	static const struct weft_trace_buffer buffers[] = {
		{.process = "first", .host = "", .file = "", .pid = 10},
		{.process = "second", .host = "", .file = "", .pid = 20}};
	struct made made = make_begin();
	(void)state;
	made.buffers = buffers;
	made.buffer_count = 2;
	made.buffer = 1;
	make_create(&made, 0, 7, WEFT_KIND_TASK);
	made.time += US;
	make_fail(&made, 0, 7, "connection refused");
	make_counter(&made, 0, "queue", 1, true);
	struct found found = find(&made);
	assert_string_equal(only(&found, WEFT_PROBLEM_FAILED)->sentence,
		"task 7 failed at 1 us: connection refused, in second 20.");
	char room[64];
	assert_string_equal(weft_story_counter_name(found.loaded.model, 0, room, sizeof(room)).bytes,
		"queue, second 20");
	found_finish(&found);
}

static void a_problem_of_the_only_process_does_not_name_it(void **state)
{
	static const struct weft_trace_buffer buffer = {
		.process = "first", .host = "", .file = "", .pid = 10};
	struct made made = make_begin();
	(void)state;
	made.buffers = &buffer;
	made.buffer_count = 1;
	make_create(&made, 0, 7, WEFT_KIND_TASK);
	made.time += US;
	make_fail(&made, 0, 7, "connection refused");
	struct found found = find(&made);
	assert_string_equal(
		only(&found, WEFT_PROBLEM_FAILED)->sentence, "task 7 failed at 1 us: connection refused.");
	found_finish(&found);
}

static void alike_failures_are_one_problem(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 500; id++) {
		make_create(&made, 0, id, WEFT_KIND_WAIT);
		made.time += US;
		make_fail(&made, 0, id, "timeout");
	}
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_FAILED);
	assert_int_equal(p->count, 500);
	assert_string_equal(p->sentence, "wait 1 failed at 1 us: timeout, and 499 more like it.");
	found_finish(&found);
}

/* A number in a message may matter, like a status; but not if there are very many different ones.
 */
static struct found numbered_failures(unsigned numbers)
{
	struct made made = make_begin();
	for (uint64_t id = 1; id <= 500; id++) {
		char message[32];
		snprintf(message, sizeof(message), "status %u", (unsigned)(id % numbers));
		make_create(&made, 0, id, WEFT_KIND_WAIT);
		made.time += US;
		make_fail(&made, 0, id, message);
	}
	return find(&made);
}

static void messages_with_many_numbers_are_one_problem(void **state)
{
	struct found found = numbered_failures(250);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_FAILED);
	assert_string_equal(p->sentence, "wait 1 failed at 1 us: status 1, and 499 more like it.");
	assert_int_equal(p->show_end, 5 * US);
	found_finish(&found);
	found = numbered_failures(4);
	assert_int_equal(found.problems->count, 4);
	found_finish(&found);
}

static void an_expected_task_without_end_is_found(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 7, WEFT_KIND_PROMISE);
	make(&made, (struct weft_event){.type = WEFT_EVENT_EXPECT, .task = 7});
	made.time += MS;
	make_switch(&made, 0);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_NEVER_RESOLVED);
	assert_string_equal(p->sentence, "promise 7 is never resolved.");
	found_finish(&found);
}

/* A condition as Mirage records it: it is signalled without a waiter; then a task asks it for a
 * promise. With `promptly`, a signal resolves that promise soon. */
static struct found condition_trace(bool promptly)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_CONDITION);
	make_label(&made, 1, "reply");
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_label(&made, 2, "receiver");
	made.time = MS;
	make_signal(&made, 1, 2, true); /* too early */
	made.time += US;
	make_switch(&made, 0);
	made.time += 3 * US;
	make_signal(&made, 1, 0, true);           /* asks for a promise … */
	make_create(&made, 1, 3, WEFT_KIND_WAIT); /* … and has it */
	made.time += US;
	make_switch(&made, 0);
	if (promptly) {
		made.time += 50 * US;
		make_signal(&made, 1, 2, true);
		make_edge(&made, WEFT_EVENT_RESOLVE, 1, 3);
		made.time += US;
		make_switch(&made, 0);
	}
	made.time += 100 * MS;
	make_switch(&made, 2);
	return find(&made);
}

static void a_signal_before_the_wait_is_found(void **state)
{
	struct found found = condition_trace(false);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_LOST_WAKE_UP);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 3);
	assert_int_equal(p->severity, WEFT_SEVERITY_ERROR);
	assert_string_equal(
		p->sentence, "wait 3 waits in vain since 1.004 ms: receiver signalled reply 4 us before.");
	found_finish(&found);
}

static void a_signal_that_comes_again_is_not_lost(void **state)
{
	(void)state;
	expect_nothing(condition_trace(true));
}

/* A task of that kind that is signalled whenever there is work; once while it still runs. */
static struct found worker_trace(bool loses_one, const char *kind)
{
	struct made made = make_begin();
	make(&made,
		(struct weft_event){
			.type = WEFT_EVENT_CREATE, .task = 0, .other = 1, .kind_name = {kind, strlen(kind)}});
	make_label(&made, 1, "worker");
	for (int i = 0; i < 20; i++) {
		make_switch(&made, 0);
		made.time += 100 * US;
		make_signal(&made, 1, 0, false);
		make_switch(&made, 1);
		made.time += 10 * US;
		if (i == 19 && loses_one)
			make_signal(&made, 1, 0, false);
		made.time += US;
	}
	make_switch(&made, 0);
	made.time += loses_one ? 50 * MS : 50 * US;
	make_switch(&made, 2);
	return find(&made);
}

static void a_signal_while_it_runs_is_found(void **state)
{
	struct found found = worker_trace(true, "job");
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_LOST_WAKE_UP);
	assert_string_equal(p->sentence,
		"job 1 'worker' waits in vain since 2.22 ms: preexisting 0 signalled it 1 us before.");
	found_finish(&found);
	found = worker_trace(true, "eventfd");
	assert_int_equal(count_of(&found, WEFT_PROBLEM_LOST_WAKE_UP), 0);
	found_finish(&found);
}

/* Rounds of a producer and a worker that waits for a condition. In round `early`, and in the last
 * one, a signal comes before the wait. */
static struct found early_signal_trace(int early)
{
	struct made made = make_begin();
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_CONDITION);
	make_create(&made, WEFT_TASK_NONE, 2, WEFT_KIND_TASK);
	make_create(&made, WEFT_TASK_NONE, 3, WEFT_KIND_TASK);
	for (int i = 0; i < 20; i++) {
		made.time += 10 * US;
		if (i == early || i == 19)
			make_signal(&made, 1, 3, false);
		make_switch(&made, 2);
		made.time += 4 * US;
		make_edge(&made, WEFT_EVENT_TRY_READ, 2, 1);
		make_switch(&made, WEFT_TASK_NONE);
		if (i == 19)
			break;
		made.time += 100 * US;
		make_signal(&made, 1, 3, false);
		make_edge(&made, WEFT_EVENT_READ, 2, 1);
	}
	made.time += 50 * MS;
	make_switch(&made, 3);
	return find(&made);
}

static void a_signal_that_was_harmless_before_is_no_error(void **state)
{
	(void)state;
	for (int early = -1; early < 10; early += 10) {
		struct found found = early_signal_trace(early);
		const struct weft_problem *p = only(&found, WEFT_PROBLEM_LOST_WAKE_UP);
		assert_int_equal(p->severity, early < 0 ? WEFT_SEVERITY_ERROR : WEFT_SEVERITY_HINT);
		const char *words = early < 0 ? "waits in vain since" : "; 1 such signal did no harm.";
		assert_non_null(strstr(p->sentence, words));
		found_finish(&found);
	}
}

/* The condition runs for its last signal, and resolves a promise at the very end, or does not. */
static void a_signal_that_resolves_at_its_end_has_woken(void **state)
{
	(void)state;
	for (int resolves = 0; resolves < 2; resolves++) {
		struct made made = make_begin();
		make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_CONDITION);
		make_tasks(&made, 5);
		make_create(&made, WEFT_TASK_NONE, 50, WEFT_KIND_PROMISE);
		made.time = 10 * US;
		make_signal(&made, 1, 3, true);
		made.time += 4 * US;
		if (resolves)
			make_edge(&made, WEFT_EVENT_RESOLVE, 1, 50);
		make_switch(&made, 2);
		made.time += 4 * US;
		make_edge(&made, WEFT_EVENT_TRY_READ, 2, 1);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 50 * MS;
		make_switch(&made, 3);
		struct found found = find(&made);
		assert_int_equal(count_of(&found, WEFT_PROBLEM_LOST_WAKE_UP), !resolves);
		found_finish(&found);
	}
}

/* A thread is signalled while it waits for a condition; who joins it later waits for its end. */
static void who_joins_a_thread_has_missed_no_signal(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_THREAD);
	make_tasks(&made, 3);
	made.time += 100 * US;
	make_signal(&made, 1, 3, false);
	made.time += 10 * US;
	make_switch(&made, 2);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 1);
	make_switch(&made, WEFT_TASK_NONE);
	made.time += 50 * MS;
	make_switch(&made, 3);
	struct found found = find(&made);
	assert_int_equal(count_of(&found, WEFT_PROBLEM_LOST_WAKE_UP), 0);
	found_finish(&found);
}

/* Two waits of one length, each after a signal for which nobody waited: the first is shown. */
static void the_first_of_equal_lost_signals_is_shown(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_CONDITION);
	make_tasks(&made, 3);
	for (int i = 0; i < 2; i++) {
		made.time += 100 * US;
		make_signal(&made, 1, 3, false);
		make_switch(&made, 2);
		made.time += 10 * US;
		make_edge(&made, WEFT_EVENT_TRY_READ, 2, 1);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 50 * MS;
		make_switch(&made, 2); /* without a signal */
	}
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_LOST_WAKE_UP);
	assert_int_equal(p->count, 2);
	assert_int_equal(p->start, 100 * US);
	assert_int_equal(p->end - p->start, 10 * US + 50 * MS);
	found_finish(&found);
}

static void a_worker_at_rest_has_lost_nothing(void **state)
{
	(void)state;
	expect_nothing(worker_trace(false, "job"));
}

/* 61 requests with 300 us between them; before each fifth one, 40 ms. */
static void long_gaps_are_one_problem(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 61; id++) {
		make_request(&made, id, 20 * US);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += id % 5 == 0 ? 40 * MS + id * US : 300 * US;
		make_switch(&made, 0);
		made.time += 10 * US;
	}
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_IDLE_GAP);
	expect_words(p, "", "runs, after nothing ran for 40.1 ms");
	assert_int_equal(p->count, 12);
	assert_int_equal(p->period_count, 12);
	for (uint32_t i = 0; i < 12; i++) {
		const struct weft_problem_period *period = &found.problems->periods[p->first_period + i];
		assert_in_range(period->end - period->start, 40 * MS, 41 * MS);
		assert_true(i == 0 || period[-1].end < period->start);
	}
	assert_in_range(p->end - p->start, 40 * MS, 41 * MS);
	assert_string_equal(p->sentence,
		"Nothing runs for 40.1 ms from 457.12 ms; the longest of 12 such gaps, about every 41.4 ms; "
		"usual gaps take 300 us.");
	found_finish(&found);
}

/* Time counts as idle only if no thread runs. */
static void a_thread_that_sleeps_alone_is_no_gap(void **state)
{
	struct made made = make_begin();
	(void)state;
	made.thread = 1;
	make_switch(&made, 100);
	made.thread = 0;
	for (uint64_t id = 1; id <= 20; id++) {
		make_request(&made, id, 20 * US);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += id == 10 ? 40 * MS : 300 * US;
	}
	make_switch(&made, 0);
	made.thread = 1;
	make_switch(&made, 101);
	expect_nothing(find(&made));
}

static void one_slow_request_is_found(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 200; id++)
		make_request(&made, id, id == 77 ? 900 * US : (20 + id % 9) * US);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_SLOW);
	expect_words(p, "begins", "ends after 900 us, others after 24 us");
	assert_int_equal(found.loaded.model->tasks.id[p->task], 77);
	assert_string_equal(p->sentence,
		"task 77 'request' takes 900 us from 2.578 ms, running all along or "
		"preempted; others like it take 24 us.");
	found_finish(&found);
}

/* The number behind a file's name is a line, and another line is other code; a port is none. */
static void lines_of_code_are_not_alike(void **state)
{
	static const char *const names[][2] = {
		{"sleep at crawl.py:6", "sleep at crawl.py:7"}, {"tcp 127.0.0.1:6", "tcp 127.0.0.1:7"}};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct made made = make_begin();
		for (uint64_t id = 1; id <= 200; id++) {
			make_create(&made, 0, id, WEFT_KIND_TASK);
			make_label(&made, id, names[i][id == 77]);
			made.time += id == 77 ? 900 * US : (20 + id % 9) * US;
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, id);
		}
		struct found found = find(&made);
		int slow = 0;
		for (uint32_t k = 0; k < found.problems->count; k++)
			slow += found.problems->list[k].type == WEFT_PROBLEM_SLOW;
		assert_int_equal(slow, i);
		found_finish(&found);
	}
}

/* A counter that goes up by one and down again, and each `leak`-th time stays up. */
static struct found counter_trace(int leak, bool falls)
{
	struct made made = make_begin();
	int64_t value = 0;
	for (int i = 0; i < 200; i++) {
		made.time += 100 * US;
		make_counter(&made, 1, "open", ++value, true);
		made.time += 50 * US;
		if (falls && (leak == 0 || i % leak != 0))
			make_counter(&made, 1, "open", --value, true);
	}
	made.time += 100 * US;
	make_counter(&made, 1, "open", value, true);
	return find(&made);
}

static void a_leak_is_found(void **state)
{
	struct found found = counter_trace(4, true);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_CLIMBING);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_int_equal(p->counter, 0);
	assert_string_equal(p->sentence, "open keeps climbing: from 1 to 50 in 30 ms, and falls less "
									 "and less far.");
	found_finish(&found);
}

static void a_counter_that_never_falls_is_a_total(void **state)
{
	(void)state;
	expect_nothing(counter_trace(0, false));
}

static void memory_given_back_is_not_a_leak(void **state)
{
	(void)state;
	expect_nothing(counter_trace(0, true));
}

static void tasks_that_wait_in_a_circle_are_found(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 4; id++)
		make_create(&made, 0, id, WEFT_KIND_BIND);
	made.time = MS;
	make_edge(&made, WEFT_EVENT_TRY_READ, 4, 1); /* leads into it */
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 3);
	make_edge(&made, WEFT_EVENT_TRY_READ, 3, 1);
	made.time += MS;
	make_switch(&made, 0);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_DEADLOCK);
	assert_int_equal(p->count, 3);
	assert_string_equal(
		p->sentence, "bind 1 waits for bind 2, and so on in a circle of 3, since 1 ms.");
	struct weft_story_wait waits[8];
	bool cycle;
	uint32_t task = weft_model_find_task(found.loaded.model, 0, 4);
	assert_int_equal(wait_chain(&found.loaded.story, task, WEFT_STORY_WHOLE, waits, 8, &cycle), 4);
	assert_true(cycle);
	found_finish(&found);
}

static void waiting_for_the_first_of_several_makes_no_circle(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 3; id++)
		make_create(&made, 0, id, WEFT_KIND_CHOOSE);
	made.time = MS;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 1);
	expect_nothing(find(&made));
}

/* Every fifth request takes 40 ms, so that even the slowest tenth does. */
static void many_that_take_about_as_long_are_found(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 100; id++)
		make_request(&made, id, id % 5 == 2 ? 40 * MS + id * US : (500 + id % 9) * US);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_SLOW);
	assert_in_range(p->end - p->start, 40 * MS, 41 * MS);
	assert_string_equal(p->sentence,
		"task 97 'request' takes 40.1 ms from 800.66 ms; every 5th is so slow (20 of 100); most take "
		"505 us.");
	found_finish(&found);
}

static void tasks_that_wait_for_a_slow_one_are_counted(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 900, WEFT_KIND_PROMISE);
	for (uint64_t id = 1; id <= 40; id++) {
		make_create(&made, 0, 100 + id, WEFT_KIND_PROMISE);
		make_create(&made, 0, 200 + id, WEFT_KIND_TASK);
		make_edge(&made, WEFT_EVENT_TRY_READ, 200 + id, id % 4 ? 100 + id : 900);
		made.time += 50 * US;
		make_edge(&made, WEFT_EVENT_RESOLVE, 0, 100 + id);
	}
	made.time += 10 * MS;
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 900);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_SLOW);
	assert_string_equal(p->sentence, "promise 900 takes 12 ms from 0 ns, and 10 tasks wait for it; "
									 "others like it take 50 us.");
	found_finish(&found);
}

/* The first slow task is slow for another reason than all others. */
static void the_first_of_many_is_one_of_them(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 100; id++)
		make_request(&made, id, id == 1 ? 9 * MS : id % 5 == 2 ? 40 * MS : (500 + id % 9) * US);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_SLOW);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 2);
	assert_int_equal(p->period_count, p->count);
	found_finish(&found);
}

/* Gaps of any length up to twenty times the usual one, none much longer than the next. */
static void gaps_of_any_length_are_none(void **state)
{
	struct made made = make_begin();
	uint64_t gap = 20 * US;
	(void)state;
	for (uint64_t id = 1; id <= 60; id++, gap += gap / 20) {
		make_request(&made, id, 20 * US);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += gap;
		make_switch(&made, 0);
	}
	expect_nothing(find(&made));
}

static void tasks_cut_off_by_the_end_are_one_hint(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 100; id++)
		make_request(&made, id, (20 + id % 7) * US);
	for (uint64_t id = 101; id <= 105; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		make_label(&made, id, "request");
		make(&made, (struct weft_event){.type = WEFT_EVENT_EXPECT, .task = id});
		made.time += US;
	}
	make_switch(&made, 0);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_NEVER_RESOLVED);
	assert_int_equal(p->severity, WEFT_SEVERITY_HINT);
	assert_int_equal(p->count, 5);
	assert_string_equal(p->sentence, "task 101 'request' and 4 more were under way when the trace "
									 "ended, for no longer than usual.");
	found_finish(&found);
}

/* Requests that each leave a watcher behind; `ends`: whose watchers end a while later. */
static struct found watched_requests(bool ends)
{
	struct made made = make_begin();
	for (uint64_t id = 1; id <= 200; id++) {
		make_request(&made, id, 20 * US);
		make_create(&made, 0, 1000 + id, WEFT_KIND_TASK);
		make_label(&made, 1000 + id, "watch");
		if (ends && id > 40)
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, 1000 + id - 40);
	}
	return find(&made);
}

static void tasks_that_pile_up_are_found(void **state)
{
	struct found found = watched_requests(false);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_PILING_UP);
	assert_int_equal(p->count, 200);
	assert_string_equal(
		p->sentence, "task 1001 'watch' and 199 more like it do not end, ever more of them.");
	found_finish(&found);
	expect_nothing(watched_requests(true));
}

/* Many short processes, each of which leaves the watcher that it made; or one process that leaves
 * all, beside another one. */
static struct found watchers_of_processes(uint32_t processes)
{
	enum {
		WATCHERS = 200
	};
	static struct weft_trace_buffer buffers[WATCHERS];
	struct made made = make_begin();
	made.buffers = buffers;
	made.buffer_count = WATCHERS;
	for (uint32_t i = 0; i < WATCHERS; i++) {
		buffers[i] = (struct weft_trace_buffer){.process = "p", .host = "", .file = ""};
		made.buffer = i % processes;
		make_request(&made, 1 + i, 20 * US);
		make_create(&made, 0, 1000 + i, WEFT_KIND_TASK);
		make_label(&made, 1000 + i, "watch");
	}
	return find(&made);
}

static void tasks_of_many_processes_do_not_pile_up(void **state)
{
	(void)state;
	expect_nothing(watchers_of_processes(200));
	struct found found = watchers_of_processes(1);
	assert_int_equal(only(&found, WEFT_PROBLEM_PILING_UP)->count, 200);
	found_finish(&found);
}

/* Requests that each wait for a promise of their own; the 50th promise fails. With `passes_on`, its
 * request fails, too. */
static struct found requests_that_read(bool passes_on)
{
	struct made made = make_begin();
	for (uint64_t id = 1; id <= 100; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		make_label(&made, id, "request");
		make_create(&made, id, 1000 + id, WEFT_KIND_TASK);
		make_create(&made, 1000 + id, 2000 + id, WEFT_KIND_PROMISE);
		make_label(&made, 2000 + id, "socket");
		made.time += 20 * US;
		if (id == 50)
			make_fail(&made, 0, 2000 + id, "reset by peer");
		else
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, 2000 + id);
		made.time += US;
		make_edge(&made, WEFT_EVENT_READ, 1000 + id, 2000 + id);
		if (id == 50 && passes_on)
			make_fail(&made, 0, 1000 + id, "no reply");
		else
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, 1000 + id);
		made.time += US;
		make_edge(&made, WEFT_EVENT_READ, id, 1000 + id);
		if (id == 50 && passes_on)
			make_fail(&made, 0, id, "status 500");
		else
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, id);
	}
	return find(&made);
}

static void a_failure_that_travels_is_one_problem(void **state)
{
	struct found found = requests_that_read(true);
	(void)state;
	assert_int_equal(found.problems->count, 1);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_FAILED);
	assert_int_equal(p->severity, WEFT_SEVERITY_ERROR);
	assert_string_equal(p->sentence, "task 50 'request' failed at 1.1 ms: status 500; it began "
									 "with socket: reset by peer.");
	found_finish(&found);
}

static void a_failure_that_is_seen_to_is_milder(void **state)
{
	struct found found = requests_that_read(false);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_FAILED);
	assert_int_equal(p->severity, WEFT_SEVERITY_HINT);
	assert_string_equal(p->sentence,
		"promise 2050 'socket' failed at 1.098 ms: reset by peer; its reader handled it.");
	found_finish(&found);
}

/* Two tasks that failed at once and read each other: one of them is reported. */
static void failures_that_read_each_other_are_not_forgotten(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	made.time = MS;
	make_edge(&made, WEFT_EVENT_READ, 1, 2);
	make_edge(&made, WEFT_EVENT_READ, 2, 1);
	make_fail(&made, 0, 1, "one");
	make_fail(&made, 0, 2, "two");
	struct found found = find(&made);
	assert_true(found.problems->count > 0);
	found_finish(&found);
}

/* The task that waits for a condition's promise is reported instead of the promise, which is never
 * resolved. */
static void a_sleeping_task_is_named_not_its_promise(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_CONDITION);
	make_label(&made, 1, "reply");
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_label(&made, 2, "client");
	made.time = MS;
	make_signal(&made, 1, 0, false);
	made.time += US;
	make_create(&made, 1, 3, WEFT_KIND_PROMISE);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 3);
	made.time += 100 * MS;
	make_switch(&made, 4);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_LOST_WAKE_UP);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 2);
	found_finish(&found);
}

/* The task that ends first after a gap is the one that all waited for. */
static void a_gap_names_the_awaited_task(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 900, WEFT_KIND_PROMISE);
	make_label(&made, 900, "disk");
	for (uint64_t id = 1; id <= 21; id++) {
		make_request(&made, id, 20 * US);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += id == 9 ? 40 * MS : 300 * US;
		make_switch(&made, 0);
		made.time += US;
		if (id == 9)
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, 900);
		made.time += 9 * US;
	}
	struct found found = find(&made);
	assert_string_equal(only(&found, WEFT_PROBLEM_IDLE_GAP)->sentence,
		"Nothing runs for 40 ms from 2.75 ms, until promise 900 'disk' ends; usual gaps take 300 "
		"us.");
	expect_words(only(&found, WEFT_PROBLEM_IDLE_GAP), "nothing runs from here on",
		"ends, after nothing ran for 40 ms");
	found_finish(&found);
}

/* A promise that takes long because another task runs all the time. */
static void a_slow_task_lists_what_ran_meanwhile(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 60; id++) {
		make_create(&made, 0, id, WEFT_KIND_PROMISE);
		make_label(&made, id, "sleep");
		if (id == 33) {
			make_switch(&made, 900);
			made.time += 14 * MS;
			make_label(&made, 900, "compress");
		}
		made.time += MS;
		make_switch(&made, 0);
		make_edge(&made, WEFT_EVENT_RESOLVE, 0, id);
	}
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_SLOW);
	assert_string_equal(p->sentence,
		"promise 33 'sleep' takes 15 ms from 32 ms, while preexisting 900 'compress' runs for 15 ms "
		"of it.");
	found_finish(&found);
}

/* Requests, of which the 33rd takes long. With `is_late`, it may have ended before. */
static struct found requests_of_runner(bool is_late)
{
	struct made made = make_begin();
	make_label(&made, 900, "loop");
	for (uint64_t id = 1; id <= 60; id++) {
		make_create(&made, 900, id, WEFT_KIND_PROMISE);
		make_label(&made, id, "read pipe");
		make_switch(&made, 900);
		made.time += id == 33 ? 15 * MS : MS;
		if (id == 33 && is_late)
			make_tag(&made, id, WEFT_TAG_ENDED_BEFORE, 1);
		make_edge(&made, WEFT_EVENT_RESOLVE, 0, id);
		make_edge(&made, WEFT_EVENT_READ, 900, id);
	}
	return find(&made);
}

static void a_reader_that_runs_does_not_wait(void **state)
{
	(void)state;
	struct found found = requests_of_runner(false);
	assert_string_equal(only(&found, WEFT_PROBLEM_SLOW)->sentence,
		"promise 33 'read pipe' takes 15 ms from 32 ms, while preexisting 900 'loop' runs for 15 ms "
		"of it.");
	found_finish(&found);
}

static void a_task_that_may_have_ended_before_is_not_slow(void **state)
{
	(void)state;
	expect_nothing(requests_of_runner(true));
}

/* A queue that is emptied regularly; with `climbs`, more is added than removed from some time on.
 */
static struct found queue_trace(bool climbs)
{
	struct made made = make_begin();
	int64_t value = 0;
	for (int i = 0; i < 400; i++) {
		made.time += 100 * US;
		make_counter(&made, 1, "queue", value += 2, true);
		made.time += 50 * US;
		make_counter(&made, 1, "queue", value -= climbs && i >= 200 ? 1 : 2, true);
	}
	return find(&made);
}

static void a_counter_that_climbs_late_is_found(void **state)
{
	struct found found = queue_trace(true);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_CLIMBING);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_string_equal(p->sentence, "queue climbs from 30.2 ms on: from 2 to 200 in 29.7 ms.");
	assert_int_equal(p->show_start, found.loaded.model->summary.start);
	assert_int_equal(p->show_end, found.loaded.model->summary.end);
	found_finish(&found);
	expect_nothing(queue_trace(false));
}

/* A heap that is collected: it climbs each time, and falls back to its old value. */
static void a_counter_in_a_saw_is_no_climb(void **state)
{
	for (int period = 20; period <= 400; period += 20) {
		struct made made = make_begin();
		(void)state;
		for (int i = 0; i < 1000; i++) {
			made.time += 100 * US;
			make_counter(&made, 1, "heap", 1000 + i % period, true);
		}
		expect_nothing(find(&made));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_program_has_none),
		cmocka_unit_test(an_empty_trace_has_none),
		cmocka_unit_test(one_failure_among_many_is_found),
		cmocka_unit_test(a_problem_names_its_process_if_there_are_several),
		cmocka_unit_test(a_problem_of_the_only_process_does_not_name_it),
		cmocka_unit_test(alike_failures_are_one_problem),
		cmocka_unit_test(messages_with_many_numbers_are_one_problem),
		cmocka_unit_test(an_expected_task_without_end_is_found),
		cmocka_unit_test(a_signal_before_the_wait_is_found),
		cmocka_unit_test(a_signal_that_comes_again_is_not_lost),
		cmocka_unit_test(a_signal_while_it_runs_is_found),
		cmocka_unit_test(a_signal_that_was_harmless_before_is_no_error),
		cmocka_unit_test(a_signal_that_resolves_at_its_end_has_woken),
		cmocka_unit_test(who_joins_a_thread_has_missed_no_signal),
		cmocka_unit_test(the_first_of_equal_lost_signals_is_shown),
		cmocka_unit_test(a_worker_at_rest_has_lost_nothing),
		cmocka_unit_test(long_gaps_are_one_problem),
		cmocka_unit_test(a_thread_that_sleeps_alone_is_no_gap),
		cmocka_unit_test(one_slow_request_is_found),
		cmocka_unit_test(lines_of_code_are_not_alike),
		cmocka_unit_test(a_leak_is_found),
		cmocka_unit_test(a_counter_that_never_falls_is_a_total),
		cmocka_unit_test(memory_given_back_is_not_a_leak),
		cmocka_unit_test(tasks_that_wait_in_a_circle_are_found),
		cmocka_unit_test(waiting_for_the_first_of_several_makes_no_circle),
		cmocka_unit_test(many_that_take_about_as_long_are_found),
		cmocka_unit_test(tasks_that_wait_for_a_slow_one_are_counted),
		cmocka_unit_test(gaps_of_any_length_are_none),
		cmocka_unit_test(tasks_cut_off_by_the_end_are_one_hint),
		cmocka_unit_test(tasks_that_pile_up_are_found),
		cmocka_unit_test(tasks_of_many_processes_do_not_pile_up),
		cmocka_unit_test(a_failure_that_travels_is_one_problem),
		cmocka_unit_test(a_failure_that_is_seen_to_is_milder),
		cmocka_unit_test(failures_that_read_each_other_are_not_forgotten),
		cmocka_unit_test(a_sleeping_task_is_named_not_its_promise),
		cmocka_unit_test(a_gap_names_the_awaited_task),
		cmocka_unit_test(a_slow_task_lists_what_ran_meanwhile),
		cmocka_unit_test(a_reader_that_runs_does_not_wait),
		cmocka_unit_test(a_task_that_may_have_ended_before_is_not_slow),
		cmocka_unit_test(a_counter_that_climbs_late_is_found),
		cmocka_unit_test(a_counter_in_a_saw_is_no_climb),
		cmocka_unit_test(the_first_of_many_is_one_of_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
