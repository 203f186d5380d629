/* SPDX-License-Identifier: ISC
 *
 * The list of problems: its order and bounds, the names of types, and random traces.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "story/problems/findings.h"

#include "problems_found.h"

static void the_list_is_in_order_and_bounded(void **state)
{
	struct made made = make_begin();
	(void)state;
	for (uint64_t id = 1; id <= 300; id++) {
		char message[32];
		snprintf(
			message, sizeof(message), "error %c%c", (int)('a' + id / 20), (int)('a' + id % 20));
		make_create(&made, 0, id, WEFT_KIND_WAIT);
		made.time += US;
		make_fail(&made, 0, id, message);
	}
	struct found found = find(&made);
	assert_int_equal(found.problems->count, WEFT_PROBLEMS_MAX);
	assert_int_equal(found.problems->left_out, 300 - WEFT_PROBLEMS_MAX);
	char text[WEFT_SENTENCE_BYTES];
	weft_problems_sentence(found.problems, text, sizeof(text));
	assert_string_equal(text, "200 problems: 200 failed; 100 milder ones left out.");
	for (uint32_t i = 1; i < found.problems->count; i++)
		assert_true(found.problems->list[i - 1].start <= found.problems->list[i].start);
	found_finish(&found);
}

static void every_type_has_a_name_and_a_meaning(void **state)
{
	(void)state;
	for (int type = 0; type < WEFT_PROBLEM_TYPES; type++) {
		assert_string_not_equal(weft_problem_name((enum weft_problem_type)type), "unknown");
		assert_string_not_equal(weft_problem_meaning((enum weft_problem_type)type), "unknown");
	}
	assert_string_equal(weft_problem_name(WEFT_PROBLEM_TYPES), "unknown");
	assert_string_equal(weft_problem_meaning(WEFT_PROBLEM_TYPES), "unknown");
	assert_string_equal(weft_problem_name(WEFT_PROBLEM_IDLE_GAP), "idle gap");
}

static void the_samples_have_few(void **state)
{
	(void)state;
	struct found good = find_in(load_sample("mirage-arp-good.ctf"));
	struct found block = find_in(load_sample("mirage-block-read.sexp"));
	char text[WEFT_SENTENCE_BYTES];
	weft_problems_sentence(good.problems, text, sizeof(text));
	assert_string_equal(text, "4 problems: 1 failed, 2 idle gaps, 1 slow.");
	weft_problems_sentence(block.problems, text, sizeof(text));
	assert_string_equal(text, "7 problems: 2 failed, 3 idle gaps, 2 slow.");
	found_finish(&good);
	found_finish(&block);
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

static uint64_t seed = 5;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* The first types are of waiting alone. */
#define WAITING 4

static struct loaded random_trace(uint32_t events, uint32_t tasks, uint32_t type_count)
{
	static const uint8_t types[] = {WEFT_EVENT_TRY_READ, WEFT_EVENT_TRY_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_RESOLVE, WEFT_EVENT_CREATE, WEFT_EVENT_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_RESOLVE, WEFT_EVENT_BECOME, WEFT_EVENT_SIGNAL, WEFT_EVENT_SWITCH,
		WEFT_EVENT_EXPECT, WEFT_EVENT_FAIL, WEFT_EVENT_LABEL, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_CANCEL, WEFT_EVENT_TIME_OUT, WEFT_EVENT_CREATE, WEFT_EVENT_ACQUIRE,
		WEFT_EVENT_RELEASE, WEFT_EVENT_WAIT_ANY};
	struct made made = make_begin();
	for (uint32_t i = 0; i < events; i++) {
		struct weft_event event = {
			.type = types[pick(type_count ? type_count : sizeof(types))],
			.task = pick(tasks),
			.other = pick(tasks),
			.kind = (uint16_t)pick(20),
			.flag = pick(2),
			.text = {"a\xff\x1b/\xe2\x80\xae"
					 "b",
				pick(8)},
		};
		if (event.type == WEFT_EVENT_SWITCH && pick(3) == 0)
			event.task = WEFT_TASK_NONE;
		made.time += pick(2) ? 0 : pick(5) ? pick(1000) : pick(100000);
		made.thread = pick(2);
		make(&made, event);
	}
	return make_end(&made);
}

/* The only task for which a task waits at the end, from all its edges. */
static uint32_t naive_wait(const struct weft_model *m, uint32_t task)
{
	const struct weft_edges *e = &m->edges;
	uint32_t source = WEFT_NONE;
	bool several = false;
	if (m->tasks.flags[task] & WEFT_TASK_RESOLVED)
		return WEFT_NONE;
	for (uint32_t i = 0; i < e->count; i++) {
		if (e->from[i] != task || e->type[i] == WEFT_EDGE_CREATE || e->type[i] == WEFT_EDGE_BECOME)
			continue;
		if (e->type[i] != WEFT_EDGE_TRY_READ) {
			source = WEFT_NONE;
			several = false;
		} else {
			several = several || (source != WEFT_NONE && source != e->to[i]);
			source = e->to[i];
		}
	}
	if (source == WEFT_NONE || several)
		return WEFT_NONE;
	source = weft_model_resolve_become(m, source);
	return m->tasks.flags[source] & WEFT_TASK_RESOLVED ? WEFT_NONE : source;
}

/* The number of cycles, each counted at its lowest task. */
static uint32_t naive_cycles(const struct weft_model *m)
{
	uint32_t cycles = 0;
	for (uint32_t task = 0; task < m->tasks.count; task++) {
		uint32_t step = naive_wait(m, task), steps = 0;
		while (step != WEFT_NONE && step != task && step > task && steps++ < m->tasks.count)
			step = naive_wait(m, step);
		cycles += step == task;
	}
	return cycles;
}

static void cycles_are_those_of_the_naive_search(void **state)
{
	uint32_t sum = 0;
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct found found = find_in(random_trace(5 + pick(20), 3 + pick(20), WAITING));
		const uint32_t cycles = count_of(&found, WEFT_PROBLEM_DEADLOCK);
		assert_int_equal(cycles, naive_cycles(found.loaded.model));
		sum += cycles;
		found_finish(&found);
	}
	assert_true(sum > 20);
}

static void any_trace_gives_sound_problems(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct found found = find_in(random_trace(pick(2000), 2 + pick(200), 0));
		for (uint32_t i = 0; i < found.problems->count; i++) {
			const struct weft_problem *p = &found.problems->list[i];
			size_t size = strlen(p->sentence);
			assert_in_range(size, 10, WEFT_SENTENCE_BYTES - 1);
			assert_int_equal(p->sentence[size - 1], '.');
			assert_true(p->start <= p->end);
			assert_true(p->task == WEFT_NONE || p->task < found.loaded.model->tasks.count);
		}
		found_finish(&found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_is_in_order_and_bounded),
		cmocka_unit_test(every_type_has_a_name_and_a_meaning),
		cmocka_unit_test(the_samples_have_few),
		cmocka_unit_test(the_longest_comes_first),
		cmocka_unit_test(losses_without_a_place_are_counted),
		cmocka_unit_test(cycles_are_those_of_the_naive_search),
		cmocka_unit_test(any_trace_gives_sound_problems),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
