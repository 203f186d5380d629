/* SPDX-License-Identifier: ISC
 *
 * Takes events. A program is watched for as long as it runs, so tasks that can no longer matter are
 * forgotten from time to time: the memory stays in proportion to the tasks that live.
 */
#include "trigger/triggers.h"

#include <stdlib.h>
#include <string.h>

#include "base/export.h"

enum {
	TASKS_MAX = 1 << 20,
	FORGET_EVENTS = 4096, /* at least this many between two calls of weft__model_state_forget */
};

/* ---- Events ---- */

/* A counter's number is that of the first rule that names it; WEFT_NONE if no rule does. */
static uint32_t number_of_counter(const struct weft_triggers *t, struct weft_slice name)
{
	for (unsigned i = 0; i < t->count; i++) {
		const struct rule *rule = &t->rules[i];
		if (rule->type <= RULE_BELOW && rule->name.size == name.size &&
			memcmp(rule->name.bytes, name.bytes, name.size) == 0)
			return i;
	}
	return WEFT_NONE;
}

/* The next call comes after as many events as tasks were kept, at least FORGET_EVENTS, and an event
 * names two tasks at most. So no more than 3 * kept + 2 * FORGET_EVENTS tasks are ever known, and
 * the amortized cost of an event is constant. */
static int forget(struct weft_triggers *t)
{
	uint32_t *new_index;
	if (t->until_forgetting--)
		return 0;
	int error = weft__model_identities_cut(&t->identities, t->state.tasks.count);
	if (!error)
		error = weft__model_state_forget(&t->state, &new_index);
	if (error)
		return error;
	error = weft__model_identities_move(&t->identities, new_index);
	weft__trigger_waiters_move(&t->waiters, new_index);
	for (size_t i = 0; i < t->runner_count; i++)
		if (t->runners[i].task != WEFT_NONE)
			t->runners[i].task = new_index[t->runners[i].task];
	free(new_index);
	uint64_t count = t->state.tasks.count;
	t->until_forgetting = count < FORGET_EVENTS ? FORGET_EVENTS : count;
	return error;
}

static uint64_t known_id(const struct weft_triggers *t, const struct weft_event *event, uint64_t id)
{
	const struct weft__identities *i = &t->identities;
	uint32_t task = weft__model_ids_find(&i->by_id, i->id, i->buffer, event->buffer, id);
	return task == WEFT_NONE ? WEFT_TASK_NONE : id;
}

static int take_event(struct weft_triggers *t, const struct weft_event *event, uint32_t text)
{
	struct weft__fact fact;
	struct weft_event known;
	t->event = event;
	if (t->identities.count + 2 > TASKS_MAX) {
		known = *event;
		known.task = known_id(t, event, event->task);
		known.other = known_id(t, event, event->other);
		event = &known;
	}
	int error = weft__model_fact_of_event(&t->identities, NULL, event, &fact);
	fact.text = text;
	if (!error && event->kind_name.size)
		error = weft__model_number_kind(&t->kinds, event, &fact.kind);
	return error ? error : weft__model_state_take(&t->state, &fact);
}

/* Leaves out the task that changes the counter, because no rule asks for it. */
static int take_counter(struct weft_triggers *t, const struct weft_event *event)
{
	struct weft_event counter = *event;
	uint32_t number = number_of_counter(t, event->text);
	counter.task = WEFT_TASK_NONE;
	return number == WEFT_NONE ? 0 : take_event(t, &counter, number);
}

static int take_of_tasks(struct weft_triggers *t, const struct weft_event *event)
{
	int error = t->wants_tasks ? forget(t) : 0;
	if (error || !t->wants_tasks)
		return error;
	/* Only an alive event may lack a label; a label event's may be empty. */
	bool has_text = event->text.size || event->type == WEFT_EVENT_LABEL;
	return take_event(t, event, has_text ? 0 : WEFT_NONE);
}

