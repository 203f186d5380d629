/* SPDX-License-Identifier: ISC
 *
 * Problems between tasks: one keeps others from running, waits for a semaphore that they hold, or
 * wakes them for nothing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "story/problems/findings.h"

#include "problems_found.h"
#include "trace_script.h"

/* Five tasks take turns; one of them runs for 30 ms once. `gc`: because of a pause. */
static struct found taken_turns(uint64_t long_ns, bool gc)
{
	struct made made = make_begin();
	for (uint64_t turn = 0; turn < 500; turn++) {
		make_switch(&made, 1 + turn % 5);
		made.time += turn == 203 ? long_ns : 20 * US;
		if (turn == 203 && gc)
			make(&made,
				(struct weft_event){.type = WEFT_EVENT_GC, .task = 4, .value = (int64_t)long_ns});
	}
	return find(&made);
}

static void a_task_that_lets_others_wait_is_found(void **state)
{
	struct found found = taken_turns(30 * MS, false);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_HOG);
	expect_words(p, "begins to run", "stops after 30 ms, 4 tasks waited");
	assert_int_equal(found.loaded.model->tasks.id[p->task], 4);
	assert_int_equal(p->end - p->start, 30 * MS);
	assert_string_equal(p->sentence,
		"preexisting 4 runs for 30 ms at a stretch from 4.06 ms, while "
		"4 tasks wait for their turn; or it was preempted.");
	found_finish(&found);
	found = taken_turns(20 * US, false);
	expect_none(&found);
	found_finish(&found);
}

/* The task runs so long because its thread has no processor. */
static void a_long_stretch_tells_its_off_cpu_time(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t turn = 0; turn < 500; turn++) {
		make_switch(&made, 1 + turn % 5);
		made.time += turn == 203 ? 30 * MS : 20 * US;
		if (turn == 203)
			make(&made, (struct weft_event){
							.type = WEFT_EVENT_OFF_CPU, .task = 4, .value = (int64_t)(29 * MS)});
	}
	struct found found = find(&made);
	assert_string_equal(only(&found, WEFT_PROBLEM_HOG)->sentence,
		"preexisting 4 runs for 30 ms at a stretch (29 ms of it off CPU) from 4.06 ms, while "
		"4 tasks wait for their turn.");
	found_finish(&found);
}

/* Within the long stretch, and others around it. */
static void a_long_stretch_names_its_longest_span(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t turn = 0; turn < 500; turn++) {
		make_switch(&made, 1 + turn % 5);
		if (turn == 203) {
			make_begin_span(&made, 4, "parse");
			made.time += 6 * MS;
			make_end_span(&made, 4);
			make_begin_span(&made, 4, "deflate");
			made.time += 24 * MS;
			make_end_span(&made, 4);
		}
		made.time += turn == 203 ? 0 : 20 * US;
	}
	struct found found = find(&made);
	assert_non_null(strstr(only(&found, WEFT_PROBLEM_HOG)->sentence,
		"runs for 30 ms at a stretch ('deflate' for 24 ms of it)"));
	found_finish(&found);
}

static uint32_t string_of(const struct weft_model *model, const char *text)
{
	uint32_t string = 0;
	while (strcmp(weft_model_string(model, string).bytes, text) != 0)
		string++;
	return string;
}

#define COPIES \
	"memcpy \xe2\x86\x90 copy (a.c:3) \xe2\x86\x90 parse (a.c:7) \xe2\x86\x90 main (a.c:9)"
#define ADDS   "add (a.c:5) \xe2\x86\x90 parse (a.c:8) \xe2\x86\x90 main (a.c:9)"
#define WRITES "[kernel] \xe2\x86\x90 write \xe2\x86\x90 flush (a.c:2) \xe2\x86\x90 main (a.c:9)"
#define STRIPS "[kernel] \xe2\x86\x90 write \xe2\x86\x90 flush"

