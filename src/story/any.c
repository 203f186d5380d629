/* SPDX-License-Identifier: ISC
 *
 * Finds the edges of a wait for any of several tasks, and the read that ends it.
 */
#include "story/any.h"

#include <inttypes.h>

/* The edges after a wait that are examined for its read, and the sources that are compared. */
#define AFTER_MAX  32
#define SOURCE_MAX 256

#define NAMES_MAX    3
#define NAME_LETTERS 24

static bool is_of(const struct weft_edges *edges, uint32_t edge, uint64_t time)
{
	return edges->type[edge] == WEFT_EDGE_WAIT_ANY && edges->time[edge] == time;
}

struct weft__edge_list weft__story_any_of(const struct weft_model *model, uint32_t edge)
{
	const struct weft_edges *e = &model->edges;
	const uint64_t time = e->time[edge];
	struct weft__edge_list by = weft__story_edges_by(model, e->from[edge]);
	uint32_t first = time ? weft__story_edges_until(model, by, time - 1) : 0, last;
	for (last = first; last < by.count && by.edges[last] != edge; last++)
		if (!is_of(e, by.edges[last], time))
			first = last + 1;
	while (last < by.count && is_of(e, by.edges[last], time))
		last++;
	return (struct weft__edge_list){by.edges + first, last - first};
}

/* True if the source of a wait is the task that the edge reads. */
static bool is_source(const struct weft_model *model, struct weft__edge_list any, uint32_t read)
{
	const struct weft_edges *e = &model->edges;
	for (uint32_t i = 0; i < any.count && i < SOURCE_MAX; i++) {
		uint32_t source = e->to[any.edges[i]];
		if (weft__story_become_at(model, source, e->time[read]) == e->to[read])
			return true;
	}
	return false;
}

uint32_t weft__story_any_read(const struct weft_model *model, struct weft__edge_list any)
{
	const struct weft_edges *e = &model->edges;
	struct weft__edge_list by = weft__story_edges_by(model, e->from[any.edges[0]]);
	const uint32_t *at = any.edges + any.count, *end = by.edges + by.count;
	for (uint32_t looked = 0; at < end && looked < AFTER_MAX; at++, looked++) {
		uint8_t type = e->type[*at];
		if (type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_WAIT_ANY)
			break;
		if (type == WEFT_EDGE_READ && is_source(model, any, *at))
			return *at;
	}
	return WEFT_NONE;
}

bool weft__story_any_is_last(const struct weft_model *model, uint32_t edge)
{
	const struct weft_edges *e = &model->edges;
	if (e->from[edge] == WEFT_NONE)
		return false;
	struct weft__edge_list by = weft__story_edges_by(model, e->from[edge]);
	return by.count && is_of(e, by.edges[by.count - 1], e->time[edge]);
}

void weft__story_words_add_any(
	struct weft__words *words, const struct weft_model *model, struct weft__edge_list any)
{
	weft__story_words_add(words, any.count > 1 ? "any of " : "");
	for (uint32_t i = 0; i < any.count && i < NAMES_MAX; i++) {
		weft__story_words_add(words, i ? ", " : "");
		weft__story_words_add_task(words, model, model->edges.to[any.edges[i]], NAME_LETTERS);
	}
	if (any.count > NAMES_MAX)
		weft__story_words_add(words, " and %" PRIu32 " more", any.count - NAMES_MAX);
}
