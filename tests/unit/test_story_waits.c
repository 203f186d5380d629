/* SPDX-License-Identifier: ISC
 *
 * Which task a task waits for, in traces that tests make up: a lost lookup in the manner of Lwt,
 * and programs that poll without a switch to no task.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/story.h>

#include "loaded.h"

static uint32_t task_of(const struct loaded *loaded, uint64_t id)
{
	uint32_t task = weft_model_find_task(loaded->model, 0, id);
	assert_int_not_equal(task, WEFT_NONE);
	return task;
}

static uint64_t waits_for(const struct loaded *loaded, uint64_t id, uint64_t at)
{
	struct weft_story_wait wait;
	if (!weft_story_wait_at(&loaded->story, task_of(loaded, id), at, &wait))
		return 0;
	return wait.source == WEFT_NONE ? UINT64_MAX : loaded->model->tasks.id[wait.source];
}

/* A lookup in the manner of Lwt: each bind is created, tries to read and is then become. Task 1
 * becomes bind 26, which waits for binds 25 … 20. Bind 20 becomes try 31, which waits for task 30,
 * a waiter of condition 10. Nothing signals the condition after that; 2 runs until 1 ms. */
static struct loaded lost_lookup(void)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_BIND);
	make_create(&made, 0, 2, WEFT_KIND_BIND);
	make_switch(&made, 1);
	made.time = 1000;
	make_create(&made, 1, 10, WEFT_KIND_CONDITION);
	make_label(&made, 10, "answer");
	for (uint64_t id = 20; id <= 26; id++) {
		made.time += 10;
		make_create(&made, 1, id, WEFT_KIND_BIND);
		made.time += 10;
		if (id > 20)
			make_edge(&made, WEFT_EVENT_TRY_READ, id, id - 1);
	}
	made.time = 2000;
	make_edge(&made, WEFT_EVENT_BECOME, 1, 26);
	made.time = 3000;
	make_switch(&made, 2);
	made.time = 4000;
	make_signal(&made, 10, 2, true);
	made.time = 5000;
	make_switch(&made, 20);
	made.time = 6000;
	make_signal(&made, 10, 20, true);
	make_create(&made, 10, 30, WEFT_KIND_TASK);
	made.time = 6100;
	make_switch(&made, 20);
	make_create(&made, 20, 31, WEFT_KIND_TRY);
	made.time = 6200;
	make_edge(&made, WEFT_EVENT_TRY_READ, 31, 30);
	made.time = 6300;
	make_edge(&made, WEFT_EVENT_BECOME, 20, 31);
	made.time = 7000;
	make_switch(&made, 2);
	made.time = 1000000;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

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
		assert_int_equal(weft_story_wait_chain(
							 &story, task_of(&loaded, 26), WEFT_STORY_WHOLE, waits, 16, &cycle),
			7);
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

/* An activation that no become begins ends the wait, as before. */
static void a_task_that_runs_has_stopped_to_wait(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 3; id++)
		make_create(&made, 0, id, WEFT_KIND_TASK);
	make_switch(&made, 1);
	made.time = 100;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
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
	struct weft_event event = {.type = WEFT_EVENT_BAND, .band = WEFT_BAND_IDLE, .flag = true};
	make(made, event);
	made->time += ns;
	event.flag = false;
	make(made, event);
}

/* Task 1 waits for 3. After a poll it goes on for `goes_on` ns, and does something if told to,
 * until the program switches to 2, which resolves 3. */
static struct loaded polling(uint64_t goes_on, bool acts, bool reads)
{
	struct made made = make_begin();
	for (uint64_t id = 1; id <= 4; id++)
		make_create(&made, 0, id, WEFT_KIND_TASK);
	make_switch(&made, 1);
	made.time = 100;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_become_is_no_end_of_a_wait),
		cmocka_unit_test(a_task_that_runs_has_stopped_to_wait),
		cmocka_unit_test(a_task_waits_on_after_a_poll),
		cmocka_unit_test(a_task_that_acts_or_works_after_a_poll_has_woken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
