/* SPDX-License-Identifier: ISC
 *
 * Points in rows and time: how many lie where, exactly, for as many columns and lanes as a picture
 * has, at a cost that doesn't depend on how many points there are.
 *
 * It is a wavelet matrix (Claude, Navarro and Ordóñez, 2015) of the points' blocks of rows, in the
 * order of their times:
 *
 *     blocks   2 0 3 1 0 2        in the order of time
 *     level 0  1 0 1 0 0 1        the highest bit of each
 *     level 1  0 1 0 · 0 1 0      those with 0 above first, then those with 1: the next bit
 *
 * A range of times is a range of the first level, and goes down to the half that a block is in by
 * counting the ones before its ends.
 */
#ifndef WEFT_RENDER_POINTS_H
#define WEFT_RENDER_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT__POINT_LEVELS 16

/* 64 bits of a level, together with the count of ones before them: one cache line answers both. */
struct weft__points_word {
	uint64_t bits;
	uint64_t ones; /* ones of the level before this word */
};

struct weft__points {
	uint32_t count;
	unsigned levels;                    /* block numbers are below 1 << levels */
	size_t words;                       /* words per level */
	struct weft__points_word *list;     /* all levels, one after the other */
	uint32_t zeros[WEFT__POINT_LEVELS]; /* zeros on each level */
};

/* `blocks` are in the order of time. `scratch` has the same size; both are overwritten. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__render_points_init(struct weft__points *points, uint16_t *blocks, uint16_t *scratch,
	uint32_t count, unsigned levels);
void weft__render_points_finish(struct weft__points *points);

/* The inverse of init: writes the points' blocks to `blocks`, in the order of time. `scratch` has
 * the same size. */
void weft__render_points_blocks(
	const struct weft__points *points, uint16_t *blocks, uint16_t *scratch);

/* `count` points in column `column`. */
struct weft__run {
	uint32_t column, count;
};

/* Called for each range of blocks: with the number of points before the first column, and the
 * columns that have points. */
typedef void weft__render_points_found(void *context, uint32_t range, uint32_t before,
	const struct weft__run *runs, uint32_t run_count);

/* `bounds` are the columns + 1 ranks at which columns begin, ascending. Range i of blocks is
 * [firsts[i], firsts[i + 1]); it is reported in several parts. `scratch` holds (columns + 1) *
 * (WEFT__POINT_LEVELS + 1) runs. */
struct weft__points_query {
	const uint32_t *bounds;
	uint32_t columns;
	const uint32_t *firsts;
	uint32_t ranges;
	struct weft__run *scratch;
	weft__render_points_found *found;
	void *context;
};

void weft__render_points_count(
	const struct weft__points *points, const struct weft__points_query *query);

/* The number of a block's points below a rank; 0 for a block number beyond the levels. */
uint32_t weft__render_points_rank(const struct weft__points *points, uint32_t block, uint32_t rank);

/* The positions of a block's points on each level. */
struct weft__points_path {
	const struct weft__points *points;
	uint32_t block;
	uint32_t first[WEFT__POINT_LEVELS + 1], last[WEFT__POINT_LEVELS + 1];
};

void weft__render_points_path_init(
	struct weft__points_path *path, const struct weft__points *points, uint32_t block);

/* The rank of a block's i-th point, which must exist. */
uint32_t weft__render_points_select(const struct weft__points_path *path, uint32_t i);

#endif
