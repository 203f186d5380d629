/* SPDX-License-Identifier: ISC
 *
 * See edge_columns.h. These are made only for views with so many edges that a frame cannot examine
 * each of them.
 */
#include "render/edges/edge_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "render/edges/arrow.h"
#include "render/painter.h"
#include "view/time.h"

#define FEW_MAX 64
#define CLOSE   4    /* buckets from one hot bucket to the next that are hot, too */
#define MANY    8000 /* edges in the view; with more, they are counted first */

static bool allocate(struct weft__edge_columns *columns)
{
	size_t room = columns->count + (size_t)1;
	columns->edges = malloc(room * sizeof(*columns->edges));
	bool complete = columns->edges;
	for (unsigned type = 0; type < WEFT__EDGE_COUNTS; type++) {
		columns->ranks[type] = malloc(room * sizeof(*columns->ranks[type]));
		complete = complete && columns->ranks[type];
	}
	return complete;
}

static void find_columns(struct weft__edge_columns *columns, const struct painter *p)
{
	uint32_t edge = 0, before[WEFT__EDGE_COUNTS];
	for (uint32_t column = 0; column <= columns->count; column++) {
		uint64_t time = weft__view_first_time(p->view, column);
		edge = time == UINT64_MAX ? p->model->edges.count
								  : weft__render_edges_from(p->scene, edge, time);
		columns->edges[column] = edge;
		weft__render_edges_before(p->scene, edge, before);
		for (unsigned type = 0; type < WEFT__EDGE_COUNTS; type++)
			columns->ranks[type][column] = before[type];
	}
}

/* Also marks what lies between: single arrows there would look as if they were all. */
void weft__render_find_hot_columns(const uint32_t *arrows, uint32_t buckets, bool *ret_hot)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < buckets; i++) {
		ret_hot[i] = arrows[i] > WEFT__EDGE_BUCKET;
		if (!ret_hot[i])
			continue;
		if (last && i + 1 - last <= CLOSE)
			memset(ret_hot + last, true, i - last);
		last = i + 1;
	}
}

static bool find_hot_columns(struct weft__edge_columns *columns)
{
	uint32_t buckets = weft__render_edge_buckets(columns->count);
	uint32_t *arrows = calloc(buckets, sizeof(*arrows));
	for (unsigned type = 0; arrows && type < WEFT_EDGE_TYPES; type++)
		for (uint32_t i = 0; WEFT__ARROW_TYPES >> type & 1 && i < columns->count; i++)
			arrows[i / WEFT__EDGE_BUCKET] += weft__render_edges_in_column(columns, type, i);
	columns->hot = malloc(buckets);
	if (arrows && columns->hot)
		weft__render_find_hot_columns(arrows, buckets, columns->hot);
	free(arrows);
	return arrows && columns->hot;
}

uint32_t weft__render_edge_columns_needed(const struct painter *p)
{
	return (uint32_t)(p->frame->picture.width + WEFT__ARROW_REACH) + 1;
}

bool weft__render_edge_columns_init(struct weft__edge_columns *columns, const struct painter *p)
{
	*columns = (struct weft__edge_columns){
		.count = weft__render_edge_columns_needed(p),
		.width = (uint32_t)(p->frame->picture.width + 1),
	};
	if (!allocate(columns))
		return false;
	find_columns(columns, p);
	return find_hot_columns(columns);
}

void weft__render_edge_columns_finish(struct weft__edge_columns *columns)
{
	free(columns->edges);
	free(columns->hot);
	for (unsigned type = 0; type < WEFT__EDGE_COUNTS; type++)
		free(columns->ranks[type]);
}

void weft__render_edge_columns_limit(
	struct weft__edge_columns *columns, unsigned types, uint32_t budget)
{
	uint32_t with[FEW_MAX + 1] = {0}, sum = 0, few = 0;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		for (uint32_t column = 0; types >> type & 1 && column < columns->count; column++) {
			uint32_t count = weft__render_edges_in_column(columns, type, column);
			if (count <= FEW_MAX)
				with[count]++;
		}
	for (; few < FEW_MAX; few++) {
		sum += with[few + 1] * (few + 1);
		if (sum > budget)
			break;
	}
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		if (types >> type & 1)
			columns->few[type] = few;
}

void weft__render_find_edges(struct painter *p)
{
	const struct weft_edges *edges = &p->model->edges;
	/* An arrow whose head is farther away is a stub there. */
	uint64_t to = weft_view_time(p->view, p->frame->picture.width + WEFT__ARROW_REACH);
	/* An arrow ends at its edge's time: edges before the view do not reach it. */
	p->first_edge = weft__lower_bound_u64(edges->time, edges->count, p->left);
	p->last_edge = weft__lower_bound_u64(edges->time, edges->count, to);
	if (p->last_edge - p->first_edge <= MANY)
		return;
	p->edge_columns = calloc(1, sizeof(*p->edge_columns));
	if (!p->edge_columns || !weft__render_edge_columns_init(p->edge_columns, p))
		p->error = WEFT_ERROR_MEMORY;
}
