/* SPDX-License-Identifier: ISC
 *
 * A table for ids that lie close together, an index of hashes for the others.
 */
#include "model/identity.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>
#include <weft/model.h>

#include "base/array.h"

/* The table may have TABLE_SHARE entries for each task and TABLE_SLACK more. */
#define TABLE_SHARE 4
#define TABLE_SLACK 4096

/* Sixteen neighbouring ids share a cache line of the index. */
static uint64_t hash_id(const struct weft__hash_key *key, uint32_t buffer, weft_task_id id)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, id >> 4);
	weft__hash_word(&hash, buffer);
	return (weft__hash_end(&hash) & ~(uint64_t)15) | (id & 15);
}

static uint64_t hash_task(const struct weft__hash_key *key, const void *owner, uint32_t task)
{
	const struct weft__identities *identities = owner;
	return hash_id(key, identities->buffer[task], identities->id[task]);
}

uint32_t weft__model_ids_find(const struct weft__ids *ids, const weft_task_id *id_of,
	const uint32_t *buffer_of, uint32_t buffer, weft_task_id id)
{
	uint32_t known = weft__model_ids_in_table(ids, buffer, id);
	if (known != WEFT_NONE || ids->index.count == 0)
		return known;
	uint32_t slot = weft__index_start(&ids->index, hash_id(&ids->index.key, buffer, id)), task;
	while ((task = ids->index.slots[slot]) != WEFT__INDEX_EMPTY) {
		if (id_of[task] == id && buffer_of[task] == buffer)
			return task;
		slot = weft__index_next(&ids->index, slot);
	}
	return WEFT_NONE;
}

void weft__model_ids_finish(struct weft__ids *ids)
{
	free(ids->table);
	weft__index_finish(&ids->index);
	*ids = (struct weft__ids){0};
}

int weft__model_identities_init(struct weft__identities *identities)
{
	return weft__index_init(&identities->by_id.index);
}

void weft__model_identities_finish(struct weft__identities *identities)
{
	if (identities->shared) {
		weft__shared_release(identities->shared);
	} else {
		free(identities->id);
		free(identities->buffer);
	}
	weft__model_ids_finish(&identities->by_id);
	free(identities->lives);
	*identities = (struct weft__identities){0};
}

/* True if an id belongs in the table, which begins a little before the first id that is no
 * track's. */
static bool fits_table(struct weft__ids *ids, uint32_t count, weft_task_id id)
{
	if (ids->room == 0 && id >= WEFT_TRACK_FIRST)
		return false;
	if (ids->room == 0)
		ids->first = id > TABLE_SLACK / 4 ? id - TABLE_SLACK / 4 : 0;
	uint64_t index = id - ids->first;
	return index < ids->room || index < TABLE_SHARE * (uint64_t)count + TABLE_SLACK;
}

static int grow_table(struct weft__ids *ids, size_t need)
{
	size_t room = weft__array_next_capacity(ids->room, need);
	int error = weft__array_resize(&ids->table, room, sizeof(*ids->table));
	if (error)
		return error;
	memset(ids->table + ids->room, 0, (room - ids->room) * sizeof(*ids->table));
	ids->room = room;
	return 0;
}

/* Gives the id of an earlier task to a later one. */
static void replace(struct weft__identities *identities, uint32_t earlier, uint32_t task)
{
	struct weft__ids *ids = &identities->by_id;
	const weft_task_id id = identities->id[task];
	if (weft__model_ids_in_table(ids, identities->buffer[task], id) == earlier) {
		ids->table[id - ids->first] = task + 1;
		return;
	}
	uint32_t slot = weft__index_start(&ids->index, hash_task(&ids->index.key, identities, task));
	while (ids->index.slots[slot] != earlier)
		slot = weft__index_next(&ids->index, slot);
	ids->index.slots[slot] = task;
}

static int enter(struct weft__identities *identities, uint32_t task)
{
	struct weft__ids *ids = &identities->by_id;
	weft_task_id id = identities->id[task];
	int error = 0;
	if (identities->buffer[task] || !fits_table(ids, task, id))
		return weft__index_add(&ids->index, task, hash_task, identities);
	size_t index = (size_t)(id - ids->first);
	if (index >= ids->room)
		error = grow_table(ids, index + 1);
	if (!error)
		ids->table[index] = task + 1;
	return error;
}

#define COLUMNS(identities)                                         \
	{                                                               \
		{&(identities)->id, sizeof(*(identities)->id)},             \
			{&(identities)->buffer, sizeof(*(identities)->buffer)}, \
	}

struct weft__shared *weft__model_identities_hold(struct weft__identities *identities)
{
	const struct weft__column columns[] = COLUMNS(identities);
	return weft__shared_hold(&identities->shared, columns, 2);
}

