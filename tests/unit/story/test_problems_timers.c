/* SPDX-License-Identifier: ISC
 *
 * Timers that fire late, and tasks that run on although the one that waited for them was stopped.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "problems_found.h"

/* Timer 1 + i is due after 20 ms; `fires_ns`: when each is resolved, or 0. */
static struct found timers(const uint64_t *fires_ns, unsigned count)
{
	struct made made = make_begin();
	const uint64_t start = made.time;
	for (uint64_t id = 1; id <= count; id++) {
		make_create(&made, 0, id, WEFT_KIND_TIMER);
		make_tag(&made, id, WEFT_TAG_DEADLINE, 20 * MS);
	}
	for (uint64_t id = 1; id <= count; id++)
		if (fires_ns[id - 1]) {
			made.time = start + fires_ns[id - 1];
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, id);
		}
	made.time = start + 60 * MS;
	make_switch(&made, 0);
	return find(&made);
}

static void late_timers_are_found(void **state)
{
	(void)state;
	expect_nothing(timers((const uint64_t[]){15 * MS, 20 * MS, 22 * MS - 1}, 3));
	struct found found = timers((const uint64_t[]){20 * MS, 22 * MS, 25 * MS, 26 * MS}, 4);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_LATE);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 4);
	assert_int_equal(p->count, 3);
	assert_int_equal(p->end - p->start, 6 * MS);
	assert_string_equal(
		p->sentence, "timer 4 fired 6 ms late: it was due at 20 ms; 2 more were late.");
	found_finish(&found);
	found = timers((const uint64_t[]){20 * MS, 0}, 2);
	assert_string_equal(only(&found, WEFT_PROBLEM_LATE)->sentence,
		"timer 2 is overdue for 40 ms at the end: it was due at 20 ms.");
	found_finish(&found);
}

/* The first of those that are equally late is named. */
static void the_first_of_equally_late_timers_is_named(void **state)
{
	(void)state;
	struct found found = timers((const uint64_t[]){20 * MS, 26 * MS, 26 * MS, 25 * MS}, 4);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_LATE);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 2);
	found_finish(&found);
}

/* The timer was made on the second thread, which was busy; the first one ran another task. */
static void a_timer_is_late_because_of_its_own_thread(void **state)
{
	static const struct weft_trace_thread threads[] = {{.name = "first"}, {.name = "second"}};
	struct made made = make_begin();
	(void)state;
	made.threads = threads;
	made.thread_count = 2;
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_create(&made, 0, 3, WEFT_KIND_TASK);
	make_create(&made, 0, 4, WEFT_KIND_TASK);
	make_switch(&made, 3);
	made.thread = 1;
	make_switch(&made, 4);
	make_create(&made, 4, 1, WEFT_KIND_TIMER);
	make_tag(&made, 1, WEFT_TAG_DEADLINE, 20 * MS);
	made.time += 20 * MS;
	make_switch(&made, 2);
	made.time += 12 * MS;
	make_switch(&made, 4);
	make_edge(&made, WEFT_EVENT_RESOLVE, 4, 1);
	made.time += 28 * MS;
	make_switch(&made, 0);
	struct found found = find(&made);
	assert_non_null(
		strstr(only(&found, WEFT_PROBLEM_LATE)->sentence, ", while task 2 ran for 12 ms"));
	found_finish(&found);
}

/* A timer that fires 12 ms late; `ran`: another task has run since it was due, for 20 ms in all, of
 * which its thread had no processor for `off_ns`. */
static struct found late_by_twelve(bool ran, uint64_t off_ns)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_TIMER);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_tag(&made, 1, WEFT_TAG_DEADLINE, 20 * MS);
	made.time += 12 * MS;
	if (ran)
		make_switch(&made, 2);
	made.time += 20 * MS;
	if (off_ns)
		make(&made,
			(struct weft_event){.type = WEFT_EVENT_OFF_CPU, .task = 2, .value = (int64_t)off_ns});
	make_switch(&made, WEFT_TASK_NONE);
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 1);
	made.time += 28 * MS;
	make_switch(&made, 0);
	return find(&made);
}

/* The operating system delays timers, too. */
static void a_late_timer_is_grave_if_something_ran(void **state)
{
	struct found found = late_by_twelve(false, 0);
	(void)state;
	assert_int_equal(only(&found, WEFT_PROBLEM_LATE)->severity, WEFT_SEVERITY_HINT);
	found_finish(&found);
	found = late_by_twelve(true, 0);
	assert_int_equal(only(&found, WEFT_PROBLEM_LATE)->severity, WEFT_SEVERITY_WARNING);
	found_finish(&found);
	found = late_by_twelve(true, 10 * MS);
	assert_int_equal(only(&found, WEFT_PROBLEM_LATE)->severity, WEFT_SEVERITY_HINT);
	found_finish(&found);
}

/* Its callback runs for 30 ms: the timer has not fired late because of that. */
static void a_timer_fires_when_it_begins_to_run(void **state)
{
	struct made made = make_begin();
	(void)state;
	const uint64_t start = made.time;
	make_create(&made, 0, 1, WEFT_KIND_TIMER);
	make_tag(&made, 1, WEFT_TAG_DEADLINE, 20 * MS);
	made.time = start + 19 * MS;
	make_switch(&made, 1);
	made.time = start + 49 * MS;
	make_edge(&made, WEFT_EVENT_RESOLVE, 1, 1);
	make_switch(&made, 0);
	expect_nothing(find(&made));
}

