/* SPDX-License-Identifier: ISC
 *
 * A promise or a sleep says little by itself: the task that waits for it is the one to name.
 */
#include "story/problems/reader.h"

uint32_t weft__story_only_reader(const struct weft_story *story, uint32_t task)
{
	const struct weft_edges *e = &story->model->edges;
	const struct weft_tasks *t = &story->model->tasks;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	uint32_t reader = WEFT_NONE;
	if (t->first_activation[task] < t->end_activation[task])
		return WEFT_NONE;
	for (uint32_t i = 0; i < to.count; i++) {
		const uint32_t edge = to.edges[i], from = e->from[edge];
		if (e->type[edge] != WEFT_EDGE_READ && e->type[edge] != WEFT_EDGE_TRY_READ)
			continue;
		if (from == WEFT_NONE || (reader != WEFT_NONE && reader != from))
			return WEFT_NONE;
		reader = from;
	}
	/* Without a name of its own, the reader says no more than the promise. */
	return reader != WEFT_NONE && t->label[reader] != WEFT_NONE && reader != task ? reader
																				  : WEFT_NONE;
}