/* The words about a stretch with these samples, of which "" is another task's; one more is, and two
 * are of other times. */
static void expect_ran(const char *const calls[4], const char *words)
{
	const uint64_t start = 203 * 20 * US;
	struct made made = make_begin();
	static const char *const known[] = {COPIES, ADDS, WRITES, STRIPS};
	make_label(&made, 4, "loop");
	for (int i = 0; i < 4; i++)
		make_label(&made, 4, known[i]);
	for (uint64_t turn = 0; turn < 500; turn++) {
		make_switch(&made, 1 + turn % 5);
		made.time += turn == 203 ? 30 * MS : 20 * US;
	}
	struct loaded loaded = make_end(&made);
	uint32_t task = 0;
	while (loaded.model->tasks.id[task] != 4)
		task++;
	const uint32_t other = string_of(loaded.model, STRIPS);
	struct weft_code_sample samples[7] = {{.time = start - 1, .task = task, .calls = other},
		{.time = start + 4 * MS, .task = task + 1, .calls = other}};
	for (unsigned i = 0; i < 4; i++)
		samples[2 + i] = (struct weft_code_sample){.time = start + (5 + i) * MS,
			.task = calls[i] && !*calls[i] ? task + 1 : task,
			.calls = calls[i] && *calls[i] ? string_of(loaded.model, calls[i]) : WEFT_NONE};
	samples[6] = (struct weft_code_sample){.time = start + 30 * MS, .task = task, .calls = other};
	loaded.model->code_samples = samples;
	loaded.model->code_sample_count = 7;
	struct found found = find_in(loaded);
	const char *sentence = only(&found, WEFT_PROBLEM_HOG)->sentence;
	if (words)
		assert_non_null(strstr(sentence, words));
	else
		assert_null(strstr(sentence, "samples"));
	loaded.model->code_samples = NULL;
	loaded.model->code_sample_count = 0;
	found_finish(&found);
}

static void a_long_stretch_names_the_function_that_most_samples_share(void **state)
{
	(void)state;
	expect_ran((const char *[]){COPIES, COPIES, COPIES, ADDS},
		"runs for 30 ms at a stretch (in copy in 3 of 4 samples) from");
	expect_ran((const char *[]){COPIES, COPIES, ADDS, ADDS},
		"runs for 30 ms at a stretch (in parse in 4 of 4 samples) from");
	expect_ran((const char *[]){COPIES, ADDS, NULL, NULL}, NULL);
	expect_ran((const char *[]){COPIES, COPIES, "", ""}, NULL);
}

static void a_long_stretch_may_be_in_the_kernel(void **state)
{
	(void)state;
	expect_ran((const char *[]){WRITES, WRITES, WRITES, ADDS},
		"(in flush in 3 of 4 samples, mostly in the kernel) from");
	expect_ran((const char *[]){STRIPS, STRIPS, STRIPS, STRIPS},
		"(in write in 4 of 4 samples, mostly in the kernel) from");
	expect_ran((const char *[]){COPIES, WRITES, ADDS, NULL}, "(in main in 3 of 4 samples) from");
}

static void a_pause_is_not_blamed_on_the_running_task(void **state)
{
	struct found found = taken_turns(30 * MS, true);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_GC);
	assert_int_equal(found.problems->count, 1);
	assert_int_equal(p->end - p->start, 30 * MS);
	assert_string_equal(
		p->sentence, "GC stops everything for 30 ms from 4.06 ms, 75.1 % of the time.");
	found_finish(&found);
}

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
	found = woken(true);
	expect_none(&found);
	found_finish(&found);
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
	for (uint32_t i = 0; i < found.problems->count; i++)
		assert_int_not_equal(found.problems->list[i].type, WEFT_PROBLEM_HERD);
	found_finish(&found);
}

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

/* Thread 3 of 10 to 39 takes lock 1 and waits for condition 2, in `late_ns` after that; its release
 * is not seen. The others are short. */
