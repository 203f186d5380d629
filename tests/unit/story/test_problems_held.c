/* SPDX-License-Identifier: ISC
 *
 * Tasks that keep others from a lock, semaphore or pool: for long, for ever, or each time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "problems_found.h"

/* Tasks that take a semaphore one after the other; the fifth, which is of `kind`, keeps it for
 * `long_ns`. Those from `first` to `last` wait for it from the beginning, the others come when it
 * is free. */
static struct found queued_for(uint16_t kind, uint64_t long_ns, uint64_t first, uint64_t last)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_SEMAPHORE);
	for (uint64_t id = 10; id < 40; id++) {
		make_create(&made, 0, id, id == 14 ? kind : WEFT_KIND_TASK);
		make_switch(&made, id);
		made.time += US;
	}
	for (uint64_t id = 10; id < 40; id++) {
		make_switch(&made, id >= first && id <= last ? 0 : id);
		made.time += US;
		make_edge(&made, WEFT_EVENT_READ, id, 1);
		made.time += id == 14 ? long_ns : 100 * US;
		make_signal(&made, 1, id, false);
		make_edge(&made, WEFT_EVENT_RESOLVE, id, id);
	}
	make_switch(&made, 0);
	return find(&made);
}

static struct found queued(uint64_t long_ns, uint64_t first, uint64_t last)
{
	return queued_for(WEFT_KIND_TASK, long_ns, first, last);
}

static void contention_is_found(void **state)
{
	struct found found = queued(5 * MS, 10, 39);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 14);
	assert_int_equal(p->end - p->start, 5 * MS);
	assert_string_equal(p->sentence, "task 14 holds semaphore 1 for 5 ms from 435 us, most for 100 "
									 "us; 25 tasks wait for it meanwhile.");
	found_finish(&found);
	found = queued(100 * US, 10, 39);
	p = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 1);
	found_finish(&found);
	found = queued(5 * MS, 15, 15);
	assert_string_equal(only(&found, WEFT_PROBLEM_CONTENTION)->sentence,
		"task 14 holds semaphore 1 for 5 ms from 435 us, most for 100 us; 1 task waits for it "
		"meanwhile.");
	found_finish(&found);
	expect_nothing(queued(100 * US, 1, 0));
}

static void switch_on_second_thread(struct made *made, uint64_t task, uint64_t off_ns)
{
	made->thread = 1;
	made->buffer = made->threads[1].buffer;
	if (off_ns)
		make(made,
			(struct weft_event){.type = WEFT_EVENT_OFF_CPU, .task = 2, .value = (int64_t)off_ns});
	make_switch(made, task);
	made->thread = made->buffer = 0;
}

/* A job waits for what another thread has, which has no processor; or one of another process has
 * none. */
static struct found jobs_of_a_pool(uint64_t off_ns, uint32_t buffer)
{
	static const struct weft_trace_buffer buffers[] = {
		{.process = "a", .host = "", .file = ""}, {.process = "b", .host = "", .file = ""}};
	const struct weft_trace_thread threads[] = {
		{.name = "pool"}, {.name = "other", .buffer = buffer}};
	struct made made = make_begin();
	made.threads = threads;
	made.thread_count = 2;
	made.buffers = buffers;
	made.buffer_count = 2;
	make_create(&made, 0, 1, WEFT_KIND_POOL);
	made.buffer = buffer;
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	made.buffer = 0;
	for (uint64_t id = 10; id < 40; id++)
		make_create(&made, 0, id, WEFT_KIND_TASK);
	for (uint64_t id = 10; id < 40; id++) {
		make_switch(&made, id);
		made.time += US;
		make_edge(&made, WEFT_EVENT_ACQUIRE, id, 1);
		made.time += 100 * US;
		if (id == 14) {
			switch_on_second_thread(&made, 2, 0);
			make_switch(&made, 15);
			made.time += US;
			make_edge(&made, WEFT_EVENT_TRY_READ, 15, 1);
			make_switch(&made, WEFT_TASK_NONE);
			made.time += 12 * MS;
			switch_on_second_thread(&made, WEFT_TASK_NONE, off_ns);
			make_switch(&made, id);
		}
		make_edge(&made, WEFT_EVENT_RELEASE, id, 1);
		make_edge(&made, WEFT_EVENT_RESOLVE, id, id);
	}
	make_switch(&made, WEFT_TASK_NONE);
	return find(&made);
}

