/* SPDX-License-Identifier: ISC
 *
 * Words and numbers about random traces, compared with a second, simple way to find them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/holds.h"
#include "problems_found.h"
#include "story/awaited.h"
#include "story/blocking.h"
#include "story/verbs.h"

#define TASKS 12

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* ---- Traces ---- */

/* Half of the events have the time of the one before. Tasks end, and are created, more than once.
 */
static void make_some(struct made *made)
{
	static const uint8_t types[] = {WEFT_EVENT_READ, WEFT_EVENT_TRY_READ, WEFT_EVENT_SIGNAL,
		WEFT_EVENT_RESOLVE, WEFT_EVENT_FAIL, WEFT_EVENT_CANCEL, WEFT_EVENT_CLOSE,
		WEFT_EVENT_TIME_OUT, WEFT_EVENT_CREATE, WEFT_EVENT_BECOME, WEFT_EVENT_SWITCH,
		WEFT_EVENT_SWITCH, WEFT_EVENT_ACQUIRE, WEFT_EVENT_RELEASE, WEFT_EVENT_LABEL};
	made->time += pick(2) ? pick(50) : 0;
	struct weft_event event = {.type = types[pick(sizeof(types))],
		.task = pick(6) ? pick(TASKS) : WEFT_TASK_NONE,
		.other = pick(TASKS),
		.text = {"E", pick(2)}};
	if (event.type == WEFT_EVENT_LABEL)
		event.task = event.other;
	make(made, event);
}

static struct loaded random_trace(uint32_t events)
{
	static const uint16_t kinds[] = {WEFT_KIND_TASK, WEFT_KIND_BIND, WEFT_KIND_LOCK,
		WEFT_KIND_SEMAPHORE, WEFT_KIND_QUEUE, WEFT_KIND_PROMISE, WEFT_KIND_TIMER};
	struct made made = make_begin();
	for (uint32_t id = 0; id < TASKS; id++)
		make_create(&made, WEFT_TASK_NONE, id, kinds[pick(sizeof(kinds) / sizeof(kinds[0]))]);
	while (events-- > 0)
		make_some(&made);
	return make_end(&made);
}

/* ---- Edges in words ---- */

struct ways {
	const char *verb, *passive, *past;
};

static struct ways ways_of_end(unsigned outcome)
{
	switch (outcome) {
	case WEFT_OUTCOME_FAILED:
		return (struct ways){"fails", "is failed by", "failed"};
	case WEFT_OUTCOME_CANCELLED:
		return (struct ways){"cancels", "is cancelled by", "been cancelled"};
	case WEFT_OUTCOME_CLOSED:
		return (struct ways){"closes", "is closed by", "been closed"};
	case WEFT_OUTCOME_TIMED_OUT:
		return (struct ways){"times out", "is timed out by", "timed out"};
	default:
		return (struct ways){"resolves", "is resolved by", "ended"};
	}
}

/* Only the first of a task's ends has its outcome. */
static struct ways ways_of(const struct weft_model *m, uint32_t edge)
{
	const uint32_t to = m->edges.to[edge];
	const unsigned kind = m->tasks.kind[to];
	const bool is_lock =
		kind == WEFT_KIND_LOCK || kind == WEFT_KIND_POOL || kind == WEFT_KIND_QUEUE;
	switch (m->edges.type[edge]) {
	case WEFT_EDGE_READ:
		return is_lock ? (struct ways){"takes", "is taken by", NULL}
					   : (struct ways){"reads", "is read by", NULL};
	case WEFT_EDGE_SIGNAL:
		return is_lock ? (struct ways){"releases", "is released by", NULL}
					   : (struct ways){"signals", "is signalled by", NULL};
	case WEFT_EDGE_RESOLVE:
		return ways_of_end(m->tasks.end[to] == m->edges.time[edge] ? m->tasks.outcome[to]
																   : WEFT_OUTCOME_FULFILLED);
	case WEFT_EDGE_TRY_READ:
		return (struct ways){"waits for", "is waited for by", NULL};
	case WEFT_EDGE_BECOME:
		return (struct ways){"becomes", "goes on from", NULL};
	default:
		return (struct ways){"creates", "is created by", NULL};
	}
}

static void add_length(struct weft__words *w, const char *before, uint64_t ns, const char *after)
{
	weft__story_words_add(w, "%s", before);
	weft__story_words_add_length(w, ns);
	weft__story_words_add(w, "%s", after);
}

