/* SPDX-License-Identifier: ISC
 *
 * The rules of docs/model.md, one case a rule. Traces are a few literal events.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <weft/error.h>
#include <weft/model.h>

#define NONE WEFT_TASK_NONE

static struct weft_event event(unsigned type, uint64_t time, uint64_t task, uint64_t other)
{
	return (struct weft_event){
		.type = (uint8_t)type, .time_ns = time, .task = task, .other = other};
}

static struct weft_event create(uint64_t time, uint64_t task, uint64_t child)
{
	struct weft_event e = event(WEFT_EVENT_CREATE, time, task, child);
	e.kind = WEFT_KIND_TASK;
	return e;
}

static struct weft_event read_event(uint64_t time, uint64_t task, uint64_t source)
{
	return event(WEFT_EVENT_READ, time, task, source);
}

static struct weft_event switch_to(uint64_t time, uint64_t task)
{
	return event(WEFT_EVENT_SWITCH, time, task, 0);
}

static struct weft_event texted(unsigned type, uint64_t time, uint64_t task, const char *text)
{
	struct weft_event e = event(type, time, task, task);
	e.text = (struct weft_slice){text, strlen(text)};
	return e;
}

static struct weft_event counter(
	uint64_t time, uint64_t task, const char *name, int64_t value, bool is_set)
{
	struct weft_event e = texted(WEFT_EVENT_COUNTER, time, task, name);
	e.value = value;
	e.is_set = is_set;
	return e;
}

static struct weft_event band(uint64_t time, unsigned kind, bool begin, const char *reason)
{
	struct weft_event e = texted(WEFT_EVENT_BAND, time, 0, reason);
	e.band = (uint8_t)kind;
	e.flag = begin;
	return e;
}

static struct weft_diagnostics diagnostics;

static struct weft_model *build(const struct weft_event *events, size_t count)
{
	struct weft_model_builder *builder;
	struct weft_model *model;
	struct weft_trace_description description = {.format = "test", .clock.name = "test"};
	diagnostics.count = 0;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(weft_model_builder_add(builder, &events[i], &diagnostics), 0);
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	return model;
}

#define BUILD(...)                            \
	build((struct weft_event[]){__VA_ARGS__}, \
		sizeof((struct weft_event[]){__VA_ARGS__}) / sizeof(struct weft_event))

static uint32_t task(const struct weft_model *m, uint64_t id)
{
	uint32_t found = weft_model_find_task(m, 0, id);
	assert_int_not_equal(found, WEFT_NONE);
	return found;
}

static void every_event_and_kind_has_a_name(void **state)
{
	(void)state;
	assert_null(weft_event_describe(0)->name);
	assert_null(weft_event_describe(200)->name);
#define EVENT(number, id, word, list) assert_non_null(weft_event_describe(number)->name);
#include <weft/events.def>
#undef EVENT
	assert_string_equal(weft_event_describe(WEFT_EVENT_TRY_READ)->name, "try_read");
	assert_string_equal(weft_event_describe(WEFT_EVENT_CREATE)->fields[1].key, "child");
	assert_string_equal(weft_kind_name(WEFT_KIND_UNKNOWN), "unknown");
	assert_null(weft_kind_name(50));
}

static struct weft_event create_named(uint64_t child, uint16_t kind, const char *name)
{
	struct weft_event e = event(WEFT_EVENT_CREATE, 1, 9, child);
	e.kind = kind;
	e.kind_name = (struct weft_slice){name, strlen(name)};
	return e;
}

static void kinds_with_one_name_are_one_kind(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(create_named(1, 257, "job"), create_named(2, 300, "job"),
		create_named(3, 257, "conn"), create_named(4, 257, ""), create_named(5, 65534, ""));
	const uint16_t *kind = m->tasks.kind;
	assert_string_equal(weft_model_kind_name(m, kind[task(m, 1)]), "job");
	assert_int_equal(kind[task(m, 1)], kind[task(m, 2)]);
	assert_string_equal(weft_model_kind_name(m, kind[task(m, 3)]), "conn");
	assert_int_equal(kind[task(m, 4)], 257);
	assert_null(weft_model_kind_name(m, 257));
	assert_int_equal(kind[task(m, 5)], WEFT_KIND_UNKNOWN); /* models use this number for "job" */
	assert_string_equal(weft_model_kind_name(m, WEFT_KIND_BIND), "bind");
	assert_string_equal(weft_model_kind_name(m, kind[task(m, 9)]), "preexisting");
	weft_model_destroy(m);
}

static void later_kinds_than_256_are_unknown(void **state)
{
	(void)state;
	static char names[300][8];
	struct weft_event events[300];
	for (int i = 0; i < 300; i++) {
		snprintf(names[i], sizeof(names[i]), "k%d", i);
		events[i] = create_named(100 + (uint64_t)i, 257, names[i]);
	}
	struct weft_model *m = build(events, 300);
	for (uint64_t i = 0; i < 300; i++)
		assert_string_equal(weft_model_kind_name(m, m->tasks.kind[task(m, 100 + i)]),
			i < 256 ? names[i] : "unknown");
	weft_model_destroy(m);
}

static void an_empty_trace_is_a_model(void **state)
{
	(void)state;
	struct weft_model *m = build(NULL, 0);
	assert_int_equal(m->tasks.count, 0);
	assert_int_equal(m->summary.events, 0);
	assert_int_equal(m->summary.end, 0);
	weft_model_destroy(m);
}

static void an_unknown_task_exists_from_the_start(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(switch_to(100, 1), create(200, 7, 8));
	uint32_t t = task(m, 7);
	assert_int_equal(m->tasks.kind[t], WEFT_KIND_PREEXISTING);
	assert_int_equal(m->tasks.start[t], 100);
	assert_int_equal(m->tasks.parent[t], WEFT_NONE);
	assert_int_equal(m->tasks.parent[task(m, 8)], t);
	weft_model_destroy(m);
}

static void a_late_create_names_a_known_task(void **state)
{
	(void)state;
	struct weft_model *m =
		BUILD(switch_to(100, 1), switch_to(150, 9), switch_to(170, 1), create(200, 1, 9));
	uint32_t t = task(m, 9);
	assert_int_equal(diagnostics.count, 0);
	assert_int_equal(m->tasks.kind[t], WEFT_KIND_TASK);
	assert_int_equal(m->tasks.start[t], 150);
	assert_int_equal(m->tasks.parent[t], task(m, 1));
	assert_int_equal(weft_model_running_ns(m, t), 20);
	assert_int_equal(m->edges.type[0], WEFT_EDGE_CREATE);
	assert_int_equal(m->edges.time[0], 200);
	weft_model_destroy(m);
}

static void a_second_create_is_ignored(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(create(1, 1, 3), create(2, 2, 3));
	assert_int_equal(diagnostics.count, 1);
	assert_int_equal(m->tasks.parent[task(m, 3)], task(m, 1));
	assert_int_equal(m->edges.count, 1);
	weft_model_destroy(m);
}

static void no_task_is_its_own_ancestor(void **state)
{
	(void)state;
	struct weft_model *m =
		BUILD(create(1, 1, 2), create(2, 2, 3), create(3, 3, 1), create(4, 5, 5));
	assert_int_equal(diagnostics.count, 1);
	assert_int_equal(diagnostics.list[0].count, 2);
	assert_int_equal(m->tasks.parent[task(m, 1)], WEFT_NONE);
	assert_int_equal(m->tasks.parent[task(m, 5)], WEFT_NONE);
	weft_model_destroy(m);
}