int weft__model_identities_own(struct weft__identities *identities)
{
	const struct weft__column columns[] = COLUMNS(identities);
	return weft__shared_own(&identities->shared, columns, 2, identities->capacity);
}

static int reserve(struct weft__identities *identities)
{
	const struct weft__column columns[] = COLUMNS(identities);
	if (identities->count < identities->capacity)
		return 0;
	int error = weft__model_identities_own(identities);
	if (error)
		return error;
	return weft__columns_reserve(columns, 2, &identities->capacity, identities->count + (size_t)1);
}

/* `earlier` has the id now, or is WEFT_NONE. */
static int add_id(struct weft__identities *identities, uint32_t buffer, weft_task_id id,
	uint32_t earlier, uint32_t *ret_task)
{
	uint32_t task = identities->count;
	int error = task >= WEFT__TASKS_MAX ? WEFT_ERROR_LIMIT : reserve(identities);
	if (error)
		return error;
	identities->id[task] = id;
	identities->buffer[task] = buffer;
	if (earlier != WEFT_NONE)
		replace(identities, earlier, task);
	else
		error = enter(identities, task);
	if (error)
		return error;
	identities->count++;
	*ret_task = task;
	return 0;
}

int weft__model_identify_any(
	struct weft__identities *identities, uint32_t buffer, weft_task_id id, uint32_t *ret_task)
{
	uint32_t task =
		weft__model_ids_find(&identities->by_id, identities->id, identities->buffer, buffer, id);
	if (task == WEFT_NONE)
		return add_id(identities, buffer, id, WEFT_NONE, ret_task);
	*ret_task = task;
	return 0;
}

/* ---- Ids that are used again ---- */

/* The lives of tasks, a byte each. */
enum {
	CREATED = 1 << 0,
	ENDED = 1 << 1,
};

static uint8_t life_of(const struct weft__identities *identities, uint32_t task)
{
	return task < identities->lives_bytes ? identities->lives[task] : 0;
}

static int mark(struct weft__identities *identities, uint32_t task, uint8_t life)
{
	const size_t before = identities->lives_bytes;
	if (task >= before) {
		size_t bytes = weft__array_next_capacity(before, task + (size_t)1);
		int error = weft__array_resize(&identities->lives, bytes, 1);
		if (error)
			return error;
		memset(identities->lives + before, 0, bytes - before);
		identities->lives_bytes = bytes;
	}
	identities->lives[task] |= life;
	return 0;
}

int weft__model_identities_begin(struct weft__identities *identities, uint32_t task)
{
	return mark(identities, task, CREATED);
}

int weft__model_identities_end(struct weft__identities *identities, uint32_t task)
{
	return mark(identities, task, ENDED);
}

/* Events of two threads may have one time, so the end of a task may come before its creation. */
int weft__model_identities_create(struct weft__identities *identities, uint32_t *task)
{
	int error = 0;
	if (life_of(identities, *task) == (CREATED | ENDED))
		error = add_id(identities, identities->buffer[*task], identities->id[*task], *task, task);
	return error ? error : mark(identities, *task, CREATED);
}

/* Drops the lives of tasks from `count` on. */
static void forget_lives(struct weft__identities *identities, uint32_t count)
{
	if (count < identities->lives_bytes)
		memset(identities->lives + count, 0, identities->lives_bytes - count);
}

/* Enters a task, which may have the id of an earlier one. */
static int enter_next(struct weft__identities *identities, uint32_t task)
{
	uint32_t earlier = weft__model_ids_find(&identities->by_id, identities->id, identities->buffer,
		identities->buffer[task], identities->id[task]);
	if (earlier == WEFT_NONE)
		return enter(identities, task);
	replace(identities, earlier, task);
	return 0;
}

/* Rebuilds table and index from the first `count` ids. */
static int enter_again(struct weft__identities *identities, uint32_t count)
{
	struct weft__ids whole = identities->by_id;
	identities->by_id = (struct weft__ids){0};
	int error = weft__index_init(&identities->by_id.index);
	for (uint32_t task = 0; task < count && !error; task++)
		error = enter_next(identities, task);
	weft__model_ids_finish(&whole);
	identities->count = count;
	forget_lives(identities, count);
	return error;
}

int weft__model_identities_cut(struct weft__identities *identities, uint32_t count)
{
	return identities->count <= count ? 0 : enter_again(identities, count);
}

int weft__model_identities_move(struct weft__identities *identities, const uint32_t *new_index)
{
	uint32_t kept = 0;
	for (uint32_t task = 0; task < identities->count; task++) {
		if (new_index[task] == WEFT_NONE)
			continue;
		identities->id[new_index[task]] = identities->id[task];
		identities->buffer[new_index[task]] = identities->buffer[task];
		if (new_index[task] < identities->lives_bytes)
			identities->lives[new_index[task]] = life_of(identities, task);
		kept++;
	}
	return enter_again(identities, kept);
}