static struct found waits_with_lock(uint64_t late_ns, uint64_t length, bool waits)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_LOCK);
	make_create(&made, 0, 2, WEFT_KIND_CONDITION);
	for (uint64_t id = 10; id < 40; id++)
		make_create(&made, 0, id, WEFT_KIND_THREAD);
	for (uint64_t id = 10; id < 40; id++) {
		make_switch(&made, id);
		made.time += US;
		make_edge(&made, WEFT_EVENT_ACQUIRE, id, 1);
		if (id == 14) {
			made.time += late_ns;
			if (waits)
				make_edge(&made, WEFT_EVENT_TRY_READ, id, 2);
			make_switch(&made, 15);
			make_edge(&made, WEFT_EVENT_TRY_READ, 15, 1);
			make_switch(&made, WEFT_TASK_NONE);
			made.time += length;
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
	static const struct {
		uint64_t late_ns, length;
		bool waits;
		enum weft_problem_severity severity;
	} cases[] = {
		{0, 50 * MS, true, WEFT_SEVERITY_HINT},
		{5 * MS, 50 * MS, true, WEFT_SEVERITY_WARNING}, /* it had the lock before */
		{0, 300 * MS, true, WEFT_SEVERITY_WARNING},     /* too long to be preempted */
		{0, 50 * MS, false, WEFT_SEVERITY_WARNING},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found found = waits_with_lock(cases[i].late_ns, cases[i].length, cases[i].waits);
		const struct weft_problem *p = only(&found, WEFT_PROBLEM_CONTENTION);
		assert_int_equal(p->severity, cases[i].severity);
		assert_int_equal(!!strstr(p->sentence, "; or it was preempted"), !cases[i].severity);
		found_finish(&found);
	}
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
	found = queued(100 * US, 1, 0);
	expect_none(&found);
	found_finish(&found);
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
	for (uint32_t i = 0; i < found.problems->count; i++)
		assert_int_not_equal(found.problems->list[i].type, WEFT_PROBLEM_CONTENTION);
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
	for (uint32_t i = 0; i < found.problems->count; i++)
		assert_int_not_equal(found.problems->list[i].type, WEFT_PROBLEM_CONTENTION);
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

/* Timer 1 + i is due after 20 ms; `fires_ns`: when each is resolved, or 0. */
static struct found timers(const uint64_t *fires_ns, unsigned count)
{
	struct made made = make_begin();
	const uint64_t start = made.time;
	for (uint64_t id = 1; id <= count; id++) {
		make_create(&made, 0, id, WEFT_KIND_TIMER);
		make(&made, (struct weft_event){.type = WEFT_EVENT_TAG,
						.task = id,
						.text = {"deadline", 8},
						.value = 20 * MS,
						.has_value = true});
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
	struct found found = timers((const uint64_t[]){15 * MS, 20 * MS, 22 * MS - 1}, 3);
	expect_none(&found);
	found_finish(&found);
	found = timers((const uint64_t[]){20 * MS, 22 * MS, 25 * MS, 26 * MS}, 4);
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
	make(&made, (struct weft_event){.type = WEFT_EVENT_TAG,
					.task = 1,
					.text = {"deadline", 8},
					.value = 20 * MS,
					.has_value = true});
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

static void the_longest_pause_is_shown(void **state)
{
	struct found found =
		find_in(trace_script_load("[200: run 1; +100; ?i=50 +400; ?i=50 gc 300000; ?i=100 +900;"
								  "?i=100 gc 900000; ?i=150 +500; ?i=150 gc 400000]",
			0));
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_GC);
	(void)state;
	assert_int_equal(p->count, 3);
	assert_int_equal(p->end - p->start, 900000);
	found_finish(&found);
}

/* A timer that fires 12 ms late; `ran`: another task has run since it was due. */
static struct found late_by_twelve(bool ran)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_TIMER);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make(&made, (struct weft_event){.type = WEFT_EVENT_TAG,
					.task = 1,
					.text = {"deadline", 8},
					.value = 20 * MS,
					.has_value = true});
	made.time += 20 * MS;
	if (ran)
		make_switch(&made, 2);
	made.time += 12 * MS;
	make_switch(&made, WEFT_TASK_NONE);
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 1);
	made.time += 28 * MS;
	make_switch(&made, 0);
	return find(&made);
}

