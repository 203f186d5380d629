/* SPDX-License-Identifier: ISC
 *
 * Nothing is kept between calls: a lock's edges are played again each time, which costs less than a
 * table of all holds of a trace would.
 */
#include "story/holders.h"

#include <inttypes.h>

#include "base/export.h"

/* Edges that are played for one question of a viewer. */
#define LOOKED_MAX (1u << 16)
#define PASSED_MAX (1u << 22) /* edges of tasks that wait: some milliseconds */

static void rename_holders(
	const struct weft_model *model, struct weft__holders *holders, uint64_t time)
{
	for (uint32_t i = 0; i < holders->count; i++)
		holders->list[i].task = weft__story_become_at(model, holders->list[i].task, time);
}

static bool is_take(const struct weft_edges *edges, uint32_t edge)
{
	return edges->type[edge] == WEFT_EDGE_READ && edges->from[edge] != WEFT_NONE;
}

/* The first edge to play: at most `looked` takes and releases before `end`. Tasks that wait are
 * passed over, because many may wait for one that has held the resource for long. */
static uint32_t first_to_play(
	const struct weft_model *model, struct weft__edge_list to, uint32_t end, uint32_t looked)
{
	const struct weft_edges *e = &model->edges;
	uint32_t passed = 0;
	if (looked >= end)
		return 0;
	while (end > 0 && looked > 0 && passed < PASSED_MAX) {
		uint32_t edge = to.edges[--end];
		if (is_take(e, edge) || e->type[edge] == WEFT_EDGE_SIGNAL)
			looked--;
		else
			passed++;
	}
	return end;
}

/* Plays an edge. Only a lock, and a release by a task that is not among the holders, need their
 * names of that time: most tasks become nothing. */
static int play(
	const struct weft_model *model, struct weft__holders *holders, uint32_t edge, unsigned kind)
{
	const struct weft_edges *e = &model->edges;
	const bool takes = is_take(e, edge);
	if (!takes && e->type[edge] != WEFT_EDGE_SIGNAL)
		return 0;
	bool needs_names =
		takes ? kind == WEFT_KIND_LOCK : !weft__model_holders_has(holders, e->from[edge]);
	if (needs_names)
		rename_holders(model, holders, e->time[edge]);
	if (takes)
		return weft__model_holders_take(holders, kind, e->from[edge], e->time[edge]);
	weft__model_holders_give(holders, e->from[edge]);
	return 0;
}

int weft__story_holders_at(const struct weft_story *story, uint32_t resource, uint64_t at_ns,
	uint32_t looked, struct weft__holders *ret_holders)
{
	const struct weft_model *model = story->model;
	const unsigned kind = model->tasks.kind[resource];
	struct weft__edge_list to = weft__story_edges_to(story, resource);
	int error = 0;
	*ret_holders = (struct weft__holders){0};
	if (!weft__model_is_resource(kind) || !to.count)
		return 0;
	uint32_t end = weft__story_edges_until(model, to, at_ns);
	for (uint32_t i = first_to_play(model, to, end, looked); i < end && !error; i++)
		error = play(model, ret_holders, to.edges[i], kind);
	rename_holders(model, ret_holders, at_ns);
	return error;
}

WEFT__EXPORT uint32_t weft_story_holders(const struct weft_story *story, uint32_t resource,
	uint64_t at_ns, struct weft_story_hold *holds, uint32_t room)
{
	struct weft__holders holders;
	uint32_t count = 0;
	if (at_ns > story->model->summary.end)
		at_ns = story->model->summary.end;
	if (!weft__story_holders_at(story, resource, at_ns, LOOKED_MAX, &holders))
		count = holders.count;
	for (uint32_t i = 0; i < count && i < room; i++)
		holds[i] = (struct weft_story_hold){holders.list[i].task, holders.list[i].since};
	weft__model_holders_finish(&holders);
	return count;
}

void weft__story_words_add_holders(struct weft__words *words, const struct weft_model *model,
	const struct weft_story_hold *first, uint32_t count, unsigned letters)
{
	weft__story_words_add_subject(words, model, first->task, letters);
	weft__story_words_add(words, " since ");
	weft__story_words_add_time(words, model, first->since);
	if (count > 1)
		weft__story_words_add(
			words, " and %" PRIu32 " %s", count - 1, count > 2 ? "others" : "other");
}
