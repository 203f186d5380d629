/* SPDX-License-Identifier: ISC
 *
 * Which problems are consequences of which: by what the trace shows, not by what else there is at
 * that time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "problems_found.h"

#define FIRST_QUICK 100
#define QUICK       200
#define HOG         1000
#define FIRST_CALL  2000
#define CALLS       12
#define FIRST_TIMER 3000
#define TIMERS      3
#define FIRST_OTHER 4000
#define OTHERS      10
#define LOCK        50

static const struct weft_trace_thread threads[] = {{.name = "main"}, {.name = "second"}};

static void make_call(struct made *made, uint64_t id)
{
	make_create(made, 0, id, WEFT_KIND_TASK);
	make_label(made, id, "stat");
}

static void make_timer(struct made *made, uint64_t id, uint64_t due_ns)
{
	make_create(made, 0, id, WEFT_KIND_TIMER);
	make(made, (struct weft_event){.type = WEFT_EVENT_TAG,
				   .task = id,
				   .text = {"deadline", 8},
				   .value = (int64_t)due_ns,
				   .has_value = true});
}

static void run(struct made *made, uint64_t id, uint64_t length_ns)
{
	make_switch(made, id);
	made->time += length_ns;
	make_edge(made, WEFT_EVENT_RESOLVE, id, id);
	make_switch(made, 0);
}

/* Quick calls, and then some calls and timers while a task runs for 300 ms on thread 0, for which
 * others wait. The calls and timers are made and run on `thread`, `later_ns` after it. */
static struct made make_stall(uint32_t thread, uint64_t later_ns)
{
	struct made made = make_begin();
	made.threads = threads;
	made.thread_count = 2;
	make_switch(&made, 0);
	made.thread = thread;
	if (thread)
		make_switch(&made, 1);
	for (uint64_t id = FIRST_QUICK; id < FIRST_QUICK + QUICK; id++) {
		make_call(&made, id);
		made.time += 50 * US;
		run(&made, id, 10 * US);
	}
	make_create(&made, 0, HOG, WEFT_KIND_TASK);
	make_label(&made, HOG, "report");
	for (uint64_t id = FIRST_TIMER; id < FIRST_TIMER + TIMERS; id++)
		make_timer(&made, id, 20 * MS);
	for (uint64_t id = FIRST_CALL; id < FIRST_CALL + CALLS; id++)
		make_call(&made, id);
	made.thread = 0;
	for (uint64_t id = FIRST_OTHER; id < FIRST_OTHER + OTHERS; id++)
		make_create(&made, 0, id, WEFT_KIND_TASK);
	run(&made, HOG, 300 * MS);
	for (uint64_t id = FIRST_OTHER; id < FIRST_OTHER + OTHERS; id++)
		run(&made, id, 10 * US);
	made.thread = thread;
	made.time += later_ns;
	for (uint64_t id = FIRST_CALL; id < FIRST_CALL + CALLS; id++)
		run(&made, id, 10 * US);
	for (uint64_t id = FIRST_TIMER; id < FIRST_TIMER + TIMERS; id++)
		run(&made, id, 10 * US);
	made.time += 10 * MS;
	make_switch(&made, 0);
	return made;
}

static const struct weft_problem *reason_of(const struct found *found, enum weft_problem_type type)
{
	const struct weft_problem *problem = only(found, type);
	return problem->reason == WEFT_NONE ? NULL : &found->problems->list[problem->reason];
}

static void what_held_the_thread_comes_first(void **state)
{
	struct made made = make_stall(0, 10 * US);
	(void)state;
	struct found found = find(&made);
	const struct weft_problem *hog = only(&found, WEFT_PROBLEM_HOG);
	assert_ptr_equal(reason_of(&found, WEFT_PROBLEM_LATE), hog);
	assert_ptr_equal(reason_of(&found, WEFT_PROBLEM_SLOW), hog);
	assert_int_equal(only(&found, WEFT_PROBLEM_SLOW)->count, CALLS);
	assert_int_equal(hog->reason, WEFT_NONE);
	assert_int_equal(hog->severity, WEFT_SEVERITY_WARNING);
	assert_ptr_equal(&found.problems->list[found.problems->by_gravity[0]], hog);
	for (uint32_t i = 1; i < 3; i++)
		assert_ptr_equal(
			&found.problems->list[found.problems->list[found.problems->by_gravity[i]].reason], hog);
	found_finish(&found);
}

static void what_happens_at_the_time_is_no_consequence(void **state)
{
	(void)state;
	struct made made = make_stall(1, 10 * US);
	struct found found = find(&made);
	only(&found, WEFT_PROBLEM_HOG);
	assert_null(reason_of(&found, WEFT_PROBLEM_LATE));
	assert_null(reason_of(&found, WEFT_PROBLEM_SLOW));
	found_finish(&found);
	made = make_stall(0, 100 * MS); /* the thread was free before they ran */
	found = find(&made);
	only(&found, WEFT_PROBLEM_HOG);
	assert_null(reason_of(&found, WEFT_PROBLEM_LATE));
	assert_null(reason_of(&found, WEFT_PROBLEM_SLOW));
	found_finish(&found);
}