WEFT__EXPORT int weft_triggers_take(struct weft_triggers *t, const struct weft_event *event)
{
	int error = 0;
	t->event_ns = event->time_ns;
	t->event_ticks = event->ticks;
	t->event_task = event->task;
	if (event->type == WEFT_EVENT_COUNTER || event->type == WEFT_EVENT_TOTAL)
		error = take_counter(t, event);
	else if (event->type == WEFT_EVENT_TAG)
		weft__trigger_test_tag(t, event);
	else
		error = take_of_tasks(t, event);
	return error == WEFT_ERROR_MEMORY ? error : 0; /* on another error, skip the event */
}

WEFT__EXPORT uint64_t weft_triggers_fired(struct weft_triggers *t, struct weft_slice *ret_rule)
{
	uint64_t fired = t->fired;
	if (fired)
		*ret_rule =
			(struct weft_slice){t->rules[t->first_fired].text, t->rules[t->first_fired].size};
	t->fired = 0;
	return fired;
}

WEFT__EXPORT const struct weft_trace_alert *weft_triggers_alert(const struct weft_triggers *t)
{
	return &t->alert;
}

/* ---- Rules ---- */

/* A counter that is beyond the limit already must come back before the new rule can fire. */
static void prepare_counter(struct weft_triggers *t, struct rule *rule)
{
	const struct weft__state_counters *counters = &t->state.counters;
	struct weft_number value = {0};
	rule->counter = number_of_counter(t, rule->name);
	for (uint32_t i = 0; i < counters->count; i++)
		if (counters->name[i] == rule->counter)
			value = weft__model_state_number(&t->state, i);
	rule->holds = weft__trigger_holds(rule, value);
}

/* A name that comes too late for a number is that of no task. */
static int number_kind(struct weft_triggers *t, struct rule *rule)
{
	const struct weft_event event = {.kind_name = rule->kind_name};
	uint16_t kind;
	int error = weft__model_number_kind(&t->kinds, &event, &kind);
	if (!error && rule->kind_name.size)
		rule->kind = kind == WEFT_KIND_UNKNOWN ? UINT32_MAX : kind;
	return error;
}

WEFT__EXPORT int weft_triggers_add(
	struct weft_triggers *t, const char *rule, size_t size, struct weft_trigger_error *ret_error)
{
	if (t->count == WEFT_TRIGGERS_MAX)
		return WEFT_ERROR_LIMIT;
	int error = weft__trigger_rule_parse(&t->rules[t->count], rule, size, ret_error);
	if (error)
		return error;
	error = number_kind(t, &t->rules[t->count]);
	if (error) {
		weft__trigger_rule_finish(&t->rules[t->count]);
		return error;
	}
	struct rule *added = &t->rules[t->count++];
	if (added->type <= RULE_BELOW)
		prepare_counter(t, added);
	t->wants_tasks |= added->type >= RULE_RUNS;
	return 0;
}

WEFT__EXPORT int weft_triggers_create(struct weft_triggers **ret_triggers)
{
	struct weft_triggers *t = calloc(1, sizeof(*t));
	if (!t)
		return WEFT_ERROR_MEMORY;
	weft__model_state_init(&t->state, &weft__trigger_listener, t);
	weft__trigger_waiters_init(&t->waiters);
	t->until_forgetting = FORGET_EVENTS;
	if (weft__strings_init(&t->kinds) || weft__model_identities_init(&t->identities)) {
		weft_triggers_destroy(t);
		return WEFT_ERROR_MEMORY;
	}
	*ret_triggers = t;
	return 0;
}

WEFT__EXPORT void weft_triggers_destroy(struct weft_triggers *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->count; i++)
		weft__trigger_rule_finish(&t->rules[i]);
	weft__model_identities_finish(&t->identities);
	weft__strings_finish(&t->kinds);
	weft__model_state_finish(&t->state);
	weft__trigger_waiters_finish(&t->waiters);
	free(t->runners);
	free(t);
}
