/* SPDX-License-Identifier: ISC
 *
 * Turns Eio's events into weft's. An id is a word of 8 bytes; a type, another id or a text may
 * follow it.
 */
#include "model/slice.h"
#include "format/ocaml/eio.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>
#include <weft/kinds.h>

#include "base/array.h"
#include "base/little_endian.h"

enum eio_event {
	CREATE_OBJECT = 1,
	CREATE_CONTEXT,
	CREATE_FIBER,
	GET,
	TRY_GET,
	PUT,
	ERROR,
	EXIT_CONTEXT,
	EXIT_FIBER,
	NAME,
	LOG,
	ENTER_SPAN,
	EXIT_SPAN,
	FIBER,
	SUSPEND_FIBER,
	SUSPEND_DOMAIN,
	DOMAIN_SPAWN,
};

static const char *const names[] = {
	[CREATE_OBJECT] = "eio.create_obj",
	[CREATE_CONTEXT] = "eio.create_cc",
	[CREATE_FIBER] = "eio.create_fiber",
	[GET] = "eio.get",
	[TRY_GET] = "eio.try_get",
	[PUT] = "eio.put",
	[ERROR] = "eio.error",
	[EXIT_CONTEXT] = "eio.exit_cc",
	[EXIT_FIBER] = "eio.exit_fiber",
	[NAME] = "eio.name",
	[LOG] = "eio.log",
	[ENTER_SPAN] = "eio.enter_span",
	[EXIT_SPAN] = "eio.exit_span",
	[FIBER] = "eio.fiber",
	[SUSPEND_FIBER] = "eio.suspend_fiber",
	[SUSPEND_DOMAIN] = "eio.suspend_domain",
	[DOMAIN_SPAWN] = "eio.domain_spawn",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* A fiber's contexts are searched for among so many that have not ended. */
#define SEARCHED_MAX 256

unsigned weft__format_eio_find(struct weft_slice name)
{
	for (unsigned i = 1; i < COUNT(names); i++)
		if (weft__slice_is(name, names[i]))
			return i;
	return 0;
}

int weft__format_eio_init(struct weft__eio *eio)
{
	return weft__index_init(&eio->index);
}

void weft__format_eio_finish(struct weft__eio *eio)
{
	weft__index_finish(&eio->index);
	free(eio->ids);
	free(eio->kinds);
	free(eio->contexts);
}

/* ---- Objects ---- */

/* Eio's numbers of types. */
static uint16_t kind_of_type(uint8_t type)
{
	switch (type) {
	case 15:
		return WEFT_KIND_PROMISE;
	case 16:
		return WEFT_KIND_SEMAPHORE;
	case 18:
		return WEFT_KIND_CHANNEL;
	case 19:
		return WEFT_KIND_LOCK;
	default:
		return WEFT_KIND_UNKNOWN;
	}
}

static uint64_t hash_of(const struct weft__hash_key *key, const void *owner, uint32_t value)
{
	return weft__hash_u64(key, ((const struct weft__eio *)owner)->ids[value]);
}

static uint16_t kind_of(const struct weft__eio *eio, uint64_t id)
{
	uint32_t slot = weft__index_start(&eio->index, weft__hash_u64(&eio->index.key, id)), value;
	while ((value = eio->index.slots[slot]) != WEFT__INDEX_EMPTY) {
		if (eio->ids[value] == id)
			return eio->kinds[value];
		slot = weft__index_next(&eio->index, slot);
	}
	return WEFT_KIND_UNKNOWN;
}

static int add_object(struct weft__eio *eio, uint64_t id, uint16_t kind)
{
	const struct weft__column columns[] = {
		{&eio->ids, sizeof(*eio->ids)}, {&eio->kinds, sizeof(*eio->kinds)}};
	if (kind_of(eio, id) != WEFT_KIND_UNKNOWN)
		return 0;
	int error = weft__columns_reserve(columns, 2, &eio->capacity, eio->object_count + 1);
	if (error)
		return error;
	eio->ids[eio->object_count] = id;
	eio->kinds[eio->object_count] = kind;
	return weft__index_add(&eio->index, (uint32_t)eio->object_count++, hash_of, eio);
}

/* ---- Contexts ---- */

static int push_context(struct weft__eio *eio, uint64_t id, uint64_t fiber)
{
	const struct weft__column column = {&eio->contexts, sizeof(*eio->contexts)};
	int error = weft__columns_reserve(&column, 1, &eio->context_capacity, eio->context_count + 1);
	if (!error)
		eio->contexts[eio->context_count++] = (struct weft__eio_context){id, fiber};
	return error;
}

/* The innermost context of the fiber ends. False if it is not among the latest. */
static bool pop_context(struct weft__eio *eio, uint64_t fiber, uint64_t *ret_id)
{
	size_t least = eio->context_count > SEARCHED_MAX ? eio->context_count - SEARCHED_MAX : 0;
	for (size_t i = eio->context_count; i-- > least;) {
		if (eio->contexts[i].fiber != fiber)
			continue;
		*ret_id = eio->contexts[i].id;
		memmove(&eio->contexts[i], &eio->contexts[i + 1],
			(eio->context_count - i - 1) * sizeof(*eio->contexts));
		eio->context_count--;
		return true;
	}
	return false;
}

/* ---- Events ---- */

static void set(struct weft_event *event, unsigned type, uint64_t task, uint64_t other)
{
	event->type = (uint8_t)type;
	event->task = task;
	event->other = other;
}

/* A put depends on the object: a value ends a promise, is given back to a semaphore or
 * lock, or wakes those that wait for a stream. */
static void put(const struct weft__eio *eio, uint64_t id, uint64_t fiber, struct weft_event *event)
{
	uint16_t kind = kind_of(eio, id);
	if (kind == WEFT_KIND_SEMAPHORE || kind == WEFT_KIND_LOCK)
		set(event, WEFT_EVENT_RELEASE, fiber, id);
	else if (kind == WEFT_KIND_CHANNEL)
		set(event, WEFT_EVENT_SIGNAL, id, fiber);
	else
		set(event, WEFT_EVENT_RESOLVE, fiber, id);
}

static void get(const struct weft__eio *eio, uint64_t id, uint64_t fiber, struct weft_event *event)
{
	uint16_t kind = kind_of(eio, id);
	bool is_held = kind == WEFT_KIND_SEMAPHORE || kind == WEFT_KIND_LOCK;
	set(event, is_held ? WEFT_EVENT_ACQUIRE : WEFT_EVENT_READ, fiber, id);
}

static int create(
	struct weft__eio *eio, uint16_t kind, uint64_t id, uint64_t fiber, struct weft_event *event)
{
	set(event, WEFT_EVENT_CREATE, fiber, id);
	event->kind = kind;
	return add_object(eio, id, kind);
}

/* Events without an id at their beginning. */
static int read_others(struct weft__eio *eio, unsigned number, const struct weft__ocaml_item *item,
	uint64_t fiber, struct weft_event *event)
{
	uint64_t context;
	switch (number) {
	case LOG:
		set(event, WEFT_EVENT_NOTE, fiber, WEFT_TASK_NONE);
		break;
	case ENTER_SPAN:
		set(event, WEFT_EVENT_BEGIN, fiber, WEFT_TASK_NONE);
		break;
	case SUSPEND_FIBER:
		set(event, WEFT_EVENT_TAG, fiber, WEFT_TASK_NONE);
		break;
	case EXIT_SPAN:
		set(event, WEFT_EVENT_END, fiber, WEFT_TASK_NONE);
		return WEFT_OK;
	case EXIT_CONTEXT:
		if (!pop_context(eio, fiber, &context))
			return WEFT_AGAIN;
		set(event, WEFT_EVENT_RESOLVE, fiber, context);
		return WEFT_OK;
	case SUSPEND_DOMAIN:
		event->type = WEFT_EVENT_BAND;
		event->band = WEFT_BAND_IDLE;
		event->flag = item->type == WEFT__OCAML_SPAN_BEGIN;
		return WEFT_OK;
	default:
		return WEFT_AGAIN;
	}
	event->text = item->bytes;
	return WEFT_OK;
}

static struct weft_slice text_behind_id(const struct weft__ocaml_item *item)
{
	return (struct weft_slice){item->bytes.bytes + 8, item->bytes.size - 8};
}

static int read_by_id(struct weft__eio *eio, unsigned number, const struct weft__ocaml_item *item,
	uint64_t *fiber, struct weft_event *event)
{
	const uint8_t *bytes = (const uint8_t *)item->bytes.bytes;
	uint64_t id = weft__load_u64(bytes);
	int error = 0;
	switch (number) {
	case CREATE_OBJECT:
		return create(eio, item->bytes.size > 8 ? kind_of_type(bytes[8]) : WEFT_KIND_UNKNOWN, id,
			*fiber, event);
	case CREATE_CONTEXT:
		error = push_context(eio, id, *fiber);
		return error ? error : create(eio, WEFT_KIND_SWITCH, id, *fiber, event);
	case CREATE_FIBER:
		return create(eio, WEFT_KIND_TASK, id, *fiber, event);
	case GET:
		get(eio, id, *fiber, event);
		break;
	case TRY_GET:
		set(event, WEFT_EVENT_TRY_READ, *fiber, id);
		break;
	case PUT:
		put(eio, id, *fiber, event);
		break;
	case ERROR:
		set(event, WEFT_EVENT_FAIL, *fiber, id);
		event->text = text_behind_id(item);
		break;
	case EXIT_FIBER:
		set(event, WEFT_EVENT_RESOLVE, id, id);
		break;
	case NAME:
		set(event, WEFT_EVENT_LABEL, id, WEFT_TASK_NONE);
		event->text = text_behind_id(item);
		break;
	case FIBER:
		*fiber = id;
		set(event, WEFT_EVENT_SWITCH, id, WEFT_TASK_NONE);
		break;
	default:
		return WEFT_AGAIN; /* domain_spawn */
	}
	return WEFT_OK;
}

int weft__format_eio_read(struct weft__eio *eio, unsigned number,
	const struct weft__ocaml_item *item, uint64_t *fiber, struct weft_event *event,
	const char **ret_wrong)
{
	*ret_wrong = NULL;
	if (number == LOG || number == ENTER_SPAN || number == EXIT_SPAN || number == EXIT_CONTEXT ||
		number == SUSPEND_FIBER || number == SUSPEND_DOMAIN)
		return read_others(eio, number, item, *fiber, event);
	if (item->bytes.size < 8) {
		*ret_wrong = "an event of Eio lacks its id";
		return WEFT_AGAIN;
	}
	return read_by_id(eio, number, item, fiber, event);
}
