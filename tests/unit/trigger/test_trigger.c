/* SPDX-License-Identifier: ISC
 *
 * Rules: valid ones, the errors of invalid ones, and the event or time at which each fires.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/trigger.h>

#include "failing_allocation.h"
#include "trigger/triggers.h"

static struct weft_triggers *triggers(const char *first, const char *second)
{
	struct weft_triggers *t;
	struct weft_trigger_error error;
	assert_int_equal(weft_triggers_create(&t), 0);
	assert_int_equal(weft_triggers_add(t, first, strlen(first), &error), 0);
	if (second)
		assert_int_equal(weft_triggers_add(t, second, strlen(second), &error), 0);
	return t;
}

static struct weft_slice slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static uint64_t fired(struct weft_triggers *t)
{
	struct weft_slice rule;
	return weft_triggers_fired(t, &rule);
}

static uint64_t take(struct weft_triggers *t, struct weft_event event)
{
	assert_int_equal(weft_triggers_take(t, &event), 0);
	return fired(t);
}

static uint64_t pass(struct weft_triggers *t, uint64_t now_ns)
{
	weft_triggers_pass(t, now_ns);
	return fired(t);
}

static struct weft_event at(uint64_t ns, enum weft_event_type type, uint64_t task, uint64_t other)
{
	return (struct weft_event){
		.time_ns = ns, .type = (uint8_t)type, .task = task, .other = other, .text = {"", 0}};
}

static struct weft_event counter(const char *name, int64_t value, bool is_set)
{
	struct weft_event event = at(0, WEFT_EVENT_COUNTER, 1, 0);
	event.text = slice(name);
	event.value = value;
	event.is_set = is_set;
	return event;
}

static struct weft_event text(enum weft_event_type type, uint64_t task, const char *string)
{
	struct weft_event event = at(0, type, task, 0);
	event.text = slice(string);
	return event;
}

static void a_wrong_rule_is_wrong_somewhere(void **state)
{
	static const struct {
		const char *rule, *message;
		size_t offset;
	} cases[] = {
		{"", "counter, tag, runs or waits", 0},
		{"  count x > 1", "counter, tag, runs or waits", 2},
		{"counter", "name", 7},
		{"counter > 1", "name", 8},
		{"counter x = 1", "> or <", 10},
		{"counter x > y", "number", 12},
		{"counter x > 1.", "number", 14},
		{"counter x > -", "number", 13},
		{"counter x > 1.99999999999999999999", "smaller", 14},
		{"counter x > 99999999999999999999", "smaller", 12},
		{"counter x >= -9223372036854775809", "smaller", 14},
		{"counter x > 1 and more", "the end", 14},
		{"counter 'x > 1", "quote", 8},
		{"counter '' > 1", "name", 8},
		{"tag", "text", 3},
		{"tag a b", "the end", 6},
		{"runs 5ms", "> is expected", 5},
		{"runs > 5", "unit", 8},
		{"runs > 5 minutes", "unit", 9},
		{"runs > ms", "a number", 7},
		{"waits > 99999999999999s", "shorter", 8},
		{"waits > 1s colour = red", "kind or label", 11},
		{"waits > 1s kind red", "= is expected", 16},
		{"waits > 1s kind = 1red", "a kind is expected", 18},
		{"waits > 1s kind = 65536", "65536", 18},
		{"waits > 1s label =", "label", 18},
		{"waits > 1s kind = -1", "a kind is expected", 18},
		{"counter x > 1/2", "the end", 13},
		{"counter pool/* > 100", "without *", 8},
		{"counter * > 100", "without *", 8},
		{"tag a\x7f", "the end", 5},
		{"tag 'a\\'", "quote", 4},
	};
	struct weft_triggers *t;
	(void)state;
	assert_int_equal(weft_triggers_create(&t), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_trigger_error error = {0};
		assert_int_equal(weft_triggers_add(t, cases[i].rule, strlen(cases[i].rule), &error),
			WEFT_ERROR_ARGUMENT);
		if (!strstr(error.message, cases[i].message) || error.offset != cases[i].offset)
			fail_msg("%s: %zu %s", cases[i].rule, error.offset, error.message);
	}
	weft_triggers_destroy(t);
}

static void there_are_64_at_most(void **state)
{
	struct weft_triggers *t = triggers("tag a", NULL);
	struct weft_trigger_error error;
	static char rule[2000] = "tag ";
	(void)state;
	memset(rule + 4, 'x', sizeof(rule) - 4);
	assert_int_equal(weft_triggers_add(t, rule, sizeof(rule), &error), WEFT_ERROR_ARGUMENT);
	for (int i = 1; i < WEFT_TRIGGERS_MAX; i++)
		assert_int_equal(weft_triggers_add(t, "tag a", 5, &error), 0);
	assert_int_equal(weft_triggers_add(t, "tag a", 5, &error), WEFT_ERROR_LIMIT);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "a")), 64);
	weft_triggers_destroy(t);
}

static void a_counter_fires_when_it_passes(void **state)
{
	struct weft_triggers *t = triggers("counter 'my queue'>=100", "counter \"my queue\" < 5");
	struct weft_slice rule;
	(void)state;
	assert_int_equal(take(t, counter("my queue", 99, true)), 0);
	assert_int_equal(take(t, counter("queue", 1000, true)), 0);
	struct weft_event event = counter("my queue", 1, false);
	weft_triggers_take(t, &event);
	assert_int_equal(weft_triggers_fired(t, &rule), 1);
	assert_int_equal(rule.size, strlen("counter 'my queue'>=100"));
	assert_memory_equal(rule.bytes, "counter 'my queue'>=100", rule.size);
	assert_int_equal(take(t, counter("my queue", 50, false)), 0); /* still */
	assert_int_equal(take(t, counter("my queue", -140, false)), 0);
	assert_int_equal(take(t, counter("my queue", -6, false)), 1); /* 4 */
	assert_int_equal(take(t, counter("my queue", INT64_MAX, false)), 1);
	assert_int_equal(take(t, counter("my queue", INT64_MAX, false)), 0);
	assert_int_equal(take(t, counter("my queue", INT64_MIN, true)), 1);
	weft_triggers_destroy(t);
}

