/* SPDX-License-Identifier: ISC
 *
 * Copies categories with their texts, because a running program may change them. There are few, so
 * the copy is cheap.
 */
#include "format/weft/categories.h"

#include <string.h>

#include "abi/category_abi.h"
#include "base/little_endian.h"
#include "format/weft/tables.h"

#define AT(field) offsetof(struct weft_abi_buffer, field)

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

/* A category that is counted has the level 0 for calls that cannot count. */
static uint8_t level_of(const uint8_t *header, uint32_t number)
{
	return header[AT(counting) + number] ? WEFT_ABI_LEVEL_COUNT : header[AT(levels) + number];
}

static void read_category(const struct weft__buffer *buffer, uint8_t number, uint32_t ids,
	uint8_t level, struct weft_trace_category *category)
{
	copy_text(
		category->name, sizeof(category->name), weft__format_buffer_name(buffer, ids & 0xffff));
	copy_text(category->description, sizeof(category->description),
		weft__format_buffer_name(buffer, ids >> 16));
	category->number = number;
	category->level = level;
}

/* The changes are a table of the newest rows, in the header. */
static void read_changes(
	const struct weft__buffer *buffer, const uint8_t *header, struct weft__categories *categories)
{
	const struct weft__live_table table = {
		.entry = {.growth = WEFT_ABI_TABLE_NEWEST,
			.row_bytes = sizeof(struct weft_abi_change),
			.room = WEFT_ABI_CHANGES},
		.rows = header + AT(changes),
		.count = header + AT(changes_count),
	};
	struct weft_abi_change changes[WEFT_ABI_CHANGES];
	uint32_t from = 0;
	categories->change_count = weft__format_table_load(&table, &from, (uint8_t *)changes);
	for (uint32_t i = 0; i < categories->change_count; i++)
		categories->changes[i] = (struct weft_trace_change){
			.time_ns = weft__format_ticks_to_ns(&buffer->clock, changes[i].ticks),
			.category = changes[i].category,
			.level = changes[i].level,
		};
}

void weft__format_categories_read(const struct weft__buffer *buffer,
	struct weft__categories *ret_categories, struct weft_trace_description *description)
{
	/* A stream's last header counts; that of a running program changes. */
	const uint8_t *header = buffer->stream ? buffer->header : buffer->bytes;
	ret_categories->count = 0;
	for (uint32_t number = 0; number < WEFT_ABI_LEVELS; number++) {
		uint32_t ids = weft__load_u32(header + AT(categories) + number * sizeof(uint32_t));
		if (ids & 0xffff)
			read_category(buffer, (uint8_t)number, ids, level_of(header, number),
				&ret_categories->list[ret_categories->count++]);
	}
	read_changes(buffer, header, ret_categories);
	description->categories = ret_categories->list;
	description->category_count = ret_categories->count;
	description->changes = ret_categories->changes;
	description->change_count = ret_categories->change_count;
}
