/* SPDX-License-Identifier: ISC
 *
 * The edges of each pixel column, from the left edge of the picture to one width beyond its right
 * edge (arrows may come from there): how many there are of each type, and in which columns they are
 * few enough to be drawn one by one.
 */
#ifndef WEFT_RENDER_EDGE_COLUMNS_H
#define WEFT_RENDER_EDGE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "render/scene/scene.h"

struct painter;

struct weft__edge_columns {
	uint32_t count;
	uint32_t *edges; /* first edge of each column, and the end of the last */
	/* The same, counted among edges of the type, or of dropped ones. */
	uint32_t *ranks[WEFT__EDGE_COUNTS];
	uint32_t few[WEFT_EDGE_TYPES]; /* limit of a column: with more, none of the type is drawn */
};

/* False without memory. */
bool weft__edge_columns_init(struct weft__edge_columns *columns, const struct painter *p);
void weft__edge_columns_finish(struct weft__edge_columns *columns);

/* Chooses the limits for some types (a bit each) so that at most `budget` edges are drawn in all.
 */
void weft__edge_columns_limit(struct weft__edge_columns *columns, unsigned types, uint32_t budget);

static inline uint32_t weft__edges_in_column(
	const struct weft__edge_columns *columns, unsigned type, uint32_t column)
{
	return columns->ranks[type][column + 1] - columns->ranks[type][column];
}

static inline bool weft__column_is_dense(
	const struct weft__edge_columns *columns, unsigned type, uint32_t column)
{
	return weft__edges_in_column(columns, type, column) > columns->few[type];
}

#endif
