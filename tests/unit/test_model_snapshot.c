/* SPDX-License-Identifier: ISC
 *
 * Looking at a model while it is built: random events, looked at after any of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <weft/model.h>

#include "decoded.h"

static const struct weft_trace_thread threads[] = {
	{.name = "main", .process = "p"}, {.name = "worker", .process = "p"}};
static const struct weft_trace_description description = {
	.format = "test", .clock.name = "test", .threads = threads, .thread_count = 2};
static struct weft_diagnostics diagnostics;
static char text_of_event[16];

static struct weft_event random_event(uint64_t *seed, uint64_t time)
{
	int size = snprintf(text_of_event, sizeof(text_of_event), "n%u", next_random(seed) % 12);
	return (struct weft_event){
		.type = (uint8_t)(1 + next_random(seed) % (WEFT_EVENT_TYPES - 1)),
		.time_ns = time,
		.task = next_random(seed) % 16 ? next_random(seed) % 30 : WEFT_TASK_NONE,
		.other = next_random(seed) % 16 ? next_random(seed) % 30 : WEFT_TASK_NONE,
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
}

/* Feeds `count` events of a seed; looks after every `look` of them. */
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

static void same_string(
	const struct weft_model *a, uint32_t string_a, const struct weft_model *b, uint32_t string_b)
{
	struct weft_slice x = weft_model_string(a, string_a), y = weft_model_string(b, string_b);
	assert_int_equal(string_a == WEFT_NONE, string_b == WEFT_NONE);
	assert_int_equal(x.size, y.size);
	assert_memory_equal(x.bytes, y.bytes, x.size);
}

static void same_columns(
	const void *const *a, const void *const *b, const size_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			assert_memory_equal(a[i], b[i], bytes[i]);
}

/* What no rule for the end of a trace changes. */
static void same_facts(const struct weft_model *a, const struct weft_model *b)
{
	const struct weft_tasks *x = &a->tasks, *y = &b->tasks;
	const struct weft_edges *e = &a->edges, *f = &b->edges;
	const struct weft_notes *n = &a->notes, *o = &b->notes;
	const struct weft_samples *s = &a->samples, *r = &b->samples;
	assert_int_equal(x->count, y->count);
	assert_int_equal(e->count, f->count);
	assert_int_equal(e->by_actor_count, f->by_actor_count);
	assert_int_equal(n->count, o->count);
	assert_int_equal(s->count, r->count);
	assert_int_equal(a->counter_count, b->counter_count);
	assert_int_equal(a->creation_count, b->creation_count);
	assert_int_equal(a->thread_count, b->thread_count);
	assert_int_equal(a->summary.events, b->summary.events);
	assert_int_equal(a->summary.preexisting, b->summary.preexisting);
	const void *left[] = {x->id, x->start, x->parent, x->becomes, x->buffer, x->kind, x->first_edge,
		x->first_note, e->time, e->from, e->to, e->type, e->by_actor, n->time, n->value, n->type,
		s->time, s->value, s->task};
	const void *right[] = {y->id, y->start, y->parent, y->becomes, y->buffer, y->kind,
		y->first_edge, y->first_note, f->time, f->from, f->to, f->type, f->by_actor, o->time,
		o->value, o->type, r->time, r->value, r->task};
	size_t tasks = x->count, edges = e->count, notes = n->count, samples = s->count;
	const size_t bytes[] = {tasks * 8, tasks * 8, tasks * 4, tasks * 4, tasks * 4, tasks * 2,
		(tasks + 1) * 4, (tasks + 1) * 4, edges * 8, edges * 4, edges * 4, edges,
		e->by_actor_count * (size_t)4, notes * 8, notes * 8, notes, samples * 8, samples * 8,
		samples * 4};
	same_columns(left, right, bytes, sizeof(bytes) / sizeof(bytes[0]));
	for (uint32_t i = 0; i < n->count; i++)
		same_string(a, n->text[i], b, o->text[i]);
	for (uint32_t task = 0; task < x->count; task++)
		same_string(a, x->label[task], b, y->label[task]);
	for (uint32_t i = 0; i < a->counter_count; i++)
		assert_int_equal(a->counters[i].first, b->counters[i].first);
	for (uint32_t i = 0; i < a->thread_count; i++)
		assert_string_equal(a->threads[i].name, b->threads[i].name);
}