/* The operating system delays timers, too. */
static void a_late_timer_is_grave_if_something_ran(void **state)
{
	struct found found = late_by_twelve(false);
	(void)state;
	assert_int_equal(only(&found, WEFT_PROBLEM_LATE)->severity, WEFT_SEVERITY_HINT);
	found_finish(&found);
	found = late_by_twelve(true);
	assert_int_equal(only(&found, WEFT_PROBLEM_LATE)->severity, WEFT_SEVERITY_WARNING);
	found_finish(&found);
}

/* Its callback runs for 30 ms: the timer has not fired late because of that. */
static void a_timer_fires_when_it_begins_to_run(void **state)
{
	struct made made = make_begin();
	(void)state;
	const uint64_t start = made.time;
	make_create(&made, 0, 1, WEFT_KIND_TIMER);
	make(&made, (struct weft_event){.type = WEFT_EVENT_TAG,
					.task = 1,
					.text = {"deadline", 8},
					.value = 20 * MS,
					.has_value = true});
	made.time = start + 19 * MS;
	make_switch(&made, 1);
	made.time = start + 49 * MS;
	make_edge(&made, WEFT_EVENT_RESOLVE, 1, 1);
	make_switch(&made, 0);
	struct found found = find(&made);
	expect_none(&found);
	found_finish(&found);
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
	found = orphaned(WEFT_EVENT_CANCEL, 19 * MS, true);
	expect_none(&found);
	found_finish(&found);
	found = orphaned(WEFT_EVENT_RESOLVE, 19 * MS, false);
	expect_none(&found);
	found_finish(&found);
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
	found = unreleased(WEFT_KIND_CHANNEL, true);
	expect_none(&found);
	found_finish(&found);
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
		uint32_t circles = 0;
		for (uint32_t k = 0; k < found.problems->count; k++)
			circles += found.problems->list[k].type == WEFT_PROBLEM_DEADLOCK;
		assert_int_equal(circles, i == 0);
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
	for (uint32_t i = 0; i < found.problems->count; i++)
		assert_int_not_equal(found.problems->list[i].type, WEFT_PROBLEM_DEADLOCK);
	found_finish(&found);
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
	expect_words(p, "wakes up, and nothing comes of it", "again, after 1 ms");
	assert_int_equal(found.problems->count, 1);
	assert_int_equal(p->severity, WEFT_SEVERITY_HINT);
	assert_string_equal(p->sentence, "task 1 'look' wakes up 300 times, every 1 ms, for 5 us each, "
									 "and nothing comes of it: it polls.");
	found_finish(&found);
	found = runs_often(5 * US, false, true);
	assert_int_equal(found.loaded.model->tasks.id[only(&found, WEFT_PROBLEM_POLLING)->task], 1);
	found_finish(&found);
}

static void a_task_with_effects_does_not_poll(void **state)
{
	struct found found = runs_often(5 * US, true, false);
	(void)state;
	expect_none(&found);
	found_finish(&found);
	found = runs_often(400 * US, false, false); /* it may compute something useful */
	expect_none(&found);
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
		for (uint32_t i = 0; i < found.problems->count; i++)
			assert_int_not_equal(found.problems->list[i].type, WEFT_PROBLEM_HERD);
		found_finish(&found);
	}
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
	found = retaken(true);
	expect_none(&found);
	found_finish(&found);
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
		uint32_t count = 0;
		for (uint32_t k = 0; k < found.problems->count; k++)
			count += found.problems->list[k].type == WEFT_PROBLEM_STARVATION ||
					 found.problems->list[k].type == WEFT_PROBLEM_CONTENTION;
		assert_int_equal(count > 0, i > 0);
		found_finish(&found);
	}
}