static void events_that_switch_and_events_that_do_not(void **state)
{
	(void)state;
	struct weft_event later = read_event(40, 3, 4), only = event(WEFT_EVENT_SIGNAL, 45, 4, 3),
					  signal = event(WEFT_EVENT_SIGNAL, 50, 4, 3);
	later.flag = true;
	signal.flag = true;
	struct weft_model *m = BUILD(switch_to(10, 1), switch_to(15, 1), read_event(20, 2, NONE),
		event(WEFT_EVENT_TRY_READ, 30, 3, 4), later, only, signal,
		texted(WEFT_EVENT_LABEL, 55, 1, "x"), switch_to(60, NONE), switch_to(70, 2),
		event(WEFT_EVENT_RESOLVE, 80, 2, 3));
	const struct weft_activations *a = &m->activations;
	assert_int_equal(a->count, 4);
	assert_int_equal(weft_model_running_ns(m, task(m, 1)), 10);
	assert_int_equal(weft_model_running_ns(m, task(m, 2)), 40); /* 20-50 and 70-80 */
	assert_int_equal(weft_model_running_ns(m, task(m, 4)), 10);
	assert_int_equal(weft_model_running_ns(m, task(m, 3)), 0);
	assert_int_equal(m->band_count, 1);
	assert_int_equal(m->bands[0].start, 60);
	assert_int_equal(m->bands[0].end, 70);
	weft_model_destroy(m);
}

static void a_running_task_that_becomes_another_runs_on(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(switch_to(10, 1), event(WEFT_EVENT_BECOME, 20, 1, 2),
		event(WEFT_EVENT_BECOME, 25, 1, 3), switch_to(30, 3), switch_to(40, 4));
	assert_int_equal(diagnostics.count, 0);
	assert_int_equal(weft_model_running_ns(m, task(m, 1)), 10);
	assert_int_equal(weft_model_running_ns(m, task(m, 2)), 5);
	assert_int_equal(weft_model_running_ns(m, task(m, 3)), 15);
	assert_int_equal(
		m->tasks.end_activation[task(m, 3)] - m->tasks.first_activation[task(m, 3)], 1);
	assert_int_equal(m->tasks.end[task(m, 1)], 20);
	assert_int_equal(weft_model_resolve_become(m, task(m, 1)), task(m, 3));
	assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_BECAME], 2);
	weft_model_destroy(m);
}

static void becomes_make_no_cycle(void **state)
{
	(void)state;
	struct weft_model *m =
		BUILD(event(WEFT_EVENT_BECOME, 1, 1, 2), event(WEFT_EVENT_BECOME, 2, 2, 3),
			event(WEFT_EVENT_BECOME, 3, 3, 1), event(WEFT_EVENT_BECOME, 4, 4, 4),
			event(WEFT_EVENT_RESOLVE, 5, 9, 1), event(WEFT_EVENT_BECOME, 6, 1, 5));
	assert_int_equal(diagnostics.count, 2);
	assert_int_equal(m->tasks.becomes[task(m, 3)], WEFT_NONE);
	assert_int_equal(m->tasks.end[task(m, 3)], 5);
	assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_FULFILLED], 1);
	weft_model_destroy(m);
}

static void a_read_drops_the_try_read_before_it(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(event(WEFT_EVENT_TRY_READ, 1, 1, 2), read_event(2, 1, 2),
		event(WEFT_EVENT_TRY_READ, 3, 1, 3), event(WEFT_EVENT_RESOLVE, 4, 1, 4),
		read_event(5, 1, 3), event(WEFT_EVENT_TRY_READ, 6, 1, 5), event(WEFT_EVENT_BECOME, 7, 5, 6),
		read_event(8, 1, 5), read_event(9, 1, NONE), read_event(10, 1, 1));
	uint32_t tries = 0;
	for (uint32_t i = 0; i < m->edges.count; i++)
		tries += m->edges.type[i] == WEFT_EDGE_TRY_READ;
	assert_int_equal(tries, 2); /* of 3; of 5, which was not yet 6 */
	uint32_t t = task(m, 1);
	uint32_t first = m->tasks.first_edge[t], count = m->tasks.end_edge[t] - first;
	assert_int_equal(count, 7); /* read 2, try 3, resolve, read 3, try 5, read 6, read itself */
	for (uint32_t i = 1; i < count; i++)
		assert_true(m->edges.by_actor[first + i] > m->edges.by_actor[first + i - 1]);
	weft_model_destroy(m);
}

static void an_unfinished_task_ends_after_its_last_sign(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(switch_to(100, 9), create(1000, 9, 1), create(1000, 9, 2),
		create(1000, 9, 3), create(1000, 9, 4), create(2000, 1, 5),
		texted(WEFT_EVENT_LABEL, 3000, 2, "x"), event(WEFT_EVENT_TRY_READ, 4000, 9, 3),
		read_event(5000, 8, 4), event(WEFT_EVENT_RESOLVE, 9000, 8, 9));
	assert_int_equal(m->tasks.end[task(m, 1)], 3000);
	assert_int_equal(m->tasks.end[task(m, 2)], 4000);
	assert_int_equal(m->tasks.end[task(m, 3)], 5000);
	assert_int_equal(m->tasks.end[task(m, 4)], 2000);  /* being read is not a sign of life */
	assert_int_equal(m->tasks.end[task(m, 8)], 10000); /* the end of its last activation */
	assert_int_equal(m->tasks.end[task(m, 9)], 9000);
	weft_model_destroy(m);
}

/* Task 1 waits for 2 and 3, and 4 has waited and run again. */
static void tasks_that_wait_live_to_the_end(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(create(1000, 9, 1), create(1000, 9, 2), create(1000, 9, 3),
		create(1000, 9, 4), create(1000, 9, 5), event(WEFT_EVENT_TRY_READ, 2000, 1, 2),
		event(WEFT_EVENT_TRY_READ, 3000, 1, 3), event(WEFT_EVENT_TRY_READ, 3000, 4, 5),
		switch_to(4000, 4), switch_to(5000, 9), switch_to(60000, 9));
	assert_int_equal(m->tasks.end[task(m, 1)], 60000);
	assert_int_equal(m->tasks.end[task(m, 2)], 60000);
	assert_int_equal(m->tasks.end[task(m, 3)], 60000);
	assert_int_equal(m->tasks.end[task(m, 4)], 6000);
	assert_int_equal(m->tasks.end[task(m, 5)], 4000);
	weft_model_destroy(m);
}

static void an_expected_task_that_does_not_end_fails(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(create(1, 9, 1), create(1, 9, 2),
		texted(WEFT_EVENT_EXPECT, 2, 1, ""), texted(WEFT_EVENT_EXPECT, 2, 2, ""),
		event(WEFT_EVENT_BECOME, 3, 1, 3), event(WEFT_EVENT_RESOLVE, 4, 9, 2), switch_to(50, 9));
	uint32_t t = task(m, 3);
	assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_NEVER_RESOLVED], 1);
	assert_string_equal(weft_model_string(m, m->tasks.message[t]).bytes, "never resolved");
	assert_int_equal(m->tasks.end[t], 50);
	assert_true(m->tasks.flags[t] & WEFT_TASK_NEVER_RESOLVED);
	assert_false(m->tasks.flags[task(m, 2)] & WEFT_TASK_FAILED);
	weft_model_destroy(m);
}