/* What the rules for the end of a trace do. */
static void same_ends(const struct weft_model *a, const struct weft_model *b)
{
	const struct weft_activations *x = &a->activations, *y = &b->activations;
	assert_int_equal(x->count, y->count);
	assert_int_equal(a->band_count, b->band_count);
	assert_int_equal(a->summary.never_resolved, b->summary.never_resolved);
	assert_int_equal(a->summary.unfinished, b->summary.unfinished);
	const void *left[] = {
		a->tasks.end, a->tasks.flags, a->tasks.first_activation, x->start, x->end, x->thread};
	const void *right[] = {
		b->tasks.end, b->tasks.flags, b->tasks.first_activation, y->start, y->end, y->thread};
	size_t tasks = a->tasks.count, rows = x->count;
	const size_t bytes[] = {tasks * 8, tasks, (tasks + 1) * 4, rows * 8, rows * 8, rows * 4};
	same_columns(left, right, bytes, sizeof(bytes) / sizeof(bytes[0]));
	for (uint32_t task = 0; task < a->tasks.count; task++)
		same_string(a, a->tasks.message[task], b, b->tasks.message[task]);
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

/* At each moment, the snapshot is the trace that would end there, but for its ends. */
static void a_snapshot_is_the_trace_so_far(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 40; seed++) {
		unsigned count = 1 + (unsigned)seed * 17;
		struct weft_model_builder *builder = feed(seed, count, 0);
		struct weft_model *snapshot = look(builder, 0), *whole = finish(builder);
		same_facts(snapshot, whole);
		assert_true(snapshot->summary.live);
		assert_int_equal(snapshot->summary.end, whole->summary.end);
		assert_int_equal(snapshot->summary.never_resolved, 0);
		for (uint32_t task = 0; task < whole->tasks.count; task++) {
			bool ended = snapshot->tasks.flags[task] & WEFT_TASK_RESOLVED;
			assert_int_equal(ended, (whole->tasks.flags[task] & WEFT_TASK_RESOLVED) != 0);
			assert_int_equal(
				snapshot->tasks.end[task], ended ? whole->tasks.end[task] : snapshot->summary.end);
			assert_int_equal(
				weft_model_running_ns(snapshot, task), weft_model_running_ns(whole, task));
			assert_int_equal(
				weft_model_find_task(snapshot, whole->tasks.buffer[task], whole->tasks.id[task]),
				task);
		}
		weft_model_destroy(snapshot);
		weft_model_destroy(whole);
	}
}

static void what_goes_on_reaches_now(void **state)
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
	m = look(builder, 7); /* a clock that lags shows nothing that was not yet */
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

/* However events come, and whenever somebody looks. */
static void no_trace_is_longer_than_nine_years(void **state)
{
	(void)state;
	const uint64_t span = UINT64_C(1) << 58;
	static const uint64_t firsts[] = {0, 5, UINT64_MAX - 1, UINT64_MAX};
	for (unsigned i = 0; i < 4; i++) {
		struct weft_diagnostics complaints = {0};
		struct weft_model_builder *builder;
		assert_int_equal(weft_model_builder_create(&builder), 0);
		const uint64_t times[] = {firsts[i], firsts[i] + 7, UINT64_MAX, firsts[i] + 9};
		for (unsigned e = 0; e < 4; e++) {
			struct weft_event event = {
				.type = WEFT_EVENT_SWITCH, .time_ns = times[e], .task = e + 1};
			assert_int_equal(weft_model_builder_add(builder, &event, &complaints), 0);
		}
		struct weft_model *live = look(builder, UINT64_MAX), *whole = finish(builder);
		assert_true(live->summary.end - live->summary.start <= span);
		assert_true(live->summary.end <= UINT64_MAX - span);
		assert_true(whole->summary.end - whole->summary.start <= 9);
		assert_int_equal(whole->summary.events, 4);
		assert_int_equal(complaints.count, 1);
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
		cmocka_unit_test(what_goes_on_reaches_now),
		cmocka_unit_test(nothing_yet_is_a_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
