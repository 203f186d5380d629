/* SPDX-License-Identifier: ISC
 *
 * See asleep.h. The buffers are looked at once, when a finder first asks.
 */
#include "story/problems/asleep.h"

#include <stdlib.h>

#include "story/index.h"

/* Notes of a loop that are examined, from the last one back. */
#define LOOKED_MAX 256

static bool ends_asleep(const struct weft_model *model, uint32_t task)
{
	const uint32_t first = model->tasks.first_note[task];
	uint32_t note = model->tasks.end_note[task];
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++)
		if (weft__story_is_tag(model, note - 1, WEFT_TAG_ASLEEP))
			return model->notes.value[note - 1] == 1;
	return false;
}

static void look(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_tasks *t = &model->tasks;
	findings->asleep = calloc(model->buffer_count + (size_t)1, sizeof(*findings->asleep));
	if (!findings->asleep) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t task = 0; task < t->count && model->summary.by_event[WEFT_EVENT_TAG]; task++)
		if (t->buffer[task] < model->buffer_count && ends_asleep(model, task))
			findings->asleep[t->buffer[task]] = true;
}

bool weft__story_is_asleep(struct weft__findings *findings, uint32_t task)
{
	const struct weft_model *model = findings->story->model;
	const uint32_t buffer = model->tasks.buffer[task];
	if (!findings->asleep)
		look(findings);
	return findings->asleep && buffer < model->buffer_count && findings->asleep[buffer] &&
		   weft__story_is_of_category(model, task, "asyncio");
}
