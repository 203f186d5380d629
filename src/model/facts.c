/* SPDX-License-Identifier: ISC
 *
 * The table of events says which tasks and texts an event names, so that a new type of event needs
 * no change here.
 */
#include "model/facts.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>
#include <weft/model.h>

#include "base/array.h"

/* For each type, a bit for each slot that events.def gives it. */
#define FIELD(slot, key)                | (1u << WEFT_SLOT_##slot)
#define EVENT(number, id, name, fields) [number] = 0u fields,
static const uint32_t slots[WEFT_EVENT_TYPES] = {
#include <weft/events.def>
};
#undef EVENT
#undef FIELD

bool weft__model_event_has(unsigned type, enum weft_slot slot)
{
	return slots[type] >> slot & 1;
}

static inline int identify(struct weft__identities *identities, const struct weft_event *event,
	enum weft_slot slot, weft_task_id id, uint32_t *ret_task)
{
	if (id == WEFT_TASK_NONE || !(slots[event->type] >> slot & 1))
		return 0;
	return weft__model_identify(identities, event->buffer, id, ret_task);
}

/* An alive event in the rundown with which a part of a trace begins stands for the creation of its
 * task, unless it says nothing of it. A later one may come before the creation, if two threads have
 * one time. */
static int begin_life(struct weft__identities *identities, struct weft__fact *fact)
{
	bool is_known = fact->kind != WEFT_KIND_UNKNOWN || fact->has_value;
	if (identities->has_begun || fact->task == WEFT_NONE || !is_known)
		return 0;
	return weft__model_identities_begin(identities, fact->task);
}

int weft__model_follow_life(struct weft__identities *identities, struct weft__fact *fact)
{
	if (fact->type == WEFT_EVENT_ALIVE)
		return begin_life(identities, fact);
	const uint32_t ended = fact->type == WEFT_EVENT_BECOME ? fact->task : fact->other;
	if (ended == WEFT_NONE)
		return 0;
	if (fact->type == WEFT_EVENT_CREATE)
		return weft__model_identities_create(identities, &fact->other);
	return weft__model_identities_end(identities, ended);
}

int weft__model_texts_init(struct weft__texts *texts)
{
	*texts = (struct weft__texts){0};
	return weft__strings_init(&texts->strings);
}

void weft__model_texts_finish(struct weft__texts *texts)
{
	weft__strings_finish(&texts->strings);
	weft__model_attributes_finish(&texts->attributes);
	free(texts->by_name);
	free(texts->kinds);
	free(texts->categories);
	*texts = (struct weft__texts){0};
}

/* Keeps the name and the fields of a mark. Out of line: other events need none of its registers. */
__attribute__((noinline)) static int keep_mark(
	struct weft__texts *t, const struct weft_event *event, struct weft__fact *fact)
{
	int error = weft__strings_intern(&t->strings, event->text.bytes, event->text.size, &fact->text);
	return error ? error
				 : weft__model_attributes_add(&t->attributes, &t->strings, event, &fact->value);
}

/* The names of buffer 0, the only one of most traces, are searched for once. */
static inline int intern(
	struct weft__texts *t, const struct weft_event *event, uint32_t *ret_string)
{
	const struct weft_slice text = event->text;
	if (!event->name_id || event->buffer)
		return weft__strings_intern(&t->strings, text.bytes, text.size, ret_string);
	if (!t->by_name)
		t->by_name = calloc(UINT16_MAX + (size_t)1, sizeof(*t->by_name));
	if (!t->by_name)
		return WEFT_ERROR_MEMORY;
	uint32_t *known = &t->by_name[event->name_id];
	if (*known) {
		*ret_string = *known - 1;
		return 0;
	}
	int error = weft__strings_intern(&t->strings, text.bytes, text.size, ret_string);
	if (!error)
		*known = *ret_string + 1;
	return error;
}

/* Leaves the fact's text as it is if the event has none. */
static inline int intern_text(
	struct weft__texts *texts, const struct weft_event *event, struct weft__fact *fact)
{
	const unsigned type = event->type, has = slots[type];
	const bool is_reason = has >> WEFT_SLOT_REASON & 1;
	if (!is_reason && !(has >> WEFT_SLOT_TEXT & 1))
		return 0;
	if (has >> WEFT_SLOT_FIELDS & 1)
		return keep_mark(texts, event, fact);
	bool may_lack = is_reason || type == WEFT_EVENT_BAND || type == WEFT_EVENT_ALIVE;
	if (may_lack && event->text.size == 0)
		return 0;
	return intern(texts, event, &fact->text);
}

/* Readers use these numbers for named kinds. */
static inline bool is_reserved(unsigned kind)
{
	return weft__model_named_kind(kind) < WEFT__NAMED_KINDS_MAX;
}

static uint16_t number_of(size_t index)
{
	return index < WEFT__NAMED_KINDS_MAX ? (uint16_t)(WEFT__NAMED_KIND_LAST - index)
										 : WEFT_KIND_UNKNOWN;
}