static void a_tag_fires_by_its_text(void **state)
{
	struct weft_triggers *t = triggers("tag time", "tag='time out'");
	(void)state;
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "a timer")), 1);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "time out")), 2);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "tim")), 0);
	assert_int_equal(take(t, text(WEFT_EVENT_NOTE, 1, "time out")), 0);
	weft_triggers_destroy(t);
}

static void a_task_that_runs_fires_while_it_does(void **state)
{
	struct weft_triggers *t = triggers("runs > 50ns", NULL);
	(void)state;
	take(t, at(100, WEFT_EVENT_SWITCH, 1, 0));
	assert_int_equal(pass(t, 150), 0);
	assert_int_equal(pass(t, 151), 1);
	assert_int_equal(pass(t, 1000), 0); /* once */
	assert_int_equal(take(t, at(1000, WEFT_EVENT_SWITCH, 2, 0)), 0);
	assert_int_equal(take(t, at(1051, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0)), 1); /* it was */
	assert_int_equal(pass(t, 9000), 0);                                           /* nothing runs */
	take(t, at(9000, WEFT_EVENT_SWITCH, 3, 0));
	struct weft_event band = at(9010, WEFT_EVENT_BAND, 0, 0);
	band.flag = true;
	take(t, band);
	assert_int_equal(pass(t, 9500), 0);
	band.flag = false;
	band.time_ns = 9500;
	take(t, band);
	assert_int_equal(pass(t, 9550), 0);
	assert_int_equal(pass(t, 9551), 1); /* it goes on */
	take(t, at(9600, WEFT_EVENT_SWITCH, 4, 0));
	take(t, at(9610, WEFT_EVENT_RESOLVE, 4, 4));
	assert_int_equal(pass(t, 99999), 0);
	weft_triggers_destroy(t);
}

