/* SPDX-License-Identifier: ISC
 *
 * Locks whose holder is kept from giving them back: src/story/problems/kept.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/ends.h>

#include "problems_found.h"

enum {
	LISTENER = 1,
	LOCK = 9,
	HOLDER = 10,
	OTHER = 11,
	THIRD = 12,
	FOURTH = 13,
	SOURCE = 20,
	KEY = 7
};

static const struct weft_trace_thread threads[] = {
	{.name = "holder"}, {.name = "other"}, {.name = "third"}, {.name = "fourth"}};

static void make_of(struct made *made, uint64_t parent, uint64_t child, const char *kind,
	const char *category, const char *label)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = parent,
				   .other = child,
				   .kind = WEFT_KIND_UNKNOWN,
				   .kind_name = {kind, strlen(kind)},
				   .category = {category, strlen(category)}});
	make_label(made, child, label);
}

/* On a thread of the program, a task with a number from HOLDER on. */
static void on(struct made *made, uint64_t task)
{
	made->thread = (uint32_t)(task - HOLDER);
}

/* Three threads, the first of which has the lock, and room for a fourth. */
static struct made begin(void)
{
	static const char *const names[] = {"holder", "other", "third"};
	struct made made = make_begin();
	made.threads = threads;
	made.thread_count = 4;
	for (uint64_t task = HOLDER; task <= THIRD; task++) {
		on(&made, task);
		make_create(&made, WEFT_TASK_NONE, task, WEFT_KIND_THREAD);
		make_label(&made, task, names[task - HOLDER]);
		make_switch(&made, task);
	}
	make_create(&made, WEFT_TASK_NONE, LOCK, WEFT_KIND_LOCK);
	make_label(&made, LOCK, "lock table");
	make_edge(&made, WEFT_EVENT_ACQUIRE, HOLDER, LOCK);
	return made;
}

static void wait_for(struct made *made, uint64_t task, uint64_t source)
{
	on(made, task);
	make_edge(made, WEFT_EVENT_TRY_READ, task, source);
	make_switch(made, WEFT_TASK_NONE);
}

/* The thread goes on. */
static void got(struct made *made, uint64_t task, uint64_t source)
{
	on(made, task);
	make_switch(made, task);
	make_edge(made, WEFT_EVENT_READ, task, source);
}

static void hand_over(struct made *made, uint64_t from, uint64_t to)
{
	on(made, from);
	make_edge(made, WEFT_EVENT_RELEASE, from, LOCK);
	on(made, to);
	make_edge(made, WEFT_EVENT_ACQUIRE, to, LOCK);
	make_switch(made, to);
}

/* The threads run on for a while. */
static struct found ended(struct made *made)
{
	made->time += MS;
	for (uint64_t task = HOLDER; task <= THIRD; task++) {
		on(made, task);
		make_switch(made, WEFT_TASK_NONE);
	}
	return find(made);
}

/* The holder waits for SOURCE, while `other` waits for the lock; for that long. */
static struct found kept(struct made *made, uint64_t ns, uint64_t slow_ns)
{
	made->time += MS;
	wait_for(made, HOLDER, SOURCE);
	wait_for(made, OTHER, LOCK);
	made->time += slow_ns;
	got(made, HOLDER, SOURCE);
	made->time += ns - slow_ns;
	hand_over(made, HOLDER, OTHER);
	return ended(made);
}

static const struct weft_problem *contention(const struct found *found)
{
	for (uint32_t i = 0; i < found->problems->count; i++)
		if (found->problems->list[i].type == WEFT_PROBLEM_CONTENTION)
			return &found->problems->list[i];
	return NULL;
}

static struct made begin_source(const char *kind, const char *category, const char *label)
{
	struct made made = begin();
	make_of(&made, HOLDER, LISTENER, "listener", "io", "accept :80");
	make_of(&made, strncmp(label, "tcp :80", 7) == 0 ? LISTENER : HOLDER, SOURCE, kind, category,
		label);
	return made;
}