static void a_job_may_wait_for_a_thread_without_a_processor(void **state)
{
	struct found found = jobs_of_a_pool(11 * MS, 0);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_int_equal(p->severity, WEFT_SEVERITY_HINT);
	assert_non_null(strstr(p->sentence, ", while a thread had no processor for 11 ms of it"));
	found_finish(&found);
	found = jobs_of_a_pool(5 * MS, 0);
	p = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	found_finish(&found);
	found = jobs_of_a_pool(11 * MS, 1);
	p = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	found_finish(&found);
}

/* A thread that runs all the while may have had no processor, but not for that long. */
static void a_holder_may_be_preempted(void **state)
{
	struct found found = queued_for(WEFT_KIND_THREAD, 5 * MS, 15, 15);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_int_equal(p->severity, WEFT_SEVERITY_HINT);
	assert_non_null(strstr(p->sentence, "; or it was preempted"));
	found_finish(&found);
	found = queued_for(WEFT_KIND_THREAD, 251 * MS, 15, 15);
	p = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_null(strstr(p->sentence, "preempted"));
	found_finish(&found);
}

/* How thread 14 holds a lock, and waits for a condition meanwhile. */
struct waits_with_lock {
	uint64_t late_ns, length; /* how late it begins to wait, and when others get the lock */
	bool waits;
	enum {
		AFTER,
		BEFORE
	} queues; /* thread 15, for the lock; before or after that begin */
	enum {
		MISSED,
		RELEASED,
		NEVER
	} release;
	enum weft_problem_severity severity;
};

/* Thread 14 of 10 to 39 takes lock 1 and waits for condition 2. The others are short. */
static struct found waits_with_lock(const struct waits_with_lock *as)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_LOCK);
	make_create(&made, 0, 2, WEFT_KIND_CONDITION);
	for (uint64_t id = 10; id < 40; id++)
		make_create(&made, 0, id, WEFT_KIND_THREAD);
	for (uint64_t n = 10; n < 40; n++) {
		const uint64_t id = as->release == NEVER ? (n - 5) % 30 + 10 : n; /* 14 is the last */
		make_switch(&made, id);
		made.time += US;
		make_edge(&made, WEFT_EVENT_ACQUIRE, id, 1);
		if (id == 14) {
			if (as->queues == BEFORE) {
				made.time += US;
				make_switch(&made, 15);
				make_edge(&made, WEFT_EVENT_TRY_READ, 15, 1);
				made.time += US;
				make_switch(&made, id);
			}
			made.time += as->late_ns;
			if (as->waits)
				make_edge(&made, WEFT_EVENT_TRY_READ, id, 2);
			if (as->queues == AFTER) {
				make_switch(&made, 15);
				make_edge(&made, WEFT_EVENT_TRY_READ, 15, 1);
				made.time += US;
			}
			make_switch(&made, WEFT_TASK_NONE);
			made.time += as->length;
			if (as->release != RELEASED)
				continue;
			make_switch(&made, id);
			make_edge(&made, WEFT_EVENT_READ, id, 2);
			make_edge(&made, WEFT_EVENT_RELEASE, id, 1);
			continue;
		}
		made.time += 100 * US;
		make_edge(&made, WEFT_EVENT_RELEASE, id, 1);
	}
	make_switch(&made, WEFT_TASK_NONE);
	return find(&made);
}

