/* SPDX-License-Identifier: ISC
 *
 * Rows grouped by task or counter that grow while snapshots read them. A group's rows are
 * contiguous; if there is no room behind them, they move to the end of the columns, and snapshots
 * go on reading the old position. If the columns are full, they are packed into new memory.
 *
 *     first[g] ─┐        end[g] ─┐
 *     ──────────▼────────────────▼───────┬───────────────────────────┬──────────
 *       …       rows of group g  (slack) │ rows of h  (left by moves) │  unused
 *     ───────────────────────────────────┴───────────────────────────┴──────────
 *                                                                used ┘
 */
#ifndef WEFT_MODEL_POOL_H
#define WEFT_MODEL_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/shared.h"

struct weft__pool {
	unsigned column_count;
	size_t bytes[WEFT__SHARED_COLUMNS]; /* of an element of each column: 1, 4 or 8 */
	void *column[WEFT__SHARED_COLUMNS];
	uint32_t *first, *end; /* by group */
	uint32_t *need;        /* by group: rows being added; 0 between calls */
	uint32_t groups;
	size_t group_capacity;
	uint32_t rows;  /* of all groups */
	uint32_t used;  /* rows from there on are free */
	uint32_t room;  /* rows for which the columns have memory */
	uint32_t packs; /* changes when all groups have moved */
	struct weft__shared *shared;
};

void weft__model_pool_init(struct weft__pool *pool, unsigned column_count, const size_t *bytes);
void weft__model_pool_finish(struct weft__pool *pool);

/* Adds empty groups until there are `groups`. All functions that return an int return 0,
 * WEFT_ERROR_MEMORY or _LIMIT; an error leaves the rows unchanged. */
int weft__model_pool_add_groups(struct weft__pool *pool, uint32_t groups);

/* Appends `count` rows; group[i] is the group of row i, and `columns` has the values. */
int weft__model_pool_add_rows(
	struct weft__pool *pool, const uint32_t *group, uint32_t count, const void *const *columns);

/* Removes the last row of a group, and moves the group, because snapshots may still read that row.
 */
int weft__model_pool_drop_last(struct weft__pool *pool, uint32_t group);

/* Makes space for that many rows behind all others, for weft__model_pool_copy_group. */
int weft__model_pool_reserve(struct weft__pool *pool, uint64_t rows);

/* Copies a group behind all other rows, with `more` uninitialized rows at its end, for one snapshot
 * only. The space must have been reserved. Returns the index of the copy's first row. */
uint32_t weft__model_pool_copy_group(struct weft__pool *pool, uint32_t group, uint32_t more);

/* Copies `first` and `end` for a snapshot, because groups move when rows are added. The caller
 * frees both, also after WEFT_ERROR_MEMORY. */
int weft__model_pool_copy_ranges(
	const struct weft__pool *pool, const uint32_t **ret_first, const uint32_t **ret_end);

/* A reference to the columns, for weft__shared_release; NULL without memory. */
struct weft__shared *weft__model_pool_hold(struct weft__pool *pool);

#endif
