/* SPDX-License-Identifier: ISC
 *
 * The reader's own copy of the table of names. The table may be in another program's memory, and a
 * name that changes between the check for control characters and its output could put them on a
 * terminal. So text is copied before it is examined.
 *
 * The copy has the table's size. It is filled unit by unit when a name is first looked up, and a
 * unit is copied only once: so a slice that was handed out never changes, even if the names of a
 * hostile table overlap.
 */
#include <stdlib.h>

#include "abi/name_abi.h"
#include "base/little_endian.h"
#include "format/live_memory.h"
#include "format/weft/buffer.h"

enum {
	UNITS_MAX = WEFT_ABI_NAMES_MAX_BYTES / WEFT_ABI_NAME_UNIT + 1,
};

struct weft__names {
	uint8_t *bytes;
	uint64_t has_unit[(UNITS_MAX + 63) / 64]; /* a bit per unit: it is copied */
	uint16_t whole[UNITS_MAX]; /* per unit: 1 + the size of the name there if it is copied whole */
};

int weft__format_buffer_keep_names(struct weft__buffer *b)
{
	struct weft__names *own = calloc(1, sizeof(*own));
	if (!own)
		return WEFT_ERROR_MEMORY;
	if (b->names_bytes > WEFT_ABI_NAMES_MAX_BYTES)
		b->names_bytes = WEFT_ABI_NAMES_MAX_BYTES;
	own->bytes = calloc(1, (size_t)b->names_bytes + 1);
	b->own_names = own;
	b->stacks = weft__format_stacks_create();
	if (own->bytes && b->stacks)
		return 0;
	weft__format_buffer_drop_names(b);
	return WEFT_ERROR_MEMORY;
}

void weft__format_buffer_drop_names(struct weft__buffer *b)
{
	if (b->own_names)
		free(b->own_names->bytes);
	free(b->own_names);
	weft__format_stacks_destroy(b->stacks);
	b->own_names = NULL;
	b->stacks = NULL;
}

static bool has_bit(const uint64_t *bits, size_t unit)
{
	return bits[unit / 64] >> unit % 64 & 1;
}

static void set_bit(uint64_t *bits, size_t unit)
{
	bits[unit / 64] |= (uint64_t)1 << unit % 64;
}

static void copy_unit(const struct weft__buffer *b, size_t unit)
{
	struct weft__names *own = b->own_names;
	size_t at = unit * WEFT_ABI_NAME_UNIT, left = (size_t)b->names_bytes - at;
	if (has_bit(own->has_unit, unit))
		return;
	weft__format_live_copy(
		own->bytes + at, b->names + at, left < WEFT_ABI_NAME_UNIT ? left : WEFT_ABI_NAME_UNIT);
	set_bit(own->has_unit, unit);
}

/* Copies the name at `at` and returns its size, or UINT32_MAX if the size is impossible. The caller
 * has checked that the name's head fits. */
static uint32_t copy_entry(const struct weft__buffer *b, size_t at)
{
	struct weft__names *own = b->own_names;
	size_t unit = at / WEFT_ABI_NAME_UNIT, first = unit;
	uint8_t head[sizeof(struct weft_abi_name)];
	if (!has_bit(own->has_unit, unit)) {
		weft__format_live_copy(head, b->names + at, sizeof(head));
		if (weft__load_u64(head) == 0)
			return 0; /* not kept: the entry may be filled later */
	}
	copy_unit(b, unit);
	uint32_t size = weft__load_u32(own->bytes + at + offsetof(struct weft_abi_name, size));
	if (size > WEFT_ABI_NAME_MAX_BYTES || size > b->names_bytes - at - sizeof(head))
		return UINT32_MAX;
	for (size_t last = (at + sizeof(head) + size - 1) / WEFT_ABI_NAME_UNIT; unit < last;)
		copy_unit(b, ++unit);
	own->whole[first] = (uint16_t)(size + 1);
	return size;
}

struct weft_slice weft__format_buffer_name(const struct weft__buffer *b, unsigned id)
{
	uint64_t at = (uint64_t)(id - 1) * WEFT_ABI_NAME_UNIT;
	const struct weft__names *own = b->own_names;
	if (id == 0 || !own || at + sizeof(struct weft_abi_name) > b->names_bytes)
		return (struct weft_slice){NULL, 0};
	const uint8_t *entry = own->bytes + at;
	uint32_t size = own->whole[id - 1] ? own->whole[id - 1] - 1u : copy_entry(b, (size_t)at);
	if (size == UINT32_MAX)
		return (struct weft_slice){NULL, 0};
	return (struct weft_slice){(const char *)entry + sizeof(struct weft_abi_name), size};
}