static void the_first_end_stands(void **state)
{
	(void)state;
	struct weft_event fail = texted(WEFT_EVENT_FAIL, 3, 9, "late");
	fail.other = 1;
	struct weft_model *m =
		BUILD(create(1, 9, 1), event(WEFT_EVENT_RESOLVE, 2, 9, 1), fail, switch_to(4, 9));
	assert_int_equal(m->tasks.end[task(m, 1)], 2);
	assert_int_equal(m->tasks.message[task(m, 1)], WEFT_NONE);
	assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_FULFILLED], 1);
	weft_model_destroy(m);
}

/* A stopped task ends like a resolved one, also if it is expected; a read of it does not fail. */
static void a_stopped_task_has_ended_without_a_failure(void **state)
{
	static const struct {
		enum weft_event_type event;
		enum weft_outcome outcome;
	} ends[] = {{WEFT_EVENT_CANCEL, WEFT_OUTCOME_CANCELLED},
		{WEFT_EVENT_CLOSE, WEFT_OUTCOME_CLOSED}, {WEFT_EVENT_TIME_OUT, WEFT_OUTCOME_TIMED_OUT}};
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct weft_model *m = BUILD(create(1, 9, 1), event(WEFT_EVENT_EXPECT, 1, 1, NONE),
			event(WEFT_EVENT_TRY_READ, 1, 9, 1), event(ends[i].event, 2, 9, 1),
			event(WEFT_EVENT_RESOLVE, 3, 9, 1), read_event(4, 9, 1), switch_to(5, 9));
		uint32_t t = task(m, 1);
		assert_int_equal(m->tasks.outcome[t], ends[i].outcome);
		assert_int_equal(m->tasks.end[t], 2);
		assert_int_equal(m->tasks.flags[t] & (WEFT_TASK_RESOLVED | WEFT_TASK_STOPPED),
			WEFT_TASK_RESOLVED | WEFT_TASK_STOPPED);
		assert_false(m->tasks.flags[t] & (WEFT_TASK_FAILED | WEFT_TASK_NEVER_RESOLVED));
		assert_int_equal(m->tasks.message[t], WEFT_NONE);
		assert_int_equal(m->summary.by_outcome[ends[i].outcome], 1);
		assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_FULFILLED], 0);
		assert_int_equal(m->edges.type[0], WEFT_EDGE_CREATE);
		assert_int_equal(m->edges.type[1], WEFT_EDGE_TRY_READ);
		assert_int_equal(m->edges.type[2], WEFT_EDGE_RESOLVE);
		weft_model_destroy(m);
	}
}

/* All edges of the wait stay: the read of one source drops none. */
static void a_wait_for_any_has_an_edge_for_each(void **state)
{
	static const uint8_t types[] = {
		WEFT_EDGE_WAIT_ANY, WEFT_EDGE_WAIT_ANY, WEFT_EDGE_READ, WEFT_EDGE_WAIT_ANY};
	(void)state;
	struct weft_model *m = BUILD(event(WEFT_EVENT_WAIT_ANY, 1, 9, 1),
		event(WEFT_EVENT_WAIT_ANY, 1, 9, 2), read_event(4, 9, 2),
		event(WEFT_EVENT_WAIT_ANY, 5, 9, NONE), event(WEFT_EVENT_WAIT_ANY, 6, NONE, 1));
	assert_int_equal(m->edges.count, 4);
	assert_memory_equal(m->edges.type, types, sizeof(types));
	uint32_t t = task(m, 9);
	assert_int_equal(m->tasks.end_edge[t] - m->tasks.first_edge[t], 3);
	assert_string_equal(weft_edge_name(WEFT_EDGE_WAIT_ANY), "wait_any");
	weft_model_destroy(m);
}

/* An acquire is a read that does not switch, and answers a try_read; a release is a signal. */
static void a_lock_is_taken_and_given_back(void **state)
{
	static const uint8_t types[] = {WEFT_EDGE_READ, WEFT_EDGE_SIGNAL, WEFT_EDGE_SIGNAL};
	(void)state;
	struct weft_model *m =
		BUILD(event(WEFT_EVENT_TRY_READ, 1, 9, 1), event(WEFT_EVENT_ACQUIRE, 2, 9, 1),
			event(WEFT_EVENT_RELEASE, 3, 9, 1), event(WEFT_EVENT_ACQUIRE, 4, 9, NONE),
			event(WEFT_EVENT_RELEASE, 5, 9, NONE), event(WEFT_EVENT_RELEASE, 6, NONE, 1));
	assert_int_equal(m->edges.count, 3);
	assert_memory_equal(m->edges.type, types, sizeof(types));
	assert_int_equal(m->edges.from[0], task(m, 9));
	assert_int_equal(m->edges.from[1], task(m, 9));
	assert_int_equal(m->edges.to[1], task(m, 1));
	assert_int_equal(m->activations.count, 0);
	weft_model_destroy(m);
}

static struct weft_event begin(uint64_t time, uint64_t task, const char *name)
{
	return texted(WEFT_EVENT_BEGIN, time, task, name);
}

static struct weft_event end(uint64_t time, uint64_t task)
{
	return event(WEFT_EVENT_END, time, task, 0);
}

/* "name start-end depth", with a space between two spans. */
static const char *spans_of(const struct weft_model *m, uint64_t id)
{
	static char text[256];
	size_t at = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < weft_model_span_count(m, task(m, id)); i++) {
		struct weft_span span = weft_model_span(m, task(m, id), i);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %u-%u %u", i ? " " : "",
			weft_model_string(m, span.name).bytes, (unsigned)span.start, (unsigned)span.end,
			span.depth);
	}
	return text;
}

/* A span goes on while its task waits and another one runs, and nests by task. */
static void spans_belong_to_a_task(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(create(0, NONE, 1), create(0, NONE, 2), switch_to(1, 1),
		begin(2, 1, "outer"), begin(3, 1, "inner"), switch_to(4, 2), begin(5, 2, "other"),
		end(6, 1), end(7, 2), begin(8, 1, "again"), end(9, 1), end(9, 1), switch_to(10, NONE),
		event(WEFT_EVENT_RESOLVE, 20, 2, 1), event(WEFT_EVENT_RESOLVE, 20, 2, 2));
	assert_string_equal(spans_of(m, 1), "inner 3-6 1 again 8-9 1 outer 2-9 0");
	assert_string_equal(spans_of(m, 2), "other 5-7 0");
	assert_int_equal(m->spans.count, 4);
	assert_int_equal(diagnostics.count, 0);
	weft_model_destroy(m);
}

