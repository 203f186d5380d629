/* SPDX-License-Identifier: ISC
 *
 * Snapshots of a model while it is built: random events, with a snapshot after any of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <weft/model.h>

#include "model/growth.h"

#include "decoded.h"
#include "event_types.h"
#include "same_model.h"

static const struct weft_trace_thread threads[] = {{.name = "main"}, {.name = "worker"}};
static const struct weft_trace_description description = {
	.format = "test", .clock.name = "test", .threads = threads, .thread_count = 2};
static struct weft_diagnostics diagnostics;
static char text_of_event[16];
static struct weft_field fields[2];
static unsigned ids = 30; /* random tasks are below this */

static struct weft_event random_event(uint64_t *seed, uint64_t time)
{
	int size = snprintf(text_of_event, sizeof(text_of_event), "n%u", next_random(seed) % 12);
	struct weft_event event = {
		.type = event_type_of(next_random(seed)),
		.time_ns = time,
		.task = next_random(seed) % 16 ? next_random(seed) % ids : WEFT_TASK_NONE,
		.other = next_random(seed) % 16 ? next_random(seed) % ids : WEFT_TASK_NONE,
		.kind = (uint16_t)(next_random(seed) % 12),
		.band = (uint8_t)(next_random(seed) % 2),
		.flag = next_random(seed) % 2,
		.has_value = next_random(seed) % 2,
		.is_set = next_random(seed) % 2,
		.value = (int64_t)(next_random(seed) % 40) - 10,
		.text = {text_of_event, (size_t)size},
		.thread = next_random(seed) % 2,
		.buffer = next_random(seed) % 2,
	};
	if (event.type != WEFT_EVENT_MARK)
		return event;
	fields[0] = (struct weft_field){{"v", 1}, WEFT_FIELD_I64, {.i64 = event.value}};
	fields[1] = (struct weft_field){{"t", 1}, WEFT_FIELD_TEXT, {.text = event.text}};
	event.fields = fields;
	event.field_count = event.has_value + event.is_set;
	return event;
}

/* Feeds `count` events of a seed; makes a snapshot after every `look` of them. */
static struct weft_model_builder *feed(uint64_t seed, unsigned count, unsigned look)
{
	struct weft_model_builder *builder;
	uint64_t time = 1000;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	for (unsigned i = 0; i < count; i++) {
		struct weft_event event = random_event(&seed, time);
		time += next_random(&seed) % 3 * 7;
		assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
		if (!look || i % look)
			continue;
		struct weft_model *model;
		assert_int_equal(weft_model_builder_snapshot(builder, &description, time, &model), 0);
		weft_model_destroy(model);
	}
	return builder;
}

static struct weft_model *finish(struct weft_model_builder *builder)
{
	struct weft_model *model;
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	return model;
}

static struct weft_model *look(struct weft_model_builder *builder, uint64_t now)
{
	struct weft_model *model;
	assert_int_equal(weft_model_builder_snapshot(builder, &description, now, &model), 0);
	return model;
}

/* Compares what the rules for the end of a trace set. */
static void same_ends(const struct weft_model *a, const struct weft_model *b)
{
	assert_memory_equal(
		a->summary.by_outcome, b->summary.by_outcome, sizeof(a->summary.by_outcome));
	same_periods(a, b);
	for (uint32_t task = 0; task < a->tasks.count; task++) {
		assert_int_equal(a->tasks.end[task], b->tasks.end[task]);
		assert_int_equal(a->tasks.outcome[task], b->tasks.outcome[task]);
		assert_int_equal(a->tasks.flags[task], b->tasks.flags[task]);
		same_string(a, a->tasks.message[task], b, b->tasks.message[task]);
	}
}

static void looking_changes_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 40; seed++) {
		unsigned count = 1 + (unsigned)seed * 23;
		struct weft_model *seen = finish(feed(seed, count, 1 + count / 9));
		struct weft_model *unseen = finish(feed(seed, count, 0));
		same_facts(seen, unseen);
		same_ends(seen, unseen);
		assert_false(seen->summary.live);
		weft_model_destroy(seen);
		weft_model_destroy(unseen);
	}
}