static void a_holder_that_begins_to_wait_gives_the_lock_back(void **state)
{
	static const struct waits_with_lock cases[] = {
		{0, 50 * MS, true, AFTER, MISSED, WEFT_SEVERITY_HINT},
		{5 * MS, 50 * MS, true, AFTER, MISSED, WEFT_SEVERITY_HINT},
		{5 * MS, 50 * MS, true, BEFORE, MISSED, WEFT_SEVERITY_WARNING},
		{5 * MS, 50 * MS, true, AFTER, RELEASED, WEFT_SEVERITY_WARNING}, /* as the wait ends */
		{5 * MS, 50 * MS, true, AFTER, NEVER, WEFT_SEVERITY_WARNING},    /* nobody gets it */
		{60 * MS, 50 * MS, true, AFTER, MISSED, WEFT_SEVERITY_WARNING},
		{0, 300 * MS, true, AFTER, MISSED, WEFT_SEVERITY_WARNING}, /* too long to be preempted */
		{0, 50 * MS, false, AFTER, MISSED, WEFT_SEVERITY_WARNING},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found found = waits_with_lock(&cases[i]);
		const struct weft_problem *p = only(&found, WEFT_PROBLEM_CONTENTION);
		assert_int_equal(p->severity, cases[i].severity);
		assert_int_equal(!!strstr(p->sentence, "; or it was preempted"), !cases[i].severity);
		found_finish(&found);
	}
}

/* Two locks that ten tasks hold for a short time, and then two tasks for ever, each while it waits
 * for the other lock. */
static void a_deadlock_is_no_contention(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t lock = 1; lock <= 2; lock++)
		make_create(&made, 0, lock, WEFT_KIND_LOCK);
	for (uint64_t id = 10; id < 32; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		make_switch(&made, id);
		make_edge(&made, WEFT_EVENT_ACQUIRE, id, 1 + id % 2);
		made.time += 100 * US;
		if (id < 30)
			make_edge(&made, WEFT_EVENT_RELEASE, id, 1 + id % 2);
		if (id < 30)
			make_edge(&made, WEFT_EVENT_RESOLVE, id, id);
	}
	for (uint64_t id = 30; id < 32; id++) {
		make_switch(&made, id);
		make_edge(&made, WEFT_EVENT_TRY_READ, id, 2 - id % 2);
	}
	make_switch(&made, 0);
	made.time += 100 * MS;
	make_switch(&made, 0);
	struct found found = find(&made);
	only(&found, WEFT_PROBLEM_DEADLOCK);
	assert_int_equal(count_of(&found, WEFT_PROBLEM_CONTENTION), 0);
	found_finish(&found);
}

/* Twelve tasks that wait for one lock at once, in a trace of 100 ms, and each hold it for a time.
 */
static struct found crowd_for(uint64_t hold_ns)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_LOCK);
	for (uint64_t id = 10; id < 22; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		make_switch(&made, id);
		make_edge(&made, id == 10 ? WEFT_EVENT_ACQUIRE : WEFT_EVENT_TRY_READ, id, 1);
	}
	make_switch(&made, 0);
	for (uint64_t id = 10;; id++) {
		made.time += hold_ns;
		make_edge(&made, WEFT_EVENT_RELEASE, id, 1);
		make_edge(&made, WEFT_EVENT_RESOLVE, id, id);
		if (id == 21)
			break;
		make_switch(&made, id + 1);
		make_edge(&made, WEFT_EVENT_ACQUIRE, id + 1, 1);
	}
	made.time = 100 * MS;
	make_switch(&made, 0);
	return find(&made);
}

static void a_queue_for_a_moment_is_none(void **state)
{
	(void)state;
	struct found found = crowd_for(100 * US);
	assert_int_equal(count_of(&found, WEFT_PROBLEM_CONTENTION), 0);
	found_finish(&found);
	found = crowd_for(200 * US);
	only(&found, WEFT_PROBLEM_CONTENTION);
	found_finish(&found);
}

