/* SPDX-License-Identifier: ISC
 *
 * Conditions that nobody signals, pools that long work occupies, and consumers of signals that are
 * too slow.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/ends.h>

#include "problem_case.h"

/* ---- Conditions that nobody signals ---- */

#define LOOP "create 0 1 task; label 1 a; create 0 2 condition; label 2 b; "

/* Task 1 waits so many times for the condition, in tasks of its own from `id` on. */
#define WAITS_OF(task, count, id)                                                    \
	"[" count ": run " task "; create " task " " id "+i task; run " id "+i; try " id \
	"+i 2; idle; "                                                                   \
	"+1000; run " task "; time_out " task " " id "+i; +10]; idle; "
#define WAITS(count) WAITS_OF("1", count, "20")
#define VAIN \
	"task 1 'a' waits in vain 3 times for b, which nobody signals; its time is up after 1 ms"

static const struct problem_case vain_cases[] = {
	{"it waits on", LOOP WAITS("3") "+10", WEFT_PROBLEM_TIMED_OUT, WEFT_SEVERITY_HINT, VAIN "."},
	{"it gives up", LOOP WAITS("3") "run 1; resolve 1 1", WEFT_PROBLEM_TIMED_OUT,
		WEFT_SEVERITY_WARNING, VAIN "."},
	{"twice", LOOP WAITS("2") "run 1; resolve 1 1", WEFT_PROBLEM_TIMED_OUT, 0, NULL},
	{"it is signalled once", LOOP WAITS("3") "run 1; signal 2 1; +10", WEFT_PROBLEM_TIMED_OUT, 0,
		NULL},
	{"it is read once", LOOP WAITS("3") "run 1; try 1 2; idle; +10; run 1; read 1 2; +10",
		WEFT_PROBLEM_TIMED_OUT, 0, NULL},
	{"another waits as often", LOOP WAITS("3") "create 0 3 task; " WAITS_OF("3", "3", "40") "+10",
		WEFT_PROBLEM_TIMED_OUT, WEFT_SEVERITY_HINT, VAIN "; 1 more task does so."},
	{"another waits twice, and ends",
		LOOP WAITS("3") "create 0 3 task; " WAITS_OF("3", "2", "40") "run 3; resolve 3 3; +10",
		WEFT_PROBLEM_TIMED_OUT, WEFT_SEVERITY_HINT, VAIN "."},
};

static void conditions_that_nobody_signals_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(vain_cases);
}

/* ---- Pools ---- */

#define POOL                                                                                       \
	"create 0 1 pool; label 1 pool; create 0 5 task; label 5 key; create 0 6 task; label 6 file; " \
	"create 0 7 task; label 7 hash; "
#define WORKS(task) "run " task "; acquire " task " 1; idle; "
#define ENDS(task)  "run " task "; release " task " 1; idle; "

/* Waits while others work for that long, then has it for 1 ms. */
#define HAS_IT(task)        "run " task "; acquire " task " 1; +1000; release " task " 1; idle; "
#define WAITS_FOR(task, us) "run " task "; try " task " 1; idle; +" us "; "

static const struct problem_case pool_cases[] = {
	{"long work", POOL WORKS("5") WAITS_FOR("6", "400000") ENDS("5") HAS_IT("6"),
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"task 5 'key' keeps pool from file for 400 ms."},
	{"two of them",
		POOL WORKS("5") WORKS("7") WAITS_FOR("6", "400000") ENDS("5") ENDS("7") HAS_IT("6"),
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"task 5 'key' and 1 more keep pool from file for 400 ms."},
	{"one of them ends in the middle",
		POOL WORKS("5") WORKS("7") WAITS_FOR("6", "200000") ENDS("7") "+200000; " ENDS("5")
			HAS_IT("6"),
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"task 5 'key' keeps pool from file for 400 ms."},
	{"two such waits, as long",
		POOL WORKS("5") WAITS_FOR("6", "400000") ENDS("5") HAS_IT("6") WORKS("7")
			WAITS_FOR("6", "400000") ENDS("7") HAS_IT("6"),
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"task 5 'key' keeps pool from file for 400 ms; 1 more such wait."},
	{"three such waits, the last one is longer",
		POOL WORKS("5") WAITS_FOR("6", "400000") ENDS("5") HAS_IT("6") WORKS("5")
			WAITS_FOR("6", "400000") ENDS("5") HAS_IT("6") WORKS("7") WAITS_FOR("6", "500000")
				ENDS("7") HAS_IT("6"),
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"task 7 'hash' keeps pool from file for 500 ms; 2 more such waits."},
	{"work of the same name",
		POOL "label 8 file; create 0 8 task; label 8 file; " WORKS("8") WAITS_FOR("6", "400000")
			ENDS("8") HAS_IT("6"),
		WEFT_PROBLEM_CONTENTION, 0, NULL},
	{"it is soon there", POOL WORKS("5") WAITS_FOR("6", "249999") ENDS("5") HAS_IT("6"),
		WEFT_PROBLEM_CONTENTION, 0, NULL},
};

