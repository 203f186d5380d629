/* SPDX-License-Identifier: ISC
 *
 * See loop_end.h.
 */
#include "story/loop_end.h"

#include "story/index.h"

/* Notes of a thread's task that are examined, from the last one back. */
#define LOOKED_MAX 64

static bool has_tag(const struct weft_model *model, uint32_t task)
{
	uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	for (uint32_t looked = 0; end > first && looked < LOOKED_MAX; end--, looked++)
		if (weft__story_is_tag(model, end - 1, WEFT_TAG_LOOP_ENDED))
			return true;
	return false;
}

bool weft__story_loop_ended(const struct weft_model *model, uint32_t buffer)
{
	const struct weft_tasks *t = &model->tasks;
	for (uint32_t task = 0; task < t->count && model->summary.by_event[WEFT_EVENT_TAG]; task++)
		if (t->buffer[task] == buffer && t->kind[task] == WEFT_KIND_THREAD && has_tag(model, task))
			return true;
	return false;
}
