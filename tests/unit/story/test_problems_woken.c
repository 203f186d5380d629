/* SPDX-License-Identifier: ISC
 *
 * Tasks that are woken, or wake up by themselves, and have nothing to do: herds and polling.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/ends.h>

#include "problems_found.h"

/* A signal wakes all of twenty; `works`: each then does something, before it waits again. */
static struct found woken(bool works)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_CONDITION);
	for (uint64_t round = 0; round < 5; round++) {
		make_switch(&made, 0);
		make_signal(&made, 1, 0, true);
		for (uint64_t id = 10; id < 30; id++) {
			made.time += 5 * US;
			make_edge(&made, WEFT_EVENT_READ, id, 1);
			made.time += 5 * US;
			if (works || id == 10 + round) {
				make_create(&made, id, id + 100 * (round + 1), WEFT_KIND_TASK);
				make_edge(&made, WEFT_EVENT_RESOLVE, id, id + 100 * (round + 1));
			}
			make_edge(&made, WEFT_EVENT_TRY_READ, id, 1);
		}
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 100 * US;
	}
	return find(&made);
}

static void a_thundering_herd_is_found(void **state)
{
	struct found found = woken(false);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_HERD);
	assert_int_equal(p->count, 5);
	assert_string_equal(p->sentence,
		"A signal of condition 1 at 0 ns wakes 20 tasks, of which 19 only wait again; the worst of 5 "
		"times.");
	found_finish(&found);
	expect_nothing(woken(true));
}

/* Twenty workers wait; a burst of signals, for a job each, wakes one of them each. */
static void a_signal_for_each_task_is_not_a_herd(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_CONDITION);
	for (uint64_t id = 10; id < 30; id++)
		make_edge(&made, WEFT_EVENT_TRY_READ, id, 1);
	for (uint64_t round = 0; round < 5; round++) {
		make_switch(&made, 0);
		for (uint64_t id = 10; id < 30; id++) {
			made.time += US;
			make_signal(&made, 1, 0, true);
		}
		for (uint64_t id = 10; id < 30; id++) {
			made.time += 5 * US;
			make_edge(&made, WEFT_EVENT_READ, id, 1);
			made.time += 5 * US;
			make_edge(&made, WEFT_EVENT_TRY_READ, id, 1);
		}
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 100 * US;
	}
	struct found found = find(&made);
	assert_int_equal(count_of(&found, WEFT_PROBLEM_HERD), 0);
	found_finish(&found);
}

/* Twenty tasks wait for a promise each; all are resolved at once. The first `first` of their
 * readers do something, the others want another promise. */
static struct found all_woken(uint64_t first)
{
	struct made made = make_begin();
	uint64_t next = 1000;
	for (uint64_t i = 0; i < 20; i++)
		make_create(&made, 0, next + i, WEFT_KIND_PROMISE);
	for (unsigned round = 0; round < 5; round++, next += 100) {
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 5 * MS;
		make_switch(&made, 1);
		for (uint64_t i = 0; i < 20; i++)
			make_edge(&made, WEFT_EVENT_RESOLVE, 1, next + i);
		for (uint64_t i = 0; i < 20; i++) {
			made.time += 5 * US;
			make_edge(&made, WEFT_EVENT_READ, 10 + i, next + i);
			made.time += 5 * US;
			if (i < first) {
				make_create(&made, 10 + i, next + 50 + i, WEFT_KIND_TASK);
				make_edge(&made, WEFT_EVENT_RESOLVE, 10 + i, next + 50 + i);
			}
			make_create(&made, 10 + i, next + 100 + i, WEFT_KIND_PROMISE);
			make_edge(&made, WEFT_EVENT_TRY_READ, 10 + i, next + 100 + i);
		}
	}
	return find(&made);
}

