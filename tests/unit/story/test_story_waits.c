/* SPDX-License-Identifier: ISC
 *
 * The task for which a task waits at a time, in traces that tests make up: programs that poll
 * without a switch to no task, and promises that are known late.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace_script.h"
#include "wait_chain.h"
#include "waits_made.h"

static void a_become_is_no_end_of_a_wait(void **state)
{
	static const uint64_t expected[] = {26, 25, 24, 23, 22, 21, 31, 30};
	struct loaded loaded = lost_lookup();
	struct weft_story_wait waits[16];
	bool cycle;
	(void)state;
	for (int with_index = 0; with_index < 2; with_index++) {
		struct weft_story story = loaded.story;
		if (!with_index)
			story.index = NULL;
		assert_int_equal(
			wait_chain(&story, task_of(&loaded, 26), WEFT_STORY_WHOLE, waits, 16, &cycle), 7);
		assert_false(cycle);
		for (int i = 0; i < 7; i++) {
			assert_int_equal(loaded.model->tasks.id[waits[i].task], expected[i]);
			assert_int_equal(loaded.model->tasks.id[waits[i].source], expected[i + 1]);
			assert_int_equal(waits[i].until, UINT64_MAX);
		}
		assert_int_equal(waits[0].since, 1140);
	}
	/* The same just before it is become, and not while it runs. */
	assert_int_equal(waits_for(&loaded, 26, 1500), 25);
	assert_int_equal(waits_for(&loaded, 26, 2500), 0);
	assert_int_equal(waits_for(&loaded, 26, 3500), 25);
	loaded_finish(&loaded);
}