/* At any time, a snapshot equals the trace that would end there, except for the ends of tasks. */
static void a_snapshot_is_the_trace_so_far(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 40; seed++) {
		unsigned count = 1 + (unsigned)seed * 17;
		struct weft_model_builder *builder = feed(seed, count, 0);
		struct weft_model *snapshot = look(builder, 0), *whole = finish(builder);
		same_facts(snapshot, whole);
		same_periods(snapshot, whole);
		assert_true(snapshot->summary.live);
		assert_int_equal(snapshot->summary.by_outcome[WEFT_OUTCOME_NEVER_RESOLVED], 0);
		for (uint32_t task = 0; task < whole->tasks.count; task++) {
			bool ended = snapshot->tasks.flags[task] & WEFT_TASK_RESOLVED;
			bool is_track = whole->tasks.kind[task] == WEFT_KIND_TRACK; /* ends with the trace */
			if (!is_track)
				assert_int_equal(ended, (whole->tasks.flags[task] & WEFT_TASK_RESOLVED) != 0);
			assert_int_equal(
				snapshot->tasks.end[task], ended ? whole->tasks.end[task] : snapshot->summary.end);
			assert_int_equal(
				weft_model_running_ns(snapshot, task), weft_model_running_ns(whole, task));
			uint32_t buffer = whole->tasks.buffer[task];
			uint32_t last = weft_model_find_task(snapshot, buffer, whole->tasks.id[task]);
			assert_int_equal(last, weft_model_find_task(whole, buffer, whole->tasks.id[task]));
			assert_true(last >= task && whole->tasks.id[last] == whole->tasks.id[task] &&
						whole->tasks.buffer[last] == buffer);
		}
		weft_model_destroy(snapshot);
		weft_model_destroy(whole);
	}
}

static void unended_periods_reach_the_present(void **state)
{
	(void)state;
	struct weft_model_builder *builder;
	const struct weft_event events[] = {
		{.type = WEFT_EVENT_CREATE, .time_ns = 100, .task = WEFT_TASK_NONE, .other = 1},
		{.type = WEFT_EVENT_EXPECT, .time_ns = 100, .task = 1},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 110, .task = 1},
		{.type = WEFT_EVENT_BAND, .time_ns = 120, .thread = 1, .band = WEFT_BAND_GC, .flag = true},
	};
	assert_int_equal(weft_model_builder_create(&builder), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(weft_model_builder_add(builder, &events[i], &diagnostics), 0);
	struct weft_model *m = look(builder, 5000);
	assert_int_equal(m->summary.end, 5000);
	assert_int_equal(m->tasks.end[0], 5000);
	assert_int_equal(m->tasks.flags[0] & WEFT_TASK_FAILED, 0);
	assert_int_equal(weft_model_running_ns(m, 0), 4890);
	assert_int_equal(m->band_count, 1);
	assert_int_equal(m->bands[0].end, 5000);
	weft_model_destroy(m);
	m = look(builder, 7); /* a clock that lags changes nothing */
	assert_int_equal(m->tasks.end[0], 120);
	weft_model_destroy(m);
	m = finish(builder);
	assert_int_equal(m->tasks.end[0], 120);
	assert_int_equal(m->tasks.flags[0] & WEFT_TASK_NEVER_RESOLVED, WEFT_TASK_NEVER_RESOLVED);
	weft_model_destroy(m);
}

static void nothing_yet_is_a_model(void **state)
{
	(void)state;
	struct weft_model_builder *builder;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	struct weft_model *m = look(builder, 5000);
	assert_int_equal(m->tasks.count, 0);
	assert_int_equal(m->summary.end, 0);
	weft_model_destroy(m);
	weft_model_destroy(finish(builder));
}

/* ---- A growing trace ---- */

#define KEPT 4 /* snapshots that a reader has at a time */

/* Adds the next events of a seed, which is advanced. */
static void add_events(
	struct weft_model_builder *builder, uint64_t *seed, uint64_t *time, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct weft_event event = random_event(seed, *time);
		*time += next_random(seed) % 3 * 7;
		assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
	}
}

static bool is_listed(const uint32_t *list, uint32_t count, uint32_t task)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i] == task)
			return true;
	return false;
}

/* Checks that the growth which the snapshot reports is true. */
static void check_growth(const struct weft_model *m, const struct weft_model *former)
{
	const struct weft__growth *g = weft__model_growth(m, former);
	assert_non_null(g);
	assert_null(weft__model_growth(former, m));
	assert_int_equal(g->tasks, former->tasks.count);
	assert_int_equal(g->edges, former->edges.count);
	for (uint32_t task = 0; task < m->tasks.count; task++) {
		bool is_open = is_listed(g->open, g->open_count, task);
		assert_int_equal(is_open, !(m->tasks.flags[task] & WEFT_TASK_RESOLVED));
		if (is_open)
			assert_int_equal(m->tasks.end[task], m->summary.end);
		if (task >= g->tasks || is_listed(g->changed, g->changed_count, task))
			continue;
		same_task(m, former, task);
		same_notes_of(m, former, task);
		same_runs_of(m, former, task);
		assert_int_equal(m->tasks.flags[task], former->tasks.flags[task]);
		assert_int_equal(m->tasks.message[task], former->tasks.message[task]);
		if (!is_open)
			assert_int_equal(m->tasks.end[task], former->tasks.end[task]);
		if (!g->moved) {
			assert_int_equal(m->tasks.first_edge[task], former->tasks.first_edge[task]);
			assert_int_equal(m->tasks.first_note[task], former->tasks.first_note[task]);
			assert_int_equal(m->tasks.first_activation[task], former->tasks.first_activation[task]);
		}
	}
	for (uint32_t i = 0; i < g->changed_count; i++)
		assert_true(g->changed[i] < g->tasks && (i == 0 || g->changed[i - 1] < g->changed[i]));
	for (uint32_t edge = 0; edge < g->edges; edge++) {
		bool was_dropped = former->edges.type[edge] == WEFT_EDGE_DROPPED;
		bool is_dropped = m->edges.type[edge] == WEFT_EDGE_DROPPED;
		assert_int_equal(is_dropped && !was_dropped, is_listed(g->dropped, g->dropped_count, edge));
		assert_true(is_dropped || m->edges.type[edge] == former->edges.type[edge]);
	}
}