static void a_task_that_waits_fires_while_it_does(void **state)
{
	struct weft_triggers *t = triggers("waits > 1us", "waits > 2us");
	(void)state;
	take(t, at(100, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, at(200, WEFT_EVENT_TRY_READ, 2, 9));
	take(t, at(300, WEFT_EVENT_TRY_READ, 1, 8)); /* it waits since 100 */
	assert_int_equal(pass(t, 1100), 0);
	assert_int_equal(pass(t, 1101), 1);
	struct weft_event read = at(1150, WEFT_EVENT_READ, 2, 9);
	read.flag = true;
	assert_int_equal(take(t, read), 0);
	assert_int_equal(pass(t, 2100), 0);
	assert_int_equal(take(t, at(2101, WEFT_EVENT_RESOLVE, 3, 1)), 1); /* the longer one */
	assert_int_equal(pass(t, 99999), 0);
	take(t, at(100000, WEFT_EVENT_TRY_READ, 2, 9)); /* again */
	assert_int_equal(pass(t, 101001), 1);
	struct weft_event alive = at(101001, WEFT_EVENT_ALIVE, 5, 6);
	take(t, alive);
	assert_int_equal(pass(t, 102002), 2);
	weft_triggers_destroy(t);
}

static void kind_and_label_are_asked_for(void **state)
{
	struct weft_triggers *t =
		triggers("waits>1ns kind=bind label='the query'", "waits > 1ns kind = 1000");
	struct weft_event create = at(0, WEFT_EVENT_CREATE, 1, 2);
	(void)state;
	create.kind = WEFT_KIND_BIND;
	take(t, create);
	create.other = 3;
	take(t, create);
	create.other = 4;
	create.kind = 1000;
	take(t, create);
	take(t, text(WEFT_EVENT_LABEL, 2, "it is the query of A"));
	take(t, text(WEFT_EVENT_LABEL, 3, ""));          /* the first label, though empty */
	take(t, text(WEFT_EVENT_LABEL, 3, "the query")); /* only a remark */
	for (uint64_t task = 1; task < 5; task++) {
		take(t, at(10 * task, WEFT_EVENT_TRY_READ, task, 9));
		assert_int_equal(pass(t, 10 * task + 5), task == 2 || task == 4);
	}
	weft_triggers_destroy(t);
}

/* In different buffers a name has different numbers. */
static void kinds_with_names_are_compared_by_name(void **state)
{
	struct weft_triggers *t = triggers("waits > 1ns kind = job", "waits > 1ns kind = 'my job'");
	static const char *const names[] = {"job", "other", "my job", "", "job"};
	(void)state;
	for (uint64_t task = 1; task <= 5; task++) {
		struct weft_event create = at(0, WEFT_EVENT_CREATE, WEFT_TASK_NONE, task);
		create.kind = (uint16_t)(256 + task);
		create.kind_name = (struct weft_slice){names[task - 1], strlen(names[task - 1])};
		take(t, create);
		take(t, at(10 * task, WEFT_EVENT_TRY_READ, task, 9));
		assert_int_equal(pass(t, 10 * task + 5), task % 2);
	}
	weft_triggers_destroy(t);
}

static void many_tasks_wait(void **state)
{
	struct weft_triggers *t = triggers("waits > 1000ns", NULL);
	(void)state;
	for (uint64_t task = 0; task < 10000; task++)
		take(t, at(task, WEFT_EVENT_TRY_READ, task, 99999));
	for (uint64_t task = 0; task < 10000; task += 2)
		assert_int_equal(take(t, at(10000, WEFT_EVENT_SWITCH, task, 0)), task < 9000);
	assert_int_equal(pass(t, 20000), 5000 - 0);
	weft_triggers_destroy(t);
}

static struct weft_event signal_of(uint64_t ns, uint64_t task)
{
	struct weft_event event = at(ns, WEFT_EVENT_SIGNAL, task, WEFT_TASK_NONE);
	event.flag = true;
	return event;
}

/* The thread runs what its task became, from then on. */
static void a_running_task_that_becomes_another_still_runs(void **state)
{
	struct weft_triggers *t = triggers("runs > 50ns", NULL);
	(void)state;
	take(t, at(100, WEFT_EVENT_SWITCH, 1, 0));
	take(t, at(140, WEFT_EVENT_BECOME, 1, 2));
	assert_int_equal(pass(t, 190), 0);
	assert_int_equal(pass(t, 191), 1);
	assert_int_equal(take(t, at(198, WEFT_EVENT_SWITCH, 1, 0)), 0); /* the same task */
	assert_int_equal(pass(t, 1000), 0);
	assert_int_equal(take(t, at(1000, WEFT_EVENT_BECOME, 2, 3)), 0);  /* fired already */
	assert_int_equal(take(t, at(1051, WEFT_EVENT_RESOLVE, 3, 3)), 1); /* 51 as task 3 */
	assert_int_equal(pass(t, 9999), 0);
	weft_triggers_destroy(t);
}

/* Either name of a task wakes it. */
static void a_wait_is_answered_by_any_name(void **state)
{
	struct weft_triggers *t = triggers("waits > 50ns", NULL);
	(void)state;
	take(t, at(100, WEFT_EVENT_BECOME, 1, 2));
	take(t, at(110, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, at(120, WEFT_EVENT_READ, 2, 9));
	take(t, at(130, WEFT_EVENT_SWITCH, 7, 0));
	assert_int_equal(pass(t, 500), 0);
	take(t, at(500, WEFT_EVENT_TRY_READ, 2, 9));
	take(t, signal_of(510, 1));
	assert_int_equal(pass(t, 1000), 0);
	take(t, at(1000, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, at(1010, WEFT_EVENT_BECOME, 2, 3)); /* it has ended */
	assert_int_equal(pass(t, 2000), 0);
	take(t, at(2000, WEFT_EVENT_TRY_READ, 1, 9));
	assert_int_equal(pass(t, 2051), 1);
	weft_triggers_destroy(t);
}

/* A run ends with its task, though the thread has not left it. */
static void a_task_that_has_ended_does_not_run(void **state)
{
	struct weft_triggers *t = triggers("runs > 50ns", NULL);
	(void)state;
	take(t, at(100, WEFT_EVENT_SWITCH, 1, 0));
	take(t, at(110, WEFT_EVENT_RESOLVE, 1, 1));
	take(t, at(120, WEFT_EVENT_SWITCH, 2, 0));
	take(t, at(130, WEFT_EVENT_SWITCH, 1, 0));
	assert_int_equal(pass(t, 999), 0);
	take(t, at(999, WEFT_EVENT_SWITCH, 3, 0));
	take(t, at(1000, WEFT_EVENT_BECOME, 3, 1));
	assert_int_equal(pass(t, 2000), 0);
	weft_triggers_destroy(t);
}

static void a_task_that_has_ended_does_not_wait(void **state)
{
	struct weft_triggers *t = triggers("waits > 50ns", NULL);
	struct weft_event alive = at(130, WEFT_EVENT_ALIVE, 1, 9);
	(void)state;
	take(t, at(100, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, at(110, WEFT_EVENT_RESOLVE, 2, 1));
	take(t, at(120, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, alive);
	assert_int_equal(pass(t, 999), 0);
	take(t, at(1000, WEFT_EVENT_TRY_READ, 2, 9)); /* others do */
	assert_int_equal(pass(t, 1051), 1);
	weft_triggers_destroy(t);
}

static void a_wait_for_no_task_is_none(void **state)
{
	struct weft_triggers *t = triggers("waits > 50ns", NULL);
	(void)state;
	take(t, at(100, WEFT_EVENT_TRY_READ, 1, WEFT_TASK_NONE));
	take(t, at(100, WEFT_EVENT_TRY_READ, WEFT_TASK_NONE, 1));
	assert_int_equal(pass(t, 999), 0);
	weft_triggers_destroy(t);
}

static void ids_belong_to_their_buffer(void **state)
{
	struct weft_triggers *t = triggers("waits > 50ns", NULL);
	struct weft_event other = at(110, WEFT_EVENT_READ, 1, 9);
	(void)state;
	other.buffer = 1;
	take(t, at(100, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, other);
	assert_int_equal(pass(t, 151), 1);
	weft_triggers_destroy(t);
}

static struct weft_event real_counter(const char *name, double value)
{
	struct weft_event event = counter(name, 0, true);
	event.is_real = true;
	event.real = value;
	return event;
}

static void real_numbers_are_compared_with_their_fraction(void **state)
{
	(void)state;
	struct weft_triggers *t = triggers("counter load > 0.75", "counter load <= -2.5");
	assert_int_equal(take(t, real_counter("load", 0.75)), 0);
	assert_int_equal(take(t, real_counter("load", 0.7501)), 1);
	assert_int_equal(take(t, real_counter("load", -2.4)), 0);
	assert_int_equal(take(t, real_counter("load", -2.5)), 1);
	weft_triggers_destroy(t);
	/* Integers, with the same rules. */
	t = triggers("counter load > 0.75", "counter load <= -2.5");
	assert_int_equal(take(t, counter("load", 1, true)), 1);
	assert_int_equal(take(t, counter("load", 0, true)), 0);
	assert_int_equal(take(t, counter("load", -2, true)), 0);
	assert_int_equal(take(t, counter("load", -3, true)), 1);
	weft_triggers_destroy(t);
	t = triggers("counter load >= 2.5", "counter load < -0.5");
	assert_int_equal(take(t, counter("load", 2, true)), 0);
	assert_int_equal(take(t, counter("load", 3, true)), 1);
	assert_int_equal(take(t, counter("load", 0, true)), 0);
	assert_int_equal(take(t, counter("load", -1, true)), 1);
	weft_triggers_destroy(t);
}

/* A rule that is added late knows the counter from the first rule on that names it. */
static void a_late_rule_knows_its_counter(void **state)
{
	struct weft_triggers *t = triggers("counter queue > 100", NULL);
	struct weft_trigger_error error;
	(void)state;
	assert_int_equal(take(t, counter("queue", 60, true)), 0);
	assert_int_equal(weft_triggers_add(t, "counter queue > 50", 18, &error), 0);
	assert_int_equal(take(t, counter("queue", 1, false)), 0); /* it was there already */
	assert_int_equal(take(t, counter("queue", -30, false)), 0);
	assert_int_equal(take(t, counter("queue", 30, false)), 1);
	weft_triggers_destroy(t);
}

/* While a million tasks come and go, living tasks keep their data: a wait, its label, another name
 * of the task, the task on a thread. */
static void tasks_that_live_are_not_forgotten(void **state)
{
	struct weft_triggers *t = triggers("waits > 1s label = 'the one'", "runs > 1s");
	struct weft_event other = at(0, WEFT_EVENT_SWITCH, 6, 0);
	(void)state;
	other.thread = 1;
	take(t, at(0, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, text(WEFT_EVENT_LABEL, 1, "the one"));
	take(t, at(0, WEFT_EVENT_BECOME, 3, 4));
	take(t, at(0, WEFT_EVENT_BECOME, 5, 6));
	take(t, other);
	take(t, at(0, WEFT_EVENT_TRY_READ, 2, 4));
	take(t, text(WEFT_EVENT_LABEL, 2, "the one"));
	for (uint64_t i = 0; i < 1000000; i += 2) {
		take(t, at(i, WEFT_EVENT_CREATE, WEFT_TASK_NONE, 1000 + i));
		take(t, at(i, WEFT_EVENT_TRY_READ, 1000 + i, 999 + i));
		assert_int_equal(take(t, at(i + 1, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 1000 + i)), 0);
	}
	assert_in_range(t->state.tasks.count, 6, 20000);
	assert_int_equal(t->state.tasks.count, t->identities.count);
	take(t, at(1000000, WEFT_EVENT_BECOME, 4, 2)); /* so 3 is 2 */
	take(t, at(1000000, WEFT_EVENT_READ, 3, 9));
	assert_int_equal(pass(t, 1000000000), 0);
	assert_int_equal(pass(t, 1000000001), 2); /* 1 waits, 6 runs */
	weft_triggers_destroy(t);
}

/* The texts of rules and events have a size, and no end mark. */
static void a_rule_ends_at_its_size(void **state)
{
	struct weft_triggers *t;
	struct weft_trigger_error error;
	(void)state;
	assert_int_equal(weft_triggers_create(&t), 0);
	assert_int_equal(weft_triggers_add(t, "counter queue > 57", 17, &error), 0);
	assert_int_equal(weft_triggers_add(t, "tag abc", 6, &error), 0);
	assert_int_equal(weft_triggers_add(t, "runs > 10 nsx", 12, &error), 0);
	assert_int_equal(weft_triggers_add(t, "tag 'a'b", 7, &error), 0);
	assert_int_equal(weft_triggers_add(t, "tag 'abc'", 8, &error), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_triggers_add(t, "counter x >= 1", 12, &error), WEFT_ERROR_ARGUMENT);
	assert_int_equal(error.offset, 12);
	assert_int_equal(weft_triggers_add(t, "counter x >= 1", 11, &error), WEFT_ERROR_ARGUMENT);
	assert_int_equal(error.offset, 11);
	assert_int_equal(weft_triggers_add(t, "tag'a'", 3, &error), WEFT_ERROR_ARGUMENT);
	assert_int_equal(error.offset, 3);
	assert_int_equal(take(t, counter("queue", 6, true)), 1);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "b")), 0);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "ab")), 2);
	struct weft_event longer = text(WEFT_EVENT_TAG, 1, "xab");
	longer.text.size = 2; /* "xa" */
	assert_int_equal(take(t, longer), 1);
	weft_triggers_destroy(t);
}

static void a_quoted_text_may_have_quotes(void **state)
{
	struct weft_triggers *t = triggers("tag = 'it\\'s \\\\'", NULL);
	(void)state;
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "it's \\")), 1);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "it\\'s \\\\")), 0);
	weft_triggers_destroy(t);
}