/* A task that runs again without a become has stopped waiting. */
static void a_task_that_runs_has_stopped_to_wait(void **state)
{
	struct made made = begin_wait(3);
	(void)state;
	made.time = 200;
	make_switch(&made, 2);
	made.time = 300;
	make_switch(&made, 1);
	made.time = 400;
	make_switch(&made, 2);
	made.time = 500;
	make_switch(&made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(&made);
	assert_int_equal(waits_for(&loaded, 1, 250), 3);
	assert_int_equal(waits_for(&loaded, 1, 350), 0);
	assert_int_equal(waits_for(&loaded, 1, 450), 0);
	loaded_finish(&loaded);
}

static void make_poll(struct made *made, uint64_t ns)
{
	struct weft_event event = {
		.type = WEFT_EVENT_BAND, .band = WEFT_BAND_IDLE, .flag = true, .text = {"poll", 4}};
	make(made, event);
	made->time += ns;
	event.flag = false;
	make(made, event);
}

/* Task 1 waits for 3. After a poll it goes on for `goes_on` ns, and does something if told to,
 * until the program switches to 2, which resolves 3. */
static struct loaded polling(uint64_t goes_on, bool acts, bool reads)
{
	struct made made = begin_wait(4);
	made.time = 1000;
	make_poll(&made, 1000000);
	made.time += goes_on / 2;
	if (acts)
		make_edge(&made, WEFT_EVENT_RESOLVE, 1, 4);
	made.time += goes_on - goes_on / 2;
	make_switch(&made, 2);
	made.time += 1000;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	made.time += 1000;
	if (reads)
		make_edge(&made, WEFT_EVENT_READ, 1, 3);
	made.time += 1000;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

static void a_task_waits_on_after_a_poll(void **state)
{
	struct loaded loaded = polling(500, false, true);
	struct weft_story_wait wait;
	(void)state;
	assert_int_equal(waits_for(&loaded, 1, 500), 0); /* it runs until the poll */
	for (uint64_t at = 1000; at < 1003000; at += 100) {
		if (!weft_story_wait_at(&loaded.story, task_of(&loaded, 1), at, &wait))
			fail_msg("waits for nothing at %llu", (unsigned long long)at);
		assert_int_equal(wait.source, task_of(&loaded, 3));
		assert_int_equal(wait.since, 1000);
		assert_int_equal(wait.until, 1003500);
	}
	loaded_finish(&loaded);
}

/* The loop runs in task 1, which waits for 3: it returns from another task, and polls. */
static void a_loop_that_polls_waits_on(void **state)
{
	struct made made = begin_wait(3);
	(void)state;
	for (int i = 0; i < 3; i++) {
		made.time += 100;
		make_switch(&made, 2);
		made.time += 1000;
		make_switch(&made, 1);
		made.time += 500;
		make_poll(&made, 10000);
	}
	struct loaded loaded = make_end(&made);
	for (uint64_t at = 300; at < loaded.model->summary.end; at += 100)
		assert_int_equal(waits_for(&loaded, 1, at), 3);
	loaded_finish(&loaded);
}

static void a_task_that_acts_or_works_after_a_poll_has_woken(void **state)
{
	(void)state;
	for (int acts = 0; acts < 2; acts++) {
		struct loaded loaded = polling(acts ? 500 : 200000, acts, false);
		struct weft_story_wait wait;
		assert_true(weft_story_wait_at(&loaded.story, task_of(&loaded, 1), 2000, &wait));
		assert_int_equal(wait.source, task_of(&loaded, 3));
		assert_int_equal(wait.until, 1001000);
		assert_int_equal(waits_for(&loaded, 1, 1001200), 0);
		loaded_finish(&loaded);
	}
}

/* Task 1 does something short between two idle bands: it creates task 4, or asks for it again, and
 * the answer comes in the second band. The model drops that try_read. */
static void a_task_that_creates_or_waits_in_a_short_run_has_woken(void **state)
{
	(void)state;
	for (int creates = 0; creates < 2; creates++) {
		struct made made = make_begin();
		make_tasks(&made, 3);
		make_switch(&made, 1);
		made.time = 1000;
		make_switch(&made, 2);
		made.time = 200000;
		if (!creates)
			make_create(&made, 2, 4, WEFT_KIND_TASK);
		make_switch(&made, WEFT_TASK_NONE);
		made.time = 250000;
		make_switch(&made, 1);
		made.time += 5000;
		if (creates)
			make_create(&made, 1, 4, WEFT_KIND_TASK);
		make_edge(&made, WEFT_EVENT_TRY_READ, 1, 4);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 10000000;
		make_edge(&made, WEFT_EVENT_RESOLVE, 3, 4);
		make_edge(&made, WEFT_EVENT_READ, 1, 4);
		struct loaded loaded = make_end(&made);
		assert_int_equal(waits_for(&loaded, 1, 100000), 0);
		assert_int_equal(waits_for(&loaded, 1, 230000), 0);
		assert_int_equal(waits_for(&loaded, 1, 5000000), 4);
		loaded_finish(&loaded);
	}
}

/* Task 1 of that kind runs until 1 us, and from 3 us on, in `runs` parts. In the last one it reads
 * task 3, which has ended at that time. */
static struct loaded reads_when_it_runs(uint16_t kind, uint64_t end, unsigned runs)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, kind);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_create(&made, 0, 3, WEFT_KIND_WAIT);
	make_switch(&made, 1);
	if (end < 1000) {
		made.time = end;
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	}
	made.time = 1000;
	make_switch(&made, 2);
	if (end >= 1000 && end <= 3000) {
		made.time = end;
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	}
	for (unsigned i = 0; i < runs; i++) {
		made.time = 3000 + i * 1000;
		make_switch(&made, 1);
		made.time += 200;
		if (i + 1 < runs)
			make_switch(&made, 2);
	}
	if (end > 3000)
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	make_edge(&made, WEFT_EVENT_READ, 1, 3);
	made.time += 100;
	make_switch(&made, 2);
	return make_end(&made);
}

/* Runtimes that say that a promise runs before they say for what. */
static void a_promise_runs_for_the_first_that_it_reads(void **state)
{
	struct weft_story_wait wait;
	(void)state;
	for (uint64_t end = 2500; end <= 3000; end += 500) {
		struct loaded loaded = reads_when_it_runs(WEFT_KIND_BIND, end, 1);
		assert_true(weft_story_wait_at(&loaded.story, task_of(&loaded, 1), 2000, &wait));
		assert_int_equal(wait.source, task_of(&loaded, 3));
		assert_int_equal(wait.since, 1000);
		assert_int_equal(wait.until, 3000);
		loaded_finish(&loaded);
	}
	static const struct {
		uint16_t kind;
		uint64_t end;
		unsigned runs;
	} unknown[] = {
		{WEFT_KIND_THREAD, 2500, 1}, /* a thread runs for many reasons */
		{WEFT_KIND_BIND, 500, 1},    /* it had ended before */
		{WEFT_KIND_BIND, 2000, 1},   /* at the time */
		{WEFT_KIND_BIND, 3100, 1},   /* it ended later than the task began to run */
		{WEFT_KIND_BIND, 2500, 2},   /* the task ran for something else before */
	};
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct loaded loaded = reads_when_it_runs(unknown[i].kind, unknown[i].end, unknown[i].runs);
		assert_int_equal(waits_for(&loaded, 1, 2000), 0);
		loaded_finish(&loaded);
	}
}

