/* SPDX-License-Identifier: ISC
 *
 * The state keeps tasks that have ended, because an id that is named again must not count as a live
 * task.
 */
#include "export/cut_alive.h"

#include <stdlib.h>

#include "base/array.h"

static int on_mention(void *alive, uint32_t task)
{
	struct weft__alive *a = alive;
	const struct weft__column columns[] = {
		{&a->born_ns, sizeof(*a->born_ns)},
		{&a->is_named, sizeof(*a->is_named)},
	};
	int error = weft__columns_reserve(columns, 2, &a->capacity, task + (size_t)1);
	if (error)
		return error;
	a->born_ns[task] = WEFT__ALIVE_UNDATED;
	a->is_named[task] = false;
	return 0;
}

static int on_edge(void *alive, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	struct weft__alive *a = alive;
	(void)from;
	if (type == WEFT_EDGE_CREATE)
		a->born_ns[to] = a->state.now;
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

static const struct weft__listener listener = {
	.mention = on_mention,
	.edge = on_edge,
	.alive = on_alive,
};

int weft__alive_init(struct weft__alive *a)
{
	*a = (struct weft__alive){0};
	weft__state_init(&a->state, &listener, a);
	int error = weft__identities_init(&a->identities);
	if (!error)
		error = weft__texts_init(&a->texts);
	if (error)
		weft__alive_finish(a);
	return error;
}

void weft__alive_finish(struct weft__alive *a)
{
	weft__identities_finish(&a->identities);
	weft__texts_finish(&a->texts);
	weft__state_finish(&a->state);
	free(a->born_ns);
	free(a->is_named);
	*a = (struct weft__alive){0};
}

/* Remarks, of which there may be very many, are not part of a rundown, so their texts are not
 * interned. */
static bool is_remark(const struct weft_event *event)
{
	return event->type == WEFT_EVENT_NOTE || event->type == WEFT_EVENT_TAG ||
		   event->type == WEFT_EVENT_MARK;
}

int weft__alive_add(struct weft__alive *a, const struct weft_event *event)
{
	struct weft__fact fact;
	struct weft__texts *texts = is_remark(event) ? NULL : &a->texts;
	int error = weft__fact_of_event(&a->identities, texts, event, &fact);
	return error ? error : weft__state_take(&a->state, &fact);
}

static void name(struct weft__alive *a, const struct weft_event *event, enum weft_slot slot)
{
	const struct weft__identities *i = &a->identities;
	uint64_t id = slot == WEFT_SLOT_TASK ? event->task : event->other;
	if (id == WEFT_TASK_NONE || !weft__event_has(event->type, slot))
		return;
	uint32_t task = weft__ids_find(&i->by_id, i->id, i->buffer, event->buffer, id);
	if (task == WEFT_NONE)
		return;
	a->is_named[task] = true;
	a->is_named[weft__state_forward(&a->state, task)] = true;
}

void weft__alive_name(struct weft__alive *a, const struct weft_event *event)
{
	name(a, event, WEFT_SLOT_TASK);
	name(a, event, WEFT_SLOT_OTHER);
}
