/* SPDX-License-Identifier: ISC
 *
 * The state keeps tasks that have ended, because an id that is named again must not count as a live
 * task.
 */
#include "export/cut_alive.h"

#include <stdlib.h>
#include <string.h>

#include <weft/ends.h>

#include "base/array.h"

static int on_mention(void *alive, uint32_t task)
{
	struct weft__alive *a = alive;
	const struct weft__column columns[] = {
		{&a->born_ns, sizeof(*a->born_ns)},
		{&a->is_named, sizeof(*a->is_named)},
		{&a->first_any, sizeof(*a->first_any)},
		{&a->last_any, sizeof(*a->last_any)},
		{&a->holders_of, sizeof(*a->holders_of)},
		{&a->due_ns, sizeof(*a->due_ns)},
	};
	int error = weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &a->capacity, task + (size_t)1);
	if (error)
		return error;
	a->first_any[task] = a->last_any[task] = a->holders_of[task] = WEFT_NONE;
	a->born_ns[task] = a->due_ns[task] = WEFT__ALIVE_UNDATED;
	a->is_named[task] = false;
	return 0;
}

/* The task no longer waits for any of several. */
static void let_go(struct weft__alive *a, uint32_t task)
{
	if (a->first_any[task] == WEFT_NONE)
		return;
	a->any[a->last_any[task]].next = a->any_free;
	a->any_free = a->first_any[task];
	a->first_any[task] = a->last_any[task] = WEFT_NONE;
}

static void on_wake(void *alive, uint32_t task, uint64_t woken_ns)
{
	(void)woken_ns;
	let_go(alive, task);
}

static int take_free_any(struct weft__alive *a, uint32_t *ret_any)
{
	const struct weft__column column = {&a->any, sizeof(*a->any)};
	int error = 0;
	if (a->any_free != WEFT_NONE) {
		*ret_any = a->any_free;
		a->any_free = a->any[*ret_any].next;
		return 0;
	}
	error = weft__columns_reserve(&column, 1, &a->any_capacity, a->any_count + (size_t)1);
	if (!error)
		*ret_any = a->any_count++;
	return error;
}

/* Another source of the wait that began at this time, or the first one of a new wait. */
static int add_any(struct weft__alive *a, uint32_t task, uint32_t source)
{
	uint32_t any;
	int error = take_free_any(a, &any);
	if (error)
		return error;
	if (a->last_any[task] != WEFT_NONE && a->any[a->last_any[task]].time_ns != a->state.now)
		let_go(a, task);
	a->any[any] = (struct weft__any){a->state.now, source, WEFT_NONE};
	if (a->first_any[task] == WEFT_NONE)
		a->first_any[task] = any;
	else
		a->any[a->last_any[task]].next = any;
	a->last_any[task] = any;
	return 0;
}

static int on_edge(void *alive, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	struct weft__alive *a = alive;
	if (type == WEFT_EDGE_CREATE)
		a->born_ns[to] = a->state.now;
	else if (type == WEFT_EDGE_WAIT_ANY && from != WEFT_NONE)
		return add_any(a, from, to);
	else if (type == WEFT_EDGE_TRY_READ && from != WEFT_NONE)
		let_go(a, from);
	else if (from != WEFT_NONE && a->last_any[from] != WEFT_NONE)
		a->any[a->last_any[from]].time_ns = WEFT__ALIVE_UNDATED; /* the set is complete */
	return 0;
}

static int on_alive(void *alive, uint32_t task, bool is_new, const struct weft__fact *fact)
{
	struct weft__alive *a = alive;
	uint64_t age = (uint64_t)fact->value, now = a->state.now;
	if (is_new && fact->has_value)
		a->born_ns[task] = age < now ? now - age : 0;
	return 0;
}

struct weft__holders *weft__export_alive_holders(struct weft__alive *a, uint32_t resource)
{
	if (a->holders_of[resource] == WEFT_NONE)
		return NULL;
	struct weft__holders *h = &a->holders[a->holders_of[resource]];
	for (uint32_t i = 0; i < h->count; i++)
		h->list[i].task = weft__model_state_forward(&a->state, h->list[i].task);
	return h;
}

static int on_take(void *alive, uint32_t task, uint32_t resource)
{
	struct weft__alive *a = alive;
	const struct weft__column column = {&a->holders, sizeof(*a->holders)};
	if (a->holders_of[resource] == WEFT_NONE) {
		int error =
			weft__columns_reserve(&column, 1, &a->holders_capacity, a->holders_count + (size_t)1);
		if (error)
			return error;
		a->holders[a->holders_count] = (struct weft__holders){0};
		a->holders_of[resource] = a->holders_count++;
	}
	return weft__model_holders_take(
		weft__export_alive_holders(a, resource), a->state.tasks.kind[resource], task, a->state.now);
}

static void on_give(void *alive, uint32_t task, uint32_t resource)
{
	struct weft__holders *h = weft__export_alive_holders(alive, resource);
	if (h)
		weft__model_holders_give(h, task);
}

static void on_damage(void *alive, uint64_t offset, const char *message)
{
	struct weft__alive *a = alive;
	(void)offset, (void)message;
	a->broke_rule = true;
}

static const struct weft__listener listener = {
	.damage = on_damage,
	.mention = on_mention,
	.edge = on_edge,
	.wake = on_wake,
	.take = on_take,
	.give = on_give,
	.alive = on_alive,
};

int weft__export_alive_init(struct weft__alive *a)
{
	*a = (struct weft__alive){.any_free = WEFT_NONE};
	weft__model_state_init(&a->state, &listener, a);
	int error = weft__model_identities_init(&a->identities);
	if (!error)
		error = weft__model_texts_init(&a->texts);
	if (error)
		weft__export_alive_finish(a);
	return error;
}

