/* SPDX-License-Identifier: ISC
 *
 * For how long running tasks had no processor.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "same_model.h"
#include "trace_script.h"

/* The sum, and that of the first activation. */
static void assert_off_cpu(const struct weft_model *m, uint64_t id, uint64_t sum, uint64_t first)
{
	uint32_t task = weft_model_find_task(m, 0, id);
	assert_int_equal(weft_model_off_cpu_ns(m, task), sum);
	uint32_t i = m->tasks.first_activation[task];
	const struct weft_activations *a = &m->activations;
	assert_int_equal(
		weft_model_off_cpu_between(m, task, a->thread[i], a->start[i], a->end[i]), first);
}

static void belongs_to_an_activation(void **state)
{
	(void)state;
	struct weft_model *m = trace_script_model("run 1; ~100; off 1 30; run 2; ~100;"
											  "run 1; ~100; off 1 1000; ~50; off 1 7; run 2; ~50;"
											  "off 1 9; ~10; off 2 0; run 3; ~10",
		0);
	assert_off_cpu(m, 1, 30 + 100 + 7, 30); /* at most the time from the event before on */
	assert_off_cpu(m, 2, 0, 0);             /* 1 did not run, and 2 lost nothing */
	weft_model_destroy(m);
	m = trace_script_model("run 1; ~100; off 1 30; ~5; off 1 1000; run 2; ~10", 0);
	assert_off_cpu(m, 1, 30 + 5, 30 + 5);
	weft_model_destroy(m);
}

/* Only what exceeds the time since the end is certain to belong to the task. */
static void after_the_end_of_a_task(void **state)
{
	(void)state;
	struct weft_model *m = trace_script_model("run 1; ~100; resolve 1 1; ~10; off 1 30; run 2; ~10;"
											  "resolve 2 2; ~80; off 2 80; run 3; ~50; become 3 4;"
											  "~50; off 4 20; run 5; ~10",
		0);
	assert_off_cpu(m, 1, 20, 20);
	assert_off_cpu(m, 2, 0, 0);
	assert_off_cpu(m, 4, 0, 0); /* unknown which of 3 and 4 lost it */
	assert_int_equal(m->off_cpu.count, 1);
	weft_model_destroy(m);
}

static void idle_bands_are_not_activations(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_switch(&made, 1);
	made.time = 100;
	make(&made, (struct weft_event){.type = WEFT_EVENT_BAND, .band = WEFT_BAND_IDLE, .flag = true});
	make_edge(&made, WEFT_EVENT_BECOME, 1, 2);
	made.time = 200;
	make(&made, (struct weft_event){.type = WEFT_EVENT_OFF_CPU, .task = 2, .value = 90});
	make(&made, (struct weft_event){.type = WEFT_EVENT_BAND, .band = WEFT_BAND_IDLE});
	made.time = 300;
	make(&made, (struct weft_event){.type = WEFT_EVENT_OFF_CPU, .task = 2, .value = 40});
	struct weft_model *m = make_model(&made);
	assert_off_cpu(m, 2, 40, 40); /* it became 2 before this activation began */
	weft_model_destroy(m);
}

/* Two threads run the same task at once. */
static void threads_are_apart(void **state)
{
	(void)state;
	struct weft_model *m = trace_script_model("run 1; ~10; thread 1; run 1; ~80; off 1 50; run 2;"
											  "thread 0; ~10; off 1 60; run 2; ~5",
		0);
	const uint32_t first = m->tasks.first_activation[weft_model_find_task(m, 0, 1)];
	assert_off_cpu(m, 1, 110, m->activations.thread[first] ? 50 : 60);
	weft_model_destroy(m);
}

/* A loss may have come in another part of the activation, but no more than fits there. */
static void a_part_has_lost_what_fits_nowhere_else(void **state)
{
	(void)state;
	struct weft_model *m = trace_script_model("run 1; ~100; off 1 90; run 2; ~10", 0);
	const struct weft_activations *a = &m->activations;
	const uint32_t task = weft_model_find_task(m, 0, 1), i = m->tasks.first_activation[task];
	assert_int_equal(
		weft_model_off_cpu_between(m, task, a->thread[i], a->start[i] + 30, a->end[i]), 60);
	assert_int_equal(
		weft_model_off_cpu_between(m, task, a->thread[i], a->start[i], a->start[i] + 5), 0);
	assert_int_equal(
		weft_model_thread_off_cpu(m, a->thread[i], a->start[i] + 20, a->start[i] + 60), 30);
	assert_int_equal(weft_model_thread_off_cpu(m, a->thread[i] + 1, a->start[i], a->end[i]), 0);
	weft_model_destroy(m);
}

/* Snapshots share rows with a trace that grows. */
static void snapshots_have_it_too(void **state)
{
	const struct weft_trace_description description = {.format = "test", .clock.name = "test"};
	struct made made = make_begin();
	struct weft_model *snapshots[3] = {NULL}, *whole;
	(void)state;
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t task = i * 7 % 31;
		make_switch(&made, task);
		made.time += 100;
		if (i >= 100)
			make(&made, (struct weft_event){
							.type = WEFT_EVENT_OFF_CPU, .task = task, .value = (int64_t)(i % 120)});
		if (i % 100 == 99)
			assert_int_equal(weft_model_builder_snapshot(
								 made.builder, &description, made.time, &snapshots[i / 100]),
				0);
	}
	make_switch(&made, WEFT_TASK_NONE);
	assert_int_equal(weft_model_builder_finish(made.builder, &description, &whole), 0);
	weft_model_builder_destroy(made.builder);
	assert_int_equal(weft_model_off_cpu_ns(snapshots[0], 0), 0);
	same_off_cpu(snapshots[2], whole);
	for (unsigned i = 0; i < 3; i++)
		weft_model_destroy(snapshots[i]);
	weft_model_destroy(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(belongs_to_an_activation),
		cmocka_unit_test(after_the_end_of_a_task),
		cmocka_unit_test(idle_bands_are_not_activations),
		cmocka_unit_test(threads_are_apart),
		cmocka_unit_test(a_part_has_lost_what_fits_nowhere_else),
		cmocka_unit_test(snapshots_have_it_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
