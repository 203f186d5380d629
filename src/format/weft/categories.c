/* SPDX-License-Identifier: ISC
 *
 * Copies categories with their texts, because a running program may change them. There are few, so
 * the copy is cheap.
 */
#include "format/weft/categories.h"

#include <string.h>

#include "base/little_endian.h"

#define AT(field)        offsetof(struct weft_abi_buffer, field)
#define CHANGE_AT(field) offsetof(struct weft_abi_change, field)

/* Copies a text, cut to fit the room, but not in the middle of a character. */
static void copy_text(char *to, size_t room, struct weft_slice text)
{
	size_t size = text.bytes ? text.size : 0;
	if (size >= room) {
		size = room - 1;
		while (size > 0 && ((unsigned char)text.bytes[size] & 0xc0) == 0x80)
			size--;
	}
	memset(to, 0, room);
	if (size)
		memcpy(to, text.bytes, size);
}

static void read_category(const struct weft__buffer *buffer, uint8_t number, uint32_t ids,
	struct weft_trace_category *category)
{
	copy_text(
		category->name, sizeof(category->name), weft__format_buffer_name(buffer, ids & 0xffff));
	copy_text(category->description, sizeof(category->description),
		weft__format_buffer_name(buffer, ids >> 16));
	category->number = number;
	category->level = buffer->bytes[AT(levels) + number];
}

/* Skips entries that were claimed but not completed. */
static void read_changes(const struct weft__buffer *buffer, struct weft__categories *categories)
{
	uint32_t count = weft__load_u32(buffer->bytes + AT(changes_count));
	uint32_t kept = count < WEFT_ABI_CHANGES ? count : WEFT_ABI_CHANGES;
	for (uint32_t number = count - kept; number != count; number++) {
		const uint8_t *at = buffer->bytes + AT(changes) +
							number % WEFT_ABI_CHANGES * sizeof(struct weft_abi_change);
		if (weft__load_u32(at + CHANGE_AT(number)) != number + 1)
			continue;
		__atomic_thread_fence(__ATOMIC_ACQUIRE); /* the number was stored last */
		categories->changes[categories->change_count++] = (struct weft_trace_change){
			.time_ns =
				weft__format_ticks_to_ns(&buffer->clock, weft__load_u64(at + CHANGE_AT(ticks))),
			.category = at[CHANGE_AT(category)],
			.level = at[CHANGE_AT(level)],
		};
	}
}

void weft__format_categories_read(
	const struct weft__buffer *buffer, struct weft__categories *ret_categories)
{
	ret_categories->count = 0;
	ret_categories->change_count = 0;
	for (uint32_t number = 0; number < WEFT_ABI_LEVELS; number++) {
		uint32_t ids = weft__load_u32(buffer->bytes + AT(categories) + number * sizeof(uint32_t));
		if (ids & 0xffff)
			read_category(
				buffer, (uint8_t)number, ids, &ret_categories->list[ret_categories->count++]);
	}
	read_changes(buffer, ret_categories);
}