static void expect_warning(struct made *made, uint64_t ns, uint64_t slow_ns, const char *sentence)
{
	struct found found = kept(made, ns, slow_ns);
	const struct weft_problem *p = contention(&found);
	assert_int_equal(p != NULL, sentence != NULL);
	if (p) {
		assert_string_equal(p->sentence, sentence);
		assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
		assert_int_equal(p->end - p->start, ns);
	}
	found_finish(&found);
}

static void a_client_does_not_read(void **state)
{
	struct made made = begin_source("tcp", "io", "tcp :80 <- 10.0.0.7:9");
	(void)state;
	make_tag(&made, SOURCE, WEFT_TAG_WRITES, KEY);
	expect_warning(&made, 300 * MS, 290 * MS,
		"thread 10 'holder' keeps lock table from other for 300 ms: tcp :80 <- 10.0.0.7:9 is not "
		"read.");
	made = begin_source("pipe", "io", "pipe");
	make_tag(&made, SOURCE, WEFT_TAG_WRITES, KEY);
	expect_warning(&made, 300 * MS, 290 * MS,
		"thread 10 'holder' keeps lock table from other for 300 ms: pipe is not read.");
}

/* Threads may take turns to wait for what comes next, but not one client's. */
static void only_reads_of_one_client_are_a_reason(void **state)
{
	struct made made = begin_source("tcp", "io", "tcp :80 <- 10.0.0.7:9");
	(void)state;
	make_tag(&made, SOURCE, WEFT_TAG_READS, KEY);
	expect_warning(&made, 300 * MS, 290 * MS,
		"thread 10 'holder' keeps lock table from other for 300 ms: it waits for tcp :80 <- "
		"10.0.0.7:9.");
	made = begin_source("tcp", "io", "tcp 10.0.0.7:80");
	make_tag(&made, SOURCE, WEFT_TAG_READS, KEY);
	expect_warning(&made, 300 * MS, 290 * MS, NULL);
	made = begin_source("listener", "io", "tcp :80, but a listener");
	expect_warning(&made, 300 * MS, 290 * MS, NULL);
}

static void a_sleep_and_slow_calls_are_reasons(void **state)
{
	struct made made = begin();
	(void)state;
	make(&made, (struct weft_event){.type = WEFT_EVENT_CREATE,
					.task = HOLDER,
					.other = SOURCE,
					.kind = WEFT_KIND_TIMER,
					.category = {"thread", 6}});
	make_label(&made, SOURCE, "sleep 1 s");
	expect_warning(&made, 300 * MS, 290 * MS,
		"thread 10 'holder' keeps lock table from other for 300 ms: it waits for sleep 1 s.");
	made = begin_source("call", "io", "getaddrinfo db.example");
	expect_warning(&made, 300 * MS, 290 * MS,
		"thread 10 'holder' keeps lock table from other for 300 ms: it waits for getaddrinfo "
		"db.example.");
	made = begin_source("call", "io", "fsync data.db");
	expect_warning(&made, 300 * MS, 290 * MS, NULL);
	made = begin_source("request", "io", "getaddrinfo db.example");
	expect_warning(&made, 300 * MS, 290 * MS, NULL);
}

/* More than half of a wait, which is long. */
static void the_reason_takes_most_of_a_long_wait(void **state)
{
	const char *sentence =
		"thread 10 'holder' keeps lock table from other for 100 ms: it waits for connect 10.0.0.1.";
	struct made made = begin_source("call", "io", "connect 10.0.0.1");
	(void)state;
	expect_warning(&made, 100 * MS, 51 * MS, sentence);
	made = begin_source("call", "io", "connect 10.0.0.1");
	expect_warning(&made, 100 * MS, 50 * MS, NULL);
	made = begin_source("call", "io", "connect 10.0.0.1");
	expect_warning(&made, 100 * MS - 1, 90 * MS, NULL);
	made = begin_source("call", "io", "connect 10.0.0.1");
	made.time += 5000 * MS; /* it is a fiftieth of the trace no more */
	expect_warning(&made, 100 * MS, 90 * MS, NULL);
}