/* The innermost span at a time, also after the spans inside it; none between two outermost ones. */
static void a_span_is_found_by_time(void **state)
{
	(void)state;
	struct weft_span span;
	struct weft_model *m = BUILD(create(0, NONE, 1), begin(10, 1, "a"), begin(20, 1, "b"),
		end(30, 1), begin(30, 1, "c"), end(40, 1), end(50, 1), begin(60, 1, "d"), end(70, 1),
		event(WEFT_EVENT_RESOLVE, 80, NONE, 1));
	static const struct {
		uint64_t time;
		const char *name; /* NULL: none */
	} cases[] = {{5, NULL}, {10, "a"}, {19, "a"}, {20, "b"}, {30, "c"}, {39, "c"}, {40, "a"},
		{50, NULL}, {59, NULL}, {60, "d"}, {70, NULL}, {79, NULL}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = weft_model_span_at(m, task(m, 1), cases[i].time, &span);
		assert_int_equal(found, cases[i].name != NULL);
		if (found)
			assert_string_equal(weft_model_string(m, span.name).bytes, cases[i].name);
	}
	assert_int_equal(weft_model_span_after(m, task(m, 1), 30), 1);
	assert_int_equal(weft_model_span_after(m, task(m, 1), 70), 4);
	weft_model_destroy(m);
}

static void spans_end_with_their_task(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(create(0, NONE, 1), create(0, NONE, 2), create(0, NONE, 3),
		begin(1, 1, "a"), begin(2, 1, "b"), event(WEFT_EVENT_RESOLVE, 5, NONE, 1), end(7, 1),
		begin(8, 1, "late"), end(9, 1), begin(4, 2, "open"), begin(9, 3, "c"), begin(10, 3, "d"),
		begin(12, 3, "e"), event(WEFT_EVENT_RESOLVE, 12, NONE, 3));
	assert_string_equal(spans_of(m, 1), "b 2-5 1 a 1-5 0");
	assert_string_equal(spans_of(m, 2), "open 9-1009 0");
	assert_string_equal(spans_of(m, 3), "e 12-12 2 d 10-12 1 c 9-12 0");
	assert_int_equal(diagnostics.count, 0);
	weft_model_destroy(m);
}

static void spans_go_on_in_what_their_task_becomes(void **state)
{
	(void)state;
	struct weft_model *m =
		BUILD(create(0, NONE, 1), create(0, NONE, 2), begin(1, 1, "a"), begin(2, 1, "b"),
			begin(2, 2, "own"), event(WEFT_EVENT_BECOME, 5, 1, 2), end(6, 1), end(7, 2), end(8, 1));
	assert_string_equal(spans_of(m, 1), "b 2-5 1 a 1-5 0");
	assert_string_equal(spans_of(m, 2), "b 5-6 2 a 5-7 1 own 2-8 0");
	assert_int_equal(diagnostics.count, 0);
	weft_model_destroy(m);
}

static void spans_without_a_task_are_the_threads(void **state)
{
	(void)state;
	struct weft_event elsewhere = begin(2, NONE, "other");
	elsewhere.thread = 1;
	struct weft_model *m = BUILD(begin(1, NONE, "loop"), elsewhere, begin(3, NONE, "poll"),
		end(5, NONE), switch_to(9, NONE));
	assert_string_equal(spans_of(m, WEFT_TRACK_THREADS), "poll 3-5 1 loop 1-9 0");
	assert_string_equal(spans_of(m, WEFT_TRACK_THREADS + 1), "other 2-9 0");
	assert_int_equal(m->summary.tracks, 2);
	assert_int_equal(weft_model_track_thread(m, task(m, WEFT_TRACK_THREADS)), 0);
	weft_model_destroy(m);
}

static struct weft_event given(
	uint64_t time, const char *track, uint64_t from, uint64_t until, const char *name)
{
	struct weft_event e = texted(WEFT_EVENT_SPAN, time, NONE, name);
	e.other = WEFT_TRACK_FIRST + WEFT_TRACK_LINES * (uint64_t)track[0];
	e.begin_ns = from;
	e.end_ns = until;
	e.kind_name = (struct weft_slice){track, strlen(track)};
	return e;
}

static uint64_t line_of(const char *track, unsigned number)
{
	return WEFT_TRACK_FIRST + WEFT_TRACK_LINES * (uint64_t)track[0] + number;
}

/* Spans that overlap or come too late go to another line. */
static void a_track_has_lines_for_what_overlaps(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(create(0, NONE, 1), given(50, "gpu", 10, 20, "a"),
		given(60, "gpu", 20, 30, "b"), given(60, "disk", 15, 18, "c"),
		given(60, "gpu", 25, 40, "over"), given(70, "gpu", 12, 14, "late"),
		given(70, "gpu", 40, 41, "d"), event(WEFT_EVENT_RESOLVE, 90, NONE, 1));
	assert_string_equal(spans_of(m, line_of("gpu", 0)), "a 10-20 0 b 20-30 0 d 40-41 0");
	assert_string_equal(spans_of(m, line_of("gpu", 1)), "over 25-40 0");
	assert_string_equal(spans_of(m, line_of("gpu", 2)), "late 12-14 0");
	assert_string_equal(spans_of(m, line_of("disk", 0)), "c 15-18 0");
	uint32_t line = task(m, line_of("gpu", 2));
	assert_string_equal(weft_model_string(m, m->tasks.label[line]).bytes, "gpu");
	assert_int_equal(m->tasks.kind[line], WEFT_KIND_TRACK);
	assert_int_equal(m->tasks.start[line], 0);
	assert_int_equal(m->tasks.end[line], 90);
	assert_int_equal(m->summary.tracks, 4);
	assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_FULFILLED], 1);
	assert_int_equal(m->summary.preexisting, 0);
	assert_int_equal(diagnostics.count, 0);
	weft_model_destroy(m);
}

static void a_given_span_lies_between_the_trace_and_now(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(create(100, NONE, 1), given(150, "gpu", 3, 120, "early"),
		given(150, "gpu", 3, 99, "before"), given(150, "disk", 140, UINT64_MAX, "late"),
		event(WEFT_EVENT_RESOLVE, 200, NONE, 1));
	assert_string_equal(spans_of(m, line_of("gpu", 0)), "early 100-120 0");
	assert_string_equal(spans_of(m, line_of("disk", 0)), "late 140-150 0");
	assert_int_equal(diagnostics.count, 0);
	weft_model_destroy(m);
	m = BUILD(given(10, "gpu", 8, 7, "inside out"), given(20, "gpu", 30, 40, "ahead"),
		given(20, "gpu", 11, 12, "good"));
	assert_int_equal(diagnostics.list[0].count, 2);
	assert_string_equal(spans_of(m, line_of("gpu", 0)), "good 11-12 0");
	weft_model_destroy(m);
}

/* All of them around the trace's start, at 100, and their event, at 104. */
static void each_given_span_is_cut_at_both_ends(void **state)
{
	(void)state;
	for (uint64_t from = 98; from <= 106; from++)
		for (uint64_t until = from; until <= 106; until++) {
			const uint64_t start = from < 100 ? 100 : from, end = until > 104 ? 104 : until;
			char expected[32] = "";
			if (until >= 100 && start <= end)
				snprintf(expected, sizeof(expected), "x %u-%u 0", (unsigned)start, (unsigned)end);
			struct weft_model *m = BUILD(create(100, NONE, 1), given(104, "gpu", from, until, "x"));
			assert_string_equal(spans_of(m, line_of("gpu", 0)), expected);
			weft_model_destroy(m);
		}
}

