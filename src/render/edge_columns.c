/* SPDX-License-Identifier: ISC
 *
 * See edge_columns.h.
 */
#include "render/edge_columns.h"

#include <stdlib.h>

#include "render/painter.h"

#define FEW_MAX 64

static bool allocate(struct weft__edge_columns *columns, unsigned types)
{
	size_t room = columns->count + (size_t)1;
	columns->edges = malloc(room * sizeof(*columns->edges));
	bool complete = columns->edges;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		if (types >> type & 1) {
			columns->ranks[type] = malloc(room * sizeof(*columns->ranks[type]));
			complete = complete && columns->ranks[type];
		}
	return complete;
}

/* The first time whose x is `x` or more; UINT64_MAX past the end of the view's trace. */
static uint64_t first_time(const struct painter *p, double x)
{
	uint64_t time = weft_view_time(p->view, x);
	while (weft_view_x(p->view, time) < x) {
		if (time >= p->view->end)
			return UINT64_MAX;
		time++;
	}
	return time;
}

static void find_columns(struct weft__edge_columns *columns, const struct painter *p)
{
	const struct weft_edges *edges = &p->model->edges;
	uint32_t edge = 0;
	for (uint32_t column = 0; column <= columns->count; column++) {
		uint64_t time = first_time(p, column);
		edge = time == UINT64_MAX ? edges->count
								  : weft__gallop_u64(edges->time, edge, edges->count, time);
		columns->edges[column] = edge;
		for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
			if (columns->ranks[type])
				columns->ranks[type][column] = weft__edges_before(p->scene, type, edge);
	}
}

/* The more that are drawn together the better, within the budget. */
static uint32_t choose_few(const struct weft__edge_columns *columns, uint32_t budget)
{
	uint32_t with[FEW_MAX + 1] = {0}, sum = 0, few = 0;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		for (uint32_t column = 0; columns->ranks[type] && column < columns->count; column++) {
			uint32_t count = weft__edges_in_column(columns, type, column);
			if (count <= FEW_MAX)
				with[count]++;
		}
	for (; few < FEW_MAX; few++) {
		sum += with[few + 1] * (few + 1);
		if (sum > budget)
			break;
	}
	return few;
}

bool weft__edge_columns_init(
	struct weft__edge_columns *columns, const struct painter *p, unsigned types, uint32_t budget)
{
	*columns = (struct weft__edge_columns){.count = 2 * (uint32_t)(p->frame->picture.width + 1)};
	if (!allocate(columns, types))
		return false;
	find_columns(columns, p);
	columns->few = choose_few(columns, budget);
	return true;
}

void weft__edge_columns_finish(struct weft__edge_columns *columns)
{
	free(columns->edges);
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		free(columns->ranks[type]);
}