/* Two holders each keep it for a part, and two threads wait; the longer part is named. */
static void parts_of_several_holders_add_up(void **state)
{
	struct made made = begin_source("call", "io", "connect 10.0.0.1");
	(void)state;
	make_of(&made, HOLDER, SOURCE + 1, "call", "io", "connect 10.0.0.2");
	made.time += MS;
	wait_for(&made, HOLDER, SOURCE);
	wait_for(&made, OTHER, LOCK);
	wait_for(&made, THIRD, LOCK);
	made.time += 60 * MS;
	got(&made, HOLDER, SOURCE);
	hand_over(&made, HOLDER, OTHER);
	wait_for(&made, OTHER, SOURCE + 1);
	made.time += 70 * MS;
	got(&made, OTHER, SOURCE + 1);
	made.time += 20 * MS;
	hand_over(&made, OTHER, THIRD);
	struct found found = ended(&made);
	assert_string_equal(contention(&found)->sentence,
		"thread 11 'other' keeps lock table from third for 150 ms: it waits for connect 10.0.0.2.");
	assert_int_equal(contention(&found)->count, 1);
	found_finish(&found);
}

/* The holder waits for two things, for as long for each. */
static void the_first_of_equal_reasons_is_named(void **state)
{
	struct made made = begin_source("call", "io", "connect 10.0.0.1");
	(void)state;
	make_of(&made, HOLDER, SOURCE + 1, "call", "io", "connect 10.0.0.2");
	made.time += MS;
	wait_for(&made, OTHER, LOCK);
	for (uint64_t source = SOURCE; source <= SOURCE + 1; source++) {
		wait_for(&made, HOLDER, source);
		made.time += 150 * MS;
		got(&made, HOLDER, source);
		made.time += MS;
	}
	hand_over(&made, HOLDER, OTHER);
	struct found found = ended(&made);
	assert_string_equal(contention(&found)->sentence,
		"thread 10 'holder' keeps lock table from other for 302 ms: it waits for connect 10.0.0.1.");
	found_finish(&found);
}

static void others_that_wait_are_counted(void **state)
{
	static const char *const more[] = {"; 1 more waits.", "; 2 more wait."};
	char sentence[WEFT_SENTENCE_BYTES];
	(void)state;
	for (uint64_t last = THIRD; last <= FOURTH; last++) {
		struct made made = begin_source("call", "io", "connect 10.0.0.1");
		on(&made, FOURTH);
		make_create(&made, WEFT_TASK_NONE, FOURTH, WEFT_KIND_THREAD);
		make_switch(&made, FOURTH);
		made.time += MS;
		for (uint64_t task = OTHER; task <= last; task++)
			wait_for(&made, task, LOCK);
		wait_for(&made, HOLDER, SOURCE);
		made.time += 300 * MS;
		got(&made, HOLDER, SOURCE);
		for (uint64_t task = HOLDER; task < last; task++)
			hand_over(&made, task, task + 1);
		struct found found = ended(&made);
		snprintf(sentence, sizeof(sentence),
			"thread 10 'holder' keeps lock table from other for 300 ms: it waits for connect "
			"10.0.0.1%s",
			more[last - THIRD]);
		assert_string_equal(contention(&found)->sentence, sentence);
		found_finish(&found);
	}
}

/* The second one begins when the first one ends. */
static void the_first_of_equally_long_waits_is_named(void **state)
{
	struct made made = begin_source("call", "io", "connect 10.0.0.1");
	(void)state;
	make_of(&made, HOLDER, SOURCE + 1, "call", "io", "connect 10.0.0.2");
	made.time += MS;
	for (uint64_t task = HOLDER; task <= OTHER; task++) {
		wait_for(&made, task + 1, LOCK);
		made.time += MS;
		wait_for(&made, task, SOURCE + task - HOLDER);
		made.time += 299 * MS;
		got(&made, task, SOURCE + task - HOLDER);
		hand_over(&made, task, task + 1);
	}
	struct found found = ended(&made);
	assert_string_equal(contention(&found)->sentence,
		"thread 10 'holder' keeps lock table from other for 300 ms: it waits for connect 10.0.0.1.");
	assert_int_equal(contention(&found)->count, 1);
	found_finish(&found);
}