/* The one kind that has both a number and, in what is recorded, a name. */
static bool is_thread(struct weft_slice name)
{
	static const char thread[] = "thread";
	return name.size == sizeof(thread) - 1 && memcmp(name.bytes, thread, name.size) == 0;
}

int weft__model_number_kind(
	struct weft__strings *kinds, const struct weft_event *event, uint16_t *ret_kind)
{
	const struct weft_slice name = event->kind_name;
	uint32_t index;
	*ret_kind = is_thread(name)            ? WEFT_KIND_THREAD
				: is_reserved(event->kind) ? WEFT_KIND_UNKNOWN
										   : event->kind;
	if (!name.size || *ret_kind == WEFT_KIND_THREAD)
		return 0;
	int error = weft__strings_intern(kinds, name.bytes, name.size, &index);
	*ret_kind = error ? WEFT_KIND_UNKNOWN : number_of(index);
	return error;
}

/* A list of names, which are among the model's other strings. */
struct names {
	uint32_t **list;
	size_t *count, *capacity, most;
};

/* Finds a name in the list, or appends it; its index is that of the end if there is no room. */
static int find_name(
	struct weft__texts *t, const struct names *names, struct weft_slice name, size_t *ret_index)
{
	const struct weft__column column = {names->list, sizeof(**names->list)};
	uint32_t string;
	size_t i = 0;
	int error = weft__strings_intern(&t->strings, name.bytes, name.size, &string);
	while (!error && i < *names->count && (*names->list)[i] != string)
		i++;
	if (!error && i == *names->count && i < names->most) {
		error = weft__columns_reserve(&column, 1, names->capacity, *names->count + 1);
		if (!error)
			(*names->list)[(*names->count)++] = string;
	}
	*ret_index = i;
	return error;
}

/* The same number of a kind for a model. */
__attribute__((noinline)) static int name_kind(
	struct weft__texts *t, struct weft_slice name, uint16_t *ret_kind)
{
	const struct names kinds = {
		&t->kinds, &t->kind_count, &t->kind_capacity, WEFT__NAMED_KINDS_MAX};
	size_t i;
	if (is_thread(name)) {
		*ret_kind = WEFT_KIND_THREAD;
		return 0;
	}
	int error = find_name(t, &kinds, name, &i);
	*ret_kind = error ? WEFT_KIND_UNKNOWN : number_of(i);
	return error;
}

__attribute__((noinline)) static int name_category(
	struct weft__texts *t, struct weft_slice name, struct weft__fact *fact)
{
	static const char program[] = "program";
	const struct names categories = {
		&t->categories, &t->category_count, &t->category_capacity, WEFT__CATEGORIES_MAX};
	size_t i = WEFT_CATEGORY_PROGRAM - 1;
	bool is_program =
		name.size == sizeof(program) - 1 && memcmp(name.bytes, program, name.size) == 0;
	int error = is_program ? 0 : find_name(t, &categories, name, &i);
	bool has_number = is_program || (!error && i < WEFT__CATEGORIES_MAX);
	fact->category = has_number ? (uint8_t)(i + 1) : 0;
	return error;
}

/* Nothing was measured later than it was recorded. */
static void set_span(struct weft__fact *fact, const struct weft_event *event)
{
	bool is_late = event->end_ns > event->time_ns;
	fact->value = (int64_t)event->begin_ns;
	fact->end_ns = is_late ? event->time_ns : event->end_ns;
}

int weft__model_fact_of_event(struct weft__identities *identities, struct weft__texts *texts,
	const struct weft_event *event, struct weft__fact *ret_fact)
{
	if (event->type == 0 || event->type >= WEFT_EVENT_TYPES)
		return WEFT_ERROR_ARGUMENT;
	*ret_fact = (struct weft__fact){
		.time_ns = event->time_ns,
		.offset = event->offset,
		.value = event->value,
		.task = WEFT_NONE,
		.other = WEFT_NONE,
		.text = WEFT_NONE,
		.thread = event->thread,
		.buffer = event->buffer,
		.kind = event->kind,
		.type = event->type,
		.is_gc = event->band == WEFT_BAND_GC,
		.is_rundown = event->is_rundown,
		.flag = event->flag,
		.has_value = event->has_value,
		.is_set = event->is_set,
		.is_real = event->is_real,
	};
	int error = identify(identities, event, WEFT_SLOT_TASK, event->task, &ret_fact->task);
	if (!error)
		error = identify(identities, event, WEFT_SLOT_OTHER, event->other, &ret_fact->other);
	identities->has_begun |= !event->is_rundown;
	if (!error && weft__model_is_of_life(event->type))
		error = weft__model_follow_life(identities, ret_fact);
	if (event->type == WEFT_EVENT_SPAN)
		set_span(ret_fact, event);
	else if (!error && texts && event->kind_name.size)
		error = name_kind(texts, event->kind_name, &ret_fact->kind);
	else if (is_reserved(ret_fact->kind))
		ret_fact->kind = WEFT_KIND_UNKNOWN;
	if (!error && texts && event->category.size && slots[event->type] >> WEFT_SLOT_CATEGORY & 1)
		error = name_category(texts, event->category, ret_fact);
	return error || !texts ? error : intern_text(texts, event, ret_fact);
}
