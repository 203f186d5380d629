/* SPDX-License-Identifier: ISC
 *
 * Growth of a hash index: at two thirds full it doubles, and asks its owner for all hashes again,
 * which saves storing them.
 */
#include "base/index.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

enum {
	FIRST_SLOTS = 64,
};

static uint32_t *create_slots(size_t count)
{
	uint32_t *slots = malloc(count * sizeof(*slots));
	if (slots)
		memset(slots, 0xff, count * sizeof(*slots)); /* WEFT__INDEX_EMPTY */
	return slots;
}

int weft__index_init(struct weft__index *index)
{
	*index = (struct weft__index){
		.slots = create_slots(FIRST_SLOTS), .mask = FIRST_SLOTS - 1, .key = weft__hash_key()};
	return index->slots ? 0 : WEFT_ERROR_MEMORY;
}

void weft__index_finish(struct weft__index *index)
{
	free(index->slots);
	*index = (struct weft__index){0};
}

static void put(struct weft__index *index, uint32_t value, uint64_t hash)
{
	uint32_t slot = weft__index_start(index, hash);
	while (index->slots[slot] != WEFT__INDEX_EMPTY)
		slot = weft__index_next(index, slot);
	index->slots[slot] = value;
}

static int grow(struct weft__index *index, weft__index_hash *hash, const void *owner)
{
	struct weft__index bigger = *index;
	if (index->mask > UINT32_MAX / 4)
		return WEFT_ERROR_LIMIT;
	bigger.mask = index->mask * 2 + 1;
	bigger.slots = create_slots((size_t)bigger.mask + 1);
	if (!bigger.slots)
		return WEFT_ERROR_MEMORY;
	for (size_t i = 0; i <= index->mask; i++) {
		uint32_t value = index->slots[i];
		if (value != WEFT__INDEX_EMPTY)
			put(&bigger, value, hash(&index->key, owner, value));
	}
	free(index->slots);
	*index = bigger;
	return 0;
}

int weft__index_add(
	struct weft__index *index, uint32_t value, weft__index_hash *hash, const void *owner)
{
	if (index->count >= index->mask - index->mask / 3) {
		int error = grow(index, hash, owner);
		if (error)
			return error;
	}
	put(index, value, hash(&index->key, owner, value));
	index->count++;
	return 0;
}