/* A pool of two, which two jobs hold at a time, while up to 18 wait. */
static void contention_for_a_pool_is_found(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_POOL);
	for (uint64_t id = 10; id < 30; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		make_switch(&made, id);
		made.time += US;
		make_edge(&made, id < 12 ? WEFT_EVENT_ACQUIRE : WEFT_EVENT_TRY_READ, id, 1);
	}
	make_switch(&made, 0);
	for (uint64_t id = 12; id < 30; id++) {
		made.time += id == 20 ? 3 * MS : MS;
		make_edge(&made, WEFT_EVENT_RELEASE, id - 2, 1);
		make_switch(&made, id);
		make_edge(&made, WEFT_EVENT_ACQUIRE, id, 1);
	}
	for (uint64_t id = 28; id < 30; id++)
		make_edge(&made, WEFT_EVENT_RELEASE, id, 1);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_CONTENTION);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 1);
	assert_string_equal(p->sentence,
		"pool 1: up to 18 tasks wait for it at once, most at 19 us; longest held by task 18, for 4 ms.");
	found_finish(&found);
}

/* Task 10 ends with a lock that it took twice and gave back once; `waits`: another waits for it. */
static struct found unreleased(uint16_t kind, bool waits)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, kind);
	make_label(&made, 1, "db");
	make_create(&made, 0, 10, WEFT_KIND_TASK);
	make_create(&made, 0, 11, WEFT_KIND_TASK);
	make_edge(&made, WEFT_EVENT_ACQUIRE, 10, 1);
	make_edge(&made, WEFT_EVENT_ACQUIRE, 10, 1);
	made.time += MS;
	if (waits)
		make_edge(&made, WEFT_EVENT_TRY_READ, 11, 1);
	make_edge(&made, WEFT_EVENT_RELEASE, 10, 1);
	made.time += MS;
	make_edge(&made, WEFT_EVENT_RESOLVE, 10, 10);
	made.time += MS;
	make_switch(&made, 0);
	return find(&made);
}

static void a_task_that_ends_with_a_lock_is_found(void **state)
{
	static const uint16_t kinds[] = {
		WEFT_KIND_LOCK, WEFT_KIND_SEMAPHORE, WEFT_KIND_POOL, WEFT_KIND_QUEUE};
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct found found = unreleased(kinds[i], false);
		assert_int_equal(only(&found, WEFT_PROBLEM_UNRELEASED)->severity, WEFT_SEVERITY_HINT);
		found_finish(&found);
	}
	struct found found = unreleased(WEFT_KIND_LOCK, true);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_UNRELEASED);
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_int_equal(found.loaded.model->tasks.id[p->task], 10);
	assert_int_equal(p->end, found.loaded.model->summary.end); /* the lock is held until then */
	assert_int_equal(p->end - p->show_end, MS);
	assert_int_equal(p->effect.time, p->show_end);
	assert_string_equal(p->sentence,
		"task 10 ended at 2 ms without releasing lock 1 'db', which it had taken 2 ms before; "
		"1 task waits for it.");
	found_finish(&found);
	expect_nothing(unreleased(WEFT_KIND_CHANNEL, true));
}

/* In a trace of several processes the names of tasks, lock and process fill the sentence. */
static void a_sentence_keeps_its_verb(void **state)
{
	static const struct weft_trace_buffer buffers[] = {
		{.process = "node", .host = "", .file = "", .pid = 30577},
		{.process = "node", .host = "", .file = "", .pid = 30585}};
	struct made made = make_begin();
	(void)state;
	made.buffers = buffers;
	made.buffer_count = 2;
	make_create(&made, 0, 10001, WEFT_KIND_LOCK);
	make_label(&made, 10001, "lock in uv_mutex_lock");
	make_create(&made, 0, 10002, WEFT_KIND_TASK);
	make_label(&made, 10002, "node::PlatformWorkerThread");
	made.time = 1234567 * US;
	make_edge(&made, WEFT_EVENT_ACQUIRE, 10002, 10001);
	make_edge(&made, WEFT_EVENT_RESOLVE, 10002, 10002);
	struct found found = find(&made);
	assert_string_equal(only(&found, WEFT_PROBLEM_UNRELEASED)->sentence,
		"task 10002 'node::PlatformWorkerThread' ended without releasing lock 10001 "
		"'lock in uv_mutex_lock', in node 30577.");
	found_finish(&found);
}