static void a_herd_with_a_promise_each_is_found(void **state)
{
	struct found found = all_woken(1);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_HERD);
	assert_int_equal(p->count, 5);
	assert_string_equal(p->sentence,
		"preexisting 1 at 5 ms wakes 20 tasks at once, of which 19 only wait again; the worst of 5 "
		"times.");
	found_finish(&found);
}

static void tasks_that_all_act_alike_are_not_a_herd(void **state)
{
	(void)state;
	for (uint64_t first = 0; first <= 20; first += 10) { /* broadcasts; each of ten has work */
		struct found found = all_woken(first);
		assert_int_equal(count_of(&found, WEFT_PROBLEM_HERD), 0);
		found_finish(&found);
	}
}

/* A task that runs every millisecond for `run_ns`; with `acts`, it notes something each time. With
 * `sleeps` it waits for a promise of its own in between. */
static struct found runs_often(uint64_t run_ns, bool acts, bool sleeps)
{
	struct made made = make_begin();
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_create(&made, 2, 1, WEFT_KIND_TASK);
	make_label(&made, 1, "look");
	for (uint64_t i = 0; i < 300; i++) {
		make_switch(&made, 1);
		if (acts)
			make_label(&made, 1, "found it");
		made.time += run_ns;
		if (sleeps) {
			make_create(&made, 1, 100 + i, WEFT_KIND_PROMISE);
			make_edge(&made, WEFT_EVENT_TRY_READ, 1, 100 + i);
		}
		make_switch(&made, 2); /* what runs it ticks with it */
		made.time += US;
		make_switch(&made, WEFT_TASK_NONE);
		made.time += MS - run_ns - US;
		if (sleeps) {
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, 100 + i);
			make_edge(&made, WEFT_EVENT_READ, 1, 100 + i);
		}
	}
	return find(&made);
}

static void polling_is_found(void **state)
{
	struct found found = runs_often(5 * US, false, false);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_POLLING);
	expect_words(p, "wakes up, without visible effect", "again, after 1 ms");
	assert_int_equal(found.problems->count, 1);
	assert_int_equal(p->severity, WEFT_SEVERITY_HINT);
	assert_string_equal(p->sentence, "task 1 'look' wakes up 300 times, every 1 ms, for 5 us each, "
									 "without visible effect: it polls.");
	found_finish(&found);
	found = runs_often(5 * US, false, true);
	assert_int_equal(found.loaded.model->tasks.id[only(&found, WEFT_PROBLEM_POLLING)->task], 1);
	found_finish(&found);
}

static void a_task_with_effects_does_not_poll(void **state)
{
	(void)state;
	expect_nothing(runs_often(5 * US, true, false));
	struct found found = runs_often(400 * US, false, false); /* it may compute something useful */
	expect_none(&found);
	found_finish(&found);
}

/* A loop that waits 10 us each time, for 600 ms; `others` times, another task runs meanwhile. */
static struct found hardly_waits(uint64_t others)
{
	struct made made = make_begin();
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_THREAD);
	make_create(&made, 1, 2, WEFT_KIND_TASK);
	make_label(&made, 1, "loop");
	for (uint64_t i = 0; i < 60000; i++) {
		make_switch(&made, 1);
		made.time += US / 2;
		make_switch(&made, i < others ? 2 : WEFT_TASK_NONE);
		if (i < others)
			make_label(&made, 2, "works");
		made.time += US / 2;
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 9 * US;
	}
	return find(&made);
}

static void a_loop_that_hardly_waits_is_a_warning(void **state)
{
	struct found found = hardly_waits(0);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_POLLING);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_non_null(strstr(p->sentence, "without visible effect: it hardly waits"));
	found_finish(&found);
	found = hardly_waits(30000);
	assert_int_equal(only(&found, WEFT_PROBLEM_POLLING)->severity, WEFT_SEVERITY_HINT);
	found_finish(&found);
}

