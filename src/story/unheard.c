/* SPDX-License-Identifier: ISC
 *
 * See unheard.h.
 */
#include "story/unheard.h"

#include <string.h>

/* The tags are written right before the wait begins, by the same thread. */
#define RIGHT_BEFORE_NS 10000000
#define LOOKED_MAX      64 /* notes of the condition that are examined */

static bool is_tag(const struct weft_model *model, uint32_t note, const char *tag)
{
	struct weft_slice text = weft_model_string(model, model->notes.text[note]);
	return model->notes.type[note] == WEFT_NOTE_VALUE && text.size == strlen(tag) &&
		   memcmp(text.bytes, tag, text.size) == 0;
}

bool weft__unheard_by_note(
	const struct weft_model *model, uint32_t task, uint32_t note, struct weft__unheard *ret)
{
	const struct weft_notes *n = &model->notes;
	if (!is_tag(model, note, WEFT_TAG_SIGNALLED_BEFORE) || n->value[note] < 0)
		return false;
	uint64_t time = n->time[note], ago = (uint64_t)n->value[note];
	ret->time = ago < time - model->summary.start ? time - ago : model->summary.start;
	ret->sender = WEFT_NONE;
	if (note > model->tasks.first_note[task] && is_tag(model, note - 1, WEFT_TAG_SIGNALLED_BY))
		ret->sender =
			weft_model_find_task(model, model->tasks.buffer[task], (uint64_t)n->value[note - 1]);
	return true;
}

bool weft__unheard_before(
	const struct weft_model *model, uint32_t condition, uint64_t since, struct weft__unheard *ret)
{
	const uint64_t *time = model->notes.time;
	uint32_t first = model->tasks.first_note[condition], note = model->tasks.end_note[condition];
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--) {
		if (time[note - 1] > since)
			continue;
		if (since - time[note - 1] > RIGHT_BEFORE_NS)
			return false;
		looked++;
		if (weft__unheard_by_note(model, condition, note - 1, ret))
			return true;
	}
	return false;
}