/* The last line is used for all the others: none is earlier than the one before. */
static void lines_of_a_track_are_bounded(void **state)
{
	(void)state;
	struct weft_event events[2 * WEFT_TRACK_LINES];
	const unsigned count = 2 * WEFT_TRACK_LINES;
	for (unsigned i = 0; i < count; i++)
		events[i] = given(500, "gpu", i < WEFT_TRACK_LINES ? 500 : 450, 500, "x");
	for (unsigned i = 0; i < WEFT_TRACK_LINES; i++)
		events[i].begin_ns = 400 + i;
	struct weft_model *m = build(events, count);
	assert_int_equal(m->summary.tracks, WEFT_TRACK_LINES);
	assert_int_equal(weft_model_find_task(m, 0, line_of("gpu", WEFT_TRACK_LINES)), WEFT_NONE);
	uint32_t last = task(m, line_of("gpu", WEFT_TRACK_LINES - 1));
	uint64_t end = 0;
	for (uint32_t i = 0; i < weft_model_span_count(m, last); i++) {
		assert_true(weft_model_span(m, last, i).start >= end);
		end = weft_model_span(m, last, i).end;
	}
	weft_model_destroy(m);
}

/* An end is damage only if its beginning cannot have come before the trace. */
static void an_end_without_a_beginning_is_damage(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(end(1, NONE), end(1, 7), begin(2, 7, "a"), end(3, 7), end(4, 7));
	assert_int_equal(diagnostics.count, 0);
	assert_string_equal(spans_of(m, 7), "a 2-3 0");
	weft_model_destroy(m);
	m = BUILD(create(0, NONE, 1), begin(1, 1, "a"), end(2, 1), end(3, 1), begin(4, 1, "b"));
	assert_int_equal(diagnostics.count, 1);
	assert_string_equal(spans_of(m, 1), "a 1-2 0 b 4-1004 0");
	weft_model_destroy(m);
}

/* Only of that task and time; of several, the last one. */
static void a_wait_has_its_calls(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(texted(WEFT_EVENT_STACK, 1, 7, "a"),
		texted(WEFT_EVENT_STACK, 5, 7, "b"), texted(WEFT_EVENT_STACK, 5, 8, "c"),
		texted(WEFT_EVENT_STACK, 5, 7, "d"), texted(WEFT_EVENT_STACK, 9, 7, "e"));
	assert_int_equal(m->stacks.count, 5);
	assert_string_equal(weft_model_stack_at(m, task(m, 7), 1).bytes, "a");
	assert_string_equal(weft_model_stack_at(m, task(m, 7), 5).bytes, "d");
	assert_string_equal(weft_model_stack_at(m, task(m, 8), 5).bytes, "c");
	assert_int_equal(weft_model_stack_at(m, task(m, 8), 1).size, 0);
	assert_int_equal(weft_model_stack_at(m, task(m, 7), 10).size, 0);
	weft_model_destroy(m);
	m = BUILD(texted(WEFT_EVENT_NOTE, 1, 7, "a"));
	assert_int_equal(weft_model_stack_at(m, task(m, 7), 1).size, 0);
	weft_model_destroy(m);
}

static void a_mark_has_attributes(void **state)
{
	(void)state;
	char text[80];
	const struct weft_field fields[] = {
		{{"i", 1}, WEFT_FIELD_I64, {.i64 = -3}},
		{{"u", 1}, WEFT_FIELD_U64, {.u64 = UINT64_MAX}},
		{{"f", 1}, WEFT_FIELD_F64, {.f64 = 0.5}},
		{{"text", 4}, WEFT_FIELD_TEXT, {.text = {"a b", 3}}},
		{{"b", 1}, WEFT_FIELD_BOOL, {.u64 = 1}},
	};
	struct weft_event mark = texted(WEFT_EVENT_MARK, 1, 1, "sent");
	struct weft_event none = mark, tag = texted(WEFT_EVENT_TAG, 3, 1, "size");
	mark.fields = fields;
	mark.field_count = 5;
	tag.has_value = true;
	tag.value = 7;
	struct weft_model *m = BUILD(none, mark, tag, texted(WEFT_EVENT_NOTE, 4, 1, "so"));
	static const char *const expected[] = {
		"sent", "sent i=-3 u=18446744073709551615 f=0.5 text=a b b=true", "size=7", "so"};
	static const uint32_t counts[] = {0, 5, 1, 0};
	uint32_t first = m->tasks.first_note[task(m, 1)];
	for (uint32_t i = 0; i < 4; i++) {
		size_t length = weft_model_format_note(m, first + i, text, sizeof(text));
		assert_int_equal(length, strlen(expected[i]));
		assert_string_equal(text, expected[i]);
		assert_int_equal(weft_model_attribute_count(m, first + i), counts[i]);
		for (size_t size = 0; size <= length; size++) {
			memset(text, '?', sizeof(text));
			assert_int_equal(weft_model_format_note(m, first + i, text, size), length);
			assert_true(size == 0 || (memcmp(text, expected[i], size - 1) == 0 && !text[size - 1]));
			assert_int_equal(text[size], '?');
		}
	}
	for (uint32_t i = 0; i < 5; i++) {
		const struct weft_field field = weft_model_attribute(m, first + 1, i);
		assert_string_equal(field.name.bytes, fields[i].name.bytes);
		assert_int_equal(field.type, fields[i].type);
	}
	assert_string_equal(weft_model_attribute(m, first + 1, 3).value.text.bytes, "a b");
	assert_int_equal(weft_model_attribute(m, first + 2, 0).value.i64, 7);
	weft_model_destroy(m);
}

static void names_and_notes(void **state)
{
	(void)state;
	char text[32];
	struct weft_model *m = BUILD(texted(WEFT_EVENT_LABEL, 1, 1, "first"),
		texted(WEFT_EVENT_LABEL, 2, 1, "second"), counter(3, 1, "bytes", 5, false),
		counter(4, 1, "bytes", -3, false), counter(5, 1, "queue", 7, true),
		counter(6, NONE, "bytes", INT64_MAX, false), switch_to(7, 2));
	static const char *const expected[] = {"first", "second", "bytes+5", "bytes-3", "queue=7"};
	uint32_t t = task(m, 1);
	assert_int_equal(m->tasks.end_note[t] - m->tasks.first_note[t], 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(weft_model_format_note(m, m->tasks.first_note[t] + i, text, sizeof(text)),
			strlen(expected[i]));
		assert_string_equal(text, expected[i]);
	}
	weft_model_format_name(m, t, text, sizeof(text));
	assert_string_equal(text, "first");
	weft_model_format_name(m, task(m, 2), text, sizeof(text));
	assert_string_equal(text, "2");
	assert_int_equal(m->counter_count, 2);
	assert_int_equal(m->counters[0].count, 3);
	assert_int_equal(m->counters[0].min.integer, 2);
	assert_int_equal(m->counters[0].max.integer, INT64_MAX); /* saturates */
	assert_int_equal(m->samples.value[m->counters[1].first], 7);
	weft_model_destroy(m);
}

