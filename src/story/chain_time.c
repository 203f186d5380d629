/* SPDX-License-Identifier: ISC
 *
 * The time at which to ask what a task waits for: its longest pause without running that the
 * trace explains. Of all pauses, some of the longest are kept in order and tried.
 */
#include "base/export.h"
#include "story/hop.h"
#include "story/index.h"

#define TRIED_MAX 16

struct quiet {
	uint64_t start, end;
};

struct longest {
	struct quiet list[TRIED_MAX]; /* the longest first; of equals the earlier one */
	unsigned count;
	uint64_t from, to;
};

static void add_stretch(struct longest *s, uint64_t start, uint64_t end)
{
	unsigned at = s->count;
	start = start > s->from ? start : s->from;
	end = end < s->to ? end : s->to;
	if (end <= start)
		return;
	const struct quiet *last = &s->list[TRIED_MAX - 1];
	if (at < TRIED_MAX)
		s->count++;
	else if (end - start > last->end - last->start)
		at--;
	else
		return;
	for (; at > 0 && end - start > s->list[at - 1].end - s->list[at - 1].start; at--)
		s->list[at] = s->list[at - 1];
	s->list[at] = (struct quiet){start, end};
}

static void find_pauses(const struct weft_model *model, uint32_t task, struct longest *s)
{
	const struct weft_activations *a = &model->activations;
	uint32_t end = model->tasks.end_activation[task];
	uint64_t since = model->tasks.start[task];
	bool has_ended = (model->tasks.flags[task] & WEFT_TASK_RESOLVED) != 0;
	for (uint32_t i = model->tasks.first_activation[task]; i < end; i++) {
		add_stretch(s, since, a->start[i]);
		since = a->end[i];
	}
	add_stretch(s, since, has_ended ? model->tasks.end[task] : UINT64_MAX);
}

WEFT__EXPORT bool weft_chain_time(
	const struct weft_story *story, uint32_t task, uint64_t from, uint64_t to, uint64_t *ret_ns)
{
	const struct weft_model *model = story->model;
	struct longest s = {.from = from, .to = to < model->summary.end ? to : model->summary.end};
	find_pauses(model, task, &s);
	for (unsigned i = 0; i < s.count; i++) {
		const struct quiet *pause = &s.list[i];
		struct weft_chain_hop hop;
		uint64_t at = pause->start + (pause->end - pause->start) / 2;
		if (pause->end == model->summary.end)
			at = pause->end; /* it never ends */
		if (!weft__story_hop_at(story, NULL, task, at, &hop))
			continue;
		*ret_ns = at;
		return true;
	}
	return false;
}

WEFT__EXPORT bool weft_chain_waits(const struct weft_story *story, uint32_t task, uint64_t at_ns)
{
	struct weft_chain_hop hop;
	return weft__story_hop_at(story, NULL, task, at_ns, &hop) ||
		   weft__story_hop_to_thread(story, task, at_ns, false, &hop);
}
