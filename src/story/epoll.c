/* SPDX-License-Identifier: ISC
 *
 * See epoll.h.
 */
#include "story/epoll.h"

#include "base/search.h"
#include "story/index.h"

/* Notes of a task that are examined, from the time on back. */
#define LOOKED_MAX 256

/* The number of the instance in the task's last tag by a time; 0: none. */
static int64_t instance_of(const struct weft_model *model, uint32_t task, uint64_t at)
{
	uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	uint32_t note = weft__search(model->notes.time, first, end, weft__is_not_more_u64, at);
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++)
		if (weft__story_is_tag(model, note - 1, WEFT_TAG_EPOLL))
			return model->notes.value[note - 1];
	return 0;
}

void weft__story_epoll_at(
	const struct weft_model *model, uint32_t thread, uint64_t at, struct weft__epoll *ret)
{
	const struct weft_tasks *t = &model->tasks;
	int64_t instance = model->summary.by_event[WEFT_EVENT_TAG] ? instance_of(model, thread, at) : 0;
	*ret = (struct weft__epoll){0};
	for (uint32_t task = 0; instance > 0 && task < t->count; task++) {
		bool is_no_part = t->buffer[task] != t->buffer[thread] || t->kind[task] == WEFT_KIND_THREAD;
		if (is_no_part || t->start[task] > at || weft__story_is_gone(model, task, at) ||
			instance_of(model, task, at) != instance)
			continue;
		if (ret->count < WEFT__EPOLL_LISTED)
			ret->list[ret->count] = task;
		ret->count++;
	}
}
