/* SPDX-License-Identifier: ISC
 *
 * The times in which nothing runs, as model/idle.h finds them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/idle.h"

#include "decoded.h"
#include "trace_script.h"

/* As "20-30 by 1, 45-60 by 2", in ns since the trace's start. */
static const char *write_idle(const struct weft_model *model)
{
	static char text[256];
	struct weft__idle *list;
	uint32_t count;
	size_t size = 0;
	assert_int_equal(weft__model_idle(model, &list, &count), 0);
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size,
			"%s%" PRIu64 "-%" PRIu64 " by %" PRIu32, i ? ", " : "",
			list[i].start - model->summary.start, list[i].end - model->summary.start,
			list[i].threads);
	free(list);
	return text;
}

static void expect_idle(const char *script, const char *expected)
{
	struct weft_model *model = trace_script_model(script, 0);
	assert_string_equal(write_idle(model), expected);
	weft_model_destroy(model);
}

static void one_thread(void **state)
{
	(void)state;
	expect_idle(
		"run 1; ~20; idle; ~10; run 1; ~5; run 2; ~5; idle; ~7; run 1", "20-30 by 1, 40-47 by 1");
	expect_idle("run 1; ~20; run 2; ~1", "");
}

/* Before its first activation or band, and after its last one, a thread does not exist. */
static void threads_that_come_and_go(void **state)
{
	(void)state;
	expect_idle(
		"run 1; ~20; idle; ~10; run 1; ~5; thread 1; run 2; ~5; thread 0; idle; ~5; thread 1; idle; ~10;"
		"run 2; ~10",
		"20-30 by 1, 45-55 by 2");
	/* Thread 1 runs a task that ends, and nothing after it. */
	expect_idle(
		"create 0 2 task; run 1; ~20; thread 1; run 2; ~5; resolve 0 2; ~5; thread 0; idle; ~10; run 1; ~3",
		"30-40 by 1");
}

static void a_thread_that_runs_prevents_it(void **state)
{
	(void)state;
	expect_idle(
		"run 1; thread 1; run 2; ~20; idle; ~10; thread 0; run 3; ~4; thread 1; run 2; ~1", "");
}

/* ---- A process that is being started ---- */

static void message(struct made *made, enum weft_event_type type, uint64_t key)
{
	make(made, (struct weft_event){.type = (uint8_t)type, .task = 1, .key = key});
}

/* The parent waits from 10 on; the child's first activation begins at 40, and its second thread
 * runs later. `sends_at`: when the parent sends the first message that the child receives, if not
 * 0; the second one is sent at 30. */
static void expect_idle_while_loading(uint64_t sends_at, const char *expected)
{
	static const struct weft_trace_thread threads[] = {
		{.name = "a"}, {.name = "b", .buffer = 1}, {.name = "c", .buffer = 1}};
	static const struct weft_trace_buffer buffers[] = {{.process = "a",
														   .host = "",
														   .file = "",
														   .pid = 1,
														   .ending = WEFT_ENDING_EXIT,
														   .end_ns = 90},
		{.process = "b",
			.host = "",
			.file = "",
			.pid = 2,
			.ending = WEFT_ENDING_EXIT,
			.end_ns = 60}};
	struct made made = make_begin();
	made.threads = threads;
	made.buffers = buffers;
	made.buffer_count = 2;
	made.thread_count = 3;
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	make_switch(&made, 1);
	if (sends_at && sends_at <= 10) {
		made.time = sends_at;
		message(&made, WEFT_EVENT_SEND, 7);
	}
	made.time = 10;
	make_switch(&made, WEFT_TASK_NONE);
	if (sends_at > 10) {
		made.time = sends_at;
		message(&made, WEFT_EVENT_SEND, 7);
	}
	made.time = 30;
	if (sends_at)
		message(&made, WEFT_EVENT_SEND, 8);
	made.time = 40;
	made.buffer = made.thread = 1;
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	message(&made, WEFT_EVENT_RECEIVE, 7);
	message(&made, WEFT_EVENT_RECEIVE, 8);
	make_switch(&made, 1);
	made.time = 42;
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 45;
	make_switch(&made, 1);
	made.time = 50;
	made.thread = 2;
	make_switch(&made, 2);
	made.time = 90;
	made.buffer = made.thread = 0;
	make_switch(&made, 1);
	struct weft_model *model = make_model(&made);
	assert_string_equal(write_idle(model), expected);
	weft_model_destroy(model);
}