static void expect_circumstance(const struct weft_model *m, uint32_t edge, struct weft__words *w)
{
	const uint32_t to = m->edges.to[edge], type = m->edges.type[edge];
	const uint64_t time = m->edges.time[edge], end = m->tasks.end[to];
	const bool has_end = m->tasks.flags[to] & WEFT_TASK_RESOLVED;
	if (type == WEFT_EDGE_READ && has_end && end <= time) {
		weft__story_words_add(w, ", which had %s ", ways_of_end(m->tasks.outcome[to]).past);
		add_length(w, "", time - end, " before");
	}
	if (type == WEFT_EDGE_TRY_READ && !has_end)
		weft__story_words_add(w, ", which does not end");
	if (type == WEFT_EDGE_TRY_READ && has_end && end >= time)
		add_length(w, ", which ends ", end - time, " later");
	if (type == WEFT_EDGE_RESOLVE && end == time && m->tasks.outcome[to] == WEFT_OUTCOME_FAILED &&
		weft_model_string(m, m->tasks.message[to]).size)
		weft__story_words_add(w, ": E");
}

static void check_edge(const struct loaded *loaded, uint32_t edge)
{
	const struct weft_model *m = loaded->model;
	const uint32_t from = m->edges.from[edge];
	const struct ways ways = ways_of(m, edge);
	char sentence[WEFT_SENTENCE_BYTES], expected[WEFT_SENTENCE_BYTES];
	struct weft__words w;
	weft__story_words_init(&w, expected, sizeof(expected));
	if (from == WEFT_NONE)
		weft__story_words_add(&w, "An unknown task");
	else
		weft__story_words_add_subject(&w, m, from, 36);
	weft__story_words_add(&w, " %s ", ways.verb);
	weft__story_words_add_subject(&w, m, m->edges.to[edge], 36);
	weft__story_words_add(&w, " at ");
	weft__story_words_add_time(&w, m, m->edges.time[edge]);
	expect_circumstance(m, edge, &w);
	weft__story_words_add(&w, ".");
	weft_story_edge_sentence(&loaded->story, edge, sentence, sizeof(sentence));
	assert_string_equal(sentence, expected);
	assert_string_equal(weft__story_verb_passive(m, edge), ways.passive);
}

static void edges_are_told_as_they_are(void **state)
{
	uint32_t looked = 0;
	(void)state;
	seed = 1;
	for (unsigned round = 0; round < 40; round++) {
		struct loaded loaded = random_trace(80);
		for (uint32_t edge = 0; edge < loaded.model->edges.count; edge++, looked++)
			check_edge(&loaded, edge);
		loaded_finish(&loaded);
	}
	assert_true(looked > 1000);
}

/* ---- The task that ended a gap ---- */

static bool runs_on(const struct weft_model *m, uint32_t task, uint64_t from)
{
	bool runs_before = false, runs_after = false;
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++) {
		runs_before |= m->activations.start[i] < from;
		runs_after |= m->activations.end[i] > from;
	}
	return runs_before && runs_after && m->tasks.kind[task] != WEFT_KIND_TIMER;
}

/* The first to end of those that were there in the whole gap, and ended soon after it. */
static uint32_t expected_awaited(const struct weft_model *m, uint64_t start, uint64_t end)
{
	for (uint64_t at = end; at <= end + (end - start) / 8; at++)
		for (uint32_t task = 0; task < m->tasks.count; task++)
			if (m->tasks.flags[task] & WEFT_TASK_RESOLVED && m->tasks.end[task] == at &&
				m->tasks.outcome[task] != WEFT_OUTCOME_CLOSED && m->tasks.start[task] <= start &&
				!runs_on(m, task, end))
				return task;
	return WEFT_NONE;
}

static void a_gap_is_ended_by_the_first_to_end(void **state)
{
	uint32_t found = 0;
	(void)state;
	seed = 2;
	for (unsigned round = 0; round < 100; round++) {
		struct loaded loaded = random_trace(60);
		const struct weft_model *m = loaded.model;
		for (unsigned i = 0; i < 20; i++) { /* many begin and end as a task does */
			const uint32_t first = pick(m->tasks.count), last = pick(m->tasks.count);
			const uint64_t start = m->tasks.start[first] + (pick(3) ? 0 : pick(9));
			const uint64_t end = m->tasks.end[last] - (pick(3) ? 0 : pick(9));
			if (start > end)
				continue;
			assert_int_equal(weft__story_awaited(m, start, end), expected_awaited(m, start, end));
			found += expected_awaited(m, start, end) != WEFT_NONE;
		}
		loaded_finish(&loaded);
	}
	assert_true(found > 100);
}

