/* SPDX-License-Identifier: ISC
 *
 * Ids, texts and the state: compared with lists, and with a state that forgets nothing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/state.h"

#define NONE WEFT_TASK_NONE

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* ---- Ids ---- */

/* Ids that lie close together, around and below the first one, and ids far away; two buffers. */
static uint64_t some_id(void)
{
	static const uint64_t from[] = {5000, 3900, 9000, UINT64_C(1) << 40, UINT64_MAX - 300, 0};
	return from[pick(6)] + pick(200);
}

static void an_id_keeps_its_number(void **state)
{
	struct weft__identities identities = {0};
	uint32_t task, kept = 0, new_index[4000];
	(void)state;
	seed = 1;
	assert_int_equal(weft__model_identities_init(&identities), 0);
	for (unsigned i = 0; i < 6000; i++) {
		uint64_t id = i ? some_id() : 5000;
		uint32_t buffer = i ? pick(4) / 3 : 0, known = 0, count = identities.count;
		while (known < count && (identities.id[known] != id || identities.buffer[known] != buffer))
			known++;
		assert_int_equal(
			weft__model_ids_find(&identities.by_id, identities.id, identities.buffer, buffer, id),
			known < count ? known : WEFT_NONE);
		assert_int_equal(weft__model_identify(&identities, buffer, id, &task), 0);
		assert_int_equal(task, known);
		assert_int_equal(identities.count, known < count ? count : count + 1);
		if (i == 3000)
			assert_int_equal(weft__model_identities_cut(&identities, count - 100), 0);
		if (i != 2000 && i != 4000)
			continue;
		kept = 0;
		for (task = 0; task < identities.count; task++)
			new_index[task] = pick(3) ? kept++ : WEFT_NONE;
		assert_int_equal(weft__model_identities_move(&identities, new_index), 0);
		assert_int_equal(identities.count, kept);
	}
	assert_true(identities.count > 1000);
	weft__model_identities_finish(&identities);
}

/* ---- Texts ---- */

static void fields_of_a_mark_keep_their_types(void **state)
{
	const struct weft_field fields[] = {
		{{"i", 1}, WEFT_FIELD_I64, {.i64 = -3}},
		{{"u", 1}, WEFT_FIELD_U64, {.u64 = UINT64_MAX}},
		{{"f", 1}, WEFT_FIELD_F64, {.f64 = 0.5}},
		{{"text", 4}, WEFT_FIELD_TEXT, {.text = {"a b", 3}}},
		{{"b", 1}, WEFT_FIELD_BOOL, {.u64 = 1}},
	};
	struct weft__texts texts;
	const struct weft__attributes *a = &texts.attributes;
	struct weft__identities identities = {0};
	(void)state;
	assert_int_equal(weft__model_texts_init(&texts), 0);
	assert_int_equal(weft__model_identities_init(&identities), 0);
	for (uint32_t count = 0; count <= 5; count++) {
		const struct weft_event event = {
			.type = WEFT_EVENT_MARK, .text = {"sent", 4}, .fields = fields, .field_count = count};
		struct weft__fact fact;
		uint32_t before = a->count;
		assert_int_equal(weft__model_fact_of_event(&identities, &texts, &event, &fact), 0);
		assert_string_equal(weft__strings_bytes(&texts.strings, fact.text), "sent");
		assert_int_equal(weft__model_range_first(fact.value), before);
		assert_int_equal(weft__model_range_count(fact.value), count);
		assert_int_equal(a->count, before + count);
	}
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t row = a->count - 5 + i;
		assert_string_equal(
			weft__strings_bytes(&texts.strings, a->name[row]), fields[i].name.bytes);
		assert_int_equal(a->type[row], fields[i].type);
		if (fields[i].type == WEFT_FIELD_TEXT)
			assert_string_equal(
				weft__strings_bytes(&texts.strings, (uint32_t)a->value[row]), "a b");
		else
			assert_memory_equal(&a->value[row], &fields[i].value, sizeof(a->value[row]));
	}
	weft__model_texts_finish(&texts);
	weft__model_identities_finish(&identities);
}