/* A gap lasts from the time at which the last thread becomes idle to that at which one is not. */
static void a_gap_is_one_of_all_threads(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 20; id++) {
		made.thread = 0;
		make_request(&made, id, 20 * US);
		made.thread = 1;
		make_switch(&made, 100);
		made.thread = 0;
		make_switch(&made, WEFT_TASK_NONE);
		made.time += id == 10 ? 10 * MS : 100 * US;
		made.thread = 1;
		make_switch(&made, WEFT_TASK_NONE);
		made.time += id == 10 ? 30 * MS : 300 * US;
	}
	made.thread = 0;
	make_switch(&made, 0);
	struct found found = find(&made);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_IDLE_GAP);
	expect_words(p, "", "runs, after nothing ran for 30 ms");
	assert_int_equal(p->count, 1);
	assert_int_equal(p->end - p->start, 30 * MS);
	found_finish(&found);
}

/* Losses that are counted but not placed are those of the whole trace. */
static void losses_without_a_place_are_counted(void **state)
{
	static const struct weft_trace_thread threads[] = {{.name = "main"}};
	struct weft_trace_description description = {
		.format = "test", .clock = {.name = "test"}, .threads = threads, .thread_count = 1};
	struct made made = make_begin();
	struct found found = {.problems = NULL};
	(void)state;
	description.losses[WEFT_LOSS_FULL] = 1234;
	for (uint64_t id = 1; id <= 5; id++)
		make_request(&made, id, 20 * US);
	assert_int_equal(weft_model_builder_finish(made.builder, &description, &found.loaded.model), 0);
	weft_model_builder_destroy(made.builder);
	found = find_in(load_model(found.loaded.model));
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_LOSS);
	assert_int_equal(p->start, found.loaded.model->summary.start);
	assert_int_equal(p->end, found.loaded.model->summary.end);
	assert_non_null(strstr(p->sentence, "1,234"));
	assert_non_null(strstr(p->sentence, weft_loss_name(WEFT_LOSS_FULL)));
	found_finish(&found);
}

/* In a live model, the last activation may lie beyond the number of activations, behind unused
 * rows: the gap before it is found all the same. */
static void gaps_of_a_growing_trace_are_found(void **state)
{
	struct made made = make_begin();
	struct weft_model *model = NULL;
	const struct weft_trace_thread thread = {.name = "main"};
	const struct weft_trace_description description = {
		.format = "test", .clock = {.name = "test"}, .threads = &thread, .thread_count = 1};
	(void)state;
	for (uint64_t i = 1; i <= 620; i++) {
		make_switch(&made, i > 600 ? 8 : 1 + i % 7);
		made.time += 20 * US;
		make_switch(&made, WEFT_TASK_NONE);
		made.time += i == 610 ? 40 * MS : 300 * US;
		if (i % 100 && i != 620)
			continue;
		weft_model_destroy(model);
		assert_int_equal(
			weft_model_builder_snapshot(made.builder, &description, made.time + 1000 * MS, &model),
			0);
	}
	uint32_t last = weft_model_find_task(model, 0, 8);
	assert_true(model->tasks.first_activation[last] >= model->activations.count);
	struct found found = find_in(load_model(model));
	assert_int_equal(only(&found, WEFT_PROBLEM_IDLE_GAP)->start, 609 * 320 * US + 20 * US);
	found_finish(&found);
	weft_model_builder_destroy(made.builder);
}

static struct weft_problem hint(enum weft_problem_type type, uint64_t length_ns)
{
	return (struct weft_problem){
		.type = type, .start = 5, .end = 5 + length_ns, .reason = WEFT_NONE};
}