/* A number and its unit have at most 64 characters. */
static void a_long_number_is_refused(void **state)
{
	struct weft_triggers *t = triggers("tag a", NULL);
	struct weft_trigger_error error;
	char rule[7 + 200] = "runs > ";
	(void)state;
	memset(rule + 7, '0', 62);
	memcpy(rule + 7 + 62, "ns", 2);
	assert_int_equal(weft_triggers_add(t, rule, 7 + 64, &error), 0);
	memcpy(rule + 7 + 62, "0ns", 3);
	assert_int_equal(weft_triggers_add(t, rule, 7 + 65, &error), WEFT_ERROR_ARGUMENT);
	assert_int_equal(error.offset, 7);
	assert_non_null(strstr(error.message, "shorter time"));
	memset(rule + 8, 'n', sizeof(rule) - 8);
	assert_int_equal(weft_triggers_add(t, rule, sizeof(rule), &error), WEFT_ERROR_ARGUMENT);
	assert_non_null(strstr(error.message, "a unit"));
	weft_triggers_destroy(t);
}

static void each_rule_fires_once_for_a_wait(void **state)
{
	struct weft_triggers *t = triggers("waits > 1us", "waits > 2us");
	struct weft_trigger_error error;
	(void)state;
	assert_int_equal(weft_triggers_add(t, "waits > 3us", 11, &error), 0);
	take(t, at(100, WEFT_EVENT_TRY_READ, 1, 9));
	assert_int_equal(pass(t, 3100), 2);
	assert_int_equal(pass(t, 3100), 0);
	assert_int_equal(pass(t, 3101), 1);
	assert_int_equal(pass(t, 9999), 0);
	weft_triggers_destroy(t);
}

