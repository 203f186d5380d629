/* SPDX-License-Identifier: ISC
 *
 * See unreported.h.
 */
#include "story/unreported.h"

#include <inttypes.h>

#include <weft/ends.h>

#include "base/search.h"

/* Notes of a task that are examined, from the time on back. */
#define LOOKED_MAX 256

/* The last tag about that of a descriptor's task, by a time; WEFT_NONE if it says that nothing is
 * left. */
static uint32_t find_tag(const struct weft_model *model, uint32_t task, uint64_t at)
{
	const uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	uint32_t note = weft__search(model->notes.time, first, end, weft__is_not_more_u64, at);
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++)
		if (weft__story_is_tag(model, note - 1, WEFT_TAG_UNREAD) ||
			weft__story_is_tag(model, note - 1, WEFT_TAG_UNARMED))
			return model->notes.value[note - 1] ? note - 1 : WEFT_NONE;
	return WEFT_NONE;
}

bool weft__story_words_add_unreported(
	struct weft__words *w, const struct weft_model *model, uint32_t task, uint64_t at_ns)
{
	const uint32_t note = find_tag(model, task, at_ns);
	if (note == WEFT_NONE)
		return false;
	if (weft__story_is_tag(model, note, WEFT_TAG_UNARMED))
		weft__story_words_add(w, " is not armed again (EPOLLONESHOT)");
	else
		weft__story_words_add(
			w, " has %" PRId64 " bytes left unread (EPOLLET)", (int64_t)model->notes.value[note]);
	return true;
}

bool weft__story_is_unreported(const struct weft_story *story, uint32_t source, uint64_t at_ns)
{
	struct weft__other_end other;
	return weft__story_other_end(story, source, at_ns, &other) &&
		   find_tag(story->model, other.end, at_ns) != WEFT_NONE;
}

bool weft__story_add_unreported(struct weft__sentence *sentence, const struct weft_story *story,
	uint32_t source, uint64_t at_ns, unsigned worth)
{
	struct weft__other_end other;
	if (!weft__story_is_unreported(story, source, at_ns))
		return false;
	weft__story_other_end(story, source, at_ns, &other);
	struct weft__words *w = weft__story_clause(sentence, worth);
	weft__story_words_add(w, "; the other end");
	return weft__story_words_add_unreported(w, story->model, other.end, at_ns);
}