static void a_process_runs_while_it_is_loaded(void **state)
{
	(void)state;
	expect_idle_while_loading(0, "10-40 by 1, 42-45 by 2, 60-90 by 1");
	expect_idle_while_loading(5, "42-45 by 2, 60-90 by 1");
	expect_idle_while_loading(25, "10-25 by 1, 42-45 by 2, 60-90 by 1");
}

/* ---- Random threads and bands, beside a naive answer for each ns ---- */

#define THREADS 4
#define BANDS   9
#define END_NS  40

static struct weft_presence presences[THREADS];
static struct weft_band_period bands[BANDS];

/* Some presences and bands are empty or upside down, some bands are of other kinds or threads. */
static struct weft_model random_model(uint64_t *seed, uint64_t start)
{
	for (int i = 0; i < THREADS; i++)
		presences[i] = (struct weft_presence){
			.start = start + next_random(seed) % END_NS, .end = start + next_random(seed) % END_NS};
	for (int i = 0; i < BANDS; i++)
		bands[i] = (struct weft_band_period){.start = start + next_random(seed) % END_NS,
			.end = start + next_random(seed) % END_NS,
			.thread = next_random(seed) % (THREADS + 1),
			.kind = next_random(seed) % 4 ? WEFT_BAND_IDLE : WEFT_BAND_GC};
	struct weft_model model = {.thread_count = 1 + next_random(seed) % THREADS,
		.presences = presences,
		.band_count = next_random(seed) % (BANDS + 1),
		.bands = bands};
	model.summary.start = start;
	model.summary.end = start + END_NS;
	return model;
}

/* The threads that exist in the ns from `time` on if all of them are idle, else 0. */
static uint32_t idle_at(const struct weft_model *model, uint64_t time)
{
	uint32_t threads = 0, idle = 0;
	for (uint32_t i = 0; i < model->thread_count; i++)
		threads += presences[i].start <= time && time < presences[i].end;
	for (uint32_t i = 0; i < model->band_count; i++)
		idle += bands[i].kind == WEFT_BAND_IDLE && bands[i].thread < model->thread_count &&
				bands[i].start <= time && time < bands[i].end;
	return idle >= threads ? threads : 0;
}

static void random_threads_are_idle_as_a_naive_count_says(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (int round = 0; round < 3000; round++) {
		struct weft_model model = random_model(&seed, round % 2 ? 1000 : UINT64_MAX - END_NS);
		struct weft__idle *list;
		uint32_t count, found = 0;
		assert_int_equal(weft__model_idle(&model, &list, &count), 0);
		uint64_t start = model.summary.start;
		for (uint64_t at = 0; at < END_NS;) {
			uint64_t from = at;
			uint32_t threads, most = 0;
			for (; at < END_NS && (threads = idle_at(&model, start + at)); at++)
				most = threads > most ? threads : most;
			if (at++ == from)
				continue;
			assert_true(found < count);
			assert_int_equal(list[found].start - start, from);
			assert_int_equal(list[found].end - start, at - 1);
			assert_int_equal(list[found++].threads, most);
		}
		assert_int_equal(found, count);
		free(list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread),
		cmocka_unit_test(threads_that_come_and_go),
		cmocka_unit_test(a_thread_that_runs_prevents_it),
		cmocka_unit_test(a_process_runs_while_it_is_loaded),
		cmocka_unit_test(random_threads_are_idle_as_a_naive_count_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