/* An event of a rundown may name the label of its task. */
static void a_rundown_gives_labels(void **state)
{
	struct weft_triggers *t = triggers("waits > 50ns label = query", NULL);
	struct weft_event alive = at(100, WEFT_EVENT_ALIVE, 1, 9);
	(void)state;
	alive.text = slice("the query");
	take(t, alive);
	alive.task = 2;
	alive.text = slice("");
	take(t, alive);
	assert_int_equal(pass(t, 151), 1);
	weft_triggers_destroy(t);
}

/* Memory is short at one allocation after the other. */
static void short_memory_is_reported(void **state)
{
	static const char *const rules[] = {
		"counter q > 1", "waits > 1ns label = a", "tag 'b'", "waits > 1s kind = job"};
	bool has_failed = true;
	int failures = 0;
	(void)state;
	for (; has_failed && failures < 1000; failures++) {
		struct weft_triggers *t = NULL;
		struct weft_trigger_error problem;
		until_failure = failures;
		int error = weft_triggers_create(&t);
		for (size_t i = 0; i < 4 && !error; i++)
			error = weft_triggers_add(t, rules[i], strlen(rules[i]), &problem);
		for (uint64_t i = 0; i < 4200 && !error; i++) { /* tasks are forgotten after 4096 */
			uint64_t task = i < 200 ? i : 1;
			struct weft_event event = i < 200 && i % 2 ? text(WEFT_EVENT_LABEL, i, "a label")
													   : at(i, WEFT_EVENT_SWITCH, task, 9);
			event.thread = (uint32_t)(i / 10 % 20);
			error = weft_triggers_take(t, &event);
		}
		has_failed = until_failure < 0;
		until_failure = -1;
		assert_int_equal(error, has_failed ? WEFT_ERROR_MEMORY : 0);
		weft_triggers_destroy(t);
	}
	assert_in_range(failures, 20, 999);
	weft_triggers_destroy(NULL);
}

