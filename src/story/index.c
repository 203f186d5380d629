/* SPDX-License-Identifier: ISC
 *
 * The model groups edges by who acts. Stories also ask who acted on a task: two counting sorts,
 * once, answer that.
 */
#include "story/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/export.h"

typedef uint32_t edge_key(const struct weft_edges *edges, uint32_t edge);

static uint32_t key_to(const struct weft_edges *edges, uint32_t edge)
{
	return edges->to[edge];
}

static uint32_t key_made(const struct weft_edges *edges, uint32_t edge)
{
	bool made = edges->type[edge] == WEFT_EDGE_CREATE || edges->type[edge] == WEFT_EDGE_BECOME;
	return made ? edges->from[edge] : WEFT_NONE;
}

/* A stable counting sort of edges by a key; those whose key is no task are left out. */
static int group_edges(
	const struct weft_model *model, edge_key *key, uint32_t **ret_first, uint32_t **ret_edges)
{
	const struct weft_edges *e = &model->edges;
	uint32_t tasks = model->tasks.count, *edges;
	uint32_t *first = calloc(tasks + (size_t)2, sizeof(*first));
	if (!first)
		return WEFT_ERROR_MEMORY;
	*ret_first = first;
	for (uint32_t i = 0; i < e->count; i++)
		if (key(e, i) < tasks)
			first[key(e, i) + 1]++;
	for (uint32_t task = 0; task < tasks; task++)
		first[task + 1] += first[task];
	edges = malloc((first[tasks] + (size_t)1) * sizeof(*edges));
	if (!edges)
		return WEFT_ERROR_MEMORY;
	*ret_edges = edges;
	for (uint32_t i = 0; i < e->count; i++)
		if (key(e, i) < tasks)
			edges[first[key(e, i)]++] = i;
	memmove(first + 1, first, tasks * sizeof(*first));
	first[0] = 0;
	return 0;
}

WEFT__EXPORT int weft_story_index_create(
	const struct weft_model *model, struct weft_story_index **ret_index)
{
	struct weft_story_index *index = calloc(1, sizeof(*index));
	if (!index)
		return WEFT_ERROR_MEMORY;
	int error = group_edges(model, key_to, &index->first_to, &index->by_to);
	if (!error)
		error = group_edges(model, key_made, &index->first_made, &index->by_made);
	if (error)
		weft_story_index_destroy(index);
	else
		*ret_index = index;
	return error;
}

WEFT__EXPORT void weft_story_index_destroy(struct weft_story_index *index)
{
	if (!index)
		return;
	free(index->first_to);
	free(index->by_to);
	free(index->first_made);
	free(index->by_made);
	free(index);
}

static struct weft__edge_list slice(const uint32_t *first, const uint32_t *edges, uint32_t task)
{
	return (struct weft__edge_list){edges + first[task], first[task + 1] - first[task]};
}

struct weft__edge_list weft__edges_by(const struct weft_model *model, uint32_t task)
{
	return slice(model->tasks.first_edge, model->edges.by_actor, task);
}

struct weft__edge_list weft__edges_to(const struct weft_story *story, uint32_t task)
{
	const struct weft_story_index *index = story->index;
	return index ? slice(index->first_to, index->by_to, task) : (struct weft__edge_list){NULL, 0};
}

struct weft__edge_list weft__edges_made(const struct weft_story *story, uint32_t task)
{
	const struct weft_story_index *index = story->index;
	return index ? slice(index->first_made, index->by_made, task)
				 : (struct weft__edge_list){NULL, 0};
}

uint32_t weft__edges_until(
	const struct weft_model *model, struct weft__edge_list list, uint64_t time)
{
	uint32_t first = 0, end = list.count;
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (model->edges.time[list.edges[middle]] <= time)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

uint32_t weft__activations_until(const struct weft_model *model, uint32_t task, uint64_t time)
{
	uint32_t begin = model->tasks.first_activation[task], first = begin;
	uint32_t end = model->tasks.first_activation[task + 1];
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (model->activations.start[middle] <= time)
			first = middle + 1;
		else
			end = middle;
	}
	return first - begin;
}

uint64_t weft__start_of(const struct weft_story *story, uint32_t task)
{
	return story->layout ? story->layout->start[task] : story->model->tasks.start[task];
}

bool weft__is_gone(const struct weft_model *model, uint32_t task, uint64_t time)
{
	return (model->tasks.flags[task] & WEFT_TASK_RESOLVED) && model->tasks.end[task] <= time;
}

uint32_t weft__become_at(const struct weft_model *model, uint32_t task, uint64_t time)
{
	while (model->tasks.becomes[task] != WEFT_NONE && model->tasks.end[task] <= time)
		task = model->tasks.becomes[task];
	return task;
}