/* With locks: one that both hold in turn, one that its only waiter holds itself, and a pool. */
static void locks_can_be_in_a_circle_but_pools_cannot(void **state)
{
	static const uint16_t kinds[] = {WEFT_KIND_LOCK, WEFT_KIND_POOL};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct made made = make_begin();
		for (uint64_t id = 1; id <= 2; id++)
			make_create(&made, 0, id, kinds[i]);
		for (uint64_t id = 11; id <= 13; id++) {
			make_create(&made, 0, id, WEFT_KIND_TASK);
			make_edge(&made, WEFT_EVENT_ACQUIRE, id, id == 13 ? 2 : id - 10);
			if (id == 12 && i == 0)
				id++;
		}
		make_edge(&made, WEFT_EVENT_TRY_READ, 11, 2);
		make_edge(&made, WEFT_EVENT_TRY_READ, 12, 1);
		struct found found = find(&made);
		assert_int_equal(count_of(&found, WEFT_PROBLEM_DEADLOCK), i == 0);
		found_finish(&found);
	}
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_LOCK);
	make_create(&made, 0, 11, WEFT_KIND_TASK);
	make_edge(&made, WEFT_EVENT_ACQUIRE, 11, 1);
	make_edge(&made, WEFT_EVENT_TRY_READ, 11, 1);
	struct found found = find(&made);
	only(&found, WEFT_PROBLEM_DEADLOCK);
	found_finish(&found);
}

/* Two tasks hold one semaphore each; `released`: the second has released its own. */
static struct found held(bool released)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_SEMAPHORE);
	make_create(&made, 0, 2, WEFT_KIND_SEMAPHORE);
	make_label(&made, 2, "lock B");
	for (uint64_t id = 11; id <= 12; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		made.time += 100 * US;
		make_edge(&made, WEFT_EVENT_READ, id, id - 10);
	}
	made.time += 10 * US;
	if (released)
		make_signal(&made, 2, 12, false);
	make_edge(&made, WEFT_EVENT_TRY_READ, 11, 2);
	made.time += 30 * US;
	make_edge(&made, WEFT_EVENT_TRY_READ, 12, 1);
	make_switch(&made, 0);
	made.time += 100 * MS;
	make_switch(&made, 0);
	return find(&made);
}

static void tasks_that_hold_what_the_other_wants_are_in_a_circle(void **state)
{
	struct found found = held(false);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_DEADLOCK);
	assert_int_equal(p->start, 240 * US);
	assert_int_equal(p->end, found.loaded.model->summary.end);
	assert_in_range(p->show_start, 0, 100 * US);
	assert_in_range(p->show_end, 240 * US, 500 * US);
	assert_int_equal(found.loaded.model->edges.type[p->edge], WEFT_EDGE_TRY_READ);
	assert_int_equal(found.loaded.model->edges.time[p->edge], 240 * US);
	assert_string_equal(
		p->sentence, "task 11 waits for lock B of task 12, which waits for it, since 240 us.");
	found_finish(&found);
	found = held(true);
	assert_int_equal(count_of(&found, WEFT_PROBLEM_DEADLOCK), 0);
	found_finish(&found);
}

/* One task takes a lock again as soon as it has given it back; another waits for it all along.
 * `fair`: the other gets it in turn. */