/* Calls hold a lock for 10 us each; one holds it for 300 ms. The last two calls wait meanwhile, one
 * for the lock, and the other for nothing that the trace shows. */
static struct found locked(bool is_slow_one)
{
	struct made made = make_begin();
	const uint64_t holder = 10, slow = FIRST_QUICK + QUICK, other = slow + 1;
	const uint64_t waiter = is_slow_one ? slow : other;
	make_create(&made, 0, LOCK, WEFT_KIND_LOCK);
	make_create(&made, 0, holder, WEFT_KIND_TASK);
	for (uint64_t id = FIRST_QUICK; id < slow; id++) {
		make_call(&made, id);
		make_edge(&made, WEFT_EVENT_ACQUIRE, id, LOCK);
		made.time += 10 * US;
		make_edge(&made, WEFT_EVENT_RELEASE, id, LOCK);
		run(&made, id, 10 * US);
	}
	make_edge(&made, WEFT_EVENT_ACQUIRE, holder, LOCK);
	made.time += 10 * US;
	make_call(&made, slow);
	make_create(&made, 0, other, WEFT_KIND_TASK);
	make_edge(&made, WEFT_EVENT_TRY_READ, waiter, LOCK);
	made.time += 300 * MS;
	make_edge(&made, WEFT_EVENT_RELEASE, holder, LOCK);
	made.time += US;
	make_switch(&made, waiter);
	make_edge(&made, WEFT_EVENT_READ, waiter, LOCK);
	make_edge(&made, WEFT_EVENT_ACQUIRE, waiter, LOCK);
	made.time += US;
	make_edge(&made, WEFT_EVENT_RELEASE, waiter, LOCK);
	run(&made, slow, 10 * US);
	run(&made, other, 10 * US);
	run(&made, holder, 10 * US);
	return find(&made);
}

static void who_waits_for_the_lock_is_below_it(void **state)
{
	(void)state;
	struct found found = locked(true);
	const struct weft_problem *lock = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_ptr_equal(reason_of(&found, WEFT_PROBLEM_SLOW), lock);
	found_finish(&found);
	found = locked(false);
	only(&found, WEFT_PROBLEM_CONTENTION);
	assert_null(reason_of(&found, WEFT_PROBLEM_SLOW));
	found_finish(&found);
}

/* A task that takes long because it runs for long, without a pause. */
static void a_long_run_explains_a_long_life(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = FIRST_QUICK; id < FIRST_QUICK + QUICK; id++) {
		make_call(&made, id);
		make_create(&made, 0, FIRST_CALL + id, WEFT_KIND_TASK);
		make_create(&made, 0, 2 * FIRST_CALL + id, WEFT_KIND_TASK);
		make_create(&made, 0, 3 * FIRST_CALL + id, WEFT_KIND_TASK);
		run(&made, id, id == FIRST_QUICK + 100 ? 300 * MS : 10 * US);
		for (uint64_t k = 1; k <= 3; k++)
			run(&made, k * FIRST_CALL + id, 10 * US);
	}
	struct found found = find(&made);
	assert_ptr_equal(reason_of(&found, WEFT_PROBLEM_SLOW), only(&found, WEFT_PROBLEM_HOG));
	found_finish(&found);
}

/* A pause of the garbage collector, in a run of the task or on another thread. */
static struct found paused(uint32_t thread)
{
	struct made made = make_begin();
	const uint64_t slow = FIRST_QUICK + 100;
	made.threads = threads;
	made.thread_count = 2;
	for (uint64_t id = FIRST_QUICK; id < FIRST_QUICK + QUICK; id++) {
		make_call(&made, id);
		make_switch(&made, id);
		made.time += id == slow ? 300 * MS : 10 * US;
		made.thread = thread;
		if (id == slow)
			make(&made, (struct weft_event){.type = WEFT_EVENT_GC, .value = 290 * (int64_t)MS});
		made.thread = 0;
		run(&made, id, 10 * US);
	}
	return find(&made);
}

static void a_pause_explains_who_ran_then(void **state)
{
	(void)state;
	struct found found = paused(0);
	assert_ptr_equal(reason_of(&found, WEFT_PROBLEM_SLOW), only(&found, WEFT_PROBLEM_GC));
	found_finish(&found);
	found = paused(1);
	assert_int_equal(only(&found, WEFT_PROBLEM_GC)->reason, WEFT_NONE);
	assert_ptr_equal(reason_of(&found, WEFT_PROBLEM_SLOW), only(&found, WEFT_PROBLEM_HOG));
	found_finish(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_held_the_thread_comes_first),
		cmocka_unit_test(what_happens_at_the_time_is_no_consequence),
		cmocka_unit_test(who_waits_for_the_lock_is_below_it),
		cmocka_unit_test(a_long_run_explains_a_long_life),
		cmocka_unit_test(a_pause_explains_who_ran_then),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