/* ---- Without a processor ---- */

/* The holder has no processor for a part of its hold, and the third thread runs for one. */
static struct found inverted(uint64_t ns, uint64_t off_ns, uint64_t ran_ns)
{
	struct made made = begin();
	wait_for(&made, OTHER, LOCK);
	on(&made, THIRD);
	made.time += ns;
	make(&made, (struct weft_event){
					.type = WEFT_EVENT_OFF_CPU, .task = THIRD, .value = (int64_t)(ns - ran_ns)});
	make_switch(&made, WEFT_TASK_NONE);
	on(&made, HOLDER);
	make(&made,
		(struct weft_event){.type = WEFT_EVENT_OFF_CPU, .task = HOLDER, .value = (int64_t)off_ns});
	hand_over(&made, HOLDER, OTHER);
	on(&made, HOLDER);
	make_switch(&made, WEFT_TASK_NONE);
	return ended(&made);
}

static void the_first_of_equally_busy_threads_is_named(void **state)
{
	struct made made = begin();
	(void)state;
	on(&made, FOURTH);
	make_create(&made, WEFT_TASK_NONE, FOURTH, WEFT_KIND_THREAD);
	make_switch(&made, FOURTH);
	wait_for(&made, OTHER, LOCK);
	made.time += 400 * MS;
	for (uint64_t task = THIRD; task <= FOURTH; task++) {
		on(&made, task);
		make_switch(&made, WEFT_TASK_NONE);
	}
	on(&made, HOLDER);
	make(&made, (struct weft_event){
					.type = WEFT_EVENT_OFF_CPU, .task = HOLDER, .value = (int64_t)(390 * MS)});
	hand_over(&made, HOLDER, OTHER);
	on(&made, HOLDER);
	make_switch(&made, WEFT_TASK_NONE);
	struct found found = ended(&made);
	assert_non_null(strstr(contention(&found)->sentence, ", while third runs for 400 ms"));
	found_finish(&found);
}

static bool is_inverted(uint64_t ns, uint64_t off_ns, uint64_t ran_ns)
{
	struct found found = inverted(ns, off_ns, ran_ns);
	const struct weft_problem *p = contention(&found);
	const bool is = p && strstr(p->sentence, "it has no processor");
	found_finish(&found);
	return is;
}

static void another_thread_has_the_processor(void **state)
{
	struct found found = inverted(400 * MS, 390 * MS, 380 * MS);
	(void)state;
	assert_string_equal(contention(&found)->sentence,
		"thread 10 'holder' keeps lock table from other for 400 ms: it has no processor for 390 ms, "
		"while third runs for 380 ms.");
	assert_int_equal(contention(&found)->severity, WEFT_SEVERITY_WARNING);
	found_finish(&found);
}

static void a_busy_machine_is_no_fault(void **state)
{
	(void)state;
	assert_true(is_inverted(300 * MS, 250 * MS + MS, 290 * MS) == false); /* 49 ms: not far less */
	assert_true(is_inverted(260 * MS, 250 * MS, 100 * MS));
	assert_false(is_inverted(260 * MS, 249 * MS, 200 * MS)); /* as long as it preempts */
	assert_false(is_inverted(260 * MS, 250 * MS, 32 * MS));  /* others had the processor */
	assert_false(is_inverted(600 * MS, 300 * MS, 600 * MS)); /* half is not most */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_does_not_read),
		cmocka_unit_test(only_reads_of_one_client_are_a_reason),
		cmocka_unit_test(a_sleep_and_slow_calls_are_reasons),
		cmocka_unit_test(the_reason_takes_most_of_a_long_wait),
		cmocka_unit_test(parts_of_several_holders_add_up),
		cmocka_unit_test(the_first_of_equal_reasons_is_named),
		cmocka_unit_test(others_that_wait_are_counted),
		cmocka_unit_test(the_first_of_equally_long_waits_is_named),
		cmocka_unit_test(another_thread_has_the_processor),
		cmocka_unit_test(the_first_of_equally_busy_threads_is_named),
		cmocka_unit_test(a_busy_machine_is_no_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