/* ---- Blocked calls ---- */

/* Calls of two threads, which overlap; many begin or end where a stretch does. */
static void the_longest_blocked_call_lies_in_the_stretch(void **state)
{
	static const struct weft_trace_thread threads[] = {{.name = "main"}, {.name = "other"}};
	uint32_t found = 0;
	(void)state;
	seed = 6;
	for (unsigned round = 0; round < 60; round++) {
		struct made made = make_begin();
		made.threads = threads;
		made.thread_count = 2;
		uint64_t begin[12], end[12];
		bool is_main[12];
		make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
		made.time = 40;
		for (unsigned i = 0; i < 12; i++) {
			begin[i] = pick(20);
			end[i] = begin[i] + pick(12);
			is_main[i] = pick(3);
			make_given_span(
				&made, is_main[i] ? "main blocked" : "other blocked", "call", begin[i], end[i]);
		}
		struct loaded loaded = make_end(&made);
		for (uint64_t start = 0; start < 30; start++)
			for (uint64_t stop = start; stop < 30; stop += 1 + pick(4)) {
				uint64_t longest = 0, ns;
				uint32_t name;
				for (unsigned i = 0; i < 12; i++)
					if (is_main[i] && begin[i] >= start && end[i] <= stop &&
						end[i] - begin[i] > longest)
						longest = end[i] - begin[i];
				assert_int_equal(weft__story_blocked_span(loaded.model, 0, start, stop, &name, &ns),
					longest > 0);
				assert_int_equal(ns, longest);
				found += longest > 0;
			}
		loaded_finish(&loaded);
	}
	assert_true(found > 1000);
}

/* ---- Groups ---- */

static void the_first_of_the_longest_stands_for_a_group(void **state)
{
	uint32_t tasks[2 * TASKS];
	(void)state;
	seed = 3;
	for (unsigned round = 0; round < 100; round++) {
		struct loaded loaded = random_trace(60);
		struct weft_story_group group;
		uint32_t count = pick(2 * TASKS), shorter = 0;
		for (uint32_t i = 0; i < count; i++)
			tasks[i] = pick(loaded.model->tasks.count);
		assert_int_equal(weft_story_group_tasks(&loaded.story, tasks, count, &group), 0);
		uint32_t longest = WEFT_NONE, by_outcome[WEFT_OUTCOMES] = {0};
		uint64_t longest_ns = 0;
		for (uint32_t i = count; i-- > 0;) {
			const uint64_t ns = loaded.model->tasks.end[tasks[i]] - loaded.layout->start[tasks[i]];
			by_outcome[loaded.model->tasks.outcome[tasks[i]]]++;
			shorter += ns < group.p50_ns;
			if (ns >= longest_ns) {
				longest = tasks[i];
				longest_ns = ns;
			}
		}
		assert_int_equal(group.longest, longest);
		assert_int_equal(group.longest_ns, longest_ns);
		assert_memory_equal(group.by_outcome, by_outcome, sizeof(by_outcome));
		assert_true(count == 0 || shorter <= (count - 1) / 2);
		loaded_finish(&loaded);
	}
}

/* ---- Timers ---- */

/* A timer that is set, also again and also to a time that has passed, runs, and ends. */
static struct loaded random_timers(void)
{
	struct made made = make_begin();
	made.time = 50 * MS;
	for (uint64_t id = 0; id < 4; id++)
		make_create(&made, WEFT_TASK_NONE, id, id ? WEFT_KIND_TIMER : WEFT_KIND_TASK);
	for (unsigned i = 0; i < 30; i++) {
		const uint64_t id = pick(4);
		made.time += pick(3) ? pick(8) * MS / 2 : 0;
		if (pick(3) == 0)
			make_tag(&made, id, WEFT_TAG_DEADLINE, ((int64_t)pick(24) - 4) * (int64_t)MS);
		else if (pick(2))
			make_switch(&made, pick(3) ? id : WEFT_TASK_NONE);
		else if (pick(5) == 0)
			make_edge(&made, pick(2) ? WEFT_EVENT_RESOLVE : WEFT_EVENT_CANCEL, WEFT_TASK_NONE, id);
	}
	return make_end(&made);
}

