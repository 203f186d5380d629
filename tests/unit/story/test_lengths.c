/* SPDX-License-Identifier: ISC
 *
 * Queues without a bound: tasks put items in, one each 10 ms, and others take some of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "problems_found.h"

#define PUTS  1
#define TAKES 2

struct length_case {
	const char *what;
	unsigned items, every; /* one is taken after so many were put in; 0: none */
	unsigned first;        /* number of those that are in it at the beginning */
	uint64_t putter;
	bool drains, frees; /* all others are taken in the end; freed with the queue */
	uint64_t rest_ms;
	const char *name, *sentence;
	enum weft_problem_severity severity;
};

#define ITEMS "items in Queue at a.py:3"

static const struct length_case cases[] = {
	{"it is killed", 60, 2, 16, PUTS, false, false, 0, ITEMS,
		ITEMS " pile up, from 16 to 47 in 600 ms; consumer takes 29 of 76; 46 are never taken.",
		WEFT_SEVERITY_WARNING},
	{"it is freed", 60, 2, 16, PUTS, false, true, 0, ITEMS,
		ITEMS " pile up, from 16 to 47 in 600 ms; consumer takes 29 of 76; 46 are never taken.",
		WEFT_SEVERITY_WARNING},
	{"it is emptied", 60, 2, 16, PUTS, true, false, 0, ITEMS,
		ITEMS " pile up, from 16 to 47 in 600 ms; consumer takes 29 of 76.", WEFT_SEVERITY_HINT},
	{"it was long, and is emptied", 166, 2, 16, PUTS, true, false, 0, ITEMS,
		ITEMS " pile up, from 16 to 100 in 1.66 s; consumer takes 82 of 182.",
		WEFT_SEVERITY_WARNING},
	{"it was a bit shorter", 164, 2, 16, PUTS, true, false, 0, ITEMS,
		ITEMS " pile up, from 16 to 99 in 1.64 s; consumer takes 81 of 180.", WEFT_SEVERITY_HINT},
	{"it is short", 28, 2, 16, PUTS, false, false, 0, ITEMS, NULL, 0},
	{"it grows because the consumer puts in", 60, 2, 16, TAKES, false, false, 0, ITEMS, NULL, 0},
	{"an unknown task puts in", 60, 2, 16, WEFT_TASK_NONE, false, false, 0, ITEMS, NULL, 0},
	{"nothing is taken", 60, 0, 16, PUTS, false, false, 0, ITEMS, NULL, 0},
	{"three are taken", 60, 15, 16, PUTS, false, false, 0, ITEMS, NULL, 0},
	{"the consumer keeps up", 200, 1, 40, PUTS, false, false, 0, ITEMS, NULL, 0},
	{"it is a quarter of the trace", 60, 2, 16, PUTS, false, false, 1800, ITEMS,
		ITEMS " pile up, from 16 to 47 in 600 ms; consumer takes 29 of 76; 46 are never taken.",
		WEFT_SEVERITY_WARNING},
	{"it is a small part of the trace", 60, 2, 16, PUTS, false, false, 1801, ITEMS, NULL, 0},
};

static void change(struct made *made, const struct length_case *c, uint64_t task, unsigned value)
{
	make_counter(made, task, c->name, value, true);
	make_switch(made, task);
	make_switch(made, WEFT_TASK_NONE);
}

static struct found found_in(const struct length_case *c)
{
	struct made made = make_begin();
	unsigned length = c->first;
	make_create(&made, 0, PUTS, WEFT_KIND_TASK);
	make_label(&made, PUTS, "producer");
	make_create(&made, 0, TAKES, WEFT_KIND_TASK);
	make_label(&made, TAKES, "consumer");
	change(&made, c, c->putter, length);
	for (unsigned i = 1; i <= c->items; i++) {
		made.time += 10 * MS;
		change(&made, c, c->putter, ++length);
		if (c->every && i % c->every == 0)
			change(&made, c, TAKES, --length);
	}
	for (; c->drains && length; made.time += 10 * MS)
		change(&made, c, TAKES, --length);
	if (c->frees)
		change(&made, c, PUTS, 0);
	made.time += c->rest_ms * MS;
	make_switch(&made, PUTS);
	return find(&made);
}

static void queues_that_are_not_emptied_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found found = found_in(&cases[i]);
		if (cases[i].sentence) {
			const struct weft_problem *p = only(&found, WEFT_PROBLEM_CLIMBING);
			assert_string_equal(p->sentence, cases[i].sentence);
			assert_int_equal(p->severity, cases[i].severity);
			assert_int_equal(found.loaded.model->tasks.id[p->task], TAKES);
		}
		for (uint32_t k = 0; !cases[i].sentence && k < found.problems->count; k++)
			if (found.problems->list[k].type == WEFT_PROBLEM_CLIMBING ||
				found.problems->list[k].type == WEFT_PROBLEM_LEAK)
				fail_msg("%s: %s", cases[i].what, found.problems->list[k].sentence);
		found_finish(&found);
	}
}

/* For longer than an eighth of the time nothing is put in. */
static void a_queue_that_rests_does_not_climb(void **state)
{
	struct made made = make_begin();
	unsigned length = 0;
	(void)state;
	make_create(&made, 0, PUTS, WEFT_KIND_TASK);
	make_create(&made, 0, TAKES, WEFT_KIND_TASK);
	change(&made, &cases[0], PUTS, length);
	for (unsigned i = 1; i <= 80; i++) {
		made.time += (i == 40 ? 400 : 10) * MS;
		change(&made, &cases[0], PUTS, ++length);
		if (i % 8 == 0)
			change(&made, &cases[0], TAKES, --length);
	}
	struct found found = find(&made);
	assert_int_equal(count_of(&found, WEFT_PROBLEM_CLIMBING), 0);
	found_finish(&found);
}

/* Task 3 takes the first items, but fewer than the consumer; in the end the queue is as long again.
 */
static void the_consumer_takes_most_until_the_queue_is_longest_first(void **state)
{
	const struct length_case *c = &cases[0];
	struct made made = make_begin();
	unsigned length = c->first;
	(void)state;
	for (uint64_t task = PUTS; task <= 3; task++)
		make_create(&made, 0, task, WEFT_KIND_TASK);
	make_label(&made, TAKES, "consumer");
	change(&made, c, PUTS, length);
	for (unsigned i = 1; i <= 61; i++) {
		made.time += 10 * MS;
		change(&made, c, PUTS, ++length);
		if (i % 2 == 0)
			change(&made, c, i < 8 ? 3 : TAKES, --length);
	}
	struct found found = find(&made);
	assert_string_equal(only(&found, WEFT_PROBLEM_CLIMBING)->sentence,
		ITEMS " pile up, from 16 to 47 in 600 ms; consumer takes 29 of 76; 47 are never taken.");
	found_finish(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_that_rests_does_not_climb),
		cmocka_unit_test(queues_that_are_not_emptied_are_found),
		cmocka_unit_test(the_consumer_takes_most_until_the_queue_is_longest_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