void weft__export_alive_finish(struct weft__alive *a)
{
	weft__model_identities_finish(&a->identities);
	weft__model_texts_finish(&a->texts);
	weft__model_state_finish(&a->state);
	free(a->born_ns);
	free(a->is_named);
	free(a->due_ns);
	free(a->first_any);
	free(a->last_any);
	free(a->any);
	for (uint32_t i = 0; i < a->holders_count; i++)
		weft__model_holders_finish(&a->holders[i]);
	free(a->holders);
	free(a->holders_of);
	free(a->messages);
	free(a->range_begins);
	*a = (struct weft__alive){0};
}

/* Remarks, of which there may be very many, are not part of a rundown, so their texts are not
 * interned. */
static bool is_remark(const struct weft_event *event)
{
	return event->type == WEFT_EVENT_NOTE || event->type == WEFT_EVENT_TAG ||
		   event->type == WEFT_EVENT_MARK;
}

static bool is_deadline(const struct weft_event *event)
{
	static const char tag[] = WEFT_TAG_DEADLINE;
	return event->type == WEFT_EVENT_TAG && event->has_value &&
		   event->text.size == sizeof(tag) - 1 &&
		   memcmp(event->text.bytes, tag, event->text.size) == 0;
}

/* The only tag that a rundown keeps. */
static void set_due(struct weft__alive *a, uint32_t named, int64_t value)
{
	const uint64_t now = a->state.now, last = WEFT__ALIVE_UNDATED - 1;
	uint64_t distance = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	uint64_t *due = &a->due_ns[weft__model_state_forward(&a->state, named)];
	if (value < 0)
		*due = distance < now ? now - distance : 0;
	else
		*due = distance < last - now ? now + distance : last;
}

int weft__export_alive_add(struct weft__alive *a, const struct weft_event *event)
{
	struct weft__fact fact;
	struct weft__texts *texts = is_remark(event) ? NULL : &a->texts;
	if (event->type == WEFT_EVENT_SPAN)
		return 0; /* nothing of it lasts, and each event of a track names the track */
	a->broke_rule = false;
	int error = weft__model_fact_of_event(&a->identities, texts, event, &fact);
	if (!error)
		error = weft__model_state_take(&a->state, &fact);
	a->has_vain_creates |= a->broke_rule && event->type == WEFT_EVENT_CREATE;
	if (!error && fact.task != WEFT_NONE && is_deadline(event))
		set_due(a, fact.task, event->value);
	return error;
}

uint32_t weft__export_alive_find(
	const struct weft__alive *a, const struct weft_event *event, enum weft_slot slot)
{
	const struct weft__identities *i = &a->identities;
	weft_task_id id = slot == WEFT_SLOT_TASK ? event->task : event->other;
	if (id == WEFT_TASK_NONE || !weft__model_event_has(event->type, slot))
		return WEFT_NONE;
	return weft__model_ids_find(&i->by_id, i->id, i->buffer, event->buffer, id);
}

static void name(struct weft__alive *a, const struct weft_event *event, enum weft_slot slot)
{
	uint32_t task = weft__export_alive_find(a, event, slot);
	if (task == WEFT_NONE)
		return;
	a->is_named[task] = true;
	a->is_named[weft__model_state_forward(&a->state, task)] = true;
}

/* In the range, each key's first message removes the one before, unless that comes first. */
static int take_message(struct weft__alive *a, const struct weft_event *event)
{
	const struct weft__column column = {&a->messages, sizeof(*a->messages)};
	const struct weft__message message = {.key = event->key,
		.time_ns = event->time_ns,
		.is_received = event->type == WEFT_EVENT_RECEIVE};
	struct weft__message before;
	if (event->type == WEFT_EVENT_SEND && event->task != WEFT_TASK_NONE &&
		weft_key_is_stream(event->key))
		return 0;
	if ((event->type != WEFT_EVENT_SEND && event->type != WEFT_EVENT_RECEIVE) ||
		!weft__model_messages_take_other(&a->state.messages, &message, &before) ||
		!weft__model_message_joins(&before, &message))
		return 0;
	int error =
		weft__columns_reserve(&column, 1, &a->message_capacity, a->message_count + (size_t)1);
	if (error)
		return error;
	before.task = weft__model_state_forward(&a->state, before.task);
	a->is_named[before.task] = true;
	a->messages[a->message_count++] = before;
	return 0;
}

int weft__export_alive_name(struct weft__alive *a, const struct weft_event *event)
{
	name(a, event, WEFT_SLOT_TASK);
	name(a, event, WEFT_SLOT_OTHER);
	return take_message(a, event);
}

int weft__export_alive_name_counter(struct weft__alive *a, const struct weft_event *event)
{
	const struct weft__column column = {&a->range_begins, sizeof(*a->range_begins)};
	uint32_t name, counter;
	if (event->type != WEFT_EVENT_COUNTER)
		return 0;
	int error = weft__strings_intern(&a->texts.strings, event->text.bytes, event->text.size, &name);
	if (!error)
		error = weft__model_state_counter(&a->state, 0, name, &counter);
	if (!error)
		error = weft__columns_reserve(&column, 1, &a->range_capacity, counter + (size_t)1);
	if (error)
		return error;
	while (a->range_count <= counter)
		a->range_begins[a->range_count++] = WEFT__RANGE_WITHOUT;
	if (a->range_begins[counter] == WEFT__RANGE_WITHOUT)
		a->range_begins[counter] = event->is_set ? WEFT__RANGE_SETS : WEFT__RANGE_CHANGES;
	return 0;
}

bool weft__export_alive_is_changed(const struct weft__alive *a, uint32_t counter)
{
	return counter < a->range_count && a->range_begins[counter] == WEFT__RANGE_CHANGES;
}