/* Empty reasons and an empty label of a rundown are no text; an empty label of a task is one. */
static void an_empty_text_is_one_only_if_it_was_given(void **state)
{
	struct weft__texts texts;
	struct weft__identities identities = {0};
	(void)state;
	assert_int_equal(weft__model_texts_init(&texts), 0);
	assert_int_equal(weft__model_identities_init(&identities), 0);
	for (uint8_t type = 1; type < WEFT_EVENT_TYPES; type++) {
		const struct weft_event event = {.type = type, .text = {"", 0}};
		bool has_text = type == WEFT_EVENT_FAIL || type == WEFT_EVENT_LABEL ||
						type == WEFT_EVENT_NOTE || type == WEFT_EVENT_TAG ||
						type == WEFT_EVENT_MARK || type == WEFT_EVENT_COUNTER ||
						type == WEFT_EVENT_BEGIN || type == WEFT_EVENT_SPAN ||
						type == WEFT_EVENT_TOTAL || type == WEFT_EVENT_STACK;
		struct weft__fact fact;
		assert_int_equal(weft__model_fact_of_event(&identities, &texts, &event, &fact), 0);
		assert_int_equal(fact.text != WEFT_NONE, has_text);
	}
	weft__model_texts_finish(&texts);
	weft__model_identities_finish(&identities);
}

static void an_event_of_no_type_and_a_thread_too_many_are_refused(void **state)
{
	static const struct weft__listener nobody;
	struct weft__identities identities = {0};
	struct weft__state s;
	struct weft__fact fact;
	struct weft_event event = {.type = 0, .task = NONE, .other = NONE};
	(void)state;
	assert_int_equal(weft__model_identities_init(&identities), 0);
	weft__model_state_init(&s, &nobody, NULL);
	assert_int_equal(
		weft__model_fact_of_event(&identities, NULL, &event, &fact), WEFT_ERROR_ARGUMENT);
	event.type = WEFT_EVENT_TYPES;
	assert_int_equal(
		weft__model_fact_of_event(&identities, NULL, &event, &fact), WEFT_ERROR_ARGUMENT);
	event.type = WEFT_EVENT_SWITCH;
	event.thread = 1 << 20;
	assert_int_equal(weft__model_fact_of_event(&identities, NULL, &event, &fact), 0);
	assert_int_equal(weft__model_state_take(&s, &fact), WEFT_ERROR_LIMIT);
	fact.thread--;
	assert_int_equal(weft__model_state_take(&s, &fact), 0);
	assert_int_equal(s.thread_count, 1 << 20);
	weft__model_state_finish(&s);
	weft__model_identities_finish(&identities);
}

/* ---- Forgetting ---- */

/* A state and what it said about the latest event. */
struct world {
	struct weft__state state;
	struct weft__identities identities;
	char said[4096];
};

static unsigned long long id_of(const struct world *w, uint32_t task)
{
	return task < w->identities.count ? w->identities.id[task] : 999999;
}

__attribute__((format(printf, 2, 3))) static void say(struct world *w, const char *format, ...)
{
	size_t used = strlen(w->said);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(w->said + used, sizeof(w->said) - used, format, arguments);
	va_end(arguments);
}

static int on_edge(void *world, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	say(world, "edge %d %llu %llu;", type, id_of(world, from), id_of(world, to));
	return 0;
}

static void on_answer(void *world, uint32_t task)
{
	say(world, "answer %llu;", id_of(world, task));
}

static void on_wait(void *world, uint32_t task)
{
	say(world, "wait %llu;", id_of(world, task));
}

static void on_wake(void *world, uint32_t task, uint64_t woken_ns)
{
	say(world, "wake %llu %d;", id_of(world, task), (int)woken_ns);
}

static void on_end(void *world, uint32_t task, uint32_t becomes)
{
	say(world, "end %llu %llu;", id_of(world, task), id_of(world, becomes));
}

static int on_alive(void *world, uint32_t task, bool is_new, const struct weft__fact *fact)
{
	(void)fact;
	say(world, "alive %llu %d;", id_of(world, task), is_new);
	return 0;
}