/* A trace grows in steps of random length. Each snapshot is the trace so far, whatever else its
 * reader has, and those that it has never change. */
static void snapshots_share_and_never_change(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 60; seed++) {
		uint64_t step_seed = seed * 31, events = seed, time = 1000;
		struct weft_model *kept[KEPT] = {NULL}, *former = NULL;
		uint64_t sums[KEPT] = {0};
		struct weft_model_builder *builder;
		unsigned total = 0, longest = seed % 5 ? 40 : 200;
		ids = seed % 4 == 1 ? 6 : seed % 4 ? 30 : 300;
		assert_int_equal(weft_model_builder_create(&builder), 0);
		for (unsigned step = 0; step < 30; step++) {
			unsigned more = next_random(&step_seed) % 4 ? next_random(&step_seed) % longest : 0;
			unsigned place = next_random(&step_seed) % (seed % 2 ? 2 : KEPT);
			add_events(builder, &events, &time, more);
			total += more;
			struct weft_model *m = look(builder, 0), *whole = finish(feed(seed, total, 0));
			same_facts(m, whole);
			same_periods(m, whole);
			if (former)
				check_growth(m, former);
			for (unsigned i = 0; i < KEPT; i++)
				assert_true(!kept[i] || checksum(kept[i]) == sums[i]);
			if (seed % 3 ==
				0) /* as a viewer does: only the latest, so that the one before it is used again */
				place = 0;
			else if (kept[place] == former) /* keep it for the next comparison */
				place = (place + 1) % KEPT;
			weft_model_destroy(kept[place]);
			kept[place] = former = m;
			sums[place] = checksum(m);
			weft_model_destroy(whole);
		}
		struct weft_model *last = finish(builder), *whole = finish(feed(seed, total, 0));
		same_facts(last, whole);
		same_ends(last, whole);
		weft_model_destroy(last);
		weft_model_destroy(whole);
		for (unsigned i = 0; i < KEPT; i++) {
			assert_true(!kept[i] || checksum(kept[i]) == sums[i]);
			weft_model_destroy(kept[i]);
		}
	}
	ids = 30;
}

/* In any order of the events, and with a snapshot at any time. */
static void no_trace_is_longer_than_nine_years(void **state)
{
	(void)state;
	const uint64_t span = UINT64_C(1) << 58;
	static const uint64_t firsts[] = {0, 5, UINT64_MAX - 1, UINT64_MAX};
	for (unsigned i = 0; i < 4; i++) {
		struct weft_diagnostics found = {0};
		struct weft_model_builder *builder;
		assert_int_equal(weft_model_builder_create(&builder), 0);
		const uint64_t times[] = {firsts[i], firsts[i] + 7, UINT64_MAX, firsts[i] + 9};
		for (unsigned e = 0; e < 4; e++) {
			struct weft_event event = {
				.type = WEFT_EVENT_SWITCH, .time_ns = times[e], .task = e + 1};
			assert_int_equal(weft_model_builder_add(builder, &event, &found), 0);
		}
		struct weft_model *live = look(builder, UINT64_MAX), *whole = finish(builder);
		assert_true(live->summary.end - live->summary.start <= span);
		assert_true(live->summary.end <= UINT64_MAX - span);
		assert_true(whole->summary.end - whole->summary.start <= 9);
		assert_int_equal(whole->summary.events, 4);
		assert_int_equal(found.count, 1);
		weft_model_destroy(live);
		weft_model_destroy(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_trace_is_longer_than_nine_years),
		cmocka_unit_test(looking_changes_nothing),
		cmocka_unit_test(a_snapshot_is_the_trace_so_far),
		cmocka_unit_test(unended_periods_reach_the_present),
		cmocka_unit_test(nothing_yet_is_a_model),
		cmocka_unit_test(snapshots_share_and_never_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
