/* SPDX-License-Identifier: ISC
 *
 * A hash index: finds the number of an entry by its hash, while the entries themselves stay in
 * their owner's columns. Its secret key makes the slots of a hostile trace's keys unpredictable
 * (hash.h). 4 bytes a slot, open addressing, linear probing.
 *
 *     uint32_t slot = weft__index_start(&index, hash of it under index.key), value;
 *     while ((value = index.slots[slot]) != WEFT__INDEX_EMPTY) {
 *         if (it is the one)
 *             …
 *         slot = weft__index_next(&index, slot);
 *     }
 */
#ifndef WEFT_BASE_INDEX_H
#define WEFT_BASE_INDEX_H

#include <stdint.h>

#include "base/hash.h"

#define WEFT__INDEX_EMPTY UINT32_MAX

struct weft__index {
	uint32_t *slots;
	uint32_t mask; /* slots - 1 */
	uint32_t count;
	struct weft__hash_key key;
};

/* The hash of number `value`, as the owner knows it, under the index's key. */
typedef uint64_t weft__index_hash(
	const struct weft__hash_key *key, const void *owner, uint32_t value);

int weft__index_init(struct weft__index *index);
void weft__index_finish(struct weft__index *index);

/* Adds `value`, which must not be there, under its hash. */
int weft__index_add(
	struct weft__index *index, uint32_t value, weft__index_hash *hash, const void *owner);

static inline uint32_t weft__index_start(const struct weft__index *index, uint64_t hash)
{
	return (uint32_t)hash & index->mask;
}

static inline uint32_t weft__index_next(const struct weft__index *index, uint32_t slot)
{
	return (slot + 1) & index->mask;
}

#endif
