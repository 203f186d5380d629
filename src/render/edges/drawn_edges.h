/* SPDX-License-Identifier: ISC
 *
 * The arrows and links of a frame, recorded while they are drawn, so that a pointer finds them.
 */
#ifndef WEFT_RENDER_EDGES_DRAWN_EDGES_H
#define WEFT_RENDER_EDGES_DRAWN_EDGES_H

#include <stddef.h>
#include <stdint.h>

/* A stub is a part of an arrow, at one of its ends. */
enum weft__edge_end {
	WEFT__EDGE_BOTH, /* the arrow is drawn as a whole */
	WEFT__EDGE_TAIL,
	WEFT__EDGE_HEAD,
};

/* A line on the canvas. It may extend far beyond the picture. */
struct weft__drawn_edge {
	uint32_t edge;
	enum weft__edge_end end;
	double x, y, x2, y2; /* from its tail to its head */
};

struct weft__drawn_edges {
	struct weft__drawn_edge *list;
	size_t count, capacity;
};

void weft__render_drawn_edges_finish(struct weft__drawn_edges *edges);

/* 0 or WEFT_ERROR_MEMORY. */
int weft__render_drawn_edges_add(
	struct weft__drawn_edges *edges, const struct weft__drawn_edge *edge);

/* The nearest edge within `reach` px of the point, of several the one that was drawn last; NULL if
 * there is none. */
const struct weft__drawn_edge *weft__render_drawn_edges_at(
	const struct weft__drawn_edges *edges, double x, double y, double reach, double *ret_away);

#endif
