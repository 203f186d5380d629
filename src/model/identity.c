/* SPDX-License-Identifier: ISC
 *
 * Identity: from (buffer, id) to a dense number, in the order of first mention.
 */
#include <stdlib.h>

#include "base/array.h"
#include "model/builder.h"

/* A guess that is wrong as often as one time in this many is not worth it. */
#define GUESS_PENALTY    3
#define GUESS_CONFIDENCE 3000

/* Neighbouring ids share a cache line of the index; the rest is mixed. */
static uint64_t hash_id(uint32_t buffer, uint64_t id)
{
	return (weft__index_mix((id >> 4) ^ ((uint64_t)buffer << 40)) & ~(uint64_t)15) | (id & 15);
}

uint32_t weft__task_find(const struct weft__index *index, const uint64_t *ids,
	const uint32_t *buffers, uint32_t buffer, uint64_t id)
{
	uint32_t slot = weft__index_start(index, hash_id(buffer, id)), task;
	while ((task = index->slots[slot]) != WEFT__INDEX_EMPTY) {
		if (ids[task] == id && buffers[task] == buffer)
			return task;
		slot = weft__index_next(index, slot);
	}
	return WEFT_NONE;
}

static uint64_t hash_task(const void *owner, uint32_t task)
{
	const struct weft__identities *identities = owner;
	return hash_id(identities->buffer[task], identities->id[task]);
}

int weft__identities_init(struct weft__identities *identities)
{
	identities->guess_confidence = GUESS_CONFIDENCE;
	return weft__index_init(&identities->by_id);
}

void weft__identities_finish(struct weft__identities *identities)
{
	free(identities->id);
	free(identities->buffer);
	weft__index_finish(&identities->by_id);
	*identities = (struct weft__identities){0};
}

static int add(
	struct weft__identities *identities, uint32_t buffer, uint64_t id, uint32_t *ret_task)
{
	const struct weft__column columns[] = {
		{&identities->id, sizeof(*identities->id)},
		{&identities->buffer, sizeof(*identities->buffer)},
	};
	uint32_t task = identities->count;
	/* Two numbers stay free for RUNNING_UNKNOWN and RUNNING_IDLE. */
	int error = task >= RUNNING_UNKNOWN - 1
					? WEFT_ERROR_LIMIT
					: weft__columns_reserve(columns, 2, &identities->capacity, task + (size_t)1);
	if (error)
		return error;
	identities->id[task] = id;
	identities->buffer[task] = buffer;
	error = weft__index_add(&identities->by_id, task, hash_task, identities);
	if (error)
		return error;
	identities->count++;
	*ret_task = task;
	return 0;
}

/* The index costs two reads of memory that nothing foretells. Where tasks are in the order of their
 * ids, as after one look at a few thousand of them, the guess costs none. */
static uint32_t guess_task(struct weft__identities *identities, uint32_t buffer, uint64_t id)
{
	uint64_t task = id - identities->guess_less;
	if (identities->guess_confidence < 0)
		return WEFT_NONE;
	if (task < identities->count && identities->id[task] == id &&
		identities->buffer[task] == buffer) {
		identities->guess_confidence += identities->guess_confidence < GUESS_CONFIDENCE;
		return (uint32_t)task;
	}
	return WEFT_NONE;
}

static void learn_guess(struct weft__identities *identities, uint32_t task, uint64_t id)
{
	identities->guess_less = id - task;
	if (identities->guess_confidence >= 0)
		identities->guess_confidence -= GUESS_PENALTY;
	if (identities->guess_confidence < 0)
		identities->guess_confidence = -1;
}

int weft__identify(
	struct weft__identities *identities, uint32_t buffer, uint64_t id, uint32_t *ret_task)
{
	uint32_t task = guess_task(identities, buffer, id);
	if (task == WEFT_NONE) {
		task = weft__task_find(&identities->by_id, identities->id, identities->buffer, buffer, id);
		if (task == WEFT_NONE)
			return add(identities, buffer, id, ret_task);
		learn_guess(identities, task, id);
	}
	*ret_task = task;
	return 0;
}

int weft__identities_cut(struct weft__identities *identities, uint32_t count)
{
	struct weft__index index;
	int error = identities->count > count ? weft__index_init(&index) : 0;
	if (error || identities->count <= count)
		return error;
	for (uint32_t task = 0; task < count && !error; task++)
		error = weft__index_add(&index, task, hash_task, identities);
	if (error) {
		weft__index_finish(&index);
		return error;
	}
	weft__index_finish(&identities->by_id);
	identities->by_id = index;
	identities->count = count;
	return 0;
}