static bool expect_timer(const struct weft_model *m, uint32_t task, struct weft_story_timer *ret)
{
	uint64_t set = 0, ran = UINT64_MAX;
	bool is_set = false;
	for (uint32_t note = m->tasks.first_note[task]; note < m->tasks.end_note[task]; note++) {
		set = m->notes.time[note];
		is_set = true;
		ret->due = (uint64_t)((int64_t)set + m->notes.value[note]);
	}
	for (uint32_t i = m->tasks.end_activation[task]; i-- > m->tasks.first_activation[task];)
		if (m->activations.start[i] > set)
			ran = m->activations.start[i];
	const bool has_ended = m->tasks.flags[task] & WEFT_TASK_RESOLVED;
	const bool is_cancelled = has_ended && m->tasks.outcome[task] != WEFT_OUTCOME_FULFILLED;
	const uint64_t end = has_ended ? m->tasks.end[task] : m->summary.end;
	const uint64_t until = ran < end ? ran : end;
	ret->has_fired = has_ended ? !is_cancelled : ran != UINT64_MAX;
	ret->late_ns = !is_cancelled && until > ret->due ? until - ret->due : 0;
	ret->is_late = ret->late_ns >= MS && (ret->due < set || ret->late_ns >= (ret->due - set) / 10);
	return is_set && m->tasks.kind[task] == WEFT_KIND_TIMER;
}

static void timers_fire_after_they_were_set_last(void **state)
{
	uint32_t late = 0, looked = 0;
	(void)state;
	seed = 4;
	for (unsigned round = 0; round < 200; round++) {
		struct loaded loaded = random_timers();
		for (uint32_t task = 0; task < loaded.model->tasks.count; task++) {
			struct weft_story_timer timer = {0}, expected = {0};
			const bool is_timer = expect_timer(loaded.model, task, &expected);
			assert_int_equal(weft_story_timer(loaded.model, task, &timer), is_timer);
			if (!is_timer)
				continue;
			assert_int_equal(timer.due, expected.due);
			assert_int_equal(timer.late_ns, expected.late_ns);
			assert_int_equal(timer.has_fired, expected.has_fired);
			assert_int_equal(timer.is_late, expected.is_late);
			late += timer.is_late;
			looked++;
		}
		loaded_finish(&loaded);
	}
	assert_true(late > 50 && looked - late > 50);
}

/* ---- Calls that fail ---- */

/* Alike tasks fail in any order, so the first of them is not the first that fails. */
static void failing_calls_are_told_from_the_first_to_the_last(void **state)
{
	(void)state;
	seed = 5;
	for (unsigned round = 0; round < 50; round++) {
		struct made made = make_begin();
		uint64_t first = 0, by = 0, last = 0;
		const uint32_t count = 16 + pick(40), tasks = 1 + pick(5);
		for (uint64_t id = 1; id <= tasks; id++) {
			make_create(&made, WEFT_TASK_NONE, id, WEFT_KIND_TASK);
			make_label(&made, id, "listener");
		}
		for (uint32_t i = 0; i < count; i++) {
			const uint64_t id = 1 + pick(tasks);
			made.time += 1 + pick(20) * MS;
			if (i == 0)
				first = made.time, by = id;
			last = made.time;
			make(&made, (struct weft_event){
							.type = WEFT_EVENT_NOTE, .task = id, .text = {"accept: EAGAIN", 14}});
		}
		struct found found = find(&made);
		const struct weft_problem *problem = only(&found, WEFT_PROBLEM_FAILING_CALL);
		assert_int_equal(problem->count, count);
		assert_int_equal(problem->start, first);
		assert_int_equal(problem->end, last);
		assert_int_equal(found.loaded.model->tasks.id[problem->task], by);
		found_finish(&found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_are_told_as_they_are),
		cmocka_unit_test(a_gap_is_ended_by_the_first_to_end),
		cmocka_unit_test(the_longest_blocked_call_lies_in_the_stretch),
		cmocka_unit_test(the_first_of_the_longest_stands_for_a_group),
		cmocka_unit_test(timers_fire_after_they_were_set_last),
		cmocka_unit_test(failing_calls_are_told_from_the_first_to_the_last),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
