/* SPDX-License-Identifier: ISC
 *
 * Events with typed values: labelf, notef and mark. Nothing is formatted here; the event has the
 * format or the names, the types and the values, and the reader formats them.
 */
#include <string.h>

#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/name.h"
#include "record/reserve.h"
#include "record/text.h"

static uint64_t describe_types(unsigned count, const struct weft_value *values)
{
	uint64_t types = count;
	for (unsigned i = 0; i < count; i++)
		types |= (uint64_t)(values[i].type & 0xf) << (4 + 4 * i);
	return types;
}

static void add_values(struct weft__draft *draft, unsigned count, const struct weft_value *values)
{
	for (unsigned i = 0; i < count; i++) {
		if (values[i].type == WEFT_ABI_VALUE_TEXT)
			weft__record_draft_text(draft, values[i].is.text, values[i].size, count - i - 1);
		else
			weft__record_draft_word(draft, values[i].is.u64);
	}
}

/* The word of types; 0 if a value is text, whose length must be measured first. */
WEFT__ALWAYS_INLINE uint64_t types_of_numbers(unsigned count, const struct weft_value *values)
{
	uint64_t types = count;
	for (unsigned i = 0; i < count; i++) {
		if (values[i].type == WEFT_ABI_VALUE_TEXT)
			return 0;
		types |= (uint64_t)(values[i].type & 0xf) << (4 + 4 * i);
	}
	return types;
}

WEFT__ALWAYS_INLINE void put_numbers_at(const struct weft__room *room, uint64_t head,
	uint64_t types, unsigned count, const struct weft_value *values)
{
	weft__record_store_head(room, head);
	weft__store(&room->at[1], types);
	for (unsigned i = 0; i < count; i++)
		weft__store(&room->at[2 + i], values[i].is.u64);
	weft__record_commit(room, 2 + count);
}

/* The fast path: only numbers, a cached name, the current task, and room. */
WEFT__ALWAYS_INLINE bool put_cached(unsigned kind, uint64_t task, const uint64_t *cache,
	unsigned count, const struct weft_value *values)
{
	struct weft__room room;
	if (!cache || task != WEFT_TASK_CURRENT || count - 1 >= WEFT_ABI_VALUES_MAX)
		return false;
	uint64_t types = types_of_numbers(count, values);
	if (!types || WEFT__UNLIKELY(!weft__record_try_reserve(2 + count, &room)))
		return false;
	uint16_t name = weft__record_name_cached_now(room.slot, cache);
	if (WEFT__UNLIKELY(!name)) {
		weft__record_withdraw(&room);
		return false;
	}
	put_numbers_at(&room, WEFT_ABI_HEAD(kind, 2 + count, name), types, count, values);
	return true;
}

/* The same with any clock; false without a name. */
static bool put_numbers(struct weft_abi_slot *slot, unsigned kind, uint64_t task, uint16_t name,
	unsigned count, const struct weft_value *values)
{
	if (!name || task != WEFT_TASK_CURRENT || count - 1 >= WEFT_ABI_VALUES_MAX)
		return false;
	uint64_t types = types_of_numbers(count, values);
	if (!types)
		return false;
	struct weft__room room = weft__record_reserve_in(slot, 2 + count);
	if (room.slot)
		put_numbers_at(&room, WEFT_ABI_HEAD(kind, 2 + count, name), types, count, values);
	return true;
}

/* `bytes` go into the event if they have no name. */
static WEFT__OUT_OF_LINE void put_values(struct weft_abi_slot *slot, unsigned kind, uint64_t task,
	uint16_t name, const char *bytes, uint32_t size, unsigned count,
	const struct weft_value *values)
{
	WEFT__DRAFT(draft, 4 + WEFT_ABI_VALUES_MAX, 1 + WEFT_ABI_VALUES_MAX);
	count = count < WEFT_ABI_VALUES_MAX ? count : WEFT_ABI_VALUES_MAX;
	weft__record_draft_begin(&draft, kind, task);
	draft.words[0] |= (uint64_t)name << 48;
	weft__record_draft_word(&draft, describe_types(count, values));
	if (!name &&
		(size > WEFT_ABI_NAME_MAX_BYTES || !weft__record_draft_bytes(&draft, bytes, size))) {
		weft__record_count_loss(slot, WEFT_ABI_LOSS_TOO_BIG);
		return;
	}
	add_values(&draft, count, values);
	weft__record_draft_put_in(slot, &draft);
}

