/* SPDX-License-Identifier: ISC
 *
 * See unheard.h.
 */
#include "story/unheard.h"

#include <weft/ends.h>

#include "base/search.h"
#include "story/index.h"

/* The tags are written right before the wait begins, by the same thread. */
#define RIGHT_BEFORE_NS 10000000 /* 10 ms */
#define LOOKED_MAX      64       /* notes of the condition that are examined */

bool weft__story_unheard_by_note(
	const struct weft_model *model, uint32_t task, uint32_t note, struct weft__unheard *ret)
{
	const struct weft_notes *n = &model->notes;
	if (!weft__story_is_tag(model, note, WEFT_TAG_SIGNALLED_BEFORE) || n->value[note] < 0)
		return false;
	uint64_t time = n->time[note], ago = (uint64_t)n->value[note];
	ret->time = ago < time - model->summary.start ? time - ago : model->summary.start;
	ret->sender = WEFT_NONE;
	const uint32_t first = model->tasks.first_note[task];
	if (note > first && weft__story_is_tag(model, note - 1, WEFT_TAG_SIGNALLED_BY))
		ret->sender =
			weft_model_find_task(model, model->tasks.buffer[task], (uint64_t)n->value[--note]);
	ret->is_one_of_many =
		note > first && weft__story_is_tag(model, note - 1, WEFT_TAG_SIGNALLED_TIMES);
	return true;
}

bool weft__story_unheard_before(
	const struct weft_model *model, uint32_t condition, uint64_t since, struct weft__unheard *ret)
{
	const uint64_t *time = model->notes.time;
	uint32_t first = model->tasks.first_note[condition], end = model->tasks.end_note[condition];
	uint32_t note = weft__search(time, first, end, weft__is_not_more_u64, since);
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++) {
		if (since - time[note - 1] > RIGHT_BEFORE_NS)
			return false;
		if (weft__story_unheard_by_note(model, condition, note - 1, ret))
			return true;
	}
	return false;
}