static int on_note(
	void *world, enum weft_note_type type, uint32_t task, uint32_t text, int64_t value)
{
	say(world, "note %d %llu %u %d;", type, id_of(world, task), text, (int)value);
	return 0;
}

static int on_sample(void *world, uint32_t counter, uint32_t task)
{
	struct world *w = world;
	say(w, "sample %u %llu %d;", counter, id_of(w, task), (int)w->state.counters.value[counter]);
	return 0;
}

static int on_period(void *world, uint32_t thread)
{
	struct world *w = world;
	const struct weft__state_thread *t = &w->state.threads[thread];
	say(w, "period %u %llu %d %d;", thread, id_of(w, t->running), t->running == WEFT__RUNS_IDLE,
		(int)t->since);
	return 0;
}

static void on_damage(void *world, uint64_t offset, const char *message)
{
	say(world, "damage %d %s;", (int)offset, message);
}

static const struct weft__listener listener = {
	.edge = on_edge,
	.answer = on_answer,
	.wait = on_wait,
	.wake = on_wake,
	.end = on_end,
	.alive = on_alive,
	.note = on_note,
	.sample = on_sample,
	.period = on_period,
	.damage = on_damage,
};

static void world_init(struct world *w)
{
	w->identities = (struct weft__identities){0};
	assert_int_equal(weft__model_identities_init(&w->identities), 0);
	weft__model_state_init(&w->state, &listener, w);
}

static void world_finish(struct world *w)
{
	weft__model_state_finish(&w->state);
	weft__model_identities_finish(&w->identities);
}

static void take(struct world *w, const struct weft_event *event, uint32_t text)
{
	struct weft__fact fact;
	w->said[0] = '\0';
	assert_int_equal(weft__model_fact_of_event(&w->identities, NULL, event, &fact), 0);
	fact.text = text;
	assert_int_equal(weft__model_state_take(&w->state, &fact), 0);
}

static void forget(struct world *w)
{
	uint32_t *new_index, before = w->state.tasks.count;
	assert_int_equal(weft__model_identities_cut(&w->identities, before), 0);
	assert_int_equal(weft__model_state_forget(&w->state, &new_index), 0);
	assert_int_equal(weft__model_identities_move(&w->identities, new_index), 0);
	assert_int_equal(w->identities.count, w->state.tasks.count);
	free(new_index);
}

#define LIVING 12

struct living {
	uint64_t ids[LIVING]; /* some are former names of tasks that became others */
	uint64_t next;
};

/* An event about living tasks. */
static struct weft_event some_event(struct living *l, uint64_t time, uint32_t *ret_text)
{
	static const uint8_t types[] = {WEFT_EVENT_READ, WEFT_EVENT_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_TRY_READ, WEFT_EVENT_TRY_READ, WEFT_EVENT_SWITCH, WEFT_EVENT_SIGNAL,
		WEFT_EVENT_LABEL, WEFT_EVENT_NOTE, WEFT_EVENT_EXPECT, WEFT_EVENT_ALIVE, WEFT_EVENT_BAND,
		WEFT_EVENT_BAND, WEFT_EVENT_COUNTER};
	uint32_t slot = pick(LIVING);
	struct weft_event event = {.type = types[pick(sizeof(types))],
		.time_ns = time,
		.offset = time,
		.task = pick(6) ? l->ids[pick(LIVING)] : NONE,
		.other = l->ids[slot],
		.thread = pick(3),
		.kind = WEFT_KIND_TASK,
		.value = pick(9),
		.band = WEFT_BAND_IDLE,
		.flag = pick(2),
		.is_set = pick(2)};
	*ret_text = pick(3);
	if (event.type == WEFT_EVENT_SWITCH)
		*ret_text = WEFT_NONE;
	return event;
}

static void tell(struct world *all, struct world *few, struct weft_event event, uint32_t text)
{
	take(all, &event, text);
	take(few, &event, text);
	assert_string_equal(few->said, all->said);
}