static struct found retaken(bool fair)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_SEMAPHORE);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_label(&made, 2, "import");
	make_create(&made, 0, 3, WEFT_KIND_TASK);
	make_label(&made, 3, "query");
	make_switch(&made, 2);
	make_edge(&made, WEFT_EVENT_READ, 2, 1);
	made.time += 10 * US;
	make_switch(&made, 3);
	made.time += 10 * US;
	for (unsigned i = 0; i < 100; i++) {
		make_switch(&made, 2);
		made.time += 100 * US;
		make_signal(&made, 1, 2, false);
		if (fair || i == 99) {
			make_switch(&made, 3);
			make_edge(&made, WEFT_EVENT_READ, 3, 1);
			made.time += 10 * US;
			make_signal(&made, 1, 3, false);
			make_switch(&made, 2);
		}
		make_edge(&made, WEFT_EVENT_READ, 2, 1);
	}
	make_switch(&made, 0);
	return find(&made);
}

static void a_task_that_is_passed_over_starves(void **state)
{
	struct found found = retaken(false);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_STARVATION);
	assert_string_equal(p->sentence, "task 3 'query' waits 10 ms for semaphore 1 from 20 us, while "
									 "import had it 99 times and came later.");
	assert_int_equal(found.loaded.model->tasks.id[p->task], 3);
	found_finish(&found);
	expect_nothing(retaken(true));
}

/* A promise waits until all items of a queue are done, which others hold in turn. `cancelled`: it
 * is not fulfilled in the end; `taken`: its task takes one then. */
static struct found joined(bool cancelled, bool taken)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_POOL);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_create(&made, 0, 3, WEFT_KIND_TASK);
	make_create(&made, 3, 4, WEFT_KIND_PROMISE);
	make_switch(&made, 3);
	make_edge(&made, WEFT_EVENT_TRY_READ, 3, 4);
	make_edge(&made, WEFT_EVENT_TRY_READ, 4, 1);
	for (unsigned i = 0; i < 20; i++) {
		make_switch(&made, 2);
		make_edge(&made, WEFT_EVENT_READ, 2, 1);
		made.time += i == 10 ? 20 * MS : MS;
		make_signal(&made, 1, 2, false);
		made.time += 10 * US;
	}
	make_edge(&made, cancelled ? WEFT_EVENT_CANCEL : WEFT_EVENT_RESOLVE, 2, 4);
	make_switch(&made, 3);
	make_edge(&made, WEFT_EVENT_READ, 3, 4);
	if (taken)
		make_edge(&made, WEFT_EVENT_READ, 3, 1);
	made.time += MS;
	make_switch(&made, 0);
	return find(&made);
}

static void who_waits_until_all_is_done_is_not_passed_over(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct found found = joined(i == 1, i == 2);
		const uint32_t count =
			count_of(&found, WEFT_PROBLEM_STARVATION) + count_of(&found, WEFT_PROBLEM_CONTENTION);
		assert_int_equal(count > 0, i > 0);
		found_finish(&found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contention_is_found),
		cmocka_unit_test(a_job_may_wait_for_a_thread_without_a_processor),
		cmocka_unit_test(a_holder_may_be_preempted),
		cmocka_unit_test(a_holder_that_begins_to_wait_gives_the_lock_back),
		cmocka_unit_test(a_deadlock_is_no_contention),
		cmocka_unit_test(a_queue_for_a_moment_is_none),
		cmocka_unit_test(contention_for_a_pool_is_found),
		cmocka_unit_test(a_task_that_ends_with_a_lock_is_found),
		cmocka_unit_test(a_sentence_keeps_its_verb),
		cmocka_unit_test(locks_can_be_in_a_circle_but_pools_cannot),
		cmocka_unit_test(tasks_that_hold_what_the_other_wants_are_in_a_circle),
		cmocka_unit_test(a_task_that_is_passed_over_starves),
		cmocka_unit_test(who_waits_until_all_is_done_is_not_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
