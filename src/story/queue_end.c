/* SPDX-License-Identifier: ISC
 *
 * See queue_end.h.
 */
#include "story/queue_end.h"

#include <weft/ends.h>

#include "story/index.h"

const char *weft__story_queue_words(const struct weft_model *model, uint32_t task)
{
	return weft__story_is_kind(model, task, "message queue") ? " was written by "
		   : weft__story_is_kind(model, task, "room")        ? " was made by "
		   : weft__story_is_condition(model, task)           ? " was raised by "
															 : NULL;
}

/* The end of the process that ended last of those that gave; WEFT_NONE: one goes on, or there was
 * none. */
static uint32_t find_last(
	const struct weft_story *story, const struct weft__end *own, uint64_t at_ns, uint64_t *ret_ns)
{
	const struct weft__end_list *list = &story->index->ends;
	uint32_t last = WEFT_NONE;
	*ret_ns = 0;
	for (uint32_t i = weft__story_first_end(list, own->key);
		 i < list->count && list->by_key[i].key == own->key; i++) {
		const struct weft__end *end = &list->by_key[i];
		const uint32_t buffer = story->model->tasks.buffer[end->task];
		if (end->writes == own->writes)
			continue;
		if (buffer >= story->model->buffer_count || list->exit_ns[buffer] > at_ns)
			return WEFT_NONE;
		if (list->exit_ns[buffer] < *ret_ns)
			continue;
		last = end->task;
		*ret_ns = list->exit_ns[buffer];
	}
	return last;
}

bool weft__story_add_queue_user(struct weft__sentence *sentence, const struct weft_story *story,
	uint32_t task, uint64_t at_ns, unsigned worth)
{
	const struct weft_model *model = story->model;
	struct weft__end own;
	uint64_t exit_ns;
	if (!weft__story_end_at(story, task, at_ns, &own) || own.key >> 56 != WEFT_KEY_QUEUE)
		return false;
	const uint32_t last = find_last(story, &own, at_ns, &exit_ns);
	if (last == WEFT_NONE)
		return false;
	struct weft__words *w = weft__story_clause(sentence, worth);
	weft__story_words_add(w, weft__story_is_kind(model, task, "message queue") ? "; its writer"
							 : weft__story_is_kind(model, task, "room")        ? "; its reader"
																		: "; its last signaller");
	weft__story_words_add(w, " ended");
	w = weft__story_clause(sentence, worth - 2);
	weft__story_words_add(w, ": ");
	weft__story_words_add_task(w, model, last, 16);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, exit_ns);
	return true;
}