/* Task 1 asks 3 and then 4. It wakes for 3, waits on, and wakes again for 4, which it may read. */
static void a_wait_for_one_of_several_ends_with_its_own_wake_up(void **state)
{
	(void)state;
	for (int reads = 0; reads < 2; reads++) {
		struct made made = begin_wait(3);
		struct weft_story_wait wait;
		make_create(&made, 1, 4, WEFT_KIND_TASK);
		made.time += 100;
		make_edge(&made, WEFT_EVENT_TRY_READ, 1, 4);
		uint64_t asked = made.time;
		made.time += 100;
		make_switch(&made, 2);
		made.time += 5000;
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
		make_switch(&made, 1);
		uint64_t woken = made.time;
		made.time += 200000; /* longer than a poll */
		make_edge(&made, WEFT_EVENT_READ, 1, 3);
		made.time += 100;
		make_switch(&made, 2);
		made.time += 5000;
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 4);
		make_switch(&made, 1);
		uint64_t woken_again = made.time;
		made.time += 300;
		if (reads)
			make_edge(&made, WEFT_EVENT_READ, 1, 4);
		made.time += 300;
		make_switch(&made, 2);
		struct loaded loaded = make_end(&made);
		assert_true(weft_story_wait_at(&loaded.story, task_of(&loaded, 1), asked + 200, &wait));
		assert_int_equal(wait.source, task_of(&loaded, 4));
		assert_int_equal(wait.until, reads ? woken_again : woken);
		loaded_finish(&loaded);
	}
}

/* Task 1 wants 3 and 4, wakes for 3, and waits on for 4, which it reads later. */
static void a_task_waits_on_for_the_second_of_two(void **state)
{
	struct made made = begin_wait(4);
	(void)state;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 4);
	make_switch(&made, 2);
	made.time = 500;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	made.time = 600;
	make_switch(&made, 1);
	make_label(&made, 1, "works");
	made.time = 700;
	make_edge(&made, WEFT_EVENT_READ, 1, 3);
	make_switch(&made, 2);
	made.time = 900;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 4);
	made.time = 1000;
	make_switch(&made, 1);
	made.time = 1100;
	make_edge(&made, WEFT_EVENT_READ, 1, 4);
	make_switch(&made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(&made);
	assert_int_equal(waits_for(&loaded, 1, 300), 4);
	assert_int_equal(waits_for(&loaded, 1, 650), 0);
	assert_int_equal(waits_for(&loaded, 1, 800), 4);
	loaded_finish(&loaded);
}

/* A thread sleeps, wakes, and waits for a lock in calls that were noted. */
static void a_sleep_before_a_wait_is_not_part_of_it(void **state)
{
	struct loaded loaded = trace_script_load("create 0 1 thread; create 0 5 lock; run 1; +10; idle;"
											 "+20; run 1; +1; stack 1 flush; try 1 5; idle; +30;"
											 "acquire 1 5; run 1; +1; idle",
		0);
	(void)state;
	assert_int_equal(waits_for(&loaded, 1, 20 * 1000), 0);
	assert_int_equal(waits_for(&loaded, 1, 50 * 1000), 5);
	loaded_finish(&loaded);
}

/* A waiter says that thread 1, which sleeps, holds the lock. */
static void a_holder_does_not_wait_for_its_lock(void **state)
{
	struct loaded loaded =
		trace_script_load("create 0 1 thread; create 0 2 thread; create 0 5 lock; thread 1; run 1;"
						  "+5; idle; thread 2; run 2; +10; acquire 1 5; stack 2 flush; try 2 5;"
						  "idle; +10; thread 1; run 1; release 1 5; +1; idle",
			0);
	(void)state;
	assert_int_equal(waits_for(&loaded, 1, 10 * 1000), 0);
	assert_int_equal(waits_for(&loaded, 2, 20 * 1000), 5);
	loaded_finish(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_become_is_no_end_of_a_wait),
		cmocka_unit_test(a_task_that_runs_has_stopped_to_wait),
		cmocka_unit_test(a_task_waits_on_after_a_poll),
		cmocka_unit_test(a_loop_that_polls_waits_on),
		cmocka_unit_test(a_task_that_acts_or_works_after_a_poll_has_woken),
		cmocka_unit_test(a_task_that_creates_or_waits_in_a_short_run_has_woken),
		cmocka_unit_test(a_promise_runs_for_the_first_that_it_reads),
		cmocka_unit_test(a_wait_for_one_of_several_ends_with_its_own_wake_up),
		cmocka_unit_test(a_task_waits_on_for_the_second_of_two),
		cmocka_unit_test(a_sleep_before_a_wait_is_not_part_of_it),
		cmocka_unit_test(a_holder_does_not_wait_for_its_lock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