static void the_largest_limits_are_accepted(void **state)
{
	struct weft_triggers *t =
		triggers("waits > 9223372036854775807ns", "counter x >= -9223372036854775807");
	struct weft_trigger_error error;
	static char rule[WEFT_TRIGGER_RULE_MAX_BYTES + 1] = "tag ";
	(void)state;
	memset(rule + 4, 'x', sizeof(rule) - 4);
	assert_int_equal(
		weft_triggers_add(t, "waits > 9223372036854775808ns", 29, &error), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_triggers_add(t, "counter x > 9223372036854775807", 31, &error), 0);
	assert_int_equal(
		weft_triggers_add(t, "counter x <= 9223372036854775807", 32, &error), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_triggers_add(t, "waits > 1s kind = 65535", 23, &error), 0);
	assert_int_equal(weft_triggers_add(t, rule, sizeof(rule) - 1, &error), 0);
	assert_int_equal(weft_triggers_add(t, rule, sizeof(rule), &error), WEFT_ERROR_ARGUMENT);
	assert_int_equal(error.offset, WEFT_TRIGGER_RULE_MAX_BYTES);
	weft_triggers_destroy(t);
}

static void each_rule_has_its_own_counter(void **state)
{
	struct weft_triggers *t = triggers("counter a > 5", "counter b < 5");
	struct weft_trigger_error error;
	(void)state;
	assert_int_equal(weft_triggers_add(t, "tag c", 5, &error), 0);
	assert_int_equal(take(t, counter("b", 9, true)), 0);
	assert_int_equal(take(t, counter("a", 4, true)), 0);
	assert_int_equal(take(t, counter("b", 5, true)), 0);
	assert_int_equal(take(t, counter("a", 5, true)), 0);
	assert_int_equal(take(t, counter("c", 9, true)), 0);
	assert_int_equal(take(t, counter("b", 4, true)), 1);
	assert_int_equal(take(t, counter("a", 6, true)), 1);
	/* No rule asks for tasks. */
	take(t, at(1, WEFT_EVENT_SWITCH, 7, 0));
	assert_int_equal(t->state.tasks.count, 0);
	weft_triggers_destroy(t);
}

static void a_tag_of_the_same_size_is_another(void **state)
{
	struct weft_triggers *t = triggers("tag = stop", NULL);
	(void)state;
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "step")), 0);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "stop!")), 0);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "sto")), 0);
	assert_int_equal(take(t, text(WEFT_EVENT_TAG, 1, "stop")), 1);
	weft_triggers_destroy(t);
}

static void rules_of_tasks_stay_beside_later_ones(void **state)
{
	struct weft_triggers *t = triggers("waits > 1us", "tag a");
	struct weft_trigger_error error;
	(void)state;
	assert_int_equal(weft_triggers_add(t, "tag 'a", 6, &error), WEFT_ERROR_ARGUMENT);
	take(t, at(0, WEFT_EVENT_TRY_READ, 1, 9));
	assert_int_equal(pass(t, 1001), 1);
	weft_triggers_destroy(t);
}