/* Task 10 is stopped while it waits for 11, which runs again `later_ns` after that. */
static struct found orphaned(uint16_t stop, uint64_t later_ns, bool is_read)
{
	struct made made = make_begin();
	make_create(&made, 0, 10, WEFT_KIND_TASK);
	make_create(&made, 10, 11, WEFT_KIND_TASK);
	make_create(&made, 0, 12, WEFT_KIND_TASK);
	make_edge(&made, WEFT_EVENT_TRY_READ, 10, 11);
	made.time += MS;
	make_edge(&made, stop, 0, 10);
	made.time += later_ns;
	make_switch(&made, 11);
	made.time += MS;
	make_edge(&made, WEFT_EVENT_RESOLVE, 11, 11);
	if (is_read)
		make_edge(&made, WEFT_EVENT_READ, 12, 11);
	make_edge(&made, WEFT_EVENT_RESOLVE, 12, 12);
	make_switch(&made, 0);
	return find(&made);
}

static void a_task_that_runs_on_for_a_stopped_one_is_found(void **state)
{
	(void)state;
	struct found found = orphaned(WEFT_EVENT_CANCEL, 19 * MS, false);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_ORPHAN);
	assert_int_equal(p->severity, WEFT_SEVERITY_HINT);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 11);
	assert_string_equal(p->sentence,
		"task 11 runs on for 20 ms after task 10 was cancelled at 1 ms, and no other task reads its "
		"result.");
	found_finish(&found);
	expect_nothing(orphaned(WEFT_EVENT_CANCEL, 19 * MS, true));
	expect_nothing(orphaned(WEFT_EVENT_RESOLVE, 19 * MS, false));
}

/* Task 10 waits for 11, which does not run itself, and that for 12. */
static void a_task_that_runs_on_behind_another_is_found(void **state)
{
	(void)state;
	for (int is_read = 0; is_read < 2; is_read++) {
		struct made made = make_begin();
		make_tasks(&made, 13);
		make_edge(&made, WEFT_EVENT_TRY_READ, 10, 11);
		make_edge(&made, WEFT_EVENT_TRY_READ, 11, 12);
		if (is_read)
			make_edge(&made, WEFT_EVENT_TRY_READ, 13, 11);
		made.time += MS;
		make_edge(&made, WEFT_EVENT_TIME_OUT, 0, 10);
		made.time += 19 * MS;
		make_switch(&made, 12);
		made.time += MS;
		for (uint64_t id = 1; id <= 13; id++)
			if (id != 10)
				make_edge(&made, WEFT_EVENT_RESOLVE, 12, id);
		make_switch(&made, 0);
		struct found found = find(&made);
		if (is_read)
			assert_int_equal(found.problems->count, 0);
		else
			assert_int_equal(
				found.loaded.model->tasks.id[only(&found, WEFT_PROBLEM_ORPHAN)->task], 12);
		found_finish(&found);
	}
}

/* Each of eight tasks is stopped 10 us after the one before it, and one more `pause` later; the
 * task for which it waits runs again 20 ms after that. */
static struct found left_alone(uint64_t pause)
{
	enum {
		STOPPED = 9
	};
	struct made made = make_begin();
	uint64_t stops[STOPPED];
	for (uint64_t i = 0; i < STOPPED; i++) {
		make_create(&made, 0, 1 + i, WEFT_KIND_PROMISE);
		make_create(&made, 0, 1 + i + STOPPED, WEFT_KIND_TASK);
		make_edge(&made, WEFT_EVENT_TRY_READ, 1 + i, 1 + i + STOPPED);
		stops[i] = made.time + i * MS / 100 + (i + 1 == STOPPED ? pause : 0);
	}
	for (uint64_t next = 0, ended = 0; ended < STOPPED;) {
		const bool is_end = next == STOPPED || stops[ended] + 20 * MS <= stops[next];
		made.time = is_end ? stops[ended] + 20 * MS : stops[next];
		if (is_end) {
			make_switch(&made, 1 + STOPPED + ended);
			made.time += US;
			make_edge(&made, WEFT_EVENT_RESOLVE, 1 + STOPPED + ended, 1 + STOPPED + ended);
			make_switch(&made, 0);
			ended++;
		} else {
			make_edge(&made, WEFT_EVENT_CANCEL, 0, ++next);
		}
	}
	return find(&made);
}

static void tasks_that_pile_up_behind_stopped_ones_are_a_warning(void **state)
{
	(void)state;
	static const struct {
		uint64_t pause;
		enum weft_problem_severity severity;
	} cases[] = {
		{0, WEFT_SEVERITY_HINT},          /* at once, as when a program ends them */
		{15 * MS, WEFT_SEVERITY_WARNING}, /* while the others still run */
		{1000 * MS, WEFT_SEVERITY_HINT},  /* long after they have ended */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct found found = left_alone(cases[i].pause);
		const struct weft_problem *p = only(&found, WEFT_PROBLEM_ORPHAN);
		assert_int_equal(p->severity, cases[i].severity);
		found_finish(&found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_timers_are_found),
		cmocka_unit_test(the_first_of_equally_late_timers_is_named),
		cmocka_unit_test(a_timer_is_late_because_of_its_own_thread),
		cmocka_unit_test(a_late_timer_is_grave_if_something_ran),
		cmocka_unit_test(a_timer_fires_when_it_begins_to_run),
		cmocka_unit_test(a_task_that_runs_on_for_a_stopped_one_is_found),
		cmocka_unit_test(a_task_that_runs_on_behind_another_is_found),
		cmocka_unit_test(tasks_that_pile_up_behind_stopped_ones_are_a_warning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
