/* SPDX-License-Identifier: ISC
 *
 * Densities: tasks that are too small to be drawn separately, by pixel column of a lane.
 *
 *     ▂  height: the number of tasks, 2 to 8 px on a logarithmic scale
 *     █  the darker part: the share of the time in which they ran
 *     ▀  a red cap: one of them failed, which is always shown
 */
#ifndef WEFT_RENDER_CELLS_H
#define WEFT_RENDER_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "render/scene/density.h"

struct painter;
struct weft__lane;
struct weft__share;
struct weft__cells;

/* NULL without memory. */
struct weft__cells *weft__render_cells_create(const struct painter *p);
void weft__render_cells_destroy(struct weft__cells *cells);

/* Adds `count` tasks from an index of the scene's by_row on, all in the column of x. */
void weft__render_cells_add(struct weft__cells *cells, const struct painter *p, uint32_t first,
	uint32_t count, double x, bool failed);

/* Adds a number of tasks to the column of x, and how much of them ran there. */
void weft__render_cells_add_share(
	struct weft__cells *cells, const struct painter *p, const struct weft__share *share, double x);

/* Adds all counts of a lane. */
void weft__render_cells_fill(
	struct weft__cells *cells, const struct weft__density *density, uint32_t lane);

/* Draws the columns that are not empty, and empties them. */
void weft__render_cells_draw(
	struct weft__cells *cells, struct painter *p, const struct weft__lane *lane);

#endif