static WEFT__OUT_OF_LINE void formatted_slowly(uint64_t task, uint64_t *cache, const char *format,
	uint32_t most, unsigned count, const struct weft_value *values, unsigned kind)
{
	struct weft__self self;
	if (!weft__record_entered_now(&self))
		return;
	uint16_t name = weft__record_name_of(&self, cache, format, most);
	if (put_numbers(self.slot, kind, task, name, count, values))
		return;
	uint32_t size = name ? 0 : weft__record_measure_name(format, most);
	put_values(self.slot, kind, task, name, format, size, count, values);
}

WEFT__ALWAYS_INLINE void put_formatted(unsigned kind, uint64_t task, uint64_t *cache,
	const char *format, uint32_t size, unsigned count, const struct weft_value *values)
{
	if (!put_cached(kind, task, cache, count, values))
		formatted_slowly(task, cache, format, size, count, values, kind);
}

void weft__record_formatted(unsigned kind, uint64_t task, uint64_t *cache, const char *format,
	uint32_t size, unsigned count, const struct weft_value *values)
{
	put_formatted(kind, task, cache, format, size, count, values);
}

#define WEFT__TEXT(name, event, meaning)                                                        \
	WEFT__EXPORT void weft__##name##f(uint64_t task, uint64_t *cache, const char *format,       \
		unsigned count, const struct weft_value *values)                                        \
	{                                                                                           \
		put_formatted(WEFT_ABI_##event##F, task, cache, format, WEFT__C_STRING, count, values); \
	}

#include <weft/calls.def>

/* Joins the names with NULs in between; returns more than a name's maximum size if they don't fit.
 */
static uint32_t join(char *shape, const char *const *names, unsigned count)
{
	uint32_t size = 0;
	for (unsigned i = 0; i < count; i++) {
		uint32_t room = WEFT_ABI_NAME_MAX_BYTES - size;
		uint32_t length = weft__record_measure(names[i], room);
		if (length == room)
			return WEFT_ABI_NAME_MAX_BYTES + 1;
		memcpy(shape + size, names[i], length + 1);
		size += length + 1;
	}
	return size - 1;
}

/* Records a mark whose name is not cached yet, one with text values, and other cases. */
static WEFT__OUT_OF_LINE void put_shape(const struct weft__self *self, uint64_t task,
	uint64_t *cache, const char *shape, uint32_t size, unsigned count,
	const struct weft_value *values)
{
	uint16_t name = 0;
	if (size <= WEFT_ABI_NAME_MAX_BYTES)
		name = weft__record_name_intern(self->slot, shape, size);
	if (cache)
		weft__record_name_remember(self, cache, name);
	if (!put_numbers(self->slot, WEFT_ABI_MARK, task, name, count, values))
		put_values(self->slot, WEFT_ABI_MARK, task, name, shape, size, count, values);
}

/* False if the name is not cached. */
static bool put_with_cache(const struct weft__self *self, uint64_t task, const uint64_t *cache,
	unsigned count, const struct weft_value *values)
{
	uint16_t name = cache ? weft__record_name_cached(self, cache) : 0;
	if (name && !put_numbers(self->slot, WEFT_ABI_MARK, task, name, count, values))
		put_values(self->slot, WEFT_ABI_MARK, task, name, NULL, 0, count, values);
	return name != 0;
}

static WEFT__OUT_OF_LINE void mark_slowly(uint64_t task, uint64_t *cache, const char *const *names,
	unsigned count, const struct weft_value *values)
{
	char shape[WEFT_ABI_NAME_MAX_BYTES];
	struct weft__self self;
	if (!weft__record_entered_now(&self) || put_with_cache(&self, task, cache, count, values))
		return;
	put_shape(&self, task, cache, shape, join(shape, names, count + 1), count, values);
}

static WEFT__OUT_OF_LINE void shape_slowly(uint64_t task, uint64_t *cache, const char *shape,
	uint32_t size, unsigned count, const struct weft_value *values)
{
	struct weft__self self;
	if (weft__record_entered_now(&self) && !put_with_cache(&self, task, cache, count, values))
		put_shape(&self, task, cache, shape, size, count, values);
}

void weft__record_mark(uint64_t task, uint64_t *cache, const char *shape, uint32_t size,
	unsigned count, const struct weft_value *values)
{
	if (!put_cached(WEFT_ABI_MARK, task, cache, count, values))
		shape_slowly(task, cache, shape ? shape : "", shape ? size : 0, count, values);
}

WEFT__EXPORT void weft__mark(uint64_t task, uint64_t *cache, const char *const *names,
	unsigned count, const struct weft_value *values)
{
	if (!put_cached(WEFT_ABI_MARK, task, cache, count, values))
		mark_slowly(task, cache, names, count, values);
}