/* The rule names the first that fired since it was last asked. */
static void the_first_rule_that_fired_is_named(void **state)
{
	struct weft_triggers *t = triggers("tag ab", "tag b");
	struct weft_event event = text(WEFT_EVENT_TAG, 1, "b");
	struct weft_slice rule;
	(void)state;
	weft_triggers_take(t, &event);
	event.text = slice("ab");
	weft_triggers_take(t, &event);
	assert_int_equal(weft_triggers_fired(t, &rule), 3);
	assert_int_equal(rule.size, 5);
	assert_memory_equal(rule.bytes, "tag b", 5);
	weft_triggers_take(t, &event);
	assert_int_equal(weft_triggers_fired(t, &rule), 2);
	assert_memory_equal(rule.bytes, "tag ab", 6);
	weft_triggers_destroy(t);
}

static void a_remark_is_not_a_label(void **state)
{
	struct weft_triggers *t = triggers("waits > 1ns label = query", NULL);
	(void)state;
	take(t, text(WEFT_EVENT_NOTE, 1, "query"));
	take(t, at(10, WEFT_EVENT_TRY_READ, 1, 9));
	assert_int_equal(pass(t, 100), 0);
	take(t, text(WEFT_EVENT_LABEL, WEFT_TASK_NONE, "query")); /* of no task */
	take(t, text(WEFT_EVENT_LABEL, 2, "quer"));
	take(t, at(200, WEFT_EVENT_TRY_READ, 2, 9));
	assert_int_equal(pass(t, 300), 0);
	take(t, text(WEFT_EVENT_LABEL, 3, "query"));
	take(t, at(300, WEFT_EVENT_TRY_READ, 3, 9));
	assert_int_equal(pass(t, 400), 1);
	weft_triggers_destroy(t);
}

/* A task that waited between others waits again, now as the last. */
static void a_task_waits_again_behind_the_others(void **state)
{
	struct weft_triggers *t = triggers("waits > 100ns", NULL);
	(void)state;
	for (uint64_t task = 1; task <= 3; task++)
		take(t, at(10 * task, WEFT_EVENT_TRY_READ, task, 9));
	take(t, at(40, WEFT_EVENT_SWITCH, 2, 0));
	take(t, at(50, WEFT_EVENT_TRY_READ, 2, 9));
	assert_int_equal(pass(t, 110), 0);
	assert_int_equal(pass(t, 111), 1); /* 1 */
	assert_int_equal(pass(t, 130), 0);
	assert_int_equal(pass(t, 131), 1); /* 3 */
	assert_int_equal(pass(t, 150), 0);
	assert_int_equal(pass(t, 151), 1);         /* 2 */
	take(t, at(160, WEFT_EVENT_SWITCH, 1, 0)); /* the first of the list, then the last */
	take(t, at(170, WEFT_EVENT_SWITCH, 2, 0));
	take(t, at(180, WEFT_EVENT_TRY_READ, 1, 9));
	assert_int_equal(pass(t, 281), 1);
	take(t, at(290, WEFT_EVENT_SWITCH, 3, 0));
	take(t, at(290, WEFT_EVENT_SWITCH, 1, 0));
	take(t, at(300, WEFT_EVENT_TRY_READ, 4, 9));
	assert_int_equal(pass(t, 401), 1);
	weft_triggers_destroy(t);
}

