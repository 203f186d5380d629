/* SPDX-License-Identifier: ISC
 *
 * The tasks that belong to a task. Three directions are searched separately, since otherwise
 * everything would be related to everything through the main loop: along becomes in both
 * directions; from there down to what is waited for; and up to the tasks that wait. The search is
 * breadth first, so that the limit cuts off distant tasks.
 */
#include <stdlib.h>

#include "base/export.h"
#include "story/any.h"

/* A task with more edges is a loop or a lock: the tasks that it reads have nothing in common. */
#define EDGES_MAX 64

enum direction {
	BECOMES = 1,
	DOWN = 2,
	UP = 4,
};

struct search {
	const struct weft_story *story;
	const struct weft_model *model;
	uint8_t *seen; /* the directions in which each task was reached */
	uint32_t *queue;
	uint32_t head, tail, limit;
	bool more;
};

/* Queues a task once per direction; each direction has its own queue. */
static void reach(struct search *s, uint32_t task, enum direction direction)
{
	if (task == WEFT_NONE || (s->seen[task] & direction))
		return;
	if (!s->seen[task]) {
		if (s->limit == 0) {
			s->more = true;
			return;
		}
		s->limit--;
	}
	s->seen[task] |= direction;
	s->queue[s->tail++] = task;
}

static void follow_becomes(struct search *s, uint32_t task, enum direction direction)
{
	struct weft__edge_list to = weft__story_edges_to(s->story, task);
	reach(s, s->model->tasks.becomes[task], direction);
	for (uint32_t i = 0; i < to.count; i++)
		if (s->model->edges.type[to.edges[i]] == WEFT_EDGE_BECOME)
			reach(s, s->model->edges.from[to.edges[i]], direction);
}

static bool is_wait(const struct weft_model *model, uint32_t edge)
{
	switch (model->edges.type[edge]) {
	case WEFT_EDGE_READ:
	case WEFT_EDGE_TRY_READ:
		return true;
	case WEFT_EDGE_WAIT_ANY: /* of others than the one that it read, the task expects nothing */
		return weft__story_any_is_last(model, edge);
	default:
		return false;
	}
}

static void follow_down(struct search *s, uint32_t task)
{
	struct weft__edge_list by = weft__story_edges_by(s->model, task);
	for (uint32_t i = 0; i < by.count && by.count <= EDGES_MAX; i++)
		if (is_wait(s->model, by.edges[i]))
			reach(s, s->model->edges.to[by.edges[i]], DOWN);
}

static void follow_up(struct search *s, uint32_t task)
{
	struct weft__edge_list to = weft__story_edges_to(s->story, task);
	for (uint32_t i = 0; i < to.count && to.count <= EDGES_MAX; i++) {
		uint32_t from = s->model->edges.from[to.edges[i]];
		if (!is_wait(s->model, to.edges[i]) || from == WEFT_NONE)
			continue;
		if (weft__story_edges_by(s->model, from).count <= EDGES_MAX)
			reach(s, from, UP);
	}
}

static void walk(struct search *s, enum direction direction)
{
	while (s->head < s->tail) {
		uint32_t task = s->queue[s->head++];
		follow_becomes(s, task, direction);
		if (direction == DOWN)
			follow_down(s, task);
		else if (direction == UP)
			follow_up(s, task);
	}
}

/* Searches one direction, starting from the task's chain of becomes, which is at the front of the
 * queue. */
static void walk_from(struct search *s, const uint32_t *chain, uint32_t count, enum direction way)
{
	s->head = s->tail = 0;
	for (uint32_t i = 0; i < count; i++)
		reach(s, chain[i], way);
	walk(s, way);
}

static int search_all(struct search *s, uint32_t task)
{
	reach(s, task, BECOMES);
	walk(s, BECOMES);
	uint32_t count = s->tail, *chain = malloc((count + (size_t)1) * sizeof(*chain));
	if (!chain)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		chain[i] = s->queue[i];
	walk_from(s, chain, count, DOWN);
	walk_from(s, chain, count, UP);
	free(chain);
	return 0;
}

WEFT__EXPORT int weft_story_related(const struct weft_story *story, uint32_t task, uint32_t limit,
	uint32_t **ret_tasks, uint32_t *ret_count, bool *ret_more)
{
	uint32_t tasks = story->model->tasks.count, found = 0;
	struct search s = {
		.story = story,
		.model = story->model,
		.limit = limit ? limit : 1,
		.seen = calloc(tasks + (size_t)1, 1),
		.queue = malloc((tasks + (size_t)1) * sizeof(*s.queue)),
	};
	int error = s.seen && s.queue ? search_all(&s, task) : WEFT_ERROR_MEMORY;
	if (!error) {
		for (uint32_t i = 0; i < tasks; i++)
			if (s.seen[i])
				s.queue[found++] = i;
		*ret_tasks = s.queue;
		*ret_count = found;
		*ret_more = s.more;
	} else {
		free(s.queue);
	}
	free(s.seen);
	return error;
}
