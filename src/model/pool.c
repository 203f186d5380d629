/* SPDX-License-Identifier: ISC
 *
 * A group's slack follows from its number of rows, so that it need not be stored. Rows are added in
 * batches: a task whose rows all come in one batch never moves.
 */
#include "model/pool.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "model/builder.h"

#define SPARE_SHARE 4 /* after packing, a quarter of the room is unused */

void weft__model_pool_init(struct weft__pool *pool, unsigned column_count, const size_t *bytes)
{
	*pool = (struct weft__pool){.column_count = column_count};
	memcpy(pool->bytes, bytes, column_count * sizeof(*bytes));
}

static unsigned list_columns(struct weft__pool *pool, struct weft__column *ret_columns)
{
	for (unsigned i = 0; i < pool->column_count; i++)
		ret_columns[i] = (struct weft__column){&pool->column[i], pool->bytes[i]};
	return pool->column_count;
}

/* Frees the columns, or leaves them to the snapshots that still read them. */
static void release_columns(struct weft__pool *pool)
{
	if (pool->shared)
		weft__shared_release(pool->shared);
	for (unsigned i = 0; i < pool->column_count && !pool->shared; i++)
		free(pool->column[i]);
	pool->shared = NULL;
}

void weft__model_pool_finish(struct weft__pool *pool)
{
	release_columns(pool);
	free(pool->first);
	free(pool->end);
	free(pool->need);
	*pool = (struct weft__pool){0};
}

int weft__model_pool_add_groups(struct weft__pool *pool, uint32_t groups)
{
	const struct weft__column columns[] = {
		{&pool->first, sizeof(*pool->first)},
		{&pool->end, sizeof(*pool->end)},
		{&pool->need, sizeof(*pool->need)},
	};
	int error = weft__columns_reserve(columns, 3, &pool->group_capacity, groups);
	if (error || groups <= pool->groups)
		return error;
	size_t bytes = (groups - pool->groups) * sizeof(uint32_t);
	memset(pool->first + pool->groups, 0, bytes);
	memset(pool->end + pool->groups, 0, bytes);
	memset(pool->need + pool->groups, 0, bytes);
	pool->groups = groups;
	return 0;
}

/* The number of rows for which a group of that many rows has space: up to a quarter more. */
static uint64_t room_of(uint64_t rows)
{
	uint64_t step = rows < 8 ? 1 : UINT64_C(1) << (61 - __builtin_clzll(rows));
	return (rows + step - 1) / step * step;
}

static uint32_t size_of(const struct weft__pool *pool, uint32_t group)
{
	return pool->end[group] - pool->first[group];
}

static char *row_at(const struct weft__pool *pool, unsigned column, uint32_t row)
{
	return (char *)pool->column[column] + row * pool->bytes[column];
}

/* Copies a group's rows to another position in `to`, which may be the pool itself. */
static void copy_rows(
	const struct weft__pool *pool, uint32_t group, const struct weft__pool *to, uint32_t position)
{
	for (unsigned i = 0; i < pool->column_count && size_of(pool, group); i++)
		memcpy(row_at(to, i, position), row_at(pool, i, pool->first[group]),
			size_of(pool, group) * pool->bytes[i]);
}

static void move_group(struct weft__pool *pool, uint32_t group, uint64_t room)
{
	uint32_t size = size_of(pool, group);
	copy_rows(pool, group, pool, pool->used);
	pool->first[group] = pool->used;
	pool->end[group] = pool->used + size;
	pool->used += (uint32_t)room;
}

static int allocate(struct weft__pool *pool, uint64_t room)
{
	if (room >= UINT32_MAX)
		return WEFT_ERROR_LIMIT;
	for (unsigned i = 0; i < pool->column_count; i++) {
		pool->column[i] = room <= SIZE_MAX / 8 ? malloc((size_t)room * pool->bytes[i] + 1) : NULL;
		if (!pool->column[i]) {
			while (i-- > 0)
				free(pool->column[i]);
			return WEFT_ERROR_MEMORY;
		}
	}
	pool->room = (uint32_t)room;
	return 0;
}

/* Copies all groups into new columns, with space in each group for the rows that it needs, and for
 * `rows` more behind the last group. */