/* Two programs may use the same ids and names: these are different tasks and counters. */
static void buffers_share_no_tasks_and_no_counters(void **state)
{
	(void)state;
	struct weft_event events[] = {create(1, NONE, 7), create(2, NONE, 7),
		counter(3, 7, "queue", 1, false), counter(4, 7, "queue", 10, false),
		counter(5, 7, "queue", 100, false), counter(6, 7, "queue", 1000, false)};
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		events[i].thread = events[i].buffer = i % 2;
	events[5].thread = events[5].buffer = 2;
	struct weft_model *m = build(events, sizeof(events) / sizeof(events[0]));
	assert_int_equal(diagnostics.count, 0);
	assert_int_equal(m->tasks.count, 3);
	for (uint32_t buffer = 0; buffer < 3; buffer++) {
		uint32_t t = weft_model_find_task(m, buffer, 7);
		assert_int_equal(m->tasks.buffer[t], buffer);
	}
	static const int64_t values[] = {101, 10, 1000};
	assert_int_equal(m->counter_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct weft_counter *c = &m->counters[i];
		assert_int_equal(c->buffer, i);
		assert_string_equal(weft_model_string(m, c->name).bytes, "queue");
		assert_int_equal(m->samples.value[c->first + c->count - 1], values[i]);
	}
	weft_model_destroy(m);
}

