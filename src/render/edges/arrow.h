/* SPDX-License-Identifier: ISC
 *
 * One arrow: an edge between two tasks, as it is drawn. arrows.c chooses which edges have one.
 */
#ifndef WEFT_RENDER_EDGES_ARROW_H
#define WEFT_RENDER_EDGES_ARROW_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/canvas.h>

#include "render/edges/drawn_edges.h"

struct painter;

struct weft__arrow {
	double x, y, x2, y2; /* on the canvas; its head is at x2, y2 */
	uint32_t edge, color;
	enum weft_canvas_dash dash;
	bool filled, ringed, crossed;
	bool is_wait;            /* a task waits at its tail, not at its head */
	bool is_headless;        /* a stub without the head */
	enum weft__edge_end end; /* of a stub: at which end it is */
};

/* Makes the arrow of an edge; false if it has none. */
bool weft__render_arrow_make(const struct painter *p, uint32_t edge, struct weft__arrow *ret_arrow);

/* Draws an arrow, or a part of one, with the width and alpha that the painter has. */
void weft__render_arrow_draw(struct painter *p, struct weft__arrow arrow);

/* The most px from end to end, across or down, that are drawn as a line. A longer arrow is a stub
 * at the end where a task waits: see stubs.c. */
#define WEFT__ARROW_REACH 200.0

static inline bool weft__render_arrow_is_far(const struct weft__arrow *a)
{
	double across = a->x2 > a->x ? a->x2 - a->x : a->x - a->x2;
	double down = a->y2 > a->y ? a->y2 - a->y : a->y - a->y2;
	return across > WEFT__ARROW_REACH || down > WEFT__ARROW_REACH;
}

/* Draws the stubs of an arrow, and keeps its name for weft__render_name_stubs(). */
void weft__render_draw_stub(struct painter *p, const struct weft__arrow *arrow);

#endif