static void short_work_behind_long_work_is_found(void **state)
{
	(void)state;
	EXPECT_CASES(pool_cases);
}

/* ---- Slow consumers ---- */

enum {
	READY = 1,
	READER = 2,
	INDEXER = 3,
	SORTER = 4,
	STORE = 5,
};

/* Two consumers wait for a condition, one after the other, and then for a timer. The reader signals
 * the condition each ms from 4 ms on. */
static struct made begin_consumers(void)
{
	struct made made = make_begin();
	make_create(&made, WEFT_TASK_NONE, READY, WEFT_KIND_CONDITION);
	make_label(&made, READY, "r");
	make_create(&made, WEFT_TASK_NONE, READER, WEFT_KIND_TASK);
	make_create(&made, WEFT_TASK_NONE, INDEXER, WEFT_KIND_TASK);
	make_label(&made, INDEXER, "indexer");
	make_create(&made, WEFT_TASK_NONE, SORTER, WEFT_KIND_TASK);
	make_label(&made, SORTER, "s");
	make_create(&made, WEFT_TASK_NONE, STORE, WEFT_KIND_TIMER);
	make_label(&made, STORE, "store");
	for (uint64_t task = INDEXER; task <= SORTER; task++) {
		made.time += MS;
		make_switch(&made, task);
		make_edge(&made, WEFT_EVENT_TRY_READ, task, READY);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += MS;
		make_switch(&made, task);
		make_edge(&made, WEFT_EVENT_READ, task, READY);
		make_edge(&made, WEFT_EVENT_TRY_READ, task, STORE);
		make_switch(&made, WEFT_TASK_NONE);
	}
	for (int64_t signals = 64; signals <= 512; signals *= 2) {
		made.time = (uint64_t)(4 + signals) * MS;
		make_tag(&made, READY, WEFT_TAG_SIGNALLED_BY, READER);
		make_tag(&made, READY, WEFT_TAG_UNHEARD, signals);
	}
	made.time = 804 * MS;
	make_switch(&made, READER);
	make_edge(&made, WEFT_EVENT_RESOLVE, READER, READER);
	make_switch(&made, WEFT_TASK_NONE);
	return made;
}

static void end_consumer(struct made *made, uint64_t task, uint64_t time)
{
	made->time = time;
	make_switch(made, task);
	make_edge(made, WEFT_EVENT_READ, task, STORE);
	make_edge(made, WEFT_EVENT_RESOLVE, task, task);
	make_switch(made, WEFT_TASK_NONE);
}

static void expect_queue(struct made *made, uint64_t end, enum weft_problem_severity severity)
{
	struct found found = find(made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_QUEUE);
	assert_string_equal(p->sentence,
		"task 4 's' and 1 more do not keep up with more than 512 signals of r from 4 ms on; they "
		"mostly wait for store.");
	assert_int_equal(p->start, 4 * MS);
	assert_int_equal(p->end, end);
	assert_int_equal(p->severity, severity);
	found_finish(&found);
}

static void two_consumers_are_too_slow(void **state)
{
	struct made made = begin_consumers();
	(void)state;
	end_consumer(&made, INDEXER, 2000 * MS);
	end_consumer(&made, SORTER, 3000 * MS);
	expect_queue(&made, 3000 * MS, WEFT_SEVERITY_WARNING);
	made = begin_consumers();
	end_consumer(&made, SORTER, 2000 * MS);
	end_consumer(&made, INDEXER, 3000 * MS);
	expect_queue(&made, 3000 * MS, WEFT_SEVERITY_WARNING);
}

static void one_consumer_has_not_ended(void **state)
{
	(void)state;
	for (uint64_t ends = INDEXER; ends <= SORTER; ends++) {
		struct made made = begin_consumers();
		end_consumer(&made, ends, 2000 * MS);
		made.time = 3000 * MS;
		make_counter(&made, WEFT_TASK_NONE, "x", 1, true);
		expect_queue(&made, 3000 * MS, WEFT_SEVERITY_HINT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_that_nobody_signals_are_found),
		cmocka_unit_test(short_work_behind_long_work_is_found),
		cmocka_unit_test(two_consumers_are_too_slow),
		cmocka_unit_test(one_consumer_has_not_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