static int pack(struct weft__pool *pool, uint64_t rows)
{
	struct weft__pool packed = *pool;
	uint64_t sum = 0;
	for (uint32_t group = 0; group < pool->groups; group++)
		sum += room_of((uint64_t)size_of(pool, group) + pool->need[group]);
	int error = allocate(&packed, sum + sum / SPARE_SHARE + rows + 16);
	if (error)
		return error;
	packed.used = 0;
	for (uint32_t group = 0; group < pool->groups; group++) {
		uint32_t size = size_of(pool, group);
		copy_rows(pool, group, &packed, packed.used);
		pool->first[group] = packed.used;
		pool->end[group] = packed.used + size;
		packed.used += (uint32_t)room_of((uint64_t)size + pool->need[group]);
	}
	release_columns(pool);
	packed.shared = NULL;
	packed.packs++;
	*pool = packed;
	return 0;
}

int weft__model_pool_reserve(struct weft__pool *pool, uint64_t rows)
{
	return pool->used + rows <= pool->room ? 0 : pack(pool, rows);
}

/* Counts the rows that each group gets; returns the number of different groups, and lists them. */
static uint32_t count_needs(
	struct weft__pool *pool, const uint32_t *group, uint32_t count, uint32_t *groups)
{
	uint32_t different = 0;
	for (uint32_t i = 0; i < count; i++)
		if (pool->need[group[i]]++ == 0)
			groups[different++] = group[i];
	return different;
}

static bool must_move(const struct weft__pool *pool, uint32_t group)
{
	uint64_t size = size_of(pool, group);
	return size + pool->need[group] > room_of(size);
}

/* Makes space for the rows that the groups need. */
static int make_room(struct weft__pool *pool, const uint32_t *groups, uint32_t count)
{
	uint64_t more = 0;
	for (uint32_t i = 0; i < count; i++)
		if (must_move(pool, groups[i]))
			more += room_of((uint64_t)size_of(pool, groups[i]) + pool->need[groups[i]]);
	if (pool->used + more > pool->room)
		return pack(pool, 0);
	for (uint32_t i = 0; i < count; i++)
		if (must_move(pool, groups[i]))
			move_group(pool, groups[i],
				room_of((uint64_t)size_of(pool, groups[i]) + pool->need[groups[i]]));
	return 0;
}

/* `scratch` has room for `count` numbers. */
static int add_rows(struct weft__pool *pool, const uint32_t *group, uint32_t count,
	const void *const *columns, uint32_t *scratch)
{
	uint32_t different = count_needs(pool, group, count, scratch);
	int error = make_room(pool, scratch, different);
	for (uint32_t i = 0; i < different; i++)
		pool->need[scratch[i]] = 0;
	if (error)
		return error;
	for (uint32_t i = 0; i < count; i++)
		scratch[i] = pool->end[group[i]]++;
	for (unsigned i = 0; i < pool->column_count; i++)
		weft__model_scatter(pool->column[i], columns[i], pool->bytes[i], count, scratch);
	pool->rows += count;
	return 0;
}

int weft__model_pool_add_rows(
	struct weft__pool *pool, const uint32_t *group, uint32_t count, const void *const *columns)
{
	if (count == 0)
		return 0;
	uint32_t *scratch = malloc(count * sizeof(*scratch));
	int error = scratch ? add_rows(pool, group, count, columns, scratch) : WEFT_ERROR_MEMORY;
	free(scratch);
	return error;
}

int weft__model_pool_drop_last(struct weft__pool *pool, uint32_t group)
{
	uint64_t room = room_of(size_of(pool, group) - UINT64_C(1));
	int error = weft__model_pool_reserve(pool, room);
	if (error)
		return error;
	pool->end[group]--;
	pool->rows--;
	move_group(pool, group, room);
	return 0;
}

uint32_t weft__model_pool_copy_group(struct weft__pool *pool, uint32_t group, uint32_t more)
{
	uint32_t position = pool->used;
	copy_rows(pool, group, pool, position);
	pool->used += size_of(pool, group) + more;
	return position;
}

/* NULL without memory. */
static uint32_t *copy_column(const uint32_t *from, uint32_t count)
{
	uint32_t *copy = malloc((count + (size_t)1) * sizeof(*copy));
	if (copy && count)
		memcpy(copy, from, count * sizeof(*copy));
	return copy;
}

int weft__model_pool_copy_ranges(
	const struct weft__pool *pool, const uint32_t **ret_first, const uint32_t **ret_end)
{
	*ret_first = copy_column(pool->first, pool->groups);
	*ret_end = copy_column(pool->end, pool->groups);
	return *ret_first && *ret_end ? 0 : WEFT_ERROR_MEMORY;
}

struct weft__shared *weft__model_pool_hold(struct weft__pool *pool)
{
	struct weft__column columns[WEFT__SHARED_COLUMNS];
	unsigned count = list_columns(pool, columns);
	return weft__shared_hold(&pool->shared, columns, count);
}