static void runs_are_measured_per_thread(void **state)
{
	struct weft_triggers *t = triggers("runs > 50ns", NULL);
	struct weft_event second = at(20, WEFT_EVENT_SWITCH, 2, 0),
					  away = at(60, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
	(void)state;
	take(t, at(10, WEFT_EVENT_SWITCH, 1, 0));
	second.thread = 40; /* more than one step of the table's growth */
	take(t, second);
	take(t, away);
	assert_int_equal(pass(t, 70), 0);
	assert_int_equal(pass(t, 71), 1);
	assert_int_equal(pass(t, 999), 0);
	weft_triggers_destroy(t);
}

/* A thread that switches to a task's first id runs the task that it became. */
static void a_run_under_an_old_name_ends_with_its_task(void **state)
{
	struct weft_triggers *t = triggers("runs > 50ns", NULL);
	(void)state;
	take(t, at(100, WEFT_EVENT_BECOME, 1, 2));
	take(t, at(110, WEFT_EVENT_SWITCH, 1, 0));
	take(t, at(120, WEFT_EVENT_RESOLVE, 9, 2));
	assert_int_equal(pass(t, 999), 0);
	weft_triggers_destroy(t);
}

/* The task before the band is unknown, and so is the task after it. */
static void an_unknown_task_fires_nothing(void **state)
{
	struct weft_triggers *t = triggers("runs > 50ns", "runs > 10ns kind = task");
	struct weft_event begin = at(90, WEFT_EVENT_BAND, 0, 0), end = at(100, WEFT_EVENT_BAND, 0, 0);
	(void)state;
	begin.flag = true;
	take(t, begin);
	take(t, end);
	assert_int_equal(pass(t, 999), 0);
	weft_triggers_destroy(t);
}

/* A rundown says that a task waits for the source that it asked last. */
static void a_rundown_begins_a_wait_again(void **state)
{
	struct weft_triggers *t = triggers("waits > 50ns", NULL);
	(void)state;
	take(t, at(100, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, at(110, WEFT_EVENT_SWITCH, 1, 0));
	assert_int_equal(pass(t, 200), 0);
	take(t, at(200, WEFT_EVENT_ALIVE, 1, 9));
	assert_int_equal(pass(t, 250), 0);
	assert_int_equal(pass(t, 251), 1);
	weft_triggers_destroy(t);
}

/* Task 1 waits from 200 ns on, is idle from 300 ns to 1 ms, and then runs for 500 ns. */
static struct weft_triggers *polling(bool acts)
{
	struct weft_triggers *t = triggers("waits > 2ms", NULL);
	take(t, at(100, WEFT_EVENT_SWITCH, 1, 0));
	take(t, at(200, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, at(300, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0));
	take(t, at(1000000, WEFT_EVENT_SWITCH, 1, 0));
	if (acts)
		take(t, at(1000100, WEFT_EVENT_RESOLVE, 1, 8));
	take(t, at(1000500, WEFT_EVENT_SWITCH, 2, 0));
	return t;
}

static void a_task_that_goes_on_after_a_poll_waits_on(void **state)
{
	(void)state;
	for (int acts = 0; acts < 2; acts++) {
		struct weft_triggers *t = polling(acts);
		assert_int_equal(pass(t, 2000200), 0);
		assert_int_equal(pass(t, 2000201), !acts);
		weft_triggers_destroy(t);
	}
}

/* It is awake after 100 us, though no event says so. */
static void a_task_that_works_after_a_poll_is_awake(void **state)
{
	struct weft_triggers *t = triggers("waits > 2ms", NULL);
	(void)state;
	take(t, at(100, WEFT_EVENT_SWITCH, 1, 0));
	take(t, at(200, WEFT_EVENT_TRY_READ, 1, 9));
	take(t, at(300, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0));
	take(t, at(1000000, WEFT_EVENT_SWITCH, 1, 0));
	assert_int_equal(pass(t, 5000000), 0);
	weft_triggers_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_rule_is_wrong_somewhere),
		cmocka_unit_test(there_are_64_at_most),
		cmocka_unit_test(a_counter_fires_when_it_passes),
		cmocka_unit_test(a_tag_fires_by_its_text),
		cmocka_unit_test(a_task_that_runs_fires_while_it_does),
		cmocka_unit_test(a_task_that_waits_fires_while_it_does),
		cmocka_unit_test(kind_and_label_are_asked_for),
		cmocka_unit_test(kinds_with_names_are_compared_by_name),
		cmocka_unit_test(many_tasks_wait),
		cmocka_unit_test(a_running_task_that_becomes_another_still_runs),
		cmocka_unit_test(a_wait_is_answered_by_any_name),
		cmocka_unit_test(a_task_that_has_ended_does_not_run),
		cmocka_unit_test(a_task_that_has_ended_does_not_wait),
		cmocka_unit_test(a_wait_for_no_task_is_none),
		cmocka_unit_test(ids_belong_to_their_buffer),
		cmocka_unit_test(a_late_rule_knows_its_counter),
		cmocka_unit_test(real_numbers_are_compared_with_their_fraction),
		cmocka_unit_test(tasks_that_live_are_not_forgotten),
		cmocka_unit_test(a_rule_ends_at_its_size),
		cmocka_unit_test(a_quoted_text_may_have_quotes),
		cmocka_unit_test(a_long_number_is_refused),
		cmocka_unit_test(each_rule_fires_once_for_a_wait),
		cmocka_unit_test(a_rundown_gives_labels),
		cmocka_unit_test(short_memory_is_reported),
		cmocka_unit_test(the_largest_limits_are_accepted),
		cmocka_unit_test(each_rule_has_its_own_counter),
		cmocka_unit_test(a_tag_of_the_same_size_is_another),
		cmocka_unit_test(rules_of_tasks_stay_beside_later_ones),
		cmocka_unit_test(the_first_rule_that_fired_is_named),
		cmocka_unit_test(a_remark_is_not_a_label),
		cmocka_unit_test(a_task_waits_again_behind_the_others),
		cmocka_unit_test(runs_are_measured_per_thread),
		cmocka_unit_test(a_run_under_an_old_name_ends_with_its_task),
		cmocka_unit_test(an_unknown_task_fires_nothing),
		cmocka_unit_test(a_rundown_begins_a_wait_again),
		cmocka_unit_test(a_task_that_goes_on_after_a_poll_waits_on),
		cmocka_unit_test(a_task_that_works_after_a_poll_is_awake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