static void expect_order(const struct weft_problems *problems, const uint32_t wanted[5])
{
	uint32_t order[5];
	weft__story_problems_order(problems, order);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(order[i], wanted[i]);
}

/* A gap that comes twice takes both times. */
static void the_longest_comes_first(void **state)
{
	static const struct weft_problem_period periods[] = {{5, 25}, {65, 85}};
	struct weft_problem list[] = {
		hint(WEFT_PROBLEM_POLLING, 900),
		hint(WEFT_PROBLEM_SLOW, 10),
		hint(WEFT_PROBLEM_SLOW, 16),
		hint(WEFT_PROBLEM_IDLE_GAP, 20),
		{.type = WEFT_PROBLEM_FAILED, .severity = WEFT_SEVERITY_WARNING, .reason = WEFT_NONE},
	};
	struct weft_problems problems = {.count = 5, .list = list, .periods = periods};
	(void)state;
	expect_order(&problems, (uint32_t[]){4, 2, 1, 3, 0});
	list[3].period_count = 2;
	expect_order(&problems, (uint32_t[]){4, 3, 2, 1, 0});
	list[0].severity = WEFT_SEVERITY_ERROR;
	expect_order(&problems, (uint32_t[]){0, 4, 3, 2, 1});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_is_one_of_all_threads),
		cmocka_unit_test(losses_without_a_place_are_counted),
		cmocka_unit_test(a_task_that_lets_others_wait_is_found),
		cmocka_unit_test(a_long_stretch_names_its_longest_span),
		cmocka_unit_test(a_long_stretch_tells_its_off_cpu_time),
		cmocka_unit_test(a_long_stretch_names_the_function_that_most_samples_share),
		cmocka_unit_test(a_long_stretch_may_be_in_the_kernel),
		cmocka_unit_test(a_pause_is_not_blamed_on_the_running_task),
		cmocka_unit_test(a_thundering_herd_is_found),
		cmocka_unit_test(a_signal_for_each_task_is_not_a_herd),
		cmocka_unit_test(contention_is_found),
		cmocka_unit_test(a_holder_may_be_preempted),
		cmocka_unit_test(a_holder_that_begins_to_wait_gives_the_lock_back),
		cmocka_unit_test(a_job_may_wait_for_a_thread_without_a_processor),
		cmocka_unit_test(a_deadlock_is_no_contention),
		cmocka_unit_test(a_queue_for_a_moment_is_none),
		cmocka_unit_test(contention_for_a_pool_is_found),
		cmocka_unit_test(a_task_that_ends_with_a_lock_is_found),
		cmocka_unit_test(a_sentence_keeps_its_verb),
		cmocka_unit_test(a_task_that_runs_on_for_a_stopped_one_is_found),
		cmocka_unit_test(a_task_that_runs_on_behind_another_is_found),
		cmocka_unit_test(late_timers_are_found),
		cmocka_unit_test(the_first_of_equally_late_timers_is_named),
		cmocka_unit_test(a_timer_is_late_because_of_its_own_thread),
		cmocka_unit_test(the_longest_pause_is_shown),
		cmocka_unit_test(a_late_timer_is_grave_if_something_ran),
		cmocka_unit_test(a_timer_fires_when_it_begins_to_run),
		cmocka_unit_test(locks_can_be_in_a_circle_but_pools_cannot),
		cmocka_unit_test(tasks_that_hold_what_the_other_wants_are_in_a_circle),
		cmocka_unit_test(polling_is_found),
		cmocka_unit_test(a_task_with_effects_does_not_poll),
		cmocka_unit_test(a_herd_with_a_promise_each_is_found),
		cmocka_unit_test(tasks_that_all_act_alike_are_not_a_herd),
		cmocka_unit_test(a_task_that_is_passed_over_starves),
		cmocka_unit_test(who_waits_until_all_is_done_is_not_passed_over),
		cmocka_unit_test(gaps_of_a_growing_trace_are_found),
		cmocka_unit_test(the_longest_comes_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
