/* SPDX-License-Identifier: ISC
 *
 * A linked list for each task, the latest first.
 */
#include "layout/tries.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void weft__layout_tries_finish(struct weft__tries *tries)
{
	free(tries->latest);
	free(tries->edge);
	free(tries->before);
	*tries = (struct weft__tries){0};
}

static int add_edge(struct weft__tries *tries, uint32_t edge, uint32_t task)
{
	const struct weft__column columns[] = {
		{&tries->edge, sizeof(*tries->edge)},
		{&tries->before, sizeof(*tries->before)},
	};
	int error = weft__columns_reserve(columns, 2, &tries->capacity, tries->count + (size_t)1);
	if (error)
		return error;
	tries->edge[tries->count] = edge;
	tries->before[tries->count] = tries->latest[task];
	tries->latest[task] = tries->count++;
	return 0;
}

int weft__layout_tries_add(struct weft__tries *tries, const struct weft_model *model)
{
	const struct weft__column column = {&tries->latest, sizeof(*tries->latest)};
	int error = weft__columns_reserve(&column, 1, &tries->task_capacity, model->tasks.count);
	if (error)
		return error;
	for (; tries->tasks < model->tasks.count; tries->tasks++)
		tries->latest[tries->tasks] = WEFT_NONE;
	for (; tries->edges < model->edges.count && !error; tries->edges++)
		if (model->edges.type[tries->edges] == WEFT_EDGE_TRY_READ)
			error = add_edge(tries, tries->edges, model->edges.to[tries->edges]);
	return error;
}

bool weft__layout_tries_any(
	const struct weft__tries *tries, const struct weft_model *model, uint32_t task, uint64_t time)
{
	const struct weft_edges *edges = &model->edges;
	for (uint32_t i = tries->latest[task]; i != WEFT_NONE; i = tries->before[i])
		if (edges->type[tries->edge[i]] == WEFT_EDGE_TRY_READ &&
			edges->time[tries->edge[i]] <= time)
			return true;
	return false;
}
