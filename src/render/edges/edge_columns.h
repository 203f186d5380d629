/* SPDX-License-Identifier: ISC
 *
 * The edges of each pixel column, from the left edge of the picture to as far beyond its right edge
 * as arrows reach: how many there are of each type, and in which columns they are few enough to be
 * drawn one by one.
 */
#ifndef WEFT_RENDER_EDGE_COLUMNS_H
#define WEFT_RENDER_EDGE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "render/scene/scene.h"

struct painter;

#define WEFT__ARROW_TYPES                                                        \
	(1u << WEFT_EDGE_READ | 1u << WEFT_EDGE_TRY_READ | 1u << WEFT_EDGE_RESOLVE | \
		1u << WEFT_EDGE_SIGNAL | 1u << WEFT_EDGE_RECEIVE)

/* Columns are hot in groups: where more arrows than pixels end in a bucket, all are heat. */
#define WEFT__EDGE_BUCKET 8

struct weft__edge_columns {
	uint32_t count, width; /* of these, `width` are in the picture */
	uint32_t *edges;       /* first edge of each column, and the end of the last */
	/* The same, counted among edges of the type, or of dropped ones. */
	uint32_t *ranks[WEFT__EDGE_COUNTS];
	uint32_t few[WEFT_EDGE_TYPES]; /* limit of a column: with more, none of the type is drawn */
	bool *hot;                     /* by bucket: more arrows than columns */
};

/* The number of columns for a frame: to `WEFT__ARROW_REACH` px beyond the picture. */
uint32_t weft__render_edge_columns_needed(const struct painter *p);

static inline uint32_t weft__render_edge_buckets(uint32_t columns)
{
	return columns / WEFT__EDGE_BUCKET + 1;
}

/* Finds the hot buckets, from the number of arrows that end in each. */
void weft__render_find_hot_columns(const uint32_t *arrows, uint32_t buckets, bool *ret_hot);

/* False without memory. */
bool weft__render_edge_columns_init(struct weft__edge_columns *columns, const struct painter *p);
void weft__render_edge_columns_finish(struct weft__edge_columns *columns);

/* Chooses the limits for some types (a bit each) so that at most `budget` edges are drawn in all.
 */
void weft__render_edge_columns_limit(
	struct weft__edge_columns *columns, unsigned types, uint32_t budget);

static inline uint32_t weft__render_edges_in_column(
	const struct weft__edge_columns *columns, unsigned type, uint32_t column)
{
	return columns->ranks[type][column + 1] - columns->ranks[type][column];
}

static inline bool weft__render_column_is_dense(
	const struct weft__edge_columns *columns, unsigned type, uint32_t column)
{
	return weft__render_edges_in_column(columns, type, column) > columns->few[type];
}

/* The same for arrows of all types together. */
static inline bool weft__render_column_is_hot(
	const struct weft__edge_columns *columns, uint32_t column)
{
	return columns->hot[column / WEFT__EDGE_BUCKET];
}

#endif
