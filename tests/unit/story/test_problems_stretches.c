/* SPDX-License-Identifier: ISC
 *
 * A thread has no time for its tasks: one of them runs for long, a pause stops all, or nothing
 * runs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "problem_case.h"

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
	expect_nothing(taken_turns(20 * US, false));
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

/* A task runs for 200 ms, and ten others at once after it. `is_inside`: it has made them meanwhile,
 * by another task, as a program that starts makes its first requests. */
static bool is_blamed_for_backlog(bool is_inside)
{
	struct made made = make_begin();
	bool is_warning = false;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_switch(&made, 2);
	made.time += MS;
	make_switch(&made, 1);
	made.time += 50 * MS;
	make_create(&made, 1, 3, WEFT_KIND_PROMISE);
	for (uint64_t id = 10; id < 20; id++)
		make_create(&made, is_inside ? 3 : 2, id, WEFT_KIND_TASK);
	made.time += 150 * MS;
	for (uint64_t turn = 0; turn < 500; turn++) {
		make_switch(&made, 10 + turn % 10);
		made.time += 20 * US;
	}
	make_switch(&made, WEFT_TASK_NONE);
	struct found found = find(&made);
	for (uint32_t i = 0; i < found.problems->count; i++)
		is_warning = is_warning || found.problems->list[i].severity != WEFT_SEVERITY_HINT;
	found_finish(&found);
	return is_warning;
}

static void what_a_long_stretch_has_made_did_not_wait_for_it(void **state)
{
	(void)state;
	assert_true(is_blamed_for_backlog(false));
	assert_false(is_blamed_for_backlog(true));
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

static void the_longest_pause_is_shown(void **state)
{
	struct found found =
		find_in_script("[200: run 1; +100; ?i=50 +400; ?i=50 gc 300000; ?i=100 +900;"
					   "?i=100 gc 900000; ?i=150 +500; ?i=150 gc 400000]",
			0);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_GC);
	(void)state;
	assert_int_equal(p->count, 3);
	assert_int_equal(p->end - p->start, 900000);
	found_finish(&found);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_that_lets_others_wait_is_found),
		cmocka_unit_test(a_long_stretch_tells_its_off_cpu_time),
		cmocka_unit_test(what_a_long_stretch_has_made_did_not_wait_for_it),
		cmocka_unit_test(a_long_stretch_names_its_longest_span),
		cmocka_unit_test(a_long_stretch_names_the_function_that_most_samples_share),
		cmocka_unit_test(a_long_stretch_may_be_in_the_kernel),
		cmocka_unit_test(a_pause_is_not_blamed_on_the_running_task),
		cmocka_unit_test(the_longest_pause_is_shown),
		cmocka_unit_test(a_gap_is_one_of_all_threads),
		cmocka_unit_test(gaps_of_a_growing_trace_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
