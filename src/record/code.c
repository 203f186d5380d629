/* SPDX-License-Identifier: ISC
 *
 * Adapters say several things in the table of names. Which code a label names, and in which calls a
 * task waits, for the tool that saves the buffer: that tool may read debug information, which takes
 * time and memory that the program should not lose. And what they could not record.
 */
#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/name.h"
#include "record/put.h"
#include "record/reserve.h"

#define PARTS_MAX 4

static uint32_t format_address(char digits[16], uint64_t address)
{
	for (unsigned i = 0; i < 16; i++)
		digits[i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
	return 16;
}

/* The names of events come first: the last quarter of the table stays theirs. */
static bool has_room(const struct weft__region *region)
{
	uint32_t room = region->names_bytes - region->names_index * 4;
	return weft__load(&region->header->names_used) < room - room / 4;
}

/* Adds the parts with a NUL after each but the first, a prefix, and the last. */
static void add_part(const struct weft__name_part *parts, uint32_t count)
{
	struct weft__name_part with_ends[2 * PARTS_MAX];
	struct weft__self self;
	struct weft__name name = {with_ends, 0, 0};
	for (uint32_t i = 0; i < count; i++) {
		with_ends[name.count++] = parts[i];
		with_ends[name.count++] = (struct weft__name_part){"", i > 0 && i + 1 < count};
		if (parts[i].size > WEFT_ABI_NAME_MAX_BYTES)
			return;
		name.size += parts[i].size + with_ends[name.count - 1].size;
	}
	if (!weft__record_entered_now(&self))
		return;
	const struct weft__region *region = weft__record_region_of(self.slot);
	if (has_room(region))
		weft__record_name_find_or_add_parts(region, &name);
}

static struct weft__name_part part_of(const char *text)
{
	return (struct weft__name_part){text, weft__record_measure_name(text, WEFT__C_STRING)};
}

WEFT__EXPORT void weft__code(const char *name, size_t size, const char *file, uint64_t address)
{
	char digits[16];
	const struct weft__name_part parts[] = {{WEFT_ABI_CODE_PREFIX, WEFT_ABI_CODE_PREFIX_BYTES},
		{name, weft__record_bounded(size)}, part_of(file),
		{digits, format_address(digits, address)}};
	add_part(parts, 4);
}

/* A text that is too long is left out, as in weft__code. */
WEFT__EXPORT void weft__unseen(const char *key, const char *what)
{
	const struct weft__name_part parts[] = {
		{WEFT_ABI_UNSEEN_PREFIX, WEFT_ABI_UNSEEN_PREFIX_BYTES}, part_of(key), part_of(what)};
	add_part(parts, 3);
}

/* ---- Calls in which a task waits ---- */

static uint32_t generation_of(const struct weft__self *self)
{
	return (uint32_t)weft__record_entered_generation(self);
}

static uint16_t find_or_add(
	const struct weft__self *self, const struct weft__name_part *parts, uint32_t count)
{
	const struct weft__region *region = weft__record_region_of(self->slot);
	struct weft__name name = {parts, count, 0};
	for (uint32_t i = 0; i < count; i++)
		name.size += parts[i].size;
	return has_room(region) ? weft__record_name_find_or_add_parts(region, &name) : 0;
}

WEFT__EXPORT uint16_t weft__module(const char *file, const char *build_id, uint32_t *ret_generation)
{
	const struct weft__name_part parts[] = {{WEFT_ABI_MODULE_PREFIX, WEFT_ABI_MODULE_PREFIX_BYTES},
		part_of(file), {"\t", 1}, part_of(build_id)};
	struct weft__self self;
	if (parts[1].size > WEFT_ABI_NAME_MAX_BYTES || parts[3].size > WEFT_ABI_NAME_MAX_BYTES ||
		!weft__record_entered_now(&self))
		return 0;
	*ret_generation = generation_of(&self);
	return find_or_add(&self, parts, 4);
}

WEFT__EXPORT bool weft__stack_name(
	uint64_t *cache, uint32_t generation, const char *calls, size_t size)
{
	const struct weft__name_part parts[] = {
		{WEFT_ABI_STACK_PREFIX, WEFT_ABI_STACK_PREFIX_BYTES}, {calls, weft__record_bounded(size)}};
	struct weft__self self;
	if (!weft__record_entered_now(&self))
		return false;
	if (weft__record_name_cached(&self, cache))
		return true;
	if (!calls || parts[1].size > WEFT_ABI_NAME_MAX_BYTES || generation_of(&self) != generation)
		return false;
	uint16_t name = find_or_add(&self, parts, 2);
	weft__record_name_remember(&self, cache, name);
	return name != 0;
}

WEFT__EXPORT void weft__stack(const uint64_t *cache)
{
	struct weft__self self;
	if (!weft__record_entered_now(&self))
		return;
	uint16_t name = weft__record_name_cached(&self, cache);
	if (name)
		weft__record_put_words_in(self.slot, 1, WEFT_ABI_HEAD(WEFT_ABI_STACK, 1, name), 0, 0);
}
