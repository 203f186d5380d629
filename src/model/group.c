/* SPDX-License-Identifier: ISC
 *
 * Groups rows, which are in time order, by task or counter. Columns are moved one at a time, so
 * that only one of them exists twice.
 */
#include <stdlib.h>
#include <string.h>

#include "model/builder.h"

static void count_keys(const uint32_t *key, uint32_t count, uint32_t groups, uint32_t *first)
{
	for (uint32_t i = 0; i < count; i++)
		first[key[i] + 1]++;
	for (uint32_t g = 0; g < groups; g++)
		first[g + 1] += first[g];
}

/* The loop moves first[g] to the end of group g, which is the start of group g + 1; the memmove
 * restores the starts. */
static void place_rows(
	const uint32_t *key, uint32_t count, uint32_t groups, uint32_t *first, uint32_t *position)
{
	for (uint32_t i = 0; i < count; i++)
		position[i] = first[key[i]]++;
	memmove(first + 1, first, groups * sizeof(*first));
	first[0] = 0;
}

/* A stable counting sort of `count` rows by `key`, a number below `groups`. `*ret_first` has the
 * index at which each group begins, and the end of the last one; `*ret_position` has each row's new
 * index. The caller frees both. */
static int group_by(const uint32_t *key, uint32_t count, uint32_t groups, uint32_t **ret_first,
	uint32_t **ret_position)
{
	uint32_t *first = calloc(groups + (size_t)1, sizeof(*first));
	uint32_t *position = malloc((count + (size_t)1) * sizeof(*position));
	if (!first || !position) {
		free(first);
		free(position);
		return WEFT_ERROR_MEMORY;
	}
	count_keys(key, count, groups, first);
	place_rows(key, count, groups, first, position);
	*ret_first = first;
	*ret_position = position;
	return 0;
}

static void scatter_4(uint32_t *to, const uint32_t *from, uint32_t count, const uint32_t *position)
{
	for (uint32_t i = 0; i < count; i++)
		to[position[i]] = from[i];
}

static void scatter_8(uint64_t *to, const uint64_t *from, uint32_t count, const uint32_t *position)
{
	for (uint32_t i = 0; i < count; i++)
		to[position[i]] = from[i];
}

static void scatter_1(uint8_t *to, const uint8_t *from, uint32_t count, const uint32_t *position)
{
	for (uint32_t i = 0; i < count; i++)
		to[position[i]] = from[i];
}

void weft__model_scatter(
	void *to, const void *from, size_t element_bytes, uint32_t count, const uint32_t *position)
{
	if (element_bytes == 8)
		scatter_8(to, from, count, position);
	else if (element_bytes == 4)
		scatter_4(to, from, count, position);
	else
		scatter_1(to, from, count, position);
}

/* Replaces *column by a copy whose row position[i] is the old row i. */
static int group_scatter(
	void *column, size_t element_bytes, uint32_t count, const uint32_t *position)
{
	void *from, *to = malloc(count ? count * element_bytes : 1);
	if (!to)
		return WEFT_ERROR_MEMORY;
	memcpy(&from, column, sizeof(from));
	weft__model_scatter(to, from, element_bytes, count, position);
	free(from);
	memcpy(column, &to, sizeof(to));
	return 0;
}

int weft__model_group_columns(uint32_t **key, uint32_t count, uint32_t groups,
	const struct weft__column *columns, unsigned column_count, uint32_t **ret_first)
{
	uint32_t *position;
	*ret_first = NULL;
	int error = group_by(*key, count, groups, ret_first, &position);
	if (error)
		return error;
	free(*key); /* the groups have it */
	*key = NULL;
	for (unsigned i = 0; i < column_count && !error; i++)
		error = group_scatter(columns[i].array, columns[i].element_bytes, count, position);
	free(position);
	return error;
}