static void many_buffers_share_no_counters(void **state)
{
	(void)state;
	struct weft_event events[200];
	for (uint32_t i = 0; i < 200; i++) {
		events[i] = counter(i, NONE, "queue", 1, false);
		events[i].buffer = i % 100;
	}
	struct weft_model *m = build(events, 200);
	assert_int_equal(m->counter_count, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(m->counters[i].max.integer, 2);
	weft_model_destroy(m);
}

static void bands_have_reasons_and_resume(void **state)
{
	(void)state;
	struct weft_event gc = event(WEFT_EVENT_GC, 90, 0, 0);
	gc.value = 1000; /* longer than the trace: it began before */
	struct weft_model *m = BUILD(switch_to(10, 1), band(20, WEFT_BAND_IDLE, true, "poll"),
		band(30, WEFT_BAND_IDLE, false, ""), band(40, WEFT_BAND_GC, true, "minor"),
		band(45, WEFT_BAND_GC, true, "again"), band(60, WEFT_BAND_GC, false, ""), gc,
		switch_to(100, 2));
	assert_int_equal(weft_model_running_ns(m, task(m, 1)), 80); /* a gc does not stop it */
	assert_int_equal(m->band_count, 3);
	assert_int_equal(m->bands[0].start, 10);
	assert_int_equal(m->bands[0].end, 90);
	assert_string_equal(weft_model_string(m, m->bands[1].reason).bytes, "poll");
	assert_string_equal(weft_model_string(m, m->bands[2].reason).bytes, "minor");
	assert_int_equal(m->bands[2].start, 40);
	assert_int_equal(m->bands[2].end, 60);
	weft_model_destroy(m);
}

static void an_idle_thread_can_tell_why_later(void **state)
{
	(void)state;
	struct weft_model *m =
		BUILD(switch_to(10, 1), switch_to(20, NONE), band(20, WEFT_BAND_IDLE, true, "poll"),
			band(30, WEFT_BAND_IDLE, false, ""), switch_to(40, 2), switch_to(50, 1));
	assert_int_equal(weft_model_running_ns(m, task(m, 1)), 10);
	assert_int_equal(weft_model_running_ns(m, task(m, 2)), 10);
	assert_int_equal(m->band_count, 2);
	assert_string_equal(weft_model_string(m, m->bands[0].reason).bytes, "poll");
	assert_int_equal(m->bands[0].end, 30);
	assert_int_equal(m->bands[1].reason, WEFT_NONE);
	assert_int_equal(m->bands[1].end, 40);
	weft_model_destroy(m);
}

static void idleness_keeps_its_reason_over_a_band(void **state)
{
	(void)state;
	struct weft_event disk = switch_to(10, NONE);
	disk.text = (struct weft_slice){"disk", 4};
	struct weft_model *m =
		BUILD(disk, band(20, WEFT_BAND_IDLE, true, "poll"), band(25, WEFT_BAND_IDLE, true, "again"),
			band(30, WEFT_BAND_IDLE, false, ""), switch_to(40, NONE), switch_to(50, 1));
	static const char *const reasons[] = {"disk", "poll", "again", "disk"};
	assert_int_equal(m->band_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(weft_model_string(m, m->bands[i].reason).bytes, reasons[i]);
	assert_int_equal(m->bands[3].end, 50);
	weft_model_destroy(m);
}

static void threads_run_side_by_side(void **state)
{
	(void)state;
	struct weft_event there = switch_to(15, 2), later = switch_to(40, NONE);
	there.thread = later.thread = 1;
	struct weft_model *m = BUILD(switch_to(10, 1), there, switch_to(20, 3), later);
	assert_int_equal(weft_model_running_ns(m, task(m, 1)), 10);
	assert_int_equal(weft_model_running_ns(m, task(m, 2)), 25);
	assert_int_equal(weft_model_running_ns(m, task(m, 3)), 20);
	assert_int_equal(m->activations.thread[m->tasks.first_activation[task(m, 2)]], 1);
	assert_int_equal(m->thread_count, 2);
	weft_model_destroy(m);
}

static void ids_are_unique_within_a_buffer_only(void **state)
{
	(void)state;
	struct weft_event here = switch_to(1, 5), there = switch_to(2, 5);
	there.buffer = 1;
	struct weft_model *m = BUILD(here, there);
	assert_int_equal(m->tasks.count, 2);
	assert_int_not_equal(weft_model_find_task(m, 0, 5), weft_model_find_task(m, 1, 5));
	assert_int_equal(weft_model_find_task(m, 2, 5), WEFT_NONE);
	weft_model_destroy(m);
}

enum {
	MILLION = 1000 * 1000,
};

/* Chains of creation and of becomes as deep as the trace is long, used from both ends. */
static void million_deep_chains_cost_nothing_extra(void **state)
{
	(void)state;
	struct weft_model_builder *builder;
	struct weft_model *m;
	struct weft_trace_description description = {.clock.name = "test"};
	diagnostics.count = 0;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	for (uint64_t i = 0; i < MILLION; i++) {
		struct weft_event e[] = {create(i, i, i + 1),
			event(WEFT_EVENT_BECOME, i, 2 * MILLION + i, 2 * MILLION + i + 1),
			event(WEFT_EVENT_TRY_READ, i, 0, 2 * MILLION)};
		for (int k = 0; k < 3; k++)
			assert_int_equal(weft_model_builder_add(builder, &e[k], &diagnostics), 0);
	}
	assert_int_equal(weft_model_builder_finish(builder, &description, &m), 0);
	assert_int_equal(diagnostics.count, 0);
	assert_int_equal(m->tasks.count, 2 * MILLION + 2);
	assert_int_equal(weft_model_resolve_become(m, task(m, 2 * MILLION)), task(m, 3 * MILLION));
	weft_model_builder_destroy(builder);
	weft_model_destroy(m);
}

static struct weft_event alive(uint64_t time, uint64_t task, const char *label, uint64_t source)
{
	struct weft_event e = texted(WEFT_EVENT_ALIVE, time, task, label);
	e.kind = WEFT_KIND_BIND;
	e.other = source;
	e.is_rundown = true;
	return e;
}

/* The decoder that described the trace may be gone. */
static void a_model_has_its_own_texts(void **state)
{
	char texts[4][8] = {"process", "host", "file", "thread"};
	const struct weft_trace_buffer buffer = {
		.process = texts[0], .host = texts[1], .file = texts[2]};
	const struct weft_trace_thread thread = {.name = texts[3]};
	const struct weft_trace_description description = {.format = "test",
		.clock = {.name = "test"},
		.threads = &thread,
		.thread_count = 1,
		.buffers = &buffer,
		.buffer_count = 1};
	struct weft_model_builder *builder;
	struct weft_model *m;
	const struct weft_event made = create(1, NONE, 2);
	(void)state;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	assert_int_equal(weft_model_builder_add(builder, &made, &diagnostics), 0);
	assert_int_equal(weft_model_builder_finish(builder, &description, &m), 0);
	weft_model_builder_destroy(builder);
	memset(texts, 'x', sizeof(texts));
	assert_string_equal(m->buffers[0].process, "process");
	assert_string_equal(m->buffers[0].host, "host");
	assert_string_equal(m->buffers[0].file, "file");
	assert_string_equal(m->threads[0].name, "thread");
	weft_model_destroy(m);
}

static void a_rundown_describes_what_was_not_known(void **state)
{
	(void)state;
	char text[32];
	struct weft_model *m = BUILD(texted(WEFT_EVENT_EXPECT, 1, 1, ""), alive(2, 1, "first", NONE),
		alive(3, 1, "second", NONE), create(4, 9, 2), alive(5, 2, "", NONE),
		texted(WEFT_EVENT_LABEL, 6, 2, "late"), alive(7, 2, "later", NONE), alive(8, NONE, "", 1),
		switch_to(50, 9));
	uint32_t t = task(m, 1);
	assert_int_equal(m->tasks.kind[t], WEFT_KIND_BIND);
	assert_int_equal(m->tasks.kind[task(m, 2)], WEFT_KIND_TASK); /* from its create event */
	weft_model_format_name(m, t, text, sizeof(text));
	assert_string_equal(text, "first");
	weft_model_format_name(m, task(m, 2), text, sizeof(text));
	assert_string_equal(text, "late");
	assert_true(m->tasks.flags[t] & WEFT_TASK_NEVER_RESOLVED); /* it is still expected to end */
	assert_int_equal(diagnostics.count, 1);
	weft_model_destroy(m);
}

static void a_rundown_repeats_no_try_read(void **state)
{
	(void)state;
	struct weft_model *m =
		BUILD(event(WEFT_EVENT_TRY_READ, 1, 1, 3), alive(2, 1, "", 3), alive(3, 1, "", 4),
			alive(4, 2, "", 4), event(WEFT_EVENT_RESOLVE, 5, 2, 6), alive(6, 2, "", 4));
	static const uint64_t expected[][2] = {{1, 3}, {1, 4}, {2, 4}, {2, 4}};
	uint32_t tries = 0;
	for (uint32_t i = 0; i < m->edges.count; i++) {
		if (m->edges.type[i] != WEFT_EDGE_TRY_READ)
			continue;
		assert_true(tries < 4);
		assert_int_equal(m->edges.from[i], task(m, expected[tries][0]));
		assert_int_equal(m->edges.to[i], task(m, expected[tries++][1]));
	}
	assert_int_equal(tries, 4);
	weft_model_destroy(m);
}

static void a_tag_without_a_value_has_none(void **state)
{
	(void)state;
	struct weft_event valued = texted(WEFT_EVENT_TAG, 2, 1, "b");
	valued.has_value = true;
	valued.value = 0;
	struct weft_model *m = BUILD(texted(WEFT_EVENT_TAG, 1, 1, "a"), valued);
	assert_int_equal(m->notes.count, 2);
	assert_int_equal(m->notes.type[0], WEFT_NOTE_TEXT);
	assert_int_equal(m->notes.type[1], WEFT_NOTE_VALUE);
	weft_model_destroy(m);
}

static struct weft_event aged(uint64_t time, uint64_t task, int64_t age)
{
	struct weft_event e = alive(time, task, "", NONE);
	e.has_value = true;
	e.value = age;
	return e;
}

/* A rundown says how old tasks are: 1 began 50 ns before the trace, 2 within it, 3 at its own first
 * mention at the latest, 5 before time 0. Task 4 has no age, and task 6 only a create event. */
static void a_rundown_tells_when_tasks_began(void **state)
{
	static const struct {
		uint64_t id, start, created; /* created: 0 if it is not known */
	} expected[] = {{1, 100, 50}, {2, 150, 150}, {3, 120, 130}, {4, 100, UINT64_MAX}, {5, 100, 0},
		{6, 205, 205}};
	(void)state;
	struct weft_model *m = BUILD(switch_to(100, NONE), read_event(120, NONE, 3), aged(200, 1, 150),
		aged(200, 2, 50), aged(200, 3, 70), alive(200, 4, "", NONE), aged(200, 5, 201),
		create(205, NONE, 6), aged(206, 6, 100), aged(210, 1, 10));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		uint32_t t = task(m, expected[i].id);
		uint64_t created = UINT64_MAX;
		assert_int_equal(m->tasks.start[t], expected[i].start);
		assert_int_equal(weft_model_creation(m, t, &created), expected[i].created != UINT64_MAX);
		assert_int_equal(created, expected[i].created);
	}
	assert_int_equal(m->summary.preexisting, 3); /* 1, 4, 5 */
	weft_model_destroy(m);
}

static void processes_and_hosts_are_told_from_buffers(void **state)
{
	const struct weft_trace_buffer buffers[] = {
		{.process = "redis", .pid = 4711, .host = "a", .boot_id = {1}},
		{.process = "r", .host = "b", .boot_id = {1}},
		{.process = "", .pid = 12, .host = "a", .boot_id = {2}},
		{.process = "", .host = "a"},
		{.process = "", .host = "b"},
		{.process = "", .host = "c"},
	};
	static const char *const names[] = {
		"redis 4711", "r", "process 12", "process #3", "process #4", "process #5", "process #6"};
	static const uint32_t hosts[] = {0, 0, 2, 0, 1, 5, 6};
	char text[32];
	(void)state;
	for (uint32_t i = 0; i < 7; i++) {
		size_t size = weft_trace_format_process(buffers, 6, i, text, sizeof(text));
		assert_string_equal(text, names[i]);
		assert_int_equal(size, strlen(names[i]));
		assert_int_equal(weft_trace_first_of_host(buffers, 6, i), hosts[i]);
	}
}

static void edges_losses_and_levels_have_names(void **state)
{
	(void)state;
	assert_string_equal(weft_edge_name(WEFT_EDGE_TRY_READ), "try_read");
	assert_string_equal(weft_edge_name(WEFT_EDGE_TYPES), "unknown");
	assert_string_equal(weft_loss_name(WEFT_LOSS_OVERWRITTEN), "overwritten");
	assert_string_equal(weft_loss_name(WEFT_LOSS_CAUSES), "unknown");
	for (int level = 0; level <= WEFT_LEVEL_LAST; level++)
		assert_int_equal(weft_level_parse(weft_level_name((unsigned)level)), level);
	assert_null(weft_level_name(WEFT_LEVEL_LAST + 1));
	assert_int_equal(weft_level_parse("infos"), -1);
}

static struct weft_event real_counter(uint64_t time, double value, bool is_set)
{
	struct weft_event event = counter(time, 1, "load", 0, is_set);
	event.is_real = true;
	event.real = value;
	return event;
}

static void a_counter_is_real_from_its_first_real_number_on(void **state)
{
	(void)state;
	static const double values[] = {3, 3.5, 5.5, -0.25, 0};
	struct weft_model *m = BUILD(counter(1, 1, "load", 3, true), real_counter(2, 0.5, false),
		counter(3, 1, "load", 2, false), real_counter(4, -0.25, true), real_counter(5, -0.0, true),
		counter(6, 1, "other", 1, true));
	char text[32];
	const struct weft_counter *c = &m->counters[0];
	assert_int_equal(c->count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		struct weft_number value = weft_counter_number(m, c, c->first + i);
		assert_true(value.real == values[i] && !signbit(value.real) == !signbit(values[i]));
		assert_true(weft_counter_value(m, c, c->first + i) == values[i]);
		assert_int_equal(value.is_real, i > 0);
	}
	assert_true(c->min.is_real && c->min.real == -0.25);
	assert_true(c->max.is_real && c->max.real == 5.5);
	assert_false(m->counters[1].max.is_real);
	static const char *const notes[] = {"load=3", "load+0.5", "load+2", "load=-0.25", "load=-0"};
	for (uint32_t i = 0; i < 5; i++) {
		weft_model_format_note(m, m->tasks.first_note[0] + i, text, sizeof(text));
		assert_string_equal(text, notes[i]);
	}
	weft_model_destroy(m);
}

/* Hostile numbers: sums stay finite, and a number that is not finite changes nothing. */
static void real_counters_stay_finite(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(real_counter(1, 1e308, false), real_counter(2, 1e308, false),
		real_counter(3, NAN, true), real_counter(4, INFINITY, false),
		real_counter(5, -1e308, true));
	const struct weft_counter *c = &m->counters[0];
	assert_int_equal(c->count, 3);
	assert_true(c->max.real == 1e290 && c->min.real == -1e290);
	weft_model_destroy(m);
	m = BUILD(real_counter(1, NAN, true));
	assert_int_equal(m->counter_count, 0);
	weft_model_destroy(m);
}

static void a_counter_saturates_and_has_its_extremes(void **state)
{
	(void)state;
	struct weft_model *m = BUILD(counter(1, 1, "n", -7, false), counter(2, 1, "n", 3, false),
		counter(3, 1, "n", INT64_MIN, false), counter(4, 1, "n", 9, true));
	static const int64_t values[] = {-7, -4, INT64_MIN, 9};
	assert_int_equal(m->counter_count, 1);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(m->samples.value[m->counters[0].first + i], values[i]);
	assert_int_equal(m->counters[0].min.integer, INT64_MIN);
	assert_int_equal(m->counters[0].max.integer, 9);
	assert_false(m->counters[0].max.is_real);
	weft_model_destroy(m);
}

/* Each of these is reported, and changes nothing. */
static void events_without_their_task_are_reported(void **state)
{
	(void)state;
	struct weft_model *m =
		BUILD(create(1, NONE, 1), create(2, 1, NONE), event(WEFT_EVENT_RESOLVE, 3, 1, NONE),
			event(WEFT_EVENT_FAIL, 4, 1, NONE), event(WEFT_EVENT_BECOME, 5, 1, NONE),
			event(WEFT_EVENT_BECOME, 6, NONE, 1), event(WEFT_EVENT_BECOME, 7, 1, 1),
			event(WEFT_EVENT_TRY_READ, 8, 1, NONE), event(WEFT_EVENT_SIGNAL, 9, NONE, 1));
	uint64_t reports = 0;
	for (size_t i = 0; i < diagnostics.count; i++)
		reports += diagnostics.list[i].count;
	assert_int_equal(reports, 6);
	assert_int_equal(m->edges.count, 1); /* the first creation has none: it has no creator */
	assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_UNFINISHED], 1);
	weft_model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_and_kind_has_a_name),
		cmocka_unit_test(kinds_with_one_name_are_one_kind),
		cmocka_unit_test(later_kinds_than_256_are_unknown),
		cmocka_unit_test(an_empty_trace_is_a_model),
		cmocka_unit_test(an_unknown_task_exists_from_the_start),
		cmocka_unit_test(a_late_create_names_a_known_task),
		cmocka_unit_test(a_second_create_is_ignored),
		cmocka_unit_test(no_task_is_its_own_ancestor),
		cmocka_unit_test(events_that_switch_and_events_that_do_not),
		cmocka_unit_test(a_running_task_that_becomes_another_runs_on),
		cmocka_unit_test(becomes_make_no_cycle),
		cmocka_unit_test(a_read_drops_the_try_read_before_it),
		cmocka_unit_test(an_unfinished_task_ends_after_its_last_sign),
		cmocka_unit_test(tasks_that_wait_live_to_the_end),
		cmocka_unit_test(an_expected_task_that_does_not_end_fails),
		cmocka_unit_test(the_first_end_stands),
		cmocka_unit_test(a_stopped_task_has_ended_without_a_failure),
		cmocka_unit_test(a_wait_for_any_has_an_edge_for_each),
		cmocka_unit_test(a_lock_is_taken_and_given_back),
		cmocka_unit_test(spans_belong_to_a_task),
		cmocka_unit_test(a_span_is_found_by_time),
		cmocka_unit_test(spans_end_with_their_task),
		cmocka_unit_test(spans_go_on_in_what_their_task_becomes),
		cmocka_unit_test(spans_without_a_task_are_the_threads),
		cmocka_unit_test(an_end_without_a_beginning_is_damage),
		cmocka_unit_test(a_track_has_lines_for_what_overlaps),
		cmocka_unit_test(a_given_span_lies_between_the_trace_and_now),
		cmocka_unit_test(each_given_span_is_cut_at_both_ends),
		cmocka_unit_test(lines_of_a_track_are_bounded),
		cmocka_unit_test(a_mark_has_attributes),
		cmocka_unit_test(a_wait_has_its_calls),
		cmocka_unit_test(names_and_notes),
		cmocka_unit_test(buffers_share_no_tasks_and_no_counters),
		cmocka_unit_test(many_buffers_share_no_counters),
		cmocka_unit_test(bands_have_reasons_and_resume),
		cmocka_unit_test(an_idle_thread_can_tell_why_later),
		cmocka_unit_test(idleness_keeps_its_reason_over_a_band),
		cmocka_unit_test(threads_run_side_by_side),
		cmocka_unit_test(ids_are_unique_within_a_buffer_only),
		cmocka_unit_test(a_model_has_its_own_texts),
		cmocka_unit_test(a_rundown_describes_what_was_not_known),
		cmocka_unit_test(a_rundown_repeats_no_try_read),
		cmocka_unit_test(a_tag_without_a_value_has_none),
		cmocka_unit_test(a_rundown_tells_when_tasks_began),
		cmocka_unit_test(processes_and_hosts_are_told_from_buffers),
		cmocka_unit_test(edges_losses_and_levels_have_names),
		cmocka_unit_test(a_counter_saturates_and_has_its_extremes),
		cmocka_unit_test(a_counter_is_real_from_its_first_real_number_on),
		cmocka_unit_test(real_counters_stay_finite),
		cmocka_unit_test(events_without_their_task_are_reported),
		cmocka_unit_test(million_deep_chains_cost_nothing_extra),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