/* 1,000 calls in 100 ms. */
static void make_in_vain(struct made *made, uint64_t thread, const char *note)
{
	made->time += 100 * MS;
	make(made,
		(struct weft_event){.type = WEFT_EVENT_NOTE, .task = thread, .text = {note, strlen(note)}});
	make_tag(made, thread, WEFT_TAG_VAIN_CALLS, 1000);
	make_tag(made, thread, WEFT_TAG_VAIN_NS, 100 * MS);
}

/* A thread of 2 s that calls `each_ns` of each 100 ms in vain. */
static struct found in_vain(uint64_t each_ns, bool has_all)
{
	struct made made = make_begin();
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_THREAD);
	make_label(&made, 1, "waiter");
	make_switch(&made, 1);
	for (uint64_t i = 0; i < 20; i++) {
		made.time += 100 * MS;
		make(&made, (struct weft_event){.type = WEFT_EVENT_NOTE,
						.task = 1,
						.text = {WEFT_NOTE_VAIN "sched_yield", sizeof(WEFT_NOTE_VAIN) + 10}});
		make_tag(&made, 1, WEFT_TAG_VAIN_CALLS, 1000);
		if (has_all)
			make_tag(&made, 1, WEFT_TAG_VAIN_NS, (int64_t)each_ns);
	}
	return find(&made);
}

static void a_busy_loop_is_found(void **state)
{
	struct found found = in_vain(60 * MS, true);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_POLLING);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_string_equal(
		p->sentence, "thread 1 'waiter' waits in a busy loop for 1.2 s: 20,000 × sched_yield.");
	found_finish(&found);
	found = in_vain(20 * MS, true); /* a fifth of its time */
	assert_int_equal(only(&found, WEFT_PROBLEM_POLLING)->severity, WEFT_SEVERITY_HINT);
	found_finish(&found);
}

static void notes_alone_are_no_busy_loop(void **state)
{
	struct found found = in_vain(0, false);
	(void)state;
	assert_int_equal(count_of(&found, WEFT_PROBLEM_POLLING), 0);
	found_finish(&found);
}

/* The threads run in turns, and the last one the longest. One makes another call at last. */
static void the_longest_busy_loops_are_found(void **state)
{
	static const char others[] = WEFT_NOTE_VAIN "usleep";
	struct made made = make_begin();
	(void)state;
	for (uint64_t thread = 1; thread <= 4; thread++) {
		make_create(&made, WEFT_TASK_NONE, thread, WEFT_KIND_THREAD);
		make_switch(&made, thread);
		for (uint64_t i = 0; i < thread; i++)
			make_in_vain(&made, thread, thread == 3 && i == 2 ? others : WEFT_NOTE_VAIN "poll");
	}
	struct found found = find(&made);
	const char *sentences[] = {"thread 2 waits in a busy loop for 200 ms: 2,000 × poll.",
		"thread 3 waits in a busy loop for 300 ms: 3,000 × usleep and others.",
		"thread 4 waits in a busy loop for 400 ms: 4,000 × poll."};
	uint32_t busy = 0;
	for (uint32_t i = 0; i < found.problems->count; i++)
		if (found.problems->list[i].type == WEFT_PROBLEM_POLLING)
			assert_string_equal(found.problems->list[i].sentence, sentences[busy++]);
	assert_int_equal(busy, 3);
	found_finish(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thundering_herd_is_found),
		cmocka_unit_test(a_signal_for_each_task_is_not_a_herd),
		cmocka_unit_test(a_herd_with_a_promise_each_is_found),
		cmocka_unit_test(tasks_that_all_act_alike_are_not_a_herd),
		cmocka_unit_test(polling_is_found),
		cmocka_unit_test(a_task_with_effects_does_not_poll),
		cmocka_unit_test(a_loop_that_hardly_waits_is_a_warning),
		cmocka_unit_test(a_busy_loop_is_found),
		cmocka_unit_test(notes_alone_are_no_busy_loop),
		cmocka_unit_test(the_longest_busy_loops_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
