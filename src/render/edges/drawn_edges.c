/* SPDX-License-Identifier: ISC
 *
 * See drawn_edges.h. A frame has at most a few thousand of them, so that all are compared.
 */
#include "render/edges/drawn_edges.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

void weft__render_drawn_edges_finish(struct weft__drawn_edges *edges)
{
	free(edges->list);
	*edges = (struct weft__drawn_edges){0};
}

int weft__render_drawn_edges_add(
	struct weft__drawn_edges *edges, const struct weft__drawn_edge *edge)
{
	if (edges->count == edges->capacity) {
		size_t capacity = weft__array_next_capacity(edges->capacity, edges->count + 1);
		int error = weft__array_resize(&edges->list, capacity, sizeof(*edges->list));
		if (error)
			return error;
		edges->capacity = capacity;
	}
	edges->list[edges->count++] = *edge;
	return 0;
}

static double distance(const struct weft__drawn_edge *edge, double x, double y)
{
	double dx = edge->x2 - edge->x, dy = edge->y2 - edge->y, square = dx * dx + dy * dy;
	double along = square > 0 ? ((x - edge->x) * dx + (y - edge->y) * dy) / square : 0;
	along = fmin(fmax(along, 0), 1);
	return hypot(edge->x + along * dx - x, edge->y + along * dy - y);
}

/* Most edges are far away: their boxes tell that without a division. */
static bool is_distant(const struct weft__drawn_edge *edge, double x, double y, double reach)
{
	return fmin(edge->x, edge->x2) > x + reach || fmax(edge->x, edge->x2) < x - reach ||
		   fmin(edge->y, edge->y2) > y + reach || fmax(edge->y, edge->y2) < y - reach;
}

const struct weft__drawn_edge *weft__render_drawn_edges_at(
	const struct weft__drawn_edges *edges, double x, double y, double reach, double *ret_away)
{
	const struct weft__drawn_edge *nearest = NULL;
	for (size_t i = 0; i < edges->count; i++) {
		const struct weft__drawn_edge *edge = &edges->list[i];
		if (is_distant(edge, x, y, reach))
			continue;
		double away = distance(edge, x, y);
		if (away > reach)
			continue;
		reach = away;
		nearest = edge;
	}
	if (nearest)
		*ret_away = reach;
	return nearest;
}