/* Replaces a living task by a new one: it ends, or becomes the new one. */
static void replace(struct world *all, struct world *few, struct living *l, uint64_t time)
{
	uint32_t slot = pick(LIVING);
	bool becomes = pick(3) == 0;
	struct weft_event event = {.type = WEFT_EVENT_CREATE,
		.time_ns = time,
		.task = pick(3) ? l->ids[pick(LIVING)] : NONE,
		.other = l->next,
		.kind = WEFT_KIND_BIND};
	if (pick(8)) /* else it is never created */
		tell(all, few, event, WEFT_NONE);
	event.type = becomes ? WEFT_EVENT_BECOME : pick(2) ? WEFT_EVENT_RESOLVE : WEFT_EVENT_FAIL;
	event.task = becomes ? l->ids[slot] : NONE;
	event.other = becomes ? l->next : l->ids[slot];
	tell(all, few, event, 1);
	if (!becomes) /* other names of the same task */
		for (uint32_t i = 0; i < LIVING; i++) {
			uint32_t task = weft__model_state_forward(
				&all->state, weft__model_ids_find(&all->identities.by_id, all->identities.id,
								 all->identities.buffer, 0, l->ids[i]));
			if (all->state.tasks.flags[task] & WEFT_TASK_RESOLVED)
				l->ids[i] = l->next;
		}
	else if (pick(2)) /* else it is still named by its former id */
		l->ids[slot] = l->next;
	l->next++;
	event.type = WEFT_EVENT_EXPECT;
	event.task = l->next - 1;
	tell(all, few, event, WEFT_NONE);
}

static void what_is_forgotten_no_longer_matters(void **state)
{
	static struct world all, few;
	(void)state;
	for (uint64_t round = 1; round < 40; round++) {
		struct living l = {.next = 100};
		uint32_t text, forgotten = 0;
		seed = round;
		world_init(&all);
		world_init(&few);
		for (uint32_t i = 0; i < LIVING; i++) {
			l.ids[i] = l.next++;
			tell(&all, &few,
				(struct weft_event){.type = WEFT_EVENT_CREATE,
					.time_ns = 1,
					.task = NONE,
					.other = l.ids[i],
					.kind = WEFT_KIND_TASK},
				WEFT_NONE);
		}
		uint64_t time = 2;
		for (uint32_t i = 0; i < 400; i++, time += pick(2)) {
			struct weft_event event = some_event(&l, time, &text);
			if (pick(4))
				tell(&all, &few, event, text);
			else
				replace(&all, &few, &l, time);
			if (pick(20) == 0) {
				forget(&few);
				forgotten += few.state.tasks.count < all.state.tasks.count;
				assert_true(few.state.tasks.count <= LIVING * 4 + 6);
			}
		}
		assert_true(forgotten > 5);
		world_finish(&all);
		world_finish(&few);
	}
}

/* The task is neither created nor labelled; in the second round, it has also ended. */
static void a_task_that_runs_is_not_forgotten(void **state)
{
	static struct world all, few;
	(void)state;
	for (int has_ended = 0; has_ended < 2; has_ended++) {
		struct weft_event event = {
			.type = WEFT_EVENT_SWITCH, .time_ns = 1, .task = 7, .other = NONE};
		const struct weft_event end = {
			.type = WEFT_EVENT_RESOLVE, .time_ns = 2, .task = 7, .other = 7};
		world_init(&all);
		world_init(&few);
		tell(&all, &few, event, WEFT_NONE);
		if (has_ended)
			tell(&all, &few, end, WEFT_NONE);
		forget(&few);
		assert_int_equal(few.state.tasks.count, 1);
		event.time_ns = 5;
		event.task = NONE;
		tell(&all, &few, event, WEFT_NONE);
		assert_non_null(strstr(few.said, "period 0 7 "));
		world_finish(&all);
		world_finish(&few);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_keeps_its_number),
		cmocka_unit_test(fields_of_a_mark_keep_their_types),
		cmocka_unit_test(an_empty_text_is_one_only_if_it_was_given),
		cmocka_unit_test(an_event_of_no_type_and_a_thread_too_many_are_refused),
		cmocka_unit_test(what_is_forgotten_no_longer_matters),
		cmocka_unit_test(a_task_that_runs_is_not_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
